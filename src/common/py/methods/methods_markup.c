/* methods_markup.c - methods that markupsafe's Markup has in addition to str's. */
#include "common/py/methods/methods.h"
#include "common/py/py_html.h"

METHOD_OF(m_markup_html)
{
    return py_ref(self);
}

METHOD_OF(m_markup_escape)
{
    return py_escape(slots[0]);
}

METHOD_OF(m_markup_unescape)
{
    buf_auto_t out = BUF_INIT;

    py_html_unescape(&out, PY_TEXT(self), PY_LEN(self));
    return py_str_buf(&out);
}

/* Removes each part from `open` to the next `close`, both included. */
static void
methods_markup_cut(buf_t *text, const char *open, const char *close)
{
    buf_auto_t out = BUF_INIT;
    const char *p = buf_str(text), *end = p + text->len, *from, *to;

    while ((from = memmem(p, (size_t) (end - p), open, strlen(open))) != NULL) {
        const char *after = from + strlen(open);
        to = memmem(after, (size_t) (end - after), close, strlen(close));
        if (to == NULL)
            break;
        buf_add(&out, p, (size_t) (from - p));
        p = to + strlen(close);
    }
    buf_add(&out, p, (size_t) (end - p));
    buf_free(text);
    *text = out;
    out = (buf_t) BUF_INIT;
}

/* As markupsafe: comments first, then tags, then runs of spaces become one and entities are resolved. */
METHOD_OF(m_markup_striptags)
{
    buf_auto_t text = BUF_INIT, out = BUF_INIT;
    py_t *const no_args[2] = { NULL, NULL };

    buf_add(&text, PY_TEXT(self), PY_LEN(self));
    methods_markup_cut(&text, "<!--", "-->");
    methods_markup_cut(&text, "<", ">");
    AUTO(py) plain = py_str_buf(&text);
    AUTO(py) words = m_str_split(plain, no_args, args);
    AUTO(py) space = py_str(" ", 1);
    AUTO(py) joined = words != NULL ? m_str_join(space, &words, args) : NULL;
    if (joined == NULL)
        return NULL;
    py_html_unescape(&out, PY_TEXT(joined), PY_LEN(joined));
    return py_str_buf(&out);
}
