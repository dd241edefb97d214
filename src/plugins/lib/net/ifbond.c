/* ifbond.c - see ifopts.h: words of ethtool, and the options of a bond, in an interface's file. The kernel's
 * documentation networking/bonding names the options; the lists of values are Salt's, an error shows them. */
#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"
#include "plugins/lib/net/ifopts.h"
#include "plugins/lib/net/ip_api.h"

bool
ifopts_bad(const ifopts_t *self, const char *option, const char *expected)
{
    (void) netword_bad(self->err, self->iface, option, expected);
    return false;
}

/* The error shows the value in the place of the option's name, which is Salt's way for some. */
bool
ifopts_bad_value(const ifopts_t *self, const json_t *value, const char *expected)
{
    AUTO_FREE char *text = value_pystr(value);

    return ifopts_bad(self, text, expected);
}

/* ---- ethtool ------------------------------------------------------------------------------------ */

/* "on" or "off" by the setting, where it is there. */
static bool
set_switch(const ifopts_t *self, json_t *out, const char *option)
{
    json_t *value = value_get(self->settings, option);
    int truth = value != NULL ? netword_truth(value) : 0;

    if (value != NULL && truth >= 0)
        json_object_set_new(out, option, json_string(truth > 0 ? "on" : "off"));
    return truth >= 0 || ifopts_bad(self, option, NETWORD_TRUTHS);
}

/* The setting as it is, when its text is one of the list. */
static bool
set_one_of(const ifopts_t *self, json_t *out, const char *option, const char *list)
{
    json_t *value = value_get(self->settings, option);
    AUTO_FREE char *text = value != NULL ? value_pystr(value) : NULL;

    if (value == NULL)
        return true;
    if (!ip_word_in(list, text))
        return strcmp(option, "speed") == 0 ? ifopts_bad_value(self, value, list)
                                            : ifopts_bad(self, option, list);
    json_object_set(out, option, value);
    return true;
}

/* "-L eth0": "rx 1 tx 2", each at most the number of processors. ethtool -L sets them; its words follow the
 * interface's name. */
static bool
set_channels(const ifopts_t *self, json_t *out)
{
    static const char *const names[] = { "rx", "tx", "other", "combined" };
    json_t *channels = value_get(self->settings, "channels");
    json_int_t most = value_int(ctx_grains(self->ctx), "num_cpus", 1);
    AUTO_FREE char *key = xasprintf("-L %s", self->iface);
    buf_auto_t words = BUF_INIT, range = BUF_INIT;

    for (json_int_t i = 1; i <= most; i++)
        buf_printf(&range, "%s%lld", i > 1 ? "|" : "", (long long) i);
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *value = value_get(channels, names[i]);
        if (value == NULL)
            continue;
        if (!json_is_integer(value) || json_integer_value(value) < 1 || json_integer_value(value) > most)
            return ifopts_bad_value(self, value, buf_str(&range));
        buf_printf(&words, "%s%s %lld", words.len > 0 ? " " : "", names[i],
                   (long long) json_integer_value(value));
    }
    if (words.len > 0)
        json_object_set_new(out, key, json_string(buf_str(&words)));
    return true;
}

/* The words for `ethtool -s` and `-K`, in the order in which they are written. */
json_t *
ifopts_ethtool(const ifopts_t *self)
{
    static const char *const offloads[] = { "rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro" };
    json_auto_t *out = json_object();

    if (!set_switch(self, out, "autoneg") || !set_one_of(self, out, "duplex", "full|half") ||
        !set_one_of(self, out, "speed", "10|100|1000|10000") ||
        !set_one_of(self, out, "advertise",
                    "0x001|0x002|0x004|0x008|0x010|0x020|0x20000|0x8000|0x1000|0x40000|0x80000|0x200000|"
                    "0x400000|0x800000|0x1000000|0x2000000|0x4000000") ||
        !set_channels(self, out))
        return NULL;
    for (size_t i = 0; i < NELEMS(offloads); i++) {
        if (!set_switch(self, out, offloads[i]))
            return NULL;
    }
    return STEAL(out);
}

/* ---- bonds -------------------------------------------------------------------------------------- */

/* A setting that must be a whole number; *ret_there tells that it is given. */
static bool
whole_setting(const ifopts_t *self, json_t *out, const char *option, json_int_t *ret_v, bool *ret_there)
{
    json_t *value = value_get(self->settings, option);

    *ret_there = value != NULL;
    if (value != NULL && !netword_int(value, ret_v))
        return ifopts_bad(self, option, "integer");
    if (value != NULL)
        json_object_set(out, option, value);
    return true;
}

/* How often the links are looked at, and the delays, which are multiples of it. *ret_there: it is given. */
static bool
set_miimon(const ifopts_t *self, json_t *out, bool *ret_there)
{
    static const char *const delays[] = { "downdelay", "updelay" };
    json_int_t every = 0, delay[2] = { 0, 0 };
    bool there[2];
    json_t *carrier = value_get(self->settings, "use_carrier");
    int truth = carrier != NULL ? netword_truth(carrier) : 0;

    if (!whole_setting(self, out, "miimon", &every, ret_there) ||
        !whole_setting(self, out, delays[0], &delay[0], &there[0]) ||
        !whole_setting(self, out, delays[1], &delay[1], &there[1]))
        return false;
    if (!*ret_there)
        return true;
    if (every == 0)
        return ifopts_bad(self, "miimon", "nonzero integer");
    /* Salt's default, which the kernel has not. */
    if (!there[0])
        json_object_set_new(out, delays[0], json_integer(every * 2));
    for (size_t i = 0; i < 2; i++) {
        if (there[i] && delay[i] % every != 0) {
            AUTO_FREE char *expected = xasprintf("0 or a multiple of miimon (%lld)", (long long) every);
            return ifopts_bad(self, delays[i], expected);
        }
    }
    json_object_set_new(out, "use_carrier", json_string(truth > 0 ? "1" : "0"));
    return truth >= 0 || ifopts_bad(self, "use_carrier", NETWORD_TRUTHS);
}

/* How often addresses are asked for, and which. *ret_there: it is given. */
static bool
set_arp(const ifopts_t *self, json_t *out, bool *ret_there)
{
    json_t *targets = value_get(self->settings, "arp_ip_target");
    json_int_t every;

    if (!whole_setting(self, out, "arp_interval", &every, ret_there))
        return false;
    if (!*ret_there)
        return true;
    if (!json_is_array(targets) || json_array_size(targets) < 1 || json_array_size(targets) > 16)
        return ifopts_bad(self, "arp_ip_target", "list of ips (up to 16)");
    AUTO_FREE char *text = value_joined(targets, ",");
    json_object_set_new(out, "arp_ip_target", json_string(text));
    return true;
}

/* How often the partner sends, and which aggregation wins: 802.3ad alone. Both have a default here, unlike
 * the others: the line always has them. */
static bool
set_lacp(const ifopts_t *self, json_t *out)
{
    json_t *rate = value_get(self->settings, "lacp_rate");
    const char *word = json_string_value(rate);
    json_int_t number;
    bool there;

    if (rate != NULL && !ip_word_in("fast|1|slow|0", word))
        return ifopts_bad(self, "lacp_rate", "fast|1|slow|0");
    json_object_set_new(out, "lacp_rate", json_string(str_eq(word, "fast") || str_eq(word, "1") ? "1" : "0"));
    if (!whole_setting(self, out, "ad_select", &number, &there))
        return false;
    if (!there)
        json_object_set_new(out, "ad_select", json_string("0"));
    return true;
}

/* How packets are spread. */
static bool
ifbond_set_hash(const ifopts_t *self, json_t *out, bool lacp)
{
    json_t *value = value_get(self->settings, "hashing-algorithm");
    const char *list = !lacp || self->family->suse ? "layer2|layer2+3|layer3+4"
                       : value_int(ctx_grains(self->ctx), "osmajorrelease", 0) < 8
                           ? "layer2|layer2+3|layer3+4|encap2+3|encap3+4"
                           : "layer2|layer2+3|layer3+4|encap2+3|encap3+4|vlan+srcmac";

    if (value == NULL)
        return true;
    if (!ip_word_in(list, json_string_value(value)))
        return ifopts_bad(self, "hashing-algorithm", list);
    json_object_set(out, "xmit_hash_policy", value);
    return true;
}

/* Options of each mode besides the links' delays. */
static const struct {
    const char *name, *number;
    bool arp, primary, lacp, hash;
} modes[] = {
    { "balance-rr", "0", .arp = true },
    { "active-backup", "1", .primary = true },
    { "balance-xor", "2", .arp = true, .hash = true },
    { "broadcast", "3" },
    { "802.3ad", "4", .lacp = true, .hash = true },
    { "balance-tlb", "5", .primary = true },
    { "balance-alb", "6", .primary = true },
};

/* The link's watch (miimon), or for some modes ARP, must be set. */
json_t *
ifopts_bond(const ifopts_t *self)
{
    AUTO_FREE char *mode = value_pystr(value_get(self->settings, "mode"));
    json_t *primary = value_get(self->settings, "primary");
    json_auto_t *out = json_object();
    bool links = false, asks = false;
    size_t i = 0;

    while (i < NELEMS(modes) && strcmp(mode, modes[i].name) != 0 && strcmp(mode, modes[i].number) != 0)
        i++;
    if (i == NELEMS(modes))
        return netword_bad(self->err, self->iface, "mode",
                           "0|1|2|3|4|5|6|balance-rr|active-backup|balance-xor|broadcast|802.3ad|"
                           "balance-tlb|balance-alb");
    json_object_set_new(out, "mode", json_string(modes[i].number));
    if (!set_miimon(self, out, &links) || (modes[i].arp && !set_arp(self, out, &asks)))
        return NULL;
    /* A bond must watch its links or ask for addresses, else it never notices that one is dead. */
    if (!links && !modes[i].arp)
        return netword_bad(self->err, self->iface, "miimon", "integer");
    if (!links && !asks)
        return netword_bad(self->err, self->iface, "miimon or arp_interval",
                           "at least one of these is required");
    if (modes[i].primary && primary != NULL)
        json_object_set(out, "primary", primary);
    if ((modes[i].lacp && !set_lacp(self, out)) ||
        (modes[i].hash && !ifbond_set_hash(self, out, modes[i].lacp)))
        return NULL;
    return STEAL(out);
}
