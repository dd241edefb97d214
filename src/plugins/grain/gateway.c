/* gateway.c - grains ip_gw, ip4_gw and ip6_gw: for each family the default route with the lowest metric, from
 * /proc/net. */
#include <arpa/inet.h>

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* Bits of the flags: RTF_REJECT and RTF_GATEWAY of linux/route.h and linux/ipv6_route.h. */
enum { ROUTE_REJECT = 0x0200, ROUTE_GATEWAY = 0x0002 };

/* The best default route so far. */
typedef struct route {
    bool found;
    unsigned long metric;
    char via[INET6_ADDRSTRLEN]; /* "" for one without a gateway */
} route_t;

/* True for the first route, and for a lower metric. */
static bool
better(const route_t *best, unsigned long metric)
{
    return !best->found || metric < best->metric;
}

/* Iface Destination Gateway Flags RefCnt Use Metric Mask ...; addresses are hexadecimal in the host's byte
 * order. */
static void
take_v4(route_t *best, char **word, size_t n)
{
    if (n < 8 || !str_eq(word[1], "00000000") || !str_eq(word[7], "00000000"))
        return;
    unsigned long flags = strtoul(word[3], NULL, 16), metric = strtoul(word[6], NULL, 10);
    if ((flags & ROUTE_REJECT) != 0 || !better(best, metric))
        return;
    struct in_addr addr = { .s_addr = (in_addr_t) strtoul(word[2], NULL, 16) };
    *best = (route_t){ .found = true, .metric = metric };
    if ((flags & ROUTE_GATEWAY) != 0)
        inet_ntop(AF_INET, &addr, best->via, sizeof(best->via));
}

/* destination length source length gateway metric refcount use flags device; all hexadecimal. */
static void
take_v6(route_t *best, char **word, size_t n)
{
    struct in6_addr addr;

    if (n < 10 || !str_eq(word[1], "00") || strspn(word[0], "0") != 32 || str_eq(word[9], "lo"))
        return;
    unsigned long flags = strtoul(word[8], NULL, 16), metric = strtoul(word[5], NULL, 16);
    if ((flags & ROUTE_REJECT) != 0 || !better(best, metric) || strlen(word[4]) != 32)
        return;
    for (size_t i = 0; i < 16; i++) {
        char byte[3] = { word[4][2 * i], word[4][2 * i + 1], '\0' };
        addr.s6_addr[i] = (uint8_t) strtoul(byte, NULL, 16);
    }
    *best = (route_t){ .found = true, .metric = metric };
    if ((flags & ROUTE_GATEWAY) != 0)
        inet_ntop(AF_INET6, &addr, best->via, sizeof(best->via));
}

/* Address of the gateway; True for a route without one; False when there is none. NEW. */
static json_t *
default_route(const char *root, const char *path, void (*take)(route_t *best, char **word, size_t n))
{
    AUTO_FREE char *text = root_read(root, path);
    route_t best = { 0 };

    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        char **words = str_split(line, " \t", true);
        take(&best, words, strv_len(words));
        strv_free(words);
    }
    return best.via[0] != '\0' ? json_string(best.via) : json_boolean(best.found);
}

/* ip_gw is true as soon as one of the families has a default route. */
static int
gateway_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    json_t *v4 = default_route(ctx->root, "/proc/net/route", take_v4);
    json_t *v6 = default_route(ctx->root, "/proc/net/ipv6_route", take_v6);

    json_object_set_new(out, "ip_gw", json_boolean(!json_is_false(v4) || !json_is_false(v6)));
    json_object_set_new(out, "ip4_gw", v4);
    json_object_set_new(out, "ip6_gw", v6);
    return 0;
}

static const char *const keys[] = { "ip_gw", "ip4_gw", "ip6_gw", NULL };

PLUGIN(grain, gateway, .doc = "The default gateways.", .collect = gateway_collect, .cost = GRAIN_CHEAP,
       .keys = keys);
