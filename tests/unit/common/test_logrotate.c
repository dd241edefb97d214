/* test_logrotate.c - the log's file while it is rotated under the process, with and without a signal. */
#include "salt/log.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/base/str.h"
#include "unit/folder.h"

static char path[64], moved[64], below[64];

/* How often `word` is in a file; -1: there is none. */
static int
count(const char *file, const char *word)
{
    buf_auto_t text = BUF_INIT;
    int n = 0;

    if (fs_read(file, 100000, &text, NULL) < 0)
        return -1;
    for (const char *at = buf_str(&text); (at = strstr(at, word)) != NULL; at += strlen(word))
        n++;
    return n;
}

static int
opened(void **state)
{
    if (setup(state) != 0)
        return -1;
    (void) snprintf(below, sizeof(below), "%s/logs", dir);
    (void) snprintf(path, sizeof(path), "%s/logs/log", dir);
    (void) snprintf(moved, sizeof(moved), "%s/log.1", dir);
    return fs_mkdirs(below, 0755, NULL) | log_open_file(path, LEVEL_INFO, NULL);
}

static void
test_moved(void **state)
{
    struct stat st;

    log_info("one");
    assert_int_equal(rename(path, moved), 0);
    log_info("two");
    assert_int_equal(count(moved, "one"), 1);
    assert_int_equal(count(moved, "two"), 0);
    assert_int_equal(count(path, "two"), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
}

/* logrotate's `create`: the file is there before anything is logged, with an owner and a mode of its own. */
static void
test_made_by_others(void **state)
{
    log_info("one");
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(fs_write_quick(path, "", 0, 0600, NULL), 0);
    log_reopen();
    log_info("two");
    assert_int_equal(count(path, "two"), 1);
}

static void
test_removed(void **state)
{
    assert_int_equal(unlink(path), 0);
    log_info("three");
    assert_int_equal(count(path, "three"), 1);
}

static void
test_copied_and_cut(void **state)
{
    log_info("one");
    assert_int_equal(truncate(path, 0), 0);
    log_info("two");
    assert_int_equal(count(path, "one"), 0);
    assert_int_equal(count(path, "two"), 1);
}

/* A file that can't be made anew is no reason to lose what is said: the old one has it, and why, once. */
static void
test_no_place(void **state)
{
    AUTO_FREE char *gone = xasprintf("%s/gone", dir), *old = fs_join(gone, "log");

    assert_int_equal(rename(below, gone), 0);
    log_info("four");
    log_info("five");
    assert_int_equal(count(old, "four") + count(old, "five"), 2);
    assert_int_equal(count(old, "cannot reopen the log file"), 1);
    assert_int_equal(fs_mkdirs(below, 0755, NULL), 0);
    log_info("six");
    assert_int_equal(count(path, "six"), 1);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, opened, teardown)

UNIT_MAIN(T(test_moved), T(test_made_by_others), T(test_removed), T(test_copied_and_cut), T(test_no_place))
