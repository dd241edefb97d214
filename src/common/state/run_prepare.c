/* run_prepare.c - prepare a step before its requisites are checked: mod_aggregate, which may merge the
 * arguments of later chunks into this one (one package transaction instead of many), and mod_init, once per
 * module. */
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/log.h"

/* Call a special function of the chunk's module. NEW value, or NULL; an error is only logged. */
static json_t *
run_prepare_special(run_t *run, json_t *low, const char *name, json_t *args)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *fun = xasprintf("%s.%s", value_str(low, "state", ""), name);
    call_frame_t frame = { low, run->chunks, run->running, run->caller.run_id };
    const call_frame_t *outer = call_set_frame(run->env->ctx, &frame);
    json_t *value = NULL;

    if (ctx_state(run->env->ctx, fun, args, &value, &err) < 0)
        log_error("%s: %s", fun, fail_text(&err));
    (void) call_set_frame(run->env->ctx, outer);
    return value;
}

/* The chunks that may run now; a chunk with unmet requisites can't be aggregated. */
static json_t *
candidates(run_t *run, const json_t *low)
{
    json_t *out = json_array();
    slot_t *pending;

    for (size_t i = 0; i < run->n; i++) {
        step_t *step = &run->steps[i];
        if (step->slot->state != SLOT_NEW || value_get(step->low, "__agg__") != NULL ||
            !str_eq(value_str(step->low, "state", ""), value_str(low, "state", "")))
            continue;
        if (step->reqs == NULL)
            run_read_reqs(run, step);
        if (step->low == low || run_status(run, step, false, &pending) == STATUS_MET)
            json_array_append(out, step->low);
    }
    return out;
}

void
run_prepare(run_t *run, step_t *step)
{
    if (step->prepared)
        return;
    step->prepared = true;
    if (step->reqs == NULL)
        run_read_reqs(run, step);

    /* The module returns the chunk with merged arguments and marks the others "__agg__", so that they are
     * not merged twice. */
    json_t *low = step->low;
    json_t *option = value_get(low, "aggregate");
    option = option != NULL ? option : value_get(ctx_opts(run->env->ctx), "state_aggregate");
    bool wanted = json_is_true(option) || value_lists(option, value_str(low, "state", ""));
    if (wanted && !value_truthy(value_get(low, "__agg__")) &&
        state_has(run->env->ctx, low, "mod_aggregate")) {
        json_auto_t *chunks = candidates(run, low);
        json_object_set_new(low, "__agg__", json_true());
        json_auto_t *args = json_pack("{s:O, s:O, s:O}", "low", low, "chunks", chunks, "running",
                                      run->running);
        json_t *made = run_prepare_special(run, low, "mod_aggregate", args);
        if (json_is_object(made)) {
            json_decref(step->low);
            step->low = made;
        } else {
            json_decref(made);
        }
    }

    /* mod_init runs before the module's first state, and before later ones until it returns True, as in Salt.
     * `inited` holds the modules that are done, whichever value they have there. */
    low = step->low;
    const char *module = value_str(low, "state", "");
    if (map_get(run->inited, module) != NULL || !state_has(run->env->ctx, low, value_str(low, "fun", "")))
        return;
    bool has = state_has(run->env->ctx, low, "mod_init");
    json_auto_t *args = json_pack("{s:O}", "low", low),
                *done = has ? run_prepare_special(run, low, "mod_init", args) : NULL;
    if (!has || value_truthy(done))
        map_set(run->inited, module, run->inited);
}
