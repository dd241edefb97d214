/* listen.h - a listener: which events it wants and how far it has got. Events come out of the ring of the
 * newest; one that asked for those since a number or a time is served from the journal until the ring has
 * what follows.
 *
 * A listener that falls behind the ring costs nothing: those that it misses are counted as their block goes
 * (or, after `since`, it goes on in the journal).
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

/* From the operation `events`: {tags?, tag?, since_seq?, since?}. `brief`: it may not compare tags for
 * long. NEW, or NULL with *err. */
listener_t *listener_new(front_t *front, const json_t *request, bool brief, fail_t *err);
void listener_destroy(listener_t **self_p);
/* The same operation once more: other patterns from where it is; with since_seq or since it begins anew.
 * False with
 * *err: it stays as it was. */
bool listener_again(listener_t **self_p, const json_t *request, fail_t *err);
size_t listener_patterns(const listener_t *self); /* how many it has */
/* Whether it is served out of the ring now. */
bool listener_is_live(const listener_t *self);

/* A turn of its service begins: 20 ms for reading the journal and, when it is brief, for comparing tags of
 * the ring. */
void listener_turn(listener_t *self);
/* Add what comes before the events of the ring: what was missed, a piece of the journal. Nothing may wait in
 * `out`. True: ask again, whether or not something was added. */
bool listener_fill(listener_t *self, buf_t *out);
/* Whole frames for it, in at most `max` pieces, which stay where they are until the next event; how many
 * pieces. 0 and listener_has_more: its turn is over, ask in the next one. */
size_t listener_next(listener_t *self, struct iovec *iov, size_t max);
bool listener_has_more(const listener_t *self);
/* So many bytes of these were sent: the rest of a frame that was cut is added to `rest`. */
void listener_sent(listener_t *self, const struct iovec *iov, size_t n_iov, size_t sent, buf_t *rest);

/* The ring drops this block: who is in it moves on. What brief ones missed there is counted for 20 ms, all
 * of them together; from then on every event of the block counts. */
void listen_dropped(void *front, ring_block_t *block);
/* The operation `journal`: {from, to?, tags?} -> NEW {events, next}, with `next` 0 or from where to ask
 * on: no answer is longer than LIMIT_JOURNAL_PIECE or, when `brief`, takes much more than 20 ms. */
json_t *listen_journal(front_t *self, const json_t *request, bool brief, fail_t *err);

#endif
