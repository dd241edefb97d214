/* test_prog.c - argument vectors, environment, output and the splitting of lines. */
#include "unit/unit.h"

#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/str.h"
#include "salt/value.h"

static void
test_run_all(void **state)
{
    prog_auto_t cmd = PROG_INIT;
    prog_adds(&cmd, "/bin/sh", "-c", "echo \"$LC_ALL $X\"; echo oops >&2; exit 3", NULL);
    prog_env(&cmd, "X=a b");
    json_auto_t *ret = prog_run_all(&cmd, NULL);

    assert_string_equal(value_str(ret, "stdout", ""), "C a b");
    assert_string_equal(value_str(ret, "stderr", ""), "oops");
    assert_int_equal(value_int(ret, "retcode", 0), 3);
    assert_int_equal(prog_retcode(&cmd, NULL), 3);
}

static void
test_words_are_never_a_shell(void **state)
{
    prog_auto_t cmd = PROG_INIT;
    json_auto_t *words = json_pack("[s, i, b]", "a; touch /nonexistent/x", 5, 1);
    int code = -1;

    prog_add(&cmd, "printf");
    prog_addf(&cmd, "%s", "[%s]");
    prog_add_json(&cmd, words);
    AUTO_FREE char *text = prog_stdout(&cmd, &code, NULL);
    assert_string_equal(text, "[a; touch /nonexistent/x][5][True]");
    assert_int_equal(code, 0);
}

static void
test_missing_program(void **state)
{
    fail_auto_t err = FAIL_INIT;
    prog_auto_t cmd = PROG_INIT;

    prog_add(&cmd, "no-such-program-here");
    assert_null(prog_run_all(&cmd, &err));
    assert_int_equal(err.code, -ENOENT);
}

/* Our folder may be one that the other user can't enter: git refuses to run there. */
static void
test_another_user_does_not_stay_in_our_folder(void **state)
{
    (void) state;
    static const struct {
        const char *run_as, *cwd, *is;
    } rows[] = { { "nobody", NULL, "/" }, { "nobody", "/usr", "/usr" }, { NULL, "/usr", "/usr" } };

    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < NELEMS(rows); i++) {
        prog_auto_t cmd = PROG_INIT;
        prog_adds(&cmd, "/bin/pwd", "-P", NULL);
        cmd.run_as = rows[i].run_as;
        cmd.cwd = rows[i].cwd;
        AUTO_FREE char *text = prog_stdout(&cmd, NULL, NULL);
        assert_string_equal(text, rows[i].is);
    }
}

/* A word from a value is not an option; a value behind an option is one word. */
static void
test_operands(void **state)
{
    prog_auto_t cmd = PROG_INIT;
    json_auto_t *good = json_pack("[s, s, i]", "a-b", "-", 5), *bad = json_pack("[s, i]", "a", -1);
    json_auto_t *one = json_string("x"), *list = json_pack("[s, s]", "a", "-b");
    fail_auto_t dash = FAIL_INIT, number = FAIL_INIT, secret = FAIL_INIT;

    prog_add(&cmd, "program");
    assert_int_equal(prog_operands(&cmd, "names", good, NULL), 0);
    assert_int_equal(prog_operands(&cmd, "names", one, NULL), 0);
    assert_int_equal(prog_operand(&cmd, "name", "", NULL), 0);
    assert_int_equal(prog_operand(&cmd, "rev", "--exec=x", &dash), -EINVAL);
    assert_int_equal(dash.kind, FAIL_INVOCATION);
    assert_string_equal(
        fail_text(&dash),
        "rev: '--exec=x' begins with \"-\", so that a program would take it for an option; give "
        "another value, or a file's name with its folder: ./-NAME");
    assert_int_equal(prog_operands(&cmd, "names", bad, &number), -EINVAL);
    assert_non_null(strstr(fail_text(&number), "names: '-1' begins"));
    assert_int_equal(prog_operand(&cmd, "url", "-uhttp://me:secret@host", &secret), -EINVAL);
    assert_null(strstr(fail_text(&secret), "secret"));
    prog_add_option(&cmd, "-o", list);
    static const char *const words[] = { "program", "a-b", "-", "5", "x", "", "-o", "['a', '-b']" };
    assert_int_equal(cmd.n, NELEMS(words));
    for (size_t i = 0; i < cmd.n; i++)
        assert_string_equal(cmd.argv[i], words[i]);
}

static void
test_split(void **state)
{
    static const struct {
        const char *line, *words[5];
    } rows[] = {
        { "", { NULL } },
        { " a  b ", { "a", "b", NULL } },
        { "'a b' \"c d\"e", { "a b", "c de", NULL } },
        { "a\\ b \"x\\\"y\\z\" ''", { "a b", "x\"y\\z", "", NULL } },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        char **words = prog_split(rows[i].line, NULL);
        size_t n = strv_len(words);
        for (size_t k = 0; k < n; k++)
            assert_string_equal(words[k], rows[i].words[k]);
        assert_null(rows[i].words[n]);
        strv_free(words);
    }
}

static void
test_split_unfinished(void **state)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(prog_split("a 'b", &err));
    assert_string_equal(fail_text(&err), "No closing quotation");
}

UNIT_MAIN(cmocka_unit_test(test_run_all), cmocka_unit_test(test_words_are_never_a_shell),
          cmocka_unit_test(test_missing_program),
          cmocka_unit_test(test_another_user_does_not_stay_in_our_folder), cmocka_unit_test(test_operands),
          cmocka_unit_test(test_split), cmocka_unit_test(test_split_unfinished))
