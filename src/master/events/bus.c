/* bus.c - fire events: number them, write their frames into the ring, journal them in runs and serve
 * listeners.
 *
 * Events fired together form a run: consecutive frames in one block of the ring with one stamp, handed to the
 * store as one row. bus_hold/bus_release nest; at the last release the parts are told (hook_turn_ended), and
 * listeners are sent what is new, so a burst costs one send per listener. */
#include "master/events/bus.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/front/hooks.h"
#include "master/events/listen.h"
#include "master/front/noise.h"
#include "master/events/numbers.h"
#include "master/front/part.h"
#include "master/store/storage.h"
#include "salt/log.h"
#include "salt/value.h"

#define US_PER_S 1000000

/* 1 to LIMIT_TAG_LEN bytes without control characters: so only quotes and backslashes are escaped in a
 * frame. */
bool
bus_tag_valid(const char *tag, fail_t *err)
{
    size_t n = tag != NULL ? strlen(tag) : 0;
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

/* While the store fails, events wait in memory up to LIMIT_EVENTS_WAITING bytes. */
int
bus_room(front_t *self, fail_t *err)
{
    size_t waiting = store_waiting(self->store);
    const char *trouble = storage_trouble(self);
    if (trouble != NULL && waiting > LIMIT_EVENTS_WAITING)
        return fail_set(err, -EAGAIN, "%zu bytes wait for the disk already: %s", waiting, trouble);
    return 0;
}

/* ---- numbers, stamps, the journal ------------------------------------------------------------ */

/* Stamp the run. Only the microseconds are rewritten within the same second, as formatting a date is slow. */
static void
bus_stamp(bus_t *bus)
{
    bus->run_us = clock_wall_us();
    int64_t s = bus->run_us / US_PER_S;
    if (s != bus->stamp_s) {
        clock_stamp(bus->stamp, bus->run_us);
        bus->stamp_s = s;
        return;
    }
    int64_t us = bus->run_us % US_PER_S;
    for (int i = EFRAME_STAMP - 1; i >= EFRAME_STAMP - 6; i--) {
        bus->stamp[i] = (char) ('0' + us % 10);
        us /= 10;
    }
}

/* Hand the run to the store. Returns the ticket, 0 when the store has no room: listeners still get the
 * events. */
static uint64_t
bus_journal(front_t *self)
{
    bus_t *bus = self->bus;
    ring_block_t *block = STEAL(bus->run);
    if (block == NULL)
        return 0;
    uint64_t ticket = store_add_events(self->store, bus->run_first, self->seq, bus->run_us,
                                       block->bytes + bus->run_at, block->len - bus->run_at);
    block->ticket = ticket ? ticket : block->ticket;
    if (ticket == 0)
        noise_warn(self,
                   "events %llu to %llu were told to listeners but are not in the journal: the store is full",
                   (unsigned long long) bus->run_first, (unsigned long long) self->seq);
    return ticket;
}

/* A run ends at the block's end, as the store gets one contiguous range. */
void
bus_put(front_t *self, jtext_t tag, jtext_t data)
{
    bus_t *bus = self->bus;
    size_t room = eframe_room(tag.len, data.len);
    if (bus->run != NULL && bus->run->cap - bus->run->len < room)
        (void) bus_journal(self);
    char *out = ring_room(bus->ring, room);
    if (bus->run == NULL) {
        bus_stamp(bus);
        bus->run = ring_newest(bus->ring);
        bus->run_at = bus->run->len;
        bus->run_first = self->seq + 1;
    }
    size_t n = eframe_write(out, ++self->seq, tag.at, tag.len, data.at, data.len, bus->stamp);
    ring_wrote(bus->ring, self->seq, n);
    self->counters.events++;
    prefixes_count(&self->counters.tags, tag.at, tag.len);
    numbers_reserve(self);
}

/* The empty hold/release serves listeners now unless a caller holds the bus. */
uint64_t
bus_done(front_t *self)
{
    uint64_t ticket = bus_journal(self);
    self->bus->due = true;
    bus_hold(self);
    bus_release(self);
    return ticket;
}

/* ---- one event ------------------------------------------------------------------------------- */

uint64_t
bus_fire_text(front_t *self, const char *tag, const char *data, size_t len)
{
    char quoted[2 * LIMIT_TAG_LEN];
    /* A tag has no control characters: these two are all that JSON escapes. */
    size_t n = 0;
    for (const char *p = tag; *p && n < 2 * LIMIT_TAG_LEN - 1; p++) {
        if (*p == '"' || *p == '\\')
            quoted[n++] = '\\';
        quoted[n++] = *p;
    }
    bus_put(self, (jtext_t){ quoted, n }, (jtext_t){ data, len });
    return bus_done(self);
}

/* TAKES *data_p. NEW JSON text without a stamp: the frame adds its own. */
static char *
bus_text(json_t **data_p)
{
    json_auto_t *data = STEAL(*data_p);
    json_object_del(data, "_stamp");
    return value_dump(data);
}

uint64_t
bus_fire(front_t *self, const char *tag, json_t **data_p)
{
    AUTO_FREE char *text = bus_text(data_p);
    return bus_fire_text(self, tag, text, strlen(text));
}

uint64_t
bus_fire_kept(front_t *self, const char *tag, json_t **data_p)
{
    AUTO_FREE char *text = bus_text(data_p);
    size_t len = strlen(text);
    /* Escaping at most doubles a tag. */
    bool room = store_has_room(self->store, eframe_room(2 * strlen(tag), len));
    return room ? bus_fire_text(self, tag, text, len) : 0;
}

/* ---- listeners ------------------------------------------------------------------------------- */

void
bus_hold(front_t *self)
{
    self->bus->held++;
}

void
bus_release(front_t *self)
{
    bus_t *bus = self->bus;
    if (--bus->held > 0)
        return;
    bool due = bus->due;
    bus->due = false;
    hook_turn_ended(self, due);
    if (due)
        ring_trim(bus->ring, store_committed(self->store));
}

void
bus_together(front_t *self)
{
    bus_hold(self);
    store_together(self->store);
}

void
bus_apart(front_t *self)
{
    store_apart(self->store);
    bus_release(self);
}

void
bus_due(front_t *self)
{
    self->bus->due = true;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int
bus_start(front_t *self, fail_t *err)
{
    self->bus = xcalloc(1, sizeof(*self->bus));
    self->bus->ring = ring_new(LIMIT_EVENTS_RECENT, listen_dropped, self);
    self->bus->stamp_s = -1;

    /* Tell listeners once, after a start, which numbers were skipped. */
    uint64_t last;
    const char *why;
    if (!numbers_gap(self, &last, &why))
        return 0;
    json_t *data = json_pack("{s:I, s:I}", "from", (json_int_t) last + 1, "to", (json_int_t) self->seq);
    log_warning("%s; events go on with number %llu", why, (unsigned long long) self->seq + 1);
    (void) bus_fire(self, EVENT_GAP, &data);

    return 0;
}

static bool
bus_destroy(front_t *self)
{
    bus_t *bus = STEAL(self->bus);
    if (bus == NULL)
        return true;
    salt_assert(bus->listeners == NULL);
    ring_destroy(&bus->ring);
    free(bus);
    return true;
}

const front_part_t part_bus = { .name = "bus", .start = bus_start, .destroy = bus_destroy };
