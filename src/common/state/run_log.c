/* run_log.c - the run's log at level debug: which step waits for which, and why each is called or not. Logs
 * names of states, never their arguments, which may hold secrets. */
#include "common/base/str.h"
#include "common/state/run_int.h"
#include "salt/log.h"
#include "salt/state.h"

static const char *const decisions[] = {
    [STATUS_MET] = "its requisites are met: it is called",
    [STATUS_UNMET] = "a requisite is not to be found, or needs it itself: it is not called",
    [STATUS_PENDING] = "a requisite is under way: it waits",
    [STATUS_FAIL] = "a requisite has failed: it is not called",
    [STATUS_PRE] = "what it is a prereq of changes nothing: it is not called",
    [STATUS_ONFAIL] = "nothing of onfail has failed: it is not called",
    [STATUS_ONCHANGES] = "nothing of onchanges has changed: it is not called",
    [STATUS_CHANGE] = "something that it watches has changed: it is called, with mod_watch",
};

/* NEW "pkg.installed 'nginx' (SLS web)". */
static char *
run_log_name_of(const step_t *step)
{
    return xasprintf("%s.%s '%s' (SLS %s)", value_str(step->low, "state", ""),
                     value_str(step->low, "fun", ""), value_str(step->low, "__id__", ""),
                     value_str(step->low, "__sls__", ""));
}

void
run_log_decision(const run_t *run, const step_t *step, bool pre, run_status_t status)
{
    if (!log_wants(LEVEL_DEBUG))
        return;
    AUTO_FREE char *name = run_log_name_of(step);
    for (size_t i = 0; i < step->n_reqs; i++) {
        const req_t *req = &step->reqs[i];
        if (req->steps == NULL)
            log_debug("State %s: %s %s: %s: there is no such state", name, req_name(req->kind), req->key,
                      req->value);
        for (size_t k = 0; req->steps != NULL && k < req->steps->n; k++) {
            /* A prereq asks for the test run, if there was one. */
            const step_t *on = &run->steps[req->steps->v[k]];
            const json_t *ret = req->kind == REQ_PREREQ && on->slot->pre != NULL ? on->slot->pre
                                                                                 : on->slot->ret;
            AUTO_FREE char *other = run_log_name_of(on);
            log_debug("State %s: %s %s, which %s", name, req_name(req->kind), other,
                      ret == NULL                               ? "has not run"
                      : json_is_false(value_get(ret, "result")) ? "has failed"
                      : run_changed(run, on->slot, ret)         ? "has changes"
                                                                : "has no changes");
        }
    }
    log_debug("State %s: %s%s", name,
              step->n_reqs > 0 ? decisions[status] : "it has no requisites: it is called",
              pre ? ", in test mode, for what it is required by" : "");
}

void
run_log_end(const step_t *step, const json_t *ret)
{
    if (!log_wants(LEVEL_DEBUG))
        return;
    AUTO_FREE char *name = run_log_name_of(step);
    const json_t *result = value_get(ret, "result");
    log_debug("State %s: result %s, %s in %.3f ms", name,
              json_is_true(result)    ? "True"
              : json_is_false(result) ? "False"
                                      : "None",
              state_changed(ret) ? "changes" : "no changes", value_num(ret, "duration", 0));
}
