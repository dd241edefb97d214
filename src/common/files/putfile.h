/* putfile.h - a downloaded or copied file takes its place at once, as if it had been written there: through a
 * link (destpath.h says which), with the owner and the permissions of the file that it replaces.
 *
 * Layer      common/files
 * Threads    any (new files get the process's umask)
 * Errors     negative errno with *err
 * Tests      tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_PUTFILE_H
#define COMMON_FILES_PUTFILE_H

#include "common/base/buf.h"
#include "common/files/destpath.h"
#include "salt/base.h"

/* Find where a file at `dest` really lies. 0, or a negative errno with *err; close `resolved` in any case. */
int putfile_find(destpath_t *resolved, const char *dest, fail_t *err);
/* Move `temp`, open as `fd`, to `place`: names in the folder `dir`, of which `place` may have the path
 * before it, for words. A device stays, and is an error. */
int putfile_rename(int fd, int dir, const char *temp, const char *place, mode_t fresh, fail_t *err);
#define PUTFILE_UMASK                                                                                        \
    ((mode_t) -1) /* `fresh`, the mode of a file that replaces none: what the umask leaves */
#define PUTFILE_PRIVATE ((mode_t) 0600)
/* The path below cachedir for a file of the master. NEW. */
char *putfile_cache_rel(const char *saltenv, const char *path);
/* Make and open the folder of that path: *ret_dir NEW; obstacles are removed. *ret_place is the whole path,
 * NEW. */
int putfile_cache_folder(const char *cachedir, const char *saltenv, const char *path, int *ret_dir,
                         char **ret_place, fail_t *err);
/* Put all of an open file, or a text, at `dest`. */
int putfile_copy(int fd, const char *dest, fail_t *err);
int putfile_text(const buf_t *text, const char *dest, fail_t *err);

#endif
