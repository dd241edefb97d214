/* test_crontab.c - crontabs read and written, and the module's functions on a crontab program of our own that
 * keeps one file. What they must answer was recorded from Salt. */
#include "unit/unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "common/base/str.h"
#include "plugins/lib/system/crontab.h"
#include "unit/plugins/fakes.h"

extern const plugin_t exec_cron;

static int
set_up(void **state)
{
    assert_int_equal(fakes_begin(), 0);
    AUTO_FREE char *text = xasprintf(
        "#!/bin/sh\n"
        "[ \"$1\" = -u ] && shift 2\n"
        "tab=%s/tab\n"
        "case $1 in\n"
        "-l) [ -e $tab.code ] && { cat $tab.said >&2; exit $(cat $tab.code); }\n"
        "    [ -e $tab ] || { echo 'no crontab for root' >&2; exit 1; }; cat $tab ;;\n"
        "*) cat >$tab.new; grep -qi refused $tab.new && { echo bad minute >&2; exit 1; }\n"
        "   mv $tab.new $tab ;;\n"
        "esac\n",
        fakes_dir);
    fakes_put("bin/crontab", 0755, text);
    return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* No member of an entry, and no part of a variable, becomes a line or a field of the tab. */
static void
test_values(void **state)
{
    static const struct {
        const char *entry, *said; /* NULL: fine */
    } rows[] = {
        { "{\"cmd\": \"a  b\", \"identifier\": \"a b\", \"comment\": \"two\\nlines\", \"minute\": \"*/5\"}",
          NULL },
        { "{\"cmd\": \"a\\n* * * * * evil\"}", "cmd: " },
        { "{\"cmd\": \"a\", \"identifier\": \"x\\n* * * * * evil\"}", "identifier: " },
        { "{\"cmd\": \"a\", \"minute\": \"1\\n* * * * * evil\"}", "minute: " },
        { "{\"cmd\": \"a\", \"hour\": \"1 2\"}", "hour: " },
        { "{\"cmd\": \"a\", \"daymonth\": \"1\\t2\"}", "daymonth: " },
        { "{\"cmd\": \"a\", \"month\": \"1 2\"}", "month: " },
        { "{\"cmd\": \"a\", \"dayweek\": \"1 2\"}", "dayweek: " },
        { "{\"cmd\": \"a\", \"spec\": \"@daily\\n* * * * * evil\"}", "special: " },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *entry = json_loads(rows[i].entry, 0, NULL);
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(crontab_check_entry(entry, &err), rows[i].said != NULL ? -EINVAL : 0);
        if (rows[i].said != NULL)
            assert_true(str_starts(fail_text(&err), rows[i].said));
    }
    json_auto_t *name = json_string("A"), *value = json_string("b c=d"), *two = json_string("a\nb"),
                *pair = json_string("A=b");
    assert_int_equal(crontab_check_env(name, value, NULL), 0);
    assert_int_equal(crontab_check_env(name, NULL, NULL), 0);
    assert_int_equal(crontab_check_env(name, two, NULL), -EINVAL);
    assert_int_equal(crontab_check_env(two, value, NULL), -EINVAL);
    assert_int_equal(crontab_check_env(pair, value, NULL), -EINVAL);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void
same_again(const char *text)
{
    json_auto_t *tab = crontab_parse(text);
    AUTO_FREE char *back = crontab_text(tab);

    assert_string_equal(back, text);
}

static void
test_text(void **state)
{
    same_again("# Lines below here are managed by Salt, do not edit\n");
    same_again(
        "PATH=/bin\n\n# mine\n5 4 * * * /own\n# Lines below here are managed by Salt, do not edit\n"
        "MAILTO=\"\"\nA=b=c d\n# two words\n# and more SALT_CRON_IDENTIFIER:a b\n5 1 * * 1 /weekly  --x\n"
        "#DISABLED#* * * * * /off\n# SALT_CRON_IDENTIFIER:c\n@daily /daily x\n#DISABLED#@reboot /boot\n");
    /* What is not text stays a line of its kind: a daily one does not come to run each minute. */
    json_auto_t *odd = crontab_parse("# Lines below here are managed by Salt, do not edit\n@daily\xdd /x\n");
    AUTO_FREE char *kept = crontab_text(odd);
    assert_non_null(strstr(kept, "\n@daily\xdd /x\n"));
    json_auto_t *tab = crontab_parse(
        "# Lines below here are managed by Salt, do not edit\n@daily\nnonsense\n1 2 3 4 5\n"
        "# lost\n#\n* * * * * A=1 /x\n");
    AUTO_FREE char *text = value_dump(tab);
    assert_string_equal(
        text, "{\"pre\":[],\"crons\":[{\"minute\":\"*\",\"hour\":\"*\",\"daymonth\":\"*\",\"month\":"
              "\"*\",\"dayweek\":\"*\",\"identifier\":null,\"cmd\":\"A=1 /x\",\"comment\":\"lost\\n\","
              "\"commented\":false}],\"special\":[],\"env\":[]}");
}

static void
test_times(void **state)
{
    for (int i = 0; i < 200; i++) {
        AUTO_FREE char *hour = crontab_time("hour", "Random", "*"),
                       *day = crontab_time("daymonth", "random", "2");
        AUTO_FREE char *all = crontab_time("minute", "9223372036854775807:-9223372036854775808", "*"),
                       *range = crontab_time("minute", "20:10", "*"),
                       *plain = crontab_time("month", "JAN", "*");
        assert_in_range(atoi(hour), 0, 23);
        assert_in_range(atoi(day), 1, 28);
        assert_in_range(atoi(range), 10, 20);
        assert_string_equal(plain, "jan");
        assert_non_null(all);
    }
}

/* Hosts begin alike: so does each of these processes. */
static void
test_random_differs(void **state)
{
    char first[16][8];
    bool differs = false;
    for (size_t i = 0; i < NELEMS(first); i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
            AUTO_FREE char *drawn = crontab_time("minute", "random", "*");
            _exit(write(ends[1], drawn, strlen(drawn) + 1) > 0 ? 0 : 1);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_true(read(ends[0], first[i], sizeof(first[i])) > 0);
        assert_int_equal(close(ends[0]) | close(ends[1]), 0);
        differs = differs || strcmp(first[i], first[0]) != 0;
    }
    assert_true(differs);
}

/* ---- functions ------------------------------------------------------------------------------- */

typedef struct step {
    const char *fun, *args, *want;
} step_t;

static void
take(const step_t *s)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = fakes_call(&exec_cron, s->fun, s->args, "{}", &err);

    if (value == NULL)
        fail_msg("%s: %s", s->fun, fail_text(&err));
    AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(text, s->want);
}

static void
test_functions(void **state)
{
    static const step_t steps[] = {
        { "cron.list_tab", "[\"root\"]", "{\"pre\":[],\"crons\":[],\"special\":[],\"env\":[]}" },
        { "cron.set_job", "[\"root\",\"*\",1,\"*\",\"*\",1,\"/w\",false,null,\"a\"]", "\"new\"" },
        { "cron.set_job", "[\"root\",\"*\",1,\"*\",\"*\",1,\"/w\",false,null,\"a\"]", "\"present\"" },
        { "cron.set_job", "[\"root\",\"REFUSED\",1,\"*\",\"*\",1,\"/w\",false,null,\"b\"]",
          "\"bad minute\"" },
        { "cron.set_job", "[\"root\",5,1,\"*\",\"*\",1,\"/w2\",false,\"two words\",\"a\"]", "\"updated\"" },
        { "cron.set_special", "[\"root\",\"@daily\",\"/daily\"]", "\"new\"" },
        { "cron.set_env", "[\"root\",\"MAILTO\",\"x@y\"]", "\"new\"" },
        { "cron.set_env", "[\"root\",\"MAILTO\",\"x@y\"]", "\"present\"" },
        { "cron.set_env", "[\"root\",\"MAILTO\"]", "\"updated\"" },
        { "cron.raw_cron", "[\"root\"]",
          "\"# Lines below here are managed by Salt, do not edit\\nMAILTO=\\\"\\\"\\n# two words "
          "SALT_CRON_IDENTIFIER:a\\n5 1 * * 1 /w2\\n@daily /daily\\n\"" },
        { "cron.get_entry", "[\"root\",null,\"/daily\"]",
          "{\"identifier\":null,\"cmd\":\"/"
          "daily\",\"comment\":null,\"commented\":false,\"spec\":\"@daily\"}" },
        { "cron.get_entry", "[\"root\",\"nosuch\"]", "false" },
        { "cron.rm_job", "[\"root\",\"/w2\",6,null,null,null,null,\"a\"]", "\"absent\"" },
        { "cron.rm_job", "[\"root\",\"/w2\",5,null,null,null,null,\"a\"]", "\"removed\"" },
        { "cron.rm_special", "[\"root\",\"/daily\"]", "\"removed\"" },
        { "cron.rm_env", "[\"root\",\"MAILTO\"]", "\"removed\"" },
        { "cron.rm_env", "[\"root\",\"MAILTO\"]", "\"absent\"" },
        { "cron.raw_cron", "[\"root\"]", "\"# Lines below here are managed by Salt, do not edit\\n\"" },
    };

    for (size_t i = 0; i < NELEMS(steps); i++)
        take(&steps[i]);
}

/* The tab as it is on the disk. NEW. */
static char *
on_disk(void)
{
    AUTO_FREE char *path = fs_join(fakes_dir, "tab");
    buf_auto_t text = BUF_INIT;

    (void) fs_read(path, 1 << 20, &text, NULL);
    return xstrdup(buf_str(&text));
}

/* A crontab that could not be read is not an empty one: the next write would put that in its place. */
static void
test_unreadable(void **state)
{
    static const struct {
        const char *code, *said;
        bool none; /* whether that is how a crontab says that the user has none */
    } rows[] = {
        { "1", "no crontab for root\n", true }, /* Debian, cronie */
        { "1", "pam: hello\ncrontab: can't open 'root': No such file or directory\n", true }, /* busybox */
        { "1", "crontab: can't open your crontab file.\n", true },                            /* System V */
        { "1", "crontab: can't open your crontab file: Permission denied\n", false },
        { "1", "crontab: can't open 'root': Permission denied\n", false },
        { "1", "/var/spool/cron/crontabs/root: Input/output error\n", false },
        { "1", "Permission denied\nYou (root) are not allowed to access to (crontab) by PAM.\n", false },
        { "1", "", false },
        { "2", "no crontab for root\n", false },
        { "127", "crontab: cannot open shared object file\n", false },
    };
    static const char own[] = "5 4 * * * /own\n";

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT, why = FAIL_INIT;
        fakes_put("tab", 0644, own);
        fakes_put("tab.code", 0644, rows[i].code);
        fakes_put("tab.said", 0644, rows[i].said);
        json_auto_t *list = fakes_call(&exec_cron, "cron.list_tab", "[\"root\"]", "{}", &why);
        json_auto_t *set = fakes_call(&exec_cron, "cron.set_env", "[\"root\",\"A\",\"1\"]", "{}", &err);
        AUTO_FREE char *after = on_disk();
        if ((list != NULL) != rows[i].none || (set != NULL) != rows[i].none)
            fail_msg("%s: %s", rows[i].said, fail_text(&err));
        if (rows[i].none)
            continue;
        assert_string_equal(after, own);
        assert_non_null(strstr(fail_text(&err), rows[i].code));
        AUTO_FREE char *first = xstrndup(rows[i].said, strcspn(rows[i].said, "\n"));
        assert_non_null(strstr(fail_text(&err), first));
    }
}

/* What a signal ended, and bytes that no text holds, are told as well. */
static void
test_killed(void **state)
{
    fail_auto_t err = FAIL_INIT;

    fakes_put("bin/crontab", 0755, "#!/bin/sh\nkill -9 $$\n");
    assert_null(fakes_call(&exec_cron, "cron.list_tab", "[\"root\"]", "{}", &err));
    assert_non_null(strstr(fail_text(&err), "signal 9"));
    fail_clear(&err);
    fakes_put("bin/crontab", 0755, "#!/bin/sh\nprintf '* * * * * /x\\n\\0* * * * * /y\\n'\n");
    assert_null(fakes_call(&exec_cron, "cron.list_tab", "[\"root\"]", "{}", &err));
    assert_non_null(strstr(fail_text(&err), "NUL"));
}

/* Whoever is not known here has nothing to list or to remove, but nothing is written for them. */
static void
test_unknown_user(void **state)
{
    static const step_t steps[] = {
        { "cron.list_tab", "[\"nosuchuser\"]", "{\"pre\":[],\"crons\":[],\"special\":[],\"env\":[]}" },
        { "cron.rm_job", "[\"nosuchuser\",\"/w\"]", "\"absent\"" },
        { "cron.rm_env", "[\"nosuchuser\",\"A\"]", "\"absent\"" },
    };
    fail_auto_t err = FAIL_INIT;

    fakes_put("tab.code", 0644, "1");
    fakes_put("tab.said", 0644, "crontab:  user `nosuchuser' unknown\n");
    for (size_t i = 0; i < NELEMS(steps); i++)
        take(&steps[i]);
    assert_null(fakes_call(&exec_cron, "cron.set_env", "[\"nosuchuser\",\"A\",\"1\"]", "{}", &err));
    assert_non_null(strstr(fail_text(&err), "`nosuchuser' unknown"));
}

/* Bytes of another encoding stay as they are, wherever they stand; a return shows them as text. */
static void
test_bytes(void **state)
{
    fakes_put("tab", 0644,
              "# caf\xe9\n5 4 * * * /\xe9\n\n# Lines below here are managed by Salt, do not edit\nA=\xff\n"
              "# d\xe9j\xe0 SALT_CRON_IDENTIFIER:x\n1 1 * * * /b\xe9\n");
    take(&(step_t){ "cron.set_job", "[\"root\",2,\"*\",\"*\",\"*\",\"*\",\"/new\"]", "\"new\"" });
    AUTO_FREE char *after = on_disk();
    assert_string_equal(
        after, "# caf\xe9\n5 4 * * * /\xe9\n\n# Lines below here are managed by Salt, do not edit\nA=\xff\n"
               "# d\xe9j\xe0 SALT_CRON_IDENTIFIER:x\n1 1 * * * /b\xe9\n2 * * * * /new\n");
    take(&(step_t){
        "cron.get_entry", "[\"root\",\"x\"]",
        "{\"minute\":\"1\",\"hour\":\"1\",\"daymonth\":\"*\",\"month\":\"*\",\"dayweek\":\"*\","
        "\"identifier\":\"x\",\"cmd\":\"/b\xef\xbf\xbd\",\"comment\":\"d\xef\xbf\xbdj\xef\xbf\xbd\","
        "\"commented\":false}" });
}

UNIT_MAIN(cmocka_unit_test(test_values), cmocka_unit_test(test_text), cmocka_unit_test(test_times),
          cmocka_unit_test(test_random_differs),
          cmocka_unit_test_setup_teardown(test_functions, set_up, fakes_end),
          cmocka_unit_test_setup_teardown(test_unreadable, set_up, fakes_end),
          cmocka_unit_test_setup_teardown(test_killed, set_up, fakes_end),
          cmocka_unit_test_setup_teardown(test_unknown_user, set_up, fakes_end),
          cmocka_unit_test_setup_teardown(test_bytes, set_up, fakes_end))
