/* incron.c - state module `incron`: entries of tables of incron (incrontab(5): path, events, command). An
 * entry is known by path and command; other events make it another state of it, "updated". */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/system/incrontab.h"
#include "salt/state.h"

/* The function's arguments of the state's; a command's line break at its end is YAML's. NEW. */
static json_t *
incron_job_args(const json_t *args)
{
    json_t *given = value_get(args, "mask");
    AUTO_FREE char *cmd = value_pystr(value_get(args, "cmd"));
    AUTO_FREE char *mask = value_joined(given, ",");
    size_t n = strlen(cmd);

    if (n > 0 && cmd[n - 1] == '\n')
        cmd[n - 1] = '\0';
    return json_pack("{s:O, s:O, s:s, s:s}", "user", value_get(args, "user"), "path", value_get(args, "path"),
                     "mask", mask, "cmd", cmd);
}

/* Salt's words for a job that incron does not take. */
static int
bad_job(json_t *ret, const json_t *job, const char *said)
{
    return state_ret_set(ret, STATE_FALSE, "Incron %s for user %s failed to commit with error \n%s",
                         value_str(ret, "name", ""), value_str(job, "user", ""), said);
}

/* How the table agrees with the job; negative with *err. */
static int
job_look(call_ctx_t *ctx, const json_t *job, fail_t *err)
{
    json_auto_t *tab = sub_call(ctx, err, "incron.list_tab", "{s:O}", "user", value_get(job, "user"));
    AUTO_FREE char *mask = incrontab_mask(value_str(job, "mask", ""));

    return tab == NULL
               ? err->code
               : (int) incrontab_look(tab, value_str(job, "path", ""), mask, value_str(job, "cmd", ""));
}

/* The answer of the function that changes the table; NULL with *err. NEW. */
static json_t *
change_job(call_ctx_t *ctx, const char *fun, json_t *job, fail_t *err)
{
    json_t *said = NULL;

    return ctx_call(ctx, fun, NULL, job, &said, err) == 0 ? said : NULL;
}

/* A mask with an unknown event is refused before the table is read. */
static int
incron_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *user = value_str(args, "user", "");
    json_auto_t *job = incron_job_args(args);
    AUTO_FREE char *mask = incrontab_mask(value_str(job, "mask", "")), *bad = incrontab_bad_event(mask);
    AUTO_FREE char *why = xasprintf("Invalid mask type: %s", bad != NULL ? bad : "");

    if (bad != NULL)
        return bad_job(ret, job, why);
    int match = job_look(ctx, job, err);
    if (match < 0)
        return match;
    if (match == INCRONTAB_PRESENT)
        return state_ret_set(ret, STATE_TRUE, "Incron %s already present", name);
    if (ctx_test(ctx)) {
        state_change(ret, user, json_string(name));
        return state_ret_set(ret, STATE_NONE, "Incron %s is set to be %s", name,
                             match == INCRONTAB_ABSENT ? "added" : "updated");
    }
    json_auto_t *said = change_job(ctx, "incron.set_job", job, err);
    const char *word = json_string_value(said);
    if (said == NULL)
        return err->code;
    if (!str_eq(word, "new") && !str_eq(word, "updated"))
        return bad_job(ret, job, word);
    state_change(ret, user, json_string(name));
    return str_eq(word, "new")
               ? state_ret_set(ret, STATE_TRUE, "Incron %s added to %s's incrontab", name, user)
               : state_ret_set(ret, STATE_TRUE, "Incron %s updated", name);
}

/* True when an entry has path, command and events, in the order of the state's. */
static bool
job_is_there(const json_t *tab, const json_t *job)
{
    AUTO_FREE char *mask = incrontab_mask(value_str(job, "mask", ""));
    json_t *one;
    size_t i;

    json_array_foreach (value_get(tab, "crons"), i, one) {
        if (value_equal(value_get(one, "path"), value_get(job, "path")) &&
            value_equal(value_get(one, "cmd"), value_get(job, "cmd")) &&
            strcmp(value_str(one, "mask", ""), mask) == 0)
            return true;
    }
    return false;
}

/* Test mode compares the table itself; the function of the module answers only by acting. */
static int
incron_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *user = value_str(args, "user", "");
    json_auto_t *job = incron_job_args(args), *tab = NULL, *said = NULL;

    if (ctx_test(ctx)) {
        tab = sub_call(ctx, err, "incron.list_tab", "{s:s}", "user", user);
        if (tab == NULL)
            return err->code;
        if (!job_is_there(tab, job))
            return state_ret_set(ret, STATE_TRUE, "Incron %s is absent", name);
        state_change(ret, user, json_string(name));
        return state_ret_set(ret, STATE_NONE, "Incron %s is set to be removed", name);
    }
    said = change_job(ctx, "incron.rm_job", job, err);
    if (said == NULL)
        return err->code;
    if (str_eq(json_string_value(said), "absent"))
        return state_ret_set(ret, STATE_TRUE, "Incron %s already absent", name);
    if (!str_eq(json_string_value(said), "removed"))
        return state_ret_set(ret, STATE_FALSE, "Incron %s for user %s failed to commit with error %s", name,
                             user, json_string_value(said));
    state_change(ret, user, json_string(name));
    return state_ret_set(ret, STATE_TRUE, "Incron %s removed from %s's crontab", name, user);
}

static const char *
state_incron_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "incron.list_tab") ? NULL : "incron is not installed: there is no incrontab";
}

static const arg_t job_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Words for the entry"),
                                  ARG("path", ARG_STR, ARG_REQUIRED, "What is watched"),
                                  ARG("mask", ARG_LIST, ARG_REQUIRED, "Events: IN_MODIFY, IN_DELETE"),
                                  ARG("cmd", ARG_ANY, ARG_REQUIRED, "The command"),
                                  ARG("user", ARG_STR, "\"root\"", "Whose table"),
                                  ARGS_END };

static const func_t funcs[] = {
    { "absent", incron_absent, job_args, 0, "Ensure that an entry is not there." },
    { "present", incron_present, job_args, 0, "Ensure that an entry is there." },
};

PLUGIN(state, incron, .doc = "Tables of incron", FUNCS(funcs), .unavailable = state_incron_unavailable);
