/* reactor_ancestry.c - ancestry of reactions, to cut loops: an event is about a job, the job was begun by a
 * reaction, that by an event. For each jid the count of every part (file and reaction) among its ancestors is
 * kept, so a check is a look-up; jids of before a restart are reconstructed from the notes in the store.
 * Memory is bounded by two generations of maps: when the young one is full it becomes the old one, whose
 * entries are forgotten. */
#include "master/reactor/reactor_int.h"

#include <pthread.h>

#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define ANCESTRY_DEPTH                                                                                       \
    8 /* parents and notes followed per look-up: enough for a job of an orchestration's run */

/* Two generations of child to parent; see the head of the file. */
struct parents {
    pthread_mutex_t lock;
    map_t *young, *old;
};

/* Two generations of counts, looked up in the young one first. */
struct ancestry {
    parents_t *parents;
    map_t *young, *old; /* jid -> {part: how often} */
};

static void
reactor_ancestry_drop(void *counts)
{
    json_decref(counts);
}

ancestry_t *
ancestry_new(parents_t *parents)
{
    ancestry_t *self = xcalloc(1, sizeof(*self));

    self->parents = parents;
    self->young = map_new(reactor_ancestry_drop);
    self->old = map_new(reactor_ancestry_drop);
    return self;
}

void
ancestry_destroy(ancestry_t **self_p)
{
    ancestry_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->young);
    map_destroy(&self->old);
    free(self);
}

/* ---- parents ------------------------------------------------------------------------------------------- */

parents_t *
parents_new(void)
{
    parents_t *self = xcalloc(1, sizeof(*self));

    (void) pthread_mutex_init(&self->lock, NULL);
    self->young = map_new(free);
    self->old = map_new(free);
    return self;
}

void
parents_destroy(parents_t **self_p)
{
    parents_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    map_destroy(&self->young);
    map_destroy(&self->old);
    (void) pthread_mutex_destroy(&self->lock);
    free(self);
}

/* Start a new generation when the young one is full; the oldest entries are forgotten. */
void
parents_add(parents_t *self, const char *child, const char *parent)
{
    (void) pthread_mutex_lock(&self->lock);
    if (map_len(self->young) >= LIMIT_REACTOR_KIN) {
        map_destroy(&self->old);
        self->old = self->young;
        self->young = map_new(free);
    }
    map_set(self->young, child, xstrdup(parent));
    (void) pthread_mutex_unlock(&self->lock);
}

void
parents_event(char out[32], uint64_t seq)
{
    (void) snprintf(out, 32, "#%llu", (unsigned long long) seq);
}

/* NEW copy of the parent, or NULL. */
static char *
reactor_ancestry_parent(parents_t *self, const char *child)
{
    (void) pthread_mutex_lock(&self->lock);
    const char *parent = map_get(self->young, child);
    parent = parent != NULL ? parent : map_get(self->old, child);
    char *copy = parent != NULL ? xstrdup(parent) : NULL;
    (void) pthread_mutex_unlock(&self->lock);
    return copy;
}

/* ---- jids of an event ---------------------------------------------------------------------------------- */

static void
add_jid(json_t **jids_p, const char *jid)
{
    if (str_empty(jid))
        return;
    if (*jids_p == NULL)
        *jids_p = json_array();
    json_array_append_new(*jids_p, json_string(jid));
}

/* The jids of an event: its own number, data.jid, and __pub_jid of published data. A tag of 20 digits is the
 * jid of a new job. */
json_t *
ancestry_jids(uint64_t seq, const char *tag, const json_t *data)
{
    json_t *jids = NULL;
    const json_t *inner = value_get(data, "data");
    char name[32];

    parents_event(name, seq);
    add_jid(&jids, name);
    add_jid(&jids, value_str(data, "jid", ""));
    add_jid(&jids, value_str(data, "__pub_jid", ""));
    add_jid(&jids, value_str(inner, "__pub_jid", ""));
    if (strlen(tag) == 20 && strspn(tag, "0123456789") == 20)
        add_jid(&jids, tag);
    return jids;
}

/* ---- ancestors ----------------------------------------------------------------------------------------- */

/* NEW {part: count} of the ancestors of `jid`: from memory, through a recorded parent, or from the note of
 * the job in the store. NULL without ancestors; with *err when the store can't be read. */
static json_t *
reactor_ancestry_counts(ancestry_t *self, store_reader_t *reader, const char *jid, int depth, fail_t *err)
{
    const json_t *counts = map_get(self->young, jid);
    const json_t *known = counts != NULL ? counts : map_get(self->old, jid);

    if (known != NULL)
        return json_incref((json_t *) known);
    AUTO_FREE char *parent = reactor_ancestry_parent(self->parents, jid);
    if (parent != NULL || *jid == '#')
        return parent != NULL && depth > 0 ? reactor_ancestry_counts(self, reader, parent, depth - 1, err)
                                           : NULL;
    json_auto_t *row = store_job(reader, jid, err);
    const json_t *note = value_get(row, "note");
    const char *kind = value_str(note, "kind", "");
    if (str_eq(kind, NOTE_REACT))
        return json_pack("{s:i}", value_str(note, "part", ""), 1);
    return str_eq(kind, NOTE_ORCH) && depth > 0
               ? reactor_ancestry_counts(self, reader, value_str(note, "ref", ""), depth - 1, err)
               : NULL;
}

int
ancestry_count(ancestry_t *self, store_reader_t *reader, const json_t *jids, const char *part, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_int_t most = 0;
    json_t *jid;
    size_t i;

    json_array_foreach (jids, i, jid) {
        json_auto_t *counts = reactor_ancestry_counts(self, reader, json_string_value(jid), ANCESTRY_DEPTH,
                                                      &why);
        json_int_t n = value_int(counts, part, 0);
        most = n > most ? n : most;
    }
    return why.code != 0 ? fail_set(err, why.code, "%s", fail_text(&why)) : (int) most;
}

/* A job's counts are the maximum over the jids of its event, plus one for its own part. */
void
ancestry_add(ancestry_t *self, store_reader_t *reader, const char *jid, const json_t *jids, const char *part)
{
    json_t *mine = json_object(), *one, *n;
    fail_auto_t why = FAIL_INIT;
    const char *key;
    size_t i;

    json_array_foreach (jids, i, one) {
        json_auto_t *counts = reactor_ancestry_counts(self, reader, json_string_value(one), ANCESTRY_DEPTH,
                                                      &why);
        json_object_foreach (counts, key, n)
            if (json_integer_value(n) > value_int(mine, key, 0))
                json_object_set(mine, key, n);
    }
    if (why.code != 0)
        log_warning("reactor: which reactions led to %s can't be known, so that a loop may be cut later: %s",
                    jid, fail_text(&why));
    json_object_set_new(mine, part, json_integer(value_int(mine, part, 0) + 1));
    if (map_len(self->young) >= LIMIT_REACTOR_KIN) {
        map_destroy(&self->old);
        self->old = self->young;
        self->young = map_new(reactor_ancestry_drop);
    }
    map_set(self->young, jid, mine);
}
