/* test_pkgver.c - Debian versions, against what `dpkg --compare-versions` said about each pair of
 * tests/cases/pkgver/dpkg.json: [a, b, order], null where dpkg refuses one of them. */
#include "unit/unit.h"

#include "plugins/lib/packages/pkgver.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/pkgver/dpkg.json"

static void
test_dpkg_answers(void **state)
{
    json_error_t why;
    json_auto_t *pairs = json_load_file(CASES, JSON_REJECT_DUPLICATES, &why);
    size_t i, failed = 0;
    json_t *pair;

    assert_true(json_array_size(pairs) > 1000);
    json_array_foreach (pairs, i, pair) {
        const char *a = json_string_value(json_array_get(pair, 0));
        const char *b = json_string_value(json_array_get(pair, 1));
        const json_t *want = json_array_get(pair, 2);
        int order = 9;
        fail_auto_t err = FAIL_INIT;
        int rc = pkgver_cmp(a, b, false, &order, &err);
        bool fine = json_is_null(want) ? rc == -EINVAL && err.text != NULL
                                       : rc == 0 && order == json_integer_value(want);
        if (fine)
            continue;
        printf("# '%s' and '%s': rc %d, order %d\n", a, b, rc, order);
        failed++;
    }
    assert_int_equal(failed, 0);
}

static void
test_parts(void **state)
{
    pkgver_t v;

    assert_int_equal(pkgver_parse(" 2:1.0-rc-3 ", &v, NULL), 0);
    assert_int_equal(v.epoch, 2);
    assert_int_equal(v.upstream_len, 6);
    assert_memory_equal(v.upstream, "1.0-rc", 6);
    assert_int_equal(v.revision_len, 1);
    assert_memory_equal(v.revision, "3", 1);
    assert_int_equal(pkgver_parse("1.0", &v, NULL), 0);
    assert_int_equal(v.epoch, 0);
    assert_int_equal(v.revision_len, 0);
}

static void
test_epochs_ignored(void **state)
{
    int order;

    assert_int_equal(pkgver_cmp("1:1.0", "2.0", true, &order, NULL), 0);
    assert_int_equal(order, -1);
    assert_int_equal(pkgver_cmp("1:1.0", "2.0", false, &order, NULL), 0);
    assert_int_equal(order, 1);
    assert_int_equal(pkgver_cmp("1:", "1", true, &order, NULL), 0);
    assert_int_equal(order, -1);
}

static void
test_operators(void **state)
{
    static const struct {
        const char *a, *oper, *b;
        bool holds;
    } rows[] = {
        { "1.0", "<", "1.1", true },   { "1.1", "<", "1.1", false },  { "1.1", "<=", "1.1", true },
        { "1.1", "==", "1.1", true },  { "1.1", "==", "1.2", false }, { "1.2", ">=", "1.1", true },
        { "1.0", ">", "1.1", false },  { "1.2", ">", "1.1", true },   { "1.2", "!=", "1.1", true },
        { "1.1", "!=", "1.1", false }, { "1.1", "=", "1.1", false },  { "a:1", "!=", "1", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_int_equal(pkgver_holds(rows[i].a, rows[i].oper, rows[i].b, false), rows[i].holds);
}

static void
test_wanted(void **state)
{
    static const struct {
        const char *desired, *version;
        bool wanted;
    } rows[] = {
        { "1.2", "1.2", true },     { "1.2", "1.3", false },   { ">=1.2", "1.2", true },
        { ">= 1.2", "1.3", true },  { "<1.2", "1.1", true },   { "<1.2", "1.2", false },
        { "!=1.2", "1.3", true },   { "==1.2", "1.2", false }, { "=1.2", "1.2", false },
        { "<=>1.2", "1.2", false }, { ">", "1.2", false },     { "<<1.2", "1.1", false },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (pkgver_wanted(rows[i].desired, rows[i].version, false) != rows[i].wanted)
            fail_msg("'%s' of '%s'", rows[i].desired, rows[i].version);
    }
    assert_true(pkgver_wanted(">=1.2", "1:1.2", true));
    assert_false(pkgver_wanted("<1.2", "1:1.1", false));
    assert_true(pkgver_wanted("<1.2", "1:1.1", true));
}

UNIT_MAIN(cmocka_unit_test(test_dpkg_answers), cmocka_unit_test(test_parts),
          cmocka_unit_test(test_epochs_ignored), cmocka_unit_test(test_operators),
          cmocka_unit_test(test_wanted))
