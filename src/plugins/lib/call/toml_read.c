/* toml_read.c - see toml.h; the grammar is that of https://toml.io/en/v1.0.0. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/py/py_error.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/call/toml.h"

typedef struct scan {
    const char *p, *end;
    const char *text;
    py_t *closed; /* owned: the numbers of tables that a header or braces have made */
} scan_t;

static py_t *toml_read_value(scan_t *s);

static py_t *PRINTF(2, 3) wrong(const scan_t *s, const char *fmt, ...)
{
    va_list ap;
    buf_auto_t why = BUF_INIT;
    size_t line = 1;

    va_start(ap, fmt);
    buf_vprintf(&why, fmt, ap);
    va_end(ap);
    for (const char *p = s->text; p < s->p; p++)
        line += *p == '\n';
    return py_raise(&py_ValueError, "%s (line %zu)", buf_str(&why), line);
}

static bool
at(const scan_t *s, const char *what)
{
    size_t n = strlen(what);

    return (size_t) (s->end - s->p) >= n && memcmp(s->p, what, n) == 0;
}

static bool
toml_take(scan_t *s, const char *what)
{
    bool there = at(s, what);

    s->p += there ? strlen(what) : 0;
    return there;
}

/* Blanks; with `lines` the ends of lines and comments too. */
static void
toml_skip(scan_t *s, bool lines)
{
    while (s->p < s->end) {
        if (*s->p == ' ' || *s->p == '\t' || (lines && (*s->p == '\n' || *s->p == '\r')))
            s->p++;
        else if (lines && *s->p == '#')
            while (s->p < s->end && *s->p != '\n')
                s->p++;
        else
            return;
    }
}

/* ---- texts ------------------------------------------------------------------------------------ */

/* The character behind a backslash: 0, or -1 raised. */
static int
escape(scan_t *s, buf_t *out)
{
    static const char from[] = "btnfre\"\\", to[] = "\b\t\n\f\r\033\"\\";
    const char *which = s->p < s->end && *s->p != '\0' ? strchr(from, *s->p) : NULL;
    char hex[9] = "";

    if (which != NULL) {
        s->p++;
        buf_putc(out, to[which - from]);
        return 0;
    }
    size_t digits = at(s, "u") ? 4 : at(s, "U") ? 8 : 0;
    if (digits == 0 || (size_t) (s->end - s->p) <= digits) {
        wrong(s, "a backslash is followed by none of b, t, n, f, r, e, \", \\, uXXXX, UXXXXXXXX");
        return -1;
    }
    memcpy(hex, s->p + 1, digits);
    unsigned long code = strtoul(hex, NULL, 16);
    if (strspn(hex, "0123456789abcdefABCDEF") != digits || code > 0x10ffff ||
        (code >= 0xd800 && code < 0xe000)) {
        wrong(s, "no character has the number %s", hex);
        return -1;
    }
    s->p += digits + 1;
    AUTO(py) c = py_char((uint32_t) code);
    size_t len;
    const char *bytes = py_text(c, &len);
    buf_add(out, bytes, len);
    return 0;
}

/* A text whose opening quotes are read: `quotes` end it, with `escapes` a backslash begins one. */
static py_t *
toml_read_text(scan_t *s, const char *quotes, bool escapes)
{
    buf_auto_t out = BUF_INIT;
    bool many = strlen(quotes) == 3;

    if (many && !toml_take(s, "\n"))
        (void) toml_take(s, "\r\n");
    while (s->p < s->end) {
        /* The text ends at the last three of four or five quotes; those before are part of it. */
        if (at(s, quotes) && !(many && (size_t) (s->end - s->p) > 3 && s->p[3] == *quotes)) {
            s->p += strlen(quotes);
            return py_str_utf8(buf_str(&out), out.len);
        }
        if (!many && *s->p == '\n')
            break;
        if (!escapes || *s->p != '\\') {
            buf_putc(&out, *s->p++);
            continue;
        }
        s->p++;
        scan_t rest = *s;
        toml_skip(&rest, false);
        if (many && (at(&rest, "\n") || at(&rest, "\r\n")))
            while (s->p < s->end && isspace((unsigned char) *s->p))
                s->p++;
        else if (escape(s, &out) < 0)
            return NULL;
    }
    return wrong(s, "a text has no end: %s", quotes);
}

/* A text in either kind of quotes, or NULL without one raised. */
static py_t *
read_quoted(scan_t *s, bool many)
{
    if (many && toml_take(s, "\"\"\""))
        return toml_read_text(s, "\"\"\"", true);
    if (many && toml_take(s, "'''"))
        return toml_read_text(s, "'''", false);
    if (toml_take(s, "\""))
        return toml_read_text(s, "\"", true);
    return toml_take(s, "'") ? toml_read_text(s, "'", false) : NULL;
}

/* ---- keys and tables -------------------------------------------------------------------------- */

static bool
is_bare(char c)
{
    return isalnum((unsigned char) c) || c == '_' || c == '-';
}

static bool
is_word(char c)
{
    return is_bare(c) || c == '+' || c == '.' || c == ':';
}

/* a."b".c as a list of texts. NEW, or NULL raised. */
static py_t *
read_keys(scan_t *s)
{
    AUTO(py) keys = py_list();

    do {
        toml_skip(s, false);
        const char *from = s->p;
        py_t *key = read_quoted(s, false);
        if (key == NULL && py_raised() != NULL)
            return NULL;
        while (key == NULL && s->p < s->end && is_bare(*s->p))
            s->p++;
        if (key == NULL && s->p == from)
            return wrong(s, "a key is missing");
        py_append_new(keys, key != NULL ? key : py_str(from, (size_t) (s->p - from)));
        toml_skip(s, false);
    } while (toml_take(s, "."));
    return STEAL(keys);
}

/* The dict under a key, made when it is not there; of an array of tables the last one. BORROWED,
 * NULL raised. */
static py_t *
table_below(const scan_t *s, py_t *table, py_t *key)
{
    py_t *there = py_dict_get(table, key);

    if (there == NULL) {
        AUTO(py) fresh = py_odict();
        return py_dict_set(table, key, fresh) == 0 ? py_dict_get(table, key) : NULL;
    }
    if (py_is(there, PY_LIST) && py_seq_len(there) > 0)
        there = py_seq_at(there, py_seq_len(there) - 1);
    return py_is(there, PY_DICT) ? there : wrong(s, "'%s' is a value already, and no table", py_cstr(key));
}

/* The table that all keys but the last lead to. BORROWED, NULL raised. */
static py_t *
table_for(const scan_t *s, py_t *table, py_t *keys)
{
    for (size_t i = 0; table != NULL && i + 1 < py_seq_len(keys); i++)
        table = table_below(s, table, py_seq_at(keys, i));
    return table;
}

/* Marks a table as whole: 0, or 1 when it was. */
static int
close_table(scan_t *s, const py_t *table)
{
    AUTO(py) number = py_int((intptr_t) table);
    int was = py_in(number, s->closed);

    if (was == 0 && py_set_add(s->closed, number) < 0)
        return -1;
    return was;
}

/* key = value into the table. 0 or -1 raised. */
static int
read_pair(scan_t *s, py_t *table)
{
    AUTO(py) keys = read_keys(s);
    py_t *into = keys != NULL ? table_for(s, table, keys) : NULL;

    if (into == NULL)
        return -1;
    py_t *last = py_seq_at(keys, py_seq_len(keys) - 1);
    if (!toml_take(s, "=")) {
        wrong(s, "'=' is missing behind the key '%s'", py_cstr(last));
        return -1;
    }
    if (py_dict_get(into, last) != NULL) {
        wrong(s, "the key '%s' is there already", py_cstr(last));
        return -1;
    }
    toml_skip(s, false);
    AUTO(py) value = toml_read_value(s);
    return value != NULL ? py_dict_set(into, last, value) : -1;
}

/* [a.b] or [[a.b]]: the table that follows. BORROWED, NULL raised. */
static py_t *
read_header(scan_t *s, py_t *root)
{
    bool array = toml_take(s, "[["), single = !array && toml_take(s, "[");
    AUTO(py) keys = array || single ? read_keys(s) : NULL;
    py_t *above = keys != NULL ? table_for(s, root, keys) : NULL;

    if (above == NULL)
        return NULL;
    if (!toml_take(s, array ? "]]" : "]"))
        return wrong(s, "a table's header has no end: %s", array ? "]]" : "]");
    py_t *last = py_seq_at(keys, py_seq_len(keys) - 1), *there = py_dict_get(above, last);
    if (!array) {
        if (there != NULL && !py_is(there, PY_DICT))
            return wrong(s, "'%s' is there already", py_cstr(last));
        py_t *table = table_below(s, above, last);
        if (table != NULL && close_table(s, table) > 0)
            return wrong(s, "the table '%s' is there already", py_cstr(last));
        return table;
    }
    if (there == NULL) {
        py_t *fresh = py_list();
        int rc = py_dict_set(above, last, fresh);
        py_unref(fresh);
        there = rc == 0 ? py_dict_get(above, last) : NULL;
    }
    if (there == NULL || !py_is(there, PY_LIST))
        return there == NULL ? NULL
                             : wrong(s, "'%s' is there already, and no array of tables", py_cstr(last));
    py_append_new(there, py_odict());
    return py_seq_at(there, py_seq_len(there) - 1);
}

/* ---- values ----------------------------------------------------------------------------------- */

static py_t *
toml_read_array(scan_t *s)
{
    AUTO(py) list = py_list();

    for (;;) {
        toml_skip(s, true);
        if (toml_take(s, "]"))
            return STEAL(list);
        py_t *one = toml_read_value(s);
        if (one == NULL)
            return NULL;
        py_append_new(list, one);
        toml_skip(s, true);
        if (!toml_take(s, ",") && !at(s, "]"))
            return wrong(s, "an array has neither ',' nor ']' behind a value");
    }
}

static py_t *
read_inline(scan_t *s)
{
    AUTO(py) table = py_odict();

    toml_skip(s, false);
    if (toml_take(s, "}"))
        return STEAL(table);
    do {
        if (read_pair(s, table) < 0)
            return NULL;
        toml_skip(s, false);
    } while (toml_take(s, ","));
    if (!toml_take(s, "}"))
        return wrong(s, "a table in braces has neither ',' nor '}' behind a value");
    return close_table(s, table) < 0 ? NULL : STEAL(table);
}

/* True for digits that "_" may part, but not at the ends. */
static bool
are_digits(const char *text, const char *digits)
{
    bool after = false;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '_' ? !after || p[1] == '\0' : strchr(digits, *p) == NULL)
            return false;
        after = *p != '_';
    }
    return *text != '\0';
}

/* A number, without its "_". NEW, or NULL. */
static py_t *
toml_number_of(const char *word)
{
    static const struct {
        const char *prefix, *digits;
        int base;
    } bases[] = { { "0x", "0123456789abcdefABCDEF", 16 }, { "0o", "01234567", 8 }, { "0b", "01", 2 } };
    const char *bare = word + (*word == '-' || *word == '+');
    size_t whole = strspn(bare, "0123456789_");
    buf_auto_t plain = BUF_INIT;

    for (const char *p = word; *p != '\0'; p++)
        if (*p != '_')
            buf_putc(&plain, *p);
    AUTO(py) text = py_strz(buf_str(&plain));
    for (size_t i = 0; i < NELEMS(bases); i++)
        if (strncmp(word, bases[i].prefix, 2) == 0)
            return are_digits(word + 2, bases[i].digits) ? py_toint(text, bases[i].base) : NULL;
    if (strcmp(bare, "inf") == 0 || strcmp(bare, "nan") == 0)
        return py_tofloat(text);
    AUTO_FREE char *first = xstrndup(bare, whole);
    if (!are_digits(first, "0123456789") || (whole > 1 && *first == '0'))
        return NULL;
    if (bare[whole] == '\0')
        return py_toint(text, 10);
    const char *p = bare + whole;
    if (*p == '.' && !isdigit((unsigned char) p[1]))
        return NULL;
    return strspn(p, "0123456789_.eE+-") == strlen(p) ? py_tofloat(text) : NULL;
}

/* A date, a time, or both: 1979-05-27, 07:32:00, 1979-05-27T07:32:00.5-07:00. */
static bool
is_time(const char *word)
{
    size_t digits = strspn(word, "0123456789");

    return ((digits == 4 && word[4] == '-') || (digits == 2 && word[2] == ':')) &&
           strspn(word, "0123456789-:.+TtZz ") == strlen(word);
}

/* true, false, a number or a time. NEW, NULL raised. */
static py_t *
toml_read_word(scan_t *s)
{
    const char *from = s->p;

    while (s->p < s->end && is_word(*s->p))
        s->p++;
    /* A blank may stand between date and time. */
    if (s->p - from == 10 && from[4] == '-' && s->end - s->p > 3 && *s->p == ' ' &&
        isdigit((unsigned char) s->p[1]) && isdigit((unsigned char) s->p[2]) && s->p[3] == ':')
        for (s->p++; s->p < s->end && is_word(*s->p);)
            s->p++;
    AUTO_FREE char *word = xstrndup(from, (size_t) (s->p - from));
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return py_bool(*word == 't');
    if (is_time(word)) {
        AUTO(py) text = py_strz(word);
        return py_yaml_time(text);
    }
    py_t *number = *word != '\0' ? toml_number_of(word) : NULL;
    if (number == NULL) {
        py_clear();
        return *word != '\0' ? wrong(s, "'%s' is no value; texts are in quotes", word)
                             : wrong(s, "a value is missing");
    }
    return number;
}

static py_t *
toml_read_value(scan_t *s)
{
    if (py_enter() < 0)
        return NULL;
    py_t *v = read_quoted(s, true);
    if (v == NULL && py_raised() == NULL)
        v = toml_take(s, "[") ? toml_read_array(s) : toml_take(s, "{") ? read_inline(s) : toml_read_word(s);
    py_leave();
    return v;
}

py_t *
toml_read(const char *text, size_t len)
{
    AUTO(py) root = py_odict();
    AUTO(py) closed = py_set(false);
    scan_t s = { text, text + len, text, closed };
    py_t *table = root;

    (void) toml_take(&s, "\xef\xbb\xbf");
    for (toml_skip(&s, true); s.p < s.end; toml_skip(&s, true)) {
        bool header = at(&s, "[");
        if (header)
            table = read_header(&s, root);
        if (table == NULL || (!header && read_pair(&s, table) < 0))
            return NULL;
        toml_skip(&s, false);
        if (s.p < s.end && *s.p != '\n' && *s.p != '\r' && *s.p != '#')
            return wrong(&s, "a line goes on behind its value");
    }
    return STEAL(root);
}
