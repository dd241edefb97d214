/* rate.c - see rate.h. */
#include "common/base/rate.h"

bool
rate_spare(rate_t *self, int64_t now_ms)
{
    if (self->at_ms == 0)
        self->left = self->burst;
    else if (now_ms > self->at_ms)
        self->left += (double) (now_ms - self->at_ms) * self->per_s / 1000;
    if (self->left > self->burst)
        self->left = self->burst;
    self->at_ms = now_ms;
    if (self->left < 1)
        return false;
    self->left -= 1;
    return true;
}

void
rate_owe(rate_t *self, double more)
{
    self->left -= more;
}
