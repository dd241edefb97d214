/* gitfs.c - the backend `gitfs`: branches and tags of repositories as environments. Paths are mapped by
 * `root` and `mountpoint`; links are resolved inside the tree. See gitfs_int.h. */
#include "common/files/gitfs_int.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/log.h"
#include "salt/value.h"

#define LINKS_MAX 100

static void *
gitfs_new(json_t *opts, json_t *roots, fail_t *err)
{
    return git_remotes_new(opts, err);
}

static void
gitfs_free(void *remotes)
{
    git_remotes_free(remotes);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* Map a served path to the repository's. NEW; NULL: not below the mountpoint. */
static char *
gitfs_inside(const git_remote_t *r, const char *path, const char *saltenv)
{
    AUTO_FREE char *mount = git_setting(r, "mountpoint", saltenv), *root = git_setting(r, "root", saltenv);
    size_t n = strlen(mount);
    if (n > 0 && (!str_starts(path, mount) || path[n] != '/'))
        return NULL;
    path += n > 0 ? n + 1 : 0;
    return *root ? fs_join(root, path) : xstrdup(path);
}

/* Map a repository's path to the served one. NEW; NULL: outside `root`. */
static char *
gitfs_outside(const char *mount, const char *root, const char *path)
{
    size_t n = strlen(root);
    if (n > 0 && (!str_starts(path, root) || path[n] != '/'))
        return NULL;
    path += n > 0 ? n + 1 : 0;
    return *mount ? fs_join(mount, path) : xstrdup(path);
}

/* Look up a path, following links inside the tree, at most LINKS_MAX; NULL: no such file. Changes *path_p. */
static const git_entry_t *
gitfs_follow(git_remote_t *r, const map_t *tree, char **path_p, fail_t *err)
{
    for (int i = 0; i < LINKS_MAX; i++) {
        const git_entry_t *e = map_get(tree, *path_p);
        if (e == NULL || !S_ISLNK(e->mode))
            return e != NULL && S_ISREG(e->mode) ? e : NULL;
        AUTO_FREE char *target = git_link(r, e->id, err);
        if (target == NULL || *target == '/')
            return NULL;
        const char *slash = strrchr(*path_p, '/');
        AUTO_FREE char *joined = xasprintf("%.*s%s", slash != NULL ? (int) (slash + 1 - *path_p) : 0, *path_p,
                                           target);
        free(*path_p);
        *path_p = files_flatten(joined);
        if (!files_is_below(*path_p))
            return NULL;
    }
    return NULL;
}

/* -ENOENT also for an environment that the remote does not have or expose. */
static int
gitfs_find_in(git_remote_t *r, const char *path, const char *saltenv, served_t *ret, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *inside = gitfs_inside(r, path, saltenv), *blob = NULL;
    if (inside == NULL || git_look(r, &why) < 0)
        return why.text != NULL ? fail_set(err, why.code, "%s", why.text) : -ENOENT;
    const map_t *tree = git_tree(r, saltenv, &why);
    const git_entry_t *e = tree != NULL ? gitfs_follow(r, tree, &inside, &why) : NULL;
    if (e == NULL || git_blob(r, e->id, &blob, &why) < 0)
        return why.text != NULL ? fail_set(err, why.code, "%s", why.text) : -ENOENT;
    unsigned mode = e->mode;
    int fd = open(blob, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_set(err, -errno, "%s: %s", blob, strerror(errno));
    int rc = served_take(ret, &fd, &blob, err);
    ret->mode = rc == 0 ? mode : 0;
    return rc;
}

static int
gitfs_find(void *self, const char *path, const char *saltenv, served_t *ret, fail_t *err)
{
    git_remote_t **remotes = self;
    int rc = -ENOENT;
    for (size_t i = 0; rc == -ENOENT && remotes[i] != NULL; i++)
        rc = gitfs_find_in(remotes[i], path, saltenv, ret, err);
    return rc;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* Adds a remote's files and folders under the names that they are served by. */
static int
gitfs_list_in(git_remote_t *r, const char *saltenv, file_lists_t *into, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    const map_t *tree = git_look(r, &why) == 0 ? git_tree(r, saltenv, &why) : NULL;
    AUTO_FREE char *mount = git_setting(r, "mountpoint", saltenv), *root = git_setting(r, "root", saltenv);
    const char *path;
    void *value;
    int rc = why.text != NULL ? fail_set(err, why.code, "%s", why.text) : 0;
    if (tree == NULL)
        return rc;
    if (*mount)
        rc = file_lists_add(into, into->dirs, mount, err);
    for (size_t i = 0; rc == 0 && map_next(tree, &i, &path, &value);) {
        const git_entry_t *e = value;
        AUTO_FREE char *name = gitfs_outside(mount, root, path);
        if (name == NULL || (!S_ISDIR(e->mode) && !S_ISREG(e->mode) && !S_ISLNK(e->mode)))
            continue;
        rc = file_lists_add(into, S_ISDIR(e->mode) ? into->dirs : into->files, name, err);
        if (rc == 0 && S_ISLNK(e->mode)) {
            /* List a link. A target longer than a link's maximum makes it a file. */
            fail_auto_t failed = FAIL_INIT;
            AUTO_FREE char *target = git_link(r, e->id, &failed);
            if (target != NULL)
                (void) json_object_set_new(into->links, name, json_string(target));
            rc = target != NULL || failed.code == -EFBIG
                     ? 0
                     : fail_set(err, failed.code, "%s", fail_text(&failed));
        }
    }
    return rc;
}

static int
gitfs_list(void *self, const char *saltenv, file_lists_t *into, fail_t *err)
{
    git_remote_t **remotes = self;
    int rc = 0;
    for (size_t i = 0; rc == 0 && remotes[i] != NULL; i++)
        rc = gitfs_list_in(remotes[i], saltenv, into, err);
    return rc;
}

static int
gitfs_envs(void *self, json_t *set, fail_t *err)
{
    git_remote_t **remotes = self;
    int rc = 0;
    for (size_t i = 0; rc == 0 && remotes[i] != NULL; i++) {
        rc = git_look(remotes[i], err);
        if (rc == 0)
            git_add_envs(remotes[i], set);
    }
    return rc;
}

/* A remote that does not answer must not block the others, and its last content is still served. */
static int
gitfs_update(void *self, bool now, fileserver_fetch_t *ret)
{
    git_remote_t **remotes = self;
    int wait_s = 0;
    for (size_t i = 0; remotes[i]; i++) {
        fail_auto_t err = FAIL_INIT;
        int own, rc = git_look(remotes[i], &err);
        json_auto_t *before = rc == 0 ? json_copy(remotes[i]->refs) : json_null();
        rc = git_update(remotes[i], now, &own, &err);
        if (rc < 0)
            log_error("gitfs: %s; what was fetched before is served", fail_text(&err));
        ret->fetched = ret->fetched || rc > 0;
        ret->changed = ret->changed ||
                       (rc > 0 && git_look(remotes[i], &err) == 0 && !json_equal(before, remotes[i]->refs));
        wait_s = wait_s == 0 || own < wait_s ? own : wait_s;
    }
    return wait_s;
}

/* Removes the copies; the next update fetches all anew. */
static int
gitfs_clear(void *self, fail_t *err)
{
    git_remote_t **remotes = self;
    int rc = 0;
    for (size_t i = 0; rc == 0 && remotes[i] != NULL; i++) {
        rc = fs_remove_tree(remotes[i]->dir, err);
        if (rc == 0)
            rc = fs_remove_tree(remotes[i]->blobs, err);
    }
    return rc;
}

static int
lock(void *self, const char *glob, bool on, json_t *said, fail_t *err)
{
    git_remote_t **remotes = self;
    int rc = 0;
    for (size_t i = 0; rc >= 0 && remotes[i] != NULL; i++) {
        if (glob != NULL && !match_glob(glob, remotes[i]->url))
            continue;
        rc = git_lock(remotes[i], on, err);
        if (rc > 0)
            json_array_append_new(said, value_fmt("%s update lock for gitfs remote '%s'",
                                                  on ? "Set" : "Removed", remotes[i]->url));
    }
    return rc < 0 ? rc : 0;
}

const file_backend_t gitfs_backend = { "gitfs",    gitfs_new,    gitfs_free,  gitfs_find, gitfs_list,
                                       gitfs_envs, gitfs_update, gitfs_clear, lock };
