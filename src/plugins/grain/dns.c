/* dns.c - grain dns: the resolver's configuration, systemd's where there is one, else /etc/resolv.conf. Lines
 * that the resolver would ignore are ignored. */
#include <arpa/inet.h>

#include "common/host/rootfs.h"
#include "common/base/str.h"
#include "salt/plugin.h"

/* BORROWED. */
static json_t *
dns_member(json_t *dns, const char *key)
{
    return value_get(dns, key);
}

/* A server or an option that the file repeats is listed once. */
static void
dns_add_once(json_t *list, const char *text)
{
    if (!value_lists(list, text))
        json_array_append_new(list, value_utf8(text, strlen(text)));
}

/* Addresses are written in their usual form; other words are ignored. */
static void
take_nameserver(json_t *dns, char **args)
{
    uint8_t raw[16];
    char text[INET6_ADDRSTRLEN];
    int family = inet_pton(AF_INET, args[0], raw) == 1    ? AF_INET
                 : inet_pton(AF_INET6, args[0], raw) == 1 ? AF_INET6
                                                          : AF_UNSPEC;

    if (family == AF_UNSPEC)
        return;
    inet_ntop(family, raw, text, sizeof(text));
    dns_add_once(dns_member(dns, "nameservers"), text);
    dns_add_once(dns_member(dns, family == AF_INET ? "ip4_nameservers" : "ip6_nameservers"), text);
}

/* The last one of several lines counts, as it does for the resolver. */
static void
take_domain(json_t *dns, char **args)
{
    json_object_set_new(dns, "domain", value_utf8(args[0], strlen(args[0])));
}

/* A second line replaces the first one. */
static void
take_search(json_t *dns, char **args)
{
    json_t *list = json_array();

    for (size_t i = 0; args[i] != NULL; i++)
        json_array_append_new(list, value_utf8(args[i], strlen(args[i])));
    json_object_set_new(dns, "search", list);
}

/* A pair without a mask gets the one of its class. */
static void
take_sortlist(json_t *dns, char **args)
{
    for (size_t i = 0; args[i] != NULL; i++) {
        AUTO_FREE char *address = xstrdup(args[i]);
        char *mask_text = line_value(address, '/');
        struct in_addr addr, mask = { 0 }, net;
        char net_text[INET_ADDRSTRLEN], mask_out[INET_ADDRSTRLEN];
        if (inet_pton(AF_INET, address, &addr) != 1)
            continue;
        if (mask_text != NULL && inet_pton(AF_INET, mask_text, &mask) != 1)
            continue;

        /* Class A begins with the bit 0, class B with 10. */
        uint32_t number = ntohl(addr.s_addr);
        if (mask_text == NULL)
            mask.s_addr = htonl(number >> 31 == 0   ? 0xff000000U
                                : number >> 30 == 2 ? 0xffff0000U
                                                    : 0xffffff00U);
        net.s_addr = addr.s_addr & mask.s_addr;
        inet_ntop(AF_INET, &net, net_text, sizeof(net_text));
        inet_ntop(AF_INET, &mask, mask_out, sizeof(mask_out));
        AUTO_FREE char *pair = xasprintf("%s/%s", net_text, mask_out);
        dns_add_once(dns_member(dns, "sortlist"), pair);
    }
}

/* Only the first word of the line, as Salt takes it. */
static void
dns_take_options(json_t *dns, char **args)
{
    dns_add_once(dns_member(dns, "options"), args[0]);
}

/* Directives of resolv.conf(5); other lines are ignored. */
static const struct {
    const char *directive;
    void (*take)(json_t *dns, char **args);
} rows[] = {
    { "nameserver", take_nameserver }, { "domain", take_domain },       { "search", take_search },
    { "sortlist", take_sortlist },     { "options", dns_take_options },
};

static int
dns_collect(grain_ctx_t *ctx, json_t *out, fail_t *err)
{
    /* With systemd-resolved, /etc/resolv.conf names only its stub at 127.0.0.53; the real servers are
     * here. */
    AUTO_FREE char *text = root_read(ctx->root, "/run/systemd/resolve/resolv.conf");

    if (text == NULL)
        text = root_read(ctx->root, "/etc/resolv.conf");
    if (text == NULL)
        return 0;
    json_t *dns = json_pack("{s:[], s:[], s:[], s:[], s:s, s:[], s:[]}", "nameservers", "ip4_nameservers",
                            "ip6_nameservers", "sortlist", "domain", "", "search", "options");
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        /* Directive and arguments; a comment begins at the start of a word. */
        char *comment = line + strcspn(line, "#;");
        if (comment == line || strchr(" \t", comment[-1]) != NULL)
            *comment = '\0';
        char **words = str_split(line, " \t\r", true);
        for (size_t i = 0; words[0] != NULL && words[1] != NULL && i < NELEMS(rows); i++) {
            if (strcasecmp(words[0], rows[i].directive) == 0)
                rows[i].take(dns, words + 1);
        }
        strv_free(words);
    }
    json_object_set_new(out, "dns", dns);
    return 0;
}

static const char *const keys[] = { "dns", NULL };

PLUGIN(grain, dns, .doc = "The resolver's configuration.", .collect = dns_collect, .cost = GRAIN_CHEAP,
       .keys = keys);
