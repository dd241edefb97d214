/* listen.h - a listener: the events it wants and how far it has got. Events come from the ring of the newest;
 * after `since` or `since_seq` from the journal, until the ring has what follows.
 *
 * A listener that falls behind the ring costs no memory: missed events are counted when their block is
 * dropped, or, after `since`, read from the journal later.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/5000-events.bats, tests/unit/master/test_listen.c
 */
#ifndef MASTER_EVENTS_LISTEN_H
#define MASTER_EVENTS_LISTEN_H

#include <sys/uio.h>

#include "common/base/buf.h"
#include "master/events/bus.h"
#include "master/events/eframe.h"

/* Make a listener from the request `events`: {tags?, tag?, since_seq?, since?, except?, marks?, follower?}.
 * `brief`: bound the time spent on its patterns; the last three are refused then. NEW, or NULL with *err. */
listener_t *listener_new(front_t *front, const json_t *request, bool brief, fail_t *err);
void listener_destroy(listener_t **self_p);
/* Apply the request again: new patterns from the present place, or, with since_seq or since, a new start.
 * False with *err: unchanged. */
bool listener_again(listener_t **self_p, const json_t *request, fail_t *err);
/* Of the events that its patterns want, only those that `may` shows: `frame` is BORROWED. Time is bounded as
 * of brief ones. */
typedef bool listen_may_fn(front_t *front, void *cookie, const eframe_t *frame, const char *tag);
void listener_filter(listener_t *self, listen_may_fn *may, void *cookie);
size_t listener_patterns(const listener_t *self); /* number of its patterns */
/* The listener of the follower of the name; NULL: it does not listen. BORROWED. */
listener_t *listener_of(const front_t *front, const char *name);
/* The last event that it has looked at, and the last that it wants of those; since_seq before the first. */
uint64_t listener_looked(const listener_t *self);
uint64_t listener_wanted(const listener_t *self);
/* True when it reads from the ring. */
bool listener_is_live(const listener_t *self);

/* Begin a turn: 20 ms for reading the journal and, when brief, for comparing tags in the ring. */
void listener_turn(listener_t *self);
/* Add what precedes the ring's events: the message of missed ones, a piece of the journal. `out` must be
 * empty. True: call again, whether or not something was added. */
bool listener_fill(listener_t *self, buf_t *out);
/* Whole frames to send, in up to `max` pieces; returns their number. They stay in place until the next event
 * is fired. 0 with listener_has_more: the turn is over, continue in the next one. */
size_t listener_next(listener_t *self, struct iovec *iov, size_t max);
bool listener_has_more(const listener_t *self);
/* Report that `sent` bytes of these pieces were sent; the rest of a cut frame is added to `rest`. */
void listener_sent(listener_t *self, const struct iovec *iov, size_t n_iov, size_t sent, buf_t *rest);

/* ring_drop_fn: the block is dropped, its listeners move on. Patterns of brief ones are compared for 20 ms
 * altogether; after that every event of the block counts as missed. */
void listen_dropped(void *front, ring_block_t *block);
/* The request `journal`: {from, to?, tags?} -> NEW {events, next}; `next` is where to continue, or 0. A reply
 * holds about LIMIT_JOURNAL_PIECE at most and, when `brief`, takes about 20 ms. `may` (NULL: all)
 * is that of listener_filter. */
json_t *listen_journal(front_t *self, const json_t *request, bool brief, listen_may_fn *may, void *cookie,
                       fail_t *err);

#endif
