/* test_masterkey.c - the master's key, its signature, and its rotation cut short at every step. */
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "keyring/masterkey.h"
#include "salt/value.h"
#include "unit/unit.h"

static char *dir;
static json_t *opts;

static int
setup(void **state)
{
    dir = xstrdup("/tmp/halite-masterkey-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return 1;
    opts = json_pack("{s:s, s:b, s:s, s:b, s:s}", "pki_dir", dir, "master_sign_pubkey", true,
                     "master_sign_key_name", "master_sign", "master_use_pubkey_signature", false,
                     "master_pubkey_signature", "master_pubkey_signature");
    return 0;
}

static int
teardown(void **state)
{
    int rc = fs_remove_tree(dir, NULL);
    free(dir);
    json_decref(opts);
    return rc;
}

/* The key that a master would use now, and its signature: open, look, close. */
static voucher_t
look(void)
{
    fail_auto_t err = FAIL_INIT;
    masterkey_t k;
    voucher_t v;

    if (masterkey_open(&k, opts, NULL, &err) != 0)
        fail_msg("%s", fail_text(&err));
    assert_true(k.vouched);
    v = k.voucher;
    assert_memory_equal(v.key, key_pair_public(k.pair), KEY_BYTES);
    masterkey_close(&k);
    return v;
}

static bool
here(const char *name)
{
    AUTO_FREE char *path = fs_join(dir, name);
    return fs_exists(path);
}

static void
move(const char *from, const char *to)
{
    AUTO_FREE char *a = fs_join(dir, from);
    AUTO_FREE char *b = fs_join(dir, to);
    assert_int_equal(rename(a, b), 0);
}

static void
drop(const char *name)
{
    AUTO_FREE char *path = fs_join(dir, name);
    assert_int_equal(unlink(path), 0);
}

static void
copy(const char *from, const char *to)
{
    AUTO_FREE char *a = fs_join(dir, from);
    AUTO_FREE char *b = fs_join(dir, to);
    buf_auto_t text = BUF_INIT;
    assert_int_equal(fs_read(a, 4096, &text, NULL), 0);
    assert_int_equal(fs_write_quick(b, text.data, text.len, 0400, NULL), 0);
}

static void
test_open_makes_and_keeps(void **state)
{
    voucher_t first = look(), again = look();
    AUTO_FREE char *pem = fs_join(dir, "master_sign.pem");
    struct stat st;

    assert_memory_equal(&first, &again, sizeof(first));
    assert_int_equal(stat(pem, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0400);
    assert_true(here("master_sign.pub") && here("master_pubkey_signature"));
}

static void
test_off(void **state)
{
    fail_auto_t err = FAIL_INIT;
    masterkey_t k;

    json_object_set_new(opts, "master_sign_pubkey", json_false());
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), 0);
    assert_false(k.vouched);
    assert_false(here("master_sign.pem"));
    masterkey_close(&k);
    assert_int_equal(masterkey_rotate(opts, &err), -EPERM);
}

static void
test_rotate(void **state)
{
    fail_auto_t err = FAIL_INIT;
    voucher_t was = look();

    for (int i = 0; i < 3; i++) {
        assert_int_equal(masterkey_rotate(opts, &err), 0);
        voucher_t now = look();
        assert_memory_not_equal(now.key, was.key, KEY_BYTES);
        assert_memory_equal(now.signer, was.signer, KEY_BYTES);
        assert_true(now.serial > was.serial);
        assert_false(here("master_next.pem") || here("master_next.pub"));
        was = now;
    }
}

/* The files as each step of a rotation leaves them. What is chosen then must work, and stay. */
static void
test_rotate_cut_short(void **state)
{
    fail_auto_t err = FAIL_INIT;
    voucher_t old = look(), new, v;

    copy("master.pem", "old.pem");
    copy("master.pub", "old.pub");
    copy("master_pubkey_signature", "old.sig");
    assert_int_equal(masterkey_rotate(opts, &err), 0);
    new = look();
    copy("master.pem", "new.pem");
    copy("master.pub", "new.pub");
    copy("master_pubkey_signature", "new.sig");
    static const struct {
        const char *pem, *pub, *next_pem, *next_pub, *sig;
        bool is_new;
    } steps[] = {
        { "old.pem", "old.pub", "new.pem", NULL, "old.sig", false },
        { "old.pem", "old.pub", "new.pem", "new.pub", "old.sig", false },
        { "old.pem", "old.pub", "new.pem", "new.pub", "new.sig", true },
        { "old.pem", NULL, "new.pem", "new.pub", "new.sig", true },
        { "new.pem", NULL, NULL, "new.pub", "new.sig", true },
        { "new.pem", "new.pub", NULL, NULL, "new.sig", true },
    };
    for (size_t i = 0; i < NELEMS(steps); i++) {
        const char *const files[][2] = { { steps[i].pem, "master.pem" },
                                         { steps[i].pub, "master.pub" },
                                         { steps[i].next_pem, "master_next.pem" },
                                         { steps[i].next_pub, "master_next.pub" },
                                         { steps[i].sig, "master_pubkey_signature" } };
        for (size_t k = 0; k < NELEMS(files); k++) {
            if (here(files[k][1]))
                drop(files[k][1]);
            if (files[k][0] != NULL)
                copy(files[k][0], files[k][1]);
        }
        v = look();
        assert_memory_equal(v.key, steps[i].is_new ? new.key : old.key, KEY_BYTES);
        if (!steps[i].is_new)
            assert_int_equal(v.serial, old.serial);
        /* And the next rotation works. */
        assert_int_equal(masterkey_rotate(opts, &err), 0);
        v = look();
        assert_memory_not_equal(v.key, old.key, KEY_BYTES);
        assert_true(v.serial > old.serial);
    }
}

static void
test_lost_signature(void **state)
{
    voucher_t was = look();

    drop("master_pubkey_signature");
    voucher_t now = look();
    assert_memory_equal(now.key, was.key, KEY_BYTES);
    assert_true(now.serial >= was.serial);
}

/* The private signing key elsewhere, as Salt's master_use_pubkey_signature. */
static void
test_signed_elsewhere(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *safe = fs_join(dir, "safe");
    AUTO_FREE char *priv = fs_join(dir, "safe/master_sign.pem");
    AUTO_FREE char *next_pub = fs_join(dir, "master_next.pub");
    AUTO_FREE char *path = NULL;
    AUTO_FREE char *path2 = NULL;
    voucher_t was = look(), v;
    masterkey_t k;

    assert_int_equal(mkdir(safe, 0700), 0);
    move("master_sign.pem", "safe/master_sign.pem");
    json_object_set_new(opts, "master_use_pubkey_signature", json_true());
    v = look();
    assert_memory_equal(&v, &was, sizeof(v));
    assert_int_equal(masterkey_rotate(opts, &err), -ENOKEY);
    assert_non_null(strstr(fail_text(&err), "salt-key --gen-signature --pub=master_next.pub"));
    fail_clear(&err);
    /* Until then the old one stays. */
    v = look();
    assert_memory_equal(v.key, was.key, KEY_BYTES);
    assert_int_equal(masterkey_sign(opts, priv, next_pub, safe, false, &path, &err), 0);
    assert_true(str_ends(path, "/safe/master_pubkey_signature"));
    copy("safe/master_pubkey_signature", "master_pubkey_signature");
    assert_int_equal(masterkey_rotate(opts, &err), 0);
    v = look();
    assert_memory_not_equal(v.key, was.key, KEY_BYTES);
    assert_true(v.serial > was.serial);
    /* A signature of another key, by another signing key, and none. */
    AUTO(key_pair) other = key_pair_open(safe, "other", NULL, &err);
    AUTO_FREE char *other_pub = fs_join(safe, "other.pub");
    AUTO_FREE char *own_pub = fs_join(dir, "master.pub");
    AUTO(key_pair) stranger = key_pair_open_of(KEY_KIND_SIGN, safe, "stranger", NULL, &err);
    AUTO_FREE char *stranger_pem = fs_join(safe, "stranger.pem");
    assert_int_equal(masterkey_sign(opts, priv, other_pub, dir, false, &path2, &err), 0);
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), -EINVAL);
    assert_non_null(strstr(fail_text(&err), "it is the signature of another key"));
    fail_clear(&err);
    masterkey_close(&k);
    free(STEAL(path2));
    assert_int_equal(masterkey_sign(opts, stranger_pem, own_pub, dir, false, &path2, &err), 0);
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), -EINVAL);
    assert_non_null(strstr(fail_text(&err), "it was not made by the signing key of"));
    fail_clear(&err);
    masterkey_close(&k);
    drop("master_pubkey_signature");
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), -ENOENT);
    masterkey_close(&k);
}

/* A signature by another signing key decides nothing: the key that is there stays. */
static void
test_strangers_signature_of_the_next_key(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *safe = fs_join(dir, "safe");
    AUTO_FREE char *priv = fs_join(dir, "safe/master_sign.pem");
    AUTO_FREE char *stranger_pem = fs_join(dir, "safe/stranger.pem");
    AUTO_FREE char *next_pub = fs_join(dir, "master_next.pub");
    AUTO_FREE char *path = NULL;
    AUTO_FREE char *path2 = NULL;
    voucher_t was = look(), v;
    masterkey_t k;

    assert_int_equal(mkdir(safe, 0700), 0);
    move("master_sign.pem", "safe/master_sign.pem");
    copy("master_pubkey_signature", "old.sig");
    AUTO(key_pair) stranger = key_pair_open_of(KEY_KIND_SIGN, safe, "stranger", NULL, &err);
    json_object_set_new(opts, "master_use_pubkey_signature", json_true());
    assert_int_equal(masterkey_rotate(opts, &err), -ENOKEY);
    fail_clear(&err);
    assert_int_equal(masterkey_sign(opts, stranger_pem, next_pub, dir, false, &path, &err), 0);
    assert_int_equal(masterkey_rotate(opts, &err), -ENOKEY);
    assert_non_null(strstr(fail_text(&err), "it was not made by the signing key of"));
    fail_clear(&err);
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), -EINVAL);
    masterkey_close(&k);
    fail_clear(&err);
    copy("old.sig", "master_pubkey_signature");
    v = look();
    assert_memory_equal(&v, &was, sizeof(v));
    assert_int_equal(masterkey_sign(opts, priv, next_pub, dir, false, &path2, &err), 0);
    assert_int_equal(masterkey_rotate(opts, &err), 0);
    v = look();
    assert_memory_not_equal(v.key, was.key, KEY_BYTES);
}

static void
test_sign_by_hand(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = NULL;
    masterkey_t k;

    json_object_set_new(opts, "master_sign_pubkey", json_false());
    assert_int_equal(masterkey_open(&k, opts, NULL, &err), 0);
    masterkey_close(&k);
    assert_int_equal(masterkey_sign(opts, "", "", "", false, &path, &err), -ENOENT);
    assert_non_null(strstr(fail_text(&err), "--auto-create makes one"));
    fail_clear(&err);
    assert_int_equal(masterkey_sign(opts, "", "", "", true, &path, &err), 0);
    json_object_set_new(opts, "master_sign_pubkey", json_true());
    voucher_t v = look();
    assert_true(v.serial > 0);
}

static void
test_names(void **state)
{
    static const char *const names[] = { "", "../x", "a/b" };
    masterkey_t k;

    for (size_t i = 0; i < NELEMS(names); i++) {
        fail_auto_t err = FAIL_INIT;
        json_object_set_new(opts, "master_sign_key_name", json_string(names[i]));
        assert_int_equal(masterkey_open(&k, opts, NULL, &err), -EINVAL);
        masterkey_close(&k);
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_MAIN(TEST(test_open_makes_and_keeps), TEST(test_off), TEST(test_rotate), TEST(test_rotate_cut_short),
          TEST(test_lost_signature), TEST(test_signed_elsewhere),
          TEST(test_strangers_signature_of_the_next_key), TEST(test_sign_by_hand), TEST(test_names))
