/* test_field.c - which values are one line, or one word, of a file. */
#include "unit/unit.h"

#include "plugins/lib/file/field.h"

static void
test_fields(void **state)
{
    static const struct {
        const char *value, *separators, *sign; /* NULL: fine */
    } rows[] = {
        { "", FIELD_LINE, NULL },
        { "two words\tand more", FIELD_LINE, NULL },
        { "a\nb", FIELD_LINE, "a line break" },
        { "a\r", FIELD_LINE, "a line break" },
        { "word", FIELD_WORD, NULL },
        { "two words", FIELD_WORD, "a blank" },
        { "a\tb", FIELD_WORD, "a tab" },
        { "a\vb", FIELD_WORD, "a control character" },
        { "a=b", FIELD_WORD "=", "'='" },
        { "a=b", FIELD_WORD, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(field_check_text("arg", rows[i].value, rows[i].separators, &err),
                         rows[i].sign != NULL ? -EINVAL : 0);
        assert_int_equal(err.text != NULL, rows[i].sign != NULL);
        if (rows[i].sign != NULL)
            assert_non_null(strstr(fail_text(&err), rows[i].sign));
    }
}

static void
test_lists(void **state)
{
    json_auto_t *good = json_pack("[s, i, n]", "a", 5), *bad = json_pack("[s, s]", "a", "b\nc");
    fail_auto_t err = FAIL_INIT;

    assert_int_equal(field_check("arg", NULL, FIELD_WORD, NULL), 0);
    assert_int_equal(field_check("arg", good, FIELD_WORD, NULL), 0);
    assert_int_equal(field_check("arg", bad, FIELD_LINE, &err), -EINVAL);
    assert_int_equal(err.kind, FAIL_INVOCATION);
    assert_string_equal(fail_text(&err),
                        "arg: 'b\\nc' may not hold a line break, which would begin another line or "
                        "field of the file; give it as one");
}

UNIT_MAIN(cmocka_unit_test(test_fields), cmocka_unit_test(test_lists))
