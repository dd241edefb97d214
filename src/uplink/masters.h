/* masters.h - parses the option `master`, and names the files that keep the masters' keys.
 *
 * Layer      uplink
 * Threads    any
 * Ownership  said per function
 * Tests      tests/unit/uplink/test_sessions.c
 */
#ifndef UPLINK_MASTERS_H
#define UPLINK_MASTERS_H

#include "common/conf/conf.h"
#include "salt/base.h"

/* Parses one entry of the option `master`: "host", "host:port", "[v6]:port" or a bare IPv6 address. `host`
 * gets at most 255 bytes, without brackets. False when it is none of these, or a host that could not be part
 * of a file's name. */
bool master_parse(const char *text, int default_port, char host[256], int *ret_port);
/* NEW array of {host, port} from the option (a text or a list of at most LIMIT_MASTERS), or NULL with *err.
 * Empty under master_type disable. */
json_t *masters_parse(const conf_t *conf, fail_t *err);
/* NEW paths of the nth master's public key and of the signing key that vouches for it. The first master's
 * files have Salt's names; the others' contain the host, and the port too when an earlier one has the same
 * host. Under verify_master_pubkey_sign one signing key, put there by an operator, holds for all; else each
 * master's is remembered in a file of its own. */
void masters_key_files(const conf_t *conf, size_t nth, const char *host, char **ret_known, char **ret_sign);
/* NEW {name: index} of the configured masters, by the job server's index: with failover all are 0. */
json_t *masters_by_name(const conf_t *conf);
/* NEW "host:port": the name by which this minion knows a master, also in files that outlive its process. */
char *master_name(const json_t *master);
/* How many masters of the list make one line: all with failover, else 1. */
int masters_at_once(const conf_t *conf, const json_t *masters);

#endif
