/* origin.h - pages of which other sites may talk to the API: none but those of option cors_origin.
 *
 * Layer      api
 * Threads    any
 * Tests      tests/t/6310-api-strict.bats
 */
#ifndef API_ORIGIN_H
#define API_ORIGIN_H

#include "api/request.h"

/* True for a page of this server itself (its header Host), or of a site of cors_origin. */
bool origin_admitted(const request_t *request, const char *origin);

#endif
