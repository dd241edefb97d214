/* nsupdate.h - records of a name server by the system's dig and nsupdate (RFC 2136, TSIG). The key's secret
 * goes to nsupdate's stdin: others may read our command line.
 *
 * Layer      common/host
 * Threads    any
 * Ownership  results are NEW; a zone_t's texts are BORROWED but for `key`
 * Errors     -EINVAL for a text that is not a name, address or number; else the name server does not answer
 * Tests      tests/t/7200-ddns.bats, against a real name server
 */
#ifndef COMMON_HOST_NSUPDATE_H
#define COMMON_HOST_NSUPDATE_H

#include "salt/value.h"

typedef struct zone {
    const char *name, *server; /* server: an address */
    int port, timeout_s;
    char *key; /* owned: "key ALGORITHM:NAME SECRET" as nsupdate has it; NULL: unsigned */
} zone_t;

/* From the arguments zone, nameserver, port, timeout, keyname, keyfile, keyalgorithm; "None" is none. */
int zone_init(zone_t *self, const json_t *args, fail_t *err);
void zone_free(zone_t *self);
#define zone_auto_t __attribute__((cleanup(zone_free))) zone_t

/* Records of a name: NEW [{"ttl", "type", "data"}] of `type` (or "ANY"), or NULL with *err. */
json_t *zone_query(const zone_t *self, const char *fqdn, const char *type, fail_t *err);
/* Send lines of nsupdate ("update add ..."): 1; 0 when the server refuses, *ret_why NEW says with which word
 * (REFUSED, NOTAUTH, ...); negative with *err when it does not answer. */
int zone_update(const zone_t *self, const char *lines, char **ret_why, fail_t *err);
/* -EINVAL unless it may be a record's data: one line. */
int zone_check_data(const char *data, fail_t *err);
/* True when both texts are the same record data. */
bool zone_same_data(const char *a, const char *b);

#endif
