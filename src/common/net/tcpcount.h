/* tcpcount.h - the kernel's counters of a TCP connection, and its peer's address.
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

/* The number of written bytes that have not arrived, given our own count `said` of written bytes. A surplus
 * below `slack` is taken as an error of that count and corrected while the connection is idle; a larger one
 * is data that libzmq has not written yet. */
uint64_t tcp_unread(const tcp_counts_t *counts, uint64_t slack, uint64_t *said);

/* The peer's address without its port, "(unknown)" when it is gone. NEW text. */
char *tcp_address(int fd);

/* The same in binary, to store many: an IPv6 address (IPv4 mapped); zeros when the peer is gone. */
typedef struct tcp_peer {
    uint8_t bytes[16];
} tcp_peer_t;
tcp_peer_t tcp_peer(int fd);
char *tcp_peer_text(const tcp_peer_t *peer); /* NEW */

#endif
