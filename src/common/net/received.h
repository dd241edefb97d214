/* received.h - what the kernel knows of a TCP connection whoever reads it.
 *
 * Layer      common/net
 * Threads    any
 * Tests      tests/unit/common/test_sock.c
 */
#ifndef COMMON_NET_RECEIVED_H
#define COMMON_NET_RECEIVED_H

#include "salt/base.h"

/* Bytes that have come in since it began, read or not; 0 when the descriptor is no TCP connection. */
uint64_t received_bytes(int fd);

/* NEW text: the other side's address without its port, "(unknown)" when it is gone. */
char *received_from(int fd);

#endif
