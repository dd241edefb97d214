/* pkg.c - state module `pkg`: packages that are installed, with aggregation, holds and the watch requisite. A
 * plan sorts the wanted packages into those to install, to install again and to take out of the selection
 * "purge"; after pkg.install the installed versions are compared with the wishes. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"
#include "plugins/lib/packages/pkgwant.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/salt/modbeacon.h"
#include "salt/state.h"

enum { SUMMARY_SHORT = 20 }; /* texts and lists up to here are shown whole, as Salt does */

/* State of one run of `installed`. Owns all but the BORROWED args and ret. */
typedef struct plan {
    call_ctx_t *ctx;
    json_t *args, *ret;
    json_t *kwargs;  /* for the module's functions */
    json_t *desired; /* wanted, with "latest" resolved */
    json_t *have, *unpurge;
    json_t *targets, *again; /* to install; to install once more */
    buf_t problems;          /* of package files that can't be looked at, in one line */
    bool from_sources, refresh, spec, done;
    fail_t *err;
} plan_t;

/* Ends the plan: the return is made before anything was done. */
static int
pkg_settled(plan_t *p, state_result_t result, const char *text)
{
    p->done = true;
    return state_ret_set(p->ret, result, "%s", text);
}

/* ---- what must be done ----------------------------------------------------------------------- */

/* Replaces "latest" by the newest version; the installed one where no newer exists. Refreshes the lists at
 * most once. */
static int
resolve_latest(plan_t *p)
{
    const char *name;
    json_t *wish;

    json_object_foreach (p->desired, name, wish) {
        if (!json_is_string(wish) || strcmp(json_string_value(wish), "latest") != 0)
            continue;
        json_auto_t *names = json_pack("[s]", name);
        json_auto_t *kwargs = json_pack("{s:b}", "refresh", p->refresh);
        json_t *version = NULL;
        if (ctx_call(p->ctx, "pkg.latest_version", names, kwargs, &version, p->err) < 0)
            return p->err->code;
        p->refresh = false;
        json_t *have = value_get(p->have, name);
        if (!value_truthy(version)) {
            json_decref(version);
            version = json_array_size(have) > 0 ? json_incref(json_array_get(have, json_array_size(have) - 1))
                                                : json_null();
        }
        json_object_set_new(p->desired, name, version);
    }
    return 0;
}

static void PRINTF(2, 3) add_problem(plan_t *p, const char *fmt, ...)
{
    va_list args;

    buf_puts(&p->problems, p->problems.len > 0 ? " " : "");
    va_start(args, fmt);
    buf_vprintf(&p->problems, fmt, args);
    va_end(args);
    fail_clear(p->err);
}

/* The version that a package file (`sources`) holds; it is fetched first. NEW, or NULL with a problem noted:
 * the others are still looked at. */
static char *
version_in(plan_t *p, const char *source)
{
    AUTO_FREE char *path = pkg_cache_file(p->ctx, source, ctx_saltenv(p->ctx), p->err);

    if (str_empty(path)) {
        add_problem(p, "Unable to cache %s: %s", source, path == NULL ? fail_text(p->err) : "file not found");
        return NULL;
    }
    /* Other package managers have a module for their files. */
    json_auto_t *info = !str_eq(value_str(ctx_grains(p->ctx), "os_family", ""), "Debian")
                            ? sub_call(p->ctx, p->err, "lowpkg.bin_pkg_info", "{s:s}", "path", path)
                            : apt_deb_info(p->ctx, path, p->err);
    if (info == NULL) {
        add_problem(p, "%s", fail_text(p->err));
        return NULL;
    }
    return xstrdup(value_str(info, "version", ""));
}

/* Decides one package: present at a fitting version, to be reinstalled, or to be installed. */
static int
sort_one(plan_t *p, const char *name, json_t *wish)
{
    json_t *have = value_get(p->have, name);

    if (!value_truthy(have)) {
        json_object_set(p->targets, name, wish);
        return 0;
    }
    if (value_bool(p->args, "reinstall", false)) {
        json_object_set(p->again, name, wish);
        return 0;
    }
    if (!value_truthy(wish))
        return 0;
    AUTO_FREE char *version = p->from_sources ? version_in(p, json_string_value(wish))
                                              : xstrdup(json_string_value(wish));
    if (version == NULL)
        return 0;
    int fits = pkgwant_holds(p->ctx, have, version, value_get(p->args, "ignore_epoch"),
                             value_bool(p->args, "allow_updates", false), p->err);
    if (fits < 0)
        return fits;
    p->spec = !p->from_sources;
    if (!fits)
        json_object_set(p->targets, name, wish);
    return 0;
}

/* Fills `targets` and `again`, or ends the plan: with the problems of package files, or because there is
 * nothing to do. */
static int
sort_all(plan_t *p)
{
    const char *name;
    json_t *wish;

    p->targets = json_object();
    p->again = json_object();
    json_object_foreach (p->desired, name, wish) {
        if (sort_one(p, name, wish) < 0)
            return p->err->code;
    }
    if (p->problems.len > 0)
        return pkg_settled(p, STATE_FALSE, buf_str(&p->problems));
    if (json_object_size(p->targets) > 0 || json_object_size(p->again) > 0 || json_array_size(p->unpurge) > 0)
        return 0;
    return pkg_settled(p, STATE_TRUE,
                       p->spec ? "All specified packages are already installed and are at the desired version"
                               : "All specified packages are already installed");
}

/* Checks the arguments and fills the plan; p->done tells that the return is made. */
static int
pkg_make_plan(plan_t *p)
{
    json_t *pkgs = value_get(p->args, "pkgs"), *sources = value_get(p->args, "sources");

    if (json_is_array(pkgs) && json_array_size(pkgs) == 0)
        return pkg_settled(p, STATE_TRUE, "No packages to install provided");
    if (value_truthy(pkgs) && value_truthy(sources))
        return pkg_settled(p, STATE_FALSE, "Only one of \"pkgs\" and \"sources\" is permitted.");
    if (value_truthy(value_get(p->args, "pkg_verify")) && !ctx_has(p->ctx, "pkg.verify"))
        return pkg_settled(p, STATE_FALSE, "pkg.verify not implemented");
    p->from_sources = value_truthy(sources);
    p->desired = p->from_sources ? pkgwant_sources(sources) : pkgwant_of(p->ctx, p->args, p->err);
    if (p->desired == NULL || (p->have = pkgwant_have(p->ctx, NULL, p->err)) == NULL)
        return p->err->code;
    if (json_object_size(p->desired) == 0)
        return pkg_settled(p, STATE_FALSE,
                           p->from_sources ? "Invalidly formatted 'sources' parameter. See minion log."
                                           : "Invalidly formatted 'pkgs' parameter. See minion log.");

    /* Wanted packages that dpkg has marked for removal. */
    json_auto_t *purged = pkgwant_have(p->ctx, "purge_desired", p->err);
    const char *name;
    json_t *v;
    if (purged == NULL)
        return p->err->code;
    p->unpurge = json_array();
    json_object_foreach (p->desired, name, v) {
        if (value_get(purged, name) != NULL)
            json_array_append_new(p->unpurge, json_string(name));
    }
    return !p->from_sources && resolve_latest(p) < 0 ? p->err->code : sort_all(p);
}

/* ---- test mode ------------------------------------------------------------------------------- */

/* Adds a line and the changes for these packages; nothing for none. */
static void
pkg_would(plan_t *p, const json_t *names, const char *words)
{
    AUTO_FREE char *list = pkgwant_keys(names, false);
    const char *name;
    json_t *v;
    size_t i;

    if (*list == '\0')
        return;
    state_ret_add(p->ret, "%s: %s", words, list);
    json_object_foreach ((json_t *) names, name, v)
        state_change(p->ret, name, json_pack("{s:s, s:s}", "new", "installed", "old", ""));
    json_array_foreach (names, i, v)
        state_change(p->ret, json_string_value(v), json_pack("{s:s, s:s}", "new", "installed", "old", ""));
}

/* ---- doing it -------------------------------------------------------------------------------- */

/* One call of pkg.install for everything. An error of the package manager is a failed state. */
static int
pkg_install(plan_t *p)
{
    static const char *const passed[] = { "fromrepo", "skip_verify", "normalize", "update_holds",
                                          "ignore_epoch" };
    json_t *groups[] = { p->targets, p->again }, *list = json_array(), *changes = NULL, *wish;
    const char *name;

    if (json_object_size(p->targets) == 0 && json_object_size(p->again) == 0) {
        json_decref(list);
        return 0;
    }
    /* Only what is to be done, though the keywords name more. */
    for (size_t i = 0; i < NELEMS(groups); i++) {
        json_object_foreach (groups[i], name, wish)
            json_array_append_new(list, json_pack("{s:O}", name, wish));
    }
    json_auto_t *kwargs = json_copy(p->kwargs);
    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(kwargs, passed[i], value_get(p->args, passed[i]));
    json_object_set_new(kwargs, "refresh", json_boolean(p->refresh));
    json_object_set_new(kwargs, "reinstall", json_boolean(json_object_size(p->again) > 0));
    json_object_set_new(kwargs, p->from_sources ? "sources" : "pkgs", list);
    if (ctx_call(p->ctx, "pkg.install", NULL, kwargs, &changes, p->err) < 0) {
        if (p->err->kind != FAIL_COMMAND)
            return p->err->code;
        /* The package manager failed; what it changed before that is told too. */
        fail_auto_t none = FAIL_INIT;
        json_auto_t *now = pkgwant_have(p->ctx, NULL, &none);
        pkgwant_changes(p->have, now, p->ret);
        p->done = true;
        (void) pkgwant_failed(p->ret, "installing package(s)", p->err);
        return 0;
    }
    if (json_is_object(changes))
        json_object_update(value_get(p->ret, "changes"), changes);
    else if (json_is_string(changes))
        state_ret_add(p->ret, "%s", json_string_value(changes));
    json_decref(changes);
    return 0;
}

/* 1 when what is there now is what was wanted, 0, or negative. A package file's name may differ from its
 * package's: there the changes tell. */
static int
came_true(plan_t *p, const json_t *now, const char *name, const json_t *wish)
{
    json_t *have = value_get(now, name);

    if (p->from_sources)
        return value_get(value_get(p->ret, "changes"), name) != NULL || value_get(p->targets, name) == NULL;
    if (!value_truthy(have))
        return 0;
    if (!value_truthy(wish))
        return 1;
    return pkgwant_holds(p->ctx, have, json_string_value(wish), value_get(p->args, "ignore_epoch"), false,
                         p->err);
}

/* "... were installed/updated: a, b", or their number when that is long. */
static void
summarize(json_t *ret, const json_t *names, const char *words, const char *shortly, bool fits)
{
    AUTO_FREE char *list = pkgwant_keys(names, false);
    size_t n = json_array_size(names);

    if (n > 0 && fits)
        state_ret_add(ret, "The following packages were %s: %s", words, list);
    else if (n > 0)
        state_ret_add(ret, "%zu targeted package%s %s %s", n, n > 1 ? "s" : "", n > 1 ? "were" : "was",
                      shortly);
}

/* ---- holds ----------------------------------------------------------------------------------- */

/* The changes of pkg.hold's answer about one package; in test mode, where it has none, what they would be.
 * NEW, or NULL without any. */
static json_t *
hold_changes(const plan_t *p, const json_t *answer, bool hold)
{
    json_t *changes = value_get(answer, "changes");

    if (ctx_test(p->ctx) && json_is_null(value_get(answer, "result")))
        return json_pack("{s:s, s:s}", "old", hold ? "install" : "hold", "new", hold ? "hold" : "install");
    return value_truthy(changes) ? json_incref(changes) : NULL;
}

/* Lays the changes of a hold over those of the package. `alone`: nothing was installed, and Salt tells both
 * sides. TAKES changes. */
static void
add_hold(plan_t *p, const char *name, json_t *changes, bool alone)
{
    static const char *const sides[] = { "new", "old" };
    json_t *own = value_get(value_get(p->ret, "changes"), name);

    if (own == NULL && alone)
        state_change(p->ret, name, json_incref(changes));
    else if (own == NULL)
        state_change(p->ret, name, json_pack("{s:s}", "new", value_str(changes, "new", "")));
    for (size_t i = 0; own != NULL && i < NELEMS(sides); i++) {
        const char *before = value_str(own, sides[i], "");
        json_object_set_new(
            own, sides[i],
            value_fmt("%s%s%s", before, *before != '\0' ? "\n" : "", value_str(changes, sides[i], "")));
    }
    json_decref(changes);
}

/* What pkg.hold would say, in test mode, of a package that is not installed yet. NEW. */
static json_t *
hold_to_come(const char *name, bool hold)
{
    if (!hold)
        return json_pack("{s:{}, s:b, s:o}", "changes", "result", 1, "comment",
                         value_fmt("Package %s is already set not to be held.", name));
    return json_pack("{s:{}, s:n, s:o}", "changes", "result", "comment",
                     value_fmt("Package %s is set to be held.", name));
}

/* Applies the keyword `hold` to all wanted packages, whether they were changed or not, or foretells it.
 * `alone`: there was nothing to install. */
static int
pkg_hold(plan_t *p, bool alone)
{
    json_t *wish = value_get(value_get(p->args, "kwargs"), "hold"), *answer;
    bool hold = value_truthy(wish);
    const char *name;

    if (wish == NULL || !ctx_has(p->ctx, "pkg.hold"))
        return 0;
    json_auto_t *names = json_array();
    json_object_foreach (p->desired, name, answer)
        if (!ctx_test(p->ctx) || value_truthy(value_get(p->have, name)))
            json_array_append_new(names, json_string(name));
    json_auto_t *held = json_array_size(names) == 0
                            ? json_object()
                            : sub_call(p->ctx, p->err, hold ? "pkg.hold" : "pkg.unhold", "{s:O}", "pkgs",
                                       names);
    if (held == NULL)
        return state_ret_fail(p->ret, p->err);
    if (json_is_false(value_get(held, "result")))
        return state_ret_set(p->ret, STATE_FALSE,
                             "An error was encountered while holding/unholding package(s): %s",
                             value_str(held, "comment", ""));
    json_object_foreach (p->desired, name, answer) {
        json_t *said = value_get(held, name);
        json_auto_t *one = said != NULL       ? json_incref(said)
                           : ctx_test(p->ctx) ? hold_to_come(name, hold)
                                              : NULL;
        if (one != NULL) {
            /* Adds an answer to comment, changes and result. */
            json_t *changes = hold_changes(p, one, hold), *result = value_get(one, "result");
            AUTO_FREE char *before = alone ? xasprintf("%s.", value_str(p->ret, "comment", "")) : NULL;

            if (alone)
                state_ret_comment(p->ret, json_string(before));
            state_ret_add(p->ret, "%s", value_str(one, "comment", ""));
            if (alone || json_is_false(result))
                json_object_set(p->ret, "result", result);
            if (changes != NULL)
                add_hold(p, name, changes, alone);
        }
    }
    return 0;
}

/* ---- the state ------------------------------------------------------------------------------- */

/* Makes the return from the versions that are installed now. */
static int
pkg_finish(plan_t *p)
{
    json_auto_t *now = p->from_sources ? json_object() : pkgwant_have(p->ctx, NULL, p->err);
    json_auto_t *modified = json_array(), *same = json_array(), *failed = json_array();
    const char *name;
    json_t *wish;

    if (now == NULL)
        return p->err->code;
    /* Wanted packages by result. Those that are to be installed again are told apart, below. */
    json_object_foreach (p->desired, name, wish) {
        int ok = came_true(p, now, name, wish);
        bool target = value_get(p->targets, name) != NULL;
        if (ok < 0)
            return ok;
        json_t *list = target                                    ? (ok ? modified : failed)
                       : ok && value_get(p->again, name) == NULL ? same
                                                                 : NULL;
        AUTO_FREE char *text = p->from_sources ? xstrdup(name) : pkgwant_text(name, wish);
        if (list != NULL)
            json_array_append_new(list, json_string(text));
    }
    AUTO_FREE char *before = xstrdup(value_str(p->ret, "comment", ""));
    state_ret_comment(p->ret, json_string(""));
    if (json_array_size(failed) > 0) {
        AUTO_FREE char *list = pkgwant_keys(failed, false);
        (void) state_ret_set(p->ret, STATE_FALSE, "The following packages failed to install/update: %s",
                             list);
    }
    if (*before != '\0')
        state_ret_add(p->ret, "%s", before);
    AUTO_FREE char *list = pkgwant_keys(modified, false);
    summarize(p->ret, modified, "installed/updated", "installed/updated.", strlen(list) < SUMMARY_SHORT);
    summarize(p->ret, same, "already installed", "already installed", json_array_size(same) <= SUMMARY_SHORT);

    /* A package was reinstalled when it is among the changes. */
    json_object_foreach (p->again, name, wish) {
        AUTO_FREE char *text = p->from_sources ? xstrdup(name)
                                               : pkgwant_text(name, value_get(p->desired, name));
        bool ok = value_get(value_get(p->ret, "changes"), name) != NULL;
        state_ret_add(p->ret,
                      ok ? "Package %s was reinstalled." : "Reinstall was not successful for package %s.",
                      text);
        if (!ok)
            json_object_set_new(p->ret, "result", json_false());
    }

    return 0;
}

/* Packages of dpkg that are marked to be purged are unmarked before they are installed, or the next run of
 * dpkg would remove them. 0 or negative with *err. */
static int
unpurge(plan_t *p)
{
    json_t *changed = NULL;

    if (json_array_size(p->unpurge) == 0)
        return 0;
    if (!ctx_has(p->ctx, "lowpkg.unpurge"))
        return pkg_settled(p, STATE_FALSE, "lowpkg.unpurge not implemented");
    if (ctx_call(p->ctx, "lowpkg.unpurge", p->unpurge, NULL, &changed, p->err) < 0)
        return p->err->code;
    state_change(p->ret, "purge_desired", changed);
    return 0;
}

/* Plan, install, unpurge, report, hold. When nothing is to be installed, holds are looked at all the same. */
static int
run_plan(plan_t *p)
{
    if (pkg_make_plan(p) < 0)
        return p->err->code;
    if (p->done)
        return p->desired != NULL ? pkg_hold(p, true) : 0;
    if (ctx_test(p->ctx)) {
        /* Lists what would be done, as changes too. */
        json_object_set_new(p->ret, "result", json_null());
        pkg_would(p, p->targets, "The following packages would be installed/updated");
        pkg_would(
            p, p->unpurge,
            "The following packages would have their selection status changed from 'purge' to 'install'");
        pkg_would(p, p->again, "The following packages would be reinstalled");
        return pkg_hold(p, false);
    }
    if (pkg_install(p) < 0 || (!p->done && unpurge(p) < 0))
        return p->err->code;
    if (p->done)
        return 0;
    return pkg_finish(p) < 0 ? p->err->code : pkg_hold(p, false);
}

/* The plan is made step by step; the first step that settles the return ends it. */
static int
pkg_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = state_ret_args(args);
    plan_t p = { .ctx = ctx,
                 .args = args,
                 .ret = *ret_value,
                 .kwargs = pkgwant_kwargs(ctx, args),
                 .refresh = pkgwant_refresh(ctx, value_get(args, "refresh")),
                 .err = err };
    int rc = run_plan(&p);

    json_decref(p.kwargs);
    json_decref(p.desired);
    json_decref(p.have);
    json_decref(p.unpurge);
    json_decref(p.targets);
    json_decref(p.again);
    buf_free(&p.problems);

    return rc < 0 && err->kind == FAIL_COMMAND ? state_ret_fail(*ret_value, err) : rc;
}

/* ---- special functions ----------------------------------------------------------------------- */

/* The lists are refreshed once in a run, before its first installation. */
static int
pkg_mod_init(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(value_get(args, "low"), "fun", "");
    bool installs = strcmp(fun, "installed") == 0 || strcmp(fun, "latest") == 0;

    if (installs)
        pkgwant_mark(ctx);
    *ret_value = json_boolean(installs);
    return 0;
}

/* True when aggregation may move the chunk's packages into `low`: same function and repository, not yet
 * run. */
static bool
may_join(call_ctx_t *ctx, const json_t *low, const json_t *chunk)
{
    AUTO_FREE char *tag = state_tag(chunk);

    return json_object_get(ctx_running(ctx), tag) == NULL && str_eq(value_str(chunk, "state", ""), "pkg") &&
           value_get(chunk, "__agg__") == NULL &&
           str_eq(value_str(chunk, "fun", ""), value_str(low, "fun", "")) &&
           str_eq(value_str(chunk, "fromrepo", ""), value_str(low, "fromrepo", ""));
}

/* Name of the list in which a chunk has what it installs: "sources" or "pkgs". */
static const char *
kind_of(const json_t *chunk)
{
    return value_get(chunk, "sources") != NULL ? "sources" : "pkgs";
}

/* Move what the chunk asks for over to `list`. */
static void
move_wishes(json_t *chunk, json_t *list)
{
    json_t *wishes = value_get(chunk, kind_of(chunk));

    if (wishes != NULL) {
        json_array_extend(list, wishes);
    } else if (value_truthy(value_get(chunk, "version"))) {
        json_array_append_new(list,
                              json_pack("{s:O}", value_str(chunk, "name", ""), value_get(chunk, "version")));
        json_object_del(chunk, "version");
    } else {
        json_array_append_new(list, json_string(value_str(chunk, "name", "")));
    }
}

/* Joins chunks of one kind into one installation, behind what the first of them asks for; the joined chunks
 * are marked and later return nothing to do. A hold is for its own packages: such a chunk stays alone. */
static int
pkg_mod_aggregate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const joined[] = { "installed", "latest", "removed", "purged" };
    json_t *low = *ret_value = json_deep_copy(value_get(args, "low")), *chunk;
    json_auto_t *list = json_array();
    const char *kind = kind_of(low);
    bool known = false;
    size_t i, own;

    for (i = 0; i < NELEMS(joined); i++)
        known = known || strcmp(joined[i], value_str(low, "fun", "")) == 0;
    if (!known || value_get(low, "hold") != NULL)
        return 0;
    json_auto_t *first = json_deep_copy(low);
    move_wishes(first, list);
    own = json_array_size(list);
    json_array_foreach (value_get(args, "chunks"), i, chunk) {
        if (!may_join(ctx, low, chunk) || strcmp(kind, kind_of(chunk)) != 0 ||
            value_get(chunk, "hold") != NULL)
            continue;
        move_wishes(chunk, list);
        json_object_set_new(chunk, "__agg__", json_true());
    }
    if (json_array_size(list) == own)
        return 0;
    json_object_set(low, kind, list);
    json_object_del(low, "version");
    return 0;
}

/* A watch does the same once more. */
static int
pkg_mod_watch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const may[] = { "purged", "latest", "removed", "installed" };
    const char *sfun = value_str(args, "sfun", "None");

    for (size_t i = 0; i < NELEMS(may); i++) {
        if (strcmp(may[i], sfun) != 0)
            continue;
        AUTO_FREE char *fun = xasprintf("pkg.%s", sfun);
        json_auto_t *kwargs = json_copy(value_get(args, "kwargs"));
        json_object_set(kwargs, "name", value_get(args, "name"));
        return ctx_state(ctx, fun, kwargs, ret_value, err);
    }
    *ret_value = state_ret_args(args);
    return state_ret_set(*ret_value, STATE_FALSE, "pkg.%s does not work with the watch requisite", sfun);
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t installed_args[] = {
    ARG("name", ARG_STR, "null", "The package, or any name beside `pkgs` and `sources`"),
    ARG("version", ARG_ANY, "null", "A version, with operators and globs; \"latest\"; None: any"),
    ARG("refresh", ARG_ANY, "null", "Refresh the lists first; None: once in a run"),
    ARG("fromrepo", ARG_STR, "null", "Install from this release"),
    ARG("skip_verify", ARG_BOOL, "false", "Accept unsigned packages"),
    ARG("skip_suggestions", ARG_BOOL, "false", "Accepted for other package managers"),
    ARG("pkgs", ARG_ANY, "null", "List of names, and of {name: version}"),
    ARG("sources", ARG_ANY, "null", "List of {name: package file}"),
    ARG("allow_updates", ARG_BOOL, "false", "A newer version than the one that is named will do"),
    ARG("pkg_verify", ARG_ANY, "false", "Install again what was altered, where the package manager can tell"),
    ARG("normalize", ARG_BOOL, "true", "Leave this host's architecture out of names"),
    ARG("ignore_epoch", ARG_ANY, "null",
        "Compare versions without their epochs; None: as the wish is written"),
    ARG("reinstall", ARG_BOOL, "false", "Install again what is there"),
    ARG("update_holds", ARG_BOOL, "false", "Update packages that are held"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "hold, install_recommends, only_upgrade, cache_valid_time, ...",
        "hold install_recommends only_upgrade cache_valid_time force_yes force_conf_new debconf allow_downgrades env "
        "repo dist_upgrade disablerepo enablerepo disableexcludes downloadonly *"),
    ARGS_END,
};
static const arg_t init_args[] = { ARG("low", ARG_DICT, ARG_REQUIRED, "The first chunk"), ARGS_END };
static const arg_t aggregate_args[] = {
    ARG("low", ARG_DICT, ARG_REQUIRED, "The chunk that runs"),
    ARG("chunks", ARG_LIST, ARG_REQUIRED, "All chunks"),
    ARG("running", ARG_DICT, ARG_REQUIRED, "What has run"),
    ARGS_END,
};
static const arg_t watch_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The package"),
    ARG("sfun", ARG_STR, "null", "The function whose watch this is"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its arguments"),
    ARGS_END,
};

/* With `beacon: True` in an SLS the packages are watched by a beacon afterwards. */
static int
pkg_mod_beacon(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const funs[] = { "installed", "removed", NULL };
    static const modbeacon_t how = { "pkg", "pkg", funs, "mod_beacon state function" };
    json_t *pkgs = value_get(value_get(args, "kwargs"), "pkgs");
    if (!modbeacon_wanted(&how, args, ret_value))
        return 0;
    json_t *keys = json_pack(
        "{s:o, s:i}", "pkgs",
        json_is_array(pkgs) ? json_incref(pkgs) : json_pack("[O]", value_get(args, "name")), "interval", 60);
    return modbeacon_present(ctx, &how, args, keys, ret_value, err);
}

static const arg_t mod_beacon_args[] = { MODBEACON_ARGS, ARGS_END };

static const func_t funcs[] = {
    { "installed", pkg_installed, installed_args, 0,
      "Ensure that packages are installed, at these versions." },
    { "mod_aggregate", pkg_mod_aggregate, aggregate_args, 0,
      "Do the packages of later states along with these." },
    { "mod_init", pkg_mod_init, init_args, 0, "Have the lists refreshed once." },
    { "mod_beacon", pkg_mod_beacon, mod_beacon_args, 0, "What ``beacon`` does: watch the package." },
    { "mod_watch", pkg_mod_watch, watch_args, 0, "What ``watch`` does: the same again." },
};

PLUGIN(state, pkg, .doc = "Packages of the system", FUNCS(funcs));
