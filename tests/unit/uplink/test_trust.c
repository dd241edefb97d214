/* test_trust.c - which key a minion takes for its master's, and which it refuses. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/voucher.h"
#include "uplink/trust.h"
#include "salt/value.h"
#include "unit/unit.h"

/* Two signing keys, three keys of a master, and a minion's folder. */
typedef struct place {
    char *dir, *known, *sign, *sig;
    key_pair_t *signer, *other, *k1, *k2, *k3;
    trust_conf_t conf;
    trust_t *trust;
    char *why;
} place_t;

static int
setup(void **state)
{
    place_t *p = xcalloc(1, sizeof(*p));
    p->dir = xstrdup("/tmp/halite-trust-XXXXXX");
    if (mkdtemp(p->dir) == NULL)
        return 1;
    p->known = fs_join(p->dir, "minion_master.pub");
    p->sign = fs_join(p->dir, "master_sign.pub");
    p->sig = fs_join(p->dir, "minion_master.sig");
    p->signer = key_pair_new_of(KEY_KIND_SIGN);
    p->other = key_pair_new_of(KEY_KIND_SIGN);
    p->k1 = key_pair_new();
    p->k2 = key_pair_new();
    p->k3 = key_pair_new();
    p->conf = (trust_conf_t){ .host = "salt", .known_file = p->known, .sign_file = p->sign };
    *state = p;
    return 0;
}

static int
teardown(void **state)
{
    place_t *p = *state;
    int rc = fs_remove_tree(p->dir, NULL);
    trust_destroy(&p->trust);
    key_pair_t **keys[] = { &p->signer, &p->other, &p->k1, &p->k2, &p->k3 };
    for (size_t i = 0; i < NELEMS(keys); i++)
        key_pair_destroy(keys[i]);
    free(p->dir), free(p->known), free(p->sign), free(p->sig), free(p->why);
    free(p);
    return rc;
}

/* The minion starts (again). */
static void
start(place_t *p)
{
    trust_destroy(&p->trust);
    p->trust = trust_new(&p->conf);
}

/* What a master with this key says, vouched for by `signer` (NULL: not at all). NEW. */
static json_t *
says(const key_pair_t *key, const key_pair_t *signer, int64_t serial)
{
    voucher_t v;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(key));
    if (signer == NULL)
        return json_pack("{s:s, s:i}", "pub", pem, "proto", 1);
    voucher_make(&v, signer, key_pair_public(key), serial);
    return voucher_json(&v);
}

static trust_verdict_t
claim(place_t *p, const key_pair_t *key, const key_pair_t *signer, int64_t serial)
{
    json_auto_t *answer = says(key, signer, serial);
    fail_auto_t err = FAIL_INIT;
    free(STEAL(p->why));
    trust_verdict_t verdict = trust_claim(p->trust, answer, &p->why, &err);
    assert_true((verdict == TRUST_REFUSED) == (p->why != NULL));
    return verdict;
}

static bool
proven(place_t *p, const key_pair_t *key, const key_pair_t *signer, int64_t serial)
{
    json_auto_t *voucher = signer ? says(key, signer, serial) : NULL;
    free(STEAL(p->why));
    return trust_proven(p->trust, voucher, &p->why);
}

#define CLAIM(verdict, ...) assert_int_equal(claim(p, __VA_ARGS__), TRUST_##verdict)
#define REFUSED(text, ...)                                                                                   \
    do {                                                                                                     \
        CLAIM(REFUSED, __VA_ARGS__);                                                                         \
        if (strstr(p->why, text) == NULL)                                                                    \
            fail_msg("%s", p->why);                                                                          \
    } while (0)

static void
assert_key(const place_t *p, const key_pair_t *key)
{
    assert_non_null(trust_key(p->trust));
    assert_memory_equal(trust_key(p->trust), key_pair_public(key), KEY_BYTES);
}

static void
put_signer(place_t *p, const key_pair_t *signer)
{
    AUTO_FREE char *pem = key_public_pem_of(KEY_KIND_SIGN, key_pair_public(signer));
    assert_int_equal(fs_write_quick(p->sign, pem, strlen(pem), 0644, NULL), 0);
}

static void
test_first_and_no_other(void **state)
{
    place_t *p = *state;
    start(p);
    assert_null(trust_key(p->trust));
    CLAIM(NEW, p->k1, NULL, 0);
    CLAIM(SAME, p->k1, NULL, 0);
    REFUSED("the master's key has changed: known is ", p->k2, NULL, 0);
    REFUSED("no signing key that could vouch", p->k2, p->signer, 10);
    start(p);
    assert_key(p, p->k1);
}

/* What can't be read now is not missing: nobody takes its place. */
static void
test_unreadable(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *aside = fs_join(p->dir, "aside");
    start(p);
    CLAIM(NEW, p->k1, NULL, 0);
    assert_int_equal(rename(p->known, aside), 0);
    assert_int_equal(symlink(p->known, p->known), 0);
    start(p);
    assert_null(trust_key(p->trust));
    REFUSED("can't be read", p->k2, NULL, 0);
    REFUSED("can't be read", p->k1, NULL, 0);
    trust_look_again(p->trust);
    REFUSED("can't be read", p->k2, NULL, 0);
    assert_int_equal(rename(aside, p->known), 0);
    trust_look_again(p->trust);
    assert_key(p, p->k1);
    CLAIM(SAME, p->k1, NULL, 0);
    /* A damaged one is asked for again. */
    assert_int_equal(fs_write_quick(p->known, "x", 1, 0644, NULL), 0);
    start(p);
    CLAIM(NEW, p->k2, NULL, 0);
}

/* The plaintext port can't name the signing key: who sits between could, and pose as the master later. */
static void
test_first_contact_remembers_no_signer(void **state)
{
    place_t *p = *state;
    start(p);
    CLAIM(NEW, p->k1, p->other, 5);
    assert_false(fs_exists(p->sign));
    REFUSED("no signing key", p->k2, p->other, 6);
    assert_true(proven(p, p->k1, p->signer, 5));
    assert_true(fs_exists(p->sign));
    REFUSED("it is vouched for by the signing key", p->k2, p->other, 6);
    CLAIM(CHANGED, p->k2, p->signer, 6);
}

static void
test_rotations(void **state)
{
    place_t *p = *state;
    start(p);
    CLAIM(NEW, p->k1, p->signer, 5);
    assert_true(proven(p, p->k1, p->signer, 5));
    start(p);
    REFUSED("no signature comes with it", p->k2, NULL, 0);
    CLAIM(CHANGED, p->k2, p->signer, 6);
    assert_key(p, p->k2);
    REFUSED("it was replaced", p->k1, p->signer, 5);
    REFUSED("it was replaced", p->k3, p->signer, 6);
    start(p);
    assert_key(p, p->k2);
    REFUSED("it was replaced", p->k1, p->signer, 5);
    CLAIM(CHANGED, p->k3, p->signer, 7);
    /* Back to an old key, but newly vouched for. */
    CLAIM(CHANGED, p->k1, p->signer, 8);
}

/* Numbers are learned on connections, so that a key from before this minion's time is not taken either. */
static void
test_older_than_the_connection(void **state)
{
    place_t *p = *state;
    start(p);
    CLAIM(NEW, p->k2, NULL, 0);
    assert_true(proven(p, p->k2, p->signer, 20));
    REFUSED("it was replaced", p->k1, p->signer, 19);
    assert_true(proven(p, p->k2, p->signer, 30));
    start(p);
    REFUSED("it was replaced", p->k1, p->signer, 29);
}

/* Killed between the two files. */
static void
test_cut_short(void **state)
{
    place_t *p = *state;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(p->k1));
    start(p);
    CLAIM(NEW, p->k1, NULL, 0);
    assert_true(proven(p, p->k1, p->signer, 5));
    CLAIM(CHANGED, p->k2, p->signer, 6);
    assert_int_equal(fs_write_quick(p->known, pem, strlen(pem), 0644, NULL), 0);
    start(p);
    assert_key(p, p->k1);
    CLAIM(CHANGED, p->k2, p->signer, 6);
    assert_key(p, p->k2);
}

static void
test_another_signer_on_a_connection(void **state)
{
    place_t *p = *state;
    start(p);
    CLAIM(NEW, p->k1, NULL, 0);
    assert_true(proven(p, p->k1, p->signer, 5));
    assert_true(proven(p, p->k1, p->other, 6));
    REFUSED("it is vouched for by the signing key", p->k2, p->other, 7);
    /* An operator replaced it by hand, without a restart. */
    put_signer(p, p->other);
    CLAIM(CHANGED, p->k2, p->other, 8);
}

static void
test_a_voucher_of_another_key(void **state)
{
    place_t *p = *state;
    start(p);
    CLAIM(NEW, p->k1, NULL, 0);
    assert_true(proven(p, p->k2, p->signer, 5));
    assert_false(fs_exists(p->sign));
    json_auto_t *mixed = says(p->k2, p->signer, 9);
    AUTO_FREE char *pem = key_public_pem(key_pair_public(p->k3));
    json_object_set_new(mixed, "pub", json_string(pem));
    assert_true(proven(p, p->k1, p->signer, 5));
    assert_int_equal(trust_claim(p->trust, mixed, &p->why, NULL), TRUST_REFUSED);
    assert_non_null(strstr(p->why, "no signature comes with it"));
}

static void
test_verify(void **state)
{
    place_t *p = *state;
    p->conf.verify = true;
    start(p);
    REFUSED("is not believed: no signing key", p->k1, p->signer, 1);
    put_signer(p, p->signer);
    REFUSED("is not believed: no signature", p->k1, NULL, 1);
    REFUSED("is not believed: it is vouched for by", p->k1, p->other, 1);
    assert_null(trust_key(p->trust));
    CLAIM(NEW, p->k1, p->signer, 2);
    CLAIM(CHANGED, p->k2, p->signer, 3);
}

/* A signing key that an operator put there counts without verify_master_pubkey_sign too; a broken one bars. */
static void
test_signer_beforehand(void **state)
{
    place_t *p = *state;
    assert_int_equal(fs_write_quick(p->sign, "x", 1, 0644, NULL), 0);
    start(p);
    REFUSED("holds no key", p->k1, p->signer, 1);
    put_signer(p, p->signer);
    REFUSED("is not believed", p->k1, p->other, 1);
    CLAIM(NEW, p->k1, p->signer, 2);
}

static void
test_always(void **state)
{
    place_t *p = *state;
    p->conf.always = true;
    put_signer(p, p->signer);
    start(p);
    CLAIM(NEW, p->k1, p->signer, 2);
    assert_true(proven(p, p->k1, p->signer, 2));
    assert_false(proven(p, p->k1, NULL, 0));
    assert_non_null(strstr(p->why, "always_verify_signature"));
    assert_false(proven(p, p->k1, p->other, 3));
    assert_false(proven(p, p->k2, p->signer, 3));
    /* Replaced, and the thief shows the old signature. */
    assert_true(proven(p, p->k1, p->signer, 5));
    assert_false(proven(p, p->k1, p->signer, 2));
}

static void
test_finger(void **state)
{
    place_t *p = *state;
    char f1[FINGER_LEN], f2[FINGER_LEN], fs[FINGER_LEN];
    key_finger(key_pair_public(p->k1), f1);
    key_finger(key_pair_public(p->k2), f2);
    key_finger_of(KEY_KIND_SIGN, key_pair_public(p->signer), fs);
    p->conf.finger = f1;
    start(p);
    REFUSED("master_finger is", p->k2, p->signer, 4);
    CLAIM(NEW, p->k1, p->signer, 5);
    assert_true(proven(p, p->k1, p->signer, 5));
    CLAIM(CHANGED, p->k2, p->signer, 6);
    /* The finger of the configuration is of the first key; it was that which led here. */
    start(p);
    assert_null(trust_finger_problem(p->trust));
    /* Another finger: whoever was trusted first was somebody else. */
    char f3[FINGER_LEN];
    key_finger(key_pair_public(p->k3), f3);
    p->conf.finger = f3;
    start(p);
    AUTO_FREE char *problem = trust_finger_problem(p->trust);
    assert_non_null(strstr(problem, "master_finger is"));
    /* Of the new key, and of the signing key. */
    p->conf.finger = f2;
    start(p);
    assert_null(trust_finger_problem(p->trust));
    p->conf.finger = fs;
    start(p);
    assert_null(trust_finger_problem(p->trust));
}

/* Somebody was trusted at first sight, and then an operator says whose key it is to be. */
static void
test_finger_after_the_first_contact(void **state)
{
    place_t *p = *state;
    char f2[FINGER_LEN], fs[FINGER_LEN];
    key_finger(key_pair_public(p->k2), f2);
    key_finger_of(KEY_KIND_SIGN, key_pair_public(p->signer), fs);
    start(p);
    CLAIM(NEW, p->k1, NULL, 0);
    p->conf.finger = f2;
    start(p);
    REFUSED("master_finger is", p->k1, NULL, 0);
    REFUSED("master_finger is", p->k1, p->signer, 5);
    REFUSED("has changed", p->k2, NULL, 0);
    assert_key(p, p->k1);
    assert_false(fs_exists(p->sign));
    /* Who has the signing key of that finger behind him is the master. */
    p->conf.finger = fs;
    start(p);
    REFUSED("master_finger is", p->k1, NULL, 0);
    REFUSED("master_finger is", p->k1, p->other, 5);
    CLAIM(NEW, p->k1, p->signer, 5);
    start(p);
    assert_null(trust_finger_problem(p->trust));
    CLAIM(SAME, p->k1, NULL, 0);
}

static void
test_finger_of_the_signer_at_first_contact(void **state)
{
    place_t *p = *state;
    char fs[FINGER_LEN];
    key_finger_of(KEY_KIND_SIGN, key_pair_public(p->signer), fs);
    p->conf.finger = fs;
    start(p);
    REFUSED("master_finger is", p->k1, NULL, 0);
    REFUSED("master_finger is", p->k1, p->other, 1);
    CLAIM(NEW, p->k1, p->signer, 2);
    start(p);
    assert_null(trust_finger_problem(p->trust));
    CLAIM(CHANGED, p->k2, p->signer, 3);
    start(p);
    assert_null(trust_finger_problem(p->trust));
}

static void
test_known_key_given(void **state)
{
    place_t *p = *state;
    p->conf = (trust_conf_t){ .host = "salt", .known_key = key_pair_public(p->k1) };
    start(p);
    assert_key(p, p->k1);
    assert_true(proven(p, p->k1, p->signer, 5));
    REFUSED("the known key", p->k2, p->signer, 6);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_MAIN(TEST(test_first_and_no_other), TEST(test_unreadable), TEST(test_first_contact_remembers_no_signer),
          TEST(test_rotations), TEST(test_older_than_the_connection), TEST(test_cut_short),
          TEST(test_another_signer_on_a_connection), TEST(test_a_voucher_of_another_key), TEST(test_verify),
          TEST(test_signer_beforehand), TEST(test_always), TEST(test_finger),
          TEST(test_finger_after_the_first_contact), TEST(test_finger_of_the_signer_at_first_contact),
          TEST(test_known_key_given))
