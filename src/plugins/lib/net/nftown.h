/* nftown.h - a rule of nftables in nft's own words: `tcp dport ssh` is `tcp dport 22`.
 *
 * Layer      plugins/lib/net
 * Threads    as the context
 * Ownership  results are NEW
 * Errors     NULL with *err: the program could not be started
 * Tests      tests/cases/exec/nftables.check.json
 */
#ifndef PLUGINS_LIB_NET_NFTOWN_H
#define PLUGINS_LIB_NET_NFTOWN_H

#include "salt/plugin.h"

/* The statement (nftrules.h) as nft lists it in the chain of `place` ("ip filter input"), whose table it lists as
 * `table`. "" where nft can't tell: it refuses the rule, or this process may make no network namespace. */
char *nft_own_words(call_ctx_t *ctx, const char *place, const char *table, const char *statement,
                    fail_t *err);

#endif
