/* mgrains.c - the minion's grains over time: cheap ones gathered at once, slow ones from the cache while a
 * child gathers them anew. No job waits for them.
 *
 * The child sends one frame with the slow grains that are new or different and exits. When they differ from
 * the last ones, the whole set is assembled, cached and sent to the masters.
 */
#include "minion/jobs/jobserver.h"

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

typedef struct mgrains {
    jobserver_t *js;
    json_t *slow; /* owned: the slow grains as last gathered */
    pid_t pid;
    int fd;           /* the child's socketpair; -1: no child */
    int64_t until_ms; /* monotonic: when the child is killed */
    bool again;       /* gather again when the child has ended */
    bool said;        /* the child has sent its frame, or was killed */
    int64_t retry_ms; /* monotonic: the next try after a failure; 0: none */
    int64_t next_ms;  /* monotonic: grains_refresh_every; 0: never */
    buf_t in;
} mgrains_t;

/* The child's main function: gathers on top of the known grains and sends those that are new or different,
 * and those that were sent the last time. */
static NORETURN void
mgrains_child(const mgrains_t *self, int fd, pid_t parent)
{
    const jobserver_t *js = self->js;
    sigset_t empty;
    (void) sigemptyset(&empty);
    (void) sigprocmask(SIG_SETMASK, &empty, NULL);
    (void) signal(SIGTERM, SIG_DFL);
    proc_end_with(parent);

    json_auto_t *known = json_deep_copy(js->grains), *slow = json_object();
    const char *key;
    json_t *v;
    grains_collect(js->tables.grain_plugins, js->tables.n_grain_plugins, GRAIN_SLOW, "", js->opts, known);
    json_object_foreach (known, key, v)
        if (!json_equal(v, json_object_get(js->grains, key)) || json_object_get(self->slow, key) != NULL)
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
    _exit(0);
}

/* Logs a failure and schedules the next try. */
static void
mgrains_later(mgrains_t *self, const char *why)
{
    log_warning("slow grains are not gathered: %s; another try follows in %d seconds", why, RETRY_MS / 1000);
    self->retry_ms = clock_mono_ms() + RETRY_MS;
}

/* Forks the child, unless one is at work. */
static void
mgrains_start_child(mgrains_t *self)
{
    int ends[2];
    if (self->fd >= 0)
        return;
    self->again = self->said = false;
    self->retry_ms = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        mgrains_later(self, strerror(errno));
        return;
    }
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        (void) close(ends[0]);
        mgrains_child(self, ends[1], parent);
    }
    int code = errno;
    (void) close(ends[1]);
    if (pid < 0) {
        mgrains_later(self, strerror(code));
        (void) close(ends[0]);
        return;
    }
    self->pid = pid;
    self->until_ms = clock_mono_ms() + GATHER_MS;
    self->fd = ends[0];
    buf_clear(&self->in);
}

/* Replaces js->grains with the whole set: cheap ones anew, the known slow ones, then file and option. */
static void
mgrains_assemble(const mgrains_t *self)
{
    jobserver_t *js = self->js;
    json_t *all = json_object();
    grains_collect(js->tables.grain_plugins, js->tables.n_grain_plugins, GRAIN_CHEAP, "", js->opts, all);
    if (self->slow != NULL)
        (void) json_object_update(all, self->slow);
    grains_finish(js->opts, all);
    json_decref(js->grains);
    js->grains = all;
}

/* Gathers cheap grains now, and slow ones in the background; for now from the cache. */
static void
mgrains_gather(mgrains_t *self)
{
    if (self->slow == NULL)
        self->slow = grains_cache_load(conf_str(self->js->conf, "cachedir"));
    mgrains_assemble(self);
    mgrains_start_child(self);
}

/* Sends the grains to the masters. */
static void
mgrains_push(const mgrains_t *self)
{
    json_t *frame = json_pack("{s:s, s:O}", "t", "grains", "grains", self->js->grains);
    jobserver_down(self->js, &frame);
}

/* Runs grains_refresh_every, retries, and kills a child that takes longer than GATHER_MS. */
static void
mgrains_tick(void *part, int64_t now_ms)
{
    mgrains_t *self = part;
    int64_t every = (int64_t) (value_num(self->js->opts, "grains_refresh_every", 0) * 60000);
    bool due = self->next_ms != 0 && now_ms >= self->next_ms;
    if (every <= 0)
        self->next_ms = 0;
    else if (due || self->next_ms == 0)
        self->next_ms = now_ms + every;
    if (due && every > 0) {
        json_auto_t *before = json_incref(self->js->grains);
        mgrains_gather(self);
        if (!json_equal(before, self->js->grains)) {
            mgrains_push(self);
            EACH_PART(self->js, grains_changed);
        }
    }

    if (self->retry_ms && now_ms >= self->retry_ms)
        mgrains_start_child(self);
    if (self->fd < 0 || now_ms < self->until_ms)
        return;
    log_warning("slow grains took more than %d seconds: those of before stay", GATHER_MS / 1000);
    (void) kill(self->pid, SIGKILL);
    self->said = true;
    self->until_ms = now_ms + GATHER_MS;
}

static int64_t
mgrains_next_ms(void *part)
{
    const mgrains_t *self = part;
    return part_sooner(self->fd < 0 ? 0 : self->until_ms, part_sooner(self->next_ms, self->retry_ms));
}

static int
mgrains_fd(const void *part, short *ret_ask)
{
    return ((const mgrains_t *) part)->fd;
}

/* Reads the child's frame; at EOF the child is over, and the next one starts if one is wanted. */
static void
mgrains_ready(void *part, short events)
{
    mgrains_t *self = part;
    buf_reserve(&self->in, READ_CHUNK);
    ssize_t n = recv(self->fd, self->in.data + self->in.len, READ_CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n > 0)
        self->in.len += (size_t) n;
    json_auto_t *slow = NULL;
    if (frame_take(&self->in, LIMIT_WIRE_MSG, &slow, NULL) > 0) {
        /* Takes the child's grains, when they differ from the last. */
        fail_auto_t err = FAIL_INIT;
        bool same = json_equal(slow, self->slow);
        log_debug("%zu grains gathered, %s before", json_object_size(slow), same ? "as" : "others than");
        if (!same) {
            json_decref(self->slow);
            self->slow = json_incref(slow);
            if (grains_cache_save(conf_str(self->js->conf, "cachedir"), slow, &err) < 0)
                log_warning("%s", fail_text(&err));
            mgrains_assemble(self);
            mgrains_push(self);
            EACH_PART(self->js, grains_changed);
        }
    }
    self->said |= slow != NULL;
    if (n > 0)
        return;
    (void) close(self->fd);
    self->fd = -1;
    self->pid = 0;
    buf_free(&self->in);
    if (self->again)
        mgrains_start_child(self);
    else if (!self->said)
        mgrains_later(self, "their process ended");
}

static void
mgrains_master_up(void *part, int master)
{
    mgrains_push(part);
}

static void
mgrains_job_begins(void *part, const json_t *job)
{
    mgrains_t *self = part;
    if (value_bool(self->js->opts, "grains_refresh_pre_exec", false))
        mgrains_gather(self);
}

static void
mgrains_reload(void *part)
{
    mgrains_t *self = part;
    self->again = true;
    mgrains_gather(self);
}

static void
mgrains_refresh(void *part, json_t *data)
{
    mgrains_reload(part);
    mgrains_push(part);
}

static json_t *
mgrains_request(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mgrains_refresh(part, NULL);
    return json_true();
}

static void
mgrains_stop(void *part)
{
    const mgrains_t *self = part;
    if (self->fd >= 0)
        (void) kill(self->pid, SIGKILL);
}

static void *
mgrains_start(jobserver_t *js, fail_t *err)
{
    mgrains_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    self->fd = -1;
    mgrains_gather(self);
    return self;
}

static void
mgrains_destroy(void *part)
{
    mgrains_t *self = part;
    if (self->fd >= 0)
        (void) close(self->fd);
    json_decref(self->slow);
    buf_free(&self->in);
    free(self);
}

static const part_request_t requests[] = { { "refresh_grains", mgrains_request, "{op: refresh_grains}" },
                                           { 0 } };
static const part_event_t events[] = { { "grains_refresh", mgrains_refresh }, { 0 } };

const minion_part_t minion_part_grains = {
    .name = "grains",
    .start = mgrains_start,
    .destroy = mgrains_destroy,
    .reload = mgrains_reload,
    .stop = mgrains_stop,
    .tick = mgrains_tick,
    .next_ms = mgrains_next_ms,
    .fd = mgrains_fd,
    .ready = mgrains_ready,
    .master_up = mgrains_master_up,
    .job_begins = mgrains_job_begins,
    .requests = requests,
    .events = events,
};
