/* test_plan.c - plans as graphs. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "runners/lib/plan.h"
#include "salt/value.h"
#include "unit/unit.h"

/* Chunks from rows "ID [|parallel] [requisite other]...". */
static json_t *
chunks_of(const char *const *rows, size_t n)
{
    json_t *chunks = json_array();

    for (size_t i = 0; i < n; i++) {
        char **words = str_split(rows[i], " ", true);
        json_t *chunk = json_pack("{s:s, s:s, s:s, s:s, s:s}", "state", "salt", "fun", "function", "name",
                                  "test.ping", "__id__", words[0], "__sls__", "x");
        for (size_t w = 1; words[w] != NULL; w++) {
            if (str_eq(words[w], "parallel")) {
                json_object_set_new(chunk, "parallel", json_true());
                continue;
            }
            if (json_object_get(chunk, words[w]) == NULL)
                json_object_set_new(chunk, words[w], json_array());
            json_array_append_new(json_object_get(chunk, words[w]), json_pack("{s:s}", "salt", words[w + 1]));
            w++;
        }
        json_array_append_new(chunks, chunk);
        strv_free(words);
    }
    return chunks;
}

static void
expect_critical(const char *const *rows, size_t n, const json_t *times, const char *want)
{
    json_auto_t *chunks = chunks_of(rows, n);
    AUTO(plan) plan = plan_new(chunks, times);
    json_auto_t *path = plan_critical(plan);
    AUTO_FREE char *text = json_dumps(path, JSON_COMPACT);

    assert_string_equal(text, want);
}
#define EXPECT_CRITICAL(rows, times, want) expect_critical(rows, NELEMS(rows), times, want)

static void
test_critical_path(void **state)
{
    static const char *const row[] = { "a", "b", "c" };
    static const char *const fan[] = { "a parallel", "b parallel", "c require a require b" };
    static const char *const later[] = { "a require b", "b" };
    static const char *const circle[] = { "a require b", "b require a" };
    static const char *const mixed[] = { "a parallel", "b", "c", "d require a" };
    json_auto_t *times = json_pack("{s:{s:f}, s:{s:f}, s:{s:f}}", "salt_|-a_|-test.ping_|-function", "ms",
                                   10.0, "salt_|-b_|-test.ping_|-function", "ms", 90.0,
                                   "salt_|-c_|-test.ping_|-function", "ms", 5.0);

    EXPECT_CRITICAL(row, NULL, "[0,1,2]");
    EXPECT_CRITICAL(fan, NULL, "[0,2]");
    EXPECT_CRITICAL(fan, times, "[1,2]");
    EXPECT_CRITICAL(later, NULL, "[1,0]");
    EXPECT_CRITICAL(circle, NULL, "[1,0]");
    EXPECT_CRITICAL(mixed, NULL, "[1,2,3]");
    expect_critical(NULL, 0, NULL, "[]");
}

static void
expect_drawn(const json_t *chunks, const json_t *times, const char *format, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(plan) plan = plan_new(chunks, times);
    AUTO_FREE char *text = plan_draw(plan, format, &err);

    assert_string_equal(text, want);
}

static void
test_drawings(void **state)
{
    static const char *const rows[] = { "a parallel", "b\"q require a" };
    json_auto_t *chunks = chunks_of(rows, NELEMS(rows));
    json_auto_t *times = json_pack("{s:{s:f, s:b}}", "salt_|-a_|-test.ping_|-function", "ms", 12.0, "result",
                                   0);
    fail_auto_t err = FAIL_INIT;

    json_object_set_new(json_array_get(chunks, 0), "tgt", json_string("m*"));
    expect_drawn(chunks, NULL, "text",
                 "*   1  a: salt.function test.ping on m* (parallel)\n"
                 "*   2  b\"q: salt.function test.ping  [require a]\n"
                 "Critical path: a -> b\"q (2 of 2 steps)");
    expect_drawn(chunks, times, "text",
                 "*   1  a: salt.function test.ping on m* (parallel), 12 ms, failed\n"
                 "    2  b\"q: salt.function test.ping, not run  [require a]\n"
                 "Critical path: a (12 ms)");
    expect_drawn(chunks, NULL, "dot",
                 "digraph orchestration {\n    rankdir=TB;\n    node [shape=box];\n"
                 "    s1 [label=\"a\\nsalt.function test.ping on m*\", penwidth=2, color=red];\n"
                 "    s2 [label=\"b\\\"q\\nsalt.function test.ping\", penwidth=2, color=red];\n"
                 "    s1 -> s2 [label=\"require\", penwidth=2, color=red];\n}");
    expect_drawn(chunks, NULL, "mermaid",
                 "flowchart TD\n    s1[\"a<br/>salt.function test.ping on m*\"]:::critical\n"
                 "    s2[\"b#quot;q<br/>salt.function test.ping\"]:::critical\n    s1 -->|require| s2\n"
                 "    classDef critical stroke:#c00,stroke-width:3px");
    AUTO(plan) plan = plan_new(chunks, NULL);
    assert_null(plan_draw(plan, "svg", &err));
    assert_int_equal(err.code, -EINVAL);
}

/* A step that many wait for, and one that waits for all. */
static void
test_large_plans_take_no_time(void **state)
{
    enum { N = 1000 };

    SKIP_CHECKED(); /* how long that takes says nothing */
    json_auto_t *chunks = json_array();
    int64_t begin = clock_mono_ms();
    for (int i = 0; i < N; i++) {
        AUTO_FREE char *id = xasprintf("s%d", i), *before = xasprintf("s%d", i > 0 ? i - 1 : 0);
        json_array_append_new(chunks, json_pack("{s:s, s:s, s:s, s:s, s:[{s:s}, {s:s}]}", "state", "salt",
                                                "fun", "runner", "name", id, "__id__", id, "require", "salt",
                                                "s0", "salt", before));
    }
    AUTO(plan) plan = plan_new(chunks, NULL);
    json_auto_t *path = plan_critical(plan);
    assert_int_equal(json_array_size(path), N);
    assert_true(clock_mono_ms() - begin < 20000);
}

UNIT_MAIN(cmocka_unit_test(test_critical_path), cmocka_unit_test(test_drawings),
          cmocka_unit_test(test_large_plans_take_no_time))
