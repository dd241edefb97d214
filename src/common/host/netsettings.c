/* netsettings.c - see netsettings.h. Lengths are checked before any access, though the kernel is trusted. */
#include "common/host/netsettings.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/host/netlink.h"
#include "salt/value.h"

enum { REPLY_SIZE = 64 * 1024, ANSWER_S = 5 };

typedef enum form { NUMBER, BYTE, TEXT, HARDWARE, STATE, KIND } form_t;

/* Attributes of a link that are told, by pyroute2's names. */
static const struct {
    unsigned short type;
    const char *name;
    form_t form;
} attributes[] = {
    { IFLA_IFNAME, "ifname", TEXT },
    { IFLA_MTU, "mtu", NUMBER },
    { IFLA_TXQLEN, "txqlen", NUMBER },
    { IFLA_OPERSTATE, "operstate", STATE },
    { IFLA_LINKMODE, "linkmode", BYTE },
    { IFLA_GROUP, "group", NUMBER },
    { IFLA_PROMISCUITY, "promiscuity", NUMBER },
    { IFLA_NUM_TX_QUEUES, "num_tx_queues", NUMBER },
    { IFLA_NUM_RX_QUEUES, "num_rx_queues", NUMBER },
    { IFLA_CARRIER, "carrier", BYTE },
    { IFLA_QDISC, "qdisc", TEXT },
    { IFLA_CARRIER_CHANGES, "carrier_changes", NUMBER },
    { IFLA_ADDRESS, "address", HARDWARE },
    { IFLA_BROADCAST, "broadcast", HARDWARE },
    { IFLA_LINKINFO, "kind", KIND },
};

/* NEW value of an attribute; NULL when it has none. */
static json_t *
netsettings_value(const struct rtattr *a, form_t form)
{
    static const char *const states[] = { "UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN",
                                          "TESTING", "DORMANT",    "UP" };
    const uint8_t *bytes = RTA_DATA(a);
    size_t len = RTA_PAYLOAD(a);
    int left = (int) len;
    char text[3 * 32 + 1] = "";
    uint32_t n = 0;
    switch (form) {
    case NUMBER:
        memcpy(&n, bytes, len < sizeof(n) ? len : sizeof(n));
        return json_integer(n);
    case BYTE:
        return len > 0 ? json_integer(bytes[0]) : NULL;
    case STATE:
        return len > 0 && bytes[0] < NELEMS(states) ? json_string(states[bytes[0]]) : NULL;
    case TEXT:
        return value_utf8((const char *) bytes, strnlen((const char *) bytes, len));
    case HARDWARE:
        for (size_t i = 0; i < len && i < 32; i++)
            (void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%02x", i > 0 ? ":" : "",
                            bytes[i]);
        return json_string(text);
    case KIND:
        for (struct rtattr *in = RTA_DATA(a); RTA_OK(in, left); in = RTA_NEXT(in, left))
            if (in->rta_type == IFLA_INFO_KIND)
                return netsettings_value(in, TEXT);
        return NULL;
    }
    return NULL;
}

/* Adds a link's row; its addresses come in later messages. */
static void
netsettings_link(const struct nlmsghdr *h, json_t *out)
{
    const struct ifinfomsg *link = NLMSG_DATA(h);
    int left = (int) (h->nlmsg_len - NLMSG_LENGTH(sizeof(*link)));
    json_t *row = json_pack("{s:i, s:i, s:I, s:i}", "family", (int) link->ifi_family, "index",
                            link->ifi_index, "flags", (json_int_t) link->ifi_flags, "ifi_type",
                            (int) link->ifi_type);
    for (struct rtattr *a = IFLA_RTA(link); RTA_OK(a, left); a = RTA_NEXT(a, left))
        for (size_t i = 0; i < NELEMS(attributes); i++) {
            json_t *v = (a->rta_type & NLA_TYPE_MASK) == attributes[i].type
                            ? netsettings_value(a, attributes[i].form)
                            : NULL;
            if (v != NULL)
                json_object_set_new(row, attributes[i].name, v);
        }
    json_object_set_new(row, "ipaddr", json_array());
    json_object_set_new(out, value_str(row, "ifname", ""), row);
}

/* IFA_LOCAL is the own address of a point-to-point link, where IFA_ADDRESS is the peer's. */
static void
netsettings_address(const struct nlmsghdr *h, json_t *out)
{
    const struct ifaddrmsg *address = NLMSG_DATA(h);
    int left = (int) (h->nlmsg_len - NLMSG_LENGTH(sizeof(*address)));
    char name[IF_NAMESIZE], text[INET6_ADDRSTRLEN];
    size_t need = address->ifa_family == AF_INET ? 4 : 16;
    const struct rtattr *best = NULL;
    for (struct rtattr *a = IFA_RTA(address); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == IFA_LOCAL || (a->rta_type == IFA_ADDRESS && best == NULL))
            best = a;
    json_t *row = if_indextoname(address->ifa_index, name) != NULL ? value_get(out, name) : NULL;
    if (row != NULL && best != NULL && RTA_PAYLOAD(best) >= need &&
        inet_ntop(address->ifa_family, RTA_DATA(best), text, sizeof(text)) != NULL)
        json_array_append_new(value_get(row, "ipaddr"),
                              json_pack("[s, i]", text, (int) address->ifa_prefixlen));
}

int
netsettings_take(const void *data, size_t size, json_t *out, fail_t *err)
{
    const char *at = data;

    for (const struct nlmsghdr *h; (h = netlink_next(&at, &size)) != NULL;) {
        if (h->nlmsg_type == NLMSG_DONE)
            return 0;
        if (h->nlmsg_type == NLMSG_ERROR)
            return fail_set(err, -EIO, "RTNETLINK refuses to list interfaces");
        if (h->nlmsg_type == RTM_NEWLINK && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg)))
            netsettings_link(h, out);
        else if (h->nlmsg_type == RTM_NEWADDR && h->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
            netsettings_address(h, out);
    }
    return 1;
}

/* Asks for all links or all addresses, and adds them. */
static int
netsettings_dump(int fd, unsigned short type, json_t *out, fail_t *err)
{
    struct {
        struct nlmsghdr h;
        struct rtgenmsg gen;
    } request = { .h = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
                         .nlmsg_type = type,
                         .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
    AUTO_FREE char *data = xcalloc(1, REPLY_SIZE);
    if (send(fd, &request, request.h.nlmsg_len, 0) < 0)
        return fail_set(err, -errno, "cannot ask the kernel about the network: %s", strerror(errno));
    for (;;) {
        ssize_t n = recv(fd, data, REPLY_SIZE, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail_set(err, n < 0 ? -errno : -EIO, "the kernel tells nothing about the network: %s",
                            strerror(errno));
        int rc = netsettings_take(data, (size_t) n, out, err);
        if (rc <= 0)
            return rc;
    }
}

json_t *
netsettings(fail_t *err)
{
    AUTO_FD fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    const struct timeval patience = { .tv_sec = ANSWER_S };
    json_auto_t *out = json_object();
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
        return (void) fail_set(err, -errno, "netlink: %s", strerror(errno)), NULL;
    if (netsettings_dump(fd, RTM_GETLINK, out, err) < 0 || netsettings_dump(fd, RTM_GETADDR, out, err) < 0)
        return NULL;
    return json_incref(out);
}

/* A socket that can be read when a link or an address has changed; or a negative errno with *err. */
int
netsettings_watch(fail_t *err)
{
    struct sockaddr_nl address = { .nl_family = AF_NETLINK,
                                   .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (struct sockaddr *) &address, sizeof(address)) == 0)
        return fd;
    int code = errno;
    if (fd >= 0)
        (void) close(fd);
    return fail_set(err, -code, "netlink: %s", strerror(code));
}

/* Takes all notices away: that there were some is enough. ENOBUFS means that some were lost, which is the
 * same. */
void
netsettings_drain(int fd)
{
    char piece[4096];
    while (recv(fd, piece, sizeof(piece), MSG_TRUNC) > 0 || errno == ENOBUFS || errno == EINTR)
        continue;
}
