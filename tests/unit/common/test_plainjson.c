/* test_plainjson.c - plain JSON is cut into spans; whatever is not plain, or no JSON, is left to value_parse.
 */
#include "unit/unit.h"

#include "common/base/buf.h"
#include "common/base/plainjson.h"
#include "common/base/plainwrite.h"
#include "salt/limits.h"
#include "salt/value.h"

static bool
is_plain(const char *text)
{
    plain_t p = plain_new(text, strlen(text));
    jtext_t value;

    return plain_value(&p, &value) && plain_end(&p) && value.len <= strlen(text);
}

static void
test_what_is_plain(void **state)
{
    static const char *const plain[] = {
        "{}",
        "[]",
        " { \"a\" : [ 1 , -2 , 3.5 , true , false , null ] } ",
        "\"\"",
        "\"h\xc3\xa9\"",
        "\"a\\n\\\"\\\\\\/b\"",
        "0",
        "-1",
        "123456789012345678",
        "0.5",
        "-0.5",
        "[[[[]]]]",
        "{\"a\":{\"a\":1},\"b\":{\"a\":1}}",
    };
    for (size_t i = 0; i < NELEMS(plain); i++)
        assert_true(is_plain(plain[i]));
}

static void
test_what_is_not(void **state)
{
    static const char *const others[] = {
        "",
        "{",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "tru",
        "nulll",
        "01",
        "-",
        "-0",
        "1.",
        ".5",
        "1e5",
        "1E+5",
        "+1",
        "\"",
        "\"\\\"",
        "\"\\u0041\"",
        "\"\\x\"",
        "\"\x01\"",
        "\"\xff\"",
        "\"\xc3\"",
        "{\"a\":1,\"a\":2}",
        "{\"\\n\":1}",
        "1234567890123456789",
        "0.1234567890123456",
        "[] []",
        "{} x",
        "\"a\" \"b\"",
    };
    for (size_t i = 0; i < NELEMS(others); i++)
        if (is_plain(others[i]))
            fail_msg("plain: %s", others[i]);
}

static void
test_bounds(void **state)
{
    char deep[2 * PLAIN_DEPTH + 3];
    buf_auto_t keys = BUF_INIT;

    memset(deep, '[', PLAIN_DEPTH);
    memset(deep + PLAIN_DEPTH, ']', PLAIN_DEPTH);
    deep[2 * PLAIN_DEPTH] = '\0';
    assert_true(is_plain(deep));
    memset(deep, '[', PLAIN_DEPTH + 1);
    memset(deep + PLAIN_DEPTH + 1, ']', PLAIN_DEPTH + 1);
    deep[2 * PLAIN_DEPTH + 2] = '\0';
    assert_false(is_plain(deep));
    for (int i = 0; i < PLAIN_KEYS; i++)
        buf_printf(&keys, "%c\"k%d\":1", i == 0 ? '{' : ',', i);
    buf_putc(&keys, '}');
    assert_true(is_plain(keys.data));
    keys.data[keys.len - 1] = ',';
    for (int i = 0; i < 100; i++) /* the first keys take no memory and are not counted */
        buf_printf(&keys, "\"more%d\":1,", i);
    buf_puts(&keys, "\"last\":1}");
    assert_false(is_plain(keys.data));
}

/* Every key of an object of any size is found again, whichever comes twice, in whatever object around it. */
static void
test_repeated_keys(void **state)
{
    static const int sizes[] = { 2, 63, 64, 65, 66, 127, 128, 129, 130, 600 };

    for (size_t s = 0; s < NELEMS(sizes); s++)
        for (int twice = -1; twice < sizes[s]; twice++) {
            buf_auto_t text = BUF_INIT;
            buf_puts(&text, "{\"k1\":1,\"in\":");
            for (int i = 0; i < sizes[s]; i++)
                buf_printf(&text, "%c\"k%d\":{\"k%d\":1}", i == 0 ? '{' : ',', i, i);
            if (twice >= 0)
                buf_printf(&text, ",\"k%d\":1", twice);
            buf_puts(&text, "},\"k2\":1}");
            if (is_plain(buf_str(&text)) != (twice < 0))
                fail_msg("of %d keys, repeated %d", sizes[s], twice);
        }
}

static void
test_walk(void **state)
{
    static const char text[] =
        "{\"op\": \"fire\", \"n\": -17, \"list\": [{\"d\": {\"x\": 1}}, {\"d\": { }}], \"z\": 1.5}";
    plain_t p = plain_new(text, sizeof(text) - 1);
    jtext_t key, value;
    int64_t n;
    bool has, empty;

    assert_true(plain_enter(&p, '{') && plain_key(&p, &key) && jtext_is(key, "op"));
    assert_true(plain_string(&p, &value) && jtext_is(value, "fire") && !jtext_is(value, "fir") &&
                !jtext_is(value, "fires"));
    assert_true(plain_key(&p, &key) && plain_int(&p, &n) && n == -17);
    assert_true(plain_key(&p, &key) && plain_enter(&p, '['));
    assert_true(plain_item(&p) && plain_enter(&p, '{') && plain_key(&p, &key));
    assert_true(plain_object(&p, "x", &value, &has, &empty) && has && !empty &&
                jtext_is(value, "{\"x\": 1}"));
    assert_false(plain_key(&p, &key));
    assert_true(plain_item(&p) && plain_enter(&p, '{') && plain_key(&p, &key));
    assert_true(plain_object(&p, "x", &value, &has, &empty) && !has && empty);
    assert_false(plain_key(&p, &key));
    assert_false(plain_item(&p));
    assert_true(plain_key(&p, &key) && jtext_is(key, "z"));
    assert_false(plain_int(&p, &n));
    assert_false(plain_fine(&p));
    assert_false(plain_key(&p, &key));
    assert_false(plain_end(&p));
}

/* What jansson's writer makes of a value, and behind what was there. */
static void
assert_written_by(int (*add)(const json_t *v, buf_t *out), size_t flags, const json_t *v)
{
    buf_auto_t out = BUF_INIT;
    AUTO_FREE char *theirs = json_dumps(v, flags | JSON_ENCODE_ANY);

    assert_non_null(theirs);
    buf_puts(&out, "[");
    assert_int_equal(add(v, &out), 0);
    assert_int_equal(out.len, 1 + strlen(theirs));
    assert_string_equal(out.data + 1, theirs);
}

static void
assert_written(const json_t *v)
{
    assert_written_by(plain_add, JSON_COMPACT, v);
    assert_written_by(plain_add_blanks, 0, v);
}

static void
test_writing(void **state)
{
    static const char *const texts[] = {
        "[0,-1,9223372036854775807,-9223372036854775808,1000000000000000000,10]",
        "[true,false,null,[],{},[[]],{\"\":{}}]",
        "[\"\",\"a\\n\\t\\r\\b\\f\\\"\\\\/\\u0001\\u001f\\u007f\",\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9\"]",
        "{\"z\":1,\"a\":[1,2],\"\\n\\\"k\":{\"b\":\"\\u0000x\"},\"\xc3\xa9\":null}",
        "\"text\"",
        "17",
    };
    for (size_t i = 0; i < NELEMS(texts); i++) {
        json_auto_t *v = json_loads(texts[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        assert_non_null(v);
        assert_written(v);
    }
    json_auto_t *deep = json_pack("{s:s}", "end", "here");
    for (int i = 0; i < 2 * PLAIN_DEPTH; i++)
        deep = i % 2 == 0 ? json_pack("[o]", deep) : json_pack("{s:o}", "k", deep);
    assert_written(deep);
}

/* A number reads back as the same one, in as few digits as Python's repr() has, and is plain, so that a state's
 * duration leaves its return plain. */
static void
test_reals(void **state)
{
    static const struct {
        double d;
        const char *text;
    } known[] = {
        { 0.0, "0.0" },
        { -0.0, "-0.0" },
        { 0.074, "0.074" },
        { 1.005, "1.005" },
        { 1234567.89, "1234567.89" },
        { 999999999999.999, "999999999999.999" },
        { 1e12 + 0.001, "1000000000000.001" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1 / 3.0, "0.3333333333333333" },
        { 0.0005, "0.0005" },
        { 0.00012, "0.00012" },
        { 0.00001, "1e-05" },
        { 123456789012345680.0, "1.2345678901234568e+17" },
        { 1e15, "1000000000000000.0" },
        { 1e16, "1e+16" },
        { -1e-300, "-1e-300" },
        { 5e-324, "5e-324" },
        { 1.7976931348623157e308, "1.7976931348623157e+308" },
    };

    for (size_t i = 0; i < NELEMS(known); i++) {
        json_auto_t *v = json_real(known[i].d);
        AUTO_FREE char *text = value_dump(v);
        assert_string_equal(text, known[i].text);
        assert_true(strtod(text, NULL) == known[i].d);
    }
    for (int n = 0; n < 200000; n += n < 3000 ? 1 : 97) {
        AUTO_FREE char *digits = xasprintf("%d.%03d", n / 1000, n % 1000);
        json_auto_t *v = json_real(strtod(digits, NULL));
        AUTO_FREE char *text = value_dump(v);
        for (char *end = digits + strlen(digits) - 1; *end == '0' && end[-1] != '.'; end--)
            *end = '\0';
        assert_string_equal(text, digits);
        assert_true(is_plain(text));
    }
}

static void
test_no_utf8_is_not_written(void **state)
{
    buf_auto_t out = BUF_INIT;
    json_auto_t *v = json_pack("[s, o]", "fine", json_string_nocheck("\xff\xfe"));

    buf_puts(&out, "before");
    assert_int_equal(plain_add(v, &out), -EINVAL);
    assert_int_equal(out.len, strlen("before"));
    assert_string_equal(out.data, "before");
}

UNIT_MAIN(cmocka_unit_test(test_what_is_plain), cmocka_unit_test(test_what_is_not),
          cmocka_unit_test(test_bounds), cmocka_unit_test(test_repeated_keys), cmocka_unit_test(test_walk),
          cmocka_unit_test(test_writing), cmocka_unit_test(test_reals),
          cmocka_unit_test(test_no_utf8_is_not_written))
