/* rpmcache.c - package files in the caches of dnf, yum and zypper. */
#include <sys/stat.h>
#include <time.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/packages/rpm.h"

int
rpm_downloaded_in(call_ctx_t *ctx, const char *folder, json_t *found, fail_t *err)
{
    char **names = NULL;
    int rc = fs_names(folder, &names, err);

    for (char **name = names; rc >= 0 && name != NULL && *name != NULL; name++) {
        AUTO_FREE char *path = fs_join(folder, *name);
        struct stat st;
        struct tm tm;
        char text[64] = "";
        if (lstat(path, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            rc = rpm_downloaded_in(ctx, path, found, err);
            continue;
        }
        json_auto_t *info = str_ends(*name, ".rpm") ? rpm_file_info(ctx, path, err) : json_null();
        if (info == NULL) {
            rc = err->code;
        } else if (json_is_object(info)) {
            const char *key = value_str(info, "name", "");
            if (value_get(found, key) == NULL)
                json_object_set_new(found, key, json_object());
            if (localtime_r(&st.st_ctime, &tm) != NULL)
                (void) strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
            json_object_set_new(value_get(found, key), value_str(info, "version", ""),
                                json_pack("{s:s, s:I, s:I, s:s}", "path", path, "size",
                                          (json_int_t) st.st_size, "creation_date_time_t",
                                          (json_int_t) st.st_ctime, "creation_date_time", text));
        }
    }
    strv_free(names);
    return rc < 0 ? rc : 0;
}
