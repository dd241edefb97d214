/* ask.h - one question to the master on behalf of a request, on a line of its own.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_ASK_H
#define API_ASK_H

#include "api/request.h"

/* The master's answer, BORROWED: {"ok": bool, "error"?, ...}; NULL: there is no master, or it has gone. The
 * function answers the request, or asks again. */
typedef void ask_fn(request_t *request, const json_t *reply, void *cookie);

/* Asks as the user of `token`; NULL: as nobody. TAKES *question_p. `free_cookie` (may be NULL) gets the cookie
 * when the client goes away before the answer. */
void ask_start(request_t *request, const char *token, json_t **question_p, ask_fn *fn, void *cookie,
               void (*free_cookie)(void *cookie));

#endif
