/* numbers.h - no two events have one number, whatever ends the master.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats, tests/unit/master/test_listen.c
 */
#ifndef MASTER_EVENTS_NUMBERS_H
#define MASTER_EVENTS_NUMBERS_H

#include "master/front/front.h"

/* A listener must never see two events of one number, also when the master was killed before the
 * first of them was on the disk. So numbers are reserved in the store before they are told. */
typedef struct numbers {
    uint64_t granted;             /* numbers up to this are reserved on the disk */
    uint64_t asked, asked_ticket; /* up to this they will be, with this row; 0: none was asked for */
    uint64_t last;                /* of the run before, */
    const char *why;              /* after which there is a gap; NULL: there is none */
} numbers_t;

/* Where the last run's numbers ended, into front->seq. True: nobody knows exactly, and those after `last` may
 * have been used; `why` is for the log. Asked once, by the bus. */
bool numbers_gap(front_t *self, uint64_t *ret_last, const char **ret_why);
void numbers_reserve(front_t *self); /* when few are left */
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

#endif
