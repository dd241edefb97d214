/* roots.c - see roots.h. Each root is opened once and paths are resolved beneath it (beneath.h), so that
 * neither ".." nor a link leads out. Reading takes every root of the environment, writing the one that
 * `index` names. */
#include "plugins/wheel/lib/roots.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/utf8.h"
#include "common/files/backend.h"

#define HEAD_BYTES 512 /* what decides whether a file is text */

/* The folders of an environment. BORROWED; NULL: there is no such environment. */
static json_t *
folders_of(call_ctx_t *ctx, const char *option, const char *saltenv)
{
    return value_get(value_get(ctx_opts(ctx), option), saltenv);
}

/* A descriptor of `path` below `root`, or -1. A link in it may lead to another place inside. */
static int
open_below(const char *root, const char *path, int flags)
{
    AUTO_FREE char *flat = files_flatten(path);
    AUTO_FD dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = dir >= 0 ? beneath_open(dir, flat, BENEATH_LINKS, flags | O_NONBLOCK | O_NOCTTY, 0) : -1;

    return fd >= 0 ? fd : -1;
}

/* ---- find, read ---------------------------------------------------------------------------------------- */

/* UTF-8, but for a character that the end cuts. */
static bool
wheel_roots_is_text(const char *bytes, size_t n)
{
    uint32_t cp;

    if (memchr(bytes, '\0', n) != NULL)
        return false;
    for (size_t at = 0, len; at < n; at += len) {
        len = utf8_next(bytes + at, n - at, &cp);
        if (len == 0)
            return n == HEAD_BYTES && n - at < 4;
    }
    return true;
}

/* A regular file of one root: its descriptor, or -1. */
static int
wheel_roots_open_file(const char *root, const char *path, bool *ret_text)
{
    char head[HEAD_BYTES];
    struct stat st;
    int fd = open_below(root, path, O_RDONLY);

    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    ssize_t n = fd >= 0 ? pread(fd, head, sizeof(head), 0) : -1;
    *ret_text = n >= 0 && wheel_roots_is_text(head, (size_t) n);
    return fd;
}

/* Each root's file of that path, with its kind: "txt" or "bin". */
int
roots_find(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_t *root;
    size_t i;
    bool text;

    *ret_value = json_array();
    json_array_foreach (folders_of(ctx, option, value_str(args, "saltenv", "base")), i, root) {
        AUTO_FD fd = wheel_roots_open_file(json_string_value(root), path, &text);
        AUTO_FREE char *full = fs_join(json_string_value(root), path);
        if (fd >= 0)
            json_array_append_new(*ret_value, json_pack("{s:s}", full, text ? "txt" : "bin"));
    }
    return 0;
}

/* Binary files are left out. */
int
roots_read(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_auto_t *found = json_array();
    json_t *root;
    size_t i;
    bool text;

    json_array_foreach (folders_of(ctx, option, value_str(args, "saltenv", "base")), i, root) {
        AUTO_FD fd = wheel_roots_open_file(json_string_value(root), path, &text);
        AUTO_FREE char *full = fs_join(json_string_value(root), path);
        buf_auto_t data = BUF_INIT;
        int rc = fd >= 0 && text ? fs_read_fd(fd, LIMIT_FILE_READ, &data) : 0;
        if (rc < 0)
            return fail_set(err, rc, "%s: %s", full, strerror(-rc));
        if (fd >= 0 && text)
            json_array_append_new(found, json_pack("{s:o}", full, value_utf8(buf_str(&data), data.len)));
    }
    *ret_value = json_incref(found);
    return 0;
}

/* ---- list ---------------------------------------------------------------------------------------------- */

static int
wheel_roots_by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int list_folder(int dir, json_t *tree, int depth, size_t *n_p, fail_t *err);

/* Lists one name of a folder: "f", or {} with the folder's contents. */
static int
list_name(int dir, const char *name, json_t *tree, int depth, size_t *n_p, fail_t *err)
{
    struct stat st;

    if (++*n_p > LIMIT_FILE_LIST || depth > LIMIT_FILE_DEPTH)
        return fail_set(err, -E2BIG, "more than %d files, or more than %d folders inside each other",
                        LIMIT_FILE_LIST, LIMIT_FILE_DEPTH);
    bool seen = fstatat(dir, name, &st, 0) == 0;
    if (!seen && fs_is_passing(-errno))
        return fs_fail(err, -errno, "look at", name);
    if (!seen || !S_ISDIR(st.st_mode)) {
        json_object_set_new(tree, name, json_string("f"));
        return 0;
    }
    json_t *below = json_object();
    json_object_set_new(tree, name, below);
    /* A folder behind a link is named, and not gone into. */
    AUTO_FD fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP || fs_is_absence(-errno) ? 0 : fs_fail(err, -errno, "read the folder", name);
    return list_folder(fd, below, depth + 1, n_p, err);
}

/* Names that are not UTF-8 are left out. `n_p` counts names over all roots. */
static int
list_folder(int dir, json_t *tree, int depth, size_t *n_p, fail_t *err)
{
    struct dirent **names = NULL;
    int n = scandirat(dir, ".", &names, NULL, wheel_roots_by_name),
        rc = n < 0 ? fs_fail(err, -errno, "read", "a folder") : 0;

    for (int i = 0; i < n; i++) {
        const char *name = names[i]->d_name;
        if (rc == 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && utf8_valid(name, strlen(name)))
            rc = list_name(dir, name, tree, depth, n_p, err);
        free(names[i]);
    }
    free(names);
    return rc;
}

/* NEW {root: tree}; NULL with *err. */
static json_t *
list_env(call_ctx_t *ctx, const char *option, const char *saltenv, fail_t *err)
{
    json_auto_t *all = json_object();
    json_t *root;
    size_t i, n = 0;

    json_array_foreach (folders_of(ctx, option, saltenv), i, root) {
        json_t *tree = json_object();
        AUTO_FD dir = open(json_string_value(root), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        json_object_set_new(all, json_string_value(root), tree);
        if (dir < 0 && !fs_is_absence(-errno)) {
            (void) fs_fail(err, -errno, "read the folder", json_string_value(root));
            return NULL;
        }
        if (dir >= 0 && list_folder(dir, tree, 0, &n, err) < 0)
            return NULL;
    }
    return json_incref(all);
}

int
roots_list_env(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = list_env(ctx, option, value_str(args, "saltenv", "base"), err);
    return *ret_value != NULL ? 0 : -EIO;
}

int
roots_list_roots(call_ctx_t *ctx, const char *option, json_t **ret_value, fail_t *err)
{
    json_auto_t *all = json_object();
    const char *saltenv;
    json_t *folders;

    json_object_foreach (value_get(ctx_opts(ctx), option), saltenv, folders) {
        json_t *one = list_env(ctx, option, saltenv, err);
        if (one == NULL)
            return -EIO;
        json_object_set_new(all, saltenv, json_pack("[o]", one));
    }
    *ret_value = json_incref(all);
    return 0;
}

/* ---- write --------------------------------------------------------------------------------------------- */

/* Salt's message for an invalid call; NULL when it is valid. NEW. */
static json_t *
wheel_roots_objection(json_t *folders, const json_t *args)
{
    const char *saltenv = value_str(args, "saltenv", "base"), *path = value_str(args, "path", "");
    json_int_t index = value_int(args, "index", 0);

    if (folders == NULL)
        return value_fmt("Named environment %s is not present", saltenv);
    if (index < 0 || (size_t) index >= json_array_size(folders))
        return value_fmt("Specified index %lld in environment %s is not present", (long long) index, saltenv);
    if (path[0] == '/')
        return value_fmt("The path passed in %s is not relative to the environment %s", path, saltenv);
    return NULL;
}

/* Existing regular files keep their mode; others get 0644. Invalid calls are answered with Salt's text and
 * retcode 1. */
int
roots_write(call_ctx_t *ctx, const char *option, const json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *folders = folders_of(ctx, option, value_str(args, "saltenv", "base")),
           *data = value_get(args, "data");
    const char *path = value_str(args, "path", "");
    struct stat st;

    if ((*ret_value = wheel_roots_objection(folders, args)) != NULL) {
        ctx_set_retcode(ctx, 1);
        return 0;
    }
    const char *root = json_string_value(json_array_get(folders, (size_t) value_int(args, "index", 0)));
    AUTO_FREE char *flat = files_flatten(path), *full = fs_join(root, path);
    const char *name;
    AUTO_FD base = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    AUTO_FD dir = base < 0 ? -errno : beneath_parent(base, flat, BENEATH_LINKS, 0755, &name);
    if (dir < 0 || str_ends(path, "/")) {
        *ret_value = value_fmt("Invalid path: %s", path);
        ctx_set_retcode(ctx, 1);
        return 0;
    }
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (!there && !fs_is_absence(-errno))
        return fs_fail(err, -errno, "look at", full);
    mode_t mode = there && S_ISREG(st.st_mode) ? st.st_mode & 07777 : 0644;
    int rc = beneath_put(dir, name, json_string_value(data), json_string_length(data), mode, true);
    if (rc == 0)
        *ret_value = value_fmt("Wrote data to file %s", full);
    else
        (void) fail_set(err, rc, "cannot write %s: %s", full, strerror(-rc));
    return rc;
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

#define ENV_ROW ARG("saltenv", ARG_STR, "\"base\"", "The environment")

const arg_t roots_path_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "Path below the roots"), ENV_ROW,
                                  ARGS_END };
const arg_t roots_env_args[] = { ENV_ROW, ARGS_END };
const arg_t roots_write_args[] = { ARG("data", ARG_STR, ARG_REQUIRED, "The whole text"),
                                   ARG("path", ARG_STR, ARG_REQUIRED, "Path below the root"), ENV_ROW,
                                   ARG("index", ARG_INT, "0", "Which of the environment's roots"), ARGS_END };
