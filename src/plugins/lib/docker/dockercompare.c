/* dockercompare.c - differences between two containers or networks: see dockerargs.h. Salt compares a
 * container with one that was just made of the same arguments, so that the engine's defaults are in both. */
#include "common/base/str.h"
#include "plugins/lib/docker/dockerargs.h"

/* ---- containers -------------------------------------------------------------------------------- */

/* Adds {"old", "new"} to a part; NULL is shown as None. */
static void
differs_in(json_t *out, const char *part, const char *key, json_t *old, json_t *now)
{
    if (value_get(out, part) == NULL)
        json_object_set_new(out, part, json_object());
    json_object_set_new(json_object_get(out, part), key,
                        json_pack("{s:o, s:o}", "old", old != NULL ? json_incref(old) : json_null(), "new",
                                  now != NULL ? json_incref(now) : json_null()));
}

static bool
dockercompare_none(const json_t *v)
{
    return v == NULL || json_is_null(v);
}

/* "/other:/NAME/alias" without the name of the container whose links they are. */
static json_t *
links_of(const json_t *links, const json_t *container)
{
    const char *name = value_str(container, "Name", "/");
    AUTO_FREE char *own = xasprintf("%s/", name);
    json_auto_t *out = json_array();
    json_t *one;
    size_t i;

    json_array_foreach (links, i, one) {
        const char *text = json_is_string(one) ? json_string_value(one) : "", *at = strstr(text, own);
        json_array_append_new(out, at == NULL
                                       ? json_string(text)
                                       : value_fmt("%.*s/%s", (int) (at - text), text, at + strlen(own)));
    }
    return value_sorted_texts(out);
}

static int
by_ulimit(const void *a, const void *b)
{
    const json_t *x = *(json_t *const *) a, *y = *(json_t *const *) b;
    int c = strcmp(value_str(x, "Name", ""), value_str(y, "Name", ""));
    json_int_t d = value_int(x, "Hard", 0) - value_int(y, "Hard", 0);

    if (c == 0 && d == 0)
        d = value_int(x, "Soft", 0) - value_int(y, "Soft", 0);
    return c != 0 ? c : d < 0 ? -1 : d > 0;
}

/* The value in the order in which it is compared. NEW. */
static json_t *
dockercompare_ordered(const char *key, json_t *v, const json_t *container)
{
    if (json_is_array(v) && strcmp(key, "Links") == 0)
        return links_of(v, container);
    if (json_is_array(v) && strcmp(key, "Ulimits") == 0) {
        size_t n = json_array_size(v);
        AUTO_FREE json_t **all = xcalloc(n + 1, sizeof(*all));
        json_t *out = json_array();
        for (size_t i = 0; i < n; i++)
            all[i] = json_array_get(v, i);
        qsort(all, n, sizeof(json_t *), by_ulimit);
        for (size_t i = 0; i < n; i++)
            json_array_append(out, all[i]);
        return out;
    }
    if (json_is_array(v) && strcmp(key, "Env") == 0)
        return value_sorted_texts(v);
    return json_incref(v);
}

/* Podman adds HOSTNAME to the variables of a container when it starts, so that one which was only made has none: what one
 * side alone has of it is not compared. */
static void
drop_host_name(json_t *env, const json_t *other)
{
    static const char variable[] = "HOSTNAME=";
    json_t *one;
    size_t i;

    json_array_foreach (other, i, one) {
        if (json_is_string(one) && strncmp(json_string_value(one), variable, strlen(variable)) == 0)
            return;
    }
    for (i = json_array_size(env); i-- > 0;) {
        one = json_array_get(env, i);
        if (json_is_string(one) && strncmp(json_string_value(one), variable, strlen(variable)) == 0)
            json_array_remove(env, i);
    }
}

/* Empty, false and missing are one when either side has none: engines of different versions differ so.
 * OomKillDisable is null where the kernel has no such thing. */
static void
dockercompare_compare_key(const char *part, const char *key, const json_t *first, const json_t *second,
                          const json_t *ids, json_t *out)
{
    json_t *old = value_get(value_get(first, part), key), *now = value_get(value_get(second, part), key);

    if (dockercompare_none(old) || dockercompare_none(now) || strcmp(key, "OomKillDisable") == 0) {
        if (value_truthy(old) != value_truthy(now))
            differs_in(out, part, key, old, now);
        return;
    }
    if (strcmp(key, "Image") == 0) {
        json_t *was = value_get(ids, json_string_value(old)), *is = value_get(ids, json_string_value(now));
        if (!value_equal(was, is))
            differs_in(out, part, key, was, is);
        return;
    }
    json_auto_t *before = dockercompare_ordered(key, old, first);
    json_auto_t *after = dockercompare_ordered(key, now, second);
    if (strcmp(key, "Env") == 0 && json_is_array(before) && json_is_array(after)) {
        drop_host_name(before, after);
        drop_host_name(after, before);
    }
    if (!value_equal(before, after))
        differs_in(out, part, key, before, after);
}

/* Keys of the first, and then those that only the second has or that are equal so far. */
json_t *
docker_compare_containers(const json_t *first, const json_t *second, const json_t *ids, const json_t *ignore)
{
    static const char *const parts[] = { "Config", "HostConfig" };
    json_t *out = json_object(), *v;
    const char *key;

    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_object_foreach (value_get(first, parts[i]), key, v) {
            if (!value_lists(ignore, key))
                dockercompare_compare_key(parts[i], key, first, second, ids, out);
        }
        json_object_foreach (value_get(second, parts[i]), key, v) {
            if (!value_lists(ignore, key) && value_get(value_get(out, parts[i]), key) == NULL)
                dockercompare_compare_key(parts[i], key, first, second, ids, out);
        }
    }
    return out;
}

/* ---- endpoints --------------------------------------------------------------------------------- */

/* A container's connection to one network: of the first, of the second. */
typedef struct nets {
    const char *name;
    const json_t *first, *second; /* NULL: it has none */
    const json_t *automatic;
    json_t *out;
} nets_t;

static void
net_differs(nets_t *self, const char *key, json_t *old, json_t *now)
{
    differs_in(self->out, self->name, key, old, now);
}

/* The addresses that the engine chose, as the old or as the new ones; false: there are none. */
static bool
tell_automatic(nets_t *self, const json_t *net, bool old)
{
    json_t *key;
    size_t i;
    bool any = false;

    json_array_foreach (self->automatic, i, key) {
        json_t *v = value_get(net, json_string_value(key));
        if (!value_truthy(v))
            continue;
        any = true;
        net_differs(self, json_string_value(key), old ? v : NULL, old ? NULL : v);
    }
    return any;
}

/* The words for addresses that are not known yet, or not any more. */
static void
tell_kind(nets_t *self, const char *old, const char *now)
{
    json_auto_t *before = json_string(old);
    json_auto_t *after = json_string(now);

    net_differs(self, "IPConfiguration", before, after);
}

/* A network without IPAMConfig has addresses that the engine chose. Two such are equal whatever the addresses
 * are; a change between chosen and given ones is told key by key, or as "IPConfiguration" when there is no
 * address yet. */
static void
compare_addresses(nets_t *self)
{
    json_t *old = value_get(self->first, "IPAMConfig"), *now = value_get(self->second, "IPAMConfig");
    bool old_static = value_truthy(old), now_static = value_truthy(now);
    bool old_auto = self->first != NULL && !old_static, now_auto = self->second != NULL && !now_static;

    if (old_auto && !now_auto) {
        bool told = tell_automatic(self, self->first, true);
        if (now_static)
            net_differs(self, "IPAMConfig", NULL, now);
        if (!told)
            tell_kind(self, "automatic", now_static ? "static" : "not connected");
    } else if (now_auto && !old_auto) {
        if (!tell_automatic(self, self->second, false))
            tell_kind(self, old_static ? "static" : "not connected", "automatic");
        if (old_static)
            net_differs(self, "IPAMConfig", old, NULL);
    } else if (!(dockercompare_none(old) && dockercompare_none(now)) && !value_equal(old, now))
        net_differs(self, "IPAMConfig", old, now);
}

/* Sorted, and without the names that the engine adds by itself. NEW; NULL for nothing. */
static json_t *
own_names(const char *key, const json_t *net, const json_t *mine)
{
    json_t *v = value_get(net, key), *one;
    json_auto_t *out = json_array();
    size_t i;

    if (!json_is_array(v))
        return dockercompare_none(v) ? NULL : json_incref(v);
    json_array_foreach (v, i, one) {
        if (strcmp(key, "Aliases") != 0 || !value_has(mine, one))
            json_array_append(out, one);
    }
    return json_array_size(out) > 0 ? value_sorted_texts(out) : NULL;
}

/* Names of a container that the engine gives it in each network: its host name and the short id. NEW. */
static json_t *
given_names(const json_t *container)
{
    json_t *out = json_array();
    AUTO_FREE char *id = xstrndup(value_str(container, "Id", ""), 12);

    json_array_append_new(out, json_string(value_str(value_get(container, "Config"), "Hostname", "")));
    json_array_append_new(out, json_string(id));
    return out;
}

/* The keys of the setting: "static" ones are compared as they are, IPAMConfig as addresses. */
static void
compare_net(nets_t *self, const json_t *keys, const json_t *mine, const json_t *theirs)
{
    json_t *key;
    size_t i;

    json_array_foreach (value_get(keys, "static"), i, key) {
        const char *name = json_string_value(key);
        if (strcmp(name, "IPAMConfig") == 0) {
            compare_addresses(self);
            continue;
        }
        json_auto_t *old = own_names(name, self->first, mine);
        json_auto_t *now = own_names(name, self->second, theirs);
        if ((value_truthy(old) || value_truthy(now)) && !value_equal(old, now))
            net_differs(self, name, old, now);
    }
}

/* A network that one container has and the other has not is compared with nothing. */
json_t *
docker_compare_endpoints(const json_t *first, const json_t *second, const json_t *keys)
{
    const json_t *nets1 = value_path(first, "NetworkSettings:Networks", ":"),
                 *nets2 = value_path(second, "NetworkSettings:Networks", ":");
    json_auto_t *mine = given_names(first);
    json_auto_t *theirs = given_names(second);
    json_auto_t *all = json_is_object(nets1) ? json_copy((json_t *) nets1) : json_object();
    json_t *out = json_object(), *v;
    const char *name;

    json_object_update(all, (json_t *) nets2);
    json_object_foreach (all, name, v) {
        nets_t net = { name, value_get(nets1, name), value_get(nets2, name), value_get(keys, "automatic"),
                       out };
        compare_net(&net, keys, mine, theirs);
    }
    return out;
}

/* ---- networks ---------------------------------------------------------------------------------- */

/* The pools of a network, sorted, as their order says nothing. NEW. */
static json_t *
sorted_pools(const json_t *ipam)
{
    json_auto_t *texts = json_array();
    json_t *pool, *out = json_array();
    size_t i;

    json_array_foreach (value_get(ipam, "Config"), i, pool) {
        AUTO_FREE char *text = json_dumps(pool, JSON_SORT_KEYS);
        json_array_append_new(texts, json_string(text));
    }
    json_auto_t *sorted = value_sorted_texts(texts);
    json_array_foreach (sorted, i, pool)
        json_array_append_new(out, json_loads(json_string_value(pool), 0, NULL));
    return out;
}

/* Podman's networks tell the driver that gives addresses when nothing was asked for: {"driver": "host-local"}. */
static bool
says_nothing(const char *key, const json_t *v)
{
    return !value_truthy(v) || (strcmp(key, "Options") == 0 && json_object_size(v) == 1 &&
                                strcmp(value_str(v, "driver", ""), "host-local") == 0);
}

/* Members of IPAM; those that are empty on both sides are equal however they are written. */
static void
compare_ipam(const json_t *old, const json_t *now, json_t *out)
{
    const char *key;
    json_t *v;

    json_object_foreach ((json_t *) old, key, v) {
        json_t *other = value_get(now, key);
        bool pools = strcmp(key, "Config") == 0;
        if (says_nothing(key, v) && says_nothing(key, other))
            continue;
        json_auto_t *before = pools ? sorted_pools(old) : json_incref(v);
        json_auto_t *after = pools ? sorted_pools(now) : json_incref(other);
        if (!value_equal(before, after))
            differs_in(out, "IPAM", key, before, after);
    }
}

/* Nothing is told when both are empty. */
static void
network_differs(json_t *out, const char *key, json_t *old, json_t *now)
{
    if ((value_truthy(old) || value_truthy(now)) && !value_equal(old, now))
        json_object_set_new(out, key,
                            json_pack("{s:o, s:o}", "old", old != NULL ? json_incref(old) : json_null(),
                                      "new", now != NULL ? json_incref(now) : json_null()));
}

json_t *
docker_compare_networks(const json_t *first, const json_t *second, const json_t *ignore)
{
    json_t *out = json_object(), *old, *now, *v;
    const char *key, *option;

    json_object_foreach ((json_t *) first, key, old) {
        now = value_get(second, key);
        if (value_lists(ignore, key) || (!value_truthy(old) && !value_truthy(now)))
            continue;
        if (strcmp(key, "IPAM") == 0)
            compare_ipam(old, now, out);
        else if (strcmp(key, "Options") == 0 && value_truthy(old)) {
            /* The name of the bridge is the engine's choice, another for each network. */
            json_object_foreach (old, option, v) {
                if (strcmp(option, "com.docker.network.bridge.name") != 0 &&
                    !value_equal(v, value_get(now, option)))
                    differs_in(out, "Options", option, v, value_get(now, option));
            }
        } else
            network_differs(out, key, old, now);
    }
    json_object_foreach ((json_t *) second, key, now) {
        if (!value_lists(ignore, key) && value_get(first, key) == NULL)
            network_differs(out, key, NULL, now);
    }
    return out;
}
