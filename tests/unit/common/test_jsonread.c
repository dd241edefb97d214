/* test_jsonread.c - JSON is read as jansson reads it, what is none is refused with the place and the reason,
 * and a want of memory at any of its allocations is told and leaves nothing.
 */
#include "common/base/jsonread.h"

#include "common/base/buf.h"
#include "common/base/plainjson.h"
#include "salt/limits.h"
#include "unit/unit.h"

static json_t *
theirs(const char *text, size_t len)
{
    return json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

static void
test_as_jansson_reads(void **state)
{
    static const char *const texts[] = {
        " { \"a\" : [ 1 , -2 , 3.5 , true , false , null ] }\r\n\t",
        "\"\"",
        "{\"\":{},\"z\":[[],[[]]],\"a\":{\"z\":1}}",
        "[0,-0,-1,123456789012345678,-123456789012345678]",
        "[1234567890123456789,9223372036854775807,-9223372036854775808]",
        "[0.5,-0.5,-0.0,1e5,1E+5,1e-5,-1.5e300,1e-999,0.1234567890123456789,5e-324,1.7976931348623157e308]",
        "0."
        "100000000000000005551115123125782702118158340454101562500000000000000000000000000000000000000000000"
        "1",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\u0041\\u00e9\\u20ac\\uD83D\\uDCA9\\ud83d\\udca9 \\u0000 end\"",
        "\"\\u0041\"",
        "\"h\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9 \\u00e9 \x7f\"",
        "{\"\\u0061\\n\":1,\"b\\\"\":{\"\\u0061\\n\":2}}",
    };
    for (size_t i = 0; i < NELEMS(texts); i++) {
        json_bad_t bad;
        json_auto_t *ours = json_read(texts[i], strlen(texts[i]), &bad),
                    *same = theirs(texts[i], strlen(texts[i]));
        assert_non_null(same);
        assert_null(bad.why);
        assert_true(json_equal(ours, same));
        AUTO_FREE char *first = value_dump(ours), *second = value_dump(same);
        assert_string_equal(first, second);
    }
}

static void
test_refused(void **state)
{
    static const struct {
        const char *text, *why;
        size_t at;
    } rows[] = {
        { "", "it ends where a value is expected", 0 },
        { " ", "it ends where a value is expected", 1 },
        { "{", "a key in double quotes is expected", 1 },
        { "{\"a\"}", "a colon is expected after a key", 4 },
        { "{\"a\":}", "no value", 5 },
        { "{\"a\":", "it ends where a value is expected", 5 },
        { "{\"a\":1,}", "a key in double quotes is expected", 7 },
        { "{\"a\":1 \"b\":2}", "a comma or } is expected", 7 },
        { "{'a':1}", "a key in double quotes is expected", 1 },
        { "{\"a\":1,\"b\":2,\"a\":3}", "a key that comes twice", 13 },
        { "{\"a\":1,\"\\u0061\":3}", "a key that comes twice", 7 },
        { "{\"\\u0000\":1}", "a key with \\u0000", 1 },
        { "[1,]", "no value", 3 },
        { "[1 2]", "a comma or ] is expected", 3 },
        { "]", "no value", 0 },
        { "[] x", "more follows behind the value", 3 },
        { "1 2", "more follows behind the value", 2 },
        { "nul", "no value", 0 },
        { "nulls", "more follows behind the value", 4 },
        { "NaN", "no value", 0 },
        { "+1", "no value", 0 },
        { ".5", "no value", 0 },
        { "-", "a minus sign without a number", 1 },
        { "-x", "a minus sign without a number", 1 },
        { "01", "a number that begins with 0", 2 },
        { "1.", "a number without digits after its point", 2 },
        { "1.e5", "a number without digits after its point", 2 },
        { "1e+", "a number without digits in its exponent", 3 },
        { "9223372036854775808", "an integer that 64 bits do not hold", 19 },
        { "-9223372036854775809", "an integer that 64 bits do not hold", 20 },
        { "1e999", "a number that is too large", 5 },
        { "\"", "a string without its closing quote", 1 },
        { "\"\\\"", "a string without its closing quote", 3 },
        { "\"\\", "a string without its closing quote", 2 },
        { "\"a\x01\"", "a control character in a string must be escaped", 2 },
        { "\"\\x\"", "an escape that JSON does not have", 2 },
        { "\"\\u12g4\"", "four hexadecimal digits are expected after \\u", 3 },
        { "\"\\u123\"", "four hexadecimal digits are expected after \\u", 3 },
        { "\"\\ud800\"", "half of a surrogate pair", 7 },
        { "\"\\udc00\"", "half of a surrogate pair", 7 },
        { "\"\\ud800\\u0041\"", "half of a surrogate pair", 7 },
        { "\"\\ud800\\ud800\"", "half of a surrogate pair", 7 },
        { "\"\xff\"", "a string that is not UTF-8", 2 },
        { "\"\xed\xa0\x80\"", "a string that is not UTF-8", 4 },
        { "\"\xc3\"", "a string that is not UTF-8", 2 },
    };
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_bad_t bad;
        json_auto_t *v = json_read(rows[i].text, strlen(rows[i].text), &bad);
        assert_null(v);
        assert_string_equal(bad.why, rows[i].why);
        assert_int_equal(bad.at, rows[i].at);
        assert_null(theirs(rows[i].text, strlen(rows[i].text)));
    }
}

/* The bytes end where the caller says. */
static void
test_cut(void **state)
{
    static const char text[] = "{\"key\\u00e9\":[1.5,true,\"\\ud83d\\udca9\",-17,null]}";
    json_bad_t bad;

    for (size_t len = 0; len < sizeof(text) - 1; len++) {
        AUTO_FREE char *exact = malloc(len + (len == 0)); /* for a sanitizer's eyes */
        assert_non_null(exact);
        memcpy(exact, text, len);
        assert_null(json_read(exact, len, &bad));
        assert_true(bad.why != NULL && bad.at <= len);
    }
    json_auto_t *zero = json_read("0x10", 1, &bad), *nul = json_read("[1]\0", 4, &bad);
    assert_int_equal(json_integer_value(zero), 0);
    assert_null(nul);
}

static json_t *
nested(int depth, json_bad_t *ret_bad)
{
    buf_auto_t text = BUF_INIT;

    buf_fill(&text, '[', (size_t) depth);
    buf_fill(&text, ']', (size_t) depth);
    return json_read(buf_str(&text), text.len, ret_bad);
}

static void
test_depth(void **state)
{
    json_bad_t bad;
    json_auto_t *most = nested(LIMIT_JSON_DEPTH, &bad);

    assert_non_null(most);
    assert_null(nested(LIMIT_JSON_DEPTH + 1, &bad));
    assert_string_equal(bad.why, "nested deeper than the 512 levels allowed");
    assert_int_equal(bad.at, LIMIT_JSON_DEPTH);
}

/* What our processes tell each other may hold what a peer may send. */
static void
test_depth_of_frames(void **state)
{
    json_bad_t bad;
    buf_auto_t text = BUF_INIT;

    buf_fill(&text, '[', LIMIT_FRAME_DEPTH);
    buf_fill(&text, ']', LIMIT_FRAME_DEPTH);
    json_auto_t *most = json_read_frame(buf_str(&text), text.len, &bad);
    assert_non_null(most);
    assert_true(value_nests(most, LIMIT_FRAME_DEPTH));
    assert_false(value_nests(most, LIMIT_FRAME_DEPTH - 1));
    buf_clear(&text);
    buf_fill(&text, '[', LIMIT_FRAME_DEPTH + 1);
    buf_fill(&text, ']', LIMIT_FRAME_DEPTH + 1);
    assert_null(json_read_frame(buf_str(&text), text.len, &bad));
    assert_string_equal(bad.why, "nested deeper than the 544 levels allowed");
}

/* The reader of spans has a bound for keys; values have none. */
static void
test_many_keys(void **state)
{
    buf_auto_t text = BUF_INIT;
    json_bad_t bad;

    for (int i = 0; i <= PLAIN_KEYS; i++)
        buf_printf(&text, "%c\"k%d\":1", i == 0 ? '{' : ',', i);
    buf_putc(&text, '}');
    json_auto_t *v = json_read(buf_str(&text), text.len, &bad);
    assert_int_equal(json_object_size(v), PLAIN_KEYS + 1);
}

static int left; /* allocations until one fails */
static int held;

static void *
few(size_t n)
{
    if (left-- == 0)
        return NULL;
    held++;
    return malloc(n);
}

static void
give(void *p)
{
    held -= p != NULL;
    free(p);
}

static void
test_no_memory(void **state)
{
    static const char text[] =
        "{\"a\":[1,2.5,\"x\",1e5,[],[[1,2,3,4,5,6,7,8,9]]],\"\\u0062\":{\"c\":\"\\u0064\"},"
        "\"1\":1,\"2\":2,\"3\":3,\"4\":4,\"5\":5,\"6\":6,\"7\":7,\"8\":8,\"9\":9}";
    json_bad_t bad;
    int n = 0;

    json_set_alloc_funcs(few, give);
    for (;; n++) {
        left = n;
        json_t *v = json_read(text, sizeof(text) - 1, &bad);
        bool all = left >= 0;
        assert_null(bad.why);
        assert_int_equal(v != NULL, all);
        left = -1;
        json_decref(v);
        assert_int_equal(held, 0);
        if (all)
            break;
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(n > 40);
}

/* Of what is not JSON too: values are made before a reader comes to where it is none. */
static void
test_few(void **state)
{
    static const struct {
        const char *text;
        size_t most;
    } rows[] = { { "[1,2,3,4,5,6,7]", 8 },
                 { "{\"a\":1,\"b\":[{\"c\":2}]}", 5 },
                 { "[\"1,2,3,4\",\"[[\\\",[[\"]", 3 },
                 { "[[[[[[[[[[[[[[  ", 15 },
                 { "[\"a,b,c\",1,2,\"[[[[[[", 5 } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        assert_true(json_few(rows[i].text, strlen(rows[i].text), rows[i].most));
        assert_false(json_few(rows[i].text, strlen(rows[i].text), rows[i].most - 1));
    }
}

UNIT_MAIN(cmocka_unit_test(test_as_jansson_reads), cmocka_unit_test(test_refused), cmocka_unit_test(test_cut),
          cmocka_unit_test(test_depth), cmocka_unit_test(test_depth_of_frames),
          cmocka_unit_test(test_many_keys), cmocka_unit_test(test_no_memory), cmocka_unit_test(test_few))
