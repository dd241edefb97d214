/* failures.h - slows down who guesses passwords: so many failed log-ins of an address, then one a second.
 *
 * Networks of IPv6 count as one address (their first 64 bits). The master delays failures by itself, too.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_FAILURES_H
#define API_FAILURES_H

#include "salt/base.h"

#define FAILURES_BURST 20
#define FAILURES_PER_S 1
#define FAILURES_MAX   20000 /* addresses that are remembered */

typedef struct failures failures_t;

failures_t *failures_new(void);
void failures_destroy(failures_t **self_p);
/* True when the address may try to log in now; the attempt counts as failed until failures_pardon. */
bool failures_admit(failures_t *self, const char *address, int64_t now_ms);
void failures_pardon(failures_t *self, const char *address);

#endif
