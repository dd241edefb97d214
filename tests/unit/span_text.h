/* span_text.h - texts with their spans drawn into them: ⟦ ⟧ for a piece that a peer said, ⟪ ⟫ for one that
 * it said as a text, ⟨ ⟩ for one that went through `quote`. */
#ifndef TESTS_UNIT_SPAN_TEXT_H
#define TESTS_UNIT_SPAN_TEXT_H

#include "common/base/buf.h"
#include "common/base/span.h"

typedef struct span_text {
    buf_t text;
    spans_t spans;
} span_text_t;

static inline void
span_text_free(span_text_t *self)
{
    buf_free(&self->text);
    spans_free(&self->spans);
}
#define span_text_auto_t __attribute__((cleanup(span_text_free))) span_text_t

static inline span_text_t
span_text(const char *drawn)
{
    static const struct {
        const char *open, *close;
        unsigned flags;
    } pens[] = { { "⟦", "⟧", 0 }, { "⟪", "⟫", SPAN_TEXT }, { "⟨", "⟩", SPAN_QUOTED } };
    span_text_t out = { BUF_INIT, SPANS_INIT };
    size_t from = 0;

    while (*drawn != '\0') {
        bool drew = false;
        for (size_t i = 0; i < NELEMS(pens) && !drew; i++) {
            bool close = strncmp(drawn, pens[i].close, strlen(pens[i].close)) == 0;
            drew = close || strncmp(drawn, pens[i].open, strlen(pens[i].open)) == 0;
            if (close)
                spans_add(&out.spans, from, out.text.len, pens[i].flags);
            from = drew ? out.text.len : from;
        }
        if (!drew)
            buf_putc(&out.text, *drawn);
        drawn += drew ? strlen("⟦") : 1;
    }
    buf_reserve(&out.text, 1);
    return out;
}

#endif
