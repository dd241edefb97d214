/* test_sweep.c - files that are removed while the folder's owner puts a link to what is root's in its place. */
#include "unit/folder.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/file/text.h"
#include "salt/plugin.h"

extern const plugin_t state_file_tidy;

enum { CROWD = 3000, PATIENCE = 100000000 };

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

    assert_int_equal(fs_write_quick(path, "x", 1, 0600, NULL), 0);
}

static bool
there(const char *name)
{
    AUTO_FREE char *path = in(name);
    struct stat st;

    return lstat(path, &st) == 0;
}

/* tmp/a has a crowd of files, and last one whose name the victim's file has. */
static void
crowd(void)
{
    static const char *const folders[] = { "tmp", "tmp/a", "victim" };

    for (size_t i = 0; i < NELEMS(folders); i++) {
        AUTO_FREE char *path = in(folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    for (int i = 0; i < CROWD; i++) {
        AUTO_FREE char *name = xasprintf("tmp/a/f%04d", i);
        put(name);
    }
    put("tmp/a/z");
    put("victim/z");
}

/* As soon as the first file has gone, the folder becomes a link. */
static void *
swap(void *cookie)
{
    AUTO_FREE char *first = in("tmp/a/f0000"), *folder = in("tmp/a"), *kept = in("kept"), *to = in("victim");

    for (int i = 0; i < PATIENCE && access(first, F_OK) == 0; i++)
        ;
    *(bool *) cookie = rename(folder, kept) == 0 && symlink(to, folder) == 0;
    return NULL;
}

typedef int act_fn(call_ctx_t *ctx, const char *path, json_t **ret_value);

static int
tidy(call_ctx_t *ctx, const char *path, json_t **ret_value)
{
    json_auto_t *args = json_pack("{s:s, s:i, s:i}", "name", path, "age", 0, "size", 0);
    fail_auto_t err = FAIL_INIT;
    size_t i = 0;

    while (!str_eq(state_file_tidy.funcs[i].name, "tidied"))
        i++;
    return state_file_tidy.funcs[i].fn(ctx, args, ret_value, &err);
}

static int
find(call_ctx_t *ctx, const char *path, json_t **ret_value)
{
    json_auto_t *args = json_pack("{s:s, s:[], s:{s:s, s:s}}", "path", path, "args", "kwargs", "type", "f",
                                  "delete", "f");
    fail_auto_t err = FAIL_INIT;

    return file_find(ctx, args, ret_value, &err);
}

static void
remove_from(act_fn *act, json_t **ret_value)
{
    AUTO_FREE char *tmp = in("tmp");
    json_auto_t *opts = json_object();
    registry_t *registry = registry_new(PLUGIN_EXEC, NULL, 0);
    const call_env_t env = { .registry = registry, .opts = opts };
    call_ctx_t *ctx = call_ctx_new(&env);
    bool swapped = false;
    pthread_t thread;

    crowd();
    assert_int_equal(pthread_create(&thread, NULL, swap, &swapped), 0);
    assert_int_equal(act(ctx, tmp, ret_value), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(swapped);
    assert_true(there("victim/z"));
    assert_false(there("tmp/a/f0000"));
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
}

static void
test_tidied(void **state)
{
    json_auto_t *ret = NULL;

    remove_from(tidy, &ret);
    if (there("kept/z")) { /* the link came in time */
        assert_true(json_is_false(value_get(ret, "result")));
        assert_non_null(strstr(value_str(ret, "comment", ""), "has become a link"));
    }
}

static void
test_found(void **state)
{
    json_auto_t *ret = NULL;

    remove_from(find, &ret);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_tidied), IN_DIR(test_found))
