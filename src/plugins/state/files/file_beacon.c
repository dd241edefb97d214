/* file_beacon.c - state module `file`, mod_beacon: what the argument `beacon` of file.managed and
 * file.directory does: it configures the beacon inotify for the path, with Salt's defaults and those of
 * `beacon_data`. */
#include "common/base/str.h"
#include "plugins/lib/salt/modbeacon.h"
#include "salt/value.h"

static int
file_mod_beacon(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const funs[] = { "managed", "directory", NULL };
    static const modbeacon_t how = { "file", "inotify", funs, "beacon state function" };
    if (!modbeacon_wanted(&how, args, ret_value))
        return 0;
    json_t *data = json_pack(
        "{s:o}", "mask", modbeacon_data(args, "mask", json_pack("[s, s, s]", "create", "delete", "modify")));
    if (str_eq(value_str(args, "sfun", ""), "directory")) {
        json_object_set_new(data, "auto_add", modbeacon_data(args, "auto_add", json_true()));
        json_object_set_new(data, "recurse", modbeacon_data(args, "recurse", json_true()));
        json_object_set_new(data, "exclude", modbeacon_data(args, "exclude", json_array()));
    }
    json_t *keys = json_pack("{s:{s:o}, s:o, s:o}", "files", value_str(args, "name", ""), data, "interval",
                             modbeacon_data(args, "interval", json_integer(60)), "coalesce",
                             modbeacon_data(args, "coalesce", json_false()));
    return modbeacon_present(ctx, &how, args, keys, ret_value, err);
}

static const arg_t mod_beacon_args[] = { MODBEACON_ARGS, ARGS_END };

static const func_t funcs[] = {
    { "mod_beacon", file_mod_beacon, mod_beacon_args, 0, "What ``beacon`` does: watch the file or folder." },
};

PLUGIN(state, file_beacon, .provides = "file", .doc = "Files: beacons", FUNCS(funcs));
