/* py_json_loads.c - json.loads: a recursive descent parser with the messages and positions of Python's
 * JSONDecodeError. Accepts NaN and Infinity, as Python does. Recursion counts levels. */
#include <math.h>

#include "common/base/jsonscan.h"
#include "common/py/py_json.h"
#include "common/py/py_obj.h"

const py_exc_t py_JSONDecodeError = { "JSONDecodeError", &py_ValueError };

typedef struct reader {
    const char *start, *p, *end;
} reader_t;

static py_t *read_value(reader_t *r);

/* Raises JSONDecodeError with line, column and character: "Expecting value: line 1 column 1 (char 0)". NULL.
 */
static void *
py_json_loads_bad(const reader_t *r, const char *at, const char *what)
{
    size_t chars = 0, line = 1, column = 1;

    for (const char *p = r->start; p < at; p++) {
        if (((unsigned char) *p & 0xc0) == 0x80)
            continue;
        chars++;
        column++;
        if (*p == '\n') {
            line++;
            column = 1;
        }
    }
    return py_raise(&py_JSONDecodeError, "%s: line %zu column %zu (char %zu)", what, line, column, chars);
}

static void
py_json_loads_skip_space(reader_t *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

/* Skips `c` if it comes next. */
static bool
py_json_loads_take(reader_t *r, char c)
{
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

/* ---- strings ---------------------------------------------------------------------------------- */

static int
read_escape(reader_t *r, buf_t *out)
{
    const char *at = r->p - 1;
    char plain = r->p < r->end ? scan_escaped(*r->p) : '\0';

    if (py_json_loads_take(r, 'u')) {
        /* Reads the digits after "\u". */
        uint32_t cp;
        if (!scan_unicode(&r->p, r->end, &cp)) {
            py_json_loads_bad(r, r->p - 1, "Invalid \\uXXXX escape");
            return -1;
        }
        py_put_char(out, cp);
        return 0;
    }
    if (plain == '\0') {
        py_json_loads_bad(r, at, "Invalid \\escape");
        return -1;
    }
    buf_putc(out, plain);
    r->p++;
    return 0;
}

/* Reads a string after its opening quote. NEW. */
static py_t *
read_string(reader_t *r)
{
    const char *start = r->p - 1;
    buf_auto_t out = BUF_INIT;

    for (;;) {
        const char *plain = r->p;
        while (r->p < r->end && *r->p != '"' && *r->p != '\\' && (unsigned char) *r->p >= 0x20)
            r->p++;
        buf_add(&out, plain, (size_t) (r->p - plain));
        if (r->p == r->end)
            return py_json_loads_bad(r, start, "Unterminated string starting at");
        char c = *r->p++;
        if (c == '"')
            return py_str_buf(&out);
        if (c != '\\')
            return py_json_loads_bad(r, r->p - 1, "Invalid control character at");
        if (r->p == r->end)
            return py_json_loads_bad(r, start, "Unterminated string starting at");
        if (read_escape(r, &out) < 0)
            return NULL;
    }
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static const char *
py_json_loads_digits(const reader_t *r, const char *p)
{
    while (p < r->end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Reads a number. NEW; NULL without raising when none is here. */
static py_t *
py_json_loads_read_number(reader_t *r)
{
    const char *start = r->p, *p = start;
    bool is_float = false;

    if (p < r->end && *p == '-')
        p++;
    const char *whole = p;
    p = p < r->end && *p == '0' ? p + 1 : py_json_loads_digits(r, p);
    if (p == whole)
        return NULL;
    if (p + 1 < r->end && *p == '.' && py_json_loads_digits(r, p + 1) > p + 1) {
        p = py_json_loads_digits(r, p + 1);
        is_float = true;
    }
    if (p < r->end && (*p | 0x20) == 'e') {
        const char *exponent = p + 1;
        if (exponent < r->end && (*exponent == '+' || *exponent == '-'))
            exponent++;
        if (py_json_loads_digits(r, exponent) > exponent) {
            p = py_json_loads_digits(r, exponent);
            is_float = true;
        }
    }
    r->p = p;
    AUTO(py) text = py_str(start, (size_t) (p - start));
    return is_float ? py_tofloat(text) : py_toint(text, 10);
}

/* Words of JSON, and NaN and the infinities as Python reads them; anything else must be a number. */
static py_t *
read_word(reader_t *r)
{
    static const struct {
        const char *word;
        enum { NULL_WORD, TRUE_WORD, FALSE_WORD, NAN_WORD, INFINITY_WORD, MINUS_WORD } value;
    } words[] = { { "null", NULL_WORD }, { "true", TRUE_WORD },         { "false", FALSE_WORD },
                  { "NaN", NAN_WORD },   { "Infinity", INFINITY_WORD }, { "-Infinity", MINUS_WORD } };

    for (size_t i = 0; i < NELEMS(words); i++) {
        size_t n = strlen(words[i].word);
        if ((size_t) (r->end - r->p) < n || memcmp(r->p, words[i].word, n) != 0)
            continue;
        r->p += n;
        switch (words[i].value) {
        case NULL_WORD:
            return PY_None;
        case TRUE_WORD:
            return PY_True;
        case FALSE_WORD:
            return PY_False;
        case NAN_WORD:
            return py_float(NAN);
        case INFINITY_WORD:
            return py_float(HUGE_VAL);
        case MINUS_WORD:
            return py_float(-HUGE_VAL);
        }
    }
    py_t *number = py_json_loads_read_number(r);
    if (number != NULL || py_raised() != NULL)
        return number;
    return py_json_loads_bad(r, r->p, "Expecting value");
}

/* ---- containers ------------------------------------------------------------------------------- */

static const char no_key[] = "Expecting property name enclosed in double quotes";

/* "key": value. 0 or -1 raised. */
static int
read_member(reader_t *r, py_t *dict)
{
    if (!py_json_loads_take(r, '"')) {
        py_json_loads_bad(r, r->p, no_key);
        return -1;
    }
    AUTO(py) key = read_string(r);
    if (key == NULL)
        return -1;
    py_json_loads_skip_space(r);
    if (!py_json_loads_take(r, ':')) {
        py_json_loads_bad(r, r->p, "Expecting ':' delimiter");
        return -1;
    }
    py_json_loads_skip_space(r);
    AUTO(py) value = read_value(r);
    return value != NULL ? py_dict_set(dict, key, value) : -1;
}

static py_t *
read_object(reader_t *r)
{
    AUTO(py) dict = py_dict();

    py_json_loads_skip_space(r);
    if (py_json_loads_take(r, '}'))
        return STEAL(dict);
    for (;;) {
        if (read_member(r, dict) < 0)
            return NULL;
        py_json_loads_skip_space(r);
        if (py_json_loads_take(r, '}'))
            return STEAL(dict);
        if (!py_json_loads_take(r, ','))
            return py_json_loads_bad(r, r->p, "Expecting ',' delimiter");
        py_json_loads_skip_space(r);
    }
}

static py_t *
read_array(reader_t *r)
{
    AUTO(py) list = py_list();

    py_json_loads_skip_space(r);
    if (py_json_loads_take(r, ']'))
        return STEAL(list);
    for (;;) {
        py_t *v = read_value(r);
        if (v == NULL)
            return NULL;
        py_append_new(list, v);
        py_json_loads_skip_space(r);
        if (py_json_loads_take(r, ']'))
            return STEAL(list);
        if (!py_json_loads_take(r, ','))
            return py_json_loads_bad(r, r->p, "Expecting ',' delimiter");
        py_json_loads_skip_space(r);
    }
}

static py_t *
read_value(reader_t *r)
{
    py_t *v;

    if (r->p == r->end || py_tick() < 0)
        return py_raised() != NULL ? NULL : py_json_loads_bad(r, r->p, "Expecting value");
    if (py_json_loads_take(r, '"'))
        return read_string(r);
    if (*r->p != '{' && *r->p != '[')
        return read_word(r);
    if (py_enter() < 0)
        return NULL;
    v = *r->p++ == '{' ? read_object(r) : read_array(r);
    py_leave();
    return v;
}

py_t *
py_json_loads(const char *text, size_t len)
{
    reader_t r = { text, text, text + len };

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return py_json_loads_bad(&r, text, "Unexpected UTF-8 BOM (decode using utf-8-sig)");
    py_json_loads_skip_space(&r);
    AUTO(py) v = read_value(&r);
    if (v == NULL)
        return NULL;
    py_json_loads_skip_space(&r);
    if (r.p < r.end)
        return py_json_loads_bad(&r, r.p, "Extra data");
    return STEAL(v);
}
