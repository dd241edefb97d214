/* jobserver.c - the minion's event loop: one poll over the signal descriptor, one descriptor per part, one
 * per running job.
 *
 * A turn handles frames of jobs, then signals, then ended jobs, then the parts. The life of a job:
 * jobserver_job (accept) -> start_job (mark, fork) -> job_frames -> jobserver_return (into the outbox) ->
 * end_job (reaped, and the next waiting one starts). Hooks of parts run in the order of parts.def.
 */
#include "minion/jobs/jobserver.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/notify.h"
#include "common/base/str.h"
#include "common/conf/startup.h"
#include "minion/jobs/jobcache.h"
#include "uplink/jobret.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define IDLE_MS         20000 /* the longest wait in poll */
#define STOP_WAIT_MS    2000
#define FRAMES_BUDGET   64  /* frames of one job per turn of the loop */
#define AT_EVERY_MS     300 /* between two words of a watched job on where it is */
#define PARTING_LOOK_MS 10

/* ---- the parts -------------------------------------------------------------------------------- */

/* Sends a frame to the networking process, with a return behind it unless that is NULL. */
static void
jobserver_send(void *cookie, const json_t *frame, const jobret_t *ret)
{
    jobserver_t *self = cookie;
    EACH_PART(self, send, frame, ret);
}

void
jobserver_down(jobserver_t *self, json_t **frame_p)
{
    json_auto_t *frame = STEAL(*frame_p);
    jobserver_send(self, frame, NULL);
}

void
jobserver_message(jobserver_t *self, json_t *frame)
{
    const char *name = value_str(frame, "t", "");
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_message_t *row = self->parts[i].row->messages; row != NULL && row->name != NULL;
             row++)
            if (str_eq(name, row->name))
                row->fn(self->parts[i].self, frame);
}

void
jobserver_heed(jobserver_t *self, const char *tag, json_t *data)
{
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_event_t *row = self->parts[i].row->events; row != NULL && row->tag != NULL; row++)
            if (str_starts(tag, row->tag))
                row->fn(self->parts[i].self, data);
}

const part_request_t *
jobserver_request(const jobserver_t *self, const char *op, void **ret_part)
{
    for (size_t i = 0; i < self->n_parts; i++)
        for (const part_request_t *row = self->parts[i].row->requests; row != NULL && row->op != NULL; row++)
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
        for (const part_request_t *row = self->parts[i].row->requests; row != NULL && row->op != NULL; row++)
            if (row->bus != NULL) {
                if (last != NULL)
                    buf_printf(&text, ", %s", last);
                last = row->bus;
            }
    if (last != NULL)
        buf_printf(&text, " and %s", last);
    return xstrdup(buf_str(&text));
}

void
jobserver_event(jobserver_t *self, const char *tag, json_t *data, json_t *more)
{
    EACH_PART(self, shown, tag, data);
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

/* Returns a job that never ran as failed, with the reason. */
static void
failed_to_start(jobserver_t *self, json_t *job, const fail_t *err)
{
    log_error("job %s: %s", value_str(job, "jid", ""), fail_text(err));
    EACH_PART(self, job_over, job, NULL);
    if (value_bool(job, "own", false))
        return;
    json_t *failed = jobret_failed(job, xstrdup(fail_text(err)));
    AUTO(jobret) ret = jobret_make(&failed);
    if (!outbox_full(self->outbox)) {
        outbox_return(self->outbox, &ret, value_str(job, "asker", NULL));
        return;
    }
    /* The outbox is full: send the refusal once, without keeping it. */
    json_auto_t *frame = json_pack("{s:s, s:I, s:O}", "t", "ret", "master", value_int(job, "master", -1),
                                   "jid", value_get(job, "jid"));
    jobserver_send(self, frame, ret);
}

/* Forks a job's child. The mark comes first, so that a crash can't lose the job; without one (full disk) it
 * runs all the same. */
static void
start_job(jobserver_t *self, json_t *job)
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
    if (proc == NULL) {
        failed_to_start(self, job, &err);
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

/* Which count the job is in. */
static size_t *
job_count(jobserver_t *self, const json_t *job)
{
    if (!value_bool(job, "aside", false))
        return &self->n_jobs;
    return value_bool(job, "stays", false) ? &self->n_stay : &self->n_aside;
}

job_proc_t *
jobserver_aside(jobserver_t *self, json_t *job, int limit_ms, fail_t *err)
{
    bool stays = limit_ms == 0;
    if (self->stop || (stays ? self->n_stay >= JOBS_STAY : self->n_aside >= JOBS_ASIDE)) {
        json_decref(job);
        return (void) fail_set(err, -EAGAIN, "%d children beside the jobs are at work",
                               stays ? JOBS_STAY : JOBS_ASIDE),
               NULL;
    }
    json_object_set_new(job, "own", json_true());
    json_object_set_new(job, "aside", json_true());
    json_object_set_new(job, "stays", json_boolean(stays));
    json_object_set_new(job, "master", json_integer(-1));
    self->env.grains = self->grains;
    self->env.pillar = self->pillar;
    job_proc_t *proc = job_start(&self->env, &job, err);
    if (proc == NULL)
        return NULL;
    proc->deadline_ms = limit_ms > 0 ? clock_mono_ms() + limit_ms : 0;
    proc->next = self->jobs;
    self->jobs = proc;
    (*job_count(self, proc->job))++;
    return proc;
}

/* process_count_max, at most LIMIT_JOBS_RUNNING. */
static size_t
jobs_max(const jobserver_t *self)
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
    else if (self->n_jobs >= jobs_max(self) && json_array_size(self->waiting) >= LIMIT_JIDS_SEEN)
        (void) fail_set(&err, -EAGAIN, "%zu jobs run and %d wait on this minion already", self->n_jobs,
                        LIMIT_JIDS_SEEN);
    if (err.text != NULL)
        failed_to_start(self, job, &err);
    else if (self->n_jobs < jobs_max(self))
        start_job(self, job);
    else
        json_array_append(self->waiting, job);
}

/* Queues the return as soon as the child has sent it, without waiting for its exit. */
static void
jobserver_return(jobserver_t *self, job_proc_t *proc)
{
    if (proc->returned)
        return;
    proc->returned = true;
    AUTO(jobret) ret = job_return(proc);
    if (ret != NULL)
        EACH_PART(self, job_returned, proc->job, ret);
    if (ret == NULL || value_bool(proc->job, "own", false))
        return;
    log_info("Returning information for job: %s", value_str(proc->job, "jid", ""));
    jobcache_keep(self->opts, ret);
    outbox_return(self->outbox, &ret, value_str(proc->job, "asker", NULL));
}

/* Removes an ended job and starts waiting ones in its place. */
static void
end_job(jobserver_t *self, job_proc_t **at)
{
    job_proc_t *proc = *at;
    *at = proc->next;
    (*job_count(self, proc->job))--;
    jobserver_return(self, proc);
    EACH_PART(self, job_over, proc->job, proc);
    if (self->ending != JOBSERVER_STAYS && self->ending_job == proc->pid)
        self->stop = true;
    job_proc_destroy(&proc);
    while (json_array_size(self->waiting) > 0 && self->n_jobs < jobs_max(self) && !self->stop) {
        json_auto_t *next = json_incref(json_array_get(self->waiting, 0));
        json_array_remove(self->waiting, 0);
        start_job(self, next);
    }
}

/* NEW answer frame to a host request; NULL: the part answers later by job_answer(). */
static json_t *
jobserver_answer(const jobserver_t *self, job_proc_t *asker, json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    const char *op = value_str(request, "op", "");
    void *part;
    const part_request_t *row = jobserver_request(self, op, &part);
    json_t *value = row != NULL ? row->fn(part, asker, request, &err) : NULL;
    if (value != NULL)
        return json_pack("{s:b, s:o}", "ok", true, "value", value);
    if (row == NULL)
        (void) fail_set(&err, -ENOTSUP, "a minion has no operation '%s'", op);
    return err.code == 0
               ? NULL
               : json_pack("{s:b, s:s, s:i}", "ok", false, "error", fail_text(&err), "code", -err.code);
}

/* Handles a job's frames, FRAMES_BUDGET at most so that a chatty child can't starve others; an exited child's
 * to the end. */
static void
job_frames(jobserver_t *self, job_proc_t *proc)
{
    json_t *frame = NULL;
    for (int i = 0;
         (i < FRAMES_BUDGET || proc->exited) && job_read(proc, self->env.output_limit, &frame) == 1; i++) {
        json_auto_t *f = STEAL(frame);
        if (str_eq(value_str(f, "t", ""), "fire")) {
            json_t *data = value_get(f, "data");
            if (data != NULL)
                jobserver_event(self, value_str(f, "tag", ""), data, NULL);
        } else if (str_eq(value_str(f, "t", ""), "at")) {
            (void) json_object_del(f, "t");
            json_decref(proc->at);
            proc->at = STEAL(f);
        } else {
            json_t *answer = jobserver_answer(self, proc, value_get(f, "request"));
            if (answer != NULL)
                job_answer(proc, &answer);
        }
    }
    if (proc->ret != NULL)
        jobserver_return(self, proc);
}

/* Tells where a watched job is, AT_EVERY_MS apart: of steps that pass faster only the last. */
static void
tell_where(jobserver_t *self, job_proc_t *proc, int64_t now)
{
    if (proc->at == NULL || proc->returned || now < proc->at_told_ms + AT_EVERY_MS)
        return;
    AUTO_FREE char *tag = xasprintf("salt/job/%s/at/%s", value_str(proc->job, "jid", ""), self->env.id);
    json_auto_t *data = STEAL(proc->at);
    proc->at_told_ms = now;
    jobserver_event(self, tag, data, NULL);
}

/* Kills jobs past their deadline, and ends those that were reaped. Last frames may start other jobs, which
 * are put at the head of the list, so all are read before any is removed. */
static void
jobserver_sweep(jobserver_t *self)
{
    int64_t now = clock_mono_ms();
    for (job_proc_t *proc = self->jobs; proc; proc = proc->next) {
        if (proc->deadline_ms && now >= proc->deadline_ms && !proc->timed_out && !proc->exited) {
            proc->timed_out = true;
            (void) job_signal(proc, SIGKILL);
        }
        if (proc->exited && proc->fd >= 0)
            job_frames(self, proc);
        tell_where(self, proc, now);
    }
    for (job_proc_t **at = &self->jobs; *at;) {
        if ((*at)->exited)
            end_job(self, at);
        else
            at = &(*at)->next;
    }
}

/* ---- signals ---------------------------------------------------------------------------------- */

/* Derives opts and the jobs' environment from the configuration. */
static void
take_conf(jobserver_t *self)
{
    self->opts = conf_opts(self->conf);
    self->env = (job_env_t){ .registry = self->tables.registry,
                             .states = self->tables.states,
                             .returners = self->tables.returners,
                             .grain_plugins = self->tables.grain_plugins,
                             .n_grain_plugins = self->tables.n_grain_plugins,
                             .beacon_plugins = self->tables.beacon_plugins,
                             .n_beacon_plugins = self->tables.n_beacon_plugins,
                             .opts = self->opts,
                             .grains = self->grains,
                             .id = conf_str(self->conf, "id"),
                             .timeout_s = (int) conf_int(self->conf, "job_timeout_max"),
                             .memory_limit = (size_t) conf_int(self->conf, "job_memory_max"),
                             .output_limit = (size_t) conf_int(self->conf, "job_output_max") };
}

/* Reads the configuration again (SIGHUP). A broken one is logged, and the old one stays. */
static void
jobserver_reload(jobserver_t *self)
{
    fail_auto_t err = FAIL_INIT;
    conf_t *fresh = startup_reload(self->conf, self->conf_dir, CONF_MINION, self->overrides, &err);
    if (fresh == NULL) {
        log_error("reload: the old configuration stays: %s", fail_text(&err));
        return;
    }
    conf_destroy(&self->conf);
    self->conf = fresh;
    take_conf(self);
    EACH_PART(self, reload);
}

static void
signals(jobserver_t *self)
{
    int sig;
    while ((sig = daemon_next_signal(self->signal_fd)) != 0) {
        if (sig == SIGCHLD) {
            /* All children are reaped. Of those that are not jobs the networking process and grains are known
             * by their descriptors' EOF; parts hear of the others. */
            int status;
            pid_t pid;
            while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
                bool is_job = false;
                for (job_proc_t *p = self->jobs; p; p = p->next)
                    if (p->pid == pid) {
                        is_job = p->exited = true;
                        p->status = status;
                    }
                if (!is_job)
                    EACH_PART(self, child_over, (int) pid, status);
            }
        } else if (sig == SIGHUP)
            jobserver_reload(self);
        else if (sig == SIGTERM || sig == SIGINT) {
            notify_stopping();
            self->stop = true;
        }
    }
}

/* ---- the loop --------------------------------------------------------------------------------- */

/* Fills in a pollfd per part. `leaving`: only those that still have something to do. */
static void
parts_ask(const jobserver_t *self, struct pollfd *fds, bool leaving)
{
    for (size_t i = 0; i < self->n_parts; i++) {
        const minion_part_t *part = self->parts[i].row;
        fds[i] = (struct pollfd){ -1, POLLIN, 0 };
        if (part->fd != NULL && (!leaving || part->leave != NULL))
            fds[i].fd = part->fd(self->parts[i].self, &fds[i].events);
    }
}

static void
parts_ready(jobserver_t *self, const struct pollfd *fds)
{
    for (size_t i = 0; i < self->n_parts; i++)
        if (fds[i].revents)
            self->parts[i].row->ready(self->parts[i].self, fds[i].revents);
}

/* Waits for one turn of the loop and handles what came. */
static void
jobserver_turn(jobserver_t *self)
{
    struct pollfd fds[1 + PARTS_MAX + LIMIT_JOBS_RUNNING + JOBS_ASIDE + JOBS_STAY];
    job_proc_t *who[LIMIT_JOBS_RUNNING + JOBS_ASIDE + JOBS_STAY];
    size_t first_job = 1 + self->n_parts, n = 0;
    fds[0] = (struct pollfd){ self->signal_fd, POLLIN, 0 };
    parts_ask(self, fds + 1, false);
    for (job_proc_t *p = self->jobs; p; p = p->next)
        if (p->fd >= 0) {
            fds[first_job + n] = (struct pollfd){ p->fd, POLLIN, 0 };
            who[n++] = p;
        }
    /* Poll until the first timer of a part, the first deadline of a job, or its next word of where it is. */
    int64_t now = clock_mono_ms();
    int64_t next = now + IDLE_MS;
    for (size_t i = 0; i < self->n_parts; i++) {
        const minion_part_t *part = self->parts[i].row;
        if (part->next_ms != NULL)
            next = part_sooner(next, part->next_ms(self->parts[i].self));
    }
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p->at != NULL && !p->returned && p->at_told_ms + AT_EVERY_MS < next)
            next = p->at_told_ms + AT_EVERY_MS;
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p->deadline_ms && !p->timed_out && p->deadline_ms < next)
            next = p->deadline_ms;
    if (poll(fds, (nfds_t) (first_job + n), next > now ? (int) (next - now) : 0) > 0)
        self->busy_ms = clock_mono_ms();

    for (size_t i = 0; i < n; i++)
        if (fds[first_job + i].revents)
            job_frames(self, who[i]);
    if (fds[0].revents)
        signals(self);
    jobserver_sweep(self);
    parts_ready(self, fds + 1);
}

static bool
no_jobs(const jobserver_t *self)
{
    return self->jobs == NULL;
}

/* True when all parts are done. Each is asked, also after one that is not: the question starts their work. */
static bool
have_left(const jobserver_t *self)
{
    bool all = true;
    for (size_t i = 0; i < self->n_parts; i++)
        if (self->parts[i].row->leave != NULL)
            all = self->parts[i].row->leave(self->parts[i].self) && all;
    return all;
}

/* Turns the loop until `over` holds, at most STOP_WAIT_MS. */
static void
jobserver_wait_end(jobserver_t *self, bool (*over)(const jobserver_t *self))
{
    int64_t until = clock_mono_ms() + STOP_WAIT_MS, now;
    while ((now = clock_mono_ms()) < until && !over(self)) {
        struct pollfd fds[1 + PARTS_MAX];
        fds[0] = (struct pollfd){ self->signal_fd, POLLIN, 0 };
        parts_ask(self, fds + 1, true);
        (void) poll(fds, (nfds_t) (1 + self->n_parts), (int) (until - now));
        signals(self);
        jobserver_sweep(self);
        parts_ready(self, fds + 1);
    }
}

/* True when every job that was asked to part has answered or ended. */
static bool
have_parted(const jobserver_t *self)
{
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p->parting != NULL && !p->exited && parting_state(p->parting) == PARTING_NONE &&
            !value_bool(p->job, "own", false))
            return false;
    return true;
}

/* Removes the jobs that have parted: they are neither signalled nor waited for, and their marks name the
 * process. One whose mark can't be written is kept, and ends with the minion. */
static void
jobserver_let_go(jobserver_t *self)
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

/* Ends the minion: refuse what waits, let jobs part, end the others (SIGTERM, then SIGKILL), then let the
 * parts send what is left. What does not get out waits in the spool. */
static void
shutdown(jobserver_t *self)
{
    fail_auto_t err = FAIL_INIT;
    size_t i;
    json_t *one;
    (void) fail_set(&err, -ECANCELED, "The minion was stopped before this job began");
    json_array_foreach (self->waiting, i, one)
        failed_to_start(self, one, &err);
    (void) json_array_clear(self->waiting);

    /* Under a service manager, ask jobs to part: it stops only this process (KillMode=process), and a
     * job may be what restarts the minion or installs its next version. Internal jobs end. SIGCHLD is
     * handled meanwhile. */
    int64_t until = clock_mono_ms() + STOP_WAIT_MS, now;
    if (notify_heard()) {
        for (const job_proc_t *p = self->jobs; p; p = p->next)
            if (!p->exited && !p->returned && !value_bool(p->job, "own", false))
                job_part(p);
        while ((now = clock_mono_ms()) < until && !have_parted(self)) {
            struct pollfd fd = { self->signal_fd, POLLIN, 0 };
            (void) poll(&fd, 1, PARTING_LOOK_MS);
            signals(self);
        }
        jobserver_let_go(self);
    }

    job_signal_all(self->jobs, SIGTERM);
    EACH_PART(self, stop);
    jobserver_wait_end(self, no_jobs);
    job_signal_all(self->jobs, SIGKILL);
    jobserver_wait_end(self, no_jobs);
    jobserver_wait_end(self, have_left);
}

int
jobserver_run(jobserver_t *self)
{
    /* Before the first fork, so that no child keeps the terminal open. */
    daemon_ready();
    while (!self->stop) {
        int64_t now = clock_mono_ms();
        for (size_t i = 0; i < self->n_parts && !self->in_session; i++)
            if (self->parts[i].row->tick != NULL)
                self->parts[i].row->tick(self->parts[i].self, now);
        if (self->in_session)
            return self->exit_code;
        jobserver_turn(self);
    }
    shutdown(self);
    return 0;
}

/* ---- life ------------------------------------------------------------------------------------- */

/* Starts the parts in order; the first failure stops the minion. */
static int
start_parts(jobserver_t *self, fail_t *err)
{
    for (const minion_part_t *const *row = self->tables.parts; *row; row++) {
        salt_assert(self->n_parts < PARTS_MAX);
        void *part = (*row)->start != NULL ? (*row)->start(self, err) : self;
        if (part == NULL)
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
    self->signal_fd = -1;
    self->grains = json_object();
    self->waiting = json_array();
    AUTO_FREE char *dir = fs_join(conf_str(self->conf, "cachedir"), "spool");
    spool_t *spool = spool_new(dir, err);
    self->outbox = spool != NULL ? outbox_new(&spool, jobserver_send, self) : NULL;
    self->signal_fd = self->outbox != NULL ? daemon_signals(true, err) : -1;
    if (self->signal_fd >= 0) {
        take_conf(self);
        if (start_parts(self, err) == 0)
            return self;
    }
    jobserver_destroy(&self);
    return NULL;
}

void
jobserver_destroy(jobserver_t **self_p)
{
    jobserver_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    while (self->jobs != NULL) {
        job_proc_t *p = self->jobs;
        self->jobs = p->next;
        job_proc_destroy(&p);
    }
    while (self->n_parts > 0) {
        self->n_parts--;
        if (self->parts[self->n_parts].row->destroy != NULL)
            self->parts[self->n_parts].row->destroy(self->parts[self->n_parts].self);
    }
    outbox_destroy(&self->outbox);
    json_decref(self->grains);
    json_decref(self->pillar);
    json_decref(self->waiting);
    json_decref(self->overrides);
    if (self->signal_fd >= 0)
        (void) close(self->signal_fd);
    conf_destroy(&self->conf);
    free(self->conf_dir);
    free(self);
}
