/* yaml_span_inert.c - spans on which nothing of YAML's structure depends, found by their bytes alone.
 *
 * libyaml's scanner decides by single characters: what a token is by its first ones, where it ends by those
 * that follow. The scanner treats a span of the bytes below like one letter, wherever the span stands,
 * because:
 *
 * - Its first byte is not an indicator and no blank, so it begins a plain scalar or continues the token
 * before it.
 *   It never stands at the start of a line with "---", "..." or "%".
 * - The bytes after it are, inside a plain or quoted scalar, a block scalar or a comment, content like a
 * letter:
 *   they have no quote, backslash, line break, "#", no ", [ ] { }" of flow collections, and no ":" that a blank
 *   or the end of the span follows.
 * - Its last byte is not a blank and no ":", so the template decides how the text goes on. - In tokens that
 * allow some characters only or count them (anchors, aliases, tags, directives, the head of a
 *   block scalar, escapes) the rules above do not hold; a span in one of those is not inert.
 * - A key is at most 1024 characters of one line. A span's line is not longer. - No scalar with such a byte
 * is "<<" or "=", which would mean more than a text. */
#include "common/base/utf8.h"
#include "common/data/yaml_span.h"

enum {
    LINE_MAX_BYTES = 1024, /* as libyaml's limit for a key */
    ESCAPE_MAX = 9         /* "\U1234567" may go on with what follows */
};

/* Bytes that YAML takes for content at any place of a scalar, its first one included. */
static bool
yaml_span_inert_is_letter(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c != '\0' && strchr("_/~$();^+", c) != NULL);
}

/* Length of a character beyond ASCII that YAML takes like a letter: no line break, no byte order mark. 0 for
 * others. */
static size_t
wide_letter(const char *p, size_t len)
{
    uint32_t cp;
    size_t n = utf8_next(p, len, &cp);
    bool breaks = cp == 0x2028 || cp == 0x2029,
         forbidden = cp < 0xa0 || cp == 0xfeff || cp == 0xfffe || cp == 0xffff;

    return n > 0 && !breaks && !forbidden ? n : 0;
}

/* True for a span of letters, with inner bytes, single blanks and colons inside. The test for ':' may look at
 * p[i - 1] and p[i + 1], since neither the first nor the last byte is a colon. */
static bool
is_inert(const char *p, size_t len)
{
    size_t n;

    if ((unsigned char) p[0] < 0x80 && !yaml_span_inert_is_letter((unsigned char) p[0]))
        return false;
    if (p[len - 1] == ' ' || p[len - 1] == ':')
        return false;
    for (size_t i = 0; i < len; i += n) {
        unsigned char c = (unsigned char) p[i];
        n = c < 0x80 ? 1 : wide_letter(p + i, len - i);
        if (n == 0)
            return false;
        if (c >= 0x80 || yaml_span_inert_is_letter(c) || (c != '\0' && strchr("-.@= ", c) != NULL))
            continue;
        if (c != ':' || p[i - 1] == ' ' || p[i + 1] == ' ')
            return false;
    }
    return true;
}

typedef struct look {
    const char *text;
    size_t len;
    size_t seen;     /* the end of the span before */
    size_t line;     /* where the line of `seen` begins */
    size_t line_end; /* where a line ends; 0: not looked for yet */
} look_t;

/* True for a "%" that may begin a directive: at the text's start or after a line break of any kind. */
static bool
is_directive(const char *text, size_t i)
{
    unsigned char before = i > 0 ? (unsigned char) text[i - 1] : '\n';

    return text[i] == '%' && (before < ' ' || before >= 0x80);
}

/* Scans back from a span to the line's start or the span before. False when the span may be part of an
 * anchor, alias, tag, directive, head of a block scalar or escape. */
static bool
stands_well(look_t *l, size_t from)
{
    bool run = true; /* no blank yet */

    if (memrchr(l->text + (from > ESCAPE_MAX ? from - ESCAPE_MAX : 0), '\\',
                from > ESCAPE_MAX ? ESCAPE_MAX : from) != NULL)
        return false;
    for (size_t i = from; i > l->seen; i--) {
        unsigned char c = (unsigned char) l->text[i - 1];
        if (c == '\n') {
            l->line = i;
            break;
        }
        run = run && c != ' ' && c != '\t';
        if ((run && c != '\0' && strchr("&*!|>", c) != NULL) || is_directive(l->text, i - 1) ||
            from - i > LINE_MAX_BYTES)
            return false;
    }
    return true;
}

/* False when the span's line is longer than LINE_MAX_BYTES. `line_end` is cached, so a line is searched once
 * for all of its spans. */
static bool
line_is_short(look_t *l, size_t to)
{
    if (to > l->line_end) {
        size_t most = l->len - to < LINE_MAX_BYTES ? l->len - to : LINE_MAX_BYTES;
        const char *end = memchr(l->text + to, '\n', most);
        if (end == NULL && most == LINE_MAX_BYTES)
            return false;
        l->line_end = end != NULL ? (size_t) (end - l->text) : l->len;
    }
    return l->line_end - l->line <= LINE_MAX_BYTES;
}

bool
yaml_spans_inert(const char *text, size_t len, const spans_t *spans)
{
    look_t l = { .text = text, .len = len };

    if (len > 0 && (unsigned char) text[0] >= 0xfe) /* two bytes a character */
        return spans->n == 0;
    for (size_t i = 0; i < spans->n; i++) {
        const span_t *span = &spans->v[i];
        if (!is_inert(text + span->from, span->to - span->from) || !stands_well(&l, span->from) ||
            !line_is_short(&l, span->to))
            return false;
        l.seen = span->to;
    }
    return true;
}
