/* fleeting.h - where libzmq keeps a handshake's secrets for the few microseconds it needs them.
 *
 * libzmq asks libsodium for six such places in every handshake, and each is a mapping of its own between
 * guard pages: ten system calls and as many interruptions of the other threads, a fifth of what a handshake
 * costs. With ten thousand minions that come back at once this is most of a second's waiting for each five.
 * Here they are places in one locked mapping that no core dump holds, wiped when they are given back;
 * libsodium keeps all others, the master's own key among them.
 *
 * Works by standing before sodium_allocarray and sodium_free, which libzmq calls, in programs that open it
 * and have libzmq and libsodium as shared libraries: the master.
 *
 * Layer      master (programs that link libsodium statically could not have it)
 * Threads    any
 * Errors     without memory to map, or with more asked for than there is, libsodium serves
 * Tests      tests/unit/master/test_fleeting.c
 */
#ifndef MASTER_JOBS_FLEETING_H
#define MASTER_JOBS_FLEETING_H

#include "salt/base.h"

#define FLEETING_PLACES 128
#define FLEETING_SIZE   512 /* bytes; a handshake's largest message has 420 */

/* Once, before the first socket. */
void fleeting_open(void);
/* How many places have been given out so far. */
uint64_t fleeting_served(void);

#endif
