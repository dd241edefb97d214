/* mschedule.c - the minion's scheduler: runs the option `schedule`, the pillar's `schedule`, and what the
 * module `schedule` changes.
 *
 * The engine (common/schedule) decides what is due; this file runs it as any other job, with or without a
 * master: limits, jid, mark and return in the spool. The return names its schedule and goes to every
 * connected master. A job that can't be understood is logged and never runs.
 */
#include "minion/jobs/jobserver.h"

#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "common/schedule/schedule.h"
#include "common/schedule/schedule_file.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct mschedule {
    jobserver_t *js;
    schedule_t *engine;
    json_t *own;    /* owned: the option, with the changes since */
    json_t *pillar; /* owned: the pillar's schedule; NULL: none */
    bool said;      /* the pillar's holds values from other minions, which may be arguments of jobs */
    json_t *whens;  /* owned: the pillar's or the grains' `whens`, names for moments; NULL: none */
    bool begun;     /* runs jobs: scheduler_before_connect, or a master was connected */
} mschedule_t;

static schedule_now_t
mschedule_now(void)
{
    return (schedule_now_t){ clock_wall_us(), clock_mono_ms() };
}

/* ---- callbacks of the engine ------------------------------------------------------------------- */

/* A random number below n, for splay. */
static uint32_t
mschedule_roll(void *cookie, uint32_t n)
{
    uint32_t r;
    key_random(&r, sizeof(r));
    return n > 0 ? r % n : 0;
}

/* How many jobs of this schedule run or wait, for maxrunning. */
static size_t
mschedule_running(void *cookie, const char *name)
{
    const jobserver_t *js = ((mschedule_t *) cookie)->js;
    size_t n = 0, i;
    json_t *one;
    for (const job_proc_t *p = js->jobs; p; p = p->next)
        n += !p->returned && str_eq(value_str(p->job, "schedule", ""), name);
    json_array_foreach (js->waiting, i, one)
        n += str_eq(value_str(one, "schedule", ""), name);
    return n;
}

static void
mschedule_tell(void *cookie, int rc, const char *why)
{
    if (rc < 0)
        log_warning("%s", why);
    else
        log_info("%s", why);
}

/* ---- configuration ---------------------------------------------------------------------------- */

/* NEW plain value of a key of the pillar in memory; NULL: none. *ret_said: other minions' words are in it. */
static json_t *
mschedule_of_pillar(const mschedule_t *self, const char *key, bool *ret_said)
{
    json_t *wire = value_get(self->js->pillar, key);
    AUTO(py) value = wire != NULL ? py_from_wire(wire) : NULL;
    *ret_said = value != NULL && py_holds_peer(value);
    return value != NULL ? py_to_json(value) : NULL;
}

static void
mschedule_configure(mschedule_t *self)
{
    schedule_configure(self->engine, self->own, self->pillar, self->whens, mschedule_now());
}

static void
mschedule_pillar_changed(void *part)
{
    mschedule_t *self = part;

    json_decref(self->pillar);
    json_decref(self->whens);
    bool moments_said;
    self->pillar = mschedule_of_pillar(self, "schedule", &self->said);
    self->whens = mschedule_of_pillar(self, "whens", &moments_said);
    if (self->whens == NULL)
        self->whens = json_incref(value_get(self->js->grains, "whens"));
    if (self->pillar != NULL && !json_is_object(self->pillar))
        log_error("schedule: the pillar's is not a mapping; it is left out");

    mschedule_configure(self);
}

static void
mschedule_reload(void *part)
{
    mschedule_t *self = part;
    json_t *v = value_get(self->js->opts, "schedule");
    json_decref(self->own);
    self->own = json_is_object(v) ? json_deep_copy(v) : json_object();
    if (v != NULL && !json_is_object(v) && !json_is_null(v))
        log_error("schedule: the option is not a mapping; it is left out");
    mschedule_pillar_changed(self);
}

static void
mschedule_master_up(void *part, int master)
{
    ((mschedule_t *) part)->begun = true;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* NEW metadata of the return with Salt's additions: when it began and the offset from UTC; NULL: the job has
 * none. */
static json_t *
mschedule_metadata(const json_t *item)
{
    json_t *metadata = value_get(item, "metadata");
    char text[64];
    time_t now = time(NULL);
    struct tm tm;
    if (!json_is_object(metadata))
        return NULL;
    json_t *out = json_copy(metadata);
    (void) strftime(text, sizeof(text), "%z", localtime_r(&now, &tm));
    json_object_set_new(out, "_TOS", json_string(text));
    (void) strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm);
    json_object_set_new(out, "_TS", json_string(text));
    (void) strftime(text, sizeof(text), "%Y %B %d %a %H %m", gmtime_r(&now, &tm));
    json_object_set_new(out, "_TT", json_string(text));
    return out;
}

/* Starts a due job. With return_job false it is internal; with words of other minions its arguments are not
 * trusted ("peer"). */
static void
mschedule_run(mschedule_t *self, const json_t *row)
{
    const json_t *item = value_get(row, "item");
    json_t *args = value_get(item, "args"), *kwargs = value_get(item, "kwargs");
    json_t *back = value_get(item, "return_job");
    char jid[CLOCK_STAMP_LEN];
    json_t *arg = args != NULL ? json_deep_copy(args) : json_array();
    if (json_object_size(kwargs) > 0) {
        json_t *words = json_deep_copy(kwargs);
        json_object_set_new(words, "__kwarg__", json_true());
        json_array_append_new(arg, words);
    }
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:O, s:o, s:O, s:s, s:o*, s:b}", "jid", jid, "fun",
                                 value_get(row, "fun"), "arg", arg, "schedule", value_get(row, "name"),
                                 "user", "schedule", "metadata", mschedule_metadata(item), "own",
                                 back != NULL && !value_truthy(back));
    bool of_pillar = self->said && value_get(self->pillar, value_str(row, "name", "")) != NULL;
    if (of_pillar || value_bool(item, SCHEDULE_PEER, false))
        json_object_set_new(job, "peer", json_true());
    /* Returners: those of the job, then those of the option. */
    static const char *const more[][2] = { { "return_config", "ret_config" },
                                           { "return_kwargs", "ret_kwargs" } };
    const json_t *given[] = { value_get(item, "returner"), value_get(self->js->opts, "schedule_returner") };
    json_auto_t *names = json_array();

    for (size_t i = 0; i < NELEMS(given); i++) {
        AUTO_FREE char *text = given[i] != NULL ? value_joined(given[i], ",") : xstrdup("");
        if (*text != '\0')
            json_array_append_new(names, json_string(text));
    }
    AUTO_FREE char *all = value_joined(names, ",");
    if (*all != '\0')
        json_object_set_new(job, "ret", json_string(all));
    for (size_t i = 0; i < NELEMS(more); i++)
        if (value_get(item, more[i][0]) != NULL)
            json_object_set(job, more[i][1], value_get(item, more[i][0]));
    log_info("schedule: job %s: %s with jid %s", value_str(row, "name", ""), value_str(row, "fun", ""), jid);
    jobserver_job(self->js, job, -1);
}

/* Runs what is due, once the scheduler has begun. */
static void
mschedule_tick(void *part, int64_t now_ms)
{
    mschedule_t *self = part;
    if (!self->begun || self->js->stop || schedule_wait(self->engine, mschedule_now()) != 0)
        return;
    json_auto_t *due = schedule_due(self->engine, mschedule_now());
    json_t *row;
    size_t i;
    json_array_foreach (due, i, row)
        mschedule_run(self, row);
}

static int64_t
mschedule_next_ms(void *part)
{
    mschedule_t *self = part;
    schedule_now_t now = mschedule_now();
    int64_t wait = self->begun ? schedule_wait(self->engine, now) : -1;
    return wait < 0 ? 0 : now.mono_ms + wait;
}

/* ---- questions and changes -------------------------------------------------------------------- */

typedef int change_fn(mschedule_t *self, json_t *request, fail_t *err);

/* BORROWED job that a request names and may change: not the pillar's. NULL: none. */
static json_t *
mschedule_mine(mschedule_t *self, const json_t *request)
{
    const char *name = value_str(request, "name", "");
    json_t *item = value_get(self->own, name);
    if (item == NULL && value_get(self->pillar, name) != NULL)
        log_warning("schedule: job %s can't be changed: it is in the pillar", name);
    return json_is_object(item) ? item : NULL;
}

static int
mschedule_set(mschedule_t *self, json_t *request, fail_t *err)
{
    const char *name = value_str(request, "name", "");
    json_t *item = value_get(request, "schedule");
    if (*name == '\0' || !json_is_object(item))
        return fail_set(err, -EINVAL, "a job of the schedule has a name and is a mapping");
    if (value_get(self->pillar, name) != NULL && value_get(self->own, name) == NULL) {
        log_warning("schedule: job %s can't be changed: it is in the pillar", name);
        return 0;
    }
    AUTO_FREE char *why = schedule_check(name, item, self->whens);
    if (why != NULL)
        return fail_set(err, -EINVAL, "%s", why);
    json_object_set(self->own, name, item);
    return 0;
}

static int
mschedule_delete(mschedule_t *self, json_t *request, fail_t *err)
{
    if (mschedule_mine(self, request) != NULL)
        json_object_del(self->own, value_str(request, "name", ""));
    return 0;
}

static int
mschedule_enable_job(mschedule_t *self, json_t *request, fail_t *err)
{
    json_t *item = mschedule_mine(self, request);
    if (item != NULL)
        json_object_set_new(item, "enabled", json_boolean(value_bool(request, "enabled", true)));
    return 0;
}

static int
mschedule_enable(mschedule_t *self, json_t *request, fail_t *err)
{
    json_object_set_new(self->own, "enabled", json_boolean(value_bool(request, "enabled", true)));
    return 0;
}

static void
mschedule_append_time(json_t *item, const char *key, const json_t *request, const char *from)
{
    json_t *list = value_get(item, key);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(item, key, list);
    }
    json_array_append_new(list, json_pack("{s:O, s:s}", "time", value_get(request, from), "time_fmt",
                                          value_str(request, "time_fmt", SCHEDULE_FORMAT)));
}

/* Adds a time at which the job is skipped and, with `postpone`, one at which it runs instead. */
static int
mschedule_skip(mschedule_t *self, json_t *request, bool postpone, fail_t *err)
{
    if (postpone && !json_is_string(value_get(request, "new_time")))
        return fail_set(err, -EINVAL, "Job new_time is required.");
    if (!json_is_string(value_get(request, "time")))
        return fail_set(err, -EINVAL, "Job time is required.");
    json_t *item = mschedule_mine(self, request);
    if (item != NULL)
        mschedule_append_time(item, "skip_explicit", request, "time");
    if (item != NULL && postpone)
        mschedule_append_time(item, "run_explicit", request, "new_time");
    return 0;
}

static int
mschedule_skip_job(mschedule_t *self, json_t *request, fail_t *err)
{
    return mschedule_skip(self, request, false, err);
}

static int
mschedule_postpone_job(mschedule_t *self, json_t *request, fail_t *err)
{
    return mschedule_skip(self, request, true, err);
}

static int
mschedule_run_job(mschedule_t *self, json_t *request, fail_t *err)
{
    json_auto_t *row = schedule_run(self->engine, value_str(request, "name", ""), mschedule_now());
    if (row != NULL)
        mschedule_run(self, row);
    return 0;
}

static int
mschedule_merge(mschedule_t *self, json_t *request, fail_t *err)
{
    json_t *more = value_get(request, "schedule");
    if (!json_is_object(more))
        return fail_set(err, -EINVAL, "a schedule is a mapping");
    json_object_update(self->own, more);
    return 0;
}

static int
mschedule_nothing(mschedule_t *self, json_t *request, fail_t *err)
{
    return 0;
}

/* The operations of the request "schedule". Which ones write the file, and their events, are as in Salt. */
static const struct {
    const char *name;
    change_fn *fn;
    bool changes, persists;
    const char *event; /* Salt's, on the minion's bus; NULL: none */
} changes[] = {
    { "list", mschedule_nothing, false, false, "list" },
    { "status", mschedule_nothing, false, false, NULL },
    { "set", mschedule_set, true, true, "add" },
    { "delete", mschedule_delete, true, true, "delete" },
    { "enable_job", mschedule_enable_job, true, true, "enabled_job" },
    { "enable", mschedule_enable, true, true, "enabled" },
    { "skip_job", mschedule_skip_job, true, false, "skip_job" },
    { "postpone_job", mschedule_postpone_job, true, false, "postpone_job" },
    { "run_job", mschedule_run_job, false, false, NULL },
    { "save", mschedule_nothing, false, true, NULL },
    { "reload", mschedule_merge, true, false, NULL },
};

/* Handles {do: "list" (where), "status" (name, time_fmt), "set" (name, schedule), "delete", "enable_job",
 * "skip_job" (name, time, time_fmt), "postpone_job" (new_time too), "enable" (enabled), "run_job", "save",
 * "reload" (schedule); persist}. NEW schedule as it is afterwards; for "status" the job's part, with its
 * times. */
static json_t *
mschedule_ask(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mschedule_t *self = part;
    const char *name = value_str(request, "do", "");
    size_t i = 0;
    while (i < NELEMS(changes) && !str_eq(changes[i].name, name))
        i++;
    if (i == NELEMS(changes))
        return (void) fail_set(err, -ENOTSUP, "the scheduler has no operation '%s'", name), NULL;
    if (changes[i].fn(self, request, err) < 0)
        return NULL;
    if (changes[i].changes)
        mschedule_configure(self);
    if (changes[i].persists && value_bool(request, "persist", true) &&
        schedule_file_save(self->js->opts, self->own, err) < 0)
        return NULL;
    if (str_eq(name, "status")) {
        /* Reports whether the schedule runs. */
        const char *format = value_str(request, "time_fmt", SCHEDULE_FORMAT);
        json_t *status = schedule_status(self->engine, value_str(request, "name", ""), format,
                                         mschedule_now());
        return status != NULL ? status : json_object();
    }

    /* Lists the jobs with their times. */
    const char *where = value_str(request, "where", "");
    json_t *all = json_object();
    if (!str_eq(where, "opts") && json_is_object(self->pillar))
        json_object_update(all, self->pillar);
    if (!str_eq(where, "pillar"))
        json_object_update(all, self->own);

    if (changes[i].event != NULL) {
        AUTO_FREE char *tag = xasprintf("/salt/minion/minion_schedule_%s_complete", changes[i].event);
        json_auto_t *data = json_pack("{s:b, s:O}", "complete", true, "schedule", all);
        EACH_PART(self->js, shown, tag, data);
    }
    return all;
}

/* ---- life ------------------------------------------------------------------------------------- */

static void *
mschedule_start(jobserver_t *js, fail_t *err)
{
    mschedule_t *self = xcalloc(1, sizeof(*self));
    const schedule_env_t env = { mschedule_roll, mschedule_running, mschedule_tell, self };
    self->js = js;
    self->engine = schedule_new(&env);
    self->begun = value_bool(js->opts, "scheduler_before_connect", true) ||
                  str_eq(value_str(js->opts, "master_type", ""), "disable");
    mschedule_reload(self);
    return self;
}

static void
mschedule_destroy(void *part)
{
    mschedule_t *self = part;
    schedule_destroy(&self->engine);
    json_decref(self->own);
    json_decref(self->pillar);
    json_decref(self->whens);
    free(self);
}

static const part_request_t requests[] = { { "schedule", mschedule_ask, "{op: schedule, do}" }, { 0 } };

const minion_part_t minion_part_schedule = {
    .name = "schedule",
    .start = mschedule_start,
    .destroy = mschedule_destroy,
    .reload = mschedule_reload,
    .tick = mschedule_tick,
    .next_ms = mschedule_next_ms,
    .master_up = mschedule_master_up,
    .pillar_changed = mschedule_pillar_changed,
    .requests = requests,
};
