/* seen.c - two rings of LIMIT_JIDS_SEEN jids. What every job passes is a ring of their hashes, 32 kB that are
 * there from the first job on and looked through for each: a microsecond, and nothing is allocated. Those
 * elsewhere are few, and have their texts in a map. */
#include "uplink/seen.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/limits.h"

struct seen {
    /* Rings in order of arrival; the next one goes to `at`, in a full ring the oldest's place. */
    uint64_t
        had[LIMIT_JIDS_SEEN]; /* hashes; 0: none. A new jid has the hash of one of them once in 10^15 jobs */
    size_t had_at;
    map_t *askers;               /* jid elsewhere -> its asker, owned */
    char *jids[LIMIT_JIDS_SEEN]; /* owned: those jids */
    size_t jids_at;
};

seen_t *
seen_new(void)
{
    seen_t *self = xcalloc(1, sizeof(*self));
    self->askers = map_new(free);
    return self;
}

void
seen_destroy(seen_t **self_p)
{
    seen_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < LIMIT_JIDS_SEEN; i++)
        free(self->jids[i]);
    map_destroy(&self->askers);
    free(self);
}

bool
seen_add(seen_t *self, const char *jid)
{
    uint64_t hash = map_hash(jid, strlen(jid));
    bool had = false;

    if (seen_is_elsewhere(self, jid))
        return false;
    for (size_t i = 0; i < LIMIT_JIDS_SEEN; i++)
        had |= self->had[i] == hash;
    if (had)
        return false;
    self->had[self->had_at] = hash;
    self->had_at = (self->had_at + 1) % LIMIT_JIDS_SEEN;
    return true;
}

void
seen_elsewhere_add(seen_t *self, const char *jid, const char *asker)
{
    char **place = &self->jids[self->jids_at];

    if (seen_is_elsewhere(self, jid))
        return;
    if (*place != NULL)
        (void) map_del(self->askers, *place);
    free(*place);
    *place = xstrdup(jid);
    map_set(self->askers, jid, xstrdup(asker));
    self->jids_at = (self->jids_at + 1) % LIMIT_JIDS_SEEN;
}

bool
seen_is_elsewhere(const seen_t *self, const char *jid)
{
    return map_get(self->askers, jid) != NULL;
}

/* The nth newest jid of those elsewhere, from 0; NULL: there are fewer. */
static const char *
seen_nth(const seen_t *self, size_t n)
{
    return n < LIMIT_JIDS_SEEN ? self->jids[(self->jids_at + LIMIT_JIDS_SEEN - 1 - n) % LIMIT_JIDS_SEEN]
                               : NULL;
}

json_t *
seen_elsewhere(const seen_t *self, const char *asker, size_t max)
{
    json_t *out = json_array();
    const char *jid;
    for (size_t i = 0; json_array_size(out) < max && (jid = seen_nth(self, i)); i++)
        if (str_eq(map_get(self->askers, jid), asker))
            json_array_insert_new(out, 0, json_string(jid));
    return out;
}

json_t *
seen_dump(const seen_t *self)
{
    json_t *out = json_array();
    for (size_t i = map_len(self->askers); i-- > 0;) {
        const char *jid = seen_nth(self, i), *asker = map_get(self->askers, jid);
        json_array_append_new(out, json_pack("[s, s]", jid, asker));
    }
    return out;
}

void
seen_restore(seen_t *self, const json_t *dump)
{
    size_t i;
    json_t *pair;
    json_array_foreach (dump, i, pair) {
        const char *jid = json_string_value(json_array_get(pair, 0)),
                   *asker = json_string_value(json_array_get(pair, 1));
        if (jid != NULL && asker != NULL && clock_is_jid(jid))
            seen_elsewhere_add(self, jid, asker);
    }
}
