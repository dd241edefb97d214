/* prefixes.h - how many events there were by the beginning of their tags: the first part that is not "salt", as Salt
 * 3008 counts them.
 *
 * Pure. Layer      master
 * Threads    one
 * Tests      tests/unit/master/test_prefixes.c
 */
#ifndef MASTER_EVENTS_PREFIXES_H
#define MASTER_EVENTS_PREFIXES_H

#include "salt/base.h"

enum { PREFIXES_MAX = 50, PREFIX_LEN = 24 };

/* Zeroed: none yet. The first row is "other": of numbers, which are jids, of what is no word, and of those beyond
 * PREFIXES_MAX. */
typedef struct prefixes {
    struct {
        char name[PREFIX_LEN];
        uint64_t count;
    } rows[PREFIXES_MAX];
    size_t n;
} prefixes_t;

void prefixes_count(prefixes_t *self, const char *tag, size_t len);

#endif
