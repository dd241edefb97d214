/* returning.h - call a function of a returner: a user's file in Python, one that is built in, or one of
 * Salt's own.
 *
 * A returner has functions of Salt's interface: returner(ret), event_return(events), and the job cache's:
 * prep_jid, save_load, get_load, get_jid, get_fun, get_jids, get_minions, clean_old_jobs. A file of
 * src/plugins/returner may have two more, for the master's followers (src/follower): cursor(follower), which
 * tells the last event that is kept with what was written, and batch(follower, after, next, writes), which
 * keeps many at once.
 *
 * Layer      common/plugin
 * Threads    a context belongs to one thread
 * Errors     FAIL_UNAVAILABLE: no such returner or function, with the reason ("": there is no such file);
 *            other kinds are the returner's own failure
 * Tests      tests/t/3098-returners.bats
 */
#ifndef COMMON_PLUGIN_RETURNING_H
#define COMMON_PLUGIN_RETURNING_H

#include "common/plugin/call.h"

/* Call NAME.FUN with a list, BORROWED. 0 with *ret_value NEW (NULL pointer: not wanted), or a negative
 * errno. */
int returning_call(call_ctx_t *ctx, const char *name, const char *fun, json_t *args, json_t **ret_value,
                   fail_t *err);
/* True when the returner is built in, no user's file stands before it, and it has the function. */
bool returning_is_native(call_ctx_t *ctx, const char *name, const char *fun);
/* NEW text that names one of the writes of `batch` in a log, by its tag or job alone: values may be
 * secrets. */
char *returning_shown(const json_t *write);

#endif
