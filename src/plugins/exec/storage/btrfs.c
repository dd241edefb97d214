/* btrfs.c - execution module `btrfs`: file systems of Btrfs and their devices, by the programs of btrfs-progs.
 * Subvolumes are in btrfs_subvolume.c. */
#include "plugins/lib/system/btrfs.h"

#include <ctype.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"

/* ---- what there is -------------------------------------------------------------------------- */

/* Adds what `btrfs filesystem show` says of one file system. Salt drops the last line, which once was the
 * program's version. */
static void
btrfs_parse_info(const char *stdout_text, json_t *into)
{
    AUTO_FREE char *text = xstrdup(stdout_text);

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *uuid = str_starts(line, "Label:") ? strstr(line, "uuid:") : NULL;
        if (uuid != NULL) {
            *uuid = '\0';
            char *label = str_trim(line + strlen("Label:"));
            json_object_set_new(into, "label", strcmp(label, "none") == 0 ? json_null() : json_string(label));
            json_object_set_new(into, "uuid", json_string(str_trim(uuid + strlen("uuid:"))));
        }
        if (!str_starts(line, "\tdevid"))
            continue;
        char **words = str_split(line, " \t", true);
        size_t n = strv_len(words);
        if (n > 6)
            json_object_set_new(
                into, words[n - 1],
                json_pack("{s:s, s:s, s:s}", "device_id", words[1], "size", words[3], "used", words[5]));
        strv_free(words);
    }
}

/* Adds what btrfs.info tells to `into`. */
static int
btrfs_add_info(call_ctx_t *ctx, const char *device, json_t *into, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "btrfs", err) < 0)
        return err->code;
    prog_adds(&prog, "filesystem", "show", NULL);
    if (prog_operand(&prog, "device", device, err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    btrfs_parse_info(value_str(ran, "stdout", ""), into);
    return 0;
}

static int
btrfs_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *info = json_object();
    int rc = btrfs_add_info(ctx, value_str(args, "device", ""), info, err);

    *ret_value = rc == 0 ? json_incref(info) : NULL;
    return rc;
}

static int
btrfs_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "btrfs", err) < 0)
        return err->code;
    prog_add(&prog, "--version");
    prog.timeout_ms = LIMIT_TOOL_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return err->code;
    if (*value_str(ran, "stderr", "") != '\0')
        return fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(ran, "stderr", ""));
    const char *text = value_str(ran, "stdout", ""), *blank = strchr(text, ' ');
    *ret_value = json_pack("{s:s}", "version", blank != NULL ? blank + 1 : text);
    return 0;
}

static int
btrfs_devices(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = btrfs_blkid(ctx, "btrfs", err);
    return *ret_value != NULL ? 0 : err->code;
}

/* 1 for a block device, 0 for anything else, or a negative errno. */
static int
btrfs_is_device(const char *path, fail_t *err)
{
    struct stat st;

    if (stat(path, &st) == 0)
        return S_ISBLK(st.st_mode);
    return errno == ENOENT || errno == ENOTDIR ? 0
                                               : fail_set(err, -errno, "stat %s: %s", path, strerror(errno));
}

/* True when something of `mounts` is mounted at that place. */
static bool
has_mount_point(const json_t *mounts, const char *point)
{
    const char *device;
    json_t *list, *one;
    size_t i;

    json_object_foreach ((json_t *) mounts, device, list)
        json_array_foreach (list, i, one)
            if (str_eq(value_str(one, "mount_point", ""), point))
                return true;
    return false;
}

static int
btrfs_features(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "mkfs.btrfs", err) < 0)
        return err->code;
    prog_adds(&prog, "-O", "list-all", NULL);
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    *ret_value = json_object();
    AUTO_FREE char *text = xstrdup(value_str(ran, "stderr", ""));
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char *dash = strstr(line, " - ");
        if (dash == NULL)
            continue;
        *dash = '\0';
        AUTO_FREE char *name = btrfs_squeezed(line), *words = btrfs_squeezed(dash + 3);
        json_object_set_new(*ret_value, str_trim(name), json_string(words));
    }
    return 0;
}

/* ---- usage ---------------------------------------------------------------------------------- */

/* Adds "Free (estimated):  1.00GiB  (min: 0.50GiB)" as "free_estimated" and "free_estimated_min". */
static void
usage_overall(char *line, json_t *into)
{
    char *value = line_value(line, ':');
    buf_auto_t key = BUF_INIT;

    if (value == NULL || *value == '\0' || *line == '\0')
        return;
    AUTO_FREE char *name = btrfs_squeezed(line), *said = btrfs_squeezed(value);
    for (const char *c = name; *c != '\0'; c++)
        if (*c != '(' && *c != ')')
            buf_putc(&key, *c == ' ' ? '_' : (char) tolower((unsigned char) *c));
    char *more = strchr(said, '(');
    bool extra = str_eq(buf_str(&key), "free_estimated") || str_eq(buf_str(&key), "global_reserve");
    if (extra && more != NULL) {
        *more++ = '\0';
        more[strcspn(more, ")")] = '\0';
        char *what = line_value(more, ':');
        AUTO_FREE char *sub = xasprintf("%s_%s", buf_str(&key), more);
        json_object_set_new(into, buf_str(&key), json_string(str_trim(said)));
        json_object_set_new(into, sub, json_string(what != NULL ? what : ""));
    } else {
        json_object_set_new(into, buf_str(&key), json_string(said));
    }
}

/* Adds "Data,single: Size:8.00MiB, Used:0.00B (0.00%)" as {"data_single": {"Size", "Used"}}: the section, to which
 * its devices are added. BORROWED from `into`. */
static json_t *
usage_section(const char *line, json_t *into)
{
    char **words = str_split(line, " ", true);
    json_t *section = json_object();
    buf_auto_t name = BUF_INIT;

    for (const char *c = words[0] != NULL ? words[0] : ""; *c != '\0'; c++)
        if (*c != ':')
            buf_putc(&name, *c == ',' ? '_' : (char) tolower((unsigned char) *c));
    for (size_t i = 1; i < strv_len(words); i++) {
        words[i][strcspn(words[i], ",")] = '\0';
        char *value = strchr(words[i], ':');
        if (value == NULL)
            continue;
        *value++ = '\0';
        json_object_set_new(section, words[i], json_string(value));
    }
    strv_free(words);
    json_object_set_new(into, buf_str(&name), section);
    return section;
}

static int
btrfs_usage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "btrfs", err) < 0)
        return err->code;
    prog_adds(&prog, "filesystem", "usage", NULL);
    if (prog_operand(&prog, "path", value_str(args, "path", ""), err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    json_t *section = NULL, *overall = NULL;
    AUTO_FREE char *text = xstrdup(value_str(ran, "stdout", ""));
    *ret_value = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        bool begins = section == NULL && *line != '\0';
        if (*line == '\0') {
            section = overall = NULL;
        } else if (begins && (strcmp(line, "Overall:") == 0 || strcmp(line, "Unallocated:") == 0)) {
            section = json_object();
            overall = *line == 'O' ? section : NULL;
            json_object_set_new(*ret_value, *line == 'O' ? "overall" : "unallocated", section);
        } else if (begins) {
            section = usage_section(line, *ret_value);
        } else if (section == overall) {
            usage_overall(line, section);
        } else {
            char **words = str_split(line, " \t", true);
            if (strv_len(words) == 2)
                json_object_set_new(section, words[0], json_string(words[1]));
            strv_free(words);
        }
    }
    return 0;
}

/* ---- work ----------------------------------------------------------------------------------- */

/* Defragments one place: NEW {"mount_point", "passed", "log", "range"}, or NULL with *err. */
static json_t *
defragment_at(call_ctx_t *ctx, const char *point, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, "btrfs", err) < 0)
        return NULL;
    prog_adds(&prog, "filesystem", "defragment", "-f", NULL);
    if (prog_operand(&prog, "path", point, err) < 0)
        return NULL;
    prog.timeout_ms = BTRFS_MS;
    json_auto_t *ran = tool_run(ctx, &prog, 0, err);
    if (ran == NULL)
        return NULL;
    const char *said = value_str(ran, "stderr", "");
    return json_pack("{s:s, s:b, s:o, s:b}", "mount_point", point, "passed", *said == '\0', "log",
                     *said != '\0' ? value_utf8(said, strlen(said)) : json_false(), "range", false);
}

static int
btrfs_defragment(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *path = value_str(args, "path", "");
    json_auto_t *mounts = btrfs_mounts("btrfs", err), *result = json_array();
    int device = mounts != NULL ? btrfs_is_device(path, err) : err->code;
    json_t *one;
    size_t i;

    if (device < 0)
        return device;
    if (device > 0 && value_get(mounts, path) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENODEV, "Device \"%s\" is not mounted", path);
    json_array_foreach (device > 0 ? value_get(mounts, path) : NULL, i, one) {
        json_t *said = defragment_at(ctx, value_str(one, "mount_point", ""), err);
        if (said == NULL)
            return err->code;
        json_array_append_new(result, said);
    }
    if (device == 0) {
        json_t *said = defragment_at(ctx, path, err);
        if (said == NULL)
            return err->code;
        json_array_append_new(result, said);
        if (!has_mount_point(mounts, path)) {
            if (strstr(value_str(said, "log", ""), "range ioctl not supported") != NULL)
                json_object_set_new(
                    said, "log", json_string("Range ioctl defragmentation is not supported in this kernel."));
            json_object_set_new(said, "mount_point", json_false());
            json_object_set_new(said, "range", access(path, F_OK) == 0 ? json_string(path) : json_false());
        }
    }
    *ret_value = json_incref(result);
    return 0;
}

/* Adds an option with the value of a keyword, where that is given. */
static void
add_given(prog_t *prog, const char *option, const json_t *value)
{
    if (value_truthy(value)) {
        prog_add(prog, option);
        prog_add_json(prog, json_is_array(value) ? json_array_get(value, 0) : value);
    }
}

static int
btrfs_mkfs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *option, *name;
    } valued[] = { { "-l", "leafsize" },  { "-L", "label" },    { "-O", "fts" },       { "-A", "allocsize" },
                   { "-b", "bytecount" }, { "-n", "nodesize" }, { "-s", "sectorsize" } };
    json_t *devices = value_get(args, "devices"), *kwargs = value_get(args, "kwargs"), *one;
    bool single = json_array_size(devices) == 1;
    prog_auto_t prog = PROG_INIT;
    size_t i;

    if (json_array_size(devices) == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "No devices specified");
    json_auto_t *mounts = btrfs_mounts("btrfs", err);
    if (mounts == NULL || tool_begin(&prog, "mkfs.btrfs", err) < 0)
        return err->code;
    json_array_foreach (devices, i, one)
        if (value_get(mounts, json_string_value(one)) != NULL)
            return fail_kind(err, FAIL_COMMAND, -EBUSY, "Device \"%s\" should not be mounted",
                             json_string_value(one));

    json_auto_t *alone = json_string("single");
    if (value_truthy(value_get(kwargs, "dto")))
        add_given(&prog, "-d", single ? alone : value_get(kwargs, "dto"));
    if (value_truthy(value_get(kwargs, "mto")))
        add_given(&prog, "-m", single ? alone : value_get(kwargs, "mto"));
    for (i = 0; i < NELEMS(valued); i++)
        add_given(&prog, valued[i].option, value_get(kwargs, valued[i].name));
    if (json_is_true(value_get(kwargs, "uuid"))) {
        AUTO_FREE char *fresh = root_read_trimmed(NULL, "/proc/sys/kernel/random/uuid");
        if (fresh == NULL)
            return fail_set(err, -EIO, "the kernel gives no UUID (/proc/sys/kernel/random/uuid)");
        prog_adds(&prog, "-U", fresh, NULL);
    } else {
        add_given(&prog, "-U", value_get(kwargs, "uuid"));
    }
    if (value_truthy(value_get(kwargs, "nodiscard")))
        prog_add(&prog, "-K");
    if (!value_truthy(value_get(kwargs, "noforce")))
        prog_add(&prog, "-f");
    if (prog_operands(&prog, "devices", devices, err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    json_auto_t *ret = json_pack("{s:O}", "log", value_get(ran, "stdout"));
    if (btrfs_add_info(ctx, json_string_value(json_array_get(devices, 0)), ret, err) < 0)
        return err->code;
    *ret_value = json_incref(ret);
    return 0;
}

/* True for "+1g" and its like: Salt's rule, by which a sign and a unit must be there. */
static bool
is_size(const char *size)
{
    size_t n = strlen(size);

    return n >= 3 && strchr("-+", size[0]) != NULL && strchr("kKmMgGtTpPeE", size[n - 1]) != NULL &&
           strspn(size + 1, "0123456789") == n - 2;
}

static int
btrfs_resize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *point = value_str(args, "mountpoint", ""), *size = value_str(args, "size", "");
    prog_auto_t prog = PROG_INIT;

    if (strcmp(size, "max") == 0) {
        json_auto_t *mounts = btrfs_mounts("btrfs", err);
        int device = mounts != NULL ? btrfs_is_device(point, err) : err->code;
        if (device < 0)
            return device;
        if (device == 0)
            return fail_kind(err, FAIL_COMMAND, -ENOTBLK, "Mountpoint \"%s\" should be a valid device",
                             point);
        if (value_get(mounts, point) == NULL)
            return fail_kind(err, FAIL_COMMAND, -ENODEV, "Device \"%s\" should be mounted", point);
    } else if (!is_size(size)) {
        return fail_kind(err, FAIL_COMMAND, -EINVAL,
                         "Unknown size: \"%s\". Expected: [+/-]<newsize>[kKmMgGtTpPeE]|max", size);
    }
    if (tool_begin(&prog, "btrfs", err) < 0)
        return err->code;
    /* "--" keeps "-1g" from being an option. */
    prog_adds(&prog, "filesystem", "resize", NULL);
    if (*size == '-')
        prog_add(&prog, "--");
    prog_add(&prog, size);
    if (prog_operand(&prog, "mountpoint", point, err) < 0)
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err);
    if (ran == NULL)
        return err->code;
    json_auto_t *ret = json_pack("{s:O}", "log", value_get(ran, "stdout"));
    if (btrfs_add_info(ctx, point, ret, err) < 0)
        return err->code;
    *ret_value = json_incref(ret);
    return 0;
}

/* Runs btrfs with words up to NULL; what it printed is appended to `log`. */
static int
btrfs_logged(call_ctx_t *ctx, prog_t *prog, buf_t *log, fail_t *err)
{
    json_auto_t *ran = btrfs_run(ctx, prog, err);
    const char *said = value_str(ran, "stdout", "");

    if (ran == NULL)
        return err->code;
    if (*said != '\0')
        buf_printf(log, "%s%s", log->len > 0 ? "\n" : "", said);
    return 0;
}

/* Adds or removes devices of a mounted file system, and spreads its data anew after adding. */
static int
btrfs_restripe(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *direction = ctx_row(ctx)->data.text, *point = value_str(args, "mountpoint", "");
    json_t *devices = value_get(args, "devices"), *kwargs = value_get(args, "kwargs"), *one;
    bool add = strcmp(direction, "add") == 0;
    prog_auto_t prog = PROG_INIT, balance = PROG_INIT;
    buf_auto_t log = BUF_INIT;
    size_t i;

    json_auto_t *mounts = btrfs_mounts("btrfs", err);
    int device = mounts != NULL ? btrfs_is_device(point, err) : err->code;
    if (device < 0)
        return device;
    if (device > 0)
        return fail_kind(err, FAIL_COMMAND, -ENOTDIR, "Mountpount expected, while device \"%s\" specified",
                         point);
    if (!has_mount_point(mounts, point))
        return fail_kind(err, FAIL_COMMAND, -ENODEV, "No BTRFS device mounted on \"%s\" mountpoint", point);
    if (json_array_size(devices) == 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "No devices specified.");
    json_auto_t *available = btrfs_blkid(ctx, "btrfs", err);
    if (available == NULL || tool_begin(&prog, "btrfs", err) < 0 || tool_begin(&balance, "btrfs", err) < 0)
        return err->code;
    json_array_foreach (devices, i, one)
        if (value_get(available, json_string_value(one)) == NULL)
            return fail_kind(err, FAIL_COMMAND, -ENODEV, "Device \"%s\" is not recognized",
                             json_string_value(one));

    prog_adds(&prog, "device", direction, NULL);
    if (prog_operands(&prog, "devices", devices, err) < 0)
        return err->code;
    if (add && value_truthy(value_get(kwargs, "nodiscard")))
        prog_add(&prog, "-K");
    if (add && value_truthy(value_get(kwargs, "force")))
        prog_add(&prog, "-f");
    const json_t *dc = value_get(kwargs, "dc"), *mc = value_get(kwargs, "mc");
    if (value_truthy(dc) && value_truthy(mc)) {
        AUTO_FREE char *data = value_pystr(dc), *meta = value_pystr(mc);
        prog_adds(&balance, "balance", "start", NULL);
        prog_addf(&balance, "-dconvert=%s", data);
        prog_addf(&balance, "-mconvert=%s", meta);
    } else {
        prog_adds(&balance, "filesystem", "balance", NULL);
    }
    if (prog_operand(&prog, "mountpoint", point, err) < 0 ||
        prog_operand(&balance, "mountpoint", point, err) < 0 || btrfs_logged(ctx, &prog, &log, err) < 0 ||
        (add && btrfs_logged(ctx, &balance, &log, err) < 0))
        return err->code;
    json_auto_t *ret = json_object();
    if (log.len > 0)
        json_object_set_new(ret, "log", value_utf8(buf_str(&log), log.len));
    if (btrfs_add_info(ctx, point, ret, err) < 0)
        return err->code;
    *ret_value = json_incref(ret);
    return 0;
}

/* ---- properties ----------------------------------------------------------------------------- */

/* Adds "KEY=VALUE,..." as two words each. */
static int
btrfs_add_pairs(prog_t *prog, const char *text, fail_t *err)
{
    char **pairs = str_split(text, ",", false);
    int rc = 0;

    for (size_t i = 0; pairs[i] != NULL && rc == 0; i++) {
        char *value = strchr(pairs[i], '=');
        if (value == NULL || strchr(value + 1, '=') != NULL) {
            rc = fail_kind(err, FAIL_COMMAND, -EINVAL, "\"%s\" is not KEY=VALUE", pairs[i]);
            continue;
        }
        *value++ = '\0';
        prog_adds(prog, str_trim(pairs[i]), str_trim(value), NULL);
    }
    strv_free(pairs);
    return rc;
}

/* Adds {"description", "value"} of each line "NAME  what it is". */
static int
btrfs_property_values(call_ctx_t *ctx, const char *obj, const char *list, json_t *into, fail_t *err)
{
    AUTO_FREE char *text = xstrdup(list);

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        size_t n = strcspn(line, " \t");
        prog_auto_t prog = PROG_INIT;
        if (line[n] == '\0')
            continue;
        line[n++] = '\0';
        n += strspn(line + n, " \t");
        if (tool_begin(&prog, "btrfs", err) < 0)
            return err->code;
        prog_adds(&prog, "property", "get", obj, line, NULL);
        prog.timeout_ms = LIMIT_TOOL_MS;
        json_auto_t *ran = tool_run(ctx, &prog, 0, err);
        if (ran == NULL)
            return err->code;
        const char *value = value_str(ran, "stdout", ""), *last = strrchr(value, '=');
        json_object_set_new(into, line,
                            json_pack("{s:s, s:s}", "description", line + n, "value",
                                      *value == '\0' ? "N/A"
                                      : last != NULL ? last + 1
                                                     : value));
    }
    return 0;
}

static int
btrfs_properties(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const types[] = { "s", "subvol", "f", "filesystem", "i", "inode", "d", "device" };
    const char *type = value_str(args, "type", ""), *set = value_str(args, "set", "");
    const char *obj = value_str(args, "obj", "");
    prog_auto_t prog = PROG_INIT;
    bool known = *type == '\0';

    for (size_t i = 0; i < NELEMS(types); i++)
        known = known || strcmp(types[i], type) == 0;
    if (!known)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Unknown property type: \"%s\" specified", type);
    if (tool_begin(&prog, "btrfs", err) < 0)
        return err->code;
    prog_adds(&prog, "property", *set != '\0' ? "set" : "list", NULL);
    if (*type != '\0')
        prog_addf(&prog, "-t%s", type);
    if (prog_operand(&prog, "obj", obj, err) < 0 || (*set != '\0' && btrfs_add_pairs(&prog, set, err) < 0))
        return err->code;
    json_auto_t *ran = btrfs_run(ctx, &prog, err), *ret = json_object();
    if (ran == NULL)
        return err->code;
    if (*set == '\0' && btrfs_property_values(ctx, obj, value_str(ran, "stdout", ""), ret, err) < 0)
        return err->code;
    *ret_value = *set == '\0' ? json_incref(ret) : json_null();
    return 0;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const arg_t info_args[] = { ARG("device", ARG_STR, ARG_REQUIRED, "A device, or where it is mounted"),
                                   ARGS_END };
static const arg_t path_args[] = {
    ARG("path", ARG_STR, ARG_REQUIRED, "Where it is mounted, a file of it, or a device"), ARGS_END
};
static const arg_t mkfs_args[] = {
    ARG("devices", ARG_STR, ARG_STAR, "The devices, which must not be mounted"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "dto, mto (raid0, raid1, single, dup, ...), label, fts (features), allocsize, bytecount, nodesize, leafsize, sectorsize, "
        "uuid (True: a new one), nodiscard, noforce",
        "dto mto label fts allocsize bytecount nodesize leafsize sectorsize uuid nodiscard noforce"),
    ARGS_END
};
static const arg_t resize_args[] = { ARG("mountpoint", ARG_STR, ARG_REQUIRED,
                                         "Where it is mounted; a device for max"),
                                     ARG("size", ARG_STR, ARG_REQUIRED, "+1g, -512m, or max"), ARGS_END };
static const arg_t restripe_args[] = {
    ARG("mountpoint", ARG_STR, ARG_REQUIRED, "Where it is mounted"),
    ARG("devices", ARG_STR, ARG_STAR, "The devices"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR,
        "add: nodiscard, force, and dc with mc: profiles to convert data and metadata to",
        "nodiscard force dc mc"),
    ARGS_END
};
static const arg_t properties_args[] = {
    ARG("obj", ARG_STR, ARG_REQUIRED, "A device, a mount point, or a file or folder of the file system"),
    ARG("type", ARG_STR, "null", "subvol, filesystem, inode or device, or their first letter"),
    ARG("set", ARG_STR, "null", "KEY=VALUE, several with commas: set these"), ARGS_END
};

static const func_t funcs[] = {
    { "add", btrfs_restripe, restripe_args, 0,
      "Add devices to a mounted file system, and spread its data over them." CLI_EXAMPLE(
          "salt '*' btrfs.add /mnt/data /dev/sdb /dev/sdc"),
      .data.text = "add" },
    { "defragment", btrfs_defragment, path_args, 0,
      "Defragment a mounted file system.\n\nA device: everywhere where it is mounted." CLI_EXAMPLE(
          "salt '*' btrfs.defragment /mnt/data") },
    { "delete", btrfs_restripe, restripe_args, 0,
      "Take devices out of a mounted file system." CLI_EXAMPLE("salt '*' btrfs.delete /mnt/data /dev/sdc"),
      .data.text = "delete" },
    { "devices", btrfs_devices, NULL, FN_READONLY,
      "Devices with file systems of Btrfs, and where they are mounted." CLI_EXAMPLE(
          "salt '*' btrfs.devices") },
    { "features", btrfs_features, NULL, FN_READONLY,
      "Features that mkfs.btrfs knows." CLI_EXAMPLE("salt '*' btrfs.features") },
    { "info", btrfs_info, info_args, FN_READONLY,
      "Label, UUID and devices of a file system." CLI_EXAMPLE("salt '*' btrfs.info /dev/sdb") },
    { "mkfs", btrfs_mkfs, mkfs_args, 0,
      "Make a file system on devices.\n\nWhat was on them is lost, unless `noforce` is given." CLI_EXAMPLE(
          "salt '*' btrfs.mkfs /dev/sdb\n    salt '*' btrfs.mkfs /dev/sdb /dev/sdc dto=raid1 mto=raid1") },
    { "properties", btrfs_properties, properties_args, 0,
      "Show the properties of an object of Btrfs, or set them." CLI_EXAMPLE(
          "salt '*' btrfs.properties /mnt/data type=subvol set='ro=false'") },
    { "resize", btrfs_resize, resize_args, 0,
      "Change the size of a mounted file system." CLI_EXAMPLE("salt '*' btrfs.resize /mnt/data size=+1g") },
    { "usage", btrfs_usage, path_args, FN_READONLY,
      "How a mounted file system uses its devices." CLI_EXAMPLE("salt '*' btrfs.usage /mnt/data") },
    { "version", btrfs_version, NULL, FN_READONLY,
      "The version of btrfs-progs." CLI_EXAMPLE("salt '*' btrfs.version") },
};

PLUGIN(exec, btrfs, .doc = "File systems of Btrfs", FUNCS(funcs));
