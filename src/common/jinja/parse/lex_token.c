/* lex_token.c - tokens inside of tags: numbers, names, strings and operators, as Jinja's regular expressions
 * match them.
 *
 * match_* functions return the end of a token at p, or NULL; emit_* make it. Strings decode Python's escapes;
 * Jinja encodes with "backslashreplace" first, hence wide_escape. Brackets are balanced here, as Jinja's
 * lexer does. */
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/jinja/parse/lex_int.h"

/* ---- numbers ------------------------------------------------------------------------------------------ */

static bool
lex_token_is_digit(char c, int base)
{
    if (base == 16)
        return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
    return c >= '0' && c < '0' + base;
}

/* Digits with single underscores between; `lead` allows one in front. Returns their end, or NULL without a
 * digit. */
static const char *
lex_token_digits(const char *p, const char *end, int base, bool lead)
{
    const char *stop = NULL;
    for (bool may = lead;; may = true) {
        if (may && p < end && *p == '_' && p + 1 < end && lex_token_is_digit(p[1], base))
            p++;
        if (p >= end || !lex_token_is_digit(*p, base))
            return stop;
        stop = ++p;
    }
}

/* End of an exponent at p, or NULL. */
static const char *
lex_token_exponent(const char *p, const char *end)
{
    if (p >= end || (*p | 32) != 'e')
        return NULL;
    p++;
    if (p < end && (*p == '+' || *p == '-'))
        p++;
    return lex_token_digits(p, end, 10, false);
}

/* Jinja's float_re: not after a dot; a fraction or an exponent is required. */
static const char *
match_float(const lexer_t *self)
{
    if (self->p > self->start && self->p[-1] == '.')
        return NULL;
    const char *whole = lex_token_digits(self->p, self->end, 10, false);
    if (whole == NULL)
        return NULL;
    const char *frac = NULL;
    if (whole < self->end && *whole == '.')
        frac = lex_token_digits(whole + 1, self->end, 10, false);
    if (frac != NULL) {
        const char *e = lex_token_exponent(frac, self->end);
        return e != NULL ? e : frac;
    }
    return lex_token_exponent(whole, self->end);
}

/* Decimal without leading zeros, a run of zeros, or a number with prefix 0b, 0o or 0x. */
static const char *
match_integer(const lexer_t *self)
{
    const char *p = self->p;
    if (!lex_token_is_digit(*p, 10))
        return NULL;
    if (*p != '0')
        return lex_token_digits(p, self->end, 10, false);
    char kind = p + 1 < self->end ? p[1] | 32 : 0;
    int base = kind == 'b' ? 2 : kind == 'o' ? 8 : kind == 'x' ? 16 : 0;
    const char *stop = base != 0 ? lex_token_digits(p + 2, self->end, base, true) : NULL;
    if (stop != NULL)
        return stop;
    for (stop = p + 1;;) {
        const char *q = stop;
        if (q < self->end && *q == '_')
            q++;
        if (q >= self->end || *q != '0')
            return stop;
        stop = q + 1;
    }
}

/* Underscores are dropped, so the text can be converted as it is. */
static void
emit_number(lexer_t *self, tok_t type, const char *to, token_t *ret)
{
    char *text = arena_take(self->arena, (size_t) (to - self->p) + 1);
    size_t n = 0;
    for (const char *p = self->p; p < to; p++)
        if (*p != '_')
            text[n++] = *p;
    *ret = (token_t){ type, self->line, text, n };
}

/* ---- names -------------------------------------------------------------------------------------------- */

typedef struct range {
    uint32_t from, to;
} range_t;

/* Printable characters beyond ASCII that are no part of a word (\w): punctuation and symbols. */
static const range_t not_words[] = {
    { 0x80, 0xa9 },       { 0xab, 0xb4 },     { 0xb6, 0xb6 },     { 0xb8, 0xb9 },     { 0xbb, 0xbf },
    { 0xd7, 0xd7 },       { 0xf7, 0xf7 },     { 0x2c2, 0x2c5 },   { 0x2d2, 0x2df },   { 0x37e, 0x37e },
    { 0x2000, 0x203e },   { 0x2041, 0x2053 }, { 0x2055, 0x2070 }, { 0x207a, 0x207e }, { 0x208a, 0x208e },
    { 0x20a0, 0x20cf },   { 0x2190, 0x245f }, { 0x249c, 0x24e9 }, { 0x2500, 0x2775 }, { 0x2794, 0x2bff },
    { 0x2e00, 0x2fff },   { 0x3000, 0x3004 }, { 0x3008, 0x3020 }, { 0x3030, 0x3030 }, { 0xe000, 0xf8ff },
    { 0xfe10, 0xfe1f },   { 0xfe30, 0xfe32 }, { 0xfe35, 0xfe4c }, { 0xfe50, 0xfe6f }, { 0xff00, 0xff0f },
    { 0xff1a, 0xff20 },   { 0xff3b, 0xff3e }, { 0xff40, 0xff40 }, { 0xff5b, 0xff65 }, { 0xffe0, 0xffff },
    { 0x1f000, 0x1faff },
};

/* \w of Python's re: letters, digits and underscores of all scripts, by exclusion. */
static bool
lex_token_is_word(uint32_t cp)
{
    if (cp < 0x80)
        return cp == '_' || (cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z');
    for (size_t i = 0; i < NELEMS(not_words); i++)
        if (cp >= not_words[i].from && cp <= not_words[i].to)
            return false;
    return utf8_printable(cp);
}

/* False for characters that may continue a name but not start one. */
static bool
starts_name(const char *p, const char *end)
{
    uint32_t cp = 0;
    utf8_next(p, (size_t) (end - p), &cp);
    return cp != 0xb7 && cp != 0x387 && !(cp >= 0x300 && cp <= 0x36f) && !(cp >= 0x660 && cp <= 0x669) &&
           !(cp >= 0xff10 && cp <= 0xff19);
}

bool
word_at(const char **s, const char *end)
{
    uint32_t cp = (unsigned char) **s;
    size_t n = cp < 0x80 ? 1 : utf8_next(*s, (size_t) (end - *s), &cp);
    *s += n > 0 ? n : 1;
    return n > 0 && lex_token_is_word(cp);
}

/* End of a run of word characters. */
static const char *
lex_token_match_name(const lexer_t *self)
{
    const char *p = self->p;
    while (p < self->end) {
        uint32_t cp = (unsigned char) *p;
        size_t n = cp < 0x80 ? 1 : utf8_next(p, (size_t) (self->end - p), &cp);
        if (n == 0 || !lex_token_is_word(cp))
            break;
        p += n;
    }
    return p > self->p ? p : NULL;
}

/* ---- strings ------------------------------------------------------------------------------------------ */

/* End of a quoted string, its quote included; a backslash protects the next byte. */
static const char *
match_string(const lexer_t *self)
{
    char quote = *self->p;
    if (quote != '\'' && quote != '"')
        return NULL;
    for (const char *p = self->p + 1; p < self->end; p++) {
        if (*p == quote)
            return p + 1;
        if (*p == '\\')
            p++;
    }
    return NULL;
}

/* Appends a code point as UTF-8, surrogates included, as Python's escapes allow. */
static void
put_cp(buf_t *b, uint32_t cp)
{
    char s[4];
    size_t n = 0;
    if (cp < 0x80) {
        s[n++] = (char) cp;
    } else if (cp < 0x800) {
        s[n++] = (char) (0xc0 | cp >> 6);
        s[n++] = (char) (0x80 | (cp & 0x3f));
    } else if (cp < 0x10000) {
        s[n++] = (char) (0xe0 | cp >> 12);
        s[n++] = (char) (0x80 | (cp >> 6 & 0x3f));
        s[n++] = (char) (0x80 | (cp & 0x3f));
    } else {
        s[n++] = (char) (0xf0 | cp >> 18);
        s[n++] = (char) (0x80 | (cp >> 12 & 0x3f));
        s[n++] = (char) (0x80 | (cp >> 6 & 0x3f));
        s[n++] = (char) (0x80 | (cp & 0x3f));
    }
    buf_add(b, s, n);
}

/* Decodes `width` hexadecimal digits after \x, \u or \U. Returns their end. */
static const char *
hex_escape(lexer_t *self, const char *p, const char *end, int width, buf_t *b)
{
    static const char *const truncated[] = {
        [2] = "truncated \\xXX escape", [4] = "truncated \\uXXXX escape", [8] = "truncated \\UXXXXXXXX escape"
    };
    uint32_t cp = 0;
    for (int i = 0; i < width; i++, p++) {
        if (p >= end || !lex_token_is_digit(*p, 16))
            lex_fail(self, truncated[width]);
        cp = cp << 4 | (uint32_t) (lex_token_is_digit(*p, 10) ? *p - '0' : (*p | 32) - 'a' + 10);
    }
    if (cp > 0x10ffff)
        lex_fail(self, "illegal Unicode character");
    put_cp(b, cp);
    return p;
}

/* Decodes the escape whose backslash is before p. Returns its end. */
static const char *
lex_token_escape(lexer_t *self, const char *p, const char *end, buf_t *b)
{
    static const char simple[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
    for (const char *s = simple; *s != '\0'; s += 2)
        if (*p == *s) {
            buf_putc(b, s[1]);
            return p + 1;
        }
    if (*p == '\n')
        return p + 1;
    if (lex_token_is_digit(*p, 8)) {
        /* Up to three octal digits. */
        uint32_t cp = 0;
        for (int i = 0; i < 3 && p < end && lex_token_is_digit(*p, 8); i++)
            cp = cp << 3 | (uint32_t) (*p++ - '0');
        put_cp(b, cp);
        return p;
    }
    if (*p == 'x' || *p == 'u' || *p == 'U')
        return hex_escape(self, p + 1, end, *p == 'x' ? 2 : *p == 'u' ? 4 : 8, b);
    if (*p == 'N')
        lex_fail(self, p + 1 < end && p[1] == '{' && memchr(p, '}', (size_t) (end - p)) != NULL
                           ? "unknown Unicode character name"
                           : "malformed \\N character escape");
    if ((unsigned char) *p >= 0x80) {
        /* A backslash before a character beyond ASCII: the encoded form has the character's own escape, so
         * Python leaves both. */
        uint32_t cp = 0;
        size_t n = utf8_next(p, (size_t) (end - p), &cp);
        char text[sizeof("\\U0010ffff")];
        (void) snprintf(text, sizeof(text),
                        cp < 0x100     ? "\\x%02x"
                        : cp < 0x10000 ? "\\u%04x"
                                       : "\\U%08x",
                        cp);
        buf_puts(b, text);
        return p + (n > 0 ? n : 1);
    }
    buf_putc(b, '\\');
    return p;
}

/* Strings without escapes are copied as they are; newlines become the environment's. */
static void
emit_string(lexer_t *self, const char *to, token_t *ret)
{
    const char *p = self->p + 1, *end = to - 1;
    if (memchr(p, '\\', (size_t) (end - p)) == NULL && strcmp(self->newline, "\n") == 0) {
        *ret = (token_t){ T_STRING, self->line, arena_text(self->arena, p, (size_t) (end - p)),
                          (size_t) (end - p) };
        return;
    }
    /* An escape makes text at most four times longer, so the arena's buffer, which cannot grow, is large
     * enough. */
    buf_t b = { arena_take(self->arena, 8 * (size_t) (end - p) + 16), 0, 8 * (size_t) (end - p) + 16, 0 };
    while (p < end) {
        if (*p == '\\' && p + 1 < end)
            p = lex_token_escape(self, p + 1, end, &b);
        else if (*p == '\n' && strcmp(self->newline, "\r\n") == 0)
            buf_add(&b, "\r\n", 2), p++;
        else if (*p == '\n')
            buf_putc(&b, self->newline[0]), p++;
        else
            buf_putc(&b, *p++);
    }
    *ret = (token_t){ T_STRING, self->line, b.data, b.len };
}

/* ---- operators ---------------------------------------------------------------------------------------- */

typedef struct op {
    char text[3];
    tok_t type;
} op_t;

static const op_t ops[] = {
    { "//", T_FLOORDIV }, { "**", T_POW },   { "==", T_EQ },      { "!=", T_NE },      { ">=", T_GTEQ },
    { "<=", T_LTEQ },     { "+", T_ADD },    { "-", T_SUB },      { "/", T_DIV },      { "*", T_MUL },
    { "%", T_MOD },       { "~", T_TILDE },  { "[", T_LBRACKET }, { "]", T_RBRACKET }, { "(", T_LPAREN },
    { ")", T_RPAREN },    { "{", T_LBRACE }, { "}", T_RBRACE },   { ">", T_GT },       { "<", T_LT },
    { "=", T_ASSIGN },    { ".", T_DOT },    { ":", T_COLON },    { "|", T_PIPE },     { ",", T_COMMA },
    { ";", T_SEMICOLON },
};

/* Keeps the stack of open brackets, and raises for a wrong one. */
static void
lex_token_balance(lexer_t *self, char c)
{
    const char *pair = strchr("{}()[]", c);
    if (c == '\0' || pair == NULL)
        return;
    if (c == '{' || c == '(' || c == '[') {
        if (self->depth == LEX_NEST)
            lex_fail(self, "too many brackets are open (limit 1000)");
        self->closers[self->depth++] = pair[1];
        return;
    }
    if (self->depth == 0)
        syntax_fail(self->arena, self->error, self->line, "unexpected '%c'", c);
    char expected = self->closers[--self->depth];
    if (expected != c)
        syntax_fail(self->arena, self->error, self->line, "unexpected '%c', expected '%c'", c, expected);
}

/* Two-character operators come first in the table. */
static bool
lex_operator(lexer_t *self, token_t *ret)
{
    for (size_t i = 0; i < NELEMS(ops); i++) {
        size_t n = strlen(ops[i].text);
        if ((size_t) (self->end - self->p) < n || memcmp(self->p, ops[i].text, n) != 0)
            continue;
        if (n == 1)
            lex_token_balance(self, *self->p);
        *ret = (token_t){ ops[i].type, self->line, ops[i].text, n };
        self->p += n;
        return true;
    }
    return false;
}

bool
lex_token(lexer_t *self, token_t *ret)
{
    const char *to;
    if ((to = match_float(self)) != NULL) {
        emit_number(self, T_FLOAT, to, ret);
    } else if ((to = match_integer(self)) != NULL) {
        emit_number(self, T_INTEGER, to, ret);
    } else if ((to = lex_token_match_name(self)) != NULL) {
        if (!starts_name(self->p, to))
            lex_fail(self, "Invalid character in identifier");
        *ret = (token_t){ T_NAME, self->line, arena_text(self->arena, self->p, (size_t) (to - self->p)),
                          (size_t) (to - self->p) };
    } else if ((to = match_string(self)) != NULL) {
        emit_string(self, to, ret);
        self->line += lex_count_lines(self->p, to);
    } else {
        return lex_operator(self, ret);
    }
    self->p = to;
    return true;
}
