/* progress.c - draws the progress line of progress.h. */
#include "common/cli/progress.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/cli/term.h"
#include "salt/log.h"

enum { PATIENCE_MS = 1000, REDRAW_MS = 100 };

struct progress {
    char *what;
    char *note;     /* NULL: none */
    char *above;    /* NULL: none */
    size_t n_above; /* such lines on the terminal */
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
    free(self->above);
    free(self);
    *self_p = NULL;
}

void
progress_note(progress_t *self, const char *note)
{
    free(self->note);
    self->note = note != NULL ? xstrdup(note) : NULL;
}

/* Lines that stand above the progress line and are replaced with it; each ends with a newline. */
void
progress_above(progress_t *self, const char *lines)
{
    free(self->above);
    self->above = *lines != '\0' ? xstrdup(lines) : NULL;
}

/* Appends what takes the lines away. */
static void
erase(const progress_t *self, buf_t *out)
{
    if (self->n_above > 0)
        buf_printf(out, "\033[%zuA\r\033[J", self->n_above);
    else
        buf_puts(out, LOG_ERASE_LINE);
}

bool
progress_due(const progress_t *self)
{
    return self->terminal && clock_mono_ms() >= self->next_ms;
}

/* Drawn at most every REDRAW_MS, and not at all before the delay: short work shows nothing. */
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
    erase(self, &line);
    self->n_above = 0;
    for (const char *c = self->above; c != NULL && *c != '\0'; c++)
        self->n_above += *c == '\n';
    buf_puts(&line, self->above != NULL ? self->above : "");
    /* The last column stays free: a line that wraps could not be erased. */
    (void) term_put(&line, buf_str(&text), term_columns(self->fd) - 1);
    if (self->fd == STDERR_FILENO)
        log_over_line(true);
    self->terminal = fs_write_all(self->fd, line.data, line.len) == 0;
    self->shown = true;
    self->next_ms = clock_mono_ms() + REDRAW_MS;
}

void
progress_clear(progress_t *self)
{
    if (self == NULL || !self->shown)
        return;
    buf_auto_t out = BUF_INIT;
    erase(self, &out);
    (void) fs_write_all(self->fd, out.data, out.len);
    if (self->fd == STDERR_FILENO)
        log_over_line(false);
    self->n_above = 0;
    self->shown = false;
    self->next_ms = 0;
}
