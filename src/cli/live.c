/* live.c - see live.h. The display is a block of lines that is erased by cursor movement and drawn again, at
 * most every EVERY_MS; it appears after AFTER_MS, so that quick runs show nothing before they end. The text of
 * the tree is made by tree.c. */
#include "cli/live.h"

#include <unistd.h>

#include "cli/tree.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/cli/term.h"
#include "salt/value.h"

enum { AFTER_MS = 500, SILENT_MS = 1000, EVERY_MS = 100, TICK_MS = 1000, REST_ROWS = 200 };

struct live {
    int fd;
    bool tty, moves;
    tree_t *tree;
    char *fun;  /* the runner's */
    char *what; /* of a runner that counts its steps */
    json_int_t step, steps;
    int64_t first_ms, drawn_ms;
    size_t drawn; /* lines on the terminal */
    bool changed;
    char *run; /* an orchestration that has failed */
};

live_t *
live_new(int fd, bool utf8, bool colour)
{
    live_t *self = xcalloc(1, sizeof(*self));

    self->fd = fd;
    self->tty = isatty(fd) == 1;
    self->moves = self->tty && term_moves();
    self->tree = tree_new(utf8, colour);
    return self;
}

/* Erases the display first. */
void
live_destroy(live_t **self_p)
{
    live_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    live_clear(self);
    tree_destroy(&self->tree);
    free(self->fun);
    free(self->what);
    free(self->run);
    free(self);
}

/* ---- what is told -------------------------------------------------------------------------- */

void
live_begin(live_t *self, const char *fun, int64_t now_ms)
{
    free(self->fun);
    self->fun = xstrdup(fun);
    self->first_ms = now_ms;
    self->changed = true;
}

/* Takes one progress push; what a newer master may tell is ignored. */
void
live_take(live_t *self, const json_t *push, int64_t now_ms)
{
    const char *what = value_str(push, "what", NULL);

    if (self->first_ms == 0)
        self->first_ms = now_ms;
    self->changed = true;
    tree_take(self->tree, push, now_ms);
    if (str_eq(value_str(push, "phase", ""), "over")) {
        free(self->run);
        self->run = value_bool(push, "success", true) ? NULL : xstrdup(value_str(push, "run", ""));
    }
    if (what == NULL)
        return;
    free(self->what);
    self->what = xstrdup(what);
    self->step = value_int(push, "step", 0);
    self->steps = value_int(push, "of", 0);
}

char *
live_hint(const live_t *self)
{
    return self->tty && self->run != NULL
               ? xasprintf("To go on once the cause is mended: salt-run state.orchestrate resume=%s",
                           self->run)
               : NULL;
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* Appends one line without control characters, truncated at the terminal's width. */
static void
live_put_line(buf_t *out, const char *text, size_t columns)
{
    (void) term_put(out, text, columns - 1); /* so that it never wraps */
    buf_putc(out, '\n');
}

char *
live_text(const live_t *self, int64_t now_ms, size_t columns, size_t rows)
{
    buf_t out = BUF_INIT;

    if (tree_steps(self->tree) > 0) {
        tree_text(self->tree, now_ms, columns, rows, &out);
    } else if (self->what != NULL) {
        AUTO_FREE char *text = xasprintf("[%lld/%lld] %s", (long long) self->step, (long long) self->steps,
                                         self->what);
        live_put_line(&out, text, columns);
    } else if (self->fun != NULL && now_ms - self->first_ms >= SILENT_MS) {
        AUTO_FREE char *text = xasprintf("%s, %lld s", self->fun,
                                         (long long) ((now_ms - self->first_ms) / 1000));
        live_put_line(&out, text, columns);
    }
    return buf_steal(&out);
}

/* Writes all of it or gives up: the display is not worth an error. */
static void
live_put(const live_t *self, const char *text)
{
    size_t n = strlen(text);

    while (n > 0) {
        ssize_t k = write(self->fd, text, n);
        if (k <= 0)
            return;
        text += k;
        n -= (size_t) k;
    }
}

void
live_clear(live_t *self)
{
    if (self->drawn == 0)
        return;
    AUTO_FREE char *up = xasprintf("\033[%zuA\r\033[J", self->drawn);
    live_put(self, up);
    self->drawn = 0;
    self->changed = true;
}

int
live_pause(const live_t *self)
{
    bool any = self->fun != NULL || tree_steps(self->tree) > 0 || self->what != NULL || self->drawn > 0;

    return self->moves && any ? EVERY_MS : -1;
}

/* Draws when the content changed, or once a second for the clocks. One write: a terminal that draws what it
 * has got so far shows no empty block. */
void
live_draw(live_t *self, int64_t now_ms)
{
    bool soon = self->changed || self->drawn == 0,
         due = now_ms - self->drawn_ms >= (soon ? EVERY_MS : TICK_MS);

    if (!self->moves || !due || self->first_ms == 0 || now_ms - self->first_ms < AFTER_MS)
        return;
    size_t rows = term_rows(self->fd);
    AUTO_FREE char *text = live_text(self, now_ms, term_columns(self->fd), rows > 2 ? rows - 2 : 1);
    buf_auto_t out = BUF_INIT;
    if (self->drawn > 0)
        buf_printf(&out, "\033[%zuA\r\033[J", self->drawn);
    buf_puts(&out, text);
    live_put(self, buf_str(&out));
    self->drawn = 0;
    for (const char *c = text; *c != '\0'; c++)
        self->drawn += *c == '\n';
    self->drawn_ms = now_ms;
    self->changed = false;
}

void
live_rest(live_t *self, int64_t now_ms)
{
    live_clear(self);
    if (!self->tty || tree_steps(self->tree) == 0)
        return;
    AUTO_FREE char *text = live_text(self, now_ms, term_columns(self->fd), REST_ROWS);
    live_put(self, text);
}
