/* arena.h - memory of one compiled template: allocated in pieces, freed at once.
 *
 * Layer      common/jinja
 * Threads    one at a time
 * Ownership  every piece belongs to the arena
 * Errors     aborts when memory is exhausted; the template's size is limited before
 * Tests      tests/unit/common/test_jinja_parse.c */
#ifndef COMMON_JINJA_ARENA_H
#define COMMON_JINJA_ARENA_H

#include "salt/base.h"

typedef struct arena arena_t;

/* NEW */
arena_t *arena_new(void);
void arena_destroy(arena_t **self_p);
/* Zeroed, aligned for anything. */
void *arena_take(arena_t *self, size_t size);
/* A copy with a NUL behind. */
char *arena_text(arena_t *self, const char *text, size_t len);
char *arena_printf(arena_t *self, const char *fmt, ...) PRINTF(2, 3);
/* Room for one more element in an array of `n` elements of `size` bytes, which starts as NULL. Returns the
 * array, perhaps at a new place. */
void *arena_grow(arena_t *self, void *array, size_t n, size_t size);
/* Bytes taken so far. */
size_t arena_used(const arena_t *self);

#endif
