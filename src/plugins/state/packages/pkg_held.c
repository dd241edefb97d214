/* pkg_held.c - more of state module `pkg`: packages that are kept at their version (held), and those that are
 * not. Compares what the package manager tells of its locks with the SLS. */
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/packages/pkgwant.h"
#include "salt/state.h"

/* The version in a lock "NAME-EPOCH:VERSION-RELEASE.*", which *ret_name is cut from: NEW, or NULL for
 * another. */
static json_t *
version_in_lock(const char *lock, char **ret_name)
{
    AUTO(rx) rx = rx_new("^(.+)-(\\d+):(.*)\\.\\*", 0, NULL);

    if (rx == NULL || rx_match(rx, lock, strlen(lock), 0, NULL) <= 0) {
        *ret_name = xstrdup(lock);
        return NULL;
    }
    AUTO_FREE char *epoch = rx_group_text(rx, lock, 2);
    AUTO_FREE char *version = rx_group_text(rx, lock, 3);
    *ret_name = rx_group_text(rx, lock, 1);
    return value_fmt("%s%s%s", str_eq(epoch, "0") ? "" : epoch, str_eq(epoch, "0") ? "" : ":", version);
}

/* Packages that are held: NEW {name: {"version", "type"}}, both where they are known; or NULL with *err. dnf
 * and zypper list locks, apt's module holds, dpkg alone selections. *ret_exact: the package manager holds
 * versions. */
static json_t *
held_now(call_ctx_t *ctx, bool *ret_exact, fail_t *err)
{
    bool locks = ctx_has(ctx, "pkg.list_locks"), holds = !locks && ctx_has(ctx, "pkg.list_holds");
    json_auto_t *found = locks   ? sub_call(ctx, err, "pkg.list_locks", NULL)
                         : holds ? sub_call(ctx, err, "pkg.list_holds", "{s:b}", "full", 1)
                                 : sub_call(ctx, err, "pkg.get_selections", "{s:s}", "state", "hold");
    json_t *held, *name;
    size_t i;

    *ret_exact = locks;
    if (found == NULL || locks)
        return STEAL(found);
    held = json_object();
    json_array_foreach (holds ? found : value_get(found, "hold"), i, name) {
        AUTO_FREE char *plain = NULL;
        json_t *version = version_in_lock(json_string_value(name), &plain);
        json_object_set_new(held, plain,
                            version != NULL ? json_pack("{s:o}", "version", version) : json_object());
    }
    return held;
}

/* The version that a lock holds, NULL for none. BORROWED. */
static const char *
held_version(const json_t *lock)
{
    const char *text = value_str(lock, "version", NULL);

    return text != NULL ? text + strspn(text, "= ") : NULL;
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

/* Name of a package that the SLS names, and its version or NULL. BORROWED. */
static const char *
pkg_held_name_of(json_t *pkg, json_t **ret_version)
{
    void *first = json_is_object(pkg) ? json_object_iter(pkg) : NULL;

    *ret_version = first != NULL ? json_object_iter_value(first) : NULL;
    return first != NULL ? json_object_iter_key(first) : json_is_string(pkg) ? json_string_value(pkg) : "";
}

/* Test mode: the change that pkg.hold or pkg.unhold would make. `was` is the selection now; NULL: there is
 * none. */
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
    bool dpkg = ctx_has(ctx, "pkg.get_selections");
    json_auto_t *all = dpkg ? sub_call(ctx, err, "pkg.get_selections", "{s:s}", "pattern", name)
                            : json_object();
    const char *selection;
    json_t *names;

    /* Others than dpkg know held and not held alone. */
    *ret_selection = dpkg ? NULL : xstrdup("");
    if (all == NULL)
        return err->code;
    json_object_foreach (all, selection, names) {
        if (value_lists(names, name))
            *ret_selection = xstrdup(selection);
    }
    return 0;
}

/* Holds one package and adds to the comment. `lock`: it is held at another version, and let go first. */
static int
pkg_held_hold_one(call_ctx_t *ctx, json_t *ret, json_t *pkg, const json_t *lock, fail_t *err)
{
    json_t *version;
    const char *name = pkg_held_name_of(pkg, &version);
    AUTO_FREE char *text = value_truthy(version) ? value_pystr(version) : NULL;

    if (ctx_test(ctx)) {
        AUTO_FREE char *was = NULL;
        int rc = selection_of(ctx, name, &was, err);
        if (rc < 0)
            return rc;
        foretell_hold(ret, name, was, "hold");
        state_ret_add(ret,
                      lock != NULL ? "The following package's hold rule would be updated: %s%s%s%s"
                                   : "The following package would be held: %s%s%s%s",
                      name, text != NULL ? " (version = " : "", text != NULL ? text : "",
                      text != NULL ? ")" : "");
        return 0;
    }
    json_auto_t *freed = lock != NULL ? sub_call(ctx, err, "pkg.unhold", "{s:[s]}", "pkgs", name)
                                      : json_null();
    json_auto_t *said = freed != NULL ? sub_call(ctx, err, "pkg.hold", "{s:[O]}", "pkgs", pkg) : NULL;
    if (said == NULL)
        return err->code;
    bool ok = value_truthy(value_get(value_get(said, name), "result"));
    if (!ok)
        json_object_set_new(ret, "result", json_false());
    json_object_update(value_get(ret, "changes"), said);
    state_ret_add(ret,
                  !ok            ? "Package %s was not held"
                  : lock != NULL ? "Package %s was updated with hold rule"
                                 : "Package %s is now being held",
                  name);
    return 0;
}

/* Lets one package go and adds to the comment. `lock` is the version that it is held at, or NULL. */
static int
unhold_one(call_ctx_t *ctx, json_t *ret, const char *name, const json_t *version, const char *lock,
           fail_t *err)
{
    if (ctx_test(ctx)) {
        foretell_hold(ret, name, "hold", ctx_has(ctx, "pkg.get_selections") ? "install" : "");
        /* The version that it is held at, which apt does not know. */
        state_ret_add(ret, "The following package would be unheld: %s%s%s%s", name,
                      value_truthy(version) ? " (version = " : "",
                      value_truthy(version) ? (lock != NULL ? lock : "None") : "",
                      value_truthy(version) ? ")" : "");
        return 0;
    }
    json_auto_t *said = sub_call(ctx, err, "pkg.unhold", "{s:[s]}", "pkgs", name);
    if (said == NULL)
        return err->code;
    if (!value_truthy(value_get(value_get(said, name), "result")))
        json_object_set_new(ret, "result", json_false());
    json_object_update(value_get(ret, "changes"), said);
    const char *comment = value_str(value_get(said, name), "comment", "");
    if (*comment != '\0')
        state_ret_add(ret, "%s", comment);
    return 0;
}

/* True when there is nothing to do or no way to do it: ret is the answer. `all` is the argument that makes an
 * empty list meaningful. */
static bool
pkg_held_settled(call_ctx_t *ctx, const json_t *args, const char *all, const char *word, json_t *ret)
{
    json_t *pkgs = value_get(args, "pkgs");

    if (json_is_array(pkgs) && json_array_size(pkgs) == 0 && !value_truthy(value_get(args, all)))
        state_ret_set(ret, STATE_TRUE, "No packages to be %s provided", word);
    else if (!ctx_has(ctx, "pkg.list_locks") && !ctx_has(ctx, "pkg.list_holds") &&
             !ctx_has(ctx, "pkg.get_selections"))
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

/* Zypper locks patterns and patches too. */
static bool
is_of_package(const json_t *lock)
{
    return str_eq(value_str(lock, "type", "package"), "package");
}

/* With `replace`, other packages that are held are released. */
static int
pkg_held(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkg, *version, *known;
    const char *name;
    bool exact;
    int rc = 0;
    size_t i;

    if (pkg_held_settled(ctx, args, "replace", "held", ret))
        return 0;
    if (pkgwant_named(args, err) < 0)
        return err->code;
    json_auto_t *held = held_now(ctx, &exact, err), *wanted = json_object(), *list = pkg_held_named(args);
    if (held == NULL)
        return err->code;
    json_array_foreach (list, i, pkg) {
        name = pkg_held_name_of(pkg, &version);
        json_object_set_new(wanted, name, json_true());
        json_t *lock = value_get(held, name);
        AUTO_FREE char *text = value_truthy(version) ? value_pystr(version) : NULL;
        bool other = exact && !str_eq(held_version(lock), text);
        if ((lock == NULL || other) && (rc = pkg_held_hold_one(ctx, ret, pkg, lock, err)) < 0)
            return rc;
    }
    if (!value_truthy(value_get(args, "replace")))
        return pkg_held_finish(ret);
    json_object_foreach (held, name, known) {
        if (value_get(wanted, name) == NULL && is_of_package(known) &&
            (rc = unhold_one(ctx, ret, name, NULL, NULL, err)) < 0)
            return rc;
    }
    return pkg_held_finish(ret);
}

/* Released are the named ones that are held, or all. */
static int
pkg_unheld(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *pkg, *version, *known;
    bool all = value_truthy(value_get(args, "all")), exact;
    const char *name;
    size_t i;

    if (pkg_held_settled(ctx, args, "all", "unheld", ret))
        return 0;
    if (!all && pkgwant_named(args, err) < 0)
        return err->code;
    json_auto_t *held = held_now(ctx, &exact, err), *wanted = json_object(), *list = pkg_held_named(args);
    if (held == NULL)
        return err->code;
    json_array_foreach (list, i, pkg) {
        name = pkg_held_name_of(pkg, &version);
        json_object_set_new(wanted, name, version != NULL ? json_incref(version) : json_null());
    }
    json_object_foreach (held, name, known) {
        const char *lock = exact ? held_version(known) : NULL;
        json_t *wish = value_get(wanted, name);
        AUTO_FREE char *text = value_truthy(wish) ? value_pystr(wish) : NULL;
        bool meant = all || (wish != NULL && (lock == NULL || str_eq(lock, text)));
        int rc = meant && is_of_package(known) ? unhold_one(ctx, ret, name, wish, lock, err) : 0;
        if (rc < 0)
            return rc;
    }
    return pkg_held_finish(ret);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define COMMON_ROWS                                                                                          \
    ARG("name", ARG_STR, "null", "The package, or any name beside `pkgs`"),                                  \
        ARG("version", ARG_ANY, "null", "For package managers that hold versions: apt does not"),            \
        ARG("pkgs", ARG_ANY, "null", "List of names, and of {name: version}")

static const arg_t held_args[] = {
    COMMON_ROWS, ARG("replace", ARG_ANY, "false", "Release every package that is not named"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE), ARGS_END
};
static const arg_t unheld_args[] = {
    COMMON_ROWS, ARG("all", ARG_ANY, "false", "Release every package"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted and not used", TAKES_NONE), ARGS_END
};

static const func_t funcs[] = {
    { "held", pkg_held, held_args, 0, "Ensure that packages are kept at the version that is installed." },
    { "unheld", pkg_unheld, unheld_args, 0, "Ensure that packages may be upgraded." },
};

PLUGIN(state, pkg_held, .provides = "pkg", .doc = "Packages of the system", FUNCS(funcs));
