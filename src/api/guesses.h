/* guesses.h - slows down who guesses passwords: so many failed log-ins of an address, then one a second.
 *
 * Networks of IPv6 count as one address (their first 64 bits). The master delays failures by itself, too.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/unit/api/test_api_parts.c
 */
#ifndef API_GUESSES_H
#define API_GUESSES_H

#include <arpa/inet.h>

#include "salt/base.h"

#define GUESSES_BURST 20
#define GUESSES_PER_S 1
#define GUESSES_MAX   20000 /* addresses that are remembered */

typedef struct guesses guesses_t;

guesses_t *guesses_new(void);
void guesses_destroy(guesses_t **self_p);
/* True when the address may try to log in now; the attempt counts as failed until guesses_pardon. */
bool guesses_admit(guesses_t *self, const char *address, int64_t now_ms);
void guesses_pardon(guesses_t *self, const char *address);
/* An address as it counts: itself, or the network that somebody of IPv6 has for himself. */
void guesses_network(const char *address, char out[INET6_ADDRSTRLEN]);
/* Lets the master count failures of a name by address: who guesses at it from one holds it up for no other. */
void guesses_sign(json_t *login, const char *address);

#endif
