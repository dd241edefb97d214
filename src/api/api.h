/* api.h - the parts of the program salt-api, which are wired in main_api.c.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_API_H
#define API_API_H

#include "api/line.h"
#include "api/poller.h"
#include "api/session.h"
#include "api/settings.h"
#include "common/base/clock.h"
#include "salt/base.h"

struct http;
struct hubs;
struct guesses;
struct stats;

typedef struct api {
    const settings_t *set;
    const char *sock_dir; /* BORROWED: of the master's local socket */
    poller_t *poller;
    sessions_t *sessions;
    struct http *http;
    struct hubs *hubs;       /* streams of events: stream.h */
    struct guesses *guesses; /* log-ins that failed, by address: guesses.h */
    struct stats *stats;
    const struct route *routes;          /* the table of routes.c, ends with a row without a path */
    const struct client *const *clients; /* of low.h, NULL-terminated */
} api_t;

/* Where lines go to. */
static inline line_host_t
api_lines(const api_t *api)
{
    return (line_host_t){ api->poller, api->sock_dir };
}

/* Wall clock in seconds. */
static inline double
api_now(void)
{
    return (double) clock_wall_us() / 1e6;
}

#endif
