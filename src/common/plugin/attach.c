/* attach.c - data that libraries attach to a call context, freed with it. A short list: few libraries use
 * it. */
#include "common/plugin/ctx.h"

typedef struct kept {
    const void *key;
    void *value;
    void (*free_value)(void *value);
    struct kept *next;
} kept_t;

void *
call_attached(const call_ctx_t *ctx, const void *key)
{
    for (const kept_t *k = ctx->kept; k != NULL; k = k->next)
        if (k->key == key)
            return k->value;
    return NULL;
}

void
call_attach(call_ctx_t *ctx, const void *key, void *value, void (*free_value)(void *value))
{
    kept_t *k = xcalloc(1, sizeof(*k));

    *k = (kept_t){ key, value, free_value, ctx->kept };
    ctx->kept = k;
}

void
ctx_drop_attached(call_ctx_t *ctx)
{
    for (kept_t *k; (k = ctx->kept) != NULL;) {
        ctx->kept = k->next;
        k->free_value(k->value);
        free(k);
    }
}
