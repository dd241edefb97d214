/* columns.c - see columns.h. */
#include "common/cli/columns.h"

#include "common/cli/term.h"
#include "salt/value.h"

enum { GAP = 2 };

/* The text of a cell; a row that is too short has empty ones. BORROWED. */
static const char *
cell_of(const json_t *row, size_t i)
{
    const char *text = json_string_value(json_array_get(row, i));

    return text != NULL ? text : "";
}

/* Takes what is too much from the widest columns that may shrink, by turns. Returns what is still too
 * much. */
static size_t
columns_shrink(const column_t *columns, size_t n, size_t *widths, size_t over)
{
    while (over > 0) {
        size_t widest = n, next = 0;
        for (size_t i = 0; i < n; i++) {
            if (columns[i].least == 0 || widths[i] <= columns[i].least)
                continue;
            if (widest == n || widths[i] > widths[widest]) {
                next = widest < n ? widths[widest] : next;
                widest = i;
            } else if (widths[i] > next) {
                next = widths[i];
            }
        }
        if (widest == n)
            return over;
        size_t most = widths[widest] - columns[widest].least,
               step = widths[widest] > next ? widths[widest] - next : 1;
        step = step < over ? step : over;
        step = step < most ? step : most;
        widths[widest] -= step;
        over -= step;
    }
    return 0;
}

/* Makes the columns fit; those left out get the width 0. */
static void
fit(const column_t *columns, size_t n, size_t *widths, size_t room)
{
    for (;;) {
        size_t tried[COLUMNS_MAX], sum = 0, shown = 0, out = 0;
        for (size_t i = 0; i < n; i++) {
            tried[i] = widths[i];
            sum += widths[i];
            shown += widths[i] > 0;
            out = widths[i] > 0 && (widths[out] == 0 || columns[i].leave > columns[out].leave) ? i : out;
        }
        sum += shown > 0 ? GAP * (shown - 1) : 0;
        if (sum <= room || columns_shrink(columns, n, tried, sum - room) == 0) {
            memcpy(widths, tried, n * sizeof(*widths));
            return;
        }
        if (columns[out].leave == 0)
            break;
        widths[out] = 0;
    }
    /* Narrower than what has to stay: lines are cut at the edge. */
    for (size_t i = 0, used = 0; i < n; i++) {
        size_t left = room > used ? room - used : 0;
        widths[i] = widths[i] < left ? widths[i] : left;
        used += widths[i] > 0 ? widths[i] + GAP : 0;
    }
}

/* Appends a line. `row` NULL: of the titles. */
static void
put_row(buf_t *out, const column_t *columns, size_t n, const size_t *widths, const json_t *row, bool utf8)
{
    size_t last = 0;

    for (size_t i = 0; i < n; i++)
        last = widths[i] > 0 ? i : last;
    for (size_t i = 0; i <= last; i++) {
        const char *text = row != NULL ? cell_of(row, i) : columns[i].title;
        size_t width = widths[i], has = term_width(text);
        if (width == 0)
            continue;
        /* A cell is cut or filled up to its width; the last one of a line is not filled up. */
        if (has > width) {
            has = term_put(out, text, width - 1) + 1;
            buf_puts(out, utf8 ? "\u2026" : "~");
        } else {
            (void) term_put(out, text, width);
        }
        if (i != last)
            buf_fill(out, ' ', width - (has < width ? has : width) + GAP);
    }
}

void
columns_draw(const column_t *columns, size_t n, const json_t *rows, const columns_look_t *look, buf_t *out)
{
    size_t widths[COLUMNS_MAX];
    json_t *row;
    size_t r;

    salt_assert(n > 0 && n <= COLUMNS_MAX);
    /* The columns' natural widths. */
    for (size_t i = 0; i < n; i++)
        widths[i] = term_width(columns[i].title);
    json_array_foreach ((json_t *) rows, r, row) {
        for (size_t i = 0; i < n; i++) {
            size_t width = term_width(cell_of(row, i));
            widths[i] = width > widths[i] ? width : widths[i];
        }
    }
    fit(columns, n, widths, look->width);
    buf_puts(out, colour_code(COLOUR_CYAN, look->paint));
    put_row(out, columns, n, widths, NULL, look->utf8);
    buf_printf(out, "%s\n", colour_code(COLOUR_ENDC, look->paint));
    json_array_foreach ((json_t *) rows, r, row) {
        json_t *colour = json_array_get(row, json_array_size(row) - 1);
        bool coloured = json_is_integer(colour);
        buf_puts(out, coloured ? colour_code((colour_t) json_integer_value(colour), look->paint) : "");
        put_row(out, columns, n, widths, row, look->utf8);
        buf_printf(out, "%s\n", coloured ? colour_code(COLOUR_ENDC, look->paint) : colour_bound(look->paint));
    }
}
