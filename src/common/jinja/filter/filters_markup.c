/* filters_markup.c - filters for HTML, XML, JSON and URLs. Escaped results are Markup, as markupsafe's. */
#include "common/jinja/filter/filter.h"
#include "common/py/py_json.h"

static py_t *
filters_markup_escape(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return py_escape(a[0]);
}

/* Text of a value's __html__() when it has one, else str(). NEW. */
static py_t *
html_of(py_t *v)
{
    const py_class_t *c = py_is(v, PY_HOST) ? py_host_class(v) : NULL;
    AUTO(py) html = c != NULL && c->html != NULL ? c->html(v) : py_ref(v);
    return html != NULL ? py_tostr(html) : NULL;
}

static py_t *
do_forceescape(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = html_of(a[0]);
    size_t len;
    const char *s = text != NULL ? py_text(text, &len) : NULL;
    AUTO(py) bare = s != NULL ? py_str(s, len) : NULL; /* a plain str: Markup is not escaped again */
    return bare != NULL ? py_escape(bare) : NULL;
}

static py_t *
do_mark_safe(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = html_of(a[0]);
    return text != NULL ? py_markup(text) : NULL;
}

static py_t *
do_striptags(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) text = html_of(a[0]);
    AUTO(py) safe = text != NULL ? py_markup(text) : NULL;
    return safe != NULL ? jmethod(safe, "striptags", 0) : NULL;
}

/* ---- URLs --------------------------------------------------------------------------------------------- */

/* urllib.parse.quote of a value; `query`: quote_plus, and '/' is quoted. */
static int
quote_to(buf_t *out, py_t *v, bool query)
{
    AUTO(py) text = py_is(v, PY_STR) || py_is(v, PY_BYTES) ? py_ref(v) : py_tostr(v);
    if (text == NULL)
        return -1;
    size_t len;
    const unsigned char *s = (const unsigned char *) py_text(text, &len);
    for (size_t i = 0; i < len; i++) {
        bool safe = (s[i] >= '0' && s[i] <= '9') || ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') ||
                    (s[i] != '\0' && strchr("_.-~", s[i]) != NULL) || (s[i] == '/' && !query);
        if (safe)
            buf_putc(out, (char) s[i]);
        else if (s[i] == ' ' && query)
            buf_putc(out, '+');
        else
            buf_printf(out, "%%%02X", s[i]);
    }
    return 0;
}

/* A dict or pairs as a query: key=value&key=value. */
static int
quote_pairs(buf_t *out, py_t *value)
{
    AUTO(py) items = py_is(value, PY_DICT) ? jmethod(value, "items", 0) : py_ref(value);
    AUTO(py) list = items != NULL ? py_tolist(items) : NULL;
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        py_t *item = py_seq_at(list, i);
        if (!py_iterable(item) && !py_is(item, PY_UNDEFINED))
            return py_raise_int(&py_TypeError, "cannot unpack non-iterable %s object", py_type_name(item));
        AUTO(py) pair = py_totuple(item);
        if (pair == NULL)
            return -1;
        size_t n = py_seq_len(pair);
        if (n != 2)
            return n > 2
                       ? py_raise_int(&py_ValueError, "too many values to unpack (expected 2)")
                       : py_raise_int(&py_ValueError, "not enough values to unpack (expected 2, got %zu)", n);
        if (i > 0)
            buf_putc(out, '&');
        if (py_tick_out(out) < 0 || quote_to(out, py_seq_at(pair, 0), true) < 0)
            return -1;
        buf_putc(out, '=');
        if (quote_to(out, py_seq_at(pair, 1), true) < 0)
            return -1;
    }
    return list != NULL ? 0 : -1;
}

static py_t *
do_urlencode(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    buf_auto_t b = BUF_INIT;
    bool one = py_is(a[0], PY_STR) || !py_iterable(a[0]);
    if ((one ? quote_to(&b, a[0], false) : quote_pairs(&b, a[0])) < 0)
        return NULL;
    return py_str_buf(&b);
}

/* ---- XML ---------------------------------------------------------------------------------------------- */

/* Writes an attribute: None and undefined values are left out; a name with white space, '/', '>' or '=' is an
 * error. */
static int
filters_markup_add_attribute(buf_t *out, py_t *key, py_t *value)
{
    if (py_is(value, PY_NONE) || py_is(value, PY_UNDEFINED))
        return 0;
    if (!py_is(key, PY_STR))
        return py_raise_int(&py_TypeError, "expected string or bytes-like object, got '%s'",
                            py_type_name(key));
    if (strpbrk(py_cstr(key), " \t\n\r\f\v/>=") != NULL) {
        AUTO(py) shown = py_repr(key);
        return py_raise_int(&py_ValueError, "Invalid character in attribute name: %s", py_cstr(shown));
    }
    AUTO(py) name = py_escape(key);
    AUTO(py) text = name != NULL ? py_escape(value) : NULL;
    if (text == NULL)
        return -1;
    if (py_tick_out(out) < 0)
        return -1;
    if (out->len > 0)
        buf_putc(out, ' ');
    py_str_to(out, name);
    buf_puts(out, "=\"");
    py_str_to(out, text);
    buf_putc(out, '"');
    return 0;
}

static py_t *
do_xmlattr(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int space = jflag(a[1], true);
    AUTO(py) items = space >= 0 ? jmethod(a[0], "items", 0) : NULL;
    AUTO(py) list = items != NULL ? py_tolist(items) : NULL;
    if (list == NULL)
        return NULL;
    buf_auto_t b = BUF_INIT;
    for (size_t i = 0; i < py_seq_len(list); i++) {
        py_t *pair = py_seq_at(list, i);
        if (filters_markup_add_attribute(&b, py_seq_at(pair, 0), py_seq_at(pair, 1)) < 0)
            return NULL;
    }
    AUTO(py) text = py_strf("%s%s", space && b.len > 0 ? " " : "", buf_str(&b));
    return ctx->autoescape ? py_markup(text) : STEAL(text);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* Escapes keep the marks of the characters that they replace. */
py_t *
jhtmlsafe_json(py_t *json)
{
    static const char *const safe[] = {
        ['<'] = "\\u003c", ['>'] = "\\u003e", ['&'] = "\\u0026", ['\''] = "\\u0027"
    };
    size_t len;
    const char *s = py_text(json, &len);
    buf_auto_t b = BUF_INIT;
    for (const char *end = s + len; s < end;) {
        size_t same = strcspn(s, "<>&'"); /* JSON has no NUL */
        if (same > 0)
            py_put_part(&b, json, s, same);
        s += same;
        if (s == end)
            break;
        AUTO(py) part = py_part(json, s, 1);
        size_t at = b.len;
        buf_puts(&b, safe[(unsigned char) *s++]);
        py_put_like(&b, at, part);
    }
    return py_str_buf(&b);
}

static py_t *
do_tojson(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_dumps_t how = PY_DUMPS_INIT;
    AUTO(py) kwargs = jpolicy(ctx, "json.dumps_kwargs");
    py_t *sort = py_is(kwargs, PY_DICT) ? py_dict_gets(kwargs, "sort_keys") : PY_True;
    py_t *indent = py_is(kwargs, PY_DICT) ? py_dict_gets(kwargs, "indent") : NULL;
    int sorted = sort != NULL ? py_truth(sort) : 0;
    int64_t width = -1;
    if (a[1] != NULL && !py_is(a[1], PY_NONE))
        indent = a[1];
    if (sorted < 0 || jindex(indent, -1, &width) < 0)
        return NULL;
    how.sort_keys = sorted;
    how.indent = (int) width;
    AUTO(py) json = py_json_dumps(a[0], &how);
    AUTO(py) safe = json != NULL ? jhtmlsafe_json(json) : NULL;
    return safe != NULL ? py_markup(safe) : NULL;
}

static const jfilter_t rows[] = {
    { "e",
      { filters_markup_escape },
      { "markupsafe._speedups.escape", NULL, 1, 1, PY_SIG_C },
      0,
      "The same as `escape`." },
    { "escape",
      { filters_markup_escape },
      { "markupsafe._speedups.escape", NULL, 1, 1, PY_SIG_C },
      0,
      "Safe in HTML." },
    { JROW("forceescape", do_forceescape, JP("value"), 1, 1, 0), 0, "Escaped even when it is safe." },
    { JROW("safe", do_mark_safe, JP("value"), 1, 1, 0), 0, "Not to be escaped." },
    { JROW("striptags", do_striptags, JP("value"), 1, 1, 0), 0, "Without tags, white space as one space." },
    { JROW("tojson", do_tojson, JP("eval_ctx", "value", "indent"), 2, 3, 0), JF_CONTEXT,
      "JSON that is safe in HTML." },
    { JROW("urlencode", do_urlencode, JP("value"), 1, 1, 0), 0, "Quoted for a URL; pairs as a query." },
    { JROW("xmlattr", do_xmlattr, JP("eval_ctx", "d", "autospace"), 2, 3, 0), JF_CONTEXT,
      "A dict as attributes of a tag." },
};

const jfilter_table_t jfilters_markup = JTABLE(rows);
