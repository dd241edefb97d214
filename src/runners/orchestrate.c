/* orchestrate.c - runner `orchestrate`: the journal of orchestrations (list, show), and their plans as
 * graphs, before a run from the SLS files and after it from the journal with its times. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/state/plan.h"
#include "master/api.h"
#include "runners/lib/orchcompile.h"
#include "runners/lib/orchrun.h"
#include "salt/state.h"

enum { RUNS_MAX = 1000, US_PER_MS = 1000 };

/* ---- the journal --------------------------------------------------------------------------- */

/* Time as text; None for 0. NEW. */
static json_t *
orchestrate_stamp(json_int_t us)
{
    char text[CLOCK_STAMP_LEN];

    if (us == 0)
        return json_null();
    clock_stamp(text, us);
    return json_string(text);
}

/* "True", "False", "running", or "unfinished" where its master ended first. */
static json_t *
orchestrate_result_of(const json_t *row)
{
    const char *run = value_str(row, "run", "");

    if (orchrun_under_way(run))
        return json_string("running");
    if (value_int(row, "end_us", 0) == 0)
        return json_string("unfinished");
    return json_boolean(value_bool(value_get(row, "result"), "success", false));
}

/* SLS files of the run; None when there are none. NEW. */
static json_t *
mods_of(const json_t *row)
{
    json_t *mods = value_get(row, "mods");

    return mods != NULL ? json_incref(mods) : json_null();
}

/* Newest first, at most RUNS_MAX. */
static int
orchestrate_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t limit = value_int(args, "limit", 0);
    if (limit < 1 || limit > RUNS_MAX)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'limit' is a number from 1 to %d", RUNS_MAX);
    json_auto_t *rows = api_runs(api_of(ctx), (size_t) limit, err);
    if (rows == NULL)
        return -EIO;
    /* The newest last, as outputters that sort show it too. */
    *ret_value = json_object();
    for (size_t i = json_array_size(rows); i > 0; i--) {
        const json_t *row = json_array_get(rows, i - 1);
        json_object_set_new(*ret_value, value_str(row, "run", "?"),
                            json_pack("{s:o, s:o, s:o, s:o}", "Mods", mods_of(row), "Start",
                                      orchestrate_stamp(value_int(row, "start_us", 0)), "End",
                                      orchestrate_stamp(value_int(row, "end_us", 0)), "Result",
                                      orchestrate_result_of(row)));
    }
    return 0;
}

/* NEW row of a run, or NULL with *err. */
static json_t *
orchestrate_find_run(call_ctx_t *ctx, const json_t *name, fail_t *err)
{
    AUTO_FREE char *run = value_pystr(name);
    json_t *row = api_run_row(api_of(ctx), run, err);

    if (row == NULL || json_is_object(row))
        return row;
    json_decref(row);
    (void) fail_kind(
        err, FAIL_INVOCATION, -ENOENT,
        "There is no orchestration %s in the journal; salt-run orchestrate.list shows those there are", run);
    return NULL;
}

/* {tag: the newest go at it}. NEW. */
static json_t *
newest_goes(const json_t *steps)
{
    json_t *by_tag = json_object(), *step;
    size_t i;

    json_array_foreach ((json_t *) steps, i, step) {
        const json_t *other = value_get(by_tag, value_str(step, "tag", ""));
        if (other == NULL || value_int(other, "go", 0) < value_int(step, "go", 0))
            json_object_set(by_tag, value_str(step, "tag", ""), step);
    }
    return by_tag;
}

/* ---- one run ------------------------------------------------------------------------------- */

/* {jid: {minions, returned, failed}} NEW, or NULL with *err. The jobs' rows have it: what was returned may
 * be much. */
static json_t *
jobs_of(call_ctx_t *ctx, const json_t *notes, const char *tag, fail_t *err)
{
    /* The jids that the step has published or begun, in their order. */
    AUTO_FREE char *prefix = orchrun_part_of(tag);
    json_auto_t *all = json_array();
    const char *part;
    json_t *one;

    json_object_foreach ((json_t *) notes, part, one) {
        if (str_starts(part, prefix))
            json_array_append(all, one);
    }
    json_auto_t *jids = value_sorted_texts(all);
    json_t *out = json_object(), *jid;
    size_t i;

    json_array_foreach (jids, i, jid) {
        json_auto_t *row = api_job_row(api_of(ctx), json_string_value(jid), err);
        if (row == NULL) {
            json_decref(out);
            return NULL;
        }
        json_object_set_new(out, json_string_value(jid),
                            json_pack("{s:O?, s:O?, s:O?, s:O?}", "Function", value_get(row, "fun"),
                                      "Minions", value_get(row, "minions"), "Returned",
                                      value_get(row, "n_returned"), "Failed", value_get(row, "n_failed")));
    }
    return out;
}

/* Result of a step: from its journal row, else from the run's end, else "not run". NEW. */
static json_t *
step_result(const json_t *go, const json_t *ended)
{
    const json_t *ret = value_get(go, "ret"), *last = value_get(ended, "result");

    if (go != NULL && value_int(go, "end_us", 0) == 0)
        return json_string("under way");
    if (ret == NULL)
        return last != NULL ? json_incref((json_t *) last) : json_string("not run");
    return value_get(ret, "result") != NULL ? json_incref(value_get(ret, "result")) : json_null();
}

/* Steps in the order of the plan, each with its newest go. */
static int
orchestrate_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *row = orchestrate_find_run(ctx, value_get(args, "run"), err);
    const char *run = value_str(row, "run", "");
    json_auto_t *rows = row != NULL ? api_steps(api_of(ctx), run, err) : NULL;
    json_auto_t *notes = rows != NULL ? api_notes(api_of(ctx), run, err) : NULL;
    json_auto_t *goes = newest_goes(rows), *steps = json_array();
    json_t *chunk;
    size_t i;

    if (notes == NULL)
        return -EIO;
    json_array_foreach (value_get(row, "plan"), i, chunk) {
        const json_t *ended = value_get(value_get(row, "result"), "steps");
        AUTO_FREE char *tag = state_tag(chunk);
        const json_t *go = value_get(goes, tag), *ret = value_get(go, "ret"), *last = value_get(ended, tag);
        json_int_t begin = value_int(go, "begin_us", 0), end = value_int(go, "end_us", 0);
        json_t *jobs = jobs_of(ctx, notes, tag, err),
               *comment = value_get(ret != NULL ? ret : last, "comment");

        if (jobs == NULL)
            return -EIO;
        json_t *step = json_pack(
            "{s:O?, s:o, s:O?, s:o, s:O?}", "ID", value_get(chunk, "__id__"), "Function",
            value_fmt("%s.%s", value_str(chunk, "state", ""), value_str(chunk, "fun", "")), "Name",
            value_get(chunk, "name"), "Result", step_result(go, last), "Comment", comment);
        if (go != NULL) {
            json_object_set_new(step, "Started", orchestrate_stamp(begin));
            json_object_set_new(step, "Ended", orchestrate_stamp(end));
            json_object_set_new(step, "Duration",
                                end > 0 ? value_fmt("%.3f ms", (double) (end - begin) / US_PER_MS)
                                        : json_null());
            json_object_set(step, "Goes", value_get(go, "go"));
        }
        if (json_object_size(jobs) > 0)
            json_object_set(step, "Jobs", jobs);
        json_decref(jobs);

        if (step == NULL)
            return -EIO;
        json_array_append_new(steps, step);
    }
    /* The arguments are what remains of the run's row without the columns that are shown apart. */
    static const char *const ours[] = { "run", "start_us", "end_us", "result", "plan", "mods" };
    json_t *out = json_copy((json_t *) row);
    for (size_t k = 0; k < NELEMS(ours); k++)
        json_object_del(out, ours[k]);
    *ret_value = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:O}", "Run", run, "Mods", mods_of(row),
                           "Arguments", out, "Start", orchestrate_stamp(value_int(row, "start_us", 0)), "End",
                           orchestrate_stamp(value_int(row, "end_us", 0)), "Result",
                           orchestrate_result_of(row), "Steps", steps);
    json_t *stopped = value_get(value_get(row, "result"), "stopped");
    if (stopped != NULL)
        json_object_set(*ret_value, "Stopped", stopped);
    return 0;
}

/* ---- the graph ----------------------------------------------------------------------------- */

/* {tag: {ms, result}} of what has ended. NEW. */
static json_t *
times_of(const json_t *goes)
{
    json_t *times = json_object(), *go;
    const char *tag;

    json_object_foreach ((json_t *) goes, tag, go) {
        double us = (double) (value_int(go, "end_us", 0) - value_int(go, "begin_us", 0));
        if (value_int(go, "end_us", 0) > 0)
            json_object_set_new(times, tag,
                                json_pack("{s:f, s:O?}", "ms", us / US_PER_MS, "result",
                                          value_get(value_get(go, "ret"), "result")));
    }
    return times;
}

/* The plan in the format that is asked for. *ret_value NEW. */
static int
orchestrate_draw(const json_t *chunks, const json_t *times, const json_t *args, json_t **ret_value,
                 fail_t *err)
{
    AUTO(plan) plan = plan_new(chunks, times, true);
    AUTO_FREE char *text = plan_draw(plan, value_str(args, "format", "text"), err);

    if (text == NULL)
        return err->code;
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

/* Draws a recorded run, with its durations. */
static int
graph_after(call_ctx_t *ctx, const json_t *row, const json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *rows = api_steps(api_of(ctx), value_str(row, "run", ""), err);
    json_auto_t *goes = newest_goes(rows), *times = times_of(goes);

    return rows != NULL ? orchestrate_draw(value_get(row, "plan"), times, args, ret_value, err) : -EIO;
}

/* A jid means a recorded run, anything else SLS files. */
static int
orchestrate_graph(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *what = value_pystr(value_get(args, "what"));

    if (!clock_is_jid(what)) {
        /* Compiles the SLS files and draws the plan. Compilation errors are the return. */
        json_auto_t *errors = json_array(), *chunks = NULL;
        AUTO(masterctx) host = orch_context(ctx, args, errors, err);
        if (host == NULL)
            return -EIO;
        if (json_array_size(errors) == 0)
            chunks = orch_chunks(masterctx_ctx(host), value_get(args, "what"),
                                 value_str(args, "saltenv", "base"), NULL, ctx_jid(ctx), errors);
        if (json_array_size(errors) == 0)
            return orchestrate_draw(chunks, NULL, args, ret_value, err);
        ctx_set_retcode(ctx, 1);
        *ret_value = json_incref(errors);
        return 0;
    }
    json_auto_t *row = orchestrate_find_run(ctx, value_get(args, "what"), err);
    return row != NULL ? graph_after(ctx, row, args, ret_value, err) : -ENOENT;
}

/* ---- the table ----------------------------------------------------------------------------- */

static const arg_t list_args[] = { ARG("limit", ARG_INT, "50", "The newest so many"), ARGS_END };
static const arg_t show_args[] = { ARG("run", ARG_ANY, ARG_REQUIRED, "The run's jid, from orchestrate.list"),
                                   ARGS_END };
static const arg_t graph_args[] = {
    ARG("what", ARG_ANY, ARG_REQUIRED, "SLS files that could be run, or the jid of a run"),
    ARG("format", ARG_STR, "\"text\"", PLAN_FORMATS),
    ARG("saltenv", ARG_STR, "\"base\"", "The environment"),
    ARG("pillar", ARG_ANY, "null", "Laid over the pillar: a dictionary"),
    ARG("pillarenv", ARG_ANY, "null", "The pillar's environment"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "graph", orchestrate_graph, graph_args, FN_READONLY | FN_HISTORY | FN_ACCESS_ADMIN,
      "Draw the plan of an orchestration: what waits for what, and the critical path, which decides how "
      "long it takes. Of a run, with the times that its steps took. The formats svg and html are pictures "
      "that a browser shows: failed steps are red, those that did not run grey." CLI_EXAMPLE(
          "salt-run orchestrate.graph deploy\n    salt-run orchestrate.graph deploy format=mermaid\n    "
          "salt-run orchestrate.graph 20261120094019532935 format=html --out=newline_values_only >run.html\n    "
          "salt-run orchestrate.graph 20261120094019532935 format=dot --out=newline_values_only | dot "
          "-Tpdf") },
    { "list", orchestrate_list, list_args, FN_READONLY | FN_HISTORY | FN_ACCESS_ADMIN,
      "Return the newest orchestrations in the journal, the last one at the end." CLI_EXAMPLE(
          "salt-run orchestrate.list") },
    { "show", orchestrate_show, show_args, FN_READONLY | FN_HISTORY | FN_ACCESS_ADMIN,
      "Return one run: its steps with their times, results, jobs and minions." CLI_EXAMPLE(
          "salt-run orchestrate.show 20261120094019532935") },
};

PLUGIN(runner, orchestrate, .doc = "The journal of orchestrations", FUNCS(funcs));
