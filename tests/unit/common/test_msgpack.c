/* test_msgpack.c - MessagePack against what Python's msgpack writes, and against bytes that nobody should. */
#include "common/base/fs.h"
#include "common/data/msgpack.h"
#include "salt/limits.h"
#include "unit/unit.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/msgpack/values.json" /* [["bytes in hex", value], ...] */

static void
unhex(const char *hex, buf_t *out)
{
    for (unsigned byte; *hex != '\0'; hex += 2) {
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        buf_putc(out, (char) byte);
    }
}

static void
test_values(void **state)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    json_t *one;
    size_t i;

    assert_int_equal(fs_read(CASES, LIMIT_FILE_READ, &text, &err), 0);
    json_auto_t *all = value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, "cases", &err);
    assert_true(json_array_size(all) > 20);
    json_array_foreach (all, i, one) {
        buf_auto_t bytes = BUF_INIT, own = BUF_INIT;
        unhex(json_string_value(json_array_get(one, 0)), &bytes);
        json_auto_t *value = msgpack_get(bytes.data, bytes.len, &err);
        assert_non_null(value);
        assert_true(json_equal(value, json_array_get(one, 1)));
        /* Binary data and short floats are read, and never written. */
        msgpack_put(&own, value);
        if ((bytes.data[0] & 0xff) != 0xc4 && (bytes.data[0] & 0xff) != 0xca)
            assert_true(own.len == bytes.len && memcmp(own.data, bytes.data, own.len) == 0);
    }
}

static void
test_refused(void **state)
{
    static const struct {
        const char *hex, *why;
    } cases[] = { { "", "cut off" },
                  { "c1", "not known here" },
                  { "d9", "cut off" },
                  { "a5616263", "cut off" },
                  { "dbffffffff61", "cut off" },
                  { "ddffffffff", "cut off" },
                  { "8101c0", "no text" },
                  { "cfffffffffffffffff", "large" },
                  { "cb7ff0000000000000", "not finite" },
                  { "0101", "behind its end" },
                  { "d600000000", "not known here" } };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        buf_auto_t bytes = BUF_INIT;
        unhex(cases[i].hex, &bytes);
        assert_null(msgpack_get(bytes.data, bytes.len, &err));
        assert_non_null(strstr(fail_text(&err), cases[i].why));
    }
}

static void
test_depth(void **state)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t bytes = BUF_INIT;

    for (int i = 0; i < 100000; i++)
        buf_putc(&bytes, (char) 0x91);
    assert_null(msgpack_get(bytes.data, bytes.len, &err));
    assert_non_null(strstr(fail_text(&err), "too deep"));
}

UNIT_MAIN(cmocka_unit_test(test_values), cmocka_unit_test(test_refused), cmocka_unit_test(test_depth))
