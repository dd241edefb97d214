/* aptcache.c - pkg.list_downloaded: package files in apt's cache; pkg.services_need_restart: services that
 * still use files which packages replaced, by checkrestart. */
#include <sys/stat.h>

#include "common/base/fs.h"
#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "plugins/lib/apt/apt.h"

#define CACHE_DIR "/var/cache/apt"

/* ---- list_downloaded ----------------------------------------------------------------------- */

static int
aptcache_add_file(call_ctx_t *ctx, const char *path, const struct stat *st, json_t *ret, fail_t *err)
{
    json_auto_t *info = apt_deb_info(ctx, path, err);
    char text[32] = "";
    struct tm tm;

    if (info == NULL)
        return err->code;
    if (gmtime_r(&st->st_ctime, &tm) != NULL)
        (void) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    json_t *versions = json_object_get(ret, value_str(info, "name", ""));
    if (versions == NULL) {
        versions = json_object();
        json_object_set_new(ret, value_str(info, "name", ""), versions);
    }
    json_object_set_new(versions, value_str(info, "version", ""),
                        json_pack("{s:s, s:I, s:I, s:s}", "path", path, "size", (json_int_t) st->st_size,
                                  "creation_date_time_t", (json_int_t) st->st_ctime, "creation_date_time",
                                  text));
    return 0;
}

/* Follows no link to a folder. */
static int
aptcache_walk(call_ctx_t *ctx, const char *dir, json_t *ret, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(dir, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(dir, names[i]);
        struct stat st;
        if (lstat(path, &st) < 0)
            rc = fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "look at", path);
        else if (S_ISDIR(st.st_mode))
            rc = aptcache_walk(ctx, path, ret, err);
        else if (str_ends(names[i], ".deb") && stat(path, &st) == 0)
            rc = aptcache_add_file(ctx, path, &st, ret, err);
    }
    strv_free(names);
    return rc;
}

int
apt_list_downloaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *root = value_str(args, "root", "");
    AUTO_FREE char *dir = *root != '\0' ? fs_join(root, &CACHE_DIR[1]) : root_path(apt_root(), CACHE_DIR);
    json_auto_t *ret = json_object();
    int rc = aptcache_walk(ctx, dir, ret, err);

    if (rc < 0)
        return rc;
    *ret_value = STEAL(ret);
    return 0;
}

/* ---- services_need_restart ----------------------------------------------------------------- */

int
apt_services_need_restart(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *tool = fs_which("checkrestart");
    json_auto_t *seen = json_object();
    const char *name;
    json_t *v;

    if (tool == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "'checkrestart' is needed. It is part of the 'debian-goodies' package which can be "
                         "installed from official repositories.");
    json_auto_t *out = apt_output(ctx, err, "checkrestart", "--machine", "--package", NULL);
    if (out == NULL)
        return err->code;
    AUTO_FREE char *text = xstrdup(value_str(out, "stdout", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        if (!str_starts(line, "SERVICE:"))
            continue;
        line[strcspn(line, ",")] = '\0';
        json_object_set_new(seen, line + strlen("SERVICE:"), json_true());
    }
    *ret_value = json_array();
    json_object_foreach (seen, name, v)
        json_array_append_new(*ret_value, json_string(name));
    return 0;
}
