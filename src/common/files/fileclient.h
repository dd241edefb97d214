/* fileclient.h - the file server's files, wherever they come from: our own folders, or a master's by way of a
 * cache.
 *
 * An URL is "salt://path?saltenv=env", or the bare path; its own saltenv wins over the argument, and NULL
 * means "base". A path that leaves the roots does not exist.
 *
 * Layer      common/files; knows no master: who has one brings the functions
 * Threads    as who made it says; one at a time
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
    /* The file as a path on this machine that may be read until the process ends: the file itself or a copy
     * in the cache that is as new as its source. */
    int (*cache)(void *self, const char *path, const char *saltenv, char **ret_local, fail_t *err);
    /* The file's bytes to `dest`, whose folder exists: the old file there or the new one, never half. */
    int (*get)(void *self, const char *path, const char *saltenv, const char *dest, fail_t *err);
    /* Sorted array of paths below `prefix` ("" for all); FILES_SYMLINKS: object of path to target. */
    json_t *(*list)(void *self, files_kind_t kind, const char *saltenv, const char *prefix, fail_t *err);
    /* {"hash_type", "hsum", "mode", "size"}; without "hsum" when the size is not `size` (-1: any). */
    int (*hash)(void *self, const char *path, const char *saltenv, int64_t size, json_t **ret_hash,
                fail_t *err);
    json_t *(*envs)(void *self, fail_t *err);
    /* What its master tells minions for their state runs (conf_tell); NULL where there is no master. */
    int (*options)(void *self, json_t **ret_told, fail_t *err);
    /* A file of this machine to the server, as `path`; NULL where that can't be. */
    int (*put)(void *self, const char *local, const char *path, fail_t *err);
    void (*free)(void *self);
} fileclient_class_t;

/* NEW. `self` is freed with it. */
fileclient_t *fileclient_new(const fileclient_class_t *cls, void *self);
void fileclient_destroy(fileclient_t **self_p);
/* In a forked child that can't use its parent's source: another one, for good. BORROWED. */
void fileclient_divert(fileclient_t *self, const fileclient_class_t *cls, void *source);

/* Take an URL apart: NEW path (no leading "/") and NEW environment. -EINVAL for another scheme or a path that
 * leaves the roots. `saltenv` is what holds when the URL has none. */
int fileclient_split(const char *url, const char *saltenv, char **ret_path, char **ret_saltenv, fail_t *err);

int fileclient_cache(fileclient_t *self, const char *url, const char *saltenv, char **ret_local, fail_t *err);
/* To a place of the caller's choice. A file that is replaced keeps its owner and permissions. */
int fileclient_get(fileclient_t *self, const char *url, const char *saltenv, const char *dest, fail_t *err);
json_t *fileclient_list(fileclient_t *self, files_kind_t kind, const char *saltenv, const char *prefix,
                        fail_t *err);
int fileclient_hash(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_hash, fail_t *err);
/* The same without "hsum" when the file's size is not `size`. */
int fileclient_hash_of_size(fileclient_t *self, const char *url, const char *saltenv, int64_t size,
                            json_t **ret_hash, fail_t *err);
/* Whether it is there, and {"mode", "size"}: nothing is read. */
int fileclient_stat(fileclient_t *self, const char *url, const char *saltenv, json_t **ret_stat, fail_t *err);
/* Whether a file of this machine has its bytes; -ENOENT when the server has no such file. */
int fileclient_same(fileclient_t *self, const char *url, const char *saltenv, const char *local,
                    bool *ret_same, fail_t *err);
/* cp.push: where it goes there is the server's affair. -ENOTSUP: no server. */
int fileclient_put(fileclient_t *self, const char *local, const char *path, fail_t *err);
json_t *fileclient_envs(fileclient_t *self, fail_t *err);
/* *ret_told is NULL where nobody tells: our own options are all there are. */
int fileclient_options(fileclient_t *self, json_t **ret_told, fail_t *err);

/* file_client: local, and the master's own: straight from where the files are, as the options say about
 * ignored files and links. `roots` NULL: file_roots and the other backends of fileserver_backend; else these
 * folders alone ({env: [folder]}), as for the pillar's sources. Both BORROWED while it lives. NEW. */
fileclient_t *fileclient_local(json_t *opts, json_t *roots);

#endif
