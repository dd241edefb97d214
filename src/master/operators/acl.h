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
/* True when publisher_acl allows this request to a user who is not an administrator. */
bool acl_lets(front_t *front, const char *user, const char *op, const json_t *request);
/* True when publisher_acl_blacklist forbids it; applies to root as well. */
bool acl_blocks(front_t *front, const char *user, const json_t *request);

#endif
