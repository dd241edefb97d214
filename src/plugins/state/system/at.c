/* at.c - state module `at`: jobs that run once at a later time, by at(1), which keeps them in a spool and
 * numbers them. A tag is a comment in the job's script that the module puts there, by which a job is found
 * again. Without `unique_tag` each run of the state adds a job. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The comment is made before the job: at's own words come only with an error. */
static int
at_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *tag = value_get(args, "tag"),
           *user = value_get(args, "user");
    const char *command = value_str(args, "job", "");
    AUTO_FREE char *tag_text = value_pystr(tag), *user_text = value_pystr(user);
    AUTO_FREE char *when = value_pystr(value_get(args, "timespec"));
    json_auto_t *found = NULL, *who = NULL, *made = NULL;

    if (*command == '\0')
        command = value_str(args, "name", "");
    if (value_truthy(value_get(args, "unique_tag"))) {
        if (!value_truthy(tag))
            return state_ret_set(ret, STATE_FALSE, "no tag provided and unique_tag is set to True");
        if ((found = sub_call(ctx, err, "at.jobcheck", "{s:O}", "tag", tag)) == NULL)
            return err->code;
        if (json_array_size(value_get(found, "jobs")) > 0)
            return state_ret_set(ret, STATE_TRUE, "atleast one job with tag %s exists.", tag_text);
    }
    if (value_truthy(user)) {
        if ((who = sub_call(ctx, err, "user.info", "{s:O}", "name", user)) == NULL)
            return err->code;
        if (!value_truthy(who))
            return state_ret_set(ret, STATE_FALSE, "user %s does not exists", user_text);
        (void) state_ret_set(ret, STATE_TRUE, "job %s added and will run as %s on %s", command, user_text,
                             when);
    } else
        (void) state_ret_set(ret, STATE_TRUE, "job %s added and will run on %s", command, when);
    if (ctx_test(ctx)) {
        /* at(1) alone knows which time it understands. */
        state_change(ret, "tag", json_string(value_truthy(tag) ? tag_text : ""));
        json_object_set_new(ret, "result", json_null());
        return 0;
    }
    json_auto_t *words = json_pack("[s, s]", when, command);
    json_auto_t *kwargs = json_pack("{s:O, s:O}", "tag", tag, "runas",
                                    value_truthy(user) ? user : json_null());
    if (ctx_call(ctx, "at.at", words, kwargs, &made, err) < 0)
        return err->code;
    if (value_get(made, "error") != NULL)
        return state_ret_set(ret, STATE_FALSE, "%s", value_str(made, "error", ""));
    /* The change is the job as atq lists it. */
    if (json_array_size(value_get(made, "jobs")) > 0)
        state_change_set(ret, json_incref(json_array_get(value_get(made, "jobs"), 0)));
    return 0;
}

/* Numbers of the jobs that fit, as texts; NULL with *err. NEW. */
static json_t *
jobs_to_remove(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *wanted = value_get(args, "kwargs"), *jobid = value_get(args, "jobid"), *found = NULL, *job,
           *numbers;
    const char *filter;
    bool by_id = value_truthy(jobid);
    json_auto_t *id = json_pack("{s:O}", "tag", jobid);
    size_t i;

    /* Without a filter all jobs go: one that is typed wrong must not be none. */
    json_auto_t *known = json_pack("[s, s, s, s, s, s, s]", "hour", "minute", "day", "month", "year", "tag",
                                   "runas");
    json_object_foreach (wanted, filter, job) {
        if (!value_lists(known, filter)) {
            (void) fail_kind(err, FAIL_COMMAND, -EINVAL,
                             "%s is no filter for jobs: hour, minute, day, month, year, tag, runas", filter);
            return NULL;
        }
    }
    if (ctx_call(ctx, by_id || json_object_size(wanted) == 0 ? "at.atq" : "at.jobcheck", NULL,
                 by_id ? id : wanted, &found, err) < 0)
        return NULL;
    numbers = json_array();
    json_array_foreach (value_get(found, "jobs"), i, job) {
        AUTO_FREE char *number = value_pystr(value_get(job, "job")), *asked = value_pystr(jobid);
        /* A tag may look like the number. */
        if (!by_id || strcmp(number, asked) == 0)
            json_array_append_new(numbers, json_string(number));
    }
    json_decref(found);
    return numbers;
}

/* A test can't know which jobs a run would find, and tells a number that is no number, as Salt does. */
static int
at_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *gone = NULL;
    bool by_id = value_truthy(value_get(args, "jobid"));
    AUTO_FREE char *id = value_pystr(value_get(args, "jobid"));

    if (value_get(value_get(args, "kwargs"), "limit") != NULL)
        return state_ret_set(ret, STATE_FALSE, "limit parameter not supported %s",
                             value_str(args, "name", ""));
    json_auto_t *numbers = jobs_to_remove(ctx, args, err);
    if (numbers == NULL)
        return err->code;
    size_t n = json_array_size(numbers);
    if (n == 0 && by_id)
        return state_ret_set(ret, STATE_TRUE, "job with id %s not present", id);
    if (n == 0)
        return state_ret_set(ret, STATE_TRUE, "removed 0 job(s)");
    if (!ctx_test(ctx) && ctx_call(ctx, "at.atrm", numbers, NULL, &gone, err) < 0)
        return err->code;
    state_change(ret, "removed",
                 json_incref(ctx_test(ctx) ? numbers : value_path(gone, "jobs:removed", ":")));
    json_decref(gone);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "removed ? job(s)");
    return by_id ? state_ret_set(ret, STATE_TRUE, "job with id %s was removed", id)
                 : state_ret_set(ret, STATE_TRUE, "removed %zu job(s)", n);
}

static int
at_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return 0;
}

/* Only `watch` adds its job when something watched has changed; its own run does nothing. */
static int
at_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (str_eq(value_str(args, "sfun", ""), "watch"))
        return at_present(ctx, args, ret_value, err);
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "%s", "");
}

static const char *
state_at_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "at.at") ? NULL : "at module could not be loaded";
}

#define JOB_ROWS                                                                                             \
    ARG("name", ARG_STR, ARG_REQUIRED, "The command, unless job has one"),                                   \
        ARG("timespec", ARG_ANY, ARG_REQUIRED, "When, as at(1) takes it"),                                   \
        ARG("tag", ARG_ANY, "null", "A word to find the job by"), ARG("user", ARG_ANY, "null", "Whose job"), \
        ARG("job", ARG_STR, "null", "The command"),                                                          \
        ARG("unique_tag", ARG_ANY, "false", "Add no job when there is one with the tag")

static const arg_t present_args[] = { JOB_ROWS, ARGS_END };
static const arg_t watch_args[] = { JOB_ROWS,
                                    ARG("sfun", ARG_ANY, "null", "The function of the state that watches"),
                                    ARG("__reqs__", ARG_ANY, "null", "Without effect"), ARGS_END };
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Words for the state"),
    ARG("jobid", ARG_ANY, "null", "The number of the one job to remove"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "hour, minute, day, month, year, tag, runas: only jobs that fit. Without any, "
        "all are removed",
        "hour minute day month year tag runas limit"),
    ARGS_END
};

static const func_t funcs[] = {
    { "absent", at_absent, absent_args, 0, "Ensure that jobs are not in the queue." },
    { "mod_watch", at_mod_watch, watch_args, 0,
      "Add the job because something watched has changed. Not to be called as a state." },
    { "present", at_present, present_args, 0, "Add a job to the queue." },
    { "watch", at_watch, present_args, 0, "Add a job when something watched has changed." },
};

PLUGIN(state, at, .doc = "Jobs that run once later", FUNCS(funcs), .unavailable = state_at_unavailable);
