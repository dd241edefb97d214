/* rollout.c - see rollout.h: how many minions come next, and when to stop. Pure arithmetic over counts;
 * percentages are of the whole target. */
#include "runners/lib/rollout.h"

#include <math.h>

#include "common/base/digest.h"
#include "common/base/str.h"
#include "salt/value.h"

enum { COUNT_MAX = 1000000 };

/* "25%" and "12.5%". */
static bool
per_cent(const char *text, size_t of, size_t *ret_n)
{
    char *end = NULL;
    double part = strtod(text, &end);

    if (end == text || strcmp(end, "%") != 0 || !isfinite(part) || part < 0 || part > 100)
        return false;
    double n = part / 100.0 * (double) of;
    *ret_n = part > 0 && n < 1 ? 1 : (size_t) n;
    return true;
}

/* None is `dflt`. A percentage below `min` is `min`, a number below it an error. */
int
rollout_number(const json_t *v, const char *what, size_t of, size_t min, size_t dflt, size_t *ret_n,
               fail_t *err)
{
    long long n = -1;
    size_t part = 0;

    *ret_n = dflt;
    if (v == NULL || json_is_null(v))
        return 0;
    AUTO_FREE char *text = json_is_string(v) ? xstrdup(json_string_value(v)) : NULL;
    const char *word = text != NULL ? str_trim(text) : "";
    if (per_cent(word, of, &part)) {
        *ret_n = part < min ? min : part;
        return 0;
    }
    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (!str_to_int(word, 0, COUNT_MAX, &n))
        n = -1;
    if (n < (long long) min || n > COUNT_MAX) {
        /* Reports a number that is none. */
        AUTO_FREE char *shown = value_repr(v);
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "'%s' is a number of minions from %zu on or a part of them as in '25%%', not %s",
                         what, min, shown);
    }
    *ret_n = (size_t) n;
    return 0;
}

/* Canaries come first and tolerate no failure unless max_fail says so; then batches. 0 when done, or with
 * *ret_why NEW when stopped. */
size_t
rollout_next(const rollout_t *self, size_t all, size_t done, size_t failed, char **ret_why)
{
    size_t left = all > done ? all - done : 0;
    bool canaries = self->canary > 0 && done <= self->canary;
    size_t budget = canaries && self->max_fail == ROLLOUT_ALL ? 0 : self->max_fail;

    *ret_why = NULL;
    if (left == 0)
        return 0;
    if (failed > budget) {
        *ret_why = canaries
                       ? xasprintf("Stopped: %zu of %zu canaries failed. %zu minions were left as they are.",
                                   failed, done, left)
                       : xasprintf("Stopped: %zu minions failed, max_fail is %zu. %zu minions were left as "
                                   "they are.",
                                   failed, budget, left);
        return 0;
    }
    size_t n = self->canary > done ? self->canary - done : self->batch;
    return n < left ? n : left;
}

/* An id and its place in an order that only the seed decides. */
typedef struct lot {
    char *digest;
    json_t *id;
} lot_t;

static int
by_digest(const void *a, const void *b)
{
    return strcmp(((const lot_t *) a)->digest, ((const lot_t *) b)->digest);
}

static int
rollout_by_id(const void *a, const void *b)
{
    return strcmp(json_string_value(((const lot_t *) a)->id), json_string_value(((const lot_t *) b)->id));
}

/* Sorted by a digest of seed and id, so that equal seeds give equal subsets. NEW, in order of ids. */
json_t *
rollout_subset(const json_t *ids, size_t want, const char *seed)
{
    size_t n = json_array_size(ids), i;
    lot_t *lots = xcalloc(n + 1, sizeof(*lots));
    json_t *out = json_array(), *id;

    json_array_foreach (ids, i, id) {
        AUTO_FREE char *text = xasprintf("%s\n%s", seed, json_string_value(id));
        lots[i] = (lot_t){ digest_bytes("sha256", text, strlen(text), NULL), id };
    }
    qsort(lots, n, sizeof(*lots), by_digest);
    want = want < n ? want : n;
    qsort(lots, want, sizeof(*lots), rollout_by_id);
    for (i = 0; i < want; i++)
        json_array_append(out, lots[i].id);
    for (i = 0; i < n; i++)
        free(lots[i].digest);
    free(lots);
    return out;
}
