/* yaml_span.c - the text and its reference, where each span is a word, token by token beside each other.
 *
 * libyaml's parser is a function of the kinds of its scanner's tokens, of directives and tags. When two texts
 * have the same ones they have the same events, or the same error. A token's marks say where it stands; spans
 * map the reference's places to the text's.
 */
#include "common/data/yaml_span_int.h"

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/yaml_scalar.h"
#include "salt/limits.h"

/* Replacement of a span in the reference. One letter is never longer than the span, and neither begins nor
 * continues an escape. */
#define WORD "w"

/* Adjacent spans, which the reference replaces by one word. */
typedef struct hole {
    size_t from, to; /* in the text */
    size_t at;       /* of the word in the reference */
    size_t first, n; /* the spans */
} hole_t;

typedef struct side {
    const char *text;
    size_t len;
    yaml_parser_t parser;
    yaml_token_t token; /* zeroed before the first one */
    bool failed;
    size_t start, end; /* bytes of the token; of the problem once it has failed */
    yaml_place_t place;
} side_t;

typedef struct check {
    const spans_t *spans;
    hole_t *holes;
    size_t n_holes;
    size_t hole; /* the first whose word does not begin before the place that was last asked for */
    side_t real, ref;
    yaml_token_type_t before;    /* the reference's last token */
    char open[LIMIT_YAML_DEPTH]; /* collections that are open: '[', '{', or 'b' for one of the block style */
    size_t depth;
    size_t merging;      /* `depth` at a key "<<" of the template, until its value is over; 0: none */
    const hole_t *whole; /* the last one that is a collection in the text; NULL: none */
    yaml_breakout_t *ret;
} check_t;

/* ---- a side
 * --------------------------------------------------------------------------------------------------- */

static void
side_begin(side_t *s, const char *text, size_t len)
{
    s->text = text;
    s->len = len;
    s->place = yaml_place_begin(&s->parser, text, len);
}

static void
side_end(side_t *s)
{
    yaml_token_delete(&s->token);
    yaml_parser_delete(&s->parser);
}

/* Scans the side's next token and converts its marks from characters to bytes. On failure `start` and `end`
 * are the problem's place. */
static void
side_next(side_t *s)
{
    const yaml_parser_t *p = &s->parser;

    yaml_token_delete(&s->token);
    s->failed = !yaml_parser_scan(&s->parser, &s->token);
    if (!s->failed) {
        s->start = yaml_place_byte(&s->place, s->token.start_mark.index);
        s->end = yaml_place_byte(&s->place, s->token.end_mark.index);
        return;
    }
    size_t at = p->error == YAML_READER_ERROR ? p->problem_offset
                                              : yaml_place_byte(&s->place, p->problem_mark.index);
    s->start = s->end = at < s->len ? at : s->len;
}

/* ---- places
 * --------------------------------------------------------------------------------------------------- */

/* True when the bytes are spaces, tabs and YAML's line breaks only. */
static bool
yaml_span_is_blank(const char *text, size_t from, size_t to)
{
    static const char *const wide[] = { "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

    while (from < to) {
        size_t n = strchr(" \t\r\n", text[from]) != NULL && text[from] != '\0' ? 1 : 0;
        for (size_t i = 0; n == 0 && i < NELEMS(wide); i++)
            if (to - from >= strlen(wide[i]) && memcmp(text + from, wide[i], strlen(wide[i])) == 0)
                n = strlen(wide[i]);
        if (n == 0)
            return false;
        from += n;
    }
    return true;
}

/* Maps a byte of the reference to the text. Afterwards c->hole is the first hole whose word begins at or
 * after it; calls with ascending places are amortised O(1). */
static size_t
map(check_t *c, size_t at)
{
    while (c->hole < c->n_holes && c->holes[c->hole].at < at)
        c->hole++;
    while (c->hole > 0 && c->holes[c->hole - 1].at >= at)
        c->hole--;
    if (c->hole == 0)
        return at;
    const hole_t *h = &c->holes[c->hole - 1];
    return h->to + (at - h->at - strlen(WORD));
}

/* The hole whose word begins at this byte of the reference, or NULL. */
static const hole_t *
hole_from(check_t *c, size_t at)
{
    (void) map(c, at);
    return c->hole < c->n_holes && c->holes[c->hole].at == at ? &c->holes[c->hole] : NULL;
}

static const hole_t *
hole_to(check_t *c, size_t at)
{
    (void) map(c, at);
    return c->hole > 0 && c->holes[c->hole - 1].at + strlen(WORD) == at ? &c->holes[c->hole - 1] : NULL;
}

/* True when a word begins within the reference's current token. */
static bool
has_hole(check_t *c)
{
    (void) map(c, c->ref.start);
    return c->hole < c->n_holes && c->holes[c->hole].at < c->ref.end;
}

/* A token that begins with a span may start later in the text, after blanks at the span's start. */
static bool
start_fits(check_t *c)
{
    size_t wanted = map(c, c->ref.start), is = c->real.start;

    if (is == wanted)
        return true;
    return hole_from(c, c->ref.start) != NULL && is > wanted && yaml_span_is_blank(c->real.text, wanted, is);
}

/* A token that ends with a span may end earlier in the text, before blanks at the span's end. */
static bool
end_fits(check_t *c)
{
    size_t wanted = map(c, c->ref.end), is = c->real.end;

    if (c->ref.start == c->ref.end)
        return c->real.start == c->real.end;
    if (is == wanted)
        return true;
    return hole_to(c, c->ref.end) != NULL && is < wanted && yaml_span_is_blank(c->real.text, is, wanted);
}

/* ---- in plain words
 * ------------------------------------------------------------------------------------------- */

/* A token in plain words, for the message "... would begin a new key". */
static const char *
yaml_span_name_of(yaml_token_type_t type)
{
    static const char *const names[] = {
        [YAML_STREAM_END_TOKEN] = "no value at all",
        [YAML_VERSION_DIRECTIVE_TOKEN] = "a directive",
        [YAML_TAG_DIRECTIVE_TOKEN] = "a directive",
        [YAML_DOCUMENT_START_TOKEN] = "a new document",
        [YAML_DOCUMENT_END_TOKEN] = "the end of the document",
        [YAML_BLOCK_SEQUENCE_START_TOKEN] = "a new item",
        [YAML_BLOCK_MAPPING_START_TOKEN] = "a new key",
        [YAML_BLOCK_END_TOKEN] = "the end of a list or mapping",
        [YAML_FLOW_SEQUENCE_START_TOKEN] = "a list",
        [YAML_FLOW_SEQUENCE_END_TOKEN] = "the end of a list or mapping",
        [YAML_FLOW_MAPPING_START_TOKEN] = "a mapping",
        [YAML_FLOW_MAPPING_END_TOKEN] = "the end of a list or mapping",
        [YAML_BLOCK_ENTRY_TOKEN] = "a new item",
        [YAML_FLOW_ENTRY_TOKEN] = "a new item",
        [YAML_KEY_TOKEN] = "a new key",
        [YAML_VALUE_TOKEN] = "a new key",
        [YAML_ALIAS_TOKEN] = "an alias",
        [YAML_ANCHOR_TOKEN] = "an anchor",
        [YAML_TAG_TOKEN] = "a tag",
        [YAML_SCALAR_TOKEN] = "a second value",
    };
    const char *name = (size_t) type < NELEMS(names) ? names[type] : NULL;

    return name != NULL ? name : "something else";
}

static bool
yaml_span_refuse(check_t *c, size_t at, const char *what)
{
    return breakout_set(c->ret, c->spans, at, what);
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool
is_quoted(yaml_scalar_style_t style)
{
    return style == YAML_SINGLE_QUOTED_SCALAR_STYLE || style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
}

/* The scanner failed in the text while the reference has a token: names the cause, as early as it is known.
 */
static bool
refuse_error(check_t *c)
{
    const yaml_parser_t *p = &c->real.parser;
    const char *problem = p->problem != NULL ? p->problem : "", *what = "text that YAML cannot read";
    size_t at = c->real.start;

    if (!c->ref.failed)
        at = least(at, map(c, c->ref.end));
    if (p->error == YAML_READER_ERROR)
        what = "a character that YAML forbids";
    else if (strstr(problem, "mapping values") != NULL)
        what = "a new key";
    else if (strstr(problem, "unexpected end of stream") != NULL)
        what = is_quoted(c->ref.token.data.scalar.style) ? "the end of a quoted text"
                                                         : "a quoted text without end";
    return yaml_span_refuse(c, at, what);
}

/* The scalar's end differs: finds out what ended it (a quote, a comment, a colon, or the next token that is
 * no block end). */
static bool
refuse_end(check_t *c)
{
    side_t *s = &c->real;
    yaml_scalar_style_t style = c->ref.token.data.scalar.style;
    size_t at = least(s->end, map(c, c->ref.end));

    if (style != YAML_PLAIN_SCALAR_STYLE)
        return yaml_span_refuse(c, at,
                                is_quoted(style) ? "the end of a quoted text" : "the end of a block of text");
    if (is_quoted(s->token.data.scalar.style))
        return yaml_span_refuse(c, s->start, "a quoted text");
    while (at < s->len && yaml_span_is_blank(s->text, at, at + 1))
        at++;
    if (at < s->len && (s->text[at] == '#' || s->text[at] == ':'))
        return yaml_span_refuse(c, at, s->text[at] == '#' ? "a comment" : "a new key");
    do
        side_next(s);
    while (s->token.type == YAML_BLOCK_END_TOKEN);
    return s->failed ? refuse_error(c) : yaml_span_refuse(c, at, yaml_span_name_of(s->token.type));
}

/* The texts have tokens of different kinds at corresponding places; names the first byte of the span that is
 * not blank. */
static bool
refuse_type(check_t *c)
{
    const hole_t *h = c->ref.token.type == YAML_SCALAR_TOKEN ? hole_from(c, c->ref.start) : NULL;
    size_t at = least(c->real.start, map(c, c->ref.end));

    /* A key begins before the span that ends it. */
    if (h == NULL && c->ref.token.type == YAML_SCALAR_TOKEN && has_hole(c))
        return yaml_span_refuse(c, c->holes[c->hole].from, yaml_span_name_of(c->real.token.type));
    if (h == NULL)
        return yaml_span_refuse(c, at, yaml_span_name_of(c->real.token.type));
    size_t first = h->from;
    while (first < h->to && yaml_span_is_blank(c->real.text, first, first + 1))
        first++;
    bool comment = first < h->to && c->real.text[first] == '#';
    return yaml_span_refuse(c, first, comment ? "a comment" : yaml_span_name_of(c->real.token.type));
}

/* ---- scalars
 * -------------------------------------------------------------------------------------------------- */

/* Length in bytes of the escape that begins with the backslash at `p`, cut at `end`. */
static size_t
yaml_span_escape_len(const char *p, const char *end)
{
    uint32_t cp;
    size_t n = 2;

    if (end - p < 2)
        return 1;
    if (p[1] == 'x')
        n = 4;
    else if (p[1] == 'u')
        n = 6;
    else if (p[1] == 'U')
        n = 10;
    else if (p[1] == '\r' && end - p > 2 && p[2] == '\n')
        n = 3;
    else if ((unsigned char) p[1] >= 0x80)
        n = 1 + utf8_next(p + 1, (size_t) (end - p) - 1, &cp);
    return least(n, (size_t) (end - p));
}

/* True when each escape of the double-quoted scalar [from, to) lies wholly inside or outside of a span. An
 * escape across a span's border would change a character of the template. */
static bool
escapes_fit(check_t *c, size_t from, size_t to)
{
    const char *text = c->real.text;
    (void) map(c, c->ref.start);
    const hole_t *h = &c->holes[c->hole], *last = c->holes + c->n_holes;

    for (size_t i = from, n; i < to; i += n) {
        n = text[i] == '\\' ? yaml_span_escape_len(text + i, text + to) : 1;
        while (h < last && h->to <= i)
            h++;
        const span_t whole = { h < last ? h->from : to, h < last ? h->to : to, 0 };
        if (span_cut(&whole, i, i + n))
            return yaml_span_refuse(c, whole.from > i ? whole.from : i, "an escape of what stands beside it");
    }
    return true;
}

/* True for the plain scalars "<<" and "=", which have a meaning beyond text and numbers. */
static bool
yaml_span_is_special(const yaml_token_t *t)
{
    if (t->type != YAML_SCALAR_TOKEN || t->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return false;
    yaml_kind_t kind = yaml_resolve((const char *) t->data.scalar.value, t->data.scalar.length);
    return kind == YAML_IS_MERGE || kind == YAML_IS_VALUE;
}

/* The hole that is the whole of the reference's scalar, or NULL. */
static const hole_t *
sole_hole(check_t *c)
{
    const hole_t *h = c->ref.token.type == YAML_SCALAR_TOKEN ? hole_from(c, c->ref.start) : NULL;

    return h != NULL && h->at + strlen(WORD) == c->ref.end ? h : NULL;
}

/* ---- what a span may be besides
 * --------------------------------------------------------------------------------- */

/* True when a span of blanks leaves no scalar in the text, where YAML then reads null, as in "key: ". The
 * real side is already at the next token. */
static bool
yaml_span_is_lost(check_t *c)
{
    if (c->ref.failed || c->real.failed || c->ref.token.type != YAML_SCALAR_TOKEN)
        return false;
    if (c->ref.token.data.scalar.style != YAML_PLAIN_SCALAR_STYLE || hole_from(c, c->ref.start) == NULL ||
        hole_to(c, c->ref.end) == NULL ||
        !yaml_span_is_blank(c->real.text, map(c, c->ref.start), map(c, c->ref.end)))
        return false;
    switch (c->real.token.type) {
    case YAML_KEY_TOKEN:
    case YAML_BLOCK_END_TOKEN:
        return c->before == YAML_VALUE_TOKEN || c->before == YAML_BLOCK_ENTRY_TOKEN;
    case YAML_BLOCK_ENTRY_TOKEN:
        return c->before == YAML_BLOCK_ENTRY_TOKEN;
    case YAML_FLOW_ENTRY_TOKEN:
    case YAML_FLOW_MAPPING_END_TOKEN:
    case YAML_FLOW_SEQUENCE_END_TOKEN:
        return c->before == YAML_VALUE_TOKEN;
    default:
        return false;
    }
}

/* True where a value may stand that is neither a key nor merged into a mapping of the template. */
static bool
takes_collection(const check_t *c)
{
    bool in_list = c->depth > 0 && c->open[c->depth - 1] == '[';

    if (c->merging > 0)
        return false;
    switch (c->before) {
    case YAML_STREAM_START_TOKEN:
    case YAML_DOCUMENT_START_TOKEN:
    case YAML_VALUE_TOKEN:
    case YAML_BLOCK_ENTRY_TOKEN:
        return true;
    case YAML_FLOW_ENTRY_TOKEN:
    case YAML_FLOW_SEQUENCE_START_TOKEN:
        return in_list;
    default:
        return false;
    }
}

static bool
opens_flow(yaml_token_type_t type)
{
    return type == YAML_FLOW_SEQUENCE_START_TOKEN || type == YAML_FLOW_MAPPING_START_TOKEN;
}

static bool
closes_flow(yaml_token_type_t type)
{
    return type == YAML_FLOW_SEQUENCE_END_TOKEN || type == YAML_FLOW_MAPPING_END_TOKEN;
}

/* Skips the flow collection that the real side is at the start of, and which must end within the hole `h`. */
static bool
collection_fits(check_t *c, const hole_t *h)
{
    side_t *s = &c->real;
    size_t depth = 0, end = s->start;

    c->whole = h;
    do {
        if (s->failed)
            return refuse_error(c);
        if (!yaml_span_is_blank(s->text, end, s->start) || s->end > h->to)
            return yaml_span_refuse(c, least(s->start, h->to - 1),
                                    s->end > h->to ? "a part of a list or mapping" : "a comment");
        /* No anchors, aliases, tags or directives: they would reach beyond the span. */
        yaml_token_type_t type = s->token.type;
        if (type != YAML_FLOW_ENTRY_TOKEN && type != YAML_KEY_TOKEN && type != YAML_VALUE_TOKEN &&
            type != YAML_SCALAR_TOKEN && !opens_flow(type) && !closes_flow(type))
            return yaml_span_refuse(c, s->start, yaml_span_name_of(s->token.type));
        if (yaml_span_is_special(&s->token))
            return yaml_span_refuse(c, s->start, "a merge key or default value");
        depth += opens_flow(s->token.type);
        depth -= closes_flow(s->token.type);
        if (c->depth + depth > LIMIT_YAML_DEPTH)
            return yaml_span_refuse(c, s->start, "a nesting without end");
        end = s->end;
        if (depth > 0)
            side_next(s);
    } while (depth > 0);
    return yaml_span_is_blank(s->text, end, h->to) ||
           yaml_span_refuse(c, end, "more than one list or mapping");
}

/* ---- token by token
 * --------------------------------------------------------------------------------------------- */

/* Updates the stack of open collections and the merge key by the reference's token. False when nested deeper
 * than the loader allows. */
static bool
keep_open(check_t *c)
{
    yaml_token_type_t type = c->ref.token.type;
    bool closes = type == YAML_BLOCK_END_TOKEN || closes_flow(type);
    char kind = type == YAML_FLOW_SEQUENCE_START_TOKEN  ? '['
                : type == YAML_FLOW_MAPPING_START_TOKEN ? '{'
                                                        : 'b';

    if (c->before == YAML_KEY_TOKEN && yaml_span_is_special(&c->ref.token))
        c->merging = c->depth;
    else if (c->depth <= c->merging && (closes || type == YAML_KEY_TOKEN))
        c->merging = 0;
    c->before = type;
    if (closes && c->depth > 0)
        c->depth--;
    if (!opens_flow(type) && type != YAML_BLOCK_SEQUENCE_START_TOKEN &&
        type != YAML_BLOCK_MAPPING_START_TOKEN)
        return true;
    if (c->depth == sizeof(c->open))
        return false;
    c->open[c->depth++] = kind;
    return true;
}

/* Compares two tokens of the same kind. */
static bool
yaml_span_token_fits(check_t *c)
{
    yaml_token_type_t type = c->ref.token.type;

    if (!start_fits(c))
        return refuse_type(c);
    if (type == YAML_SCALAR_TOKEN) {
        /* Two scalar tokens: same style (a sole span may bring its own quotes), same end, and without
         * spans the same value. */
        const yaml_token_t *real = &c->real.token, *ref = &c->ref.token;
        yaml_scalar_style_t style = real->data.scalar.style, wanted = ref->data.scalar.style;
        if (style != wanted &&
            (!is_quoted(style) || wanted != YAML_PLAIN_SCALAR_STYLE || sole_hole(c) == NULL))
            return yaml_span_refuse(c, least(c->real.start, map(c, c->ref.end)),
                                    is_quoted(style) ? "a quoted text" : "a block of text");
        if (!end_fits(c))
            return refuse_end(c);
        size_t len = real->data.scalar.length;
        if (!has_hole(c))
            return (len == ref->data.scalar.length &&
                    memcmp(real->data.scalar.value, ref->data.scalar.value, len) == 0) ||
                   yaml_span_refuse(c, map(c, c->ref.start), "a change of the text after it");
        if (yaml_span_is_special(real))
            return yaml_span_refuse(c, c->real.start, "a merge key or default value");
        return wanted != YAML_DOUBLE_QUOTED_SCALAR_STYLE ||
               escapes_fit(c, c->real.start + 1, c->real.end - 1);
    }
    if (has_hole(c))
        return yaml_span_refuse(c, c->real.start, yaml_span_name_of(type));
    return end_fits(c) || yaml_span_refuse(c, c->real.start, yaml_span_name_of(type));
}

/* Compares a pair of tokens; both sides are at their ends afterwards. */
static bool
pair_fits(check_t *c)
{
    const hole_t *h = sole_hole(c);

    if (c->real.failed)
        return refuse_error(c);
    if (c->ref.failed) {
        /* Linear, as only this error needs it. */
        bool inside = false;
        for (size_t i = 0; i < c->n_holes; i++)
            inside = inside || (c->real.start >= c->holes[i].from && c->real.start < c->holes[i].to);
        return yaml_span_refuse(
            c, c->real.start, inside ? yaml_span_name_of(c->real.token.type) : "a part of a sign of YAML's");
    }
    if (c->real.token.type == c->ref.token.type)
        return yaml_span_token_fits(c);
    bool one = h != NULL && h->n == 1 && !(c->spans->v[h->first].flags & SPAN_TEXT);
    if (one && opens_flow(c->real.token.type) && takes_collection(c) && start_fits(c) && c->real.end <= h->to)
        return collection_fits(c, h);
    return refuse_type(c);
}

/* True when the texts have corresponding tokens up to their end, or up to where both cannot be read or are
 * nested deeper than the loader allows. */
static bool
yaml_span_compare(check_t *c)
{
    for (;;) {
        side_next(&c->real);
        side_next(&c->ref);
        if (yaml_span_is_lost(c)) {
            c->before = YAML_SCALAR_TOKEN;
            side_next(&c->ref);
        }
        if (c->real.failed && c->ref.failed)
            return true;
        bool same = !c->real.failed && !c->ref.failed && c->real.token.type == c->ref.token.type;
        if (same && c->ref.token.type == YAML_STREAM_END_TOKEN)
            return true;
        bool start = same && c->ref.token.type == YAML_STREAM_START_TOKEN;
        if (!start && !pair_fits(c))
            return false;
        if (!keep_open(c))
            return true;
    }
}

/* True when libyaml's parser finds no error, up to the depth at which the loader gives up. */
static bool
can_be_read(const char *text, size_t len)
{
    yaml_parser_t parser;
    yaml_event_t event;
    yaml_event_type_t type = YAML_NO_EVENT;
    size_t depth = 0;
    bool fine = true;

    (void) yaml_place_begin(&parser, text, len);
    while (fine && type != YAML_STREAM_END_EVENT) {
        fine = yaml_parser_parse(&parser, &event);
        if (!fine)
            break;
        type = event.type;
        yaml_event_delete(&event);
        depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
        depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
        fine = depth <= LIMIT_YAML_DEPTH;
    }
    yaml_parser_delete(&parser);
    return fine;
}

static bool
yaml_span_fits(check_t *c)
{
    bool agree = yaml_span_compare(c);

    if (agree && (c->whole == NULL || can_be_read(c->real.text, c->real.len)))
        return true;
    /* A text that is not YAML even without its spans is left to the loader's error. */
    if (!can_be_read(c->ref.text, c->ref.len) && (agree || !can_be_read(c->real.text, c->real.len)))
        return true;
    return !agree ? false : yaml_span_refuse(c, c->whole->from, "text that YAML cannot read");
}

bool
yaml_spans_agree(const char *text, size_t len, const spans_t *spans, yaml_breakout_t *ret)
{
    check_t c = { .spans = spans, .ret = ret };
    buf_auto_t reference = BUF_INIT;

    /* UTF-16 texts begin with a byte order mark; their bytes cannot be compared with spans. */
    if (len >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0))
        return breakout_set(ret, spans, 0, "a part of a text that is not UTF-8");

    /* Writes the reference, a word in place of each hole, and records the holes in c->holes. */
    size_t done = 0;

    c.holes = xcalloc(c.spans->n, sizeof(*c.holes));
    for (size_t i = 0; i < c.spans->n; i++) {
        const span_t *span = &c.spans->v[i];
        hole_t *last = c.n_holes > 0 ? &c.holes[c.n_holes - 1] : NULL;
        if (last != NULL && last->to == span->from) {
            last->to = done = span->to;
            last->n++;
            continue;
        }
        buf_add(&reference, text + done, span->from - done);
        c.holes[c.n_holes++] = (hole_t){ span->from, span->to, reference.len, i, 1 };
        buf_puts(&reference, WORD);
        done = span->to;
    }
    buf_add(&reference, text + done, len - done);

    side_begin(&c.real, text, len);
    side_begin(&c.ref, reference.data, reference.len);
    bool fit = yaml_span_fits(&c);
    side_end(&c.real);
    side_end(&c.ref);
    free(c.holes);
    return fit;
}

bool
yaml_spans_fit(const char *text, size_t len, const spans_t *spans, yaml_breakout_t *ret)
{
    return yaml_spans_inert(text, len, spans) || yaml_spans_agree(text, len, spans, ret);
}
