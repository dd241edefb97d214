/* schedule.c - state module `schedule`: jobs of the minion's scheduler, by the functions of module
 * `schedule`. A job is compared with the item that the module would make of the keywords, so that defaults
 * are no difference; `offline` reads and changes the file of the minion alone. */
#include "common/base/str.h"
#include "plugins/lib/salt/scheduling.h"
#include "salt/state.h"
#include "salt/value.h"

/* Actions of the state: the function and the words that report it. A switch skips a job that is already `on`
 * or off. */
typedef struct deed {
    const char *fun, *verb, *where;
    bool is_switch, on;
} deed_t;

static const deed_t adding = { "schedule.add", "Adding new", "to", false, false };
static const deed_t modifying = { "schedule.modify", "Modifying", "in", false, false };
static const deed_t removing = { "schedule.delete", "Removed", "from", false, false };
static const deed_t enabling = { "schedule.enable_job", "Enabled", "from", true, true };
static const deed_t disabling = { "schedule.disable_job", "Disabled", "from", true, false };

/* The comment of a job that was changed, or is switched already. */
static int
state_schedule_say(json_t *ret, const deed_t *deed, const json_t *args)
{
    return state_ret_set(ret, STATE_TRUE, "%s job %s %s schedule", deed->verb, value_str(args, "name", ""),
                         deed->where);
}

/* Does it to the state's job, and takes the function's changes, and in test mode its comment. */
static int
state_schedule_apply(call_ctx_t *ctx, const json_t *args, const deed_t *deed, json_t *ret, fail_t *err)
{
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs")),
                *names = json_pack("[O]", value_get(args, "name")), *answer = NULL;
    bool test = ctx_test(ctx);

    if (test)
        json_object_set_new(kwargs, "test", json_true());
    if (ctx_call(ctx, deed->fun, names, kwargs, &answer, err) < 0)
        return -EIO;
    bool good = value_bool(answer, "result", false);
    if (value_get(answer, "changes") != NULL)
        json_object_set(ret, "changes", value_get(answer, "changes"));
    const char *comment = value_str(answer, "comment", "");
    if (good && !test)
        return state_schedule_say(ret, deed, args);
    return state_ret_set(ret, !good ? STATE_FALSE : STATE_NONE, "%s", comment);
}

/* *ret_job BORROWED from *ret_all, which is NEW; NULL: there is no such job. */
static int
state_schedule_find(call_ctx_t *ctx, const json_t *args, json_t **ret_all, json_t **ret_job, fail_t *err)
{
    const scheduling_list_t how = { .show_all = true,
                                    .offline = value_bool(value_get(args, "kwargs"), "offline", false) };

    *ret_all = scheduling_list(ctx, &how, err);
    *ret_job = value_get(*ret_all, value_str(args, "name", ""));
    return *ret_all ? 0 : err->code;
}

/* Jobs are compared as the schedule has them: the keywords of the SLS go through the same function that
 * schedule.add uses. */
static int
schedule_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *ret = state_ret_args(args), *all = NULL;
    json_t *job = NULL;
    int rc = state_schedule_find(ctx, args, &all, &job, err);

    /* A new job is added, and schedule.add judges it; one that is there is compared with the item of the keywords. */
    json_auto_t *wanted = job != NULL ? scheduling_item(name, value_get(args, "kwargs"), err) : NULL;
    if (rc == 0 && job == NULL)
        rc = state_schedule_apply(ctx, args, &adding, ret, err);
    else if (rc == 0 && wanted == NULL)
        rc = err->code;
    else if (rc == 0 && scheduling_refused(wanted))
        rc = state_ret_set(ret, STATE_FALSE, "%s", value_str(wanted, "comment", ""));
    else if (rc == 0 && json_equal(wanted, job))
        rc = state_ret_set(ret, STATE_TRUE, "Job %s in correct state", name);
    else if (rc == 0)
        rc = state_schedule_apply(ctx, args, &modifying, ret, err);
    *ret_value = rc == 0 ? json_incref(ret) : NULL;
    return rc;
}

/* absent, enabled and disabled leave alone what is not there. */
static int
schedule_with_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const deed_t *deed = ctx_row(ctx)->data.ptr;
    json_auto_t *ret = state_ret_args(args), *all = NULL;
    json_t *job = NULL;
    int rc = state_schedule_find(ctx, args, &all, &job, err);

    if (rc == 0 && job == NULL)
        rc = state_ret_set(ret, STATE_TRUE, "Job %s not present in schedule", value_str(args, "name", ""));
    else if (rc == 0 && deed->is_switch && value_bool(job, "enabled", true) == deed->on)
        rc = state_schedule_say(ret, deed, args);
    else if (rc == 0)
        rc = state_schedule_apply(ctx, args, deed, ret, err);
    *ret_value = rc == 0 ? json_incref(ret) : NULL;
    return rc;
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "function, job_args, job_kwargs, seconds, minutes, hours, days, when, cron, once, once_fmt, splay, "
        "range, skip_during_range, run_after_skip_range, run_on_start, maxrunning, enabled, after, until, "
        "return_job, metadata, jid_include; and persist, offline",
        "function job_args job_kwargs seconds minutes hours days when cron once once_fmt splay range skip_during_range "
        "run_after_skip_range run_on_start maxrunning enabled after until return_job metadata jid_include persist "
        "offline skip_function returner return_config return_kwargs"),
    ARGS_END,
};
static const arg_t other_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "persist=False: not kept in _schedule.conf; offline=True: change only that file", "persist offline"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "absent", schedule_with_job, other_args, 0, "A job is not in the schedule.", .data.ptr = &removing },
    { "disabled", schedule_with_job, other_args, 0, "A job of the schedule does not run.",
      .data.ptr = &disabling },
    { "enabled", schedule_with_job, other_args, 0, "A job of the schedule runs.", .data.ptr = &enabling },
    { "present", schedule_present, present_args, 0, "A job is in the schedule, as described." },
};

PLUGIN(state, schedule, .doc = "Jobs of the minion's scheduler", FUNCS(funcs));
