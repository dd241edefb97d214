/* test_paths.c - what has a name, where nobody can look at it: no answer is not "nothing is there". */
#include "unit/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "plugins/lib/file/fileops.h"

enum { ALICE = 61001 };

typedef int look_fn(const char *path, fail_t *err);

static int
as_folder(const char *path, fail_t *err)
{
    return fop_exists_as(path, S_IFDIR, err);
}

static int
as_link(const char *path, fail_t *err)
{
    return fop_lexists_as(path, S_IFLNK, err);
}

static int
to_folder(const char *path, fail_t *err)
{
    return fop_leads_to(path, S_IFDIR, err);
}

static look_fn *const looks[] = { fop_exists, fop_lexists, as_folder, as_link, to_folder };

static void
check(const char *name, const int wanted[NELEMS(looks)])
{
    AUTO_FREE char *path = fs_join(dir, name);

    for (size_t i = 0; i < NELEMS(looks); i++) {
        fail_auto_t err = FAIL_INIT;
        int is = looks[i](path, &err);
        if (is != wanted[i])
            fail_msg("%s, look %zu: %d (%s) and not %d", name, i, is, fail_text(&err), wanted[i]);
        if (is < 0 &&
            (strstr(fail_text(&err), path) == NULL || strstr(fail_text(&err), strerror(-is)) == NULL))
            fail_msg("%s, look %zu: \"%s\" names no path or no reason", name, i, fail_text(&err));
    }
}

static void
put_link(const char *name, const char *target)
{
    AUTO_FREE char *path = fs_join(dir, name);

    assert_int_equal(symlink(target, path), 0);
}

static void
put_folder(const char *name, mode_t mode)
{
    AUTO_FREE char *path = fs_join(dir, name);

    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void
test_names(void **state)
{
    char name[300], target[300];

    memset(name, 'n', sizeof(name) - 1);
    memset(target, 't', sizeof(target) - 1);
    name[sizeof(name) - 1] = target[sizeof(target) - 1] = '\0';
    put_folder("folder", 0755);
    put_link("good", "folder");
    put_link("dead", "none");
    put_link("circle", "circle");
    put_link("long", target);
    check("none", (int[]){ 0, 0, 0, 0, 0 });
    check("folder", (int[]){ 1, 1, 1, 0, 1 });
    check("good", (int[]){ 1, 1, 1, 1, 1 });
    check("dead", (int[]){ 0, 1, 0, 1, 0 });
    check("circle", (int[]){ -ELOOP, 1, -ELOOP, 1, 0 });
    check("circle/x", (int[]){ -ELOOP, -ELOOP, -ELOOP, -ELOOP, -ELOOP });
    check("long", (int[]){ -ENAMETOOLONG, 1, -ENAMETOOLONG, 1, 0 });
    check(name, (int[]){ -ENAMETOOLONG, -ENAMETOOLONG, -ENAMETOOLONG, -ENAMETOOLONG, -ENAMETOOLONG });
}

/* Below a folder that is closed to an ordinary user. */
static void
test_closed(void **state)
{
    bool root = geteuid() == 0;

    put_folder("shut", 0);
    put_link("in", "shut/x");
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(root ? seteuid(ALICE) : 0, 0);
    check("shut/x", (int[]){ -EACCES, -EACCES, -EACCES, -EACCES, -EACCES });
    check("in", (int[]){ -EACCES, 1, -EACCES, 1, 0 });
    assert_int_equal(root ? seteuid(0) : 0, 0);
    AUTO_FREE char *shut = fs_join(dir, "shut");
    assert_int_equal(chmod(shut, 0700), 0); /* or an ordinary user can't remove it */
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_names, setup, teardown),
          cmocka_unit_test_setup_teardown(test_closed, setup, teardown))
