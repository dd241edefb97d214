/* regex.h - Python's `re`, as far as Salt's functions show it: search, match, groups, replacement templates.
 *
 * Layer      common/match; regex.c is the only user of PCRE2 (versions.c tells its version)
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
/* True when it matches at the beginning of the text. With RX_COUNTED every step is charged to `work` (may be
 * NULL), at a higher price for long texts; without, a match has a fixed price. False when the work is used
 * up. */
bool rx_match_within(rx_t *self, const char *text, size_t len, match_work_t *work);
/* Bytes of the compiled pattern: a short text may become a large one. */
size_t rx_size(const rx_t *self);

/* Byte offsets of a group in the last successful search (0: the whole match); false when it took no part. */
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
/* From now on rx_sub passes each piece, of the text or of the replacement, to this function, which appends to
 * `out`. NULL restores plain appending. */
typedef void rx_put_fn(void *cookie, buf_t *out, const char *piece, size_t len, bool of_text);
void rx_put_by(rx_t *self, rx_put_fn *fn, void *cookie);
/* Limits the output of later rx_sub calls to `bytes` (then -E2BIG); SIZE_MAX, the default: unlimited. */
void rx_at_most(rx_t *self, size_t bytes);
/* Deadline of later rx_sub calls by clock_mono_ms(), checked before each match; 0, the default: none. */
void rx_until(rx_t *self, int64_t deadline_ms);
/* NEW: re.escape. */
char *rx_escape(const char *text);
/* Flag by Python's name ("MULTILINE", "m", any case), or 0. */
unsigned rx_flag(const char *name);

#endif
