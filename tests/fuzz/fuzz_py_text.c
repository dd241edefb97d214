/* fuzz_py_text.c - every method of str, Markup and bytes with 0 to 3 arguments, which are cut out of the
 * input at bytes of 1: a value or an exception, and no object is left over.
 */
#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_methods.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const py_limits_t limits = { .bytes = 64 << 20, .depth = 50, .steps = 1000000 };

static const char *const methods[] = {
    "capitalize",   "casefold",     "center",       "count",      "decode",     "encode",     "endswith",
    "expandtabs",   "find",         "format",       "format_map", "hex",        "index",      "isalnum",
    "isidentifier", "istitle",      "join",         "ljust",      "lower",      "lstrip",     "maketrans",
    "partition",    "removeprefix", "removesuffix", "replace",    "rfind",      "rindex",     "rjust",
    "rpartition",   "rsplit",       "rstrip",       "split",      "splitlines", "startswith", "strip",
    "striptags",    "swapcase",     "title",        "translate",  "unescape",   "upper",      "zfill",
};

/* Calls every method on `self` with the first k of n arguments. */
static void
call_all(py_t *self, py_t *const *v, size_t n)
{
    for (size_t i = 0; i < NELEMS(methods); i++) {
        const py_method_t *m = py_method_find(self, methods[i], strlen(methods[i]));
        for (size_t k = 0; m != NULL && k <= n && k < 4; k++) {
            const py_args_t args = { k, v, 0, NULL, NULL };
            AUTO(py) result = py_method_call(m, self, &args);
            salt_assert((result == NULL) == (py_raised() != NULL));
            if (result != NULL)
                py_unref(py_repr(result));
            py_clear();
        }
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    py_scope_t scope;
    py_t *v[4];
    size_t n = 0;

    if (size > 2048)
        return 0;
    py_scope_enter(&scope, &limits);
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    char **words = str_split(text, "\x01", false);
    for (; words[n] != NULL && n < NELEMS(v); n++) {
        long long number;
        v[n] = str_to_int(words[n], -1000, 1000, &number) ? py_int(number)
                                                          : py_str_utf8(words[n], strlen(words[n]));
    }
    strv_free(words);
    if (n > 0 && py_is(v[0], PY_STR)) {
        AUTO(py) markup = py_markup(v[0]);
        AUTO(py) bytes = py_bytes(data, size);
        call_all(v[0], v + 1, n - 1);
        call_all(markup, v + 1, n - 1);
        call_all(bytes, v + 1, n - 1);
    }
    while (n > 0)
        py_unref(v[--n]);
    py_scope_leave(&scope);
    salt_assert(py_state.live == 0);
    return 0;
}
