/* pygrains.c - see pygrains.h. Grains are gathered outside of jobs: the context has options and grains only. */
#include "pyhost/pygrains.h"

#include "common/plugin/call.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "pyhost/pyhost.h"

static json_t *
grains_so_far(void *cookie)
{
    return cookie;
}

json_t *
pygrains_gather(json_t *opts, json_t *grains, fail_t *err)
{
    const call_env_t env = {
        .opts = opts, .id = value_str(opts, "id", ""), .grains = grains_so_far, .cookie = grains
    };
    call_ctx_t *ctx = call_ctx_new(&env);
    json_t *found = NULL;

    if (pyhost_has(pyhost_of(ctx), PYKIND_grains, NULL)) {
        json_auto_t *task = json_pack("{s:b}", "grains", true);
        json_auto_t *last = pyhost_task(pyhost_of(ctx), task, err);
        AUTO(py) lists = last != NULL ? py_from_wire(value_get(last, "done")) : NULL;
        found = lists != NULL ? py_to_json(lists) : NULL;
        if (last != NULL && found == NULL)
            (void) fail_set(err, -EINVAL, "JSON can't say them");
    } else {
        found = json_array();
    }
    call_ctx_destroy(&ctx);
    return found;
}
