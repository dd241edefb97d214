/* suse_ip.c - execution module `ip` on SUSE: interfaces and routes in /etc/sysconfig/network, and the
 * network's own settings in its file `config`. The formats are ifcfg(5), ifroute(5) and the comments of the
 * file config (netconfig(8)). The tables below are as those of rh_ip.c: options of Salt, keys of the file,
 * quotes, in the order of the lines. */
#include "common/base/str.h"
#include "plugins/lib/call/tool.h"
#include "plugins/lib/net/ifopts.h"
#include "plugins/lib/net/ip_api.h"

#define SUSE_DIR          "/etc/sysconfig/network"
#define SUSE_NETWORK_FILE "/etc/sysconfig/network/config"

/* ---- interfaces --------------------------------------------------------------------------------- */

/* Two rows may share an option (bonding: the module's options, and that this is a master) or a key (ipaddr,
 * ipaddrs). */
static const ifcfg_line_t suse_lines[] = {
    { "nickname", "NAME", '\'' },
    { "startmode", "STARTMODE", '\'' },
    { "proto", "BOOTPROTO", '\'' },
    { "uuid", "UUID", '\'' },
    { "vlan", "VLAN", '\'' },
    { "ipaddr", "IPADDR", '\'' },
    { "netmask", "NETMASK", '\'' },
    { "prefix", "PREFIXLEN", '"' },
    { "ipaddrs", "IPADDR", '\'', IFCFG_LIST },
    { "clonenum_start", "CLONENUM_START", '"' },
    { "gateway", "GATEWAY", '"' },
    { "arpcheck", "ARPCHECK", '"' },
    { "srcaddr", "SRCADDR", '"' },
    { "defroute", "DEFROUTE", '"' },
    { "bridge", "BRIDGE", '"' },
    { "stp", "STP", '"' },
    { "delay", "DELAY", '"', IFCFG_ZERO },
    { "mtu", "MTU", '\'' },
    { "zone", "ZONE", '\'' },
    { "bonding", "BONDING_MODULE_OPTS", '\'' },
    { "bonding", "BONDING_MASTER", '\'', IFCFG_YES },
    { "slaves", "BONDING_SLAVE", '\'', IFCFG_LIST, .with = "bonding" },
    { "ethtool", "ETHTOOL_OPTIONS", '\'' },
    { "phys_dev", "ETHERDEVICE", '\'' },
    { "vlan_id", "VLAN_ID", '\'' },
};

static const ifcfg_family_t suse = { SUSE_DIR,
                                     "eth|bond|alias|clone|ipsec|dialup|bridge|slave|vlan|ipip|ib",
                                     "static|dhcp|dhcp4|dhcp6|autoip|dhcp+autoip|auto6|6to4|none",
                                     suse_lines,
                                     NELEMS(suse_lines),
                                     true };

static int
suse_build_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ifopts_build(ctx, &suse, args, ret_value, err);
}

static int
suse_get_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ifcfg_get(&suse, args, ret_value, err);
}

/* A bond's slave comes up with it. */
static int
suse_switch(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ip_switch_iface(ctx, args, "slave", ret_value, err);
}

/* ---- routes ------------------------------------------------------------------------------------- */

/* The file of an interface's routes; `routes` is the one of all. NEW, or NULL with *err. */
static char *
suse_route_file(const json_t *args, fail_t *err)
{
    const char *iface = value_str(args, "iface", "");

    if (ip_check_iface(args, err) < 0)
        return NULL;
    return xasprintf(SUSE_DIR "/%s%s", strcmp(iface, "routes") == 0 ? "" : "ifroute-", iface);
}

/* Destination, gateway, netmask, interface; "-" for what is not said (ifroute(5)). The file for all
 * interfaces names no device by itself, so that a route of it without `dev` has "-". */
static void
suse_route(buf_t *out, const char *iface, const json_t *route)
{
    static const char *const columns[] = { "gateway", "netmask", "dev" };

    ifcfg_member(out, "# ", route, "name", "");
    ifcfg_member(out, "\n", route, "ipaddr", "");
    for (size_t i = 0; i < NELEMS(columns); i++) {
        bool device = i == 2 && strcmp(iface, "routes") != 0;
        if (!ifcfg_member(out, "\t", route, columns[i], ""))
            buf_printf(out, "\t%s", device ? iface : "-");
    }
    ifcfg_member(out, "\tmetric ", route, "metric", "");
    buf_putc(out, '\n');
}

static int
suse_get_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = suse_route_file(args, err);

    *ret_value = path != NULL ? ifcfg_file(path, err) : NULL;
    return *ret_value != NULL ? 0 : err->code;
}

static int
suse_build_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *path = suse_route_file(args, err);
    json_t *routes = path != NULL ? ifcfg_routes(args, err) : NULL, *route;
    buf_auto_t text = BUF_INIT;
    size_t i;

    if (routes == NULL)
        return err->code;
    json_array_foreach (routes, i, route)
        suse_route(&text, value_str(args, "iface", ""), route);
    if (!value_truthy(value_get(value_get(args, "settings"), "test")) && ifcfg_put(path, &text, err) < 0)
        return err->code;
    *ret_value = ifcfg_lines(buf_str(&text));
    return 0;
}

/* ---- the network's settings --------------------------------------------------------------------- */

static const ifcfg_line_t network_lines[] = {
    { "auto6_wait_at_boot", "AUTO6_WAIT_AT_BOOT", '"' },
    { "auto6_update", "AUTO6_UPDATE", '"' },
    { "link_required", "LINK_REQUIRED", '"' },
    { "wicked_debug", "WICKED_DEBUG", '"' },
    { "wicked_log_level", "WICKED_LOG_LEVEL", '"' },
    { "check_duplicate_ip", "CHECK_DUPLICATE_IP", '"' },
    { "send_gratuitous_arp", "SEND_GRATUITOUS_ARP", '"' },
    { "debug", "DEBUG", '"' },
    { "wait_for_interfaces", "WAIT_FOR_INTERFACES", '"' },
    { "firewall", "FIREWALL", '"' },
    { "nm_online_timeout", "NM_ONLINE_TIMEOUT", '"' },
    { "netconfig_modules_order", "NETCONFIG_MODULES_ORDER", '"' },
    { "netconfig_verbose", "NETCONFIG_VERBOSE", '"' },
    { "netconfig_force_replace", "NETCONFIG_FORCE_REPLACE", '"' },
    { "dns_policy", "NETCONFIG_DNS_POLICY", '"' },
    { "dns_forwarder", "NETCONFIG_DNS_FORWARDER", '"' },
    { "dns_forwarder_fallback", "NETCONFIG_DNS_FORWARDER_FALLBACK", '"' },
    { "dns_search", "NETCONFIG_DNS_STATIC_SEARCHLIST", '"', IFCFG_WORDS },
    { "dns", "NETCONFIG_DNS_STATIC_SERVERS", '"', IFCFG_WORDS },
    { "dns_ranking", "NETCONFIG_DNS_RANKING", '"' },
    { "dns_resolver_options", "NETCONFIG_DNS_RESOLVER_OPTIONS", '"' },
    { "dns_resolver_sortlist", "NETCONFIG_DNS_RESOLVER_SORTLIST", '"' },
    { "ntp_policy", "NETCONFIG_NTP_POLICY", '"' },
    { "ntp_static_servers", "NETCONFIG_NTP_STATIC_SERVERS", '"' },
    { "nis_policy", "NETCONFIG_NIS_POLICY", '"' },
    { "nis_setdomainname", "NETCONFIG_NIS_SETDOMAINNAME", '"' },
    { "nis_static_domain", "NETCONFIG_NIS_STATIC_DOMAIN", '"' },
    { "nis_static_servers", "NETCONFIG_NIS_STATIC_SERVERS", '"' },
    { "wireless_regulatory_domain", "WIRELESS_REGULATORY_DOMAIN", '"' },
};

static int
suse_get_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = ifcfg_file(SUSE_NETWORK_FILE, err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Sets the option, a list of words as the words with one blank between. */
static void
set_words(json_t *out, const char *option, const json_t *value)
{
    const char *text = json_string_value(value);

    if (text == NULL || (strcmp(option, "dns") != 0 && strcmp(option, "dns_search") != 0)) {
        json_object_set(out, option, (json_t *) value);
        return;
    }
    char **words = str_split(text, " \t\n", true);
    json_t *list = json_array();
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    strv_free(words);
    json_object_set_new(out, option, list);
}

/* Puts what the file has into the options, by the option of each key. Keys of the file that no row knows are
 * lost: Salt writes the file from its template as well. */
static void
retain(json_t *out, const json_t *now)
{
    for (size_t i = 0; i < NELEMS(network_lines); i++) {
        AUTO_FREE char *key = ip_small(xstrdup(network_lines[i].key));
        json_t *value = value_get(now, key);
        char quote;
        json_auto_t *plain = value != NULL ? ifcfg_unquoted(value, &quote) : NULL;
        if (plain != NULL)
            set_words(out, network_lines[i].option, plain);
    }
}

/* The settings are checked and the program is found before the file is written, so that a host without
 * netconfig keeps its file. */
static int
suse_build_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *settings = ifcfg_small_keys(value_get(args, "settings")), *wanted = json_object();
    bool fine = ip_check_settings(settings, err) == 0 &&
                ifcfg_check(network_lines, NELEMS(network_lines), settings, err) == 0;
    json_auto_t *now = fine ? ifcfg_values(SUSE_NETWORK_FILE, err) : NULL;
    buf_auto_t text = BUF_INIT;
    prog_auto_t prog = PROG_INIT;
    const char *option;
    json_t *value;
    int code;

    if (now == NULL)
        return err->code;
    /* Given settings win over those kept, hence the order. */
    if (value_truthy(value_get(settings, "retain_settings")))
        retain(wanted, now);
    json_object_foreach (settings, option, value)
        set_words(wanted, option, value);
    ifcfg_text(&text, network_lines, NELEMS(network_lines), wanted);
    if (!value_truthy(value_get(settings, "test"))) {
        if (tool_begin(&prog, "netconfig", err) < 0 || ifcfg_put(SUSE_NETWORK_FILE, &text, err) < 0)
            return err->code;
        /* netconfig writes /etc/resolv.conf and its like from the new file; -f also where a user has changed
         * those. */
        prog_adds(&prog, "update", "-f", NULL);
        prog.timeout_ms = LIMIT_TOOL_MS;
        if (tool_retcode(ctx, &prog, 0, &code, err) < 0)
            return err->code;
    }
    *ret_value = ifcfg_lines(buf_str(&text));
    return 0;
}

static int
suse_apply_network_settings(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const ip_service_t call = { "service.reload", "network" };

    return ip_apply(ctx, args, &call, 1, ret_value, err);
}

static const char *
suse_ip_unavailable(call_ctx_t *ctx)
{
    return strcmp(value_str(ctx_grains(ctx), "os_family", ""), "Suse") == 0
               ? NULL
               : "The suse_ip execution module cannot be loaded: this module is only available on SUSE based "
                 "distributions.";
}

/* Which of them runs is told by its row; here they need no type. */
#define suse_up        suse_switch
#define suse_down      suse_switch
#define ip_switch_args ip_switch_any_args

static const func_t funcs[] = {
#define IP_ROW(name, args, flags, program, doc)                                                              \
    { #name, suse_##name, args, flags, doc, .data.text = program },
#include "plugins/lib/net/ip_api.def"
#undef IP_ROW
};

PLUGIN(exec, suse_ip, .provides = "ip", .doc = "Network interfaces of SUSE", FUNCS(funcs),
       .unavailable = suse_ip_unavailable);
