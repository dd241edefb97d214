/* dockerports.c - ports of containers: see dockerargs.h. The forms and the errors are those of Salt's
 * salt.utils.dockermod.translate; a port is a text, "53/udp" or, for TCP, the number alone. */
#include <ctype.h>

#include "common/base/str.h"
#include "plugins/lib/docker/dockerargs.h"

enum { PORT_MAX = 65535 };

typedef struct range {
    long long start, end;
} range_t;

/* "80" or "4505-4506". */
static int
dockerports_read_range(const char *text, range_t *out, fail_t *bad)
{
    json_auto_t *parts = docker_parts(text, '-', 0);
    size_t n = json_array_size(parts);
    bool ok = (n == 1 || n == 2) &&
              str_to_int(json_string_value(json_array_get(parts, 0)), 0, PORT_MAX, &out->start) &&
              str_to_int(json_string_value(json_array_get(parts, n - 1)), 0, PORT_MAX, &out->end);

    if (!ok)
        return fail_set(bad, -EINVAL, "'%s' is non-numeric or an invalid port range", text);
    if (out->start > out->end)
        return fail_set(bad, -EINVAL,
                        "Start of port range (%lld) cannot be greater than end of port range (%lld)",
                        out->start, out->end);
    return 0;
}

/* Any other protocol is taken for TCP. */
static bool
is_udp(const char *protocol)
{
    return strcasecmp(protocol, "udp") == 0;
}

/* TCP is the default, and the only other protocol that Salt knows is UDP: "80/tcp" and "80/sctp" are "80". */
char *
docker_port_name(const char *port)
{
    const char *slash = strchr(port, '/');

    if (slash == NULL)
        return xstrdup(port);
    return xasprintf("%.*s%s", (int) (slash - port), port, is_udp(slash + 1) ? "/udp" : "");
}

/* The port before the slash and what is behind it. NEW text, *ret_protocol inside. */
static char *
cut_protocol(const char *text, const char **ret_protocol)
{
    char *port = xstrdup(text), *slash = strchr(port, '/');

    *ret_protocol = "";
    if (slash != NULL) {
        *slash = '\0';
        *ret_protocol = slash + 1;
    }
    return port;
}

/* Adds a binding of a port; None becomes the port's own number when there are several. TAKES `binding`. */
static void
add_binding(json_t *all, const char *port, json_t *binding)
{
    json_t *had = json_object_get(all, port), *one;
    size_t i;

    if (had == NULL) {
        json_object_set_new(all, port, binding);
        return;
    }
    if (!json_is_array(had)) {
        json_object_set_new(all, port, json_pack("[O]", had));
        had = json_object_get(all, port);
    }
    json_array_append_new(had, binding);
    json_array_foreach (had, i, one) {
        if (json_is_null(one))
            json_array_set_new(had, i, json_integer(atoll(port)));
    }
}

/* "[[IP:][HOST]:]PORT[/PROTOCOL]" into `all`. */
static int
read_binding(const char *text, bool any_address, json_t *all, fail_t *bad)
{
    json_auto_t *parts = docker_parts(text, ':', 0);
    size_t n = json_array_size(parts);
    const char *inner = json_string_value(json_array_get(parts, n - 1)), *protocol,
               *outer = n > 1 ? json_string_value(json_array_get(parts, n - 2)) : "",
               *address = n == 3 ? json_string_value(json_array_get(parts, 0)) : NULL;
    range_t in, out = { 0, 0 };

    if (n > 3)
        return fail_set(
            bad, -EINVAL,
            "'%s' is an invalid port binding definition (at most 3 components are allowed, found %zu)", text,
            n);
    if (n == 1 && *inner == '\0')
        return fail_set(bad, -EINVAL, "Empty port binding definition found");
    if (n == 2 && *outer == '\0')
        return fail_set(bad, -EINVAL, "Empty host port in port binding definition '%s'", text);
    if (n == 2 && *inner == '\0')
        return fail_set(bad, -EINVAL, "Empty container port in port binding definition '%s'", text);
    if (address != NULL && !any_address && docker_check_ip(address, bad) < 0)
        return bad->code;
    AUTO_FREE char *ports = cut_protocol(inner, &protocol);
    if (dockerports_read_range(ports, &in, bad) < 0 ||
        (*outer != '\0' && dockerports_read_range(outer, &out, bad) < 0))
        return bad->code;
    /* Ranges are bound port by port. */
    if (*outer != '\0' && out.end - out.start != in.end - in.start)
        return fail_set(
            bad, -EINVAL,
            "Host port range (%s) does not have the same number of ports as the container port range (%s)",
            outer, ports);
    for (long long i = 0; i <= in.end - in.start; i++) {
        AUTO_FREE char *name = xasprintf("%lld%s", in.start + i, is_udp(protocol) ? "/udp" : "");
        json_t *host = *outer != '\0' ? json_integer(out.start + i) : json_null();
        if (address == NULL)
            add_binding(all, name, host);
        else
            add_binding(all, name, json_pack("{s:s, s:o}", "HostIp", address, "HostPort", host));
    }
    return 0;
}

/* An object is the API's own form already. */
json_t *
docker_port_bindings(const json_t *v, bool any_address, fail_t *bad)
{
    json_t *one;
    size_t i;

    if (json_is_object(v))
        return json_deep_copy(v);
    json_auto_t *list = docker_stringlist(v);
    json_auto_t *all = json_object();
    json_array_foreach (list, i, one) {
        if (read_binding(json_string_value(one), any_address, all, bad) < 0)
            return NULL;
    }
    return json_incref(all);
}

/* A range is each of its ports, and a port that is named twice is there once. */
json_t *
docker_ports(const json_t *v, fail_t *bad)
{
    json_t *one;
    size_t i;
    json_auto_t *list = json_is_string(v)    ? docker_stringlist(v)
                        : json_is_integer(v) ? json_pack("[O]", v)
                                             : json_incref((json_t *) v);
    json_auto_t *all = json_array();

    if (!json_is_array(list)) {
        AUTO_FREE char *shown = value_pystr(v);
        (void) fail_set(bad, -EINVAL, "'%s' is not a valid port definition", shown);
        return NULL;
    }
    json_array_foreach (list, i, one) {
        range_t r;
        const char *protocol;
        AUTO_FREE char *text = value_pystr(one);
        AUTO_FREE char *ports = cut_protocol(text, &protocol);
        if (!json_is_integer(one) && !json_is_string(one))
            (void) fail_set(bad, -EINVAL, "'%s' is not a valid port definition", text);
        if (bad->code < 0 || dockerports_read_range(ports, &r, bad) < 0)
            return NULL;
        for (; r.start <= r.end; r.start++) {
            AUTO_FREE char *name = xasprintf("%lld%s", r.start, is_udp(protocol) ? "/udp" : "");
            if (!value_lists(all, name))
                json_array_append_new(all, json_string(name));
        }
    }
    return json_incref(all);
}

/* A binding: a number, {"HostIp", "HostPort"}, or null where the engine chooses the port. */
static json_t *
bound_port(const json_t *binding)
{
    const json_t *port = json_is_object(binding) ? value_get(binding, "HostPort") : binding;
    AUTO_FREE char *text = port != NULL && !json_is_null(port) ? value_pystr(port) : xstrdup("");

    return json_pack("{s:s, s:s}", "HostIp", value_str(binding, "HostIp", ""), "HostPort", text);
}

/* The API's form: HostPort is a text, empty where the engine chooses, and each port has a list. */
json_t *
docker_bound_ports(const json_t *bindings)
{
    json_t *out = json_object(), *v, *one;
    const char *port;
    size_t i;

    json_object_foreach ((json_t *) bindings, port, v) {
        AUTO_FREE char *key = xasprintf("%s%s", port, strchr(port, '/') == NULL ? "/tcp" : "");
        json_t *list = json_array();
        if (!json_is_array(v))
            json_array_append_new(list, bound_port(v));
        json_array_foreach (v, i, one)
            json_array_append_new(list, bound_port(one));
        json_object_set_new(out, key, list);
    }
    return out;
}
