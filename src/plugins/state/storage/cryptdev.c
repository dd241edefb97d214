/* cryptdev.c - states cryptdev.mapped and cryptdev.unmapped: an encrypted device, open now (`immediate`, by
 * cryptsetup(8)) and in crypttab(5) (`persist`). Both may change in one run; the worse result counts, and
 * there is no comment, as in Salt. */
#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "salt/state.h"

/* 1 when the device is mapped, 0, or negative with *err. */
static int
cryptdev_is_active(call_ctx_t *ctx, const char *name, fail_t *err)
{
    json_auto_t *active = sub_call(ctx, err, "cryptdev.active", NULL);

    return active == NULL ? err->code : value_get(active, name) != NULL;
}

/* Sets a change, or foretells it; `did` 0: the program said no. */
static void
cryptdev_changed(call_ctx_t *ctx, json_t *ret, const char *key, const char *text, int did)
{
    state_change(ret, key, json_string(text));
    if (did == 0)
        (void) state_ret_set(ret, STATE_FALSE, "%s", "");
    else if (ctx_test(ctx) && !json_is_false(value_get(ret, "result")))
        (void) state_ret_set(ret, STATE_NONE, "%s", "");
}

/* Opens the device. Without a file of the key cryptsetup would ask on a terminal that is not there. */
static int
cryptdev_map_now(call_ctx_t *ctx, const json_t *args, json_t *ret, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *keyfile = value_str(args, "keyfile", "none");

    if (strcmp(keyfile, "none") == 0 || strcmp(keyfile, "-") == 0) {
        cryptdev_changed(ctx, ret, "cryptsetup", "Device cannot be mapped immediately without a keyfile", 0);
        return 0;
    }
    int active = cryptdev_is_active(ctx, name, err);
    if (active != 0)
        return active < 0 ? active : 0;
    int did = ctx_test(ctx) ? 1
                            : sub_call_bool(ctx, err, "cryptdev.open", "{s:s, s:s, s:s}", "name", name,
                                            "device", value_str(args, "device", ""), "keyfile", keyfile);
    if (did < 0)
        return did;
    cryptdev_changed(ctx, ret, "cryptsetup",
                     did > 0 ? "Device mapped using cryptsetup" : "Device failed to map using cryptsetup",
                     did);
    return 0;
}

/* The device first, then crypttab, each only if it is asked for; a device that failed to map still gets its
 * line. */
static int
cryptdev_mapped(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool persist = value_truthy(value_get(args, "persist")), now = value_truthy(value_get(args, "immediate"));
    const char *config = value_str(args, "config", "");
    json_t *ret = *ret_value = state_ret_args(args);

    if (!persist && !now)
        return state_ret_set(ret, STATE_FALSE,
                             "Either persist or immediate must be set, otherwise this state does nothing");
    int rc = now ? cryptdev_map_now(ctx, args, ret, err) : 0;
    if (rc < 0 || !persist)
        return rc;
    json_auto_t *did = sub_call_text(ctx, err, "cryptdev.set_crypttab", "{s:s, s:s, s:O, s:O, s:s, s:b, s:O}",
                                     "name", value_str(args, "name", ""), "device",
                                     value_str(args, "device", ""), "password", value_get(args, "keyfile"),
                                     "options", value_get(args, "opts"), "config", config, "test",
                                     ctx_test(ctx), "match_on", value_get(args, "match_on"));
    if (did == NULL)
        return err->code;
    AUTO_FREE char *text = str_eq(json_string_value(did), "new")
                               ? xasprintf("Entry added in %s", config)
                               : xasprintf("Existing entry in %s changed", config);
    if (!str_eq(json_string_value(did), "present"))
        cryptdev_changed(ctx, ret, "crypttab", text, 1);
    return 0;
}

/* The device is closed first, then its line goes, each only where it is asked for. */
static int
cryptdev_unmapped(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", ""), *config = value_str(args, "config", "");
    json_t *ret = *ret_value = state_ret_args(args);
    int active = value_truthy(value_get(args, "immediate")) ? cryptdev_is_active(ctx, name, err) : 0;

    if (active > 0) {
        int did = ctx_test(ctx) ? 1 : sub_call_bool(ctx, err, "cryptdev.close", "{s:s}", "name", name);
        if (did < 0)
            return did;
        cryptdev_changed(
            ctx, ret, "cryptsetup",
            did > 0 ? "Device unmapped using cryptsetup" : "Device failed to unmap using cryptsetup", did);
    }
    if (active < 0 || !value_truthy(value_get(args, "persist")))
        return active < 0 ? active : 0;
    json_auto_t *entries = sub_call(ctx, err, "cryptdev.crypttab", "{s:s}", "config", config);
    if (entries == NULL)
        return err->code;
    bool there = value_get(entries, name) != NULL;
    if (!ctx_test(ctx)) { /* also when nothing is there, since a file that can't be read fails the state */
        json_auto_t *did = sub_call(ctx, err, "cryptdev.rm_crypttab", "{s:s, s:s}", "name", name, "config",
                                    config);
        if (did == NULL)
            return err->code;
    }
    AUTO_FREE char *text = xasprintf("Entry removed from %s", config);
    if (there)
        cryptdev_changed(ctx, ret, "crypttab", text, 1);
    return 0;
}

#define NAME_ROW      ARG("name", ARG_STR, ARG_REQUIRED, "Name of the mapped device")
#define CONFIG_ROW    ARG("config", ARG_STR, "\"/etc/crypttab\"", "The file")
#define PERSIST_ROW   ARG("persist", ARG_ANY, "true", "In the file")
#define IMMEDIATE_ROW ARG("immediate", ARG_ANY, "false", "Now, by cryptsetup")

static const arg_t mapped_args[] = { NAME_ROW,
                                     ARG("device", ARG_STR, ARG_REQUIRED, "The encrypted device"),
                                     ARG("keyfile", ARG_STR, "null", "File of its key"),
                                     ARG("opts", ARG_ANY, "null", "Options of crypttab: a text, or a list"),
                                     CONFIG_ROW,
                                     PERSIST_ROW,
                                     IMMEDIATE_ROW,
                                     ARG("match_on", ARG_ANY, "\"name\"",
                                         "Fields by which a line is that device's"),
                                     ARGS_END };
static const arg_t unmapped_args[] = { NAME_ROW, CONFIG_ROW, PERSIST_ROW, IMMEDIATE_ROW, ARGS_END };

static const func_t funcs[] = {
    { "mapped", cryptdev_mapped, mapped_args, 0, "The device is in crypttab, and open." },
    { "unmapped", cryptdev_unmapped, unmapped_args, 0, "The device is not in crypttab, and closed." },
};

PLUGIN(state, cryptdev, .doc = "Encrypted devices", FUNCS(funcs));
