/* test_pep440.c - the order of Python's versions, as packaging.version has it. */
#include "plugins/lib/python/pep440.h"
#include "unit/unit.h"

static void
test_order(void **state)
{
    /* sorted(..., key=packaging.version.parse) */
    static const char *const sorted[] = { "nonsense",  "0.9",   "1.0.dev1",       "1.0a1.dev2", "1.0a1",
                                          "1.0a2",     "1.0b1", "1.0rc1",         "1.0",        "1.0+abc",
                                          "1.0+abc.5", "1.0+5", "1.0.post1.dev1", "1.0.post1",  "1.0.1",
                                          "1.10",      "1!0.1" };

    for (size_t i = 0; i < NELEMS(sorted); i++) {
        for (size_t k = 0; k < NELEMS(sorted); k++) {
            int rc = pep440_cmp(sorted[i], sorted[k]);
            assert_int_equal((rc > 0) - (rc < 0), (i > k) - (i < k));
        }
    }
}

static void
test_same(void **state)
{
    static const char *const pairs[][2] = { { "1.0", "1" },         { "1.0-1", "1.0.post1" },
                                            { "v1.0", "1.0" },      { "1.0alpha", "1.0a0" },
                                            { "1.0.RC1", "1.0c1" }, { "1.0-r4", "1.0.post4" } };

    for (size_t i = 0; i < NELEMS(pairs); i++)
        assert_int_equal(pep440_cmp(pairs[i][0], pairs[i][1]), 0);
}

static void
test_holds(void **state)
{
    assert_true(pep440_holds("1.4", ">=", "1.3.9"));
    assert_true(pep440_holds("1.0", "==", "1"));
    assert_true(pep440_holds("1.0rc1", "<", "1.0"));
    assert_true(pep440_holds("2", "!=", "1"));
    assert_true(pep440_holds("1", "<=", "1.0"));
    assert_false(pep440_holds("1", ">", "1.0"));
    assert_false(pep440_holds("1.4", "~=", "1.3"));
}

UNIT_MAIN(cmocka_unit_test(test_order), cmocka_unit_test(test_same), cmocka_unit_test(test_holds))
