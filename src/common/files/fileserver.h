/* fileserver.h - the files that a configuration serves: environments, from one or several backends in order.
 *
 * The master's file workers and fileclient_local are built on it. A backend is a row of the table at the end
 * of fileserver.c.
 *
 * Layer      common/files
 * Threads    one at a time per object
 * Ownership  results are NEW; `opts` and `roots` are BORROWED while it lives
 * Errors     -ENOENT: no such file there (quietly: no text); other negative errno with *err
 * Limits     LIMIT_FILE_LIST names of one environment, LIMIT_FILE_DEPTH folders inside each other
 * Tests      tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_FILESERVER_H
#define COMMON_FILES_FILESERVER_H

#include "common/files/fileclient.h"
#include "salt/base.h"

typedef struct served {
    int fd;     /* owned: open for reading, at its start; -1: none */
    char *path; /* owned: on this machine */
    uint64_t dev, ino;
    int64_t size, mtime_ns, ctime_ns;
    unsigned mode; /* permissions and type, as stat(2) */
} served_t;

#define SERVED_INIT   ROW(-1, NULL, 0, 0, 0, 0, 0, 0)
#define served_auto_t __attribute__((cleanup(served_clear))) served_t
void served_clear(served_t *self);
/* Take a descriptor and a path over, and fill in fstat's data: -ENOENT when it is not a regular file. TAKES
 * both. */
int served_take(served_t *self, int *fd_p, char **path_p, fail_t *err);

/* How often this thread was given a file that a minion sent, or the names of such files: who makes values of
 * them looks whether it grew. */
uint64_t files_sent(void);
void files_note_sent(void);
/* A bit of the mode, without a meaning of its own for a file, that a minion's copy of such a file has. */
#define FILES_SENT_MODE 01000

typedef struct fileserver fileserver_t;

/* `roots` NULL: file_roots and the other backends of fileserver_backend; else those folders alone. */
fileserver_t *fileserver_new(json_t *opts, json_t *roots);
void fileserver_destroy(fileserver_t **self_p);

/* True when a backend has remotes that fileserver_update may fetch. */
bool fileserver_has_remotes(const fileserver_t *self);
/* The outcome of an update. */
typedef struct fileserver_fetch {
    bool fetched; /* a remote was due, and answered */
    bool changed; /* it has other branches, tags or commits than before */
} fileserver_fetch_t;
/* Fetch the remotes that are due, or all (`now`); seconds until the next time, 0: no remotes. Failures are
 * logged. */
int fileserver_update(fileserver_t *self, bool now, fileserver_fetch_t *ret);
/* The event of an update that fetched, with the option fileserver_events: its tag, and NEW its data. */
#define FILESERVER_UPDATE_TAG "salt/fileserver/gitfs/update"
json_t *fileserver_update_event(const fileserver_fetch_t *fetch);
/* Remove cached data of remotes: NEW array of the backends that had some, or NULL with *err. */
json_t *fileserver_clear(fileserver_t *self, fail_t *err);
/* Lock remotes against being fetched: all, or those whose URL matches `glob`. NEW array of texts about what
 * changed, or NULL with *err. */
json_t *fileserver_lock(fileserver_t *self, const char *glob, bool on, fail_t *err);

/* `path` and `saltenv` as fileclient_split gives them; both are checked again. */
int fileserver_find(fileserver_t *self, const char *path, const char *saltenv, served_t *ret, fail_t *err);
/* Array, sorted, or for FILES_SYMLINKS an object; empty for an environment that is not there. */
json_t *fileserver_list(fileserver_t *self, files_kind_t kind, const char *saltenv, const char *prefix,
                        fail_t *err);
/* Hexadecimal digest of an open file by hash_type; cached while file, size and times stay the same. */
int fileserver_hash(fileserver_t *self, const served_t *file, char **ret_hex, fail_t *err);
/* For callers that compute digests themselves: the cached one (BORROWED until the next call, NULL: none), and
 * a digest to cache. */
const char *fileserver_known_hash(const fileserver_t *self, const served_t *file);
void fileserver_learn_hash(fileserver_t *self, const served_t *file, const char *hex);
const char *fileserver_hash_type(const fileserver_t *self); /* BORROWED */
json_t *fileserver_envs(fileserver_t *self, fail_t *err);   /* sorted array */

#endif
