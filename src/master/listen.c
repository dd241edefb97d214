/* listen.c - who hears which events, and from when: the operations `events` and `journal`. */
#include "master/front.h"

#include "common/base/clock.h"
#include "common/match/match.h"
#include "salt/value.h"

#define COMMIT_WAIT_MS 2000 /* for events that are not in the journal yet */
#define PIECE          1000 /* events of the journal in one answer */

json_t *
listen_tags(const json_t *request, fail_t *err)
{
    json_t *tags = value_get(request, "tags"), *one;
    size_t i;
    if (!tags)
        return json_pack("[s]", value_str(request, "tag", "*"));
    if (!json_is_array(tags) || json_array_size(tags) > LIMIT_LISTEN_TAGS) {
        (void) fail_set(err, -EINVAL, "'tags' is a list of at most %d patterns", LIMIT_LISTEN_TAGS);
        return NULL;
    }
    json_array_foreach (tags, i, one) {
        if (!json_is_string(one) || json_string_length(one) > LIMIT_TAG_LEN) {
            (void) fail_set(err, -EINVAL, "a pattern for tags is a text of at most %d bytes", LIMIT_TAG_LEN);
            return NULL;
        }
    }
    return json_incref(tags);
}

bool
listen_wants(const json_t *tags, const char *tag)
{
    size_t i;
    json_t *one;
    json_array_foreach (tags, i, one)
        if (match_glob(json_string_value(one), tag))
            return true;
    return false;
}

/* Events from the beginning of this time on. */
static bool
s_since_us(const json_t *request, int64_t *ret_us, fail_t *err)
{
    json_t *since = value_get(request, "since");
    if (json_is_number(since)) {
        *ret_us = clock_wall_us() - (int64_t) (json_number_value(since) * 1e6);
        return true;
    }
    if (json_is_string(since) && clock_stamp_parse(json_string_value(since), ret_us))
        return true;
    (void) fail_set(err, -EINVAL, "'since' is a number of seconds or a time such as 2026-11-20T10:00:00");
    return false;
}

json_t *
listen_begin(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_auto_t *tags = listen_tags(request, err);
    int64_t since;
    if (!tags || (value_get(request, "since") && !s_since_us(request, &since, err)))
        return NULL;
    lconn_listen(c, tags);
    return json_pack("{s:I}", "seq", (json_int_t) self->seq);
}

static void
s_push(lconn_t *c, json_t *event, const json_t *tags, int64_t since_us)
{
    if (value_int(event, "stamp_us", 0) < since_us || !listen_wants(tags, value_str(event, "tag", "")))
        return;
    json_object_set_new(event, "push", json_string("event"));
    json_object_del(event, "stamp_us");
    (void) lconn_push(c, event);
}

void
listen_catch_up(front_t *self, lconn_t *c, const json_t *request)
{
    json_auto_t *tags = listen_tags(request, NULL);
    uint64_t cursor = (uint64_t) value_int(request, "since_seq", 0), before;
    int64_t since_us = INT64_MIN;
    if (!value_get(request, "since_seq") && !value_get(request, "since"))
        return;
    if (value_get(request, "since"))
        (void) s_since_us(request, &since_us, NULL);
    (void) store_wait(self->store, self->event_ticket, COMMIT_WAIT_MS);
    do {
        before = cursor;
        json_auto_t *events = store_events(self->reader, &cursor, NULL, PIECE, NULL);
        size_t i;
        json_t *event;
        json_array_foreach (events, i, event)
            s_push(c, event, tags, since_us);
    } while (cursor != before);
}

json_t *
listen_journal(front_t *self, const json_t *request, fail_t *err)
{
    json_auto_t *tags = listen_tags(request, err), *found = json_array();
    json_int_t from = value_int(request, "from", 1), to = value_int(request, "to", (json_int_t) self->seq);
    uint64_t cursor = from > 1 ? (uint64_t) from - 1 : 0, before = cursor;
    if (!tags)
        return NULL;
    json_auto_t *events = store_events(self->reader, &cursor, NULL, PIECE, err);
    size_t i;
    json_t *event;
    if (!events)
        return NULL;
    json_array_foreach (events, i, event) {
        json_object_del(event, "stamp_us");
        if (value_int(event, "seq", 0) <= to && listen_wants(tags, value_str(event, "tag", "")))
            json_array_append(found, event);
    }
    bool more = cursor != before && cursor < (uint64_t) to;
    return json_pack("{s:O, s:I}", "events", found, "next", more ? (json_int_t) cursor + 1 : 0);
}
