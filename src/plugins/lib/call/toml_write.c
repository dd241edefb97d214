/* toml_write.c - see toml.h. A table's plain values come first, then its arrays of tables, each whole; tables
 * within tables follow level by level, as the library has them. */
#include <string.h>

#include "common/base/utf8.h"
#include "common/py/py_error.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/call/toml.h"

static int toml_put_value(buf_t *out, py_t *v);

/* A basic string. Characters that are no text to see are escaped, as Python's repr() has them. */
static void
put_text(buf_t *out, py_t *v)
{
    size_t len;
    const char *text = py_text(v, &len);

    buf_putc(out, '"');
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t cp;
        n = utf8_next(text + i, len - i, &cp);
        if (n == 0) { /* half a character, which no file can hold */
            n = 1;
            cp = 0xfffd;
        }
        if (cp == '"' || cp == '\\')
            buf_printf(out, "\\%c", (char) cp);
        else if (cp == '\n' || cp == '\r' || cp == '\t')
            buf_printf(out, "\\%c", cp == '\n' ? 'n' : cp == '\r' ? 'r' : 't');
        else if (!utf8_printable(cp))
            buf_printf(out, cp > 0xffff ? "\\U%08x" : "\\u%04x", cp);
        else if (cp == 0xfffd)
            buf_puts(out, "\xef\xbf\xbd");
        else
            buf_add(out, text + i, n);
    }
    buf_putc(out, '"');
}

/* A key, bare where TOML lets it be. NEW, or NULL raised. */
static py_t *
toml_key_text(py_t *key)
{
    static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    AUTO(py) name = py_tostr(key);
    buf_auto_t out = BUF_INIT;
    size_t len;

    if (name == NULL)
        return NULL;
    const char *text = py_text(name, &len);
    if (len > 0 && strspn(text, bare) == len)
        return STEAL(name);
    put_text(&out, name);
    return py_str_buf(&out);
}

/* "1e-05" is 1e-5. */
static int
toml_put_float(buf_t *out, py_t *v)
{
    AUTO(py) text = py_tostr(v);

    if (text == NULL)
        return -1;
    const char *all = py_cstr(text), *e = strchr(all, 'e');
    if (e != NULL && (e[1] == '-' || e[1] == '+') && e[2] == '0')
        buf_printf(out, "%.*s%s", (int) (e + 2 - all), all, e + 3);
    else
        buf_puts(out, all);
    return 0;
}

/* A dict within an array of other values, which has no table of its own. */
static int
put_inline(buf_t *out, py_t *v)
{
    py_t *key, *value;
    const char *between = "";

    buf_puts(out, "{ ");
    for (size_t i = 0; py_dict_next(v, &i, &key, &value);) {
        AUTO(py) name = toml_key_text(key);
        if (name == NULL)
            return -1;
        if (py_is(value, PY_NONE))
            continue;
        buf_printf(out, "%s%s = ", between, py_cstr(name));
        if (toml_put_value(out, value) < 0)
            return -1;
        between = ", ";
    }
    buf_puts(out, " }");
    return 0;
}

/* "[ 1, 2,]" */
static int
put_array(buf_t *out, py_t *v)
{
    py_iter_t it;
    py_t *one;
    int rc = py_iter_start(&it, v);

    if (rc < 0)
        return rc;
    buf_putc(out, '[');
    while (rc == 0 && (one = py_iter_next(&it)) != NULL) {
        buf_putc(out, ' ');
        rc = toml_put_value(out, one);
        buf_putc(out, ',');
        py_unref(one);
    }
    py_iter_end(&it);
    buf_putc(out, ']');
    return py_raised() != NULL ? -1 : rc;
}

static int
toml_put_value(buf_t *out, py_t *v)
{
    py_t *when = py_yaml_time_text(v);

    if (py_enter() < 0)
        return -1;
    int rc = 0;
    if (when != NULL) {
        buf_puts(out, py_cstr(when));
    } else if (py_is(v, PY_BOOL)) {
        buf_puts(out, py_truth(v) > 0 ? "true" : "false");
    } else if (py_is(v, PY_INT)) {
        rc = py_str_to(out, v);
    } else if (py_is(v, PY_FLOAT)) {
        rc = toml_put_float(out, v);
    } else if (py_is(v, PY_DICT)) {
        rc = put_inline(out, v);
    } else if (py_is(v, PY_LIST) || py_is(v, PY_TUPLE) || py_is(v, PY_SET)) {
        rc = put_array(out, v);
    } else {
        AUTO(py) text = py_tostr(v);
        rc = text != NULL ? 0 : -1;
        if (rc == 0)
            put_text(out, text);
    }
    py_leave();
    return rc;
}

/* True for a list in which a dict is. Raises for one that holds other values beside it. */
static int
is_array_of_tables(py_t *v)
{
    size_t n = py_is(v, PY_LIST) ? py_seq_len(v) : 0, dicts = 0;

    for (size_t i = 0; i < n; i++)
        dicts += py_is(py_seq_at(v, i), PY_DICT);
    if (dicts > 0 && dicts < n)
        return py_raise_int(&py_ValueError,
                            "a list holds mappings and other values; TOML has tables or values");
    return dicts > 0;
}

static int put_tables(buf_t *out, py_t *tables, bool under_array);

/* A table's values, then its arrays of tables. Tables within it go to `tables`, {"its.path": dict}. */
static int
put_table(buf_t *out, py_t *table, const char *path, py_t *tables)
{
    buf_auto_t arrays = BUF_INIT;
    py_t *key, *value;
    const char *dot = *path != '\0' ? "." : "";

    for (size_t i = 0; py_dict_next(table, &i, &key, &value);) {
        AUTO(py) name = toml_key_text(key);
        AUTO(py) whole = name != NULL ? py_strf("%s%s%s", path, dot, py_cstr(name)) : NULL;
        int of_tables = whole != NULL ? is_array_of_tables(value) : -1;
        if (of_tables < 0)
            return -1;
        for (size_t k = 0; of_tables > 0 && k < py_seq_len(value); k++) {
            AUTO(py) below = py_odict();
            buf_printf(&arrays, "[[%s]]\n", py_cstr(whole));
            buf_auto_t own = BUF_INIT;
            if (put_table(&own, py_seq_at(value, k), py_cstr(whole), below) < 0)
                return -1;
            bool nested = own.len > 0 && own.data[0] == '[';
            buf_printf(&arrays, "%s%s%s", nested ? "\n" : "", buf_str(&own), nested ? "" : "\n");
            if (put_tables(&arrays, below, true) < 0)
                return -1;
        }
        if (of_tables > 0 || py_is(value, PY_NONE))
            continue;
        if (py_is(value, PY_DICT)) {
            if (py_dict_set(tables, whole, value) < 0)
                return -1;
            continue;
        }
        buf_printf(out, "%s = ", py_cstr(name));
        if (toml_put_value(out, value) < 0)
            return -1;
        buf_putc(out, '\n');
    }
    buf_add(out, arrays.data, arrays.len);
    return 0;
}

/* Tables by their paths, then those within them, level by level. One without a value of its own is written
 * when it has no tables either, so that it is there. Below an array no empty line parts them. */
static int
put_tables(buf_t *out, py_t *tables, bool under_array)
{
    AUTO(py) level = py_ref(tables);
    py_t *path, *table;

    while (py_dict_len(level) > 0) {
        AUTO(py) below = py_odict();
        for (size_t i = 0; py_dict_next(level, &i, &path, &table);) {
            buf_auto_t own = BUF_INIT;
            size_t before = py_dict_len(below);
            if (put_table(&own, table, py_cstr(path), below) < 0)
                return -1;
            if (own.len == 0 && py_dict_len(below) > before)
                continue;
            if (!under_array && out->len > 0 &&
                (out->len < 2 || memcmp(buf_str(out) + out->len - 2, "\n\n", 2) != 0))
                buf_putc(out, '\n');
            buf_printf(out, "[%s]\n", py_cstr(path));
            buf_add(out, own.data, own.len);
        }
        py_unref(level);
        level = py_ref(below);
    }
    return 0;
}

py_t *
toml_write(py_t *v)
{
    AUTO(py) tables = py_odict();
    buf_auto_t out = BUF_INIT;

    if (!py_is(v, PY_DICT))
        return py_raise(&py_TypeError, "TOML is a mapping at its top, not %s", py_type_name(v));
    if (py_enter() < 0)
        return NULL;
    bool ok = put_table(&out, v, "", tables) == 0 && put_tables(&out, tables, false) == 0;
    py_leave();
    return ok ? py_str_buf(&out) : NULL;
}
