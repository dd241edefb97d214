/* test_value.c - values as Python sees them, bounded parsing, UTF-8. */
#include <math.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/utf8.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static json_t *
parse(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    assert_non_null(v);
    return v;
}

/* Rows of [value, repr(value)] that Python 3.11 wrote. */
static void
test_repr_as_python(void **state)
{
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *row;

    assert_int_equal(fs_read(TEST_SOURCE_DIR "/tests/cases/value/repr.json", LIMIT_FILE_READ, &text, NULL),
                     0);
    json_auto_t *rows = parse(buf_str(&text));
    assert_true(json_array_size(rows) > 200);
    json_array_foreach (rows, i, row) {
        AUTO_FREE char *got = value_repr(json_array_get(row, 0));
        assert_string_equal(got, json_string_value(json_array_get(row, 1)));
    }
}

static void
test_pystr(void **state)
{
    json_auto_t *text = json_string("it's"), *list = parse("[\"a\", 1.0]");

    AUTO_FREE char *a = value_pystr(text), *b = value_pystr(list), *c = value_pystr(NULL);
    assert_string_equal(a, "it's");
    assert_string_equal(b, "['a', 1.0]");
    assert_string_equal(c, "None");
    AUTO_FREE char *inf = value_float_repr(INFINITY), *minus = value_float_repr(-INFINITY);
    AUTO_FREE char *nan = value_float_repr(NAN);
    assert_string_equal(inf, "inf");
    assert_string_equal(minus, "-inf");
    assert_string_equal(nan, "nan");
}

static void
test_members(void **state)
{
    json_auto_t *o = parse("{\"s\": \"x\", \"i\": 5, \"f\": 1.5, \"t\": true, \"n\": null}");
    json_auto_t *list = parse("[1]");

    assert_string_equal(value_str(o, "s", "d"), "x");
    assert_string_equal(value_str(o, "i", "d"), "d");
    assert_string_equal(value_str(list, "s", "d"), "d");
    assert_null(value_str(NULL, "s", NULL));
    assert_int_equal(value_int(o, "i", 9), 5);
    assert_int_equal(value_int(o, "s", 9), 9);
    assert_true(value_num(o, "f", 0) == 1.5 && value_num(o, "i", 0) == 5.0 && value_num(o, "t", 7) == 7.0);
    assert_true(value_bool(o, "t", false) && value_bool(o, "i", true) && !value_bool(o, "none", false));
    assert_true(json_is_null(value_get(o, "n")));
    assert_null(value_get(list, "n"));
}

static void
test_truth(void **state)
{
    static const char *const no[] = { "null", "false", "0", "0.0", "-0.0", "\"\"", "[]", "{}" };
    static const char *const yes[] = { "true", "1", "-1", "0.1", "\"0\"", "\"\\u0000\"", "[0]", "{\"\": 0}" };

    assert_false(value_truthy(NULL));
    for (size_t i = 0; i < NELEMS(no); i++) {
        json_auto_t *v = parse(no[i]);
        assert_false(value_truthy(v));
    }
    for (size_t i = 0; i < NELEMS(yes); i++) {
        json_auto_t *v = parse(yes[i]);
        assert_true(value_truthy(v));
    }
}

static void
test_equal(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        { "1", "1.0", true },
        { "1", "1", true },
        { "1", "2", false },
        { "1", "\"1\"", false },
        { "9007199254740993", "9007199254740992.0", false },
        { "9223372036854775807", "9223372036854775808.0", false },
        { "-9223372036854775808", "-9223372036854775808.0", true },
        { "1.5", "1", false },
        { "null", "false", false },
        { "true", "true", true },
        { "[1, [2.0]]", "[1.0, [2]]", true },
        { "[1]", "[1, 2]", false },
        { "{\"a\": 1, \"b\": [0]}", "{\"b\": [0.0], \"a\": 1.0}", true },
        { "{\"a\": 1}", "{\"b\": 1}", false },
        { "{\"a\": 1}", "{\"a\": 1, \"b\": 1}", false },
        { "\"a\"", "\"a\"", true },
        { "{}", "[]", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *a = parse(rows[i].a), *b = parse(rows[i].b);
        assert_int_equal(value_equal(a, b), rows[i].equal);
        assert_int_equal(value_equal(b, a), rows[i].equal);
    }
    json_auto_t *null = json_null();
    assert_true(value_equal(NULL, NULL));
    assert_false(value_equal(NULL, null));
}

static void
test_path(void **state)
{
    static const char *const rows[][2] = {
        { "a:b:1", "20" },       { "a:b:-1", "30" },  { "a:b:3", NULL },  { "a:b:-4", NULL },
        { "l:name", "\"two\"" }, { "l:0:id", "1" },   { "l:none", NULL }, { "a:none:x", NULL },
        { "s:0", NULL },         { "", "\"empty\"" }, { "a:b:x", NULL },  { "d:0", "\"zero\"" },
        { "n", "null" },         { "n:x", NULL },     { "a::b", NULL },
    };
    json_auto_t *root = parse("{\"a\": {\"b\": [10, 20, 30]}, \"l\": [{\"id\": 1}, {\"name\": \"two\"}],"
                              " \"s\": \"text\", \"\": \"empty\", \"d\": {\"0\": \"zero\"}, \"n\": null}");

    for (size_t i = 0; i < NELEMS(rows); i++) {
        const json_t *got = value_path(root, rows[i][0], ":");
        AUTO_FREE char *text = value_dump(got);
        if (rows[i][1] == NULL)
            assert_null(got);
        else
            assert_string_equal(text, rows[i][1]);
    }
    assert_int_equal(json_integer_value(value_path(root, "a||b||0", "||")), 10);
    assert_null(value_path(NULL, "a", ":"));
}

static void
check_merge(const char *base, const char *over, bool append, const char *want)
{
    json_auto_t *b = parse(base), *o = parse(over), *before = json_deep_copy(o);

    value_merge(b, o, append);
    AUTO_FREE char *got = value_dump(b);
    assert_string_equal(got, want);
    value_merge(b, o, true);
    json_object_clear(b);
    assert_true(json_equal(o, before));
}

static void
test_merge(void **state)
{
    check_merge("{\"a\":{\"x\":1},\"l\":[1,2]}", "{\"a\":{\"y\":2},\"l\":[2,3],\"n\":null}", false,
                "{\"a\":{\"x\":1,\"y\":2},\"l\":[2,3],\"n\":null}");
    check_merge("{\"l\":[1,2]}", "{\"l\":[2,3]}", true, "{\"l\":[1,2,3]}");
    check_merge("{\"a\":{\"x\":1}}", "{\"a\":5}", true, "{\"a\":5}");
    check_merge("{\"a\":5}", "{\"a\":{\"x\":1}}", true, "{\"a\":{\"x\":1}}");
    check_merge("{}", "{\"a\":{\"l\":[1]}}", true, "{\"a\":{\"l\":[1]}}");
}

/* Two merges of one overlay must not share what lies deeper. */
static void
test_merge_copies(void **state)
{
    json_auto_t *a = json_object(), *b = json_object(), *over = parse("{\"k\": {\"v\": 1}}");

    value_merge(a, over, false);
    value_merge(b, over, false);
    json_object_set_new(value_get(a, "k"), "v", json_integer(2));
    assert_int_equal(value_int(value_get(b, "k"), "v", 0), 1);
    assert_int_equal(value_int(value_get(over, "k"), "v", 0), 1);
}

static json_t *
nested(int depth, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    buf_fill(&text, '[', (size_t) depth);
    buf_fill(&text, ']', (size_t) depth);
    return value_parse(buf_str(&text), text.len, 1 << 20, "peer", err);
}

static void
test_parse_limits(void **state)
{
    fail_auto_t deep = FAIL_INIT, large = FAIL_INIT;

    json_auto_t *ok = nested(LIMIT_JSON_DEPTH, NULL);
    assert_non_null(ok);
    assert_null(nested(LIMIT_JSON_DEPTH + 1, &deep));
    assert_int_equal(deep.code, -EBADMSG);
    assert_non_null(strstr(fail_text(&deep), "peer: "));
    assert_null(value_parse("[1,2]", 5, 4, "small", &large));
    assert_int_equal(large.code, -EMSGSIZE);
    /* Brackets in strings do not count, and an escaped quote does not end one. */
    buf_auto_t text = BUF_INIT;
    buf_puts(&text, "\"\\\"");
    buf_fill(&text, '[', 2 * LIMIT_JSON_DEPTH);
    buf_puts(&text, "\"");
    json_auto_t *brackets = value_parse(buf_str(&text), text.len, text.len, "peer", NULL);
    assert_non_null(brackets);
}

static void
test_nests(void **state)
{
    static const struct {
        const char *text;
        int levels;
    } rows[] = { { "7", 0 },         { "\"[[\"", 0 },       { "[]", 1 },
                 { "{}", 1 },        { "[1, [2], {}]", 2 }, { "{\"a\": [], \"b\": {\"c\": [[]]}}", 4 },
                 { "[[[1], 2]]", 3 } };

    assert_true(value_nests(NULL, 0));
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *v = json_loads(rows[i].text, JSON_DECODE_ANY, NULL);
        assert_true(value_nests(v, rows[i].levels));
        assert_false(rows[i].levels > 0 && value_nests(v, rows[i].levels - 1));
    }
}

static void
test_parse_refuses(void **state)
{
    static const char *const refused[] = { "",
                                           " ",
                                           "{",
                                           "[1,]",
                                           "[1] x",
                                           "[1][2]",
                                           "{\"a\":1,\"a\":2}",
                                           "nul",
                                           "\"\xff\"",
                                           "\"\\ud800\"",
                                           "\"\\",
                                           "{'a': 1}",
                                           "]",
                                           "NaN",
                                           "1e999",
                                           "99999999999999999999" };
    static const char *const accepted[] = { "null", " 5 ", "\"x\"", "true", "{\"a\":[1.5,\"\\u0000\"]}" };

    for (size_t i = 0; i < NELEMS(refused); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_null(value_parse(refused[i], strlen(refused[i]), 1000, "peer", &err));
        assert_int_equal(err.code, -EBADMSG);
        assert_non_null(strstr(fail_text(&err), "peer: not valid JSON: "));
    }
    for (size_t i = 0; i < NELEMS(accepted); i++) {
        json_auto_t *v = value_parse(accepted[i], strlen(accepted[i]), 1000, "peer", NULL);
        assert_non_null(v);
    }
    /* The bytes end where the caller says, NUL or not. */
    json_auto_t *cut = value_parse("[1]garbage", 3, 1000, "peer", NULL);
    assert_non_null(cut);
    assert_null(value_parse("[1]\0", 4, 1000, "peer", NULL));
}

static void
test_dump_order(void **state)
{
    json_auto_t *v = parse("{\"z\": 1, \"a\": [true, null], \"m\": {\"\\u00e9\": \"x\\n\"}}");

    AUTO_FREE char *text = value_dump(v), *none = value_dump(NULL);
    assert_string_equal(text, "{\"z\":1,\"a\":[true,null],\"m\":{\"\xc3\xa9\":\"x\\n\"}}");
    assert_string_equal(none, "null");
}

static void
test_utf8_replacement(void **state)
{
#define BAD "\xef\xbf\xbd"
    static const char *const rows[][2] = {
        { "", "" },
        { "caf\xc3\xa9", "caf\xc3\xa9" },
        { "a\xff"
          "b",
          "a" BAD "b" },
        { "\xc3", BAD },
        { "\xc0\xaf", BAD BAD },
        { "\xed\xa0\x80", BAD BAD BAD },
        { "\xf4\x90\x80\x80", BAD BAD BAD BAD },
        { "\xe2\x82", BAD BAD },
        { "\xe2\x82\xac", "\xe2\x82\xac" },
        { "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80" },
        { "\xf0\x80\x80\xaf!", BAD BAD BAD BAD "!" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *v = value_utf8(rows[i][0], strlen(rows[i][0]));
        assert_string_equal(json_string_value(v), rows[i][1]);
    }
    json_auto_t *nul = value_utf8("a\0b", 3);
    assert_int_equal(json_string_length(nul), 3);
    json_auto_t *fmt = value_fmt("%s=%d\xff", "x", 5);
    assert_string_equal(json_string_value(fmt), "x=5" BAD);
    json_auto_t *empty = value_utf8(NULL, 0);
    assert_string_equal(json_string_value(empty), "");
}

static void
test_utf8_count(void **state)
{
    assert_int_equal(utf8_count("", 0), 0);
    assert_int_equal(utf8_count("a\xc3\xa9\xf0\x9f\x98\x80\xff", 8), 4);
    assert_true(utf8_printable('a') && utf8_printable(' ') && utf8_printable(0x1f600));
    assert_false(utf8_printable(0) || utf8_printable(0xa0) || utf8_printable(0x10ffff));
}

UNIT_MAIN(cmocka_unit_test(test_repr_as_python), cmocka_unit_test(test_pystr), cmocka_unit_test(test_members),
          cmocka_unit_test(test_truth), cmocka_unit_test(test_equal), cmocka_unit_test(test_path),
          cmocka_unit_test(test_merge), cmocka_unit_test(test_merge_copies),
          cmocka_unit_test(test_parse_limits), cmocka_unit_test(test_nests),
          cmocka_unit_test(test_parse_refuses), cmocka_unit_test(test_dump_order),
          cmocka_unit_test(test_utf8_replacement), cmocka_unit_test(test_utf8_count))
