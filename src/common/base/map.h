/* map.h - hash map from text to pointer, insertion order kept when walked.
 *
 * Layer      common/base
 * Threads    one at a time
 * Ownership  keys are copied; values are the caller's, or destroyed by the map if a function is given
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_MAP_H
#define COMMON_BASE_MAP_H

#include "salt/base.h"

typedef struct map map_t;
typedef void map_free_fn(void *value);

map_t *map_new(map_free_fn *free_value); /* NEW; `free_value` may be NULL */
void map_destroy(map_t **self_p);
/* The value, or NULL. BORROWED. */
void *map_get(const map_t *self, const char *key);
/* Sets or replaces a value. The map's function frees the old one. */
void map_set(map_t *self, const char *key, void *value);
/* Removes and frees; false when there is none. */
bool map_del(map_t *self, const char *key);
/* Removes without freeing and returns the value; NULL when there is none. */
void *map_take(map_t *self, const char *key);
size_t map_len(const map_t *self);
void map_clear(map_t *self);

/* for (size_t i = 0; map_next(m, &i, &key, &value);) ... Deleting the current entry is allowed, adding is
 * not. */
bool map_next(const map_t *self, size_t *iter, const char **ret_key, void **ret_value);

/* The hash of a key: SipHash with a secret key of this process, so that nobody can aim at one slot. */
uint64_t map_hash(const void *bytes, size_t len);

#endif
