/* hooks.h - report to all started parts what has happened. part.h says what each hook means and when it is
 * called; pointers are BORROWED for the call.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_parts.c
 */
#ifndef MASTER_FRONT_HOOKS_H
#define MASTER_FRONT_HOOKS_H

#include "master/front/front.h"
#include "master/minions/peers.h"

/* Minions and their connections. A peer that has left may still have messages on the way, one that has ended
 * has none: its entry is removed right after. */
void hook_peer_left(front_t *front, peer_t *peer);
void hook_peer_ended(front_t *front, peer_t *peer);
void hook_subscribed(front_t *front, const char *z85, int fd);
void hook_greeted(front_t *front, peer_t *peer);
void hook_connected(front_t *front, minion_t *m, const json_t *hello, bool rebooted);
void hook_disconnected(front_t *front, minion_t *m);
void hook_dismissed(front_t *front, minion_t *m);
/* All that parts keep of this id, and what an operator names of it, goes. */
void hook_forgotten(front_t *front, const char *id);
int hook_forget(front_t *front, minion_t *m, const char *what, fail_t *err); /* stops at the first failure */
/* Jobs: one is published, a return is stored (`job` NULL: of none that is under way). */
struct ret;
void hook_published(front_t *front, const job_t *job);
void hook_returned(front_t *front, const minion_t *m, const job_t *job, const struct ret *ret);
void hook_minion_event(front_t *front, const minion_t *m, const char *tag, const json_t *data, bool bare);
/* The store and the bus: rows are on the disk, the store began a new file, events are settled, a turn ends.
 */
void hook_committed(front_t *front);
void hook_renewed(front_t *front);
uint64_t hook_settled(const front_t *front); /* the lowest of all; UINT64_MAX: no part reads events */
void hook_turn_ended(front_t *front, bool events);
/* Work: a job has no open target any more, a runner or wheel function has returned `ret` (JSON). */
void hook_job_ended(front_t *front, const char *jid);
void hook_run_ended(front_t *front, const char *jid, const char *ret);
/* Operators: a connection closes, a function caused something, and replies to which each part adds its own.
 */
void hook_line_closed(front_t *front, lconn_t *c);
void hook_caused(front_t *front, const char *within, const char *jid, uint64_t first, uint64_t last);
void hook_status(front_t *front, json_t *reply);
void hook_active(front_t *front, json_t *reply);
void hook_figures(front_t *front, buf_t *out, bool minions);
int hook_names(front_t *front, lconn_t *c, const json_t *request,
               fail_t *err); /* stops at the first that is not 0 */

#endif
