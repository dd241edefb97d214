/* batch.c - see batch.h. A place rests from the look at which its minion is found done. */
#include "master/jobs/batch.h"

#include "common/match/batchsize.h"
#include "salt/value.h"

#define SECONDS_MAX 1e9 /* longer than anybody waits */

/* A member that is a number of seconds. False with *err for anything else. */
static bool
batch_seconds(const json_t *spec, const char *name, double dflt, int64_t *ret_ms, fail_t *err)
{
    const json_t *v = value_get(spec, name);
    double s = v != NULL && !json_is_null(v) ? json_number_value(v) : dflt;

    if ((v == NULL || json_is_null(v) || json_is_number(v)) && s >= 0 && s <= SECONDS_MAX) {
        *ret_ms = (int64_t) (s * 1000);
        return true;
    }
    AUTO_FREE char *text = value_dump(v);
    (void) fail_set(err, -EINVAL, "batch: '%s' is a number of seconds, not %s", name, text);
    return false;
}

batch_t *
batch_new(const json_t *spec, size_t of, double timeout_s, fail_t *err)
{
    long places = batch_size(value_get(spec, "size"), of);
    int64_t wait_ms, silent_ms;

    if (places < 0) {
        AUTO_FREE char *text = value_pystr(value_get(spec, "size"));
        (void) fail_set(err, -EINVAL,
                        "Invalid batch data sent: %s\nData must be in the form of %%10, 10%% or 3", text);
        return NULL;
    }
    if (!batch_seconds(spec, "wait", 0, &wait_ms, err) ||
        !batch_seconds(spec, "timeout", timeout_s, &silent_ms, err))
        return NULL;
    batch_t *self = xcalloc(1, sizeof(*self));
    /* More places than minions are of no use. */
    self->places = (size_t) places < of ? (size_t) places : of;
    self->wait_ms = wait_ms;
    self->silent_ms = silent_ms;
    self->failhard = value_bool(spec, "failhard", false);
    self->users = value_bool(spec, "users", false);
    self->as = json_incref(value_get(spec, "as"));
    self->resting = xcalloc(self->places + 1, sizeof(*self->resting));
    return self;
}

void
batch_destroy(batch_t **self_p)
{
    batch_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    json_decref(self->as);
    free(self->halted);
    free(self->resting);
    free(self);
}

size_t
batch_room(batch_t *self, size_t active, int64_t now_ms)
{
    size_t woken = 0;

    while (woken < self->n_resting && self->resting[woken] <= now_ms)
        woken++;
    self->n_resting -= woken;
    memmove(self->resting, self->resting + woken, self->n_resting * sizeof(*self->resting));
    for (size_t freed = self->n_active > active ? self->n_active - active : 0;
         freed > 0 && self->wait_ms > 0 && self->n_resting < self->places; freed--)
        self->resting[self->n_resting++] = now_ms + self->wait_ms;
    self->n_active = active;
    size_t used = active + self->n_resting;
    return used < self->places ? self->places - used : 0;
}
