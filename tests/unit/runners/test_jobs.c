/* test_jobs.c - runner `jobs` on a real store, and the times that people type. */
#include "unit/runners/stage.h"

#include "runners/lib/jobshape.h"
#include "runners/lib/when.h"

extern const plugin_t runner_jobs, runner_orchestrate;

static const plugin_t *const plugins[] = { &runner_jobs, &runner_orchestrate };

#define J1 "20261120093953904796"
#define J2 "20261120093955000000"
#define J3 "20261120093959318034"

/* What Salt 3006 printed for the same job. */
#define J1_SHOWN                                                                                             \
    "{\"Function\":\"test.echo\",\"Arguments\":[\"looked-up\"],\"Target\":\"m00*\",\"Target-type\":"         \
    "\"glob\","                                                                                              \
    "\"User\":\"root\",\"Minions\":[\"m001\",\"m002\"],\"StartTime\":\"2026, Nov 20 09:39:53.904796\","      \
    "\"Result\":{\"m001\":{\"return\":\"looked-up\",\"retcode\":0,\"success\":true}}}"

static void
fill(store_t *store)
{
    static const char *const jobs[] = {
        "{\"jid\": \"" J1 "\", \"fun\": \"test.echo\", \"arg\": [\"looked-up\"], \"tgt\": \"m00*\", "
        "\"tgt_type\": \"glob\", \"user\": \"root\", \"minions\": [\"m002\", \"m001\"], \"start_us\": "
        "1795167593904796}",
        "{\"jid\": \"" J2
        "\", \"fun\": \"state.apply\", \"arg\": [], \"tgt\": \"m001\", \"tgt_type\": \"glob\", "
        "\"user\": \"root\", \"metadata\": {\"why\": \"x\"}, \"minions\": [\"m001\"], \"start_us\": "
        "1795167595000000}",
        "{\"jid\": \"" J3
        "\", \"fun\": \"saltutil.find_job\", \"arg\": [], \"tgt\": \"*\", \"tgt_type\": \"glob\", "
        "\"user\": \"sudo_x\", \"minions\": [\"m001\", \"m002\"], \"start_us\": 1795167599318034}",
    };
    static const struct {
        const char *jid, *id, *raw;
    } returns[] = {
        { J1, "m001",
          "{\"m\": \"ret\", \"jid\": \"" J1 "\", \"fun\": \"test.echo\", \"fun_args\": [\"looked-up\"], "
          "\"return\": \"looked-up\", \"retcode\": 0, \"success\": true}" },
        { J2, "m001",
          "{\"fun\": \"state.apply\", \"return\": {\"x\": {\"result\": true}}, \"retcode\": 0, \"success\": "
          "true}" },
        { J3, "m002", "{\"fun\": \"saltutil.find_job\", \"return\": {}, \"retcode\": 0, \"success\": true}" },
    };
    uint64_t ticket = 0;

    for (size_t i = 0; i < NELEMS(jobs); i++) {
        json_t *job = stage_json(jobs[i]);
        store_add_job(store, &job);
    }
    for (size_t i = 0; i < NELEMS(returns); i++) {
        char *raw = xstrdup(returns[i].raw);
        ticket = store_add_return(store, returns[i].jid, returns[i].id, &raw, 0, true);
    }
    assert_true(store_wait(store, ticket, STAGE_PATIENCE_MS));
}

static int
setup(void **state)
{
    stage_t *s = stage_new(plugins, NELEMS(plugins));

    fill(s->store);
    *state = s;
    return 0;
}

static int
teardown(void **state)
{
    stage_t *s = *state;

    stage_destroy(&s);
    return 0;
}

static void
test_one_job(void **state)
{
    stage_t *s = *state;

    assert_call(s, "jobs.print_job", "[\"" J1 "\"]", "{\"" J1 "\":" J1_SHOWN "}");
    assert_call(s, "jobs.lookup_jid", "[\"" J1 "\"]", "{\"m001\":\"looked-up\"}");
    assert_call(s, "jobs.lookup_jid", "[\"" J1 "\", {\"__kwarg__\": true, \"missing\": true}]",
                "{\"m001\":\"looked-up\",\"m002\":\"Minion did not return\"}");
    assert_call(s, "jobs.lookup_jid",
                "[\"" J1 "\", {\"__kwarg__\": true, \"missing\": true, \"returned\": false}]",
                "{\"m002\":\"Minion did not return\"}");
    assert_call(s, "jobs.lookup_jid", "[\"" J2 "\"]",
                "{\"outputter\":\"highstate\",\"data\":{\"m001\":{\"x\":{\"result\":true}}}}");
    assert_call(s, "jobs.lookup_jid", "[\"20200101000000000000\"]", "{}");
    assert_call(s, "jobs.lookup_jid",
                "[\"" J1 "\", {\"__kwarg__\": true, \"missing\": true, \"minions\": \"x, m*1\"}]",
                "{\"m001\":\"looked-up\"}");
    assert_call(s, "jobs.lookup_jid",
                "[\"" J1 "\", {\"__kwarg__\": true, \"missing\": true, \"minions\": [\"m002\"]}]",
                "{\"m002\":\"Minion did not return\"}");
    AUTO_FREE char *some = stage_call(s, "jobs.list_job",
                                      "[\"" J1 "\", {\"__kwarg__\": true, \"minions\": \"m002\"}]");
    assert_non_null(strstr(some, "\"Result\":{}"));
    AUTO_FREE char *printed = stage_call(s, "jobs.print_job",
                                         "[\"" J1 "\", {\"__kwarg__\": true, \"minions\": \"m002\"}]");
    assert_non_null(strstr(printed, "\"Result\":{}"));
    assert_call(s, "jobs.exit_success", "[\"" J1 "\"]", "{\"m001\":true,\"m002\":false}");
    assert_call(s, "jobs.exit_success", "[\"" J3 "\"]", "{\"m001\":false,\"m002\":false}");
    assert_call(
        s, "jobs.list_job", "[\"20200101000000000000\"]",
        "{\"jid\":\"20200101000000000000\",\"Error\":\"Cannot contact returner or no job with this jid\","
        "\"StartTime\":\"2020, Jan 01 00:00:00.000000\",\"Result\":{}}");
    AUTO_FREE char *listed = stage_call(s, "jobs.list_job", "[\"" J1 "\"]");
    assert_memory_equal(listed, "{\"jid\":\"" J1 "\",\"Function\":", 40);
}

/* NEW ["jid", ...]: the keys of what a call returns. */
static char *
jids_of_call(stage_t *s, const char *fun, const char *args)
{
    AUTO_FREE char *text = stage_call(s, fun, args);
    json_auto_t *jobs = stage_json(text);
    json_auto_t *jids = json_array();
    const char *jid;
    json_t *job;

    json_object_foreach (jobs, jid, job)
        json_array_append_new(jids, json_string(jid));
    return value_dump(jids);
}

static void
test_list_jobs(void **state)
{
    static const struct {
        const char *args, *jids;
    } rows[] = {
        { "[]", "[\"" J1 "\",\"" J2 "\",\"" J3 "\"]" },
        { "[{\"__kwarg__\": true, \"search_function\": \"test.*, state.*\"}]", "[\"" J1 "\",\"" J2 "\"]" },
        { "[{\"__kwarg__\": true, \"search_function\": [\"test.echo\"]}]", "[\"" J1 "\"]" },
        { "[{\"__kwarg__\": true, \"search_target\": \"m00?\"}]", "[\"" J1 "\",\"" J2 "\"]" },
        { "[{\"__kwarg__\": true, \"search_metadata\": {\"why\": \"x\"}}]", "[\"" J2 "\"]" },
        { "[{\"__kwarg__\": true, \"start_time\": \"2026, Nov 20 09:39:55\"}]", "[\"" J2 "\",\"" J3 "\"]" },
        { "[{\"__kwarg__\": true, \"end_time\": \"2026-11-20 09:39:55\"}]", "[\"" J1 "\",\"" J2 "\"]" },
        { "[{\"__kwarg__\": true, \"end_time\": \"2026-11-20\"}]", "[]" },
    };
    stage_t *s = *state;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *jids = jids_of_call(s, "jobs.list_jobs", rows[i].args);
        assert_string_equal(jids, rows[i].jids);
    }
    assert_call(s, "jobs.list_jobs",
                "[{\"__kwarg__\": true, \"search_metadata\": {\"why\": \"x\"}, \"outputter\": \"json\"}]",
                "{\"outputter\":\"json\",\"data\":{\"" J2 "\":{\"Function\":\"state.apply\",\"Arguments\":[],"
                "\"Target\":\"m001\",\"Target-type\":\"glob\",\"User\":\"root\",\"Metadata\":{\"why\":\"x\"},"
                "\"StartTime\":\"2026, Nov 20 09:39:55.000000\"}}}");
    assert_call(s, "jobs.list_jobs", "[{\"__kwarg__\": true, \"start_time\": \"some day\"}]",
                "invocation: 'some day' is not a time; write it as '2015, Mar 16 19:00'");
    assert_call(s, "jobs.list_jobs", "[{\"__kwarg__\": true, \"search_metadata\": \"why\"}]",
                "invocation: The search_metadata parameter must be specified as a dictionary.");
}

static void
test_list_jobs_filter(void **state)
{
    stage_t *s = *state;

    assert_call(
        s, "jobs.list_jobs_filter", "[1]",
        "[{\"Function\":\"state.apply\",\"Arguments\":[],\"Target\":\"m001\",\"Target-type\":\"glob\","
        "\"User\":\"root\",\"Metadata\":{\"why\":\"x\"},\"JID\":\"" J2 "\","
        "\"StartTime\":\"2026, Nov 20 09:39:55.000000\"}]");
    assert_call(
        s, "jobs.list_jobs_filter", "[1, false]",
        "[{\"Function\":\"saltutil.find_job\",\"Arguments\":[],\"Target\":\"*\",\"Target-type\":\"glob\","
        "\"User\":\"sudo_x\",\"JID\":\"" J3 "\",\"StartTime\":\"2026, Nov 20 09:39:59.318034\"}]");
    assert_call(s, "jobs.list_jobs_filter", "[0]", "[]");
}

static void
test_last_run(void **state)
{
    stage_t *s = *state;

    assert_call(s, "jobs.last_run", "[{\"__kwarg__\": true, \"function\": \"test.*\"}]",
                "{\"" J1 "\":" J1_SHOWN "}");
    assert_call(s, "jobs.last_run", "[{\"__kwarg__\": true, \"target\": \"nosuch\"}]", "false");
    AUTO_FREE char *newest = jids_of_call(s, "jobs.last_run", "[]");
    assert_string_equal(newest, "[\"" J3 "\"]");
}

/* ---- more than a message holds ---------------------------------------------------------------- */

#define J4    "20261120094001000000"
#define LARGE (LIMIT_LOCAL_MSG / 4)
#define TOO_MUCH                                                                                             \
    "failed: job " J4 ": its returns have more than 67108864 bytes: ask for those of some minions, with "    \
    "salt-run jobs.lookup_jid " J4 " minions=GLOBS"

/* A wave of an orchestration: m1 to m5 returned much, m6 little. */
static void
fill_large(store_t *store)
{
    json_t *job = stage_json("{\"jid\": \"" J4 "\", \"fun\": \"state.apply\", \"minions\": [\"m1\"], "
                             "\"start_us\": 1795167601000000, \"note\": {\"kind\": \"" NOTE_ORCH "\", "
                             "\"ref\": \"" J3 "\", \"part\": \"salt_|-web_|-web_|-state/1\"}}");
    AUTO_FREE char *text = xcalloc(LARGE + 1, 1);

    memset(text, 'x', LARGE);
    store_add_job(store, &job);
    for (int i = 1; i <= 6; i++) {
        char id[] = { 'm', (char) ('0' + i), '\0' };
        char *raw = xasprintf("{\"return\": \"%s\"}", i < 6 ? text : "little");
        store_add_return(store, J4, id, &raw, 0, true);
    }
    uint64_t ticket = store_add_run(
        store, J3, "{}",
        "[{\"state\": \"salt\", \"fun\": \"state\", \"__id__\": \"web\", \"name\": \"web\"}]",
        1795167600000000);
    assert_true(store_wait(store, ticket, STAGE_PATIENCE_MS));
}

static void
test_large_returns(void **state)
{
    stage_t *s = *state;

    fill_large(s->store);
    assert_call(s, "jobs.lookup_jid", "[\"" J4 "\"]", TOO_MUCH);
    assert_call(s, "jobs.last_run", "[]", TOO_MUCH);
    assert_call(s, "jobs.lookup_jid", "[\"" J4 "\", {\"__kwarg__\": true, \"minions\": \"m6\"}]",
                "{\"outputter\":\"highstate\",\"data\":{\"m6\":\"little\"}}");
    assert_call(s, "jobs.exit_success", "[\"" J4 "\"]",
                "{\"m1\":true,\"m2\":true,\"m3\":true,\"m4\":true,\"m5\":true,\"m6\":true}");
    AUTO_FREE char *shown = stage_call(s, "orchestrate.show", "[\"" J3 "\"]");
    assert_non_null(strstr(shown, "\"Jobs\":{\"" J4 "\":{\"Function\":\"state.apply\",\"Minions\":[\"m1\"],"
                                  "\"Returned\":6,\"Failed\":0}}"));
}

static void
test_active(void **state)
{
    static const line_t script[] = {
        { "active",
          "{\"jobs\": [{\"jid\": \"" J3
          "\", \"fun\": \"test.sleep\", \"arg\": [6], \"tgt\": \"*\", \"tgt_type\": \"glob\", "
          "\"user\": \"root\", \"running\": {\"m001\": 7398, \"m002\": 7399}, \"returned\": []}, "
          "{\"jid\": \"" J2 "\", \"fun\": \"test.ping\", \"running\": {}, \"returned\": []}], "
          "\"runners\": [{\"jid\": \"" J1 "\", \"fun\": \"test.sleep\"}]}",
          NULL }
    };
    static const line_t refused[] = { { "active", "!going down", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "jobs.active", "[]",
                "{\"" J3
                "\":{\"Function\":\"test.sleep\",\"Arguments\":[6],\"Target\":\"*\",\"Target-type\":\"glob\","
                "\"User\":\"root\",\"StartTime\":\"2026, Nov 20 09:39:59.318034\","
                "\"Running\":[{\"m001\":7398},{\"m002\":7399}],\"Returned\":[]}}");
    assert_call(s, "jobs.master", "[]", "[{\"jid\":\"" J1 "\",\"fun\":\"test.sleep\"}]");
    stage_script(s, refused);
    assert_call(s, "jobs.active", "[]", "failed: going down");
    assert_call(s, "jobs.active", "[true]", "failed: going down");
    assert_int_equal(json_array_size(s->fired), 1);
}

static void
test_shapes(void **state)
{
    static const struct {
        const char *jid, *job, *shown;
    } rows[] = {
        { "notajid", "null",
          "{\"Error\":\"Cannot contact returner or no job with this jid\",\"StartTime\":\"\"}" },
        { J1 "_77", "{}",
          "{\"Function\":\"unknown-function\",\"Arguments\":[],\"Target\":\"unknown-target\",\"Target-type\":"
          "\"list\","
          "\"User\":\"root\",\"StartTime\":\"2026, Nov 20 09:39:53.904796\"}" },
        { "x", "{\"fun\": [\"a.b\", \"c.d\"], \"arg\": [[], []], \"kwargs\": {\"metadata\": {\"k\": 1}}}",
          "{\"Function\":[\"a.b\",\"c.d\"],\"Arguments\":[[],[]],\"Target\":\"unknown-target\","
          "\"Target-type\":\"list\",\"User\":\"root\",\"Metadata\":{\"k\":1},\"StartTime\":\"\"}" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *job = stage_json(rows[i].job);
        json_auto_t *shape = jobshape_instance(rows[i].jid, job, false);
        AUTO_FREE char *text = value_dump(shape);
        assert_string_equal(text, rows[i].shown);
    }
}

/* The answers are python-dateutil's, on 2026-11-20 at 09:40. */
static void
test_times(void **state)
{
    static const struct {
        const char *text;
        long long us;
    } rows[] = {
        { "2015, Mar 16 19:00", 1426532400000000LL },
        { "2026, Nov 20 09:39:59.318034", 1795167599318034LL },
        { "2015-03-16", 1426464000000000LL },
        { "2015-03-16 19:00:05", 1426532405000000LL },
        { "2015-03-16T19:00:05.5", 1426532405500000LL },
        { "2015-03-16T19:00:05+02:00", 1426525205000000LL },
        { "2015-03-16T19:00:05Z", 1426532405000000LL },
        { "20150316", 1426464000000000LL },
        { "20150316190005", 1426532405000000LL },
        { "Mar 16 2015", 1426464000000000LL },
        { "Mar 16", 1773619200000000LL },
        { "16 March 2015 19:00", 1426532400000000LL },
        { "March 16, 2015 7pm", 1426532400000000LL },
        { "Mon Mar 16 19:00:00 2015", 1426532400000000LL },
        { "Monday, 16 Mar 2015", 1426464000000000LL },
        { "03/16/2015", 1426464000000000LL },
        { "16/03/2015", 1426464000000000LL },
        { "3/4/15", 1425427200000000LL },
        { "19:30", 1795203000000000LL },
        { "7:30 pm", 1795203000000000LL },
        { "2015/03/16 01:02", 1426467720000000LL },
        { "12am", 1795132800000000LL },
        { "2015-03", 1426809600000000LL },
        { "Mar 2015", 1426809600000000LL },
        { "16", 1794787200000000LL },
        { "2015", 1447977600000000LL },
        { "Nov 20 2026 09:39", 1795167540000000LL },
        { "20 nov", 1795132800000000LL },
    };
    static const char *const refused[] = { "",        "x",         "2015-13-45", "25:00",
                                           "1 2 3 4", "next week", "12:",        "2015-03-16 19:00:00 what" };
    int64_t now = 1795167600000000LL, us;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        if (when_parse(rows[i].text, now, &us, &err) < 0)
            fail_msg("%s", fail_text(&err));
        if (us != rows[i].us)
            fail_msg("%s: %lld, not %lld", rows[i].text, (long long) us, rows[i].us);
    }
    for (size_t i = 0; i < NELEMS(refused); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(when_parse(refused[i], now, &us, &err), -EINVAL);
        assert_int_equal(err.kind, FAIL_INVOCATION);
    }
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_one_job, setup, teardown),
          cmocka_unit_test_setup_teardown(test_list_jobs, setup, teardown),
          cmocka_unit_test_setup_teardown(test_list_jobs_filter, setup, teardown),
          cmocka_unit_test_setup_teardown(test_last_run, setup, teardown),
          cmocka_unit_test_setup_teardown(test_large_returns, setup, teardown),
          cmocka_unit_test_setup_teardown(test_active, setup, teardown), cmocka_unit_test(test_shapes),
          cmocka_unit_test(test_times))
