/* regex.h - Python's `re`, as far as Salt's functions show it: search, match, groups, replacement templates.
 *
 * Layer      common/match; with match.h the only user of PCRE2
 * Threads    one at a time per compiled pattern (it remembers its last match)
 * Ownership  patterns and subjects are BORROWED for the call; texts that come back are NEW
 * Errors     -EINVAL for a bad pattern or template; -E2BIG when LIMIT_REGEX_STEPS is used up or a text
 *            would be longer than rx_at_most's; -ETIMEDOUT after rx_until's time
 * Tests      tests/unit/common/test_regex.c, with answers recorded from Python's re
 */
#ifndef COMMON_MATCH_REGEX_H
#define COMMON_MATCH_REGEX_H

#include "common/base/buf.h"
#include "common/match/work.h"
#include "salt/base.h"

/* Python's own numbers, because users pass them ("flags: 8"). */
enum {
    RX_IGNORECASE = 2,
    RX_LOCALE = 4, /* accepted; there is one locale here */
    RX_MULTILINE = 8,
    RX_DOTALL = 16,
    RX_UNICODE = 32, /* accepted; text patterns always are */
    RX_VERBOSE = 64,
    RX_ASCII = 256,
    RX_BYTES = 1 << 16, /* ours: a bytes pattern, which sees bytes instead of characters */
    RX_MATCH =
        1 << 17, /* ours: for rx_match only, many times: machine code after some use, where there is a JIT */
    RX_COUNTED = 1 << 18 /* ours: rx_match_within counts its steps; compiled it is some times larger */
};

typedef struct rx rx_t;

/* NEW, or NULL with *err. */
rx_t *rx_new(const char *pattern, unsigned flags, fail_t *err);
/* Accepts NULL; sets *self_p to NULL. */
void rx_destroy(rx_t **self_p);

/* 1 found, 0 not found, or a negative errno. `rx_match` must match at `from` itself. */
int rx_search(rx_t *self, const char *text, size_t len, size_t from, fail_t *err);
int rx_match(rx_t *self, const char *text, size_t len, size_t from, fail_t *err);
/* Whether it matches at the beginning. With RX_COUNTED every step is taken from `work` (may be NULL), a
 * long text's at a higher price, and it does not match when that is used up; else the match itself is a
 * few. */
bool rx_match_within(rx_t *self, const char *text, size_t len, match_work_t *work);
/* Bytes of the compiled pattern: a short text may become a large one. */
size_t rx_size(const rx_t *self);

/* Of the last successful search: byte offsets of a group (0 is the whole match); false when it took no part.
 */
bool rx_group(const rx_t *self, size_t n, size_t *ret_start, size_t *ret_end);
/* NEW text of a group of the last match in `text`; NULL when it took no part. */
char *rx_group_text(const rx_t *self, const char *text, size_t n);
/* Number of a named group, or -1. */
int rx_group_number(const rx_t *self, const char *name);
/* Number of groups without group 0. */
size_t rx_groups(const rx_t *self);

/* re.subn: append `text` with matches replaced to `out`. `count` 0 means all; `repl` is a template with \1,
 * \g<name> and Python's escapes. *ret_n (may be NULL) is the number of replacements. 0 or a negative errno.
 */
int rx_sub(rx_t *self, const char *repl, const char *text, size_t len, size_t count, buf_t *out,
           size_t *ret_n, fail_t *err);
/* From now on rx_sub has each piece appended to `out` by this function: a piece of the text, or of the
 * replacement. NULL: as at first. */
typedef void rx_put_fn(void *cookie, buf_t *out, const char *piece, size_t len, bool of_text);
void rx_put_by(rx_t *self, rx_put_fn *fn, void *cookie);
/* From now on rx_sub makes no more than `bytes` of text; SIZE_MAX: what it takes, as at first. */
void rx_at_most(rx_t *self, size_t bytes);
/* From now on rx_sub makes no match after clock_mono_ms() said so; 0: it takes what it takes. */
void rx_until(rx_t *self, int64_t deadline_ms);
/* NEW: re.escape. */
char *rx_escape(const char *text);
/* Flag by Python's name ("MULTILINE", "m", any case), or 0. */
unsigned rx_flag(const char *name);

#endif
