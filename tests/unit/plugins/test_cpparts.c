/* test_cpparts.c - a part of what salt-cp sends, in a folder whose owner puts something else in its place. */
#include "unit/folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include "plugins/lib/transfer/cpparts.h"

enum { ALICE = 61001 };

/* What has the part's name when the last piece has come. */
typedef enum swap { SWAP_NOTHING, SWAP_HERS, SWAP_LINKED, SWAP_PIPE, SWAPS } swap_t;

static void
put_other(swap_t swap, const char *part, const char *aside)
{
    if (swap == SWAP_LINKED)
        assert_int_equal(link(part, aside), 0);
    if (swap != SWAP_HERS && swap != SWAP_PIPE)
        return;
    assert_int_equal(rename(part, aside), 0);
    if (swap == SWAP_PIPE) {
        assert_int_equal(mkfifo(part, 0600), 0);
        return;
    }
    assert_int_equal(fs_write_quick(part, "hers", 4, 0600, NULL), 0);
    assert_int_equal(chown(part, ALICE, ALICE), 0);
}

static void
test_swapped(void **state)
{
    AUTO_FREE char *home = fs_join(dir, "home"), *dest = fs_join(home, "f"), *aside = fs_join(home, "aside"),
                   *part = fs_join(home, ".f.c1.m1.part");

    if (geteuid() != 0)
        skip(); /* nobody else has files to give away */
    assert_true(mkdir(home, 0755) == 0 && chown(home, ALICE, ALICE) == 0);
    for (swap_t swap = SWAP_NOTHING; swap < SWAPS; swap++) {
        partfile_auto_t to = PARTFILE_INIT;
        buf_auto_t text = BUF_INIT;
        assert_int_equal(fs_write_quick(dest, "old", 3, 0755, NULL), 0);
        assert_int_equal(partfile_find(&to, dest, PARTFILE_SPECIAL, NULL), 0);
        const cppart_t copy = { .cachedir = dir, .id = "m1", .copy = "c1", .to = &to };
        assert_int_equal(cpparts_add(&copy, 0, "ne", 2, NULL), 0);
        assert_int_equal(cpparts_add(&copy, 2, "w", 1, NULL), 0);
        put_other(swap, part, aside);
        assert_int_equal(cpparts_land(&copy, -1, NULL), swap == SWAP_NOTHING ? 0 : -ESTALE);
        assert_int_equal(fs_read(dest, 16, &text, NULL), 0);
        assert_string_equal(buf_str(&text), swap == SWAP_NOTHING ? "new" : "old");
        assert_true(fs_absent(part));
        (void) unlink(aside);
    }
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_swapped, setup, teardown))
