/* py_bind.c - binds arguments to slots, with TypeErrors in the words of the function's kind: a Python `def`,
 * or one of CPython's kinds of built-ins (Argument Clinic, PyArg_Parse). */
#include "common/py/methods/methods.h"

static const char *
plural(int n)
{
    return n == 1 ? "" : "s";
}

static bool
is_c(const py_sig_t *sig)
{
    return (sig->flags & PY_SIG_C) != 0;
}

/* ---- how a `def` refuses --------------------------------------------------------------------- */

/* The error of a function defined in Python, in CPython's words. */
static int
too_many_def(const py_sig_t *sig, size_t given)
{
    const char *were = given == 1 ? "was" : "were";

    if (sig->min == sig->max)
        return py_raise_int(&py_TypeError, "%s() takes %d positional argument%s but %zu %s given", sig->name,
                            sig->max, plural(sig->max), given, were);
    return py_raise_int(&py_TypeError, "%s() takes from %d to %d positional arguments but %zu %s given",
                        sig->name, sig->min, sig->max, given, were);
}

/* f() missing 2 required positional arguments: 'a' and 'b' */
static int
missing_def(const py_sig_t *sig, py_t *const *slots)
{
    buf_auto_t names = BUF_INIT;
    int missing = 0, seen = 0;

    for (int i = 0; i < sig->min; i++)
        missing += slots[i] == NULL;
    for (int i = 0; i < sig->min; i++) {
        if (slots[i] != NULL)
            continue;
        if (seen++ > 0)
            buf_puts(&names, seen < missing ? ", " : missing > 2 ? ", and " : " and ");
        buf_printf(&names, "'%s'", sig->params != NULL ? sig->params[i] : "?");
    }
    return py_raise_int(&py_TypeError, "%s() missing %d required positional argument%s: %s", sig->name,
                        missing, plural(missing), buf_str(&names));
}

/* ---- how CPython's own refuse: each kind of declaration in its own words --------------------- */

/* Each kind of C declaration has its own sentence for a wrong number of arguments. */
static int
wrong_count_c(const py_sig_t *sig, const char *owner, const py_args_t *args)
{
    bool few = args->n < (size_t) sig->min;
    int bound = few ? sig->min : sig->max;
    size_t given = args->n + args->nkw;
    const char *dot = *owner != '\0' ? "." : "";

    if (sig->params != NULL)
        return py_raise_int(&py_TypeError, "%s() takes %s %d %sargument%s (%zu given)", sig->name,
                            sig->min < sig->max ? "at most" : "exactly", sig->max,
                            args->n == 0 ? "keyword " : "", plural(sig->max), given);
    if ((sig->flags & PY_SIG_PARSE) != 0)
        return py_raise_int(&py_TypeError, "%s() takes %s %d argument%s (%zu given)", sig->name,
                            sig->min == sig->max ? "exactly"
                            : few                ? "at least"
                                                 : "at most",
                            bound, plural(bound), args->n);
    if (sig->max == 0)
        return py_raise_int(&py_TypeError, "%s%s%s() takes no arguments (%zu given)", owner, dot, sig->name,
                            args->n);
    if (sig->max == 1 && sig->min == 1)
        return py_raise_int(&py_TypeError, "%s%s%s() takes exactly one argument (%zu given)", owner, dot,
                            sig->name, args->n);
    return py_raise_int(&py_TypeError, "%s expected %s%d argument%s, got %zu", sig->name,
                        sig->min == sig->max ? ""
                        : few                ? "at least "
                                             : "at most ",
                        bound, plural(bound), args->n);
}

/* Puts `value` in the slot of its parameter; a slot already filled is an error. */
static int
bind_keyword(const py_sig_t *sig, const py_t *name, py_t *value, py_t **slots, size_t positional)
{
    int i = 0;

    while (sig->params != NULL && sig->params[i] != NULL && !py_str_is(name, sig->params[i]))
        i++;
    if (sig->params == NULL || sig->params[i] == NULL) {
        if ((sig->flags & PY_SIG_STARKW) != 0)
            return 0;
        if (!is_c(sig))
            return py_raise_int(&py_TypeError, "%s() got an unexpected keyword argument '%s'", sig->name,
                                PY_TEXT(name));
        return py_raise_int(&py_TypeError, "'%s' is an invalid keyword argument for %s()", PY_TEXT(name),
                            sig->name);
    }
    if (slots[i] == NULL) {
        slots[i] = value;
        return 0;
    }
    if (is_c(sig) && (size_t) i < positional)
        return py_raise_int(&py_TypeError, "argument for %s() given by name ('%s') and position (%d)",
                            sig->name, sig->params[i], i + 1);
    return py_raise_int(&py_TypeError, "%s() got multiple values for argument '%s'", sig->name,
                        sig->params[i]);
}

/* Positional arguments first, then keywords; the order of the checks decides which error is raised, as in
 * CPython. */
int
py_bind_method(const py_args_t *args, const py_sig_t *sig, const char *owner, py_t **slots)
{
    size_t max = (size_t) sig->max, n = args->n < max ? args->n : max;
    bool positional_only = is_c(sig) && sig->params == NULL && (sig->flags & PY_SIG_STARKW) == 0;
    bool surplus = args->n > max && (sig->flags & PY_SIG_STAR) == 0;

    for (size_t i = 0; i < max; i++)
        slots[i] = i < n ? args->v[i] : NULL;
    if (positional_only && args->nkw > 0) {
        owner = (sig->flags & PY_SIG_PARSE) != 0 ? "" : owner;
        return py_raise_int(&py_TypeError, "%s%s%s() takes no keyword arguments", owner,
                            *owner != '\0' ? "." : "", sig->name);
    }
    if (positional_only && (surplus || args->n < (size_t) sig->min))
        return wrong_count_c(sig, owner, args);
    if (is_c(sig) && sig->params != NULL && (sig->flags & PY_SIG_STARKW) == 0 && args->n + args->nkw > max)
        return wrong_count_c(sig, owner, args);
    for (size_t i = 0; i < args->nkw; i++) {
        if (bind_keyword(sig, args->names[i], args->kwv[i], slots, n) < 0)
            return -1;
    }
    if (surplus)
        return is_c(sig) ? wrong_count_c(sig, owner, args) : too_many_def(sig, args->n);

    /* The first missing argument decides, in a function written in C; one written in Python lists them
     * all. */
    for (int i = 0; i < sig->min; i++) {
        if (slots[i] != NULL)
            continue;
        if (!is_c(sig))
            return missing_def(sig, slots);
        return py_raise_int(&py_TypeError, "%s() missing required argument '%s' (pos %d)", sig->name,
                            sig->params[i], i + 1);
    }
    return 0;
}

int
py_bind(const py_args_t *args, const py_sig_t *sig, py_t **slots)
{
    return py_bind_method(args, sig, "", slots);
}
