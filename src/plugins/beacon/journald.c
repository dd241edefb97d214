/* journald.c - beacon journald: entries of the journal, as they are written. */
#include "common/base/str.h"
#include "plugins/lib/beacon/journal.h"
#include "salt/plugin.h"

static char *
journald_validate(const json_t *list, const json_t *config)
{
    json_t *services = value_get(config, "services"), *one;
    const char *name;
    if (services != NULL && !json_is_object(services))
        return xstrdup("Services configuration for journald beacon must be a dictionary.");
    json_object_foreach (services, name, one)
        if (!json_is_object(one))
            return xstrdup("Services configuration for journald beacon must be a list of dictionaries.");
    return NULL;
}

static void *
journald_open(beacon_look_t *look, fail_t *err)
{
    return journal_new(look->root, value_get(look->config, "services"), look->context, err);
}

/* Adds an event for each service whose fields the entry has. */
static void
journald_take(void *cookie, json_t *entry)
{
    beacon_look_t *look = cookie;
    const char *name, *key;
    json_t *v, *fields;
    json_object_foreach (value_get(look->config, "services"), name, fields) {
        bool all = true;
        json_object_foreach (fields, key, v) {
            AUTO_FREE char *wanted = value_pystr(v);
            json_t *have = value_get(entry, key);
            AUTO_FREE char *text = have != NULL ? value_pystr(have) : NULL;
            all = all && str_eq(wanted, text);
        }
        if (!all)
            continue;
        json_t *event = json_copy(entry);
        json_object_set_new(event, "tag", json_string(name));
        json_array_append_new(look->events, event);
    }
}

static int
journald_look(beacon_look_t *look, fail_t *err)
{
    return journal_read(look->own, look->context, journald_take, look, err);
}

static int
journald_fd(const void *own)
{
    return journal_fd(own);
}

static void
journald_close(void *own, bool copied)
{
    journal_t *journal = own;
    journal_destroy(&journal, copied);
}

static int
journald_again_ms(const void *own)
{
    return journal_again_ms(own);
}

static const beacon_row_t row = { .validate = journald_validate,
                                  .look = journald_look,
                                  .edges = true,
                                  .open = journald_open,
                                  .fd = journald_fd,
                                  .close = journald_close,
                                  .again_ms = journald_again_ms };

PLUGIN(beacon, journald,
       .doc = "The journal: fires entries with the fields that are configured, as they are written.",
       .beacon = &row);
