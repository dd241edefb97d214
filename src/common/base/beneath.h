/* beneath.h - opens paths that come from elsewhere below a folder. The kernel keeps every step inside
 * (openat2), or steps.h does where openat2 is not available.
 *
 * Names of files, environments, cache banks and ids come from peers. Code that makes a path of such a name
 * opens the folder and calls these functions; tests/lint/paths.sh lists the few exceptions. A name that is
 * not a path below a folder (absolute, "..", too long, too deep) gives -EINVAL or -ENAMETOOLONG before any
 * lookup; a link on the way gives -ELOOP, and a path that leads out gives -EXDEV.
 *
 * Layer      common/base
 * Threads    any
 * Ownership  descriptors are NEW
 * Errors     a negative errno; the caller words it
 * Tests      tests/unit/common/test_beneath.c
 */
#ifndef COMMON_BASE_BENEATH_H
#define COMMON_BASE_BENEATH_H

#include <sys/types.h>

#include "common/base/buf.h"
#include "salt/base.h"

typedef enum beneath {
    BENEATH_NO_LINKS, /* a link anywhere in the path is refused */
    BENEATH_LINKS,    /* links are followed as long as they stay inside */
    BENEATH_OUT       /* links may lead outside too: for folders whose owner puts such links there */
} beneath_t;

/* 0 when `path` is a path below a folder, else the negative errno. */
int beneath_check(const char *path);
/* True when `name` is a single part of a path. */
bool beneath_is_name(const char *name);

/* Opens `path` below `dir`; `flags` as for open(), `mode` with O_CREAT. */
int beneath_open(int dir, const char *path, beneath_t how, int flags, mode_t mode);
/* Opens the folder `path`. Missing folders are made with `mode`; mode 0 makes none. "" is `dir` itself. */
int beneath_folder(int dir, const char *path, beneath_t how, mode_t mode);
/* The same for the folder above the last part of `path`. *ret_name is that part, BORROWED from `path`. */
int beneath_parent(int dir, const char *path, beneath_t how, mode_t mode, const char **ret_name);

/* Appends the content of the file `path`; links are refused. */
int beneath_read(int dir, const char *path, size_t limit, buf_t *out);
/* Replaces `name` in an open folder in one step. With `sync` the file survives a crash of the machine. */
int beneath_put(int folder, const char *name, const void *data, size_t len, mode_t mode, bool sync);
/* Removes a file, a link itself, or a folder with its content. Returns 0 when nothing is there. */
int beneath_remove(int dir, const char *path);
/* True when nothing is there for certain; an error of the file system gives false. */
bool beneath_absent(int dir, const char *path);

#endif
