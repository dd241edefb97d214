/* low_sls.c - requisites that name a whole SLS mean what it includes, too; an SLS that is empty has nothing
 * to wait for. Done on the chunks, so that the run and the journal of an orchestration need not know of
 * includes. */
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/patterns.h"
#include "common/state/high.h"

typedef struct sls_reqs {
    const json_t *includes; /* {SLS: [SLS]} of all that was rendered */
    map_t *own;             /* the SLS that have chunks */
    json_t *reached;        /* {SLS or wildcard: [{"sls": SLS}]} that were looked for before */
} sls_reqs_t;

/* The SLS with chunks that `sls` leads to, each once; `seen` ends circles. */
static void
add_included(const sls_reqs_t *self, const char *sls, json_t *seen, json_t *found)
{
    json_t *list = value_get(self->includes, sls), *one;
    size_t i;

    if (value_get(seen, sls) != NULL)
        return;
    json_object_set_new(seen, sls, json_true());
    if (map_get(self->own, sls) != NULL)
        json_array_append_new(found, json_pack("{s:s}", "sls", sls));
    json_array_foreach (list, i, one)
        add_included(self, json_string_value(one), seen, found);
}

/* BORROWED list of all SLS with chunks that the SLS of a name, or of a wildcard, lead to; the named ones are
 * among them. */
static json_t *
reached_from(const sls_reqs_t *self, const char *name)
{
    json_t *found = value_get(self->reached, name), *list;
    const char *sls;

    if (found != NULL)
        return found;
    json_auto_t *seen = json_object();
    json_object_set_new(self->reached, name, found = json_array());
    if (!match_has_glob(name)) {
        add_included(self, name, seen, found);
        return found;
    }
    AUTO(wild) wild = wild_new(name, false);
    json_object_foreach ((json_t *) self->includes, sls, list)
        if (wild_match(wild, sls, strlen(sls)))
            add_included(self, sls, seen, found);
    return found;
}

/* True when an SLS that a requisite names leads to the requiring SLS. Such a state waits for the named SLS
 * alone: it can't wait for itself. */
static bool
leads_to(const json_t *found, const char *from)
{
    json_t *one;
    size_t i;

    json_array_foreach (found, i, one)
        if (str_eq(value_str(one, "sls", ""), from))
            return true;
    return false;
}

/* Rewrites the requisites of a chunk that name an SLS, kind by kind; other entries stay as they are. */
static void
fill_chunk(const sls_reqs_t *self, json_t *chunk)
{
    /* Nothing changes or fails in an empty SLS: for these kinds it is met. */
    static const char *const kinds[] = { "require", "require_any", "watch", "watch_any" };
    static const char *const others[] = { "prereq",     "onfail",    "onfail_any",
                                          "onfail_all", "onchanges", "onchanges_any" };

    for (size_t i = 0; i < NELEMS(kinds) + NELEMS(others); i++) {
        bool may_drop = i < NELEMS(kinds);
        const char *kind = may_drop ? kinds[i] : others[i - NELEMS(kinds)];
        json_t *list = value_get(chunk, kind), *entry;
        size_t k;
        if (!json_is_array(list))
            continue;
        json_auto_t *ret = json_array();
        json_array_foreach (list, k, entry) {
            /* Append the SLS that one entry of a requisite means. `from`: the SLS that requires.
             * `may_drop`: one that leads to nothing is met. */
            const char *from = value_str(chunk, "__sls__", "");
            const char *sls = value_str(entry, "sls", NULL);
            json_t *found = sls != NULL ? reached_from(self, sls) : NULL;
            /* Hollow: the SLS was rendered and has no chunks. */
            bool hollow = sls != NULL && map_get(self->own, sls) == NULL &&
                          value_get(self->includes, sls) != NULL;

            if (json_array_size(found) > 0 && (hollow || !leads_to(found, from)))
                json_array_extend(ret, found);
            else if (!hollow || !may_drop)
                json_array_append(ret, entry);
        }
        json_object_set(chunk, kind, ret);
    }
}

void
low_fill_sls(json_t *chunks, const json_t *includes)
{
    json_auto_t *reached = json_object();
    sls_reqs_t self = { .includes = includes, .own = map_new(NULL), .reached = reached };
    json_t *chunk;
    size_t i;

    json_array_foreach (chunks, i, chunk)
        map_set(self.own, value_str(chunk, "__sls__", ""), &self);
    json_array_foreach (chunks, i, chunk)
        fill_chunk(&self, chunk);
    map_destroy(&self.own);
}
