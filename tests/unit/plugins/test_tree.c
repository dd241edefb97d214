/* test_tree.c - what is made, moved and copied in folders whose owner works against it. */
#include "unit/folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/tree.h"

enum { ALICE = 61001 };

/* Memcheck runs one thread at a time: nothing races below it. */
static int
rounds(void)
{
    return unit_below_memcheck() ? 5 : 1000;
}

/* NEW path below the folder. */
static char *
in(const char *name)
{
    return fs_join(dir, name);
}

static void
put_folder(const char *name, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(mkdir(path, 0755), 0);
    assert_int_equal(chown(path, uid, uid), 0);
}

static void
put_file(const char *name, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(fs_write_quick(path, "x", 1, 0600, NULL), 0);
    assert_int_equal(chown(path, uid, uid), 0);
}

static void
put_link(const char *name, const char *target, uid_t uid)
{
    AUTO_FREE char *path = in(name);

    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(lchown(path, uid, uid), 0);
}

static bool
is_there(const char *name)
{
    AUTO_FREE char *path = in(name);
    struct stat st;

    return lstat(path, &st) == 0;
}

/* ---- a folder that is a link now and then ------------------------------------------------------ */

typedef struct swapper {
    char *a, *b;
    atomic_bool end;
    pthread_t thread;
} swapper_t;

static void *
swap(void *cookie)
{
    swapper_t *s = cookie;

    while (!s->end)
        (void) renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE);
    return NULL;
}

/* Her folder `home/d` and a link of hers to `victim`, which is root's, have each other's names in turn. */
static void
swap_begin(swapper_t *s)
{
    put_folder("victim", 0);
    put_folder("home", ALICE);
    put_folder("home/d", ALICE);
    put_file("home/d/stays", ALICE);
    put_link("home/e", "../victim", ALICE);
    *s = (swapper_t){ .a = in("home/d"), .b = in("home/e") };
    assert_int_equal(pthread_create(&s->thread, NULL, swap, s), 0);
}

static void
swap_end(swapper_t *s)
{
    s->end = true;
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    free(s->a);
    free(s->b);
}

/* The way is a folder at one moment and a link at the next: where none is found nothing is made. */
static void
test_link_swapped(void **state)
{
    AUTO_FREE char *path = in("home/d/x"), *source = in("source");
    json_auto_t *args = json_pack("{s:s, s:s}", "src", source, "path", path);
    swapper_t s;

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    put_file("source", 0);
    swap_begin(&s);
    for (int i = 0; i < rounds() && !is_there("victim/x"); i++) {
        json_auto_t *ret = NULL;
        (void) (i % 2 == 0 ? file_symlink : file_link)(NULL, args, &ret, NULL);
    }
    swap_end(&s);
    assert_false(is_there("victim/x"));
}

/* A copy that was taken away again gives owner and mode to nothing else. */
static void
test_copy_swapped(void **state)
{
    AUTO_FREE char *path = in("home/d"), *source = in("source"), *victim = in("victim");
    json_auto_t *args = json_pack("{s:s, s:s, s:b}", "src", source, "dst", path, "recurse", 1);
    struct stat st;
    swapper_t s;

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    put_folder("source", ALICE);
    swap_begin(&s);
    for (int i = 0; i < rounds(); i++) {
        json_auto_t *ret = NULL;
        (void) file_copy(NULL, args, &ret, NULL);
    }
    swap_end(&s);
    assert_int_equal(stat(victim, &st), 0);
    assert_int_equal(st.st_uid, 0);
}

/* What was a folder when it was looked at is no way out when it is a link. */
static void
test_prune_swapped(void **state)
{
    AUTO_FREE char *path = in("home");
    json_auto_t *args = json_pack("{s:s, s:b}", "path", path, "recurse", 1);
    swapper_t s;

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    swap_begin(&s);
    put_folder("victim/x", 0);
    for (int i = 0; i < rounds() && is_there("victim/x"); i++) {
        json_auto_t *ret = NULL;
        (void) file_rmdir(NULL, args, &ret, NULL);
    }
    swap_end(&s);
    assert_true(is_there("victim/x"));
}

/* ---- from another file system ------------------------------------------------------------------ */

static void
test_other_disk(void **state)
{
    char far[] = "/dev/shm/halite-unit-XXXXXX";
    struct stat here, there;

    if (mkdtemp(far) == NULL)
        skip();
    assert_true(stat(dir, &here) == 0 && stat(far, &there) == 0);
    AUTO_FREE char *source = fs_join(far, "d"), *below = fs_join(source, "x"), *link = fs_join(source, "l"),
                   *target = in("t");
    fail_auto_t err = FAIL_INIT;
    assert_int_equal(fs_mkdirs(source, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(below, "x", 1, 0600, NULL), 0);
    assert_int_equal(symlink("x", link), 0);
    if (fop_move_over(source, target, &err) != 0)
        fail_msg("%s", fail_text(&err));
    assert_true(is_there("t/x") && is_there("t/l"));
    assert_int_equal(rmdir(far), 0);
    if (here.st_dev == there.st_dev)
        skip(); /* a rename is all that was tried */
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_link_swapped), IN_DIR(test_copy_swapped), IN_DIR(test_prune_swapped),
          IN_DIR(test_other_disk))
