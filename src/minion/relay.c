/* relay.c - see relay.h. */
#include "minion/relay.h"

#include "salt/value.h"

typedef struct question {
    struct question *next;
    json_int_t id;
    job_proc_t *asker;
    json_t *ask; /* owned */
} question_t;

struct relay {
    jobserver_t *owner;
    question_t *all;
    json_int_t next_id;
};

/* To the master that asked for the job, if it is there. */
static void
s_send(relay_t *self, const question_t *q)
{
    json_t *frame = json_pack("{s:s, s:I, s:I, s:O}", "t", "ask", "id", q->id, "master",
                              value_int(q->asker->job, "master", -1), "ask", q->ask);
    jobserver_down(self->owner, &frame);
}

static void
s_drop(question_t **at)
{
    question_t *q = *at;
    *at = q->next;
    json_decref(q->ask);
    free(q);
}

/* A job waits for its answer: it has one question at one time. */
int
relay_ask(relay_t *self, job_proc_t *asker, json_t *ask, fail_t *err)
{
    question_t **end = &self->all;
    if (!json_is_object(ask))
        return fail_set(err, -EINVAL, "'ask' is what a master is to be asked");
    for (; *end; end = &(*end)->next)
        if ((*end)->asker == asker)
            return fail_set(err, -EAGAIN, "this job waits for another answer");
    question_t *q = xcalloc(1, sizeof(*q));
    q->id = ++self->next_id;
    q->asker = asker;
    q->ask = json_incref(ask);
    *end = q;
    s_send(self, q);
    relay_tick(self);
    return 0;
}

void
relay_answer(relay_t *self, json_t *frame)
{
    json_int_t id = value_int(frame, "id", 0);
    for (question_t **at = &self->all; *at; at = &(*at)->next) {
        if ((*at)->id != id)
            continue;
        json_t *answer = json_incref(value_get(frame, "answer"));
        job_proc_t *asker = (*at)->asker;
        s_drop(at);
        job_answer(asker, &answer);
        return;
    }
}

void
relay_tick(relay_t *self)
{
    while (self->all && jobserver_is_offline(self->owner)) {
        job_proc_t *asker = self->all->asker;
        json_t *answer = json_pack("{s:b, s:s, s:i, s:b}", "ok", false, "error", "no master is connected",
                                   "code", EHOSTUNREACH, "offline", true);
        relay_forget(self, asker);
        job_answer(asker, &answer);
    }
}

int64_t
relay_next_ms(const relay_t *self)
{
    return self->all ? jobserver_offline_ms(self->owner) : 0;
}

void
relay_again(relay_t *self)
{
    for (const question_t *q = self->all; q; q = q->next)
        s_send(self, q);
}

void
relay_forget(relay_t *self, const job_proc_t *asker)
{
    for (question_t **at = &self->all; *at;) {
        if ((*at)->asker != asker) {
            at = &(*at)->next;
            continue;
        }
        json_t *frame = json_pack("{s:s, s:I}", "t", "cancel", "id", (*at)->id);
        s_drop(at);
        jobserver_down(self->owner, &frame);
    }
}

relay_t *
relay_new(jobserver_t *owner)
{
    relay_t *self = xcalloc(1, sizeof(*self));
    self->owner = owner;
    return self;
}

void
relay_destroy(relay_t **self_p)
{
    relay_t *self = STEAL(*self_p);
    while (self && self->all)
        s_drop(&self->all);
    free(self);
}
