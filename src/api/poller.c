/* poller.c - see poller.h. */
#include "api/poller.h"

#include <unistd.h>

enum { AT_ONCE = 256 };

struct poller {
    int fd;
    struct epoll_event ready[AT_ONCE];
    int n_ready, at; /* of the turn that is under way */
};

poller_t *
poller_new(fail_t *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);

    if (fd < 0) {
        fail_set(err, -errno, "epoll_create1: %s", strerror(errno));
        return NULL;
    }
    poller_t *self = xcalloc(1, sizeof(*self));
    self->fd = fd;
    return self;
}

void
poller_destroy(poller_t **self_p)
{
    poller_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    (void) close(self->fd);
    free(self);
}

static int
poller_control(poller_t *self, int op, watch_t *watch, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = watch };

    return epoll_ctl(self->fd, op, watch->fd, &event) == 0 ? 0 : -errno;
}

int
poller_add(poller_t *self, watch_t *watch, uint32_t events)
{
    return poller_control(self, EPOLL_CTL_ADD, watch, events);
}

int
poller_change(poller_t *self, watch_t *watch, uint32_t events)
{
    return poller_control(self, EPOLL_CTL_MOD, watch, events);
}

/* Also forgets what is ready and was not told yet, so that nobody is called who has been freed. */
void
poller_remove(poller_t *self, watch_t *watch)
{
    (void) poller_control(self, EPOLL_CTL_DEL, watch, 0);
    for (int i = self->at; i < self->n_ready; i++)
        if (self->ready[i].data.ptr == watch)
            self->ready[i].data.ptr = NULL;
}

int
poller_turn(poller_t *self, int timeout_ms)
{
    int n = epoll_wait(self->fd, self->ready, AT_ONCE, timeout_ms);

    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    self->n_ready = n;
    for (self->at = 0; self->at < self->n_ready; self->at++) {
        watch_t *watch = self->ready[self->at].data.ptr;
        if (watch != NULL)
            watch->fn(watch->cookie, self->ready[self->at].events);
    }
    self->n_ready = self->at = 0;
    return 0;
}
