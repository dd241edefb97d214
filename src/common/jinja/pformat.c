/* pformat.c - Python's pprint, as the filters pprint and python print: a container that does not fit into 80
 * columns takes one line per element, dicts sorted by key, long texts cut after white space.
 *
 * `indent` is the column where a value begins, `allowance` the columns of closing brackets after it. Each
 * level is first printed flat to see whether it fits, so the cost is depth times size, which the limits
 * bound. */
#include "common/base/utf8.h"
#include "common/jinja/salt/salt_filter.h"

enum { PPRINT_WIDTH = 80 };

static int pformat_put(buf_t *out, py_t *v, size_t indent, size_t allowance);

/* Width of a text in columns: code points, as Python's len(). */
static size_t
pformat_columns(const char *s, size_t n)
{
    return utf8_count(s, n);
}

/* repr() on a single line, dicts sorted by key, as pprint shows short containers. */
static int
flat(buf_t *out, py_t *v)
{
    if (!py_is(v, PY_DICT) && !py_is(v, PY_LIST) && !py_is(v, PY_TUPLE))
        return py_repr_to(out, v);
    if (py_enter() < 0)
        return -1;
    int rc = 0;
    if (py_is(v, PY_DICT)) {
        AUTO(py) keys = jsorted_keys(v);
        rc = keys == NULL ? -1 : 0;
        buf_putc(out, '{');
        for (size_t i = 0; rc == 0 && i < py_seq_len(keys); i++) {
            buf_puts(out, i > 0 ? ", " : "");
            rc = py_tick_out(out) < 0 ? -1 : flat(out, py_seq_at(keys, i));
            buf_puts(out, ": ");
            rc = rc == 0 ? flat(out, py_dict_get(v, py_seq_at(keys, i))) : rc;
        }
        buf_putc(out, '}');
    } else {
        buf_putc(out, py_is(v, PY_LIST) ? '[' : '(');
        for (size_t i = 0; rc == 0 && i < py_seq_len(v); i++) {
            buf_puts(out, i > 0 ? ", " : "");
            rc = py_tick_out(out) < 0 ? -1 : flat(out, py_seq_at(v, i));
        }
        buf_puts(out, py_is(v, PY_LIST) ? "]" : py_seq_len(v) == 1 ? ",)" : ")");
    }
    py_leave();
    return rc;
}

/* Keys of a dict as pprint sorts them. NEW list, or NULL raised. */
py_t *
jsorted_keys(py_t *dict)
{
    AUTO(py) keys = py_list();
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        py_append(keys, key);
    if (py_sort(keys, NULL, false) == 0)
        return STEAL(keys);
    /* Keys that cannot be compared are ordered by type and text, as pprint's _safe_key. */
    if (!py_raised_is(&py_TypeError))
        return NULL;
    py_clear();
    AUTO(py) orders = py_list();
    for (size_t i = 0; i < py_seq_len(keys); i++) {
        AUTO(py) type = py_strz(py_type_name(py_seq_at(keys, i)));
        AUTO(py) shown = py_repr(py_seq_at(keys, i));
        if (shown == NULL)
            return NULL;
        py_append_new(orders, py_tuple_of(2, type, shown));
    }
    return py_sort(keys, orders, false) == 0 ? STEAL(keys) : NULL;
}

/* Ends an element and indents the next. */
static void
pformat_new_line(buf_t *out, size_t indent)
{
    buf_puts(out, ",\n");
    buf_fill(out, ' ', indent);
}

/* A dict over several lines: values begin after their key's width. */
static int
pformat_put_dict(buf_t *out, py_t *dict, size_t indent, size_t allowance)
{
    AUTO(py) keys = jsorted_keys(dict);
    if (keys == NULL)
        return -1;
    size_t n = py_seq_len(keys);
    buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            pformat_new_line(out, indent + 1);
        size_t before = out->len;
        if (py_tick_out(out) < 0 || flat(out, py_seq_at(keys, i)) < 0)
            return -1;
        size_t width = pformat_columns(out->data + before, out->len - before);
        buf_puts(out, ": ");
        if (pformat_put(out, py_dict_get(dict, py_seq_at(keys, i)), indent + 1 + width + 2,
                        i + 1 < n ? 1 : allowance + 1) < 0)
            return -1;
    }
    buf_putc(out, '}');
    return 0;
}

/* A list or tuple over several lines; the last element also has room for the closing brackets. */
static int
put_sequence(buf_t *out, py_t *v, size_t indent, size_t allowance)
{
    size_t n = py_seq_len(v);
    bool list = py_is(v, PY_LIST);
    const char *end = list ? "]" : n == 1 ? ",)" : ")";
    buf_putc(out, list ? '[' : '(');
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            pformat_new_line(out, indent + 1);
        if (py_tick_out(out) < 0 ||
            pformat_put(out, py_seq_at(v, i), indent + 1, i + 1 < n ? 1 : allowance + strlen(end)) < 0)
            return -1;
    }
    buf_puts(out, end);
    return 0;
}

/* repr() of a part of a text. NEW. */
static py_t *
part_repr(const char *from, const char *to)
{
    AUTO(py) part = py_str(from, (size_t) (to - from));
    return py_repr(part);
}

/* 0, or -1 raised. */
static int
pformat_add_part(py_t *pieces, const char *from, const char *to)
{
    py_t *shown = part_repr(from, to);

    if (shown == NULL)
        return -1;
    py_append_new(pieces, shown);
    return 0;
}

/* End of the word that begins at `p`, its white space included. */
static const char *
word_end(const char *p, const char *end)
{
    bool space = false;
    while (p < end) {
        bool blank = space_at(p, end) > 0;
        if (space && !blank)
            return p;
        space = space || blank;
        p = char_end(p, end);
    }
    return p;
}

/* Splits a long text after white space into pieces that fit a line, as pprint's _pprint_str. NEW list of
 * their repr(), or NULL raised. */
static py_t *
text_pieces(py_t *text, size_t width, size_t last_width)
{
    AUTO(py) pieces = py_list();
    size_t len;
    const char *start = py_text(text, &len), *end = start + len, *at = start;
    while (at < end) {
        const char *next = word_end(at, end);
        AUTO(py) shown = py_tick() < 0 ? NULL : part_repr(start, next);
        if (shown == NULL)
            return NULL;
        size_t room = next == end ? last_width : width;
        if (at > start && (at[-1] == '\n' || (size_t) py_len(shown) > room)) {
            if (pformat_add_part(pieces, start, at) < 0)
                return NULL;
            start = at;
        }
        at = next;
    }
    return start < end && pformat_add_part(pieces, start, end) < 0 ? NULL : STEAL(pieces);
}

/* Prints a value at column `indent`. */
static int
pformat_put(buf_t *out, py_t *v, size_t indent, size_t allowance)
{
    buf_auto_t line = BUF_INIT;
    if (flat(&line, v) < 0)
        return -1;
    size_t width = pformat_columns(buf_str(&line), line.len) + indent + allowance;
    if (py_is(v, PY_STR) && !py_is_markup(v) && width > PPRINT_WIDTH) {
        /* A long text: pieces one below the other, in parentheses at the top level. Peers' marks of the
         * text apply to all pieces. */
        bool top = indent == 0;
        size_t left = indent + (top ? 1 : 0), used = left + allowance + (top ? 1 : 0);
        AUTO(py)
        pieces = text_pieces(v, PPRINT_WIDTH > left ? PPRINT_WIDTH - left : 1,
                             PPRINT_WIDTH > used ? PPRINT_WIDTH - used : 1);
        if (pieces == NULL)
            return -1;
        bool wrap = top && py_seq_len(pieces) > 1;
        size_t at = out->len;
        buf_puts(out, wrap ? "(" : "");
        for (size_t i = 0; i < py_seq_len(pieces); i++) {
            if (py_room(out->len + left) < 0)
                return -1;
            if (i > 0) {
                buf_putc(out, '\n');
                buf_fill(out, ' ', left);
            }
            buf_puts(out, py_cstr(py_seq_at(pieces, i)));
        }
        buf_puts(out, wrap ? ")" : "");
        py_put_like(out, at, v);
        return 0;
    }
    bool container = py_is(v, PY_DICT) || py_is(v, PY_LIST) || py_is(v, PY_TUPLE);
    if (!container || width <= PPRINT_WIDTH) {
        py_put_buf(out, &line);
        return 0;
    }
    if (py_enter() < 0)
        return -1;
    int rc = py_is(v, PY_DICT) ? pformat_put_dict(out, v, indent, allowance)
                               : put_sequence(out, v, indent, allowance);
    py_leave();
    return rc;
}

py_t *
jpformat(py_t *v)
{
    buf_auto_t out = BUF_INIT;
    return pformat_put(&out, v, 0, 0) == 0 ? py_str_buf(&out) : NULL;
}

JFILTER(do_pprint)
{
    return jpformat(a[0]);
}

static const jfilter_t rows[] = {
    { JROW("pprint", do_pprint, JP("value"), 1, 1, 0), 0, "As a program would write it." },
};

const jfilter_table_t jfilters_pprint = JTABLE(rows);

JFILTER(format_python)
{
    AUTO(py) text = jpformat(a[0]);
    AUTO(py) bare = text != NULL ? jmethod(text, "strip", 0) : NULL;
    return bare != NULL ? py_markup(bare) : NULL;
}

static const jfilter_t salt_rows[] = {
    { JROW("python", format_python, JP("value"), 1, 1, 0), 0, "As a program would write it." },
};

const jfilter_table_t jfilters_salt_python = JTABLE(salt_rows);
