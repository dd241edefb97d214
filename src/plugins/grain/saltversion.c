/* saltversion.c - grains saltversion and saltversioninfo: which Salt this minion speaks as;
 * halite_version: which Halite it is. */
#include "common/base/str.h"
#include "salt/plugin.h"

static int
saltversion_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    char **parts = str_split(HALITE_VERSION, ".", true);
    json_t *info = json_array();

    for (size_t i = 0; parts[i] != NULL; i++)
        json_array_append_new(info, json_integer(strtoll(parts[i], NULL, 10)));
    strv_free(parts);
    json_object_set_new(out, "saltversion", json_string(HALITE_VERSION));
    json_object_set_new(out, "saltversioninfo", info);
    json_object_set_new(out, "halite_version", json_string(HALITE_RELEASE));
    return 0;
}

static const char *const keys[] = { "saltversion", "saltversioninfo", "halite_version", NULL };

PLUGIN(grain, saltversion, .doc = "The version of Salt that this minion speaks as, and its own.",
       .collect = saltversion_collect, .cost = GRAIN_CHEAP, .keys = keys);
