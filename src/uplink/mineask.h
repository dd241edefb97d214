/* mineask.h - requests about the mine to a master over a session: sent again after a lost connection,
 * answered within a minute or failed with ETIMEDOUT; and those about jobs on other minions, which are sent
 * once, may take "timeout" seconds more, and fail with ECONNRESET when their connection is lost.
 *
 * Requested through download.h with {"what": "mine" or "peer", "op", ...}, where the rest is the body of the
 * message mine_ask or peer_ask. The answer's value is the mine's, or {"value"} or {"refused": why} of peer.
 *
 * Layer      uplink
 * Threads    the session's
 * Tests      tests/t/7100-mine.bats, tests/t/7110-peer.bats
 */
#ifndef UPLINK_MINEASK_H
#define UPLINK_MINEASK_H

#include "uplink/download.h"

typedef struct mineasks mineasks_t;

mineasks_t *mineasks_new(const download_host_t *host); /* NEW */
void mineasks_destroy(mineasks_t **self_p);
void mineasks_ask(mineasks_t *self, json_int_t id, const json_t *ask);
void mineasks_cancel(mineasks_t *self, json_int_t id);
void mineasks_ready(mineasks_t *self);
void mineasks_lost(mineasks_t *self);
void mineasks_take(mineasks_t *self, mineasks_t *from); /* see downloads_take */
void mineasks_message(mineasks_t *self, const json_t *body);
int mineasks_step(mineasks_t *self); /* milliseconds until it wants to be called again at the latest */

#endif
