/* plainjson.c - see plainjson.h. */
#include "common/base/plainjson.h"

#include "common/base/utf8.h"

#define INT_DIGITS  18 /* of an integer that a signed word holds whatever they are */
#define REAL_DIGITS 15 /* of a number with a fraction that a double gives back */

bool
span_is(span_t span, const char *text)
{
    return strncmp(text, span.at, span.len) == 0 && text[span.len] == '\0';
}

plain_t
plain_new(const char *text, size_t len)
{
    return (plain_t){ .at = text, .end = text + len };
}

static bool
fail(plain_t *p)
{
    p->bad = true;
    return false;
}

static void
skip_space(plain_t *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t'))
        p->at++;
}

/* The byte that comes after white space; 0 at the end. */
static char
peek(plain_t *p)
{
    skip_space(p);
    return p->at < p->end && !p->bad ? *p->at : '\0';
}

static bool
take(plain_t *p, char c)
{
    if (peek(p) != c)
        return false;
    p->at++;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* From behind the opening quote to behind the closing one. */
static bool
string_rest(plain_t *p, bool escapes, span_t *ret)
{
    bool ascii = true;

    ret->at = p->at;
    for (; p->at < p->end && *p->at != '"'; p->at++) {
        unsigned char c = (unsigned char) *p->at;
        if (c < 0x20)
            return fail(p);
        if (c >= 0x80)
            ascii = false;
        else if (c == '\\' &&
                 (!escapes || ++p->at == p->end || strchr("\"\\/bfnrt", *p->at) == NULL || *p->at == '\0'))
            return fail(p);
    }
    if (p->at == p->end)
        return fail(p);
    ret->len = (size_t) (p->at++ - ret->at);
    return ascii || utf8_valid(ret->at, ret->len) || fail(p);
}

static size_t
digits(plain_t *p)
{
    const char *from = p->at;

    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return (size_t) (p->at - from);
}

static bool
number(plain_t *p)
{
    const char *from = p->at;

    p->at += *p->at == '-';
    bool zero = p->at < p->end && *p->at == '0';
    size_t whole = digits(p), fraction = 0;
    bool real = p->at < p->end && *p->at == '.';
    if (real) {
        p->at++;
        fraction = digits(p);
    }
    /* An exponent follows: whoever writes those has reasons that a word for all can't know. */
    bool more = p->at < p->end && (*p->at == 'e' || *p->at == 'E');
    bool fine = whole > 0 && !(zero && whole > 1) && !(zero && !real && *from == '-') && !more &&
                (real ? fraction > 0 && whole + fraction <= REAL_DIGITS : whole <= INT_DIGITS);
    return fine || fail(p);
}

static bool
word(plain_t *p, const char *text)
{
    size_t n = strlen(text);

    if ((size_t) (p->end - p->at) < n || memcmp(p->at, text, n) != 0)
        return fail(p);
    p->at += n;
    return true;
}

static bool value(plain_t *p, int depth);

static bool
array_rest(plain_t *p, int depth)
{
    if (take(p, ']'))
        return true;
    do {
        if (!value(p, depth))
            return false;
    } while (take(p, ','));
    return take(p, ']') || fail(p);
}

/* Whether this key is none of those before it. */
static bool
new_key(span_t *keys, size_t n, span_t key)
{
    for (size_t i = 0; i < n; i++)
        if (keys[i].len == key.len && memcmp(keys[i].at, key.at, key.len) == 0)
            return false;
    keys[n] = key;
    return true;
}

/* `wanted` (may be NULL): whether it is among the keys. */
static bool
object_rest(plain_t *p, int depth, const char *wanted, bool *ret_has)
{
    span_t keys[PLAIN_KEYS];
    size_t n = 0;

    if (take(p, '}'))
        return true;
    do {
        span_t key;
        if (n == PLAIN_KEYS || !take(p, '"') || !string_rest(p, false, &key) || !new_key(keys, n++, key) ||
            !take(p, ':') || !value(p, depth))
            return fail(p);
        if (wanted != NULL && span_is(key, wanted))
            *ret_has = true;
    } while (take(p, ','));
    return take(p, '}') || fail(p);
}

/* `depth`: levels that may still be entered. */
static bool
value(plain_t *p, int depth)
{
    span_t unused;
    char c = peek(p);

    if (c == '"') {
        p->at++;
        return string_rest(p, true, &unused);
    }
    if (c == '{' || c == '[') {
        p->at++;
        if (depth == 0)
            return fail(p);
        return c == '{' ? object_rest(p, depth - 1, NULL, NULL) : array_rest(p, depth - 1);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return number(p);
    return word(p, c == 't' ? "true" : c == 'f' ? "false" : "null");
}

/* ---- walking --------------------------------------------------------------------------------- */

bool
plain_enter(plain_t *p, char open)
{
    p->opened = take(p, open);
    return p->opened || fail(p);
}

/* Whether a member follows; over the end of the container if not. */
static bool
next(plain_t *p, char close)
{
    bool first = p->opened;

    p->opened = false;
    if (take(p, close))
        return false;
    return first ? !p->bad : take(p, ',') || fail(p);
}

bool
plain_key(plain_t *p, span_t *ret_key)
{
    if (!next(p, '}'))
        return false;
    return (take(p, '"') && string_rest(p, false, ret_key) && take(p, ':')) || fail(p);
}

bool
plain_item(plain_t *p)
{
    return next(p, ']');
}

bool
plain_value(plain_t *p, span_t *ret_value)
{
    (void) peek(p);
    ret_value->at = p->at;
    bool fine = !p->bad && value(p, PLAIN_DEPTH);
    ret_value->len = (size_t) (p->at - ret_value->at);
    return fine;
}

bool
plain_string(plain_t *p, span_t *ret_text)
{
    return (take(p, '"') && string_rest(p, false, ret_text)) || fail(p);
}

bool
plain_int(plain_t *p, int64_t *ret_value)
{
    span_t text;

    if (!plain_value(p, &text) || memchr(text.at, '.', text.len) != NULL ||
        (*text.at != '-' && (*text.at < '0' || *text.at > '9')))
        return fail(p);
    *ret_value = 0;
    for (size_t i = *text.at == '-'; i < text.len; i++)
        *ret_value = *ret_value * 10 + (text.at[i] - '0');
    *ret_value = *text.at == '-' ? -*ret_value : *ret_value;
    return true;
}

bool
plain_object(plain_t *p, const char *key, span_t *ret_value, bool *ret_has, bool *ret_empty)
{
    *ret_has = false;
    if (!take(p, '{'))
        return fail(p);
    ret_value->at = p->at - 1;
    *ret_empty = peek(p) == '}';
    bool fine = object_rest(p, PLAIN_DEPTH - 1, key, ret_has);
    ret_value->len = (size_t) (p->at - ret_value->at);
    return fine;
}

bool
plain_end(plain_t *p)
{
    skip_space(p);
    return !p->bad && p->at == p->end;
}

/* ---- values of jansson's --------------------------------------------------------------------- */

static json_t *made(plain_t *p, int depth);

static char
meant(char escaped)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *at = strchr(from, escaped);

    return at != NULL ? to[at - from] : escaped;
}

static json_t *
made_string(plain_t *p)
{
    span_t text;

    if (!string_rest(p, true, &text))
        return NULL;
    if (memchr(text.at, '\\', text.len) == NULL)
        return json_stringn_nocheck(text.at, text.len);
    char *plain = malloc(text.len + 1);
    size_t n = 0;
    for (size_t i = 0; plain != NULL && i < text.len; i++)
        plain[n++] = text.at[i] == '\\' ? meant(text.at[++i]) : text.at[i];
    json_t *v = plain != NULL ? json_stringn_nocheck(plain, n) : NULL;
    if (plain != NULL)
        explicit_bzero(plain, n); /* it may be a password */
    free(plain);
    return v;
}

static json_t *
made_array(plain_t *p, int depth)
{
    json_auto_t *out = json_array();

    if (take(p, ']'))
        return json_incref(out);
    do {
        if (json_array_append_new(out, made(p, depth)) != 0)
            return NULL;
    } while (take(p, ','));
    return take(p, ']') ? json_incref(out) : NULL;
}

static json_t *
made_object(plain_t *p, int depth)
{
    json_auto_t *out = json_object();

    if (take(p, '}'))
        return json_incref(out);
    for (size_t n = 1; n == 1 || take(p, ','); n++) {
        span_t key;
        if (!take(p, '"') || !string_rest(p, false, &key) || !take(p, ':') ||
            json_object_setn_new_nocheck(out, key.at, key.len, made(p, depth)) != 0)
            return NULL;
        if (json_object_size(out) != n) /* it came twice */
            return NULL;
    }
    return take(p, '}') ? json_incref(out) : NULL;
}

static json_t *
made_number(plain_t *p)
{
    char copy[INT_DIGITS + REAL_DIGITS];
    const char *from = p->at;

    if (!number(p))
        return NULL;
    size_t n = (size_t) (p->at - from);
    memcpy(copy, from, n);
    copy[n] = '\0';
    return memchr(copy, '.', n) != NULL ? json_real(strtod(copy, NULL))
                                        : json_integer(strtoll(copy, NULL, 10));
}

/* NEW, or NULL: not plain, or no memory. `depth`: levels that may still be entered. */
static json_t *
made(plain_t *p, int depth)
{
    switch (peek(p)) {
    case '"':
        p->at++;
        return made_string(p);
    case '{':
        p->at++;
        return depth > 0 ? made_object(p, depth - 1) : NULL;
    case '[':
        p->at++;
        return depth > 0 ? made_array(p, depth - 1) : NULL;
    case 't':
        return word(p, "true") ? json_true() : NULL;
    case 'f':
        return word(p, "false") ? json_false() : NULL;
    case 'n':
        return word(p, "null") ? json_null() : NULL;
    case '\0':
        return NULL;
    default:
        return made_number(p);
    }
}

json_t *
plain_json(const char *text, size_t len)
{
    plain_t p = plain_new(text, len);
    json_auto_t *v = made(&p, PLAIN_DEPTH);

    return v != NULL && plain_end(&p) ? json_incref(v) : NULL;
}
