/* progress.c - draws the progress line of progress.h. */
#include "common/cli/progress.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/cli/term.h"

enum { PATIENCE_MS = 1000, REDRAW_MS = 100 };
#define ERASE "\r\033[K"

struct progress {
    char *what;
    char *note; /* NULL: none */
    int fd;
    bool terminal;
    bool shown;
    int64_t next_ms; /* not drawn before */
};

progress_t *
progress_new_on(int fd, const char *what, int64_t delay_ms)
{
    progress_t *self = xcalloc(1, sizeof(*self));

    self->what = xstrdup(what);
    self->fd = fd;
    self->terminal = isatty(fd) == 1 && term_moves();
    self->next_ms = clock_mono_ms() + delay_ms;
    return self;
}

progress_t *
progress_new(const char *what)
{
    return progress_new_on(STDERR_FILENO, what, PATIENCE_MS);
}

void
progress_destroy(progress_t **self_p)
{
    progress_t *self = *self_p;

    if (self == NULL)
        return;
    progress_clear(self);
    free(self->what);
    free(self->note);
    free(self);
    *self_p = NULL;
}

void
progress_note(progress_t *self, const char *note)
{
    free(self->note);
    self->note = note != NULL ? xstrdup(note) : NULL;
}

bool
progress_due(const progress_t *self)
{
    return self->terminal && clock_mono_ms() >= self->next_ms;
}

void
progress_update(progress_t *self, size_t done, size_t total)
{
    buf_auto_t text = BUF_INIT, line = BUF_INIT;

    if (!progress_due(self))
        return;
    if (total > 0)
        buf_printf(&text, "%zu of %zu %s", done, total, self->what);
    else
        buf_printf(&text, "%zu %s", done, self->what);
    if (self->note != NULL)
        buf_printf(&text, ", %s", self->note);
    buf_puts(&line, ERASE);
    /* The last column stays free: a line that wraps could not be erased. */
    (void) term_put(&line, buf_str(&text), term_columns(self->fd) - 1);
    self->terminal = fs_write_all(self->fd, line.data, line.len) == 0;
    self->shown = true;
    self->next_ms = clock_mono_ms() + REDRAW_MS;
}

void
progress_clear(progress_t *self)
{
    if (self == NULL || !self->shown)
        return;
    (void) fs_write_all(self->fd, ERASE, strlen(ERASE));
    self->shown = false;
    self->next_ms = 0;
}
