/* jobrequests.c - the operators' requests about jobs: publish, follow, match, verdicts and active. A
 * request's `fn` makes the reply; its `answered` runs after the reply is in the connection's queue, which is
 * where sending starts and following begins, so that no push overtakes the reply. */
#include "common/base/str.h"
#include "master/front/hooks.h"
#include "master/operators/lconn.h"
#include "master/jobs/notes.h"
#include "master/jobs/publish.h"
#include "master/front/request.h"
#include "master/jobs/targets.h"
#include "salt/value.h"

/* ---- publish, follow ------------------------------------------------------------------------- */

/* later_fn: replay the returns and verdicts so far; nothing when the connection has closed. */
static void
follow_catch_up(front_t *self, const char *jid, lconn_t *c)
{
    if (c != NULL)
        lconn_catch_up(c, jid);
}

/* Follow from now on, and replay the past once the queued returns are committed and so can be read. Pushes of
 * now may precede replayed ones. */
static void
follow_later(front_t *self, const char *jid, lconn_t *c)
{
    job_t *job = jobs_get(self->jobs, jid);
    if (job != NULL)
        (void) job_follow(job, c);
    later_add(self, follow_catch_up, jid, c);
}

/* later_fn: start a job with a note only when its row is on the disk. */
static void
begin_job(front_t *self, const char *jid, lconn_t *c)
{
    publish_start(self, jid);
}

/* A request whose note is known gets the first reply again and publishes nothing. */
static json_t *
publish(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *reply = NULL;
    /* A user's could take the names of jobs to come. */
    /* A returner's options name files and servers, which a user's list of functions says nothing of. */
    if (value_truthy(value_get(request, "ret_kwargs")) && !lconn_is_admin(c)) {
        (void) fail_set(err, -EPERM,
                        "the options of returners (ret_kwargs) are for root and the master's user");
        return NULL;
    }
    if (value_get(request, "jid") != NULL && !lconn_is_admin(c)) {
        (void) fail_set(err, -EACCES, "only root and the master's user may choose a job's jid: leave it out");
        return NULL;
    }
    int known = notes_find(self, c, request, &reply, err);
    if (known != 0)
        return reply;
    reply = publish_job(self, request, lconn_user(c), !lconn_is_admin(c),
                        value_bool(request, "follow", false) ? c : NULL, err);
    if (reply != NULL)
        notes_keep(self, request, reply);
    return reply;
}

/* Three cases: a known note's job is taken up again and followed late; a job with a new note waits for its
 * commit; a plain job is sent at once. */
static void
jobrequests_published(front_t *self, lconn_t *c, const request_done_t *done)
{
    if (!*done->jid)
        return;
    if (done->again)
        publish_again(self, done->jid);
    if (done->again && value_bool(done->request, "follow", false))
        follow_later(self, done->jid, c);
    else if (!done->again && value_get(done->request, "note") != NULL)
        later_add(self, begin_job, done->jid, NULL);
    else if (!done->again)
        publish_start(self, done->jid);
}

const request_row_t request_publish = { .fn = publish, .answered = jobrequests_published };

/* Users are bounded in the memory that restored jobs take; administrators are not. */
static json_t *
jobrequests_follow(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *jid = value_str(request, "jid", "");
    json_t *minions = publish_find(self, jid, !lconn_is_admin(c), err);
    return minions != NULL ? json_pack("{s:s, s:o}", "jid", jid, "minions", minions) : NULL;
}

static void
followed(front_t *self, lconn_t *c, const request_done_t *done)
{
    if (*done->jid)
        follow_later(self, done->jid, c);
}

const request_row_t request_follow = { .fn = jobrequests_follow, .answered = followed };

/* ---- match, verdicts, active ----------------------------------------------------------------- */

/* The ids that a target matches, without publishing anything. */
static json_t *
jobrequests_match(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    AUTO_FREE uint32_t *slots = NULL;
    json_t *missing = NULL;
    size_t n = 0;
    if (targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;
    json_t *ids = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(peers_by_slot(self->peers, slots[i])->id));
    return json_pack("{s:o, s:o}", "minions", ids, "missing", missing);
}

const request_row_t request_match = { .fn = jobrequests_match };

/* The state of each target of a job in memory; empty for a job that has left the table. Ids of forgotten
 * minions are left out. */
static json_t *
verdicts(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *all = json_object();
    job_t *job = jobs_get(self->jobs, value_str(request, "jid", ""));
    for (size_t i = 0; job != NULL && i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        minion_t *m = peers_by_slot(self->peers, t->slot);
        if (m == NULL)
            continue;
        json_t *one = json_pack("{s:s}", "verdict", verdict_name(t->verdict));
        if (t->pid > 0)
            json_object_set_new(one, "pid", json_integer(t->pid));
        json_object_set_new(all, m->id, one);
    }
    return json_pack("{s:o}", "verdicts", all);
}

const request_row_t request_verdicts = { .fn = verdicts };

/* As Salt's jobs.active shows a job: the publish request, {id: pid} that run it, and [id] that returned. */
static json_t *
active_one(front_t *self, const job_t *job)
{
    json_t *one = json_copy(job->info), *running = json_object(), *returned = json_array();
    for (size_t i = 0; i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        minion_t *m = peers_by_slot(self->peers, t->slot);
        if (m != NULL && (t->verdict == VERDICT_RUNNING || t->verdict == VERDICT_DELIVERED))
            json_object_set_new(running, m->id, json_integer(t->pid));
        else if (m != NULL && t->verdict == VERDICT_RETURNED)
            json_array_append_new(returned, json_string(m->id));
    }
    json_object_set_new(one, "running", running);
    json_object_set_new(one, "returned", returned);
    return one;
}

/* Open jobs that at least one minion has, then those of other parts (hook_active). */
static json_t *
jobrequests_active(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *all = json_array();
    job_t *job;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        json_t *one = job->n_open > 0 ? active_one(self, job) : NULL;
        if (one != NULL && json_object_size(value_get(one, "running")) > 0)
            json_array_append_new(all, one);
        else
            json_decref(one);
    }
    json_t *reply = json_pack("{s:o}", "jobs", all);
    hook_active(self, reply);
    return reply;
}

const request_row_t request_active = { .fn = jobrequests_active };
