/* pprint.c - outputter `pprint`: Python's pprint.pformat() with 80 columns and sorted keys.
 *
 * A value that fits is written on one line, others are broken at their commas. pprint_spend() measures with a
 * budget of columns and stops when it is used up, so that each value is scanned for at most a line's
 * length. */
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/output/outputter.h"
#include "common/output/pytext.h"
#include "salt/value.h"

enum { COLUMNS = 80 };

typedef struct printer {
    buf_t *out;
    int step; /* spaces per level */
} printer_t;

/* ---- how wide the repr() of a value is ------------------------------------------------------- */

/* The width of the text's repr(); more than `limit` once that is exceeded. */
static int
text_width(const char *s, size_t len, int limit)
{
    /* A character has at most four bytes: longer text can't fit, whatever it holds. */
    if (limit < 2 || len > 4 * (size_t) limit)
        return limit + 1;
    bool single = memchr(s, '\'', len) == NULL || memchr(s, '"', len) != NULL;
    uint32_t quote = single ? '\'' : '"';
    int width = 2;

    for (size_t i = 0, n; i < len && width <= limit; i += n) {
        uint32_t cp = (unsigned char) s[i];
        n = utf8_next(s + i, len - i, &cp);
        n = n == 0 ? 1 : n;
        if (cp == quote || cp == '\\' || cp == '\n' || cp == '\r' || cp == '\t')
            width += 2;
        else if (utf8_printable(cp))
            width += 1;
        else
            width += cp <= 0xff ? 4 : cp <= 0xffff ? 6 : 10;
    }
    return width;
}

/* Columns left of `budget` after the value is written on one line; negative when it does not fit. */
static int
pprint_spend(json_t *v, int budget)
{
    size_t i;
    json_t *element;

    if (json_is_object(v)) {
        budget -= 2;
        for (void *it = json_object_iter(v); it != NULL && budget >= 0; it = json_object_iter_next(v, it)) {
            const char *key = json_object_iter_key(it);
            budget -= text_width(key, strlen(key), budget) + 2;
            budget = budget < 0 ? budget : pprint_spend(json_object_iter_value(it), budget);
            budget -= json_object_iter_next(v, it) != NULL ? 2 : 0;
        }
        return budget;
    }
    if (json_is_array(v)) {
        budget -= 2;
        json_array_foreach (v, i, element) {
            budget -= i > 0 ? 2 : 0;
            if (budget < 0 || (budget = pprint_spend(element, budget)) < 0)
                break;
        }
        return budget;
    }
    if (json_is_string(v))
        return budget - text_width(json_string_value(v), json_string_length(v), budget);
    AUTO_FREE char *text = value_repr(v);
    return budget - (int) strlen(text);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void
pprint_repr_text(buf_t *out, const char *s, size_t len)
{
    json_auto_t *text = json_stringn_nocheck(s, len);
    AUTO_FREE char *repr = value_repr(text);

    buf_puts(out, repr);
}

/* Write repr() on one line with sorted keys; only for values that fit. */
static void
write_flat(buf_t *out, json_t *v)
{
    size_t i;
    json_t *element;

    if (json_is_object(v)) {
        AUTO_FREE output_pair_t *pairs = output_sorted(v);
        buf_putc(out, '{');
        for (i = 0; i < json_object_size(v); i++) {
            buf_puts(out, i > 0 ? ", " : "");
            pprint_repr_text(out, pairs[i].key, strlen(pairs[i].key));
            buf_puts(out, ": ");
            write_flat(out, pairs[i].value);
        }
        buf_putc(out, '}');
    } else if (json_is_array(v)) {
        buf_putc(out, '[');
        json_array_foreach (v, i, element) {
            buf_puts(out, i > 0 ? ", " : "");
            write_flat(out, element);
        }
        buf_putc(out, ']');
    } else {
        AUTO_FREE char *repr = value_repr(v);
        buf_puts(out, repr);
    }
}

/* Split long text into several literals, one per line: at line ends first, then between words. */
typedef struct chunker {
    printer_t *p;
    int indent;
    int allowance;
    size_t chunks;
} chunker_t;

/* Appends a piece of a long text as a literal of its own, which Python joins again. */
static void
chunk(chunker_t *c, const char *s, size_t len)
{
    if (c->chunks++ > 0) {
        buf_putc(c->p->out, '\n');
        buf_fill(c->p->out, ' ', (size_t) c->indent);
    }
    pprint_repr_text(c->p->out, s, len);
}

/* Breaks one line of a text into chunks at the ends of words. The last chunk leaves room for what follows
 * it. */
static void
chunk_words(chunker_t *c, const char *s, size_t len, bool last_line)
{
    const char *end = s + len, *current = s;
    int width = COLUMNS - c->indent;

    for (const char *word = s; word < end;) {
        /* A word is a run of other characters followed by white space: the pattern \S*\s*. */
        size_t n = 0, left = (size_t) (end - word), blank;
        while (n < left && pytext_space(word + n, left - n) == 0)
            n++;
        while (n < left && (blank = pytext_space(word + n, left - n)) > 0)
            n += blank;
        if (last_line && word + n == end)
            width -= c->allowance;
        if (text_width(current, (size_t) (word + n - current), width) > width) {
            if (word > current)
                chunk(c, current, (size_t) (word - current));
            current = word;
        }
        word += n;
    }
    if (end > current)
        chunk(c, current, (size_t) (end - current));
}

/* CPython's rules: level 1 adds parentheses and a column; text that needs no split is written plain. */
static void
write_long_text(printer_t *p, const json_t *v, int indent, int allowance, int level)
{
    const char *pos = json_string_value(v), *end = pos + json_string_length(v);
    size_t start = p->out->len;
    chunker_t c = { p, indent, allowance, 0 };
    pyline_t line;

    if (level == 1) {
        c.indent++;
        c.allowance++;
        buf_putc(p->out, '(');
    }
    while (pytext_line(&pos, end, &line)) {
        int width = COLUMNS - c.indent - (pos >= end ? c.allowance : 0);
        if (text_width(line.text, line.with_end, width) <= width)
            chunk(&c, line.text, line.with_end);
        else
            chunk_words(&c, line.text, line.with_end, pos >= end);
    }
    if (c.chunks > 1) {
        buf_puts(p->out, level == 1 ? ")" : "");
        return;
    }
    p->out->len = start;
    pprint_repr_text(p->out, json_string_value(v), json_string_length(v));
}

static void write_value(printer_t *p, json_t *v, int indent, int allowance, int level);

/* Ends an element; the next one begins below the first. */
static void
next_line(printer_t *p, int indent)
{
    buf_puts(p->out, ",\n");
    buf_fill(p->out, ' ', (size_t) indent);
}

/* Appends a dict with one key a line. A value begins behind its key, and only the last one needs room for the
 * closing bracket. */
static void
write_dict(printer_t *p, json_t *v, int indent, int allowance, int level)
{
    AUTO_FREE output_pair_t *pairs = output_sorted(v);
    size_t n = json_object_size(v);

    buf_putc(p->out, '{');
    buf_fill(p->out, ' ', p->step > 1 ? (size_t) p->step - 1 : 0);
    indent += p->step;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            next_line(p, indent);
        size_t start = p->out->len;
        pprint_repr_text(p->out, pairs[i].key, strlen(pairs[i].key));
        int width = (int) utf8_count(p->out->data + start, p->out->len - start);
        buf_puts(p->out, ": ");
        write_value(p, pairs[i].value, indent + width + 2, i + 1 == n ? allowance + 1 : 1, level);
    }
    buf_putc(p->out, '}');
}

/* Appends a list with one element a line. */
static void
pprint_write_list(printer_t *p, json_t *v, int indent, int allowance, int level)
{
    size_t n = json_array_size(v);

    buf_putc(p->out, '[');
    buf_fill(p->out, ' ', p->step > 1 ? (size_t) p->step - 1 : 0);
    indent += p->step;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            next_line(p, indent);
        write_value(p, json_array_get(v, i), indent, i + 1 == n ? allowance + 1 : 1, level);
    }
    buf_putc(p->out, ']');
}

/* Appends a value on the present line if it fits, else broken up by its type. */
static void
write_value(printer_t *p, json_t *v, int indent, int allowance, int level)
{
    if (pprint_spend(v, COLUMNS - indent - allowance) >= 0)
        write_flat(p->out, v);
    else if (json_is_object(v))
        write_dict(p, v, indent, allowance, level + 1);
    else if (json_is_array(v))
        pprint_write_list(p, v, indent, allowance, level + 1);
    else if (json_is_string(v))
        write_long_text(p, v, indent, allowance, level + 1);
    else
        write_flat(p->out, v);
}

void
output_pformat(json_t *data, int indent, buf_t *out)
{
    printer_t p = { out, indent };

    write_value(&p, data, 0, 0, 0);
}

bool
output_pprint(json_t *data, const output_opts_t *opts, buf_t *out)
{
    output_pformat(data, opts->indent >= 0 ? opts->indent : 1, out);
    return true;
}
