/* beneath.h - names that come from elsewhere as paths below a folder: the kernel keeps every step inside,
 * or steps.h does where openat2 is not to be had.
 *
 * A name of a file, an environment, a cache's bank, an id: whoever makes a path of what a peer said opens the
 * folder and goes through these functions; tests/lint/paths.sh knows the few other places. A name that is no
 * path below a folder (absolute, "..", too long, too deep) is -EINVAL or -ENAMETOOLONG before anything is
 * looked up; a link on the way is
 * -ELOOP; one that leads out is -EXDEV.
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
    BENEATH_NO_LINKS, /* no part of the path is a link */
    BENEATH_LINKS,    /* links are followed as long as they stay inside */
    BENEATH_OUT       /* the folder's owner has put links in it that may lead elsewhere: they are followed */
} beneath_t;

/* 0, or why `path` is none below a folder. */
int beneath_check(const char *path);
/* Whether `name` is one part of a path. */
bool beneath_is_name(const char *name);

/* `flags` as open(); `mode` with O_CREAT. */
int beneath_open(int dir, const char *path, beneath_t how, int flags, mode_t mode);
/* The folder `path`; what is missing of it is made with `mode`, or nothing when that is 0. "" is `dir`
 * itself. */
int beneath_folder(int dir, const char *path, beneath_t how, mode_t mode);
/* The same for the folder above the last part of `path`, which *ret_name is: BORROWED from `path`. */
int beneath_parent(int dir, const char *path, beneath_t how, mode_t mode, const char **ret_name);

/* Appends the file `path`, which no link leads to. */
int beneath_read(int dir, const char *path, size_t limit, buf_t *out);
/* Replaces `name` in an open folder in one step; with `sync` it survives the machine's death. */
int beneath_put(int folder, const char *name, const void *data, size_t len, mode_t mode, bool sync);
/* A file, a link itself, or a folder with what is in it. 0 when there is none. */
int beneath_remove(int dir, const char *path);
/* Whether it is known that nothing is there. */
bool beneath_absent(int dir, const char *path);

#endif
