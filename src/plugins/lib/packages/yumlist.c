/* yumlist.c - what is installed, and what repositories have, as dnf and yum list it. */
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"
#include "plugins/lib/packages/yum.h"
#include "salt/log.h"

int
yum_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");

    /* dpkg's lists of the rest that a removal leaves; rpm leaves none. */
    if (pkg_arg_true(kwargs, "removed") || pkg_arg_true(kwargs, "purge_desired"))
        *ret_value = json_object();
    else
        *ret_value = rpm_pkgs(ctx, kwargs, pkg_arg_true(args, "versions_as_list"), value_get(kwargs, "attr"),
                              err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The newest listed version of a name that could be installed; "" for none. BORROWED. */
static const char *
newest_of(call_ctx_t *ctx, const json_t *listed, const char *name, const json_t *have)
{
    const char *dot = strrchr(name, '.'), *osarch = rpm_osarch(ctx), *best = "";
    const char *arch = dot != NULL && rpm_is_arch(dot + 1) ? dot + 1 : osarch;
    json_t *package, *v;
    size_t i, k;

    json_array_foreach (listed, i, package) {
        const char *its = value_str(package, "arch", ""), *version = value_str(package, "version", "");
        bool fits = str_eq(its, "noarch") || str_eq(its, arch) || rpm_both_32(its, osarch);
        if (!fits || !str_eq(value_str(package, "name", ""), name))
            continue;
        /* All that is installed of the name must be older. */
        bool newer = true;
        json_array_foreach (have, k, v)
            newer = newer && rpmver_cmp(json_string_value(v), version, false) < 0;
        if (newer && (*best == '\0' || rpmver_cmp(version, best, false) > 0))
            best = version;
    }
    return best;
}

/* What `list available` tells of the names; nothing when it fails, as for names that no repository has. */
static json_t *
yumlist_available(call_ctx_t *ctx, const json_t *names, const json_t *kwargs, const json_t *have, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    bool unknown = false;
    json_t *v;
    size_t i;

    if (yum_begin(ctx, &prog, err) < 0)
        return NULL;
    prog_add(&prog, "--quiet");
    if (yum_options(&prog, kwargs, false, err) < 0)
        return NULL;
    prog_adds(&prog, "list", "available", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return NULL;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL)
        return NULL;
    if (value_int(out, "retcode", 0) == 0)
        return yum_listed(ctx, value_str(out, "stdout", ""));
    json_array_foreach (names, i, v)
        unknown = unknown || value_get(have, json_string_value(v)) == NULL;
    if (unknown && *value_str(out, "stderr", "") != '\0') {
        AUTO_FREE char *shown = value_joined(names, ", ");
        log_error(
            "Problem encountered getting latest version for the following package(s): %s. Stderr follows: \n%s",
            shown, value_str(out, "stderr", ""));
    }
    return json_array();
}

/* "" when what is installed is as new. */
int
yum_latest_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *names = value_get(args, "names");
    json_t *refresh = value_get(kwargs, "refresh"), *v;
    json_auto_t *done = NULL, *ret = json_object();
    size_t i;

    if (json_array_size(names) == 0) {
        *ret_value = json_string("");
        return 0;
    }
    if ((refresh == NULL || pkg_true(refresh)) && yum_refresh(ctx, kwargs, true, &done, err) < 0)
        return err->code;
    json_auto_t *have = rpm_pkgs(ctx, NULL, true, NULL, err);
    json_auto_t *listed = have != NULL ? yumlist_available(ctx, names, kwargs, have, err) : NULL;
    if (listed == NULL)
        return err->code;
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_object_set_new(ret, name, json_string(newest_of(ctx, listed, name, value_get(have, name))));
    }
    *ret_value = json_incref(json_array_size(names) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                         : ret);
    return 0;
}

/* By yum_latest_version(). */
int
yum_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *call = json_pack("{s:[O], s:O}", "names", value_get(args, "name"), "kwargs",
                                  value_get(args, "kwargs"));
    json_auto_t *latest = NULL;
    int rc = yum_latest_version(ctx, call, &latest, err);

    if (rc == 0)
        *ret_value = json_boolean(*json_string_value(latest) != '\0');
    return rc;
}

/* The command's name differs: dnf has "upgrades", yum "updates". */
int
yum_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    prog_auto_t prog = PROG_INIT;
    json_auto_t *done = NULL;
    json_t *package;
    size_t i;

    if (pkg_arg_true(args, "refresh") && yum_refresh(ctx, kwargs, false, &done, err) < 0)
        return err->code;
    if (yum_begin(ctx, &prog, err) < 0)
        return err->code;
    prog_add(&prog, "--quiet");
    if (yum_options(&prog, kwargs, false, err) < 0)
        return err->code;
    prog_adds(&prog, "list", yum_is_dnf() ? "upgrades" : "updates", NULL);
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL)
        return err->code;
    json_auto_t *listed = yum_listed(ctx, value_str(out, "stdout", ""));
    *ret_value = json_object();
    json_array_foreach (listed, i, package)
        json_object_set(*ret_value, value_str(package, "name", ""), value_get(package, "version"));
    return 0;
}

/* ---- repositories ----------------------------------------------------------------------------- */

/* Without "*", which stands for all. */
static json_t *
named_repos(const json_t *v)
{
    json_auto_t *words = value_truthy(v) ? pkg_words(v) : NULL;
    json_t *ret = json_array(), *word;
    size_t i;

    json_array_foreach (words, i, word) {
        if (!str_eq(json_string_value(word), "*"))
            json_array_append(ret, word);
    }
    return ret;
}

/* The repositories to ask: those that the keywords name, else the enabled ones. */
static json_t *
repos_to_ask(call_ctx_t *ctx, const json_t *kwargs, fail_t *err)
{
    if (value_truthy(value_get(kwargs, "fromrepo")))
        return pkg_words(value_get(kwargs, "fromrepo"));
    json_auto_t *disabled = named_repos(value_get(kwargs, "disablerepo"));
    json_auto_t *enabled = named_repos(value_get(kwargs, "enablerepo"));
    json_auto_t *repos = yum_repos(ctx, NULL, err);
    json_t *ret = repos != NULL ? json_array() : NULL, *repo;
    const char *name;

    json_object_foreach (repos, name, repo) {
        bool on = str_eq(value_str(repo, "enabled", "1"), "1") && !value_lists(disabled, name);
        if (on || value_lists(enabled, name))
            json_array_append_new(ret, json_string(name));
    }
    return ret;
}

/* Adds the versions of one repository to {name: [versions]}. */
static int
list_one_repo(call_ctx_t *ctx, const char *repo, const json_t *names, bool cacheonly, json_t *by_repo,
              fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *package;
    size_t i;

    if (yum_begin(ctx, &prog, err) < 0)
        return err->code;
    if (str_eq(yum_bin(), "tdnf")) {
        prog_add(&prog, "--quiet");
        prog_addf(&prog, "--enablerepo=%s", repo);
        prog_add(&prog, "list");
    } else {
        prog_adds(&prog, "--quiet", "--showduplicates", "repository-packages", NULL);
        if (prog_operand(&prog, "fromrepo", repo, err) < 0)
            return err->code;
        prog_add(&prog, "list");
    }
    if (cacheonly)
        prog_add(&prog, "-C");
    if (prog_operands(&prog, "args", names, err) < 0)
        return err->code;
    json_auto_t *out = tool_run(ctx, &prog, TOOL_QUIET, err);
    if (out == NULL)
        return err->code;
    const char *text = value_str(out, "stdout", "");
    /* A repository that has none of the names fails so; the others go on. */
    if (value_int(out, "retcode", 0) != 0 && strstr(text, "Error:") != NULL)
        return 0;
    json_auto_t *listed = yum_listed(ctx, text);
    json_array_foreach (listed, i, package) {
        const char *id = value_str(package, "repoid", "");
        if (value_get(by_repo, id) == NULL)
            json_object_set_new(by_repo, id, json_object());
        pkg_add(value_get(by_repo, id), value_str(package, "name", ""),
                json_incref(value_get(package, "version")));
    }
    return 0;
}

json_t *
yum_repo_pkgs(call_ctx_t *ctx, const json_t *names, const json_t *kwargs, bool by_repo, fail_t *err)
{
    json_auto_t *repos = repos_to_ask(ctx, kwargs, err), *found = json_object(), *merged = json_object();
    json_t *v, *packages, *versions;
    const char *repo, *name;
    void *next;
    size_t i;

    if (repos == NULL)
        return NULL;
    json_array_foreach (repos, i, v) {
        if (list_one_repo(ctx, json_string_value(v), names, value_truthy(value_get(kwargs, "cacheonly")),
                          found, err) < 0)
            return NULL;
    }
    json_object_foreach (found, repo, packages) {
        json_object_foreach_safe (packages, next, name, versions) {
            json_t *all = value_get(merged, name);
            if (all == NULL)
                json_object_set_new(merged, name, json_deep_copy(versions));
            else
                json_array_extend(all, versions);
            json_object_set_new(packages, name, pkg_newest_first(rpmver_cmp, versions));
        }
    }
    json_object_foreach_safe (merged, next, name, versions)
        json_object_set_new(merged, name, pkg_newest_first(rpmver_cmp, versions));
    return json_incref(by_repo ? found : merged);
}

int
yum_list_repo_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");

    *ret_value = yum_repo_pkgs(ctx, value_get(args, "args"), kwargs,
                               value_truthy(value_get(kwargs, "byrepo")), err);
    return *ret_value != NULL ? 0 : err->code;
}
