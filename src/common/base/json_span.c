/* json_span.c - see json_span.h.
 *
 * Outside of strings only a quote decides where strings begin. So the document is not parsed; only spans
 * outside of strings are, as values of their own.
 */
#include "common/base/json_span.h"

#include "common/base/jsonscan.h"
#include "salt/limits.h"

typedef struct check {
    const char *text;
    size_t len;
    const spans_t *spans;
    size_t span; /* the first span that ends behind the place at hand */
    breakout_t *ret;
} check_t;

static bool
json_span_refuse(const check_t *c, size_t at, const char *what)
{
    return breakout_set(c->ret, c->spans, at, what);
}

/* The span that holds this byte or follows it; a span beyond the text when there is none. */
static span_t
json_span_behind(check_t *c, size_t at)
{
    while (c->span < c->spans->n && c->spans->v[c->span].to <= at)
        c->span++;
    return c->span < c->spans->n ? c->spans->v[c->span] : (span_t){ c->len, c->len, 0 };
}

/* ---- inside of a string -------------------------------------------------------------------------------- */

/* Reads the escape at a backslash: its length, and if it is a valid one. */
static size_t
json_span_escape_len(const check_t *c, size_t at, bool *ret_valid)
{
    char letter = at + 1 < c->len ? c->text[at + 1] : '\0';
    const char *digits = c->text + at + 2;
    uint32_t cp;

    if (letter != 'u') {
        *ret_valid = scan_escaped(letter) != '\0';
        return at + 1 < c->len ? 2 : 1;
    }
    *ret_valid = scan_unicode(&digits, c->text + c->len, &cp);
    return c->len - at < 6 ? c->len - at : 6;
}

/* Checks a string from its opening quote at `at`. *ret_end is behind the closing quote, or the end of the
 * text. */
static bool
json_span_string_fits(check_t *c, size_t at, size_t *ret_end)
{
    size_t i = at + 1, n = 1;

    for (; i < c->len; i += n) {
        const span_t span = json_span_behind(c, i);
        unsigned char byte = (unsigned char) c->text[i];
        bool inside = i >= span.from, valid = true;
        n = byte == '\\' ? json_span_escape_len(c, i, &valid) : 1;
        if (byte == '"' && inside)
            return json_span_refuse(c, i, "the end of a quoted text");
        if (inside && (byte < ' ' || !valid))
            return json_span_refuse(c, i, "a character that JSON forbids in a text");
        if (span_cut(&span, i, i + n))
            return json_span_refuse(c, i > span.from ? i : span.from, "an escape of what stands beside it");
        if (byte == '"')
            break;
    }
    *ret_end = i < c->len ? i + 1 : c->len;
    return true;
}

/* ---- values of their own ------------------------------------------------------------------------------- */

static bool
json_span_quoted(scan_t *s)
{
    bool escaped;

    return scan_take(s, '"') && scan_string(s, &escaped);
}

static bool
json_span_value(scan_t *s, int depth)
{
    scan_number_t number;
    char c = scan_peek(s);

    if (depth == LIMIT_JSON_DEPTH)
        return false;
    if (c == '"')
        return json_span_quoted(s);
    if (c == '[' || c == '{') {
        s->at++;

        /* The items of a list or object, and the closing bracket. */
        char close = c == '[' ? ']' : '}';
        if (scan_take(s, close))
            return true;
        do {
            if (close == '}' && !(json_span_quoted(s) && scan_take(s, ':')))
                return false;
            if (!json_span_value(s, depth + 1))
                return false;
        } while (scan_take(s, ','));
        return scan_take(s, close);
    }
    return c == '-' || (c >= '0' && c <= '9') ? scan_number(s, &number) : scan_word(s);
}

/* True for a byte that would continue a number or a word. */
static bool
glues(const check_t *c, size_t at)
{
    unsigned char b = at < c->len ? (unsigned char) c->text[at] : ' ';
    bool letter = (b | 32) >= 'a' && (b | 32) <= 'z';

    return letter || (b >= '0' && b <= '9') || b == '+' || b == '-' || b == '.' || b == '_' || b >= 0x80;
}

static bool
json_span_value_fits(const check_t *c, const span_t *span)
{
    scan_t s = { c->text + span->from, c->text + span->to, NULL };
    char first = scan_peek(&s);

    if ((span->flags & SPAN_TEXT) && (first == '[' || first == '{'))
        return json_span_refuse(c, span->from, first == '[' ? "a list" : "an object");
    if ((span->from > 0 && glues(c, span->from - 1)) || glues(c, span->to))
        return json_span_refuse(c, span->from, "a part of a number or word");
    return (json_span_value(&s, 0) && scan_at_end(&s)) ||
           json_span_refuse(c, span->from, "something other than one value of JSON");
}

bool
json_spans_fit(const char *text, size_t len, const spans_t *spans, breakout_t *ret)
{
    check_t c = { .text = text, .len = len, .spans = spans, .ret = ret };

    if (!spans_have_characters(spans, text, len, ret))
        return false;
    for (size_t i = 0; i < len;) {
        const span_t span = json_span_behind(&c, i);
        if (i == span.from) {
            if (!json_span_value_fits(&c, &span))
                return false;
            i = span.to;
        } else if (text[i] != '"') {
            i++;
        } else if (!json_span_string_fits(&c, i, &i)) {
            return false;
        }
    }
    return true;
}
