/* rh_ip.c - execution module `ip` on Red Hat and its like: interfaces and routes in
 * /etc/sysconfig/network-scripts, and the network's own settings in /etc/sysconfig/network. The formats are
 * those of the initscripts package (sysconfig.txt) and of NetworkManager's plugin ifcfg-rh: KEY="value" in a
 * file for each interface. A row of a table below is an option of Salt, its key in the file and its quotes
 * (ifcfg.h); the order of the rows is the order of the lines. */
#include <errno.h>
#include <sys/socket.h>

#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"
#include "plugins/lib/net/ifopts.h"
#include "plugins/lib/net/ip_api.h"

#define RH_DIR          "/etc/sysconfig/network-scripts"
#define RH_NETWORK_FILE "/etc/sysconfig/network"

/* ---- interfaces --------------------------------------------------------------------------------- */

/* Options with `.with` are written only where that other option is set; Salt's templates nest them so. */
static const ifcfg_line_t rh_lines[] = {
    { "name", "DEVICE", '"' },
    { "nickname", "NAME", '"' },
    { "hwaddr", "HWADDR", '"' },
    { "macaddr", "MACADDR", '"' },
    { "uuid", "UUID", '"' },
    { "userctl", "USERCTL", '"' },
    { "master", "MASTER", '"' },
    { "slave", "SLAVE", '"' },
    { "vlan", "VLAN", '"' },
    { "reorder_hdr", "REORDER_HDR", '"', .with = "vlan" },
    { "vlan_id", "VID", '"', .with = "vlan" },
    { "phys_dev", "PHYSDEV", '"', .with = "vlan" },
    { "devtype", "TYPE", '"' },
    { "devicetype", "DEVICETYPE", '"' },
    { "team_config", "TEAM_CONFIG", '\'' },
    { "team_port_config", "TEAM_PORT_CONFIG", '\'' },
    { "team_master", "TEAM_MASTER", '"' },
    { "proto", "BOOTPROTO", '"' },
    { "onboot", "ONBOOT", '"' },
    { "onparent", "ONPARENT", 0 },
    { "ipv4_failure_fatal", "IPV4_FAILURE_FATAL", '"' },
    { "ipaddr", "IPADDR", '"' },
    { "ipaddr_start", "IPADDR_START", '"' },
    { "ipaddr_end", "IPADDR_END", '"' },
    { "clonenum_start", "CLONENUM_START", '"' },
    { "netmask", "NETMASK", '"' },
    { "prefix", "PREFIX", '"' },
    { "ipaddrs", "IPADDR", '"', IFCFG_PREFIXES },
    { "gateway", "GATEWAY", '"' },
    { "arpcheck", "ARPCHECK", '"' },
    { "enable_ipv6", "IPV6INIT", '"', IFCFG_YES },
    { "ipv6_autoconf", "IPV6_AUTOCONF", '"', .with = "enable_ipv6" },
    { "dhcpv6c", "DHCPV6C", '"', .with = "enable_ipv6" },
    { "ipv6addr", "IPV6ADDR", '"', .with = "enable_ipv6" },
    { "ipv6gateway", "IPV6_DEFAULTGW", '"', .with = "enable_ipv6" },
    { "ipv6addrs", "IPV6ADDR_SECONDARIES", '"', IFCFG_WORDS, .with = "enable_ipv6" },
    { "ipv6_peerdns", "IPV6_PEERDNS", '"', .with = "enable_ipv6" },
    { "ipv6_defroute", "IPV6_DEFROUTE", '"', .with = "enable_ipv6" },
    { "ipv6_peerroutes", "IPV6_PEERROUTES", '"', .with = "enable_ipv6" },
    { "srcaddr", "SRCADDR", '"' },
    { "peerdns", "PEERDNS", '"' },
    { "peerroutes", "PEERROUTES", '"' },
    { "peerntp", "PEERNTP", '"' },
    { "defroute", "DEFROUTE", '"' },
    { "bridge", "BRIDGE", '"' },
    { "stp", "STP", '"' },
    { "delay", "DELAY", '"', IFCFG_ZERO },
    { "mtu", "MTU", '"' },
    { "zone", "ZONE", '"' },
    { "my_inner_ipaddr", "MY_INNER_IPADDR", 0 },
    { "my_outer_ipaddr", "MY_OUTER_IPADDR", 0 },
    { "bonding", "BONDING_OPTS", '"' },
    { "ethtool", "ETHTOOL_OPTS", '"' },
    { "domain", "DOMAIN", '"', IFCFG_WORDS },
    { "nm_controlled", "NM_CONTROLLED", '"' },
    { "dns", "DNS", '"', IFCFG_LIST },
};

static const ifcfg_family_t redhat = { RH_DIR,
                                       "eth|bond|team|alias|clone|ipsec|dialup|bridge|slave|teamport|vlan|"
                                       "ipip|ib",
                                       "none|bootp|dhcp",
                                       rh_lines,
                                       NELEMS(rh_lines),
                                       false };

static int
rh_build_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ifopts_build(ctx, &redhat, args, ret_value, err);
}

static int
rh_get_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ifcfg_get(&redhat, args, ret_value, err);
}

/* Slaves and ports of a team come up with their master, and ifup on them would fail. */
static int
rh_switch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ip_switch_iface(ctx, args, "slave|teamport", ret_value, err);
}

/* ---- routes ------------------------------------------------------------------------------------- */

/* A route as ip-route takes it. The line is an argument list of `ip route add`, so that a route without a
 * gateway needs the device. */
static void
rh_route(buf_t *out, const char *iface, const json_t *route)
{
    ifcfg_member(out, "# ", route, "name", "");
    ifcfg_member(out, "\n", route, "ipaddr", "");
    ifcfg_member(out, "/", route, "netmask", "");
    if (!ifcfg_member(out, " via ", route, "gateway", ""))
        buf_printf(out, " dev %s", iface);
    ifcfg_member(out, " metric ", route, "metric", "");
    buf_putc(out, '\n');
}

/* The same as lines with numbers, which releases before 6 read. */
static void
old_route(buf_t *out, size_t number, const json_t *route)
{
    static const char *const keys[][2] = { { "ipaddr", "ADDRESS" },
                                           { "netmask", "NETMASK" },
                                           { "gateway", "GATEWAY" } };

    ifcfg_member(out, "# ", route, "name", "\n");
    for (size_t k = 0; k < NELEMS(keys); k++) {
        AUTO_FREE char *before = xasprintf("%s%zu=\"", keys[k][1], number);
        ifcfg_member(out, before, route, keys[k][0], "\"\n");
    }
    buf_putc(out, '\n');
}

/* IPv6's lines come behind IPv4's, as build_routes has them, so that the state can compare. Both files must
 * be readable or absent; an absent one has no lines. */
static int
rh_get_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", "");
    AUTO_FREE char *path4 = xasprintf(RH_DIR "/route-%s", iface),
                   *path6 = xasprintf(RH_DIR "/route6-%s", iface);

    json_auto_t *four = ip_check_iface(args, err) == 0 ? ifcfg_file(path4, err) : NULL;
    json_auto_t *six = four != NULL ? ifcfg_file(path6, err) : NULL;

    if (six == NULL)
        return err->code;
    json_array_extend(four, six);
    *ret_value = STEAL(four);
    return 0;
}

/* Each family has a file, since ifup reads route-IFACE for IPv4 and route6-IFACE for IPv6. Both are written,
 * even empty ones: routes that are gone from the settings go from the files. */
static int
rh_build_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *iface = value_str(args, "iface", ""), *release = value_str(ctx_grains(ctx), "osrelease", "");
    AUTO_FREE char *path4 = xasprintf(RH_DIR "/route-%s", iface),
                   *path6 = xasprintf(RH_DIR "/route6-%s", iface);
    json_t *routes = ip_check_iface(args, err) == 0 ? ifcfg_routes(args, err) : NULL, *route;
    /* The first digit alone decides, as by Salt. */
    bool old = *release >= '0' && *release < '6';
    buf_auto_t text4 = BUF_INIT, text6 = BUF_INIT;
    buf_t *text[2] = { &text4, &text6 };
    size_t count[2] = { 0, 0 }, i;

    if (routes == NULL)
        return err->code;
    json_array_foreach (routes, i, route) {
        bool six = ifcfg_is_address(AF_INET6, value_get(route, "ipaddr"));
        if (old)
            old_route(text[six], count[six]++, route);
        else
            rh_route(text[six], iface, route);
    }
    if (!value_truthy(value_get(value_get(args, "settings"), "test")) &&
        (ifcfg_put(path4, &text4, err) < 0 || ifcfg_put(path6, &text6, err) < 0))
        return err->code;
    json_auto_t *lines = ifcfg_lines(buf_str(&text4)), *six = ifcfg_lines(buf_str(&text6));
    json_array_extend(lines, six);
    *ret_value = STEAL(lines);
    return 0;
}

/* ---- the network's settings --------------------------------------------------------------------- */

static const ifcfg_line_t network_lines[] = {
    { "networking", "NETWORKING", 0 },
    { "networking_ipv6", "NETWORKING_IPV6", 0 },
    { "hostname", "HOSTNAME", 0 },
    { "gateway", "GATEWAY", 0 },
    { "gatewaydev", "GATEWAYDEV", 0 },
    { "nisdomain", "NISDOMAIN", 0 },
    { "networkdelay", "NETWORKDELAY", 0 },
    { "devtimeout", "DEVTIMEOUT", 0 },
    { "nozeroconf", "NOZEROCONF", 0 },
    { "enable_ipv6", "IPV6INIT", '"', IFCFG_YES },
    { "ipv6gateway", "IPV6_DEFAULTGW", '"' },
};

static int
rh_get_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = ifcfg_file(RH_NETWORK_FILE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Sets an option with the quotes that the file has around its values. A value that came with quotes of its
 * own gets these instead. */
static void
set_quoted(json_t *out, const char *option, const json_t *value, char quote)
{
    char around[2] = { quote, '\0' }, had;
    json_auto_t *plain = ifcfg_unquoted(value, &had);
    AUTO_FREE char *text = value_pystr(plain);

    json_object_set_new(out, option, value_fmt("%s%s%s", around, text, around));
}

/* Sets yes or no. False with *err. Words that Salt takes for true or false are many; the file knows yes and
 * no. */
static bool
set_truth_quoted(json_t *out, const char *option, const json_t *value, char quote, fail_t *err)
{
    char had;
    json_auto_t *plain = ifcfg_unquoted(value, &had), *word = NULL;
    int truth = netword_truth(plain);

    if (truth < 0) {
        (void) fail_set(err, -EINVAL, "Invalid network setting -- Setting: %s, Expected: [%s]", option,
                        NETWORD_TRUTHS);
        return false;
    }
    word = json_string(truth > 0 ? "yes" : "no");
    set_quoted(out, option, word, quote);
    return true;
}

/* The settings as they are to be. NEW, or NULL with *err. `networking` and the host's name are always
 * written: given, or as the file has them, or it is an error. Other options vanish from the file unless
 * retain_settings keeps them. */
static json_t *
rh_network_wanted(const json_t *given, const json_t *now, fail_t *err)
{
    json_auto_t *settings = ifcfg_small_keys(given), *out = json_object(), *had = NULL;
    json_t *enabled = value_get(settings, "enabled"), *host = value_get(settings, "hostname"), *value;
    const char *option;
    char quote = '\0';

    if (value_truthy(value_get(settings, "retain_settings")))
        json_object_update(out, (json_t *) now);
    /* The quotes of the file's own value set the style of all that is written. */
    if (enabled == NULL) {
        enabled = value_get(now, "networking");
        had = ifcfg_unquoted(enabled, &quote);
    }
    host = host != NULL ? host : value_get(now, "hostname");
    if (!set_truth_quoted(out, "networking", enabled, quote, err))
        return NULL;
    if (!value_truthy(host)) {
        (void) fail_set(err, -EINVAL,
                        "Invalid network setting -- Setting: hostname, Expected: [server1.example.com]");
        return NULL;
    }
    json_object_foreach (settings, option, value) {
        if (strcmp(option, "nozeroconf") == 0 && !set_truth_quoted(out, option, value, quote, err))
            return NULL;
        if (!ip_word_in("networking|hostname|nozeroconf", option))
            set_quoted(out, option, value, quote);
    }
    set_quoted(out, "hostname", host, quote);
    /* IPv6 is turned off by leaving its line out: ifcfg.h's rows write "yes" or nothing. */
    if (value_get(settings, "enable_ipv6") != NULL && netword_truth(value_get(settings, "enable_ipv6")) == 0)
        json_object_del(out, "enable_ipv6");
    return STEAL(out);
}

static int
rh_build_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *settings = value_get(args, "settings");
    bool fine = ip_check_settings(settings, err) == 0 &&
                ifcfg_check(network_lines, NELEMS(network_lines), settings, err) == 0;
    json_auto_t *now = fine ? ifcfg_values(RH_NETWORK_FILE, err) : NULL,
                *wanted = now != NULL ? rh_network_wanted(settings, now, err) : NULL;
    buf_auto_t text = BUF_INIT;

    if (wanted == NULL)
        return err->code;
    ifcfg_text(&text, network_lines, NELEMS(network_lines), wanted);
    if (!value_truthy(value_get(settings, "test")) && ifcfg_put(RH_NETWORK_FILE, &text, err) < 0)
        return err->code;
    *ret_value = ifcfg_lines(buf_str(&text));
    return 0;
}

/* Release 8 has no service "network" any more. */
static int
rh_apply_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool manager = value_int(ctx_grains(ctx), "osmajorrelease", 0) >= 8;
    ip_service_t call = { "service.restart", manager ? "NetworkManager" : "network" };

    return ip_apply(ctx, args, &call, 1, ret_value, err);
}

/* Amazon Linux before 2 has a year as its version, and other scripts. */
static const char *
rh_ip_unavailable(call_ctx_t *ctx)
{
    const json_t *grains = ctx_grains(ctx);
    bool is = strcmp(value_str(grains, "os_family", ""), "RedHat") == 0 &&
              (strcmp(value_str(grains, "os", ""), "Amazon") != 0 ||
               value_int(grains, "osmajorrelease", 0) >= 2);

    return is ? NULL
              : "The rh_ip execution module cannot be loaded: this module is only available on RHEL/Fedora based "
                "distributions.";
}

/* Its row tells a function which of them runs. */
#define rh_up   rh_switch
#define rh_down rh_switch

static const func_t funcs[] = {
#define IP_ROW(name, args, flags, program, doc) { #name, rh_##name, args, flags, doc, .data.text = program },
#include "plugins/lib/net/ip_api.def"
#undef IP_ROW
};

PLUGIN(exec, rh_ip, .provides = "ip", .doc = "Network interfaces of Red Hat", FUNCS(funcs),
       .unavailable = rh_ip_unavailable);
