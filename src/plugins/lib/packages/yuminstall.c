/* yuminstall.c - pkg.install, upgrade and remove by dnf and yum: packages are sorted by what is installed
 * into those to install, to downgrade and to install again, each of which is one command. Held packages are
 * let go for its time where `update_holds` says so. Errors are gathered and raised at the end together with
 * the changes. */
#include <fnmatch.h>

#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"
#include "plugins/lib/packages/yum.h"

/* State of one call of install. Lists hold pairs [name, word of the command line]; the name is None for a
 * file that rpm can't read. */
typedef struct plan {
    call_ctx_t *ctx;
    const json_t *args, *kwargs; /* BORROWED */
    bool reinstall, ignore_epoch, downloadonly, advisory;
    json_t *old, *have, *available; /* owned: before; the same as lists; of wishes with operators and globs */
    json_t *install, *downgrade, *again, *errors, *prevented, *held;
} plan_t;

/* ---- sorting ---------------------------------------------------------------------------------- */

/* A name and the word for dnf. */
static void
put(json_t *list, const char *name, const char *word)
{
    json_array_append_new(list, json_pack("[s?, s]", name, word));
}

/* A package with a version goes to one of the lists, by what is installed. A kernel is never downgraded:
 * several versions of it are installed side by side. */
static void
yuminstall_sort_version(plan_t *p, const char *name, const char *version, const char *word)
{
    json_t *have = name != NULL ? value_get(p->have, name) : NULL, *v;
    bool same = false, upward = false;
    size_t i;

    json_array_foreach (have, i, v) {
        int order = rpmver_cmp(version, json_string_value(v), p->ignore_epoch);
        same = same || order == 0;
        upward = upward || order >= 0;
    }
    if (p->reinstall && json_array_size(have) > 0) {
        if (same)
            put(p->again, name, word);
    } else if (json_array_size(have) == 0 || upward || str_eq(name, "kernel") ||
               str_eq(name, "kernel-devel")) {
        put(p->install, name, word);
    } else {
        put(p->downgrade, name, word);
    }
}

/* The available version that a wish with an operator or a glob means. NEW, or NULL after a text in
 * p->errors. */
static char *
yuminstall_resolve(plan_t *p, const char *full, const char *name, const char *wish)
{
    bool compares = *wish == '<' || *wish == '>';
    json_t *candidates = value_get(p->available, compares ? full : name), *v;
    const char *found = compares ? pkg_match(rpmver_cmp, wish, candidates, p->ignore_epoch) : NULL;
    size_t i;

    json_array_foreach (candidates, i, v) {
        if (found == NULL && !compares && fnmatch(wish, json_string_value(v), 0) == 0)
            found = json_string_value(v);
    }
    if (found != NULL)
        return xstrdup(found);
    AUTO_FREE char *list = candidates != NULL ? value_joined(candidates, ", ") : NULL;
    json_array_append_new(
        p->errors, compares ? value_fmt("No version matching '%s%s' could be found (available: %s)", full,
                                        wish, list != NULL ? list : "None")
                            : value_fmt("No version matching '%s' found for package '%s' (available: %s)",
                                        wish, name, list != NULL ? list : "none"));
    return NULL;
}

/* "name-version.arch" without the epoch, which dnf takes in front of the version alone, unless the wish is to
 * be taken as it is written. */
static void
yuminstall_sort_name(plan_t *p, const char *full, const json_t *wanted)
{
    const char *text = json_string_value(wanted), *arch;
    json_t *split = value_get(p->kwargs, "split_arch");

    if (text == NULL) {
        bool again = p->reinstall && value_get(p->old, full) != NULL;
        put(again ? p->again : p->install, full, full);
        return;
    }
    text += strspn(text, "=");
    AUTO_FREE char *name = rpm_split_arch(full, rpm_osarch(p->ctx), split == NULL || value_truthy(split),
                                          &arch);
    bool asks = *text == '<' || *text == '>' || strchr(text, '*') != NULL;
    AUTO_FREE char *version = asks ? yuminstall_resolve(p, full, name, text) : xstrdup(text);
    if (version == NULL)
        return;
    const char *colon = p->ignore_epoch ? NULL : strchr(version, ':');
    AUTO_FREE char *word = xasprintf("%s-%s%s", name, colon != NULL ? colon + 1 : version, arch);
    yuminstall_sort_version(p, name, version, word);
}

/* The repositories are asked once, and only when a wish compares or has a glob. */
static int
yuminstall_sort_names(plan_t *p, const json_t *params, fail_t *err)
{
    json_auto_t *ask = json_array();
    const char *name;
    json_t *wish;

    json_object_foreach ((json_t *) params, name, wish) {
        const char *text = json_is_string(wish) ? json_string_value(wish) : "";
        if (*text == '<' || *text == '>' || strchr(text, '*') != NULL)
            json_array_append_new(ask, json_string(name));
    }
    if (json_array_size(ask) > 0 &&
        (p->available = yum_repo_pkgs(p->ctx, ask, p->kwargs, false, err)) == NULL)
        return err->code;
    json_object_foreach ((json_t *) params, name, wish)
        yuminstall_sort_name(p, name, wish);
    return 0;
}

/* A file that rpm can't read goes to dnf, which tells what is wrong with it. */
static int
yuminstall_sort_files(plan_t *p, const json_t *paths, fail_t *err)
{
    json_t *v;
    size_t i;

    json_array_foreach (paths, i, v) {
        const char *path = json_string_value(v);
        json_auto_t *info = rpm_file_info(p->ctx, path, err);
        if (info == NULL)
            return err->code;
        if (json_is_object(info))
            yuminstall_sort_version(p, value_str(info, "name", ""), value_str(info, "version", ""), path);
        else
            put(p->install, NULL, path);
    }
    return 0;
}

/* Advisories by their ids: all must be known. */
static int
sort_advisories(plan_t *p, const json_t *ids, fail_t *err)
{
    json_auto_t *known = yum_patches(p->ctx, false, err);
    json_t *v;
    size_t i;

    if (known == NULL)
        return err->code;
    json_array_foreach (ids, i, v) {
        AUTO_FREE char *id = value_pystr(v);
        if (value_get(known, id) == NULL)
            return fail_kind(err, FAIL_COMMAND, -ENOENT, "Advisory id \"%s\" not found", id);
        put(p->install, id, id);
    }
    return 0;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* The words of a list, without those of held packages unless they may be updated: those are let go, and in
 * *ret_freed, which is NEW. */
static json_t *
words_of(plan_t *p, const json_t *list, json_t **ret_freed, fail_t *err)
{
    json_auto_t *words = json_array(), *free_these = json_object();
    const char *name;
    json_t *pair, *answer;
    size_t i;

    *ret_freed = json_array();
    json_array_foreach (list, i, pair) {
        json_t *key = json_array_get(pair, 0), *word = json_array_get(pair, 1);
        if (!json_is_string(key) || !value_has(p->held, key))
            json_array_append(words, word);
        else if (value_truthy(value_get(p->args, "update_holds")))
            json_object_set(free_these, json_string_value(key), word);
        else
            json_array_append(p->prevented, key);
    }
    json_object_foreach (free_these, name, answer)
        json_array_append_new(*ret_freed, json_string(name));
    json_auto_t *freed = json_array_size(*ret_freed) > 0 ? yum_set_hold(p->ctx, *ret_freed, false, err)
                                                         : json_object();
    if (freed == NULL)
        return NULL;
    json_object_foreach (freed, name, answer) {
        if (value_truthy(value_get(answer, "result")))
            json_array_append(words, value_get(free_these, name));
        else
            json_array_append_new(p->errors, json_string(name));
    }
    return STEAL(words);
}

/* One command for the words; a failure is noted in p->errors, and the run goes on. */
static int
yuminstall_run(plan_t *p, const char *action, const json_t *words, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    bool installs = str_eq(action, "install");
    json_t *word;
    size_t i;

    if (json_array_size(words) == 0)
        return 0;
    if (yum_begin(p->ctx, &prog, err) < 0)
        return err->code;
    prog_add(&prog, "-y");
    if (installs && yum_is_dnf())
        /* dnf alone would take an older version, or give up at a conflict. */
        prog_adds(&prog, "--best", "--allowerasing", NULL);
    if (yum_options(&prog, p->kwargs, false, err) < 0)
        return err->code;
    if (value_truthy(value_get(p->args, "skip_verify")))
        prog_add(&prog, "--nogpgcheck");
    if (p->downloadonly)
        prog_add(&prog, "--downloadonly");
    prog_add(&prog, installs && p->advisory ? "update" : action);
    json_array_foreach (words, i, word)
        prog_addf(&prog, "%s%s", p->advisory ? "--advisory=" : "", json_string_value(word));
    json_auto_t *out = tool_run(p->ctx, &prog, TOOL_MERGE, err);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0)
        json_array_append(p->errors, value_get(out, "stdout"));
    return 0;
}

/* What was let go is held again, whatever came of it. */
static int
yuminstall_run_list(plan_t *p, const char *action, const json_t *list, fail_t *err)
{
    json_auto_t *freed = NULL;
    json_auto_t *words = words_of(p, list, &freed, err);
    int rc = words != NULL ? yuminstall_run(p, action, words, err) : err->code;

    if (json_array_size(freed) > 0) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *held = yum_set_hold(p->ctx, freed, true, rc == 0 ? err : &why);
        if (held == NULL && rc == 0)
            return err->code;
    }
    return rc;
}

/* {name: version}, or what is in the cache when packages are only fetched. */
static json_t *
there_now(plan_t *p, fail_t *err)
{
    return p->downloadonly ? yum_downloaded(p->ctx, err)
                           : rpm_pkgs(p->ctx, NULL, false, value_get(p->kwargs, "diff_attr"), err);
}

/* Tells the changes, or raises what went wrong with them. */
static int
yuminstall_tell(plan_t *p, json_t **ret_value, fail_t *err)
{
    json_t *pair;
    size_t i;

    rpm_forget(p->ctx);
    json_auto_t *now = there_now(p, err);
    if (now == NULL)
        return err->code;
    json_auto_t *changes = pkg_changes(p->old, now);
    json_array_foreach (p->again, i, pair) {
        const char *name = json_string_value(json_array_get(pair, 0));
        json_t *before = value_get(p->old, name), *after = value_get(now, name);
        if (value_get(changes, name) == NULL || before != NULL)
            json_object_set_new(changes, name,
                                json_pack("{s:o, s:o}", "old",
                                          before != NULL ? json_incref(before) : json_string(""), "new",
                                          after != NULL ? json_incref(after) : json_string("")));
    }
    if (json_array_size(p->prevented) > 0) {
        AUTO_FREE char *names = value_joined(p->prevented, ", ");
        json_array_append_new(
            p->errors,
            value_fmt("The following package(s) could not be updated because they are being held: "
                      "%s. Set 'update_holds' to True to temporarily unhold these packages so that "
                      "they can be updated.",
                      names));
    }
    if (json_array_size(p->errors) > 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "errors", p->errors, "changes", changes);
        return pkg_fail_info(err,
                             json_array_size(p->again) > 0
                                 ? "Error occurred installing/reinstalling package(s)"
                                 : "Error occurred installing package(s)",
                             info);
    }
    *ret_value = STEAL(changes);
    return 0;
}

/* Packages are sorted, then run list by list; what fails in one does not stop the next. */
static int
yuminstall_install(plan_t *p, const json_t *params, bool files, json_t **ret_value, fail_t *err)
{
    fail_auto_t unlocked = FAIL_INIT;
    int rc;

    if ((p->old = there_now(p, err)) == NULL || (p->have = rpm_pkgs(p->ctx, NULL, true, NULL, err)) == NULL)
        return err->code;
    rc = p->advisory ? sort_advisories(p, params, err)
         : files     ? yuminstall_sort_files(p, params, err)
                     : yuminstall_sort_names(p, params, err);
    if (rc < 0)
        return rc;
    /* Without the plug-in that locks there are no holds. */
    p->held = yum_holds(p->ctx, NULL, false, &unlocked);
    if (p->held == NULL && unlocked.kind != FAIL_INVOCATION)
        return fail_kind(err, unlocked.kind, unlocked.code, "%s", fail_text(&unlocked));
    if ((rc = yuminstall_run_list(p, "install", p->install, err)) < 0 ||
        (rc = yuminstall_run_list(p, "downgrade", p->downgrade, err)) < 0 ||
        (rc = yuminstall_run_list(p, "reinstall", p->again, err)) < 0)
        return rc;
    return yuminstall_tell(p, ret_value, err);
}

/* Sorts, runs and tells; what is wrong with one package does not keep the others. */
int
yum_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *kwargs = value_get(args, "kwargs"), *split = value_get(kwargs, "split_arch");
    json_t *ids = value_get(kwargs, "advisory_ids");
    bool files = false,
         plain = value_truthy(value_get(args, "normalize")) && (split == NULL || value_truthy(split));
    json_auto_t *params = NULL, *done = NULL;

    if (pkg_arg_true(args, "refresh") && yum_refresh(ctx, kwargs, true, &done, err) < 0)
        return err->code;
    /* Without ids the name is the advisory's. */
    if (ids != NULL)
        params = value_truthy(ids) ? pkg_words(ids) : json_pack("[O]", value_get(args, "name"));
    if (ids == NULL && pkg_targets(ctx, args, plain ? rpm_normal_name : NULL, &params, &files, err) < 0)
        return err->code;
    if (!value_truthy(params)) {
        *ret_value = json_object();
        return 0;
    }
    plan_t p = { .ctx = ctx,
                 .args = args,
                 .kwargs = kwargs,
                 .reinstall = pkg_arg_true(args, "reinstall"),
                 .ignore_epoch = value_truthy(value_get(args, "ignore_epoch")),
                 .downloadonly = value_truthy(value_get(args, "downloadonly")),
                 .advisory = ids != NULL,
                 .install = json_array(),
                 .downgrade = json_array(),
                 .again = json_array(),
                 .errors = json_array(),
                 .prevented = json_array() };
    int rc = yuminstall_install(&p, params, files, ret_value, err);
    json_t *owned[] = { p.old,   p.have,   p.available, p.install, p.downgrade,
                        p.again, p.errors, p.prevented, p.held };

    for (size_t i = 0; i < NELEMS(owned); i++)
        json_decref(owned[i]);
    return rc;
}

/* By pkg.install, so that a user's provider is asked. */
int
yum_install_names(call_ctx_t *ctx, json_t *pkgs, json_t *kwargs, json_t **ret_value, fail_t *err)
{
    json_auto_t *call = json_copy(kwargs);

    json_object_set(call, "pkgs", pkgs);
    return ctx_call(ctx, "pkg.install", NULL, call, ret_value, err);
}

/* ---- upgrade ---------------------------------------------------------------------------------- */

/* All packages, or those that the call names. */
int
yum_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs")), *params = NULL, *done = NULL;
    bool obsoletes = value_truthy(value_get(args, "obsoletes")), files;
    const json_t *attr = value_get(args, "diff_attr");
    prog_auto_t prog = PROG_INIT;
    const char *name;
    json_t *v;

    if (!obsoletes && yum_is_dnf()) {
        json_t *setopt = value_get(kwargs, "setopt") != NULL ? pkg_words(value_get(kwargs, "setopt"))
                                                             : json_array();
        /* dnf has no other command for an upgrade without them. */
        json_array_append_new(setopt, json_string("obsoletes=False"));
        json_object_set_new(kwargs, "setopt", setopt);
    }
    if (pkg_arg_true(args, "refresh") && yum_refresh(ctx, kwargs, true, &done, err) < 0)
        return err->code;
    json_auto_t *old = rpm_pkgs(ctx, NULL, false, attr, err);
    if (old == NULL ||
        pkg_targets(ctx, args, value_truthy(value_get(args, "normalize")) ? rpm_normal_name : NULL, &params,
                    &files, err) < 0 ||
        yum_begin(ctx, &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "--quiet", "-y", NULL);
    if (yum_options(&prog, kwargs, true, err) < 0)
        return err->code;
    if (value_truthy(value_get(args, "skip_verify")))
        prog_add(&prog, "--nogpgcheck");
    /* With `obsoletes` the upgrade takes what replaces a package; dnf has one word for both. */
    prog_addf(&prog, "%s%s", obsoletes || yum_is_dnf() ? "upgrade" : "update",
              value_truthy(value_get(args, "minimal")) ? "-minimal" : "");
    json_object_foreach (params, name, v)
        prog_add(&prog, name);
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    rpm_forget(ctx);
    json_auto_t *now = rpm_pkgs(ctx, NULL, false, attr, err);
    if (now == NULL)
        return err->code;
    json_auto_t *changes = pkg_changes(old, now);
    if (value_int(out, "retcode", 0) != 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "changes", changes, "result", out);
        return pkg_fail_info(err, "Problem encountered upgrading packages", info);
    }
    *ret_value = STEAL(changes);
    return 0;
}

/* ---- remove ----------------------------------------------------------------------------------- */

/* The words for what is installed of a wish: its name, or with those of its versions that are there:
 * "1-1,2-1". */
static void
take_removal(call_ctx_t *ctx, const json_t *have, const char *name, const json_t *version, bool split,
             json_t *words)
{
    json_t *there = value_get(have, name), *v;
    json_auto_t *versions = value_truthy(version) ? pkg_words(version) : NULL;
    const char *arch;
    size_t i;

    if (there != NULL && versions == NULL)
        json_array_append_new(words, json_string(name));
    json_array_foreach (versions, i, v) {
        const char *text = json_string_value(v), *colon = strchr(text, ':');
        AUTO_FREE char *plain = rpm_split_arch(name, rpm_osarch(ctx), split, &arch);
        if (value_has(there, v))
            json_array_append_new(words, value_fmt("%s-%s%s", plain, colon != NULL ? colon + 1 : text, arch));
    }
}

/* What is to be removed, globs resolved. NEW list, or NULL with *err. */
static json_t *
removals(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_t *split = value_get(value_get(args, "kwargs"), "split_arch"), *v, *versions;
    bool cut = split == NULL || value_truthy(split), files;
    json_auto_t *call = json_pack("{s:O?, s:O?}", "name", value_get(args, "name"), "pkgs",
                                  value_get(args, "pkgs"));
    json_auto_t *params = NULL, *words = json_array(), *have = rpm_pkgs(ctx, NULL, true, NULL, err);
    const char *name, *pkg;

    if (have == NULL || pkg_targets(ctx, call, rpm_normal_name, &params, &files, err) < 0)
        return NULL;
    json_object_foreach (params, name, v) {
        if (strchr(name, '*') == NULL) {
            take_removal(ctx, have, name, v, cut, words);
            continue;
        }
        json_object_foreach (have, pkg, versions)
            if (fnmatch(name, pkg, 0) == 0)
                take_removal(ctx, have, pkg, v, cut, words);
    }
    return STEAL(words);
}

/* rpm's warnings come with code 0; only both, a code and a text, are a failure. */
int
yum_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *old = rpm_pkgs(ctx, NULL, false, NULL, err);
    json_auto_t *words = old != NULL ? removals(ctx, args, err) : NULL;
    prog_auto_t prog = PROG_INIT;

    if (words == NULL)
        return err->code;
    if (json_array_size(words) == 0) {
        *ret_value = json_object();
        return 0;
    }
    if (yum_begin(ctx, &prog, err) < 0)
        return err->code;
    prog_adds(&prog, "-y", "remove", NULL);
    prog_add_json(&prog, words);
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL)
        return err->code;
    rpm_forget(ctx);
    json_auto_t *now = rpm_pkgs(ctx, NULL, false, NULL, err);
    if (now == NULL)
        return err->code;
    json_auto_t *changes = pkg_changes(old, now);
    if (value_int(out, "retcode", 0) != 0 && *value_str(out, "stderr", "") != '\0') {
        json_auto_t *info = json_pack("{s:[O], s:O}", "errors", value_get(out, "stderr"), "changes", changes);
        return pkg_fail_info(err, "Error occurred removing package(s)", info);
    }
    *ret_value = STEAL(changes);
    return 0;
}
