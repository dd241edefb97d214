/* pkg_resource.c - execution module `pkg_resource`: what the providers of `pkg` have in common, for templates and users'
 * modules. Salt's add_pkg, sort_pkglist and stringify change the caller's dict and return nothing; a call here
 * gets a copy, so they check what they are given and return nothing too. */
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "plugins/lib/packages/pkg_api.h"
#include "salt/log.h"

/* ---- targets ----------------------------------------------------------------------------------- */

/* pkg.normalize_name of the host's provider; names stay where that has none. NEW. */
static char *
pkg_resource_normal(call_ctx_t *ctx, const char *name)
{
    json_auto_t *names = json_pack("[s]", name);
    fail_auto_t bad = FAIL_INIT;
    json_t *answer = NULL;

    if (!ctx_has(ctx, "pkg.normalize_name") ||
        ctx_call(ctx, "pkg.normalize_name", names, NULL, &answer, &bad) < 0)
        return xstrdup(name);
    char *plain = xstrdup(json_is_string(answer) ? json_string_value(answer) : name);
    json_decref(answer);
    return plain;
}

/* [targets, kind], both None when there is nothing to do. */
static int
parse_targets(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *advisories = value_get(kwargs, "advisory_ids");
    bool files = false, all = value_truthy(value_get(args, "pkgs"));
    json_t *params = NULL;

    if (advisories != NULL && !(all && value_truthy(value_get(args, "sources")))) {
        if (all)
            log_error("Cannot use \"advisory_ids\" and \"pkgs\" at the same time");
        *ret_value = all                        ? json_pack("[n, n]")
                     : value_truthy(advisories) ? json_pack("[O, s]", advisories, "advisory")
                                                : json_pack("[[O], s]", value_get(args, "name"), "advisory");
        return 0;
    }
    if (pkg_targets(ctx, args, value_bool(args, "normalize", true) ? pkg_resource_normal : NULL, &params,
                    &files, err) < 0)
        return err->code;
    *ret_value = json_is_null(params) ? json_pack("[n, n]")
                                      : json_pack("[O, s]", params, files ? "file" : "repository");
    json_decref(params);
    return 0;
}

static int
pack_sources(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *given = value_get(args, "sources"), *one;
    json_auto_t *list = json_is_string(given) ? yaml_load(json_string_value(given), json_string_length(given),
                                                          "sources", NULL, err)
                                              : json_incref(given);
    json_auto_t *ret = json_object();
    size_t i;

    /* Text that is no YAML is told in the log, and packs nothing. */
    if (list == NULL)
        log_error("%s", fail_text(err));
    fail_clear(err);
    json_array_foreach (list, i, one) {
        if (json_object_size(one) != 1) {
            log_error("Input must be a list of 1-element dicts");
            json_object_clear(ret);
            break;
        }
        const char *key = json_object_iter_key(json_object_iter(one));
        AUTO_FREE char *name = value_bool(args, "normalize", true) ? pkg_resource_normal(ctx, key)
                                                                   : xstrdup(key);
        json_object_set(ret, name, json_object_get(one, key));
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* ---- installed packages ------------------------------------------------------------------------- */

/* The versions of names among all that pkg.list_pkgs tells. */
static int
pkg_resource_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "names"), *given = value_get(args, "kwargs");
    json_auto_t *kwargs = json_is_object(given) ? json_copy(given) : json_object();
    bool as_list = pkg_true(value_get(kwargs, "versions_as_list"));
    json_t *pkgs = NULL;

    json_object_set_new(kwargs, "versions_as_list", json_true());
    if (json_array_size(names) > 0 && ctx_call(ctx, "pkg.list_pkgs", NULL, kwargs, &pkgs, err) < 0)
        return err->code;
    *ret_value = json_array_size(names) > 0 ? pkg_versions(pkgs, names, as_list) : json_object();
    json_decref(pkgs);
    return 0;
}

static int
format_pkg_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *packages = value_get(args, "packages"), *versions, *one;
    const char *name;
    size_t i;

    json_object_foreach ((json_t *) packages, name, versions) {
        json_array_foreach (versions, i, one) {
            if (!json_is_object(one))
                return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                                 "packages: of %s no list of {epoch, version, release, arch}", name);
        }
    }
    *ret_value = pkg_format(ctx, packages, value_truthy(value_get(args, "versions_as_list")),
                            value_get(args, "attr"));
    return 0;
}

static int
format_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *epoch = value_pystr(value_get(args, "epoch"));
    AUTO_FREE char *version = value_pystr(value_get(args, "version"));
    AUTO_FREE char *release = value_pystr(value_get(args, "release"));
    bool first = value_truthy(value_get(args, "epoch")), last = value_truthy(value_get(args, "release"));

    *ret_value = value_fmt("%s%s%s%s%s", first ? epoch : "", first ? ":" : "", version, last ? "-" : "",
                           last ? release : "");
    return 0;
}

/* add_pkg, sort_pkglist, stringify. */
static int
returns_none(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_null();
    return 0;
}

/* ---- versions ------------------------------------------------------------------------------------ */

/* The parts of a version: runs of digits as numbers, runs of small letters, and whatever else is between them; dots are none.
 * NEW list of integers and texts. */
static json_t *
pkg_resource_parts(const char *text, bool *ret_texts)
{
#define SMALL  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"
    json_t *parts = json_array();

    while (*text != '\0') {
        size_t number = strspn(text, DIGITS), word = strspn(text, SMALL);
        size_t n = number > 0 ? number : word > 0 ? word : strcspn(text, "." DIGITS SMALL);
        if (number > 0)
            json_array_append_new(parts, json_integer((json_int_t) strtoll(text, NULL, 10)));
        else if (n > 0)
            json_array_append_new(parts, json_stringn(text, n));
        *ret_texts = *ret_texts || (number == 0 && n > 0);
        text += n > 0 ? n : 1;
    }
    return parts;
}

/* LooseVersion's order: by number, or, where one of the two has a part that is none, by text. */
static int
loose_order(const char *a, const char *b)
{
    bool texts = false;
    json_auto_t *x = pkg_resource_parts(a, &texts), *y = pkg_resource_parts(b, &texts);
    size_t i;

    for (i = 0; i < json_array_size(x) && i < json_array_size(y); i++) {
        json_t *p = json_array_get(x, i), *q = json_array_get(y, i);
        AUTO_FREE char *s = json_is_integer(p) ? xasprintf("%08lld", (long long) json_integer_value(p))
                                               : xstrdup(json_string_value(p));
        AUTO_FREE char *t = json_is_integer(q) ? xasprintf("%08lld", (long long) json_integer_value(q))
                                               : xstrdup(json_string_value(q));
        int order = texts ? strcmp(s, t)
                          : (json_integer_value(p) > json_integer_value(q)) -
                                (json_integer_value(p) < json_integer_value(q));
        if (order != 0)
            return order < 0 ? -1 : 1;
    }
    return (json_array_size(x) > i) - (json_array_size(y) > i);
}

static int
pkg_resource_order(const char *a, const char *b, bool ignore_epoch)
{
    const char *p = ignore_epoch ? strchr(a, ':') : NULL, *q = ignore_epoch ? strchr(b, ':') : NULL;

    return loose_order(p != NULL ? p + 1 : a, q != NULL ? q + 1 : b);
}

/* Salt asks no package manager here, whatever its documentation says. An empty text is no version, with which no
 * comparison holds. */
static int
version_compare(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const known[] = { "<", "<=", "==", ">=", ">", "!=" };
    AUTO_FREE char *a = value_pystr(value_get(args, "ver1"));
    AUTO_FREE char *b = value_pystr(value_get(args, "ver2"));
    const char *oper = value_str(args, "oper", "");

    for (size_t i = 0; i < NELEMS(known) && *a != '\0' && *b != '\0'; i++) {
        if (strcmp(oper, known[i]) != 0)
            continue;
        *ret_value = json_boolean(
            pkg_holds(pkg_resource_order, a, oper, b, value_truthy(value_get(args, "ignore_epoch"))));
        return 0;
    }
    log_error("%s %s %s is no comparison of versions", a, oper, b);
    *ret_value = json_false();
    return 0;
}

/* The provider's function of the row's name, where it has one. 1 when it was asked, 0, or negative. */
static int
by_provider(call_ctx_t *ctx, const char *fun, json_t *words, json_t **ret_value, fail_t *err)
{
    json_auto_t *own = words;

    if (!value_truthy(json_array_get(own, json_array_size(own) > 1)) || !ctx_has(ctx, fun))
        return 0;
    return ctx_call(ctx, fun, own, NULL, ret_value, err) < 0 ? err->code : 1;
}

static int
version_clean(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *version = value_get(args, "verstr");
    int rc = by_provider(ctx, "pkg.version_clean", json_pack("[O]", version), ret_value, err);

    if (rc == 0)
        *ret_value = json_incref(version);
    return rc < 0 ? rc : 0;
}

static int
check_extra_requirements(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *name = value_get(args, "pkgname"), *version = value_get(args, "pkgver");
    int rc = by_provider(ctx, "pkg.check_extra_requirements", json_pack("[O, O]", name, version), ret_value,
                         err);

    if (rc == 0)
        *ret_value = json_true();
    return rc < 0 ? rc : 0;
}

/* ---- table --------------------------------------------------------------------------------------- */

#define ROW_PKGS   ARG("pkgs", ARG_ANY, ARG_REQUIRED, "Packages, name: versions")
#define ROW_NORMAL ARG("normalize", ARG_BOOL, "true", "Leave out the architecture where it is the system's")

static const arg_t add_pkg_args[] = {
    ROW_PKGS,
    ARG("name", ARG_STR, ARG_REQUIRED, "The package"),
    ARG("pkgver", ARG_ANY, ARG_REQUIRED, "Its version"),
    ARGS_END,
};
static const arg_t check_extra_args[] = {
    ARG("pkgname", ARG_ANY, ARG_REQUIRED, "The package"),
    ARG("pkgver", ARG_ANY, ARG_REQUIRED, "Its requirements"),
    ARGS_END,
};
static const arg_t format_pkg_list_args[] = {
    ARG("packages", ARG_DICT, ARG_REQUIRED, "Packages, name: list of {epoch, version, release, arch}"),
    ARG("versions_as_list", ARG_ANY, ARG_REQUIRED, "Lists instead of a text with commas"),
    ARG("attr", ARG_ANY, ARG_REQUIRED, "Members of each version, a list or \"all\"; None: one text"),
    ARGS_END,
};
static const arg_t format_version_args[] = {
    ARG("epoch", ARG_ANY, ARG_REQUIRED, "Epoch, or nothing"),
    ARG("version", ARG_ANY, ARG_REQUIRED, "Version"),
    ARG("release", ARG_ANY, ARG_REQUIRED, "Release, or nothing"),
    ARGS_END,
};
static const arg_t pack_sources_args[] = {
    ARG("sources", ARG_ANY, ARG_REQUIRED, "A list of {name: file}, or YAML of one"),
    ROW_NORMAL,
    ARGS_END,
};
static const arg_t parse_targets_args[] = {
    ARG("name", ARG_ANY, "null", "A package, or several with commas between"),
    ARG("pkgs", ARG_ANY, "null", "A list of names and of {name: version}"),
    ARG("sources", ARG_ANY, "null", "A list of {name: file}"),
    ARG("saltenv", ARG_STR, "\"base\"", "Environment of the file server"),
    ROW_NORMAL,
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "version, advisory_ids", "*"),
    ARGS_END,
};
static const arg_t pkgs_args[] = { ROW_PKGS, ARGS_END };
static const arg_t version_args[] = {
    ARG("names", ARG_ANY, ARG_STAR, "Names, which may be globs"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "versions_as_list; others are pkg.list_pkgs'", "*"),
    ARGS_END,
};
static const arg_t version_clean_args[] = { ARG("verstr", ARG_ANY, ARG_REQUIRED, "A version"), ARGS_END };
static const arg_t version_compare_args[] = {
    ARG("ver1", ARG_ANY, ARG_REQUIRED, "A version"),
    ARG("oper", ARG_STR, ARG_REQUIRED, "==, !=, >=, <=, > or <"),
    ARG("ver2", ARG_ANY, ARG_REQUIRED, "Another one"),
    ARG("ignore_epoch", ARG_ANY, "false", "Compare what is behind the first colon"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "add_pkg", returns_none, add_pkg_args, FN_READONLY,
      "Salt's adds a package to the caller's dict; a call gets a copy." CLI_EXAMPLE(
          "salt '*' pkg_resource.add_pkg '{}' bind 9") },
    { "check_extra_requirements", check_extra_requirements, check_extra_args, FN_READONLY,
      "Return whether a package meets requirements, by the package manager where that knows." CLI_EXAMPLE(
          "salt '*' pkg_resource.check_extra_requirements <pkgname> <extra_requirements>") },
    { "format_pkg_list", format_pkg_list, format_pkg_list_args, FN_READONLY,
      "Return versions as pkg.list_pkgs shows them." CLI_EXAMPLE(
          "salt '*' pkg_resource.format_pkg_list '{vim: [{epoch: 2, version: 9.0, release: 1}]}' False None") },
    { "format_version", format_version, format_version_args, FN_READONLY,
      "Return epoch, version and release as one text." CLI_EXAMPLE(
          "salt '*' pkg_resource.format_version 1 2.3 4") },
    { "pack_sources", pack_sources, pack_sources_args, FN_READONLY,
      "Return a list of {name: file} as one dict." CLI_EXAMPLE(
          "salt '*' pkg_resource.pack_sources '[{foo: salt://foo.rpm}, {bar: salt://bar.rpm}]'") },
    { "parse_targets", parse_targets, parse_targets_args, 0,
      "Return what pkg.install is asked for, and where it comes from: repository, file or advisory." CLI_EXAMPLE(
          "salt '*' pkg_resource.parse_targets name=vim") },
    { "sort_pkglist", returns_none, pkgs_args, FN_READONLY,
      "Salt's sorts the versions in the caller's dict; a call gets a copy." CLI_EXAMPLE(
          "salt '*' pkg_resource.sort_pkglist '{vim: [3.45, 2.13]}'") },
    { "stringify", returns_none, pkgs_args, FN_READONLY,
      "Salt's joins the versions in the caller's dict; a call gets a copy." CLI_EXAMPLE(
          "salt '*' pkg_resource.stringify 'vim: 7.127'") },
    { "version", pkg_resource_version, version_args, FN_READONLY,
      "Return the versions of installed packages." CLI_EXAMPLE(
          "salt '*' pkg_resource.version vim\n    salt '*' pkg_resource.version 'python*'") },
    { "version_clean", version_clean, version_clean_args, FN_READONLY,
      "Return a version without what the package manager adds to it." CLI_EXAMPLE(
          "salt '*' pkg_resource.version_clean <version_string>") },
    { "version_compare", version_compare, version_compare_args, FN_READONLY,
      "Return whether a comparison of two versions holds." CLI_EXAMPLE(
          "salt '*' pkg_resource.version_compare '3.5' '<=' '2.4'") },
};

PLUGIN(exec, pkg_resource, .doc = "What the providers of pkg have in common", FUNCS(funcs));
