/* beacon_fire.c - what a look found becomes events: tags, ids, edges, bounds. */
#include "common/beacon/beacon.h"

#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

enum {
    MERGED_MS = 1000,  /* events that are merged in a second are told together */
    MERGED_TAGS = 16,  /* tags that are told with their counts */
    UNSENT_MS = 10000, /* until events that nothing had room for are told: it may still have none */
};

/* True when onchangeonly leaves the item out: the last look found it too, or there was none and
 * `emitatstartup` is false. Notes it in `seen`. */
static bool
fire_is_old(const beacon_t *self, const json_t *found, json_t *seen)
{
    json_t *key = value_get(found, self->row->key != NULL ? self->row->key : "tag");
    AUTO_FREE char *text = key != NULL ? value_pystr(key) : xstrdup("");
    json_object_set_new(seen, text, json_true());
    if (self->seen == NULL)
        return !value_bool(self->config, "emitatstartup", true);
    return value_get(self->seen, text) != NULL;
}

/* Counts events of a tag's end that are too many. */
static void
fire_count(beacon_t *self, const char *end, json_int_t n)
{
    if (self->merged == NULL)
        self->merged = json_object();
    if (value_get(self->merged, end) != NULL || json_object_size(self->merged) < MERGED_TAGS)
        json_object_set_new(self->merged, end, json_integer(value_int(self->merged, end, 0) + n));
}

/* Counts an event that is too many. */
static void
fire_merge(beacon_t *self, const json_t *found, int64_t now_ms)
{
    json_t *tag = value_get(found, "tag");
    AUTO_FREE char *text = tag != NULL ? value_pystr(tag) : xstrdup("");
    if (self->n_merged++ == 0)
        self->merged_ms = now_ms + MERGED_MS;
    fire_count(self, text, 1);
}

void
beacon_unsent(beacon_t *self, const char *id, const json_t *event, int64_t now_ms)
{
    AUTO_FREE char *own = xasprintf("salt/beacon/%s/%s/", id, self->name);
    const char *tag = value_str(event, "tag", ""), *end = str_starts(tag, own) ? tag + strlen(own) : tag,
               *key;
    json_t *data = value_get(event, "data"), *tags = value_get(data, "tags"), *n;
    json_int_t merged = str_eq(end, "merged") && json_is_object(tags) ? value_int(data, "merged", 0) : 0;
    self->merged_ms = now_ms + UNSENT_MS;
    if (merged <= 0) {
        self->n_merged++;
        fire_count(self, end, 1);
        return;
    }
    self->n_merged += (size_t) merged;
    json_object_foreach (tags, key, n)
        fire_count(self, key, json_integer_value(n));
}

json_t *
beacon_events(beacon_t *self, const char *id, json_t *found, int64_t now_ms)
{
    json_auto_t *taken = found, *seen = json_object();
    json_t *out = json_array(), *one;
    bool folds = self->row != NULL && self->row->open != NULL;
    map_t *once = map_new(NULL);
    size_t i;
    json_array_foreach (taken, i, one) {
        if (self->edges && fire_is_old(self, one, seen))
            continue;
        if (folds) {
            AUTO_FREE char *text = value_dump(one);
            if (map_get(once, text) != NULL)
                continue;
            map_set(once, text, one);
        }
        if (!rate_spare(&self->rate, now_ms)) {
            fire_merge(self, one, now_ms);
            continue;
        }
        /* "salt/beacon/ID/NAME/" with the item's own end; a tag that is no text is written as Python's
         * str(). */
        json_t *tag = value_get(one, "tag");
        AUTO_FREE char *end = tag != NULL ? value_pystr(tag) : xstrdup("");
        json_t *whole = value_fmt("salt/beacon/%s/%s/%s", id, self->name, end);

        /* An item that is no object, as files in Python may return, is the event's `data`. */
        json_t *data = json_is_object(one) ? json_copy(one) : json_pack("{s:O}", "data", one);
        json_object_del(data, "tag");
        if (value_get(data, "id") == NULL)
            json_object_set_new(data, "id", json_string(id));
        json_array_append_new(out, json_pack("{s:o, s:o}", "tag", whole, "data", data));
    }
    map_destroy(&once);
    if (self->edges) {
        json_decref(self->seen);
        self->seen = json_incref(seen);
    }
    return out;
}

json_t *
beacon_merged(beacon_t *self, const char *id, int64_t now_ms)
{
    if (self->merged_ms == 0 || now_ms < self->merged_ms)
        return NULL;
    json_t *news = json_pack("{s:o, s:{s:s, s:I, s:o}}", "tag",
                             value_fmt("salt/beacon/%s/%s/merged", id, self->name), "data", "id", id,
                             "merged", (json_int_t) self->n_merged, "tags", STEAL(self->merged));
    self->n_merged = 0;
    self->merged_ms = 0;
    return news;
}

json_t *
beacon_error(const beacon_t *self, const char *id, const char *text)
{
    return json_pack("{s:o, s:{s:s, s:s, s:s, s:{}}}", "tag", value_fmt("salt/beacon/%s/%s/", id, self->name),
                     "data", "id", id, "error", text, "beacon_name", self->module, "data");
}
