/* test_folders.c - folders that can't be read to their end: who lists, copies or keeps what is in one says
 * so. */
#include "unit/folder.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/file/text.h"
#include "plugins/lib/file/tree.h"
#include "uplink/remotefiles.h"
#include "salt/plugin.h"

extern const plugin_t state_file_retention;

static int names_left = -1; /* until the disk fails; below 0: it does not */

/* For the code under test too. */
struct dirent *
readdir(DIR *folder)
{
    if (names_left != 0) {
        names_left -= names_left > 0;
        return (struct dirent *) readdir64(folder);
    }
    errno = EIO;
    return NULL;
}

/* NEW path below the folder. */
static char *
in(const char *name)
{
    return fs_join(dir, name);
}

static void
put(const char *name)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(fs_own_parent(path, NULL), 0);
    assert_int_equal(fs_write_quick(path, "x", 1, 0600, NULL), 0);
}

static bool
there(const char *name)
{
    AUTO_FREE char *path = in(name);

    return fs_exists(path);
}

/* One call while folders give three names, "." and ".." among them, and no more. TAKES `args`. */
static int
call_cut_short(func_fn *fn, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *held = args, *opts = json_pack("{s:s}", "cachedir", dir);
    registry_t *registry = registry_new(PLUGIN_EXEC, NULL, 0);
    const call_env_t env = { .registry = registry, .opts = opts };
    call_ctx_t *ctx = call_ctx_new(&env);

    assert_non_null(held);
    names_left = 3;
    int rc = fn(ctx, held, ret_value, err);
    names_left = -1;
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
    return rc;
}

static void
assert_fails(func_fn *fn, json_t *args)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *ret = NULL;

    assert_int_equal(call_cut_short(fn, args, &ret, &err), -EIO);
    assert_non_null(strstr(fail_text(&err), strerror(EIO)));
    assert_null(ret);
}

static void
test_listed(void **state)
{
    AUTO_FREE char *folder = in("d");

    put("d/a");
    put("d/b");
    assert_fails(file_readdir, json_pack("{s:s}", "path", folder));
}

static void
test_copied(void **state)
{
    AUTO_FREE char *from = in("d"), *to = in("to");

    put("d/a");
    put("d/b");
    assert_fails(file_copy, json_pack("{s:s, s:s, s:b}", "src", from, "dst", to, "recurse", 1));
}

static void
test_swept(void **state)
{
    AUTO_FREE char *top = in("d"), *a = in("d/a"), *b = in("d/b");
    fail_auto_t err = FAIL_INIT;
    json_auto_t *ret = NULL;

    assert_int_equal(fs_mkdirs(a, 0755, NULL), 0);
    assert_int_equal(fs_mkdirs(b, 0755, NULL), 0);
    json_t *args = json_pack("{s:s, s:b, s:b}", "path", top, "recurse", 1, "verbose", 1);
    assert_int_equal(call_cut_short(file_rmdir, args, &ret, &err), 0);
    assert_true(json_is_false(value_get(ret, "result")));
    const json_t *first = json_array_get(value_get(ret, "errors"), 0);
    assert_non_null(strstr(json_string_value(json_array_get(first, 1)), strerror(EIO)));
}

/* Which copy a number means is known when all of them are. */
static void
test_backups(void **state)
{
    static const char *const copies[] = { "f_Fri_Nov_20_10:00:00_000001_2026",
                                          "f_Fri_Nov_20_11:00:00_000001_2026" };
    AUTO_FREE char *path = in("d/f");

    for (size_t i = 0; i < NELEMS(copies); i++) {
        AUTO_FREE char *name = xasprintf("file_backup%s/d/%s", dir, copies[i]);
        put(name);
    }
    assert_fails(file_list_backups, json_pack("{s:s, s:n}", "path", path, "limit"));
    assert_fails(file_list_backups_dir, json_pack("{s:s, s:n}", "path", path, "limit"));
    assert_fails(file_delete_backup, json_pack("{s:s, s:i}", "path", path, "backup_id", 0));
    assert_fails(file_restore_backup, json_pack("{s:s, s:i}", "path", path, "backup_id", 0));
    for (size_t i = 0; i < NELEMS(copies); i++) {
        AUTO_FREE char *name = xasprintf("file_backup%s/d/%s", dir, copies[i]);
        assert_true(there(name));
    }
}

static void
test_retained(void **state)
{
    AUTO_FREE char *top = in("d");
    fail_auto_t err = FAIL_INIT;
    json_auto_t *ret = NULL;

    put("d/2026-01-01");
    put("d/2026-01-02");
    json_t *args = json_pack("{s:s, s:{s:i}, s:s}", "name", top, "retain", "most_recent", 0,
                             "strptime_format", "%Y-%m-%d");
    assert_int_equal(call_cut_short(state_file_retention.funcs[0].fn, args, &ret, &err), 0);
    assert_true(json_is_false(value_get(ret, "result")));
    assert_non_null(strstr(value_str(ret, "comment", ""), strerror(EIO)));
    assert_true(there("d/2026-01-01"));
    assert_true(there("d/2026-01-02"));
}

static int
offline(void *cookie, json_t *ask, json_t **ret_value, fail_t *err)
{
    return fail_set(err, -EHOSTUNREACH, "no master");
}

/* Without a master: a highstate without the states of one environment would be another one. */
static void
test_environments(void **state)
{
    AUTO(fileclient) files = remotefiles_new(dir, offline, NULL);
    fail_auto_t err = FAIL_INIT;

    put("files/base/a");
    put("files/dev/a");
    json_auto_t *all = fileclient_envs(files, &err);
    assert_int_equal(json_array_size(all), 2);
    names_left = 3;
    json_auto_t *some = fileclient_envs(files, &err);
    names_left = -1;
    assert_null(some);
    assert_int_equal(err.code, -EIO);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_listed), IN_DIR(test_copied), IN_DIR(test_swept), IN_DIR(test_backups),
          IN_DIR(test_retained), IN_DIR(test_environments))
