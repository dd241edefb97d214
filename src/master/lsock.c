/* lsock.c - the local socket: accepts operators, knows their uid from the kernel, frames messages, and counts
 * what a slow listener misses instead of waiting for it. */
#include "master/listen.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "master/catchup.h"
#include "master/gate.h"
#include "master/username.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK     (64 * 1024)
#define READ_BUDGET    4 /* chunks per turn, so that one client can't keep the loop */
#define EPOLL_BATCH    64
#define ACCEPT_BUDGET  64 /* of those who knock, in one turn: whoever only knocks must not keep the loop */
#define LISTEN_BACKLOG 512
#define FULL_MS        2000 /* who knocks while no descriptor is left waits so long for one at least */
#define FLUSH_BUDGET   (1024 * 1024) /* bytes to one client in one turn, about */
#define EVENT_PIECES   64            /* that one call sends */
#define PUSH_TOGETHER  (64 * 1024)   /* answers that wait for the end of a turn */
#define USER_UNREAD    (64 * 1024)   /* answers that a user leaves unread and is still heard */
#define PROGRAM_MAX    32
#define IDLE_BUFFER    4096 /* what an idle connection's buffers may keep */

struct lconn {
    lsock_t *owner;
    lconn_t *prev, *next;
    int fd;
    uid_t uid;
    pid_t pid;
    char *user;                /* its number until its name is known */
    bool named;                /* it is */
    bool asking;               /* nothing is read from it until it is */
    char program[PROGRAM_MAX]; /* what the process called itself when it was first asked; "": not asked yet */
    buf_t in, out;
    size_t out_at;        /* first unsent byte of `out` */
    catchup_t *behind;    /* owned; NULL: it has what was there before it followed */
    listener_t *listener; /* owned; NULL: no events for it */
    bool begun;           /* they may be sent */
    bool due;             /* answers wait for the end of the turn */
    bool waits;           /* a request of a user's is there, and not its turn */
    bool want_write, paused, dead;
};

/* What a user has had in a turn, of whichever of its lines. */
typedef struct share {
    uid_t uid;
    bool asked;  /* a request */
    bool caught; /* a piece of what one of them follows */
} share_t;

struct lsock {
    front_t *front;
    int listen_fd, epoll_fd;
    int spare_fd; /* given up for a moment to turn somebody away when descriptors have run out */
    int name_fd;  /* of the question for a name that is under way, -1: none */
    uid_t name_uid;
    share_t shares[EPOLL_BATCH]; /* of this turn */
    size_t n_shares;
    char *own_name, *root_name;
    bool due;        /* somebody's answers wait for the end of the turn */
    int64_t full_ms; /* since when somebody waits for a descriptor; 0: nobody, or it is counted anew */
    bool marked;     /* behind those who have waited since then stands a mark */
    bool paused;     /* whoever knocks waits for lsock_tick */
    char chunk[READ_CHUNK];
    char *path;
    lconn_t *conns;
    size_t n_conns, n_listeners, n_paused;
};

static void
s_poll(lconn_t *c)
{
    struct epoll_event ev = { .events = (c->paused || c->asking || c->waits ? 0 : EPOLLIN) |
                                        (c->want_write || (c->waits && !c->paused && !c->asking) ? EPOLLOUT
                                                                                                 : 0),
                              .data.ptr = c };
    (void) epoll_ctl(c->owner->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev);
}

static void
s_watch(lconn_t *c, bool write)
{
    if (c->want_write == write)
        return;
    c->want_write = write;
    s_poll(c);
}

/* The end of a connection: the hang-up that follows brings s_ready, which frees it. */
static void
s_kill(lconn_t *c)
{
    c->dead = true;
    (void) shutdown(c->fd, SHUT_RDWR);
}

static void
s_shrink(buf_t *b)
{
    if (b->len == 0 && b->cap > IDLE_BUFFER)
        buf_free(b);
}

static size_t
s_unread(const lconn_t *c)
{
    return c->out.len - c->out_at;
}

/* Of the other lines of its user. */
static size_t
s_unread_beside(const lconn_t *c)
{
    size_t n = 0;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        n += other != c && other->uid == c->uid && !other->dead ? s_unread(other) : 0;
    return n;
}

/* Replies and returns are never dropped: whoever lets so many pile up is not reading at all. A user's lines count together,
 * and one that is read is not to blame. */
static bool
s_is_deaf(const lconn_t *c)
{
    size_t n = s_unread(c);
    if (!lconn_is_admin(c) && n > USER_UNREAD)
        n += s_unread_beside(c);
    return n > LIMIT_LOCAL_QUEUE + LIMIT_LOCAL_MSG;
}

/* What waits in `out`. False when not all could be sent now. */
static bool
s_send_out(lconn_t *c)
{
    while (c->out_at < c->out.len && !c->dead) {
        ssize_t n = send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            c->out_at += (size_t) n;
        } else if (errno != EINTR) {
            if (errno != EAGAIN)
                s_kill(c);
            return false;
        }
    }
    buf_clear(&c->out);
    c->out_at = 0;
    return !c->dead;
}

/* Events out of memory: bytes sent, 0 when there are none; negative when no more can be sent, or found, now. */
static ssize_t
s_send_events(lconn_t *c)
{
    struct iovec iov[EVENT_PIECES];
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = listener_next(c->listener, iov, EVENT_PIECES) };
    size_t whole = 0;
    ssize_t n;
    for (size_t i = 0; i < msg.msg_iovlen; i++)
        whole += iov[i].iov_len;
    if (whole == 0)
        return listener_has_more(c->listener) ? -1 : 0;
    do
        n = sendmsg(c->fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0 && errno != EAGAIN)
        s_kill(c);
    if (n > 0)
        listener_sent(c->listener, iov, msg.msg_iovlen, (size_t) n, &c->out);
    return n == (ssize_t) whole ? n : -1;
}

/* NULL: too many users have had something in this turn. */
static share_t *
s_share(lsock_t *self, uid_t uid)
{
    for (size_t i = 0; i < self->n_shares; i++)
        if (self->shares[i].uid == uid)
            return &self->shares[i];
    if (self->n_shares == NELEMS(self->shares))
        return NULL;
    self->shares[self->n_shares] = (share_t){ .uid = uid };
    return &self->shares[self->n_shares++];
}

/* A piece may be a return of any size: a user has one in a turn, */
static bool
s_may_catch_up(lconn_t *c)
{
    if (lconn_is_admin(c))
        return true;
    share_t *share = s_share(c->owner, c->uid);
    if (!share || share->caught)
        return false;
    share->caught = true;
    return true;
}

/* and none while its other lines leave much unread: lsock_tick asks again. */
static bool
s_has_room(const lconn_t *c)
{
    return lconn_is_admin(c) || s_unread_beside(c) <= LIMIT_LOCAL_QUEUE;
}

/* True when there is more than could be sent now. */
static bool
s_send(lconn_t *c)
{
    if (c->listener)
        listener_turn(c->listener);
    for (ssize_t sent = 0, n; sent < FLUSH_BUDGET; sent += n) {
        if (!s_send_out(c))
            return true;
        if (c->behind) {
            if (!s_has_room(c))
                return false;
            if (!s_may_catch_up(c))
                return true;
            catchup_fill(&c->behind, c->owner->front, &c->out);
            n = (ssize_t) c->out.len;
            continue;
        }
        if (!c->listener || !c->begun || !numbers_may_tell(c->owner->front))
            return false;
        bool again = listener_fill(c->listener, &c->out);
        n = (ssize_t) c->out.len;
        if (n > 0)
            continue;
        if (again)
            return true;
        n = s_send_events(c);
        if (n <= 0)
            return n < 0;
    }
    return true;
}

static void
s_flush(lconn_t *c)
{
    bool more = s_send(c);
    s_shrink(&c->out);
    if (c->out_at > c->out.len / 2) {
        buf_consume(&c->out, c->out_at);
        c->out_at = 0;
    }
    s_watch(c, more && !c->dead);
}

/* What happened before a message comes before it, except out of the journal, what a user's turn is too short for, and more
 * than a user may leave unread: what the socket does not take now waits with the message. */
static void
s_events_first(lconn_t *c)
{
    struct iovec iov[EVENT_PIECES];
    size_t n;
    bool bounded = !lconn_is_admin(c);
    if (!c->listener || !c->begun)
        return;
    if (!c->want_write)
        s_flush(c);
    if (!listener_is_live(c->listener) || !numbers_may_tell(c->owner->front))
        return;
    (void) listener_fill(c->listener, &c->out);
    while (!(bounded && s_unread(c) > USER_UNREAD) &&
           (n = listener_next(c->listener, iov, EVENT_PIECES)) > 0) {
        size_t whole = 0;
        for (size_t i = 0; i < n; whole += iov[i++].iov_len)
            buf_add(&c->out, iov[i].iov_base, iov[i].iov_len);
        listener_sent(c->listener, iov, n, whole, &c->out);
    }
}

/* What was added to `out` since it had `before` bytes is a whole frame. */
static bool
s_pushed(lconn_t *c, size_t before)
{
    if (c->out.len - before > LIMIT_LOCAL_MSG) {
        c->out.len = before;
        return false;
    }
    if (s_is_deaf(c)) {
        log_warning("local socket: %s does not read its answers; the connection is closed", c->user);
        s_kill(c);
        return true;
    }
    /* Answers of one turn go together: whoever reads them wakes up once. */
    bool soon = c->owner->front->bus->held > 0 && s_unread(c) < PUSH_TOGETHER;
    if (!c->want_write && !soon)
        s_flush(c);
    else if (!c->want_write)
        c->due = c->owner->due = true;
    return true;
}

bool
lconn_push(lconn_t *c, const json_t *msg)
{
    if (c->dead)
        return true;
    s_events_first(c);
    size_t before = c->out.len;
    frame_add(&c->out, msg);
    return s_pushed(c, before);
}

bool
lconn_push_text(lconn_t *c, const char *text, size_t len)
{
    if (c->dead)
        return true;
    s_events_first(c);
    size_t before = c->out.len;
    frame_add_text(&c->out, text, len);
    return s_pushed(c, before);
}

bool
lconn_listen(lconn_t *c, const json_t *request, fail_t *err)
{
    if (c->listener)
        return listener_again(&c->listener, request, err);
    c->listener = listener_new(c->owner->front, request, !lconn_is_admin(c), err);
    c->owner->n_listeners += c->listener ? 1 : 0;
    return c->listener != NULL;
}

bool
lconn_may_match(const lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *tags = value_get(request, "tags");
    size_t n = tags ? json_array_size(tags) : 1;
    if (lconn_is_admin(c))
        return true;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        if (other != c && other->uid == c->uid && other->listener)
            n += listener_patterns(other->listener);
    if (n <= LIMIT_USER_TAGS)
        return true;
    (void) fail_set(
        err, -EUSERS,
        "with these %s would listen to %zu patterns of tags, over all connections, of which a user may "
        "have %d: ask for fewer",
        c->user, n, LIMIT_USER_TAGS);
    return false;
}

void
lconn_begin(lconn_t *c)
{
    c->begun = true;
    if (!c->want_write)
        s_flush(c);
}

void
lconn_catch_up(lconn_t *c, const char *jid)
{
    catchup_add(&c->behind, jid);
    if (!c->want_write && !c->dead)
        s_flush(c);
}

bool
lconn_catches_up(const lconn_t *c, const char *jid)
{
    return catchup_waits(c->behind, jid);
}

void
lconn_pause(lconn_t *c)
{
    c->owner->n_paused += c->paused ? 0 : 1;
    c->paused = true;
    s_poll(c);
}

bool
lconn_is_gone(const lconn_t *c)
{
    struct pollfd pfd = { .fd = c->fd };
    return c->dead || (poll(&pfd, 1, 0) > 0 && (pfd.revents & (POLLHUP | POLLERR)) != 0);
}

const char *
lconn_user(const lconn_t *c)
{
    return c->user;
}

/* Its name is its own word; the numbers are the kernel's. */
static void
s_ask_program(lconn_t *c)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/comm", (int) c->pid);
    buf_auto_t text = BUF_INIT;
    bool read = fs_read(path, PROGRAM_MAX, &text, NULL) == 0;
    (void) str_copy(c->program, sizeof(c->program), read ? buf_str(&text) : "?");
    c->program[strcspn(c->program, "\n")] = '\0';
}

void
lconn_sign(lconn_t *c, json_t *line)
{
    if (!c->program[0])
        s_ask_program(c);
    json_auto_t *program = value_utf8(c->program, strlen(c->program));
    (void) json_object_update_new(line, json_pack("{s:i, s:s, s:i, s:O}", "uid", (int) c->uid, "user",
                                                  c->user, "pid", (int) c->pid, "program", program));
}

static bool
s_is_admin(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool
lconn_is_admin(const lconn_t *c)
{
    return s_is_admin(c->uid);
}

size_t
lsock_listeners(const lsock_t *self)
{
    return self->n_listeners;
}

/* One message; false when it is garbage. */
static bool
s_message(lconn_t *c, const char *text, size_t len, fail_t *err)
{
    if (requests_fire(c->owner->front, c, text, len))
        return true;
    json_auto_t *msg = frame_parse_request(text, len, err);
    if (msg)
        requests_handle(c->owner->front, c, msg);
    return msg != NULL;
}

/* ---- whose name it is ------------------------------------------------------------------------- */

/* One question at a time: if its answer does not come, other users wait with it, root and the master's user never do. */
static void
s_ask_next(lsock_t *self)
{
    lconn_t *first = NULL;
    for (lconn_t *c = self->name_fd < 0 ? self->conns : NULL; c; c = c->next)
        if (c->asking && !c->dead)
            first = c; /* the newest is at the head */
    if (!first)
        return;
    int fd = username_ask(first->uid);
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &self->name_fd };
    if (fd >= 0 && epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0) {
        self->name_fd = fd;
        self->name_uid = first->uid;
        return;
    }
    front_noise(self->front,
                "local socket: %s is turned away: no descriptor or thread is left to ask for its name",
                first->user);
    s_kill(first);
    if (fd >= 0)
        (void) close(fd);
}

/* Names are for publisher_acl: where that lets nobody in, none is asked for. */
static bool
s_must_ask(const lconn_t *c)
{
    return !c->named && json_object_size(conf_get(c->owner->front->conf, "publisher_acl")) > 0;
}

static void
s_ask(lconn_t *c)
{
    c->asking = true;
    s_poll(c);
    s_ask_next(c->owner);
}

/* One request of a user's in a turn, of whichever of its lines, and none while its answers lie unread: it takes nobody's
 * time that way, nor the master's memory. Root and the master's user could have both in any case. */
static bool
s_has_turn(lconn_t *c)
{
    if (lconn_is_admin(c))
        return true;
    share_t *share = s_unread(c) > USER_UNREAD ? NULL : s_share(c->owner, c->uid);
    if (!share || share->asked)
        return false;
    share->asked = true;
    return true;
}

static void
s_wait(lconn_t *c, bool waits)
{
    if (c->waits == waits)
        return;
    c->waits = waits;
    s_poll(c);
}

static void
s_frames(lconn_t *c)
{
    if (!c->asking && s_must_ask(c))
        s_ask(c);
    if (c->asking)
        return;
    size_t limit = lconn_is_admin(c) ? LIMIT_LOCAL_MSG : LIMIT_LOCAL_USER_MSG, at = 0, len = 0;
    fail_auto_t err = FAIL_INIT;
    const char *text;
    int rc = 0;
    bool waits = false;
    while (!c->dead && !c->paused && (rc = frame_peek(&c->in, at, limit, &text, &len, &err)) > 0) {
        waits = !s_has_turn(c);
        if (waits)
            break;
        at += FRAME_HEAD + len;
        if (!s_message(c, text, len, &err))
            rc = -EPROTO;
        if (rc < 0)
            break;
    }
    buf_consume(&c->in, at);
    s_wait(c, waits);
    if (rc < 0) {
        front_noise(c->owner->front, "local socket: %s sent garbage (%s); the connection is closed", c->user,
                    fail_text(&err));
        s_kill(c);
    }
    s_shrink(&c->in);
}

static void
s_named(lsock_t *self)
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
        s_poll(c);
        if (!c->dead)
            s_frames(c);
    }
    s_ask_next(self);
}

/* What they ask for is done here: whoever calls holds nothing that a request may end, such as a minion or a worker. */
void
lsock_resume(lsock_t *self)
{
    if (self->n_paused == 0 ||
        (!self->front->store_trouble && store_waiting(self->front->store) > LIMIT_EVENTS_WAITING / 2))
        return;
    for (lconn_t *c = self->conns; c; c = c->next) {
        if (!c->paused)
            continue;
        c->paused = false;
        self->n_paused--;
        s_poll(c);
        s_frames(c);
    }
}

void
lsock_serve(lsock_t *self)
{
    for (lconn_t *c = self->n_listeners > 0 ? self->conns : NULL; c; c = c->next)
        if (c->listener && c->begun && !c->want_write && !c->dead)
            s_flush(c);
}

void
lsock_answer(lsock_t *self)
{
    if (!self->due)
        return;
    self->due = false;
    for (lconn_t *c = self->conns; c; c = c->next) {
        bool due = c->due && !c->dead && !c->want_write;
        c->due = false;
        if (due)
            s_flush(c);
    }
}

static void
s_close(lconn_t *c)
{
    lsock_t *self = c->owner;
    requests_closed(self->front, c);
    if (c->prev)
        c->prev->next = c->next;
    else
        self->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    self->n_conns--;
    self->n_listeners -= c->listener ? 1 : 0;
    self->n_paused -= c->paused ? 1 : 0;
    listener_destroy(&c->listener);
    catchup_destroy(&c->behind);
    /* Closing is not enough: a child that has not yet begun its program has the descriptor too. */
    (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    (void) close(c->fd);
    buf_free(&c->in);
    buf_free(&c->out);
    free(c->user);
    free(c);
}

static void
s_listen(lsock_t *self, bool yes)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = NULL };
    int rc = epoll_ctl(self->epoll_fd, yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, self->listen_fd, &ev);
    self->paused = !yes || rc != 0; /* the next tick tries again */
}

/* Give up the spare descriptor for a moment; another thread may have taken it meanwhile. */
static void
s_lend_spare(lsock_t *self)
{
    (void) close(self->spare_fd);
    self->spare_fd = -1;
}

static void
s_keep_spare(lsock_t *self)
{
    self->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The kernel does not tell who waits since when, nor how many. So a line of our own joins them, which is closed at once:
 * who stands before it has been there since now. False: there is no place for it. */
static bool
s_mark(lsock_t *self)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    (void) str_copy(addr.sun_path, sizeof(addr.sun_path), self->path);
    s_lend_spare(self);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool marked = fd >= 0 && connect(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0;
    if (fd >= 0)
        (void) close(fd);
    s_keep_spare(self);
    return marked;
}

static bool
s_credentials(int fd, struct ucred *ret_who)
{
    socklen_t n = sizeof(*ret_who);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_who, &n) == 0;
}

/* A mark that was forgotten, or a runner's line that came to nothing, ends a round too early: others wait longer. */
static bool
s_is_mark(int fd)
{
    struct ucred who;
    char byte;
    return s_credentials(fd, &who) && who.pid == getpid() && recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* No descriptor is left: who has waited long enough is turned away. All before the mark have; without one it is the
 * first alone. False: nobody has, or that can't be done either. The call fails like that when nobody knocks, too. */
static bool
s_turn_away(lsock_t *self, bool knocks)
{
    if (self->spare_fd < 0)
        return false;
    int64_t now = clock_mono_ms();
    if (knocks && !self->full_ms) {
        self->full_ms = now;
        self->marked = s_mark(self);
        return false;
    }
    if (!self->full_ms || now - self->full_ms < FULL_MS)
        return false;
    s_lend_spare(self);
    int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    bool empty = fd < 0 && errno == EAGAIN, mark = fd >= 0 && s_is_mark(fd);
    if (fd >= 0)
        (void) close(fd);
    s_keep_spare(self);
    if (fd >= 0 && !mark)
        front_noise(
            self->front,
            "local socket: no descriptor is left, an operator is turned away; raise the limit of open files");
    if (empty || mark || (fd >= 0 && !self->marked))
        self->full_ms = 0;
    return fd >= 0;
}

/* Of all places, and of the descriptors that minions leave, users have half: however many there are, root and the master's
 * user come in. */
static size_t
s_users_places(const lsock_t *self)
{
    size_t reserve = (size_t) gate_reserve(self->front->gate);
    return (reserve < LIMIT_LOCAL_CLIENTS ? reserve : LIMIT_LOCAL_CLIENTS) / 2;
}

static bool
s_may_come(lsock_t *self, uid_t uid)
{
    size_t own = 0, users = 0;
    if (self->n_conns >= LIMIT_LOCAL_CLIENTS)
        return false;
    if (s_is_admin(uid))
        return true;
    for (const lconn_t *c = self->conns; c; c = c->next) {
        own += c->uid == uid;
        users += !lconn_is_admin(c);
    }
    return own < LIMIT_LOCAL_USER_LINES && users < s_users_places(self);
}

static void
s_add(lsock_t *self, int fd, const struct ucred *who)
{
    lconn_t *c = xcalloc(1, sizeof(*c));
    c->owner = self;
    c->fd = fd;
    c->uid = who->uid;
    c->pid = who->pid;
    c->named = s_is_admin(who->uid);
    c->user = !c->named ? xasprintf("%u", (unsigned) who->uid)
                        : xstrdup(who->uid == 0 ? self->root_name : self->own_name);
    c->next = self->conns;
    if (c->next)
        c->next->prev = c;
    self->conns = c;
    self->n_conns++;
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = c };
    if (epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0)
        return;
    front_noise(self->front, "local socket: %s is turned away: %s", c->user, strerror(errno));
    s_close(c);
}

static void
s_accept(lsock_t *self)
{
    for (int i = 0; i < ACCEPT_BUDGET; i++) {
        int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED))
            return;
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && s_turn_away(self, i == 0))
            continue;
        if (fd < 0) {
            /* They stay in the queue, and the loop must not turn for them all the time. */
            s_listen(self, false);
            return;
        }
        self->full_ms = 0;
        struct ucred cred;
        if (s_credentials(fd, &cred) && s_may_come(self, cred.uid)) {
            s_add(self, fd, &cred);
            continue;
        }
        front_noise(self->front, "local socket: %zu connections are open, one more is turned away",
                    self->n_conns);
        (void) close(fd);
    }
}

/* What a user has begun to ask and does not end takes memory, of all its lines together. */
static bool
s_asks_too_much(const lconn_t *c)
{
    size_t n = c->in.len;
    if (lconn_is_admin(c) || n <= USER_UNREAD)
        return false;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        n += other != c && other->uid == c->uid && !other->dead ? other->in.len : 0;
    return n > LIMIT_LOCAL_QUEUE;
}

static void
s_read(lconn_t *c)
{
    char *chunk = c->owner->chunk;
    for (int i = 0; i < READ_BUDGET && !c->dead; i++) {
        ssize_t n = recv(c->fd, chunk, READ_CHUNK, MSG_DONTWAIT);
        if (n > 0) {
            if (!buf_offer(&c->in, chunk, (size_t) n)) {
                log_error("local socket: out of memory for what %s sends; the connection is closed", c->user);
                s_kill(c);
                return;
            }
            s_frames(c);
            if (s_asks_too_much(c)) {
                front_noise(
                    c->owner->front,
                    "local socket: %s has begun requests of more than %d bytes; the connection is closed",
                    c->user, LIMIT_LOCAL_QUEUE);
                s_kill(c);
            }
            if (n < READ_CHUNK || c->waits)
                return;
        } else {
            c->dead = n == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
    }
}

static int
s_ready(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    (void) loop, (void) item;
    lsock_t *self = arg;
    struct epoll_event events[EPOLL_BATCH];
    int n = epoll_wait(self->epoll_fd, events, EPOLL_BATCH, 0);
    self->n_shares = 0;
    bus_hold(self->front);
    for (int i = 0; i < n; i++) {
        lconn_t *c = events[i].data.ptr;
        if (!c) {
            s_accept(self);
            continue;
        }
        if (events[i].data.ptr == &self->name_fd) {
            s_named(self);
            continue;
        }
        if (!c->dead && events[i].events & EPOLLOUT)
            s_flush(c);
        if (!c->dead && c->waits)
            s_frames(c);
        else if (!c->dead && events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            s_read(c);
    }
    bus_release(self->front);
    for (lconn_t *c = self->conns, *next; c; c = next) {
        next = c->next;
        if (c->dead)
            s_close(c);
    }
    return 0;
}

void
lsock_tick(lsock_t *self)
{
    s_ask_next(self);
    for (lconn_t *c = self->conns; c; c = c->next)
        if (c->behind && !c->want_write && !c->dead)
            s_flush(c);
    if (!self->paused)
        return;
    if (self->spare_fd < 0)
        s_keep_spare(self);
    s_listen(self, true);
}

/* The socket file is 0660 or, when publisher_acl names other users, 0666: what each may do is checked per
 * request. */
static mode_t
s_mode(const lsock_t *self)
{
    return json_object_size(conf_get(self->front->conf, "publisher_acl")) > 0 ? 0666 : 0660;
}

void
lsock_reload(lsock_t *self)
{
    (void) chmod(self->path, s_mode(self));
    for (lconn_t *c = self->conns; c; c = c->next) {
        if (!c->named || c->dead || requests_may_read(self->front, c))
            continue;
        log_info("local socket: %s is in publisher_acl no more; its connection is closed", c->user);
        s_kill(c);
    }
}

static int
s_bind(lsock_t *self, fail_t *err)
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
    mode_t old = umask(0777 & ~s_mode(self));
    int rc = bind(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr));
    int code = errno;
    (void) umask(old);
    if (rc != 0 || listen(self->listen_fd, LISTEN_BACKLOG) != 0)
        return fail_set(err, -(rc ? code : errno), "%s: can't listen: %s", self->path,
                        strerror(rc ? code : errno));
    return 0;
}

lsock_t *
lsock_new(front_t *front, const char *sock_dir, fail_t *err)
{
    lsock_t *self = xcalloc(1, sizeof(*self));
    self->front = front;
    self->path = fs_join(sock_dir, LOCAL_SOCKET_NAME);
    self->listen_fd = self->name_fd = -1;
    self->root_name = username_of(0);
    self->own_name = username_of(geteuid());
    s_keep_spare(self);
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd < 0)
        (void) fail_set(err, -errno, "epoll: %s", strerror(errno));
    if (self->epoll_fd < 0 || fs_own_dir(sock_dir, 0755, err) < 0 || s_bind(self, err) < 0) {
        /* Not ours: leave another master's socket file where it is. */
        free(STEAL(self->path));
        lsock_destroy(&self);
        return NULL;
    }
    s_listen(self, true);
    zmq_pollitem_t item = { NULL, self->epoll_fd, ZMQ_POLLIN, 0 };
    (void) zloop_poller(front->loop, &item, s_ready, self);
    return self;
}

void
lsock_destroy(lsock_t **self_p)
{
    lsock_t *self = STEAL(*self_p);
    if (!self)
        return;
    while (self->conns)
        s_close(self->conns);
    if (self->path)
        (void) unlink(self->path);
    if (self->listen_fd >= 0)
        (void) close(self->listen_fd);
    if (self->spare_fd >= 0)
        (void) close(self->spare_fd);
    if (self->name_fd >= 0)
        (void) close(self->name_fd);
    (void) close(self->epoll_fd);
    free(self->root_name);
    free(self->own_name);
    free(self->path);
    free(self);
}
