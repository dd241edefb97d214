/* gitfs_int.h - private to gitfs*.c: a remote, its local copy, and its environments.
 *
 * Below cachedir/gitfs each remote has a bare copy (HASH), and all share files by content (blobs/SHA): a
 * file that was handed out does not change when the remote is fetched.
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
    int64_t stamp;           /* mtime of the fetch that `refs` belongs to; 0: none */
    json_t *refs;            /* owned: {"heads/x" or "tags/x": commit} */
    map_t *trees;            /* commit -> map of path -> git_entry_t */
    map_t *whole;            /* blobs whose files were verified */
} git_remote_t;

/* gitfs_conf.c: NEW array of gitfs_remotes that ends with NULL; NULL with *err. */
git_remote_t **git_remotes_new(json_t *opts, fail_t *err);
void git_remotes_free(git_remote_t **remotes);
/* A setting of an environment: "root", "mountpoint" (without slashes at its ends), "ref" (NULL: it has none).
 * NEW. */
char *git_setting(const git_remote_t *r, const char *key, const char *saltenv);
/* True when whitelist and blacklist admit an environment. */
bool git_is_exposed(const git_remote_t *r, const char *saltenv);
/* The same of an environment that a ref ("heads/x", "tags/x") is. */
bool git_exposes_ref(const git_remote_t *r, const char *ref);
/* Add the environments of its branches and tags to a set. */
void git_add_envs(const git_remote_t *r, json_t *set);

/* gitfs_repo.c */
git_copy_t git_remote_copy(const git_remote_t *r); /* BORROWS from it */
/* Fetch if update_interval or `now` says so: 1 when it did, 0 when not; *ret_wait_s: seconds until the next
 * time. */
int git_update(git_remote_t *r, bool now, int *ret_wait_s, fail_t *err);
/* Set or remove the lock, which prevents fetching. 1 when that changed something. */
int git_lock(git_remote_t *r, bool on, fail_t *err);
/* Reload the refs after a fetch. */
int git_look(git_remote_t *r, fail_t *err);
/* The files of an environment; NULL without *err: the remote has no such environment. BORROWED until the next
 * git_look. */
const map_t *git_tree(git_remote_t *r, const char *saltenv, fail_t *err);

/* gitfs_blob.c */
/* Provide a blob's content as a file, complete and verified. NEW path. */
int git_blob(git_remote_t *r, const char *id, char **ret_path, fail_t *err);
/* The text of a small blob: a link's target. NEW. */
char *git_link(git_remote_t *r, const char *id, fail_t *err);
/* Once a day, remove files of all remotes that were not requested for a month. */
void git_blobs_forget(const git_remote_t *r);

#endif
