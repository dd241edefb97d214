/* pkg_removed.c - more of state module `pkg`: removed, purged, latest, uptodate. The installed versions are
 * read again afterwards, and what was not done fails the state. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/packages/pkgwant.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* More names than these are told as their number, as in Salt. */
enum { NAMES_SHOWN = 10 };

/* An error of the package manager is a failed state. */
static int
pkg_removed_failed(json_t *ret, const char *doing, fail_t *err)
{
    if (err->kind != FAIL_COMMAND)
        return err->code;
    (void) state_ret_set(ret, STATE_FALSE, "An error was encountered while %s package(s): %s", doing,
                         fail_text(err));
    fail_clear(err);
    return 0;
}

/* ---- removed and purged ---------------------------------------------------------------------- */

typedef struct removal {
    const char *fun, *doing, *done; /* "pkg.purge", "purging", "purged" */
    bool purge;
} removal_t;

static const removal_t removing = { "pkg.remove", "removing", "removed", false };
static const removal_t purging = { "pkg.purge", "purging", "purged", true };

/* Append those that `have` has at any version. */
static void
add_named(const json_t *wanted, const json_t *have, json_t *out)
{
    const char *name;
    json_t *wish;

    json_object_foreach ((json_t *) wanted, name, wish) {
        if (value_get(have, name) != NULL)
            json_array_append_new(out, json_string(name));
    }
}

/* What is there: packages, and those of which only the configuration is left, which purging looks at. */
typedef struct there {
    json_t *have, *left;
} there_t;

/* Reads both. 0, or negative with *err. */
static int
there_read(call_ctx_t *ctx, const removal_t *r, there_t *ret, fail_t *err)
{
    ret->have = pkgwant_have(ctx, NULL, err);
    ret->left = ret->have == NULL ? NULL : r->purge ? pkgwant_have(ctx, "removed", err) : json_object();
    return ret->left != NULL ? 0 : err->code;
}

static void
there_free(there_t *self)
{
    json_decref(self->have);
    json_decref(self->left);
}
#define there_auto_t __attribute__((cleanup(there_free))) there_t

/* {name: {"old", "new"}} NEW. */
static json_t *
differences(const json_t *before, const json_t *now)
{
    json_auto_t *told = state_ret("");

    pkgwant_changes(before, now, told);
    return json_incref(value_get(told, "changes"));
}

/* The package manager's error fails the state, which tells what was removed before it. */
static int
not_removed(call_ctx_t *ctx, const removal_t *r, const there_t *before, json_t *ret, fail_t *err)
{
    AUTO_FREE char *doing = xasprintf("%s package(s)", r->doing);
    there_auto_t now = { NULL, NULL };
    fail_auto_t none = FAIL_INIT;

    if (!pkgwant_failed(ret, doing, err) || there_read(ctx, r, &now, &none) < 0)
        return 0;
    json_t *gone = differences(before->have, now.have);
    state_change_set(ret, r->purge ? json_pack("{s:o, s:o}", "removed", differences(before->left, now.left),
                                               "installed", gone)
                                   : gone);
    return 0;
}

/* Removes, and verifies that nothing is left. */
static int
remove_targets(call_ctx_t *ctx, const json_t *args, const removal_t *r, const there_t *before,
               const json_t *wanted, const json_t *targets, json_t *ret, fail_t *err)
{
    json_auto_t *kwargs = pkgwant_kwargs(ctx, args), *still = json_array();
    there_auto_t now = { NULL, NULL };
    json_t *changes = NULL;

    json_object_set(kwargs, "name", value_get(args, "name"));
    json_object_set(kwargs, "pkgs", value_get(args, "pkgs"));
    json_object_set(kwargs, "version", value_get(args, "version"));
    if (ctx_call(ctx, r->fun, NULL, kwargs, &changes, err) < 0)
        return err->kind == FAIL_COMMAND ? not_removed(ctx, r, before, ret, err) : err->code;
    state_change_set(ret, changes);
    if (there_read(ctx, r, &now, err) < 0)
        return err->code;
    add_named(wanted, now.have, still);
    add_named(wanted, now.left, still);
    if (json_array_size(still) == 0) {
        /* Success: packages that were not there are listed apart. */
        AUTO_FREE char *gone = pkgwant_keys(targets, false);
        json_auto_t *rest = json_object();
        size_t i;
        json_t *v;
        json_object_update(rest, (json_t *) wanted);
        json_array_foreach (targets, i, v)
            json_object_del(rest, json_string_value(v));
        AUTO_FREE char *absent = pkgwant_keys(rest, true);
        if (*absent == '\0')
            return state_ret_set(ret, STATE_TRUE, "All targeted packages were %s.", r->done);
        return state_ret_set(
            ret, STATE_TRUE,
            "The following packages were not installed: %s The following packages were %s: %s.", absent,
            r->done, gone);
    }
    AUTO_FREE char *list = pkgwant_keys(still, true);
    return state_ret_set(ret, STATE_FALSE, "The following packages failed to %s: %s.",
                         r->fun + strlen("pkg."), list);
}

/* pkg.removed and pkg.purged, by the row's words. Purging also counts packages of which only the
 * configuration is left. */
static int
pkg_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const removal_t *r = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *wanted = pkgwant_of(ctx, args, err);
    json_auto_t *found = json_array();
    there_auto_t there = { NULL, NULL };
    bool spec = false;

    if (wanted == NULL || there_read(ctx, r, &there, err) < 0)
        return pkg_removed_failed(ret, r->doing, err);
    if (json_object_size(wanted) == 0)
        return state_ret_set(ret, STATE_FALSE, "Invalidly formatted pkgs parameter. See minion log.");

    /* Append to `out` those of `wanted` that `have` has, at a version that the wish means. */
    const char *name;
    json_t *wish;

    json_object_foreach ((json_t *) wanted, name, wish) {
        json_t *versions = value_get(there.have, name);
        int fits = value_truthy(versions);
        if (fits && value_truthy(wish)) {
            spec = true;
            fits = pkgwant_holds(ctx, versions, json_string_value(wish), value_get(args, "ignore_epoch"),
                                 false, err);
        }
        if (fits < 0)
            return pkg_removed_failed(ret, r->doing, err);
        if (fits)
            json_array_append_new(found, json_string(name));
    }

    add_named(wanted, there.left, found);
    if (json_array_size(found) == 0)
        return state_ret_set(ret, STATE_TRUE, "%s",
                             r->purge ? "None of the targeted packages are installed or partially installed"
                             : spec
                                 ? "All specified packages (matching specified versions) are already absent"
                                 : "All specified packages are already absent");
    json_auto_t *targets = value_sorted_texts(found);
    if (!ctx_test(ctx))
        return remove_targets(ctx, args, r, &there, wanted, targets, ret, err);
    /* Lists what would be removed, as changes too. */
    AUTO_FREE char *list = pkgwant_keys(targets, false);
    size_t i;
    json_t *v;
    json_array_foreach (targets, i, v)
        state_change(ret, json_string_value(v), json_pack("{s:s, s:s}", "new", r->done, "old", ""));
    return state_ret_set(ret, STATE_NONE, "The following packages will be %s: %s.", r->done, list);
}

/* ---- latest ---------------------------------------------------------------------------------- */

/* NEW {name: version}: the answer of a function that gives a text for one name and a dict for several. */
static json_t *
pkg_removed_versions_of(call_ctx_t *ctx, const char *fun, json_t *names, json_t *kwargs, fail_t *err)
{
    json_t *answer = NULL;

    if (ctx_call(ctx, fun, names, kwargs, &answer, err) < 0)
        return NULL;
    /* A list with one name in it is answered by the version alone. */
    if (json_is_object(answer))
        return answer;
    json_t *one = json_pack("{s:o}", json_string_value(json_array_get(names, 0)), answer);
    return one;
}

/* NEW array: those of `targets` that did (or did not) become what they should. */
static json_t *
updated(const json_t *targets, const json_t *changes, bool well)
{
    json_t *list = json_array(), *want;
    const char *name;

    json_object_foreach ((json_t *) targets, name, want) {
        json_t *now = value_get(value_get(changes, name), "new");
        if ((now != NULL && value_equal(now, want)) == well)
            json_array_append_new(list, json_string(name));
    }
    return list;
}

static void
add_sentence(buf_t *text, const char *words, const json_t *names)
{
    AUTO_FREE char *list = pkgwant_keys(names, true);

    if (*list != '\0')
        buf_printf(text, "%s%s: %s", buf_str(text)[0] != '\0' ? " " : "", words, list);
}

/* Installs all targets by one call of pkg.install. */
static int
pkg_removed_upgrade(call_ctx_t *ctx, const json_t *args, const json_t *targets, const json_t *rest,
                    json_t *ret, fail_t *err)
{
    json_auto_t *kwargs = pkgwant_kwargs(ctx, args);
    json_t *pkgs = json_array(), *changes = NULL, *v;
    const char *name;

    json_object_foreach ((json_t *) targets, name, v)
        json_array_append_new(pkgs, json_string(name));
    json_object_set_new(kwargs, "pkgs", pkgs);
    json_object_set_new(kwargs, "refresh", json_false());
    json_object_set(kwargs, "fromrepo", value_get(args, "fromrepo"));
    json_object_set(kwargs, "skip_verify", value_get(args, "skip_verify"));
    if (ctx_call(ctx, "pkg.install", NULL, kwargs, &changes, err) < 0)
        return pkg_removed_failed(ret, "installing", err);
    if (value_truthy(changes)) {
        /* Compares changes with the wanted versions. */
        json_auto_t *bad = updated(targets, changes, false), *good = updated(targets, changes, true);
        size_t n = json_array_size(rest);
        buf_auto_t text = BUF_INIT;
        add_sentence(&text, "The following packages failed to update", bad);
        add_sentence(&text, "The following packages were successfully installed/upgraded", good);
        if (n <= NAMES_SHOWN)
            add_sentence(&text, "The following packages were already up-to-date", rest);
        else
            buf_printf(&text, " %zu packages were already up-to-date ", n);
        state_change_set(ret, changes);
        return state_ret_set(ret, json_array_size(bad) > 0 ? STATE_FALSE : STATE_TRUE, "%s", buf_str(&text));
    }
    json_decref(changes);

    /* Reports a failure: nothing changed although targets remain. */
    size_t n = json_object_size(targets);
    AUTO_FREE char *list = pkgwant_keys(targets, true);
    buf_auto_t text = BUF_INIT;
    if (n > NAMES_SHOWN)
        buf_printf(&text, "%zu targeted packages failed to update. See debug log for details.", n);
    else if (n > 1)
        buf_printf(&text,
                   "The following targeted packages failed to update. See debug log for details: (%s).",
                   list);
    else
        buf_printf(&text, "Package %s failed to update.", list);
    if (json_array_size(rest) <= NAMES_SHOWN)
        add_sentence(&text, "The following packages were already up-to-date", rest);
    else
        buf_printf(&text, "%zu packages were already up-to-date", json_array_size(rest));
    return state_ret_set(ret, STATE_FALSE, "%s", buf_str(&text));
}

/* NEW {name: newest version} of what can be made newer; NULL: the return is made, or *err. */
static json_t *
upgradable(const json_t *names, const json_t *avail, const json_t *have, json_t *ret)
{
    json_auto_t *targets = json_object();
    buf_auto_t problems = BUF_INIT;
    size_t i;
    json_t *v;

    json_array_foreach (names, i, v) {
        const char *name = json_string_value(v);
        if (value_truthy(value_get(avail, name)))
            json_object_set(targets, name, value_get(avail, name));
        else if (!value_truthy(value_get(have, name)))
            buf_printf(&problems, "%sNo information found for '%s'.", problems.len > 0 ? " " : "", name);
    }
    if (problems.len == 0)
        return json_incref(targets);
    (void) state_ret_set(ret, STATE_FALSE, "%s", buf_str(&problems));
    return NULL;
}

/* Compares pkg.latest_version with the installed versions and installs what is newer. */
static int
pkg_latest(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *v;
    json_t *pkgs = value_get(args, "pkgs");
    const char *name;

    if (value_truthy(value_get(value_get(args, "kwargs"), "sources")))
        return state_ret_set(ret, STATE_FALSE, "The \"sources\" parameter is not supported.");
    if (json_is_array(pkgs) && json_array_size(pkgs) == 0)
        return state_ret_set(ret, STATE_TRUE, "No packages to install provided");
    json_auto_t *wanted = pkgwant_of(ctx, args, err), *names = json_array();
    if (wanted == NULL)
        return pkg_removed_failed(ret, "checking", err);
    json_object_foreach (wanted, name, v)
        json_array_append_new(names, json_string(name));
    if (json_array_size(names) == 0)
        return state_ret_set(ret, STATE_FALSE, "Invalidly formatted \"pkgs\" parameter. See minion log.");
    json_auto_t *kwargs = json_pack("{s:b, s:O}", "refresh", pkgwant_refresh(ctx, value_get(args, "refresh")),
                                    "fromrepo", value_get(args, "fromrepo"));
    json_auto_t *avail = pkg_removed_versions_of(ctx, "pkg.latest_version", names, kwargs, err);
    if (avail == NULL)
        return pkg_removed_failed(ret, "checking the newest available version of", err);
    json_auto_t *have = pkg_removed_versions_of(ctx, "pkg.version", names, NULL, err);
    if (have == NULL)
        return pkg_removed_failed(ret, "checking", err);
    json_auto_t *targets = upgradable(names, avail, have, ret);
    if (targets == NULL)
        return 0;
    if (json_object_size(targets) == 0) {
        /* "Package x ...", "All packages ... (a, b)", "All 12 packages ...". */
        size_t n = json_array_size(names);
        AUTO_FREE char *list = pkgwant_keys(names, true);

        if (n > NAMES_SHOWN)
            return state_ret_set(ret, STATE_TRUE, "All %zu packages are up-to-date.", n);
        return n > 1 ? state_ret_set(ret, STATE_TRUE, "All packages are up-to-date (%s).", list)
                     : state_ret_set(ret, STATE_TRUE, "Package %s is already up-to-date", list);
    }

    /* Names the newest version of each package. */
    json_auto_t *rest = json_array();
    json_t *value;
    size_t i;
    json_array_foreach (names, i, value) {
        if (value_truthy(value_get(args, "pkgs")) && value_get(targets, json_string_value(value)) == NULL)
            json_array_append(rest, value);
    }

    if (!ctx_test(ctx))
        return pkg_removed_upgrade(ctx, args, targets, rest, ret, err);
    AUTO_FREE char *list = pkgwant_keys(targets, true);
    json_auto_t *in_order = value_sorted_texts(rest);
    size_t n = json_array_size(rest);
    buf_auto_t shown = BUF_INIT;
    (void) state_ret_set(ret, STATE_NONE, "The following packages would be installed/upgraded: %s", list);
    if (n > NAMES_SHOWN)
        state_ret_add(ret, "%zu packages are already up-to-date", n);
    json_array_foreach (in_order, i, v)
        buf_printf(&shown, "%s%s (%s)", i > 0 ? ", " : "", json_string_value(v),
                   value_str(have, json_string_value(v), ""));
    if (n > 0 && n <= NAMES_SHOWN)
        state_ret_add(ret, "The following packages are already up-to-date: %s", buf_str(&shown));
    return 0;
}

/* ---- uptodate -------------------------------------------------------------------------------- */

/* NEW {name: {"new", "old"}} of what would be upgraded; NULL with *err. */
static json_t *
upgrades(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    json_auto_t *found = sub_call(ctx, err, "pkg.list_upgrades", "{s:O}", "refresh",
                                  value_get(args, "refresh"));
    json_t *expected = json_object(), *version, *pkgs = value_get(args, "pkgs"), *v;
    const char *name;
    size_t i;

    json_object_foreach (found, name, version) {
        bool asked = !json_is_array(pkgs);
        json_array_foreach (pkgs, i, v)
            asked = asked || str_eq(json_string_value(v), name);
        if (!asked)
            continue;
        json_auto_t *list = json_pack("[s]", name);
        json_t *old = NULL;
        if (ctx_call(ctx, "pkg.version", list, NULL, &old, err) < 0)
            break;
        json_object_set_new(expected, name, json_pack("{s:O, s:o}", "new", version, "old", old));
    }
    if (err->code == 0)
        return expected;
    json_decref(expected);
    return NULL;
}

/* Only packages named by `pkgs` must be among the changes afterwards. */
static int
pkg_uptodate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *v;
    json_auto_t *expected = upgrades(ctx, args, err), *missing = json_array();
    const char *name;

    if (expected == NULL)
        return state_ret_fail(ret, err);
    if (json_object_size(expected) == 0)
        return state_ret_set(ret, STATE_TRUE, "System is already up-to-date");
    if (ctx_test(ctx)) {
        state_change_set(ret, json_incref(expected));
        return state_ret_set(ret, STATE_NONE, "System update will be performed");
    }
    json_auto_t *kwargs = json_copy(value_get(args, "kwargs"));
    json_t *changes = NULL;
    json_object_set(kwargs, "refresh", value_get(args, "refresh"));
    json_object_set(kwargs, "pkgs", value_get(args, "pkgs"));
    /* The packages before are needed only to tell what a failed upgrade has changed. */
    json_auto_t *before = pkgwant_have(ctx, NULL, err);
    if (before == NULL)
        return state_ret_fail(ret, err);
    if (ctx_call(ctx, "pkg.upgrade", NULL, kwargs, &changes, err) < 0) {
        if (err->kind != FAIL_COMMAND)
            return err->code;
        fail_auto_t none = FAIL_INIT;
        json_auto_t *now = pkgwant_failed(ret, "updating packages", err) ? pkgwant_have(ctx, NULL, &none)
                                                                         : NULL;
        pkgwant_changes(before, now, ret);
        return 0;
    }
    json_object_foreach (expected, name, v) {
        if (json_is_array(value_get(args, "pkgs")) && value_get(changes, name) == NULL)
            json_array_append_new(missing, json_string(name));
    }
    state_change_set(ret, changes);
    if (json_array_size(missing) == 0)
        return state_ret_set(ret, STATE_TRUE, "Upgrade ran successfully");
    AUTO_FREE char *list = pkgwant_keys(missing, false);
    return state_ret_set(ret, STATE_FALSE, "The following package(s) failed to update: %s", list);
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW      ARG("name", ARG_STR, "null", "The package, or any name beside `pkgs`")
#define PKGS_ROW      ARG("pkgs", ARG_ANY, "null", "List of names, and of {name: version}")
#define KWARGS_ROW    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Passed on to the package manager's function", "*")
#define NORMALIZE_ROW ARG("normalize", ARG_BOOL, "true", "Leave this host's architecture out of names")

static const arg_t removed_args[] = {
    NAME_ROW,
    ARG("version", ARG_ANY, "null", "Only this version"),
    PKGS_ROW,
    NORMALIZE_ROW,
    ARG("ignore_epoch", ARG_ANY, "null",
        "Compare versions without their epochs; None: as the wish is written"),
    KWARGS_ROW,
    ARGS_END,
};
static const arg_t latest_args[] = {
    NAME_ROW,
    ARG("refresh", ARG_ANY, "null", "Refresh the lists first; None: once in a run"),
    ARG("fromrepo", ARG_STR, "null", "Install from this release"),
    ARG("skip_verify", ARG_BOOL, "false", "Accept unsigned packages"),
    PKGS_ROW,
    ARG("watch_flags", ARG_BOOL, "true", "Of Gentoo only"),
    KWARGS_ROW,
    ARGS_END,
};
static const arg_t uptodate_args[] = {
    NAME_ROW, ARG("refresh", ARG_BOOL, "false", "Refresh the lists first"), PKGS_ROW, KWARGS_ROW, ARGS_END,
};

static const func_t funcs[] = {
    { "latest", pkg_latest, latest_args, 0,
      "Ensure that packages are installed and at their newest version." },
    { "purged", pkg_uninstall, removed_args, 0, "Ensure that packages and their configuration are gone.",
      .data.ptr = &purging },
    { "removed", pkg_uninstall, removed_args, 0, "Ensure that packages are not installed.",
      .data.ptr = &removing },
    { "uptodate", pkg_uptodate, uptodate_args, 0, "Ensure that all packages are at their newest version." },
};

PLUGIN(state, pkg_removed, .provides = "pkg", .doc = "Packages of the system", FUNCS(funcs));
