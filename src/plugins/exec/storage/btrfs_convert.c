/* btrfs_convert.c - btrfs.convert: an ext2, ext3 or ext4 file system becomes one of Btrfs in its place. */
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/system/btrfs.h"

/* Runs a program with the words after it, up to NULL, of which the last is checked. NEW result, or NULL with
 * *err. */
static json_t *
convert_step(call_ctx_t *ctx, fail_t *err, const char *program, const char *more, const char *option,
             const char *operand)
{
    prog_auto_t prog = PROG_INIT;

    if (tool_begin(&prog, program, err) < 0)
        return NULL;
    if (more != NULL)
        prog_add(&prog, more);
    if (option != NULL)
        prog_add(&prog, option);
    return prog_operand(&prog, "device", operand, err) == 0 ? btrfs_run(ctx, &prog, err) : NULL;
}

/* What the exit code of fsck, which changes nothing here, means. NULL with *err. */
static const char *
convert_fsck(call_ctx_t *ctx, const char *device, fail_t *err)
{
    static const struct {
        int code;
        const char *text;
    } words[] = { { 0, "No errors" },
                  { 1, "Filesystem errors corrected" },
                  { 2, "System should be rebooted" },
                  { 4, "Filesystem errors left uncorrected" },
                  { 8, "Operational error" },
                  { 16, "Usage or syntax error" },
                  { 32, "Fsck canceled by user request" },
                  { 128, "Shared-library error" } };
    prog_auto_t prog = PROG_INIT;
    int code = -1;

    if (tool_begin(&prog, "fsck", err) < 0)
        return NULL;
    prog_adds(&prog, "-f", "-n", NULL);
    prog.timeout_ms = BTRFS_MS;
    if (prog_operand(&prog, "device", device, err) < 0 ||
        tool_retcode(ctx, &prog, TOOL_QUIET, &code, err) < 0)
        return NULL;
    for (size_t i = 0; i < NELEMS(words); i++)
        if (words[i].code == code)
            return words[i].text;
    return "Unknown error";
}

/* Keeps the image of the old file system, for a way back, or deletes it and balances the new one. */
static int
convert_image(call_ctx_t *ctx, const char *point, const char *type, bool permanent, json_t *after,
              fail_t *err)
{
    AUTO_FREE char *image = xasprintf("%s/ext2_saved", point), *name = xasprintf("%s_image", type);
    AUTO_FREE char *info = xasprintf("%s_image_info", type), *file = xasprintf("%s/image", image);

    if (access(image, F_OK) != 0)
        return fail_kind(err, FAIL_COMMAND, -ENOENT,
                         "BTRFS migration went wrong: the image \"%s\" not found!", image);
    if (!permanent) {
        json_auto_t *ran = convert_step(ctx, err, "file", NULL, NULL, file);
        if (ran == NULL)
            return err->code;
        json_object_set_new(after, name, json_string(image));
        json_object_set(after, info, value_get(ran, "stdout"));
        return 0;
    }
    json_object_set_new(after, name, json_string("removed"));
    json_object_set_new(after, info, json_string("N/A"));
    json_auto_t *deleted = convert_step(ctx, err, "btrfs", "subvolume", "delete", image);
    json_auto_t *balanced = deleted != NULL ? convert_step(ctx, err, "btrfs", "filesystem", "balance", point)
                                            : NULL;
    if (balanced == NULL)
        return err->code;
    return json_object_set(after, "balance_log", value_get(balanced, "stdout"));
}

static int
btrfs_convert(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *device = value_str(args, "device", "");
    prog_auto_t mount = PROG_INIT;
    json_auto_t *before = btrfs_blkid(ctx, NULL, err);

    if (before == NULL)
        return err->code;
    const char *type = value_str(value_get(before, device), "type", "");
    if (value_get(before, device) == NULL)
        return fail_kind(err, FAIL_COMMAND, -ENODEV, "The device \"%s\" was is not found.", device);
    if (strcmp(type, "ext2") != 0 && strcmp(type, "ext3") != 0 && strcmp(type, "ext4") != 0)
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "The device \"%s\" is a \"%s\" file system.", device,
                         type);
    json_auto_t *mounts = btrfs_mounts(type, err);
    if (mounts == NULL)
        return err->code;
    const char *point = value_str(json_array_get(value_get(mounts, device), 0), "mount_point", "");
    if (*point == '\0')
        return fail_kind(err, FAIL_COMMAND, -ENODEV, "The device \"%s\" is not mounted: mount it first.",
                         device);
    if (strcmp(point, "/") == 0)
        return fail_kind(
            err, FAIL_COMMAND, -EBUSY,
            "One does not simply converts a root filesystem!\n\nBoot another system, make a backup, and "
            "convert it from there.");

    json_auto_t *left = convert_step(ctx, err, "umount", NULL, NULL, device);
    const char *fsck = left != NULL ? convert_fsck(ctx, device, err) : NULL;
    json_auto_t *converted = fsck != NULL ? convert_step(ctx, err, "btrfs-convert", NULL, NULL, device)
                                          : NULL;
    if (converted == NULL || tool_begin(&mount, "mount", err) < 0 ||
        prog_operand(&mount, "device", device, err) < 0)
        return err->code;
    prog_add(&mount, point);
    json_auto_t *mounted = btrfs_run(ctx, &mount, err);
    json_auto_t *now = mounted != NULL ? btrfs_blkid(ctx, NULL, err) : NULL;
    if (now == NULL)
        return err->code;
    json_auto_t *ret = json_pack("{s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "before", "fsck_status", fsck,
                                 "mount_point", point, "type", type, "after", "fsck_status", "N/A",
                                 "mount_point", point, "type", value_str(value_get(now, device), "type", ""));
    if (convert_image(ctx, point, type, value_bool(args, "permanent", false), value_get(ret, "after"), err) <
        0)
        return err->code;
    AUTO_FREE char *lost = xasprintf("%s/lost+found", point);
    if (access(lost, F_OK) == 0 && !value_bool(args, "keeplf", false) && fs_remove_tree(lost, err) < 0)
        return err->code;
    *ret_value = json_incref(ret);
    return 0;
}

static const arg_t convert_args[] = {
    ARG("device", ARG_STR, ARG_REQUIRED, "The device, which must be mounted, and not as /"),
    ARG("permanent", ARG_BOOL, "false", "Delete the image of the old file system: there is no way back"),
    ARG("keeplf", ARG_BOOL, "false", "Keep lost+found"), ARGS_END
};

static const func_t funcs[] = {
    { "convert", btrfs_convert, convert_args, 0,
      "Convert an ext2, ext3 or ext4 file system to Btrfs." CLI_EXAMPLE("salt '*' btrfs.convert /dev/sdb1") },
};

PLUGIN(exec, btrfs_convert, .provides = "btrfs", .doc = "Conversion to Btrfs", FUNCS(funcs));
