/* run_index.c - resolve requisites to steps: chunks indexed by state and name or ID, by ID alone, by SLS, by
 * wildcard.
 *
 * Keys are "state\x1fname"; an empty state means any. The index makes the look-up O(1) where Salt scans all
 * chunks per requisite; a wildcard scans once and is cached. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/patterns.h"
#include "common/state/run_int.h"

#define SEP "\x1f"

/* Append a step, unless it is the last one already: a chunk whose ID is its name comes twice. */
void
steps_add(steps_t *self, size_t step)
{
    if (self->n > 0 && self->v[self->n - 1] == step)
        return;
    if (self->n == self->cap) {
        self->cap = self->cap > 0 ? self->cap * 2 : 4;
        self->v = xrealloc(self->v, self->cap * sizeof(*self->v));
    }
    self->v[self->n++] = step;
}

void
steps_free(steps_t *self)
{
    free(self->v);
    *self = (steps_t){ 0 };
}

static void
steps_destroy(void *steps)
{
    steps_free(steps);
    free(steps);
}

/* Get the list of a key, made when absent. BORROWED. */
static steps_t *
steps_at(map_t *map, const char *key)
{
    steps_t *found = map_get(map, key);

    if (found == NULL) {
        found = xcalloc(1, sizeof(*found));
        map_set(map, key, found);
    }
    return found;
}

/* A step is found by "state: name", and by the bare name, which leaves the state open. */
static void
index_under(run_t *run, const char *state, const char *name, size_t step)
{
    AUTO_FREE char *exact = xasprintf("%s" SEP "%s", state, name), *any = xasprintf(SEP "%s", name);

    steps_add(steps_at(run->index, exact), step);
    steps_add(steps_at(run->index, any), step);
}

void
run_index(run_t *run)
{
    run->index = map_new(steps_destroy);
    run->sls = map_new(steps_destroy);
    run->patterns = map_new(steps_destroy);
    for (size_t i = 0; i < run->n; i++) {
        const json_t *low = run->steps[i].low;
        const char *state = value_str(low, "state", ""), *name = value_str(low, "name", ""),
                   *id = value_str(low, "__id__", "");
        index_under(run, state, id, i);
        if (strcmp(name, id) != 0)
            index_under(run, state, name, i);
        steps_add(steps_at(run->sls, value_str(low, "__sls__", "")), i);
    }
}

void
run_index_free(run_t *run)
{
    map_destroy(&run->index);
    map_destroy(&run->sls);
    map_destroy(&run->patterns);
}

/* ---- looking up ---------------------------------------------------------------------------- */

static bool
wild_is(const wild_t *wild, const char *text)
{
    return wild_match(wild, text, strlen(text));
}

/* All steps that a wildcard matches; scanned once per pattern. BORROWED; NULL: no match. */
static const steps_t *
find_pattern(run_t *run, const char *key, const char *pattern)
{
    AUTO_FREE char *kept = xasprintf("%s" SEP "%s", key, pattern);
    steps_t *found = map_get(run->patterns, kept);

    if (found == NULL) {
        AUTO(wild) wild = wild_new(pattern, false);
        found = steps_at(run->patterns, kept);
        for (size_t i = 0; i < run->n; i++) {
            const json_t *low = run->steps[i].low;
            bool any = str_eq(key, "id") || str_eq(key, value_str(low, "state", ""));
            if (str_eq(key, "sls") ? wild_is(wild, value_str(low, "__sls__", ""))
                                   : any && (wild_is(wild, value_str(low, "name", "")) ||
                                             wild_is(wild, value_str(low, "__id__", ""))))
                steps_add(found, i);
        }
    }
    return found->n > 0 ? found : NULL;
}

/* ---- a chunk's requisites ------------------------------------------------------------------ */

static const char *const names[REQ_KINDS] = {
    [REQ_REQUIRE] = "require",
    [REQ_REQUIRE_ANY] = "require_any",
    [REQ_WATCH] = "watch",
    [REQ_WATCH_ANY] = "watch_any",
    [REQ_PREREQ] = "prereq",
    [REQ_ONFAIL] = "onfail",
    [REQ_ONFAIL_ANY] = "onfail_any",
    [REQ_ONFAIL_ALL] = "onfail_all",
    [REQ_ONCHANGES] = "onchanges",
    [REQ_ONCHANGES_ANY] = "onchanges_any",
    [REQ_PREREQUIRED] = "prerequired",
};

const char *
req_name(req_kind_t kind)
{
    return names[kind];
}

/* Read one requisite. "file.managed: x" counts as "file: x"; a bare "x" is an ID or name of any state. */
static void
read_req(run_t *run, step_t *step, req_kind_t kind, json_t *entry)
{
    const char *key = "id";
    json_t *value = entry;

    if (json_is_object(entry)) {
        void *first = json_object_iter(entry);
        key = first != NULL ? json_object_iter_key(first) : "id";
        value = first != NULL ? json_object_iter_value(first) : NULL;
    }
    if (value == NULL || json_is_null(value))
        return;
    req_t *req = &step->reqs[step->n_reqs++];
    *req = (req_t){ .kind = kind, .key = xstrndup(key, strcspn(key, ".")), .value = value_pystr(value) };
    /* The steps that it means, by a pattern, an SLS or the exact words; NULL: there are none. */
    AUTO_FREE char *exact = xasprintf("%s" SEP "%s", str_eq(req->key, "id") ? "" : req->key, req->value);
    if (!json_is_string(value))
        req->steps = NULL;
    else if (match_has_glob(req->value))
        req->steps = find_pattern(run, req->key, req->value);
    else
        req->steps = str_eq(req->key, "sls") ? map_get(run->sls, req->value) : map_get(run->index, exact);
}

/* Convert watch to require for a module without mod_watch, as Salt does. */
static void
watch_to_require(json_t *low, const char *from, const char *to)
{
    json_t *watch = value_get(low, from), *require = value_get(low, to);

    if (watch == NULL)
        return;
    if (json_is_array(require) && json_is_array(watch)) {
        json_auto_t *both = json_copy(require);
        json_array_extend(both, watch);
        json_object_set(low, to, both);
    } else {
        json_object_set(low, to, watch);
    }
    json_object_del(low, from);
}

/* Requisites in the order of req_kind_t, so that those of one kind are together: run_status() relies on
 * it. */
void
run_read_reqs(run_t *run, step_t *step)
{
    json_t *low = step->low, *list, *entry;
    const json_t *disabled = value_get(ctx_opts(run->env->ctx), "disabled_requisites"); /* a word or a list */
    size_t i, n = 0;

    if ((value_get(low, "watch") != NULL || value_get(low, "watch_any") != NULL) &&
        !state_has(run->env->ctx, low, "mod_watch")) {
        watch_to_require(low, "watch", "require");
        watch_to_require(low, "watch_any", "require_any");
    }
    for (int k = 0; k < REQ_KINDS; k++)
        n += json_array_size(value_get(low, names[k]));
    step->reqs = n > 0 ? xcalloc(n, sizeof(*step->reqs)) : NULL;
    for (int k = 0; n > 0 && k < REQ_KINDS; k++) {
        list = value_get(low, names[k]);
        if (list == NULL || str_eq(json_string_value(disabled), names[k]) || value_lists(disabled, names[k]))
            continue;
        json_array_foreach (list, i, entry)
            read_req(run, step, (req_kind_t) k, entry);
    }
}

void
run_free_reqs(step_t *step)
{
    for (size_t i = 0; i < step->n_reqs; i++) {
        free(step->reqs[i].key);
        free(step->reqs[i].value);
    }
    free(step->reqs);
    step->reqs = NULL;
    step->n_reqs = 0;
}
