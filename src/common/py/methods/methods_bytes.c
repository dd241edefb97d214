/* methods_bytes.c - methods of bytes that differ from str's. Methods about ASCII letters run str's method on
 * a text in which other bytes are private-use characters, and convert the result back. */
#include "common/py/methods/methods.h"
#include "common/py/py_as.h"

METHOD_OF(m_bytes_hex)
{
    static const char digits[] = "0123456789abcdef";
    if (py_room(PY_LEN(self) * 2) < 0)
        return NULL;
    py_t *out = py_str_raw(PY_LEN(self) * 2);

    for (size_t i = 0; i < PY_LEN(self); i++) {
        unsigned char c = (unsigned char) PY_TEXT(self)[i];
        PY_CHARS(out)[2 * i] = digits[c >> 4];
        PY_CHARS(out)[2 * i + 1] = digits[c & 15];
    }
    return out;
}

METHOD_OF(m_bytes_join)
{
    buf_auto_t out = BUF_INIT;

    if (!py_iterable(slots[0]))
        return py_raise(&py_TypeError, "can only join an iterable");
    AUTO(py) items = py_tolist(slots[0]);
    if (items == NULL)
        return NULL;
    for (size_t i = 0; i < py_seq_len(items); i++) {
        const py_t *item = py_seq_at(items, i);
        if (!py_is(item, PY_BYTES))
            return py_raise(&py_TypeError, "sequence item %zu: expected a bytes-like object, %s found", i,
                            py_type_name(item));
        if (py_room(out.len + PY_LEN(self) + PY_LEN(item)) < 0)
            return NULL;
        if (i > 0)
            buf_add(&out, PY_TEXT(self), PY_LEN(self));
        buf_add(&out, PY_TEXT(item), PY_LEN(item));
    }
    return py_bytes(buf_str(&out), out.len);
}

/* Bytes between `first` and `last`, ASCII letters, get the other case. */
static py_t *
change_case(const py_t *self, char first, char last)
{
    py_t *out = py_bytes(PY_TEXT(self), PY_LEN(self));

    for (char *p = PY_CHARS(out), *end = p + PY_LEN(self); p < end; p++) {
        if (*p >= first && *p <= last)
            *p ^= 0x20;
    }
    return out;
}

METHOD_OF(m_bytes_lower)
{
    return change_case(self, 'A', 'Z');
}

METHOD_OF(m_bytes_upper)
{
    return change_case(self, 'a', 'z');
}

/* ---- as text ---------------------------------------------------------------------------------- */

/* Bytes beyond ASCII become private-use characters, which are neither letters, digits nor space. */
enum { BYTE_CP = 0xf700 };

/* A byte beyond ASCII becomes a private code point, so that methods of text work on it unchanged. */
static py_t *
as_text(const py_t *bytes)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < PY_LEN(bytes); i++) {
        unsigned char c = (unsigned char) PY_TEXT(bytes)[i];
        py_put_char(&out, c < 0x80 ? c : BYTE_CP + c);
    }
    return py_str_buf(&out);
}

/* Converts a result of a str method back: a text, a tuple of texts, or another value unchanged. TAKES `v`. */
static py_t *
as_bytes(py_t *v)
{
    buf_auto_t out = BUF_INIT;
    uint32_t cp;

    if (v != NULL && py_is(v, PY_TUPLE)) {
        for (size_t i = 0; i < py_seq_len(v); i++)
            py_as_tuple(v)->v[i] = as_bytes(py_as_tuple(v)->v[i]);
        return v;
    }
    if (v == NULL || !py_is(v, PY_STR))
        return v;
    for (const char *p = PY_TEXT(v), *end = p + PY_LEN(v); p < end;) {
        p += py_decode(p, &cp);
        buf_putc(&out, (char) (cp < 0x80 ? cp : cp - BYTE_CP));
    }
    py_unref(v);
    return py_bytes(buf_str(&out), out.len);
}

/* Runs a method of str on the bytes, with argument `i` converted too; -1: none. */
static py_t *
through_text(py_method_fn *fn, py_t *self, py_t *const *slots, int i)
{
    AUTO(py) text = as_text(self);
    AUTO(py) arg = i >= 0 && slots[i] != NULL ? as_text(slots[i]) : NULL;
    py_t *room[2] = { i == 0 ? arg : slots[0], i == 1 ? arg : NULL };

    return as_bytes(fn(text, room, NULL));
}

#define PLAIN(name, fn)                                                                                      \
    METHOD_OF(name)                                                                                          \
    {                                                                                                        \
        return through_text(fn, self, slots, -1);                                                            \
    }
PLAIN(m_bytes_capitalize, m_str_capitalize)
PLAIN(m_bytes_expandtabs, m_str_expandtabs)
PLAIN(m_bytes_isalnum, m_str_isalnum)
PLAIN(m_bytes_isalpha, m_str_isalpha)
PLAIN(m_bytes_isdigit, m_str_isdigit)
PLAIN(m_bytes_islower, m_str_islower)
PLAIN(m_bytes_isspace, m_str_isspace)
PLAIN(m_bytes_istitle, m_str_istitle)
PLAIN(m_bytes_isupper, m_str_isupper)
PLAIN(m_bytes_swapcase, m_str_swapcase)
PLAIN(m_bytes_title, m_str_title)
PLAIN(m_bytes_zfill, m_str_zfill)

/* Methods with a part to look for. */
#define PART(name, fn)                                                                                       \
    METHOD_OF(name)                                                                                          \
    {                                                                                                        \
        if (!py_is(slots[0], PY_BYTES))                                                                      \
            return py_raise(&py_TypeError, "a bytes-like object is required, not '%s'",                      \
                            py_type_name(slots[0]));                                                         \
        return through_text(fn, self, slots, 0);                                                             \
    }
PART(m_bytes_partition, m_str_partition)
PART(m_bytes_removeprefix, m_str_removeprefix)
PART(m_bytes_removesuffix, m_str_removesuffix)
PART(m_bytes_rpartition, m_str_rpartition)

/* Methods with a fill byte. */
#define FILL(name, fn, shown)                                                                                \
    METHOD_OF(name)                                                                                          \
    {                                                                                                        \
        if (slots[1] != NULL && (!py_is(slots[1], PY_BYTES) || PY_LEN(slots[1]) != 1))                       \
            return py_raise(&py_TypeError, shown "() argument 2 must be a byte string of length 1, not %s",  \
                            py_arg_name(slots[1]));                                                          \
        return through_text(fn, self, slots, 1);                                                             \
    }
FILL(m_bytes_center, m_str_center, "center")
FILL(m_bytes_ljust, m_str_ljust, "ljust")
FILL(m_bytes_rjust, m_str_rjust, "rjust")

METHOD_OF(m_bytes_isascii)
{
    for (size_t i = 0; i < PY_LEN(self); i++)
        if ((unsigned char) PY_TEXT(self)[i] >= 0x80)
            return PY_False;
    return PY_True;
}

/* Bytes have fewer kinds of line ends than text: \n, \r and \r\n. */
METHOD_OF(m_bytes_splitlines)
{
    const char *start = PY_TEXT(self), *end = start + PY_LEN(self);
    bool keep = false;

    if (py_flag_arg(slots[0], &keep) < 0)
        return NULL;
    py_t *lines = py_list();
    while (start < end) {
        const char *stop = start;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        const char *next = stop < end ? stop + 1 : end;
        if (next < end && *stop == '\r' && *next == '\n')
            next++;
        py_append_new(lines, py_bytes(start, (size_t) ((keep ? next : stop) - start)));
        start = next;
    }
    return lines;
}
