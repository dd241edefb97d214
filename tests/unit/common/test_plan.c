/* test_plan.c - plans as graphs. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/state/plan.h"
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
    AUTO(plan) plan = plan_new(chunks, times, true);
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
    /* As the compiler leaves "a: prereq: b": a runs before b. */
    static const char *const before[] = { "b prerequired a", "a prereq b" };
    static const char *const circle[] = { "a require b", "b require a" };
    static const char *const mixed[] = { "a parallel", "b", "c", "d require a" };
    json_auto_t *times = json_pack("{s:{s:f}, s:{s:f}, s:{s:f}}", "salt_|-a_|-test.ping_|-function", "ms",
                                   10.0, "salt_|-b_|-test.ping_|-function", "ms", 90.0,
                                   "salt_|-c_|-test.ping_|-function", "ms", 5.0);

    EXPECT_CRITICAL(row, NULL, "[0,1,2]");
    EXPECT_CRITICAL(fan, NULL, "[0,2]");
    EXPECT_CRITICAL(fan, times, "[1,2]");
    EXPECT_CRITICAL(later, NULL, "[1,0]");
    EXPECT_CRITICAL(before, NULL, "[1,0]");
    EXPECT_CRITICAL(circle, NULL, "[1,0]");
    EXPECT_CRITICAL(mixed, NULL, "[1,2,3]");
    expect_critical(NULL, 0, NULL, "[]");
}

static void
expect_drawn(const json_t *chunks, const json_t *times, const char *format, const char *want)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(plan) plan = plan_new(chunks, times, true);
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
    expect_drawn(
        chunks, times, "json",
        "[{\"step\":0,\"needs\":[],\"critical\":true,\"ms\":12.0},{\"step\":1,\"needs\":[{\"step\":0,"
        "\"why\":\"require\",\"critical\":false}],\"critical\":false}]");
    AUTO(plan) plan = plan_new(chunks, NULL, true);
    assert_null(plan_draw(plan, "png", &err));
    assert_int_equal(err.code, -EINVAL);
}

static char *
drawn(const plan_t *plan, const char *format)
{
    fail_auto_t err = FAIL_INIT;
    char *text = plan_draw(plan, format, &err);

    assert_non_null(text);
    return text;
}

/* Colours by result, each told by a word, too; the critical path; texts of others are only texts. */
static void
test_pictures(void **state)
{
    static const char *const rows[] = { "a<b>&\"\033[2J parallel", "b", "c require b", "d" };
    json_auto_t *chunks = chunks_of(rows, NELEMS(rows));
    json_auto_t *times = json_pack("{s:{s:f, s:b}, s:{s:f, s:b}}", "salt_|-b_|-test.ping_|-function", "ms",
                                   12.0, "result", 0, "salt_|-d_|-test.ping_|-function", "ms", 3.0, "result",
                                   1);
    AUTO(plan) plan = plan_new(chunks, times, true);
    AUTO_FREE char *svg = drawn(plan, "svg"), *html = drawn(plan, "html"), *mermaid = drawn(plan, "mermaid");

    assert_non_null(
        strstr(mermaid, "s1[\"a#lt;b#gt;#amp;#quot; [2J<br/>salt.function test.ping, not run\"]"));
    assert_non_null(
        strstr(svg, "<g class=\"off\"><title>a&lt;b&gt;&amp;&quot;^[[2J: salt.function test.ping, not run"));
    assert_non_null(strstr(svg, "<g class=\"bad hot\"><title>b: salt.function test.ping, failed, 12 ms"));
    assert_non_null(strstr(svg, "<g class=\"good hot\"><title>d: salt.function test.ping, 3 ms"));
    assert_non_null(strstr(svg, "Critical path: 3 of 4 steps, 15 ms; failed: 1, not run: 2"));
    assert_non_null(strstr(svg, "class=\"edge hot\""));
    assert_non_null(strstr(svg, ">require</text>"));
    assert_non_null(strstr(html, svg));
    assert_non_null(
        strstr(html, "<td>c</td><td>salt.function test.ping</td><td>not run</td><td>require b</td>"));
    assert_null(strstr(html, "a<b>"));
    assert_null(strchr(html, 033));
}

/* Requisites alone: the order of the steps makes nothing wait. */
static void
test_requisites(void **state)
{
    static const char *const rows[] = { "a", "b", "c require a" };
    json_auto_t *chunks = chunks_of(rows, NELEMS(rows));
    AUTO(plan) plan = plan_new(chunks, NULL, false);
    AUTO_FREE char *dot = drawn(plan, "dot");
    json_auto_t *path = plan_critical(plan);

    assert_non_null(strstr(dot, "digraph states {"));
    assert_null(strstr(dot, "dotted"));
    assert_int_equal(json_array_size(path), 2);
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
    AUTO(plan) plan = plan_new(chunks, NULL, true);
    json_auto_t *path = plan_critical(plan);
    assert_int_equal(json_array_size(path), N);
    AUTO_FREE char *page = drawn(plan, "html");
    assert_true(strlen(page) > N);
    assert_true(clock_mono_ms() - begin < 20000);
    for (int i = N; i <= PLAN_STEPS_DRAWN; i++)
        json_array_append_new(chunks, json_pack("{s:s, s:s, s:i, s:i}", "state", "salt", "fun", "runner",
                                                "name", i, "parallel", 1));
    AUTO(plan) larger = plan_new(chunks, NULL, false);
    fail_auto_t err = FAIL_INIT;
    assert_null(plan_draw(larger, "svg", &err));
    assert_int_equal(err.code, -E2BIG);
}

UNIT_MAIN(cmocka_unit_test(test_critical_path), cmocka_unit_test(test_drawings),
          cmocka_unit_test(test_pictures), cmocka_unit_test(test_requisites),
          cmocka_unit_test(test_large_plans_take_no_time))
