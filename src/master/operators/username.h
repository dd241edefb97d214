/* username.h - the names of local users, asked for without waiting: a directory service that hangs must not
 * hold up the front loop.
 *
 * Layer      master
 * Threads    the front loop's; each question has a thread of its own, which shares nothing but a socket with it
 * Tests      tests/t/5000-events.bats
 */
#ifndef MASTER_OPERATORS_USERNAME_H
#define MASTER_OPERATORS_USERNAME_H

#include "salt/base.h"

/* Now, however long it takes. NEW; the number as text when there is no such user. */
char *username_of(uid_t uid);
/* NEW descriptor that becomes readable when the answer is there, or -errno: there is no descriptor, or no
 * thread. */
int username_ask(uid_t uid);
/* Takes the answer, and closes the descriptor. NEW, as username_of. */
char *username_take(int fd, uid_t uid);

#endif
