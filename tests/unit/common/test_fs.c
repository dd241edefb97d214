/* test_fs.c - reading with a bound, replacing, making and removing. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "unit/unit.h"

static char root[32];

static int
setup(void **state)
{
    str_copy(root, sizeof(root), "/tmp/test_fs.XXXXXX");
    return mkdtemp(root) == NULL;
}

static int
teardown(void **state)
{
    return fs_remove_tree(root, NULL);
}

static void
put(const char *path, const char *text)
{
    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
}

static void
test_read(void **state)
{
    AUTO_FREE char *path = fs_join(root, "file");
    buf_auto_t b = BUF_INIT;
    fail_auto_t missing = FAIL_INIT, large = FAIL_INIT, folder = FAIL_INIT;

    put(path, "12345");
    buf_puts(&b, "> ");
    assert_int_equal(fs_read(path, 5, &b, NULL), 0);
    assert_string_equal(buf_str(&b), "> 12345");
    assert_int_equal(fs_read(path, 4, &b, &large), -EFBIG);
    assert_string_equal(buf_str(&b), "> 12345");
    assert_non_null(strstr(fail_text(&large), path));
    assert_int_equal(fs_read(root, 4, &b, &folder), -EISDIR);
    unlink(path);
    assert_int_equal(fs_read(path, 5, &b, &missing), -ENOENT);
    assert_int_equal(fs_read_any(path, 5, &b, NULL), 0);
    assert_int_equal(fs_read_any(root, 4, &b, NULL), -EISDIR);
    assert_non_null(strstr(fail_text(&missing), "No such file or directory; check the path"));
    assert_string_equal(buf_str(&b), "> 12345");
    assert_int_equal(fs_read_any("/proc/self/status", 65536, &b, NULL), 1);
    assert_non_null(strstr(buf_str(&b), "\nPid:\t"));
}

static size_t
count_entries(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_nlink;
}

static void
test_write(void **state)
{
    AUTO_FREE char *path = fs_join(root, "conf");
    AUTO_FREE char *other = fs_join(root, "other-name");
    buf_auto_t b = BUF_INIT, large = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    struct stat st;

    put(path, "old");
    assert_int_equal(link(path, other), 0);
    assert_int_equal(count_entries(path), 2);
    buf_fill(&large, 'x', 300000);
    assert_int_equal(fs_write_atomic(path, large.data, large.len, 0600, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 300000);
    /* The old file was replaced, not written into. */
    assert_int_equal(fs_read(other, 10, &b, NULL), 0);
    assert_string_equal(buf_str(&b), "old");
    AUTO_FREE char *nowhere = fs_join(root, "no/such/folder");
    assert_int_equal(fs_write_atomic(nowhere, "x", 1, 0600, &err), -ENOENT);
    assert_non_null(strstr(fail_text(&err), nowhere));
    AUTO_FREE char *folder = fs_join(root, "folder");
    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_write_atomic(folder, "x", 1, 0600, NULL), -EISDIR);
}

/* Another one's file stays what it was, but for what is in it. */
static void
test_rewrite(void **state)
{
    AUTO_FREE char *path = fs_join(root, "conf"), *way = fs_join(root, "way"),
                   *astray = fs_join(root, "astray");
    AUTO_FREE char *fresh = fs_join(root, "fresh");
    uid_t owner = geteuid() == 0 ? 12345 : geteuid();
    fail_auto_t err = FAIL_INIT;
    buf_auto_t b = BUF_INIT;
    struct stat st;

    put(path, "old");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(chown(path, owner, (gid_t) -1), 0);
    assert_int_equal(symlink("conf", way), 0);
    assert_int_equal(fs_rewrite(way, "new", 3, 0600, NULL), 0);
    assert_int_equal(lstat(way, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0640);
    assert_int_equal(st.st_uid, owner);
    assert_int_equal(fs_read(path, 10, &b, NULL), 0);
    assert_string_equal(buf_str(&b), "new");
    assert_int_equal(fs_rewrite(fresh, "new", 3, 0600, NULL), 0);
    assert_int_equal(lstat(fresh, &st), 0);
    assert_int_equal(st.st_mode, S_IFREG | 0600);
    assert_int_equal(symlink("nosuch/file", astray), 0);
    assert_int_equal(fs_rewrite(astray, "new", 3, 0600, &err), -ENOENT);
    assert_non_null(strstr(fail_text(&err), astray));
    assert_int_equal(lstat(astray, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

/* A file that another program has written takes its place, or goes. */
static void
test_settle(void **state)
{
    AUTO_FREE char *path = fs_join(root, "settled"), *temp = fs_join(root, ".settled");
    AUTO_FREE char *folder = fs_join(root, "folder");
    buf_auto_t b = BUF_INIT;

    put(temp, "new");
    assert_int_equal(fs_settle(temp, path, NULL), 0);
    assert_int_equal(fs_read(path, 10, &b, NULL), 0);
    assert_string_equal(buf_str(&b), "new");
    assert_int_equal(fs_settle(temp, path, NULL), -ENOENT);
    put(temp, "new");
    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    assert_int_equal(fs_settle(temp, folder, NULL), -EISDIR);
    assert_false(fs_exists(temp));
}

/* A failed replacement leaves the old file and no temporary one. */
static void
test_write_fails_clean(void **state)
{
    AUTO_FREE char *folder = fs_join(root, "clean"), *path = fs_join(root, "clean/file");
    struct rlimit saved, tiny;
    buf_auto_t b = BUF_INIT, big = BUF_INIT;

    assert_int_equal(fs_mkdirs(folder, 0755, NULL), 0);
    put(path, "old");
    buf_fill(&big, 'x', 65536);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &saved), 0);
    tiny = saved;
    tiny.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &tiny);
    int rc = fs_write_atomic(path, big.data, big.len, 0644, NULL);
    setrlimit(RLIMIT_FSIZE, &saved);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(fs_read(path, 10, &b, NULL), 0);
    assert_string_equal(buf_str(&b), "old");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Who gives /dev/null where a file is wanted gets an error, and keeps /dev/null. */
static void
test_device(void **state)
{
    AUTO_FREE char *path = fs_join(root, "null");
    fail_auto_t err = FAIL_INIT;

    if (mknod(path, S_IFCHR | 0600, makedev(1, 3)) != 0)
        skip(); /* only root makes one */
    assert_true(fs_is_device(path));
    assert_false(fs_is_device(root));
    assert_int_equal(fs_write_atomic(path, "x", 1, 0600, &err), -EINVAL);
    assert_non_null(strstr(fail_text(&err), "null is a device; name a file"));
    assert_true(fs_is_device(path));
    assert_int_equal(unlink(path), 0);
}

static void
test_long_name(void **state)
{
    char name[256];

    memset(name, 'n', 255);
    name[255] = '\0';
    AUTO_FREE char *path = fs_join(root, name);
    put(path, "x");
    assert_true(fs_exists(path));
    assert_false(fs_absent(path));
}

static void
test_absent(void **state)
{
    AUTO_FREE char *none = fs_join(root, "none"), *below = fs_join(root, "in-none/x");
    AUTO_FREE char *loop = fs_join(root, "loop");

    assert_true(fs_absent(none) && fs_absent(below));
    assert_false(fs_absent(root));
    assert_int_equal(symlink("loop", loop), 0);
    assert_false(fs_exists(loop) || fs_absent(loop)); /* nobody knows */
    assert_int_equal(unlink(loop), 0);
}

static void
test_mkdirs(void **state)
{
    AUTO_FREE char *deep = fs_join(root, "a//b/c/"), *file = fs_join(root, "plain");
    AUTO_FREE char *below = fs_join(root, "plain/x"), *b = fs_join(root, "a/b");
    fail_auto_t err = FAIL_INIT, under = FAIL_INIT;
    struct stat st;

    assert_int_equal(fs_mkdirs(deep, 0700, NULL), 0);
    assert_int_equal(stat(b, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(fs_mkdirs(deep, 0755, NULL), 0);
    assert_int_equal(stat(b, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    put(file, "x");
    assert_int_equal(fs_mkdirs(file, 0755, &err), -ENOTDIR);
    assert_non_null(strstr(fail_text(&err), file));
    assert_int_equal(fs_mkdirs(below, 0755, &under), -ENOTDIR);
    assert_int_equal(fs_mkdirs("", 0755, NULL), -ENOENT);
    assert_int_equal(fs_mkdirs("/", 0755, NULL), 0);
}

static void
test_remove_tree(void **state)
{
    AUTO_FREE char *tree = fs_join(root, "tree"), *deep = fs_join(root, "tree/x/y/z");
    AUTO_FREE char *outside = fs_join(root, "outside"), *kept = fs_join(root, "outside/kept");
    AUTO_FREE char *link_in = fs_join(root, "tree/x/link"), *file = fs_join(root, "tree/x/file");
    AUTO_FREE char *top = fs_join(root, "top-link"), *top_slash = fs_join(root, "top-link/");

    assert_int_equal(fs_mkdirs(deep, 0755, NULL), 0);
    assert_int_equal(fs_mkdirs(outside, 0755, NULL), 0);
    put(kept, "x");
    put(file, "x");
    assert_int_equal(symlink(outside, link_in), 0);
    assert_int_equal(symlink(outside, top), 0);
    assert_int_equal(fs_remove_tree(tree, NULL), 0);
    assert_false(fs_exists(tree));
    assert_true(fs_exists(kept));
    assert_int_equal(fs_remove_tree(top_slash, NULL), 0);
    assert_false(fs_exists(top));
    assert_true(fs_exists(kept));
    assert_int_equal(fs_remove_tree(tree, NULL), 0);
    assert_int_equal(fs_remove_tree(kept, NULL), 0);
    assert_true(fs_is_dir(outside) && !fs_exists(kept));
}

static void
test_join(void **state)
{
    static const char *const rows[][3] = {
        { "a", "b", "a/b" },      { "a/", "b", "a/b" },           { "a//", "//b", "a/b" }, { "/", "b", "/b" },
        { "", "/proc", "/proc" }, { "/srv", "/x/y", "/srv/x/y" }, { "a", "", "a/" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = fs_join(rows[i][0], rows[i][1]);
        assert_string_equal(got, rows[i][2]);
    }
}

static void
test_which(void **state)
{
    AUTO_FREE char *bin = fs_join(root, "bin"), *tool = fs_join(root, "bin/tool");
    AUTO_FREE char *plain = fs_join(root, "bin/plain"), *dir = fs_join(root, "bin/dir");
    AUTO_FREE char *search = xasprintf("/nonexistent::%s", bin);

    assert_int_equal(fs_mkdirs(dir, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(tool, "", 0, 0755, NULL), 0);
    put(plain, "");
    AUTO_FREE char *found = fs_which_on(search, "tool"), *same = fs_which(tool), *sh = fs_which("sh");
    assert_string_equal(found, tool);
    assert_string_equal(same, tool);
    assert_true(sh != NULL && sh[0] == '/');
    assert_null(fs_which_on(search, "plain"));
    assert_null(fs_which_on(search, "dir"));
    assert_null(fs_which_on(search, ""));
    assert_null(fs_which(plain));
}

static void
test_write_nosig(void **state)
{
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(fs_write_nosig(fds[1], "abc", 3), 3);
    assert_int_equal(fs_write_all(fds[1], "def", 3), 0);
    close(fds[0]);
    assert_int_equal(fs_write_nosig(fds[1], "abc", 3), -EPIPE);
    close(fds[1]);
    assert_int_equal(fs_write_nosig(fds[1], "abc", 3), -EBADF);
}

/* What is not there, what is, and what nobody can say anything about: a link to itself gives ELOOP, which
 * root gets too. */
static void
test_look(void **state)
{
    AUTO_FREE char *loop = fs_join(root, "loop"), *none = fs_join(root, "none"),
                   *file = fs_join(root, "file");
    AUTO_FREE char *below = fs_join(file, "x"),
                   *want = xasprintf("cannot look at %s: %s", loop, strerror(ELOOP));
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(fs_write_quick(file, "", 0, 0600, NULL), 0);
    assert_int_equal(fs_look(root, &err) + fs_look_dir(root, &err) + fs_look(file, &err), 3);
    assert_int_equal(fs_look_dir(file, &err) | fs_look(none, &err) | fs_look(below, &err), 0);
    assert_null(err.text);
    assert_int_equal(fs_look(loop, &err), -ELOOP);
    assert_int_equal(strncmp(fail_text(&err), want, strlen(want)), 0);
    assert_int_equal(fs_look_dir(loop, NULL), -ELOOP);
    assert_int_equal(fs_look_file(loop, NULL), -ELOOP);
    assert_int_equal(fs_look_file(file, NULL), 1);
    assert_int_equal(fs_look_file(root, NULL) | fs_look_file(none, NULL), 0);
    assert_false(fs_absent(loop) || fs_exists(loop));
}

static void
test_names(void **state)
{
    AUTO_FREE char *loop = fs_join(root, "loop"), *none = fs_join(root, "none");
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;

    for (const char *name = "gcadbfe"; *name != '\0'; name++) {
        AUTO_FREE char *path = xasprintf("%s/%c", root, *name);
        assert_int_equal(fs_write_quick(path, "", 0, 0600, NULL), 0);
    }
    assert_int_equal(fs_names(root, &names, &err), 0);
    assert_int_equal(strv_len(names), 7);
    assert_true(str_eq(names[0], "a") && str_eq(names[6], "g"));
    strv_free(names);
    assert_int_equal(fs_names(none, &names, &err), 0);
    assert_null(names[0]);
    strv_free(names);
    names = NULL;
    assert_int_equal(symlink("loop", loop), 0);
    assert_int_equal(fs_names(loop, &names, &err), -ELOOP);
    assert_non_null(strstr(fail_text(&err), "cannot read the folder"));
    assert_null(names);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_look, setup, teardown),
          cmocka_unit_test_setup_teardown(test_names, setup, teardown),
          cmocka_unit_test_setup_teardown(test_read, setup, teardown),
          cmocka_unit_test_setup_teardown(test_write, setup, teardown),
          cmocka_unit_test_setup_teardown(test_rewrite, setup, teardown),
          cmocka_unit_test_setup_teardown(test_settle, setup, teardown),
          cmocka_unit_test_setup_teardown(test_write_fails_clean, setup, teardown),
          cmocka_unit_test_setup_teardown(test_device, setup, teardown),
          cmocka_unit_test_setup_teardown(test_long_name, setup, teardown),
          cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
          cmocka_unit_test_setup_teardown(test_mkdirs, setup, teardown),
          cmocka_unit_test_setup_teardown(test_remove_tree, setup, teardown), cmocka_unit_test(test_join),
          cmocka_unit_test_setup_teardown(test_which, setup, teardown), cmocka_unit_test(test_write_nosig))
