/* sysfs.c - execution module `sysfs`: the kernel's attributes below /sys (sysfs(5)). Keys are paths below
 * /sys with or without that folder; a key that leads out of it by a link, or is not there, is False, as is
 * all that can't be read: Salt's answers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

enum { ATTRIBUTE_MAX = 1024 * 1024, FOLDERS_DEPTH = 32 };

/* The path below /sys that a key leads to, links resolved, so that none leads elsewhere; NULL: there is
 * none. NEW. */
static char *
target_of(const char *key)
{
    AUTO_FREE char *path = str_starts(key, "/sys") ? xstrdup(key) : fs_join("/sys", key);
    AUTO_FREE char *real = realpath(path, NULL);

    return real != NULL && (strcmp(real, "/sys") == 0 || str_starts(real, "/sys/")) ? STEAL(real) : NULL;
}

/* The text as a number where it is one; False for "", as in Salt. NEW. strtod() would also take hexadecimal
 * digits, infinity and "nan", which stay texts. */
static json_t *
attribute_value(char *text)
{
    const char *trimmed = str_trim(text);
    long long whole;
    char *end;
    double number = strtod(trimmed, &end);

    if (*trimmed == '\0')
        return json_false();
    if (str_to_int(trimmed, INT64_MIN, INT64_MAX, &whole))
        return json_integer(whole);
    if (*end == '\0' && isfinite(number) && strpbrk(trimmed, "xX") == NULL)
        return json_real(number);
    return value_utf8(trimmed, strlen(trimmed));
}

/* An attribute's value; False when it can't be read. Some are pipes, which are opened so that nothing
 * waits. NEW. */
static json_t *
sysfs_read_one(const char *path)
{
    buf_auto_t text = BUF_INIT;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int rc = fd >= 0 ? fs_read_fd(fd, ATTRIBUTE_MAX, &text) : -errno;

    if (fd >= 0)
        (void) close(fd);
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    return rc >= 0 ? attribute_value(copy) : json_false();
}

/* Adds the files below a folder to the lists "r", "w" and "rw" by the rights of their owner: its own first,
 * then those of its folders. Links to other folders are not followed: they lead in circles. 0, or negative
 * with *err. */
static int
add_interfaces(const char *path, const char *below, int depth, json_t *out, fail_t *err)
{
    char **names;
    struct stat st;
    int rc = depth < FOLDERS_DEPTH ? fs_names(path, &names, err)
                                   : fail_set(err, -ELOOP, "%s: too many folders", path);

    if (rc < 0)
        return rc;
    qsort(names, strv_len(names), sizeof(*names), str_by_text);
    for (size_t i = 0; names[i] != NULL; i++) {
        AUTO_FREE char *file = fs_join(path, names[i]);
        bool is_file = stat(file, &st) == 0 && S_ISREG(st.st_mode);
        const char *kind = (st.st_mode & S_IWUSR) == 0 ? "r" : (st.st_mode & S_IRUSR) != 0 ? "rw" : "w";
        if (is_file && (st.st_mode & (S_IRUSR | S_IWUSR)) != 0)
            json_array_append_new(value_get(out, kind), value_fmt("%s%s", below, names[i]));
    }
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *folder = fs_join(path, names[i]), *under = xasprintf("%s%s/", below, names[i]);
        if (lstat(folder, &st) == 0 && S_ISDIR(st.st_mode))
            rc = add_interfaces(folder, under, depth + 1, out, err);
    }
    strv_free(names);
    return rc;
}

/* Puts a value at "a/b/c" of the tree, which grows as needed. */
static void
put_below(json_t *tree, const char *path, json_t *value)
{
    for (const char *slash; (slash = strchr(path, '/')) != NULL; path = slash + 1) {
        AUTO_FREE char *name = xstrndup(path, (size_t) (slash - path));
        if (value_get(tree, name) == NULL)
            json_object_set_new(tree, name, json_object());
        tree = value_get(tree, name);
    }
    json_object_set(tree, path, value);
}

/* The tree of a folder's attributes that can be read; those without a value are left out. NEW, or NULL with
 * *err. */
static json_t *
sysfs_read_folder(const char *path, fail_t *err)
{
    json_auto_t *found = json_pack("{s:[], s:[], s:[]}", "r", "w", "rw"), *tree = json_object();
    static const char *const kinds[] = { "r", "rw" };
    json_t *name;
    size_t i;

    if (add_interfaces(path, "", 0, found, err) < 0)
        return NULL;
    for (size_t k = 0; k < NELEMS(kinds); k++) {
        json_array_foreach (value_get(found, kinds[k]), i, name) {
            AUTO_FREE char *file = fs_join(path, json_string_value(name));
            json_auto_t *value = sysfs_read_one(file);
            if (!json_is_false(value))
                put_below(tree, json_string_value(name), value);
        }
    }
    return STEAL(tree);
}

/* The value or the tree of a key; False when there is none. `root` stands before a key that is no whole
 * path. NEW, or NULL with *err. */
static json_t *
read_key(const char *root, const char *key, fail_t *err)
{
    AUTO_FREE char *joined = *key == '/' || *root == '\0' ? xstrdup(key) : fs_join(root, key),
                   *path = target_of(joined);

    return path == NULL      ? json_false()
           : fs_is_dir(path) ? sysfs_read_folder(path, err)
                             : sysfs_read_one(path);
}

/* A list of keys gives {key: value} of those that are there. */
static int
sysfs_read(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *key = value_get(args, "key"), *one;
    const char *root = value_str(args, "root", "");
    json_auto_t *all = json_object();
    size_t i;

    if (!json_is_array(key)) {
        AUTO_FREE char *text = value_pystr(key);
        *ret_value = read_key(root, text, err);
        return *ret_value != NULL ? 0 : err->code;
    }
    json_array_foreach (key, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        json_auto_t *value = read_key(root, text, err);
        if (value == NULL)
            return err->code;
        if (!json_is_false(value))
            json_object_set(all, text, value);
    }
    *ret_value = STEAL(all);
    return 0;
}

/* Writes a value and a line break in one go, as the kernel takes it: each write(2) is a command of its own.
 * True or False. NEW. */
static json_t *
write_attribute(const char *path, const json_t *value)
{
    AUTO_FREE char *text = value_pystr(value), *line = xasprintf("%s\n", text);
    int fd = path != NULL ? open(path, O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC) : -1;
    bool done = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t) strlen(line);

    if (fd >= 0 && close(fd) != 0)
        done = false;
    return json_boolean(done);
}

static int
sysfs_write(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = target_of(value_str(args, "key", ""));

    *ret_value = write_attribute(path, value_get(args, "value"));
    return 0;
}

/* Reads, or with a value writes, an attribute; the path itself for a folder. */
static int
sysfs_attr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = target_of(value_str(args, "key", ""));
    json_t *value = value_get(args, "value");

    *ret_value = path == NULL                            ? json_false()
                 : fs_is_dir(path)                       ? json_string(path)
                 : value != NULL && !json_is_null(value) ? write_attribute(path, value)
                                                         : sysfs_read_one(path);
    return 0;
}

/* The name of what the key leads to, or with `full` its path. */
static int
sysfs_target(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = target_of(value_str(args, "key", ""));
    bool full = value_truthy(value_get(args, "full"));

    *ret_value = path != NULL ? json_string(full ? path : strrchr(path, '/') + 1) : json_false();
    return 0;
}

/* {"r": [...], "w": [...], "rw": [...]} of the attributes below `root`. */
static int
sysfs_interfaces(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = target_of(value_str(args, "root", ""));

    if (path == NULL || !fs_is_dir(path)) {
        *ret_value = json_false();
        return 0;
    }
    *ret_value = json_pack("{s:[], s:[], s:[]}", "r", "w", "rw");
    return add_interfaces(path, "", 0, *ret_value, err);
}

/* ---- table ------------------------------------------------------------------------------------ */

#define KEY_ROW ARG("key", ARG_STR, ARG_REQUIRED, "Path of the attribute, with /sys before it or without")

static const arg_t attr_args[] = { KEY_ROW, ARG("value", ARG_ANY, "null", "Written, when given"), ARGS_END };
static const arg_t write_args[] = { KEY_ROW, ARG("value", ARG_ANY, ARG_REQUIRED, "The value"), ARGS_END };
static const arg_t read_args[] = { ARG("key", ARG_ANY, ARG_REQUIRED, "A path, or a list of paths"),
                                   ARG("root", ARG_STR, "\"\"", "Stands before each path"), ARGS_END };
static const arg_t target_args[] = { KEY_ROW,
                                     ARG("full", ARG_ANY, "true", "The path, not only its last name"),
                                     ARGS_END };
static const arg_t interfaces_args[] = { ARG("root", ARG_STR, ARG_REQUIRED, "A folder"), ARGS_END };

static const func_t funcs[] = {
    { "attr", sysfs_attr, attr_args, 0,
      "Return an attribute's value, or write it." CLI_EXAMPLE(
          "salt '*' sysfs.attr block/sda/queue/logical_block_size") },
    { "interfaces", sysfs_interfaces, interfaces_args, FN_READONLY,
      "Return the attributes below a folder, by how they may be used." CLI_EXAMPLE(
          "salt '*' sysfs.interfaces block/bcache0/bcache") },
    { "read", sysfs_read, read_args, FN_READONLY,
      "Return the value of an attribute, or of all below a folder." CLI_EXAMPLE(
          "salt '*' sysfs.read class/net/em1/statistics") },
    { "target", sysfs_target, target_args, FN_READONLY,
      "Return where a path below /sys leads to." CLI_EXAMPLE("salt '*' sysfs.target class/ttyS0") },
    { "write", sysfs_write, write_args, 0,
      "Write an attribute." CLI_EXAMPLE(
          "salt '*' sysfs.write devices/system/cpu/cpu0/cpufreq/scaling_governor 'performance'") },
};

PLUGIN(exec, sysfs, .doc = "The kernel's attributes below /sys", FUNCS(funcs));
