/* returners.h - gives a job's return to returners, built in or files in Python (common/plugin/returning.h).
 * The master gets the return in any case, and first: a returner that fails is an error of the log, and the
 * event salt/minion/ID/returner/NAME/failed. Each has LIMIT_RETURNER_MS.
 *
 * Layer      minion
 * Threads    the process that ran the job
 * Tests      tests/t/3097-python-returners.bats
 */
#ifndef MINION_JOBS_RETURNERS_H
#define MINION_JOBS_RETURNERS_H

#include "salt/plugin.h"

/* NEW names of the returners of a job, with commas between them: those that it names, and, unless the
 * schedule began it, those of the option `return`. "": none. */
char *returners_of(const json_t *opts, const json_t *job);
/* Give `ret`, {jid, fun, return, ...} BORROWED, to the returners of `names`. `job` says what they get
 * besides: ret_config and ret_kwargs. */
void returners_call(call_ctx_t *ctx, const char *names, const json_t *job, const json_t *ret);

#endif
