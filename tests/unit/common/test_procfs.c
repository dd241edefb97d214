/* test_procfs.c - this process and this host as /proc tells them. */
#include "unit/unit.h"

#include <limits.h>
#include <unistd.h>

#include "common/base/procfs.h"
#include "common/base/str.h"
#include "salt/value.h"

static void
test_this_process(void **state)
{
    procfs_proc_t p;

    assert_true(procfs_proc(getpid(), &p));
    assert_int_equal(p.ppid, getppid());
    assert_string_equal(p.name, "test_procfs");
    assert_string_equal(procfs_state(p.state), "running");
    assert_int_equal(p.uid[1], geteuid());
    assert_int_equal(p.threads, 1);
    json_auto_t *words = procfs_cmdline(getpid());
    assert_true(json_array_size(words) >= 1);
    AUTO_FREE char *exe = procfs_link(getpid(), "exe");
    assert_true(str_ends(exe, "/test_procfs"));
    assert_false(procfs_proc(0, &p));
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
    assert_true(procfs_boot_time() > 1e9);
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

UNIT_MAIN(cmocka_unit_test(test_this_process), cmocka_unit_test(test_pids), cmocka_unit_test(test_kin),
          cmocka_unit_test(test_mounts), cmocka_unit_test(test_numbers))
