/* mgrains.c - the minion's grains over time: cheap ones at once, slow ones from the cache while a child
 * gathers them anew. No command ever waits for them. */
#include "minion/jobserver.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "minion/grains_set.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK (64 * 1024)
#define RETRY_MS   30000
#define GATHER_MS                                                                                            \
    120000 /* for the slow grains; a name server that does not answer must not hold them for ever */

/* Only what is new or different travels. */
static void
s_gather(const jobserver_t *self, int fd)
{
    json_auto_t *known = json_deep_copy(self->grains), *slow = json_object();
    const char *key;
    json_t *v;
    grains_collect(self->tables.grain_plugins, self->tables.n_grain_plugins, GRAIN_SLOW, "", self->opts,
                   known);
    json_object_foreach (known, key, v)
        if (!json_equal(v, json_object_get(self->grains, key)) || json_object_get(self->slow_grains, key))
            json_object_set(slow, key, v);
    buf_auto_t out = BUF_INIT;
    frame_add(&out, slow);
    for (size_t at = 0; at < out.len;) {
        ssize_t n = send(fd, out.data + at, out.len - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t) n;
    }
}

static NORETURN void
s_child(jobserver_t *self, int fd, pid_t parent)
{
    sigset_t empty;
    (void) sigemptyset(&empty);
    (void) sigprocmask(SIG_SETMASK, &empty, NULL);
    (void) signal(SIGTERM, SIG_DFL);
    proc_end_with(parent);
    s_gather(self, fd);
    _exit(0);
}

static void
s_later(jobserver_t *self, const char *why)
{
    log_warning("slow grains are not gathered: %s; another try follows in %d seconds", why, RETRY_MS / 1000);
    self->grains_retry_ms = clock_mono_ms() + RETRY_MS;
}

static void
s_start_child(jobserver_t *self)
{
    int ends[2];
    if (self->grains_fd >= 0)
        return;
    self->grains_again = self->grains_said = false;
    self->grains_retry_ms = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        s_later(self, strerror(errno));
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void) close(ends[0]);
        s_child(self, ends[1], parent);
    }
    int code = errno;
    (void) close(ends[1]);
    if (pid < 0) {
        s_later(self, strerror(code));
        (void) close(ends[0]);
        return;
    }
    self->grains_pid = pid;
    self->grains_until_ms = clock_mono_ms() + GATHER_MS;
    self->grains_fd = ends[0];
    buf_clear(&self->grains_in);
}

/* The whole set from what is known of both kinds. */
static void
s_assemble(jobserver_t *self)
{
    json_t *all = json_object();
    grains_collect(self->tables.grain_plugins, self->tables.n_grain_plugins, GRAIN_CHEAP, "", self->opts,
                   all);
    if (self->slow_grains)
        (void) json_object_update(all, self->slow_grains);
    grains_finish(self->opts, all);
    json_decref(self->grains);
    self->grains = all;
}

void
mgrains_gather(jobserver_t *self)
{
    if (!self->slow_grains)
        self->slow_grains = grains_cache_load(conf_str(self->conf, "cachedir"));
    s_assemble(self);
    s_start_child(self);
}

static void
s_refresh_sometimes(jobserver_t *self, int64_t now_ms)
{
    int64_t every = (int64_t) (value_num(self->opts, "grains_refresh_every", 0) * 60000);
    bool due = self->grains_next_ms != 0 && now_ms >= self->grains_next_ms;
    if (every <= 0)
        self->grains_next_ms = 0;
    else if (due || self->grains_next_ms == 0)
        self->grains_next_ms = now_ms + every;
    if (!due || every <= 0)
        return;
    json_auto_t *before = json_incref(self->grains);
    mgrains_gather(self);
    if (json_equal(before, self->grains))
        return;
    mgrains_push(self);
    mpillar_refresh(self, NULL, false, 0);
}

void
mgrains_tick(jobserver_t *self, int64_t now_ms)
{
    s_refresh_sometimes(self, now_ms);
    if (self->grains_retry_ms && now_ms >= self->grains_retry_ms)
        s_start_child(self);
    if (self->grains_fd < 0 || now_ms < self->grains_until_ms)
        return;
    log_warning("slow grains took more than %d seconds: those of before stay", GATHER_MS / 1000);
    (void) kill(self->grains_pid, SIGKILL);
    self->grains_said = true;
    self->grains_until_ms = now_ms + GATHER_MS;
}

void
mgrains_push(jobserver_t *self)
{
    json_t *frame = json_pack("{s:s, s:O}", "t", "grains", "grains", self->grains);
    jobserver_down(self, &frame);
}

static void
s_arrived(jobserver_t *self, json_t *slow)
{
    fail_auto_t err = FAIL_INIT;
    bool same = json_equal(slow, self->slow_grains);
    log_debug("%zu grains gathered, %s before", json_object_size(slow), same ? "as" : "others than");
    if (same)
        return;
    json_decref(self->slow_grains);
    self->slow_grains = json_incref(slow);
    if (grains_cache_save(conf_str(self->conf, "cachedir"), slow, &err) < 0)
        log_warning("%s", fail_text(&err));
    s_assemble(self);
    mgrains_push(self);
    mpillar_refresh(self, NULL, false, 0); /* top files and templates may ask for what is known now */
}

void
mgrains_read(jobserver_t *self)
{
    buf_reserve(&self->grains_in, READ_CHUNK);
    ssize_t n = recv(self->grains_fd, self->grains_in.data + self->grains_in.len, READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        self->grains_in.len += (size_t) n;
    json_auto_t *slow = NULL;
    if (frame_take(&self->grains_in, LIMIT_WIRE_MSG, &slow, NULL) > 0)
        s_arrived(self, slow);
    self->grains_said |= slow != NULL;
    if (n > 0)
        return;
    (void) close(self->grains_fd);
    self->grains_fd = -1;
    self->grains_pid = 0;
    buf_free(&self->grains_in);
    if (self->grains_again)
        s_start_child(self);
    else if (!self->grains_said)
        s_later(self, "their process ended");
}
