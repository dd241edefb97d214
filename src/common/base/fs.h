/* fs.h - files: read with a bound, replace atomically, make and remove folders.
 *
 * Layer      common/base
 * Threads    any
 * Errors     negative errno; the text names the path and what to do
 * Tests      tests/unit/common/test_fs.c
 */
#ifndef COMMON_BASE_FS_H
#define COMMON_BASE_FS_H

#include <dirent.h>
#include <glob.h>
#include <sys/types.h>

#include "common/base/buf.h"
#include "salt/base.h"

/* Append the whole file to `out`; -EFBIG above `limit`. Works on /proc files, whose size is 0. */
int fs_read(const char *path, size_t limit, buf_t *out, fail_t *err);
/* The same, 0 where there is no such file, else 1. */
int fs_read_any(const char *path, size_t limit, buf_t *out, fail_t *err);
/* fs_read() from an open file; the caller words the error. */
int fs_read_fd(int fd, size_t limit, buf_t *out);
/* Replace `path` by a temporary file beside it, fsync and rename: the old file or the new one, never half. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* fs_write_atomic of what somebody else may have made: where there is a file it keeps its mode, and its
 * owner as far as this process may give it away, and what a link leads to is replaced, not the link.
 * `mode` is for one that is not there. */
int fs_rewrite(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* Give a file beside `path` that another program has written its name, as safely; on failure it is removed. */
int fs_settle(const char *temp, const char *path, fail_t *err);
/* fs_write_atomic without fsync: survives the death of processes, not of the machine. */
int fs_write_quick(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* Where temporary files go: $TMPDIR, or /tmp. BORROWED. */
const char *fs_temp_dir(void);
/* mkdir -p; folders that exist are left as they are. */
int fs_mkdirs(const char *path, mode_t mode, fail_t *err);
/* A folder of our own, where it is missing: with exactly this mode, those above it with 0755, whatever the
 * umask. */
int fs_own_dir(const char *path, mode_t mode, fail_t *err);
/* The folder that a file of our own is to be in, for everybody to look into. */
int fs_own_parent(const char *path, fail_t *err);
/* A log to append to, 0640 when it is made, whatever the umask. A descriptor, or a negative errno. */
int fs_open_log(const char *path, int more_flags);
/* Whether `path` still leads to the file that is open: a log's does not once it was rotated. */
bool fs_is_same(int fd, const char *path);
/* rm -rf, without following links. 0 when it does not exist. */
int fs_remove_tree(const char *path, fail_t *err);
/* The same of a name in an open folder; the caller words the error. */
int fs_remove_at(int dir, const char *name);
/* The next name in a folder, without "." and "..", BORROWED until the one after it. NULL at the end, with
 * *ret_rc 0, or where the rest can't be read: what was not seen is not gone then. */
struct dirent *fs_next(DIR *dir, int *ret_rc);
/* The names in a folder: NEW (strv_free), nothing where there is no such folder. Negative with *err when
 * it can't be read to its end, which is not an empty one. */
int fs_names(const char *path, char ***ret_names, fail_t *err);
/* glob(3), for which a folder that can't be read is an empty one: `found` (globfree) has what matches,
 * nothing also where a folder is not there. Negative with *err when there may be more, in a folder that
 * could not be looked into. */
int fs_glob(const char *pattern, int flags, glob_t *found, fail_t *err);
/* Whether something has the name: 1, 0, or negative with *err while nobody can say. */
int fs_look(const char *path, fail_t *err);
/* The same of a folder, or of a regular file: 0 also where something else has the name. */
int fs_look_dir(const char *path, fail_t *err);
int fs_look_file(const char *path, fail_t *err);
/* The same of any, false also while nobody can say: for what is only looked at, and where nothing is done
 * because it is missing. */
bool fs_exists(const char *path);
/* Whether it is known that nothing is there. Neither this nor fs_exists() is true while the file system
 * has trouble: who makes or replaces a file because it is missing asks this one. */
bool fs_absent(const char *path);
/* Whether this error (negative) says that nothing is there; every other one says nothing about the file. */
bool fs_is_absence(int code);
/* Sets the failure of a call on `path` from a negative errno, "cannot VERB PATH: ERRNO; what to do", and
 * returns it. */
int fs_fail(fail_t *err, int code, const char *verb, const char *path);
/* Whether this error (negative) is no answer about the file: the system lacked something, and the next time
 * there may be one.
 */
bool fs_is_passing(int code);
bool fs_is_dir(const char *path);
/* Whether a device has the name: no file may be renamed over that, as /dev/null would be one then. */
bool fs_is_device(const char *path);
/* NEW "a/b" with exactly one slash between. */
char *fs_join(const char *a, const char *b);
/* For the start of a program: a limit of file sizes makes writes fail with EFBIG, as a full disk does, and
 * ends nobody.
 */
void fs_limit_is_failure(void);
/* Write all bytes, over EINTR and short writes. */
int fs_write_all(int fd, const void *data, size_t len);
/* One write(2) that gives -EPIPE instead of a SIGPIPE; bytes written, or a negative errno. */
ssize_t fs_write_nosig(int fd, const void *data, size_t len);
/* NEW absolute path of a program on PATH (or the path itself when it has a slash); NULL when not found. */
char *fs_which(const char *program);
/* The same on the given search path. */
char *fs_which_on(const char *search_path, const char *program);

#endif
