/* jobshape.h - jobs as Salt shows them: {"Function", "Arguments", "Target", ...}. Pure.
 *
 * Layer      runners
 * Threads    any
 * Ownership  results are NEW, arguments BORROWED
 * Tests      tests/unit/runners/test_jobs.c
 */
#ifndef RUNNERS_LIB_JOBSHAPE_H
#define RUNNERS_LIB_JOBSHAPE_H

#include "salt/value.h"

/* {"Function", "Arguments", "Target", "Target-type", "User", "Metadata"?, "Minions"?, "JID"?, "StartTime"}.
 * `job` as the store keeps it; NULL or null: {"Error", "StartTime"}. With `jid_inside` the jid is a member
 * too. */
json_t *jobshape_instance(const char *jid, const json_t *job, bool jid_inside);
/* {id: {"return", "retcode", "success", "out"?}} of the returns as minions sent them; the "return" of a runner
 * or wheel function is {"fun", "fun_args", "jid", "return", "success", "user"}. */
json_t *jobshape_result(const json_t *returns);
/* The outputter that suits a job with its Result ("highstate" for states); NULL for the default one. */
const char *jobshape_outputter(const json_t *job);
/* {"outputter": NAME, "data": data} when a name is given, else data. TAKES data. */
json_t *jobshape_with_outputter(const json_t *outputter, json_t *data);

#endif
