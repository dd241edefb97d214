/* sessions.h - the minion's networking process: one session per master, no modules, no files but the master's
 * key.
 *
 * Forked by the job server, which it talks to over a socketpair with frames (common/local/client.h):
 *   up    {"t": "job", master, job} {"t": "ack", jids, events} {"t": "state", master, state, reason}
 *   down  {"t": "ret", master, ret} {"t": "event", n, tag, data, more?} {"t": "grains", grains} {"t":
 * "started", master, jid, pid}
 *         {"t": "pillar_ask", master, body}, answered by {"t": "pillar", master, body}
 *         {"t": "ask", id, master, ask} (download.h), answered by {"t": "answer", id, answer}  {"t":
 * "cancel", id}
 *         {"t": "known", jids}  {"t": "ping"}, answered by {"t": "pong"}  {"t": "quit"}
 * `master` is an index; -1 means every master.
 *
 * Layer      minion
 * Threads    one, beside libzmq's
 * Tests      tests/t
 */
#ifndef MINION_SESSIONS_H
#define MINION_SESSIONS_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* One entry of the option `master`: "host", "host:port", "[v6]:port". False when it is none of these. */
bool master_parse(const char *text, int default_port, char host[256], int *ret_port);
/* NEW array of {host, port} from the option (text or list), or NULL with *err; empty: no master is wanted. */
json_t *masters_parse(const conf_t *conf, fail_t *err);

/* Runs until told to quit or until the job server is gone; the process's exit code. */
int sessions_main(const conf_t *conf, const char *boot, int fd);

#endif
