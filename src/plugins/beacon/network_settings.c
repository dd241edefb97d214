/* network_settings.c - beacon network_settings: settings of interfaces that change, when the kernel tells it
 * by netlink. The message only wakes the beacon: what changed is found by comparing all settings with those
 * of the last look. Names are pyroute2's, which Salt uses. */
#include <unistd.h>

#include "common/base/str.h"
#include "common/host/netsettings.h"
#include "common/match/regex.h"
#include "salt/plugin.h"

/* All attributes that Salt takes in a configuration; some of them Linux never tells here. */
static const char *const known[] = { "family",
                                     "txqlen",
                                     "ipdb_scope",
                                     "index",
                                     "operstate",
                                     "group",
                                     "carrier_changes",
                                     "ipaddr",
                                     "neighbours",
                                     "ifname",
                                     "promiscuity",
                                     "linkmode",
                                     "broadcast",
                                     "address",
                                     "num_tx_queues",
                                     "ipdb_priority",
                                     "kind",
                                     "qdisc",
                                     "mtu",
                                     "num_rx_queues",
                                     "carrier",
                                     "flags",
                                     "ifi_type",
                                     "ports" };

static char *
network_settings_validate(const json_t *list, const json_t *config)
{
    json_t *interfaces = value_get(config, "interfaces"), *one, *v;
    const char *name, *key;
    if (interfaces != NULL && !json_is_object(interfaces))
        return xstrdup("interfaces section for network_settings beacon must be a dictionary.");
    json_object_foreach (interfaces, name, one) {
        if (!json_is_object(one))
            return xstrdup("Interface attributes for network_settings beacon must be a dictionary.");
        json_object_foreach (one, key, v) {
            size_t i = 0;
            while (i < NELEMS(known) && !str_eq(known[i], key))
                i++;
            if (i == NELEMS(known))
                return xstrdup("Invalid attributes in beacon configuration.");
        }
    }
    return NULL;
}

typedef struct settings {
    int fd;
    json_t *last; /* owned: as they were at the last look */
} settings_t;

static void
network_settings_close(void *own, bool copied)
{
    settings_t *self = own;
    if (self->fd >= 0)
        (void) close(self->fd);
    json_decref(self->last);
    free(self);
}

static void *
network_settings_open(beacon_look_t *look, fail_t *err)
{
    settings_t *self = xcalloc(1, sizeof(*self));
    self->fd = netsettings_watch(err);
    self->last = self->fd >= 0 ? netsettings(err) : NULL;
    if (self->last != NULL)
        return self;
    network_settings_close(self, false);
    return NULL;
}

/* Adds the event of an interface whose settings of interest are not as before and, with `onvalue`,
 * now have that value. */
static void
network_settings_compare(beacon_look_t *look, const char *name, const json_t *wanted, const json_t *before,
                         const json_t *now, json_t *changes)
{
    json_t *change = json_object(), *how;
    const char *key;
    json_object_foreach ((json_t *) wanted, key, how) {
        json_t *v = value_get(now, key), *awaited = value_get(how, "onvalue");
        if (v != NULL && !json_equal(v, value_get(before, key)) &&
            (awaited == NULL || value_equal(awaited, v)))
            json_object_set(change, key, v);
    }
    if (json_object_size(change) > 0 && changes != NULL)
        json_object_set(changes, name, change);
    else if (json_object_size(change) > 0)
        json_array_append_new(look->events,
                              json_pack("{s:s, s:s, s:O}", "tag", name, "interface", name, "change", change));
    json_decref(change);
}

static int
network_settings_look(beacon_look_t *look, fail_t *err)
{
    settings_t *self = look->own;
    json_t *interfaces = value_get(look->config, "interfaces"), *wanted, *row;
    const char *pattern, *name;
    netsettings_drain(self->fd);
    json_auto_t *now = netsettings(err), *all = json_object();
    if (now == NULL)
        return err->code;
    /* With `coalesce` all changes are one event. A name that is no interface is a regular expression. */
    bool together = value_bool(look->config, "coalesce", false);
    json_object_foreach (interfaces, pattern, wanted) {
        fail_auto_t why = FAIL_INIT;
        bool exact = value_get(now, pattern) != NULL;
        AUTO(rx) rx = exact ? NULL : rx_new(pattern, 0, &why);
        json_object_foreach (now, name, row)
            if (exact ? str_eq(name, pattern) : rx != NULL && rx_search(rx, name, strlen(name), 0, NULL) == 1)
                network_settings_compare(look, name, wanted, value_get(self->last, name), row,
                                         together ? all : NULL);
    }
    if (json_object_size(all) > 0)
        json_array_append_new(look->events, json_pack("{s:s, s:O}", "tag", "result", "changes", all));
    json_decref(self->last);
    self->last = json_incref(now);
    return 0;
}

static int
network_settings_fd(const void *own)
{
    return ((const settings_t *) own)->fd;
}

static const beacon_row_t row = { .validate = network_settings_validate,
                                  .look = network_settings_look,
                                  .edges = true,
                                  .open = network_settings_open,
                                  .fd = network_settings_fd,
                                  .close = network_settings_close };

PLUGIN(beacon, network_settings, .doc = "Settings of network interfaces: fires those that change.",
       .beacon = &row);
