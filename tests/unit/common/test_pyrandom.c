/* test_pyrandom.c - the same numbers as Python's random for the same seeds; base64. */
#include "unit/unit.h"

#include "common/base/base64.h"
#include "common/base/pyrandom.h"

static void
check_ints(const json_t *c)
{
    pyrandom_t *r = pyrandom_new(json_object_get(c, "seed"), NULL);
    size_t i;
    json_t *row;

    json_array_foreach (json_object_get(c, "ints"), i, row) {
        int64_t v = 0;
        assert_int_equal(pyrandom_int(r, json_integer_value(json_array_get(row, 0)),
                                      json_integer_value(json_array_get(row, 1)), &v, NULL),
                         0);
        assert_true(v == json_integer_value(json_array_get(row, 2)));
    }
    pyrandom_destroy(&r);
}

static void
check_samples(const json_t *c)
{
    pyrandom_t *r = pyrandom_new(json_object_get(c, "seed"), NULL);
    size_t i;
    json_t *row;

    json_array_foreach (json_object_get(c, "samples"), i, row) {
        json_auto_t *list = json_array();
        for (json_int_t n = 0; n < json_integer_value(json_array_get(row, 0)); n++)
            json_array_append_new(list, json_integer(n));
        json_auto_t *got = pyrandom_sample(r, list, json_integer_value(json_array_get(row, 1)), NULL);
        assert_true(json_equal(got, json_array_get(row, 2)));
    }
    pyrandom_destroy(&r);
}

static void
test_as_python(void **state)
{
    json_auto_t *cases = json_load_file(TEST_SOURCE_DIR "/tests/cases/random/python.json", 0, NULL);
    size_t i;
    json_t *c;

    assert_true(json_array_size(cases) > 10);
    json_array_foreach (cases, i, c) {
        check_ints(c);
        check_samples(c);
    }
}

static void
test_refused(void **state)
{
    fail_auto_t err = FAIL_INIT, range = FAIL_INIT, sample = FAIL_INIT;
    json_auto_t *list = json_array();
    int64_t v;

    assert_null(pyrandom_new(list, &err));
    assert_string_equal(fail_text(&err),
                        "TypeError: The only supported seed types are: None,\nint, float, str, "
                        "bytes, and bytearray.");
    pyrandom_t *r = pyrandom_new(NULL, NULL);
    assert_int_equal(pyrandom_int(r, 5, 1, &v, &range), -EINVAL);
    assert_string_equal(fail_text(&range), "ValueError: empty range for randrange() (5, 2, -3)");
    assert_null(pyrandom_sample(r, list, 1, &sample));
    assert_string_equal(fail_text(&sample), "ValueError: Sample larger than population or is negative");
    pyrandom_destroy(&r);
}

static void
test_base64(void **state)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "g", "Zw==" },
        { "ge", "Z2U=" },
        { "get", "Z2V0" },
        { "get salted", "Z2V0IHNhbHRlZA==" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = base64_encode(rows[i][0], strlen(rows[i][0]), 0);
        assert_string_equal(got, rows[i][1]);
    }
    AUTO_FREE char *lines = base64_encode("0123456789012345678901234567890123456789012345678901234567", 58,
                                          76);
    assert_string_equal(
        lines, "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2\nNw==\n");
}

UNIT_MAIN(cmocka_unit_test(test_as_python), cmocka_unit_test(test_refused), cmocka_unit_test(test_base64))
