/* apk.c - see apk.h: what apk prints, and what it installs and removes. Versions are compared by apkver.c;
 * package files of a local folder are Salt's only way to name a file. */
#include "plugins/lib/packages/apk.h"

#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpmver.h"

#define CONTEXT_KEY "pkg.list_pkgs"

/* Runs `apk` with words up to NULL and operands, which may be NULL. NEW result, or NULL with *err. */
static json_t *__attribute__((sentinel))
apk(call_ctx_t *ctx, unsigned flags, const json_t *operands, fail_t *err, ...)
{
    prog_auto_t prog = PROG_INIT;
    const char *word;
    va_list ap;

    if (tool_begin(&prog, "apk", err) < 0)
        return NULL;
    va_start(ap, err);
    while ((word = va_arg(ap, const char *)) != NULL)
        prog_add(&prog, word);
    va_end(ap);
    if (operands != NULL && prog_operands(&prog, "names", operands, err) < 0)
        return NULL;
    return tool_run(ctx, &prog, flags, err);
}

/* Cuts "name-1.2-r0" in front of its version, which begins behind the last hyphen but one. NULL for another
 * text. */
static char *
cut_version(char *line)
{
    char *last = strrchr(line, '-');

    if (last == NULL)
        return NULL;
    *last = '\0';
    char *hyphen = strrchr(line, '-');
    *last = '-';
    if (hyphen == NULL)
        return NULL;
    *hyphen = '\0';
    return hyphen + 1;
}

/* ---- installed -------------------------------------------------------------------------------- */

/* {name: [version]}, read once per job. NEW, or NULL with *err. */
static json_t *
apk_packages(call_ctx_t *ctx, const json_t *kwargs, fail_t *err)
{
    json_t *use = value_get(kwargs, "use_context"), *known = value_get(ctx_context(ctx), CONTEXT_KEY);

    if (known != NULL && (use == NULL || value_truthy(use)))
        return json_incref(known);
    json_auto_t *out = apk(ctx, TOOL_MERGE, NULL, err, "info", "-v", NULL);
    if (out == NULL)
        return NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    known = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *version = str_starts(line, "WARNING:") ? NULL : cut_version(line);
        if (version != NULL)
            pkg_add(known, line, json_string(version));
    }
    json_object_set(ctx_context(ctx), CONTEXT_KEY, known);
    return known;
}

/* {name: "1.2-r0"}. NEW, or NULL with *err. */
static json_t *
apk_versions(call_ctx_t *ctx, const json_t *kwargs, fail_t *err)
{
    json_auto_t *known = apk_packages(ctx, kwargs, err);
    json_t *ret = json_copy(known);

    if (ret != NULL)
        pkg_stringify(ret);
    return ret;
}

/* apk keeps nothing of packages that were removed. */
int
apk_list_pkgs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");

    if (pkg_arg_true(kwargs, "removed") || pkg_arg_true(kwargs, "purge_desired"))
        *ret_value = json_object();
    else
        *ret_value = pkg_arg_true(args, "versions_as_list") ? apk_packages(ctx, kwargs, err)
                                                            : apk_versions(ctx, kwargs, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* As in pacman.c: an empty version for a package that isn't there. */
int
apk_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const json_t *kwargs = value_get(args, "kwargs");
    json_auto_t *known = apk_packages(ctx, kwargs, err);

    if (known == NULL)
        return err->code;
    *ret_value = pkg_versions(known, value_get(args, "names"), pkg_arg_true(kwargs, "versions_as_list"));
    return 0;
}

/* apk's versions have no epoch, so ignore_epoch changes nothing. */
int
apk_version_cmp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *a = value_pystr(value_get(args, "pkg1"));
    AUTO_FREE char *b = value_pystr(value_get(args, "pkg2"));

    *ret_value = json_integer(apkver_cmp(a, b, value_truthy(value_get(args, "ignore_epoch"))));
    return 0;
}

/* Files of packages: {"errors", "packages": {name: [path]}}. */
int
apk_file_dict(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *names = value_get(args, "packages"), *v;
    size_t i;

    if (json_array_size(names) == 0) {
        *ret_value = json_string("Package name should be provided");
        return 0;
    }
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_auto_t *one = json_pack("[s]", name), *out = apk(ctx, 0, one, err, "info", "-L", NULL);
        if (out == NULL)
            return err->code;
        AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
        for (char *at = text, *line; (line = line_next(&at)) != NULL;)
            if (*line != '\0' && !str_ends(line, "contains:"))
                pkg_add(ret, name, value_utf8(line, strlen(line)));
    }
    *ret_value = json_pack("{s:[], s:O}", "errors", "packages", ret);
    return 0;
}

/* "PATH is owned by NAME-VERSION". */
int
apk_owner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *paths = value_get(args, "paths"), *v;
    size_t i;

    if (json_array_size(paths) == 0) {
        *ret_value = json_string("You must provide a path");
        return 0;
    }
    json_array_foreach (paths, i, v) {
        AUTO_FREE char *path = value_pystr(v);
        json_auto_t *one = json_pack("[s]", path), *out = apk(ctx, 0, one, err, "info", "-W", NULL);
        if (out == NULL)
            return err->code;
        const char *text = value_str(out, "stdout", ""), *by = strstr(text, "by ");
        json_object_set_new(ret, path,
                            *text == '\0' ? value_fmt("Error running ['apk', 'info', '-W', '%s']", path)
                            : strstr(text, "ERROR:") != NULL || by == NULL
                                ? json_string("Could not find owner package")
                                : json_string(by + strlen("by ")));
    }
    *ret_value = json_incref(json_object_size(ret) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                        : ret);
    return 0;
}

/* ---- available -------------------------------------------------------------------------------- */

int
apk_refresh_db(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *out = apk(ctx, 0, NULL, err, "update", NULL);

    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0) {
        json_auto_t *info = json_pack("{s:[O], s:b}", "errors", value_get(out, "stdout"), "changes", 0);
        return pkg_fail_info(err, "Problem encountered installing package(s)", info);
    }
    *ret_value = json_true();
    return 0;
}

static int
refresh_if(call_ctx_t *ctx, bool wanted, fail_t *err)
{
    json_auto_t *done = NULL;

    return wanted ? apk_refresh_db(ctx, NULL, &done, err) : 0;
}

/* {name: new version} of the lines "(1/2) Upgrading NAME (1.0-r0 -> 1.1-r0)". NEW. */
static json_t *
upgrades_in(const char *printed)
{
    AUTO_FREE char *text = xstrdup(printed);
    json_t *ret = json_object();

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " ", false);
        if (strstr(line, "Upgrading") != NULL && strv_len(words) >= 6)
            json_object_set_new(ret, words[2], json_stringn(words[5], strcspn(words[5], ")")));
        strv_free(words);
    }
    return ret;
}

int
apk_list_upgrades(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (refresh_if(ctx, pkg_arg_true(args, "refresh"), err) < 0)
        return err->code;
    json_auto_t *out = apk(ctx, 0, NULL, err, "upgrade", "-s", NULL);
    if (out == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0)
        return fail_kind(err, FAIL_COMMAND, -EREMOTEIO, "%s%s", value_str(out, "stderr", ""),
                         value_str(out, "stdout", ""));
    *ret_value = upgrades_in(value_str(out, "stdout", ""));
    return 0;
}

/* The version that repositories have of a package, "" when it is installed. NEW, or NULL with *err. */
static json_t *
searched(call_ctx_t *ctx, const char *name, const char *installed, fail_t *err)
{
    json_auto_t *one = json_pack("[s]", name), *out = apk(ctx, 0, one, err, "search", NULL);
    json_t *ret = out != NULL ? json_string("") : NULL;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));

    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        char *version = cut_version(line);
        if (version == NULL || !str_eq(line, name))
            continue;
        json_decref(ret);
        ret = json_string(str_eq(version, installed) ? "" : version);
    }
    return ret;
}

int
apk_latest_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "names"), *refresh = value_get(value_get(args, "kwargs"), "refresh"), *v;
    json_auto_t *ret = json_object();
    size_t i;

    if (json_array_size(names) == 0) {
        *ret_value = json_string("");
        return 0;
    }
    json_auto_t *have = apk_versions(ctx, NULL, err);
    if (have == NULL || refresh_if(ctx, refresh == NULL || pkg_true(refresh), err) < 0)
        return err->code;
    json_auto_t *out = apk(ctx, 0, NULL, err, "upgrade", "-s", NULL);
    if (out == NULL)
        return err->code;
    json_auto_t *upgrades = upgrades_in(value_str(out, "stdout", ""));
    json_array_foreach (names, i, v) {
        AUTO_FREE char *name = value_pystr(v);
        json_t *known = value_get(upgrades, name);
        json_t *version = known != NULL ? json_incref(known)
                                        : searched(ctx, name, value_str(have, name, NULL), err);
        if (version == NULL)
            return err->code;
        json_object_set_new(ret, name, version);
    }
    *ret_value = json_incref(json_array_size(names) == 1 ? json_object_iter_value(json_object_iter(ret))
                                                         : ret);
    return 0;
}

int
apk_upgrade_available(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *latest = NULL, *call = json_pack("{s:[O], s:O}", "names", value_get(args, "name"), "kwargs",
                                                  value_get(args, "kwargs"));
    int rc = apk_latest_version(ctx, call, &latest, err);

    if (rc == 0)
        *ret_value = json_boolean(*json_string_value(latest) != '\0');
    return rc;
}

/* ---- install, upgrade, remove ----------------------------------------------------------------- */

/* The names of a call: "a,b", and those of `pkgs`, of which one in a dict stands for its key. NEW list. */
static json_t *
names_of(const json_t *args, bool both)
{
    json_t *pkgs = value_get(args, "pkgs"), *ret = json_array(), *v;
    bool named = value_truthy(value_get(args, "name")) && (both || !value_truthy(pkgs));
    json_auto_t *own = named ? pkg_words(value_get(args, "name")) : json_array();
    size_t i;

    json_array_extend(ret, own);
    json_array_foreach (pkgs, i, v) {
        AUTO_FREE char *name = json_is_object(v) ? xstrdup(json_object_iter_key(json_object_iter(v)))
                                                 : value_pystr(v);
        json_array_append_new(ret, json_string(name));
    }
    return ret;
}

/* What changed since `old`. NEW, or NULL with *err. */
static json_t *
apk_changes(call_ctx_t *ctx, const json_t *old, fail_t *err)
{
    json_object_del(ctx_context(ctx), CONTEXT_KEY);
    json_auto_t *now = apk_versions(ctx, NULL, err);

    return now != NULL ? pkg_changes(old, now) : NULL;
}

static int
apk_finish(call_ctx_t *ctx, const json_t *old, const json_t *out, const char *failure, json_t **ret_value,
           fail_t *err)
{
    json_auto_t *changes = apk_changes(ctx, old, err);

    if (changes == NULL)
        return err->code;
    if (value_int(out, "retcode", 0) != 0 && *value_str(out, "stderr", "") != '\0') {
        json_auto_t *info = json_pack("{s:[O], s:O}", "errors", value_get(out, "stderr"), "changes", changes);
        return pkg_fail_info(err, failure, info);
    }
    *ret_value = STEAL(changes);
    return 0;
}

int
apk_install(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = names_of(args, false), *old = apk_versions(ctx, NULL, err);
    bool upgrade = false;
    json_t *v;
    size_t i;

    if (old == NULL)
        return err->code;
    if (value_truthy(value_get(args, "sources")))
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP,
                         "Action \"sources\" is not supported by apk: name packages");
    if (json_array_size(names) == 0) {
        *ret_value = json_object();
        return 0;
    }
    if (refresh_if(ctx, pkg_arg_true(args, "refresh"), err) < 0)
        return err->code;
    json_array_foreach (names, i, v)
        upgrade = upgrade || value_get(old, json_string_value(v)) != NULL;
    json_auto_t *out = apk(ctx, 0, names, err, "add", upgrade ? "-u" : NULL, NULL);
    return out != NULL
               ? apk_finish(ctx, old, out, "Problem encountered installing package(s)", ret_value, err)
               : err->code;
}

int
apk_uninstall(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool purge = str_eq(ctx_row(ctx)->name, "purge") || value_truthy(value_get(args, "purge"));
    json_auto_t *names = names_of(args, true), *old = apk_versions(ctx, NULL, err);

    if (old == NULL)
        return err->code;
    if (json_array_size(names) == 0) {
        *ret_value = json_object();
        return 0;
    }
    json_auto_t *out = apk(ctx, 0, names, err, "del", purge ? "--purge" : NULL, NULL);
    return out != NULL ? apk_finish(ctx, old, out, "Problem encountered removing package(s)", ret_value, err)
                       : err->code;
}

/* {"changes", "result", "comment"}, as Salt's module for apk has it. */
int
apk_upgrade(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *names = names_of(args, false);

    if (refresh_if(ctx, pkg_arg_true(args, "refresh"), err) < 0)
        return err->code;
    json_auto_t *old = apk_versions(ctx, NULL, err);
    json_auto_t *out = old == NULL                  ? NULL
                       : json_array_size(names) > 0 ? apk(ctx, TOOL_MERGE, names, err, "add", "-u", NULL)
                                                    : apk(ctx, TOOL_MERGE, NULL, err, "upgrade", NULL);
    json_t *changes = out != NULL ? apk_changes(ctx, old, err) : NULL;
    if (changes == NULL)
        return err->code;
    bool ok = value_int(out, "retcode", 0) == 0;
    *ret_value = json_pack("{s:o, s:b, s:s}", "changes", changes, "result", ok, "comment",
                           ok ? "" : value_str(out, "stdout", ""));
    return 0;
}
