/* highstate.c - outputter `highstate`: results of state runs per host.
 *
 * Follows salt/output/highstate.py, including its oddities: hs_hosts() unwraps the data, hs_host() shows one
 * host, states sorted by __run_num__, then the summary. Nested orchestrations recurse into hs_hosts().
 * `false` anywhere means "not state results", and the caller falls back to `nested`. */
#include "common/output/highstate.h"

#include "common/base/str.h"
#include "common/output/pytext.h"
#include "salt/value.h"

static bool hs_host(const char *host, json_t *data, const output_opts_t *opts, int level, buf_t *out,
                    bool *ret_changed);

/* ---- what wraps the results ------------------------------------------------------------------ */

/* Unwrap a return from the job cache: {return: {data: {host: ...}}}. NULL when it holds no states. */
static json_t *
unwrap(json_t *data)
{
    static const char *const envelopes[] = { "return", "data" };

    for (size_t i = 0; i < NELEMS(envelopes); i++) {
        json_t *inner = json_object_get(data, envelopes[i]);
        data = inner != NULL ? inner : data;
    }
    if (json_object_size(data) != 1)
        return data;
    json_t *job = json_object_iter_value(json_object_iter(data));
    if (json_object_get(job, "jid") == NULL || json_object_get(job, "fun") == NULL)
        return data;
    json_t *ret = json_object_get(job, "return"), *states = json_object_get(ret, "data");
    if (ret != NULL && !json_is_object(ret))
        return NULL;
    return states != NULL ? states : data;
}

/* The whole outputter without the last newline; used again for orchestrations inside of orchestrations. */
static bool
hs_hosts(json_t *data, const output_opts_t *opts, int level, buf_t *out)
{
    json_auto_t *hosts = NULL, *compressed = NULL;

    data = unwrap(data);
    if (json_is_string(data)) {
        output_str(out, data);
        return true;
    }
    if (json_is_null(data)) {
        buf_puts(out, "None");
        return true;
    }
    if (!json_is_object(data))
        return false;
    /* An orchestration's return is {NAME_master: ..., retcode: N}. */
    size_t masters = 0;
    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it))
        masters += str_ends(json_object_iter_key(it), "_master") ? 1 : 0;
    if (masters == 1 && json_object_get(data, "retcode") != NULL) {
        data = hosts = json_copy(data);
        (void) json_object_del(hosts, "retcode");
    }
    if (opts->state_compress_ids && (compressed = hs_compress(data)) != NULL)
        data = compressed;

    /* Append every host's text. */
    const char *between = "";
    bool changed;
    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
        buf_puts(out, between);
        if (!hs_host(json_object_iter_key(it), json_object_iter_value(it), opts, level, out, &changed))
            return false;
        between = "\n";
    }
    return true;
}

bool
output_highstate(json_t *data, const output_opts_t *opts, buf_t *out)
{
    return hs_hosts(data, opts, 1, out);
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Show the changes of a salt.state in an orchestration: the returns of other hosts. */
static bool
changes_of_hosts(json_t *hosts, const output_opts_t *opts, buf_t *out, bool *ret_changed)
{
    bool changed = false;

    if (!json_is_object(hosts))
        return false;
    for (void *it = json_object_iter(hosts); it != NULL; it = json_object_iter_next(hosts, it)) {
        buf_auto_t text = BUF_INIT;
        if (!hs_host(json_object_iter_key(it), json_object_iter_value(it), opts, 1, &text, &changed))
            return false;
        /* On lines of its own, each indented. */
        const char *pos = text.data, *end = text.data + text.len;
        pyline_t line;
        while (pytext_line(&pos, end, &line)) {
            buf_putc(out, '\n');
            buf_fill(out, ' ', HS_INDENT);
            buf_add(out, line.text, line.len);
        }
        *ret_changed = *ret_changed || changed;
    }
    return true;
}

/* Format the text behind "Changes:"; *ret_changed tells whether there were changes. */
static bool
format_changes(json_t *changes, const output_opts_t *opts, buf_t *out, bool *ret_changed)
{
    *ret_changed = false;
    if (!value_truthy(changes))
        return true;
    if (json_is_object(changes)) {
        json_t *hosts = json_object_get(changes, "ret");
        if (hosts != NULL && !json_is_null(hosts) && str_eq(value_str(changes, "out", NULL), "highstate"))
            return changes_of_hosts(hosts, opts, out, ret_changed);
    }
    *ret_changed = true;
    if (!json_is_object(changes)) {
        buf_puts(out, "Invalid Changes data: ");
        output_str(out, changes);
        return true;
    }
    buf_auto_t text = BUF_INIT;
    output_nested_at(changes, opts, HS_INDENT, 0, &text);
    buf_putc(out, '\n');
    buf_add(out, text.data, pytext_rstrip(buf_str(&text), text.len));
    return true;
}

/* Format a nested orchestration: the same output, indented. */
static bool
format_orchestration(json_t *changes, const output_opts_t *opts, int level, buf_t *out)
{
    buf_auto_t text = BUF_INIT;

    if (!hs_hosts(changes, opts, level + 1, &text))
        return false;
    buf_fill(out, ' ', (size_t) (HS_INDENT * level));
    for (const char *p = buf_str(&text), *nl; p != NULL; p = nl != NULL ? nl + 1 : NULL) {
        nl = strchr(p, '\n');
        buf_putc(out, '\n');
        buf_fill(out, ' ', (size_t) (HS_INDENT * level));
        buf_add(out, p, nl != NULL ? (size_t) (nl - p) : strlen(p));
    }
    return true;
}

/* True for the states of an orchestration that hold the returns of minions, which are shown as returns. */
static bool
runs_orchestration(const json_t *ret)
{
    static const char *const names[] = { "state.orch", "state.orchestrate", "state.sls" };
    const char *name = value_str(ret, "name", "");

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (str_eq(name, names[i]))
            return true;
    }
    return false;
}

/* ---- one host -------------------------------------------------------------------------------- */

/* Appends a line of a return that is a plain text, not states. */
static void
value_line(buf_t *body, colour_t c, const output_opts_t *opts, const char *text, size_t len)
{
    buf_putc(body, '\n');
    buf_puts(body, colour_code(c, opts->colour));
    buf_puts(body, "    ");
    if (opts->strip_colors)
        pytext_add_safe(body, text, len);
    else
        buf_add(body, text, len);
    buf_puts(body, colour_code(COLOUR_ENDC, opts->colour));
}

/* Show states without __run_num__, an error that Salt reports too. The last one found comes first. */
static void
host_unordered(json_t *data, buf_t *body)
{
    AUTO_FREE json_t **found = xcalloc(json_object_size(data) + 1, sizeof(json_t *));
    size_t n = 0;

    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
        json_t *info = json_object_iter_value(it);
        if (json_object_size(info) > 0 && !str_eq(json_object_iter_key(it), "changes") &&
            json_object_get(info, "__run_num__") == NULL)
            found[n++] = info;
    }
    while (n > 0) {
        buf_puts(
            body,
            "\nThe State execution failed to record the order in which all states were executed. The state "
            "return missing data is:\n");
        output_pformat(found[--n], 1, body);
    }
}

/* Orders states by the number of their run; states without one keep the order of the return. */
static int
highstate_by_order(const void *a, const void *b)
{
    const hs_state_t *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->n < y->n ? -1 : 1;
}

/* Parse "(N)" at the end of a compressed id. */
static size_t
count_in_id(const char *id)
{
    const char *open = strrchr(id, '(');

    if (open == NULL || !str_ends(id, ")"))
        return 1;
    char *end;
    unsigned long n = strtoul(open + 1, &end, 10);
    return *end == ')' && end > open + 1 ? n : 1;
}

/* List the host's states in running order. NEW array; NULL when an order is not a number. */
static hs_state_t *
states_in_order(json_t *data, size_t *ret_n)
{
    hs_state_t *states = xcalloc(json_object_size(data) + 1, sizeof(*states));
    size_t n = 0;

    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it)) {
        json_t *info = json_object_iter_value(it), *order = json_object_get(info, "__run_num__");
        if (json_object_get(info, "result") == NULL)
            continue;
        if (order != NULL && !json_is_number(order)) {
            free(states);
            return NULL;
        }
        states[n] = (hs_state_t){ json_object_iter_key(it), info, json_number_value(order), n, 1, NULL, 0 };
        n++;
    }
    qsort(states, n, sizeof(*states), highstate_by_order);
    *ret_n = n;
    return states;
}

/* Append {host: data}'s text to `out`. */
static bool
hs_host(const char *host, json_t *data, const output_opts_t *opts, int level, buf_t *out, bool *ret_changed)
{
    buf_auto_t body = BUF_INIT;
    hs_totals_t totals = { .other = map_new(free) };
    colour_t colour = COLOUR_GREEN;
    bool ok = true;

    if (json_is_object(data)) {
        /* Appends all states of a host in the order that they ran in, and the summary. */
        size_t n = 0;
        AUTO_FREE hs_state_t *states = states_in_order(data, &n);
        ok = states != NULL;
        host_unordered(data, &body);
        for (size_t i = 0; ok && i < n; i++) {
            hs_state_t *s = &states[i];
            s->parts = hs_split(s->name, &s->n_parts);
            if (opts->state_compress_ids && s->n_parts == HS_NAME_PARTS &&
                str_starts(s->parts[2], "state_compressed_"))
                s->compressed = count_in_id(s->parts[1]);
            hs_changes_t changes = { BUF_INIT, true };
            json_t *made = json_object_get(s->ret, "changes");
            ok = made != NULL &&
                 (runs_orchestration(s->ret) ? format_orchestration(made, opts, level, &changes.text)
                                             : format_changes(made, opts, &changes.text, &changes.any));
            ok = ok && hs_state(s, &changes, opts, &totals, &colour, &body);
            buf_free(&changes.text);
            strv_free(s->parts);
        }
        if (ok)
            hs_summary(host, &totals, opts, &body);
    } else if (json_is_array(data)) {
        colour = COLOUR_LIGHT_RED;

        /* Appends a return that is a list: errors of the compilation, one below the other. */
        const char *red = colour_code(COLOUR_LIGHT_RED, opts->colour);
        const char *end = colour_code(COLOUR_ENDC, opts->colour);
        size_t i;
        json_t *element;
        buf_printf(&body, "\n    %sData failed to compile:%s", red, end);
        json_array_foreach (data, i, element) {
            AUTO_FREE char *text = value_pystr(element);
            buf_printf(&body, "\n%s----------\n    ", red);
            if (opts->strip_colors && json_is_string(element))
                pytext_add_safe(&body, text, strlen(text));
            else
                buf_puts(&body, text);
            buf_puts(&body, end);
        }
    } else if (json_is_string(data) || json_is_integer(data) || json_is_boolean(data)) {
        colour = COLOUR_CYAN;
        totals.any_change = true;

        /* Show a function's return instead of state results: each line under the host's name. */
        AUTO_FREE char *text = value_pystr(data);
        const char *pos = text, *end = text + strlen(text);
        pyline_t line;
        while (pytext_line(&pos, end, &line))
            value_line(&body, COLOUR_GREEN, opts, line.text, line.len);
    }
    buf_puts(out, colour_code(colour, opts->colour));
    if (opts->strip_colors)
        pytext_add_safe(out, host, strlen(host));
    else
        buf_puts(out, host);
    buf_printf(out, ":%s", colour_code(COLOUR_ENDC, opts->colour));
    buf_add(out, body.data, body.len);
    *ret_changed = totals.any_change;
    map_destroy(&totals.other);
    return ok;
}
