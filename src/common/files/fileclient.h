/* fileclient.h - the file server's files from any source: local folders, or a master's through a
 * cache.
 *
 * An URL is "salt://path?saltenv=env", or the bare path; its own saltenv wins over the argument, and NULL
 * means "base". A path that leaves the roots does not exist.
 *
 * Layer      common/files; knows no master: the caller provides the functions
 * Threads    one at a time
 * Ownership  results are NEW
 * Errors     -ENOENT: no such file there (quietly: no log); other negative errno with *err
 * Tests      tests/unit/common/test_files.c, tests/t
 */
#ifndef COMMON_FILES_FILECLIENT_H
#define COMMON_FILES_FILECLIENT_H

#include "salt/base.h"

typedef enum files_kind { FILES_FILES, FILES_DIRS, FILES_EMPTYDIRS, FILES_SYMLINKS } files_kind_t;

typedef struct fileclient fileclient_t;
typedef struct fileclient_class {
    /* Provide the file as a local path that may be read until the process ends: the file itself or an
     * up-to-date copy in the cache. */
    int (*cache)(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err);
    /* Write the file to `dest`, whose folder exists. Atomic: readers see the old file or the new one. */
    int (*get)(void *self, const char *path, const char *saltenv, const char *dest, fail_t *err);
    /* Sorted array of paths below `prefix` ("" for all); FILES_SYMLINKS: object of path to target. */
    json_t *(*list)(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err);
    /* {"hash_type", "hsum", "mode", "size"}; without "hsum" when the size is not `size` (-1: any). */
    int (*hash)(void *self, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
                fail_t *err);
    json_t *(*envs)(void *self, fail_t *err);
    /* The options that the master sends minions for their state runs (conf_master_opts); NULL without a
     * master. */
    int (*options)(void *self, json_t **ret_told, fail_t *err);
    /* Send a local file to the server as `path`; NULL where that is impossible. */
    int (*put)(void *self, const char *local, const char *path, fail_t *err);
    void (*free)(void *self);
} fileclient_class_t;

/* NEW. `self` is freed with it. */
fileclient_t *fileclient_new(const fileclient_class_t *cls, void *self);
void fileclient_destroy(fileclient_t **self_p);
/* In a forked child that can't use its parent's source: use another one from now on. BORROWED. */
void fileclient_divert(fileclient_t *self, const fileclient_class_t *cls, void *source);

/* Split an URL: NEW path (no leading "/") and NEW environment. -EINVAL for another scheme or a path that
 * leaves the roots. `saltenv` applies when the URL has none. */
int fileclient_split(const char *url, const char *saltenv, char **ret_path, char **ret_saltenv, fail_t *err);

int fileclient_cache(fileclient_t *self, const char *url, const char *saltenv, char **ret_local, fail_t *err);
/* Write it to a path of the caller's choice. A replaced file's owner and permissions are kept. */
int fileclient_get(fileclient_t *self, const char *url, const char *saltenv, const char *dest, fail_t *err);
json_t *fileclient_list(fileclient_t *self, files_kind_t kind, const char *saltenv, const char *prefix,
                        fail_t *err);
int fileclient_hash(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_hash, fail_t *err);
/* The same without "hsum" when the file's size is not `size`. */
int fileclient_hash_of_size(fileclient_t *self, const char *url, const char *saltenv, int64_t size,
                            json_t **ret_hash, fail_t *err);
/* Check that it exists, and get {"mode", "size"}, without reading it. */
int fileclient_stat(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_stat, fail_t *err);
/* Compare with a local file's content; -ENOENT when the server has no such file. */
int fileclient_same(fileclient_t *self, const char *url, const char *saltenv, const char *local,
                    bool *ret_same, fail_t *err);
/* cp.push: the server decides where it is stored. -ENOTSUP: no server. */
int fileclient_put(fileclient_t *self, const char *local, const char *path, fail_t *err);
json_t *fileclient_envs(fileclient_t *self, fail_t *err);
/* *ret_told is NULL where there is no master: the minion's own options apply. */
int fileclient_options(fileclient_t *self, json_t **ret_told, fail_t *err);

/* For file_client: local, and the master itself: direct access, honouring the options about ignored files and
 * links. `roots` NULL: file_roots and the other backends of fileserver_backend; else only these folders
 * ({env: [folder]}), as for the pillar's sources. Both BORROWED while it lives. NEW. */
fileclient_t *fileclient_local(json_t *opts, json_t *roots);

#endif
