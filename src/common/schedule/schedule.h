/* schedule.h - Salt's scheduler as an engine: what is due, by configuration, clocks and what ran before. It
 * runs nothing.
 *
 * {NAME: {function, args, kwargs, one of seconds/minutes/hours/days | when | cron | once, splay, range,
 * skip_during_range, run_after_skip_range, run_on_start, maxrunning, enabled, until, after, skip_explicit,
 * run_explicit, metadata, return_job, jid_include, dry_run}}, and beside the names `enabled`, `splay`,
 * `skip_function`, `skip_during_range` for all.
 *
 * Intervals follow the monotonic clock: setting the other one neither stops nor repeats them. Times of day
 * follow the wall clock. Set forward over one by more than SCHEDULE_LATE_S, it is missed, except for `cron`,
 * which runs once; set back by less than SCHEDULE_BACK_S, none runs twice.
 *
 * Layer      common/schedule
 * Threads    one
 * Ownership  said per function
 * Errors     an invalid job never runs; the reason is its "_error", and reported once
 * Tests      tests/unit/common/test_schedule.c
 */
#ifndef COMMON_SCHEDULE_SCHEDULE_H
#define COMMON_SCHEDULE_SCHEDULE_H

#include "salt/base.h"

#define SCHEDULE_LATE_S 60
#define SCHEDULE_BACK_S 3600
#define SCHEDULE_PEER                                                                                        \
    "_peer" /* true in a job whose arguments may be another minion's words; lists leave it out */
#define SCHEDULE_RUN_TAG                                                                                     \
    "salt/schedule/run" /* event {name}: the master's schedule begins that job; no minion may fire it */
#define SCHEDULE_FORMAT "%Y-%m-%dT%H:%M:%S" /* of a time as text, where nothing else is said */

typedef struct schedule schedule_t;

typedef struct schedule_now {
    int64_t wall_us, mono_ms;
} schedule_now_t;

typedef struct schedule_env {
    uint32_t (*roll)(void *cookie, uint32_t n);        /* random: 0 .. n - 1 */
    size_t (*running)(void *cookie, const char *name); /* jobs of this name under way */
    void (*tell)(void *cookie, int rc,
                 const char *why); /* for the log; rc 0: worth a line, negative: wrong */
    void *cookie;
} schedule_env_t;

schedule_t *schedule_new(const schedule_env_t *env); /* NEW */
void schedule_destroy(schedule_t **self_p);

/* Apply the whole configuration; jobs of the pillar yield to others of the same name. A job that is
 * unchanged, or whose times are, keeps its times and the data of its last run. `whens`: names for moments,
 * {NAME: text}. All BORROWED; may be NULL. */
void schedule_configure(schedule_t *self, const json_t *opts, const json_t *pillar, const json_t *whens,
                        schedule_now_t now);
/* The jobs to begin now, NEW array of {name, fun, item} in the order of the configuration; they count as
 * begun. */
json_t *schedule_due(schedule_t *self, schedule_now_t now);
/* Milliseconds until the next call of schedule_due(): a job may be due, or the wall clock was set; -1:
 * never. */
int64_t schedule_wait(const schedule_t *self, schedule_now_t now);
/* Run a job out of turn: NEW {name, fun, item}; NULL when there is no such job, it is invalid or has dry_run,
 * or maxrunning is reached. */
json_t *schedule_run(schedule_t *self, const char *name, schedule_now_t now);
/* A job's configuration with `_next_fire_time`, `_last_run`, `_skip_reason` and their like, times as text by
 * `format` (strftime). NEW; NULL: no such job. */
json_t *schedule_status(const schedule_t *self, const char *name, const char *format, schedule_now_t now);

/* True when a list of the schedule shows this key of a job. */
bool schedule_lists(const char *key);
/* Check a job (object): NULL when it is valid, else NEW error text. `whens` as above. */
char *schedule_check(const char *name, const json_t *item, const json_t *whens);

#endif
