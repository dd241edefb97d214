/* interfaces.c - grains about network interfaces and their addresses, by getifaddrs(3) and in the order of
 * `ip address`: IPv4, IPv6, then the secondary IPv4 addresses. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netpacket/packet.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* An address as it is on the wire, by which it is sorted. */
typedef struct address {
    int family;
    uint8_t raw[16];
} address_t;

typedef struct address_set {
    address_t *items;
    size_t n;
} address_set_t;

static size_t
raw_len(int family)
{
    return family == AF_INET ? 4 : 16;
}

static int
interfaces_by_number(const void *a, const void *b)
{
    const address_t *x = a, *y = b;

    return memcmp(x->raw, y->raw, raw_len(x->family));
}

/* Each once, by number. */
static json_t *
interfaces_sorted_list(address_set_t *set)
{
    json_t *list = json_array();
    char text[INET6_ADDRSTRLEN];

    if (set->n > 0)
        qsort(set->items, set->n, sizeof(*set->items), interfaces_by_number);
    for (size_t i = 0; i < set->n; i++) {
        if (i > 0 && interfaces_by_number(&set->items[i - 1], &set->items[i]) == 0)
            continue;
        inet_ntop(set->items[i].family, set->items[i].raw, text, sizeof(text));
        json_array_append_new(list, json_string(text));
    }
    free(set->items);
    return list;
}

/* The member `name`, made when it is new. BORROWED. */
static json_t *
interfaces_list_of(json_t *interfaces, const char *name)
{
    json_t *list = value_get(interfaces, name);

    if (list == NULL) {
        list = json_array();
        json_object_set_new(interfaces, name, list);
    }
    return list;
}

/* An Ethernet address, or the IP address that a tunnel has in its place. */
static void
add_hardware(json_t *hardware, const char *name, const struct sockaddr_ll *link)
{
    char text[3 * sizeof(link->sll_addr) + INET6_ADDRSTRLEN];
    size_t len = link->sll_halen < sizeof(link->sll_addr) ? link->sll_halen : sizeof(link->sll_addr);
    buf_auto_t colons = BUF_INIT;

    for (size_t i = 0; i < len; i++)
        buf_printf(&colons, "%s%02x", i > 0 ? ":" : "", link->sll_addr[i]);
    if (len == 4)
        inet_ntop(AF_INET, link->sll_addr, text, sizeof(text));
    if (len > 0)
        json_object_set_new(hardware, name, json_string(len == 4 ? text : buf_str(&colons)));
}

static uint32_t
v4_of(const struct sockaddr *addr)
{
    return ((const struct sockaddr_in *) (const void *) addr)->sin_addr.s_addr;
}

/* The kernel's secondary addresses: not the first one of their network on the interface. Salt lists them
 * last. */
static bool
is_secondary(const struct ifaddrs *all, const struct ifaddrs *one)
{
    size_t len = strcspn(one->ifa_name, ":");

    for (const struct ifaddrs *i = all; i != one; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET || i->ifa_netmask == NULL ||
            strncmp(i->ifa_name, one->ifa_name, len) != 0 ||
            i->ifa_name[len + strspn(i->ifa_name + len, ":")] != '\0')
            continue;
        uint32_t mask = v4_of(i->ifa_netmask);
        if (one->ifa_netmask != NULL && mask == v4_of(one->ifa_netmask) &&
            (v4_of(i->ifa_addr) & mask) == (v4_of(one->ifa_addr) & mask))
            return true;
    }
    return false;
}

/* The material of the grains: objects {interface: [address]}, and the numbers of all addresses. */
typedef struct found {
    json_t *all, *v4, *v6, *hardware;
    address_set_t set4, set6;
} found_t;

/* One kind of addresses of all interfaces. */
static void
add_pass(found_t *found, const struct ifaddrs *all, int family, bool secondary)
{
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != family)
            continue;
        if (family == AF_INET && is_secondary(all, i) != secondary)
            continue;
        AUTO_FREE char *name = xstrndup(i->ifa_name,
                                        strcspn(i->ifa_name, ":")); /* a label is not an interface */

        /* Lists the address under its interface. */
        bool v4 = family == AF_INET;
        const void *raw =
            v4 ? (const void *) &((const struct sockaddr_in *) (const void *) i->ifa_addr)->sin_addr
               : (const void *) &((const struct sockaddr_in6 *) (const void *) i->ifa_addr)->sin6_addr;
        char text[INET6_ADDRSTRLEN];
        inet_ntop(family, raw, text, sizeof(text));
        json_array_append_new(interfaces_list_of(found->all, name), json_string(text));
        json_array_append_new(interfaces_list_of(v4 ? found->v4 : found->v6, name), json_string(text));

        /* Numbers are kept, as the lists are sorted by them. */
        address_set_t *set = v4 ? &found->set4 : &found->set6;
        set->items = xrealloc(set->items, (set->n + 1) * sizeof(*set->items));
        memset(&set->items[set->n], 0, sizeof(*set->items));
        set->items[set->n].family = family;
        memcpy(set->items[set->n++].raw, raw, raw_len(family));
    }
}

static int
interfaces_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    struct ifaddrs *all = NULL;
    found_t found = { json_object(), json_object(), json_object(), json_object(), { NULL, 0 }, { NULL, 0 } };
    int rc = 0;

    if (getifaddrs(&all) < 0)
        rc = fail_set(err, -errno, "cannot list the network interfaces: %s", strerror(errno));

    /* Interfaces without addresses have empty lists. */
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        if (i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_PACKET)
            continue;
        interfaces_list_of(found.all, i->ifa_name);
        interfaces_list_of(found.v4, i->ifa_name);
        interfaces_list_of(found.v6, i->ifa_name);
        add_hardware(found.hardware, i->ifa_name, (const struct sockaddr_ll *) (const void *) i->ifa_addr);
    }

    add_pass(&found, all, AF_INET, false);
    add_pass(&found, all, AF_INET6, false);
    add_pass(&found, all, AF_INET, true);
    freeifaddrs(all);
    json_object_set_new(out, "ip_interfaces", found.all);
    json_object_set_new(out, "ip4_interfaces", found.v4);
    json_object_set_new(out, "ip6_interfaces", found.v6);
    json_object_set_new(out, "hwaddr_interfaces", found.hardware);
    json_object_set_new(out, "ipv4", interfaces_sorted_list(&found.set4));
    json_object_set_new(out, "ipv6", interfaces_sorted_list(&found.set6));
    return rc;
}

static const char *const keys[] = {
    "ip_interfaces", "ip4_interfaces", "ip6_interfaces", "hwaddr_interfaces", "ipv4", "ipv6", NULL
};

PLUGIN(grain, interfaces, .doc = "Network interfaces and their addresses.", .collect = interfaces_collect,
       .cost = GRAIN_CHEAP, .keys = keys);
