/* network.c - execution module `network`: this host's interfaces, addresses and networks, as the kernel lists
 * them by netlink. More functions of the module are in the files network_*.c beside this one. */
#include "common/base/buf.h"
#include "common/host/netlink.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/system/netlist.h"
#include "salt/plugin.h"

/* ---- interfaces ------------------------------------------------------------------------------ */

/* {name: {"hwaddr", "up", "inet", "inet6", ...}} as Salt has it from `ip`. */
static int
network_interfaces(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = netlink_interfaces(err);
    return *ret_value == NULL ? -EIO : 0;
}

typedef json_t *pick_fn(json_t *row);

/* Calls the row's function with the interface of args["iface"]. Salt's answer to an unknown name is a text
 * with the names that there are, no error: the job succeeds. */
static int
network_of_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    pick_fn *const *pick = ctx_row(ctx)->data.ptr;
    const char *name = value_str(args, "iface", "");
    json_auto_t *all = netlink_interfaces(err);
    buf_auto_t names = BUF_INIT;
    const char *key;
    json_t *row;

    if (all == NULL)
        return -EIO;
    if (value_get(all, name) != NULL) {
        *ret_value = (*pick)(value_get(all, name));
        return 0;
    }
    json_object_foreach (all, key, row)
        buf_printf(&names, "%s%s", names.len > 0 ? "\", \"" : "", key);
    *ret_value = value_fmt("Interface \"%s\" not in available interfaces: \"%s\"", name, buf_str(&names));
    return 0;
}

static json_t *
pick_hwaddr(json_t *row)
{
    return json_string(value_str(row, "hwaddr", ""));
}

/* "" for an interface without IPv4, as Salt has it. */
static json_t *
pick_inet(json_t *row)
{
    json_t *inet = json_object_get(row, "inet");

    return inet != NULL ? json_incref(inet) : json_string("");
}

/* The kernel lists an interface's primary address first. */
static json_t *
pick_ip(json_t *row)
{
    return json_string(value_str(json_array_get(json_object_get(row, "inet"), 0), "address", ""));
}

/* A comparison of texts: "10.1" fits 10.1.2.3 and 10.100.0.1. An alias (eth0:1) is told by its label. */
static int
network_ifacestartswith(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *start = value_str(args, "cidr", "");
    json_auto_t *all = netlink_interfaces(err);
    json_t *names, *row, *addr;
    const char *key;
    size_t i;

    if (all == NULL)
        return -EIO;
    names = json_array();
    json_object_foreach (all, key, row) {
        json_array_foreach (json_object_get(row, "inet"), i, addr) {
            if (str_starts(value_str(addr, "address", ""), start))
                json_array_append_new(names, json_string(value_str(addr, "label", key)));
        }
    }
    *ret_value = names;
    return 0;
}

/* ---- lists of addresses and networks --------------------------------------------------------- */

static int
network_addresses(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *proto = ctx_row(ctx)->data.text;
    nets_auto_t found = { NULL, 0 };
    const char *cidr = value_str(args, "cidr", ""), *type = value_str(args, "type", "");
    ipnet_t net;
    int rc = nets_collect(&found, value_get(args, "interface"), proto, err);

    if (rc != 0)
        return rc;
    if (!value_bool(args, "include_loopback", false))
        nets_filter(&found, net_not_loopback, NULL);
    /* A network that can't be read has no addresses; `type` counts only without `cidr`. */
    if (*cidr != '\0')
        nets_filter(&found, ipnet_parse(cidr, true, &net, NULL) == 0 ? net_is_in : net_none, &net);
    else if (str_eq(type, "public") || str_eq(type, "private"))
        nets_filter(&found, net_is_of_type, type);

    /* Makes the list of addresses. */
    json_t *list = json_array();
    /* The lengths of the networks go, so that an address on two interfaces is told once. */
    for (size_t i = 0; i < found.n; i++)
        found.v[i].bits = 0;
    nets_sort(&found);
    for (size_t i = 0; i < found.n; i++) {
        AUTO_FREE char *text = ip_text(&found.v[i].addr);
        json_array_append_new(list, json_string(text));
    }
    *ret_value = list;

    return 0;
}

/* Addresses become their networks. Several addresses of one network make one row. */
static void
to_networks(nets_t *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->v[i].addr = ipnet_first(&s->v[i]);
    nets_sort(s);
}

/* Texts ADDRESS/BITS in the order of addresses. NEW list. */
static json_t *
networks_json(const nets_t *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++) {
        AUTO_FREE char *text = ipnet_text(&s->v[i]);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

/* Loopback's networks are left out. */
static int
subnets(const json_t *wanted, const char *proto, json_t **ret_value, fail_t *err)
{
    nets_auto_t found = { NULL, 0 };
    int rc = nets_collect(&found, wanted, proto, err);

    if (rc != 0)
        return rc;
    nets_filter(&found, net_not_loopback, NULL);
    to_networks(&found);
    *ret_value = networks_json(&found);
    return 0;
}

static int
network_subnets(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return subnets(value_get(args, "interfaces"), "inet", ret_value, err);
}

/* Salt's function for IPv6 takes no interfaces. */
static int
network_subnets6(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return subnets(NULL, "inet6", ret_value, err);
}

/* {network: {"address", "netmask", "num_addresses", "prefixlen"}}. NEW. */
static json_t *
networks_verbose(const nets_t *s)
{
    json_t *out = json_object();

    for (size_t i = 0; i < s->n; i++) {
        ip_t mask_ip = ipnet_mask(&s->v[i]);
        unsigned host = (s->v[i].addr.version == 4 ? 32 : 128) - s->v[i].bits;
        AUTO_FREE char *text = ipnet_text(&s->v[i]), *first = ip_text(&s->v[i].addr),
                       *mask = ip_text(&mask_ip);
        /* A number of addresses that no integer holds is a text "2**64": IPv6 networks up to /65 are so
         * large. */
        json_t *size = host < 63 ? json_integer((json_int_t) 1 << host) : value_fmt("2**%u", host);
        json_object_set_new(out, text,
                            json_pack("{s:s, s:s, s:o, s:I}", "address", first, "netmask", mask,
                                      "num_addresses", size, "prefixlen", (json_int_t) s->v[i].bits));
    }
    return out;
}

static int
network_ip_networks_of(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *proto = ctx_row(ctx)->data.text;
    nets_auto_t found = { NULL, 0 };
    int rc = nets_collect(&found, value_get(args, "interface"), proto, err);

    if (rc != 0)
        return rc;
    to_networks(&found);
    if (!value_bool(args, "include_loopback", false))
        nets_filter(&found, net_not_loopback, NULL);
    *ret_value = value_bool(args, "verbose", false) ? networks_verbose(&found) : networks_json(&found);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define LISTING_ROWS                                                                                         \
    ARG("interface", ARG_ANY, "null", "Globs for the interfaces, as a list or parted by commas"),            \
        ARG("include_loopback", ARG_BOOL, "false", "Also 127.0.0.0/8 and ::1")

static const arg_t iface_args[] = { ARG("iface", ARG_STR, ARG_REQUIRED, "Name of the interface"), ARGS_END };
static const arg_t ip_addrs_args[] = { LISTING_ROWS,
                                       ARG("cidr", ARG_STR, "null", "Only those in this network"),
                                       ARG("type", ARG_STR, "null", "public or private"), ARGS_END };
static const arg_t ip_addrs6_args[] = { LISTING_ROWS,
                                        ARG("cidr", ARG_STR, "null", "Only those in this network"),
                                        ARGS_END };
static const arg_t ip_networks_args[] = { LISTING_ROWS,
                                          ARG("verbose", ARG_BOOL, "false", "Also mask, prefix and size"),
                                          ARGS_END };
static const arg_t subnets_args[] = { ARG("interfaces", ARG_ANY, "null", "Only of these"), ARGS_END };
static const arg_t start_args[] = { ARG("cidr", ARG_STR, ARG_REQUIRED, "How the address starts"), ARGS_END };

static const func_t funcs[] = {
    { "hw_addr", network_of_interface, iface_args, FN_READONLY,
      "Return the hardware address of an interface." CLI_EXAMPLE("salt '*' network.hw_addr eth0"),
      .data.ptr = &(pick_fn *const){ pick_hwaddr } },
    { "hwaddr", network_of_interface, iface_args, FN_READONLY,
      "The same as network.hw_addr." CLI_EXAMPLE("salt '*' network.hwaddr eth0"),
      .data.ptr = &(pick_fn *const){ pick_hwaddr } },
    { "ifacestartswith", network_ifacestartswith, start_args, FN_READONLY,
      "Return the interfaces with an address that starts so." CLI_EXAMPLE(
          "salt '*' network.ifacestartswith 10.0") },
    { "interface", network_of_interface, iface_args, FN_READONLY,
      "Return the IPv4 addresses of an interface." CLI_EXAMPLE("salt '*' network.interface eth0"),
      .data.ptr = &(pick_fn *const){ pick_inet } },
    { "interface_ip", network_of_interface, iface_args, FN_READONLY,
      "Return the first IPv4 address of an interface." CLI_EXAMPLE("salt '*' network.interface_ip eth0"),
      .data.ptr = &(pick_fn *const){ pick_ip } },
    { "interfaces", network_interfaces, NULL, FN_READONLY,
      "Return the interfaces with their addresses." CLI_EXAMPLE("salt '*' network.interfaces") },
    { "ip_addrs", network_addresses, ip_addrs_args, FN_READONLY,
      "Return this host's IPv4 addresses.\n\nLoopback addresses are left out unless asked for." CLI_EXAMPLE(
          "salt '*' network.ip_addrs\n    salt '*' network.ip_addrs cidr=10.0.0.0/8\n    "
          "salt '*' network.ip_addrs type=private"),
      .data.text = "inet" },
    { "ip_addrs6", network_addresses, ip_addrs6_args, FN_READONLY,
      "Return this host's IPv6 addresses." CLI_EXAMPLE(
          "salt '*' network.ip_addrs6\n    salt '*' network.ip_addrs6 cidr=2000::/3"),
      .data.text = "inet6" },
    { "ip_networks", network_ip_networks_of, ip_networks_args, FN_READONLY,
      "Return the IPv4 networks that this host is in." CLI_EXAMPLE(
          "salt '*' network.ip_networks\n    salt '*' network.ip_networks interface=docker0 verbose=True"),
      .data.text = "inet" },
    { "ip_networks6", network_ip_networks_of, ip_networks_args, FN_READONLY,
      "Return the IPv6 networks that this host is in." CLI_EXAMPLE("salt '*' network.ip_networks6"),
      .data.text = "inet6" },
    { "ipaddrs", network_addresses, ip_addrs_args, FN_READONLY,
      "The same as network.ip_addrs." CLI_EXAMPLE("salt '*' network.ipaddrs"), .data.text = "inet" },
    { "ipaddrs6", network_addresses, ip_addrs6_args, FN_READONLY,
      "The same as network.ip_addrs6." CLI_EXAMPLE("salt '*' network.ipaddrs6"), .data.text = "inet6" },
    { "subnets", network_subnets, subnets_args, FN_READONLY,
      "Return the IPv4 networks that this host is in, loopback left out." CLI_EXAMPLE(
          "salt '*' network.subnets\n    salt '*' network.subnets interfaces=eth1") },
    { "subnets6", network_subnets6, NULL, FN_READONLY,
      "Return the IPv6 networks that this host is in, loopback left out." CLI_EXAMPLE(
          "salt '*' network.subnets6") },
};

PLUGIN(exec, network, .doc = "Interfaces and addresses", FUNCS(funcs));
