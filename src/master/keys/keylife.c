/* keylife.c - ageing keys. At half of key_expire_days a connected minion is asked for a new key, at nine
 * tenths operators are warned, and at the end the key becomes pending. Pending keys are deleted after
 * key_pending_days. Nothing ages while the clock is in doubt. The file's time is the key's age. */
#include "master/keys/auth.h"

#include "common/base/clock.h"
#include "master/front/clockwatch.h"
#include "master/keys/keychange.h"
#include "master/front/part.h"
#include "master/minions/post.h"
#include "salt/log.h"

#define LOOK_MS     60000
#define LOOK_MIN_MS 100
#define DAY_S       86400.0
#define BACK_MS     20000 /* after a start, pending minions get this long to reconnect */

/* Since when the key is in its state, in seconds; read from the file once. */
static int64_t
keylife_since(front_t *self, minion_t *m)
{
    if (m->key_since_s == 0)
        m->key_since_s = keystore_since(self->keystore, m->id, m->state);
    return m->key_since_s;
}

/* Look at every key. A pending key is only deleted when no connection uses it. */
static void
keylife_look(front_t *self, int64_t now_ms, int64_t wall_s, double life_s, double wait_s)
{
    minion_t *m;
    double up_ms = (double) (now_ms - self->started_ms);
    bool back = up_ms >= BACK_MS || up_ms >= wait_s * 1000;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++) {
        if ((m = peers_by_slot(self->peers, i)) == NULL)
            continue;
        double limit = m->state == KEY_ACCEPTED ? life_s : m->state == KEY_PENDING ? wait_s : 0;
        int64_t since = limit > 0 ? keylife_since(self, m) : 0;
        if (since == 0)
            continue;
        if (m->state == KEY_ACCEPTED) {
            /* Handle an accepted key by its age: expired, due for renewal, or nearly expired. Renewal is
             * asked for again every twentieth of the lifetime. */
            double age_s = (double) (wall_s - since);
            if (age_s >= life_s) {
                auth_expire(self, m);
                continue;
            }
            if (age_s >= life_s / 2 && m->peer != NULL && now_ms >= m->renew_ms) {
                int64_t pause = (int64_t) (life_s * 1000 / 20);
                m->renew_ms = now_ms + (pause > LOOK_MS ? pause : LOOK_MS);
                (void) post_send(self, m->peer, MSG_renew, NULL);
            }
            if (age_s >= life_s * 0.9 && !m->expiring) {
                m->expiring = true;
                log_warning("minion %s: its key will be too old in %d s", m->id, (int) (life_s - age_s));
                keychange_tell(self, NULL, m->id, "expiring",
                               json_pack("{s:I}", "seconds", (json_int_t) (life_s - age_s)));
            }
        } else if (back && (double) (wall_s - since) >= wait_s && peers_of_key(self->peers, m->z85) == 0)
            auth_expire(self, m);
    }
}

static double
days(const front_t *self, const char *option)
{
    return conf_float(self->conf, option) * DAY_S;
}

/* The shorter of the two limits in seconds; 0 without limits. */
static double
keylife_shorter(const front_t *self)
{
    double life_s = days(self, "key_expire_days"), wait_s = days(self, "key_pending_days");
    return life_s > 0 && (wait_s <= 0 || life_s < wait_s) ? life_s : wait_s;
}

/* A twentieth of the shorter limit, between 100 ms and a minute; tests use short limits. */
static int64_t
keylife_pause(const front_t *self)
{
    double shorter = keylife_shorter(self);
    int64_t pause = (int64_t) (shorter * 1000 / 20);
    return shorter <= 0 || pause > LOOK_MS ? LOOK_MS : pause < LOOK_MIN_MS ? LOOK_MIN_MS : pause;
}

static void
keylife_tick(front_t *self, int64_t now_ms)
{
    if (keylife_shorter(self) > 0 && !clockwatch_doubts(self))
        keylife_look(self, now_ms, clock_wall_us() / 1000000, days(self, "key_expire_days"),
                     days(self, "key_pending_days"));
}

const front_part_t part_keylife = { .name = "keylife", .tick = keylife_tick, .pause_ms = keylife_pause };
