/* profile.c - outputter `profile`: states and their durations as a table, sorted by the duration's text as
 * Salt sorts it. */
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/output/highstate.h"
#include "salt/value.h"

enum { NAME_MAX_WIDTH = 60 };
static const char DURATION[] = "duration (ms)";

typedef struct line {
    double ms;
    char *name;     /* owned */
    char *function; /* owned */
    char *duration; /* owned, padded */
} line_t;

/* Compares durations as texts, as Salt sorts its rows. */
static int
by_duration(const void *a, const void *b)
{
    const line_t *x = a, *y = b;
    int order = strcmp(x->duration, y->duration);

    if (order == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->function, y->function);
}

/* NEW text of at most NAME_MAX_WIDTH characters. */
static char *
short_name(const char *name)
{
    size_t len = strlen(name), i = 0;
    uint32_t cp;

    if (utf8_count(name, len) <= NAME_MAX_WIDTH)
        return xstrdup(name);
    for (int n = 0; n < NAME_MAX_WIDTH - 3; n++) {
        size_t step = utf8_next(name + i, len - i, &cp);
        i += step > 0 ? step : 1;
    }
    return xasprintf("%.*s...", (int) i, name);
}

/* Collect every state of every host in `lines`; *ret_n are filled, also on failure. */
static bool
profile_collect(json_t *data, line_t *lines, size_t *ret_n)
{
    *ret_n = 0;
    for (void *h = json_object_iter(data); h != NULL; h = json_object_iter_next(data, h)) {
        json_t *states = json_object_iter_value(h);
        /* A host without states may be an empty list or text. */
        if (!json_is_object(states) &&
            ((!json_is_array(states) && !json_is_string(states)) || value_truthy(states)))
            return false;
        for (void *s = json_object_iter(states); s != NULL; s = json_object_iter_next(states, s)) {
            /* Fills a line of the table from a state. */
            line_t *line = &lines[*ret_n];
            const char *sid = json_object_iter_key(s);
            json_t *state = json_object_iter_value(s);
            json_t *name = value_get(state, "name"), *duration = value_get(state, "duration");
            size_t n;
            name = name != NULL ? name : value_get(state, "__id__");
            if (!json_is_object(state) || (duration != NULL && !json_is_number(duration)) ||
                (name != NULL && !json_is_null(name) && !json_is_string(name)))
                return false;
            char **parts = hs_split(sid, &n);
            line->ms = duration != NULL ? json_number_value(duration) : -1;
            line->name = short_name(json_is_string(name) ? json_string_value(name) : "<>");
            line->function = xasprintf("%s.%s", parts[0], parts[n - 1]);
            strv_free(parts);

            ++*ret_n;
        }
    }
    return true;
}

bool
output_profile(json_t *data, const output_opts_t *opts, buf_t *out)
{
    size_t room = 0, n = 0;

    if (!json_is_object(data))
        return false;
    for (void *it = json_object_iter(data); it != NULL; it = json_object_iter_next(data, it))
        room += json_object_size(json_object_iter_value(it));
    AUTO_FREE line_t *lines = xcalloc(room + 1, sizeof(*lines));
    buf_auto_t text = BUF_INIT;
    bool ok = profile_collect(data, lines, &n);
    if (ok && n > 0) {
        /* Build the table's rows, headline first, by duration. */
        json_auto_t *rows = json_pack("[[s, s, s]]", "name", "mod.fun", DURATION);
        int width = (int) strlen(DURATION);

        for (size_t i = 0; i < n; i++) {
            int need = snprintf(NULL, 0, "%.4f", lines[i].ms);
            width = need > width ? need : width;
        }
        for (size_t i = 0; i < n; i++)
            lines[i].duration = xasprintf("%*.4f", width, lines[i].ms);
        qsort(lines, n, sizeof(*lines), by_duration);
        for (size_t i = 0; i < n; i++) {
            json_t *row = json_array();
            (void) json_array_append_new(row, json_string_nocheck(lines[i].name));
            (void) json_array_append_new(row, json_string_nocheck(lines[i].function));
            (void) json_array_append_new(row, json_string_nocheck(lines[i].duration));
            (void) json_array_append_new(rows, row);
        }

        ok = output_draw_table(rows, opts, 4, &text);
    }
    for (size_t i = 0; i < n; i++) {
        free(lines[i].name);
        free(lines[i].function);
        free(lines[i].duration);
    }
    buf_add(out, text.data, ok ? text.len : 0);
    return ok;
}
