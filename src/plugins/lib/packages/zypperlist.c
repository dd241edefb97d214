/* zypperlist.c - what is installed, and what repositories have, as zypper and rpm list it. Lists of zypper
 * are its XML, one element a package; what is installed comes from rpm's database. */
#include <ctype.h>
#include <fnmatch.h>
#include <strings.h>

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"
#include "plugins/lib/packages/xmltags.h"
#include "plugins/lib/packages/zypper.h"

/* ---- installed -------------------------------------------------------------------------------- */

/* Adds "product:NAME", "pattern:NAME" and "patch:NAME" to {name: [members]}. A kind is only asked for when
 * the call includes it, as zypper takes seconds for each. */
static int
include_kind(call_ctx_t *ctx, const char *kind, const char *root, json_t *known, fail_t *err)
{
    bool products = str_eq(kind, "product");
    json_auto_t *found = products                  ? zypper_products(ctx, false, root, err)
                         : str_eq(kind, "pattern") ? zypper_installed_patterns(ctx, root, err)
                         : str_eq(kind, "patch")   ? zypper_kind(ctx, "patch", root, err)
                                                   : json_object();
    json_t *v;
    const char *name;
    size_t i;

    if (found == NULL)
        return err->code;
    json_array_foreach (found, i, v) {
        AUTO_FREE char *full = xasprintf("product:%s", value_str(v, "name", ""));
        json_object_set_new(known, full,
                            json_pack("[{s:s, s:s, s:s, s:s, s:n, s:n}]", "epoch", value_str(v, "epoch", ""),
                                      "version", value_str(v, "version", ""), "release",
                                      value_str(v, "release", ""), "arch", value_str(v, "arch", ""),
                                      "install_date", "install_date_time_t"));
    }
    json_object_foreach (found, name, v) {
        AUTO_FREE char *full = xasprintf("%s:%s", kind, name);
        json_auto_t *names = json_pack("[s]", full);
        json_auto_t *info = value_truthy(value_get(v, "installed")) ? zypper_info(ctx, names, root, err)
                                                                    : json_object();
        if (info == NULL)
            return err->code;
        json_t *one = value_get(info, name);
        if (one != NULL)
            json_object_set_new(known, full,
                                json_pack("[{s:n, s:s, s:n, s:s, s:n, s:n}]", "epoch", "version",
                                          value_str(one, "version", ""), "release", "arch",
                                          value_str(one, "arch", ""), "install_date", "install_date_time_t"));
    }
    return 0;
}

/* Keys that packages are signed with are no packages of Salt's. */
json_t *
zypper_pkgs(call_ctx_t *ctx, const char *root, const json_t *includes, bool as_list, const json_t *attr,
            fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:s?}", "root", root), *known = json_object();
    json_auto_t *words = json_is_string(attr) && str_eq(json_string_value(attr), "all")
                             ? json_incref((json_t *) attr)
                             : pkg_words(attr);
    const json_t *all = rpm_packages(ctx, kwargs, false, err);
    json_t *v;
    const char *name;
    size_t i;

    if (all == NULL)
        return NULL;
    json_object_foreach ((json_t *) all, name, v)
        if (!str_starts(name, "gpg-pubkey"))
            json_object_set(known, name, v);
    json_array_foreach (includes, i, v) {
        if (include_kind(ctx, json_string_value(v), root, known, err) < 0)
            return NULL;
    }
    return pkg_format(ctx, known, as_list, words);
}

/* rpm keeps nothing of packages that were removed. */
int
zypper_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *use_context = value_get(kwargs, "use_context");
    json_auto_t *includes = pkg_words(value_get(args, "includes"));

    if (pkg_arg_true(kwargs, "removed") || pkg_arg_true(kwargs, "purge_desired")) {
        *ret_value = json_object();
        return 0;
    }
    if (use_context != NULL && !value_truthy(use_context))
        rpm_forget(ctx);
    *ret_value = zypper_pkgs(ctx, zypper_root(args), includes, pkg_arg_true(args, "versions_as_list"),
                             value_get(kwargs, "attr"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- available -------------------------------------------------------------------------------- */

/* A block of "Key : value" lines, keys in lower case. The package's name goes to *ret_name, which is NEW.
 * zypper has no XML of `info`, so its lines are read. */
static json_t *
info_block(char *block, char **ret_name)
{
    json_t *ret = json_object();

    for (char *at = block, *line; (line = line_next(&at)) != NULL;) {
        char *value = str_starts(line, "-----") ? NULL : line_value(line, ':');
        if (value == NULL || *value == '\0')
            continue;
        for (char *c = line; *c != '\0'; c++)
            *c = (char) tolower((unsigned char) *c);
        if (str_eq(line, "installed"))
            json_object_set_new(ret, line, json_boolean(strncasecmp(value, "yes", 3) == 0));
        else
            json_object_set_new(ret, line, value_utf8(value, strlen(value)));
    }
    *ret_name = value_get(ret, "name") != NULL ? xstrdup(value_str(ret, "name", "")) : NULL;
    json_object_del(ret, "name");
    return ret;
}

/* A single command for all names; a name that zypper doesn't know is left out. */
json_t *
zypper_info(call_ctx_t *ctx, const json_t *names, const char *root, fail_t *err)
{
    static const char mark[] = "Information for package";
    prog_auto_t prog = PROG_INIT;

    if (zypper_begin(ctx, &prog, ZYPPER_READS, root, err) < 0)
        return NULL;
    prog_adds(&prog, "info", "-t", "package", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return NULL;
    json_auto_t *out = zypper_run(ctx, &prog, ZYPPER_READS, err);
    json_t *ret = out != NULL ? json_object() : NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *next; at != NULL && ret != NULL; at = next) {
        AUTO_FREE char *name = NULL;
        if ((next = strstr(at, mark)) != NULL) {
            *next = '\0';
            next += strlen(mark);
        }
        json_auto_t *info = info_block(at, &name);
        if (name != NULL)
            json_object_set(ret, name, info);
    }
    return ret;
}

/* The names of a call, each once, sorted. */
static json_t *
sorted_names(const json_t *names)
{
    json_auto_t *once = json_object();
    json_t *v;
    size_t i;

    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_object_set_new(once, name, json_true());
    }
    return value_sorted_keys(once);
}

/* Lists are refreshed first unless refresh=False. */
int
zypper_info_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = sorted_names(value_get(args, "names")), *done = NULL;
    json_t *refresh = value_get(value_get(args, "kwargs"), "refresh");

    if (json_array_size(names) == 0) {
        *ret_value = json_object();
        return 0;
    }
    if ((refresh == NULL || value_truthy(refresh)) && (done = zypper_refresh(ctx, args, err)) == NULL)
        return err->code;
    *ret_value = zypper_info(ctx, names, zypper_root(args), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* The version that is told when the status says that it is due; a package that is new enough has "". */
int
zypper_latest_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = sorted_names(value_get(args, "names")), *info = NULL, *ret = json_object();
    json_t *v;
    size_t i;
    int rc = zypper_info_available(ctx, args, &info, err);

    if (rc < 0)
        return rc;
    json_array_foreach (names, i, v) {
        json_t *one = value_get(info, json_string_value(v));
        const char *status = value_str(one, "status", "");
        bool due = strcasestr(status, "not installed") != NULL || strcasestr(status, "out-of-date") != NULL;
        json_t *version = due ? value_get(one, "version") : NULL;
        json_object_set_new(ret, json_string_value(v),
                            version != NULL ? json_incref(version) : json_string(""));
    }
    *ret_value = json_incref(json_array_size(names) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                         : ret);
    return 0;
}

/* By zypper_latest_version(). */
int
zypper_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *latest = NULL, *call = json_pack("{s:[O], s:O}", "names", value_get(args, "name"), "kwargs",
                                                  value_get(args, "kwargs"));
    int rc = zypper_latest_version(ctx, call, &latest, err);

    if (rc == 0)
        *ret_value = json_boolean(value_truthy(latest));
    return rc;
}

/* Patches are listed too and left out: Salt tells packages. */
int
zypper_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *from = value_get(value_get(args, "kwargs"), "fromrepo"), *tag;
    json_auto_t *done = value_truthy(value_get(args, "refresh")) ? zypper_refresh(ctx, args, err)
                                                                 : json_null();
    const unsigned flags = ZYPPER_XML | ZYPPER_READS;
    prog_auto_t prog = PROG_INIT;
    size_t i;

    if (done == NULL || zypper_begin(ctx, &prog, flags, zypper_root(args), err) < 0)
        return err->code;
    prog_add(&prog, "list-updates");
    for (i = 0; i < (json_is_array(from) ? json_array_size(from) : from != NULL); i++)
        prog_add_option(&prog, "--repo", json_is_array(from) ? json_array_get(from, i) : from);
    json_auto_t *out = zypper_run(ctx, &prog, flags, err);
    if (out == NULL)
        return err->code;
    json_auto_t *tags = xmltags_read(value_str(out, "stdout", "")), *updates = xmltags_named(tags, "update");
    *ret_value = json_object();
    json_array_foreach (updates, i, tag) {
        if (str_eq(xmltags_attr(tag, "kind"), "package"))
            json_object_set_new(*ret_value, xmltags_attr(tag, "name"),
                                json_string(xmltags_attr(tag, "edition")));
    }
    return 0;
}

/* By repository, or merged with the newest first. */
int
zypper_list_repo_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs"), *names = value_get(args, "args");
    const char *from = value_str(kwargs, "fromrepo", ""), *repo, *name;
    const unsigned flags = ZYPPER_XML | ZYPPER_MAY_MISS;
    json_auto_t *by_repo = json_object(), *merged = json_object();
    bool apart = value_truthy(value_get(kwargs, "byrepo"));
    prog_auto_t prog = PROG_INIT;
    json_t *tag, *v;
    void *next;
    size_t i;

    if (zypper_begin(ctx, &prog, flags, zypper_root(args), err) < 0)
        return err->code;
    prog_adds(&prog, "se", "-s", NULL);
    if (prog_operands(&prog, "args", names, err) < 0)
        return err->code;
    json_auto_t *out = zypper_run(ctx, &prog, flags, err);
    if (out == NULL)
        return err->code;
    json_auto_t *tags = xmltags_read(value_str(out, "stdout", "")), *found = xmltags_named(tags, "solvable");
    json_array_foreach (found, i, tag) {
        const char *where = xmltags_attr(tag, "repository");
        /* Names may be globs; without any every package is wanted. */
        bool wanted = json_array_size(names) == 0;
        for (size_t k = 0; k < json_array_size(names); k++)
            wanted = wanted ||
                     fnmatch(json_string_value(json_array_get(names, k)), xmltags_attr(tag, "name"), 0) == 0;
        if (!wanted || !str_eq(xmltags_attr(tag, "kind"), "package") ||
            (*from != '\0' && !str_eq(where, from)))
            continue;
        if (value_get(by_repo, where) == NULL)
            json_object_set_new(by_repo, where, json_object());
        pkg_add(value_get(by_repo, where), xmltags_attr(tag, "name"),
                json_string(xmltags_attr(tag, "edition")));
        pkg_add(merged, xmltags_attr(tag, "name"), json_string(xmltags_attr(tag, "edition")));
    }
    json_object_foreach (by_repo, repo, tag)
        json_object_foreach_safe (tag, next, name, v)
            json_object_set_new(tag, name, pkg_newest_first(rpmver_cmp, v));
    json_object_foreach_safe (merged, next, name, v)
        json_object_set_new(merged, name, pkg_newest_first(rpmver_cmp, v));
    *ret_value = json_incref(apart ? by_repo : merged);
    return 0;
}

/* ---- provides --------------------------------------------------------------------------------- */

/* A package provides its own name too, which is left out. */
int
zypper_list_provides(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_auto_t *kwargs = json_pack("{s:s?}", "root", zypper_root(args));

    if (rpm_begin(&prog, kwargs, err) < 0)
        return err->code;
    prog_adds(&prog, "-qa", "--queryformat", "%{PROVIDES}_|-%{NAME}\n", NULL);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_MERGE, err);
    if (text == NULL)
        return err->code;
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *name = strstr(line, "_|-");
        if (name == NULL)
            continue;
        *name = '\0';
        if (!str_eq(line, name + 3))
            pkg_add(*ret_value, line, json_string(name + 3));
    }
    return 0;
}

/* The one package that provides a name which is no package's; the name itself else. NEW, or NULL with *err.
 * When several provide it the name is left to zypper. */
static char *
provider_of(call_ctx_t *ctx, const char *name, const char *root, fail_t *err)
{
    fail_auto_t none = FAIL_INIT, ambiguous = FAIL_INIT;
    json_auto_t *exact = json_pack("{s:s?, s:s}", "root", root, "match", "exact");
    json_auto_t *own = zypper_search(ctx, name, exact, &none);

    if (own == NULL && none.kind != FAIL_COMMAND) {
        fail_kind(err, none.kind, none.code, "%s", fail_text(&none));
        return NULL;
    }
    if (own != NULL)
        return xstrdup(name);
    json_object_set_new(exact, "provides", json_true());
    json_auto_t *found = zypper_search(ctx, name, exact, &ambiguous);
    return xstrdup(json_object_size(found) == 1 ? json_object_iter_key(json_object_iter(found)) : name);
}

/* A list of names and {name: version}, with names of capabilities replaced by packages. */
int
zypper_resolve_capabilities(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *done = value_truthy(value_get(args, "refresh")) ? zypper_refresh(ctx, args, err)
                                                                 : json_null();
    json_auto_t *ret = json_array();
    bool resolve = value_truthy(value_get(value_get(args, "kwargs"), "resolve_capabilities"));
    json_t *pkgs = value_get(args, "pkgs"), *v;
    size_t i;

    if (done == NULL)
        return err->code;
    json_array_foreach (pkgs, i, v) {
        void *iter = json_object_iter(v);
        AUTO_FREE char *given = iter != NULL ? xstrdup(json_object_iter_key(iter)) : value_pystr(v);
        AUTO_FREE char *name = resolve ? provider_of(ctx, given, zypper_root(args), err) : xstrdup(given);
        json_t *version = iter != NULL ? json_object_iter_value(iter) : NULL;
        if (name == NULL)
            return err->code;
        json_array_append_new(ret,
                              value_truthy(version) ? json_pack("{s:O}", name, version) : json_string(name));
    }
    *ret_value = STEAL(ret);
    return 0;
}
