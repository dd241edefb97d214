/* test_perms.c - owner and mode of files whose owner works against it. */
#include "unit/folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/tree.h"
#include "salt/log.h"

extern const plugin_t state_file_directory;

enum { ALICE = 61001, BOB = 61002 };

/* Memcheck runs one thread at a time: nothing races below it. */
static int
rounds(void)
{
    return unit_below_memcheck() ? 5 : 300;
}

/* NEW path below the folder. */
static char *
in(const char *name)
{
    return fs_join(dir, name);
}

static void
put_file(const char *name)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(fs_write_quick(path, "x", 1, 0600, NULL), 0);
}

static void
put_folder(const char *name)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(mkdir(path, 0755), 0);
}

static struct stat
stat_of(const char *name)
{
    AUTO_FREE char *path = in(name);
    struct stat st = { 0 };

    assert_int_equal(lstat(path, &st), 0);
    return st;
}

static call_ctx_t *
context(json_t *opts, registry_t *registry)
{
    const call_env_t env = { .registry = registry, .opts = opts };

    return call_ctx_new(&env);
}

/* ---- what is open ---------------------------------------------------------------------------- */

/* The name means something else by now: what was opened changes, be it a link itself. */
static void
test_held(void **state)
{
    AUTO_FREE char *victim = in("victim"), *file = in("file"), *kept = in("kept"), *link = in("link");
    json_auto_t *opts = json_object();
    json_auto_t *ret = json_pack("{s:{}, s:s, s:b}", "changes", "comment", "", "result", 1);
    json_auto_t *args = json_pack("{s:s, s:i, s:i, s:s}", "name", file, "user",
                                  geteuid() == 0 ? ALICE : geteuid(), "group",
                                  geteuid() == 0 ? ALICE : getegid(), "mode", "0640");
    registry_t *registry = registry_new(PLUGIN_EXEC, NULL, 0);
    call_ctx_t *ctx = context(opts, registry);
    uid_t owner = geteuid() == 0 ? ALICE : geteuid();

    put_file("victim");
    put_file("file");
    assert_int_equal(symlink("victim", link), 0);
    int held = open(file, O_PATH | O_NOFOLLOW | O_CLOEXEC),
        held_link = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    assert_true(held >= 0 && held_link >= 0);
    assert_int_equal(rename(file, kept), 0);
    assert_int_equal(symlink("victim", file), 0);
    assert_int_equal(fop_check_perms_at(ctx, args, held, ret, NULL), 0);
    assert_int_equal(stat_of("kept").st_uid, owner);
    assert_int_equal(stat_of("kept").st_mode & 07777, 0640);
    assert_string_equal(value_str(value_get(ret, "changes"), "mode", ""), "0640");
    assert_int_equal(fop_check_perms_at(ctx, args, held_link, ret, NULL), 0);
    assert_int_equal(stat_of("link").st_uid, owner);
    assert_int_equal(stat_of("victim").st_uid, geteuid());
    assert_int_equal(stat_of("victim").st_mode & 07777, 0600);
    assert_true(json_is_true(value_get(ret, "result")));
    close(held);
    close(held_link);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
}

/* ---- a tree in motion ------------------------------------------------------------------------ */

typedef struct swapper {
    char *a, *b; /* change places as fast as they can */
    atomic_bool end;
} swapper_t;

static void *
swap(void *cookie)
{
    swapper_t *s = cookie;

    while (!s->end)
        (void) renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE);
    return NULL;
}

/* file.directory, which gives it to `uid`, and with `recurse` what is below it. */
static void
give(call_ctx_t *ctx, const char *name, uid_t uid, bool recurse)
{
    AUTO_FREE char *path = in(name);
    json_auto_t *below = recurse ? json_pack("[s, s]", "user", "group") : json_null();
    json_auto_t *args = json_pack("{s:s, s:I, s:I, s:O}", "name", path, "user", (json_int_t) uid, "group",
                                  (json_int_t) uid, "recurse", below);
    json_auto_t *ret = NULL;
    fail_auto_t err = FAIL_INIT;
    size_t i = 0;

    while (!str_eq(state_file_directory.funcs[i].name, "directory"))
        i++;
    assert_int_equal(state_file_directory.funcs[i].fn(ctx, args, &ret, &err), 0);
}

/* A folder of the tree and a link to what is root's change places while file.directory gives the tree away. */
static void
test_swapped(void **state)
{
    swapper_t s = { .a = in("tree/sub"), .b = in("tree/zlink") };
    AUTO_FREE char *a = s.a, *b = s.b;
    json_auto_t *opts = json_object();
    registry_t *registry = registry_new(PLUGIN_EXEC, NULL, 0);
    call_ctx_t *ctx = context(opts, registry);
    pthread_t thread;

    if (geteuid() != 0) {
        call_ctx_destroy(&ctx);
        registry_destroy(&registry);
        skip(); /* nobody else gives files away */
    }
    put_folder("tree");
    put_folder("tree/sub");
    put_folder("victim");
    put_file("tree/sub/file");
    put_file("tree/file");
    put_file("victim/file");
    assert_int_equal(symlink("../victim", s.b), 0);
    assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
    for (int i = 0; i < rounds(); i++)
        give(ctx, "tree", i % 2 == 0 ? ALICE : BOB, true);
    s.end = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    give(ctx, "tree", ALICE, true);
    assert_int_equal(stat_of("victim/file").st_uid, 0);
    assert_int_equal(stat_of("victim").st_uid, 0);
    assert_int_equal(stat_of("tree/file").st_uid, ALICE);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
}

/* The folder itself and a link of hers to what is root's change places. */
static void
test_swapped_top(void **state)
{
    swapper_t s = { .a = in("home/folder"), .b = in("home/link") };
    AUTO_FREE char *a = s.a, *b = s.b, *home = in("home");
    json_auto_t *opts = json_object();
    registry_t *registry = registry_new(PLUGIN_EXEC, NULL, 0);
    call_ctx_t *ctx = context(opts, registry);
    pthread_t thread;

    if (geteuid() != 0) {
        call_ctx_destroy(&ctx);
        registry_destroy(&registry);
        skip(); /* nobody else gives folders away */
    }
    put_folder("home");
    put_folder("home/folder");
    put_folder("victim");
    assert_int_equal(symlink("../victim", s.b), 0);
    assert_true(chown(home, ALICE, ALICE) == 0 && lchown(s.b, ALICE, ALICE) == 0);
    assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
    for (int i = 0; i < rounds(); i++)
        give(ctx, "home/folder", i % 2 == 0 ? ALICE : BOB, false);
    s.end = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stat_of("victim").st_uid, 0);
    call_ctx_destroy(&ctx);
    registry_destroy(&registry);
}

/* ---- a folder that was just made --------------------------------------------------------------- */

/* What is made becomes a link to what is root's, as soon as it is there. */
static void *
take_place(void *cookie)
{
    swapper_t *s = cookie;

    while (!s->end) {
        if (rename(s->a, s->b) == 0 && symlink("victim", s->a) != 0)
            return NULL;
    }
    return NULL;
}

static void
test_made(void **state)
{
    swapper_t s = { .a = in("home/made"), .b = in("kept") };
    AUTO_FREE char *a = s.a, *b = s.b, *below = in("home/made/");
    json_auto_t *args = json_pack("{s:s, s:s, s:s, s:s}", "path", below, "user", "nobody", "group", "nogroup",
                                  "mode", "0751");
    pthread_t thread;

    if (geteuid() != 0)
        skip(); /* nobody else gives folders away */
    put_folder("home");
    put_folder("home/victim");
    assert_int_equal(pthread_create(&thread, NULL, take_place, &s), 0);
    for (int i = 0; i < rounds(); i++) {
        json_auto_t *ret = NULL;
        (void) file_makedirs(NULL, args, &ret, NULL);
        (void) unlink(a);
        (void) rmdir(a);
        (void) rmdir(b);
    }
    s.end = true;
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stat_of("home/victim").st_uid, 0);
    assert_int_equal(stat_of("home/victim").st_mode & 07777, 0755);
}

/* A link of hers leads to a folder of root's: nothing is made there, nor given to her. In what is hers it
 * is followed. */
static void
test_made_astray(void **state)
{
    static const struct {
        const char *path;
        int code;
    } rows[] = { { "home/door/made/", -EPERM },
                 { "home/door/made/below/", -EPERM },
                 { "home/in/made/", 0 },
                 { "home/roots/made/", 0 } };
    AUTO_FREE char *home = in("home"), *own = in("home/own"), *door = in("home/door"), *inner = in("home/in"),
                   *roots = in("home/roots");

    if (geteuid() != 0)
        skip(); /* nobody else gives folders away */
    put_folder("home");
    put_folder("home/own");
    put_folder("victim");
    put_folder("shared");
    assert_true(symlink("../victim", door) == 0 && symlink("own", inner) == 0 &&
                symlink("../shared", roots) == 0);
    assert_true(chown(home, ALICE, ALICE) == 0 && chown(own, ALICE, ALICE) == 0 &&
                lchown(door, ALICE, ALICE) == 0 && lchown(inner, ALICE, ALICE) == 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *path = in(rows[i].path);
        json_auto_t *args = json_pack("{s:s, s:i}", "path", path, "user", ALICE), *ret = NULL;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(file_makedirs(NULL, args, &ret, &err), rows[i].code);
        assert_true(rows[i].code == 0 || strstr(fail_text(&err), "root does not follow it") != NULL);
    }
    AUTO_FREE char *victim = in("victim");
    assert_int_equal(rmdir(victim), 0);
    assert_int_equal(stat_of("home/own/made").st_uid, ALICE);
    assert_int_equal(stat_of("shared/made").st_uid, ALICE);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_held), IN_DIR(test_swapped), IN_DIR(test_swapped_top), IN_DIR(test_made),
          IN_DIR(test_made_astray))
