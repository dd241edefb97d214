/* backend.h - interface of a backend of the file server, and helpers that backends share.
 *
 * Layer      common/files, private to it
 * Threads    as fileserver.h
 * Tests      tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_BACKEND_H
#define COMMON_FILES_BACKEND_H

#include "common/files/fileserver.h"

/* The content of one environment: three sets (objects of path to true), and links by path. */
typedef struct file_lists {
    json_t *files, *dirs, *empty_dirs, *links;
    size_t n;
} file_lists_t;

/* Add a path to a set. -E2BIG with *err when there are too many. A name that is not UTF-8 can't be requested
 * and is left out. */
int file_lists_add(file_lists_t *self, json_t *set, const char *path, fail_t *err);

/* NEW: Python's os.path.normpath. Lexical: looks at no disk. */
char *files_flatten(const char *path);
/* True when a path stays below its base: relative, no "..", no NUL (a length is checked), not too long. */
bool files_is_below(const char *path);

typedef struct file_backend {
    const char *name;
    void *(*new)(json_t *opts, json_t *roots, fail_t *err); /* NEW; both BORROWED while it lives */
    void (*free)(void *self);
    /* -ENOENT without a text: not here. `path` is clean: relative, without "." and "..". */
    int (*find)(void *self, const char *path, const char *saltenv, served_t *ret, fail_t *err);
    int (*list)(void *self, const char *saltenv, file_lists_t *into, fail_t *err);
    int (*envs)(void *self, json_t *set, fail_t *err);
    /* Fetch the remotes that are due; seconds until the next time, 0: never. NULL: no remotes. */
    int (*update)(void *self, bool now, fileserver_fetch_t *ret);
    /* Remove cached data of remotes. NULL: there is none. */
    int (*clear)(void *self, fail_t *err);
    /* Set or remove the lock that keeps remotes from being fetched, for all or those whose URL matches
     * `glob`; what changed is appended to `said`. NULL: no remotes. */
    int (*lock)(void *self, const char *glob, bool on, json_t *said, fail_t *err);
} file_backend_t;

extern const file_backend_t roots_backend, gitfs_backend, minionfs_backend;

/* file_ignore_regex and file_ignore_glob. Invalid patterns are dropped with a warning. */
typedef struct ignore ignore_t;
ignore_t *ignore_new(json_t *opts); /* NEW */
void ignore_destroy(ignore_t **self_p);
bool ignore_match(ignore_t *self, const char *path);

/* True when a whitelist, if it has anything, has the text, and the blacklist has not: as a word, a glob or a
 * regular expression. */
bool files_is_exposed(const json_t *only, const json_t *without, const char *text);

#endif
