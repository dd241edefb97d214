/* verdict.c - the push of one target's verdict. RETURNED is told by the return itself; SENT and QUEUED
 * are no news. */
#include "master/jobs/verdict.h"

json_t *
verdict_push(const front_t *self, const job_t *job, const job_target_t *target)
{
    minion_t *m = peers_by_slot(self->peers, target->slot);
    if (m == NULL || target->verdict == VERDICT_SENT || target->verdict == VERDICT_QUEUED ||
        target->verdict == VERDICT_RETURNED)
        return NULL;
    json_t *msg = json_pack("{s:s, s:s, s:s, s:s}", "push", "verdict", "jid", job->jid, "id", m->id,
                            "verdict", verdict_name(target->verdict));
    if (target->pid > 0)
        json_object_set_new(msg, "pid", json_integer(target->pid));
    if (m->peer == NULL && !verdict_final(target->verdict))
        json_object_set_new(msg, "connected", json_false());
    return msg;
}
