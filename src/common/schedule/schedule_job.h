/* schedule_job.h - a job of a schedule, parsed.
 *
 * Layer      common/schedule; for schedule.c
 * Threads    one
 * Ownership  said per function
 * Errors     negative errno with what is wrong with the job
 * Tests      tests/unit/common/test_schedule.c
 */
#ifndef COMMON_SCHEDULE_JOB_H
#define COMMON_SCHEDULE_JOB_H

#include "common/schedule/cron.h"
#include "common/schedule/moment.h"
#include "salt/base.h"

typedef enum sjob_kind { SJOB_NEVER, SJOB_EVERY, SJOB_WHEN, SJOB_CRON, SJOB_ONCE } sjob_kind_t;

typedef struct sjob_range {
    bool is_set, invert;
    moment_t start, end;
} sjob_range_t;

/* A parsed job. */
typedef struct sjob {
    sjob_kind_t kind;
    int64_t every_ms;
    moment_t *whens; /* owned */
    size_t n_whens;
    cron_t cron;
    int64_t once_us;
    int64_t splay_min, splay_max; /* seconds; both 0: none */
    sjob_range_t range, skip;
    bool has_after, has_until, run_after_skip, run_on_start, enabled, jid_include, dry_run;
    moment_t after, until;
    int64_t *skips, *runs; /* owned: skip_explicit, run_explicit */
    size_t n_skips, n_runs;
    json_int_t maxrunning;
    const char *fun; /* BORROWED from the item; NULL: none */
} sjob_t;

/* `all`: the schedule's own settings (splay, skip_during_range). On failure *ret holds what sjob_free()
 * frees. */
int sjob_read(const char *name, const json_t *item, const json_t *all, const json_t *whens, sjob_t *ret,
              fail_t *err);
void sjob_free(sjob_t *self);
/* Keys of `item` that no job has. NEW text, "a, b"; NULL: none. */
char *sjob_unknown(const json_t *item);
/* True when a key of a schedule is a setting for all jobs, not a job's name. */
bool sjob_is_setting(const char *name);

/* Salt's _skip_reason if the job may not run at this time; NULL: it may. *ret_replace: skip_function runs
 * instead. */
const char *sjob_skipped(const sjob_t *self, int64_t now_us, bool *ret_replace);
/* The end of skip_during_range, if `now_us` is in it; else 0. */
int64_t sjob_skip_end(const sjob_t *self, int64_t now_us);

#endif
