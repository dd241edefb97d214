/* filters_wrap.c - wordwrap: lines of at most so many characters, as Python's textwrap breaks them. */
#include "common/base/utf8.h"
#include "common/jinja/filter.h"

typedef struct wrap {
    buf_t *out;
    const char *between;
    size_t width, used; /* characters of the line so far */
    bool any;           /* the paragraph has a line already */
    buf_t line;
    bool break_words, break_hyphens;
} wrap_t;

static size_t
next_char(const char *p, const char *end)
{
    uint32_t cp;
    size_t n = utf8_next(p, (size_t) (end - p), &cp);
    return n > 0 ? n : 1;
}

static bool
is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool
is_letter(const char *p, const char *start, const char *end)
{
    if (p < start || p >= end)
        return false;
    bool digit = *p >= '0' && *p <= '9';
    return !digit && word_at(&p, end);
}

/* Where the chunk at p ends: white space, or a word up to a hyphen between letters. */
static const char *
chunk_end(const wrap_t *w, const char *start, const char *p, const char *end)
{
    const char *from = p;
    if (is_blank(*p)) {
        while (p < end && is_blank(*p))
            p++;
        return p;
    }
    for (; p < end && !is_blank(*p); p++)
        if (w->break_hyphens && *p == '-' && p > from + 1 && is_letter(p - 1, start, end) &&
            is_letter(p - 2, start, end) && is_letter(p + 1, start, end) && is_letter(p + 2, start, end))
            return p + 1;
    return p;
}

static void
flush(wrap_t *w)
{
    size_t n = w->line.len;
    while (n > 0 && is_blank(w->line.data[n - 1]))
        n--;
    if (n > 0) {
        if (w->any)
            buf_puts(w->out, w->between);
        buf_add(w->out, w->line.data, n);
        w->any = true;
    }
    buf_clear(&w->line);
    w->used = 0;
}

static void
add_piece(wrap_t *w, const char *p, size_t n)
{
    buf_add(&w->line, p, n);
    w->used += utf8_count(p, n);
}

/* A word that is longer than a line. */
static void
add_long(wrap_t *w, const char *p, const char *end)
{
    if (!w->break_words) {
        if (w->used > 0)
            flush(w);
        add_piece(w, p, (size_t) (end - p));
        return;
    }
    while (p < end) {
        const char *stop = p;
        for (size_t room = w->used < w->width ? w->width - w->used : 0; room > 0 && stop < end; room--)
            stop += next_char(stop, end);
        add_piece(w, p, (size_t) (stop - p));
        if (stop < end)
            flush(w);
        p = stop;
    }
}

static void
wrap_line(wrap_t *w, const char *p, const char *end)
{
    const char *start = p;
    w->any = false;
    while (p < end) {
        const char *stop = chunk_end(w, start, p, end);
        size_t n = utf8_count(p, (size_t) (stop - p));
        if (w->used + n > w->width && !(is_blank(*p) && w->used == 0)) {
            if (n <= w->width || is_blank(*p))
                flush(w);
        }
        bool dropped = is_blank(*p) && w->used == 0 && w->any;
        if (n > w->width && !is_blank(*p))
            add_long(w, p, stop);
        else if (!dropped)
            add_piece(w, p, (size_t) (stop - p));
        p = stop;
    }
    flush(w);
}

static py_t *
do_wordwrap(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    (void) args;
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
                 .between = a[3] != NULL && py_is(a[3], PY_STR) ? py_cstr(a[3])
                            : newline != NULL                   ? newline
                                                                : "\n",
                 .width = (size_t) width,
                 .line = BUF_INIT,
                 .break_words = words,
                 .break_hyphens = hyphens };
    for (size_t i = 0; i < py_seq_len(lines); i++) {
        size_t len;
        const char *s = py_text(py_seq_at(lines, i), &len);
        if (i > 0)
            buf_puts(&out, w.between);
        wrap_line(&w, s, s + len);
    }
    buf_free(&w.line);
    return py_str_buf(&out);
}

static const jfilter_t rows[] = {
    { JROW("wordwrap", do_wordwrap,
           JP("environment", "s", "width", "break_long_words", "wrapstring", "break_on_hyphens"), 2, 6, 0),
      JF_CONTEXT, "Lines of at most `width` characters." },
};

const jfilter_table_t jfilters_wrap = JTABLE(rows);
