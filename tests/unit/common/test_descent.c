/* test_descent.c - deeper than a process may have descriptors, and never into another's folder. */
#include "unit/folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/descent.h"
#include "common/base/str.h"

#define LEVELS 3000

/* "d" in "d" in "d" ... below the folder; in each a file of either side of it. */
static void
dig(int levels)
{
    AUTO_FD at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < levels; i++) {
        assert_int_equal(mkdirat(at, "d", 0700), 0);
        int below = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(below >= 0);
        close(at);
        at = below;
        close(openat(at, "a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        close(openat(at, "z", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    }
}

static int
descriptors(void)
{
    DIR *fds = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(fds) != NULL)
        n++;
    closedir(fds);
    return n;
}

static void
test_bounded(void **state)
{
    descent_auto_t at = DESCENT_INIT;
    int had = descriptors();

    dig(LEVELS);
    assert_int_equal(descent_down(&at, AT_FDCWD, dir), 0);
    for (int i = 0; i < LEVELS; i++)
        assert_int_equal(descent_down(&at, dirfd(descent_dir(&at)), "d"), 0);
    assert_int_equal(descent_down(&at, dirfd(descent_dir(&at)), "d"), -ENOENT);
    assert_in_range(descriptors(), had, had + DESCENT_OPEN);
    for (int i = 0; i < LEVELS; i++) {
        assert_string_equal(descent_name(&at), "d");
        assert_int_equal(descent_up(&at), 0);
    }
    assert_string_equal(descent_name(&at), dir);
    assert_int_equal(descent_up(&at), 0);
    assert_int_equal(at.depth, 0);
    assert_int_equal(descriptors(), had);
}

/* What is moved elsewhere while one is in it has another folder above it. */
static void
test_moved(void **state)
{
    descent_auto_t at = DESCENT_INIT;
    AUTO_FREE char *other = xasprintf("%s/other", dir), *first = xasprintf("%s/d", dir);
    AUTO_FREE char *second = xasprintf("%s/d/d", dir), *moved = xasprintf("%s/other/d", dir);

    dig(DESCENT_OPEN + 2);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(descent_down(&at, AT_FDCWD, first), 0);
    for (int i = 1; i < DESCENT_OPEN + 2; i++)
        assert_int_equal(descent_down(&at, dirfd(descent_dir(&at)), "d"), 0);
    assert_int_equal(rename(second, moved), 0);
    for (int i = 1; i < DESCENT_OPEN + 1; i++)
        assert_int_equal(descent_up(&at), 0);
    assert_int_equal(at.depth, 2);
    assert_int_equal(descent_up(&at), -ESTALE);
}

static void
test_links(void **state)
{
    descent_auto_t at = DESCENT_INIT;
    AUTO_FREE char *link = xasprintf("%s/link", dir);

    assert_int_equal(symlink("/", link), 0);
    assert_int_equal(descent_down(&at, AT_FDCWD, link), -ENOTDIR);
    assert_int_equal(at.depth, 0);
}

/* Below a low limit, with all that is beside the deep ones. */
static void
test_remove(void **state)
{
    struct rlimit had, low;

    dig(LEVELS);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
    low = had;
    low.rlim_cur = (rlim_t) descriptors() + DESCENT_OPEN + 2;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    int rc = fs_remove_tree(dir, NULL);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
    assert_int_equal(rc, 0);
    assert_true(fs_absent(dir));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_MAIN(TEST(test_bounded), TEST(test_moved), TEST(test_links), TEST(test_remove))
