/* jobline.c - see jobline.h: the line to the master and the jobs that are followed over it. When the line
 * breaks, it is opened again and the master is asked to follow each job anew; a master that does not come
 * back within JOBLINE_RECONNECT_MS, or breaks JOBLINE_BREAKS times in a row, ends the wait. */
#include "cli/jobline.h"

#include <poll.h>

#include "cli/eauth.h"
#include "cli/interrupt.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/log.h"
#include "salt/value.h"

#define RECONNECT_PAUSE_MS 100

struct jobline {
    char *sock_dir;
    int64_t timeout_ms;
    local_client_t *line;
    follow_t **jobs;
    size_t n_jobs, cap_jobs;
    int n_breaks;    /* of the line, soon after each other and without a return between them */
    int64_t back_ms; /* monotonic: when it was last opened again */
};

jobline_t *
jobline_new(const char *sock_dir, int64_t timeout_ms, fail_t *err)
{
    local_client_t *line = eauth_connect(sock_dir, timeout_ms, err);

    if (line == NULL)
        return NULL;
    jobline_t *self = xcalloc(1, sizeof(*self));
    self->sock_dir = xstrdup(sock_dir);
    self->timeout_ms = timeout_ms;
    self->line = line;
    return self;
}

void
jobline_destroy(jobline_t **self_p)
{
    jobline_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_jobs; i++)
        follow_destroy(&self->jobs[i]);
    local_client_destroy(&self->line);
    free(self->jobs);
    free(self->sock_dir);
    free(self);
}

int
jobline_call(jobline_t *self, json_t **request_p, json_t **ret_reply, fail_t *err)
{
    return local_call(self->line, request_p, ret_reply, err);
}

/* BORROWED by the caller; jobline_forget frees it. */
static follow_t *
add_job(jobline_t *self, const json_t *reply)
{
    if (self->n_jobs == self->cap_jobs) {
        self->cap_jobs = self->cap_jobs > 0 ? self->cap_jobs * 2 : 8;
        self->jobs = xrealloc(self->jobs, self->cap_jobs * sizeof(*self->jobs));
    }
    follow_t *job = follow_new(value_str(reply, "jid", ""), value_get(reply, "minions"),
                               value_get(reply, "missing"), clock_mono_ms());
    self->jobs[self->n_jobs++] = job;
    return job;
}

/* *ret_job NULL when the master made no job, as nobody is targeted. */
int
jobline_publish(jobline_t *self, json_t **request_p, follow_t **ret_job, fail_t *err)
{
    json_auto_t *reply = NULL;

    json_object_set_new(*request_p, "op", json_string("publish"));
    json_object_set_new(*request_p, "follow", json_true());
    if (self->n_jobs == 0)
        interrupt_asked();
    int rc = local_call(self->line, request_p, &reply, err);
    if (rc == 0)
        *ret_job = str_empty(value_str(reply, "jid", "")) ? NULL : add_job(self, reply);
    return rc;
}

/* Frees the job. */
void
jobline_forget(jobline_t *self, follow_t **job_p)
{
    follow_t *job = STEAL(*job_p);

    for (size_t i = 0; job != NULL && i < self->n_jobs; i++) {
        if (self->jobs[i] != job)
            continue;
        self->jobs[i] = self->jobs[--self->n_jobs];
        follow_destroy(&job);
    }
}

/* ---- a line that breaks ---------------------------------------------------------------------- */

/* Makes one attempt to connect. 0, or a negative errno with *err. */
static int
connect_again(jobline_t *self, fail_t *err)
{
    int rc = 0;

    local_client_destroy(&self->line);
    self->line = eauth_connect(self->sock_dir, self->timeout_ms, err);
    if (self->line == NULL)
        return err->code;
    for (size_t i = 0; rc == 0 && i < self->n_jobs; i++) {
        /* Asks the new line for a job's news. A job that the master does not know any more is abandoned,
         * not an error. */
        follow_t *job = self->jobs[i];
        json_t *request = json_pack("{s:s, s:s}", "op", "follow", "jid", follow_jid(job));
        json_auto_t *reply = NULL;
        rc = local_call(self->line, &request, &reply, err);
        if (rc == -EREMOTEIO) {
            log_warning("job %s: %s", follow_jid(job), fail_text(err));
            fail_clear(err);
            follow_abandon(job);
            rc = 0;
        }
    }
    return rc;
}

/* Tries to connect until the time is over; breaks that follow each other quickly are bounded. */
static int
reconnect(jobline_t *self, fail_t *err)
{
    int64_t now = clock_mono_ms(), until = now + JOBLINE_RECONNECT_MS;

    if (now - self->back_ms >= JOBLINE_RECONNECT_MS)
        self->n_breaks = 0;
    if (++self->n_breaks > JOBLINE_BREAKS)
        return err->code;
    log_warning("%s; waiting for the master to come back", fail_text(err));
    for (;;) {
        fail_clear(err);
        int rc = connect_again(self, err);
        self->back_ms = clock_mono_ms();
        if (rc == 0 || clock_mono_ms() >= until)
            return rc;
        (void) poll(NULL, 0, RECONNECT_PAUSE_MS);
    }
}

/* ---- news ------------------------------------------------------------------------------------ */

void
news_free(news_t *news)
{
    json_decref(news->push);
    free(news->text);
    *news = (news_t){ .kind = NEWS_TICK };
}

/* True when the job itself has news (a silent target, its end) although no message arrived. */
static bool
news_of_job(const jobline_t *self, follow_t *job, news_t *ret)
{
    int64_t now = clock_mono_ms();
    bool over = follow_over(job, self->timeout_ms, now);

    ret->job = job;
    ret->id = follow_silent(job, over, now, &ret->outcome, &ret->text);
    ret->kind = ret->id != NULL ? NEWS_SILENT : NEWS_OVER;
    return ret->id != NULL || over;
}

/* Time of the earliest event that needs no message: a job's next verdict, or the caller's own deadline. */
static int64_t
wake_ms(const jobline_t *self, int64_t until_ms)
{
    for (size_t i = 0; i < self->n_jobs; i++) {
        int64_t next = follow_next_ms(self->jobs[i], self->timeout_ms);
        if (until_ms < 0 || next < until_ms)
            until_ms = next;
    }
    return until_ms;
}

/* Gives a push to its job; true when it is a return to hand on. */
static bool
jobline_take_push(jobline_t *self, json_t *push, news_t *ret)
{
    if (str_eq(value_str(push, "push", ""), "event")) {
        *ret = (news_t){ .kind = NEWS_EVENT, .push = json_incref(push) };
        return true;
    }
    for (size_t i = 0; i < self->n_jobs; i++) {
        follow_t *job = self->jobs[i];
        if (!str_eq(follow_jid(job), value_str(push, "jid", "")))
            continue;
        if (!follow_push(job, push, clock_mono_ms()))
            return false;
        self->n_breaks = 0;
        *ret = (news_t){
            .kind = NEWS_RETURN, .job = job, .id = value_str(push, "id", ""), .push = json_incref(push)
        };
        return true;
    }
    return false;
}

/* Wait for one message: 1 when it is news, 0 when not, or a negative errno. */
static int
jobline_receive(jobline_t *self, int64_t until_ms, news_t *ret, fail_t *err)
{
    json_auto_t *push = NULL;
    int64_t wake = wake_ms(self, until_ms), wait = wake - clock_mono_ms();
    int wait_ms = wake < 0 ? -1 : wait < 0 ? 0 : wait > INT32_MAX ? INT32_MAX : (int) wait;
    int rc = local_next(self->line, wait_ms, &push, err);

    if (rc == -EINTR) {
        fail_clear(err);
        return 0;
    }
    return rc <= 0 ? rc : jobline_take_push(self, push, ret);
}

bool
jobline_more(const jobline_t *self)
{
    return self->line != NULL && local_more(self->line);
}

/* The news of jobs come first, then messages. NEWS_TICK at `until_ms` (monotonic; negative: no deadline). */
int
jobline_news(jobline_t *self, int64_t until_ms, news_t *ret, fail_t *err)
{
    *ret = (news_t){ .kind = NEWS_TICK };
    for (;;) {
        int rc = 0;
        for (size_t i = 0; rc == 0 && i < self->n_jobs; i++)
            rc = news_of_job(self, self->jobs[i], ret);
        if (rc == 0)
            rc = jobline_receive(self, until_ms, ret, err);
        if (rc > 0)
            return 0;
        if (rc == -EREMOTEIO || (rc < 0 && (rc = reconnect(self, err)) < 0))
            return rc;
        if (until_ms >= 0 && clock_mono_ms() >= until_ms) {
            *ret = (news_t){ .kind = NEWS_TICK };
            return 0;
        }
    }
}
