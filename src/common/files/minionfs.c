/* minionfs.c - the backend `minionfs`: files that minions pushed (cp.push), for all:
 * salt://MOUNTPOINT/ID/PATH, out of cachedir/minions/ID/files.
 *
 * The files are that minion's word where the master makes values of it: files_sent(). An id is a minion's
 * claim that was accepted, and stands for its own folder alone: a path whose first part is no id is not served.
 * Within the folder the backend `roots` finds and lists, without links. */
#include "common/files/backend.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct minionfs {
    char *minions;          /* owned: the folder that has one of each minion */
    char *mountpoint;       /* owned: "" or "a/b" */
    char *saltenv;          /* owned */
    json_t *only, *without; /* BORROWED */
    json_t *opts;           /* owned: those for `roots` */
    bool on;
} minionfs_t;

static void *
minionfs_new(json_t *opts, json_t *roots, fail_t *err)
{
    minionfs_t *self = xcalloc(1, sizeof(*self));
    const char *mount = value_str(opts, "minionfs_mountpoint", "");
    size_t n;

    mount += str_starts(mount, "salt://") ? strlen("salt://") : 0;
    mount += strspn(mount, "/");
    for (n = strlen(mount); n > 0 && mount[n - 1] == '/';)
        n--;
    self->mountpoint = xstrndup(mount, n);
    self->minions = fs_join(value_str(opts, "cachedir", ""), "minions");
    self->saltenv = xstrdup(value_str(opts, "minionfs_env", "base"));
    self->only = value_get(opts, "minionfs_whitelist");
    self->without = value_get(opts, "minionfs_blacklist");
    self->opts = json_copy(opts);
    json_object_set_new(self->opts, "fileserver_followsymlinks", json_false());
    json_object_set_new(self->opts, "fileserver_ignoresymlinks", json_true());
    self->on = value_bool(opts, "file_recv", false);
    if (!self->on)
        log_warning("fileserver_backend: minionfs serves nothing while file_recv is off");
    return self;
}

static void
minionfs_free(void *cookie)
{
    minionfs_t *self = cookie;

    free(self->minions);
    free(self->mountpoint);
    free(self->saltenv);
    json_decref(self->opts);
    free(self);
}

/* True for a minion whose files are served. Without a mountpoint, minions called _modules or _states would
 * bring code to all others. */
static bool
minionfs_serves(const minionfs_t *self, const char *id)
{
    return conf_id_valid(id, NULL) && beneath_is_name(id) && (*self->mountpoint != '\0' || *id != '_') &&
           files_is_exposed(self->only, self->without, id);
}

/* NEW: a minion's files as the backend `roots` serves them; `*ret_roots` lives as long. */
static void *
files_of_minion(const minionfs_t *self, const char *id, json_t **ret_roots, fail_t *err)
{
    *ret_roots = json_pack("{s:[o]}", self->saltenv, value_fmt("%s/%s/files", self->minions, id));
    return roots_backend.new(self->opts, *ret_roots, err);
}

/* top.sls of a minion is not served: it would choose states for all. */
static int
minionfs_find(void *cookie, const char *path, const char *saltenv, served_t *ret, fail_t *err)
{
    const minionfs_t *self = cookie;
    size_t n = strlen(self->mountpoint);
    const char *name = strrchr(path, '/'), *slash;

    if (!self->on || strcmp(saltenv, self->saltenv) != 0 || name == NULL || strcmp(name, "/top.sls") == 0 ||
        strncmp(path, self->mountpoint, n) != 0 || (n > 0 && path[n] != '/'))
        return -ENOENT;
    path += n > 0 ? n + 1 : 0;
    slash = strchr(path, '/');
    AUTO_FREE char *id = xstrndup(path, slash != NULL ? (size_t) (slash - path) : 0);
    if (slash == NULL || !minionfs_serves(self, id))
        return -ENOENT;
    json_auto_t *roots = NULL;
    void *files = files_of_minion(self, id, &roots, err);
    int rc = roots_backend.find(files, slash + 1, saltenv, ret, err);
    roots_backend.free(files);
    if (rc == 0)
        files_note_sent();
    return rc;
}

/* Adds the paths of a set below `before`. */
static int
minionfs_add_below(file_lists_t *into, json_t *set, const char *before, json_t *paths, fail_t *err)
{
    const char *path;
    json_t *v;
    int rc = 0;

    json_object_foreach (paths, path, v) {
        AUTO_FREE char *whole = fs_join(before, path);
        rc = rc == 0 ? file_lists_add(into, set, whole, err) : rc;
    }
    return rc;
}

/* Lists a minion's files; a minion that pushed none has none. */
static int
minionfs_list_one(const minionfs_t *self, const char *id, file_lists_t *into, fail_t *err)
{
    json_auto_t *roots = NULL, *files = json_object(), *dirs = json_object(), *empty = json_object(),
                *links = json_object();
    file_lists_t own = { files, dirs, empty, links, 0 };
    AUTO_FREE char *before = *self->mountpoint != '\0' ? fs_join(self->mountpoint, id) : xstrdup(id);
    void *served = files_of_minion(self, id, &roots, err);
    int rc = roots_backend.list(served, self->saltenv, &own, err);

    roots_backend.free(served);
    if (json_object_size(files) + json_object_size(dirs) > 0)
        files_note_sent();
    rc = rc == 0 ? minionfs_add_below(into, into->files, before, files, err) : rc;
    return rc == 0 ? minionfs_add_below(into, into->dirs, before, dirs, err) : rc;
}

static int
minionfs_list(void *cookie, const char *saltenv, file_lists_t *into, fail_t *err)
{
    const minionfs_t *self = cookie;
    DIR *dir = self->on && strcmp(saltenv, self->saltenv) == 0 ? opendir(self->minions) : NULL;
    int why = errno, rc = 0, bad = 0;

    if (!self->on || strcmp(saltenv, self->saltenv) != 0 || (dir == NULL && fs_is_absence(-why)))
        return 0;
    if (dir == NULL)
        return fs_fail(err, -why, "read the folder", self->minions);
    for (const struct dirent *d; bad == 0 && (d = fs_next(dir, &rc)) != NULL;)
        bad = minionfs_serves(self, d->d_name) ? minionfs_list_one(self, d->d_name, into, err) : 0;
    (void) closedir(dir);
    return bad < 0 || rc == 0 ? bad : fs_fail(err, rc, "read the folder", self->minions);
}

static int
minionfs_envs(void *cookie, json_t *set, fail_t *err)
{
    const minionfs_t *self = cookie;

    if (self->on)
        json_object_set_new(set, self->saltenv, json_true());
    return 0;
}

const file_backend_t minionfs_backend = { "minionfs",    minionfs_new,  minionfs_free,
                                          minionfs_find, minionfs_list, minionfs_envs,
                                          NULL,          NULL,          NULL };
