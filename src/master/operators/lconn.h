/* lconn.h - an operator's connection to the local socket: what the operations' code tells it and asks of it.
 *
 * Answers and returns are never dropped: who leaves many unread is cut off. Events are: see listen.h.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1260-rogue.bats, tests/t/5000-events.bats, tests/t/7000-runners.bats
 */
#ifndef MASTER_OPERATORS_LCONN_H
#define MASTER_OPERATORS_LCONN_H

#include "master/front/front.h"

bool lconn_push(lconn_t *c, const json_t *msg); /* false: larger than LIMIT_LOCAL_MSG, not sent */
bool lconn_push_text(lconn_t *c, const char *text, size_t len);    /* the same, as JSON */
bool lconn_listen(lconn_t *c, const json_t *request, fail_t *err); /* to the events of this request */
/* Whether its user has not yet too many patterns of tags to ask for these too; an administrator never has. */
bool lconn_may_match(const lconn_t *c, const json_t *request, fail_t *err);
void lconn_begin(lconn_t *c); /* after the reply: they are sent */
void lconn_pause(lconn_t *c); /* nothing more is read from it until there is room in the journal */
const char *lconn_user(const lconn_t *c);
bool lconn_is_gone(const lconn_t *c); /* who asked has closed it: nobody reads an answer */
bool lconn_is_admin(const lconn_t *c);
void lconn_sign(lconn_t *c, json_t *line); /* who it is, for the audit log */
/* This job's returns and end too, as fast as it reads (catchup.h); and whether that is not over yet. */
void lconn_catch_up(lconn_t *c, const char *jid);
bool lconn_catches_up(const lconn_t *c, const char *jid);

#endif
