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
    char *text = live_text(live, now_ms, columns, 20);

    assert_string_equal(text, want);
    free(text);
}

static void
test_without_a_terminal(void **state)
{
    live_t *live = live_new(-1, true, false);

    take(live, "{\"phase\": \"begin\", \"id\": \"a\", \"state\": \"salt\", \"fun\": \"state\"}", 1000);
    take(live, "{\"phase\": \"over\", \"run\": \"1\", \"success\": false}", 4000);
    assert_null(live_hint(live));
    assert_int_equal(live_pause(live), -1);
    live_draw(live, 9000);
    live_rest(live, 9000);
    live_destroy(&live);
    live_destroy(&live);
}

static void
test_a_runner_that_counts(void **state)
{
    live_t *live = live_new(-1, true, false);

    take(live, "{\"step\": 2, \"of\": 9, \"what\": \"caches\"}", 0);
    expect(live, 0, 80, "[2/9] caches\n");
    live_destroy(&live);
}

static void
test_a_runner_that_says_nothing(void **state)
{
    live_t *live = live_new(-1, true, false);

    live_begin(live, "salt.execute", 5000);
    expect(live, 5999, 80, "");
    expect(live, 8100, 80, "salt.execute, 3 s\n");
    expect(live, 8100, 9, "salt.exe\n");
    take(live, "{\"phase\": \"begin\", \"id\": \"a\", \"state\": \"salt\", \"fun\": \"state\"}", 8000);
    expect(
        live, 9000, 80,
        "Orchestration : 0 of 1 steps, 9.0 s\n\u2514\u2500 \u25cf a         1.0 s                        salt.state\n");
    live_destroy(&live);
}

UNIT_MAIN(cmocka_unit_test(test_without_a_terminal), cmocka_unit_test(test_a_runner_that_counts),
          cmocka_unit_test(test_a_runner_that_says_nothing))
