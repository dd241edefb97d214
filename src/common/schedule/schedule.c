/* schedule.c - see schedule.h.
 *
 * An entry has one regular time, by the monotonic clock for intervals and by the wall clock otherwise, and
 * extra times (run_explicit, run_after_skip_range). schedule_due() takes the entries whose wait is 0. A jump
 * of the wall clock is detected by its offset to the monotonic one. */
#include "common/schedule/schedule.h"

#include <stdlib.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/schedule/schedule_job.h"
#include "salt/value.h"

#define SECOND_US 1000000LL
#define JUMP_US   (2 * SECOND_US) /* a larger change of their offset is a set clock */

typedef struct entry {
    struct entry *next;
    char *name;
    json_t *item, *meant; /* owned; meant: all inputs of `job`, */
    json_t *times;        /* owned; and those that decide its times */
    sjob_t job;
    char *error;        /* owned: why it never runs */
    int64_t due_mono;   /* an interval's: monotonic ms */
    int64_t due_us;     /* any other's; 0: never again */
    int64_t splay_ms;   /* beside either */
    int64_t extra_us;   /* after a range that was skipped; 0: none */
    int64_t nominal_us; /* the last regular time that was due: not due again */
    int64_t last_us, skipped_us;
    const char *skip_reason;
    bool start; /* run_on_start is still to come */
    bool kept;  /* while configuring: it is still there */
} entry_t;

struct schedule {
    schedule_env_t env;
    entry_t *entries; /* in the order of the configuration */
    bool enabled;
    char *skip_function;
    int64_t offset_us; /* wall clock less monotonic */
};

/* ---- life ------------------------------------------------------------------------------------- */

schedule_t *
schedule_new(const schedule_env_t *env)
{
    schedule_t *self = xcalloc(1, sizeof(*self));
    self->env = *env;
    self->enabled = true;
    return self;
}

static void
entry_free(entry_t *e)
{
    sjob_free(&e->job);
    json_decref(e->item);
    json_decref(e->meant);
    json_decref(e->times);
    free(e->error);
    free(e->name);
    free(e);
}

static void
schedule_entries_free(entry_t *e)
{
    while (e != NULL) {
        entry_t *next = e->next;
        entry_free(e);
        e = next;
    }
}

void
schedule_destroy(schedule_t **self_p)
{
    schedule_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    schedule_entries_free(self->entries);
    free(self->skip_function);
    free(self);
}

static entry_t *
schedule_find(const schedule_t *self, const char *name)
{
    entry_t *e = self->entries;
    while (e != NULL && !str_eq(e->name, name))
        e = e->next;
    return e;
}

/* ---- when it comes ---------------------------------------------------------------------------- */

/* Arm the next time of day; a time that was just due is not due again if the clock was set back. */
static void
arm_wall(entry_t *e, int64_t now_us)
{
    int64_t from = now_us;
    if (e->nominal_us >= now_us && e->nominal_us - now_us < SCHEDULE_BACK_S * SECOND_US)
        from = e->nominal_us + 1;
    if (e->job.kind == SJOB_WHEN) {
        /* The earliest of the job's moments. */
        e->due_us = 0;
        for (size_t i = 0; i < e->job.n_whens; i++) {
            int64_t t = moment_next(&e->job.whens[i], from);
            e->due_us = t > 0 && (e->due_us == 0 || t < e->due_us) ? t : e->due_us;
        }
    } else if (e->job.kind == SJOB_CRON)
        e->due_us = cron_next(&e->job.cron, from);
    else if (e->job.kind == SJOB_ONCE)
        e->due_us = e->job.once_us >= from ? e->job.once_us : 0;
}

/* Arm the next time. An interval keeps its phase, but missed steps are not made up for. */
static void
arm(schedule_t *self, entry_t *e, schedule_now_t now)
{
    if (e->job.kind == SJOB_EVERY) {
        int64_t next = e->due_mono + e->job.every_ms;
        e->due_mono = next > now.mono_ms ? next : now.mono_ms + e->job.every_ms;
    } else {
        arm_wall(e, now.wall_us);
    }

    /* Draws a delay between the bounds of the job's splay. */
    int64_t span = e->job.splay_max - e->job.splay_min;
    e->splay_ms = 0;
    if (e->job.splay_max > 0)
        e->splay_ms = (e->job.splay_min + self->env.roll(self->env.cookie, (uint32_t) span + 1)) * 1000;
}

static int64_t
until_wall(int64_t us, schedule_now_t now)
{
    return us > now.wall_us ? (us - now.wall_us + 999) / 1000 : 0;
}

/* Milliseconds until the regular time; -1: never. */
static int64_t
until_regular(const entry_t *e, schedule_now_t now)
{
    if (e->job.kind == SJOB_NEVER || (e->job.kind != SJOB_EVERY && e->due_us == 0))
        return -1;
    if (e->job.kind != SJOB_EVERY)
        return until_wall(e->due_us + e->splay_ms * 1000, now);
    int64_t wait = e->due_mono + e->splay_ms - now.mono_ms;
    return wait > 0 ? wait : 0;
}

/* The wait until the entry's next run, regular or extra; negative: it never runs. */
static int64_t
until(const entry_t *e, schedule_now_t now)
{
    if (e->error != NULL)
        return -1;
    int64_t regular = e->start ? 0 : until_regular(e, now), extra = e->extra_us;
    for (size_t i = 0; i < e->job.n_runs; i++) {
        int64_t t = e->job.runs[i];
        extra = t > 0 && (extra == 0 || t < extra) ? t : extra;
    }
    if (extra == 0)
        return regular;
    int64_t wait = until_wall(extra, now);
    return regular < 0 || wait < regular ? wait : regular;
}

/* By how much the wall clock was set since the last look, in us. */
static int64_t
schedule_jump(const schedule_t *self, schedule_now_t now)
{
    return now.wall_us - now.mono_ms * 1000 - self->offset_us;
}

/* Milliseconds until schedule_due() has something to do; -1: nothing is planned. */
int64_t
schedule_wait(const schedule_t *self, schedule_now_t now)
{
    int64_t best = -1;
    if (llabs(schedule_jump(self, now)) >= JUMP_US)
        return 0;
    for (const entry_t *e = self->entries; e; e = e->next) {
        int64_t wait = until(e, now);
        best = wait >= 0 && (best < 0 || wait < best) ? wait : best;
    }
    return best;
}

/* ---- configuration ---------------------------------------------------------------------------- */

static void
schedule_tell(const schedule_t *self, int rc, const char *why)
{
    self->env.tell(self->env.cookie, rc, why);
}

/* Reads an entry's settings and sets its first run. An entry with an error stays in the list and does not
 * run, so that its user sees it. */
static void
schedule_read(schedule_t *self, entry_t *e, const json_t *all, const json_t *whens, schedule_now_t now)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *unknown = sjob_unknown(e->item);
    if (unknown != NULL) {
        AUTO_FREE char *text = xasprintf("schedule: job %s: without effect here: %s", e->name, unknown);
        schedule_tell(self, -ENOTSUP, text);
    }
    if (sjob_read(e->name, e->item, all, whens, &e->job, &err) < 0) {
        e->error = xstrdup(fail_text(&err));
        schedule_tell(self, -EINVAL, e->error);
        return;
    }
    e->start = e->job.run_on_start;
    e->due_mono = now.mono_ms;

    /* Drop extra times that are past already. */
    int64_t now_us = now.wall_us;
    for (size_t i = 0; i < e->job.n_runs; i++)
        if (e->job.runs[i] < now_us)
            e->job.runs[i] = 0;

    arm(self, e, now);
}

/* The named moments that an item uses. NEW {name: text}. */
static json_t *
schedule_named(const json_t *item, const json_t *whens)
{
    json_t *named = json_object(), *when = value_get(item, "when"), *one;
    json_auto_t *list = json_is_array(when) ? json_incref(when) : json_pack("[O*]", when);
    size_t i;
    json_array_foreach (list, i, one)
        if (json_is_string(one) && value_get(whens, json_string_value(one)) != NULL)
            json_object_set(named, json_string_value(one), value_get(whens, json_string_value(one)));
    return named;
}

/* The parts of an item that decide its times, without those that only skip them. NEW. */
static json_t *
schedule_times(const json_t *item, json_t *named)
{
    static const char *const keys[] = { "seconds", "minutes", "hours",    "days",        "when",
                                        "cron",    "once",    "once_fmt", "run_on_start" };
    json_t *times = json_pack("{s:O}", "named", named);
    for (size_t i = 0; i < NELEMS(keys); i++)
        if (value_get(item, keys[i]) != NULL)
            json_object_set(times, keys[i], value_get(item, keys[i]));
    return times;
}

/* Keep an unchanged job's entry; else make a new one, which keeps the old times if they are the same. */
static entry_t *
schedule_take(schedule_t *self, entry_t **old, const char *name, json_t *item, const json_t *all,
              const json_t *whens, schedule_now_t now)
{
    json_auto_t *named = schedule_named(item, whens);
    json_auto_t *meant = json_pack("{s:O, s:O*, s:O*, s:O}", "item", item, "splay", value_get(all, "splay"),
                                   "skip", value_get(all, "skip_during_range"), "named", named);

    /* Take the entry of this name out of the list. The caller owns it. */
    entry_t **at = old;
    while (*at && !str_eq((*at)->name, name))
        at = &(*at)->next;
    entry_t *before = *at;
    if (before != NULL) {
        *at = before->next;
        before->next = NULL;
    }

    if (before != NULL && json_equal(before->meant, meant))
        return before;
    entry_t *e = xcalloc(1, sizeof(*e));
    e->name = xstrdup(name);
    e->item = json_deep_copy(item);
    e->meant = json_deep_copy(meant);
    e->times = schedule_times(e->item, named);
    schedule_read(self, e, all, whens, now);
    if (before != NULL) {
        /* Carry the times over from a job with other content but the same times: it goes on as if
         * unchanged. */
        if (e->error == NULL && before->error == NULL && json_equal(e->times, before->times)) {
            e->start = before->start;
            e->due_mono = before->due_mono;
            e->due_us = before->due_us;
            e->extra_us = before->extra_us;
            e->nominal_us = before->nominal_us;
            e->last_us = before->last_us;
            e->skipped_us = before->skipped_us;
            e->skip_reason = before->skip_reason;
            if (e->job.splay_min == before->job.splay_min && e->job.splay_max == before->job.splay_max)
                e->splay_ms = before->splay_ms;
        }

        entry_free(before);
    }
    return e;
}

/* The configuration's jobs stand over the pillar's of the same name. Jobs that stay as they were keep their
 * times. */
void
schedule_configure(schedule_t *self, const json_t *opts, const json_t *pillar, const json_t *whens,
                   schedule_now_t now)
{
    json_auto_t *all = json_is_object(pillar) ? json_copy((json_t *) pillar) : json_object();
    if (json_is_object(opts))
        json_object_update(all, (json_t *) opts);
    if (self->offset_us == 0)
        self->offset_us = now.wall_us - now.mono_ms * 1000;
    self->enabled = value_bool(all, "enabled", true);
    free(self->skip_function);
    const char *skip = value_str(all, "skip_function", NULL), *name;
    self->skip_function = skip != NULL ? xstrdup(skip) : NULL;
    entry_t *old = STEAL(self->entries), **end = &self->entries;
    json_t *item;
    json_object_foreach (all, name, item) {
        if (sjob_is_setting(name))
            continue;
        *end = schedule_take(self, &old, name, item, all, whens, now);
        end = &(*end)->next;
    }
    schedule_entries_free(old);
}

char *
schedule_check(const char *name, const json_t *item, const json_t *whens)
{
    fail_auto_t err = FAIL_INIT;
    sjob_t job;
    int rc = sjob_read(name, item, NULL, whens, &job, &err);
    sjob_free(&job);
    return rc < 0 ? xstrdup(fail_text(&err)) : NULL;
}

/* ---- running ---------------------------------------------------------------------------------- */

static void
skipped(entry_t *e, const char *reason, int64_t now_us)
{
    e->skip_reason = reason;
    e->skipped_us = now_us;
}

static json_t *
schedule_row(const entry_t *e, const char *fun)
{
    return json_pack("{s:s, s:s, s:O}", "name", e->name, "fun", fun, "item", e->item);
}

/* maxrunning bounds the runs of one job at a time; jid_include off lifts the bound, as in Salt. */
static bool
room(const schedule_t *self, const entry_t *e)
{
    return !e->job.jid_include || self->env.running(self->env.cookie, e->name) < (size_t) e->job.maxrunning;
}

/* Begin an entry that is due. NEW row, or NULL with the reason noted when it does not run this time. */
static json_t *
schedule_begin(schedule_t *self, entry_t *e, bool whatever, schedule_now_t now)
{
    bool replace = false;
    const char *fun = e->job.fun;
    const char *why = whatever ? NULL : sjob_skipped(&e->job, now.wall_us, &replace);
    e->skip_reason = NULL;
    if (why != NULL && e->job.run_after_skip && sjob_skip_end(&e->job, now.wall_us) > 0)
        e->extra_us = sjob_skip_end(&e->job, now.wall_us) + SECOND_US;
    if (why != NULL && replace && self->skip_function != NULL) {
        fun = self->skip_function;
        why = NULL;
    }
    if (!self->enabled || !e->job.enabled)
        why = "disabled";
    else if (why == NULL && !room(self, e))
        why = "maxrunning";
    if (why != NULL) {
        skipped(e, why, now.wall_us);
        return NULL;
    }
    e->last_us = now.wall_us;
    return e->job.dry_run ? NULL : schedule_row(e, fun);
}

/* True for a time of day missed by more than SCHEDULE_LATE_S, as in Salt. Cron times are made up for once. */
static bool
schedule_too_late(const schedule_t *self, const entry_t *e, schedule_now_t now)
{
    int64_t late = now.wall_us - e->due_us - e->splay_ms * 1000;
    bool by_day = e->job.kind == SJOB_WHEN || e->job.kind == SJOB_ONCE;
    if (!by_day || late <= SCHEDULE_LATE_S * SECOND_US)
        return false;
    AUTO_FREE char *text = xasprintf("schedule: job %s: runtime missed by %lld seconds", e->name,
                                     (long long) (late / SECOND_US));
    schedule_tell(self, 0, text);
    return true;
}

/* Take the extra times that have come. True when there was one. */
static bool
take_extra(entry_t *e, int64_t now_us)
{
    bool due = e->extra_us > 0 && e->extra_us <= now_us;
    e->extra_us = due ? 0 : e->extra_us;
    for (size_t i = 0; i < e->job.n_runs; i++)
        if (e->job.runs[i] > 0 && e->job.runs[i] <= now_us) {
            e->job.runs[i] = 0;
            due = true;
        }
    return due;
}

json_t *
schedule_due(schedule_t *self, schedule_now_t now)
{
    json_t *out = json_array();

    /* The wall clock was set back: times of day that were waited for otherwise are armed again. */
    int64_t jump = schedule_jump(self, now);
    if (llabs(jump) >= JUMP_US) {
        self->offset_us += jump;
        for (entry_t *e = self->entries; e != NULL && jump < 0; e = e->next)
            if (e->error == NULL && e->job.kind != SJOB_EVERY)
                arm_wall(e, now.wall_us);
    }

    for (entry_t *e = self->entries; e; e = e->next)
        if (until(e, now) == 0) {
            /* Runs an entry when it is due. A regular run that comes too late is left out, and the next
             * one is set. */
            bool extra = take_extra(e, now.wall_us), start = e->start;
            bool regular = !start && until_regular(e, now) == 0;
            e->start = false;
            bool late = regular && schedule_too_late(self, e, now);
            if (extra || start || (regular && !late)) {
                json_t *row = schedule_begin(self, e, extra || start, now);
                if (row != NULL)
                    json_array_append_new(out, row);
            }
            if (regular) {
                e->nominal_us = e->job.kind == SJOB_EVERY ? 0 : e->due_us;
                arm(self, e, now);
            }
        }
    return out;
}

/* schedule.run_job: the job's row now, whatever its time; NULL when it can't run. */
json_t *
schedule_run(schedule_t *self, const char *name, schedule_now_t now)
{
    entry_t *e = schedule_find(self, name);
    if (e == NULL || e->error != NULL || e->job.dry_run)
        return NULL;
    if (!room(self, e)) {
        skipped(e, "maxrunning", now.wall_us);
        return NULL;
    }
    e->last_us = now.wall_us;
    return schedule_row(e, e->job.fun);
}

/* ---- showing ---------------------------------------------------------------------------------- */

static void
show_time(json_t *out, const char *key, int64_t us, const char *format)
{
    AUTO_FREE char *text = us > 0 ? clock_strftime(format, us) : NULL;
    json_object_set_new(out, key, text != NULL ? json_string(text) : json_null());
}

/* The item with Salt's keys of times added, for schedule.list and its like. NEW; NULL: there is no such
 * job. */
json_t *
schedule_status(const schedule_t *self, const char *name, const char *format, schedule_now_t now)
{
    const entry_t *e = schedule_find(self, name);
    if (e == NULL)
        return NULL;
    json_t *out = json_is_object(e->item) ? json_deep_copy(e->item) : json_object();
    int64_t wait = until(e, now);
    json_object_set_new(out, "name", json_string(e->name));
    show_time(out, "_next_fire_time", wait < 0 ? 0 : now.wall_us + wait * 1000, format);
    show_time(out, "_last_run", e->last_us, format);
    if (e->splay_ms > 0)
        show_time(out, "_splay", wait < 0 ? 0 : now.wall_us + wait * 1000, format);
    if (e->error != NULL)
        json_object_set_new(out, "_error", json_string(e->error));
    if (e->skip_reason == NULL)
        return out;
    json_object_set_new(out, "_skip_reason", json_string(e->skip_reason));
    json_object_set_new(out, "_skipped", json_true());
    show_time(out, "_skipped_time", e->skipped_us, format);
    return out;
}
