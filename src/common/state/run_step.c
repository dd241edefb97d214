/* run_step.c - finish a step whose requisites are known: call it, start it with a worker, or record why
 * not. */
#include "common/state/run_int.h"
#include "salt/log.h"
#include "salt/state.h"

/* ---- what is not called -------------------------------------------------------------------- */

/* Record a return without a call. `pre`: it also counts as the test run's return. */
static void
not_called(run_t *run, size_t i, bool pre, bool result, const char *comment, bool skipped)
{
    step_t *step = &run->steps[i];
    json_t *ret = state_not_called(step->low, result, comment, skipped, run->caller.run_num++);

    if (pre) {
        /* Replaces the return that the step had before its turn. */
        slot_t *slot = step->slot;
        json_decref(slot->pre);
        slot->pre = json_incref(ret);
    }
    run_record(run, i, ret);
}

void
run_recursive(run_t *run, size_t i, bool pre)
{
    log_error("Recursive requisite found");
    not_called(run, i, pre, false, "Recursive requisite found", false);
}

/* Record the test run's return for a step whose requisites failed: without changes, since none were made. */
static void
failed_after_pre(run_t *run, size_t i)
{
    step_t *step = &run->steps[i];
    json_t *ret = json_copy(step->slot->pre), *own;
    static const char *const keys[] = { "__sls__", "__id__", "name" };

    step->slot->held = true;
    if (state_changed(ret))
        json_object_set_new(ret, "changes", json_object());
    json_object_set_new(ret, "__run_num__", json_integer((json_int_t) run->caller.run_num++));
    for (size_t k = 0; k < NELEMS(keys); k++) {
        own = value_get(step->low, keys[k]);
        json_object_set_new(ret, keys[k], own != NULL ? json_incref(own) : json_null());
    }
    run_record(run, i, ret);
}

/* ---- what is called ------------------------------------------------------------------------ */

/* Runs a step in the way that fits: a return from before an interruption, a pre-check, a child of its own,
 * mod_watch or the plain function. */
static void
run_step_call(run_t *run, size_t i, bool pre, bool change)
{
    step_t *step = &run->steps[i];

    /* Reports the progress to the embedder. */
    state_progress_t at = { .done = run->finished, .total = run->n, .chunk = step->low };
    if (run->env->progress != NULL)
        run->env->progress(run->env->progress_cookie, &at);

    /* Ask the embedder whether it has a return already. */
    json_t *had = !pre && run->env->begins != NULL ? run->env->begins(run->env->watch_cookie, step->low)
                                                   : NULL;
    if (had != NULL)
        json_object_set_new(had, "__run_num__", json_integer((json_int_t) run->caller.run_num++));

    if (had != NULL) {
        run_record(run, i, had);
    } else if (pre) {
        /* The test run for a `prereq`: find out whether the step would change something. */
        slot_t *slot = step->slot;

        json_decref(slot->pre);
        slot->pre = state_call(&run->caller, step->low, true);
        /* Count a watched change as a change of the test run; Salt does so only if a requisite was still to
         * run. */
        if (change && !state_changed(slot->pre)) {
            state_change(slot->pre, "watch", json_string("watch"));
            json_object_set_new(slot->pre, "result", json_null());
        }
    } else if (run_is_parallel(run, step)) {
        run_start(run, i, change);
    } else if (change) {
        json_auto_t *reqs = run_reqs_shown(run, step);
        run_record(run, i, state_call_watched(&run->caller, step->low, reqs));
    } else {
        run_record(run, i, state_call(&run->caller, step->low, false));
    }
}

/* Map a status to its action. Salt's comments word for word. */
void
run_finish(run_t *run, size_t i, bool pre, run_status_t status)
{
    AUTO_FREE char *text = NULL;

    run_log_decision(run, &run->steps[i], pre, status);
    switch (status) {
    case STATUS_MET:
    case STATUS_CHANGE:
        run_step_call(run, i, pre, status == STATUS_CHANGE);
        return;
    case STATUS_FAIL:
        /* After a test run, its prediction without the changes is the return. */
        if (run->steps[i].slot->pre != NULL) {
            failed_after_pre(run, i);
            return;
        }
        text = run_failed_reqs(run, &run->steps[i]);
        not_called(run, i, true, false, text, false);
        return;
    case STATUS_PRE:
        not_called(run, i, true, true, "No changes detected", false);
        return;
    case STATUS_ONFAIL:
        not_called(run, i, pre, true, "State was not run because onfail req did not change", true);
        return;
    case STATUS_ONCHANGES:
        not_called(run, i, pre, true, "State was not run because none of the onchanges reqs changed", true);
        return;
    case STATUS_UNMET:
        text = run_lost(&run->steps[i], pre);
        if (text != NULL) {
            AUTO_FREE char *meant = run_lost_meant(run, &run->steps[i], pre);
            AUTO_FREE char *both = xasprintf("%s%s", text, meant != NULL ? meant : "");
            not_called(run, i, pre, false, both, false);
        } else
            run_recursive(run, i, pre);
        return;
    case STATUS_PENDING:
        salt_assert(!"a pending step is not finished");
    }
}
