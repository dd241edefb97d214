/* fuzz_py_format.c - any text as a template of % and of str.format, and as a format specification: a value or
 * an exception, within the budget of bytes and steps.
 */
#include "common/py/py_error.h"
#include "common/py/py_methods.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const py_limits_t limits = { .bytes = 64 << 20, .depth = 50, .steps = 1000000 };

/* Takes a result: it is either a value or an exception, never both. */
static void
settle(py_t *v)
{
    salt_assert((v == NULL) == (py_raised() != NULL));
    py_unref(v);
    py_clear();
}

static void
format_values(py_t *const *v, size_t n, py_t *text)
{
    AUTO(py) markup = py_markup(text);
    AUTO(py) bytes = py_bytes(py_cstr(text), strlen(py_cstr(text)));
    AUTO(py) tuple = py_tuple(n);
    AUTO(py) dict = py_dict();
    AUTO(py) name = py_strz("a");
    const py_args_t args = { n, v, 1, &name, v };
    size_t len;
    const char *spec = py_text(text, &len);

    for (size_t i = 0; i < n; i++) {
        settle(py_format(v[i], spec, len));
        settle(py_percent(text, v[i]));
        settle(py_percent(bytes, v[i]));
        settle(py_toint(text, (int) i * 4));
        py_tuple_set(tuple, i, v[i]);
    }
    py_dict_set(dict, name, v[0]);
    settle(py_percent(text, tuple));
    settle(py_percent(markup, tuple));
    settle(py_percent(text, dict));
    settle(py_format_str(text, &args, NULL, NULL));
    settle(py_format_str(markup, &args, NULL, NULL));
    settle(py_format_map(text, dict, NULL, NULL));
    settle(py_toint(text, -1));
    settle(py_tofloat(text));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    py_scope_t scope;

    if (size > 4096)
        return 0;
    py_scope_enter(&scope, &limits);
    py_t *v[] = { py_int(-42),
                  py_int_digits("123456789012345678901234567890", 30),
                  py_float(3.14159),
                  py_str("h\xc3\xa9llo", 6),
                  py_tuple_of(2, PY_None, PY_True),
                  py_range(0, 5, 1) };
    AUTO(py) text = py_str_utf8((const char *) data, size);
    format_values(v, NELEMS(v), text);
    for (size_t i = 0; i < NELEMS(v); i++)
        py_unref(v[i]);
    py_destroy(&text);
    py_scope_leave(&scope);
    salt_assert(py_state.live == 0);
    return 0;
}
