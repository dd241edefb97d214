/* knowndoc.h - the documents in a minion's entry, without front or store. known.h fills them.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the entry owns its values
 * Tests      tests/unit/master/test_peers.c, tests/unit/master/test_full_store.c
 */
#ifndef MASTER_MINIONS_KNOWNDOC_H
#define MASTER_MINIONS_KNOWNDOC_H

#include "master/minions/valuepool.h"
#include "master/store/store.h"

typedef struct known {
    kept_t *grains;
    json_t *pillar, *mine;
    char *unread[STORE_DOCS]; /* owned: stored text, not parsed yet; NULL: parsed, or none */
    bool unkept[STORE_DOCS];  /* the store's queue refused the present document */
} known_t;

/* The parsed document, BORROWED; NULL without one. Grains as kept_view. */
json_t *known_view(const known_t *self, store_doc_t what);
void known_drop(known_t *self, store_doc_t what);
void known_free(known_t *self); /* drops all */

#endif
