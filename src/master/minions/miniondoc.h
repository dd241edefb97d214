/* miniondoc.h - the documents in a minion's entry, without front or store. miniondata.h fills them.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the entry owns its values
 * Tests      tests/unit/master/test_peers.c, tests/unit/master/test_full_store.c
 */
#ifndef MASTER_MINIONS_MINIONDOC_H
#define MASTER_MINIONS_MINIONDOC_H

#include "master/minions/valuepool.h"
#include "master/store/store.h"

typedef struct miniondoc {
    kept_t *grains;
    json_t *pillar, *mine;
    char *unread[STORE_DOCS]; /* owned: stored text, not parsed yet; NULL: parsed, or none */
    bool unkept[STORE_DOCS];  /* the store's queue refused the present document */
} miniondoc_t;

/* The parsed document, BORROWED; NULL without one. Grains as kept_view. */
json_t *miniondoc_view(const miniondoc_t *self, store_doc_t what);
void miniondoc_drop(miniondoc_t *self, store_doc_t what);
void miniondoc_free(miniondoc_t *self); /* drops all */

#endif
