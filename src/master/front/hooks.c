/* hooks.c - call a hook of every started part, in the order of parts.def. Parts may fire hooks inside hooks.
 * The table is reached through the front, so this file depends on no part. */
#include "master/front/hooks.h"

#include "master/front/part.h"

/* Iterate over the started parts. */
#define EACH(front, part) for (size_t i = 0; i < (front)->n_started && ((part) = (front)->parts[i]); i++)

/* Call one hook of each part that has it. */
#define TELL(front, hook, ...)                                                                               \
    do {                                                                                                     \
        const front_part_t *part;                                                                            \
        EACH(front, part)                                                                                    \
        if (part->hook)                                                                                      \
            part->hook(__VA_ARGS__);                                                                         \
    } while (0)

void
hook_peer_left(front_t *front, peer_t *peer)
{
    TELL(front, peer_left, front, peer);
}

void
hook_peer_ended(front_t *front, peer_t *peer)
{
    TELL(front, peer_ended, front, peer);
}

void
hook_subscribed(front_t *front, const char *z85, int fd)
{
    TELL(front, subscribed, front, z85, fd);
}

void
hook_greeted(front_t *front, peer_t *peer)
{
    TELL(front, greeted, front, peer);
}

void
hook_connected(front_t *front, minion_t *m, const json_t *hello, bool rebooted)
{
    TELL(front, connected, front, m, hello, rebooted);
}

void
hook_disconnected(front_t *front, minion_t *m)
{
    TELL(front, disconnected, front, m);
}

void
hook_dismissed(front_t *front, minion_t *m)
{
    TELL(front, dismissed, front, m);
}

void
hook_forgotten(front_t *front, const char *id)
{
    TELL(front, forgotten, front, id);
}

/* Ends at the first failure: what was forgotten before it stays forgotten. */
int
hook_forget(front_t *front, minion_t *m, const char *what, fail_t *err)
{
    const front_part_t *part;
    int rc = 0;
    EACH(front, part)
    if (rc == 0 && part->forget != NULL)
        rc = part->forget(front, m, what, err);
    return rc;
}

void
hook_published(front_t *front, const job_t *job)
{
    TELL(front, published, front, job);
}

void
hook_returned(front_t *front, const minion_t *m, const job_t *job, const struct ret *ret)
{
    TELL(front, returned, front, m, job, ret);
}

void
hook_minion_event(front_t *front, const minion_t *m, const char *tag, const json_t *data, bool bare)
{
    TELL(front, minion_event, front, m, tag, data, bare);
}

void
hook_committed(front_t *front)
{
    TELL(front, committed, front);
}

void
hook_renewed(front_t *front)
{
    TELL(front, renewed, front);
}

/* The least of all parts, as an event that one of them will read again must stay in the journal. */
uint64_t
hook_settled(const front_t *front)
{
    const front_part_t *part;
    uint64_t lowest = UINT64_MAX;
    EACH(front, part)
    {
        uint64_t settled = part->settled != NULL ? part->settled(front) : UINT64_MAX;
        lowest = settled < lowest ? settled : lowest;
    }
    return lowest;
}

void
hook_turn_ended(front_t *front, bool events)
{
    TELL(front, turn_ended, front, events);
}

void
hook_line_closed(front_t *front, lconn_t *c)
{
    TELL(front, line_closed, front, c);
}

void
hook_job_ended(front_t *front, const char *jid)
{
    TELL(front, job_ended, front, jid);
}

void
hook_run_ended(front_t *front, const char *jid, const char *ret)
{
    TELL(front, run_ended, front, jid, ret);
}

void
hook_caused(front_t *front, const char *within, const char *jid, uint64_t first, uint64_t last)
{
    TELL(front, caused, front, within, jid, first, last);
}

void
hook_status(front_t *front, json_t *reply)
{
    TELL(front, status, front, reply);
}

void
hook_active(front_t *front, json_t *reply)
{
    TELL(front, active, front, reply);
}

void
hook_figures(front_t *front, buf_t *out, bool minions)
{
    TELL(front, figures, front, out, minions);
}

/* The first part that knows the kind of names answers or takes the request. */
int
hook_names(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    const front_part_t *part;
    int rc = 0;
    EACH(front, part)
    if (rc == 0 && part->names != NULL)
        rc = part->names(front, c, request, err);
    return rc;
}
