/* banner.c - see banner.h: a block of comment with a title and a text, for slsutil.banner. Laid out by a
 * Jinja template. */
#include "plugins/lib/call/banner.h"

#include "common/jinja/jinja.h"

/* Salt's ArgumentValueError. */
static const py_exc_t ArgumentValueError = { "ArgumentValueError", NULL };

/* Jinja template that does textwrap's and str.center's work; in C the same would be far longer. */
static const char template[] =
    "{%- set ledge = commentchar.rstrip() -%}{%- set redge = commentchar.strip() -%}"
    "{%- set left = ledge ~ ' ' -%}{%- set right = ' ' ~ redge -%}"
    "{%- set inner = width - left|length - right|length -%}"
    "{%- set border = commentchar ~ borderchar[:1] * (width - ledge|length - redge|length) ~ redge -%}"
    "{%- set spacer = commentchar ~ ' ' * (width - commentchar|length * 2) ~ commentchar -%}"
    "{%- set nl = '\\n' -%}"
    "{%- macro block(value, centered) -%}"
    "{%- for line in (value|wordwrap(inner, wrapstring=nl)).split(nl) if line -%}"
    "{{ left ~ (line.center(inner) if centered else line.ljust(inner)) ~ right ~ nl }}"
    "{%- endfor -%}{%- endmacro -%}"
    "{{ blockstart ~ nl if blockstart is not none }}{{ border ~ nl ~ spacer ~ nl }}"
    "{{ block(title, true) ~ spacer ~ nl ~ block(text, false) ~ border }}"
    "{{ nl ~ blockend if blockend is not none }}{{ nl if newline }}";

static const char default_title[] = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT";
static const char default_text[] =
    "The contents of this file are managed by Salt. Any changes to this file may "
    "be overwritten automatically and without warning.";

/* textwrap's first step: expands tabs to eight columns and turns other white space into spaces. NEW, or NULL
 * raised. */
static py_t *
spaced(py_t *v, const char *dflt)
{
    AUTO(py) text = py_is(v, PY_NONE) ? py_strz(dflt) : py_tostr(v);
    buf_auto_t b = BUF_INIT;
    size_t len, column = 0;

    if (text == NULL)
        return NULL;
    const char *p = py_text(text, &len);
    for (size_t i = 0; i < len; i++) {
        size_t width = p[i] == '\t' ? 8 - column % 8 : 1;
        bool blank = p[i] != '\0' && strchr("\t\n\v\f\r", p[i]) != NULL;
        buf_fill(&b, blank ? ' ' : p[i], width);
        column += ((unsigned char) p[i] & 0xc0) != 0x80 ? width : 0;
        column = p[i] == '\n' || p[i] == '\r' ? 0 : column;
    }
    return py_str_buf(&b);
}

/* Raises when no room is left for text. 0 or -1. */
static int
check_width(py_t *args)
{
    py_t *comment = py_dict_gets(args, "commentchar");
    int64_t width;

    if (!py_is(comment, PY_STR))
        return py_raise_int(&py_AttributeError, "'%s' object has no attribute 'rstrip'",
                            py_type_name(comment));
    if (py_index(py_dict_gets(args, "width"), &width) < 0)
        return -1;
    /* Without the white space around it, and with a space on either side. */
    AUTO_FREE char *edge = xstrdup(py_cstr(comment));
    size_t lead = strspn(edge, " \t"), len = strlen(edge);
    while (len > 0 && strchr(" \t\n", edge[len - 1]) != NULL)
        len--;
    if (width - (int64_t) len - (int64_t) (len > lead ? len - lead : 0) - 2 <= 0)
        return py_raise_int(&ArgumentValueError, "Width is too small to render banner");
    return 0;
}

/* NEW, or NULL raised. */
py_t *
banner_text(py_t *args)
{
    const jinja_source_t source = { .text = template, .len = strlen(template) };
    const jinja_options_t options = { .syntax = { .keep_trailing_newline = true } };
    AUTO(py) title = spaced(py_dict_gets(args, "title"), default_title);
    AUTO(py) text = spaced(py_dict_gets(args, "text"), default_text);
    AUTO(py) context = py_todict(args);
    jinja_error_t e = JINJA_ERROR_INIT;
    buf_auto_t out = BUF_INIT;

    if (title == NULL || text == NULL || context == NULL || check_width(args) < 0)
        return NULL;
    py_dict_sets(context, "title", title);
    py_dict_sets(context, "text", text);
    jinja_t *engine = jinja_new(&options, NULL);
    int rc = jinja_render(engine, &source, context, NULL, &out, &e);
    if (rc < 0)
        py_raise(&py_ValueError, "%s", e.message);
    jinja_error_free(&e);
    jinja_destroy(&engine);
    return rc == 0 ? py_str_buf(&out) : NULL;
}
