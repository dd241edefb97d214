/* modbeacon.c - see modbeacon.h. */
#include "plugins/lib/salt/modbeacon.h"

#include "common/base/str.h"
#include "salt/value.h"

bool
modbeacon_wanted(const modbeacon_t *how, const json_t *args, json_t **ret_value)
{
    const char *sfun = value_str(args, "sfun", "None");
    size_t i = 0;
    *ret_value = state_ret_args(args);
    while (how->funs[i] != NULL && !str_eq(how->funs[i], sfun))
        i++;
    if (how->funs[i] == NULL) {
        (void) state_ret_set(*ret_value, STATE_FALSE, "%s.%s does not work with the %s", how->state, sfun,
                             how->refusal);
        return false;
    }
    if (!value_truthy(value_get(args, "beacon"))) {
        (void) state_ret_set(*ret_value, STATE_TRUE, "Not adding beacon.");
        return false;
    }
    json_decref(STEAL(*ret_value));
    return true;
}

json_t *
modbeacon_data(const json_t *args, const char *key, json_t *dflt)
{
    json_t *v = value_get(value_get(args, "beacon_data"), key);
    if (v == NULL)
        return dflt;
    json_decref(dflt);
    return json_incref(v);
}

int
modbeacon_present(call_ctx_t *ctx, const modbeacon_t *how, const json_t *args, json_t *keys,
                  json_t **ret_value, fail_t *err)
{
    json_auto_t *kwargs = json_pack("{s:o}", "name",
                                    value_fmt("beacon_%s_%s", how->beacon, value_str(args, "name", "")));
    json_auto_t *rest = keys;
    json_object_update(kwargs, rest);
    json_object_set_new(kwargs, "beacon_module", json_string(how->beacon));
    return ctx_state(ctx, "beacon.present", kwargs, ret_value, err);
}
