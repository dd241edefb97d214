/* test_stage.c - what is made beside a name gets it whole, and what had it stays until then. */
#include "unit/folder.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/stage.h"

static char *
put(const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", dir, name);

    assert_int_equal(fs_mkdirs(dir, 0755, NULL), 0);
    assert_int_equal(fs_write_quick(path, text, strlen(text), 0644, NULL), 0);
    return path;
}

static char *
folder(const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);

    assert_int_equal(fs_mkdirs(path, 0755, NULL), 0);
    return path;
}

static bool
holds(const char *path, const char *want)
{
    buf_auto_t text = BUF_INIT;

    return fs_read(path, 1 << 20, &text, NULL) == 0 && str_eq(buf_str(&text), want);
}

static int
entries(void)
{
    DIR *d = opendir(dir);
    int n = -2; /* . and .. */

    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

/* A file or a folder in the place of nothing, a file, a folder, a link. */
static void
test_commit(void **state)
{
    static const char *const had[] = { "nothing", "file", "folder", "link" };

    for (size_t i = 0; i < 2 * NELEMS(had); i++) {
        AUTO_FREE char *name = xasprintf("%s/x", dir), *below = xasprintf("%s/x/old", dir);
        stage_auto_t stage = STAGE_INIT;
        fail_auto_t err = FAIL_INIT;
        bool as_folder = i >= NELEMS(had);
        if (i % NELEMS(had) == 1)
            free(put("x", "old"));
        else if (i % NELEMS(had) == 2) {
            free(folder("x"));
            free(put("x/old", "old"));
        } else if (i % NELEMS(had) == 3)
            assert_int_equal(symlink("/nonexistent", name), 0);
        AUTO_FREE char *given = xasprintf("%s//", name);
        assert_int_equal(stage_open(&stage, given, &err), 0);
        AUTO_FREE char *inner = xasprintf("%s/x/new", dir), *made = xasprintf("%s/new", stage.path);
        if (as_folder)
            assert_int_equal(mkdir(stage.path, 0755), 0);
        assert_int_equal(fs_write_quick(as_folder ? made : stage.path, "new", 3, 0644, NULL), 0);
        if (stage_commit(&stage, &err) != 0)
            fail_msg("%s: %s", had[i % NELEMS(had)], fail_text(&err));
        assert_true(holds(as_folder ? inner : name, "new"));
        assert_false(fs_exists(below));
        assert_int_equal(entries(), 1);
        assert_int_equal(fs_remove_tree(name, NULL), 0);
    }
}

/* Who owns the folder above is no way to what is root's: not by a link to the place, nor by another folder
 * or link in the place of the one that something is made in. */
static void
test_astray(void **state)
{
    AUTO_FREE char *home = folder("home"), *victim = folder("victim"), *way = xasprintf("%s/way", home),
                   *led = xasprintf("%s/way/x", home), *name = xasprintf("%s/x", home),
                   *kept = put("victim/new", "root's"), *aside = xasprintf("%s/aside", home);
    enum { ALICE = 61001 };

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    assert_int_equal(symlink(victim, way), 0);
    assert_true(lchown(way, ALICE, ALICE) == 0 && chown(home, ALICE, ALICE) == 0);
    stage_auto_t stage = STAGE_INIT, astray = STAGE_INIT;
    assert_int_equal(stage_open(&astray, led, NULL), -EPERM);
    assert_int_equal(stage_open(&stage, name, NULL), 0);
    AUTO_FREE char *real = fop_realpath(stage.dir);
    assert_int_equal(rename(real, aside), 0);
    assert_int_equal(symlink(victim, real), 0);
    assert_int_equal(fs_write_quick(stage.path, "new", 3, 0644, NULL), 0);
    assert_int_equal(chown(stage.path, ALICE, ALICE), 0);
    assert_int_equal(stage_commit(&stage, NULL), 0);
    assert_true(holds(name, "new"));
    assert_true(holds(kept, "root's"));
}

static void
test_nothing_made(void **state)
{
    AUTO_FREE char *name = put("x", "old"), *other = folder("d"), *in = put("d/y", "y");

    for (int i = 0; i < 2; i++) {
        stage_auto_t stage = STAGE_INIT;
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(stage_open(&stage, i == 0 ? name : other, &err), 0);
        assert_int_equal(stage_commit(&stage, &err), -ENOENT);
        assert_non_null(strstr(fail_text(&err), i == 0 ? name : other));
    }
    assert_true(holds(name, "old"));
    assert_true(holds(in, "y"));
    assert_int_equal(entries(), 2);
}

static void
test_aside(void **state)
{
    AUTO_FREE char *name = folder("x"), *in = put("x/y", "y");
    fail_auto_t err = FAIL_INIT;

    for (int i = 0; i < 2; i++) {
        stage_auto_t stage = STAGE_INIT;
        assert_int_equal(stage_open(&stage, name, &err), 0);
        assert_int_equal(stage_aside(&stage, &err), 0);
        assert_false(fs_exists(name));
        if (i == 0)
            assert_int_equal(stage_back(&stage, &err), 0);
        stage_close(&stage);
        assert_int_equal(fs_exists(in), i == 0);
    }
    assert_int_equal(entries(), 0);
}

/* Whoever made something in its place: what stood aside is not lost, and the error names where it is. */
static void
test_no_way_back(void **state)
{
    AUTO_FREE char *name = put("x", "old"), *place = NULL, *in = NULL;
    fail_auto_t err = FAIL_INIT;
    stage_auto_t stage = STAGE_INIT;

    assert_int_equal(stage_back(&stage, &err), 0);
    assert_int_equal(stage_open(&stage, name, &err), 0);
    assert_int_equal(stage_back(&stage, &err), 0);
    assert_int_equal(stage_aside(&stage, &err), 0);
    AUTO_FREE char *aside = fop_realpath(stage.path);
    place = folder("x");
    in = put("x/y", "y");
    assert_int_equal(stage_back(&stage, &err), -EISDIR);
    assert_non_null(strstr(fail_text(&err), aside));
    stage_close(&stage);
    assert_true(holds(in, "y"));
    assert_true(holds(aside, "old"));
}

static void
test_holds(void **state)
{
    AUTO_FREE char *a = put("a", "a"), *d = folder("d"), *f = put("d/f", "f"), *e = folder("dd");
    AUTO_FREE char *to_a = xasprintf("%s/l", dir), *up = xasprintf("%s/d/up", dir);
    AUTO_FREE char *round_about = xasprintf("%s/d/up/a", dir), *slashes = xasprintf("%s/d//", dir);
    AUTO_FREE char *missing = xasprintf("%s/d/no/thing", dir);

    assert_int_equal(symlink("a", to_a), 0);
    assert_int_equal(symlink("..", up), 0);
    assert_true(stage_holds(a, a));
    assert_true(stage_holds(a, round_about));
    assert_true(stage_holds(a, to_a));
    assert_false(stage_holds(to_a, a)); /* the link goes, the file stays */
    assert_true(stage_holds(d, f));
    assert_true(stage_holds(slashes, missing));
    assert_true(stage_holds(d, up)); /* the link itself */
    assert_false(stage_holds(d, e));
    assert_false(stage_holds(f, d));
    assert_true(stage_holds("/", a));
}

/* A path may have any number of parts, and links in what there is of it. */
static void
test_long(void **state)
{
    static const size_t parts[] = { 3, 3000, 200000 };
    AUTO_FREE char *d = folder("d"), *link = xasprintf("%s/l", dir), *round = xasprintf("%s/round", dir);

    assert_true(symlink("d/no/../thing", link) == 0 && symlink("round", round) == 0);
    for (size_t i = 0; i < NELEMS(parts); i++) {
        buf_auto_t below = BUF_INIT;
        for (size_t n = 0; n < parts[i]; n++)
            buf_puts(&below, "/a");
        AUTO_FREE char *asked = xasprintf("%s%s", link, buf_str(&below)),
                       *want = xasprintf("%s/thing%s", d, buf_str(&below)), *is = fop_realpath(asked);
        assert_string_equal(is, want);
        AUTO_FREE char *loop = xasprintf("%s%s", round, buf_str(&below)), *same = fop_realpath(loop);
        assert_string_equal(same, loop);
    }
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_DIR(test_commit), IN_DIR(test_astray), IN_DIR(test_nothing_made), IN_DIR(test_aside),
          IN_DIR(test_no_way_back), IN_DIR(test_holds), IN_DIR(test_long))
