/* test_engines.c - the forms of the option `engines`. */
#include "unit/unit.h"

#include "common/conf/engines.h"

static void
check_engines(const char *option, const char *wanted)
{
    json_auto_t *opts = json_object(), *expected = json_loads(wanted, 0, NULL);

    json_object_set_new(opts, "engines", json_loads(option, JSON_DECODE_ANY, NULL));
    json_auto_t *found = engines_of(opts);
    AUTO_FREE char *text = json_dumps(found, JSON_COMPACT), *other = json_dumps(expected, JSON_COMPACT);
    assert_string_equal(text, other);
}

static void
forms_mean_the_same(void **state)
{
    check_engines("[]", "{}");
    check_engines("null", "{}");
    check_engines("\"a\"", "{\"a\": {\"module\": \"a\", \"options\": {}}}");
    check_engines("[\"a\"]", "{\"a\": {\"module\": \"a\", \"options\": {}}}");
    check_engines(
        "[{\"a\": null}, {\"b\": {\"x\": 1}}]",
        "{\"a\": {\"module\": \"a\", \"options\": {}}, \"b\": {\"module\": \"b\", \"options\": {\"x\": 1}}}");
    check_engines("{\"b\": {\"x\": 1}}", "{\"b\": {\"module\": \"b\", \"options\": {\"x\": 1}}}");
    check_engines(
        "[{\"one\": {\"engine_module\": \"a\", \"x\": 1}}, {\"two\": {\"engine_module\": \"a\"}}]",
        "{\"one\": {\"module\": \"a\", \"options\": {\"x\": 1}}, \"two\": {\"module\": \"a\", \"options\": {}}}");
}

static void
the_first_of_a_name_stays(void **state)
{
    check_engines("[{\"a\": {\"x\": 1}}, {\"a\": {\"x\": 2}}, 5, \"\"]",
                  "{\"a\": {\"module\": \"a\", \"options\": {\"x\": 1}}}");
}

UNIT_MAIN(cmocka_unit_test(forms_mean_the_same), cmocka_unit_test(the_first_of_a_name_stays))
