/* test_content.c - new content for a file: compared, shown, and never half-written. */
#include "unit/folder.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/content.h"

static char *
put(const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", dir, name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0640, NULL), 0);
    return path;
}

static void
assert_holds(const char *path, const char *want)
{
    buf_auto_t text = BUF_INIT;

    assert_int_equal(fs_read(path, 1 << 20, &text, NULL), 0);
    assert_string_equal(buf_str(&text), want);
}

static int
files_in_dir(void)
{
    DIR *d = opendir(dir);
    int n = -2; /* . and .. */

    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* ---- a file with as many attributes, and as large ones, as the kernel knows: few file systems have room for them */

enum { ATTRS = 2000 };

static bool faked;
static size_t n_set;

/* Returns the length of what is put into `out`. */
static ssize_t
give(const char *bytes, size_t len, void *out, size_t size)
{
    if (size > 0 && size < len) {
        errno = ERANGE;
        return -1;
    }
    if (size > 0)
        memcpy(out, bytes, len);
    return (ssize_t) len;
}

ssize_t
flistxattr(int fd, char *list, size_t size)
{
    static char names[ATTRS * 20];

    for (size_t i = 0; i < ATTRS; i++)
        (void) snprintf(names + i * 20, 20, "user.%014zu", i);
    return faked ? give(names, sizeof(names), list, size)
                 : ((ssize_t(*)(int, char *, size_t)) dlsym(RTLD_NEXT, "flistxattr"))(fd, list, size);
}

ssize_t
fgetxattr(int fd, const char *name, void *value, size_t size)
{
    static char large[65536];

    return faked ? give(large, sizeof(large), value, size)
                 : ((ssize_t(*)(int, const char *, void *, size_t)) dlsym(RTLD_NEXT, "fgetxattr"))(
                       fd, name, value, size);
}

int
fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    if (!faked)
        return ((int (*)(int, const char *, const void *, size_t, int)) dlsym(RTLD_NEXT, "fsetxattr"))(
            fd, name, value, size, flags);
    n_set += size == 65536;
    return 0;
}

static const landing_t plain = { (uid_t) -1, (gid_t) -1, 0644, NULL };

static void
test_same(void **state)
{
    AUTO_FREE char *a = put("a", "one\ntwo\n"), *b = put("b", "one\ntwo\n"), *c = put("c", "one\ntwO\n");
    const content_t of_b = { .path = b }, of_c = { .path = c }, text = { .data = "one\ntwo\n", .len = 8 };
    const content_t longer = { .data = "one\ntwo\nx", .len = 9 };
    bool same = false;

    assert_int_equal(content_same(a, &of_b, &same, NULL), 0);
    assert_true(same);
    assert_int_equal(content_same(a, &text, &same, NULL), 0);
    assert_true(same);
    assert_int_equal(content_same(a, &of_c, &same, NULL), 0);
    assert_false(same);
    assert_int_equal(content_same(a, &longer, &same, NULL), 0);
    assert_false(same);
    assert_int_equal(content_same("/nonexistent/x", &text, &same, NULL), -ENOENT);
}

static void
test_diff(void **state)
{
    AUTO_FREE char *a = put("a", "one\ntwo\n"), *binary = put("b", "\001\002\003\004");
    const content_t text = { .data = "one\n2\n", .len = 6 }, zero = { .data = "\0x", .len = 2 };
    AUTO_FREE char *diff = NULL, *note = NULL, *both = NULL;

    assert_int_equal(content_diff(a, &text, NULL, &diff, NULL), 0);
    assert_string_equal(diff, "--- \n+++ \n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert_int_equal(content_diff(a, &zero, NULL, &note, NULL), 0);
    assert_string_equal(note, "Replace text file with binary file");
    const content_t of_binary = { .path = binary };
    assert_int_equal(content_diff(a, &of_binary, NULL, &both, NULL), 0);
    assert_non_null(strstr(both, "@@")); /* control characters alone are valid UTF-8, and so text */
}

/* However large a difference is, what is returned has a bound and says what is missing. */
static void
test_diff_bound(void **state)
{
    buf_auto_t big = BUF_INIT;
    AUTO_FREE char *empty = put("e", "");
    AUTO_FREE char *diff = NULL, *huge = NULL;
    AUTO_FREE char *sparse = put("s", "");

    for (int i = 0; i < 200000; i++)
        buf_printf(&big, "line %d\n", i);
    const content_t text = { .data = big.data, .len = big.len };
    assert_int_equal(content_diff(empty, &text, NULL, &diff, NULL), 0);
    assert_true(strlen(diff) <= LIMIT_DIFF_TEXT + 100);
    assert_true(str_ends(diff, " more bytes of difference\n"));
    assert_int_equal(truncate(sparse, (off_t) LIMIT_DIFF_FILE + 1), 0);
    AUTO_FD fd = open(sparse, O_WRONLY | O_CLOEXEC);
    AUTO_FREE char *words = xcalloc(1, 1024);
    memset(words, 'w', 1023);
    assert_int_equal(write(fd, words, 1023), 1023);
    const content_t of_sparse = { .path = sparse };
    assert_int_equal(content_diff(empty, &of_sparse, NULL, &huge, NULL), 0);
    assert_non_null(strstr(huge, "too large to compare by lines"));
}

static void
test_commit(void **state)
{
    AUTO_FREE char *a = put("a", "old"), *b = xasprintf("%s/b", dir), *link = xasprintf("%s/l", dir);
    const content_t text = { .data = "new", .len = 3 }, of_a = { .path = a };
    const landing_t secret = { (uid_t) -1, (gid_t) -1, 0600, NULL };
    struct stat st;

    assert_int_equal(content_commit(a, &text, &secret, NULL), 0);
    assert_holds(a, "new");
    assert_int_equal(stat(a, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(content_commit(b, &of_a, &plain, NULL), 0);
    assert_holds(b, "new");
    /* A link of that name is replaced, not followed. */
    assert_int_equal(symlink(a, link), 0);
    const content_t other = { .data = "other", .len = 5 };
    assert_int_equal(content_commit(link, &other, &plain, NULL), 0);
    assert_holds(link, "other");
    assert_holds(a, "new");
    assert_int_equal(files_in_dir(), 3);
}

/* The ACL that a file has is its successor's, but never lets in more than the mode that the successor is
 * given: the group's bits bound what the ACL's users may. */
static void
test_commit_acl(void **state)
{
    static const struct {
        uint32_t version;
        struct {
            uint16_t tag, perm;
            uint32_t id;
        } entries[5];
    } acl = { 2,
              { { 0x01, 6, UINT32_MAX }, /* the owner */
                { 0x02, 4, 61001 },      /* somebody else */
                { 0x04, 4, UINT32_MAX }, /* the group */
                { 0x10, 4, UINT32_MAX }, /* the mask */
                { 0x20, 0, UINT32_MAX } } /* others */ };
    AUTO_FREE char *a = put("a", "old");
    const content_t text = { .data = "new", .len = 3 };
    const landing_t as_before = { (uid_t) -1, (gid_t) -1, 0640, a },
                    secret = { (uid_t) -1, (gid_t) -1, 0600, a };
    char got[sizeof(acl)];
    struct stat st;

    if (setxattr(a, "system.posix_acl_access", &acl, sizeof(acl), 0) != 0)
        skip(); /* a file system without ACLs */
    assert_int_equal(content_commit(a, &text, &as_before, NULL), 0);
    assert_int_equal(getxattr(a, "system.posix_acl_access", got, sizeof(got)), sizeof(acl));
    assert_memory_equal(got, &acl, sizeof(acl));
    assert_int_equal(content_commit(a, &text, &secret, NULL), 0);
    assert_int_equal(stat(a, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(getxattr(a, "system.posix_acl_access", got, sizeof(got)), sizeof(acl));
    assert_int_equal(chmod(a, 0640), 0);
    assert_int_equal(getxattr(a, "system.posix_acl_access", got, sizeof(got)), sizeof(acl));
    assert_memory_equal(got, &acl, sizeof(acl));
}

static void
test_large_attributes(void **state)
{
    AUTO_FREE char *a = put("a", "old");
    const content_t text = { .data = "new", .len = 3 };
    const landing_t as_before = { (uid_t) -1, (gid_t) -1, 0640, a };

    faked = true;
    int rc = content_commit(a, &text, &as_before, NULL);
    faked = false;
    assert_int_equal(rc, 0);
    assert_int_equal(n_set, ATTRS);
}

/* The disk is full in the middle: the old file stays, and nothing else does. */
static void
test_commit_fails(void **state)
{
    AUTO_FREE char *a = put("a", "old"), *fresh = xasprintf("%s/new", dir), *big = xcalloc(1, 300000);
    const content_t text = { .data = big, .len = 300000 }, missing = { .path = "/nonexistent/x" };
    struct rlimit before, small;
    fail_auto_t err = FAIL_INIT;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &small);
    int rc = content_commit(a, &text, &plain, &err), rc_new = content_commit(fresh, &text, &plain, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(rc, -EFBIG);
    assert_non_null(strstr(fail_text(&err), "[Errno 27] File too large"));
    assert_int_equal(rc_new, -EFBIG);
    assert_holds(a, "old");
    assert_int_equal(content_commit(a, &missing, &plain, NULL), -ENOENT);
    assert_holds(a, "old");
    assert_int_equal(files_in_dir(), 1);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_same), IN_DIR(test_diff), IN_DIR(test_diff_bound), IN_DIR(test_commit),
          IN_DIR(test_commit_acl), IN_DIR(test_large_attributes), IN_DIR(test_commit_fails))
