/* refusals.c - see refusals.h. One token bucket and one waiting message per kind. */
#include "master/minions/refusals.h"

#include "common/base/rate.h"
#include "common/base/str.h"
#include "salt/limits.h"

typedef struct kind {
    rate_t pace;
    char *address, *reason; /* waiting message; NULL: none */
} kind_t;

struct refusals {
    kind_t kinds[REFUSALS];
    uint64_t unsaid;
};

refusals_t *
refusals_new(void)
{
    refusals_t *self = xcalloc(1, sizeof(*self));
    for (int i = 0; i < REFUSALS; i++)
        self->kinds[i].pace = (rate_t) RATE(LIMIT_REFUSED_EVENTS_RATE, LIMIT_REFUSED_EVENTS_BURST);
    return self;
}

static void
refusals_forget(kind_t *kind)
{
    free(STEAL(kind->address));
    free(STEAL(kind->reason));
}

void
refusals_destroy(refusals_t **self_p)
{
    refusals_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (int i = 0; i < REFUSALS; i++)
        refusals_forget(&self->kinds[i]);
    free(self);
}

bool
refusals_add(refusals_t *self, refusal_t which, const char *address, const char *reason, int64_t now_ms)
{
    kind_t *kind = &self->kinds[which];
    if (kind->reason != NULL) {
        self->unsaid++;
        refusals_forget(kind);
    }
    if (rate_spare(&kind->pace, now_ms))
        return true;
    kind->address = xstrdup(address);
    kind->reason = xstrdup(reason);
    return false;
}

bool
refusals_due(refusals_t *self, int64_t now_ms, char **ret_address, char **ret_reason)
{
    for (int i = 0; i < REFUSALS; i++) {
        kind_t *kind = &self->kinds[i];
        if (kind->reason == NULL || !rate_spare(&kind->pace, now_ms))
            continue;
        *ret_address = STEAL(kind->address);
        *ret_reason = STEAL(kind->reason);
        return true;
    }
    return false;
}

uint64_t
refusals_unsaid(refusals_t *self)
{
    uint64_t n = self->unsaid;
    self->unsaid = 0;
    return n;
}
