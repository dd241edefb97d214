/* stats.h - figures of the server: requests by route and status, bytes, times; for /stats and /metrics.
 *
 * Layer      api
 * Threads    one
 * Tests      tests/t/6300-api.bats
 */
#ifndef API_STATS_H
#define API_STATS_H

#include "api/request.h"

typedef struct stats {
    int64_t started_ms; /* monotonic */
    double started;     /* seconds since the epoch */
    uint64_t requests, bytes_in;
    uint64_t by_class[6]; /* of the status: 1xx .. 5xx; 0: none was sent */
    double seconds;       /* in all requests together */
    uint64_t logins, refused_logins, events_sent, streams_cut;
} stats_t;

stats_t *stats_new(void);
void stats_count(stats_t *self, const request_t *request, int64_t now_ms);

#endif
