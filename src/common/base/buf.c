/* buf.c - growable bytes. */
#include "common/base/buf.h"

enum { FIRST_CAP = 64 };

_Thread_local buf_meter_t buf_meter;

void
buf_free(buf_t *b)
{
    buf_meter.held -= (int64_t) b->cap;
    free(b->data);
    *b = (buf_t) BUF_INIT;
}

void
buf_clear(buf_t *b)
{
    b->len = 0;
    b->note = 0;
    if (b->data != NULL)
        b->data[0] = '\0';
}

/* The capacity that `more` bytes need; 0 when the buffer has it already. */
static size_t
buf_wanted(const buf_t *b, size_t more)
{
    salt_assert(more < SIZE_MAX / 4 - b->len);
    size_t need = b->len + more + 1; /* the NUL behind */
    if (need <= b->cap)
        return 0;
    size_t cap = b->cap != 0 ? b->cap : FIRST_CAP;
    while (cap < need)
        cap *= 2;
    return cap;
}

/* Grows the buffer for `more` bytes. The thread's meter may grant less; with `must` the buffer takes the
 * least that it needs in any case. False: the buffer has not grown. */
static bool
grow(buf_t *b, size_t more, bool must)
{
    size_t cap = buf_wanted(b, more), least = b->len + more + 1;

    if (cap == 0)
        return true;
    if (cap > BUF_UNASKED && buf_meter.grant != NULL) {
        size_t by = cap - b->cap;
        bool granted = buf_meter.grant(least - b->cap, &by);
        if (!granted && !must)
            return false;
        cap = granted ? b->cap + by : least;
    }
    b->data = xrealloc(b->data, cap);
    buf_meter.held += (int64_t) (cap - b->cap);
    b->cap = cap;
    b->data[b->len] = '\0';
    return true;
}

void
buf_reserve(buf_t *b, size_t more)
{
    (void) grow(b, more, true);
}

bool
buf_offer_room(buf_t *b, size_t more)
{
    size_t cap = buf_wanted(b, more);
    char *grown = cap != 0 ? realloc(b->data, cap) : b->data;

    if (grown == NULL)
        return false;
    b->data = grown;
    if (cap != 0) {
        buf_meter.held += (int64_t) (cap - b->cap);
        b->cap = cap;
    }
    b->data[b->len] = '\0';
    return true;
}

bool
buf_offer(buf_t *b, const void *bytes, size_t n)
{
    bool room = buf_offer_room(b, n);

    if (room)
        buf_add(b, bytes, n);
    return room;
}

void
buf_add(buf_t *b, const void *bytes, size_t n)
{
    if (n == 0)
        return;
    if (n >= b->cap - b->len && !grow(b, n, false)) /* the NUL behind */
        return;
    memcpy(b->data + b->len, bytes, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void
buf_puts(buf_t *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void
buf_putc(buf_t *b, char c)
{
    if (b->cap - b->len < 2 && !grow(b, 1, false))
        return;
    b->data[b->len++] = c;
    b->data[b->len] = '\0';
}

void
buf_fill(buf_t *b, char c, size_t n)
{
    if (n == 0 || !grow(b, n, false))
        return;
    memset(b->data + b->len, c, n);
    b->len += n;
    b->data[b->len] = '\0';
}

void
buf_printf(buf_t *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

void
buf_vprintf(buf_t *b, const char *fmt, va_list ap)
{
    va_list again;

    if (!grow(b, FIRST_CAP, false))
        return;
    va_copy(again, ap);
    size_t room = b->cap - b->len;
    int n = vsnprintf(b->data + b->len, room, fmt, ap);
    salt_assert(n >= 0);
    if ((size_t) n >= room && !grow(b, (size_t) n, false)) {
        b->data[b->len] = '\0';
        n = 0;
    } else if ((size_t) n >= room) {
        n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
        salt_assert(n >= 0 && (size_t) n < b->cap - b->len);
    }
    va_end(again);
    b->len += (size_t) n;
}

void
buf_consume(buf_t *b, size_t n)
{
    salt_assert(n <= b->len);
    if (n == 0)
        return;
    b->len -= n;
    memmove(b->data, b->data + n, b->len + 1);
}

const char *
buf_str(const buf_t *b)
{
    return b->data != NULL ? b->data : "";
}

char *
buf_steal(buf_t *b)
{
    char *text = b->data != NULL ? b->data : xstrdup("");

    buf_meter.held -= (int64_t) b->cap;
    *b = (buf_t) BUF_INIT;
    return text;
}
