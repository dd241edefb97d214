/* lsock.c - the local socket: accepts operators, identifies them by SO_PEERCRED, looks their names up in a
 * thread, and drives an epoll set whose descriptor the front loop polls. lconn.c is a single connection.
 *
 * When descriptors run out, a spare one is given up to accept and close those who have waited for FULL_MS, so
 * that the queue moves. Half of the places are reserved for administrators. */
#include "master/operators/lsock_int.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "master/operators/acl.h"
#include "master/minions/gate.h"
#include "master/front/hooks.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "master/store/storage.h"
#include "master/operators/username.h"
#include "salt/log.h"

#define ACCEPT_BUDGET  64 /* connections accepted per turn */
#define LISTEN_BACKLOG 512
#define FULL_MS        2000 /* time that a client waits at least when no descriptor is left */

static lsock_t *
lsock_own(const front_t *front)
{
    return front->own[PART_lsock];
}

void
lsock_serve(front_t *front, const lsock_server_t *server)
{
    lsock_own(front)->server = server;
}

/* ---- names of users -------------------------------------------------------------------------- */

/* Look up one name at a time, the oldest first. If the service hangs, other users wait; root and the master's
 * user are known without it. */
static void
lsock_ask_next(lsock_t *self)
{
    lconn_t *first = NULL;
    self->asks = false;
    for (lconn_t *c = self->name_fd < 0 ? self->conns : NULL; c; c = c->next)
        if (c->asking && !c->dead)
            first = c; /* new connections are added at the head */
    if (first == NULL)
        return;
    int fd = username_ask(first->uid);
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &self->name_fd };
    if (fd >= 0 && epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0) {
        self->name_fd = fd;
        self->name_uid = first->uid;
        return;
    }
    noise_warn(self->front,
               "local socket: %s is turned away: no descriptor or thread is left to ask for its name",
               first->user);
    lconn_kill(first);
    if (fd >= 0)
        (void) close(fd);
}

/* The name is there: it applies to all waiting connections of that uid. */
static void
lsock_named(lsock_t *self)
{
    uid_t uid = self->name_uid;
    int fd = self->name_fd;
    self->name_fd = -1;
    (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    AUTO_FREE char *name = username_take(fd, uid);
    for (lconn_t *c = self->conns; c; c = c->next) {
        if (!c->asking || c->uid != uid)
            continue;
        free(c->user);
        c->user = xstrdup(name);
        c->named = true;
        c->asking = false;
        lconn_poll(c);
        if (!c->dead)
            lconn_frames(c);
    }
    lsock_ask_next(self);
}

/* ---- the connections -------------------------------------------------------------------------- */

/* Send the answers that were collected during the turn. */
static void
lsock_answer(lsock_t *self)
{
    if (!self->due)
        return;
    self->due = false;
    for (lconn_t *c = self->conns; c; c = c->next) {
        bool due = c->due && !c->dead && !c->want_write;
        c->due = false;
        if (due)
            lconn_flush(c);
    }
}

/* Unlink and free a connection; before that, parts drop their pointers to it (hook_line_closed). */
static void
lsock_close(lconn_t *c)
{
    lsock_t *self = c->owner;
    hook_line_closed(self->front, c);
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        self->conns = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
    self->n_conns--;
    self->n_listeners -= c->listener != NULL ? 1 : 0;
    self->n_paused -= c->paused ? 1 : 0;
    listener_destroy(&c->listener);
    catchup_destroy(&c->behind);
    /* Remove from epoll explicitly: a child process before its exec still holds the descriptor, so closing
     * alone would not. */
    (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    (void) close(c->fd);
    buf_free(&c->in);
    buf_free(&c->out);
    json_decref(c->as);
    free(c->user);
    free(c);
}

/* ---- accepting -------------------------------------------------------------------------------- */

/* Poll the listening socket, or stop. */
static void
lsock_listen(lsock_t *self, bool yes)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };
    int rc = epoll_ctl(self->epoll_fd, yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, self->listen_fd, &ev);
    self->paused = !yes || rc != 0; /* the next tick tries again */
}

/* Give up the spare descriptor for a moment; another thread may take it meanwhile. */
static void
lend_spare(lsock_t *self)
{
    (void) close(self->spare_fd);
    self->spare_fd = -1;
}

static void
keep_spare(lsock_t *self)
{
    self->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool
credentials(int fd, struct ucred *ret_who)
{
    socklen_t n = sizeof(*ret_who);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_who, &n) == 0;
}

/* True for a mark. A stale mark, or a runner's aborted connection, ends a round early, which only makes
 * others wait longer. */
static bool
lsock_is_mark(int fd)
{
    struct ucred who;
    char byte;
    return credentials(fd, &who) && who.pid == getpid() && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* No descriptor is left: accept and close one client that has waited for FULL_MS, up to the mark; without
 * a mark, the first only. False: nobody has, or even that failed. accept4 also fails so with an empty
 * backlog. */
static bool
turn_away(lsock_t *self, bool knocks)
{
    if (self->spare_fd < 0)
        return false;
    int64_t now = clock_mono_ms();
    if (knocks && !self->full_ms) {
        self->full_ms = now;

        /* The kernel tells neither how long clients have waited in the backlog nor how many. So queue a
         * connection of our own, closed at once: all before it have waited since now. False: the backlog
         * is full. */
        struct sockaddr_un addr = { .sun_family = AF_UNIX };
        (void) str_copy(addr.sun_path, sizeof(addr.sun_path), self->path);
        lend_spare(self);
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        bool marked = fd >= 0 && connect(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0;
        if (fd >= 0)
            (void) close(fd);
        keep_spare(self);
        self->marked = marked;

        return false;
    }
    if (!self->full_ms || now - self->full_ms < FULL_MS)
        return false;
    lend_spare(self);
    int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    bool empty = fd < 0 && errno == EAGAIN, mark = fd >= 0 && lsock_is_mark(fd);
    if (fd >= 0)
        (void) close(fd);
    keep_spare(self);
    if (fd >= 0 && !mark)
        noise_warn(
            self->front,
            "local socket: no descriptor is left, an operator is turned away; raise the limit of open files");
    if (empty || mark || (fd >= 0 && !self->marked))
        self->full_ms = 0;
    return fd >= 0;
}

/* Users get half of all places, and of the descriptors reserved from minions: administrators always find
 * one. */
static size_t
users_places(const lsock_t *self)
{
    size_t reserve = (size_t) gate_reserve(self->front);
    return (reserve < LIMIT_LOCAL_CLIENTS ? reserve : LIMIT_LOCAL_CLIENTS) / 2;
}

static bool
may_come(lsock_t *self, uid_t uid)
{
    size_t own = 0, users = 0;
    if (self->n_conns >= LIMIT_LOCAL_CLIENTS)
        return false;
    if (lsock_is_admin(uid))
        return true;
    for (const lconn_t *c = self->conns; c; c = c->next) {
        own += lconn_is_kin(c, uid, NULL);
        users += !lconn_is_admin(c);
    }
    return own < LIMIT_LOCAL_USER_LINES && users < users_places(self);
}

/* Accept up to ACCEPT_BUDGET clients; those beyond their share are closed at once. */
static void
lsock_accept(lsock_t *self)
{
    for (int i = 0; i < ACCEPT_BUDGET; i++) {
        int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
            return;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && turn_away(self, i == 0))
            continue;
        if (fd < 0) {
            /* Clients stay in the backlog; stop listening, or the loop would spin. */
            lsock_listen(self, false);
            return;
        }
        self->full_ms = 0;
        struct ucred cred;
        if (credentials(fd, &cred) && may_come(self, cred.uid)) {
            /* Add a connection. Administrators' names are known; other users start with their uid as name. */
            lconn_t *c = xcalloc(1, sizeof(*c));
            c->owner = self;
            c->fd = fd;
            c->uid = cred.uid;
            c->pid = cred.pid;
            c->named = lsock_is_admin(cred.uid);
            c->user = !c->named ? xasprintf("%u", (unsigned) cred.uid)
                                : xstrdup(cred.uid == 0 ? self->root_name : self->own_name);
            c->next = self->conns;
            if (c->next != NULL)
                c->next->prev = c;
            self->conns = c;
            self->n_conns++;
            struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
            if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) != 0) {
                noise_warn(self->front, "local socket: %s is turned away: %s", c->user, strerror(errno));
                lsock_close(c);
            }

            continue;
        }
        noise_warn(self->front, "local socket: %zu connections are open, one more is turned away",
                   self->n_conns);
        (void) close(fd);
    }
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* Connections are freed only at the end, as handlers may kill any. */
static void
lsock_readable(front_t *front)
{
    lsock_t *self = lsock_own(front);
    struct epoll_event events[LSOCK_BATCH];
    int n = epoll_wait(self->epoll_fd, events, LSOCK_BATCH, 0);
    self->n_shares = 0;
    bus_hold(self->front);
    for (int i = 0; i < n; i++) {
        lconn_t *c = events[i].data.ptr;
        if (c == NULL) {
            lsock_accept(self);
            continue;
        }
        if (events[i].data.ptr == &self->name_fd) {
            lsock_named(self);
            continue;
        }
        if (!c->dead && events[i].events & EPOLLOUT)
            lconn_flush(c);
        if (!c->dead && c->waits)
            lconn_frames(c);
        else if (!c->dead && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            lconn_read(c);
    }
    if (self->asks)
        lsock_ask_next(self);
    bus_release(self->front);
    for (lconn_t *c = self->conns, *next; c; c = next) {
        next = c->next;
        if (c->dead)
            lsock_close(c);
    }
}

/* Retry what failed for lack of resources (polls, name lookups, listening), and replays that waited for
 * room. */
static void
lsock_tick(front_t *front, int64_t now_ms)
{
    lsock_t *self = lsock_own(front);
    bool again = self->unpolled;
    self->unpolled = false;
    lsock_ask_next(self);
    for (lconn_t *c = self->conns; c; c = c->next) {
        if (again)
            lconn_poll(c);
        if (c->behind != NULL && !c->want_write && !c->dead)
            lconn_flush(c);
    }
    if (!self->paused)
        return;
    if (self->spare_fd < 0)
        keep_spare(self);
    lsock_listen(self, true);
}

/* Mode of the socket file: 0660, or 0666 when publisher_acl names users or others may log in; each request is
 * checked. */
static mode_t
lsock_mode(const lsock_t *self)
{
    return acl_is_open(self->front) ? 0666 : 0660;
}

/* Users who are no longer in publisher_acl are disconnected. */
static void
lsock_reload(front_t *front)
{
    lsock_t *self = lsock_own(front);
    (void) chmod(self->path, lsock_mode(self));
    for (lconn_t *c = self->conns; c; c = c->next) {
        if (!c->named || c->dead || self->server->may_come(front, c))
            continue;
        log_info("local socket: %s is in publisher_acl no more; its connection is closed", c->user);
        lconn_kill(c);
    }
}

/* connect() first detects a running master; a stale socket file is removed. */
static int
lsock_bind(lsock_t *self, fail_t *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), self->path))
        return fail_set(err, -ENAMETOOLONG,
                        "%s: longer than a socket's name may be; set sock_dir to a shorter path", self->path);
    self->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->listen_fd < 0)
        return fail_set(err, -errno, "socket: %s", strerror(errno));
    if (connect(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr)) == 0 || errno == EAGAIN)
        return fail_set(err, -EADDRINUSE,
                        "%s: another master listens there; stop it, or give this one its own sock_dir",
                        self->path);
    (void) unlink(self->path);
    mode_t old = umask(0777 & ~lsock_mode(self));
    int rc = bind(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr));
    int code = errno;
    (void) umask(old);
    if (rc != 0 || listen(self->listen_fd, LISTEN_BACKLOG) != 0)
        return fail_set(err, -(rc ? code : errno), "%s: can't listen: %s", self->path,
                        strerror(rc ? code : errno));
    return 0;
}

/* ---- life ------------------------------------------------------------------------------------- */

static int
lsock_start(front_t *front, fail_t *err)
{
    lsock_t *self = lsock_own(front);
    const char *sock_dir = conf_str(front->conf, "sock_dir");
    self->front = front;
    self->path = fs_join(sock_dir, LOCAL_SOCKET_NAME);
    self->listen_fd = self->name_fd = -1;
    self->root_name = username_of(0);
    self->own_name = username_of(geteuid());
    keep_spare(self);
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd < 0)
        (void) fail_set(err, -errno, "epoll: %s", strerror(errno));
    if (self->epoll_fd < 0 || fs_own_dir(sock_dir, 0755, err) < 0 || lsock_bind(self, err) < 0) {
        /* Another master's socket file must stay. */
        free(STEAL(self->path));
        return err->code;
    }
    lsock_listen(self, true);
    return 0;
}

static void
lsock_close_fd(int *fd)
{
    if (*fd >= 0)
        (void) close(*fd);
    *fd = -1;
}

/* Close connections before other parts end, so that clients and runners waiting for answers notice. */
static void
stop(front_t *front)
{
    lsock_t *self = lsock_own(front);
    while (self->conns != NULL)
        lsock_close(self->conns);
    if (self->path != NULL)
        (void) unlink(self->path);
    lsock_close_fd(&self->listen_fd);
    lsock_close_fd(&self->spare_fd);
    lsock_close_fd(&self->name_fd);
    lsock_close_fd(&self->epoll_fd);
}

static bool
lsock_destroy(front_t *front)
{
    lsock_t *self = lsock_own(front);
    free(self->root_name);
    free(self->own_name);
    free(self->path);
    return true;
}

static int
lsock_fd(const front_t *front)
{
    return lsock_own(front)->epoll_fd;
}

static void
turn_ended(front_t *front, bool events)
{
    lsock_answer(lsock_own(front));
    if (events) {
        /* Send new events to every listener that does not wait for its socket already. */
        lsock_t *self = lsock_own(front);
        for (lconn_t *c = self->n_listeners > 0 ? self->conns : NULL; c; c = c->next)
            if (c->listener != NULL && c->begun && !c->want_write && !c->dead)
                lconn_flush(c);
    }
}

/* Hook: the journal may have room again for paused clients, and listeners get events whose numbers are
 * granted now. */
static void
lsock_committed(front_t *front)
{
    bus_due(front);
    bus_hold(front);

    /* Read paused connections again once the journal has room. Runs from a hook whose caller holds no
     * pointers that a request could free, such as a minion or worker. */
    lsock_t *self = lsock_own(front);
    if (self->n_paused != 0 && !(storage_trouble(self->front) == NULL &&
                                 store_waiting(self->front->store) > LIMIT_EVENTS_WAITING / 2)) {
        for (lconn_t *c = self->conns; c; c = c->next) {
            if (!c->paused)
                continue;
            c->paused = false;
            self->n_paused--;
            lconn_poll(c);
            lconn_frames(c);
        }
    }

    bus_release(front);
}

static void
lsock_status(front_t *front, json_t *reply)
{
    json_object_set_new(reply, "listeners", json_integer((json_int_t) lsock_own(front)->n_listeners));
}

const front_part_t part_lsock = { .name = "lsock",
                                  .size = sizeof(lsock_t),
                                  .start = lsock_start,
                                  .stop = stop,
                                  .destroy = lsock_destroy,
                                  .reload = lsock_reload,
                                  .tick = lsock_tick,
                                  .fd = lsock_fd,
                                  .readable = lsock_readable,
                                  .committed = lsock_committed,
                                  .turn_ended = turn_ended,
                                  .status = lsock_status };
