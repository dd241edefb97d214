/* test_startup.c - what a reload takes over and what it keeps; folders that belong to the daemon's user;
 * streams and pid files of daemon.c. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/startup.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

enum { NOBODY = 65534 };

typedef struct fixture {
    char *dir;
} fixture_t;

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    f->dir = xstrdup("/tmp/halite-startup-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    log_init("test", LEVEL_QUIET, false);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->dir);
    free(f);
    return 0;
}

static void
put(const fixture_t *f, const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(f->dir, name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
}

static conf_t *
load(const fixture_t *f, const json_t *overrides)
{
    fail_auto_t err = FAIL_INIT;
    conf_t *conf = conf_load(f->dir, CONF_MASTER, overrides, NULL, &err);

    if (conf == NULL)
        fail_msg("%s", fail_text(&err));
    return conf;
}

static void
test_reload(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *root = xasprintf("root_dir: %s\nlog_level: quiet\ntimeout: 7\nmy_own: 1\n", f->dir);

    put(f, "master", root);
    json_auto_t *overrides = json_pack("{s:i}", "ret_port", 4711);
    AUTO(conf) old = load(f, overrides);
    assert_false(log_wants(LEVEL_ERROR));

    AUTO_FREE char *text = xasprintf(
        "root_dir: %s\nlog_level: error\ntimeout: 9\npublish_port: 1234\nret_port: 99\nuser: nobody\n"
        "nodegroups: {g: 'web*'}\nmy_own: 2\n",
        f->dir);
    put(f, "master", text);
    AUTO(conf) fresh = startup_reload(old, f->dir, CONF_MASTER, overrides, NULL);
    assert_non_null(fresh);
    /* Live. */
    assert_int_equal(conf_int(fresh, "timeout"), 9);
    assert_string_equal(value_str(conf_get(fresh, "nodegroups"), "g", ""), "web*");
    assert_int_equal(conf_int(fresh, "my_own"), 2);
    assert_true(log_wants(LEVEL_ERROR));
    assert_false(log_wants(LEVEL_WARNING));
    /* At the next start. */
    assert_int_equal(conf_int(fresh, "publish_port"), 4505);
    assert_int_equal(conf_int(fresh, "ret_port"), 4711);
    assert_true(json_equal(conf_get(fresh, "user"), conf_get(old, "user")) ||
                conf_get(fresh, "user") == conf_get(old, "user"));

    /* Once more: an option that is gone from the file has its default again. */
    put(f, "master", root);
    AUTO(conf) again = startup_reload(fresh, f->dir, CONF_MASTER, overrides, NULL);
    assert_non_null(again);
    assert_int_equal(conf_int(again, "timeout"), 7);
    assert_int_equal(json_object_size(conf_get(again, "nodegroups")), 0);
    log_console(LEVEL_QUIET);
}

static void
test_reload_refused(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *root = xasprintf("root_dir: %s\nlog_level: quiet\n", f->dir);

    put(f, "master", root);
    AUTO(conf) old = load(f, NULL);
    put(f, "master", "timeout: [1, 2\n");
    assert_null(startup_reload(old, f->dir, CONF_MASTER, NULL, &err));
    assert_int_not_equal(err.code, 0);
}

/* ---- folders --------------------------------------------------------------------------------- */

static uid_t
owner(const fixture_t *f, const char *name)
{
    AUTO_FREE char *path = fs_join(f->dir, name);
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    return st.st_uid;
}

static conf_t *
place(const fixture_t *f, const char *user)
{
    AUTO_FREE char *text = xasprintf(
        "root_dir: %s\nuser: %s\npki_dir: /pki\ncachedir: /cache\nsock_dir: /sock\npidfile: /run/pid\n"
        "log_file: /log/master\nlog_level: quiet\n",
        f->dir, user);

    put(f, "master", text);
    return load(f, NULL);
}

static void
test_folders_of_a_user(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;

    if (geteuid() != 0)
        skip();
    AUTO_FREE char *below = fs_join(f->dir, "cache/jobs/deep"), *outside = fs_join(f->dir, "outside"),
                   *link = fs_join(f->dir, "cache/link"), *twice = fs_join(f->dir, "cache/twice");
    assert_int_equal(fs_mkdirs(below, 0700, NULL), 0);
    put(f, "cache/jobs/deep/file", "x");
    put(f, "outside", "secret");
    assert_int_equal(symlink(outside, link), 0);
    assert_int_equal(linkat(AT_FDCWD, outside, AT_FDCWD, twice, 0), 0);
    AUTO(conf) conf = place(f, "nobody");
    assert_int_equal(startup_folders(conf, CONF_MASTER, true, &err), 0);

    static const char *const theirs[] = {
        "pki", "cache", "cache/jobs", "cache/jobs/deep", "cache/jobs/deep/file", "sock", "cache/link"
    };
    for (size_t i = 0; i < NELEMS(theirs); i++)
        if (owner(f, theirs[i]) != NOBODY)
            fail_msg("%s belongs to %u", theirs[i], (unsigned) owner(f, theirs[i]));
    /* What lies elsewhere keeps its owner, however it is reached. */
    assert_int_equal(owner(f, "outside"), 0);
    assert_int_equal(owner(f, "cache/twice"), 0);
}

static void
test_folders_without_a_user(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    struct stat st;

    AUTO(conf) conf = place(f, "");
    assert_int_equal(startup_folders(conf, CONF_MASTER, true, &err), 0);
    assert_int_equal(owner(f, "pki"), geteuid());
    assert_int_equal(stat(conf_str(conf, "pki_dir"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    AUTO(conf) unknown = place(f, "no-such-user-here");
    assert_int_equal(startup_folders(unknown, CONF_MASTER, true, &err), -ENOENT);
}

static void
test_minion_needs_no_sock_dir(void **state)
{
    fixture_t *f = *state;
    AUTO(conf) conf = place(f, "");
    AUTO_FREE char *sock = fs_join(f->dir, "sock");

    assert_int_equal(startup_folders(conf, CONF_MINION, true, NULL), 0);
    assert_false(fs_exists(sock));
}

/* ---- daemon.c -------------------------------------------------------------------------------- */

/* The exit code of `fn` in a child. */
static int
in_child(int (*fn)(const char *arg), const char *arg)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(fn(arg));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int
closed_streams(const char *arg)
{
    (void) close(0), (void) close(1), (void) close(2);
    daemon_stdio();
    int fd = open("/dev/null", O_RDONLY);
    return fd > 2 && fcntl(0, F_GETFD) == 0 && fcntl(1, F_GETFD) == 0 && fcntl(2, F_GETFD) == 0 ? 0 : 1;
}

static int
one_closed_stream(const char *arg)
{
    (void) close(1);
    daemon_stdio();
    return open("/dev/null", O_RDONLY) > 2 && fcntl(1, F_GETFD) == 0 ? 0 : 1;
}

static void
test_streams(void **state)
{
    assert_int_equal(in_child(closed_streams, NULL), 0);
    assert_int_equal(in_child(one_closed_stream, NULL), 0);
}

static int
takes_pid_file(const char *path)
{
    return daemon_pid_file(path, NULL) == 0 ? 0 : 1;
}

static void
test_pid_file(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *path = fs_join(f->dir, "run/deep/pid");

    assert_int_equal(daemon_pid_file(path, NULL), 0);
    /* A live process of this program holds it. */
    assert_int_equal(in_child(takes_pid_file, path), 1);
    assert_int_equal(daemon_pid_file(path, NULL), 0);
    daemon_pid_remove(path);
    assert_false(fs_exists(path));
    daemon_pid_remove(path);
    /* Garbage, or a process that is something else. */
    put(f, "run/deep/pid", "no number");
    assert_int_equal(in_child(takes_pid_file, path), 0);
    put(f, "run/deep/pid", "1\n");
    assert_int_equal(in_child(takes_pid_file, path), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_reload), TEST(test_reload_refused), TEST(test_folders_of_a_user),
          TEST(test_folders_without_a_user), TEST(test_minion_needs_no_sock_dir), TEST(test_streams),
          TEST(test_pid_file))
