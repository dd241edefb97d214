/* cached.h - what the master keeps of minions, for those that a target names.
 *
 * Layer      runners
 * Threads    any
 * Tests      tests/t/7010-runners-master.bats
 */
#ifndef RUNNERS_LIB_CACHED_H
#define RUNNERS_LIB_CACHED_H

#include "master/api.h"

/* {id: document} of the targets in `args` ("tgt", "tgt_type"; a null tgt: everybody) that `read` (api_pillar,
 * api_mine) knows something of. *ret_value NEW. */
int cached_of(call_ctx_t *ctx, json_t *args, json_t *(*read)(master_api_t *api, const char *id, fail_t *err),
              json_t **ret_value, fail_t *err);

#endif
