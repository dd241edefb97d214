/* outbox.h - returns and events that no master has acknowledged: kept, sent when somebody listens, sent again
 * when it is time.
 *
 * Returns lie in the spool (spool.h), and events while nobody listens or as soon as a return comes after
 * them; all go out in the order in which they came, and each return to the master that asked for it, also
 * after this process was killed. Only so many bytes are on their way at one time, so that a full spool costs
 * neither process its memory; each acknowledgement lets the next ones go.
 *
 * Layer      minion
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
/* One frame on its way down: {"t": "ret", master, ret} or {"t": "event", n, tag, data, grains?}. */
typedef void outbox_send_fn(void *cookie, const json_t *frame);

/* TAKES *spool_p, whose returns wait from the start. */
outbox_t *outbox_new(spool_t **spool_p, outbox_send_fn *send, void *cookie);
void outbox_destroy(outbox_t **self_p);
/* Under which name masters know the numbers of events: that of this start. It becomes that of a start
 * before, if events of that one wait: so a master takes none twice. 0, or a negative errno: which numbers
 * were used can't be read now. */
int outbox_series(outbox_t *self, char series[LIMIT_BOOT], fail_t *err);
/* A return for a master that is away goes to any other after this time; 0: never. */
void outbox_patience(outbox_t *self, int64_t away_ms);

/* The masters that there are: {name: index}, BORROWED. A return for one that is not among them is anybody's. */
void outbox_masters(outbox_t *self, json_t *masters);

/* A return for one master by its name, or for all (NULL). It is on the disk afterwards if that is possible
 * at all. */
void outbox_return(outbox_t *self, json_t *ret, const char *asker);
/* `grains`: beside the data, for the start event; NULL: none. False: dropped, because no message may hold it,
 * or too many or too large ones wait already. */
bool outbox_event(outbox_t *self, const char *tag, json_t *data, json_t *more);
/* Stored by a master: lists of jids and of events' numbers; either may be NULL. */
void outbox_acked(outbox_t *self, const json_t *jids, const json_t *events);

/* A master listens now: what waits goes out, from the beginning. */
void outbox_listens(outbox_t *self, int master);
/* It does not any more; -1: nobody does. */
void outbox_deaf(outbox_t *self, int master);
bool outbox_is_heard(const outbox_t *self);   /* at least one does */
int64_t outbox_deaf_ms(const outbox_t *self); /* monotonic: since when nobody does; 0: somebody does */
/* Sends again what stayed without an answer for long, and tries the disk again. */
void outbox_tick(outbox_t *self, int64_t now_ms);
/* When outbox_tick wants to be called next, in monotonic ms; 0: when something happens. */
int64_t outbox_next_ms(const outbox_t *self);

/* NEW {jid: its asker, or null}: the returns that wait, oldest first. */
json_t *outbox_pending(const outbox_t *self);
/* Whose return waits under this jid: BORROWED; NULL: none, or any master's. */
const char *outbox_asker(const outbox_t *self, const char *jid);
bool outbox_has(const outbox_t *self, const char *jid); /* its return waits */
size_t outbox_len(const outbox_t *self);                /* returns and events */
bool outbox_full(const outbox_t *self);
spool_t *outbox_spool(outbox_t *self); /* BORROWED, for the marks of running jobs */

#endif
