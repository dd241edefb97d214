/* methods_find.c - methods of str and bytes that search: find, count, replace, startswith, partition.
 * Searches run on bytes with memmem; positions are converted to code points at the borders only. Results are
 * parts of the text and keep its marks. */
#include "common/py/methods/methods.h"

/* ---- arguments -------------------------------------------------------------------------------- */

int
py_slice_arg(py_t *v, int64_t dflt, int64_t *ret_v)
{
    *ret_v = dflt;
    if (v == NULL || py_is(v, PY_NONE) || py_to_int64(v, ret_v))
        return 0;
    if (py_is_int(v)) {
        *ret_v = py_int_sign(v) < 0 ? INT64_MIN : INT64_MAX;
        return 0;
    }
    return py_raise_int(&py_TypeError, "slice indices must be integers or None or have an __index__ method");
}

const char *
py_arg_name(const py_t *v)
{
    return py_is(v, PY_NONE) ? "None" : py_type_name(v);
}

int
py_flag_arg(py_t *v, bool *ret_v)
{
    int64_t n;

    if (v == NULL)
        return 0;
    if (py_index(v, &n) < 0)
        return -1;
    *ret_v = n != 0;
    return 0;
}

void
py_slice_adjust(int64_t *start, int64_t *end, int64_t len)
{
    if (*end > len)
        *end = len;
    else if (*end < 0)
        *end = *end + len < 0 ? 0 : *end + len;
    if (*start < 0)
        *start = *start + len < 0 ? 0 : *start + len;
}

py_t *
py_text_like(const py_t *like, const char *text, size_t len)
{
    return py_part(like, text, len);
}

/* The part of a text between two optional indices; not `ok` if the first lies beyond the end. */
int
py_window(py_t *text, py_t *from, py_t *to, py_window_t *ret_w)
{
    int64_t start, end, len = py_is(text, PY_STR) ? (int64_t) py_str_count(text) : (int64_t) PY_LEN(text);

    if (py_slice_arg(from, 0, &start) < 0 || py_slice_arg(to, INT64_MAX, &end) < 0)
        return -1;
    py_slice_adjust(&start, &end, len);
    ret_w->ok = start <= end && start <= len;
    ret_w->first = (size_t) start;
    ret_w->start = ret_w->end = PY_TEXT(text) + PY_LEN(text);
    if (!ret_w->ok)
        return 0;
    bool bytes = py_is(text, PY_BYTES);
    ret_w->start = PY_TEXT(text) + (bytes ? (size_t) start : py_str_offset(text, (size_t) start));
    ret_w->end = PY_TEXT(text) + (bytes ? (size_t) end : py_str_offset(text, (size_t) end));
    return 0;
}

/* The part to search for: of the same type; bytes also accept a number. NEW, or NULL raised. */
static py_t *
needle(const py_t *self, py_t *v)
{
    int64_t n;

    if (py_type(v) == py_type(self))
        return py_ref(v);
    if (py_is(self, PY_STR))
        return py_raise(&py_TypeError, "must be str, not %s", py_type_name(v));
    if (!py_is_int(v))
        return py_raise(&py_TypeError, "argument should be integer or bytes-like object, not '%s'",
                        py_type_name(v));
    if (!py_to_int64(v, &n) || n < 0 || n > 255)
        return py_raise(&py_ValueError, "byte must be in range(0, 256)");
    const char c = (char) n;
    return py_bytes(&c, 1);
}

/* ---- find, index ------------------------------------------------------------------------------ */

/* memrmem() does not exist. */
static const char *
find_last(const char *start, const char *end, const char *part, size_t len)
{
    for (const char *p = end - len; (size_t) (end - start) >= len && p >= start; p--) {
        if (memcmp(p, part, len) == 0)
            return p;
    }
    return NULL;
}

/* Distance from a to b in code points, or in bytes for bytes and ASCII. */
static int64_t
distance(const py_t *text, const char *a, const char *b)
{
    int64_t n = 0;

    if (py_is(text, PY_BYTES) || py_str_count(text) == PY_LEN(text))
        return b - a;
    for (; a < b; a++)
        n += ((unsigned char) *a & 0xc0) != 0x80;
    return n;
}

/* methods_find() and index(): -1, or ValueError, if the part is not there. */
static py_t *
methods_find(py_t *self, py_t *const *slots, bool last, bool must)
{
    int64_t i;

    py_window_t w;

    if (py_window(self, slots[1], slots[2], &w) < 0)
        return NULL;
    AUTO(py) part = needle(self, slots[0]);
    if (part == NULL)
        return NULL;
    const char *found = NULL;
    if (w.ok)
        found = last ? find_last(w.start, w.end, PY_TEXT(part), PY_LEN(part))
                     : memmem(w.start, (size_t) (w.end - w.start), PY_TEXT(part), PY_LEN(part));
    i = found != NULL ? (int64_t) w.first + distance(self, w.start, found) : -1;

    if (i < 0 && must)
        return py_raise(&py_ValueError, py_is(self, PY_STR) ? "substring not found" : "subsection not found");
    return py_int(i);
}

METHOD_OF(m_str_find)
{
    return methods_find(self, slots, false, false);
}

METHOD_OF(m_str_rfind)
{
    return methods_find(self, slots, true, false);
}

METHOD_OF(m_str_index)
{
    return methods_find(self, slots, false, true);
}

METHOD_OF(m_str_rindex)
{
    return methods_find(self, slots, true, true);
}

/* An empty part is found before each character and at the end. */
METHOD_OF(m_str_count)
{
    py_window_t w;
    int64_t n = 0;

    if (py_window(self, slots[1], slots[2], &w) < 0)
        return NULL;
    AUTO(py) part = needle(self, slots[0]);
    if (part == NULL)
        return NULL;
    if (!w.ok)
        return py_int(0);
    if (PY_LEN(part) == 0)
        return py_int(distance(self, w.start, w.end) + 1);
    for (const char *p = w.start; (p = memmem(p, (size_t) (w.end - p), PY_TEXT(part), PY_LEN(part))) != NULL;
         n++)
        p += PY_LEN(part);
    return py_int(n);
}

/* ---- startswith, endswith -------------------------------------------------------------------- */

static bool
tail_is(const py_window_t *w, const py_t *part, bool at_end)
{
    size_t len = PY_LEN(part);

    if (!w->ok || (size_t) (w->end - w->start) < len)
        return false;
    return memcmp(at_end ? w->end - len : w->start, PY_TEXT(part), len) == 0;
}

/* startswith() and endswith(), which also accept a tuple of alternatives. */
static py_t *
tail_match(py_t *self, py_t *const *slots, bool at_end)
{
    const char *name = at_end ? "endswith" : "startswith", *type = py_is(self, PY_STR) ? "str" : "bytes";
    py_window_t w;

    if (py_window(self, slots[1], slots[2], &w) < 0)
        return NULL;
    if (py_type(slots[0]) == py_type(self))
        return py_bool(tail_is(&w, slots[0], at_end));
    if (!py_is(slots[0], PY_TUPLE))
        return py_raise(&py_TypeError, "%s first arg must be %s or a tuple of %s, not %s", name, type, type,
                        py_type_name(slots[0]));
    for (size_t i = 0; i < py_seq_len(slots[0]); i++) {
        py_t *part = py_seq_at(slots[0], i);
        if (py_type(part) != py_type(self))
            return py_raise(&py_TypeError, "tuple for %s must only contain %s, not %s", name, type,
                            py_type_name(part));
        if (tail_is(&w, part, at_end))
            return PY_True;
    }
    return PY_False;
}

METHOD_OF(m_str_startswith)
{
    return tail_match(self, slots, false);
}

METHOD_OF(m_str_endswith)
{
    return tail_match(self, slots, true);
}

static py_t *
affix(py_t *self, py_t *part, const char *name, bool at_end)
{
    if (!py_is(part, PY_STR))
        return py_raise(&py_TypeError, "%s() argument must be str, not %s", name, py_arg_name(part));

    /* Removes the part if the text begins, or ends, with it. */
    size_t n = PY_LEN(self), k = PY_LEN(part);
    py_window_t w = { PY_TEXT(self), PY_TEXT(self) + n, 0, true };
    if (!tail_is(&w, part, at_end))
        return py_part(self, PY_TEXT(self), n);
    return py_part(self, PY_TEXT(self) + (at_end ? 0 : k), n - k);
}

METHOD_OF(m_str_removeprefix)
{
    return affix(self, slots[0], "removeprefix", false);
}

METHOD_OF(m_str_removesuffix)
{
    return affix(self, slots[0], "removesuffix", true);
}

/* ---- replace ---------------------------------------------------------------------------------- */

/* Replaces the empty text, which matches before every character and at the end. */
static void
replace_gaps(buf_t *out, const py_t *self, const py_t *with, int64_t max)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);

    while (p < end) {
        uint32_t cp;
        size_t n = py_is(self, PY_STR) ? py_decode(p, &cp) : 1;
        if (max-- > 0)
            py_put(out, with);
        py_put_part(out, self, p, n);
        p += n;
    }
    if (max > 0)
        py_put(out, with);
}

/* Number of replacements, at most `max`, from which the size of the result follows. */
static int64_t
count_parts(const py_t *self, const py_t *part, int64_t max)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    int64_t n = 0;

    if (PY_LEN(part) == 0) {
        int64_t gaps = (py_is(self, PY_STR) ? (int64_t) py_str_count(self) : (int64_t) PY_LEN(self)) + 1;
        return gaps < max ? gaps : max;
    }
    while (n < max && (p = memmem(p, (size_t) (end - p), PY_TEXT(part), PY_LEN(part))) != NULL) {
        p += PY_LEN(part);
        n++;
    }
    return n;
}

static py_t *
methods_find_replace(py_t *self, const py_t *part, const py_t *with, int64_t max)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self), *found;
    int64_t n = count_parts(self, part, max < 0 ? INT64_MAX : max);

    if (n == 0)
        return py_text_like(self, PY_TEXT(self), PY_LEN(self));
    if (py_room(PY_LEN(self) + (size_t) n * PY_LEN(with)) < 0)
        return NULL;
    if (PY_LEN(part) == 0) {
        replace_gaps(&out, self, with, n);
        return py_text_buf(self, &out);
    }
    for (; n > 0 && (found = memmem(p, (size_t) (end - p), PY_TEXT(part), PY_LEN(part))) != NULL; n--) {
        py_put_part(&out, self, p, (size_t) (found - p));
        py_put(&out, with);
        p = found + PY_LEN(part);
    }
    py_put_part(&out, self, p, (size_t) (end - p));
    return py_text_buf(self, &out);
}

METHOD_OF(m_str_replace)
{
    int64_t max = -1;

    for (int i = 0; i < 2; i++) {
        if (py_type(slots[i]) == py_type(self))
            continue;
        if (py_is(self, PY_BYTES))
            return py_raise(&py_TypeError, "a bytes-like object is required, not '%s'",
                            py_type_name(slots[i]));
        return py_raise(&py_TypeError, "replace() argument %d must be str, not %s", i + 1,
                        py_arg_name(slots[i]));
    }
    if (slots[2] != NULL && py_index(slots[2], &max) < 0)
        return NULL;
    return methods_find_replace(self, slots[0], slots[1], max);
}

/* ---- partition -------------------------------------------------------------------------------- */

/* NEW tuple of three: before the part, the part, after it. */
static py_t *
partition(py_t *self, py_t *part, bool last)
{
    const char *start = PY_TEXT(self), *end = start + PY_LEN(self);

    AUTO(py) escaped = py_is_markup(self) ? py_escape(part) : NULL;
    if (escaped != NULL)
        part = escaped;
    if (!py_is(part, PY_STR))
        return py_raise(&py_TypeError, "must be str, not %s", py_type_name(part));
    size_t len = PY_LEN(part);
    if (len == 0)
        return py_raise(&py_ValueError, "empty separator");
    const char *found = last ? find_last(start, end, PY_TEXT(part), len)
                             : memmem(start, (size_t) (end - start), PY_TEXT(part), len);
    AUTO(py) whole = py_part(self, start, (size_t) (end - start));
    AUTO(py) none = py_str("", 0);
    if (found == NULL)
        return last ? py_tuple_of(3, none, none, whole) : py_tuple_of(3, whole, none, none);
    AUTO(py) before = py_part(self, start, (size_t) (found - start));
    AUTO(py) after = py_part(self, found + len, (size_t) (end - found) - len);
    AUTO(py) middle = py_part(self, found, len);
    return py_tuple_of(3, before, middle, after);
}

METHOD_OF(m_str_partition)
{
    return partition(self, slots[0], false);
}

METHOD_OF(m_str_rpartition)
{
    return partition(self, slots[0], true);
}
