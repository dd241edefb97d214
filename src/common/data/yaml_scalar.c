/* yaml_scalar.c - PyYAML's implicit resolver without regular expressions.
 *
 * The first byte selects the few shapes that are possible (number, date, or one of the words); each shape is
 * a small recogniser over a scan_t. The functions mirror PyYAML's patterns group by group, Salt's changes
 * included. */
#include "common/data/yaml_scalar.h"

#include <strings.h>

#include "common/data/yaml.h"
#include "salt/value.h"

typedef bool byte_fn(char c);

static bool
yaml_scalar_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool
is_digit_(char c)
{
    return yaml_scalar_is_digit(c) || c == '_';
}

static bool
is_octal_(char c)
{
    return (c >= '0' && c <= '7') || c == '_';
}

static bool
is_binary_(char c)
{
    return c == '0' || c == '1' || c == '_';
}

static bool
is_hex_(char c)
{
    return is_digit_(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool
yaml_scalar_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool
yaml_scalar_is_sign(char c)
{
    return c == '-' || c == '+';
}

/* Cursor over a scalar. Reading past the end gives NUL, which no pattern contains, so a NUL in the text never
 * matches. */
typedef struct scan {
    const char *at, *end;
} scan_t;

static char
yaml_scalar_peek(const scan_t *s, size_t ahead)
{
    return (size_t) (s->end - s->at) > ahead ? s->at[ahead] : '\0';
}

static bool
yaml_scalar_done(const scan_t *s)
{
    return s->at == s->end;
}

/* Skips every byte that fits and returns their number. */
static size_t
yaml_scalar_span(scan_t *s, byte_fn *fits)
{
    const char *start = s->at;

    while (s->at < s->end && fits(*s->at))
        s->at++;
    return (size_t) (s->at - start);
}

static bool
yaml_scalar_skip(scan_t *s, byte_fn *fits)
{
    if (s->at == s->end || !fits(*s->at))
        return false;
    s->at++;
    return true;
}

static bool
skip_char(scan_t *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* Skips up to `max` digits; true when there were at least `min`. */
static bool
yaml_scalar_digits(scan_t *s, size_t min, size_t max)
{
    size_t n = 0;

    while (n < max && yaml_scalar_skip(s, yaml_scalar_is_digit))
        n++;
    return n >= min;
}

/* The regular expression (?::[0-5]?[0-9])+ */
static bool
yaml_scalar_sixties(scan_t *s)
{
    size_t n = 0;

    for (; skip_char(s, ':'); n++) {
        bool two = yaml_scalar_peek(s, 0) <= '5' && yaml_scalar_is_digit(yaml_scalar_peek(s, 1));
        if (!yaml_scalar_digits(s, two ? 2 : 1, two ? 2 : 1))
            return false;
    }
    return n > 0;
}

/* [-+]? then 0b, 0x, octal, decimal or base 60. `s` is a copy, so a failed match leaves the caller's cursor
 * alone. */
static bool
yaml_scalar_is_int(scan_t s)
{
    yaml_scalar_skip(&s, yaml_scalar_is_sign);
    if (yaml_scalar_peek(&s, 0) == '0') {
        s.at++;
        if (yaml_scalar_done(&s))
            return true;
        if (skip_char(&s, 'b'))
            return yaml_scalar_span(&s, is_binary_) > 0 && yaml_scalar_done(&s);
        if (skip_char(&s, 'x'))
            return yaml_scalar_span(&s, is_hex_) > 0 && yaml_scalar_done(&s);
        return yaml_scalar_span(&s, is_octal_) > 0 && yaml_scalar_done(&s);
    }
    if (!yaml_scalar_skip(&s, yaml_scalar_is_digit))
        return false;
    yaml_scalar_span(&s, is_digit_);
    return yaml_scalar_done(&s) || (yaml_scalar_sixties(&s) && yaml_scalar_done(&s));
}

static bool
yaml_scalar_is_word(const scan_t *s, const char *word)
{
    size_t len = strlen(word);

    return (size_t) (s->end - s->at) == len && memcmp(s->at, word, len) == 0;
}

/* PyYAML's exponent needs a sign: "1.0e3" is text. True at the end of the scalar, too. */
static bool
yaml_scalar_exponent(scan_t *s)
{
    if (yaml_scalar_done(s))
        return true;
    if (!skip_char(s, 'e') && !skip_char(s, 'E'))
        return false;
    return yaml_scalar_skip(s, yaml_scalar_is_sign) && yaml_scalar_span(s, yaml_scalar_is_digit) > 0 &&
           yaml_scalar_done(s);
}

static bool
is_float(scan_t s)
{
    bool has_sign = yaml_scalar_skip(&s, yaml_scalar_is_sign);

    /* .inf and .nan in their three spellings; only .inf may have a sign. */
    if (yaml_scalar_is_word(&s, ".inf") || yaml_scalar_is_word(&s, ".Inf") ||
        yaml_scalar_is_word(&s, ".INF") ||
        (!has_sign && (yaml_scalar_is_word(&s, ".nan") || yaml_scalar_is_word(&s, ".NaN") ||
                       yaml_scalar_is_word(&s, ".NAN"))))
        return true;

    if (!has_sign && yaml_scalar_peek(&s, 0) == '.') {
        s.at++;
        return yaml_scalar_skip(&s, yaml_scalar_is_digit) &&
               (yaml_scalar_span(&s, is_digit_), yaml_scalar_exponent(&s));
    }
    if (!yaml_scalar_skip(&s, yaml_scalar_is_digit))
        return false;
    yaml_scalar_span(&s, is_digit_);
    if (yaml_scalar_peek(&s, 0) == ':')
        return yaml_scalar_sixties(&s) && skip_char(&s, '.') &&
               (yaml_scalar_span(&s, is_digit_), yaml_scalar_done(&s));
    return skip_char(&s, '.') && (yaml_scalar_span(&s, is_digit_), yaml_scalar_exponent(&s));
}

/* Z or an offset such as +1 or -05:30. */
static bool
time_zone(scan_t *s)
{
    yaml_scalar_span(s, yaml_scalar_is_blank);
    if (skip_char(s, 'Z'))
        return yaml_scalar_done(s);
    if (!yaml_scalar_skip(s, yaml_scalar_is_sign) || !yaml_scalar_digits(s, 1, 2))
        return false;
    return !skip_char(s, ':') || yaml_scalar_digits(s, 2, 2);
}

static bool
is_timestamp(scan_t s)
{
    if (!yaml_scalar_digits(&s, 4, 4) || !skip_char(&s, '-') || !yaml_scalar_digits(&s, 1, 2) ||
        !skip_char(&s, '-') || !yaml_scalar_digits(&s, 1, 2))
        return false;
    if (yaml_scalar_done(&s))
        return true;
    if (!skip_char(&s, 'T') && !skip_char(&s, 't') && yaml_scalar_span(&s, yaml_scalar_is_blank) == 0)
        return false;
    if (!yaml_scalar_digits(&s, 1, 2) || !skip_char(&s, ':') || !yaml_scalar_digits(&s, 2, 2) ||
        !skip_char(&s, ':') || !yaml_scalar_digits(&s, 2, 2))
        return false;
    if (skip_char(&s, '.'))
        yaml_scalar_span(&s, yaml_scalar_is_digit);
    return yaml_scalar_done(&s) || (time_zone(&s) && yaml_scalar_done(&s));
}

bool
yaml_is_timestamp(const char *text, size_t len)
{
    return is_timestamp((scan_t){ text, text + len });
}

typedef struct word_row {
    const char *text;
    yaml_kind_t kind;
} word_row_t;

static const word_row_t words[] = {
    { "~", YAML_IS_NULL },     { "null", YAML_IS_NULL },  { "Null", YAML_IS_NULL }, { "NULL", YAML_IS_NULL },
    { "<<", YAML_IS_MERGE },   { "=", YAML_IS_VALUE },    { "yes", YAML_IS_BOOL },  { "Yes", YAML_IS_BOOL },
    { "YES", YAML_IS_BOOL },   { "no", YAML_IS_BOOL },    { "No", YAML_IS_BOOL },   { "NO", YAML_IS_BOOL },
    { "true", YAML_IS_BOOL },  { "True", YAML_IS_BOOL },  { "TRUE", YAML_IS_BOOL }, { "false", YAML_IS_BOOL },
    { "False", YAML_IS_BOOL }, { "FALSE", YAML_IS_BOOL }, { "on", YAML_IS_BOOL },   { "On", YAML_IS_BOOL },
    { "ON", YAML_IS_BOOL },    { "off", YAML_IS_BOOL },   { "Off", YAML_IS_BOOL },  { "OFF", YAML_IS_BOOL },
};

/* Order matters: a float's pattern is tried before an integer's, and a date has at least ten bytes. Words
 * have at most five. */
yaml_kind_t
yaml_resolve(const char *text, size_t len)
{
    const scan_t s = { text, text + len };

    if (len == 0)
        return YAML_IS_NULL;
    if (yaml_scalar_is_digit(*text) || yaml_scalar_is_sign(*text) || *text == '.') {
        if (is_float(s))
            return YAML_IS_FLOAT;
        if (*text != '.' && yaml_scalar_is_int(s))
            return YAML_IS_INT;
        return len >= 10 && is_timestamp(s) ? YAML_IS_TIMESTAMP : YAML_IS_STR;
    }
    if (len > 5 || strchr("~nN<=yYtTfFoO", *text) == NULL)
        return YAML_IS_STR;
    for (size_t i = 0; i < NELEMS(words); i++) {
        if (yaml_scalar_is_word(&s, words[i].text))
            return words[i].kind;
    }
    return YAML_IS_STR;
}

yaml_kind_t
yaml_kind_of_tag(const char *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    static const word_row_t names[] = {
        { "str", YAML_IS_STR },       { "null", YAML_IS_NULL },
        { "bool", YAML_IS_BOOL },     { "int", YAML_IS_INT },
        { "float", YAML_IS_FLOAT },   { "timestamp", YAML_IS_TIMESTAMP },
        { "merge", YAML_IS_MERGE },   { "value", YAML_IS_VALUE },
        { "binary", YAML_IS_BINARY }, { "seq", YAML_IS_SEQ },
        { "map", YAML_IS_MAP },       { "omap", YAML_IS_MAP },
        { "set", YAML_IS_SET },       { "python/unicode", YAML_IS_STR },
        { "pairs", YAML_IS_PAIRS },
    };

    if (strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
        return YAML_IS_UNKNOWN;
    for (size_t i = 0; i < NELEMS(names); i++) {
        if (strcmp(tag + sizeof(prefix) - 1, names[i].text) == 0)
            return names[i].kind;
    }
    return YAML_IS_UNKNOWN;
}

bool
yaml_to_bool(const char *text, size_t len, bool *ret_v)
{
    static const char *const yes[] = { "yes", "true", "on" }, *const no[] = { "no", "false", "off" };

    for (size_t i = 0; i < NELEMS(yes); i++) {
        bool is_yes = strlen(yes[i]) == len && strncasecmp(text, yes[i], len) == 0;
        if (is_yes || (strlen(no[i]) == len && strncasecmp(text, no[i], len) == 0)) {
            *ret_v = is_yes;
            return true;
        }
    }
    return false;
}
