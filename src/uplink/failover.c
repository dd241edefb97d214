/* failover.c - see failover.h. State is a few numbers; the caller passes the time, so tests need no clock. */
#include "uplink/failover.h"

#include "common/crypto/keys.h"

#define WAIT_MAX_MS 60000

int
failover_now(const failover_t *self)
{
    return self->order[self->at];
}

int
failover_first(const failover_t *self)
{
    return self->order[0];
}

void
failover_init(failover_t *self, const failover_conf_t *conf, int64_t now_ms)
{
    salt_assert(conf->n > 0 && conf->n <= LIMIT_MASTERS);
    *self = (failover_t){ .conf = *conf, .since = now_ms };
    for (int i = 0; i < conf->n; i++)
        self->order[i] = i;
    if (conf->shuffle) {
        /* Fisher-Yates. With failback the first master keeps its place, as it is the one to come back to. */
        int first = self->conf.back_ms > 0 ? 1 : 0;
        for (int i = self->conf.n - 1; i > first; i--) {
            uint32_t r;
            key_random(&r, sizeof(r));
            int k = first + (int) (r % (uint32_t) (i - first + 1)), old = self->order[i];
            self->order[i] = self->order[k];
            self->order[k] = old;
        }
    }
}

/* How long the present master may be bad: gone_ms when it has served, answer_ms when it never answered. */
static int
failover_patience(const failover_t *self)
{
    return self->served ? self->conf.gone_ms : self->conf.answer_ms;
}

/* A step of failback while another than the first serves: alternates between back_ms of waiting and a probe
 * of answer_ms. */
static failover_act_t
look_back(failover_t *self, int64_t now_ms, bool probe_good)
{
    if (self->at == 0 || self->conf.back_ms <= 0)
        return FAILOVER_STAY;
    if (self->probing && probe_good) {
        self->at = 0;
        self->served = true;
        self->probing = false;
        self->since = self->next = 0;
        return FAILOVER_BACK;
    }
    if (self->next == 0)
        self->next = now_ms + self->conf.back_ms;
    if (now_ms < self->next)
        return FAILOVER_STAY;
    self->probing = !self->probing;
    self->next = now_ms + (self->probing ? self->conf.answer_ms : self->conf.back_ms);
    return self->probing ? FAILOVER_PROBE : FAILOVER_PROBE_END;
}

failover_act_t
failover_step(failover_t *self, int64_t now_ms, bool good, bool probe_good)
{
    if (good) {
        self->served = true;
        self->since = 0;
    } else if (self->since == 0) {
        self->since = now_ms;
    }
    failover_act_t act = look_back(self, now_ms, probe_good);
    if (act == FAILOVER_STAY && !good && self->conf.n > 1 &&
        now_ms - self->since >= failover_patience(self)) {
        /* Goes on to the next of the order, round and round. */
        self->at = (self->at + 1) % self->conf.n;
        self->served = self->probing = false;
        self->since = now_ms;
        self->next = 0;
        return FAILOVER_MOVE;
    }
    return act;
}

int64_t
failover_wait(const failover_t *self, int64_t now_ms)
{
    int64_t wait = WAIT_MAX_MS;
    if (self->since != 0 && self->since + failover_patience(self) - now_ms < wait)
        wait = self->since + failover_patience(self) - now_ms;
    if (self->next != 0 && self->next - now_ms < wait)
        wait = self->next - now_ms;
    return wait > 0 ? wait : 0;
}
