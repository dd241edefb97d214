/* lconn.c - a connection to the local socket: reads requests, queues answers, sends events.
 *
 * Output has three sources in order: `out` (answers and pushes), replays of jobs (catchup.h), events
 * (listen.h). lconn_send drains them in turn until the socket is full or the budget is used. Users, unlike
 * administrators, share one turn per user: one request and one replay piece per turn of the loop, and bounded
 * unread output. */
#include "master/operators/lsock_int.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "master/front/hooks.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "master/events/numbers.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_BUDGET   4             /* chunks per turn, so that one client can't occupy the loop */
#define FLUSH_BUDGET  (1024 * 1024) /* bytes to one client per turn, about */
#define EVENT_PIECES  64            /* pieces per sendmsg */
#define PUSH_TOGETHER (64 * 1024)   /* bytes of answers that wait for the turn's end */
#define USER_UNREAD   (64 * 1024)   /* unread answers up to which a user's requests are read */
#define IDLE_BUFFER   4096          /* capacity that an idle connection's buffers keep */

/* ---- polling, ending, limits ------------------------------------------------------------------ */

/* Tell epoll what to wait for: input unless paused or waiting, output if some is pending. EPOLLOUT also
 * brings the turn of a user who waits. */
void
lconn_poll(lconn_t *c)
{
    struct epoll_event ev = { .events = (c->paused || c->asking || c->waits ? 0 : EPOLLIN) |
                                        (c->want_write || (c->waits && !c->paused && !c->asking) ? EPOLLOUT
                                                                                                 : 0),
                              .data.ptr = c };
    if (epoll_ctl(c->owner->epoll_fd, EPOLL_CTL_MOD, c->fd, &ev) != 0)
        c->owner->unpolled = true;
}

/* Shut down; the resulting hang-up makes the loop come by and free the connection. Safe inside callbacks. */
void
lconn_kill(lconn_t *c)
{
    c->dead = true;
    (void) shutdown(c->fd, SHUT_RDWR);
}

/* Free an empty buffer that has grown. */
static void
shrink(buf_t *b)
{
    if (b->len == 0 && b->cap > IDLE_BUFFER)
        buf_free(b);
}

static size_t
lconn_unread(const lconn_t *c)
{
    return c->out.len - c->out_at;
}

/* Unread bytes of the user's other connections. */
static size_t
unread_beside(const lconn_t *c)
{
    size_t n = 0;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        n += other != c && lconn_is_kin(other, c->uid, c->as) && !other->dead ? lconn_unread(other) : 0;
    return n;
}

/* ---- output ----------------------------------------------------------------------------------- */

/* Send `out`. False when the socket is full or broken. */
static bool
send_out(lconn_t *c)
{
    while (c->out_at < c->out.len && !c->dead) {
        ssize_t n = send(c->fd, c->out.data + c->out_at, c->out.len - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0) {
            c->out_at += (size_t) n;
        } else if (errno != EINTR) {
            if (errno != EAGAIN)
                lconn_kill(c);
            return false;
        }
    }
    buf_clear(&c->out);
    c->out_at = 0;
    return !c->dead;
}

/* Send events from the ring without copying: bytes sent; 0 without events; negative when the socket is full,
 * or the listener's turn is over. */
static ssize_t
send_events(lconn_t *c)
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
        lconn_kill(c);
    if (n > 0)
        listener_sent(c->listener, iov, msg.msg_iovlen, (size_t) n, &c->out);
    return n == (ssize_t) whole ? n : -1;
}

/* The user's share of this turn; NULL when too many users had one. */
static share_t *
lconn_share(lsock_t *self, const lconn_t *c)
{
    for (size_t i = 0; i < self->n_shares; i++)
        if (lconn_is_kin(c, self->shares[i].uid, self->shares[i].as))
            return &self->shares[i];
    if (self->n_shares == NELEMS(self->shares))
        return NULL;
    self->shares[self->n_shares] = (share_t){ .uid = c->uid, .as = c->as };
    return &self->shares[self->n_shares++];
}

/* A replay piece may be a return of any size: one per user and turn, */
static bool
may_catch_up(lconn_t *c)
{
    if (lconn_is_admin(c))
        return true;
    share_t *share = lconn_share(c->owner, c);
    if (share == NULL || share->caught)
        return false;
    share->caught = true;
    return true;
}

/* Send all there is, within FLUSH_BUDGET. True when output remains: wait for EPOLLOUT. */
static bool
lconn_send(lconn_t *c)
{
    if (c->listener != NULL)
        listener_turn(c->listener);
    for (ssize_t sent = 0, n; sent < FLUSH_BUDGET; sent += n) {
        if (!send_out(c))
            return true;
        if (c->behind != NULL) {
            /* Events of the journal wait while the user's other connections have much unread; lsock_tick
             * tries again. */
            if (!lconn_is_admin(c) && unread_beside(c) > LIMIT_LOCAL_QUEUE)
                return false;

            if (!may_catch_up(c))
                return true;
            catchup_fill(&c->behind, c->owner->front, &c->out);
            n = (ssize_t) c->out.len;
            continue;
        }
        if (c->listener == NULL || !c->begun || !numbers_may_tell(c->owner->front))
            return false;
        bool again = listener_fill(c->listener, &c->out);
        n = (ssize_t) c->out.len;
        if (n > 0)
            continue;
        if (again)
            return true;
        n = send_events(c);
        if (n <= 0)
            return n < 0;
    }
    return true;
}

/* Send, then give back buffer space. */
void
lconn_flush(lconn_t *c)
{
    bool more = lconn_send(c);
    shrink(&c->out);
    if (c->out_at > c->out.len / 2) {
        buf_consume(&c->out, c->out_at);
        c->out_at = 0;
    }

    /* Asks epoll for output only while some waits. */
    bool write = more && !c->dead;
    if (c->want_write == write)
        return;
    c->want_write = write;
    lconn_poll(c);
}

/* Keep order: events fired before a message go first, into `out`, as far as they are in the ring and a user's
 * limits allow. Events from the journal don't. */
static void
events_first(lconn_t *c)
{
    struct iovec iov[EVENT_PIECES];
    size_t n;
    bool bounded = !lconn_is_admin(c);
    if (c->listener == NULL || !c->begun)
        return;
    if (!c->want_write)
        lconn_flush(c);
    if (!listener_is_live(c->listener) || !numbers_may_tell(c->owner->front))
        return;
    (void) listener_fill(c->listener, &c->out);
    while (!(bounded && lconn_unread(c) > USER_UNREAD) &&
           (n = listener_next(c->listener, iov, EVENT_PIECES)) > 0) {
        size_t whole = 0;
        for (size_t i = 0; i < n; whole += iov[i++].iov_len)
            buf_add(&c->out, iov[i].iov_base, iov[i].iov_len);
        listener_sent(c->listener, iov, n, whole, &c->out);
    }
}

/* A whole frame was added since `out` had `before` bytes. False: too large, removed. Sends now, or at the
 * turn's end, so that the reader wakes once. */
static bool
pushed(lconn_t *c, size_t before)
{
    if (c->out.len - before > LIMIT_LOCAL_MSG) {
        c->out.len = before;
        return false;
    }

    /* A user's connections count together, but one that is read is not blamed. */
    size_t n = lconn_unread(c);
    if (!lconn_is_admin(c) && n > USER_UNREAD)
        n += unread_beside(c);
    if (n > LIMIT_LOCAL_QUEUE + LIMIT_LOCAL_MSG) {
        log_warning("local socket: %s does not read its answers; the connection is closed", c->user);
        lconn_kill(c);
        return true;
    }

    /* Collect the answers of one turn. */
    bool soon = c->owner->front->bus->held > 0 && lconn_unread(c) < PUSH_TOGETHER;
    if (!c->want_write && !soon)
        lconn_flush(c);
    else if (!c->want_write)
        c->due = c->owner->due = true;
    return true;
}

bool
lconn_push(lconn_t *c, const json_t *msg)
{
    if (c->dead)
        return true;
    events_first(c);
    size_t before = c->out.len;
    frame_add(&c->out, msg);
    return pushed(c, before);
}

bool
lconn_push_text(lconn_t *c, const char *text, size_t len)
{
    if (c->dead)
        return true;
    events_first(c);
    size_t before = c->out.len;
    frame_add_text(&c->out, text, len);
    return pushed(c, before);
}

/* Later requests replace the patterns of the connection's one listener. */
bool
lconn_listen(lconn_t *c, const json_t *request, fail_t *err)
{
    if (c->listener != NULL)
        return listener_again(&c->listener, request, err);
    c->listener = listener_new(c->owner->front, request, !lconn_is_admin(c), err);
    if (c->listener != NULL && c->as != NULL)
        listener_filter(c->listener, c->owner->server->shows, c);
    c->owner->n_listeners += c->listener != NULL ? 1 : 0;
    return c->listener != NULL;
}

/* A user's patterns count over all connections, this request's included. */
bool
lconn_may_match(const lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *tags = value_get(request, "tags");
    size_t n = tags != NULL ? json_array_size(tags) : 1;
    if (lconn_is_admin(c))
        return true;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        if (other != c && lconn_is_kin(other, c->uid, c->as) && other->listener != NULL)
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
        lconn_flush(c);
}

void
lconn_catch_up(lconn_t *c, const char *jid)
{
    catchup_add(&c->behind, jid);
    if (!c->want_write && !c->dead)
        lconn_flush(c);
}

bool
lconn_catches_up(const lconn_t *c, const char *jid)
{
    return catchup_waits(c->behind, jid);
}

/* Resumed by s_resume in lsock.c. */
void
lconn_pause(lconn_t *c)
{
    c->owner->n_paused += c->paused ? 0 : 1;
    c->paused = true;
    lconn_poll(c);
}

/* ---- identity --------------------------------------------------------------------------------- */

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

void
lconn_sign(lconn_t *c, json_t *line)
{
    if (!c->program[0]) {
        /* The program's name is its own claim; uid and pid come from the kernel (SO_PEERCRED). */
        AUTO_FREE char *path = xasprintf("/proc/%d/comm", (int) c->pid);
        buf_auto_t text = BUF_INIT;
        bool read = fs_read(path, PROGRAM_MAX, &text, NULL) == 0;
        (void) str_copy(c->program, sizeof(c->program), read ? buf_str(&text) : "?");
        c->program[strcspn(c->program, "\n")] = '\0';
    }
    if (c->as != NULL)
        json_object_set(line, "eauth", value_get(c->as, "eauth"));
    json_auto_t *program = value_utf8(c->program, strlen(c->program));
    (void) json_object_update_new(line, json_pack("{s:i, s:s, s:i, s:O}", "uid", (int) c->uid, "user",
                                                  c->user, "pid", (int) c->pid, "program", program));
}

bool
lsock_is_admin(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

bool
lconn_is_admin(const lconn_t *c)
{
    return c->as == NULL && lsock_is_admin(c->uid);
}

uid_t
lconn_uid(const lconn_t *c)
{
    return c->uid;
}

bool
lconn_is_admin_name(const front_t *front, const char *user)
{
    const lsock_t *self = front->own[PART_lsock];
    return str_eq(user, self->root_name) || str_eq(user, self->own_name);
}

const json_t *
lconn_as(const lconn_t *c)
{
    return c->as;
}

bool
lconn_is_kin(const lconn_t *c, uid_t uid, const json_t *as)
{
    return c->uid == uid && (c->as == NULL) == (as == NULL) &&
           (as == NULL || (str_eq(value_str(c->as, "user", ""), value_str(as, "user", "")) &&
                           str_eq(value_str(c->as, "eauth", ""), value_str(as, "eauth", ""))));
}

bool
lconn_become(lconn_t *c, json_t **as_p, fail_t *err)
{
    json_auto_t *as = STEAL(*as_p);
    size_t n = 0;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        n += other != c && !other->dead && lconn_is_kin(other, c->uid, as);
    if (n >= LIMIT_LOCAL_USER_LINES) {
        (void) fail_set(err, -EUSERS, "%s has %zu connections already, as many as may be: close some",
                        value_str(as, "user", ""), n);
        return false;
    }
    free(c->user);
    c->user = xstrdup(value_str(as, "user", ""));
    c->named = true;
    /* What it listens to was chosen by other rules, and returns to be replayed are of another's jobs. */
    c->owner->n_listeners -= c->listener != NULL ? 1 : 0;
    listener_destroy(&c->listener);
    catchup_destroy(&c->behind);
    hook_line_closed(c->owner->front, c);
    json_decref(c->as);
    c->as = STEAL(as);
    return true;
}

void
lconn_end_token(front_t *front, const char *hash)
{
    const lsock_t *self = front->own[PART_lsock];
    for (lconn_t *c = self->conns; c; c = c->next)
        if (c->as != NULL && str_eq(value_str(c->as, "hash", ""), hash))
            lconn_kill(c);
}

/* ---- input ------------------------------------------------------------------------------------ */

/* Handle one message; false when it is not JSON. */
static bool
lconn_message(lconn_t *c, const char *text, size_t len, fail_t *err)
{
    if (c->owner->server->handle_text(c->owner->front, c, text, len))
        return true;
    json_auto_t *msg = frame_parse_request(text, len, err);
    if (msg != NULL)
        c->owner->server->handle(c->owner->front, c, msg);
    return msg != NULL;
}

/* Users get one request per turn, over all connections, and none while their answers are unread: a user can
 * occupy neither the loop nor memory. Administrators could do both anyway. */
static bool
has_turn(lconn_t *c)
{
    if (lconn_is_admin(c))
        return true;
    share_t *share = lconn_unread(c) > USER_UNREAD ? NULL : lconn_share(c->owner, c);
    if (share == NULL || share->asked)
        return false;
    share->asked = true;
    return true;
}

/* Handle complete frames in `in`, unless the name is still looked up or the connection is paused. */
void
lconn_frames(lconn_t *c)
{
    /* User names are only needed for publisher_acl; without it no name is looked up. */
    if (!c->asking && !c->named && json_object_size(conf_get(c->owner->front->conf, "publisher_acl")) > 0) {
        /* Marks the connection as one that has asked. */
        c->asking = true;
        lconn_poll(c);
        c->owner->asks = true;
    }
    if (c->asking)
        return;
    size_t limit = lconn_is_admin(c) ? LIMIT_LOCAL_MSG : LIMIT_LOCAL_USER_MSG, at = 0, len = 0;
    fail_auto_t err = FAIL_INIT;
    const char *text;
    int rc = 0;
    bool waits = false;
    while (!c->dead && !c->paused && (rc = frame_peek(&c->in, at, limit, &text, &len, &err)) > 0) {
        waits = !has_turn(c);
        if (waits)
            break;
        at += FRAME_HEAD + len;
        if (!lconn_message(c, text, len, &err))
            rc = -EPROTO;
        if (rc < 0)
            break;
    }
    buf_consume(&c->in, at);

    /* Reading stops while the connection waits. */
    if (c->waits != waits) {
        c->waits = waits;
        lconn_poll(c);
    }

    if (rc < 0) {
        noise_warn(c->owner->front, "local socket: %s sent garbage (%s); the connection is closed", c->user,
                   fail_text(&err));
        lconn_kill(c);
    }
    shrink(&c->in);
}

/* True when a user's unfinished requests, over all connections, exceed the bound. */
static bool
asks_too_much(const lconn_t *c)
{
    size_t n = c->in.len;
    if (lconn_is_admin(c) || n <= USER_UNREAD)
        return false;
    for (const lconn_t *other = c->owner->conns; other; other = other->next)
        n += other != c && lconn_is_kin(other, c->uid, c->as) && !other->dead ? other->in.len : 0;
    return n > LIMIT_LOCAL_QUEUE;
}

/* A short read means that the socket is empty. */
void
lconn_read(lconn_t *c)
{
    char *chunk = c->owner->chunk;
    for (int i = 0; i < READ_BUDGET && !c->dead; i++) {
        ssize_t n = recv(c->fd, chunk, LSOCK_CHUNK, MSG_DONTWAIT);
        if (n > 0) {
            if (!buf_offer(&c->in, chunk, (size_t) n)) {
                log_error("local socket: out of memory for what %s sends; the connection is closed", c->user);
                lconn_kill(c);
                return;
            }
            lconn_frames(c);
            if (asks_too_much(c)) {
                noise_warn(
                    c->owner->front,
                    "local socket: %s has begun requests of more than %d bytes; the connection is closed",
                    c->user, LIMIT_LOCAL_QUEUE);
                lconn_kill(c);
            }
            if (n < LSOCK_CHUNK || c->waits)
                return;
        } else {
            c->dead = n == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
    }
}
