/* test_rpmver.c - orders of versions: the answers of rpm (rpm --eval with lua), pacman (alpm_pkg_vercmp) and apk-tools'
 * own table. */
#include "unit/unit.h"

#include "plugins/lib/packages/rpmver.h"

typedef struct row {
    const char *a, *b;
    int order;
} row_t;

typedef int cmp_fn(const char *a, const char *b, bool ignore_epoch);

/* Each row holds the other way around too. */
static void
check(cmp_fn *cmp, const row_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (cmp(rows[i].a, rows[i].b, false) != rows[i].order ||
            cmp(rows[i].b, rows[i].a, false) != -rows[i].order)
            fail_msg("%s and %s: expected %d, got %d and %d", rows[i].a, rows[i].b, rows[i].order,
                     cmp(rows[i].a, rows[i].b, false), cmp(rows[i].b, rows[i].a, false));
    }
}

static void
test_rpm(void **state)
{
    static const row_t rows[] = {
        { "1.0", "1.0", 0 },
        { "1.0", "2.0", -1 },
        { "2.0.1", "2.0", 1 },
        { "5.5p1", "5.5p10", -1 },
        { "10xyz", "10.1xyz", -1 },
        { "xyz10", "xyz10.1", -1 },
        { "xyz.4", "8", -1 },
        { "5.5p2", "5.6p1", -1 },
        { "6.0.rc1", "6.0", 1 },
        { "10b2", "10a1", 1 },
        { "1.0a", "1.0aa", -1 },
        { "10.0001", "10.0039", -1 },
        { "4.999.9", "5.0", -1 },
        { "20101121", "20101122", -1 },
        { "2_0", "2.0", 0 },
        { "a", "a+", 0 },
        { "+", "_", 0 },
        { "1.0~rc1", "1.0", -1 },
        { "1.0~rc1", "1.0~rc2", -1 },
        { "1.0~rc1~git1", "1.0~rc1", -1 },
        { "1.0^", "1.0", 1 },
        { "1.0^git1", "1.01", -1 },
        { "1.0^20160101", "1.0.1", -1 },
        { "1.0~rc1^git1", "1.0~rc1", 1 },
        { "1.0^git1~pre", "1.0^git1", -1 },
        { "1:1.0-1", "2.0-1", 1 },
        { "1.0-1", "1.0-2", -1 },
        { "1.0-1", "1.0", 0 },
    };

    check(rpmver_cmp, rows, NELEMS(rows));
    assert_int_equal(rpmver_cmp("1:1.0", "2.0", true), -1);
    assert_int_equal(rpmver_part_cmp("1.0-1", "1.0.1"), 0);
}

static void
test_alpm(void **state)
{
    static const row_t rows[] = {
        { "1.0a", "1.0", -1 },  { "1.0beta", "1.0rc", -1 }, { "1.0rc", "1.0", -1 },
        { "1.0", "1.0.a", -1 }, { "1.0.1", "1.0", 1 },      { "1:1.0", "2.0", 1 },
        { "1.0-1", "1.0", 0 },  { "1.0-2", "1.0-10", -1 },  { "1.5.1", "1.5.b", 1 },
        { "2.0", "2.0a", 1 },
    };

    check(alpmver_cmp, rows, NELEMS(rows));
}

static void
test_apk(void **state)
{
    static const row_t rows[] = {
        { "2.34", "0.1.0_alpha", 1 },
        { "0.1.0_alpha", "0.1.3_alpha", -1 },
        { "0.1.0_alpha2", "0.1.0_alpha", 1 },
        { "1.0_rc1", "1.0", -1 },
        { "1.0_p1", "1.0", 1 },
        { "1.0-r1", "1.0-r0", 1 },
        { "1.10", "1.9", 1 },
        { "1.01", "1.1", -1 },
        { "1.0a", "1.0", 1 },
    };

    check(apkver_cmp, rows, NELEMS(rows));
}

UNIT_MAIN(cmocka_unit_test(test_rpm), cmocka_unit_test(test_alpm), cmocka_unit_test(test_apk))
