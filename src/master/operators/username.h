/* username.h - look up names of local users without blocking: a directory service that hangs must not stall
 * the front loop.
 *
 * Layer      master
 * Threads    the front loop's; each query has a thread of its own, connected by a socket only
 * Tests      tests/t/5000-events.bats
 */
#ifndef MASTER_OPERATORS_USERNAME_H
#define MASTER_OPERATORS_USERNAME_H

#include "salt/base.h"

/* Look up now, however long it takes. NEW; the uid as text when there is no such user. */
char *username_of(uid_t uid);
/* Start a query: a NEW descriptor that becomes readable with the answer, or -errno without descriptor or
 * thread. */
int username_ask(uid_t uid);
/* Read the answer and close the descriptor. NEW, as username_of. */
char *username_take(int fd, uid_t uid);

#endif
