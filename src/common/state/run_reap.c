/* run_reap.c - collects the returns of workers, and goes on with the steps that waited for them. */
#include "common/base/clock.h"
#include "common/state/run_int.h"

void
run_defer(run_t *run, size_t i, slot_t *pending)
{
    run_log_decision(run, &run->steps[i], false, STATUS_PENDING);
    run->steps[i].slot->state = SLOT_WAITING;
    steps_add(&pending->waiters, i);
}

/* Re-evaluate a step after a requisite that it waited for has ended. */
static void
try_again(run_t *run, size_t i)
{
    step_t *step = &run->steps[i];
    slot_t *pending = NULL;
    run_status_t status = run_status(run, step, false, &pending);

    if (status == STATUS_PENDING)
        run_defer(run, i, pending);
    else
        run_finish(run, i, false, status);
}

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
        if (run->steps[run->ready.v[i]].slot->state == SLOT_WAITING)
            try_again(run, run->ready.v[i]);
    }
    run->ready.n = 0;
}

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
