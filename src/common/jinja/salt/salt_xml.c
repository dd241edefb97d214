/* salt_xml.c - Salt's `xml` filter: a dict as an indented document.
 *
 * A first pass builds elements: keys with a dict or list become children, simple values attributes, lists
 * repeat their tag. A second pass writes them as xml.dom.minidom's toprettyxml does with one space. Elements
 * count against the limit of memory. */
#include "common/jinja/salt/salt_filter.h"

typedef struct element {
    const char *tag;
    py_t *attributes; /* dict; NULL: none */
    char *text;
    struct element **children;
    size_t n;
} element_t;

/* Bytes of an element that count for the render; `text` may be NULL. */
static int64_t
element_size(const char *text)
{
    return (int64_t) (sizeof(element_t) + sizeof(element_t *) + (text != NULL ? strlen(text) : 0));
}

static void
element_free(element_t *e)
{
    if (e == NULL)
        return;
    for (size_t i = 0; i < e->n; i++)
        element_free(e->children[i]);
    py_count(-element_size(e->text));
    free(e->children);
    free(e->text);
    free(e);
}

static int salt_xml_build(element_t **root, element_t *parent, py_t *tag, py_t *value);

/* Elements of a list, each with the list's tag. */
static int
build_list(element_t **root, element_t *parent, py_t *tag, py_t *list)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < py_seq_len(list); i++)
        rc = salt_xml_build(root, parent, tag, py_seq_at(list, i));
    /* A list cannot be the document's root. */
    if (parent == NULL) {
        element_free(*root);
        *root = NULL;
    }
    return rc;
}

/* An element at the top replaces an earlier root, as Salt keeps the last one. */
static int
build_element(element_t **root, element_t *parent, py_t *tag, py_t *value)
{
    if (!py_is(tag, PY_STR))
        return py_raise_int(&py_TypeError, "cannot serialize %s (type %s)", py_type_name(tag),
                            py_type_name(tag));

    /* A child of `parent`, or an element without one. */
    element_t *e = xcalloc(1, sizeof(*e));
    e->tag = py_cstr(tag);
    if (parent != NULL) {
        parent->children = xrealloc(parent->children, (parent->n + 1) * sizeof(element_t *));
        parent->children[parent->n++] = e;
    }

    if (parent == NULL) {
        element_free(*root);
        *root = e;
    }

    if (py_is(value, PY_STR) || py_is(value, PY_INT) || py_is(value, PY_BOOL) || py_is(value, PY_FLOAT)) {
        AUTO(py) text = py_tostr(value);
        e->text = text != NULL ? xstrdup(py_cstr(text)) : NULL;
        py_count(element_size(e->text));
        return text != NULL ? 0 : -1;
    }

    py_count(element_size(NULL));
    e->attributes = py_is(value, PY_DICT) ? value : NULL;

    /* Dicts and lists in a value become elements below `e`. */
    if (!py_is(value, PY_DICT)) {
        bool texts = (py_is(value, PY_LIST) || py_is(value, PY_TUPLE)) && py_seq_len(value) > 0;
        return texts ? 0
                     : py_raise_int(&jinja_TemplateRuntimeError,
                                    "Value is not a dict or list. Cannot render as XML");
    }
    py_t *key, *inner;
    for (size_t i = 0; py_dict_next(value, &i, &key, &inner);)
        if ((py_is(inner, PY_DICT) || py_is(inner, PY_LIST)) && salt_xml_build(&e, e, key, inner) < 0)
            return -1;
    return 0;
}

static int
salt_xml_build(element_t **root, element_t *parent, py_t *tag, py_t *value)
{
    if (py_enter() < 0)
        return -1;
    int rc = py_tick() < 0           ? -1
             : py_is(value, PY_LIST) ? build_list(root, parent, tag, value)
                                     : build_element(root, parent, tag, value);
    py_leave();
    return rc;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void
put_escaped(buf_t *out, const char *s)
{
    for (; *s != '\0'; s++)
        if (*s == '<')
            buf_puts(out, "&lt;");
        else if (*s == '>')
            buf_puts(out, "&gt;");
        else if (*s == '&')
            buf_puts(out, "&amp;");
        else if (*s == '"')
            buf_puts(out, "&quot;");
        else
            buf_putc(out, *s);
}

/* Writes an element: with text on one line, without content as an empty tag, else with indented children. */
static int
put_element(buf_t *out, const element_t *e, size_t indent)
{
    if (py_tick() < 0 || py_room(out->len + indent) < 0)
        return -1;
    buf_fill(out, ' ', indent);
    buf_printf(out, "<%s", e->tag);

    py_t *dict = e->attributes;
    py_t *key, *value;
    for (size_t i = 0; dict != NULL && py_dict_next(dict, &i, &key, &value);) {
        if (py_is(value, PY_DICT) || py_is(value, PY_LIST))
            continue;
        AUTO(py) text = py_tostr(value);
        if (text == NULL)
            return -1;
        if (py_tick() < 0 || py_room(out->len + (size_t) element_size(py_cstr(text))) < 0)
            return -1;
        buf_printf(out, " %s=\"", py_cstr(key));
        put_escaped(out, py_cstr(text));
        buf_putc(out, '"');
    }

    if (e->text != NULL && e->text[0] != '\0') {
        buf_putc(out, '>');
        put_escaped(out, e->text);
        buf_printf(out, "</%s>\n", e->tag);
        return 0;
    }
    if (e->n == 0) {
        buf_puts(out, "/>\n");
        return 0;
    }
    buf_puts(out, ">\n");
    for (size_t i = 0; i < e->n; i++)
        if (put_element(out, e->children[i], indent + 1) < 0)
            return -1;
    buf_fill(out, ' ', indent);
    buf_printf(out, "</%s>\n", e->tag);
    return 0;
}

JFILTER(format_xml)
{
    if (!py_is(a[0], PY_DICT))
        return py_raise(&jinja_TemplateRuntimeError, "Value is not a dict or list. Cannot render as XML");
    element_t *root = NULL;
    py_t *key, *value;
    int rc = 0;
    for (size_t i = 0; rc == 0 && py_dict_next(a[0], &i, &key, &value);)
        rc = salt_xml_build(&root, NULL, key, value);
    buf_auto_t out = BUF_INIT;
    buf_puts(&out, "<?xml version=\"1.0\" ?>\n");
    if (rc == 0 && root == NULL)
        rc = py_raise_int(&py_AttributeError, "there is no element to write as XML");
    if (rc == 0)
        rc = put_element(&out, root, 0);
    element_free(root);
    if (rc < 0)
        return NULL;
    AUTO(py) text = py_str_buf(&out);
    return py_markup(text);
}

static const jfilter_t rows[] = {
    { JROW("xml", format_xml, JP("value"), 1, 1, 0), 0, "As an XML document." },
};

const jfilter_table_t jfilters_salt_xml = JTABLE(rows);
