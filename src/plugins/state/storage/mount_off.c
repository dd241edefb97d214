/* mount_off.c - states mount.unmounted and mount.swap: what is not mounted, and swap space; with `persist` in
 * fstab as well, without an entry or with one. The word "cache" is the minion's file of what it has mounted
 * itself. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* ---- unmounted ------------------------------------------------------------------------------- */

/* Unmounts, and forgets that the minion had mounted it. What umount says becomes the comment of a failure. */
static int
umount_now(call_ctx_t *ctx, const json_t *args, json_t *ret, fail_t *err)
{
    json_auto_t *said = sub_call(ctx, err, "mount.umount", "{s:O, s:O, s:O}", "name", value_get(args, "name"),
                                 "device", value_get(args, "device"), "user", value_get(args, "user"));
    json_auto_t *forgot = said != NULL ? sub_call(ctx, err, "mount.delete_mount_cache", "{s:O}", "real_name",
                                                  value_get(args, "name"))
                                       : NULL;

    if (forgot == NULL)
        return err->code;
    if (!json_is_true(said)) {
        AUTO_FREE char *why = value_pystr(said);
        return state_ret_set(ret, STATE_FALSE, "%s", why);
    }
    state_change(ret, "umount", json_true());
    return state_ret_set(ret, STATE_TRUE, "Target was successfully unmounted");
}

/* The mount first, then fstab: a failed umount leaves the entry. */
static int
mount_unmounted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *key = str_replace(name, " ", "\\040");
    json_t *ret = *ret_value = state_ret_args(args);
    int rc;

    if (*name == '\0')
        return state_ret_set(ret, STATE_FALSE, "Must provide name to mount.unmounted");
    json_auto_t *active = sub_call(ctx, err, "mount.active", "{s:b}", "extended", 1);
    if (active == NULL)
        return err->code;
    if (value_get(active, key) == NULL) {
        rc = state_ret_set(ret, STATE_TRUE, "Target was already unmounted");
    } else if (ctx_test(ctx)) {
        state_change(ret, "umount", json_true());
        rc = state_ret_set(ret, STATE_NONE, "Mount point %s is mounted but should not be", name);
    } else {
        rc = umount_now(ctx, args, ret, err);
    }
    if (!(rc == 0 && value_bool(args, "persist", false)))
        return rc;

    /* Salt tells test mode what is mounted, and only else what fstab has. */
    const char *config = value_str(args, "config", "");
    const char *device = value_str(args, "device", NULL);
    json_auto_t *fstab = sub_call(ctx, err, "mount.fstab", "{s:s}", "config", config);
    AUTO_FREE char *before = xstrdup(value_str(ret, "comment", ""));
    bool told = state_changed(ret) && ctx_test(ctx);
    if (fstab == NULL)
        return err->code;
    const json_t *entry = value_get(fstab, name);
    bool other = entry != NULL && !str_empty(device) && !str_eq(value_str(entry, "device", NULL), device);
    if (entry == NULL || other) {
        if (!told)
            state_ret_comment(ret, other
                                       ? value_fmt("%s. fstab entry for device %s not found", before, device)
                                       : value_fmt("%s. fstab entry not found", before));
        return 0;
    }
    state_change(ret, "persist", json_string("purged"));
    if (told)
        return 0;
    if (ctx_test(ctx))
        return state_ret_set(
            ret, STATE_NONE,
            "Mount point %s is unmounted but needs to be purged from %s to be made persistent", name, config);
    json_auto_t *done = sub_call(ctx, err, "mount.rm_fstab", "{s:s, s:O, s:s}", "name", name, "device",
                                 value_get(args, "device"), "config", config);
    if (done == NULL)
        return err->code;
    state_ret_comment(ret, value_fmt("%s. Removed target from fstab", before));
    return 0;
}

/* ---- swap ------------------------------------------------------------------------------------ */

/* The device that a link leads to. NEW, or NULL with *err. */
static char *
swap_device(call_ctx_t *ctx, const char *name, fail_t *err)
{
    int link = sub_call_bool(ctx, err, "file.is_link", "{s:s}", "path", name);

    if (link <= 0)
        return link < 0 ? NULL : xstrdup(name);
    json_auto_t *to = sub_call_text(ctx, err, "file.readlink", "{s:s}", "path", name);
    const char *target = json_string_value(to);
    if (to == NULL)
        return NULL;
    return *target == '/' ? xstrdup(target) : xasprintf("/dev/%s", fop_basename(target));
}

/* Swap on, or told. */
static int
use_swap(call_ctx_t *ctx, json_t *ret, const char *name, const char *device, fail_t *err)
{
    json_auto_t *done = sub_call(ctx, err, "mount.swapon", "{s:s}", "name", device);
    json_auto_t *now = done != NULL ? sub_call(ctx, err, "mount.swaps", NULL) : NULL;

    if (now == NULL)
        return err->code;
    json_t *stats = value_get(now, device);
    if (stats == NULL)
        return state_ret_set(ret, STATE_FALSE, "Swap %s failed to activate", name);
    state_change_set(ret, json_copy(stats));
    return state_ret_set(ret, STATE_TRUE, "Swap %s activated", name);
}

/* True when an entry of fstab has this point or device. */
static bool
swap_listed(const json_t *fstab, const char *name)
{
    const char *point;
    json_t *entry;

    json_object_foreach ((json_t *) fstab, point, entry) {
        if (strcmp(point, name) == 0 || str_eq(value_str(entry, "device", NULL), name))
            return true;
    }
    return false;
}

/* fstab has swaps under the name none, so that all of them share a key of the table; the device tells them
 * apart. 0 or negative with *err. */
static int
keep_swap(call_ctx_t *ctx, const json_t *args, json_t *ret, bool on, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    json_t *config = value_get(args, "config");
    json_auto_t *fstab = sub_call(ctx, err, "mount.fstab", "{s:O}", "config", config);

    if (fstab == NULL)
        return err->code;
    if (ctx_test(ctx)) {
        if (swap_listed(fstab, name))
            return 0;
        if (on)
            (void) state_ret_set(ret, STATE_NONE,
                                 "Swap %s is set to be added to the fstab and to be activated", name);
        state_change(ret, "persist", json_string("new"));
        return 0;
    }
    const json_t *none = value_get(fstab, "none");
    if (str_eq(value_str(none, "device", NULL), name) && !str_eq(value_str(none, "fstype", NULL), "swap"))
        return 0;
    json_auto_t *did = sub_call_text(ctx, err, "mount.set_fstab", "{s:s, s:s, s:s, s:s, s:O}", "name", "none",
                                     "device", name, "fstype", "swap", "opts", "defaults", "config", config);
    if (did == NULL)
        return err->code;
    bool fresh = str_eq(json_string_value(did), "new");
    if (str_eq(json_string_value(did), "present"))
        return 0;
    AUTO_FREE char *before = xstrdup(value_str(ret, "comment", ""));
    state_change(ret, "persist", json_string(fresh ? "new" : "update"));
    state_ret_comment(ret,
                      value_fmt("%s. %s", before,
                                fresh ? "Added new entry to the fstab." : "Updated the entry in the fstab."));
    return 0;
}

/* The kernel's list of swaps has devices by their own path, so the name is resolved first. */
static int
mount_swap(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *device = swap_device(ctx, name, err);
    json_auto_t *now = device != NULL ? sub_call(ctx, err, "mount.swaps", NULL) : NULL;
    json_t *ret = *ret_value = state_ret_args(args);
    int rc = 0;

    if (now == NULL)
        return err->code;
    bool on = value_get(now, device) != NULL;
    if (on)
        (void) state_ret_set(ret, STATE_TRUE, "Swap %s already active", name);
    else if (ctx_test(ctx))
        (void) state_ret_set(ret, STATE_NONE, "Swap %s is set to be activated", name);
    else
        rc = use_swap(ctx, ret, name, device, err);
    return rc == 0 && value_bool(args, "persist", true) ? keep_swap(ctx, args, ret, on, err) : rc;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define CONFIG_ROW ARG("config", ARG_STR, "\"/etc/fstab\"", "The file")

static const arg_t unmounted_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The mount point"),
    ARG("device", ARG_STR, "null", "The device, where it is mounted in several places"),
    CONFIG_ROW,
    ARG("persist", ARG_BOOL, "false", "Take it out of fstab too"),
    ARG("user", ARG_STR, "null", "The user to unmount as"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Accepted for Salt's sake", TAKES_NONE),
    ARGS_END,
};
static const arg_t swap_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The device or file"),
                                   ARG("persist", ARG_BOOL, "true", "Write it into fstab too"), CONFIG_ROW,
                                   ARGS_END };

static const func_t funcs[] = {
    { "swap", mount_swap, swap_args, 0, "Ensure that a swap is in use, now and after the next start." },
    { "unmounted", mount_unmounted, unmounted_args, 0, "Ensure that nothing is mounted there." },
};

PLUGIN(state, mount_off, .provides = "mount", .doc = "What is not mounted, and swap", FUNCS(funcs));
