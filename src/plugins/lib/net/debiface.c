/* debiface.c - /etc/network/interfaces: reading it and the files beside it, and the text of an adapter. See
 * interfaces(5). Salt reads and writes a file of its own form: options that it doesn't know are lost when a
 * file is written anew, and so are its comments. */
#include <ctype.h>
#include <errno.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "plugins/lib/net/debiface.h"
#include "salt/limits.h"

#define BLANKS " \t\r\n\v\f"

static const char *const families[] = { "inet", "inet6" };

/* ---- reading ---------------------------------------------------------------------------------- */

/* The member, made where it is missing. BORROWED. */
static json_t *
made_member(json_t *in, const char *key, json_t *fresh)
{
    if (value_get(in, key) == NULL)
        json_object_set(in, key, fresh);
    json_decref(fresh);
    return value_get(in, key);
}

/* Python shows the line's words as a list. */
static int
debiface_malformed(fail_t *err, char *const *words)
{
    json_auto_t *list = json_array();

    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    AUTO_FREE char *text = value_repr(list);
    return fail_set(err, -EINVAL, "Interface file malformed: %s.", text);
}

/* Adds a line of an "iface" clause to its family. */
static int
debiface_take_option(const char *line, json_t *family, fail_t *err)
{
    static const char *const commands[] = { "up", "pre-up", "post-up", "down", "pre-down", "post-down" };
    char **words = str_split(line, BLANKS, true);
    AUTO_FREE char *option = xstrdup(words[0]), *key = str_replace(option, "-", "_"), *copy = xstrdup(line);
    char *text = str_trim(copy);
    int rc = words[1] == NULL ? debiface_malformed(err, words) : 0;
    bool valid;

    strv_free(words);
    if (rc < 0)
        return rc;
    json_auto_t *value = json_string(str_trim(text + strlen(option)));
    /* Options of several words, "bond-mode" or "bridge_ports", are kept without the first; ethtool's keep
     * theirs. */
    const char *group = str_starts(option, "bond")     ? "bonding"
                        : str_starts(option, "bridge") ? "bridging"
                        : str_starts(option, "link-") || str_starts(option, "ethernet-") ||
                                str_starts(option, "offload-") || str_starts(option, "hardware-") ||
                                strcmp(option, "driver-message-level") == 0
                            ? "ethtool"
                            : NULL;
    if (debcheck_knows(option)) {
        json_auto_t *checked = debcheck_value(option, value_str(family, "addrfam", "inet"), value, &valid);
        if (strcmp(key, "address") == 0 && value_get(family, key) != NULL)
            json_array_append(made_member(family, "addresses", json_array()), checked);
        else
            json_object_set(family, key, checked);
    } else if (group != NULL) {
        const char *rest = strpbrk(option, "_-");
        bool whole = strcmp(group, "ethtool") == 0;
        if (whole || rest != NULL)
            json_object_set(made_member(family, group, json_object()), whole ? option : rest + 1, value);
    }
    for (size_t i = 0; i < NELEMS(commands); i++) {
        AUTO_FREE char *list = xasprintf("%s_cmds", key);
        if (strcmp(option, commands[i]) == 0)
            json_array_append(made_member(family, list, json_array()), value);
    }
    return 0;
}

/* Begins a clause: "iface eth0 inet static". */
static int
take_iface(const char *line, json_t *adapters, json_t **family, fail_t *err)
{
    char **words = str_split(line, BLANKS, true);
    int rc = strv_len(words) != 4 ? debiface_malformed(err, words) : 0;

    if (rc == 0) {
        json_t *data = made_member(made_member(adapters, words[1], json_object()), "data", json_object());
        *family = made_member(data, words[2], json_object());
        json_object_set_new(*family, "addrfam", json_string(words[2]));
        json_object_set_new(*family, "proto", json_string(words[3]));
    }
    strv_free(words);
    return rc;
}

/* "auto eth0 eth1": sets a flag of each. */
static void
take_flag(const char *line, json_t *adapters, const char *flag)
{
    char **words = str_split(line, BLANKS, true);

    for (size_t i = 1; words[0] != NULL && words[i] != NULL; i++)
        json_object_set_new(made_member(adapters, words[i], json_object()), flag, json_true());
    strv_free(words);
}

/* A line that is indented belongs to the clause before it. A file that isn't there has no lines. */
static int
debiface_take_file(const char *path, json_t *adapters, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    json_auto_t *loose = json_object(); /* options before the first clause */
    json_t *family = loose;
    int rc = fs_read_any(path, LIMIT_HOST_FILE, &text, err);

    if (rc <= 0)
        return rc;
    AUTO_FREE char *copy = xstrdup(buf_str(&text));
    for (char *at = copy, *line; rc >= 0 && (line = line_next(&at)) != NULL;) {
        const char *first = line + strspn(line, BLANKS);
        if (*first == '#' || *first == '\0')
            continue;
        if (str_starts(line, "iface"))
            rc = take_iface(line, adapters, &family, err);
        else if (first != line)
            rc = debiface_take_option(line, family, err);
        else if (str_starts(line, "auto"))
            take_flag(line, adapters, "enabled");
        else if (str_starts(line, "allow-hotplug"))
            take_flag(line, adapters, "hotplug");
        else if (str_starts(line, "source")) {
            /* All "source" lines are one adapter of that name, as Salt keeps them. */
            char **words = str_split(line, BLANKS, true);
            json_t *data = made_member(made_member(adapters, "source", json_object()), "data", json_object());
            if (words[0] != NULL && words[1] != NULL)
                json_array_append_new(made_member(data, "sources", json_array()), json_string(words[1]));
            strv_free(words);
        }
    }
    return rc < 0 ? rc : 0;
}

/* The main file, and then those of interfaces.d by name. NEW {interface: {"enabled", "data": ...}}, or NULL
 * with *err. */
json_t *
debiface_read(fail_t *err)
{
    json_auto_t *adapters = json_object();
    json_t *adapter;
    const char *name;
    void *next;
    char **names = NULL;
    int rc = debiface_take_file(DEBIFACE_FILE, adapters, err);

    if (rc == 0)
        rc = fs_names(DEBIFACE_DIR, &names, err);
    if (rc == 0)
        qsort(names, strv_len(names), sizeof(*names), str_by_text);
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        AUTO_FREE char *path = fs_join(DEBIFACE_DIR, names[i]);
        rc = debiface_take_file(path, adapters, err);
    }
    strv_free(names);
    json_object_foreach_safe (adapters, next, name, adapter) {
        /* An interface that is only named by "auto" has no clause: it is left out, as an adapter without data
         * can't be written. */
        if (value_get(adapter, "data") == NULL)
            json_object_del(adapters, name);
    }
    return rc < 0 ? NULL : STEAL(adapters);
}

/* ---- writing ---------------------------------------------------------------------------------- */

/* A key of a family, and the word of the file where it is not the key with "-" for "_". */
static const struct {
    const char *key, *word;
} text_options[] = {
    { "autoconf", NULL },
    { "privext", NULL },
    { "dhcp", NULL },
    { "hwaddress", NULL },
    { "vlan_raw_device", NULL },
    { "address", NULL },
    { "addresses", "address" },
    { "netmask", NULL },
    { "metric", NULL },
    { "gateway", NULL },
    { "pointopoint", NULL },
    { "scope", NULL },
    { "hostname", NULL },
    { "media", NULL },
    { "leasehours", NULL },
    { "leasetime", NULL },
    { "vendor", NULL },
    { "client", NULL },
    { "bootfile", NULL },
    { "server", NULL },
    { "mode", NULL },
    { "endpoint", NULL },
    { "dstaddr", NULL },
    { "local", NULL },
    { "ttl", NULL },
    { "mtu", NULL },
    { "provider", NULL },
    { "unit", NULL },
    { "options", NULL },
    { "master", "bond-master" },
    { "dns_nameservers", NULL },
    { "wireless_mode", NULL },
    { "wpa_ap_scan", NULL },
    { "wpa_conf", NULL },
    { "wpa_driver", NULL },
    { "wpa_group", NULL },
    { "wpa_key_mgmt", NULL },
    { "wpa_pairwise", NULL },
    { "wpa_proto", NULL },
    { "wpa_psk", NULL },
    { "wpa_roam", NULL },
    { "wpa_ssid", NULL },
    { "accept_ra", "accept_ra" },
    /* Read from the file, so that they must get into it again. */
    { "dns_search", NULL },
    { "wireless_essid", NULL },
    { "preferred_lifetime", NULL },
    { "dad_attempts", NULL },
    { "dad_interval", NULL },
    { "up_cmds", "up" },
    { "down_cmds", "down" },
    { "pre_up_cmds", "pre-up" },
    { "post_up_cmds", "post-up" },
    { "pre_down_cmds", "pre-down" },
    { "post_down_cmds", "post-down" },
};

/* A line of an option; a list is one line for each of its elements, or one with blanks between. */
static void
option_text(buf_t *out, const char *word, const json_t *value, bool joined)
{
    size_t n = json_array_size(value);

    for (size_t i = 0; !joined && i < n; i++)
        option_text(out, word, json_array_get(value, i), true);
    if (joined || !json_is_array(value)) {
        AUTO_FREE char *text = json_is_array(value) ? value_joined(value, " ") : value_pystr(value);
        buf_printf(out, "    %s %s\n", word, text);
    }
}

/* The options of a part, sorted. Numbers and truths are left out, as by Salt. */
static void
group_text(buf_t *out, const json_t *family, const char *group, const char *before)
{
    json_auto_t *keys = value_sorted_keys(value_get(family, group));
    json_t *key;
    size_t i;

    json_array_foreach (keys, i, key) {
        json_t *value = value_get(value_get(family, group), json_string_value(key));
        AUTO_FREE char *word = xasprintf("%s%s", before, json_string_value(key));
        if (json_is_string(value) || json_is_array(value))
            option_text(out, word, value, true);
    }
}

/* A family without a method, or one that is not its own, has no clause. */
static void
family_text(buf_t *out, const char *name, const char *family, const json_t *data)
{
    AUTO_FREE char *proto = value_truthy(value_get(data, "proto")) ? value_pystr(value_get(data, "proto"))
                                                                   : NULL;

    if (proto == NULL || strcmp(value_str(data, "addrfam", ""), family) != 0)
        return;
    buf_printf(out, "iface %s %s %s\n", name, family, proto);
    for (size_t i = 0; i < NELEMS(text_options); i++) {
        const char *key = text_options[i].key;
        AUTO_FREE char *word = text_options[i].word != NULL ? xstrdup(text_options[i].word)
                                                            : str_replace(key, "_", "-");
        if (value_truthy(value_get(data, key)))
            option_text(out, word, value_get(data, key), str_starts(key, "dns_"));
    }
    group_text(out, data, "ethtool", "");
    group_text(out, data, "bonding", "bond-");
    group_text(out, data, "bridging", "bridge_");
}

/* The words before the clauses, and a clause for each family. The order of the options is that of the table,
 * whatever the order of the settings was. */
void
debiface_text(buf_t *out, const char *name, const json_t *adapter)
{
    if (value_bool(adapter, "enabled", false))
        buf_printf(out, "auto %s\n", name);
    if (value_bool(adapter, "hotplug", false))
        buf_printf(out, "allow-hotplug %s\n", name);
    for (size_t i = 0; i < NELEMS(families); i++)
        family_text(out, name, families[i], value_get(value_get(adapter, "data"), families[i]));
}

/* The paths that were read, each on a line of its own. */
void
debiface_source_text(buf_t *out, const json_t *adapter)
{
    json_t *sources = value_get(value_get(adapter, "data"), "sources"), *one;
    size_t i;

    json_array_foreach (sources, i, one) {
        AUTO_FREE char *text = value_pystr(one);
        buf_printf(out, "\nsource %s\n", text);
    }
}

/* Adds "word VALUE" and what stands behind it; of no value `dflt`, of "" the line break alone. */
static void
ppp_value(buf_t *out, const json_t *data, const char *word, const char *dflt, const char *behind)
{
    json_t *value = value_get(data, word);
    AUTO_FREE char *text = value != NULL ? value_pystr(value) : xstrdup(dflt);

    if (*text != '\0')
        buf_printf(out, "%s %s%s", word, text, behind);
    buf_putc(out, '\n');
}

/* A flag of pppd's options is there unless it is "False"; its line stays, empty. */
static void
ppp_flag(buf_t *out, const json_t *data, const char *word)
{
    buf_printf(out, "%s\n", str_eq(value_str(data, word, ""), "False") ? "" : word);
}

/* The file below /etc/ppp/peers. The empty lines and the blanks behind words are those of Salt's template: a
 * file that Salt wrote is not changed. */
void
debiface_ppp_text(buf_t *out, const json_t *adapter)
{
    const json_t *data = value_get(value_get(adapter, "data"), "inet");

    if (!value_truthy(value_get(data, "user")))
        return;
    ppp_value(out, data, "user", "", "");
    ppp_value(out, data, "password", "", " ");
    buf_printf(out, "plugin rp-pppoe.so %s\n\n", value_str(data, "pppoe_iface", "eth0"));
    ppp_flag(out, data, "noipdefault");
    ppp_flag(out, data, "usepeerdns");
    ppp_flag(out, data, "defaultroute");
    buf_putc(out, '\n');
    ppp_value(out, data, "holdoff", "15", "");
    ppp_value(out, data, "maxfail", "0", "");
    buf_putc(out, '\n');
    ppp_flag(out, data, "hide-password");
    ppp_value(out, data, "lcp-echo-interval", "20", " ");
    ppp_value(out, data, "lcp-echo-failure", "3", " ");
    buf_putc(out, '\n');
    ppp_flag(out, data, "noauth");
    ppp_flag(out, data, "persist");
    ppp_value(out, data, "mtu", "1492", " ");
    ppp_flag(out, data, "noaccomp");
    buf_puts(out, "\n");
    if (value_get(data, "linkname") != NULL) {
        buf_putc(out, '\n');
        ppp_value(out, data, "linkname", "", "");
    }
    buf_putc(out, '\n');
}
