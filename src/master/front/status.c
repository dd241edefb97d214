/* status.c - the request `status`: the master's counters, to which other parts add theirs (hook_status). */
#include <unistd.h>

#include "common/base/clock.h"
#include "master/front/hooks.h"
#include "master/front/request.h"

/* Some counters belong to no part; the others come by hook_status. */
static json_t *
front_status(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    front_counters_t *k = &self->counters;
    json_t *counters = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "messages_in", (json_int_t) k->in, "messages_out",
        (json_int_t) k->out, "returns", (json_int_t) k->returns, "events", (json_int_t) k->events, "refused",
        (json_int_t) k->refused, "duplicates", (json_int_t) k->duplicates, "jobs", (json_int_t) k->jobs,
        "handshakes_failed", (json_int_t) k->handshakes_failed);
    json_t *reply = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:o}", "version", HALITE_VERSION,
                              "halite", HALITE_RELEASE, "pid", (int) getpid(), "seq", (json_int_t) self->seq,
                              "uptime_ms", (json_int_t) (clock_mono_ms() - self->started_ms), "connections",
                              (json_int_t) peers_connected(self->peers), "accepted",
                              (json_int_t) peers_count(self->peers, KEY_ACCEPTED), "active_jobs",
                              (json_int_t) jobs_len(self->jobs), "counters", counters);
    hook_status(self, reply);
    return reply;
}

const request_row_t request_status = { .fn = front_status };
