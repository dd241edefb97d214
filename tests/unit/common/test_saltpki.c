/* test_saltpki.c - RSA keys of Salt are known in each form, counted, and moved aside without a loss; ours
 * stay. */
#include <unistd.h>

#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/crypto/saltpki.h"
#include "unit/folder.h"

#define SPKI                                                                                                 \
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAx\n-----END PUBLIC KEY-----\n"
#define PKCS1 "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx\n-----END RSA PRIVATE KEY-----\n"
#define PKCS8                                                                                                \
    "-----BEGIN PRIVATE KEY-----\nMIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAx\n-----END PRIVATE KEY-----\n"

static void
put(const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(dir, name);

    assert_int_equal(fs_write_quick(path, text, strlen(text), 0600, NULL), 0);
}

static void
expect_file(const char *name, const char *text)
{
    AUTO_FREE char *path = fs_join(dir, name);
    buf_auto_t is = BUF_INIT;

    assert_int_equal(fs_read(path, 4096, &is, NULL), 0);
    assert_string_equal(buf_str(&is), text);
}

static void
make_folder(const char *name)
{
    AUTO_FREE char *path = fs_join(dir, name);

    assert_int_equal(fs_mkdirs(path, 0700, NULL), 0);
}

static void
test_forms(void **state)
{
    AUTO_FREE char *path = fs_join(dir, "key.pub"), *none = fs_join(dir, "nosuch");
    static const char *const rsa[] = { SPKI, PKCS1, PKCS8 };

    for (size_t i = 0; i < NELEMS(rsa); i++) {
        put("key.pub", rsa[i]);
        assert_true(saltpki_is_rsa(path));
    }
    put("key.pub", "");
    assert_false(saltpki_is_rsa(path));
    assert_false(saltpki_is_rsa(none));
    assert_false(saltpki_is_rsa(dir));
    AUTO(key_pair) pair = key_pair_open(dir, "ours", NULL, NULL);
    AUTO_FREE char *pem = fs_join(dir, "ours.pem"), *pub = fs_join(dir, "ours.pub");
    assert_non_null(pair);
    assert_false(saltpki_is_rsa(pem));
    assert_false(saltpki_is_rsa(pub));
}

static void
test_aside(void **state)
{
    fail_auto_t err = FAIL_INIT;
    char *text = NULL;
    size_t accepted = 9;

    assert_int_equal(saltpki_count(dir, &accepted), 0);
    assert_int_equal(accepted, 0);
    make_folder("minions");
    make_folder("minions_pre");
    put("master.pem", PKCS1);
    put("master.pub", SPKI);
    put("master.txt", SPKI);
    put("minions/web1", SPKI);
    put("minions/web2", SPKI);
    put("minions_pre/db1", SPKI);
    assert_int_equal(saltpki_count(dir, &accepted), 5);
    assert_int_equal(accepted, 2);
    assert_int_equal(saltpki_set_aside(dir, &text, &err), 0);
    assert_non_null(strstr(text, "2 of this host's own and 3 of minions (2 accepted)"));
    free(STEAL(text));
    expect_file("salt-rsa/master.pem", PKCS1);
    expect_file("salt-rsa/minions/web1", SPKI);
    expect_file("salt-rsa/minions_pre/db1", SPKI);
    expect_file("master.txt", SPKI);
    assert_int_equal(saltpki_count(dir, &accepted), 0);
    assert_int_equal(saltpki_set_aside(dir, &text, &err), 0);
    assert_null(text);
}

/* A folder that can't be read may hold some. */
static void
test_unreadable(void **state)
{
    AUTO_FREE char *loop = fs_join(dir, "minions");
    fail_auto_t err = FAIL_INIT;
    char *text = NULL;

    assert_int_equal(symlink("minions", loop), 0);
    assert_int_equal(saltpki_set_aside(dir, &text, &err), -ELOOP);
    assert_non_null(strstr(fail_text(&err), loop));
    assert_null(text);
}

/* What lies there already is not replaced. */
static void
test_nothing_is_lost(void **state)
{
    fail_auto_t err = FAIL_INIT;
    char *text = NULL;

    make_folder("salt-rsa");
    put("salt-rsa/minion.pem", PKCS8);
    put("minion.pem", PKCS1);
    assert_int_equal(saltpki_set_aside(dir, &text, &err), -EEXIST);
    assert_non_null(strstr(fail_text(&err), "minion.pem is an RSA key of Salt and can't be moved"));
    assert_null(text);
    expect_file("salt-rsa/minion.pem", PKCS8);
    expect_file("minion.pem", PKCS1);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_MAIN(IN_FOLDER(test_forms), IN_FOLDER(test_aside), IN_FOLDER(test_nothing_is_lost),
          IN_FOLDER(test_unreadable))
