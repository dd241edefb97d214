/* py_str.c - str and bytes: UTF-8 in memory (lone surrogates as three bytes), counted and indexed by code
 * point where Python does. The count is cached; texts of ASCII only need no scan for offsets. */
#include "common/base/utf8.h"
#include "common/py/py_obj.h"

enum { ASCII_TOP = 0x80 };

/* ---- code points ----------------------------------------------------------------------------- */

/* No validation: texts of ours are well-formed, surrogates included. */
size_t
py_decode(const char *s, uint32_t *ret_cp)
{
    const unsigned char *p = (const unsigned char *) s;

    if (p[0] < 0x80) {
        *ret_cp = p[0];
        return 1;
    }
    if (p[0] < 0xe0) {
        *ret_cp = (uint32_t) (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
        return 2;
    }
    if (p[0] < 0xf0) {
        *ret_cp = (uint32_t) (p[0] & 0x0f) << 12 | (uint32_t) (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
        return 3;
    }
    *ret_cp = (uint32_t) (p[0] & 0x07) << 18 | (uint32_t) (p[1] & 0x3f) << 12 |
              (uint32_t) (p[2] & 0x3f) << 6 | (p[3] & 0x3f);
    return 4;
}

void
py_put_char(buf_t *out, uint32_t cp)
{
    char bytes[4];

    buf_add(out, bytes, utf8_encode(cp, bytes));
}

size_t
py_str_count(const py_t *v)
{
    pystr_t *s = (pystr_t *) v; /* the count is a cache */

    if (s->count == PY_UNCOUNTED) {
        /* Counts the bytes that begin a character. */
        size_t n = 0;
        for (size_t i = 0; i < s->len; i++)
            n += ((unsigned char) s->text[i] & 0xc0) != 0x80;
        s->count = n;
    }
    return s->count;
}

/* Scans from the nearer end. O(n) for texts beyond ASCII. */
size_t
py_str_offset(const py_t *v, size_t index)
{
    const pystr_t *s = (const pystr_t *) v;
    size_t count = py_str_count(v), i = 0;

    if (count == s->len || index == 0)
        return index;
    if (index >= count)
        return s->len;
    if (index > count / 2) {
        for (i = s->len; index < count; index++) {
            while (((unsigned char) s->text[--i] & 0xc0) == 0x80)
                ;
        }
        return i;
    }
    while (index-- > 0) {
        while (((unsigned char) s->text[++i] & 0xc0) == 0x80)
            ;
    }
    return i;
}

/* ---- making ---------------------------------------------------------------------------------- */

/* Room for `len` bytes and a NUL; the bytes are not set. */
static py_t *
text_new(size_t len, py_type_t type)
{
    pystr_t *s = py_new(sizeof(*s) + len + 1, type);

    s->len = len;
    s->count = PY_UNCOUNTED;
    s->hash = 0;
    s->peer = NULL;
    s->text[len] = '\0';
    return &s->h;
}

py_t *
py_str_raw(size_t len)
{
    return text_new(len, PY_STR);
}

/* A text of the type; empty, with LimitError raised, when the limit has no room. */
static py_t *
py_str_text_of(const char *text, size_t len, py_type_t type)
{
    if (!py_grant(len))
        len = 0;
    py_t *v = text_new(len, type);
    if (len > 0)
        memcpy(PY_CHARS(v), text, len);
    return v;
}

py_t *
py_str(const char *text, size_t len)
{
    return py_str_text_of(text, len, PY_STR);
}

py_t *
py_strz(const char *text)
{
    return py_str(text, strlen(text));
}

py_t *
py_strf(const char *fmt, ...)
{
    buf_auto_t text = BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return py_str(buf_str(&text), text.len);
}

py_t *
py_str_buf(buf_t *text)
{
    py_t *v = py_str(buf_str(text), text->len);

    if (__builtin_expect(text->note != 0, 0))
        py_take_marks(v, text);
    buf_free(text);
    return v;
}

py_t *
py_str_utf8(const char *bytes, size_t len)
{
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0, n; i < len; i += n) {
        uint32_t cp;
        n = utf8_next(bytes + i, len - i, &cp);
        if (n > 0) {
            buf_add(&text, bytes + i, n);
            continue;
        }
        py_put_char(&text, 0xfffd);
        n = 1;
    }
    return py_str_buf(&text);
}

py_t *
py_char(uint32_t cp)
{
    char bytes[4];
    size_t n = utf8_encode(cp, bytes);
    py_t *v = py_str(bytes, n);

    ((pystr_t *) v)->count = 1;
    return v;
}

py_t *
py_bytes(const void *bytes, size_t len)
{
    return py_str_text_of(bytes, len, PY_BYTES);
}

py_t *
py_markup(py_t *text)
{
    if (py_is_markup(text))
        return py_ref(text);
    py_t *v = py_part(text, PY_TEXT(text), PY_LEN(text));
    v->flags |= PY_F_MARKUP;
    return v;
}

/* A whole text is returned as it is. Offsets equal indices if all is ASCII. */
py_t *
py_substr(py_t *text, size_t from, size_t to)
{
    size_t count = py_str_count(text);

    if (from >= to)
        return py_str("", 0);
    if (from == 0 && to >= count && !py_is_markup(text))
        return py_ref(text);
    size_t start = py_str_offset(text, from);
    size_t end = count == PY_LEN(text) ? to : py_str_offset(text, to);
    py_t *v = py_part(text, PY_TEXT(text) + start, end - start);
    if (PY_LEN(v) == end - start)
        ((pystr_t *) v)->count = to - from;
    return v;
}

/* ---- reading --------------------------------------------------------------------------------- */

bool
py_is_markup(const py_t *v)
{
    return py_is(v, PY_STR) && (v->flags & PY_F_MARKUP) != 0;
}

const char *
py_text(const py_t *v, size_t *ret_len)
{
    *ret_len = PY_LEN(v);
    return PY_TEXT(v);
}

const char *
py_cstr(const py_t *v)
{
    return v != NULL && py_is(v, PY_STR) ? PY_TEXT(v) : "";
}

bool
py_str_is(const py_t *v, const char *text)
{
    size_t len = strlen(text);

    return py_is(v, PY_STR) && PY_LEN(v) == len && memcmp(PY_TEXT(v), text, len) == 0;
}
