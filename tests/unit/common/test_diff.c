/* test_diff.c - differences recorded from Python's difflib. */
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/data/diff.h"
#include "salt/limits.h"
#include "salt/value.h"

#define TOO_LARGE "too large to compare by lines)"

static void
test_difflib_answers(void **state)
{
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
    AUTO_FREE char *diff = diff_texts("a\n", 2, "b\n", 2, "old", "new");

    assert_string_equal(diff, "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+b\n");
}

static void
test_lf_only(void **state)
{
    size_t n = 0;
    diff_line_t *lines = diff_lines("a\rb\nc", 5, true, &n);

    assert_int_equal(n, 2);
    assert_int_equal(lines[0].len, 4);
    free(lines);
}

static char *
diff_of(const buf_t *a, const buf_t *b)
{
    return diff_texts(buf_str(a), a->len, buf_str(b), b->len, "", "");
}

/* Lines of few kinds, each in many places, and hardly a run in common: the search for them has an end. */
static void
test_steps(void **state)
{
    buf_auto_t a = BUF_INIT, b = BUF_INIT;

    for (int i = 0; i < 50000; i++) {
        buf_printf(&a, "%d\n", i % 150);
        buf_printf(&b, "%d\n", 149 - i % 150);
    }
    AUTO_FREE char *diff = diff_of(&a, &b), *same = diff_of(&a, &a);
    AUTO_FREE char *words = xasprintf("Replace text of %zu bytes by one of %zu bytes (" TOO_LARGE, a.len,
                                      b.len);
    assert_string_equal(diff, words);
    assert_string_equal(same, "");
    buf_clear(&b);
    buf_add(&b, buf_str(&a), a.len);
    buf_puts(&b, "end\n");
    AUTO_FREE char *one = diff_of(&a, &b);
    assert_true(str_ends(one, "\n+end\n"));
}

static void
test_bounds(void **state)
{
    buf_auto_t a = BUF_INIT, b = BUF_INIT;

    for (int i = 0; i < 100000; i++) {
        buf_printf(&a, "this is line %d of a\n", i);
        buf_printf(&b, "this is line %d of b\n", i);
    }
    AUTO_FREE char *cut = diff_of(&a, &b);
    assert_true(strlen(cut) <= LIMIT_DIFF_TEXT + 100);
    assert_true(str_ends(cut, " more bytes of difference\n"));
    for (int i = 0; i < DIFF_LINES; i++)
        buf_putc(&b, '\n');
    AUTO_FREE char *lines = diff_of(&a, &b);
    assert_true(str_ends(lines, TOO_LARGE));
    while (a.len <= LIMIT_DIFF_FILE)
        buf_printf(&a, "%4096d\n", 0);
    buf_clear(&b);
    AUTO_FREE char *bytes = diff_of(&a, &b), *same = diff_of(&a, &a);
    assert_true(str_ends(bytes, TOO_LARGE));
    assert_string_equal(same, "");
}

UNIT_MAIN(cmocka_unit_test(test_difflib_answers), cmocka_unit_test(test_names),
          cmocka_unit_test(test_lf_only), cmocka_unit_test(test_steps), cmocka_unit_test(test_bounds))
