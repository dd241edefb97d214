/* rotate.h - the master's own key, and its successor while the master runs: who is connected is told, the
 * ports take the new key, and all come back. Jobs and what waits in the sockets stay.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1110-key-rotation.bats
 */
#ifndef MASTER_ROTATE_H
#define MASTER_ROTATE_H

#include "keyring/masterkey.h"
#include "master/peers.h"

typedef struct rotation {
    masterkey_t key;
    json_t *claim;   /* owned: what the plaintext port says of it */
    int64_t tell_ms; /* monotonic: until then everybody who greets is told the key; 0: done */
} rotation_t;

struct front;

int rotate_open(struct front *self, fail_t *err); /* the key, when the master starts */
void rotate_close(struct front *self);
/* A local key_rotate: NEW {finger, serial, told: connections}. */
json_t *rotate_request(struct front *self, fail_t *err);
void rotate_greeted(struct front *self, peer_t *peer); /* it may have shaken hands while the key changed */
void rotate_tick(struct front *self, int64_t now_ms);

#endif
