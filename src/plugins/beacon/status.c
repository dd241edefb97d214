/* status.c - beacon status: what functions of the module `status` return, or parts of it: a list of
 * {function: [keys or numbers, or all]}. Without a list five functions are told whole. The tag is the time of
 * the look, as in Salt. A function that fails is left empty. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/plugin.h"

/* NEW: the wanted parts of a function's return. A part that is not there makes it a text, as in Salt. */
static json_t *
status_parts(json_t *data, const json_t *wanted)
{
    json_auto_t *alone = json_is_array(wanted) ? NULL : json_pack("[O]", wanted);
    json_t *out = json_object(), *item;
    size_t i;
    json_array_foreach (alone != NULL ? alone : wanted, i, item) {
        AUTO_FREE char *key = value_pystr(item);
        char *end;
        long at = strtol(key, &end, 10);
        bool number = *key != '\0' && *end == '\0' && at >= 0;
        if (str_eq(key, "all")) {
            json_decref(out);
            out = json_incref(data);
            continue;
        }
        json_t *part = json_is_array(data) ? (number ? json_array_get(data, (size_t) at) : NULL)
                                           : value_get(data, key);
        if (part != NULL && json_is_object(out)) {
            if (out == data) {
                json_decref(out);
                out = json_copy(data);
            }
            json_object_set(out, key, part);
            continue;
        }
        AUTO_FREE char *shown = value_repr(item);
        json_decref(out);
        out = value_fmt("Status beacon is incorrectly configured: %s", shown);
    }
    return out;
}

static int
status_look(beacon_look_t *look, fail_t *err)
{
    char stamp[CLOCK_STAMP_LEN];
    json_auto_t *all = json_pack("[{s:[s], s:[s], s:[s], s:[s], s:[s]}]", "loadavg", "all", "cpustats", "all",
                                 "meminfo", "all", "vmstats", "all", "time", "all");
    json_t *list = json_array_size(look->list) > 0 ? look->list : all, *entry, *wanted;
    json_auto_t *ret = json_object();
    size_t i;
    const char *name;
    clock_stamp(stamp, clock_wall_us());
    json_array_foreach (list, i, entry)
        json_object_foreach (entry, name, wanted) {
            AUTO_FREE char *fun = xasprintf("status.%s", name);
            json_auto_t *data = NULL;
            fail_auto_t why = FAIL_INIT;
            json_object_set_new(ret, name, json_object());
            if (ctx_call(look->ctx, fun, NULL, NULL, &data, &why) == 0)
                json_object_set_new(ret, name, status_parts(data, wanted));
            else if (why.kind == FAIL_COMMAND)
                log_debug("Status beacon attempted to process function %s but encountered error: %s", name,
                          fail_text(&why));
            else
                return fail_set(err, why.code, "%s", fail_text(&why));
        }
    json_array_append_new(look->events, json_pack("{s:s, s:O}", "tag", stamp, "data", ret));
    return 0;
}

static const beacon_row_t row = { .look = status_look, .every_s = 60, .calls = true };

PLUGIN(beacon, status,
       .doc = "Fires what functions of the module `status` return, under a tag with the time.",
       .beacon = &row);
