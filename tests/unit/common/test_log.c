/* test_log.c - a line's form, name and level. */
#include "unit/unit.h"

#include <fcntl.h>
#include <glob.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/logfmt.h"
#include "common/base/logname.h"
#include "common/base/str.h"
#include "salt/log.h"

static const log_record_t record = { .wall_us = 1763632800012345, /* 2025-11-20 10:00:00 UTC */
                                     .level = "warning",
                                     .levelname = "WARNING",
                                     .levelno = 30,
                                     .level_colour = "0;1;33",
                                     .message_colour = "0;33",
                                     .name = "salt.state",
                                     .path = "src/common/state/run.c",
                                     .func = "run_all",
                                     .line = 42,
                                     .program = "salt-minion",
                                     .message = "it \xc3\xa9% is",
                                     .jid = "20251120100000000000",
                                     .minion_id = "m1" };

static void
test_formats(void **state)
{
    static const struct {
        const char *format, *line;
    } rows[] = {
        { "", "" },
        { "no field", "no field" },
        { "100%% of %(levelname)s", "100% of WARNING" },
        { "%(levelname)-8s|%(levelname)9s|%(levelname).4s|", "WARNING |  WARNING|WARN|" },
        { "%(lineno)d|%(lineno)-4d|%(lineno)04d|%(lineno)s", "42|42  |0042|42" },
        { "%(asctime)s,%(msecs)03d", "10:00:00,012" },
        { "%(msecs).1f %(created).2f", "12.3 1763632800.01" },
        { "%(name)s %(filename)s %(module)s %(funcName)s", "salt.state run.c run run_all" },
        { "%(pathname)s %(processName)s %(levelno)d", "src/common/state/run.c salt-minion 30" },
        { "%(message)10s|%(message).4s", "  it \xc3\xa9% is|it \xc3\xa9" },
        { "%(jid)s %(minion_id)s", "[J 20251120100000000000] m1" },
        { "%(bracketname)s%(bracketlevel)s", "[salt.state       ][WARNING ]" },
        { "%(colorname)s", "\033[0;1;32m[salt.state       ]\033[0m" },
        { "%(colorlevel)s %(colormsg)s", "\033[0;1;33m[WARNING ]\033[0m \033[0;33mit \xc3\xa9% is\033[0m" },
    };

    setenv("TZ", "UTC0", 1);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        buf_auto_t out = BUF_INIT;
        if (logfmt_check(rows[i].format, &err) < 0)
            fail_msg("%s: %s", rows[i].format, fail_text(&err));
        logfmt_put(&out, rows[i].format, "%H:%M:%S", "[J %(jid)s]", &record);
        assert_string_equal(buf_str(&out), rows[i].line);
    }
    buf_auto_t out = BUF_INIT;
    logfmt_put(&out, "%(process)d %(thread)d %(bracketprocess)s", "", "", &record);
    AUTO_FREE char *ids = xasprintf("%d %d [%5d]", (int) getpid(), (int) gettid(), (int) getpid());
    assert_string_equal(buf_str(&out), ids);
}

static void
test_wrong_formats(void **state)
{
    static const char *const rows[][2] = {
        { "%(lvelname)s", "there is no field 'lvelname'; there are asctime, bracketlevel" },
        { "%(relativeCreated)d", "there is no field 'relativeCreated'" },
        { "100%", "stands before ''" },
        { "%s", "stands before 's'" },
        { "%(name", "stands before '(name'" },
        { "%(name)d", "'%(name)' ends with one of the letters 's'" },
        { "%(lineno)", "'%(lineno)' ends with one of the letters 'dis'" },
        { "%(msecs)+3d", "'%(msecs)' ends with one of the letters 'dif'" },
        { "%(message)201s", "at most 200 characters wide" },
        { "%(message)99999999999999999999s", "at most 200 characters wide" },
        { "%(message).201s", "at most 200 characters wide" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(logfmt_check(rows[i][0], &err), -EINVAL);
        if (strstr(fail_text(&err), rows[i][1]) == NULL)
            fail_msg("%s: %s", rows[i][0], fail_text(&err));
    }
}

static void
test_json(void **state)
{
    buf_auto_t out = BUF_INIT;
    log_record_t other = record;

    other.message = "a \"b\" \\ c\n\td";
    logfmt_json(&out, &other);
    AUTO_FREE char *want = xasprintf(
        "{\"time\": \"2025-11-20T10:00:00.012345Z\", \"level\": \"warning\", \"name\": \"salt.state\", "
        "\"program\": \"salt-minion\", \"process\": %d, \"file\": \"src/common/state/run.c\", \"line\": 42, "
        "\"minion_id\": \"m1\", \"jid\": \"20251120100000000000\", \"message\": \"a \\\"b\\\" \\\\ "
        "c\\n\\td\"}",
        (int) getpid());
    assert_string_equal(buf_str(&out), want);
    buf_clear(&out);
    other.jid = other.minion_id = "";
    logfmt_json(&out, &other);
    json_auto_t *object = json_loads(buf_str(&out), JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_object_size(object), 8);
}

static void
test_json_last(void **state)
{
    char small[100], large[400];
    static const char line[] = "x.c:3: broken \"\\\x01\xff invariant\n";

    large[logfmt_json_last(large, sizeof(large) - 1, line, strlen(line))] = '\0';
    assert_string_equal(large,
                        "{\"level\": \"critical\", \"name\": \"salt\", \"message\": \"x.c:3: broken ???? "
                        "invariant\"}\n");
    memset(large, 'y', sizeof(large));
    size_t n = logfmt_json_last(small, sizeof(small), large, sizeof(large));
    assert_true(n <= sizeof(small) && n > sizeof(small) - 4);
    json_auto_t *object = json_loadb(small, n, 0, NULL);
    assert_non_null(object);
}

static void
assert_name(const char *file, const char *name)
{
    char out[LOGNAME_LEN];

    logname_of(file, out);
    assert_string_equal(out, name);
    assert_true(logname_known(out));
}

static void
test_names(void **state)
{
    assert_name("src/master/jobs/publish.c", "salt.master");
    assert_name("src/master/reactor/reactor_loop.c", "salt.reactor");
    assert_name("src/common/pillar/pillar.c", "salt.pillar");
    assert_name("src/plugins/exec/system/cmd.c", "salt.modules.cmd");
    assert_name("src/plugins/state/files/file.c", "salt.states.file");
    assert_name("src/uplink/session.c", "salt.minion");
    assert_name("elsewhere.c", "salt");
    assert_true(logname_known("salt") && logname_known("salt.utils"));
    assert_true(logname_known("salt.modules.custom"));
    assert_false(logname_known("salt.stat") || logname_known("salt.pillar.x") || logname_known(""));
}

/* A row whose files are gone gives no line its name. */
static void
test_rows_have_files(void **state)
{
    static const char *const prefixes[] = {
#define LOGGER(prefix, name, each) prefix,
#include "salt/loggers.def"
    };

    for (size_t i = 0; i < NELEMS(prefixes); i++) {
        AUTO_FREE char *pattern = xasprintf(TEST_SOURCE_DIR "/%s*", prefixes[i]);
        glob_t found;
        if (glob(pattern, 0, NULL, &found) != 0)
            fail_msg("loggers.def: no file begins with '%s'", prefixes[i]);
        globfree(&found);
    }
}

static void
test_granular(void **state)
{
    json_auto_t *levels = json_pack("{s:s, s:s, s:s}", "salt", "error", "salt.modules", "debug",
                                    "salt.modules.cmd", "quiet");
    json_auto_t *none = json_object();

    logname_set_levels(levels);
    assert_int_equal(logname_level("salt.master", LEVEL_WARNING), LEVEL_ERROR);
    assert_int_equal(logname_level("salt.modules", LEVEL_WARNING), LEVEL_DEBUG);
    assert_int_equal(logname_level("salt.modules.file", LEVEL_WARNING), LEVEL_DEBUG);
    assert_int_equal(logname_level("salt.modules.cmd", LEVEL_WARNING), LEVEL_QUIET);
    assert_int_equal(logname_level("salt.modulesx", LEVEL_WARNING), LEVEL_ERROR);
    assert_int_equal(logname_level("saltx", LEVEL_WARNING), LEVEL_WARNING);
    assert_int_equal(logname_least(), LEVEL_DEBUG);
    logname_set_levels(levels);
    logname_set_levels(none);
    assert_int_equal(logname_level("salt.master", LEVEL_WARNING), LEVEL_WARNING);
    assert_int_equal(logname_least(), LEVEL_QUIET);
}

static size_t counted;

static int
count(void)
{
    return (int) ++counted;
}

/* Arguments are not worked out for a line that nobody wants; the level of a name holds for both sinks. */
static void
test_least(void **state)
{
    json_auto_t *quiet = json_pack("{s:s}", "salt", "trace");
    json_auto_t *none = json_object();

    log_init("salt-test", LEVEL_WARNING, false);
    log_debug("%d", count());
    assert_int_equal(counted, 0);
    assert_int_equal(log_least, LEVEL_WARNING);
    log_granular(quiet);
    assert_int_equal(log_least, LEVEL_TRACE);
    assert_true(log_wants(LEVEL_TRACE));
    assert_false(log_wants(LEVEL_GARBAGE));
    log_console(LEVEL_QUIET);
    assert_int_equal(log_least, LEVEL_QUIET);
    assert_false(log_wants(LEVEL_CRITICAL));
    log_granular(none);
    assert_int_equal(log_open_file("/dev/null", LEVEL_DEBUG, NULL), 0);
    log_debug("%d", count());
    assert_int_equal(counted, 1);
    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, NULL), 0);
}

/* Whatever a peer says, each line is one object, and it says the same. */
static void
test_hostile_json(void **state)
{
    static const char *const texts[][2] = {
        { "plain", "plain" },
        { "", "" },
        { "two\nlines\r\n", "two\nlines\\x0d\n" },
        { "\"}\n{\"level\": \"critical\"}", "\"}\n{\"level\": \"critical\"}" },
        { "\\\x01\x1b[31m\x7f", "\\\\x01\\x1b[31m\\x7f" },
        { "\xff\xc3 \xe2\x80\xae", "\\xff\\xc3 \\u202e" },
        { "https://me:secret@host/x", "https://<redacted>@host/x" },
    };
    static const log_form_t json = { LOG_FORM_CONSOLE, "", LOG_FORM_FILE, "", "", true };
    static const log_form_t text = { LOG_FORM_CONSOLE, "", LOG_FORM_FILE, "%Y-%m-%d %H:%M:%S", "", false };
    char folder[] = "/tmp/test_log.XXXXXX", lines[8192];

    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *path = xasprintf("%s/log", folder);
    log_init("salt-test", LEVEL_QUIET, false);
    assert_int_equal(log_open_file(path, LEVEL_INFO, NULL), 0);
    log_form(&json);
    for (size_t i = 0; i < NELEMS(texts); i++)
        log_info("%s", texts[i][0]);
    log_form(&text);
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, lines, sizeof(lines) - 1);
    assert_true(n > 0);
    lines[n] = '\0';
    char **each = str_split(lines, "\n", true);
    assert_int_equal(strv_len(each), NELEMS(texts));
    for (size_t i = 0; i < NELEMS(texts); i++) {
        json_auto_t *object = json_loads(each[i], JSON_REJECT_DUPLICATES, NULL);
        assert_string_equal(json_string_value(json_object_get(object, "message")), texts[i][1]);
    }
    strv_free(each);
    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, NULL), 0);
    unlink(path);
    rmdir(folder);
}

UNIT_MAIN(cmocka_unit_test(test_formats), cmocka_unit_test(test_wrong_formats), cmocka_unit_test(test_json),
          cmocka_unit_test(test_json_last), cmocka_unit_test(test_names),
          cmocka_unit_test(test_rows_have_files), cmocka_unit_test(test_granular),
          cmocka_unit_test(test_least), cmocka_unit_test(test_hostile_json))
