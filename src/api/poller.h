/* poller.h - waits for several descriptors and calls who watches the one that is ready.
 *
 * Layer      api
 * Threads    one
 * Ownership  a watch belongs to its user, who takes it off before freeing it; also from within a call
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_POLLER_H
#define API_POLLER_H

#include <sys/epoll.h>

#include "salt/base.h"

typedef struct poller poller_t;

/* `events` is epoll's mask: EPOLLIN, EPOLLOUT, EPOLLRDHUP, ... */
typedef void watch_fn(void *cookie, uint32_t events);
typedef struct watch {
    int fd;
    watch_fn *fn;
    void *cookie;
} watch_t;

poller_t *poller_new(fail_t *err); /* NEW, or NULL with *err */
void poller_destroy(poller_t **self_p);
/* The watch is kept by pointer. 0 or a negative errno. */
int poller_add(poller_t *self, watch_t *watch, uint32_t events);
int poller_change(poller_t *self, watch_t *watch, uint32_t events);
void poller_remove(poller_t *self, watch_t *watch);
/* Waits at most `timeout_ms` (-1: no limit) and calls the watches that are ready. 0 or a negative errno. */
int poller_turn(poller_t *self, int timeout_ms);

#endif
