/* debsettings.c - the adapter of /etc/network/interfaces that a state's settings ask for. Salt keeps both
 * families of an adapter until the end, so a setting can go to either; those without a setting of their own
 * are then dropped. */
#include <ctype.h>
#include <errno.h>

#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"

static const char *const families[] = { "inet", "inet6" };

/* "eth0" of "eth0.10". NEW. */
static char *
raw_device(const char *iface)
{
    buf_auto_t out = BUF_INIT;

    while (*iface != '\0') {
        if (*iface == '.')
            iface += 1 + strspn(iface + 1, "0123456789");
        else
            buf_putc(&out, *iface++);
    }
    buf_puts(&out, "");
    return out.len > 0 ? buf_steal(&out) : xstrdup("");
}

/* What the type adds to a family. False with *err. */
static bool
add_type(json_t *family, const char *name, const char *iface, const char *type, const json_t *settings,
         const json_t *grains, fail_t *err)
{
    json_auto_t *part = NULL;
    AUTO_FREE char *raw = raw_device(iface);

    if (strcmp(type, "bridge") != 0) {
        json_auto_t *ethtool = debopts_ethtool(iface, settings, err);
        if (ethtool == NULL)
            return false;
        if (json_object_size(ethtool) > 0)
            json_object_set(family, "ethtool", ethtool);
    }
    if (strcmp(type, "eth") == 0)
        return true;
    if (strcmp(type, "bridge") == 0) {
        part = debopts_bridge(iface, settings, err);
        json_object_set(family, "bridging", part);
    } else if (strcmp(type, "bond") == 0) {
        part = debopts_bond(iface, settings, grains, err);
        if (part != NULL)
            json_object_set(part, "slaves", value_get(settings, "slaves"));
        json_object_set(family, "bonding", part);
    } else if (strcmp(type, "pppoe") == 0) {
        part = debopts_pppoe(iface, settings, err);
        if (part != NULL)
            json_object_update(family, part);
    } else {
        part = json_true();
        if (strcmp(type, "slave") == 0)
            json_object_set(family, "master", value_get(settings, "master"));
        else
            json_object_set_new(family, "vlan_raw_device", json_string(raw));
    }
    json_object_set_new(family, "addrfam", json_string(name));
    return part != NULL;
}

/* The word of the file for a setting's name. */
static const char *
debian_word(const char *setting)
{
    static const struct {
        const char *salt, *debian;
    } words[] = { { "dns", "dns-nameservers" },
                  { "search", "dns-search" },
                  { "hwaddr", "hwaddress" },
                  { "ipaddr", "address" },
                  { "ipaddrs", "addresses" } };

    for (size_t i = 0; i < NELEMS(words); i++) {
        if (strcmp(setting, words[i].salt) == 0)
            return words[i].debian;
    }
    return setting;
}

/* Puts a setting where it belongs: "ipv6gateway" into one family, "mtu" into both where they have none yet. */
static void
add_setting(json_t *data, const char *setting, const json_t *value)
{
    static const char *const ipv4[] = { "ipaddr", "address", "ipaddresses", "addresses", "gateway", "proto" };
    const char *only = str_starts(setting, "ipv4") ? "inet" : str_starts(setting, "ipv6") ? "inet6" : NULL;
    const char *word = debian_word(only != NULL ? setting + 4 : setting);
    AUTO_FREE char *key = str_replace(word, "-", "_");
    bool valid;

    for (size_t i = 0; only == NULL && i < NELEMS(ipv4); i++)
        only = strcmp(setting, ipv4[i]) == 0 ? "inet" : NULL;
    if (only != NULL)
        json_object_set_new(value_get(data, only), "addrfam", json_string(only));
    for (size_t i = 0; i < NELEMS(families); i++) {
        json_t *family = value_get(data, families[i]);
        json_auto_t *checked = debcheck_value(word, families[i], value, &valid);
        if (valid && (only != NULL ? strcmp(only, families[i]) == 0 : value_get(family, key) == NULL))
            json_object_set(family, key, checked);
    }
}

/* Commands go into both families, families without a setting of their own and such that are turned off go
 * away. */
static void
end_families(json_t *data, const json_t *settings)
{
    static const char *const commands[] = { "up_cmds",   "pre_up_cmds",   "post_up_cmds",
                                            "down_cmds", "pre_down_cmds", "post_down_cmds" };
    static const char *const enable[] = { "enable_ipv4", "enable_ipv6" };

    for (size_t i = 0; i < NELEMS(families); i++) {
        json_t *family = value_get(data, families[i]);
        for (size_t k = 0; k < NELEMS(commands); k++) {
            if (value_get(settings, commands[k]) != NULL)
                json_object_set(family, commands[k], value_get(settings, commands[k]));
        }
        if (json_is_false(value_get(settings, enable[i])) ||
            strcmp(value_str(family, "addrfam", ""), families[i]) != 0)
            json_object_del(data, families[i]);
    }
}

/* The adapter: {"type", "enabled", "hotplug", "data": {family: options}}. NEW, or NULL with *err. */
json_t *
debiface_of(const char *iface, const char *type, bool enabled, const json_t *settings, const json_t *grains,
            fail_t *err)
{
    bool slave = strcmp(type, "slave") == 0;
    json_t *data, *value;
    const char *setting;

    if (strcmp(type, "source") == 0)
        return value_get(settings, "source") != NULL ? json_pack("{s:s, s:{s:[O]}}", "type", type, "data",
                                                                 "sources", value_get(settings, "source"))
                                                     : netword_bad(err, iface, "source", "path of a file");
    json_auto_t *adapter = json_pack("{s:s, s:{s:{}, s:{}}}", "type", type, "data", "inet", "inet6");
    data = value_get(adapter, "data");
    if (enabled)
        json_object_set_new(adapter, "enabled", json_true());
    if (value_truthy(value_get(settings, "hotplug")))
        json_object_set_new(adapter, "hotplug", json_true());
    for (size_t i = 0; i < NELEMS(families); i++) {
        if (!add_type(value_get(data, families[i]), families[i], iface, type, settings, grains, err))
            return NULL;
    }
    json_object_foreach ((json_t *) settings, setting, value) {
        /* `mode` is a bond's and was read with it; a slave's method is "manual" whatever the settings say. */
        if (strcmp(setting, "mode") != 0 && !(slave && strcmp(setting, "proto") == 0))
            add_setting(data, setting, value);
    }
    if (slave) {
        json_auto_t *manual = json_string("manual");
        add_setting(data, "proto", manual);
    }
    end_families(data, settings);
    return STEAL(adapter);
}
