/* test_digest.c - the digests' published answers for "abc". */
#include "unit/unit.h"

#include "common/base/digest.h"

static const struct {
    const char *name, *hex;
} rows[] = {
    { "md5", "900150983cd24fb0d6963f7d28e17f72" },
    { "sha1", "a9993e364706816aba3e25717850c26c9cd0d89d" },
    { "sha224", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7" },
    { "sha256", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "sha384", "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed"
                "8086072ba1e7cc2358baeca134c825a7" },
    { "sha512", "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f" },
};

static void
test_abc(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *hex = digest_bytes(rows[i].name, "abc", 3, NULL);
        assert_string_equal(hex, rows[i].hex);
        assert_int_equal(digest_hex_len(rows[i].name), strlen(rows[i].hex));
        assert_string_equal(digest_of_len(strlen(rows[i].hex)), rows[i].name);
    }
}

static void
test_pieces(void **state)
{
    AUTO(digest) digest = digest_new("sha256", NULL);

    digest_add(digest, "a", 1);
    digest_add(digest, "bc", 2);
    AUTO_FREE char *hex = digest_hex(digest);
    assert_string_equal(hex, rows[3].hex);
}

static void
test_unknown_and_missing(void **state)
{
    fail_auto_t err = FAIL_INIT, missing = FAIL_INIT;
    char *hex = NULL;

    assert_null(digest_new("crc7", &err));
    assert_string_equal(fail_text(&err), "Invalid hash type: crc7");
    assert_int_equal(digest_file("/nonexistent/file", "md5", &hex, &missing), -ENOENT);
    assert_string_equal(fail_text(&missing), "[Errno 2] No such file or directory: '/nonexistent/file'");
}

UNIT_MAIN(cmocka_unit_test(test_abc), cmocka_unit_test(test_pieces),
          cmocka_unit_test(test_unknown_and_missing))
