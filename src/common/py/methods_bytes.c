/* methods_bytes.c - what bytes do differently from str; the rest of their methods is str's. */
#include "common/py/methods.h"

METHOD_OF(m_bytes_hex)
{
    static const char digits[] = "0123456789abcdef";
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
