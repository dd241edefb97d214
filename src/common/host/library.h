/* library.h - a shared library that is loaded when it is needed, by a table of the symbols wanted of it.
 *
 * A daemon does not depend on such a library: what is not there is an error of the function that needs it,
 * and a state may install it for the next one.
 *
 * Layer      common/host
 * Threads    any; who keeps the symbols in static memory locks them
 * Ownership  the library is NEW: dlclose(), or kept for good
 * Tests      tests/unit/common/test_library.c
 */
#ifndef COMMON_HOST_LIBRARY_H
#define COMMON_HOST_LIBRARY_H

#include "salt/base.h"

typedef struct library_symbol {
    const char *name;
    size_t at; /* offset in the caller's struct of the pointer that gets its address */
} library_symbol_t;

/* Opens the first of `names`, ended by NULL, that has all `n` symbols, and puts their addresses into `*into`,
 * which is written in part when a library lacks some. NULL: there is none; `err`, which may be NULL, says why
 * of the last one. */
void *library_open(const char *const *names, const library_symbol_t *symbols, size_t n, void *into,
                   fail_t *err);

#endif
