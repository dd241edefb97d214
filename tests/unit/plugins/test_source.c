/* test_source.c - lists of sources: the first one that exists, and no other when that can't be told. */
#include "unit/unit.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/fileclient.h"
#include "common/plugin/call.h"
#include "plugins/lib/file/source.h"
#include "plugins/builtin.h"

/* ---- a file server that has "default" and the folder "site", and an answer of its own for the rest -------------- */

static int answer;

static int
hash_of(void *self, const char *path, const char *saltenv, int64_t size, json_t **ret_hash, fail_t *err)
{
    if (str_eq(path, "default")) {
        *ret_hash = json_pack("{s:s}", "hsum", "00");
        return 0;
    }
    if (str_eq(path, "site"))
        return -ENOENT;
    return answer == -ENOENT ? answer : fail_set(err, answer, "salt://%s: %s", path, strerror(-answer));
}

static json_t *
list_dirs(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err)
{
    if (kind != FILES_DIRS || !str_eq(prefix, "site"))
        return json_array();
    if (answer != -ENOENT)
        fail_set(err, answer, "no list of %s", prefix);
    return answer == -ENOENT ? json_pack("[s]", "site") : NULL;
}

/* What of the list is taken: NEW, or NULL with *err. */
static char *
pick(const char *first, const char *second, fail_t *err)
{
    static const fileclient_class_t cls = { .list = list_dirs, .hash = hash_of };
    size_t n;
    const plugin_t *const *plugins = builtin_plugins(PLUGIN_EXEC, &n);
    registry_t *reg = registry_new(PLUGIN_EXEC, plugins, n);
    fileclient_t *files = fileclient_new(&cls, NULL);
    json_auto_t *opts = json_object(), *list = json_pack("[s, s]", first, second), *hash = NULL;
    const call_env_t env = { .registry = reg, .opts = opts, .files = files };
    call_ctx_t *ctx = call_ctx_new(&env);
    char *source = NULL;

    (void) source_pick(ctx, list, NULL, "base", &source, &hash, err);
    call_ctx_destroy(&ctx);
    fileclient_destroy(&files);
    registry_destroy(&reg);
    return source;
}

static void
assert_pick(const char *first, const char *second, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *got = pick(first, second, &err);

    assert_string_equal(got != NULL ? got : "none", want);
}

static void
assert_no_pick(const char *first, const char *second, const char *words)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *got = pick(first, second, &err);

    assert_string_equal(got != NULL ? got : "none", "none");
    assert_non_null(strstr(fail_text(&err), words));
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void
test_served(void **state)
{
    static const int troubles[] = { EMFILE, EIO, ETIMEDOUT, EACCES };

    answer = -ENOENT;
    assert_pick("salt://web1", "salt://default", "salt://default");
    assert_pick("salt://web1", "salt://site", "salt://site");
    assert_pick("salt://../out", "salt://default", "salt://default");
    assert_no_pick("salt://web1", "salt://web2", "none of the specified sources were found");
    for (size_t i = 0; i < NELEMS(troubles); i++) {
        answer = -troubles[i];
        assert_no_pick("salt://web1", "salt://default", "salt://web1: ");
        assert_no_pick("salt://site", "salt://default", "no list of site");
        assert_pick("salt://default", "salt://web1", "salt://default");
    }
}

/* Without a master the cache is what is known. */
static void
test_offline(void **state)
{
    answer = -EHOSTUNREACH;
    assert_pick("salt://web1", "salt://default", "salt://default");
    assert_pick("salt://site", "salt://default", "salt://default");
}

static void
test_local(void **state)
{
    char dir[] = "/tmp/halite-source-XXXXXX";

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *loop = fs_join(dir, "loop"), *url = xasprintf("file://%s/loop", dir),
                   *no = fs_join(dir, "no/file");
    assert_int_equal(symlink("loop", loop), 0);
    assert_pick(no, dir, dir);
    assert_pick("relative", dir, dir);
    assert_no_pick(loop, dir, loop);
    assert_no_pick(url, dir, loop);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_served), cmocka_unit_test(test_offline), cmocka_unit_test(test_local))
