/* acl.h - which operators may ask the master for what: publisher_acl, publisher_acl_blacklist, external_auth.
 * The rules themselves are common/rules.
 *
 * An identity (`as`) is what a connection has become by a login, BORROWED; NULL: a user of this host, for
 * whom publisher_acl speaks. {"user", "eauth", "groups": [text], "start", "expire": seconds since 1970,
 * "hash": of its token, "", "rules"?: those of the login, with keep_acl_in_token, "granted"?: those that a
 * system gave, which then hold instead of the configuration's, "granted_by": its name}.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/1310-eauth.bats, tests/museum/operators.bats
 */
#ifndef MASTER_OPERATORS_ACL_H
#define MASTER_OPERATORS_ACL_H

#include "common/rules/rules.h"
#include "master/front/front.h"

typedef enum acl_access { ACL_ANY, ACL_READ, ACL_PUB, ACL_ADMIN } acl_access_t; /* columns of requests.def */

#define ACL_PLACE "ldap(" /* begins a target whose minions the system of the login has told */

/* True for administrators, users named in publisher_acl and who has become somebody; `acl_may_come`: also for
 * those who could log in. */
bool acl_may_read(front_t *front, const lconn_t *c);
bool acl_may_come(front_t *front, const lconn_t *c);
/* True when users of this host other than administrators have something to ask for: the socket is open to
 * them. */
bool acl_is_open(const front_t *front);
/* 0 when the connection may make this request. A negative errno with *err in Salt's words, or -E2BIG when the
 * request is too large to tell. */
int acl_lets(front_t *front, const lconn_t *c, const char *op, acl_access_t access, const json_t *request,
             fail_t *err);
/* The same for what a user without administrator's rights publishes: {fun, arg, tgt, tgt_type}. */
int acl_lets_user(front_t *front, const char *user, const json_t *as, const json_t *request, fail_t *err);

/* 0 when the option peer lets the minion `id` have this published, as `user`; publisher_acl_blacklist holds. */
int acl_lets_minion(front_t *front, const char *id, const char *user, const json_t *request, fail_t *err);
/* 0 when the option peer_run lets the minion `id` run a runner. */
int acl_lets_minion_run(front_t *front, const char *id, const char *fun, fail_t *err);

/* True until the identity's time is over, or external_auth names its system no more; of NULL always. */
bool acl_holds(const front_t *front, const json_t *as);
/* A user's rules as they are now. NEW; *ret_by (may be NULL) NEW: the key of the option that each comes
 * from. */
json_t *acl_rules(front_t *front, const char *user, const json_t *as, json_t **ret_by);

/* Which rule decides about one function: the request `explain`. `request` {form, user, eauth?, groups?, fun,
 * arg, tgt, tgt_type}. NEW {"allowed", "option", "key"?, "rule"?, "target"?, "call"?, "why"}; NULL with
 * *err. */
json_t *acl_explain(front_t *front, const json_t *request, fail_t *err);

#endif
