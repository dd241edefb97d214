/* jobcache.h - the minion's job cache (option cache_jobs): a job's return in
 * cachedir/minion_jobs/JID/return.json.
 *
 * saltutil.find_cached_job reads it, saltutil.clear_job_cache removes old ones.
 *
 * Layer      minion
 * Threads    any
 * Errors     a return that can't be kept is logged; the job is not affected
 * Tests      tests/t/3300-own-minion.bats
 */
#ifndef MINION_JOBS_JOBCACHE_H
#define MINION_JOBS_JOBCACHE_H

#include "salt/base.h"
#include "uplink/jobret.h"

/* Does nothing unless `opts` has cache_jobs. */
void jobcache_keep(const json_t *opts, const jobret_t *ret);
/* The same for the JSON of a return that goes to no master, as salt-call --local has it. */
void jobcache_keep_text(const json_t *opts, const char *jid, const char *text, size_t len);

#endif
