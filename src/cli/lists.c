/* lists.c - see lists.h. A list is a row of the table below: its columns, and the function that makes the cells
 * of one entry. */
#include "cli/lists.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/cli/term.h"
#include "common/cli/ttyguard.h"
#include "salt/value.h"

enum { NAMES_SHOWN = 5, STAMP_SECONDS = 19, US_PER_S = 1000000, MINUTE = 60 };

/* "2026-11-20 09:40:19" of a jid. NEW. */
static json_t *
started_at(const char *jid)
{
    char stamp[CLOCK_STAMP_LEN];
    int64_t us;

    if (!clock_jid_us(jid, &us))
        return json_string("");
    clock_stamp(stamp, us);
    stamp[10] = ' ';
    return value_fmt("%.*s", STAMP_SECONDS, stamp);
}

/* Arguments as one would type them. NEW. */
static json_t *
arguments(const json_t *list)
{
    buf_auto_t text = BUF_INIT;
    json_t *one, *value;
    const char *key;
    size_t i;

    json_array_foreach ((json_t *) list, i, one) {
        bool named = value_get(one, "__kwarg__") != NULL;
        AUTO_FREE char *plain = named ? NULL : value_pystr(one);
        if (plain != NULL)
            buf_printf(&text, "%s%s", text.len > 0 ? " " : "", plain);
        json_object_foreach (named ? one : NULL, key, value) {
            AUTO_FREE char *shown = value_pystr(value);
            if (!str_eq(key, "__kwarg__"))
                buf_printf(&text, "%s%s=%s", text.len > 0 ? " " : "", key, shown);
        }
    }
    return value_utf8(buf_str(&text), text.len);
}

/* "web1, web2, +7" of texts, or of objects with one key each. NEW. */
static json_t *
some_names(const json_t *list)
{
    buf_auto_t text = BUF_INIT;
    size_t n = json_array_size(list);

    for (size_t i = 0; i < n && i < NAMES_SHOWN; i++) {
        json_t *one = json_array_get(list, i);
        const char *name = json_is_object(one) ? json_object_iter_key(json_object_iter(one))
                                               : json_string_value(one);
        buf_printf(&text, "%s%s", i > 0 ? ", " : "", name != NULL ? name : "?");
    }
    if (n > NAMES_SHOWN)
        buf_printf(&text, ", +%zu", n - NAMES_SHOWN);
    return value_utf8(buf_str(&text), text.len);
}

/* A text of the entry; another value counts as none. NEW. */
static json_t *
lists_member(const json_t *entry, const char *key)
{
    return json_string(value_str(entry, key, ""));
}

/* A target as text. NEW. */
static json_t *
lists_target(const json_t *job)
{
    json_t *tgt = value_get(job, "Target");

    return json_is_array(tgt) ? some_names(tgt) : lists_member(job, "Target");
}

/* ---- jobs -------------------------------------------------------------------------------------- */

static const column_t job_columns[] = {
    { "Job", 0, 0 },    { "Started (UTC)", 0, 4 }, { "Function", 10, 0 },
    { "Target", 8, 1 }, { "User", 6, 3 },          { "Arguments", 10, 2 }
};
static const column_t active_columns[] = { { "Job", 0, 0 },       { "Started (UTC)", 0, 6 },
                                           { "Function", 10, 0 }, { "Target", 8, 4 },
                                           { "Running", 10, 1 },  { "Returned", 0, 2 },
                                           { "User", 6, 5 },      { "Arguments", 10, 3 } };

static json_t *
job_cells(const char *jid, const json_t *job)
{
    return json_pack("[s, o, o, o, o, o]", jid, started_at(jid), lists_member(job, "Function"),
                     lists_target(job), lists_member(job, "User"), arguments(value_get(job, "Arguments")));
}

static json_t *
active_cells(const char *jid, const json_t *job)
{
    const json_t *running = value_get(job, "Running"), *returned = value_get(job, "Returned");

    return json_pack("[s, o, o, o, o, o, o, o]", jid, started_at(jid), lists_member(job, "Function"),
                     lists_target(job), some_names(running), value_fmt("%zu", json_array_size(returned)),
                     lists_member(job, "User"), arguments(value_get(job, "Arguments")));
}

/* ---- orchestrations ---------------------------------------------------------------------------- */

static const column_t run_columns[] = {
    { "Run", 0, 0 }, { "Started (UTC)", 0, 3 }, { "Took", 0, 2 }, { "Result", 0, 0 }, { "SLS", 10, 1 }
};

/* How long a run took, "" while it has no end. NEW. */
static json_t *
took(const json_t *run)
{
    int64_t begin, end;

    if (!clock_stamp_parse(value_str(run, "Start", ""), &begin) ||
        !clock_stamp_parse(value_str(run, "End", ""), &end))
        return json_string("");
    double seconds = (double) (end - begin) / US_PER_S;
    return seconds < MINUTE
               ? value_fmt("%.1f s", seconds)
               : value_fmt("%lld min %02lld s", (long long) seconds / MINUTE, (long long) seconds % MINUTE);
}

static json_t *
run_cells(const char *run, const json_t *row)
{
    const json_t *result = value_get(row, "Result"), *mods = value_get(row, "Mods");
    const char *word = json_is_true(result)    ? "True"
                       : json_is_false(result) ? "False"
                                               : value_str(row, "Result", "");
    AUTO_FREE char *one = json_is_array(mods) ? NULL : value_pystr(mods);
    json_t *cells = json_pack("[s, o, o, s, o]", run, started_at(run), took(row), word,
                              one != NULL ? value_utf8(one, strlen(one)) : some_names(mods));

    json_array_append_new(cells, json_integer(json_is_true(result)    ? COLOUR_GREEN
                                              : json_is_false(result) ? COLOUR_RED
                                                                      : COLOUR_YELLOW));
    return cells;
}

/* ---- the table --------------------------------------------------------------------------------- */

#define COLUMNS(columns) .titles = (columns), .n = NELEMS(columns)
static const struct list {
    const char *fun, *none;
    const column_t *titles;
    size_t n;
    json_t *(*cells)(const char *key, const json_t *entry); /* NEW array of texts */
} lists[] = {
    { "jobs.list_jobs", "There are no such jobs.", COLUMNS(job_columns), job_cells },
    { "jobs.active", "No job runs on a minion now.", COLUMNS(active_columns), active_cells },
    { "orchestrate.list", "There are no orchestrations in the journal.", COLUMNS(run_columns), run_cells },
};
#undef COLUMNS

bool
lists_text(const char *fun, const json_t *data, const columns_look_t *look, buf_t *out)
{
    const struct list *list = NULL;
    json_auto_t *rows = json_array(), *keys = json_array();
    json_t *entry;
    const char *key;

    for (size_t i = 0; i < NELEMS(lists); i++)
        if (str_eq(lists[i].fun, fun))
            list = &lists[i];
    if (list == NULL || !json_is_object(data))
        return false;
    json_object_foreach ((json_t *) data, key, entry) {
        if (!json_is_object(entry))
            return false;
        json_array_append_new(keys, json_string(key));
    }
    json_auto_t *sorted = value_sorted_texts(keys);
    for (size_t i = json_array_size(sorted); i > 0; i--) {
        key = json_string_value(json_array_get(sorted, i - 1));
        json_array_append_new(rows, list->cells(key, json_object_get(data, key)));
    }
    if (json_array_size(rows) == 0)
        buf_printf(out, "%s\n", list->none);
    else
        columns_draw(list->titles, list->n, rows, look, out);
    return true;
}

bool
lists_show(show_t *show, const char *fun, const json_t *data)
{
    buf_auto_t text = BUF_INIT;
    columns_look_t look = { .width = term_columns(STDOUT_FILENO),
                            .utf8 = term_utf8(),
                            .paint = show->opts.colour };

    if (show->output != NULL || show->file != NULL || show->quiet || isatty(STDOUT_FILENO) != 1 ||
        !lists_text(fun, data, &look, &text))
        return false;
    show_print(show, "%s", buf_str(&text));
    return true;
}
