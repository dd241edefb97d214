/* run_work.c - `parallel`: steps that workers run while the main run goes on.
 *
 * run_start() hands a deep copy to a worker and records a placeholder, which run_complete() fills. */
#include "common/state/run_int.h"
#include "salt/state.h"

/* A worker's input: deep copies, because the worker may be another thread and jansson's reference counts are
 * not shared safely. */
typedef struct work {
    state_caller_t caller; /* without a context */
    json_t *low;
    json_t *reqs; /* NULL: nothing watched has changed */
    json_t *chunks, *running;
} work_t;

/* Runs in the worker. */
static json_t *
do_work(call_ctx_t *ctx, void *cookie)
{
    work_t *self = cookie;
    state_caller_t caller = self->caller;

    caller.ctx = ctx;
    caller.chunks = self->chunks;
    caller.running = self->running;
    return self->reqs != NULL ? state_call_watched(&caller, self->low, self->reqs)
                              : state_call(&caller, self->low, false);
}

/* Copy the returns of the step's requisites, for __running__ in mod_watch. NEW. */
static json_t *
returns_for(const run_t *run, const step_t *step)
{
    json_t *out = json_object();

    for (size_t i = 0; i < step->n_reqs; i++) {
        const steps_t *steps = step->reqs[i].steps;
        for (size_t j = 0; steps != NULL && j < steps->n; j++) {
            const step_t *on = &run->steps[steps->v[j]];
            if (on->slot->ret != NULL)
                json_object_set_new(out, on->tag, json_deep_copy(on->slot->ret));
        }
    }
    return out;
}

bool
run_is_parallel(const run_t *run, const step_t *step)
{
    return run->env->workers != NULL && value_truthy(value_get(step->low, "parallel"));
}

/* Fills the placeholder: other steps' requisites hold on to its slot. `value` NULL: the worker gave none. */
void
run_complete(run_t *run, size_t i, json_t *value, const fail_t *why)
{
    step_t *step = &run->steps[i];
    json_t *ret = step->slot->ret;

    if (value != NULL) {
        json_object_del(value, "__run_num__");
        json_object_update(ret, value);
        state_refresh(&run->caller, step->low, ret);
    } else {
        json_object_set_new(ret, "result", json_false());
        json_object_set_new(ret, "comment",
                            value_fmt("Parallel process failed to return: %s", fail_text(why)));
    }
    json_object_set_new(ret, "__parallel__", json_true());

    work_t *self = step->work;
    if (self != NULL) {
        json_decref(self->low);
        json_decref(self->reqs);
        json_decref(self->chunks);
        json_decref(self->running);
        free(self);
        step->work = NULL;
    }

    run_ended(run, i);
}

/* A chunk that fails verification is not worth a worker: its return is made here. */
void
run_start(run_t *run, size_t i, bool watch)
{
    fail_auto_t err = FAIL_INIT;
    step_t *step = &run->steps[i];
    json_auto_t *errors = state_verify(run->env->ctx, step->low);

    if (json_array_size(errors) > 0) {
        run_record(run, i, state_call(&run->caller, step->low, false));
        return;
    }

    /* Copies what a state in a child of its own needs. The run goes on changing its data meanwhile, so
     * nothing is shared but the list of chunks, which is copied once. */
    work_t *self = xcalloc(1, sizeof(*self));
    self->caller = run->caller;
    self->caller.wait = NULL;
    self->caller.elsewhere = true;
    self->low = json_deep_copy(step->low);
    if (run->shared == NULL)
        run->shared = json_deep_copy(run->chunks);
    self->chunks = json_incref(run->shared);
    self->running = watch ? returns_for(run, step) : json_object();
    if (watch) {
        json_auto_t *shown = run_reqs_shown(run, step);
        self->reqs = json_deep_copy(shown);
    }
    step->work = self;

    /* The return until the worker's arrives. */
    json_t *ret = state_not_called(step->low, true, "Started in a separate process", false,
                                   run->caller.run_num++);
    json_object_set_new(ret, "result", json_null());
    step->slot->ret = ret;

    step->slot->state = SLOT_STARTED;
    json_object_set(run->running, step->tag, step->slot->ret);
    if (run->env->workers->start(run->env->workers_self, i, do_work, step->work, &err) < 0)
        run_complete(run, i, NULL, &err);
    else
        run->at_work++;
}
