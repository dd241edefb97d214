/* gitfs_sweep.c - remove files that were not requested for a month; git still has their content and can write
 * them again. */
#include "common/files/gitfs_int.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"

#define DAY_S  86400
#define KEEP_S (30 * DAY_S)
#define SWEPT  ".swept"

/* True when another sweep ran within a day, or the stamp can't be written (then nothing is removed). Sets the
 * stamp. */
static bool
is_swept(const char *stamp)
{
    struct stat st;
    fail_auto_t err = FAIL_INIT;
    if (stat(stamp, &st) == 0 && llabs((long long) time(NULL) - st.st_mtime) < DAY_S)
        return true;
    if (fs_write_quick(stamp, "", 0, 0600, &err) == 0)
        return false;
    log_warning("git: files that nobody uses any more stay: %s", fail_text(&err));
    return true;
}

void
git_blobs_forget(const git_remote_t *r)
{
    AUTO_FREE char *stamp = fs_join(r->blobs, SWEPT);
    fail_auto_t err = FAIL_INIT;
    char **names = NULL;
    time_t now = time(NULL);
    int rc = is_swept(stamp) ? 0 : fs_names(r->blobs, &names, &err);
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(r->blobs, names[i]);
        struct stat st;
        int one = lstat(path, &st) != 0 ? -errno : 0;

        /* A new file stays for a day, whatever its atime says. */
        bool old = one == 0 && S_ISREG(st.st_mode) && now - st.st_atime > KEEP_S && now - st.st_mtime > DAY_S;
        if (old && unlink(path) != 0)
            one = -errno;
        if (one < 0 && !fs_is_absence(one)) /* another process may have removed it */
            rc = fs_fail(&err, one, "remove", path);
    }
    if (rc < 0)
        log_warning("git: files that nobody uses any more stay: %s", fail_text(&err));
    strv_free(names);
}
