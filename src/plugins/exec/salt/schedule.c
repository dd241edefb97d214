/* schedule.c - execution module `schedule`: shows and changes the minion's scheduler. The scheduler lives in
 * the minion's main process; this module asks it by scheduling.h, or edits _schedule.conf with offline=True.
 * Refusals are answers {comment, result: False}, as in Salt, not exceptions. */
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/plugin/call.h"
#include "common/schedule/moment.h"
#include "common/schedule/schedule.h"
#include "common/schedule/schedule_file.h"
#include "plugins/lib/salt/inorder.h"
#include "plugins/lib/salt/scheduling.h"
#include "salt/value.h"

/* ---- what functions share --------------------------------------------------------------------- */

static const char *
exec_schedule_name_of(const json_t *args)
{
    return value_str(args, "name", "");
}

/* A boolean among the further keywords (test, offline). */
static bool
flag(const json_t *args, const char *key)
{
    return value_bool(value_get(args, "kwargs"), key, false);
}

/* test=True of the call, or of the job as a whole. */
static bool
is_test(call_ctx_t *ctx, const json_t *args)
{
    return flag(args, "test") || ctx_test(ctx);
}

/* Changes are written to _schedule.conf unless persist=False. */
static bool
persists(const json_t *args)
{
    return value_bool(value_get(args, "kwargs"), "persist", true);
}

/* `format` with the name where it has {}. NEW. Salt's texts have {} for the name. */
static json_t *
phrase(const char *format, const char *name)
{
    const char *at = strstr(format, "{}");

    return at != NULL ? value_fmt("%.*s%s%s", (int) (at - format), format, name, at + 2)
                      : json_string(format);
}

/* NEW {comment, changes, result}. */
static json_t *
exec_schedule_answer(bool result, const char *format, const char *name)
{
    return json_pack("{s:{}, s:b, s:o}", "changes", "result", result, "comment", phrase(format, name));
}

/* The same for a change that was made. */
static json_t *
exec_schedule_changed(const char *format, const char *name, const char *what)
{
    json_t *ret = exec_schedule_answer(true, format, name);

    json_object_set_new(value_get(ret, "changes"), name, json_string(what));
    return ret;
}

/* All jobs of the scheduler or, offline, of its file. NEW, or NULL with *err. Disabled jobs and internal ones
 * (__mine_interval) too: a name that is taken is taken. */
static json_t *
whole_list(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const scheduling_list_t how = { .show_all = true, .offline = flag(args, "offline") };

    return scheduling_list(ctx, &how, err);
}

/* ---- seeing ----------------------------------------------------------------------------------- */

/* YAML text with "saved" for each job, or the dict itself. `where` opts or pillar narrows it to jobs of that
 * origin. Whether a job is saved is read from the file, since the scheduler does not know. */
static int
schedule_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const scheduling_list_t how = { .show_all = value_bool(args, "show_all", false),
                                    .hide_disabled = !value_bool(args, "show_disabled", true),
                                    .offline = value_bool(args, "offline", false),
                                    .where = value_str(args, "where", NULL) };
    json_auto_t *all = scheduling_list(ctx, &how, err);
    const char *name;
    json_t *v;

    if (all == NULL)
        return err->code;
    if (!value_bool(args, "return_yaml", true)) {
        *ret_value = json_incref(all);
        return 0;
    }
    json_auto_t *saved = schedule_file_load(ctx_opts(ctx), err);
    if (saved == NULL)
        return err->code;
    json_object_foreach (all, name, v)
        if (json_is_object(v))
            json_object_set_new(v, "saved", json_boolean(value_get(saved, name) != NULL));
    json_auto_t *whole = json_pack("{s:O}", "schedule", all);
    json_auto_t *sorted = inorder(whole);
    AUTO_FREE char *text = yaml_dump(sorted, 0);
    *ret_value = json_string(text);
    return 0;
}

/* With a name the job itself, {} when missing; without one the scheduler's switch. */
static int
schedule_is_enabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const scheduling_list_t how = { 0 };
    json_auto_t *all = scheduling_list(ctx, &how, err);
    const char *name = exec_schedule_name_of(args);

    if (all == NULL)
        return err->code;
    json_t *v = value_get(all, *name ? name : "enabled");
    *ret_value = v != NULL ? json_incref(v) : *name ? json_object() : json_true();
    return 0;
}

/* Members with an underscore (_next_fire_time) are the scheduler's. NEW, {} for an unknown job. */
static json_t *
exec_schedule_status(call_ctx_t *ctx, const char *name, const char *format, fail_t *err)
{
    return scheduling_ask(ctx, json_pack("{s:s, s:s, s:s}", "do", "status", "name", name, "time_fmt", format),
                          err);
}

static int
schedule_job_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = exec_schedule_status(ctx, exec_schedule_name_of(args),
                                      value_str(args, "time_fmt", SCHEDULE_FORMAT), err);
    return *ret_value ? 0 : err->code;
}

/* None for a job that will not fire. */
static int
schedule_show_next_fire_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *job = exec_schedule_status(ctx, exec_schedule_name_of(args), SCHEDULE_FORMAT, err);

    if (job == NULL)
        return err->code;
    json_t *next = value_get(job, "_next_fire_time");
    if (json_object_size(job) == 0)
        ctx_absent(ctx, "The schedule has no job '%s'; 'schedule.list' lists its jobs",
                   exec_schedule_name_of(args));
    *ret_value = json_pack("{s:b, s:o}", "result", true, "next_fire_time",
                           next != NULL ? json_incref(next) : json_null());
    return 0;
}

/* ---- changing jobs ---------------------------------------------------------------------------- */

/* Sets or (`item` NULL) deletes a job, in the scheduler or in its file. A job that a peer's arguments shaped
 * is marked (SCHEDULE_PEER), so that its runs are treated as that peer's. NEW schedule afterwards; NULL with
 * *err. Offline the checks are those that the scheduler would make. */
static json_t *
exec_schedule_put(call_ctx_t *ctx, const json_t *args, const char *name, json_t *item, fail_t *err)
{
    if (item != NULL && call_has_peer_args(ctx))
        json_object_set_new(item, SCHEDULE_PEER, json_true());
    if (!flag(args, "offline"))
        return scheduling_ask(ctx,
                              json_pack("{s:s, s:s, s:O*, s:b}", "do", item != NULL ? "set" : "delete",
                                        "name", name, "schedule", item, "persist", persists(args)),
                              err);
    AUTO_FREE char *why = item != NULL ? schedule_check(name, item, NULL) : NULL;
    if (why != NULL)
        return (void) fail_set(err, -EINVAL, "%s", why), NULL;
    json_auto_t *all = schedule_file_load(ctx_opts(ctx), err);
    if (all != NULL && item != NULL)
        json_object_set(all, name, item);
    else if (all != NULL)
        json_object_del(all, name);
    return all != NULL && schedule_file_save(ctx_opts(ctx), all, err) == 0 ? json_incref(all) : NULL;
}

/* A refusal by the scheduler is an answer, not an error. */
static int
exec_schedule_refused(json_t **ret_value, fail_t *err)
{
    *ret_value = exec_schedule_answer(false, "{}", fail_text(err));
    fail_clear(err);
    return 0;
}

/* Only what schedule.add would set; nothing is asked of the scheduler. */
static int
schedule_build_schedule_item(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = scheduling_item(exec_schedule_name_of(args), value_get(args, "kwargs"), err);
    return *ret_value ? 0 : err->code;
}

/* The job is looked for again afterwards, as the minion may have refused it. An existing job is left alone:
 * schedule.modify changes it. */
static int
schedule_add(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = exec_schedule_name_of(args);
    json_auto_t *all = whole_list(ctx, args, err);

    if (all == NULL)
        return err->code;
    if (value_get(all, name) != NULL) {
        *ret_value = exec_schedule_answer(false, "Job {} already exists in schedule.", name);
        return 0;
    }
    json_auto_t *item = scheduling_item(name, value_get(args, "kwargs"), err);
    if (item == NULL)
        return err->code;
    /* Contradictions among the keywords are answers with Salt's texts. */
    if (scheduling_refused(item)) {
        *ret_value = exec_schedule_answer(false, "{}", value_str(item, "comment", ""));
        return 0;
    }
    if (is_test(ctx, args)) {
        *ret_value = exec_schedule_changed("Job: {} would be added to schedule.", name, "added");
        return 0;
    }
    json_auto_t *after = exec_schedule_put(ctx, args, name, item, err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = value_get(after, name) != NULL
                     ? exec_schedule_changed("Added job: {} to schedule.", name, "added")
                     : exec_schedule_answer(false, "Failed to add job {} to schedule.", name);
    return 0;
}

/* Compares before it writes; unchanged jobs are reported as correct. The function of the present job is kept
 * when none is given. Other members that are not given go: the job is built anew from the keywords. */
static int
schedule_modify(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = exec_schedule_name_of(args);
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs"));
    json_auto_t *all = whole_list(ctx, args, err);
    json_t *now = value_get(all, name);

    if (all == NULL)
        return err->code;
    if (now == NULL) {
        *ret_value = exec_schedule_answer(false, "Job {} does not exist in schedule.", name);
        return 0;
    }
    if (value_get(kwargs, "function") == NULL)
        json_object_set_new(kwargs, "function", json_string(value_str(now, "function", "")));
    json_auto_t *item = scheduling_item(name, kwargs, err);
    if (item == NULL)
        return err->code;
    if (scheduling_refused(item)) {
        *ret_value = exec_schedule_answer(false, "{}", value_str(item, "comment", ""));
        return 0;
    }
    if (json_equal(item, now)) {
        *ret_value = exec_schedule_answer(true, "Job {} in correct state", name);
        return 0;
    }
    bool test = is_test(ctx, args);
    json_auto_t *after = test ? json_object() : exec_schedule_put(ctx, args, name, item, err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = exec_schedule_answer(
        true, test ? "Job: {} would be modified in schedule." : "Modified job: {} in schedule.", name);
    json_object_set_new(value_get(*ret_value, "changes"), name,
                        json_pack("{s:O, s:O}", "old", now, "new", item));
    return 0;
}

/* With test=True a job that is not there is told as one that would be deleted: Salt tests that first. */
static int
schedule_delete(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = exec_schedule_name_of(args);
    json_auto_t *all = whole_list(ctx, args, err);

    if (all == NULL)
        return err->code;
    if (is_test(ctx, args)) {
        *ret_value = exec_schedule_changed("Job: {} would be deleted from schedule.", name, "removed");
        return 0;
    }
    if (value_get(all, name) == NULL) {
        *ret_value = exec_schedule_answer(false, "Job {} does not exist.", name);
        return 0;
    }
    /* Deleting is a request like setting: the scheduler's answer is the list as it is afterwards, and only a
     * name that is gone from it counts as deleted. */
    json_auto_t *after = exec_schedule_put(ctx, args, name, NULL, err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = value_get(after, name) != NULL
                     ? exec_schedule_answer(false, "Failed to delete job {} from schedule.", name)
                     : exec_schedule_changed("Deleted Job {} from schedule.", name, "removed");
    return 0;
}

/* Purges one job and appends its line to the comments. */
static int
purge_one(call_ctx_t *ctx, json_t *args, const char *name, json_t *ret, fail_t *err)
{
    static const char *const lines[] = { "Job: {} would be deleted from schedule.",
                                         "Deleted job: {} from schedule.",
                                         "Failed to delete job {} from schedule." };
    bool test = is_test(ctx, args);
    json_auto_t *after = test ? json_object() : exec_schedule_put(ctx, args, name, NULL, err);

    if (after == NULL)
        return err->code;
    bool gone = value_get(after, name) == NULL;
    json_array_append_new(value_get(ret, "comment"), phrase(lines[test ? 0 : gone ? 1 : 2], name));
    if (gone)
        json_object_set_new(value_get(ret, "changes"), name, json_string("removed"));
    return 0;
}

/* Deletes all jobs but internal ones (names that begin with "__") and settings. */
static int
schedule_purge(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = whole_list(ctx, args, err);
    json_auto_t *ret = json_pack("{s:[], s:{}, s:b}", "comment", "changes", "result", true);
    const char *name;
    json_t *v;
    int rc = all != NULL ? 0 : err->code;

    json_object_foreach (all, name, v) {
        if (rc == 0 && json_is_object(v) && !str_starts(name, "__") && !str_eq(name, "skip_during_range"))
            rc = purge_one(ctx, args, name, ret, err);
    }
    *ret_value = rc == 0 ? json_incref(ret) : NULL;
    return rc;
}

/* ---- switching -------------------------------------------------------------------------------- */

/* Enables or disables, as the row says. The scheduler's answer is looked at, as a job of the pillar may
 * refuse. */
static int
schedule_switch_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool on = ctx_row(ctx)->data.number;
    const char *name = exec_schedule_name_of(args);
    json_auto_t *all = whole_list(ctx, args, err);

    if (all == NULL)
        return err->code;
    if (is_test(ctx, args)) {
        *ret_value = exec_schedule_changed(on ? "Job: {} would be enabled in schedule."
                                              : "Job: {} would be disabled in schedule.",
                                           name, on ? "enabled" : "disabled");
        return 0;
    }
    if (value_get(all, name) == NULL) {
        *ret_value = exec_schedule_answer(false, "Job {} does not exist.", name);
        return 0;
    }
    json_auto_t *after = scheduling_ask(ctx,
                                        json_pack("{s:s, s:s, s:b, s:b}", "do", "enable_job", "name", name,
                                                  "enabled", on, "persist", persists(args)),
                                        err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    if (value_bool(value_get(after, name), "enabled", true) != on)
        *ret_value = exec_schedule_answer(
            false, on ? "Failed to enable job {} in schedule." : "Failed to disable job {} in schedule.",
            name);
    else
        *ret_value = exec_schedule_changed(on ? "Enabled Job {} in schedule."
                                              : "Disabled Job {} in schedule.",
                                           name, on ? "enabled" : "disabled");
    return 0;
}

/* The scheduler as a whole; each job keeps its own switch. */
static int
schedule_switch_all(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool on = ctx_row(ctx)->data.number;
    if (is_test(ctx, args)) {
        *ret_value = exec_schedule_answer(
            true, on ? "Schedule would be enabled." : "Schedule would be disabled.", "");
        return 0;
    }
    json_auto_t *after = scheduling_ask(
        ctx, json_pack("{s:s, s:b, s:b}", "do", "enable", "enabled", on, "persist", persists(args)), err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = exec_schedule_changed(on ? "Enabled schedule on minion." : "Disabled schedule on minion.",
                                       "schedule", on ? "enabled" : "disabled");
    return 0;
}

/* ---- out of turn ------------------------------------------------------------------------------ */

/* NEW {comment, result}, as the functions below answer. */
static json_t *
exec_schedule_said(bool result, const char *format, const char *name)
{
    json_t *ret = exec_schedule_answer(result, format, name);

    json_object_del(ret, "changes");
    return ret;
}

/* The job runs once, beside its times. A disabled one needs `force`, and the refusal counts as a success, as
 * by Salt. */
static int
schedule_run_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = exec_schedule_name_of(args);
    json_auto_t *all = whole_list(ctx, args, err);
    json_t *job = value_get(all, name);

    if (all == NULL)
        return err->code;
    if (!json_is_object(job)) {
        *ret_value = exec_schedule_said(false, "Job {} does not exist.", name);
        return 0;
    }
    if (!value_bool(job, "enabled", true) && !value_bool(args, "force", false)) {
        *ret_value = exec_schedule_said(true, "Job {} is disabled.", name);
        return 0;
    }
    json_auto_t *after = scheduling_ask(ctx, json_pack("{s:s, s:s}", "do", "run_job", "name", name), err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = exec_schedule_said(true, "Scheduling Job {} on minion.", name);
    return 0;
}

/* skip_job and postpone_job: `times` are the arguments that must be times. `request` is TAKEN. Times are
 * checked here, since the scheduler's refusal would not say which. `times[0]` is the run that is meant. */
static int
move_time(call_ctx_t *ctx, json_t *args, json_t *request, const char *const times[2], const char *done,
          json_t **ret_value, fail_t *err)
{
    json_auto_t *asked = request;
    const char *name = exec_schedule_name_of(args),
               *format = value_str(value_get(args, "kwargs"), "time_fmt", SCHEDULE_FORMAT);
    json_auto_t *all = whole_list(ctx, args, err);
    int64_t us;

    if (all == NULL)
        return err->code;
    for (size_t i = 0; i < 2; i++)
        if (times[i] != NULL && !moment_format(times[i], format, &us)) {
            *ret_value = exec_schedule_said(false, "Date string could not be parsed.", "");
            return 0;
        }
    if (value_get(all, name) == NULL) {
        *ret_value = exec_schedule_said(false, "Job {} does not exist.", name);
        return 0;
    }
    json_object_set_new(asked, "name", json_string(name));
    json_object_set_new(asked, "time", json_string(times[0]));
    json_object_set_new(asked, "time_fmt", json_string(format));
    json_auto_t *after = ctx_test(ctx) ? json_object() : scheduling_ask(ctx, STEAL(asked), err);
    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = exec_schedule_said(true, done, name);
    return 0;
}

/* The run at `current_time` is left out. */
static int
schedule_skip_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *const times[2] = { value_str(args, "current_time", "") };

    return move_time(ctx, args, json_pack("{s:s}", "do", "skip_job"), times,
                     ctx_test(ctx) ? "Job: {} would be skipped in schedule."
                                   : "Added Skip Job {} in schedule.",
                     ret_value, err);
}

/* The run at `current_time` takes place at `new_time`. */
static int
schedule_postpone_job(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *const times[2] = { value_str(args, "current_time", ""), value_str(args, "new_time", "") };

    return move_time(ctx, args, json_pack("{s:s, s:s}", "do", "postpone_job", "new_time", times[1]), times,
                     ctx_test(ctx) ? "Job: {} would be postponed in schedule."
                                   : "Postponed Job {} in schedule.",
                     ret_value, err);
}

/* ---- keeping ---------------------------------------------------------------------------------- */

/* Jobs of the pillar are left out: the next refresh brings them again. */
static int
schedule_save(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool test = is_test(ctx, args);
    json_auto_t *after = test ? json_object() : scheduling_ask(ctx, json_pack("{s:s}", "do", "save"), err);

    if (after == NULL)
        return exec_schedule_refused(ret_value, err);
    *ret_value = exec_schedule_said(
        true, test ? "Schedule would be saved." : "Schedule (non-pillar items) saved.", "");
    return 0;
}

/* Takes the pillar's schedule by a pillar refresh event and the file's by a request to the scheduler. An
 * empty file changes nothing, and a minion without either answers with an empty list. */
static int
schedule_reload(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_pack("{s:[], s:b}", "comment", "result", true);
    json_t *comment = value_get(ret, "comment"), *done = NULL;
    json_auto_t *saved = schedule_file_load(ctx_opts(ctx), err);

    if (saved == NULL)
        return err->code;
    if (value_get(ctx_pillar(ctx), "schedule") != NULL) {
        json_auto_t *request = json_pack("{s:s, s:s, s:{}}", "op", "event", "tag", "pillar_refresh", "data");
        if (ctx_host(ctx, request, &done, err) < 0)
            return err->code;
        json_decref(done);
        json_array_append_new(comment, json_string("Reloaded schedule from pillar on minion."));
    }
    if (json_object_size(saved) > 0) {
        json_auto_t *after = scheduling_ask(ctx, json_pack("{s:s, s:O}", "do", "reload", "schedule", saved),
                                            err);
        if (after == NULL)
            return err->code;
        json_array_append_new(comment, json_string("Reloaded schedule on minion from schedule.conf."));
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define MORE                                                                                                 \
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,                                                                    \
        "test=True: only say what would be done; persist=False: not kept in "                                \
        "_schedule.conf; offline=True: change only that file")

static const arg_t list_args[] = {
    ARG("show_all", ARG_BOOL, "false", "Jobs whose names begin with __ too"),
    ARG("show_disabled", ARG_BOOL, "true", "Disabled jobs too"),
    ARG("where", ARG_ANY, "null", "opts or pillar: only jobs from there"),
    ARG("return_yaml", ARG_BOOL, "true", "As YAML text, with `saved`"),
    ARG("offline", ARG_BOOL, "false", "What _schedule.conf holds"),
    ARGS_END,
};
static const arg_t is_enabled_args[] = {
    ARG("name", ARG_ANY, "null", "The job's name; none: the schedule"),
    ARGS_END,
};
static const arg_t name_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    MORE,
    ARGS_END,
};
static const arg_t item_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR,
        "function, job_args, job_kwargs, seconds, minutes, hours, days, when, cron, once, once_fmt, splay, "
        "range, skip_during_range, run_after_skip_range, run_on_start, maxrunning, enabled, after, until, "
        "return_job, metadata, jid_include; and test, persist, offline"),
    ARGS_END,
};
static const arg_t only_more_args[] = { MORE, ARGS_END };
static const arg_t run_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("force", ARG_BOOL, "false", "Run it although it is disabled"),
    ARGS_END,
};
static const arg_t skip_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("current_time", ARG_STR, ARG_REQUIRED, "When it is not to run, in local time"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "time_fmt: strptime's format of times, else %Y-%m-%dT%H:%M:%S"),
    ARGS_END,
};
static const arg_t postpone_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("current_time", ARG_STR, ARG_REQUIRED, "When it is not to run, in local time"),
    ARG("new_time", ARG_STR, ARG_REQUIRED, "When it is to run instead"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "time_fmt: strptime's format of times, else %Y-%m-%dT%H:%M:%S"),
    ARGS_END,
};
static const arg_t status_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The job's name"),
    ARG("time_fmt", ARG_STR, "\"%Y-%m-%dT%H:%M:%S\"", "strftime's format of times"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "add", schedule_add, item_args, FN_CALLS,
      "Add a job to the schedule." CLI_EXAMPLE(
          "salt '*' schedule.add job1 function='test.ping' seconds=3600\n    salt '*' "
          "schedule.add job2 function='cmd.run' job_args=\"['date']\" cron='0 4 * * *'") },
    { "build_schedule_item", schedule_build_schedule_item, item_args, FN_READONLY | FN_CALLS,
      "Return a job as the schedule would have it." CLI_EXAMPLE(
          "salt '*' schedule.build_schedule_item job1 function='test.ping' seconds=3600") },
    { "delete", schedule_delete, name_args, 0,
      "Delete a job from the schedule." CLI_EXAMPLE("salt '*' schedule.delete job1") },
    { "disable", schedule_switch_all, only_more_args, 0,
      "No job of the schedule runs any more." CLI_EXAMPLE("salt '*' schedule.disable"),
      .data.number = false },
    { "disable_job", schedule_switch_job, name_args, 0,
      "A job does not run any more." CLI_EXAMPLE("salt '*' schedule.disable_job job1"),
      .data.number = false },
    { "enable", schedule_switch_all, only_more_args, 0,
      "Jobs of the schedule run again." CLI_EXAMPLE("salt '*' schedule.enable"), .data.number = true },
    { "enable_job", schedule_switch_job, name_args, 0,
      "A job runs again." CLI_EXAMPLE("salt '*' schedule.enable_job job1"), .data.number = true },
    { "is_enabled", schedule_is_enabled, is_enabled_args, FN_READONLY,
      "Return a job, or whether the schedule is enabled." CLI_EXAMPLE(
          "salt '*' schedule.is_enabled name=job_name\n    salt '*' schedule.is_enabled"),
      ABSENT("name", "The schedule has no job '{}'; 'schedule.list' lists its jobs") },
    { "job_status", schedule_job_status, status_args, FN_READONLY | FN_PEER,
      "Return a job with its times: _next_fire_time, _last_run, and _skip_reason of the last time it did not "
      "run." CLI_EXAMPLE("salt '*' schedule.job_status job_name"),
      ABSENT("name", "The schedule has no job '{}'; 'schedule.list' lists its jobs") },
    { "list", schedule_list, list_args, FN_READONLY | FN_PEER,
      "List the jobs of the schedule." CLI_EXAMPLE(
          "salt '*' schedule.list\n    salt '*' schedule.list show_all=True") },
    { "modify", schedule_modify, item_args, FN_CALLS,
      "Replace a job of the schedule; its function stays if none is given." CLI_EXAMPLE(
          "salt '*' schedule.modify job1 function='test.ping' seconds=3600") },
    { "postpone_job", schedule_postpone_job, postpone_args, 0,
      "Run a job at another time, once." CLI_EXAMPLE(
          "salt '*' schedule.postpone_job job1 2026-11-20T17:00:00 2026-11-20T18:00:00") },
    { "purge", schedule_purge, only_more_args, 0,
      "Delete all jobs from the schedule." CLI_EXAMPLE("salt '*' schedule.purge") },
    { "reload", schedule_reload, NULL, 0,
      "Take over _schedule.conf, and the pillar's schedule." CLI_EXAMPLE("salt '*' schedule.reload") },
    { "run_job", schedule_run_job, run_args, 0,
      "Run a job of the schedule now." CLI_EXAMPLE(
          "salt '*' schedule.run_job job1\n    salt '*' schedule.run_job job1 "
          "force=True") },
    { "save", schedule_save, only_more_args, 0,
      "Keep the schedule in _schedule.conf." CLI_EXAMPLE("salt '*' schedule.save") },
    { "show_next_fire_time", schedule_show_next_fire_time, name_args, FN_READONLY | FN_PEER,
      "Say when a job runs next." CLI_EXAMPLE("salt '*' schedule.show_next_fire_time job_name") },
    { "skip_job", schedule_skip_job, skip_args, 0,
      "Let a job not run at a certain time." CLI_EXAMPLE(
          "salt '*' schedule.skip_job job1 2026-11-20T17:00:00") },
};

PLUGIN(exec, schedule, .doc = "The minion's scheduler", FUNCS(funcs));
