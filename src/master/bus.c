/* bus.c - the event bus: every event has a number, a stamp, a row in the journal, and is handed to each
 * listener. */
#include "master/front.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/value.h"

bool
bus_tag_valid(const char *tag, fail_t *err)
{
    size_t n = tag ? strlen(tag) : 0;
    if (n == 0 || n > LIMIT_TAG_LEN) {
        (void) fail_set(err, -EINVAL, "an event's tag has 1 to %d bytes, this one %zu", LIMIT_TAG_LEN, n);
        return false;
    }
    for (const char *p = tag; *p; p++)
        if ((unsigned char) *p < ' ' || *p == 127) {
            (void) fail_set(err, -EINVAL, "an event's tag can't hold control characters");
            return false;
        }
    return true;
}

bool
bus_size_valid(const front_t *self, const char *tag, size_t len, fail_t *err)
{
    json_int_t limit = conf_int(self->conf, "max_event_size");
    if (len > (size_t) limit)
        (void) fail_set(err, -EMSGSIZE, "event %s has %zu bytes, max_event_size is %lld", tag, len,
                        (long long) limit);
    return len <= (size_t) limit;
}

static uint64_t
s_fire(front_t *self, const char *tag, json_t *data, bool must_keep)
{
    int64_t now = clock_wall_us();
    char stamp[CLOCK_STAMP_LEN];
    clock_stamp(stamp, now);
    json_object_set_new(data, "_stamp", json_string(stamp));
    char *text = value_dump(data);
    uint64_t ticket = store_add_event(self->store, self->seq + 1, tag, &text, now);
    if (ticket == 0 && must_keep)
        return 0;
    self->event_ticket = ticket != 0 ? ticket : self->event_ticket;
    self->seq++;
    self->counters.events++;
    if (self->lsock)
        lsock_event(self->lsock, self->seq, tag, data);
    return ticket;
}

uint64_t
bus_fire(front_t *self, const char *tag, json_t **data_p)
{
    json_auto_t *data = STEAL(*data_p);
    return s_fire(self, tag, data, false);
}

uint64_t
bus_fire_kept(front_t *self, const char *tag, json_t **data_p)
{
    json_auto_t *data = STEAL(*data_p);
    return s_fire(self, tag, data, true);
}
