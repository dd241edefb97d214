/* stats.c - see stats.h. GET /stats has the names of CherryPy's statistics, of which clients show any. */
#include "api/stats.h"

#include <microhttpd.h>
#include <unistd.h>

#include "api/api.h"
#include "api/http.h"
#include "api/route.h"
#include "common/base/clock.h"

stats_t *
stats_new(void)
{
    stats_t *self = xcalloc(1, sizeof(*self));

    self->started_ms = clock_mono_ms();
    self->started = api_now();
    return self;
}

void
stats_count(stats_t *self, const request_t *request, int64_t now_ms)
{
    unsigned class = request->status / 100;

    self->requests++;
    self->bytes_in += request->body.len;
    self->by_class[class < NELEMS(self->by_class) ? class : 0]++;
    self->seconds += (double) (now_ms - request->began_ms) / 1000;
}

void
stats_get(request_t *request)
{
    const api_t *api = request->api;
    const stats_t *self = api->stats;
    double up = (double) (clock_mono_ms() - self->started_ms) / 1000;
    AUTO_FREE char *server = xasprintf("CherryPy HTTPServer %ld", (long) getpid());
    json_t *value = json_pack(
        "{s:{s:b, s:f, s:f, s:f, s:I, s:I, s:f, s:f, s:I, s:I}, s:{s:b, s:f, s:I, s:I, s:I, s:{}}}",
        "CherryPy Applications", "Enabled", 1, "Current Time", api_now(), "Start Time", self->started,
        "Uptime", up, "Current Requests", (json_int_t) 1, "Total Requests", (json_int_t) self->requests,
        "Total Time", self->seconds, "Requests/Second", up > 0 ? (double) self->requests / up : 0.0,
        "Total Bytes Read", (json_int_t) self->bytes_in, "Server Errors", (json_int_t) self->by_class[5],
        server, "Enabled", 1, "Run time", up, "Connections", (json_int_t) http_connections(api->http),
        "Requests", (json_int_t) self->requests, "Sessions", (json_int_t) sessions_count(api->sessions),
        "Worker Threads");

    reply_value(request, MHD_HTTP_OK, &value);
}
