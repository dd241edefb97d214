/* git_config.c - more of state module `git`: config_set and config_unset for settings of a repository, or of
 * a user. Values are compared as lists before and after, so that the changes are what happened. */
#include "common/base/str.h"
#include "plugins/lib/git/gitstate.h"

/* A setting and where it is: in a repository, or the user's own. */
typedef struct config {
    gitstate_t s;
    const char *key;
    bool global, all;
} config_t;

/* A function of the module on the repository, or on the user's own settings. TAKES `more`. */
static json_t *
git_config_ask(config_t *c, const char *fun, json_t *more)
{
    json_object_set_new(more, "global", json_boolean(c->global));
    json_object_set(more, "cwd", value_get(c->s.args, "repo"));
    return gitstate_call(&c->s, fun, more, c->s.err);
}

/* `global` and `all` are keywords of other languages: they come in **kwargs. 1: ret is the answer. */
static int
git_config_begin(config_t *c, bool takes_all)
{
    json_t *kwargs = value_get(c->s.args, "kwargs"), *v;
    const char *key;
    buf_auto_t odd = BUF_INIT;

    c->key = value_str(c->s.args, "name", "");
    json_object_foreach (kwargs, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        if (strcmp(key, "global") == 0)
            c->global = value_truthy(v);
        else if (takes_all && strcmp(key, "all") == 0)
            c->all = value_truthy(v);
        else if (!str_starts(key, "__"))
            buf_printf(&odd, "%s%s=%s", odd.len > 0 ? ", " : "", key, text);
    }
    if (odd.len > 0)
        state_ret_set(c->s.ret, STATE_FALSE, "The following keyword arguments are not valid: %s",
                      buf_str(&odd));
    else if (!c->global && !value_truthy(value_get(c->s.args, "repo")))
        state_ret_set(c->s.ret, STATE_FALSE,
                      "Non-global config options require the 'repo' argument to be set");
    else
        return 0;
    return 1;
}

/* ---- config_set ------------------------------------------------------------------------------ */

/* The values that the key shall have: NEW array; NULL: none is given. */
static json_t *
desired(const json_t *args)
{
    json_t *value = value_get(args, "value"), *multivar = value_get(args, "multivar"), *one, *out;
    size_t i;

    if (value != NULL && !json_is_null(value)) {
        AUTO_FREE char *text = value_pystr(value);
        return json_pack("[s]", text);
    }
    if (multivar == NULL || json_is_null(multivar))
        return NULL;
    out = json_array();
    if (!json_is_array(multivar)) {
        AUTO_FREE char *text = value_pystr(multivar);
        char **parts = str_split(text, ",", false);
        for (i = 0; parts[i] != NULL; i++)
            json_array_append_new(out, json_string(parts[i]));
        strv_free(parts);
        return out;
    }
    json_array_foreach (multivar, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(out, json_string(text));
    }
    return out;
}

/* The key's values now: NEW array or null; NULL with *err. */
static json_t *
git_config_current(config_t *c)
{
    return git_config_ask(c, "git.config_get",
                          json_pack("{s:s, s:b, s:b}", "key", c->key, "all", 1, "ignore_retcode", 1));
}

/* 0, or negative with *err. */
static int
git_config_store(config_t *c, const json_t *values, const json_t *before)
{
    bool single = value_truthy(value_get(c->s.args, "value"));
    json_t *one;
    size_t i;

    if (!single && value_truthy(before)) {
        json_auto_t *gone = git_config_ask(c, "git.config_unset",
                                           json_pack("{s:s, s:b}", "key", c->key, "all", 1));
        if (gone == NULL)
            return c->s.err->code;
    }
    json_array_foreach (values, i, one) {
        json_auto_t *set = git_config_ask(
            c, "git.config_set", json_pack("{s:s, s:O, s:b}", "key", c->key, "value", one, "add", !single));
        if (set == NULL)
            return c->s.err->code;
    }
    return 0;
}

/* Stores the values unless they are there, and verifies them. */
static int
set_values(config_t *c, const json_t *values, json_t *before)
{
    gitstate_t *s = &c->s;
    bool single = json_array_size(values) == 1 && !value_truthy(value_get(s->args, "multivar"));
    AUTO_FREE char *shown = single ? xasprintf("'%s'", json_string_value(json_array_get(values, 0)))
                                   : value_repr(values);
    /* A setting without a value is "added", one with another value is "set". */
    const char *word = json_is_null(before) ? "added as" : "set to";

    if (json_equal(values, before))
        return state_ret_set(s->ret, STATE_TRUE, "%s'%s' is already set to %s",
                             c->global ? "Global key " : "", c->key, shown);
    if (ctx_test(s->ctx)) {
        state_change_from(s->ret, c->key, json_incref(before), json_incref((json_t *) values));
        return state_ret_set(s->ret, STATE_NONE, "%s'%s' would be %s %s", c->global ? "Global key " : "",
                             c->key, word, shown);
    }
    AUTO_FREE char *failed = xasprintf("Failed to set %s'%s' to %s", c->global ? "global key " : "", c->key,
                                       shown);
    if (git_config_store(c, values, before) < 0) {
        AUTO_FREE char *text = xasprintf("%s: ", failed);
        return gitstate_failed(s, text);
    }
    json_auto_t *after = git_config_current(c);
    if (after == NULL)
        return s->err->code;
    if (!json_equal(before, after))
        state_change_from(s->ret, c->key, json_incref(before), json_incref(after));
    if (!json_equal(after, values))
        return gitstate_fail(s, failed);
    return state_ret_set(s->ret, STATE_TRUE, "%s'%s' was %s %s", c->global ? "Global key " : "", c->key, word,
                         shown);
}

/* `value` is one text, `multivar` several; Salt wants exactly one of them. */
static int
git_config_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    config_t c = { .s = { .ctx = ctx, .args = args, .ret = ret, .err = err } };
    json_auto_t *values = desired(args);

    if (!json_is_null(value_get(args, "value")) && !json_is_null(value_get(args, "multivar")))
        return state_ret_set(ret, STATE_FALSE, "Only one of 'value' and 'multivar' is permitted");
    if (values == NULL)
        return state_ret_set(ret, STATE_FALSE, "One of 'value' and 'multivar' is required");
    if (git_config_begin(&c, false) != 0)
        return 0;
    json_auto_t *before = git_config_current(&c);
    return before != NULL ? set_values(&c, values, before) : err->code;
}

/* ---- config_unset ---------------------------------------------------------------------------- */

/* The keys and values that the expression finds: NEW {key: [value]}; NULL with *err. */
static json_t *
git_config_matches(config_t *c, json_t *value_regex)
{
    size_t end = strlen(c->key), start = strspn(c->key, "^");

    /* Anchors of the user's own are taken off, as the expression gets its own ones. */
    while (end > start && c->key[end - 1] == '$')
        end--;
    return git_config_ask(c, "git.config_get_regexp",
                          json_pack("{s:o, s:O, s:b}", "key",
                                    value_fmt("^%.*s$", (int) (end - start), c->key + start), "value_regex",
                                    value_regex, "ignore_retcode", 1));
}

/* "a.b (1, 2); c.d (3)" of the keys with more than `least` values. NEW. */
static char *
several(const json_t *found, size_t least)
{
    const char *key;
    json_t *values;
    buf_t out = BUF_INIT;

    json_object_foreach ((json_t *) found, key, values) {
        if (json_array_size(values) <= least)
            continue;
        buf_printf(&out, "%s%s (", out.len > 0 ? "; " : "", key);
        for (size_t i = 0; i < json_array_size(values); i++)
            buf_printf(&out, "%s%s", i > 0 ? ", " : "", json_string_value(json_array_get(values, i)));
        buf_putc(&out, ')');
    }
    return buf_steal(&out);
}

/* Unsets every matching key; keys that git refuses are listed, the others are unset all the same. */
static int
unset(config_t *c, const json_t *found)
{
    gitstate_t *s = &c->s;
    json_t *regex = value_get(s->args, "value_regex"), *values;
    json_auto_t *none = json_null();
    json_auto_t *before = git_config_matches(c, none);
    buf_auto_t failed = BUF_INIT;
    const char *key;

    if (before == NULL)
        return s->err->code;
    json_object_foreach ((json_t *) found, key, values) {
        json_auto_t *done = git_config_ask(
            c, "git.config_unset",
            json_pack("{s:s, s:O, s:b}", "key", key, "value_regex", regex, "all", c->all));
        if (done != NULL)
            continue;
        if (s->err->kind != FAIL_COMMAND)
            return s->err->code;
        fail_clear(s->err);
        buf_printf(&failed, "%s%s", failed.len > 0 ? ", " : "", key);
    }
    if (failed.len > 0)
        return state_ret_set(s->ret, STATE_FALSE,
                             "Error(s) occurred unsetting values for the following keys (see the minion log "
                             "for details): %s",
                             buf_str(&failed));
    json_auto_t *after = git_config_matches(c, none),
                *left = after != NULL ? git_config_matches(c, regex) : NULL;
    if (left == NULL)
        return s->err->code;

    /* Values are gone that were there before and are not any more. */
    json_t *one;
    size_t i, k;
    json_object_foreach ((json_t *) before, key, values) {
        json_t *kept = value_get(after, key), *gone = json_array();
        json_array_foreach (values, i, one) {
            bool there = false;
            for (k = 0; k < json_array_size(kept); k++)
                there |= json_equal(one, json_array_get(kept, k));
            if (!there)
                json_array_append(gone, one);
        }
        if (json_array_size(gone) > 0)
            state_change(s->ret, key, json_incref(gone));
        json_decref(gone);
    }
    AUTO_FREE char *still = several(left, 0);
    return *still != '\0' ? state_ret_set(s->ret, STATE_FALSE, "Failed to unset value(s): %s", still)
                          : state_ret_set(s->ret, STATE_TRUE, "Value(s) successfully unset");
}

/* Several values of a key need `all`. */
static int
git_config_unset(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *regex = value_get(args, "value_regex");
    config_t c = { .s = { .ctx = ctx, .args = args, .ret = ret, .err = err } };

    if (git_config_begin(&c, true) != 0)
        return 0;
    json_auto_t *found = git_config_matches(&c, regex);
    if (found == NULL)
        return err->code;
    if (json_object_size(found) == 0)
        return state_ret_set(ret, STATE_TRUE, "No matching keys are set");
    AUTO_FREE char *greedy = several(found, 1);
    if (!c.all && *greedy != '\0')
        return state_ret_set(ret, STATE_FALSE,
                             json_is_null(regex)
                                 ? "Multivar(s) matched by the key expression (set 'all' to True to force "
                                   "removal): %s"
                                 : "Multiple values are matched by value_regex for the following keys (set "
                                   "'all' to True to force removal): %s",
                             greedy);
    if (!ctx_test(ctx))
        return unset(&c, found);
    state_change_set(ret, json_incref(found));
    return state_ret_set(ret, STATE_NONE, "%zu key(s) would have value(s) unset", json_object_size(found));
}

/* ---- table ----------------------------------------------------------------------------------- */

#define COMMON_ROWS                                                                                          \
    ARG("repo", ARG_STR, "null", "The repository; not with `global`"),                                       \
        ARG("user", ARG_STR, "null", "Run git as this user"),                                                \
        ARG("password", ARG_STR, "null", "Of Windows only"),                                                 \
        ARG("output_encoding", ARG_STR, "null", "Accepted; output is UTF-8")

static const arg_t set_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The setting: user.email"),
    ARG("value", ARG_ANY, "null", "Its value"),
    ARG("multivar", ARG_ANY, "null", "Or several: a list, or a text with commas"),
    COMMON_ROWS,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "global: True for the user's own settings", "global"),
    ARGS_END,
};
static const arg_t unset_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The setting, or a regular expression of settings"),
    ARG("value_regex", ARG_ANY, "null", "Only values that this finds"),
    COMMON_ROWS,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "global: the user's own settings; all: several values of one setting", "global all"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "config_set", git_config_set, set_args, 0, "Ensure that a setting of git has this value." },
    { "config_unset", git_config_unset, unset_args, 0, "Ensure that a setting of git is not set." },
};

static const char *
git_config_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "git.version") ? NULL : "git module could not be loaded";
}

PLUGIN(state, git_config, .provides = "git", .doc = "Checkouts of git repositories", FUNCS(funcs),
       .unavailable = git_config_unavailable);
