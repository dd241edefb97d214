/* yumfiles.c - package files that are fetched to look at, differences to them, advisories, and services that
 * run on files that were replaced. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "common/match/regex.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/packages/yum.h"
#include "salt/log.h"

#define DOWNLOADS "/var/cache/yum/packages"

/* ---- download --------------------------------------------------------------------------------- */

/* {package: path} of what is in the folder; with `remove` it is removed. */
static int
each_download(const json_t *packages, bool remove, json_t *found, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(DOWNLOADS, &names, err);

    for (char **name = names; rc >= 0 && name != NULL && *name != NULL; name++) {
        /* "NAME-VERSION...": the name among those that were asked for. */
        const char *package = NULL;
        for (size_t i = 0; package == NULL && i < json_array_size(packages); i++) {
            const char *one = json_string_value(json_array_get(packages, i));
            package = strncmp(*name, one, strlen(one)) == 0 && (*name)[strlen(one)] == '-' ? one : NULL;
        }
        AUTO_FREE char *path = fs_join(DOWNLOADS, *name);
        if (package != NULL && remove && unlink(path) < 0)
            log_error("Unable to remove %s: %s", path, strerror(errno));
        else if (package != NULL && !remove && str_ends(*name, ".rpm"))
            json_object_set_new(found, package, json_string(path));
    }
    strv_free(names);
    return rc < 0 ? rc : 0;
}

/* {package: path}. NEW, or NULL with *err. */
static json_t *
yumfiles_download(call_ctx_t *ctx, const json_t *packages, fail_t *err)
{
    json_auto_t *found = json_object(), *missing = json_array();
    prog_auto_t prog = PROG_INIT;
    json_t *v;
    size_t i;

    if (tool_need("yumdownloader", err) < 0 || fs_mkdirs(DOWNLOADS, 0755, err) < 0 ||
        each_download(packages, true, NULL, err) < 0 || tool_begin(&prog, "yumdownloader", err) < 0)
        return NULL;
    prog_env(&prog, "SALT_RUNNING=1");
    prog_adds(&prog, "-q", "--destdir=" DOWNLOADS, NULL);
    if (prog_operands(&prog, "packages", packages, err) < 0)
        return NULL;
    json_auto_t *out = tool_run(ctx, &prog, 0, err);
    if (out == NULL || each_download(packages, false, found, err) < 0)
        return NULL;
    json_array_foreach (packages, i, v) {
        if (value_get(found, json_string_value(v)) == NULL)
            json_array_append(missing, v);
    }
    AUTO_FREE char *names = value_joined(missing, ", ");
    if (json_object_size(found) == 0) {
        fail_kind(err, FAIL_COMMAND, -ENOENT, "Unable to download any of the following packages: %s", names);
        return NULL;
    }
    if (json_array_size(missing) > 0)
        json_object_set_new(found, "_error",
                            value_fmt("The following package(s) failed to download: %s", names));
    return STEAL(found);
}

int
yum_download(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (json_array_size(value_get(args, "packages")) == 0)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "No packages were specified");
    *ret_value = yumfiles_download(ctx, value_get(args, "packages"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Packages are fetched once for all of their files. */
int
yum_diff(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *ret = json_object(), *owners = json_object(), *files = NULL;
    json_t *paths = value_get(args, "paths"), *v;
    const char *path;
    size_t i;

    json_array_foreach (paths, i, v) {
        AUTO_FREE char *text = value_pystr(v);
        AUTO_FREE char *owner = rpm_owner_of(ctx, text, NULL, err);
        if (owner == NULL)
            return err->code;
        if (*owner != '\0')
            json_object_set_new(owners, text, json_string(owner));
        else
            json_object_set_new(ret, text, json_string(fs_absent(text) ? "N/A" : "Not managed"));
    }
    if (json_object_size(owners) > 0) {
        json_auto_t *packages = json_array();
        json_object_foreach (owners, path, v)
            if (!value_has(packages, v))
                json_array_append(packages, v);
        if ((files = yumfiles_download(ctx, packages, err)) == NULL)
            return err->code;
    }
    json_object_foreach (owners, path, v) {
        const char *file = value_str(files, json_string_value(v), NULL);
        AUTO_FREE char *text = file != NULL ? rpm_difference(ctx, file, path, err) : NULL;
        if (text == NULL)
            return file == NULL ? fail_kind(err, FAIL_COMMAND, -ENOENT, "%s", value_str(files, "_error", ""))
                                : err->code;
        json_object_set_new(ret, path, json_string(*text != '\0' ? text : "Unchanged"));
    }
    *ret_value = STEAL(ret);
    return 0;
}

/* ---- advisories ------------------------------------------------------------------------------- */

/* A patch counts as installed when all of its packages are. Lines of another shape are logged and left
 * out. */
json_t *
yum_patches(call_ctx_t *ctx, bool installed_only, fail_t *err)
{
    AUTO(rx) rx = rx_new("([i|\\s]) ([^\\s]+) +([^\\s]+) +([^\\s]+)", 0, err);
    AUTO_FREE char *text = rx != NULL ? yum_stdout(ctx, err, "--quiet", "updateinfo", "list", "all", NULL)
                                      : NULL;
    json_t *ret = text != NULL ? json_object() : NULL, *patch;
    const char *name;
    void *next;

    for (char *at = text, *line; ret != NULL && (line = line_next(&at)) != NULL;) {
        if (rx_match(rx, line, strlen(line), 0, NULL) <= 0) {
            if (*line != '\0')
                log_warning("Skipped some unexpected output of updateinfo: %s", line);
            continue;
        }
        AUTO_FREE char *id = rx_group_text(rx, line, 2);
        AUTO_FREE char *package = rx_group_text(rx, line, 4);
        patch = value_get(ret, id);
        if (patch == NULL) {
            patch = json_pack("{s:b, s:[]}", "installed", 1, "summary");
            json_object_set_new(ret, id, patch);
        }
        json_array_append_new(value_get(patch, "summary"), json_string(package));
        if (*line != 'i')
            json_object_set_new(patch, "installed", json_false());
    }
    json_object_foreach_safe (ret, next, name, patch) {
        if (installed_only && !value_truthy(value_get(patch, "installed")))
            json_object_del(ret, name);
    }
    return ret;
}

int
yum_list_patches(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *done = NULL;

    if (value_truthy(value_get(args, "refresh")) && yum_refresh(ctx, NULL, true, &done, err) < 0)
        return err->code;
    *ret_value = yum_patches(ctx, str_eq(ctx_row(ctx)->name, "list_installed_patches"), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* ---- services --------------------------------------------------------------------------------- */

/* dnf prints processes, "PID : command"; the control group tells whose service one is. */
int
yum_services_need_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!yum_is_dnf())
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "dnf is required to list outdated services.");
    int booted = fs_look("/run/systemd/system", err);
    if (booted < 0)
        return booted;
    if (booted == 0)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "systemd is required to list outdated services.");
    AUTO_FREE char *text = yum_stdout(ctx, err, "--quiet", "needs-restarting", NULL);
    if (text == NULL)
        return err->code;
    *ret_value = json_array();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *colon = strchr(line, ':');
        if (colon == NULL)
            continue;
        *colon = '\0';
        AUTO_FREE char *service = pkg_service_of(str_trim(line));
        if (service != NULL && !value_lists(*ret_value, service))
            json_array_append_new(*ret_value, json_string(service));
    }
    return 0;
}

/* ---- the cache -------------------------------------------------------------------------------- */

/* The packages in the cache of the program that runs here. */
json_t *
yum_downloaded(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *folder = xasprintf("/var/cache/%s", yum_bin() != NULL ? yum_bin() : "dnf");
    json_auto_t *found = json_object();

    return rpm_downloaded_in(ctx, folder, found, err) < 0 ? NULL : STEAL(found);
}

int
yum_list_downloaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = yum_downloaded(ctx, err);
    return *ret_value != NULL ? 0 : err->code;
}
