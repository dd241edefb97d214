/* highstate.c - outputter `highstate`: results of state runs per host.
 *
 * Follows salt/output/highstate.py, including its oddities: hs_hosts() unwraps the data, hs_host() shows one
 * host, states sorted by __run_num__, then the summary. Nested orchestrations recurse into hs_hosts().
 * `false` anywhere means "not state results", and the caller falls back to `nested`. */
#include "common/output/highstate.h"

#include "common/base/str.h"
#include "common/output/pytext.h"
#include "salt/value.h"

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

/* True for an orchestration's {NAME_master: ..., retcode: N}. */
static bool
highstate_is_orchestration(json_t *data)
{
    size_t masters = 0;

    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it))
        masters += str_ends(json_object_iter_key(it), "_master") ? 1 : 0;
    return masters == 1 && json_object_get(data, "retcode") != NULL;
}

bool
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
    if (highstate_is_orchestration(data)) {
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

bool
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
            ok = hs_state(s, opts, level, &totals, &colour, &body);
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
