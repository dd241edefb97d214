/* mreactor.c - see mreactor.h. */
#include "minion/mreactor.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "common/reactor/reaction.h"
#include "common/reactor/rules.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

struct mreactor {
    jobserver_t *owner;
    rules_t *rules;
    uint64_t seq;
    map_t *files; /* name -> array of firings that wait, for a file whose child is at work */
};

/* ---- reacting ------------------------------------------------------------------------------------------ */

static void
s_drop(void *waiting)
{
    json_decref(waiting);
}

static void
s_begin(mreactor_t *self, json_t *firing)
{
    char jid[CLOCK_STAMP_LEN];
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s+, s:[], s:s, s:b, s:O, s:b}", "jid", jid, "fun", "reactor ",
                                 value_str(firing, "file", ""), "arg", "user", "Reactor", "own", true,
                                 "react", firing, "peer", true); /* events may be another minion's words */
    map_set(self->files, value_str(firing, "file", ""), json_array());
    jobserver_job(self->owner, job, -1);
}

static void
s_fire(mreactor_t *self, json_t *firings)
{
    size_t most = (size_t) value_int(self->owner->opts, "reactor_worker_hwm", 10000), i;
    json_t *one;
    json_array_foreach (firings, i, one) {
        json_t *waiting = map_get(self->files, value_str(one, "file", ""));
        if (!waiting)
            s_begin(self, one);
        else if (json_array_size(waiting) < most)
            json_array_append(waiting, one);
        else
            log_error("reactor: %s: %zu events wait for it already; %s is dropped",
                      value_str(one, "file", ""), most, value_str(one, "tag", ""));
    }
    json_decref(firings);
}

void
mreactor_event(mreactor_t *self, const char *tag, json_t *data)
{
    int64_t now = clock_wall_us();
    char stamp[CLOCK_STAMP_LEN];
    if (!self->rules)
        return;
    json_auto_t *stamped = json_is_object(data) ? json_copy(data) : json_object();
    clock_stamp(stamp, now);
    json_object_set_new(stamped, "_stamp", json_string(stamp));
    s_fire(self, rules_due(self->rules, now));
    s_fire(self, rules_event(self->rules, ++self->seq, now, tag, stamped));
}

void
mreactor_ended(mreactor_t *self, const json_t *job)
{
    const char *file = value_str(value_get(job, "react"), "file", "");
    json_auto_t *waiting = map_take(self->files, file);
    json_t *one;
    size_t i;
    if (json_array_size(waiting) == 0 || self->owner->stop)
        return;
    json_auto_t *next = json_incref(json_array_get(waiting, 0));
    json_array_remove(waiting, 0);
    s_begin(self, next);
    json_t *rest = map_get(self->files, file);
    if (!rest && json_array_size(waiting) > 0)
        log_error("reactor: %s: %zu events that waited for it are dropped", file, json_array_size(waiting));
    json_array_foreach (waiting, i, one)
        if (rest)
            json_array_append(rest, one);
}

int64_t
mreactor_next_ms(const mreactor_t *self)
{
    int64_t due = self->rules ? rules_next_due(self->rules) : 0;
    return due == 0 ? 0 : clock_mono_ms() + (due - clock_wall_us()) / 1000 + 1;
}

void
mreactor_tick(mreactor_t *self)
{
    if (self->rules && rules_next_due(self->rules) != 0)
        s_fire(self, rules_due(self->rules, clock_wall_us()));
}

/* ---- life ---------------------------------------------------------------------------------------------- */

static void
s_check_files(mreactor_t *self)
{
    json_auto_t *files = rules_files(self->rules);
    json_t *one;
    size_t i;
    /* What a master serves is looked for when it is needed. */
    json_array_foreach (files, i, one) {
        const char *file = value_str(one, "file", "");
        AUTO_FREE char *why = str_starts(file, "salt://") ? NULL : reaction_missing(NULL, file);
        if (why)
            log_error("reactor: %s: for %s: %s", file, value_str(one, "for", ""), why);
    }
}

void
mreactor_reload(mreactor_t *self)
{
    fail_auto_t err = FAIL_INIT;
    rules_t *rules = rules_new(value_get(self->owner->opts, "reactor"), &err);
    if (!rules) {
        log_error("reactor: what there was stays: %s", fail_text(&err));
        return;
    }
    json_auto_t *tags = rules_tags(rules);
    json_auto_t *state = self->rules ? rules_state(self->rules) : NULL;
    rules_restore(rules, state);
    rules_destroy(&self->rules);
    if (json_array_size(tags) == 0) {
        rules_destroy(&rules);
        return;
    }
    self->rules = rules;
    s_check_files(self);
}

mreactor_t *
mreactor_new(jobserver_t *owner)
{
    mreactor_t *self = xcalloc(1, sizeof(*self));
    self->owner = owner;
    self->files = map_new(s_drop);
    mreactor_reload(self);
    return self;
}

void
mreactor_destroy(mreactor_t **self_p)
{
    mreactor_t *self = STEAL(*self_p);
    if (!self)
        return;
    rules_destroy(&self->rules);
    map_destroy(&self->files);
    free(self);
}
