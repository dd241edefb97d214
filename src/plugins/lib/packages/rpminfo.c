/* rpminfo.c - lowpkg.info: what rpm's database tells of packages, as members of an object. */
#include <limits.h>
#include <time.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/rpm.h"
#include "plugins/lib/packages/rpmver.h"

/* The members in the order in which they are asked for; the description is last, as it has several lines. */
static const char *const members[][2] = {
    { "name", "name: %{NAME}\\n" },
    { "relocations", "relocations: %|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|\\n" },
    { "version", "version: %{VERSION}\\n" },
    { "vendor", "vendor: %{VENDOR}\\n" },
    { "release", "release: %{RELEASE}\\n" },
    { "epoch", "%|EPOCH?{epoch: %{EPOCH}\\n}|" },
    { "build_date_time_t", "build_date_time_t: %{BUILDTIME}\\n" },
    { "build_date", "build_date: %{BUILDTIME}\\n" },
    { "install_date_time_t", "install_date_time_t: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\\n" },
    { "install_date", "install_date: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\\n" },
    { "build_host", "build_host: %{BUILDHOST}\\n" },
    { "group", "group: %{GROUP}\\n" },
    { "source_rpm", "source_rpm: %{SOURCERPM}\\n" },
    { "size", "size: %{LONGSIZE}\\n" },
    { "arch", "arch: %{ARCH}\\n" },
    { "license", "%|LICENSE?{license: %{LICENSE}\\n}|" },
    { "signature",
      "signature: %|DSAHEADER?{%{DSAHEADER:pgpsig}}:{%|RSAHEADER?{%{RSAHEADER:pgpsig}}:{%|SIGGPG?{%{"
      "SIGGPG:pgpsig}}:{%|SIGPGP?{%{SIGPGP:pgpsig}}:{(none)}|}|}|}|\\n" },
    { "packager", "%|PACKAGER?{packager: %{PACKAGER}\\n}|" },
    { "url", "%|URL?{url: %{URL}\\n}|" },
    { "summary", "summary: %{SUMMARY}\\n" },
    { "edition", "edition: %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n" },
};
#define DESCRIPTION "description:\\n%{DESCRIPTION}\\n"
#define END_MARK    "-----"

/* The query for the wanted members, all when `attr` is NULL. False when none of them is known. */
static bool
query_format(const json_t *attr, buf_t *out)
{
    bool any = attr == NULL;

    for (size_t i = 0; i < NELEMS(members); i++)
        any = any || value_lists(attr, members[i][0]);
    for (size_t i = 0; any && i < NELEMS(members); i++) {
        bool always = str_eq(members[i][0], "name") || str_eq(members[i][0], "edition");
        if (attr == NULL || always || value_lists(attr, members[i][0]))
            buf_puts(out, members[i][1]);
    }
    if (attr == NULL || value_lists(attr, "description"))
        buf_puts(out, DESCRIPTION);
    buf_puts(out, END_MARK "\\n");
    return any;
}

/* Sets a member from its line "key: value". */
static void
take_member(json_t *package, const char *key, const char *value)
{
    long long number;

    if (*value == '\0' || str_eq(key, "description"))
        return;
    if (str_ends(key, "_date_time_t")) {
        if (str_to_int(value, LLONG_MIN, LLONG_MAX, &number))
            json_object_set_new(package, key, json_integer(number));
        return;
    }
    if (str_ends(key, "_date")) {
        char text[64] = "";
        struct tm tm;
        time_t when;
        if (!str_to_int(value, LLONG_MIN, LLONG_MAX, &number))
            return;
        when = (time_t) number;
        if (gmtime_r(&when, &tm) != NULL)
            (void) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
        json_object_set_new(package, key, json_string(text));
        return;
    }
    json_object_set_new(package, key, value_utf8(value, strlen(value)));
}

/* The packages of the output, each with its name. */
static json_t *
packages_in(char *text, bool described)
{
    json_t *ret = json_array(), *package = json_object();
    buf_auto_t description = BUF_INIT;
    bool describing = false;

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (str_starts(line, "----")) {
            while (description.len > 0 && strchr(" \n", description.data[description.len - 1]) != NULL)
                description.data[--description.len] = '\0';
            if (described)
                json_object_set_new(package, "description",
                                    value_utf8(buf_str(&description), description.len));
            if (value_get(package, "name") != NULL)
                json_array_append(ret, package);
            json_decref(package);
            package = json_object();
            buf_clear(&description);
            describing = false;
        } else if (describing) {
            buf_printf(&description, "%s%s", description.len > 0 ? "\n" : "", line);
        } else {
            char *value = line_value(line, ':');
            describing = value != NULL && str_eq(line, "description");
            if (value != NULL)
                take_member(package, line, value);
        }
    }
    json_decref(package);
    return ret;
}

/* Epoch, version and release, by which packages of one name are ordered. */
static const char *
edition_of(const json_t *package)
{
    return value_str(package, "edition", "");
}

/* {name: members}, of the newest of each name; with `all` lists of them. */
static json_t *
by_name(const json_t *packages, bool all)
{
    json_t *ret = json_object(), *package;
    json_auto_t *sorted = json_array();
    size_t i, k;

    json_array_foreach (packages, i, package) {
        for (k = 0; k < json_array_size(sorted); k++) {
            if (rpmver_cmp(edition_of(package), edition_of(json_array_get(sorted, k)), false) > 0)
                break;
        }
        json_array_insert(sorted, k, package);
    }
    json_array_foreach (sorted, i, package) {
        AUTO_FREE char *name = xstrdup(value_str(package, "name", ""));
        json_object_del(package, "name");
        if (str_starts(name, "gpg-pubkey") || (!all && value_get(ret, name) != NULL))
            continue;
        if (!all)
            json_object_del(package, "edition");
        if (all)
            pkg_add(ret, name, json_incref(package));
        else
            json_object_set(ret, name, package);
    }
    return ret;
}

/* A single query for all names, with the members as lines. */
json_t *
rpm_info(call_ctx_t *ctx, const json_t *names, const json_t *kwargs, fail_t *err)
{
    const char *wish = value_str(kwargs, "attr", "");
    json_auto_t *attr = *wish != '\0' ? pkg_words(value_get(kwargs, "attr")) : NULL;
    buf_auto_t format = BUF_INIT;
    prog_auto_t prog = PROG_INIT;

    if (!query_format(attr, &format)) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "No valid attributes found.");
        return NULL;
    }
    if (rpm_begin(&prog, kwargs, err) < 0)
        return NULL;
    prog_env(&prog, "TZ=UTC");
    prog_add(&prog, json_array_size(names) > 0 ? "-q" : "-qa");
    if (prog_operands(&prog, "packages", names, err) < 0)
        return NULL;
    prog_adds(&prog, "--queryformat", buf_str(&format), NULL);
    AUTO_FREE char *text = rpm_text(ctx, &prog, TOOL_QUIET, err);
    if (text == NULL)
        return NULL;
    json_auto_t *packages = packages_in(text, attr == NULL || value_lists(attr, "description"));
    return by_name(packages, value_truthy(value_get(kwargs, "all_versions")));
}

int
rpm_info_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = rpm_info(ctx, value_get(args, "packages"), value_get(args, "kwargs"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* pkg.info_installed: the same, with the source package as `source`. */
int
rpm_info_installed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *info = rpm_info(ctx, value_get(args, "names"), value_get(args, "kwargs"), err);
    json_t *ret = json_object(), *found, *v;
    const char *name, *key;
    size_t i;

    if (info == NULL) {
        json_decref(ret);
        return err->code;
    }
    json_object_foreach (info, name, found) {
        bool list = json_is_array(found);
        for (i = 0; i < (list ? json_array_size(found) : 1); i++) {
            json_t *one = json_object();
            json_object_foreach (list ? json_array_get(found, i) : found, key, v)
                json_object_set(one, str_eq(key, "source_rpm") ? "source" : key, v);
            if (list)
                pkg_add(ret, name, one);
            else
                json_object_set_new(ret, name, one);
        }
    }
    *ret_value = ret;
    return 0;
}
