/* mrecover.c - settles the jobs of an earlier start by their marks in the spool: interrupted ones get a
 * failed return, those that outlived the restart are watched until their return is there.
 */
#include "minion/jobs/jobserver.h"

#include "common/base/clock.h"
#include "salt/log.h"
#include "salt/value.h"

#define AGAIN_MS  10000
#define PARTED_MS 500 /* between two looks at jobs that outlived a restart */

typedef struct mrecover {
    jobserver_t *js;
    int64_t next_ms; /* monotonic: when open marks are examined again; 0: none is open */
} mrecover_t;

/* Examines the marks that are not settled. The log mentions the open ones once. */
static void
mrecover_look(mrecover_t *self)
{
    outbox_t *outbox = self->js->outbox;
    spool_t *spool = outbox_spool(outbox);
    json_auto_t *damaged = json_array();
    json_auto_t *marks = spool_interrupted(spool, damaged);
    bool first = self->next_ms == 0;
    size_t i;
    json_t *one;
    json_array_foreach (marks, i, one) {
        AUTO(jobret) ret = job_interrupted(one);
        log_warning("job %s: it ran when the minion was stopped; that is its return",
                    value_str(one, "jid", ""));
        if (ret != NULL)
            outbox_return(outbox, &ret, value_str(one, "asker", NULL));
    }
    json_array_foreach (damaged, i, one)
        log_error("%s", json_string_value(one));
    /* Jobs that parted from the former job server have left their returns in the spool. */
    json_auto_t *jids = spool_landed(outbox_spool(outbox));
    size_t k, size;
    json_t *jid;
    json_array_foreach (jids, k, jid) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *asker = NULL;
        json_t *value = spool_load(outbox_spool(outbox), json_string_value(jid), &asker, &size, &err);
        AUTO(jobret) ret = jobret_make(&value);
        if (ret == NULL) {
            log_error("%s", fail_text(&err));
            continue;
        }
        log_info("job %s: it went on while the minion was started again, and has returned",
                 json_string_value(jid));
        outbox_return(outbox, &ret, asker);
    }

    size_t run = spool_parted(spool), left = json_array_size(spool_marks(spool)) - run;
    if (left > 0 && first)
        log_error("what became of %zu jobs of before can't be looked up now; it is tried again", left);
    if (run > 0 && first)
        log_info("%zu jobs of before the start still run", run);
    self->next_ms = run > 0 ? clock_mono_ms() + PARTED_MS : left > 0 ? clock_mono_ms() + AGAIN_MS : 0;
}

static void
mrecover_tick(void *part, int64_t now_ms)
{
    mrecover_t *self = part;
    if (self->next_ms && now_ms >= self->next_ms)
        mrecover_look(self);
}

static int64_t
mrecover_next_ms(void *part)
{
    return ((mrecover_t *) part)->next_ms;
}

static void *
mrecover_start(jobserver_t *js, fail_t *err)
{
    mrecover_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    mrecover_look(self);
    return self;
}

const minion_part_t minion_part_recover = {
    .name = "recover",
    .start = mrecover_start,
    .destroy = free,
    .tick = mrecover_tick,
    .next_ms = mrecover_next_ms,
};
