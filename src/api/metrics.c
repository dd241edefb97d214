/* metrics.c - figures: GET /stats, and GET /metrics for Prometheus (text format 0.0.4): what the master
 * counts, and what this program does. */
#include <microhttpd.h>
#include <unistd.h>

#include "api/api.h"
#include "api/ask.h"
#include "api/http.h"
#include "api/hub.h"
#include "api/route.h"
#include "api/stats.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "salt/value.h"

#define TYPE_METRICS "text/plain; version=0.0.4; charset=utf-8"

static void
metric(buf_t *out, const char *name, const char *type, const char *help, double value)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %.17g\n", name, help, name, type, name, value);
}

/* The master tells its part as text; while it does not, the rest is shown with halite_master_up 0. */
static void
metrics_answer(request_t *request, const json_t *reply, void *cookie)
{
    buf_auto_t out = BUF_INIT;
    bool up = value_bool(reply, "ok", false);

    metric(&out, "halite_master_up", "gauge", "1: the master has told its figures.", up ? 1 : 0);
    buf_puts(&out, value_str(reply, "text", ""));
    static const char *const classes[] = { "none", "1xx", "2xx", "3xx", "4xx", "5xx" };
    const stats_t *stats = request->api->stats;

    buf_puts(&out, "# HELP halite_api_requests_total Requests by the class of their status.\n"
                   "# TYPE halite_api_requests_total counter\n");
    for (size_t i = 0; i < NELEMS(classes); i++)
        buf_printf(&out, "halite_api_requests_total{status=\"%s\"} %llu\n", classes[i],
                   (unsigned long long) stats->by_class[i]);
    metric(&out, "halite_api_request_seconds_total", "counter", "Seconds that requests took, all together.",
           stats->seconds);
    metric(&out, "halite_api_start_time_seconds", "gauge", "When salt-api began.", stats->started);
    metric(&out, "halite_api_connections", "gauge", "Connections of clients.",
           (double) http_connections(request->api->http));
    metric(&out, "halite_api_sessions", "gauge", "Sessions that hold.",
           (double) sessions_count(request->api->sessions));
    metric(&out, "halite_api_streams", "gauge", "Streams of events.",
           (double) hubs_listeners(request->api->hubs));
    metric(&out, "halite_api_events_sent_total", "counter", "Events sent to streams.",
           (double) stats->events_sent);
    metric(&out, "halite_api_streams_cut_total", "counter", "Streams that ended because they were too slow.",
           (double) stats->streams_cut);
    metric(&out, "halite_api_logins_total", "counter", "Log-ins.", (double) stats->logins);
    metric(&out, "halite_api_logins_refused_total", "counter", "Log-ins that failed.",
           (double) stats->refused_logins);
    reply_bytes(request, MHD_HTTP_OK, TYPE_METRICS, &out);
}

void
metrics_get(request_t *request)
{
    json_t *question = json_pack("{s:s, s:b}", "op", "metrics", "minions",
                                 value_bool(request->api->set->opts, "metrics_minions", false));

    ask_start(request, request->token, &question, metrics_answer, NULL, NULL);
}

/* The names of CherryPy's statistics, of which clients show any. */
static void
stats_show(request_t *request)
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

/* The session is this program's; whether the token behind it still holds is the master's to say. */
static void
stats_answer(request_t *request, const json_t *reply, void *cookie)
{
    if (value_bool(reply, "ok", false))
        stats_show(request);
    else if (reply != NULL)
        reply_error(request, MHD_HTTP_UNAUTHORIZED, request->route->denied);
    else
        reply_error(request, MHD_HTTP_SERVICE_UNAVAILABLE, "The master does not answer");
}

/* GET /stats */
void
stats_get(request_t *request)
{
    json_t *question = request->token != NULL
                           ? json_pack("{s:s, s:s}", "op", "become", "token", request->token)
                           : NULL;

    if (question == NULL)
        stats_show(request);
    else
        ask_start(request, NULL, &question, stats_answer, NULL, NULL);
}
