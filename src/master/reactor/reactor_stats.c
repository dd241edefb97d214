/* reactor_stats.c - see reactor_stats.h. The thread counts, the front loop reads: a lock of their own is
 * between them. */
#include "master/reactor/reactor_stats.h"

#include <pthread.h>

#include "common/base/clock.h"
#include "common/base/map.h"
#include "salt/value.h"

enum {
    MINUTE_US = 60 * 1000000,
    FILES_MAX =
        1000 /* that are remembered: rules may be added and taken away for as long as the master runs */
};

typedef struct rule {
    uint64_t events, begun, failed, seq;
    int64_t at_us;        /* wall clock: when its last event was stamped */
    char *tag, *error;    /* owned: of its last event, and of the last failure; NULL: none */
    int64_t minute;       /* that `now` counts in, by the monotonic clock */
    uint64_t now, before; /* events of that minute, and of the one before */
} rule_t;

struct rstats {
    pthread_mutex_t lock;
    map_t *rules; /* owned: file as configured -> rule_t */
};

static void
reactor_stats_drop(void *p)
{
    rule_t *rule = p;
    free(rule->tag);
    free(rule->error);
    free(rule);
}

rstats_t *
rstats_new(void)
{
    rstats_t *self = xcalloc(1, sizeof(*self));
    pthread_mutex_init(&self->lock, NULL);
    self->rules = map_new(reactor_stats_drop);
    return self;
}

void
rstats_destroy(rstats_t **self_p)
{
    rstats_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    map_destroy(&self->rules);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* The row of a file, which is made when there is none; then, of too many, the one goes whose last event is longest
 * ago. With the lock. */
static rule_t *
reactor_stats_row(rstats_t *self, const char *file)
{
    rule_t *rule = map_get(self->rules, file);
    if (rule != NULL)
        return rule;
    if (map_len(self->rules) >= FILES_MAX) {
        const char *one, *oldest = NULL;
        int64_t at_us = INT64_MAX;
        void *value;
        for (size_t i = 0; map_next(self->rules, &i, &one, &value);)
            if (((rule_t *) value)->at_us < at_us) {
                at_us = ((rule_t *) value)->at_us;
                oldest = one;
            }
        (void) map_del(self->rules, oldest);
    }
    rule = xcalloc(1, sizeof(*rule));
    map_set(self->rules, file, rule);
    return rule;
}

/* Moves the counts of minutes on to the present one. */
static void
reactor_stats_turn(rule_t *rule)
{
    int64_t minute = clock_mono_us() / MINUTE_US;
    if (minute == rule->minute)
        return;
    rule->before = minute == rule->minute + 1 ? rule->now : 0;
    rule->now = 0;
    rule->minute = minute;
}

void
rstats_fired(rstats_t *self, const json_t *firing)
{
    pthread_mutex_lock(&self->lock);
    rule_t *rule = reactor_stats_row(self, value_str(firing, "file", ""));
    reactor_stats_turn(rule);
    rule->events++;
    rule->now++;
    rule->seq = (uint64_t) value_int(firing, "seq", 0);
    rule->at_us = clock_wall_us();
    free(rule->tag);
    rule->tag = xstrdup(value_str(firing, "tag", ""));
    pthread_mutex_unlock(&self->lock);
}

void
rstats_begun(rstats_t *self, const char *file)
{
    pthread_mutex_lock(&self->lock);
    reactor_stats_row(self, file)->begun++;
    pthread_mutex_unlock(&self->lock);
}

void
rstats_failed(rstats_t *self, const char *file, const char *why)
{
    pthread_mutex_lock(&self->lock);
    rule_t *rule = reactor_stats_row(self, file);
    rule->failed++;
    free(rule->error);
    rule->error = xstrdup(why);
    pthread_mutex_unlock(&self->lock);
}

json_t *
rstats_told(rstats_t *self)
{
    json_t *all = json_object();
    const char *file;
    void *value;
    double part = (double) (clock_mono_us() % MINUTE_US) / MINUTE_US;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; map_next(self->rules, &i, &file, &value);) {
        rule_t *rule = value;
        reactor_stats_turn(rule);
        AUTO_FREE char *when = clock_strftime("%Y-%m-%dT%H:%M:%S", rule->at_us);
        json_t *last = rule->tag != NULL ? json_pack("{s:s, s:I, s:s}", "tag", rule->tag, "seq",
                                                     (json_int_t) rule->seq, "time", when)
                                         : NULL;
        json_object_set_new(all, file,
                            json_pack("{s:I, s:I, s:I, s:f, s:o*, s:s*}", "events", (json_int_t) rule->events,
                                      "begun", (json_int_t) rule->begun, "failed", (json_int_t) rule->failed,
                                      "per_minute", (double) rule->before * (1 - part) + (double) rule->now,
                                      "last", last, "last_error", rule->error));
    }
    pthread_mutex_unlock(&self->lock);
    return all;
}
