/* paths.c - Python's os.path for the file functions (expanduser, normpath, realpath, join), existence checks
 * that tell absence from failure, and reading with limits. Paths are bytes; results are NEW unless noted. */
#include "common/host/passwd.h"
#include "plugins/lib/file/fileops.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/match/regex.h"
#include "common/py/py_json.h"
#include "common/py/py_ops.h"

/* As os.path.expanduser: HOME for "~" when set, else the password database; an unknown user leaves the path
 * alone. */
char *
fop_expanduser(const char *path)
{
    size_t n = strcspn(path, "/");
    const char *home = NULL;
    passwd_space_auto_t space = { 0 };

    if (*path != '~')
        return xstrdup(path);
    AUTO_FREE char *user = xstrndup(path + 1, n - 1);
    if (*user == '\0')
        home = getenv("HOME");
    if (home == NULL) {
        const struct passwd *pw = *user == '\0' ? passwd_uid(&space, getuid()) : passwd_user(&space, user);
        if (pw == NULL)
            return xstrdup(path);
        home = pw->pw_dir;
    }
    size_t len = strlen(home);
    while (len > 0 && home[len - 1] == '/')
        len--;
    char *full = xasprintf("%.*s%s", (int) len, home, path + n);
    if (*full != '\0')
        return full;
    free(full);
    return xstrdup("/");
}

/* Expands "$NAME" or "${NAME}" at `p`: appends its value and returns its length; 0 when it stays literal. */
static size_t
expand_var(const char *p, buf_t *out)
{
    bool braces = p[1] == '{';
    const char *name = p + (braces ? 2 : 1);
    size_t n = braces ? strcspn(name, "}")
                      : strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
                                     "0123456789");

    if (n == 0 || (braces && name[n] != '}'))
        return 0;
    AUTO_FREE char *key = xstrndup(name, n);
    const char *value = getenv(key);
    if (value == NULL)
        return 0;
    buf_puts(out, value);
    return n + (braces ? 3 : 1);
}

char *
fop_expandvars(const char *path)
{
    buf_t out = BUF_INIT;

    while (*path != '\0') {
        size_t n = *path == '$' ? expand_var(path, &out) : 0;
        if (n == 0)
            buf_putc(&out, *path++);
        path += n;
    }
    return buf_steal(&out);
}

/* Drop the last part of what `out` holds; false when there is none to drop. */
static bool
drop_last(buf_t *out, size_t root)
{
    size_t start = out->len;

    while (start > root && out->data[start - 1] != '/')
        start--;
    if (start == out->len || strcmp(out->data + start, "..") == 0)
        return false;
    out->len = start > root ? start - 1 : root;
    out->data[out->len] = '\0';
    return true;
}

/* As os.path.normpath: drops ".", double slashes and "name/.."; does not look at the disk, so that a link
 * before ".." changes the meaning. */
char *
fop_normpath(const char *path)
{
    buf_t out = BUF_INIT;
    size_t root = strspn(path, "/");

    /* POSIX gives two leading slashes a meaning of their own, three or more are one. */
    root = root == 2 ? 2 : root > 0;
    buf_fill(&out, '/', root);
    for (const char *p = path; *p != '\0';) {
        p += strspn(p, "/");
        size_t n = strcspn(p, "/");
        bool up = n == 2 && strncmp(p, "..", 2) == 0;
        if (n > 0 && !(n == 1 && *p == '.') &&
            !(up && (drop_last(&out, root) || (root > 0 && out.len == root)))) {
            if (out.len > root)
                buf_putc(&out, '/');
            buf_add(&out, p, n);
        }
        p += n;
    }
    if (out.len == 0)
        buf_putc(&out, '.');
    return buf_steal(&out);
}

const char *
fop_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* As os.path.dirname: the root's slashes stay. */
char *
fop_dirname(const char *path)
{
    size_t n = (size_t) (fop_basename(path) - path);
    size_t kept = n;

    while (kept > 0 && path[kept - 1] == '/')
        kept--;
    return xstrndup(path, kept == 0 ? n : kept);
}

/* As os.path.join of two parts: an absolute second part replaces the first. */
char *
fop_join2(const char *a, const char *b)
{
    if (*b == '/' || *a == '\0')
        return xstrdup(b);
    return xasprintf("%s%s%s", a, str_ends(a, "/") ? "" : "/", b);
}

/* The normal path from the root; a relative one is below the working folder. NEW. */
static char *
normal_absolute(const char *path)
{
    char cwd[PATH_MAX];
    AUTO_FREE char *normal = fop_normpath(path);

    if (*normal == '/')
        return STEAL(normal);
    AUTO_FREE char *full = fop_join2(getcwd(cwd, sizeof(cwd)) != NULL ? cwd : "/", normal);
    return fop_normpath(full);
}

/* `above` is real, and one more part is to be: `path` is all of it as it was asked. TAKES `above`. NEW. */
static char *
paths_add_part(char *above, const char *path, const char *name)
{
    char target[PATH_MAX];
    struct stat st;
    AUTO_FREE char *real = above;
    bool round = stat(path, &st) != 0 && errno == ELOOP;
    ssize_t n = round ? -1 : readlink(path, target, sizeof(target) - 1);

    target[n > 0 ? n : 0] = '\0';
    AUTO_FREE char *joined = fop_join2(real, n > 0 ? target : name);
    return n > 0 ? fop_normpath(joined) : STEAL(joined);
}

/* The same for what is not there, or not all of it: as much as there is, and the rest as it is written. */
static char *
real_in_part(const char *path)
{
    AUTO_FREE char *normal = normal_absolute(path), *behind = NULL, *real = NULL;
    if (strlen(normal) >= PATH_MAX) {
        /* Cut at the last slash before PATH_MAX, the longest that a system call takes. */
        char *slash = memrchr(normal, '/', PATH_MAX);
        behind = xstrdup(slash + 1);
        *slash = '\0';
    }
    char *all = normal + strlen(normal), *end = all;

    while (real == NULL && end > normal) {
        end = memrchr(normal, '/', (size_t) (end - normal));
        *end = '\0';
        real = realpath(end > normal ? normal : "/", NULL);
    }
    real = real != NULL ? real : xstrdup("/");
    while (end < all) {
        const char *name = end + 1;
        *end = '/';
        end += strlen(end);
        real = *name != '\0' ? paths_add_part(real, normal, name) : real;
    }
    return behind != NULL ? fop_join2(real, behind) : STEAL(real);
}

/* As os.path.realpath without strict: a part that does not exist is kept as written. */
char *
fop_realpath(const char *path)
{
    char *real = realpath(path, NULL);

    return real != NULL ? real : real_in_part(path);
}

char *
fop_path(json_t *args, const char *name)
{
    return fop_expanduser(value_str(args, name, ""));
}

/* Expands a pattern; no match gives an empty list. *ret_paths NEW in any case. */
int
fop_glob(const char *pattern, char ***ret_paths, fail_t *err)
{
    glob_t found;
    int rc = fs_glob(pattern, GLOB_NOESCAPE, &found, err);
    char **paths = *ret_paths = xcalloc(found.gl_pathc + 1, sizeof(*paths));

    for (size_t i = 0; i < found.gl_pathc; i++)
        paths[i] = xstrdup(found.gl_pathv[i]);
    globfree(&found);
    return rc;
}

/* Names of a folder, sorted by fs_names(). A folder that may not be read counts as empty, as in os.walk. */
int
fop_names(const char *path, char ***ret_names, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    int rc = fs_names(path, ret_names, &why);

    if (rc == 0)
        return 0;
    *ret_names = xcalloc(1, sizeof(**ret_names));
    return rc == -EACCES || rc == -EPERM || rc == -ESRCH ? 0 : fail_set(err, rc, "%s", fail_text(&why));
}

/* Python's text of an OSError: "[Errno 2] No such file or directory: 'path'". Returns -code. */
int
fop_oserror(fail_t *err, int code, const char *path)
{
    json_auto_t *text = value_utf8(path, strlen(path));
    AUTO_FREE char *shown = value_repr(text);

    return fail_set(err, -code, "[Errno %d] %s: %s", code, strerror(code), shown);
}

/* Maps stat's result to presence: 1, 0, or a negative errno. */
static int
presence(int stat_rc, const char *path, fail_t *err)
{
    if (stat_rc == 0)
        return 1;
    return errno == ENOENT || errno == ENOTDIR ? 0 : fop_oserror(err, errno, path);
}

int
fop_stat(const char *path, struct stat *ret_st, fail_t *err)
{
    return presence(stat(path, ret_st), path, err);
}

int
fop_lstat(const char *path, struct stat *ret_st, fail_t *err)
{
    return presence(lstat(path, ret_st), path, err);
}

int
fop_exists(const char *path, fail_t *err)
{
    struct stat st;

    return fop_stat(path, &st, err);
}

int
fop_exists_as(const char *path, mode_t type, fail_t *err)
{
    struct stat st = { 0 };
    int there = fop_stat(path, &st, err);

    return there > 0 ? (st.st_mode & S_IFMT) == type : there;
}

int
fop_lexists(const char *path, fail_t *err)
{
    struct stat st;

    return fop_lstat(path, &st, err);
}

int
fop_lexists_as(const char *path, mode_t type, fail_t *err)
{
    struct stat st = { 0 };
    int there = fop_lstat(path, &st, err);

    return there > 0 ? (st.st_mode & S_IFMT) == type : there;
}

int
fop_stat_or_link(const char *path, struct stat *ret_st, fail_t *err)
{
    if (stat(path, ret_st) == 0)
        return 1;
    /* Errors of stat() that os.path.exists() turns into False. */
    bool nowhere = fs_is_absence(-errno) || errno == ELOOP || errno == EACCES || errno == ENAMETOOLONG;
    return nowhere ? fop_lstat(path, ret_st, err) : fop_oserror(err, errno, path);
}

int
fop_leads_to(const char *path, mode_t type, fail_t *err)
{
    struct stat st = { 0 };
    int there = fop_stat_or_link(path, &st, err);

    return there > 0 ? (st.st_mode & S_IFMT) == type : there;
}

int
fop_need_abs(const char *path, const char *text, fail_t *err)
{
    return *path == '/' ? 0 : fop_invalid(err, "%s", text);
}

bool
fop_test_mode(call_ctx_t *ctx)
{
    return ctx_test(ctx);
}

/* Salt's heuristic (salt.utils.files.is_text): the first 512 bytes are text when they hold no NUL and are
 * UTF-8, or at most 30 % of them are not printable ASCII. */
bool
fop_is_text(const char *bytes, size_t len)
{
    size_t odd = 0, block = len < 512 ? len : 512;

    if (block == 0)
        return true;
    if (memchr(bytes, '\0', block) != NULL)
        return false;
    if (utf8_valid(bytes, block))
        return true;
    for (size_t i = 0; i < block; i++)
        odd += !(bytes[i] >= 32 && bytes[i] < 127) && memchr("\n\r\t\f\b", bytes[i], 5) == NULL;
    return (double) odd / (double) block <= 0.30;
}

int
fop_need_text(const char *path, const buf_t *bytes, fail_t *err)
{
    if (fop_is_text(buf_str(bytes), bytes->len) && memchr(buf_str(bytes), '\0', bytes->len) == NULL)
        return 0;
    return fop_invalid(err, "Cannot perform string replacements on a binary file: %s", path);
}

int
fop_open_to_read(const char *path, struct stat *ret_st, fail_t *err)
{
    AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

    if (fd < 0 || fstat(fd, ret_st) != 0)
        return fop_oserror(err, errno, path);
    if (S_ISFIFO(ret_st->st_mode)) /* a wait without end */
        return fop_failed(err, "%s is a named pipe, and no file that can be read", path);
    int opened = fd;
    fd = -1;
    return opened;
}

/* Bounded by LIMIT_FILE_READ: a larger file is an error, not a part of it. */
int
fop_read(const char *path, buf_t *out, fail_t *err)
{
    struct stat st;
    AUTO_FD fd = fop_open_to_read(path, &st, err);

    if (fd < 0)
        return fd;
    int rc = fs_read_fd(fd, LIMIT_FILE_READ, out);
    if (rc == -EFBIG)
        return fail_kind(err, FAIL_COMMAND, rc, "%s is larger than the %zu bytes allowed here", path,
                         (size_t) LIMIT_FILE_READ);
    return rc == 0 ? 0 : fop_oserror(err, -rc, path);
}

/* A file is mapped where it can be; what cannot be mapped, and empty files, are read. */
int
fop_view(const char *path, view_t *out)
{
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) != 0)
        return -errno;
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            *out = (view_t){ map, (size_t) st.st_size, map, BUF_INIT };
            return 0;
        }
    }
    int rc = fs_read(path, LIMIT_FILE_READ, &out->own, NULL);
    out->data = buf_str(&out->own);
    out->len = out->own.len;
    return rc;
}

void
fop_unview(view_t *v)
{
    if (v->map != NULL)
        munmap(v->map, v->len);
    buf_free(&v->own);
    v->map = NULL;
}

static int
add_flag(const json_t *name, unsigned *flags, fail_t *err)
{
    AUTO_FREE char *text = value_pystr(name);
    unsigned flag = rx_flag(text);

    if (flag == 0)
        return fop_failed(err, "Invalid re flag given: %s", text);
    *flags |= flag;
    return 0;
}

int
fop_re_flags(const json_t *flags, unsigned *ret_flags, fail_t *err)
{
    unsigned found = 0;
    int rc = 0;

    if (json_is_integer(flags)) {
        found = (unsigned) json_integer_value(flags) & 0xffff;
    } else if (json_is_string(flags)) {
        rc = add_flag(flags, &found, err);
    } else if (json_is_array(flags)) {
        for (size_t i = 0; rc == 0 && i < json_array_size(flags); i++)
            rc = add_flag(json_array_get(flags, i), &found, err);
    } else {
        AUTO_FREE char *text = value_pystr(flags);
        return fop_failed(err,
                          "Invalid re flags: \"%s\", must be given either as a single flag string, a list of "
                          "strings, as an integer, or as an re flag",
                          text);
    }
    if (rc == 0)
        *ret_flags = found;
    return rc;
}

int
fop_int(const json_t *v, const char *must, double *ret_n, fail_t *err)
{
    AUTO(py) given = py_from_json(v);
    AUTO(py) whole = py_toint(given, -1);
    AUTO(py) n = whole != NULL ? py_tofloat(whole) : NULL;

    if (n == NULL) {
        fail_set(err, -EINVAL, "%s: %s", must, py_raised_text());
        py_clear();
        return -EINVAL;
    }
    *ret_n = py_float_value(n);
    return 0;
}
