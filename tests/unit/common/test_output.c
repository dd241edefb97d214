/* test_output.c - outputters: tests/cases/output holds what Salt's own outputters and Python's textwrap
 * print. */
#include "unit/unit.h"

#include "common/base/str.h"
#include "common/output/colour.h"
#include "common/output/output.h"
#include "common/output/pytext.h"
#include "salt/value.h"

static json_t *
load(const char *name)
{
    json_error_t error;
    AUTO_FREE char *path = xasprintf("%s/tests/cases/output/%s", TEST_SOURCE_DIR, name);
    json_t *cases = json_load_file(path, 0, &error);

    if (cases == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return cases;
}

/* NEW text of the expected lines, each with a newline. */
static char *
join(const json_t *lines)
{
    buf_auto_t out = BUF_INIT;
    size_t i;
    json_t *line;

    json_array_foreach (lines, i, line)
        buf_printf(&out, "%s\n", json_string_value(line));
    return buf_steal(&out);
}

static output_opts_t
options(const json_t *row)
{
    const json_t *o = value_get(row, "opts");
    output_opts_t opts = OUTPUT_OPTS_INIT;

    opts.out = value_str(row, "out", NULL);
    opts.indent = (int) value_int(o, "output_indent", OUTPUT_INDENT_DEFAULT);
    opts.colour = value_bool(o, "color", false) ? PAINT_PLAIN : PAINT_NONE;
    opts.state_output = value_str(o, "state_output", NULL);
    opts.state_verbose = value_bool(o, "state_verbose", true);
    opts.state_tabular = value_bool(o, "state_tabular", false);
    opts.state_compress_ids = value_bool(o, "state_compress_ids", false);
    opts.state_output_profile = value_bool(o, "state_output_profile", true);
    opts.state_output_diff = value_bool(o, "state_output_diff", false);
    opts.state_output_pct = value_bool(o, "state_output_pct", false);
    opts.retcode = (int) value_int(o, "_retcode", 0);
    opts.exclude = value_get(o, "state_output_exclude");
    opts.terse = value_get(o, "state_output_terse");
    return opts;
}

static void
check_file(const char *name)
{
    json_auto_t *cases = load(name);
    size_t i;
    json_t *row;

    json_array_foreach (cases, i, row) {
        output_opts_t opts = options(row);
        json_auto_t *before = json_deep_copy(value_get(row, "data"));
        AUTO_FREE char *expected = join(value_get(row, "lines"));
        buf_auto_t out = BUF_INIT;
        buf_puts(&out, "kept ");
        output_format(value_get(row, "data"), &opts, &out);
        if (!str_starts(buf_str(&out), "kept ") || !str_eq(out.data + strlen("kept "), expected))
            fail_msg("%s: %s:\nexpected:\n%s\ngot:\n%s", name, value_str(row, "name", ""), expected,
                     buf_str(&out));
        assert_true(json_equal(before, value_get(row, "data")));
    }
}

static void
test_nested(void **state)
{
    check_file("nested.json");
}

static void
test_plain(void **state)
{
    check_file("plain.json");
}

static void
test_pprint(void **state)
{
    check_file("pprint.json");
}

static void
test_key(void **state)
{
    check_file("key.json");
}

static void
test_table(void **state)
{
    check_file("table.json");
}

static void
test_highstate(void **state)
{
    check_file("highstate.json");
}

static void
test_wrap(void **state)
{
    json_auto_t *cases = load("wrap.json");
    size_t i;
    json_t *row;

    json_array_foreach (cases, i, row) {
        AUTO_FREE char *expected = join(value_get(row, "lines"));
        buf_auto_t out = BUF_INIT;
        pytext_wrap(&out, value_str(row, "text", ""), (int) value_int(row, "width", 0), 0);
        if (out.len > 0)
            buf_putc(&out, '\n');
        if (!str_eq(buf_str(&out), expected))
            fail_msg("%s:\nexpected:\n%s\ngot:\n%s", value_str(row, "name", ""), expected, buf_str(&out));
    }
}

static void
test_names(void **state)
{
    const char *const *names = output_names();
    size_t n = 0;

    for (; names[n] != NULL; n++)
        assert_true(output_known(names[n]));
    assert_true(n > 10);
    assert_false(output_known("pony"));
    assert_false(output_known(""));
    assert_false(output_known(NULL));
}

/* For a person, and for a program that reads Salt's summary. */
static void
test_kept_states(void **state)
{
    json_auto_t *data = json_pack(
        "{s:{s:{s:b, s:s, s:{}, s:i}, s:{s:b, s:s, s:{}, s:i}, s:{s:b, s:s, s:{}, s:i}}}", "m1",
        "test_|-a_|-a_|-nop", "result", 0, "comment", "Failure!", "changes", "__run_num__", 0,
        "test_|-b_|-b_|-nop", "result", 0, "comment", "One or more requisite failed: x.a", "changes",
        "__run_num__", 1, "test_|-c_|-c_|-nop", "result", 0, "comment", "One or more requisite failed: x.b",
        "changes", "__run_num__", 2);
    static const char *const lines[] = { "Failed:    3\n", "Failed:    1, not run: 2\n" };

    for (int person = 0; person < 2; person++) {
        output_opts_t opts = OUTPUT_OPTS_INIT;
        buf_auto_t out = BUF_INIT;
        opts.out = "highstate";
        opts.person = person == 1;
        output_format(data, &opts, &out);
        assert_non_null(strstr(buf_str(&out), lines[person]));
        assert_non_null(strstr(buf_str(&out), "Succeeded: 0\n"));
        assert_non_null(strstr(buf_str(&out), "Total states run:     3\n"));
    }
}

static void
test_colour(void **state)
{
    buf_auto_t out = BUF_INIT;

    assert_string_equal(colour_code(COLOUR_LIGHT_RED, PAINT_PLAIN), "\033[0;1;31m");
    assert_string_equal(colour_code(COLOUR_LIGHT_RED, PAINT_NONE), "");
    colour_add(&out, COLOUR_GREEN, PAINT_PLAIN, "ok");
    colour_add(&out, COLOUR_GREEN, PAINT_NONE, "ok");
    assert_string_equal(out.data, "\033[0;32mok\033[0;0mok");
}

/* NEW: lists in lists. */
static json_t *
nest(size_t depth)
{
    json_t *v = json_string("leaf");

    while (depth-- > 0) {
        json_t *around = depth % 2 == 0 ? json_array() : json_object();
        if (json_is_array(around))
            (void) json_array_append_new(around, v);
        else
            (void) json_object_set_new(around, "k", v);
        v = around;
    }
    return v;
}

/* As deep as any JSON from a peer may be, and a flat list that takes its time if something is not linear. */
static void
test_large(void **state)
{
    json_auto_t *deep = nest(512), *flat = json_array();
    const char *const *names = output_names();

    for (int i = 0; i < 100000; i++)
        (void) json_array_append_new(flat, json_pack("{s:i, s:s}", "n", i, "text", "some words"));
    json_auto_t *host = json_pack("{s:O}", "web1", flat);
    for (size_t i = 0; names[i] != NULL; i++) {
        output_opts_t opts = OUTPUT_OPTS_INIT;
        buf_auto_t out = BUF_INIT;
        opts.out = names[i];
        output_format(deep, &opts, &out);
        output_format(host, &opts, &out);
        assert_true(out.len > 0 || str_eq(names[i], "quiet"));
    }
}

/* A minion's return names none that shows nothing, or not whose it is. */
static void
test_claimed(void **state)
{
    static const char *const refused[] = { "quiet", "no_return", "newline_values_only", "key", "nosuch",
                                           "",      NULL };

    for (size_t i = 0; i < NELEMS(refused); i++)
        assert_null(output_claimed(refused[i]));
    assert_string_equal(output_claimed("highstate"), "highstate");
    assert_string_equal(output_claimed("txt"), "txt");
}

UNIT_MAIN(cmocka_unit_test(test_nested), cmocka_unit_test(test_plain), cmocka_unit_test(test_pprint),
          cmocka_unit_test(test_key), cmocka_unit_test(test_table), cmocka_unit_test(test_highstate),
          cmocka_unit_test(test_wrap), cmocka_unit_test(test_names), cmocka_unit_test(test_colour),
          cmocka_unit_test(test_kept_states), cmocka_unit_test(test_large), cmocka_unit_test(test_claimed))
