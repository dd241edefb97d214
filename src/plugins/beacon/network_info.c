/* network_info.c - beacon network_info: counters of interfaces (/proc/net/dev) that reached what is
 * configured. A limit may be a text, as Salt's documentation writes it. */
#include "common/base/str.h"
#include "common/host/rootfs.h"
#include "salt/plugin.h"

/* Columns of /proc/net/dev, in the order of Salt's event. */
static const struct {
    const char *name;
    size_t column;
} counters[] = {
    { "bytes_sent", 8 }, { "bytes_recv", 0 }, { "packets_sent", 9 }, { "packets_recv", 1 },
    { "errin", 2 },      { "errout", 10 },    { "dropin", 3 },       { "dropout", 11 },
};

/* True for what an interface's configuration may have. */
static bool
network_info_knows(const char *key)
{
    for (size_t i = 0; i < NELEMS(counters); i++)
        if (str_eq(counters[i].name, key))
            return true;
    return str_eq(key, "type");
}

static char *
network_info_validate(const json_t *list, const json_t *config)
{
    json_t *interfaces = value_get(config, "interfaces"), *one, *v;
    const char *name, *key;
    json_object_foreach (interfaces, name, one) {
        bool known = false;
        if (!json_is_object(one))
            return xstrdup("Configuration for network_info beacon must be a list of dictionaries.");
        json_object_foreach (one, key, v)
            known |= network_info_knows(key);
        if (!known)
            return xstrdup("Invalid configuration item in Beacon configuration.");
    }
    return NULL;
}

/* NEW {interface: {counter: value}}. */
static json_t *
network_info_read(char *text)
{
    json_t *all = json_object();
    for (char *at = text, *line; (line = line_next(&at)) != NULL;) {
        unsigned long long v[12];
        char *values = line_value(line, ':');
        if (values == NULL || sscanf(values, "%llu %llu %llu %llu %*u %*u %*u %*u %llu %llu %llu %llu", &v[0],
                                     &v[1], &v[2], &v[3], &v[8], &v[9], &v[10], &v[11]) != 8)
            continue;
        json_t *one = json_object();
        for (size_t i = 0; i < NELEMS(counters); i++)
            json_object_set_new(one, counters[i].name, json_integer((json_int_t) v[counters[i].column]));
        json_object_set_new(all, line, one);
    }
    return all;
}

/* True when a counter is equal to what is configured, or with `type: greater` above it. */
static bool
network_info_reached(const json_t *wanted, const json_t *now)
{
    bool above = str_eq(value_str(wanted, "type", "equal"), "greater");
    for (size_t i = 0; i < NELEMS(counters); i++) {
        json_t *given = value_get(wanted, counters[i].name);
        json_int_t limit = json_integer_value(given), v = value_int(now, counters[i].name, 0);
        long long typed;
        if (json_is_string(given) && str_to_int(json_string_value(given), 0, INT64_MAX, &typed))
            limit = typed;
        else if (!json_is_integer(given))
            continue;
        if (above ? v > limit : v == limit)
            return true;
    }
    return false;
}

static int
network_info_look(beacon_look_t *look, fail_t *err)
{
    char *dev = NULL;
    const char *name;
    json_t *wanted;
    if (root_text(look->root, "/proc/net/dev", &dev, err) < 0)
        return err->code;
    AUTO_FREE char *text = dev;
    if (text == NULL)
        return fail_set(err, -ENOENT, "there is no /proc/net/dev");
    json_auto_t *all = network_info_read(text);
    json_object_foreach (value_get(look->config, "interfaces"), name, wanted) {
        json_t *now = value_get(all, name);
        if (now != NULL && network_info_reached(wanted, now))
            json_array_append_new(look->events,
                                  json_pack("{s:s, s:O}", "interface", name, "network_info", now));
    }
    return 0;
}

static const beacon_row_t row = {
    .validate = network_info_validate, .look = network_info_look, .every_s = 5, .key = "interface"
};

PLUGIN(beacon, network_info,
       .doc = "Counters of network interfaces: fires when one is equal to what is configured, or above it.",
       .beacon = &row);
