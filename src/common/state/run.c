/* run.c - the run: steps in their order, requisites first, on an explicit stack.
 *
 * evaluate() pushes a step; state_run_enter() asks run_status() whether its requisites are done. If not,
 * list_todo() collects the missing ones and state_run_walk() pushes them one by one; afterwards the step is
 * entered again, at most MAX_ROUNDS times. A step that is needed while it is on the stack is a circle. Salt
 * recurses here; a stack on the heap allows chains of any length. */
#include "common/state/run.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/state/run_int.h"
#include "salt/log.h"
#include "salt/state.h"

enum { MAX_ROUNDS = 3 }; /* rounds through a step's requisites before it counts as a circle */

/* ---- the stack ----------------------------------------------------------------------------- */

/* Push a step for a normal run, or (`pre`) for the test run that a `prereq` asks for. Both can be on the
 * stack at once. */
static void
state_run_push(run_t *run, size_t step, bool pre)
{
    slot_t *slot = run->steps[step].slot;

    if (run->depth == run->cap) {
        run->cap = run->cap > 0 ? run->cap * 2 : 16;
        run->stack = xrealloc(run->stack, run->cap * sizeof(*run->stack));
    }
    run->stack[run->depth++] = (frame_t){ .step = step, .pre = pre };
    if (pre)
        slot->pre_active = true;
    else
        slot->active = true;
}

/* Leaves the innermost step of the walk. */
static void
state_run_pop(run_t *run)
{
    frame_t *frame = &run->stack[--run->depth];
    slot_t *slot = run->steps[frame->step].slot;

    if (frame->pre)
        slot->pre_active = false;
    else
        slot->active = false;
    free(frame->todo);
}

/* Collect the steps that this one needs and that have not run, in Salt's order of requisites. For `prereq`
 * the test run is what counts. */
static void
list_todo(run_t *run, frame_t *frame)
{
    const step_t *step = &run->steps[frame->step];
    size_t cap = 0;

    frame->n_todo = frame->next = 0;
    for (size_t i = 0; i < step->n_reqs; i++) {
        const req_t *req = &step->reqs[i];
        if (frame->pre && req->kind == REQ_PREREQUIRED)
            continue;
        if (frame->n_todo + req->steps->n > cap) {
            cap = (frame->n_todo + req->steps->n) * 2;
            frame->todo = xrealloc(frame->todo, cap * sizeof(*frame->todo));
        }
        for (size_t j = 0; j < req->steps->n; j++) {
            const slot_t *slot = run->steps[req->steps->v[j]].slot;
            if (req->kind == REQ_PREREQ ? slot->pre == NULL : slot->state == SLOT_NEW)
                frame->todo[frame->n_todo++] = (todo_t){ req->steps->v[j], req->kind };
        }
    }
    frame->walking = true;
}

/* Pop the step at the top; its return exists now. */
static void
finish_top(run_t *run, run_status_t status)
{
    frame_t frame = run->stack[run->depth - 1];

    state_run_pop(run);
    run_finish(run, frame.step, frame.pre, status);
}

/* Decide about the step at the top of the stack. PENDING requisites are with workers: a parallel step is put
 * aside, any other waits here for one of them. */
static void
state_run_enter(run_t *run, frame_t *frame)
{
    step_t *step = &run->steps[frame->step];
    slot_t *pending = NULL;

    if (frame->pre ? step->slot->pre != NULL : step->slot->state != SLOT_NEW) {
        state_run_pop(run);
        return;
    }
    run_prepare(run, step);
    run_status_t status = run_status(run, step, frame->pre, &pending);
    if (status == STATUS_PENDING && !frame->pre && run_is_parallel(run, step)) {
        size_t i = frame->step;
        state_run_pop(run);
        run_defer(run, i, pending);
    } else if (status == STATUS_PENDING) {
        run_reap(run, -1);
    } else if (status == STATUS_UNMET && frame->rounds < MAX_ROUNDS) {
        AUTO_FREE char *lost = run_lost(step, frame->pre);
        frame->rounds++;
        if (lost != NULL)
            finish_top(run, status);
        else
            list_todo(run, frame);
    } else {
        finish_top(run, status);
    }
}

/* True when the step must wait for one that is on the stack, because that one has a `prereq` on it. */
static bool
state_run_is_held(run_t *run, size_t i)
{
    step_t *step = &run->steps[i];

    if (step->reqs == NULL)
        run_read_reqs(run, step);
    for (size_t k = 0; k < step->n_reqs; k++) {
        const req_t *req = &step->reqs[k];
        for (size_t j = 0; req->kind == REQ_PREREQUIRED && req->steps != NULL && j < req->steps->n; j++) {
            if (run->steps[req->steps->v[j]].slot->active)
                return true;
        }
    }
    return false;
}

typedef enum next_move { MOVE_SKIP, MOVE_RUN, MOVE_TEST, MOVE_CIRCLE } next_move_t;

/* Decide how to treat a needed step. Below a test run, the step is only tested if it can't run yet. */
static next_move_t
move_for(run_t *run, const frame_t *frame, todo_t todo)
{
    const slot_t *slot = run->steps[todo.step].slot;

    if (slot->state != SLOT_NEW)
        return MOVE_SKIP;
    if (todo.kind == REQ_PREREQ)
        return slot->pre != NULL ? MOVE_SKIP : slot->pre_active ? MOVE_CIRCLE : MOVE_TEST;
    if (frame->pre && (slot->active || slot->pre != NULL))
        return MOVE_SKIP;
    if (frame->pre && state_run_is_held(run, todo.step))
        return slot->pre_active ? MOVE_SKIP : MOVE_TEST;
    return slot->active ? MOVE_CIRCLE : MOVE_RUN;
}

/* Push the next step that the top one needs; when none is left, the top is entered again. */
static void
state_run_walk(run_t *run, frame_t *frame)
{
    while (frame->next < frame->n_todo) {
        todo_t todo = frame->todo[frame->next++];
        frame_t top = *frame;
        switch (move_for(run, frame, todo)) {
        case MOVE_SKIP:
            continue;
        case MOVE_RUN:
            state_run_push(run, todo.step, false);
            return;
        case MOVE_TEST:
            state_run_push(run, todo.step, true);
            return;
        case MOVE_CIRCLE:
            state_run_pop(run);
            run_recursive(run, top.step, top.pre);
            return;
        }
    }
    frame->walking = false;
}

/* ---- a list of chunks ---------------------------------------------------------------------- */

static void
slot_free(void *value)
{
    slot_t *slot = value;

    json_decref(slot->ret);
    json_decref(slot->pre);
    steps_free(&slot->waiters);
    free(slot);
}

/* Chunks with the same tag share a slot: the later one counts as done, as in Salt's `running` dict. */
static void
make_steps(run_t *run)
{
    json_t *low;
    size_t i;

    run->n = json_array_size(run->chunks);
    run->steps = xcalloc(run->n + 1, sizeof(*run->steps));
    run->slots = map_new(slot_free);
    json_array_foreach (run->chunks, i, low) {
        step_t *step = &run->steps[i];
        step->low = json_incref(low);
        step->tag = state_tag(low);
        step->slot = map_get(run->slots, step->tag);
        if (step->slot == NULL) {
            step->slot = xcalloc(1, sizeof(*step->slot));
            map_set(run->slots, step->tag, step->slot);
        }
    }
    run_index(run);
}

static void
free_steps(run_t *run)
{
    for (size_t i = 0; i < run->n; i++) {
        run_free_reqs(&run->steps[i]);
        json_decref(run->steps[i].low);
        free(run->steps[i].tag);
    }
    free(run->steps);
    free(run->stack);
    steps_free(&run->ready);
    run_index_free(run);
    map_destroy(&run->slots);
    json_decref(run->shared);
}

/* Chunks in their order; returns of workers are collected between them, and awaited at the end. */
static void
state_run_all(run_t *run)
{
    for (size_t i = 0; i < run->n && !run->stop; i++) {
        if (run->at_work > 0)
            run_reap(run, 0);
        if (run->steps[i].slot->state != SLOT_NEW)
            continue;
        if (run->env->only_id != NULL &&
            !str_eq(run->env->only_id, value_str(run->steps[i].low, "__id__", NULL)))
            continue;
        if (run->stop || !run_may_go_on(run, &run->steps[i]))
            break;

        /* Run one step and everything that it needs. A stop (failhard, soft_kill) empties the stack without
         * returns. */
        state_run_push(run, i, false);
        while (run->depth > 0 && !run->stop) {
            frame_t *top = &run->stack[run->depth - 1];
            if (top->walking)
                state_run_walk(run, top);
            else
                state_run_enter(run, top);
        }
        while (run->depth > 0)
            state_run_pop(run);
    }
    while (run->at_work > 0)
        run_reap(run, -1);
}

/* ---- what is disabled ---------------------------------------------------------------------- */

/* Remove the chunks that the grain state_runs_disabled matches; each gets a return that says so. */
static void
take_disabled(run_t *run)
{
    json_t *patterns = value_get(ctx_grains(run->env->ctx), "state_runs_disabled"), *low, *pattern;
    size_t k;

    for (size_t i = 0; patterns != NULL && (low = json_array_get(run->chunks, i)) != NULL;) {
        AUTO_FREE char *full = xasprintf("%s.%s", value_str(low, "state", ""), value_str(low, "fun", ""));
        const char *by = NULL; /* the first pattern that fits */
        json_array_foreach (patterns, k, pattern) {
            if (by == NULL && json_is_string(pattern) && match_glob(json_string_value(pattern), full))
                by = json_string_value(pattern);
        }
        if (by == NULL) {
            i++;
            continue;
        }
        AUTO_FREE char *tag = state_tag(low),
                       *text = xasprintf("The state function \"%s\" is currently disabled by \"%s\", to "
                                         "re-enable, run state.enable %s.",
                                         full, by, by);
        json_object_set_new(run->running, tag,
                            state_not_called(low, false, text, false, run->caller.run_num++));
        json_array_remove(run->chunks, i);
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Set up a run. `inited` is shared between the runs of one call, so that mod_init runs once per module. */
static void
state_run_init(run_t *run, const state_run_env_t *env, json_t *chunks, map_t *inited, const char *run_id)
{
    *run = (run_t){ .env = env, .chunks = chunks, .running = json_object(), .inited = inited };
    run->caller = (state_caller_t){ .ctx = env->ctx,
                                    .chunks = chunks,
                                    .running = run->running,
                                    .run_id = run_id,
                                    .pillar_ask = env->pillar_ask,
                                    .mocked = env->mocked,
                                    .wait = run_wait,
                                    .wait_cookie = run };
}

/* Run further chunks after all others and add their returns. Run numbers go on. */
static void
run_more(run_t *first, json_t *chunks, const char *run_id)
{
    run_t run;

    if (json_array_size(chunks) == 0)
        return;
    state_run_init(&run, first->env, chunks, first->inited, run_id);
    run.caller.run_num = first->caller.run_num;
    make_steps(&run);
    state_run_all(&run);
    json_object_update(first->running, run.running);
    first->caller.run_num = run.caller.run_num;
    free_steps(&run);
    json_decref(run.running);
}

json_t *
state_run(const state_run_env_t *env, json_t *chunks)
{
    run_t run;
    char run_id[CLOCK_STAMP_LEN];
    map_t *inited = map_new(NULL);

    clock_jid(run_id);
    state_run_init(&run, env, chunks, inited, run_id);
    take_disabled(&run);
    make_steps(&run);
    state_run_all(&run);
    if (env->only_id == NULL) {
        /* `listen` first, then beacons: both act on what the run has changed. */
        json_auto_t *errors = json_object(), *listeners = run_listeners(&run, errors),
                    *beacons = run_beacons(run.chunks);
        const char *tag;
        json_t *ret;
        run_more(&run, listeners, run_id);
        json_object_foreach (errors, tag, ret) {
            json_object_set_new(ret, "__run_num__", json_integer((json_int_t) run.caller.run_num++));
            json_object_set(run.running, tag, ret);
        }
        run_more(&run, beacons, run_id);
    }
    free_steps(&run);

    /* Deletes the run's pauses; they hold for one run only. */
    fail_auto_t err = FAIL_INIT;
    const char *cachedir = value_str(ctx_opts(env->ctx), "cachedir", "");
    if (!str_empty(env->jid) && *cachedir != '\0' && state_pauses_set(cachedir, env->jid, NULL, &err) < 0)
        log_debug("%s", fail_text(&err));

    map_destroy(&inited);
    return run.running;
}

/* The chunk is a list of its own: mod_aggregate sees no other chunk, and no requisite holds it up. */
json_t *
state_run_one(const state_run_env_t *env, json_t *chunk)
{
    run_t run;
    char run_id[CLOCK_STAMP_LEN];
    map_t *inited = map_new(NULL);
    json_auto_t *chunks = json_pack("[O]", chunk);

    clock_jid(run_id);
    state_run_init(&run, env, chunks, inited, run_id);
    make_steps(&run);
    run_prepare(&run, &run.steps[0]);
    json_t *ret = state_call(&run.caller, run.steps[0].low, false);
    free_steps(&run);
    json_decref(run.running);
    map_destroy(&inited);
    return ret;
}
