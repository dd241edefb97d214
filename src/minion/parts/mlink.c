/* mlink.c - the link to the masters: owns the networking process (netproc.h, sessions.h), takes the jobs that
 * it brings, and drives the outbox.
 */
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "minion/jobs/jobserver.h"
#include "uplink/claim.h"
#include "uplink/masters.h"
#include "uplink/netproc.h"
#include "uplink/seen.h"
#include "uplink/sessions.h"
#include "salt/log.h"
#include "salt/value.h"

enum { KEPT_MS = 1000 };

typedef struct mlink {
    jobserver_t *js;
    netproc_t *net;
    seen_t *seen;                              /* jobs that masters have sent */
    char boot[LIMIT_BOOT], series[LIMIT_BOOT]; /* names of this start, and of its events' numbers */
    bool quit;                                 /* the networking process was told to quit */
    size_t returns, events;                    /* what it was told last that waits while no master is there */
    int64_t kept_ms;                           /* monotonic: when it may be told again; 0: nothing to tell */
} mlink_t;

/* ---- up from the networking process ---------------------------------------------------------- */

/* Takes a job from a master unless this minion has it already. `seen` holds only the newest jids, so running
 * and waiting jobs and waiting returns are checked too. */
static void
mlink_job(void *part, json_t *frame)
{
    mlink_t *self = part;
    jobserver_t *js = self->js;
    json_t *job = value_get(frame, "job"), *one;
    const char *jid = value_str(job, "jid", "");
    size_t i;
    if (!json_is_object(job) || !seen_add(self->seen, jid))
        return;
    bool known = outbox_has(js->outbox, jid) || value_lists(spool_marks(outbox_spool(js->outbox)), jid);
    for (const job_proc_t *p = js->jobs; p != NULL && !known; p = p->next)
        known = str_eq(value_str(p->job, "jid", ""), jid);
    json_array_foreach (js->waiting, i, one)
        known = known || str_eq(value_str(one, "jid", ""), jid);
    if (known)
        return;
    json_object_set(job, "asker", value_get(frame, "asker"));
    jobserver_job(js, job, (int) value_int(frame, "master", -1));
}

/* A master stored returns. When it is not the one that asked, that fact goes to disk before the return is
 * removed: after a restart the asking master could send the job again. */
static void
mlink_ack(void *part, json_t *frame)
{
    mlink_t *self = part;
    outbox_t *outbox = self->js->outbox;
    json_t *jids = value_get(frame, "jids"), *jid;
    const char *by = value_str(frame, "by", "");
    fail_auto_t err = FAIL_INIT;
    size_t i;
    bool any = false;
    json_array_foreach (jids, i, jid) {
        const char *asker = json_is_string(jid) ? outbox_asker(outbox, json_string_value(jid)) : NULL;
        if (asker == NULL || str_eq(asker, by))
            continue;
        seen_elsewhere_add(self->seen, json_string_value(jid), asker);
        any = true;
    }
    json_auto_t *all = any ? seen_dump(self->seen) : NULL;
    if (all != NULL && spool_elsewhere_keep(outbox_spool(outbox), all, &err) < 0)
        log_warning("jobs that returned to another master than the one that asked are known until the minion "
                    "ends: %s",
                    fail_text(&err));
    outbox_acked(outbox, jids, value_get(frame, "events"));
}

/* A master's session changed. "again" must go down before the outbox sends: it separates old events from
 * new. */
static void
mlink_state(void *part, json_t *frame)
{
    mlink_t *self = part;
    jobserver_t *js = self->js;
    int master = (int) value_int(frame, "master", 0);
    if (!str_eq(value_str(frame, "state", ""), "ready")) {
        outbox_disconnected(js->outbox, master);
        EACH_PART(js, master_down, master);
        return;
    }
    EACH_PART(js, master_up, master);
    json_t *again = json_pack("{s:s, s:i}", "t", "again", "master", master);
    jobserver_down(js, &again);
    outbox_connected(js->outbox, master);
}

/* Fires an event salt/minion/ID/... for the networking process. */
static void
mlink_tell(void *part, json_t *frame)
{
    mlink_t *self = part;
    AUTO_FREE char *tag = xasprintf("salt/minion/%s/%s", self->js->env.id, value_str(frame, "tag", ""));
    jobserver_event(self->js, tag, value_get(frame, "data"), NULL);
}

/* ---- requests of jobs ----------------------------------------------------------------------- */

/* {preserve_minion_cache} -> asks every master to delete this minion's key; false: no networking process. */
static json_t *
mlink_revoke(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mlink_t *self = part;
    bool keep = value_bool(request, "preserve_minion_cache", false), told = netproc_is_up(self->net);
    json_t *frame = json_pack("{s:s, s:b}", "t", "revoke", "preserve_minion_cache", keep);
    jobserver_down(self->js, &frame);
    return json_boolean(told);
}

/* Begins a new key for this minion; it is used when every master has stored it. */
static json_t *
mlink_rekey(void *part, job_proc_t *asker, json_t *request, fail_t *err)
{
    mlink_t *self = part;
    if (str_eq(value_str(self->js->opts, "master_type", ""), "failover")) {
        (void) fail_set(
            err, -EPERM,
            "With master_type failover the masters that are not asked now would not know the new key");
        return NULL;
    }
    if (!netproc_is_up(self->net)) {
        (void) fail_set(err, -ENOTCONN, "The networking process is not running at the moment; try again");
        return NULL;
    }
    json_t *frame = json_pack("{s:s}", "t", "rekey");
    jobserver_down(self->js, &frame);
    return json_true();
}

/* ---- the networking process ------------------------------------------------------------------ */

/* Tells the networking process, once a second at most. */
static void
mlink_tell_kept(mlink_t *self, int64_t now_ms)
{
    /* The next hello tells what waits while no master is there; nothing does while one is. */
    const outbox_t *outbox = self->js->outbox;
    bool heard = outbox_is_heard(outbox);
    size_t returns = heard ? 0 : outbox_returns(outbox);
    size_t events = heard ? 0 : outbox_len(outbox) - returns;

    if ((returns == self->returns && events == self->events) || !netproc_is_up(self->net)) {
        self->kept_ms = 0;
        return;
    }
    if (self->kept_ms == 0)
        self->kept_ms = now_ms + KEPT_MS;
    if (now_ms < self->kept_ms && !outbox_is_heard(self->js->outbox))
        return;
    self->returns = returns;
    self->events = events;
    self->kept_ms = 0;
    json_t *frame = json_pack("{s:s, s:I, s:I}", "t", "kept", "returns", (json_int_t) returns, "events",
                              (json_int_t) events);
    jobserver_down(self->js, &frame);
}

static void
mlink_add_pending(json_t *pending, const json_t *job)
{
    json_t *asker = value_get(job, "asker");
    json_object_set_new(pending, value_str(job, "jid", ""), asker != NULL ? json_incref(asker) : json_null());
}

/* Runs the networking process, in the child. It starts with the jobs that run or wait and those whose returns
 * wait, for its hellos. */
static void
mlink_run(void *cookie, int fd)
{
    mlink_t *self = cookie;
    jobserver_t *js = self->js;
    json_auto_t *pending = outbox_pending(js->outbox);
    json_t *one;
    size_t i;
    json_array_foreach (spool_marks(outbox_spool(js->outbox)), i, one)
        json_object_set_new(pending, json_string_value(one), json_null());
    for (const job_proc_t *p = js->jobs; p; p = p->next)
        mlink_add_pending(pending, p->job);
    json_array_foreach (js->waiting, i, one)
        mlink_add_pending(pending, one);
    json_auto_t *claim = claim_grains(js->conf, js->grains);
    const sessions_begin_t begin = { .boot = self->boot,
                                     .series = self->series,
                                     .seen = self->seen,
                                     .claim = claim,
                                     .pending = pending,
                                     .returns = outbox_returns(js->outbox),
                                     .events = outbox_len(js->outbox) - outbox_returns(js->outbox) };
    js->in_session = true;
    js->exit_code = sessions_main(js->conf, &begin, fd);
}

static void
mlink_up(void *cookie)
{
    mlink_t *self = cookie;
    jobserver_t *js = self->js;
    self->returns = outbox_returns(js->outbox); /* it has begun with these (mlink_run) */
    self->events = outbox_len(js->outbox) - self->returns;
    /* The configuration may have changed since the last process was forked. */
    json_auto_t *masters = masters_by_name(self->js->conf);
    outbox_masters(self->js->outbox, masters);
    EACH_PART(self->js, link_up);
}

static void
mlink_down(void *cookie)
{
    const mlink_t *self = cookie;
    outbox_disconnected(self->js->outbox, -1);
    EACH_PART(self->js, master_down, -1);
    EACH_PART(self->js, link_down);
    if (!self->js->stop)
        log_error("the networking process ended; it is started again");
}

static void
mlink_frame(void *cookie, json_t *frame)
{
    jobserver_message(((mlink_t *) cookie)->js, frame);
}

static void
mlink_send(void *part, const json_t *frame, const jobret_t *ret)
{
    netproc_send(((mlink_t *) part)->net, frame, ret);
}

static void
mlink_tick(void *part, int64_t now_ms)
{
    mlink_t *self = part;
    netproc_tick(self->net, now_ms);
    if (self->js->in_session)
        return;
    outbox_tick(self->js->outbox, now_ms);
    mlink_tell_kept(self, now_ms);
}

static int64_t
mlink_next_ms(void *part)
{
    const mlink_t *self = part;
    int64_t due_ms = part_sooner(netproc_next_ms(self->net), outbox_next_ms(self->js->outbox));
    return part_sooner(due_ms, self->kept_ms);
}

static int
mlink_fd(const void *part, short *ret_ask)
{
    return netproc_fd(((const mlink_t *) part)->net, ret_ask);
}

static void
mlink_ready(void *part, short events)
{
    netproc_ready(((mlink_t *) part)->net, events);
}

/* ---- life ------------------------------------------------------------------------------------ */

static void
mlink_reload(void *part)
{
    jobserver_t *js = ((mlink_t *) part)->js;
    outbox_patience(js->outbox, conf_int(js->conf, "return_to_other_after") * 1000);
}

/* Tells the networking process to quit, once, and waits until it has: returns may still be on their way. */
static bool
mlink_leave(void *part)
{
    mlink_t *self = part;
    if (!self->quit) {
        json_t *frame = json_pack("{s:s}", "t", "quit");
        jobserver_down(self->js, &frame);
    }
    self->quit = true;
    return !netproc_is_up(self->net);
}

static void
mlink_destroy(void *part)
{
    mlink_t *self = part;
    netproc_destroy(&self->net);
    seen_destroy(&self->seen);
    free(self);
}

/* Restores `seen` and the series of event numbers, or the minion does not start: going on without them would
 * overwrite them, and then jobs would run again and events arrive twice. */
static void *
mlink_start(jobserver_t *js, fail_t *err)
{
    mlink_t *self = xcalloc(1, sizeof(*self));
    const netproc_env_t env = { mlink_run, mlink_up, mlink_frame, mlink_down, self };
    self->js = js;
    self->seen = seen_new();
    int64_t now = clock_wall_us(), first_ms = 0;
    (void) snprintf(self->boot, sizeof(self->boot), "%llx-%x", (unsigned long long) now, (unsigned) getpid());
    (void) str_copy(self->series, sizeof(self->series), self->boot);

    fail_auto_t why = FAIL_INIT;
    json_auto_t *elsewhere = spool_elsewhere(outbox_spool(js->outbox), &why);
    if (why.text != NULL)
        (void) fail_set(err, why.code, "%s", fail_text(&why));
    if (why.text != NULL || outbox_series(js->outbox, self->series, err) < 0) {
        mlink_destroy(self);
        return NULL;
    }
    seen_restore(self->seen, elsewhere);
    mlink_reload(self);

    /* random_startup_delay keeps a fleet that boots at one moment from connecting at one moment. */
    json_int_t most = conf_int(js->conf, "random_startup_delay");
    if (most > 0) {
        uint32_t r;
        key_random(&r, sizeof(r));
        json_int_t wait = (json_int_t) r % (most + 1);
        log_info("random_startup_delay: the master is called in %d seconds", (int) wait);
        first_ms = clock_mono_ms() + wait * 1000;
    }
    self->net = netproc_new(&env, first_ms);
    return self;
}

static const part_message_t messages[] = {
    { "job", mlink_job }, { "ack", mlink_ack }, { "state", mlink_state }, { "tell", mlink_tell }, { 0 },
};
static const part_request_t requests[] = {
    { "revoke", mlink_revoke, NULL },
    { "rekey", mlink_rekey, NULL },
    { 0 },
};

const minion_part_t minion_part_link = {
    .name = "link",
    .start = mlink_start,
    .destroy = mlink_destroy,
    .reload = mlink_reload,
    .leave = mlink_leave,
    .tick = mlink_tick,
    .next_ms = mlink_next_ms,
    .fd = mlink_fd,
    .ready = mlink_ready,
    .send = mlink_send,
    .messages = messages,
    .requests = requests,
};
