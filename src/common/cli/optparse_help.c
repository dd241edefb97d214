/* optparse_help.c - --help, laid out as Python's optparse does. */
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/cli/optrow.h"
#include "common/output/pytext.h"

enum { INDENT = 2, MAX_HELP_POSITION = 24, MIN_TEXT_WIDTH = 11 };

typedef struct helper {
    const opt_spec_t *spec;
    buf_t *out;
    int width;
    int position; /* column of the help texts */
} helper_t;

/* Python's max(v, min). */
static int
at_least(int v, int min)
{
    return v > min ? v : min;
}

/* NEW text with the program's name filled in. */
static char *
optparse_help_expand(const helper_t *h, const char *text)
{
    return str_replace(text, "%prog", h->spec->prog);
}

/* The word for an option's value: the row's own, or the key in capitals. NEW. */
char *
optrow_metavar(const opt_row_t *row)
{
    if (row->metavar != NULL)
        return xstrdup(row->metavar);
    char *key = optrow_key(row);
    for (char *p = key; *p != '\0'; p++)
        *p = (char) (*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
    return key;
}

/* Appends "-t TIMEOUT, --timeout=TIMEOUT": short names first. */
static void
option_names(const opt_row_t *row, buf_t *out)
{
    AUTO_FREE char *value = optrow_metavar(row);
    const char *name;
    size_t len, n = 0;

    for (int pass = 0; pass < 2; pass++) {
        bool want_long = pass == 1;
        for (const char *pos = row->names; (name = optrow_next_name(&pos, &len)) != NULL;) {
            if (optrow_is_long(name) != want_long)
                continue;
            buf_printf(out, "%s%.*s", n++ > 0 ? ", " : "", (int) len, name);
            if (optrow_takes_value(row))
                buf_printf(out, "%c%s", want_long ? '=' : ' ', value);
        }
    }
}

/* Appends one option: its names, and its help in the column of the texts. */
static void
show_option(helper_t *h, const opt_row_t *row, int indent)
{
    buf_auto_t names = BUF_INIT;
    int room = h->position - indent - INDENT;

    option_names(row, &names);
    buf_fill(h->out, ' ', (size_t) indent);
    if ((int) names.len > room) {
        buf_printf(h->out, "%s\n", names.data);
        buf_fill(h->out, ' ', (size_t) h->position);
    } else {
        buf_printf(h->out, "%-*s  ", room, names.data);
    }
    AUTO_FREE char *text = optparse_help_expand(h, row->help);
    pytext_wrap(h->out, text, at_least(h->width - h->position, MIN_TEXT_WIDTH), h->position);
    buf_putc(h->out, '\n');
}

/* Appends a paragraph at an indentation. */
static void
optparse_help_show_text(helper_t *h, const char *text, int indent)
{
    AUTO_FREE char *expanded = optparse_help_expand(h, text);

    /* The indentation is subtracted twice, because Python does so and the line breaks must agree. */
    buf_fill(h->out, ' ', (size_t) indent);
    pytext_wrap(h->out, expanded, at_least(h->width - indent, MIN_TEXT_WIDTH) - indent, indent);
    buf_putc(h->out, '\n');
}

/* Appends a group and its options. Returns the row behind them. */
static const opt_row_t *
show_group(helper_t *h, const opt_row_t *row)
{
    buf_printf(h->out, "\n%*s%s:\n", INDENT, "", row->names);
    if (row->help != NULL) {
        optparse_help_show_text(h, row->help, 2 * INDENT);
        buf_putc(h->out, '\n');
    }
    for (row++; row->names != NULL && row->kind != OPT_GROUP; row++) {
        if (row->help != NULL)
            show_option(h, row, 2 * INDENT);
    }
    return row;
}

void
optparse_help(const opt_spec_t *spec, int width, buf_t *out)
{
    helper_t h = { spec, out, width, 0 };
    AUTO_FREE char *usage = optparse_help_expand(&h, spec->usage);

    /* Finds the column of the help texts: behind the longest name, but at most MAX_HELP_POSITION. Longer
     * names have their text on the next line. */
    int longest = 0, limit = at_least(h.width - 20, INDENT * 2);
    limit = limit < MAX_HELP_POSITION ? limit : MAX_HELP_POSITION;
    for (size_t t = 0; h.spec->tables[t] != NULL; t++) {
        int indent = INDENT;
        for (const opt_row_t *row = h.spec->tables[t]; row->names != NULL; row++) {
            if (row->kind == OPT_GROUP) {
                indent = 2 * INDENT;
                continue;
            }
            buf_auto_t names = BUF_INIT;
            option_names(row, &names);
            if (row->help != NULL)
                longest = at_least(indent + (int) names.len, longest);
        }
    }
    h.position = longest + INDENT < limit ? longest + INDENT : limit;

    buf_printf(out, "Usage: %s\n\n", usage);
    if (spec->description != NULL) {
        optparse_help_show_text(&h, spec->description, 0);
        buf_putc(out, '\n');
    }
    buf_puts(out, "Options:\n");
    for (size_t t = 0; spec->tables[t] != NULL; t++) {
        for (const opt_row_t *row = spec->tables[t]; row->names != NULL && row->kind != OPT_GROUP; row++) {
            if (row->help != NULL)
                show_option(&h, row, INDENT);
        }
    }
    for (size_t t = 0; spec->tables[t] != NULL; t++) {
        for (const opt_row_t *row = spec->tables[t]; row->names != NULL;)
            row = row->kind == OPT_GROUP ? show_group(&h, row) : row + 1;
    }
    if (spec->examples != NULL)
        buf_printf(out, "\nExamples:\n%s", spec->examples);
}
