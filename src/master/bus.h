/* bus.h - the event bus: every event gets a number and a stamp, becomes a frame in the ring of the newest,
 * goes to the journal with those beside it, and from the ring to each listener that keeps up.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats
 */
#ifndef MASTER_BUS_H
#define MASTER_BUS_H

#include "common/base/clock.h"
#include "common/base/plainjson.h"
#include "master/front.h"
#include "master/ring.h"

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
    int64_t run_us;               /* their time */
    char stamp[CLOCK_STAMP_LEN];  /* and its text */
    int64_t stamp_s;              /* the second that is in `stamp` */
    uint64_t granted;             /* numbers up to this are reserved on the disk: numbers.c */
    uint64_t asked, asked_ticket; /* up to this they will be, with this row; 0: none was asked for */
};

bus_t *bus_new(front_t *front); /* NEW */
void bus_destroy(bus_t **self_p);

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
void bus_committed(front_t *self); /* rows reached the disk */
/* Rows and the events that tell of them, in between: all are on the disk, or none. Listeners are served
 * after them. Not one inside the other. */
void bus_together(front_t *self);
void bus_apart(front_t *self);

/* numbers.c: a listener must never see two events of one number, also when the master was killed before the
 * first of them was on the disk. So numbers are reserved in the store before they are told. */

/* Where the last run's numbers ended, into front->seq; the event `salt/event/gap` when nobody knows exactly. */
int numbers_begin(front_t *self, fail_t *err);
void numbers_reserve(front_t *self);       /* when few are left */
void numbers_reserve_again(front_t *self); /* the store begins anew */
void numbers_committed(front_t *self);
void numbers_end(front_t *self); /* nothing is fired any more */
/* The newest event of which anybody may be told; and whether it is the newest of all. */
uint64_t numbers_last(const front_t *self);
bool numbers_may_tell(const front_t *self);
/* The last of a minion's own numbers that was taken, so that what it sends again is known to a master
 * after this one: to be kept together with the event. numbers_kept makes sure that m->last_event is what a
 * master before this one kept; negative while that can't be read: no event is taken then. */
void numbers_keep(front_t *self, const minion_t *m, json_int_t n);
int numbers_kept(const front_t *self, minion_t *m);
/* The same for salt-call, of which each run has numbers of its own: 1, 0, or negative when that can't be
 * known. numbers_call_keep returns the store's ticket, 0 when that has no room. */
int numbers_call_kept(const front_t *self, minion_t *m, const char *boot, json_int_t n);
uint64_t numbers_call_keep(front_t *self, minion_t *m, const char *boot, json_int_t n);
void numbers_forget(front_t *self, const char *id);

bool bus_size_valid(const front_t *self, const char *tag, size_t len,
                    fail_t *err); /* option max_event_size */
bool bus_tag_valid(const char *tag, fail_t *err);

#endif
