/* ttyguard.c - see ttyguard.h. */
#include "common/cli/ttyguard.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/cli/ttyfilter.h"

enum { HOLD_MAX = 64 * 1024 };

static struct guard {
    int fd;
    FILE **stream; /* stdio's variable */
    int mode;      /* of its buffer */
    bool on;
    ttyfilter_t filter;
    bool held;
    buf_t out; /* on its way; stdio lets one write in at a time */
} guards[] = {
    { .fd = STDOUT_FILENO, .stream = &stdout, .mode = _IOLBF },
    { .fd = STDERR_FILENO, .stream = &stderr, .mode = _IONBF },
};

/* Writes the waiting bytes to the descriptor. errno is set for stdio on failure. */
static bool
put_out(struct guard *self)
{
    int rc = fs_write_all(self->fd, buf_str(&self->out), self->out.len);

    buf_clear(&self->out);
    if (rc != 0)
        errno = -rc;
    return rc == 0;
}

/* The stream's write function. Returns 0 on failure, as fopencookie() asks. */
static ssize_t
on_write(void *cookie, const char *data, size_t len)
{
    struct guard *self = cookie;

    ttyfilter_add(&self->filter, data, len, &self->out);
    return (self->held && self->out.len < HOLD_MAX) || put_out(self) ? (ssize_t) len : 0;
}

/* Runs at exit: flushes the streams and ends their filters, so that no colour stays on in the user's
 * shell. */
static void
end_all(void)
{
    for (size_t i = 0; i < NELEMS(guards); i++) {
        struct guard *self = &guards[i];
        if (!self->on)
            continue;
        (void) fflush(*self->stream);
        ttyfilter_end(&self->filter, &self->out);
        (void) put_out(self);
        buf_free(&self->out);
    }
}

/* From here on all that goes to a terminal by stdio passes the filter. */
void
ttyguard_begin(void)
{
    for (size_t i = 0; i < NELEMS(guards); i++) {
        /* Puts a stream behind its filter if it is a terminal. The stream gets stdio's usual buffering for
         * it. */
        struct guard *self = &guards[i];
        if (isatty(self->fd) != 1)
            continue;
        FILE *stream = fopencookie(self, "w", (cookie_io_functions_t){ .write = on_write });
        salt_assert(stream != NULL);
        (void) setvbuf(stream, NULL, self->mode, 0);
        *self->stream = stream;
        self->on = true;
    }
    (void) atexit(end_all);
}

/* Holds back what is printed, so that a redraw appears at once; `hold` false lets it out. */
bool
ttyguard_hold(bool hold)
{
    struct guard *self = &guards[0];

    self->held = hold;
    if (hold)
        return true;
    return fflush(stdout) == 0 && (!self->on || put_out(self));
}

paint_t
ttyguard_paint(bool colour)
{
    if (!guards[0].on)
        return colour ? PAINT_PLAIN : PAINT_NONE;
    return colour ? PAINT_MARKED : PAINT_BOUNDS;
}

/* The guard of a stream; NULL: the stream is not guarded. */
static const struct guard *
guard_of(FILE *stream)
{
    for (size_t i = 0; i < NELEMS(guards); i++)
        if (guards[i].on && stream == *guards[i].stream)
            return &guards[i];
    return NULL;
}

const char *
ttyguard_bound(FILE *stream)
{
    return colour_bound(guard_of(stream) != NULL ? PAINT_BOUNDS : PAINT_NONE);
}

int
ttyguard_fd(FILE *stream)
{
    const struct guard *guard = guard_of(stream);

    return guard != NULL ? guard->fd : fileno(stream);
}

bool
ttyguard_write(FILE *stream, const buf_t *text)
{
    ttyfilter_t filter = TTYFILTER_INIT;
    buf_auto_t shown = BUF_INIT;
    const buf_t *out = text;

    if (isatty(fileno(stream)) == 1) {
        ttyfilter_add(&filter, buf_str(text), text->len, &shown);
        ttyfilter_end(&filter, &shown);
        out = &shown;
    }
    return fwrite(buf_str(out), 1, out->len, stream) == out->len && fflush(stream) == 0;
}
