/* ipaddr.c - IP addresses and networks with the parsing, text forms and classification of Python's ipaddress.
 *
 * inet_pton reads the addresses; netmasks, prefix lengths, compressed text and the registry ranges follow
 * Python 3's module, whose answers the tests record. All functions work on plain values in network byte
 * order. */
#include "common/data/ipaddr.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "salt/value.h"

static size_t
ipaddr_size_of(int version)
{
    return version == 4 ? 4 : 16;
}

static unsigned
all_bits(int version)
{
    return version == 4 ? 32 : 128;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* Reads an address without a prefix. A scope ("%eth0") is allowed after a version 6 address and is dropped:
 * it carries no bits. */
static bool
parse_raw(const char *text, ip_t *out)
{
    const char *scope = strchr(text, '%');
    AUTO_FREE char *plain = xstrndup(text, scope != NULL ? (size_t) (scope - text) : strlen(text));

    memset(out, 0, sizeof(*out));
    if (scope != NULL && (scope[1] == '\0' || strchr(scope + 1, '%') != NULL))
        return false;
    if (scope == NULL && inet_pton(AF_INET, plain, out->b) == 1) {
        out->version = 4;
        return true;
    }
    out->version = 6;
    return inet_pton(AF_INET6, plain, out->b) == 1;
}

/* -EINVAL with the ValueError that ip_address() or ip_network() raises; `what` is "address" or "network". */
static int
ipaddr_not_a(const char *text, const char *what, fail_t *err)
{
    json_auto_t *v = value_utf8(text, strlen(text));
    AUTO_FREE char *shown = value_repr(v);

    return fail_set(err, -EINVAL, "%s does not appear to be an IPv4 or IPv6 %s", shown, what);
}

int
ip_parse(const char *text, ip_t *out, fail_t *err)
{
    return parse_raw(text, out) ? 0 : ipaddr_not_a(text, "address", err);
}

static unsigned
ipaddr_group_of(const ip_t *ip, size_t i)
{
    return (unsigned) ip->b[2 * i] << 8 | ip->b[2 * i + 1];
}

char *
ip_text(const ip_t *ip)
{
    buf_t out = BUF_INIT;
    size_t run_len;

    if (ip->version == 4)
        return xasprintf("%u.%u.%u.%u", ip->b[0], ip->b[1], ip->b[2], ip->b[3]);

    /* Index of the longest run of at least two zero groups, the first of equals; 8 when there is none.
     * RFC 5952 shortens it to "::". */
    size_t run = 8;

    run_len = 1;
    for (size_t i = 0; i < 8;) {
        size_t n = 0;
        while (i + n < 8 && ipaddr_group_of(ip, i + n) == 0)
            n++;
        if (n > run_len) {
            run = i;
            run_len = n;
        }
        i += n > 0 ? n : 1;
    }

    for (size_t i = 0; i < 8;) {
        if (i == run) {
            buf_puts(&out, "::");
            i += run_len;
            continue;
        }
        if (i > 0 && i != run + run_len)
            buf_putc(&out, ':');
        buf_printf(&out, "%x", ipaddr_group_of(ip, i++));
    }
    return buf_steal(&out);
}

int
ip_cmp(const ip_t *a, const ip_t *b)
{
    if (a->version != b->version)
        return a->version - b->version;
    return memcmp(a->b, b->b, ipaddr_size_of(a->version));
}

/* True when the address lies in one of the networks, given as text. */
static bool
in_any(const ip_t *ip, const char *const *nets, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ipnet_t net;
        if (ipnet_parse(nets[i], true, &net, NULL) == 0 && ipnet_contains(&net, ip))
            return true;
    }
    return false;
}

bool
ip_is_loopback(const ip_t *ip)
{
    static const char *const nets[] = { "127.0.0.0/8", "::1/128" };

    return in_any(ip, nets, NELEMS(nets));
}

/* The registry ranges that ipaddress's is_private names; the tests record its answers. An IPv4-mapped address
 * is judged by the address inside. */
bool
ip_is_private(const ip_t *ip)
{
    static const char *const nets[] = {
        "0.0.0.0/8",       "10.0.0.0/8",     "127.0.0.0/8",  "169.254.0.0/16",     "172.16.0.0/12",
        "192.0.0.0/29",    "192.0.0.170/31", "192.0.2.0/24", "192.168.0.0/16",     "198.18.0.0/15",
        "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",  "255.255.255.255/32", "::1/128",
        "::/128",          "::ffff:0:0/96",  "100::/64",     "2001::/23",          "2001:2::/48",
        "2001:db8::/32",   "2001:10::/28",   "fc00::/7",     "fe80::/10",
    };

    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    if (ip->version == 6 && memcmp(ip->b, mapped, sizeof(mapped)) == 0) {
        ip_t inner = { .version = 4 };
        memcpy(inner.b, ip->b + sizeof(mapped), 4);
        return ip_is_private(&inner);
    }
    return in_any(ip, nets, NELEMS(nets));
}

bool
ip_is_multicast(const ip_t *ip)
{
    static const char *const nets[] = { "224.0.0.0/4", "ff00::/8" };

    return in_any(ip, nets, NELEMS(nets));
}

bool
ip_is_link_local(const ip_t *ip)
{
    static const char *const nets[] = { "169.254.0.0/16", "fe80::/10" };

    return in_any(ip, nets, NELEMS(nets));
}

bool
ip_is_reserved(const ip_t *ip)
{
    static const char *const nets[] = { "240.0.0.0/4", "::/8",     "100::/8",  "200::/7",
                                        "400::/6",     "800::/5",  "1000::/4", "4000::/3",
                                        "6000::/3",    "8000::/3", "a000::/3", "c000::/3",
                                        "e000::/4",    "f000::/5", "f800::/6", "fe00::/9" };

    return in_any(ip, nets, NELEMS(nets));
}

bool
ip_is_unspecified(const ip_t *ip)
{
    static const ip_t none4 = { .version = 4 }, none6 = { .version = 6 };

    return ip_cmp(ip, &none4) == 0 || ip_cmp(ip, &none6) == 0;
}

char *
ip_reverse(const ip_t *ip)
{
    buf_t out = BUF_INIT;

    if (ip->version == 4)
        return xasprintf("%u.%u.%u.%u.in-addr.arpa", ip->b[3], ip->b[2], ip->b[1], ip->b[0]);
    for (size_t i = 16; i-- > 0;)
        buf_printf(&out, "%x.%x.", ip->b[i] & 15, ip->b[i] >> 4);
    buf_puts(&out, "ip6.arpa");
    return buf_steal(&out);
}

/* ---- networks -------------------------------------------------------------------------------- */

/* Converts a netmask ("255.255.255.0") or a hostmask ("0.0.0.255") to a prefix length. A mask that begins
 * with a zero bit is taken for a hostmask; false when the ones are not contiguous. */
static bool
mask_bits(const char *text, unsigned *ret_bits)
{
    ip_t mask;

    if (!parse_raw(text, &mask) || mask.version != 4)
        return false;
    uint32_t m = (uint32_t) mask.b[0] << 24 | (uint32_t) mask.b[1] << 16 | (uint32_t) mask.b[2] << 8 |
                 mask.b[3];
    if ((m & 0x80000000U) == 0 && m != 0)
        m = ~m;
    unsigned bits = m == 0 ? 0 : 32 - (unsigned) __builtin_ctz(m);
    *ret_bits = bits;
    return m == (bits == 0 ? 0 : 0xffffffffU << (32 - bits));
}

/* Length of the prefix from the text after the slash: decimal, or for version 4 also a mask. Signs and blanks
 * are refused, as Python refuses them. */
static bool
prefix_bits(const char *text, int version, unsigned *ret_bits)
{
    long long bits;

    if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        if (!str_to_int(text, 0, all_bits(version), &bits))
            return false;
        *ret_bits = (unsigned) bits;
        return true;
    }
    return version == 4 && mask_bits(text, ret_bits);
}

int
ipnet_parse_interface(const char *text, ipnet_t *out, fail_t *err)
{
    const char *slash = strchr(text, '/');
    AUTO_FREE char *addr = xstrndup(text, slash != NULL ? (size_t) (slash - text) : strlen(text));

    if (!parse_raw(addr, &out->addr))
        return ipaddr_not_a(text, "network", err);
    out->bits = all_bits(out->addr.version);
    if (slash != NULL && !prefix_bits(slash + 1, out->addr.version, &out->bits))
        return ipaddr_not_a(text, "network", err);
    return 0;
}

int
ipnet_parse(const char *text, bool strict, ipnet_t *out, fail_t *err)
{
    int rc = ipnet_parse_interface(text, out, err);

    if (rc != 0)
        return rc;
    ip_t first = ipnet_first(out);
    if (strict && ip_cmp(&first, &out->addr) != 0)
        return fail_set(err, -EINVAL, "%s has host bits set", text);
    out->addr = first;
    return 0;
}

ip_t
ipnet_mask(const ipnet_t *net)
{
    ip_t mask = { .version = net->addr.version };

    for (unsigned i = 0; i < net->bits; i++)
        mask.b[i / 8] |= (uint8_t) (0x80 >> (i % 8));
    return mask;
}

ip_t
ipnet_first(const ipnet_t *net)
{
    ip_t mask = ipnet_mask(net), first = net->addr;

    for (size_t i = 0; i < sizeof(first.b); i++)
        first.b[i] &= mask.b[i];
    return first;
}

ip_t
ipnet_last(const ipnet_t *net)
{
    ip_t mask = ipnet_mask(net), last = net->addr;

    for (size_t i = 0; i < ipaddr_size_of(last.version); i++)
        last.b[i] |= (uint8_t) ~mask.b[i];
    return last;
}

bool
ipnet_contains(const ipnet_t *net, const ip_t *ip)
{
    ip_t first = ipnet_first(net);
    ipnet_t other = { *ip, net->bits };

    if (ip->version != net->addr.version)
        return false;
    ip_t cut = ipnet_first(&other);
    return ip_cmp(&first, &cut) == 0;
}

int
ipnet_cmp(const ipnet_t *a, const ipnet_t *b)
{
    int c = ip_cmp(&a->addr, &b->addr);

    return c != 0 ? c : (int) a->bits - (int) b->bits;
}

char *
ipnet_text(const ipnet_t *net)
{
    AUTO_FREE char *addr = ip_text(&net->addr);

    return xasprintf("%s/%u", addr, net->bits);
}
