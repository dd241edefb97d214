/* jmes_lex.c - splits a JMESPath expression into tokens, as jmespath.py's lexer: with its error texts, its
 * columns in characters, and its tolerance for old literals that are not JSON. */
#include "common/base/utf8.h"
#include "common/jmes/jmes.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"

const py_exc_t jmes_Error = { "JMESPathError", &py_ValueError };
const py_exc_t jmes_ParseError = { "ParseError", &jmes_Error };
const py_exc_t jmes_LexerError = { "LexerError", &jmes_ParseError };
static const py_exc_t empty_error = { "EmptyExpressionError", &jmes_Error };

const struct jmes_token_row jmes_tokens[JT_TYPES] = {
    [JT_EOF] = { "eof", 0 },
    [JT_UNQUOTED] = { "unquoted_identifier", 0 },
    [JT_QUOTED] = { "quoted_identifier", 0 },
    [JT_LITERAL] = { "literal", 0 },
    [JT_RBRACKET] = { "rbracket", 0 },
    [JT_RPAREN] = { "rparen", 0 },
    [JT_COMMA] = { "comma", 0 },
    [JT_RBRACE] = { "rbrace", 0 },
    [JT_NUMBER] = { "number", 0 },
    [JT_CURRENT] = { "current", 0 },
    [JT_EXPREF] = { "expref", 0 },
    [JT_COLON] = { "colon", 0 },
    [JT_PIPE] = { "pipe", 1 },
    [JT_OR] = { "or", 2 },
    [JT_AND] = { "and", 3 },
    [JT_EQ] = { "eq", 5 },
    [JT_GT] = { "gt", 5 },
    [JT_LT] = { "lt", 5 },
    [JT_GTE] = { "gte", 5 },
    [JT_LTE] = { "lte", 5 },
    [JT_NE] = { "ne", 5 },
    [JT_FLATTEN] = { "flatten", 9 },
    [JT_STAR] = { "star", 20 },
    [JT_FILTER] = { "filter", 21 },
    [JT_DOT] = { "dot", 40 },
    [JT_NOT] = { "not", 45 },
    [JT_LBRACE] = { "lbrace", 50 },
    [JT_LBRACKET] = { "lbracket", 55 },
    [JT_LPAREN] = { "lparen", 60 },
};

/* Marks; longer ones come before their prefixes. */
static const struct {
    const char *text;
    jmes_token_type_t type;
} marks[] = {
    { "[]", JT_FLATTEN }, { "[?", JT_FILTER },  { "[", JT_LBRACKET }, { "||", JT_OR },    { "|", JT_PIPE },
    { "&&", JT_AND },     { "&", JT_EXPREF },   { "<=", JT_LTE },     { "<", JT_LT },     { ">=", JT_GTE },
    { ">", JT_GT },       { "!=", JT_NE },      { "!", JT_NOT },      { "==", JT_EQ },    { ".", JT_DOT },
    { "*", JT_STAR },     { "]", JT_RBRACKET }, { ",", JT_COMMA },    { ":", JT_COLON },  { "@", JT_CURRENT },
    { "(", JT_LPAREN },   { ")", JT_RPAREN },   { "{", JT_LBRACE },   { "}", JT_RBRACE },
};

/* State of the lexer. Columns count characters; they are computed as far as needed. */
typedef struct lexer {
    jmes_t *tree;
    const char *start, *p, *end;
    const char *counted; /* characters before this are `column` */
    size_t column, n;
} lexer_t;

/* Column of a place in characters. Places are asked for in order, so counting is linear in total. */
static size_t
jmes_lex_position(lexer_t *l, const char *at)
{
    for (; l->counted < at; l->counted++)
        l->column += ((unsigned char) *l->counted & 0xc0) != 0x80;
    return l->column;
}

/* Appends a token. TAKES `value`; names and literals may reach results, so a peer's expression marks them. */
static void
jmes_lex_add(lexer_t *l, jmes_token_type_t type, const char *from, py_t *value)
{
    jmes_t *t = l->tree;
    value = py_peer_like(value, &t->text, 1); /* literals and names go into results */
    py_append_new(t->values, value);
    t->tokens = arena_grow(t->arena, t->tokens, l->n, sizeof(*t->tokens));
    t->tokens[l->n++] = (jmes_token_t){ type, jmes_lex_position(l, from), value };
}

/* LexerError with a caret below the column. -1. */
static int
jmes_lex_bad(lexer_t *l, const char *at, const char *message)
{
    size_t column = jmes_lex_position(l, at);
    return py_raise_int(&jmes_LexerError, "Bad jmespath expression: %s:\n%s\n%*s^", message, l->start,
                        (int) column, "");
}

static bool
jmes_lex_is_word(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static bool
jmes_lex_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads up to the closing delimiter. A backslash protects the next character; it is dropped when that is the
 * delimiter and `unescape` is set. 0, or -1 raised. */
static int
delimited(lexer_t *l, char delimiter, bool unescape, buf_t *out)
{
    const char *from = l->p++;
    for (; l->p < l->end && *l->p != delimiter; l->p++) {
        if (*l->p == '\\' && l->p + 1 < l->end) {
            if (!unescape || l->p[1] != delimiter)
                buf_putc(out, '\\');
            l->p++;
        }
        buf_putc(out, *l->p);
    }
    if (l->p == l->end) {
        char message[] = "Unclosed ? delimiter";
        message[9] = delimiter;
        return jmes_lex_bad(l, from, message);
    }
    l->p++;
    return 0;
}

/* A quoted identifier is a JSON string, escapes included. */
static int
lex_quoted(lexer_t *l)
{
    const char *from = l->p;
    buf_auto_t b = BUF_INIT;
    buf_putc(&b, '"');
    if (delimited(l, '"', false, &b) < 0)
        return -1;
    buf_putc(&b, '"');
    py_t *value = py_json_loads(b.data, b.len);
    if (value != NULL) {
        jmes_lex_add(l, JT_QUOTED, from, value);
        return 0;
    }
    if (!py_raised_is(&py_ValueError))
        return -1;
    const char *why = py_raised_text(), *colon = strchr(why, ':');
    char *message AUTO_FREE = colon != NULL ? xstrndup(why, (size_t) (colon - why)) : xstrdup(why);
    py_clear();
    return jmes_lex_bad(l, from, message);
}

/* A raw string in single quotes: no escapes except \' are decoded. */
static int
lex_raw(lexer_t *l)
{
    const char *from = l->p;
    buf_t b = BUF_INIT;
    if (delimited(l, '\'', true, &b) < 0) {
        buf_free(&b);
        return -1;
    }
    jmes_lex_add(l, JT_LITERAL, from, py_str_buf(&b));
    return 0;
}

/* A literal between grave accents: JSON, or else a text, which old expressions wrote without quotes. */
static int
lex_literal(lexer_t *l)
{
    const char *from = l->p;
    buf_auto_t b = BUF_INIT;
    if (delimited(l, '`', true, &b) < 0)
        return -1;
    py_t *value = py_json_loads(buf_str(&b), b.len);
    if (value == NULL && py_raised_is(&py_ValueError)) {
        py_clear();
        size_t skip = strspn(buf_str(&b), " \t\n\r\f\v");
        char *quoted AUTO_FREE = xasprintf("\"%s\"", buf_str(&b) + skip);
        value = py_json_loads(quoted, strlen(quoted));
    }
    if (value != NULL) {
        jmes_lex_add(l, JT_LITERAL, from, value);
        return 0;
    }
    if (!py_raised_is(&py_ValueError))
        return -1;
    py_clear();
    char *message AUTO_FREE = xasprintf("Bad token %s", buf_str(&b));
    return jmes_lex_bad(l, from, message);
}

/* An integer with an optional sign. */
static int
lex_number(lexer_t *l)
{
    const char *from = l->p;
    for (l->p++; l->p < l->end && jmes_lex_is_digit(*l->p); l->p++) {
    }
    size_t n = (size_t) (l->p - from);
    if (n == 1 && *from == '-')
        return jmes_lex_bad(l, from, "Unknown token '-'");
    jmes_lex_add(l, JT_NUMBER, from, py_int_digits(from, n));
    return 0;
}

/* An operator or bracket. The messages for unknown characters are jmespath.py's. */
static int
lex_mark(lexer_t *l)
{
    for (size_t i = 0; i < NELEMS(marks); i++) {
        size_t n = strlen(marks[i].text);
        if (strncmp(l->p, marks[i].text, n) != 0)
            continue;
        jmes_lex_add(l, marks[i].type, l->p, py_str(l->p, n));
        l->p += n;
        return 0;
    }
    uint32_t cp;
    size_t n = utf8_next(l->p, (size_t) (l->end - l->p), &cp);
    const char *quote = *l->p == '=' ? "'" : "";
    char *message AUTO_FREE = xasprintf("Unknown token %s%.*s%s", quote, (int) (n > 0 ? n : 1), l->p, quote);
    return jmes_lex_bad(l, l->p, message);
}

/* Chooses the kind of token by its first character. */
static int
lex_one(lexer_t *l)
{
    const char *from = l->p;
    if (!jmes_lex_is_word(*from, true))
        return *from == '"'                               ? lex_quoted(l)
               : *from == '\''                            ? lex_raw(l)
               : *from == '`'                             ? lex_literal(l)
               : *from == '-' || jmes_lex_is_digit(*from) ? lex_number(l)
                                                          : lex_mark(l);
    while (l->p < l->end && jmes_lex_is_word(*l->p, false))
        l->p++;
    jmes_lex_add(l, JT_UNQUOTED, from, py_str(from, (size_t) (l->p - from)));
    return 0;
}

/* Ends the tokens with JT_EOF, at the text's end. */
int
jmes_lex(jmes_t *self)
{
    size_t len;
    const char *text = py_text(self->text, &len);
    lexer_t l = { .tree = self, .start = text, .p = text, .end = text + len, .counted = text };
    if (len == 0)
        return py_raise_int(&empty_error, "Invalid JMESPath expression: cannot be empty.");
    while (l.p < l.end) {
        if (py_tick() < 0)
            return -1;
        if (strchr(" \t\n\r", *l.p) != NULL && *l.p != '\0')
            l.p++;
        else if (lex_one(&l) < 0)
            return -1;
    }
    jmes_lex_add(&l, JT_EOF, l.end, py_str("", 0));
    return 0;
}
