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
          cmocka_unit_test(test_another_user_does_not_stay_in_our_folder), cmocka_unit_test(test_split),
          cmocka_unit_test(test_split_unfinished))
