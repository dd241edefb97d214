/* reactor.h - the reactor: a thread that listens to the bus and does what files say to events.
 *
 *   reactor.c         the front loop's side: start, reload, the operation `reactor`
 *   reactor_loop.c    the thread: events in their order, catching up, the cursor
 *   reactor_render.c  actors that render files
 *   reactor_work.c    reactions on their way: what requires what, limits, answers
 *   reactor_kin.c     which reaction descends from which
 *
 * Layer      master
 * Threads    the front loop's; the thread is inside
 * Ownership  said per function
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MASTER_REACTOR_H
#define MASTER_REACTOR_H

#include "master/front.h"

/* NEW. A thread runs from the first file that reacts to anything on. */
reactor_t *reactor_new(front_t *front, const char *sock_dir, const char *store_path);
/* The local socket must be closed before. False when a template still renders: its thread uses what it was
 * given until the process ends. */
bool reactor_destroy(reactor_t **self_p);
/* The configuration changed: it is what reacts from now on. */
void reactor_reload(reactor_t *self);
/* The operation `reactor`: NEW reply, or NULL with *err. */
json_t *reactor_request(reactor_t *self, const json_t *request, fail_t *err);
/* What came of the request of a function that runs as `parent`: a job or another function (its jid; "":
 * none), and the events of these numbers. None of them may have been told on the bus yet. */
void reactor_begot(reactor_t *self, const char *parent, const char *jid, uint64_t first, uint64_t last);
/* Events up to this one are not looked at again, not even after a crash. */
uint64_t reactor_settled(const reactor_t *self);
/* For the status request: NEW {waiting, under_way, begun, failed, seq, leader}. */
json_t *reactor_figures(const reactor_t *self);

#endif
