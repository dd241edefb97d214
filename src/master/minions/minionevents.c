/* minionevents.c - events that minions fire. Each has a number of its minion's; they are taken in order, each
 * once, and acknowledged after their commit. An event without room is left unacknowledged, and its number
 * (lost_event) blocks later ones until it is sent again. */
#include "common/base/plainjson.h"
#include "common/base/str.h"
#include "common/net/tags.h"
#include "master/minions/acks.h"
#include "master/events/bus.h"
#include "master/events/facts.h"
#include "master/front/hooks.h"
#include "master/minions/message.h"
#include "master/events/numbers.h"
#include "master/minions/refused.h"
#include "salt/value.h"

/* The first number that could not be taken; 0: none. salt-call's are per connection. */
static json_int_t *
minionevents_lost(peer_t *peer)
{
    return peer->is_call ? &peer->lost_event : &peer->minion->lost_event;
}

/* True when `n` is the next event to take. After a refused one, none with a higher number is taken first, or
 * the refused one would look like a repetition. `oldest`: the first that the minion still has; events that
 * another master took meanwhile are gone, so the order continues there. */
static bool
event_due(front_t *self, peer_t *peer, json_int_t n, json_int_t oldest)
{
    minion_t *m = peer->minion;
    json_int_t *lost = minionevents_lost(peer);
    if (n == 0)
        return true;
    if (*lost != 0 && oldest > *lost)
        *lost = oldest < n ? oldest : n;
    int taken = peer->is_call                ? numbers_call_kept(self, m, peer->boot, n)
                : numbers_kept(self, m) == 0 ? n <= m->last_event
                                             : -EIO;
    if (taken == 0)
        return *lost == 0 || n <= *lost;
    if (taken < 0) {
        *lost = *lost == 0 || n < *lost ? n : *lost;
        return false;
    }
    if (*lost == n) /* the one after it is due */
        *lost = n + 1;

    /* Acknowledge an event that was taken before, once it is on the disk. */
    char *none = NULL;
    /* A salt-call's record is queued behind the event itself, so its ticket covers both. */
    uint64_t ticket = peer->is_call ? numbers_call_keep(self, peer->minion, peer->boot, n) : 0;
    if (ticket != 0)
        acks_later(self, peer, ticket, &none, n);
    else if (!peer->is_call && n <= peer->minion->kept_event)
        acks_event(self, peer, n);

    return false;
}

/* Record whether `n` could be taken: if not, later ones wait. */
static void
mark_lost(peer_t *peer, json_int_t n, bool lost)
{
    if (n != 0)
        *minionevents_lost(peer) = lost ? n : 0;
}

/* NEW data of an event of a minion, whose words stand below "data"; what its beacons fire is the data itself,
 * as in Salt, under tags of their own. Either way the id is the master's word. */
static json_t *
minionevents_data(const peer_t *peer, const json_t *body, bool bare)
{
    const char *id = peer->minion->id, *tag = value_str(body, "tag", "");
    json_t *payload = value_get(body, "data");
    if (bare) {
        json_t *own = json_copy(payload);
        json_object_del(own, "jid"); /* names a job's event */
        json_object_set_new(own, "id", json_string(id));
        return own;
    }
    json_t *data = json_pack("{s:s, s:s, s:o, s:s}", "id", id, "tag", tag, "data",
                             payload != NULL ? json_incref(payload) : json_object(), "cmd", "_minion_event");
    if (!peer->is_call)
        json_object_set_new(data, "pretag", json_null());
    json_auto_t *more = facts_claims(value_get(body, "more"));
    (void) json_object_update_missing(data, more);
    return data;
}

/* The message event: validate it, check its order, fire it with Salt's fields, and acknowledge it after the
 * commit. */
static void
minionevents_event(front_t *self, peer_t *peer, const inbound_t *in)
{
    const json_t *body = in->body;
    minion_t *m = peer->minion;
    json_int_t n = value_int(body, "n", 0);
    const char *tag = value_str(body, "tag", "");
    fail_auto_t err = FAIL_INIT;
    if (m == NULL || n < 0)
        return;
    if (!bus_tag_valid(tag, &err) || !bus_size_valid(self, tag, in->len, &err) ||
        !tags_of_minion(tag, m->id, &err)) {
        /* Sending it again would not help: acknowledge it. */
        refused_tell(self, REFUSED_MESSAGE, peer->address, "minion %s: event refused: %s", m->id,
                     fail_text(&err));
        acks_event(self, peer, n);
        return;
    }
    if (!event_due(self, peer, n, value_int(body, "oldest", 0)))
        return;
    if (!refused_share(self, peer, in->len)) {
        mark_lost(peer, n, true);
        return;
    }
    /* A minion's beacon fires its data bare, under a tag that begins so. */
    bool bare = value_bool(body, "bare", false) && str_starts(value_str(body, "tag", ""), "salt/beacon/") &&
                json_is_object(value_get(body, "data"));
    json_t *data = minionevents_data(peer, body, bare);
    bus_together(self);
    uint64_t ticket = bus_fire_kept(self, tag, &data);
    if (ticket != 0)
        hook_minion_event(self, m, tag, value_get(body, "data"), bare);
    mark_lost(peer, n, ticket == 0);
    if (!peer->is_call && n != 0 && ticket != 0) {
        m->last_event = n;
        numbers_keep(self, m, n);
    } else if (n != 0 && ticket != 0) {
        (void) numbers_call_keep(self, m, peer->boot, n);
    }
    bus_apart(self);
    char *none = NULL;
    if (ticket != 0)
        acks_later(self, peer, ticket, &none, n);
}

/* An event refused unparsed is acknowledged too. Its number is the second key, read from the text. */
static void
minionevents_unread(front_t *self, peer_t *peer, const inbound_t *in)
{
    plain_t p = plain_new(in->text, in->len);
    jtext_t key, value;
    int64_t n = 0;
    bool named = plain_enter(&p, '{') && plain_key(&p, &key) && plain_value(&p, &value);
    if (named && plain_key(&p, &key) && jtext_is(key, "n") && plain_int(&p, &n) && n > 0)
        acks_event(self, peer, n);
}

const message_row_t message_event = { .body = minionevents_event,
                                      .most = LIMIT_WIRE_VALUES,
                                      .unread = minionevents_unread };
