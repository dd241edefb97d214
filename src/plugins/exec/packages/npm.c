/* npm.c - execution module `npm`: packages of Node.js, in a folder or for the whole machine. Since npm 7
 * answers on stdout may stand between lines of scripts, so that JSON is looked for in them. A folder `dir` is
 * where packages go; without one they are the machine's (--global). */
#include <math.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/prog.h"
#include "plugins/lib/call/subcall.h"
#include "salt/log.h"

enum { NPM_TIMEOUT_S = 1800 };

/* `env`, a dictionary or a list of them, with what tells npm for whom it works, and the registry, whose URL
 * may hold a password. NEW. npm gives its rights to SUDO_UID when root runs it. */
static json_t *
npm_env(const json_t *args)
{
    json_t *given = value_get(args, "env"), *one, *env = json_object();
    const char *user = value_str(args, "runas", ""), *registry = value_str(args, "registry", "");
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = *user != '\0' ? passwd_user(&space, user) : NULL;
    size_t i;

    if (json_is_object(given))
        json_object_update(env, given);
    json_array_foreach (given, i, one)
        json_object_update(env, one);
    if (*registry != '\0')
        json_object_set_new(env, "npm_config_registry", json_string(registry));
    if (pw != NULL && pw->pw_uid != 0) {
        json_object_set_new(env, "SUDO_UID", json_integer((json_int_t) pw->pw_uid));
        json_object_set_new(env, "SUDO_USER", json_string(""));
    }
    return env;
}

/* npm's {retcode, stdout, stderr}. NEW, or NULL with *err. "Quiet": an exit code other than 0 is an
 * answer. */
static json_t *
run_npm(call_ctx_t *ctx, const json_t *args, const json_t *line, const char *cwd, bool quiet, fail_t *err)
{
    const char *user = value_str(args, "runas", "");
    json_auto_t *env = npm_env(args);

    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:s?, s:s?, s:O, s:b, s:b, s:i}", "cmd", line, "cwd",
                    str_empty(cwd) ? NULL : cwd, "runas", *user != '\0' ? user : NULL, "env", env,
                    "python_shell", 0, "ignore_retcode", quiet, "timeout", NPM_TIMEOUT_S);
}

/* The end of the value that begins at `text`, which is '{' or '['; NULL where it has none. Only brackets and
 * quotes are followed: whether the text between is JSON, the parser tells. */
static const char *
json_end(const char *text)
{
    int depth = 0;
    bool quoted = false;

    for (const char *p = text; *p != '\0'; p++) {
        if (quoted && *p == '\\' && p[1] != '\0')
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (*p == '{' || *p == '['))
            depth++;
        else if (!quoted && (*p == '}' || *p == ']') && --depth == 0)
            return p + 1;
    }
    return NULL;
}

/* The largest object or list that begins a line; npm's scripts may print before and after it. NEW, or NULL.
 * The largest, since a script may print small ones; the first of equals. */
static json_t *
find_json(const char *text)
{
    json_t *best = NULL;
    size_t best_len = 0;

    for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        const char *end = *line == '{' || *line == '[' ? json_end(line) : NULL;
        if (end == NULL || (size_t) (end - line) <= best_len)
            continue;
        fail_auto_t why = FAIL_INIT;
        json_t *v = value_parse(line, (size_t) (end - line), LIMIT_JOB_OUTPUT, "npm", &why);
        if (v != NULL) {
            json_decref(best);
            best = v;
            best_len = (size_t) (end - line);
        }
    }
    return best;
}

/* Adds the packages of the call, which are no options. `pkg` wins over `pkgs`. Without both npm takes the
 * folder's package.json. */
static int
add_packages(const json_t *args, json_t *line, fail_t *err)
{
    const char *pkg = value_str(args, "pkg", "");
    json_auto_t *one = json_pack("[s]", pkg);
    const json_t *list = *pkg != '\0' ? one : value_get(args, "pkgs");

    if (!value_truthy(list))
        return 0;
    json_array_extend(line, (json_t *) list);
    return prog_check_operands("pkgs", list, err);
}

/* The answer is npm's JSON, or its text where there is none. A global installation runs in the folder for
 * temporary files, since npm reads a package.json of where it stands. */
static int
npm_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *dir = value_str(args, "dir", "");
    json_auto_t *line = json_pack("[s, s, s]", "npm", "install", "--json");

    if (value_truthy(value_get(args, "silent")))
        json_array_append_new(line, json_string("--silent"));
    if (*dir == '\0')
        json_array_append_new(line, json_string("--global"));
    if (value_truthy(value_get(args, "dry_run")))
        json_array_append_new(line, json_string("--dry-run"));
    if (add_packages(args, line, err) < 0)
        return err->code;
    json_auto_t *ran = run_npm(ctx, args, line, *dir != '\0' ? dir : fs_temp_dir(), false, err);
    if (ran == NULL)
        return err->code;
    const char *out = value_str(ran, "stdout", ""), *said = value_str(ran, "stderr", "");
    if (value_int(ran, "retcode", 1) != 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", *said != '\0' ? said : out);
    /* Older releases print their JSON on stderr beside warnings. */
    const char *answer = *out != '\0' ? out : said;
    *ret_value = find_json(answer);
    *ret_value = *ret_value != NULL ? *ret_value : json_string(answer);
    return 0;
}

/* True when npm ended well, with what it said in the log when not. Salt returns False and not an error
 * here. */
static int
npm_did(call_ctx_t *ctx, const json_t *args, const json_t *line, const char *cwd, bool quiet,
        json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = run_npm(ctx, args, line, cwd, quiet, err);

    if (ran == NULL)
        return err->code;
    bool good = value_int(ran, "retcode", 1) == 0;
    if (!good)
        log_error("%s", value_str(ran, "stderr", ""));
    *ret_value = json_boolean(good);
    return 0;
}

/* False when npm failed. */
static int
npm_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *dir = value_str(args, "dir", "");
    json_auto_t *line = json_pack("[s, s]", "npm", "uninstall");

    if (add_packages(args, line, err) < 0)
        return err->code;
    if (*dir == '\0')
        json_array_append_new(line, json_string("--global"));
    return npm_did(ctx, args, line, dir, false, ret_value, err);
}

/* {name: {"version": ...}}, {} when there is nothing. --depth counts from 0. */
static int
npm_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *dir = value_str(args, "dir", "");
    json_auto_t *line = json_pack("[s, s, s, s]", "npm", "list", "--json", "--silent");
    json_t *depth = value_get(args, "depth");
    AUTO_FREE char *shown = value_pystr(depth);

    if (*dir == '\0')
        json_array_append_new(line, json_string("--global"));
    if (!json_is_null(depth) && !json_is_number(depth) && !json_is_boolean(depth))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Error: depth %s must be a number", shown);
    if (!json_is_null(depth))
        json_array_append_new(
            line, value_fmt("--depth=%.0f", json_is_true(depth) ? 1 : trunc(json_number_value(depth))));
    if (add_packages(args, line, err) < 0)
        return err->code;
    json_auto_t *ran = run_npm(ctx, args, line, dir, true, err);
    if (ran == NULL)
        return err->code;
    /* npm ends with 1 where it has found nothing, too. */
    const char *out = value_str(ran, "stdout", ""), *said = value_str(ran, "stderr", "");
    if (value_int(ran, "retcode", 1) != 0 && *said != '\0')
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", said);
    json_auto_t *tree = value_parse(out, strlen(out), LIMIT_JOB_OUTPUT, "npm list", err);
    if (tree == NULL)
        return err->code;
    /* Without packages npm leaves the member out. */
    json_t *packages = value_get(tree, "dependencies");
    *ret_value = packages != NULL ? json_incref(packages) : json_object();
    return 0;
}

/* npm 5 and later want --force, which the caller must give. */
static int
npm_cache_clean(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_auto_t *line = json_pack("[s, s, s]", "npm", "cache", "clean");

    if (*path != '\0')
        json_array_append_new(line, json_string(path));
    if (json_is_true(value_get(args, "force")))
        json_array_append_new(line, json_string("--force"));
    if (prog_check_operand("path", path, err) < 0)
        return err->code;
    return npm_did(ctx, args, line, NULL, true, ret_value, err);
}

/* The text as npm prints it; newer releases have no such command and tell so. */
static int
npm_cache_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_auto_t *line = json_pack("[s, s, s]", "npm", "cache", "ls");

    if (*path != '\0')
        json_array_append_new(line, json_string(path));
    json_auto_t *ran = prog_check_operand("path", path, err) == 0 ? run_npm(ctx, args, line, NULL, true, err)
                                                                  : NULL;
    if (ran == NULL)
        return err->code;
    const char *said = value_str(ran, "stderr", "");
    if (value_int(ran, "retcode", 1) != 0 && *said != '\0')
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", said);
    *ret_value = json_incref(value_get(ran, "stdout"));
    return 0;
}

/* Some releases print it on stderr. */
static int
npm_cache_path(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s, s, s]", "npm", "config", "get", "cache");
    json_auto_t *ran = run_npm(ctx, args, line, NULL, true, err);

    if (ran == NULL)
        return err->code;
    const char *key = *value_str(ran, "stdout", "") != '\0' ? "stdout" : "stderr";
    *ret_value = json_incref(value_get(ran, key));
    return 0;
}

static const char *
exec_npm_unavailable(call_ctx_t *ctx)
{
    AUTO_FREE char *path = fs_which("npm");

    return path != NULL
               ? NULL
               : "npm execution module could not be loaded because the npm binary could not be located";
}

/* ---- table -------------------------------------------------------------------------------------- */

#define PKG_ROW(dflt) ARG("pkg", ARG_STR, dflt, "The package, with a version: NAME@VERSION; a folder, a URL")
#define DIR_ROW       ARG("dir", ARG_STR, "null", "Folder of the installation, by default the machine's")
#define RUNAS_ROW     ARG("runas", ARG_STR, "null", "User to run npm as")
#define ENV_ROW       ARG("env", ARG_ANY, "null", "Environment variables: a dictionary, or a list of them")
#define PATH_ROW      ARG("path", ARG_STR, "null", "What of the cache, by default all of it")

static const arg_t install_args[] = {
    PKG_ROW("null"),
    ARG("pkgs", ARG_LIST, "null", "Packages; without any, those that the folder's package.json needs"),
    DIR_ROW,
    RUNAS_ROW,
    ARG("registry", ARG_STR, "null", "Registry of packages"),
    ENV_ROW,
    ARG("dry_run", ARG_ANY, "false", "Tell only"),
    ARG("silent", ARG_ANY, "true", "With --silent"),
    ARGS_END,
};
static const arg_t uninstall_args[] = { PKG_ROW(ARG_REQUIRED), DIR_ROW, RUNAS_ROW, ENV_ROW, ARGS_END };
static const arg_t list_args[] = { PKG_ROW("null"),
                                   DIR_ROW,
                                   RUNAS_ROW,
                                   ENV_ROW,
                                   ARG("depth", ARG_ANY, "null", "How far to follow dependencies"),
                                   ARGS_END };
static const arg_t clean_args[] = { PATH_ROW, RUNAS_ROW, ENV_ROW,
                                    ARG("force", ARG_ANY, "false", "As npm since version 5 wants it"),
                                    ARGS_END };
static const arg_t cached_args[] = { PATH_ROW, RUNAS_ROW, ENV_ROW, ARGS_END };
static const arg_t path_args[] = { RUNAS_ROW, ENV_ROW, ARGS_END };

static const func_t funcs[] = {
    { "cache_clean", npm_cache_clean, clean_args, 0,
      "Empty the cache." CLI_EXAMPLE("salt '*' npm.cache_clean force=True") },
    { "cache_list", npm_cache_list, cached_args, FN_READONLY,
      "Return what the cache holds." CLI_EXAMPLE("salt '*' npm.cache_list") },
    { "cache_path", npm_cache_path, path_args, FN_READONLY,
      "Return the cache's folder." CLI_EXAMPLE("salt '*' npm.cache_path") },
    { "install", npm_install, install_args, 0,
      "Install packages; return what npm says." CLI_EXAMPLE(
          "salt '*' npm.install coffee-script\n    salt '*' npm.install coffee-script@1.0.1") },
    { "list", npm_list, list_args, FN_READONLY,
      "Return the installed packages." CLI_EXAMPLE("salt '*' npm.list") },
    { "uninstall", npm_uninstall, uninstall_args, 0,
      "Remove a package." CLI_EXAMPLE("salt '*' npm.uninstall coffee-script") },
};

PLUGIN(exec, npm, .doc = "Packages of Node.js", FUNCS(funcs), .unavailable = exec_npm_unavailable);
