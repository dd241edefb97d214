/* cpparts.c - see cpparts.h. Pieces gather in a hidden file beside the target, whose path is noted below
 * cachedir/cp_parts before it is created, so that an abandoned copy can be removed later. The complete part
 * takes the target's place by rename, or is written over it. */
#include "plugins/lib/transfer/cpparts.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"

enum {
    NAME_KEEP = 100 /* bytes of a file's name, and of an id, that a part's name has */,
    COPY_LEN_MAX = 32
};

bool
cpparts_is_name(const char *copy)
{
    size_t n = strlen(copy);

    for (size_t i = 0; i < n; i++) {
        if (!isalnum((unsigned char) copy[i]))
            return false;
    }
    return n > 0 && n <= COPY_LEN_MAX;
}

/* ---- where a part is ------------------------------------------------------------------------- */

/* NEW name in the target's folder. */
static char *
part_name(const cppart_t *self)
{
    return xasprintf(".%.*s.%s.%.*s.part", NAME_KEEP, fop_basename(self->to->path), self->copy, NAME_KEEP,
                     self->id);
}

static char *
cpparts_note_path(const cppart_t *self)
{
    return xasprintf("%s/cp_parts/%s", self->cachedir, self->copy);
}

static void
cpparts_drop(const cppart_t *self, const char *name)
{
    AUTO_FREE char *note = cpparts_note_path(self);

    if (unlinkat(self->to->resolved.folder, name, 0) == 0 || errno == ENOENT)
        (void) unlink(note);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

enum { PART_FLAGS = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

/* True when the open file is the one that was created here: its folder may belong to another user. */
static bool
is_part(int fd, struct stat *st)
{
    return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_nlink == 1 && st->st_uid == geteuid();
}

static int
not_all_here(const cppart_t *self, fail_t *err)
{
    return fail_set(err, -ESTALE,
                    "the pieces of %s before this one are not all here: nothing is changed, send it again",
                    self->to->resolved.asked);
}

/* The part with exactly the pieces before. A descriptor, or a negative errno. */
static int
cpparts_open_part(const cppart_t *self, const char *name, int64_t at, fail_t *err)
{
    struct stat st;

    if (at == 0) {
        /* The note comes before there is a part, so that none is ever forgotten. */
        AUTO_FREE char *resolved = xasprintf("/proc/self/fd/%d", self->to->resolved.folder),
                       *folder = fop_realpath(resolved);
        AUTO_FREE char *path = fop_join2(folder, name), *dir = fs_join(self->cachedir, "cp_parts"),
                       *note = cpparts_note_path(self);
        int rc = fs_mkdirs(dir, 0700, err), fd = -1;
        if (rc == 0)
            rc = fs_write_quick(note, path, strlen(path), 0600, err);
        if (rc != 0)
            return rc;
        (void) unlinkat(self->to->resolved.folder, name, 0); /* a copy that begins anew */
        fd = openat(self->to->resolved.folder, name, PART_FLAGS | O_CREAT | O_EXCL, 0600);
        return fd >= 0 ? fd : fop_oserror(err, errno, self->to->resolved.asked);
    }
    int fd = openat(self->to->resolved.folder, name, PART_FLAGS);
    if (fd >= 0 && is_part(fd, &st) && st.st_size == at && lseek(fd, 0, SEEK_END) == at)
        return fd;
    if (fd >= 0)
        close(fd);
    return not_all_here(self, err);
}

/* A failed write removes the part; the sender begins anew. */
int
cpparts_add(const cppart_t *self, int64_t at, const void *bytes, size_t n, fail_t *err)
{
    AUTO_FREE char *name = part_name(self);
    AUTO_FD fd = cpparts_open_part(self, name, at, err);
    int rc = fd < 0 ? fd : fs_write_all(fd, bytes, n);

    if (rc == 0)
        return 0;
    cpparts_drop(self, name);
    return fd < 0 ? rc : fop_oserror(err, -rc, self->to->resolved.asked);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Writes over the file in place, keeping inode, links and owner. */
static int
put_over(const partfile_t *to, const content_t *what, int mode, fail_t *err)
{
    view_auto_t view = { 0 };
    int rc = what->path != NULL ? fop_view(what->path, &view) : 0;

    if (rc != 0)
        return fop_oserror(err, -rc, to->resolved.asked);
    rc = what->path != NULL ? fop_rewrite(to, view.data, view.len, true, err)
                            : fop_rewrite(to, what->data, what->len, true, err);
    if (rc == 0 && !to->special && mode >= 0 && chmod(to->at, (mode_t) mode) != 0)
        rc = fop_oserror(err, errno, to->resolved.asked);
    return rc;
}

/* Owner and mode that the file will have. 1 when it is written over, 0, or a negative errno. */
static int
landing_of(const partfile_t *to, int mode, landing_t *ret_as, fail_t *err)
{
    struct stat st;

    *ret_as = (landing_t){ (uid_t) -1, (gid_t) -1, mode >= 0 ? (mode_t) mode : fop_usual_mode(), NULL };
    if (to->file < 0)
        return 0;
    if (fstat(to->file, &st) != 0)
        return fop_oserror(err, errno, to->resolved.asked);
    *ret_as = (landing_t){ st.st_uid, st.st_gid, mode >= 0 ? (mode_t) mode : st.st_mode & 07777, to->at };
    return to->special || st.st_nlink > 1 || (geteuid() != 0 && st.st_uid != geteuid());
}

int
cpparts_put(const partfile_t *to, const content_t *what, int mode, fail_t *err)
{
    landing_t as;
    int rc = landing_of(to, mode, &as, err);

    return rc < 0 ? rc : rc > 0 ? put_over(to, what, mode, err) : partfile_land(to, what, &as, err);
}

int
cpparts_land(const cppart_t *self, int mode, fail_t *err)
{
    AUTO_FREE char *name = part_name(self);
    AUTO_FREE char *path = xasprintf("/proc/self/fd/%d/%s", self->to->resolved.folder, name);
    AUTO_FD fd = openat(self->to->resolved.folder, name, PART_FLAGS);
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", fd);
    const content_t what = { .path = at };
    struct stat st;
    landing_t as;
    int rc = fd < 0              ? fop_oserror(err, errno, self->to->resolved.asked)
             : !is_part(fd, &st) ? not_all_here(self, err)
                                 : landing_of(self->to, mode, &as, err);

    if (rc > 0)
        rc = put_over(self->to, &what, mode, err);
    else if (rc == 0)
        rc = partfile_take(self->to, fd, path, &as, err);
    cpparts_drop(self, name);
    return rc;
}

/* ---- copies that nobody goes on with --------------------------------------------------------- */

static bool
is_idle(const struct stat *st)
{
    return st->st_mtime < time(NULL) - LIMIT_COPY_IDLE;
}

/* The note's path may lead elsewhere by now: only what is ours and has a part's name goes. True: the note
 * may go. */
static bool
cpparts_remove_part(const char *path, bool idle_only, json_t *gone)
{
    partfile_auto_t part = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    struct stat st;
    int rc = partfile_find(&part, path, PARTFILE_SPECIAL | DESTPATH_LINK, &why);

    if (rc != 0 || part.file < 0)
        return rc == 0 || rc == -ENOENT || rc == -ENOTDIR || rc == -EISDIR;
    if (!str_ends(path, ".part") || fstat(part.file, &st) != 0 || part.special || st.st_uid != geteuid())
        return true;
    if (idle_only && !is_idle(&st))
        return false;
    if (unlinkat(part.resolved.folder, part.resolved.name, 0) != 0) {
        log_warning("%s, a file that salt-cp has not gone on with, stays: %s", path, strerror(errno));
        return false;
    }
    json_array_append_new(gone, value_utf8(path, strlen(path)));
    return true;
}

static void
forget_one(const char *dir, const char *copy, bool idle_only, json_t *gone)
{
    AUTO_FREE char *note = fs_join(dir, copy);
    buf_auto_t path = BUF_INIT;
    struct stat st;

    if (!cpparts_is_name(copy) || lstat(note, &st) != 0 || (idle_only && !is_idle(&st)) ||
        fs_read(note, PATH_MAX, &path, NULL) != 0)
        return;
    if (cpparts_remove_part(buf_str(&path), idle_only, gone))
        (void) unlink(note);
}

json_t *
cpparts_forget(const char *cachedir, const char *copy)
{
    AUTO_FREE char *dir = fs_join(cachedir, "cp_parts");
    fail_auto_t why = FAIL_INIT;
    char **notes = NULL;
    json_t *gone = json_array();

    if (copy != NULL)
        forget_one(dir, copy, false, gone);
    else if (fs_names(dir, &notes, &why) < 0)
        log_warning("files that salt-cp has not gone on with stay: %s", fail_text(&why));
    for (char **note = notes; note != NULL && *note != NULL; note++)
        forget_one(dir, *note, true, gone);
    strv_free(notes);
    return gone;
}
