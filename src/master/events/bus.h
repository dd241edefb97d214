/* bus.h - the event bus: every event gets a number and a stamp, becomes a frame in the ring of the newest,
 * goes to the journal with those beside it, and from the ring to each listener that keeps up.
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

/* Numbers {from, to} are nobody's now: events that a killed master may have told were not on the disk yet,
 * or the store that had them was damaged. */
#define EVENT_GAP "salt/event/gap"

typedef struct listener listener_t;

struct bus {
    ring_t *ring;
    listener_t *listeners; /* all of them, in no order: listen.c */
    int held;              /* listeners are served when it is 0 again */
    bool due;              /* there is something to serve */
    ring_block_t *run;     /* events from run_at on are not in the store's queue yet; NULL: all are */
    size_t run_at;
    uint64_t run_first;
    int64_t run_us;              /* their time */
    char stamp[CLOCK_STAMP_LEN]; /* and its text */
    int64_t stamp_s;             /* the second that is in `stamp` */
};

/* Number, stamp, journal and deliver an event. TAKES *data_p (an object). The ticket of its row, 0 when
 * refused. */
uint64_t bus_fire(front_t *self, const char *tag, json_t **data_p);
/* The same with data that is text: a JSON object without "_stamp". */
uint64_t bus_fire_text(front_t *self, const char *tag, const char *data, size_t len);
/* The same, but an event that the journal has no room for does not happen. */
uint64_t bus_fire_kept(front_t *self, const char *tag, json_t **data_p);
/* Many at one time, as JSON texts: a string without its quotes, an object without a stamp. bus_done ends
 * them: the ticket of the last, 0 when refused. */
void bus_put(front_t *self, jtext_t tag, jtext_t data);
uint64_t bus_done(front_t *self);
/* Whether the journal takes more; -EAGAIN with the reason. */
int bus_room(front_t *self, fail_t *err);
/* Between the two, listeners are not served: what happens in one turn is sent at one time. */
void bus_hold(front_t *self);
void bus_release(front_t *self);
void bus_due(front_t *self); /* there is something to serve: at the end of the turn */
/* Rows and the events that tell of them, in between: all are on the disk, or none. Listeners are served
 * after them. Not one inside the other. */
void bus_together(front_t *self);
void bus_apart(front_t *self);

bool bus_size_valid(const front_t *self, const char *tag, size_t len,
                    fail_t *err); /* option max_event_size */
bool bus_tag_valid(const char *tag, fail_t *err);

#endif
