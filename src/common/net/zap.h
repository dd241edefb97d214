/* zap.h - admission to CURVE handshakes: an actor that answers libzmq's ZAP requests from its own copy
 * of the key table.
 *
 * czmq's zauth has one policy for all sockets; here domain "req" (ROUTER) lets in every key that is not
 * rejected, so that unknown minions can ask for acceptance, and domain "pub" lets in accepted keys only. The
 * User-Id of each connection is its key in Z85, so every message carries its sender.
 *
 * Layer      common/net (czmq actor; ZAP is ZeroMQ RFC 27)
 * Threads    its own; the owner talks through these functions
 * Tests      tests/unit/common/test_zap.c
 */
#ifndef COMMON_NET_ZAP_H
#define COMMON_NET_ZAP_H

#include "salt/base.h"

typedef struct zap zap_t;

typedef enum zap_verdict { ZAP_UNKNOWN, ZAP_ACCEPTED, ZAP_REJECTED, ZAP_PENDING } zap_verdict_t;
typedef enum zap_door {
    ZAP_OPEN,
    ZAP_KNOWN, /* unknown keys are refused (they retry later) */
    ZAP_SHUT   /* all are */
} zap_door_t;

/* Must exist before the first CURVE server binds. NEW, or NULL with *err. */
zap_t *zap_new(fail_t *err);
void zap_destroy(zap_t **self_p);
/* Set the table's entry of a key (Z85): a request that arrives after this call sees it. */
void zap_set(zap_t *self, const char *z85, zap_verdict_t verdict);
void zap_set_door(zap_t *self, zap_door_t door);

#endif
