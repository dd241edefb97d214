/* numbers.h - unique event numbers: no two events share one, however the master ends.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats, tests/unit/master/test_listen.c
 */
#ifndef MASTER_EVENTS_NUMBERS_H
#define MASTER_EVENTS_NUMBERS_H

#include "master/front/front.h"

/* A listener must never see two events with one number, even if the master is killed before the first is on
 * the disk. So numbers are reserved in the store before listeners see them. */
typedef struct numbers {
    uint64_t granted;             /* reserved on the disk up to this */
    uint64_t asked, asked_ticket; /* the reservation under way, and its ticket; 0: none */
    uint64_t last;                /* last number of the run before, */
    const char *why;              /* why a gap follows; NULL: none. A literal */
} numbers_t;

/* Called once, by the bus, after front->seq is set. True: numbers after *ret_last may have been used;
 * *ret_why is for the log. */
bool numbers_gap(front_t *self, uint64_t *ret_last, const char **ret_why);
void numbers_reserve(front_t *self); /* reserve more when few are left */
/* The newest event that may be told to anybody; and whether that is the newest of all. */
uint64_t numbers_last(const front_t *self);
bool numbers_may_tell(const front_t *self);
/* numbers_keep records the last of a minion's own event numbers that was taken; call it in the event's
 * transaction. numbers_kept loads it into m->last_event on first use: 0, or negative when it can't be read,
 * and then no event may be taken. */
void numbers_keep(front_t *self, const minion_t *m, json_int_t n);
int numbers_kept(const front_t *self, minion_t *m);
/* The same for salt-call, whose runs (`boot`) number separately. numbers_call_kept: 1 taken, 0, or negative
 * when unreadable. numbers_call_keep returns the store's ticket, 0 when it has no room. */
int numbers_call_kept(const front_t *self, minion_t *m, const char *boot, json_int_t n);
uint64_t numbers_call_keep(front_t *self, minion_t *m, const char *boot, json_int_t n);

#endif
