/* mschedule.c - see mschedule.h. */
#include "minion/mschedule.h"

#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/py/py_json.h"
#include "common/py/py_peer.h"
#include "common/py/py_wire.h"
#include "common/schedule/schedule.h"
#include "common/schedule/schedule_file.h"
#include "minion/mbus.h"
#include "salt/log.h"
#include "salt/value.h"

struct mschedule {
    jobserver_t *owner;
    schedule_t *engine;
    json_t *own;    /* the option, and what was changed since */
    json_t *pillar; /* the pillar's part; NULL: none */
    bool said;      /* another minion said some of that: its words may be among the arguments of a job */
    json_t *whens;  /* the pillar's or the grains' names for moments; NULL: none */
    bool begun;     /* scheduler_before_connect */
};

static schedule_now_t
s_now(void)
{
    return (schedule_now_t){ clock_wall_us(), clock_mono_ms() };
}

/* ---- what the engine asks --------------------------------------------------------------------- */

static uint32_t
s_roll(void *cookie, uint32_t n)
{
    uint32_t r;
    key_random(&r, sizeof(r));
    return n > 0 ? r % n : 0;
}

static size_t
s_running(void *cookie, const char *name)
{
    const jobserver_t *js = ((mschedule_t *) cookie)->owner;
    size_t n = 0, i;
    json_t *one;
    for (const job_proc_t *p = js->jobs; p; p = p->next)
        n += !p->returned && str_eq(value_str(p->job, "schedule", ""), name);
    json_array_foreach (js->waiting, i, one)
        n += str_eq(value_str(one, "schedule", ""), name);
    return n;
}

static void
s_tell(void *cookie, int rc, const char *why)
{
    if (rc < 0)
        log_warning("%s", why);
    else
        log_info("%s", why);
}

/* ---- configuration ---------------------------------------------------------------------------- */

/* NEW: the part of the pillar in memory under a key; NULL: none. */
static json_t *
s_of_pillar(const mschedule_t *self, const char *key, bool *ret_said)
{
    json_t *wire = value_get(mpillar_known(self->owner->pillar), key);
    AUTO(py) value = wire ? py_from_wire(wire) : NULL;
    *ret_said = value && py_holds_peer(value);
    return value ? py_to_json(value) : NULL;
}

static void
s_take_pillar(mschedule_t *self)
{
    json_decref(self->pillar);
    json_decref(self->whens);
    bool moments_said;
    self->pillar = s_of_pillar(self, "schedule", &self->said);
    self->whens = s_of_pillar(self, "whens", &moments_said);
    if (!self->whens)
        self->whens = json_incref(value_get(self->owner->grains, "whens"));
    if (self->pillar && !json_is_object(self->pillar))
        log_error("schedule: the pillar's is not a mapping; it is left out");
}

static void
s_configure(mschedule_t *self)
{
    schedule_configure(self->engine, self->own, self->pillar, self->whens, s_now());
}

void
mschedule_reload(mschedule_t *self)
{
    json_t *v = value_get(self->owner->opts, "schedule");
    json_decref(self->own);
    self->own = json_is_object(v) ? json_deep_copy(v) : json_object();
    if (v && !json_is_object(v) && !json_is_null(v))
        log_error("schedule: the option is not a mapping; it is left out");
    s_take_pillar(self);
    s_configure(self);
}

void
mschedule_pillar(mschedule_t *self)
{
    s_take_pillar(self);
    s_configure(self);
}

void
mschedule_connected(mschedule_t *self)
{
    self->begun = true;
}

/* ---- running ---------------------------------------------------------------------------------- */

/* As Salt adds to a job's metadata: when it began, and the offset from UTC. NEW; NULL: there is none. */
static json_t *
s_metadata(const json_t *item)
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

static void
s_run(mschedule_t *self, const json_t *row)
{
    const json_t *item = value_get(row, "item");
    json_t *args = value_get(item, "args"), *kwargs = value_get(item, "kwargs");
    json_t *back = value_get(item, "return_job");
    char jid[CLOCK_STAMP_LEN];
    json_t *arg = args ? json_deep_copy(args) : json_array();
    if (json_object_size(kwargs) > 0) {
        json_t *words = json_deep_copy(kwargs);
        json_object_set_new(words, "__kwarg__", json_true());
        json_array_append_new(arg, words);
    }
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:O, s:o, s:O, s:s, s:o*, s:b}", "jid", jid, "fun",
                                 value_get(row, "fun"), "arg", arg, "schedule", value_get(row, "name"),
                                 "user", "schedule", "metadata", s_metadata(item), "own",
                                 back && !value_truthy(back));
    bool of_pillar = self->said && value_get(self->pillar, value_str(row, "name", ""));
    if (of_pillar || value_bool(item, SCHEDULE_PEER, false))
        json_object_set_new(job, "peer", json_true());
    log_info("schedule: job %s: %s with jid %s", value_str(row, "name", ""), value_str(row, "fun", ""), jid);
    jobserver_job(self->owner, job, -1);
}

void
mschedule_tick(mschedule_t *self)
{
    if (!self->begun || self->owner->stop || schedule_wait(self->engine, s_now()) != 0)
        return;
    json_auto_t *due = schedule_due(self->engine, s_now());
    json_t *row;
    size_t i;
    json_array_foreach (due, i, row)
        s_run(self, row);
}

int64_t
mschedule_next_ms(const mschedule_t *self)
{
    schedule_now_t now = s_now();
    int64_t wait = self->begun ? schedule_wait(self->engine, now) : -1;
    return wait < 0 ? 0 : now.mono_ms + wait;
}

/* ---- questions and changes -------------------------------------------------------------------- */

typedef int change_fn(mschedule_t *self, json_t *request, fail_t *err);

/* BORROWED: a job that may be changed, which the pillar's may not; NULL: there is none. */
static json_t *
s_mine(mschedule_t *self, const json_t *request)
{
    const char *name = value_str(request, "name", "");
    json_t *item = value_get(self->own, name);
    if (!item && value_get(self->pillar, name))
        log_warning("schedule: job %s can't be changed: it is in the pillar", name);
    return json_is_object(item) ? item : NULL;
}

static int
s_set(mschedule_t *self, json_t *request, fail_t *err)
{
    const char *name = value_str(request, "name", "");
    json_t *item = value_get(request, "schedule");
    if (*name == '\0' || !json_is_object(item))
        return fail_set(err, -EINVAL, "a job of the schedule has a name and is a mapping");
    if (value_get(self->pillar, name) && !value_get(self->own, name)) {
        log_warning("schedule: job %s can't be changed: it is in the pillar", name);
        return 0;
    }
    AUTO_FREE char *why = schedule_check(name, item, self->whens);
    if (why)
        return fail_set(err, -EINVAL, "%s", why);
    json_object_set(self->own, name, item);
    return 0;
}

static int
s_delete(mschedule_t *self, json_t *request, fail_t *err)
{
    if (s_mine(self, request))
        json_object_del(self->own, value_str(request, "name", ""));
    return 0;
}

static int
s_enable_job(mschedule_t *self, json_t *request, fail_t *err)
{
    json_t *item = s_mine(self, request);
    if (item)
        json_object_set_new(item, "enabled", json_boolean(value_bool(request, "enabled", true)));
    return 0;
}

static int
s_enable(mschedule_t *self, json_t *request, fail_t *err)
{
    json_object_set_new(self->own, "enabled", json_boolean(value_bool(request, "enabled", true)));
    return 0;
}

static void
s_append_time(json_t *item, const char *key, const json_t *request, const char *from)
{
    json_t *list = value_get(item, key);
    if (!json_is_array(list)) {
        list = json_array();
        json_object_set_new(item, key, list);
    }
    json_array_append_new(list, json_pack("{s:O, s:s}", "time", value_get(request, from), "time_fmt",
                                          value_str(request, "time_fmt", SCHEDULE_FORMAT)));
}

/* A time that is left out and, with `postpone`, one when it runs instead. */
static int
s_skip(mschedule_t *self, json_t *request, bool postpone, fail_t *err)
{
    if (postpone && !json_is_string(value_get(request, "new_time")))
        return fail_set(err, -EINVAL, "Job new_time is required.");
    if (!json_is_string(value_get(request, "time")))
        return fail_set(err, -EINVAL, "Job time is required.");
    json_t *item = s_mine(self, request);
    if (item)
        s_append_time(item, "skip_explicit", request, "time");
    if (item && postpone)
        s_append_time(item, "run_explicit", request, "new_time");
    return 0;
}

static int
s_skip_job(mschedule_t *self, json_t *request, fail_t *err)
{
    return s_skip(self, request, false, err);
}

static int
s_postpone_job(mschedule_t *self, json_t *request, fail_t *err)
{
    return s_skip(self, request, true, err);
}

static int
s_run_job(mschedule_t *self, json_t *request, fail_t *err)
{
    json_auto_t *row = schedule_run(self->engine, value_str(request, "name", ""), s_now());
    if (row)
        s_run(self, row);
    return 0;
}

static int
s_reload(mschedule_t *self, json_t *request, fail_t *err)
{
    json_t *more = value_get(request, "schedule");
    if (!json_is_object(more))
        return fail_set(err, -EINVAL, "a schedule is a mapping");
    json_object_update(self->own, more);
    return 0;
}

static int
s_nothing(mschedule_t *self, json_t *request, fail_t *err)
{
    return 0;
}

/* What is kept in the file, and which events there are, is Salt's. */
static const struct {
    const char *name;
    change_fn *fn;
    bool changes, persists;
    const char *event; /* Salt's, on the minion's bus; NULL: none */
} changes[] = {
    { "list", s_nothing, false, false, "list" },
    { "status", s_nothing, false, false, NULL },
    { "set", s_set, true, true, "add" },
    { "delete", s_delete, true, true, "delete" },
    { "enable_job", s_enable_job, true, true, "enabled_job" },
    { "enable", s_enable, true, true, "enabled" },
    { "skip_job", s_skip_job, true, false, "skip_job" },
    { "postpone_job", s_postpone_job, true, false, "postpone_job" },
    { "run_job", s_run_job, false, false, NULL },
    { "save", s_nothing, false, true, NULL },
    { "reload", s_reload, true, false, NULL },
};

/* NEW: jobs and settings, those of the configuration over the pillar's. */
static json_t *
s_list(const mschedule_t *self, const char *where)
{
    json_t *all = json_object();
    if (!str_eq(where, "opts") && json_is_object(self->pillar))
        json_object_update(all, self->pillar);
    if (!str_eq(where, "pillar"))
        json_object_update(all, self->own);
    return all;
}

static json_t *
s_status(const mschedule_t *self, const json_t *request)
{
    const char *format = value_str(request, "time_fmt", SCHEDULE_FORMAT);
    json_t *status = schedule_status(self->engine, value_str(request, "name", ""), format, s_now());
    return status ? status : json_object();
}

json_t *
mschedule_ask(mschedule_t *self, json_t *request, fail_t *err)
{
    const char *name = value_str(request, "do", "");
    size_t i = 0;
    while (i < NELEMS(changes) && !str_eq(changes[i].name, name))
        i++;
    if (i == NELEMS(changes))
        return (void) fail_set(err, -ENOTSUP, "the scheduler has no operation '%s'", name), NULL;
    if (changes[i].fn(self, request, err) < 0)
        return NULL;
    if (changes[i].changes)
        s_configure(self);
    if (changes[i].persists && value_bool(request, "persist", true) &&
        schedule_file_save(self->owner->opts, self->own, err) < 0)
        return NULL;
    if (str_eq(name, "status"))
        return s_status(self, request);
    json_t *all = s_list(self, value_str(request, "where", ""));
    if (changes[i].event) {
        AUTO_FREE char *tag = xasprintf("/salt/minion/minion_schedule_%s_complete", changes[i].event);
        json_auto_t *data = json_pack("{s:b, s:O}", "complete", true, "schedule", all);
        mbus_tell(self->owner->bus, tag, data);
    }
    return all;
}

/* ---- life ------------------------------------------------------------------------------------- */

mschedule_t *
mschedule_new(jobserver_t *owner)
{
    mschedule_t *self = xcalloc(1, sizeof(*self));
    const schedule_env_t env = { s_roll, s_running, s_tell, self };
    self->owner = owner;
    self->engine = schedule_new(&env);
    self->begun = value_bool(owner->opts, "scheduler_before_connect", true) ||
                  str_eq(value_str(owner->opts, "master_type", ""), "disable");
    mschedule_reload(self);
    return self;
}

void
mschedule_destroy(mschedule_t **self_p)
{
    mschedule_t *self = STEAL(*self_p);
    if (!self)
        return;
    schedule_destroy(&self->engine);
    json_decref(self->own);
    json_decref(self->pillar);
    json_decref(self->whens);
    free(self);
}
