/* stream.h - what the two kinds of streams share.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6330-api-streams.bats
 */
#ifndef API_STREAM_H
#define API_STREAM_H

#include "api/request.h"

/* The master's token of who asks: of a session, or, as in Salt, the token itself; `given` (may be NULL)
 * stands in the path. BORROWED from the request; NULL: there is none. */
const char *stream_token(request_t *request, const char *given);

#endif
