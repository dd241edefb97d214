/* remotefiles.h - the master's files for a job or salt-call: a file client with the minion's cache.
 *
 * Without a master, files, environments and options come from the cache as they last were; a file that is not
 * there is -ENOENT or -EHOSTUNREACH.
 *
 * Layer      uplink
 * Threads    its caller's
 * Errors     as common/files/fileclient.h; the connection's in their own words
 * Tests      tests/t/4000-files.bats
 */
#ifndef UPLINK_REMOTEFILES_H
#define UPLINK_REMOTEFILES_H

#include "common/files/fileclient.h"

/* Sends a request (download.h) and waits for its answer. *ret_value NEW. -ENOENT: no such file;
 * -EHOSTUNREACH: no master, use the cache. */
typedef int remotefiles_ask_fn(void *cookie, json_t *ask, json_t **ret_value, fail_t *err);

/* NEW. `cookie` BORROWED while it lives; `cachedir` is copied. */
fileclient_t *remotefiles_new(const char *cachedir, remotefiles_ask_fn *ask, void *cookie);

#endif
