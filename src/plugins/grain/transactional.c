/* transactional.c - grain transactional: whether the system is changed by snapshots (transactional-update).
 */
#include "common/host/rootfs.h"
#include "salt/plugin.h"

static int
transactional_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    AUTO_FREE char *tool = root_which(ctx->root, "transactional-update");

    json_object_set_new(out, "transactional", json_boolean(tool != NULL));
    return 0;
}

static const char *const keys[] = { "transactional", NULL };

PLUGIN(grain, transactional, .doc = "Whether the system is changed by snapshots.",
       .collect = transactional_collect, .cost = GRAIN_CHEAP, .keys = keys);
