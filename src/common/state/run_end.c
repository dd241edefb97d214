/* run_end.c - a step has its return: tell of it (log, events), record its sub-states, stop at failhard, and
 * wake the steps that wait for it. */
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/log.h"
#include "salt/state.h"

/* Name the event: "salt/state_result/JID/ID/NAME" for the chunk's fire_event, "salt/job/JID/prog/ID/NUMBER"
 * for the option state_events. */
static char *
event_tag(const run_t *run, const json_t *low, const json_t *ret)
{
    const json_t *asked = value_get(low, "fire_event");
    const char *id = ctx_id(run->env->ctx), *jid = run->env->jid;

    if (json_is_true(asked)) {
        AUTO_FREE char *name = value_pystr(value_get(ret, "name"));
        return xasprintf("salt/state_result/%s/%s/%s", jid, id, name);
    }
    if (json_is_string(asked) && value_truthy(asked))
        return xasprintf("salt/state_result/%s/%s/%s", jid, id, json_string_value(asked));
    return xasprintf("salt/job/%s/prog/%s/%lld", jid, id, (long long) value_int(ret, "__run_num__", 0));
}

/* NEW reference to from[key], or `other` where it is missing. TAKES `other`. */
static json_t *
or_new(const json_t *from, const char *key, json_t *other)
{
    json_t *v = value_get(from, key);

    if (v == NULL)
        return other;
    json_decref(other);
    return json_incref(v);
}

void
run_ended(run_t *run, size_t i)
{
    step_t *step = &run->steps[i];
    slot_t *slot = step->slot;

    slot->state = SLOT_DONE;
    run->finished++;
    run_log_end(step, slot->ret);
    if (run->env->ended != NULL)
        run->env->ended(run->env->watch_cookie, step->low, slot->ret);

    /* Fires the event of a state's end, if the state or the configuration asks for it. Without a job no
     * event is sent. */
    const json_t *low = step->low;
    json_t *ret = slot->ret;
    fail_auto_t err = FAIL_INIT;
    bool asked = value_truthy(value_get(low, "fire_event"));
    if (!str_empty(run->env->jid) && (asked || value_bool(ctx_opts(run->env->ctx), "state_events", false))) {
        AUTO_FREE char *tag = event_tag(run, low, ret);
        json_auto_t *data = json_pack("{s:O}", "ret", ret);
        if (!asked)
            json_object_set_new(data, "len", json_integer((json_int_t) run->n));
        if (ctx_fire(run->env->ctx, tag, data, &err) < 0)
            log_debug("%s: %s", tag, fail_text(&err));
    }

    /* Record each entry of sub_state_run as a return of its own, then remove the list. */
    json_t *subs = value_get(step->slot->ret, "sub_state_run"), *sub;
    static const char *const keys[] = { "__sls__", "__id__", "name" };

    json_array_foreach (subs, i, sub) {
        json_auto_t *chunk = json_copy(value_get(sub, "low"));
        AUTO_FREE char *tag = state_tag(chunk);
        run->caller.run_num++;
        json_t *answer = state_not_called(chunk, true, "", false, run->caller.run_num);
        json_object_set_new(answer, "changes", or_new(sub, "changes", json_object()));
        json_object_set_new(answer, "result", or_new(sub, "result", json_null()));
        json_object_set_new(answer, "duration", or_new(sub, "duration", json_real(0)));
        json_object_set_new(answer, "comment", or_new(sub, "comment", json_string("")));
        json_object_set_new(answer, "__state_ran__", json_true());
        for (size_t k = 0; k < NELEMS(keys); k++)
            json_object_set_new(answer, keys[k], or_new(step->low, keys[k], json_null()));
        json_object_set_new(run->running, tag, answer);
    }
    if (subs != NULL)
        json_object_del(step->slot->ret, "sub_state_run");

    /* The chunk's own word outweighs the option. A test run goes on, to show all that would happen. */
    const json_t *own = value_get(step->low, "failhard");
    if (!ctx_test(run->env->ctx) && json_is_false(value_get(slot->ret, "result")) &&
        value_truthy(own != NULL ? own : value_get(ctx_opts(run->env->ctx), "failhard")))
        run->stop = true;
    for (size_t k = 0; k < slot->waiters.n; k++)
        steps_add(&run->ready, slot->waiters.v[k]);
    steps_free(&slot->waiters);
}

void
run_record(run_t *run, size_t i, json_t *ret)
{
    step_t *step = &run->steps[i];

    json_object_set_new(run->running, step->tag, ret);
    step->slot->ret = json_incref(ret);
    run_ended(run, i);
}
