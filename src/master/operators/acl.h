/* acl.h - publisher_acl and publisher_acl_blacklist: which operators may run what on which minions.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/museum/operators.bats
 */
#ifndef MASTER_OPERATORS_ACL_H
#define MASTER_OPERATORS_ACL_H

#include "master/front/front.h"

/* True for administrators and users named in publisher_acl. */
bool acl_may_read(front_t *front, const lconn_t *c);
/* 0 when the connection's user may make this request: `reads`: whoever may read may; of others only "publish" is
 * for users, as publisher_acl says. What publisher_acl_blacklist names is for nobody. A negative errno with *err in
 * Salt's words, or -E2BIG when the request is too large to tell. */
int acl_lets(front_t *front, const lconn_t *c, const char *op, bool reads, const json_t *request,
             fail_t *err);
/* The same for what a user without administrator's rights publishes: {fun, arg, tgt, tgt_type}. */
int acl_lets_user(front_t *front, const char *user, const json_t *request, fail_t *err);

#endif
