/* cron.c - state module `cron`: entries, variables and whole crontabs of users. The module's functions do the
 * change and answer with a word ("new", "updated", "present", "removed", "absent"), which state_cron_tell()
 * turns into the return; test mode compares with cron.list_tab. An entry is known by its identifier, a
 * comment above it, or by its command. The change is {user: name} for all of them. */
#include "common/base/str.h"
#include "plugins/lib/system/crontab.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

typedef enum found { FOUND_ABSENT, FOUND_SAME, FOUND_OTHER } found_t;

/* Opening words of the texts about entries and about variables. */
static const char entry_word[] = "Cron", env_word[] = "Cron env";

/* Text of a value, in lower case: crontabs have "mon" for an SLS's "Mon". NEW. */
static json_t *
lower_text(const json_t *v)
{
    AUTO_FREE char *text = value_pystr(v);

    for (char *c = text; *c != '\0'; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char) (*c + 32) : *c;
    return json_string(text);
}

/* NEW entry of what the SLS asks for; only what it says. */
static json_t *
state_cron_wish_of(const json_t *args)
{
    json_t *wish = json_pack("{s:O, s:O, s:O}", "cmd", value_get(args, "name"), "identifier",
                             value_get(args, "identifier"), "comment", value_get(args, "comment"));

    json_object_set(wish, "commented", value_get(args, "commented"));
    if (value_truthy(value_get(args, "special"))) {
        json_object_set(wish, "spec", value_get(args, "special"));
        return wish;
    }
    /* Times that the SLS leaves out are not compared: cron.set_job keeps those of an entry that is there. */
    for (const char *const *f = crontab_times; *f != NULL; f++) {
        if (value_get(args, *f) != NULL)
            json_object_set_new(wish, *f, lower_text(value_get(args, *f)));
    }
    return wish;
}

/* Looks for the entry by its identifier or command, and compares the fields that the SLS has. 0, or negative
 * with *err. */
static int
state_cron_find_entry(call_ctx_t *ctx, const json_t *args, const json_t *wish, found_t *ret_found,
                      fail_t *err)
{
    json_auto_t *tab = sub_call(ctx, err, "cron.list_tab", "{s:O}", "user", value_get(args, "user"));
    json_t *entry, *want;
    const char *field;
    size_t i;

    if (tab == NULL)
        return err->code;
    *ret_found = FOUND_ABSENT;
    json_array_foreach (value_get(tab, value_get(wish, "spec") != NULL ? "special" : "crons"), i, entry) {
        if (!crontab_is(entry, value_str(wish, "cmd", ""), value_str(wish, "identifier", NULL)))
            continue;
        *ret_found = FOUND_SAME;
        json_object_foreach ((json_t *) wish, field, want) {
            if (crontab_differs(value_get(entry, field), want))
                *ret_found = FOUND_OTHER;
        }
        return 0;
    }
    return 0;
}

/* Looks for the variable and compares its value. 0, or negative with *err. */
static int
state_cron_find_env(call_ctx_t *ctx, const json_t *args, const char *value, found_t *ret_found, fail_t *err)
{
    json_auto_t *tab = sub_call(ctx, err, "cron.list_tab", "{s:O}", "user", value_get(args, "user"));
    json_t *env;
    size_t i;

    if (tab == NULL)
        return err->code;
    *ret_found = FOUND_ABSENT;
    json_array_foreach (value_get(tab, "env"), i, env) {
        if (value_equal(value_get(env, "name"), value_get(args, "name")))
            *ret_found = strcmp(value_str(env, "value", ""), value) == 0 ? FOUND_SAME : FOUND_OTHER;
    }
    return 0;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Test mode's answer for what is to be there; the changes are those of the run. */
static int
test_present(json_t *ret, const char *word, const char *user, found_t found)
{
    static const char *const after[] = { "is set to be added", "already present", "is set to be updated" };

    if (found != FOUND_SAME)
        state_change(ret, user, json_incref(value_get(ret, "name")));
    return state_ret_set(ret, found == FOUND_SAME ? STATE_TRUE : STATE_NONE, "%s %s %s", word,
                         value_str(ret, "name", ""), after[found]);
}

/* The same for what is to be gone. */
static int
test_absent(json_t *ret, const char *word, const char *user, found_t found)
{
    if (found != FOUND_ABSENT)
        state_change(ret, user, json_incref(value_get(ret, "name")));
    return state_ret_set(ret, found == FOUND_ABSENT ? STATE_TRUE : STATE_NONE, "%s %s %s", word,
                         value_str(ret, "name", ""),
                         found == FOUND_ABSENT ? "is absent" : "is set to be removed");
}

/* Turns the answer of the module's function into the return. TAKES `said`. */
static int
state_cron_tell(json_t *ret, const char *word, const char *user, json_t *said)
{
    static const struct {
        const char *said, *after;
        bool owner, change; /* whether the text ends with whose crontab it is */
    } rows[] = {
        { "present", "already present", false, false },
        { "absent", "already absent", false, false },
        { "new", "added to", true, true },
        { "removed", "removed from", true, true },
        { "updated", "updated", false, true },
    };
    const char *name = value_str(ret, "name", "");
    json_auto_t *owned = said;
    const char *text = json_is_string(owned) ? json_string_value(owned) : "";

    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (strcmp(rows[i].said, text) != 0)
            continue;
        if (rows[i].change)
            state_change(ret, user, json_string(name));
        return state_ret_set(ret, STATE_TRUE, "%s %s %s%s%s%s", word, name, rows[i].after,
                             rows[i].owner ? " " : "", rows[i].owner ? user : "",
                             rows[i].owner ? "'s crontab" : "");
    }
    return state_ret_set(ret, STATE_FALSE, "%s %s for user %s failed to commit with error \n%s", word, name,
                         user, text);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* The name without blanks around it; it identifies the entry unless the SLS does. */
static json_t *
state_cron_start(json_t *args, json_t **ret_value)
{
    AUTO_FREE char *copy = xstrdup(value_str(args, "name", ""));
    const char *name = str_trim(copy);
    json_t *id = value_get(args, "identifier");

    json_object_set_new(args, "name", json_string(name));
    if (json_is_false(id))
        json_object_set_new(args, "identifier", json_string(name));
    else if (id != NULL && !json_is_null(id) && !json_is_string(id))
        json_object_set_new(args, "identifier", lower_text(id));
    return *ret_value = state_ret(name);
}

/* Jobs at times and jobs at events, @reboot and the like, are kept by different functions of the module. */
static int
cron_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_cron_start(args, ret_value);
    const char *user = value_str(args, "user", "");
    json_auto_t *wish = state_cron_wish_of(args);
    found_t found;

    if (crontab_check_entry(wish, err) < 0)
        return err->code;
    if (ctx_test(ctx))
        return state_cron_find_entry(ctx, args, wish, &found, err) < 0
                   ? err->code
                   : test_present(ret, entry_word, user, found);
    bool special = value_get(wish, "spec") != NULL;
    json_auto_t *kwargs = json_deep_copy(wish);
    json_object_set(kwargs, "user", value_get(args, "user"));
    if (special) {
        json_object_set(kwargs, "special", value_get(wish, "spec"));
        json_object_del(kwargs, "spec");
    }
    json_t *said = NULL;
    (void) ctx_call(ctx, special ? "cron.set_special" : "cron.set_job", NULL, kwargs, &said, err);
    return said != NULL ? state_cron_tell(ret, entry_word, user, said) : err->code;
}

/* An identifier, where one is given, finds the job even if its command has changed. */
static int
cron_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_cron_start(args, ret_value), *said;
    const char *user = value_str(args, "user", "");
    bool special = value_truthy(value_get(args, "special"));
    json_auto_t *wish = json_pack("{s:O, s:O}", "cmd", value_get(args, "name"), "identifier",
                                  value_get(args, "identifier"));
    found_t found;

    if (special)
        json_object_set(wish, "spec", value_get(args, "special"));
    if (ctx_test(ctx))
        return state_cron_find_entry(ctx, args, wish, &found, err) < 0
                   ? err->code
                   : test_absent(ret, entry_word, user, found);
    if (special)
        said = sub_call(ctx, err, "cron.rm_special", "{s:O, s:O, s:O, s:O}", "user", value_get(args, "user"),
                        "cmd", value_get(args, "name"), "identifier", value_get(args, "identifier"),
                        "special", value_get(args, "special"));
    else
        said = sub_call(ctx, err, "cron.rm_job", "{s:O, s:O, s:O}", "user", value_get(args, "user"), "cmd",
                        value_get(args, "name"), "identifier", value_get(args, "identifier"));
    return said != NULL ? state_cron_tell(ret, entry_word, user, said) : err->code;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Values are compared as texts, as the crontab has nothing else. */
static int
cron_env_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *value = value_get(args, "value");
    AUTO_FREE char *text = json_is_null(value) ? xstrdup("") : value_pystr(value);
    found_t found;

    if (crontab_check_env(value_get(args, "name"), value, err) < 0)
        return err->code;
    if (ctx_test(ctx))
        return state_cron_find_env(ctx, args, text, &found, err) < 0
                   ? err->code
                   : test_present(ret, env_word, value_str(args, "user", ""), found);
    json_t *said = sub_call(ctx, err, "cron.set_env", "{s:O, s:O, s:O}", "user", value_get(args, "user"),
                            "name", value_get(args, "name"), "value", value);
    return said != NULL ? state_cron_tell(ret, env_word, value_str(args, "user", ""), said) : err->code;
}

/* The name's blanks are cut here, as Salt does, and not in env_present. */
static int
cron_env_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = state_cron_start(args, ret_value);
    found_t found;

    if (ctx_test(ctx))
        return state_cron_find_env(ctx, args, "", &found, err) < 0
                   ? err->code
                   : test_absent(ret, env_word, value_str(args, "user", ""), found);
    json_t *said = sub_call(ctx, err, "cron.rm_env", "{s:O, s:O}", "user", value_get(args, "user"), "name",
                            value_get(args, "name"));
    return said != NULL ? state_cron_tell(ret, env_word, value_str(args, "user", ""), said) : err->code;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define USER_ROW       ARG("user", ARG_STR, "\"root\"", "Whose crontab")
#define IDENTIFIER_ROW ARG("identifier", ARG_ANY, "false", "What the entry is known by; False: its command")
#define SPECIAL_ROW    ARG("special", ARG_STR, "null", "@daily, @reboot, ... in place of a time")

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The command"),
    USER_ROW,
    ARG("minute", ARG_ANY, "\"*\"", "0-59, or as crontab(5) says; random; A:B for one of a range"),
    ARG("hour", ARG_ANY, "\"*\"", "0-23, likewise"),
    ARG("daymonth", ARG_ANY, "\"*\"", "1-31, likewise"),
    ARG("month", ARG_ANY, "\"*\"", "1-12, likewise"),
    ARG("dayweek", ARG_ANY, "\"*\"", "0-6, likewise"),
    ARG("comment", ARG_STR, "null", "What to write above the entry"),
    ARG("commented", ARG_BOOL, "false", "Keep the entry, but switched off"),
    IDENTIFIER_ROW,
    SPECIAL_ROW,
    ARGS_END,
};
static const arg_t absent_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The command"),
    USER_ROW,
    IDENTIFIER_ROW,
    SPECIAL_ROW,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted, so that a present state needs one word changed",
        "minute hour daymonth month dayweek comment commented"),
    ARGS_END,
};
static const arg_t env_present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The variable"),
    ARG("value", ARG_ANY, "null", "Its value"),
    USER_ROW,
    ARGS_END,
};
static const arg_t env_absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The variable"), USER_ROW,
                                         ARGS_END };

static const char *
state_cron_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "cron.list_tab") ? NULL : "cron module could not be loaded";
}

static const func_t funcs[] = {
    { "absent", cron_absent, absent_args, 0, "Ensure that a user's crontab has no such entry." },
    { "env_absent", cron_env_absent, env_absent_args, 0,
      "Ensure that a user's crontab has no such variable." },
    { "env_present", cron_env_present, env_present_args, 0, "Ensure that a user's crontab sets a variable." },
    { "present", cron_present, present_args, 0, "Ensure that a user's crontab has this entry." },
};

PLUGIN(state, cron, .doc = "Crontabs of users", FUNCS(funcs), .unavailable = state_cron_unavailable);
