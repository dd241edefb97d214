/* seen.h - jobs that this minion has had: none runs twice, whichever of its masters sends it again.
 *
 * One record per minion: it is the job server's, and each networking process begins with a copy of it. It
 * holds the newest LIMIT_JIDS_SEEN; a job that still runs, or whose return waits, is known without it. Of a
 * job whose return another master has than the one that asked, that one knows no end and may send it long
 * after: as many of these are known by themselves, over restarts too (spool.h), and the one that asked is
 * told.
 *
 * Layer      minion
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

/* Another master than `asker` has its return. */
void seen_elsewhere_add(seen_t *self, const char *jid, const char *asker);
bool seen_is_elsewhere(const seen_t *self, const char *jid);
/* NEW array: of this asker's the newest, the oldest of them first. */
json_t *seen_elsewhere(const seen_t *self, const char *asker, size_t max);
/* NEW array of [jid, asker], the oldest first; and the same taken back. What is no such pair is passed over. */
json_t *seen_dump(const seen_t *self);
void seen_restore(seen_t *self, const json_t *dump);

#endif
