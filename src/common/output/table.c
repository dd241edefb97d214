/* table.c - outputter `table`: lists of rows as tables, at any depth of the data. Column widths are measured
 * over all rows first; widths count code points. */
#include <ctype.h>

#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/output/outputter.h"
#include "salt/value.h"

enum { CELL_WIDTH = 50, TABLE_INDENT = 4 };
#define DELIMITER " | "
#define PREFIX    "| "
#define SUFFIX    " |"

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct row {
    char **cells; /* owned texts, wrapped with newlines */
    size_t n;
    size_t lines; /* of the shortest cell: Salt shows no more of a row */
} row_t;

typedef struct grid {
    row_t *rows;
    size_t n;
    size_t *widths;
    size_t columns;
} grid_t;

/* In code points: a wide character counts as one column, as in Salt. */
static size_t
width_of(const char *s, size_t len)
{
    return utf8_count(s, len);
}

/* The next line of a cell; moves *pos behind it. */
static const char *
cell_line(const char **pos, size_t *ret_len)
{
    const char *line = *pos;

    *ret_len = strcspn(line, "\n");
    *pos = line + *ret_len + (line[*ret_len] == '\n' ? 1 : 0);
    return line;
}

/* Fills a row from a list of texts. The row is as high as its lowest cell: Salt cuts the others by Python's
 * zip(). */
static bool
fill_row(row_t *row, json_t *cells)
{
    size_t i;
    json_t *cell;

    row->n = json_array_size(cells);
    row->cells = xcalloc(row->n + 1, sizeof(char *));
    json_array_foreach (cells, i, cell) {
        if (!json_is_string(cell))
            return false;

        /* Wrap a cell: move words to the next line when the line would reach CELL_WIDTH. */
        const char *text = json_string_value(cell);
        buf_auto_t out = BUF_INIT;
        size_t line = 0;
        for (const char *word = text, *space; word != NULL; word = space != NULL ? space + 1 : NULL) {
            space = strchr(word, ' ');
            size_t len = space != NULL ? (size_t) (space - word) : strlen(word);
            const char *nl = memchr(word, '\n', len);
            size_t head = width_of(word, nl != NULL ? (size_t) (nl - word) : len);
            if (word != text) {
                bool broken = line + head >= CELL_WIDTH;
                buf_putc(&out, broken ? '\n' : ' ');
                line = broken ? 0 : line + 1;
            }
            buf_add(&out, word, len);
            line += head;
            for (; nl != NULL; nl = memchr(nl + 1, '\n', (size_t) (word + len - nl - 1)))
                line = width_of(nl + 1, (size_t) (word + len - nl - 1));
        }
        row->cells[i] = buf_steal(&out);

        size_t lines = 1;
        for (const char *nl = row->cells[i]; (nl = strchr(nl, '\n')) != NULL; nl++)
            lines++;
        row->lines = i == 0 || lines < row->lines ? lines : row->lines;
    }
    return row->n > 0;
}

/* Count the columns that every row has, and measure them. */
static void
table_measure(grid_t *g)
{
    g->columns = g->n > 0 ? g->rows[0].n : 0;
    for (size_t r = 1; r < g->n; r++)
        g->columns = g->rows[r].n < g->columns ? g->rows[r].n : g->columns;
    g->widths = xcalloc(g->columns + 1, sizeof(size_t));
    for (size_t r = 0; r < g->n; r++) {
        for (size_t c = 0; c < g->columns; c++) {
            const char *pos = g->rows[r].cells[c];
            for (size_t line = 0; line < g->rows[r].lines; line++) {
                size_t len;
                const char *text = cell_line(&pos, &len);
                size_t width = width_of(text, len);
                g->widths[c] = width > g->widths[c] ? width : g->widths[c];
            }
        }
    }
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Begins a line: no newline before the first one of the output. */
static void
table_start_line(buf_t *out, int indent, colour_t c, const output_opts_t *opts)
{
    if (out->len > 0)
        buf_putc(out, '\n');
    buf_fill(out, ' ', (size_t) indent);
    buf_puts(out, colour_code(c, opts->colour));
}

/* Draws a row. Each cell keeps its position, as all cells advance a line at a time. */
static void
draw_row(const grid_t *g, const row_t *row, const output_opts_t *opts, int indent, buf_t *out)
{
    AUTO_FREE const char **pos = xcalloc(g->columns + 1, sizeof(char *));

    for (size_t c = 0; c < g->columns; c++)
        pos[c] = row->cells[c];
    for (size_t line = 0; line < row->lines; line++) {
        table_start_line(out, indent, COLOUR_WHITE, opts);
        buf_puts(out, PREFIX);
        for (size_t c = 0; c < g->columns; c++) {
            size_t len;
            const char *text = cell_line(&pos[c], &len);
            buf_puts(out, c > 0 ? DELIMITER : "");

            /* Centre as str.center(): in odd widths the odd blank goes left. */
            size_t width = g->widths[c];
            size_t used = width_of(text, len), pad = width > used ? width - used : 0;
            size_t left = pad / 2 + (pad & width & 1);

            buf_fill(out, ' ', left);
            buf_add(out, text, len);
            buf_fill(out, ' ', pad - left);

            buf_puts(out, colour_bound(opts->colour));
        }
        buf_puts(out, SUFFIX);
        buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
    }
}

/* Appends a horizontal rule as wide as the table. */
static void
draw_rule(const grid_t *g, const output_opts_t *opts, int indent, buf_t *out)
{
    size_t width = strlen(PREFIX) + strlen(SUFFIX) + strlen(DELIMITER) * (g->columns - 1);

    for (size_t c = 0; c < g->columns; c++)
        width += g->widths[c];
    table_start_line(out, indent, COLOUR_LIGHT_GRAY, opts);
    buf_fill(out, '-', width);
    buf_puts(out, colour_code(COLOUR_ENDC, opts->colour));
}

bool
output_draw_table(json_t *rows, const output_opts_t *opts, int indent, buf_t *out)
{
    grid_t g = { xcalloc(json_array_size(rows) + 1, sizeof(row_t)), 0, NULL, 0 };
    bool ok = true;

    while (ok && g.n < json_array_size(rows)) {
        ok = fill_row(&g.rows[g.n], json_array_get(rows, g.n));
        g.n++;
    }
    if (ok && g.n > 0) {
        table_measure(&g);
        draw_rule(&g, opts, indent, out);
        for (size_t i = 0; i < g.n; i++) {
            draw_row(&g, &g.rows[i], opts, indent, out);
            draw_rule(&g, opts, indent, out);
        }
    }

    for (size_t i = 0; i < g.n; i++)
        strv_free(g.rows[i].cells);
    free(g.rows);
    free(g.widths);

    return ok;
}

/* ---- data to rows ---------------------------------------------------------------------------- */

/* "admin_state" becomes "Admin State". NEW. */
static json_t *
table_title(const char *key)
{
    AUTO_FREE char *text = str_replace(key, "_", " ");
    bool inside = false;

    for (char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char) *p;
        *p = (char) (inside ? tolower(c) : toupper(c));
        inside = isalpha(c) || c >= 0x80;
    }
    return json_string_nocheck(text);
}

/* Row of an object's values in the order of their keys, or of the keys as headline. NEW. */
static json_t *
row_of_dict(json_t *dict, bool headline)
{
    AUTO_FREE output_pair_t *pairs = output_sorted(dict);
    json_t *row = json_array();

    for (size_t i = 0; i < json_object_size(dict); i++) {
        AUTO_FREE char *text = value_pystr(pairs[i].value);
        (void) json_array_append_new(row, headline ? table_title(pairs[i].key) : json_string_nocheck(text));
    }
    return row;
}

/* Shows tables under the keys that lead to them. */
static bool
table_show(json_t *v, const output_opts_t *opts, int indent, buf_t *out)
{
    if (json_is_array(v)) {
        /* Shows a list of rows: dicts (with a row of their keys on top), lists or texts. */
        json_t *first = json_array_get(v, 0), *element;
        json_auto_t *cells = json_array();
        size_t i;
        if (first == NULL)
            return true;
        if (json_is_object(first))
            (void) json_array_append_new(cells, row_of_dict(first, true));
        json_array_foreach (v, i, element) {
            if (json_typeof(first) != json_typeof(element) &&
                !(json_is_boolean(first) && json_is_boolean(element)))
                return true; /* rows of several kinds make no table */
            if (json_is_object(element))
                (void) json_array_append_new(cells, row_of_dict(element, false));
            else if (json_is_string(element))
                (void) json_array_append_new(cells, json_pack("[O]", element));
            else
                (void) json_array_append(cells, element);
        }
        return output_draw_table(cells, opts, indent + TABLE_INDENT, out);
    }
    AUTO_FREE output_pair_t *pairs = output_sorted(v);
    for (size_t i = 0; i < json_object_size(v); i++) {
        const char *end = colour_code(COLOUR_ENDC, opts->colour);
        table_start_line(out, indent, COLOUR_DARK_GRAY, opts);
        buf_printf(out, "%s%s:", pairs[i].key, end);
        table_start_line(out, indent, COLOUR_DARK_GRAY, opts);
        buf_printf(out, "----------%s", end);
        bool rows = json_is_array(pairs[i].value);
        if (!table_show(pairs[i].value, opts, rows ? indent : indent + 4, out))
            return false;
    }
    return true;
}

bool
output_table(json_t *data, const output_opts_t *opts, buf_t *out)
{
    buf_auto_t text = BUF_INIT;
    bool ok = table_show(data, opts, 0, &text);

    buf_add(out, text.data, ok ? text.len : 0);
    return ok;
}
