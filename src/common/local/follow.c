/* follow.c - see follow.h. Outcomes are counted as they change (n_with, n_away), so that every question about
 * the whole job is O(1); the order by id is made only when somebody is silent. A target is told once: as a
 * return when it comes, else as silent. */
#include "common/local/follow.h"

#include "common/base/buf.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/value.h"

typedef struct target {
    char *id;
    outcome_t outcome;
    bool away; /* not connected, as the master last said */
    bool told;
} target_t;

struct follow {
    char *jid;
    target_t *targets; /* as the master names them */
    target_t **sorted; /* the same by id; NULL until somebody is silent */
    size_t n_targets;
    size_t first_untold; /* of the sorted ones */
    map_t *by_id;
    size_t n_with[OUTCOMES];
    size_t n_away; /* of those that run the job */
    size_t n_told, n_told_silent;
    int64_t news_ms; /* last push that changed something */
    bool done;
};

static int
follow_by_id(const void *a, const void *b)
{
    return strcmp((*(const target_t *const *) a)->id, (*(const target_t *const *) b)->id);
}

static void
follow_add_targets(follow_t *self, const json_t *ids, outcome_t outcome)
{
    size_t i;
    json_t *id;

    json_array_foreach (ids, i, id)
        if (json_is_string(id))
            self->targets[self->n_targets++] = (target_t){ .id = xstrdup(json_string_value(id)),
                                                           .outcome = outcome };
}

follow_t *
follow_new(const char *jid, const json_t *minions, const json_t *missing, int64_t now_ms)
{
    follow_t *self = xcalloc(1, sizeof(*self));

    self->jid = xstrdup(jid);
    self->targets = xcalloc(json_array_size(minions) + json_array_size(missing) + 1, sizeof(*self->targets));
    follow_add_targets(self, minions, OUTCOME_UNHEARD);
    follow_add_targets(self, missing, OUTCOME_NOT_ACCEPTED);
    self->by_id = map_new(NULL);
    for (size_t i = 0; i < self->n_targets; i++) {
        map_set(self->by_id, self->targets[i].id, &self->targets[i]);
        self->n_with[self->targets[i].outcome]++;
    }
    self->news_ms = now_ms;
    return self;
}

void
follow_destroy(follow_t **self_p)
{
    follow_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_targets; i++)
        free(self->targets[i].id);
    map_destroy(&self->by_id);
    free(self->sorted);
    free(self->targets);
    free(self->jid);
    free(self);
}

const char *
follow_jid(const follow_t *self)
{
    return self->jid;
}

/* Moves a target to another outcome and keeps the counters in step. */
static void
set_outcome(follow_t *self, target_t *t, outcome_t to, bool away, int64_t now_ms)
{
    self->n_with[t->outcome]--;
    self->n_away -= t->outcome == OUTCOME_RUNNING && t->away ? 1 : 0;
    t->outcome = to;
    t->away = away;
    self->n_with[to]++;
    self->n_away += to == OUTCOME_RUNNING && away ? 1 : 0;
    self->news_ms = now_ms;
}

/* False for a return that was told already, or of a minion that is not a target. */
static bool
follow_take_return(follow_t *self, target_t *t, const json_t *push, int64_t now_ms)
{
    if (t == NULL || t->told || t->outcome == OUTCOME_RETURNED)
        return false;
    set_outcome(self, t, OUTCOME_RETURNED, false, now_ms);
    t->told = true;
    self->n_told++;
    return true;
}

static bool
follow_take_verdict(follow_t *self, target_t *t, const json_t *push, int64_t now_ms)
{
    outcome_t to = outcome_parse(value_str(push, "verdict", ""));

    /* A "returned" without its return says nothing yet: the return comes by itself. */
    if (t != NULL && !outcome_final(t->outcome) && to != OUTCOME_RETURNED)
        set_outcome(self, t, to, !value_bool(push, "connected", true), now_ms);
    return false;
}

/* The master has ended the job: no more returns come. */
static bool
follow_take_done(follow_t *self, target_t *t, const json_t *push, int64_t now_ms)
{
    self->done = true;
    return false;
}

/* Answers lie at the master, which has no time for them yet: it is not the minions who are silent. */
static bool
take_busy(follow_t *self, target_t *t, const json_t *push, int64_t now_ms)
{
    self->news_ms = now_ms;
    return false;
}

static const struct {
    const char *kind;
    bool (*take)(follow_t *self, target_t *t, const json_t *push, int64_t now_ms);
} pushes[] = {
    { "ret", follow_take_return },
    { "verdict", follow_take_verdict },
    { "busy", take_busy },
    { "done", follow_take_done },
};

/* True for a return that the caller should print. Unknown pushes are ignored. */
bool
follow_push(follow_t *self, const json_t *push, int64_t now_ms)
{
    const char *kind = value_str(push, "push", "");

    for (size_t i = 0; i < NELEMS(pushes); i++)
        if (str_eq(pushes[i].kind, kind))
            return pushes[i].take(self, map_get(self->by_id, value_str(push, "id", "")), push, now_ms);
    return false;
}

void
follow_abandon(follow_t *self)
{
    self->done = true;
}

/* ---- when to stop ---------------------------------------------------------------------------- */

/* When silence ends the job; INT64_MAX: it does not, the job runs on a connected minion. */
static int64_t
end_ms(const follow_t *self, int64_t timeout_ms)
{
    bool only_away = self->n_with[OUTCOME_UNHEARD] + self->n_with[OUTCOME_DELIVERED] == 0;

    if (self->n_with[OUTCOME_RUNNING] > self->n_away)
        return INT64_MAX;
    return self->news_ms + (only_away && timeout_ms > FOLLOW_AWAY_MS ? FOLLOW_AWAY_MS : timeout_ms);
}

/* True when the job ended, no target can return any more, or silence lasted too long. */
bool
follow_over(const follow_t *self, int64_t timeout_ms, int64_t now_ms)
{
    size_t open = self->n_with[OUTCOME_UNHEARD] + self->n_with[OUTCOME_DELIVERED] +
                  self->n_with[OUTCOME_RUNNING];

    return self->done || open == 0 || now_ms >= end_ms(self, timeout_ms);
}

/* Silent targets that the caller has not been told of. */
static size_t
untold_silent(const follow_t *self)
{
    return follow_counts(self).silent - self->n_told_silent;
}

int64_t
follow_next_ms(const follow_t *self, int64_t timeout_ms)
{
    int64_t quiet = self->news_ms + FOLLOW_QUIET_MS, end = end_ms(self, timeout_ms);

    return quiet < end && untold_silent(self) > 0 ? quiet : end;
}

/* ---- what to tell ---------------------------------------------------------------------------- */

/* Mostly all return, and nobody asks for an order. */
static target_t **
follow_in_order(follow_t *self)
{
    if (self->sorted == NULL) {
        self->sorted = xcalloc(self->n_targets + 1, sizeof(*self->sorted));
        for (size_t i = 0; i < self->n_targets; i++)
            self->sorted[i] = &self->targets[i];
        qsort(self->sorted, self->n_targets, sizeof(*self->sorted), follow_by_id);
    }
    return self->sorted;
}

/* Next silent target that was not told yet, in the order of ids. BORROWED; NULL when there is none now.
 * *ret_text NEW. */
const char *
follow_silent(follow_t *self, bool over, int64_t now_ms, outcome_t *ret_outcome, char **ret_text)
{
    if (self->n_told == self->n_targets ||
        (!over && (now_ms - self->news_ms < FOLLOW_QUIET_MS || untold_silent(self) == 0)))
        return NULL;
    target_t **sorted = follow_in_order(self);
    while (self->first_untold < self->n_targets && sorted[self->first_untold]->told)
        self->first_untold++;
    for (size_t i = self->first_untold; i < self->n_targets; i++) {
        target_t *t = sorted[i];
        if (t->told || (!over && !outcome_final(t->outcome)))
            continue;
        t->told = true;
        self->n_told++;
        self->n_told_silent += outcome_final(t->outcome) ? 1 : 0;
        *ret_outcome = t->outcome;
        *ret_text = outcome_text(t->outcome, t->away, self->jid);
        return t->id;
    }
    return NULL;
}

follow_counts_t
follow_counts(const follow_t *self)
{
    follow_counts_t counts = { .targets = self->n_targets,
                               .returned = self->n_with[OUTCOME_RETURNED],
                               .running = self->n_with[OUTCOME_RUNNING] };

    for (size_t o = OUTCOME_RETURNED + 1; o < OUTCOMES; o++)
        counts.silent += self->n_with[o];
    return counts;
}

/* Ids of running targets, at most `max`, and how many more. NEW. */
char *
follow_runners(follow_t *self, size_t max)
{
    buf_auto_t out = BUF_INIT;
    target_t **sorted = follow_in_order(self);
    size_t n = 0;

    for (size_t i = 0; i < self->n_targets && n < max; i++)
        if (sorted[i]->outcome == OUTCOME_RUNNING)
            buf_printf(&out, "%s%s", n++ > 0 ? ", " : "", sorted[i]->id);
    if (self->n_with[OUTCOME_RUNNING] > n)
        buf_printf(&out, " and %zu more", self->n_with[OUTCOME_RUNNING] - n);
    return buf_steal(&out);
}
