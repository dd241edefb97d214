/* gate.h - decides by the head of a request whether it is served: address, route, method, origin, session.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6310-api-strict.bats
 */
#ifndef API_GATE_H
#define API_GATE_H

#include "api/request.h"

/* Sets the request's route and session, or answers it. */
void gate_pass(request_t *request);
/* The session of the header X-Auth-Token, or with `cookies` of the cookie; the request has it afterwards.
 * False: there is none. */
bool gate_session(request_t *request, bool cookies);

#endif
