/* fire.c - the request `fire`: {tag, data} or {events: [{tag, data}, ...]}, all of them or none.
 *
 * Bulk senders use plain JSON (plainjson.h): such a request is checked and cut as text, and its events go to
 * listeners and journal as they came, with a stamp added. Anything else is parsed; both paths enforce the
 * same limits. */
#include "master/events/bus.h"
#include "master/operators/lconn.h"
#include "master/front/request.h"
#include "master/store/storage.h"
#include "salt/value.h"

/* ---- as a tree ------------------------------------------------------------------------------- */

static int
fire_check(front_t *self, const json_t *event, fail_t *err)
{
    const char *tag = value_str(event, "tag", "");
    json_t *data = value_get(event, "data");
    if (!bus_tag_valid(tag, err))
        return err->code;
    if (data != NULL && !json_is_object(data))
        return fail_set(err, -EINVAL, "an event's data is an object");
    return bus_size_valid(self, tag, json_dumpb(data, NULL, 0, JSON_COMPACT), err) ? 0 : err->code;
}

/* Returns the store's ticket. */
static uint64_t
fire(front_t *self, const json_t *event)
{
    json_t *data = value_get(event, "data");
    json_t *copy = data != NULL ? json_copy(data) : json_object();
    return bus_fire(self, value_str(event, "tag", ""), &copy);
}

static int
fire_all(front_t *self, const json_t *events, uint64_t *ret_ticket, fail_t *err)
{
    size_t i;
    json_t *event;
    if (!json_is_array(events) || json_array_size(events) > LIMIT_EVENTS_FIRED)
        return fail_set(err, -EINVAL, "'events' is a list of at most %d events", LIMIT_EVENTS_FIRED);
    json_array_foreach (events, i, event)
        if (fire_check(self, event, err) < 0)
            return err->code;
    bus_hold(self);
    json_array_foreach (events, i, event)
        *ret_ticket = fire(self, event);
    bus_release(self);
    return 0;
}

/* ---- as text --------------------------------------------------------------------------------- */

typedef struct shot {
    jtext_t tag, data;
} shot_t;

typedef struct shots {
    shot_t *all;
    size_t n, cap;
    size_t max_size; /* max_event_size: of one event's data */
} shots_t;

/* Read an event's tag or data; false when the key is neither, occurs twice, or its value is invalid. */
static bool
fire_part(plain_t *p, jtext_t key, shot_t *shot, size_t max_size)
{
    bool stamped = false, empty = false;
    if (jtext_is(key, "tag") && shot->tag.at == NULL)
        return plain_string(p, &shot->tag) && shot->tag.len > 0 && shot->tag.len <= LIMIT_TAG_LEN &&
               memchr(shot->tag.at, 127, shot->tag.len) == NULL;
    return jtext_is(key, "data") && shot->data.at == NULL &&
           plain_object(p, "_stamp", &shot->data, &stamped, &empty) && !stamped && shot->data.len <= max_size;
}

static bool
fire_whole(shot_t *shot)
{
    if (shot->data.at == NULL)
        shot->data = (jtext_t){ "{}", 2 };
    return shot->tag.at != NULL;
}

static void
fire_keep(shots_t *shots, const shot_t *shot)
{
    if (shots->n == shots->cap) {
        shots->cap = shots->cap > 0 ? shots->cap * 2 : 64;
        shots->all = xrealloc(shots->all, shots->cap * sizeof(*shots->all));
    }
    shots->all[shots->n++] = *shot;
}

/* A list of events; false as soon as something is not plain, and the request is then read as values. */
static bool
fire_list(plain_t *p, shots_t *shots)
{
    jtext_t key;
    if (!plain_enter(p, '['))
        return false;
    while (plain_item(p)) {
        shot_t shot = { 0 };
        if (!plain_enter(p, '{') || shots->n == LIMIT_EVENTS_FIRED)
            return false;
        while (plain_key(p, &key))
            if (!fire_part(p, key, &shot, shots->max_size))
                return false;
        if (!fire_whole(&shot))
            return false;
        fire_keep(shots, &shot);
    }
    return plain_fine(p);
}

/* Accepts {"op": "fire", "tag", "data", "n"} or {"op": "fire", "events", "n"} and nothing else. */
static bool
fire_own_request(plain_t *p, shots_t *shots, int64_t *ret_n)
{
    jtext_t key, op;
    shot_t shot = { 0 };
    bool listed = false, numbered = false;
    if (!plain_enter(p, '{') || !plain_key(p, &key) || !jtext_is(key, "op") || !plain_string(p, &op) ||
        !jtext_is(op, "fire"))
        return false;
    while (plain_key(p, &key)) {
        bool fine = false;
        if (jtext_is(key, "n") && !numbered)
            fine = numbered = plain_int(p, ret_n);
        else if (jtext_is(key, "events") && !listed)
            fine = listed = fire_list(p, shots);
        else
            fine = fire_part(p, key, &shot, shots->max_size);
        if (!fine)
            return false;
    }
    if (!plain_end(p))
        return false;
    if (!listed && fire_whole(&shot))
        fire_keep(shots, &shot);
    return listed ? shot.tag.at == NULL && shot.data.at == NULL : shots->n == 1;
}

/* The request as text: NEW {seq}. NULL without *err: not plain, nothing was done. *ret_n is its number. */
static json_t *
fire_text(front_t *self, const char *text, size_t len, int64_t *ret_n, fail_t *err)
{
    static const char head[] = "{\"op\"";
    shots_t shots = { .max_size = (size_t) conf_int(self->conf, "max_event_size") };
    plain_t p = plain_new(text, len);
    json_t *reply = NULL;
    *ret_n = 0;
    if (len < sizeof(head) || memcmp(text, head, sizeof(head) - 1) != 0)
        return NULL;
    if (fire_own_request(&p, &shots, ret_n) && bus_room(self, err) == 0) {
        for (size_t i = 0; i < shots.n; i++)
            bus_put(self, shots.all[i].tag, shots.all[i].data);
        (void) bus_done(self);
        reply = json_pack("{s:I}", "seq", (json_int_t) self->seq);
    }
    free(shots.all);
    return reply;
}

/* ---- the operation --------------------------------------------------------------------------- */

/* Backpressure: a sender faster than the disk is paused. While the disk fails, it is refused instead
 * (bus_room). */
static void
fired(front_t *self, lconn_t *c)
{
    if (storage_trouble(self) == NULL && store_waiting(self->store) > LIMIT_EVENTS_WAITING)
        lconn_pause(c);
}

/* The request asks for a reply only once the event is committed. */
static bool
fire_is_kept(const json_t *request)
{
    return value_bool(request, "kept", false);
}

static json_t *
fire_asked(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    uint64_t ticket;

    /* The request as values; the answer is the number of the last event. */
    uint64_t *ret_ticket = &ticket;
    const json_t *events = value_get(request, "events");
    int rc = bus_room(self, err);
    *ret_ticket = 0;
    if (rc == 0)
        rc = events != NULL ? fire_all(self, events, ret_ticket, err) : fire_check(self, request, err);
    if (rc == 0 && events == NULL)
        *ret_ticket = fire(self, request);
    json_auto_t *reply = rc == 0 ? json_pack("{s:I}", "seq", (json_int_t) self->seq) : NULL;

    fired(self, c);
    if (reply != NULL && fire_is_kept(request)) {
        if (!ticket) {
            (void) fail_set(err, -ENOSPC, "the store is full: listeners have the event, the journal has not");
            return NULL;
        }
        self->row_ticket = ticket;
    }
    return json_incref(reply);
}

/* True when the text was a fire request and has been answered. */
static bool
asked_as_text(front_t *self, lconn_t *c, const char *text, size_t len)
{
    fail_auto_t err = FAIL_INIT;
    int64_t n;
    json_t *reply = fire_text(self, text, len, &n, &err);
    if (reply == NULL && err.code == 0)
        return false;
    request_answer(c, n, reply, &err);
    fired(self, c);
    return true;
}

const request_row_t request_fire = { .fn = fire_asked, .text = asked_as_text, .waits = fire_is_kept };
