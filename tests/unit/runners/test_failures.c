/* test_failures.c - failures, grouped. */
#include "common/base/str.h"
#include "runners/lib/failures.h"
#include "salt/value.h"
#include "unit/unit.h"

static json_t *
parse(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

    assert_non_null(v);
    return v;
}

static void
expect(const failures_t *blame, const char *want)
{
    AUTO_FREE char *text = failures_text(blame);

    assert_string_equal(text, want);
}

static void
test_equal_failures_are_one_line(void **state)
{
    AUTO(failures) blame = failures_new();
    json_auto_t *common = parse("[\"state nginx (pkg.installed): not found\"]"),
                *silent = json_string("not connected");

    expect(blame, "");
    failures_add(blame, "m0001", silent);
    failures_add(blame, "m0002", silent);
    for (int i = 3; i < 1000; i++) {
        AUTO_FREE char *id = xasprintf("m%04d", i);
        failures_add(blame, id, common);
    }
    expect(blame, "997 minions (m0003, m0004, m0005, m0006, m0007 and 992 more): state nginx "
                  "(pkg.installed): not found\n"
                  "m0001, m0002: not connected");
}

static void
test_many_kinds(void **state)
{
    AUTO(failures) blame = failures_new();

    for (int i = 0; i < 25; i++) {
        AUTO_FREE char *id = xasprintf("m%02d", i), *text = xasprintf("kind %d\nsecond line", i);
        json_auto_t *cause = json_string(text);
        failures_add(blame, id, cause);
    }
    AUTO_FREE char *text = failures_text(blame);
    assert_true(str_starts(text, "m00: kind 0 second line\nm01: kind 1 second line\n"));
    assert_true(str_ends(text, "\nand 5 more kinds of failures"));
}

static void
test_causes_in_a_return(void **state)
{
    static const struct row {
        const char *ret, *want;
    } rows[] = {
        /* What failed, without what only waited for it. */
        { "{\"cmd_|-a_|-n_|-run\": {\"result\": false, \"comment\": \"boom\", \"__id__\": \"a\"},"
          " \"test_|-b_|-b_|-nop\": {\"result\": false, \"comment\": \"One or more requisite failed: x.a\", "
          "\"__id__\": \"b\"},"
          " \"test_|-c_|-c_|-nop\": {\"result\": true, \"comment\": \"\", \"__id__\": \"c\"}}",
          "[\"state a (cmd.run): boom\"]" },
        { "{\"test_|-b_|-b_|-nop\": {\"result\": false, \"comment\": \"One or more requisite failed: x.a\", "
          "\"__id__\": \"b\"}}",
          "[\"state b (test.nop): One or more requisite failed: x.a\"]" },
        { "[\"Rendering SLS failed:\\n  line 3\", \"more\"]",
          "[\"Rendering SLS failed:   line 3\", \"more\"]" },
        { "\"'state.sls' is not available.\"", "[\"'state.sls' is not available.\"]" },
        { "{}", "[\"no state ran\"]" },
        { "{\"x\": {\"result\": false, \"comment\": [\"a\", 1]}}", "[\"state ? (x): ['a', 1]\"]" },
        { "null", "[\"None\"]" },
        { "{\"x\": 3}", "[\"no state ran\"]" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *ret = parse(rows[i].ret), *want = parse(rows[i].want), *got = failures_states(ret);
        if (!json_equal(got, want))
            fail_msg("%s: %s", rows[i].ret, value_dump(got));
    }
}

static void
test_long_texts_are_cut_between_letters(void **state)
{
    AUTO(failures) blame = failures_new();
    char text[802] = "x";

    for (int i = 0; i < 400; i++)
        memcpy(text + 1 + 2 * i, "\xc3\xa4", 2);
    json_auto_t *cause = json_string(text);
    failures_add(blame, "m", cause);
    AUTO_FREE char *out = failures_text(blame);
    assert_true(strlen(out) < 320);
    assert_true(str_ends(out, "\xc3\xa4..."));
}

UNIT_MAIN(cmocka_unit_test(test_equal_failures_are_one_line), cmocka_unit_test(test_many_kinds),
          cmocka_unit_test(test_causes_in_a_return),
          cmocka_unit_test(test_long_texts_are_cut_between_letters))
