/* test_fleet.c - functions on minions as steps of an orchestration: waves, and what is asked of whom. */
#include "unit/runners/stage.h"

#include "runners/lib/orchrun.h"
#include "salt/state.h"

#define RUN "20261120094000000000"

extern const plugin_t state_salt;
static const plugin_t *const states[] = { &state_salt };

/* What a step may name as its fail_function. */
static json_t *judged;

static int
judge_good(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_array_append(judged, value_get(args, "ret"));
    *ret_value = json_boolean(!json_is_null(value_get(args, "ret")));
    return 0;
}

static const arg_t good_args[] = { ARG("ret", ARG_ANY, ARG_REQUIRED, "A minion's return"), ARGS_END };
static const func_t judge_funcs[] = { { "good", judge_good, good_args, FN_ACCESS_ADMIN,
                                        "Whether it is good." } };
static const plugin_t judge = { .kind = PLUGIN_RUNNER, .file = "judge", .doc = "Judges", FUNCS(judge_funcs) };
static const plugin_t *const plugins[] = { &judge };

/* A stage on which a step is called as an orchestration's. */
typedef struct scene {
    stage_t *stage;
    registry_t *states;
    call_ctx_t *ctx;
    json_t *chunk, *chunks, *running;
    call_frame_t frame;
    orchrun_t *run;
} scene_t;

static void
begin_run(scene_t *s)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *doc = json_object();
    orchrun_ask_t ask = { .doc = doc };

    api_set_store(s->stage->api, s->stage->store);
    s->run = orchrun_new(s->stage->api, RUN, s->chunks, &ask, &err);
    if (s->run == NULL)
        fail_msg("%s", fail_text(&err));
    s->frame = (call_frame_t){ s->chunk, s->chunks, s->running, RUN };
    call_set_frame(s->ctx, &s->frame);
    orchrun_dress(s->run, s->ctx);
    assert_null(orchrun_begins(s->run, s->chunk));
}

static int
setup(void **state)
{
    scene_t *s = xcalloc(1, sizeof(*s));

    judged = json_array();
    s->stage = stage_new(plugins, NELEMS(plugins));
    s->states = registry_new(PLUGIN_STATE, states, NELEMS(states));
    call_env_t env = { .registry = s->stage->registry,
                       .states = s->states,
                       .opts = s->stage->opts,
                       .jid = RUN,
                       .fire = stage_fire,
                       .cookie = s->stage,
                       .private_data = s->stage->api };
    s->ctx = call_ctx_new(&env);
    s->chunk = stage_json(
        "{\"__id__\": \"go\", \"name\": \"test.ping\", \"state\": \"salt\", \"fun\": \"function\"}");
    s->chunks = json_pack("[O]", s->chunk);
    s->running = json_object();
    begin_run(s);
    *state = s;
    return 0;
}

static int
teardown(void **state)
{
    scene_t *s = *state;

    call_ctx_destroy(&s->ctx);
    orchrun_destroy(&s->run);
    registry_destroy(&s->states);
    json_decref(s->chunk);
    json_decref(s->chunks);
    json_decref(s->running);
    stage_destroy(&s->stage);
    json_decref(judged);
    free(s);
    return 0;
}

/* NEW return of salt.function for a step's arguments. */
static json_t *
call_step(scene_t *s, const char *kwargs)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *given = stage_json(kwargs);
    json_t *ret = NULL;

    json_object_set_new(given, "name", json_string("test.ping"));
    if (ctx_state(s->ctx, "salt.function", given, &ret, &err) < 0)
        fail_msg("%s", fail_text(&err));
    return ret;
}

/* NEW: "m1 STEP/GO.N, m2 m3 STEP/GO.N" of the jobs that were asked for. */
static char *
waves(scene_t *s)
{
    buf_auto_t out = BUF_INIT;
    size_t i, k;
    json_t *one, *id;

    pthread_mutex_lock(&s->stage->lock);
    json_array_foreach (s->stage->requests, i, one) {
        if (strcmp(value_str(one, "op", ""), "publish") != 0)
            continue;
        buf_puts(&out, out.len > 0 ? ", " : "");
        json_array_foreach (value_get(one, "tgt"), k, id)
            buf_printf(&out, "%s ", json_string_value(id));
        buf_puts(&out, strrchr(value_str(value_get(one, "note"), "part", "/"), '/') + 1);
    }
    pthread_mutex_unlock(&s->stage->lock);
    return xstrdup(buf_str(&out));
}

#define assert_waves(s, expected)                                                                            \
    do {                                                                                                     \
        AUTO_FREE char *waves_text_ = waves(s);                                                              \
        assert_string_equal(waves_text_, expected);                                                          \
    } while (0)

#define PUBLISHED(jid, id) "{\"jid\": \"" jid "\", \"minions\": [\"" id "\"], \"missing\": []}"
#define RETURNED(jid, id)                                                                                    \
    "[{\"push\": \"ret\", \"jid\": \"" jid "\", \"id\": \"" id "\", \"return\": \"by " id "\", "             \
    "\"retcode\": 0, \"success\": true}, {\"push\": \"done\", \"jid\": \"" jid "\"}]"

/* The key was there when the target was looked for, and is removed before the minion's turn. */
static void
test_key_removed(void **state)
{
    static const line_t script[] = {
        { "progress", "{}", NULL },
        { "match", "{\"minions\": [\"m1\", \"m2\", \"m3\"], \"missing\": []}", NULL },
        { "publish", PUBLISHED("1", "m1"), RETURNED("1", "m1") },
        { "publish", "{\"jid\": \"\", \"minions\": [], \"missing\": [\"m2\"]}", NULL },
        { "publish", PUBLISHED("3", "m3"), RETURNED("3", "m3") },
    };
    scene_t *s = *state;

    stage_script(s->stage, script);
    json_auto_t *ret = call_step(s, "{\"tgt\": \"m*\", \"batch\": 1}");
    /* No job has the number of one that came to nothing, or a run that is resumed, and finds no m2, would
     * count wrong. */
    assert_waves(s, "m1 1.1, m2 1.2, m3 1.2");
    assert_true(json_is_false(value_get(ret, "result")));
    assert_string_equal(value_str(ret, "comment", ""),
                        "Running function test.ping failed on minions: m2 Function test.ping ran on m1, m3.\n"
                        "m2: its key is not accepted, or nobody has this id");
}

static void
test_removed_keys_count(void **state)
{
    static const line_t script[] = {
        { "progress", "{}", NULL },
        { "match", "{\"minions\": [\"m1\", \"m2\"], \"missing\": []}", NULL },
        { "publish", "{\"jid\": \"\", \"minions\": [], \"missing\": [\"m1\"]}", NULL },
        { "publish", PUBLISHED("2", "m2"), RETURNED("2", "m2") },
    };
    scene_t *s = *state;

    stage_script(s->stage, script);
    json_auto_t *stopped = call_step(s, "{\"tgt\": \"m*\", \"batch\": 1, \"max_fail\": 0}");
    assert_waves(s, "m1 1.1");
    assert_non_null(strstr(value_str(stopped, "comment", ""), "Stopped: 1 minions failed, max_fail is 0."));
    stage_script(s->stage, script);
    json_auto_t *ret = call_step(
        s, "{\"tgt\": \"m*\", \"batch\": 1, \"max_fail\": 0, \"expect_minions\": false}");
    assert_waves(s, "m1 1.1, m1 1.1, m2 1.1");
    assert_true(json_is_true(value_get(ret, "result")));
}

/* It may take its time, or do something. */
static void
test_fail_function(void **state)
{
    static const line_t script[] = {
        { "progress", "{}", NULL },
        { "match", "{\"minions\": [\"m1\", \"m2\"], \"missing\": []}", NULL },
        { "publish", PUBLISHED("1", "m1"), RETURNED("1", "m1") },
        { "publish", PUBLISHED("2", "m2"),
          "[{\"push\": \"ret\", \"jid\": \"2\", \"id\": \"m2\", \"return\": null, \"retcode\": 0},"
          " {\"push\": \"done\", \"jid\": \"2\"}]" },
    };
    scene_t *s = *state;

    stage_script(s->stage, script);
    json_auto_t *ret = call_step(s, "{\"tgt\": \"m*\", \"batch\": 1, \"fail_function\": \"judge.good\"}");
    AUTO_FREE char *asked = value_dump(judged);
    assert_string_equal(asked, "[\"by m1\",null]");
    assert_string_equal(value_str(ret, "comment", ""),
                        "Running function test.ping failed on minions: m2 Function test.ping ran on m1, m2.\n"
                        "m2: judge.good says that it failed");
    json_array_clear(judged);
    stage_script(s->stage, script);
    json_auto_t *may = call_step(s, "{\"tgt\": \"m*\", \"batch\": 1, \"fail_function\": \"judge.good\", "
                                    "\"fail_minions\": [\"m2\"]}");
    AUTO_FREE char *again = value_dump(judged);
    assert_string_equal(again, "[\"by m1\",null]");
    assert_true(json_is_true(value_get(may, "result")));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_fail_function, setup, teardown),
          cmocka_unit_test_setup_teardown(test_key_removed, setup, teardown),
          cmocka_unit_test_setup_teardown(test_removed_keys_count, setup, teardown))
