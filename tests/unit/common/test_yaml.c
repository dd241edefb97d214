/* test_yaml.c - the loader, the scalars and the dumper against answers recorded from PyYAML with Salt's
 * loader. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/data/yaml_scalar.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/yaml/"

static json_t *
load_cases(const char *path)
{
    buf_auto_t text = BUF_INIT;

    assert_int_equal(fs_read(path, LIMIT_FILE_READ, &text, NULL), 0);
    json_t *cases = json_loadb(buf_str(&text), text.len, JSON_ALLOW_NUL, NULL);
    assert_true(json_array_size(cases) > 0);
    return cases;
}

static json_t *
load(const char *text, fail_t *err)
{
    return yaml_load(text, strlen(text), "test.sls", NULL, err);
}

/* Key order counts, so the texts are compared. */
static void
assert_same(const char *name, const json_t *want, const json_t *got)
{
    AUTO_FREE char *a = value_dump(want), *b = value_dump(got);

    if (!str_eq(a, b))
        fail_msg("%s: expected %s, got %s", name, a, b);
}

static void
check_error(const json_t *c, const char *name, const json_t *v, const fail_t *err)
{
    const char *text = fail_text(err);

    if (v != NULL)
        fail_msg("%s: no error", name);
    assert_int_equal(err->code, -EINVAL);
    if (strstr(text, value_str(c, "error", "")) == NULL)
        fail_msg("%s: the error lacks '%s': %s", name, value_str(c, "error", ""), text);
    if (value_get(c, "line") == NULL)
        return;
    AUTO_FREE char *place = xasprintf("test.sls: line %d, column %d: ", (int) value_int(c, "line", 0),
                                      (int) value_int(c, "column", 0));
    if (!str_starts(text, place) || !str_ends(text, "^"))
        fail_msg("%s: expected '%s', got: %s", name, place, text);
}

static void
check_load_cases(const char *path)
{
    json_auto_t *cases = load_cases(path);
    size_t i;
    json_t *c;

    json_array_foreach (cases, i, c) {
        fail_auto_t err = FAIL_INIT;
        const json_t *text = value_get(c, "yaml");
        json_auto_t *v = yaml_load(json_string_value(text), json_string_length(text), "test.sls", NULL, &err);
        const char *name = value_str(c, "name", "?");
        if (value_get(c, "error") != NULL) {
            check_error(c, name, v, &err);
            continue;
        }
        if (v == NULL)
            fail_msg("%s: %s", name, fail_text(&err));
        assert_same(name, value_get(c, "value"), v);
    }
}

static void
test_scalars(void **state)
{
    check_load_cases(CASES "scalars.json");
}

static void
test_documents(void **state)
{
    check_load_cases(CASES "documents.json");
}

static void
test_dump(void **state)
{
    json_auto_t *cases = load_cases(CASES "dump.json");
    size_t i;
    json_t *c;

    json_array_foreach (cases, i, c) {
        AUTO_FREE char *got = yaml_dump(value_get(c, "value"), (int) value_int(c, "indent", 0));
        if (!str_eq(got, value_str(c, "text", "")))
            fail_msg("case %zu: expected:\n%s\ngot:\n%s", i, value_str(c, "text", ""), got);
    }
}

/* What was dumped loads as the same value. */
static void
test_round_trip(void **state)
{
    json_auto_t *cases = load_cases(CASES "dump.json");
    size_t i;
    json_t *c;

    json_array_foreach (cases, i, c) {
        AUTO_FREE char *text = yaml_dump(value_get(c, "value"), 0);
        fail_auto_t err = FAIL_INIT;
        json_auto_t *v = load(text, &err);
        AUTO_FREE char *name = xasprintf("case %zu", i);
        assert_same(name, value_get(c, "value"), v);
    }
}

static void
test_dump_nothing(void **state)
{
    AUTO_FREE char *text = yaml_dump(NULL, 0);

    assert_string_equal(text, "null\n");
}

static void
assert_error(const char *yaml, int code, const char *text)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = load(yaml, &err);

    assert_null(v);
    assert_int_equal(err.code, code);
    assert_string_equal(fail_text(&err), text);
}

static void
test_repeated_keys(void **state)
{
    static const char text[] = "a: 1\nb: {c: 1, c: 2}\na: [3]\n";
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *twice = NULL, *none = NULL;
    json_auto_t *v = yaml_load_repeated(text, strlen(text), "grains", NULL, &twice, &err);
    json_auto_t *plain = yaml_load_repeated("a: 1\n", strlen("a: 1\n"), "grains", NULL, &none, &err);
    AUTO_FREE char *got = json_dumps(v, JSON_SORT_KEYS);

    assert_string_equal(got, "{\"a\": [3], \"b\": {\"c\": 2}}");
    assert_non_null(strstr(twice, ": found conflicting ID '"));
    assert_non_null(plain);
    assert_null(none);
}

static void
test_error_texts(void **state)
{
    assert_error("a:\n  b: 1\n  c: d: e\n", -EINVAL,
                 "test.sls: line 3, column 7: mapping values are not allowed in this context\n"
                 "      c: d: e\n"
                 "          ^");
    assert_error(
        "a: 1\nb: 2\na: 3\n", -EINVAL,
        "test.sls: line 3, column 1: found conflicting ID 'a' (while constructing a mapping, line 1)\n"
        "    a: 3\n"
        "    ^");
    assert_error("a:\n\tb: 1\n", -EINVAL,
                 "test.sls: line 2, column 1: found character that cannot start any token (while scanning "
                 "for the next "
                 "token); the line has a tab before this, YAML wants spaces\n"
                 "    \tb: 1\n"
                 "    ^");
    assert_error(
        "k: {{ name }}\n", -EINVAL,
        "test.sls: line 1, column 5: found unacceptable key: a mapping cannot be one; possible double "
        "curly-brace\n"
        "    k: {{ name }}\n"
        "        ^");
}

/* The end of the text says nothing, so the line where the trouble began is shown. */
static void
test_error_at_the_end(void **state)
{
    assert_error("a: [1,\n  2\n", -EINVAL,
                 "test.sls: line 3, column 1: did not find expected ',' or ']' (while parsing a flow "
                 "sequence, line 1)\n"
                 "    a: [1,\n"
                 "       ^");
}

static void
test_error_in_a_long_line(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_fill(&text, 'x', 5000);
    buf_puts(&text, ": a: b");
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_true(strlen(fail_text(&err)) < 500);
}

/* Nor does a long key make a long message; it is cut between characters. */
static void
test_error_with_a_long_key(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    for (int i = 0; i < 2; i++) {
        buf_puts(&text, "? \"");
        for (int k = 0; k < 3000; k++)
            buf_puts(&text, "\xc3\xa9");
        buf_puts(&text, "\"\n: 1\n");
    }
    json_auto_t *v = load(buf_str(&text), &err);
    json_auto_t *valid = json_string(fail_text(&err));
    assert_null(v);
    assert_non_null(valid);
    assert_true(strlen(fail_text(&err)) < 900);
}

static void
test_not_utf8(void **state)
{
    assert_error("a: 1\nb: \xff\n", -EINVAL,
                 "test.sls: line 2, column 4: unacceptable character #x00ff: invalid leading UTF-8 octet\n"
                 "    b: \xff\n"
                 "       ^");
}

static void
test_utf16(void **state)
{
    static const char text[] = "\xff\xfe"
                               "a\0:\0 \0\xe9\0\n";
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = yaml_load(text, sizeof(text), "x", NULL, &err);

    assert_string_equal(value_str(v, "a", ""), "\xc3\xa9");
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void
test_depth(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_fill(&text, '[', 100000);
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_int_equal(err.code, -E2BIG);
    assert_non_null(strstr(fail_text(&err), "nested deeper than the 200 levels allowed"));
}

/* Aliases nest too: each line is two levels deeper than the one before. */
static void
test_depth_by_aliases(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_puts(&text, "a0: &a0 x\n");
    for (int i = 1; i < 300; i++)
        buf_printf(&text, "a%d: &a%d [[*a%d]]\n", i, i, i - 1);
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_int_equal(err.code, -E2BIG);
}

static void
check_bomb(const char *format)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_puts(&text, "a0: &a0 {k: v}\n");
    for (int i = 1; i < 40; i++) {
        char name[16];
        snprintf(name, sizeof(name), "*a%d", i - 1);
        AUTO_FREE char *line = str_replace(format, "@", name);
        buf_printf(&text, "a%d: &a%d %s\n", i, i, line);
    }
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_int_equal(err.code, -E2BIG);
}

static void
test_alias_bomb(void **state)
{
    check_bomb("[@, @, @, @]");
    check_bomb("{a: @, b: @}");
}

/* Few nodes, but each is a long text, or has one as a key. */
static void
check_text_bomb(const char *item)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_puts(&text, "- &a ");
    buf_fill(&text, 'x', 100000);
    for (int i = 0; i < 12000; i++)
        buf_puts(&text, item);
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_int_equal(err.code, -E2BIG);
    assert_non_null(strstr(fail_text(&err), "bytes of text once aliases are followed"));
}

static void
test_text_bomb(void **state)
{
    check_text_bomb("\n- *a");
    check_text_bomb("\n- *a : 1");
}

static void
test_merge_bomb(void **state)
{
    check_bomb("{<<: [@, @, @, @]}");
}

static void
test_many_number_keys(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    for (int i = 0; i < 50000; i++)
        buf_printf(&text, "%d: x\n", i);
    json_auto_t *v = load(buf_str(&text), &err);
    assert_int_equal(json_object_size(v), 50000);
}

static void
test_huge_integer(void **state)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;

    buf_fill(&text, '9', 100000);
    json_auto_t *v = load(buf_str(&text), &err);
    assert_null(v);
    assert_non_null(strstr(fail_text(&err), "an integer of more than 4300 digits"));
}

static void
test_recursive(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = load("&a [1, *a]", &err);

    assert_null(v);
    assert_non_null(strstr(fail_text(&err), "found unconstructable recursive node 'a'"));
}

/* ---- what JSON cannot say -------------------------------------------------------------------- */

static void
test_keys_that_collide_as_text(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = load("1: a\n'1': b\n", &err);

    assert_null(v);
    assert_non_null(strstr(fail_text(&err), "found conflicting ID '1'"));
}

static void
test_key_with_nul(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = load("\"a\\0b\": 1\n", &err);

    assert_null(v);
    assert_non_null(strstr(fail_text(&err), "NUL"));
}

static void
test_aliases_share_nothing(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *v = load("a: &x {k: [1]}\nb: *x\n", &err);

    assert_ptr_not_equal(value_get(v, "a"), value_get(v, "b"));
    assert_ptr_not_equal(value_path(v, "a:k", ":"), value_path(v, "b:k", ":"));
}

/* ---- lines, scalars -------------------------------------------------------------------------- */

static void
test_lines(void **state)
{
    static const char text[] = "# c\nfirst: 1\n\nsecond:\n  third: 3\n";
    fail_auto_t err = FAIL_INIT;
    AUTO(yaml_lines) lines = NULL;
    json_auto_t *v = yaml_load(text, strlen(text), "x", &lines, &err);

    assert_non_null(v);
    assert_int_equal(yaml_line_of(lines, "first"), 2);
    assert_int_equal(yaml_line_of(lines, "second"), 4);
    assert_int_equal(yaml_line_of(lines, "third"), 0);
    assert_int_equal(yaml_line_of(NULL, "first"), 0);
}

static void
test_scalar(void **state)
{
    static const struct {
        const char *text, *json;
    } rows[] = {
        { "5", "5" },
        { "0644", "644" },
        { "true", "true" },
        { "", "null" },
        { "a b", "\"a b\"" },
        { "1.5", "1.5" },
        { ".inf", "\".inf\"" },
        { "<<", "\"<<\"" },
        { "=", "\"=\"" },
        { "0x", "\"0x\"" },
        { "0x_", "\"0x_\"" },
        { "1:30", "90" },
        { "2020-01-01", "\"2020-01-01\"" },
        { "~", "null" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *v = yaml_scalar(rows[i].text, strlen(rows[i].text));
        AUTO_FREE char *got = value_dump(v);
        assert_string_equal(got, rows[i].json);
    }
}

static void
test_base64(void **state)
{
    static const struct {
        const char *text, *bytes, *why;
    } rows[] = {
        { "aGVsbG8=", "hello", NULL },
        { "aGVs\nbG8=\n", "hello", NULL },
        { "", "", NULL },
        { "aGk=", "hi", NULL },
        { "YQ==", "a", NULL },
        { "YQ", NULL, "Incorrect padding" },
        { "a", NULL, "cannot be 1 more than" },
        { "YWJj!!ZGVm", "abcdef", NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *why = NULL;
        size_t len = 0;
        AUTO_FREE char *got = yaml_from_base64(rows[i].text, strlen(rows[i].text), &len, &why);
        if (rows[i].bytes == NULL) {
            assert_null(got);
            assert_non_null(strstr(why, rows[i].why));
            continue;
        }
        assert_int_equal(len, strlen(rows[i].bytes));
        assert_memory_equal(got, rows[i].bytes, len);
    }
}

UNIT_MAIN(cmocka_unit_test(test_scalars), cmocka_unit_test(test_documents), cmocka_unit_test(test_dump),
          cmocka_unit_test(test_round_trip), cmocka_unit_test(test_dump_nothing),
          cmocka_unit_test(test_error_texts), cmocka_unit_test(test_repeated_keys),
          cmocka_unit_test(test_error_at_the_end), cmocka_unit_test(test_error_in_a_long_line),
          cmocka_unit_test(test_error_with_a_long_key), cmocka_unit_test(test_not_utf8),
          cmocka_unit_test(test_utf16), cmocka_unit_test(test_depth), cmocka_unit_test(test_depth_by_aliases),
          cmocka_unit_test(test_alias_bomb), cmocka_unit_test(test_text_bomb),
          cmocka_unit_test(test_merge_bomb), cmocka_unit_test(test_many_number_keys),
          cmocka_unit_test(test_huge_integer), cmocka_unit_test(test_recursive),
          cmocka_unit_test(test_keys_that_collide_as_text), cmocka_unit_test(test_key_with_nul),
          cmocka_unit_test(test_aliases_share_nothing), cmocka_unit_test(test_lines),
          cmocka_unit_test(test_scalar), cmocka_unit_test(test_base64))
