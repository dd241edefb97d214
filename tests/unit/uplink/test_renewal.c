/* test_renewal.c - a minion's new key: when it counts, and what a restart at any point makes of it. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "uplink/renewal.h"
#include "salt/value.h"
#include "unit/unit.h"

static char *dir;
static uint8_t first[KEY_BYTES];

static void
own_key(uint8_t out[KEY_BYTES])
{
    fail_auto_t err = FAIL_INIT;
    AUTO(key_pair) pair = key_pair_open(dir, "minion", NULL, &err);
    if (pair == NULL)
        fail_msg("%s", fail_text(&err));
    memcpy(out, key_pair_public(pair), KEY_BYTES);
}

static int
setup(void **state)
{
    dir = xstrdup("/tmp/halite-renewal-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    own_key(first);
    return 0;
}

static int
teardown(void **state)
{
    int rc = fs_remove_tree(dir, NULL);
    free(dir);
    return rc;
}

static bool
is_first(void)
{
    uint8_t now[KEY_BYTES];
    own_key(now);
    return memcmp(now, first, KEY_BYTES) == 0;
}

static void
answer(renewal_t *r, int master, const char *key, const char *error, bool again)
{
    json_auto_t *body = json_pack("{s:s, s:s*, s:b}", "key", key, "error", error, "again", again);
    renewal_answered(r, master, body);
}

static void
test_every_master(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(renewal) r = renewal_new(dir, 2);
    assert_null(renewal_question(r, 1000));
    assert_int_equal(renewal_begin(r, &err), 0);
    json_auto_t *q = renewal_question(r, 1000);
    const char *key = value_str(q, "key", "");
    assert_non_null(strstr(key, "BEGIN PUBLIC KEY"));
    assert_null(renewal_question(r, 1001));
    answer(r, 0, "another key", NULL, false);
    answer(r, 0, key, NULL, true);
    assert_false(renewal_answered_by(r, 0));
    answer(r, 0, key, NULL, false);
    assert_true(renewal_answered_by(r, 0));
    assert_null(renewal_take(r, &err));
    assert_true(is_first());
    /* The other was away. */
    renewal_soon(r);
    json_auto_t *again = renewal_question(r, 1002);
    assert_true(json_equal(q, again));
    answer(r, 1, key, NULL, false);
    AUTO(key_pair) pair = renewal_take(r, &err);
    assert_non_null(pair);
    AUTO_FREE char *pem = key_public_pem(key_pair_public(pair));
    assert_string_equal(pem, key);
    assert_false(is_first());
    assert_null(renewal_question(r, 999999));
    assert_null(renewal_take(r, &err));
    assert_null(err.text);
}

static void
test_restart(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(renewal) r = renewal_new(dir, 1);
    assert_int_equal(renewal_begin(r, &err), 0);
    json_auto_t *q = renewal_question(r, 0);
    renewal_destroy(&r);
    assert_true(is_first());
    r = renewal_new(dir, 1);
    json_auto_t *same = renewal_question(r, 0);
    assert_true(json_equal(q, same));
    json_auto_t *later = renewal_question(r, 30000);
    assert_true(json_equal(q, later));
    answer(r, 0, value_str(q, "key", ""), NULL, false);
    AUTO(key_pair) pair = renewal_take(r, &err);
    assert_non_null(pair);
    renewal_destroy(&r);
    r = renewal_new(dir, 1);
    assert_null(renewal_question(r, 99999));
    /* Half of a pair is not a hindrance. */
    AUTO_FREE char *half = fs_join(dir, "minion_next.pub");
    assert_int_equal(fs_write_quick(half, "x", 1, 0644, NULL), 0);
    assert_int_equal(renewal_begin(r, &err), 0);
}

static void
test_refused(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(renewal) r = renewal_new(dir, 1);
    assert_int_equal(renewal_begin(r, &err), 0);
    json_auto_t *q = renewal_question(r, 0);
    answer(r, 0, value_str(q, "key", ""), "no", false);
    assert_null(renewal_take(r, &err));
    assert_null(renewal_question(r, 99999));
    assert_true(is_first());
    /* The next one is another. */
    assert_int_equal(renewal_begin(r, &err), 0);
    json_auto_t *other = renewal_question(r, 0);
    assert_false(json_equal(q, other));
}

/* Nobody has been told of the next key: it would be let in nowhere. */
static void
test_no_master(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(renewal) r = renewal_new(dir, 1);
    assert_int_equal(renewal_begin(r, &err), 0);
    json_auto_t *q = renewal_question(r, 0);
    renewal_destroy(&r);
    r = renewal_new(dir, 0);
    assert_null(renewal_take(r, &err));
    assert_true(is_first());
    renewal_destroy(&r);
    r = renewal_new(dir, 1);
    json_auto_t *same = renewal_question(r, 0);
    assert_true(json_equal(q, same));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_MAIN(TEST(test_every_master), TEST(test_restart), TEST(test_refused), TEST(test_no_master))
