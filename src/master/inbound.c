/* inbound.c - what minions send: each frame is decoded by the table in the state of its sender's key, then
 * handled by row. */
#include "master/notes.h"

#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/jsonread.h"
#include "common/base/plainjson.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "common/net/tags.h"
#include "master/bus.h"
#include "master/gate.h"
#include "master/lconn.h"
#include "master/mine.h"
#include "master/pillars.h"
#include "master/ret.h"
#include "master/statefail.h"
#include "salt/log.h"
#include "salt/value.h"

#define TURN_BUDGET  1000 /* messages per turn of the loop, so that timers and operators get theirs */
#define TURN_MS      20   /* the same for large ones */
#define PROBE_MS     1000 /* a peer is asked for its hello at most this often */
#define ACK_PAUSE_MS 60   /* between two looks whether others come first; a command has printed by then */
#define ACK_CROWD    192  /* messages within that: they do */
#define ACK_MAX_MS   500  /* an acknowledgement waits no longer for them */
#define RET_FRAME    256  /* what an event or a push holds beside the return, mostly */
#define RET_CHEAP    (16 * 1024) /* bytes of a return of which values are quickly made */
#define OWN_RID_LEN  5           /* routing ids that libzmq makes: a zero and a number */

typedef void inbound_fn(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len);
/* -EPROTO with *err: the text is not what the message's table says. */
typedef int inbound_text_fn(front_t *self, peer_t *peer, const char *text, size_t len, fail_t *err);

static bool
s_is_minion(const peer_t *peer)
{
    return peer->minion && !peer->is_call;
}

static void
s_hello(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    auth_hello(self, peer, body);
}

/* A fleet that comes back says what it has said before: comparing costs a tenth of reading and keeping it. */
static bool
s_known_grains(const minion_t *m, const char *text, size_t len)
{
    static const char head[] = "{\"m\":\"grains\",\"grains\":";
    size_t n = sizeof(head) - 1;
    return len > n && memcmp(text, head, n) == 0 && text[len - 1] == '}' &&
           known_is(m, STORE_GRAINS, text + n, len - n - 1);
}

static int
s_new_grains(front_t *self, minion_t *m, const char *raw, size_t len, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *body = value_parse_peer(raw, len, len, wire_name(MSG_grains), &why);
    json_t *grains = value_get(body, "grains");
    if (!body)
        return fail_set(err, why.code == -ENOMEM ? -ENOMEM : -EPROTO, "%s", fail_text(&why));
    if (!json_is_object(grains))
        return fail_set(err, -EPROTO, "grains that are no object");
    known_keep(self, m, STORE_GRAINS, grains);
    return 0;
}

/* Nobody acknowledges grains. Who sends more than any host has of them fills the store's queue, which is
 * all minions'. */
static bool
s_may_send_grains(front_t *self, peer_t *peer, size_t len)
{
    minion_t *m = peer->minion;
    bool may = rate_spare(&m->grains, clock_mono_ms());
    if (may)
        rate_owe(&m->grains, (double) len / 1024);
    else
        front_refused(self, REFUSED_MESSAGE, peer->address,
                      "minion %s: grains of more than %d KB a second: those of before stay", m->id,
                      LIMIT_GRAINS_RATE);
    return may;
}

static int
s_grains(front_t *self, peer_t *peer, const char *text, size_t len, fail_t *err)
{
    minion_t *m = peer->minion;
    if (!s_is_minion(peer) || !s_may_send_grains(self, peer, len))
        return 0;
    int64_t since_us = clock_thread_us();
    int rc = s_known_grains(m, text, len) ? 0 : s_new_grains(self, m, text, len, err);
    rate_owe(&m->grains, (double) (clock_thread_us() - since_us) / 1000 * LIMIT_GRAINS_WORK);
    if (rc < 0 || !conf_bool(self->conf, "minion_data_cache_events") ||
        !minion_may_tell(m, 0, clock_mono_ms()))
        return rc;
    json_t *data = json_pack("{s:s}", "Minion data cache refresh", m->id);
    AUTO_FREE char *tag = xasprintf("minion/refresh/%s", m->id);
    (void) bus_fire(self, tag, &data);
    return 0;
}

static void
s_pillar_ask(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    pillars_ask(self->pillars, peer, body, len);
}

static void
s_mine_ask(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    mine_asked(self, peer, body);
}

static void
s_started(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    job_t *job = jobs_get(self->jobs, value_str(body, "jid", ""));
    job_target_t *t = job && s_is_minion(peer) ? job_find(job, peer->minion->slot) : NULL;
    int32_t pid = (int32_t) value_int(body, "pid", 0);
    if (t)
        (void) jobs_move(self->jobs, job, t, pid > 0 ? VERDICT_RUNNING : VERDICT_DELIVERED, pid);
}

static void
s_elsewhere(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    if (s_is_minion(peer))
        publish_elsewhere(self, peer->minion, value_str(body, "jid", ""));
}

/* ---- acknowledgements wait for the commit ---------------------------------------------------- */

/* A row whose commit is awaited before its sender is told. */
struct pending_ack {
    pending_ack_t *next;
    uint64_t ticket;
    int64_t since_ms;
    uint8_t rid[RID_MAX]; /* the connection it came on */
    size_t rid_len;
    uint32_t slot, starts; /* of the minion */
    bool is_call;
    size_t jid_len;
    char *key;        /* a return, "JID/ID"; or NULL: */
    json_int_t event; /* an event's number */
};

/* NEW "JID/ID". */
static char *
s_key(const char *jid, const char *id)
{
    size_t n = strlen(jid), size = strlen(id) + 1;
    char *key = xcalloc(1, n + 1 + size);
    memcpy(key, jid, n);
    key[n] = '/';
    memcpy(key + n + 1, id, size);
    return key;
}

/* TAKES *key_p (NULL for an event). */
static void
s_ack_later(front_t *self, const peer_t *peer, uint64_t ticket, char **key_p, json_int_t event)
{
    pending_ack_t *a = xcalloc(1, sizeof(*a));
    a->ticket = ticket;
    a->since_ms = clock_mono_ms();
    a->key = STEAL(*key_p);
    a->jid_len = a->key ? strcspn(a->key, "/") : 0;
    a->event = event;
    a->slot = peer->minion->slot;
    a->starts = peer->minion->starts;
    a->is_call = peer->is_call;
    a->rid_len = peer->rid_len;
    memcpy(a->rid, peer->rid, peer->rid_len);
    if (a->key)
        map_set(self->uncommitted, a->key, a);
    *self->acks.tail = a;
    self->acks.tail = &a->next;
}

/* What a jid may hold stands in JSON as it is. */
static void
s_ack_jid(front_t *self, peer_t *peer, const char *jid, size_t len)
{
    static const char head[] = "{\"m\":\"ack\",\"jids\":[\"", tail[] = "\"]}";
    char text[sizeof(head) + LIMIT_JID_LEN + sizeof(tail)];
    size_t at = sizeof(head) - 1, n = sizeof(tail) - 1;
    salt_assert(len <= LIMIT_JID_LEN);
    memcpy(text, head, at);
    memcpy(text + at, jid, len);
    memcpy(text + at + len, tail, n);
    self->counters.out++;
    (void) gate_send(self, peer, text, at + len + n);
}

static void
s_ack_event(front_t *self, peer_t *peer, json_int_t n)
{
    json_auto_t *body = json_pack("{s:[I]}", "events", n);
    (void) publish_send(self, peer, MSG_ack, body);
}

/* To the connection it came on, or to the one that the minion has now. */
static void
s_committed(front_t *self, pending_ack_t *a)
{
    minion_t *m = peers_by_slot(self->peers, a->slot);
    peer_t *peer = peers_by_rid(self->peers, a->rid, a->rid_len);
    bool same_start = m && m->starts == a->starts;
    if (!peer && m && !a->is_call && (a->key || same_start))
        peer = m->peer;
    if (a->key)
        (void) map_take(self->uncommitted, a->key);
    else if (same_start && !a->is_call)
        m->kept_event = a->event;
    if (a->key)
        log_trace("job %.*s: the return of minion %s is on the disk%s", (int) a->jid_len, a->key,
                  a->key + a->jid_len + 1, peer ? ", and acknowledged" : "; the minion is gone");
    if (peer && a->key)
        s_ack_jid(self, peer, a->key, a->jid_len);
    else if (peer)
        s_ack_event(self, peer, a->event);
}

static pending_ack_t *
s_next_ack(front_t *self)
{
    pending_ack_t *a = self->acks.first;
    self->acks.first = a->next;
    if (!self->acks.first)
        self->acks.tail = &self->acks.first;
    return a;
}

static void
s_free_ack(pending_ack_t *a)
{
    free(a->key);
    free(a);
}

void
inbound_forget(front_t *self)
{
    while (self->acks.first)
        s_free_ack(s_next_ack(self));
}

void
inbound_trouble(front_t *self)
{
    AUTO_FREE char *trouble = store_trouble(self->store);
    AUTO_FREE char *notice = store_notice(self->store);
    if (notice) {
        log_error("%s", notice);
        numbers_reserve_again(self);
    }
    if (trouble && !self->store_trouble)
        log_critical("the store can't be written: %s; returns stay with their minions until it can", trouble);
    if (!trouble && self->store_trouble)
        log_warning("the store can be written again");
    free(self->store_trouble);
    self->store_trouble = STEAL(trouble);
}

/* Thousands are sending at the moment: those who have not been heard yet come before those who wait to be
 * told that they have. */
static bool
s_crowded(front_t *self, int64_t now_ms)
{
    ack_line_t *line = &self->acks;
    if (now_ms - line->looked_ms >= ACK_PAUSE_MS) {
        line->crowded = self->counters.in - line->looked_in > ACK_CROWD;
        line->looked_in = self->counters.in;
        line->looked_ms = now_ms;
    }
    return line->crowded && now_ms - line->first->since_ms < ACK_MAX_MS;
}

static void s_ack_all(front_t *self);

static int
s_ack_again(zloop_t *loop, int timer, void *arg)
{
    front_t *self = arg;
    self->acks.timer = false;
    s_ack_all(self);
    return 0;
}

static void
s_ack_all(front_t *self)
{
    ack_line_t *line = &self->acks;
    uint64_t committed = store_committed(self->store);
    if (!line->first || line->first->ticket > committed || line->timer)
        return;
    if (s_crowded(self, clock_mono_ms())) {
        line->timer = zloop_timer(self->loop, ACK_PAUSE_MS, 1, s_ack_again, self) >= 0;
        return;
    }
    while (line->first && line->first->ticket <= committed) {
        pending_ack_t *a = s_next_ack(self);
        s_committed(self, a);
        s_free_ack(a);
    }
}

int
inbound_store(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    uint64_t n;
    (void) !read(item->fd, &n, sizeof(n));
    s_ack_all(self);
    later_turn(self);
    inbound_trouble(self);
    bus_committed(self);
    return 0;
}

/* ---- returns and events ---------------------------------------------------------------------- */

static void
s_fire_ret(front_t *self, const peer_t *peer, ret_t *ret, const job_t *job)
{
    const minion_t *m = peer->minion;
    const char *user = job ? value_str(job->info, "user", NULL) : NULL;
    buf_auto_t tag = BUF_INIT, data = BUF_INIT;
    buf_reserve(&tag, strlen("salt/job/") + LIMIT_JID_LEN + strlen("/ret/") + strlen(m->id));
    buf_reserve(&data, ret->len + RET_FRAME);
    buf_puts(&tag, "salt/job/");
    buf_puts(&tag, ret->jid);
    buf_puts(&tag, "/ret/");
    plain_quote(m->id, &tag);
    ret_add_event(ret, m->id, user, peer->is_call, &data);
    bus_put(self, (jtext_t){ tag.data, tag.len }, (jtext_t){ data.data, data.len });
    (void) bus_done(self);
    if (ret->retcode != 0)
        statefail_fire(self, m->id, ret->jid, ret_body(ret), user ? user : "");
}

static void
s_push_ret(const job_t *job, const minion_t *m, const ret_t *ret)
{
    if (job->n_followers == 0)
        return;
    buf_auto_t msg = BUF_INIT;
    buf_reserve(&msg, ret->len + RET_FRAME);
    ret_add_push(ret, m->id, &msg);
    for (size_t i = 0; i < job->n_followers; i++)
        (void) lconn_push_text(job->followers[i], msg.data, msg.len);
}

/* The return and the events that tell of it: both are on the disk, or none. TAKES *key_p. False when there
 * is no room. */
static bool
s_keep_ret(front_t *self, peer_t *peer, ret_t *ret, const job_t *job, char **key_p)
{
    char *text = xstrndup(ret->text, ret->len);
    bus_together(self);
    uint64_t ticket = store_add_return(self->store, ret->jid, peer->minion->id, &text, ret->retcode,
                                       ret->success);
    if (ticket != 0) {
        self->row_ticket = ticket;
        self->counters.returns++;
        s_ack_later(self, peer, ticket, key_p, 0);
        s_fire_ret(self, peer, ret, job);
    }
    bus_apart(self);
    return ticket != 0;
}

/* Whether this is a job of ours, and not for this minion: 1, 0, or negative with *err. Who is not in it by
 * its slot may be one whose key was deleted and accepted again. */
static int
s_is_of_others(front_t *self, const minion_t *m, const char *jid, const job_t *job, fail_t *err)
{
    int is = store_is_target(self->reader, jid, m->id, err);
    return is == -ENOENT ? job != NULL : is < 0 ? is : is == 0;
}

/* What a minion tells unasked and has no room for is not acknowledged: it is sent again later. */
static bool
s_has_share(front_t *self, peer_t *peer, size_t len)
{
    bool may = minion_may_tell(peer->minion, len, clock_mono_ms());
    if (!may)
        front_refused(self, REFUSED_MESSAGE, peer->address,
                      "minion %s: events and returns of more than %d KB a second have to wait",
                      peer->minion->id, LIMIT_TOLD_RATE);
    return may;
}

static void
s_take_ret(front_t *self, peer_t *peer, ret_t *ret)
{
    minion_t *m = peer->minion;
    const char *jid = ret->jid;
    AUTO_FREE char *key = s_key(jid, m->id);
    job_t *job = jobs_get(self->jobs, jid);
    job_target_t *t = job ? job_find(job, m->slot) : NULL;
    if (map_get(self->uncommitted, key)) {
        /* Once more before its commit: that will acknowledge it. */
        log_debug("job %s: minion %s returns once more, before its commit", jid, m->id);
        self->counters.duplicates++;
        return;
    }
    /* Without a target: salt-call's own, or one of before. */
    fail_auto_t err = FAIL_INIT;
    int had = t ? t->verdict == VERDICT_RETURNED : store_has_return(self->reader, jid, m->id, &err);
    int others = t || had != 0 ? 0 : s_is_of_others(self, m, jid, job, &err);
    if (had < 0 || others < 0) {
        /* Not acknowledged: it is sent again later. */
        log_error("job %s: the return of minion %s has to wait: %s", jid, m->id, fail_text(&err));
        return;
    }
    if (had > 0) {
        /* Ours was acknowledged, but that was lost on the way: say it again, count it never. */
        log_debug("job %s: minion %s returns once more; it is acknowledged again", jid, m->id);
        self->counters.duplicates++;
        s_ack_jid(self, peer, jid, strlen(jid));
        return;
    }
    if (others > 0) {
        front_refused(self, REFUSED_MESSAGE, peer->address,
                      "minion %s returns for job %s, which was not for it", m->id, jid);
        s_ack_jid(self, peer, jid, strlen(jid));
        return;
    }
    if ((!t && !s_has_share(self, peer, ret->len)) || !s_keep_ret(self, peer, ret, job, &key))
        return;
    log_debug("Got return from %s for job %s", m->id, jid);
    if (t) {
        s_push_ret(job, m, ret);
        (void) jobs_move(self->jobs, job, t, VERDICT_RETURNED, 0);
    }
}

static int
s_cut_ret(front_t *self, peer_t *peer, const char *text, size_t len, bool *ret_valued, fail_t *err)
{
    ret_t ret;
    int rc = ret_begin(&ret, text, len, err);
    if (rc == 0)
        s_take_ret(self, peer, &ret);
    *ret_valued = rc != 0 || ret.body;
    ret_end(&ret);
    return rc;
}

/* Of most returns no values are made. A large one of which they are may take a second: there is a share of
 * that too, and a return for which nothing is left of it is not acknowledged. */
static int
s_ret(front_t *self, peer_t *peer, const char *text, size_t len, fail_t *err)
{
    minion_t *m = peer->minion;
    bool valued;
    if (!m)
        return fail_set(err, -EPROTO, "a return of nobody");
    if (len <= RET_CHEAP)
        return s_cut_ret(self, peer, text, len, &valued, err);
    if (!rate_spare(&m->rets, clock_mono_ms())) {
        front_refused(self, REFUSED_MESSAGE, peer->address,
                      "minion %s: the master has worked for %d ms on its returns: this one has to wait",
                      m->id, LIMIT_RETS_BURST);
        return 0;
    }
    int64_t since_us = clock_thread_us();
    int rc = s_cut_ret(self, peer, text, len, &valued, err);
    rate_owe(&m->rets, (valued ? (double) (clock_thread_us() - since_us) / 1000 : 0) - 1);
    return rc;
}

/* The first that there was no room for; 0: none. */
static json_int_t *
s_lost(peer_t *peer)
{
    return peer->is_call ? &peer->lost_event : &peer->minion->lost_event;
}

/* An event that was taken before: acknowledged when it is on the disk. */
static void
s_ack_taken(front_t *self, peer_t *peer, json_int_t n)
{
    char *none = NULL;
    /* A salt-call's number is behind the event's own. */
    uint64_t ticket = peer->is_call ? numbers_call_keep(self, peer->minion, peer->boot, n) : 0;
    if (ticket != 0)
        s_ack_later(self, peer, ticket, &none, n);
    else if (!peer->is_call && n <= peer->minion->kept_event)
        s_ack_event(self, peer, n);
}

/* Whether this number is the next of its minion's. An event that the store has no room for is sent again;
 * none with a higher number is taken before it, or it would look like one that was. Of those that another
 * master has taken meanwhile the minion has none any more: then the first that it still has is the next. */
static bool
s_event_due(front_t *self, peer_t *peer, json_int_t n, json_int_t oldest)
{
    minion_t *m = peer->minion;
    json_int_t *lost = s_lost(peer);
    if (n == 0)
        return true;
    if (*lost != 0 && oldest > *lost)
        *lost = oldest < n ? oldest : n;
    int taken = peer->is_call                ? numbers_call_kept(self, m, peer->boot, n)
                : numbers_kept(self, m) == 0 ? n <= m->last_event
                                             : -EIO;
    if (taken == 0)
        return *lost == 0 || n <= *lost;
    if (taken < 0) {
        *lost = *lost == 0 || n < *lost ? n : *lost;
        return false;
    }
    if (*lost == n) /* the next one is due */
        *lost = n + 1;
    s_ack_taken(self, peer, n);
    return false;
}

/* `n` could not be taken, so those behind it have to wait; or it was. */
static void
s_mark_lost(peer_t *peer, json_int_t n, bool lost)
{
    if (n != 0)
        *s_lost(peer) = lost ? n : 0;
}

static void
s_minion_event(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    minion_t *m = peer->minion;
    json_int_t n = value_int(body, "n", 0);
    const char *tag = value_str(body, "tag", "");
    fail_auto_t err = FAIL_INIT;
    if (!m || n < 0)
        return;
    if (!bus_tag_valid(tag, &err) || !bus_size_valid(self, tag, len, &err) ||
        !tags_of_minion(tag, m->id, &err)) {
        /* It will not get better by being sent again. */
        front_refused(self, REFUSED_MESSAGE, peer->address, "minion %s: event refused: %s", m->id,
                      fail_text(&err));
        s_ack_event(self, peer, n);
        return;
    }
    if (!s_event_due(self, peer, n, value_int(body, "oldest", 0)))
        return;
    if (!s_has_share(self, peer, len)) {
        s_mark_lost(peer, n, true);
        return;
    }
    json_t *payload = value_get(body, "data");
    json_t *data = json_pack("{s:s, s:s, s:o, s:s}", "id", m->id, "tag", tag, "data",
                             payload ? json_incref(payload) : json_object(), "cmd", "_minion_event");
    if (!peer->is_call)
        json_object_set_new(data, "pretag", json_null());
    /* Who sent what stays as we know it. */
    (void) json_object_update_missing(data, value_get(body, "more"));
    bus_together(self);
    uint64_t ticket = bus_fire_kept(self, tag, &data);
    s_mark_lost(peer, n, ticket == 0);
    if (!peer->is_call && n != 0 && ticket != 0) {
        m->last_event = n;
        numbers_keep(self, m, n);
    } else if (n != 0 && ticket != 0) {
        (void) numbers_call_keep(self, m, peer->boot, n);
    }
    bus_apart(self);
    char *none = NULL;
    if (ticket != 0)
        s_ack_later(self, peer, ticket, &none, n);
}

static void
s_bye(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    auth_goodbye(self, peer);
}

static void
s_revoke(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    if (peer->minion)
        auth_revoke(self, peer, value_bool(body, "preserve_minion_cache", false));
}

static void
s_rekey(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    rekey_asked(self, peer, body);
}

static void
s_file_open(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    fileline_asked(self, peer, MSG_file_open, body, raw, len);
}

static void
s_file_more(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    fileline_asked(self, peer, MSG_file_more, body, raw, len);
}

static void
s_file_part(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    fileline_asked(self, peer, MSG_file_part, body, raw, len);
}

static void
s_file_done(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    fileline_asked(self, peer, MSG_file_done, body, raw, len);
}

static void
s_file_stop(front_t *self, peer_t *peer, json_t *body, const char *raw, size_t len)
{
    fileline_asked(self, peer, MSG_file_stop, body, raw, len);
}

/* One of both: with values, or with the text, where values would cost more than all the rest. */
static const struct handler {
    inbound_fn *body;
    inbound_text_fn *text;
    size_t most; /* values in one; 0: its size bounds them */
} handlers[MSG_COUNT] = {
    [MSG_hello] = { s_hello, NULL, 0 },
    [MSG_grains] = { NULL, s_grains, LIMIT_GRAINS_VALUES },
    [MSG_started] = { s_started, NULL, 0 },
    [MSG_ret] = { NULL, s_ret, 0 },
    [MSG_event] = { s_minion_event, NULL, LIMIT_WIRE_VALUES },
    [MSG_bye] = { s_bye, NULL, 0 },
    [MSG_file_open] = { s_file_open, NULL, 0 },
    [MSG_file_more] = { s_file_more, NULL, 0 },
    [MSG_file_stop] = { s_file_stop, NULL, 0 },
    [MSG_file_part] = { s_file_part, NULL, 0 },
    [MSG_file_done] = { s_file_done, NULL, 0 },
    [MSG_pillar_ask] = { s_pillar_ask, NULL, LIMIT_GRAINS_VALUES },
    [MSG_revoke] = { s_revoke, NULL, 0 },
    [MSG_mine_ask] = { s_mine_ask, NULL, LIMIT_WIRE_VALUES },
    [MSG_rekey] = { s_rekey, NULL, 0 },
    [MSG_elsewhere] = { s_elsewhere, NULL, 0 },
};

/* An event that is refused as it is will not get better by being sent again. Its number stands in front. */
static void
s_ack_unread(front_t *self, peer_t *peer, const char *text, size_t len)
{
    plain_t p = plain_new(text, len);
    jtext_t key, value;
    int64_t n = 0;
    bool named = plain_enter(&p, '{') && plain_key(&p, &key) && plain_value(&p, &value);
    if (named && plain_key(&p, &key) && jtext_is(key, "n") && plain_int(&p, &n) && n > 0)
        s_ack_event(self, peer, n);
}

/* To make values of megabytes that hold little else takes seconds, in which nobody else is heard. */
static int
s_too_many(front_t *self, peer_t *peer, wire_msg_t msg, const char *text, size_t len, fail_t *err)
{
    if (msg == MSG_event)
        s_ack_unread(self, peer, text, len);
    return fail_set(err, -E2BIG, "message '%s' of %zu bytes with more than %zu values", wire_name(msg), len,
                    handlers[msg].most);
}

/* One that its table allows. -EPROTO with *err: it is refused. */
static int
s_handle(front_t *self, peer_t *peer, zmq_msg_t *frame, fail_t *err)
{
    const void *data = zmq_msg_data(frame);
    size_t size = zmq_msg_size(frame), len = 0;
    wire_msg_t msg;
    json_auto_t *body = NULL;
    int rc = wire_open(data, size, WIRE_UP, auth_state_letter(peer), &msg, &len, err);
    if (rc == 0 && peer->minion)
        peer->minion->heard_ms = clock_mono_ms();
    if (rc == 0 && handlers[msg].most > 0 && !json_few(data, len, handlers[msg].most))
        return s_too_many(self, peer, msg, data, len, err);
    if (rc == 0 && handlers[msg].text)
        return handlers[msg].text(self, peer, data, len, err);
    if (rc == 0)
        rc = wire_decode(data, size, WIRE_UP, auth_state_letter(peer), &msg, &body, err);
    if (rc == 0 && !handlers[msg].body)
        rc = fail_set(err, -EPROTO, "message '%s' is not for a master", wire_name(msg));
    if (rc == 0)
        handlers[msg].body(self, peer, body, data, size);
    return rc;
}

/* ---- connections ----------------------------------------------------------------------------- */

static void
s_router_event(front_t *self, int event, int value)
{
    if (event == ZMQ_EVENT_DISCONNECTED)
        peers_end(self->peers, value);
    if (event != ZMQ_EVENT_DISCONNECTED && event != ZMQ_EVENT_ACCEPTED)
        self->counters.handshakes_failed++;
}

static void
s_pub_event(front_t *self, int event, int value)
{
    if (event == ZMQ_EVENT_DISCONNECTED)
        peers_drop_sub(self->peers, value);
}

/* Connections of all three ports. */
void
inbound_monitors(front_t *self)
{
    const struct {
        void *monitor;
        void (*fn)(front_t *self, int event, int value);
    } ports[PORTS] = { [PORT_REQUEST] = { self->monitor, s_router_event },
                       [PORT_PUBLISH] = { self->pub_monitor, s_pub_event },
                       [PORT_HELLO] = { self->hello_monitor, NULL } };
    int event, value;
    for (port_t i = 0; i < PORTS; i++)
        while (ports[i].monitor && sock_monitor_next(ports[i].monitor, &event, &value)) {
            if (event == ZMQ_EVENT_ACCEPTED)
                gate_came(self, i, value);
            else if (event == ZMQ_EVENT_DISCONNECTED)
                gate_went(self, i, value);
            else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)
                gate_misspoke(self, i, value);
            if (ports[i].fn)
                ports[i].fn(self, event, value);
        }
}

/* ---- sockets --------------------------------------------------------------------------------- */

/* A peer that has not said hello, or whose hello we have lost: the empty message makes it say so again. */
static void
s_probe(front_t *self, peer_t *peer)
{
    int64_t now = clock_mono_ms();
    if (peer->state != KEY_UNKNOWN || peer->minion || (peer->probed_ms && now - peer->probed_ms < PROBE_MS))
        return;
    peer->probed_ms = now;
    (void) sock_send_to(self->router, peer->rid, peer->rid_len, "", 0);
}

static void
s_cut(front_t *self, peer_t *peer)
{
    inbound_monitors(self);
    gate_cut(self, peer->fd);
}

static size_t
s_lines_of(const front_t *self, const char *z85)
{
    const minion_t *m = peers_by_key(self->peers, z85);
    return m && m->state == KEY_ACCEPTED ? LIMIT_MINION_LINES : LIMIT_STRANGER_LINES;
}

/* The connection that a message came on; NULL when it is not one to listen to. */
static peer_t *
s_sender(front_t *self, const void *rid, size_t rid_len, zmq_msg_t *frame)
{
    const char *z85 = zmq_msg_gets(frame, "User-Id");
    int fd = zmq_msg_get(frame, ZMQ_SRCFD);
    peer_t *peer = NULL;
    if (!peers_by_rid(self->peers, rid, rid_len)) {
        /* Its beginning, perhaps its end has been told by now; what is told later of this descriptor is not
         * of somebody before. */
        inbound_monitors(self);
        if (!gate_is_open(self, PORT_REQUEST, fd))
            fd = -1;
    }
    /* A routing id that its owner chose is not bound to a key. */
    if (z85 && rid_len == OWN_RID_LEN && *(const uint8_t *) rid == 0)
        peer = peers_connect(self->peers, rid, rid_len, fd, z85, zmq_msg_gets(frame, "Peer-Address"));
    if (peer)
        fd = peer->fd;
    gate_spoke(self, fd, zmq_msg_size(frame));
    if (peer && peers_of_key(self->peers, z85) <= s_lines_of(self, z85))
        return peer;
    const char *address = zmq_msg_gets(frame, "Peer-Address");
    front_refused(self, CUT_STRANGER, address ? address : "(unknown)", "%s",
                  peer ? "too many connections with one key" : "a routing id of its own choice");
    if (peer)
        peers_drop(self->peers, &peer);
    gate_cut(self, fd);
    return NULL;
}

static void
s_frame(front_t *self, const void *rid, size_t rid_len, zmq_msg_t *frame)
{
    peer_t *peer = s_sender(self, rid, rid_len, frame);
    self->counters.in++;
    if (!peer || peer->over || zmq_msg_size(frame) == 0)
        return;
    if (peer->state != KEY_ACCEPTED && ++peer->unproven > LIMIT_UNPROVEN) {
        front_refused(self, CUT_STRANGER, peer->address,
                      "%u messages before its key is accepted: its connection is cut", peer->unproven);
        s_cut(self, peer);
        return;
    }
    if (!gate_takes(peer, zmq_msg_size(frame))) {
        front_refused(self, CUT_MINION, peer->address,
                      "minion %s: too many large messages: its connection is cut", peer->minion->id);
        s_cut(self, peer);
        return;
    }
    fail_auto_t err = FAIL_INIT;
    int rc = s_handle(self, peer, frame, &err);
    if (rc == -ENOMEM) {
        /* What is not acknowledged comes again over the next connection. */
        log_error("%s: %s; its connection is cut", peer->minion ? peer->minion->id : "an unknown peer",
                  fail_text(&err));
        s_cut(self, peer);
    } else if (rc < 0) {
        front_refused(self, REFUSED_MESSAGE, peer->address, "%s: %s",
                      peer->minion ? peer->minion->id : "an unknown peer", fail_text(&err));
        s_probe(self, peer);
    }
}

/* A connection is over when what it sent has been read: a minion may return and end before we have looked. */
static void
s_ended(front_t *self)
{
    peer_t *peer;
    while ((peer = peers_next_ended(self->peers)))
        auth_disconnected(self, peer);
}

int
inbound_router(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    int64_t until = clock_mono_ms() + TURN_MS;
    inbound_monitors(self);
    bus_hold(self);
    for (int i = 0; i < TURN_BUDGET && clock_mono_ms() <= until; i++) {
        zmq_msg_t rid, frame;
        (void) zmq_msg_init(&rid);
        (void) zmq_msg_init(&frame);
        bool got = zmq_msg_recv(&rid, self->router, ZMQ_DONTWAIT) >= 0;
        bool more = got && zmq_msg_more(&rid);
        if (more && zmq_msg_recv(&frame, self->router, ZMQ_DONTWAIT) >= 0) {
            more = zmq_msg_more(&frame);
            if (!more)
                s_frame(self, zmq_msg_data(&rid), zmq_msg_size(&rid), &frame);
            else
                self->counters.refused++;
            while (more && zmq_msg_recv(&frame, self->router, ZMQ_DONTWAIT) >= 0)
                more = zmq_msg_more(&frame);
        }
        (void) zmq_msg_close(&frame);
        (void) zmq_msg_close(&rid);
        if (!got) {
            s_ended(self);
            break;
        }
    }
    bus_release(self);
    return 0;
}

/* The one subscription that minions make: to everything. */
static bool
s_is_subscription(zmq_msg_t *frame)
{
    return zmq_msg_size(frame) == 1 && *(const uint8_t *) zmq_msg_data(frame) == 1;
}

/* A subscription says that a minion's SUB is up. */
int
inbound_pub(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    zmq_msg_t frame;
    for (int i = 0; i < TURN_BUDGET; i++) {
        (void) zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, self->pub, ZMQ_DONTWAIT) < 0)
            break;
        const char *z85 = zmq_msg_gets(&frame, "User-Id");
        int fd = z85 ? zmq_msg_get(&frame, ZMQ_SRCFD) : -1;
        inbound_monitors(self);
        if (!gate_is_open(self, PORT_PUBLISH, fd))
            fd = -1;
        gate_spoke(self, fd, zmq_msg_size(&frame));
        if (fd >= 0 && s_is_subscription(&frame))
            auth_subscribed(self, z85, fd);
        else if (fd >= 0 && zmq_msg_size(&frame) > 1)
            /* Each topic is kept in a tree without a limit. */
            gate_cut(self, fd);
        (void) zmq_msg_close(&frame);
    }
    return inbound_router(loop, item, arg);
}

/* The plaintext port: whatever is asked, the answer is the public key, who vouches for it, and the protocol's
 * number. */
int
inbound_hello(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    for (int i = 0; i < TURN_BUDGET; i++) {
        char question[LIMIT_HELLO_MSG];
        int n = zmq_recv(self->hello, question, sizeof(question), ZMQ_DONTWAIT);
        if (n < 0)
            break;
        AUTO_FREE char *text = value_dump(self->own.claim);
        (void) sock_send(self->hello, text, strlen(text));
    }
    return 0;
}
