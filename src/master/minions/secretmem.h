/* secretmem.h - an allocator for the secrets that libzmq needs for the microseconds of a CURVE handshake.
 *
 * libzmq asks libsodium for six allocations in every handshake, each a mapping of its own between guard
 * pages: ten system calls and as many interrupts of the other threads, a fifth of a handshake's cost. When
 * ten thousand minions reconnect at once, that is most of one second in five. Here they are places in one
 * locked mapping that is left out of core dumps, wiped when freed; libsodium keeps all others, the master's
 * own key among them.
 *
 * The file defines sodium_allocarray and sodium_free, which libzmq calls, ahead of libsodium's. That works in
 * programs that call secretmem_open and link libzmq and libsodium as shared libraries: the master.
 *
 * Layer      master (programs that link libsodium statically could not have it)
 * Threads    any
 * Errors     without memory to map, or with more asked for than there is, libsodium serves
 * Tests      tests/unit/master/test_secretmem.c
 */
#ifndef MASTER_MINIONS_SECRETMEM_H
#define MASTER_MINIONS_SECRETMEM_H

#include "salt/base.h"

#define FLEETING_PLACES 128
#define FLEETING_SIZE   512 /* bytes; a handshake's largest message has 420 */

/* Call once, before the first socket; until then libsodium serves. Never closed. */
void secretmem_open(void);
/* Allocations served from the mapping since the start; for the test. */
uint64_t secretmem_served(void);

#endif
