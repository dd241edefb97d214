/* started.c - what a minion does once: the start event when its first master listens, then startup_states;
 * these also when there is none for too long. */
#include <time.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "minion/jobserver.h"
#include "salt/log.h"
#include "salt/value.h"

/* NEW: the grains that start_event_grains names; NULL: it names none. */
static json_t *
s_named_grains(jobserver_t *self)
{
    json_t *names = value_get(self->opts, "start_event_grains"), *one;
    size_t i;
    if (json_array_size(names) == 0)
        return NULL;
    json_t *named = json_object();
    json_array_foreach (names, i, one) {
        const char *name = json_string_value(one);
        if (name && value_get(self->grains, name))
            json_object_set(named, name, value_get(self->grains, name));
    }
    return named;
}

static void
s_event(jobserver_t *self)
{
    char when[64];
    struct tm tm;
    time_t now = time(NULL);
    (void) strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", localtime_r(&now, &tm));
    json_auto_t *text = value_fmt("Minion %s started at %s", self->env.id, when);
    json_auto_t *grains = s_named_grains(self);
    json_auto_t *more = grains ? json_pack("{s:O}", "grains", grains) : NULL;
    AUTO_FREE char *tag = xasprintf("salt/minion/%s/start", self->env.id);
    if (value_bool(self->opts, "enable_legacy_startup_events", true))
        jobserver_event(self, "minion_start", text, more);
    jobserver_event(self, tag, text, more);
}

#define STATES_USER "startup_states" /* on whose behalf they run */

/* Its return goes to the master as that of any job. */
static void
s_states(jobserver_t *self)
{
    const char *which = value_str(self->opts, "startup_states", "");
    char jid[CLOCK_STAMP_LEN];
    if (str_empty(which))
        return;
    clock_jid(jid);
    json_auto_t *job = json_pack("{s:s, s:s, s:[]}", "jid", jid, "fun", "state.highstate", "arg");
    json_t *arg = value_get(job, "arg");
    if (str_eq(which, "sls")) {
        json_object_set_new(job, "fun", json_string("state.sls"));
        json_array_append(arg, value_get(self->opts, "sls_list"));
    } else if (str_eq(which, "top")) {
        json_object_set_new(job, "fun", json_string("state.top"));
        json_array_append(arg, value_get(self->opts, "top_file"));
    }
    json_object_set_new(job, "user", json_string(STATES_USER));
    jobserver_job(self, job, -1);
}

static void
s_states_once(jobserver_t *self)
{
    if (!self->states_begun)
        s_states(self);
    self->states_begun = true;
}

void
started_connected(jobserver_t *self)
{
    if (self->started_told)
        return;
    self->started_told = true;
    s_event(self);
    s_states_once(self);
}

void
started_tick(jobserver_t *self)
{
    if (!self->states_begun && jobserver_is_offline(self))
        s_states_once(self);
}

int64_t
started_next_ms(const jobserver_t *self)
{
    return self->states_begun ? 0 : jobserver_offline_ms(self);
}

void
started_alone(jobserver_t *self)
{
    self->states_begun = true;
    if (str_empty(value_str(self->opts, "startup_states", "")))
        return;
    if (str_eq(value_str(self->opts, "file_client", "remote"), "local"))
        s_states(self);
    else
        log_warning(
            "startup_states are left out: master_type is disable and file_client is remote, so there are "
            "no files for them");
}

static size_t
s_count_failed(const json_t *states)
{
    size_t n = 0;
    const char *tag;
    json_t *one;
    json_object_foreach ((json_t *) states, tag, one)
        n += json_is_false(value_get(one, "result"));
    return n;
}

void
started_returned(const json_t *job, const json_t *ret)
{
    const json_t *states = value_get(ret, "return");
    size_t failed = s_count_failed(states);
    if (!str_eq(value_str(job, "user", ""), STATES_USER) || value_int(ret, "retcode", 0) == 0)
        return;
    if (failed > 0) {
        log_warning("startup_states: %zu of %zu states failed: 'salt-run jobs.lookup_jid %s' on the master "
                    "shows them",
                    failed, json_object_size(states), value_str(job, "jid", ""));
        return;
    }
    AUTO_FREE char *why = value_pystr(states);
    log_warning("startup_states did not run: %s", why);
}
