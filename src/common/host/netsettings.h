/* netsettings.h - what is set on network interfaces, in pyroute2's words, and a socket that tells when it
 * changes.
 *
 * Layer      common/host
 * Threads    any; each call opens its own socket
 * Ownership  results are NEW
 * Errors     a negative errno with *err
 * Source     rtnetlink(7), linux/if_link.h
 * Tests      tests/cases/beacon/network_settings.json, tests/fuzz/fuzz_netlink.c
 */
#ifndef COMMON_HOST_NETSETTINGS_H
#define COMMON_HOST_NETSETTINGS_H

#include "salt/base.h"

/* {"lo": {"ifname", "index", "mtu", "txqlen", "operstate": "UP", "flags", "promiscuity", "address", "ipaddr":
 * [["127.0.0.1", 8]], ...}}. NULL with *err. */
json_t *netsettings(fail_t *err);
/* Adds the links of a datagram of the kernel, and addresses to those that are there. 1: more follow; 0: it
 * was the last. */
int netsettings_take(const void *data, size_t size, json_t *out, fail_t *err);
/* A descriptor that is readable when a link or an address changed; negative with *err. */
int netsettings_watch(fail_t *err);
/* Drops what such a descriptor has to say. */
void netsettings_drain(int fd);

#endif
