/* mount_cache.c - execution module `mount`: what the minion has mounted itself, with the options it asked
 * for, kept in cachedir/mounts as YAML: {"mounts": {point: {device, fstype, mkmnt, opts}}}, Salt's own
 * file. The kernel shows other options than those that a mount was made with, so the state compares with
 * these. */
#include "common/base/fs.h"
#include "common/data/yaml.h"
#include "plugins/lib/file/partfile.h"
#include "salt/plugin.h"

#define CACHE_INDENT 2

/* The file's path. NEW. */
static char *
mount_cache_path(call_ctx_t *ctx)
{
    return fs_join(value_str(ctx_opts(ctx), "cachedir", "/var/cache/salt/minion"), "mounts");
}

/* The mounts of the file. NEW, empty where there are none; NULL with *err. */
static json_t *
cache_read(call_ctx_t *ctx, fail_t *err)
{
    AUTO_FREE char *path = mount_cache_path(ctx), *twice = NULL;
    buf_auto_t text = BUF_INIT;
    int there = fs_read_any(path, LIMIT_CONF_FILE, &text, err);

    if (there < 0)
        return NULL;
    json_auto_t *all = yaml_load_repeated(buf_str(&text), text.len, path, NULL, &twice, err);
    json_t *mounts = value_get(all, "mounts");
    return all == NULL ? NULL : json_is_object(mounts) ? json_incref(mounts) : json_object();
}

/* Writes the mounts over the file, whole or not at all, for root alone: options may hold passwords. True,
 * or negative with *err. */
static int
cache_write(call_ctx_t *ctx, json_t *mounts, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = mount_cache_path(ctx);
    json_auto_t *all = json_pack("{s:O}", "mounts", mounts);
    AUTO_FREE char *text = yaml_dump(all, CACHE_INDENT);
    fail_auto_t why = FAIL_INIT;

    if (partfile_put(path, text, strlen(text), 0600, &why) < 0)
        return fail_kind(err, FAIL_COMMAND, -EIO, "Unable to write mount cache.");
    *ret_value = json_true();
    return 0;
}

/* {} for a mount point that the minion has not mounted. */
static int
mount_read_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *mounts = cache_read(ctx, err);

    if (mounts == NULL)
        return err->code;
    json_t *one = value_get(mounts, value_str(args, "name", ""));
    *ret_value = one != NULL ? json_incref(one) : json_object();
    return 0;
}

static int
mount_write_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *mounts = cache_read(ctx, err);

    if (mounts == NULL)
        return err->code;
    json_object_set_new(mounts, value_str(args, "real_name", ""),
                        json_pack("{s:O, s:O, s:O, s:O}", "device", value_get(args, "device"), "fstype",
                                  value_get(args, "fstype"), "mkmnt", value_get(args, "mkmnt"), "opts",
                                  value_get(args, "mount_opts")));
    return cache_write(ctx, mounts, ret_value, err);
}

/* True also when there was nothing to forget: then the file is left alone. */
static int
mount_delete_cache(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *mounts = cache_read(ctx, err);

    if (mounts == NULL)
        return err->code;
    if (json_object_del(mounts, value_str(args, "real_name", "")) == 0)
        return cache_write(ctx, mounts, ret_value, err);
    *ret_value = json_true();
    return 0;
}

#define REAL_NAME_ROW ARG("real_name", ARG_STR, ARG_REQUIRED, "The mount point, without links")

static const arg_t read_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The mount point"), ARGS_END };
static const arg_t delete_args[] = { REAL_NAME_ROW, ARGS_END };
static const arg_t write_args[] = { REAL_NAME_ROW,
                                    ARG("device", ARG_ANY, ARG_REQUIRED, "What is mounted"),
                                    ARG("mkmnt", ARG_ANY, ARG_REQUIRED, "Whether the mount point is made"),
                                    ARG("fstype", ARG_ANY, ARG_REQUIRED, "The type of the file system"),
                                    ARG("mount_opts", ARG_ANY, ARG_REQUIRED, "The options"),
                                    ARGS_END };

static const func_t funcs[] = {
    { "delete_mount_cache", mount_delete_cache, delete_args, 0,
      "Forget what the minion has mounted there." CLI_EXAMPLE(
          "salt '*' mount.delete_mount_cache /mnt/data") },
    { "read_mount_cache", mount_read_cache, read_args, FN_READONLY,
      "Return what the minion has mounted there." CLI_EXAMPLE("salt '*' mount.read_mount_cache /mnt/data") },
    { "write_mount_cache", mount_write_cache, write_args, 0,
      "Keep what the minion has mounted there." CLI_EXAMPLE(
          "salt '*' mount.write_mount_cache /mnt/data /dev/sdb1 False ext4 defaults") },
};

PLUGIN(exec, mount_cache, .provides = "mount", .doc = "What the minion has mounted", FUNCS(funcs));
