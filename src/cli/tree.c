/* tree.c - see tree.h. */
#include "cli/tree.h"

#include "common/base/map.h"
#include "common/base/str.h"
#include "common/cli/term.h"
#include "common/output/colour.h"
#include "salt/value.h"

enum {
    STEPS_MAX = 2000,
    REASON_LINES = 3,
    ID_MIN = 8,
    ID_MAX = 40,
    HEAD_ROWS = 2,
    MS_PER_S = 1000,
    S_PER_MIN = 60
};

typedef enum stage { TO_COME, AT_WORK, DONE, FAILED, NOT_RUN, KEPT, WOULD, STAGES } stage_t;

static const struct look {
    const char *mark, *ascii;
    colour_t colour;
    const char *word; /* in the place of a time */
} looks[STAGES] = {
    [TO_COME] = { "\u25cb", ".", COLOUR_DARK_GRAY, "" },
    [AT_WORK] = { "\u25cf", "*", COLOUR_YELLOW, NULL },
    [DONE] = { "\u2713", "+", COLOUR_GREEN, NULL },
    [FAILED] = { "\u2717", "x", COLOUR_RED, NULL },
    [NOT_RUN] = { "-", "-", COLOUR_DARK_GRAY, "not run" },
    [KEPT] = { "\u2713", "+", COLOUR_GREEN, "done before" },
    [WOULD] = { "~", "~", COLOUR_YELLOW, NULL },
};

typedef struct tree_step {
    char *id, *fun, *reason; /* reason: NULL, or why it failed */
    stage_t stage;
    json_int_t done, of; /* minions */
    int64_t begin_ms, end_ms;
} tree_step_t;

struct tree {
    bool utf8, colour;
    tree_step_t **steps; /* in the order of the plan */
    size_t n, more;
    map_t *by_tag; /* BORROWED steps */
    char *run;
    int64_t begin_ms, end_ms; /* end_ms 0: at work */
};

tree_t *
tree_new(bool utf8, bool colour)
{
    tree_t *self = xcalloc(1, sizeof(*self));

    self->utf8 = utf8;
    self->colour = colour;
    self->by_tag = map_new(NULL);
    return self;
}

static void
drop_steps(tree_t *self)
{
    map_destroy(&self->by_tag);
    for (size_t i = 0; i < self->n; i++) {
        free(self->steps[i]->id);
        free(self->steps[i]->fun);
        free(self->steps[i]->reason);
        free(self->steps[i]);
    }
    free(self->steps);
    free(self->run);
}

void
tree_destroy(tree_t **self_p)
{
    tree_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    drop_steps(self);
    free(self);
}

size_t
tree_steps(const tree_t *self)
{
    return self->n;
}

/* ---- what is told -------------------------------------------------------------------------- */

/* The step of a message or of a plan's row, added when it is new; NULL when there are too many. */
static tree_step_t *
step_named(tree_t *self, const json_t *row)
{
    const char *id = value_str(row, "id", "?"), *tag = value_str(row, "tag", id);
    tree_step_t *step = map_get(self->by_tag, tag);

    if (step != NULL || self->n == STEPS_MAX)
        return step;
    step = xcalloc(1, sizeof(*step));
    step->id = xstrdup(id);
    step->fun = xasprintf("%s.%s", value_str(row, "state", ""), value_str(row, "fun", ""));
    self->steps = xrealloc(self->steps, (self->n + 1) * sizeof(*self->steps));
    self->steps[self->n++] = step;
    map_set(self->by_tag, tag, step);
    return step;
}

/* A plan begins the tree anew: a resumed orchestration sends another one. */
static void
take_plan(tree_t *self, const json_t *push, int64_t now_ms)
{
    json_t *row;
    size_t i;

    drop_steps(self);
    *self = (tree_t){
        .utf8 = self->utf8, .colour = self->colour, .by_tag = map_new(NULL), .begin_ms = now_ms
    };
    self->run = xstrdup(value_str(push, "run", ""));
    json_array_foreach (value_get(push, "steps"), i, row)
        (void) step_named(self, row);
    self->more = (size_t) value_int(push, "more", 0);
}

/* Only steps on minions have counts; 0 of 0 shows nothing. */
static void
take_counts(tree_step_t *step, const json_t *push)
{
    if (value_int(push, "of", 0) <= 0)
        return;
    step->done = value_int(push, "done", 0);
    step->of = value_int(push, "of", 0);
}

/* `kept`: taken from the journal of an earlier run. A result of null is that of test mode: it would change
 * something. */
static stage_t
stage_of(const json_t *push)
{
    const json_t *result = value_get(push, "result");

    if (value_bool(push, "kept", false))
        return json_is_false(result) ? FAILED : KEPT;
    if (!value_bool(push, "ran", true))
        return NOT_RUN;
    return json_is_true(result) ? DONE : json_is_null(result) ? WOULD : FAILED;
}

void
tree_take(tree_t *self, const json_t *push, int64_t now_ms)
{
    const char *phase = value_str(push, "phase", "");

    if (str_eq(phase, "plan")) {
        take_plan(self, push, now_ms);
        return;
    }
    if (str_eq(phase, "over")) {
        self->end_ms = now_ms;
        return;
    }
    bool begins = str_eq(phase, "begin"), ends = str_eq(phase, "end");
    tree_step_t *step = begins ? step_named(self, push)
                               : map_get(self->by_tag, value_str(push, "tag", value_str(push, "id", "?")));
    if (step == NULL)
        return;
    if (begins) {
        step->stage = AT_WORK;
        step->begin_ms = now_ms;
        step->done = step->of = 0;
    }
    if (ends || str_eq(phase, "at"))
        take_counts(step, push);
    if (!ends)
        return;
    step->stage = stage_of(push);
    step->end_ms = now_ms;
    free(step->reason);
    step->reason = step->stage == FAILED ? xstrdup(value_str(push, "comment", "")) : NULL;
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* "0.4 s", "12 s", "3 min 05 s". NEW. */
static char *
time_text(int64_t ms)
{
    if (ms < 10 * MS_PER_S)
        return xasprintf("%.1f s", (double) ms / MS_PER_S);
    if (ms < S_PER_MIN * MS_PER_S)
        return xasprintf("%lld s", (long long) ms / MS_PER_S);
    return xasprintf("%lld min %02lld s", (long long) ms / MS_PER_S / S_PER_MIN,
                     (long long) ms / MS_PER_S % S_PER_MIN);
}

static void
paint_on(const tree_t *self, colour_t colour, buf_t *out)
{
    buf_puts(out, colour_code(colour, self->colour ? PAINT_PLAIN : PAINT_NONE));
}

/* Appends a whole line: a branch, a mark in its colour, and what follows, cut at the edge. */
static void
put_branch(const tree_t *self, bool last, const struct look *look, const char *text, size_t columns,
           buf_t *out)
{
    const char *branch = self->utf8 ? (last ? "\u2514\u2500 " : "\u251c\u2500 ") : last ? "`- " : "|- ";
    size_t room = columns - 1, used = term_put(out, branch, room);

    paint_on(self, look->colour, out);
    used += term_put(out, self->utf8 ? look->mark : look->ascii, room - used);
    paint_on(self, COLOUR_ENDC, out);
    used += term_put(out, " ", room - used);
    (void) term_put(out, text, room - used);
    buf_putc(out, '\n');
}

/* Text of a column, filled up to its width. */
static void
put_field(buf_t *out, const char *text, size_t width)
{
    size_t used = term_put(out, text, width);

    buf_fill(out, ' ', width - used + 2);
}

/* A step's line, and below one that failed the beginning of its reason. Returns the number of lines. */
static size_t
put_tree_step(const tree_t *self, const tree_step_t *step, bool last, size_t id_width, int64_t now_ms,
              size_t columns, buf_t *out)
{
    buf_auto_t text = BUF_INIT;
    /* Where the time stands, a step that has not begun or was left out has a word. */
    AUTO_FREE char *time = looks[step->stage].word != NULL
                               ? xstrdup(looks[step->stage].word)
                               : time_text((step->stage == AT_WORK ? now_ms : step->end_ms) - step->begin_ms);
    AUTO_FREE char *counts = step->of > 0 ? xasprintf("%lld of %lld minion%s", (long long) step->done,
                                                      (long long) step->of, step->of == 1 ? "" : "s")
                                          : xstrdup("");
    size_t lines = 1;

    put_field(&text, step->id, id_width);
    put_field(&text, time, strlen(time) > 11 ? strlen(time) : 11);
    put_field(&text, counts, strlen(counts) > 14 ? strlen(counts) : 14);
    buf_puts(&text, step->fun);
    put_branch(self, last, &looks[step->stage], buf_str(&text), columns, out);
    const char *reason = step->reason;
    while (!str_empty(reason) && lines <= REASON_LINES) {
        size_t len = strcspn(reason, "\n");
        AUTO_FREE char *line = xasprintf("%s     %.*s",
                                         last         ? " "
                                         : self->utf8 ? "\u2502"
                                                      : "|",
                                         (int) len, reason);
        (void) term_put(out, line, columns - 1);
        buf_putc(out, '\n');
        reason += len + (reason[len] == '\n');
        lines++;
    }
    return lines;
}

/* Which steps have lines of their own where there is no room for all: those that failed, those at work, then
 * the first ones to come. Returns the number of them; the NEW marks go to *ret_shown. */
static size_t
choose(const tree_t *self, size_t rows, bool **ret_shown)
{
    static const stage_t order[] = { FAILED, AT_WORK, WOULD, TO_COME, NOT_RUN, DONE, KEPT };
    bool *shown = xcalloc(self->n + 1, sizeof(*shown));
    size_t n = 0, left = rows;

    for (size_t k = 0; k < NELEMS(order); k++) {
        bool newest = order[k] == DONE; /* of those that are done the last */
        for (size_t i = 0; i < self->n && left > 0; i++) {
            size_t at = newest ? self->n - 1 - i : i;
            if (self->steps[at]->stage != order[k] || shown[at])
                continue;
            size_t lines = order[k] == FAILED && self->n > rows ? 1 + REASON_LINES : 1;
            if (lines > left)
                break;
            left -= lines;
            shown[at] = true;
            n++;
        }
    }
    *ret_shown = shown;
    return n;
}

/* "and 12 done, 30 to come": what has no line of its own. */
static void
put_rest(const tree_t *self, const bool *shown, size_t columns, buf_t *out)
{
    static const char *const words[] = {
        [TO_COME] = "to come", [AT_WORK] = "at work",  [DONE] = "done",         [FAILED] = "failed",
        [NOT_RUN] = "not run", [KEPT] = "done before", [WOULD] = "in test mode"
    };
    size_t counts[STAGES] = { [TO_COME] = self->more };
    buf_auto_t text = BUF_INIT;
    struct look look = { "\u2026", ".", COLOUR_DARK_GRAY, NULL };

    for (size_t i = 0; i < self->n; i++)
        counts[self->steps[i]->stage] += !shown[i];
    for (size_t k = 0; k < STAGES; k++)
        if (counts[k] > 0)
            buf_printf(&text, "%s%zu %s", text.len > 0 ? ", " : "and ", counts[k], words[k]);
    put_branch(self, true, &look, buf_str(&text), columns, out);
}

/* Widths of all shown steps are found before the first line, so that columns stand below each other; the ids
 * take a third at most. */
void
tree_text(const tree_t *self, int64_t now_ms, size_t columns, size_t rows, buf_t *out)
{
    AUTO_FREE bool *shown = NULL;
    size_t room = rows > HEAD_ROWS ? rows - HEAD_ROWS : 1, n = choose(self, room, &shown), done = 0;
    size_t id_width = ID_MIN, most = columns / 3;
    bool all = n == self->n && self->more == 0;

    most = most < ID_MIN ? ID_MIN : most > ID_MAX ? ID_MAX : most;
    for (size_t i = 0; i < self->n; i++) {
        size_t width = shown[i] ? term_width(self->steps[i]->id) : 0;
        id_width = width > id_width ? width : id_width;
    }
    id_width = id_width < most ? id_width : most;
    /* The head: "Orchestration 2026...: 2 of 5 steps, 12 s". */
    size_t over = 0, failed = 0, off = 0;

    for (size_t i = 0; i < self->n; i++) {
        stage_t stage = self->steps[i]->stage;
        over += stage != TO_COME && stage != AT_WORK;
        failed += stage == FAILED;
        off += stage == NOT_RUN;
    }
    AUTO_FREE char *time = time_text((self->end_ms > 0 ? self->end_ms : now_ms) - self->begin_ms);
    AUTO_FREE char *bad = failed + off > 0 ? xasprintf("; failed: %zu, not run: %zu", failed, off)
                                           : xstrdup("");
    AUTO_FREE char *text = xasprintf("Orchestration %s: %zu of %zu steps, %s%s",
                                     self->run != NULL ? self->run : "", over, self->n + self->more, time,
                                     bad);
    (void) term_put(out, text, columns - 1);
    buf_putc(out, '\n');
    for (size_t i = 0; i < self->n; i++)
        if (shown[i])
            (void) put_tree_step(self, self->steps[i], all && ++done == n, id_width, now_ms, columns, out);
    if (!all)
        put_rest(self, shown, columns, out);
}
