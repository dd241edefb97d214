/* text.c - file's functions that read, append, search and patch text, and file.open_files. Searches read in
 * pieces, as files may be larger than memory and other programs may truncate them meanwhile; sed, grep and
 * patch run as programs, with "--" in front of paths that could look like options. */
#include "plugins/lib/file/text.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "common/host/prog.h"
#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/host/procfs.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "plugins/lib/file/fileops.h"

enum { PIECE = 256 * 1024 };

/* ---- write ----------------------------------------------------------------------------------- */

/* The lines given as arguments or as `args=`, each with a line end. Returns how many. */
static size_t
given_lines(json_t *args, buf_t *out)
{
    json_t *named = value_get(value_get(args, "kwargs"), "args");
    json_t *lines = named != NULL ? named : value_get(args, "args");

    if (!json_is_array(lines)) {
        AUTO_FREE char *text = value_pystr(lines);
        buf_printf(out, "%s\n", text);
        return 1;
    }
    for (size_t i = 0; i < json_array_size(lines); i++) {
        AUTO_FREE char *text = value_pystr(json_array_get(lines, i));
        buf_puts(out, text);
        buf_putc(out, '\n');
    }
    return json_array_size(lines);
}

/* The file that is there. */
static int
find_there(partfile_t *file, const char *path, fail_t *err)
{
    int rc = partfile_find(file, path, PARTFILE_SPECIAL, err);

    return rc == 0 && file->file < 0 ? fop_oserror(err, ENOENT, path) : rc;
}

/* A write that fails in the middle, on a full disk for example, is truncated to the old end. */
int
file_append(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    buf_auto_t lines = BUF_INIT, text = BUF_INIT;
    size_t n = given_lines(args, &lines);
    partfile_auto_t file = PARTFILE_INIT;
    int rc = find_there(&file, path, err);

    if (rc != 0)
        return rc;
    AUTO_FD fd = file.special ? fop_open_to_write(file.at, O_APPEND)
                              : open(file.at, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return fop_oserror(err, errno, path);
    /* A last line without an end gets one first. */
    char last = '\n';
    off_t end = lseek(fd, 0, SEEK_END);
    if (end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n')
        buf_putc(&text, '\n');
    buf_add(&text, buf_str(&lines), lines.len);
    rc = fs_write_all(fd, buf_str(&text), text.len);
    /* None of the lines, rather than half of one. */
    if (rc != 0 && end >= 0 && ftruncate(fd, end) != 0)
        rc = -errno;
    if (rc != 0)
        return fop_oserror(err, -rc, path);
    *ret_value = value_fmt("Wrote %zu lines to \"%s\"", n, path);
    return 0;
}

/* The lines are put before what is read, and the whole is written as one new file. */
int
file_prepend(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    buf_auto_t text = BUF_INIT;
    size_t n = given_lines(args, &text);
    partfile_auto_t file = PARTFILE_INIT;
    int rc = partfile_find(&file, path, PARTFILE_SPECIAL, err);

    if (rc == 0)
        rc = partfile_read(&file, &text, err);
    if (rc == 0)
        rc = fop_rewrite(&file, buf_str(&text), text.len, true, err);
    if (rc == 0)
        *ret_value = value_fmt("Prepended %zu lines to \"%s\"", n, path);
    return rc;
}

int
file_write(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    buf_auto_t text = BUF_INIT;
    size_t n = given_lines(args, &text);
    int rc = fop_write(path, buf_str(&text), text.len, err);

    if (rc == 0)
        *ret_value = value_fmt("Wrote %zu lines to \"%s\"", n, path);
    return rc;
}

/* By the held file, so that no link is followed to another one meanwhile. */
int
file_truncate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    partfile_auto_t file = PARTFILE_INIT;
    int rc = find_there(&file, path, err);

    if (rc != 0)
        return rc;
    if (truncate(file.at, (off_t) value_int(args, "length", 0)) != 0)
        return fop_oserror(err, errno, path);
    *ret_value = json_null();
    return 0;
}

int
file_seek_write(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    const char *data = value_str(args, "data", "");
    partfile_auto_t file = PARTFILE_INIT;
    int rc = find_there(&file, path, err);

    if (rc != 0)
        return rc;
    AUTO_FD fd = fop_open_to_write(file.at, 0);
    if (fd < 0)
        return fop_oserror(err, errno, path);
    ssize_t n = pwrite(fd, data, strlen(data), (off_t) value_int(args, "offset", 0));
    if (n < 0 || fsync(fd) != 0)
        return fop_oserror(err, errno, path);
    *ret_value = json_integer(n);
    return 0;
}

/* ---- read ------------------------------------------------------------------------------------ */

int
file_read(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    int rc = fop_read(value_str(args, "path", ""), &text, err);

    if (rc == 0)
        *ret_value = value_utf8(buf_str(&text), text.len);
    return rc;
}

int
file_seek_read(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    json_int_t size = value_int(args, "size", 0), offset = value_int(args, "offset", 0);

    if (size < 0 || size > LIMIT_FILE_READ || offset < 0)
        return fop_oserror(err, EINVAL, path);
    AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    AUTO_FREE char *data = xcalloc((size_t) size + 1, 1);
    ssize_t n = fd < 0 ? -1 : pread(fd, data, (size_t) size, (off_t) offset);
    if (n < 0)
        return fop_oserror(err, errno, path);
    *ret_value = value_utf8(data, (size_t) n);
    return 0;
}

/* A file that others may write to, or cut, meanwhile is searched piece by piece. */
typedef struct pieces {
    int fd;
    size_t left; /* bytes that may come still: a device need not end */
    buf_t held;  /* what was read and is not done with */
} pieces_t;

static void
pieces_close(pieces_t *p)
{
    if (p->fd >= 0)
        close(p->fd);
    buf_free(&p->held);
}
#define pieces_auto_t __attribute__((cleanup(pieces_close))) pieces_t

static pieces_t
pieces_open(const char *path)
{
    struct stat st = { 0 };
    int fd = fop_open_to_read(path, &st, NULL);
    bool large = S_ISREG(st.st_mode) && st.st_size > LIMIT_FILE_READ;

    return (pieces_t){ fd, large ? (size_t) st.st_size : LIMIT_FILE_READ, BUF_INIT };
}

/* The next piece comes behind what is held. 1, 0 at the end, or a negative errno. */
static int
pieces_next(pieces_t *p)
{
    size_t want = p->left < PIECE ? p->left : PIECE;
    ssize_t n;

    if (p->fd < 0)
        return -EBADF;
    buf_reserve(&p->held, want);
    while ((n = read(p->fd, p->held.data + p->held.len, want)) < 0 && errno == EINTR)
        continue;
    if (n < 0)
        return -errno;
    p->held.len += (size_t) n;
    p->left -= (size_t) n;
    return n > 0;
}

/* Keeps the last n-1 bytes of a piece, so that a match across two pieces is found. An unreadable file
 * contains nothing, as in Salt. */
int
file_contains(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    AUTO_FREE char *text = value_pystr(value_get(args, "text"));
    const char *needle = str_trim(text);
    size_t n = strlen(needle);
    pieces_auto_t p = pieces_open(path);
    bool found = false;
    int more = 1;

    while (!found && more > 0) {
        more = pieces_next(&p);
        found = more >= 0 && memmem(buf_str(&p.held), p.held.len, needle, n) != NULL;
        if (p.held.len >= n && n > 0)
            buf_consume(&p.held, p.held.len - (n - 1));
    }
    *ret_value = json_boolean(found);
    return 0;
}

/* Each line in turn; what can't be read has none. */
static int
search_lines(rx_t *rx, const char *path, const char *lchar, fail_t *err)
{
    pieces_auto_t p = pieces_open(path);

    for (int more = 1; more > 0;) {
        size_t at = 0;
        more = pieces_next(&p);
        while (more >= 0 && at < p.held.len) {
            const char *line = p.held.data + at, *nl = memchr(line, '\n', p.held.len - at);
            size_t len = nl != NULL ? (size_t) (nl - line) + 1 : p.held.len - at;
            if (nl == NULL && more > 0)
                break;
            at += len;
            /* Searched without leading bytes of `lchar`. */
            while (len > 0 && *lchar != '\0' && strchr(lchar, *line) != NULL && *line != '\0') {
                line++;
                len--;
            }
            int rc = rx_search(rx, line, len, 0, err);
            if (rc != 0)
                return rc;
        }
        buf_consume(&p.held, at);
        if (p.held.len > LIMIT_FILE_READ)
            return fop_failed(err, "%s has a line that is larger than the %zu bytes allowed here", path,
                              (size_t) LIMIT_FILE_READ);
    }
    return 0;
}

int
file_contains_regex(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    AUTO(rx) rx = rx_new(value_str(args, "regex", ""), 0, err);

    if (rx == NULL)
        return -EINVAL;
    int rc = search_lines(rx, path, value_str(args, "lchar", ""), err);
    if (rc < 0)
        return rc;
    *ret_value = json_boolean(rc);
    return 0;
}

/* A pattern for the whole text, as in Salt: it has to match from its begin to its end. */
int
file_contains_glob(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    buf_auto_t text = BUF_INIT;

    *ret_value = json_boolean(fop_read(path, &text, NULL) == 0 && text.len > 0 &&
                              match_glob(value_str(args, "glob_expr", ""), buf_str(&text)));
    return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

int
file_grep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    prog_auto_t cmd = PROG_INIT;

    prog_add(&cmd, "grep");

    /* Each option is one word; several in one text are refused, as a shell would be needed to part them. */
    json_t *opts = value_get(args, "opts");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(opts); i++) {
        AUTO_FREE char *opt = value_pystr(json_array_get(opts, i));
        char **words = prog_split(opt, err);
        if (words == NULL)
            return -EINVAL;
        if (strv_len(words) > 1)
            rc = fop_invalid(
                err,
                "Passing multiple command line arguments in a single string is not supported, please "
                "pass the following arguments separately: %s",
                opt);
        else if (words[0] != NULL)
            prog_add(&cmd, words[0]);
        strv_free(words);
    }

    if (rc != 0)
        return rc;
    prog_adds(&cmd, "--", value_str(args, "pattern", ""), NULL);
    char **paths = NULL;
    rc = fop_glob(path, &paths, err);
    for (size_t i = 0; paths[i] != NULL; i++)
        prog_add(&cmd, paths[i]);
    if (paths[0] == NULL)
        prog_add(&cmd, path);
    strv_free(paths);
    *ret_value = rc == 0 ? prog_run_all(&cmd, err) : NULL;
    return *ret_value != NULL ? 0 : rc < 0 ? rc : -EIO;
}

/* A text for sed's s/// or //: the delimiter, and on demand what a pattern gives a meaning. NEW. */
static char *
sed_escape(const char *text, bool escape_all)
{
    buf_t out = BUF_INIT;

    for (; *text != '\0'; text++) {
        if (*text == '/' || (escape_all && strchr("^.[$()|*+?{", *text) != NULL))
            buf_putc(&out, '\\');
        buf_putc(&out, *text);
    }
    return buf_steal(&out);
}

/* Options of one text are parted as a shell would part them. */
static int
add_split(prog_t *cmd, const char *options, fail_t *err)
{
    char **words = prog_split(options, err);

    if (words == NULL)
        return -EINVAL;
    for (size_t i = 0; words[i] != NULL; i++)
        prog_add(cmd, words[i]);
    strv_free(words);
    return 0;
}

/* "/limit/ " or nothing. NEW. */
static char *
sed_address(const json_t *limit, bool escape_all)
{
    if (!value_truthy(limit))
        return xstrdup("");
    AUTO_FREE char *text = value_pystr(limit);
    AUTO_FREE char *escaped = sed_escape(text, escape_all);
    return xasprintf("/%s/ ", escaped);
}

int
file_sed(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    bool all = value_bool(args, "escape_all", false);
    json_t *backup = value_get(args, "backup");
    prog_auto_t cmd = PROG_INIT;

    int there = fop_exists(path, err);
    if (there <= 0) {
        *ret_value = there == 0 ? json_false() : NULL;
        return there;
    }
    AUTO_FREE char *before = sed_escape(value_str(args, "before", ""), all);
    AUTO_FREE char *after = sed_escape(value_str(args, "after", ""), all);
    AUTO_FREE char *address = sed_address(value_get(args, "limit"), all);
    prog_add(&cmd, "sed");
    prog_addf(&cmd, "-i%s", json_is_string(backup) ? json_string_value(backup) : "");
    int rc = add_split(&cmd, value_str(args, "options", ""), err);
    if (rc != 0)
        return rc;
    prog_addf(&cmd, "%s%ss/%s/%s/%s", address, value_bool(args, "negate_match", false) ? "!" : "", before,
              after, value_str(args, "flags", ""));
    prog_adds(&cmd, "--", path, NULL);
    *ret_value = prog_run_all(&cmd, err);
    return *ret_value == NULL ? -EIO : 0;
}

int
file_sed_contains(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    prog_auto_t cmd = PROG_INIT;

    int there = fop_exists(path, err);
    if (there <= 0) {
        *ret_value = there == 0 ? json_false() : NULL;
        return there;
    }
    AUTO_FREE char *before = sed_escape(value_str(args, "text", ""), false);
    AUTO_FREE char *address = sed_address(value_get(args, "limit"), false);
    prog_adds(&cmd, "sed", "-n", "-r", "-e", NULL);
    prog_addf(&cmd, "%ss/%s/$/p%s", address, before, value_str(args, "flags", ""));
    prog_adds(&cmd, "--", path, NULL);
    AUTO_FREE char *out = prog_stdout(&cmd, NULL, err);
    if (out == NULL)
        return -EIO;
    *ret_value = json_boolean(*out != '\0');
    return 0;
}

/* True when the command has the option alone, or begins with it. */
static bool
has_option(const prog_t *cmd, const char *exact, const char *prefix)
{
    for (size_t i = 1; i < cmd->n; i++) {
        if (str_eq(cmd->argv[i], exact) || str_starts(cmd->argv[i], prefix))
            return true;
    }
    return false;
}

/* Adds --forward and --reject-file=- unless given: a patch that is applied already must not be reversed, and
 * no reject files are left behind. */
int
file_patch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *original = value_str(args, "originalfile", "");
    AUTO_FREE char *program = fs_which("patch");
    prog_auto_t cmd = PROG_INIT;

    if (program == NULL)
        return fop_failed(err, "patch executable not found. Is the distribution's patch package installed?");
    prog_add(&cmd, program);
    int rc = add_split(&cmd, value_str(args, "options", ""), err);
    if (rc != 0)
        return rc;
    if (value_bool(args, "dry_run", false))
        prog_add(&cmd, "--dry-run");
    if (!has_option(&cmd, "-N", "--forward"))
        prog_add(&cmd, "--forward");
    if (!has_option(&cmd, "-r", "--reject-file"))
        prog_add(&cmd, "--reject-file=-");
    prog_adds(&cmd, "-i", value_str(args, "patchfile", ""), NULL);
    int dir = fop_exists_as(original, S_IFDIR, err);
    if (dir < 0)
        return dir;
    if (dir > 0) {
        prog_adds(&cmd, "-d", original, NULL);
        if (!has_option(&cmd, "-p", "-p") && !has_option(&cmd, "--strip", "--strip="))
            prog_add(&cmd, "--strip=0");
    } else {
        prog_adds(&cmd, "--", original, NULL);
    }
    *ret_value = prog_run_all(&cmd, err);
    return *ret_value == NULL ? -EIO : 0;
}

/* ---- open files ------------------------------------------------------------------------------ */

/* A path as a key; bytes that are not UTF-8 are replaced. */
static void
text_add_name(json_t *out, const char *path)
{
    json_auto_t *name = value_utf8(path, strlen(path));

    json_object_set_new(out, json_string_value(name), json_true());
}

/* Appends the existing targets of a folder's links to `out`. */
static int
text_add_targets(const char *folder, json_t *out, fail_t *err)
{
    char **names = NULL;
    int rc = fop_names(folder, &names, err);

    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *link = fop_join2(folder, names[i]);
        char *real = realpath(link, NULL);
        if (real != NULL)
            text_add_name(out, real);
        free(real);
    }
    strv_free(names);
    return rc;
}

/* Names a process has open, as keys. Its threads share its files in all but odd cases, which are looked at
 * too. NEW, or NULL with *err. */
static json_t *
text_files_of(const char *pid, fail_t *err)
{
    json_auto_t *names = json_object();
    AUTO_FREE char *fds = xasprintf("/proc/%s/fd", pid), *tasks = xasprintf("/proc/%s/task", pid);
    AUTO_FREE char *exe = xasprintf("/proc/%s/exe", pid);
    char *program = realpath(exe, NULL);
    char **threads = NULL;

    if (program != NULL)
        text_add_name(names, program);
    free(program);
    int rc = fop_names(tasks, &threads, err);
    if (rc == 0)
        rc = text_add_targets(fds, names, err);
    for (size_t i = 0; rc == 0 && threads[i] != NULL; i++) {
        AUTO_FREE char *task = xasprintf("%s/%s/fd", tasks, threads[i]);
        if (!str_eq(threads[i], pid))
            rc = text_add_targets(task, names, err);
    }
    strv_free(threads);
    return rc == 0 ? json_incref(names) : NULL;
}

/* {path: [pids]}, or with by_pid {pid: [paths]}. */
int
file_open_files(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool by_pid = value_bool(args, "by_pid", false);
    size_t n;
    AUTO_FREE pid_t *pids = procfs_pids(&n, err);
    json_auto_t *ret = json_object();
    const char *name;
    json_t *value;

    for (size_t i = 0; pids != NULL && i < n; i++) {
        char pid[16];
        snprintf(pid, sizeof(pid), "%d", (int) pids[i]);
        json_auto_t *names = text_files_of(pid, err);
        if (names == NULL)
            return err->code;
        if (by_pid)
            json_object_set_new(ret, pid, value_sorted_keys(names));
        json_object_foreach (by_pid ? NULL : names, name, value) {
            json_t *held_by = json_object_get(ret, name);
            if (held_by == NULL) {
                held_by = json_array();
                json_object_set_new(ret, name, held_by);
            }
            json_array_append_new(held_by, json_integer(pids[i]));
        }
    }
    if (pids != NULL)
        *ret_value = json_incref(ret);
    return pids != NULL ? 0 : err->code;
}
