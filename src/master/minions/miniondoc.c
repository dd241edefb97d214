/* miniondoc.c - see miniondoc.h. Grains are interned (valuepool.h), pillar and mine are plain values. */
#include "master/minions/miniondoc.h"

json_t *
miniondoc_view(const miniondoc_t *self, store_doc_t what)
{
    return what == STORE_GRAINS ? kept_view(self->grains) : what == STORE_PILLAR ? self->pillar : self->mine;
}

void
miniondoc_drop(miniondoc_t *self, store_doc_t what)
{
    free(self->unread[what]);
    self->unread[what] = NULL;
    self->unkept[what] = false;
    if (what == STORE_GRAINS) {
        kept_destroy(&self->grains);
        return;
    }
    json_t **doc = what == STORE_PILLAR ? &self->pillar : &self->mine;
    json_decref(*doc);
    *doc = NULL;
}

void
miniondoc_free(miniondoc_t *self)
{
    for (store_doc_t what = 0; what < STORE_DOCS; what++)
        miniondoc_drop(self, what);
}
