/* filters_wrap.c - wordwrap: lines of at most `width` characters, as Python's textwrap breaks them.
 *
 * A line is read into glyphs, the classes of its characters that textwrap's regular expression distinguishes,
 * then split into chunks (white space, words, parts at hyphens, long dashes), which fill lines greedily.
 * Pieces keep peers' marks. */
#include "common/jinja/filter/filter.h"
#include "common/py/py_obj.h"
#include "common/py/py_unicode.h"

/* Classes of characters in textwrap's patterns. */
enum { BLANK = 1, WORD = 2, LETTER = 4, PUNCT = 8, DASH = 16 };

/* A character of the line, with its kind. */
typedef struct glyph {
    uint32_t at; /* its first byte in the line */
    uint8_t what;
} glyph_t;

/* Characters that stay together, such as a word. */
typedef struct chunk {
    size_t from, to;
} chunk_t;

/* State of a wordwrap(). */
typedef struct wrap {
    buf_t *out;
    const char *between;
    const py_t *wrapstring; /* `between` as a value with its marks; NULL for the environment's newline */
    const py_t *line;
    size_t width;
    glyph_t *g; /* of one line, and one more for its end */
    size_t n;
    chunk_t *chunks;
    size_t n_chunks;
    size_t lines;
    bool break_words, break_hyphens;
} wrap_t;

/* ---- chunks: white space, words, parts of hyphenated words, long dashes ------------------------------- */

static bool
filters_wrap_is(const wrap_t *w, size_t i, uint8_t what)
{
    return i < w->n && (w->g[i].what & what) != 0;
}

/* End of a dash of two or more hyphens between words; i when there is none. */
static size_t
long_dash(const wrap_t *w, size_t i)
{
    size_t end = i;
    if (i == 0 || !filters_wrap_is(w, i - 1, PUNCT))
        return i;
    while (filters_wrap_is(w, end, DASH))
        end++;
    return end >= i + 2 && filters_wrap_is(w, end, WORD) ? end : i;
}

/* True for a hyphen at i within a word of letters, where a line may break after it. */
static bool
is_hyphen(const wrap_t *w, size_t i)
{
    if (!filters_wrap_is(w, i, DASH) || i < 2)
        return false;
    bool before = (filters_wrap_is(w, i - 1, LETTER) && filters_wrap_is(w, i - 2, LETTER)) ||
                  (i > 2 && filters_wrap_is(w, i - 1, PUNCT) && filters_wrap_is(w, i - 2, DASH) &&
                   filters_wrap_is(w, i - 3, LETTER));
    bool behind = filters_wrap_is(w, i + 1, LETTER) &&
                  (filters_wrap_is(w, i + 2, LETTER) ||
                   (filters_wrap_is(w, i + 2, DASH) && filters_wrap_is(w, i + 3, LETTER)));
    return before && behind;
}

/* End of the chunk that begins at `from`. */
static size_t
filters_wrap_chunk_end(const wrap_t *w, size_t from)
{
    size_t i = from;
    if (filters_wrap_is(w, i, BLANK)) {
        while (filters_wrap_is(w, i, BLANK))
            i++;
        return i;
    }
    if (w->break_hyphens && (i = long_dash(w, from)) > from)
        return i;
    for (i = from + 1; i < w->n && !filters_wrap_is(w, i, BLANK); i++)
        if (w->break_hyphens && is_hyphen(w, i))
            return i + 1;
        else if (w->break_hyphens && long_dash(w, i) > i)
            return i;
    return i;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

static bool
is_blank_chunk(const wrap_t *w, const chunk_t *c)
{
    for (size_t i = c->from; i < c->to; i++)
        if (!filters_wrap_is(w, i, BLANK))
            return false;
    return true;
}

/* Place to cut a chunk that is longer than a line, with `room` characters left: after a hyphen if possible.
 */
static size_t
filters_wrap_cut(const wrap_t *w, const chunk_t *c, size_t room)
{
    bool other = false;
    size_t end = c->from + room;
    for (size_t i = c->from; w->break_hyphens && i < c->from + room; i++) {
        if (filters_wrap_is(w, i, DASH) && other)
            end = i + 1;
        other = other || !filters_wrap_is(w, i, DASH);
    }
    return end;
}

/* Line break between lines: the wrapstring with its marks, or the environment's newline. */
static void
put_between(wrap_t *w)
{
    if (w->wrapstring != NULL)
        py_put(w->out, w->wrapstring);
    else
        buf_puts(w->out, w->between);
}

/* Writes one line from chunk `i` on and returns the next chunk. White space at both ends of a line is
 * dropped. */
static size_t
wrap_one(wrap_t *w, size_t i)
{
    size_t used = 0;
    chunk_t *c = w->chunks;
    if (w->lines > 0 && is_blank_chunk(w, &c[i]))
        i++;
    size_t first = i, from = i < w->n_chunks ? c[i].from : 0, end = from;
    for (; i < w->n_chunks && used + c[i].to - c[i].from <= w->width; i++) {
        used += c[i].to - c[i].from;
        end = c[i].to;
    }
    bool dropped = false;
    if (i < w->n_chunks && c[i].to - c[i].from > w->width && (w->break_words || i == first)) {
        size_t stop = w->break_words ? filters_wrap_cut(w, &c[i], w->width - used) : c[i].to;
        dropped = is_blank_chunk(w, &(chunk_t){ c[i].from, stop });
        end = dropped ? end : stop;
        c[i].from = stop;
        i += stop == c[i].to;
    }
    if (!dropped && i > first && end == c[i - 1].to && is_blank_chunk(w, &c[i - 1]))
        end = c[i - 1].from;
    if (end > from) {
        if (w->lines++ > 0)
            put_between(w);
        py_put_part(w->out, w->line, PY_TEXT(w->line) + w->g[from].at, w->g[end].at - w->g[from].at);
    }
    return i;
}

/* Splits a line into chunks and fills output lines with them. */
static int
wrap_line(wrap_t *w, const py_t *line)
{
    w->line = line;

    /* Reads a line of the text to wrap. */
    size_t len;
    const char *s = py_text(w->line, &len);
    if (py_room((len + 1) * (sizeof(*w->g) + sizeof(*w->chunks))) < 0)
        return -1;
    w->n = w->n_chunks = 0;
    w->g = xrealloc(w->g, (len + 1) * sizeof(*w->g));
    w->chunks = xrealloc(w->chunks, (len + 1) * sizeof(*w->chunks));
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        w->g[w->n].at = (uint32_t) i;
        i += py_decode(s + i, &cp);

        bool decimal = py_uni_is(cp, PY_UNI_DECIMAL);
        bool word = cp == '_' || decimal || py_uni_is(cp, PY_UNI_ALPHA) || py_uni_is(cp, PY_UNI_NUMERIC);
        bool punct = word || (cp < 128 && cp != 0 && strchr("!\"'&.,?", (int) cp) != NULL);
        bool blank = cp == ' ' || (cp >= '\t' && cp <= '\r');
        w->g[w->n++].what = (uint8_t) ((blank ? BLANK : 0) | (word ? WORD : 0) |
                                       (word && !decimal ? LETTER : 0) | (punct ? PUNCT : 0) |
                                       (cp == '-' ? DASH : 0));
    }
    w->g[w->n] = (glyph_t){ (uint32_t) len, 0 };

    for (size_t i = 0; i < w->n; i = w->chunks[w->n_chunks++].to)
        w->chunks[w->n_chunks] = (chunk_t){ i, filters_wrap_chunk_end(w, i) };
    w->lines = 0;
    for (size_t i = 0; i < w->n_chunks;) {
        if (py_tick_out(w->out) < 0)
            return -1;
        i = wrap_one(w, i);
    }
    return 0;
}

static py_t *
do_wordwrap(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int64_t width;
    int words = jflag(a[2], true), hyphens = jflag(a[4], true);
    AUTO(py) lines = words >= 0 && hyphens >= 0 ? jmethod(a[0], "splitlines", 0) : NULL;
    if (lines == NULL || jindex(a[1], 79, &width) < 0)
        return NULL;
    if (width <= 0)
        return py_raise(&py_ValueError, "invalid width %lld (must be > 0)", (long long) width);
    const char *newline = ctx->session->engine->options.syntax.newline;
    buf_auto_t out = BUF_INIT;
    wrap_t w = { .out = &out,
                 .between = newline != NULL ? newline : "\n",
                 .wrapstring = a[3] != NULL && py_is(a[3], PY_STR) ? a[3] : NULL,
                 .width = (size_t) width,
                 .break_words = words,
                 .break_hyphens = hyphens };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < py_seq_len(lines); i++) {
        if (i > 0)
            put_between(&w);
        rc = py_tick_out(&out) < 0 ? -1 : wrap_line(&w, py_seq_at(lines, i));
    }
    free(w.g);
    free(w.chunks);
    return rc == 0 ? py_str_buf(&out) : NULL;
}

static const jfilter_t rows[] = {
    { JROW("wordwrap", do_wordwrap,
           JP("environment", "s", "width", "break_long_words", "wrapstring", "break_on_hyphens"), 2, 6, 0),
      JF_CONTEXT | JF_MARKS, "Lines of at most `width` characters." },
};

const jfilter_table_t jfilters_wrap = JTABLE(rows);
