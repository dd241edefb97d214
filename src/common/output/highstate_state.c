/* highstate_state.c - one state of a host: its full block or its terse line.
 *
 * choose_shape() decides by state_output, state_verbose and the result; counting happens for every state,
 * shown or not. Texts and widths are those of Salt's outputter. */
#include <math.h>

#include "common/base/str.h"
#include "common/output/highstate.h"
#include "common/output/pytext.h"
#include "salt/value.h"

#define REQUISITE_FAILED "One or more requisite failed" /* the runner's words, which are Salt's */

hs_result_t
hs_result(const json_t *result)
{
    if (json_is_null(result))
        return HS_NOT_RUN;
    if (json_is_boolean(result))
        return json_is_true(result) ? HS_OK : HS_FAILED;
    /* Python counts 1 with True and 0 with False. */
    if (json_is_number(result) && json_number_value(result) == 1)
        return HS_OK;
    if (json_is_number(result) && json_number_value(result) == 0)
        return HS_FAILED;
    return HS_OTHER;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* Counts a result for the summary. A result that is neither true, false nor None is counted by its text, as
 * in Salt. */
static void
count_result(const hs_state_t *s, const json_t *result, hs_totals_t *t)
{
    size_t *const counters[] = { [HS_OK] = &t->ok, [HS_FAILED] = &t->failed, [HS_NOT_RUN] = &t->not_run };
    hs_result_t kind = hs_result(result);

    if (kind != HS_OTHER) {
        *counters[kind] += s->compressed;
        if (kind == HS_FAILED && str_starts(value_str(s->ret, "comment", ""), REQUISITE_FAILED))
            t->kept += s->compressed;
        return;
    }
    AUTO_FREE char *text = value_repr(result);
    size_t *n = map_get(t->other, text);
    if (n == NULL) {
        n = xcalloc(1, sizeof(*n));
        map_set(t->other, text, n);
    }
    *n += s->compressed;
}

/* Adds a state's duration to the totals. Parallel states overlap, so only the longest of them counts. False
 * when the duration is of a type that Salt can't add. */
static bool
count_duration(const json_t *ret, hs_totals_t *t)
{
    const json_t *duration = json_object_get(ret, "duration");
    double ms = 0;

    if (json_is_string(duration)) {
        /* Parse what Python's float() accepts, the whole text or the part before " ms". */
        const char *text = json_string_value(duration);
        const char *unit = strstr(text, " ms");
        AUTO_FREE char *number = unit != NULL ? xstrndup(text, (size_t) (unit - text)) : xstrdup(text);
        char *trimmed = str_trim(number), *end;

        if (strpbrk(trimmed, "xXpP(") != NULL) /* hexadecimal and NaN's payload are C's, not Python's */
            return true;
        ms = strtod(trimmed, &end);
        if (end <= trimmed || *end != '\0')
            return true;
    } else if (duration != NULL) {
        if (!json_is_number(duration) && !json_is_boolean(duration))
            return false;
        ms = json_is_true(duration) ? 1 : json_number_value(duration);
    }
    if (json_object_get(ret, "__parallel__") != NULL)
        t->parallel_ms = fmax(t->parallel_ms, ms);
    else
        t->run_ms += ms;
    return true;
}

/* ---- one line -------------------------------------------------------------------------------- */

/* Join the warnings with newlines. False when one is not text. */
static bool
join_warnings(const json_t *ret, buf_t *out)
{
    const json_t *warnings = json_object_get(ret, "warnings"), *element;
    size_t i;

    if (!json_is_array(warnings))
        return false;
    json_array_foreach (warnings, i, element) {
        if (!json_is_string(element))
            return false;
        buf_puts(out, i > 0 ? "\n" : "");
        output_str(out, element);
    }
    return true;
}

/* Appends a member as Python's str() shows it, between two texts; a missing one is shown as None. */
static void
highstate_state_add_member(buf_t *out, const char *before, const json_t *ret, const char *key,
                           const char *behind)
{
    buf_puts(out, before);
    output_str(out, json_object_get(ret, key));
    buf_puts(out, behind);
}

/* Format the times of a terse line. False when there is a start time but no duration. */
static bool
terse_times(const json_t *ret, const output_opts_t *opts, buf_t *out)
{
    const json_t *duration = json_object_get(ret, "duration");

    if (!opts->state_output_profile || json_object_get(ret, "start_time") == NULL)
        return true;
    if (duration == NULL)
        return false;
    if (!opts->state_tabular) {
        highstate_state_add_member(out, " - Started: ", ret, "start_time", "");
        highstate_state_add_member(out, " - Duration: ", ret, "duration", " ms");
        return true;
    }
    AUTO_FREE char *text = value_pystr(duration);
    highstate_state_add_member(out, "", ret, "start_time", " ");
    buf_printf(out, "[%7s ms] ", text);
    return true;
}

/* The word for a result in terse lines. */
static const char *
terse_result(const json_t *ret)
{
    if (json_is_false(json_object_get(ret, "result")))
        return "Failed";
    if (json_is_null(json_object_get(ret, "result")))
        return "Differs";
    return value_truthy(json_object_get(ret, "changes")) ? "Changed" : "Clean";
}

/* Appends a state on a single line. False when its key has too few parts for that. */
static bool
highstate_state_terse(const hs_state_t *s, const char *name, const output_opts_t *opts, colour_t c,
                      buf_t *body)
{
    const char *colour = colour_code(c, opts->colour), *bound = colour_bound(opts->colour),
               *function = s->parts[s->n_parts - 1];
    buf_auto_t warnings = BUF_INIT;
    bool ok = true;

    if (s->n_parts < 3)
        return false;
    buf_putc(body, '\n');
    if (json_object_get(s->ret, "warnings") != NULL) {
        ok = join_warnings(s->ret, &warnings);
        buf_printf(body, "%sWarnings:\n%s%s%s", colour_code(COLOUR_LIGHT_RED, opts->colour),
                   buf_str(&warnings), colour_code(COLOUR_ENDC, opts->colour),
                   opts->state_tabular ? "\n" : "");
    }
    if (opts->state_tabular) {
        buf_puts(body, colour);
        ok = ok && terse_times(s->ret, opts, body);
        buf_printf(body, "%10s.%-10s %-7s   Name: %s", s->parts[0], function, terse_result(s->ret), name);
    } else {
        buf_printf(body, " %s Name: %s%s - Function: %s.%s - Result: %s", colour, name, bound, s->parts[0],
                   function, terse_result(s->ret));
        ok = ok && terse_times(s->ret, opts, body);
    }
    buf_puts(body, colour_code(COLOUR_ENDC, opts->colour));
    return ok;
}

/* ---- full block ------------------------------------------------------------------------------ */

/* Appends the comment. Its further lines are aligned below the first one. */
static void
add_comment(const json_t *ret, buf_t *out)
{
    AUTO_FREE char *text = value_pystr(json_object_get(ret, "comment"));
    const char *s = text;
    size_t len = strlen(text);

    pytext_strip(&s, &len);
    for (const char *end = s + len; s < end;) {
        const char *nl = memchr(s, '\n', (size_t) (end - s));
        if (nl == NULL)
            break;
        buf_add(out, s, (size_t) (nl + 1 - s));
        buf_fill(out, ' ', HS_INDENT);
        len -= (size_t) (nl + 1 - s);
        s = nl + 1;
    }
    buf_add(out, s, len);
}

/* Appends the warnings below a state, wrapped, and counts the state. The first line follows the label, so its
 * indentation is dropped. */
static bool
full_warnings(const json_t *ret, const output_opts_t *opts, hs_totals_t *t, buf_t *body)
{
    enum { WIDTH = 80 };
    buf_auto_t warnings = BUF_INIT;

    if (json_object_get(ret, "warnings") == NULL)
        return true;
    if (!join_warnings(ret, &warnings))
        return false;
    t->with_warnings++;
    buf_printf(body, "\n   %s Warnings: ", colour_code(COLOUR_LIGHT_RED, opts->colour));
    buf_auto_t wrapped = BUF_INIT;
    pytext_wrap(&wrapped, buf_str(&warnings), WIDTH - HS_INDENT, HS_INDENT);
    const char *s = buf_str(&wrapped);
    size_t n, len = wrapped.len;
    while (len > 0 && (n = pytext_space(s, len)) > 0) {
        s += n;
        len -= n;
    }
    buf_add(body, s, len);
    buf_puts(body, colour_code(COLOUR_ENDC, opts->colour));
    return true;
}

/* Write a labelled line: colour, the text in `line`, reset. Empties `line`. */
static void
highstate_state_put_line(buf_t *body, const char *colour, const output_opts_t *opts, const char *indent,
                         buf_t *line)
{
    buf_printf(body, "\n%s%s", indent, colour);
    buf_add(body, line->data, line->len);
    buf_puts(body, colour_code(COLOUR_ENDC, opts->colour));
    buf_clear(line);
}

/* Appends a state as a block of lines. False when it lacks what each state has. */
static bool
full(const hs_state_t *s, const char *name, const output_opts_t *opts, colour_t c, const buf_t *changes,
     hs_totals_t *t, buf_t *body)
{
    const char *colour = colour_code(c, opts->colour);
    json_t *duration = json_object_get(s->ret, "duration");
    buf_auto_t line = BUF_INIT;

    if (s->n_parts < HS_NAME_PARTS || json_object_get(s->ret, "comment") == NULL)
        return false;
    buf_puts(&line, "----------");
    highstate_state_put_line(body, colour, opts, "", &line);
    buf_printf(&line, "      ID: %s", s->parts[1]);
    highstate_state_put_line(body, colour, opts, "    ", &line);
    buf_printf(&line, "Function: %s.%s", s->parts[0], s->parts[3]);
    highstate_state_put_line(body, colour, opts, "    ", &line);
    if (!str_eq(s->parts[1], name)) {
        buf_printf(&line, "    Name: %s", name);
        highstate_state_put_line(body, colour, opts, "    ", &line);
    }
    highstate_state_add_member(&line, "  Result: ", s->ret, "result", "");
    highstate_state_put_line(body, colour, opts, "    ", &line);
    buf_puts(&line, " Comment: ");
    add_comment(s->ret, &line);

    /* Append the state's `data` to its comment. */
    json_t *data = json_object_get(s->ret, "data"), *element;
    size_t i;
    if (json_is_array(data)) {
        json_array_foreach (data, i, element) {
            buf_putc(&line, ' ');
            output_str(&line, element);
        }
    } else if (json_is_object(data)) {
        for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
            buf_printf(&line, "\n\t\t%s: ", json_object_iter_key(it));
            output_str(&line, json_object_iter_value(it));
        }
    } else if (data != NULL) {
        buf_putc(&line, ' ');
        output_str(&line, data);
    }

    highstate_state_put_line(body, colour, opts, "    ", &line);
    if (opts->state_output_profile && json_object_get(s->ret, "start_time") != NULL) {
        highstate_state_add_member(&line, " Started: ", s->ret, "start_time", "");
        highstate_state_put_line(body, colour, opts, "    ", &line);
        buf_puts(&line, "Duration: ");
        if (duration != NULL && !(json_is_string(duration) && json_string_length(duration) == 0))
            highstate_state_add_member(&line, "", s->ret, "duration", " ms");
        highstate_state_put_line(body, colour, opts, "    ", &line);
    }
    buf_puts(&line, "     Changes:   ");
    buf_add(&line, changes->data, changes->len);
    highstate_state_put_line(body, colour, opts, "", &line);
    return full_warnings(s->ret, opts, t, body);
}

/* ---- which of them --------------------------------------------------------------------------- */

/* True when str(result) is in "True,None" or in a list of texts. */
static bool
highstate_state_listed(const json_t *result, const json_t *list)
{
    AUTO_FREE char *text = value_pystr(result);
    size_t len = strlen(text);

    if (json_is_string(list)) {
        for (const char *p = json_string_value(list), *comma; p != NULL;
             p = comma != NULL ? comma + 1 : NULL) {
            comma = strchr(p, ',');
            if ((comma != NULL ? (size_t) (comma - p) : strlen(p)) == len && strncmp(p, text, len) == 0)
                return true;
        }
        return false;
    }
    return value_lists(list, text);
}

typedef enum shape { SHAPE_FULL, SHAPE_TERSE, SHAPE_NONE } shape_t;

/* Chooses how much of a state is shown by its result and the options state_output, state_verbose and
 * state_output_diff. Only the beginning of a mode counts ("mixed_id"), as in Salt. */
static shape_t
choose_shape(const json_t *result, bool changed, const output_opts_t *opts)
{
    const char *mode = opts->state_output != NULL ? opts->state_output : "full";

    if (value_truthy(result) && !changed && (opts->state_output_diff || !opts->state_verbose))
        return SHAPE_NONE;
    if (strncasecmp(mode, "filter", 6) == 0) {
        if (highstate_state_listed(result, opts->terse))
            return SHAPE_TERSE;
        return highstate_state_listed(result, opts->exclude) ? SHAPE_NONE : SHAPE_FULL;
    }
    if (strncasecmp(mode, "terse", 5) == 0 ||
        (strncasecmp(mode, "mixed", 5) == 0 && !json_is_false(result)) ||
        (strncasecmp(mode, "changes", 7) == 0 && value_truthy(result) && !changed))
        return SHAPE_TERSE;
    return SHAPE_FULL;
}

bool
hs_state(const hs_state_t *s, const hs_changes_t *changes, const output_opts_t *opts, hs_totals_t *totals,
         colour_t *host_colour, buf_t *body)
{
    const json_t *result = json_object_get(s->ret, "result");
    colour_t colour = COLOUR_GREEN;

    if (!count_duration(s->ret, totals))
        return false;
    count_result(s, result, totals);
    totals->any_change = totals->any_change || changes->any;
    /* States that were rolled into one count with each change of theirs. */
    const json_t *made = json_object_get(s->ret, "changes");
    size_t n = s->compressed > 1 ? json_object_size(value_get(made, "compressed changes")) : 1;
    if (hs_result(result) != HS_FAILED && changes->any)
        totals->changed += n > 0 ? n : 1;

    /* The host's name takes the colour of its last failure or prediction. */
    shape_t shape = choose_shape(result, changes->any, opts);
    if (changes->any)
        colour = COLOUR_CYAN;
    if (json_is_false(result))
        *host_colour = colour = COLOUR_RED;
    else if (json_is_null(result))
        *host_colour = colour = COLOUR_LIGHT_YELLOW;
    if (shape == SHAPE_NONE)
        return true;
    /* Modes such as "terse_id" show the ID in the place of the name. */
    const char *mode = opts->state_output != NULL ? opts->state_output : "";
    bool by_id = strlen(mode) >= 3 && strcasecmp(mode + strlen(mode) - 3, "_id") == 0;
    const char *name = s->n_parts > 2 ? s->parts[by_id ? 1 : 2] : "";
    if (shape == SHAPE_TERSE)
        return highstate_state_terse(s, name, opts, colour, body);
    return full(s, name, opts, colour, &changes->text, totals, body);
}
