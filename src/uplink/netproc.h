/* netproc.h - supervises the networking process: forks it, watches it, forks the next when it ends, and
 * carries frames (common/local/client.h) over a socketpair.
 *
 * The owner has no thread and no libzmq socket, so it may fork at any time; the networking process has both.
 * The networking process is pinged every 20 s, killed after 90 s of silence, and started again a second
 * later. The owner reaps its children, this process among them.
 *
 * Layer      uplink
 * Threads    one; `run` is the child's
 * Ownership  callbacks get BORROWED values
 * Tests      tests/unit/uplink/test_netproc.c
 */
#ifndef UPLINK_NETPROC_H
#define UPLINK_NETPROC_H

#include "salt/base.h"
#include "uplink/jobret.h"

typedef struct netproc netproc_t;

typedef struct netproc_env {
    /* Runs in the child, with its end of the socketpair. When it returns, netproc_tick() returns in the
     * child, which must leave the owner's loop: everything it has is a copy. */
    void (*run)(void *cookie, int fd);
    void (*up)(void *cookie); /* a new process was started */
    void (*frame)(void *cookie, json_t *frame);
    void (*down)(void *cookie); /* the process is gone */
    void *cookie;
} netproc_env_t;

/* NEW. netproc_tick() starts the first process, not before `first_ms` (monotonic; 0: at once). */
netproc_t *netproc_new(const netproc_env_t *env, int64_t first_ms);
/* Kills the process and waits for it, if this is its owner; in the child it only frees and closes. */
void netproc_destroy(netproc_t **self_p);

bool netproc_is_up(const netproc_t *self);
/* Sends a frame, with a return behind it unless `ret` is NULL; dropped while the process is down. */
void netproc_send(netproc_t *self, const json_t *frame, const jobret_t *ret);

void netproc_tick(netproc_t *self, int64_t now_ms);
int64_t netproc_next_ms(const netproc_t *self);        /* monotonic; 0: at once */
int netproc_fd(const netproc_t *self, short *ret_ask); /* and poll's events; -1: none */
void netproc_ready(netproc_t *self, short events);

#endif
