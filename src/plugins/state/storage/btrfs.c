/* btrfs.c - states of btrfs: subvolumes, and properties of what is on a device, which is mounted in a folder of
 * its own meanwhile. In test mode, too: what is on it can't be known otherwise. */
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* ---- the device -------------------------------------------------------------------------------- */

/* A state of `mount`, applied in test mode, too. TAKES kwargs. False: `ret` has failed, with its comment. */
static bool
btrfs_mount_state(call_ctx_t *ctx, const char *fun, json_t *kwargs, json_t *ret)
{
    json_auto_t *taken = kwargs, *got = NULL;
    fail_auto_t err = FAIL_INIT;
    bool test = ctx_test(ctx);

    ctx_set_test(ctx, false);
    int rc = ctx_state(ctx, fun, taken, &got, &err);
    ctx_set_test(ctx, test);
    if (rc == 0 && json_is_true(value_get(got, "result")))
        return true;
    state_ret_add(ret, "%s", rc == 0 ? value_str(got, "comment", "") : fail_text(&err));
    json_object_set_new(ret, "result", json_false());
    return false;
}

typedef int btrfs_work_fn(call_ctx_t *ctx, const json_t *args, const char *path, json_t *ret, fail_t *err);

/* The path of an object below a folder; a name can't lead out of it. NEW, or NULL with *err. */
static char *
btrfs_path(const char *dest, const char *name, fail_t *err)
{
    const char *rest = name + strspn(name, "/");
    char **parts = str_split(rest, "/", false);
    bool out = false;

    for (size_t i = 0; parts[i] != NULL; i++)
        out = out || str_eq(parts[i], "..");
    strv_free(parts);
    if (!out)
        return fs_join(dest, rest);
    (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "'%s' leads out of the file system: leave '..' out", name);
    return NULL;
}

/* Mounts args.device, does the work on the path of args.name there, and unmounts. The folder is only removed
 * when nothing is mounted in it any more. */
static int
btrfs_on_device(call_ctx_t *ctx, const json_t *args, bool whole, btrfs_work_fn *work, json_t **ret_value,
                fail_t *err)
{
    const char *name = value_str(args, "name", ""), *device = value_str(args, "device", "");
    const char *tmp = getenv("TMPDIR");
    AUTO_FREE char *dest = xasprintf("%s/btrfs-XXXXXX", tmp != NULL && *tmp == '/' ? tmp : "/tmp");
    AUTO_FREE char *path = btrfs_path(dest, name, err);
    json_t *ret = *ret_value = state_ret(name);

    if (path == NULL)
        return state_ret_fail(ret, err);
    json_object_set_new(ret, "result", json_false());
    if (mkdtemp(dest) == NULL)
        return fail_set(err, -errno, "cannot make a folder to mount %s in: %s: %s", device, dest,
                        strerror(errno));
    (void) memcpy(path, dest, strlen(dest)); /* its name is known now */

    int rc = 0;
    json_t *how = json_pack("{s:s, s:s, s:s, s:s, s:b}", "name", dest, "device", device, "fstype", "btrfs",
                            "opts", whole ? "subvol=/" : "defaults", "persist", 0);
    if (btrfs_mount_state(ctx, "mount.mounted", how, ret)) {
        rc = work(ctx, args, path, ret, err);
        (void) btrfs_mount_state(ctx, "mount.unmounted", json_pack("{s:s}", "name", dest), ret);
    } else {
        state_ret_add(ret, "Device %s cannot be mounted", device);
    }
    (void) rmdir(dest);
    return rc < 0 ? state_ret_fail(ret, err) : 0;
}

/* Sets the result: None in test mode when there are changes to be made, else True. */
static int
btrfs_end(call_ctx_t *ctx, json_t *ret)
{
    json_object_set_new(ret, "result", ctx_test(ctx) && state_changed(ret) ? json_null() : json_true());
    return 0;
}

/* ---- subvolumes -------------------------------------------------------------------------------- */

/* The number of a subvolume. NEW text, or NULL with *err. */
static json_t *
btrfs_id(call_ctx_t *ctx, const char *path, fail_t *err)
{
    json_auto_t *shown = sub_call(ctx, err, "btrfs.subvolume_show", "{s:s}", "path", path);
    json_t *id = value_get(json_object_iter_value(json_object_iter(shown)), "subvolume id");

    if (shown != NULL && id == NULL)
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "btrfs subvolume show %s names no Subvolume ID", path);
    return json_incref(id);
}

/* Makes the subvolume the file system's default. Its folder is where the file system is mounted. */
static int
btrfs_make_default(call_ctx_t *ctx, const char *name, const char *path, const char *dest, json_t *ret,
                   fail_t *err)
{
    json_auto_t *id = btrfs_id(ctx, path, err);
    json_auto_t *now = id != NULL ? sub_call(ctx, err, "btrfs.subvolume_get_default", "{s:s}", "path", dest)
                                  : NULL;
    AUTO_FREE char *key = xasprintf("%s_default", name);

    if (now == NULL)
        return err->code;
    if (value_equal(value_get(now, "id"), id))
        return 0;
    json_t *done = ctx_test(ctx) ? json_true()
                                 : sub_call(ctx, err, "btrfs.subvolume_set_default", "{s:O, s:s}", "subvolid",
                                            id, "path", dest);
    if (done == NULL)
        return err->code;
    state_change(ret, key, done);
    return 0;
}

/* Switches copy on write off. */
static int
btrfs_no_cow(call_ctx_t *ctx, const char *name, const char *path, json_t *ret, fail_t *err)
{
    AUTO_FREE char *dir = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    AUTO_FREE char *key = xasprintf("%s_no_cow", name);
    json_auto_t *all = sub_call(ctx, err, "file.lsattr", "{s:s}", "path", dir);
    json_t *flag;
    size_t i;

    if (all == NULL)
        return err->code;
    json_array_foreach (value_get(all, path), i, flag)
        if (str_eq(json_string_value(flag), "C"))
            return 0;
    json_auto_t *files = json_pack("[s]", path),
                *how = json_pack("{s:s, s:s}", "operator", "add", "attributes", "C");
    json_t *done = json_true();
    int rc = ctx_test(ctx) ? 0 : ctx_call(ctx, "file.chattr", files, how, &done, err);
    if (rc < 0)
        return rc;
    state_change(ret, key, done);
    return 0;
}

/* The folder that a subvolume lies in, and the subvolume. 1, 0 with a comment, or negative with *err. */
static int
btrfs_create(call_ctx_t *ctx, const json_t *args, const char *name, const char *path, json_t *ret,
             fail_t *err)
{
    AUTO_FREE char *dir = xstrndup(path, (size_t) (strrchr(path, '/') - path));
    json_auto_t *qgroups = json_incref(value_get(args, "qgroupids")), *made = NULL;
    json_auto_t *where = json_pack("{s:s, s:b}", "name", dir, "makedirs", 1);
    int rc = ctx_state(ctx, "file.directory", where, &made, err);

    if (rc < 0)
        return rc;
    if (!json_is_true(value_get(made, "result"))) {
        state_ret_add(ret, "Error creating %s directory: %s", dir, value_str(made, "comment", ""));
        return 0;
    }
    fail_auto_t why = FAIL_INIT;
    json_auto_t *done = sub_call(ctx, &why, "btrfs.subvolume_create", "{s:s, s:O?}", "name", path,
                                 "qgroupids", json_is_null(qgroups) ? NULL : qgroups);
    if (done == NULL) {
        state_ret_add(ret, "Error creating subvolume %s: %s", name, fail_text(&why));
        return 0;
    }
    return 1;
}

static int
btrfs_created(call_ctx_t *ctx, const json_t *args, const char *path, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *dest = xstrndup(path, strlen(path) - strlen(name + strspn(name, "/")) - 1);
    bool fresh = false, dflt = json_is_true(value_get(args, "set_default")),
         cow = json_is_true(value_get(args, "copy_on_write"));
    int there = sub_call_bool(ctx, err, "btrfs.subvolume_exists", "{s:s}", "path", path), rc = 0;

    if (there < 0)
        return there;
    if (there)
        state_ret_add(ret, "Subvolume %s already present", name);
    else if (ctx_test(ctx)) {
        AUTO_FREE char *default_key = xasprintf("%s_default", name), *cow_key = xasprintf("%s_no_cow", name);
        state_change(ret, name, value_fmt("Subvolume %s will be created", name));
        if (dflt)
            state_change(ret, default_key, json_true());
        if (!cow)
            state_change(ret, cow_key, json_true());
        return btrfs_end(ctx, ret);
    } else {
        if ((rc = btrfs_create(ctx, args, name, path, ret, err)) <= 0)
            return rc;
        state_change(ret, name, value_fmt("Created subvolume %s", name));
        fresh = true;
    }
    if (dflt && (fresh || json_is_true(value_get(args, "force_set_default"))))
        rc = btrfs_make_default(ctx, name, path, dest, ret, err);
    if (rc >= 0 && !cow)
        rc = btrfs_no_cow(ctx, name, path, ret, err);
    return rc < 0 ? rc : btrfs_end(ctx, ret);
}

static int
btrfs_deleted(call_ctx_t *ctx, const json_t *args, const char *path, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    int there = sub_call_bool(ctx, err, "btrfs.subvolume_exists", "{s:s}", "path", path);

    if (there < 0)
        return there;
    if (!there) {
        state_ret_add(ret, "Subvolume %s already missing", name);
        return btrfs_end(ctx, ret);
    }
    if (ctx_test(ctx)) {
        state_change(ret, name, value_fmt("Subvolume %s will be removed", name));
        return btrfs_end(ctx, ret);
    }
    fail_auto_t why = FAIL_INIT;
    json_auto_t *done = sub_call(ctx, &why, "btrfs.subvolume_delete", "{s:s, s:s*}", "name", path, "commit",
                                 value_truthy(value_get(args, "commit")) ? "after" : NULL);
    if (done == NULL) {
        state_ret_add(ret, "Error removing subvolume %s: %s", name, fail_text(&why));
        return 0;
    }
    state_change(ret, name, value_fmt("Removed subvolume %s", name));
    return btrfs_end(ctx, ret);
}

/* ---- properties -------------------------------------------------------------------------------- */

/* {property: value} of those wanted that are not so now, values as texts. NEW, or NULL: one is unknown. */
static json_t *
btrfs_wanted(const json_t *wanted, const json_t *now)
{
    json_auto_t *differ = json_object();
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) wanted, key, v) {
        AUTO_FREE char *text = json_is_boolean(v) ? xstrdup(json_is_true(v) ? "true" : "false")
                                                  : value_pystr(v);
        const char *is = value_str(value_get(now, key), "value", NULL);
        if (is == NULL)
            return NULL;
        /* False is what a property that the object has not is. */
        if (!str_eq(is, text) && !(json_is_false(v) && str_eq(is, "N/A")))
            json_object_set_new(differ, key, json_string(text));
    }
    return STEAL(differ);
}

/* The same of what the object has now. NULL with *err, -ENOENT: it has not all of them. */
static json_t *
btrfs_differing(call_ctx_t *ctx, const json_t *wanted, const char *path, fail_t *err)
{
    json_auto_t *now = sub_call(ctx, err, "btrfs.properties", "{s:s}", "obj", path);
    json_t *differ = now != NULL ? btrfs_wanted(wanted, now) : NULL;

    if (now != NULL && differ == NULL)
        (void) fail_kind(err, FAIL_COMMAND, -ENOENT, "%s has not all of these properties", path);
    return differ;
}

static int
btrfs_property_work(call_ctx_t *ctx, const json_t *args, const char *path, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *key;
    const json_t *wanted = value_get(args, "properties");
    buf_auto_t pairs = BUF_INIT;
    fail_auto_t why = FAIL_INIT;
    json_t *v;

    if (fs_absent(path)) {
        state_ret_add(ret, "Object %s not found", name);
        return 0;
    }
    json_auto_t *differ = btrfs_differing(ctx, wanted, path, &why);
    if (differ == NULL) {
        if (why.code == -ENOENT)
            state_ret_add(ret, "Some property not found in %s", name);
        else
            state_ret_add(ret, "Error reading properties from %s\nCurrent error %s", name, fail_text(&why));
        return 0;
    }
    if (json_object_size(differ) == 0) {
        state_ret_add(ret, "%s in %s",
                      ctx_test(ctx) ? "No properties will be changed" : "Properties not changed", name);
        return btrfs_end(ctx, ret);
    }
    json_object_foreach (differ, key, v)
        buf_printf(&pairs, "%s%s=%s", pairs.len > 0 ? "," : "", key, json_string_value(v));
    if (!ctx_test(ctx)) {
        json_auto_t *done = sub_call(ctx, err, "btrfs.properties", "{s:s, s:s}", "obj", path, "set",
                                     buf_str(&pairs));
        json_auto_t *left = done != NULL ? btrfs_differing(ctx, wanted, path, err) : NULL;
        if (left == NULL)
            return err->code;
        if (json_object_size(left) > 0) {
            AUTO_FREE char *shown = value_pystr(left);
            state_ret_add(ret, "Properties %s failed to be changed in %s", shown, name);
            return 0;
        }
        state_ret_add(ret, "Properties changed in %s", name);
    }
    state_change_set(ret, json_incref(differ));
    return btrfs_end(ctx, ret);
}

/* ---- the states -------------------------------------------------------------------------------- */

static int
btrfs_subvolume_created(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return btrfs_on_device(ctx, args, true, btrfs_created, ret_value, err);
}

static int
btrfs_subvolume_deleted(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return btrfs_on_device(ctx, args, true, btrfs_deleted, ret_value, err);
}

/* Without a device the name is the path of the object, or a device itself. */
static int
btrfs_state_properties(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    bool whole = !json_is_true(value_get(args, "use_default"));

    if (*value_str(args, "device", "") != '\0')
        return btrfs_on_device(ctx, args, whole, btrfs_property_work, ret_value, err);
    json_t *ret = *ret_value = state_ret(name);
    json_object_set_new(ret, "result", json_false());
    int rc = btrfs_property_work(ctx, args, name, ret, err);
    return rc < 0 ? state_ret_fail(ret, err) : 0;
}

static const arg_t created_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The subvolume, as a path from the file system's top"),
    ARG("device", ARG_STR, ARG_REQUIRED, "The device that has the file system"),
    ARG("qgroupids", ARG_LIST, "null", "Quota groups to add it to when it is created"),
    ARG("set_default", ARG_BOOL, "false", "Make it what is mounted unless a mount says otherwise"),
    ARG("copy_on_write", ARG_BOOL, "true", "False: chattr +C"),
    ARG("force_set_default", ARG_BOOL, "true", "False: set_default is for a subvolume that is new"),
    ARGS_END
};
static const arg_t deleted_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The subvolume, as a path from the file system's top"),
    ARG("device", ARG_STR, ARG_REQUIRED, "The device that has the file system"),
    ARG("commit", ARG_BOOL, "false", "Wait until it is gone from the disk"), ARGS_END
};
static const arg_t properties_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A subvolume, file or folder of the file system, or a device"),
    ARG("device", ARG_ANY, ARG_REQUIRED, "The device that has the file system; None: name is a path"),
    ARG("use_default", ARG_BOOL, "false", "Look in the default subvolume, not from the top"),
    ARG("properties", ARG_ANY, ARG_STARSTAR, "ro, label, compression: their values", "ro label compression"),
    ARGS_END
};

static const func_t funcs[] = {
    { "properties", btrfs_state_properties, properties_args, 0, "An object has these properties." },
    { "subvolume_created", btrfs_subvolume_created, created_args, 0, "A subvolume is there." },
    { "subvolume_deleted", btrfs_subvolume_deleted, deleted_args, 0, "A subvolume is not there." },
};

PLUGIN(state, btrfs, .doc = "Subvolumes and properties of Btrfs", FUNCS(funcs));
