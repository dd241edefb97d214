/* request.h and the other pure decisions of the salt command: batch sizes, outputters, colours, exit codes.
 */
#include "unit/unit.h"

#include "cli/cmd.h"
#include "cli/request.h"
#include "cli/run.h"
#include "common/output/suited.h"
#include "salt/value.h"

static void
expect_json(const json_t *got, const char *want)
{
    AUTO_FREE char *text = value_dump(got);

    assert_string_equal(text, want);
}

/* `words` are separated by blanks. */
static int
build(const char *values, const char *words, json_t **ret, fail_t *err)
{
    json_auto_t *given = json_loads(values, 0, NULL);
    AUTO_FREE char *copy = xstrdup(words);
    char *list[16], *save = NULL;
    size_t n = 0;

    for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
        list[n++] = w;
    list[n] = NULL;
    return request_build(given, list, n, ret, err);
}

static void
test_build(void **state)
{
    static const struct {
        const char *values, *words, *want;
    } cases[] = {
        { "{}", "* test.ping", "{\"tgt\":\"*\",\"tgt_type\":\"glob\",\"fun\":\"test.ping\",\"arg\":[]}" },
        { "{\"tgt_type\": \"list\"}", "a,b,,c f.g",
          "{\"tgt\":[\"a\",\"b\",\"c\"],\"tgt_type\":\"list\",\"fun\":\"f.g\",\"arg\":[]}" },
        { "{}", "m f.g 1 k=2",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":\"f.g\",\"arg\":[1,{\"__kwarg__\":true,\"k\":2}]}" },
        { "{\"no_parse\": [\"k\"]}", "m f.g k=2",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":\"f.g\",\"arg\":[{\"__kwarg__\":true,\"k\":\"2\"}]"
          "}" },
        { "{}", "m a.b,c.d x,y",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":[\"a.b\",\"c.d\"],\"arg\":[[\"x\"],[\"y\"]]}" },
        { "{\"doc\": true}", "", "{\"tgt\":\"*\",\"tgt_type\":\"glob\",\"fun\":\"sys.doc\",\"arg\":[]}" },
        { "{\"doc\": true}", "m test",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":\"sys.doc\",\"arg\":[\"test\"]}" },
        { "{\"doc\": true}", "m sys.doc test",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":\"sys.doc\",\"arg\":[\"test\"]}" },
        { "{\"metadata\": \"{a: 1}\"}", "m f.g",
          "{\"tgt\":\"m\",\"tgt_type\":\"glob\",\"fun\":\"f.g\",\"arg\":[],\"metadata\":{\"a\":1}}" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *request = NULL;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(build(cases[i].values, cases[i].words, &request, &err), 0);
        expect_json(request, cases[i].want);
    }
}

static void
test_build_refuses(void **state)
{
    static const struct {
        const char *values, *words;
        int rc;
        const char *text;
    } cases[] = {
        { "{}", "", 42, "\nCannot execute command without defining a target.\n\n" },
        { "{}", "*", 42, "\nIncomplete options passed.\n\n" },
        { "{}", "* a.b,c.d x", 42, "Cannot execute compound command without defining all arguments.\n" },
        { "{}", "* a.b,c.d x,y,z", 42,
          "Cannot execute compound command with more arguments than commands.\n" },
        { "{\"doc\": true}", "* a b", 64, "You can only get documentation for one method at one time." },
        { "{\"args_separator\": \"\"}", "* a.b,c.d x", 64, "option --args-separator: must not be empty" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *request = NULL;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(build(cases[i].values, cases[i].words, &request, &err), cases[i].rc);
        assert_string_equal(fail_text(&err), cases[i].text);
        assert_null(request);
    }
}

/* Expectations: what Salt's SaltCMDOptionParser makes of the same words. */
static void
test_split(void **state)
{
    static const struct {
        const char *words[6], *separator;
        size_t n_funs;
        const char *want;
    } cases[] = {
        { { ",hello" }, ",", 2, "[[],[\"hello\"]]" },
        { { "hello," }, ",", 2, "[[\"hello\"],[]]" },
        { { "a", ",", "b" }, ",", 2, "[[\"a\"],[\"b\"]]" },
        { { "a,b", ",", "c" }, ",", 2, "[[\"a,b\"],[\"c\"]]" },
        { { ",", "," }, ",", 3, "[[],[],[]]" },
        { { "a", "b,c", "d" }, ",", 2, "[[\"a\",\"b\"],[\"c\",\"d\"]]" },
        { { "a,", "b", ",c" }, ",", 3, "[[\"a\"],[\"b\"],[\"c\"]]" },
        { { "", "," }, ",", 2, "[[\"\"],[]]" },
        { { "a,b::c" }, "::", 2, "[[\"a,b\"],[\"c\"]]" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *groups = NULL;
        size_t n = 0;
        while (cases[i].words[n] != NULL)
            n++;
        assert_int_equal(request_split((char *const *) cases[i].words, n, cases[i].separator, cases[i].n_funs,
                                       &groups, NULL),
                         0);
        expect_json(groups, cases[i].want);
    }
}

/* Expectations: salt.output.get_printout. */
static void
test_choose(void **state)
{
    assert_string_equal(show_choose(NULL, NULL, NULL), "nested");
    assert_string_equal(show_choose("json", "highstate", NULL), "json");
    assert_string_equal(show_choose("highstate", NULL, NULL), "nested");
    assert_string_equal(show_choose("highstate", "no_return", NULL), "no_return");
    assert_string_equal(show_choose(NULL, "highstate", NULL), "highstate");
    assert_string_equal(show_choose(NULL, NULL, "state.apply"), "highstate");
    assert_string_equal(show_choose("highstate", NULL, "test.ping"), "highstate");
    assert_string_equal(show_choose(NULL, NULL, "test.ping"), "nested");
    assert_string_equal(output_suited("state.sls"), "highstate");
    assert_null(output_suited("state.show_sls"));
}

static void
test_colour(void **state)
{
    json_auto_t *yes = json_true(), *no = json_false();

    assert_true(show_wants_colour(true, true, no, "1", false));
    assert_false(show_wants_colour(false, true, yes, NULL, true));
    assert_false(show_wants_colour(false, false, yes, "1", true));
    assert_true(show_wants_colour(false, false, yes, "", false));
    assert_false(show_wants_colour(false, false, no, NULL, true));
    assert_true(show_wants_colour(false, false, NULL, NULL, true));
    assert_false(show_wants_colour(false, false, NULL, NULL, false));
}

static void
test_retcodes(void **state)
{
    static const struct {
        const char *push;
        int cmd, run;
    } cases[] = {
        { "{\"return\": 1}", 0, 0 },
        { "{\"return\": 1, \"retcode\": 3}", 3, 3 },
        { "{\"return\": 1, \"retcode\": {\"a\": 1, \"b\": 7, \"c\": 0}}", 7, 0 },
        { "{\"return\": 1, \"retcode\": true}", 1, 0 },
        { "{\"return\": \"x\", \"retcode\": 0, \"failed\": true}", 0, 1 },
        { "{\"return\": {\"retcode\": 0}, \"retcode\": 5}", 5, 0 },
        { "{\"return\": {\"data\": {\"retcode\": 4}}, \"retcode\": 0}", 0, 4 },
        { "{\"return\": {\"retcode\": \"odd\"}, \"retcode\": 2}", 2, 2 },
        { "{\"return\": 1, \"retcode\": 256}", 256,
          1 }, /* a program that ends with it has none for a shell */
        { "{\"return\": {\"retcode\": 512}, \"retcode\": 0}", 0, 1 },
        { "{\"return\": 1, \"retcode\": 4294967296}", 1, 1 },
        { "{\"return\": 1, \"retcode\": -15}", -15, 241 },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *push = json_loads(cases[i].push, 0, NULL);
        assert_int_equal(cmd_retcode(push), cases[i].cmd);
        assert_int_equal(run_exit_code(push), cases[i].run);
    }
}

static void
test_unwrap(void **state)
{
    static const struct {
        const char *value, *shown, *out;
    } cases[] = {
        { "{\"data\":1,\"outputter\":\"highstate\"}", "1", "highstate" },
        { "{\"data\":1,\"outputter\":\"highstate\",\"retcode\":0}",
          "{\"data\":1,\"outputter\":\"highstate\",\"retcode\":0}", "highstate" },
        { "{\"data\":1}", "{\"data\":1}", NULL },
        { "[1]", "[1]", NULL },
        { "\"data\"", "\"data\"", NULL },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *value = json_loads(cases[i].value, JSON_DECODE_ANY, NULL);
        const char *out;
        expect_json(run_unwrap(value, &out), cases[i].shown);
        if (cases[i].out == NULL)
            assert_null(out);
        else
            assert_string_equal(out, cases[i].out);
    }
}

static void
test_docs_of(void **state)
{
    json_auto_t *docs = json_pack("{s:s, s:s, s:s}", "a.b", "1", "a.bc", "2", "ab.c", "3");
    static const char *const cases[][2] = {
        { "", "{\"a.b\":\"1\",\"a.bc\":\"2\",\"ab.c\":\"3\"}" },
        { "a", "{\"a.b\":\"1\",\"a.bc\":\"2\"}" },
        { "a.", "{\"a.b\":\"1\",\"a.bc\":\"2\"}" },
        { "a.b", "{\"a.b\":\"1\"}" },
        { "b", "{}" },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        json_auto_t *found = run_docs_of(docs, cases[i][0]);
        expect_json(found, cases[i][1]);
    }
}

UNIT_MAIN(cmocka_unit_test(test_build), cmocka_unit_test(test_build_refuses), cmocka_unit_test(test_split),
          cmocka_unit_test(test_choose), cmocka_unit_test(test_colour), cmocka_unit_test(test_retcodes),
          cmocka_unit_test(test_unwrap), cmocka_unit_test(test_docs_of))
