/* pkg_groups.c - more of state module `pkg`: groups of packages, and advisories (patches), which dnf and
 * zypper have and apt has not. pkg.group_diff answers {mandatory, default, optional: {installed, "not
 * installed": [names]}}; optional packages are installed only when the SLS includes them. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/packages/pkgwant.h"
#include "salt/state.h"

/* ---- groups ----------------------------------------------------------------------------------- */

/* Texts of an argument that is a list or None. NEW, or NULL when it is another thing. */
static json_t *
texts_of(const json_t *args, const char *name)
{
    const json_t *given = value_get(args, name);
    json_t *ret = json_array(), *v;
    size_t i;

    if (given != NULL && !json_is_null(given) && !json_is_array(given)) {
        json_decref(ret);
        return NULL;
    }
    json_array_foreach (given, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        json_array_append_new(ret, json_string(text));
    }
    return ret;
}

/* Packages of a kind in the group, or NULL. BORROWED. */
static json_t *
members(const json_t *diff, const char *kind, bool installed)
{
    return value_get(value_get(diff, kind), installed ? "installed" : "not installed");
}

/* Mandatory packages that the SLS skips. NEW list. */
static json_t *
wrongly_skipped(const json_t *diff, const json_t *skip)
{
    json_t *ret = json_array(), *v;
    size_t i;

    for (int installed = 1; installed >= 0; installed--) {
        json_array_foreach (members(diff, "mandatory", installed != 0), i, v)
            if (value_has(skip, v))
                json_array_append(ret, v);
    }
    return ret;
}

/* Installs, and looks whether everything is there: what the package manager did before it failed is told
 * too. */
static int
install_group(call_ctx_t *ctx, json_t *args, const json_t *targets, bool partly, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs")), *changes = NULL, *failed = json_array();
    json_auto_t *before = pkgwant_have(ctx, NULL, err);
    AUTO_FREE char *doing = xasprintf("installing/updating group '%s'", name);
    json_t *v;
    size_t i;

    if (before == NULL)
        return err->code;
    json_object_set(kwargs, "pkgs", (json_t *) targets);
    int rc = ctx_call(ctx, "pkg.install", NULL, kwargs, &changes, err);
    if (rc < 0 && err->kind != FAIL_COMMAND)
        return rc;
    fail_auto_t none = FAIL_INIT;
    json_auto_t *now = pkgwant_have(ctx, NULL, &none);
    if (rc < 0) {
        pkgwant_changes(before, now, ret);
        (void) pkgwant_failed(ret, doing, err);
        return 0;
    }
    json_object_update(value_get(ret, "changes"), changes);
    json_array_foreach (targets, i, v)
        if (value_get(now, json_string_value(v)) == NULL)
            json_array_append(failed, v);
    AUTO_FREE char *list = pkgwant_keys(failed, false);
    if (*list != '\0')
        return state_ret_set(ret, STATE_FALSE, "Failed to install the following packages: %s", list);
    return state_ret_set(ret, STATE_TRUE, "Group '%s' was %s", name, partly ? "updated" : "installed");
}

/* Optional packages of a group are installed only where the SLS includes them. Mandatory ones can't be
 * skipped. */
static int
pkg_group_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *v;
    const char *name = value_str(args, "name", "");
    json_auto_t *skip = texts_of(args, "skip"), *include = texts_of(args, "include");
    size_t i;

    if (!ctx_has(ctx, "pkg.group_diff"))
        return state_ret_set(ret, STATE_FALSE, "pkg.group_install not available for this platform");
    if (skip == NULL || include == NULL)
        return state_ret_set(ret, STATE_FALSE, "%s must be formatted as a list",
                             skip == NULL ? "skip" : "include");
    json_auto_t *diff = sub_call(ctx, err, "pkg.group_diff", "{s:s}", "name", name);
    if (diff == NULL && err->kind != FAIL_COMMAND)
        return err->code;
    if (diff == NULL) {
        (void) state_ret_set(ret, STATE_FALSE,
                             "An error was encountered while installing/updating group '%s': %s.", name,
                             fail_text(err));
        fail_clear(err);
        return 0;
    }
    json_auto_t *wrong = wrongly_skipped(diff, skip);
    AUTO_FREE char *list = pkgwant_keys(wrong, false);
    if (*list != '\0')
        return state_ret_set(ret, STATE_FALSE, "The following mandatory packages cannot be skipped: %s",
                             list);

    /* Mandatory packages, default ones that are not skipped, and those that the SLS includes. */
    json_auto_t *targets = json_copy(members(diff, "mandatory", false));
    json_array_foreach (members(diff, "default", false), i, v)
        if (!value_has(skip, v))
            json_array_append(targets, v);
    json_array_extend(targets, include);
    if (json_array_size(targets) == 0)
        return state_ret_set(ret, STATE_TRUE, "Group '%s' is already installed", name);
    bool partly = value_truthy(members(diff, "mandatory", true)) ||
                  value_truthy(members(diff, "default", true)) ||
                  value_truthy(members(diff, "optional", true));
    if (!ctx_test(ctx))
        return install_group(ctx, args, targets, partly, ret, err);
    json_array_foreach (targets, i, v)
        state_change(ret, json_string_value(v), json_pack("{s:s, s:s}", "new", "installed", "old", ""));
    return state_ret_set(ret, STATE_NONE,
                         partly ? "Group '%s' is partially installed and will be updated"
                                : "Group '%s' will be installed",
                         name);
}

/* ---- advisories ------------------------------------------------------------------------------- */

/* Two states share this: the row of patch_downloaded has a number, and then only downloads. */
static int
pkg_patch_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool only = ctx_row(ctx)->data.number != 0 || value_truthy(value_get(args, "downloadonly"));
    json_t *ret = *ret_value = state_ret_args(args), *ids = value_get(args, "advisory_ids"), *v;
    const char *row = ctx_row(ctx)->name;
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs")), *changes = NULL;
    size_t i;

    if (!ctx_has(ctx, "pkg.list_patches"))
        return state_ret_set(ret, STATE_FALSE, "The pkg.%s state is not available on this platform", row);
    if (json_is_array(ids) && json_array_size(ids) == 0)
        return state_ret_set(ret, STATE_TRUE, "No advisory ids provided");

    /* The advisories that the SLS names and that are not installed. */
    json_auto_t *one = json_pack("[s]", value_str(args, "name", "")), *targets = json_array();
    json_auto_t *known = sub_call(ctx, err, "pkg.list_installed_patches", NULL);
    if (known == NULL)
        return err->code;
    json_array_foreach (value_truthy(ids) ? ids : one, i, v) {
        AUTO_FREE char *id = value_pystr(v);
        if (value_get(known, id) == NULL)
            json_array_append_new(targets, json_string(id));
    }
    if (json_array_size(targets) == 0 && value_truthy(ids))
        return state_ret_set(ret, STATE_TRUE, "All specified advisory patches are already installed");
    if (json_array_size(targets) == 0)
        return state_ret_set(ret, STATE_TRUE, "Advisory patch %s is already installed",
                             value_str(args, "name", ""));
    AUTO_FREE char *list = pkgwant_keys(targets, false);
    if (ctx_test(ctx)) {
        json_array_foreach (targets, i, v)
            state_change(ret, json_string_value(v), json_pack("{s:s, s:s}", "new", "installed", "old", ""));
        return state_ret_set(ret, STATE_NONE, "The following advisory patches would be downloaded: %s", list);
    }
    json_object_set(kwargs, "name", value_get(args, "name"));
    json_object_set(kwargs, "advisory_ids", targets);
    json_object_set_new(kwargs, "downloadonly", json_boolean(only));
    if (ctx_call(ctx, "pkg.install", NULL, kwargs, &changes, err) < 0) {
        if (err->kind != FAIL_COMMAND)
            return err->code;
        (void) pkgwant_failed(ret, "downloading package(s)", err);
        return 0;
    }
    json_object_update(value_get(ret, "changes"), changes);
    return state_ret_set(ret, STATE_TRUE, "%s",
                         state_changed(ret) ? ""
                         : only ? "Advisory patch is not needed or related packages are already downloaded"
                                : "Advisory patch is not needed or related packages are already installed");
}

/* ---- table ------------------------------------------------------------------------------------ */

static const arg_t group_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The group"),
    ARG("skip", ARG_ANY, "null", "Packages of it to leave out"),
    ARG("include", ARG_ANY, "null", "Optional packages of it to take"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "What pkg.install takes", "*"),
    ARGS_END,
};
static const arg_t patch_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The patch"),
    ARG("advisory_ids", ARG_ANY, "null", "A list of them"),
    ARG("downloadonly", ARG_ANY, "null", "Only fetch"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "What pkg.install takes", "*"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "group_installed", pkg_group_installed, group_args, 0,
      "Ensure that a group of packages is installed." },
    { "patch_downloaded", pkg_patch_installed, patch_args, 0,
      "Ensure that a patch is in the package manager's cache.", .data.number = 1 },
    { "patch_installed", pkg_patch_installed, patch_args, 0, "Ensure that a patch is installed.",
      .data.number = 0 },
};

PLUGIN(state, pkg_groups, .provides = "pkg", .doc = "Packages of the system", FUNCS(funcs));
