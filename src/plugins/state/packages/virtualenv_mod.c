/* virtualenv_mod.c - state module `virtualenv`: an environment of Python is there, with its packages. The
 * steps of a run are rows of an array; a step that answers 1 has made the return. Changes are the
 * interpreter's version ("new", "old"), the packages that clearing removed, and those that pip.install
 * added. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/python/piprows.h"
#include "plugins/lib/transfer/fetch.h"
#include "salt/state.h"

/* A run. `clear` makes an environment that is there anew. */
typedef struct managed_venv {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    fail_t *err;
    char *python; /* owned: its bin/python */
    json_t *reqs; /* owned: `requirements`, from the cache where it is a salt:// URL */
    bool there, clear;
} managed_venv_t;

static json_t *
venv_arg(const managed_venv_t *m, const char *key)
{
    return value_get(m->args, key);
}

/* The interpreter's version: changes[key]. */
static int
note_version(managed_venv_t *m, const char *key)
{
    json_auto_t *ran = sub_call(m->ctx, m->err, "cmd.run_all", "{s:[s, s], s:b, s:b, s:i}", "cmd", m->python,
                                "-V", "python_shell", 0, "redirect_stderr", 1, "timeout", 60);

    if (ran == NULL)
        return m->err->code;
    state_change(m->ret, key, json_incref(value_get(ran, "stdout")));
    return 0;
}

/* Fetches a file of requirements from the file server. 1: the return is made. */
static int
find_requirements(managed_venv_t *m)
{
    const char *text = value_str(m->args, "requirements", "");
    const fetch_t what = { .url = text, .saltenv = ctx_saltenv(m->ctx) };
    AUTO_FREE char *path = NULL;

    m->reqs = json_incref(venv_arg(m, "requirements"));
    if (!str_starts(text, "salt://"))
        return 0;
    if (fetch_url(m->ctx, &what, &path, m->err) < 0)
        return m->err->code;
    if (path == NULL) {
        state_ret_set(m->ret, STATE_FALSE, "pip requirements file '%s' not found", text);
        return 1;
    }
    json_decref(m->reqs);
    m->reqs = json_string(path);
    return 0;
}

/* What an environment that will be cleared has: its packages and its interpreter are changes, in a test
 * too. */
static int
note_cleared(managed_venv_t *m)
{
    if (!m->there || !m->clear)
        return 0;
    json_t *had = sub_call(m->ctx, m->err, "pip.freeze", "{s:O}", "bin_env", venv_arg(m, "name"));
    if (had == NULL)
        return m->err->code;
    state_change(m->ret, "cleared_packages", had);
    return note_version(m, "old");
}

/* Test mode ends here; packages are not looked at. */
static int
venv_foretell(managed_venv_t *m)
{
    const char *name = value_str(m->args, "name", "");

    if (!ctx_test(m->ctx))
        return 0;
    if (m->there && !m->clear)
        state_ret_set(m->ret, STATE_TRUE, "Virtualenv %s is already created", name);
    else
        state_ret_set(m->ret, STATE_NONE, "Virtualenv %s is set to be %s", name,
                      m->there ? "cleared" : "created");
    return 1;
}

/* Runs virtualenv.create for what is not there, or is to be cleared. 1: it failed, and the return is made. */
static int
venv_make(managed_venv_t *m)
{
    static const char *const names[] = { "venv_bin", "system_site_packages", "distribute",     "clear",
                                         "python",   "extra_search_dir",     "never_download", "prompt",
                                         "user" };
    json_auto_t *kwargs = json_copy(venv_arg(m, "kwargs")), *ran = NULL;
    fail_auto_t why = FAIL_INIT;

    if (m->there && !m->clear)
        return state_ret_set(m->ret, STATE_TRUE, "virtualenv exists");
    json_object_set(kwargs, "path", venv_arg(m, "name"));
    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_set(kwargs, names[i], venv_arg(m, names[i]));
    if (ctx_call(m->ctx, "virtualenv.create", NULL, kwargs, &ran, &why) < 0) {
        if (why.kind != FAIL_PROGRAM)
            return fail_kind(m->err, why.kind, why.code, "%s", fail_text(&why));
        state_ret_set(m->ret, STATE_FALSE, "Failed to create virtualenv: %s", fail_text(&why));
        return 1;
    }
    if (value_int(ran, "retcode", 1) != 0) {
        state_ret_set(m->ret, STATE_FALSE, "%s%s", value_str(ran, "stdout", ""),
                      value_str(ran, "stderr", ""));
        return 1;
    }
    state_ret_set(m->ret, STATE_TRUE, m->clear ? "Cleared existing virtualenv" : "Created new virtualenv");
    return note_version(m, "new");
}

/* Those of `a` that `b` does not have, or "". NEW. */
static json_t *
only_in(const json_t *a, const json_t *b)
{
    json_t *out = json_array(), *v;
    size_t i;

    json_array_foreach ((json_t *) a, i, v) {
        if (!value_has(b, v))
            json_array_append(out, v);
    }
    if (json_array_size(out) > 0)
        return out;
    json_decref(out);
    return json_string("");
}

/* pip.install's arguments by the state's names. NEW. */
static json_t *
install_words(const managed_venv_t *m)
{
    static const char *const names[][2] = { { "pip_pkgs", "pkgs" },
                                            { "name", "bin_env" },
                                            { "use_wheel", "use_wheel" },
                                            { "no_use_wheel", "no_use_wheel" },
                                            { "no_binary", "no_binary" },
                                            { "user", "user" },
                                            { "cwd", "cwd" },
                                            { "index_url", "index_url" },
                                            { "extra_index_url", "extra_index_url" },
                                            { "pip_download", "download" },
                                            { "pip_download_cache", "download_cache" },
                                            { "pre_releases", "pre_releases" },
                                            { "pip_exists_action", "exists_action" },
                                            { "pip_ignore_installed", "ignore_installed" },
                                            { "pip_upgrade", "upgrade" },
                                            { "no_deps", "no_deps" },
                                            { "proxy", "proxy" },
                                            { "env_vars", "env_vars" },
                                            { "pip_no_cache_dir", "no_cache_dir" },
                                            { "pip_cache_dir", "cache_dir" },
                                            { "process_dependency_links", "process_dependency_links" } };
    json_t *kwargs = json_object();

    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_set(kwargs, names[i][1], venv_arg(m, names[i][0]));
    json_object_set(kwargs, "requirements", m->reqs);
    return kwargs;
}

/* Installs packages and requirements, each time: pip finds out what is there. pip.freeze before and after
 * gives the changes. */
static int
venv_packages(managed_venv_t *m)
{
    json_auto_t *before = NULL, *kwargs = install_words(m), *ran = NULL, *after = NULL;
    fail_auto_t why = FAIL_INIT;

    if (!value_truthy(m->reqs) && !value_truthy(venv_arg(m, "pip_pkgs")))
        return 0;
    before = sub_call(m->ctx, &why, "pip.freeze", "{s:O, s:O}", "bin_env", venv_arg(m, "name"), "user",
                      venv_arg(m, "user"));
    if (before == NULL)
        return state_ret_set(m->ret, STATE_FALSE, "%s", fail_text(&why));
    if (ctx_call(m->ctx, "pip.install", NULL, kwargs, &ran, m->err) < 0)
        return m->err->code;
    if (value_int(ran, "retcode", 1) != 0)
        state_ret_set(m->ret, STATE_FALSE, "%s\n%s\n%s", value_str(m->ret, "comment", ""),
                      value_str(ran, "stdout", ""), value_str(ran, "stderr", value_str(ran, "comment", "")));
    after = sub_call(m->ctx, m->err, "pip.freeze", "{s:O}", "bin_env", venv_arg(m, "name"));
    if (after == NULL)
        return m->err->code;
    if (!json_equal(before, after))
        state_change(m->ret, "packages",
                     json_pack("{s:o, s:o}", "new", only_in(after, before), "old", only_in(before, after)));
    return 0;
}

/* bin/python is the mark of an environment, as in Salt. A step that has made the return ends the others. */
static int
virtualenv_managed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static int (*const steps[])(managed_venv_t *) = { find_requirements, note_cleared, venv_foretell,
                                                      venv_make, venv_packages };
    managed_venv_t m = { .ctx = ctx, .args = args, .err = err, .ret = state_ret_args(args) };

    m.python = fs_join(value_str(args, "name", ""), "bin/python");
    m.clear = value_truthy(value_get(args, "clear"));
    int rc = fop_exists(m.python, err);
    m.there = rc > 0;
    rc = rc < 0 ? rc : 0;
    for (size_t i = 0; rc == 0 && i < NELEMS(steps); i++)
        rc = steps[i](&m);
    free(m.python);
    json_decref(m.reqs);
    *ret_value = m.ret;
    if (rc >= 0)
        return 0;
    json_decref(m.ret);
    *ret_value = NULL;
    return rc;
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t managed_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "Folder of the environment"),
    ARG("venv_bin", ARG_STR, "null", "The program: virtualenv, pyvenv, python3 -m venv"),
    PIP_ROW_REQS,
    PIP_ANY("system_site_packages", "false", "With the host's packages"),
    PIP_ANY("distribute", "false", "Accepted for Salt's sake"),
    PIP_ANY("use_wheel", "false", "For pip before 10"),
    PIP_ANY("clear", "false", "Make it anew"),
    PIP_ANY("python", "null", "The interpreter; only virtualenv has this"),
    PIP_ANY("extra_search_dir", "null", "Folders with wheels; only virtualenv has this"),
    PIP_ANY("never_download", "null", "Don't ask the network; only virtualenv has this"),
    PIP_ANY("prompt", "null", "Prompt of its shell"),
    PIP_ROW_USER,
    PIP_ROW_CWD,
    PIP_ROWS_INDEX,
    PIP_ANY("pre_releases", "false", "Take versions before a release too"),
    PIP_ANY("no_deps", "false", "Leave out dependencies"),
    PIP_ANY("pip_download", "null", "For pip before 10"),
    PIP_ANY("pip_download_cache", "null", "Folder of pip's cache"),
    PIP_ANY("pip_exists_action", "null", "Where a path exists: s, i, w or b"),
    PIP_ANY("pip_ignore_installed", "false", "Install over what is there"),
    PIP_ANY("proxy", "null", "user:password@host:port of a proxy"),
    PIP_ROW_VT,
    PIP_ROW_VARS,
    PIP_ANY("no_use_wheel", "false", "For pip before 10"),
    PIP_ANY("pip_upgrade", "false", "Take the newest versions"),
    PIP_ANY("pip_pkgs", "null", "Packages to install"),
    PIP_ANY("pip_no_cache_dir", "false", "Without pip's cache"),
    PIP_ANY("pip_cache_dir", "null", "Folder of pip's cache"),
    PIP_ANY("process_dependency_links", "false", "For pip before 19"),
    PIP_ANY("no_binary", "null", "Packages to take as sources, or :all:"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", "pip symlinks upgrade"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "manage", virtualenv_managed, managed_args, 0, "The same as managed." },
    { "managed", virtualenv_managed, managed_args, 0,
      "An environment of Python is there, with its packages." },
};

PLUGIN(state, virtualenv_mod, .provides = "virtualenv", .doc = "Environments of Python", FUNCS(funcs));
