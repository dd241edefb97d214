/* roots.c - the backend `roots`: the folders of file_roots; the first that has a file wins.
 *
 * Files are opened relative to the root's descriptor; the kernel keeps the path inside (openat2) unless links
 * may be followed. Lists walk all folders, holding one descriptor at a time, and detect loops of links by
 * device and inode. */
#include "common/files/backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* An environment of this name in file_roots stands for all that have no folders of their own. */
#define ANY_ENV "__env__"

typedef struct roots {
    json_t *folders; /* BORROWED: {env: [folder]} */
    ignore_t *ignore;
    bool follow, no_links;
} roots_t;

static void *
files_roots_new(json_t *opts, json_t *roots, fail_t *err)
{
    roots_t *self = xcalloc(1, sizeof(*self));
    self->folders = roots != NULL ? roots : value_get(opts, "file_roots");
    self->ignore = ignore_new(opts);
    self->follow = value_bool(opts, "fileserver_followsymlinks", true);
    self->no_links = value_bool(opts, "fileserver_ignoresymlinks", false);
    return self;
}

static void
files_roots_free(void *cookie)
{
    roots_t *self = cookie;
    ignore_destroy(&self->ignore);
    free(self);
}

/* The folders of an environment, BORROWED; NULL when it does not exist. *ret_any: they are ANY_ENV's. */
static json_t *
files_roots_folders(const roots_t *self, const char *saltenv, bool *ret_any)
{
    json_t *own = value_get(self->folders, saltenv);
    *ret_any = own == NULL;
    return own != NULL ? own : value_get(self->folders, ANY_ENV);
}

/* The path of a folder, with ANY_ENV replaced. NEW. */
static char *
files_roots_folder(const json_t *folder, const char *saltenv, bool any)
{
    const char *path = json_is_string(folder) ? json_string_value(folder) : "";
    return any ? str_replace(path, ANY_ENV, saltenv) : xstrdup(path);
}

/* ---- one file -------------------------------------------------------------------------------- */

/* True when a failed open() means that the file is not served: it does not exist, links loop or leave the
 * folder, or it is a socket. Any other error must be reported, as the file may exist. */
static bool
is_no_file(int code)
{
    return fs_is_absence(code) || code == -ELOOP || code == -EXDEV || code == -ENAMETOOLONG || code == -ENXIO;
}

static int
files_roots_find_in(roots_t *self, const char *folder, const char *path, served_t *ret, fail_t *err)
{
    AUTO_FREE char *full = fs_join(folder, path);
    if (beneath_check(path) < 0)
        return -ENOENT;
    AUTO_FD root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* Where links are followed they may leave the folder; otherwise the kernel keeps the path inside. */
    AUTO_FD fd = root >= 0 ? beneath_open(root, path, self->follow ? BENEATH_OUT : BENEATH_LINKS,
                                          O_RDONLY | O_NONBLOCK | O_NOCTTY, 0)
                           : -errno;
    if (fd < 0)
        return is_no_file(fd) ? -ENOENT : fs_fail(err, fd, "open", root >= 0 ? full : folder);
    /* fs_join drops double slashes only at the seam, as Python's os.path.join does. */
    return ignore_match(self->ignore, full) ? -ENOENT : served_take(ret, &fd, &full, err);
}

static int
files_roots_find(void *cookie, const char *path, const char *saltenv, served_t *ret, fail_t *err)
{
    roots_t *self = cookie;
    bool any;
    json_t *folders = files_roots_folders(self, saltenv, &any), *one;
    size_t i;
    json_array_foreach (folders, i, one) {
        AUTO_FREE char *folder = files_roots_folder(one, saltenv, any);
        int rc = files_roots_find_in(self, folder, path, ret, err);
        if (rc != -ENOENT)
            return rc;
    }
    return -ENOENT;
}

/* ---- all files ------------------------------------------------------------------------------- */

/* A folder of the walk and its parents, to detect a link back to one of them. */
typedef struct above {
    dev_t dev;
    ino_t ino;
    int depth;
    const struct above *up;
} above_t;

typedef struct walk {
    roots_t *self;
    int root;
    const char *folder;
    char *real; /* owned: the folder without links */
    file_lists_t *into;
    fail_t *err;
} walk_t;

typedef struct entry {
    char *rel; /* owned: path below the root */
    bool is_dir, is_link;
} entry_t;

typedef struct entries {
    entry_t *items;
    size_t n;
} entries_t;

static void
files_roots_entries_free(entries_t *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->items[i].rel);
    free(all->items);
}

static int
files_roots_failed(const walk_t *w, const char *rel, const char *verb, int rc)
{
    AUTO_FREE char *full = *rel ? fs_join(w->folder, rel) : xstrdup(w->folder);
    return fs_fail(w->err, rc, verb, full);
}

/* Stat an entry. One that was removed since its name was read, or a link to nowhere, stays in the list with
 * no type. */
static int
files_roots_stat(const walk_t *w, const char *rel, int flags, struct stat *st)
{
    int rc = fstatat(w->root, rel, st, flags) == 0 ? 0 : -errno;
    if (rc == 0)
        return 0;
    st->st_mode = 0;
    return is_no_file(rc) ? 0 : files_roots_failed(w, rel, "look at", rc);
}

/* Adds a name to the list, with its type: the kernel may leave that open (DT_UNKNOWN), and links need a
 * look. */
static int
entry_add(walk_t *w, entries_t *all, const char *rel, const struct dirent *d)
{
    struct stat st;
    int rc = 0;
    entry_t e = { *rel ? fs_join(rel, d->d_name) : xstrdup(d->d_name), d->d_type == DT_DIR,
                  d->d_type == DT_LNK };
    if (d->d_type == DT_UNKNOWN && (rc = files_roots_stat(w, e.rel, AT_SYMLINK_NOFOLLOW, &st)) == 0) {
        e.is_dir = S_ISDIR(st.st_mode);
        e.is_link = S_ISLNK(st.st_mode);
    }
    if (rc == 0 && e.is_link && (rc = files_roots_stat(w, e.rel, 0, &st)) == 0)
        e.is_dir = S_ISDIR(st.st_mode);
    if ((all->n & (all->n + 1)) == 0) /* full at 0, 1, 3, 7, ... */
        all->items = xrealloc(all->items, (2 * all->n + 1) * sizeof(*all->items));
    all->items[all->n++] = e;
    return rc;
}

/* Open a folder. Negative on failure, with *err unless the folder simply is not served. */
static int
open_folder(walk_t *w, const char *rel)
{
    beneath_t how = w->self->follow ? BENEATH_OUT : BENEATH_NO_LINKS;
    int fd = *rel ? beneath_open(w->root, rel, how, O_RDONLY | O_DIRECTORY, 0)
                  : openat(w->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    fd = fd < 0 && !*rel ? -errno : fd;
    return fd >= 0 || is_no_file(fd) ? fd : files_roots_failed(w, rel, "read the folder", fd);
}

/* Read a folder and close it, so that a deep walk holds one descriptor. A partial list is an error: callers
 * delete what is not listed. */
static int
files_roots_entries(walk_t *w, const char *rel, above_t *here, entries_t *ret)
{
    AUTO_FD fd = open_folder(w, rel);
    struct stat st;
    if (fd < 0)
        return fd;
    DIR *dir = fstat(fd, &st) == 0 ? fdopendir(fd) : NULL;
    if (dir == NULL)
        return files_roots_failed(w, rel, "read the folder", -errno);
    fd = -1;
    here->dev = st.st_dev;
    here->ino = st.st_ino;
    int rc, bad = 0;
    for (const struct dirent *d; bad == 0 && (d = fs_next(dir, &rc));)
        bad = entry_add(w, ret, rel, d);
    (void) closedir(dir);
    if (bad < 0 || rc == 0)
        return bad;
    /* The reason is not passed on: one that means "absent" would make the rest of the names look absent. */
    return fail_set(w->err, -EIO, "cannot read the folder %s/%s: %s", w->folder, rel, strerror(-rc));
}

/* Resolve the existing part of `path` and append the rest. NEW. */
static char *
files_roots_real(const char *path)
{
    AUTO_FREE char *head = xstrdup(path);
    for (;;) {
        AUTO_FREE char *real = realpath(head, NULL);
        char *slash = strrchr(head, '/');
        if (real != NULL || slash == NULL || slash == head)
            return real != NULL ? xasprintf("%s%s", real, path + strlen(head)) : xstrdup(path);
        *slash = '\0';
    }
}

/* List a link's target if it is inside the folder, or if links are not followed. "Inside" as Salt computes
 * it: a target that begins with ".." is relative to the link's own name. */
static int
files_roots_add_link(walk_t *w, const entry_t *e)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(w->root, e->rel, target, sizeof(target) - 1);
    if (n < 0)
        return fs_is_absence(-errno) || errno == EINVAL
                   ? 0
                   : files_roots_failed(w, e->rel, "read the link", -errno);
    target[n] = '\0';
    const char *slash = strrchr(e->rel, '/');
    int len = str_starts(target, "..") ? (int) strlen(e->rel) : slash != NULL ? (int) (slash - e->rel) : 0;
    AUTO_FREE char *from = xasprintf("%s/%.*s", w->folder, len, e->rel);
    AUTO_FREE char *joined = *target == '/' ? xstrdup(target) : fs_join(from, target);
    AUTO_FREE char *flat = files_flatten(joined);
    AUTO_FREE char *real = files_roots_real(flat);
    size_t k = strlen(w->real);
    bool inside = str_starts(real, w->real) && (real[k] == '\0' || real[k] == '/' || k == 1);
    if (!inside && w->self->follow)
        return 0;
    AUTO_FREE char *name = xstrdup(e->rel);
    json_t *value = json_string(target);
    if (value == NULL || json_object_set_new(w->into->links, name, value) != 0)
        log_debug("%s/%s: a link whose name or target is not UTF-8 is left out", w->folder, e->rel);
    return 0;
}

/* Adds an entry to the lists that it belongs to. */
static int
files_roots_add(walk_t *w, const entry_t *e)
{
    if ((e->is_link && w->self->no_links) || ignore_match(w->self->ignore, e->rel))
        return 0;
    int rc = file_lists_add(w->into, e->is_dir ? w->into->dirs : w->into->files, e->rel, w->err);
    if (rc == 0 && e->is_dir) {
        /* A folder that can't be read because it is gone or not served is no empty one. */
        entries_t all = { NULL, 0 };
        above_t here = { 0 };
        rc = files_roots_entries(w, e->rel, &here, &all);
        if (rc == 0 && all.n == 0)
            rc = file_lists_add(w->into, w->into->empty_dirs, e->rel, w->err);
        else if (rc < 0 && is_no_file(rc))
            rc = 0;
        files_roots_entries_free(&all);
    }
    return rc == 0 && e->is_link ? files_roots_add_link(w, e) : rc;
}

/* All entries of a folder before those of its folders, which keeps one folder open at a time. */
static int
files_roots_walk(walk_t *w, const char *rel, const above_t *up)
{
    entries_t all = { NULL, 0 };
    above_t here = { 0, 0, up != NULL ? up->depth + 1 : 0, up };
    int rc = files_roots_entries(w, rel, &here, &all);
    if (rc < 0) {
        /* Tolerable: a folder that vanished, or an ignored one (lost+found), which need not be readable. */
        files_roots_entries_free(&all);
        if (!is_no_file(rc) && (*rel == '\0' || !ignore_match(w->self->ignore, rel)))
            return rc;
        fail_clear(w->err);
        return 0;
    }
    if (here.depth > LIMIT_FILE_DEPTH)
        log_warning("%s/%s: folders deeper than %d levels are not served", w->folder, rel, LIMIT_FILE_DEPTH);
    bool stop = here.depth > LIMIT_FILE_DEPTH;
    for (const above_t *a = here.up; a != NULL && !stop; a = a->up)
        stop = a->dev == here.dev && a->ino == here.ino; /* a link back to a folder above */
    for (size_t i = 0; !stop && rc == 0 && i < all.n; i++)
        rc = files_roots_add(w, &all.items[i]);
    for (size_t i = 0; !stop && rc == 0 && i < all.n; i++) {
        if (all.items[i].is_dir && (!all.items[i].is_link || w->self->follow))
            rc = files_roots_walk(w, all.items[i].rel, &here);
    }
    files_roots_entries_free(&all);
    return rc;
}

static int
files_roots_list(void *cookie, const char *saltenv, file_lists_t *into, fail_t *err)
{
    roots_t *self = cookie;
    bool any;
    json_t *folders = files_roots_folders(self, saltenv, &any), *one;
    size_t i;
    json_array_foreach (folders, i, one) {
        AUTO_FREE char *folder = files_roots_folder(one, saltenv, any);
        AUTO_FD root = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        AUTO_FREE char *real = root >= 0 ? realpath(folder, NULL) : NULL;
        int why = real != NULL ? 0 : -errno;
        if (real == NULL && is_no_file(why))
            continue;
        if (real == NULL)
            return fs_fail(err, why, "open", folder);
        walk_t w = { self, root, folder, real, into, err };
        int rc = files_roots_walk(&w, "", NULL);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int
files_roots_envs(void *cookie, json_t *set, fail_t *err)
{
    const roots_t *self = cookie;
    const char *env;
    json_t *folders;
    json_object_foreach (self->folders, env, folders)
        json_object_set_new(set, env, json_true());
    return 0;
}

const file_backend_t roots_backend = { "roots",
                                       files_roots_new,
                                       files_roots_free,
                                       files_roots_find,
                                       files_roots_list,
                                       files_roots_envs,
                                       NULL,
                                       NULL,
                                       NULL };
