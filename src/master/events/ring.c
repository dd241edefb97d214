/* ring.c - a linked list of blocks with the newest events' frames. Writing appends to the last block; blocks
 * leave at the front. Places count as users of their block, so that a block is only freed when no reader is
 * in it. One standard block is kept as a spare. */
#include "master/events/ring.h"

#define BLOCK (256 * 1024)

struct ring {
    ring_block_t *head, *tail; /* never NULL */
    ring_block_t *spare;       /* a freed block, reused by the next */
    size_t bytes, limit;
    ring_drop_fn *drop;
    void *cookie;
};

static ring_block_t *
ring_block_new(ring_t *self, size_t room)
{
    size_t cap = room > BLOCK ? room : BLOCK;
    ring_block_t *block = cap == BLOCK ? STEAL(self->spare) : NULL;

    if (block == NULL)
        block = xrealloc(NULL, sizeof(*block) + cap);
    *block = (ring_block_t){ .cap = cap };
    self->bytes += cap;
    return block;
}

static void
ring_pop(ring_t *self)
{
    ring_block_t *block = self->head;

    self->head = block->next;
    self->bytes -= block->cap;
    if (block->cap == BLOCK && self->spare == NULL)
        self->spare = block;
    else
        free(block);
}

ring_t *
ring_new(size_t limit, ring_drop_fn *drop, void *cookie)
{
    ring_t *self = xcalloc(1, sizeof(*self));

    self->limit = limit;
    self->drop = drop;
    self->cookie = cookie;
    self->head = self->tail = ring_block_new(self, 0);
    return self;
}

void
ring_destroy(ring_t **self_p)
{
    ring_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    while (self->head != NULL)
        ring_pop(self);
    free(self->spare);
    free(self);
}

/* The returned room is contiguous: a frame that does not fit starts a new block, over-sized if need be. The
 * last two blocks are never dropped. */
char *
ring_room(ring_t *self, size_t room)
{
    if (self->tail->cap - self->tail->len >= room)
        return self->tail->bytes + self->tail->len;
    self->tail->next = ring_block_new(self, room);
    self->tail = self->tail->next;
    while (self->bytes > self->limit && self->head->next != self->tail && self->head != self->tail) {
        if (self->head->users > 0)
            self->drop(self->cookie, self->head);
        salt_assert(self->head->users == 0);
        ring_pop(self);
    }
    return self->tail->bytes;
}

void
ring_wrote(ring_t *self, uint64_t seq, size_t len)
{
    ring_block_t *block = self->tail;

    salt_assert(len <= block->cap - block->len);
    block->len += len;
    block->last = seq;
    if (block->first == 0)
        block->first = seq;
}

ring_block_t *
ring_newest(ring_t *self)
{
    return self->tail;
}

void
ring_trim(ring_t *self, uint64_t committed)
{
    while (self->head != self->tail && self->head->users == 0 && self->head->ticket <= committed)
        ring_pop(self);
}

size_t
ring_bytes(const ring_t *self)
{
    return self->bytes;
}

uint64_t
ring_first(const ring_t *self)
{
    return self->head->first;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Move a place and keep the counts of users. */
static void
ring_settle(ring_at_t *at, ring_block_t *block, size_t offset)
{
    if (at->block != NULL)
        at->block->users--;
    at->block = block;
    at->offset = offset;
    if (block != NULL)
        block->users++;
}

void
ring_leave(ring_at_t *at)
{
    ring_settle(at, NULL, 0);
}

void
ring_to_end(ring_t *self, ring_at_t *at)
{
    ring_settle(at, self->tail, self->tail->len);
}

/* Blocks are scanned by their numbers, the one that has it by its frames. */
bool
ring_to(ring_t *self, ring_at_t *at, uint64_t seq)
{
    ring_block_t *block = self->head;
    size_t offset = 0;
    eframe_t frame;

    ring_settle(at, NULL, 0);
    if (block->first == 0 || block->first > seq + 1)
        return false;
    while (block->last <= seq && block->next != NULL && block->next->first != 0)
        block = block->next;
    while (offset < block->len && eframe_read(block->bytes + offset, block->len - offset, &frame) &&
           frame.seq <= seq)
        offset += frame.len;
    ring_settle(at, block, offset);
    return true;
}

bool
ring_on(ring_at_t *at)
{
    if (at->block->next == NULL)
        return false;
    ring_settle(at, at->block->next, 0);
    return true;
}
