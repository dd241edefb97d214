/* arena.c - a bump allocator: blocks in a list, the newest first. A piece larger than a quarter of a block
 * gets a block of its own behind the current one, whose free space stays usable. The bytes count against the
 * values' limit (py_count). */
#include "common/jinja/arena.h"
#include "common/py/py_error.h"

enum { ARENA_BLOCK = 16 * 1024, ARENA_ALIGN = 16 };

/* Memory that is handed out from the front and freed all at once. */
typedef struct block {
    struct block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGN) char data[];
} block_t;

struct arena {
    block_t *blocks;
    size_t used;
};

arena_t *
arena_new(void)
{
    return xcalloc(1, sizeof(arena_t));
}

/* Frees all blocks and takes them off the count of live bytes. */
void
arena_destroy(arena_t **self_p)
{
    arena_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (block_t *b = self->blocks, *next; b != NULL; b = next) {
        next = b->next;
        py_count(-(int64_t) (sizeof(block_t) + b->size));
        free(b);
    }
    free(self);
}

/* Rounds up to ARENA_ALIGN, so every piece is aligned for any type. */
void *
arena_take(arena_t *self, size_t size)
{
    size = (size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    block_t *b = self->blocks;
    if (b == NULL || b->size - b->used < size) {
        /* A new block, zeroed: arena_take relies on that. */
        size_t room = size > ARENA_BLOCK / 4 ? size : ARENA_BLOCK;
        b = xcalloc(1, sizeof(block_t) + room);
        b->size = room;
        py_count((int64_t) (sizeof(block_t) + room));
        /* A large piece goes behind the current block, which keeps its room for small ones. */
        if (room == size && self->blocks != NULL) {
            b->next = self->blocks->next;
            self->blocks->next = b;
        } else {
            b->next = self->blocks;
            self->blocks = b;
        }
    }
    void *p = b->data + b->used;
    b->used += size;
    self->used += size;
    return p;
}

char *
arena_text(arena_t *self, const char *text, size_t len)
{
    char *copy = arena_take(self, len + 1);
    if (len > 0)
        memcpy(copy, text, len);
    return copy;
}

char *
arena_printf(arena_t *self, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text AUTO_FREE = xvasprintf(fmt, ap);
    va_end(ap);
    return arena_text(self, text, strlen(text));
}

/* An array doubles whenever `n` is a power of two; the old copy stays in the arena until its end, so an array
 * costs at most twice its size. */
void *
arena_grow(arena_t *self, void *array, size_t n, size_t size)
{
    if (n > 0 && (n & (n - 1)) != 0)
        return array;
    void *larger = arena_take(self, (n == 0 ? 1 : 2 * n) * size);
    if (n > 0)
        memcpy(larger, array, n * size);
    return larger;
}

size_t
arena_used(const arena_t *self)
{
    return self->used;
}
