/* py_json_dumps.c - json.dumps with Python's text, separators and escapes. Texts keep peers' marks; keys are
 * converted and sorted as CPython does, cycles raise ValueError. */
#include <math.h>

#include "common/base/realtext.h"
#include "common/py/py_json.h"
#include "common/py/py_obj.h"

/* State of a json.dumps(); `level` is the depth, for the indent. */
typedef struct writer {
    buf_t *out;
    const py_dumps_t *how;
    const char *item_sep, *key_sep;
    int level;
} writer_t;

static int py_json_dumps_put(writer_t *w, py_t *v);

/* Writes a quoted text; `from` is its value, for the marks. */
static int
py_json_dumps_put_text(const writer_t *w, const char *p, size_t len, const py_t *from)
{
    const char *end = p + len;

    if (py_room(w->out->len + len) < 0)
        return -1;
    buf_putc(w->out, '"');
    size_t at = w->out->len;
    while (p < end) {
        uint32_t cp;
        size_t n = py_decode(p, &cp);
        bool escape = cp < 0x20 || cp == '"' || cp == '\\' || (w->how->ensure_ascii && cp > 0x7e);
        if (escape) {
            /* Characters beyond 16 bits become a surrogate pair. */
            buf_t *out = w->out;
            static const char letters[] = {
                ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'
            };
            if (cp == '"' || cp == '\\')
                buf_printf(out, "\\%c", (char) cp);
            else if (cp < sizeof(letters) && letters[cp] != 0)
                buf_printf(out, "\\%c", letters[cp]);
            else if (cp <= 0xffff)
                buf_printf(out, "\\u%04x", cp);
            else
                buf_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
        } else {
            buf_add(w->out, p, n);
        }
        if (escape && py_room(w->out->len) < 0)
            return -1;
        p += n;
    }
    py_put_like(w->out, at, from);
    buf_putc(w->out, '"');
    return 0;
}

/* As Python's json module: NaN and Infinity, although JSON has no such words. */
static void
put_float(buf_t *out, double d)
{
    if (isfinite(d))
        realtext_add(out, d);
    else
        buf_puts(out, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
}

/* Line break and indentation before an element, and before the end of a non-empty container. */
static int
py_json_dumps_new_line(const writer_t *w)
{
    size_t spaces = w->how->indent > 0 ? (size_t) w->level * (size_t) w->how->indent : 0;

    if (py_tick() < 0 || py_room(w->out->len + spaces) < 0)
        return -1;
    if (w->how->indent >= 0)
        buf_putc(w->out, '\n');
    buf_fill(w->out, ' ', spaces);
    return 0;
}

/* Keys that are None, bools or numbers become text, as in Python's json module. */
static int
put_key(writer_t *w, py_t *key)
{
    buf_auto_t text = BUF_INIT;

    switch (py_type(key)) {
    case PY_STR:
        return py_json_dumps_put_text(w, PY_TEXT(key), PY_LEN(key), key);
    case PY_NONE:
        buf_puts(w->out, "\"null\"");
        return 0;
    case PY_BOOL:
        buf_puts(w->out, key->aux != 0 ? "\"true\"" : "\"false\"");
        return 0;
    case PY_INT:
        if (py_int_text(&text, key, 10) < 0)
            return -1;
        break;
    case PY_FLOAT:
        put_float(&text, py_float_value(key));
        break;
    default:
        return py_raise_int(&py_TypeError, "keys must be str, int, float, bool or None, not %s",
                            py_type_name(key));
    }
    return py_json_dumps_put_text(w, buf_str(&text), text.len, PY_None);
}

/* Sorted as pairs, as Python does, so that keys of different types raise. */
static int
py_json_dumps_put_dict(writer_t *w, const py_t *dict)
{
    AUTO(py) pairs = py_list();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        py_append_new(pairs, py_tuple_of(2, key, value));
    if (w->how->sort_keys && py_sort(pairs, NULL, false) < 0)
        return -1;
    buf_putc(w->out, '{');
    w->level++;
    for (size_t i = 0; i < py_seq_len(pairs); i++) {
        py_t *pair = py_seq_at(pairs, i);
        if (i > 0)
            buf_puts(w->out, w->item_sep);
        if (py_json_dumps_new_line(w) < 0 || put_key(w, py_seq_at(pair, 0)) < 0)
            return -1;
        buf_puts(w->out, w->key_sep);
        if (py_json_dumps_put(w, py_seq_at(pair, 1)) < 0)
            return -1;
    }
    w->level--;
    if (py_seq_len(pairs) > 0 && py_json_dumps_new_line(w) < 0)
        return -1;
    buf_putc(w->out, '}');
    return 0;
}

static int
put_seq(writer_t *w, const py_t *seq)
{
    buf_putc(w->out, '[');
    w->level++;
    for (size_t i = 0; i < py_seq_len(seq); i++) {
        if (i > 0)
            buf_puts(w->out, w->item_sep);
        if (py_json_dumps_new_line(w) < 0 || py_json_dumps_put(w, py_seq_at(seq, i)) < 0)
            return -1;
    }
    w->level--;
    if (py_seq_len(seq) > 0 && py_json_dumps_new_line(w) < 0)
        return -1;
    buf_putc(w->out, ']');
    return 0;
}

/* A container within itself is an error, found by its busy flag. */
static int
put_container(writer_t *w, py_t *v)
{
    if ((v->flags & PY_F_BUSY) != 0)
        return py_raise_int(&py_ValueError, "Circular reference detected");
    if (py_enter() < 0)
        return -1;
    v->flags |= PY_F_BUSY;
    int rc = py_is(v, PY_DICT) ? py_json_dumps_put_dict(w, v) : put_seq(w, v);
    v->flags &= (uint8_t) ~PY_F_BUSY;
    py_leave();
    return rc;
}

static int
py_json_dumps_put(writer_t *w, py_t *v)
{
    switch (py_type(v)) {
    case PY_NONE:
        buf_puts(w->out, "null");
        return 0;
    case PY_BOOL:
        buf_puts(w->out, v->aux != 0 ? "true" : "false");
        return 0;
    case PY_INT:
        return py_int_text(w->out, v, 10);
    case PY_FLOAT:
        put_float(w->out, py_float_value(v));
        return 0;
    case PY_STR:
        return py_json_dumps_put_text(w, PY_TEXT(v), PY_LEN(v), v);
    case PY_LIST:
    case PY_TUPLE:
    case PY_DICT:
        return put_container(w, v);
    default:
        return py_raise_int(&py_TypeError, "Object of type %s is not JSON serializable", py_type_name(v));
    }
}

py_t *
py_json_dumps(py_t *v, const py_dumps_t *how)
{
    buf_auto_t out = BUF_INIT;
    writer_t w = { .out = &out,
                   .how = how,
                   .item_sep = how->item_sep != NULL ? how->item_sep
                               : how->indent >= 0    ? ","
                                                     : ", ",
                   .key_sep = how->key_sep != NULL ? how->key_sep : ": " };

    return py_json_dumps_put(&w, v) < 0 ? NULL : py_str_buf(&out);
}
