/* str.h - text helpers: comparison, trimming, splitting, edit distance for suggestions.
 *
 * Layer      common/base
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_STR_H
#define COMMON_BASE_STR_H

#include "salt/base.h"

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
bool str_empty(const char *s);                 /* NULL or "" */
int str_by_text(const void *a, const void *b); /* for qsort: arrays of char * */
/* Trims white space in place; returns the first byte that is kept, inside `s`. */
char *str_trim(char *s);
/* Copies with truncation; false when `src` did not fit. */
bool str_copy(char *dst, size_t cap, const char *src);
/* Splits at any byte of `seps`, without empty parts when `skip_empty`. NEW array of NEW strings that ends
 * with NULL. */
char **str_split(const char *s, const char *seps, bool skip_empty);
/* Frees an array of strings that ends with NULL. Accepts NULL. */
void strv_free(char **v);
size_t strv_len(char *const *v);
bool strv_equal(char *const *a, char *const *b);
/* Replaces every `from` by `to`. NEW. */
char *str_replace(const char *s, const char *from, const char *to);
/* Parses a whole decimal number within bounds. */
bool str_to_int(const char *s, long long min, long long max, long long *ret_v);
/* The candidate nearest to `word`, at most a third of its length away, or NULL. The callback returns one
 * candidate after the other, NULL at the end. */
typedef const char *str_next_fn(void *cookie);
const char *str_suggest(const char *word, str_next_fn *next, void *cookie);
/* The same for what is refused as a typing error: at most two letters away, with the same first letter, and
 * of four letters or more, as `use` and `user`, `order` and `worker` are different words. */
const char *str_typo_of(const char *word, str_next_fn *next, void *cookie);
/* Hides the user and password in addresses: "https://<redacted>@host/...". NEW. */
char *str_redacted(const char *text);
/* Quotes for a Unix shell as Python's shlex.quote. NEW. */
char *str_shell_quote(const char *s);

#endif
