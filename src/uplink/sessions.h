/* sessions.h - the minion's networking process: one session per master, no modules, no files but the master's
 * key.
 *
 * Forked by the job server, which it talks to over a socketpair with frames (common/local/client.h):
 *   up    {"t": "job", master, asker, job} {"t": "ack", by, jids, events} {"t": "state", master, host, state, reason?}
 *         {"t": "why", master, host, reason}: still not connected, by what a look at the ports says
 *   down  {"t": "ret", master, ret} {"t": "event", n, tag, data, more?, oldest} {"t": "grains", grains} {"t":
 * "started", master, jid, pid}
 *         {"t": "again", master}: after that master's state "ready", before all that waits for it; events before that are left out
 *         {"t": "pillar_ask", master, body}, answered by {"t": "pillar", master, body}
 *         {"t": "ask", id, master, ask} (download.h), answered by {"t": "answer", id, answer}  {"t":
 * "cancel", id}
 *         {"t": "ping"}, answered by {"t": "pong"}  {"t": "quit"}
 * `master` is an index; -1 means every master. `asker` and `by` are names of one, which hold over restarts.
 *
 * Layer      minion
 * Threads    one, beside libzmq's
 * Tests      tests/t
 */
#ifndef UPLINK_SESSIONS_H
#define UPLINK_SESSIONS_H

#include "common/conf/conf.h"
#include "uplink/seen.h"
#include "salt/base.h"

/* What the networking process begins with. All is BORROWED. */
typedef struct sessions_begin {
    const char *boot, *series; /* as in session.h */
    seen_t *seen;              /* the jobs that this minion has had */
    json_t *pending; /* {jid: who asked, or null} of those that run or whose returns wait; it is changed */
} sessions_begin_t;

/* Runs until told to quit or until the job server is gone; the process's exit code. */
int sessions_main(const conf_t *conf, const sessions_begin_t *begin, int fd);

#endif
