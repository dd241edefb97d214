/* mbus.c - the minion's own event bus: events fired by event.fire in a job or by salt-call on this machine,
 * events for the masters, and jobs as they begin and return.
 *
 * Its Unix socket in sock_dir (mode 0600) speaks as the master's (common/local/client.h): {op: "event", tag,
 * data} -> {}, and {op: "events", tags} -> {seq}; then {push: "event", seq, tag, data}, and {push: "missed",
 * from, to, count} to a client that does not keep up. There is no journal. Requests of parts with `bus`
 * (part.h) are answered with {value}. Without a socket the minion runs all the same, with a warning.
 */
#include "minion/jobs/jobserver.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "common/match/match.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define LINES      16 /* clients at a time */
#define READ_CHUNK 4096
#define PAUSE_MS   1000 /* without accepting, when descriptors are exhausted */

/* A connected client. */
typedef struct mline {
    int fd; /* -1: free */
    buf_t in, out;
    globs_t *tags; /* owned: globs of the events it wants; NULL: none */
    uint64_t missed, m_first, m_last;
    bool blocked; /* its socket is full: waits for EPOLLOUT */
} mline_t;

typedef struct mbus {
    jobserver_t *js;
    char *path;
    int listen_fd, epoll_fd;
    int64_t pause_ms; /* monotonic: accept again then; 0: accepting */
    uint64_t seq;
    mline_t lines[LINES];
} mbus_t;

/* ---- the clients --------------------------------------------------------------------------------------- */

/* Closes a client. Forked children hold copies of the descriptor, so only shutdown() ends the connection and
 * only EPOLL_CTL_DEL the events. The networking process, which has copies of all this, must leave the
 * connection to the first process. */
static void
mbus_close_line(mbus_t *self, mline_t *line)
{
    if (line->fd >= 0 && !self->js->in_session) {
        (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, line->fd, NULL);
        (void) shutdown(line->fd, SHUT_RDWR);
    }
    if (line->fd >= 0)
        (void) close(line->fd);
    globs_destroy(&line->tags);
    buf_free(&line->in);
    buf_free(&line->out);
    *line = (mline_t){ .fd = -1 };
}

/* Queues a note about the events that were skipped. */
static void
mbus_tell_missed(mline_t *line)
{
    if (line->missed == 0)
        return;
    json_auto_t *msg = json_pack("{s:s, s:I, s:I, s:I}", "push", "missed", "from", (json_int_t) line->m_first,
                                 "to", (json_int_t) line->m_last, "count", (json_int_t) line->missed);
    line->missed = 0;
    frame_add(&line->out, msg);
}

/* Sends what the socket takes; closes the client on an error. */
static void
mbus_flush(mbus_t *self, mline_t *line)
{
    while (line->out.len > 0) {
        ssize_t n = send(line->fd, line->out.data, line->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            mbus_close_line(self, line);
            return;
        }
        if (n < 0)
            break;
        buf_consume(&line->out, (size_t) n);
        if (line->out.len == 0)
            mbus_tell_missed(line);
    }

    /* Asks epoll for EPOLLOUT only while output waits. */
    bool blocked = line->out.len > 0;
    struct epoll_event ev = { .events = EPOLLIN | (blocked ? EPOLLOUT : 0), .data.ptr = line };
    if (line->blocked != blocked)
        (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_MOD, line->fd, &ev);
    line->blocked = blocked;
}

/* NEW data with the `_stamp` that every event has. */
static json_t *
mbus_stamped(json_t *data)
{
    char stamp[CLOCK_STAMP_LEN];
    if (!json_is_object(data))
        return json_incref(data);
    json_t *copy = json_copy(data);
    clock_stamp(stamp, clock_wall_us());
    json_object_set_new(copy, "_stamp", json_string(stamp));
    return copy;
}

static bool
mbus_listens(const mline_t *line, const char *tag)
{
    return line->fd >= 0 && line->tags != NULL && globs_match(line->tags, tag, strlen(tag));
}

/* Sends an event to every client that listens for its tag; encoded once, and not at all without such a
 * client. */
static void
mbus_shown(void *part, const char *tag, json_t *data)
{
    mbus_t *self = part;
    buf_auto_t frame = BUF_INIT;
    self->seq++;
    for (size_t i = 0; i < LINES; i++) {
        mline_t *line = &self->lines[i];
        if (!mbus_listens(line, tag))
            continue;
        if (frame.len == 0) {
            json_auto_t *msg = json_pack("{s:s, s:I, s:s, s:o}", "push", "event", "seq",
                                         (json_int_t) self->seq, "tag", tag, "data", mbus_stamped(data));
            frame_add(&frame, msg);
        }

        /* Queues an event for a client, or counts it as missed when too much waits. */
        if (line->out.len + frame.len > LIMIT_LOCAL_USER_MSG) {
            line->m_first = line->missed == 0 ? self->seq : line->m_first;
            line->m_last = self->seq;
            line->missed++;
            continue;
        }
        mbus_tell_missed(line);
        buf_add(&line->out, frame.data, frame.len);
        mbus_flush(self, line);
    }
}

static void
mbus_fired(void *part, const char *tag, json_t *data)
{
    if (data != NULL)
        mbus_shown(part, tag, data);
}

/* True when a client listens for this tag. */
static bool
mbus_is_heard(const mbus_t *self, const char *tag)
{
    size_t i = 0;
    while (i < LINES && !mbus_listens(&self->lines[i], tag))
        i++;
    return i < LINES;
}

static void
mbus_show_job(mbus_t *self, const char *tag, json_t *data)
{
    json_auto_t *shown = json_copy(data);
    json_object_del(shown, "master"); /* internal: which master it came from */
    json_object_del(shown, "asker");
    mbus_shown(self, tag, shown);
}

static void
mbus_job_new(void *part, json_t *job)
{
    AUTO_FREE char *tag = xasprintf("salt/job/%s/new", value_str(job, "jid", ""));
    mbus_show_job(part, tag, job);
}

/* Shows a return; without a client that listens, its text is not even parsed. */
static void
mbus_job_returned(void *part, json_t *job, const jobret_t *ret)
{
    mbus_t *self = part;
    AUTO_FREE char *tag = xasprintf("salt/job/%s/ret/%s", value_str(job, "jid", ""), self->js->env.id);
    bool is_job = !value_bool(job, "aside", false);
    json_auto_t *data = is_job && mbus_is_heard(self, tag) ? jobret_value(ret) : NULL;
    if (data != NULL)
        mbus_show_job(self, tag, data);
}

/* ---- events of jobs ------------------------------------------------------------------------------------ */

/* Handles event.fire, Salt's event on the minion's own bus: parts may act on it (saltutil.refresh_*), and the
 * reactor may listen. Tags for reloading modules need no action, as every job is a fresh process. */
static void
mbus_act(const mbus_t *self, const char *tag, json_t *data)
{
    jobserver_heed(self->js, tag, data);
    EACH_PART(self->js, fired, tag, data);
}

static json_t *
mbus_request_event(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mbus_act(part, value_str(request, "tag", ""), value_get(request, "data"));
    return json_true();
}

/* Handles a "fire_master" event: {tag, data, preload?: {name: value}, events?: [{tag, data}]} goes on to the
 * masters. */
static void
mbus_fire_master(void *part, json_t *data)
{
    mbus_t *self = part;
    const char *tag = value_str(data, "tag", "");
    json_t *one;
    size_t i;
    if (*tag && value_get(data, "data") != NULL)
        jobserver_event(self->js, tag, value_get(data, "data"), value_get(data, "preload"));
    json_array_foreach (value_get(data, "events"), i, one)
        if (value_get(one, "tag") != NULL)
            jobserver_event(self->js, value_str(one, "tag", ""),
                            value_get(one, "data") != NULL ? value_get(one, "data") : one, NULL);
}

/* ---- the socket ---------------------------------------------------------------------------------------- */

static bool
mbus_watch(mbus_t *self, int fd, mline_t *line)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = line };
    return epoll_ctl(self->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

/* Opens the socket. A connect() first finds out if another minion listens, so that its socket is not taken
 * away. */
static int
mbus_listen(mbus_t *self, fail_t *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    const char *dir = value_str(self->js->opts, "sock_dir", "");
    self->path = fs_join(dir, MINION_SOCKET_NAME);
    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), self->path))
        return fail_set(err, -ENAMETOOLONG, "%s: set sock_dir to a shorter path", self->path);
    if (fs_own_dir(dir, 0755, err) < 0)
        return err->code;
    self->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->listen_fd < 0)
        return fail_set(err, -errno, "%s: socket: %s", self->path, strerror(errno));
    if (connect(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr)) == 0 || errno == EAGAIN) {
        free(STEAL(self->path));
        return fail_set(err, -EADDRINUSE, "another minion listens in %s; give this one a sock_dir of its own",
                        dir);
    }
    (void) unlink(self->path);
    mode_t old = umask(0177);
    int rc = bind(self->listen_fd, (struct sockaddr *) &addr, sizeof(addr));
    rc = rc == 0 ? listen(self->listen_fd, LINES) : rc;
    int code = errno;
    (void) umask(old);
    if (rc != 0)
        return fail_set(err, -code, "%s: can't listen: %s", self->path, strerror(code));
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll_fd < 0 || !mbus_watch(self, self->listen_fd, NULL))
        return fail_set(err, -errno, "epoll: %s", strerror(errno));
    return 0;
}

/* Closes everything and removes the socket's name. */
static void
mbus_deaf(mbus_t *self)
{
    for (size_t i = 0; i < LINES; i++)
        mbus_close_line(self, &self->lines[i]);
    if (self->listen_fd >= 0)
        (void) close(self->listen_fd);
    if (self->listen_fd >= 0 && self->path != NULL)
        (void) unlink(self->path);
    if (self->epoll_fd >= 0)
        (void) close(self->epoll_fd);
    self->listen_fd = self->epoll_fd = -1;
    free(STEAL(self->path));
}

/* Accepts a client; one above LINES is closed at once. */
static void
mbus_accept(mbus_t *self)
{
    int fd = accept4(self->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
        /* Clients stay in the listen queue; pause, or the loop would spin on the readable socket. */
        (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, self->listen_fd, NULL);
        self->pause_ms = clock_mono_ms() + PAUSE_MS;
    }
    for (size_t i = 0; fd >= 0 && i < LINES; i++)
        if (self->lines[i].fd < 0) {
            self->lines[i].fd = fd;
            if (!mbus_watch(self, fd, &self->lines[i]))
                mbus_close_line(self, &self->lines[i]);
            return;
        }
    if (fd >= 0)
        (void) close(fd);
}

/* Fires a client's event as a job's. The socket's mode admits only root and the minion's user, so it is
 * trusted. */
static bool
mbus_take_event(mbus_t *self, mline_t *line, json_t *msg, json_t *reply)
{
    const char *tag = value_str(msg, "tag", "");
    if (*tag == '\0' || strlen(tag) > LIMIT_TAG_LEN)
        return false;
    mbus_act(self, tag, value_get(msg, "data"));
    return true;
}

static bool
mbus_take_events(mbus_t *self, mline_t *line, json_t *msg, json_t *reply)
{
    json_t *tags = value_get(msg, "tags");
    if (!json_is_array(tags) || json_array_size(tags) > LIMIT_LISTEN_TAGS)
        return false;
    globs_destroy(&line->tags);
    line->tags = globs_new(tags);
    return true;
}

static const struct {
    const char *op;
    bool (*take)(mbus_t *self, mline_t *line, json_t *msg, json_t *reply);
} rows[] = {
    { "event", mbus_take_event },
    { "events", mbus_take_events },
};

/* Answers a client's request: its own operations first, then those of parts. A request may close the
 * client. */
static void
mbus_answer(mbus_t *self, mline_t *line, json_t *msg)
{
    const char *op = value_str(msg, "op", "");
    json_auto_t *reply = json_pack("{s:I}", "n", value_int(msg, "n", 0));
    bool ok = false, own = false;
    for (size_t i = 0; i < NELEMS(rows); i++)
        if (str_eq(rows[i].op, op)) {
            own = true;
            ok = rows[i].take(self, line, msg, reply);
        }

    void *part;
    const part_request_t *other = own ? NULL : jobserver_request(self->js, op, &part);
    if (other != NULL && other->bus != NULL) {
        fail_auto_t err = FAIL_INIT;
        json_t *value = other->fn(part, NULL, msg, &err);
        ok = value != NULL;
        json_object_set_new(reply, ok ? "value" : "error", ok ? value : json_string(fail_text(&err)));
    } else if (!ok) {
        AUTO_FREE char *others = jobserver_bus_requests(self->js);
        AUTO_FREE char *text = xasprintf("a minion's bus knows {op: event, tag, data}, {op: events, tags}%s",
                                         others);
        json_object_set_new(reply, "error", json_string(text));
    }

    json_object_set_new(reply, "ok", json_boolean(ok));
    json_object_set_new(reply, "seq", json_integer((json_int_t) self->seq));
    if (line->fd < 0)
        return;
    frame_add(&line->out, reply);
    if (line->out.len > 2 * LIMIT_LOCAL_USER_MSG)
        mbus_close_line(self, line);
    else
        mbus_flush(self, line);
}

static void
mbus_read_line(mbus_t *self, mline_t *line)
{
    buf_reserve(&line->in, READ_CHUNK);
    ssize_t n = recv(line->fd, line->in.data + line->in.len, READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        mbus_close_line(self, line);
        return;
    }
    line->in.len += (size_t) n;
    json_t *msg = NULL;
    int rc = 0;
    while (line->fd >= 0 && (rc = frame_take(&line->in, LIMIT_LOCAL_USER_MSG, &msg, NULL)) > 0) {
        mbus_answer(self, line, msg);
        json_decref(msg);
    }
    if (rc < 0)
        mbus_close_line(self, line);
}

static int
mbus_fd(const void *part, short *ret_ask)
{
    return ((const mbus_t *) part)->epoll_fd;
}

static void
mbus_ready(void *part, short ready)
{
    mbus_t *self = part;
    struct epoll_event events[LINES + 1];
    int n = epoll_wait(self->epoll_fd, events, LINES + 1, 0);
    for (int i = 0; i < n; i++) {
        mline_t *line = events[i].data.ptr;
        if (line == NULL)
            mbus_accept(self);
        if (line != NULL && line->fd >= 0 && events[i].events & EPOLLOUT)
            mbus_flush(self, line);
        if (line != NULL && line->fd >= 0 && events[i].events & ~EPOLLOUT)
            mbus_read_line(self, line);
    }
}

static int64_t
mbus_next_ms(void *part)
{
    return ((mbus_t *) part)->pause_ms;
}

static void
mbus_tick(void *part, int64_t now)
{
    mbus_t *self = part;
    if (self->pause_ms && now >= self->pause_ms)
        self->pause_ms = mbus_watch(self, self->listen_fd, NULL) ? 0 : now + PAUSE_MS;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* A socket that can't be opened is logged; the minion starts without it. */
static void *
mbus_start(jobserver_t *js, fail_t *err)
{
    mbus_t *self = xcalloc(1, sizeof(*self));
    fail_auto_t why = FAIL_INIT;
    self->js = js;
    self->listen_fd = self->epoll_fd = -1;
    for (size_t i = 0; i < LINES; i++)
        self->lines[i].fd = -1;
    if (mbus_listen(self, &why) < 0) {
        log_warning("nobody can listen to this minion's bus: %s", fail_text(&why));
        mbus_deaf(self);
    }
    return self;
}

static void
mbus_destroy(void *part)
{
    mbus_t *self = part;
    if (self->js->in_session) /* the socket belongs to the first process: do not unlink it */
        free(STEAL(self->path));
    mbus_deaf(self);
    free(self);
}

static const part_request_t requests[] = { { "event", mbus_request_event, NULL }, { 0 } };
static const part_event_t events[] = { { "fire_master", mbus_fire_master }, { 0 } };

const minion_part_t minion_part_bus = {
    .name = "bus",
    .start = mbus_start,
    .destroy = mbus_destroy,
    .tick = mbus_tick,
    .next_ms = mbus_next_ms,
    .fd = mbus_fd,
    .ready = mbus_ready,
    .job_new = mbus_job_new,
    .job_returned = mbus_job_returned,
    .shown = mbus_shown,
    .fired = mbus_fired,
    .requests = requests,
    .events = events,
};
