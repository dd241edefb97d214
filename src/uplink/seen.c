/* seen.c - two rings of LIMIT_JIDS_SEEN jids with a map each: O(1) per job, bounded memory. */
#include "uplink/seen.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/limits.h"

/* The newest jids, each with a text. */
typedef struct ring {
    map_t *texts; /* jid -> its text, owned */
    char **jids;  /* owned: a ring in order of arrival */
    size_t at;    /* where the next one goes: in a full ring, the oldest's place */
} ring_t;

struct seen {
    ring_t had;       /* without a text */
    ring_t elsewhere; /* with their asker */
};

static void
seen_init(ring_t *ring)
{
    ring->texts = map_new(free);
    ring->jids = xcalloc(LIMIT_JIDS_SEEN, sizeof(*ring->jids));
}

static void
seen_free(ring_t *ring)
{
    for (size_t i = 0; i < LIMIT_JIDS_SEEN; i++)
        free(ring->jids[i]);
    free(ring->jids);
    map_destroy(&ring->texts);
}

/* Adds a jid in the oldest one's place. False: it was there already. */
static bool
seen_own_add(ring_t *ring, const char *jid, const char *text)
{
    if (map_get(ring->texts, jid) != NULL)
        return false;
    char **place = &ring->jids[ring->at];
    if (*place)
        (void) map_del(ring->texts, *place);
    free(*place);
    *place = xstrdup(jid);
    map_set(ring->texts, jid, xstrdup(text));
    ring->at = (ring->at + 1) % LIMIT_JIDS_SEEN;
    return true;
}

seen_t *
seen_new(void)
{
    seen_t *self = xcalloc(1, sizeof(*self));
    seen_init(&self->had);
    seen_init(&self->elsewhere);
    return self;
}

void
seen_destroy(seen_t **self_p)
{
    seen_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    seen_free(&self->had);
    seen_free(&self->elsewhere);
    free(self);
}

bool
seen_add(seen_t *self, const char *jid)
{
    return !seen_is_elsewhere(self, jid) && seen_own_add(&self->had, jid, "");
}

void
seen_elsewhere_add(seen_t *self, const char *jid, const char *asker)
{
    (void) seen_own_add(&self->elsewhere, jid, asker);
}

bool
seen_is_elsewhere(const seen_t *self, const char *jid)
{
    return map_get(self->elsewhere.texts, jid) != NULL;
}

/* The nth newest jid of those elsewhere, from 0; NULL: there are fewer. */
static const char *
seen_nth(const seen_t *self, size_t n)
{
    return n < LIMIT_JIDS_SEEN
               ? self->elsewhere.jids[(self->elsewhere.at + LIMIT_JIDS_SEEN - 1 - n) % LIMIT_JIDS_SEEN]
               : NULL;
}

json_t *
seen_elsewhere(const seen_t *self, const char *asker, size_t max)
{
    json_t *out = json_array();
    const char *jid;
    for (size_t i = 0; json_array_size(out) < max && (jid = seen_nth(self, i)); i++)
        if (str_eq(map_get(self->elsewhere.texts, jid), asker))
            json_array_insert_new(out, 0, json_string(jid));
    return out;
}

json_t *
seen_dump(const seen_t *self)
{
    json_t *out = json_array();
    for (size_t i = map_len(self->elsewhere.texts); i-- > 0;) {
        const char *jid = seen_nth(self, i), *asker = map_get(self->elsewhere.texts, jid);
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
