/* rewrite.c - how edited content reaches the disk, copies of files, backups, and lists of lines. A file is
 * replaced by rename() of a complete temporary file beside it, with owner, mode, ACLs and attributes of the
 * old one, so that readers see the old or the new content. Files that can't be renamed over (mount points,
 * hard links that must stay, devices) are overwritten in place, with the old bytes at hand to undo a failed
 * write. */
#include "plugins/lib/file/fileops.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/data/diff.h"

/* ---- bytes to disk --------------------------------------------------------------------------- */

/* Writes a temporary file in the same folder and renames it over `path`; removes it on failure. 0 or a
 * negative errno, by which the caller chooses to overwrite in place. */
static int
replace_atomic(const char *path, int old, const struct stat *st, const void *data, size_t len)
{
    AUTO_FREE char *folder = fop_dirname(path);
    AUTO_FREE char *base = xasprintf(".%.200s.XXXXXX", fop_basename(path));
    AUTO_FREE char *temp = fop_join2(folder, base);
    int fd = mkostemp(temp, O_CLOEXEC);

    if (fd < 0)
        return -errno;

    /* Order matters: chown() clears set-id bits, so the mode follows it, and ACLs, which depend on the
     * mode, come last. fsync() before the caller's rename() keeps a power cut from leaving an empty file. */
    int rc = fs_write_all(fd, data, len);
    if (rc == 0 && (st->st_uid != geteuid() || st->st_gid != getegid()) &&
        fchown(fd, st->st_uid, st->st_gid) != 0)
        rc = -errno;
    if (rc == 0 && fchmod(fd, st->st_mode & 07777) != 0)
        rc = -errno;
    if (rc == 0)
        rc = fop_copy_xattrs(old, fd);
    if (rc == 0 && fsync(fd) != 0)
        rc = -errno;

    close(fd);
    if (rc == 0 && rename(temp, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(temp);
    return rc;
}

mode_t
fop_usual_mode(void)
{
    mode_t mask = umask(022);

    umask(mask);
    return 0666 & ~mask;
}

/* Writes new content to the found file: creates it, overwrites devices and multiply linked files in place
 * (`keep_inode`), else replaces it atomically. */
int
fop_rewrite(const partfile_t *file, const void *data, size_t len, bool keep_inode, fail_t *err)
{
    const landing_t fresh = { (uid_t) -1, (gid_t) -1, fop_usual_mode(), NULL };
    struct stat st;

    if (file->file < 0)
        return partfile_write(file, data, len, &fresh, err);
    if (file->special) {
        int special = fop_overwrite(file->file, data, len);
        return special == 0 ? 0 : fop_oserror(err, -special, file->resolved.asked);
    }
    AUTO_FD old = open(file->at, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (old < 0 || fstat(old, &st) != 0)
        return fop_oserror(err, errno, file->resolved.asked);
    int rc = -EBUSY;
    if (!(keep_inode && st.st_nlink > 1))
        rc = replace_atomic(file->path, old, &st, data, len);
    /* A bind-mounted file can't be renamed over, its folder may not be ours to write, and /proc takes no new
     * files. */
    if (rc == -EBUSY || rc == -EACCES || rc == -EPERM || rc == -EROFS || rc == -EXDEV || rc == -ENOENT)
        rc = fop_overwrite(file->file, data, len);
    return rc == 0 ? 0 : fop_oserror(err, -rc, file->resolved.asked);
}

int
fop_write(const char *path, const void *data, size_t len, fail_t *err)
{
    partfile_auto_t file = PARTFILE_INIT;
    int rc = partfile_find(&file, path, PARTFILE_SPECIAL, err);

    return rc == 0 ? fop_rewrite(&file, data, len, true, err) : rc;
}

static int
copy_fd(int from, int to)
{
    char chunk[65536];

    for (;;) {
        ssize_t n = read(from, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        int rc = fs_write_all(to, chunk, (size_t) n);
        if (rc != 0)
            return rc;
    }
}

/* Completes the temporary file and renames it to `dst`. With `st` the source's attributes are copied, else
 * the target's own are kept. Removes the temporary file on failure. */
static int
copy_to_temp(int from, const char *temp, int to, const char *dst, const struct stat *st,
             const struct stat *had)
{
    int rc = copy_fd(from, to);

    if (rc == 0 && st != NULL) {
        /* As shutil.copystat: owner (root only), mode, extended attributes, times. The owner goes first, as
         * chown() takes the set-id bits away. */
        const struct timespec times[2] = { st->st_atim, st->st_mtim };
        if ((geteuid() == 0 && fchown(to, st->st_uid, st->st_gid) != 0) ||
            fchmod(to, st->st_mode & 07777) != 0)
            rc = -errno;
        if (rc == 0)
            rc = fop_copy_xattrs(from, to);
        if (rc == 0 && futimens(to, times) != 0)
            rc = -errno;
    } else if (rc == 0) {
        /* A new file takes its usual mode; one that exists keeps mode and owner. */
        bool there = had->st_nlink > 0;
        if ((there && geteuid() == 0 && fchown(to, had->st_uid, had->st_gid) != 0) ||
            fchmod(to, there ? had->st_mode & 07777 : fop_usual_mode()) != 0)
            rc = -errno;
    }
    if (rc == 0 && fsync(to) != 0)
        rc = -errno;
    if (rc == 0 && rename(temp, dst) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(temp);
    return rc;
}

static int
copy_whole(int from, const char *dst, const struct stat *st, const struct stat *had)
{
    AUTO_FREE char *folder = fop_dirname(dst);
    AUTO_FREE char *base = xasprintf(".%.200s.XXXXXX", fop_basename(dst));
    AUTO_FREE char *temp = fop_join2(folder, base);
    AUTO_FD to = mkostemp(temp, O_CLOEXEC);

    return to < 0 ? -errno : copy_to_temp(from, temp, to, dst, st, had);
}

/* Bytes alone go where a link leads. */
static int
rewrite_copy_bytes(int from, const char *dst, fail_t *err)
{
    partfile_auto_t to = PARTFILE_INIT;
    struct stat had = { 0 };
    int rc = partfile_find(&to, dst, PARTFILE_SPECIAL, err);

    if (rc != 0)
        return rc;
    if (to.file >= 0 && fstat(to.file, &had) != 0)
        return fop_oserror(err, errno, dst);
    if (to.special) {
        /* Devices and pipes are written to, never replaced. */
        AUTO_FD into = fop_open_to_write(to.at, 0);
        rc = into < 0 ? -errno : copy_fd(from, into);
    } else
        rc = copy_whole(from, to.path, NULL, &had);
    return rc == 0 ? 0 : fop_oserror(err, -rc, dst);
}

/* `said` is what messages call the copy. */
static int
copy_with_attributes(const char *src, const char *dst, const char *said, fop_owner_t owner, fail_t *err)
{
    struct stat st;
    AUTO_FD from = fop_open_source(src, &st, err);

    if (from < 0)
        return from;
    /* A machine without /dev/null is no good, and a read of a pipe may wait for ever. */
    struct stat was;
    if (lstat(dst, &was) == 0 && !S_ISREG(was.st_mode) && !S_ISLNK(was.st_mode) && !S_ISDIR(was.st_mode))
        return fail_set(err, -EINVAL, "%s is a pipe or a device, and gives way to no file", said);
    if (owner == FOP_OURS) {
        st.st_uid = geteuid();
        st.st_gid = getegid();
    }
    int rc = copy_whole(from, dst, &st, NULL);
    return rc == 0 ? 0 : fop_oserror(err, -rc, said);
}

int
fop_copy2(const char *src, const char *dst, fail_t *err)
{
    return copy_with_attributes(src, dst, dst, FOP_SAME, err);
}

int
fop_copyfile(const char *src, const char *dst, fail_t *err)
{
    struct stat st;
    AUTO_FD from = fop_open_source(src, &st, err);

    return from < 0 ? from : rewrite_copy_bytes(from, dst, err);
}

/* ---- backups --------------------------------------------------------------------------------- */

/* Makes the folder of a copy, and names it: CACHEDIR/file_backup/FOLDER/NAME_DAY_MON_DD_HH:MM:SS_MICROS_YEAR, which
 * file.list_backups parses. NEW, or NULL with *err. */
static char *
backup_place(call_ctx_t *ctx, const char *path, fail_t *err)
{
    AUTO_FREE char *root = fs_join(value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"),
                                   "file_backup");
    AUTO_FREE char *dir = fop_dirname(path);
    AUTO_FREE char *folder = fs_join(root, dir);
    int64_t now = clock_wall_us();
    time_t seconds = (time_t) (now / 1000000);
    struct tm tm;
    char stamp[64], year[16];

    localtime_r(&seconds, &tm);
    strftime(stamp, sizeof(stamp), "%a_%b_%d_%H:%M:%S", &tm);
    strftime(year, sizeof(year), "%Y", &tm);
    if (fs_mkdirs(folder, 0755, err) != 0)
        return NULL;
    return xasprintf("%s/%s_%s_%06d_%s", folder, fop_basename(path), stamp, (int) (now % 1000000), year);
}

int
fop_backup_minion(call_ctx_t *ctx, const char *file, const char *path, fail_t *err)
{
    AUTO_FREE char *copy = backup_place(ctx, path, err);

    return copy == NULL ? err->code : fop_copy2(file, copy, err);
}

int
fop_backup_empty(call_ctx_t *ctx, const char *path, mode_t mode, fail_t *err)
{
    AUTO_FREE char *copy = backup_place(ctx, path, err);

    return copy == NULL ? err->code : fs_write_atomic(copy, "", 0, mode, err);
}

int
fop_backup_beside(const partfile_t *file, const char *path, const char *suffix, fop_owner_t owner,
                  fail_t *err)
{
    AUTO_FREE char *said = xasprintf("%s%s", path, suffix);
    /* Beside a link, and not where it leads, for who named the link; a stranger's folder is the one that
     * is held. */
    bool by_name = file->resolved.linked && file->resolved.whose == (uid_t) -1;
    AUTO_FREE char *copy = by_name ? xstrdup(said) : xasprintf("%s%s", file->path, suffix);

    return copy_with_attributes(file->at, copy, said, owner, err);
}

/* Salt's `backup` argument: "minion" or "both" copies into the cache, any other text is a suffix beside the
 * file. */
int
fop_backup(call_ctx_t *ctx, const partfile_t *file, const char *path, const json_t *backup, fop_owner_t owner,
           fail_t *err)
{
    const char *suffix = json_string_value(backup);

    if (!value_truthy(backup))
        return 0;
    if (str_eq(suffix, "minion") || str_eq(suffix, "both"))
        return fop_backup_minion(ctx, file->at, path, err);
    AUTO_FREE char *text = value_pystr(backup);
    return fop_backup_beside(file, path, text, owner, err);
}

/* ---- lines ----------------------------------------------------------------------------------- */

void
lines_free(lines_t *l)
{
    strv_free(l->v);
    *l = (lines_t){ NULL, 0 };
}

/* Splits at line ends and keeps them, so that lines_join() restores the text exactly. */
void
lines_split(lines_t *l, const char *text, size_t len)
{
    size_t n = 0;
    diff_line_t *parts = diff_lines(text, len, false, &n);

    l->v = xcalloc(n + 1, sizeof(*l->v));
    l->n = n;
    for (size_t i = 0; i < n; i++)
        l->v[i] = xstrndup(parts[i].text, parts[i].len);
    free(parts);
}

void
lines_insert(lines_t *l, size_t at, const char *text)
{
    l->v = xrealloc(l->v, (l->n + 2) * sizeof(*l->v));
    memmove(l->v + at + 1, l->v + at, (l->n - at) * sizeof(*l->v));
    l->v[at] = xstrdup(text);
    l->v[++l->n] = NULL;
}

void
lines_append(lines_t *l, const char *text)
{
    lines_insert(l, l->n, text);
}

void
lines_replace(lines_t *l, size_t at, const char *text)
{
    char *fresh = xstrdup(text);

    free(l->v[at]);
    l->v[at] = fresh;
}

void
lines_remove(lines_t *l, size_t at)
{
    free(l->v[at]);
    memmove(l->v + at, l->v + at + 1, (l->n - at) * sizeof(*l->v));
    l->n--;
}

void
lines_join(const lines_t *l, buf_t *out)
{
    for (size_t i = 0; i < l->n; i++)
        buf_puts(out, l->v[i]);
}

static diff_line_t *
as_diff(const lines_t *l)
{
    diff_line_t *lines = xcalloc(l->n + 1, sizeof(*lines));

    for (size_t i = 0; i < l->n; i++)
        lines[i] = (diff_line_t){ l->v[i], strlen(l->v[i]) };
    return lines;
}

char *
lines_diff(const lines_t *a, const lines_t *b)
{
    diff_line_t *old = as_diff(a), *new = as_diff(b);
    char *diff = diff_unified(old, a->n, new, b->n, "", "");

    free(old);
    free(new);
    return diff;
}
