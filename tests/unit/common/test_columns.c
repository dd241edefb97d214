/* test_columns.c - rows as columns that fit a terminal: which give way, which go, and where the mark stands. */
#include "common/cli/columns.h"
#include "common/cli/term.h"
#include "salt/value.h"
#include "unit/unit.h"

static const column_t columns[] = { { "Job", 0, 0 }, { "When", 0, 2 }, { "Text", 4, 0 }, { "More", 4, 1 } };

static void
assert_drawn(const char *rows, size_t width, bool utf8, const char *want)
{
    json_auto_t *cells = json_loads(rows, 0, NULL);
    columns_look_t look = { .width = width, .utf8 = utf8, .paint = PAINT_NONE };
    buf_auto_t out = BUF_INIT;

    assert_non_null(cells);
    columns_draw(columns, NELEMS(columns), cells, &look, &out);
    assert_string_equal(buf_str(&out), want);
}

#define ROWS "[[\"1234567\", \"noon\", \"some long text\", \"and more text\"], [\"2\", \"n\", \"t\", \"m\"]]"

static void
test_widths(void **state)
{
    assert_drawn(ROWS, 80, true,
                 "Job      When  Text            More\n"
                 "1234567  noon  some long text  and more text\n"
                 "2        n     t               m\n");
    /* Both long ones give way, the wider one first. */
    assert_drawn(ROWS, 35, true,
                 "Job      When  Text       More\n"
                 "1234567  noon  some lon…  and more…\n"
                 "2        n     t          m\n");
    /* The times go before the rest would be too narrow. */
    assert_drawn(ROWS, 20, false, "Job      Text  More\n1234567  som~  and ~\n2        t     m\n");
    assert_drawn(ROWS, 14, false, "Job      Text\n1234567  some~\n2        t\n");
    assert_drawn(ROWS, 12, false, "Job      Te~\n1234567  so~\n2        t\n");
}

static void
test_narrow(void **state)
{
    assert_drawn(ROWS, 5, false, "Job\n1234~\n2\n");
    assert_drawn("[]", 80, true, "Job  When  Text  More\n");
    assert_drawn("[[\"1\"]]", 80, true, "Job  When  Text  More\n1                \n");
}

/* Wide characters take two columns, marks none, and controls are shown. */
static void
test_characters(void **state)
{
    assert_int_equal(term_width("a\xe6\xbc\xa2z"), 4);
    assert_int_equal(term_width("e\xcc\x81"), 1);
    assert_int_equal(term_width("\x1b[2J"), 5);
    assert_drawn("[[\"\xe6\xbc\xa2\xe5\xad\x97\", \"\\u001b[2J\", \"x\", \"y\"]]", 80, true,
                 "Job   When   Text  More\n\xe6\xbc\xa2\xe5\xad\x97  ^[[2J  x     y\n");
}

/* A row's own colour, and the colour of the titles. */
static void
test_colours(void **state)
{
    json_auto_t *rows = json_pack("[[s, s, s, s, i]]", "1", "2", "3", "4", COLOUR_RED);
    columns_look_t look = { .width = 80, .utf8 = true, .paint = PAINT_PLAIN };
    buf_auto_t out = BUF_INIT;

    columns_draw(columns, NELEMS(columns), rows, &look, &out);
    assert_string_equal(buf_str(&out), "\033[0;36mJob  When  Text  More\033[0;0m\n"
                                       "\033[0;31m1    2     3     4\033[0;0m\n");
}

static void
test_locale(void **state)
{
    static const struct {
        const char *all, *ctype, *lang;
        bool utf8;
    } cases[] = { { "", "", "de_DE.UTF-8", true }, { "C", "", "de_DE.UTF-8", false },
                  { "", "", "", false },           { "", "C", "de_DE.UTF-8", false },
                  { "C.utf8", "C", "C", true },    { "", "", "POSIX", false } };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        (void) setenv("LC_ALL", cases[i].all, 1);
        (void) setenv("LC_CTYPE", cases[i].ctype, 1);
        (void) setenv("LANG", cases[i].lang, 1);
        assert_int_equal(term_utf8(), cases[i].utf8);
    }
    (void) setenv("TERM", "dumb", 1);
    assert_false(term_moves());
    (void) setenv("TERM", "xterm", 1);
    assert_true(term_moves());
    (void) unsetenv("TERM");
    assert_true(term_moves());
}

UNIT_MAIN(cmocka_unit_test(test_widths), cmocka_unit_test(test_narrow), cmocka_unit_test(test_characters),
          cmocka_unit_test(test_colours), cmocka_unit_test(test_locale))
