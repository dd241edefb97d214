/* supervisord.c - state module `supervisord`: processes and groups ("NAME:") of supervisord that run, or do
 * not, by supervisorctl, whose words tell success: it ends with 0 all the same. `update` has supervisord read
 * its configuration and start what changed; without it a process that it does not know yet is added by reread
 * and add. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The process or group among those that supervisord has. */
typedef struct supervised {
    const char *kind; /* " group", " service", or "" for one that it does not have */
    bool there;
    bool stopped;     /* it, or one of the group, is down */
    size_t n, n_down; /* processes that the name means, and those that are down */
    buf_t down;       /* their names */
} supervised_t;

static bool
is_down(const char *state)
{
    static const char *const down[] = { "STOPPED", "STOPPING", "EXITED", "FATAL", "BACKOFF" };

    for (size_t i = 0; i < NELEMS(down); i++) {
        if (strcmp(down[i], state) == 0)
            return true;
    }
    return false;
}

/* Looks for the name among what supervisord.status says. The caller frees `down`. */
static supervised_t
supervised_of(const json_t *all, const char *name)
{
    bool group = str_ends(name, ":") && value_get(all, name) == NULL;
    supervised_t s = { .kind = "" };
    const char *process;
    json_t *one;

    json_object_foreach ((json_t *) all, process, one) {
        const char *state = value_str(one, "state", "");
        if (group ? !str_starts(process, name) : strcmp(process, name) != 0)
            continue;
        s.kind = group ? " group" : " service";
        s.there = true;
        s.n++;
        s.stopped = s.stopped || is_down(state);
        if (is_down(state))
            buf_printf(&s.down, "%s%s", s.n_down++ > 0 ? " " : "", process);
    }
    return s;
}

/* One of the module's functions for a process, or for all when `name` is NULL. NEW text, or NULL with *err. */
static char *
supervised_call(call_ctx_t *ctx, const json_t *args, const char *fun, const char *name, fail_t *err)
{
    json_auto_t *said = sub_call(ctx, err, fun, "{s:s*, s:O, s:O, s:O}", "name", name, "user",
                                 value_get(args, "user"), "conf_file", value_get(args, "conf_file"),
                                 "bin_env", value_get(args, "bin_env"));

    return said != NULL ? value_pystr(said) : NULL;
}

/* Salt's rule for what supervisorctl says: an error that means "it is so already" is none. */
static void
judge_answer(json_t *ret, const char *said, const char *comment)
{
    bool failed = strstr(said, "ERROR") != NULL && strstr(said, "already started") == NULL &&
                  strstr(said, "not running") == NULL && strstr(said, "process group already active") == NULL;

    state_ret_comment(ret, json_string(failed ? said : comment));
    if (failed)
        json_object_set_new(ret, "result", json_false());
}

/* Calls a function, judges what it says, and adds the comment to the changes. */
static int
step(call_ctx_t *ctx, const json_t *args, const char *fun, const char *name, const char *comment, json_t *ret,
     buf_t *changes, fail_t *err)
{
    AUTO_FREE char *said = supervised_call(ctx, args, fun, name, err);

    if (said == NULL)
        return err->code;
    judge_answer(ret, said, comment);
    buf_printf(changes, "%s%s", changes->len > 0 ? " " : "", comment);
    return 0;
}

/* What a run does with a process that is there or was added: nothing, a restart, or a start. */
static int
start_or_not(call_ctx_t *ctx, const json_t *args, const char *name, const supervised_t *s, bool updated,
             json_t *ret, buf_t *changes, fail_t *err)
{
    bool up = s->there && !s->stopped, again = up && value_truthy(value_get(args, "restart"));
    AUTO_FREE char *restarts = xasprintf("Restarting%s: %s", s->kind, name);
    AUTO_FREE char *starts = xasprintf("Starting%s: %s", s->kind, name);

    if (again && !updated)
        return step(ctx, args, "supervisord.restart", name, restarts, ret, changes, err);
    if (!up && !updated)
        return step(ctx, args, "supervisord.start", name, starts, ret, changes, err);
    if (up)
        state_ret_comment(
            ret, value_fmt("Not starting %s%s: %s", updated ? "updated" : "already running", s->kind, name));
    return 0;
}

/* Test mode: the sentence of Salt's, and the change that the run tells. With `update` supervisord decides. */
static void
supervisord_foretell(const json_t *args, const char *name, const supervised_t *s, json_t *ret)
{
    bool group = str_ends(name, ":"), again = value_truthy(value_get(args, "restart"));
    bool update = value_truthy(value_get(args, "update"));

    if (!s->there) {
        state_ret_set(ret, STATE_NONE, "%s%s%s will be added and started", group ? "Group '" : "Service ",
                      name, group ? "'" : "");
        state_change(ret, name,
                     update ? value_fmt("Starting: %s", name)
                            : value_fmt("Adding service: %s Starting: %s", name, name));
        return;
    }
    if (s->n_down == 0 && group)
        state_ret_set(ret, STATE_TRUE, "All services in group '%s' are already running", name);
    else if (s->n_down == 0)
        state_ret_set(ret, STATE_TRUE, "Service %s is already running", name);
    else if (!group)
        state_ret_set(ret, STATE_NONE, "Service %s will be started", name);
    else if (s->n_down == s->n)
        state_ret_set(ret, STATE_NONE, "All services in group '%s' will be started", name);
    else
        state_ret_set(ret, STATE_NONE, "The following services will be started: %s", buf_str(&s->down));
    if (s->stopped)
        state_change(ret, name, value_fmt("Starting%s: %s", s->kind, name));
    else if (again) {
        state_ret_set(ret, STATE_NONE, "%s%s%s will be restarted", group ? "Group '" : "Service ", name,
                      group ? "'" : "");
        state_change(ret, name, value_fmt("Restarting%s: %s", s->kind, name));
    }
}

/* What `update` or the adding of a new process does before it is started. *ret_updated: supervisord started
 * it anew. */
static int
bring_in(call_ctx_t *ctx, const json_t *args, const char *name, bool there, json_t *ret, buf_t *changes,
         bool *ret_updated, fail_t *err)
{
    AUTO_FREE char *adding = xasprintf("Adding service: %s", name), *mark = xasprintf("%s: updated", name);

    if (value_truthy(value_get(args, "update"))) {
        AUTO_FREE char *said = supervised_call(ctx, args, "supervisord.update", NULL, err);
        if (said == NULL)
            return err->code;
        judge_answer(ret, said, "Updating supervisor");
        *ret_updated = strstr(said, mark) != NULL;
        return 0;
    }
    if (there)
        return 0;
    AUTO_FREE char *read = supervised_call(ctx, args, "supervisord.reread", NULL, err);
    return read != NULL ? step(ctx, args, "supervisord.add", name, adding, ret, changes, err) : err->code;
}

/* The state's name: "web:*" is the group "web:". NEW. */
static char *
supervised_name(const json_t *args)
{
    char *name = xstrdup(value_str(args, "name", ""));

    if (str_ends(name, ":*"))
        name[strlen(name) - 1] = '\0';
    return name;
}

/* The processes that supervisord has. NEW, or NULL with *err. */
static json_t *
all_processes(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    return sub_call(ctx, err, "supervisord.status", "{s:O, s:O, s:O}", "user", value_get(args, "user"),
                    "conf_file", value_get(args, "conf_file"), "bin_env", value_get(args, "bin_env"));
}

/* The configuration is read anew before a program is started, as it may be new there. Changes are told only
 * when all steps succeeded. */
static int
supervisord_running(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *name = supervised_name(args);
    json_t *ret = *ret_value = state_ret(name);
    json_auto_t *all = all_processes(ctx, args, err);
    buf_auto_t changes = BUF_INIT;
    bool updated = false;
    int rc = 0;

    if (all == NULL)
        return err->code;
    supervised_t s = supervised_of(all, name);
    if (ctx_test(ctx))
        supervisord_foretell(args, name, &s, ret);
    else if ((rc = bring_in(ctx, args, name, s.there, ret, &changes, &updated, err)) == 0)
        rc = start_or_not(ctx, args, name, &s, updated, ret, &changes, err);
    if (rc == 0 && changes.len > 0 && json_is_true(value_get(ret, "result")))
        state_change(ret, name, json_string(buf_str(&changes)));
    buf_free(&s.down);
    return rc;
}

/* A program that supervisord does not know counts as dead. */
static int
supervisord_dead(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *stops = xasprintf("Stopping service: %s", name);
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *all = all_processes(ctx, args, err);
    buf_auto_t changes = BUF_INIT;

    if (all == NULL)
        return err->code;
    supervised_t s = supervised_of(all, name);
    buf_free(&s.down);
    if (!s.there)
        return state_ret_set(ret, STATE_TRUE, "Service %s doesn't exist", name);
    if (s.stopped)
        return state_ret_set(ret, STATE_TRUE, "Service %s is not running", name);
    if (ctx_test(ctx)) {
        state_change(ret, name, json_string(stops));
        return state_ret_set(ret, STATE_NONE, "Service %s is set to be stopped", name);
    }
    if (step(ctx, args, "supervisord.stop", name, stops, ret, &changes, err) < 0)
        return err->code;
    if (json_is_true(value_get(ret, "result")))
        state_change(ret, name, json_string(stops));
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The process; GROUP: or GROUP:* is a group")
#define REST_ROWS                                                                                            \
    ARG("user", ARG_STR, "null", "User to run supervisorctl as"),                                            \
        ARG("conf_file", ARG_STR, "null", "supervisord's configuration"),                                    \
        ARG("bin_env", ARG_STR, "null", "Path of supervisorctl, or of its virtual environment"),             \
        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE)
#define RUN_ROWS(restart)                                                                                    \
    NAME_ROW, ARG("restart", ARG_ANY, restart, "Restart what runs already"),                                 \
        ARG("update", ARG_ANY, "false", "Have supervisord take up changes of its configuration first"),      \
        REST_ROWS

static const arg_t running_args[] = { RUN_ROWS("false"), ARGS_END };
static const arg_t watch_args[] = { RUN_ROWS("true"), ARGS_END };
static const arg_t dead_args[] = { NAME_ROW, REST_ROWS, ARGS_END };

static const func_t funcs[] = {
    { "dead", supervisord_dead, dead_args, 0, "Ensure that a process does not run." },
    { "mod_watch", supervisord_running, watch_args, 0, "Restart a process, as what it watches has changed." },
    { "running", supervisord_running, running_args, 0, "Ensure that a process runs." },
};

PLUGIN(state, supervisord, .doc = "Processes of supervisord", FUNCS(funcs));
