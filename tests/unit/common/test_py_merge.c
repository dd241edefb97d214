/* test_py_merge.c - Salt's merge strategies, against what dictupdate made of the same; and copies. */
#include "common/py/py_merge.h"
#include "unit/py_cases.h"

static py_t *
run_case(const json_t *c, py_t *a, py_t *b)
{
    const char *strategy = value_str(c, "strategy", "");
    bool lists = value_bool(c, "merge_lists", false);

    if (strcmp(strategy, "update") == 0)
        return py_update(a, b, lists) == 0 ? py_ref(a) : NULL;
    return py_merge(a, b, strategy, lists);
}

static bool
reads(const json_t *want, py_t *v)
{
    AUTO(py) text = v != NULL ? py_repr(v) : NULL;

    return text != NULL && py_str_is(text, json_string_value(want));
}

static bool
raised(const json_t *want)
{
    bool same = want != NULL && py_raised() != NULL &&
                strcmp(py_raised()->name, json_string_value(json_array_get(want, 0))) == 0 &&
                strcmp(py_raised_text(), json_string_value(json_array_get(want, 1))) == 0;

    py_clear();
    return same;
}

static bool
case_holds(const json_t *c)
{
    AUTO(py) a = untag(json_array_get(json_object_get(c, "args"), 0));
    AUTO(py) b = untag(json_array_get(json_object_get(c, "args"), 1));
    AUTO(py) got = run_case(c, a, b);
    const json_t *is = json_object_get(c, "is");

    if (is == NULL ? got != NULL || !raised(json_object_get(c, "raises")) : !reads(is, got))
        return false;
    return reads(json_object_get(c, "then"), a);
}

static void
test_strategies(void **state)
{
    json_auto_t *cases = case_file(TEST_SOURCE_DIR "/tests/cases/py/merge.json");
    size_t i, wrong = 0;
    json_t *c;

    json_array_foreach (cases, i, c) {
        if (case_holds(c))
            continue;
        AUTO_FREE char *text = json_dumps(c, 0);
        print_error("%s\n", text);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void
test_deepcopy(void **state)
{
    AUTO(py) list = py_list();
    AUTO(py) dict = py_odict();

    py_append_new(list, py_int(1));
    py_dict_sets(dict, "one", list);
    py_dict_sets(dict, "two", list);
    py_dict_sets(dict, "self", dict);
    AUTO(py) copy = py_deepcopy(dict);
    assert_ptr_not_equal(py_dict_gets(copy, "one"), list);
    assert_ptr_equal(py_dict_gets(copy, "one"), py_dict_gets(copy, "two"));
    assert_ptr_equal(py_dict_gets(copy, "self"), copy);
    assert_true(py_is_odict(copy));
    py_dict_clear(dict);
    py_dict_clear(copy);
}

UNIT_MAIN(cmocka_unit_test(test_strategies), cmocka_unit_test(test_deepcopy))
