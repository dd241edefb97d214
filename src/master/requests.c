/* requests.c - what operators ask over the local socket: one handler per row of requests.def, after the
 * access check. */
#include "master/notes.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "master/fire.h"
#include "master/lconn.h"
#include "master/listen.h"
#include "master/mine.h"
#include "master/names.h"
#include "master/reactor.h"
#include "master/targets.h"
#include "master/workers.h"
#include "salt/log.h"
#include "salt/value.h"

/* NEW reply without "n" and "ok", or NULL with *err. NULL without: it comes later. */
typedef json_t *request_fn(front_t *self, lconn_t *c, const json_t *request, fail_t *err);

typedef enum access { ACCESS_READ, ACCESS_PUB, ACCESS_ADMIN } access_t;

static json_t *
s_status(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    front_counters_t *k = &self->counters;
    store_stats_t st;
    store_get_stats(self->store, &st);
    json_t *counters = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "messages_in", (json_int_t) k->in,
        "messages_out", (json_int_t) k->out, "returns", (json_int_t) k->returns, "events",
        (json_int_t) k->events, "refused", (json_int_t) k->refused, "duplicates", (json_int_t) k->duplicates,
        "jobs", (json_int_t) k->jobs, "handshakes_failed", (json_int_t) k->handshakes_failed, "store_rows",
        (json_int_t) st.rows, "store_commits", (json_int_t) st.commits, "store_queued",
        (json_int_t) st.queued, "store_expired", (json_int_t) st.expired);
    return json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o, s:o}", "version",
                     HALITE_VERSION, "halite", HALITE_RELEASE, "pid", (int) getpid(), "seq",
                     (json_int_t) self->seq, "uptime_ms", (json_int_t) (clock_mono_ms() - self->started_ms),
                     "connections", (json_int_t) peers_connected(self->peers), "accepted",
                     (json_int_t) peers_count(self->peers, KEY_ACCEPTED), "active_jobs",
                     (json_int_t) jobs_len(self->jobs), "listeners",
                     (json_int_t) lsock_listeners(self->lsock), "expiring", st.expiring, "counters", counters,
                     "reactor", reactor_figures(self->reactor));
}

static json_t *
s_publish(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *reply = NULL;
    int known = notes_find(self, c, request, &reply, err);
    if (known != 0)
        return reply;
    reply = publish_job(self, request, lconn_user(c), value_bool(request, "follow", false) ? c : NULL, err);
    if (reply)
        notes_keep(self, request, reply);
    return reply;
}

static json_t *
s_follow(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *jid = value_str(request, "jid", "");
    json_t *minions = publish_find(self, jid, !lconn_is_admin(c), err);
    return minions ? json_pack("{s:s, s:o}", "jid", jid, "minions", minions) : NULL;
}

/* The returns and verdicts so far. */
static void
s_follow_catch_up(front_t *self, const char *jid, lconn_t *c)
{
    if (c)
        lconn_catch_up(c, jid);
}

/* After the reply. News of now may come before those of until now. */
static void
s_follow_later(front_t *self, const char *jid, lconn_t *c)
{
    job_t *job = jobs_get(self->jobs, jid);
    if (job)
        (void) job_follow(job, c);
    later_add(self, s_follow_catch_up, jid, c);
}

static json_t *
s_match(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    AUTO_FREE uint32_t *slots = NULL;
    json_t *missing = NULL;
    size_t n = 0;
    if (targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;
    json_t *ids = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(ids, json_string(peers_by_slot(self->peers, slots[i])->id));
    return json_pack("{s:o, s:o}", "minions", ids, "missing", missing);
}

/* NEW: how a minion is connected, or whether it is on its way back. */
static json_t *
s_presence(const front_t *self, const minion_t *m)
{
    if (m->peer)
        return json_pack("{s:b, s:s, s:I, s:b, s:s}", "connected", true, "address", m->peer->address, "since",
                         (json_int_t) m->peer->since_ms, "subscribed", m->sub_fd >= 0, "halite", m->release);
    json_t *away = json_pack("{s:b}", "connected", false);
    int64_t awaited = publish_awaits_ms(self, m);
    if (awaited > 0)
        json_object_set_new(away, "awaited_ms", json_integer(awaited));
    return away;
}

static json_t *
s_minions(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *all = json_object();
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++) {
        if (!(m = peers_by_slot(self->peers, i)) || m->state != KEY_ACCEPTED)
            continue;
        json_object_set_new(all, m->id, s_presence(self, m));
    }
    return json_pack("{s:o}", "minions", all);
}

static json_t *
s_names(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *kind = value_str(request, "kind", "");
    if (str_eq(kind, "sls") || str_eq(kind, "saltenvs")) {
        (void) files_names(self->files, c, request, err);
        return NULL;
    }
    json_t *names = names_of(self, request, err);
    return names ? json_pack("{s:o}", "names", names) : NULL;
}

static json_t *
s_key_names(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *names = names_of_keys(self, request, err);
    return names ? json_pack("{s:o}", "names", names) : NULL;
}

static json_t *
s_verdicts(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *all = json_object();
    job_t *job = jobs_get(self->jobs, value_str(request, "jid", ""));
    for (size_t i = 0; job && i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        minion_t *m = peers_by_slot(self->peers, t->slot);
        if (!m)
            continue;
        json_t *one = json_pack("{s:s}", "verdict", verdict_name(t->verdict));
        if (t->pid > 0)
            json_object_set_new(one, "pid", json_integer(t->pid));
        json_object_set_new(all, m->id, one);
    }
    return json_pack("{s:o}", "verdicts", all);
}

static json_t *
s_active_one(front_t *self, const job_t *job)
{
    json_t *one = json_copy(job->info), *running = json_object(), *returned = json_array();
    for (size_t i = 0; i < job->n_targets; i++) {
        const job_target_t *t = &job->targets[i];
        minion_t *m = peers_by_slot(self->peers, t->slot);
        if (m && (t->verdict == VERDICT_RUNNING || t->verdict == VERDICT_DELIVERED))
            json_object_set_new(running, m->id, json_integer(t->pid));
        else if (m && t->verdict == VERDICT_RETURNED)
            json_array_append_new(returned, json_string(m->id));
    }
    json_object_set_new(one, "running", running);
    json_object_set_new(one, "returned", returned);
    return one;
}

static json_t *
s_active(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *all = json_array();
    job_t *job;
    for (size_t i = 0; jobs_next(self->jobs, &i, &job);) {
        json_t *one = job->n_open > 0 ? s_active_one(self, job) : NULL;
        if (one && json_object_size(value_get(one, "running")) > 0)
            json_array_append_new(all, one);
        else
            json_decref(one);
    }
    return json_pack("{s:o, s:o}", "jobs", all, "runners", workers_active(self->workers));
}

static json_t *
s_grains(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    AUTO_FREE uint32_t *slots = NULL;
    json_auto_t *missing = NULL;
    size_t n = 0;
    if (targets_match(self, request, &slots, &n, &missing, err) < 0)
        return NULL;
    json_t *all = json_object();
    for (size_t i = 0; i < n; i++) {
        minion_t *m = peers_by_slot(self->peers, slots[i]);
        json_t *grains = known_get(self, m, STORE_GRAINS);
        if (grains)
            json_object_set_new(all, m->id, json_copy(grains));
    }
    return json_pack("{s:o}", "grains", all);
}

static json_t *
s_mine(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    match_work_t work;
    targets_work(self, true, &work);
    json_t *value = mine_get(self, conf_str(self->conf, "id"), request, &work, err);
    return value ? json_pack("{s:o}", "mine", value) : NULL;
}

static json_t *
s_forget(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *ids = mine_forget(self, request, err);
    if (ids)
        log_info("cache: %zu minions' data forgotten by %s", json_array_size(ids), lconn_user(c));
    return ids ? json_pack("{s:o}", "minions", ids) : NULL;
}

static json_t *
s_events(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    if (!lconn_may_match(c, request, err) || !lconn_listen(c, request, err))
        return NULL;
    return json_pack("{s:I}", "seq", (json_int_t) self->seq);
}

static json_t *
s_journal(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return lconn_may_match(c, request, err) ? listen_journal(self, request, !lconn_is_admin(c), err) : NULL;
}

/* Who fires faster than the disk takes it waits; while it takes nothing, he is refused instead (bus_room). */
static void
s_fired(front_t *self, lconn_t *c)
{
    if (!self->store_trouble && store_waiting(self->store) > LIMIT_EVENTS_WAITING)
        lconn_pause(c);
}

/* Who asks that an event is kept is answered when it is. */
static bool
s_is_kept(const json_t *request)
{
    return value_bool(request, "kept", false);
}

static json_t *
s_fire(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    uint64_t ticket;
    json_auto_t *reply = fire_request(self, request, &ticket, err);
    s_fired(self, c);
    if (reply && s_is_kept(request)) {
        if (!ticket) {
            (void) fail_set(err, -ENOSPC, "the store is full: listeners have the event, the journal has not");
            return NULL;
        }
        self->row_ticket = ticket;
    }
    return json_incref(reply);
}

static json_t *
s_reactor(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return reactor_request(self->reactor, request, err);
}

/* Salt's reactor calls itself so, and does not react to what its own functions tell. */
static const char *
s_user(const lconn_t *c, const json_t *request)
{
    bool reacts = str_eq(value_str(value_get(request, "note"), "kind", ""), NOTE_REACT);
    return reacts ? "Reactor" : lconn_user(c);
}

static json_t *
s_run(front_t *self, lconn_t *c, bool wheel, bool follow, const json_t *request, fail_t *err)
{
    json_t *reply = NULL;
    int known = notes_find(self, c, request, &reply, err);
    if (known != 0)
        return reply;
    reply = workers_run(self->workers, wheel, request, s_user(c, request), follow ? c : NULL, err);
    if (reply)
        notes_keep(self, request, reply);
    return reply;
}

static json_t *
s_runner(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return s_run(self, c, false, value_bool(request, "follow", false), request, err);
}

static json_t *
s_wheel(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    return s_run(self, c, true, true, request, err);
}

static json_t *
s_progress(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    workers_progress(self->workers, request);
    return json_object();
}

static json_t *
s_key_apply(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *action = value_str(request, "action", "");
    json_t *reply = auth_apply(self, action, value_get(request, "ids"), value_get(request, "from"),
                               value_bool(request, "more", false), err);
    if (reply)
        log_info("keys: %s by %s: %zu", action, lconn_user(c), json_array_size(value_get(reply, "done")));
    return reply;
}

static json_t *
s_key_rotate(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *reply = rotate_request(self, err);
    if (reply)
        log_info("keys: the master's key was replaced by %s", lconn_user(c));
    return reply;
}

typedef enum audited { AUDITED_QUIET, AUDITED_AUDIT } audited_t;

#define REQUEST(name, access, audit, doc) { #name, ACCESS_##access, AUDITED_##audit, s_##name },
static const struct {
    const char *name;
    access_t access;
    audited_t audited;
    request_fn *fn;
} rows[] = {
#include "salt/requests.def"
};
#undef REQUEST

/* ---- access ---------------------------------------------------------------------------------- */

/* publisher_acl: {user pattern: [function pattern, or {compound target: [function pattern]}]}. */
static bool
s_acl_functions(const json_t *patterns, const char *fun)
{
    size_t i;
    json_t *one;
    fail_auto_t err = FAIL_INIT;
    if (json_is_string(patterns))
        return match_pcre(json_string_value(patterns), fun, &err);
    json_array_foreach (patterns, i, one)
        if (json_is_string(one) &&
            (match_glob(json_string_value(one), fun) || match_pcre(json_string_value(one), fun, &err)))
            return true;
    return false;
}

/* Whether all minions that the request means are among those of a rule, of which there is one at least:
 * what either says is another thing, "web* or db1" begins as "web*" does. */
static bool
s_acl_covers(front_t *self, const char *scope, const json_t *request, match_work_t *work)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *rule = json_pack("{s:s, s:s}", "tgt", scope, "tgt_type", "compound");
    json_auto_t *missing = NULL, *unmet = NULL;
    AUTO_FREE uint32_t *may = NULL, *wants = NULL;
    size_t n_may = 0, n_wants = 0, i = 0, k = 0;
    if (targets_match_within(self, rule, work, &may, &n_may, &missing, &err) < 0 ||
        targets_match_within(self, request, work, &wants, &n_wants, &unmet, &err) < 0) {
        /* Either may be at fault: the rule, or what a user asks for, as often as he likes. */
        front_noise(self, "publisher_acl: whether '%s' covers a request can't be told, so it does not: %s",
                    scope, fail_text(&err));
        return false;
    }
    for (; i < n_wants && k < n_may; k++)
        i += wants[i] == may[k];
    return n_may > 0 && i == n_wants;
}

static bool
s_acl_entry(front_t *self, const json_t *entry, const char *fun, const json_t *request, match_work_t *work)
{
    const char *scope;
    json_t *functions;
    if (json_is_string(entry))
        return s_acl_functions(entry, fun);
    json_object_foreach ((json_t *) entry, scope, functions)
        if (s_acl_functions(functions, fun) && s_acl_covers(self, scope, request, work))
            return true;
    return false;
}

/* Salt makes a key file for each user whom a pattern names only with client_acl_verify; else for those who
 * are named as they are. */
static bool
s_acl_names(front_t *self, const char *who, const char *user)
{
    return str_eq(who, user) || (conf_bool(self->conf, "client_acl_verify") && match_expr(who, user));
}

static bool
s_acl_allows(front_t *self, const char *user, const char *fun, const json_t *request, match_work_t *work)
{
    const char *who;
    json_t *entries, *entry;
    size_t i;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries) {
        if (!s_acl_names(self, who, user))
            continue;
        json_array_foreach (entries, i, entry)
            if (s_acl_entry(self, entry, fun, request, work))
                return true;
    }
    return false;
}

static bool
s_acl_request(front_t *self, const char *user, const char *op, const json_t *request)
{
    json_t *fun = value_get(request, "fun"), *one;
    size_t i;
    match_work_t work; /* of all rules and functions */
    if (!str_eq(op, "publish"))
        return false;
    targets_work(self, false, &work);
    if (json_is_string(fun))
        return s_acl_allows(self, user, json_string_value(fun), request, &work);
    json_array_foreach (fun, i, one)
        if (!json_is_string(one) || !s_acl_allows(self, user, json_string_value(one), request, &work))
            return false;
    return json_array_size(fun) > 0;
}

static bool
s_on_blacklist(front_t *self, const char *list, const char *word)
{
    json_t *exprs = value_get(conf_get(self->conf, "publisher_acl_blacklist"), list), *one;
    size_t i;
    if (json_is_string(exprs))
        return match_expr(json_string_value(exprs), word);
    json_array_foreach (exprs, i, one)
        if (json_is_string(one) && match_expr(json_string_value(one), word))
            return true;
    return false;
}

/* publisher_acl_blacklist holds for everybody's jobs, root's too. */
static bool
s_is_blocked(front_t *self, const char *user, const json_t *request)
{
    json_t *fun = value_get(request, "fun"), *one;
    size_t i;
    if (s_on_blacklist(self, "users", user))
        return true;
    if (json_is_string(fun))
        return s_on_blacklist(self, "modules", json_string_value(fun));
    json_array_foreach (fun, i, one)
        if (json_is_string(one) && s_on_blacklist(self, "modules", json_string_value(one)))
            return true;
    return false;
}

bool
requests_may_read(front_t *self, const lconn_t *c)
{
    const char *who;
    json_t *entries;
    if (lconn_is_admin(c))
        return true;
    json_object_foreach (conf_get(self->conf, "publisher_acl"), who, entries)
        if (s_acl_names(self, who, lconn_user(c)))
            return true;
    return false;
}

static bool
s_allowed(front_t *self, lconn_t *c, access_t access, const char *op, const json_t *request, fail_t *err)
{
    if (str_eq(op, "publish") && s_is_blocked(self, lconn_user(c), request)) {
        log_error("%s may not run what publisher_acl_blacklist names", lconn_user(c));
        (void) fail_set(err, -EACCES, "Authorization error occurred.");
        return false;
    }
    if (lconn_is_admin(c))
        return true;
    if (requests_may_read(self, c) &&
        (access == ACCESS_READ || (access == ACCESS_PUB && s_acl_request(self, lconn_user(c), op, request))))
        return true;
    (void) fail_set(err, -EACCES,
                    "Authentication failure of type \"user\" occurred for user %s: '%s' is not allowed; see "
                    "publisher_acl",
                    lconn_user(c), op);
    return false;
}

/* A line for each key that was changed, or was not; else one. */
static void
s_audit(front_t *self, lconn_t *c, const json_t *request, bool allowed, const json_t *reply,
        const fail_t *err)
{
    json_t *line = audit_request(request, allowed, reply, err), *done = value_get(reply, "done"), *one;
    const char *id;
    size_t i;
    lconn_sign(c, line);
    if (json_array_size(done) + json_object_size(value_get(reply, "failed")) == 0) {
        if (allowed)
            audit_write(self->audit, &line);
        else
            audit_write_spare(self->audit, AUDIT_USERS, &line);
        return;
    }
    json_array_foreach (done, i, one) {
        json_t *copy = json_copy(line);
        json_object_set(copy, "id", one);
        audit_write(self->audit, &copy);
    }
    json_object_foreach (value_get(reply, "failed"), id, one) {
        json_t *copy = json_copy(line);
        (void) json_object_update_new(
            copy, json_pack("{s:s, s:s, s:O}", "id", id, "outcome", "failed", "why", one));
        audit_write(self->audit, &copy);
    }
    json_decref(line);
}

/* NEW message. TAKES reply; NULL: *err. */
static json_t *
s_message(const json_t *request, json_t *reply, const fail_t *err)
{
    json_t *msg = reply ? reply : json_pack("{s:s, s:i}", "error", fail_text(err), "code", err->code);
    json_object_set_new(msg, "ok", json_boolean(reply != NULL));
    json_object_set_new(msg, "n", json_integer(value_int(request, "n", 0)));
    return msg;
}

static void
s_answer(lconn_t *c, const json_t *request, json_t *reply, const fail_t *err)
{
    json_auto_t *msg = s_message(request, reply, err);
    if (lconn_push(c, msg))
        return;
    json_auto_t *large = json_pack("{s:s, s:i, s:b, s:I}", "error",
                                   "the answer is too large: ask for fewer minions at once", "code",
                                   -EMSGSIZE, "ok", false, "n", value_int(request, "n", 0));
    (void) lconn_push(c, large);
}

static void
s_begin_job(front_t *self, const char *jid, lconn_t *c)
{
    publish_start(self, jid);
}

/* What follows a reply comes after it on the wire. */
static void
s_answered(front_t *self, lconn_t *c, request_fn *fn, const char *jid, bool again, const json_t *request)
{
    bool follow = value_bool(request, "follow", fn == s_wheel);
    if (fn == s_publish && again)
        publish_again(self, jid);
    if (fn == s_follow || (fn == s_publish && again && follow))
        s_follow_later(self, jid, c);
    else if (fn == s_publish && !again && value_get(request, "note"))
        later_add(self, s_begin_job, jid, NULL);
    else if (fn == s_publish && !again)
        publish_start(self, jid);
    else if ((fn == s_runner || fn == s_wheel) && again && follow)
        later_add(self, workers_follow, jid, c);
}

/* Do what is asked. What a runner has caused is known to the reactor before anybody hears of it. */
static json_t *
s_done(front_t *self, lconn_t *c, request_fn *fn, const json_t *request, fail_t *err)
{
    const char *within = value_str(request, "within", "");
    uint64_t before = self->seq;
    if (!*within || !lconn_is_admin(c))
        return fn(self, c, request, err);
    bus_hold(self);
    json_t *reply = fn(self, c, request, err);
    reactor_begot(self->reactor, within, value_str(reply, "jid", ""), before + 1, self->seq);
    bus_release(self);
    return reply;
}

/* Whoever began something and did not wait to hear of it has been told that it does not happen
 * (cli/interrupt.h), and nobody would have its jid. */
static bool
s_is_taken_back(lconn_t *c, bool changes, const char *op, fail_t *err)
{
    if (!changes || !lconn_is_gone(c))
        return false;
    log_info("local socket: %s by %s is dropped: who asked did not wait for the answer", op, lconn_user(c));
    (void) fail_set(err, -EPIPE, "who asked did not wait for the answer");
    return true;
}

void
requests_handle(front_t *self, lconn_t *c, const json_t *asked)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *request = json_copy((json_t *) asked);
    const char *op = value_str(request, "op", "");
    /* Others than administrators must not find out by patterns what is in a pillar. */
    if (!lconn_is_admin(c))
        json_object_set_new(request, "pillar_exact", json_true());
    for (size_t i = 0; i < NELEMS(rows); i++) {
        if (!str_eq(rows[i].name, op))
            continue;
        json_t *reply = NULL;
        bool allowed = s_allowed(self, c, rows[i].access, op, request, &err);
        if (allowed && !s_is_taken_back(c, rows[i].audited == AUDITED_AUDIT, op, &err))
            reply = s_done(self, c, rows[i].fn, request, &err);
        if (!allowed || rows[i].audited == AUDITED_AUDIT)
            s_audit(self, c, request, allowed, reply, &err);
        AUTO_FREE char *jid = reply ? xstrdup(value_str(reply, "jid", "")) : NULL;
        bool again = value_bool(reply, "again", false);
        if (!reply && err.code == 0)
            return;
        if (reply && rows[i].fn == s_fire && s_is_kept(request))
            later_answer(self, s_message(request, reply, &err), c);
        else
            s_answer(c, request, reply, &err);
        if (jid && *jid)
            s_answered(self, c, rows[i].fn, jid, again, request);
        else if (reply && rows[i].fn == s_events)
            lconn_begin(c);
        return;
    }
    (void) fail_set(&err, -EOPNOTSUPP,
                    "the master knows no operation '%s'; is this command of the same version?", op);
    s_answer(c, request, NULL, &err);
}

bool
requests_fire(front_t *self, lconn_t *c, const char *text, size_t len)
{
    fail_auto_t err = FAIL_INIT;
    int64_t n;
    if (!lconn_is_admin(c))
        return false;
    json_t *reply = fire_text(self, text, len, &n, &err);
    if (!reply && err.code == 0)
        return false;
    json_auto_t *request = json_pack("{s:I}", "n", (json_int_t) n);
    s_answer(c, request, reply, &err);
    s_fired(self, c);
    return true;
}

void
requests_named(lconn_t *c, json_int_t n, json_t *names)
{
    json_auto_t *request = json_pack("{s:I}", "n", n);
    s_answer(c, request, json_pack("{s:O}", "names", names), NULL);
}

void
requests_closed(front_t *self, lconn_t *c)
{
    if (self->files)
        files_names_gone(self->files, c);
    jobs_unfollow(self->jobs, c);
    later_closed(self, c);
    if (self->workers)
        workers_unfollow(self->workers, c);
}
