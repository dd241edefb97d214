/* mount_fstab.c - states mount.fstab_present and mount.fstab_absent: an entry of fstab. Their comment is a
 * list of lines, as Salt's. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* The first field, from a device, as `mount_by` (device, uuid, label, partuuid, partlabel) has it. NEW, ""
 * when it is not one device; NULL with *err. */
static char *
spec_by(call_ctx_t *ctx, const char *device, const char *mount_by, fail_t *err)
{
    AUTO_FREE char *key = xstrdup(mount_by);

    for (char *c = key; *c != '\0'; c++)
        *c = *c >= 'a' && *c <= 'z' ? (char) (*c + 'A' - 'a') : *c;
    size_t len = strlen(key);
    if (len == 0 || (strcmp(mount_by, "device") == 0 && *device == '/') ||
        (strncmp(device, key, len) == 0 && device[len] == '='))
        return xstrdup(device);
    json_auto_t *found = sub_call(ctx, err, "disk.blkid", "{s:s}", *device == '/' ? "device" : "token",
                                  device);
    if (found == NULL)
        return NULL;
    void *first = json_object_iter(found);
    if (json_object_size(found) != 1)
        return xstrdup("");
    if (strcmp(mount_by, "device") == 0)
        return xstrdup(json_object_iter_key(first));
    const char *value = value_str(json_object_iter_value(first), key, NULL);
    return value != NULL ? xasprintf("%s=%s", key, value) : xstrdup("");
}

/* The mount point without its last slash. NEW. */
static char *
mount_fstab_file(const json_t *args)
{
    char *file = xstrdup(value_str(args, "fs_file", ""));
    size_t len = strlen(file);

    while (len > 1 && file[len - 1] == '/')
        file[--len] = '\0';
    return file;
}

/* Adds a line to the comment. */
static void
say(json_t *lines, const char *file, const char *what, const char *config)
{
    json_array_append_new(lines, value_fmt("%s entry %s %s.", file, what, config));
}

/* Result, changes and lines from the word of mount.set_fstab: "present", "new" or "change". */
static int
tell_present(call_ctx_t *ctx, const json_t *args, const char *did, json_t *ret, json_t *lines, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *config = value_str(args, "config", "");
    bool test = ctx_test(ctx), fresh = strcmp(did, "new") == 0, mounts = value_bool(args, "mount", true);
    AUTO_FREE char *file = mount_fstab_file(args);

    json_object_set_new(ret, "result", json_true());
    if (strcmp(did, "present") == 0) {
        say(lines, file, test ? "is already in" : "was already in", config);
        return 0;
    }
    if (test)
        json_object_set_new(ret, "result", json_null());
    state_change(ret, "persist", json_string(did));
    say(lines, file,
        test    ? fresh ? "will be written in" : "will be updated in"
        : fresh ? "added in"
                : "updated in",
        config);
    if (fresh && mounts && test)
        json_array_append_new(lines, value_fmt("Will mount %s on %s", name, file));
    if (!(fresh && mounts && !test))
        return 0;
    /* A new entry is mounted as well, and its failure is the state's. */
    json_auto_t *said = sub_call(ctx, err, "mount.mount", "{s:s}", "name", file);
    if (said == NULL)
        return err->code;
    if (!json_is_string(said)) {
        json_array_append_new(lines, value_fmt("Mounted %s on %s", name, file));
        return 0;
    }
    const char *colon = strchr(json_string_value(said), ':');
    json_object_set_new(ret, "result", json_false());
    json_array_append_new(
        lines, value_fmt("Error while mounting %s", colon != NULL ? colon + 1 : json_string_value(said)));
    return 0;
}

/* The comment of these states is a list of lines. Devices are written as mount_by says: by label, UUID or
 * path. */
static int
mount_fstab_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *by = value_str(args, "mount_by", "");
    AUTO_FREE char *file = mount_fstab_file(args), *spec = spec_by(ctx, name, by, err);
    json_t *ret = *ret_value = state_ret_args(args), *lines = json_array();

    json_object_set_new(ret, "comment", lines);
    if (spec == NULL)
        return err->code;
    if (*spec == '\0') {
        json_object_set_new(ret, "result", json_false());
        json_array_append_new(lines, value_fmt("Device %s cannot be converted to %s", name, by));
        return 0;
    }
    json_auto_t *did = sub_call_text(
        ctx, err, "mount.set_fstab", "{s:s, s:s, s:O, s:O, s:O, s:O, s:O, s:b, s:O, s:O}", "name", file,
        "device", spec, "fstype", value_get(args, "fs_vfstype"), "opts", value_get(args, "fs_mntops"), "dump",
        value_get(args, "fs_freq"), "pass_num", value_get(args, "fs_passno"), "config",
        value_get(args, "config"), "test", ctx_test(ctx), "match_on", value_get(args, "match_on"),
        "not_change", value_get(args, "not_change"));
    return did != NULL ? tell_present(ctx, args, json_string_value(did), ret, lines, err) : err->code;
}

/* The entry is looked up by its folder; the device goes along, as mount.rm_fstab compares both. */
static int
mount_fstab_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *config = value_str(args, "config", "");
    AUTO_FREE char *file = mount_fstab_file(args),
                   *spec = spec_by(ctx, value_str(args, "name", ""), value_str(args, "mount_by", ""), err);
    json_auto_t *fstab = spec != NULL ? sub_call(ctx, err, "mount.fstab", "{s:s}", "config", config) : NULL;
    json_t *ret = *ret_value = state_ret_args(args), *lines = json_array();

    json_object_set_new(ret, "comment", lines);
    if (fstab == NULL)
        return err->code;
    if (value_get(fstab, file) == NULL) {
        say(lines, file, "is already missing in", config);
        return 0;
    }
    const char *device = value_str(value_get(fstab, file), "device", "");
    if (!str_eq(device, spec)) {
        json_array_append_new(lines, value_fmt("%s entry in %s is that of %s, not of %s, and stays.", file,
                                               config, device, spec));
        return 0;
    }
    state_change(ret, "persist", json_string("removed"));
    if (ctx_test(ctx)) {
        json_object_set_new(ret, "result", json_null());
        say(lines, file, "will be removed from", config);
        return 0;
    }
    json_auto_t *done = sub_call(ctx, err, "mount.rm_fstab", "{s:s, s:s, s:s}", "name", file, "device", spec,
                                 "config", config);
    if (done == NULL)
        return err->code;
    say(lines, file, "removed from", config);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define NAME_ROW ARG("name", ARG_STR, ARG_REQUIRED, "The device, or any first field of fstab")
#define FILE_ROW ARG("fs_file", ARG_STR, ARG_REQUIRED, "The mount point")
#define BY_ROW                                                                                               \
    ARG("mount_by", ARG_STR, "null", "Write the device as device, uuid, label, partuuid or partlabel")
#define CONFIG_ROW ARG("config", ARG_STR, "\"/etc/fstab\"", "The file")

static const arg_t present_args[] = {
    NAME_ROW,
    FILE_ROW,
    ARG("fs_vfstype", ARG_STR, ARG_REQUIRED, "The type of the file system"),
    ARG("fs_mntops", ARG_ANY, "\"defaults\"", "Options: a list, or a text with commas"),
    ARG("fs_freq", ARG_ANY, "0", "The fifth field"),
    ARG("fs_passno", ARG_ANY, "0", "The sixth field: the order of file system checks"),
    BY_ROW,
    CONFIG_ROW,
    ARG("mount", ARG_BOOL, "true", "Mount a new entry at once"),
    ARG("match_on", ARG_ANY, "\"auto\"",
        "Fields by which the entry is found; auto: name or device, by the type"),
    ARG("not_change", ARG_BOOL, "false", "Leave an entry that is found as it is"),
    ARG("fs_mount", ARG_BOOL, "true", "AIX only"),
    ARGS_END,
};
static const arg_t absent_args[] = { NAME_ROW, FILE_ROW, BY_ROW, CONFIG_ROW, ARGS_END };

static const func_t funcs[] = {
    { "fstab_absent", mount_fstab_absent, absent_args, 0,
      "Ensure that fstab has no entry for a mount point." },
    { "fstab_present", mount_fstab_present, present_args, 0,
      "Ensure that fstab has an entry for a mount point." },
};

PLUGIN(state, mount_fstab, .provides = "mount", .doc = "Entries of fstab", FUNCS(funcs));
