/* test_tag.c - Poly1305 tags: RFC 8439's example, pieces, keys that are none. */
#include "common/base/str.h"
#include "common/crypto/tag.h"
#include "unit/unit.h"

static void
test_rfc8439(void **state)
{
    static const char text[] = "Cryptographic Forum Research Group";
    AUTO(tag) whole = tag_new("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
    AUTO(tag) pieces = tag_new("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b");
    char hex[TAG_HEX + 1], other[TAG_HEX + 1];
    tag_add(whole, text, strlen(text));
    for (size_t i = 0; i < strlen(text); i++)
        tag_add(pieces, text + i, 1);
    tag_end(whole, hex);
    tag_end(pieces, other);
    assert_string_equal(hex, "a8061dc1305136c6c22b8baf0c0127a9");
    assert_string_equal(other, hex);
}

static void
test_keys(void **state)
{
    char a[TAG_KEY_HEX + 1], b[TAG_KEY_HEX + 1];
    tag_key(a);
    tag_key(b);
    assert_int_equal(strlen(a), TAG_KEY_HEX);
    assert_string_not_equal(a, b);
    AUTO(tag) tag = tag_new(a);
    assert_non_null(tag);
    static const char *const bad[] = {
        "",
        "85d6",
        "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51bff",
        "zzd6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
    };
    for (size_t i = 0; i < NELEMS(bad); i++)
        assert_null(tag_new(bad[i]));
}

UNIT_MAIN(cmocka_unit_test(test_rfc8439), cmocka_unit_test(test_keys))
