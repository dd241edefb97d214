/* low_sls.c - requisites that name a whole SLS without states of its own. One that only includes others stands
 * for what it includes, and one that is empty has nothing to wait for. Done on the chunks, so that the run and
 * the journal of an orchestration need not know of includes. */
#include "common/base/map.h"
#include "common/state/high.h"

typedef struct sls_reqs {
    const json_t *includes; /* {SLS: [SLS]} of all that was rendered */
    map_t *own;             /* the SLS that have chunks */
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

/* True for {"sls": NAME} of an SLS that was rendered and has no chunks. */
static bool
is_hollow(const sls_reqs_t *self, const json_t *entry)
{
    const char *sls = value_str(entry, "sls", NULL);

    return sls != NULL && map_get(self->own, sls) == NULL && value_get(self->includes, sls) != NULL;
}

/* NEW list of the entries, with the included SLS in the place of hollow ones. `may_drop`: one that leads to
 * nothing is met. */
static json_t *
filled(const sls_reqs_t *self, const json_t *list, bool may_drop)
{
    json_t *ret = json_array(), *entry;
    size_t i;

    json_array_foreach (list, i, entry) {
        json_auto_t *found = json_array(), *seen = json_object();
        if (is_hollow(self, entry))
            add_included(self, value_str(entry, "sls", ""), seen, found);
        if (json_array_size(found) > 0)
            json_array_extend(ret, found);
        else if (!may_drop || !is_hollow(self, entry))
            json_array_append(ret, entry);
    }
    return ret;
}

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
        bool hollow = false;
        json_array_foreach (list, k, entry)
            hollow = hollow || is_hollow(self, entry);
        if (hollow)
            json_object_set_new(chunk, kind, filled(self, list, may_drop));
    }
}

void
low_fill_sls(json_t *chunks, const json_t *includes)
{
    sls_reqs_t self = { .includes = includes, .own = map_new(NULL) };
    json_t *chunk;
    size_t i;

    json_array_foreach (chunks, i, chunk)
        map_set(self.own, value_str(chunk, "__sls__", ""), &self);
    json_array_foreach (chunks, i, chunk)
        fill_chunk(&self, chunk);
    map_destroy(&self.own);
}
