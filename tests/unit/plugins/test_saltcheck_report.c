/* test_saltcheck_report.c - results of tests as saltcheck returns them. The XML is what the Python package junit_xml 1.9
 * writes for the same results (recorded). */
#include "unit/unit.h"

#include "plugins/lib/salt/saltcheck_report.h"

static const char some[] =
    "{\"web\": {\"up\": {\"status\": \"Pass\", \"duration\": 2.5907},"
    " \"text\": {\"status\": \"Fail: a < b & \\\"c\\\" is not equal to 'd'\", \"duration\": 0.4503},"
    " \"later\": {\"status\": \"Skip\", \"duration\": 0.0}},"
    " \"db\": {}, \"app\": {\"up\": {\"status\": \"Pass\", \"duration\": 0.25}}}";

static json_t *
results_of(const char *text)
{
    json_t *v = json_loads(text, 0, NULL);

    assert_non_null(v);
    return v;
}

static void
check_list(const char *results, bool only_fails, const char *wanted)
{
    json_auto_t *given = results_of(results), *want = json_loads(wanted, 0, NULL);
    json_auto_t *list = saltcheck_list(given, only_fails);

    assert_non_null(want);
    AUTO_FREE char *is = value_dump(list), *should = value_dump(want);
    assert_string_equal(is, should);
}

static void
states_are_sorted_and_counted(void **state)
{
    check_list("{}", false,
               "[{\"TEST RESULTS\": {\"Execution Time\": 0.0, \"Passed\": 0, \"Failed\": 0, \"Skipped\": 0,"
               " \"Missing Tests\": 0}}]");
    check_list(
        some, false,
        "[{\"app\": {\"up\": {\"status\": \"Pass\", \"duration\": 0.25}}}, {\"db\": {}},"
        " {\"web\": {\"up\": {\"status\": \"Pass\", \"duration\": 2.5907},"
        " \"text\": {\"status\": \"Fail: a < b & \\\"c\\\" is not equal to 'd'\", \"duration\": 0.4503},"
        " \"later\": {\"status\": \"Skip\", \"duration\": 0.0}}},"
        " {\"TEST RESULTS\": {\"Execution Time\": 3.291, \"Passed\": 2, \"Failed\": 1, \"Skipped\": 1,"
        " \"Missing Tests\": 1}}]");
}

/* A state without failures stays as an empty object, in front. */
static void
only_failures_remain(void **state)
{
    check_list(
        some, true,
        "[{}, {},"
        " {\"web\": {\"text\": {\"status\": \"Fail: a < b & \\\"c\\\" is not equal to 'd'\", \"duration\": "
        "0.4503}}},"
        " {\"TEST RESULTS\": {\"Execution Time\": 3.291, \"Passed\": 2, \"Failed\": 1, \"Skipped\": 1,"
        " \"Missing Tests\": 1}}]");
}

static void
failures_are_known(void **state)
{
    json_auto_t *failed = results_of(some),
                *none = results_of("{\"a\": {\"b\": {\"status\": \"Skip\"}}, \"c\": {}}");
    json_auto_t *invalid = results_of("{\"a\": {\"b\": {\"status\": \"Fail - invalid test\"}}}");

    assert_true(saltcheck_failed(failed));
    assert_true(saltcheck_failed(invalid));
    assert_false(saltcheck_failed(none));
}

static void
check_junit(const char *results, const char *wanted)
{
    json_auto_t *given = results_of(results), *xml = saltcheck_junit(given);

    assert_string_equal(json_string_value(xml), wanted);
}

static void
junit_is_one_suite(void **state)
{
    check_junit(
        "{\"web\": {\"up\": {\"status\": \"Pass\", \"duration\": 2.5907},"
        " \"text\": {\"status\": \"Fail: a < b & \\\"c\\\" is not equal to 'd'\", \"duration\": 0.4503},"
        " \"later\": {\"status\": \"Skip\", \"duration\": 0.0}}, \"db\": {}}",
        "<?xml version=\"1.0\" ?>\n"
        "<testsuites disabled=\"0\" errors=\"0\" failures=\"1\" tests=\"3\" time=\"3.041\">\n"
        "\t<testsuite disabled=\"0\" errors=\"0\" failures=\"1\" name=\"test_results\" skipped=\"1\" tests=\"3\" "
        "time=\"3.041\">\n"
        "\t\t<testcase name=\"up\" time=\"2.590700\"/>\n"
        "\t\t<testcase name=\"text\" time=\"0.450300\">\n"
        "\t\t\t<failure type=\"failure\" message=\"Fail: a &lt; b &amp; &quot;c&quot; is not equal to 'd'\"/>\n"
        "\t\t</testcase>\n"
        "\t\t<testcase name=\"later\">\n"
        "\t\t\t<skipped type=\"skipped\" message=\"Skip\"/>\n"
        "\t\t</testcase>\n"
        "\t</testsuite>\n"
        "</testsuites>\n");
    check_junit("{\"db\": {}}",
                "<?xml version=\"1.0\" ?>\n"
                "<testsuites disabled=\"0\" errors=\"0\" failures=\"0\" tests=\"0\" time=\"0.0\">\n"
                "\t<testsuite disabled=\"0\" errors=\"0\" failures=\"0\" name=\"test_results\" "
                "skipped=\"0\" tests=\"0\" time=\"0\"/>\n"
                "</testsuites>\n");
}

/* A reader of XML makes a blank of a line break in an attribute, and refuses other control characters. */
static void
junit_keeps_lines_apart(void **state)
{
    check_junit(
        "{\"a\": {\"b\": {\"status\": \"Fail: 1\\n2\\u0007\", \"duration\": 0}}}",
        "<?xml version=\"1.0\" ?>\n"
        "<testsuites disabled=\"0\" errors=\"0\" failures=\"1\" tests=\"1\" time=\"0.0\">\n"
        "\t<testsuite disabled=\"0\" errors=\"0\" failures=\"1\" name=\"test_results\" skipped=\"0\" tests=\"1\" "
        "time=\"0.0\">\n"
        "\t\t<testcase name=\"b\">\n"
        "\t\t\t<failure type=\"failure\" message=\"Fail: 1&#10;2 \"/>\n"
        "\t\t</testcase>\n"
        "\t</testsuite>\n"
        "</testsuites>\n");
}

UNIT_MAIN(cmocka_unit_test(states_are_sorted_and_counted), cmocka_unit_test(only_failures_remain),
          cmocka_unit_test(failures_are_known), cmocka_unit_test(junit_is_one_suite),
          cmocka_unit_test(junit_keeps_lines_apart))
