/* git_settings.c - execution module `git`, second part: settings of a repository, or of the user. */
#include "common/base/str.h"
#include "plugins/lib/git/gitcmd.h"
#include "plugins/lib/git/gitrows.h"

/* git config --global or --local, `option` (NULL: none) and the key. What follows the key is not an option.
 * --global is the user's file, so that `user` decides whose. */
static int
begin_config(call_ctx_t *ctx, const json_t *args, const char *option, prog_t *prog, fail_t *err)
{
    if (!value_bool(args, "global", false) && value_str(args, "cwd", NULL) == NULL)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'cwd' argument required unless global=True");
    if (git_begin(ctx, args, "config", prog, err) < 0)
        return err->code;
    prog_adds(prog, value_bool(args, "global", false) ? "--global" : "--local", option, NULL);
    return prog_operand(prog, "key", value_str(args, "key", ""), err);
}

/* A missing key (exit code 1) is None, not an error. The last value wins, as in git, unless `all`. "" for a
 * key whose value is empty. */
static int
git_config_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (begin_config(ctx, args, "--get-all", &prog, err) < 0)
        return err->code;
    json_auto_t *answer = git_run(ctx, args, &prog, GIT_SOFT, err);
    if (answer == NULL)
        return err->code;
    if (value_int(answer, "retcode", 1) != 0) {
        *ret_value = json_null();
        return 0;
    }
    json_auto_t *values = git_lines(json_incref(value_get(answer, "stdout")));
    size_t n = json_array_size(values);
    *ret_value = value_bool(args, "all", false) ? json_incref(values)
                 : n > 0                        ? json_incref(json_array_get(values, n - 1))
                                                : json_string("");
    return 0;
}

/* {key: [value]} for keys that match; {} when none does, which git tells by exit code 1. */
static int
git_config_get_regexp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *line;
    size_t i;

    if (begin_config(ctx, args, "--get-regexp", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, value_str(args, "value_regex", NULL), NULL);
    json_auto_t *answer = git_run(ctx, args, &prog, GIT_SOFT, err);
    if (answer == NULL)
        return err->code;
    json_auto_t *lines = git_lines(json_incref(value_get(answer, "stdout")));
    *ret_value = json_object();
    json_array_foreach (lines, i, line) {
        const char *key = json_string_value(line);
        size_t n = strcspn(key, " ");
        AUTO_FREE char *name = xstrndup(key, n);
        json_array_append_new(git_list_in(*ret_value, name), json_string(key + n + (key[n] != '\0')));
    }
    return 0;
}

/* The answer is the list of all values that the key has now. --add keeps the others; of several values the
 * first one replaces what there was. */
static int
git_config_set(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *value = value_get(args, "value"), *multi = value_get(args, "multivar"), *one;
    bool single = value != NULL && !json_is_null(value), several = multi != NULL && !json_is_null(multi);
    size_t i;

    if (single == several)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Only one of 'value' and 'multivar' is %s",
                         single ? "permitted" : "required");
    AUTO_FREE char *text = several && !json_is_array(multi) ? value_pystr(multi) : xstrdup("");
    json_auto_t *values = single                 ? json_pack("[O]", value)
                          : json_is_array(multi) ? json_incref(multi)
                                                 : json_array();
    char **parts = str_split(text, ",", false);
    for (i = 0; several && !json_is_array(multi) && parts[i] != NULL; i++)
        json_array_append_new(values, json_string(parts[i]));
    strv_free(parts);
    bool add = single && value_bool(args, "add", false);
    json_array_foreach (values, i, one) {
        prog_auto_t prog = PROG_INIT;
        AUTO_FREE char *word = value_pystr(one);
        if (begin_config(ctx, args, add || i > 0 ? "--add" : "--replace-all", &prog, err) < 0)
            return err->code;
        prog_add(&prog, word);
        json_auto_t *answer = git_run(ctx, args, &prog, 0, err);
        if (answer == NULL)
            return err->code;
    }
    json_object_set_new(args, "all", json_true());
    return git_config_get(ctx, args, ret_value, err);
}

/* A key that is not there is an error: git's exit code 5. */
static int
git_config_unset(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (begin_config(ctx, args, value_bool(args, "all", false) ? "--unset-all" : "--unset", &prog, err) < 0)
        return err->code;
    prog_adds(&prog, value_str(args, "value_regex", NULL), NULL);
    json_auto_t *answer = git_run(ctx, args, &prog, 0, err);
    if (answer == NULL)
        return err->code;
    *ret_value = json_true();
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define CONFIG_ROWS                                                                                          \
    ARG("cwd", ARG_STR, "null", "The checkout's folder"), GIT_ROWS_USER,                                     \
        ARG("global", ARG_BOOL, "false", "The user's settings")
static const arg_t config_get_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "The setting"), CONFIG_ROWS,
                                         ARG("all", ARG_BOOL, "false", "All its values, as a list"),
                                         ARGS_END };
static const arg_t config_regexp_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "A pattern of settings"),
                                            ARG("value_regex", ARG_STR, "null", "A pattern of values"),
                                            CONFIG_ROWS, ARGS_END };
static const arg_t config_set_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "The setting"),
                                         ARG("value", ARG_ANY, "null", "Its value"),
                                         ARG("multivar", ARG_ANY, "null",
                                             "Or its values: a list, or a text with commas between"),
                                         CONFIG_ROWS,
                                         ARG("add", ARG_BOOL, "false", "As one more value"),
                                         ARGS_END };
static const arg_t config_unset_args[] = { ARG("key", ARG_STR, ARG_REQUIRED, "The setting"),
                                           ARG("value_regex", ARG_STR, "null", "A pattern of values"),
                                           CONFIG_ROWS, ARG("all", ARG_BOOL, "false", "All its values"),
                                           ARGS_END };

static const func_t funcs[] = {
    GIT_ROW(config_get, config_get_args, FN_READONLY, "Return a setting; None when it has no value.",
            "config_get user.name cwd=/path/to/repo"),
    GIT_ROW(config_get_regexp, config_regexp_args, FN_READONLY, "Return the settings that match.",
            "config_get_regexp 'user.*' cwd=/path/to/repo"),
    { "config_get_regex", git_config_get_regexp, config_regexp_args, FN_READONLY,
      "The same as git.config_get_regexp." CLI_EXAMPLE(
          "salt '*' git.config_get_regex 'user.*' global=True") },
    GIT_ROW(config_set, config_set_args, 0, "Change a setting.",
            "config_set user.email me@example.com cwd=/path/to/repo"),
    GIT_ROW(config_unset, config_unset_args, 0, "Remove a setting.",
            "config_unset user.email cwd=/path/to/repo"),
};

PLUGIN(exec, git_settings, .provides = "git", .doc = "Git repositories", FUNCS(funcs),
       .unavailable = git_missing);
