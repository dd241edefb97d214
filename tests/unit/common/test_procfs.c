/* test_procfs.c - this process and this host as /proc tells them. */
#include "unit/no_files.h"
#include "unit/unit.h"

#include <limits.h>
#include <unistd.h>

#include "common/host/procfs.h"
#include "common/base/str.h"
#include "salt/value.h"

static void
test_this_process(void **state)
{
    procfs_proc_t p;

    assert_int_equal(procfs_proc(getpid(), &p, NULL), 1);
    assert_int_equal(p.ppid, getppid());
    assert_string_equal(p.name, "test_procfs");
    assert_string_equal(procfs_state(p.state), "running");
    assert_int_equal(p.uid[1], geteuid());
    assert_int_equal(p.threads, 1);
    json_auto_t *words = procfs_cmdline(getpid(), NULL);
    assert_true(json_array_size(words) >= 1);
    AUTO_FREE char *exe = procfs_link(getpid(), "exe", NULL);
    assert_true(str_ends(exe, "/test_procfs"));
    assert_int_equal(procfs_proc(0, &p, NULL), 0);

    char name[PROCFS_NAME];
    assert_int_equal(procfs_name(getpid(), name, NULL), 1);
    assert_string_equal(name, "test_procfs");
    assert_int_equal(procfs_name(0, name, NULL), 0);
    assert_string_equal(name, "");
}

static void
test_pids(void **state)
{
    size_t n = 0;
    bool found = false;
    pid_t *pids = procfs_pids(&n, NULL);

    for (size_t i = 0; i < n; i++) {
        found = found || pids[i] == getpid();
        assert_true(i == 0 || pids[i - 1] < pids[i]);
    }
    free(pids);
    assert_true(found);
    assert_true(procfs_boot_time(NULL) > 1e9);
}

static void
test_kin(void **state)
{
    size_t n;
    AUTO_FREE procfs_kin_t *kin = procfs_kin(&n, NULL);
    assert_true(n > 0);
    assert_int_equal(procfs_parent(kin, n, getpid()), getppid());
    assert_int_equal(procfs_parent(kin, n, kin[0].pid), kin[0].parent);
    assert_int_equal(procfs_parent(kin, n, kin[n - 1].pid), kin[n - 1].parent);
    assert_int_equal(procfs_parent(kin, n, 0), 0);
    assert_int_equal(procfs_parent(kin, n, INT_MAX), 0);
    assert_int_equal(procfs_parent(kin, 0, getpid()), 0);
}

static void
test_mounts(void **state)
{
    size_t n = 0;
    bool root = false;
    procfs_mount_t *mounts = procfs_mounts(&n, NULL);

    for (size_t i = 0; i < n; i++)
        root = root || str_eq(mounts[i].point, "/");
    procfs_mounts_free(mounts, n);
    assert_true(root);
}

static void
test_numbers(void **state)
{
    static const struct {
        const char *word;
        json_type type;
    } rows[] = { { "12", JSON_INTEGER },
                 { "1.5", JSON_REAL },
                 { "-3", JSON_REAL },
                 { "a", JSON_STRING },
                 { "", JSON_STRING },
                 { "1x", JSON_STRING },
                 { "99999999999999999999", JSON_REAL } };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *v = procfs_number(rows[i].word);
        assert_int_equal(json_typeof(v), rows[i].type);
    }
}

/* A limit of open files is neither a process that has gone nor a file that is empty. */
static void
test_no_files(void **state)
{
    procfs_proc_t p;
    fail_auto_t proc = FAIL_INIT, lines = FAIL_INIT, boot = FAIL_INIT, kin = FAIL_INIT, gone = FAIL_INIT;
    size_t n = 0;

    no_files_begin();
    char name[PROCFS_NAME];
    fail_auto_t named = FAIL_INIT;
    int rc = procfs_proc(getpid(), &p, &proc), name_rc = procfs_name(getpid(), name, &named);
    char **text = procfs_lines("/proc/stat", &lines);
    double since = procfs_boot_time(&boot);
    procfs_kin_t *all = procfs_kin(&n, &kin);
    no_files_end();
    assert_int_equal(rc, -EMFILE);
    assert_int_equal(proc.code, -EMFILE);
    assert_int_equal(name_rc, -EMFILE);
    assert_int_equal(lines.code, -EMFILE);
    assert_non_null(strstr(fail_text(&lines), "cannot open /proc/stat: "));
    assert_int_equal(strv_len(text), 0);
    strv_free(text);
    assert_int_equal(boot.code, -EMFILE);
    assert_true(since < 1);
    assert_null(all);
    assert_int_equal(kin.code, -EMFILE);
    strv_free(procfs_lines("/proc/nosuch", &gone));
    AUTO_FREE char *none = procfs_text(0, "stat", &gone);
    assert_null(procfs_link(0, "exe", &gone));
    assert_int_equal(gone.code, 0);
}

UNIT_MAIN(cmocka_unit_test(test_no_files), cmocka_unit_test(test_this_process), cmocka_unit_test(test_pids),
          cmocka_unit_test(test_kin), cmocka_unit_test(test_mounts), cmocka_unit_test(test_numbers))
