/* cmd.c - state module `cmd`: commands and scripts as states. With `stateful` the command's output decides
 * about changes (reinterpret). `wait` functions do nothing unless a watched state changed, when mod_watch
 * runs the command. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/py/py_json.h"
#include "common/python/userfile.h"
#include "salt/state.h"

/* ---- stateful: what a command says about itself ------------------------------------------------ */

/* "yes" and "no" in their spellings; -1 with *err for another word. */
static int
said_true(const json_t *v, fail_t *err)
{
    static const char *const words[2][3] = { { "false", "no", "0" }, { "true", "yes", "1" } };
    AUTO_FREE char *text = v != NULL ? value_pystr(v) : xstrdup("no");

    for (int truth = 0; truth < 2; truth++) {
        for (size_t i = 0; i < NELEMS(words[truth]); i++) {
            if (strcasecmp(text, words[truth][i]) == 0)
                return truth;
        }
    }
    fail_set(err, -EINVAL, "Failed parsing boolean value: %s", text);
    return -1;
}

/* The changes become what the command says they are; members of cmd.run_all that it does not say stay. `data`
 * is what it said, `before` where the line of words begins in its output, which is left out, -1: it is all of
 * the output. */
static void
take_changes(json_t *ret, json_t *changes, json_t *data, bool is_json, json_int_t before)
{
    const char *key, *out = value_str(changes, "stdout", "");
    json_t *v;
    size_t n = strlen(out);

    json_object_foreach (changes, key, v) {
        if (json_object_get(data, key) == NULL)
            json_object_set(data, key, v);
    }
    if (before >= 0 && (size_t) before < n)
        n = (size_t) before;
    else if (n > 0)
        n--; /* a single line loses its last character in Salt too */
    json_object_set_new(data, "stdout", is_json ? json_string("") : value_utf8(out, n));
    state_change_set(ret, json_incref(data));
}

/* Salt's _reinterpreted_state: takes result words from the output, which is a JSON object or a last line of
 * name=value pairs. */
static int
reinterpret(json_t *ret, fail_t *err)
{
    json_auto_t *changes = json_incref(value_get(ret, "changes"));
    AUTO_FREE char *out = xstrdup(value_str(changes, "stdout", ""));
    const char *complaint = value_str(changes, "stderr", "");
    json_int_t before = -1;

    state_change_set(ret, json_object());
    state_ret_comment(ret, json_string(*out == '\0' ? complaint : ""));
    if (*out == '\0')
        return 0;
    json_auto_t *data = json_loads(out, JSON_DECODE_ANY, NULL);
    bool is_json = data != NULL;
    if (is_json && !json_is_object(data))
        return state_ret_set(ret, STATE_FALSE, "script JSON output must be a JSON object (e.g., {})!");
    if (!is_json) {
        /* Words name=value in the last line that is not empty; `before`: how much of the text precedes it, -1
         * for nothing. */
        AUTO_FREE char *copy = xstrdup(out);
        for (size_t n = strlen(copy); n > 0 && strchr(" \t\r\n\v\f", copy[n - 1]) != NULL; n--)
            copy[n - 1] = '\0';
        const char *end = strrchr(copy, '\n');
        before = end != NULL ? (json_int_t) (end - copy) : -1;
        const char *line = end != NULL ? out + (end - copy) + 1 : out;

        fail_auto_t why = FAIL_INIT;
        char **words = prog_split(line, &why);
        data = words != NULL ? json_object() : NULL;
        for (char **word = words; word != NULL && *word != NULL; word++) {
            char *sep = strchr(*word, '=');
            if (sep == NULL || strchr(sep + 1, '=') != NULL) {
                json_decref(data);
                data = NULL;
                break;
            }
            *sep = '\0';
            json_object_set_new(data, *word, value_utf8(sep + 1, strlen(sep + 1)));
        }
        strv_free(words);

        if (data == NULL) {
            state_change_set(ret, json_incref(changes));
            return state_ret_set(ret, STATE_FALSE,
                                 "Failed parsing script output! Stdout must be JSON or a line of name=value "
                                 "pairs.");
        }
    }
    int changed = said_true(value_get(data, "changed"), err);
    if (changed < 0)
        return -EINVAL;
    if (value_get(data, "comment") != NULL) {
        state_ret_comment(ret, json_incref(value_get(data, "comment")));
        json_object_del(data, "comment");
    }
    if (changed > 0)
        take_changes(ret, changes, data, is_json, before);
    return 0;
}

/* ---- what run and script share ------------------------------------------------------------------- */

/* A call of cmd.run or cmd.script; `ret` is owned until state_cmd_finish(). */
typedef struct call {
    call_ctx_t *ctx;
    json_t *args; /* BORROWED */
    json_t *ret;
    char *name;
    bool stateful;
    bool tells;        /* test mode tells the command as the change */
    bool only_told;    /* test mode, and no command to test with */
    const char *quote; /* around the name in comments */
} call_t;

/* Argument of the SLS; None counts as not given. BORROWED, or NULL. */
static json_t *
state_cmd_arg(const call_t *c, const char *key)
{
    json_t *v = value_get(c->args, key);

    return json_is_null(v) ? NULL : v;
}

/* The command that is run in test mode: stateful: [{test_name: ...}]. NULL for none. */
static const char *
test_name(const json_t *args)
{
    return value_str(json_array_get(value_get(args, "stateful"), 0), "test_name", NULL);
}

/* In test mode a stateful state may name another command to run (test_name). */
static call_t
state_cmd_start(call_ctx_t *ctx, json_t *args, const char *quote)
{
    call_t c = { .ctx = ctx, .args = args, .quote = quote };
    json_t *stateful = value_get(args, "stateful");
    const char *instead = test_name(args);

    c.name = ctx_test(ctx) && instead != NULL ? xstrdup(instead) : value_pystr(value_get(args, "name"));
    c.stateful = json_is_true(stateful) || (json_is_array(stateful) && json_array_size(stateful) > 0);
    c.only_told = ctx_test(ctx) && instead == NULL;
    c.ret = state_ret_args(args);
    json_object_set_new(c.ret, "result", json_false());
    return c;
}

/* True: the state has failed, or has nothing to do in test mode. With a stateful command the change that test
 * mode tells is read like output, as in Salt. */
static bool
state_cmd_settled(call_t *c, fail_t *err)
{
    json_t *env = state_cmd_arg(c, "env");
    const char *cwd = json_string_value(state_cmd_arg(c, "cwd"));

    if (env != NULL && !json_is_array(env) && !json_is_object(env)) {
        state_ret_comment(c->ret, json_string("Invalidly-formatted 'env' parameter. See documentation."));
        return true;
    }
    if (c->only_told) {
        (void) state_ret_set(c->ret, STATE_NONE, "Command %s%s%s would have been executed", c->quote, c->name,
                             c->quote);
        if (c->tells)
            state_change(c->ret, "cmd", value_utf8(c->name, strlen(c->name)));
        if (c->stateful)
            (void) reinterpret(c->ret, err);
        return true;
    }
    fail_auto_t why = FAIL_INIT;
    int rc = str_empty(cwd) ? 1 : fs_look_dir(cwd, &why);
    if (rc <= 0)
        state_ret_comment(c->ret, rc < 0
                                      ? json_string(fail_text(&why))
                                      : value_fmt("Desired working directory \"%s\" is not available", cwd));
    return rc <= 0;
}

/* Keywords for the module's function: those of the state that it shares, and all others. NEW. */
static json_t *
state_cmd_keywords(const call_t *c, const char *const *shared, size_t n)
{
    json_t *kwargs = value_get(c->args, "kwargs"),
           *out = json_is_object(kwargs) ? json_deep_copy(kwargs) : json_object();
    json_t *shell = value_get(ctx_grains(c->ctx), "shell");

    for (size_t i = 0; i < n; i++) {
        if (state_cmd_arg(c, shared[i]) != NULL)
            json_object_set(out, shared[i], state_cmd_arg(c, shared[i]));
    }
    if (!value_truthy(state_cmd_arg(c, "shell")) && shell != NULL)
        json_object_set(out, "shell", shell);
    json_object_set_new(out, "python_shell", json_true());
    return out;
}

/* The outcome of a command (pid, retcode, stdout, stderr) as the state's changes; an exit code other than 0
 * fails it. A script that could not be fetched has no outcome. */
static int
state_cmd_conclude(call_t *c, json_t *outcome, fail_t *err)
{
    bool ok = value_int(outcome, "retcode", 0) == 0;

    state_change_set(c->ret, json_incref(outcome));
    json_object_set_new(c->ret, "result", json_boolean(ok));
    if (value_truthy(value_get(outcome, "cache_error"))) {
        const char *source = value_str(c->args, "source", c->name);
        state_ret_comment(
            c->ret, value_fmt("Unable to cache script %s from saltenv '%s'", source, ctx_saltenv(c->ctx)));
    } else {
        state_ret_comment(c->ret, value_fmt("Command %s%s%s run", c->quote, c->name, c->quote));
    }
    return c->stateful ? reinterpret(c->ret, err) : 0;
}

/* Ends the call: in test mode a successful run with changes is None. Frees the call. */
static int
state_cmd_finish(call_t *c, int rc, bool ran_well, json_t **ret_value)
{
    if (rc == 0 && ctx_test(c->ctx) && ran_well && state_changed(c->ret))
        json_object_set_new(c->ret, "result", json_null());
    free(c->name);
    if (rc == 0)
        *ret_value = c->ret;
    else
        json_decref(c->ret);
    return rc;
}

/* ---- run ------------------------------------------------------------------------------------------- */

/* Arguments of the state that the module's function has under the same name. */
static const char *const run_shared[] = { "cwd",
                                          "root",
                                          "runas",
                                          "shell",
                                          "env",
                                          "prepend_path",
                                          "umask",
                                          "output_loglevel",
                                          "hide_output",
                                          "timeout",
                                          "use_vt",
                                          "success_retcodes",
                                          "success_stdout",
                                          "success_stderr" };

/* A failure to start the command is a failed state with the reason. */
static int
cmd_state_run(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    call_t c = state_cmd_start(ctx, args, "\"");
    c.tells = true;
    fail_auto_t why = FAIL_INIT;
    json_auto_t *outcome = NULL;
    int rc = 0;

    if (!state_cmd_settled(&c, err)) {
        json_auto_t *list = json_pack("[o]", value_utf8(c.name, strlen(c.name)));
        json_auto_t *kwargs = state_cmd_keywords(&c, run_shared, NELEMS(run_shared));
        const char *function = value_truthy(state_cmd_arg(&c, "root")) ? "cmd.run_chroot" : "cmd.run_all";
        json_auto_t *chroot_list = json_pack("[O?, o]", state_cmd_arg(&c, "root"),
                                             value_utf8(c.name, strlen(c.name)));
        bool chrooted = value_truthy(state_cmd_arg(&c, "root"));
        json_object_del(kwargs, "root");
        if (ctx_call(ctx, function, chrooted ? chroot_list : list, kwargs, &outcome, &why) != 0) {
            state_ret_comment(c.ret, json_string(fail_text(&why)));
        } else {
            /* A command that was killed for its time counts as well done. */
            if (value_truthy(state_cmd_arg(&c, "ignore_timeout")) && value_int(outcome, "retcode", 0) == 1 &&
                strstr(value_str(outcome, "stdout", ""), "Timed out after") != NULL)
                json_object_set_new(outcome, "retcode", json_integer(0));

            rc = state_cmd_conclude(&c, outcome, err);
        }
    }
    return state_cmd_finish(&c, err != NULL && err->code != 0 ? err->code : rc,
                            outcome != NULL && value_int(outcome, "retcode", 0) == 0, ret_value);
}

/* wait, watch, wait_script, wait_call: nothing, until a state they watch has changed. */
static int
cmd_state_wait(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    return 0;
}

/* ---- script ------------------------------------------------------------------------------------------ */

static const char *const script_shared[] = {
    "runas",    "password",         "shell",           "env",           "cwd",
    "template", "timeout",          "output_loglevel", "hide_output",   "use_vt",
    "umask",    "success_retcodes", "success_stdout",  "success_stderr"
};

/* context and defaults must be dictionaries. */
static bool
bad_variables(call_t *c)
{
    static const char *const keys[] = { "context", "defaults" };

    for (size_t i = 0; i < NELEMS(keys); i++) {
        if (!value_truthy(state_cmd_arg(c, keys[i])) || json_is_object(state_cmd_arg(c, keys[i])))
            continue;
        state_ret_comment(
            c->ret, value_fmt("Invalidly-formatted '%s' parameter. Must be formed as a dict.", keys[i]));
        return true;
    }
    return false;
}

/* Words behind the script's name are its arguments unless `args` gives them. */
static json_t *
script_keywords(const call_t *c)
{
    json_t *kwargs = state_cmd_keywords(c, script_shared, NELEMS(script_shared)), *context = json_object();
    const char *blank = strchr(c->name, ' ');

    if (json_is_object(state_cmd_arg(c, "defaults")))
        json_object_update(context, state_cmd_arg(c, "defaults"));
    if (json_is_object(state_cmd_arg(c, "context")))
        json_object_update(context, state_cmd_arg(c, "context"));
    json_object_set_new(kwargs, "context", context);
    json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(c->ctx)));
    if (!value_truthy(value_get(kwargs, "args")) && blank != NULL)
        json_object_set_new(kwargs, "args", value_utf8(blank + 1, strlen(blank + 1)));
    return kwargs;
}

/* The script comes from `source`, else from the name's first word. */
static int
cmd_state_script(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    call_t c = state_cmd_start(ctx, args, "'");
    fail_auto_t why = FAIL_INIT;
    json_auto_t *outcome = NULL;
    int rc = 0;

    json_object_set_new(c.ret, "name", value_utf8(c.name, strlen(c.name)));
    if (!bad_variables(&c) && !state_cmd_settled(&c, err)) {
        json_t *source = state_cmd_arg(&c, "source");
        json_auto_t *list = json_pack("[o]", source != NULL ? json_incref(source)
                                                            : value_utf8(c.name, strlen(c.name)));
        json_auto_t *kwargs = script_keywords(&c);
        if (ctx_call(ctx, "cmd.script", list, kwargs, &outcome, &why) != 0)
            state_ret_comment(c.ret, json_string(fail_text(&why)));
        else
            rc = state_cmd_conclude(&c, outcome, err);
    }
    return state_cmd_finish(&c, err != NULL && err->code != 0 ? err->code : rc,
                            outcome != NULL && value_int(outcome, "retcode", 0) == 0, ret_value);
}

/* ---- call, mod_watch -------------------------------------------------------------------------- */

/* Salt's `func` is a function of Python's; here it is the name of one, or of a module's function. */
static int
cmd_call_function(call_ctx_t *ctx, const json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *list = value_get(args, "args"), *kws = value_get(args, "kws");
    const char *name = value_str(args, "func", "");

    if (str_starts(name, "<pydsl function ")) {
        /* A function of an SLS file of the renderer pydsl, by the name that this gave it. */
        const userfile_t what = {
            .kind = "renderers", .module = "pydsl", .fun = "call", .packaged = true, .unlimited = true
        };
        AUTO(py) words = py_list();
        AUTO(py) none = py_dict();
        py_append_new(words, py_strz(name));
        AUTO(py) said = userfile_call(ctx, &what, words, none, NULL, err);
        *ret_value = said != NULL ? py_to_json(said) : NULL;
        return *ret_value != NULL ? 0 : -EIO;
    }
    return ctx_call(ctx, name, json_is_array(list) ? list : NULL, json_is_object(kws) ? kws : NULL, ret_value,
                    err);
}

/* A dict that a function returns is a state's return in itself; anything else is a change, which succeeds
 * unless it is false. */
static int
cmd_state_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = state_ret_args(args), *result = NULL;

    if (ctx_test(ctx)) {
        (void) state_ret_set(ret, STATE_NONE, "Function %s would have been executed",
                             value_str(args, "func", ""));
        *ret_value = json_incref(ret);
        return 0;
    }
    int rc = cmd_call_function(ctx, args, &result, err);

    if (rc != 0)
        return rc;
    if (json_is_object(result)) {
        json_object_set_new(ret, "result", json_false());
        json_object_update(ret, result);
    } else {
        state_change(ret, "retval", json_incref(result));
        json_object_set_new(ret, "result", json_boolean(json_is_null(result) || value_truthy(result)));
        if (json_is_string(result))
            state_ret_comment(ret, json_incref(result));
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* Functions that run instead when a watched state has changed. */
static const struct watch_row {
    const char *sfun, *fun;
    bool needs_func;
} watch_rows[] = {
    { "wait", "cmd.run", false },      { "run", "cmd.run", false },
    { "watch", "cmd.run", false },     { "wait_script", "cmd.script", false },
    { "script", "cmd.script", false }, { "wait_call", "cmd.call", true },
    { "call", "cmd.call", true },
};

/* Runs the function that belongs to the waiting one. */
static int
cmd_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *sfun = value_str(args, "sfun", "");

    for (size_t i = 0; i < NELEMS(watch_rows); i++) {
        if (!str_eq(watch_rows[i].sfun, sfun))
            continue;
        if (!watch_rows[i].needs_func || value_truthy(value_get(value_get(args, "kwargs"), "func"))) {
            /* Runs the function; stateful output is interpreted here, once. */
            const struct watch_row *row = &watch_rows[i];
            json_t *kwargs = value_get(args, "kwargs");
            json_auto_t *call = json_is_object(kwargs) ? json_copy(kwargs) : json_object();
            bool stateful = value_truthy(value_get(call, "stateful")) && !row->needs_func;
            json_t *made = NULL;
            json_object_set(call, "name", value_get(args, "name"));
            if (stateful)
                json_object_del(call, "stateful");
            int rc = ctx_state(ctx, row->fun, call, &made, err);
            if (rc == 0 && stateful)
                rc = reinterpret(made, err);
            if (rc == 0)
                *ret_value = made;
            else
                json_decref(made);
            return rc;
        }
        *ret_value = state_ret_args(args);
        return state_ret_set(*ret_value, STATE_FALSE, "cmd.%s needs a named parameter func", sfun);
    }
    *ret_value = state_ret_args(args);
    return state_ret_set(
        *ret_value, STATE_FALSE,
        "cmd.%s does not work with the watch requisite, please use cmd.wait or cmd.wait_script", sfun);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define ANY(name, dflt, help)  ARG(name, ARG_ANY, dflt, help)
#define TEXT(name, dflt, help) ARG(name, ARG_STR, dflt, help)
#define ROW_NAME               ANY("name", ARG_REQUIRED, "The command")
#define ROW_CWD                TEXT("cwd", "null", "Folder to run in; by default the user's home")
#define ROW_RUNAS              TEXT("runas", "null", "User to run as")
#define ROW_SHELL              TEXT("shell", "null", "Shell; by default the grain `shell`")
#define ROW_ENV                ANY("env", "null", "Environment: a dictionary, or a list of them")
#define ROW_STATEFUL           ANY("stateful", "false", "The output's last line, or its JSON, tells what has changed")
#define ROW_LEVEL              TEXT("output_loglevel", "\"debug\"", "Log level of the output; quiet: never")
#define ROW_HIDE               ANY("hide_output", "false", "Return no output")
#define ROW_VT                 ANY("use_vt", "false", "Accepted for Salt's sake; output is collected either way")
#define ROW_TIMEOUT            ANY("timeout", "null", "Seconds until the command and its children are killed")
#define ROW_UMASK              ANY("umask", "null", "umask in octal")
#define ROWS_SUCCESS                                                                                         \
    ANY("success_retcodes", "null", "Exit codes that count as 0"),                                           \
        ANY("success_stdout", "null", "Texts in stdout that mean success"),                                  \
        ANY("success_stderr", "null", "Texts in stderr that mean success")
#define RUN_ALL_WORDS                                                                                        \
    "stdin group python_shell clean_env template rstrip output_encoding log_callback reset_system_locale "   \
    "ignore_retcode saltenv bg password encoded_cmd raise_err redirect_stderr stdin_raw_newlines args"
#define ROW_KWARGS                                                                                           \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Further arguments of the module's function", RUN_ALL_WORDS)
#define RUN_WORDS                                                                                            \
    "cwd root runas shell env prepend_path stateful output_loglevel hide_output timeout ignore_timeout "     \
    "use_vt umask success_retcodes success_stdout success_stderr " RUN_ALL_WORDS

static const arg_t run_args[] = { ROW_NAME,
                                  ROW_CWD,
                                  TEXT("root", "null", "Folder to change the root to"),
                                  ROW_RUNAS,
                                  ROW_SHELL,
                                  ROW_ENV,
                                  ANY("prepend_path", "null", "Folders in front of PATH"),
                                  ROW_STATEFUL,
                                  ROW_LEVEL,
                                  ROW_HIDE,
                                  ROW_TIMEOUT,
                                  ANY("ignore_timeout", "false",
                                      "A command that was killed for its time has done well"),
                                  ROW_VT,
                                  ROW_UMASK,
                                  ROWS_SUCCESS,
                                  ROW_KWARGS,
                                  ARGS_END };
static const arg_t wait_args[] = { ROW_NAME,
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As for cmd.run", RUN_WORDS),
                                   ARGS_END };
static const arg_t wait_script_args[] = {
    ROW_NAME, ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As for cmd.script", RUN_WORDS " source defaults context"),
    ARGS_END
};
static const arg_t wait_call_args[] = { ROW_NAME,
                                        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "As for cmd.call",
                                            "func args kws output_loglevel hide_output use_vt"),
                                        ARGS_END };
static const arg_t script_args[] = {
    ANY("name", ARG_REQUIRED, "Path or URL of the script; with `source` what to call it, and its arguments"),
    TEXT("source", "null", "Path or URL of the script"),
    TEXT("template", "null", "jinja: the script is a template"),
    ROW_CWD,
    ROW_RUNAS,
    TEXT("password", "null", "Windows only"),
    ROW_SHELL,
    ROW_ENV,
    ROW_STATEFUL,
    ROW_TIMEOUT,
    ROW_VT,
    ROW_LEVEL,
    ROW_HIDE,
    ANY("defaults", "null", "Variables of the template that context overrides"),
    ANY("context", "null", "Variables of the template"),
    ROW_UMASK,
    ROWS_SUCCESS,
    ROW_KWARGS,
    ARGS_END
};
static const arg_t call_args[] = { ANY("name", ARG_REQUIRED, "What to call it"),
                                   TEXT("func", ARG_REQUIRED, "Function of an execution module"),
                                   ANY("args", "[]", "Its positional arguments"),
                                   ANY("kws", "null", "Its keywords"),
                                   ROW_LEVEL,
                                   ROW_HIDE,
                                   ROW_VT,
                                   ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE),
                                   ARGS_END };
static const arg_t mod_watch_args[] = { ROW_NAME, TEXT("sfun", ARG_REQUIRED, "The function that watches"),
                                        ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its arguments"), ARGS_END };

static const func_t funcs[] = {
    { "call", cmd_state_call, call_args, 0,
      "Call a function of an execution module.\n\nIts return is the state's, or the change ``retval``." },
    { "mod_watch", cmd_mod_watch, mod_watch_args, 0,
      "Run a command because a state that it watches has changed." },
    { "run", cmd_state_run, run_args, 0,
      "Run a command.\n\nThe state changes something whenever it runs: say when it need not by ``unless``, "
      "``onlyif``, ``creates`` or ``onchanges``. With ``stateful`` the command tells by its last line "
      "(``changed=yes comment='...'``) or by JSON whether it has changed something." },
    { "script", cmd_state_script, script_args, 0, "Copy a script to the minion and run it." },
    { "wait", cmd_state_wait, wait_args, 0, "Run a command only when a state that it watches has changed." },
    { "wait_call", cmd_state_wait, wait_call_args, 0,
      "Call a function only when a state that it watches has changed." },
    { "wait_script", cmd_state_wait, wait_script_args, 0,
      "Run a script only when a state that it watches has changed." },
    { "watch", cmd_state_wait, wait_args, 0, "The same as cmd.wait." },
};

PLUGIN(state, cmd, .doc = "Run programs and scripts as states", FUNCS(funcs));
