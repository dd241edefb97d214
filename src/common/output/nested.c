/* nested.c - outputter `nested`, the default: keys, indented values, lists with dashes. Recursive, as deep as
 * the data; parsers bound that (LIMIT_JSON_DEPTH). */
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "common/output/values.h"
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

/* Appends a member of a dict. */
static void
nested_show_member(nest_t *n, const char *key, json_t *value, int indent, const char *prefix)
{
    nested_line_start(n, indent, n->container, prefix);
    pytext_add_safe(n->out, key, strlen(key));
    nested_line_end(n, ":");
    nested_show(n, value, indent + 4, "");
}

/* Appends a value that JSON lacks: bytes are text, or nothing where they are none; a set is nothing, as with
 * Salt. */
static void
nested_show_kind(nest_t *n, json_t *v, const char *kind, json_t *rest, int indent, const char *prefix)
{
    if (strcmp(kind, "dict") == 0) {
        json_auto_t *members = output_members(rest);
        json_t *member;
        size_t i;
        if (indent > 0)
            nested_line(n, indent, n->container, "----------");
        json_array_foreach (members, i, member)
            nested_show_member(n, value_str(member, "text", ""), value_get(member, "value"), indent, prefix);
    } else if (strcmp(kind, "tuple") == 0) {
        nested_show(n, rest, indent, prefix);
    } else if (strcmp(kind, "bytes") == 0) {
        json_auto_t *text = output_plain(v);
        if (json_is_string(text) &&
            memmem(json_string_value(text), json_string_length(text), "\xEF\xBF\xBD", 3) == NULL)
            nested_show_text(n, text, indent, prefix);
    } else if (strcmp(kind, "int") == 0 || strcmp(kind, "float") == 0) {
        nested_line_start(n, indent, COLOUR_LIGHT_YELLOW, prefix);
        (void) output_kind_str(n->out, v);
        nested_line_end(n, "");
    }
}

/* Appends any value: containers recurse, a text may have several lines. */
static void
nested_show(nest_t *n, json_t *v, int indent, const char *prefix)
{
    json_t *rest;
    const char *kind = output_kind(v, &rest);

    if (kind != NULL) {
        nested_show_kind(n, v, kind, rest, indent, prefix);
    } else if (json_is_object(v)) {
        /* Appends a dict sorted by key, with a rule above it unless it is the outermost one. */
        AUTO_FREE output_pair_t *pairs = output_sorted(v);
        if (indent > 0)
            nested_line(n, indent, n->container, "----------");
        for (size_t i = 0; i < json_object_size(v); i++)
            nested_show_member(n, pairs[i].key, pairs[i].value, indent, prefix);
    } else if (json_is_array(v)) {
        /* Appends the elements of a list. An element that is a container begins below a mark of its own. */
        size_t i;
        json_t *element;
        json_array_foreach (v, i, element) {
            const char *of = output_kind(element, NULL);
            bool is_dict = of != NULL ? strcmp(of, "dict") == 0 : json_is_object(element);
            if (is_dict || json_is_array(element) || (of != NULL && strcmp(of, "tuple") == 0)) {
                nested_line(n, indent, n->item, "|_");
                nested_show(n, element, indent + 2, is_dict ? "" : "- ");
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

/* A return code other than 0 colours the structure red, so that a failed function is seen at once. */
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
