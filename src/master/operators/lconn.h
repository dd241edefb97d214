/* lconn.h - an operator's connection to the local socket, as the handlers of requests see it.
 *
 * Answers and returns are never dropped: a client that leaves too many unread is disconnected. Events may be
 * skipped, see listen.h.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/5000-events.bats, tests/t/7000-runners.bats
 */
#ifndef MASTER_OPERATORS_LCONN_H
#define MASTER_OPERATORS_LCONN_H

#include "master/front/front.h"

bool lconn_push(lconn_t *c, const json_t *msg); /* false: larger than LIMIT_LOCAL_MSG, not sent */
bool lconn_push_text(lconn_t *c, const char *text, size_t len);    /* the same for JSON text */
bool lconn_listen(lconn_t *c, const json_t *request, fail_t *err); /* subscribe; false with *err */
/* True when the user may have these patterns of tags as well; administrators always. */
bool lconn_may_match(const lconn_t *c, const json_t *request, fail_t *err);
void lconn_begin(lconn_t *c); /* call after the reply: events are sent from now on */
void lconn_pause(lconn_t *c); /* stop reading until the journal has room */
const char *lconn_user(const lconn_t *c);
bool lconn_is_gone(const lconn_t *c);  /* the client has closed: nobody reads an answer */
bool lconn_is_admin(const lconn_t *c); /* never of one that has become somebody */
bool lconn_is_admin_name(const front_t *front, const char *user); /* root's, or that of the master's user */
uid_t lconn_uid(const lconn_t *c);                                /* of the process at its other end */
/* From now on the connection speaks as this identity (acl.h), for good: its own user counts no more. A second
 * call changes who it is. TAKES *as_p. False with *err: that identity has as many connections as it may. */
bool lconn_become(lconn_t *c, json_t **as_p, fail_t *err);
const json_t *lconn_as(const lconn_t *c); /* BORROWED; NULL: it has become nobody */
/* End all connections that speak by the token with this hash. */
void lconn_end_token(front_t *front, const char *hash);
void lconn_sign(lconn_t *c, json_t *line); /* add uid, user, pid and program to an audit line */
/* Replay a job's returns and end as fast as the client reads (catchup.h); and true while that lasts. */
void lconn_catch_up(lconn_t *c, const char *jid);
bool lconn_catches_up(const lconn_t *c, const char *jid);

#endif
