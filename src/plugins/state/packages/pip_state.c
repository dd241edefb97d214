/* pip_state.c - state module `pip`: packages of Python are there, are not, or are up to date. What is there
 * is asked of pip before and after. A requirement is read as PEP 508 writes it, as far as name and specifiers
 * go; what is a URL, a path or an editable checkout is given to pip as it is. Requirements compare by
 * plugins/lib/python/pep440.h. Comments and their lines are Salt's. */
#include <ctype.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/python/pep440.h"
#include "plugins/lib/python/piprows.h"
#include "salt/state.h"

/* A state at work. read_packages() fills `wanted`, compare_packages() the rest. */
typedef struct pip {
    call_ctx_t *ctx;
    json_t *args, *ret; /* BORROWED */
    fail_t *err;
    json_t *wanted; /* owned: [{"prefix", "text", "specs": [[oper, version]]}] */
    json_t *there;  /* owned: {name: version} */
    json_t *todo;   /* owned: those of `wanted` that are to be installed */
    buf_t notes;    /* lines about what is there already */
} pip_t;

/* True when the argument has a value that counts. */
static bool
pip_asked(const pip_t *p, const char *key)
{
    return value_truthy(value_get(p->args, key));
}

/* A function of the module in the state's environment. TAKES `more`. NEW, or NULL with *err. */
static json_t *
pip_ask(pip_t *p, const char *fun, json_t *more, fail_t *err)
{
    static const char *const shared[] = { "bin_env", "user", "cwd" };
    json_auto_t *kwargs = more;
    json_t *value = NULL;

    for (size_t i = 0; i < NELEMS(shared); i++) {
        if (value_get(p->args, shared[i]) != NULL)
            json_object_set(kwargs, shared[i], value_get(p->args, shared[i]));
    }
    return ctx_call(p->ctx, fun, NULL, kwargs, &value, err) == 0 ? value : NULL;
}

/* ---- requirements ---------------------------------------------------------------------------- */

/* The name as pip lists it: what is neither letter, digit nor dot is one dash. NEW. */
static char *
pip_prefix(const char *name, size_t n)
{
    buf_auto_t out = BUF_INIT;

    for (size_t i = 0; i < n; i++) {
        bool plain = isalnum((unsigned char) name[i]) || name[i] == '.';
        if (plain || out.len == 0 || out.data[out.len - 1] != '-')
            buf_putc(&out, plain ? name[i] : '-');
    }
    return buf_steal(&out);
}

/* ">=1.0,<2" as [[">=", "1.0"], ["<", "2"]]. NEW; NULL: it is none. */
static json_t *
specs_of(const char *text)
{
    static const char *const opers[] = { "===", "==", ">=", "<=", "!=", "~=", "<", ">" };
    char **parts = str_split(text, ",", true);
    json_t *specs = json_array();

    for (size_t i = 0; specs != NULL && parts[i] != NULL; i++) {
        const char *part = str_trim(parts[i]), *oper = NULL;
        for (size_t k = 0; oper == NULL && k < NELEMS(opers); k++)
            oper = str_starts(part, opers[k]) ? opers[k] : NULL;
        if (oper == NULL) {
            json_decref(STEAL(specs));
            break;
        }
        part += strlen(oper);
        json_array_append_new(specs, json_pack("[s, s]", oper, part + strspn(part, " ")));
    }
    strv_free(parts);
    return specs;
}

/* A requirement in pip's words; NULL with a comment when pip would not take it. An environment marker behind
 * ";" is left to pip. NEW. */
static json_t *
read_requirement(const char *text, char **ret_comment)
{
    const char *egg = strstr(text, "egg="), *p = text;
    bool url = strstr(text, "://") != NULL && strstr(text, " @ ") == NULL,
         path = *text == '/' || *text == '.';

    if (url || path) {
        const char *name = egg != NULL ? egg + strlen("egg=") : "";
        AUTO_FREE char *prefix = pip_prefix(name, strcspn(name, "&[=<>!~"));
        return json_pack("{s:s, s:s, s:[]}", "prefix", prefix, "text", text, "specs");
    }
    /* The name, then [extras], then specifiers, in parentheses or not, or " @ URL". */
    size_t n = 0;
    while (isalnum((unsigned char) p[n]) || (n > 0 && p[n] != '\0' && strchr("._-", p[n]) != NULL))
        n++;
    AUTO_FREE char *prefix = pip_prefix(p, n), *rest = xstrndup(p + n, strcspn(p + n, ";"));
    char *spec = str_trim(rest), *extras = *spec == '[' ? strchr(spec, ']') : NULL;
    spec = extras != NULL ? str_trim(extras + 1) : spec;
    size_t len = strlen(spec);
    if (len > 1 && *spec == '(' && spec[len - 1] == ')') {
        spec[len - 1] = '\0';
        spec++;
    }
    json_t *specs = n == 0 ? NULL : *spec == '@' ? json_array() : specs_of(spec);
    if (specs != NULL)
        return json_pack("{s:s, s:s, s:o}", "prefix", prefix, "text", text, "specs", specs);
    *ret_comment = strchr(text, '=') != NULL && strstr(text, "==") == NULL
                       ? xasprintf(
                             "Invalid version specification in package %s. '=' is not supported, use '==' "
                             "instead.",
                             text)
                       : xasprintf("pip raised an exception while parsing '%s': Invalid requirement: '%s'",
                                   text, text);
    return NULL;
}

/* ---- installed ------------------------------------------------------------------------------- */

/* Reads the name or `pkgs` into `wanted`. With a file of requirements or an editable checkout nothing is wanted by
 * name. 1: the return is made. */
static int
read_packages(pip_t *p)
{
    json_t *pkgs = value_get(p->args, "pkgs"), *one;
    json_auto_t *texts = json_array();
    buf_auto_t bad = BUF_INIT;
    size_t i;

    if (value_truthy(pkgs) && !json_is_array(pkgs)) {
        state_ret_set(p->ret, STATE_FALSE, "pkgs argument must be formatted as a list");
        return 1;
    }
    if (!value_truthy(pkgs) && value_str(p->args, "name", NULL) == NULL) {
        state_ret_set(p->ret, STATE_FALSE, "no package is named: write `name` or `pkgs`");
        return 1;
    }
    if (!value_truthy(pkgs))
        json_array_append(texts, value_get(p->args, "name"));
    json_array_foreach (value_truthy(pkgs) ? pkgs : NULL, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_array_append_new(texts, json_string(text));
    }
    /* The return's name lists all packages. */
    AUTO_FREE char *name = value_joined(texts, ";");
    json_object_set_new(p->ret, "name", json_string(name));
    p->wanted = json_array();
    json_array_foreach (texts, i, one) {
        AUTO_FREE char *why = NULL;
        json_t *req = pip_asked(p, "requirements") || pip_asked(p, "editable")
                          ? json_null()
                          : read_requirement(json_string_value(one), &why);
        if (req == NULL)
            buf_printf(&bad, "%s%s", bad.len > 0 ? "\n" : "", why);
        else if (json_is_object(req))
            json_array_append_new(p->wanted, req);
    }
    if (bad.len > 0)
        state_ret_set(p->ret, STATE_FALSE, "%s", buf_str(&bad));
    return bad.len > 0;
}

/* pip is there and has what is asked for. 1: the return is made. */
static int
check_pip(pip_t *p)
{
    static const char *const wheel[] = { "use_wheel", "no_use_wheel" };
    fail_auto_t why = FAIL_INIT;
    json_auto_t *version = sub_call_text(p->ctx, &why, "pip.version", "{s:O}", "bin_env",
                                         value_get(p->args, "bin_env"));
    const char *now = json_string_value(version);

    if (version == NULL) {
        state_ret_set(p->ret, STATE_FALSE, "Error installing '%s': %s", value_str(p->args, "name", ""),
                      fail_text(&why));
        return 1;
    }
    for (size_t i = 0; i < NELEMS(wheel); i++) {
        if (!pip_asked(p, wheel[i]) || (pep440_cmp(now, "1.4") >= 0 && pep440_cmp(now, "9.0.3") <= 0))
            continue;
        state_ret_set(
            p->ret, STATE_FALSE,
            "The '%s' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected "
            "was %s.",
            wheel[i], now);
        return 1;
    }
    return 0;
}

/* Version of a package in a list, in any case of letters; NULL when it is not there. BORROWED. */
static const char *
listed_version(const json_t *list, const char *prefix)
{
    const char *key, *found = NULL;
    json_t *v;

    json_object_foreach ((json_t *) list, key, v)
        found = strcasecmp(key, prefix) == 0 ? json_string_value(v) : found;
    return found;
}

/* True when the version is let through by all specifiers. */
static bool
fulfills(const char *version, const json_t *specs)
{
    json_t *spec;
    bool ok = true;
    size_t i;

    json_array_foreach ((json_t *) specs, i, spec)
        ok = ok && pep440_holds(version, json_string_value(json_array_get(spec, 0)),
                                json_string_value(json_array_get(spec, 1)));
    return ok;
}

/* Whether one of the specifiers has the text: "a", "b" and "rc" ask for versions before a release, as in
 * Salt. */
static bool
specs_have(const json_t *specs, const char *text)
{
    json_t *spec;
    bool found = false;
    size_t i;

    json_array_foreach ((json_t *) specs, i, spec)
        found = found || strstr(json_string_value(json_array_get(spec, 1)), text) != NULL;
    return found;
}

/* Whether a requirement is fulfilled by what is there: 1 with a note, 0, or negative with *err. */
static int
is_done(pip_t *p, const json_t *req)
{
    const char *prefix = value_str(req, "prefix", "");
    const char *now = *prefix != '\0' ? listed_version(p->there, prefix) : NULL;

    if (now == NULL || pip_asked(p, "ignore_installed") || pip_asked(p, "force_reinstall"))
        return 0;
    if (pip_asked(p, "upgrade")) {
        /* With `upgrade`: the newest version that the index has and the specifiers let through. 1: nothing is
         * to be done; 0: install it; negative with *err. */
        const json_t *specs = value_get(req, "specs");
        json_auto_t *all = pip_ask(
            p, "pip.list_all_versions",
            json_pack("{s:O, s:b, s:b, s:b, s:O, s:O}", "pkg", value_get(req, "prefix"), "include_alpha",
                      specs_have(specs, "a"), "include_beta", specs_have(specs, "b"), "include_rc",
                      specs_have(specs, "rc"), "index_url", value_get(p->args, "index_url"),
                      "extra_index_url", value_get(p->args, "extra_index_url")),
            p->err);
        const char *best = NULL;
        if (all == NULL)
            return p->err->code;
        for (size_t i = json_array_size(all); best == NULL && i-- > 0;) {
            const char *version = json_string_value(json_array_get(all, i));
            best = fulfills(version, specs) ? version : NULL;
        }
        if (best == NULL)
            buf_printf(
                &p->notes,
                "Python package %s was already installed and\nthe available upgrade doesn't fulfills the version "
                "requirements\n",
                value_str(req, "prefix", ""));
        else if (pep440_cmp(now, best) == 0)
            buf_printf(&p->notes, "Python package %s was already installed\n", value_str(req, "text", ""));
        else
            return 0;
        return 1;
    }
    if (!fulfills(now, value_get(req, "specs")))
        return 0;
    buf_printf(&p->notes, "Python package %s was already installed\n", value_str(req, "text", ""));
    return 1;
}

/* Sorts what is wanted into `todo` and notes about what is there; a test's return is made here. 1: the return is
 * made. */
static int
compare_packages(pip_t *p)
{
    buf_auto_t text = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    json_t *req;
    size_t i;

    /* A pip that can't list what is there has nothing: then all is to be installed, and pip tells why not. */
    p->todo = json_array();
    p->there = pip_ask(p, "pip.list", json_pack("{s:O}", "env_vars", value_get(p->args, "env_vars")), &why);
    json_array_foreach (p->wanted, i, req) {
        int done = is_done(p, req);
        if (done < 0)
            return done;
        buf_printf(&text, "\n%s", value_str(req, "text", ""));
        if (done == 0)
            json_array_append(p->todo, req);
    }
    if (json_array_size(p->todo) == 0)
        state_ret_set(p->ret, STATE_TRUE, "%sAll specified packages are already installed%s",
                      buf_str(&p->notes), pip_asked(p, "upgrade") ? " and up-to-date" : "");
    else if (ctx_test(p->ctx) && json_array_size(p->wanted) > 1)
        state_ret_set(p->ret, STATE_NONE, "Python package(s) set to be installed:%s", buf_str(&text));
    else if (ctx_test(p->ctx))
        state_ret_set(p->ret, STATE_NONE, "Python package %s is set to be installed",
                      value_str(json_array_get(p->todo, 0), "text", ""));
    else
        return 0;
    return 1;
}

/* Files of requirements and checkouts are always given to pip. 1: test mode has said so. */
static int
foretell_files(pip_t *p)
{
    AUTO_FREE char *files = value_pystr(value_get(p->args, "requirements"));
    AUTO_FREE char *from = value_pystr(value_get(p->args, "editable"));
    bool reqs = pip_asked(p, "requirements"), edit = pip_asked(p, "editable");

    if (!ctx_test(p->ctx))
        return 0;
    state_ret_set(p->ret, STATE_NONE, "%s%s%s%s%s%s%s", reqs ? "Requirements file '" : "", reqs ? files : "",
                  reqs ? "' will be processed." : "", reqs && edit ? " " : "",
                  edit ? "Package will be installed in editable mode (i.e. setuptools \"develop mode\") from "
                       : "",
                  edit ? from : "", edit ? "." : "");
    return 1;
}

/* Runs pip.install with the state's arguments. Commas in a requirement become semicolons, since commas part
 * packages there. NEW, or NULL with *err. */
static json_t *
run_install(pip_t *p, fail_t *err)
{
    json_t *kwargs = json_copy(p->args), *req;
    buf_auto_t pkgs = BUF_INIT;
    size_t i;

    json_array_foreach (p->todo, i, req) {
        AUTO_FREE char *text = str_replace(value_str(req, "text", ""), ",", ";");
        buf_printf(&pkgs, "%s%s", pkgs.len > 0 ? "," : "", text);
    }
    json_object_del(kwargs, "name");
    json_object_del(kwargs, "pip_bin");
    json_object_del(kwargs, "repo");
    json_object_del(kwargs, "kwargs");
    json_object_set_new(kwargs, "pkgs", json_string(buf_str(&pkgs)));
    json_object_set_new(kwargs, "saltenv", json_string(ctx_saltenv(p->ctx)));
    json_object_set_new(kwargs, "disable_version_check", json_true());
    return pip_ask(p, "pip.install", kwargs, err);
}

/* The comment of a failed pip: files first, then packages, then what pip said. */
static void
tell_failed(pip_t *p, const json_t *ran)
{
    AUTO_FREE char *files = value_pystr(value_get(p->args, "requirements"));
    AUTO_FREE char *from = value_pystr(value_get(p->args, "editable"));
    AUTO_FREE char *error = value_get(ran, "stdout") != NULL
                                ? xasprintf("Error: %s %s", value_str(ran, "stdout", ""),
                                            value_str(ran, "stderr", ""))
                                : xasprintf("Error: %s", value_str(ran, "comment", ""));
    buf_auto_t names = BUF_INIT;
    json_t *req;
    size_t i;

    if (pip_asked(p, "requirements"))
        buf_printf(&names, "Unable to process requirements file \"%s\" ", files);
    if (pip_asked(p, "editable"))
        buf_printf(&names, "Unable to install from VCS checkout %s. ", from);
    if (names.len > 0) {
        state_ret_set(p->ret, STATE_FALSE, "%s%s", buf_str(&names), error);
        return;
    }
    json_array_foreach (p->todo, i, req) {
        AUTO_FREE char *text = str_replace(value_str(req, "text", ""), ",", ";");
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", text);
    }
    state_ret_set(p->ret, STATE_FALSE, "%sFailed to install packages: %s. %s", buf_str(&p->notes),
                  buf_str(&names), error);
}

/* Whether pip did something: a line that says so, beside those about what is there. */
static bool
says_change(const char *text)
{
    static const char *const idle[] = { "Requirement already satisfied",
                                        "Requirement already up-to-date",
                                        "Requirement not upgraded",
                                        "Collecting",
                                        "Cloning",
                                        "Cleaning up...",
                                        "Looking in indexes" };
    char **lines = str_split(text, "\n", false);
    bool change = false;

    for (size_t i = 0; lines[i] != NULL; i++) {
        const char *line = str_trim(lines[i]);
        bool quiet = false;
        for (size_t k = 0; k < NELEMS(idle); k++)
            quiet = quiet || str_starts(line, idle[k]);
        change = change || !quiet;
    }
    strv_free(lines);
    return change;
}

/* The comment and changes of packages: pip is asked again, and a package that is not in its list is told as
 * lost. */
static int
tell_packages(pip_t *p)
{
    json_auto_t *now = pip_ask(p, "pip.list", json_pack("{s:O}", "env_vars", value_get(p->args, "env_vars")),
                               p->err);
    buf_auto_t lost = BUF_INIT;
    json_t *req;
    size_t i;

    if (now == NULL)
        return p->err->code;
    json_array_foreach (p->todo, i, req) {
        const char *prefix = value_str(req, "prefix", ""), *text = value_str(req, "text", "");
        const char *version = listed_version(now, prefix);
        AUTO_FREE char *key = xasprintf("%s==%s", *prefix != '\0' ? prefix : text,
                                        *prefix == '\0'   ? "???"
                                        : version != NULL ? version
                                                          : "");
        if (*prefix != '\0' && version == NULL)
            buf_printf(&lost,
                       "%sThere was no error installing package '%s' although it does not show when calling "
                       "'pip.freeze'.",
                       lost.len > 0 ? "\n" : "", text);
        else
            state_change(p->ret, key, json_string("Installed"));
    }
    state_ret_set(p->ret, STATE_TRUE, "%s%s", buf_str(&p->notes),
                  lost.len > 0 ? buf_str(&lost) : "All packages were successfully installed");
    return 0;
}

/* Packages of a requirements file are not known before pip has read it, so these are told from its output,
 * others from the list afterwards. */
static int
do_install(pip_t *p)
{
    bool files = pip_asked(p, "requirements") || pip_asked(p, "editable");
    json_auto_t *ran = run_install(p, p->err);

    if (ran == NULL)
        return p->err->code;
    if (value_int(ran, "retcode", 1) != 0)
        tell_failed(p, ran);
    else if (files) {
        /* The comment of requirements files and checkouts. A checkout is always a change. */
        AUTO_FREE char *listed = value_pystr(value_get(p->args, "requirements"));
        AUTO_FREE char *from = value_pystr(value_get(p->args, "editable"));
        bool reqs = pip_asked(p, "requirements"), edit = pip_asked(p, "editable");
        bool change = reqs && says_change(value_str(ran, "stdout", ""));
        buf_auto_t text = BUF_INIT;
        if (change) {
            state_change(p->ret, "requirements", json_true());
            buf_printf(&text, "Successfully processed requirements file %s.", listed);
        } else if (reqs) {
            buf_puts(&text, "Requirements were already installed.");
        }
        if (edit) {
            buf_printf(&text, "%sPackage successfully installed from VCS checkout %s.", reqs ? " " : "",
                       from);
            state_change(p->ret, "editable", json_true());
        }
        state_ret_set(p->ret, STATE_TRUE, "%s", buf_str(&text));
    } else
        return tell_packages(p);
    return 0;
}

/* Frees everything; after an error there is no return. */
static int
pip_end(pip_t *p, int rc, json_t **ret_value)
{
    *ret_value = p->ret;
    json_decref(p->wanted);
    json_decref(p->there);
    json_decref(p->todo);
    buf_free(&p->notes);
    if (rc >= 0)
        return 0;
    json_decref(p->ret);
    *ret_value = NULL;
    return rc;
}

/* The steps of the state; each answers 1 once the return is made. */
static int
pip_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *own = json_copy(args);
    pip_t p = { .ctx = ctx, .args = own, .err = err, .ret = state_ret_args(args) };

    if (!pip_asked(&p, "bin_env"))
        json_object_set(own, "bin_env", value_get(args, "pip_bin"));
    int rc = read_packages(&p);
    rc = rc == 0 ? check_pip(&p) : rc;
    if (rc == 0)
        rc = pip_asked(&p, "requirements") || pip_asked(&p, "editable") ? foretell_files(&p)
                                                                        : compare_packages(&p);
    if (rc == 0)
        rc = do_install(&p);
    return pip_end(&p, rc, ret_value);
}

/* ---- removed and uptodate -------------------------------------------------------------------- */

/* The list of pip decides, and a package that is not in it is no error. */
static int
pip_removed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pip_t p = { .ctx = ctx, .args = args, .err = err, .ret = state_ret_args(args) };
    const char *name = value_str(args, "name", "");
    fail_auto_t why = FAIL_INIT;
    int rc = 0;

    p.there = pip_ask(&p, "pip.list", json_object(), &why);
    if (p.there == NULL) {
        state_ret_set(p.ret, STATE_FALSE, "Error uninstalling '%s': %s", name, fail_text(&why));
    } else if (value_get(p.there, name) == NULL) {
        state_ret_set(p.ret, STATE_TRUE, "Package is not installed.");
    } else if (ctx_test(ctx)) {
        state_ret_set(p.ret, STATE_NONE, "Package %s is set to be removed", name);
    } else {
        json_auto_t *ran = pip_ask(&p, "pip.uninstall",
                                   json_pack("{s:s, s:O, s:O, s:O, s:O}", "pkgs", name, "requirements",
                                             value_get(args, "requirements"), "log", value_get(args, "log"),
                                             "proxy", value_get(args, "proxy"), "timeout",
                                             value_get(args, "timeout")),
                                   err);
        bool gone = ran != NULL && value_int(ran, "retcode", 1) == 0;
        rc = ran == NULL ? err->code : 0;
        if (gone)
            state_change(p.ret, name, json_string("Removed"));
        state_ret_set(p.ret, gone ? STATE_TRUE : STATE_FALSE, "%s",
                      gone ? "Package was successfully removed." : "Could not remove package.");
    }
    return pip_end(&p, rc, ret_value);
}

/* pip has no upgrade of everything; the module upgrades what pip lists as outdated. */
static int
pip_uptodate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pip_t p = { .ctx = ctx, .args = args, .err = err, .ret = state_ret_args(args) };
    fail_auto_t why = FAIL_INIT;
    int rc = 0;

    p.there = pip_ask(&p, "pip.list_upgrades", json_object(), &why);
    if (p.there == NULL) {
        state_ret_set(p.ret, STATE_FALSE, "%s", fail_text(&why));
    } else if (!value_truthy(p.there)) {
        state_ret_set(p.ret, STATE_TRUE, "System is already up-to-date.");
    } else if (ctx_test(ctx)) {
        state_ret_set(p.ret, STATE_NONE, "System update will be performed");
    } else {
        json_auto_t *done = pip_ask(&p, "pip.upgrade", json_object(), err);
        rc = done == NULL ? err->code : 0;
        if (json_is_false(value_get(done, "result"))) {
            json_object_update(p.ret, done);
        } else if (done != NULL) {
            state_change_set(p.ret, json_incref(done));
            state_ret_set(p.ret, STATE_TRUE, "Upgrade successful.");
        }
    }
    return pip_end(&p, rc, ret_value);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define NAME_ROW                                                                                             \
    ARG("name", ARG_STR, ARG_REQUIRED, "The package, with a version where one is wanted: foo==1.2")

static const arg_t installed_args[] = {
    ARG("name", ARG_STR, "null", "The package, or any name beside `pkgs`; foo==1.2 asks for a version"),
    PIP_ROWS_INSTALL_FIRST,
    PIP_ROW_LINKS,
    PIP_ROWS_INSTALL,
    PIP_ROWS_INSTALL_LAST,
    PIP_ANY("pip_bin", "null", "The same as bin_env"),
    PIP_ANY("repo", "null", "Accepted and not used"),
    PIP_KWARGS,
    ARGS_END,
};
static const arg_t removed_args[] = { NAME_ROW,     PIP_ROW_REQS, PIP_ROW_ENV, PIP_ROWS_NET,
                                      PIP_ROW_USER, PIP_ROW_CWD,  PIP_ROW_VT,  ARGS_END };
static const arg_t uptodate_args[] = {
    NAME_ROW, PIP_ROW_ENV, PIP_ROW_USER, PIP_ROW_CWD, PIP_ROW_VT, ARGS_END
};

static const func_t funcs[] = {
    { "installed", pip_installed, installed_args, 0, "Packages of Python are installed." },
    { "removed", pip_removed, removed_args, 0, "A package of Python is not installed." },
    { "uptodate", pip_uptodate, uptodate_args, 0, "All packages of Python are up to date." },
};

PLUGIN(state, pip_state, .provides = "pip", .doc = "Packages of Python", FUNCS(funcs));
