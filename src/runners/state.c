/* state.c - runner `state`: orchestrations, and pauses of state runs. An orchestration is compiled to chunks
 * like a state run (orchcompile.h), runs on the master with its steps in threads where they ask for it, and
 * keeps a journal (orchrun.h), from which resume= continues it. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/output/output.h"
#include "common/state/run.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/orchcompile.h"
#include "runners/lib/orchrun.h"
#include "runners/lib/state_event.h"
#include "runners/lib/threads.h"
#include "salt/state.h"

enum { EXIT_FAILED = 1 };

/* ---- the answer ---------------------------------------------------------------------------- */

/* {"data": {ID of the master: running}, "outputter": "highstate", "retcode": N}. TAKES running. */
static json_t *
runners_state_answer(call_ctx_t *ctx, json_t *running, bool success)
{
    ctx_set_retcode(ctx, success ? 0 : EXIT_FAILED);
    return json_pack("{s:{s:o}, s:s, s:i}", "data", value_str(ctx_opts(ctx), "id", "master"), running,
                     "outputter", "highstate", "retcode", success ? 0 : EXIT_FAILED);
}

/* ---- a run --------------------------------------------------------------------------------- */

/* Number of parallel steps, from the call or the configuration; 1 to LIMIT_STATES_PARALLEL. */
static int
read_parallel(call_ctx_t *ctx, const json_t *args, size_t *ret_max, fail_t *err)
{
    const json_t *v = value_get(args, "max_parallel");
    long long n = value_int(ctx_opts(ctx), "orchestrate_max_parallel", LIMIT_STATES_PARALLEL);

    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (v != NULL && !json_is_null(v))
        n = 0;
    if (n < 1 || n > LIMIT_STATES_PARALLEL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'max_parallel' is a number from 1 to %d",
                         LIMIT_STATES_PARALLEL);
    *ret_max = (size_t) n;
    return 0;
}

/* A run that was ended by soft_kill has steps without a return: it is not done. */
static bool
is_complete(const json_t *running, const json_t *chunks)
{
    json_t *chunk;
    size_t i;

    json_array_foreach ((json_t *) chunks, i, chunk) {
        AUTO_FREE char *tag = state_tag(chunk);
        if (value_get(running, tag) == NULL)
            return false;
    }
    return true;
}

/* Runs the steps, writes the end and makes the return. */
static json_t *
run_and_end(call_ctx_t *ctx, call_ctx_t *host, orchrun_t *run, json_t *chunks, size_t max_parallel)
{
    /* The steps, with their journal. */
    threads_env_t many = { .ctx = host, .max = max_parallel, .dress = orchrun_dress, .cookie = run };
    AUTO(threads) threads = threads_new(&many);
    state_run_env_t env = { .ctx = host,
                            .jid = orchrun_name(run),
                            .workers = &threads_workers,
                            .workers_self = threads,
                            .begins = orchrun_begins,
                            .ended = orchrun_ended,
                            .stopped = orchrun_stopped,
                            .watch_cookie = run };

    orchrun_dress(run, host);
    json_t *running = state_run(&env, chunks);

    bool success = state_succeeded(running, chunks) && is_complete(running, chunks);

    orchrun_add_stop(run, running);
    orchrun_end(run, running, success);
    return runners_state_answer(ctx, running, success);
}

/* Environment from the call, the configuration, or base. */
static const char *
saltenv_of(call_ctx_t *ctx, const json_t *args)
{
    const char *saltenv = value_str(args, "saltenv", NULL);

    saltenv = saltenv != NULL ? saltenv : value_str(ctx_opts(ctx), "saltenv", NULL);
    return saltenv != NULL ? saltenv : "base";
}

/* Arguments as the journal keeps them. NEW. */
static json_t *
document(const json_t *args)
{
    static const char *const kept[] = { "mods",         "saltenv",   "test",       "exclude",
                                        "pillar",       "pillarenv", "pillar_enc", "orchestration_jid",
                                        "max_parallel", "from" };
    json_t *doc = json_object(), *v;

    for (size_t i = 0; i < NELEMS(kept); i++) {
        v = value_get(args, kept[i]);
        if (v != NULL && !json_is_null(v))
            json_object_set(doc, kept[i], v);
    }
    return doc;
}

/* Arguments of a resumed run: from which step on, and what becomes of a step of which it is not known whether
 * it ran. */
static int
read_ask(const json_t *args, orchrun_ask_t *ask, fail_t *err)
{
    const json_t *from = value_get(args, "from"), *unsure = value_get(args, "unsure");

    ask->from = json_is_null(from) ? NULL : from;
    ask->rerun_unsure = str_eq(json_string_value(unsure), "rerun");
    if (unsure != NULL && !json_is_null(unsure) && !ask->rerun_unsure)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'unsure' can only be rerun");
    return 0;
}

/* Compiled now. *ret_value NEW. */
static int
run_new(call_ctx_t *ctx, json_t *args, const json_t *high, json_t **ret_value, fail_t *err)
{
    json_auto_t *errors = json_array(), *doc = document(args), *chunks = NULL;
    const char *jid = value_str(args, "orchestration_jid", ctx_jid(ctx));
    orchrun_ask_t ask = { .doc = doc };
    size_t max_parallel = 1;

    if (read_parallel(ctx, args, &max_parallel, err) < 0 || read_ask(args, &ask, err) < 0)
        return err->code;
    AUTO(masterctx) host = orch_context(ctx, args, errors, err);
    if (host == NULL)
        return -EIO;
    if (json_array_size(errors) == 0)
        chunks = high != NULL ? orch_chunks_of(masterctx_ctx(host), high, jid, errors)
                              : orch_chunks(masterctx_ctx(host), value_get(args, "mods"),
                                            saltenv_of(ctx, args), value_get(args, "exclude"), jid, errors);
    if (json_array_size(errors) > 0) {
        *ret_value = runners_state_answer(ctx, json_incref(errors), false);
        return 0;
    }
    if (api_peer(api_of(ctx))) /* a minion's words are among the arguments, or in the steps */
        json_object_set_new(doc, "peer", json_true());
    AUTO(orchrun) run = orchrun_new(api_of(ctx), ctx_jid(ctx), chunks, &ask, err);
    if (run == NULL)
        return -EIO;
    *ret_value = run_and_end(ctx, masterctx_ctx(host), run, chunks, max_parallel);
    return 0;
}

static int
state_orchestrate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *resume = value_get(args, "resume"), *mods = value_get(args, "mods");

    if (resume != NULL && !json_is_null(resume)) {
        AUTO_FREE char *name = value_pystr(resume);

        /* From the journal. */
        json_auto_t *errors = json_array(), *doc = NULL, *chunks = NULL;
        orchrun_ask_t ask = { 0 };
        size_t max_parallel = 1;
        if (read_ask(args, &ask, err) < 0)
            return err->code;
        AUTO(orchrun) run = orchrun_resume(api_of(ctx), name, &ask, &doc, &chunks, err);
        if (run == NULL)
            return -EIO;
        /* A resumed run has the arguments of the first time; max_parallel may be given anew. */
        json_auto_t *both = json_copy((json_t *) doc);
        json_t *v = value_get(args, "max_parallel");
        if (v != NULL && !json_is_null(v))
            json_object_set(both, "max_parallel", v);
        if (value_bool(doc, "peer", false))
            api_set_peer(api_of(ctx), true);
        if (read_parallel(ctx, both, &max_parallel, err) < 0)
            return err->code;
        AUTO(masterctx) host = orch_context(ctx, both, errors, err);
        if (host == NULL)
            return -EIO;
        if (json_array_size(errors) > 0) {
            *ret_value = runners_state_answer(ctx, json_incref(errors), false);
            return 0;
        }
        if (orchrun_reopen(run, err) < 0)
            return err->code;
        *ret_value = run_and_end(ctx, masterctx_ctx(host), run, chunks, max_parallel);
        return 0;
    }
    if (mods == NULL || json_is_null(mods))
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL,
                         "orchestrate() missing 1 required positional argument: 'mods'");
    return run_new(ctx, args, NULL, ret_value, err);
}

/* ---- other beginnings ---------------------------------------------------------------------- */

/* {ID of the master: what it came to}, and the same as an event, as Salt has it. */
static int
runners_state_plain(call_ctx_t *ctx, json_t *whole, json_t **ret_value, fail_t *err)
{
    json_auto_t *given = whole;
    AUTO_FREE char *tag = xasprintf("salt/run/%s/progress", ctx_jid(ctx));
    json_auto_t *event = json_pack("{s:O, s:s}", "data", value_get(given, "data"), "outputter", "highstate");

    (void) ctx_fire(ctx, tag, event, err);
    fail_clear(err);
    *ret_value = json_incref(value_get(given, "data"));
    return 0;
}

static int
state_orchestrate_high(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *whole = NULL;
    int rc = run_new(ctx, args, value_get(args, "data"), &whole, err);

    return rc == 0 ? runners_state_plain(ctx, whole, ret_value, err) : rc;
}

/* High data of one state: its keywords become the arguments. NEW. */
static json_t *
single_high(const json_t *args, fail_t *err)
{
    const char *fun = value_str(args, "fun", ""), *dot = strchr(fun, '.'), *key;
    json_t *list = json_array(), *v;
    AUTO_FREE char *id = value_pystr(value_get(args, "name"));

    if (dot == NULL || dot == fun || dot[1] == '\0') {
        json_decref(list);
        (void) fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a state: fun=salt.function, for example",
                         fun);
        return NULL;
    }
    json_array_append_new(list, json_string(dot + 1));
    json_object_foreach (value_get(args, "kwargs"), key, v) {
        if (!str_starts(key, "__"))
            json_array_append_new(list, json_pack("{s:O}", key, v));
    }
    AUTO_FREE char *module = xstrndup(fun, (size_t) (dot - fun));
    return json_pack("{s:{s:s, s:s, s:o}}", id, "__sls__", "", "__env__", "base", module, list);
}

static int
state_orchestrate_single(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *high = single_high(args, err);
    json_t *whole = NULL;
    int rc = high != NULL ? run_new(ctx, args, high, &whole, err) : -EINVAL;

    return rc == 0 ? runners_state_plain(ctx, whole, ret_value, err) : rc;
}

/* state.show_sls of the master's own context: the same compiler as for a run, nothing executed. */
static int
state_orchestrate_show_sls(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *errors = json_array(), *shown = NULL;
    json_auto_t *kwargs = json_pack("{s:s}", "saltenv", saltenv_of(ctx, args));
    json_auto_t *list = json_pack("[O]", value_get(args, "mods"));
    AUTO(masterctx) host = orch_context(ctx, args, errors, err);
    static const char *const passed[] = { "pillar", "pillarenv", "test" };

    if (host == NULL)
        return -EIO;
    for (size_t i = 0; i < NELEMS(passed); i++) {
        if (!json_is_null(value_get(args, passed[i])))
            json_object_set(kwargs, passed[i], value_get(args, passed[i]));
    }
    int rc = ctx_call(masterctx_ctx(host), "state.show_sls", list, kwargs, &shown, err);
    if (rc < 0)
        return rc;
    if (!json_is_object(shown))
        ctx_set_retcode(ctx, EXIT_FAILED);
    *ret_value = json_pack("{s:O}", value_str(ctx_opts(ctx), "id", "master"), shown);
    return 0;
}

/* ---- pause, resume, soft_kill -------------------------------------------------------------- */

/* `change`: what becomes of {ID: {...}}; an object replaces the entry, null takes it away. TAKES. */
static int
set_pause(call_ctx_t *ctx, const json_t *args, json_t *change, json_t **ret_value, fail_t *err)
{
    json_auto_t *entry = change;
    const char *cachedir = value_str(ctx_opts(ctx), "cachedir", ""),
               *id = value_str(args, "state_id", "__all__");
    AUTO_FREE char *jid = value_pystr(value_get(args, "jid"));
    json_auto_t *pauses = state_pauses(cachedir, jid, err);

    if (pauses == NULL)
        return -EIO;
    if (json_is_object(entry))
        json_object_set(pauses, id, entry);
    else
        json_object_del(pauses, id);
    *ret_value = json_null();
    if (!orchrun_under_way(jid))
        ctx_absent(ctx, "No orchestration %s is under way; 'salt-run orchestrate.list' lists them", jid);
    return state_pauses_set(cachedir, jid, pauses, err);
}

/* Pauses before one ID or all; without a duration until state.resume. */
static int
runners_state_pause(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *entry = json_object(), *duration = value_get(args, "duration");

    if (json_is_number(duration))
        json_object_set(entry, "duration", duration);
    return set_pause(ctx, args, entry, ret_value, err);
}

static int
runners_state_resume(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return set_pause(ctx, args, json_null(), ret_value, err);
}

/* Ends the run at the next step. The entry carries user and time for the run's return. */
static int
runners_state_soft_kill(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char now[CLOCK_STAMP_LEN];

    clock_stamp(now, clock_wall_us());
    return set_pause(ctx, args,
                     json_pack("{s:b, s:s, s:s}", "kill", true, "user", api_user(api_of(ctx)), "time", now),
                     ret_value, err);
}

/* ---- the table ----------------------------------------------------------------------------- */

#define ARGS_PILLAR                                                                                          \
    ARG("pillar", ARG_ANY, "null", "Laid over the pillar: a dictionary"),                                    \
        ARG("pillarenv", ARG_ANY, "null", "The pillar's environment"),                                       \
        ARG("pillar_enc", ARG_ANY, "null", "The renderer that decrypts its texts: gpg")
#define ARGS_RUN                                                                                             \
    ARG("max_parallel", ARG_ANY, "null", "Steps with `parallel` that are at work at one time"),              \
        ARG("from", ARG_STR, "null", "The ID of the first step to run")

static const arg_t orchestrate_args[] = {
    ARG("mods", ARG_ANY, "null", "SLS files: text with commas, or a list"),
    ARG("saltenv", ARG_STR, "\"base\"", "The environment"),
    ARG("test", ARG_ANY, "null", "Only say what would be done"),
    ARG("exclude", ARG_ANY, "null", "SLS and IDs that are left out"),
    ARGS_PILLAR,
    ARG("orchestration_jid", ARG_ANY, "null", "Given by an orchestration that begins this one"),
    ARGS_RUN,
    ARG("resume", ARG_ANY, "null", "Go on with this run instead: its jid, from orchestrate.list"),
    ARG("unsure", ARG_STR, "null", "rerun: do again what the master was doing when it was killed"),
    ARGS_END,
};

static const arg_t single_args[] = {
    ARG("fun", ARG_STR, ARG_REQUIRED, "The state, as salt.function"),
    ARG("name", ARG_ANY, ARG_REQUIRED, "Its name"),
    ARG("test", ARG_ANY, "null", "Only say what would be done"),
    ARG("queue", ARG_ANY, "false", "Accepted for Salt's sake"),
    ARG("pillar", ARG_ANY, "null", "Laid over the pillar: a dictionary"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "The state's arguments"),
    ARGS_END,
};

static const arg_t high_args[] = {
    ARG("data", ARG_DICT, ARG_REQUIRED, "High data"),
    ARG("test", ARG_ANY, "null", "Only say what would be done"),
    ARG("queue", ARG_ANY, "false", "Accepted for Salt's sake"),
    ARG("pillar", ARG_ANY, "null", "Laid over the pillar: a dictionary"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "Accepted for Salt's sake"),
    ARGS_END,
};

static const arg_t show_args[] = {
    ARG("mods", ARG_ANY, ARG_REQUIRED, "SLS files: text with commas, or a list"),
    ARG("saltenv", ARG_STR, "\"base\"", "The environment"),
    ARG("test", ARG_ANY, "null", "Accepted for Salt's sake"),
    ARG("queue", ARG_ANY, "false", "Accepted for Salt's sake"),
    ARGS_PILLAR,
    ARGS_END,
};

static const arg_t pause_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The run's jid"),
    ARG("state_id", ARG_STR, "null", "Before which ID it waits; all by default"),
    ARG("duration", ARG_ANY, "null", "Seconds"),
    ARGS_END,
};
static const arg_t resume_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The run's jid"),
    ARG("state_id", ARG_STR, "null", "The ID it waits before; all by default"),
    ARGS_END,
};

#define DOC_ORCHESTRATE                                                                                      \
    "Run an orchestration: SLS files whose steps run on the master, most of them on minions' behalf "        \
    "(``salt.state``, "                                                                                      \
    "``salt.function``, ``salt.runner``, ``salt.wheel``, ``salt.wait_for_event``, "                          \
    "``salt.parallel_runners``).\n\n"                                                                        \
    "Each run keeps a journal: orchestrate.list, orchestrate.show, orchestrate.graph. After a failure, or "  \
    "after the "                                                                                             \
    "master was killed, ``resume`` goes on with a run: steps that ended well are not run again, and jobs "   \
    "that were "                                                                                             \
    "published are followed." CLI_EXAMPLE("salt-run state.orchestrate webserver\n    salt-run "              \
                                          "state.orchestrate webserver saltenv=dev test=True\n"              \
                                          "    salt-run state.orchestrate resume=20261120094019532935\n"     \
                                          "    salt-run state.orchestrate webserver from=deploy")

static const func_t funcs[] = {
    { "event", state_wait_event, watch_args, FN_READONLY | FN_ACCESS_READ, STATE_EVENT_DOC },
    { "orch", state_orchestrate, orchestrate_args, FN_ACCESS_ADMIN, DOC_ORCHESTRATE },
    { "orch_show_sls", state_orchestrate_show_sls, show_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Show the high data of an orchestration." CLI_EXAMPLE("salt-run state.orch_show_sls webserver") },
    { "orchestrate", state_orchestrate, orchestrate_args, FN_ACCESS_ADMIN, DOC_ORCHESTRATE },
    { "orchestrate_high", state_orchestrate_high, high_args, FN_ACCESS_ADMIN,
      "Run an orchestration that is given as high data." CLI_EXAMPLE(
          "salt-run state.orchestrate_high '{stage_one: {salt.state: [{tgt: \"db*\"}, {sls: "
          "postgres_setup}]}}'") },
    { "orchestrate_show_sls", state_orchestrate_show_sls, show_args, FN_READONLY | FN_ACCESS_ADMIN,
      "Show the high data of an orchestration." CLI_EXAMPLE(
          "salt-run state.orchestrate_show_sls webserver") },
    { "orchestrate_single", state_orchestrate_single, single_args, FN_ACCESS_ADMIN,
      "Run one step." CLI_EXAMPLE("salt-run state.orchestrate_single fun=salt.wheel name=key.list_all") },
    { "pause", runners_state_pause, pause_args, FN_ACCESS_ADMIN,
      "Let a run wait before its next step, or before a certain one." CLI_EXAMPLE(
          "salt-run state.pause 20261120094019532935\n    salt-run state.pause 20261120094019532935 deploy "
          "30") },
    { "resume", runners_state_resume, resume_args, FN_ACCESS_ADMIN,
      "Let a run that was paused go on." CLI_EXAMPLE("salt-run state.resume 20261120094019532935") },
    { "rm_pause", runners_state_resume, resume_args, FN_ACCESS_ADMIN,
      "Let a run that was paused go on." CLI_EXAMPLE("salt-run state.rm_pause 20261120094019532935") },
    { "set_pause", runners_state_pause, pause_args, FN_ACCESS_ADMIN,
      "Let a run wait before its next step, or before a certain one." CLI_EXAMPLE(
          "salt-run state.set_pause 20261120094019532935") },
    { "sls", state_orchestrate, orchestrate_args, FN_ACCESS_ADMIN, DOC_ORCHESTRATE },
    { "soft_kill", runners_state_soft_kill, resume_args, FN_ACCESS_ADMIN,
      "End a run before its next step, or before a certain one. Its return and the journal say who did, and "
      "when." CLI_EXAMPLE("salt-run state.soft_kill 20261120094019532935") },
};

PLUGIN(runner, state, .doc = "Orchestrations", FUNCS(funcs));
