/* ipaddr.h - IP addresses and networks with the meaning of Python's ipaddress module.
 *
 * Layer      common/data
 * Threads    any; plain values
 * Errors     -EINVAL in Python's words: "'x' does not appear to be an IPv4 or IPv6 address"
 * Tests      tests/unit/common/test_ipaddr.c, with answers recorded from ipaddress
 */
#ifndef COMMON_DATA_IPADDR_H
#define COMMON_DATA_IPADDR_H

#include "salt/base.h"

typedef struct ip {
    int version;   /* 4 or 6 */
    uint8_t b[16]; /* network order; the first 4 for version 4 */
} ip_t;

typedef struct ipnet {
    ip_t addr;     /* as written, or the first address after ipnet_parse */
    unsigned bits; /* length of the prefix */
} ipnet_t;

/* ip_address(text). */
int ip_parse(const char *text, ip_t *out, fail_t *err);
/* NEW compressed text. */
char *ip_text(const ip_t *ip);
/* Negative, 0 or positive. Version 4 sorts before version 6, then by value. */
int ip_cmp(const ip_t *a, const ip_t *b);
/* The properties of the same names of ipaddress, for both versions. */
bool ip_is_loopback(const ip_t *ip);
bool ip_is_private(const ip_t *ip);
bool ip_is_multicast(const ip_t *ip);
bool ip_is_link_local(const ip_t *ip);
bool ip_is_reserved(const ip_t *ip);
bool ip_is_unspecified(const ip_t *ip);
/* NEW name of the PTR record: "1.0.0.127.in-addr.arpa", or 32 nibbles under ip6.arpa. */
char *ip_reverse(const ip_t *ip);

/* ip_network(text, strict): "10.0.0.0/8", "10.0.0.0/255.0.0.0", "::/0", or an address alone. With `strict`
 * bits behind the prefix are refused, else they are cut. */
int ipnet_parse(const char *text, bool strict, ipnet_t *out, fail_t *err);
/* The same, but `addr` keeps all its bits: ip_interface(text). */
int ipnet_parse_interface(const char *text, ipnet_t *out, fail_t *err);
/* False for an address of the other version. ipnet_cmp orders by address, then by prefix length. The first
 * address of a network is its network address, the last one its broadcast address. */
bool ipnet_contains(const ipnet_t *net, const ip_t *ip);
int ipnet_cmp(const ipnet_t *a, const ipnet_t *b);
ip_t ipnet_first(const ipnet_t *net);
ip_t ipnet_last(const ipnet_t *net);
/* 255.0.0.0 for a prefix of 8 bits, in the version of the network. */
ip_t ipnet_mask(const ipnet_t *net);
/* NEW "10.0.0.0/8". */
char *ipnet_text(const ipnet_t *net);

#endif
