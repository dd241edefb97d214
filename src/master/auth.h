/* auth.h - who may be here: hello, acceptance, and the life of a minion's key.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1100-auth.bats, tests/t/1130-key-life.bats, tests/unit/master/test_front.c
 */
#ifndef MASTER_AUTH_H
#define MASTER_AUTH_H

#include "master/peers.h"

struct front;

int auth_load(struct front *self, fail_t *err); /* key files to tables; also after SIGHUP */
void auth_hello(struct front *self, peer_t *peer, const json_t *body);
void auth_disconnected(struct front *self, peer_t *peer);
void auth_subscribed(struct front *self, const char *z85, int fd);
void auth_rivals(struct front *self, int64_t now_ms);
/* A local key_apply: NEW {done: [id], failed: {id: reason}}. */
json_t *auth_apply(struct front *self, const char *action, const json_t *ids, const json_t *from,
                   fail_t *err);
void auth_revoke(struct front *self, peer_t *peer, bool keep_data); /* may end `peer` */
char auth_state_letter(const peer_t *peer);

#endif
