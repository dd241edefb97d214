/* debopts.c - options of parts of an interface in /etc/network/interfaces: ethtool's, a bridge's, a bond's,
 * pppoe's. */
#include <ctype.h>
#include <errno.h>

#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"

/* Sets `name` to one of two words by the setting's truth, where the setting is there. False with *err. */
static bool
set_truth(json_t *out, const char *name, const char *iface, const json_t *settings, const char *option,
          const char *yes, const char *no, fail_t *err)
{
    json_t *value = value_get(settings, option);
    int truth = value != NULL ? netword_truth(value) : 0;

    if (truth < 0)
        (void) netword_bad(err, iface, option, NETWORD_TRUTHS);
    else if (value != NULL)
        json_object_set_new(out, name, json_string(truth > 0 ? yes : no));
    return truth >= 0;
}

/* Options by the words of interfaces-ethtool(5). */
json_t *
debopts_ethtool(const char *iface, const json_t *settings, fail_t *err)
{
    static const char *const offloads[] = { "rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro" };
    json_t *duplex = value_get(settings, "duplex"), *speed = value_get(settings, "speed");
    json_auto_t *out = json_object();

    if (!set_truth(out, "ethernet-autoneg", iface, settings, "autoneg", "on", "off", err))
        return NULL;
    if (duplex != NULL && !str_eq(json_string_value(duplex), "full") &&
        !str_eq(json_string_value(duplex), "half"))
        return netword_bad(err, iface, "duplex", "full|half");
    if (duplex != NULL)
        json_object_set(out, "link-duplex", duplex);
    if (speed != NULL) {
        AUTO_FREE char *text = value_pystr(speed);
        if (strcmp(text, "10") != 0 && strcmp(text, "100") != 0 && strcmp(text, "1000") != 0 &&
            strcmp(text, "10000") != 0)
            return netword_bad(err, iface, text, "10|100|1000|10000");
        json_object_set(out, "link-speed", speed);
    }
    for (size_t i = 0; i < NELEMS(offloads); i++) {
        AUTO_FREE char *name = xasprintf("offload-%s", offloads[i]);
        if (!set_truth(out, name, iface, settings, offloads[i], "on", "off", err))
            return NULL;
    }
    return STEAL(out);
}

/* The provider is the name of a file below /etc/ppp/peers, so it has no slash. */
json_t *
debopts_pppoe(const char *iface, const json_t *settings, fail_t *err)
{
    static const char *const taken[] = {
        "user",         "password", "provider", "pppoe_iface",   "noipdefault",       "usepeerdns",
        "defaultroute", "holdoff",  "maxfail",  "hide-password", "lcp-echo-interval", "lcp-echo-failure",
        "connect",      "noauth",   "persist",  "mtu",           "noaccomp",          "linkname"
    };
    static const char *const truths[] = { "noipdefault", "usepeerdns", "defaultroute", "hide-password",
                                          "noauth",      "persist",    "noaccomp" };
    json_auto_t *out = json_object();
    json_t *provider = value_get(settings, "provider");

    for (size_t i = 0; i < NELEMS(taken); i++) {
        if (value_get(settings, taken[i]) != NULL)
            json_object_set(out, taken[i], value_get(settings, taken[i]));
    }
    if (!value_truthy(provider) || !json_is_string(provider) ||
        strchr(json_string_value(provider), '/') != NULL)
        return netword_bad(err, iface, "provider", "name of a file in /etc/ppp/peers");
    for (size_t i = 0; i < NELEMS(truths); i++) {
        if (!set_truth(out, truths[i], iface, settings, truths[i], "True", "False", err))
            return NULL;
    }
    return STEAL(out);
}

/* ---- bridges ---------------------------------------------------------------------------------- */

/* Seconds, and for which interfaces. NEW, or NULL. */
static json_t *
wait_of(const json_t *value)
{
    char **words;
    json_t *made = NULL;

    if (json_is_integer(value) || json_is_boolean(value))
        return json_incref((json_t *) value);
    words = json_is_string(value) ? str_split(json_string_value(value), " \t\n", true) : NULL;
    if (strv_len(words) > 1 && words[0][strspn(words[0], "0123456789")] == '\0') {
        json_auto_t *list = json_array();
        for (size_t i = 0; words[i] != NULL; i++)
            json_array_append_new(list, json_string(words[i]));
        AUTO_FREE char *text = value_joined(list, " ");
        made = json_string(text);
    }
    strv_free(words);
    return made;
}

/* The value of a bridge's option as it is written; NULL: it may not have it. NEW. */
static json_t *
bridge_value(const char *kind, const json_t *value)
{
    const char *text = json_string_value(value);
    json_int_t parsed;
    double number;

    if (strcmp(kind, "float") == 0)
        return netword_float(value, &number) ? json_incref((json_t *) value) : NULL;
    if (strcmp(kind, "integer") == 0)
        return json_is_integer(value) || json_is_boolean(value) ? json_incref((json_t *) value) : NULL;
    if (strcmp(kind, "interface integer") == 0) {
        /* "eth0 100", parted by one blank in the file. */
        char **words = text != NULL ? str_split(text, " \t\n", true) : NULL;
        json_auto_t *last = strv_len(words) == 2 ? json_string(words[1]) : NULL;
        json_t *made = last != NULL && netword_int(last, &parsed) ? value_fmt("%s %s", words[0], words[1])
                                                                  : NULL;
        strv_free(words);
        return made;
    }
    if (strcmp(kind, "valid MAC address") == 0) {
        /* Pairs of digits with the same ":" or "-" between them. */
        bool is = text != NULL && strlen(text) == 17 && strchr(":-", text[2]) != NULL;
        for (size_t i = 0; is && i < 17; i++)
            is = i % 3 == 2 ? text[i] == text[2] : isxdigit((unsigned char) text[i]) != 0;
        return is ? json_incref((json_t *) value) : NULL;
    }
    return wait_of(value);
}

/* Options of bridge-utils-interfaces(5), without the "bridge_" before them. */
json_t *
debopts_bridge(const char *iface, const json_t *settings, fail_t *err)
{
    static const struct {
        const char *option, *kind;
    } rows[] = { { "ageing", "float" },
                 { "fd", "float" },
                 { "gcint", "float" },
                 { "hello", "float" },
                 { "maxage", "float" },
                 { "bridgeprio", "integer" },
                 { "maxwait", "integer" },
                 { "hw", "valid MAC address" },
                 { "pathcost", "interface integer" },
                 { "portprio", "interface integer" },
                 { "waitport", "integer [interfaces]" } };
    json_auto_t *out = json_object();
    json_t *ports = value_get(settings, "ports");

    if (json_is_array(ports)) {
        AUTO_FREE char *text = value_joined(ports, " ");
        json_object_set_new(out, "ports", json_string(text));
    } else if (ports != NULL) {
        json_object_set(out, "ports", ports);
    }
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_t *value = value_get(settings, rows[i].option);
        json_t *made = value != NULL ? bridge_value(rows[i].kind, value) : NULL;
        if (value != NULL && made == NULL)
            return netword_bad(err, iface, rows[i].option, rows[i].kind);
        if (made != NULL)
            json_object_set_new(out, rows[i].option, made);
    }
    return set_truth(out, "stp", iface, settings, "stp", "on", "off", err) ? STEAL(out) : NULL;
}

/* ---- bonds ------------------------------------------------------------------------------------ */

/* The options of each mode, in the order of the file for modprobe. */
static const struct {
    const char *name, *number;
    const char *options[8];
} bond_modes[] = {
    { "balance-rr", "0", { "arp_ip_target", "arp_interval" } },
    { "active-backup", "1", { "miimon", "downdelay", "updelay", "primary", "use_carrier" } },
    { "balance-xor", "2", { "arp_ip_target", "arp_interval", "xmit_hash_policy" } },
    { "broadcast", "3", { "miimon", "downdelay", "updelay", "use_carrier" } },
    { "802.3ad",
      "4",
      { "miimon", "downdelay", "updelay", "lacp_rate", "ad_select", "use_carrier", "xmit_hash_policy" } },
    { "balance-tlb", "5", { "miimon", "downdelay", "updelay", "use_carrier", "primary" } },
    { "balance-alb", "6", { "miimon", "downdelay", "updelay", "use_carrier", "primary" } },
};

static const struct {
    const char *option, *dflt;
} bond_numbers[] = { { "arp_interval", "250" }, { "miimon", "100" },  { "downdelay", "200" },
                     { "updelay", "0" },        { "lacp_rate", "0" }, { "ad_select", "0" } };

/* A number, or its default. False with *err. */
static bool
set_bond_number(json_t *out, const char *iface, const json_t *settings, const char *option, fail_t *err)
{
    json_t *value = value_get(settings, option);
    bool rate = strcmp(option, "lacp_rate") == 0;
    const char *text = rate ? json_string_value(value) : NULL;
    json_int_t number;

    if (str_eq(text, "fast") || str_eq(text, "slow")) {
        json_object_set_new(out, option, json_string(*text == 'f' ? "1" : "0"));
        return true;
    }
    if (value != NULL && !netword_int(value, &number)) {
        (void) netword_bad(err, iface, option, rate ? "fast|1|slow|0" : "integer");
        return false;
    }
    for (size_t i = 0; value == NULL && i < NELEMS(bond_numbers); i++) {
        if (strcmp(bond_numbers[i].option, option) == 0)
            json_object_set_new(out, option, json_string(bond_numbers[i].dflt));
    }
    if (value != NULL)
        json_object_set(out, option, value);
    return true;
}

/* One option of a bond's mode, from its setting or by its default. False with *err. */
static bool
set_bond_option(json_t *out, const char *iface, const json_t *settings, const char *option, bool carrier,
                fail_t *err)
{
    /* The kernel's limit of targets. */
    if (strcmp(option, "arp_ip_target") == 0) {
        json_t *targets = value_get(settings, "arp_ip_target");
        size_t n = json_is_array(targets) ? json_array_size(targets) : 0;
        AUTO_FREE char *text = n >= 1 && n <= 16 ? value_joined(targets, ",") : NULL;
        if (text != NULL)
            json_object_set_new(out, "arp_ip_target", json_string(text));
        else
            (void) netword_bad(err, iface, "arp_ip_target", "list of ips (up to 16)");
        return text != NULL;
    }
    /* Salt's setting has a name of its own, and no default. */
    if (strcmp(option, "xmit_hash_policy") == 0) {
        json_t *value = value_get(settings, "hashing-algorithm");
        const char *text = json_string_value(value);
        bool valid = value == NULL || str_eq(text, "layer2") || str_eq(text, "layer2+3") ||
                     str_eq(text, "layer3+4");
        if (!valid)
            (void) netword_bad(err, iface, "hashing-algorithm", "layer2|layer2+3|layer3+4");
        else if (value != NULL)
            json_object_set(out, "xmit_hash_policy", value);
        return valid;
    }
    if (strcmp(option, "primary") == 0) {
        if (value_get(settings, "primary") != NULL)
            json_object_set(out, "primary", value_get(settings, "primary"));
        return true;
    }
    if (strcmp(option, "use_carrier") != 0)
        return set_bond_number(out, iface, settings, option, err);
    if (carrier && value_get(settings, "use_carrier") == NULL)
        json_object_set_new(out, "use_carrier", json_string("on"));
    return !carrier || set_truth(out, "use_carrier", iface, settings, "use_carrier", "1", "0", err);
}

/* The mode by name or number decides which options are looked at; others are left out. */
json_t *
debopts_bond(const char *iface, const json_t *settings, const json_t *grains, fail_t *err)
{
    json_t *given = value_get(settings, "mode");
    AUTO_FREE char *mode = given != NULL ? value_pystr(given) : xstrdup("");
    json_int_t release = json_integer_value(json_array_get(value_get(grains, "osrelease_info"), 0));
    json_auto_t *out = json_object();

    for (size_t i = 0; i < NELEMS(bond_modes); i++) {
        if (strcmp(mode, bond_modes[i].name) != 0 && strcmp(mode, bond_modes[i].number) != 0)
            continue;
        /* Salt leaves use_carrier out of active-backup on Ubuntu 16 and later. */
        bool carrier = strcmp(bond_modes[i].number, "1") != 0 ||
                       strcmp(value_str(grains, "os", ""), "Ubuntu") != 0 || release < 16;
        json_object_set_new(out, "mode", json_string(bond_modes[i].number));
        for (size_t k = 0; bond_modes[i].options[k] != NULL; k++) {
            if (!set_bond_option(out, iface, settings, bond_modes[i].options[k], carrier, err))
                return NULL;
        }
        return STEAL(out);
    }
    return netword_bad(
        err, iface, "mode",
        "0|1|2|3|4|5|6|balance-rr|active-backup|balance-xor|broadcast|802.3ad|balance-tlb|balance-alb");
}
