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
/* Trim white space in place; returns the first kept byte inside `s`. */
char *str_trim(char *s);
/* Copy with truncation; false when `src` did not fit. */
bool str_copy(char *dst, size_t cap, const char *src);
/* NEW array of NEW strings split at any byte of `seps`, empty parts dropped when `skip_empty`. Ends with
 * NULL. */
char **str_split(const char *s, const char *seps, bool skip_empty);
/* Frees an array of strings that ends with NULL. Accepts NULL. */
void strv_free(char **v);
size_t strv_len(char *const *v);
bool strv_equal(char *const *a, char *const *b);
/* NEW text: every `from` replaced by `to`. */
char *str_replace(const char *s, const char *from, const char *to);
/* Parse a whole decimal number within bounds. */
bool str_to_int(const char *s, long long min, long long max, long long *ret_v);
/* The candidate nearest to `word` within a third of its length, or NULL. Next candidate by callback: NULL
 * ends. */
typedef const char *str_next_fn(void *cookie);
const char *str_suggest(const char *word, str_next_fn *next, void *cookie);
/* NEW text without what is secret in addresses: "https://<redacted>@host/..." for user and password. */
char *str_redacted(const char *text);
/* Unix shell quoting as Python's shlex.quote. NEW. */
char *str_shell_quote(const char *s);

#endif
