/* authline.h - the master's line to salt-auth, the program that asks the systems of external_auth: PAM, LDAP
 * and others may block for long, and the front loop must not. The program is started by the first question
 * and kept.
 *
 * The line is a socketpair of whole messages, a JSON object each, at most LIMIT_AUTH_MSG:
 *   question {"id", "system", "config": {its ^parameters}, "options": {its options}, "load": {username, password, ...},
 *            "places"?: ["ldap(NAME)"], "host": the argument of salt-engine, for systems in Python}
 *   answer   {"id", "ok": bool, "groups"?: [text], "rules"?: what he has besides the configuration's, "why"?: text for the log,
 *          "places"?: {"ldap(NAME)": [id]}}
 * A secret is never in an argument or in the environment.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1310-eauth.bats
 */
#ifndef MASTER_OPERATORS_AUTHLINE_H
#define MASTER_OPERATORS_AUTHLINE_H

#include "master/front/front.h"

typedef struct authline authline_t;
/* An answer, BORROWED; NULL: the program has ended, and with it all questions. */
typedef void authline_fn(void *cookie, const json_t *answer);

authline_t *authline_new(zloop_t *loop, authline_fn *fn, void *cookie);
void authline_destroy(authline_t **self_p);
/* Ends programs that were given up and go on. Now and then. */
void authline_tick(authline_t *self, int64_t now_ms);
/* 0, or a negative errno with *err: it can't be started, or takes no more questions. */
int authline_ask(authline_t *self, const json_t *question, fail_t *err);

#endif
