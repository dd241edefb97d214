/* started.c - once per start of the minion: the start event when the first master is connected, then
 * startup_states; without a master these run when offline_after has passed.
 */
#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "minion/jobs/jobserver.h"
#include "salt/log.h"
#include "salt/value.h"

#define STATES_USER "startup_states" /* the job's `user`, by which its return is recognised */

typedef struct started {
    jobserver_t *js;
    bool alone;  /* master_type disable: there is no master to wait for */
    bool told;   /* the start event was fired */
    bool states; /* startup_states were begun */
} started_t;

/* Runs startup_states as a job with a return, once. */
static void
states_once(started_t *self)
{
    json_t *opts = self->js->opts;
    const char *which = value_str(opts, "startup_states", "");
    char jid[CLOCK_STAMP_LEN];
    bool again = self->states;
    self->states = true;
    if (again || str_empty(which))
        return;
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[]}", "jid", jid, "fun", "state.highstate", "arg");
    json_t *arg = value_get(job, "arg");
    if (str_eq(which, "sls")) {
        json_object_set_new(job, "fun", json_string("state.sls"));
        json_array_append(arg, value_get(opts, "sls_list"));
    } else if (str_eq(which, "top")) {
        json_object_set_new(job, "fun", json_string("state.top"));
        json_array_append(arg, value_get(opts, "top_file"));
    }
    json_object_set_new(job, "user", json_string(STATES_USER));
    jobserver_job(self->js, job, -1);
}

static void
started_master_up(void *part, int master)
{
    started_t *self = part;
    if (self->told)
        return;
    self->told = true;

    /* Fires Salt's start events, the legacy minion_start among them. */
    jobserver_t *js = self->js;
    char when[64];
    struct tm tm;
    time_t now = time(NULL);
    (void) strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", localtime_r(&now, &tm));
    json_auto_t *text = value_fmt("Minion %s started at %s", js->env.id, when);

    json_auto_t *grains = NULL;
    json_t *names = value_get(js->opts, "start_event_grains"), *one;
    size_t i;
    if (json_array_size(names) != 0) {
        json_t *named = json_object();
        json_array_foreach (names, i, one) {
            const char *name = json_string_value(one);
            if (name != NULL && value_get(js->grains, name) != NULL)
                json_object_set(named, name, value_get(js->grains, name));
        }
        grains = named;
    }

    json_auto_t *more = grains != NULL ? json_pack("{s:O}", "grains", grains) : NULL;
    AUTO_FREE char *tag = xasprintf("salt/minion/%s/start", js->env.id);
    if (value_bool(js->opts, "enable_legacy_startup_events", true))
        jobserver_event(js, "minion_start", text, more);
    jobserver_event(js, tag, text, more);

    states_once(self);
}

/* Runs startup_states without a master: at once under master_type disable, else when offline. */
static void
started_tick(void *part, int64_t now_ms)
{
    started_t *self = part;
    json_t *opts = self->js->opts;
    if (self->states || (!self->alone && !jobserver_is_offline(self->js)))
        return;
    bool files = !self->alone || str_eq(value_str(opts, "file_client", "remote"), "local");
    if (!files && !str_empty(value_str(opts, "startup_states", "")))
        log_warning(
            "startup_states are left out: master_type is disable and file_client is remote, so there are "
            "no files for them");
    if (files)
        states_once(self);
    self->states = true;
}

static int64_t
started_next_ms(void *part)
{
    started_t *self = part;
    return self->states ? 0 : jobserver_offline_ms(self->js);
}

/* Logs startup_states that failed. */
static void
started_job_returned(void *part, json_t *job, const jobret_t *ret)
{
    if (!str_eq(value_str(job, "user", ""), STATES_USER))
        return;
    json_auto_t *value = jobret_value(ret);
    json_t *states = value_get(value, "return"), *one;
    const char *tag;
    size_t failed = 0;
    if (value_int(value, "retcode", 0) == 0)
        return;
    json_object_foreach (states, tag, one)
        failed += json_is_false(value_get(one, "result"));
    if (failed > 0) {
        log_warning("startup_states: %zu of %zu states failed: 'salt-run jobs.lookup_jid %s' on the master "
                    "shows them",
                    failed, json_object_size(states), value_str(job, "jid", ""));
        return;
    }
    AUTO_FREE char *why = value_pystr(states);
    log_warning("startup_states did not run: %s", why);
}

static void *
started_start(jobserver_t *js, fail_t *err)
{
    started_t *self = xcalloc(1, sizeof(*self));
    self->js = js;
    self->alone = str_eq(value_str(js->opts, "master_type", ""), "disable");
    return self;
}

const minion_part_t minion_part_startup = {
    .name = "startup",
    .start = started_start,
    .destroy = free,
    .tick = started_tick,
    .next_ms = started_next_ms,
    .master_up = started_master_up,
    .job_returned = started_job_returned,
};
