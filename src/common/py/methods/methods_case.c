/* methods_case.c - str methods about case and classes of characters, by Unicode 14 (py_unicode.h). ASCII
 * texts take a fast path; their results keep marks byte for byte, others are marked by the caller. */
#include "common/base/utf8.h"
#include "common/py/methods/methods.h"
#include "common/py/py_unicode.h"

/* Greek sigma has a form of its own at the end of a word. */
enum { SIGMA = 0x3a3, FINAL_SIGMA = 0x3c2, SMALL_SIGMA = 0x3c3 };

static bool
is_ascii(const py_t *v)
{
    return py_str_count(v) == PY_LEN(v);
}

static char
ascii_upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char) (c - 'a' + 'A') : c;
}

static char
ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char) (c - 'A' + 'a') : c;
}

/* Copies the marks of `v` to `out` when both have the same byte positions, as for ASCII. */
static py_t *
same_marks(py_t *out, const py_t *v)
{
    spans_t spans = { .v = NULL };

    if (!PY_MARKED(v) || !is_ascii(v))
        return out;
    py_copy_spans(v, 0, &spans);
    py_set_spans(out, &spans);
    return out;
}

/* The quick way: one byte per character, and marks stay where they are. */
static py_t *
map_ascii(const py_t *v, char (*fn)(char))
{
    if (py_room(PY_LEN(v)) < 0)
        return NULL;
    py_t *out = py_str_raw(PY_LEN(v));

    for (size_t i = 0; i < PY_LEN(v); i++)
        PY_CHARS(out)[i] = fn(PY_TEXT(v)[i]);
    ((pystr_t *) out)->count = PY_LEN(v);
    return same_marks(out, v);
}

/* A character can become several. */
static void
put_case(buf_t *out, uint32_t cp, py_case_t to)
{
    uint32_t mapped[PY_CASE_MAX];
    int n = py_uni_case(cp, to, mapped);

    for (int i = 0; i < n; i++)
        py_put_char(out, mapped[i]);
}

/* True when the nearest character before (or after) that is not case-ignorable has case. */
static bool
cased_before(const char *start, const char *at)
{
    uint32_t cp;

    while (at > start) {
        do
            at--;
        while (((unsigned char) *at & 0xc0) == 0x80);
        py_decode(at, &cp);
        if (!py_uni_is(cp, PY_UNI_IGNORABLE))
            return py_uni_cased(cp);
    }
    return false;
}

static bool
cased_after(const char *at, const char *end)
{
    uint32_t cp;

    while (at < end) {
        at += py_decode(at, &cp);
        if (!py_uni_is(cp, PY_UNI_IGNORABLE))
            return py_uni_cased(cp);
    }
    return false;
}

/* Lower case; a capital sigma becomes a final one at the end of a word (Unicode's Final_Sigma). */
static void
put_lower(buf_t *out, const py_t *v, const char *at, size_t n, uint32_t cp)
{
    const char *start = PY_TEXT(v), *end = start + PY_LEN(v);

    if (cp != SIGMA)
        put_case(out, cp, PY_TO_LOWER);
    else
        py_put_char(out, cased_before(start, at) && !cased_after(at + n, end) ? FINAL_SIGMA : SMALL_SIGMA);
}

/* Lower case of a sigma depends on its neighbours, hence put_lower(). */
static py_t *
map_all(const py_t *v, py_case_t to)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(v), *end = p + PY_LEN(v);

    for (uint32_t cp; p < end;) {
        size_t n = py_decode(p, &cp);
        if (to == PY_TO_LOWER)
            put_lower(&out, v, p, n, cp);
        else
            put_case(&out, cp, to);
        p += n;
    }
    return py_str_buf(&out);
}

METHOD_OF(m_str_upper)
{
    return is_ascii(self) ? map_ascii(self, ascii_upper) : map_all(self, PY_TO_UPPER);
}

METHOD_OF(m_str_lower)
{
    return is_ascii(self) ? map_ascii(self, ascii_lower) : map_all(self, PY_TO_LOWER);
}

METHOD_OF(m_str_casefold)
{
    return is_ascii(self) ? map_ascii(self, ascii_lower) : map_all(self, PY_TO_FOLDED);
}

METHOD_OF(m_str_swapcase)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);

    for (uint32_t cp; p < end;) {
        size_t n = py_decode(p, &cp);
        if (py_uni_is(cp, PY_UNI_UPPER))
            put_lower(&out, self, p, n, cp);
        else if (py_uni_is(cp, PY_UNI_LOWER))
            put_case(&out, cp, PY_TO_UPPER);
        else
            py_put_char(&out, cp);
        p += n;
    }
    return same_marks(py_str_buf(&out), self);
}

METHOD_OF(m_str_capitalize)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);

    for (uint32_t cp; p < end;) {
        size_t n = py_decode(p, &cp);
        if (p == PY_TEXT(self))
            put_case(&out, cp, PY_TO_TITLE);
        else
            put_lower(&out, self, p, n, cp);
        p += n;
    }
    return same_marks(py_str_buf(&out), self);
}

/* A letter that follows a cased character is within a word. */
METHOD_OF(m_str_title)
{
    buf_auto_t out = BUF_INIT;
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    bool within = false;

    for (uint32_t cp; p < end;) {
        size_t n = py_decode(p, &cp);
        if (within)
            put_lower(&out, self, p, n, cp);
        else
            put_case(&out, cp, PY_TO_TITLE);
        within = py_uni_cased(cp);
        p += n;
    }
    return same_marks(py_str_buf(&out), self);
}

/* ---- questions ------------------------------------------------------------------------------- */

typedef bool cp_fn(uint32_t cp);

/* True when the text is not empty and every character satisfies `fn`. */
static py_t *
all_are(const py_t *v, cp_fn *fn)
{
    const char *p = PY_TEXT(v), *end = p + PY_LEN(v);

    for (uint32_t cp; p < end;) {
        p += py_decode(p, &cp);
        if (!fn(cp))
            return PY_False;
    }
    return py_bool(PY_LEN(v) > 0);
}

static bool
is_alpha(uint32_t cp)
{
    return py_uni_is(cp, PY_UNI_ALPHA);
}

static bool
is_decimal(uint32_t cp)
{
    return py_uni_is(cp, PY_UNI_DECIMAL);
}

static bool
methods_case_is_digit(uint32_t cp)
{
    return py_uni_is(cp, PY_UNI_DIGIT);
}

static bool
is_numeric(uint32_t cp)
{
    return py_uni_is(cp, PY_UNI_NUMERIC);
}

static bool
is_alnum(uint32_t cp)
{
    return is_alpha(cp) || is_numeric(cp);
}

static bool
methods_case_is_space(uint32_t cp)
{
    return py_uni_is(cp, PY_UNI_SPACE);
}

METHOD_OF(m_str_isalpha)
{
    return all_are(self, is_alpha);
}

METHOD_OF(m_str_isalnum)
{
    return all_are(self, is_alnum);
}

METHOD_OF(m_str_isdecimal)
{
    return all_are(self, is_decimal);
}

METHOD_OF(m_str_isdigit)
{
    return all_are(self, methods_case_is_digit);
}

METHOD_OF(m_str_isnumeric)
{
    return all_are(self, is_numeric);
}

METHOD_OF(m_str_isspace)
{
    return all_are(self, methods_case_is_space);
}

METHOD_OF(m_str_isprintable)
{
    return PY_LEN(self) == 0 ? PY_True : all_are(self, utf8_printable);
}

METHOD_OF(m_str_isascii)
{
    return py_bool(is_ascii(self));
}

METHOD_OF(m_str_isidentifier)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);

    for (uint32_t cp; p < end;) {
        bool first = p == PY_TEXT(self);
        p += py_decode(p, &cp);
        if (!py_uni_is(cp, first ? PY_UNI_ID_START : PY_UNI_ID_MORE))
            return PY_False;
    }
    return py_bool(PY_LEN(self) > 0);
}

/* True when a character has the wanted case and none another. */
static py_t *
only_case(const py_t *v, py_uni_t wanted, py_uni_t other)
{
    const char *p = PY_TEXT(v), *end = p + PY_LEN(v);
    bool seen = false;

    for (uint32_t cp; p < end;) {
        p += py_decode(p, &cp);
        if (py_uni_is(cp, other) || py_uni_is(cp, PY_UNI_TITLE))
            return PY_False;
        seen = seen || py_uni_is(cp, wanted);
    }
    return py_bool(seen);
}

METHOD_OF(m_str_islower)
{
    return only_case(self, PY_UNI_LOWER, PY_UNI_UPPER);
}

METHOD_OF(m_str_isupper)
{
    return only_case(self, PY_UNI_UPPER, PY_UNI_LOWER);
}

/* Capitals may only begin a word, small letters only continue one. */
METHOD_OF(m_str_istitle)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    bool seen = false, within = false;

    for (uint32_t cp; p < end;) {
        p += py_decode(p, &cp);
        bool capital = py_uni_is(cp, PY_UNI_UPPER) || py_uni_is(cp, PY_UNI_TITLE);
        bool small = !capital && py_uni_is(cp, PY_UNI_LOWER);
        if ((capital && within) || (small && !within))
            return PY_False;
        within = capital || small;
        seen = seen || within;
    }
    return py_bool(seen);
}
