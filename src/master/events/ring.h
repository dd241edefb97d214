/* ring.h - the newest events in memory, as frames in blocks: what listeners have yet to be sent.
 *
 * The front loop writes at the end; readers hold a place (ring_at_t), counted in the block. Blocks at the front
 * are freed when they hold no place and are committed; above the limit they are freed regardless, and the
 * owner is asked to move the readers on.
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
    uint64_t ticket;      /* of the newest store row that holds its events */
    size_t users;         /* places in it */
    size_t len, cap;
    char bytes[];
} ring_block_t;

typedef struct ring_at {
    ring_block_t *block; /* NULL: nowhere */
    size_t offset;       /* of the next frame to read */
} ring_at_t;

/* The block is about to be freed: every place must leave it. */
typedef void ring_drop_fn(void *cookie, ring_block_t *block);

typedef struct ring ring_t;

/* NEW. `limit`: bytes to keep, about. `drop` is called from ring_room. */
ring_t *ring_new(size_t limit, ring_drop_fn *drop, void *cookie);
void ring_destroy(ring_t **self_p);

/* BORROWED room for a frame of up to `room` bytes; call ring_wrote with the frame's size before the next. */
char *ring_room(ring_t *self, size_t room);
void ring_wrote(ring_t *self, uint64_t seq, size_t len);
ring_block_t *ring_newest(ring_t *self); /* BORROWED: the block written last */
/* Free blocks without readers whose rows are committed (`committed` is the ticket). */
void ring_trim(ring_t *self, uint64_t committed);
size_t ring_bytes(const ring_t *self);

/* Number of the oldest event; 0 when the ring is empty. */
uint64_t ring_first(const ring_t *self);
/* Places. A reader leaves before it is freed. */
void ring_leave(ring_at_t *at);
void ring_to_end(ring_t *self, ring_at_t *at);
/* Move to the first event after `seq`; false, and nowhere, when the ring starts later. */
bool ring_to(ring_t *self, ring_at_t *at, uint64_t seq);
/* Move to the next block; false when there is none yet. */
bool ring_on(ring_at_t *at);

#endif
