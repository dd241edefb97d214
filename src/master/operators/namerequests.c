/* namerequests.c - names for completion at a prompt: minions, functions, jobs and keys that start with what
 * was typed; and what is to be seen of a key before it is accepted. Kinds that other parts know (sls,
 * saltenvs) go through hook_names. */
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/plugin/registry.h"
#include "master/front/hooks.h"
#include "master/operators/names.h"
#include "master/front/request.h"
#include "salt/value.h"

static void
namerequests_add_minions(front_t *self, key_state_t state, const char *prefix, json_t *names)
{
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = peers_by_slot(self->peers, i)) && m->state == state && str_starts(m->id, prefix))
            json_array_append_new(names, json_string(m->id));
}

static json_t *
namerequests_minions(front_t *self, const char *prefix, fail_t *err)
{
    json_t *names = json_array();
    namerequests_add_minions(self, KEY_ACCEPTED, prefix, names);
    return names;
}

/* Without a host the master has no modules. */
static json_t *
registered(const registry_t *registry, const char *prefix)
{
    return registry != NULL ? registry_names(registry, prefix) : json_array();
}

static json_t *
namerequests_functions(front_t *self, const char *prefix, fail_t *err)
{
    return registered(self->modules, prefix);
}

static json_t *
namerequests_runners(front_t *self, const char *prefix, fail_t *err)
{
    return registered(self->runners, prefix);
}

static json_t *
wheels(front_t *self, const char *prefix, fail_t *err)
{
    return registered(self->wheels, prefix);
}

static json_t *
jids(front_t *self, const char *prefix, fail_t *err)
{
    return store_jids(self->reader, prefix, LIMIT_NAMES, err);
}

/* Dispatch by kind; the result is sorted and bounded. */
static json_t *
namerequests_names_of(front_t *self, const json_t *request, fail_t *err)
{
    static const struct {
        const char *kind;
        json_t *(*names)(front_t *self, const char *prefix, fail_t *err);
    } kinds[] = {
        { "minions", namerequests_minions },
        { "functions", namerequests_functions },
        { "runners", namerequests_runners },
        { "wheels", wheels },
        { "jids", jids },
    };
    const char *kind = value_str(request, "kind", "");
    for (size_t i = 0; i < NELEMS(kinds); i++) {
        if (!str_eq(kinds[i].kind, kind))
            continue;
        json_t *names = kinds[i].names(self, value_str(request, "prefix", ""), err);
        return names != NULL ? names_bounded(names) : NULL;
    }
    (void) fail_set(err, -EINVAL, "there are no names of the kind '%s'", kind);
    return NULL;
}

/* Denied keys are not in the tables; list the folder. */
static int
add_denied(front_t *self, const char *prefix, json_t *names, fail_t *err)
{
    json_auto_t *ids = keystore_list(self->keystore, KEY_DENIED, err);
    size_t i;
    json_t *id;
    json_array_foreach (ids, i, id)
        if (str_starts(json_string_value(id), prefix))
            json_array_append(names, id);
    return ids != NULL ? 0 : -EIO;
}

/* The request key_names. */
static json_t *
names_of_keys(front_t *self, const json_t *request, fail_t *err)
{
    const char *prefix = value_str(request, "prefix", "");
    json_t *names = json_array(), *dir;
    size_t i;
    int rc = 0;
    json_array_foreach (value_get(request, "states"), i, dir) {
        key_state_t state = key_state_of_dir(json_is_string(dir) ? json_string_value(dir) : "");
        if (state == KEY_DENIED && rc == 0)
            rc = add_denied(self, prefix, names, err);
        else if (state < KEY_DENIED)
            namerequests_add_minions(self, state, prefix, names);
    }
    if (rc == 0)
        return names_bounded(names);
    json_decref(names);
    return NULL;
}

/* ---- the operations -------------------------------------------------------------------------- */

static json_t *
namerequests_names(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    if (hook_names(self, c, request, err) != 0)
        return NULL;
    json_t *names = namerequests_names_of(self, request, err);
    return names != NULL ? json_pack("{s:o}", "names", names) : NULL;
}

static json_t *
key_names(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *names = names_of_keys(self, request, err);
    return names != NULL ? json_pack("{s:o}", "names", names) : NULL;
}

/* The request key_seen: where a minion is, and since when its key is in this state. */
static json_t *
key_seen(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    key_state_t state = key_state_of_dir(value_str(request, "state", ""));
    json_t *keys = json_object(), *id;
    size_t i;
    if (json_array_size(value_get(request, "ids")) > LIMIT_NAMES || state == KEY_UNKNOWN) {
        json_decref(keys);
        (void) fail_set(err, -EINVAL, "key_seen: 'state' is a state folder, 'ids' holds at most %d ids",
                        LIMIT_NAMES);
        return NULL;
    }
    json_array_foreach (value_get(request, "ids"), i, id) {
        const char *name = json_is_string(id) ? json_string_value(id) : "";
        if (!conf_id_valid(name, NULL))
            continue;
        /* A denied key is another than that of the minion of this id. */
        const minion_t *m = state != KEY_DENIED ? peers_by_id(self->peers, name) : NULL;
        const char *address = m == NULL ? NULL : m->peer != NULL ? m->peer->address : m->greeted;
        int64_t since = keystore_since(self->keystore, name, state);
        json_object_set_new(
            keys, name,
            json_pack("{s:s*, s:o*}", "address", address, "since", since > 0 ? json_integer(since) : NULL));
    }
    return json_pack("{s:o}", "keys", keys);
}

const request_row_t request_key_seen = { .fn = key_seen };
const request_row_t request_names = { .fn = namerequests_names };
const request_row_t request_key_names = { .fn = key_names };
