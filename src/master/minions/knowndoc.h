/* knowndoc.h - the place in a minion's entry for what it said of itself: no front, no store. known.h fills
 * it.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  the entry owns its values
 * Tests      tests/unit/master/test_peers.c, tests/unit/master/test_full_store.c
 */
#ifndef MASTER_MINIONS_KNOWNDOC_H
#define MASTER_MINIONS_KNOWNDOC_H

#include "master/keys/alike.h"
#include "master/store/store.h"

typedef struct known {
    kept_t *grains;
    json_t *pillar, *mine;
    char *unread[STORE_DOCS]; /* as the store has it; NULL: it was read, or there is none */
    bool unkept[STORE_DOCS];  /* the store had no room for what is here */
} known_t;

/* What was read: BORROWED, NULL when there is nothing. Grains as kept_view. */
json_t *known_view(const known_t *self, store_doc_t what);
void known_drop(known_t *self, store_doc_t what);
void known_free(known_t *self); /* drops all */

#endif
