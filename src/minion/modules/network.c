/* network.c - execution module `network`: addresses, routes, connections, and looking at other hosts. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/netlink.h"
#include "common/base/procfs.h"
#include "common/base/prog.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "minion/modlib/netlist.h"
#include "minion/modlib/sockets.h"
#include "salt/plugin.h"

/* Names and addresses hold nothing else, so what is left is safe as a program's argument. NEW. */
static char *
sanitize_host(const char *host)
{
    buf_t out = BUF_INIT;

    for (size_t i = 0; host[i] != '\0' && i < 255; i++) {
        if (isalnum((unsigned char) host[i]) || strchr(".-_", host[i]) != NULL)
            buf_putc(&out, host[i]);
    }
    return buf_steal(&out);
}

static int
need_program(const char *name, fail_t *err)
{
    AUTO_FREE char *path = fs_which(name);

    if (path != NULL)
        return 0;
    return fail_kind(err, FAIL_COMMAND, -ENOENT, "The '%s' binary was not found in $PATH.", name);
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int
network_interfaces(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args;
    *ret_value = netlink_interfaces(err);
    return *ret_value == NULL ? -EIO : 0;
}

/* Text that names what there is. */
static json_t *
no_interface(json_t *all, const char *name)
{
    buf_auto_t names = BUF_INIT;
    const char *key;
    json_t *v;

    json_object_foreach (all, key, v) {
        buf_printf(&names, "%s%s", names.len > 0 ? "\", \"" : "", key);
    }
    return value_fmt("Interface \"%s\" not in available interfaces: \"%s\"", name, buf_str(&names));
}

/* Calls `pick` with the interface of args["iface"]. */
static int
of_interface(json_t *args, json_t *(*pick)(json_t *row), json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "iface", "");
    json_auto_t *all = netlink_interfaces(err);

    if (all == NULL)
        return -EIO;
    json_t *row = json_object_get(all, name);
    *ret_value = row != NULL ? pick(row) : no_interface(all, name);
    return 0;
}

static json_t *
pick_hwaddr(json_t *row)
{
    return json_string(value_str(row, "hwaddr", ""));
}

static json_t *
pick_inet(json_t *row)
{
    json_t *inet = json_object_get(row, "inet");

    return inet != NULL ? json_incref(inet) : json_string("");
}

static json_t *
pick_ip(json_t *row)
{
    return json_string(value_str(json_array_get(json_object_get(row, "inet"), 0), "address", ""));
}

static int
network_hw_addr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return of_interface(args, pick_hwaddr, ret_value, err);
}

static int
network_interface(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return of_interface(args, pick_inet, ret_value, err);
}

static int
network_interface_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return of_interface(args, pick_ip, ret_value, err);
}

static int
network_ifacestartswith(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    const char *start = value_str(args, "cidr", "");
    json_auto_t *all = netlink_interfaces(err);
    json_t *names = json_array(), *row, *addr;
    const char *key;
    size_t i;

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

static json_t *
addresses_json(nets_t *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++)
        s->v[i].bits = 0;
    nets_sort(s);
    for (size_t i = 0; i < s->n; i++) {
        AUTO_FREE char *text = ip_text(&s->v[i].addr);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static int
addresses(json_t *args, const char *proto, json_t **ret_value, fail_t *err)
{
    nets_auto_t found = { NULL, 0 };
    const char *cidr = value_str(args, "cidr", ""), *type = value_str(args, "type", "");
    ipnet_t net;
    int rc = nets_collect(&found, value_get(args, "interface"), proto, err);

    if (rc != 0)
        return rc;
    if (!value_bool(args, "include_loopback", false))
        nets_filter(&found, net_not_loopback, NULL);
    if (*cidr != '\0')
        nets_filter(&found, ipnet_parse(cidr, true, &net, NULL) == 0 ? net_is_in : net_none, &net);
    else if (str_eq(type, "public") || str_eq(type, "private"))
        nets_filter(&found, net_is_of_type, type);
    *ret_value = addresses_json(&found);
    return 0;
}

static int
network_ip_addrs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return addresses(args, "inet", ret_value, err);
}

static int
network_ip_addrs6(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return addresses(args, "inet6", ret_value, err);
}

/* Addresses become their networks. */
static void
to_networks(nets_t *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->v[i].addr = ipnet_first(&s->v[i]);
    nets_sort(s);
}

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
    (void) ctx;
    return subnets(value_get(args, "interfaces"), "inet", ret_value, err);
}

static int
network_subnets6(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args;
    return subnets(NULL, "inet6", ret_value, err);
}

/* How many addresses a network has, as far as a number can say it. */
static json_t *
size_value(const ipnet_t *net)
{
    unsigned host = (net->addr.version == 4 ? 32 : 128) - net->bits;

    return host < 63 ? json_integer((json_int_t) 1 << host) : value_fmt("2**%u", host);
}

static json_t *
networks_verbose(const nets_t *s)
{
    json_t *out = json_object();

    for (size_t i = 0; i < s->n; i++) {
        ip_t mask_ip = ipnet_mask(&s->v[i]);
        AUTO_FREE char *text = ipnet_text(&s->v[i]), *first = ip_text(&s->v[i].addr),
                       *mask = ip_text(&mask_ip);
        json_object_set_new(out, text,
                            json_pack("{s:s, s:s, s:o, s:I}", "address", first, "netmask", mask,
                                      "num_addresses", size_value(&s->v[i]), "prefixlen",
                                      (json_int_t) s->v[i].bits));
    }
    return out;
}

static int
ip_networks(json_t *args, const char *proto, json_t **ret_value, fail_t *err)
{
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

static int
network_ip_networks(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return ip_networks(args, "inet", ret_value, err);
}

static int
network_ip_networks6(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return ip_networks(args, "inet6", ret_value, err);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static int
network_in_subnet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    nets_auto_t found = { NULL, 0 };
    ipnet_t net;
    int rc = nets_collect(&found, NULL, "inet", err);

    if (rc == 0)
        rc = nets_collect(&found, NULL, "inet6", err);
    if (rc != 0)
        return rc;
    nets_filter(&found, net_not_loopback, NULL);
    if (ipnet_parse(value_str(args, "cidr", ""), true, &net, NULL) != 0)
        nets_filter(&found, net_none, NULL);
    else
        nets_filter(&found, net_is_in, &net);
    *ret_value = json_boolean(found.n > 0);
    return 0;
}

/* The addresses of a text or a list, one of which must be in the network. */
static int
network_ip_in_subnet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    json_t *given = value_get(args, "ip_addr");
    json_auto_t *list = json_is_array(given) ? json_incref(given) : json_pack("[O]", given);
    ipnet_t net;
    bool found = false;

    if (ipnet_parse(value_str(args, "cidr", ""), true, &net, NULL) != 0) {
        *ret_value = json_false();
        return 0;
    }
    for (size_t i = 0; i < json_array_size(list) && !found; i++) {
        AUTO_FREE char *text = value_pystr(json_array_get(list, i));
        ip_t ip;
        int rc = ip_parse(text, &ip, err);
        if (rc != 0)
            return rc;
        found = ipnet_contains(&net, &ip);
    }
    *ret_value = json_boolean(found);
    return 0;
}

static int
network_calc_net(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    json_t *mask = value_get(args, "netmask");
    AUTO_FREE char *mask_text = value_pystr(mask);
    AUTO_FREE char *text = json_is_null(mask) ? xstrdup(value_str(args, "ip_addr", ""))
                                              : xasprintf("%s/%s", value_str(args, "ip_addr", ""), mask_text);
    ipnet_t net;
    int rc = ipnet_parse(text, false, &net, err);

    if (rc != 0)
        return rc;
    AUTO_FREE char *shown = ipnet_text(&net);
    *ret_value = json_string(shown);
    return 0;
}

static int
network_convert_cidr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    ipnet_t net;
    int rc = ipnet_parse(value_str(args, "cidr", ""), false, &net, err);

    if (rc != 0)
        return rc;
    ip_t mask_ip = ipnet_mask(&net), last_ip = ipnet_last(&net);
    AUTO_FREE char *first = ip_text(&net.addr), *mask = ip_text(&mask_ip), *last = ip_text(&last_ip);
    *ret_value = json_pack("{s:s, s:s, s:s}", "network", first, "netmask", mask, "broadcast", last);
    return 0;
}

static int
network_is_private(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    ip_t ip;
    int rc = ip_parse(value_str(args, "ip_addr", ""), &ip, err);

    if (rc == 0)
        *ret_value = json_boolean(ip_is_private(&ip));
    return rc;
}

static int
network_is_loopback(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    ip_t ip;
    int rc = ip_parse(value_str(args, "ip_addr", ""), &ip, err);

    if (rc == 0)
        *ret_value = json_boolean(ip_is_loopback(&ip));
    return rc;
}

static int
network_reverse_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    ip_t ip;
    int rc = ip_parse(value_str(args, "ip_addr", ""), &ip, err);

    if (rc != 0)
        return rc;
    AUTO_FREE char *text = ip_reverse(&ip);
    *ret_value = json_string(text);
    return 0;
}

static int
network_iphexval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    const char *text = value_str(args, "ip", "");
    char **parts = str_split(text, ".", false);
    buf_auto_t out = BUF_INIT;
    int rc = 0;

    for (size_t i = 0; rc == 0 && parts[i] != NULL; i++) {
        long long n;
        if (str_to_int(parts[i], 0, INT32_MAX, &n))
            buf_printf(&out, "%02llX", n);
        else
            rc = fail_set(err, -EINVAL, "invalid literal for int() with base 10: '%s'", parts[i]);
    }
    strv_free(parts);
    if (rc == 0)
        *ret_value = json_string(buf_str(&out));
    return rc;
}

/* ---- routes ---------------------------------------------------------------------------------- */

static int
routes_of(json_t *args, bool only_default, json_t **ret_value, fail_t *err)
{
    const char *family = value_str(args, "family", "");
    json_t *row;
    size_t i;

    if (*family != '\0' && !str_eq(family, "inet") && !str_eq(family, "inet6"))
        return fail_kind(err, FAIL_COMMAND, -EINVAL, "Invalid address family %s", family);
    json_auto_t *all = netlink_routes(err);
    if (all == NULL)
        return -EIO;
    json_t *out = json_array();
    json_array_foreach (all, i, row) {
        const char *destination = value_str(row, "destination", "");
        bool is_default = (str_eq(destination, "0.0.0.0") &&
                           str_eq(value_str(row, "netmask", ""), "0.0.0.0")) ||
                          str_eq(destination, "::/0");
        if ((*family == '\0' || str_eq(family, value_str(row, "addr_family", ""))) &&
            (!only_default || is_default))
            json_array_append(out, row);
    }
    *ret_value = out;
    return 0;
}

static int
network_routes(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return routes_of(args, false, ret_value, err);
}

static int
network_default_route(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    return routes_of(args, true, ret_value, err);
}

static int
network_get_route(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    *ret_value = netlink_get_route(value_str(args, "ip", ""), err);
    return *ret_value == NULL ? -EIO : 0;
}

static int
network_arp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    char **lines = procfs_lines("/proc/net/arp");
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char ip[64], hardware[64];
        unsigned flags;
        if (i > 0 && sscanf(lines[i], "%63s %*s %x %63s", ip, &flags, hardware) == 3 && flags != 0)
            json_object_set_new(out, hardware, json_string(ip));
    }
    strv_free(lines);
    *ret_value = out;
    return 0;
}

/* ---- connections ----------------------------------------------------------------------------- */

static int
network_active_tcp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    static const char *const protos[] = { "tcp", "tcp6" };
    json_t *out = json_object();

    for (size_t k = 0; k < NELEMS(protos); k++) {
        size_t n = 0;
        sock_row_t *rows = sock_rows(protos[k], &n);
        for (size_t i = 0; i < n; i++) {
            char key[32];
            if (rows[i].state != SOCKET_ESTABLISHED)
                continue;
            snprintf(key, sizeof(key), "%zu", json_object_size(out));
            json_object_set_new(out, key,
                                json_pack("{s:s, s:i, s:s, s:i}", "local_addr", rows[i].local, "local_port",
                                          (int) rows[i].local_port, "remote_addr", rows[i].remote,
                                          "remote_port", (int) rows[i].remote_port));
        }
        free(rows);
    }
    *ret_value = out;
    return 0;
}

static json_t *
end_value(const char *addr, unsigned port)
{
    return port == 0 ? value_fmt("%s:*", addr) : value_fmt("%s:%u", addr, port);
}

static json_t *
conn_row(const sock_row_t *c, const char *proto, json_t *owners)
{
    json_t *row = json_pack("{s:s, s:o, s:o, s:o, s:o}", "proto", proto, "recv-q", value_fmt("%u", c->recv_q),
                            "send-q", value_fmt("%u", c->send_q), "local-address",
                            end_value(c->local, c->local_port), "remote-address",
                            end_value(c->remote, c->remote_port));
    AUTO_FREE char *inode = xasprintf("%lu", c->inode);

    if (str_starts(proto, "tcp"))
        json_object_set_new(row, "state", json_string(sock_state(c->state)));
    json_object_set_new(row, "user", value_fmt("%u", c->uid));
    json_object_set_new(row, "inode", json_string(inode));
    json_object_set_new(row, "program", json_string(value_str(owners, inode, "-")));
    return row;
}

static int
network_netstat(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    static const char *const protos[] = { "tcp", "tcp6", "udp", "udp6" };
    json_auto_t *owners = sock_owners();
    json_t *out = json_array();

    for (size_t k = 0; k < NELEMS(protos); k++) {
        size_t n = 0;
        sock_row_t *rows = sock_rows(protos[k], &n);
        for (size_t i = 0; i < n; i++)
            json_array_append_new(out, conn_row(&rows[i], protos[k], owners));
        free(rows);
    }
    *ret_value = out;
    return 0;
}

/* ---- this host's name ------------------------------------------------------------------------ */

static int
network_get_hostname(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    char name[256] = "";

    (void) gethostname(name, sizeof(name) - 1);
    *ret_value = json_string(name);
    return 0;
}

/* The first of a host's names that has a dot, else its proper name. NEW. */
static char *
dotted_name(const struct hostent *h)
{
    if (strchr(h->h_name, '.') != NULL)
        return xstrdup(h->h_name);
    for (char **alias = h->h_aliases; *alias != NULL; alias++) {
        if (strchr(*alias, '.') != NULL)
            return xstrdup(*alias);
    }
    return xstrdup(h->h_name);
}

/* Python's getfqdn: our name's address is looked up backwards. NEW. */
static char *
fqdn(void)
{
    char name[256] = "";
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
    const struct hostent *h = NULL;

    (void) gethostname(name, sizeof(name) - 1);
    if (getaddrinfo(name, NULL, &hints, &all) != 0)
        return xstrdup(name);
    if (all->ai_family == AF_INET)
        h = gethostbyaddr(&((const struct sockaddr_in *) (const void *) all->ai_addr)->sin_addr, 4, AF_INET);
    else if (all->ai_family == AF_INET6)
        h = gethostbyaddr(&((const struct sockaddr_in6 *) (const void *) all->ai_addr)->sin6_addr, 16,
                          AF_INET6);
    freeaddrinfo(all);
    return h != NULL ? dotted_name(h) : xstrdup(name);
}

static int
network_get_fqdn(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args, (void) err;
    AUTO_FREE char *name = fqdn();

    *ret_value = json_string(name);
    return 0;
}

/* A copy of a hosts file's text with the word `old` replaced by `new`; comments stay. */
static void
rename_in_hosts(const char *text, const char *old, const char *new, buf_t *out)
{
    bool comment = false;

    while (*text != '\0') {
        size_t n = strcspn(text, " \t\n#");
        if (n == 0) {
            comment = *text == '#' ? true : *text == '\n' ? false : comment;
            buf_putc(out, *text++);
            continue;
        }
        if (!comment && strlen(old) == n && memcmp(text, old, n) == 0)
            buf_puts(out, new);
        else
            buf_add(out, text, n);
        text += n;
    }
}

static int
rewrite_hosts(const char *path, const char *old, const char *new, fail_t *err)
{
    buf_auto_t text = BUF_INIT, fresh = BUF_INIT;

    if (!fs_exists(path))
        return 0;
    int rc = fs_read(path, LIMIT_CONF_FILE, &text, err);
    if (rc != 0)
        return rc;
    rename_in_hosts(buf_str(&text), old, new, &fresh);
    if (fresh.len == text.len && memcmp(buf_str(&text), buf_str(&fresh), text.len) == 0)
        return 0;
    return fs_write_atomic(path, buf_str(&fresh), fresh.len, 0644, err);
}

static int
set_hostname(const char *name, fail_t *err)
{
    AUTO_FREE char *program = fs_which("hostnamectl");
    prog_auto_t prog = PROG_INIT;

    if (program != NULL && fs_exists("/run/systemd/system")) {
        prog_adds(&prog, program, "set-hostname", "--", name, NULL);
        return prog_retcode(&prog, err) == 0 ? 0 : -EIO;
    }
    if (sethostname(name, strlen(name)) != 0)
        return fail_kind(err, FAIL_COMMAND, -errno, "cannot set the host name: %s", strerror(errno));
    if (!fs_exists("/etc/hostname"))
        return 0;
    AUTO_FREE char *line = xasprintf("%s\n", name);
    return fs_write_atomic("/etc/hostname", line, strlen(line), 0644, err);
}

static int
network_mod_hostname(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    const char *name = value_str(args, "hostname", NULL);
    char old[256] = "";

    if (str_empty(name)) {
        *ret_value = json_false();
        return 0;
    }
    if (strlen(name) > 64 || *name == '-' ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")] != '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' is not a valid host name", name);
    (void) gethostname(old, sizeof(old) - 1);
    fail_auto_t why = FAIL_INIT;
    if (set_hostname(name, &why) != 0) {
        if (why.code != 0)
            return fail_kind(err, FAIL_COMMAND, why.code, "%s", fail_text(&why));
        *ret_value = json_false();
        return 0;
    }
    int rc = rewrite_hosts("/etc/hosts", old, name, err);
    if (rc == 0)
        *ret_value = json_true();
    return rc;
}

/* ---- other hosts ----------------------------------------------------------------------------- */

static int
run_text(const prog_t *prog, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *out = prog_stdout(prog, NULL, err);

    if (out == NULL)
        return -EIO;
    *ret_value = value_utf8(out, strlen(out));
    return 0;
}

static int
network_ping(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    json_t *timeout = value_get(args, "timeout");
    prog_auto_t prog = PROG_INIT;

    if (need_program("ping", err) != 0)
        return -ENOENT;
    prog_add(&prog, "ping");
    if (value_truthy(timeout)) {
        prog_add(&prog, "-W");
        prog_add_json(&prog, timeout);
    }
    prog_adds(&prog, "-c", "4", "--", host, NULL);
    prog.merge_stderr = true;
    if (!value_bool(args, "return_boolean", false))
        return run_text(&prog, ret_value, err);
    int code = prog_retcode(&prog, err);
    if (code < 0)
        return code;
    *ret_value = json_boolean(code == 0);
    return 0;
}

static int
network_dig(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    prog_auto_t prog = PROG_INIT;

    if (need_program("dig", err) != 0)
        return -ENOENT;
    /* -q takes the next word as a name, whatever it starts with. */
    prog_adds(&prog, "dig", "-q", host, NULL);
    return run_text(&prog, ret_value, err);
}

/* One line of modern traceroute: " 1  name (ip)  0.1 ms  0.2 ms  0.3 ms". NEW; empty when it is another. */
static json_t *
trace_row(const char *line)
{
    char name[256], ip[128];
    int count;
    double ms[3];

    if (sscanf(line, " %d %255s (%127[^)]) %lf ms %lf ms %lf ms", &count, name, ip, &ms[0], &ms[1], &ms[2]) ==
        6)
        return json_pack("{s:i, s:s, s:s, s:f, s:f, s:f}", "count", count, "hostname", name, "ip", ip, "ms1",
                         ms[0], "ms2", ms[1], "ms3", ms[2]);
    if (strstr(line, "* * *") != NULL && sscanf(line, " %d", &count) == 1)
        return json_pack("{s:i, s:s}", "count", count, "hostname", "*");
    return json_object();
}

static int
network_traceroute(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    AUTO_FREE char *host = sanitize_host(value_str(args, "host", ""));
    prog_auto_t prog = PROG_INIT;

    if (need_program("traceroute", err) != 0)
        return -ENOENT;
    prog_adds(&prog, "traceroute", "--", host, NULL);
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    char **lines = str_split(out, "\n", true);
    json_t *rows = json_array();
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (strchr(lines[i], ' ') != NULL && !str_starts(lines[i], "traceroute"))
            json_array_append_new(rows, trace_row(lines[i]));
    }
    strv_free(lines);
    *ret_value = rows;
    return 0;
}

/* Wait until the socket can be written (or read); false after the time or on an error. */
static bool
ready(int fd, short events, double seconds)
{
    struct pollfd wait = { fd, events, 0 };
    int failed = 0;
    socklen_t len = sizeof(failed);

    return poll(&wait, 1, (int) (seconds * 1000)) == 1 &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0;
}

static bool
try_connect(const struct addrinfo *a, double seconds)
{
    AUTO_FD fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);

    if (fd < 0 || (connect(fd, a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS))
        return false;
    if (a->ai_socktype == SOCK_STREAM)
        return ready(fd, POLLOUT, seconds);
    /* Without a connection only an answer tells. */
    char answer[256];
    return send(fd, "salt", 4, 0) == 4 && ready(fd, POLLIN, seconds) &&
           recv(fd, answer, sizeof(answer), 0) >= 0;
}

static int
address_family(const char *name)
{
    return str_eq(name, "ipv4") ? AF_INET : str_eq(name, "ipv6") ? AF_INET6 : AF_UNSPEC;
}

static int
network_connect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) err;
    json_t *kwargs = value_get(args, "kwargs");
    const char *host = value_str(args, "host", "");
    AUTO_FREE char *port = value_pystr(value_get(args, "port"));
    bool udp = str_eq(value_str(kwargs, "proto", "tcp"), "udp");
    const char *proto = udp ? "udp" : "tcp";
    struct addrinfo hints = { .ai_family = address_family(value_str(kwargs, "family", "")),
                              .ai_socktype = udp ? SOCK_DGRAM : SOCK_STREAM };
    struct addrinfo *all = NULL;
    char address[INET6_ADDRSTRLEN] = "";
    ip_t ip;

    if (*host == '\0' || !value_truthy(value_get(args, "port"))) {
        *ret_value = json_pack(
            "{s:b, s:o}", "result", 0, "comment",
            value_fmt("Required argument, %s, is missing.", *host == '\0' ? "host" : "port"));
        return 0;
    }
    AUTO_FREE char *name = ip_parse(host, &ip, NULL) == 0 ? xstrdup(host) : sanitize_host(host);
    if (getaddrinfo(name, port, &hints, &all) != 0) {
        *ret_value = json_pack("{s:b, s:o}", "result", 0, "comment",
                               value_fmt("Unable to resolve host %s on %s port %s", host, proto, port));
        return 0;
    }
    bool ok = try_connect(all, value_num(kwargs, "timeout", 5));
    (void) getnameinfo(all->ai_addr, all->ai_addrlen, address, sizeof(address), NULL, 0, NI_NUMERICHOST);
    freeaddrinfo(all);
    *ret_value = json_pack("{s:b, s:o}", "result", ok, "comment",
                           value_fmt("%s to %s (%s) on %s port %s",
                                     ok ? "Successfully connected" : "Unable to connect", host, address,
                                     proto, port));
    return 0;
}

/* Twelve digits, bare or in pairs behind any separator. */
static bool
parse_mac(const char *text, uint8_t out[6])
{
    size_t len = strlen(text), step = len == 17 ? 3 : 2;

    if (len != 12 && len != 17)
        return false;
    for (size_t i = 0; i < 6; i++) {
        const char *p = text + i * step;
        const char pair[3] = { p[0], p[1], '\0' };
        if (!isxdigit((unsigned char) p[0]) || !isxdigit((unsigned char) p[1]) ||
            (step == 3 && i > 0 && p[-1] != text[2]))
            return false;
        out[i] = (uint8_t) strtoul(pair, NULL, 16);
    }
    return true;
}

static int
network_wol(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    uint8_t packet[17 * 6], mac[6];
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t) value_int(args, "destport", 9)) };
    int on = 1;

    if (!parse_mac(value_str(args, "mac", ""), mac))
        return fail_set(err, -EINVAL, "Invalid MAC address");
    if (inet_pton(AF_INET, value_str(args, "bcast", ""), &to.sin_addr) != 1)
        return fail_set(err, -EINVAL, "'%s' is not an IPv4 address", value_str(args, "bcast", ""));
    memset(packet, 0xff, 6);
    for (size_t i = 1; i <= 16; i++)
        memcpy(packet + i * 6, mac, 6);
    AUTO_FD fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)) != 0 ||
        sendto(fd, packet, sizeof(packet), 0, (const struct sockaddr *) &to, sizeof(to)) < 0)
        return fail_set(err, -errno, "[Errno %d] %s", errno, strerror(errno));
    *ret_value = json_true();
    return 0;
}

static void
add_name(json_t *out, const ip_t *ip)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    char name[NI_MAXHOST];

    memcpy(&v4.sin_addr, ip->b, 4);
    memcpy(&v6.sin6_addr, ip->b, 16);
    const struct sockaddr *addr = ip->version == 4 ? (const void *) &v4 : (const void *) &v6;
    socklen_t len = ip->version == 4 ? sizeof(v4) : sizeof(v6);
    if (getnameinfo(addr, len, name, sizeof(name), NULL, 0, NI_NAMEREQD) == 0)
        json_object_set_new(out, name, json_true());
}

static int
network_fqdns(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx, (void) args;
    nets_auto_t found = { NULL, 0 };
    json_auto_t *names = json_object();
    const char *key;
    json_t *v;
    size_t n = 0;

    if (nets_collect(&found, NULL, "inet", err) != 0 || nets_collect(&found, NULL, "inet6", err) != 0)
        return -EIO;
    nets_filter(&found, net_not_loopback, NULL);
    for (size_t i = 0; i < found.n; i++)
        add_name(names, &found.v[i].addr);
    const char **sorted = xcalloc(json_object_size(names) + 1, sizeof(*sorted));
    json_object_foreach (names, key, v) {
        sorted[n++] = key;
    }
    qsort(sorted, n, sizeof(*sorted), str_by_text);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(sorted[i]));
    free(sorted);
    *ret_value = json_pack("{s:o}", "fqdns", list);
    return 0;
}

/* ---- ring buffers ---------------------------------------------------------------------------- */

/* "RX:  256" below "Pre-set maximums:" or "Current hardware settings:". */
static void
parse_rings(char **lines, json_t *out)
{
    const char *suffix = "max-";

    for (size_t i = 0; lines[i] != NULL; i++) {
        char *colon = strchr(lines[i], ':');
        long long n;
        if (str_ends(lines[i], "maximums:"))
            suffix = "-max";
        else if (str_ends(lines[i], "settings:"))
            suffix = "";
        else if (colon != NULL && str_to_int(colon + 1 + strspn(colon + 1, " \t"), 0, INT32_MAX, &n)) {
            *colon = '\0';
            AUTO_FREE char *name = str_replace(lines[i], " ", "-");
            for (char *p = name; *p != '\0'; p++)
                *p = (char) tolower((unsigned char) *p);
            AUTO_FREE char *key = xasprintf("%s%s", name, suffix);
            json_object_set_new(out, key, json_integer(n));
            json_object_set_new(out, "result", json_true());
        }
    }
}

static int
network_get_bufsize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    AUTO_FREE char *program = fs_which("ethtool");
    json_auto_t *out = json_object();
    prog_auto_t prog = PROG_INIT;

    if (program != NULL) {
        prog_adds(&prog, program, "-g", value_str(args, "iface", ""), NULL);
        prog.merge_stderr = true;
        AUTO_FREE char *text = prog_stdout(&prog, NULL, err);
        if (text == NULL)
            return -EIO;
        char **lines = str_split(text, "\n", true);
        json_object_set_new(out, "result", json_false());
        parse_rings(lines, out);
        strv_free(lines);
        if (!value_bool(out, "result", false))
            json_object_set_new(out, "comment", value_utf8(text, strlen(text)));
    }
    *ret_value = json_incref(out);
    return 0;
}

static json_t *
outcome(bool result, const char *comment)
{
    return json_pack("{s:b, s:s}", "result", result, "comment", comment);
}

static int
network_mod_bufsize(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    (void) ctx;
    static const char *const names[] = { "rx", "tx", "rx-mini", "rx-jumbo" };
    AUTO_FREE char *program = fs_which("ethtool");
    json_t *kwargs = value_get(args, "kwargs");
    buf_auto_t shown = BUF_INIT;
    prog_auto_t prog = PROG_INIT;

    if (program == NULL) {
        *ret_value = json_false();
        return 0;
    }
    prog_adds(&prog, program, "-G", value_str(args, "iface", ""), NULL);
    for (size_t i = 0; i < NELEMS(names); i++) {
        json_t *v = value_get(kwargs, names[i]);
        if (v == NULL || json_is_null(v))
            continue;
        AUTO_FREE char *text = value_pystr(v);
        prog_adds(&prog, names[i], text, NULL);
        buf_printf(&shown, "%s%s %s", shown.len > 0 ? " " : "", names[i], text);
    }
    if (json_object_size(kwargs) > 0 && json_array_size(value_get(args, "args")) > 0) {
        AUTO_FREE char *first = value_pystr(json_array_get(value_get(args, "args"), 0));
        AUTO_FREE char *comment = xasprintf("Unknown arguments: %s", first);
        *ret_value = outcome(false, comment);
        return 0;
    }
    if (shown.len == 0) {
        *ret_value = outcome(false, "Requires rx=<val> tx==<val> rx-mini=<val> and/or rx-jumbo=<val>");
        return 0;
    }
    prog.merge_stderr = true;
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    *ret_value = outcome(*out == '\0', *out != '\0' ? out : buf_str(&shown));
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

#define LISTING_ROWS                                                                                         \
    { "interface", ARG_ANY, "null", "Globs for the interfaces, as a list or parted by commas" },             \
    {                                                                                                        \
        "include_loopback", ARG_BOOL, "false", "Also 127.0.0.0/8 and ::1"                                    \
    }

static const arg_t iface_args[] = { { "iface", ARG_STR, ARG_REQUIRED, "Name of the interface" }, ARGS_END };
static const arg_t ip_addrs_args[] = { LISTING_ROWS,
                                       { "cidr", ARG_STR, "null", "Only those in this network" },
                                       { "type", ARG_STR, "null", "public or private" },
                                       ARGS_END };
static const arg_t ip_addrs6_args[] = { LISTING_ROWS,
                                        { "cidr", ARG_STR, "null", "Only those in this network" },
                                        ARGS_END };
static const arg_t ip_networks_args[] = { LISTING_ROWS,
                                          { "verbose", ARG_BOOL, "false", "Also mask, prefix and size" },
                                          ARGS_END };
static const arg_t subnets_args[] = { { "interfaces", ARG_ANY, "null", "Only of these" }, ARGS_END };
static const arg_t cidr_args[] = { { "cidr", ARG_STR, ARG_REQUIRED, "A network, such as 10.0.0.0/8" },
                                   ARGS_END };
static const arg_t ip_in_subnet_args[] = { { "ip_addr", ARG_ANY, ARG_REQUIRED, "An address, or a list" },
                                           { "cidr", ARG_STR, ARG_REQUIRED, "A network" },
                                           ARGS_END };
static const arg_t calc_net_args[] = { { "ip_addr", ARG_STR, ARG_REQUIRED, "An address, or with its prefix" },
                                       { "netmask", ARG_ANY, "null", "Mask or length of the prefix" },
                                       ARGS_END };
static const arg_t ip_addr_args[] = { { "ip_addr", ARG_STR, ARG_REQUIRED, "An address" }, ARGS_END };
static const arg_t ip_args[] = { { "ip", ARG_STR, ARG_REQUIRED, "An address" }, ARGS_END };
static const arg_t start_args[] = { { "cidr", ARG_STR, ARG_REQUIRED, "How the address starts" }, ARGS_END };
static const arg_t family_args[] = { { "family", ARG_STR, "null", "inet or inet6" }, ARGS_END };
static const arg_t hostname_args[] = { { "hostname", ARG_ANY, ARG_REQUIRED, "The new name" }, ARGS_END };
static const arg_t host_args[] = { { "host", ARG_STR, ARG_REQUIRED, "Name or address" }, ARGS_END };
static const arg_t ping_args[] = { { "host", ARG_STR, ARG_REQUIRED, "Name or address" },
                                   { "timeout", ARG_ANY, "false", "Seconds to wait for an answer" },
                                   { "return_boolean", ARG_BOOL, "false", "Only say whether it answers" },
                                   ARGS_END };
static const arg_t connect_args[] = { { "host", ARG_STR, ARG_REQUIRED, "Name or address" },
                                      { "port", ARG_ANY, "null", "Number or name of the port" },
                                      { "kwargs", ARG_ANY, ARG_STARSTAR, "proto, timeout, family" },
                                      ARGS_END };
static const arg_t wol_args[] = { { "mac", ARG_STR, ARG_REQUIRED, "Hardware address" },
                                  { "bcast", ARG_STR, "\"255.255.255.255\"", "Broadcast address" },
                                  { "destport", ARG_INT, "9", "UDP port" },
                                  ARGS_END };
static const arg_t mod_bufsize_args[] = { { "iface", ARG_STR, ARG_REQUIRED, "Name of the interface" },
                                          { "args", ARG_ANY, ARG_STAR, "None are known" },
                                          { "kwargs", ARG_ANY, ARG_STARSTAR, "rx, tx, rx-mini, rx-jumbo" },
                                          ARGS_END };

static const func_t funcs[] = {
    { "active_tcp", network_active_tcp, NULL, FN_READONLY,
      "Return the established TCP connections." CLI_EXAMPLE("salt '*' network.active_tcp") },
    { "arp", network_arp, NULL, FN_READONLY,
      "Return the ARP table: hardware addresses with their IP addresses." CLI_EXAMPLE(
          "salt '*' network.arp") },
    { "calc_net", network_calc_net, calc_net_args, FN_READONLY,
      "Return the network of an address." CLI_EXAMPLE(
          "salt '*' network.calc_net 172.17.0.5 255.255.255.240\n    salt '*' network.calc_net "
          "2a02:f6e:a000:80:84d8:8332:7866:4e07/64") },
    { "connect", network_connect, connect_args, FN_READONLY,
      "Say whether a TCP or UDP port of a host answers.\n\nKeywords: ``proto`` (tcp, udp), ``timeout`` in "
      "seconds, ``family`` (ipv4, "
      "ipv6)." CLI_EXAMPLE("salt '*' network.connect archlinux.org 80\n    salt '*' network.connect "
                           "google-public-dns-a.google.com "
                           "port=53 proto=udp timeout=3") },
    { "convert_cidr", network_convert_cidr, cidr_args, FN_READONLY,
      "Return network, netmask and broadcast address of a network." CLI_EXAMPLE(
          "salt '*' network.convert_cidr 172.31.0.0/16") },
    { "default_route", network_default_route, family_args, FN_READONLY,
      "Return the default routes, of both families or of one." CLI_EXAMPLE(
          "salt '*' network.default_route") },
    { "dig", network_dig, host_args, FN_READONLY,
      "Return what dig tells of a name." CLI_EXAMPLE("salt '*' network.dig archlinux.org") },
    { "fqdns", network_fqdns, NULL, FN_READONLY,
      "Return the names that this host's addresses have." CLI_EXAMPLE("salt '*' network.fqdns") },
    { "get_bufsize", network_get_bufsize, iface_args, FN_READONLY,
      "Return the sizes of an interface's ring buffers." CLI_EXAMPLE("salt '*' network.get_bufsize eth0") },
    { "get_fqdn", network_get_fqdn, NULL, FN_READONLY,
      "Return this host's name with its domain." CLI_EXAMPLE("salt '*' network.get_fqdn") },
    { "get_hostname", network_get_hostname, NULL, FN_READONLY,
      "Return this host's name." CLI_EXAMPLE("salt '*' network.get_hostname") },
    { "get_route", network_get_route, ip_args, FN_READONLY,
      "Return how the kernel reaches an address." CLI_EXAMPLE("salt '*' network.get_route 10.10.10.10") },
    { "hw_addr", network_hw_addr, iface_args, FN_READONLY,
      "Return the hardware address of an interface." CLI_EXAMPLE("salt '*' network.hw_addr eth0") },
    { "hwaddr", network_hw_addr, iface_args, FN_READONLY,
      "The same as network.hw_addr." CLI_EXAMPLE("salt '*' network.hwaddr eth0") },
    { "ifacestartswith", network_ifacestartswith, start_args, FN_READONLY,
      "Return the interfaces with an address that starts so." CLI_EXAMPLE(
          "salt '*' network.ifacestartswith 10.0") },
    { "in_subnet", network_in_subnet, cidr_args, FN_READONLY,
      "Say whether this host has an address in a network." CLI_EXAMPLE(
          "salt '*' network.in_subnet 10.0.0.0/16") },
    { "interface", network_interface, iface_args, FN_READONLY,
      "Return the IPv4 addresses of an interface." CLI_EXAMPLE("salt '*' network.interface eth0") },
    { "interface_ip", network_interface_ip, iface_args, FN_READONLY,
      "Return the first IPv4 address of an interface." CLI_EXAMPLE("salt '*' network.interface_ip eth0") },
    { "interfaces", network_interfaces, NULL, FN_READONLY,
      "Return the interfaces with their addresses." CLI_EXAMPLE("salt '*' network.interfaces") },
    { "ip_addrs", network_ip_addrs, ip_addrs_args, FN_READONLY,
      "Return this host's IPv4 addresses.\n\nLoopback addresses are left out unless asked for." CLI_EXAMPLE(
          "salt '*' network.ip_addrs\n    salt '*' network.ip_addrs cidr=10.0.0.0/8\n    "
          "salt '*' network.ip_addrs type=private") },
    { "ip_addrs6", network_ip_addrs6, ip_addrs6_args, FN_READONLY,
      "Return this host's IPv6 addresses." CLI_EXAMPLE(
          "salt '*' network.ip_addrs6\n    salt '*' network.ip_addrs6 cidr=2000::/3") },
    { "ip_in_subnet", network_ip_in_subnet, ip_in_subnet_args, FN_READONLY,
      "Say whether an address is in a network." CLI_EXAMPLE(
          "salt '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12") },
    { "ip_networks", network_ip_networks, ip_networks_args, FN_READONLY,
      "Return the IPv4 networks that this host is in." CLI_EXAMPLE(
          "salt '*' network.ip_networks\n    salt '*' network.ip_networks interface=docker0 verbose=True") },
    { "ip_networks6", network_ip_networks6, ip_networks_args, FN_READONLY,
      "Return the IPv6 networks that this host is in." CLI_EXAMPLE("salt '*' network.ip_networks6") },
    { "ipaddrs", network_ip_addrs, ip_addrs_args, FN_READONLY,
      "The same as network.ip_addrs." CLI_EXAMPLE("salt '*' network.ipaddrs") },
    { "ipaddrs6", network_ip_addrs6, ip_addrs6_args, FN_READONLY,
      "The same as network.ip_addrs6." CLI_EXAMPLE("salt '*' network.ipaddrs6") },
    { "iphexval", network_iphexval, ip_args, FN_READONLY,
      "Return an IPv4 address in hexadecimal." CLI_EXAMPLE("salt '*' network.iphexval 10.0.0.1") },
    { "is_loopback", network_is_loopback, ip_addr_args, FN_READONLY,
      "Say whether an address is a loopback address." CLI_EXAMPLE("salt '*' network.is_loopback 127.0.0.1") },
    { "is_private", network_is_private, ip_addr_args, FN_READONLY,
      "Say whether an address is a private one." CLI_EXAMPLE("salt '*' network.is_private 10.0.0.3") },
    { "mod_bufsize", network_mod_bufsize, mod_bufsize_args, 0,
      "Change the sizes of an interface's ring buffers." CLI_EXAMPLE(
          "salt '*' network.mod_bufsize <iface name> rx=<val> tx=<val>") },
    { "mod_hostname", network_mod_hostname, hostname_args, 0,
      "Change this host's name, now and for the next boot." CLI_EXAMPLE(
          "salt '*' network.mod_hostname master.saltstack.com") },
    { "netstat", network_netstat, NULL, FN_READONLY,
      "Return the open TCP and UDP sockets with their programs." CLI_EXAMPLE("salt '*' network.netstat") },
    { "ping", network_ping, ping_args, FN_READONLY,
      "Send four pings to a host and return what ping prints." CLI_EXAMPLE(
          "salt '*' network.ping archlinux.org\n    salt '*' network.ping archlinux.org timeout=3 "
          "return_boolean=True") },
    { "reverse_ip", network_reverse_ip, ip_addr_args, FN_READONLY,
      "Return the name for a reverse look-up of an address." CLI_EXAMPLE(
          "salt '*' network.reverse_ip 172.17.0.4") },
    { "routes", network_routes, family_args, FN_READONLY,
      "Return the routes, of both families or of one." CLI_EXAMPLE("salt '*' network.routes") },
    { "subnets", network_subnets, subnets_args, FN_READONLY,
      "Return the IPv4 networks that this host is in, loopback left out." CLI_EXAMPLE(
          "salt '*' network.subnets\n    salt '*' network.subnets interfaces=eth1") },
    { "subnets6", network_subnets6, NULL, FN_READONLY,
      "Return the IPv6 networks that this host is in, loopback left out." CLI_EXAMPLE(
          "salt '*' network.subnets6") },
    { "traceroute", network_traceroute, host_args, FN_READONLY,
      "Return the way to a host, hop by hop." CLI_EXAMPLE("salt '*' network.traceroute archlinux.org") },
    { "wol", network_wol, wol_args, 0,
      "Wake a host by its hardware address." CLI_EXAMPLE("salt '*' network.wol 08-00-27-13-69-77\n    salt "
                                                         "'*' network.wol 080027136977 255.255.255.255 7") },
};

PLUGIN(exec, network, .doc = "Addresses, routes and connections", FUNCS(funcs));
