/* grains.c - the message and the request `grains`. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/events/bus.h"
#include "master/minions/miniondata.h"
#include "master/minions/message.h"
#include "master/minions/refused.h"
#include "master/front/request.h"
#include "master/jobs/targets.h"
#include "salt/value.h"

static int
new_grains(front_t *self, minion_t *m, const char *raw, size_t len, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *body = value_parse_peer(raw, len, len, wire_name(MSG_grains), &why);
    json_t *grains = value_get(body, "grains");
    if (body == NULL)
        return fail_set(err, why.code == -ENOMEM ? -ENOMEM : -EPROTO, "%s", fail_text(&why));
    if (!json_is_object(grains))
        return fail_set(err, -EPROTO, "grains that are not objects");
    miniondata_keep(self, m, STORE_GRAINS, grains);
    return 0;
}

/* Rate-limit grains by size: they are not acknowledged, and a minion that sends more than any host has would
 * fill the store's queue, which all minions share. */
static bool
may_send_grains(front_t *self, peer_t *peer, size_t len)
{
    minion_t *m = peer->minion;
    bool may = rate_spare(&m->grains, clock_mono_ms());
    if (may)
        rate_owe(&m->grains, (double) len / 1024);
    else
        refused_tell(self, REFUSED_MESSAGE, peer->address,
                     "minion %s: grains of more than %d KB a second: those of before stay", m->id,
                     LIMIT_GRAINS_RATE);
    return may;
}

/* The time spent is charged to the minion as well. */
static int
minions_grains(front_t *self, peer_t *peer, const inbound_t *in, fail_t *err)
{
    minion_t *m = peer->minion;
    if (!message_is_minions(peer) || !may_send_grains(self, peer, in->len))
        return 0;
    int64_t since_us = clock_thread_us();
    /* Compare with the known text first: a fleet that reconnects sends what it sent before, and comparing
     * costs a tenth of parsing and storing. */
    static const char head[] = "{\"m\":\"grains\",\"grains\":";
    size_t n = sizeof(head) - 1;
    bool known = in->len > n && memcmp(in->text, head, n) == 0 && in->text[in->len - 1] == '}' &&
                 miniondata_is(m, STORE_GRAINS, in->text + n, in->len - n - 1);
    int rc = known ? 0 : new_grains(self, m, in->text, in->len, err);
    rate_owe(&m->grains, (double) (clock_thread_us() - since_us) / 1000 * LIMIT_GRAINS_WORK);
    if (rc < 0 || !conf_bool(self->conf, "minion_data_cache_events") ||
        !minion_may_tell(m, 0, clock_mono_ms()))
        return rc;
    json_t *data = json_pack("{s:s}", "Minion data cache refresh", m->id);
    AUTO_FREE char *tag = xasprintf("minion/refresh/%s", m->id);
    (void) bus_fire(self, tag, &data);
    return 0;
}

const message_row_t message_grains = { .text = minions_grains, .most = LIMIT_GRAINS_VALUES };

static json_t *
minions_grains_asked(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    AUTO_FREE uint32_t *slots = NULL;
    json_auto_t *missing = NULL;
    size_t n = 0;
    if (targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;
    json_t *all = json_object();
    for (size_t i = 0; i < n; i++) {
        minion_t *m = peers_by_slot(self->peers, slots[i]);
        json_t *grains = miniondata_get(self, m, STORE_GRAINS);
        if (grains != NULL)
            json_object_set_new(all, m->id, json_copy(grains));
    }
    return json_pack("{s:o}", "grains", all);
}

const request_row_t request_grains = { .fn = minions_grains_asked };
