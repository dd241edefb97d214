/* test_regex.c - answers recorded from Python's re; text is ASCII so that bytes and characters count alike.
 */
#include "unit/unit.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "salt/value.h"

static json_t *
load(const char *name)
{
    AUTO_FREE char *path = xasprintf("%s/tests/cases/regex/%s", TEST_SOURCE_DIR, name);
    json_t *all = json_load_file(path, 0, NULL);

    assert_non_null(all);
    return all;
}

static void
expect_span(const rx_t *rx, size_t group, const json_t *span)
{
    size_t start = 0, end = 0;
    bool set = rx_group(rx, group, &start, &end);

    if (json_integer_value(json_array_get(span, 0)) < 0) {
        assert_false(set);
        return;
    }
    assert_true(set);
    assert_int_equal(start, json_integer_value(json_array_get(span, 0)));
    assert_int_equal(end, json_integer_value(json_array_get(span, 1)));
}

static void
expect_sub(rx_t *rx, const json_t *row, const char *text)
{
    buf_auto_t out = BUF_INIT;
    size_t n = 0;

    assert_int_equal(rx_sub(rx, value_str(row, "repl", ""), text, strlen(text),
                            (size_t) value_int(row, "count", 0), &out, &n, NULL),
                     0);
    size_t len = json_string_length(value_get(row, "sub"));
    assert_int_equal(out.len, len);
    assert_memory_equal(buf_str(&out), value_str(row, "sub", ""), len);
    assert_int_equal(n, value_int(row, "n", -1));
}

static void
test_python_answers(void **state)
{
    json_auto_t *file = load("python.json");
    json_t *row;
    size_t i;

    json_array_foreach (json_object_get(file, "cases"), i, row) {
        fail_auto_t err = FAIL_INIT;
        const char *text = value_str(row, "text", "");
        AUTO(rx) rx = rx_new(value_str(row, "pattern", ""), (unsigned) value_int(row, "flags", 0), &err);
        if (rx == NULL)
            fail_msg("%s", fail_text(&err));
        json_t *spans = value_get(row, "search");
        assert_int_equal(rx_search(rx, text, strlen(text), 0, &err), json_is_array(spans));
        for (size_t g = 0; g < json_array_size(spans); g++)
            expect_span(rx, g, json_array_get(spans, g));
        json_t *span = value_get(row, "match");
        assert_int_equal(rx_match(rx, text, strlen(text), 0, &err), json_is_array(span));
        if (json_is_array(span))
            expect_span(rx, 0, span);
        if (value_get(row, "sub") != NULL)
            expect_sub(rx, row, text);
    }
}

static void
test_escape(void **state)
{
    json_auto_t *file = load("python.json");
    json_t *row;
    size_t i;

    json_array_foreach (json_object_get(file, "escape"), i, row) {
        AUTO_FREE char *escaped = rx_escape(value_str(row, "text", ""));
        assert_string_equal(escaped, value_str(row, "escape", ""));
    }
}

static void
test_bad(void **state)
{
    json_auto_t *file = load("python.json");
    json_t *row;
    size_t i;

    json_array_foreach (json_object_get(file, "bad"), i, row) {
        fail_auto_t err = FAIL_INIT;
        buf_auto_t out = BUF_INIT;
        const char *repl = value_str(row, "repl", NULL);
        AUTO(rx) rx = rx_new(value_str(row, "pattern", ""), 0, &err);
        if (repl == NULL) {
            assert_null(rx);
        } else {
            assert_non_null(rx);
            assert_int_equal(rx_sub(rx, repl, "a", 1, 0, &out, NULL, &err), -EINVAL);
        }
        assert_int_equal(err.code, -EINVAL);
    }
}

static void
test_bytes_and_text(void **state)
{
    AUTO(rx) text = rx_new(".", 0, NULL);
    AUTO(rx) bytes = rx_new(".", RX_BYTES, NULL);
    size_t start, end;

    assert_int_equal(rx_search(text, "\xc3\xa9", 2, 0, NULL), 1);
    assert_true(rx_group(text, 0, &start, &end));
    assert_int_equal(end, 2);
    assert_int_equal(rx_search(bytes, "\xc3\xa9", 2, 0, NULL), 1);
    assert_true(rx_group(bytes, 0, &start, &end));
    assert_int_equal(end, 1);
    assert_int_equal(rx_search(text, "\xff\xfe", 2, 0, NULL), 0);
}

static void
test_steps_are_limited(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(rx) rx = rx_new("(a+)+$", 0, &err);
    char text[64];

    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = 'b';
    assert_int_equal(rx_search(rx, text, sizeof(text), 0, &err), -E2BIG);
}

/* `one` so many times, each of which becomes `fresh`, and a tail that stays. */
static void
expect_many(const char *pattern, unsigned flags, const char *one, size_t n, const char *tail,
            const char *fresh)
{
    AUTO(rx) rx = rx_new(pattern, flags, NULL);
    buf_auto_t text = BUF_INIT, want = BUF_INIT, out = BUF_INIT;
    size_t found = 0;

    for (size_t i = 0; i < n; i++) {
        buf_puts(&text, one);
        buf_puts(&want, fresh);
    }
    buf_puts(&text, tail);
    buf_puts(&want, tail);
    assert_int_equal(rx_sub(rx, "<\\g<0>>", buf_str(&text), text.len, 0, &out, &found, NULL), 0);
    assert_int_equal(found, n);
    assert_int_equal(out.len, want.len);
    assert_memory_equal(out.data, want.data, want.len);
}

/* The time for a match does not grow with the text. */
static void
test_many_matches(void **state)
{
    int64_t before = clock_thread_us();

    expect_many("a", 0, "a", 400000, "", "<a>");
    expect_many("\\w", 0, "\u00e9", 200000, "...", "<\u00e9>");
    expect_many("\u00e9", RX_IGNORECASE, "\u00c9", 20000, ".", "<\u00c9>");
    expect_many(".", RX_BYTES, "\xff", 400000, "", "<\xff>");
    assert_true(clock_thread_us() - before < 10000000);
    /* What is not UTF-8 is not matched, and stays. */
    expect_many("[^b]", 0, "a", 1000, "\xff", "<a>");
    expect_many("b?a", 0,
                "\xff"
                "a",
                1000, "\xc3", "\xff<a>");
}

/* Each match looks at all that follows. */
static void
test_deadline(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(rx) rx = rx_new("a(?:a*b)?", 0, &err);
    size_t len = 200000;
    AUTO_FREE char *text = xcalloc(len + 1, 1);
    buf_auto_t out = BUF_INIT;

    memset(text, 'a', len);
    rx_until(rx, clock_mono_ms() + 50);
    assert_int_equal(rx_sub(rx, "c", text, len, 0, &out, NULL, &err), -ETIMEDOUT);
    rx_until(rx, 0);
    assert_int_equal(rx_sub(rx, "c", text, 100, 0, &out, NULL, &err), 0);
}

/* Of what is written, not of what is read; a text that is just as long as allowed is made. */
static void
test_at_most(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(rx) rx = rx_new("a", 0, &err);
    buf_auto_t out = BUF_INIT;

    rx_at_most(rx, 10);
    assert_int_equal(rx_sub(rx, "bcd", "aaa-", 4, 0, &out, NULL, &err), 0);
    assert_string_equal(buf_str(&out), "bcdbcdbcd-");
    buf_clear(&out);
    assert_int_equal(rx_sub(rx, "bcd", "aaa--", 5, 0, &out, NULL, &err), -E2BIG);
    buf_clear(&out);
    assert_int_equal(rx_sub(rx, "\\g<0>bcd", "aaa", 3, 0, &out, NULL, &err), -E2BIG);
    assert_true(out.len <= 10);
}

/* Some hundred bytes of it, and whole characters. */
static void
test_long_pattern_is_cut(void **state)
{
    static const char *const chars[] = { "\u00e9", "\u20ac", "\U0001f600" };
    for (size_t c = 0; c < NELEMS(chars); c++)
        for (int before = 1; before <= 4; before++) {
            fail_auto_t err = FAIL_INIT;
            buf_auto_t pattern = BUF_INIT;
            AUTO_FREE char *end = xasprintf("%s%s...'", chars[c], chars[c]);

            buf_fill(&pattern, '(', (size_t) before);
            for (int i = 0; i < 1000; i++)
                buf_puts(&pattern, chars[c]);
            assert_null(rx_new(buf_str(&pattern), 0, &err));
            assert_true(strlen(fail_text(&err)) < 300);
            assert_true(str_ends(fail_text(&err), end));
        }
}

static void
test_flags(void **state)
{
    assert_int_equal(rx_flag("multiline"), RX_MULTILINE);
    assert_int_equal(rx_flag("I"), RX_IGNORECASE);
    assert_int_equal(rx_flag("nosuch"), 0);
    AUTO(rx) rx = rx_new("(?P<key>a)", 0, NULL);
    assert_int_equal(rx_group_number(rx, "key"), 1);
    assert_int_equal(rx_group_number(rx, "no"), -1);
    assert_int_equal(rx_groups(rx), 1);
}

UNIT_MAIN(cmocka_unit_test(test_python_answers), cmocka_unit_test(test_escape), cmocka_unit_test(test_bad),
          cmocka_unit_test(test_bytes_and_text), cmocka_unit_test(test_steps_are_limited),
          cmocka_unit_test(test_many_matches), cmocka_unit_test(test_deadline),
          cmocka_unit_test(test_at_most), cmocka_unit_test(test_long_pattern_is_cut),
          cmocka_unit_test(test_flags))
