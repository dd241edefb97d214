/* salt_net.c - Salt's filters over addresses, on ipaddr.h. A filter gives one address for a text and a list
 * for a list; values that are not addresses give None or are left out. */
#include "common/base/pyrandom.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "common/jinja/salt/salt_filter.h"

/* ---- what kind of address ----------------------------------------------------------------------------- */

static bool
is_global(const ip_t *ip)
{
    return !ip_is_private(ip);
}

static bool
is_site_local(const ip_t *ip)
{
    return ip->version == 6 && ip->b[0] == 0xfe && (ip->b[1] & 0xc0) == 0xc0;
}

static const struct option {
    const char *name;
    bool (*holds)(const ip_t *ip);
} options[] = {
    { "global", is_global },    { "link-local", ip_is_link_local }, { "linklocal", ip_is_link_local },
    { "ll", ip_is_link_local }, { "link_local", ip_is_link_local }, { "loopback", ip_is_loopback },
    { "lo", ip_is_loopback },   { "multicast", ip_is_multicast },   { "private", ip_is_private },
    { "public", is_global },    { "reserved", ip_is_reserved },     { "site-local", is_site_local },
    { "sl", is_site_local },    { "site_local", is_site_local },    { "unspecified", ip_is_unspecified },
};

/* 1 when the address has all the comma-separated properties, 0 when not, -1 raised. Unknown names hold, as in
 * Salt. */
static int
options_hold(py_t *wanted, const ip_t *ip)
{
    int any = jflag(wanted, false);
    if (any <= 0)
        return any < 0 ? -1 : 1;
    AUTO(py) comma = py_strz(",");
    AUTO(py) list = jmethod(wanted, "split", 1, comma);
    int rc = list != NULL ? 1 : -1;
    for (size_t i = 0; rc > 0 && i < py_seq_len(list); i++) {
        AUTO(py) name = jmethod(py_seq_at(list, i), "strip", 0);
        for (size_t k = 0; k < NELEMS(options); k++)
            if (strcmp(options[k].name, py_cstr(name)) == 0)
                rc = options[k].holds(ip);
    }
    return rc;
}

/* An address, or an interface "address/prefix". False for other values. */
static bool
salt_net_parse(py_t *v, ip_t *ip, ipnet_t *net, bool *ret_net)
{
    if (!py_is(v, PY_STR))
        return false;
    *ret_net = false;
    if (ip_parse(py_cstr(v), ip, NULL) == 0)
        return true;
    *ret_net = true;
    if (ipnet_parse_interface(py_cstr(v), net, NULL) < 0)
        return false;
    *ip = net->addr;
    return true;
}

/* The address in Python's form when it has the version and properties. NEW, or None. */
static py_t *
salt_net_address_of(py_t *v, int version, py_t *wanted)
{
    ip_t ip;
    ipnet_t net;
    bool is_net;
    if (!salt_net_parse(v, &ip, &net, &is_net) || ip.version != version)
        return py_ref(PY_None);
    int rc = options_hold(wanted, &ip);
    if (rc <= 0)
        return rc < 0 ? NULL : py_ref(PY_None);
    char *text AUTO_FREE = is_net ? ipnet_text(&net) : ip_text(&ip);
    return py_strz(text);
}

/* The address of a text, or those among the elements of a list. NEW. */
static py_t *
filter_version(py_t *v, int version, py_t *wanted)
{
    if (py_is(v, PY_STR) || py_is(v, PY_BYTES))
        return salt_net_address_of(v, version, wanted);
    if (!py_is(v, PY_LIST) && !py_is(v, PY_TUPLE) && !py_is(v, PY_GEN))
        return py_ref(PY_None);
    AUTO(py) list = py_tolist(v);
    AUTO(py) out = py_list();
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        AUTO(py) one = salt_net_address_of(py_seq_at(list, i), version, wanted);
        if (one == NULL)
            return NULL;
        if (!py_is(one, PY_NONE))
            py_append(out, one);
    }
    return list != NULL ? STEAL(out) : NULL;
}

/* IPv4 addresses first, then IPv6. */
static py_t *
filter_any(py_t *v, py_t *wanted)
{
    AUTO(py) four = filter_version(v, 4, wanted);
    AUTO(py) six = four != NULL ? filter_version(v, 6, wanted) : NULL;
    if (six == NULL)
        return NULL;
    if (py_is(four, PY_LIST) && py_is(six, PY_LIST))
        return py_add(four, six);
    return py_ref(py_truth(four) > 0 ? four : six);
}

static py_t *
is_version(py_t *v, int version, py_t *wanted)
{
    AUTO(py) found = salt_net_address_of(v, version, wanted);
    return found != NULL ? py_bool(py_is(found, PY_STR)) : NULL;
}

JFILTER(is_ipv4_filter)
{
    return is_version(a[0], 4, a[1]);
}

JFILTER(is_ipv6_filter)
{
    return is_version(a[0], 6, a[1]);
}

JFILTER(is_ip_filter)
{
    py_t *four = is_version(a[0], 4, a[1]);
    return four == PY_False ? is_version(a[0], 6, a[1]) : four;
}

JFILTER(ipv4)
{
    return filter_version(a[0], 4, a[1]);
}

JFILTER(ipv6)
{
    return filter_version(a[0], 6, a[1]);
}

JFILTER(ipaddr)
{
    return filter_any(a[0], a[1]);
}

/* ---- networks ----------------------------------------------------------------------------------------- */

enum { MAX_HOSTS = 65536 };

/* An address with its prefix, which is the full length if none is given; None for other values. */
static py_t *
host_of(py_t *v)
{
    ip_t ip;
    ipnet_t net;
    bool is_net;
    if (!salt_net_parse(v, &ip, &net, &is_net))
        return py_ref(PY_None);
    if (!is_net) {
        char *text AUTO_FREE = ip_text(&ip);
        return py_strf("%s/%d", text, ip.version == 4 ? 32 : 128);
    }
    char *text AUTO_FREE = ipnet_text(&net);
    return py_strz(text);
}

static int
network_of(py_t *v, ipnet_t *net)
{
    fail_auto_t err = FAIL_INIT;
    if (ipnet_parse(py_cstr(v), false, net, &err) == 0)
        return 0;
    return py_raise_int(&py_ValueError, "%s", fail_text(&err));
}

static unsigned
free_bits(const ipnet_t *net)
{
    return (net->addr.version == 4 ? 32 : 128) - net->bits;
}

/* 2 to the number of host bits, as an integer of any size. */
static py_t *
salt_net_size_of(py_t *v)
{
    ipnet_t net;
    if (network_of(v, &net) < 0)
        return NULL;
    AUTO(py) two = py_int(2);
    AUTO(py) bits = py_int(free_bits(&net));
    return py_binary(PY_POW, two, bits);
}

/* All hosts of a network: without its own address, for version 4 without the broadcast address. Bounded by
 * MAX_HOSTS. */
static py_t *
hosts_of(py_t *v)
{
    ipnet_t net;
    if (network_of(v, &net) < 0)
        return NULL;
    unsigned bits = free_bits(&net);
    if (bits > 16)
        return py_raise(&py_LimitError, "a network of more than %d addresses is not listed", MAX_HOSTS);
    unsigned long n = 1UL << bits, first = bits > 1, last = n - (bits > 1 && net.addr.version == 4);
    ip_t ip = ipnet_first(&net);
    AUTO(py) out = py_list();
    for (unsigned long i = 0; i < last; i++) {
        char *text AUTO_FREE = i >= first ? ip_text(&ip) : NULL;
        if (text != NULL)
            py_append_new(out, py_strz(text));
        for (int k = net.addr.version == 4 ? 3 : 15; k >= 0 && ++ip.b[k] == 0; k--) /* the next address */
            continue;
    }
    return STEAL(out);
}

/* Applies `fn` to each address that passes the filter: a list for a list. */
static py_t *
over_networks(py_t *const *a, py_t *(*fn)(py_t *v))
{
    int64_t version = 0;
    if (a[2] != NULL && !py_is(a[2], PY_NONE) && jindex(a[2], 0, &version) < 0)
        return NULL;
    AUTO(py)
    found = version == 4 || version == 6 ? filter_version(a[0], (int) version, a[1]) : filter_any(a[0], a[1]);
    if (found == NULL || py_truth(found) <= 0)
        return found == NULL ? NULL : py_ref(PY_None);
    if (py_is(found, PY_STR))
        return fn(found);
    AUTO(py) out = py_list();
    for (size_t i = 0; i < py_seq_len(found); i++) {
        py_t *v = fn(py_seq_at(found, i));
        if (v == NULL)
            return NULL;
        py_append_new(out, v);
    }
    return STEAL(out);
}

JFILTER(ip_host)
{
    return over_networks(a, host_of);
}

JFILTER(network_hosts)
{
    return over_networks(a, hosts_of);
}

JFILTER(network_size)
{
    return over_networks(a, salt_net_size_of);
}

/* Appends the addresses that are in a network, once for each that matches, as Salt does. */
static int
keep_in_networks(py_t *out, py_t *ips, py_t *networks)
{
    AUTO(py) list = py_tolist(ips);
    for (size_t i = 0; list != NULL && i < py_seq_len(list); i++) {
        fail_auto_t err = FAIL_INIT;
        ip_t ip;
        if (ip_parse(py_cstr(py_seq_at(list, i)), &ip, &err) < 0)
            return py_raise_int(&py_ValueError, "%s", fail_text(&err));
        for (size_t k = 0; k < py_seq_len(networks); k++) {
            ipnet_t net;
            if (ipnet_parse(py_cstr(py_seq_at(networks, k)), true, &net, &err) < 0)
                return py_raise_int(&py_ValueError, "%s", fail_text(&err));
            if (net.addr.version == ip.version && ipnet_contains(&net, &ip))
                py_append(out, py_seq_at(list, i));
        }
    }
    return list != NULL ? 0 : -1;
}

/* Keeps addresses that belong to one of the networks; in a dict of lists, within each list. */
JFILTER(filter_by_networks)
{
    if (py_is(a[1], PY_NONE))
        return py_ref(a[0]);
    AUTO(py) networks = py_tolist(a[1]);
    if (networks == NULL)
        return NULL;
    if (py_is(a[0], PY_LIST) || py_is(a[0], PY_TUPLE)) {
        AUTO(py) out = py_list();
        return keep_in_networks(out, a[0], networks) == 0 ? STEAL(out) : NULL;
    }
    if (!py_is(a[0], PY_DICT))
        return py_raise(&py_ValueError, "Do not know how to filter a <class '%s'>", py_type_name(a[0]));
    AUTO(py) out = py_dict();
    py_t *key, *value;
    for (size_t i = 0; py_dict_next(a[0], &i, &key, &value);) {
        AUTO(py) kept = py_list();
        if (keep_in_networks(kept, value, networks) < 0 || py_dict_set(out, key, kept) < 0)
            return NULL;
    }
    return STEAL(out);
}

/* ---- brackets, MAC addresses -------------------------------------------------------------------------- */

/* A version 6 address in brackets; other values unchanged. */
static py_t *
bracketed(py_t *v)
{
    AUTO(py) six = salt_net_address_of(v, 6, NULL);
    if (six == NULL || !py_is(six, PY_STR))
        return py_ref(v);
    return py_strf("[%s]", py_cstr(six));
}

/* Brackets around IPv6 addresses, as URLs need them. */
JFILTER(ipwrap)
{
    if (!py_is(a[0], PY_LIST) && !py_is(a[0], PY_TUPLE))
        return bracketed(a[0]);
    py_t *out = py_list();
    for (size_t i = 0; i < py_seq_len(a[0]); i++)
        py_append_new(out, bracketed(py_seq_at(a[0], i)));
    return out;
}

/* A random address with the prefix, by default AC:DE:48, which is reserved for private use. */
JFILTER(gen_mac)
{
    AUTO(pyrandom) random = pyrandom_new(NULL, NULL);
    unsigned b[3];
    for (size_t i = 0; i < NELEMS(b); i++)
        b[i] = (unsigned) pyrandom_below(random, 256);
    AUTO(py) prefix = a[0] != NULL ? py_tostr(a[0]) : py_strz("AC:DE:48");
    return prefix != NULL ? py_strf("%s:%02X:%02X:%02X", py_cstr(prefix), b[0], b[1], b[2]) : NULL;
}

JFILTER(mac_str_to_bytes)
{
    int64_t len = py_len(a[0]);
    if (len < 0)
        return NULL;
    if ((len != 12 && len != 17) || !py_is(a[0], PY_STR))
        return py_raise(&py_ValueError, "Invalid MAC address");
    AUTO(py) digits = py_ref(a[0]);
    if (len == 17) { /* the third character is the separator, whatever it is */
        AUTO(py) separator = py_substr(a[0], 2, 3);
        AUTO(py) nothing = py_str("", 0);
        py_unref(digits);
        digits = jmethod(a[0], "replace", 2, separator, nothing);
    }
    if (digits == NULL)
        return NULL;
    size_t n = (size_t) py_len(digits);
    unsigned char bytes[6];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        size_t from = 2 * i < n ? 2 * i : n;
        AUTO(py) pair = py_substr(digits, from, from + 2 < n ? from + 2 : n);
        AUTO(py) v = py_toint(pair, 16);
        int64_t b;
        if (v == NULL)
            return NULL;
        if (!py_to_int64(v, &b) || b < 0 || b > UINT8_MAX)
            return py_raise(&py_ValueError, "bytes must be in range(0, 256)");
        bytes[i] = (unsigned char) b;
    }
    return py_bytes(bytes, sizeof(bytes));
}

static const jfilter_t rows[] = {
    { JROW("filter_by_networks", filter_by_networks, JP("values", "networks"), 2, 2, 0), 0,
      "Addresses that are in one of the networks." },
    { JROW("gen_mac", gen_mac, JP("prefix"), 0, 1, 0), JF_WORLD, "A MAC address." },
    { JROW("ip_host", ip_host, JP("value", "options", "version"), 1, 3, 0), 0,
      "Addresses with their prefix." },
    { JROW("ipaddr", ipaddr, JP("value", "options"), 1, 2, 0), 0, "Addresses among the elements." },
    { JROW("ipv4", ipv4, JP("value", "options"), 1, 2, 0), 0, "IPv4 addresses among the elements." },
    { JROW("ipv6", ipv6, JP("value", "options"), 1, 2, 0), 0, "IPv6 addresses among the elements." },
    { JROW("ipwrap", ipwrap, JP("data"), 1, 1, 0), 0, "IPv6 addresses in brackets." },
    { "is_ip",
      { is_ip_filter },
      { "is_ip_filter", JP("ip_addr", "options"), 1, 2, 0 },
      0,
      "Whether it is one." },
    { "is_ipv4",
      { is_ipv4_filter },
      { "is_ipv4_filter", JP("ip_addr", "options"), 1, 2, 0 },
      0,
      "Of version 4." },
    { "is_ipv6",
      { is_ipv6_filter },
      { "is_ipv6_filter", JP("ip_addr", "options"), 1, 2, 0 },
      0,
      "Of version 6." },
    { JROW("mac_str_to_bytes", mac_str_to_bytes, JP("mac_str"), 1, 1, 0), 0, "A MAC address as bytes." },
    { JROW("network_hosts", network_hosts, JP("value", "options", "version"), 1, 3, 0), 0, "All hosts." },
    { JROW("network_size", network_size, JP("value", "options", "version"), 1, 3, 0), 0,
      "How many addresses." },
};

const jfilter_table_t jfilters_salt_net = JTABLE(rows);
