/* knowndoc.c - see knowndoc.h. Grains are interned (valuepool.h), pillar and mine are plain values. */
#include "master/minions/knowndoc.h"

json_t *
known_view(const known_t *self, store_doc_t what)
{
    return what == STORE_GRAINS ? kept_view(self->grains) : what == STORE_PILLAR ? self->pillar : self->mine;
}

void
known_drop(known_t *self, store_doc_t what)
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
known_free(known_t *self)
{
    for (store_doc_t what = 0; what < STORE_DOCS; what++)
        known_drop(self, what);
}
