/* beacon_change.c - changes of the minion's beacons while it runs, in Salt's words. */
#include "common/beacon/beacon.h"

#include "common/base/str.h"
#include "salt/value.h"

/* Switches one beacon, in the form that its configuration has. */
static void
change_switch(json_t *own, const char *name, bool on)
{
    json_t *given = value_get(own, name), *one;
    size_t i;
    if (json_is_object(given)) {
        json_object_set_new(given, "enabled", json_boolean(on));
        return;
    }
    if (!json_is_array(given)) {
        given = json_array();
        json_object_set_new(own, name, given);
    }
    json_array_foreach (given, i, one)
        if (value_get(one, "enabled") != NULL) {
            json_object_set_new(one, "enabled", json_boolean(on));
            return;
        }
    json_array_append_new(given, json_pack("{s:b}", "enabled", on));
}

static void
change_enable(json_t *own, const char *name, const json_t *data)
{
    change_switch(own, name, true);
}

static void
change_disable(json_t *own, const char *name, const json_t *data)
{
    change_switch(own, name, false);
}

static void
change_set(json_t *own, const char *name, const json_t *data)
{
    json_object_set_new(own, name, data != NULL ? json_deep_copy(data) : json_array());
}

static void
change_delete(json_t *own, const char *name, const json_t *data)
{
    json_object_del(own, name);
}

static void
change_all_on(json_t *own, const char *name, const json_t *data)
{
    json_object_set_new(own, "enabled", json_true());
}

static void
change_all_off(json_t *own, const char *name, const json_t *data)
{
    json_object_set_new(own, "enabled", json_false());
}

static void
change_clear(json_t *own, const char *name, const json_t *data)
{
    json_object_clear(own);
}

/* One change: `refused` is said of a beacon of the pillar, `missing` of one that is not there; NULL: either
 * does not matter. `%s` is the name. */
static const struct {
    const char *name, *event;
    void (*fn)(json_t *own, const char *name, const json_t *data);
    const char *done, *refused, *missing;
} changes[] = {
    { "add", "/salt/minion/minion_beacon_add_complete", change_set,
      "Added new beacon item: ", "Cannot update beacon item %s, because it is configured in pillar.", NULL },
    { "modify", "/salt/minion/minion_beacon_modify_complete", change_set,
      "Updating settings for beacon item: ", "Cannot modify beacon item %s, it is configured in pillar.",
      NULL },
    { "delete", "/salt/minion/minion_beacon_delete_complete", change_delete,
      "Deleting beacon item: ", "Cannot delete beacon item %s, it is configured in pillar.", NULL },
    { "enable_beacon", "/salt/minion/minion_beacon_enabled_complete", change_enable, "Enabling beacon item ",
      "Cannot enable beacon item %s, it is configured in pillar.", "Beacon item %s not found." },
    { "disable_beacon", "/salt/minion/minion_beacon_disabled_complete", change_disable,
      "Disabling beacon item ", "Cannot disable beacon item %s, it is configured in pillar.",
      "Beacon item %s not found." },
    { "enable", "/salt/minion/minion_beacons_enabled_complete", change_all_on, NULL, NULL, NULL },
    { "disable", "/salt/minion/minion_beacons_disabled_complete", change_all_off, NULL, NULL, NULL },
    { "reset", "/salt/minion/minion_beacon_reset_complete", change_clear, NULL, NULL, NULL },
};

/* NEW text with the name in place of its %s. */
static char *
change_text(const char *format, const char *name)
{
    return str_replace(format, "%s", name);
}

json_t *
beacons_change(json_t *own, const json_t *pillar, const json_t *request, const char **ret_event)
{
    const char *name = value_str(request, "name", "");
    AUTO_FREE char *comment = NULL;
    bool complete = true;
    size_t i = 0;
    while (i < NELEMS(changes) && !str_eq(changes[i].name, value_str(request, "do", "")))
        i++;
    if (i == NELEMS(changes))
        return NULL;

    bool there = value_get(own, name) != NULL;
    if (changes[i].refused != NULL && value_get(pillar, name) != NULL) {
        comment = change_text(changes[i].refused, name);
        complete = false;
    } else if (changes[i].missing != NULL && !there) {
        comment = change_text(changes[i].missing, name);
        complete = false;
    } else {
        if (str_eq(changes[i].name, "delete") && !there)
            comment = change_text("Beacon item %s not found.", name);
        else if (str_eq(changes[i].name, "add") && there)
            comment = xasprintf("Updating settings for beacon item: %s", name);
        else if (changes[i].done != NULL)
            comment = xasprintf("%s%s", changes[i].done, name);
        else if (str_eq(changes[i].name, "reset"))
            comment = xstrdup("Beacons have been reset");
        changes[i].fn(own, name, value_get(request, "beacon_data"));
    }
    *ret_event = changes[i].event;
    return json_pack("{s:b, s:s*, s:o}", "complete", complete, "comment", comment, "beacons",
                     json_deep_copy(own));
}
