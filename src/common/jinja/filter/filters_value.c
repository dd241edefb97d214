/* filters_value.c - filters over one value: numbers, defaults, attributes. Conversions fall back to the
 * default for TypeError and ValueError only. */
#include <math.h>

#include "common/jinja/filter/filter.h"

static py_t *
abs_(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    return py_abs(a[0]);
}

/* With `boolean`, false values too are replaced. */
static py_t *
do_default(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int boolean = jflag(a[2], false);
    if (boolean < 0)
        return NULL;
    int use = py_is(a[0], PY_UNDEFINED) ? 1 : boolean ? py_truth(a[0]) == 0 : 0;
    if (py_raised() != NULL)
        return NULL;
    return !use ? py_ref(a[0]) : a[1] != NULL ? py_ref(a[1]) : py_str("", 0);
}

/* The attribute only, never an element; through the sandbox for existing ones. */
static py_t *
do_attr(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_t *v = NULL;
    if (!py_is(a[1], PY_STR))
        return py_raise(&py_TypeError, "attribute name must be string, not '%s'", py_type_name(a[1]));
    int found = py_find_attr(a[0], a[1], &v);
    py_unref(v);
    if (found < 0)
        return NULL;
    if (found == 0 && strncmp(py_cstr(a[1]), "__", 2) != 0)
        return py_undefined(ctx->session->engine->options.undefined, a[0], a[1], NULL, NULL);
    return jgetattr(ctx->session, a[0], a[1]);
}

/* True if the filter answers the pending exception, a TypeError or ValueError, with its default. */
static bool
forgiven(void)
{
    if (!py_raised_is(&py_TypeError) && !py_raised_is(&py_ValueError))
        return false;
    py_clear();
    return true;
}

/* The default, or 0.0, for what is not a number. */
static py_t *
do_float(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    py_t *v = py_tofloat(a[0]);
    if (v == NULL && forgiven())
        return a[1] != NULL ? py_ref(a[1]) : py_float(0.0);
    return v;
}

/* int(text, base), else int(float(text)), else the default. */
static py_t *
do_int(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    int64_t base = -1;
    py_t *v = NULL;
    if (!py_is(a[0], PY_STR) || jindex(a[2], 10, &base) == 0)
        v = base > 36 || (base < 0 && py_is(a[0], PY_STR)) ? NULL : py_toint(a[0], (int) base);
    if (v != NULL || !(forgiven() || py_raised() == NULL))
        return v;
    AUTO(py) number = py_tofloat(a[0]);
    v = number != NULL ? py_toint(number, -1) : NULL;
    if (v == NULL && forgiven())
        return a[1] != NULL ? py_ref(a[1]) : py_int(0);
    return v;
}

/* "common", "ceil" or "floor", with a precision. */
static py_t *
do_round(jcontext_t *ctx, py_t *const *a, const py_args_t *args)
{
    AUTO(py) zero = py_int(0);
    py_t *precision = jarg(a[1], zero);
    bool up = a[2] != NULL && py_str_is(a[2], "ceil"), down = a[2] != NULL && py_str_is(a[2], "floor");
    if (up || down) {
        /* ceil or floor at a decimal place; integers use exact arithmetic. */
        py_t *value = a[0];
        AUTO(py) ten = py_int(10);
        AUTO(py) scale = py_binary(PY_POW, ten, precision);
        AUTO(py) scaled = scale != NULL ? py_binary(PY_MUL, value, scale) : NULL;
        if (scaled == NULL)
            return NULL;
        AUTO(py) whole = NULL;
        if (py_is(scaled, PY_FLOAT)) {
            AUTO(py) cut = py_float(up ? ceil(py_float_value(scaled)) : floor(py_float_value(scaled)));
            whole = py_toint(cut, -1);
        } else if (py_is(scaled, PY_INT) || py_is(scaled, PY_BOOL)) {
            whole = py_ref(scaled);
        } else {
            return py_raise(&py_TypeError, "must be real number, not %s", py_type_name(scaled));
        }
        return whole != NULL ? py_binary(PY_DIV, whole, scale) : NULL;
    }
    if (a[2] != NULL && !py_str_is(a[2], "common"))
        return py_raise(&jinja_FilterArgumentError, "method must be common, ceil or floor");
    return py_round(a[0], precision);
}

static const jfilter_t rows[] = {
    { "abs", { abs_ }, { "abs", NULL, 1, 1, PY_SIG_C }, 0, "The value without its sign." },
    { JROW("attr", do_attr, JP("environment", "obj", "name"), 3, 3, 0), JF_CONTEXT, "An attribute by name." },
    { JROW("d", do_default, JP("value", "default_value", "boolean"), 1, 3, 0), 0, "The same as `default`." },
    { JROW("default", do_default, JP("value", "default_value", "boolean"), 1, 3, 0), 0,
      "Another value for what is undefined." },
    { JROW("float", do_float, JP("value", "default"), 1, 2, 0), 0, "To a number with a fraction." },
    { JROW("int", do_int, JP("value", "default", "base"), 1, 3, 0), 0, "To a whole number." },
    { JROW("round", do_round, JP("value", "precision", "method"), 1, 3, 0), 0, "To `precision` digits." },
};

const jfilter_table_t jfilters_value = JTABLE(rows);
