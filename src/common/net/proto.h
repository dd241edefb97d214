/* proto.h - whether a master serves a minion of its protocol, and which Halite a peer says it is.
 *
 * Layer      common/net
 * Threads    any
 * Tests      tests/unit/common/test_wire.c, tests/t/1280-versions.bats
 */
#ifndef COMMON_NET_PROTO_H
#define COMMON_NET_PROTO_H

#include "salt/base.h"
#include "salt/limits.h"

typedef struct proto_side {
    json_int_t proto;
    const char *release; /* NULL or "": not known, or not for the other's eyes */
} proto_side_t;

/* NULL: they understand each other, as the minion's protocol is the master's or one of the WIRE_PROTO_BACK
 * before it: both sides go by the same rule, so that a minion goes on with a master that is upgraded
 * first. Else NEW text that names both and says which of them to upgrade. */
char *proto_problem(proto_side_t minion, proto_side_t master);

/* What a peer says its Halite is, as far as it is a semantic version: a claim. Else "". */
void proto_release(const json_t *body, char out[LIMIT_RELEASE]);

#endif
