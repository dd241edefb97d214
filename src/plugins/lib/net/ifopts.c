/* ifopts.c - see ifopts.h: the settings of an interface, checked in the order in which Salt checks them. */
#include "plugins/lib/net/ifopts.h"

#include <ctype.h>
#include <errno.h>
#include <sys/socket.h>

#include "common/base/str.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/net/debiface.h"
#include "plugins/lib/net/ip_api.h"
#include "plugins/lib/returner/retopts.h"
#include "salt/log.h"

static bool
is_type(const ifopts_t *self, const char *list)
{
    return ip_word_in(list, self->type);
}

/* The setting as it is, where it is there. */
static void
copy_setting(const ifopts_t *self, const char *option)
{
    if (value_get(self->settings, option) != NULL)
        json_object_set(self->out, option, value_get(self->settings, option));
}

/* "yes" or "no" by the setting, where it is there. */
static bool
set_yes(const ifopts_t *self, const char *option)
{
    json_t *value = value_get(self->settings, option);
    int truth = value != NULL ? netword_truth(value) : 0;

    if (value != NULL && truth >= 0)
        json_object_set_new(self->out, option, json_string(truth > 0 ? "yes" : "no"));
    return truth >= 0 || ifopts_bad_value(self, value, NETWORD_TRUTHS);
}

/* {word: value} as one text. */
static void
set_pairs(const ifopts_t *self, const char *option, const json_t *pairs, const char *between)
{
    buf_auto_t text = BUF_INIT;
    const char *word;
    json_t *value;

    json_object_foreach ((json_t *) pairs, word, value) {
        AUTO_FREE char *one = value_pystr(value);
        buf_printf(&text, "%s%s%s%s", text.len > 0 ? " " : "", word, between, one);
    }
    if (text.len > 0)
        json_object_set_new(self->out, option, json_string(buf_str(&text)));
}

/* ---- parts that only some types have -------------------------------------------------------------- */

/* A bond's options are one line, BONDING_OPTS="mode=1 miimon=100"; its slaves are lines of their own with
 * SUSE. */
static bool
set_bond(const ifopts_t *self)
{
    json_auto_t *bond = ifopts_bond(self);
    json_t *slaves = value_get(self->settings, "slaves");

    if (bond == NULL)
        return false;
    set_pairs(self, "bonding", bond, "=");
    json_object_set_new(self->out, "devtype", json_string("Bond"));
    if (json_is_string(slaves)) {
        char **words = str_split(json_string_value(slaves), " \t\n", true);
        json_t *list = json_array();
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(list, json_string(words[i]));
        strv_free(words);
        json_object_set_new(self->out, "slaves", list);
    } else if (slaves != NULL) {
        json_object_set(self->out, "slaves", slaves);
    }
    return true;
}

/* Settings of a VLAN are checked even where they are then written as they were. */
static bool
set_vlan(const ifopts_t *self)
{
    static const char *const options[] = { "reorder_hdr", "vlan_id", "phys_dev" };
    json_t *order = value_get(self->settings, "reorder_hdr"), *id = value_get(self->settings, "vlan_id"),
           *device = value_get(self->settings, "phys_dev");
    json_int_t number;

    if (order != NULL && netword_truth(order) < 0)
        return ifopts_bad(self, "reorder_hdr", NETWORD_TRUTHS);
    if (id != NULL && (!netword_int(id, &number) || number <= 0))
        return ifopts_bad(self, "vlan_id", "Positive integer");
    if (device != NULL && !value_truthy(device))
        return ifopts_bad(self, "phys_dev", "Non-empty string");
    for (size_t i = 0; i < NELEMS(options); i++)
        copy_setting(self, options[i]);
    if (order != NULL || id != NULL || device != NULL)
        json_object_set_new(self->out, "devtype", json_string("Vlan"));
    return true;
}

/* Six parts of one or two hexadecimal digits, with the same sign between them. */
static bool
ifopts_is_mac(const json_t *value)
{
    const char *at = json_string_value(value);
    char sign = '\0';

    for (int part = 0; at != NULL && part < 6; part++) {
        size_t n = strspn(at, "0123456789abcdefABCDEF");
        if (n < 1 || n > 2)
            return false;
        at += n;
        if (part == 0)
            sign = *at;
        if (part < 5 && (*at != sign || strchr("-:.", *at) == NULL || *at++ == '\0'))
            return false;
    }
    return at != NULL && *at == '\0';
}

/* The given address, or the one that the interface has. A type whose address the kernel makes, of its parts,
 * is not asked about. */
static bool
set_hardware_address(const ifopts_t *self)
{
    json_t *given = value_get(self->settings, "hwaddr");
    const char *word = json_string_value(given);

    if (is_type(self, "bond|team|vlan|bridge|ipip") || ifopts_is_mac(given)) {
        copy_setting(self, "hwaddr");
        return true;
    }
    if (given != NULL && !str_eq(word, "auto") && !str_eq(word, "none"))
        return ifopts_bad_value(self, given, "AA:BB:CC:DD:EE:FF|auto|none");
    if (str_eq(word, "none") || is_type(self, "slave"))
        return true;
    json_auto_t *all = sub_call(self->ctx, self->err, "network.interfaces", NULL);
    json_t *has = value_get(value_get(all, self->iface), "hwaddr");
    if (has != NULL)
        json_object_set(self->out, "hwaddr", has);
    return all != NULL;
}

/* Packets that cross a bridge pass the firewall, or not: settings of the kernel. They are set at once, by
 * sysctl.persist, as no file of the interface has them; a kernel without the module has no such keys, which
 * is a warning. */
static bool
set_bypass(const ifopts_t *self)
{
    /* Bypassing is the default, as Salt has it. */
    static const char *const keys[] = { "net.bridge.bridge-nf-call-ip6tables",
                                        "net.bridge.bridge-nf-call-iptables",
                                        "net.bridge.bridge-nf-call-arptables" };
    json_t *given = value_get(self->settings, "bypassfirewall");
    int bypass = given != NULL ? netword_truth(given) : 1;

    if (bypass < 0)
        return ifopts_bad_value(self, given, NETWORD_TRUTHS);
    for (size_t i = 0; !self->test && i < NELEMS(keys); i++) {
        fail_t why = FAIL_INIT;
        json_auto_t *did = sub_call(self->ctx, &why, "sysctl.persist", "{s:s, s:i}", "name", keys[i], "value",
                                    bypass > 0 ? 0 : 1);
        if (did == NULL)
            log_warning("%s can't be set: %s", keys[i], why.text);
        fail_clear(&why);
    }
    return true;
}

/* The part of the settings that the type is about. False with *err. */
static bool
set_by_type(const ifopts_t *self)
{
    static const char *const named[][2] = {
        { "eth", "Ethernet" }, { "bridge", "Bridge" }, { "ipip", "IPIP" }, { "ib", "InfiniBand" }
    };
    static const char *const ends[] = { "my_inner_ipaddr", "my_outer_ipaddr" };

    if (!is_type(self, "bridge")) {
        json_auto_t *ethtool = ifopts_ethtool(self);
        if (ethtool == NULL)
            return false;
        set_pairs(self, "ethtool", ethtool, " ");
    }
    if (is_type(self, "slave"))
        json_object_set_new(self->out, "proto", json_string("none"));
    /* teamd reads its configuration as JSON, in quotes of the shell. */
    if (is_type(self, "team|teamport")) {
        const char *option = is_type(self, "team") ? "team_config" : "team_port_config";
        json_t *config = value_get(self->settings, option);
        AUTO_FREE char *text = config != NULL ? ret_json(config) : NULL;
        json_object_set_new(self->out, "devicetype",
                            json_string(is_type(self, "team") ? "Team" : "TeamPort"));
        if (is_type(self, "teamport"))
            copy_setting(self, "team_master");
        if (text != NULL)
            json_object_set_new(self->out, option, json_string(text));
    }
    if ((is_type(self, "bond") && !set_bond(self)) || (is_type(self, "vlan") && !set_vlan(self)) ||
        (!self->family->suse && !set_hardware_address(self)))
        return false;
    for (size_t i = 0; i < NELEMS(named); i++) {
        if (is_type(self, named[i][0]))
            json_object_set_new(self->out, "devtype", json_string(named[i][1]));
    }
    if (is_type(self, "bridge"))
        return set_bypass(self);
    copy_setting(self, "bridge");
    /* A tunnel has two ends here, both of which must be given. */
    for (size_t i = 0; is_type(self, "ipip") && i < NELEMS(ends); i++) {
        if (value_get(self->settings, ends[i]) == NULL)
            return ifopts_bad(self, ends[i], "1.2.3.4");
        copy_setting(self, ends[i]);
    }
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------------ */

/* Red Hat: {"ipaddr", "prefix"} of each; both kinds of addresses as they are with SUSE. */
static bool
add_address(const ifopts_t *self, json_t *list, const json_t *value)
{
    const char *text = json_string_value(value), *slash = text != NULL ? strchr(text, '/') : NULL;

    if (self->family->suse && (ifcfg_is_address(AF_INET, value) || ifcfg_is_address(AF_INET6, value)))
        return json_array_append(list, (json_t *) value) == 0;
    if (!self->family->suse && slash != NULL && ifcfg_is_address(AF_INET, value)) {
        AUTO_FREE char *host = xstrndup(text, (size_t) (slash - text)), *prefix = xstrdup(slash + 1);
        return json_array_append_new(
                   list, json_pack("{s:s, s:s}", "ipaddr", str_trim(host), "prefix", str_trim(prefix))) == 0;
    }
    AUTO_FREE char *word = value_pystr(value);
    if (self->family->suse)
        (void) fail_set(self->err, -EINVAL, "%s is invalid ipv4 or ipv6 CIDR", word);
    else
        (void) fail_set(self->err, -EINVAL, "ipv4 CIDR is invalid");
    return false;
}

/* The error differs between the families, as in Salt. */
static bool
check_six(const ifopts_t *self, const json_t *value)
{
    AUTO_FREE char *word = value_pystr(value);

    if (ifcfg_is_address(AF_INET6, value))
        return true;
    if (self->family->suse)
        (void) fail_set(self->err, -EINVAL, "%s is invalid ipv6 CIDR", word);
    else
        (void) fail_set(self->err, -EINVAL, "ipv6 CIDR is invalid");
    return false;
}

/* Addresses beside the first. SUSE has one list of both families, Red Hat lines of its own for IPv6. */
static bool
set_addresses(const ifopts_t *self)
{
    json_t *four = value_get(self->settings, "ipaddrs"), *six = value_get(self->settings, "ipv6addrs"),
           *one = value_get(self->settings, "ipv6addr"), *value;
    json_auto_t *list = json_array();
    size_t i;

    json_array_foreach (four, i, value) {
        if (!add_address(self, list, value))
            return false;
    }
    if (self->family->suse && one != NULL && (!check_six(self, one) || json_array_append(list, one) < 0))
        return false;
    json_array_foreach (six, i, value) {
        if (!check_six(self, value) || (self->family->suse && json_array_append(list, value) < 0))
            return false;
    }
    json_object_set(self->out, "ipaddrs", list);
    if (!self->family->suse) {
        copy_setting(self, "ipv6addr");
        copy_setting(self, "ipv6gateway");
        copy_setting(self, "ipv6addrs");
    }
    return true;
}

/* ---- all together --------------------------------------------------------------------------------- */

/* The interface's start with the machine, and who may switch it. */
static bool
set_start(const ifopts_t *self, bool enabled)
{
    json_t *mode = value_get(self->settings, "startmode");

    if (!self->family->suse) {
        json_object_set_new(self->out, "onboot", json_string(enabled ? "yes" : "no"));
        json_object_set_new(self->out, "userctl", json_string("no"));
        return set_yes(self, "userctl");
    }
    if (mode != NULL && !ip_word_in("manual|auto|nfsroot|hotplug|off", json_string_value(mode)))
        return ifopts_bad_value(self, mode, "manual|auto|nfsroot|hotplug|off");
    json_object_set_new(self->out, "startmode", json_string(enabled ? "auto" : "off"));
    copy_setting(self, "startmode");
    return true;
}

/* The settings that every type has first. False with *err. */
static bool
set_begin(const ifopts_t *self)
{
    json_t *proto = value_get(self->settings, "proto"), *mtu = value_get(self->settings, "mtu");
    json_int_t number;

    if (proto != NULL && !ip_word_in(self->family->protos, json_string_value(proto)))
        return ifopts_bad_value(self, proto, self->family->protos);
    copy_setting(self, "proto");
    if (!self->family->suse && value_get(self->settings, "dns") != NULL) {
        copy_setting(self, "dns");
        json_object_set_new(self->out, "peerdns", json_string("yes"));
    }
    if (mtu != NULL && !netword_int(mtu, &number))
        return ifopts_bad(self, "mtu", "integer");
    if (mtu != NULL)
        json_object_set_new(self->out, "mtu", json_integer(number));
    if (value_get(self->settings, "hwaddr") != NULL && value_get(self->settings, "macaddr") != NULL) {
        (void) fail_set(self->err, -EINVAL,
                        "Cannot pass both hwaddr and macaddr. Must use either hwaddr or macaddr");
        return false;
    }
    return true;
}

/* The options that the file's lines are made of. The order of the parts is Salt's, so that of several faults
 * the same is told. NEW, or NULL with *err. */
static json_t *
all_options(const ifopts_t *self, bool enabled)
{
    static const char *const copied[] = { "ipaddr",     "master",        "srcaddr", "delay",
                                          "domain",     "gateway",       "uuid",    "nickname",
                                          "zone",       "enable_ipv6",   "macaddr", "ipaddr_start",
                                          "ipaddr_end", "clonenum_start" };
    static const char *const truths[] = {
        "onparent", "peerdns",      "peerroutes",    "slave",           "vlan",          "defroute",
        "stp",      "ipv6_peerdns", "ipv6_defroute", "ipv6_peerroutes", "ipv6_autoconf", "ipv4_failure_fatal",
        "dhcpv6c"
    };
    json_t *check = value_get(self->settings, "arpcheck");

    json_object_set_new(self->out, "name", json_string(self->iface));
    if (!set_begin(self) || !set_by_type(self))
        return NULL;
    bool prefix = value_get(self->settings, "prefix") != NULL;
    if (prefix && value_get(self->settings, "netmask") != NULL) {
        (void) fail_set(self->err, -EINVAL, "Cannot use prefix and netmask together");
        return NULL;
    }
    copy_setting(self, prefix ? "prefix" : "netmask");
    if (!set_addresses(self))
        return NULL;
    for (size_t i = 0; i < NELEMS(copied); i++)
        copy_setting(self, copied[i]);
    for (size_t i = 0; i < NELEMS(truths); i++) {
        if (!set_yes(self, truths[i]))
            return NULL;
    }
    if (check != NULL && netword_truth(check) == 0)
        json_object_set_new(self->out, "arpcheck", json_string("no"));
    /* NetworkManager keeps its hands off unless the settings say otherwise. */
    json_object_set_new(self->out, "nm_controlled", json_string("no"));
    return set_start(self, enabled) && set_yes(self, "nm_controlled") ? json_incref(self->out) : NULL;
}

/* ---- the file ------------------------------------------------------------------------------------ */

/* NEW: the settings, with what the type says of itself. NULL with *err. */
static json_t *
settings_of_type(const ifcfg_family_t *family, const char *iface, const char *type, const json_t *given,
                 fail_t *err)
{
    json_auto_t *settings = given != NULL ? json_copy((json_t *) given) : json_object();
    json_t *master = value_get(settings, "master"), *team = value_get(settings, "team_master");

    if (!ip_word_in(family->types, type))
        return netword_bad(err, iface, type, family->types);
    if (strcmp(type, "slave") == 0 || strcmp(type, "vlan") == 0)
        json_object_set_new(settings, type, json_string("yes"));
    if (strcmp(type, "slave") == 0 && master == NULL)
        (void) fail_set(err, -EINVAL, "master is a required setting for slave interfaces");
    else if (strcmp(type, "bond") == 0 && value_get(settings, "mode") == NULL)
        (void) fail_set(err, -EINVAL, "mode is required for bond interfaces");
    else if (strcmp(type, "teamport") == 0 && master == NULL && team == NULL)
        (void) fail_set(err, -EINVAL, "master or team_master is a required setting for teamport interfaces");
    else if (ip_word_in("clone|ipsec|dialup", type))
        (void) fail_set(err, -EINVAL, "%s: no file can be written for an interface of type %s", iface, type);
    else {
        if (strcmp(type, "teamport") == 0 && team == NULL)
            json_object_set(settings, "team_master", master);
        if (strcmp(type, "teamport") == 0)
            json_object_del(settings, "master");
        return STEAL(settings);
    }
    return NULL;
}

/* test=True tells the lines and writes nothing; otherwise the file's lines are told as well. */
int
ifopts_build(call_ctx_t *ctx, const ifcfg_family_t *family, const json_t *args, json_t **ret_value,
             fail_t *err)
{
    const char *iface = value_str(args, "iface", "");
    AUTO_FREE char *type = ip_type(args), *path = xasprintf("%s/ifcfg-%s", family->dir, iface);
    json_auto_t *settings = settings_of_type(family, iface, type, value_get(args, "settings"), err),
                *out = json_object();
    ifopts_t asked = {
        ctx, family, iface, type, settings, out, value_truthy(value_get(settings, "test")), err
    };
    /* The package that this type of interface needs. */
    const char *package = strcmp(type, "bridge") == 0 ? "bridge-utils"
                          : strcmp(type, "team") == 0 ? "teamd"
                                                      : NULL;
    buf_auto_t text = BUF_INIT;

    if (settings == NULL || ip_check_iface(args, err) < 0 || ip_check_settings(settings, err) < 0 ||
        ifcfg_check(family->lines, family->n_lines, settings, err) < 0 ||
        (!asked.test && ip_install(ctx, package, err) < 0))
        return err->code;
    json_auto_t *options = all_options(&asked, value_truthy(value_get(args, "enabled")));
    if (options == NULL)
        return err->code;
    ifcfg_text(&text, family->lines, family->n_lines, options);
    if (!asked.test && ifcfg_put(path, &text, err) < 0)
        return err->code;
    *ret_value = ifcfg_lines(buf_str(&text));
    return 0;
}
