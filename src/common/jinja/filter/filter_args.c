/* filter_args.c - helpers for the arguments of filters and tests: method calls by name, flags, numbers,
 * policies. */
#include "common/jinja/filter/filter.h"

/* Calls a method by name; built-in types take the memo, others the general path. */
py_t *
jmethod(py_t *v, const char *name, size_t n, ...)
{
    py_t *values[4];
    va_list ap;
    va_start(ap, n);
    for (size_t i = 0; i < n; i++)
        values[i] = va_arg(ap, py_t *);
    va_end(ap);
    const py_args_t args = { .n = n, .v = values };
    if (py_is(v, PY_STR) || py_is(v, PY_LIST) || py_is(v, PY_DICT)) {
        /* Method of a type by a literal name, memoised per thread by the literal's address. */
        enum { SLOTS = 64 };
        static _Thread_local struct {
            const char *name;
            unsigned type;
            const py_method_t *method;
        } memo[SLOTS];
        unsigned type = 2 * (unsigned) py_type(v) + (py_is_markup(v) || py_is_odict(v));
        size_t slot = (((uintptr_t) name >> 1) * 31 + type) % SLOTS;
        if (memo[slot].name != name || memo[slot].type != type) {
            memo[slot].name = name;
            memo[slot].type = type;
            memo[slot].method = py_method_find(v, name, strlen(name));
        }
        const py_method_t *m = memo[slot].method;

        if (m != NULL)
            return py_method_call(m, v, &args);
    }
    AUTO(py) str = py_strz(name);
    return py_call_method(v, str, &args);
}

py_t *
jsoft_str(py_t *v)
{
    return py_is(v, PY_STR) ? py_ref(v) : py_tostr(v);
}

int
jflag(py_t *v, bool dflt)
{
    return v == NULL ? dflt : py_truth(v);
}

int
jindex(py_t *v, int64_t dflt, int64_t *ret)
{
    *ret = dflt;
    return v == NULL ? 0 : py_index(v, ret);
}

py_t *
jpolicy(jcontext_t *ctx, const char *name)
{
    py_t *v = py_dict_gets(ctx->session->engine->policies, name);
    return py_ref(v != NULL ? v : PY_None);
}
