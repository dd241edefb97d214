/* publish.c - publish a job and follow it to its targets.
 *
 * publish_job matches targets and queues the row; publish_start sends, by one PUB message when every accepted
 * minion is a target, else by unicast on each one's connection. PUB drops silently, so a target that says
 * nothing gets the job again by unicast: the minion drops a jid that it has had. Up to RESEND_MAX sends, then
 * the target is NOT_DELIVERED. When a minion connects, its hello lists its pending jobs, from which
 * publish_connected decides for each open job whether it runs, is lost or must be sent. After a restart of
 * the master, unfinished jobs are read from the store as delivered, and the hellos correct that. */
#include "master/jobs/publish.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/net/jobmsg.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/front/clockwatch.h"
#include "master/front/hooks.h"
#include "master/minions/gate.h"
#include "master/minions/grace.h"
#include "master/operators/lconn.h"
#include "master/minions/message.h"
#include "master/jobs/batchjob.h"
#include "master/jobs/jid.h"
#include "master/jobs/notes.h"
#include "master/front/part.h"
#include "master/jobs/targets.h"
#include "master/jobs/verdict.h"
#include "master/keys/keyfolders.h"
#include "salt/log.h"
#include "salt/value.h"

/* An unacknowledged job is sent again; each pause is twice the last, up to a bound. */
#define RESEND_MS       400
#define RESEND_MAX_MS   1600
#define RESEND_EACH     10    /* a millisecond more for so many unheard targets */
#define RESEND_LATE_MS  5000  /* ms more while other targets answer */
#define RESEND_FLOOD_MS 20000 /* ms more while the socket has unread messages */
#define RESEND_MAX      4     /* sends in all before a target is NOT_DELIVERED */
#define BUSY_MS         1000  /* a minion heard within this time is working through its queue */
#define BUSY_ROUNDS     30    /* resend rounds for which that is believed */
#define BACK_MS         2000  /* a reconnect that succeeds does so within this time */
#define KEEP_OPEN_MS    (24 * 3600 * 1000LL)
#define LONG_US         60000000LL /* a job longer than this ages from its end, not its start */
#define RESTORE_JOBS_US (LIMIT_UNFINISHED_DAYS * 24 * 3600 * 1000000LL)

typedef struct publish {
    uint64_t pub_seq; /* of the last broadcast */
} publish_t;

/* ---- a new job ------------------------------------------------------------------------------- */

/* The payload that minions get and the store keeps. Only known fields are copied, so a request cannot smuggle
 * others to the minions. */
static json_t *
publish_info(const json_t *request, const char *jid, const char *user)
{
    json_auto_t *said = jobmsg_fields(request);
    json_t *info = json_pack("{s:s, s:s}", "jid", jid, "user", user);
    (void) json_object_update_missing(info, said);
    /* A reaction's arguments may contain text that a minion chose, and a minion's job does; `peer` tells the
     * target so. */
    if (str_eq(value_str(value_get(request, "note"), "kind", ""), NOTE_REACT) ||
        value_bool(request, "peer", false))
        json_object_set_new(info, "peer", json_true());
    if (value_get(info, "arg") == NULL)
        json_object_set_new(info, "arg", json_array());
    if (value_get(info, "tgt_type") == NULL)
        json_object_set_new(info, "tgt_type", json_string("glob"));
    if (value_get(info, "ret") == NULL)
        json_object_set_new(info, "ret", json_string(""));
    return info;
}

/* The batch that a request asks for, complete, so that it is the same after a restart. NEW; NULL: none. */
static json_t *
batch_spec(const front_t *self, const json_t *request, bool bounded)
{
    json_t *spec = value_get(request, "batch");
    if (spec == NULL || json_is_null(spec))
        return NULL;
    static const char *const fields[] = { "size", "wait", "failhard", "timeout" };
    json_t *whole = json_object(), *v;
    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(spec, fields[i])) != NULL)
            json_object_set(whole, fields[i], v);
    if (json_object_get(whole, "timeout") == NULL)
        json_object_set_new(
            whole, "timeout",
            json_integer(conf_int(self->conf, "timeout") + conf_int(self->conf, "gather_job_timeout")));
    if (bounded)
        json_object_set_new(whole, "users", json_true());
    /* Set by the master alone (requests.c). */
    if (bounded && value_get(request, "as") != NULL)
        json_object_set(whole, "as", value_get(request, "as"));
    return whole;
}

/* Queue the job's row. A full queue fails a job with a note (-EAGAIN), which must not start unless it is
 * kept; any other job runs, but is not listed. */
static int
publish_store_job(front_t *self, const json_t *request, const json_t *info, const json_t *spec, json_t *ids,
                  json_t *missing, fail_t *err)
{
    json_t *row = json_copy((json_t *) info), *note = value_get(request, "note");
    json_object_set(row, "minions", ids);
    if (spec != NULL)
        json_object_set(row, "batch", (json_t *) spec);
    if (note != NULL) {
        json_object_set(row, "note", note);
        json_object_set(row, "missing", missing);
    }
    json_object_set_new(row, "start_us", json_integer(clock_wall_us()));
    uint64_t ticket = store_add_job(self->store, &row);
    if (ticket > 0)
        self->row_ticket = ticket;
    else if (note != NULL)
        return fail_set(err, -EAGAIN, "the job store takes no more rows at the moment");
    else
        log_error("job %s: the store's queue is full, the job will not be listed",
                  value_str(info, "jid", ""));
    return 0;
}

/* Commit the job and its events in one transaction. */
static int
publish_keep_job(front_t *self, const json_t *request, const json_t *info, const json_t *spec, json_t *ids,
                 json_t *missing, fail_t *err)
{
    bus_together(self);
    int rc = publish_store_job(self, request, info, spec, ids, missing, err);
    if (rc == 0) {
        /* The two events that Salt fires for a new job: tag JID with the minions, and salt/job/JID/new. */
        const char *jid = value_str(info, "jid", "");
        json_t *first = json_pack("{s:O}", "minions", ids);
        (void) bus_fire(self, jid, &first);
        json_t *data = json_object(), *v;
        static const char *const fields[] = { "jid", "tgt_type", "tgt", "user", "fun", "arg" };
        for (size_t i = 0; i < NELEMS(fields); i++)
            if ((v = value_get(info, fields[i])))
                json_object_set(data, fields[i], v);
        json_object_set(data, "minions", ids);
        json_object_set(data, "missing", missing);
        if ((v = value_get(info, "metadata")))
            json_object_set(data, "metadata", v);
        AUTO_FREE char *tag = xasprintf("salt/job/%s/new", jid);
        (void) bus_fire(self, tag, &data);
    }
    bus_apart(self);
    return rc;
}

static bool
publish_check_function(const json_t *fun, fail_t *err)
{
    size_t i;
    json_t *one;
    bool ok = json_is_string(fun) && json_string_length(fun) > 0;
    if (json_is_array(fun)) {
        ok = json_array_size(fun) > 0;
        json_array_foreach (fun, i, one)
            ok = ok && json_is_string(one);
    }
    if (!ok)
        (void) fail_set(err, -EINVAL, "publish: 'fun' is a function's name, or a list of names");
    return ok;
}

/* Minions read the names of returners as one text. */
static bool
check_returner(const json_t *request, fail_t *err)
{
    const json_t *ret = value_get(request, "ret");
    if (ret == NULL || json_is_string(ret) || !value_truthy(ret))
        return true;
    (void) fail_set(err, -EINVAL, "publish: 'ret' is a text: names of returners, with commas between them");
    return false;
}

/* A subset that is not an integer would read as 0, which means all targets. */
static bool
publish_check_subset(const json_t *request, fail_t *err)
{
    const json_t *subset = value_get(request, "subset");
    if (subset == NULL || json_is_null(subset) ||
        (json_is_integer(subset) && json_integer_value(subset) >= 0))
        return true;
    AUTO_FREE char *text = value_dump(subset);
    (void) fail_set(err, -EINVAL, "publish: 'subset' is how many minions at most, not %s", text);
    return false;
}

/* Order matters: everything that can fail comes before the row is queued, and the row before the job enters
 * the table; the encoding is tried here so that publish_start can't fail. */
json_t *
publish_job(front_t *self, const json_t *request, const char *user, bool bounded, void *follower, fail_t *err)
{
    AUTO_FREE uint32_t *slots = NULL;
    json_auto_t *missing = NULL;
    size_t n = 0;
    keyfolders_look(self);
    if (!publish_check_function(value_get(request, "fun"), err) || !check_returner(request, err) ||
        !publish_check_subset(request, err) || targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;

    /* Implement --subset: a random choice of `want` slots, still sorted. Selection sampling (Knuth 3.4.2
     * S): each slot is taken with the chance (still wanted)/(still left), in one pass. */
    size_t want = (size_t) value_int(request, "subset", 0);
    if (want != 0 && want < n) {
        size_t kept = 0;
        for (size_t i = 0; i < n && kept < want; i++) {
            uint32_t r;
            key_random(&r, sizeof(r));
            if (r % (n - i) < want - kept)
                slots[kept++] = slots[i];
        }
        n = kept;
    }

    json_auto_t *ids = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(peers_by_slot(self->peers, slots[i])->id));
    if (n == 0)
        return json_pack("{s:s, s:O, s:O}", "jid", "", "minions", ids, "missing", missing);
    char jid[CLOCK_STAMP_LEN];
    if (!jid_of(self, request, jid, err))
        return NULL;
    json_auto_t *spec = batch_spec(self, request, bounded);
    AUTO(batch) batch = spec != NULL ? batch_new(spec, n, 0, err) : NULL;
    if (spec != NULL && (batch == NULL || !batchjob_has_room(self, batch, user, err)))
        return NULL;
    json_t *info = publish_info(request, jid, user);
    if (n > LIMIT_WATCHED || !json_is_true(value_get(info, "watched")))
        json_object_del(info, "watched");
    const char *ret = value_str(info, "ret", ""), *ext = conf_str(self->conf, "ext_job_cache");
    json_object_set_new(info, "ret", value_fmt("%s%s%s", ret, *ret != '\0' && *ext != '\0' ? "," : "", ext));
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(MSG_job, info, &len, err);
    if (text == NULL || publish_keep_job(self, request, info, spec, ids, missing, err) < 0) {
        json_decref(info);
        return NULL;
    }
    job_t *job = jobs_add(self->jobs, jid, &info, slots, n);
    salt_assert(job); /* jid_of has looked */
    job->wire = STEAL(text);
    job->wire_len = len;
    job->held = value_get(request, "note");
    if (batch != NULL) {
        batchjob_set(self, job, STEAL(batch));
        batchjob_tell(self, job, "new", ids);
    }
    int64_t wait = value_int(request, "wait_ms", 0), most = LIMIT_SILENCE_S * 1000LL;
    job->wait_ms = wait > 0 ? clock_mono_ms() + (wait < most ? wait : most) : 0;
    if (follower != NULL)
        (void) job_follow(job, follower);
    self->counters.jobs++;
    hook_published(self, job);
    log_info("User %s Published command %s with jid %s", user, value_str(request, "fun", "(several)"), jid);
    log_debug("job %s: for %zu minions; %zu that were named are not there", jid, n, json_array_size(missing));
    return json_pack("{s:s, s:O, s:O}", "jid", jid, "minions", ids, "missing", missing);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* True while the minion's connection ended less than BACK_MS ago (network loss, new key, or restart). A
 * message on its way may have arrived, which the next hello says; if not, it is sent to the next
 * connection. */
static bool
may_be_back(const minion_t *m)
{
    return m->gone_ms && clock_mono_ms() - m->gone_ms < BACK_MS;
}

/* The job's message, made once; a restored job's when it is first sent. BORROWED; NULL when no message can
 * hold it, as of a store with larger limits. */
static const char *
publish_wire(job_t *job, size_t *ret_len)
{
    if (job->wire == NULL)
        job->wire = wire_encode(MSG_job, job->info, &job->wire_len, NULL);
    *ret_len = job->wire_len;
    return job->wire;
}

/* Send to one target, or give its verdict when it is not connected and not expected. EHOSTUNREACH means that
 * the connection ended and its end was not read yet: only a target that was never sent to is given up, others
 * wait for the disconnect. */
static void
unicast(front_t *self, job_t *job, job_target_t *target, const char *text, size_t len)
{
    minion_t *m = peers_by_slot(self->peers, target->slot);
    if (m == NULL || m->peer == NULL || m->state != KEY_ACCEPTED) {
        bool sent = target->tries > 0;
        bool wait = m != NULL &&
                    (grace_expects(self, m) || clock_mono_ms() < job->wait_ms || (sent && may_be_back(m)));
        if (!wait)
            (void) jobs_move(self->jobs, job, target, sent ? VERDICT_NOT_DELIVERED : VERDICT_NOT_CONNECTED,
                             0);
        return;
    }
    int rc = gate_send(self, m->peer, text, len);
    log_trace("job %s: sent to minion %s, time %d: %s", job->jid, m->id, target->tries + 1,
              rc < 0 ? strerror(-rc) : "on its way");
    self->counters.out++;
    if (rc == -EHOSTUNREACH && target->tries == 0 && !grace_expects(self, m))
        (void) jobs_move(self->jobs, job, target, VERDICT_NOT_CONNECTED, 0);
    if (rc == -EHOSTUNREACH)
        return;
    target->tries++;
    if (target->verdict == VERDICT_WAITING)
        (void) jobs_move(self->jobs, job, target, VERDICT_SENT, 0);
}

/* True when the targets are exactly the accepted minions. Each is checked, since keys may have been deleted
 * and accepted since the job was matched, which leaves the count equal. */
static bool
is_for_all(const front_t *self, const job_t *job)
{
    if (job->n_targets != peers_count(self->peers, KEY_ACCEPTED))
        return false;
    for (size_t i = 0; i < job->n_targets; i++) {
        const minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
        if (m == NULL || m->state != KEY_ACCEPTED)
            return false;
    }
    return true;
}

void
publish_start(front_t *self, const char *jid)
{
    job_t *job = jobs_get(self->jobs, jid);
    if (job == NULL)
        return;
    job->held = false;
    if (job->batch != NULL)
        return; /* its minions have their turns, see batches.c */
    size_t len = 0;
    const char *text = publish_wire(job, &len);
    salt_assert(text); /* publish_job has tried */
    job->sent_ms = clock_mono_ms();
    if (job->n_targets > 1 && is_for_all(self, job)) {
        /* Send a job for the whole fleet: one PUB message with the next sequence number, and a unicast to
         * those whose SUB connection is not up. */
        publish_t *own = self->own[PART_publish];
        size_t pub_len = 0;
        AUTO_FREE char *pub_text = wire_with(MSG_job, text, len, "seq", (json_int_t) ++own->pub_seq,
                                             &pub_len);
        if (pub_text != NULL)
            (void) sock_send(self->pub, pub_text, pub_len);
        log_debug("job %s: published to all %zu minions, as number %lld", job->jid, job->n_targets,
                  (long long) own->pub_seq);
        for (size_t i = 0; i < job->n_targets; i++) {
            minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
            if (pub_text == NULL || m == NULL || m->peer == NULL || m->sub_fd < 0) {
                unicast(self, job, &job->targets[i], text, len);
            } else {
                job->targets[i].tries++;
                (void) jobs_move(self->jobs, job, &job->targets[i], VERDICT_SENT, 0);
            }
        }

        return;
    }
    for (size_t i = 0; i < job->n_targets; i++)
        unicast(self, job, &job->targets[i], text, len);
}

void
publish_turn(front_t *self, job_t *job, job_target_t *target)
{
    size_t len = 0;
    const char *text = publish_wire(job, &len);
    (void) jobs_move(self->jobs, job, target, VERDICT_WAITING, 0);
    job->sent_ms = clock_mono_ms();
    job->rounds = 0;
    if (text != NULL)
        unicast(self, job, target, text, len);
    else
        (void) jobs_move(self->jobs, job, target, VERDICT_NOT_CONNECTED, 0);
}

/* Targets out of sends are NOT_DELIVERED; the others get a unicast. */
static void
resend(front_t *self, job_t *job)
{
    size_t len = 0;
    const char *text = publish_wire(job, &len);
    for (size_t i = 0; text != NULL && i < job->n_targets && job->n_unheard > 0; i++) {
        job_target_t *t = &job->targets[i];

        /* A minion that was heard just now is busy and gets no copy: bounded by BUSY_ROUNDS, and only after a
         * second send, in case the first was lost. */
        const minion_t *m = peers_by_slot(self->peers, t->slot);
        if (t->verdict == VERDICT_SENT && t->tries > 1 && job->rounds < BUSY_ROUNDS && m != NULL &&
            m->peer != NULL && clock_mono_ms() - m->heard_ms < BUSY_MS)
            continue;

        if (t->verdict == VERDICT_SENT && t->tries >= RESEND_MAX)
            (void) jobs_move(self->jobs, job, t, VERDICT_NOT_DELIVERED, 0);
        else if (t->verdict == VERDICT_SENT || t->verdict == VERDICT_WAITING)
            unicast(self, job, t, text, len);
    }
    job->sent_ms = clock_mono_ms();
    job->rounds++;
}

/* Push "busy" to followers once per BUSY_MS while input is unread, so that clients extend their timeouts. */
static void
tell_busy(job_t *job, int64_t now_ms)
{
    if (job->n_followers == 0 || job->n_unheard == 0 || now_ms - job->busy_ms < BUSY_MS)
        return;
    job->busy_ms = now_ms;
    json_auto_t *msg = json_pack("{s:s, s:s}", "push", "busy", "jid", job->jid);
    for (size_t i = 0; i < job->n_followers; i++)
        (void) lconn_push(job->followers[i], msg);
}

/* True when every target returned: the store concludes the end from the returns, without a row of its own. */
static bool
all_returned(const job_t *job)
{
    for (size_t i = 0; i < job->n_targets; i++)
        if (job->targets[i].verdict != VERDICT_RETURNED)
            return false;
    return true;
}

static bool
was_long(const job_t *job)
{
    return clock_wall_us() - job->start_us > LONG_US;
}

/* Queue the job's end; `unended` makes publish_tick try again when the store's queue is full. A short job's
 * end is written as 0: its age counts from its start. */
static void
write_end(front_t *self, job_t *job)
{
    int64_t end_us = was_long(job) ? clock_wall_us() : 0;
    job->unended = store_end_job(self->store, job->jid, end_us) == 0;
}

/* jobs_alive_fn: a job may run for days. It is alive while held, followed, or open on a connected minion. */
static bool
is_alive(void *front, const job_t *job)
{
    const front_t *self = front;
    bool alive = job->held || job->n_followers > 0;
    for (size_t i = 0; i < job->n_targets && !alive; i++) {
        const minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
        alive = !verdict_final(job->targets[i].verdict) && m != NULL && m->peer != NULL;
    }
    return alive;
}

/* Walk over the jobs each tick: resend, write ends that the store refused, tell followers of a backlog.
 * ZMQ_EVENTS says, without reading, whether the router has input. */
static void
publish_tick(front_t *self, int64_t now_ms)
{
    job_t *job;
    int events = 0;
    size_t len = sizeof(events);
    (void) zmq_getsockopt(self->router, ZMQ_EVENTS, &events, &len);
    bool unread = events & ZMQ_POLLIN;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        /* When a round is due: a message is lost with a connection or a full queue, rarely otherwise, while
         * thousands of answers take time that resending would lengthen. So a round waits longer with many
         * unheard targets, while answers still arrive (idle_ms) and while the socket has unread input. */
        int64_t pause = job->rounds < 2 ? RESEND_MS << job->rounds : RESEND_MAX_MS;
        pause += (int64_t) (job->n_unheard / RESEND_EACH);
        int64_t since = now_ms - job->sent_ms, quiet = now_ms - job->idle_ms;
        if (!job->held && job->n_unheard > 0 && since >= (unread ? pause + RESEND_FLOOD_MS : pause) &&
            (quiet >= RESEND_MS || since >= pause + RESEND_LATE_MS))
            resend(self, job);
        if (job->unended && job->n_open == 0)
            write_end(self, job);
        if (unread)
            tell_busy(job, now_ms);
    }
    jobs_sweep(self->jobs, now_ms, KEEP_OPEN_MS, is_alive);
}

/* ---- minions that come and go ---------------------------------------------------------------- */

/* NEW map with the strings of a list as its keys, for membership tests. */
static map_t *
publish_set(const json_t *texts)
{
    map_t *set = map_new(NULL);
    size_t i;
    json_t *one;
    json_array_foreach (texts, i, one)
        if (json_is_string(one))
            map_set(set, json_string_value(one), set);
    return set;
}

static void
send_one(front_t *self, job_t *job, job_target_t *t)
{
    size_t len = 0;
    const char *text = publish_wire(job, &len);
    t->tries = 0;
    if (text != NULL)
        unicast(self, job, t, text, len);
}

/* True when this run of the master sent it, or heard that the minion ran it. */
static bool
publish_is_ours(const job_target_t *t)
{
    return t->tries > 0 || t->verdict == VERDICT_RUNNING;
}

/* The minion said that another master has its return. */
static void
is_elsewhere(front_t *self, const minion_t *m, const char *jid)
{
    job_t *job = jobs_get(self->jobs, jid);
    job_target_t *t = job != NULL ? job_find(job, m->slot) : NULL;
    if (t != NULL)
        (void) jobs_move(self->jobs, job, t, VERDICT_ELSEWHERE, 0);
}

/* Hook: correct each open job by the minion's hello. `pending` lists the jids that it has, the newest
 * LIMIT_HELLO_JIDS; `elsewhere` those that it returned to another master. A pending job is RUNNING. A missing
 * one that it had is LOST or sent when the list is complete or the minion started
 * anew; one that never reached it is sent. `hello` NULL: the minion says nothing of its jobs. */
static void
publish_connected(front_t *self, minion_t *m, const json_t *hello, bool rebooted)
{
    json_t *pending_jids = value_get(hello, "pending"), *one;
    AUTO(map) pending = publish_set(pending_jids);
    /* A full list may have dropped the oldest, so that absence proves nothing. */
    bool all_named = json_array_size(pending_jids) < LIMIT_HELLO_JIDS;
    job_t *job;
    size_t k;
    json_array_foreach (value_get(hello, "elsewhere"), k, one)
        if (json_is_string(one))
            is_elsewhere(self, m, json_string_value(one));
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        job_target_t *t = job->n_open > 0 && !job->held ? job_find(job, m->slot) : NULL;
        bool named = map_get(pending, job->jid) != NULL;
        if (t == NULL || verdict_final(t->verdict) || (t->verdict == VERDICT_QUEUED && !named))
            continue;
        bool had_it = t->verdict == VERDICT_DELIVERED || t->verdict == VERDICT_RUNNING;
        if (named) {
            if (!jobs_move(self->jobs, job, t, VERDICT_RUNNING, 0))
                publish_verdict(self, job, t); /* it ran before, and is connected again */
        } else if (had_it && (rebooted || (job->wanted && !publish_is_ours(t)) ||
                              (all_named && t->verdict == VERDICT_RUNNING))) {
            /* The connected minion lacks a job that counted as delivered. A job that is ours is LOST. A
             * restored one may never have left the earlier master: it is sent now, unless its begin_until_ms
             * has passed, when a late start would surprise (NOT_DELIVERED). */
            if (publish_is_ours(t)) {
                (void) jobs_move(self->jobs, job, t, VERDICT_LOST, 0);
            } else if (!job->wanted && clock_mono_ms() > job->begin_until_ms) {
                (void) jobs_move(self->jobs, job, t, VERDICT_NOT_DELIVERED, 0);
            } else {
                (void) jobs_move(self->jobs, job, t, VERDICT_SENT, 0);
                job->sent_ms = clock_mono_ms();
                send_one(self, job, t);
            }
        } else if (!had_it || t->verdict == VERDICT_DELIVERED) {
            /* The minion's networking process acknowledged it and died before its job server had it: send
             * again. */
            (void) jobs_move(self->jobs, job, t, VERDICT_SENT, 0);
            send_one(self, job, t);
        }
    }
}

/* Hook: a job on its way waits for a reconnect when one is likely, else it is NOT_DELIVERED. Followers of
 * delivered ones are told that the minion is gone; the verdict stays. */
static void
disconnected(front_t *self, minion_t *m)
{
    job_t *job;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        job_target_t *t = job->n_open > 0 ? job_find(job, m->slot) : NULL;
        if (t != NULL && t->verdict == VERDICT_SENT && (grace_expects(self, m) || may_be_back(m)))
            continue; /* it is sent again to its next connection */
        if (t != NULL && t->verdict == VERDICT_SENT)
            (void) jobs_move(self->jobs, job, t, VERDICT_NOT_DELIVERED, 0);
        else if (t != NULL && !verdict_final(t->verdict))
            publish_verdict(self, job, t);
    }
}

/* Hook: the key is no longer accepted, so no return can come. Close every open target by what it had. */
static void
dismissed(front_t *self, minion_t *m)
{
    static const verdict_t last[VERDICTS] = { [VERDICT_WAITING] = VERDICT_NOT_CONNECTED,
                                              [VERDICT_SENT] = VERDICT_NOT_DELIVERED,
                                              [VERDICT_DELIVERED] = VERDICT_LOST,
                                              [VERDICT_RUNNING] = VERDICT_LOST,
                                              [VERDICT_QUEUED] = VERDICT_NOT_CONNECTED };
    job_t *job;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        job_target_t *t = job->n_open > 0 ? job_find(job, m->slot) : NULL;
        if (t != NULL && !verdict_final(t->verdict))
            (void) jobs_move(self->jobs, job, t, last[t->verdict], 0);
    }
}

/* ---- followers ------------------------------------------------------------------------------- */

static void
tell_verdict(const front_t *self, const job_t *job, const job_target_t *target)
{
    const minion_t *m = log_wants(LEVEL_DEBUG) ? peers_by_slot(self->peers, target->slot) : NULL;
    log_debug("job %s: minion %s: %s", job->jid, m != NULL ? m->id : "that was forgotten",
              verdict_name(target->verdict));
}

/* jobs_verdict_fn: push the change to the job's followers; encodes nothing when there are none. */
void
publish_verdict(void *front, job_t *job, job_target_t *target)
{
    tell_verdict(front, job, target);
    json_auto_t *msg = job->n_followers > 0 ? verdict_push(front, job, target) : NULL;
    for (size_t i = 0; msg != NULL && i < job->n_followers; i++)
        (void) lconn_push(job->followers[i], msg);
}

/* jobs_done_fn: write the end and push "done" to the followers. */
void
publish_done(void *front, job_t *job)
{
    job->unended = false;
    if (!all_returned(job) || was_long(job))
        write_end(front, job);
    if (job->batch != NULL && job->batch->halted == NULL)
        batchjob_tell(front, job, "complete", NULL);
    log_debug("job %s: each of its %zu minions has a verdict", job->jid, job->n_targets);
    json_auto_t *msg = json_pack("{s:s, s:s}", "push", "done", "jid", job->jid);
    for (size_t i = 0; i < job->n_followers; i++)
        /* A connection that still replays the job gets its "done" from catchup.c, after the returns. */
        if (!later_waits(front, job->jid, job->followers[i]) &&
            !lconn_catches_up(job->followers[i], job->jid))
            (void) lconn_push(job->followers[i], msg);
    job->n_followers = 0;
    hook_job_ended(front, job->jid);
}

/* ---- after a restart ------------------------------------------------------------------------- */

static int
publish_by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return x < y ? -1 : x > y;
}

/* Take up a job of an earlier run: row as in store_add_job, `returned` the ids whose returns are stored. NULL
 * when the jid is in the table. Minions whose keys are gone are left out. */
static job_t *
restore_one(front_t *self, const json_t *row, const json_t *returned)
{
    json_t *minions = value_get(row, "minions"), *id;
    AUTO(map) had = publish_set(returned);
    AUTO_FREE uint32_t *slots = xcalloc(json_array_size(minions) + 1, sizeof(uint32_t));
    size_t n = 0, i;
    json_array_foreach (minions, i, id) {
        minion_t *m = peers_by_id(self->peers, json_string_value(id));
        if (m != NULL && m->state == KEY_ACCEPTED)
            slots[n++] = m->slot;
    }
    /* jobs_add demands that slots are sorted and occur once. */
    size_t kept = 0;
    qsort(slots, n, sizeof(*slots), publish_by_number);
    for (size_t k = 0; k < n; k++)
        if (kept == 0 || slots[k] != slots[kept - 1])
            slots[kept++] = slots[k];
    n = kept;
    json_t *info = publish_info(row, value_str(row, "jid", ""), value_str(row, "user", ""));
    job_t *job = jobs_add(self->jobs, value_str(row, "jid", ""), &info, slots, n);
    int64_t start_us = value_int(row, "start_us", 0), age_us = clock_wall_us() - start_us;
    if (job != NULL) {
        job->restored = true;
        job->start_us = start_us;
        job->begin_until_ms = clock_mono_ms() + grace_ms(self) - (age_us > 0 ? age_us / 1000 : 0);
        if (value_get(row, "batch") != NULL)
            batchjob_restore(self, job, row);
    }
    if (job != NULL)
        job->recalled = true;
    for (i = 0; job != NULL && i < n; i++) {
        job_target_t *t = &job->targets[i];
        /* How far it got is unknown until the minion's hello; until then it counts as delivered, so that it
         * is not sent twice. The table allows DELIVERED only by way of SENT. */
        (void) jobs_move(self->jobs, job, t, VERDICT_SENT, 0); /* not from QUEUED, which stays */
        (void) jobs_move(self->jobs, job, t, VERDICT_DELIVERED, 0);
        if (map_get(had, peers_by_slot(self->peers, t->slot)->id) != NULL)
            (void) jobs_move(self->jobs, job, t, VERDICT_RETURNED, 0);
    }
    if (job != NULL)
        job->recalled = false;
    /* Every target left either returned or has no accepted key: no return can come, so write the end. */
    if (job != NULL && job->n_open == 0 && json_array_size(returned) < json_array_size(minions))
        write_end(self, job);
    return job;
}

/* True when the job was published before this process started; start_us is wall time, started_ms
 * monotonic. */
static bool
is_from_before(const front_t *self, const json_t *row)
{
    int64_t started_us = clock_wall_us() - (clock_mono_ms() - self->started_ms) * 1000;
    return value_int(row, "start_us", INT64_MAX) < started_us;
}

/* Restore a job of an earlier run that is not in the table; NULL when there is none, it is this run's, or it
 * can't be read. */
static job_t *
publish_reopen(front_t *self, const char *jid)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *row = store_job(self->reader, jid, &err),
                *returned = store_returned(self->reader, jid, &err);
    if (!json_is_object(row) || returned == NULL || !is_from_before(self, row))
        return NULL;
    return restore_one(self, row, returned);
}

/* 1 when the store expects more returns of the job, 0, or a negative errno with *err. */
static int
is_unfinished(front_t *self, const json_t *head, fail_t *err)
{
    if (value_int(head, "n_returned", 0) >= value_int(head, "n_minions", 0))
        return 0;
    json_auto_t *ended = store_notes(self->reader, NOTE_ENDED, value_str(head, "jid", ""), err);
    return ended == NULL ? -EIO : json_object_size(ended) == 0;
}

static json_t *
targets(front_t *self, const job_t *job)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < job->n_targets; i++) {
        minion_t *m = peers_by_slot(self->peers, job->targets[i].slot);
        if (m != NULL)
            json_array_append_new(ids, json_string(m->id));
    }
    return ids;
}

/* True when the restored jobs stay within LIMIT_RESTORED_BYTES. Without a bound, a user could load every job
 * of the store into memory by following them one by one. */
static bool
publish_has_room(const front_t *self, const json_t *head)
{
    size_t bytes = (size_t) value_int(head, "bytes", 0);
    job_t *job;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);)
        bytes += job->bytes;
    return bytes <= LIMIT_RESTORED_BYTES;
}

/* Restore the job if the store has it as unfinished and an earlier run published it. True with *ret_job
 * unchanged when there is nothing to restore. False with *err: no room (-EAGAIN), or a failed read. */
static bool
take_up(front_t *self, const json_t *head, bool bounded, job_t **ret_job, fail_t *err)
{
    const char *jid = value_str(head, "jid", "");
    int unfinished = is_from_before(self, head) ? is_unfinished(self, head, err) : 0;
    if (unfinished <= 0)
        return unfinished == 0;
    if (bounded && !publish_has_room(self, head)) {
        (void) fail_set(
            err, -EAGAIN,
            "the job %s is unfinished, and others like it that are followed fill the memory that there is "
            "for them: wait until some have ended, or ask root to follow it",
            jid);
        return false;
    }
    *ret_job = publish_reopen(self, jid);
    if (*ret_job)
        (*ret_job)->bytes = (size_t) value_int(head, "bytes", 0);
    return true;
}

json_t *
publish_find(front_t *self, const char *jid, bool bounded, fail_t *err)
{
    job_t *job = jobs_get(self->jobs, jid);
    if (job != NULL)
        return targets(self, job);
    json_auto_t *head = store_job_head(self->reader, jid, err);
    if (head == NULL)
        return NULL;
    if (json_is_null(head)) {
        (void) fail_set(err, -ENOENT, "there is no job with the jid '%s'", jid);
        return NULL;
    }
    if (!take_up(self, head, bounded, &job, err))
        return NULL;
    return job != NULL ? targets(self, job) : json_incref(value_get(head, "minions"));
}

/* The note's sender repeats a request that an earlier run had on record. Send it to connected targets that
 * this run never sent it to; a minion drops a jid that it has had. */
void
publish_again(front_t *self, const char *jid)
{
    job_t *job = jobs_get(self->jobs, jid);
    if (job == NULL)
        job = publish_reopen(self, jid);
    if (job == NULL || !job->restored)
        return;
    job->wanted = true;
    for (size_t i = 0; i < job->n_targets; i++) {
        job_target_t *t = &job->targets[i];
        minion_t *m = peers_by_slot(self->peers, t->slot);
        if (t->verdict == VERDICT_NOT_DELIVERED && t->tries == 0)
            (void) jobs_move(self->jobs, job, t, VERDICT_DELIVERED, 0);
        if (t->verdict == VERDICT_DELIVERED && t->tries == 0 && m != NULL && m->peer != NULL)
            send_one(self, job, t);
    }
}

/* Restore unfinished jobs of earlier runs, the newest within LIMIT_RESTORED_BYTES. Read errors are logged and
 * the master starts all the same; only -ENOMEM fails the start, so that a supervisor tries again. */
static int
publish_restore(front_t *self, fail_t *ret_err)
{
    fail_auto_t err = FAIL_INIT;
    size_t i, left = 0;
    int64_t since_us = clockwatch_doubts(self) ? INT64_MIN : clock_wall_us() - RESTORE_JOBS_US;
    json_auto_t *jids = store_unfinished(self->reader, since_us, LIMIT_RESTORED_BYTES, &left, &err);
    json_t *jid;
    json_array_foreach (jids, i, jid) {
        json_auto_t *row = store_job(self->reader, json_string_value(jid), &err);
        json_auto_t *returned = store_returned(self->reader, json_string_value(jid), &err);
        if (json_is_object(row) && returned != NULL)
            (void) restore_one(self, row, returned);
    }
    if (err.code == -ENOMEM) /* -ENOMEM is temporary: fail, so that the next start reads them */
        return fail_set(ret_err, -ENOMEM, "unfinished jobs can't be read: %s", fail_text(&err));
    if (err.text != NULL)
        log_error("unfinished jobs can't be read: %s", fail_text(&err));
    if (left > 0)
        log_warning("%zu unfinished jobs are not taken up again: the %zu newer ones fill the memory that "
                    "there is for them. "
                    "Their returns are stored when they come; who follows one of them takes it up, a user "
                    "while as much memory again is not full",
                    left, json_array_size(jids));
    return 0;
}

/* ---- minions' messages about jobs ------------------------------------------------------------ */

/* Message "started": without a pid the job server has it, with a pid its child runs. */
static void
publish_started(front_t *self, peer_t *peer, const inbound_t *in)
{
    job_t *job = jobs_get(self->jobs, value_str(in->body, "jid", ""));
    job_target_t *t = job != NULL && message_is_minions(peer) ? job_find(job, peer->minion->slot) : NULL;
    int32_t pid = (int32_t) value_int(in->body, "pid", 0);
    if (t != NULL)
        (void) jobs_move(self->jobs, job, t, pid > 0 ? VERDICT_RUNNING : VERDICT_DELIVERED, pid);
}

static void
publish_elsewhere(front_t *self, peer_t *peer, const inbound_t *in)
{
    if (message_is_minions(peer))
        is_elsewhere(self, peer->minion, value_str(in->body, "jid", ""));
}

const message_row_t message_started = { .body = publish_started };
const message_row_t message_elsewhere = { .body = publish_elsewhere };

/* ---- life ------------------------------------------------------------------------------------ */

static int
publish_own_start(front_t *self, fail_t *err)
{
    self->jobs = jobs_new(publish_verdict, publish_done, self);
    return publish_restore(self, err);
}

static bool
publish_destroy(front_t *self)
{
    jobs_destroy(&self->jobs);
    return true;
}

static void
publish_line_closed(front_t *self, lconn_t *c)
{
    jobs_unfollow(self->jobs, c);
}

const front_part_t part_publish = { .name = "publish",
                                    .size = sizeof(publish_t),
                                    .start = publish_own_start,
                                    .destroy = publish_destroy,
                                    .tick = publish_tick,
                                    .connected = publish_connected,
                                    .disconnected = disconnected,
                                    .dismissed = dismissed,
                                    .line_closed = publish_line_closed };
