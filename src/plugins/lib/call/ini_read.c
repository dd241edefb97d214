/* ini_read.c - see ini_read.h: the reader of Python's ConfigParser with its defaults: "=" and ":", comments of
 * whole lines, values that go on in lines further to the right, no section and no option twice. */
#include "plugins/lib/call/ini_read.h"

#include <ctype.h>

#include "common/py/py_error.h"

#define EXPAND_DEPTH 10                  /* Python's MAX_INTERPOLATION_DEPTH */
#define EXPAND_MAX   ((size_t) 64 << 20) /* of all values with what they refer to: references multiply */
#define OPTION_COST  64                  /* counted for each option beside its text */

typedef struct ini {
    py_t *sections, *defaults; /* owned: {name: {option: text}}, {option: text} */
    py_t *seen;                /* owned: set of (section, option), sections as (section, None) */
    buf_t bad;                 /* lines that can't be read */
    /* where the reader is */
    py_t *section;       /* BORROWED dict; NULL before the first header */
    py_t *name, *option; /* owned: of the section and of the last option; NULL: none */
    buf_t value;         /* of the last option */
    size_t indent, line;
} ini_t;

static void
ini_free(ini_t *self)
{
    py_unref(self->sections);
    py_unref(self->defaults);
    py_unref(self->seen);
    py_unref(self->name);
    py_unref(self->option);
    buf_free(&self->bad);
    buf_free(&self->value);
}

static size_t
trimmed(const char *text, size_t len)
{
    while (len > 0 && isspace((unsigned char) text[len - 1]))
        len--;
    return len;
}

py_t *
ini_option(py_t *name)
{
    AUTO(py) lower = py_strz("lower");
    const py_args_t none = { 0 };

    return py_call_method(name, lower, &none);
}

/* The option's value is whole: white space at its end does not count. */
static int
end_option(ini_t *self)
{
    if (self->option == NULL)
        return 0;
    AUTO(py) text = py_str_utf8(buf_str(&self->value), trimmed(buf_str(&self->value), self->value.len));
    int rc = text != NULL ? py_dict_set(self->section, self->option, text) : -1;

    buf_clear(&self->value);
    py_unref(self->option);
    self->option = NULL;
    return rc;
}

/* 1 the first time, 0 afterwards, -1 raised. */
static int
is_first(ini_t *self, py_t *section, py_t *option)
{
    AUTO(py) pair = py_tuple_of(2, section, option);
    int in = py_in(pair, self->seen);

    if (in == 0)
        py_set_add(self->seen, pair);
    return in < 0 ? -1 : in == 0;
}

static int
begin_section(ini_t *self, const char *name, size_t len)
{
    if (end_option(self) < 0)
        return -1;
    py_unref(self->name);
    self->name = py_str_utf8(name, len);
    if (py_str_is(self->name, "DEFAULT")) {
        self->section = self->defaults;
        return 0;
    }
    int first = is_first(self, self->name, PY_None);
    if (first == 0) {
        return py_raise_int(&py_ValueError,
                            "While reading from '<\?\?\?>' [line %2zu]: section '%s' already exists",
                            self->line, py_cstr(self->name));
    }
    AUTO(py) fresh = py_odict();
    self->section = fresh; /* the dict of sections keeps it */
    return first < 0 ? -1 : py_dict_set(self->sections, self->name, fresh);
}

static int
begin_option(ini_t *self, const char *text, size_t len, const char *line, size_t line_len)
{
    size_t at = 0;

    while (at < len && text[at] != '=' && text[at] != ':')
        at++;
    size_t name_len = trimmed(text, at);
    /* Neither header nor option: the error at the end tells all such lines. */
    if (at == len || name_len == 0) {
        AUTO(py) bad = py_str_utf8(line, line_len);
        AUTO(py) shown = bad != NULL ? py_repr(bad) : NULL;
        buf_printf(&self->bad, "\n\t[line %2zu]: %s", self->line, shown != NULL ? py_cstr(shown) : "");
        py_clear();
    }
    if (at == len)
        return 0;
    if (end_option(self) < 0)
        return -1;
    AUTO(py) name = py_str_utf8(text, name_len);
    self->option = name != NULL ? ini_option(name) : NULL;
    int first = self->option != NULL ? is_first(self, self->name, self->option) : -1;
    if (first == 0) {
        return py_raise_int(
            &py_ValueError,
            "While reading from '<\?\?\?>' [line %2zu]: option '%s' in section '%s' already exists",
            self->line, py_cstr(self->option), py_cstr(self->name));
    }
    for (at++; at < len && isspace((unsigned char) text[at]); at++)
        ;
    buf_add(&self->value, text + at, len - at);
    return first < 0 ? -1 : 0;
}

/* One line, with its end. */
static int
read_line(ini_t *self, const char *line, size_t len)
{
    size_t from = 0, to = trimmed(line, len);

    while (from < to && isspace((unsigned char) line[from]))
        from++;
    if (from < to && (line[from] == '#' || line[from] == ';'))
        return 0;
    if (from == to) { /* may be one of the value's */
        if (self->option != NULL)
            buf_putc(&self->value, '\n');
        return 0;
    }
    if (self->option != NULL && from > self->indent) {
        buf_putc(&self->value, '\n');
        buf_add(&self->value, line + from, to - from);
        return 0;
    }
    self->indent = from;
    if (line[from] == '[') {
        size_t close = to;
        while (close > from + 2 && line[close - 1] != ']')
            close--;
        if (close > from + 2)
            return begin_section(self, line + from + 1, close - from - 2);
    }
    if (self->section == NULL) {
        AUTO(py) text = py_str_utf8(line, len);
        AUTO(py) shown = text != NULL ? py_repr(text) : NULL;
        return shown == NULL
                   ? -1
                   : py_raise_int(&py_ValueError,
                                  "File contains no section headers.\nfile: '<\?\?\?>', line: %zu\n%s",
                                  self->line, py_cstr(shown));
    }
    return begin_option(self, line + from, to - from, line, len);
}

/* ---- references ------------------------------------------------------------------------------ */

typedef struct expansion {
    py_t *all; /* the section's options with those of DEFAULT */
    const char *option, *section, *raw;
    size_t most; /* bytes that `out` may have */
    buf_t out;
} expansion_t;

static int expand(expansion_t *self, const char *text, int depth);

/* A reference "%(name)s" at `text`: *ret_end is behind it. */
static int
expand_name(expansion_t *self, const char *text, int depth, const char **ret_end)
{
    const char *close = strchr(text, ')');

    if (close == NULL || close == text + 2 || close[1] != 's')
        return py_raise_int(&py_ValueError, "bad interpolation variable reference '%s'", text);
    AUTO(py) name = py_str_utf8(text + 2, (size_t) (close - text) - 2);
    AUTO(py) key = name != NULL ? ini_option(name) : NULL;
    py_t *value = key != NULL ? py_dict_get(self->all, key) : NULL;
    *ret_end = close + 2;
    if (value != NULL)
        return expand(self, py_cstr(value), depth + 1);
    if (key == NULL)
        return -1;
    py_clear();
    return py_raise_int(&py_ValueError,
                        "Bad value substitution: option '%s' in section '%s' contains an interpolation key "
                        "'%s' which is not a valid option name. Raw value: '%s'",
                        self->option, self->section, py_cstr(key), self->raw);
}

static int
expand(expansion_t *self, const char *text, int depth)
{
    if (self->out.len > self->most)
        return py_raise_int(&py_ValueError, "option '%s' in section '%s': the values are too large",
                            self->option, self->section);
    if (depth > EXPAND_DEPTH)
        return py_raise_int(
            &py_ValueError,
            "Recursion limit exceeded in value substitution: option '%s' in section '%s' "
            "contains an interpolation key which cannot be substituted in %d steps. Raw value: '%s'",
            self->option, self->section, EXPAND_DEPTH, self->raw);
    while (*text != '\0') {
        size_t n = strcspn(text, "%");
        buf_add(&self->out, text, n);
        text += n;
        if (*text == '\0')
            break;
        if (text[1] == '%') {
            buf_putc(&self->out, '%');
            text += 2;
        } else if (text[1] != '(') {
            return py_raise_int(&py_ValueError, "'%%' must be followed by '%%' or '(', found: '%s'", text);
        } else if (expand_name(self, text, depth, &text) < 0) {
            return -1;
        }
    }
    return 0;
}

/* A section as it is read: first the options of DEFAULT, then its own. *left: bytes that it may have. NEW, or
 * NULL raised. */
static py_t *
whole_section(const ini_t *self, py_t *name, py_t *own, size_t *left)
{
    AUTO(py) all = py_odict();
    AUTO(py) out = py_odict();
    py_t *key, *value;

    if (py_dict_update(all, self->defaults) < 0 || py_dict_update(all, own) < 0)
        return NULL;
    for (size_t i = 0; py_dict_next(all, &i, &key, &value);) {
        expansion_t e = {
            .all = all, .option = py_cstr(key), .section = py_cstr(name), .raw = py_cstr(value)
        };
        int rc = expand(&e, py_cstr(value), 1);
        *left -= e.out.len + OPTION_COST < *left ? e.out.len + OPTION_COST : *left;
        AUTO(py) text = rc == 0 ? py_str_utf8(buf_str(&e.out), e.out.len) : NULL;
        buf_free(&e.out);
        if (text == NULL || py_dict_set(out, key, text) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

py_t *
ini_read(const char *text, size_t len, py_t *defaults)
{
    __attribute__((cleanup(ini_free)))
    ini_t self = { .sections = py_odict(), .defaults = defaults, .seen = py_set(false) };

    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t n = end != NULL ? (size_t) (end - text) + 1 - at : len - at;
        self.line++;
        if (read_line(&self, text + at, n) < 0)
            return NULL;
        at += n;
    }
    if (end_option(&self) < 0)
        return NULL;
    if (self.bad.len > 0)
        return py_raise(&py_ValueError, "Source contains parsing errors: '<\?\?\?>'%s", buf_str(&self.bad));

    AUTO(py) out = py_odict();
    py_t *name, *own;
    size_t left = EXPAND_MAX;

    for (size_t i = 0; py_dict_next(self.sections, &i, &name, &own);) {
        AUTO(py) section = whole_section(&self, name, own, &left);
        if (section == NULL || py_dict_set(out, name, section) < 0)
            return NULL;
    }
    return STEAL(out);
}
