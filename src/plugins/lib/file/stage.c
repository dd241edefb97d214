/* stage.c - see stage.h. The staged object is made as "new" in a private folder (mkdtemp, mode 0700) beside
 * its final name, so that no other user can touch it before it is complete and rename() stays within one file
 * system. */
#include "plugins/lib/file/stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"

int
stage_open(stage_t *self, const char *name, fail_t *err)
{
    size_t n = strlen(name);

    while (n > 1 && name[n - 1] == '/')
        n--;
    self->name = xstrndup(name, n);
    int rc = partfile_find(&self->to, self->name, PARTFILE_ANY | DESTPATH_LINK, err);
    if (rc != 0)
        return rc;
    AUTO_FREE char *dir = xasprintf("/proc/self/fd/%d/.%.200s.XXXXXX", self->to.resolved.folder,
                                    fop_basename(self->name));
    if (mkdtemp(dir) == NULL)
        return fop_oserror(err, errno, self->name);
    self->dir = STEAL(dir);
    /* The folder was just made, but its name may be another's by now: who may write to the folder above can
     * have put one of his own there. One of ours is held from here on, whatever becomes of the name. */
    struct stat st, above;
    self->held = open(self->dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (self->held < 0 || fstat(self->held, &st) != 0 || fstat(self->to.resolved.folder, &above) != 0)
        rc = -errno;
    else if (st.st_uid != geteuid() && above.st_uid != geteuid())
        rc = -ESTALE;
    self->path = xasprintf("/proc/self/fd/%d/new", self->held);
    return rc == 0 ? 0 : fop_oserror(err, -rc, self->name);
}

/* For a file system without exchange (NFS), and a folder of an overlay's lower layer, which can't be
 * renamed at all: that one goes when what was made is whole. */
static int
replace_in_steps(stage_t *self)
{
    AUTO_FREE char *old = xasprintf("/proc/self/fd/%d/old", self->held);

    if (rename(self->to.path, old) != 0) {
        int rc = errno == EXDEV ? fs_remove_tree(self->to.path, NULL) : -errno;
        return rc == 0 && rename(self->path, self->to.path) != 0 ? -errno : rc;
    }
    if (rename(self->path, self->to.path) == 0)
        return 0;
    int code = errno;
    if (rename(old, self->to.path) != 0)
        free(STEAL(self->dir)); /* it stays where it is */
    return -code;
}

/* Plain rename() replaces files and empty folders. Other pairs are exchanged atomically by RENAME_EXCHANGE;
 * file systems without it fall back to replace_in_steps(). */
static int
stage_take_name(stage_t *self)
{
    if (rename(self->path, self->to.path) == 0)
        return 0;
    if (errno != EISDIR && errno != ENOTDIR && errno != ENOTEMPTY && errno != EEXIST)
        return -errno;
    if (renameat2(AT_FDCWD, self->path, AT_FDCWD, self->to.path, RENAME_EXCHANGE) == 0)
        return 0;
    return errno == EINVAL || errno == ENOSYS || errno == EXDEV ? replace_in_steps(self) : -errno;
}

/* The replaced object ends up in the private folder, which is then removed. */
int
stage_commit(stage_t *self, fail_t *err)
{
    int rc = stage_take_name(self);

    if (rc != 0)
        return fop_oserror(err, -rc, self->name);
    rc = fs_remove_tree(self->dir, err);
    free(STEAL(self->dir));
    return rc;
}

int
stage_aside(stage_t *self, fail_t *err)
{
    return rename(self->to.path, self->path) == 0 ? 0 : fop_oserror(err, errno, self->name);
}

int
stage_back(stage_t *self, fail_t *err)
{
    struct stat st;

    /* Only a proven absence lets the folder be removed: an object that can't be looked at may be there and
     * would be lost. */
    bool none = self->dir == NULL || (lstat(self->path, &st) != 0 && errno == ENOENT);
    if (none || rename(self->path, self->to.path) == 0)
        return 0;
    int code = errno;
    AUTO_FREE char *place = destpath_text(&self->to.resolved), *folder = fop_dirname(place);
    (void) fop_oserror(err, code, self->name);
    fail_prefix(err, "what was %s is %s/%s/new now, move it back: ", self->name, folder,
                fop_basename(self->dir));
    free(STEAL(self->dir));
    return -code;
}

void
stage_close(stage_t *self)
{
    if (self->dir != NULL)
        (void) fs_remove_tree(self->dir, NULL);
    if (self->held >= 0)
        close(self->held);
    partfile_close(&self->to);
    free(self->name);
    free(self->dir);
    free(self->path);
    *self = (stage_t) STAGE_INIT;
}

/* The path of the entry itself: links are followed on the way, not at its end. NEW. */
static char *
entry_path(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    AUTO_FREE char *trimmed = xstrndup(path, n);
    AUTO_FREE char *dir = fop_dirname(trimmed);
    AUTO_FREE char *folder = fop_realpath(dir);
    return fop_join2(folder, fop_basename(trimmed));
}

static bool
at_or_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0' || str_eq(folder, "/"));
}

bool
stage_holds(const char *name, const char *path)
{
    AUTO_FREE char *whole = entry_path(name), *entry = entry_path(path), *real = fop_realpath(path);

    return at_or_below(entry, whole) || at_or_below(real, whole);
}
