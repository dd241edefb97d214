/* netlink.c - interfaces, addresses and routes from the kernel (rtnetlink(7)).
 *
 * Each question opens its own socket, sends one request and reads datagrams until NLMSG_DONE (a dump) or the
 * first answer. Attributes are indexed by number; lengths are checked before any access, though the kernel is
 * trusted. */
#include "common/host/netlink.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/value.h"

enum { MAX_ATTRS = 64, REPLY_SIZE = 64 * 1024 };

/* Called per message of a reply; `attrs` are its attributes by number, NULL when absent. 0, or a negative
 * errno to stop. */
typedef int message_fn(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out);

typedef struct request {
    struct nlmsghdr h;
    union {
        struct rtgenmsg gen;
        struct rtmsg route;
    } body;
    char attrs[64];
} request_t;

/* Size of the fixed part of a message type that is read here; 0 for other types, which are skipped. */
static size_t
body_size(unsigned type)
{
    static const struct {
        unsigned type;
        size_t size;
    } sizes[] = {
        { RTM_NEWLINK, sizeof(struct ifinfomsg) },
        { RTM_NEWADDR, sizeof(struct ifaddrmsg) },
        { RTM_NEWROUTE, sizeof(struct rtmsg) },
    };

    for (size_t i = 0; i < NELEMS(sizes); i++) {
        if (sizes[i].type == type)
            return sizes[i].size;
    }
    return 0;
}

/* The kernel's macros take a length that is rounded up off a signed one, of which compilers differ in what
 * they say. */
const struct nlmsghdr *
netlink_next(const char **data, size_t *left)
{
    const struct nlmsghdr *h = (const void *) *data;

    if (*left < sizeof(*h) || h->nlmsg_len < sizeof(*h) || h->nlmsg_len > *left)
        return NULL;
    size_t whole = NLMSG_ALIGN((size_t) h->nlmsg_len);
    whole = whole < *left ? whole : *left;
    *data += whole;
    *left -= whole;
    return h;
}

/* Handle one datagram. 1 when more follow, 0 at the end, or a negative errno (also the kernel's own, in
 * NLMSG_ERROR). */
static int
take_messages(const char *data, size_t size, bool dump, message_fn *each, json_t *out)
{
    for (const struct nlmsghdr *h; (h = netlink_next(&data, &size)) != NULL;) {
        struct rtattr *attrs[MAX_ATTRS];
        size_t fixed = body_size(h->nlmsg_type);
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR)
            return h->nlmsg_len < NLMSG_LENGTH(sizeof(struct nlmsgerr))
                       ? -EPROTO
                       : ((const struct nlmsgerr *) NLMSG_DATA(h))->error;
        if (fixed == 0 || h->nlmsg_len < NLMSG_LENGTH(fixed))
            continue;
        char *body = NLMSG_DATA(h);
        /* The first attribute of a number counts; NLA_TYPE_MASK removes the flags for nested and byte
         * order. */
        struct rtattr *a = (void *) (body + NLMSG_ALIGN(fixed));
        int len = (int) (h->nlmsg_len - NLMSG_LENGTH(fixed));
        memset(attrs, 0, sizeof(attrs));
        for (; RTA_OK(a, len); a = RTA_NEXT(a, len)) {
            unsigned type = a->rta_type & NLA_TYPE_MASK;
            if (type < MAX_ATTRS && attrs[type] == NULL)
                attrs[type] = a;
        }
        int rc = each(h, body, attrs, out);
        if (rc != 0 || !dump)
            return rc;
    }
    return 1;
}

/* Send the request and read the whole reply. 0, or a negative errno with *err. */
static int
netlink_ask(request_t *request, bool dump, message_fn *each, json_t *out, fail_t *err)
{
    AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    AUTO_FREE char *data = xcalloc(1, REPLY_SIZE);
    int rc = 1;

    request->h.nlmsg_flags = (unsigned short) (NLM_F_REQUEST | (dump ? NLM_F_DUMP : 0));
    if (fd < 0 || send(fd, request, request->h.nlmsg_len, 0) < 0)
        return fail_set(err, -errno, "cannot ask the kernel about the network: %s", strerror(errno));
    while (rc > 0) {
        ssize_t n = recv(fd, data, REPLY_SIZE, 0);
        if (n < 0 && errno == EINTR)
            continue;
        rc = n < 0 ? -errno : take_messages(data, (size_t) n, dump, each, out);
    }
    return rc == 0 ? 0 : fail_set(err, rc, "RTNETLINK answers: %s", strerror(-rc));
}

/* Asks for all of a type. The body is as long as that of a route, which the kernel takes for every type. */
static int
netlink_dump(unsigned short type, int family, message_fn *each, json_t *out, fail_t *err)
{
    request_t request = { .h = { .nlmsg_type = type, .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)) } };

    request.body.gen.rtgen_family = (unsigned char) family;
    return netlink_ask(&request, true, each, out, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The address in an attribute. NEW, or json null when there is none. */
static json_t *
address_value(int family, const struct rtattr *a)
{
    char text[INET6_ADDRSTRLEN];
    size_t size = family == AF_INET ? 4 : 16;

    if (a == NULL || RTA_PAYLOAD(a) < size || inet_ntop(family, RTA_DATA(a), text, sizeof(text)) == NULL)
        return json_null();
    return json_string(text);
}

/* "255.255.255.0"; "" for a prefix of 0 bits, as Salt shows it. */
static json_t *
netmask_value(unsigned bits)
{
    struct in_addr mask = { htonl(bits == 0 ? 0 : 0xffffffffU << (32 - (bits > 32 ? 32 : bits))) };
    char text[INET_ADDRSTRLEN];

    if (bits == 0)
        return json_string("");
    return json_string(inet_ntop(AF_INET, &mask, text, sizeof(text)));
}

static unsigned
number_of(const struct rtattr *a)
{
    uint32_t n = 0;

    if (a != NULL && RTA_PAYLOAD(a) >= sizeof(n))
        memcpy(&n, RTA_DATA(a), sizeof(n));
    return n;
}

/* NEW text of an attribute. */
static char *
netlink_text(const struct rtattr *a)
{
    return xstrndup(RTA_DATA(a), strnlen(RTA_DATA(a), RTA_PAYLOAD(a)));
}

/* NEW name; "" for an interface that is gone. */
static json_t *
interface_value(unsigned index)
{
    char name[IF_NAMESIZE];

    return json_string(if_indextoname(index, name) != NULL ? name : "");
}

/* ---- interfaces ------------------------------------------------------------------------------ */

/* A parent in another network namespace has no name here: "ifN" then, as iproute2 shows it. */
static int
netlink_add_link(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out)
{
    const struct ifinfomsg *link = body;
    char other[IF_NAMESIZE];

    if (h->nlmsg_type != RTM_NEWLINK || attrs[IFLA_IFNAME] == NULL)
        return 0;
    json_t *row = json_pack("{s:b}", "up", (link->ifi_flags & IFF_UP) != 0);
    unsigned parent = number_of(attrs[IFLA_LINK]);
    if (attrs[IFLA_LINK] != NULL && parent != 0 && parent != (unsigned) link->ifi_index) {
        bool here = attrs[IFLA_LINK_NETNSID] == NULL && if_indextoname(parent, other) != NULL;
        json_object_set_new(row, "parent", here ? json_string(other) : value_fmt("if%u", parent));
    }
    if (attrs[IFLA_ADDRESS] != NULL && RTA_PAYLOAD(attrs[IFLA_ADDRESS]) > 0) {
        /* An Ethernet address, or the IPv4 address that a tunnel has instead (4 bytes). */
        const uint8_t *bytes = RTA_DATA(attrs[IFLA_ADDRESS]);
        size_t n = RTA_PAYLOAD(attrs[IFLA_ADDRESS]);
        buf_auto_t text = BUF_INIT;
        for (size_t i = 0; i < n; i++)
            buf_printf(&text, "%s%02x", i > 0 ? ":" : "", bytes[i]);
        json_object_set_new(row, "hwaddr",
                            n == 4 ? address_value(AF_INET, attrs[IFLA_ADDRESS])
                                   : json_string(buf_str(&text)));
    }
    AUTO_FREE char *name = netlink_text(attrs[IFLA_IFNAME]);
    json_object_set_new(out, name, row);
    return 0;
}

static const char *
scope_name(unsigned scope)
{
    static const struct {
        unsigned scope;
        const char *name;
    } names[] = { { RT_SCOPE_UNIVERSE, "global" },
                  { RT_SCOPE_SITE, "site" },
                  { RT_SCOPE_LINK, "link" },
                  { RT_SCOPE_HOST, "host" } };

    for (size_t i = 0; i < NELEMS(names); i++) {
        if (names[i].scope == scope)
            return names[i].name;
    }
    return "nowhere";
}

/* Append to object[key], a list that is made when absent. TAKES `v`. */
static void
netlink_append_to(json_t *object, const char *key, json_t *v)
{
    json_t *list = json_object_get(object, key);

    if (list == NULL) {
        list = json_array();
        json_object_set_new(object, key, list);
    }
    json_array_append_new(list, v);
}

/* Links come first (netlink_interfaces()): an address without a row belongs to a link that came up
 * meanwhile. */
static int
netlink_add_address(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out)
{
    const struct ifaddrmsg *addr = body;
    char name[IF_NAMESIZE];

    if (h->nlmsg_type != RTM_NEWADDR || if_indextoname(addr->ifa_index, name) == NULL)
        return 0;
    json_t *row = json_object_get(out, name);
    if (row == NULL)
        return 0;
    if (addr->ifa_family == AF_INET6) {
        netlink_append_to(row, "inet6",
                          json_pack("{s:o, s:o, s:s}", "address", address_value(AF_INET6, attrs[IFA_ADDRESS]),
                                    "prefixlen", value_fmt("%u", addr->ifa_prefixlen), "scope",
                                    scope_name(addr->ifa_scope)));
    } else if (addr->ifa_family == AF_INET) {
        /* Makes the address's row. */
        const struct rtattr *own = attrs[IFA_LOCAL] != NULL ? attrs[IFA_LOCAL] : attrs[IFA_ADDRESS];
        /* On a point-to-point link the prefix belongs to the peer's address; the own one counts as /32. */
        bool peer = attrs[IFA_LOCAL] != NULL && attrs[IFA_ADDRESS] != NULL &&
                    RTA_PAYLOAD(attrs[IFA_LOCAL]) >= 4 && RTA_PAYLOAD(attrs[IFA_ADDRESS]) >= 4 &&
                    memcmp(RTA_DATA(attrs[IFA_LOCAL]), RTA_DATA(attrs[IFA_ADDRESS]), 4) != 0;
        AUTO_FREE char *label = attrs[IFA_LABEL] != NULL ? netlink_text(attrs[IFA_LABEL]) : xstrdup(name);
        json_t *entry = json_pack("{s:o, s:o, s:o, s:o}", "address", address_value(AF_INET, own), "netmask",
                                  netmask_value(peer ? 32 : addr->ifa_prefixlen), "broadcast",
                                  address_value(AF_INET, attrs[IFA_BROADCAST]), "label",
                                  value_utf8(label, strlen(label)));

        bool secondary = (addr->ifa_flags & IFA_F_SECONDARY) != 0;
        if (secondary)
            json_object_set_new(entry, "type", json_string("inet"));
        netlink_append_to(row, secondary ? "secondary" : "inet", entry);
    }
    return 0;
}

static int
netlink_add_any(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out)
{
    return h->nlmsg_type == RTM_NEWLINK ? netlink_add_link(h, body, attrs, out)
                                        : netlink_add_address(h, body, attrs, out);
}

int
netlink_take(void *data, size_t len, json_t *out)
{
    return take_messages(data, len, true, netlink_add_any, out);
}

/* NEW {name: {"up", "hwaddr", "inet": [...], "inet6": [...], "secondary": [...]}}, or NULL with *err. */
json_t *
netlink_interfaces(fail_t *err)
{
    json_t *out = json_object();

    if (netlink_dump(RTM_GETLINK, AF_UNSPEC, netlink_add_link, out, err) == 0 &&
        netlink_dump(RTM_GETADDR, AF_INET, netlink_add_address, out, err) == 0 &&
        netlink_dump(RTM_GETADDR, AF_INET6, netlink_add_address, out, err) == 0)
        return out;
    json_decref(out);
    return NULL;
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* IPv4: unicast routes of the main table. IPv6: also local ones, of all tables, as Salt's network.routes
 * shows. */
static int
add_route(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out)
{
    const struct rtmsg *route = body;
    unsigned table = attrs[RTA_TABLE] != NULL ? number_of(attrs[RTA_TABLE]) : route->rtm_table;

    if (h->nlmsg_type != RTM_NEWROUTE)
        return 0;
    bool v4 = route->rtm_family == AF_INET && table == RT_TABLE_MAIN && route->rtm_type == RTN_UNICAST;
    bool v6 = route->rtm_family == AF_INET6 &&
              (route->rtm_type == RTN_UNICAST || route->rtm_type == RTN_LOCAL);
    if (!v4 && !v6)
        return 0;

    /* The default route has no destination, a route on the link no gateway: both are shown as zeros. */
    json_auto_t *dst = address_value(route->rtm_family, attrs[RTA_DST]),
                *gateway = address_value(route->rtm_family, attrs[RTA_GATEWAY]);
    const char *none = v4 ? "0.0.0.0" : "::", *to = json_is_string(dst) ? json_string_value(dst) : none;
    json_t *mask = v6                        ? json_string("")
                   : route->rtm_dst_len == 0 ? json_string(none)
                                             : netmask_value(route->rtm_dst_len);
    /* Flags as in route(8): U up, G gateway, H host. */
    json_t *flags = value_fmt("U%s%s", attrs[RTA_GATEWAY] != NULL ? "G" : "",
                              route->rtm_dst_len == (route->rtm_family == AF_INET ? 32 : 128) ? "H" : "");
    json_array_append_new(
        out, json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "addr_family", v4 ? "inet" : "inet6", "destination",
                       v4 ? json_string(to) : value_fmt("%s/%u", to, route->rtm_dst_len), "gateway",
                       json_is_string(gateway) ? json_string_value(gateway) : none, "netmask", mask, "flags",
                       flags, "interface", interface_value(number_of(attrs[RTA_OIF]))));
    return 0;
}

json_t *
netlink_routes(fail_t *err)
{
    json_t *out = json_array();

    if (netlink_dump(RTM_GETROUTE, AF_INET, add_route, out, err) == 0 &&
        netlink_dump(RTM_GETROUTE, AF_INET6, add_route, out, err) == 0)
        return out;
    json_decref(out);
    return NULL;
}

/* The kernel's answer to RTM_GETROUTE for one address. */
static int
take_way(const struct nlmsghdr *h, void *body, struct rtattr **attrs, json_t *out)
{
    const struct rtmsg *route = body;
    int family = route->rtm_family;

    json_object_set_new(out, "gateway", address_value(family, attrs[RTA_GATEWAY]));
    json_object_set_new(out, "interface", interface_value(number_of(attrs[RTA_OIF])));
    json_object_set_new(out, "source", address_value(family, attrs[RTA_PREFSRC]));
    return 0;
}

/* NEW {"destination", "gateway", "interface", "source"} of the way to an address, or NULL with *err. */
json_t *
netlink_get_route(const char *ip, fail_t *err)
{
    request_t request = { .h = { .nlmsg_type = RTM_GETROUTE } };
    struct rtattr *dst = (void *) ((char *) &request + NLMSG_LENGTH(sizeof(struct rtmsg)));
    int family = strchr(ip, ':') != NULL ? AF_INET6 : AF_INET;
    size_t size = family == AF_INET ? 4 : 16;

    if (inet_pton(family, ip, RTA_DATA(dst)) != 1) {
        fail_kind(err, FAIL_COMMAND, -EINVAL, "any valid address is expected rather than \"%s\"", ip);
        return NULL;
    }
    request.body.route.rtm_family = (unsigned char) family;
    request.body.route.rtm_dst_len = (unsigned char) (size * 8);
    dst->rta_type = RTA_DST;
    dst->rta_len = (unsigned short) RTA_LENGTH(size);
    request.h.nlmsg_len = (uint32_t) (NLMSG_LENGTH(sizeof(struct rtmsg)) + RTA_ALIGN(dst->rta_len));
    json_t *out = json_pack("{s:s}", "destination", ip);
    if (netlink_ask(&request, false, take_way, out, err) == 0)
        return out;
    json_decref(out);
    return NULL;
}
