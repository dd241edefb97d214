/* sysctl.c - execution module `sysctl`: the kernel's settings now (/proc/sys, read and written directly, as
 * sysctl(8) does) and after the next start (a configuration file of sysctl.d(5), changed line by line:
 * comments and order stay). Names have dots between their parts. */
#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/file/field.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define PROC_SYS    "/proc/sys"
#define CONF_FILE   "/etc/sysctl.conf"
#define CONF_FOLDER "/etc/sysctl.d/99-salt.conf"

/* Folders within folders below /proc/sys: there are six at most, and no circle may keep the walk going. */
enum { TREE_DEPTH = 16 };

/* ---- the kernel ------------------------------------------------------------------------------ */

/* "net.ipv4.ip_forward" is /proc/sys/net/ipv4/ip_forward; a slash in a name is a dot of an interface's. NEW,
 * or NULL with *err. */
static char *
proc_path(const char *name, fail_t *err)
{
    AUTO_FREE char *below = xstrdup(name);

    for (char *c = below; *c != '\0'; c++)
        *c = *c == '.' ? '/' : *c == '/' ? '.' : *c;
    AUTO_FREE char *framed = xasprintf("/%s/", below);
    if (*name == '\0' || strstr(framed, "/../") != NULL) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "'%s' is not a name of a kernel setting", name);
        return NULL;
    }
    return xasprintf("%s/%s", PROC_SYS, below);
}

/* The text of a setting without the line end. NEW; NULL: there is none, or it can't be read, as some are
 * only written. */
static char *
read_setting(const char *path)
{
    buf_auto_t text = BUF_INIT;
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || fs_read(path, LIMIT_HOST_FILE, &text, NULL) < 0)
        return NULL;
    while (text.len > 0 && text.data[text.len - 1] == '\n')
        text.data[--text.len] = '\0';
    return buf_steal(&text);
}

/* Sets a value for the running kernel. 0; -ENOENT for a setting that it does not have; else negative with
 * *err. */
static int
write_setting(const char *name, const char *value, fail_t *err)
{
    AUTO_FREE char *path = proc_path(name, err);

    if (path == NULL)
        return err->code;
    int there = fs_look(path, err);
    if (there <= 0)
        return there < 0 ? there : fail_kind(err, FAIL_COMMAND, -ENOENT, "sysctl %s does not exist", name);
    struct stat st;
    AUTO_FD fd = open(path, O_WRONLY | O_CLOEXEC);
    int rc = fd < 0 ? -errno : fs_write_all(fd, value, strlen(value));

    /* As sysctl(8) says of a setting that may be written elsewhere: in a container /proc/sys is read-only. */
    if (fd < 0 && (rc == -EACCES || rc == -EPERM || rc == -EROFS) && stat(path, &st) == 0 &&
        (st.st_mode & S_IWUSR) != 0)
        return fail_kind(err, FAIL_COMMAND, rc, "sysctl -w failed: sysctl: permission denied on key \"%s\"",
                         name);
    if (rc < 0)
        return fail_kind(err, FAIL_COMMAND, rc, "sysctl -w failed: sysctl: setting key \"%s\": %s", name,
                         strerror(-rc));
    return 0;
}

/* Adds all settings below a folder, {name: text}. `prefix`: the folder's own name. 0, or negative with
 * *err. */
static int
exec_sysctl_collect(const char *folder, const char *prefix, int depth, json_t *into, fail_t *err)
{
    char **names = NULL;
    int rc = fop_names(folder, &names, err);

    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(folder, names[i]);
        AUTO_FREE char *plain = xstrdup(names[i]);
        for (char *c = plain; *c != '\0'; c++)
            *c = *c == '.' ? '/' : *c;
        AUTO_FREE char *name = xasprintf("%s%s%s", prefix, *prefix != '\0' ? "." : "", plain);
        if (fs_is_dir(path)) {
            if (depth < TREE_DEPTH)
                rc = exec_sysctl_collect(path, name, depth + 1, into, err);
            continue;
        }
        AUTO_FREE char *value = read_setting(path);
        if (value != NULL)
            json_object_set_new(into, name, value_utf8(value, strlen(value)));
    }
    strv_free(names);
    return rc;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The file that sysctl.persist writes: systemd reads a folder of files. A constant; NULL with *err while it
 * is not known whether systemd runs. */
static const char *
default_config(fail_t *err)
{
    int systemd = fs_look_dir("/run/systemd/system", err);

    return systemd < 0 ? NULL : systemd > 0 ? CONF_FOLDER : CONF_FILE;
}

/* Every run of blanks as one tab, since the kernel shows "4096\t16384" where a file has blanks. NEW. */
static char *
squeezed(const char *value)
{
    buf_t out = BUF_INIT;

    for (const char *c = value; *c != '\0';) {
        if (!isspace((unsigned char) *c)) {
            buf_putc(&out, *c++);
            continue;
        }
        buf_putc(&out, '\t');
        while (isspace((unsigned char) *c))
            c++;
    }
    return buf_steal(&out);
}

/* The key and the value of "key = value"; false for comments and others. Both NEW. */
static bool
split_line(const char *line, size_t len, char **ret_key, char **ret_value)
{
    AUTO_FREE char *text = xstrndup(line, len);
    char *equals = strchr(text, '=');

    if (equals == NULL || *str_trim(text) == '#')
        return false;
    *equals = '\0';
    *ret_key = xstrdup(str_trim(text));
    *ret_value = xstrdup(str_trim(equals + 1));
    return true;
}

typedef enum found { FOUND_NOTHING, FOUND_OTHER, FOUND_SAME } found_t;

/* Copies `text` with the setting in it to `out`. FOUND_SAME: a line has this very value, and `out` is not
 * complete. Every line of that name is changed, as the last one is in force. */
static found_t
edit(const char *text, const char *name, const char *value, buf_t *out)
{
    AUTO_FREE char *wanted = squeezed(value);
    found_t found = FOUND_NOTHING;

    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');
        AUTO_FREE char *key = NULL, *old = NULL;
        if (split_line(line, len, &key, &old) && strcmp(key, name) == 0) {
            AUTO_FREE char *is = squeezed(old);
            if (strcmp(is, wanted) == 0)
                return FOUND_SAME;
            buf_printf(out, "%s = %s\n", name, value);
            found = FOUND_OTHER;
        } else {
            buf_add(out, line, whole);
        }
        line += whole;
    }
    if (found == FOUND_NOTHING)
        buf_printf(out, "%s%s = %s\n", out->len > 0 && out->data[out->len - 1] != '\n' ? "\n" : "", name,
                   value);
    return found;
}

/* Reads the file; one that is not there begins with a heading, and its folder is made. 0, or negative with
 * an error in Salt's words. */
static int
read_config(const char *path, buf_t *out, fail_t *err)
{
    static const char head[] = "#\n# Kernel sysctl configuration\n#\n";
    AUTO_FREE char *folder = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    fail_auto_t why = FAIL_INIT;

    if (fs_absent(path)) {
        buf_puts(out, head);
        if (fs_mkdirs(folder, 0755, &why) == 0)
            return 0;
        return fail_kind(err, FAIL_COMMAND, -EIO, "Could not write to file: %s", path);
    }
    if (fs_read(path, LIMIT_FILE_READ, out, &why) == 0)
        return 0;
    return fail_kind(err, FAIL_COMMAND, -EIO, "Could not %s file: %s",
                     fs_is_dir(path) ? "write to" : "read from", path);
}

/* ---- functions ------------------------------------------------------------------------------- */

static int
sysctl_default_config(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *file = default_config(err);

    *ret_value = file != NULL ? json_string(file) : NULL;
    return file != NULL ? 0 : err->code;
}

/* "" for a setting that is not there, as in Salt. */
static int
sysctl_get(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *path = proc_path(name, err);
    AUTO_FREE char *value = path != NULL ? read_setting(path) : NULL;

    if (path == NULL)
        return err->code;
    *ret_value = value != NULL ? value_utf8(value, strlen(value)) : json_string("");
    return 0;
}

/* Settings of a file, or of the kernel without one; [] for a missing file. */
static int
sysctl_show(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *file = value_str(args, "config_file", "");
    buf_auto_t text = BUF_INIT;

    if (*file == '\0') {
        json_auto_t *all = json_object();
        int rc = exec_sysctl_collect(PROC_SYS, "", 0, all, err);
        *ret_value = rc == 0 ? json_incref(all) : NULL;
        return rc;
    }
    int there = fs_look(file, err);
    if (there <= 0) {
        *ret_value = there == 0 ? json_array() : NULL;
        return there;
    }
    int rc = fs_read(file, LIMIT_FILE_READ, &text, err);
    if (rc < 0)
        return rc;
    *ret_value = json_object();
    for (const char *line = buf_str(&text); *line != '\0';) {
        size_t len = strcspn(line, "\n");
        AUTO_FREE char *key = NULL, *value = NULL;
        if (split_line(line, len, &key, &value))
            json_object_set_new(*ret_value, key, value_utf8(value, strlen(value)));
        line += len + (line[len] == '\n');
    }
    return 0;
}

/* The running kernel alone: {name: value}. */
static int
sysctl_assign(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *value = value_pystr(value_get(args, "value"));
    int rc = write_setting(name, value, err);

    if (rc == 0)
        *ret_value = json_pack("{s:s}", name, value);
    return rc;
}

/* Sets a value in the file and in the kernel: "Updated", or "Already set" only when both have it. */
static int
sysctl_persist(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *file = value_str(args, "config", NULL);
    AUTO_FREE char *given = value_pystr(value_get(args, "value"));
    const char *value = str_trim(given); /* a block of YAML ends with a line break */
    bool sound = field_check_text("name", name, FIELD_WORD "=", err) == 0 &&
                 field_check_text("value", value, FIELD_LINE, err) == 0;
    AUTO_FREE char *path = sound ? proc_path(name, err) : NULL;
    buf_auto_t before = BUF_INIT, after = BUF_INIT;
    fail_auto_t why = FAIL_INIT;

    if (path == NULL || (file == NULL && (file = default_config(err)) == NULL))
        return err->code;
    if (*file != '/')
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Could not write to file: %s", file);
    int rc = read_config(file, &before, err);
    if (rc != 0)
        return rc;
    bool written = edit(buf_str(&before), name, value, &after) == FOUND_SAME;
    AUTO_FREE char *now = read_setting(path), *is = squeezed(now != NULL ? now : ""),
                   *wanted = squeezed(value);
    /* The file first: a value that the kernel refuses stays there for the next start, and the error says
     * so. */
    if (!written && partfile_put(file, after.data, after.len, 0644, &why) < 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Could not write to file: %s", file);
    if (written && strcmp(is, wanted) == 0) {
        *ret_value = json_string("Already set");
        return 0;
    }
    rc = write_setting(name, value, err);
    if (rc == 0)
        *ret_value = json_string("Updated");
    return rc;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The setting: net.ipv4.ip_forward")

static const arg_t get_args[] = { NAME_ROW, ARGS_END };
static const arg_t show_args[] = { ARG("config_file", ARG_ANY, "false", "What a file says, not the kernel"),
                                   ARGS_END };
static const arg_t assign_args[] = { NAME_ROW, ARG("value", ARG_ANY, ARG_REQUIRED, "Its value"), ARGS_END };
static const arg_t persist_args[] = {
    NAME_ROW,
    ARG("value", ARG_ANY, ARG_REQUIRED, "Its value"),
    ARG("config", ARG_STR, "null", "The file; None: 99-salt.conf where systemd runs, else sysctl.conf"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "assign", sysctl_assign, assign_args, 0,
      "Change a setting of the running kernel." CLI_EXAMPLE("salt '*' sysctl.assign net.ipv4.ip_forward 1") },
    { "default_config", sysctl_default_config, NULL, FN_READONLY,
      "Return the file that settings are written to." CLI_EXAMPLE("salt '*' sysctl.default_config") },
    { "get", sysctl_get, get_args, FN_READONLY,
      "Return a setting of the running kernel." CLI_EXAMPLE("salt '*' sysctl.get net.ipv4.ip_forward") },
    { "persist", sysctl_persist, persist_args, 0,
      "Change a setting of the running kernel, and write it down for the next start." CLI_EXAMPLE(
          "salt '*' sysctl.persist net.ipv4.ip_forward 1") },
    { "show", sysctl_show, show_args, FN_READONLY,
      "Return all settings of the running kernel, or of a file." CLI_EXAMPLE(
          "salt '*' sysctl.show\n    salt '*' sysctl.show config_file=/etc/sysctl.conf") },
};

PLUGIN(exec, sysctl, .doc = "The kernel's settings", FUNCS(funcs));
