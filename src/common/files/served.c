/* served.c - helpers that backends of the file server share: clean paths, an opened file with its data,
 * lists. */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/files/backend.h"
#include "common/files/fileserver.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* ---- paths ----------------------------------------------------------------------------------- */

/* In place: `kept` counts the parts that stay at the front of the array. */
char *
files_flatten(const char *path)
{
    buf_auto_t out = BUF_INIT;
    char **parts = str_split(path, "/", true);
    size_t kept = 0;
    bool absolute = *path == '/';
    for (size_t i = 0; parts[i]; i++) {
        bool up = str_eq(parts[i], "..");
        if (str_eq(parts[i], ".") || (up && absolute && kept == 0))
            continue;
        if (up && kept > 0 && !str_eq(parts[kept - 1], ".."))
            kept--;
        else {
            char *part = parts[i];
            parts[i] = parts[kept];
            parts[kept++] = part;
        }
    }
    for (size_t i = 0; i < kept; i++)
        buf_printf(&out, "%s%s", i > 0 || absolute ? "/" : "", parts[i]);
    if (kept == 0)
        buf_puts(&out, absolute ? "/" : ".");
    strv_free(parts);
    return buf_steal(&out);
}

/* False for a path that is absolute, or climbs above its start. */
bool
files_is_below(const char *path)
{
    if (*path == '\0' || *path == '/' || strlen(path) >= PATH_MAX)
        return false;
    for (const char *p = path; p; p = strchr(p, '/')) {
        p += *p == '/';
        if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == '\0'))
            return false;
    }
    return true;
}

/* ---- what minions sent ------------------------------------------------------------------------ */

static _Thread_local uint64_t n_sent;

uint64_t
files_sent(void)
{
    return n_sent;
}

void
files_note_sent(void)
{
    n_sent++;
}

/* ---- what was found -------------------------------------------------------------------------- */

void
served_clear(served_t *self)
{
    if (self->fd >= 0)
        (void) close(self->fd);
    free(self->path);
    *self = (served_t) SERVED_INIT;
}

/* TAKES descriptor and path, also on failure. -ENOENT for what is no regular file. */
int
served_take(served_t *self, int *fd_p, char **path_p, fail_t *err)
{
    struct stat st;
    served_clear(self);
    self->fd = *fd_p;
    *fd_p = -1;
    self->path = STEAL(*path_p);
    int rc = fstat(self->fd, &st) != 0 ? fs_fail(err, -errno, "look at", self->path)
             : S_ISREG(st.st_mode)     ? 0
                                       : -ENOENT;
    if (rc < 0) {
        served_clear(self);
        return rc;
    }
    self->dev = st.st_dev;
    self->ino = st.st_ino;
    self->size = st.st_size;
    self->mode = st.st_mode;
    self->mtime_ns = st.st_mtim.tv_sec * 1000000000LL + st.st_mtim.tv_nsec;
    self->ctime_ns = st.st_ctim.tv_sec * 1000000000LL + st.st_ctim.tv_nsec;
    return 0;
}

int
file_lists_add(file_lists_t *self, json_t *set, const char *path, fail_t *err)
{
    if (json_object_get(set, path) != NULL)
        return 0;
    if (self->n >= LIMIT_FILE_LIST)
        return fail_set(err, -E2BIG, "an environment has more than %d files and folders", LIMIT_FILE_LIST);
    if (json_object_set_new(set, path, json_true()) == 0)
        self->n++;
    else
        log_debug("a file whose name is not UTF-8 can't be asked for: %s", path);
    return 0;
}
