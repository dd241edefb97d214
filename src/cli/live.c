/* live.c - see live.h. The display is a block of lines that is erased by cursor movement and drawn again, at
 * most every EVERY_MS; it appears after AFTER_MS, so that quick runs show nothing. Output that is not a
 * terminal never gets any. */
#include "cli/live.h"

#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/cli/term.h"
#include "salt/value.h"

enum { LINES_MAX = 12, AFTER_MS = 500, SILENT_MS = 1000, EVERY_MS = 100, TICK_MS = 1000 };

typedef struct line {
    struct line *next;
    char *id, *fun;
    json_int_t done, of;
    int64_t since_ms;
} line_t;

struct live {
    int fd;
    bool tty;
    line_t *lines; /* in the order in which they began */
    size_t n;
    char *fun;  /* the runner's */
    char *what; /* of a runner that counts its steps */
    json_int_t step, steps;
    int64_t first_ms, drawn_ms;
    size_t drawn; /* lines on the terminal */
    bool changed;
    char *run;      /* an orchestration that has failed */
    json_t *failed; /* owned: {ID: comment} of its steps */
};

live_t *
live_new(int fd)
{
    live_t *self = xcalloc(1, sizeof(*self));

    self->fd = fd;
    self->tty = isatty(fd) == 1;
    return self;
}

static void
free_line(line_t *line)
{
    free(line->id);
    free(line->fun);
    free(line);
}

/* Erases the display first. */
void
live_destroy(live_t **self_p)
{
    live_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    live_clear(self);
    for (line_t *l = self->lines, *next; l != NULL; l = next) {
        next = l->next;
        free_line(l);
    }
    free(self->fun);
    free(self->what);
    free(self->run);
    json_decref(self->failed);
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

/* Slot of a step, or the end of the list. */
static line_t **
live_find(live_t *self, const char *id)
{
    line_t **at = &self->lines;

    while (*at != NULL && !str_eq((*at)->id, id))
        at = &(*at)->next;
    return at;
}

/* A step begins; a step that has a line already is ignored. */
static void
take_begin(live_t *self, const json_t *push, int64_t now_ms)
{
    line_t **at = live_find(self, value_str(push, "id", "?")), *line;

    if (*at != NULL)
        return;
    line = xcalloc(1, sizeof(*line));
    line->id = xstrdup(value_str(push, "id", "?"));
    line->fun = xasprintf("%s.%s", value_str(push, "state", ""), value_str(push, "fun", ""));
    line->since_ms = now_ms;
    *at = line;
    self->n++;
}

/* Counts of a running step. */
static void
take_at(live_t *self, const json_t *push, int64_t now_ms)
{
    line_t *line = *live_find(self, value_str(push, "id", "?"));

    if (line == NULL)
        return;
    line->done = value_int(push, "done", 0);
    line->of = value_int(push, "of", 0);
}

/* A step is over, and its line goes. */
static void
take_end(live_t *self, const json_t *push, int64_t now_ms)
{
    line_t **at = live_find(self, value_str(push, "id", "?")), *line = *at;

    if (line == NULL)
        return;
    *at = line->next;
    free_line(line);
    self->n--;
}

/* Keeps the failed steps of an orchestration for live_hint(). */
static void
live_take_over(live_t *self, const json_t *push, int64_t now_ms)
{
    free(self->run);
    self->run = value_bool(push, "success", true) ? NULL : xstrdup(value_str(push, "run", ""));
    json_decref(self->failed);
    self->failed = json_incref(value_get(push, "failed"));
}

static const struct phase {
    const char *name;
    void (*take)(live_t *self, const json_t *push, int64_t now_ms);
} phases[] = {
    { "begin", take_begin },
    { "at", take_at },
    { "end", take_end },
    { "over", live_take_over },
};

/* Takes one progress push; unknown phases are ignored. */
void
live_take(live_t *self, const json_t *push, int64_t now_ms)
{
    const char *what = value_str(push, "what", NULL);

    if (self->first_ms == 0)
        self->first_ms = now_ms;
    self->changed = true;
    for (size_t i = 0; i < NELEMS(phases); i++) {
        if (str_eq(phases[i].name, value_str(push, "phase", "")))
            phases[i].take(self, push, now_ms);
    }
    if (what == NULL)
        return;
    free(self->what);
    self->what = xstrdup(what);
    self->step = value_int(push, "step", 0);
    self->steps = value_int(push, "of", 0);
}

/* How to resume a failed orchestration. NEW; NULL without a terminal or a failure. */
char *
live_hint(const live_t *self)
{
    buf_t out = BUF_INIT;
    const char *id;
    json_t *comment;

    if (!self->tty || self->run == NULL)
        return NULL;
    json_object_foreach (self->failed, id, comment) {
        buf_printf(&out, "%s: %s\n", id, json_is_string(comment) ? json_string_value(comment) : "");
    }
    buf_printf(&out, "To go on once the cause is mended: salt-run state.orchestrate resume=%s", self->run);
    return buf_steal(&out);
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* Appends one line without control characters, truncated at the terminal's width. */
static void
live_put_line(buf_t *out, const char *text, size_t columns)
{
    (void) term_put(out, text, columns - 1); /* so that it never wraps */
    buf_putc(out, '\n');
}

/* The lines that live_draw() would show. NEW; pure, for tests. */
char *
live_text(const live_t *self, int64_t now_ms, size_t columns)
{
    buf_t out = BUF_INIT;
    size_t shown = 0;

    for (const line_t *l = self->lines; l != NULL && shown < LINES_MAX; l = l->next, shown++) {
        /* The line of a step: ID, function, returns and seconds. */
        AUTO_FREE char *counts = l->of > 0 ? xasprintf(", %lld of %lld returned", (long long) l->done,
                                                       (long long) l->of)
                                           : xstrdup("");
        AUTO_FREE char *text = xasprintf("%s (%s)%s, %lld s", l->id, l->fun, counts,
                                         (long long) ((now_ms - l->since_ms) / 1000));
        live_put_line(&out, text, columns);
    }
    if (shown < self->n) {
        AUTO_FREE char *more = xasprintf("and %zu more steps", self->n - shown);
        live_put_line(&out, more, columns);
    }
    if (self->what != NULL && self->n == 0) {
        AUTO_FREE char *text = xasprintf("[%lld/%lld] %s", (long long) self->step, (long long) self->steps,
                                         self->what);
        live_put_line(&out, text, columns);
    } else if (self->fun != NULL && self->n == 0 && now_ms - self->first_ms >= SILENT_MS) {
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
    bool any = self->fun != NULL || self->n > 0 || self->what != NULL || self->drawn > 0;

    return self->tty && any ? EVERY_MS : -1;
}

/* Draws when the content changed, or once a second for the clocks. */
void
live_draw(live_t *self, int64_t now_ms)
{
    bool soon = self->changed || self->drawn == 0,
         due = now_ms - self->drawn_ms >= (soon ? EVERY_MS : TICK_MS);

    if (!self->tty || !due || self->first_ms == 0 || now_ms - self->first_ms < AFTER_MS)
        return;
    AUTO_FREE char *text = live_text(self, now_ms, term_columns(self->fd));
    live_clear(self);
    live_put(self, text);
    for (const char *c = text; *c != '\0'; c++)
        self->drawn += *c == '\n';
    self->drawn_ms = now_ms;
    self->changed = false;
}
