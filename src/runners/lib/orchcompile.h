/* orchcompile.h - from the arguments of an orchestration to its steps.
 *
 * Layer      runners/lib
 * Threads    the context's
 * Ownership  said per function
 * Errors     a list of texts in Salt's words is data (`errors`); *err is for arguments that make no sense
 * Tests      tests/t/6000-orchestrate.bats
 */
#ifndef RUNNERS_LIB_ORCHCOMPILE_H
#define RUNNERS_LIB_ORCHCOMPILE_H

#include "common/masterctx/masterctx.h"

/* A context of the master as a minion, for a runner that runs in `ctx`, with pillar and test mode as the
 * arguments {pillar, pillarenv, pillar_enc, saltenv, test} say. The pillar is compiled: errors in it are
 * `errors`. NEW, or NULL with *err. */
masterctx_t *orch_context(call_ctx_t *ctx, const json_t *args, json_t *errors, fail_t *err);

/* SLS files (text with commas, or a list) to low chunks in their order. NEW array; what can't be compiled is
 * in `errors`. */
json_t *orch_chunks(call_ctx_t *host, const json_t *mods, const char *saltenv, const json_t *exclude,
                    const char *jid, json_t *errors);
/* The same from high data. */
json_t *orch_chunks_of(call_ctx_t *host, const json_t *high, const char *jid, json_t *errors);

#endif
