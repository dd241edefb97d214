/* test_py_yaml.c - YAML to Python values and back, against what Salt's loader and dumper made of the same. */
#include "common/py/py_yaml.h"
#include "unit/py_cases.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/py/"

static const py_limits_t no_limits;

/* What a case says of a value, with {"__cycle__": n} for the container n levels up; and mappings are ordered.
 */
static bool
same_value(const json_t *want, py_t *got, py_t **above, size_t depth)
{
    const json_t *cycle = json_object_get(want, "__cycle__"), *pairs = json_object_get(want, "__pairs__");
    size_t i = 0, at = 0;
    py_t *key, *value;
    json_t *element;
    const char *name;

    above[depth] = got;
    if (cycle != NULL)
        return got == above[depth - (size_t) json_integer_value(cycle)];
    if (json_is_array(want)) {
        bool same = py_is(got, PY_LIST) && py_seq_len(got) == json_array_size(want);
        json_array_foreach (want, i, element)
            same = same && same_value(element, py_seq_at(got, i), above, depth + 1);
        return same;
    }
    if (json_is_object(want) && (pairs != NULL || py_is_odict(got))) {
        bool same = py_is_odict(got);
        json_array_foreach (pairs, i, element) {
            same = same && py_dict_next(got, &at, &key, &value) &&
                   same_value(json_array_get(element, 0), key, above, depth + 1) &&
                   same_value(json_array_get(element, 1), value, above, depth + 1);
        }
        if (pairs != NULL)
            return same && py_dict_len(got) == json_array_size(pairs);
        json_object_foreach ((json_t *) want, name, element)
            same = same && py_dict_next(got, &at, &key, &value) && py_str_is(key, name) &&
                   same_value(element, value, above, depth + 1);
        return same && py_dict_len(got) == json_object_size(want);
    }
    AUTO(py) plain = untag(want);
    AUTO(py) a = canonical(plain);
    AUTO(py) b = canonical(got);
    return py_type(plain) == py_type(got) && py_eq(a, b) > 0;
}

static bool
same_error(const json_t *want, const yproblem_t *problem)
{
    static const char *const classes[] = { [YAML_READER] = "ReaderError",
                                           [YAML_SCANNER] = "ScannerError",
                                           [YAML_PARSER] = "ParserError",
                                           [YAML_COMPOSER] = "ComposerError",
                                           [YAML_LIMIT] = "our own",
                                           [YAML_FINE] = "none",
                                           [YAML_CONSTRUCTOR] = "ConstructorError" };
    const char *class = value_str(want, "class", ""), *text = value_str(want, "problem", "");

    if (py_raised() != NULL) {
        bool same = str_eq(py_raised()->name, class) &&
                    str_eq(py_raised_text(), value_str(want, "str", "")) &&
                    str_eq(problem->text, py_raised_text());
        py_clear();
        return same;
    }
    return str_eq(class, classes[problem->cls]) && strstr(problem->text, text) != NULL &&
           str_eq(value_str(want, "context", NULL), problem->context) &&
           value_int(want, "line", problem->at.line) == problem->at.line &&
           value_int(want, "column", problem->at.column) == problem->at.column;
}

static void
test_load(void **state)
{
    json_auto_t *cases = case_file(CASES "yaml-load.json");
    py_t *above[LIMIT_YAML_DEPTH + 2];
    py_scope_t scope;
    size_t i;
    json_t *c;

    (void) state;
    json_array_foreach (cases, i, c) {
        const json_t *load = value_get(c, "load"), *error = value_get(load, "error");
        yproblem_t problem = YPROBLEM_INIT;
        py_scope_enter(&scope, &no_limits);
        py_t *v = py_yaml_load(json_string_value(value_get(c, "yaml")),
                               json_string_length(value_get(c, "yaml")), true, &problem);
        bool same = v != NULL ? error == NULL && same_value(json_object_get(load, "value"), v, above, 0)
                              : error != NULL && same_error(error, &problem);
        if (!same) {
            AUTO(py) shown = v != NULL ? py_repr(v) : NULL;
            AUTO_FREE char *wanted = value_dump(load);
            fail_msg("%s: wanted %s, got %s %s", value_str(c, "name", "?"), wanted,
                     shown != NULL ? py_cstr(shown) : "", problem.text != NULL ? problem.text : "");
        }
        py_unref(v);
        yproblem_free(&problem);
        py_scope_leave(&scope);
        assert_int_equal(py_state.live, 0); /* cycles are gone too */
    }
}

/* {"__anchor__": [id, value]} is that value, {"__alias__": id} the same one again. */
static py_t *
with_aliases(const json_t *v, py_t *known)
{
    const json_t *anchor = json_object_get(v, "__anchor__");
    const char *alias = value_str(v, "__alias__", NULL), *name;
    json_t *element;
    size_t i;

    if (alias != NULL)
        return py_ref(py_dict_gets(known, alias));
    if (anchor != NULL) {
        py_t *value = with_aliases(json_array_get(anchor, 1), known);
        py_dict_sets(known, json_string_value(json_array_get(anchor, 0)), value);
        return value;
    }
    if (json_is_array(v)) {
        py_t *list = py_list();
        json_array_foreach (v, i, element)
            py_append_new(list, with_aliases(element, known));
        return list;
    }
    name = json_object_iter_key(json_object_iter((json_t *) v));
    if (!json_is_object(v) || (name != NULL && strncmp(name, "__", 2) == 0))
        return untag(v);
    py_t *dict = py_dict();
    json_object_foreach ((json_t *) v, name, element) {
        AUTO(py) key = py_str(name, json_object_iter_key_len(json_object_key_to_iter(name)));
        AUTO(py) value = with_aliases(element, known);
        py_dict_set(dict, key, value);
    }
    return dict;
}

static void
test_dump(void **state)
{
    static const struct {
        const char *key;
        py_yaml_flow_t flow;
    } flows[] = { { "safe_dump_block", PY_YAML_BLOCK },
                  { "safe_dump_default", PY_YAML_AUTO },
                  { "safe_dump_flow", PY_YAML_FLOW } };
    json_auto_t *cases = case_file(CASES "yaml-dump.json");
    size_t i;
    json_t *c;

    (void) state;
    json_array_foreach (cases, i, c) {
        AUTO(py) known = py_dict();
        AUTO(py) v = with_aliases(value_get(c, "value"), known);
        py_destroy(&known);
        for (size_t k = 0; k < NELEMS(flows); k++) {
            AUTO(py) text = py_yaml_dump(v, flows[k].flow, 0);
            assert_non_null(text);
            if (!py_str_is(text, value_str(c, flows[k].key, "")))
                fail_msg("%s: wanted\n%s\ngot\n%s", value_str(c, "name", "?"), value_str(c, flows[k].key, ""),
                         py_cstr(text));
        }
    }
    assert_int_equal(py_state.live, 0);
}

/* A list that contains itself is written with an anchor, and read back as such. */
static void
test_cycle(void **state)
{
    yproblem_t problem = YPROBLEM_INIT;
    py_scope_t scope;

    (void) state;
    py_scope_enter(&scope, &no_limits);
    AUTO(py) list = py_list();
    py_append(list, list);
    AUTO(py) text = py_yaml_dump(list, PY_YAML_BLOCK, 0);
    assert_string_equal(py_cstr(text), "&id001\n- *id001\n");
    AUTO(py) again = py_yaml_load(py_cstr(text), strlen(py_cstr(text)), true, &problem);
    assert_ptr_equal(py_seq_at(again, 0), again);
    py_destroy(&list);
    py_destroy(&again);
    py_destroy(&text);
    py_scope_leave(&scope);
    assert_int_equal(py_state.live, 0);
}

/* Aliases of aliases: small in memory, since each is the same value again. */
static void
test_alias_bomb(void **state)
{
    buf_auto_t text = BUF_INIT;
    yproblem_t problem = YPROBLEM_INIT;

    (void) state;
    buf_puts(&text, "- &a0 [x]\n");
    for (int i = 1; i < 60; i++)
        buf_printf(&text, "- &a%d [*a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1);
    AUTO(py) v = py_yaml_load(buf_str(&text), text.len, true, &problem);
    assert_non_null(v);
    assert_true(py_state.live < 100000);
    json_t *expanded = NULL;
    py_limits_t few = { .steps = 100000 };
    py_scope_t scope;
    py_scope_enter(&scope, &few);
    expanded = py_to_json(v);
    assert_null(expanded);
    assert_ptr_equal(py_raised(), &py_LimitError);
    py_clear();
    py_scope_leave(&scope);
}

UNIT_MAIN(cmocka_unit_test(test_load), cmocka_unit_test(test_dump), cmocka_unit_test(test_cycle),
          cmocka_unit_test(test_alias_bomb))
