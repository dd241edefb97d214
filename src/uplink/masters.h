/* masters.h - which masters the configuration names, and where their keys are kept.
 *
 * Layer      minion
 * Threads    any
 * Ownership  said per function
 * Tests      tests/unit/uplink/test_sessions.c
 */
#ifndef UPLINK_MASTERS_H
#define UPLINK_MASTERS_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* One entry of the option `master`: "host", "host:port", "[v6]:port". False when it is none of these. */
bool master_parse(const char *text, int default_port, char host[256], int *ret_port);
/* NEW array of {host, port} from the option (text or list), or NULL with *err; empty: no master is wanted. */
json_t *masters_parse(const conf_t *conf, fail_t *err);
/* Where the keys of the nth master of that list are kept, and of whoever vouches for it: NEW paths. The
 * first one's files have the names that Salt's have, the others' have their hosts in them, and the ports
 * of those whose host comes again. A signing key that must be there before a master is believed holds for
 * all of them; one that is remembered, for its own master. */
void masters_key_files(const conf_t *conf, size_t nth, const char *host, char **ret_known, char **ret_sign);
/* NEW {name: index} of the same masters: with failover all are the job server's only one. */
json_t *masters_by_name(const conf_t *conf);
/* NEW: by which name this minion knows one of that list, also in files that outlive its process. */
char *master_name(const json_t *master);
/* How many of the list count as one for the job server. */
int masters_at_once(const conf_t *conf, const json_t *masters);

#endif
