/* tcpcount.h - what the kernel knows of a TCP connection, whoever reads and writes it.
 *
 * Layer      common/net
 * Threads    any
 * Tests      tests/unit/common/test_sock.c
 */
#ifndef COMMON_NET_TCPCOUNT_H
#define COMMON_NET_TCPCOUNT_H

#include "salt/base.h"

typedef struct tcp_counts {
    uint64_t received; /* bytes that have come in since it began, read or not */
    uint64_t acked;    /* bytes that the other side has */
    bool idle;         /* nothing is on its way there */
} tcp_counts_t;

/* false, and zeros, when the descriptor is no TCP connection. */
bool tcp_counts(int fd, tcp_counts_t *ret_counts);

/* How many of the bytes that were written by our count, `said`, have not arrived. What our count is wrong
 * by, less than `slack`, goes out of it while nothing is on its way; more is what libzmq has not written
 * yet. */
uint64_t tcp_unread(const tcp_counts_t *counts, uint64_t slack, uint64_t *said);

/* NEW text: the other side's address without its port, "(unknown)" when it is gone. */
char *tcp_address(int fd);

/* The same as bytes, for who keeps many: of IPv6, which holds IPv4's; zeros when it is gone. */
typedef struct tcp_peer {
    uint8_t bytes[16];
} tcp_peer_t;
tcp_peer_t tcp_peer(int fd);
char *tcp_peer_text(const tcp_peer_t *peer); /* NEW */

#endif
