/* zypperinstall.c - pkg.install, upgrade and remove by zypper. */
#include <fnmatch.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"

/* ---- versions --------------------------------------------------------------------------------- */

/* The greatest available version that a wish such as "1.*" or ">=1.0" means, with its operator. NEW, or NULL
 * with *err. */
static char *
zypperinstall_resolve(call_ctx_t *ctx, const char *name, const char *wish, const char *root, fail_t *err)
{
    size_t signs = strspn(wish, "<>=");
    AUTO_FREE char *oper = xstrndup(wish, signs);
    const char *version = wish + signs, *best = NULL;
    json_auto_t *known = json_array();
    json_t *tag;
    size_t i;

    if (signs > 0 && !str_eq(oper, "<") && !str_eq(oper, "<=") && !str_eq(oper, "=") && !str_eq(oper, ">=") &&
        !str_eq(oper, ">")) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "Zypper do not supports operator \"%s\".", oper);
        return NULL;
    }
    if (prog_check_operand("name", name, err) < 0)
        return NULL;
    json_auto_t *tags = zypper_elements(ctx, ZYPPER_READS | ZYPPER_MAY_MISS, root, err, "se", "-v", name,
                                        NULL);
    json_auto_t *found = xmltags_named(tags, "solvable");
    if (tags != NULL && json_array_size(found) == 0)
        fail_kind(err, FAIL_COMMAND, -ENOENT, "No packages found matching '%s'", name);
    json_array_foreach (found, i, tag) {
        const char *edition = xmltags_attr(tag, "edition");
        /* Names that only contain the wanted one are found too. */
        if (!str_eq(xmltags_attr(tag, "name"), name) || *edition == '\0')
            continue;
        json_array_append_new(known, json_string(edition));
        bool fits = fnmatch(version, edition, 0) == 0;
        if (fits && (best == NULL || rpmver_cmp(edition, best, false) > 0))
            best = edition;
    }
    if (best != NULL)
        return xasprintf("%s%s", oper, best);
    /* An operator needs no version that is there: zypper compares. */
    if (signs > 0 && !str_eq(oper, "=") && json_array_size(known) > 0)
        return xstrdup(wish);
    AUTO_FREE char *list = value_joined(known, ", ");
    fail_kind(err, FAIL_COMMAND, -ENOENT, "No version matching '%s' found for package '%s' (available: %s)",
              version, name, *list != '\0' ? list : "none");
    return NULL;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* Whether packages may go to another vendor, where this zypper knows of it. The option is new in 1.14.8 of
 * zypper for install, in 1.11.34 for dist-upgrade. */
static bool
changes_vendor(call_ctx_t *ctx, const json_t *args, bool installs)
{
    fail_auto_t none = FAIL_INIT;
    bool wanted = value_truthy(value_get(args, "allowvendorchange")) ||
                  !value_truthy(value_get(args, "novendorchange"));
    json_auto_t *names = json_pack("[s]", "zypper");
    json_auto_t *pkgs = wanted ? zypper_pkgs(ctx, NULL, NULL, true, NULL, &none) : NULL;
    json_auto_t *version = pkgs != NULL ? pkg_versions(pkgs, names, false) : NULL;

    return json_is_string(version) && *json_string_value(version) != '\0' &&
           rpmver_cmp(json_string_value(version), installs ? "1.14.8" : "1.11.34", false) >= 0;
}

/* The command and its options, up to the packages. zypper's own options stand before the word `install`. */
static int
begin_install(call_ctx_t *ctx, prog_t *prog, const json_t *args, bool force, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    const char *from = value_str(args, "fromrepo", "");
    int rc = zypper_begin(ctx, prog, ZYPPER_SCOPE, zypper_root(args), err);

    if (rc == 0)
        rc = prog_check_operand("fromrepo", from, err);
    if (rc < 0)
        return rc;
    if (value_truthy(value_get(args, "skip_verify")))
        prog_add(prog, "--no-gpg-checks");
    prog_add(prog, "install");
    if (changes_vendor(ctx, args, true))
        prog_add(prog, "--allow-vendor-change");
    prog_adds(prog, "--auto-agree-with-licenses",
              value_truthy(value_get(kwargs, "resolve_capabilities")) ? "--capability" : "--name", NULL);
    if (value_truthy(value_get(args, "downloadonly")))
        prog_add(prog, "--download-only");
    if (*from != '\0')
        prog_adds(prog, "--force", "--force-resolution", "--from", from, NULL);
    if (value_truthy(value_get(args, "no_recommends")))
        prog_add(prog, "--no-recommends");
    if (force)
        prog_add(prog, "--force");
    return 0;
}

/* Installs the words; what zypper leaves as it is because its version is lower is in *ret_lower, which is
 * NEW. */
static int
zypperinstall_install_words(call_ctx_t *ctx, const json_t *args, const json_t *words, bool force,
                            json_t **ret_lower, fail_t *err)
{
    static const char mark[] = "The selected package '";
    unsigned flags = ZYPPER_SCOPE |
                     (value_truthy(value_get(args, "ignore_repo_failure")) ? ZYPPER_MAY_FAIL : 0);
    prog_auto_t prog = PROG_INIT;

    *ret_lower = json_array();
    if (begin_install(ctx, &prog, args, force, err) < 0)
        return err->code;
    prog_add_json(&prog, words);
    json_auto_t *out = zypper_run(ctx, &prog, flags, err);
    if (out == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (str_starts(line, mark) && strstr(line, "has lower version") != NULL) {
            const char *name = line + strlen(mark);
            json_array_append_new(*ret_lower, json_stringn(name, strcspn(name, "'")));
        }
    }
    return 0;
}

/* The words for zypper of the call's packages, files or patches; None when there is nothing. */
static int
zypperinstall_words(call_ctx_t *ctx, json_t *args, json_t **ret_words, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *ids = value_get(kwargs, "advisory_ids");
    json_t *normalize = value_get(kwargs, "normalize"), *version = pkg_arg(args, "version"), *v;
    json_auto_t *params = NULL, *words = json_array();
    const char *name = value_str(args, "name", "");
    bool files = false, plain = normalize == NULL || value_truthy(normalize);
    bool alone = !value_truthy(value_get(args, "pkgs")) && !value_truthy(value_get(args, "sources"));
    size_t i;

    if (ids != NULL) {
        json_auto_t *known = zypper_kind(ctx, "patch", zypper_root(args), err);
        json_auto_t *wanted = value_truthy(ids) ? pkg_words(ids) : json_pack("[s]", name);
        if (known == NULL)
            return err->code;
        json_array_foreach (wanted, i, v) {
            AUTO_FREE char *id = value_pystr(v);
            if (value_get(known, id) == NULL)
                return fail_kind(err, FAIL_COMMAND, -ENOENT, "Advisory id \"%s\" not found", id);
            json_array_append_new(words, value_fmt("patch:%s", id));
        }
        *ret_words = STEAL(words);
        return 0;
    }
    if (pkg_targets(ctx, args, plain ? rpm_normal_name : NULL, &params, &files, err) < 0)
        return err->code;
    if (alone && value_truthy(version) && *name != '\0') {
        AUTO_FREE char *wish = value_pystr(version);
        AUTO_FREE char *found = zypperinstall_resolve(ctx, name, wish, zypper_root(args), err);
        if (found == NULL)
            return err->code;
        json_decref(params);
        params = json_pack("{s:s}", name, found);
    }
    /* "name", or "name=1.2" with the wish's operator. */
    json_object_foreach (params, name, v) {
        const char *wish = json_is_string(v) ? json_string_value(v) : "";
        bool bare = *wish == '\0' || strchr("<>=!", *wish) != NULL;
        json_array_append_new(words, value_fmt("%s%s%s", name, bare ? "" : "=", wish));
    }
    if (files)
        json_array_extend(words, params);
    *ret_words = STEAL(words);
    return 0;
}

/* Kinds in front of names, as "pattern:NAME", when the call wants them looked at. NEW list, or NULL. */
static json_t *
includes_of(const json_t *args, const json_t *words)
{
    json_auto_t *kinds = json_object();
    json_t *v;
    size_t i;

    if (!value_truthy(value_get(args, "inclusion_detection")))
        return NULL;
    json_array_foreach (words, i, v) {
        const char *text = json_string_value(v), *colon = strchr(text, ':');
        AUTO_FREE char *kind = colon != NULL ? xstrndup(text, (size_t) (colon - text)) : NULL;
        if (kind != NULL && strchr(colon + 1, ':') == NULL)
            json_object_set_new(kinds, kind, json_true());
    }
    return value_sorted_keys(kinds);
}

/* The packages that are there, or with downloadonly those in the cache: {name: version}. NEW, or NULL with
 * *err. */
static json_t *
zypper_there(call_ctx_t *ctx, const json_t *args, const json_t *includes, fail_t *err)
{
    json_t *ret = NULL;

    if (value_truthy(value_get(args, "downloadonly")))
        return ctx_call(ctx, "pkg.list_downloaded", NULL, NULL, &ret, err) == 0 ? ret : NULL;
    const json_t *attr = value_get(args, "diff_attr");
    return zypper_pkgs(ctx, zypper_root(args), includes, false,
                       attr != NULL ? attr : value_get(value_get(args, "kwargs"), "diff_attr"), err);
}

/* The installed packages are compared before and after; zypper's own words are not the answer. */
int
zypper_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *done = value_truthy(value_get(args, "refresh")) ? zypper_refresh(ctx, args, err)
                                                                 : json_null();
    json_auto_t *words = NULL, *lower = NULL, *none = NULL;

    if (done == NULL || zypperinstall_words(ctx, args, &words, err) < 0)
        return err->code;
    if (json_array_size(words) == 0) {
        *ret_value = json_object();
        return 0;
    }
    json_auto_t *includes = includes_of(args, words), *old = zypper_there(ctx, args, includes, err);
    if (old == NULL || zypperinstall_install_words(ctx, args, words, false, &lower, err) < 0)
        return err->code;
    /* A downgrade needs --force, which is given for these alone. */
    if (json_array_size(lower) > 0 && zypperinstall_install_words(ctx, args, lower, true, &none, err) < 0)
        return err->code;
    rpm_forget(ctx);
    json_auto_t *now = zypper_there(ctx, args, includes, err);
    if (now == NULL)
        return err->code;
    *ret_value = pkg_changes(old, now);
    return 0;
}

/* ---- upgrade ---------------------------------------------------------------------------------- */

/* `solver`: a first run that only writes down how zypper decides. */
static int
begin_upgrade(call_ctx_t *ctx, prog_t *prog, const json_t *args, bool solver, fail_t *err)
{
    bool dist = value_truthy(value_get(args, "dist_upgrade"));
    json_auto_t *from = value_truthy(value_get(args, "fromrepo")) ? pkg_words(value_get(args, "fromrepo"))
                                                                  : NULL;
    int rc = zypper_begin(ctx, prog, ZYPPER_SCOPE, zypper_root(args), err);
    json_t *v;
    size_t i;

    if (rc < 0)
        return rc;
    if (value_truthy(value_get(args, "skip_verify")))
        prog_add(prog, "--no-gpg-checks");
    prog_add(prog, dist ? "dist-upgrade" : "update");
    if (dist && changes_vendor(ctx, args, false))
        prog_add(prog, "--allow-vendor-change");
    prog_add(prog, "--auto-agree-with-licenses");
    if (value_truthy(value_get(args, "dryrun")))
        prog_add(prog, "--dry-run");
    json_array_foreach (from, i, v)
        prog_add_option(prog, dist ? "--from" : "--repo", v);
    if (value_truthy(value_get(args, "no_recommends")))
        prog_add(prog, "--no-recommends");
    if (solver)
        prog_add(prog, "--debug-solver");
    return 0;
}

/* dist-upgrade takes no packages. A dry run is run twice, once for the solver's protocol, and its text is the
 * answer. */
int
zypper_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const unsigned flags = ZYPPER_MAY_FAIL | ZYPPER_SCOPE;
    json_auto_t *done = value_truthy(value_get(args, "refresh")) ? zypper_refresh(ctx, args, err)
                                                                 : json_null();
    json_auto_t *params = NULL, *tried = NULL;
    prog_auto_t solver = PROG_INIT, prog = PROG_INIT;
    bool dry = value_truthy(value_get(args, "dryrun")), files;
    const char *name;
    json_t *v;

    if (done == NULL || pkg_targets(ctx, args, rpm_normal_name, &params, &files, err) < 0 ||
        begin_upgrade(ctx, &solver, args, true, err) < 0 || begin_upgrade(ctx, &prog, args, false, err) < 0)
        return err->code;
    if (!value_truthy(value_get(args, "dist_upgrade")))
        json_object_foreach (params, name, v)
            prog_add(&prog, name);
    if (dry && (tried = zypper_run(ctx, &solver, flags, err)) == NULL)
        return err->code;
    json_auto_t *old = zypper_there(ctx, args, NULL, err);
    json_auto_t *out = old != NULL ? zypper_run(ctx, &prog, flags, err) : NULL;
    if (out == NULL)
        return err->code;
    rpm_forget(ctx);
    json_auto_t *now = zypper_there(ctx, args, NULL, err);
    if (now == NULL)
        return err->code;
    json_auto_t *changes = pkg_changes(old, now);
    if (!zypper_went_well((int) value_int(out, "retcode", 0))) {
        json_auto_t *info = json_pack("{s:O, s:O}", "changes", changes, "result", out);
        return pkg_fail_info(err, "Problem encountered upgrading packages", info);
    }
    AUTO_FREE char *said = xasprintf("%s\n%s", value_str(out, "stdout", ""), value_str(out, "stderr", ""));
    *ret_value = dry ? json_string(str_trim(said)) : STEAL(changes);
    return 0;
}

/* ---- remove ----------------------------------------------------------------------------------- */

/* Names of temporary fixes among the packages: they provide "ptf()", and go by another command. NEW list, or
 * NULL. */
static json_t *
fixes_among(call_ctx_t *ctx, const json_t *params, const char *root, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s?}", "root", root);
    prog_auto_t prog = PROG_INIT;
    const char *name;
    json_t *v;

    if (rpm_begin(&prog, kwargs, err) < 0)
        return NULL;
    prog_adds(&prog, "-q", "--qf", "%{NAME}: [%{PROVIDES} ]\n", NULL);
    json_object_foreach ((json_t *) params, name, v)
        prog_add(&prog, name);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_MERGE | TOOL_QUIET, err);
    json_t *ret = text != NULL ? json_array() : NULL;
    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        char *provides = strchr(line, ':');
        if (provides != NULL && strstr(provides, "ptf()") != NULL)
            json_array_append_new(ret, json_stringn(line, (size_t) (provides - line)));
    }
    return ret;
}

/* One command on packages; nothing for none. */
static int
remove_words(call_ctx_t *ctx, const json_t *args, const char *action, const char *option, const json_t *words,
             fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (json_array_size(words) == 0)
        return 0;
    if (zypper_begin(ctx, &prog, ZYPPER_SCOPE, zypper_root(args), err) < 0)
        return err->code;
    prog_add(&prog, action);
    if (option != NULL)
        prog_add(&prog, option);
    prog_add_json(&prog, words);
    json_auto_t *out = zypper_run(ctx, &prog, ZYPPER_SCOPE, err);
    return out != NULL ? 0 : err->code;
}

/* A version that is not installed is no removal: nothing is done for it. */
int
zypper_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *call = json_pack("{s:O?, s:O?}", "name", value_get(args, "name"), "pkgs",
                                  value_get(args, "pkgs"));
    json_auto_t *params = NULL, *words = json_array();
    const char *name;
    json_t *v;
    bool files;

    if (pkg_targets(ctx, call, rpm_normal_name, &params, &files, err) < 0)
        return err->code;
    json_auto_t *names = value_truthy(params) ? value_sorted_keys(params) : json_array();
    json_auto_t *includes = includes_of(args, names);
    json_auto_t *have = zypper_pkgs(ctx, zypper_root(args), includes, true, NULL, err);
    json_auto_t *fixes = value_truthy(params) ? fixes_among(ctx, params, zypper_root(args), err)
                                              : json_array();
    if (have == NULL || fixes == NULL)
        return err->code;
    json_object_foreach (params, name, v) {
        json_t *versions = value_get(have, name);
        if (versions == NULL || value_lists(fixes, name))
            continue;
        if (!value_truthy(v))
            json_array_append_new(words, json_string(name));
        else if (value_has(versions, v))
            json_array_append_new(words, value_fmt("%s-%s", name, json_string_value(v)));
    }
    if (json_array_size(words) == 0 && json_array_size(fixes) == 0) {
        *ret_value = json_object();
        return 0;
    }
    json_auto_t *old = zypper_pkgs(ctx, zypper_root(args), includes, false, NULL, err);
    if (old == NULL || remove_words(ctx, args, "remove", NULL, words, err) < 0 ||
        remove_words(ctx, args, "removeptf", "--allow-downgrade", fixes, err) < 0)
        return err->code;
    rpm_forget(ctx);
    json_auto_t *now = zypper_pkgs(ctx, zypper_root(args), includes, false, NULL, err);
    if (now == NULL)
        return err->code;
    *ret_value = pkg_changes(old, now);
    return 0;
}
