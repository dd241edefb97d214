/* relay.c - passes requests of jobs to a master: the host operation {"op": "ask", "ask": {"what", ...}}.
 *
 * The networking process chooses the master, and another when that goes away. Open requests are sent again to
 * a new networking process, dropped when their job ends, and failed with EHOSTUNREACH when the minion is
 * offline, so that jobs fall back to their cache.
 */
#include "minion/jobs/jobserver.h"

#include "salt/value.h"

typedef struct question {
    struct question *next;
    json_int_t id;
    job_proc_t *asker;
    json_t *ask; /* owned */
} question_t;

typedef struct relay {
    jobserver_t *js;
    question_t *all;
    json_int_t next_id;
} relay_t;

/* Sends a request, for the master that it names ("master": its number), or the one that asked for the job, if
 * that is connected. */
static void
relay_send(const relay_t *self, const question_t *q)
{
    json_t *frame = json_pack("{s:s, s:I, s:I, s:O}", "t", "ask", "id", q->id, "master",
                              value_int(q->ask, "master", value_int(q->asker->job, "master", -1)), "ask",
                              q->ask);
    jobserver_down(self->js, &frame);
}

static void
relay_drop(question_t **at)
{
    question_t *q = *at;
    *at = q->next;
    json_decref(q->ask);
    free(q);
}

static void
relay_job_over(void *part, json_t *job, const job_proc_t *proc)
{
    relay_t *self = part;
    for (question_t **at = &self->all; proc != NULL && *at;) {
        if ((*at)->asker != proc) {
            at = &(*at)->next;
            continue;
        }
        json_t *frame = json_pack("{s:s, s:I}", "t", "cancel", "id", (*at)->id);
        relay_drop(at);
        jobserver_down(self->js, &frame);
    }
}

/* Fails every open request when no master was connected for offline_after. */
static void
relay_tick(void *part, int64_t now_ms)
{
    relay_t *self = part;
    while (self->all != NULL && jobserver_is_offline(self->js)) {
        job_proc_t *asker = self->all->asker;
        json_t *answer = json_pack("{s:b, s:s, s:i, s:b}", "ok", false, "error", "no master is connected",
                                   "code", EHOSTUNREACH, "offline", true);
        relay_job_over(self, asker->job, asker);
        job_answer(asker, &answer);
    }
}

static int64_t
relay_next_ms(void *part)
{
    const relay_t *self = part;
    return self->all != NULL ? jobserver_offline_ms(self->js) : 0;
}

/* Opens a request; its answer comes later. A job waits for each answer, so it has one open request at
 * most. */
static json_t *
relay_ask(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    relay_t *self = part;
    json_t *ask = value_get(request, "ask");
    question_t **end = &self->all;
    if (!json_is_object(ask))
        (void) fail_set(err, -EINVAL, "'ask' is what a master is to be asked");
    for (; *end && err->code == 0; end = &(*end)->next)
        if ((*end)->asker == asker)
            (void) fail_set(err, -EAGAIN, "this job waits for another answer");
    if (err->code != 0)
        return NULL;
    question_t *q = xcalloc(1, sizeof(*q));
    q->id = ++self->next_id;
    q->asker = asker;
    q->ask = json_incref(ask);
    *end = q;
    relay_send(self, q);
    relay_tick(self, 0);
    return NULL;
}

/* Handles {"t": "answer", id, answer}; one for a job that has ended is ignored. */
static void
relay_answer(void *part, json_t *frame)
{
    relay_t *self = part;
    json_int_t id = value_int(frame, "id", 0);
    for (question_t **at = &self->all; *at; at = &(*at)->next) {
        if ((*at)->id != id)
            continue;
        json_t *answer = json_incref(value_get(frame, "answer"));
        job_proc_t *asker = (*at)->asker;
        relay_drop(at);
        job_answer(asker, &answer);
        return;
    }
}

static void
relay_link_up(void *part)
{
    const relay_t *self = part;
    for (const question_t *q = self->all; q; q = q->next)
        relay_send(self, q);
}

static void *
relay_start(jobserver_t *js, fail_t *err)
{
    relay_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    return self;
}

static void
relay_destroy(void *part)
{
    relay_t *self = part;
    while (self->all != NULL)
        relay_drop(&self->all);
    free(self);
}

static const part_message_t messages[] = { { "answer", relay_answer }, { 0 } };
static const part_request_t requests[] = { { "ask", relay_ask, NULL }, { 0 } };

const minion_part_t minion_part_relay = {
    .name = "relay",
    .start = relay_start,
    .destroy = relay_destroy,
    .tick = relay_tick,
    .next_ms = relay_next_ms,
    .link_up = relay_link_up,
    .job_over = relay_job_over,
    .messages = messages,
    .requests = requests,
};
