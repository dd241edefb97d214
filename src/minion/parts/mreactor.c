/* mreactor.c - the minion's reactor: files that react, by `caller`, to events of the minion itself, fired by
 * event.fire in a job or by salt-call on this machine.
 *
 * Each firing runs in a child like a job's (reactor_run.h): one at a time per file, different files in
 * parallel. Firings for a busy file wait, at most reactor_worker_hwm; more are dropped with an error in the
 * log.
 */
#include "minion/jobs/jobserver.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/reactor/reaction.h"
#include "common/reactor/rules.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct mreactor {
    jobserver_t *js;
    rules_t *rules;
    uint64_t seq;
    map_t *files; /* owned: file with a running child -> array of waiting firings */
} mreactor_t;

/* ---- reacting ------------------------------------------------------------------------------------------ */

static void
mreactor_drop(void *waiting)
{
    json_decref(waiting);
}

/* Starts an internal job for a firing. "peer": event data may be another minion's words, so arguments from it
 * are not trusted. */
static void
mreactor_begin(mreactor_t *self, json_t *firing)
{
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s+, s:[], s:s, s:b, s:O, s:b}", "jid", jid, "fun", "reactor ",
                                 value_str(firing, "file", ""), "arg", "user", "Reactor", "own", true,
                                 "react", firing, "peer", true); /* events may be another minion's words */
    map_set(self->files, value_str(firing, "file", ""), json_array());
    jobserver_job(self->js, job, -1);
}

/* Starts or queues firings. TAKES `firings`. */
static void
mreactor_fire(mreactor_t *self, json_t *firings)
{
    size_t most = (size_t) value_int(self->js->opts, "reactor_worker_hwm", 10000), i;
    json_t *one;
    json_array_foreach (firings, i, one) {
        json_t *waiting = map_get(self->files, value_str(one, "file", ""));
        if (waiting == NULL)
            mreactor_begin(self, one);
        else if (json_array_size(waiting) < most)
            json_array_append(waiting, one);
        else
            log_error("reactor: %s: %zu events wait for it already; %s is dropped",
                      value_str(one, "file", ""), most, value_str(one, "tag", ""));
    }
    json_decref(firings);
}

/* Handles an event: firings that were due before it come first. */
static void
mreactor_fired(void *part, const char *tag, json_t *data)
{
    mreactor_t *self = part;
    int64_t now = clock_wall_us();
    char stamp[CLOCK_STAMP_LEN];
    if (self->rules == NULL)
        return;
    json_auto_t *stamped = json_is_object(data) ? json_copy(data) : json_object();
    clock_stamp(stamp, now);
    json_object_set_new(stamped, "_stamp", json_string(stamp));
    mreactor_fire(self, rules_due(self->rules, now));
    mreactor_fire(self, rules_event(self->rules, ++self->seq, now, tag, stamped));
}

/* A file's child has ended: starts the next waiting firing. mreactor_begin() makes a new, empty queue, so the
 * rest is moved over. */
static void
mreactor_job_over(void *part, json_t *job, const job_proc_t *proc)
{
    mreactor_t *self = part;
    if (value_get(job, "react") == NULL)
        return;
    const char *file = value_str(value_get(job, "react"), "file", "");
    json_auto_t *waiting = map_take(self->files, file);
    json_t *one;
    size_t i;
    if (json_array_size(waiting) == 0 || self->js->stop)
        return;
    json_auto_t *next = json_incref(json_array_get(waiting, 0));
    json_array_remove(waiting, 0);
    mreactor_begin(self, next);
    json_t *rest = map_get(self->files, file);
    if (rest == NULL && json_array_size(waiting) > 0)
        log_error("reactor: %s: %zu events that waited for it are dropped", file, json_array_size(waiting));
    json_array_foreach (waiting, i, one)
        if (rest != NULL)
            json_array_append(rest, one);
}

/* Converts the rules' wall-clock time to the loop's monotonic one. */
static int64_t
mreactor_next_ms(void *part)
{
    const mreactor_t *self = part;
    int64_t due = self->rules != NULL ? rules_next_due(self->rules) : 0;
    return due == 0 ? 0 : clock_mono_ms() + (due - clock_wall_us()) / 1000 + 1;
}

static void
mreactor_tick(void *part, int64_t now_ms)
{
    mreactor_t *self = part;
    if (self->rules != NULL && rules_next_due(self->rules) != 0)
        mreactor_fire(self, rules_due(self->rules, clock_wall_us()));
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Parses the option `reactor`. Broken rules are logged and the old ones stay; throttles go on by
 * rules_state(). */
static void
mreactor_reload(void *part)
{
    mreactor_t *self = part;
    fail_auto_t err = FAIL_INIT;
    rules_t *rules = rules_new(value_get(self->js->opts, "reactor"), &err);
    if (rules == NULL) {
        log_error("reactor: what there was stays: %s", fail_text(&err));
        return;
    }
    json_auto_t *tags = rules_tags(rules);
    json_auto_t *state = self->rules != NULL ? rules_state(self->rules) : NULL;
    rules_restore(rules, state);
    rules_destroy(&self->rules);
    if (json_array_size(tags) == 0) {
        rules_destroy(&rules);
        return;
    }
    self->rules = rules;

    /* Reports files of the rules that do not exist. */
    json_auto_t *files = rules_files(self->rules);
    json_t *one;
    size_t i;
    /* A salt:// file is fetched when it is needed, so only local ones are checked. */
    json_array_foreach (files, i, one) {
        const char *file = value_str(one, "file", "");
        AUTO_FREE char *why = str_starts(file, "salt://") ? NULL : reaction_missing(NULL, file);
        if (why != NULL)
            log_error("reactor: %s: for %s: %s", file, value_str(one, "for", ""), why);
    }
}

/* Rules that can't be parsed are logged; the minion starts without them. */
static void *
mreactor_start(jobserver_t *js, fail_t *err)
{
    mreactor_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    self->files = map_new(mreactor_drop);
    mreactor_reload(self);
    return self;
}

static void
mreactor_destroy(void *part)
{
    mreactor_t *self = part;
    rules_destroy(&self->rules);
    map_destroy(&self->files);
    free(self);
}

const minion_part_t minion_part_reactor = {
    .name = "reactor",
    .start = mreactor_start,
    .destroy = mreactor_destroy,
    .reload = mreactor_reload,
    .tick = mreactor_tick,
    .next_ms = mreactor_next_ms,
    .job_over = mreactor_job_over,
    .fired = mreactor_fired,
};
