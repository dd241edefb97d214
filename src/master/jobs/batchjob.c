/* batchjob.c - see batchjob.h. The numbers are counted anew from the verdicts each time, so that no counter
 * can run away from them. */
#include "master/jobs/batchjob.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "master/events/bus.h"
#include "master/minions/grace.h"
#include "master/operators/acl.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

/* A minion that is away for longer than the batch waits: a job that it has may end there, or never. */
static bool
batch_is_silent(const front_t *self, const batch_t *batch, const minion_t *m)
{
    return m == NULL ||
           (m->peer == NULL && !grace_expects(self, m) && clock_mono_ms() - m->gone_ms >= batch->silent_ms);
}

batch_tally_t
batchjob_tally(const front_t *self, const job_t *job)
{
    batch_tally_t tally = { .failed = job->batch->n_failed };

    for (size_t i = 0; i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        if (t->verdict == VERDICT_QUEUED)
            tally.queued++;
        else if (t->verdict == VERDICT_NOT_BEGUN || t->verdict == VERDICT_NOT_CONNECTED)
            tally.not_begun++;
        else if (t->verdict == VERDICT_ELSEWHERE || (t->verdict == VERDICT_RETURNED && !t->failed))
            tally.completed++;
        else if (verdict_final(t->verdict) ||
                 batch_is_silent(self, job->batch, peers_by_slot(self->peers, t->slot)))
            tally.failed++;
        else
            tally.active++;
    }
    /* Which of the returns of an earlier run failed is not known, only how many. */
    tally.completed -= job->batch->n_failed < tally.completed ? job->batch->n_failed : tally.completed;
    return tally;
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* NEW: the members that come from the job's row or payload, and the numbers. */
static json_t *
batch_doc(const json_t *info, size_t total, const batch_tally_t *tally, int64_t start_us)
{
    static const char *const fields[] = { "jid", "fun", "tgt", "tgt_type", "user" };
    json_t *doc = json_object(), *v;

    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(info, fields[i])) != NULL)
            json_object_set(doc, fields[i], v);
    (void) json_object_update_new(
        doc, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "total", (json_int_t) total, "completed",
                       (json_int_t) tally->completed, "failed", (json_int_t) tally->failed, "active",
                       (json_int_t) tally->active, "pending", (json_int_t) tally->queued, "not_begun",
                       (json_int_t) tally->not_begun, "created", (double) start_us / 1e6));
    return doc;
}

json_t *
batchjob_summary(const front_t *self, const job_t *job)
{
    const batch_t *batch = job->batch;
    batch_tally_t tally = batchjob_tally(self, job);
    json_t *doc = batch_doc(job->info, job->n_targets, &tally, job->start_us);

    (void) json_object_update_new(
        doc, json_pack("{s:b, s:s?, s:f}", "halted", batch->halted != NULL || job->n_open == 0,
                       "halted_reason", batch->halted, "last_progress", (double) batch->progress_us / 1e6));
    return doc;
}

/* *ret_reason NEW; NULL when the batch was not halted. 0, or negative with *err. */
static int
read_halt(front_t *self, const char *jid, char **ret_reason, fail_t *err)
{
    json_auto_t *notes = store_notes(self->reader, NOTE_HALTED, jid, err);
    const char *reason = json_object_iter_key(json_object_iter(notes));

    *ret_reason = reason != NULL ? xstrdup(reason) : NULL;
    return notes != NULL ? 0 : -EIO;
}

json_t *
batchjob_stored(front_t *self, const char *jid, fail_t *err)
{
    AUTO_FREE char *reason = NULL;
    json_auto_t *row = store_job(self->reader, jid, err);

    if (row == NULL || read_halt(self, jid, &reason, err) < 0)
        return NULL;
    if (value_get(row, "batch") == NULL)
        return json_null();
    size_t total = (size_t) value_int(row, "n_minions", 0),
           returned = (size_t) value_int(row, "n_returned", 0),
           failed = (size_t) value_int(row, "n_failed", 0);
    batch_tally_t tally = { .completed = returned - failed, .failed = failed };
    tally.not_begun = total - returned;
    json_t *doc = batch_doc(row, total, &tally, value_int(row, "start_us", 0));
    (void) json_object_update_new(doc, json_pack("{s:b, s:s?}", "halted", true, "halted_reason", reason));
    return doc;
}

void
batchjob_tell(front_t *self, const job_t *job, const char *what, json_t *ids)
{
    AUTO_FREE char *tag = xasprintf("salt/batch/%s/%s", job->jid, what);
    json_t *data = batchjob_summary(self, job);

    if (ids != NULL)
        json_object_set(data, "minions", ids);
    (void) bus_fire(self, tag, &data);
}

/* ---- its user ------------------------------------------------------------------------------ */

bool
batchjob_has_room(const front_t *self, const batch_t *batch, const char *user, fail_t *err)
{
    size_t n = 0;
    job_t *job;

    for (size_t i = 0; batch->users && jobs_next(self->jobs, &i, &job);)
        n += job->batch != NULL && job->batch->users && job->n_open > 0 &&
             str_eq(value_str(job->info, "user", ""), user);
    if (n >= LIMIT_USER_BATCHES)
        (void) fail_set(
            err, -EAGAIN,
            "%s has %zu batches under way, as many as may be: wait for the end of one, or ask root to stop "
            "it (salt-run batch.stop)",
            user, n);
    return n < LIMIT_USER_BATCHES;
}

/* The request for those minions of the batch whose turn has not come. NEW. */
static json_t *
batch_rest(const front_t *self, const job_t *job)
{
    static const char *const fields[] = { "fun", "arg" };
    json_t *ids = json_array(), *request = json_pack("{s:o, s:s}", "tgt", ids, "tgt_type", "list"), *v;

    for (size_t i = 0; i < job->n_targets; i++) {
        const minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
        if (job->targets[i].verdict == VERDICT_QUEUED && m != NULL)
            json_array_append_new(ids, json_string(m->id));
    }
    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(job->info, fields[i])) != NULL)
            json_object_set(request, fields[i], v);
    return request;
}

void
batchjob_check_user(front_t *self, job_t *job)
{
    fail_auto_t err = FAIL_INIT;
    bool doubted = job->batch->doubted && job->batch->users && job->batch->halted == NULL;

    job->batch->doubted = false;
    json_auto_t *rest = doubted ? batch_rest(self, job) : NULL;
    if (json_array_size(value_get(rest, "tgt")) > 0 &&
        acl_lets_user(self, value_str(job->info, "user", ""), job->batch->as, rest, &err) < 0)
        batchjob_halt(self, job,
                      job->batch->as != NULL ? "its user may not begin it any more: see external_auth"
                                             : "its user may not begin it any more: see publisher_acl");
}

/* ---- its life -------------------------------------------------------------------------------- */

void
batchjob_set(front_t *self, job_t *job, batch_t *batch)
{
    job->batch = batch;
    batch->progress_us = clock_wall_us();
    for (size_t i = 0; i < job->n_targets; i++)
        (void) jobs_move(self->jobs, job, &job->targets[i], VERDICT_QUEUED, 0);
}

void
batchjob_restore(front_t *self, job_t *job, const json_t *row)
{
    fail_auto_t err = FAIL_INIT;
    /* Places are a part of all that the batch had, also where keys have gone meanwhile. */
    batch_t *batch = batch_new(value_get(row, "batch"),
                               (size_t) value_int(row, "n_minions", (json_int_t) job->n_targets), 0, &err);
    bool read = batch != NULL;

    if (batch == NULL) {
        json_auto_t *least = json_pack("{s:i}", "size", 1);
        batch = batch_new(least, 1, 0, NULL);
    }
    batchjob_set(self, job, batch);
    batch->awaits = batch->doubted = true;
    batch->n_failed = (size_t) value_int(row, "n_failed", 0);
    read = read && read_halt(self, job->jid, &batch->halted, &err) == 0;
    if (read)
        return;
    /* A batch of which it is not known how many at one time, or whether it goes on, begins no more. */
    batch->halted = xstrdup("what the store has of it can't be read");
    log_error("job %s: the batch begins no more minions, as it can't be read: %s", job->jid, fail_text(&err));
}

void
batchjob_halt(front_t *self, job_t *job, const char *reason)
{
    job->batch->halted = xstrdup(reason);
    job->batch->progress_us = clock_wall_us();
    if (store_halt_job(self->store, job->jid, reason) == 0)
        log_error("job %s: the store's queue is full; a master that starts now would go on with the batch",
                  job->jid);
    log_info("job %s: the batch is halted: %s", job->jid, reason);
    batchjob_tell(self, job, "halted", NULL);
}
