/* test_voucher.c - a signing key's word for a master's key. The keys and the signature were made by openssl. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/crypto/voucher.h"
#include "salt/value.h"
#include "unit/unit.h"

static const char signer_pem[] = "-----BEGIN PRIVATE KEY-----\n"
                                 "MC4CAQAwBQYDK2VwBCIEIEadOV4GcBhQVqhq8EZz+bJswuWWYyF/qb35SnYGhOkU\n"
                                 "-----END PRIVATE KEY-----\n";
static const char signer_pub[] = "-----BEGIN PUBLIC KEY-----\n"
                                 "MCowBQYDK2VwAyEAGgWdTz2hFkABmEJl3OwDUE6lu0eq+rXfd7G3a/xUpgo=\n"
                                 "-----END PUBLIC KEY-----\n";
static const char master_pub[] = "-----BEGIN PUBLIC KEY-----\n"
                                 "MCowBQYDK2VuAyEA082OzoAtKN0SPHVyUCNyHhbX5kjD3H78hAa7hdvFrng=\n"
                                 "-----END PUBLIC KEY-----\n";
static const char signature[] =
    "knZ/c6pqBBQocrF9Wla4A6pFFbIfrRvmSoDVJ9v+PrMiKU869ILrzhC1KjNEk5S+AtUWzQL1n0A4J2y0tneKCg==";
#define SERIAL 1800000000

static char *dir;

static int
setup(void **state)
{
    dir = xstrdup("/tmp/halite-voucher-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int
teardown(void **state)
{
    int rc = fs_remove_tree(dir, NULL);
    free(dir);
    return rc;
}

static json_t *
vector(void)
{
    return json_pack("{s:s, s:i, s:s, s:s}", "pub", master_pub, "serial", SERIAL, "signer", signer_pub, "sig",
                     signature);
}

static void
test_of_openssl(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *given = vector();
    voucher_t v, made;
    AUTO_FREE char *path = fs_join(dir, "s.pem");

    assert_int_equal(voucher_parse(given, &v, &err), 0);
    assert_int_equal(v.serial, SERIAL);
    assert_int_equal(fs_write_quick(path, signer_pem, strlen(signer_pem), 0400, &err), 0);
    AUTO(key_pair) signer = key_pair_read(KEY_KIND_SIGN, path, &err);
    assert_non_null(signer);
    assert_memory_equal(key_pair_public(signer), v.signer, KEY_BYTES);
    voucher_make(&made, signer, v.key, SERIAL);
    assert_memory_equal(made.sig, v.sig, sizeof(v.sig));
    json_auto_t *shown = voucher_json(&made);
    assert_true(json_equal(shown, given));
    /* Either kind of key is refused in the other's place. */
    assert_null(key_pair_read(KEY_KIND_CURVE, path, &err));
    assert_non_null(strstr(fail_text(&err), "an X25519 private key"));
}

static void
test_anything_else_is_none(void **state)
{
    static const struct {
        const char *name, *json;
    } rows[] = {
        { "serial", "1800000001" },
        { "serial", "-1" },
        { "serial", "0" },
        { "serial", "\"1800000000\"" },
        { "serial", "null" },
        { "pub", "\"-----BEGIN PUBLIC "
                 "KEY-----\\nMCowBQYDK2VuAyEA8QFG/d5bk3hXC/P1klMrm6e24Wna/eWGepjQWg5C4gw=\\n-----END "
                 "PUBLIC KEY-----\\n\"" },
        { "pub", "\"\"" },
        { "pub", "[]" },
        { "signer", "\"x\"" },
        { "sig", "\"\"" },
        { "sig",
          "\"knZ/c6pqBBQocrF9Wla4A6pFFbIfrRvmSoDVJ9v+PrMiKU869ILrzhC1KjNEk5S+AtUWzQL1n0A4J2y0tneKCh==\"" },
        { "sig",
          "\"AnZ/c6pqBBQocrF9Wla4A6pFFbIfrRvmSoDVJ9v+PrMiKU869ILrzhC1KjNEk5S+AtUWzQL1n0A4J2y0tneKCg==\"" },
        { "sig",
          "\"knZ/"
          "c6pqBBQocrF9Wla4A6pFFbIfrRvmSoDVJ9v+PrMiKU869ILrzhC1KjNEk5S+AtUWzQL1n0A4J2y0tneKCg==AAAA\"" },
    };
    voucher_t v = { .serial = 7 };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *bad = vector();
        json_object_set_new(bad, rows[i].name, json_loads(rows[i].json, JSON_DECODE_ANY, NULL));
        if (voucher_parse(bad, &v, &err) == 0)
            fail_msg("row %zu is taken", i);
        assert_non_null(err.text);
        assert_int_equal(v.serial, 7);
    }
    assert_int_not_equal(voucher_parse(NULL, &v, NULL), 0);
}

static void
test_files(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *path = fs_join(dir, "signature");
    bool made = false;
    AUTO(key_pair) signer = key_pair_open_of(KEY_KIND_SIGN, dir, "sign", &made, &err);
    AUTO(key_pair) again = key_pair_open_of(KEY_KIND_SIGN, dir, "sign", NULL, &err);
    AUTO(key_pair) master = key_pair_new();
    voucher_t v, read;

    assert_true(made);
    assert_non_null(again);
    assert_memory_equal(key_pair_public(signer), key_pair_public(again), KEY_BYTES);
    assert_int_equal(voucher_read(path, &read, &err), -ENOENT);
    fail_clear(&err);
    voucher_make(&v, signer, key_pair_public(master), voucher_serial(0));
    assert_int_equal(voucher_write(&v, path, &err), 0);
    assert_int_equal(voucher_read(path, &read, &err), 0);
    assert_memory_equal(&v, &read, sizeof(v));
    assert_int_equal(fs_write_quick(path, "{", 1, 0644, &err), 0);
    assert_int_equal(voucher_read(path, &read, NULL), -EINVAL);
}

static void
test_serial_grows(void **state)
{
    int64_t now = clock_wall_us() / 1000;

    assert_true(voucher_serial(0) >= now);
    assert_true(voucher_serial(now - 100) >= now);
    assert_int_equal(voucher_serial(now + 1000000), now + 1000001);
}

static void
test_replace(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(key_pair) old = key_pair_open(dir, "m", NULL, &err);
    AUTO(key_pair) next = key_pair_open(dir, "next", NULL, &err);
    AUTO_FREE char *pem = fs_join(dir, "m.pem");
    AUTO_FREE char *kept = fs_join(dir, "old.pem");
    buf_auto_t text = BUF_INIT;

    /* A second name shows what became of the old file. */
    assert_int_equal(link(pem, kept), 0);
    assert_int_equal(key_pair_replace(dir, "m", "next", &err), 0);
    AUTO(key_pair) now = key_pair_open(dir, "m", NULL, &err);
    assert_non_null(now);
    assert_memory_equal(key_pair_public(now), key_pair_public(next), KEY_BYTES);
    assert_int_equal(fs_read(kept, 4096, &text, &err), 0);
    for (size_t i = 0; i < text.len; i++)
        assert_int_equal(text.data[i], 0);
    assert_int_equal(key_pair_replace(dir, "m", "next", &err), -ENOENT);
    fail_clear(&err);
    /* Cut short after the rename, and before: the public file is made anew. */
    AUTO_FREE char *pub = fs_join(dir, "m.pub");
    assert_int_equal(unlink(pub), 0);
    AUTO(key_pair) same = key_pair_open(dir, "m", NULL, &err);
    assert_non_null(same);
    assert_memory_equal(key_pair_public(same), key_pair_public(next), KEY_BYTES);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
UNIT_MAIN(TEST(test_of_openssl), TEST(test_anything_else_is_none), TEST(test_files), TEST(test_serial_grows),
          TEST(test_replace))
