/* netproc.h - the networking process as its owner sees it: forked, watched, forked again when it ends, and the
 * line of frames (common/local/client.h) between the two.
 *
 * The owner has no thread and no socket of libzmq, so that it may fork at any time; the process has both.
 * One that says nothing any more, though it is asked ({"t": "ping"}), is ended: another one takes its place. The
 * owner reaps its children, this one among them.
 *
 * Layer      minion
 * Threads    one; `run` is the child's
 * Ownership  callbacks get BORROWED values
 * Tests      tests/unit/uplink/test_netproc.c
 */
#ifndef UPLINK_NETPROC_H
#define UPLINK_NETPROC_H

#include "salt/base.h"

typedef struct netproc netproc_t;

typedef struct netproc_env {
    /* In the child, with its end of the line. The child leaves netproc_tick after it, and must get out of the
     * owner's loop: what it has is a copy. */
    void (*run)(void *cookie, int fd);
    void (*up)(void *cookie); /* a new process is there */
    void (*frame)(void *cookie, json_t *frame);
    void (*down)(void *cookie); /* it is not any more */
    void *cookie;
} netproc_env_t;

/* NEW. The first process is started by netproc_tick, not before this moment (monotonic; 0: at once). */
netproc_t *netproc_new(const netproc_env_t *env, int64_t first_ms);
/* Ends the process, if this is its owner. */
void netproc_destroy(netproc_t **self_p);

bool netproc_is_up(const netproc_t *self);
void netproc_send(netproc_t *self, const json_t *frame); /* to nobody, when it is down */

void netproc_tick(netproc_t *self, int64_t now_ms);
int64_t netproc_next_ms(const netproc_t *self);        /* monotonic; 0: at once */
int netproc_fd(const netproc_t *self, short *ret_ask); /* and poll's events; -1: none */
void netproc_ready(netproc_t *self, short events);

#endif
