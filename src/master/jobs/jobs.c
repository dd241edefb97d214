/* jobs.c - the table of jobs under way, by jid. The transition table below is the whole state machine of a
 * target: jobs_move is the only function that changes a verdict, and it keeps the counters n_open and
 * n_unheard, calls the hooks and ignores transitions that are not listed. Late, doubled and reordered
 * messages are normal, so an illegal one is not an error. */
#include "master/jobs/jobs.h"

#include "common/base/clock.h"
#include "common/base/map.h"
#include "salt/log.h"

typedef struct verdict_row {
    const char *name;
    bool final;
    unsigned next; /* bits of the verdicts that may follow */
} verdict_row_t;

#define B(v) (1u << VERDICT_##v)
/* A final verdict other than RETURNED is a conclusion from silence; a return, or news of the running job,
 * that arrives later overrides it and may open the target again. */
static const verdict_row_t table[VERDICTS] = {
    [VERDICT_WAITING] = { "waiting", false,
                          B(QUEUED) | B(SENT) | B(NOT_CONNECTED) | B(RETURNED) | B(RUNNING) | B(LOST) |
                              B(ELSEWHERE) },
    [VERDICT_SENT] = { "sent", false,
                       B(DELIVERED) | B(RUNNING) | B(RETURNED) | B(NOT_CONNECTED) | B(NOT_DELIVERED) |
                           B(LOST) | B(ELSEWHERE) },
    [VERDICT_DELIVERED] = { "delivered", false,
                            B(SENT) | B(RUNNING) | B(RETURNED) | B(LOST) | B(NOT_DELIVERED) | B(ELSEWHERE) },
    [VERDICT_RUNNING] = { "running", false, B(RETURNED) | B(LOST) | B(ELSEWHERE) },
    [VERDICT_QUEUED] = { "queued", false,
                         B(WAITING) | B(RUNNING) | B(RETURNED) | B(NOT_CONNECTED) | B(ELSEWHERE) |
                             B(NOT_BEGUN) },
    [VERDICT_RETURNED] = { "returned", true, 0 },
    [VERDICT_NOT_CONNECTED] = { "not_connected", true, B(RETURNED) | B(RUNNING) | B(ELSEWHERE) },
    [VERDICT_NOT_DELIVERED] = { "not_delivered", true,
                                B(RETURNED) | B(RUNNING) | B(DELIVERED) | B(ELSEWHERE) },
    [VERDICT_LOST] = { "lost", true, B(RETURNED) | B(ELSEWHERE) },
    [VERDICT_ELSEWHERE] = { "elsewhere", true, B(RETURNED) },
    [VERDICT_NOT_BEGUN] = { "not_begun", true, B(RETURNED) | B(RUNNING) | B(ELSEWHERE) },
};
#undef B

struct jobs {
    map_t *by_jid;
    jobs_verdict_fn *on_verdict;
    jobs_done_fn *on_done;
    void *cookie;
    uint64_t moved[VERDICTS];
};

const char *
verdict_name(verdict_t v)
{
    salt_assert(v < VERDICTS);
    return table[v].name;
}

bool
verdict_final(verdict_t v)
{
    salt_assert(v < VERDICTS);
    return table[v].final;
}

static void
free_job(void *p)
{
    job_t *job = p;
    json_decref(job->info);
    free(job->wire);
    free(job->jid);
    free(job->targets);
    free(job->followers);
    batch_destroy(&job->batch);
    free(job);
}

jobs_t *
jobs_new(jobs_verdict_fn *on_verdict, jobs_done_fn *on_done, void *cookie)
{
    jobs_t *self = xcalloc(1, sizeof(*self));
    self->by_jid = map_new(free_job);
    self->on_verdict = on_verdict;
    self->on_done = on_done;
    self->cookie = cookie;
    return self;
}

void
jobs_destroy(jobs_t **self_p)
{
    jobs_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    map_destroy(&self->by_jid);
    free(self);
}

/* A target starts as WAITING (0), which counts as open and unheard. Sorted slots let job_find search in O(log
 * n). */
job_t *
jobs_add(jobs_t *self, const char *jid, json_t **info_p, const uint32_t *slots, size_t n)
{
    json_t *info = STEAL(*info_p);
    if (map_get(self->by_jid, jid) != NULL) {
        json_decref(info);
        return NULL;
    }
    job_t *job = xcalloc(1, sizeof(*job));
    job->jid = xstrdup(jid);
    job->info = info;
    job->start_us = clock_wall_us();
    job->targets = xcalloc(n ? n : 1, sizeof(job_target_t));
    for (size_t i = 0; i < n; i++) {
        salt_assert(i == 0 || slots[i] > slots[i - 1]);
        job->targets[i].slot = slots[i];
    }
    job->n_targets = job->n_open = job->n_unheard = n;
    job->sent_ms = job->idle_ms = clock_mono_ms();
    map_set(self->by_jid, jid, job);
    return job;
}

job_t *
jobs_get(const jobs_t *self, const char *jid)
{
    return map_get(self->by_jid, jid);
}

size_t
jobs_len(const jobs_t *self)
{
    return map_len(self->by_jid);
}

bool
jobs_next(const jobs_t *self, size_t *iter, job_t **ret_job)
{
    const char *key;
    void *value;
    if (!map_next(self->by_jid, iter, &key, &value))
        return false;
    *ret_job = value;
    return true;
}

static int
jobs_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = ((const job_target_t *) b)->slot;
    return x < y ? -1 : x > y;
}

job_target_t *
job_find(const job_t *job, uint32_t slot)
{
    return bsearch(&slot, job->targets, job->n_targets, sizeof(job_target_t), jobs_compare);
}

/* Neither delivery nor anything later was reported: the target is one that resend (publish.c) looks at. */
static size_t
unheard(verdict_t v)
{
    return v == VERDICT_WAITING || v == VERDICT_SENT;
}

/* The last target may return twice to a final verdict (LOST, then RETURNED): on_done is called only by the
 * step from open to final. */
bool
jobs_move(jobs_t *self, job_t *job, job_target_t *target, verdict_t to, int32_t pid)
{
    verdict_t from = target->verdict;
    if (!(table[from].next & (1u << to)))
        return false;
    target->verdict = to;
    target->pid = pid;
    self->moved[to] += !job->recalled;
    job->idle_ms = clock_mono_ms();
    job->n_unheard += unheard(to) - unheard(from);
    if (table[to].final && !table[from].final)
        job->n_open--;
    else if (!table[to].final && table[from].final)
        job->n_open++;
    if (to != VERDICT_RETURNED)
        self->on_verdict(self->cookie, job, target);
    if (job->n_open == 0 && table[to].final && !table[from].final)
        self->on_done(self->cookie, job);
    return true;
}

uint64_t
jobs_moved(const jobs_t *self, verdict_t to)
{
    salt_assert(to < VERDICTS);
    return self->moved[to];
}

size_t
jobs_at(const jobs_t *self, verdict_t at)
{
    size_t n = 0;
    job_t *job;
    for (size_t i = 0; jobs_next(self, &i, &job);)
        for (size_t k = 0; k < job->n_targets; k++)
            n += job->targets[k].verdict == at;
    return n;
}

bool
job_follow(job_t *job, void *follower)
{
    for (size_t i = 0; i < job->n_followers; i++)
        if (job->followers[i] == follower)
            return false;
    job->followers = xrealloc(job->followers, (job->n_followers + 1) * sizeof(void *));
    job->followers[job->n_followers++] = follower;
    return true;
}

void
jobs_unfollow(jobs_t *self, void *follower)
{
    job_t *job;
    for (size_t i = 0; jobs_next(self, &i, &job);)
        for (size_t k = 0; k < job->n_followers; k++)
            if (job->followers[k] == follower)
                job->followers[k--] = job->followers[--job->n_followers];
}

/* True: keep the job in the table. A job found alive is examined again only after another keep_ms, since it
 * may have ten thousand targets. One whose end could not be queued for the store (unended) stays until it
 * can. */
static bool
jobs_stays(jobs_t *self, job_t *job, int64_t now_ms, int64_t keep_ms, jobs_alive_fn *is_alive)
{
    if (job->n_open == 0)
        return job->unended;
    if (now_ms - job->idle_ms < keep_ms)
        return true;
    if (is_alive(self->cookie, job)) {
        job->idle_ms = now_ms;
        return true;
    }
    log_info("job %s: no change for a long time, %zu targets never returned", job->jid, job->n_open);
    self->on_done(self->cookie, job);
    return job->unended;
}

void
jobs_sweep(jobs_t *self, int64_t now_ms, int64_t keep_ms, jobs_alive_fn *is_alive)
{
    job_t *job;
    for (size_t i = 0; jobs_next(self, &i, &job);)
        if (!jobs_stays(self, job, now_ms, keep_ms, is_alive))
            (void) map_del(self->by_jid, job->jid);
}
