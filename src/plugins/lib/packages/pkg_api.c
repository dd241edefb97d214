/* pkg_api.c - see pkg_api.h: what the providers of `pkg` share: arguments that mean the same everywhere,
 * errors with their info, lists of packages and their changes. */
#include "plugins/lib/packages/pkg_api.h"

#include <fnmatch.h>
#include <limits.h>
#include <strings.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/prog.h"
#include "common/host/rootfs.h"
#include "common/output/output.h"
#include "plugins/lib/file/field.h"

/* Salt's is_true(): positive numbers, and the text "true" in any case. */
bool
pkg_true(const json_t *v)
{
    if (json_is_number(v))
        return json_number_value(v) > 0;
    if (!json_is_string(v))
        return value_truthy(v);
    const char *text = json_string_value(v);
    char *end;
    double d = strtod(text, &end);
    return (*text != '\0' && *end == '\0') ? d > 0 : strcasecmp(text, "true") == 0;
}

/* A null counts as not given. BORROWED. */
json_t *
pkg_arg(const json_t *args, const char *name)
{
    json_t *v = value_get(args, name);

    return json_is_null(v) ? NULL : v;
}

bool
pkg_arg_true(const json_t *args, const char *name)
{
    json_t *v = pkg_arg(args, name);

    return v != NULL && pkg_true(v);
}

/* By systemd.scope of the configuration, where systemd runs. */
bool
pkg_wants_scope(call_ctx_t *ctx)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *args = json_pack("[s, b]", "systemd.scope", 1), *ret = NULL;

    if (fs_absent("/run/systemd/system")) /* else without a scope the upgrade of the minion ends with it */
        return false;
    AUTO_FREE char *systemd_run = fs_which("systemd-run");
    if (systemd_run == NULL)
        return false;
    return ctx_call(ctx, "config.get", args, NULL, &ret, &err) < 0 || value_truthy(ret);
}

int
pkg_fail_info(fail_t *err, const char *text, const json_t *info)
{
    output_opts_t opts = OUTPUT_OPTS_INIT;
    buf_auto_t shown = BUF_INIT;

    opts.out = "nested";
    output_format(info, &opts, &shown);
    while (shown.len > 0 && strchr(" \n", shown.data[shown.len - 1]) != NULL)
        shown.data[--shown.len] = '\0';
    return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s. Additional info follows:\n\n%s", text,
                     buf_str(&shown));
}

/* ---- arguments ------------------------------------------------------------------------------- */

json_t *
pkg_words(const json_t *v)
{
    if (v == NULL || json_is_null(v))
        return NULL;
    if (json_is_array(v))
        return json_copy((json_t *) v);
    AUTO_FREE char *text = value_pystr(v);
    char **words = str_split(text, ",", false);
    json_t *ret = json_array();

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(ret, json_string(str_trim(words[i])));
    strv_free(words);
    return ret;
}

const arg_t pkg_no_args[] = { ARGS_END };
const arg_t pkg_kwargs_args[] = { PKG_KWARGS_ROW, ARGS_END };
const arg_t pkg_name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name of a package"), ARGS_END };
const arg_t pkg_names_args[] = { ARG("names", ARG_ANY, ARG_STAR, "Names of packages"), PKG_KWARGS_ROW,
                                 ARGS_END };
const arg_t pkg_packages_args[] = { ARG("packages", ARG_ANY, ARG_STAR, "Names of packages"), PKG_KWARGS_ROW,
                                    ARGS_END };
const arg_t pkg_paths_args[] = { ARG("paths", ARG_ANY, ARG_STAR, "Paths of files"), PKG_KWARGS_ROW,
                                 ARGS_END };
const arg_t pkg_targets_args[] = {
    ARG("name", ARG_ANY, "null", "Name of a package, or several, separated by commas"),
    ARG("pkgs", ARG_ANY, "null", "List of names, or of {name: version}; in place of name"), PKG_KWARGS_ROW,
    ARGS_END
};
const arg_t pkg_list_pkgs_args[] = {
    ARG("versions_as_list", ARG_ANY, "false", "Versions as lists"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "attr: members of each version instead, a list or all; use_context: False "
        "reads again",
        "*"),
    ARGS_END
};
const arg_t pkg_upgradable_args[] = { ARG("name", ARG_ANY, ARG_REQUIRED, "Name of a package"), PKG_KWARGS_ROW,
                                      ARGS_END };
const arg_t pkg_refresh_args[] = { ARG("refresh", ARG_ANY, "true", "Refresh the lists first"), PKG_KWARGS_ROW,
                                   ARGS_END };
const arg_t pkg_cmp_args[] = { ARG("pkg1", ARG_ANY, ARG_REQUIRED, "A version"),
                               ARG("pkg2", ARG_ANY, ARG_REQUIRED, "Another"),
                               ARG("ignore_epoch", ARG_ANY, "false", "Compare without epochs"),
                               PKG_KWARGS_ROW, ARGS_END };

/* ---- lists of packages ------------------------------------------------------------------------ */

void
pkg_add(json_t *pkgs, const char *name, json_t *version)
{
    json_t *versions = json_object_get(pkgs, name);

    if (versions == NULL) {
        versions = json_array();
        json_object_set_new(pkgs, name, versions);
    }
    json_array_append_new(versions, version);
}

void
pkg_stringify(json_t *pkgs)
{
    const char *name;
    json_t *versions;
    void *next;

    json_object_foreach_safe (pkgs, next, name, versions) {
        AUTO_FREE char *text = value_joined(versions, ",");
        json_object_set_new(pkgs, name, json_string(text));
    }
}

/* A single name answers with its version alone, several or a glob with an object. Names that are not installed
 * have an empty version; a glob names only what is there. */
json_t *
pkg_versions(const json_t *pkgs, const json_t *names, bool as_list)
{
    json_auto_t *ret = json_object();
    json_t *v, *versions;
    bool globbed = false;
    const char *pkg;
    size_t i;

    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        if (strchr(name, '*') == NULL) {
            versions = value_get(pkgs, name);
            json_object_set_new(ret, name, versions != NULL ? json_incref(versions) : json_array());
            continue;
        }
        globbed = true;
        json_object_foreach ((json_t *) pkgs, pkg, versions) {
            if (fnmatch(name, pkg, 0) == 0)
                json_object_set(ret, pkg, versions);
        }
    }
    if (!as_list)
        pkg_stringify(ret);
    if (json_object_size(ret) == 1 && !globbed)
        return json_incref(json_object_iter_value(json_object_iter(ret)));
    return STEAL(ret);
}

/* The members of a version that `attr` names. NEW. */
static json_t *
members_of(const json_t *parts, const json_t *attr)
{
    static const char *const keys[] = { "epoch", "version",      "release",
                                        "arch",  "install_date", "install_date_time_t" };
    bool all = json_is_string(attr) && str_eq(json_string_value(attr), "all");
    json_t *ret = json_object(), *v;

    for (size_t i = 0; i < NELEMS(keys); i++) {
        bool wanted = all || str_eq(keys[i], "version") || str_eq(keys[i], "arch") ||
                      value_lists(attr, keys[i]);
        if (wanted && (v = value_get(parts, keys[i])) != NULL)
            json_object_set(ret, keys[i], v);
    }
    return ret;
}

/* The name without its architecture, when that is the one of a version. NEW, or NULL. */
static char *
plain_name(call_ctx_t *ctx, const char *name, const json_t *versions)
{
    fail_auto_t none = FAIL_INIT;
    json_auto_t *args = json_pack("[s]", name), *parsed = NULL;
    json_t *v;
    size_t i;

    if (!ctx_has(ctx, "pkg.parse_arch") || ctx_call(ctx, "pkg.parse_arch", args, NULL, &parsed, &none) < 0)
        return NULL;
    json_array_foreach (versions, i, v) {
        if (value_equal(value_get(v, "arch"), value_get(parsed, "arch")))
            return xstrdup(value_str(parsed, "name", name));
    }
    return NULL;
}

json_t *
pkg_format(call_ctx_t *ctx, const json_t *known, bool as_list, const json_t *attr)
{
    json_t *ret = json_object(), *versions, *v;
    const char *name;
    size_t i;

    json_object_foreach ((json_t *) known, name, versions) {
        AUTO_FREE char *plain = value_truthy(attr) ? plain_name(ctx, name, versions) : NULL;
        json_array_foreach (versions, i, v) {
            /* "epoch:version-release", without what there is none of. */
            const char *epoch = value_str(v, "epoch", ""), *release = value_str(v, "release", "");
            json_t *shown = value_truthy(attr) ? members_of(v, attr)
                                               : value_fmt("%s%s%s%s%s", epoch, *epoch != '\0' ? ":" : "",
                                                           value_str(v, "version", ""),
                                                           *release != '\0' ? "-" : "", release);
            pkg_add(ret, plain != NULL ? plain : name, shown);
        }
    }
    if (!as_list && !value_truthy(attr))
        pkg_stringify(ret);
    return ret;
}

/* ---- versions --------------------------------------------------------------------------------- */

bool
pkg_holds(pkg_cmp_fn *cmp, const char *a, const char *oper, const char *b, bool ignore_epoch)
{
    int order = cmp(a, b, ignore_epoch);

    switch (*oper) {
    case '<':
        return order < 0 || (oper[1] == '=' && order == 0);
    case '>':
        return order > 0 || (oper[1] == '=' && order == 0);
    case '!':
        return order != 0;
    default:
        return order == 0;
    }
}

/* The first of the versions that fits, so callers pass them with the newest first. */
const char *
pkg_match(pkg_cmp_fn *cmp, const char *wish, const json_t *versions, bool ignore_epoch)
{
    const char *version = wish + strspn(wish, "<>=!");
    json_t *v;
    size_t i;

    version += strspn(version, " ");
    /* Only one comparison is understood. */
    if (strpbrk(version, "<>=") != NULL)
        return NULL;
    json_array_foreach (versions, i, v) {
        if (pkg_holds(cmp, json_string_value(v), wish, version, ignore_epoch))
            return json_string_value(v);
    }
    return NULL;
}

/* By insertion, as lists of versions are short; equal ones that meet are one. */
json_t *
pkg_newest_first(pkg_cmp_fn *cmp, const json_t *versions)
{
    json_t *ret = json_array(), *v;
    size_t i, k;

    json_array_foreach (versions, i, v) {
        for (k = 0; k < json_array_size(ret); k++) {
            if (cmp(json_string_value(v), json_string_value(json_array_get(ret, k)), false) >= 0)
                break;
        }
        if (!value_equal(v, json_array_get(ret, k)))
            json_array_insert(ret, k, v);
    }
    return ret;
}

/* ---- names and changes --------------------------------------------------------------------- */

/* A package that came has "old": "", one that went "new": "". */
json_t *
pkg_changes(const json_t *old, const json_t *now)
{
    json_t *ret = json_object(), *v;
    const char *name;

    json_object_foreach ((json_t *) now, name, v) {
        json_t *before = value_get(old, name);
        if (before == NULL)
            json_object_set_new(ret, name, json_pack("{s:s, s:O}", "old", "", "new", v));
        else if (!value_equal(before, v))
            json_object_set_new(ret, name, json_pack("{s:O, s:O}", "old", before, "new", v));
    }
    json_object_foreach ((json_t *) old, name, v) {
        if (value_get(now, name) == NULL)
            json_object_set_new(ret, name, json_pack("{s:s, s:O}", "new", "", "old", v));
    }
    return ret;
}

int
pkg_check_name(const char *argument, const char *name, fail_t *err)
{
    int rc = prog_check_operand(argument, name, err);

    return rc == 0 ? field_check_text(argument, name, FIELD_WORD, err) : rc;
}

char *
pkg_cache_file(call_ctx_t *ctx, const char *url, const char *saltenv, fail_t *err)
{
    json_auto_t *args = json_pack("[s, s]", url, saltenv), *ret = NULL;

    if (ctx_call(ctx, "cp.cache_file", args, NULL, &ret, err) < 0)
        return NULL;
    return xstrdup(json_is_string(ret) ? json_string_value(ret) : "");
}

int
pkg_local_file(call_ctx_t *ctx, const json_t *args, char **ret_path, fail_t *err)
{
    const char *given = value_str(args, "path", ""), *saltenv = value_str(args, "saltenv", "base");
    bool fetched = strchr(given, ':') != NULL && *given != '/';
    AUTO_FREE char *path = fetched ? pkg_cache_file(ctx, given, saltenv, err) : xstrdup(given);

    if (path == NULL)
        return err->code;
    if (*path == '\0' && fetched)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to retrieve %s from saltenv '%s'", given,
                         saltenv);
    int there = fs_look(path, err);
    if (there < 0)
        return there;
    if (there == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "%s does not exist on minion", path);
    if (*path != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "%s does not exist on minion", path);
    *ret_path = STEAL(path);
    return 0;
}

/* The last part of the control group is the unit that systemd started the process for. */
char *
pkg_service_of(const char *pid)
{
    long long number;
    AUTO_FREE char *path = str_to_int(pid, 1, INT_MAX, &number) ? xasprintf("/proc/%lld/cgroup", number)
                                                                : NULL;
    AUTO_FREE char *text = path != NULL ? root_read_trimmed(NULL, path) : NULL;
    const char *unit = text != NULL ? strrchr(text, '/') : NULL;

    if (unit == NULL || !str_ends(unit, ".service"))
        return NULL;
    return xstrndup(unit + 1, strlen(unit + 1) - strlen(".service"));
}
