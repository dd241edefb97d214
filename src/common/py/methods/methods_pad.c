/* methods_pad.c - methods of str that widen a text, and format. Widths are checked against the limit of
 * memory before anything is allocated. */
#include "common/py/methods/methods.h"

/* Adds `left` and `right` fill characters around; `from` is the value that chose the character, or NULL. */
static py_t *
pad(py_t *self, int64_t left, int64_t right, uint32_t fill, const py_t *from)
{
    buf_auto_t out = BUF_INIT;

    if (left <= 0 && right <= 0)
        return py_part(self, PY_TEXT(self), PY_LEN(self));
    if (py_room((size_t) (left + right) * 4 + PY_LEN(self)) < 0)
        return NULL;
    for (; left > 0; left--)
        py_put_char(&out, fill);
    py_put(&out, self);
    for (; right > 0; right--)
        py_put_char(&out, fill);
    if (from != NULL)
        py_put_like(&out, 0, from);
    return py_str_buf(&out);
}

/* Reads the width and fill character of center and relatives. 0, or -1 raised. */
static int
pad_args(py_t *const *slots, const py_t *self, int64_t *ret_gap, uint32_t *ret_fill)
{
    int64_t width;

    if (py_index(slots[0], &width) < 0)
        return -1;
    *ret_fill = ' ';
    if (slots[1] != NULL) {
        if (!py_is(slots[1], PY_STR))
            return py_raise_int(&py_TypeError, "The fill character must be a unicode character, not %s",
                                py_type_name(slots[1]));
        if (py_str_count(slots[1]) != 1)
            return py_raise_int(&py_TypeError, "The fill character must be exactly one character long");
        py_decode(PY_TEXT(slots[1]), ret_fill);
    }
    int64_t n = (int64_t) py_str_count(self);
    *ret_gap = width > n ? width - n : 0;
    return *ret_gap > INT64_MAX / 16 ? py_room(SIZE_MAX) : 0;
}

METHOD_OF(m_str_center)
{
    int64_t gap;
    uint32_t fill;

    if (pad_args(slots, self, &gap, &fill) < 0)
        return NULL;
    int64_t width = gap + (int64_t) py_str_count(self);
    int64_t left = gap / 2 + (gap & width & 1); /* as CPython: an odd gap goes left in an odd width */
    return pad(self, left, gap - left, fill, slots[1]);
}

METHOD_OF(m_str_ljust)
{
    int64_t gap;
    uint32_t fill;

    return pad_args(slots, self, &gap, &fill) < 0 ? NULL : pad(self, 0, gap, fill, slots[1]);
}

METHOD_OF(m_str_rjust)
{
    int64_t gap;
    uint32_t fill;

    return pad_args(slots, self, &gap, &fill) < 0 ? NULL : pad(self, gap, 0, fill, slots[1]);
}

/* Zeros go between a sign and the digits. */
METHOD_OF(m_str_zfill)
{
    int64_t width, n = (int64_t) py_str_count(self);
    buf_auto_t out = BUF_INIT;

    if (py_index(slots[0], &width) < 0)
        return NULL;
    if (width <= n)
        return py_part(self, PY_TEXT(self), PY_LEN(self));
    if (py_room((size_t) width) < 0)
        return NULL;
    bool sign = *PY_TEXT(self) == '-' || *PY_TEXT(self) == '+';
    py_put_part(&out, self, PY_TEXT(self), sign ? 1 : 0);
    buf_fill(&out, '0', (size_t) (width - n));
    py_put_part(&out, self, PY_TEXT(self) + sign, PY_LEN(self) - sign);
    return py_str_buf(&out);
}

/* Columns count characters since the last line end. */
METHOD_OF(m_str_expandtabs)
{
    int64_t size = 8, column = 0;
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    buf_auto_t out = BUF_INIT;

    if (slots[0] != NULL && py_index(slots[0], &size) < 0)
        return NULL;
    if (size > INT32_MAX)
        return py_raise(&py_OverflowError, "Python int too large to convert to C int");
    for (uint32_t cp; p < end;) {
        size_t n = py_decode(p, &cp);
        if (cp == '\t') {
            int64_t gap = size > 0 ? size - column % size : 0;
            if (py_room(out.len + (size_t) gap) < 0)
                return NULL;
            buf_fill(&out, ' ', (size_t) gap);
            column += gap;
        } else {
            py_put_part(&out, self, p, n);
            column = cp == '\n' || cp == '\r' ? 0 : column + 1;
        }
        p += n;
    }
    return py_str_buf(&out);
}

METHOD_OF(m_str_format)
{
    return py_format_str(self, args, NULL, NULL);
}

METHOD_OF(m_str_format_map)
{
    return py_format_map(self, slots[0], NULL, NULL);
}
