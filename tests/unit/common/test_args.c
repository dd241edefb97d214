/* test_args.c - words of a command line against answers recorded from Salt 3006. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
assert_json(const json_t *got, const char *want)
{
    AUTO_FREE char *text = value_dump(got);

    assert_string_equal(text, want);
}

/* Literals are constant, argv is not. */
static json_t *
parse(const char *const *words, size_t n, const json_t *no_parse)
{
    return args_parse((char *const *) words, n, no_parse);
}

static void
test_recorded_words(void **state)
{
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *c;

    assert_int_equal(fs_read(TEST_SOURCE_DIR "/tests/cases/args/words.json", LIMIT_FILE_READ, &text, NULL),
                     0);
    json_auto_t *cases = json_loadb(buf_str(&text), text.len, 0, NULL);
    assert_true(json_array_size(cases) > 100);
    json_array_foreach (cases, i, c) {
        AUTO_FREE char *word = xstrdup(value_str(c, "word", ""));
        json_auto_t *got = args_parse(&word, 1, NULL);
        AUTO_FREE char *a = value_dump(value_get(c, "args")), *b = value_dump(got);
        if (!str_eq(a, b))
            fail_msg("'%s': expected %s, got %s", word, a, b);
    }
}

static void
test_command_line(void **state)
{
    const char *words[] = { "1",    "1.5",  "true", "None", "[1, 2]", "{a: 1}", "2001-01-01",
                            "a: b", "0x10", "010",  "k=v",  "n=3",    "l=[a,b]" };
    json_auto_t *got = parse(words, NELEMS(words), NULL);

    assert_json(got, "[1,1.5,true,null,[1,2],{\"a\":1},\"2001-01-01\",\"a: b\",16,10,"
                     "{\"__kwarg__\":true,\"k\":\"v\",\"n\":3,\"l\":[\"a\",\"b\"]}]");
}

static void
test_no_words(void **state)
{
    json_auto_t *got = args_parse(NULL, 0, NULL);

    assert_json(got, "[]");
}

static void
test_no_parse(void **state)
{
    const char *words[] = { "k=5", "n=5" };
    json_auto_t *no_parse = json_pack("[s]", "k");
    json_auto_t *got = parse(words, NELEMS(words), no_parse);

    assert_json(got, "[{\"__kwarg__\":true,\"k\":\"5\",\"n\":5}]");
}

static void
test_last_keyword_wins(void **state)
{
    const char *words[] = { "k=1", "x", "k=2" };
    json_auto_t *got = parse(words, NELEMS(words), NULL);

    assert_json(got, "[\"x\",{\"__kwarg__\":true,\"k\":2}]");
}

/* The mark is ours: a user's __kwarg__=False must not turn keywords into a positional mapping. */
static void
test_mark_is_not_set_by_words(void **state)
{
    const char *words[] = { "__kwarg__=False", "k=1" };
    json_auto_t *got = parse(words, NELEMS(words), NULL);

    assert_json(got, "[{\"__kwarg__\":true,\"k\":1}]");
}

static void
test_split(void **state)
{
    const char *words[] = { "a", "k=1", "{b: 2}" };
    json_auto_t *list = parse(words, NELEMS(words), NULL);
    json_t *args, *kwargs;

    args_split(list, &args, &kwargs);
    assert_json(args, "[\"a\",{\"b\":2}]");
    assert_json(kwargs, "{\"k\":1}");
    assert_int_equal(json_array_size(list), 3);
    json_decref(args);
    json_decref(kwargs);
    args_split(NULL, &args, &kwargs);
    assert_json(args, "[]");
    assert_json(kwargs, "{}");
    json_decref(args);
    json_decref(kwargs);
}

static void
test_broken_utf8(void **state)
{
    const char *words[] = { "a\xff", "k=\xff", "\xff=1" };
    json_auto_t *got = parse(words, NELEMS(words), NULL);

    assert_json(got, "[\"a\xef\xbf\xbd\",\"\xef\xbf\xbd=1\",{\"__kwarg__\":true,\"k\":\"\xef\xbf\xbd\"}]");
}

static void
test_deep_word(void **state)
{
    buf_auto_t word = BUF_INIT;

    buf_fill(&word, '[', 5000);
    buf_fill(&word, ']', 5000);
    json_auto_t *got = arg_type_word(buf_str(&word));
    assert_string_equal(json_string_value(got), buf_str(&word));
}

static void
test_shown(void **state)
{
    json_auto_t *arg = json_loads("[1, {\"__kwarg__\": true, \"k\": [2]}]", 0, NULL);
    json_auto_t *several = json_pack("[O, []]", arg);
    json_auto_t *one = args_shown(arg), *many = args_shown(several), *none = args_shown(NULL);
    assert_json(one, "[1,{\"k\":[2]}]");
    assert_json(many, "[[1,{\"k\":[2]}],[]]");
    assert_null(none);
    assert_json(arg, "[1,{\"__kwarg__\":true,\"k\":[2]}]");
}

UNIT_MAIN(cmocka_unit_test(test_shown), cmocka_unit_test(test_recorded_words),
          cmocka_unit_test(test_command_line), cmocka_unit_test(test_no_words),
          cmocka_unit_test(test_no_parse), cmocka_unit_test(test_last_keyword_wins),
          cmocka_unit_test(test_mark_is_not_set_by_words), cmocka_unit_test(test_split),
          cmocka_unit_test(test_broken_utf8), cmocka_unit_test(test_deep_word))
