/* lex.c - the lexer's states: text, comment, raw, line comment, and tags with their tokens inside.
 *
 * lexer_next runs the state's step function until one yields a token. Text ends at the first place where one
 * of the start marks matches; the marks are tried longest first, as Jinja's regular expression does. A bitmap
 * of first bytes keeps the scan of text fast. */
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/jinja/parse/lex_int.h"
#include "salt/value.h"

static const char *const descriptions[TOKENS] = {
    [T_EOF] = "end of template",
    [T_DATA] = "template data / text",
    [T_VARIABLE_BEGIN] = "begin of print statement",
    [T_VARIABLE_END] = "end of print statement",
    [T_BLOCK_BEGIN] = "begin of statement block",
    [T_BLOCK_END] = "end of statement block",
    [T_NAME] = "name",
    [T_STRING] = "string",
    [T_INTEGER] = "integer",
    [T_FLOAT] = "float",
    [T_ADD] = "+",
    [T_ASSIGN] = "=",
    [T_COLON] = ":",
    [T_COMMA] = ",",
    [T_DIV] = "/",
    [T_DOT] = ".",
    [T_EQ] = "==",
    [T_FLOORDIV] = "//",
    [T_GT] = ">",
    [T_GTEQ] = ">=",
    [T_LBRACE] = "{",
    [T_LBRACKET] = "[",
    [T_LPAREN] = "(",
    [T_LT] = "<",
    [T_LTEQ] = "<=",
    [T_MOD] = "%",
    [T_MUL] = "*",
    [T_NE] = "!=",
    [T_PIPE] = "|",
    [T_POW] = "**",
    [T_RBRACE] = "}",
    [T_RBRACKET] = "]",
    [T_RPAREN] = ")",
    [T_SEMICOLON] = ";",
    [T_SUB] = "-",
    [T_TILDE] = "~",
};

const char *
tok_describe(tok_t type)
{
    return descriptions[type];
}

const char *
token_describe(const token_t *token)
{
    return token->type == T_NAME ? token->text : descriptions[token->type];
}

size_t
space_at(const char *s, const char *end)
{
    if (s >= end)
        return 0;
    unsigned char c = (unsigned char) *s;
    if (c < 0x80)
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    uint32_t cp = 0;
    size_t n = utf8_next(s, (size_t) (end - s), &cp);
    bool space = cp == 0x85 || cp == 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
                 cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
    return n > 0 && space ? n : 0;
}

const char *
char_end(const char *s, const char *end)
{
    s++;
    while (s < end && ((unsigned char) *s & 0xc0) == 0x80)
        s++;
    return s;
}

/* Length in bytes of the white space character just before `s`, 0 when it is none. */
static size_t
space_before(const char *start, const char *s)
{
    const char *p = s;
    do {
        if (p == start)
            return 0;
        p--;
    } while (((unsigned char) *p & 0xc0) == 0x80 && s - p < 4);
    return space_at(p, s) == (size_t) (s - p) ? (size_t) (s - p) : 0;
}

const char *
lex_skip_space(const char *p, const char *end)
{
    for (size_t n; (n = space_at(p, end)) > 0;)
        p += n;
    return p;
}

/* True when the mark stands at p. */
static bool
lex_at(const lexer_t *self, const char *p, const mark_t *m)
{
    return (size_t) (self->end - p) >= m->len && memcmp(p, m->text, m->len) == 0;
}

/* ---- where the text ends: the next tag ---------------------------------------------------------------- */

/* End of `{% raw %}` at p, or NULL; *ret_sign is its '-' or '+'. */
static const char *
match_raw(const lexer_t *self, const char *p, char *ret_sign)
{
    if (!lex_at(self, p, &self->block_start))
        return NULL;
    p += self->block_start.len;
    *ret_sign = 0;
    if (p < self->end && (*p == '-' || *p == '+'))
        *ret_sign = *p++;
    p = lex_skip_space(p, self->end);
    if (self->end - p < 3 || memcmp(p, "raw", 3) != 0)
        return NULL;
    p = lex_skip_space(p + 3, self->end);
    if (p < self->end && *p == '-' && lex_at(self, p + 1, &self->block_end))
        return lex_skip_space(p + 1 + self->block_end.len, self->end);
    return lex_at(self, p, &self->block_end) ? p + self->block_end.len : NULL;
}

/* End of the start mark of tag `rule` at p, or NULL. Line marks match only at the start of a line. */
static const char *
match_rule(const lexer_t *self, const rule_t *rule, const char *p)
{
    bool line_start = p == self->start || p[-1] == '\n';
    if (rule->state == LEX_LINE_STATEMENT) {
        if (!line_start)
            return NULL;
        while (p < self->end && (*p == ' ' || *p == '\t' || *p == '\v'))
            p++;
    } else if (rule->state == LEX_LINE_COMMENT) {
        if (!line_start && space_before(self->start, p) > 0)
            return NULL;
        for (size_t n; (n = space_at(p, self->end)) > 0 && *p != '\n';)
            p += n;
    }
    return lex_at(self, p, &rule->mark) ? p + rule->mark.len : NULL;
}

/* Tries `{% raw %}`, then the marks in order. */
static bool
match_tag(const lexer_t *self, const char *p, lex_tag_t *tag)
{
    tag->at = p;
    if ((tag->end = match_raw(self, p, &tag->sign)) != NULL) {
        tag->state = LEX_RAW;
        return true;
    }
    for (size_t i = 0; i < self->n_rules; i++) {
        if ((tag->end = match_rule(self, &self->rules[i], p)) == NULL)
            continue;
        tag->state = self->rules[i].state;
        tag->sign = 0;
        if (tag->end < self->end && (*tag->end == '-' || *tag->end == '+'))
            tag->sign = *tag->end++;
        return true;
    }
    return false;
}

/* Skips bytes that start no mark; line marks are tried at line starts only. */
bool
lex_find_tag(const lexer_t *self, lex_tag_t *tag)
{
    for (const char *p = self->p; p < self->end; p++)
        if (self->first[(unsigned char) *p] || (self->has_line_rules && (p == self->start || p[-1] == '\n')))
            if (match_tag(self, p, tag))
                return true;
    /* Line marks may also match at the very end. */
    return self->has_line_rules && self->p < self->end && match_tag(self, self->end, tag);
}

/* End of the text before a tag, after '-' or lstrip_blocks removed white space. */
static const char *
strip_text(const lexer_t *self, const char *text, const char *end, const lex_tag_t *tag)
{
    if (tag->sign == '-') {
        for (size_t n; (n = space_before(text, end)) > 0;)
            end -= n;
        return end;
    }
    if (tag->sign == '+' || !self->lstrip_blocks || tag->state == LEX_VARIABLE)
        return end;
    const char *line = memrchr(text, '\n', (size_t) (end - text));
    line = line != NULL ? line + 1 : text;
    if ((line > text || self->line_starting) && lex_skip_space(line, end) == end)
        return line;
    return end;
}

/* Moves to `to`, remembering whether a line starts there. */
static void
lex_moved(lexer_t *self, const char *to)
{
    if (to > self->p)
        self->line_starting = to[-1] == '\n';
    self->p = to;
}

/* Text [from, to) as a token, with the environment's newline; false when empty. */
static bool
emit_data(lexer_t *self, const char *from, const char *to, token_t *ret)
{
    if (from == to)
        return false;
    *ret = (token_t){ T_DATA, self->line, NULL, (size_t) (to - from) };
    if (strcmp(self->newline, "\n") == 0) {
        ret->text = arena_text(self->arena, from, ret->len);
        return true;
    }
    buf_auto_t b = BUF_INIT;
    for (; from < to; from++)
        if (*from == '\n')
            buf_puts(&b, self->newline);
        else
            buf_putc(&b, *from);
    ret->text = arena_text(self->arena, buf_str(&b), b.len);
    ret->len = b.len;
    return true;
}

/* Emits text up to the next tag. Lines removed by '-' are counted before the tag's line is taken, as in
 * Jinja. */
static bool
step_text(lexer_t *self, token_t *ret)
{
    lex_tag_t tag;
    if (!lex_find_tag(self, &tag)) {
        bool any = emit_data(self, self->p, self->end, ret);
        self->line += lex_count_lines(self->p, self->end);
        lex_moved(self, self->end);
        return any;
    }
    const char *to = strip_text(self, self->p, tag.at, &tag);
    bool any = emit_data(self, self->p, to, ret);
    int lines = tag.sign == '-' ? lex_count_lines(self->p, tag.at) : lex_count_lines(self->p, to);
    self->line += lines;
    self->tag_line = self->line;
    self->line += lex_count_lines(tag.at, tag.end);
    lex_moved(self, tag.end);
    self->state = tag.state;
    self->tag_pending = true;
    return any;
}

/* ---- comments and raw text ---------------------------------------------------------------------------- */

const char *
lex_match_close(const lexer_t *self, const char *p, const mark_t *end_mark, bool plus, bool trim)
{
    if (p < self->end && *p == '+' && plus && lex_at(self, p + 1, end_mark))
        return p + 1 + end_mark->len;
    if (p < self->end && *p == '-' && lex_at(self, p + 1, end_mark))
        return lex_skip_space(p + 1 + end_mark->len, self->end);
    if (!lex_at(self, p, end_mark))
        return NULL;
    p += end_mark->len;
    return trim && self->trim_blocks && p < self->end && *p == '\n' ? p + 1 : p;
}

/* A comment is dropped whole; without an end it is an error. */
static void
step_comment(lexer_t *self)
{
    for (const char *p = self->p; p < self->end; p++) {
        const char *to = lex_match_close(self, p, &self->comment_end, true, true);
        if (to == NULL)
            continue;
        self->line += lex_count_lines(self->p, to);
        lex_moved(self, to);
        self->state = LEX_TEXT;
        return;
    }
    if (self->p < self->end)
        lex_fail(self, "Missing end of comment tag");
    self->state = LEX_TEXT;
}

/* The end tag may have white space and signs, as any tag. */
const char *
lex_match_endraw(const lexer_t *self, const char *p, char *ret_sign)
{
    if (!lex_at(self, p, &self->block_start))
        return NULL;
    p += self->block_start.len;
    *ret_sign = 0;
    if (p < self->end && (*p == '-' || *p == '+'))
        *ret_sign = *p++;
    p = lex_skip_space(p, self->end);
    if (self->end - p < 6 || memcmp(p, "endraw", 6) != 0)
        return NULL;
    return lex_match_close(self, lex_skip_space(p + 6, self->end), &self->block_end, true, true);
}

/* Raw text up to `{% endraw %}`, stripped by its sign. */
static bool
step_raw(lexer_t *self, token_t *ret)
{
    lex_tag_t tag = { .state = LEX_RAW };
    for (const char *p = self->p; p < self->end; p++) {
        if ((tag.end = lex_match_endraw(self, p, &tag.sign)) == NULL)
            continue;
        bool any = emit_data(self, self->p, strip_text(self, self->p, p, &tag), ret);
        self->line += lex_count_lines(self->p, tag.end);
        lex_moved(self, tag.end);
        self->state = LEX_TEXT;
        return any;
    }
    if (self->p < self->end)
        lex_fail(self, "Missing end of raw directive");
    self->state = LEX_TEXT;
    return false;
}

/* A line comment reaches up to the line break, which stays. */
static void
step_line_comment(lexer_t *self)
{
    const char *nl = memchr(self->p, '\n', (size_t) (self->end - self->p));
    lex_moved(self, nl != NULL ? nl : self->end);
    self->state = LEX_TEXT;
}

/* ---- inside tags -------------------------------------------------------------------------------------- */

const char *
lex_match_tag_end(const lexer_t *self)
{
    if (self->depth > 0)
        return NULL;
    if (self->state == LEX_BLOCK)
        return lex_match_close(self, self->p, &self->block_end, true, true);
    if (self->state == LEX_VARIABLE)
        return lex_match_close(self, self->p, &self->variable_end, false, false);

    /* End of a line statement: white space up to the last newline before more text. */
    const char *stop = lex_skip_space(self->p, self->end);
    if (stop == self->end)
        return stop;
    const char *nl = memrchr(self->p, '\n', (size_t) (stop - self->p));
    return nl != NULL ? nl + 1 : NULL;
}

/* A token within a tag: its end, white space (skipped, false) or a token; anything else is an error with
 * Python's repr() of the character. */
static bool
step_tag(lexer_t *self, token_t *ret)
{
    const char *to = lex_match_tag_end(self);
    if (to != NULL) {
        *ret = (token_t){ self->state == LEX_VARIABLE ? T_VARIABLE_END : T_BLOCK_END, self->line, "", 0 };
        self->line += lex_count_lines(self->p, to);
        lex_moved(self, to);
        self->state = LEX_TEXT;
        return true;
    }
    to = lex_skip_space(self->p, self->end);
    if (to > self->p) {
        self->line += lex_count_lines(self->p, to);
        lex_moved(self, to);
        return false;
    }
    if (self->p < self->end && lex_token(self, ret)) {
        self->line_starting = false;
        return true;
    }
    if (self->p >= self->end) {
        self->state = LEX_TEXT;
        return false;
    }
    uint32_t cp = 0;
    size_t n = utf8_next(self->p, (size_t) (self->end - self->p), &cp);
    json_auto_t *v = json_stringn(self->p, n > 0 ? n : 1);
    char *repr = v != NULL ? value_repr(v) : xstrdup("'?'");
    char *shown = arena_text(self->arena, repr, strlen(repr));
    free(repr);
    json_decref(STEAL(v));
    syntax_fail(self->arena, self->error, self->line, "unexpected char %s at %zu", shown,
                utf8_count(self->start, (size_t) (self->p - self->start)));
}

/* A tag's begin token is delivered before its content (tag_pending). Iterates until a token or the end. */
token_t
lexer_next(lexer_t *self)
{
    token_t t = { T_EOF, self->line, "", 0 };
    for (;;) {
        if (self->tag_pending) {
            self->tag_pending = false;
            bool variable = self->state == LEX_VARIABLE;
            if (variable || self->state == LEX_BLOCK || self->state == LEX_LINE_STATEMENT) {
                self->last_line = self->tag_line;
                return (token_t){ variable ? T_VARIABLE_BEGIN : T_BLOCK_BEGIN, self->tag_line, "", 0 };
            }
        }
        if (self->p >= self->end && self->state != LEX_LINE_STATEMENT)
            break;
        bool any = false;
        switch (self->state) {
        case LEX_TEXT:
            any = step_text(self, &t);
            break;
        case LEX_COMMENT:
            step_comment(self);
            break;
        case LEX_RAW:
            any = step_raw(self, &t);
            break;
        case LEX_LINE_COMMENT:
            step_line_comment(self);
            break;
        default:
            any = step_tag(self, &t);
        }
        if (any) {
            self->last_line = t.line;
            return t;
        }
    }
    /* The end has the line of the last token; comments are not tokens. */
    return (token_t){ T_EOF, self->last_line > 0 ? self->last_line : 1, "", 0 };
}

const char *
lexer_source(const lexer_t *self, size_t *ret_len)
{
    *ret_len = (size_t) (self->end - self->start);
    return self->start;
}

void
lexer_start_expression(lexer_t *self)
{
    self->state = LEX_VARIABLE;
}

/* ---- set-up ------------------------------------------------------------------------------------------- */

static mark_t
lex_mark(lexer_t *self, const char *text, const char *dflt)
{
    size_t len = strlen(text != NULL ? text : dflt);
    return (mark_t){ arena_text(self->arena, text != NULL ? text : dflt, len), len };
}

/* Inserts a rule: longer marks first, equal ones in reverse order of Jinja's rule names. */
static void
add_rule(lexer_t *self, lex_state_t state, mark_t m)
{
    size_t i = self->n_rules++;
    for (; i > 0; i--) {
        const rule_t *before = &self->rules[i - 1];
        if (before->mark.len > m.len || (before->mark.len == m.len && before->state > state))
            break;
        self->rules[i] = *before;
    }
    self->rules[i] = (rule_t){ state, m };
}

lexer_t *
lexer_new(arena_t *arena, const jsyntax_t *syntax, const char *source, size_t len, syntax_error_t *error)
{
    lexer_t *self = arena_take(arena, sizeof(*self));
    self->arena = arena;
    self->error = error;
    self->line = 1;
    self->line_starting = true;
    self->trim_blocks = syntax->trim_blocks;
    self->lstrip_blocks = syntax->lstrip_blocks;
    self->newline = syntax->newline != NULL ? syntax->newline : "\n";
    self->block_start = lex_mark(self, syntax->block_start, "{%");
    self->block_end = lex_mark(self, syntax->block_end, "%}");
    self->variable_end = lex_mark(self, syntax->variable_end, "}}");
    self->comment_end = lex_mark(self, syntax->comment_end, "#}");

    /* The marks in order, and the bitmap of bytes at which one may begin. */
    add_rule(self, LEX_COMMENT, lex_mark(self, syntax->comment_start, "{#"));
    add_rule(self, LEX_BLOCK, self->block_start);
    add_rule(self, LEX_VARIABLE, lex_mark(self, syntax->variable_start, "{{"));
    if (syntax->line_statement != NULL)
        add_rule(self, LEX_LINE_STATEMENT, lex_mark(self, syntax->line_statement, ""));
    if (syntax->line_comment != NULL)
        add_rule(self, LEX_LINE_COMMENT, lex_mark(self, syntax->line_comment, ""));
    self->has_line_rules = syntax->line_statement != NULL || syntax->line_comment != NULL;
    for (size_t i = 0; i < self->n_rules; i++)
        self->first[(unsigned char) self->rules[i].mark.text[0]] = true;
    /* A line comment may begin with white space anywhere after text. */
    for (int c = 0; syntax->line_comment != NULL && c < 256; c++)
        self->first[c] = self->first[c] || c == ' ' || c == '\t' || c >= 0x80 || (c >= '\v' && c <= '\f');

    /* Normalises newlines to \n; drops the last one unless it is kept. */
    char *text = arena_take(self->arena, len + 1);
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (source[i] == '\r' && i + 1 < len && source[i + 1] == '\n')
            continue;
        text[n++] = source[i] == '\r' ? '\n' : source[i];
    }
    if (!syntax->keep_trailing_newline && n > 0 && text[n - 1] == '\n')
        n--;
    self->start = self->p = text;
    self->end = text + n;

    return self;
}
