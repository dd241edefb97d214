/* aptinstall.c - pkg.install: packages are sorted by what is installed into new or newer ones, downgrades and
 * reinstallations, each of which is one call of apt-get. Holds are lifted for the time of the installation.
 * Errors of apt-get are gathered and raised at the end together with the changes. */
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"
#include "plugins/lib/packages/pkgver.h"
#include "salt/log.h"

/* State of one call of install. */
typedef struct plan {
    call_ctx_t *ctx;
    const json_t *args, *kwargs; /* BORROWED */
    bool files, reinstall, ignore_epoch;
    json_t *old;                          /* installed before */
    json_t *available;                    /* {name: [versions]} of those asked for by comparison */
    json_t *targets, *downgrade, *errors; /* lists of what apt-get gets as words, and of texts */
    json_t *again;                        /* {name: word} */
} plan_t;

/* ---- whether a refresh is due -------------------------------------------------------------- */

/* 1 when the wanted version is not the candidate, 0 when it is. */
static int
not_candidate(call_ctx_t *ctx, const char *name, const json_t *version, fail_t *err)
{
    json_auto_t *pkgs = apt_pkgs(ctx, PKGS_AS_LIST, err);
    json_auto_t *latest = pkgs != NULL ? apt_latest(ctx, name, NULL, true, pkgs, err) : NULL;

    return latest == NULL ? err->code : !value_equal(latest, version);
}

/* 1 when the package lists must be refreshed: a wanted version that is the candidate already needs none. 0,
 * or negative. */
static int
refresh_due(call_ctx_t *ctx, const json_t *args, fail_t *err)
{
    const json_t *pkgs = pkg_arg(args, "pkgs"), *version = value_get(value_get(args, "kwargs"), "version");
    json_t *element;
    size_t i;
    int due = 1;

    if (!pkg_arg_true(args, "refresh"))
        return 0;
    if (value_truthy(version) && value_str(args, "name", NULL) != NULL)
        due = not_candidate(ctx, value_str(args, "name", ""), version, err);
    if (!value_truthy(pkgs) || due < 0)
        return due;
    due = 0;
    json_array_foreach (pkgs, i, element) {
        void *iter = json_object_iter(element);
        int one = iter == NULL
                      ? 1
                      : not_candidate(ctx, json_object_iter_key(iter), json_object_iter_value(iter), err);
        if (one < 0)
            return one;
        due |= one;
    }
    return due;
}

/* ---- sorting the packages ------------------------------------------------------------------ */

/* "=" is no comparison: one version is meant. */
static bool
is_comparison(const json_t *version)
{
    const char *text = json_string_value(version);

    return text != NULL && (*text == '<' || *text == '>');
}

/* The first available version that a comparison accepts; NULL after a text in `errors`. NEW. */
static char *
aptinstall_resolve(plan_t *p, const char *name, const char *wanted)
{
    json_t *candidates = value_get(p->available, name), *v;
    AUTO_FREE char *list = xstrdup("");
    size_t i;

    json_array_foreach (candidates, i, v) {
        if (pkgver_wanted(wanted, json_string_value(v), p->ignore_epoch))
            return xstrdup(json_string_value(v));
        char *more = xasprintf("%s%s%s", list, i > 0 ? ", " : "", json_string_value(v));
        free(list);
        list = more;
    }
    json_array_append_new(p->errors, value_fmt("No version matching '%s%s' could be found (available: %s)",
                                               name, wanted, *list != '\0' ? list : "None"));
    return NULL;
}

/* A package with a version goes to one of the three lists, by what is installed. `word` is what apt-get gets.
 */
static void
sort_version(plan_t *p, const char *name, const char *version, const char *word)
{
    const char *have = value_str(p->old, name, "");

    if (p->reinstall && *have != '\0' && pkgver_holds(version, "==", have, false))
        json_object_set_new(p->again, name, json_string(word));
    else if (*have == '\0' || pkgver_holds(version, ">=", have, false))
        json_array_append_new(p->targets, json_string(word));
    else
        json_array_append_new(p->downgrade, json_string(word));
}

/* A wish without a version means the newest one; "=1.2" and "1.2" are the same; comparisons are resolved
 * first. */
static void
sort_name(plan_t *p, const char *name, const json_t *wanted)
{
    const char *text = json_string_value(wanted);

    if (text == NULL) {
        if (p->reinstall && value_get(p->old, name) != NULL)
            json_object_set_new(p->again, name, json_string(name));
        else
            json_array_append_new(p->targets, json_string(name));
        return;
    }
    text += strspn(text, "=");
    AUTO_FREE char *version = is_comparison(wanted) ? aptinstall_resolve(p, name, text) : xstrdup(text);
    if (version == NULL)
        return;
    AUTO_FREE char *word = xasprintf("%s=%s", name, version);
    sort_version(p, name, version, word);
}

/* Asks apt-cache once for the versions of all packages with comparisons. */
static int
sort_names(plan_t *p, const json_t *params, fail_t *err)
{
    json_auto_t *compared = json_array();
    json_t *version;
    const char *name;

    json_object_foreach ((json_t *) params, name, version) {
        if (is_comparison(version))
            json_array_append_new(compared, json_string(name));
    }
    if (json_array_size(compared) > 0) {
        p->available = apt_repo_pkgs(p->ctx, compared, err);
        if (p->available == NULL)
            return err->code;
    }
    json_object_foreach ((json_t *) params, name, version)
        sort_name(p, name, version);
    return 0;
}

/* Local package files are sorted by the version that they contain. */
static int
sort_files(plan_t *p, const json_t *paths, fail_t *err)
{
    json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        json_auto_t *info = apt_deb_info(p->ctx, json_string_value(path), err);
        if (info == NULL)
            return err->code;
        sort_version(p, value_str(info, "name", ""), value_str(info, "version", ""), json_string_value(path));
    }
    return 0;
}

/* ---- running ------------------------------------------------------------------------------- */

/* apt-get and its options, up to the word `install`. */
static void
aptinstall_begin(const plan_t *p, prog_t *prog, bool downgrade)
{
    const json_t *recommends = value_get(p->kwargs, "install_recommends");
    const char *fromrepo = value_str(p->args, "fromrepo", "");
    bool force = value_truthy(value_get(p->kwargs, "force_yes"));

    apt_env(prog, value_get(p->kwargs, "env"));
    apt_prog(p->ctx, prog, true);
    prog_adds(prog, "apt-get", "-q", "-y", NULL);
    if (force)
        prog_add(prog, "--force-yes");
    if (value_truthy(value_get(p->kwargs, "force_conf_new")))
        prog_adds(prog, "-o", "DPkg::Options::=--force-confnew", NULL);
    else
        prog_adds(prog, "-o", "DPkg::Options::=--force-confold", "-o", "DPkg::Options::=--force-confdef",
                  NULL);
    if (recommends != NULL)
        prog_add(prog, value_truthy(recommends) ? "--install-recommends" : "--no-install-recommends");
    if (value_truthy(value_get(p->kwargs, "only_upgrade")))
        prog_add(prog, "--only-upgrade");
    if (value_truthy(value_get(p->args, "skip_verify")))
        prog_add(prog, "--allow-unauthenticated");
    if (value_truthy(value_get(p->args, "downloadonly")))
        prog_add(prog, "--download-only");
    if (value_truthy(value_get(p->kwargs, "allow_downgrades")))
        prog_add(prog, "--allow-downgrades");
    if (*fromrepo == '\0')
        fromrepo = value_str(p->kwargs, "repo", "");
    if (*fromrepo != '\0' && !p->files)
        prog_adds(prog, "-t", fromrepo, NULL);
    if (downgrade && !p->files && !force)
        prog_add(prog, "--force-yes");
    prog_add(prog, "install");
}

/* Runs apt-get; a failure is noted in p->errors, and the run goes on. */
static int
aptinstall_run(plan_t *p, const prog_t *prog, fail_t *err)
{
    json_auto_t *out = apt_run(prog, err);

    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0 && *value_str(out, "stderr", "") != '\0')
        json_array_append(p->errors, value_get(out, "stderr"));
    return 0;
}

/* Nothing for an empty list. */
static int
run_list(plan_t *p, const json_t *words, bool downgrade, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (json_array_size(words) == 0)
        return 0;
    aptinstall_begin(p, &prog, downgrade);
    prog_add_json(&prog, words);
    return aptinstall_run(p, &prog, err);
}

/* The held ones among what is to be installed, without its versions. Selections name the architecture of a
 * package that there may be one of for each, those who install it only a foreign one. NEW list, or NULL with
 * *err. */
static json_t *
held_targets(const plan_t *p, fail_t *err)
{
    const json_t *lists[] = { p->targets, p->downgrade };
    json_auto_t *selections = apt_selections(NULL, "hold", err), *names = json_object();
    json_t *held, *v;
    const char *key;
    size_t i;

    if (selections == NULL)
        return NULL;
    for (size_t k = 0; k < NELEMS(lists); k++) {
        json_array_foreach (lists[k], i, v) {
            AUTO_FREE char *name = xstrndup(json_string_value(v), strcspn(json_string_value(v), "="));
            json_object_set_new(names, name, json_true());
        }
    }
    json_object_foreach (p->again, key, v)
        json_object_set_new(names, key, json_true());
    json_t *ret = json_array();
    held = value_get(selections, "hold");
    json_array_foreach (held, i, v) {
        AUTO_FREE char *plain = apt_normal_name(p->ctx, json_string_value(v));
        if (json_object_get(names, plain) != NULL || json_object_get(names, json_string_value(v)) != NULL)
            json_array_append(ret, v);
    }
    return ret;
}

/* By dpkg's selections, as apt-mark would. */
static int
aptinstall_set_hold(plan_t *p, const json_t *names, bool hold, fail_t *err)
{
    if (json_array_size(names) == 0)
        return 0;
    json_auto_t *done = apt_set_hold(p->ctx, names, hold, err);
    return done != NULL ? 0 : err->code;
}

/* The three lists; *ret_changes is NEW. */
static int
aptinstall_run_all(plan_t *p, json_t **ret_changes, fail_t *err)
{
    const char *name;
    json_t *word;
    int rc;

    if ((rc = run_list(p, p->targets, false, err)) < 0 || (rc = run_list(p, p->downgrade, true, err)) < 0)
        return rc;
    if (json_object_size(p->again) > 0) {
        prog_auto_t prog = PROG_INIT;
        aptinstall_begin(p, &prog, false);
        prog_add(&prog, "--reinstall");
        json_object_foreach (p->again, name, word)
            prog_add(&prog, json_string_value(word));
        if ((rc = aptinstall_run(p, &prog, err)) < 0)
            return rc;
    }
    apt_forget(p->ctx);
    json_auto_t *now = apt_pkgs(p->ctx, 0, err);
    if (now == NULL)
        return err->code;
    *ret_changes = pkg_changes(p->old, now);

    /* Reports packages that a reinstall left at the same version. */
    json_object_foreach (p->again, name, word) {
        json_t *entry = json_pack("{s:s, s:s}", "old", value_str(p->old, name, ""), "new",
                                  value_str(now, name, ""));
        json_object_set_new(*ret_changes, name, entry);
    }

    return 0;
}

/* Runs what was planned; *ret_changes is NEW. What was held is held again, whatever came of it. */
static int
carry_out(plan_t *p, bool refresh, json_t **ret_changes, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;

    if (refresh) {
        json_auto_t *done = apt_refresh(p->ctx, value_get(p->kwargs, "cache_valid_time"), false, err);
        if (done == NULL)
            return err->code;
    }
    json_auto_t *held = held_targets(p, err), *changes = NULL;
    if (held == NULL)
        return err->code;
    int rc = aptinstall_set_hold(p, held, false, err);
    if (rc == 0)
        rc = aptinstall_run_all(p, &changes, err);
    int again = aptinstall_set_hold(p, held, true, rc == 0 ? err : &why);
    if (rc < 0 && again < 0)
        log_error("pkg.install: what was held before can't be held again: %s", fail_text(&why));
    if (rc == 0 && again == 0)
        *ret_changes = STEAL(changes);
    return rc < 0 ? rc : again;
}

/* Errors are raised at the end, with what was changed. */
static int
aptinstall_install(plan_t *p, const json_t *params, bool refresh, json_t **ret_value, fail_t *err)
{
    json_auto_t *changes = NULL;

    p->old = apt_pkgs(p->ctx, 0, err);
    if (p->old == NULL)
        return err->code;
    int rc = p->files ? sort_files(p, params, err) : sort_names(p, params, err);
    if (rc < 0)
        return rc;
    if (json_array_size(p->targets) + json_array_size(p->downgrade) + json_object_size(p->again) == 0)
        changes = json_object();
    else if ((rc = carry_out(p, refresh, &changes, err)) < 0)
        return rc;
    if (json_array_size(p->errors) > 0) {
        json_auto_t *info = json_pack("{s:O, s:O}", "errors", p->errors, "changes", changes);
        return pkg_fail_info(err, "Problem encountered installing package(s)", info);
    }
    *ret_value = STEAL(changes);
    return 0;
}

/* debconf's answers are set before, as the packages ask for them. */
int
apt_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *params = NULL;
    bool files;
    int rc = apt_targets(ctx, args, &params, &files, err);
    if (rc < 0 || (rc = prog_check_operand("fromrepo", value_str(args, "fromrepo", ""), err)) < 0)
        return rc;
    int refresh = refresh_due(ctx, args, err);

    if (refresh < 0)
        return refresh;
    if (value_truthy(value_get(args, "debconf"))) {
        json_auto_t *words = json_pack("[O]", value_get(args, "debconf")), *done = NULL;
        rc = ctx_call(ctx, "debconf.set_file", words, NULL, &done, err);
        if (rc < 0)
            return rc;
    }
    if (!value_truthy(params)) {
        *ret_value = json_object();
        return 0;
    }
    plan_t p = { .ctx = ctx,
                 .args = args,
                 .kwargs = value_get(args, "kwargs"),
                 .files = files,
                 .reinstall = value_truthy(value_get(args, "reinstall")),
                 .ignore_epoch = value_truthy(value_get(args, "ignore_epoch")),
                 .targets = json_array(),
                 .downgrade = json_array(),
                 .errors = json_array(),
                 .again = json_object() };
    rc = aptinstall_install(&p, params, refresh == 1, ret_value, err);

    json_decref(p.old);
    json_decref(p.available);
    json_decref(p.targets);
    json_decref(p.downgrade);
    json_decref(p.errors);
    json_decref(p.again);

    return rc;
}
