/* pkg_held.c - more of state module `pkg`: packages that are kept at their version (held), and those that are
 * not. Compares pkg.get_selections with the SLS. */
#include "common/base/str.h"
#include "plugins/lib/call/sub.h"
#include "plugins/lib/packages/pkgwant.h"
#include "salt/state.h"

/* Names that are held: NEW set as an object, or NULL with *err. */
static json_t *
held_now(call_ctx_t *ctx, fail_t *err)
{
    json_auto_t *found = sub_call(ctx, err, "pkg.get_selections", "{s:s}", "state", "hold");
    json_t *held, *name;
    size_t i;

    if (found == NULL)
        return NULL;
    held = json_object();
    json_array_foreach (value_get(found, "hold"), i, name)
        json_object_set_new(held, json_string_value(name), json_true());
    return held;
}

/* Packages that the SLS names: NEW array of names and {name: version}. */
static json_t *
pkg_held_named(const json_t *args)
{
    json_t *pkgs = value_get(args, "pkgs"), *version = value_get(args, "version");

    if (json_is_array(pkgs))
        return json_incref(pkgs);
    if (value_truthy(pkgs))
        return json_pack("[O]", pkgs);
    return value_truthy(version) ? json_pack("[{s:O}]", value_str(args, "name", ""), version)
                                 : json_pack("[s]", value_str(args, "name", ""));
}

static const char *
pkg_held_name_of(json_t *pkg, json_t **ret_version)
{
    void *first = json_is_object(pkg) ? json_object_iter(pkg) : NULL;

    *ret_version = first != NULL ? json_object_iter_value(first) : NULL;
    return first != NULL ? json_object_iter_key(first) : json_is_string(pkg) ? json_string_value(pkg) : "";
}

/* pkg.hold or pkg.unhold of one package: goes into the changes. NEW; NULL with *err. */
static json_t *
pkg_held_set_hold(call_ctx_t *ctx, json_t *ret, const char *fun, const char *name, fail_t *err)
{
    json_t *said = sub_call(ctx, err, fun, "{s:[s]}", "pkgs", name);

    if (said == NULL)
        return NULL;
    if (!value_truthy(value_get(value_get(said, name), "result")))
        json_object_set_new(ret, "result", json_false());
    json_object_update(value_get(ret, "changes"), said);
    return said;
}

/* Test mode: the change that pkg.hold or pkg.unhold would make. `was` is the selection now; NULL: there is none. */
static void
foretell_hold(json_t *ret, const char *name, const char *was, const char *now)
{
    json_object_set_new(ret, "result", json_null());
    state_change(
        ret, name,
        json_pack("{s:s, s:{s:s?, s:s}, s:n, s:o}", "name", name, "changes", "old", was, "new", now, "result",
                  "comment",
                  value_fmt("Package %s is set to be %s.", name, str_eq(now, "hold") ? "held" : "unheld")));
}

/* The package's selection. NEW, NULL when it has none; -1 with *err. */
static int
selection_of(call_ctx_t *ctx, const char *name, char **ret_selection, fail_t *err)
{
    json_auto_t *all = sub_call(ctx, err, "pkg.get_selections", "{s:s}", "pattern", name);
    const char *selection;
    json_t *names;

    if (all == NULL)
        return err->code;
    json_object_foreach (all, selection, names) {
        if (value_lists(names, name))
            *ret_selection = xstrdup(selection);
    }
    return 0;
}

/* Holds one package and adds to the comment. */
static int
pkg_held_hold_one(call_ctx_t *ctx, json_t *ret, const char *name, const json_t *version, fail_t *err)
{
    AUTO_FREE char *text = value_truthy(version) ? value_pystr(version) : NULL;

    if (ctx_test(ctx)) {
        AUTO_FREE char *was = NULL;
        int rc = selection_of(ctx, name, &was, err);
        if (rc < 0)
            return rc;
        foretell_hold(ret, name, was, "hold");
        state_ret_add(ret, "The following package would be held: %s%s%s%s", name,
                      text != NULL ? " (version = " : "", text != NULL ? text : "", text != NULL ? ")" : "");
        return 0;
    }
    json_auto_t *said = pkg_held_set_hold(ctx, ret, "pkg.hold", name, err);
    if (said == NULL)
        return err->code;
    bool ok = value_truthy(value_get(value_get(said, name), "result"));
    state_ret_add(ret, ok ? "Package %s is now being held" : "Package %s was not held", name);
    return 0;
}

static int
unhold_one(call_ctx_t *ctx, json_t *ret, const char *name, const json_t *version, fail_t *err)
{
    if (ctx_test(ctx)) {
        foretell_hold(ret, name, "hold", "install");
        /* The version that it is held at, which apt does not know. */
        state_ret_add(ret, "The following package would be unheld: %s%s", name,
                      value_truthy(version) ? " (version = None)" : "");
        return 0;
    }
    json_auto_t *said = pkg_held_set_hold(ctx, ret, "pkg.unhold", name, err);
    if (said == NULL)
        return err->code;
    const char *comment = value_str(value_get(said, name), "comment", "");
    if (*comment != '\0')
        state_ret_add(ret, "%s", comment);
    return 0;
}

/* True: s->ret is the answer. */
static bool
pkg_held_settled(call_ctx_t *ctx, const json_t *args, const char *all, const char *word, json_t *ret)
{
    json_t *pkgs = value_get(args, "pkgs");

    if (json_is_array(pkgs) && json_array_size(pkgs) == 0 && !value_truthy(value_get(args, all)))
        state_ret_set(ret, STATE_TRUE, "No packages to be %s provided", word);
    else if (!ctx_has(ctx, "pkg.get_selections"))
        state_ret_set(ret, STATE_FALSE,
                      "No any function to get the list of held packages available.\nCheck if the package "
                      "manager supports package locking.");
    else if (!ctx_has(ctx, "pkg.hold"))
        state_ret_set(ret, STATE_FALSE, "`hold` function is not implemented for the package manager.");
    else
        return false;
    return true;
}

/* Without changes and comment, "No changes made". */
static int
pkg_held_finish(json_t *ret)
{
    if (!state_changed(ret) && value_str(ret, "comment", "")[0] == '\0')
        state_ret_comment(ret, json_string("No changes made"));
    return 0;
}

/* With `replace`, other packages that are held are released. */
static int
pkg_held(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkg, *version, *known;
    const char *name;
    int rc = 0;
    size_t i;

    if (pkg_held_settled(ctx, args, "replace", "held", ret))
        return 0;
    if (pkgwant_named(args, err) < 0)
        return err->code;
    json_auto_t *held = held_now(ctx, err), *wanted = json_object(), *list = pkg_held_named(args);
    if (held == NULL)
        return err->code;
    json_array_foreach (list, i, pkg) {
        name = pkg_held_name_of(pkg, &version);
        json_object_set_new(wanted, name, json_true());
        if (value_get(held, name) == NULL && (rc = pkg_held_hold_one(ctx, ret, name, version, err)) < 0)
            return rc;
    }
    if (!value_truthy(value_get(args, "replace")))
        return pkg_held_finish(ret);
    json_object_foreach (held, name, known) {
        if (value_get(wanted, name) == NULL && (rc = unhold_one(ctx, ret, name, NULL, err)) < 0)
            return rc;
    }
    return pkg_held_finish(ret);
}

/* Released are the named ones that are held, or all. */
static int
pkg_unheld(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkg, *version, *known;
    bool all = value_truthy(value_get(args, "all"));
    const char *name;
    size_t i;

    if (pkg_held_settled(ctx, args, "all", "unheld", ret))
        return 0;
    if (!all && pkgwant_named(args, err) < 0)
        return err->code;
    json_auto_t *held = held_now(ctx, err), *wanted = json_object(), *list = pkg_held_named(args);
    if (held == NULL)
        return err->code;
    json_array_foreach (list, i, pkg) {
        name = pkg_held_name_of(pkg, &version);
        json_object_set_new(wanted, name, version != NULL ? json_incref(version) : json_null());
    }
    json_object_foreach (held, name, known) {
        int rc = all || value_get(wanted, name) != NULL
                     ? unhold_one(ctx, ret, name, value_get(wanted, name), err)
                     : 0;
        if (rc < 0)
            return rc;
    }
    return pkg_held_finish(ret);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define COMMON_ROWS                                                                                          \
    { "name", ARG_STR, "null", "The package, or any name beside `pkgs`" },                                   \
        { "version", ARG_ANY, "null", "For package managers that hold versions: apt does not" },             \
    {                                                                                                        \
        "pkgs", ARG_ANY, "null", "List of names, and of {name: version}"                                     \
    }

static const arg_t held_args[] = { COMMON_ROWS,
                                   { "replace", ARG_ANY, "false", "Release every package that is not named" },
                                   { "kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE },
                                   ARGS_END };
static const arg_t unheld_args[] = { COMMON_ROWS,
                                     { "all", ARG_ANY, "false", "Release every package" },
                                     { "kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE },
                                     ARGS_END };

static const func_t funcs[] = {
    { "held", pkg_held, held_args, 0, "Ensure that packages are kept at the version that is installed." },
    { "unheld", pkg_unheld, unheld_args, 0, "Ensure that packages may be upgraded." },
};

PLUGIN(state, pkg_held, .provides = "pkg", .doc = "Packages of the system", FUNCS(funcs));
