/* test_pgtext.c - PostgreSQL's texts: quoted names and values, access lists, rows, passwords as the server keeps them. */
#include "unit/unit.h"

#include "plugins/lib/database/pgtext.h"

static void
test_sql(void **state)
{
    AUTO_FREE char *plain = pgtext_sql("GRANT ~ TO ~ $ ?", "a\"b", "c; d", "x", "it's"),
                   *escaped = pgtext_sql("?", "a\\'b");

    assert_string_equal(plain, "GRANT \"a\"\"b\" TO \"c; d\" x 'it''s'");
    assert_string_equal(escaped, " E'a\\\\''b'");
}

static void
test_csv(void **state)
{
    json_auto_t *got = pgtext_csv("a,b\n1,\"x,\"\"y\"\"\nz\"\n\n2,\n"),
                *want = json_pack("[{s:s, s:s}, {s:s, s:s}]", "a", "1", "b", "x,\"y\"\nz", "a", "2", "b", "");
    json_auto_t *none = pgtext_csv(""), *open = pgtext_csv("a\n\"x");

    assert_true(json_equal(got, want));
    assert_int_equal(json_array_size(none), 0);
    assert_int_equal(json_array_size(open), 1);
}

static void
test_acl(void **state)
{
    json_auto_t *got = pgtext_acl("{=r/p,bob=ar*/p,\"\\\"odd =,\\\"\\\"x\\\"=U/p\",junk}"),
                *want = json_pack("{s:{s:b}, s:{s:b, s:b}, s:{s:b}}", "public", "SELECT", 0, "bob", "INSERT",
                                  0, "SELECT", 1, "odd =,\"x", "USAGE", 0);
    json_auto_t *none = pgtext_acl("");

    assert_true(json_equal(got, want));
    assert_int_equal(json_object_size(none), 0);
    assert_string_equal(pgtext_letters_of("sequence"), "rwU");
    assert_null(pgtext_letters_of("nosuch"));
}

/* The pair of password and salt of RFC 7677. */
static void
test_scram(void **state)
{
    static const uint8_t salt[] = { 0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                                    0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81 };
    static const char kept[] =
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
        "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
    AUTO_FREE char *made = pgtext_scram("pencil", salt, sizeof(salt), 4096);

    assert_string_equal(made, kept);
    assert_true(pgtext_verifies("user", "pencil", kept, "scram-sha-256"));
    assert_true(pgtext_verifies("user", "pencil", kept, ""));
    assert_true(pgtext_verifies("user", kept, kept, "scram-sha-256"));
    assert_false(pgtext_verifies("user", "pen", kept, "scram-sha-256"));
    assert_false(pgtext_verifies("user", "pencil", kept, "md5"));
    assert_false(pgtext_verifies("user", "pencil", "SCRAM-SHA-256$0:W22ZaA==$a:b", "scram-sha-256"));
    assert_false(pgtext_verifies("user", "pencil", "SCRAM-SHA-256$4096:!$a:b", "scram-sha-256"));
}

static void
test_passwords(void **state)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *md5 = pgtext_password("bob", "pw", "md5", &err),
                   *kept = pgtext_password("bob", "md5x", "md5", &err),
                   *plain = pgtext_password("bob", "pw", "", &err);
    AUTO_FREE char *scram = pgtext_password("bob", "pw", "scram-sha-256", &err);

    assert_string_equal(md5, "md59e8b47dd245ed6fdb3fd1657224800c4");
    assert_string_equal(kept, "md5x");
    assert_string_equal(plain, "pw");
    assert_true(pgtext_verifies("bob", "pw", md5, "md5"));
    assert_true(pgtext_verifies("bob", "pw", md5, ""));
    assert_true(pgtext_verifies("bob", "pw", scram, "scram-sha-256"));
    assert_false(pgtext_verifies("bob", "pw", "", "md5"));
    assert_null(pgtext_password("bob", "pw", "rot13", &err));
}

static void
test_versions(void **state)
{
    assert_true(pgtext_version("9.5", "15.18 (Debian)") < 0);
    assert_true(pgtext_version("1.10", "1.9") > 0);
    assert_true(pgtext_version("1.0", "1.0") == 0);
    assert_true(pgtext_version("1.0", "1.0.1") < 0);
    assert_true(pgtext_version("1.5", "1.6dev") < 0);
}

UNIT_MAIN(cmocka_unit_test(test_sql), cmocka_unit_test(test_csv), cmocka_unit_test(test_acl),
          cmocka_unit_test(test_scram), cmocka_unit_test(test_passwords), cmocka_unit_test(test_versions))
