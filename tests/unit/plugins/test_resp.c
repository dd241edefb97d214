/* test_resp.c - replies of a Redis server, whole and in pieces. */
#include "unit/unit.h"

#include "plugins/lib/database/resp.h"

static void
check_reply(const char *bytes, const char *wanted)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = NULL;
    size_t used = 0, len = strlen(bytes);

    for (size_t i = 0; i < len; i++) {
        json_t *none = NULL;
        assert_int_equal(resp_parse(bytes, i, &used, &none, &err), 0);
        assert_null(none);
    }
    assert_int_equal(resp_parse(bytes, len, &used, &value, &err), 1);
    assert_int_equal(used, len);
    AUTO_FREE char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    assert_string_equal(text, wanted);
}

static void
replies_are_values(void **state)
{
    check_reply("+OK\r\n", "\"OK\"");
    check_reply(":-12\r\n", "-12");
    check_reply("$5\r\na\r\nbc\r\n", "\"a\\r\\nbc\"");
    check_reply("$0\r\n\r\n", "\"\"");
    check_reply("$-1\r\n", "null");
    check_reply("*-1\r\n", "null");
    check_reply("*0\r\n", "[]");
    check_reply("*3\r\n$1\r\na\r\n*1\r\n:7\r\n$-1\r\n", "[\"a\",[7],null]");
    check_reply("-ERR no\r\n", "{\"error\":\"ERR no\"}");
}

static void
what_follows_stays(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *value = NULL;
    size_t used = 0;

    assert_int_equal(resp_parse(":1\r\n:2\r\n", 8, &used, &value, &err), 1);
    assert_int_equal(used, 4);
}

static void
garbage_is_refused(void **state)
{
    static const char *const bad[] = { "x\r\n",
                                       "\r\n",
                                       "*1\r\n\r\n",
                                       "$a\r\n",
                                       ":1.5\r\n",
                                       "$3\r\nabcd\r\n",
                                       "+a\rb\r\n",
                                       "$99999999999999\r\n",
                                       "HTTP/1.1 200 OK\r\n",
                                       "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n" };

    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t err = FAIL_INIT;
        json_t *value = NULL;
        size_t used = 0;
        assert_true(resp_parse(bad[i], strlen(bad[i]), &used, &value, &err) < 0);
        assert_null(value);
        assert_non_null(strstr(fail_text(&err), "Redis"));
    }
}

UNIT_MAIN(cmocka_unit_test(replies_are_values), cmocka_unit_test(what_follows_stays),
          cmocka_unit_test(garbage_is_refused))
