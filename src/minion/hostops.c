/* hostops.c - what a job's child may ask of the job server: a row per operation. */
#include "minion/jobserver.h"

#include <signal.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "minion/mbus.h"
#include "minion/mschedule.h"
#include "minion/relay.h"
#include "salt/value.h"

/* NEW value; NULL with *err, or without: the answer comes later. */
typedef json_t *hostop_fn(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err);

/* As saltutil.running shows a job: what was published, and the child's pid. */
static json_t *
s_show(const job_proc_t *p)
{
    static const char *const fields[] = { "tgt", "jid", "tgt_type", "ret", "user", "arg", "fun", "schedule" };
    json_t *out = json_object(), *v;
    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(p->job, fields[i])))
            json_object_set(out, fields[i], v);
    json_object_set_new(out, "pid", json_integer(p->pid));
    return out;
}

static json_t *
s_running(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    json_t *all = json_array();
    for (const job_proc_t *p = self->jobs; p; p = p->next)
        if (p != asker && !p->returned)
            json_array_append_new(all, s_show(p));
    return all;
}

/* {jid, signal} -> {pid}; null when no such job runs. */
static json_t *
s_signal(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    const char *jid = value_str(request, "jid", "");
    int sig = (int) value_int(request, "signal", SIGTERM);
    for (const job_proc_t *p = self->jobs; p; p = p->next) {
        if (p == asker || p->returned || !str_eq(value_str(p->job, "jid", ""), jid))
            continue;
        int rc = sig > 0 && sig < NSIG ? job_signal(p, sig) : -EINVAL;
        if (rc == 0)
            return json_pack("{s:i}", "pid", (int) p->pid);
        (void) fail_set(err, rc, "signal %d to job %s: %s", sig, jid, strerror(-rc));
        return NULL;
    }
    return json_null();
}

static void
s_event_grains(jobserver_t *self, const json_t *data)
{
    self->grains_again = true;
    mgrains_gather(self);
    mgrains_push(self);
}

static json_t *
s_refresh_grains(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    s_event_grains(self, NULL);
    return json_true();
}

static void
s_clear(const char *name, bool unset)
{
    (void) (unset ? unsetenv(name) : setenv(name, "", 1));
}

/* environ.setenv with update_minion: later jobs inherit it. {environ: {NAME: text or false}, false_unsets,
 * clear_all} */
static void
s_setenv(const json_t *data)
{
    json_t *wanted = value_get(data, "environ"), *v;
    bool unset = value_bool(data, "false_unsets", false);
    const char *name;
    json_auto_t *others = json_object();
    for (char **e = environ; value_bool(data, "clear_all", false) && *e; e++) {
        AUTO_FREE char *key = xstrndup(*e, strcspn(*e, "="));
        if (!value_get(wanted, key))
            json_object_set_new(others, key, json_true());
    }
    json_object_foreach (others, name, v)
        s_clear(name, unset);
    json_object_foreach (wanted, name, v) {
        if (json_is_string(v))
            (void) setenv(name, json_string_value(v), 1);
        else if (json_is_false(v))
            s_clear(name, unset);
    }
}

static void
s_event_setenv(jobserver_t *self, const json_t *data)
{
    s_setenv(data);
}

static void
s_event_pillar(jobserver_t *self, const json_t *data)
{
    mpillar_refresh(self, NULL, value_bool(data, "clean_cache", false), 0);
}

/* A module's event that goes on to the masters. {tag, data, preload?: {name: value}, events?: [{tag, data}]}
 */
static void
s_event_fire_master(jobserver_t *self, const json_t *data)
{
    const char *tag = value_str(data, "tag", "");
    json_t *one;
    size_t i;
    if (*tag && value_get(data, "data"))
        jobserver_event(self, tag, value_get(data, "data"), value_get(data, "preload"));
    json_array_foreach (value_get(data, "events"), i, one)
        if (value_get(one, "tag"))
            jobserver_event(self, value_str(one, "tag", ""),
                            value_get(one, "data") ? value_get(one, "data") : one, NULL);
}

/* Salt's events on the minion's own bus: to others than these the reactor may listen.
 * Every job is a fresh process that finds its modules and matchers anew, so that nothing there is stale. */
static json_t *
s_event(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    static const struct {
        const char *tag;
        void (*fn)(jobserver_t *self, const json_t *data);
    } tags[] = {
        { "environ_setenv", s_event_setenv },
        { "fire_master", s_event_fire_master },
        { "grains_refresh", s_event_grains },
        { "pillar_refresh", s_event_pillar },
    };
    const char *tag = value_str(request, "tag", "");
    for (size_t i = 0; i < NELEMS(tags); i++)
        if (str_starts(tag, tags[i].tag))
            tags[i].fn(self, value_get(request, "data"));
    mbus_event(self->bus, tag, value_get(request, "data"));
    return json_true();
}

/* {ask} -> the pillar compiled for it, as common/py/py_wire.h has it. */
static json_t *
s_pillar(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    mpillar_ask(self, asker, value_get(request, "ask"));
    return NULL;
}

/* {ask} -> what a master answers: see relay.h. */
static json_t *
s_ask(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    (void) relay_ask(self->relay, asker, value_get(request, "ask"), err);
    return NULL;
}

static json_t *
s_schedule(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    return mschedule_ask(self->schedule, request, err);
}

/* {timeout: seconds, clean_cache} -> whether the new pillar came in that time. */
static json_t *
s_refresh_pillar(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    json_int_t seconds = value_int(request, "timeout", 30);
    mpillar_refresh(self, asker, value_bool(request, "clean_cache", false),
                    seconds > 0 && seconds < 3600 ? (int) seconds * 1000 : 30000);
    return NULL;
}

/* To every master: delete my key. {preserve_minion_cache} -> whether somebody can be told */
static json_t *
s_revoke(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    bool keep = value_bool(request, "preserve_minion_cache", false);
    json_t *frame = json_pack("{s:s, s:b}", "t", "revoke", "preserve_minion_cache", keep);
    bool told = self->session_fd >= 0;
    jobserver_down(self, &frame);
    return json_boolean(told);
}

/* A new key for this minion, when every master has it. */
static json_t *
s_rekey(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    if (str_eq(value_str(self->opts, "master_type", ""), "failover")) {
        (void) fail_set(
            err, -EPERM,
            "With master_type failover the masters that are not asked now would not know the new key");
        return NULL;
    }
    if (self->session_fd < 0) {
        (void) fail_set(err, -ENOTCONN, "The networking process is not running at the moment; try again");
        return NULL;
    }
    json_t *frame = json_pack("{s:s}", "t", "rekey");
    jobserver_down(self, &frame);
    return json_true();
}

/* The asking job returns first: see jobserver_run. */
static json_t *
s_end(jobserver_t *self, job_proc_t *asker, bool restart)
{
    self->ending = restart ? JOBSERVER_RESTART : JOBSERVER_STOP;
    self->ending_job = asker->pid;
    return json_pack("{s:i}", "pid", (int) getpid());
}

static json_t *
s_stop(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    return s_end(self, asker, false);
}

static json_t *
s_restart(jobserver_t *self, job_proc_t *asker, json_t *request, fail_t *err)
{
    return s_end(self, asker, true);
}

static const struct {
    const char *name;
    hostop_fn *fn;
} rows[] = {
    { "running", s_running },
    { "signal", s_signal },
    { "refresh_grains", s_refresh_grains },
    { "refresh_pillar", s_refresh_pillar },
    { "pillar", s_pillar },
    { "ask", s_ask },
    { "event", s_event },
    { "revoke", s_revoke },
    { "schedule", s_schedule },
    { "rekey", s_rekey },
    { "stop", s_stop },
    { "restart", s_restart },
};

static json_t *
s_refusal(const fail_t *err)
{
    return json_pack("{s:b, s:s, s:i}", "ok", false, "error", fail_text(err), "code", -err->code);
}

json_t *
hostops_answer(jobserver_t *self, job_proc_t *asker, json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    const char *op = value_str(request, "op", "");
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (!str_eq(op, rows[i].name))
            continue;
        json_t *v = rows[i].fn(self, asker, request, &err);
        if (!v && err.code == 0)
            return NULL;
        return v ? json_pack("{s:b, s:o}", "ok", true, "value", v) : s_refusal(&err);
    }
    (void) fail_set(&err, -ENOTSUP, "a minion has no operation '%s'", op);
    return s_refusal(&err);
}
