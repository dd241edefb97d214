/* extcache.h - the job cache that the runner `jobs` reads when it is a returner: ext_job_cache or
 * master_job_cache of the configuration, or the one that a call names.
 *
 * Layer      runners
 * Threads    the worker's that runs the runner
 * Ownership  results are NEW
 * Errors     NULL with *err: the returner's
 * Tests      tests/t/5310-postgres.bats, tests/t/5318-returners-salt.bats, tests/t/5320-redis.bats
 */
#ifndef RUNNERS_LIB_EXTCACHE_H
#define RUNNERS_LIB_EXTCACHE_H

#include "salt/plugin.h"

/* The returner's name, BORROWED from `args` or the options; NULL: the master's own store. */
const char *extcache_name(call_ctx_t *ctx, const json_t *args);
/* As api_job: {"job", "returns"}; "job" null when the returner knows none. `globs` NULL: all minions. */
json_t *extcache_job(call_ctx_t *ctx, const char *name, const char *jid, const json_t *globs, fail_t *err);
/* {jid: {"Function", ...}} of jobs that fit: `filter` as of api_jobs: function, target, metadata, start_us,
 * end_us. */
json_t *extcache_jobs(call_ctx_t *ctx, const char *name, const json_t *filter, fail_t *err);
/* The jid of the newest of such jobs, BORROWED from them; NULL: there is none. */
const char *extcache_newest(json_t *jobs);

#endif
