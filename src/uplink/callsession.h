/* callsession.h - salt-call's connection to the master: a session with the minion's key and role "call",
 * which makes progress only while one of these functions waits.
 *
 * Layer      uplink
 * Threads    one, beside libzmq's
 * Errors     -ETIMEDOUT no master answered; -EACCES the key is not accepted; texts say what to do
 * Tests      tests/t
 */
#ifndef UPLINK_CALLSESSION_H
#define UPLINK_CALLSESSION_H

#include "common/conf/conf.h"
#include "salt/base.h"

typedef struct callsession callsession_t;

/* Connects to the first configured master that answers within `timeout_ms` each. NEW, or NULL with *err, the
 * last one's. */
callsession_t *callsession_open(const conf_t *conf, const json_t *grains, int timeout_ms, fail_t *err);
/* Waits until the master has acknowledged every event and return, at most `timeout_ms`; else -ETIMEDOUT. */
int callsession_settle(callsession_t *self, int timeout_ms, fail_t *err);
void callsession_destroy(callsession_t **self_p);
/* Fires an event on the master's bus. The members of `more` travel beside the data; NULL: none. */
int callsession_event(callsession_t *self, const char *tag, json_t *data, json_t *more, fail_t *err);
int callsession_revoke(callsession_t *self, bool preserve_cache, fail_t *err);
/* `ret`: {jid, fun, fun_args, return, retcode, success}. */
int callsession_return(callsession_t *self, const json_t *ret, fail_t *err);
/* Sends a request for files or the mine (uplink/download.h) and waits for its answer; `self` is the
 * callsession. It is remotefiles_new()'s callback. */
int callsession_file(void *self, json_t *ask, json_t **ret_value, fail_t *err);
int callsession_grains(callsession_t *self, json_t *grains, fail_t *err);
/* NEW pillar of this minion, as common/py/py_wire.h has it, compiled by the master with these grains; or NULL
 * with *err. `ask` as ctx_compile_pillar's. */
json_t *callsession_pillar(callsession_t *self, json_t *ask, json_t *grains, fail_t *err);

#endif
