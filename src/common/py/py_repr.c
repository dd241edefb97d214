/* py_repr.c - repr() and str() of all types, and Markup's escaping. A container that is being printed is
 * flagged, so cycles print as Python's "[...]". Output counts against the limits. */
#include <math.h>

#include "common/base/realtext.h"
#include "common/base/utf8.h"
#include "common/py/py_methods.h"
#include "common/py/py_obj.h"

/* ---- text ------------------------------------------------------------------------------------- */

static bool
plain_in_repr(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '\'' && c != '\\';
}

/* Escapes what Python escapes: quotes, controls, and what is not printable. */
static void
py_repr_char(buf_t *out, const char *bytes, size_t n, uint32_t cp, char quote)
{
    static const char short_escapes[] = { ['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r' };

    if (cp == (unsigned char) quote || cp == '\\') {
        buf_putc(out, '\\');
        buf_putc(out, (char) cp);
    } else if (cp < sizeof(short_escapes) && short_escapes[cp] != 0) {
        buf_putc(out, '\\');
        buf_putc(out, short_escapes[cp]);
    } else if (utf8_printable(cp)) {
        buf_add(out, bytes, n);
    } else if (cp <= 0xff) {
        buf_printf(out, "\\x%02x", cp);
    } else {
        buf_printf(out, cp <= 0xffff ? "\\u%04x" : "\\U%08x", cp);
    }
}

/* Single quotes, unless the text has such quotes and no double ones. */
static void
repr_str(buf_t *out, const py_t *v)
{
    const char *s = PY_TEXT(v), *end = s + PY_LEN(v);
    bool both = memchr(s, '\'', PY_LEN(v)) != NULL && memchr(s, '"', PY_LEN(v)) == NULL;
    char quote = both ? '"' : '\'';

    if (py_is_markup(v))
        buf_puts(out, "Markup(");
    buf_putc(out, quote);
    size_t at = out->len;
    while (s < end) {
        const char *plain = s;
        while (s < end && plain_in_repr((unsigned char) *s))
            s++;
        buf_add(out, plain, (size_t) (s - plain));
        if (s == end)
            break;
        uint32_t cp;
        size_t n = py_decode(s, &cp);
        py_repr_char(out, s, n, cp, quote);
        s += n;
    }
    py_put_like(out, at, v);
    buf_putc(out, quote);
    if (py_is_markup(v))
        buf_putc(out, ')');
}

/* b'...', with Python's choice of quotes. */
static void
py_repr_bytes(buf_t *out, const py_t *v)
{
    const char *s = PY_TEXT(v);
    char quote = memchr(s, '\'', PY_LEN(v)) != NULL && memchr(s, '"', PY_LEN(v)) == NULL ? '"' : '\'';

    buf_putc(out, 'b');
    buf_putc(out, quote);
    size_t at = out->len;
    for (size_t i = 0; i < PY_LEN(v); i++) {
        unsigned char c = (unsigned char) s[i];
        if (c < 0x80)
            py_repr_char(out, s + i, 1, c, quote);
        else
            buf_printf(out, "\\x%02x", c);
    }
    py_put_like(out, at, v);
    buf_putc(out, quote);
}

/* ---- containers ------------------------------------------------------------------------------- */

/* A tuple of one needs a comma. */
static int
repr_seq(buf_t *out, const py_t *v)
{
    bool list = py_is(v, PY_LIST);

    buf_putc(out, list ? '[' : '(');

    /* Writes the items between the brackets. */
    for (size_t i = 0; i < py_seq_len(v); i++) {
        if (i > 0)
            buf_puts(out, ", ");
        if (py_tick_out(out) < 0 || py_repr_to(out, py_seq_at(v, i)) < 0)
            return -1;
    }

    buf_puts(out, list ? "]" : py_seq_len(v) == 1 ? ",)" : ")");
    return 0;
}

/* Prints a dict's keys, values or items; `pair` has the text before, between and after a key and its value.
 */
static int
put_entries(buf_t *out, const py_t *dict, const char *const pair[3], pyview_kind_t kind)
{
    size_t i = 0;
    py_t *key, *value;

    for (bool first = true; py_dict_next(dict, &i, &key, &value); first = false) {
        if (py_tick_out(out) < 0)
            return -1;
        if (!first)
            buf_puts(out, ", ");
        buf_puts(out, pair[0]);
        if (kind != PY_VALUES && py_repr_to(out, key) < 0)
            return -1;
        buf_puts(out, pair[1]);
        if (kind != PY_KEYS && py_repr_to(out, value) < 0)
            return -1;
        buf_puts(out, pair[2]);
    }
    return 0;
}

static const char *const nothing[] = { "", "", "" }, *const colon[] = { "", ": ", "" },
                         *const tuple[] = { "(", ", ", ")" };

/* OrderedDict([(key, value)]) or {key: value}. */
static int
repr_dict(buf_t *out, const py_t *v)
{
    bool ordered = py_is_odict(v);

    if (ordered && py_dict_len(v) == 0) {
        buf_puts(out, "OrderedDict()");
        return 0;
    }
    buf_puts(out, ordered ? "OrderedDict([" : "{");
    if (put_entries(out, v, ordered ? tuple : colon, PY_ITEMS) < 0)
        return -1;
    buf_puts(out, ordered ? "])" : "}");
    return 0;
}

static int
repr_set(buf_t *out, const py_t *v)
{
    bool frozen = (v->flags & PY_F_FROZEN) != 0;

    if (py_dict_len(v) == 0) {
        buf_printf(out, "%s()", py_type_name(v));
        return 0;
    }
    buf_puts(out, frozen ? "frozenset({" : "{");
    if (put_entries(out, v, nothing, PY_KEYS) < 0)
        return -1;
    buf_puts(out, frozen ? "})" : "}");
    return 0;
}

static int
repr_view(buf_t *out, const pyview_t *v)
{
    bool items = v->kind == PY_ITEMS;

    buf_printf(out, "%s([", py_type_name(&v->held.h));
    if (put_entries(out, v->dict, items ? tuple : nothing, v->kind) < 0)
        return -1;
    buf_puts(out, "])");
    return 0;
}

static int
repr_slice(buf_t *out, const pyslice_t *s)
{
    py_t *const parts[] = { s->start, s->stop, s->step };

    buf_puts(out, "slice(");
    for (size_t i = 0; i < NELEMS(parts); i++) {
        if (py_repr_to(out, parts[i] != NULL ? parts[i] : PY_None) < 0)
            return -1;
        buf_puts(out, i < 2 ? ", " : ")");
    }
    return 0;
}

static int
repr_container(buf_t *out, py_t *v)
{
    switch (py_type(v)) {
    case PY_DICT:
        return repr_dict(out, v);
    case PY_SET:
        return repr_set(out, v);
    case PY_VIEW:
        return repr_view(out, (pyview_t *) v);
    case PY_SLICE:
        return repr_slice(out, (pyslice_t *) v);
    case PY_NAMESPACE:
        buf_puts(out, "<Namespace ");
        if (py_repr_to(out, py_namespace_dict(v)) < 0)
            return -1;
        buf_putc(out, '>');
        return 0;
    default:
        return repr_seq(out, v);
    }
}

/* Python's text for a container within itself. */
static const char *
ellipsis(const py_t *v)
{
    switch (py_type(v)) {
    case PY_LIST:
        return "[...]";
    case PY_TUPLE:
        return "(...)";
    case PY_DICT:
        return py_is_odict(v) ? "..." : "{...}";
    case PY_SET:
        return "set(...)";
    default:
        return "...";
    }
}

/* Marks the container as busy, so that it is recognized within itself. */
static int
guarded(buf_t *out, py_t *v)
{
    /* For a namespace, its dict stops the recursion. */
    if ((v->flags & PY_F_BUSY) != 0 && !py_is(v, PY_NAMESPACE)) {
        buf_puts(out, ellipsis(v));
        return 0;
    }
    if (py_enter() < 0)
        return -1;
    if (py_room(out->len) < 0) {
        py_leave();
        return -1;
    }
    v->flags |= PY_F_BUSY;
    int rc = repr_container(out, v);
    v->flags &= (uint8_t) ~PY_F_BUSY;
    py_leave();
    return rc;
}

/* ---- everything ------------------------------------------------------------------------------- */

/* As CPython prints them, with the value's address. */
static void
repr_func(buf_t *out, const pyfunc_t *f)
{
    if ((f->held.h.flags & PY_F_BOUND) != 0)
        buf_printf(out, "<built-in method %s of %s object at %p>", f->method->name, py_type_name(f->self),
                   py_small(f->self) ? (const void *) f : (const void *) f->self);
    else if (f->cls->is_class)
        buf_printf(out, "<class '%s'>", f->cls->name);
    else
        buf_printf(out, "<function %s at %p>", f->cls->name, (const void *) f);
}

static int
repr_host(buf_t *out, py_t *v)
{
    const py_class_t *cls = py_host_class(v);

    if (cls->repr != NULL)
        return cls->repr(v, out);
    buf_printf(out, "<%s%s%s object at %p>", cls->module != NULL ? cls->module : "",
               cls->module != NULL ? "." : "", cls->name, (const void *) v);
    return 0;
}

int
py_repr_to(buf_t *out, py_t *v)
{
    const pyrange_t *range = (const pyrange_t *) v;
    const char *function;

    switch (py_type(v)) {
    case PY_NONE:
        buf_puts(out, "None");
        return 0;
    case PY_BOOL:
        buf_puts(out, v->aux != 0 ? "True" : "False");
        return 0;
    case PY_INT:
        return py_int_text(out, v, 10);
    case PY_FLOAT:
        realtext_add(out, py_float_value(v));
        return 0;
    case PY_STR:
        repr_str(out, v);
        return 0;
    case PY_BYTES:
        py_repr_bytes(out, v);
        return 0;
    case PY_RANGE:
        buf_printf(out, range->step == 1 ? "range(%lld, %lld)" : "range(%lld, %lld, %lld)",
                   (long long) range->start, (long long) range->stop, (long long) range->step);
        return 0;
    case PY_GEN:
        function = ((const pygen_t *) v)->cls->function;
        buf_printf(out, "<%s object %s%sat %p>", py_type_name(v), function != NULL ? function : "",
                   function != NULL ? " " : "", (const void *) v);
        return 0;
    case PY_FUNC:
        repr_func(out, (pyfunc_t *) v);
        return 0;
    case PY_UNDEFINED:
        buf_puts(out, "Undefined");
        return 0;
    case PY_HOST:
        return repr_host(out, v);
    default:
        return guarded(out, v);
    }
}

/* ---- str() ------------------------------------------------------------------------------------ */

/* Empty, unless the class raises or shows the expression. */
static int
str_undefined(buf_t *out, py_t *v)
{
    const pyundef_t *u = (const pyundef_t *) v;

    if ((u->cls->flags & PY_UNDEF_STR) != 0) {
        py_undef_raise(v);
        return -1;
    }
    if (u->cls->used != NULL)
        u->cls->used(v, false);
    if ((u->cls->flags & PY_UNDEF_DEBUG) != 0)
        py_undef_debug(out, v);
    return 0;
}

int
py_str_to(buf_t *out, py_t *v)
{
    switch (py_type(v)) {
    case PY_STR:
        if (PY_MARKED(v))
            py_put(out, v);
        else
            buf_add(out, PY_TEXT(v), PY_LEN(v));
        return 0;
    case PY_UNDEFINED:
        return str_undefined(out, v);
    case PY_HOST:
        if (py_host_class(v)->str != NULL)
            return py_host_class(v)->str(v, out);
        return repr_host(out, v);
    default:
        return py_repr_to(out, v);
    }
}

py_t *
py_repr(py_t *v)
{
    buf_auto_t out = BUF_INIT;

    return py_repr_to(&out, v) < 0 ? NULL : py_str_buf(&out);
}

py_t *
py_tostr(py_t *v)
{
    buf_auto_t out = BUF_INIT;

    if (py_is(v, PY_STR) && !py_is_markup(v))
        return py_ref(v);
    return py_str_to(&out, v) < 0 ? NULL : py_str_buf(&out);
}

/* ---- Markup ----------------------------------------------------------------------------------- */

void
py_put_escaped(buf_t *out, const char *s, size_t len)
{
    static const char *const entities[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&#34;", ['\''] = "&#39;"
    };
    size_t start = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char) s[i];
        if (c >= NELEMS(entities) || entities[c] == NULL)
            continue;
        buf_add(out, s + start, i - start);
        buf_puts(out, entities[c]);
        start = i + 1;
    }
    buf_add(out, s + start, len - start);
}

py_t *
py_escape(py_t *v)
{
    buf_auto_t out = BUF_INIT;

    if (py_is_markup(v))
        return py_ref(v);
    if (py_is(v, PY_HOST) && py_host_class(v)->html != NULL)
        return py_host_class(v)->html(v);
    AUTO(py) text = py_tostr(v);
    if (text == NULL || py_room(PY_LEN(text) * 5) < 0)
        return NULL;

    /* A text that needs no escaping keeps its marks in place; else all of it is marked. */
    py_put_escaped(&out, PY_TEXT(text), PY_LEN(text));
    if (out.len == PY_LEN(text)) {
        buf_clear(&out);
        py_put(&out, text);
    } else {
        py_put_like(&out, 0, text);
    }

    py_t *markup = py_str_buf(&out);
    markup->flags |= PY_F_MARKUP;
    return markup;
}
