/* sessions.h - the minion's networking process: one session per master, no modules, no files but the master's
 * key.
 *
 * Forked by the job server, to which it is connected by a socketpair that carries frames
 * (common/local/client.h):
 *   up    {"t": "job", master, asker, job}  {"t": "ack", by, jids, events}
 *         {"t": "state", master, host, state, reason?}
 *         {"t": "why", master, host, reason}: still not connected, and the cause
 *         {"t": "tell", tag, data}: an event to fire
 *   down  {"t": "ret", master, jid} and behind a NUL the return's message
 *         {"t": "event", n, tag, data, more?, oldest}  {"t": "grains", grains}
 *         {"t": "started", master, jid, pid}  {"t": "revoke", master, preserve_minion_cache}
 *         {"t": "again", master}: the job server's answer to that master's state "ready"; events that were
 *         queued before it are dropped, as the outbox sends them again
 *         {"t": "pillar_ask", master, body}, answered by {"t": "pillar", master} and behind a NUL the message
 *         {"t": "ask", id, master, ask} (download.h), answered by {"t": "answer", id, answer}
 *         {"t": "cancel", id}  {"t": "rekey"}  {"t": "ping"}, answered by {"t": "pong"}  {"t": "quit"}
 * `master` is an index; -1 means every master. `asker` and `by` are masters' names, which hold over restarts.
 *
 * Layer      uplink
 * Threads    one, beside libzmq's
 * Tests      tests/t
 */
#ifndef UPLINK_SESSIONS_H
#define UPLINK_SESSIONS_H

#include "common/conf/conf.h"
#include "uplink/seen.h"
#include "salt/base.h"

/* State that the networking process starts from. All is BORROWED. */
typedef struct sessions_begin {
    const char *boot, *series; /* as in session.h */
    seen_t *seen;              /* the jobs that this minion has had */
    const json_t *claim;       /* as in session.h */
    json_t *pending;           /* {jid: asker, or null}: jobs that run or whose returns wait; modified */
    size_t returns, events;    /* so many wait for a master */
} sessions_begin_t;

/* Runs until it is told to quit or the job server closes `fd`. Returns the process's exit code: 0, or 1 when
 * the keys or libzmq can't be set up. Closes `fd`. */
int sessions_main(const conf_t *conf, const sessions_begin_t *begin, int fd);

#endif
