/* tree.c - file's functions that make, link, move, copy and remove whole objects. Root often works in folders
 * that other users may write to, so every change goes through a held descriptor (destpath.h, partfile.h) and
 * never through a path that could be redirected by a link between check and use. */
#include "plugins/lib/file/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/stage.h"

/* Rewords an error about a held object in terms of the name that the caller gave. */
static int
retell(const fail_t *why, int rc, const char *at, const char *said, fail_t *err)
{
    AUTO_FREE char *text = str_replace(fail_text(why), at, said);

    return fail_kind(err, why->kind, rc, "%s", text);
}

/* Without slashes at its end: "link/" would name what the link points to. NEW. */
static char *
tree_trimmed(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return xstrndup(path, n);
}

/* ---- folders --------------------------------------------------------------------------------- */

/* Owner and mode of what was made, which is of this type: who may write above it may have put something
 * else in its place by now. */
static int
dress_made(const destpath_t *resolved, mode_t type, const json_t *user, const json_t *group, const char *mode,
           fail_t *err)
{
    AUTO_FD made = openat(resolved->folder, resolved->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", made);
    fail_auto_t why = FAIL_INIT;
    struct stat st;

    if (made < 0 || fstat(made, &st) != 0)
        return fop_oserror(err, errno, resolved->asked);
    if ((st.st_mode & S_IFMT) != type || (type != S_IFDIR && st.st_nlink > 1))
        return fop_oserror(err, type == S_IFDIR ? ENOTDIR : EEXIST, resolved->asked);
    int rc = fop_set_owner_mode(at, user, group, mode, &why);
    return rc == 0 ? 0 : retell(&why, rc, at, resolved->asked, err);
}

/* `path` and the folders above it that are missing, each with owner and mode. */
static int
make_dirs(const char *path, const json_t *user, const json_t *group, const char *mode, fail_t *err)
{
    AUTO_FREE char *name = tree_trimmed(path);
    AUTO_FREE char *parent = fop_dirname(name);

    if (strlen(name) >= PATH_MAX)
        return fop_oserror(err, ENAMETOOLONG, path);
    int there = *parent != '\0' ? fop_exists(parent, err) : 1;
    int rc = there == 0 ? make_dirs(parent, user, group, mode, err) : there < 0 ? there : 0;
    if (rc != 0)
        return rc;

    /* Creates one folder; a link that another user placed there is not followed. */
    destpath_auto_t resolved = DESTPATH_INIT;
    rc = destpath_find(&resolved, name, DESTPATH_LINK);
    if (rc == -EISDIR)
        return str_eq(fop_basename(name), ".") ? 0 : fop_oserror(err, EEXIST, name);
    if (destpath_refused(&resolved, rc, err))
        return rc;
    if (rc == 0 && mkdirat(resolved.folder, resolved.name, 0777) != 0)
        rc = -errno;
    return rc == 0 ? dress_made(&resolved, S_IFDIR, user, group, mode, err) : fop_oserror(err, -rc, name);
}

/* Salt's file.mkdir: True also when the folder exists; its owner and mode stay then. */
int
file_mkdir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "dir_path");
    AUTO_FREE char *folder = fop_normpath(path);
    AUTO_FREE char *mode = fop_normalize_mode(value_get(args, "mode"));

    int there = fop_exists_as(folder, S_IFDIR, err);
    int rc = there == 0 ? make_dirs(folder, value_get(args, "user"), value_get(args, "group"), mode, err)
                        : there;
    if (rc < 0)
        return rc;
    *ret_value = json_true();
    return 0;
}

/* -EEXIST with *err when what is no folder has the name of one to be made: the topmost such path is named, as
 * that one is made first. */
static int
in_the_way(const char *folder, fail_t *err)
{
    AUTO_FREE char *top = xstrdup(folder);

    for (;;) {
        AUTO_FREE char *above = fop_dirname(top);
        int is = fop_exists_as(above, S_IFDIR, err);
        if (is < 0)
            return is;
        if (is > 0 || str_eq(above, top))
            break;
        free(top);
        top = STEAL(above);
    }
    int there = fop_lexists(top, err);
    return there > 0 ? fop_oserror(err, EEXIST, top) : there;
}

/* Creates the parent folders of args["path"]. Salt answers an existing folder with a text, not with an error,
 * and rejects a relative path, on which its recursion would not end. */
int
file_makedirs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    AUTO_FREE char *dir = fop_dirname(path);
    AUTO_FREE char *folder = fop_normpath(dir);
    AUTO_FREE char *mode = fop_normalize_mode(value_get(args, "mode"));

    int is = fop_exists_as(folder, S_IFDIR, err), there = is == 0 ? fop_exists(folder, err) : is;
    if (there < 0)
        return there;
    if (there > 0) {
        *ret_value = value_fmt(is > 0 ? "Directory '%s' already exists"
                                      : "The path '%s' already exists and is not a directory",
                               folder);
        return 0;
    }
    if (*folder != '/')
        return fop_invalid(err,
                           "Recursive creation for path '%s' would result in an infinite loop. Please use an "
                           "absolute path.",
                           folder);
    int rc = in_the_way(folder, err);
    if (rc == 0)
        rc = make_dirs(folder, value_get(args, "user"), value_get(args, "group"), mode, err);
    if (rc == 0)
        *ret_value = json_null();
    return rc;
}

/* Unlike file.makedirs, creates the path itself and gives each new folder owner and mode. */
int
file_makedirs_perms(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "name");
    AUTO_FREE char *mode = fop_normalize_mode(value_get(args, "mode"));
    int rc = make_dirs(path, value_get(args, "user"), value_get(args, "group"), mode, err);

    if (rc == 0)
        *ret_value = json_null();
    return rc;
}

/* ---- removal --------------------------------------------------------------------------------- */

/* Result of a file.rmdir: paths deleted, and pairs [path, reason] of those that stay. */
typedef struct sweep {
    json_t *deleted, *errors;
    double older_than; /* seconds since the epoch; 0: all */
} sweep_t;

/* Records a failure and goes on: one folder that can't be removed does not keep the others. */
static void
sweep_failed(sweep_t *s, const char *path, int code)
{
    fail_auto_t why = FAIL_INIT;

    fop_oserror(&why, code, path);
    json_array_append_new(s->errors, json_pack("[o, s]", value_utf8(path, strlen(path)), fail_text(&why)));
}

/* Remove one empty folder of the open one if it is old enough. False when that failed. */
static bool
sweep_one(sweep_t *s, int dir, const char *name, const char *path)
{
    struct stat st;

    if (s->older_than != 0 && (fstatat(dir, name, &st, 0) != 0 || (double) st.st_mtime >= s->older_than))
        return true;
    if (unlinkat(dir, name, AT_REMOVEDIR) == 0) {
        json_array_append_new(s->deleted, value_utf8(path, strlen(path)));
        return true;
    }
    sweep_failed(s, path, errno);
    return false;
}

/* Folders below one of the open one, the deepest first. Names are looked up where they were read, and no
 * link is entered: nobody who may write there has anything removed that lies elsewhere. */
static void
sweep_below(sweep_t *s, int above, const char *name, const char *path, int depth)
{
    AUTO_FD fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd < 0 || depth > LIMIT_JSON_DEPTH ? NULL : fdopendir(fd);
    struct stat st;

    if (dir == NULL)
        return;
    fd = -1; /* the stream's */
    int rc;
    for (const struct dirent *entry; (entry = fs_next(dir, &rc)) != NULL;) {
        if (fstatat(dirfd(dir), entry->d_name, &st, 0) != 0 || !S_ISDIR(st.st_mode))
            continue;
        AUTO_FREE char *full = fop_join2(path, entry->d_name);
        sweep_below(s, dirfd(dir), entry->d_name, full, depth + 1);
        (void) sweep_one(s, dirfd(dir), entry->d_name, full);
    }
    closedir(dir);
    if (rc < 0)
        sweep_failed(s, path, -rc);
}

/* 1: all went that could go; 0: not all; or a negative errno where the folder can't be found. */
static int
tree_sweep(sweep_t *s, const char *path, bool recurse, fail_t *err)
{
    AUTO_FREE char *entry = tree_trimmed(path);
    destpath_auto_t resolved = DESTPATH_INIT;
    int rc = destpath_find(&resolved, entry, DESTPATH_LINK);

    if (destpath_refused(&resolved, rc, err))
        return rc;
    if (rc != 0 && rc != -EISDIR)
        return fop_oserror(err, -rc, path);
    AUTO_FD top = recurse ? fop_hold_folder(path, err) : -1;
    if (recurse && top < 0)
        return top;
    if (recurse)
        sweep_below(s, top, ".", path, 0);
    bool below_ok = json_array_size(s->errors) == 0;
    return sweep_one(s, resolved.folder, resolved.name, path) && below_ok;
}

int
file_rmdir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    json_t *older = value_get(args, "older_than");
    json_auto_t *deleted = json_array(), *errors = json_array();
    sweep_t s = { deleted, errors, 0 };
    double days = 0;

    if (fop_need_abs(path, "File path must be absolute.", err) != 0)
        return -EINVAL;
    int dir = fop_exists_as(path, S_IFDIR, err);
    if (dir <= 0)
        return dir < 0 ? dir : fop_invalid(err, "A valid directory was not specified: %s", path);
    if (value_truthy(older) && fop_int(older, "older_than must be a number of days", &days, err) != 0)
        return -EINVAL;
    if (value_truthy(older))
        s.older_than = (double) time(NULL) - days * 86400;
    int ok = tree_sweep(&s, path, value_bool(args, "recurse", false), err);
    if (ok < 0)
        return ok;
    *ret_value = value_bool(args, "verbose", false)
                     ? json_pack("{s:O, s:O, s:b}", "deleted", deleted, "errors", errors, "result", ok)
                     : json_boolean(ok);
    return 0;
}

/* The "/." makes the lookup end at the folder itself, with links on the way checked as destpath.h says.
 * Returns a descriptor that the caller closes, or a negative errno. */
int
fop_hold_folder(const char *path, fail_t *err)
{
    AUTO_FREE char *inside = xasprintf("%s/.", path);
    partfile_auto_t folder = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_find(&folder, inside, PARTFILE_ANY, &why);

    if (rc != 0)
        return retell(&why, rc, inside, path, err);
    rc = folder.file;
    folder.file = -1;
    return rc;
}

/* Removes a tree below the held parent folder. 1 when something was removed, 0 when nothing was there. */
int
fop_remove(const char *path, fail_t *err)
{
    AUTO_FREE char *entry = tree_trimmed(path), *above = fop_dirname(entry);
    const char *name = fop_basename(entry);
    fail_auto_t why = FAIL_INIT;
    struct stat st;

    if (lstat(entry, &st) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    AUTO_FD folder = fop_hold_folder(*above != '\0' ? above : ".", &why);
    if (folder == -EPERM)
        return fail_kind(err, why.kind, folder, "%s", fail_text(&why));
    int rc = folder < 0 ? folder : *name == '\0' ? -EBUSY : fs_remove_at(folder, name);
    if (rc != 0)
        return fop_failed(err, "Could not remove '%s': [Errno %d] %s: '%s'", path, -rc, strerror(-rc), path);
    return 1;
}

/* `path` lies below `top`, whose descriptor is `fd`: the kernel resolves the rest without following links.
 * -ELOOP means that a folder on the way was replaced by a link since the walk saw it. */
int
fop_remove_below(int fd, const char *top, const char *path, fail_t *err)
{
    const char *below = path + strlen(top);
    int rc = beneath_remove(fd, below + strspn(below, "/"));

    if (rc == -ELOOP)
        return fop_failed(err, "Could not remove '%s': a folder above it has become a link", path);
    if (rc < 0)
        return fop_failed(err, "Could not remove '%s': [Errno %d] %s: '%s'", path, -rc, strerror(-rc), path);
    return 0;
}

int
file_remove(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");

    if (*path != '/')
        return fop_invalid(err, "File path must be absolute: %s", path);
    int removed = fop_remove(path, err);
    if (removed < 0)
        return removed;
    *ret_value = json_boolean(removed);
    return 0;
}

/* ---- links ----------------------------------------------------------------------------------- */

/* The place of a new name, by a path of the folder that is held: a stranger's link leads to none. 0 and
 * *ret_at NEW, or a negative errno as destpath_find's. */
static int
tree_find_place(destpath_t *resolved, const char *path, char **ret_at)
{
    int rc = destpath_find(resolved, path, DESTPATH_LINK);

    if (rc != 0 && rc != -EISDIR)
        return rc;
    *ret_at = xasprintf("/proc/self/fd/%d/%s", resolved->folder, resolved->name);
    return 0;
}

int
file_link(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *src = fop_path(args, "src");
    AUTO_FREE char *at = NULL;
    const char *path = value_str(args, "path", "");
    destpath_auto_t resolved = DESTPATH_INIT;

    if (fop_need_abs(src, "File path must be absolute.", err) != 0)
        return -EINVAL;
    int rc = tree_find_place(&resolved, path, &at);
    if (destpath_refused(&resolved, rc, err))
        return rc;
    if (rc == 0 && link(src, at) != 0)
        rc = -errno;
    if (rc != 0)
        return fop_failed(err, "Could not create '%s': [Errno %d] %s: '%s' -> '%s'", path, -rc, strerror(-rc),
                          src, path);
    *ret_value = json_true();
    return 0;
}

/* A link beside `path`, renamed over it. */
static int
symlink_over(const char *src, const char *path)
{
    for (int i = 0; i < 100; i++) {
        AUTO_FREE char *temp = xasprintf("%s.%d.%d.tmp", path, (int) getpid(), i);
        if (symlink(src, temp) != 0) {
            if (errno == EEXIST)
                continue;
            return -errno;
        }
        if (rename(temp, path) == 0)
            return 0;
        int code = errno;
        unlink(temp);
        return -code;
    }
    return -EEXIST;
}

/* Salt's order of answers: an equal link is True, then existing objects are refused without `force` or
 * `atomic`; a folder is replaced only by `atomic`, whose rename() fails on it. */
int
file_symlink(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *src = value_str(args, "src", "");
    AUTO_FREE char *path = fop_path(args, "path"), *at = NULL;
    bool over = value_bool(args, "force", false) || value_bool(args, "atomic", false);
    destpath_auto_t resolved = DESTPATH_INIT;
    struct stat st;

    if (*path != '/')
        return fop_invalid(err, "Link path must be absolute: %s", path);
    int rc = tree_find_place(&resolved, path, &at);
    if (destpath_refused(&resolved, rc, err))
        return rc;
    if (rc != 0)
        return fop_failed(err, "Could not create '%s'", path);
    /* A link whose text is the same but for a slash more is no change. */
    char now[4096];
    ssize_t n = readlink(at, now, sizeof(now) - 1);
    now[n > 0 ? n : 0] = '\0';
    AUTO_FREE char *leads = fop_normpath(now), *wanted = fop_normpath(src);
    if (n >= 0 && strcmp(leads, wanted) == 0) {
        *ret_value = json_true();
        return 0;
    }
    bool exists = lstat(at, &st) == 0;
    if (exists && !over)
        return fop_failed(
            err, S_ISLNK(st.st_mode) ? "Found existing symlink: %s" : "Existing path is not a symlink: %s",
            path);
    if (exists && S_ISDIR(st.st_mode) && !value_bool(args, "atomic", false))
        return fop_oserror(err, EISDIR, path);
    if ((exists ? symlink_over(src, at) : symlink(src, at)) != 0)
        return fop_failed(err, "Could not create '%s'", path);
    *ret_value = json_true();
    return 0;
}

/* ---- moving and copying ---------------------------------------------------------------------- */

/* One end of a move. Its parent folder is held open, so that nobody can redirect it by a link or replace
 * it. */
typedef struct end {
    char *name;
    partfile_t file;
    char *at; /* for rename(), which takes a slash behind a name for a folder only */
} end_t;
#define END_INIT   ROW(NULL, PARTFILE_INIT, NULL)
#define end_auto_t __attribute__((cleanup(end_close))) end_t

/* Opens the parent folder and the object, without following a link at the end. The caller closes with
 * end_close(), also after a failure. */
static int
end_find(end_t *self, const char *path, fail_t *err)
{
    self->name = tree_trimmed(path);
    int rc = partfile_find(&self->file, self->name, PARTFILE_ANY | DESTPATH_LINK, err);

    if (rc == 0)
        self->at = xasprintf("%s%s", self->file.path, str_eq(self->name, path) ? "" : "/");
    return rc;
}

static void
end_close(end_t *self)
{
    partfile_close(&self->file);
    free(self->name);
    free(self->at);
}

/* A plain rename(2). Salt reports every failure by one text without the reason; only the refusal to follow a
 * stranger's link (-EPERM) is reported as it is. */
int
file_rename(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *src = fop_path(args, "src"), *dst = fop_path(args, "dst");
    end_auto_t from = END_INIT, to = END_INIT;
    fail_auto_t why = FAIL_INIT;

    if (fop_need_abs(src, "File path must be absolute.", err) != 0)
        return -EINVAL;
    int rc = end_find(&from, src, &why);
    if (rc == 0)
        rc = end_find(&to, dst, &why);
    if (rc == -EPERM)
        return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
    if (rc != 0 || rename(from.at, to.at) != 0)
        return fop_failed(err, "Could not rename '%s' to '%s'", src, dst);
    *ret_value = json_true();
    return 0;
}

static int copy_tree(const char *src, const char *dst, bool attributes, int depth, fail_t *err);

/* Without attributes links to files are copied as what they lead to, and those to folders not at all: they
 * may be without end. */
static int
copy_entry(const char *src, const char *dst, bool attributes, int depth, fail_t *err)
{
    int link = fop_lexists_as(src, S_IFLNK, err);

    if (link < 0)
        return link;
    if (attributes && link > 0) {
        /* Copies the link's text; the result may dangle, as the original did. */
        char target[4096];
        ssize_t n = readlink(src, target, sizeof(target) - 1);
        if (n < 0)
            return fop_oserror(err, errno, src);
        target[n] = '\0';
        return symlink(target, dst) == 0 ? 0 : fop_oserror(err, errno, dst);
    }
    int dir = fop_exists_as(src, S_IFDIR, err);
    if (dir != 0)
        return dir < 0 ? dir : link > 0 ? 0 : copy_tree(src, dst, attributes, depth + 1, err);
    return attributes ? fop_copy2(src, dst, err) : fop_copyfile(src, dst, err);
}

/* Copies a folder recursively, at most LIMIT_JSON_DEPTH levels deep. With `attributes` owner, mode and times
 * are copied as well, after the contents, as writing them would change the times. */
static int
copy_tree(const char *src, const char *dst, bool attributes, int depth, fail_t *err)
{
    struct stat st;
    DIR *dir = opendir(src);

    if (dir == NULL)
        return fop_oserror(err, errno, src);
    int rc = depth > LIMIT_JSON_DEPTH      ? fop_oserror(err, ELOOP, src)
             : fstat(dirfd(dir), &st) != 0 ? fop_oserror(err, errno, src)
                                           : 0;
    /* With attributes the folder is made where no other user may write. */
    if (rc == 0 && attributes)
        rc = fs_mkdirs(dst, 0777, err);
    else if (rc == 0) {
        int there = fop_exists_as(dst, S_IFDIR, err);
        rc = there == 0 ? make_dirs(dst, NULL, NULL, NULL, err) : there < 0 ? there : 0;
    }
    int read_rc = 0;
    for (const struct dirent *entry; rc == 0 && (entry = fs_next(dir, &read_rc)) != NULL;) {
        AUTO_FREE char *from = fop_join2(src, entry->d_name), *to = fop_join2(dst, entry->d_name);
        rc = copy_entry(from, to, attributes, depth, err);
    }
    closedir(dir);
    if (rc == 0 && read_rc < 0)
        rc = fop_oserror(err, -read_rc, src);
    if (rc == 0 && attributes) {
        const struct timespec times[2] = { st.st_atim, st.st_mtim };
        if ((geteuid() == 0 && chown(dst, st.st_uid, st.st_gid) != 0) ||
            chmod(dst, st.st_mode & 07777) != 0 || utimensat(AT_FDCWD, dst, times, 0) != 0)
            rc = fop_oserror(err, errno, dst);
    }
    return rc;
}

int
fop_copy_tree(const char *src, const char *dst, fail_t *err)
{
    return copy_tree(src, dst, true, 0, err);
}

/* True when `inner` is `outer` or lies below it, both with links resolved. */
static bool
tree_inside(const char *inner, const char *outer)
{
    AUTO_FREE char *a = fop_realpath(inner), *b = fop_realpath(outer);
    size_t n = strlen(b);

    return strncmp(a, b, n) == 0 && (a[n] == '/' || a[n] == '\0');
}

/* Chooses the kind of copy: a file over a file, a tree into a folder (merged), or with remove_existing a tree
 * that replaces the folder. Errors of kind FAIL_INVOCATION are Salt's SaltInvocationError. */
static int
copy_any(const char *src, const char *dst, json_t *args, fail_t *err)
{
    int from = fop_exists_as(src, S_IFDIR, err), to = from == 0 ? fop_exists_as(dst, S_IFDIR, err) : from;
    bool tree = from > 0;

    if (to <= 0)
        return to < 0 ? to : fop_copyfile(src, dst, err);
    if (!value_bool(args, "recurse", false))
        return fop_invalid(err, "Cannot copy overwriting a directory without recurse flag set to true!");
    if (tree && tree_inside(dst, src))
        return fop_invalid(err, "Cannot copy the directory '%s' into itself: '%s'", src, dst);
    if (!value_bool(args, "remove_existing", false))
        return tree ? copy_tree(src, dst, false, 0, err) : fop_copyfile(src, dst, err);
    if (stage_holds(dst, src))
        return fop_invalid(err, "Cannot replace the directory '%s' by what is in it: '%s'", dst, src);

    /* Copies first: the target stays until the copy is complete. */
    AUTO_FREE char *name = tree_trimmed(dst), *above = fop_dirname(name);
    stage_auto_t stage = STAGE_INIT;
    fail_auto_t why = FAIL_INIT;
    int there = *above == '\0' ? 1 : fop_exists(above, err);
    int rc = there == 0 ? make_dirs(above, NULL, NULL, NULL, err) : there < 0 ? there : 0;

    if (rc == 0)
        rc = stage_open(&stage, dst, err);
    if (rc != 0)
        return rc;
    rc = tree ? copy_tree(src, stage.path, true, 0, &why) : fop_copy2(src, stage.path, &why);
    return rc == 0 ? stage_commit(&stage, err) : retell(&why, rc, stage.path, dst, err);
}

/* Owner and mode as the source `had` them. */
static int
set_copied(const char *dst, const json_t *had, fail_t *err)
{
    partfile_auto_t file = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    bool all = geteuid() == 0;
    int rc = partfile_find(&file, dst, PARTFILE_ANY, err);

    if (rc != 0)
        return rc;
    if (file.at == NULL)
        return fop_oserror(err, ENOENT, dst);
    rc = fop_set_owner_mode(file.at, all ? value_get(had, "uid") : NULL, all ? value_get(had, "gid") : NULL,
                            value_str(had, "mode", NULL), &why);
    return rc == 0 ? 0 : retell(&why, rc, file.at, dst, err);
}

/* Copies, then restores the source's owner and mode, which were read before: the copy may overwrite the
 * source's own parent. */
int
file_copy(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *src = fop_path(args, "src"), *dst = fop_path(args, "dst");
    fail_auto_t why = FAIL_INIT;

    if (fop_need_abs(src, "File path must be absolute.", err) != 0)
        return -EINVAL;
    int there = fop_exists(src, err);
    if (there <= 0)
        return there < 0 ? there : fop_failed(err, "No such file or directory '%s'", src);
    json_auto_t *had = fop_stats(src, NULL, true, err);
    if (had == NULL)
        return -ENOENT;
    int rc = copy_any(src, dst, args, &why);
    if (rc != 0 && why.kind == FAIL_INVOCATION)
        return fop_invalid(err, "%s", fail_text(&why));
    if (rc != 0)
        return fop_failed(err, "Could not copy '%s' to '%s': %s", src, dst, fail_text(&why));
    rc = set_copied(dst, had, err);
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* By way of a place beside the target. What is removed is what was copied. */
static int
move_staged(const end_t *from, const char *target, bool copy, fail_t *err)
{
    stage_auto_t stage = STAGE_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = stage_open(&stage, target, err);

    if (rc != 0)
        return rc;
    if (!copy && rename(from->at, stage.path) != 0) {
        if (errno != EXDEV)
            return fop_oserror(err, errno, from->name);
        copy = true; /* a folder of an overlay's lower layer can't be renamed */
    }
    if (copy && (rc = copy_entry(from->file.path, stage.path, true, 0, &why)) != 0)
        return retell(&why, rc, from->file.path, from->name, err);
    rc = stage_commit(&stage, err);
    if (!copy && rc != 0 && stage.dir != NULL)
        (void) rename(stage.path, from->at);
    if (!copy || rc != 0)
        return rc;
    rc = fs_remove_at(from->file.resolved.folder, from->file.resolved.name);
    return rc == 0 ? 0 : fop_oserror(err, -rc, from->name);
}

/* Moves by rename(2). Falls back to copy and remove between file systems (EXDEV), and to a staged replacement
 * when `over` asks for it and rename() refuses the pair of types. Refuses to move a folder below itself. */
static int
move_to(const char *src, const char *target, bool over, fail_t *err)
{
    end_auto_t from = END_INIT, to = END_INIT;
    int rc = end_find(&from, src, err);

    if (rc == 0)
        rc = end_find(&to, target, err);
    if (rc != 0)
        return rc;
    /* The same name in the same folder, whatever the paths; other hard links of the file differ. */
    struct stat a, b;
    if (over && str_eq(from.file.resolved.name, to.file.resolved.name) &&
        fstat(from.file.resolved.folder, &a) == 0 && fstat(to.file.resolved.folder, &b) == 0 &&
        a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return fail_set(err, -EINVAL,
                        "%s and %s are one and the same, which can't take its own place; choose another name",
                        src, target);
    /* rename() leaves both names of one file. */

    /* Compares device and inode: hard links of one file are the same. */
    struct stat x, y;
    bool one = lstat(from.at, &x) == 0 && lstat(to.at, &y) == 0 && x.st_dev == y.st_dev &&
               x.st_ino == y.st_ino;

    if (rename(from.at, to.at) == 0)
        return over && one && unlink(from.at) != 0 ? fop_oserror(err, errno, src) : 0;
    int code = errno;
    bool copy = code == EXDEV && !one;
    int tree = copy ? fop_lexists_as(from.at, S_IFDIR, err) : 0;
    if (tree < 0)
        return tree;
    if (tree > 0 && tree_inside(target, src))
        code = EINVAL;
    else if (copy || (over && (code == EISDIR || code == ENOTDIR || code == ENOTEMPTY || code == EEXIST)))
        return move_staged(&from, target, copy, err);
    return fop_oserror(err, code, src);
}

int
fop_move_over(const char *src, const char *dst, fail_t *err)
{
    return move_to(src, dst, true, err);
}

int
file_move(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *src = fop_path(args, "src"), *dst = fop_path(args, "dst");
    fail_auto_t why = FAIL_INIT;

    if (value_bool(args, "disallow_copy_and_unlink", false))
        return file_rename(ctx, args, ret_value, err);
    if (fop_need_abs(src, "Source path must be absolute.", err) != 0 ||
        fop_need_abs(dst, "Destination path must be absolute.", err) != 0)
        return -EINVAL;

    /* shutil.move: into a folder that exists, by rename, else by copy and remove. */
    int into = fop_exists_as(dst, S_IFDIR, &why);
    AUTO_FREE char *target = into > 0 ? fop_join2(dst, fop_basename(src)) : xstrdup(dst);
    if (into < 0 || move_to(src, target, false, &why) != 0)
        return fop_failed(err, "Unable to move '%s' to '%s': %s", src, dst, fail_text(&why));

    *ret_value = json_object();
    json_object_set_new(*ret_value, "result", json_true());
    json_object_set_new(*ret_value, "comment", value_fmt("'%s' moved to '%s'", src, dst));
    return 0;
}

/* ---- touch ----------------------------------------------------------------------------------- */

/* None: `dflt`; digits: that second. False for anything else. */
static bool
parse_time(const json_t *v, struct timespec *out)
{
    long long n;

    if (v == NULL || json_is_null(v))
        return true;
    if (json_is_integer(v))
        *out = (struct timespec){ (time_t) json_integer_value(v), 0 };
    else if (json_is_real(v) && fabs(json_real_value(v)) < 0x1p62)
        *out = (struct timespec){ (time_t) json_real_value(v), 0 };
    else if (json_is_string(v) && str_to_int(json_string_value(v), 0, INT64_MAX, &n))
        *out = (struct timespec){ (time_t) n, 0 };
    else
        return false;
    return true;
}

/* 0 or a negative errno; *err is set only where a link leads away. */
static int
touch_file(const char *path, const struct timespec times[2], fail_t *err)
{
    partfile_auto_t file = PARTFILE_INIT;
    fail_auto_t why = FAIL_INIT;
    int rc = partfile_find(&file, path, PARTFILE_SPECIAL, &why);

    if (rc == -EPERM)
        return fail_kind(err, why.kind, rc, "%s", fail_text(&why));
    if (rc != 0)
        return rc;
    if (file.file >= 0)
        return utimensat(AT_FDCWD, file.at, times, 0) == 0 ? 0 : -errno;
    AUTO_FD fd = open(file.path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    return fd >= 0 && futimens(fd, times) == 0 ? 0 : -errno;
}

/* Sets the times of a folder by its path, those of a file by its descriptor, and creates a missing file. A
 * link that leads a stranger's way fails with *err set; other failures have strerror's text alone, as in
 * Salt. */
int
file_touch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "name");
    struct timespec times[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };

    if (!parse_time(value_get(args, "atime"), &times[0]) || !parse_time(value_get(args, "mtime"), &times[1]))
        return fop_invalid(err, "atime and mtime must be integers");
    int dir = fop_exists_as(path, S_IFDIR, err);
    int rc = dir < 0    ? dir
             : dir == 0 ? touch_file(path, times, err)
                        : (utimensat(AT_FDCWD, path, times, 0) == 0 ? 0 : -errno);
    if (rc != 0)
        return err != NULL && err->code != 0 ? rc : fop_failed(err, "%s", strerror(-rc));
    *ret_value = json_boolean(fs_exists(path));
    return 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Kinds that mknod creates, with Salt's words for each. */
typedef struct node_kind {
    const char *letter;
    mode_t type;
    const char *created;
} node_kind_t;

static const node_kind_t node_kinds[] = {
    { "c", S_IFCHR, "Character device %s created." },
    { "b", S_IFBLK, "Block device %s created." },
    { "p", S_IFIFO, "Fifo pipe %s created." },
};

/* 1 when it was made, 0 when something has the name already, which stays as it is; or a negative errno. */
static int
place_node(const char *path, const json_t *args, const node_kind_t *kind, fail_t *err)
{
    AUTO_FREE char *mode = fop_normalize_mode(value_get(args, "mode"));
    dev_t dev = makedev((unsigned) value_int(args, "major", 0), (unsigned) value_int(args, "minor", 0));
    destpath_auto_t resolved = DESTPATH_INIT;
    int rc = destpath_find(&resolved, path, DESTPATH_LINK);

    if (destpath_refused(&resolved, rc, err))
        return rc;
    if (rc == 0 && mknodat(resolved.folder, resolved.name, kind->type | 0600, dev) != 0)
        rc = -errno;
    if (rc == -EEXIST || rc == -EISDIR)
        return 0;
    if (rc != 0)
        return fop_oserror(err, -rc, path);
    rc = dress_made(&resolved, kind->type, value_get(args, "user"), value_get(args, "group"), mode, err);
    return rc == 0 ? 1 : rc;
}

/* Test mode reports the creation without looking at the path, as in Salt. */
static int
make_node(call_ctx_t *ctx, json_t *args, const node_kind_t *kind, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "name");
    bool test = fop_test_mode(ctx);
    json_auto_t *ret = json_pack("{s:s, s:{}, s:s, s:b}", "name", path, "changes", "comment", "", "result",
                                 0);
    AUTO_FREE char *created = str_replace(kind->created, "%s", path);
    int made = test ? 1 : place_node(path, args, kind, err);

    if (made < 0)
        return made;
    if (made == 0) {
        json_object_set_new(ret, "comment", value_fmt("File %s exists and cannot be overwritten", path));
    } else {
        json_object_set_new(json_object_get(ret, "changes"), "new", json_string(created));
        json_object_set_new(ret, "result", test ? json_null() : json_true());
    }
    *ret_value = json_incref(ret);
    return 0;
}

/* By its letter. BORROWED, or NULL. */
static const node_kind_t *
node_kind_of(const char *letter)
{
    for (size_t i = 0; i < NELEMS(node_kinds); i++)
        if (str_eq(letter, node_kinds[i].letter))
            return &node_kinds[i];
    return NULL;
}

int
file_mknod_kind(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return make_node(ctx, args, node_kind_of(ctx_row(ctx)->data.text), ret_value, err);
}

int
file_mknod(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "name");
    AUTO_FREE char *folder = fop_dirname(path);
    const char *type = value_str(args, "ntype", "");
    const node_kind_t *kind = node_kind_of(type);

    if (kind == NULL)
        return fop_invalid(
            err,
            "Node type unavailable: '%s'. Available node types are character ('c'), block ('b'), and "
            "pipe ('p').",
            type);
    int there = fop_test_mode(ctx) || *folder == '\0' ? 1 : fop_exists(folder, err);
    if (there < 0 ||
        (there == 0 && make_dirs(folder, value_get(args, "user"), value_get(args, "group"), NULL, err) != 0))
        return err->code;
    return make_node(ctx, args, kind, ret_value, err);
}
