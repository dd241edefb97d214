/* admit.h - decides by the head of a request whether it is served: address, route, method, origin, session.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6310-api-strict.bats
 */
#ifndef API_ADMIT_H
#define API_ADMIT_H

#include "api/request.h"

/* Sets the request's route and session, or answers it. */
void admit_request(request_t *request);
/* The session of the header X-Auth-Token, or with `cookies` of the cookie; the request has it afterwards.
 * False: there is none. */
bool admit_session(request_t *request, bool cookies);

#endif
