/* lex_span.c - checks peers' values in a text before it becomes a template.
 *
 * Runs the lexer's states over the text without making tokens for the parser, and tests each delimiter and
 * token against the spans: no byte of a delimiter may be a peer's, and within tags a span must be part of a
 * string's content or an integer of its own. */
#include "common/base/buf.h"
#include "common/jinja/parse/lex_int.h"

/* State of the check whether peers' texts stay within single tokens. */
typedef struct check {
    lexer_t *lexer;
    const spans_t *spans; /* as the caller has them */
    span_t *v;            /* the same as places of the lexer's source */
    size_t span;          /* index of the first span that ends after the current place */
    breakout_t *ret;
    const char *what;      /* problem of the span `span`; NULL: none so far */
    jspan_place_t *places; /* of the spans, unless it is NULL */
} check_t;

/* First span that ends after a place, or an empty one at the source's end. Places ascend, so all calls are
 * linear. */
static span_t
lex_span_behind(check_t *c, const char *at)
{
    const lexer_t *l = c->lexer;

    while (c->span < c->spans->n && c->v[c->span].to <= (size_t) (at - l->start))
        c->span++;
    size_t len = (size_t) (l->end - l->start);
    return c->span < c->spans->n ? c->v[c->span] : (span_t){ len, len, 0 };
}

/* True when no byte of [from, to) is a span's; else records `what`. */
static bool
lex_span_is_free(check_t *c, const char *from, const char *to, const char *what)
{
    const span_t span = lex_span_behind(c, from);

    if (from >= to || c->lexer->start + span.from >= to)
        return true;
    c->what = what;
    return false;
}

/* The same without trailing blanks: trimming removes them whatever their origin. */
static bool
sign_is_free(check_t *c, const char *from, const char *to, const char *what)
{
    while (to > from && space_at(to - 1, to) > 0)
        to--;
    return lex_span_is_free(c, from, to, what);
}

/* ---- text, comments and raw text ----------------------------------------------------------------------- */

/* A line statement's start includes the line break before it. */
static bool
text_fits(check_t *c)
{
    lexer_t *l = c->lexer;
    lex_tag_t tag;

    if (!lex_find_tag(l, &tag)) {
        l->p = l->end;
        return true;
    }
    bool by_line = tag.state == LEX_LINE_STATEMENT || tag.state == LEX_LINE_COMMENT;
    const char *from = by_line && tag.at > l->start && tag.at[-1] == '\n' ? tag.at - 1 : tag.at;
    l->p = tag.end;
    l->state = tag.state;
    return sign_is_free(c, from, tag.end, "the start of a tag of a template");
}

/* A comment's end must not contain a peer's bytes; its content may. */
static bool
comment_fits(check_t *c)
{
    lexer_t *l = c->lexer;
    const char *from = l->p, *to = NULL;

    while (from < l->end && (to = lex_match_close(l, from, &l->comment_end, true, true)) == NULL)
        from++;
    l->state = LEX_TEXT;
    l->p = to != NULL ? to : l->end;
    return to == NULL || sign_is_free(c, from, to, "the end of a comment");
}

/* The same for raw text. */
static bool
raw_fits(check_t *c)
{
    lexer_t *l = c->lexer;
    const char *from = l->p, *to = NULL;
    char sign;

    while (from < l->end && (to = lex_match_endraw(l, from, &sign)) == NULL)
        from++;
    l->state = LEX_TEXT;
    l->p = to != NULL ? to : l->end;
    return to == NULL || sign_is_free(c, from, to, "the end of raw text");
}

/* A peer's line break would end the comment. */
static bool
line_comment_fits(check_t *c)
{
    lexer_t *l = c->lexer;
    const char *end = memchr(l->p, '\n', (size_t) (l->end - l->p));

    l->state = LEX_TEXT;
    l->p = end != NULL ? end : l->end;
    if (end == NULL || (size_t) (end - l->start) < lex_span_behind(c, end).from)
        return true;
    c->what = "the end of a comment";
    return false;
}

/* ---- inside of tags ------------------------------------------------------------------------------------ */

/* Length in bytes of the longest escape that may begin at the backslash `p`. */
static size_t
lex_span_escape_len(const char *p, const char *end)
{
    size_t n = 2;

    if (end - p < 2)
        return 1;
    if (p[1] == 'x')
        n = 4;
    else if (p[1] == 'u')
        n = 6;
    else if (p[1] == 'U')
        n = 10;
    else if (p[1] == 'N')
        for (; n < (size_t) (end - p) && p[n - 1] != '}';)
            n++;
    else if (p[1] >= '0' && p[1] <= '7')
        for (; n < 4 && n < (size_t) (end - p) && p[n] >= '0' && p[n] <= '7';)
            n++;
    return n < (size_t) (end - p) ? n : (size_t) (end - p);
}

/* True when no escape in the string's text [p, end) crosses the border of a span. */
static bool
lex_span_string_fits(check_t *c, const char *p, const char *end)
{
    for (size_t n; p < end; p += n) {
        size_t at = (size_t) (p - c->lexer->start);
        n = *p == '\\' ? lex_span_escape_len(p, end) : 1;
        const span_t span = lex_span_behind(c, p);
        if (span_cut(&span, at, at + n)) {
            c->what = "an escape of what stands beside it";
            return false;
        }
    }
    return true;
}

/* True for a byte that would join a number next to it. */
static bool
is_word_byte(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (unsigned char) c >= 0x80;
}

/* True when the token [from, p) is an integer that nothing is joined to. */
static bool
is_integer(const lexer_t *l, tok_t type, const char *from)
{
    bool before = from > l->start && is_word_byte(from[-1]), behind = l->p < l->end && is_word_byte(*l->p);

    return type == T_INTEGER && !before && !behind;
}

/* Checks the token [from, p). */
static bool
lex_span_token_fits(check_t *c, tok_t type, const char *from)
{
    const lexer_t *l = c->lexer;
    size_t start = (size_t) (from - l->start), end = (size_t) (l->p - l->start);
    const span_t span = lex_span_behind(c, from);

    if (span.from >= end || (span.from == start && span.to == end && is_integer(l, type, from)))
        return true;
    c->what = "a part of an expression";
    if (type != T_STRING || span.from <= start)
        return false;
    c->what = NULL;
    if (!lex_span_string_fits(c, from + 1, l->p - 1))
        return false;
    const span_t last = lex_span_behind(c, l->p - 1);
    if (last.from < end) {
        c->what = "the end of a quoted text";
        return false;
    }
    return true;
}

/* Within tags every token, and the white space between, is checked. */
static bool
tag_fits(check_t *c)
{
    lexer_t *l = c->lexer;
    const char *from = l->p, *end = lex_match_tag_end(l);
    token_t token;

    if (end != NULL) {
        bool by_line = l->state == LEX_LINE_STATEMENT;
        l->p = end;
        l->state = LEX_TEXT;
        return (by_line ? lex_span_is_free : sign_is_free)(c, from, end, "the end of a tag of a template");
    }
    from = lex_skip_space(l->p, l->end);
    if (from > l->p) {
        const char *blank = l->p;
        l->p = from;
        return lex_span_is_free(c, blank, from, "a part of an expression");
    }
    if (!lex_token(l, &token))
        lex_fail(l, "unexpected char");
    return lex_span_token_fits(c, token.type, from);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static const jspan_place_t places_of[] = {
    [LEX_TEXT] = JSPAN_TEXT,
    [LEX_BLOCK] = JSPAN_TAG,
    [LEX_COMMENT] = JSPAN_COMMENT,
    [LEX_RAW] = JSPAN_RAW,
    [LEX_LINE_COMMENT] = JSPAN_COMMENT,
    [LEX_LINE_STATEMENT] = JSPAN_TAG,
    [LEX_VARIABLE] = JSPAN_TAG,
};

/* Runs a step of the current state, and records the place of the spans that it passed. */
static bool
step_fits(check_t *c)
{
    static bool (*const steps[])(check_t *) = {
        [LEX_TEXT] = text_fits,          [LEX_BLOCK] = tag_fits,
        [LEX_COMMENT] = comment_fits,    [LEX_LINE_COMMENT] = line_comment_fits,
        [LEX_LINE_STATEMENT] = tag_fits, [LEX_RAW] = raw_fits,
        [LEX_VARIABLE] = tag_fits,
    };

    const lexer_t *l = c->lexer;
    size_t from = (size_t) (l->p - l->start), first = c->span;
    jspan_place_t place = places_of[l->state];
    bool fits = steps[l->state](c);

    for (size_t i = first; i < c->spans->n && c->v[i].from < (size_t) (l->p - l->start); i++)
        if (c->places != NULL && c->v[i].to > from)
            c->places[i] = place;
    return fits;
}

/* Runs over the source: 1 when its spans fit, 0 when not, -1 when it cannot be read. */
static int
lex_span_read_all(check_t *c, syntax_error_t *error)
{
    if (setjmp(error->out) != 0)
        return -1;
    while (c->lexer->p < c->lexer->end)
        if (!step_fits(c))
            return 0;
    return 1;
}

/* True when the text would be a template with numbers in place of the spans: then a peer's value broke it. */
static bool
reads_without(const char *text, size_t len, const jsyntax_t *syntax, const spans_t *spans)
{
    const spans_t none = SPANS_INIT;
    buf_auto_t tame = BUF_INIT;
    syntax_error_t error = { .cls = NULL };
    AUTO(arena) arena = arena_new();
    size_t done = 0;

    for (size_t i = 0; i < spans->n; i++) {
        buf_add(&tame, text + done, spans->v[i].from - done);
        buf_putc(&tame, '0');
        done = spans->v[i].to;
    }
    buf_add(&tame, text + done, len - done);
    check_t c = { .lexer = lexer_new(arena, syntax, tame.data, tame.len, &error), .spans = &none };
    return lex_span_read_all(&c, &error) > 0;
}

bool
jinja_spans_fit(const char *text, size_t len, const jsyntax_t *syntax, const spans_t *spans,
                jspan_place_t *ret_places, breakout_t *ret)
{
    syntax_error_t error = { .cls = NULL };

    if (spans->n == 0)
        return true;
    if (!spans_have_characters(spans, text, len, ret))
        return false;
    AUTO(arena) arena = arena_new();
    check_t c = { .lexer = lexer_new(arena, syntax, text, len, &error),
                  .spans = spans,
                  .places = ret_places };

    /* Maps the spans to the lexer's source, which has one byte for "\r\n" and may lack the last line
     * break. */
    size_t source_len = (size_t) (c.lexer->end - c.lexer->start);
    span_t *v = xcalloc(spans->n, sizeof(*v));
    size_t at = 0, gone = 0;

    for (size_t i = 0; i < spans->n * 2; i++) {
        const span_t *span = &spans->v[i / 2];
        size_t stop = i % 2 == 0 ? span->from : span->to;
        for (; at < stop; at++)
            gone += text[at] == '\r' && at + 1 < len && text[at + 1] == '\n';
        size_t place = stop - gone < source_len ? stop - gone : source_len;
        *(i % 2 == 0 ? &v[i / 2].from : &v[i / 2].to) = place;
    }
    c.v = v;

    int fit = lex_span_read_all(&c, &error);
    if (fit < 0 && reads_without(text, len, syntax, spans)) {
        c.what = "text that is not a template";
        (void) lex_span_behind(&c, c.lexer->p);
        fit = 0;
    }
    free(c.v);
    size_t last = c.span < spans->n ? c.span : spans->n - 1;
    return fit != 0 || breakout_set(ret, spans, spans->v[last].from, c.what);
}

static bool
has_sign(const char *text, size_t len, const char *sign)
{
    return memmem(text, len, sign, strlen(sign)) != NULL;
}

/* Cheap test by substring search; line statements are checked at line starts. */
bool
jinja_has_tags(const char *text, size_t len, const jsyntax_t *syntax)
{
    const char *statement = syntax->line_statement, *end = text + len;

    if (has_sign(text, len, syntax->variable_start != NULL ? syntax->variable_start : "{{") ||
        has_sign(text, len, syntax->block_start != NULL ? syntax->block_start : "{%"))
        return true;
    bool begins = true;
    for (const char *p = text; statement != NULL && p < end; p++) {
        size_t n = strlen(statement);
        if (begins && (size_t) (end - p) >= n && memcmp(p, statement, n) == 0)
            return true;
        begins = *p == '\n' || *p == '\r' || (begins && (*p == ' ' || *p == '\t' || *p == '\v'));
    }
    return false;
}
