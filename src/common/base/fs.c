/* fs.c - files and folders. An error names the verb, the path and the reason, and for the usual reasons what
 * the user can do about it: hint(). Functions without an `err` return a negative errno and leave the words to
 * their caller. */
#include "common/base/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/descent.h"
#include "common/base/str.h"

enum { CHUNK = 16 * 1024 };

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* Advice for the user about an errno. */
static const char *
hint(int code)
{
    static const struct {
        int code;
        const char *text;
    } hints[] = {
        { EACCES, "; give this user the permission, or run as root" },
        { EPERM, "; give this user the permission, or run as root" },
        { ENOSPC, "; free some space on that file system" },
        { EDQUOT, "; raise the quota or free some space" },
        { EROFS, "; remount that file system writable or choose another path" },
        { EMFILE, "; raise the limit of open files (ulimit -n)" },
        { ENFILE, "; raise the system's limit of open files (fs.file-max)" },
        { ENOENT, "; check the path" },
        { ENOTDIR, "; a part of the path is not a folder" },
        { ELOOP, "; check the links in the path" },
    };

    for (size_t i = 0; i < NELEMS(hints); i++) {
        if (hints[i].code == code)
            return hints[i].text;
    }
    return "";
}

int
fs_fail(fail_t *err, int code, const char *verb, const char *path)
{
    return fail_set(err, code, "cannot %s %s: %s%s", verb, path, strerror(-code), hint(-code));
}

static int
fail_errno(fail_t *err, const char *verb, const char *path)
{
    return fs_fail(err, -errno, verb, path);
}

bool
fs_is_absence(int code)
{
    return code == -ENOENT || code == -ENOTDIR;
}

/* 1: it is there; 0: it is absent; negative with *err when neither is known, as below a folder that can't be
 * read. */
static int
fs_own_look(const char *path, struct stat *st, fail_t *err)
{
    int rc = stat(path, st) != 0 ? -errno : 1;

    return rc > 0 ? 1 : fs_is_absence(rc) ? 0 : fs_fail(err, rc, "look at", path);
}

int
fs_look(const char *path, fail_t *err)
{
    struct stat st;

    return fs_own_look(path, &st, err);
}

int
fs_look_dir(const char *path, fail_t *err)
{
    struct stat st;
    int rc = fs_own_look(path, &st, err);

    return rc > 0 ? S_ISDIR(st.st_mode) : rc;
}

int
fs_look_file(const char *path, fail_t *err)
{
    struct stat st;
    int rc = fs_own_look(path, &st, err);

    return rc > 0 ? S_ISREG(st.st_mode) : rc;
}

int
fs_read_fd(int fd, size_t limit, buf_t *out)
{
    size_t start = out->len;

    for (;;) {
        buf_reserve(out, CHUNK);
        ssize_t n = read(fd, out->data + out->len, out->cap - out->len - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        out->len += (size_t) n;
        out->data[out->len] = '\0';
        if (out->len - start > limit)
            return -EFBIG;
    }
}

/* Appends the file to `out`. When it fails, or is too long, what was read of it is taken back. */
static int
read_opened(int fd, const char *path, size_t limit, buf_t *out, fail_t *err)
{
    size_t start = out->len;
    int rc = fs_read_fd(fd, limit, out);
    if (rc == 0)
        return 0;
    if (out->data != NULL) {
        out->len = start;
        out->data[start] = '\0';
    }
    if (rc == -EFBIG)
        return fail_set(err, rc, "%s is larger than the %zu bytes allowed here", path, limit);
    errno = -rc;
    return fail_errno(err, "read", path);
}

int
fs_read(const char *path, size_t limit, buf_t *out, fail_t *err)
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    return fd >= 0 ? read_opened(fd, path, limit, out, err) : fail_errno(err, "open", path);
}

int
fs_read_any(const char *path, size_t limit, buf_t *out, fail_t *err)
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return fs_is_absence(-errno) ? 0 : fail_errno(err, "open", path);
    int rc = read_opened(fd, path, limit, out, err);
    return rc == 0 ? 1 : rc;
}

int
fs_write_all(int fd, const void *data, size_t len)
{
    const char *p = data;

    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        p += n;
        len -= (size_t) n;
    }
    return 0;
}

void
fs_limit_is_failure(void)
{
    (void) signal(SIGXFSZ, SIG_IGN);
}

ssize_t
fs_write_nosig(int fd, const void *data, size_t len)
{
    const struct timespec none = { 0, 0 };
    sigset_t pipe_set, old, pending;
    ssize_t n;

    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
    do {
        n = write(fd, data, len);
    } while (n < 0 && errno == EINTR);
    int code = n < 0 ? errno : 0;
    /* The signal goes to the writing thread. Take back the one of this write, but leave one that was pending
     * before. */
    if (code == EPIPE && !was_pending) {
        while (sigtimedwait(&pipe_set, NULL, &none) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return n < 0 ? -code : n;
}

/* A rename is on the disk only when the folder is. */
static int
sync_folder_of(const char *path)
{
    AUTO_FREE char *folder = xstrdup(path);
    char *slash = strrchr(folder, '/');

    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    AUTO_FD fd = open(slash != NULL ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) != 0 ? -errno : 0;
}

/* Writes a file beside `path` and renames it: readers see the old content or the new, never a part. `was`:
 * the file whose owner and group stay, or NULL. `sync`: the content is on the disk before the name is, and
 * the name before the return, so that a loss of power leaves one of the two files whole. */
static int
replace_file(const char *path, const void *data, size_t len, mode_t mode, const struct stat *was, bool sync,
             fail_t *err)
{
    if (fs_is_device(path))
        return fail_set(err, -EINVAL, "%s is a device; name a file", path);

    /* A template for mkostemp: a name beside `path`, so that rename() stays on one file system. */
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    /* A long name is cut, so that the suffix fits into NAME_MAX. */
    AUTO_FREE char *temp = xasprintf("%.*s.%.200s.XXXXXX", (int) (base - path), path, base);

    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "write", path);

    /* Fills the temporary file, and gives it the owner and group of `was` as far as this user may. */
    int rc = fs_write_all(fd, data, len);

    if (rc == 0 && was != NULL && fchown(fd, was->st_uid, was->st_gid) != 0 &&
        (errno != EPERM || fchown(fd, (uid_t) -1, was->st_gid) != 0) && errno != EPERM)
        rc = -errno;
    if (rc == 0 && fchmod(fd, mode) != 0)
        rc = -errno;
    if (rc == 0 && sync && fsync(fd) != 0)
        rc = -errno;

    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(temp, path) != 0)
        rc = -errno;
    if (rc != 0)
        unlink(temp);
    else if (sync)
        rc = sync_folder_of(path);
    if (rc == 0)
        return 0;
    errno = -rc;
    return fail_errno(err, "write", path);
}

int
fs_write_atomic(const char *path, const void *data, size_t len, mode_t mode, fail_t *err)
{
    return replace_file(path, data, len, mode, NULL, true, err);
}

/* Follows links: the file that they lead to is replaced and keeps its owner and mode, the links stay. */
int
fs_rewrite(const char *path, const void *data, size_t len, mode_t mode, fail_t *err)
{
    AUTO_FREE char *real = realpath(path, NULL);
    int code = errno;
    struct stat st;

    /* Nothing is there, not even a link that leads nowhere. */
    if (real == NULL && code == ENOENT && lstat(path, &st) != 0 && errno == ENOENT)
        return fs_write_atomic(path, data, len, mode, err);
    if (real != NULL && stat(real, &st) == 0)
        return replace_file(real, data, len, st.st_mode & 07777, &st, true, err);
    errno = real == NULL ? code : errno;
    return fail_errno(err, "write", path);
}

int
fs_write_quick(const char *path, const void *data, size_t len, mode_t mode, fail_t *err)
{
    return replace_file(path, data, len, mode, NULL, false, err);
}

/* `temp` is complete. It is removed when it can't get its name. */
int
fs_settle(const char *temp, const char *path, fail_t *err)
{
    AUTO_FD fd = open(temp, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 || rename(temp, path) != 0 ? -errno : 0;

    if (rc != 0)
        unlink(temp);
    else
        rc = sync_folder_of(path);
    if (rc == 0)
        return 0;
    errno = -rc;
    return fail_errno(err, "write", path);
}

int
fs_settle_new(const char *temp, const char *path, fail_t *err)
{
    int rc = fs_settle(temp, path, err);

    if (rc < 0)
        (void) unlink(path);
    return rc;
}

bool
fs_exists(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0;
}

bool
fs_is_passing(int code)
{
    static const int passing[] = { EMFILE, ENFILE, ENOMEM, EIO, EINTR, EAGAIN, ENOSPC };

    for (size_t i = 0; i < NELEMS(passing); i++)
        if (code == -passing[i])
            return true;
    return false;
}

/* For folder_failed(), because glob() passes it no cookie. */
static _Thread_local fail_t *glob_err;
static _Thread_local int glob_code;

/* Notes the first folder that glob() could not read, preferring errors that may pass. The other folders are
 * read all the same. */
static int
folder_failed(const char *path, int code)
{
    if (fs_is_absence(-code) || (glob_code != 0 && !fs_is_passing(-code)))
        return 0;
    errno = code;
    glob_code = fail_errno(glob_err, "look into", path);
    return 0;
}

int
fs_glob(const char *pattern, int flags, glob_t *found, fail_t *err)
{
    struct stat st;

    *found = (glob_t){ 0 };
    glob_err = err;
    glob_code = 0;
    int rc = glob(pattern, flags, folder_failed, found);
    if (rc == GLOB_NOMATCH && glob_code == 0 && strpbrk(pattern, "*?[") == NULL && lstat(pattern, &st) != 0 &&
        !fs_is_absence(-errno)) /* an absent name is simply not found */
        return fail_errno(err, "look at", pattern);
    if (rc != GLOB_NOSPACE)
        return glob_code;
    errno = ENOMEM;
    return fail_errno(err, "look for", pattern);
}

bool
fs_absent(const char *path)
{
    struct stat st;

    return stat(path, &st) != 0 && fs_is_absence(-errno);
}

const char *
fs_temp_dir(void)
{
    const char *dir = getenv("TMPDIR");

    return !str_empty(dir) ? dir : "/tmp";
}

bool
fs_is_device(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

bool
fs_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder that is there already is fine, also one that a link leads to or that another process has just
 * made. */
static int
make_one(const char *path, mode_t mode, fail_t *err)
{
    if (mkdir(path, mode) == 0)
        return 0;
    int code = errno;
    if (fs_is_dir(path))
        return 0;
    errno = code;
    if (code == EEXIST)
        return fail_set(err, -ENOTDIR, "cannot create the folder %s: a file has that name; move it away",
                        path);
    return fail_errno(err, "create the folder", path);
}

int
fs_mkdirs(const char *path, mode_t mode, fail_t *err)
{
    AUTO_FREE char *part = xstrdup(path);

    for (char *p = part + 1; *part != '\0' && *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        int rc = make_one(part, mode, err);
        *p = '/';
        if (rc != 0)
            return rc;
    }
    return make_one(part, mode, err);
}

/* A folder that is made here gets just this mode, which mkdir() would cut by the umask; one that is there
 * keeps its own. */
static int
own_one(const char *path, mode_t mode, fail_t *err)
{
    if (mkdir(path, mode) != 0)
        return make_one(path, mode, err);
    AUTO_FD fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && fchmod(fd, mode) == 0 ? 0 : fail_errno(err, "set the mode of", path);
}

/* Only a new file gets the mode: that of an old one may be the administrator's choice. */
int
fs_open_log(const char *path, int more_flags)
{
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | more_flags;
    int fd = open(path, flags | O_CREAT | O_EXCL, 0600);

    if (fd >= 0)
        (void) fchmod(fd, 0640);
    else if (errno == EEXIST)
        fd = open(path, flags | O_CREAT, 0600); /* a link's target may be missing */
    return fd >= 0 ? fd : -errno;
}

bool
fs_is_same(int fd, const char *path)
{
    struct stat open_file, named;

    return fstat(fd, &open_file) == 0 && stat(path, &named) == 0 && open_file.st_dev == named.st_dev &&
           open_file.st_ino == named.st_ino;
}

/* The last folder of the path gets the mode; those above it are 0755 when they are made. */
int
fs_own_dir(const char *path, mode_t mode, fail_t *err)
{
    AUTO_FREE char *part = xstrdup(path);

    for (char *p = part + 1; *part != '\0' && *p != '\0'; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        int rc = own_one(part, p[1] == '\0' ? mode : 0755, err);
        *p = '/';
        if (rc != 0)
            return rc;
    }
    return own_one(part, mode, err);
}

int
fs_own_parent(const char *path, fail_t *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = slash != NULL ? xstrndup(path, (size_t) (slash - path)) : NULL;

    return str_empty(folder) ? 0 : fs_own_dir(folder, 0755, err);
}

/* Without `.` and `..`. errno is cleared before: by it alone readdir() tells a failure from the end. */
struct dirent *
fs_next(DIR *dir, int *ret_rc)
{
    struct dirent *entry;

    do {
        errno = 0;
        entry = readdir(dir);
    } while (entry != NULL && (str_eq(entry->d_name, ".") || str_eq(entry->d_name, "..")));
    *ret_rc = entry != NULL ? 0 : -errno;
    return entry;
}

int
fs_names(const char *path, char ***ret_names, fail_t *err)
{
    DIR *dir = opendir(path);

    if (dir == NULL && !fs_is_absence(-errno))
        return fail_errno(err, "read the folder", path);
    char **names = xcalloc(1, sizeof(*names));
    size_t n = 0;
    int rc = 0;
    for (struct dirent *entry; dir != NULL && (entry = fs_next(dir, &rc)) != NULL;) {
        if ((n & (n + 1)) == 0) /* full at 0, 1, 3, 7, ... */
            names = xrealloc(names, (2 * n + 2) * sizeof(*names));
        names[n++] = xstrdup(entry->d_name);
        names[n] = NULL;
    }
    if (dir != NULL)
        (void) closedir(dir);
    if (rc < 0) {
        strv_free(names);
        return fs_fail(err, rc, "read the folder", path);
    }
    qsort(names, n, sizeof(*names), str_by_text);
    *ret_names = names;
    return 0;
}

/* Enters a folder, or removes anything else. */
static int
enter_or_remove(descent_t *at, int dir, const char *name)
{
    if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return -errno;
    int plain = errno, rc = descent_down(at, dir, name);
    return rc == -ENOTDIR || rc == -ELOOP ? -plain : rc;
}

/* Removes a file, a link itself, or a folder with its content. Names are looked up in an open folder, so that
 * a part of the path can't be swapped for a link meanwhile. */
int
fs_remove_at(int parent, const char *name)
{
    descent_auto_t at = DESCENT_INIT;
    int rc = enter_or_remove(&at, parent, name);

    while (rc == 0 && at.depth > 0) {
        DIR *dir = descent_dir(&at);
        const struct dirent *entry = fs_next(dir, &rc);
        if (entry != NULL) {
            rc = enter_or_remove(&at, dirfd(dir), entry->d_name);
        } else if (rc == 0) {
            /* The innermost folder is empty now: leave it, and remove it in the one above. */
            AUTO_FREE char *own = xstrdup(descent_name(&at));
            rc = descent_up(&at);
            int above = at.depth > 0 ? dirfd(descent_dir(&at)) : parent;
            if (rc == 0 && unlinkat(above, own, AT_REMOVEDIR) != 0 && errno != ENOENT)
                rc = -errno;
        }
    }
    return rc;
}

int
fs_remove_tree(const char *path, fail_t *err)
{
    AUTO_FREE char *name = xstrdup(path);

    /* Strips trailing slashes: "link/" would name the link's target. */
    for (size_t n = strlen(name); n > 1 && name[n - 1] == '/'; n--)
        name[n - 1] = '\0';
    int rc = fs_remove_at(AT_FDCWD, name);
    if (rc == 0)
        return 0;
    errno = -rc;
    return fail_errno(err, "remove", path);
}

char *
fs_join(const char *a, const char *b)
{
    size_t len = strlen(a);

    while (len > 0 && a[len - 1] == '/')
        len--;
    return xasprintf("%.*s/%s", (int) len, a, b + strspn(b, "/"));
}

/* Folders are executable too, so access() alone does not tell. */
static bool
fs_is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *
fs_which_on(const char *search_path, const char *program)
{
    if (*program == '\0')
        return NULL;
    if (strchr(program, '/') != NULL)
        return fs_is_program(program) ? xstrdup(program) : NULL;
    char **folders = str_split(search_path, ":", true);
    char *found = NULL;
    for (size_t i = 0; folders[i] != NULL && found == NULL; i++) {
        AUTO_FREE char *path = fs_join(folders[i], program);
        if (fs_is_program(path))
            found = STEAL(path);
    }
    strv_free(folders);
    return found;
}

char *
fs_which(const char *program)
{
    const char *search_path = getenv("PATH");

    return fs_which_on(search_path != NULL ? search_path : DEFAULT_PATH, program);
}
