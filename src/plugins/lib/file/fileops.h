/* fileops.h - what the `file` execution module is made of: paths, attributes, edits, searches, backups.
 *
 * plugins/exec/files/file.c holds the table; the functions stand here, one theme per .c file.
 *
 * Layer      plugins/lib/file; included by plugins/exec/files/file.c only
 * Threads    a job's child
 * Ownership  char * results are NEW; arguments BORROWED
 * Errors     negative errno with the text that Salt's users know
 * Tests      tests/cases/exec/file.*.json, tests/unit/plugins/test_paths.c
 */
#ifndef MINION_FILEOPS_H
#define MINION_FILEOPS_H

#include <sys/stat.h>

#include "common/base/buf.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

/* ---- helpers --------------------------------------------------------------------------------- */

/* os.path: NEW texts. */
char *fop_expanduser(const char *path);
char *fop_expandvars(const char *path);
char *fop_normpath(const char *path);
char *fop_dirname(const char *path);
const char *fop_basename(const char *path); /* BORROWED part of `path` */
char *fop_join2(const char *a, const char *b);
/* Every link resolved as far as the path exists, as os.path.realpath. */
char *fop_realpath(const char *path);
/* The argument `name`, "~" expanded. */
char *fop_path(json_t *args, const char *name);
/* Paths that match, sorted. NEW (strv_free) also on failure, as fs_glob, because there may be more. */
int fop_glob(const char *pattern, char ***ret_paths, fail_t *err);
/* The names in a folder that a walk comes to, as fs_names: nothing where it may not look, as os.walk has
 * it, or where a process has ended. NEW (strv_free), also where it fails. */
int fop_names(const char *path, char ***ret_names, fail_t *err);
/* Existence check for callers that act on absence: 1, 0, or a negative errno when it can't be decided, as on
 * a failing disk. */
int fop_exists(const char *path, fail_t *err);
/* The same of a file of this type (S_IFDIR, S_IFREG), links followed: 0 also where it is another one. */
int fop_exists_as(const char *path, mode_t type, fail_t *err);
/* The same of the name itself: a link is there wherever it leads. */
int fop_lexists(const char *path, fail_t *err);
int fop_lexists_as(const char *path, mode_t type, fail_t *err);
/* True when the path has this type or is a link to an object of it. A dangling, circular or forbidden link
 * counts as none, as in os.walk. Negative as fop_exists. */
int fop_leads_to(const char *path, mode_t type, fail_t *err);
/* Status of the link's target, or of the link itself when it dangles. */
int fop_stat_or_link(const char *path, struct stat *ret_st, fail_t *err);
/* Status behind the path (fop_stat) or of the name itself (fop_lstat): 1 and *ret_st, or as fop_exists. */
int fop_stat(const char *path, struct stat *ret_st, fail_t *err);
int fop_lstat(const char *path, struct stat *ret_st, fail_t *err);
/* "[Errno 2] No such file or directory: '/x'". Returns -code. */
int fop_oserror(fail_t *err, int code, const char *path);
/* SaltInvocationError with the text unless `path` is absolute. */
int fop_need_abs(const char *path, const char *text, fail_t *err);
/* CommandExecutionError, SaltInvocationError. */
#define fop_failed(err, ...)  fail_kind(err, FAIL_COMMAND, -EIO, __VA_ARGS__)
#define fop_invalid(err, ...) fail_kind(err, FAIL_INVOCATION, -EINVAL, __VA_ARGS__)
/* opts["test"]. */
bool fop_test_mode(call_ctx_t *ctx);
/* Python's guess from the first 512 bytes. */
bool fop_is_text(const char *bytes, size_t len);
/* SaltInvocationError unless the file's bytes are a text that can be edited. */
int fop_need_text(const char *path, const buf_t *bytes, fail_t *err);
/* The file's bytes, with OSError's wording; -EFBIG above LIMIT_FILE_READ. */
int fop_read(const char *path, buf_t *out, fail_t *err);
/* A descriptor of what can be read without a wait, no named pipe; or a negative errno, as fop_read. */
int fop_open_to_read(const char *path, struct stat *ret_st, fail_t *err);
/* The bytes of a file of ours without copying them where they can be mapped: who reads what others cut
 * meanwhile is ended by SIGBUS. */
typedef struct view {
    const char *data;
    size_t len;
    void *map; /* NULL: `own` holds the bytes */
    buf_t own;
} view_t;
#define view_auto_t __attribute__((cleanup(fop_unview))) view_t
int fop_view(const char *path, view_t *out);
void fop_unview(view_t *v);
/* Python's int() of an argument. Errors begin with `must`: "age must be an integer: invalid literal ...". */
int fop_int(const json_t *v, const char *must, double *ret_n, fail_t *err);
/* A re flags argument: a number, a name or a list of names. */
int fop_re_flags(const json_t *flags, unsigned *ret_flags, fail_t *err);

/* ---- attributes ------------------------------------------------------------------------------ */

/* Python's None, text or number to an id. False: no such user ("" in Salt). */
bool fop_uid_of(const json_t *user, uid_t *ret_uid);
bool fop_gid_of(const json_t *group, gid_t *ret_gid);
/* NEW name, or the number as text. */
json_t *fop_user_name(uid_t uid);
json_t *fop_group_name(gid_t gid);
/* "0644". */
json_t *fop_mode_text(mode_t mode);
/* "0o644", 644, "'0644'" to "0644"; NULL for None. NEW. */
char *fop_normalize_mode(const json_t *mode);
/* True when chmod accepts the result of fop_normalize_mode. */
bool fop_is_mode(const char *mode);
/* The value of file.stats. NEW. */
json_t *fop_stats(const char *path, const char *hash_type, bool follow, fail_t *err);
/* Salt's chown of what is held, by its path, or of nothing (NULL): *ret_value NEW None, or what is wrong
 * as text. */
int fop_chown(const char *path, const json_t *user, const json_t *group, json_t **ret_value, fail_t *err);
/* The same for a path of any bytes, of the link itself. */
int fop_lchown(const char *path, const json_t *user, const json_t *group, json_t **ret_value, fail_t *err);
/* Owner, group (None: keep) and mode (NULL: keep) of a path that was just made. */
int fop_set_owner_mode(const char *path, const json_t *user, const json_t *group, const char *mode,
                       fail_t *err);

/* file.check_perms on a state's return, which it changes; what has the name is found as partfile.h says,
 * and held while it is changed. `args` as that function's, without ret. `before`: what fop_stats told
 * before the caller itself changed the file; NULL: nothing did. *ret_perms (may be NULL) NEW. */
int fop_check_perms(call_ctx_t *ctx, json_t *args, json_t *before, json_t *ret, json_t **ret_perms,
                    fail_t *err);
/* Owner and mode alone, of what is open at `fd` (O_PATH | O_NOFOLLOW): where others may rename, the name
 * that `args` has may mean something else by now. */
int fop_check_perms_at(call_ctx_t *ctx, json_t *args, int fd, json_t *ret, fail_t *err);

/* Hold what has the path, of any bytes: what its links lead to when they are followed, or a link itself.
 * "Path not found" is
 * -ENOENT. */
int fop_hold_any(partfile_t *file, const char *path, bool follow, fail_t *err);

/* True when chattr's letters differ; false when they can't be read. */
bool fop_attrs_differ(const char *path, const char *attrs);
/* changes["selinux"] when the label is not what seuser, serole, setype and serange ask for. */
void fop_label_changes(const char *path, json_t *args, json_t *changes);

/* ---- changing files -------------------------------------------------------------------------- */

/* Replace what a file holds: a temporary file beside it takes over owner, mode and extended attributes, is
 * synced and renamed. With `keep_inode` a file with several names, and in any case one that cannot be renamed
 * over (a mount point) and what is not a regular file, is rewritten in place. A new file gets the usual mode. */
int fop_rewrite(const partfile_t *file, const void *data, size_t len, bool keep_inode, fail_t *err);
/* Open what is there to write to it, with `flags` beside that; a named pipe that nobody reads is ENXIO,
 * and not waited at. NEW, or -1 with errno. */
int fop_open_to_write(const char *path, int flags);
/* Write over what a file holds, where it lies; `held` may be O_PATH. When that fails it holds what it
 * held, on a full disk too: only the end of the process in the midst of it leaves something between. 0 or
 * a negative errno. */
int fop_overwrite(int held, const void *data, size_t len);
/* Mode of a new file after the umask. */
mode_t fop_usual_mode(void);
/* Find the file, or its place, and rewrite it. */
int fop_write(const char *path, const void *data, size_t len, fail_t *err);
/* ACLs, labels and capabilities of an open file, as far as the file system has them and we may set them.
 * `to` has its mode already, and keeps it: an ACL is bounded by it. 0 or a negative errno. */
int fop_copy_xattrs(int from, int to);
/* The folder `path`, held for what is done below it: O_PATH, or a negative errno. A stranger's link leads
 * to one of the stranger's own only. */
int fop_hold_folder(const char *path, fail_t *err);
/* rm -rf of a path of any bytes, found by the rules of destpath.h, with the errors of file.remove. 1 removed,
 * 0 nothing was there, or negative. */
int fop_remove(const char *path, fail_t *err);
/* The same for a path that begins with that of the folder `top`, which is open at `fd`: no link below it
 * is followed. */
int fop_remove_below(int fd, const char *top, const char *path, fail_t *err);
/* True for sources whose reading ends: neither pipe nor device. */
bool fop_is_source(const char *path);
/* Opens such a source for reading without blocking; a negative errno on failure. */
int fop_open_source(const char *path, struct stat *ret_st, fail_t *err);
/* Copy bytes, owner, mode and times. A link that has the name gives way: root keeps copies where others
 * may write, and who puts a link there must not choose what is replaced. */
int fop_copy2(const char *src, const char *dst, fail_t *err);
/* A folder and all below it, with owner, mode and times; links stay links. */
int fop_copy_tree(const char *src, const char *dst, fail_t *err);
/* Copy bytes only, into a file that appears whole. */
int fop_copyfile(const char *src, const char *dst, fail_t *err);
/* Give `src` the name `dst`, over whatever has it, folders too; by copy and removal from another file system.
 * Until all of it is there both stay as they were. */
int fop_move_over(const char *src, const char *dst, fail_t *err);
/* Whose a backup beside its file is: the file's owner's, or ours, as a copy is. */
typedef enum fop_owner { FOP_SAME, FOP_OURS } fop_owner_t;
/* Before an edit of `path`, a real one: `backup` is an extension, "minion" (cachedir/file_backup), or false. */
int fop_backup(call_ctx_t *ctx, const partfile_t *file, const char *path, const json_t *backup,
               fop_owner_t owner, fail_t *err);
int fop_backup_beside(const partfile_t *file, const char *path, const char *suffix, fop_owner_t owner,
                      fail_t *err);
/* Copy `file`, or nothing, to cachedir/file_backup, with the time behind the name that it has as `path`. */
int fop_backup_minion(call_ctx_t *ctx, const char *file, const char *path, fail_t *err);
int fop_backup_empty(call_ctx_t *ctx, const char *path, mode_t mode, fail_t *err);

/* Lines with their ends. */
typedef struct lines {
    char **v; /* owned, ends with NULL */
    size_t n;
} lines_t;
#define lines_auto_t __attribute__((cleanup(lines_free))) lines_t
void lines_free(lines_t *l);
void lines_split(lines_t *l, const char *text, size_t len);
void lines_insert(lines_t *l, size_t at, const char *text);
void lines_append(lines_t *l, const char *text);
void lines_replace(lines_t *l, size_t at, const char *text);
void lines_remove(lines_t *l, size_t at);
void lines_join(const lines_t *l, buf_t *out);
char *lines_diff(const lines_t *a, const lines_t *b); /* NEW unified difference */

#endif
