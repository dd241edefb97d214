/* zygote.c - see common/python/zygote.h. As long as no zygote is there, this process watches the door; then
 * the zygote does, and this process watches the zygote. Messages that came meanwhile wait in the socket. A
 * zygote that was told to leave waits for its last child; the door is watched again meanwhile, and another
 * one may come. */
#include "common/python/zygote.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/python/door.h"
#include "pyhost/pyhost.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define YOUNG_MS                                                                                             \
    2000 /* a zygote that ends by itself sooner is not started again for the messages that wait */

static const char zygote_text[] =
#include "gen/python_zygote.inc"
    ;

typedef struct leaving {
    python_t *python;
    struct leaving *next;
} leaving_t;

struct zygote {
    int ours, theirs; /* ends of the door */
    int epoll;
    python_t *python;   /* that listens at the door; NULL: none is there */
    leaving_t *leaving; /* that have left it */
    int64_t since_ms;
};

static void
zygote_watch(const zygote_t *self, int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    (void) epoll_ctl(self->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void
zygote_ignore(const zygote_t *self, int fd)
{
    (void) epoll_ctl(self->epoll, EPOLL_CTL_DEL, fd, NULL);
}

/* The next message of the door, which stays there. NEW; NULL: none. */
static json_t *
zygote_peek(const zygote_t *self)
{
    AUTO_FREE char *text = xcalloc(1, DOOR_MAX);
    fail_auto_t err = FAIL_INIT;
    ssize_t n = recv(self->theirs, text, DOOR_MAX, MSG_PEEK | MSG_DONTWAIT);

    return n > 0 ? value_parse(text, (size_t) n, DOOR_MAX, "a request for an interpreter", &err) : NULL;
}

/* Descriptors that come with a message are closed by not being asked for: who waits for an interpreter sees
 * its end. */
static void
zygote_drop(const zygote_t *self)
{
    char byte;

    (void) recv(self->theirs, &byte, 1, MSG_DONTWAIT);
}

static int
zygote_begin(zygote_t *self, const json_t *how, fail_t *err)
{
    const python_how_t told = { value_str(how, "program", ""), value_str(how, "salt", NULL),
                                value_str(how, "cachedir", "") };

    self->python = python_new_at(&told, self->theirs, err);
    json_auto_t *loader = pyhost_program();
    json_auto_t *more = json_pack("{s:[{s:s, s:s}]}", "more", "text", zygote_text, "file", "zygote.py");
    json_auto_t *begin = json_pack("{s:{s:s, s:s?, s:s, s:i, s:i}}", "zygote", "program", told.program,
                                   "salt", told.salt, "cachedir", told.cachedir, "memory",
                                   (int) LIMIT_ZYGOTE_MEMORY, "idle", LIMIT_ZYGOTE_IDLE_S);
    if (self->python == NULL || python_send(self->python, loader, err) < 0 ||
        python_send(self->python, more, err) < 0 || python_send(self->python, begin, err) < 0)
        return err->code;
    self->since_ms = clock_mono_ms();
    zygote_ignore(self, self->theirs);
    zygote_watch(self, python_fd(self->python));
    door_serve(true);
    log_debug("an interpreter of Python stays, for files that import the package salt");
    return 0;
}

/* None listens at the door. */
static void
zygote_watch_door(const zygote_t *self)
{
    door_serve(false);
    zygote_watch(self, self->theirs);
}

/* What an interpreter said, beside answers to its tasks. */
typedef enum zygote_word { SAID_NOTHING, SAID_LEFT, SAID_END } zygote_word_t;

static zygote_word_t
zygote_said(const python_t *python)
{
    static const char left[] = "{\"left\"";
    char answers[4096];
    ssize_t n = recv(python_fd(python), answers, sizeof(answers), MSG_DONTWAIT);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return SAID_NOTHING;
    if (n <= 0)
        return SAID_END;
    return memmem(answers, (size_t) n, left, sizeof(left) - 1) != NULL ? SAID_LEFT : SAID_NOTHING;
}

/* Takes leave of those that have ended, or of `all`. */
static void
zygote_part(zygote_t *self, bool all)
{
    for (leaving_t **at = &self->leaving; *at != NULL;) {
        leaving_t *one = *at;
        if (!all && zygote_said(one->python) != SAID_END) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        zygote_ignore(self, python_fd(one->python));
        python_destroy(&one->python);
        free(one);
    }
}

void
zygote_ready(zygote_t *self)
{
    fail_auto_t err = FAIL_INIT;

    zygote_part(self, false);
    if (self->python != NULL) {
        zygote_word_t said = zygote_said(self->python);
        if (said == SAID_END) {
            /* One that ended as soon as it had begun would end again at each task: those that wait are
             * dropped. */
            zygote_watch_door(self);
            zygote_ignore(self, python_fd(self->python));
            python_destroy(&self->python);
            for (json_t *one;
                 clock_mono_ms() - self->since_ms < YOUNG_MS && (one = zygote_peek(self)) != NULL;) {
                json_decref(one);
                zygote_drop(self);
            }
        } else if (said == SAID_LEFT) {
            leaving_t *one = xcalloc(1, sizeof(*one));

            one->python = STEAL(self->python);
            one->next = self->leaving;
            self->leaving = one;
            zygote_watch_door(self);
        }
        return;
    }
    json_auto_t *message = zygote_peek(self);
    const json_t *how = value_get(message, "fork");
    if (how == NULL)
        how = value_get(message, "used");
    if (how != NULL && zygote_begin(self, how, &err) == 0)
        return;
    if (err.code < 0)
        log_warning("no interpreter of Python stays: %s", fail_text(&err));
    python_destroy(&self->python);
    zygote_drop(self);
}

zygote_t *
zygote_new(fail_t *err)
{
    zygote_t *self = xcalloc(1, sizeof(*self));
    int ends[2] = { -1, -1 };

    self->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (self->epoll < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        (void) fail_set(err, -errno, "no door for interpreters of Python: %s", strerror(errno));
    self->ours = ends[0];
    self->theirs = ends[1];
    if (self->theirs < 0) {
        zygote_destroy(&self);
        return NULL;
    }
    zygote_watch(self, self->theirs);
    door_open(self->ours);
    return self;
}

int
zygote_fd(const zygote_t *self)
{
    return self->epoll;
}

void
zygote_destroy(zygote_t **self_p)
{
    zygote_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    door_serve(false);
    door_open(-1);
    python_destroy(&self->python);
    zygote_part(self, true);
    const int fds[] = { self->ours, self->theirs, self->epoll };
    for (size_t i = 0; i < NELEMS(fds); i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(self);
}
