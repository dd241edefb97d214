/* jobserver.c - see jobserver.h. */
#include "minion/jobserver.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/notify.h"
#include "common/host/proc.h"
#include "common/base/str.h"
#include "common/conf/startup.h"
#include "common/crypto/keys.h"
#include "common/local/client.h"
#include "minion/jobcache.h"
#include "minion/jobret.h"
#include "minion/masters.h"
#include "minion/sessions.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define READ_CHUNK       (64 * 1024)
#define SESSION_RETRY_MS 1000
#define STOP_WAIT_MS     2000
#define PING_MS          20000 /* how often the networking process is asked for a word */
#define HANG_MS          90000 /* without one for so long it counts as hung */
#define FRAMES_BUDGET    64    /* of one job per turn of the loop */
#define FIXED_FDS        2
#define PART_LOOK_MS     10

/* Calls a hook of each part that has it and has started, in the order of the table. */
#define EACH_PART(js, hook, ...)                                                                             \
    do {                                                                                                     \
        for (size_t i_ = 0; i_ < (js)->n_parts; i_++) {                                                      \
            if ((js)->parts[i_].row->hook)                                                                   \
                (js)->parts[i_].row->hook((js)->parts[i_].self, ##__VA_ARGS__);                              \
        }                                                                                                    \
    } while (0)

/* ---- the parts -------------------------------------------------------------------------------- */

void
jobserver_fired(jobserver_t *self, const char *tag, json_t *data)
{
    EACH_PART(self, fired, tag, data);
}

void
jobserver_heed(jobserver_t *self, const char *tag, json_t *data)
{
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_event_t *row = self->parts[i].row->events; row && row->tag; row++)
            if (str_starts(tag, row->tag))
                row->fn(self->parts[i].self, data);
}

void
jobserver_show(jobserver_t *self, const char *tag, json_t *data)
{
    EACH_PART(self, shown, tag, data);
}

void
jobserver_grains_changed(jobserver_t *self)
{
    EACH_PART(self, grains_changed);
}

void
jobserver_pillar_changed(jobserver_t *self)
{
    EACH_PART(self, pillar_changed);
}

const part_request_t *
jobserver_request(const jobserver_t *self, const char *op, void **ret_part)
{
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_request_t *row = self->parts[i].row->requests; row && row->op; row++)
            if (str_eq(op, row->op)) {
                *ret_part = self->parts[i].self;
                return row;
            }
    return NULL;
}

char *
jobserver_bus_requests(const jobserver_t *self)
{
    buf_auto_t text = BUF_INIT;
    const char *last = NULL;
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_request_t *row = self->parts[i].row->requests; row && row->op; row++)
            if (row->bus) {
                if (last)
                    buf_printf(&text, ", %s", last);
                last = row->bus;
            }
    if (last)
        buf_printf(&text, " and %s", last);
    return xstrdup(buf_str(&text));
}

/* ---- down to the networking process ---------------------------------------------------------- */

static void
s_flush(jobserver_t *self)
{
    while (self->session_fd >= 0 && self->session_out.len > 0) {
        ssize_t n = send(self->session_fd, self->session_out.data, self->session_out.len,
                         MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n > 0)
            buf_consume(&self->session_out, (size_t) n);
        else if (errno != EINTR)
            return;
    }
}

void
jobserver_down(jobserver_t *self, json_t **frame_p)
{
    json_auto_t *frame = STEAL(*frame_p);
    if (self->session_fd < 0)
        return;
    frame_add(&self->session_out, frame);
    s_flush(self);
}

static void
s_send(void *cookie, const json_t *frame)
{
    json_t *copy = json_incref((json_t *) frame);
    jobserver_down(cookie, &copy);
}

void
jobserver_event(jobserver_t *self, const char *tag, json_t *data, json_t *more)
{
    jobserver_show(self, tag, data);
    if (!outbox_event(self->outbox, tag, data, more))
        log_error(
            "event %s: it is too large or too deep for a message, or too many wait for a master already; "
            "this one is dropped",
            tag);
}

int64_t
jobserver_offline_ms(const jobserver_t *self)
{
    int64_t since = outbox_deaf_ms(self->outbox), after = conf_int(self->conf, "offline_after");
    return since > 0 && after > 0 ? since + after * 1000 : 0;
}

bool
jobserver_is_offline(const jobserver_t *self)
{
    int64_t when = jobserver_offline_ms(self);
    return when > 0 && clock_mono_ms() >= when;
}

/* ---- jobs ------------------------------------------------------------------------------------- */

static void
s_failed_to_start(jobserver_t *self, json_t *job, const fail_t *err)
{
    log_error("job %s: %s", value_str(job, "jid", ""), fail_text(err));
    EACH_PART(self, job_over, job, NULL);
    if (value_bool(job, "own", false))
        return;
    json_t *failed = jobret_failed(job, xstrdup(fail_text(err)));
    json_auto_t *ret = jobret_fitting(&failed);
    if (!outbox_full(self->outbox)) {
        outbox_return(self->outbox, ret, value_str(job, "asker", NULL));
        return;
    }
    /* There is no room to keep even this: it is said once. */
    json_t *frame = json_pack("{s:s, s:I, s:O}", "t", "ret", "master", value_int(job, "master", -1), "ret",
                              ret);
    jobserver_down(self, &frame);
}

static void
s_start_job(jobserver_t *self, json_t *job)
{
    fail_auto_t err = FAIL_INIT;
    bool own_affair = value_bool(job, "own", false);
    if (!own_affair && spool_begin(outbox_spool(self->outbox), job, &err) < 0) {
        log_warning("job %s runs without a mark on the disk: %s", value_str(job, "jid", ""), fail_text(&err));
        fail_clear(&err);
    }
    json_t *own = json_incref(job);
    EACH_PART(self, job_begins, job);
    self->env.grains = self->grains;
    self->env.pillar = self->pillar;
    job_proc_t *proc = job_start(&self->env, &own, &err);
    if (!proc) {
        s_failed_to_start(self, job, &err);
        return;
    }
    proc->next = self->jobs;
    self->jobs = proc;
    self->n_jobs++;
    if (own_affair)
        return;
    log_info("Starting a new job %s PID %d", value_str(job, "jid", ""), (int) proc->pid);
    json_t *frame = json_pack("{s:s, s:I, s:O, s:i}", "t", "started", "master", value_int(job, "master", -1),
                              "jid", value_get(job, "jid"), "pid", (int) proc->pid);
    jobserver_down(self, &frame);
}

static size_t
s_jobs_max(const jobserver_t *self)
{
    json_int_t max = value_int(self->opts, "process_count_max", -1);
    return max > 0 && max < LIMIT_JOBS_RUNNING ? (size_t) max : LIMIT_JOBS_RUNNING;
}

void
jobserver_job(jobserver_t *self, json_t *job, int master)
{
    fail_auto_t err = FAIL_INIT;
    json_object_set_new(job, "master", json_integer(master));
    log_info("job %s: %s from %s", value_str(job, "jid", ""), value_str(job, "fun", "(several)"),
             value_str(job, "user", "?"));
    EACH_PART(self, job_new, job);
    if (self->stop)
        (void) fail_set(&err, -ECANCELED, "The minion was stopped before this job began");
    else if (outbox_full(self->outbox))
        (void) fail_set(&err, -ENOSPC,
                        "This minion's disk is full and its returns can't be kept: it takes no more jobs");
    else if (self->n_jobs >= s_jobs_max(self) && json_array_size(self->waiting) >= LIMIT_JIDS_SEEN)
        (void) fail_set(&err, -EAGAIN, "%zu jobs run and %d wait on this minion already", self->n_jobs,
                        LIMIT_JIDS_SEEN);
    if (err.text)
        s_failed_to_start(self, job, &err);
    else if (self->n_jobs < s_jobs_max(self))
        s_start_job(self, job);
    else
        json_array_append(self->waiting, job);
}

/* The return goes out as soon as the child has said it; that the child is gone too need not be waited for. */
static void
s_return(jobserver_t *self, job_proc_t *proc)
{
    if (proc->returned)
        return;
    proc->returned = true;
    json_auto_t *ret = job_return(proc);
    EACH_PART(self, job_returned, proc->job, ret);
    if (value_bool(proc->job, "own", false))
        return;
    log_info("Returning information for job: %s", value_str(proc->job, "jid", ""));
    jobcache_keep(self->opts, ret);
    outbox_return(self->outbox, ret, value_str(proc->job, "asker", NULL));
}

static void
s_end_job(jobserver_t *self, job_proc_t **at)
{
    job_proc_t *proc = *at;
    *at = proc->next;
    self->n_jobs--;
    s_return(self, proc);
    EACH_PART(self, job_over, proc->job, proc);
    if (self->ending != JOBSERVER_STAYS && self->ending_job == proc->pid)
        self->stop = true;
    job_proc_destroy(&proc);
    while (json_array_size(self->waiting) > 0 && self->n_jobs < s_jobs_max(self) && !self->stop) {
        json_auto_t *next = json_incref(json_array_get(self->waiting, 0));
        json_array_remove(self->waiting, 0);
        s_start_job(self, next);
    }
}

/* NEW answer frame; NULL: it comes later. */
static json_t *
s_answer(const jobserver_t *self, job_proc_t *asker, json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    const char *op = value_str(request, "op", "");
    void *part;
    const part_request_t *row = jobserver_request(self, op, &part);
    json_t *value = row ? row->fn(part, asker, request, &err) : NULL;
    if (value)
        return json_pack("{s:b, s:o}", "ok", true, "value", value);
    if (!row)
        (void) fail_set(&err, -ENOTSUP, "a minion has no operation '%s'", op);
    return err.code == 0
               ? NULL
               : json_pack("{s:b, s:s, s:i}", "ok", false, "error", fail_text(&err), "code", -err.code);
}

/* A child that never stops talking gets its turns like everybody else; one that has ended is heard to its
 * end. */
static void
s_job_frames(jobserver_t *self, job_proc_t *proc)
{
    json_t *frame = NULL;
    for (int i = 0;
         (i < FRAMES_BUDGET || proc->exited) && job_read(proc, self->env.output_limit, &frame) == 1; i++) {
        json_auto_t *f = STEAL(frame);
        if (str_eq(value_str(f, "t", ""), "fire")) {
            json_t *data = value_get(f, "data");
            if (data)
                jobserver_event(self, value_str(f, "tag", ""), data, NULL);
        } else {
            json_t *answer = s_answer(self, proc, value_get(f, "request"));
            if (answer)
                job_answer(proc, &answer);
        }
    }
    if (proc->ret)
        s_return(self, proc);
}

/* Jobs whose child has ended and whose pipe is read to its end. What it said last may begin another job,
 * which comes before all in the list: so all are heard first. */
static void
s_sweep(jobserver_t *self)
{
    int64_t now = clock_mono_ms();
    for (job_proc_t *proc = self->jobs; proc; proc = proc->next) {
        if (proc->deadline_ms && now >= proc->deadline_ms && !proc->timed_out && !proc->exited) {
            proc->timed_out = true;
            (void) job_signal(proc, SIGKILL);
        }
        if (proc->exited && proc->fd >= 0)
            s_job_frames(self, proc);
    }
    for (job_proc_t **at = &self->jobs; *at;) {
        if ((*at)->exited)
            s_end_job(self, at);
        else
            at = &(*at)->next;
    }
}

/* ---- up from the networking process ---------------------------------------------------------- */

/* It runs, or waits, or its return does: however many came after it. */
static bool
s_has(const jobserver_t *self, const char *jid)
{
    size_t i;
    json_t *job;
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (str_eq(value_str(p->job, "jid", ""), jid))
            return true;
    json_array_foreach (self->waiting, i, job)
        if (str_eq(value_str(job, "jid", ""), jid))
            return true;
    return outbox_has(self->outbox, jid) || value_lists(spool_marks(outbox_spool(self->outbox)), jid);
}

static void
s_up_job(jobserver_t *self, json_t *frame)
{
    json_t *job = value_get(frame, "job");
    const char *jid = value_str(job, "jid", "");
    if (!json_is_object(job) || !seen_add(self->seen, jid) || s_has(self, jid))
        return;
    json_object_set(job, "asker", value_get(frame, "asker"));
    jobserver_job(self, job, (int) value_int(frame, "master", -1));
}

/* Another master than the one that asked has a return. On the disk before the return goes from it: a
 * restart must not run the job again. */
static void
s_note_elsewhere(jobserver_t *self, const json_t *jids, const char *by)
{
    fail_auto_t err = FAIL_INIT;
    size_t i;
    json_t *jid;
    bool any = false;
    json_array_foreach (jids, i, jid) {
        const char *asker = json_is_string(jid) ? outbox_asker(self->outbox, json_string_value(jid)) : NULL;
        if (!asker || str_eq(asker, by))
            continue;
        seen_elsewhere_add(self->seen, json_string_value(jid), asker);
        any = true;
    }
    json_auto_t *all = any ? seen_dump(self->seen) : NULL;
    if (all && spool_elsewhere_keep(outbox_spool(self->outbox), all, &err) < 0)
        log_warning("jobs that returned to another master than the one that asked are known until the minion "
                    "ends: %s",
                    fail_text(&err));
}

static void
s_up_ack(jobserver_t *self, json_t *frame)
{
    s_note_elsewhere(self, value_get(frame, "jids"), value_str(frame, "by", ""));
    outbox_acked(self->outbox, value_get(frame, "jids"), value_get(frame, "events"));
}

static void
s_up_state(jobserver_t *self, json_t *frame)
{
    int master = (int) value_int(frame, "master", 0);
    if (!str_eq(value_str(frame, "state", ""), "ready")) {
        outbox_deaf(self->outbox, master);
        EACH_PART(self, master_down, master);
        return;
    }
    EACH_PART(self, master_up, master);
    json_t *again = json_pack("{s:s, s:i}", "t", "again", "master", master);
    jobserver_down(self, &again);
    outbox_listens(self->outbox, master);
}

/* Any word of the networking process shows that it lives; this is one it can always say. */
static void
s_up_pong(jobserver_t *self, json_t *frame)
{
}

/* News of the networking process, as an event salt/minion/ID/... */
static void
s_up_tell(jobserver_t *self, json_t *frame)
{
    AUTO_FREE char *tag = xasprintf("salt/minion/%s/%s", conf_str(self->conf, "id"),
                                    value_str(frame, "tag", ""));
    jobserver_event(self, tag, value_get(frame, "data"), NULL);
}

static const struct {
    const char *name;
    void (*fn)(jobserver_t *self, json_t *frame);
} ups[] = {
    { "job", s_up_job },   { "ack", s_up_ack },   { "state", s_up_state },
    { "pong", s_up_pong }, { "tell", s_up_tell },
};

static void
s_up(jobserver_t *self, json_t *frame)
{
    const char *name = value_str(frame, "t", "");
    for (size_t i = 0; i < NELEMS(ups); i++)
        if (str_eq(name, ups[i].name))
            ups[i].fn(self, frame);
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_message_t *row = self->parts[i].row->messages; row && row->name; row++)
            if (str_eq(name, row->name))
                row->fn(self->parts[i].self, frame);
}

static void
s_session_gone(jobserver_t *self)
{
    (void) close(self->session_fd);
    self->session_fd = -1;
    buf_clear(&self->session_in);
    buf_clear(&self->session_out);
    outbox_deaf(self->outbox, -1);
    EACH_PART(self, master_down, -1);
    EACH_PART(self, link_down);
    self->session_retry_ms = clock_mono_ms() + SESSION_RETRY_MS;
    if (!self->stop)
        log_error("the networking process ended; it is started again");
}

/* False: no more can be read. A job may be lost with it: the next networking process is told which ones we
 * have. What makes no sense does not hold up what follows. */
static bool
s_session_frames(jobserver_t *self)
{
    for (;;) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *frame = NULL;
        int rc = frame_take(&self->session_in, LIMIT_LOCAL_MSG, &frame, &err);
        if (rc == 0)
            return true;
        if (rc < 0)
            log_error("a message of the networking process can't be read: %s", fail_text(&err));
        if (rc == -ENOMEM || rc == -EMSGSIZE)
            return false;
        s_up(self, frame);
    }
}

static void
s_session_read(jobserver_t *self)
{
    for (;;) {
        buf_reserve(&self->session_in, READ_CHUNK);
        ssize_t n = recv(self->session_fd, self->session_in.data + self->session_in.len, READ_CHUNK,
                         MSG_DONTWAIT);
        if (n > 0) {
            self->session_in.len += (size_t) n;
            self->session_heard_ms = clock_mono_ms();
        }
        if (!s_session_frames(self)) {
            (void) kill(self->session_pid, SIGKILL);
            s_session_gone(self);
            return;
        }
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            s_session_gone(self);
            return;
        }
        if (n < 0)
            return;
    }
}

static void
s_add_pending(json_t *pending, const json_t *job)
{
    json_t *asker = value_get(job, "asker");
    json_object_set_new(pending, value_str(job, "jid", ""), asker ? json_incref(asker) : json_null());
}

/* NEW {jid: who asked, or null} of the jobs that run, or wait, or whose returns do. */
static json_t *
s_pending(const jobserver_t *self)
{
    json_t *pending = outbox_pending(self->outbox), *one;
    size_t i;
    json_array_foreach (spool_marks(outbox_spool(self->outbox)), i, one)
        json_object_set_new(pending, json_string_value(one), json_null());
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        s_add_pending(pending, p->job);
    json_array_foreach (self->waiting, i, one)
        s_add_pending(pending, one);
    return pending;
}

static int
s_start_session(jobserver_t *self, fail_t *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return fail_set(err, -errno, "socketpair: %s", strerror(errno));
    /* The configuration may have been read again since the last one. */
    json_auto_t *masters = masters_by_name(self->conf);
    outbox_masters(self->outbox, masters);
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        int code = errno;
        (void) close(ends[0]), (void) close(ends[1]);
        return fail_set(err, -code, "fork: %s", strerror(code));
    }
    if (pid == 0) {
        proc_end_with(parent);
        (void) close(ends[0]);
        self->in_session = true;
        json_auto_t *pending = s_pending(self);
        const sessions_begin_t begin = { self->boot, self->series, self->seen, pending };
        self->exit_code = sessions_main(self->conf, &begin, ends[1]);
        return 0;
    }
    (void) close(ends[1]);
    self->session_pid = pid;
    self->session_fd = ends[0];
    self->session_heard_ms = clock_mono_ms();
    self->session_ping_ms = self->session_heard_ms + PING_MS;
    EACH_PART(self, link_up);
    return 0;
}

/* A networking process that hangs is ended: another one starts in its place. */
static void
s_watch_session(jobserver_t *self, int64_t now)
{
    if (self->session_fd < 0 || now < self->session_ping_ms)
        return;
    /* We did not run ourselves: it was not asked, and what it has said was not read. */
    if (now - self->session_ping_ms > PING_MS)
        self->session_heard_ms = now;
    self->session_ping_ms = now + PING_MS;
    if (now - self->session_heard_ms > HANG_MS) {
        log_error("the networking process says nothing any more: it is ended");
        (void) kill(self->session_pid, SIGKILL);
        s_session_gone(self);
        return;
    }
    json_t *frame = json_pack("{s:s}", "t", "ping");
    jobserver_down(self, &frame);
}

/* ---- signals ---------------------------------------------------------------------------------- */

static void
s_reap(jobserver_t *self)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (job_proc_t *p = self->jobs; p; p = p->next)
            if (p->pid == pid) {
                p->exited = true;
                p->status = status;
            }
    }
}

static void
s_take_conf(jobserver_t *self)
{
    self->opts = conf_opts(self->conf);
    self->env = (job_env_t){ .registry = self->tables.registry,
                             .states = self->tables.states,
                             .grain_plugins = self->tables.grain_plugins,
                             .n_grain_plugins = self->tables.n_grain_plugins,
                             .opts = self->opts,
                             .grains = self->grains,
                             .id = conf_str(self->conf, "id"),
                             .timeout_s = (int) conf_int(self->conf, "job_timeout_max"),
                             .memory_limit = (size_t) conf_int(self->conf, "job_memory_max"),
                             .output_limit = (size_t) conf_int(self->conf, "job_output_max") };
    outbox_patience(self->outbox, conf_int(self->conf, "return_to_other_after") * 1000);
}

static void
s_reload(jobserver_t *self)
{
    fail_auto_t err = FAIL_INIT;
    conf_t *fresh = startup_reload(self->conf, self->conf_dir, CONF_MINION, self->overrides, &err);
    if (!fresh) {
        log_error("reload: the old configuration stays: %s", fail_text(&err));
        return;
    }
    conf_destroy(&self->conf);
    self->conf = fresh;
    s_take_conf(self);
    EACH_PART(self, reload);
}

static void
s_signals(jobserver_t *self)
{
    int sig;
    while ((sig = daemon_next_signal(self->signal_fd)) != 0) {
        if (sig == SIGCHLD)
            s_reap(self);
        else if (sig == SIGHUP)
            s_reload(self);
        else if (sig == SIGTERM || sig == SIGINT) {
            notify_stopping();
            self->stop = true;
        }
    }
}

/* ---- the loop --------------------------------------------------------------------------------- */

static int
s_timeout(jobserver_t *self, int64_t now)
{
    int64_t next = part_sooner(now + PING_MS, outbox_next_ms(self->outbox));
    next = part_sooner(next, self->session_fd < 0 ? self->session_retry_ms : self->session_ping_ms);
    for (size_t i = 0; i < self->n_parts; i++) {
        const minion_part_t *part = self->parts[i].row;
        if (part->next_ms)
            next = part_sooner(next, part->next_ms(self->parts[i].self));
    }
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p->deadline_ms && !p->timed_out && p->deadline_ms < next)
            next = p->deadline_ms;
    return next > now ? (int) (next - now) : 0;
}

static void
s_turn(jobserver_t *self)
{
    struct pollfd fds[FIXED_FDS + PARTS_MAX + LIMIT_JOBS_RUNNING];
    job_proc_t *who[FIXED_FDS + PARTS_MAX + LIMIT_JOBS_RUNNING];
    size_t first_job = FIXED_FDS + self->n_parts, n = first_job;
    fds[0] = (struct pollfd){ self->signal_fd, POLLIN, 0 };
    fds[1] = (struct pollfd){ self->session_fd, (short) (POLLIN | (self->session_out.len ? POLLOUT : 0)), 0 };
    for (size_t i = 0; i < self->n_parts; i++) {
        const minion_part_t *part = self->parts[i].row;
        short ask = POLLIN;
        int fd = part->fd ? part->fd(self->parts[i].self, &ask) : -1;
        fds[FIXED_FDS + i] = (struct pollfd){ fd, ask, 0 };
    }
    for (job_proc_t *p = self->jobs; p; p = p->next)
        if (p->fd >= 0) {
            fds[n] = (struct pollfd){ p->fd, POLLIN, 0 };
            who[n++] = p;
        }
    if (poll(fds, (nfds_t) n, s_timeout(self, clock_mono_ms())) > 0)
        self->busy_ms = clock_mono_ms();

    for (size_t i = first_job; i < n; i++)
        if (fds[i].revents)
            s_job_frames(self, who[i]);
    if (fds[0].revents)
        s_signals(self);
    s_sweep(self);
    if (fds[1].revents & POLLOUT)
        s_flush(self);
    if (fds[1].revents & (POLLIN | POLLHUP))
        s_session_read(self);
    for (size_t i = 0; i < self->n_parts; i++)
        if (fds[FIXED_FDS + i].revents)
            self->parts[i].row->ready(self->parts[i].self, fds[FIXED_FDS + i].revents);
}

/* Until there is nothing to wait for, or the time is up. */
static void
s_wait_end(jobserver_t *self, bool for_session)
{
    int64_t until = clock_mono_ms() + STOP_WAIT_MS, now;
    while ((now = clock_mono_ms()) < until && (for_session ? self->session_fd >= 0 : self->jobs != NULL)) {
        struct pollfd fds[2] = { { self->signal_fd, POLLIN, 0 },
                                 { self->session_fd, (short) (POLLIN | (self->session_out.len ? POLLOUT : 0)),
                                   0 } };
        (void) poll(fds, 2, (int) (until - now));
        s_signals(self);
        s_sweep(self);
        s_flush(self);
        if (fds[1].revents & (POLLIN | POLLHUP))
            s_session_read(self);
    }
}

/* Jobs first, so that their returns still go out; what does not get there waits in the spool for the next
 * start. */
/* Whether all jobs that were asked to part have answered, or are over. */
static bool
s_have_parted(const jobserver_t *self)
{
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p->parting && !p->exited && parting_state(p->parting) == PARTING_NONE &&
            !value_bool(p->job, "own", false))
            return false;
    return true;
}

/* One that has parted is nobody's to signal or to wait for: it leaves the list, and its mark says where it
 * is. */
static void
s_let_go(jobserver_t *self)
{
    for (job_proc_t **at = &self->jobs; *at;) {
        fail_auto_t err = FAIL_INIT;
        job_proc_t *p = *at;
        bool gone = !p->exited && parting_state(p->parting) == PARTING_GONE;
        if (gone && spool_part(outbox_spool(self->outbox), p->job, p->pid, &err) < 0) {
            log_error("job %s can't go on without the minion: %s", value_str(p->job, "jid", ""),
                      fail_text(&err));
            gone = false;
        }
        if (!gone) {
            at = &p->next;
            continue;
        }
        log_info("job %s goes on while the minion is stopped", value_str(p->job, "jid", ""));
        *at = p->next;
        self->n_jobs--;
        job_proc_destroy(&p);
    }
}

/* A service manager stops this process and nothing else (KillMode=process): a job may be what has it
 * restarted, or installs the next version. What is a job of the minion's own ends. */
static void
s_part(jobserver_t *self)
{
    int64_t until = clock_mono_ms() + STOP_WAIT_MS, now;
    if (!notify_heard())
        return;
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (!p->exited && !p->returned && !value_bool(p->job, "own", false))
            job_part(p);
    while ((now = clock_mono_ms()) < until && !s_have_parted(self)) {
        struct pollfd fd = { self->signal_fd, POLLIN, 0 };
        (void) poll(&fd, 1, PART_LOOK_MS);
        s_signals(self);
    }
    s_let_go(self);
}

static void
s_shutdown(jobserver_t *self)
{
    fail_auto_t err = FAIL_INIT;
    size_t i;
    json_t *one;
    (void) fail_set(&err, -ECANCELED, "The minion was stopped before this job began");
    json_array_foreach (self->waiting, i, one)
        s_failed_to_start(self, one, &err);
    (void) json_array_clear(self->waiting);
    s_part(self);
    job_signal_all(self->jobs, SIGTERM);
    EACH_PART(self, stop);
    s_wait_end(self, false);
    job_signal_all(self->jobs, SIGKILL);
    s_wait_end(self, false);
    json_t *frame = json_pack("{s:s}", "t", "quit");
    jobserver_down(self, &frame);
    s_wait_end(self, true);
    if (self->session_fd >= 0)
        (void) kill(self->session_pid, SIGKILL);
    if (self->session_pid > 0)
        (void) waitpid(self->session_pid, NULL, 0);
}

int
jobserver_run(jobserver_t *self)
{
    /* Before the first fork, so that no child keeps the terminal. */
    daemon_ready();
    while (!self->stop) {
        int64_t now = clock_mono_ms();
        if (self->session_fd < 0 && now >= self->session_retry_ms) {
            fail_auto_t err = FAIL_INIT;
            if (s_start_session(self, &err) < 0) {
                log_error("the networking process can't be started: %s", fail_text(&err));
                self->session_retry_ms = now + SESSION_RETRY_MS;
            }
            if (self->in_session)
                return self->exit_code;
        }
        s_watch_session(self, now);
        outbox_tick(self->outbox, now);
        EACH_PART(self, tick, now);
        s_turn(self);
    }
    s_shutdown(self);
    return 0;
}

/* ---- life ------------------------------------------------------------------------------------- */

/* A fleet that boots at once does not knock at its master at once. */
static void
s_delay_first(jobserver_t *self)
{
    json_int_t most = conf_int(self->conf, "random_startup_delay");
    uint32_t r;
    if (most <= 0)
        return;
    key_random(&r, sizeof(r));
    json_int_t wait = (json_int_t) r % (most + 1);
    log_info("random_startup_delay: the master is called in %d seconds", (int) wait);
    self->session_retry_ms = clock_mono_ms() + wait * 1000;
}

/* What the last start knew. Who began without it would write over it: jobs ran again, events came twice. */
static int
s_restore(jobserver_t *self, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *elsewhere = spool_elsewhere(outbox_spool(self->outbox), &why);
    if (why.text)
        return fail_set(err, why.code, "%s", fail_text(&why));
    seen_restore(self->seen, elsewhere);
    return outbox_series(self->outbox, self->series, err);
}

static int
s_start_parts(jobserver_t *self, fail_t *err)
{
    for (const minion_part_t *const *row = self->tables.parts; *row; row++) {
        salt_assert(self->n_parts < PARTS_MAX);
        void *part = (*row)->start ? (*row)->start(self, err) : self;
        if (!part)
            return err->code;
        self->parts[self->n_parts].row = *row;
        self->parts[self->n_parts++].self = part;
    }
    return 0;
}

jobserver_t *
jobserver_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, const jobserver_tables_t *tables,
              fail_t *err)
{
    jobserver_t *self = xcalloc(1, sizeof(*self));
    self->conf = STEAL(*conf_p);
    self->opts = conf_opts(self->conf);
    self->conf_dir = xstrdup(conf_dir);
    self->overrides = json_incref(overrides);
    self->tables = *tables;
    self->session_fd = self->signal_fd = -1;
    self->grains = json_object();
    self->waiting = json_array();
    self->seen = seen_new();
    int64_t now = clock_wall_us();
    (void) snprintf(self->boot, sizeof(self->boot), "%llx-%x", (unsigned long long) now, (unsigned) getpid());
    AUTO_FREE char *dir = fs_join(conf_str(self->conf, "cachedir"), "spool");
    spool_t *spool = spool_new(dir, err);
    bool ready = false;
    self->outbox = spool ? outbox_new(&spool, s_send, self) : NULL;
    if (self->outbox) {
        (void) str_copy(self->series, sizeof(self->series), self->boot);
        ready = s_restore(self, err) == 0;
    }
    self->signal_fd = ready ? daemon_signals(true, err) : -1;
    if (self->signal_fd >= 0) {
        s_take_conf(self);
        s_delay_first(self);
        if (s_start_parts(self, err) == 0)
            return self;
    }
    jobserver_destroy(&self);
    return NULL;
}

void
jobserver_destroy(jobserver_t **self_p)
{
    jobserver_t *self = STEAL(*self_p);
    if (!self)
        return;
    while (self->jobs) {
        job_proc_t *p = self->jobs;
        self->jobs = p->next;
        job_proc_destroy(&p);
    }
    while (self->n_parts > 0) {
        self->n_parts--;
        if (self->parts[self->n_parts].row->destroy)
            self->parts[self->n_parts].row->destroy(self->parts[self->n_parts].self);
    }
    outbox_destroy(&self->outbox);
    json_decref(self->grains);
    json_decref(self->pillar);
    json_decref(self->waiting);
    seen_destroy(&self->seen);
    json_decref(self->overrides);
    buf_free(&self->session_in);
    buf_free(&self->session_out);
    const int fds[] = { self->session_fd, self->signal_fd };
    for (size_t i = 0; i < NELEMS(fds); i++)
        if (fds[i] >= 0)
            (void) close(fds[i]);
    conf_destroy(&self->conf);
    free(self->conf_dir);
    free(self);
}
