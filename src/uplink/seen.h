/* seen.h - the jobs that this minion has had: none runs twice, whichever of its masters sends it again.
 *
 * A minion has one record, kept by the job server; each networking process starts with a copy. It holds the
 * newest LIMIT_JIDS_SEEN jids, in memory only: a job that still runs or whose return waits is known without
 * it. Jobs whose return another master stored than the one that asked are recorded apart, and over restarts
 * too (spool.h): the asking master sees no end of them and may send them long after; it is told instead.
 *
 * Layer      uplink
 * Threads    one
 * Tests      tests/unit/uplink/test_seen.c
 */
#ifndef UPLINK_SEEN_H
#define UPLINK_SEEN_H

#include "salt/base.h"

typedef struct seen seen_t;

seen_t *seen_new(void); /* NEW */
void seen_destroy(seen_t **self_p);
/* False: it was had before. */
bool seen_add(seen_t *self, const char *jid);

/* Records that another master than `asker` stored the job's return. A known jid is left as it is. */
void seen_elsewhere_add(seen_t *self, const char *jid, const char *asker);
bool seen_is_elsewhere(const seen_t *self, const char *jid);
/* NEW array of at most `max` jids of this asker: the newest of them, oldest first. */
json_t *seen_elsewhere(const seen_t *self, const char *asker, size_t max);
/* NEW array of [jid, asker], oldest first, for the spool. */
json_t *seen_dump(const seen_t *self);
/* Takes a dump back; entries that are not such pairs are skipped. NULL is allowed. */
void seen_restore(seen_t *self, const json_t *dump);

#endif
