/* test_cppush.c - cp.push says in the log why it is false. */
#include <unistd.h>

#include "plugins/lib/transfer/cppush.h"
#include "unit/logged.h"
#include "unit/unit.h"

#define LOOP ": Too many levels of symbolic links"

static char dir[] = "/tmp/halite-cppush-XXXXXX";

static int
set_up(void **state)
{
    memcpy(strrchr(dir, '-'), "-XXXXXX", strlen("-XXXXXX"));
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
tear_down(void **state)
{
    return fs_remove_tree(dir, NULL);
}

static void
test_file(void **state)
{
    AUTO_FREE char *loop = fs_join(dir, "loop");
    AUTO_FREE char *none = fs_join(dir, "none");
    AUTO_FREE char *up = fs_join(dir, "../x");
    AUTO_FREE char *loops = xasprintf("cannot look at %s" LOOP, loop);
    const struct {
        cppush_t what;
        const char *why;
    } rows[] = {
        { { .path = loop }, loops },
        { { .path = loop, .keep_symlinks = true }, loops },
        { { .path = none }, "No such file or directory" },
        { { .path = none, .keep_symlinks = true }, "there is no such file" },
        { { .path = dir }, "it is not a regular one" },
        { { .path = up }, "give an absolute path without '../'" },
        { { .path = "x" }, "give an absolute path without '../'" },
    };

    assert_int_equal(symlink("loop", loop), 0);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        logged_begin();
        assert_false(cppush_file(NULL, &rows[i].what));
        logged_end(rows[i].why);
    }
}

static void
test_folder(void **state)
{
    AUTO_FREE char *loop = fs_join(dir, "loop");
    AUTO_FREE char *loops = xasprintf("cannot look at %s" LOOP, loop);

    logged_begin();
    assert_false(cppush_dir(NULL, dir, NULL, NULL));
    logged_end("no file there has such a name");
    assert_int_equal(symlink("loop", loop), 0);
    logged_begin();
    assert_false(cppush_dir(NULL, dir, NULL, NULL));
    logged_end(loops);
    logged_begin();
    assert_false(cppush_dir(NULL, loop, NULL, NULL));
    logged_end(LOOP);
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_file, set_up, tear_down),
          cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down))
