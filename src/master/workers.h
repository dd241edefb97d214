/* workers.h - runner and wheel functions, each in an actor.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/unit/master/test_front.c, tests/t/7000-runners.bats
 */
#ifndef MASTER_WORKERS_H
#define MASTER_WORKERS_H

#include "master/front.h"

workers_t *workers_new(front_t *front, const char *sock_dir, const char *store_path, fail_t *err);
/* Waits a moment for functions under way, and keeps what became of each; false when one goes on all the same. */
bool workers_destroy(workers_t **self_p);
/* The verdict on functions that a killed master had begun. */
void workers_restore(workers_t *self);
void workers_tick(workers_t *self);   /* functions for whose worker there was no descriptor */
void workers_reload(workers_t *self); /* the configuration changed */
/* Run a runner's or wheel's function, once rows that were queued before are committed; its end is an event
 * and, for a `follower`, a push. NEW reply {jid, tag}. */
json_t *workers_run(workers_t *self, bool wheel, const json_t *request, const char *user, lconn_t *follower,
                    fail_t *err);
json_t *
workers_active(const workers_t *self); /* NEW: [{jid, fun, arg, user, ...}] of runner functions under way */
void workers_unfollow(workers_t *self, lconn_t *follower);
/* Follow a function that an earlier request began: its end is pushed, at once when it has ended. */
void workers_follow(front_t *front, const char *jid, lconn_t *follower);
/* Tell those who follow it how far a function is. */
void workers_progress(workers_t *self, const json_t *request);

#endif
