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

/* Appends the whole file to `out`; -EFBIG above `limit`. Works on /proc files too, whose size is 0. */
int fs_read(const char *path, size_t limit, buf_t *out, fail_t *err);
/* The same, but a missing file gives 0, and a file that was read gives 1. */
int fs_read_any(const char *path, size_t limit, buf_t *out, fail_t *err);
/* fs_read() from an open file; the caller words the error. */
int fs_read_fd(int fd, size_t limit, buf_t *out);
/* Replaces `path` by a temporary file beside it, fsync and rename: readers and a crash find the old content
 * or the new one, never half of it. */
int fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* fs_write_atomic for a file that another user may have made. An existing file keeps its mode, and its owner
 * as far as this process may give files away; a link stays, and its target is replaced. `mode` is for a new
 * file. */
int fs_rewrite(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* Gives a file beside `path`, which another program has written, its final name as safely. On failure the
 * file is removed; when only the folder could not be synced, it has its final name. */
int fs_settle(const char *temp, const char *path, fail_t *err);
/* The same for a name that may be dropped: on failure neither file is there, so that no copy stays of which
 * the caller says that it failed. */
int fs_settle_new(const char *temp, const char *path, fail_t *err);
/* fs_write_atomic without fsync: survives the death of processes, but not a crash of the machine. */
int fs_write_quick(const char *path, const void *data, size_t len, mode_t mode, fail_t *err);
/* The folder for temporary files: $TMPDIR, or /tmp. BORROWED. */
const char *fs_temp_dir(void);
/* mkdir -p; existing folders are left as they are. */
int fs_mkdirs(const char *path, mode_t mode, fail_t *err);
/* Makes a folder of our own where it is missing: with exactly this mode, the ones above it with 0755,
 * whatever the umask is. */
int fs_own_dir(const char *path, mode_t mode, fail_t *err);
/* Makes the folder for a file of our own, readable for all users. */
int fs_own_parent(const char *path, fail_t *err);
/* Opens a log to append to. A new one gets 0640, whatever the umask is. A descriptor, or a negative errno. */
int fs_open_log(const char *path, int more_flags);
/* True when `path` still leads to the open file. After a rotation it does not. */
bool fs_is_same(int fd, const char *path);
/* rm -rf, without following links. Returns 0 when nothing is there. */
int fs_remove_tree(const char *path, fail_t *err);
/* The same for a name in an open folder; the caller words the error. */
int fs_remove_at(int dir, const char *name);
/* The next name in a folder, without "." and "..", BORROWED until the next call. NULL at the end, with
 * *ret_rc 0, or on an error: names that were not read then may still exist. */
struct dirent *fs_next(DIR *dir, int *ret_rc);
/* The names in a folder, NEW (strv_free); none for a missing folder. Negative with *err when the folder can't
 * be read to its end, which must not pass for an empty one. */
int fs_names(const char *path, char ***ret_names, fail_t *err);
/* glob(3), which takes an unreadable folder for an empty one, made safe: `found` (globfree) has the matches,
 * none where a folder is missing. Negative with *err when an unreadable folder may have more. */
int fs_glob(const char *pattern, int flags, glob_t *found, fail_t *err);
/* 1 when something has the name, 0 when nothing has, negative with *err when an error hides the answer. */
int fs_look(const char *path, fail_t *err);
/* The same for a folder, or a regular file: 0 also when something else has the name. */
int fs_look_dir(const char *path, fail_t *err);
int fs_look_file(const char *path, fail_t *err);
/* The same for any kind of file, with false for errors too: for uses where a file that seems to be missing
 * has no consequence. */
bool fs_exists(const char *path);
/* True when nothing is there for certain. During trouble of the file system both this and fs_exists() are
 * false: ask this one before making or replacing a missing file. */
bool fs_absent(const char *path);
/* True when the error (negative) says that nothing is there; any other error says nothing about the file. */
bool fs_is_absence(int code);
/* Sets the failure of a call on `path` from a negative errno, "cannot VERB PATH: ERRNO; what to do", and
 * returns it. */
int fs_fail(fail_t *err, int code, const char *verb, const char *path);
/* True when the error (negative) says nothing about the file: the system lacked something, and another
 * attempt may succeed. */
bool fs_is_passing(int code);
bool fs_is_dir(const char *path);
/* True when a device has the name. A rename over /dev/null would replace it by a plain file. */
bool fs_is_device(const char *path);
/* Joins "a" and "b" with exactly one slash between them. NEW. */
char *fs_join(const char *a, const char *b);
/* For the start of a program: writes beyond a limit of file sizes fail with EFBIG, like a full disk, instead
 * of killing the process by a signal. */
void fs_limit_is_failure(void);
/* Writes all bytes, repeating after EINTR and short writes. */
int fs_write_all(int fd, const void *data, size_t len);
/* A single write(2) that returns -EPIPE instead of raising SIGPIPE; bytes written, or a negative errno. */
ssize_t fs_write_nosig(int fd, const void *data, size_t len);
/* The absolute path of a program on PATH (or the path itself when it has a slash), NEW; NULL when not
 * found. */
char *fs_which(const char *program);
/* The same on the given search path. */
char *fs_which_on(const char *search_path, const char *program);

#endif
