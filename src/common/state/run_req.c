/* run_req.c - evaluate the requisites of a step: Salt's check_requisite.
 *
 * Each required chunk gives flags; those of one kind are combined (run_req_settle()), then those of all
 * kinds, and run_status() picks the outcome by Salt's precedence: unmet before pending before failed
 * before prereq, onfail, onchanges, watch. */
#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/limits.h"
#include "salt/state.h"

/* The findings of one kind of requisite, then of all together. */
enum {
    F_UNMET = 1 << 0,
    F_FAIL = 1 << 1,
    F_PRE = 1 << 2,
    F_PREMET = 1 << 3,
    F_ONFAIL = 1 << 4,       /* nothing has failed */
    F_ONCHANGES = 1 << 5,    /* nothing has changed */
    F_ONCHANGESMET = 1 << 6, /* something has changed */
    F_CHANGE = 1 << 7,
    F_MET = 1 << 8,
    F_PENDING = 1 << 9
};

static bool
is_onfail(req_kind_t k)
{
    return k == REQ_ONFAIL || k == REQ_ONFAIL_ANY || k == REQ_ONFAIL_ALL;
}

/* True when a return is a prediction: in test mode, or from a prereq's test run. */
static bool
is_foretold(const run_t *run, const slot_t *slot, const json_t *ret)
{
    return ctx_test(run->env->ctx) || ret == slot->pre;
}

bool
run_changed(const run_t *run, const slot_t *slot, const json_t *ret)
{
    return state_changed(ret) ||
           (is_foretold(run, slot, ret) && !slot->held && json_is_null(value_get(ret, "result")));
}

/* Flags for the return of one required chunk. In test mode a predicted change counts as made, also where the
 * state can't name its changes. For `onchanges` a state that failed has changed nothing, as in Salt since
 * 3006.28. */
static unsigned
run_req_flags_of(const run_t *run, const slot_t *slot, req_kind_t k, const json_t *ret)
{
    const json_t *result = value_get(ret, "result");

    /* A state that a failed `prereq` held back has result None and counts as failed. A prediction with None
     * has not failed, although Salt takes it so. */
    bool failed = json_is_false(result) ||
                  (json_is_null(result) && (slot->held || !is_foretold(run, slot, ret)));
    if (is_onfail(k) && !failed)
        return F_ONFAIL;
    if (k == REQ_ONCHANGES || k == REQ_ONCHANGES_ANY)
        return !json_is_false(result) && run_changed(run, slot, ret) ? F_ONCHANGESMET : F_ONCHANGES;
    if (!is_onfail(k) && json_is_false(result))
        return F_FAIL;
    if ((k == REQ_WATCH || k == REQ_WATCH_ANY) && run_changed(run, slot, ret))
        return F_CHANGE;
    if (k == REQ_PREREQ)
        return json_is_null(result) ? F_PREMET | F_MET : F_PRE;
    if (k == REQ_PREREQUIRED && !json_is_null(result))
        return 0;
    return value_bool(ret, "__state_ran__", true) ? F_MET : 0;
}

/* Flags for one required chunk. A requisite that is with a worker is set in *ret_pending. */
static unsigned
run_req_look_at(const run_t *run, slot_t *slot, req_kind_t k, bool pre, slot_t **ret_pending)
{
    if (k == REQ_PREREQ && slot->pre == NULL && slot->state == SLOT_DONE && !state_changed(slot->ret))
        return run_req_flags_of(run, slot, k, slot->ret);
    if (k == REQ_PREREQ)
        return slot->pre != NULL ? run_req_flags_of(run, slot, k, slot->pre) : F_UNMET;
    /* The asker is itself only tested, because this step waits for it or is tested beside it. */
    if (pre && slot->state == SLOT_NEW && slot->pre != NULL)
        return run_req_flags_of(run, slot, k, slot->pre);
    if (pre && slot->state == SLOT_NEW && (slot->active || slot->pre_active))
        return 0;
    if (slot->state == SLOT_NEW)
        return F_UNMET;
    if (slot->state != SLOT_DONE) {
        *ret_pending = slot;
        return F_PENDING;
    }
    return run_req_flags_of(run, slot, k, slot->ret);
}

/* Combine one kind: for the _any kinds, one that is met outweighs the others. */
static unsigned
run_req_settle(req_kind_t k, unsigned flags)
{
    if (k == REQ_REQUIRE_ANY || k == REQ_WATCH_ANY || k == REQ_ONFAIL_ANY || k == REQ_ONCHANGES_ANY ||
        k == REQ_ONFAIL) {
        if ((flags & (F_MET | F_CHANGE)) != 0)
            flags &= ~(unsigned) F_FAIL;
        if ((flags & F_ONCHANGESMET) != 0)
            flags &= ~(unsigned) F_ONCHANGES;
        if ((flags & F_MET) != 0)
            flags &= ~(unsigned) F_ONFAIL;
    }

    if (k == REQ_ONFAIL_ALL && (flags & F_ONFAIL) != 0)
        flags &= ~(unsigned) F_MET;
    return flags;
}

/* `prerequired` does not hold back a test run: that would be a circle. */
static bool
run_req_counts(const req_t *req, bool pre)
{
    return !(pre && req->kind == REQ_PREREQUIRED);
}

/* Relies on requisites being grouped by kind (run_read_reqs()). O(number of required chunks). */
run_status_t
run_status(const run_t *run, const step_t *step, bool pre, slot_t **ret_pending)
{
    unsigned all = 0, of_kind = 0;

    for (size_t i = 0; i < step->n_reqs; i++) {
        const req_t *req = &step->reqs[i];
        if (!run_req_counts(req, pre))
            continue;
        if (req->steps == NULL)
            return STATUS_UNMET;
        for (size_t j = 0; j < req->steps->n; j++)
            of_kind |= run_req_look_at(run, run->steps[req->steps->v[j]].slot, req->kind, pre, ret_pending);
        if (i + 1 == step->n_reqs || step->reqs[i + 1].kind != req->kind) {
            all |= run_req_settle(req->kind, of_kind);
            of_kind = 0;
        }
    }

    /* Decides the status from the flags of all requisites. The order matters: an unmet requisite outweighs
     * one that is still running, and that outweighs a failed one. */
    if ((all & F_UNMET) != 0)
        return STATUS_UNMET;
    if ((all & F_PENDING) != 0)
        return STATUS_PENDING;
    if ((all & F_FAIL) != 0)
        return STATUS_FAIL;
    if ((all & F_PRE) != 0)
        return (all & F_PREMET) != 0 ? STATUS_MET : STATUS_PRE;
    if ((all & F_ONFAIL) != 0 && (all & F_ONCHANGESMET) == 0)
        return STATUS_ONFAIL;
    if ((all & F_ONCHANGES) != 0 && (all & F_ONCHANGESMET) == 0)
        return STATUS_ONCHANGES;
    if ((all & F_CHANGE) != 0)
        return STATUS_CHANGE;
    return (all & F_ONFAIL) != 0 ? STATUS_ONFAIL : STATUS_MET;
}

/* ---- texts --------------------------------------------------------------------------------- */

/* The requisites that name no step, grouped by kind, with Salt's indents. NEW; NULL: all were found. */
char *
run_lost(const step_t *step, bool pre)
{
    buf_auto_t text = BUF_INIT;
    int shown = -1;

    for (size_t i = 0; i < step->n_reqs; i++) {
        const req_t *req = &step->reqs[i];
        if (!run_req_counts(req, pre) || req->steps != NULL)
            continue;
        if (shown < 0)
            buf_puts(&text, "The following requisites were not found:\n");
        if (shown != (int) req->kind)
            buf_printf(&text, "%19s%s:\n", "", req_name(req->kind));
        shown = (int) req->kind;
        buf_printf(&text, "%23s%s: %s\n", "", req->key, req->value);
    }
    return shown >= 0 ? buf_steal(&text) : NULL;
}

/* Names that a requisite could mean: IDs and names of the steps of `state` (NULL: of all), or their SLS. */
typedef struct meant {
    const run_t *run;
    const step_t *asks; /* is not meant itself */
    const char *state;
    bool sls, name; /* name: that of the step is next, its ID was given */
    size_t at;
} meant_t;

static const char *
next_meant(void *cookie)
{
    meant_t *self = cookie;

    for (; self->at < self->run->n; self->at++) {
        const json_t *low = self->run->steps[self->at].low;
        if (&self->run->steps[self->at] == self->asks ||
            (self->state != NULL && !str_eq(value_str(low, "state", NULL), self->state)))
            continue;
        bool second = self->name;
        self->name = !second && !self->sls;
        const char *found = value_str(low, self->sls ? "__sls__" : second ? "name" : "__id__", "");
        if (!self->name)
            self->at++;
        return found;
    }
    return NULL;
}

/* A step of another state module that has the very name or ID. BORROWED, NULL for none. */
static const char *
state_of_name(const run_t *run, const char *name)
{
    for (size_t i = 0; i < run->n; i++) {
        const json_t *low = run->steps[i].low;
        if (str_eq(value_str(low, "__id__", NULL), name) || str_eq(value_str(low, "name", NULL), name))
            return value_str(low, "state", NULL);
    }
    return NULL;
}

char *
run_lost_meant(run_t *run, const step_t *step, bool pre)
{
    buf_auto_t text = BUF_INIT;

    for (size_t i = 0; i < step->n_reqs && run->suggested < LIMIT_SUGGESTIONS; i++) {
        const req_t *req = &step->reqs[i];
        bool sls = strcmp(req->key, "sls") == 0, any = strcmp(req->key, "id") == 0;
        /* Every letter is near another one. */
        if (!run_req_counts(req, pre) || req->steps != NULL || strlen(req->value) < 3)
            continue;
        run->suggested++;
        const char *state = sls ? NULL : state_of_name(run, req->value);
        meant_t walk = { run, step, any || sls ? NULL : req->key, sls, false, 0 };
        const char *near = state == NULL ? str_suggest(req->value, next_meant, &walk) : NULL;
        if (state != NULL)
            buf_printf(&text, "Did you mean '%s: %s'?\n", state, req->value);
        else if (near != NULL && any)
            buf_printf(&text, "Did you mean '%s'?\n", near);
        else if (near != NULL)
            buf_printf(&text, "Did you mean '%s: %s'?\n", req->key, near);
    }
    return text.len > 0 ? buf_steal(&text) : NULL;
}

/* Salt's comment on a step that is not called: "SLS.ID" of each requisite that failed, once each. NEW. */
char *
run_failed_reqs(const run_t *run, const step_t *step)
{
    buf_auto_t text = BUF_INIT;
    json_auto_t *seen = json_object();

    buf_puts(&text, "One or more requisite failed: ");
    for (size_t i = 0; i < step->n_reqs; i++) {
        const steps_t *steps = step->reqs[i].steps;
        for (size_t j = 0; steps != NULL && j < steps->n; j++) {
            const step_t *on = &run->steps[steps->v[j]];
            const json_t *ret = on->slot->pre != NULL ? on->slot->pre : on->slot->ret;
            if (!json_is_false(value_get(ret, "result")))
                continue;
            AUTO_FREE char *name = xasprintf("%s.%s", value_str(on->low, "__sls__", ""),
                                             value_str(on->low, "__id__", ""));
            if (json_object_get(seen, name) != NULL)
                continue;
            buf_printf(&text, "%s%s", json_object_size(seen) > 0 ? ", " : "", name);
            json_object_set_new(seen, name, json_true());
        }
    }
    return buf_steal(&text);
}

/* {"require": [chunk, ...], ...} as mod_watch gets it in __reqs__, with every kind. NEW. */
json_t *
run_reqs_shown(const run_t *run, const step_t *step)
{
    json_t *out = json_object();

    for (int k = 0; k < REQ_KINDS; k++)
        json_object_set_new(out, req_name((req_kind_t) k), json_array());
    for (size_t i = 0; i < step->n_reqs; i++) {
        const steps_t *steps = step->reqs[i].steps;
        for (size_t j = 0; steps != NULL && j < steps->n; j++)
            json_array_append(value_get(out, req_name(step->reqs[i].kind)), run->steps[steps->v[j]].low);
    }
    return out;
}
