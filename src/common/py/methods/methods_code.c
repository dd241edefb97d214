/* methods_code.c - str.encode, bytes.decode, str.translate and str.maketrans, for UTF-8, ASCII and Latin-1
 * with CPython's error handlers and messages. */
#include "common/base/utf8.h"
#include "common/py/methods/methods.h"

typedef enum codec { UTF_8, ASCII, LATIN_1, NO_CODEC } codec_t;

/* Names as CPython normalises them: lower case, '-' and ' ' as '_'. */
static const struct {
    const char *name;
    codec_t codec;
} codecs[] = {
    { "utf_8", UTF_8 },        { "utf8", UTF_8 },        { "u8", UTF_8 },        { "ascii", ASCII },
    { "us_ascii", ASCII },     { "646", ASCII },         { "latin_1", LATIN_1 }, { "latin1", LATIN_1 },
    { "iso_8859_1", LATIN_1 }, { "iso8859_1", LATIN_1 }, { "8859", LATIN_1 },    { "l1", LATIN_1 },
};

/* Python's normalization of names: "UTF-8", "utf 8" and "utf_8" are the same. */
static codec_t
codec_named(const py_t *name)
{
    char text[16];

    if (name == NULL)
        return UTF_8;
    if (PY_LEN(name) >= sizeof(text))
        return NO_CODEC;
    for (size_t i = 0; i <= PY_LEN(name); i++) {
        char c = PY_TEXT(name)[i];
        text[i] = c == '-' || c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? (char) (c | 0x20) : c;
    }
    for (size_t i = 0; i < NELEMS(codecs); i++) {
        if (strcmp(codecs[i].name, text) == 0)
            return codecs[i].codec;
    }
    return NO_CODEC;
}

/* encoding and errors: 0 or -1 raised. */
static int
codec_args(py_t *const *slots, const char *method, codec_t *ret_codec, const char **ret_errors)
{
    static const char *const names[] = { "encoding", "errors" };

    for (int i = 0; i < 2; i++) {
        if (slots[i] != NULL && !py_is(slots[i], PY_STR))
            return py_raise_int(&py_TypeError, "%s() argument '%s' must be str, not %s", method, names[i],
                                py_arg_name(slots[i]));
    }
    *ret_codec = codec_named(slots[0]);
    *ret_errors = slots[1] != NULL ? PY_TEXT(slots[1]) : "strict";
    if (*ret_codec == NO_CODEC)
        return py_raise_int(&py_LookupError, "unknown encoding: %s", PY_TEXT(slots[0]));
    return 0;
}

/* ---- encode ----------------------------------------------------------------------------------- */

static const char *const codec_names[] = { "utf-8", "ascii", "latin-1" };

/* True if the codec can encode the character. */
static bool
methods_code_fits(codec_t codec, uint32_t cp)
{
    switch (codec) {
    case UTF_8:
        return cp < 0xd800 || cp > 0xdfff;
    case ASCII:
        return cp < 0x80;
    default:
        return cp < 0x100;
    }
}

static void
methods_code_put_escape(buf_t *out, uint32_t cp)
{
    buf_printf(out, cp <= 0xff ? "\\x%02x" : cp <= 0xffff ? "\\u%04x" : "\\U%08x", cp);
}

/* Names the character, or only the positions if several in a row do not fit. */
static int
encode_error(codec_t codec, uint32_t cp, size_t index, size_t count)
{
    static const char *const reasons[] = { "surrogates not allowed", "ordinal not in range(128)",
                                           "ordinal not in range(256)" };
    buf_auto_t shown = BUF_INIT;

    methods_code_put_escape(&shown, cp);
    if (count == 1)
        return py_raise_int(&py_UnicodeEncodeError,
                            "'%s' codec can't encode character '%s' in position %zu: %s", codec_names[codec],
                            buf_str(&shown), index, reasons[codec]);
    return py_raise_int(&py_UnicodeEncodeError, "'%s' codec can't encode characters in position %zu-%zu: %s",
                        codec_names[codec], index, index + count - 1, reasons[codec]);
}

/* Writes the replacement of a character that does not fit, by the error handler. 0, or -1 raised. */
static int
encode_misfit(buf_t *out, uint32_t cp, const char *errors)
{
    if (strcmp(errors, "ignore") == 0)
        return 0;
    if (strcmp(errors, "replace") == 0)
        buf_putc(out, '?');
    else if (strcmp(errors, "xmlcharrefreplace") == 0)
        buf_printf(out, "&#%u;", cp);
    else if (strcmp(errors, "backslashreplace") == 0)
        methods_code_put_escape(out, cp);
    else
        return py_raise_int(&py_LookupError, "unknown error handler name '%s'", errors);
    return 0;
}

/* Number of characters from `p` on that do not fit, for the message. */
static size_t
misfits(codec_t codec, const char *p, const char *end)
{
    size_t n = 0;
    uint32_t cp;

    while (p < end) {
        p += py_decode(p, &cp);
        if (methods_code_fits(codec, cp))
            break;
        n++;
    }
    return n;
}

METHOD_OF(m_str_encode)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self), *errors;
    buf_auto_t out = BUF_INIT;
    codec_t codec;

    if (codec_args(slots, "encode", &codec, &errors) < 0)
        return NULL;
    for (size_t index = 0; p < end; index++) {
        uint32_t cp;
        size_t n = py_decode(p, &cp);
        if (!methods_code_fits(codec, cp)) {
            int rc = strcmp(errors, "strict") == 0 ? encode_error(codec, cp, index, misfits(codec, p, end))
                                                   : encode_misfit(&out, cp, errors);
            if (rc < 0)
                return NULL;
        } else if (codec == UTF_8) {
            buf_add(&out, p, n);
        } else {
            buf_putc(&out, (char) cp);
        }
        p += n;
    }
    return py_bytes(buf_str(&out), out.len);
}

/* ---- decode ----------------------------------------------------------------------------------- */

/* Length of the invalid UTF-8 sequence at `p`, by CPython's maximal-subpart rule, and the reason. */
static size_t
bad_utf8(const unsigned char *p, size_t left, const char **ret_why)
{
    size_t need = p[0] >= 0xc2 && p[0] <= 0xdf   ? 2
                  : p[0] >= 0xe0 && p[0] <= 0xef ? 3
                  : p[0] >= 0xf0 && p[0] <= 0xf4 ? 4
                                                 : 0;

    *ret_why = "invalid start byte";
    if (need == 0)
        return 1;
    for (size_t i = 1; i < need; i++) {
        unsigned char low = 0x80, high = 0xbf;
        if (i == 1) { /* the second byte rules out overlong forms and surrogates */
            low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
            high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
        }
        if (i >= left) {
            *ret_why = "unexpected end of data";
            return i;
        }
        if (p[i] < low || p[i] > high) {
            *ret_why = "invalid continuation byte";
            return i;
        }
    }
    return 1;
}

static int
decode_error(codec_t codec, const unsigned char *p, size_t index, size_t n, const char *why)
{
    if (n == 1)
        return py_raise_int(&py_UnicodeDecodeError, "'%s' codec can't decode byte 0x%02x in position %zu: %s",
                            codec_names[codec], *p, index, why);
    return py_raise_int(&py_UnicodeDecodeError, "'%s' codec can't decode bytes in position %zu-%zu: %s",
                        codec_names[codec], index, index + n - 1, why);
}

/* Applies the handler `errors` to bytes that are not characters. 0, or -1 raised. */
static int
decode_misfit(buf_t *out, const unsigned char *p, size_t n, const char *errors)
{
    if (strcmp(errors, "ignore") == 0)
        return 0;
    if (strcmp(errors, "replace") == 0) {
        py_put_char(out, 0xfffd);
        return 0;
    }
    if (strcmp(errors, "backslashreplace") != 0)
        return py_raise_int(&py_LookupError, "unknown error handler name '%s'", errors);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "\\x%02x", p[i]);
    return 0;
}

static int
methods_code_decode(buf_t *out, const py_t *self, codec_t codec, const char *errors)
{
    const char *bytes = PY_TEXT(self);
    size_t len = PY_LEN(self);

    for (size_t i = 0, n; i < len; i += n) {
        const unsigned char *p = (const unsigned char *) bytes + i;
        const char *why = "ordinal not in range(128)";
        uint32_t cp = *p;
        n = codec == UTF_8 ? utf8_next(bytes + i, len - i, &cp) : codec == LATIN_1 || cp < 0x80;
        if (n > 0) {
            py_put_char(out, cp);
            continue;
        }
        n = codec == UTF_8 ? bad_utf8(p, len - i, &why) : 1;
        int rc = strcmp(errors, "strict") == 0 ? decode_error(codec, p, i, n, why)
                                               : decode_misfit(out, p, n, errors);
        if (rc < 0)
            return -1;
    }
    return 0;
}

METHOD_OF(m_bytes_decode)
{
    buf_auto_t out = BUF_INIT;
    const char *errors;
    codec_t codec;

    if (codec_args(slots, "decode", &codec, &errors) < 0 ||
        methods_code_decode(&out, self, codec, errors) < 0)
        return NULL;
    return py_str_buf(&out);
}

/* ---- translate -------------------------------------------------------------------------------- */

/* Writes the table's replacement of a character: a number, text, nothing, or itself. 0, or -1 raised. */
static int
translate_char(buf_t *out, py_t *table, uint32_t cp)
{
    AUTO(py) key = py_int((int64_t) cp);
    AUTO(py) to = py_getitem(table, key);
    int64_t n;

    if (to == NULL) {
        if (!py_raised_is(&py_LookupError))
            return -1;
        py_clear();
        py_put_char(out, cp);
        return 0;
    }
    if (py_is(to, PY_NONE))
        return 0;
    if (py_is(to, PY_STR))
        return py_str_to(out, to);
    if (!py_is_int(to))
        return py_raise_int(&py_TypeError, "character mapping must return integer, None or str");
    if (!py_to_int64(to, &n) || n < 0 || n > 0x10ffff)
        return py_raise_int(&py_ValueError, "character mapping must be in range(0x110000)");
    py_put_char(out, (uint32_t) n);
    return 0;
}

METHOD_OF(m_str_translate)
{
    const char *p = PY_TEXT(self), *end = p + PY_LEN(self);
    buf_auto_t out = BUF_INIT;

    for (uint32_t cp; p < end;) {
        p += py_decode(p, &cp);
        if (translate_char(&out, slots[0], cp) < 0 || py_room(out.len) < 0)
            return NULL;
    }
    py_put_made(&out, 0); /* numbers in the table can produce any text */
    return py_str_buf(&out);
}

/* str.maketrans(dict): keys become numbers. */
static py_t *
maketrans_dict(py_t *from)
{
    AUTO(py) table = py_dict();
    py_t *key, *value;

    if (!py_is(from, PY_DICT))
        return py_raise(&py_TypeError, "if you give only one argument to maketrans it must be a dict");
    for (size_t i = 0; py_dict_next(from, &i, &key, &value);) {
        uint32_t cp;
        if (py_is(key, PY_STR) && py_str_count(key) != 1)
            return py_raise(&py_ValueError, "string keys in translate table must be of length 1");
        if (!py_is(key, PY_STR) && !py_is_int(key))
            return py_raise(&py_TypeError, "keys in translate table must be strings or integers");
        if (py_is(key, PY_STR))
            py_decode(PY_TEXT(key), &cp);
        AUTO(py) number = py_is(key, PY_STR) ? py_int((int64_t) cp) : py_ref(key);
        py_dict_set(table, number, value);
    }
    return STEAL(table);
}

static py_t *
maketrans_strings(const py_t *from, const py_t *to, const py_t *without)
{
    const char *p = PY_TEXT(from), *end = p + PY_LEN(from), *q = PY_TEXT(to);
    py_t *table = py_dict();

    for (uint32_t a, b; p < end;) {
        p += py_decode(p, &a);
        q += py_decode(q, &b);
        py_dict_set(table, py_int((int64_t) a), py_int((int64_t) b));
    }
    p = without != NULL ? PY_TEXT(without) : "";
    end = without != NULL ? p + PY_LEN(without) : p;
    for (uint32_t a; p < end;) {
        p += py_decode(p, &a);
        py_dict_set(table, py_int((int64_t) a), PY_None);
    }
    return table;
}

METHOD_OF(m_str_maketrans)
{
    if (slots[1] == NULL)
        return maketrans_dict(slots[0]);
    for (int i = 1; i < 3; i++) {
        if (slots[i] != NULL && !py_is(slots[i], PY_STR))
            return py_raise(&py_TypeError, "maketrans() argument %d must be str, not %s", i + 1,
                            py_arg_name(slots[i]));
    }
    if (!py_is(slots[0], PY_STR))
        return py_raise(&py_TypeError,
                        "first maketrans argument must be a string if there is a second argument");
    if (py_str_count(slots[0]) != py_str_count(slots[1]))
        return py_raise(&py_ValueError, "the first two maketrans arguments must have equal length");
    return maketrans_strings(slots[0], slots[1], slots[2]);
}
