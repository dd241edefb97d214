/* names.c - file's functions that ask about paths and change nothing: parts of names, types, links, device
 * numbers, disk usage. Where Python's os.path answers False for a path that it may not see, these do as
 * well. */
#include <dirent.h>
#include <limits.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/tree.h"

static json_t *
text_value(const char *text)
{
    return value_utf8(text, strlen(text));
}

int
file_basename(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = text_value(fop_basename(value_str(args, "path", "")));
    return 0;
}

int
file_dirname(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *dir = fop_dirname(value_str(args, "path", ""));

    *ret_value = text_value(dir);
    return 0;
}

int
file_normpath(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_normpath(value_str(args, "path", ""));

    *ret_value = text_value(path);
    return 0;
}

int
file_expanduser(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");

    *ret_value = text_value(path);
    return 0;
}

int
file_join(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *parts = value_get(args, "args");
    char *path = NULL;

    if (json_array_size(parts) == 0)
        return fail_kind(err, FAIL_ARGUMENTS, -EINVAL, "join() missing 1 required positional argument: 'a'");
    for (size_t i = 0; i < json_array_size(parts); i++) {
        AUTO_FREE char *part = value_pystr(json_array_get(parts, i));
        char *joined = path == NULL ? xstrdup(part) : fop_join2(path, part);
        free(path);
        path = joined;
    }
    *ret_value = text_value(path);
    free(path);
    return 0;
}

int
file_pardir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string("..");
    return 0;
}

/* os.path.isfile and its kin: what they can't look at is False to them, and to those who call these. */
static bool
lib_names_is(json_t *args, int (*look)(const char *, struct stat *), mode_t type)
{
    AUTO_FREE char *path = fop_path(args, "path");
    struct stat st;

    return look(path, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

int
file_file_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(lib_names_is(args, stat, S_IFREG));
    return 0;
}

int
file_directory_exists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(lib_names_is(args, stat, S_IFDIR));
    return 0;
}

int
file_path_exists_glob(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *pattern = fop_path(args, "path");
    fail_auto_t why = FAIL_INIT;
    char **paths = NULL;
    int rc = fop_glob(pattern, &paths, &why);
    bool any = paths[0] != NULL;

    strv_free(paths);
    if (rc < 0 && !any)
        return fail_set(err, rc, "%s", fail_text(&why));
    *ret_value = json_boolean(any);
    return 0;
}

int
file_readdir(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");

    if (fop_need_abs(path, "Dir path must be absolute.", err) != 0)
        return -EINVAL;
    int there = fop_exists_as(path, S_IFDIR, err);
    if (there <= 0)
        return there < 0 ? there : fop_invalid(err, "A valid directory was not specified: %s", path);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return fop_oserror(err, errno, path);
    json_auto_t *names = json_pack("[s, s]", ".", "..");
    int rc;
    for (const struct dirent *entry; (entry = fs_next(dir, &rc)) != NULL;)
        json_array_append_new(names, text_value(entry->d_name));
    closedir(dir);
    if (rc < 0)
        return fop_oserror(err, -rc, path);
    *ret_value = json_incref(names);
    return 0;
}

int
file_is_link(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_boolean(lib_names_is(args, lstat, S_IFLNK));
    return 0;
}

int
file_is_hardlink(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "path");
    struct stat st;

    if (fop_need_abs(path, "Path to file must be absolute.", err) != 0)
        return -EINVAL;
    *ret_value = lstat(path, &st) != 0 ? json_object() : json_boolean(st.st_nlink > 1);
    return 0;
}

int
file_readlink(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *home = fop_path(args, "path");
    AUTO_FREE char *path = fop_expandvars(home);
    char target[PATH_MAX];

    if (*path != '/')
        return fop_invalid(err, "Path to link must be absolute: %s", path);
    int link = fop_lexists_as(path, S_IFLNK, err);
    if (link <= 0)
        return link < 0 ? link : fop_invalid(err, "A valid link was not specified: %s", path);
    if (value_bool(args, "canonicalize", false)) {
        AUTO_FREE char *real = fop_realpath(path);
        *ret_value = text_value(real);
        return 0;
    }
    ssize_t n = readlink(path, target, sizeof(target));
    if (n < 0)
        return fop_failed(err, "[Errno %d] %s: '%s'", errno, strerror(errno), path);
    *ret_value = value_utf8(target, (size_t) n);
    return 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Checks the path's type; a path that does not exist has none. */
int
file_is_type(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    mode_t type = (mode_t) ctx_row(ctx)->data.number;
    AUTO_FREE char *path = fop_path(args, "name");
    struct stat st;

    if (stat(path, &st) == 0)
        *ret_value = json_boolean((st.st_mode & S_IFMT) == type);
    else if (errno == ENOENT)
        *ret_value = json_false();
    else
        return fop_oserror(err, errno, path);
    return 0;
}

int
file_get_devmm(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = fop_path(args, "name");
    struct stat st = { 0 };

    if (fop_stat(path, &st, err) < 0)
        return err->code;
    bool device = S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode);

    *ret_value = json_pack("[i, i]", device ? (int) major(st.st_rdev) : 0,
                           device ? (int) minor(st.st_rdev) : 0);
    return 0;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

typedef struct usage {
    map_t *seen; /* inodes that were counted */
    json_int_t total;
} usage_t;

static int add_folder(usage_t *u, const char *path, int depth, fail_t *err);

static int
lib_names_add_entry(usage_t *u, const char *path, int depth, fail_t *err)
{
    char key[64];
    struct stat st;
    int there = fop_stat_or_link(path, &st, err);

    if (there <= 0 || S_ISLNK(st.st_mode)) /* a link that leads nowhere */
        return there < 0 ? there : 0;
    snprintf(key, sizeof(key), "%jx:%jx", (uintmax_t) st.st_dev, (uintmax_t) st.st_ino);
    if (S_ISDIR(st.st_mode)) {
        /* Links to folders are not entered, as os.walk does. */
        int link = fop_lexists_as(path, S_IFLNK, err);
        if (link < 0)
            return link;
        return link == 0 && depth < LIMIT_JSON_DEPTH ? add_folder(u, path, depth + 1, err) : 0;
    }
    if (map_get(u->seen, key) == NULL) {
        map_set(u->seen, key, u);
        u->total += st.st_size;
    }
    return 0;
}

static int
add_folder(usage_t *u, const char *path, int depth, fail_t *err)
{
    char **names = NULL;
    int rc = fop_names(path, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *full = fop_join2(path, names[i]);
        rc = lib_names_add_entry(u, full, depth, err);
    }
    strv_free(names);
    return rc;
}

/* Sums the sizes of files below a folder, each inode once, so that hard links do not count twice. */
int
file_diskusage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    struct stat st;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        *ret_value = json_integer(st.st_size);
        return 0;
    }
    usage_t usage = { map_new(NULL), 0 };
    int rc = add_folder(&usage, path, 0, err);
    map_destroy(&usage.seen);
    if (rc == 0)
        *ret_value = json_integer(usage.total);
    return rc;
}
