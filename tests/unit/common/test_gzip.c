/* test_gzip.c - packing and unpacking; data that are damaged, cut off, or a bomb. */
#include "common/base/base64.h"
#include "common/base/gzip.h"
#include "unit/unit.h"

static void
test_round_trip(void **state)
{
    static const size_t sizes[] = { 0, 1, 1000, 300000 };
    for (size_t i = 0; i < NELEMS(sizes); i++) {
        buf_auto_t plain = BUF_INIT, packed = BUF_INIT, back = BUF_INIT;
        for (size_t k = 0; k < sizes[i]; k++)
            buf_putc(&plain, (char) (k * k >> 3));
        gzip_pack(plain.data, plain.len, &packed);
        assert_int_equal(gzip_unpack(packed.data, packed.len, sizes[i], &back, NULL), 0);
        assert_int_equal(back.len, plain.len);
        assert_int_equal(sizes[i] ? memcmp(back.data, plain.data, back.len) : 0, 0);
    }
}

static void
test_bad(void **state)
{
    buf_auto_t plain = BUF_INIT, packed = BUF_INIT, back = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    buf_fill(&plain, 'x', 1000000);
    gzip_pack(plain.data, plain.len, &packed);
    assert_true(packed.len < 10000);
    assert_int_equal(gzip_unpack(packed.data, packed.len, 999999, &back, &err), -EFBIG);
    buf_clear(&back);
    assert_int_equal(gzip_unpack(packed.data, packed.len - 9, 2000000, &back, NULL), -EBADMSG);
    packed.data[30] = (char) (packed.data[30] + 1);
    assert_int_equal(gzip_unpack(packed.data, packed.len, 2000000, &back, NULL), -EBADMSG);
    assert_int_equal(gzip_unpack("no gzip", 7, 100, &back, NULL), -EBADMSG);
    assert_int_equal(gzip_unpack("", 0, 100, &back, NULL), -EBADMSG);
}

UNIT_MAIN(cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad))
