/* proto.h - whether a master serves a minion's protocol, and a peer's claimed release.
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

/* NULL: compatible, as the minion's protocol is the master's or one of the WIRE_PROTO_BACK before it. Both
 * sides apply the same rule, so that minions keep working when the master is upgraded first. Else NEW text
 * that names both protocols and which side to upgrade. */
char *proto_problem(proto_side_t minion, proto_side_t master);

/* The release that a peer claims, if it looks like a semantic version; else "". */
void proto_release(const json_t *body, char out[LIMIT_RELEASE]);

#endif
