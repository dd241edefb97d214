/* test_state_run.c - the state runner: chunks and what Salt 3006 made of them (tests/cases/state-run), and
 * what Salt can't show: parallel steps, deep chains, workers that die. */
#include "unit/unit.h"

#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/state/run.h"
#include "salt/state.h"

#define CASES TEST_SOURCE_DIR "/tests/cases/state-run"

extern const plugin_t state_test, state_module, exec_cmd, exec_test;

static const plugin_t *const exec_rows[] = { &exec_cmd, &exec_test };

/* ---- a run --------------------------------------------------------------------------------- */

typedef struct bench {
    registry_t *execs, *states;
    json_t *opts;
    call_ctx_t *ctx;
} bench_t;

static json_t *
no_grains(void *cookie)
{
    return value_get(cookie, "grains");
}

/* What test.check_pillar looks at. */
static py_t *
a_pillar(void *cookie, json_t *ask, fail_t *err)
{
    json_auto_t *pillar = json_pack("{s:i}", "a", 1);

    return py_from_json(pillar);
}

static bench_t
bench_with(const plugin_t *const *states, size_t n, const json_t *opts)
{
    bench_t b = { .execs = registry_new(PLUGIN_EXEC, exec_rows, NELEMS(exec_rows)),
                  .states = registry_new(PLUGIN_STATE, states, n),
                  .opts = opts != NULL ? json_deep_copy(opts) : json_object() };
    call_env_t env = { .registry = b.execs,
                       .states = b.states,
                       .opts = b.opts,
                       .id = "m001",
                       .jid = "20261120094109743473",
                       .grains = no_grains,
                       .pillar = a_pillar,
                       .cookie = b.opts };
    b.ctx = call_ctx_new(&env);
    return b;
}

static void
bench_end(bench_t *b)
{
    call_ctx_destroy(&b->ctx);
    registry_destroy(&b->execs);
    registry_destroy(&b->states);
    json_decref(b->opts);
}

/* ---- cases that Salt has answered ------------------------------------------------------------ */

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Salt names failed requisites in no order. */
static void
sort_failed(json_t *ret)
{
    static const char prefix[] = "One or more requisite failed: ";
    const char *comment = value_str(ret, "comment", "");
    buf_auto_t text = BUF_INIT;

    if (!str_starts(comment, prefix))
        return;
    char **parts = str_split(comment + sizeof(prefix) - 1, ", ", true);
    qsort(parts, strv_len(parts), sizeof(*parts), by_text);
    buf_puts(&text, prefix);
    for (char **p = parts; *p != NULL; p++)
        buf_printf(&text, "%s ", *p);
    strv_free(parts);
    json_object_set_new(ret, "comment", json_string(buf_str(&text)));
}

static void
normalise(json_t *running)
{
    const char *tag;
    json_t *ret;

    json_object_foreach (running, tag, ret) {
        json_object_del(ret, "start_time");
        json_object_del(ret, "duration");
        json_object_del(value_get(ret, "changes"), "pid");
        sort_failed(ret);
    }
}

static bool
same_order(json_t *a, json_t *b)
{
    void *i = json_object_iter(a), *j = json_object_iter(b);

    for (; i != NULL && j != NULL; i = json_object_iter_next(a, i), j = json_object_iter_next(b, j)) {
        if (strcmp(json_object_iter_key(i), json_object_iter_key(j)) != 0)
            return false;
    }
    return i == NULL && j == NULL;
}

/* Whether the case gives what it says. */
static bool
case_holds(const json_t *c)
{
    static const plugin_t *const rows[] = { &state_test, &state_module };
    bench_t b = bench_with(rows, NELEMS(rows), value_get(c, "opts"));
    json_auto_t *chunks = json_deep_copy(value_get(c, "chunks")),
                *want = json_deep_copy(value_get(c, "running"));

    ctx_set_test(b.ctx, value_bool(c, "test", false));
    state_run_env_t env = { .ctx = b.ctx, .jid = "" };
    json_auto_t *got = state_run(&env, chunks);
    normalise(got);
    normalise(want);
    bool same = json_equal(got, want) && same_order(got, want);
    if (!same) {
        AUTO_FREE char *in = value_dump(value_get(c, "chunks")), *out = value_dump(got),
                       *expected = value_dump(want);
        printf("# %s test=%d\n# chunks %s\n# want   %s\n# got    %s\n", value_str(c, "name", "?"),
               value_bool(c, "test", false), in, expected, out);
    }
    bench_end(&b);
    return same;
}

/* STATERUN_CASES names another file. */
static void
test_as_salt(void **state)
{
    const char *other = getenv("STATERUN_CASES");
    glob_t files;
    size_t bad = 0, n = 0;

    assert_int_equal(glob(other != NULL ? other : CASES "/*.json", 0, NULL, &files), 0);
    for (size_t f = 0; f < files.gl_pathc; f++) {
        json_auto_t *cases = json_load_file(files.gl_pathv[f], JSON_REJECT_DUPLICATES, NULL);
        json_t *c;
        size_t i;
        assert_non_null(cases);
        json_array_foreach (cases, i, c) {
            n++;
            bad += !case_holds(c);
        }
    }
    globfree(&files);
    printf("# %zu cases\n", n);
    assert_true(n > 0);
    assert_int_equal(bad, 0);
}

/* ---- a scripted table: what Salt has no answer for ------------------------------------------- */

/* A chunk's function is what it does: ok, change, fail, crash, hang, slow, say. */
static int
script_ok(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return 0;
}

static int
script_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "watched by %s", value_str(args, "sfun", "nobody"));
}

static int
script_fail(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "failed");
}

static int
script_crash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) raise(SIGKILL);
    return 0;
}

static int
script_raise(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return fail_kind(err, FAIL_COMMAND, -EIO, "the disk is gone");
}

/* Waits until a file is there, which another state makes: at the same time, or never. */
static int
script_meet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *mine = value_str(args, "mine", ""), *other = value_str(args, "other", "");
    int64_t until = clock_mono_ms() + 20000;
    FILE *f = fopen(mine, "w");

    if (f == NULL || fclose(f) != 0)
        return fail_set(err, -errno, "%s: %s", mine, strerror(errno));
    while (access(other, F_OK) != 0 && clock_mono_ms() < until)
        (void) usleep(1000);
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, access(other, F_OK) == 0 ? STATE_TRUE : STATE_FALSE, "met");
}

static int
script_fire(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *data = json_pack("{s:s}", "from", "state");
    int rc = ctx_fire(ctx, "script/tag", data, err);

    *ret_value = state_ret_args(args);
    return rc;
}

/* The umask and the environment of the chunk, as the function sees them. */
static int
script_look(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    mode_t mask = umask(0);

    (void) umask(mask);
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "%03o %s %s %zu", (unsigned) mask, ctx_saltenv(ctx),
                         value_str(ctx_chunk(ctx), "__id__", ""), json_object_size(ctx_running(ctx)));
}

static int
script_aggregate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *low = json_copy(value_get(args, "low")), *chunk;
    json_t *names = json_array();
    size_t i;

    json_array_foreach (value_get(args, "chunks"), i, chunk) {
        json_array_append(names, value_get(chunk, "name"));
        json_object_set_new(chunk, "__agg__", json_true());
    }
    json_object_set_new(low, "names", names);
    *ret_value = low;
    return 0;
}

static int
script_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *names = value_dump(value_get(args, "names"));

    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_TRUE, "%s", names);
}

static const arg_t name_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "x"),
    ARGS_END,
};
static const arg_t meet_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("mine", ARG_STR, "\"\"", "x"),
    ARG("other", ARG_STR, "\"\"", "x"),
    ARGS_END,
};
static const arg_t all_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("names", ARG_ANY, "[]", "x"),
    ARGS_END,
};
static const arg_t low_args[] = {
    ARG("low", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("chunks", ARG_ANY, "null", "x"),
    ARG("running", ARG_ANY, "null", "x"),
    ARGS_END,
};
static const arg_t guard_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("enable", ARG_BOOL, "null", "x"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "x", "unmask"),
    ARGS_END,
};
static const arg_t watch_args[] = {
    ARG("name", ARG_ANY, ARG_REQUIRED, "x"),
    ARG("sfun", ARG_STR, "null", "x"),
    ARG("reload", ARG_BOOL, "false", "x"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "x", "unmask"),
    ARGS_END,
};
static const func_t script_funcs[] = {
    { "ok", script_ok, name_args, 0, "x" },
    { "fail", script_fail, name_args, 0, "x" },
    { "crash", script_crash, name_args, 0, "x" },
    { "raise", script_raise, name_args, 0, "x" },
    { "meet", script_meet, meet_args, 0, "x" },
    { "fire", script_fire, name_args, 0, "x" },
    { "look", script_look, name_args, 0, "x" },
    { "guard", script_ok, guard_args, 0, "x" },
    { "mod_watch", script_watch, watch_args, 0, "x" },
};
PLUGIN(state, script, .doc = "x", FUNCS(script_funcs));
static const func_t bulk_funcs[] = {
    { "all", script_all, all_args, 0, "x" },
    { "mod_aggregate", script_aggregate, low_args, 0, "x" },
};
PLUGIN(state, bulk, .doc = "x", FUNCS(bulk_funcs));

static json_t *
chunk_of(const char *id, const char *state, const char *fun, size_t order)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i}", "state", state, "name", id, "__sls__", "s",
                     "__env__", "base", "__id__", id, "fun", fun, "order", (int) order);
}

/* "a script.ok", then JSON of further arguments. */
static void
add_chunk(json_t *chunks, const char *id, const char *fun, const char *more)
{
    const char *dot = strchr(fun, '.');
    AUTO_FREE char *state = xstrndup(fun, (size_t) (dot - fun));
    json_t *chunk = chunk_of(id, state, dot + 1, json_array_size(chunks));
    json_auto_t *args = json_loads(more, 0, NULL);

    assert_non_null(args);
    json_object_update(chunk, args);
    json_array_append_new(chunks, chunk);
}

typedef struct fired {
    json_t *tags;
} fired_t;

static int
keep_tag(void *cookie, const char *tag, json_t *data, fail_t *err)
{
    json_array_append_new(((fired_t *) cookie)->tags, json_string(tag));
    return 0;
}

/* NEW running. `tags` (array) gets the events. */
static json_t *
run_script(json_t *chunks, bool parallel, json_t *opts, json_t *tags)
{
    static const plugin_t *const rows[] = { &state_script, &state_bulk, &state_test };
    fired_t fired = { tags };
    registry_t *execs = registry_new(PLUGIN_EXEC, exec_rows, NELEMS(exec_rows)),
               *states = registry_new(PLUGIN_STATE, rows, NELEMS(rows));
    call_env_t env = { .registry = execs,
                       .states = states,
                       .opts = opts,
                       .id = "m001",
                       .jid = "20261120094109743473",
                       .fire = tags != NULL ? keep_tag : NULL,
                       .cookie = &fired };
    call_ctx_t *ctx = call_ctx_new(&env);
    AUTO(state_fork) workers = state_fork_new(ctx);
    state_run_env_t run = { .ctx = ctx, .jid = env.jid };

    if (parallel) {
        run.workers = &state_fork_workers;
        run.workers_self = workers;
    }
    json_t *running = state_run(&run, chunks);
    state_fork_destroy(&workers);
    call_ctx_destroy(&ctx);
    registry_destroy(&execs);
    registry_destroy(&states);
    return running;
}

static const json_t *
ret_of(const json_t *running, const char *id)
{
    const char *tag;
    json_t *ret;

    json_object_foreach ((json_t *) running, tag, ret) {
        if (strcmp(value_str(ret, "__id__", ""), id) == 0)
            return ret;
    }
    fail_msg("%s has not run", id);
    return NULL;
}

static void
expect(const json_t *running, const char *id, bool result, const char *comment)
{
    const json_t *ret = ret_of(running, id);

    assert_string_equal(value_str(ret, "comment", ""), comment);
    assert_int_equal(json_is_true(value_get(ret, "result")), result);
}

/* Each waits for the other's file: one after the other they would fail. */
static void
test_parallel_runs_at_once(void **state)
{
    char dir[] = "/tmp/halite-run-XXXXXX";
    json_auto_t *chunks = json_array();
    AUTO_FREE char *a = xasprintf("%s/a", mkdtemp(dir)), *b = xasprintf("%s/b", dir),
                   *one = xasprintf("{\"parallel\": true, \"mine\": \"%s\", \"other\": \"%s\"}", a, b),
                   *two = xasprintf("{\"parallel\": true, \"mine\": \"%s\", \"other\": \"%s\"}", b, a);

    add_chunk(chunks, "one", "script.meet", one);
    add_chunk(chunks, "two", "script.meet", two);
    add_chunk(chunks, "after", "script.ok", "{\"require\": [{\"script\": \"one\"}, {\"script\": \"two\"}]}");
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    expect(running, "one", true, "met");
    expect(running, "two", true, "met");
    expect(running, "after", true, "");
    assert_true(value_bool(ret_of(running, "one"), "__parallel__", false));
    (void) unlink(a), (void) unlink(b), (void) rmdir(dir);
}

/* A parallel step that waits for another one keeps none of those behind it waiting. */
static void
test_parallel_waits_by_itself(void **state)
{
    char dir[] = "/tmp/halite-run-XXXXXX";
    json_auto_t *chunks = json_array();
    AUTO_FREE char *a = xasprintf("%s/a", mkdtemp(dir)), *b = xasprintf("%s/b", dir),
                   *one = xasprintf("{\"parallel\": true, \"mine\": \"%s\", \"other\": \"%s\"}", a, b),
                   *two = xasprintf("{\"parallel\": true, \"mine\": \"%s\", \"other\": \"%s\"}", b, a);

    add_chunk(chunks, "one", "script.meet", one);
    add_chunk(chunks, "waits", "script.ok", "{\"parallel\": true, \"require\": [{\"script\": \"one\"}]}");
    add_chunk(chunks, "waits2", "script.ok", "{\"parallel\": true, \"require\": [{\"script\": \"waits\"}]}");
    add_chunk(chunks, "two", "script.meet", two);
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    expect(running, "one", true, "met");
    expect(running, "two", true, "met");
    expect(running, "waits", true, "");
    expect(running, "waits2", true, "");
    (void) unlink(a), (void) unlink(b), (void) rmdir(dir);
}

static void
test_parallel_child_dies(void **state)
{
    json_auto_t *chunks = json_array(), *tags = json_array();

    add_chunk(chunks, "dies", "script.crash", "{\"parallel\": true}");
    add_chunk(chunks, "needs", "script.ok", "{\"parallel\": true, \"require\": [{\"script\": \"dies\"}]}");
    add_chunk(chunks, "rescue", "script.ok", "{\"onfail\": [{\"script\": \"dies\"}]}");
    add_chunk(chunks, "raises", "script.raise", "{\"parallel\": true}");
    add_chunk(chunks, "fires", "script.fire", "{\"parallel\": true}");
    json_auto_t *running = run_script(chunks, true, NULL, tags);
    expect(running, "dies", false, "Parallel process failed to return: it was ended by signal 9 (Killed)");
    expect(running, "needs", false, "One or more requisite failed: s.dies");
    expect(running, "rescue", true, "");
    expect(running, "raises", false, "An exception occurred in this state: the disk is gone");
    expect(running, "fires", true, "");
    assert_int_equal(json_array_size(tags), 1);
    assert_string_equal(json_string_value(json_array_get(tags, 0)), "script/tag");
}

/* More than may be at work at once, in a chain where the first has failed hard. */
static void
test_parallel_many(void **state)
{
    json_auto_t *chunks = json_array();

    for (int i = 0; i < 3 * LIMIT_STATES_PARALLEL; i++) {
        AUTO_FREE char *id = xasprintf("p%d", i);
        add_chunk(chunks, id, "script.ok", "{\"parallel\": true}");
    }
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    assert_int_equal(json_object_size(running), 3 * LIMIT_STATES_PARALLEL);
    assert_true(state_succeeded(running, chunks));
}

static void
test_failhard_of_parallel(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "f", "script.fail", "{\"parallel\": true, \"failhard\": true}");
    add_chunk(chunks, "g", "script.ok", "{\"require\": [{\"script\": \"f\"}]}");
    add_chunk(chunks, "h", "script.ok", "{}");
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    assert_int_equal(json_object_size(running), 1);
}

/* `n` chunks, each of which requires the next one: the first that is looked at needs all others. */
static void
test_deep_chain(void **state)
{
    enum { N = 20000 };
    json_auto_t *chunks = json_array();

    for (int i = 0; i < N; i++) {
        AUTO_FREE char *id = xasprintf("c%d", i),
                       *more = xasprintf("{\"require\": [{\"script\": \"c%d\"}]}", i + 1);
        add_chunk(chunks, id, "script.ok", i + 1 < N ? more : "{}");
    }
    int64_t begin = clock_mono_ms();
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    assert_int_equal(json_object_size(running), N);
    assert_true(state_succeeded(running, chunks));
    assert_int_equal(value_int(ret_of(running, "c19999"), "__run_num__", -1), 0);
    printf("# %d in one chain: %lld ms\n", N, (long long) (clock_mono_ms() - begin));
}

/* The same with workers, where the first has failed: each is told when its turn comes. */
static void
test_deep_chain_of_waiting(void **state)
{
    enum { N = 20000 };
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "c0", "script.fail", "{\"parallel\": true}");
    for (int i = 1; i < N; i++) {
        AUTO_FREE char *id = xasprintf("c%d", i),
                       *more = xasprintf("{\"parallel\": true, \"require\": [{\"script\": \"c%d\"}]}", i - 1);
        add_chunk(chunks, id, "script.ok", more);
    }
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    assert_int_equal(json_object_size(running), N);
    expect(running, "c19999", false, "One or more requisite failed: s.c19998");
}

static void
test_circle(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "a", "script.ok", "{\"require\": [{\"script\": \"b\"}]}");
    add_chunk(chunks, "b", "script.ok", "{\"require\": [{\"script\": \"c\"}]}");
    add_chunk(chunks, "c", "script.ok", "{\"require\": [{\"script\": \"a\"}]}");
    add_chunk(chunks, "self", "script.ok", "{\"watch\": [{\"script\": \"s*\"}]}");
    add_chunk(chunks, "d", "script.ok", "{}");
    json_auto_t *running = run_script(chunks, true, NULL, NULL);
    expect(running, "c", false, "Recursive requisite found");
    expect(running, "b", false, "One or more requisite failed: s.c");
    expect(running, "a", false, "One or more requisite failed: s.b");
    expect(running, "self", false, "Recursive requisite found");
    expect(running, "d", true, "");
}

static void
test_arguments(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "extra", "script.ok", "{\"bogus\": 1}");
    add_chunk(chunks, "extras", "script.ok", "{\"a\": 1, \"b\": 2, \"c\": 3, \"reload_modules\": true}");
    add_chunk(chunks, "missing", "test.mod_watch", "{}");
    add_chunk(chunks, "umask", "script.look", "{\"umask\": \"027\", \"__env__\": \"dev\"}");
    add_chunk(chunks, "umask8", "script.look", "{\"umask\": 22}");
    add_chunk(chunks, "badmask", "script.look", "{\"umask\": \"abc\"}");
    mode_t before = umask(022);
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    assert_int_equal(umask(before), 022);
    expect(running, "extra", false, "'bogus' is an invalid keyword argument for 'script.ok'");
    expect(running, "extras", false, "'a', 'b' and 'c' are invalid keyword arguments for 'script.ok'");
    expect(running, "umask", true, "027 dev umask 3");
    expect(running, "umask8", true, "022 base umask8 4");
    assert_string_equal(value_str(value_get(running, "script_|-badmask_|-badmask_|-look"), "comment", ""),
                        "Invalid umask: abc\n");
}

/* mod_watch is called with the keywords of the function that watches: they are no errors there. */
static void
test_arguments_of_mod_watch(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "new", "test.succeed_with_changes", "{}");
    add_chunk(chunks, "fine", "script.guard",
              "{\"enable\": true, \"reload\": true, \"unmask\": true, \"watch\": [{\"test\": \"new\"}]}");
    add_chunk(chunks, "typo", "script.guard", "{\"enbale\": true, \"watch\": [{\"test\": \"new\"}]}");
    add_chunk(chunks, "idle", "script.guard", "{\"zzz\": true, \"watch\": [{\"test\": \"new\"}]}");
    add_chunk(chunks, "hears", "script.guard", "{\"enable\": true, \"listen\": [{\"test\": \"new\"}]}");
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    expect(running, "fine", true, "watched by guard");
    expect(running, "typo", false,
           "'enbale' is an invalid keyword argument for 'script.mod_watch'; is 'enable' meant?");
    expect(running, "idle", true, "watched by guard");
    expect(running, "hears", true, "");
    assert_null(value_get(ret_of(running, "fine"), "warnings"));
    assert_int_equal(json_array_size(value_get(ret_of(running, "idle"), "warnings")), 1);
    const json_t *heard = ret_of(running, "listener_hears");
    assert_string_equal(value_str(heard, "comment", ""), "watched by guard");
    assert_null(value_get(heard, "warnings"));
}

/* Salt's sentence and its lines stay as they are; what may be meant stands below them. */
static void
test_requisites_that_are_nearly_there(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "nginx_conf", "test.nop", "{}");
    add_chunk(chunks, "typo", "test.nop", "{\"require\": [{\"test\": \"nginx_cnof\"}]}");
    add_chunk(chunks, "other", "test.nop",
              "{\"watch\": [{\"pkg\": \"nginx_conf\"}, {\"id\": \"nginx_con\"}]}");
    add_chunk(chunks, "solo1", "test.nop", "{\"require\": [{\"test\": \"solo2\"}]}");
    add_chunk(chunks, "far", "test.nop", "{\"require\": [{\"test\": \"postgres\"}]}");
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    expect(
        running, "typo", false,
        "The following requisites were not found:\n                   require:\n                       test: "
        "nginx_cnof\nDid you mean 'test: nginx_conf'?\n");
    expect(running, "other", false,
           "The following requisites were not found:\n                   watch:\n                       pkg: "
           "nginx_conf\n                       id: nginx_con\nDid you mean 'test: nginx_conf'?\nDid you mean "
           "'nginx_conf'?\n");
    expect(
        running, "far", false,
        "The following requisites were not found:\n                   require:\n                       test: "
        "postgres\n");
}

/* What still waits for something is not done with another chunk. */
static void
test_aggregate(void **state)
{
    json_auto_t *chunks = json_array(), *opts = json_pack("{s:[s]}", "state_aggregate", "bulk");

    add_chunk(chunks, "a", "bulk.all", "{}");
    add_chunk(chunks, "b", "bulk.all", "{\"require\": [{\"script\": \"late\"}]}");
    add_chunk(chunks, "late", "script.ok", "{}");
    add_chunk(chunks, "c", "bulk.all", "{}");
    json_auto_t *running = run_script(chunks, false, opts, NULL);
    expect(running, "a", true, "[\"a\",\"c\"]");
    expect(running, "b", true, "[\"b\"]");
}

static void
test_events(void **state)
{
    json_auto_t *chunks = json_array(), *tags = json_array(), *opts = json_pack("{s:b}", "state_events", 1);

    add_chunk(chunks, "a", "script.ok", "{}");
    add_chunk(chunks, "b", "script.ok", "{\"fire_event\": true, \"require\": [{\"script\": \"a\"}]}");
    add_chunk(chunks, "c", "script.ok", "{\"fire_event\": \"my/tag\"}");
    json_auto_t *running = run_script(chunks, false, opts, tags);
    assert_int_equal(json_object_size(running), 3);
    AUTO_FREE char *got = value_dump(tags);
    assert_string_equal(got, "[\"salt/job/20261120094109743473/prog/m001/0\","
                             "\"salt/state_result/20261120094109743473/m001/b\","
                             "\"salt/state_result/20261120094109743473/m001/my/tag\"]");
}

/* Slots are called when the state runs. */
static void
test_slots(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "a", "test.nop", "{\"comment\": \"x\"}");
    add_chunk(chunks, "b", "test.show_notification",
              "{\"text\": \"__slot__:salt:test.arg('a b', k=\\\"v\\\").kwargs.k ~ /more\"}");
    add_chunk(chunks, "c", "test.show_notification", "{\"text\": \"__slot__:salt:test.nosuch()\"}");
    add_chunk(chunks, "d", "test.show_notification", "{\"text\": \"__slot__:salt:test.echo('it(s), ok')\"}");
    add_chunk(chunks, "e", "test.show_notification", "{\"text\": \"__slot__:salt:test.echo(a) ~ '/ b'\"}");
    add_chunk(chunks, "f", "test.show_notification",
              "{\"text\": \"__slot__:salt:test.arg(k=v).kwargs.k ~ \\\"'\\\"\"}");
    add_chunk(chunks, "g", "test.show_notification", "{\"text\": \"__slot__:salt:test.echo(a) ~ '\"}");
    add_chunk(chunks, "h", "test.show_notification",
              "{\"text\": \"__slot__:salt:test.arg(k=v=w).kwargs.v\"}");
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    expect(running, "b", true, "v/more");
    expect(running, "e", true, "a/ b");
    expect(running, "f", true, "v'");
    expect(running, "g", true, "a'");
    expect(running, "c", true, "__slot__:salt:test.nosuch()");
    expect(running, "h", true, "w");
    expect(running, "d", true, "it(s), ok");
}

/* Wherever it stands, a slot whose function fails is an exception in its state, which is not called. */
static void
test_slot_that_fails(void **state)
{
    static const char why[] = "An exception occurred in this state: "
                              "slot __slot__:salt:test.exception(gone): Exception: gone",
                      wrong[] = "An exception occurred in this state: slot __slot__:salt:test.echo(): "
                                "echo() missing 1 required positional argument: 'text'";
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "text", "test.show_notification", "{\"text\": \"__slot__:salt:test.exception(gone)\"}");
    add_chunk(chunks, "dict", "test.show_notification",
              "{\"text\": {\"a\": \"__slot__:salt:test.exception(gone)\"}}");
    add_chunk(chunks, "list", "test.show_notification",
              "{\"text\": [\"a\", {\"a\": \"__slot__:salt:test.exception(gone)\"}]}");
    add_chunk(chunks, "arguments", "test.show_notification", "{\"text\": \"__slot__:salt:test.echo()\"}");
    add_chunk(chunks, "onlyif", "test.nop",
              "{\"onlyif\": [{\"fun\": \"test.echo\", \"args\": [\"__slot__:salt:test.exception(gone)\"]}]}");
    add_chunk(chunks, "unless", "test.nop",
              "{\"unless\": [{\"fun\": \"test.echo\", \"text\": \"__slot__:salt:test.exception(gone)\"}]}");
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    expect(running, "text", false, why);
    expect(running, "dict", false, why);
    expect(running, "list", false, why);
    expect(running, "arguments", false, wrong);
    expect(running, "onlyif", false, why);
    expect(running, "unless", false, why);
}

static void
test_disabled(void **state)
{
    static const plugin_t *const rows[] = { &state_script };
    json_auto_t *chunks = json_array(),
                *opts = json_pack("{s:{s:[s]}}", "grains", "state_runs_disabled", "script.f*");
    bench_t b = bench_with(rows, 1, opts);
    state_run_env_t env = { .ctx = b.ctx, .jid = "" };

    add_chunk(chunks, "a", "script.ok", "{}");
    add_chunk(chunks, "f", "script.fail", "{}");
    json_auto_t *running = state_run(&env, chunks);
    expect(running, "f", false,
           "The state function \"script.fail\" is currently disabled by \"script.f*\", to re-enable, run "
           "state.enable script.f*.");
    expect(running, "a", true, "");
    bench_end(&b);
}

static void
test_handled_failure(void **state)
{
    json_auto_t *chunks = json_array();

    add_chunk(chunks, "f", "script.fail", "{}");
    add_chunk(chunks, "care", "script.ok", "{\"onfail\": [{\"script\": \"f\"}], \"onfail_stop\": false}");
    json_auto_t *running = run_script(chunks, false, NULL, NULL);
    assert_true(state_succeeded(running, chunks));
    assert_false(state_succeeded(running, NULL));
    json_object_del(json_array_get(chunks, 1), "onfail_stop");
    assert_false(state_succeeded(running, chunks));
}

/* What a state makes may be there while nobody can say: it is not made again. */
static void
test_creates_in_doubt(void **state)
{
    static const char *const paths[] = { "\"%s\"", "[\"%s\"]" };
    char dir[] = "/tmp/halite-run-XXXXXX";
    AUTO_FREE char *loop = fs_join(mkdtemp(dir), "loop"), *below = fs_join(loop, "made");
    AUTO_FREE char *why = xasprintf("An exception occurred in this state: cannot look at %s: %s; check the "
                                    "links in the path",
                                    below, strerror(ELOOP));

    assert_int_equal(symlink("loop", loop), 0);
    for (size_t i = 0; i < NELEMS(paths); i++) {
        AUTO_FREE char *given = str_replace(paths[i], "%s", below);
        AUTO_FREE char *more = xasprintf("{\"creates\": %s}", given);
        json_auto_t *chunks = json_array();
        add_chunk(chunks, "a", "script.ok", more);
        json_auto_t *running = run_script(chunks, false, NULL, NULL);
        expect(running, "a", false, why);
    }
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

/* A file says that the run is to wait for so long, or to end, which the next step's return tells; the steps behind it
 * have none. */
static void
test_pause_and_kill(void **state)
{
    char dir[] = "/tmp/halite-run-XXXXXX";
    fail_auto_t err = FAIL_INIT;
    json_auto_t *opts = json_pack("{s:s}", "cachedir", mkdtemp(dir)), *chunks = json_array(),
                *pauses = json_pack("{s:{s:f}, s:{s:b, s:s, s:s}}", "a", "duration", 0.05, "c", "kill", 1,
                                    "user", "ann", "time", "2026-11-20T09:41:09");

    assert_int_equal(state_pauses_set(dir, "20261120094109743473", pauses, &err), 0);
    json_auto_t *jids = state_paused_jids(dir, NULL);
    assert_int_equal(json_array_size(jids), 1);
    add_chunk(chunks, "a", "script.ok", "{}");
    add_chunk(chunks, "b", "script.ok", "{}");
    add_chunk(chunks, "c", "script.ok", "{}");
    add_chunk(chunks, "d", "script.ok", "{}");
    json_auto_t *running = run_script(chunks, false, opts, NULL);
    assert_int_equal(json_object_size(running), 3);
    const json_t *ended = value_get(running, "script_|-c_|-c_|-ok");
    assert_false(value_bool(ended, "result", true));
    assert_int_equal(value_int(ended, "__run_num__", -1), 2);
    assert_string_equal(value_str(ended, "comment", ""),
                        "ann ended the run before this step by state.soft_kill, at 2026-11-20T09:41:09");
    json_auto_t *left = state_paused_jids(dir, NULL);
    assert_int_equal(json_array_size(left), 0);
    assert_int_equal(state_pauses_set(dir, "../x", pauses, NULL), -EINVAL);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

/* What replaces the link that can't be followed, when the run has waited for a while. */
typedef struct later {
    const char *dir;
    const json_t *pauses;
    pthread_t thread;
    int rc;
} later_t;

static void *
replaces_later(void *arg)
{
    later_t *self = arg;
    (void) usleep(300000);
    self->rc = state_pauses_set(self->dir, "20261120094109743473", self->pauses, NULL);
    return NULL;
}

/* While nobody can tell whether the run is paused or to end, its next step does not begin. */
static void
test_pause_that_cannot_be_read(void **state)
{
    char dir[] = "/tmp/halite-run-XXXXXX";
    fail_auto_t err = FAIL_INIT;
    json_auto_t *opts = json_pack("{s:s}", "cachedir", mkdtemp(dir)), *chunks = json_array(),
                *kill = json_pack("{s:{s:b}}", "b", "kill", 1), *none = json_object();
    AUTO_FREE char *path = xasprintf("%s/state_pause/20261120094109743473", dir);

    add_chunk(chunks, "a", "script.ok", "{}");
    add_chunk(chunks, "b", "script.ok", "{}");
    for (int killed = 0; killed < 2; killed++) {
        /* A link to itself can't be followed, and is not absent. */
        assert_int_equal(state_pauses_set(dir, "20261120094109743473", kill, &err), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(symlink(path, path), 0);
        later_t later = { .dir = dir, .pauses = killed ? kill : none };
        assert_int_equal(pthread_create(&later.thread, NULL, replaces_later, &later), 0);
        int64_t begin = clock_mono_ms();
        json_auto_t *running = run_script(chunks, false, opts, NULL);
        int64_t took = clock_mono_ms() - begin;
        assert_int_equal(pthread_join(later.thread, NULL), 0);
        assert_int_equal(later.rc, 0);
        assert_int_equal(json_object_size(running), 2);
        assert_int_equal(value_bool(value_get(running, "script_|-b_|-b_|-ok"), "result", true), !killed);
        assert_true(took >= 200);
    }
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

/* Who a state is to run as is who its commands run as, of whichever of its parts: here nobody that there
 * is. */
static void
test_runas(void **state)
{
    static const plugin_t *const rows[] = { &state_test, &state_module };
    static const char why[] = "User 'halite-nobody' is not available";
    json_auto_t *chunks = json_array();
    bench_t b = bench_with(rows, NELEMS(rows), NULL);
    state_run_env_t env = { .ctx = b.ctx, .jid = "" };

    add_chunk(chunks, "checks", "test.nop", "{\"runas\": \"halite-nobody\", \"check_cmd\": [\"true\"]}");
    add_chunk(chunks, "calls", "module.run",
              "{\"runas\": \"halite-nobody\", \"name\": \"cmd.run\", \"cmd\": \"true\"}");
    add_chunk(chunks, "asks", "test.nop",
              "{\"runas\": \"halite-nobody\", \"onlyif\": [{\"fun\": \"cmd.retcode\", \"cmd\": \"true\"}]}");
    add_chunk(chunks, "after", "module.run", "{\"name\": \"cmd.retcode\", \"cmd\": \"true\"}");
    json_auto_t *running = state_run(&env, chunks);
    assert_non_null(strstr(value_str(ret_of(running, "checks"), "comment", ""), why));
    assert_non_null(strstr(value_str(ret_of(running, "calls"), "comment", ""), why));
    assert_non_null(strstr(value_str(ret_of(running, "asks"), "comment", ""), why));
    assert_true(json_is_true(value_get(ret_of(running, "after"), "result")));
    bench_end(&b);
}

UNIT_MAIN(cmocka_unit_test(test_requisites_that_are_nearly_there), cmocka_unit_test(test_as_salt),
          cmocka_unit_test(test_creates_in_doubt), cmocka_unit_test(test_parallel_runs_at_once),
          cmocka_unit_test(test_parallel_waits_by_itself), cmocka_unit_test(test_parallel_child_dies),
          cmocka_unit_test(test_parallel_many), cmocka_unit_test(test_failhard_of_parallel),
          cmocka_unit_test(test_deep_chain), cmocka_unit_test(test_deep_chain_of_waiting),
          cmocka_unit_test(test_circle), cmocka_unit_test(test_arguments),
          cmocka_unit_test(test_arguments_of_mod_watch), cmocka_unit_test(test_aggregate),
          cmocka_unit_test(test_events), cmocka_unit_test(test_slots), cmocka_unit_test(test_slot_that_fails),
          cmocka_unit_test(test_disabled), cmocka_unit_test(test_handled_failure),
          cmocka_unit_test(test_pause_and_kill), cmocka_unit_test(test_pause_that_cannot_be_read),
          cmocka_unit_test(test_runas))
