/* batches.c - batches that the master drives: `salt --batch --async`, salt-run batch.*. All minions of a
 * batch are targets of one job; those whose turn has not come are QUEUED (jobs.h). Each look at a batch
 * counts who has the job (batchjob.h), asks how many more may have it (batch.h) and sends it to them
 * (publish.h). Nothing of that is written down: after the master's end the rows and the returns tell who is
 * done, the minions' hellos who has the job, and everybody else is queued again. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "master/jobs/batchjob.h"
#include "master/jobs/publish.h"
#include "master/minions/grace.h"
#include "salt/log.h"
#include "salt/value.h"

/* ---- a look at a batch ----------------------------------------------------------------------- */

/* True while a minion may still come back after the master's start, and say whether it has the job. */
static bool
may_have_it(const front_t *self, const job_t *job)
{
    for (size_t i = 0; i < job->n_targets; i++) {
        const minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
        if (job->targets[i].verdict == VERDICT_QUEUED && m != NULL && m->peer == NULL &&
            grace_expects(self, m))
            return true;
    }
    return false;
}

static void
look(front_t *self, job_t *job, int64_t now_ms)
{
    batch_t *batch = job->batch;

    if (batch->awaits && may_have_it(self, job))
        return;
    if (batch->awaits) {
        batch->awaits = false;
        batchjob_tell(self, job, "recover", NULL);
    }
    batchjob_check_user(self, job);
    batch_tally_t tally = batchjob_tally(self, job);
    batch->n_open = job->n_open;
    if (batch->failhard && batch->halted == NULL && tally.failed > 0)
        batchjob_halt(self, job, "a minion failed, and failhard is set");
    size_t room = batch_room(batch, tally.active, now_ms);
    if (tally.queued == 0)
        return;
    if (batch->halted != NULL) {
        /* Queued targets of a halted batch get their last verdict. */
        for (size_t i = 0; i < job->n_targets; i++)
            if (job->targets[i].verdict == VERDICT_QUEUED)
                (void) jobs_move(self->jobs, job, &job->targets[i], VERDICT_NOT_BEGUN, 0);
    } else if (room > 0) {
        /* Send the job to the next `room` minions that can have it. */
        json_auto_t *ids = json_array();

        for (size_t i = 0; i < job->n_targets && json_array_size(ids) < room; i++) {
            job_target_t *t = &job->targets[i];
            if (t->verdict != VERDICT_QUEUED)
                continue;
            publish_turn(self, job, t);
            const minion_t *m = peers_by_slot(self->peers, t->slot);
            /* A minion that is not connected has its verdict now, and takes no place. */
            if (!verdict_final(t->verdict) && m != NULL)
                json_array_append_new(ids, json_string(m->id));
        }

        batch->n_active += json_array_size(ids);
        batch->progress_us = clock_wall_us();
        if (json_array_size(ids) > 0)
            batchjob_tell(self, job, "progress", ids);
    }
}

/* All batches; with `changed` only those of which a minion has come to an end since the last look. */
static void
look_at_all(front_t *self, bool changed)
{
    job_t *job;

    for (size_t i = 0; jobs_next(self->jobs, &i, &job);)
        if (job->batch != NULL && !job->held && job->n_open > 0 &&
            (!changed || job->n_open != job->batch->n_open))
            look(self, job, clock_mono_ms());
}

static void
batches_tick(front_t *self, int64_t now_ms)
{
    look_at_all(self, false);
}

static void
batches_turn_ended(front_t *self, bool events)
{
    look_at_all(self, true);
}

/* Permissions have changed: every batch is checked anew. */
static void
batches_reload(front_t *self)
{
    job_t *job;

    for (size_t i = 0; jobs_next(self->jobs, &i, &job);)
        if (job->batch != NULL)
            job->batch->doubted = true;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Without a jid those that are under way, oldest first. */
static json_t *
batches_all(front_t *self)
{
    json_auto_t *jids = json_array(), *sorted = NULL;
    json_t *all = json_array(), *jid;
    job_t *job;
    size_t i;

    for (size_t k = 0; jobs_next(self->jobs, &k, &job);)
        if (job->batch != NULL && job->n_open > 0)
            json_array_append_new(jids, json_string(job->jid));
    sorted = value_sorted_texts(jids);
    json_array_foreach (sorted, i, jid)
        json_array_append_new(all, batchjob_summary(self, jobs_get(self->jobs, json_string_value(jid))));
    return all;
}

static json_t *
batches_batch(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *jid = value_str(request, "jid", "");
    const job_t *job = jobs_get(self->jobs, jid);

    if (str_empty(jid))
        return json_pack("{s:o}", "batches", batches_all(self));
    json_t *one = job != NULL && job->batch != NULL ? batchjob_summary(self, job)
                                                    : batchjob_stored(self, jid, err);
    return one != NULL ? json_pack("{s:[o]}", "batches", one) : NULL;
}

static json_t *
batches_stop(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *jid = value_str(request, "jid", "");
    job_t *job = jobs_get(self->jobs, jid);

    if (job == NULL || job->batch == NULL || job->n_open == 0) {
        (void) fail_set(err, -ENOENT, "no batch with the jid '%s' is under way", jid);
        return NULL;
    }
    bool stopped = job->batch->halted == NULL;

    json_t *ids = json_array();

    for (size_t i = 0; i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        const minion_t *m = peers_by_slot(self->peers, t->slot);
        if (m != NULL && t->verdict != VERDICT_QUEUED && !verdict_final(t->verdict))
            json_array_append_new(ids, json_string(m->id));
    }

    if (stopped)
        batchjob_halt(self, job, "stopped by hand");
    look(self, job, clock_mono_ms());
    return json_pack("{s:b, s:o}", "stopped", stopped, "active", ids);
}

const request_row_t request_batch = { .fn = batches_batch };
const request_row_t request_batch_stop = { .fn = batches_stop };

const front_part_t part_batches = {
    .name = "batches", .reload = batches_reload, .tick = batches_tick, .turn_ended = batches_turn_ended
};
