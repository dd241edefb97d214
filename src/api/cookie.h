/* cookie.h - the cookie of a session. Only GET /events and /ws take it, where a page can't set a header.
 *
 * Layer      api
 * Threads    any
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_COOKIE_H
#define API_COOKIE_H

#include "salt/base.h"

#define COOKIE_NAME "session_id"

struct api;
/* NEW text of Set-Cookie. */
char *cookie_of(const struct api *api, const char *id);
/* The same of a cookie that is over. */
char *cookie_over(const struct api *api);

#endif
