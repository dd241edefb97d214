/* yaml_problem.c - records what is wrong with a YAML text and shows it to a user: the message, the line
 * itself and a caret below the column, as Salt's renderer errors do. Only the first problem is kept; later
 * ones are its consequences. */
#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/data/yaml_node.h"

enum { SHOW_BEFORE = 80, SHOW_WIDTH = 100 }; /* characters of a long line */
enum { MESSAGE_MAX = 400 };

void
yproblem_free(yproblem_t *p)
{
    free(STEAL(p->text));
    free(STEAL(p->context));
    p->cls = YAML_FINE;
}

static char *yaml_problem_message(const char *fmt, va_list ap) PRINTF(1, 0);

/* Formats a message and cuts it to MESSAGE_MAX bytes at a character's boundary: keys and tags may be as long
 * as their file. NEW. */
static char *
yaml_problem_message(const char *fmt, va_list ap)
{
    char *text = xvasprintf(fmt, ap);
    size_t len = strlen(text);

    if (len <= MESSAGE_MAX + 3)
        return text;
    len = MESSAGE_MAX;
    while (len > 0 && ((unsigned char) text[len] & 0xc0) == 0x80)
        len--;
    memcpy(text + len, "...", 4);
    return text;
}

bool
yproblem_set(yproblem_t *p, yclass_t cls, ymark_t at, const char *fmt, ...)
{
    va_list ap;

    if (p->cls != YAML_FINE)
        return false;
    va_start(ap, fmt);
    p->text = yaml_problem_message(fmt, ap);
    va_end(ap);
    p->cls = cls;
    p->at = at;
    return false;
}

bool
yproblem_within(yproblem_t *p, yclass_t cls, const char *context, ymark_t context_at, ymark_t at,
                const char *fmt, ...)
{
    va_list ap;

    if (p->cls != YAML_FINE)
        return false;
    va_start(ap, fmt);
    p->text = yaml_problem_message(fmt, ap);
    va_end(ap);
    p->cls = cls;
    p->at = at;
    p->context = xstrdup(context);
    p->context_at = context_at;
    return false;
}

/* Length in bytes of the line break at `p`, or 0. YAML 1.1 has five kinds. */
static size_t
yaml_problem_line_break(const char *p, const char *end)
{
    static const char *const breaks[] = { "\r\n", "\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9" };

    for (size_t i = 0; i < NELEMS(breaks); i++) {
        size_t n = strlen(breaks[i]);
        if ((size_t) (end - p) >= n && memcmp(p, breaks[i], n) == 0)
            return n;
    }
    return 0;
}

/* The bytes of a 0-based line, without its line break. */
static const char *
find_line(const char *text, size_t len, int line, size_t *ret_len)
{
    const char *end = text + len, *p = text;

    while (line > 0 && p < end) {
        size_t n = yaml_problem_line_break(p, end);
        p += n > 0 ? n : 1;
        line -= n > 0;
    }
    const char *stop = p;
    while (stop < end && yaml_problem_line_break(stop, end) == 0)
        stop++;
    *ret_len = (size_t) (stop - p);
    return p;
}

/* Two lines: the text around the column, and blanks up to a caret below it. */
static void
show_line(buf_t *out, const char *line, size_t len, int column)
{
    const char *end = line + len;
    buf_auto_t below = BUF_INIT;
    int at = 0, from = column > SHOW_BEFORE ? column - SHOW_BEFORE : 0;

    buf_puts(out, "\n    ");
    for (const char *p = line; p < end && at < from + SHOW_WIDTH; at++) {
        uint32_t cp;
        size_t n = utf8_next(p, (size_t) (end - p), &cp);
        if (n == 0)
            n = 1;
        bool control = (unsigned char) *p < 0x20 && *p != '\t';
        if (at >= from) {
            if (control)
                buf_putc(out, '?');
            else
                buf_add(out, p, n);
            if (at < column)
                buf_putc(&below, *p == '\t' ? '\t' : ' ');
        }
        p += n;
    }
    for (; at < column && below.len < SHOW_WIDTH; at++)
        buf_putc(&below, ' ');
    buf_printf(out, "\n    %s^", buf_str(&below));
}

char *
yproblem_show(const yproblem_t *p, const char *source, const char *text, size_t len)
{
    buf_auto_t out = BUF_INIT;

    buf_printf(&out, "%s: ", source);
    if (p->at.line >= 0)
        buf_printf(&out, "line %d, column %d: ", p->at.line + 1, p->at.column + 1);
    buf_puts(&out, p->text);
    if (p->context != NULL && p->context_at.line >= 0 && p->context_at.line != p->at.line)
        buf_printf(&out, " (%s, line %d)", p->context, p->context_at.line + 1);
    else if (p->context != NULL)
        buf_printf(&out, " (%s)", p->context);
    if (p->at.line >= 0) {
        /* Prints the line of the problem. At the end of the text, a blank line, the place where the
         * context began is shown instead. A tab before a scanner error gets a hint, as tabs are the usual
         * cause. */
        ymark_t at = p->at;
        size_t n;
        const char *line = find_line(text, len, at.line, &n);
        size_t blanks = 0;
        while (blanks < n && line[blanks] == ' ')
            blanks++;
        if (blanks == n && p->context_at.line >= 0) {
            at = p->context_at; /* the end of the text tells a user nothing; the context's start does */
            line = find_line(text, len, at.line, &n);
        }
        const char *tab = memchr(line, '\t', n);
        if (p->cls == YAML_SCANNER && tab != NULL && tab - line <= at.column)
            buf_puts(&out, "; the line has a tab before this, YAML wants spaces");
        show_line(&out, line, n, at.column);
    }
    return buf_steal(&out);
}
