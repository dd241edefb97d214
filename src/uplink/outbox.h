/* outbox.h - the queue of returns and events that no master has acknowledged.
 *
 * Returns are on disk (spool.h) before they are sent. Events are written while no master is connected, and
 * when a return is queued after them, which may be of the job that fired them. Both are sent in the order in which
 * they came, each return to the master that asked for the job, also after a restart. Events of beacons keep their
 * order among each other; everything else goes before those that wait. At most LIMIT_UNDER_WAY bytes are unacknowledged at a
 * time, so a full spool costs neither process its memory; each acknowledgement sends the next. What stays
 * unacknowledged for 30 s is sent again, with the interval doubling up to 10 minutes: delivery is at least
 * once, and masters drop copies by jid or event number.
 *
 * Layer      uplink
 * Threads    the job server's
 * Ownership  what is sent is BORROWED by the callback
 * Errors     a full disk keeps returns in memory up to LIMIT_UNSPOOLED; then outbox_full() is true, and new
 *            jobs are refused
 * Tests      tests/unit/uplink/test_outbox.c
 */
#ifndef UPLINK_OUTBOX_H
#define UPLINK_OUTBOX_H

#include "uplink/spool.h"
#include "salt/base.h"
#include "salt/limits.h"

typedef struct outbox outbox_t;
/* Sends one frame to the networking process: {"t": "ret", master, jid} with the return, or {"t": "event", n,
 * oldest, tag, data, ...} with NULL; `oldest` is the lowest event number that still waits here. */
typedef void outbox_send_fn(void *cookie, const json_t *frame, const jobret_t *ret);

/* TAKES *spool_p, whose returns wait from the start. */
outbox_t *outbox_new(spool_t **spool_p, outbox_send_fn *send, void *cookie);
void outbox_destroy(outbox_t **self_p);
/* The name under which masters know this minion's event numbers, `series` being that of this start. When
 * events of an earlier start wait, that start's name is taken over and written to `series`, and numbering
 * goes on behind its reserve: so no master takes an event twice. 0, or a negative errno: the numbers used so
 * far can't be read now. */
int outbox_series(outbox_t *self, char series[LIMIT_BOOT], fail_t *err);
/* Redirects a return to any connected master after its own was away for `away_ms`; 0: never. */
void outbox_patience(outbox_t *self, int64_t away_ms);

/* The configured masters, {name: index}, BORROWED. A return for a master that is not among them goes to
 * any. */
void outbox_masters(outbox_t *self, json_t *masters);

/* Queues a return for the master named `asker`, or for any (NULL). It replaces one with the same jid. On
 * return it is on disk, or in memory when the disk refuses it. TAKES *ret_p. */
void outbox_return(outbox_t *self, jobret_t **ret_p, const char *asker);
/* Queues an event. The members of `more` travel beside the data (the start event's grains); NULL: none.
 * False: dropped, because it exceeds the message limits or LIMIT_EVENTS_KEPT(_BYTES) wait already; of a beacon, nine
 * tenths of that. */
bool outbox_event(outbox_t *self, const char *tag, json_t *data, json_t *more);
/* The same for an event of a beacon, whose data the master takes as the event's own. */
bool outbox_beacon(outbox_t *self, const char *tag, json_t *data);
/* Removes what a master has stored: lists of jids and of event numbers; either may be NULL. Unknown ones are
 * ignored. */
void outbox_acked(outbox_t *self, const json_t *jids, const json_t *events);

/* Master `master` (an index) is connected: everything it may take is sent again from the first. */
void outbox_connected(outbox_t *self, int master);
/* Master `master` is disconnected; -1: all are. */
void outbox_disconnected(outbox_t *self, int master);
bool outbox_is_heard(const outbox_t *self);   /* at least one is connected */
int64_t outbox_deaf_ms(const outbox_t *self); /* monotonic: since when none is connected; 0: one is */
/* Sends again what stayed unacknowledged, redirects returns, and retries the disk. */
void outbox_tick(outbox_t *self, int64_t now_ms);
/* When outbox_tick is due, in monotonic ms; 0: not before the next call of another function. */
int64_t outbox_next_ms(const outbox_t *self);

/* NEW {jid: asker, or null}: the returns that wait, oldest first. */
json_t *outbox_pending(const outbox_t *self);
/* BORROWED name of the master that a waiting return is for; NULL: none waits under this jid, or any master
 * may take it. */
const char *outbox_asker(const outbox_t *self, const char *jid);
bool outbox_has(const outbox_t *self, const char *jid); /* its return waits */
size_t outbox_len(const outbox_t *self);                /* returns and events */
size_t outbox_returns(const outbox_t *self);
bool outbox_full(const outbox_t *self);
spool_t *outbox_spool(outbox_t *self); /* BORROWED, for the marks of running jobs */

#endif
