/* netlist.c - see netlist.h: lists of this host's addresses with their prefixes, collected by netlink,
 * filtered by callbacks, sorted. */
#include "plugins/lib/system/netlist.h"

#include "common/host/netlink.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "salt/value.h"

void
nets_free(nets_t *s)
{
    free(s->v);
}

static int
by_net(const void *a, const void *b)
{
    return ipnet_cmp(a, b);
}

/* Also removes duplicates. */
void
nets_sort(nets_t *s)
{
    size_t kept = 0;

    if (s->n == 0)
        return;
    qsort(s->v, s->n, sizeof(*s->v), by_net);
    for (size_t i = 0; i < s->n; i++) {
        if (kept == 0 || ipnet_cmp(&s->v[kept - 1], &s->v[i]) != 0)
            s->v[kept++] = s->v[i];
    }
    s->n = kept;
}

/* Add the addresses of an interface, with their networks' lengths. */
static void
add_addresses(nets_t *out, json_t *list, const char *proto, bool typed)
{
    json_t *row;
    size_t i;

    json_array_foreach (list, i, row) {
        const char *length = value_str(row, str_eq(proto, "inet") ? "netmask" : "prefixlen", "");
        AUTO_FREE char *text = xasprintf("%s%s%s", value_str(row, "address", ""), *length != '\0' ? "/" : "",
                                         length);
        ipnet_t net;
        if ((!typed || str_eq(value_str(row, "type", ""), proto)) &&
            ipnet_parse_interface(text, &net, NULL) == 0) {
            /* Adds the address to the list. */
            out->v = xrealloc(out->v, (out->n + 1) * sizeof(*out->v));
            out->v[out->n++] = net;
        }
    }
}

/* Matches an interface against globs in a list or in comma-separated text. None matches all. */
static bool
netlist_is_wanted(const json_t *wanted, const char *name)
{
    bool found = false;

    if (!value_truthy(wanted))
        return true;
    if (json_is_string(wanted)) {
        char **globs = str_split(json_string_value(wanted), ",", true);
        for (size_t i = 0; globs[i] != NULL; i++)
            found = found || match_glob(str_trim(globs[i]), name);
        strv_free(globs);
    }
    for (size_t i = 0; i < json_array_size(wanted); i++) {
        AUTO_FREE char *glob = value_pystr(json_array_get(wanted, i));
        found = found || match_glob(glob, name);
    }
    return found;
}

int
nets_collect(nets_t *out, const json_t *wanted, const char *proto, fail_t *err)
{
    json_auto_t *all = netlink_interfaces(err);
    const char *name;
    json_t *row;

    if (all == NULL)
        return -EIO;
    json_object_foreach (all, name, row) {
        if (!netlist_is_wanted(wanted, name))
            continue;
        add_addresses(out, json_object_get(row, proto), proto, false);
        add_addresses(out, json_object_get(row, "secondary"), proto, true);
    }
    return 0;
}

/* Keeps those for which `keep` is true, in their order. */
void
nets_filter(nets_t *s, net_keep_fn *keep, const void *cookie)
{
    size_t kept = 0;

    for (size_t i = 0; i < s->n; i++) {
        if (keep(&s->v[i], cookie))
            s->v[kept++] = s->v[i];
    }
    s->n = kept;
}

bool
net_not_loopback(const ipnet_t *net, const void *cookie)
{
    return !ip_is_loopback(&net->addr);
}

bool
net_is_in(const ipnet_t *net, const void *cookie)
{
    return ipnet_contains(cookie, &net->addr);
}

bool
net_is_of_type(const ipnet_t *net, const void *cookie)
{
    return ip_is_private(&net->addr) == str_eq(cookie, "private");
}

bool
net_none(const ipnet_t *net, const void *cookie)
{
    return false;
}
