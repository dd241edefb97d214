/* known.h - what the master knows of a minion beside its key: its grains, its pillar as last compiled, its
 * values in the mine. The store has it too.
 *
 * A master that starts takes over what the one before knew as the texts that the store has. Each is read when
 * something asks for it, or when there is time: reading all of them first kept the ports of a fleet's master
 * closed for seconds.
 *
 * The grain `id` of what is kept is the id of the minion's key, whoever sent or stored another; all other
 * grains, and what the mine holds, are what the minion claims.
 *
 * Layer      master
 * Threads    the front loop's
 * Ownership  values are BORROWED until known_set
 * Tests      tests/unit/master/test_front.c, tests/unit/master/test_full_store.c
 */
#ifndef MASTER_MINIONS_KNOWN_H
#define MASTER_MINIONS_KNOWN_H

#include "master/front/front.h"

/* An object, or NULL: there is nothing. Grains are good until others' are asked for: see kept_view. */
json_t *known_get(front_t *front, minion_t *m, store_doc_t what);
/* What the store has of it is read, if it was not yet. */
void known_read(front_t *front, minion_t *m, store_doc_t what);
/* The grains as targets look at them: never NULL, as the id is known of each minion. Good until others'
 * are asked for. */
json_t *known_grains(front_t *front, minion_t *m);
/* NULL: nothing any more. The store is the caller's business. Grains are corrected: their `id` is the
 * minion's. */
void known_set(front_t *front, minion_t *m, store_doc_t what, json_t *value);
/* The same, and the store has it too: now, or when it has room again. */
void known_keep(front_t *front, minion_t *m, store_doc_t what, json_t *value);
/* Whether it is what this text says, as value_dump would write it. */
bool known_is(const minion_t *m, store_doc_t what, const char *text, size_t len);

#endif
