/* span.c - see span.h. */
#include "common/base/span.h"

void
spans_add(spans_t *self, size_t from, size_t to, unsigned flags)
{
    span_t *last = self->n > 0 ? &self->v[self->n - 1] : NULL;

    salt_assert(from <= to && (last == NULL || last->to <= from));
    if (from == to)
        return;
    if (last != NULL && last->to == from && last->flags == flags) {
        last->to = to;
        return;
    }
    if (self->n == self->cap) {
        self->cap = self->cap * 2 + 8;
        self->v = xrealloc(self->v, self->cap * sizeof(*self->v));
    }
    self->v[self->n++] = (span_t){ from, to, flags };
}

void
spans_free(spans_t *self)
{
    free(self->v);
    *self = (spans_t) SPANS_INIT;
}

bool
breakout_set(breakout_t *ret, const spans_t *spans, size_t at, const char *what)
{
    size_t low = 0, high = spans->n;

    salt_assert(spans->n > 0);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (spans->v[middle].from <= at)
            low = middle;
        else
            high = middle;
    }
    const span_t *span = &spans->v[low];
    *ret = (breakout_t){ low, at >= span->from && at < span->to ? at : span->from, what };
    return false;
}

static bool
span_goes_on(const char *text, size_t len, size_t at)
{
    return at < len && ((unsigned char) text[at] & 0xc0) == 0x80;
}

bool
spans_have_characters(const spans_t *spans, const char *text, size_t len, breakout_t *ret)
{
    for (size_t i = 0; i < spans->n; i++)
        if (span_goes_on(text, len, spans->v[i].from) || span_goes_on(text, len, spans->v[i].to))
            return breakout_set(ret, spans, spans->v[i].from, "a part of a character");
    return true;
}
