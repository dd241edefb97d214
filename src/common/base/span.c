/* span.c - parts of a text. */
#include "common/base/span.h"

enum { FIRST_CAP = 8 };

void
spans_add(spans_t *self, size_t from, size_t to, unsigned flags)
{
    span_t *last = self->n > 0 ? &self->v[self->n - 1] : NULL;

    if (from >= to)
        return;
    salt_assert(last == NULL || last->to <= from);
    if (last != NULL && last->to == from && last->flags == flags) {
        last->to = to;
        return;
    }
    if (self->n == self->cap) {
        self->cap = self->cap > 0 ? self->cap * 2 : FIRST_CAP;
        self->v = xrealloc(self->v, self->cap * sizeof(*self->v));
    }
    self->v[self->n++] = (span_t){ from, to, flags };
}

void
spans_free(spans_t *self)
{
    free(self->v);
    *self = (spans_t){ .v = NULL };
}
