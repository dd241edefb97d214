/* mdadm_raid.c - state module `raid`: arrays of Linux' software RAID, by mdadm(8). Devices that belonged to
 * an array are assembled, fresh ones make a new array; both together assemble it and add the fresh ones. The
 * UUID in the devices' superblocks tells which array they are of, and a mix of several is refused. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/file/fileops.h"
#include "salt/state.h"

/* A state's devices: those that are not there, of an array that was made before, and of none. */
typedef struct raid_parts {
    json_t *missing, *fresh, *used, *uuids; /* owned lists */
} raid_parts_t;

/* Sorts the devices of the SLS: missing ones, those that belong to an array already, by whose UUID, and fresh
 * ones. 0 or negative with *err. */
static int
raid_parts_of(call_ctx_t *ctx, const json_t *args, raid_parts_t *parts, fail_t *err)
{
    json_t *one;
    size_t i;

    json_array_foreach (value_get(args, "devices"), i, one) {
        AUTO_FREE char *device = value_pystr(one);
        int there = strcmp(device, "missing") != 0 ? fop_exists(device, err) : 0;
        if (there == 0)
            json_array_append_new(parts->missing, json_string(device));
        json_auto_t *block = there > 0 ? sub_call(ctx, err, "raid.examine", "{s:s, s:b}", "device", device,
                                                  "quiet", 1)
                                       : NULL;
        if (there < 0 || (there > 0 && block == NULL))
            return err->code;
        json_t *uuid = value_get(block, "MD_UUID");
        if (uuid != NULL && !value_has(parts->uuids, uuid))
            json_array_append(parts->uuids, uuid);
        if (there > 0)
            json_array_append_new(uuid != NULL ? parts->used : parts->fresh, json_string(device));
    }
    return 0;
}

/* raid.create or raid.assemble with the state's options. Its answer: NEW; NULL with *err. */
static json_t *
build(call_ctx_t *ctx, const json_t *args, const raid_parts_t *parts, bool assembles, bool test, fail_t *err)
{
    json_t *rest = value_get(args, "kwargs"), *said = NULL;
    json_auto_t *kwargs = rest != NULL ? json_copy(rest) : json_object();
    json_auto_t *devices = json_copy(assembles ? parts->used : parts->fresh);

    for (size_t i = 0; !assembles && i < json_array_size(parts->missing); i++)
        json_array_append_new(devices, json_string("missing"));
    json_object_set(kwargs, "name", value_get(args, "name"));
    json_object_set(kwargs, "devices", devices);
    json_object_set_new(kwargs, "test_mode", json_boolean(test));
    if (!assembles)
        json_object_set(kwargs, "level", value_get(args, "level"));
    return ctx_call(ctx, assembles ? "raid.assemble" : "raid.create", NULL, kwargs, &said, err) == 0 ? said
                                                                                                     : NULL;
}

/* Why these devices can't become that array: a comment, NEW; NULL when they can. */
static char *
why_not(const raid_parts_t *parts, const json_t *present)
{
    const char *uuid = json_string_value(json_array_get(parts->uuids, 0));
    json_auto_t *sorted = value_sorted_texts(parts->uuids);
    AUTO_FREE char *all = value_repr(sorted), *missing = value_repr(parts->missing);

    if (json_array_size(parts->uuids) > 1)
        return xasprintf("Devices are a mix of RAID constituents with multiple MD_UUIDs: %s.", all);
    if (uuid != NULL && present != NULL && strcmp(value_str(present, "uuid", ""), uuid) != 0)
        return xasprintf("Devices MD_UUIDs: %s differs from present RAID uuid %s.", uuid,
                         value_str(present, "uuid", ""));
    return present == NULL && uuid == NULL && json_array_size(parts->fresh) == 0
               ? xasprintf("All devices are missing: %s.", missing)
               : NULL;
}

/* Test mode's return: the command lines. */
static int
raid_foretell(call_ctx_t *ctx, const json_t *args, const raid_parts_t *parts, bool is_there, json_t *ret,
              buf_t *comment, fail_t *err)
{
    bool assembles = json_array_size(parts->used) > 0;
    const char *name = value_str(args, "name", "");
    json_auto_t *line = is_there ? json_null() : build(ctx, args, parts, assembles, true, err);
    AUTO_FREE char *text = value_pystr(line), *fresh = value_repr(parts->fresh);
    bool adds = (is_there || assembles) && json_array_size(parts->fresh) > 0;

    if (line == NULL)
        return err->code;
    if (is_there)
        buf_printf(comment, "Raid %s already present.", name);
    else
        buf_printf(comment, "Raid will be %s with: %s", assembles ? "assembled" : "created", text);
    if (!is_there)
        state_change(ret, "device", json_string(name));
    if (adds) {
        buf_printf(comment, " New devices will be added: %s", fresh);
        state_change(ret, "added", json_incref(parts->fresh));
    }
    if (!is_there || adds)
        json_object_set_new(ret, "result", json_null());
    return 0;
}

/* Makes the array, saves it in mdadm.conf, and adds its devices. A list afterwards tells whether it is
 * there. */
static int
raid_carry_out(call_ctx_t *ctx, const json_t *args, const raid_parts_t *parts, bool is_there, json_t *ret,
               buf_t *comment, fail_t *err)
{
    bool assembles = json_array_size(parts->used) > 0;
    const char *name = value_str(args, "name", "");
    json_auto_t *said = is_there ? json_null() : build(ctx, args, parts, assembles, false, err);
    json_auto_t *all = said != NULL ? sub_call(ctx, err, "raid.list", NULL) : NULL;
    json_t *now = value_get(all, name);

    if (all == NULL)
        return err->code;
    if (is_there) {
        buf_printf(comment, "Raid %s already present.", name);
    } else if (now != NULL) {
        buf_printf(comment, "Raid %s %s.", name, assembles ? "assembled" : "created");
        state_change_set(ret, json_copy(now));
        json_auto_t *saved = sub_call(ctx, err, "raid.save_config", NULL);
        if (saved == NULL)
            return err->code;
    } else {
        buf_printf(comment, "Raid %s failed to be %s.", name, assembles ? "assembled" : "created");
        json_object_set_new(ret, "result", json_false());
    }
    if ((is_there || assembles) && json_array_size(parts->fresh) > 0 && value_bool(ret, "result", false)) {
        /* Adds devices to the array that is there. 0, or negative with *err. */
        json_t *one;
        size_t i;
        json_array_foreach (parts->fresh, i, one) {
            int added = sub_call_bool(ctx, err, "raid.add", "{s:s, s:O}", "name", name, "device", one);
            if (added < 0)
                return added;
            buf_printf(comment, added > 0 ? " Added new device %s to %s.\n" : " Unable to add %s to %s.\n",
                       json_string_value(one), name);
            if (added == 0)
                json_object_set_new(ret, "result", json_false());
        }
        if (value_bool(ret, "result", false))
            state_change(ret, "added", json_incref(parts->fresh));
        return 0;
    }
    return 0;
}

/* Devices that belong to different arrays end the state before anything is done. Missing ones alone don't: an
 * array may be made or assembled without them. */
static int
raid_present(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    json_auto_t *all = sub_call(ctx, err, "raid.list", NULL);
    raid_parts_t parts = { json_array(), json_array(), json_array(), json_array() };
    buf_auto_t comment = BUF_INIT;
    int rc = all != NULL ? raid_parts_of(ctx, args, &parts, err) : err->code;
    json_t *present = value_get(all, value_str(args, "name", ""));
    AUTO_FREE char *missing = value_repr(parts.missing), *why = rc == 0 ? why_not(&parts, present) : NULL;

    if (why != NULL)
        state_ret_set(ret, STATE_FALSE, "%s", why);
    else if (rc == 0)
        rc = (ctx_test(ctx) ? raid_foretell : raid_carry_out)(ctx, args, &parts, present != NULL, ret,
                                                              &comment, err);
    if (why == NULL && json_array_size(parts.missing) > 0)
        buf_printf(&comment, " Missing devices: %s", missing);
    if (why == NULL)
        state_ret_comment(ret, json_string(buf_str(&comment)));
    json_decref(parts.missing);
    json_decref(parts.fresh);
    json_decref(parts.used);
    json_decref(parts.uuids);
    return rc;
}

/* The change is told from the list as it was before. */
static int
raid_absent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *ret = *ret_value = state_ret_args(args);
    const char *name = value_str(args, "name", "");
    json_auto_t *all = sub_call(ctx, err, "raid.list", NULL);

    if (all == NULL)
        return err->code;
    if (value_get(all, name) == NULL)
        return state_ret_set(ret, STATE_TRUE, "Raid %s already absent", name);
    if (ctx_test(ctx)) {
        state_change_from(ret, name, json_incref(value_get(all, name)), NULL);
        return state_ret_set(ret, STATE_NONE, "Raid %s is set to be destroyed", name);
    }
    int gone = sub_call_bool(ctx, err, "raid.destroy", "{s:s}", "device", name);
    if (gone <= 0)
        return gone < 0 ? gone : state_ret_set(ret, STATE_FALSE, "Raid %s failed to be destroyed", name);
    state_change_from(ret, name, json_incref(value_get(all, name)), NULL);
    return state_ret_set(ret, STATE_TRUE, "Raid %s has been destroyed", name);
}

static const char *
state_raid_unavailable(call_ctx_t *ctx)
{
    return ctx_has(ctx, "raid.list") ? NULL : "Unable to locate command: mdadm";
}

static const arg_t present_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "The array"),
    ARG("level", ARG_ANY, ARG_REQUIRED, "Its level: 0, 1, 5, 6, 10, linear"),
    ARG("devices", ARG_LIST, ARG_REQUIRED, "Its members; missing: one less"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Long options of mdadm without the dashes: chunk: 256", "*"),
    ARGS_END,
};
static const arg_t absent_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "The array"), ARGS_END };

static const func_t funcs[] = {
    { "absent", raid_absent, absent_args, 0, "Ensure that an array is not there." },
    { "present", raid_present, present_args, 0, "Ensure that an array is there and has these devices." },
};

PLUGIN(state, mdadm_raid, .provides = "raid", .doc = "Arrays of Linux' software RAID", FUNCS(funcs),
       .unavailable = state_raid_unavailable);
