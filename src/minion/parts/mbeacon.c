/* mbeacon.c - runs beacons: the option `beacons`, the pillar's, and what the module `beacons` changes.
 *
 * The engine (common/beacon) decides which looks are due and what of their events is fired. Here they look:
 * cheap ones at once, those with a descriptor when it is readable, those that may wait in a child each
 * (jobserver_aside), and those in Python in one child that stays, which asks for one look after the other by
 * {op: "beacon_next"}. Events go to every master, and wait in the outbox while there is none.
 */
#include "minion/jobs/jobserver.h"

#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/beacon/beacon.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "minion/parts/beacon_run.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define RETRY_MS   10000 /* between tries to open what could not be opened, or to start Python again */
#define BUSY_MS    200   /* until a look that found no place beside the others tries again */
#define STATE_MS   1000  /* between looks whether the state run is over */
#define READY      16    /* descriptors that one turn takes */
#define DROPPED_MS 60000 /* between lines of the log on events that find no room */

/* What this part keeps with a beacon. */
typedef struct work {
    beacon_t *beacon; /* BORROWED */
    void *own;        /* of row->open(); NULL: not open */
    json_t *job;      /* BORROWED from the child that looks; NULL: none does */
    pid_t pid;        /* of that child */
    int64_t waits_ms; /* monotonic: since when it finds no place beside the others; 0: it does not wait */
    bool in_python;   /* its look waits for the interpreter, or is there */
    bool validated, closed;
    char *error; /* owned: the last failure, so that it is told once; NULL: none */
} work_t;

typedef struct mbeacon {
    jobserver_t *js;
    beacons_t *engine;
    json_t *own;         /* owned: the option, with the changes since */
    json_t *pillar;      /* owned: the pillar's beacons; NULL: none */
    bool said;           /* the pillar's hold values from other minions */
    bool begun;          /* looks: beacons_before_connect, or a master was connected */
    int epoll_fd;        /* -1: no beacon has a descriptor yet */
    json_t *python;      /* BORROWED job of the child with the interpreter; NULL: none */
    job_proc_t *idle;    /* BORROWED: that child, while it waits for a look */
    char *looking;       /* owned: name of the beacon that looks there; NULL: none */
    int64_t look_end_ms; /* monotonic: the child is killed then; 0: it does not look */
    int64_t python_ms;   /* monotonic: not started before */
    int64_t dropped_ms;  /* monotonic: the log tells no event without room before */
} mbeacon_t;

static const beacon_row_t *
mbeacon_row(void *cookie, const char *module)
{
    const jobserver_t *js = ((mbeacon_t *) cookie)->js;
    return beacon_run_row(js->tables.beacon_plugins, js->tables.n_beacon_plugins, module);
}

/* State of a look beside the engine's own; freed with the beacon. */
static work_t *
mbeacon_work(beacon_t *beacon)
{
    if (beacon->work == NULL) {
        work_t *work = xcalloc(1, sizeof(*work));
        work->beacon = beacon;
        beacon->work = work;
    }
    return beacon->work;
}

/* ---- descriptors -------------------------------------------------------------------------------------- */

/* In a forked session (in_session) the epoll set is the parent's: it must stay as it is. */
static void
mbeacon_close(mbeacon_t *self, beacon_t *beacon)
{
    work_t *work = beacon->work;
    if (work == NULL || work->own == NULL)
        return;
    int fd = beacon->row->fd(work->own);
    if (fd >= 0 && !self->js->in_session)
        (void) epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    beacon->row->close(STEAL(work->own), self->js->in_session);
}

/* The configuration has gone: so does a look that is under way. */
static void
mbeacon_gone(void *cookie, beacon_t *beacon)
{
    mbeacon_t *self = cookie;
    work_t *work = beacon->work;
    if (work == NULL)
        return;
    mbeacon_close(self, beacon);
    if (work->job != NULL && !self->js->in_session)
        (void) kill(work->pid, SIGKILL);
    free(work->error);
    free(work);
    beacon->work = NULL;
}

/* ---- what a look found -------------------------------------------------------------------------------- */

/* The reactor and other parts hear of the event at once, as in Salt; the outbox keeps it for the masters. While a
 * master is away for long, most find no room there: they are counted, and the log tells one a minute. */
static void
mbeacon_fire(mbeacon_t *self, beacon_t *beacon, const json_t *event)
{
    const char *tag = value_str(event, "tag", "");
    json_t *data = value_get(event, "data");
    int64_t now_ms = clock_mono_ms();
    EACH_PART(self->js, shown, tag, data);
    if (outbox_beacon(self->js->outbox, tag, data))
        return;
    beacon_unsent(beacon, self->js->env.id, event, now_ms);
    if (now_ms < self->dropped_ms)
        return;
    self->dropped_ms = now_ms + DROPPED_MS;
    log_error("event %s: it is too large for a message, or too many wait for a master; such events are only "
              "counted",
              tag);
}

/* Tells a failure, once while it stays the same. */
static void
mbeacon_failed(mbeacon_t *self, beacon_t *beacon, const char *text)
{
    work_t *work = mbeacon_work(beacon);
    if (str_eq(work->error, text))
        return;
    free(work->error);
    work->error = xstrdup(text);
    log_error("Unable to start %s beacon, %s", beacon->name, text);
    json_auto_t *event = beacon_error(beacon, self->js->env.id, text);
    mbeacon_fire(self, beacon, event);
}

/* Fires what was found, TAKEN; with `error` that. One that runs once is over then. */
static void
mbeacon_found(mbeacon_t *self, beacon_t *beacon, json_t *found, const char *error)
{
    work_t *work = mbeacon_work(beacon);
    json_auto_t *events = beacon_events(beacon, self->js->env.id, found, clock_mono_ms());
    json_t *one;
    size_t i;
    json_array_foreach (events, i, one)
        mbeacon_fire(self, beacon, one);
    if (json_array_size(events) > 0)
        log_debug("beacon %s: %zu events", beacon->name, json_array_size(events));
    else
        log_trace("beacon %s: a look has found nothing to tell", beacon->name);
    if (error != NULL) {
        mbeacon_failed(self, beacon, error);
        return;
    }
    free(STEAL(work->error));
    if (!beacon->run_once)
        return;
    beacon->valid = false;
    mbeacon_close(self, beacon);
}

/* ---- looking ------------------------------------------------------------------------------------------ */

/* True for a job that runs states. */
static bool
mbeacon_is_states(const json_t *job)
{
    json_t *fun = value_get(job, "fun"), *one;
    size_t i;
    json_array_foreach (fun, i, one)
        if (str_starts(json_string_value(one), "state"))
            return true;
    return json_is_string(fun) && str_starts(json_string_value(fun), "state");
}

static bool
mbeacon_in_states(const mbeacon_t *self)
{
    for (const job_proc_t *p = self->js->jobs; p != NULL; p = p->next)
        if (mbeacon_is_states(p->job))
            return true;
    return false;
}

/* NEW job of a child that looks. */
static json_t *
mbeacon_job(const mbeacon_t *self, const char *fun, json_t *look)
{
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    return json_pack("{s:s, s:s+, s:[], s:s, s:o, s:b}", "jid", jid, "fun", "beacon ", fun, "arg", "user",
                     "beacon", "look", look, "peer", self->said);
}

/* True when those that wait longer take all the places: one that looks often, or long, keeps none of them out. */
static bool
mbeacon_must_wait(const mbeacon_t *self, const work_t *work)
{
    size_t taken = self->js->n_aside;
    for (size_t i = 0; i < beacons_count(self->engine); i++) {
        const beacon_t *beacon = beacons_at(self->engine, i);
        const work_t *other = beacon->valid ? beacon->work : NULL;
        taken += other != NULL && other != work && other->waits_ms != 0 &&
                 (work->waits_ms == 0 || other->waits_ms < work->waits_ms);
    }
    return taken >= JOBS_ASIDE;
}

/* Starts a child that looks for a beacon. */
static void
mbeacon_child(mbeacon_t *self, beacon_t *beacon, int64_t now_ms)
{
    fail_auto_t err = FAIL_INIT;
    work_t *work = mbeacon_work(beacon);
    if (mbeacon_must_wait(self, work)) {
        work->waits_ms = work->waits_ms != 0 ? work->waits_ms : now_ms;
        beacon->due_ms = now_ms + BUSY_MS;
        return;
    }
    work->waits_ms = 0;
    json_t *look = json_pack("{s:s, s:s, s:O, s:O, s:O}", "name", beacon->name, "module", beacon->module,
                             "list", beacon->list, "config", beacon->config, "context", beacon->context);
    job_proc_t *proc = jobserver_aside(self->js, mbeacon_job(self, beacon->name, look), LIMIT_BEACON_MS,
                                       &err);
    if (proc == NULL) {
        mbeacon_failed(self, beacon, fail_text(&err));
        return;
    }
    work->job = proc->job;
    work->pid = proc->pid;
}

/* A look in this process. */
static void
mbeacon_here(mbeacon_t *self, beacon_t *beacon, int64_t now_ms)
{
    fail_auto_t err = FAIL_INIT;
    work_t *work = mbeacon_work(beacon);
    beacon_look_t look = { .root = "",
                           .name = beacon->name,
                           .list = beacon->list,
                           .config = beacon->config,
                           .opts = self->js->opts,
                           .context = beacon->context,
                           .events = json_array(),
                           .mono_ms = now_ms };
    bool opens = beacon->row->open != NULL, opened = opens && work->own == NULL;
    if (opened && self->epoll_fd < 0)
        self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (opened)
        work->own = beacon->row->open(&look, &err);
    look.own = work->own;
    bool good = (!opens || work->own != NULL) && beacon->row->look(&look, &err) >= 0;
    mbeacon_found(self, beacon, look.events, good ? NULL : fail_text(&err));
    if (!opens || !beacon->valid)
        return;

    /* One that failed, as its program ended or its file system went, is opened anew. */
    if (!good) {
        mbeacon_close(self, beacon);
        beacon->due_ms = now_ms + RETRY_MS;
        return;
    }
    int again_ms = beacon->row->again_ms != NULL ? beacon->row->again_ms(work->own) : -1;
    if (again_ms >= 0)
        beacon->due_ms = now_ms + again_ms;
    /* The descriptor is waited for once (EPOLLONESHOT): the next look arms it again. */
    struct epoll_event ev = { .events = EPOLLIN | EPOLLONESHOT, .data.ptr = beacon };
    int fd = work->own != NULL ? beacon->row->fd(work->own) : -1;
    if (fd >= 0 && epoll_ctl(self->epoll_fd, opened ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &ev) != 0)
        log_error("beacon %s: epoll: %s", beacon->name, strerror(errno));
}

/* ---- Python ------------------------------------------------------------------------------------------- */

/* Ends the interpreter; the next look starts another one. */
static void
mbeacon_dismiss(mbeacon_t *self)
{
    for (job_proc_t *p = self->js->jobs; p != NULL && self->python != NULL; p = p->next)
        if (p->job == self->python)
            (void) job_signal(p, SIGKILL);
    self->python = NULL;
    self->idle = NULL;
    self->look_end_ms = 0;
    free(STEAL(self->looking));
    for (size_t i = 0; i < beacons_count(self->engine); i++) {
        work_t *work = beacons_at(self->engine, i)->work;
        if (work != NULL)
            work->validated = false;
    }
}

/* Gives the waiting child the next look, and starts it when there is none. */
static void
mbeacon_python(mbeacon_t *self, int64_t now_ms)
{
    beacon_t *beacon = NULL;
    for (size_t i = 0; i < beacons_count(self->engine) && beacon == NULL; i++) {
        const work_t *work = beacons_at(self->engine, i)->work;
        if (work != NULL && work->in_python && !str_eq(self->looking, work->beacon->name))
            beacon = work->beacon;
    }
    if (beacon == NULL || self->js->stop)
        return;
    if (self->python == NULL && now_ms >= self->python_ms) {
        fail_auto_t err = FAIL_INIT;
        json_t *look = json_pack("{s:s}", "module", "");
        job_proc_t *proc = jobserver_aside(self->js, mbeacon_job(self, "python", look), 0, &err);
        self->python_ms = now_ms + (err.code == -EAGAIN ? BUSY_MS : RETRY_MS);
        if (proc == NULL && err.code == -EAGAIN) /* the one of before has not ended yet */
            beacon->due_ms = now_ms + BUSY_MS;
        else if (proc == NULL)
            log_error("beacons in Python: %s", fail_text(&err));
        else
            self->python = proc->job;
    }
    if (self->idle == NULL)
        return;
    work_t *work = beacon->work;
    json_t *answer = json_pack("{s:b, s:{s:s, s:s, s:O, s:b, s:b}}", "ok", true, "value", "name",
                               beacon->name, "module", beacon->module, "list", beacon->list, "validated",
                               work->validated, "close", work->closed);
    self->looking = xstrdup(beacon->name);
    self->look_end_ms = now_ms + LIMIT_BEACON_MS;
    work->closed = false;
    job_answer(STEAL(self->idle), &answer);
}

/* Takes what a look in Python found. */
static void
mbeacon_python_did(mbeacon_t *self, json_t *did)
{
    beacon_t *beacon = self->looking != NULL ? beacons_find(self->engine, self->looking) : NULL;
    free(STEAL(self->looking));
    self->look_end_ms = 0;
    if (beacon == NULL || beacon->work == NULL)
        return;
    work_t *work = beacon->work;
    const char *invalid = value_str(did, "invalid", NULL), *error = value_str(did, "error", NULL);
    work->in_python = false;
    if (invalid != NULL) {
        log_error("Beacon %s configuration invalid, not running.\n%s", beacon->name, invalid);
        beacon->valid = false;
        return;
    }
    work->validated |= error == NULL;
    mbeacon_found(self, beacon, json_incref(value_get(did, "events")), error);
}

/* {op: "beacon_next", did}: answered when there is a look. */
static json_t *
mbeacon_next(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mbeacon_t *self = part;
    if (asker == NULL || asker->job != self->python)
        return (void) fail_set(err, -EPERM, "this child is not the one that beacons look in"), NULL;
    if (value_get(request, "did") != NULL)
        mbeacon_python_did(self, value_get(request, "did"));
    self->idle = asker;
    self->python_ms = 0;
    mbeacon_python(self, clock_mono_ms());
    return NULL;
}

/* ---- hooks -------------------------------------------------------------------------------------------- */

/* The beacon for which this job looks, or NULL: the configuration may have dropped it while the child ran. */
static work_t *
mbeacon_of_job(const mbeacon_t *self, const json_t *job)
{
    for (size_t i = 0; i < beacons_count(self->engine); i++) {
        work_t *work = beacons_at(self->engine, i)->work;
        if (work != NULL && work->job == job)
            return work;
    }
    return NULL;
}

/* A child's look: it returns the events and the beacon's context, which is kept for the next look. */
static void
mbeacon_job_returned(void *part, json_t *job, const jobret_t *ret)
{
    mbeacon_t *self = part;
    work_t *work = value_get(job, "look") != NULL ? mbeacon_of_job(self, job) : NULL;
    if (work == NULL)
        return;
    json_auto_t *value = jobret_value(ret);
    json_t *did = value_get(value, "return");
    work->job = NULL;
    if (!json_is_object(did)) {
        mbeacon_failed(self, work->beacon,
                       json_is_string(did) ? json_string_value(did) : "its process ended");
        return;
    }
    json_decref(work->beacon->context);
    work->beacon->context = json_deep_copy(value_get(did, "context"));
    mbeacon_found(self, work->beacon, json_incref(value_get(did, "events")), value_str(did, "error", NULL));
}

static void
mbeacon_job_over(void *part, json_t *job, const job_proc_t *proc)
{
    mbeacon_t *self = part;
    if (mbeacon_is_states(job) && !mbeacon_in_states(self)) {
        /* A state run is over: those that kept quiet look again. */
        for (size_t i = 0; i < beacons_count(self->engine); i++) {
            beacon_t *beacon = beacons_at(self->engine, i);
            const work_t *work = beacon->work;
            if (beacon->quiet_in_states && beacon->row != NULL && beacon->row->open != NULL &&
                (work == NULL || work->own == NULL))
                beacon->due_ms = clock_mono_ms();
        }
    }
    if (value_get(job, "look") == NULL)
        return;
    work_t *work = mbeacon_of_job(self, job);
    if (work != NULL) { /* it left no return */
        work->job = NULL;
        mbeacon_failed(self, work->beacon,
                       proc != NULL && proc->timed_out ? "the look took too long" : "its process ended");
    }
    if (self->python != job)
        return;
    beacon_t *beacon = self->looking != NULL ? beacons_find(self->engine, self->looking) : NULL;
    if (beacon != NULL) {
        mbeacon_work(beacon)->in_python = false;
        mbeacon_failed(self, beacon,
                       self->look_end_ms != 0 && clock_mono_ms() >= self->look_end_ms
                           ? "the look took too long"
                           : "the interpreter ended while it looked");
    }
    self->python = NULL;
    self->python_ms = clock_mono_ms() + RETRY_MS;
    mbeacon_dismiss(self);
}

/* Before a state run forks: what is watched until its end is not seen. */
static void
mbeacon_job_begins(void *part, const json_t *job)
{
    mbeacon_t *self = part;
    for (size_t i = 0; i < beacons_count(self->engine) && mbeacon_is_states(job); i++) {
        beacon_t *beacon = beacons_at(self->engine, i);
        if (beacon->quiet_in_states)
            mbeacon_close(self, beacon);
    }
}

static void
mbeacon_tick(void *part, int64_t now_ms)
{
    mbeacon_t *self = part;
    beacon_t *beacon;
    if (!self->begun || self->js->stop)
        return;
    for (size_t n = beacons_count(self->engine); n > 0; n--)
        if ((beacon = beacons_due(self->engine, now_ms)) != NULL) {
            work_t *work = mbeacon_work(beacon);
            if (beacon->quiet_in_states && mbeacon_in_states(self)) {
                mbeacon_close(self, beacon);
                work->waits_ms = 0;
                work->closed = beacon->row == NULL && work->validated;
                work->in_python |= work->closed;
                beacon->due_ms = now_ms + STATE_MS;
            } else if (beacon->row == NULL)
                work->in_python = true;
            else if (beacon->row->calls && work->job == NULL)
                mbeacon_child(self, beacon, now_ms);
            else if (!beacon->row->calls)
                mbeacon_here(self, beacon, now_ms);
            if (work->in_python)
                mbeacon_python(self, now_ms);
        }
    for (size_t i = 0; i < beacons_count(self->engine); i++) {
        beacon = beacons_at(self->engine, i);
        json_auto_t *news = beacon_merged(beacon, self->js->env.id, now_ms);
        if (news != NULL)
            mbeacon_fire(self, beacon, news);
    }
    if (self->look_end_ms != 0 && now_ms >= self->look_end_ms)
        for (job_proc_t *p = self->js->jobs; p != NULL; p = p->next)
            if (p->job == self->python)
                (void) job_signal(p, SIGKILL);
}

static int64_t
mbeacon_next_ms(void *part)
{
    const mbeacon_t *self = part;
    return self->begun ? part_sooner(beacons_next_ms(self->engine), self->look_end_ms) : 0;
}

static int
mbeacon_fd(const void *part, short *ret_ask)
{
    return ((const mbeacon_t *) part)->epoll_fd;
}

static void
mbeacon_ready(void *part, short ready)
{
    mbeacon_t *self = part;
    struct epoll_event events[READY];
    int n = epoll_wait(self->epoll_fd, events, READY, 0);
    for (int i = 0; i < n; i++)
        beacon_readable(events[i].data.ptr, clock_mono_ms());
}

static void
mbeacon_master_up(void *part, int master)
{
    ((mbeacon_t *) part)->begun = true;
}

/* ---- configuration ------------------------------------------------------------------------------------ */

static void
mbeacon_configure(mbeacon_t *self)
{
    beacons_configure(self->engine, self->own, self->pillar, clock_mono_ms());
}

static void
mbeacon_pillar_changed(void *part)
{
    mbeacon_t *self = part;
    json_t *wire = value_get(self->js->pillar, "beacons");
    AUTO(py) value = wire != NULL ? py_from_wire(wire) : NULL;
    json_decref(self->pillar);
    self->pillar = value != NULL ? py_to_json(value) : NULL;
    self->said = value != NULL && py_holds_peer(value);
    if (self->pillar != NULL && !json_is_object(self->pillar))
        log_error("beacons: the pillar's are not a mapping; they are left out");
    mbeacon_configure(self);
}

static void
mbeacon_reload(void *part)
{
    mbeacon_t *self = part;
    json_t *v = value_get(self->js->opts, "beacons");
    json_decref(self->own);
    self->own = json_is_object(v) ? json_deep_copy(v) : json_object();
    mbeacon_dismiss(self);
    mbeacon_pillar_changed(self);
}

/* Files have changed: what looked by the old ones begins anew. */
static void
mbeacon_refresh(void *part, json_t *data)
{
    mbeacon_t *self = part;
    json_auto_t *none = json_object();
    mbeacon_dismiss(self);
    beacons_configure(self->engine, none, NULL, clock_mono_ms());
    mbeacon_configure(self);
}

/* ---- questions and changes ---------------------------------------------------------------------------- */

/* NEW {complete, beacons}: those that are configured, or the names of those built in, which are `available`
 * too. */
static json_t *
mbeacon_list(const mbeacon_t *self, const json_t *request, const char **ret_event)
{
    if (str_eq(value_str(request, "do", ""), "list")) {
        *ret_event = "/salt/minion/minion_beacons_list_complete";
        return json_pack("{s:b, s:o}", "complete", true, "beacons",
                         beacons_merge(value_bool(request, "include_opts", true) ? self->own : NULL,
                                       value_bool(request, "include_pillar", true) ? self->pillar : NULL));
    }
    json_t *names = json_array();
    for (size_t i = 0; i < self->js->tables.n_beacon_plugins; i++)
        json_array_append_new(names, json_string(self->js->tables.beacon_plugins[i]->file));
    *ret_event = "/salt/minion/minion_beacons_list_available_complete";
    return json_pack("{s:b, s:O, s:o}", "complete", true, "beacons", names, "available", names);
}

/* NEW {complete, valid, vcomment, native}. What is not built in, its own file checks. */
static json_t *
mbeacon_validate(mbeacon_t *self, const json_t *request, const char **ret_event)
{
    json_t *data = value_get(request, "beacon_data");
    const char *module = beacon_module(value_str(request, "name", ""), data);
    const beacon_row_t *row = mbeacon_row(self, module);
    AUTO_FREE char *why = beacon_validate(row, module, data);
    *ret_event = "/salt/minion/minion_beacon_validation_complete";
    return json_pack("{s:b, s:b, s:s, s:b}", "complete", true, "valid", why == NULL, "vcomment",
                     why != NULL ? why : "Valid beacon configuration", "native", row != NULL);
}

/* Handles {do: list (include_pillar, include_opts), list_available, validate_beacon (name, beacon_data), or a
 * change (beacons_change)}. NEW answer; Salt's event of it is shown. */
static json_t *
mbeacon_ask(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mbeacon_t *self = part;
    const char *what = value_str(request, "do", ""), *event = NULL;
    json_t *answer;
    if (str_eq(what, "list") || str_eq(what, "list_available"))
        answer = mbeacon_list(self, request, &event);
    else if (str_eq(what, "validate_beacon"))
        answer = mbeacon_validate(self, request, &event);
    else
        answer = beacons_change(self->own, self->pillar, request, &event);
    if (answer == NULL)
        return (void) fail_set(err, -ENOTSUP, "beacons have no operation '%s'", what), NULL;
    mbeacon_configure(self);
    EACH_PART(self->js, shown, event, answer);
    return answer;
}

/* Salt's event for the same: {func, name, beacon_data, ...}. */
static void
mbeacon_manage(void *part, json_t *data)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *request = json_is_object(data) ? json_copy(data) : json_object();
    json_object_set_new(request, "do", json_string(value_str(data, "func", "")));
    json_auto_t *answer = mbeacon_ask(part, NULL, request, &err);
    if (answer == NULL)
        log_error("%s", fail_text(&err));
}

/* ---- life --------------------------------------------------------------------------------------------- */

static void *
mbeacon_start(jobserver_t *js, fail_t *err)
{
    mbeacon_t *self = xcalloc(1, sizeof(*self));
    const beacons_env_t env = { mbeacon_row, mbeacon_gone, self };
    self->js = js;
    self->epoll_fd = -1;
    self->engine = beacons_new(&env);
    self->begun = value_bool(js->opts, "beacons_before_connect", false) ||
                  str_eq(value_str(js->opts, "master_type", ""), "disable");
    mbeacon_reload(self);
    return self;
}

static void
mbeacon_destroy(void *part)
{
    mbeacon_t *self = part;
    beacons_destroy(&self->engine);
    if (self->epoll_fd >= 0)
        (void) close(self->epoll_fd);
    json_decref(self->own);
    json_decref(self->pillar);
    free(self->looking);
    free(self);
}

static const part_request_t mbeacon_requests[] = {
    { "beacons", mbeacon_ask, "{op: beacons, do}" },
    { "beacon_next", mbeacon_next, NULL },
    { 0 },
};
static const part_event_t mbeacon_events[] = { { "beacons_refresh", mbeacon_refresh },
                                               { "module_refresh", mbeacon_refresh },
                                               { "manage_beacons", mbeacon_manage },
                                               { 0 } };

const minion_part_t minion_part_beacon = {
    .name = "beacon",
    .start = mbeacon_start,
    .destroy = mbeacon_destroy,
    .reload = mbeacon_reload,
    .tick = mbeacon_tick,
    .next_ms = mbeacon_next_ms,
    .fd = mbeacon_fd,
    .ready = mbeacon_ready,
    .master_up = mbeacon_master_up,
    .job_begins = mbeacon_job_begins,
    .job_returned = mbeacon_job_returned,
    .job_over = mbeacon_job_over,
    .pillar_changed = mbeacon_pillar_changed,
    .requests = mbeacon_requests,
    .events = mbeacon_events,
};
