/* plan.c - see plan.h. Steps are nodes; an edge leads to a step that must end before. Edges come from
 * requisites and from the order of steps, as a step without `parallel` keeps later ones waiting. The critical
 * path follows, from the step that ends last, the edge that ended last. Quadratic in the number of steps. */
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/state/plan_int.h"
#include "salt/state.h"

#define NONE    SIZE_MAX
#define UNIT_MS 1.0 /* of a step that has not run */

/* ---- what waits for what ------------------------------------------------------------------- */

/* A step with `prereq` runs before those that it names: they have `prerequired`, its reverse. */
static const char *const kinds[] = {
    "require",       "require_any", "watch",      "watch_any",  "onchanges",
    "onchanges_any", "onfail",      "onfail_any", "onfail_all", "prerequired"
};

static bool
plan_fits(const char *pattern, const char *text)
{
    return str_eq(pattern, text) || match_glob(pattern, text);
}

/* Adds an edge once; the first reason is kept. */
static void
add_edge(plan_node_t *node, size_t from, const char *why)
{
    for (size_t i = 0; i < node->n_edges; i++) {
        if (node->edges[i].from == from)
            return;
    }
    node->edges = xrealloc(node->edges, (node->n_edges + 1) * sizeof(*node->edges));
    node->edges[node->n_edges++] = (plan_edge_t){ from, why };
}

static void
add_requisite(plan_t *self, size_t at, const char *why, const char *key, const char *value)
{
    /* A requisite {key: value} means steps by SLS, by ID, or by the state's ID or name; globs are allowed. */
    for (size_t i = 0; i < self->n; i++) {
        const json_t *chunk = self->nodes[i].chunk;
        bool meant;
        if (str_eq(key, "sls"))
            meant = plan_fits(value, value_str(chunk, "__sls__", ""));
        else
            meant = (str_eq(key, "id") || str_eq(key, value_str(chunk, "state", ""))) &&
                    (plan_fits(value, value_str(chunk, "__id__", "")) ||
                     plan_fits(value, value_str(chunk, "name", "")));
        if (i != at && meant)
            add_edge(&self->nodes[at], i, why);
    }
}

/* Adds an edge for each requisite of the step, of all kinds alike. */
static void
read_edges(plan_t *self, size_t at)
{
    const json_t *chunk = self->nodes[at].chunk;
    json_t *entry, *value;
    const char *key;
    size_t i;

    for (size_t k = 0; k < NELEMS(kinds); k++) {
        json_array_foreach (value_get(chunk, kinds[k]), i, entry) {
            if (json_is_string(entry))
                add_requisite(self, at, kinds[k], "id", json_string_value(entry));
            json_object_foreach (entry, key, value) {
                if (json_is_string(value))
                    add_requisite(self, at, kinds[k], key, json_string_value(value));
            }
        }
    }
}

/* Such a step keeps no later one waiting by its place alone. */
bool
plan_is_parallel(const plan_node_t *node)
{
    return value_truthy(value_get(node->chunk, "parallel"));
}

/* True when requisites alone make `from` end before `at`. `seen`: a byte per step. */
static bool
needs(const plan_t *self, size_t at, size_t from, char *seen)
{
    seen[at] = 1;
    for (size_t i = 0; i < self->nodes[at].n_edges; i++) {
        size_t on = self->nodes[at].edges[i].from;
        if (on == from || (!seen[on] && needs(self, on, from, seen)))
            return true;
    }
    return false;
}

/* True when requisites order both steps, in either direction. */
static bool
ordered(const plan_t *self, size_t a, size_t b)
{
    AUTO_FREE char *seen = xcalloc(self->n, 1), *back = xcalloc(self->n, 1);

    return needs(self, a, b, seen) || needs(self, b, a, back);
}

/* The order: after the last step that keeps others waiting, unless a requisite says it already. */
static void
add_order(plan_t *self)
{
    size_t last = NONE;

    for (size_t i = 0; i < self->n; i++) {
        if (last != NONE && !ordered(self, i, last))
            add_edge(&self->nodes[i], last, NULL);
        if (!plan_is_parallel(&self->nodes[i]))
            last = i;
    }
}

/* ---- the critical path --------------------------------------------------------------------- */

/* Computes when a step ends: after the last of its predecessors, plus its own time. Depth-first, each step
 * once. */
static void
plan_walk(plan_t *self, size_t at)
{
    plan_node_t *node = &self->nodes[at];
    double begin = 0;

    node->walk = 1;
    node->via = NONE;
    for (size_t i = 0; i < node->n_edges; i++) {
        plan_node_t *on = &self->nodes[node->edges[i].from];
        if (on->walk == 0)
            plan_walk(self, node->edges[i].from);
        /* A circle: the state compiler's affair. */
        if (on->walk == 1 || (node->via != NONE && on->end <= begin))
            continue;
        node->via = node->edges[i].from;
        begin = on->end;
    }
    node->end = begin + node->ms;
    node->walk = 2;
}

/* Index of the step that ends last; NONE without steps. */
static size_t
last_to_end(const plan_t *self)
{
    size_t last = NONE;

    for (size_t i = 0; i < self->n; i++) {
        if (last == NONE || self->nodes[i].end > self->nodes[last].end)
            last = i;
    }
    return last;
}

/* With `times` the durations of a past run, else every step counts as one unit. `chunks` must outlive the
 * plan. */
plan_t *
plan_new(const json_t *chunks, const json_t *times, bool ordered)
{
    plan_t *self = xcalloc(1, sizeof(*self));
    size_t i;
    json_t *chunk;

    self->timed = times != NULL;
    self->ordered = ordered;
    self->n = json_array_size(chunks);
    self->nodes = xcalloc(self->n + 1, sizeof(*self->nodes));
    json_array_foreach ((json_t *) chunks, i, chunk) {
        plan_node_t *node = &self->nodes[i];
        node->chunk = chunk;
        node->tag = state_tag(chunk);
        const json_t *time = value_get(times, node->tag);
        node->ran = time != NULL;
        node->failed = json_is_false(value_get(time, "result"));
        node->ms = times != NULL ? value_num(time, "ms", 0) : UNIT_MS;
    }
    for (i = 0; i < self->n; i++)
        read_edges(self, i);
    if (ordered)
        add_order(self);
    for (i = 0; i < self->n; i++) {
        if (self->nodes[i].walk == 0)
            plan_walk(self, i);
    }
    size_t last = last_to_end(self);
    self->total = last != NONE ? self->nodes[last].end : 0;
    for (; last != NONE; last = self->nodes[last].via)
        self->nodes[last].critical = true;
    return self;
}

void
plan_destroy(plan_t **self_p)
{
    plan_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n; i++) {
        free(self->nodes[i].tag);
        free(self->nodes[i].edges);
    }
    free(self->nodes);
    free(self);
}

/* Indices of the steps on the critical path, in order. NEW. */
json_t *
plan_critical(const plan_t *self)
{
    json_t *path = json_array();

    for (size_t at = last_to_end(self); at != NONE; at = self->nodes[at].via)
        json_array_insert_new(path, 0, json_integer((json_int_t) at));
    return path;
}

/* ---- names --------------------------------------------------------------------------------- */

const char *
plan_id_of(const plan_node_t *node)
{
    return value_str(node->chunk, "__id__", "?");
}

/* "pkg.installed nginx": the function, and the name where it is not the ID; in an orchestration the target
 * too. NEW. */
char *
plan_what_of(const plan_node_t *node)
{
    const char *state = value_str(node->chunk, "state", ""), *fun = value_str(node->chunk, "fun", ""),
               *name = value_str(node->chunk, "name", "");
    json_t *tgt = value_get(node->chunk, "tgt");
    AUTO_FREE char *target = tgt == NULL || json_is_string(tgt)
                                 ? xstrdup(tgt != NULL ? json_string_value(tgt) : "")
                                 : value_repr(tgt);
    bool named = *name != '\0' && !str_eq(name, plan_id_of(node));

    return xasprintf("%s.%s%s%s%s%s", state, fun, named ? " " : "", named ? name : "",
                     tgt != NULL ? " on " : "", target);
}
