/* test_optparse.c - command lines and help: tests/cases/optparse holds what Python's optparse answers for the
 * same table. */
#include "unit/unit.h"

#include <unistd.h>

#include "cli/opts.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/cli/optparse.h"
#include "common/cli/versions.h"
#include "master/opts.h"
#include "minion/opts.h"
#include "salt/limits.h"
#include "salt/value.h"

/* One row of each kind, and texts that are hard to wrap. */
static const opt_row_t plain[] = {
    { "--version", OPT_VERSION, .help = "Version." },
    { "-V --versions-report", OPT_VERSIONS_REPORT, .help = "More than the version of %prog." },
    { "-h --help", OPT_HELP, .help = "This." },
    { "-v --verbose", OPT_COUNT,
      .help = "Say more; say it twice, say still more-than-enough of well-known x-y-z things." },
    { "-q", OPT_FLAG, .help = "Quiet." },
    { "--keep", OPT_FLAG, .help = "Keep it." },
    { "--keep-all --keepall", OPT_FLAG, .dest = "everything",
      .help = "Keep all of it -- really--all of it---always." },
    { "--no-wait", OPT_UNFLAG, .dest = "wait",
      .help = "Do not wait for a-long-time-that-has-no-end-and-no-blank-anywhere-in-it." },
    { "--hidden", OPT_FLAG, .help = NULL },
    OPT_ROW_END
};

static const opt_row_t values[] = {
    { "-t --timeout", OPT_INT, .help = "Seconds." },
    { "--ratio", OPT_FLOAT, .metavar = "R", .help = "A number such as 0.5 (or 1e-3)." },
    { "-n --name --user-name", OPT_STR, .help = "A name, for example 'web-1.example.org' or \"db-2\"." },
    { "Groups", OPT_GROUP,
      .help = "A group of options has a headline, and a text that may be longer than one line of the help." },
    { "--sure", OPT_BOOL, .help = "True or False." },
    { "-x --exclude", OPT_LIST, .metavar = "NAME,NAME,...", .help = "Left out." },
    { "-l --level", OPT_STR, .dest = "log_level", .choices = "low|middle|high",
      .help = "One of 'low', 'middle' and 'high'." },
    { "Bare group", OPT_GROUP, .help = NULL },
    { "-E --pcre", OPT_FLAG, .dest = "kind", .value = "pcre", .help = "Expressions." },
    { "-L --list", OPT_FLAG, .dest = "kind", .value = "list", .help = "Lists." },
    OPT_ROW_END
};

static const opt_row_t *const tables[] = { plain, values, opt_arguments, NULL };
static const opt_spec_t spec = {
    .prog = "prog",
    .usage = "%prog [options] thing...",
    .description =
        "A program that does nothing but stands here with a description of more than one line of text.",
    .tables = tables,
    .interspersed = true,
};

/* ---- running --------------------------------------------------------------------------------- */

/* Standard streams as files, put back by restore(). */
typedef struct streams {
    FILE *files[3];
    int kept[3];
} streams_t;

static void
redirect(streams_t *s, const char *in)
{
    (void) fflush(NULL);
    for (int fd = 0; fd < 3; fd++) {
        s->kept[fd] = dup(fd);
        s->files[fd] = tmpfile();
        assert_non_null(s->files[fd]);
        if (fd == STDIN_FILENO)
            assert_int_equal(fs_write_all(fileno(s->files[fd]), in, strlen(in)), 0);
        assert_int_equal(lseek(fileno(s->files[fd]), 0, SEEK_SET), 0);
        assert_int_equal(dup2(fileno(s->files[fd]), fd), fd);
    }
    rewind(stdin);
}

/* NEW text of stdout and stderr. */
static void
restore(streams_t *s, char **out, char **err)
{
    char **const texts[] = { NULL, out, err };

    (void) fflush(NULL);
    for (int fd = 0; fd < 3; fd++) {
        buf_auto_t text = BUF_INIT;
        char chunk[BUFSIZ];
        ssize_t n;
        assert_int_equal(dup2(s->kept[fd], fd), fd);
        close(s->kept[fd]);
        assert_int_equal(lseek(fileno(s->files[fd]), 0, SEEK_SET), 0);
        while ((n = read(fileno(s->files[fd]), chunk, sizeof(chunk))) > 0)
            buf_add(&text, chunk, (size_t) n);
        if (texts[fd] != NULL)
            *texts[fd] = buf_steal(&text);
        (void) fclose(s->files[fd]);
    }
}

static int
run(const opt_spec_t *program, const json_t *args, const char *in, opt_result_t *res, char **out, char **err)
{
    size_t n = json_array_size(args);
    AUTO_FREE char **argv = xcalloc(n + 2, sizeof(char *));
    AUTO_FREE char *name = xstrdup(program->prog);
    json_auto_t *copies = json_deep_copy(args);
    streams_t streams;

    argv[0] = name;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = (char *) json_string_value(json_array_get(copies, i));
    redirect(&streams, in);
    int rc = optparse_run(program, (int) n + 1, argv, res);
    restore(&streams, out, err);
    return rc;
}

static void
check_result(const json_t *row, const opt_result_t *res)
{
    json_auto_t *args = json_array();

    for (size_t i = 0; i < res->n_args; i++)
        (void) json_array_append_new(args, json_string(res->args[i]));
    assert_null(res->args[res->n_args]);
    json_auto_t *got = json_pack("{s:O, s:O}", "values", res->values, "args", args);
    json_auto_t *expected = json_pack("{s:O, s:O}", "values", value_get(row, "values"), "args",
                                      value_get(row, "rest"));
    if (!json_equal(got, expected)) {
        AUTO_FREE char *given = value_dump(value_get(row, "args")), *a = value_dump(expected),
                       *b = value_dump(got);
        fail_msg("%s: expected %s, got %s", given, a, b);
    }
}

static void
check_line(const json_t *row)
{
    const char *error = value_str(row, "error", NULL);
    AUTO_FREE char *out = NULL, *err = NULL;
    opt_result_t res;
    int rc = run(&spec, value_get(row, "args"), value_str(row, "stdin", ""), &res, &out, &err);

    if (error != NULL) {
        AUTO_FREE char *expected = xasprintf("Usage: prog [options] thing...\n\nprog: error: %s\n", error);
        assert_string_equal(err, expected);
        assert_int_equal(rc, 64);
    } else {
        assert_string_equal(err, "");
        assert_int_equal(rc, -1);
        check_result(row, &res);
    }
    assert_string_equal(out, "");
    opt_result_free(&res);
}

static void
test_lines(void **state)
{
    json_error_t error;
    json_auto_t *cases = json_load_file(TEST_SOURCE_DIR "/tests/cases/optparse/lines.json", 0, &error);
    size_t i;
    json_t *row;

    if (cases == NULL)
        fail_msg("lines.json:%d: %s", error.line, error.text);
    json_array_foreach (cases, i, row)
        check_line(row);
}

/* ---- help and versions ----------------------------------------------------------------------- */

static void
test_help(void **state)
{
    static const int widths[] = { 28, 48, 78, 118 };

    for (size_t i = 0; i < NELEMS(widths); i++) {
        AUTO_FREE char *path = xasprintf("%s/tests/cases/optparse/help_%d.txt", TEST_SOURCE_DIR, widths[i]);
        buf_auto_t expected = BUF_INIT, out = BUF_INIT;
        assert_int_equal(fs_read(path, LIMIT_CONF_FILE, &expected, NULL), 0);
        optparse_help(&spec, widths[i], &out);
        assert_string_equal(out.data, expected.data);
    }
}

static int
run_one(const opt_spec_t *program, const char *arg, char **out)
{
    AUTO_FREE char *err = NULL;
    json_auto_t *args = json_pack("[s]", arg);
    opt_result_t res;
    int rc = run(program, args, "", &res, out, &err);

    opt_result_free(&res);
    assert_string_equal(err, "");
    return rc;
}

static const opt_spec_t *const programs[] = { &opts_salt, &opts_run,    &opts_key,
                                              &opts_call, &opts_minion, &opts_master };

static void
test_programs(void **state)
{
    for (size_t i = 0; i < NELEMS(programs); i++) {
        AUTO_FREE char *help = NULL, *version = NULL, *report = NULL;
        AUTO_FREE char *expected = xasprintf("%s %s\n", programs[i]->prog,
                                             HALITE_VERSION " (Halite " HALITE_RELEASE ")");
        assert_int_equal(run_one(programs[i], "--version", &version), 0);
        assert_string_equal(version, expected);
        assert_int_equal(run_one(programs[i], "-V", &report), 0);
        assert_true(str_starts(report, "Salt Version:\n        Halite: " HALITE_RELEASE
                                       "\n          Salt: " HALITE_VERSION "\n \n"));
        assert_non_null(strstr(report, "\n       jansson: "));
        assert_int_equal(run_one(programs[i], "-h", &help), 0);
        assert_true(str_starts(help, "Usage: "));
        for (const char *line = help; *line != '\0'; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= 78);
    }
}

/* No two rows of a program may have a name in common. */
static void
test_names_differ(void **state)
{
    for (size_t i = 0; i < NELEMS(programs); i++) {
        json_auto_t *seen = json_object();
        for (size_t t = 0; programs[i]->tables[t] != NULL; t++) {
            for (const opt_row_t *row = programs[i]->tables[t]; row->names != NULL; row++) {
                char **names = str_split(row->kind == OPT_GROUP ? "" : row->names, " ", true);
                for (size_t n = 0; names[n] != NULL; n++) {
                    if (json_object_get(seen, names[n]) != NULL)
                        fail_msg("%s: %s twice", programs[i]->prog, names[n]);
                    (void) json_object_set_new(seen, names[n], json_true());
                }
                strv_free(names);
            }
        }
    }
}

static void
test_fixed_order(void **state)
{
    opt_spec_t fixed = spec;
    json_auto_t *args = json_pack("[s, s, s]", "-q", "run", "-x");
    AUTO_FREE char *out = NULL, *err = NULL;
    opt_result_t res;

    fixed.interspersed = false;
    assert_int_equal(run(&fixed, args, "", &res, &out, &err), -1);
    assert_int_equal(res.n_args, 2);
    assert_string_equal(res.args[1], "-x");
    opt_result_free(&res);
    opt_result_free(&res);
}

UNIT_MAIN(cmocka_unit_test(test_lines), cmocka_unit_test(test_help), cmocka_unit_test(test_programs),
          cmocka_unit_test(test_names_differ), cmocka_unit_test(test_fixed_order))
