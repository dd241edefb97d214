/* test_fieldpattern.c - patterns with fields, against what Salt's expand_pattern_lists() and str.format give. */
#include "common/base/buf.h"
#include "common/data/fieldpattern.h"
#include "unit/unit.h"

static const char values[] =
    "{\"minion\": \"m1\", \"grains\": {\"roles\": [\"web\", \"db\"], \"os\": \"Debian\", \"n\": 3},"
    " \"pillar\": {\"a\": {\"b\": [\"x\", \"y\"]}, \"none\": [], \"brace\": \"{minion}\"}}";

static void
gives(const char *pattern, const char *expected)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *given = value_parse(values, strlen(values), 4096, "values", &err);
    json_auto_t *all = fieldpattern_fill(pattern, given);
    AUTO_FREE char *text = all != NULL ? value_joined(all, " ") : xstrdup("-");

    assert_string_equal(text, expected);
}

static void
test_fields(void **state)
{
    gives("plain", "plain");
    gives("{minion}/{grains[os]}/{grains[n]}", "m1/Debian/3");
    gives("a{{b}}{minion}", "a{b}m1");
    gives("{pillar[a][b][1]}", "y");
}

static void
test_lists(void **state)
{
    gives("by-role/{grains[roles]}", "by-role/web by-role/db");
    gives("{grains[roles]}/{grains[roles]}", "web/web db/db");
    gives("{grains[roles]}/{pillar[a][b]}", "web/x web/y db/x db/y");
    gives("{pillar[none]}", "");
}

/* A value with braces is a value, and no further field. */
static void
test_values_are_no_patterns(void **state)
{
    gives("{pillar[brace]}", "{minion}");
}

static void
test_no_value(void **state)
{
    static const char *const none[] = {
        "{nosuch}",        "{grains[nosuch]}", "{grains[roles][7]}", "{grains",        "}", "{", "{}",
        "{grains[os][x]}", "{grains[os}",      "{minion!r}",         "{pillar[a][b]x}"
    };

    for (size_t i = 0; i < NELEMS(none); i++)
        gives(none[i], "-");
}

/* 40 values in each of 8 places would be more than any memory holds. */
static void
test_bound(void **state)
{
    json_auto_t *object = json_object();
    buf_auto_t pattern = BUF_INIT;

    for (int i = 0; i < 8; i++) {
        json_t *list = json_array();
        for (int k = 0; k < 40; k++)
            json_array_append_new(list, json_integer(k));
        AUTO_FREE char *name = xasprintf("l%d", i);
        json_object_set_new(object, name, list);
        buf_printf(&pattern, "{%s}", name);
    }
    assert_null(fieldpattern_fill(buf_str(&pattern), object));
}

UNIT_MAIN(cmocka_unit_test(test_fields), cmocka_unit_test(test_lists),
          cmocka_unit_test(test_values_are_no_patterns), cmocka_unit_test(test_no_value),
          cmocka_unit_test(test_bound))
