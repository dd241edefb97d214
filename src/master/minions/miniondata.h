/* miniondata.h - what the master knows of a minion besides its key: grains, pillar as last compiled, values
 * in the mine. The store has a copy.
 *
 * A starting master takes the stored texts over unparsed and parses each when it is needed, or when there is
 * time: parsing all first would keep the ports of a large fleet's master closed for seconds.
 *
 * The grain `id` is always that of the minion's key, whoever sent or stored another. All other grains, and
 * the mine, are the minion's claims.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  values are BORROWED until miniondata_set
 * Tests      tests/unit/master/test_front.c, tests/unit/master/test_full_store.c */
#ifndef MASTER_MINIONS_MINIONDATA_H
#define MASTER_MINIONS_MINIONDATA_H

#include "master/front/front.h"

/* The document, or NULL. Grains are valid until another minion's are asked for, see kept_view. */
json_t *miniondata_get(front_t *front, minion_t *m, store_doc_t what);
/* Parse the stored text, if that has not happened yet. */
void miniondata_read(front_t *front, minion_t *m, store_doc_t what);
/* The grains for targets: never NULL, as each minion has its id. Valid until another minion's are asked
 * for. */
json_t *miniondata_grains(front_t *front, minion_t *m);
/* Replace a document in memory; NULL: drop it. The caller writes the store. The grain `id` is corrected. */
void miniondata_set(front_t *front, minion_t *m, store_doc_t what, json_t *value);
/* The same, and write it to the store, now or when there is room again. */
void miniondata_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value);
/* True when the document equals this text, as value_dump writes it. */
bool miniondata_is(const minion_t *m, store_doc_t what, const char *text, size_t len);

#endif
