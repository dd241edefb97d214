/* schedule.c - the schedule of the master: runners, as the option `schedule` of its configuration says. It
 * runs as an engine; the master starts it when there is a schedule (common/conf/engines.h). How each job fares
 * is in schedule.json of cachedir, and the event salt/schedule/run begins one out of turn: by these two the
 * runner `schedule` shows and runs jobs. No minion may fire that event (common/net/tags.h). */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/local/client.h"
#include "common/plugin/returning.h"
#include "common/schedule/schedule.h"
#include "plugins/lib/engine/enginebus.h"
#include "salt/log.h"

#define WAIT_MAX_MS 60000 /* between two looks at what is due */
#define AGAIN_S     1.0

/* The engine's state. A run is in `asked` until the master has given it a jid, then in `runs`. */
typedef struct sched {
    call_ctx_t *ctx;
    schedule_t *engine;
    local_client_t *line;
    json_t *asked; /* owned: {request's number: {name, fun, item}}: not answered yet */
    json_t *runs;  /* owned: {jid: the same}: under way */
} sched_t;

/* Both clocks: the wall's for times of the day, the other for intervals, which a set clock must not
 * change. */
static schedule_now_t
sched_now(void)
{
    return (schedule_now_t){ clock_wall_us(), clock_mono_ms() };
}

/* A number below n, for the splay of jobs. */
static uint32_t
sched_roll(void *cookie, uint32_t n)
{
    uint32_t r;

    key_random(&r, sizeof(r));
    return n > 0 ? r % n : 0;
}

/* How many of the objects are runs of that job. */
static size_t
sched_count(const json_t *jobs, const char *name)
{
    const char *key;
    json_t *job;
    size_t n = 0;

    json_object_foreach ((json_t *) jobs, key, job)
        n += str_eq(value_str(job, "name", ""), name);
    return n;
}

/* For maxrunning: runs count from the moment they are asked for. */
static size_t
sched_running(void *cookie, const char *name)
{
    const sched_t *self = cookie;

    return sched_count(self->asked, name) + sched_count(self->runs, name);
}

/* Messages of the schedule about its jobs go to the log. */
static void
sched_tell(void *cookie, int rc, const char *why)
{
    if (rc < 0)
        log_error("schedule: %s", why);
    else
        log_info("schedule: %s", why);
}

/* The arguments as salt-run gives them: a list, with the keywords as its last element. NEW. */
static json_t *
sched_words(const json_t *item)
{
    const json_t *args = value_get(item, "args"), *kwargs = value_get(item, "kwargs");
    json_t *words = json_is_array(args) ? json_copy((json_t *) args) : json_array();

    if (json_object_size(kwargs) > 0) {
        json_t *named = json_copy((json_t *) kwargs);
        json_object_set_new(named, "__kwarg__", json_true());
        json_array_append_new(words, named);
    }
    return words;
}

/* Asks the master to run one. */
static int
sched_begin(sched_t *self, json_t *job, fail_t *err)
{
    json_t *request = json_pack("{s:s, s:s, s:o, s:b}", "op", "runner", "fun", value_str(job, "fun", ""),
                                "arg", sched_words(value_get(job, "item")), "follow", true);
    json_int_t n = 0;
    int rc = local_post(self->line, &request, &n, err);

    if (rc < 0)
        return rc;
    AUTO_FREE char *key = xasprintf("%lld", (long long) n);
    json_object_set(self->asked, key, job);
    log_info("schedule: running %s (%s)", value_str(job, "name", ""), value_str(job, "fun", ""));
    return 0;
}

/* Writes how all jobs fare, for who asks. */
static void
sched_show(sched_t *self)
{
    const json_t *all = value_get(ctx_opts(self->ctx), "schedule");
    AUTO_FREE char *path = fs_join(value_str(ctx_opts(self->ctx), "cachedir", ""), "schedule.json");
    json_auto_t *shown = json_pack("{s:i, s:{}}", "pid", (int) getpid(), "jobs");
    fail_auto_t err = FAIL_INIT;
    const char *name;
    json_t *item;

    json_object_foreach ((json_t *) all, name, item) {
        json_t *job = schedule_status(self->engine, name, SCHEDULE_FORMAT, sched_now());
        if (job == NULL)
            continue;
        json_object_set_new(job, "_running", json_integer((json_int_t) sched_running(self, name)));
        json_object_set_new(value_get(shown, "jobs"), name, job);
    }
    AUTO_FREE char *text = value_dump(shown);
    if (fs_write_quick(path, text, strlen(text), 0600, &err) < 0)
        log_warning("schedule: %s", fail_text(&err));
}

/* Begins the job that an event names, unless as many run as may. */
static int
sched_run_now(sched_t *self, const json_t *event, fail_t *err)
{
    const char *name = value_str(value_get(event, "data"), "name", "");
    json_auto_t *job = schedule_run(self->engine, name, sched_now());

    if (job != NULL)
        return sched_begin(self, job, err);
    log_warning("schedule: %.100s is to run now, and can't: it is none of the schedule, or runs already",
                name);
    return 0;
}

/* A reply, {n, ok, jid}, or the end of a run, {push: "runner", jid, ...}. */
static void
sched_heard(sched_t *self, const json_t *said)
{
    AUTO_FREE char *n = xasprintf("%lld", (long long) value_int(said, "n", -1));
    json_auto_t *job = json_incref(value_get(self->asked, n));
    const char *jid = value_str(said, "jid", "");

    if (job != NULL) {
        json_object_del(self->asked, n);
        if (value_bool(said, "ok", false))
            json_object_set(self->runs, jid, job);
        else
            log_error("schedule: %s: %s", value_str(job, "name", ""), value_str(said, "error", "refused"));
    }
    if (!str_eq(value_str(said, "push", ""), "runner") || value_get(self->runs, jid) == NULL)
        return;
    json_auto_t *ran = json_incref(value_get(self->runs, jid));
    json_object_del(self->runs, jid);
    if (!value_bool(said, "success", false))
        log_warning("schedule: %s (%s) failed; its jid is %s", value_str(ran, "name", ""),
                    value_str(ran, "fun", ""), jid);

    /* Gives what the runner returned to the job's returners. */
    const json_t *item = value_get(ran, "item");
    const char *names = value_str(item, "returner", "");
    json_auto_t *ret = json_pack("{s:s, s:O?, s:O?, s:O?, s:O?, s:o, s:s, s:s}", "id", ctx_id(self->ctx),
                                 "jid", value_get(said, "jid"), "return", value_get(said, "return"),
                                 "retcode", value_get(said, "retcode"), "success", value_get(said, "success"),
                                 "fun_args", sched_words(item), "fun", value_str(ran, "fun", ""), "schedule",
                                 value_str(ran, "name", ""));
    json_auto_t *args = json_pack("[O]", ret);
    char **list = str_split(names, ",", true);
    for (size_t i = 0; list[i] != NULL; i++) {
        fail_auto_t err = FAIL_INIT;
        if (returning_call(self->ctx, str_trim(list[i]), "returner", args, NULL, &err) < 0)
            log_error("schedule: returner %s: %s", list[i], fail_text(&err));
    }
    strv_free(list);
}

/* Works until the line breaks. */
static int
sched_serve(sched_t *self, fail_t *err)
{
    /* Asks for the events that concern the schedule. */
    json_t *request = json_pack("{s:s, s:[s]}", "op", "events", "tags", SCHEDULE_RUN_TAG);
    json_int_t ignored = 0;
    int listens = local_post(self->line, &request, &ignored, err);

    while (listens >= 0) {
        json_auto_t *due = schedule_due(self->engine, sched_now()), *said = NULL;
        json_t *job;
        size_t i;
        json_array_foreach (due, i, job) {
            int rc = sched_begin(self, job, err);
            if (rc < 0)
                return rc;
        }
        sched_show(self);
        /* Nothing due at all, or not for long, still looks once a minute, as the clock may have been set. */
        int64_t wait_ms = schedule_wait(self->engine, sched_now());
        int rc = local_next(self->line, wait_ms < 0 || wait_ms > WAIT_MAX_MS ? WAIT_MAX_MS : (int) wait_ms,
                            &said, err);
        if (rc < 0 && rc != -EINTR)
            return rc;
        rc = str_eq(value_str(said, "push", ""), "event") ? sched_run_now(self, said, err) : 0;
        if (rc < 0)
            return rc;
        if (said != NULL)
            sched_heard(self, said);
    }
    return listens;
}

/* Connects again and again: the master may start after its engines. Runs of a broken line are forgotten, as
 * their end will not be told. */
static int
sched_start(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    sched_t self = { .ctx = ctx, .asked = json_object(), .runs = json_object() };
    const schedule_env_t env = {
        .roll = sched_roll, .running = sched_running, .tell = sched_tell, .cookie = &self
    };

    if (!enginebus_is_master(ctx))
        return fail_kind(err, FAIL_INVOCATION, -ENOTSUP, "a minion runs its schedule itself");
    self.engine = schedule_new(&env);
    schedule_configure(self.engine, value_get(ctx_opts(ctx), "schedule"), NULL, NULL, sched_now());
    for (;;) {
        fail_auto_t why = FAIL_INIT;
        self.line = local_connect(value_str(ctx_opts(ctx), "sock_dir", ""), &why);
        if (self.line != NULL)
            (void) sched_serve(&self, &why);
        log_info("schedule: %s", fail_text(&why));
        local_client_destroy(&self.line);
        json_object_clear(self.asked);
        json_object_clear(self.runs);
        clock_pause(AGAIN_S);
    }
}

static const func_t funcs[] = { { "start", sched_start, NULL, 0,
                                  "Run runners as the option ``schedule`` of the master says." } };

PLUGIN(engine, schedule, .doc = "The schedule of the master", FUNCS(funcs));
