/* jsonread.c - see jsonread.h. */
#include "common/base/jsonread.h"

#include <errno.h>
#include <math.h>

#include "common/base/jsonscan.h"
#include "common/base/utf8.h"
#include "salt/limits.h"

#define SHORT 64 /* longest text of a number that is parsed without an allocation */

/* Records the failure and returns NULL, for `return jsonread_fail(...)`. */
static json_t *
jsonread_fail(scan_t *s, const char *why)
{
    (void) scan_fail(s, why);
    return NULL;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* The meaning of a string: a piece of the text itself, or a copy without its escapes. */
typedef struct text {
    const char *at;
    size_t len;
    char *copy; /* OWNED; NULL: none was needed */
} text_t;

/* Wipes and frees a copy, which may be a password. */
static void
jsonread_forget(text_t *t)
{
    if (t->copy != NULL)
        explicit_bzero(t->copy, t->len);
    free(t->copy);
}

/* Reads an escape behind its backslash and appends its character. */
static bool
jsonread_escape(scan_t *s, const char *end, text_t *out)
{
    char plain = scan_escaped(*s->at);
    uint32_t cp;

    if (plain != '\0') {
        out->copy[out->len++] = plain;
        s->at++;
        return true;
    }
    if (*s->at != 'u')
        return scan_fail(s, "an escape that JSON does not have");
    s->at++;
    if (!scan_unicode(&s->at, end, &cp))
        return scan_fail(s, "four hexadecimal digits are expected after \\u");
    if (cp >= 0xd800 && cp <= 0xdfff)
        return scan_fail(s, "half of a surrogate pair");
    out->len += utf8_encode(cp, out->copy + out->len);
    return true;
}

/* Decodes a string that ends at `end`. An escape is never shorter than its character, so the copy fits into
 * the length of the text. s->at is at the start of the string before. */
static bool
jsonread_unescape(scan_t *s, const char *end, text_t *out)
{
    out->copy = malloc((size_t) (end - s->at));
    if (out->copy == NULL)
        return false;
    while (s->at < end) {
        const char *next = memchr(s->at, '\\', (size_t) (end - s->at));
        size_t n = (size_t) ((next != NULL ? next : end) - s->at);
        memcpy(out->copy + out->len, s->at, n);
        out->len += n;
        s->at += n + (next != NULL);
        if (next != NULL && !jsonread_escape(s, end, out))
            return false;
    }
    return true;
}

/* Reads a string from behind its opening quote to behind its closing one. */
static bool
string(scan_t *s, text_t *ret)
{
    const char *from = s->at;
    bool escaped;

    *ret = (text_t){ .at = from };
    if (!scan_string(s, &escaped))
        return false;
    if (!escaped) {
        ret->len = (size_t) (s->at - 1 - from);
        return true;
    }
    const char *end = s->at;
    s->at = from;
    if (!jsonread_unescape(s, end - 1, ret))
        return false;
    s->at = end;
    ret->at = ret->copy;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static json_t *
number_value(scan_t *s)
{
    const char *from = s->at;
    char few[SHORT];
    scan_number_t n;

    if (!scan_number(s, &n))
        return NULL;
    bool real = n.fraction > 0 || n.exponent;
    if (!real && n.whole <= SCAN_INT_DIGITS) {
        json_int_t i = 0;
        for (const char *p = from + n.minus; p < s->at; p++)
            i = i * 10 + (*p - '0');
        return json_integer(n.minus ? -i : i);
    }
    size_t len = (size_t) (s->at - from);
    char *text = len < sizeof(few) ? few : malloc(len + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, from, len);
    text[len] = '\0';
    /* strtoll and strtod want the end of the text behind the number, hence the copy. */
    json_t *v;
    errno = 0;
    if (real) {
        double d = strtod(text, NULL);
        v = isinf(d) ? jsonread_fail(s, "a number that is too large") : json_real(d);
    } else {
        long long i = strtoll(text, NULL, 10);
        v = errno == 0 ? json_integer(i) : jsonread_fail(s, "an integer that 64 bits do not hold");
    }
    if (text != few)
        free(text);
    return v;
}

/* ---- containers ------------------------------------------------------------------------------ */

static const char too_deep[] = "nested deeper than the " STRINGIFY(LIMIT_JSON_DEPTH) " levels allowed",
                  frame_too_deep[] = "nested deeper than the " STRINGIFY(LIMIT_FRAME_DEPTH) " levels allowed";

static json_t *jsonread_value(scan_t *s, int depth);

static json_t *
array_value(scan_t *s, int depth)
{
    json_auto_t *out = json_array();

    if (scan_take(s, ']'))
        return json_incref(out);
    do {
        if (json_array_append_new(out, jsonread_value(s, depth)) != 0)
            return NULL;
    } while (scan_take(s, ','));
    return scan_take(s, ']') ? json_incref(out) : jsonread_fail(s, "a comma or ] is expected");
}

static json_t *
object_value(scan_t *s, int depth)
{
    json_auto_t *out = json_object();

    if (scan_take(s, '}'))
        return json_incref(out);
    do {
        if (!scan_take(s, '"'))
            return jsonread_fail(s, "a key in double quotes is expected");

        /* Reads a member from behind the opening quote of its key to the end of its value. */
        const char *at = s->at - 1;
        size_t before = json_object_size(out);
        text_t key;
        bool fine = string(s, &key);
        if (fine && key.copy != NULL && memchr(key.at, '\0', key.len) != NULL) {
            s->at = at;
            fine = scan_fail(s, "a key with \\u0000");
        }
        if (fine && !scan_take(s, ':'))
            fine = scan_fail(s, "a colon is expected after a key");
        fine = fine && json_object_setn_new_nocheck(out, key.at, key.len, jsonread_value(s, depth)) == 0;
        jsonread_forget(&key);
        if (fine && json_object_size(out) == before) {
            s->at = at;
            fine = scan_fail(s, "a key that comes twice");
        }
        if (!fine)
            return NULL;
    } while (scan_take(s, ','));
    return scan_take(s, '}') ? json_incref(out) : jsonread_fail(s, "a comma or } is expected");
}

/* Reads a value. `depth`: levels that may still be entered. NEW, or NULL: s->why says the reason, or memory
 * is gone. */
static json_t *
jsonread_value(scan_t *s, int depth)
{
    char c = scan_peek(s);

    if (c == '"') {
        s->at++;

        /* Reads a text. */
        text_t t;
        json_t *v = string(s, &t) ? json_stringn_nocheck(t.at, t.len) : NULL;
        jsonread_forget(&t);
        return v;
    }
    if (c == '{' || c == '[') {
        if (depth == 0)
            return jsonread_fail(s, too_deep);
        s->at++;
        return c == '{' ? object_value(s, depth - 1) : array_value(s, depth - 1);
    }
    if (s->at == s->end)
        return jsonread_fail(s, "it ends where a value is expected");
    if (c == '-' || (c >= '0' && c <= '9'))
        return number_value(s);
    if (!scan_word(s))
        return NULL;
    return c == 't' ? json_true() : c == 'f' ? json_false() : json_null();
}

static json_t *
read_whole(const char *text, size_t len, int depth, json_bad_t *ret_bad)
{
    scan_t s = { .at = text, .end = text + len };
    json_auto_t *v = jsonread_value(&s, depth);

    if (v != NULL && !scan_at_end(&s))
        (void) scan_fail(&s, "more follows behind the value");
    *ret_bad = (json_bad_t){ .why = s.why, .at = (size_t) (s.at - text) };
    return v != NULL && s.why == NULL ? json_incref(v) : NULL;
}

json_t *
json_read(const char *text, size_t len, json_bad_t *ret_bad)
{
    return read_whole(text, len, LIMIT_JSON_DEPTH, ret_bad);
}

json_t *
json_read_frame(const char *text, size_t len, json_bad_t *ret_bad)
{
    json_t *v = read_whole(text, len, LIMIT_FRAME_DEPTH, ret_bad);

    if (ret_bad->why == too_deep)
        ret_bad->why = frame_too_deep;
    return v;
}

/* Counts values by commas and opening brackets: every value but the first follows one of them. */
bool
json_few(const char *text, size_t len, size_t most)
{
    size_t n = 1;
    bool quoted = false;

    for (size_t i = 0; i < len && len > most && n <= most; i++) {
        char c = text[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\';
        else
            n += c == ',' || c == '[' || c == '{';
    }
    return n <= most;
}
