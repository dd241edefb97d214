/* methods_split.c - methods of str and bytes that cut and join: strip, split, splitlines, join. Parts keep
 * the marks of their text; the number of parts is bounded by memory and steps. */
#include "common/py/methods/methods.h"
#include "common/py/py_as.h"
#include "common/py/py_unicode.h"

/* ---- strip ------------------------------------------------------------------------------------ */

typedef struct text {
    const char *start, *end;
} text_t;

/* True if a space stands at `p`, and the length of the character there. Bytes know ASCII's spaces only. */
static bool
space_at(const py_t *v, const char *p, size_t *ret_n)
{
    uint32_t cp = (unsigned char) *p;

    *ret_n = py_is(v, PY_STR) ? py_decode(p, &cp) : 1;
    if (py_is(v, PY_BYTES))
        return cp == ' ' || (cp >= '\t' && cp <= '\r');
    return py_uni_is(cp, PY_UNI_SPACE);
}

/* True when the character at `p` is among `chars`, or white space for NULL. */
static bool
strips(const py_t *v, const py_t *chars, const char *p, size_t *ret_n)
{
    if (chars == NULL)
        return space_at(v, p, ret_n);
    uint32_t cp;
    *ret_n = py_is(v, PY_STR) ? py_decode(p, &cp) : 1;
    return memmem(PY_TEXT(chars), PY_LEN(chars), p, *ret_n) != NULL;
}

/* Start of the character before `p`. */
static const char *
step_back(const py_t *v, const char *start, const char *p)
{
    do
        p--;
    while (py_is(v, PY_STR) && p > start && ((unsigned char) *p & 0xc0) == 0x80);
    return p;
}

/* strip(), lstrip() and rstrip(); `chars` is a set of characters, spaces if NULL or None. */
static py_t *
strip(py_t *self, py_t *chars, bool left, bool right, const char *name)
{
    text_t t = { PY_TEXT(self), PY_TEXT(self) + PY_LEN(self) };
    size_t n;

    if (chars != NULL && py_is(chars, PY_NONE))
        chars = NULL;
    if (chars != NULL && py_type(chars) != py_type(self)) {
        if (py_is(self, PY_BYTES))
            return py_raise(&py_TypeError, "a bytes-like object is required, not '%s'", py_type_name(chars));
        return py_raise(&py_TypeError, "%s arg must be None or str", name);
    }
    while (left && t.start < t.end && strips(self, chars, t.start, &n))
        t.start += n;
    while (right && t.end > t.start) {
        const char *p = step_back(self, t.start, t.end);
        if (!strips(self, chars, p, &n))
            break;
        t.end = p;
    }
    if ((size_t) (t.end - t.start) == PY_LEN(self) && !py_is_markup(self))
        return py_ref(self);
    return py_text_like(self, t.start, (size_t) (t.end - t.start));
}

METHOD_OF(m_str_strip)
{
    return strip(self, slots[0], true, true, "strip");
}

METHOD_OF(m_str_lstrip)
{
    return strip(self, slots[0], true, false, "lstrip");
}

METHOD_OF(m_str_rstrip)
{
    return strip(self, slots[0], false, true, "rstrip");
}

/* ---- split ------------------------------------------------------------------------------------ */

/* Appends a part to a list. 0, or -1 raised. */
static int
put_part(py_t *list, const py_t *self, const char *start, const char *end)
{
    py_append_new(list, py_text_like(self, start, (size_t) (end - start)));
    return py_tick();
}

/* Splits at runs of spaces; leading and trailing ones make no empty parts. */
static py_t *
split_spaces(py_t *self, int64_t max)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    AUTO(py) list = py_list();
    size_t n;

    for (;;) {
        while (p < end && space_at(self, p, &n))
            p += n;
        if (p == end)
            return STEAL(list);
        const char *start = p;
        if (max-- == 0) /* the rest unchanged */
            return put_part(list, self, start, end) < 0 ? NULL : STEAL(list);
        while (p < end && !space_at(self, p, &n))
            p += n;
        if (put_part(list, self, start, p) < 0)
            return NULL;
    }
}

/* Splits at a separator, at most `max` times; a negative number means always. */
static py_t *
split_at(py_t *self, const py_t *sep, int64_t max)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self), *found;
    AUTO(py) list = py_list();

    while (max-- != 0 && (found = memmem(p, (size_t) (end - p), PY_TEXT(sep), PY_LEN(sep))) != NULL) {
        if (put_part(list, self, p, found) < 0)
            return NULL;
        p = found + PY_LEN(sep);
    }
    return put_part(list, self, p, end) < 0 ? NULL : STEAL(list);
}

static void
methods_split_reverse(py_t *list)
{
    pylist_t *l = py_as_list(list);

    for (size_t i = 0; i < l->n / 2; i++) {
        py_t *t = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = t;
    }
}

/* Collects parts from the end, then reverses them. */
static py_t *
rsplit_spaces(py_t *self, int64_t max)
{
    const char *start = PY_TEXT(self), *p = start + PY_LEN(self);
    AUTO(py) list = py_list();
    size_t n;

    for (;;) {
        while (p > start && space_at(self, step_back(self, start, p), &n))
            p = step_back(self, start, p);
        if (p == start)
            break;
        const char *end = p;
        bool last = max-- == 0;
        while (!last && p > start && !space_at(self, step_back(self, start, p), &n))
            p = step_back(self, start, p);
        if (put_part(list, self, last ? start : p, end) < 0)
            return NULL;
        if (last)
            break;
    }
    methods_split_reverse(list);
    return STEAL(list);
}

/* From the end, so that `max` counts from there; the parts are collected in reverse. */
static py_t *
rsplit_at(py_t *self, const py_t *sep, int64_t max)
{
    const char *start = PY_TEXT(self), *end = start + PY_LEN(self);
    size_t len = PY_LEN(sep);
    AUTO(py) list = py_list();

    for (const char *p = end; max != 0 && (size_t) (p - start) >= len;) {
        if (memcmp(p - len, PY_TEXT(sep), len) != 0) {
            p--;
            continue;
        }
        if (put_part(list, self, p, end) < 0)
            return NULL;
        p -= len;
        end = p;
        max--;
    }
    if (put_part(list, self, start, end) < 0)
        return NULL;
    methods_split_reverse(list);
    return STEAL(list);
}

/* methods_split() and rsplit(). */
static py_t *
methods_split(py_t *self, py_t *const *slots, bool from_end)
{
    int64_t max = -1;
    py_t *sep = slots[0] != NULL && !py_is(slots[0], PY_NONE) ? slots[0] : NULL;

    if (slots[1] != NULL && py_index(slots[1], &max) < 0)
        return NULL;
    if (py_room(PY_LEN(self) * sizeof(void *)) < 0)
        return NULL;
    if (sep == NULL)
        return from_end ? rsplit_spaces(self, max) : split_spaces(self, max);
    if (py_type(sep) != py_type(self))
        return py_is(self, PY_STR)
                   ? py_raise(&py_TypeError, "must be str or None, not %s", py_type_name(sep))
                   : py_raise(&py_TypeError, "a bytes-like object is required, not '%s'", py_type_name(sep));
    if (PY_LEN(sep) == 0)
        return py_raise(&py_ValueError, "empty separator");
    return from_end ? rsplit_at(self, sep, max) : split_at(self, sep, max);
}

METHOD_OF(m_str_split)
{
    return methods_split(self, slots, false);
}

METHOD_OF(m_str_rsplit)
{
    return methods_split(self, slots, true);
}

/* ---- splitlines ------------------------------------------------------------------------------- */

/* Bytes of the line break at `p`, or 0. */
static size_t
break_at(const char *p, const char *end)
{
    uint32_t cp;
    size_t n = py_decode(p, &cp);

    if (cp == '\r')
        return p + 1 < end && p[1] == '\n' ? 2 : 1;
    bool is_break = (cp >= '\n' && cp <= '\f') || (cp >= 0x1c && cp <= 0x1e) || cp == 0x85 || cp == 0x2028 ||
                    cp == 0x2029;
    return is_break ? n : 0;
}

METHOD_OF(m_str_splitlines)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self), *start = p;
    bool keep = false;

    if (py_flag_arg(slots[0], &keep) < 0)
        return NULL;
    AUTO(py) list = py_list();
    while (p < end) {
        size_t n = break_at(p, end);
        uint32_t cp;
        if (n == 0) {
            p += py_decode(p, &cp);
            continue;
        }
        if (put_part(list, self, start, keep ? p + n : p) < 0)
            return NULL;
        p += n;
        start = p;
    }
    return start < end && put_part(list, self, start, end) < 0 ? NULL : STEAL(list);
}

/* ---- join ------------------------------------------------------------------------------------- */

static char *
put_piece(py_t *out, char *at, const py_t *v, spans_t *spans)
{
    if (PY_MARKED(v))
        py_copy_spans(v, (size_t) (at - PY_TEXT(out)), spans);
    return mempcpy(at, PY_TEXT(v), PY_LEN(v));
}

/* The size is known before the text is made, so that it is allocated once. */
static py_t *
methods_split_join_items(const py_t *sep, const py_t *items)
{
    size_t n = py_seq_len(items), total = 0;

    for (size_t i = 0; i < n; i++) {
        const py_t *item = py_seq_at(items, i);
        if (!py_is(item, PY_STR))
            return py_raise(&py_TypeError, "sequence item %zu: expected str instance, %s found", i,
                            py_type_name(item));
        total += PY_LEN(item) + (i > 0 ? PY_LEN(sep) : 0);
        if (py_room(total) < 0)
            return NULL;
    }
    py_t *out = py_str_raw(total);
    spans_t spans = { .v = NULL };
    char *p = PY_CHARS(out);
    for (size_t i = 0; i < n; i++) {
        const py_t *item = py_seq_at(items, i);
        if (i > 0)
            p = put_piece(out, p, sep, &spans);
        p = put_piece(out, p, item, &spans);
    }
    if (spans.n > 0)
        py_set_spans(out, &spans);
    return out;
}

/* Markup's join escapes the items first. */
static py_t *
escaped_items(const py_t *items)
{
    AUTO(py) list = py_list();

    for (size_t i = 0; i < py_seq_len(items); i++) {
        py_t *item = py_escape(py_seq_at(items, i));
        if (item == NULL)
            return NULL;
        py_append_new(list, item);
    }
    return STEAL(list);
}

/* Markup escapes the items. */
METHOD_OF(m_str_join)
{
    py_t *v = slots[0];

    if (!py_iterable(v))
        return py_is_markup(self) ? py_raise(&py_TypeError, "'%s' object is not iterable", py_type_name(v))
                                  : py_raise(&py_TypeError, "can only join an iterable");
    AUTO(py) items = py_is(v, PY_LIST) || py_is(v, PY_TUPLE) ? py_ref(v) : py_tolist(v);
    if (items != NULL && py_is_markup(self)) {
        py_t *escaped = escaped_items(items);
        py_unref(items);
        items = escaped;
    }
    return items != NULL ? methods_split_join_items(self, items) : NULL;
}
