/* aptinfo.c - pkg.file_list, file_dict, owner, info_installed, show and lowpkg.info: what is known about
 * packages, from dpkg's own files (dpkg.h) and, for show, from apt-cache. Patterns are dpkg's. */
#include "common/base/buf.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"

/* ---- picking installed packages ------------------------------------------------------------ */

int
apt_pick(dpkg_t *db, const json_t *patterns, apt_pick_fn *fn, void *cookie, char **ret_missing)
{
    buf_auto_t missing = BUF_INIT;
    size_t n = json_array_size(patterns);
    bool *found = xcalloc(n, sizeof(*found));
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < dpkg_count(db); i++) {
        const dpkg_pkg_t *pkg = dpkg_at(db, i);
        bool wanted = n == 0;
        for (size_t k = 0; k < n; k++) {
            AUTO_FREE char *pattern = value_pystr(json_array_get(patterns, k));
            bool here = dpkg_match(db, pkg, pattern);
            found[k] = found[k] || here;
            wanted = wanted || here;
        }
        rc = wanted ? fn(db, pkg, cookie) : 0;
    }
    for (size_t k = 0; k < n; k++) {
        AUTO_FREE char *pattern = value_pystr(json_array_get(patterns, k));
        if (!found[k] && !dpkg_mentioned(db, pattern))
            buf_printf(&missing, "%sdpkg-query: no packages found matching %s", missing.len > 0 ? "\n" : "",
                       pattern);
    }
    *ret_missing = missing.len > 0 ? buf_steal(&missing) : NULL;
    free(found);
    return rc;
}

/* ---- files --------------------------------------------------------------------------------- */

static int
pick_names(dpkg_t *db, const dpkg_pkg_t *pkg, void *cookie)
{
    AUTO_FREE char *name = dpkg_binary_name(pkg);

    if (dpkg_installed(pkg))
        json_object_set_new(cookie, name, dpkg_files(db, pkg));
    return 0;
}

/* {name: [lines]}; or with *ret_text set to what Salt returns in its place. */
static json_t *
files_by_name(const json_t *patterns, json_t **ret_text, fail_t *err)
{
    AUTO(dpkg) db = apt_dpkg(err);
    AUTO_FREE char *missing = NULL;

    *ret_text = NULL;
    if (db == NULL)
        return NULL;
    json_t *ret = json_object();
    (void) apt_pick(db, patterns, pick_names, ret, &missing);
    if (missing != NULL)
        *ret_text = value_fmt("Error:  %s", missing);
    return ret;
}

/* All lines once, sorted. NEW. */
static json_t *
aptinfo_merged(const json_t *by_name)
{
    const char **all = NULL, *name;
    size_t n = 0, i;
    json_t *files, *file, *ret = json_array();

    json_object_foreach ((json_t *) by_name, name, files) {
        all = xrealloc(all, (n + json_array_size(files) + 1) * sizeof(*all));
        json_array_foreach (files, i, file)
            all[n++] = json_string_value(file);
    }
    if (n > 1)
        qsort(all, n, sizeof(*all), str_by_text);
    for (i = 0; i < n; i++) {
        if (i == 0 || strcmp(all[i], all[i - 1]) != 0)
            json_array_append_new(ret, json_string(all[i]));
    }
    free(all);
    return ret;
}

int
apt_file_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *text;
    json_auto_t *by_name = files_by_name(value_get(args, "packages"), &text, err);

    if (by_name == NULL)
        return err->code;
    *ret_value = text != NULL ? text : json_pack("{s:[], s:o}", "errors", "files", aptinfo_merged(by_name));
    return 0;
}

/* {name: [paths]} of installed packages. */
int
apt_file_dict(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *text;
    json_auto_t *by_name = files_by_name(value_get(args, "packages"), &text, err);

    if (by_name == NULL)
        return err->code;
    *ret_value = text != NULL ? text : json_pack("{s:[], s:O}", "errors", "packages", by_name);
    return 0;
}

/* One path gives a text, several a dict. */
int
apt_owner(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object();
    json_t *paths = value_get(args, "paths"), *v;
    AUTO(dpkg) db = apt_dpkg(err);
    size_t i;

    if (db == NULL)
        return err->code;
    json_array_foreach (paths, i, v) {
        AUTO_FREE char *path = value_pystr(v);
        AUTO_FREE char *owner = dpkg_owner(db, path);
        json_object_set_new(ret, path, json_string(owner));
    }
    if (json_array_size(paths) == 0)
        *ret_value = json_string("");
    else if (json_object_size(ret) == 1)
        *ret_value = json_incref(json_object_iter_value(json_object_iter(ret)));
    else
        *ret_value = STEAL(ret);
    return 0;
}

/* ---- info, info_installed ------------------------------------------------------------------ */

static void
aptinfo_set_text(json_t *info, const char *key, const char *text)
{
    if (text != NULL && *text != '\0')
        json_object_set_new(info, key, value_utf8(text, strlen(text)));
}

/* dpkg's db:Status-Abbrev without its blanks: a letter for what is wanted, one for what is. */
static void
aptinfo_set_status(json_t *info, const dpkg_pkg_t *pkg)
{
    char want = str_eq(pkg->want, "deinstall") ? 'r' : *pkg->want,
         is = str_eq(pkg->status, "half-configured")  ? 'F'
              : str_eq(pkg->status, "half-installed") ? 'H'
              : str_eq(pkg->status, "unpacked")       ? 'U'
              : str_starts(pkg->status, "triggers-a") ? 'W'
                                                      : *pkg->status;

    json_object_set_new(info, "status",
                        value_fmt("%c%c%s", want, is, str_eq(pkg->eflag, "reinstreq") ? "R" : ""));
}

/* lowpkg's names for the fields of the status file; missing fields are left out. NEW. */
static json_t *
aptinfo_info_of(const dpkg_t *db, const dpkg_pkg_t *pkg)
{
    static const char *const fields[][2] = {
        { "maintainer", "Maintainer" },
        { "section", "Section" },
        { "size", "Size" },
        { "MD5", "MD5sum" },
        { "SHA1", "SHA1" },
        { "SHA256", "SHA256" },
        { "origin", "Origin" },
        { "homepage", "Homepage" },
    };
    AUTO_FREE char *description = dpkg_field(pkg, "Description");
    AUTO_FREE char *license = dpkg_license(db, pkg);
    const char *text = description != NULL ? description : "";
    json_t *info = json_object();

    AUTO_FREE char *source = dpkg_field(pkg, "Source");
    int64_t at = dpkg_installed_at(db, pkg->name);
    time_t seconds = (time_t) at;
    struct tm tm;
    char date[32];

    aptinfo_set_text(info, "package", pkg->name);
    /* dpkg keeps no date: the time of its list of the package's files, in UTC. */
    if (at >= 0 && gmtime_r(&seconds, &tm) != NULL &&
        strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
        json_object_set_new(info, "install_date", json_string(date));
    aptinfo_set_text(info, "architecture", pkg->arch);
    /* The name of "name (version)"; the package's own when it has no Source. */
    if (source != NULL)
        source[strcspn(source, " (")] = '\0';
    aptinfo_set_text(info, "source", source != NULL ? source : pkg->name);
    aptinfo_set_text(info, "version", pkg->version);
    for (size_t i = 0; i < NELEMS(fields); i++) {
        AUTO_FREE char *value = dpkg_field(pkg, fields[i][1]);
        if (value != NULL)
            aptinfo_set_text(info, fields[i][0], str_trim(value));
    }
    aptinfo_set_status(info, pkg);
    AUTO_FREE char *ended = xasprintf("%s\n", text);
    json_object_set_new(info, "description", value_utf8(ended, strlen(ended)));
    aptinfo_set_text(info, "license", license);
    return info;
}

/* The names of all package managers in the place of lowpkg's. NEW. */
static json_t *
aptinfo_common_of(const json_t *low)
{
    static const char *const names[][2] = {
        { "package", "name" },        { "origin", "vendor" }, { "section", "group" },
        { "maintainer", "packager" }, { "homepage", "url" },
    };
    json_t *info = json_object(), *v;
    const char *key;

    json_object_foreach ((json_t *) low, key, v) {
        const char *name = key;
        for (size_t i = 0; i < NELEMS(names); i++)
            if (str_eq(names[i][0], key))
                name = names[i][1];
        if (!str_eq(key, "status"))
            json_object_set(info, name, v);
    }
    return info;
}

static int
pick_low(dpkg_t *db, const dpkg_pkg_t *pkg, void *cookie)
{
    json_object_set_new(cookie, pkg->name, aptinfo_info_of(db, pkg));
    return 0;
}

static int
pick_info(dpkg_t *db, const dpkg_pkg_t *pkg, void *cookie)
{
    /* The second letter of dpkg's "ii ": the state says "installed". */
    if (dpkg_installed(pkg)) {
        json_auto_t *low = aptinfo_info_of(db, pkg);
        json_object_set_new(cookie, pkg->name, aptinfo_common_of(low));
    }
    return 0;
}

/* Unknown keywords are errors, but for those that begin with "__". */
static int
refuse_kwargs(const json_t *kwargs, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) kwargs, key, v) {
        AUTO_FREE char *shown = value_pystr(v);
        if (str_starts(key, "__"))
            continue;
        buf_printf(&text, "%s%s=%s", text.len > 0 ? ", " : "", key, shown);
    }
    return text.len > 0 ? fail_kind(err, FAIL_INVOCATION, -EINVAL,
                                    "The following keyword arguments are not valid: %s", buf_str(&text))
                        : 0;
}

/* A pattern without a package empties the return, or is an error with failhard. */
static int
aptinfo_all(const json_t *args, const char *names, apt_pick_fn *pick, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *missing = NULL;
    AUTO(dpkg) db = apt_dpkg(err);
    json_auto_t *ret = json_object();
    int rc = refuse_kwargs(value_get(args, "kwargs"), err);

    if (rc < 0)
        return rc;
    if (db == NULL)
        return err->code;
    (void) apt_pick(db, value_get(args, names), pick, ret, &missing);
    if (missing != NULL && value_truthy(value_get(args, "failhard")))
        return fail_kind(err, FAIL_COMMAND, -ENOENT, "Error getting packages information: %s", missing);
    if (missing != NULL)
        json_object_clear(ret);
    *ret_value = STEAL(ret);
    return 0;
}

int
apt_info_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return aptinfo_all(args, "names", pick_info, ret_value, err);
}

int
apt_low_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return aptinfo_all(args, "packages", pick_low, ret_value, err);
}

/* ---- show ---------------------------------------------------------------------------------- */

/* The keys to keep, in lower case; empty for all. NEW. */
static json_t *
aptinfo_filter_of(const json_t *v)
{
    json_t *keys = json_object();
    char **words = NULL;

    for (size_t i = 0; i < json_array_size(v); i++) {
        AUTO_FREE char *key = value_pystr(json_array_get(v, i));
        for (char *p = key; *p != '\0'; p++)
            *p = *p >= 'A' && *p <= 'Z' ? (char) (*p + 32) : *p;
        json_object_set_new(keys, key, json_true());
    }
    if (json_is_array(v) || v == NULL)
        return keys;
    AUTO_FREE char *text = value_pystr(v);
    for (char *p = text; *p != '\0'; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char) (*p + 32) : *p;
    words = str_split(text, ",", false);
    for (size_t i = 0; words[i] != NULL; i++)
        json_object_set_new(keys, str_trim(words[i]), json_true());
    strv_free(words);
    return keys;
}

/* {name: {version: info}}, from one paragraph. */
static void
aptinfo_add_paragraph(json_t *ret, json_t *info)
{
    json_auto_t *name = json_incref(json_object_get(info, "Package"));
    json_auto_t *version = json_incref(json_object_get(info, "Version"));

    json_object_del(info, "Package");
    json_object_del(info, "Version");
    if (name != NULL && version != NULL) {
        json_t *versions = json_object_get(ret, json_string_value(name));
        if (versions == NULL) {
            versions = json_object();
            json_object_set_new(ret, json_string_value(name), versions);
        }
        json_t *have = json_object_get(versions, json_string_value(version));
        if (have == NULL) {
            have = json_object();
            json_object_set_new(versions, json_string_value(version), have);
        }
        json_object_update(have, info);
    }
    json_object_clear(info);
}

/* {name: {version: info}} from apt-cache's paragraphs. NEW. Lines of a description have no colon, or become
 * members of its first word, as in Salt. */
static json_t *
paragraphs(const char *text, const json_t *filter)
{
    AUTO_FREE char *copy = xstrdup(text);
    json_auto_t *info = json_object();
    json_t *ret = json_object();

    for (char *at = copy, *line; (line = line_next(&at)) != NULL;) {
        line = str_trim(line);
        char *colon = strchr(line, ':');
        if (*line == '\0') {
            aptinfo_add_paragraph(ret, info);
        } else if (colon != NULL) {
            *colon = '\0';
            char *value = str_trim(colon + 1), *key = str_trim(line);

            /* "package" and "version" are always kept, as they become the keys. */
            AUTO_FREE char *lower = xstrdup(key);

            for (char *p = lower; *p != '\0'; p++)
                *p = *p >= 'A' && *p <= 'Z' ? (char) (*p + 32) : *p;
            if (json_object_size(filter) == 0 || str_eq(lower, "package") || str_eq(lower, "version") ||
                json_object_get(filter, lower) != NULL)
                json_object_set_new(info, key, value_utf8(value, strlen(value)));
        }
    }
    aptinfo_add_paragraph(ret, info);
    return ret;
}

/* Every version that apt-cache knows, by name and version. */
int
apt_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *names = value_get(args, "names");
    json_auto_t *filter = aptinfo_filter_of(pkg_arg(args, "filter"));
    prog_auto_t prog = PROG_INIT;
    int rc = refuse_kwargs(value_get(args, "kwargs"), err);

    if (rc < 0)
        return rc;
    if (value_truthy(value_get(args, "refresh"))) {
        json_auto_t *done = apt_refresh(ctx, NULL, false, err);
        if (done == NULL)
            return err->code;
    }
    if (json_array_size(names) == 0) {
        *ret_value = json_object();
        return 0;
    }
    apt_prog(ctx, &prog, false);
    prog_adds(&prog, "apt-cache", "show", NULL);
    if (prog_operands(&prog, "names", names, err) < 0)
        return err->code;
    json_auto_t *out = apt_run(&prog, err);
    if (out == NULL)
        return err->code;
    *ret_value = paragraphs(value_str(out, "stdout", ""), filter);
    return 0;
}
