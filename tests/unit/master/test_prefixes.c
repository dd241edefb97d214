/* test_prefixes.c - events counted by the beginning of their tags. */
#include "master/events/prefixes.h"
#include "unit/unit.h"

static uint64_t
of(const prefixes_t *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->rows[i].name, name) == 0)
            return all->rows[i].count;
    return 0;
}

static void
test_prefixes(void **state)
{
    static const char *const tags[] = { "salt/job/1/new",
                                        "salt/job/1/ret/m",
                                        "salt/auth",
                                        "minion_start",
                                        "my/own",
                                        "my",
                                        "20261127000000000000",
                                        "salt/",
                                        "",
                                        "salt",
                                        "so much/x",
                                        "\\\"/x",
                                        "a-word-that-is-too-long-for-it/x",
                                        "jobs/x" };
    prefixes_t all = { 0 };

    for (size_t i = 0; i < NELEMS(tags); i++)
        prefixes_count(&all, tags[i], strlen(tags[i]));
    assert_int_equal(of(&all, "job"), 2);
    assert_int_equal(of(&all, "jobs"), 1);
    assert_int_equal(of(&all, "auth"), 1);
    assert_int_equal(of(&all, "minion_start"), 1);
    assert_int_equal(of(&all, "my"), 2);
    assert_int_equal(of(&all, "salt"), 1);
    assert_int_equal(of(&all, "other"), 6);
}

static void
test_bound(void **state)
{
    prefixes_t all = { 0 };

    for (int i = 0; i < 3 * PREFIXES_MAX; i++) {
        AUTO_FREE char *tag = xasprintf("x%d/y", i);
        prefixes_count(&all, tag, strlen(tag));
    }
    assert_int_equal(all.n, PREFIXES_MAX);
    assert_int_equal(of(&all, "other"), 2 * PREFIXES_MAX + 1);
}

UNIT_MAIN(cmocka_unit_test(test_prefixes), cmocka_unit_test(test_bound))
