/* statejob.c - see statejob.h. */
#include "minion/modlib/statejob.h"

#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "minion/modlib/stateopts.h"
#include "salt/log.h"

enum { QUEUE_POLL_MS = 200 };

/* ---- one at a time ------------------------------------------------------------------------- */

/* NEW list of the jobs of the state module, without this one. */
static json_t *
state_jobs(call_ctx_t *ctx)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *args = json_pack("[s]", "state.*");
    json_t *jobs = NULL;

    if (ctx_call(ctx, "saltutil.is_running", args, NULL, &jobs, &err) == 0 && json_is_array(jobs))
        return jobs;
    log_debug("saltutil.is_running: %s", fail_text(&err));
    json_decref(jobs);
    return json_array();
}

json_t *
statejob_running(call_ctx_t *ctx)
{
    json_auto_t *jobs = state_jobs(ctx);
    json_t *out = json_array(), *job;
    size_t i;

    json_array_foreach (jobs, i, job) {
        const char *jid = value_str(job, "jid", "");
        char when[CLOCK_STAMP_LEN] = "";
        (void) clock_jid_to_time(jid, when);
        json_array_append_new(out, value_fmt("The function \"%s\" is running as PID %lld and was started at "
                                             "%s with jid %s",
                                             value_str(job, "fun", ""), (long long) value_int(job, "pid", 0),
                                             when, jid));
    }
    return out;
}

/* How many of them were published before this one. Jids of one length sort as texts. */
static size_t
earlier(call_ctx_t *ctx)
{
    json_auto_t *jobs = state_jobs(ctx);
    json_t *job;
    size_t i, n = 0;

    json_array_foreach (jobs, i, job)
        n += strcmp(value_str(job, "jid", ""), ctx_jid(ctx)) < 0;
    return n;
}

static void
wait_for_earlier(call_ctx_t *ctx)
{
    while (earlier(ctx) > 0) {
        struct timespec pause = { .tv_nsec = QUEUE_POLL_MS * 1000000L };
        (void) nanosleep(&pause, NULL);
    }
}

int
statejob_conflict(call_ctx_t *ctx, const json_t *args, json_t **ret_value)
{
    const json_t *queue = value_get(args, "queue");

    if (queue == NULL || json_is_null(queue))
        queue = value_get(ctx_opts(ctx), "state_queue");
    if (json_is_true(queue) || (json_is_integer(queue) && json_integer_value(queue) > 0 &&
                                earlier(ctx) < (size_t) json_integer_value(queue))) {
        wait_for_earlier(ctx);
        return 0;
    }
    if (value_truthy(value_get(value_get(args, "kwargs"), "concurrent")))
        return 0;
    json_t *texts = statejob_running(ctx);
    if (json_array_size(texts) == 0) {
        json_decref(texts);
        return 0;
    }
    ctx_set_retcode(ctx, STATE_COMPILER_ERROR);
    *ret_value = texts;
    return 1;
}

/* ---- test mode ----------------------------------------------------------------------------- */

static bool
config_says_test(call_ctx_t *ctx)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *args = json_pack("[s]", "test"), *kwargs = json_pack("{s:b}", "omit_opts", 1), *v = NULL;

    return ctx_call(ctx, "config.get", args, kwargs, &v, &err) == 0 && json_is_true(v);
}

bool
statejob_test(call_ctx_t *ctx, const json_t *args)
{
    json_t *asked = value_get(args, "test"), *kwargs = value_get(args, "kwargs"), *v;
    const char *key;

    if (asked != NULL && !json_is_null(asked))
        return value_truthy(asked);
    /* TEST=True is meant as well, and no harm may come from it. */
    json_object_foreach (kwargs, key, v) {
        if (strcasecmp(key, "test") == 0 && value_truthy(v))
            return true;
    }
    return config_says_test(ctx) || value_bool(ctx_opts(ctx), "test", false);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void
show_progress(void *cookie, const state_progress_t *at)
{
    ctx_progress(cookie, at->done + 1, at->total, "%s.%s %s", value_str(at->chunk, "state", ""),
                 value_str(at->chunk, "fun", ""), value_str(at->chunk, "name", ""));
}

static state_run_env_t
run_env(call_ctx_t *ctx, json_t *ask, bool mocked)
{
    return (state_run_env_t){ .ctx = ctx,
                              .jid = ctx_jid(ctx),
                              .pillar_ask = ask,
                              .progress = show_progress,
                              .progress_cookie = ctx,
                              .mocked = mocked };
}

json_t *
statejob_run(call_ctx_t *ctx, json_t *chunks, json_t *ask, const char *only_id, bool mocked)
{
    state_run_env_t env = run_env(ctx, ask, mocked);
    AUTO(state_fork) workers = state_fork_new(ctx);

    env.workers = &state_fork_workers;
    env.workers_self = workers;
    env.only_id = only_id;
    return state_run(&env, chunks);
}

json_t *
statejob_run_one(call_ctx_t *ctx, json_t *chunk, json_t *ask, bool mocked)
{
    state_run_env_t env = run_env(ctx, ask, mocked);

    return state_run_one(&env, chunk);
}
