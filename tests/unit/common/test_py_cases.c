/* test_py_cases.c - operators, built-in functions, methods and formatting, each against what Python 3.11
 * answered. A case is {"do": what, "args": [...], "kw"?: {...}} and {"is": [type, repr]} or {"raises":
 * [class, message]}, with "self" where the first argument is changed: its repr afterwards. */
#include "unit/py_cases.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/py/"

typedef struct given {
    py_t *v[8];
    size_t n;
    py_t *names[8], *kwv[8];
    size_t nkw;
} given_t;

typedef py_t *do_fn(const given_t *g, int arg);

/* ---- what a case does ------------------------------------------------------------------------ */

static py_t *
do_binary(const given_t *g, int op)
{
    return py_binary((py_op_t) op, g->v[0], g->v[1]);
}

static py_t *
truth(int rc)
{
    return rc < 0 ? NULL : py_bool(rc > 0);
}

static py_t *
do_compare(const given_t *g, int op)
{
    return truth(py_compare(g->v[0], g->v[1], (py_cmp_t) op));
}

static py_t *
do_unary(const given_t *g, int op)
{
    return py_unary((py_unary_t) op, g->v[0]);
}

static py_t *
do_in(const given_t *g, int unused)
{
    return truth(py_in(g->v[0], g->v[1]));
}

static py_t *
do_item(const given_t *g, int unused)
{
    return py_getitem(g->v[0], g->v[1]);
}

static py_t *
do_setitem(const given_t *g, int unused)
{
    return py_setitem(g->v[0], g->v[1], g->v[2]) < 0 ? NULL : PY_None;
}

static py_t *
do_delitem(const given_t *g, int unused)
{
    return py_delitem(g->v[0], g->v[1]) < 0 ? NULL : PY_None;
}

static py_t *
do_getattr(const given_t *g, int unused)
{
    return py_getattr(g->v[0], g->v[1]);
}

static py_t *
do_one(const given_t *g, int which)
{
    static py_t *(*const fns[])(py_t *) = { py_repr,    py_tostr,  py_tofloat, py_tolist,
                                            py_totuple, py_todict, py_abs,     py_escape };

    return fns[which](g->v[0]);
}

static py_t *
do_bool(const given_t *g, int unused)
{
    return truth(py_truth(g->v[0]));
}

static py_t *
do_len(const given_t *g, int unused)
{
    int64_t n = py_len(g->v[0]);
    return n < 0 ? NULL : py_int(n);
}

static py_t *
do_int(const given_t *g, int unused)
{
    int64_t base = -1;

    if (g->n > 1)
        py_to_int64(g->v[1], &base);
    return py_toint(g->v[0], (int) base);
}

static py_t *
do_round(const given_t *g, int unused)
{
    return py_round(g->v[0], g->n > 1 ? g->v[1] : NULL);
}

static py_t *
do_set(const given_t *g, int frozen)
{
    return py_toset(g->v[0], frozen != 0);
}

static py_t *
do_iter(const given_t *g, int unused)
{
    AUTO(py) it = py_iter(g->v[0]);
    return it != NULL ? py_tolist(it) : NULL;
}

static py_t *
do_sorted(const given_t *g, int unused)
{
    AUTO(py) list = py_tolist(g->v[0]);
    return list == NULL || py_sort(list, NULL, g->nkw > 0 && py_truth(g->kwv[0]) > 0) < 0 ? NULL
                                                                                          : STEAL(list);
}

static py_t *
do_format(const given_t *g, int unused)
{
    size_t len;
    const char *spec = py_text(g->v[1], &len);
    return py_format(g->v[0], spec, len);
}

static py_t *
do_same_hash(const given_t *g, int unused)
{
    uint64_t a, b;

    if (py_hash(g->v[0], &a) < 0 || py_hash(g->v[1], &b) < 0)
        return NULL;
    return py_bool(a == b);
}

static py_t *
do_dumps(const given_t *g, int unused)
{
    py_dumps_t how = PY_DUMPS_INIT;
    int64_t indent;

    for (size_t i = 0; i < g->nkw; i++) {
        if (py_str_is(g->names[i], "indent") && py_to_int64(g->kwv[i], &indent))
            how.indent = (int) indent;
        else if (py_str_is(g->names[i], "sort_keys"))
            how.sort_keys = py_truth(g->kwv[i]) > 0;
        else
            how.ensure_ascii = py_truth(g->kwv[i]) > 0;
    }
    return py_json_dumps(g->v[0], &how);
}

static py_t *
do_loads(const given_t *g, int unused)
{
    size_t len;
    const char *text = py_text(g->v[0], &len);
    return py_json_loads(text, len);
}

static const struct {
    const char *name;
    do_fn *fn;
    int arg;
} doings[] = {
    { "+", do_binary, PY_ADD },
    { "-", do_binary, PY_SUB },
    { "*", do_binary, PY_MUL },
    { "/", do_binary, PY_DIV },
    { "//", do_binary, PY_FLOORDIV },
    { "%", do_binary, PY_MOD },
    { "**", do_binary, PY_POW },
    { "|", do_binary, PY_OR },
    { "&", do_binary, PY_AND },
    { "^", do_binary, PY_XOR },
    { "<<", do_binary, PY_LSHIFT },
    { ">>", do_binary, PY_RSHIFT },
    { "<", do_compare, PY_LT },
    { "<=", do_compare, PY_LE },
    { "==", do_compare, PY_EQ },
    { "!=", do_compare, PY_NE },
    { ">", do_compare, PY_GT },
    { ">=", do_compare, PY_GE },
    { "neg", do_unary, PY_NEG },
    { "pos", do_unary, PY_POS },
    { "~", do_unary, PY_INVERT },
    { "in", do_in, 0 },
    { "[]", do_item, 0 },
    { "setitem", do_setitem, 0 },
    { "delitem", do_delitem, 0 },
    { "getattr", do_getattr, 0 },
    { "repr", do_one, 0 },
    { "str", do_one, 1 },
    { "float", do_one, 2 },
    { "list", do_one, 3 },
    { "tuple", do_one, 4 },
    { "dict", do_one, 5 },
    { "abs", do_one, 6 },
    { "escape", do_one, 7 },
    { "bool", do_bool, 0 },
    { "len", do_len, 0 },
    { "int", do_int, 0 },
    { "round", do_round, 0 },
    { "set", do_set, 0 },
    { "frozenset", do_set, 1 },
    { "iter", do_iter, 0 },
    { "sorted", do_sorted, 0 },
    { "format", do_format, 0 },
    { "hash==", do_same_hash, 0 },
    { "json.dumps", do_dumps, 0 },
    { "json.loads", do_loads, 0 },
};

static py_t *
do_method(const given_t *g, const char *name)
{
    AUTO(py) text = py_strz(name);
    const py_args_t args = { g->n - 1, g->v + 1, g->nkw, g->names, g->kwv };

    return py_call_method(g->v[0], text, &args);
}

static py_t *
run(const given_t *g, const char *what)
{
    if (*what == '.')
        return do_method(g, what + 1);
    for (size_t i = 0; i < NELEMS(doings); i++) {
        if (strcmp(doings[i].name, what) == 0)
            return doings[i].fn(g, doings[i].arg);
    }
    fail_msg("nothing does '%s'", what);
    return NULL;
}

/* ---- what must come out ---------------------------------------------------------------------- */

static const char *
text_at(const json_t *array, size_t i)
{
    return json_string_value(json_array_get(array, i));
}

/* 0 when the outcome is the recorded one. What cannot be shown (an integer of too many digits) counts as
 * raised. */
static int
differs(const json_t *c, py_t *got, const given_t *g, buf_t *why)
{
    const json_t *is = json_object_get(c, "is"), *raises = json_object_get(c, "raises");
    AUTO(py) shown = got != NULL ? canonical(got) : NULL;

    if (shown == NULL) {
        buf_printf(why, "raised %s: %s", py_raised() != NULL ? py_raised()->name : "nothing",
                   py_raised_text());
        bool same = raises != NULL && py_raised() != NULL && str_eq(py_raised()->name, text_at(raises, 0)) &&
                    str_eq(py_raised_text(), text_at(raises, 1));
        py_clear();
        return !same;
    }
    assert_null(py_raised());
    AUTO(py) self = json_object_get(c, "self") != NULL ? canonical(g->v[0]) : NULL;
    buf_printf(why, "is %s %s, self %s", py_type_name(got), py_cstr(shown),
               self != NULL ? py_cstr(self) : "-");
    return is == NULL || !str_eq(py_type_name(got), text_at(is, 0)) || !py_str_is(shown, text_at(is, 1)) ||
           (self != NULL && !py_str_is(self, json_string_value(json_object_get(c, "self"))));
}

static void
take_args(given_t *g, const json_t *c)
{
    json_t *v;
    size_t i;
    const char *key;

    memset(g, 0, sizeof(*g));
    json_array_foreach (json_object_get(c, "args"), i, v)
        g->v[g->n++] = untag(v);
    json_object_foreach (json_object_get(c, "kw"), key, v) {
        g->names[g->nkw] = py_strz(key);
        g->kwv[g->nkw++] = untag(v);
    }
}

static void
drop_args(given_t *g)
{
    for (size_t i = 0; i < g->n; i++)
        py_unref(g->v[i]);
    for (size_t i = 0; i < g->nkw; i++) {
        py_unref(g->names[i]);
        py_unref(g->kwv[i]);
    }
}

static void
check_file(const char *name)
{
    AUTO_FREE char *path = xasprintf(CASES "%s.json", name);
    json_auto_t *cases = case_file(path);
    size_t i, failed = 0;
    json_t *c;

    json_array_foreach (cases, i, c) {
        buf_auto_t why = BUF_INIT;
        given_t g;
        take_args(&g, c);
        AUTO(py) got = run(&g, value_str(c, "do", ""));
        if (differs(c, got, &g, &why) != 0) {
            AUTO_FREE char *wanted = value_dump(c);
            print_message("%s, case %zu: %s\n    %s\n", name, i, wanted, buf_str(&why));
            failed++;
        }
        drop_args(&g);
    }
    if (failed > 0)
        fail_msg("%s: %zu of %zu cases differ", name, failed, json_array_size(cases));
    assert_int_equal(py_state.live, 0);
}

#define FILE_TEST(id, name)                                                                                  \
    static void test_##id(void **state)                                                                      \
    {                                                                                                        \
        (void) state;                                                                                        \
        check_file(name);                                                                                    \
    }
FILE_TEST(builtins, "builtins")
FILE_TEST(floats, "floats")
FILE_TEST(format, "format")
FILE_TEST(json, "json")
FILE_TEST(methods_bytes, "methods-bytes")
FILE_TEST(methods_containers, "methods-containers")
FILE_TEST(methods_errors, "methods-errors")
FILE_TEST(methods_markup, "methods-markup")
FILE_TEST(methods_number, "methods-number")
FILE_TEST(methods_str, "methods-str")
FILE_TEST(numbers, "numbers")
FILE_TEST(operators, "operators")
FILE_TEST(percent, "percent")
FILE_TEST(slices, "slices")
FILE_TEST(strformat, "strformat")
FILE_TEST(unicode, "unicode")

UNIT_MAIN(cmocka_unit_test(test_builtins), cmocka_unit_test(test_floats), cmocka_unit_test(test_format),
          cmocka_unit_test(test_json), cmocka_unit_test(test_methods_bytes),
          cmocka_unit_test(test_methods_containers), cmocka_unit_test(test_methods_errors),
          cmocka_unit_test(test_methods_markup), cmocka_unit_test(test_methods_number),
          cmocka_unit_test(test_methods_str), cmocka_unit_test(test_numbers),
          cmocka_unit_test(test_operators), cmocka_unit_test(test_percent), cmocka_unit_test(test_slices),
          cmocka_unit_test(test_strformat), cmocka_unit_test(test_unicode))
