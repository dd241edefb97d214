/* run_reap.c - collects the returns of workers, and goes on with the steps that waited for them. */
#include "common/base/clock.h"
#include "common/state/run_int.h"

/* Puts a parallel step aside until `pending`, a requisite of it, has its return: run_ended() makes it
 * ready. */
void
run_defer(run_t *run, size_t i, slot_t *pending)
{
    run_log_decision(run, &run->steps[i], false, STATUS_PENDING);
    run->steps[i].slot->state = SLOT_WAITING;
    steps_add(&pending->waiters, i);
}

/* Waits up to `timeout_ms` (-1: without limit) for a first worker, then takes the others that have ended. */
void
run_reap(run_t *run, int timeout_ms)
{
    const state_workers_t *workers = run->env->workers;

    while (run->at_work > 0) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *value = NULL;
        size_t i;
        if (workers->next(run->env->workers_self, timeout_ms, &i, &value, &err) <= 0)
            break;
        run->at_work--;
        run_complete(run, i, value, &err);
        timeout_ms = 0;
    }

    /* Start steps that need not wait any more; each may release others, which the loop appends and visits
     * too. */
    for (size_t i = 0; i < run->ready.n && !run->stop; i++) {
        size_t at = run->ready.v[i];
        slot_t *pending = NULL;
        if (run->steps[at].slot->state != SLOT_WAITING)
            continue;
        run_status_t status = run_status(run, &run->steps[at], false, &pending);
        if (status == STATUS_PENDING)
            run_defer(run, at, pending);
        else
            run_finish(run, at, false, status);
    }
    run->ready.n = 0;
}

/* A pause of the run, in which workers' returns are still taken in. */
void
run_wait(void *cookie, int64_t ms)
{
    run_t *run = cookie;
    int64_t until = clock_mono_ms() + ms, left;

    while ((left = until - clock_mono_ms()) > 0) {
        if (run->at_work > 0) {
            run_reap(run, (int) left);
            continue;
        }
        struct timespec pause = { left / 1000, left % 1000 * 1000000 };
        (void) nanosleep(&pause, NULL);
    }
}
