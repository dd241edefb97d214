/* network_calc.c - more of execution module `network`: what can be computed from an address alone. Nothing
 * here asks the network; only in_subnet looks at this host's own addresses. A text that is no address is an
 * error of the job, in Python's words (ipaddr.h), except where Salt answers False. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/data/ipaddr.h"
#include "plugins/lib/system/netlist.h"
#include "salt/plugin.h"

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* A network that can't be parsed contains nothing. Both families are collected, but loopback counts for
 * neither. */
static int
network_in_subnet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
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

/* The addresses of a text or a list, one of which must be in the network. Addresses behind the first that
 * fits are not looked at, so that a wrong one among them is no error. */
static int
network_ip_in_subnet(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
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

/* Host bits are cleared. The netmask may be a length or dotted; without one the address has it behind a
 * slash, or is a host's own network. */
static int
network_calc_net(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
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

/* The same object for IPv6, where the last address is no broadcast: Salt calls it so. */
static int
network_convert_cidr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ipnet_t net;
    int rc = ipnet_parse(value_str(args, "cidr", ""), false, &net, err);

    if (rc != 0)
        return rc;
    ip_t mask_ip = ipnet_mask(&net), last_ip = ipnet_last(&net);
    AUTO_FREE char *first = ip_text(&net.addr), *mask = ip_text(&mask_ip), *last = ip_text(&last_ip);
    *ret_value = json_pack("{s:s, s:s, s:s}", "network", first, "netmask", mask, "broadcast", last);
    return 0;
}

typedef bool address_fn(const ip_t *ip);

/* By the row's predicate. A row for each of is_private, is_loopback and their kind. */
static int
network_say_of_address(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    address_fn *const *is = ctx_row(ctx)->data.ptr;
    ip_t ip;
    int rc = ip_parse(value_str(args, "ip_addr", ""), &ip, err);

    if (rc == 0)
        *ret_value = json_boolean((*is)(&ip));
    return rc;
}

/* The name below in-addr.arpa or ip6.arpa that a PTR record of the address has. */
static int
network_reverse_ip(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ip_t ip;
    int rc = ip_parse(value_str(args, "ip_addr", ""), &ip, err);

    if (rc != 0)
        return rc;
    AUTO_FREE char *text = ip_reverse(&ip);
    *ret_value = json_string(text);
    return 0;
}

/* Any numbers between dots: Salt checks neither how many there are nor that each fits a byte. */
static int
network_iphexval(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
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

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t cidr_args[] = { ARG("cidr", ARG_STR, ARG_REQUIRED, "A network, such as 10.0.0.0/8"),
                                   ARGS_END };
static const arg_t ip_in_subnet_args[] = { ARG("ip_addr", ARG_ANY, ARG_REQUIRED, "An address, or a list"),
                                           ARG("cidr", ARG_STR, ARG_REQUIRED, "A network"), ARGS_END };
static const arg_t calc_net_args[] = {
    ARG("ip_addr", ARG_STR, ARG_REQUIRED, "An address, or with its prefix"),
    ARG("netmask", ARG_ANY, "null", "Mask or length of the prefix"), ARGS_END
};
static const arg_t ip_addr_args[] = { ARG("ip_addr", ARG_STR, ARG_REQUIRED, "An address"), ARGS_END };
static const arg_t ip_args[] = { ARG("ip", ARG_STR, ARG_REQUIRED, "An address"), ARGS_END };

static const func_t funcs[] = {
    { "calc_net", network_calc_net, calc_net_args, FN_READONLY,
      "Return the network of an address." CLI_EXAMPLE(
          "salt '*' network.calc_net 172.17.0.5 255.255.255.240\n    salt '*' network.calc_net "
          "2a02:f6e:a000:80:84d8:8332:7866:4e07/64") },
    { "convert_cidr", network_convert_cidr, cidr_args, FN_READONLY,
      "Return network, netmask and broadcast address of a network." CLI_EXAMPLE(
          "salt '*' network.convert_cidr 172.31.0.0/16") },
    { "in_subnet", network_in_subnet, cidr_args, FN_READONLY,
      "Say whether this host has an address in a network." CLI_EXAMPLE(
          "salt '*' network.in_subnet 10.0.0.0/16") },
    { "ip_in_subnet", network_ip_in_subnet, ip_in_subnet_args, FN_READONLY,
      "Say whether an address is in a network." CLI_EXAMPLE(
          "salt '*' network.ip_in_subnet 172.17.0.4 172.16.0.0/12") },
    { "iphexval", network_iphexval, ip_args, FN_READONLY,
      "Return an IPv4 address in hexadecimal." CLI_EXAMPLE("salt '*' network.iphexval 10.0.0.1") },
    { "is_loopback", network_say_of_address, ip_addr_args, FN_READONLY,
      "Say whether an address is a loopback address." CLI_EXAMPLE("salt '*' network.is_loopback 127.0.0.1"),
      .data.ptr = &(address_fn *const){ ip_is_loopback } },
    { "is_private", network_say_of_address, ip_addr_args, FN_READONLY,
      "Say whether an address is a private one." CLI_EXAMPLE("salt '*' network.is_private 10.0.0.3"),
      .data.ptr = &(address_fn *const){ ip_is_private } },
    { "reverse_ip", network_reverse_ip, ip_addr_args, FN_READONLY,
      "Return the name for a reverse look-up of an address." CLI_EXAMPLE(
          "salt '*' network.reverse_ip 172.17.0.4") },
};

PLUGIN(exec, network_calc, .provides = "network", .doc = "Arithmetic with addresses", FUNCS(funcs));
