/* netlink.h - interfaces, addresses and routes straight from the kernel, in the shapes that Salt shows.
 *
 * Layer      common/host
 * Threads    any; each call opens its own socket
 * Errors     negative errno with the reason
 * Tests      tests/unit/common/test_netlink.c, tests/fuzz/fuzz_netlink.c
 */
#ifndef COMMON_HOST_NETLINK_H
#define COMMON_HOST_NETLINK_H

#include "salt/base.h"

struct nlmsghdr;

/* Takes the first message off *data, of which *left bytes are left. BORROWED; NULL: no whole one is left. */
const struct nlmsghdr *netlink_next(const char **data, size_t *left);

/* {"lo": {"up": true, "hwaddr": "00:...", "inet": [{"address", "netmask", "broadcast", "label"}],
 *  "inet6": [{"address", "prefixlen", "scope"}], "secondary": [...]}, ...} NEW, or NULL with *err. */
json_t *netlink_interfaces(fail_t *err);

/* Adds the interfaces of a datagram, and addresses to those that are there. 1: more follow; 0 or a negative
 * errno: it was the last. */
int netlink_take(void *data, size_t len, json_t *out);

/* The routes of the main and local tables: [{"addr_family", "destination", "gateway", "netmask", "flags",
 * "interface"}, ...]. NEW, or NULL with *err. */
json_t *netlink_routes(fail_t *err);

/* Ask how the kernel would reach `ip`: {"destination", "gateway" (or null), "interface", "source"}. NEW, or
 * NULL with *err. */
json_t *netlink_get_route(const char *ip, fail_t *err);

#endif
