/* test_overview.c - runner `overview` on a scripted master and a real store. */
#include "unit/runners/stage.h"

extern const plugin_t runner_overview;

static const plugin_t *const plugins[] = { &runner_overview };

#define J1 "20261120093953904796"
#define J2 "20261120093955000000"
#define J3 "20261120093959318034"
#define J4 "20261120094001000000"
#define J5 "20261120094002000000"

#define STATES(result, changes)                                                                              \
    "{\"file_|-conf_|-/etc/a_|-managed\": {\"__id__\": \"conf\", \"__sls__\": \"web\", \"result\": " result  \
    ", \"changes\": " changes "}, \"file_|-conf_|-/etc/b_|-managed\": {\"__id__\": \"conf\", \"__sls__\": "  \
    "\"web\", \"result\": true, \"changes\": {}}, \"cmd_|-go_|-true_|-run\": {\"__id__\": \"go\", "          \
    "\"result\": false, \"comment\": \"One or more requisite failed: web.conf\", \"changes\": {}}}"

static void
fill(store_t *store)
{
    static const struct {
        const char *jid, *fun, *arg;
    } jobs[] = {
        { J1, "state.highstate", "[]" },
        { J2, "state.apply", "[{\"__kwarg__\": true, \"test\": true}]" },
        { J3, "state.apply", "[\"web\", \"test=True\"]" },
        { J4, "state.apply", "[]" },
        { J5, "test.ping", "[]" },
    };
    static const struct {
        const char *jid, *id, *ret;
        int retcode;
    } returns[] = {
        { J1, "m1", STATES("true", "{}"), 0 },
        { J1, "m2", STATES("true", "{\"diff\": \"x\"}"), 0 },
        { J2, "m1", STATES("null", "{\"diff\": \"x\"}"), 0 },
        { J3, "m2", STATES("null", "{}"), 0 },
        { J4, "m1", STATES("false", "{}"), 2 },
        { J4, "gone", STATES("false", "{}"), 2 },
        { J5, "m1", "true", 0 },
        { J5, "m2", "[\"Rendering SLS 'base:web' failed\"]", 1 },
    };
    uint64_t ticket = 0;

    for (size_t i = 0; i < NELEMS(jobs); i++) {
        AUTO_FREE char *text = xasprintf(
            "{\"jid\": \"%s\", \"fun\": \"%s\", \"arg\": %s, \"tgt\": \"*\", \"tgt_type\": "
            "\"glob\", \"user\": \"root\", \"minions\": [\"m1\", \"m2\", \"m3\"], "
            "\"start_us\": %zu}",
            jobs[i].jid, jobs[i].fun, jobs[i].arg, i + 1);
        json_t *job = stage_json(text);
        store_add_job(store, &job);
    }
    for (size_t i = 0; i < NELEMS(returns); i++) {
        char *raw = xasprintf("{\"return\": %s, \"retcode\": %d, \"success\": %s}", returns[i].ret,
                              returns[i].retcode, returns[i].retcode == 0 ? "true" : "false");
        ticket = store_add_return(store, returns[i].jid, returns[i].id, &raw, returns[i].retcode,
                                  returns[i].retcode == 0);
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
test_fleet(void **state)
{
    static const line_t script[] = {
        { "minions",
          "{\"minions\": {\"m2\": {\"key\": \"accepted\", \"connected\": false, \"gone\": 5, \"halite\": \"1.0.0\"}, "
          "\"m1\": {\"key\": \"accepted\", \"connected\": true, \"address\": \"10.0.0.1:5\", \"since\": 7, \"halite\": "
          "\"1.0.0\"}, \"new\": {\"key\": \"pending\", \"connected\": false}}}",
          NULL },
    };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(
        s, "overview.fleet", "[]",
        "{\"columns\":[\"id\",\"state\",\"address\",\"version\",\"seen\"],\"rows\":[[\"m1\",\"up\","
        "\"10.0.0.1:5\",\"1.0.0\",7],[\"m2\",\"down\",null,\"1.0.0\",5],[\"new\",\"pending\",null,null,null]]}");
    assert_request(s, 0, "{\"keys\":true,\"op\":\"minions\"}");
}

static void
test_jobs(void **state)
{
    static const line_t script[] = {
        { "active",
          "{\"jobs\": [{\"jid\": \"" J5 "\", \"running\": {\"m3\": 5}}, {\"jid\": \"" J4
          "\", \"running\": {}}]}",
          NULL },
    };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(
        s, "overview.jobs", "[2]",
        "{\"columns\":[\"jid\",\"start_us\",\"fun\",\"arg\",\"tgt\",\"tgt_type\",\"user\",\"n_minions\","
        "\"n_returned\",\"n_failed\"],\"rows\":[[\"" J5
        "\",5,\"test.ping\",[],\"*\",\"glob\",\"root\",3,2,1],[\"" J4
        "\",4,\"state.apply\",[],\"*\",\"glob\",\"root\",3,2,2]],\"running\":[\"" J5 "\"]}");
    assert_call(s, "overview.jobs", "[0]", "invocation: 'count' is a number from 1 to 1000");
}

static void
test_job(void **state)
{
    static const line_t script[] = {
        { "verdicts",
          "{\"verdicts\": {\"m1\": {\"verdict\": \"running\"}, \"m3\": {\"verdict\": \"running\"}}}", NULL },
    };
    static const line_t over[] = { { "verdicts", "!no such job under way", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    AUTO_FREE char *live = stage_call(s, "overview.job", "[\"" J5 "\"]");
    assert_non_null(strstr(
        live, "\"minions\":{\"m1\":[\"returned\",0],\"m2\":[\"failed\",1],\"m3\":[\"running\",null]}"));
    stage_script(s, over);
    AUTO_FREE char *ended = stage_call(s, "overview.job", "[\"" J5 "\"]");
    assert_non_null(strstr(ended, "\"m3\":[\"silent\",null]"));
    assert_call(
        s, "overview.job", "[\"20200101000000000000\"]",
        "invocation: The job store has no job 20200101000000000000; 'salt-run jobs.list_jobs' lists the jobs there "
        "are");
}

#define KNOWN   "{\"minions\": {\"m1\": {}, \"m2\": {}, \"m3\": {}}}"
#define COLUMNS "{\"columns\":[[\"conf\",\"file.managed\",\"web\"],[\"go\",\"cmd.run\",\"\"]],\"rows\":"

/* The newest run of each, also of different jobs; of two states of one column the worse one. */
static void
test_states(void **state)
{
    static const line_t script[] = { { "minions", KNOWN, NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "overview.states", "[]",
                COLUMNS "{\"m1\":[\"" J4 "\",4,\"fs\",null],\"m2\":[\"" J1
                        "\",1,\"cs\",null]},\"accepted\":3,\"mods\":{\"\":2},\"left_out\":0}");
    assert_call(s, "overview.states", "[true]",
                COLUMNS "{\"m1\":[\"" J2
                        "\",2,\"xs\",null]},\"accepted\":3,\"mods\":{\"web\":1,\"\":1},\"left_out\":0}");
    assert_call(s, "overview.states", "[true, \"web\"]",
                COLUMNS "{\"m2\":[\"" J3
                        "\",3,\"xs\",null]},\"accepted\":3,\"mods\":{\"web\":1,\"\":1},\"left_out\":0}");
}

/* A minion whose files did not compile has the reason in place of states; a key of no state makes no column. */
static void
test_states_that_are_none(void **state)
{
    static const line_t script[] = { { "minions", KNOWN, NULL } };
    stage_t *s = *state;
    json_t *job = stage_json(
        "{\"jid\": \"20261120094005000000\", \"fun\": \"state.apply\", \"arg\": [], \"tgt\": \"*\", "
        "\"minions\": [\"m1\", \"m2\"], \"start_us\": 9}");
    char *one = xstrdup("{\"return\": [\"Rendering SLS 'base:web' failed\", \"and more\"], \"retcode\": 1}"),
         *two = xstrdup(
             "{\"return\": {\"odd\": {}, \"a_|-b\": {\"result\": true}, \"a_|-b_|-c\": 5}, \"retcode\": 0}");

    store_add_job(s->store, &job);
    (void) store_add_return(s->store, "20261120094005000000", "m1", &one, 1, false);
    uint64_t ticket = store_add_return(s->store, "20261120094005000000", "m2", &two, 0, true);
    assert_true(store_wait(s->store, ticket, STAGE_PATIENCE_MS));
    stage_script(s, script);
    AUTO_FREE char *text = stage_call(s, "overview.states", "[]");
    assert_non_null(strstr(
        text, "\"m1\":[\"20261120094005000000\",9,null,\"Rendering SLS 'base:web' failed,and more\"]"));
    assert_non_null(strstr(text, "\"m2\":[\"20261120094005000000\",9,\""));
}

static void
test_health(void **state)
{
    static const line_t script[] = {
        { "status", "{\"version\": \"3006.0\", \"seq\": 9, \"followers\": {}}", NULL },
        { "reactor", "{\"result\": [{\"a/*\": [\"/srv/a.sls\"]}]}", NULL },
    };
    static const line_t refused[] = { { "status", "{\"seq\": 9}", NULL },
                                      { "reactor", "!the file is not there", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    AUTO_FREE char *text = stage_call(s, "overview.health", "[]");
    assert_non_null(strstr(text, "\"reactors\":[{\"a/*\":[\"/srv/a.sls\"]}]"));
    stage_script(s, refused);
    AUTO_FREE char *without = stage_call(s, "overview.health", "[]");
    assert_non_null(strstr(without, "\"reactors\":\"the file is not there\""));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_fleet, setup, teardown),
          cmocka_unit_test_setup_teardown(test_jobs, setup, teardown),
          cmocka_unit_test_setup_teardown(test_job, setup, teardown),
          cmocka_unit_test_setup_teardown(test_states, setup, teardown),
          cmocka_unit_test_setup_teardown(test_states_that_are_none, setup, teardown),
          cmocka_unit_test_setup_teardown(test_health, setup, teardown))
