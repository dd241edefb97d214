/* test_tree.c - the steps of an orchestration as a tree. */
#include "cli/tree.h"
#include "common/base/str.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
take(tree_t *tree, int64_t now_ms, const char *text)
{
    json_auto_t *push = json_loads(text, 0, NULL);

    assert_non_null(push);
    tree_take(tree, push, now_ms);
}

static void
expect(const tree_t *tree, int64_t now_ms, size_t columns, size_t rows, const char *want)
{
    buf_auto_t out = BUF_INIT;

    tree_text(tree, now_ms, columns, rows, &out);
    assert_string_equal(buf_str(&out), want);
}

/* A run of four steps, to its third second. */
static tree_t *
some_run(bool utf8, bool colour)
{
    tree_t *tree = tree_new(utf8, colour);

    take(tree, 1000,
         "{\"phase\": \"plan\", \"run\": \"77\", \"steps\": ["
         "{\"tag\": \"1\", \"id\": \"packages\", \"state\": \"salt\", \"fun\": \"state\"},"
         "{\"tag\": \"2\", \"id\": \"migrate\", \"state\": \"salt\", \"fun\": \"function\"},"
         "{\"tag\": \"3\", \"id\": \"restart\", \"state\": \"salt\", \"fun\": \"state\"},"
         "{\"tag\": \"4\", \"id\": \"restart\", \"state\": \"test\", \"fun\": \"nop\"}]}");
    take(tree, 1000, "{\"phase\": \"begin\", \"tag\": \"1\"}");
    take(tree, 2000, "{\"phase\": \"at\", \"tag\": \"1\", \"done\": 2, \"of\": 3}");
    take(tree, 3400, "{\"phase\": \"end\", \"tag\": \"1\", \"result\": true, \"done\": 3, \"of\": 3}");
    take(tree, 3500, "{\"phase\": \"begin\", \"tag\": \"2\"}");
    take(tree, 3600, "{\"phase\": \"at\", \"tag\": \"2\", \"done\": 0, \"of\": 1}");
    return tree;
}

static void
test_run(void **state)
{
    AUTO(tree) tree = some_run(true, false);

    expect(tree, 4000, 80, 20,
           "Orchestration 77: 1 of 4 steps, 3.0 s\n"
           "\u251c\u2500 \u2713 packages  2.4 s        3 of 3 minions  salt.state\n"
           "\u251c\u2500 \u25cf migrate   0.5 s        0 of 1 minion   salt.function\n"
           "\u251c\u2500 \u25cb restart                                salt.state\n"
           "\u2514\u2500 \u25cb restart                                test.nop\n");
    take(
        tree, 75000,
        "{\"phase\": \"end\", \"tag\": \"2\", \"result\": false, \"done\": 1, \"of\": 1, \"comment\": \"Failed\\nweb1: "
        "\\u001b[2J\\nthree\\nfour\"}");
    take(tree, 75000, "{\"phase\": \"end\", \"tag\": \"3\", \"result\": false, \"ran\": false}");
    take(tree, 75000,
         "{\"phase\": \"end\", \"tag\": \"4\", \"result\": true, \"ran\": false, \"kept\": true}");
    take(tree, 75000, "{\"phase\": \"over\", \"run\": \"77\", \"success\": false}");
    take(tree, 75000, "{\"phase\": \"end\", \"tag\": \"nosuch\", \"result\": true}");
    expect(tree, 99000, 80, 20,
           "Orchestration 77: 4 of 4 steps, 1 min 14 s; failed: 1, not run: 1\n"
           "\u251c\u2500 \u2713 packages  2.4 s        3 of 3 minions  salt.state\n"
           "\u251c\u2500 \u2717 migrate   1 min 11 s   1 of 1 minion   salt.function\n"
           "\u2502     Failed\n\u2502     web1: ^[[2J\n\u2502     three\n"
           "\u251c\u2500 - restart   not run                      salt.state\n"
           "\u2514\u2500 \u2713 restart   done before                  test.nop\n");
}

static void
test_looks(void **state)
{
    AUTO(tree) plain = some_run(false, false);
    AUTO(tree) narrow = some_run(true, true);

    expect(plain, 4000, 60, 20,
           "Orchestration 77: 1 of 4 steps, 3.0 s\n"
           "|- + packages  2.4 s        3 of 3 minions  salt.state\n"
           "|- * migrate   0.5 s        0 of 1 minion   salt.function\n"
           "|- . restart                                salt.state\n"
           "`- . restart                                test.nop\n");
    expect(narrow, 4000, 13, 20,
           "Orchestratio\n"
           "\u251c\u2500 \033[0;32m\u2713\033[0;0m package\n"
           "\u251c\u2500 \033[0;33m\u25cf\033[0;0m migrate\n"
           "\u251c\u2500 \033[0;1;30m\u25cb\033[0;0m restart\n"
           "\u2514\u2500 \033[0;1;30m\u25cb\033[0;0m restart\n");
    expect(narrow, 4000, 2, 20,
           "O\n\u251c\033[0;32m\033[0;0m\n\u251c\033[0;33m\033[0;0m\n\u251c\033[0;1;30m\033[0;0m\n"
           "\u2514\033[0;1;30m\033[0;0m\n");
}

/* 2,000 and more steps: lines for those that matter, and counts. */
static void
test_many(void **state)
{
    AUTO(tree) tree = tree_new(true, false);
    json_auto_t *plan = json_pack("{s:s, s:s, s:[], s:i}", "phase", "plan", "run", "7", "steps", "more", 500);
    AUTO_FREE char *long_id = xcalloc(5001, 1);

    memset(long_id, 'x', 5000);
    for (int i = 0; i < 3000; i++)
        json_array_append_new(value_get(plan, "steps"),
                              json_pack("{s:o, s:s, s:s, s:s}", "tag", value_fmt("t%d", i), "id",
                                        i == 1500 ? long_id : "step", "state", "salt", "fun", "state"));
    tree_take(tree, plan, 0);
    assert_int_equal(tree_steps(tree), 2000);
    take(tree, 100, "{\"phase\": \"begin\", \"tag\": \"t1500\"}");
    take(tree, 100, "{\"phase\": \"end\", \"tag\": \"t7\", \"result\": false, \"comment\": \"no\"}");
    take(tree, 100, "{\"phase\": \"end\", \"tag\": \"t8\", \"result\": true}");
    buf_auto_t out = BUF_INIT;
    tree_text(tree, 1000, 60, 10, &out);
    size_t lines = 0;
    for (const char *c = buf_str(&out); *c != '\0'; c++)
        lines += *c == '\n';
    assert_true(lines <= 10);
    assert_non_null(strstr(buf_str(&out), "\u2717 step"));
    assert_non_null(strstr(buf_str(&out), "\u25cf xxxx"));
    assert_non_null(strstr(buf_str(&out), "\u2514\u2500 \u2026 and 2494 to come, 1 done\n"));
}

UNIT_MAIN(cmocka_unit_test(test_run), cmocka_unit_test(test_looks), cmocka_unit_test(test_many))
