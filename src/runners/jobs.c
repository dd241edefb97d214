/* jobs.c - runner `jobs`: jobs that ran or run, from the master's job store, in the shapes of Salt's jobs
 * runner (jobshape.h). Returns are read only where a function needs them, as a large job's returns may exceed
 * a message. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "master/api.h"
#include "runners/lib/ask.h"
#include "runners/lib/extcache.h"
#include "runners/lib/jobshape.h"
#include "runners/lib/when.h"
#include "salt/plugin.h"

/* ---- one job --------------------------------------------------------------------------------- */

/* The job's instance with "Result", after what `out` holds already: of all minions, or of those that fit
 * the argument `minions` among `args`. TAKES out; NEW, or NULL with *err. */
static json_t *
with_result(call_ctx_t *ctx, const char *jid, const json_t *args, json_t *out, fail_t *err)
{
    json_auto_t *globs = ask_split(value_get(args, "minions"));
    const char *cache = extcache_name(ctx, args);
    json_auto_t *found = cache != NULL ? extcache_job(ctx, cache, jid, globs, err)
                                       : api_job(api_of(ctx), jid, globs, err);

    if (found == NULL) {
        json_decref(out);
        return NULL;
    }
    json_auto_t *shape = jobshape_instance(jid, value_get(found, "job"), false);
    json_object_update(out, shape);
    /* Another store's returns are shown as that keeps them. */
    json_t *returns = value_get(found, "returns");
    json_object_set_new(out, "Result", cache != NULL ? json_incref(returns) : jobshape_result(returns));
    return out;
}

/* Sends a progress event when display_progress asks for it. */
static int
runners_jobs_announce(call_ctx_t *ctx, const json_t *args, const char *text, fail_t *err)
{
    return value_bool(args, "display_progress", false) ? ask_progress(ctx, text, err) : 0;
}

static int
jobs_list_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", "");
    int rc = runners_jobs_announce(ctx, args, "Querying the job cache", err);

    if (rc < 0)
        return rc;
    *ret_value = with_result(ctx, jid, args, json_pack("{s:s}", "jid", jid), err);
    if (value_get(*ret_value, "Error") != NULL)
        ctx_set_retcode(ctx, EXIT_FAILURE);
    return *ret_value != NULL ? 0 : -EIO;
}

/* NEW {jid: instance with result}. */
static json_t *
printed_job(call_ctx_t *ctx, const char *jid, const json_t *args, fail_t *err)
{
    json_t *job = with_result(ctx, jid, args, json_object(), err);

    if (value_get(job, "Error") != NULL)
        ctx_set_retcode(ctx, EXIT_FAILURE);
    return job != NULL ? json_pack("{s:o}", jid, job) : NULL;
}

static int
jobs_print_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = printed_job(ctx, value_str(args, "jid", ""), args, err);
    return *ret_value != NULL ? 0 : -EIO;
}

/* True when a glob matches the id; without globs every id fits. */
static bool
runners_jobs_fits(const json_t *globs, const char *id)
{
    size_t i, n = json_array_size(globs);

    for (i = 0; i < n && !match_glob(json_string_value(json_array_get(globs, i)), id); i++)
        ;
    return globs == NULL || i < n;
}

/* Returns by minion, with "Minion did not return" for silent targets when `missing` is given. */
static int
jobs_lookup_jid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", ""), *id;
    int rc = runners_jobs_announce(ctx, args, "Querying the job cache", err);
    json_t *out = json_object(), *entry;

    json_auto_t *job = rc == 0 ? with_result(ctx, jid, args, json_object(), err) : NULL;
    if (job == NULL) {
        json_decref(out);
        return rc < 0 ? rc : -EIO;
    }
    json_t *result = value_get(job, "Result");
    json_object_foreach (result, id, entry) {
        if (value_bool(args, "returned", true))
            json_object_set(out, id, value_get(entry, "return"));
    }
    json_auto_t *globs = ask_split(value_get(args, "minions"));
    if (value_bool(args, "missing", false)) {
        /* Targets that fit and have not returned get Salt's text instead of a return. */
        size_t i;
        json_t *absent;

        json_array_foreach (value_get(job, "Minions"), i, absent) {
            if (json_object_get(result, json_string_value(absent)) == NULL &&
                runners_jobs_fits(globs, json_string_value(absent)))
                json_object_set_new(out, json_string_value(absent), json_string("Minion did not return"));
        }
    }
    const char *outputter = jobshape_outputter(job);
    json_auto_t *name = outputter != NULL ? json_string(outputter) : json_null();
    *ret_value = jobshape_with_outputter(name, out);
    return 0;
}

/* Callback for each stored return: True for a return with a true value, as in Salt, whatever the exit
 * code. */
static bool
note_success(void *cookie, const char *id, const char *text, size_t len)
{
    json_auto_t *ret = value_parse(text, len, LIMIT_LOCAL_MSG, "store", NULL);

    json_object_set_new(cookie, id, json_boolean(value_truthy(value_get(ret, "return"))));
    return true;
}

/* The same of a job in the store of a returner, which knows those that have returned. */
static int
stored_success(call_ctx_t *ctx, const char *cache, const char *jid, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = extcache_job(ctx, cache, jid, NULL, err);
    const char *id;
    json_t *ret;

    if (found == NULL)
        return -EIO;
    *ret_value = json_object();
    json_object_foreach (value_get(found, "returns"), id, ret)
        json_object_set_new(*ret_value, id, json_boolean(value_truthy(value_get(ret, "return"))));
    return 0;
}

/* {id: bool} for all targets; silent ones are false. */
static int
jobs_exit_success(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *jid = value_str(args, "jid", ""), *cache = extcache_name(ctx, args);
    if (cache != NULL)
        return stored_success(ctx, cache, jid, ret_value, err);
    json_auto_t *row = api_job_row(api_of(ctx), jid, err), *out = json_object();
    size_t i;
    json_t *minion;

    if (row == NULL)
        return -EIO;
    json_auto_t *minions = value_sorted_texts(value_get(row, "minions"));
    json_array_foreach (minions, i, minion)
        json_object_set_new(out, json_string_value(minion), json_false());
    int rc = api_returns_each(api_of(ctx), jid, note_success, out, err);
    if (rc == 0)
        *ret_value = json_incref(out);
    return rc;
}

/* ---- many jobs ------------------------------------------------------------------------------- */

/* Adds a bound in microseconds to the filter; a text that is not a time is an error. */
static int
add_time(json_t *filter, const char *key, const char *text, fail_t *err)
{
    int64_t us;

    if (text == NULL)
        return 0;
    int rc = when_parse(text, clock_wall_us(), &us, err);
    if (rc == 0)
        json_object_set_new(filter, key, json_integer(us));
    return rc;
}

/* Nothing for a false value. */
static void
add_globs(json_t *filter, const char *key, const json_t *v)
{
    json_t *globs = value_truthy(v) ? ask_split(v) : NULL;

    if (globs != NULL)
        json_object_set_new(filter, key, globs);
}

static int
runners_jobs_add_metadata(json_t *filter, json_t *v, fail_t *err)
{
    if (!value_truthy(v))
        return 0;
    if (!json_is_object(v))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "The search_metadata parameter must be specified as a dictionary.");
    return json_object_set(filter, "metadata", v);
}

/* NEW filter for the store from list_jobs' arguments, or NULL with *err. */
static json_t *
runners_jobs_filter_of(const json_t *args, fail_t *err)
{
    json_t *filter = json_object();

    add_globs(filter, "function", value_get(args, "search_function"));
    add_globs(filter, "target", value_get(args, "search_target"));
    if (runners_jobs_add_metadata(filter, value_get(args, "search_metadata"), err) == 0 &&
        add_time(filter, "start_us", value_str(args, "start_time", NULL), err) == 0 &&
        add_time(filter, "end_us", value_str(args, "end_time", NULL), err) == 0)
        return filter;
    json_decref(filter);
    return NULL;
}

static int
jobs_list_jobs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *filter = runners_jobs_filter_of(args, err);
    size_t i;
    json_t *job;

    if (filter == NULL || runners_jobs_announce(ctx, args, "Querying the job cache for jobs.", err) < 0)
        return -EINVAL;
    const char *cache = extcache_name(ctx, args);
    if (cache != NULL) {
        json_t *found = extcache_jobs(ctx, cache, filter, err);
        if (found == NULL)
            return err->code;
        *ret_value = jobshape_with_outputter(value_get(args, "outputter"), found);
        return 0;
    }
    json_auto_t *jobs = api_jobs(api_of(ctx), filter, err);
    if (jobs == NULL)
        return -EIO;
    json_t *out = json_object();
    json_array_foreach (jobs, i, job) {
        const char *jid = value_str(job, "jid", "");
        json_object_set_new(out, jid, jobshape_instance(jid, job, false));
    }
    *ret_value = jobshape_with_outputter(value_get(args, "outputter"), out);
    return 0;
}

/* At most `count` of the newest jobs. */
static int
jobs_list_jobs_filter(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *filter = json_pack("{s:I}", "limit", value_int(args, "count", 0));
    size_t i;
    json_t *job;

    if (value_bool(args, "filter_find_job", true))
        json_object_set_new(filter, "not_function", json_pack("[s]", "saltutil.find_job"));
    if (runners_jobs_announce(ctx, args, "Querying the job cache for jobs.", err) < 0)
        return -EIO;
    json_auto_t *jobs = api_jobs(api_of(ctx), filter, err);
    if (jobs == NULL)
        return -EIO;
    json_t *out = json_array();
    json_array_foreach (jobs, i, job)
        json_array_append_new(out, jobshape_instance(value_str(job, "jid", ""), job, true));
    *ret_value = jobshape_with_outputter(value_get(args, "outputter"), out);
    return 0;
}

/* The newest job that fits, with its returns; False when there is none. */
static int
jobs_last_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *filter = json_pack("{s:i}", "limit", 1);
    json_t *metadata = value_get(args, "metadata");

    add_globs(filter, "function", value_get(args, "function"));
    add_globs(filter, "target", value_get(args, "target"));
    int rc = runners_jobs_add_metadata(filter, metadata, err);
    if (rc == 0)
        rc = runners_jobs_announce(ctx, args, "Querying the job cache for jobs.", err);
    const char *cache = extcache_name(ctx, args);
    json_auto_t *jobs = rc < 0          ? NULL
                        : cache != NULL ? extcache_jobs(ctx, cache, filter, err)
                                        : api_jobs(api_of(ctx), filter, err);
    if (jobs == NULL)
        return rc < 0 ? rc : -EIO;
    const char *jid = cache != NULL ? extcache_newest(jobs) : value_str(json_array_get(jobs, 0), "jid", NULL);
    if (jid == NULL) {
        *ret_value = json_false();
        return 0;
    }
    json_t *job = printed_job(ctx, jid, args, err);
    if (job == NULL)
        return -EIO;
    *ret_value = jobshape_with_outputter(value_get(args, "outputter"), job);
    return 0;
}

/* ---- what runs now --------------------------------------------------------------------------- */

/* Jobs that run on minions now, with those that returned already. */
static int
jobs_active(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t i;
    json_t *job;

    if (runners_jobs_announce(ctx, args, "Asking the master for jobs that run", err) < 0)
        return -EIO;
    json_auto_t *reply = ask_master(ctx, "active", err);
    if (reply == NULL)
        return -EIO;
    *ret_value = json_object();
    json_array_foreach (value_get(reply, "jobs"), i, job) {
        json_t *running = value_get(job, "running");
        const char *jid = value_str(job, "jid", "");
        /* A job that waits for minions that are away runs nowhere. */
        if (json_object_size(running) == 0)
            continue;
        json_t *shape = jobshape_instance(jid, job, false);
        /* Salt's form: a list of objects {id: pid}. */
        json_t *out = json_array(), *pid;
        const char *id;
        json_object_foreach (running, id, pid)
            json_array_append_new(out, json_pack("{s:O}", id, pid));
        json_object_set_new(shape, "Running", out);
        json_object_set_new(shape, "Returned", value_sorted_texts(value_get(job, "returned")));
        json_object_set_new(*ret_value, jid, shape);
    }
    return 0;
}

/* Runners that the master runs now, but for the one that asks. */
static int
jobs_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *reply = ask_master(ctx, "active", err);

    if (reply == NULL)
        return -EIO;
    json_t *one, *others = json_array();
    size_t i;
    json_array_foreach (value_get(reply, "runners"), i, one)
        if (!str_eq(value_str(one, "jid", ""), ctx_jid(ctx)))
            json_array_append(others, one);
    *ret_value = others;
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define ARG_JID ARG("jid", ARG_STR, ARG_REQUIRED, "The jid to look up")
#define ARG_SOURCE                                                                                           \
    ARG("ext_source", ARG_STR, "null",                                                                       \
        "The returner to read: it goes before ext_job_cache and master_job_cache")
#define ARG_PROGRESS ARG("display_progress", ARG_BOOL, "false", "Fire progress events")
#define ARG_OUTPUT   ARG("outputter", ARG_STR, "null", "Show the result with this outputter")

#define ARG_MINIONS                                                                                          \
    ARG("minions", ARG_ANY, "null", "Only the returns of these: globs, as a list or as text with commas")

static const arg_t active_args[] = { ARG_PROGRESS, ARGS_END };
static const arg_t job_args[] = { ARG_JID, ARG_SOURCE, ARG_PROGRESS, ARG_MINIONS, ARGS_END };
static const arg_t print_args[] = { ARG_JID, ARG_SOURCE, ARG_MINIONS, ARGS_END };
static const arg_t jid_args[] = { ARG_JID, ARG_SOURCE, ARGS_END };
static const arg_t lookup_args[] = { ARG_JID,
                                     ARG_SOURCE,
                                     ARG("returned", ARG_BOOL, "true", "Include the minions that returned"),
                                     ARG("missing", ARG_BOOL, "false",
                                         "Include the minions that did not return"),
                                     ARG_PROGRESS,
                                     ARG_MINIONS,
                                     ARGS_END };
static const arg_t list_args[] = {
    ARG_SOURCE,
    ARG_OUTPUT,
    ARG("search_metadata", ARG_ANY, "null", "A dictionary: one of its pairs must be in the job's metadata"),
    ARG("search_function", ARG_ANY, "null", "Globs of functions: a list, or text with commas"),
    ARG("search_target", ARG_ANY, "null", "Globs of targets: a list, or text with commas"),
    ARG("start_time", ARG_STR, "null", "Only jobs that started then or later"),
    ARG("end_time", ARG_STR, "null", "Only jobs that started then or earlier"),
    ARG_PROGRESS,
    ARGS_END
};
static const arg_t filter_args[] = { ARG("count", ARG_INT, ARG_REQUIRED, "How many of the newest jobs"),
                                     ARG("filter_find_job", ARG_BOOL, "true", "Leave out saltutil.find_job"),
                                     ARG_SOURCE,
                                     ARG_OUTPUT,
                                     ARG_PROGRESS,
                                     ARGS_END };
static const arg_t last_args[] = { ARG_SOURCE,
                                   ARG_OUTPUT,
                                   ARG("metadata", ARG_ANY, "null", "As search_metadata of list_jobs"),
                                   ARG("function", ARG_ANY, "null", "As search_function of list_jobs"),
                                   ARG("target", ARG_ANY, "null", "As search_target of list_jobs"),
                                   ARG_PROGRESS,
                                   ARGS_END };

#define PLACES                                                                                               \
    "At one time these are " STRINGIFY(LIMIT_RUNNER_WORKERS) ", and " STRINGIFY(                             \
        LIMIT_RUNNER_QUICK) " more that only read, such as this one; others wait for their turn."

static const func_t funcs[] = {
    { "active", jobs_active, active_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Return the jobs that run on minions now, by job id: where they run, and who has returned "
      "already. The master knows; no minion is asked." CLI_EXAMPLE("salt-run jobs.active") },
    { "exit_success", jobs_exit_success, jid_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Tell per minion whether a job was executed and returned something true.\n\njid\n    The jid to look "
      "up." CLI_EXAMPLE("salt-run jobs.exit_success 20160520145827701627"),
      ABSENT("jid", "The job store has no job {}; 'salt-run jobs.list_jobs' lists the jobs there are") },
    { "last_run", jobs_last_run, last_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Show the newest job that fits, with its returns; ``False`` when there is none." CLI_EXAMPLE(
          "salt-run jobs.last_run\n    salt-run jobs.last_run target=nodename\n    "
          "salt-run jobs.last_run function='cmd.run'\n    salt-run jobs.last_run metadata=\"{'foo': "
          "'bar'}\"") },
    { "list_job", jobs_list_job, job_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Show one job by its jid: what ran, on whom, and what they returned.\n\nminions\n    Only the "
      "returns of minions that one of these globs fits, as a list or as text with commas: the returns of "
      "all may be more than a message holds." CLI_EXAMPLE(
          "salt-run jobs.list_job 20130916125524463507\n    "
          "salt-run jobs.list_job 20130916125524463507 --out=pprint") },
    { "list_jobs", jobs_list_jobs, list_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "List the jobs in the job cache. A job must fit every filter that is given.\n\nsearch_metadata\n    "
      "A dictionary. A job fits when one of the pairs is in its metadata.\n\nsearch_function\n    Globs of "
      "functions, as a list or as text with commas.\n\nsearch_target\n    Globs that the job's target must "
      "fit, as a list or as text with commas.\n\nstart_time\n    Jobs that started at this time or "
      "later.\n\nend_time\n    Jobs that started at this time or earlier." CLI_EXAMPLE(
          "salt-run jobs.list_jobs\n    salt-run jobs.list_jobs search_function='test.*' "
          "search_target='localhost' search_metadata='{\"bar\": \"foo\"}'\n    salt-run "
          "jobs.list_jobs start_time='2015, Mar 16 19:00' end_time='2015, Mar 18 22:00'") },
    { "list_jobs_filter", jobs_list_jobs_filter, filter_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "List the newest ``count`` jobs." CLI_EXAMPLE("salt-run jobs.list_jobs_filter 50\n    salt-run "
                                                    "jobs.list_jobs_filter 100 filter_find_job=False") },
    { "lookup_jid", jobs_lookup_jid, lookup_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Return what the minions returned for a job, as ``salt`` would have printed it.\n\njid\n    The jid "
      "to look up.\n\nreturned : True\n    Include the minions that returned.\n\nmissing : False\n    "
      "Include the minions that did *not* return.\n\nminions\n    Only minions that one of these globs "
      "fits, as a list or as text with commas: the returns of all may be more than a message holds." CLI_EXAMPLE(
          "salt-run jobs.lookup_jid 20130916125524463507\n    salt-run "
          "jobs.lookup_jid 20130916125524463507 --out=highstate\n    salt-run jobs.lookup_jid "
          "20130916125524463507 minions='web*, db1'"),
      ABSENT("jid",
             "The job store has no return of job {}; 'salt-run jobs.list_jobs' lists the jobs there are") },
    { "master", jobs_master, NULL, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Return the runners that the master executes now. " PLACES CLI_EXAMPLE("salt-run jobs.master") },
    { "print_job", jobs_print_job, print_args, FN_READONLY | FN_HISTORY | FN_ACCESS_READ,
      "Show one job under its jid, with its returns.\n\nminions\n    As for list_job." CLI_EXAMPLE(
          "salt-run jobs.print_job "
          "20130916125524463507") },
};

PLUGIN(runner, jobs, .doc = "Look at jobs: those that run and those that ran", FUNCS(funcs));
