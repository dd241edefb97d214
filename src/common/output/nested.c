/* nested.c - outputter `nested`, the default: keys, indented values, lists with dashes. Recursive, as deep as
 * the data; parsers bound that (LIMIT_JSON_DEPTH). */
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "salt/value.h"

typedef struct nest {
    const output_opts_t *opts;
    buf_t *out;
    size_t lines;
    colour_t container; /* colour of dicts */
    colour_t item;
} nest_t;

/* Start a line: newline, indentation, colour, prefix. */
static void
nested_line_start(nest_t *n, int indent, colour_t c, const char *prefix)
{
    if (n->lines++ > 0)
        buf_putc(n->out, '\n');
    buf_fill(n->out, ' ', (size_t) indent);
    buf_puts(n->out, colour_code(c, n->opts->colour));
    buf_puts(n->out, prefix);
}

static void
nested_line_end(nest_t *n, const char *suffix)
{
    buf_puts(n->out, colour_code(COLOUR_ENDC, n->opts->colour));
    buf_puts(n->out, suffix);
}

static void
nested_line(nest_t *n, int indent, colour_t c, const char *text)
{
    nested_line_start(n, indent, c, "");
    buf_puts(n->out, text);
    nested_line_end(n, "");
}

/* Appends a text line by line. The prefix of a list item stands before the first line only. */
static void
nested_show_text(nest_t *n, const json_t *v, int indent, const char *prefix)
{
    const char *pos = json_string_value(v), *end = pos + json_string_length(v);
    pyline_t text;

    while (pytext_line(&pos, end, &text)) {
        nested_line_start(n, indent, COLOUR_GREEN, prefix);
        if (n->opts->strip_colors)
            pytext_add_safe(n->out, text.text, text.len);
        else
            buf_add(n->out, text.text, text.len);
        nested_line_end(n, "");
        if (*prefix != '\0')
            prefix = "  ";
    }
}

static void nested_show(nest_t *n, json_t *v, int indent, const char *prefix);

/* Appends any value: containers recurse, a text may have several lines. */
static void
nested_show(nest_t *n, json_t *v, int indent, const char *prefix)
{
    if (json_is_object(v)) {
        /* Appends a dict sorted by key, with a rule above it unless it is the outermost one. */
        AUTO_FREE output_pair_t *pairs = output_sorted(v);
        if (indent > 0)
            nested_line(n, indent, n->container, "----------");
        for (size_t i = 0; i < json_object_size(v); i++) {
            nested_line_start(n, indent, n->container, prefix);
            pytext_add_safe(n->out, pairs[i].key, strlen(pairs[i].key));
            nested_line_end(n, ":");
            nested_show(n, pairs[i].value, indent + 4, "");
        }
    } else if (json_is_array(v)) {
        /* Appends the elements of a list. An element that is a container begins below a mark of its own. */
        size_t i;
        json_t *element;
        json_array_foreach (v, i, element) {
            if (json_is_object(element) || json_is_array(element)) {
                nested_line(n, indent, n->item, "|_");
                nested_show(n, element, indent + 2, json_is_object(element) ? "" : "- ");
            } else {
                nested_show(n, element, indent, "- ");
            }
        }
    } else if (json_is_string(v)) {
        nested_show_text(n, v, indent, prefix);
    } else {
        nested_line_start(n, indent, COLOUR_LIGHT_YELLOW, prefix);
        output_str(n->out, v);
        nested_line_end(n, "");
    }
}

void
output_nested_at(json_t *data, const output_opts_t *opts, int indent, int retcode, buf_t *out)
{
    nest_t n = { opts, out, 0, COLOUR_CYAN, COLOUR_GREEN };

    if (retcode != 0)
        n.container = n.item = COLOUR_RED;
    nested_show(&n, data, indent, "");
}

bool
output_nested(json_t *data, const output_opts_t *opts, buf_t *out)
{
    output_nested_at(data, opts, 0, opts->retcode, out);
    return true;
}
