/* state_control.c - execution module `state`: functions that steer runs: pause, resume, soft_kill, which a
 * run reads from a file before each state; enable and disable, kept in a grain; and the cache. The file of a
 * run's pauses is CACHEDIR/state_pause/JID (common/state); these functions write it from other jobs.
 * Functions that change it answer None. */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/plugin/call.h"
#include "common/state/run.h"
#include "plugins/lib/salt/statejob.h"
#include "plugins/lib/salt/stateopts.h"

/* ---- pauses -------------------------------------------------------------------------------- */

static const char *
state_control_cachedir(call_ctx_t *ctx)
{
    return value_str(ctx_opts(ctx), "cachedir", "");
}

/* Name of the pause: an ID, or the next state whichever it is. NEW. "__all__" is Salt's word for it. */
static char *
state_id(const json_t *args)
{
    const json_t *id = value_get(args, "state_id");

    return id == NULL || json_is_null(id) ? xstrdup("__all__") : value_pystr(id);
}

/* Says so when no state run of this jid is under way on this host: the pause stays for nobody. The file is
 * written all the same, as by Salt: the run may begin a moment later. */
static void
check_run(call_ctx_t *ctx, const char *jid)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *texts = statejob_running(ctx, &err);
    AUTO_FREE char *words = xasprintf(" jid %s", jid);
    json_t *text;
    size_t i;
    bool found = texts == NULL;

    json_array_foreach (texts, i, text)
        found = found || strstr(json_string_value(text), words) != NULL;
    if (!found)
        ctx_absent(ctx, "No state run with the jid %s is under way; 'state.running' lists those that are",
                   jid);
}

/* Add `more` (object, TAKES) to what is said about the state, which is paused by an empty one. Other states of
 * the run that are paused stay so. */
static int
change_pause(call_ctx_t *ctx, const json_t *args, json_t *more, fail_t *err)
{
    json_auto_t *said = more;
    AUTO_FREE char *jid = value_pystr(value_get(args, "jid")), *id = state_id(args);
    json_auto_t *pauses = state_pauses(state_control_cachedir(ctx), jid, err);
    json_t *entry = value_get(pauses, id);

    if (pauses == NULL)
        return -EIO;
    if (!json_is_object(entry)) {
        entry = json_object();
        json_object_set_new(pauses, id, entry);
    }
    json_object_update(entry, said);
    check_run(ctx, jid);
    return state_pauses_set(state_control_cachedir(ctx), jid, pauses, err);
}

/* With `duration` in seconds, the run goes on by itself afterwards. */
static int
state_control_state_pause(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *duration = value_get(args, "duration");

    return change_pause(ctx, args, json_pack("{s:O*}", "duration", value_truthy(duration) ? duration : NULL),
                        err);
}

/* The run ends before the state, whose return says who asked for it. What has run stays done; the states
 * behind it have no return, as in Salt. */
static int
state_control_state_soft_kill(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char now[CLOCK_STAMP_LEN];
    passwd_space_auto_t space = { 0 };
    const char *user = call_user(ctx);

    /* A job says whose it is; salt-call is run by its own user. */
    const struct passwd *self = *user == '\0' ? passwd_uid(&space, getuid()) : NULL;
    if (self != NULL)
        user = self->pw_name;
    clock_stamp(now, clock_wall_us());
    return change_pause(
        ctx, args,
        json_pack("{s:b, s:s*, s:s}", "kill", true, "user", *user != '\0' ? user : NULL, "time", now), err);
}

/* One state, or all of the run. */
static int
state_control_state_resume(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *jid = value_pystr(value_get(args, "jid")), *id = state_id(args);

    check_run(ctx, jid);
    /* Writes without reading first, so that an unreadable file is removed as well. */
    if (str_eq(id, "__all__"))
        return state_pauses_set(state_control_cachedir(ctx), jid, NULL, err);
    json_auto_t *pauses = state_pauses(state_control_cachedir(ctx), jid, err);
    if (pauses == NULL)
        return -EIO;
    json_object_del(pauses, id);
    return state_pauses_set(state_control_cachedir(ctx), jid, pauses, err);
}

/* Requested jids, or all of them. NEW list of texts, or NULL with *err. "All" are those that have a file. */
static json_t *
asked_jids(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *asked = value_get(args, "jid"), *out, *one;
    size_t i;

    if (asked == NULL || json_is_null(asked))
        return state_paused_jids(state_control_cachedir(ctx), err);
    json_auto_t *list = json_is_array(asked) ? json_incref(asked) : json_pack("[O]", asked);
    out = json_array();
    json_array_foreach (list, i, one) {
        AUTO_FREE char *jid = value_pystr(one);
        json_array_append_new(out, json_string(jid));
    }
    return out;
}

/* The file of a run that has ended otherwise than it should is taken away. {jid: {ID: {"duration": ...,
 * "kill": ...}}} of runs that are under way. */
static int
state_get_pauses(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *fun = json_pack("[s]", "state.*"), *jobs = NULL, *jids = asked_jids(ctx, args, err);
    json_auto_t *out = json_object();
    json_t *jid, *pauses;
    size_t i;

    if (jids == NULL || ctx_call(ctx, "saltutil.is_running", fun, NULL, &jobs, err) < 0)
        return -EIO;
    json_array_foreach (jids, i, jid) {
        const char *name = json_string_value(jid);
        if (!statejob_listed(jobs, name))
            (void) state_pauses_set(state_control_cachedir(ctx), name, NULL, NULL);
        else if ((pauses = state_pauses(state_control_cachedir(ctx), name, err)) != NULL)
            json_object_set_new(out, name, pauses);
        else
            return -EIO;
    }
    *ret_value = STEAL(out);
    return 0;
}

/* ---- enable and disable ---------------------------------------------------------------------- */

#define GRAIN "state_runs_disabled"

/* {"res", "msg"}, and the grain when it has changed. A name may be an SLS, "SLS.*" or highstate. One text has
 * a line for each; the grain is written once, and only when it differs. */
static int
state_set_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool disable = ctx_row(ctx)->data.number;
    json_t *kept = value_get(ctx_grains(ctx), GRAIN), *name;
    json_auto_t *names = stateopts_split(value_get(args, "states")), *done = NULL;
    json_auto_t *now = json_is_array(kept) ? json_copy(kept) : json_array();
    buf_auto_t text = BUF_INIT;
    bool changed = false;
    size_t i;

    json_array_foreach (names, i, name) {
        size_t at = 0;
        while (at < json_array_size(now) && !json_equal(json_array_get(now, at), name))
            at++;
        bool is = at < json_array_size(now);
        AUTO_FREE char *shown = value_pystr(name);
        buf_printf(&text, "%sInfo: %s state %s%s.", i > 0 ? "\n" : "", shown, is == disable ? "already " : "",
                   disable ? "disabled" : "enabled");
        changed = changed || is != disable;
        if (disable && !is)
            json_array_append(now, name);
        else if (!disable && is)
            json_array_remove(now, at);
    }
    json_auto_t *pair = json_pack("[s, O]", GRAIN, now);
    if (changed && ctx_call(ctx, "grains.setval", pair, NULL, &done, err) < 0)
        return -EIO;
    *ret_value = json_pack("{s:b, s:s}", "res", 1, "msg", buf_str(&text));
    return 0;
}

/* "" when nothing is disabled, as in Salt. */
static int
state_list_disabled(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *now = value_get(ctx_grains(ctx), GRAIN);

    *ret_value = now != NULL ? json_incref(now) : json_string("");
    return 0;
}

/* ---- the cache ----------------------------------------------------------------------------- */

/* Removes *.cache.p of the cache folder. Names of removed files are the return. */
static int
state_clear_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = json_array();
    char **names = NULL;
    int rc = fs_names(state_control_cachedir(ctx), &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(state_control_cachedir(ctx), names[i]);
        if (!str_ends(names[i], ".cache.p") || fs_is_dir(path))
            continue;
        if (unlink(path) == 0)
            json_array_append_new(out, json_string(names[i]));
        else if (errno != ENOENT)
            rc = fs_fail(err, -errno, "remove", path);
    }
    strv_free(names);
    if (rc == 0)
        *ret_value = json_incref(out);
    return rc;
}

/* ---- table --------------------------------------------------------------------------------- */

static const arg_t id_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The job of the run"),
    ARG("state_id", ARG_ANY, "null", "The ID before which it happens; none: the next one"),
    ARGS_END,
};
static const arg_t pause_args[] = {
    ARG("jid", ARG_ANY, ARG_REQUIRED, "The job of the run"),
    ARG("state_id", ARG_ANY, "null", "The ID before which it happens; none: the next one"),
    ARG("duration", ARG_INT, "null", "Seconds; none: until state.resume"),
    ARGS_END,
};
static const arg_t jid_args[] = {
    ARG("jid", ARG_ANY, "null", "A job, or a list of them; none: all"),
    ARGS_END,
};
static const arg_t states_args[] = {
    ARG("states", ARG_ANY, ARG_REQUIRED, "`highstate`, SLS or state functions, with commas or as a list"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "clear_cache", state_clear_cache, NULL, 0,
      "Remove the high data kept for ``cache=True``, and return the names of the files." CLI_EXAMPLE(
          "salt '*' state.clear_cache") },
    { "disable", state_set_disabled, states_args, 0,
      "Refuse state runs until state.enable." CLI_EXAMPLE(
          "salt '*' state.disable highstate\n    salt '*' state.disable "
          "highstate,test.succeed_without_changes"),
      .data.number = true },
    { "enable", state_set_disabled, states_args, 0,
      "Allow again what state.disable refuses." CLI_EXAMPLE("salt '*' state.enable highstate"),
      .data.number = false },
    { "get_pauses", state_get_pauses, jid_args, FN_READONLY,
      "The pauses of the runs that are under way." CLI_EXAMPLE("salt '*' state.get_pauses") },
    { "list_disabled", state_list_disabled, NULL, FN_READONLY,
      "What state.disable refuses." CLI_EXAMPLE("salt '*' state.list_disabled") },
    { "pause", state_control_state_pause, pause_args, 0,
      "Make a run wait before a state." CLI_EXAMPLE("salt '*' state.pause 20171130110407769519\n    salt '*' "
                                                    "state.pause 20171130110407769519 vim 20") },
    { "resume", state_control_state_resume, id_args, 0,
      "Let a run go on that state.pause holds." CLI_EXAMPLE(
          "salt '*' state.resume 20171130110407769519\n    salt '*' state.resume 20171130110407769519 vim") },
    { "rm_pause", state_control_state_resume, id_args, 0,
      "The old name of state.resume." CLI_EXAMPLE("salt '*' state.rm_pause 20171130110407769519") },
    { "soft_kill", state_control_state_soft_kill, id_args, 0,
      "End a run before a state, after what runs now." CLI_EXAMPLE(
          "salt '*' state.soft_kill 20171130110407769519\n    salt '*' state.soft_kill 20171130110407769519 "
          "vim") },
};

PLUGIN(exec, state_control, .provides = "state", .doc = "State runs, and what they are made from",
       FUNCS(funcs));
