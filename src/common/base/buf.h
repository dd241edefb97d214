/* buf.h - growable bytes. Always NUL-terminated behind `len`, so `data` is also a C string when no NUL was
 * added.
 *
 * Layer      common/base; libc only
 * Threads    one at a time
 * Errors     aborts when memory is gone: whoever fills it from a peer or a file checks a limit first, or has
 *            the thread's meter refuse
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_BUF_H
#define COMMON_BASE_BUF_H

#include "salt/base.h"

typedef struct buf {
    char *data; /* NULL until the first byte; see buf_str */
    size_t len;
    size_t cap;
    unsigned note; /* of who fills it with what has marks: py_peer.c; 0: none */
} buf_t;

#define BUF_INIT   ROW(NULL, 0, 0, 0)
/* buf_auto_t b = BUF_INIT; frees itself. */
#define buf_auto_t __attribute__((cleanup(buf_free))) buf_t

/* What all buffers of this thread hold, and who is asked before one has more than BUF_UNASKED bytes; NULL:
 * nobody. `grant` may lower what is wanted to what there is, of which `least` is needed. After a refusal
 * buf_add and its like drop what they were given and the buffer keeps what it had: `grant` has taken note,
 * and sees to it that the work at hand fails. buf_reserve grants itself what it needs: who fills the room
 * asks beforehand. */
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
/* For what peers send, as buf_reserve and buf_add: false, and nothing has changed, when there is no memory
 * for it. */
bool buf_offer_room(buf_t *b, size_t more);
bool buf_offer(buf_t *b, const void *bytes, size_t n);
void buf_puts(buf_t *b, const char *s);
void buf_putc(buf_t *b, char c);
void buf_fill(buf_t *b, char c, size_t n);
void buf_printf(buf_t *b, const char *fmt, ...) PRINTF(2, 3);
void buf_vprintf(buf_t *b, const char *fmt, va_list ap) PRINTF(2, 0);
/* Drop the first n bytes. */
void buf_consume(buf_t *b, size_t n);
/* BORROWED C string, "" when empty. */
const char *buf_str(const buf_t *b);
/* NEW C string; the buffer is empty afterwards. */
char *buf_steal(buf_t *b);

#endif
