/* test_live.c - the lines of running steps. */
#include "cli/live.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
take(live_t *live, const char *text, int64_t now_ms)
{
    json_auto_t *push = json_loads(text, 0, NULL);

    assert_non_null(push);
    live_take(live, push, now_ms);
}

static void
expect(const live_t *live, int64_t now_ms, size_t columns, const char *want)
{
    char *text = live_text(live, now_ms, columns);

    assert_string_equal(text, want);
    free(text);
}

static void
test_steps_come_and_go(void **state)
{
    live_t *live = live_new(-1);

    take(live, "{\"phase\": \"begin\", \"id\": \"a\", \"state\": \"salt\", \"fun\": \"state\"}", 1000);
    take(live, "{\"phase\": \"begin\", \"id\": \"b\", \"state\": \"salt\", \"fun\": \"runner\"}", 2000);
    take(live, "{\"phase\": \"at\", \"id\": \"a\", \"done\": 3, \"of\": 10}", 2500);
    take(live, "{\"phase\": \"at\", \"id\": \"nosuch\", \"done\": 3, \"of\": 10}", 2500);
    expect(live, 4000, 80, "a (salt.state), 3 of 10 returned, 3 s\nb (salt.runner), 2 s\n");
    take(live, "{\"phase\": \"end\", \"id\": \"a\", \"result\": true}", 4000);
    take(live, "{\"phase\": \"end\", \"id\": \"a\", \"result\": true}", 4000);
    expect(live, 4000, 80, "b (salt.runner), 2 s\n");
    take(live, "{\"phase\": \"end\", \"id\": \"b\", \"result\": false}", 4000);
    expect(live, 4000, 80, "");
    take(live, "{\"phase\": \"over\", \"run\": \"1\", \"success\": false}", 4000);
    assert_null(live_hint(live)); /* no terminal */
    assert_int_equal(live_pause(live), -1);
    live_destroy(&live);
    live_destroy(&live);
}

static void
test_lines_are_bounded(void **state)
{
    live_t *live = live_new(-1);

    for (int i = 0; i < 20; i++) {
        char text[128];
        snprintf(text, sizeof(text),
                 "{\"phase\": \"begin\", \"id\": \"s%d\\u001b[31m\\n\", \"state\": \"x\", \"fun\": \"y\"}",
                 i);
        take(live, text, 0);
    }
    char *text = live_text(live, 0, 10);
    size_t lines = 0;
    for (const char *c = text; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 13);
    assert_null(strchr(text, '\033'));
    assert_int_equal(strchr(text, '\n') - text, 9);
    assert_non_null(strstr(text, "\nand 8 mo"));
    free(text);
    live_destroy(&live);
}

static void
test_a_runner_that_counts(void **state)
{
    live_t *live = live_new(-1);

    take(live, "{\"step\": 2, \"of\": 9, \"what\": \"caches\"}", 0);
    expect(live, 0, 80, "[2/9] caches\n");
    live_destroy(&live);
}

static void
test_a_runner_that_says_nothing(void **state)
{
    live_t *live = live_new(-1);

    live_begin(live, "salt.execute", 5000);
    expect(live, 5999, 80, "");
    expect(live, 8100, 80, "salt.execute, 3 s\n");
    expect(live, 8100, 9, "salt.exe\n");
    take(live, "{\"phase\": \"begin\", \"id\": \"a\", \"state\": \"salt\", \"fun\": \"state\"}", 8000);
    expect(live, 9000, 80, "a (salt.state), 1 s\n");
    live_destroy(&live);
}

UNIT_MAIN(cmocka_unit_test(test_steps_come_and_go), cmocka_unit_test(test_lines_are_bounded),
          cmocka_unit_test(test_a_runner_that_counts), cmocka_unit_test(test_a_runner_that_says_nothing))
