/* netlist.h - lists of this host's addresses, each with the length of its network: collect, filter, sort.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Ownership  the list owns its rows: nets_free
 * Tests      tests/cases/exec/network.ip_addrs.json and its neighbours
 */
#ifndef PLUGINS_LIB_SYSTEM_NETLIST_H
#define PLUGINS_LIB_SYSTEM_NETLIST_H

#include "common/data/ipaddr.h"

typedef struct nets {
    ipnet_t *v;
    size_t n;
} nets_t;
#define nets_auto_t __attribute__((cleanup(nets_free))) nets_t

void nets_free(nets_t *s);
/* Sorted, each once. */
void nets_sort(nets_t *s);
/* Add the addresses of `proto` ("inet", "inet6") of the interfaces meant: globs in a list or in a text parted
 * by commas; None means all. 0, or a negative errno. */
int nets_collect(nets_t *out, const json_t *wanted, const char *proto, fail_t *err);

typedef bool net_keep_fn(const ipnet_t *net, const void *cookie);
/* Drop what `keep` refuses. */
void nets_filter(nets_t *s, net_keep_fn *keep, const void *cookie);
net_keep_fn net_not_loopback; /* no cookie */
net_keep_fn net_is_in;        /* the cookie is an ipnet_t */
net_keep_fn net_is_of_type;   /* the cookie is "public" or "private" */
net_keep_fn net_none;         /* keeps nothing */

#endif
