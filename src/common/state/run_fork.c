/* run_fork.c - forked workers: one child per parallel step, its return through a socket pair. Events and
 * questions to the host come back the same way, because the connection to the host can't be shared.
 *
 * The parent owns the children: it kills and reaps each when its return or end of file has come. At most
 * LIMIT_STATES_PARALLEL run; others wait in a queue that fork_next() starts. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "common/state/run.h"
#include "common/state/run_relay.h"

/* A step with its child, or a queued step. */
typedef struct child {
    struct child *next;
    size_t id;
    state_work_fn *fn;
    void *work;
    pid_t pid;
    int fd; /* -1: not started */
    buf_t in;
    bool ended;
    json_t *value; /* owned, once it has come */
} child_t;

struct state_fork {
    call_ctx_t *ctx;
    child_t *children; /* at work */
    child_t *queue, **queue_end;
    size_t n; /* at work */
};

state_fork_t *
state_fork_new(call_ctx_t *ctx)
{
    state_fork_t *self = xcalloc(1, sizeof(*self));

    self->ctx = ctx;
    self->queue_end = &self->queue;
    return self;
}

static void
child_free(child_t *child)
{
    if (child->fd >= 0)
        (void) close(child->fd);
    buf_free(&child->in);
    json_decref(child->value);
    free(child);
}

/* A child was sent SIGKILL or has ended: this can't block for long. */
static int
run_fork_wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

void
state_fork_destroy(state_fork_t **self_p)
{
    state_fork_t *self = *self_p;

    if (self == NULL)
        return;
    for (child_t *c = self->children, *next; c != NULL; c = next) {
        next = c->next;
        (void) kill(c->pid, SIGKILL);
        (void) run_fork_wait_for(c->pid);
        child_free(c);
    }
    for (child_t *c = self->queue, *next; c != NULL; c = next) {
        next = c->next;
        child_free(c);
    }
    free(self);
    *self_p = NULL;
}

/* Read what is there and take complete frames. End of file, a read error or a bad frame end the child. */
static void
run_fork_listen_to(state_fork_t *self, child_t *child)
{
    fail_auto_t err = FAIL_INIT;
    int rc = run_relay_receive(child->fd, &child->in), taken = rc;

    while (taken > 0 && !child->ended) {
        json_auto_t *frame = NULL;
        taken = frame_take(&child->in, LIMIT_LOCAL_MSG, &frame, &err);
        if (taken > 0) {
            /* Handle a child's frame: its return, or a question to answer. */
            if (str_eq(value_str(frame, "t", ""), "ret")) {
                child->ended = true;
                child->value = json_incref(value_get(frame, "value"));
                continue;
            }
            json_auto_t *answer = run_relay_answer(self->ctx, frame);
            (void) run_relay_send(child->fd, answer);
        }
    }
    child->ended = child->ended || rc <= 0 || taken < 0;
}

/* Fork the child. 0 when it runs; or a negative errno with *err. */
static int
run_fork_start(state_fork_t *self, child_t *child, fail_t *err)
{
    int pair[2];
    pid_t parent = getpid();

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return fail_set(err, -errno, "socketpair: %s", strerror(errno));
    child->pid = fork();
    if (child->pid < 0) {
        int code = -errno;
        (void) close(pair[0]);
        (void) close(pair[1]);
        return fail_set(err, code, "fork: %s", strerror(-code));
    }
    if (child->pid == 0) {
        /* The child ends by _exit(), so that no handler or buffer of the parent's runs twice. */
        run_line_t line = { .fd = pair[1], .in = BUF_INIT };
        (void) close(pair[0]);
        proc_end_with(parent);
        run_relay_use(self->ctx, &line);
        json_auto_t *value = child->fn(self->ctx, child->work);
        json_auto_t *frame = json_pack("{s:s, s:O}", "t", "ret", "value", value);
        _exit(run_relay_send(pair[1], frame) == 0 ? 0 : 1);
    }
    (void) close(pair[1]);
    child->fd = pair[0];
    child->next = self->children;
    self->children = child;
    self->n++;
    return 0;
}

/* Reap a child that has ended. 1 with its return; NULL with *err if it died without one. */
static int
bury(state_fork_t *self, child_t **at, size_t *ret_id, json_t **ret_value, fail_t *err)
{
    child_t *child = *at;

    (void) kill(child->pid, SIGKILL);
    int status = run_fork_wait_for(child->pid);
    *ret_id = child->id;
    *ret_value = STEAL(child->value);
    if (*ret_value == NULL && WIFSIGNALED(status))
        (void) fail_set(err, -EIO, "it was ended by signal %d (%s)", WTERMSIG(status),
                        strsignal(WTERMSIG(status)));
    else if (*ret_value == NULL)
        (void) fail_set(err, -EIO, "it ended with exit code %d", WEXITSTATUS(status));
    *at = child->next;
    self->n--;
    child_free(child);
    return 1;
}

/* See state_workers_t.next. At most LIMIT_STATES_PARALLEL descriptors, so poll() over an array on the
 * stack. */
static int
fork_next(void *cookie, int timeout_ms, size_t *ret_id, json_t **ret_value, fail_t *err)
{
    state_fork_t *self = cookie;
    int64_t until = clock_mono_ms() + timeout_ms;

    *ret_value = NULL;
    /* Start queued steps while there is room. The error of one that can't start is its result. */
    while (self->queue != NULL && self->n < LIMIT_STATES_PARALLEL) {
        child_t *child = self->queue;
        self->queue = child->next;
        if (self->queue == NULL)
            self->queue_end = &self->queue;
        if (run_fork_start(self, child, err) < 0) {
            *ret_id = child->id;
            child_free(child);
            return 1;
        }
    }

    /* Listen to all children until one has ended. */
    while (self->n > 0) {
        struct pollfd fds[LIMIT_STATES_PARALLEL];
        nfds_t n = 0;
        for (const child_t *c = self->children; c != NULL; c = c->next)
            fds[n++] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
        int64_t left = timeout_ms < 0 ? -1 : until - clock_mono_ms();
        int rc = poll(fds, n, timeout_ms < 0 ? -1 : left > 0 ? (int) left : 0);
        n = 0;
        for (child_t **at = &self->children; rc > 0 && *at != NULL; at = &(*at)->next, n++) {
            if (fds[n].revents != 0)
                run_fork_listen_to(self, *at);
            if ((*at)->ended)
                return bury(self, at, ret_id, ret_value, err);
        }
        if (timeout_ms >= 0 && rc == 0)
            return 0;
    }
    return 0;
}

/* Starts a child, or queues the work when LIMIT_STATES_PARALLEL children are running. */
static int
fork_start(void *cookie, size_t id, state_work_fn *fn, void *work, fail_t *err)
{
    state_fork_t *self = cookie;
    child_t *child = xcalloc(1, sizeof(*child));

    *child = (child_t){ .id = id, .fn = fn, .work = work, .fd = -1 };
    if (self->n < LIMIT_STATES_PARALLEL) {
        int rc = run_fork_start(self, child, err);
        if (rc < 0)
            child_free(child);
        return rc;
    }
    *self->queue_end = child;
    self->queue_end = &child->next;
    return 0;
}

const state_workers_t state_fork_workers = { fork_start, fork_next };
