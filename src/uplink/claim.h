/* claim.h - the grains that a minion claims in its hello for the master's autosign_grains_dir.
 *
 * Layer      uplink
 * Threads    any
 * Tests      tests/t/1100-auth.bats
 */
#ifndef UPLINK_CLAIM_H
#define UPLINK_CLAIM_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* {grain: text} of the option autosign_grains; `grains` may be NULL. What does not fit into a hello is left
 * out and logged. NEW, or NULL when nothing is claimed. */
json_t *claim_grains(const conf_t *conf, const json_t *grains);

#endif
