/* network_kernel.c - more of execution module `network`: routes, neighbours and connections, by netlink and
 * from /proc/net. */
#include "common/host/netlink.h"
#include "common/host/procfs.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/system/sockets.h"
#include "salt/plugin.h"

/* ---- routes ---------------------------------------------------------------------------------- */

/* All routes, or only the default ones, as the row says. The kernel's table is read, not the output of a
 * program. A default route has no destination bits: 0.0.0.0 with such a mask, or ::/0. */
static int
network_routes_of(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool only_default = ctx_row(ctx)->data.number;
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
    return procfs_answer(out, ret_value, err);
}

/* The kernel's own decision for one address, with the source address and device that it would use. */
static int
network_get_route(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = netlink_get_route(value_str(args, "ip", ""), err);
    return *ret_value == NULL ? -EIO : 0;
}

/* Complete entries only: a flag is set. Neighbours that are still asked for, or did not answer, have flags 0
 * (include/linux/if_arp.h: ATF_COM). The first line is a header. */
static int
network_arp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = procfs_lines("/proc/net/arp", err);
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char ip[64], hardware[64];
        unsigned flags;
        if (i > 0 && sscanf(lines[i], "%63s %*s %x %63s", ip, &flags, hardware) == 3 && flags != 0)
            json_object_set_new(out, hardware, json_string(ip));
    }
    strv_free(lines);
    return procfs_answer(out, ret_value, err);
}

/* ---- connections ----------------------------------------------------------------------------- */

/* Rows are numbered from "0", as Salt has them: an object, not a list. */
static int
network_active_tcp(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const protos[] = { "tcp", "tcp6" };
    json_t *out = json_object();

    for (size_t k = 0; k < NELEMS(protos); k++) {
        size_t n = 0;
        sock_row_t *rows = sock_rows(protos[k], &n, err);
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
    return procfs_answer(out, ret_value, err);
}

/* Port 0 is "any" and shown as netstat shows it. */
static json_t *
network_kernel_end_value(const char *addr, unsigned port)
{
    return port == 0 ? value_fmt("%s:*", addr) : value_fmt("%s:%u", addr, port);
}

/* Salt's keys of netstat's columns. UDP has no state; "-" stands for programs of other users, which this
 * process may not see. */
static json_t *
conn_row(const sock_row_t *c, const char *proto, json_t *owners)
{
    json_t *row = json_pack("{s:s, s:o, s:o, s:o, s:o}", "proto", proto, "recv-q", value_fmt("%u", c->recv_q),
                            "send-q", value_fmt("%u", c->send_q), "local-address",
                            network_kernel_end_value(c->local, c->local_port), "remote-address",
                            network_kernel_end_value(c->remote, c->remote_port));
    AUTO_FREE char *inode = xasprintf("%lu", c->inode);

    if (str_starts(proto, "tcp"))
        json_object_set_new(row, "state", json_string(sock_state(c->state)));
    json_object_set_new(row, "user", value_fmt("%u", c->uid));
    json_object_set_new(row, "inode", json_string(inode));
    json_object_set_new(row, "program", json_string(value_str(owners, inode, "-")));
    return row;
}

/* The owners are collected once, since that reads the descriptors of every process. */
static int
network_netstat(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const protos[] = { "tcp", "tcp6", "udp", "udp6" };
    json_auto_t *owners = sock_owners(err);

    if (owners == NULL)
        return err->code;
    json_t *out = json_array();
    for (size_t k = 0; k < NELEMS(protos); k++) {
        size_t n = 0;
        sock_row_t *rows = sock_rows(protos[k], &n, err);
        for (size_t i = 0; i < n; i++)
            json_array_append_new(out, conn_row(&rows[i], protos[k], owners));
        free(rows);
    }
    return procfs_answer(out, ret_value, err);
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t ip_args[] = { ARG("ip", ARG_STR, ARG_REQUIRED, "An address"), ARGS_END };
static const arg_t family_args[] = { ARG("family", ARG_STR, "null", "inet or inet6"), ARGS_END };

static const func_t funcs[] = {
    { "active_tcp", network_active_tcp, NULL, FN_READONLY,
      "Return the established TCP connections." CLI_EXAMPLE("salt '*' network.active_tcp") },
    { "arp", network_arp, NULL, FN_READONLY,
      "Return the ARP table: hardware addresses with their IP addresses." CLI_EXAMPLE(
          "salt '*' network.arp") },
    { "default_route", network_routes_of, family_args, FN_READONLY,
      "Return the default routes, of both families or of one." CLI_EXAMPLE("salt '*' network.default_route"),
      .data.number = true },
    { "get_route", network_get_route, ip_args, FN_READONLY,
      "Return how the kernel reaches an address." CLI_EXAMPLE("salt '*' network.get_route 10.10.10.10") },
    { "netstat", network_netstat, NULL, FN_READONLY,
      "Return the open TCP and UDP sockets with their programs." CLI_EXAMPLE("salt '*' network.netstat") },
    { "routes", network_routes_of, family_args, FN_READONLY,
      "Return the routes, of both families or of one." CLI_EXAMPLE("salt '*' network.routes"),
      .data.number = false },
};

PLUGIN(exec, network_kernel, .provides = "network", .doc = "Routes and connections", FUNCS(funcs));
