/* ring.h - the newest events in memory, as frames in blocks: what listeners are still to be sent.
 *
 * One thread writes at the end; readers keep a place (ring_at_t), which the block counts. Blocks at the front
 * go when nobody's place is in them, or, over the limit, all the same: then the owner is asked to move the
 * readers on.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_ring.c
 */
#ifndef MASTER_EVENTS_RING_H
#define MASTER_EVENTS_RING_H

#include "master/events/eframe.h"

typedef struct ring_block {
    struct ring_block *next;
    uint64_t first, last; /* numbers of its events; 0: none yet */
    uint64_t ticket;      /* of the newest row in which they are */
    size_t users;         /* readers' places in it */
    size_t len, cap;
    char bytes[];
} ring_block_t;

typedef struct ring_at {
    ring_block_t *block; /* NULL: nowhere */
    size_t offset;       /* of the next event's frame */
} ring_at_t;

/* A block with readers is about to go: each must leave it. */
typedef void ring_drop_fn(void *cookie, ring_block_t *block);

typedef struct ring ring_t;

/* NEW. Keeps about `limit` bytes at most. */
ring_t *ring_new(size_t limit, ring_drop_fn *drop, void *cookie);
void ring_destroy(ring_t **self_p);

/* BORROWED room for a frame of at most `room` bytes; after it was written, ring_wrote says its size. */
char *ring_room(ring_t *self, size_t room);
void ring_wrote(ring_t *self, uint64_t seq, size_t len);
ring_block_t *ring_newest(ring_t *self); /* BORROWED: where the last event was written */
/* Drop blocks that nobody needs: read by all, and their rows are on the disk (`committed` is the ticket). */
void ring_trim(ring_t *self, uint64_t committed);
size_t ring_bytes(const ring_t *self);

/* The oldest event's number; 0 when there is none. */
uint64_t ring_first(const ring_t *self);
/* Places. A reader that ends leaves. */
void ring_leave(ring_at_t *at);
void ring_to_end(ring_t *self, ring_at_t *at);
/* To the first event with a number over `seq`; false, and nowhere, when the ring begins later. */
bool ring_to(ring_t *self, ring_at_t *at, uint64_t seq);
/* To the block behind this one's; false when there is none yet. */
bool ring_on(ring_at_t *at);

#endif
