/* test_diff.c - differences recorded from Python's difflib. */
#include "unit/unit.h"

#include "common/data/diff.h"
#include "salt/value.h"

static void
test_difflib_answers(void **state)
{
    (void) state;
    json_auto_t *all = json_load_file(TEST_SOURCE_DIR "/tests/cases/diff/difflib.json", 0, NULL);
    json_t *row;
    size_t i;

    assert_true(json_array_size(all) > 50);
    json_array_foreach (all, i, row) {
        json_t *a = value_get(row, "a"), *b = value_get(row, "b");
        AUTO_FREE char *diff = diff_texts(json_string_value(a), json_string_length(a), json_string_value(b),
                                          json_string_length(b), "", "");
        assert_string_equal(diff, value_str(row, "diff", ""));
    }
}

static void
test_names(void **state)
{
    (void) state;
    AUTO_FREE char *diff = diff_texts("a\n", 2, "b\n", 2, "old", "new");

    assert_string_equal(diff, "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+b\n");
}

static void
test_lf_only(void **state)
{
    (void) state;
    size_t n = 0;
    diff_line_t *lines = diff_lines("a\rb\nc", 5, true, &n);

    assert_int_equal(n, 2);
    assert_int_equal(lines[0].len, 4);
    free(lines);
}

UNIT_MAIN(cmocka_unit_test(test_difflib_answers), cmocka_unit_test(test_names),
          cmocka_unit_test(test_lf_only))
