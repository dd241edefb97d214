/* callsession.h - salt-call's line to the master: the minion's session, run only while something is waited
 * for.
 *
 * Layer      minion
 * Threads    one, beside libzmq's
 * Errors     -ETIMEDOUT no master answered; -EACCES the key is not accepted; texts say what to do
 * Tests      tests/t
 */
#ifndef UPLINK_CALLSESSION_H
#define UPLINK_CALLSESSION_H

#include "common/conf/conf.h"
#include "salt/base.h"

typedef struct callsession callsession_t;

/* Connect to the first master that answers within `timeout_ms`. NEW, or NULL with *err. */
callsession_t *callsession_open(const conf_t *conf, int timeout_ms, fail_t *err);
/* Waits until the master has stored all that was sent (at most `timeout_ms`): -ETIMEDOUT when it did not. */
int callsession_settle(callsession_t *self, int timeout_ms, fail_t *err);
void callsession_destroy(callsession_t **self_p);
/* The members of `more` go beside the data; NULL: none do. */
int callsession_event(callsession_t *self, const char *tag, json_t *data, json_t *more, fail_t *err);
int callsession_revoke(callsession_t *self, bool preserve_cache, fail_t *err);
/* `ret`: {jid, fun, fun_args, return, retcode, success}. */
int callsession_return(callsession_t *self, const json_t *ret, fail_t *err);
/* A question for files or the mine as uplink/download.h has it; `self` is the callsession. For
 * remotefiles_new. */
int callsession_file(void *self, json_t *ask, json_t **ret_value, fail_t *err);
int callsession_grains(callsession_t *self, json_t *grains, fail_t *err);
/* This minion's pillar, compiled by the master with these grains. `ask` as ctx_compile_pillar's. NEW, as
 * common/py/py_wire.h has it, or NULL with *err. */
json_t *callsession_pillar(callsession_t *self, json_t *ask, json_t *grains, fail_t *err);

#endif
