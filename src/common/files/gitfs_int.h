/* gitfs_int.h - private to gitfs*.c: a remote, its local copy, and what one environment of it is.
 *
 * Below cachedir/gitfs each remote has a bare copy (HASH), and all have their files by content (blobs/SHA): a
 * file that was given out stays what it was, whatever is fetched meanwhile.
 *
 *   gitfs.c       the backend          gitfs_conf.c  options, per remote and per environment
 *   gitfs_repo.c  the system's git       gitfs_blob.c  files by content
 *
 * Layer      common/files
 * Threads    one at a time per object; several processes may share a cachedir
 * Tests      tests/unit/common/test_gitfs.c
 */
#ifndef COMMON_FILES_GITFS_INT_H
#define COMMON_FILES_GITFS_INT_H

#include "common/base/map.h"
#include "common/files/backend.h"
#include "common/files/gitcopy.h"

#define GIT_ID_MAX 64 /* hexadecimal digits of an object */

typedef struct git_entry {
    unsigned mode; /* as git has it: 040000, 0100644, 0100755, 0120000 */
    char id[GIT_ID_MAX + 1];
} git_entry_t;

typedef struct git_remote {
    char *url, *dir, *blobs; /* owned */
    json_t *conf;            /* owned: its settings over the gitfs_* options */
    json_t *saltenvs;        /* owned: {env: {ref, root, mountpoint}}, the remote's over the global ones */
    int64_t stamp;           /* mtime of the fetch that `refs` is of; 0: none was read */
    json_t *refs;            /* owned: {"heads/x" or "tags/x": commit} */
    map_t *trees;            /* commit -> map of path -> git_entry_t */
    map_t *whole;            /* the blobs whose files were read and are what their names say */
} git_remote_t;

/* gitfs_conf.c: NEW array of gitfs_remotes that ends with NULL; NULL with *err. */
git_remote_t **git_remotes_new(json_t *opts, fail_t *err);
void git_remotes_free(git_remote_t **remotes);
/* A setting of an environment: "root", "mountpoint" (without slashes at its ends), "ref" (NULL: it has none).
 * NEW. */
char *git_setting(const git_remote_t *r, const char *key, const char *saltenv);
/* Whether whitelist and blacklist let an environment through. */
bool git_is_exposed(const git_remote_t *r, const char *saltenv);
/* The environments of its branches and tags, added to a set. */
void git_add_envs(const git_remote_t *r, json_t *set);

/* gitfs_repo.c */
git_copy_t git_remote_copy(const git_remote_t *r); /* BORROWS from it */
/* As new as update_interval wants it, or fetched `now`; *ret_wait_s: until the next time. */
int git_update(git_remote_t *r, bool now, int *ret_wait_s, fail_t *err);
/* Sets or removes the lock: while it is there, nothing is fetched. 1 when that changed something. */
int git_lock(git_remote_t *r, bool on, fail_t *err);
/* Reads the refs again after a fetch. */
int git_look(git_remote_t *r, fail_t *err);
/* The files of an environment; NULL without *err: it has none here. BORROWED until the next git_look. */
const map_t *git_tree(git_remote_t *r, const char *saltenv, fail_t *err);

/* gitfs_blob.c */
/* NEW path of a blob's contents, whole and on the disk. */
int git_blob(git_remote_t *r, const char *id, char **ret_path, fail_t *err);
/* NEW text of a small blob: where a link leads. */
char *git_link(git_remote_t *r, const char *id, fail_t *err);
/* Remove, once a day, those files of all remotes that nobody asked for in a month. */
void git_blobs_forget(const git_remote_t *r);

#endif
