/* blockdev.c - state module `blockdev`: settings and file systems of block devices, by the module `disk`,
 * which calls blockdev(8), blkid(8) and mkfs(8). Settings of a device are lost with a reboot: the state sets
 * them again. */
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* What can be set, and the member of disk.dump that tells it. */
static const struct setting {
    const char *key, *member;
    bool inverse; /* true is told as 0 */
} settings[] = {
    { "read-ahead", "getra", false },
    { "filesystem-read-ahead", "getfra", false },
    { "read-only", "getro", false },
    { "read-write", "getro", true },
};

/* What disk.dump tells once a value is set; NULL where it sets nothing. NEW. */
static char *
setting_wanted(const struct setting *s, const json_t *value)
{
    if (value == NULL || (strcmp(s->member, "getro") == 0 && !value_truthy(value)))
        return NULL;
    if (strcmp(s->member, "getro") == 0)
        return xstrdup(s->inverse ? "0" : "1");
    return value_pystr(value);
}

/* The sentence of one change: numbers, or truths of a switch. NEW. */
static json_t *
setting_change(const struct setting *s, const char *old, const char *new)
{
    bool on = strcmp(old, "1") == 0, after = strcmp(new, "1") == 0;

    if (strcmp(s->member, "getro") != 0)
        return value_fmt("Changed from %s to %s", old, new);
    return value_fmt("Changed from %s to %s", on != s->inverse ? "True" : "False",
                     after != s->inverse ? "True" : "False");
}

/* Only settings that the SLS names are compared, each by the name that disk.dump has for it. */
static int
blockdev_tuned(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *kwargs = value_get(args, "kwargs");
    const char *name = value_str(args, "name", "");
    int is = sub_call_bool(ctx, err, "file.is_blkdev", "{s:s}", "name", name);

    if (is <= 0)
        return is < 0 ? is
                      : state_ret_set(ret, STATE_FALSE,
                                      "Changes to %s cannot be applied. Not a block device. ", name);
    json_auto_t *before = sub_call(ctx, err, "disk.dump", "{s:s}", "device", name);
    if (before == NULL)
        return err->code;
    if (!json_is_object(before))
        return state_ret_set(ret, STATE_FALSE, "Failed to modify block device %s", name);
    for (size_t i = 0; i < NELEMS(settings); i++) {
        AUTO_FREE char *wanted = setting_wanted(&settings[i], value_get(kwargs, settings[i].key));
        const char *now = value_str(before, settings[i].member, "");
        if (wanted != NULL && strcmp(now, wanted) != 0)
            state_change(ret, settings[i].key, setting_change(&settings[i], now, wanted));
    }
    if (!state_changed(ret))
        return state_ret_set(ret, STATE_TRUE, "Block device %s already in correct state", name);
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Changes to %s will be applied ", name);
    json_auto_t *call = json_copy(kwargs), *after = NULL;
    json_object_set_new(call, "device", json_string(name));
    if (ctx_call(ctx, "disk.tune", NULL, call, &after, err) < 0)
        return err->code;
    /* The settings as they are now, and not as they were wanted, are the change; one that did not take fails
     * the state. */
    json_auto_t *changes = json_object();
    for (size_t i = 0; i < NELEMS(settings); i++) {
        const char *old = value_str(before, settings[i].member, ""),
                   *new = value_str(after, settings[i].member, old);
        if (value_get(kwargs, settings[i].key) != NULL && strcmp(old, new) != 0)
            json_object_set_new(changes, settings[i].key, setting_change(&settings[i], old, new));
    }
    state_change_set(ret, json_incref(changes));
    if (json_object_size(changes) == 0)
        return state_ret_set(ret, STATE_FALSE, "Failed to modify block device %s", name);
    return state_ret_set(ret, STATE_TRUE, "Block device %s successfully modified ", name);
}

/* The type of file system that a device has, "" for none. blkid -p reads the device and not its cache. NEW,
 * or NULL with *err. */
static char *
blockdev_type(call_ctx_t *ctx, const char *device, fail_t *err)
{
    json_auto_t *type = sub_call(ctx, err, "cmd.run", "{s:[s, s, s, s, s, s, s], s:b, s:b, s:i}", "cmd",
                                 "blkid", "-p", "-o", "value", "-s", "TYPE", device, "python_shell", 0,
                                 "ignore_retcode", 1, "timeout", LIMIT_TOOL_MS / 1000);

    return type != NULL ? value_pystr(type) : NULL;
}

/* Formats whatever is on the device when its type is another one; `force` is for mkfs, which else refuses. */
static int
blockdev_formatted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", ""), *wanted = value_str(args, "fs_type", "ext4");
    AUTO_FREE char *maker = xasprintf("mkfs.%s", wanted), *program = fs_which(maker);
    int there = fs_look(name, err);

    if (there <= 0)
        return there < 0 ? there : state_ret_set(ret, STATE_FALSE, "%s does not exist", name);
    AUTO_FREE char *old = blockdev_type(ctx, name, err);
    if (old == NULL)
        return err->code;
    if (strcmp(old, wanted) == 0)
        return state_ret_set(ret, STATE_TRUE, "%s already formatted with %s", name, wanted);
    if (program == NULL)
        return state_ret_set(ret, STATE_FALSE, "Invalid fs_type: %s", wanted);
    state_change_set(ret, json_pack("{s:s, s:s}", "new", wanted, "old", old));
    if (ctx_test(ctx))
        return state_ret_set(ret, STATE_NONE, "Changes to %s will be applied ", name);
    json_auto_t *call = json_copy(value_get(args, "kwargs")), *done = NULL;
    json_object_set_new(call, "device", json_string(name));
    json_object_set_new(call, "fs_type", json_string(wanted));
    json_object_set(call, "force", value_get(args, "force"));
    if (ctx_call(ctx, "disk.format", NULL, call, &done, err) < 0)
        return err->code;
    AUTO_FREE char *now = blockdev_type(ctx, name, err);
    if (now == NULL)
        return err->code;
    if (strcmp(now, wanted) == 0)
        return state_ret_set(ret, STATE_TRUE, "%s has been formatted with %s", name, wanted);
    state_change_set(ret, json_object());
    return state_ret_set(ret, STATE_FALSE, "Failed to format %s", name);
}

static const char *
state_blockdev_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "disk.tune")
               ? NULL
               : "Cannot load the blockdev state module: disk execution module not found";
}

#define DEVICE_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The device")

static const arg_t tuned_args[] = {
    DEVICE_ROW,
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "read-ahead, filesystem-read-ahead: sectors; read-only, read-write",
        "read-ahead filesystem-read-ahead read-only read-write"),
    ARGS_END,
};
static const arg_t formatted_args[] = {
    DEVICE_ROW,
    ARG("fs_type", ARG_STR, "\"ext4\"", "Type of the file system"),
    ARG("force", ARG_BOOL, "false", "Also where mkfs would ask"),
    ARG("kwargs", ARG_DICT, ARG_STARSTAR, "inode_size, lazy_itable_init, fat: as of disk.format",
        "inode_size lazy_itable_init fat"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "formatted", blockdev_formatted, formatted_args, 0, "Ensure that a device holds such a file system." },
    { "tuned", blockdev_tuned, tuned_args, 0, "Ensure that a device has these settings." },
};

PLUGIN(state, blockdev, .doc = "Settings and file systems of block devices", FUNCS(funcs),
       .unavailable = state_blockdev_unavailable);
