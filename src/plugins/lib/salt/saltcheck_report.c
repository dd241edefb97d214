/* saltcheck_report.c - see saltcheck_report.h. The words are Salt's. */
#include "plugins/lib/salt/saltcheck_report.h"

#include <math.h>

#include "common/base/buf.h"
#include "common/base/str.h"

typedef struct counts {
    json_int_t passed, failed, skipped, missing;
    double seconds;
} counts_t;

double
saltcheck_seconds(double seconds)
{
    return nearbyint(seconds * 1e4) / 1e4;
}

static bool
has_status(const json_t *result, const char *begin)
{
    return str_starts(value_str(result, "status", ""), begin);
}

static counts_t
count_all(json_t *results)
{
    counts_t n = { 0 };
    const char *state, *name;
    json_t *tests, *result;

    json_object_foreach (results, state, tests) {
        n.missing += json_object_size(tests) == 0;
        json_object_foreach (tests, name, result) {
            n.passed += has_status(result, "Pass");
            n.failed += has_status(result, "Fail");
            n.skipped += has_status(result, "Skip");
            n.seconds += value_num(result, "duration", 0);
        }
    }
    return n;
}

bool
saltcheck_failed(const json_t *results)
{
    return count_all((json_t *) results).failed > 0;
}

/* The tests of a state that failed: NEW {state: tests}, or {} when none has. */
static json_t *
failures_of(const char *state, json_t *tests)
{
    json_t *failed = json_object(), *result;
    const char *name;

    json_object_foreach (tests, name, result) {
        if (has_status(result, "Fail"))
            json_object_set(failed, name, result);
    }
    if (json_object_size(failed) > 0)
        return json_pack("{s:o}", state, failed);
    json_decref(failed);
    return json_object();
}

json_t *
saltcheck_list(json_t *results, bool only_fails)
{
    json_auto_t *states = value_sorted_keys(results), *list = json_array(), *named = json_array();
    counts_t n = count_all(results);
    json_t *state;
    size_t i;

    /* Python sorts by the keys of each object: those without one come first. */
    json_array_foreach (states, i, state) {
        const char *name = json_string_value(state);
        json_t *tests = value_get(results, name);
        json_t *shown = only_fails ? failures_of(name, tests) : json_pack("{s:O}", name, tests);
        json_array_append_new(json_object_size(shown) > 0 ? named : list, shown);
    }
    json_array_extend(list, named);
    json_array_append_new(list, json_pack("{s:{s:f, s:I, s:I, s:I, s:I}}", "TEST RESULTS", "Execution Time",
                                          saltcheck_seconds(n.seconds), "Passed", n.passed, "Failed",
                                          n.failed, "Skipped", n.skipped, "Missing Tests", n.missing));
    return json_incref(list);
}

/* ---- JUnit ------------------------------------------------------------------------------------------- */

/* An attribute's value. XML forbids control characters; a line break stays one only as a reference. */
static void
put_attribute(buf_t *out, const char *name, const char *value)
{
    buf_printf(out, " %s=\"", name);
    for (; *value != '\0'; value++) {
        const char *as = *value == '<'                   ? "&lt;"
                         : *value == '>'                 ? "&gt;"
                         : *value == '&'                 ? "&amp;"
                         : *value == '"'                 ? "&quot;"
                         : *value == '\n'                ? "&#10;"
                         : *value == '\t'                ? "&#9;"
                         : *value == '\r'                ? "&#13;"
                         : (unsigned char) *value < 0x20 ? " "
                                                         : NULL;
        if (as != NULL)
            buf_puts(out, as);
        else
            buf_putc(out, *value);
    }
    buf_putc(out, '"');
}

/* A <testcase> with its failure, or with its being skipped. */
static void
put_testcase(buf_t *out, const char *name, const json_t *result)
{
    const char *word = has_status(result, "Fail") ? "failure" : has_status(result, "Skip") ? "skipped" : NULL;
    double seconds = value_num(result, "duration", 0);

    buf_puts(out, "\t\t<testcase");
    put_attribute(out, "name", name);
    if (seconds > 0)
        buf_printf(out, " time=\"%f\"", seconds);
    if (word == NULL) {
        buf_puts(out, "/>\n");
        return;
    }
    buf_printf(out, ">\n\t\t\t<%s type=\"%s\"", word, word);
    put_attribute(out, "message", value_str(result, "status", ""));
    buf_puts(out, "/>\n\t\t</testcase>\n");
}

json_t *
saltcheck_junit(json_t *results)
{
    counts_t n = count_all(results);
    AUTO_FREE char *seconds = value_float_repr(saltcheck_seconds(n.seconds));
    json_int_t tests = n.passed + n.failed + n.skipped;
    buf_auto_t out = BUF_INIT;
    const char *state, *name;
    json_t *of, *result;

    buf_printf(
        &out,
        "<?xml version=\"1.0\" ?>\n<testsuites disabled=\"0\" errors=\"0\" failures=\"%lld\" tests=\"%lld\" "
        "time=\"%s\">\n",
        (long long) n.failed, (long long) tests, seconds);
    buf_printf(
        &out,
        "\t<testsuite disabled=\"0\" errors=\"0\" failures=\"%lld\" name=\"test_results\" skipped=\"%lld\" "
        "tests=\"%lld\" time=\"%s\"%s>\n",
        (long long) n.failed, (long long) n.skipped, (long long) tests, tests > 0 ? seconds : "0",
        tests > 0 ? "" : "/");
    json_object_foreach (results, state, of) {
        json_object_foreach (of, name, result)
            put_testcase(&out, name, result);
    }
    buf_printf(&out, "%s</testsuites>\n", tests > 0 ? "\t</testsuite>\n" : "");
    return value_utf8(buf_str(&out), out.len);
}
