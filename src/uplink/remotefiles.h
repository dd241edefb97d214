/* remotefiles.h - the master's files for a job or salt-call: a file client whose cache is the minion's.
 *
 * Layer      minion
 * Threads    its caller's
 * Errors     as common/files/fileclient.h; the connection's in their own words
 * Tests      tests/t/4000-files.bats
 */
#ifndef UPLINK_REMOTEFILES_H
#define UPLINK_REMOTEFILES_H

#include "common/files/fileclient.h"

/* Ask as download.h says and wait. *ret_value NEW. -ENOENT: no such file. */
typedef int remotefiles_ask_fn(void *cookie, json_t *ask, json_t **ret_value, fail_t *err);

/* NEW. `cookie` BORROWED while it lives. */
fileclient_t *remotefiles_new(const char *cachedir, remotefiles_ask_fn *ask, void *cookie);

#endif
