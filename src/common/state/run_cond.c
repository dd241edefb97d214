/* run_cond.c - onlyif, unless, creates and check_cmd: Salt's run_check and its like.
 *
 * Each condition fills a verdict_t; a verdict with `skip` ends the state with result True without calling it.
 * Commands run through cmd.retcode, functions through ctx_call(). */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/state/run_call.h"
#include "salt/log.h"

/* The outcome of one condition. */
typedef struct verdict {
    bool skip; /* the state is done without being called */
    bool skip_watch;
    char *comment; /* owned; NULL: no condition was evaluated */
} verdict_t;

static void
run_cond_say(verdict_t *v, bool skip, const char *comment)
{
    free(v->comment);
    *v = (verdict_t){ .skip = skip, .skip_watch = skip, .comment = xstrdup(comment) };
}

/* An option of the chunk for its conditions' commands. BORROWED, or NULL when absent or excluded:
 * `cmd_opts_exclude` is a word or list of options that are not passed on. */
static json_t *
option_of(const json_t *low, const char *key)
{
    const json_t *words = value_get(low, "cmd_opts_exclude");

    if (low == NULL || value_lists(words, key) || str_eq(json_string_value(words), key))
        return NULL;
    return value_get(low, key);
}

/* Build cmd.retcode's keywords from the chunk. NEW. */
static json_t *
command_options(call_ctx_t *ctx, const json_t *low)
{
    static const char *const keys[] = { "cwd",          "root",  "runas",   "env",
                                        "prepend_path", "umask", "timeout", "success_retcodes" };
    json_t *out = json_pack("{s:b, s:b}", "ignore_retcode", 1, "python_shell", 1),
           *shell = option_of(low, "shell");

    for (size_t i = 0; i < NELEMS(keys); i++) {
        json_t *v = option_of(low, keys[i]);
        if (v != NULL && !json_is_null(v))
            json_object_set(out, keys[i], v);
    }
    /* An account's login shell that refuses logins, as user.present has it: no command runs by it. */
    const char *path = json_string_value(shell), *program = path != NULL ? strrchr(path, '/') : NULL;
    if (shell == NULL || str_eq(program, "/nologin") || str_eq(program, "/false"))
        shell = value_get(ctx_grains(ctx), "shell");
    if (shell != NULL)
        json_object_set(out, "shell", shell);
    return out;
}

/* Run a command. 0-255: its exit code; a negative errno with *err where Salt raises an exception. */
static int
run_cond_command(call_ctx_t *ctx, json_t *cmd, json_t *options, fail_t *err)
{
    json_auto_t *args = json_pack("[O]", cmd), *ret = NULL;

    if (ctx_call(ctx, "cmd.retcode", args, options, &ret, err) < 0)
        return -EIO;
    log_debug("Last command return code: %lld", (long long) json_integer_value(ret));
    return (int) json_integer_value(ret) & 0xff;
}

/* Evaluate one entry of onlyif or unless: 1 true, 0 false, -1 with *err. */
static int
run_cond_holds(call_ctx_t *ctx, json_t *entry, json_t *options, bool unless, fail_t *err)
{
    if (json_is_object(entry)) {
        /* Call {"fun": "file.file_exists", "args": [...], "get_return": "a:b", **kwargs}. The exit code
         * decides if the function sets one. */
        json_auto_t *kwargs = json_copy(entry), *ret = NULL;
        json_t *args = value_get(entry, "args"), *path = value_get(entry, "get_return"), *shown;
        json_auto_t *wrapped = json_pack("{s:o}", "args", args != NULL ? json_deep_copy(args) : json_array());
        json_object_del(kwargs, "fun");
        json_object_del(kwargs, "args");
        json_object_del(kwargs, "get_return");
        if (state_slots(ctx, kwargs, err) < 0 || state_slots(ctx, wrapped, err) < 0)
            return -EIO;
        ctx_set_retcode(ctx, 0);
        if (ctx_call(ctx, value_str(entry, "fun", ""), value_get(wrapped, "args"), kwargs, &ret, err) < 0)
            return -EIO;
        if (ctx_retcode(ctx) != 0)
            return 0;
        shown = value_truthy(path) ? value_path(ret, json_string_value(path), ":") : ret;
        return value_truthy(shown) ? 1 : 0;
    }
    int code = run_cond_command(ctx, entry, options, err);
    if (code >= 0)
        return code == 0;
    if (err->kind != FAIL_COMMAND)
        return -1;
    /* The command could not start: Salt skips the state in both cases. */
    fail_clear(err);
    return unless ? 1 : 0;
}

/* The condition cannot be evaluated: its comment says so, and the state runs. */
static void
no_fun(verdict_t *v, const char *what, const json_t *entry)
{
    AUTO_FREE char *shown = value_repr(entry), *text = xasprintf("no `fun` argument in %s: %s", what, shown);

    log_warning("%s", text);
    free(v->comment);
    v->comment = STEAL(text);
}

/* The list itself, or a single value as a list. NEW. */
static json_t *
run_cond_as_list(json_t *v)
{
    return json_is_array(v) ? json_incref(v) : json_pack("[O]", v);
}

/* All entries must be true; the first false one skips the state. */
static int
onlyif(call_ctx_t *ctx, const json_t *low, json_t *options, verdict_t *v, fail_t *err)
{
    json_auto_t *entries = run_cond_as_list(value_get(low, "onlyif"));
    json_t *entry;
    size_t i;

    json_array_foreach (entries, i, entry) {
        if (!json_is_string(entry) && !json_is_object(entry)) {
            run_cond_say(v, false, "onlyif execution failed, bad type passed");
            return 0;
        }
        if (json_is_object(entry) && value_get(entry, "fun") == NULL) {
            no_fun(v, "onlyif", entry);
            return 0;
        }
        int yes = run_cond_holds(ctx, entry, options, false, err);
        if (yes < 0)
            return yes;
        run_cond_say(v, !yes, yes ? "onlyif condition is true" : "onlyif condition is false");
        if (!yes)
            return 0;
    }
    return 0;
}

/* The state is skipped only if all entries are true; the first false one ends the evaluation. */
static int
unless(call_ctx_t *ctx, const json_t *low, json_t *options, verdict_t *v, fail_t *err)
{
    json_auto_t *entries = run_cond_as_list(value_get(low, "unless"));
    json_t *entry;
    size_t i;

    json_array_foreach (entries, i, entry) {
        if (!json_is_string(entry) && !json_is_object(entry)) {
            run_cond_say(v, false, "unless condition is false, bad type passed");
            continue;
        }
        if (json_is_object(entry) && value_get(entry, "fun") == NULL) {
            no_fun(v, "unless", entry);
            return 0;
        }
        int yes = run_cond_holds(ctx, entry, options, true, err);
        if (yes < 0)
            return yes;
        run_cond_say(v, yes, yes ? "unless condition is true" : "unless condition is false");
        if (!yes)
            return 0;
    }
    return 0;
}

/* 1 when the path exists, 0 when not; negative with *err if that can't be told: the file might exist, so the
 * state must not create it again. */
static int
exists(const json_t *path, fail_t *err)
{
    return json_is_string(path) ? fs_look(json_string_value(path), err) : 0;
}

/* Applies `creates`: the state is skipped when the file exists, or when all files of a list do. */
static int
creates(const json_t *low, verdict_t *v, fail_t *err)
{
    json_t *given = value_get(low, "creates"), *path;
    int all = json_is_array(given), one = exists(given, err);
    size_t i;

    json_array_foreach (given, i, path)
        all = all > 0 ? exists(path, err) : all;
    if (one < 0 || all < 0)
        return one < 0 ? one : all;
    if (one > 0) {
        AUTO_FREE char *text = xasprintf("%s exists", json_string_value(given));
        run_cond_say(v, true, text);
    } else {
        run_cond_say(v, all, all ? "All files in creates exist" : "Creates files not found");
    }
    return 0;
}

/* Keys that Salt's return has beside the verdict; null where the chunk lacks one. */
static void
copy_keys(const json_t *low, json_t *out)
{
    static const char *const keys[] = { "__sls__", "__id__", "name" };

    for (size_t i = 0; i < NELEMS(keys); i++) {
        json_t *v = value_get(low, keys[i]);
        json_object_set_new(out, keys[i], v != NULL ? json_incref(v) : json_null());
    }
}

/* Merge a verdict into the return. TAKES its comment and resets it. */
static void
add_verdict(json_t *out, verdict_t *v, bool *skip_watch, bool *skip)
{
    *skip = *skip || v->skip;
    *skip_watch = *skip_watch || v->skip_watch;
    if (v->comment != NULL)
        json_array_append_new(value_get(out, "comment"), json_string(v->comment));
    free(v->comment);
    *v = (verdict_t){ 0 };
}

json_t *
state_cond_run(call_ctx_t *ctx, const json_t *low, fail_t *err)
{
    json_auto_t *out = json_pack("{s:b, s:[]}", "result", 0, "comment"), *options = command_options(ctx, low);
    verdict_t v = { 0 };
    bool skip = false, skip_watch = false;
    int rc = 0;

    copy_keys(low, out);
    if (value_get(low, "onlyif") != NULL) {
        rc = onlyif(ctx, low, options, &v, err);
        add_verdict(out, &v, &skip_watch, &skip);
    }
    if (rc == 0 && value_get(low, "unless") != NULL) {
        rc = unless(ctx, low, options, &v, err);
        add_verdict(out, &v, &skip_watch, &skip);
    }
    if (rc == 0 && value_get(low, "creates") != NULL) {
        rc = creates(low, &v, err);
        add_verdict(out, &v, &skip_watch, &skip);
    }
    if (rc < 0)
        return NULL;
    json_object_set_new(out, "result", json_boolean(skip));
    if (skip_watch)
        json_object_set_new(out, "skip_watch", json_true());
    return json_incref(out);
}

/* Commands get none of the chunk's options, as in Salt. */
json_t *
state_cond_check_cmd(call_ctx_t *ctx, const json_t *low, fail_t *err)
{
    json_auto_t *out = json_pack("{s:b}", "result", 0), *options = command_options(ctx, NULL),
                *entries = run_cond_as_list(value_get(low, "check_cmd"));
    json_t *entry;
    size_t i;

    copy_keys(low, out);
    json_array_foreach (entries, i, entry) {
        int code = run_cond_command(ctx, entry, options, err);
        if (code < 0)
            return NULL;
        json_object_set_new(out, "result", json_boolean(code == 0));
        json_object_set_new(out, "comment",
                            json_string(code == 0 ? "check_cmd determined the state succeeded"
                                                  : "check_cmd determined the state failed"));
        if (code != 0)
            break;
    }
    return json_incref(out);
}
