/* bus.h - the event bus. Each event gets a number and a stamp, becomes a frame in the ring of the newest
 * events, goes to the store's journal, and from the ring to each listener that keeps up.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats
 */
#ifndef MASTER_EVENTS_BUS_H
#define MASTER_EVENTS_BUS_H

#include "common/base/clock.h"
#include "common/base/plainjson.h"
#include "master/front/front.h"
#include "master/events/ring.h"

/* Fired when numbers {from, to} were skipped: a killed master may have sent events with them that were not on
 * the disk yet, or the store that had them was damaged. */
#define EVENT_GAP "salt/event/gap"

typedef struct listener listener_t;

struct bus {
    ring_t *ring;
    listener_t *listeners; /* all of them, unordered: listen.c */
    int held;              /* depth of bus_hold; listeners are served at 0 */
    bool due;              /* there is something to deliver */
    ring_block_t *run;     /* run's block: frames from run_at on are not queued yet; NULL: all are */
    size_t run_at;
    uint64_t run_first;
    int64_t run_us;              /* time of the run, wall clock */
    char stamp[CLOCK_STAMP_LEN]; /* the same as text */
    int64_t stamp_s;             /* the second that `stamp` shows */
};

/* Fire an event: number, stamp, journal and deliver it. TAKES *data_p (an object). Returns the store's
 * ticket; 0: the journal had no room, listeners get it all the same. */
uint64_t bus_fire(front_t *self, const char *tag, json_t **data_p);
/* The same with `data` as the text of a JSON object without "_stamp". */
uint64_t bus_fire_text(front_t *self, const char *tag, const char *data, size_t len);
/* The same, but without room in the journal the event is not fired: 0. */
uint64_t bus_fire_kept(front_t *self, const char *tag, json_t **data_p);
/* Fire many: bus_put for each, with JSON texts (a string without quotes, an object without a stamp), then
 * bus_done, which returns the ticket of the last, 0 when refused. */
void bus_put(front_t *self, jtext_t tag, jtext_t data);
uint64_t bus_done(front_t *self);
/* 0 when events may be fired; -EAGAIN with the reason while the store fails and too much waits. */
int bus_room(front_t *self, fail_t *err);
/* Delay delivery until the matching release. Nests. */
void bus_hold(front_t *self);
void bus_release(front_t *self);
void bus_due(front_t *self); /* deliver at the end of the turn */
/* Commit the rows and events added in between in one transaction (store_together); deliver after. Does not
 * nest. */
void bus_together(front_t *self);
void bus_apart(front_t *self);

bool bus_size_valid(const front_t *self, const char *tag, size_t len,
                    fail_t *err); /* option max_event_size */
bool bus_tag_valid(const char *tag, fail_t *err);

#endif
