/* settle.h - a downloaded or copied file takes its place at once, as if it had been written there: through a
 * link, with the owner and the permissions of the file that it replaces.
 *
 * Layer      common/files
 * Threads    any (new files get the process's umask)
 * Errors     negative errno with *err
 * Tests      tests/unit/common/test_files.c
 */
#ifndef COMMON_FILES_SETTLE_H
#define COMMON_FILES_SETTLE_H

#include "salt/base.h"

/* NEW path that a file at `dest` really has: links followed, whether or not the last one leads anywhere. */
char *settle_place(const char *dest);
/* Move `temp`, open as `fd`, to `place` (of settle_place, on the same file system). */
int settle(int fd, const char *temp, const char *place, fail_t *err);
/* cachedir/files/SALTENV/PATH with its folder made; whatever stands in its way there is removed. */
int settle_cache_place(const char *cachedir, const char *saltenv, const char *path, char **ret_place,
                       fail_t *err);
/* Copy all of an open file to `dest`. */
int settle_copy(int fd, const char *dest, fail_t *err);

#endif
