/* backend.h - what a backend of the file server provides.
 *
 * Layer      common/files, private to it
 * Threads    as fileserver.h
 * Tests      tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_BACKEND_H
#define COMMON_FILES_BACKEND_H

#include "common/files/fileserver.h"

/* What one environment holds: three sets (objects of path to true), and links by path. */
typedef struct file_lists {
    json_t *files, *dirs, *empty_dirs, *links;
    size_t n;
} file_lists_t;

/* -E2BIG with *err when there are too many names. A name that is no UTF-8 can't be asked for: left out. */
int file_lists_add(file_lists_t *self, json_t *set, const char *path, fail_t *err);

/* NEW: Python's os.path.normpath. Lexical: looks at no disk. */
char *files_flatten(const char *path);
/* Whether a path stays where it is put: relative, no "..", no NUL (a length is checked), not too long. */
bool files_is_below(const char *path);

typedef struct file_backend {
    const char *name;
    void *(*new)(json_t *opts, json_t *roots, fail_t *err); /* NEW; both BORROWED while it lives */
    void (*free)(void *self);
    /* -ENOENT without a text: not here. `path` is clean: relative, without "." and "..". */
    int (*find)(void *self, const char *path, const char *saltenv, served_t *ret, fail_t *err);
    int (*list)(void *self, const char *saltenv, file_lists_t *into, fail_t *err);
    int (*envs)(void *self, json_t *set, fail_t *err);
    /* Fetches what is due; seconds until the next time, 0: never. NULL: there is nothing to fetch. */
    int (*update)(void *self, bool now);
    /* Removes what is kept of remotes. NULL: nothing is. */
    int (*clear)(void *self, fail_t *err);
    /* Sets or removes the lock that keeps remotes from being fetched, of all or of those whose URL `glob`
     * fits; what changed is said in `said`. NULL: there are no remotes. */
    int (*lock)(void *self, const char *glob, bool on, json_t *said, fail_t *err);
} file_backend_t;

extern const file_backend_t roots_backend, gitfs_backend;

/* file_ignore_regex and file_ignore_glob. Patterns that are none are dropped with a warning. */
typedef struct ignore ignore_t;
ignore_t *ignore_new(json_t *opts); /* NEW */
void ignore_destroy(ignore_t **self_p);
bool ignore_match(ignore_t *self, const char *path);

#endif
