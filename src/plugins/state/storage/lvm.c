/* lvm.c - state module `lvm`: physical volumes, volume groups and logical volumes of LVM2 that are there, or
 * not. The display functions answer {} for a volume that is not there, by the exit code of pvdisplay and its
 * kin; a group lists the names of columns in Salt's words. What lvm's programs print becomes the change. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* ---- there or not ----------------------------------------------------------------------------- */

/* How a state makes or removes a volume: the words of its comments, and Salt's functions for it. */
typedef struct lvm_words {
    const char *what, *display, *display_arg, *fun;
    const char *already; /* sentence when nothing is to do */
    bool makes;
} lvm_words_t;

static const lvm_words_t pv_makes = { "Physical Volume", "lvm.pvdisplay",   "pvname",
                                      "lvm.pvcreate",    "already present", true };
static const lvm_words_t pv_removes = { "Physical Volume", "lvm.pvdisplay",  "pvname",
                                        "lvm.pvremove",    "does not exist", false };
static const lvm_words_t vg_makes = { "Volume Group", "lvm.vgdisplay",   "vgname",
                                      "lvm.vgcreate", "already present", true };
static const lvm_words_t vg_removes = { "Volume Group", "lvm.vgdisplay",  "vgname",
                                        "lvm.vgremove", "already absent", false };
static const lvm_words_t lv_makes = { "Logical Volume", "lvm.lvdisplay",   "lvname",
                                      "lvm.lvcreate",   "already present", true };
static const lvm_words_t lv_removes = { "Logical Volume", "lvm.lvdisplay",  "lvname",
                                        "lvm.lvremove",   "already absent", false };

/* What the display function says of the volume. NEW, or NULL with *err. */
static json_t *
displayed(call_ctx_t *ctx, const lvm_words_t *w, const char *volume, bool quiet, fail_t *err)
{
    return sub_call(ctx, err, w->display, "{s:s, s:b}", w->display_arg, volume, "quiet", quiet);
}

/* Calls the function with `kwargs`, and looks whether the volume is there afterwards. In test mode the change
 * is told that the run makes. `name` stands in the comments, `volume` is asked for. */
static int
lvm_change(call_ctx_t *ctx, const lvm_words_t *w, const char *name, const char *volume, json_t *kwargs,
           json_t *ret, fail_t *err)
{
    json_auto_t *did = NULL, *now = NULL;

    if (ctx_test(ctx)) {
        state_change(ret, w->makes ? "created" : "removed", json_true());
        return state_ret_set(ret, STATE_NONE, "%s %s is set to be %s", w->what, name,
                             w->makes ? "created" : "removed");
    }
    if (ctx_call(ctx, w->fun, NULL, kwargs, &did, err) < 0)
        return err->code;
    now = displayed(ctx, w, volume, !w->makes, err);
    if (now == NULL)
        return err->code;
    if ((json_object_size(now) > 0) == w->makes) {
        state_change(ret, w->makes ? "created" : "removed", json_incref(did));
        return state_ret_set(ret, STATE_TRUE, "%s %s %s", w->makes ? "Created" : "Removed", w->what, name);
    }
    const char *said = value_str(did, "Output from lvcreate", NULL);
    return state_ret_set(ret, STATE_FALSE, "Failed to %s %s %s%s%s", w->makes ? "create" : "remove", w->what,
                         name, said != NULL ? ". Error: " : "", said != NULL ? said : "");
}

/* The other keywords of the SLS, which the module's function takes, with these. NEW. */
static json_t *
lvm_call_with(const json_t *args, json_t *own)
{
    json_t *all = value_get(args, "kwargs") != NULL ? json_copy(value_get(args, "kwargs")) : json_object();

    json_object_update_new(all, own);
    return all;
}

/* The states whose name is the volume's: the row's words. */
static int
lvm_named(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const lvm_words_t *w = ctx_row(ctx)->data.ptr;
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *now = displayed(ctx, w, name, true, err), *kwargs = NULL;

    if (now == NULL)
        return err->code;
    if ((json_object_size(now) > 0) == w->makes)
        return state_ret_set(ret, STATE_TRUE, "%s %s %s", w->what, name, w->already);
    kwargs = lvm_call_with(args,
                           json_pack("{s:s}", w->display == vg_removes.display ? "vgname" : "devices", name));
    return lvm_change(ctx, w, name, name, kwargs, ret, err);
}

/* ---- vg_present ------------------------------------------------------------------------------- */

/* The group that a physical volume is in, as Salt's comments name it; "" for none, NULL when it is no
 * physical volume, or with *err. NEW. */
static char *
group_of(call_ctx_t *ctx, const char *device, fail_t *err)
{
    AUTO_FREE char *real = fop_realpath(device);
    json_auto_t *all = sub_call(ctx, err, "lvm.pvdisplay", "{s:s, s:b}", "pvname", real, "real", 1);
    json_t *one = value_get(all, real);
    const char *group = value_str(one, "Volume Group Name", "");

    if (one == NULL)
        return NULL;
    return xstrdup(strcmp(group, "#orphans_lvm2") == 0 ? "" : group);
}

/* A device of a group that is there: in it, added to it, or why not. */
static int
group_device(call_ctx_t *ctx, const char *group, const char *device, json_t *ret, fail_t *err)
{
    AUTO_FREE char *in = group_of(ctx, device, err);
    const char *before = value_str(ret, "comment", "");

    if (in == NULL && err->code != 0)
        return err->code;
    if (in == NULL)
        return state_ret_set(ret, STATE_FALSE, "%s\npv %s is not present", before, device);
    if (strcmp(in, group) == 0) {
        state_ret_comment(ret, value_fmt("%s\n%s is part of Volume Group", before, device));
        return 0;
    }
    if (*in != '\0')
        return state_ret_set(ret, STATE_FALSE, "%s\n%s is part of %s", before, device, in);
    if (!ctx_test(ctx)) {
        json_auto_t *did = sub_call(ctx, err, "lvm.vgextend", "{s:s, s:s}", "vgname", group, "devices",
                                    device);
        if (did == NULL)
            return err->code;
        AUTO_FREE char *now = group_of(ctx, device, err);
        if (now == NULL && err->code != 0)
            return err->code;
        if (!str_eq(now, group))
            return state_ret_set(ret, STATE_FALSE, "%s\n%s could not be added", before, device);
    }
    state_change(ret, device, value_fmt("added to %s", group));
    if (ctx_test(ctx) && !json_is_false(value_get(ret, "result")))
        json_object_set_new(ret, "result", json_null());
    return 0;
}

/* Devices of the SLS: a list, or a text with commas. NEW. */
static json_t *
devices_of(const json_t *args)
{
    json_t *devices = value_get(args, "devices"), *list = json_array();

    if (!json_is_string(devices)) {
        json_array_extend(list, devices);
        return list;
    }
    char **names = str_split(json_string_value(devices), ",", false);
    for (size_t i = 0; names[i] != NULL; i++)
        json_array_append_new(list, json_string(names[i]));
    strv_free(names);
    return list;
}

/* A group that is there is extended by devices that it lacks; a device of another group fails. */
static int
lvm_vg_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *device;
    const char *name = value_str(args, "name", "");
    json_auto_t *now = displayed(ctx, &vg_makes, name, true, err), *devices = devices_of(args);
    size_t i;

    if (now == NULL)
        return err->code;
    if (json_object_size(now) == 0) {
        json_auto_t *kwargs = lvm_call_with(args,
                                            json_pack("{s:s, s:O}", "vgname", name, "devices", devices));
        return lvm_change(ctx, &vg_makes, name, name, kwargs, ret, err);
    }
    state_ret_set(ret, STATE_TRUE, "Volume Group %s already present", name);
    json_array_foreach (devices, i, device) {
        AUTO_FREE char *path = value_pystr(device);
        if (group_device(ctx, name, path, ret, err) < 0)
            return err->code;
    }
    return 0;
}

/* ---- lv_present ------------------------------------------------------------------------------- */

/* Megabytes of "10G", "512" (MB), "2048s" (sectors of 512 bytes), "1TB"; negative with *err. */
static double
megabytes(const char *text, fail_t *err)
{
    static const struct {
        char unit;
        double mb;
    } units[] = {
        { 's', 1.0 / 2048 }, { 'm', 1 }, { 'g', 1024 }, { 't', 1024. * 1024 }, { 'p', 1024. * 1024 * 1024 }
    };
    size_t digits = strspn(text, "0123456789"), rest = strlen(text) - digits;
    char unit = rest == 0 ? 'm' : (char) (text[digits] | 0x20);
    bool fits = digits > 0 && (rest <= 1 || (rest == 2 && (text[digits + 1] | 0x20) == 'b'));
    AUTO_FREE char *number = xstrndup(text, digits);
    long long n = 0;

    if (!fits || !str_to_int(number, 0, INT64_MAX / 2, &n))
        return fail_set(err, -EINVAL, "Size %s is invalid.", text);
    for (size_t i = 0; i < NELEMS(units); i++) {
        if (units[i].unit == unit)
            return (double) n * units[i].mb;
    }
    return fail_set(err, -EINVAL, "Unit %c is invalid.", unit);
}

/* A logical volume's size, now and as it is to be. */
typedef struct lv_size {
    double mb;
    long long extents;
} lv_size_t;

/* The size of the volume in `all`, what lvm.lvdisplay says. */
static int
size_now(const json_t *all, const char *path, lv_size_t *ret_size, fail_t *err)
{
    json_t *one = value_get(all, path);
    AUTO_FREE char *sectors = xasprintf("%ss", value_str(one, "Logical Volume Size", ""));

    if (!str_to_int(value_str(one, "Current Logical Extents Associated", ""), 0, INT64_MAX,
                    &ret_size->extents))
        return fail_set(err, -EPROTO, "lvdisplay does not say how many extents %s has", path);
    ret_size->mb = megabytes(sectors, err);
    return ret_size->mb < 0 ? err->code : 0;
}

/* A volume that is there, which may have another size. */
static int
lv_fit(call_ctx_t *ctx, json_t *args, const char *name, const char *path, const json_t *all, json_t *ret,
       fail_t *err)
{
    json_t *size = value_get(args, "size"), *extents = value_get(args, "extents");
    AUTO_FREE char *size_text = value_pystr(size), *extents_text = value_pystr(extents);
    lv_size_t old, wanted;

    state_ret_set(ret, STATE_TRUE, "Logical Volume %s already present", name);
    if (!value_truthy(size) && !value_truthy(extents))
        return 0;
    if (size_now(all, path, &old, err) < 0)
        return err->code;
    wanted = old;
    if (value_truthy(size)) {
        if ((wanted.mb = megabytes(size_text, err)) < 0)
            return err->code;
    } else if (strchr(extents_text, '%') != NULL) {
        return state_ret_set(ret, STATE_TRUE, "Logical Volume %s already present, %s won't be resized.", name,
                             extents_text);
    } else if (!str_to_int(extents_text, 0, INT64_MAX, &wanted.extents)) {
        return fail_set(err, -EINVAL, "extents: '%s' is no number and no percentage", extents_text);
    }
    if (!value_truthy(value_get(args, "force")) && (wanted.mb < old.mb || wanted.extents < old.extents))
        return state_ret_set(ret, STATE_FALSE, "To reduce a Logical Volume option 'force' must be True.");
    if (wanted.mb == old.mb && wanted.extents == old.extents)
        return 0;

    /* Changes the size, and tells it. */
    bool by_size = value_truthy(value_get(args, "size"));
    const char *key = by_size ? "size" : "extents";
    lv_size_t fresh;
    if (ctx_test(ctx)) {
        state_change(ret, "resized", json_true());
        return state_ret_set(ret, STATE_NONE, "Logical Volume %s is set to be resized", name);
    }
    json_auto_t *did = sub_call(ctx, err, "lvm.lvresize", "{s:s, s:O, s:O, s:O}", "lvpath", path, key,
                                value_get(args, key), "resizefs", value_get(args, "resizefs"), "force",
                                value_get(args, "force"));
    json_auto_t *after = did != NULL ? displayed(ctx, &lv_makes, path, true, err) : NULL;
    if (after == NULL || size_now(after, path, &fresh, err) < 0)
        return err->code;
    if (fresh.mb == old.mb)
        return state_ret_set(ret, STATE_FALSE, "Failed to resize Logical Volume %s.\nError: %s", name,
                             value_str(did, "Output from lvresize", ""));
    state_change(ret, "resized", json_incref(did));
    return state_ret_set(ret, STATE_TRUE, "Resized Logical Volume %s", name);
}

/* The device of a volume; `vgname` of a thin one is GROUP/POOL. NEW. */
static char *
lv_path(const json_t *args, const char *name)
{
    const char *group = value_str(args, "vgname", "None");
    size_t n = value_truthy(value_get(args, "thinvolume")) ? strcspn(group, "/") : strlen(group);

    return xasprintf("/dev/%.*s/%s", (int) n, group, name);
}

/* A snapshot is named by `snapshot`, and the volume that it is taken of by the state's name, as in Salt. */
static int
lvm_lv_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args), *size = value_get(args, "size");
    bool snapshot = value_truthy(value_get(args, "snapshot"));
    AUTO_FREE char *name = value_pystr(value_get(args, snapshot ? "snapshot" : "name"));
    AUTO_FREE char *path = lv_path(args, name), *size_text = value_pystr(size);

    if (value_truthy(size) && value_truthy(value_get(args, "extents")))
        return state_ret_set(ret, STATE_FALSE, "Only one of extents or size can be specified.");
    if (value_truthy(size) && megabytes(size_text, err) < 0)
        return err->code;
    json_auto_t *now = displayed(ctx, &lv_makes, path, true, err), *kwargs = NULL;
    if (now == NULL)
        return err->code;
    if (value_get(now, path) != NULL)
        return lv_fit(ctx, args, name, path, now, ret, err);
    /* A new volume gets the arguments of the state and all other keywords. */
    static const char *const passed[] = {
        "vgname", "size", "extents", "pv", "thinvolume", "thinpool", "force"
    };
    kwargs = lvm_call_with(args, json_pack("{s:s, s:O*}", "lvname", name, "snapshot",
                                           snapshot ? value_get(args, "name") : NULL));
    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(kwargs, passed[i], value_get(args, passed[i]));
    return lvm_change(ctx, &lv_makes, name, path, kwargs, ret, err);
}

/* Volumes are removed by their path, and named in the comment as the SLS names them. */
static int
lvm_lv_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    AUTO_FREE char *path = lv_path(args, name);
    json_auto_t *now = displayed(ctx, &lv_removes, path, true, err), *kwargs = NULL;

    if (now == NULL)
        return err->code;
    if (json_object_size(now) == 0)
        return state_ret_set(ret, STATE_TRUE, "Logical Volume %s already absent", name);
    kwargs = json_pack("{s:s, s:O}", "lvname", name, "vgname", value_get(args, "vgname"));
    return lvm_change(ctx, &lv_removes, name, path, kwargs, ret, err);
}

static const char *
state_lvm_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "lvm.version") ? NULL : "lvm command not found";
}

/* ---- table ------------------------------------------------------------------------------------ */

#define REST_ROW(program)                                                                                    \
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Options of " program ", as lvm." program " takes them", "*")

static const arg_t pv_present_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The device"),
                                         REST_ROW("pvcreate"), ARGS_END };
static const arg_t pv_absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The device"), ARGS_END };
static const arg_t vg_present_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The group"),
                                         ARG("devices", ARG_ANY, "null",
                                             "Its devices: a list, or a text with commas"),
                                         REST_ROW("vgcreate"), ARGS_END };
static const arg_t vg_absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The group"), ARGS_END };
static const arg_t lv_present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The volume; with `snapshot` the one that is copied"),
    ARG("vgname", ARG_STR, "null", "The group that it is in"),
    ARG("size", ARG_ANY, "null", "Its size in MB, or with a unit: S (sectors), M, G, T, P"),
    ARG("extents", ARG_ANY, "null", "Its size in extents; a percentage counts when it is made"),
    ARG("snapshot", ARG_ANY, "null", "The snapshot's name"),
    ARG("pv", ARG_ANY, "\"\"", "The physical volume to take the room from"),
    ARG("thinvolume", ARG_ANY, "false", "A thin volume; vgname is GROUP/POOL"),
    ARG("thinpool", ARG_ANY, "false", "A pool for thin volumes"),
    ARG("force", ARG_ANY, "false", "Answer questions with yes; without it nothing is made smaller"),
    ARG("resizefs", ARG_ANY, "false", "Resize its file system, too"),
    REST_ROW("lvcreate"),
    ARGS_END,
};
static const arg_t lv_absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The volume"),
                                        ARG("vgname", ARG_STR, "null", "The group that it is in"), ARGS_END };

static const func_t funcs[] = {
    { "lv_absent", lvm_lv_absent, lv_absent_args, 0, "Ensure that there is no such logical volume." },
    { "lv_present", lvm_lv_present, lv_present_args, 0,
      "Ensure that a logical volume is there and has its size." },
    { "pv_absent", lvm_named, pv_absent_args, 0, "Ensure that a device is no physical volume.",
      .data.ptr = &pv_removes },
    { "pv_present", lvm_named, pv_present_args, 0, "Ensure that a device is a physical volume.",
      .data.ptr = &pv_makes },
    { "vg_absent", lvm_named, vg_absent_args, 0, "Ensure that there is no such volume group.",
      .data.ptr = &vg_removes },
    { "vg_present", lvm_vg_present, vg_present_args, 0,
      "Ensure that a volume group is there and has these devices." },
};

PLUGIN(state, lvm, .doc = "LVM2's volumes", FUNCS(funcs), .unavailable = state_lvm_unavailable);
