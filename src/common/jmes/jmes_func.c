/* jmes_func.c - JMESPath's functions.
 *
 * Each row has the number of arguments and their types, checked before the call as jmespath.py's decorator
 * does; error texts are the library's. "array-number" means an array whose elements are numbers. */
#include <math.h>

#include "common/jinja/filter/filter.h"
#include "common/jmes/jmes.h"
#include "common/py/py_json.h"

static const py_exc_t type_error = { "JMESPathTypeError", &jmes_Error };
static const py_exc_t arity_error = { "ArityError", &jmes_ParseError };
static const py_exc_t variadic_error = { "VariadictArityError", &arity_error };
static const py_exc_t unknown_error = { "UnknownFunctionError", &jmes_Error };

/* ---- types -------------------------------------------------------------------------------------------- */

static const struct {
    const char *python, *jmes;
} type_names[] = {
    { "bool", "boolean" },       { "list", "array" },    { "dict", "object" },
    { "OrderedDict", "object" }, { "NoneType", "null" }, { "str", "string" },
    { "float", "number" },       { "int", "number" },    { "_Expression", "expref" },
};

/* JMESPath's name of a value's type, by Python's class name as in jmespath.py; "unknown" for others. */
static const char *
type_of(const py_t *v)
{
    for (size_t i = 0; i < NELEMS(type_names); i++)
        if (strcmp(type_names[i].python, py_type_name(v)) == 0)
            return type_names[i].jmes;
    return "unknown";
}

/* Types that an argument may have, NULL at the end. */
typedef const char *const *types_t;
#define TYPES(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* JMESPathTypeError with the value, the allowed types and the received one. NULL. */
static void *
jmes_func_bad_type(const char *function, py_t *v, const char *received, types_t types)
{
    AUTO(py) shown = py_tostr(v);
    buf_auto_t list = BUF_INIT;
    for (size_t i = 0; types[i] != NULL; i++)
        buf_printf(&list, "%s'%s'", i > 0 ? ", " : "", types[i]);
    if (shown == NULL)
        return NULL;
    return py_raise(&type_error,
                    "In function %s(), invalid type for value: %s, expected one of: [%s], received: \"%s\"",
                    function, py_cstr(shown), buf_str(&list), received);
}

/* Type of an array's elements, "number" or "string"; NULL: any. */
static const char *
element_type(const char *type)
{
    const char *dash = strchr(type, '-');
    return dash != NULL ? dash + 1 : NULL;
}

/* True when `type` is the part of `wanted` before a dash. */
static bool
jmes_func_is_type(const char *type, const char *wanted)
{
    size_t n = strcspn(wanted, "-");
    return strncmp(type, wanted, n) == 0 && type[n] == '\0';
}

/* The first element fixes the type of all: a mix of numbers and strings is an error. */
static int
check_elements(const char *function, py_t *array, types_t types)
{
    for (size_t i = 0; i < py_seq_len(array); i++) {
        py_t *v = py_seq_at(array, i);
        /* All elements must have the first one's type. */
        const char *first = type_of(py_seq_at(array, 0));
        bool allowed = false;
        for (size_t k = 0; types[k] != NULL; k++)
            allowed = allowed || strcmp(element_type(types[k]), first) == 0;
        if (!allowed || strcmp(type_of(v), first) != 0) {
            jmes_func_bad_type(function, v, py_type_name(v), types);
            return -1;
        }
    }
    return 0;
}

/* Checks an argument's type, and for "array-..." that of its elements. 0, or -1 raised. */
static int
check_arg(const char *function, py_t *v, types_t types)
{
    const char *type = type_of(v);
    bool allowed = types[0] == NULL;
    for (size_t i = 0; types[i] != NULL; i++)
        allowed = allowed || jmes_func_is_type(type, types[i]);
    if (!allowed) {
        jmes_func_bad_type(function, v, type, types);
        return -1;
    }
    return types[0] != NULL && element_type(types[0]) != NULL ? check_elements(function, v, types) : 0;
}

/* ---- numbers ------------------------------------------------------------------------------------------ */

static py_t *
f_abs(py_t *const *a, size_t n)
{
    return py_abs(a[0]);
}

/* Python's math.ceil and floor: an int of any size. Integers stay as they are. */
static py_t *
jmes_func_whole(py_t *v, double (*round_to)(double))
{
    if (!py_is(v, PY_FLOAT))
        return py_ref(v);
    AUTO(py) rounded = py_float(round_to(py_float_value(v)));
    return py_toint(rounded, -1);
}

static py_t *
f_ceil(py_t *const *a, size_t n)
{
    return jmes_func_whole(a[0], ceil);
}

static py_t *
f_floor(py_t *const *a, size_t n)
{
    return jmes_func_whole(a[0], floor);
}

static py_t *
f_sum(py_t *const *a, size_t n)
{
    AUTO(py) sum = py_int(0);
    for (size_t i = 0; sum != NULL && i < py_seq_len(a[0]); i++) {
        py_t *next = py_add(sum, py_seq_at(a[0], i));
        py_unref(sum);
        sum = next;
    }
    return STEAL(sum);
}

/* Mean as a float; None for an empty array. */
static py_t *
f_avg(py_t *const *a, size_t n)
{
    if (py_seq_len(a[0]) == 0)
        return py_ref(PY_None);
    AUTO(py) sum = f_sum(a, n);
    AUTO(py) count = py_float((double) py_seq_len(a[0]));
    return sum != NULL ? py_binary(PY_DIV, sum, count) : NULL;
}

/* int(), else float(), else None, as jmespath.py. Containers, booleans and None give None. */
static py_t *
f_to_number(py_t *const *a, size_t n)
{
    py_t *v = a[0];
    if (py_is(v, PY_INT) || py_is(v, PY_FLOAT))
        return py_ref(v);
    if (py_is(v, PY_LIST) || py_is(v, PY_DICT) || py_is(v, PY_BOOL) || py_is(v, PY_NONE))
        return py_ref(PY_None);
    py_t *number = py_toint(v, -1);
    if (number == NULL && py_raised_is(&py_ValueError)) {
        py_clear();
        number = py_tofloat(v);
    }
    if (number != NULL || !py_raised_is(&py_ValueError))
        return number;
    py_clear();
    return py_ref(PY_None);
}

/* ---- texts and arrays --------------------------------------------------------------------------------- */

/* Python's `in`, so a substring of a text or an element of an array. */
static py_t *
f_contains(py_t *const *a, size_t n)
{
    int in = py_in(a[1], a[0]);
    return in < 0 ? NULL : py_bool(in > 0);
}

static py_t *
f_length(py_t *const *a, size_t n)
{
    return py_int(py_len(a[0]));
}

static py_t *
f_starts_with(py_t *const *a, size_t n)
{
    return jmethod(a[0], "startswith", 1, a[1]);
}

static py_t *
f_ends_with(py_t *const *a, size_t n)
{
    return jmethod(a[0], "endswith", 1, a[1]);
}

static py_t *
f_join(py_t *const *a, size_t n)
{
    return jmethod(a[0], "join", 1, a[1]);
}

static py_t *
f_reverse(py_t *const *a, size_t n)
{
    AUTO(py) step = py_int(-1);
    AUTO(py) slice = py_slice(NULL, NULL, step);
    return py_getitem(a[0], slice);
}

static py_t *
f_sort(py_t *const *a, size_t n)
{
    AUTO(py) list = py_tolist(a[0]);
    return list != NULL && py_sort(list, NULL, false) == 0 ? STEAL(list) : NULL;
}

/* Texts stay as they are, other values become compact JSON. */
static py_t *
f_to_string(py_t *const *a, size_t n)
{
    const py_dumps_t how = { ",", ":", -1, false, true };
    return py_is(a[0], PY_STR) ? py_ref(a[0]) : py_json_dumps(a[0], &how);
}

/* A value that is not a list becomes the only element of one. */
static py_t *
f_to_array(py_t *const *a, size_t n)
{
    if (py_is(a[0], PY_LIST))
        return py_ref(a[0]);
    py_t *list = py_list();
    py_append(list, a[0]);
    return list;
}

/* Element with the largest (or smallest) key, the first of equals; None for an empty array. */
static py_t *
jmes_func_extreme(py_t *array, py_t *keys, py_cmp_t op)
{
    size_t best = 0;
    if (py_seq_len(array) == 0)
        return py_ref(PY_None);
    for (size_t i = 1; i < py_seq_len(array); i++) {
        int better = py_compare(py_seq_at(keys, i), py_seq_at(keys, best), op);
        if (better < 0)
            return NULL;
        best = better > 0 ? i : best;
    }
    return py_ref(py_seq_at(array, best));
}

static py_t *
f_max(py_t *const *a, size_t n)
{
    return jmes_func_extreme(a[0], a[0], PY_GT);
}

static py_t *
f_min(py_t *const *a, size_t n)
{
    return jmes_func_extreme(a[0], a[0], PY_LT);
}

/* ---- objects and anything ----------------------------------------------------------------------------- */

static py_t *
f_keys(py_t *const *a, size_t n)
{
    return py_tolist(a[0]);
}

static py_t *
f_values(py_t *const *a, size_t n)
{
    AUTO(py) values = jmethod(a[0], "values", 0);
    return values != NULL ? py_tolist(values) : NULL;
}

/* Later objects win. */
static py_t *
f_merge(py_t *const *a, size_t n)
{
    AUTO(py) merged = py_dict();
    for (size_t i = 0; i < n; i++)
        if (py_dict_update(merged, a[i]) < 0)
            return NULL;
    return STEAL(merged);
}

/* The first argument that is not null. */
static py_t *
f_not_null(py_t *const *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!py_is(a[i], PY_NONE))
            return py_ref(a[i]);
    return py_ref(PY_None);
}

/* Name of the type; None for values that JSON lacks. */
static py_t *
f_type(py_t *const *a, size_t n)
{
    const char *type = type_of(a[0]);
    return strcmp(type, "unknown") == 0 || strcmp(type, "expref") == 0 ? py_ref(PY_None) : py_strz(type);
}

/* ---- with an expression for each element -------------------------------------------------------------- */

/* Unlike a projection, map keeps None results. */
static py_t *
f_map(py_t *const *a, size_t n)
{
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(a[1]); i++) {
        py_t *v = jmes_apply(a[0], py_seq_at(a[1], i));
        if (v == NULL)
            return NULL;
        py_append_new(out, v);
    }
    return STEAL(out);
}

/* Evaluates the expression for each element and checks each key's type. NEW list, or NULL raised. */
static py_t *
jmes_func_keys_of(const char *function, py_t *array, py_t *expref, types_t types)
{
    AUTO(py) keys = py_list();
    for (size_t i = 0; i < py_seq_len(array); i++) {
        py_t *key = jmes_apply(expref, py_seq_at(array, i));
        if (key == NULL)
            return NULL;
        py_append_new(keys, key);
        if (check_arg(function, key, types) < 0)
            return NULL;
    }
    return STEAL(keys);
}

/* The first key's type decides which type all keys must have. */
static py_t *
f_sort_by(py_t *const *a, size_t n)
{
    if (py_seq_len(a[0]) == 0)
        return py_ref(a[0]);
    AUTO(py) first = jmes_apply(a[1], py_seq_at(a[0], 0));
    if (first == NULL)
        return NULL;
    const char *type = type_of(first);
    if (strcmp(type, "number") != 0 && strcmp(type, "string") != 0)
        return jmes_func_bad_type("sort_by", py_seq_at(a[0], 0), type, TYPES("string", "number"));
    AUTO(py) keys = jmes_func_keys_of("sort_by", a[0], a[1], TYPES(type));
    AUTO(py) list = keys != NULL ? py_tolist(a[0]) : NULL;
    return list != NULL && py_sort(list, keys, false) == 0 ? STEAL(list) : NULL;
}

static py_t *
f_max_by(py_t *const *a, size_t n)
{
    AUTO(py) keys = jmes_func_keys_of("max_by", a[0], a[1], TYPES("number", "string"));
    return keys != NULL ? jmes_func_extreme(a[0], keys, PY_GT) : NULL;
}

static py_t *
f_min_by(py_t *const *a, size_t n)
{
    AUTO(py) keys = jmes_func_keys_of("min_by", a[0], a[1], TYPES("number", "string"));
    return keys != NULL ? jmes_func_extreme(a[0], keys, PY_LT) : NULL;
}

/* ---- table -------------------------------------------------------------------------------------------- */

typedef py_t *jmes_fn(py_t *const *a, size_t n);
#define ANY     ROW(NULL)
#define NUMBER  ROW("number")
#define STRING  ROW("string")
#define OBJECT  ROW("object")
#define ARRAY   ROW("array")
#define EXPREF  ROW("expref")
#define NUMBERS ROW("array-number")
#define STRINGS ROW("array-string")
/* Functions with the types that their arguments may have, as jmespath.py checks them. */
static const struct function {
    const char *name;
    jmes_fn *fn;
    size_t n;
    bool variadic; /* types of further arguments are not checked */
    const char *types[2][4];
} functions[] = {
    { "abs", f_abs, 1, false, { NUMBER } },
    { "avg", f_avg, 1, false, { NUMBERS } },
    { "ceil", f_ceil, 1, false, { NUMBER } },
    { "contains", f_contains, 2, false, { { "array", "string" }, ANY } },
    { "ends_with", f_ends_with, 2, false, { STRING, STRING } },
    { "floor", f_floor, 1, false, { NUMBER } },
    { "join", f_join, 2, false, { STRING, STRINGS } },
    { "keys", f_keys, 1, false, { OBJECT } },
    { "length", f_length, 1, false, { { "string", "array", "object" } } },
    { "map", f_map, 2, false, { EXPREF, ARRAY } },
    { "max", f_max, 1, false, { { "array-number", "array-string" } } },
    { "max_by", f_max_by, 2, false, { ARRAY, EXPREF } },
    { "merge", f_merge, 1, true, { OBJECT } },
    { "min", f_min, 1, false, { { "array-number", "array-string" } } },
    { "min_by", f_min_by, 2, false, { ARRAY, EXPREF } },
    { "not_null", f_not_null, 1, true, { ANY } },
    { "reverse", f_reverse, 1, false, { { "array", "string" } } },
    { "sort", f_sort, 1, false, { { "array-string", "array-number" } } },
    { "sort_by", f_sort_by, 2, false, { ARRAY, EXPREF } },
    { "starts_with", f_starts_with, 2, false, { STRING, STRING } },
    { "sum", f_sum, 1, false, { NUMBERS } },
    { "to_array", f_to_array, 1, false, { ANY } },
    { "to_number", f_to_number, 1, false, { ANY } },
    { "to_string", f_to_string, 1, false, { ANY } },
    { "type", f_type, 1, false, { ANY } },
    { "values", f_values, 1, false, { OBJECT } },
};

/* Order of checks as in jmespath.py: name, number of arguments, types. */
py_t *
jmes_call(const char *name, py_t *const *args, size_t n)
{
    const struct function *f = NULL;
    for (size_t i = 0; f == NULL && i < NELEMS(functions); i++)
        f = strcmp(functions[i].name, name) == 0 ? &functions[i] : NULL;
    if (f == NULL)
        return py_raise(&unknown_error, "Unknown function: %s()", name);
    if (f->variadic ? n < f->n : n != f->n)
        return py_raise(f->variadic ? &variadic_error : &arity_error,
                        "Expected %s%zu argument%s for function %s(), received %zu",
                        f->variadic ? "at least " : "", f->n, f->n == 1 ? "" : "s", name, n);
    for (size_t i = 0; i < f->n; i++)
        if (check_arg(name, args[i], f->types[i]) < 0)
            return NULL;
    return f->fn(args, n);
}
