/* returns.c - minions' returns. Each is stored once together with its events, pushed to followers, and
 * acknowledged after the commit. Repetitions are acknowledged again but not counted; a return for a job that
 * was not for the minion is refused. */
#include "common/base/clock.h"
#include "common/base/plainjson.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "master/minions/acks.h"
#include "master/front/clockwatch.h"
#include "master/front/hooks.h"
#include "master/events/bus.h"
#include "master/operators/lconn.h"
#include "master/minions/message.h"
#include "master/minions/refused.h"
#include "master/jobs/jid.h"
#include "master/jobs/ret.h"
#include "master/jobs/statefail.h"
#include "salt/log.h"
#include "salt/value.h"

#define RET_FRAME 256         /* usual bytes of an event or push beside the return */
#define RET_CHEAP (16 * 1024) /* bytes up to which building values is quick */

/* Queue the return and its events in one transaction. `known`: the job is one of a master's. TAKES *key_p.
 * False: no room; it is not acknowledged. */
static bool
keep_ret(front_t *self, peer_t *peer, ret_t *ret, const job_t *job, bool known, char **key_p)
{
    char *text = xstrndup(ret->text, ret->len);
    bus_together(self);
    uint64_t ticket = store_add_return(self->store, ret->jid, peer->minion->id, &text, ret->retcode,
                                       ret->success);
    if (ticket != 0) {
        self->row_ticket = ticket;
        self->counters.returns++;
        hook_returned(self, peer->minion, job, ret);
        acks_later(self, peer, ticket, key_p, 0);

        /* Fire salt/job/JID/ret/ID, composed as text, and the events of failed states. */
        const minion_t *m = peer->minion;
        const char *user = job != NULL ? value_str(job->info, "user", NULL) : NULL;
        buf_auto_t tag = BUF_INIT, data = BUF_INIT;
        buf_reserve(&tag, strlen("salt/job/") + LIMIT_JID_LEN + strlen("/ret/") + strlen(m->id));
        buf_reserve(&data, ret->len + RET_FRAME);
        buf_puts(&tag, "salt/job/");
        buf_puts(&tag, ret->jid);
        buf_puts(&tag, "/ret/");
        plain_quote(m->id, &tag);
        ret_add_event(ret, m->id, user, peer->is_call, &data);
        bus_put(self, (jtext_t){ tag.data, tag.len }, (jtext_t){ data.data, data.len });
        (void) bus_done(self);
        if (ret->retcode != 0)
            statefail_fire(self, m->id, ret->jid, ret_body(ret), user != NULL ? user : "", known);
    }
    bus_apart(self);
    return ticket != 0;
}

/* For whom a job is, by what the master knows. */
typedef enum whose { WHOSE_UNKNOWN, WHOSE_MINION, WHOSE_OTHERS } whose_t;

/* A minion without a slot in the job may be one whose key was deleted and accepted again, so the store's list
 * of ids decides; a row that was adopted tells nothing of the job's targets. A whose_t, or negative with
 * *err. */
static int
returns_whose(front_t *self, const minion_t *m, const char *jid, const job_t *job, fail_t *err)
{
    int is = store_is_target(self->reader, jid, m->id, err);
    if (is == -ENOENT || is == STORE_ADOPTED)
        return job != NULL ? WHOSE_OTHERS : WHOSE_UNKNOWN;
    return is < 0 ? is : is == 0 ? WHOSE_OTHERS : WHOSE_MINION;
}

/* Decide what a return is (repeated, not the minion's, or new), and store, push and acknowledge a new one. */
static void
take_ret(front_t *self, peer_t *peer, ret_t *ret)
{
    minion_t *m = peer->minion;
    const char *jid = ret->jid;
    AUTO_FREE char *key = acks_key(jid, m->id);
    job_t *job = jobs_get(self->jobs, jid);
    job_target_t *t = job != NULL ? job_find(job, m->slot) : NULL;
    if (acks_waits(self, key)) {
        /* Repeated before its commit, which will acknowledge both. */
        log_debug("job %s: minion %s returns once more, before its commit", jid, m->id);
        self->counters.duplicates++;
        return;
    }
    /* Without a target: a salt-call's return, or one for an earlier job. */
    fail_auto_t err = FAIL_INIT;
    int had = t != NULL ? t->verdict == VERDICT_RETURNED : store_has_return(self->reader, jid, m->id, &err);
    int whose = t != NULL || had != 0 ? WHOSE_MINION : returns_whose(self, m, jid, job, &err);
    if (had < 0 || whose < 0) {
        /* Not acknowledged: it is sent again later. */
        log_error("job %s: the return of minion %s has to wait: %s", jid, m->id, fail_text(&err));
        return;
    }
    if (had > 0) {
        /* The acknowledgement was lost: repeat it, count nothing. */
        log_debug("job %s: minion %s returns once more; it is acknowledged again", jid, m->id);
        self->counters.duplicates++;
        acks_jid(self, peer, jid, strlen(jid));
        return;
    }
    if (whose == WHOSE_OTHERS) {
        refused_tell(self, REFUSED_MESSAGE, peer->address,
                     "minion %s returns for job %s, which was not for it", m->id, jid);
        acks_jid(self, peer, jid, strlen(jid));
        return;
    }
    /* A jid that the minion made by its own clock may lie so far ahead of this one that it is no clock's
     * error. While this clock is in doubt nothing is ahead of it. */
    if (whose == WHOSE_UNKNOWN && jid_ahead_us(jid) > LIMIT_JID_AHEAD_S * 1000000LL &&
        !clockwatch_doubts(self)) {
        refused_tell(
            self, REFUSED_MESSAGE, peer->address,
            "minion %s returns for a job of its own, %s, that begins in %lld s by the master's clock: "
            "set the clock of one of the two; the return is not kept",
            m->id, jid, (long long) (jid_ahead_us(jid) / 1000000));
        acks_jid(self, peer, jid, strlen(jid));
        return;
    }
    if ((t == NULL && !refused_share(self, peer, ret->len)) ||
        !keep_ret(self, peer, ret, job, whose == WHOSE_MINION, &key))
        return;
    log_debug("Got return from %s for job %s", m->id, jid);
    if (t != NULL) {
        /* Push a return to the job's followers; composed once for all. */
        if (job->n_followers != 0) {
            buf_auto_t msg = BUF_INIT;
            buf_reserve(&msg, ret->len + RET_FRAME);
            ret_add_push(ret, m->id, &msg);
            for (size_t i = 0; i < job->n_followers; i++)
                (void) lconn_push_text(job->followers[i], msg.data, msg.len);
        }

        t->failed = ret->retcode != 0 || !ret->success;
        (void) jobs_move(self->jobs, job, t, VERDICT_RETURNED, 0);
    }
}

static int
cut_ret(front_t *self, peer_t *peer, const char *text, size_t len, bool *ret_valued, fail_t *err)
{
    ret_t ret;
    int rc = ret_begin(&ret, text, len, err);
    if (rc == 0)
        take_ret(self, peer, &ret);
    *ret_valued = rc != 0 || ret.body != NULL;
    ret_end(&ret);
    return rc;
}

/* The message ret. Most returns need no values. For a large one they may take a second, so the time is
 * charged to the minion's share; when that is used up, the return is not acknowledged and comes again. */
static int
returns_ret(front_t *self, peer_t *peer, const inbound_t *in, fail_t *err)
{
    minion_t *m = peer->minion;
    bool valued;
    if (m == NULL)
        return fail_set(err, -EPROTO, "a return of nobody");
    if (in->len <= RET_CHEAP)
        return cut_ret(self, peer, in->text, in->len, &valued, err);
    if (!rate_spare(&m->rets, clock_mono_ms())) {
        refused_tell(self, REFUSED_MESSAGE, peer->address,
                     "minion %s: the master has worked for %d ms on its returns: this one has to wait", m->id,
                     LIMIT_RETS_BURST);
        return 0;
    }
    int64_t since_us = clock_thread_us();
    int rc = cut_ret(self, peer, in->text, in->len, &valued, err);
    rate_owe(&m->rets, (valued ? (double) (clock_thread_us() - since_us) / 1000 : 0) - 1);
    return rc;
}

const message_row_t message_ret = { .text = returns_ret };
