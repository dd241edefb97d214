/* pip.c - execution module `pip`: packages of Python, by pip of the host's python3 or of a virtual
 * environment (bin_env). Options come from a table; versions are compared as PEP 440 says. By default it is
 * the host's Python, where Salt takes the one that it runs on itself: this minion has none. Each function
 * answers as Salt's, whose install and uninstall return cmd.run_all's object, so that a failed pip is data
 * there and an error elsewhere. */
#include <strings.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/python/pep440.h"
#include "plugins/lib/python/piprows.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/log.h"

enum { PIP_TIMEOUT_S = 7200 };

/* ---- the program ------------------------------------------------------------------------------ */

/* The command line that runs pip. NEW, or NULL with *err. `bin_env` is the folder of an environment, a python
 * or a pip. Called as a module of python, pip installs for just that Python, whatever a script's first line
 * says. */
static json_t *
pip_line(const json_t *args, fail_t *err)
{
    static const char *const places[] = { "python", "bin/python" };
    const char *env = value_str(args, "bin_env", "");

    if (*env == '\0')
        return json_pack("[s, s, s]", "python3", "-m", "pip");
    int dir = fs_look_dir(env, err);
    for (size_t i = 0; dir > 0 && i < NELEMS(places); i++) {
        AUTO_FREE char *path = fs_join(env, places[i]);
        if (fs_look_file(path, NULL) > 0 && access(path, X_OK) == 0)
            return json_pack("[s, s, s]", path, "-m", "pip");
    }
    /* Only a folder may lack a python; anything else must be a program itself. */
    if (dir < 0)
        return NULL;
    if (dir > 0) {
        (void) fail_kind(err, FAIL_PROGRAM, -ENOENT, "Could not find a pip binary in virtualenv %s", env);
    } else if (access(env, X_OK) < 0) {
        (void) fail_kind(err, FAIL_PROGRAM, -EACCES, "Access denied to %s, could not find a pip binary", env);
    } else {
        AUTO_FREE char *path = fop_normpath(env);
        return strstr(fop_basename(path), "python") != NULL ? json_pack("[s, s, s]", path, "-m", "pip")
                                                            : json_pack("[s]", path);
    }
    return NULL;
}

/* The variables of the call: env_vars and the virtual environment. NEW, or NULL with *err. VIRTUAL_ENV is
 * what an activated environment has; programs that pip builds with look at it. "PIP_PROXY" is pip's option
 * --proxy as a variable. */
static json_t *
pip_env(const json_t *args, fail_t *err)
{
    const char *env = value_str(args, "bin_env", "");
    json_t *vars = value_get(args, "env_vars"), *out = json_object(), *v;
    const char *key;

    if (value_truthy(vars) && !json_is_object(vars)) {
        AUTO_FREE char *text = value_pystr(vars);
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "env_vars %s is not a dictionary", text);
        json_decref(out);
        return NULL;
    }
    json_object_foreach (vars, key, v) {
        AUTO_FREE char *text = value_pystr(v);
        json_object_set_new(out, key, json_string(text));
    }
    if (*env != '\0' && fs_is_dir(env))
        json_object_set_new(out, "VIRTUAL_ENV", json_string(env));
    if (!str_empty(value_str(args, "proxy_env", "")))
        json_object_set(out, "PIP_PROXY", value_get(args, "proxy_env"));
    return out;
}

/* cmd.run_all of pip with these words. TAKES `words`. NEW, or NULL with *err. "Quiet" calls are questions
 * whose exit code tells nothing: their failure is neither logged nor the job's. */
static json_t *
pip_run(call_ctx_t *ctx, const json_t *args, json_t *words, bool quiet, fail_t *err)
{
    json_auto_t *more = words, *line = pip_line(args, err), *env = line != NULL ? pip_env(args, err) : NULL;
    json_t *null = json_null(), *cwd = value_get(args, "cwd"), *user = value_get(args, "user");

    if (env == NULL)
        return NULL;
    json_array_extend(line, more);
    return sub_call(ctx, err, "cmd.run_all", "{s:O, s:O, s:O, s:O, s:b, s:i, s:s, s:b, s:b}", "cmd", line,
                    "cwd", cwd != NULL ? cwd : null, "runas", user != NULL ? user : null, "env", env,
                    "python_shell", 0, "timeout", PIP_TIMEOUT_S, "output_loglevel", quiet ? "quiet" : "debug",
                    "redirect_stderr", quiet, "ignore_retcode", quiet);
}

/* The same for what must end well. The error is what pip says on stderr. */
static json_t *
pip_must(call_ctx_t *ctx, const json_t *args, json_t *words, fail_t *err)
{
    json_t *ran = pip_run(ctx, args, words, false, err);

    if (ran == NULL || value_int(ran, "retcode", 1) == 0)
        return ran;
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stderr", ""));
    json_decref(ran);
    return NULL;
}

/* pip's version, asked once in a job. NEW, or NULL with *err. Options depend on it. An environment has a pip
 * of its own, hence the key. "pip 23.0.1 from /usr/lib/... (python 3.11)" is what is read. */
static char *
pip_version_of(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    AUTO_FREE char *key = xasprintf("pip.version.%s", value_str(args, "bin_env", ""));
    const char *known = value_str(ctx_context(ctx), key, NULL);

    if (known != NULL)
        return xstrdup(known);
    json_auto_t *ran = pip_run(ctx, args, json_pack("[s]", "--version"), false, err);
    if (ran == NULL)
        return NULL;
    const char *said = value_str(ran, "stdout", "");
    if (value_int(ran, "retcode", 1) != 0) {
        (void) fail_kind(err, FAIL_PROGRAM, -ENOENT, "Could not find a `pip` binary");
        return NULL;
    }
    said += str_starts(said, "pip ") ? strlen("pip ") : 0;
    char *version = xstrndup(said, strcspn(said, " \n"));
    json_object_set_new(ctx_context(ctx), key, json_string(version));
    return version;
}

/* After an installation: pip itself may be another one. */
static void
forget_version(call_ctx_t *ctx, const json_t *args)
{
    AUTO_FREE char *key = xasprintf("pip.version.%s", value_str(args, "bin_env", ""));

    json_object_del(ctx_context(ctx), key);
}

/* ---- words of install and uninstall ----------------------------------------------------------- */

/* A list as it is, or a text parted at commas. NEW; empty for what is false. */
static json_t *
pip_words(const json_t *v)
{
    json_t *out = json_array();

    if (json_is_array(v)) {
        json_array_extend(out, (json_t *) v);
    } else if (value_truthy(v)) {
        AUTO_FREE char *text = value_pystr(v);
        char **parts = str_split(text, ",", false);
        for (size_t i = 0; parts[i] != NULL; i++)
            json_array_append_new(out, json_string(str_trim(parts[i])));
        strv_free(parts);
    }
    return out;
}

typedef enum opt_kind { OPT_FLAG, OPT_VALUE, OPT_LIST } opt_kind_t;
/* Tests that Salt makes of a value before pip would; ANY is none. */
typedef enum opt_check { ANY, URL, LINK, EXISTS_ACTION, INTEGER } opt_check_t;

/* An option of pip that an argument gives. The rows' order is that of the command line, Salt's order. */
static const struct opt {
    const char *arg, *option;
    opt_kind_t kind;
    opt_check_t check;
    const char *since, *until; /* pip's versions that have it; NULL: any */
} opts[] = {
    { "use_wheel", "--use-wheel", OPT_FLAG, ANY, "1.4", "9.0.3" },
    { "no_use_wheel", "--no-use-wheel", OPT_FLAG, ANY, "1.4", "9.0.3" },
    { "no_binary", "--no-binary", OPT_VALUE, ANY, "7.0.0", NULL },
    { "log", "--log", OPT_VALUE, ANY, NULL, NULL },
    { "timeout", "--timeout", OPT_VALUE, INTEGER, NULL, NULL },
    { "find_links", "--find-links", OPT_LIST, LINK, NULL, NULL },
    { "index_url", "--index-url", OPT_VALUE, URL, NULL, NULL },
    { "extra_index_url", "--extra-index-url", OPT_VALUE, URL, NULL, NULL },
    { "no_index", "--no-index", OPT_FLAG, ANY, NULL, NULL },
    { "disable_version_check", "--disable-pip-version-check", OPT_FLAG, ANY, NULL, NULL },
    { "build", "--build", OPT_VALUE, ANY, NULL, NULL },
    { "target", "--target", OPT_VALUE, ANY, NULL, NULL },
    { "download", "--download", OPT_VALUE, ANY, NULL, NULL },
    { "download_cache", "--cache-dir", OPT_VALUE, ANY, NULL, NULL },
    { "cache_dir", "--cache-dir", OPT_VALUE, ANY, NULL, NULL },
    { "source", "--source", OPT_VALUE, ANY, NULL, NULL },
    { "upgrade", "--upgrade", OPT_FLAG, ANY, NULL, NULL },
    { "force_reinstall", "--force-reinstall", OPT_FLAG, ANY, NULL, NULL },
    { "ignore_installed", "--ignore-installed", OPT_FLAG, ANY, NULL, NULL },
    { "exists_action", "--exists-action", OPT_VALUE, EXISTS_ACTION, NULL, NULL },
    { "no_deps", "--no-deps", OPT_FLAG, ANY, NULL, NULL },
    { "no_install", "--no-install", OPT_FLAG, ANY, NULL, NULL },
    { "no_download", "--no-download", OPT_FLAG, ANY, NULL, NULL },
    { "no_cache_dir", "--no-cache-dir", OPT_FLAG, ANY, NULL, NULL },
    { "pre_releases", "--pre", OPT_FLAG, ANY, "1.4", NULL },
    { "cert", "--cert", OPT_VALUE, ANY, NULL, NULL },
    { "global_options", "--global-option", OPT_LIST, ANY, NULL, NULL },
    { "install_options", "--install-option", OPT_LIST, ANY, NULL, NULL },
    { "allow_all_external", "--allow-all-external", OPT_FLAG, ANY, NULL, NULL },
    { "allow_external", "--allow-external", OPT_LIST, ANY, NULL, NULL },
    { "allow_unverified", "--allow-unverified", OPT_LIST, ANY, NULL, NULL },
    { "process_dependency_links", "--process-dependency-links", OPT_FLAG, ANY, NULL, NULL },
    { "trusted_host", "--trusted-host", OPT_VALUE, ANY, NULL, NULL },
};

/* The protocols that Salt knows for pip. */
static bool
is_url(const char *text)
{
    static const char *const protos[] = { "http://", "https://", "ftp://", "file://" };

    for (size_t i = 0; i < NELEMS(protos); i++) {
        if (str_starts(text, protos[i]))
            return true;
    }
    return false;
}

/* The error has Salt's words, with the value. */
static int
check_value(const struct opt *o, const char *text, fail_t *err)
{
    long long n;

    switch (o->check) {
    case URL:
        return is_url(text) ? 0 : fail_kind(err, FAIL_COMMAND, -EINVAL, "'%s' is not a valid URL", text);
    case LINK:
        return is_url(text) || !fs_absent(text)
                   ? 0
                   : fail_kind(err, FAIL_COMMAND, -EINVAL, "'%s' is not a valid URL or path", text);
    case EXISTS_ACTION:
        return strlen(text) == 1 && strchr("siwbSIWB", *text) != NULL
                   ? 0
                   : fail_kind(
                         err, FAIL_COMMAND, -EINVAL,
                         "The exists_action pip option only supports the values s, i, w, and b. '%s' is not "
                         "valid.",
                         text);
    case INTEGER:
        return str_to_int(text, 0, INT32_MAX, &n)
                   ? 0
                   : fail_set(err, -EINVAL, "'%s' is not a valid timeout, must be an integer", text);
    case ANY:
        break;
    }
    return 0;
}

/* An option's value is a word of its own, so that a "-" at its start does no harm. */
static int
pip_add_option(const struct opt *o, const json_t *v, json_t *line, fail_t *err)
{
    AUTO_FREE char *text = json_is_array(v) ? value_joined(v, ",") : value_pystr(v);

    if (check_value(o, text, err) < 0)
        return err->code;
    json_array_append_new(line, json_string(o->option));
    json_array_append_new(line, json_string(text));
    return 0;
}

/* An option that the version of pip does not have is left out with an error in the log, as by Salt, and not
 * refused. Versions are compared only where a row has bounds. */
static int
pip_add_options(const json_t *args, const char *version, json_t *line, fail_t *err)
{
    for (size_t i = 0; i < NELEMS(opts); i++) {
        const struct opt *o = &opts[i];
        json_t *v = value_get(args, o->arg), *one;
        size_t k;
        if (!value_truthy(v))
            continue;
        if ((o->since != NULL && pep440_cmp(version, o->since) < 0) ||
            (o->until != NULL && pep440_cmp(version, o->until) > 0)) {
            log_error("pip: this version (%s) does not have the %s option, which is ignored", version,
                      o->option);
            continue;
        }
        /* An option of the kind OPT_LIST stands once for each value, OPT_VALUE once with all values
         * joined. */
        json_auto_t *list = o->kind == OPT_LIST ? pip_words(v) : json_array();
        if (o->kind == OPT_FLAG)
            json_array_append_new(line, json_string(o->option));
        if (o->kind == OPT_VALUE && pip_add_option(o, v, line, err) < 0)
            return err->code;
        json_array_foreach (list, k, one) {
            if (pip_add_option(o, one, line, err) < 0)
                return err->code;
        }
    }
    return 0;
}

/* A file of the file server is taken from the cache. 1: *ret_value is the answer, as Salt has it. A relative
 * path in it ("-r other.txt", "-e .") is relative to the cache then, as by Salt. */
static int
add_requirements(call_ctx_t *ctx, const json_t *args, json_t *line, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "requirements"), *one;
    json_auto_t *list = pip_words(given);
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one), *path = NULL;
        if (str_starts(text, "salt://")) {
            const fetch_t what = { .url = text, .saltenv = fetch_env_arg(ctx, args) };
            if (fetch_url(ctx, &what, &path, err) < 0)
                return err->code;
            if (path == NULL) {
                *ret_value = json_pack("{s:b, s:o}", "result", 0, "comment",
                                       value_fmt("pip requirements file '%s' not found", text));
                return 1;
            }
        }
        json_array_append_new(line, json_string("--requirement"));
        json_array_append_new(line, json_string(path != NULL ? path : text));
    }
    return 0;
}

/* The option `proxy`, or what the minion's configuration says. It may hold a password, so that it goes by the
 * environment, where no process list shows it. False turns the configured one off. */
static void
pip_set_proxy(call_ctx_t *ctx, json_t *args)
{
    const json_t *conf = ctx_opts(ctx), *proxy = value_get(args, "proxy");
    const char *host = value_str(conf, "proxy_host", ""), *user = value_str(conf, "proxy_username", "");
    AUTO_FREE char *port = value_pystr(value_get(conf, "proxy_port"));
    const char *password = value_str(conf, "proxy_password", "");
    bool login = *user != '\0' && *password != '\0';

    if (value_truthy(proxy))
        json_object_set(args, "proxy_env", (json_t *) proxy);
    else if (!json_is_false(proxy) && *host != '\0' && value_truthy(value_get(conf, "proxy_port")))
        json_object_set_new(args, "proxy_env",
                            value_fmt("http://%s%s%s%s%s:%s", login ? user : "", login ? ":" : "",
                                      login ? password : "", login ? "@" : "", host, port));
}

/* Packages are operands; "," stands for ";" in Salt's own texts for ranges (">=1;<2"). Each is one word of
 * the command line, which no shell reads, so that ">" is a comparison. */
static int
add_pkgs(const json_t *args, json_t *line, fail_t *err)
{
    json_auto_t *list = pip_words(value_get(args, "pkgs"));
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one), *word = str_replace(text, ";", ",");
        if (prog_check_operand("pkgs", word, err) < 0)
            return err->code;
        json_array_append_new(line, json_string(word));
    }
    return 0;
}

/* A folder has its name in its setup, an address must bring one. */
static int
add_editable(const json_t *args, json_t *line, fail_t *err)
{
    json_auto_t *list = pip_words(value_get(args, "editable"));
    json_t *one;
    size_t i;

    json_array_foreach (list, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        bool local = strcmp(text, ".") == 0 || str_starts(text, "file://") || *text == '/';
        /* "...#egg=NAME", perhaps behind other members with "&" between them, is the name that pip needs of
         * an address. */
        const char *hash = strchr(text, '#'), *egg = hash != NULL ? strstr(hash, "egg=") : NULL;
        bool named = egg != NULL && (egg[-1] == '#' || egg[-1] == '&') && egg[4] != '\0' && egg[4] != '&';
        if (!local && !named)
            return fail_kind(err, FAIL_COMMAND, -EINVAL, "You must specify an egg for this editable");
        json_array_append_new(line, json_string("--editable"));
        json_array_append_new(line, json_string(text));
    }
    return 0;
}

/* Words of the user's own: texts, or an option with its value. {"--option": value} is for options that pip
 * wants as two words; a value that is a list or an object has no such form. */
static int
add_extra(const json_t *args, json_t *line, fail_t *err)
{
    json_t *one, *v;
    const char *key;
    size_t i;

    json_array_foreach (value_get(args, "extra_args"), i, one) {
        if (!json_is_object(one))
            json_array_append(line, one);
        json_object_foreach (one, key, v) {
            AUTO_FREE char *text = value_pystr(v);
            if (json_is_object(v) || json_is_array(v))
                return fail_set(err, -EINVAL, "Too many levels in: %s", key);
            json_array_append_new(line, json_string(key));
            json_array_append_new(line, json_string(text));
        }
    }
    return 0;
}

/* ---- functions -------------------------------------------------------------------------------- */

/* The order is Salt's and shows in the errors: requirements first, then options, packages and editables.
 * Nothing to install is a success with a sentence. */
static int
pip_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s]", "install"), *own = json_copy(args);
    /* Contradictions are told before anything is fetched. */
    bool index = value_truthy(value_get(args, "index_url")) ||
                 value_truthy(value_get(args, "extra_index_url"));
    int rc = add_requirements(ctx, args, line, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    /* Asked before the options, which are compared with it, and only once in a job. */
    AUTO_FREE char *version = pip_version_of(ctx, args, err);
    if (version == NULL)
        return err->code;
    if (value_truthy(value_get(args, "no_index")) && index)
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.");
    if (value_truthy(value_get(args, "mirrors")))
        return fail_kind(
            err, FAIL_COMMAND, -EINVAL,
            "pip >= 7.0.0 does not support mirror argument: use index_url and/or extra_index_url "
            "instead");
    pip_set_proxy(ctx, own);
    if (pip_add_options(own, version, line, err) < 0 || add_pkgs(own, line, err) < 0)
        return err->code;
    if (!value_truthy(value_get(args, "pkgs")) && !value_truthy(value_get(args, "requirements")) &&
        !value_truthy(value_get(args, "editable"))) {
        *ret_value = json_pack("{s:i, s:s}", "retcode", 0, "stdout", "No packages to install.");
        return 0;
    }
    if (add_editable(own, line, err) < 0 || add_extra(own, line, err) < 0)
        return err->code;
    *ret_value = pip_run(ctx, own, json_incref(line), false, err);
    forget_version(ctx, args);
    return *ret_value != NULL ? 0 : err->code;
}

/* -y, since nothing can answer pip's question. Options with bounds are tested against no version: older than
 * all. */
static int
pip_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *line = json_pack("[s, s]", "uninstall", "-y"), *own = json_copy(args);
    int rc = add_requirements(ctx, args, line, ret_value, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    pip_set_proxy(ctx, own);
    if (pip_add_options(own, "", line, err) < 0 || add_pkgs(own, line, err) < 0)
        return err->code;
    *ret_value = pip_run(ctx, own, json_incref(line), false, err);
    forget_version(ctx, args);
    return *ret_value != NULL ? 0 : err->code;
}

static int
pip_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *version = pip_version_of(ctx, args, err);

    if (version == NULL)
        return err->code;
    *ret_value = json_string(version);
    return 0;
}

/* --all, so that pip, setuptools and wheel are told too; each line as pip prints it. */
static int
pip_freeze(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ran = pip_must(ctx, args, json_pack("[s, s]", "freeze", "--all"), err);

    if (ran == NULL)
        return err->code;
    char **lines = str_split(value_str(ran, "stdout", ""), "\n", true);
    *ret_value = json_array();
    for (size_t i = 0; lines[i] != NULL; i++)
        json_array_append_new(*ret_value, value_utf8(lines[i], strlen(lines[i])));
    strv_free(lines);
    return 0;
}

/* The JSON that pip lists. NEW, or NULL with *err. pip may warn of a newer version of itself, but on
 * stderr. */
static json_t *
pip_listed(call_ctx_t *ctx, const json_t *args, json_t *words, fail_t *err)
{
    json_auto_t *ran = pip_must(ctx, args, words, err);
    const char *text = value_str(ran, "stdout", "");
    fail_auto_t why = FAIL_INIT;
    json_t *list = ran != NULL ? value_parse(text, strlen(text), LIMIT_FILE_READ, "pip list", &why) : NULL;

    if (list == NULL && ran != NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EBADMSG, "Invalid JSON");
    return list;
}

/* {name: version} of those whose name begins with the prefix, in any case. NEW. A prefix of "" is all. */
static json_t *
pip_installed_ones(call_ctx_t *ctx, const json_t *args, const char *prefix, fail_t *err)
{
    json_auto_t *list = pip_listed(ctx, args, json_pack("[s, s]", "list", "--format=json"), err);
    json_t *out = list != NULL ? json_object() : NULL, *one;
    size_t i;

    json_array_foreach (list, i, one) {
        if (strncasecmp(value_str(one, "name", ""), prefix, strlen(prefix)) == 0)
            json_object_set(out, value_str(one, "name", ""), value_get(one, "version"));
    }
    return out;
}

static int
pip_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = pip_installed_ones(ctx, args, value_str(args, "prefix", ""), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The prefix narrows the list, and one must be the name itself, in any case of letters. */
static int
pip_is_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "pkgname", ""), *key;
    json_auto_t *list = pip_installed_ones(ctx, args, name, err);
    bool found = false;
    json_t *v;

    if (list == NULL)
        return err->code;
    json_object_foreach (list, key, v)
        found = found || strcasecmp(key, name) == 0;
    *ret_value = json_boolean(found);
    return 0;
}

/* {name: "1.2 [wheel]"}. NEW. The kind of file is that of the newer one. */
static json_t *
pip_upgrades(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *list = pip_listed(ctx, args, json_pack("[s, s, s]", "list", "--outdated", "--format=json"),
                                   err);
    json_t *out = list != NULL ? json_object() : NULL, *one;
    size_t i;

    json_array_foreach (list, i, one)
        json_object_set_new(out, value_str(one, "name", ""),
                            value_fmt("%s [%s]", value_str(one, "latest_version", ""),
                                      value_str(one, "latest_filetype", "")));
    return out;
}

static int
pip_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = pip_upgrades(ctx, args, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The name must be as pip spells it, as by Salt. */
static int
pip_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *list = pip_upgrades(ctx, args, err);

    if (list == NULL)
        return err->code;
    *ret_value = json_boolean(value_get(list, value_str(args, "pkg", "")) != NULL);
    return 0;
}

/* {name: {"old", "new"}} of what differs. NEW. */
static json_t *
compared(const json_t *old, const json_t *new)
{
    json_t *out = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) old, key, v) {
        const char *now = value_str(new, key, "");
        if (strcmp(now, json_string_value(v)) != 0)
            json_object_set_new(out, key, json_pack("{s:O, s:s}", "old", v, "new", now));
    }
    json_object_foreach ((json_t *) new, key, v) {
        if (value_get(old, key) == NULL)
            json_object_set_new(out, key, json_pack("{s:s, s:O}", "old", "", "new", v));
    }
    return out;
}

/* Package by package, as Salt does it: a failure of one leaves the others. The comment is all that pip said
 * on stderr. */
static int
pip_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *old = pip_installed_ones(ctx, args, "", err);
    json_auto_t *list = old != NULL ? pip_upgrades(ctx, args, err) : NULL;
    buf_auto_t said = BUF_INIT;
    bool failed = false;
    const char *key;
    json_t *v;

    /* Names come from pip itself, so that none is an option. */
    json_object_foreach (list, key, v) {
        json_auto_t *ran = pip_run(ctx, args, json_pack("[s, s, s]", "install", "-U", key), false, err);
        if (ran == NULL)
            return err->code;
        failed = failed || value_int(ran, "retcode", 1) != 0;
        buf_puts(&said, value_str(ran, "stderr", ""));
    }
    forget_version(ctx, args);
    json_auto_t *new = list != NULL ? pip_installed_ones(ctx, args, "", err) : NULL;
    if (new == NULL)
        return err->code;
    *ret_value = json_pack("{s:o, s:b, s:s}", "changes", compared(old, new), "result", !failed, "comment",
                           buf_str(&said));
    return 0;
}

/* Whether a version has a letter that the call leaves out: a, b or rc. Any such letter, as by Salt:
 * "1.0.post1" has none, "1.0.dev1" neither. */
static bool
is_left_out(const json_t *args, const char *version)
{
    static const char *const marks[][2] = { { "include_alpha", "a" },
                                            { "include_beta", "b" },
                                            { "include_rc", "rc" } };
    bool out = false;

    for (size_t i = 0; i < NELEMS(marks); i++)
        out = out || (!value_truthy(value_get(args, marks[i][0])) && strstr(version, marks[i][1]) != NULL);
    return out;
}

static int
by_version(const void *a, const void *b)
{
    return pep440_cmp(*(char *const *) a, *(char *const *) b);
}

/* The versions behind a mark in what pip said, oldest first; None when there are none. NEW. pip tells them
 * newest first, or unsorted by older releases. */
static json_t *
versions_in(const json_t *args, const char *said, const char *mark)
{
    const char *found = strstr(said, mark);
    json_t *out = json_array();

    if (found != NULL) {
        found += strlen(mark);
        AUTO_FREE char *text = xstrndup(found, strcspn(found, ")\n"));
        char **all = str_split(text, ", ", true);
        qsort(all, strv_len(all), sizeof(*all), by_version);
        for (size_t i = 0; all[i] != NULL; i++) {
            if (!is_left_out(args, all[i]))
                json_array_append_new(out, json_string(all[i]));
        }
        strv_free(all);
    }
    if (json_array_size(out) > 0)
        return out;
    json_decref(out);
    return json_null();
}

/* pip has `index versions` from 21.2 on. Before, a version that can't exist is asked for, whose error lists
 * those that do; the resolver of 20.3 tells them only with the old one turned on. */
static int
pip_list_all_versions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *words = json_array();
    AUTO_FREE char *version = pip_version_of(ctx, args, err);
    AUTO_FREE char *pinned = xasprintf("%s==versions", value_str(args, "pkg", ""));

    if (version == NULL || pip_add_options(args, version, words, err) < 0 ||
        prog_check_operand("pkg", value_str(args, "pkg", ""), err) < 0)
        return err->code;
    bool index = pep440_cmp(version, "21.2") >= 0;
    if (!index && pep440_cmp(version, "20.3") >= 0)
        json_array_append_new(words, json_string("--use-deprecated=legacy-resolver"));
    json_array_append_new(words, json_string(index ? "index" : "install"));
    if (index)
        json_array_append_new(words, json_string("versions"));
    json_array_append_new(words, json_string(index ? value_str(args, "pkg", "") : pinned));
    /* pip ends with an error here in its older releases, as no such version exists: hence a quiet call whose
     * output counts. */
    json_auto_t *ran = pip_run(ctx, args, json_incref(words), true, err);
    if (ran == NULL)
        return err->code;
    *ret_value = versions_in(args, value_str(ran, "stdout", ""),
                             index ? "Available versions: " : "(from versions: ");
    return 0;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t install_args[] = {
    PIP_ROWS_INSTALL_FIRST,
    PIP_ROW_LINKS,
    PIP_ROWS_INSTALL,
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of requirements from the file server"),
    PIP_ROWS_INSTALL_LAST,
    ARG("disable_version_check", ARG_ANY, "false", "Don't look for a newer pip"),
    PIP_KWARGS,
    ARGS_END,
};
static const arg_t uninstall_args[] = {
    PIP_ROW_PKGS,
    PIP_ROW_REQS,
    PIP_ROW_ENV,
    PIP_ROWS_NET,
    PIP_ROW_USER,
    PIP_ROW_CWD,
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of requirements from the file server"),
    PIP_ROW_VT,
    ARGS_END,
};
static const arg_t version_args[] = { PIP_ROW_ENV, PIP_ROW_CWD, PIP_ROW_USER, ARGS_END };
static const arg_t env_args[] = { PIP_ROW_ENV, PIP_ROW_USER, PIP_ROW_CWD, ARGS_END };
static const arg_t upgrade_args[] = { PIP_ROW_ENV, PIP_ROW_USER, PIP_ROW_CWD, PIP_ROW_VT, ARGS_END };
static const arg_t freeze_args[] = { PIP_ROW_ENV,  PIP_ROW_USER, PIP_ROW_CWD, PIP_ROW_VT,
                                     PIP_ROW_VARS, PIP_KWARGS,   ARGS_END };
static const arg_t list_args[] = {
    ARG("prefix", ARG_STR, "null", "Only packages whose name begins so"),
    PIP_ROW_ENV,
    PIP_ROW_USER,
    PIP_ROW_CWD,
    PIP_ROW_VARS,
    PIP_KWARGS,
    ARGS_END,
};
static const arg_t is_installed_args[] = {
    ARG("pkgname", ARG_STR, ARG_REQUIRED, "Name of the package"),
    PIP_ROW_ENV,
    PIP_ROW_USER,
    PIP_ROW_CWD,
    ARGS_END,
};
static const arg_t available_args[] = {
    ARG("pkg", ARG_STR, ARG_REQUIRED, "Name of the package"),
    PIP_ROW_ENV,
    PIP_ROW_USER,
    PIP_ROW_CWD,
    ARGS_END,
};
static const arg_t versions_args[] = {
    ARG("pkg", ARG_STR, ARG_REQUIRED, "Name of the package"),
    PIP_ROW_ENV,
    ARG("include_alpha", ARG_ANY, "false", "Versions with an a too"),
    ARG("include_beta", ARG_ANY, "false", "Versions with a b too"),
    ARG("include_rc", ARG_ANY, "false", "Versions with an rc too"),
    PIP_ROW_USER,
    PIP_ROW_CWD,
    PIP_ROWS_INDEX,
    ARGS_END,
};

static const func_t funcs[] = {
    { "freeze", pip_freeze, freeze_args, FN_READONLY,
      "Return the installed packages as requirements." CLI_EXAMPLE(
          "salt '*' pip.freeze bin_env=/path/to/env") },
    { "install", pip_install, install_args, 0,
      "Install packages." CLI_EXAMPLE("salt '*' pip.install <package name>,<package2 name>") },
    { "is_installed", pip_is_installed, is_installed_args, FN_READONLY,
      "Return whether a package is installed." CLI_EXAMPLE("salt '*' pip.is_installed salt") },
    { "list", pip_list, list_args, FN_READONLY,
      "Return the installed packages with their versions." CLI_EXAMPLE("salt '*' pip.list salt") },
    { "list_all_versions", pip_list_all_versions, versions_args, FN_READONLY,
      "Return all versions of a package that the index has." CLI_EXAMPLE(
          "salt '*' pip.list_all_versions salt") },
    { "list_freeze_parse", pip_list, list_args, FN_READONLY,
      "Return the installed packages with their versions." CLI_EXAMPLE(
          "salt '*' pip.list_freeze_parse salt") },
    { "list_upgrades", pip_list_upgrades, env_args, FN_READONLY,
      "Return packages that have a newer version." CLI_EXAMPLE("salt '*' pip.list_upgrades") },
    { "uninstall", pip_uninstall, uninstall_args, 0,
      "Remove packages." CLI_EXAMPLE("salt '*' pip.uninstall <package name>,<package2 name>") },
    { "upgrade", pip_upgrade, upgrade_args, 0, "Upgrade all packages." CLI_EXAMPLE("salt '*' pip.upgrade") },
    { "upgrade_available", pip_upgrade_available, available_args, FN_READONLY,
      "Return whether a package has a newer version." CLI_EXAMPLE(
          "salt '*' pip.upgrade_available <package name>") },
    { "version", pip_version, version_args, FN_READONLY,
      "Return the version of pip." CLI_EXAMPLE("salt '*' pip.version") },
};

PLUGIN(exec, pip, .doc = "Packages of Python", FUNCS(funcs));
