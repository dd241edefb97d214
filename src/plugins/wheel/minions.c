/* minions.c - wheel module `minions`: who is connected. */
#include "master/api.h"

static int
minions_connected(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *request = json_pack("{s:s}", "op", "minions"), *minion;
    json_auto_t *reply = NULL;
    const char *id;
    int rc = api_request(api_of(ctx), &request, &reply, err);

    if (rc < 0)
        return rc;
    *ret_value = json_array();
    json_object_foreach (value_get(reply, "minions"), id, minion)
        if (value_bool(minion, "connected", false))
            json_array_append_new(*ret_value, json_string(id));
    return 0;
}

static const func_t funcs[] = {
    { "connected", minions_connected, NULL, FN_READONLY | FN_ACCESS_READ,
      "List the minions that are connected now." CLI_EXAMPLE(
          "salt-run salt.cmd saltutil.wheel minions.connected") },
};

PLUGIN(wheel, minions, .doc = "Which minions are connected", FUNCS(funcs));
