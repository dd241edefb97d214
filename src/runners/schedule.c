/* schedule.c - runner `schedule`: the master's own schedule, which is the option `schedule` of its configuration.
 * An engine runs it (plugins/engine/schedule.c): it writes how each job fares into schedule.json of cachedir, and
 * begins a job when an event asks for it. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/schedule/schedule.h"
#include "runners/lib/ask.h"
#include "salt/limits.h"
#include "salt/plugin.h"

/* The file that the engine has written, {NAME: job with _next_fire_time and its like}: NEW; NULL with *err when none runs. */
static json_t *
engine_jobs(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(ctx), "cachedir", ""), "schedule.json");
    buf_auto_t text = BUF_INIT;
    json_auto_t *status = ask_master(ctx, "status", err);

    if (status == NULL)
        return NULL;
    json_int_t pid = value_int(value_get(value_get(status, "engines"), "Engine(schedule)"), "pid", 0);
    int rc = fs_read_any(path, LIMIT_FILE_READ, &text, err);
    json_auto_t *kept = rc > 0 ? value_parse(buf_str(&text), text.len, LIMIT_FILE_READ, path, err) : NULL;
    if (kept != NULL && pid > 0 && value_int(kept, "pid", 0) == pid)
        return json_incref(value_get(kept, "jobs"));
    if (err->code == 0)
        (void) fail_kind(err, FAIL_COMMAND, -ESRCH,
                         "The engine of the master's schedule does not run; the master's log says why");
    return NULL;
}

/* The job of that name as the configuration has it; NULL: there is none, which the caller's context says. BORROWED. */
static const json_t *
schedule_job(call_ctx_t *ctx, const char *name)
{
    const json_t *job = value_get(value_get(ctx_opts(ctx), "schedule"), name);

    if (!json_is_object(job))
        ctx_absent(ctx, "The master's schedule has no job '%s'; 'salt-run schedule.list' lists its jobs",
                   name);
    return json_is_object(job) ? job : NULL;
}

/* The schedule with each job's keys, `enabled` always among them. */
static int
runners_schedule_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool all = value_bool(args, "show_disabled", true);
    const char *name;
    json_t *job;

    *ret_value = json_object();
    json_object_foreach ((json_t *) value_get(ctx_opts(ctx), "schedule"), name, job) {
        bool is_job = json_is_object(job), on = value_bool(job, "enabled", true);
        if (is_job && !on && !all)
            continue;
        json_t *shown = is_job ? json_copy(job) : json_incref(job);
        if (is_job)
            json_object_set_new(shown, "enabled", json_boolean(on));
        json_object_set_new(*ret_value, name, shown);
    }
    return 0;
}

/* With a name the job itself, {} when missing; without one the schedule's switch. */
static int
runners_schedule_is_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *all = value_get(ctx_opts(ctx), "schedule");
    const char *name = value_str(args, "name", "");

    if (*name == '\0') {
        *ret_value = json_boolean(value_bool(all, "enabled", true));
        return 0;
    }
    const json_t *job = value_get(all, name);
    *ret_value = json_is_object(job) ? json_copy((json_t *) job) : json_object();
    if (json_is_object(job) && value_get(job, "enabled") == NULL)
        json_object_set_new(*ret_value, "enabled", json_true());
    return 0;
}

static int
runners_schedule_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");

    if (schedule_job(ctx, name) == NULL) {
        *ret_value = json_object();
        return 0;
    }
    json_auto_t *jobs = engine_jobs(ctx, err);
    if (jobs == NULL)
        return err->code;
    const json_t *job = value_get(jobs, name);
    *ret_value = job != NULL ? json_copy((json_t *) job) : json_object();
    return 0;
}

/* Times of the job, or of all: {NAME: time or None}. */
static int
runners_schedule_next(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *wanted = value_str(args, "name", ""), *name;
    json_auto_t *times = json_object();
    json_t *job;

    if (*wanted != '\0' && schedule_job(ctx, wanted) == NULL) {
        *ret_value = json_pack("{s:b, s:n}", "result", true, "next_fire_time");
        return 0;
    }
    json_auto_t *jobs = engine_jobs(ctx, err);
    if (jobs == NULL)
        return err->code;
    json_object_foreach (jobs, name, job) {
        json_t *next = value_get(job, "_next_fire_time");
        json_object_set(times, name, next);
    }
    json_t *next = *wanted != '\0' ? value_get(times, wanted) : times;
    *ret_value = json_pack("{s:b, s:O?}", "result", true, "next_fire_time", next);
    return 0;
}

static int
runners_schedule_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    const json_t *job = schedule_job(ctx, name);
    bool result = job != NULL;
    const char *said = "Scheduling Job", *more = " on master";

    if (job == NULL) {
        said = "Job", more = " does not exist";
    } else if (!value_bool(job, "enabled", true) && !value_bool(args, "force", false)) {
        said = "Job", more = " is disabled";
    } else {
        json_auto_t *jobs = engine_jobs(ctx, err);
        if (jobs == NULL || ctx_fire(ctx, SCHEDULE_RUN_TAG, json_pack("{s:s}", "name", name), err) < 0)
            return err->code;
    }
    *ret_value = json_pack("{s:o, s:b}", "comment", value_fmt("%s %s%s.", said, name, more), "result",
                           result);
    return 0;
}

static const arg_t list_args[] = {
    ARG("show_disabled", ARG_BOOL, "true", "False: only jobs that are enabled"), ARGS_END
};
static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"), ARGS_END };
static const arg_t any_args[] = { ARG("name", ARG_STR, "\"\"", "The job's name; without it all"), ARGS_END };
static const arg_t run_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
                                  ARG("force", ARG_BOOL, "false", "A job that is disabled runs, too"),
                                  ARGS_END };

static const func_t funcs[] = {
    { "list", runners_schedule_list, list_args, FN_ACCESS_ADMIN | FN_READONLY,
      "List the jobs of the master's schedule." CLI_EXAMPLE("salt-run schedule.list") },
    { "is_enabled", runners_schedule_is_enabled, any_args, FN_ACCESS_ADMIN | FN_READONLY,
      "Show a job of the master's schedule; without a name, whether the schedule is on." CLI_EXAMPLE(
          "salt-run schedule.is_enabled report") },
    { "job_status", runners_schedule_status, name_args, FN_ACCESS_ADMIN | FN_READONLY,
      "Show a job of the master's schedule with when it runs next, when it ran last, how many of its runs are under way "
      "(``_running``), and why it does not run, if it does not." CLI_EXAMPLE(
          "salt-run schedule.job_status report") },
    { "show_next_fire_time", runners_schedule_next, any_args, FN_ACCESS_ADMIN | FN_READONLY,
      "Show when a job of the master's schedule runs next, or when each does." CLI_EXAMPLE(
          "salt-run schedule.show_next_fire_time report") },
    { "run_job", runners_schedule_run, run_args, FN_ACCESS_ADMIN,
      "Run a job of the master's schedule now, with its returners, unless as many of its runs are under way as may be." CLI_EXAMPLE(
          "salt-run schedule.run_job report") },
};

PLUGIN(runner, schedule, .doc = "The master's own schedule", FUNCS(funcs));
