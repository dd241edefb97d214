/* buf.h - growable bytes. A NUL always follows `len`, so `data` is also a C string as long as no NUL was
 * added.
 *
 * Layer      common/base; libc only
 * Threads    one at a time
 * Errors     aborts when memory is gone: check a limit before filling it from a peer or a file, or let the
 *            thread's meter refuse
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include "salt/base.h"

typedef struct buf {
    char *data; /* NULL until the first byte; see buf_str */
    size_t len;
    size_t cap;
    unsigned note; /* used by py_peer.c for texts with marks; 0: no marks */
} buf_t;

#define BUF_INIT   ROW(NULL, 0, 0, 0)
/* buf_auto_t b = BUF_INIT; frees itself. */
#define buf_auto_t __attribute__((cleanup(buf_free))) buf_t

/* Counts what all buffers of this thread hold, and asks `grant` before one of them exceeds BUF_UNASKED bytes;
 * NULL: no bound. `grant` may lower the wanted size to what is left, but not below `least`. After a refusal
 * buf_add and its like drop the new bytes and keep the old ones: `grant` has recorded the refusal and makes
 * the work at hand fail. buf_reserve always gets its room, so its caller has to ask first. */
typedef struct buf_meter {
    int64_t held;
    bool (*grant)(size_t least, size_t *wanted);
} buf_meter_t;
extern _Thread_local buf_meter_t buf_meter;
enum { BUF_UNASKED = 4096 };

void buf_free(buf_t *b);
void buf_clear(buf_t *b);
void buf_reserve(buf_t *b, size_t more);
void buf_add(buf_t *b, const void *bytes, size_t n);
/* buf_reserve and buf_add for what peers send: without memory they return false and change nothing. */
bool buf_offer_room(buf_t *b, size_t more);
bool buf_offer(buf_t *b, const void *bytes, size_t n);
void buf_puts(buf_t *b, const char *s);
void buf_putc(buf_t *b, char c);
void buf_fill(buf_t *b, char c, size_t n);
void buf_printf(buf_t *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(buf_t *b, const char *fmt, va_list ap) PRINTF(2, 0);
/* Drops the first n bytes. */
void buf_consume(buf_t *b, size_t n);
/* The bytes as a C string, "" when empty. BORROWED. */
const char *buf_str(const buf_t *b);
/* Hands the bytes over as a C string and empties the buffer. NEW. */
char *buf_steal(buf_t *b);

#endif
