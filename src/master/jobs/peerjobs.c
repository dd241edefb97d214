/* peerjobs.c - jobs and runners that minions ask for (Salt's module publish), as the options peer and
 * peer_run allow.
 *
 * A question is kept until its job or runner ends, its time is over, or its asker's connection is gone; each
 * minion may have LIMIT_PEER_EACH of them. The job is one of a user without an administrator's rights, named
 * minion:ID, which is no name of a user; its targets know that a minion chose the arguments. The answer is
 * composed as text from what the store has, since returns may be large. */
#include "common/base/clock.h"
#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "master/jobs/notes.h"
#include "master/jobs/publish.h"
#include "master/jobs/ret.h"
#include "master/jobs/targets.h"
#include "master/minions/gate.h"
#include "master/minions/message.h"
#include "master/minions/post.h"
#include "master/operators/acl.h"
#include "master/operators/workers.h"
#include "salt/log.h"
#include "salt/value.h"

#define GUESS_MS   10 /* of the minion's share that a comparison with others' pillars costs, as in the mine */
#define RUN_WAIT_S 60 /* Salt's minions wait so long for a runner, whatever `timeout` says */

typedef struct question {
    struct question *next;
    char *jid;            /* owned: of the job or the runner */
    char *id;             /* owned: of the minion */
    uint8_t rid[RID_MAX]; /* its connection, to which the answer goes */
    size_t rid_len;
    json_int_t n; /* its number there */
    int64_t until_ms;
    bool full; /* {id: {ret, out}} */
    bool runs; /* a runner */
} question_t;

typedef struct peerjobs {
    question_t *all;
    size_t n_all;
} peerjobs_t;

static void
peerjobs_drop(peerjobs_t *self, question_t **at)
{
    question_t *q = *at;
    *at = q->next;
    self->n_all--;
    free(q->jid);
    free(q->id);
    free(q);
}

/* ---- answers ---------------------------------------------------------------------------------- */

/* Texts of returns, put together within what a message holds. */
typedef struct collect {
    buf_t *out;
    bool full, first, large;
} collect_t;

/* store_return_fn. */
static bool
peerjobs_collect(void *cookie, const char *id, const char *text, size_t len)
{
    collect_t *self = cookie;
    ret_t ret;
    self->large = self->out->len + len > LIMIT_WIRE_MSG;
    if (self->large)
        return false;
    if (ret_begin(&ret, text, len, NULL) == 0) {
        jtext_t value = ret.field[RET_RETURN], shown = ret.field[RET_OUT];
        buf_puts(self->out, self->first ? "\"" : ",\"");
        plain_quote(id, self->out);
        buf_puts(self->out, self->full ? "\":{\"ret\":" : "\":");
        if (value.at != NULL)
            buf_add(self->out, value.at, value.len);
        else
            buf_puts(self->out, "null");
        if (self->full && shown.at != NULL) {
            buf_puts(self->out, ",\"out\":");
            buf_add(self->out, shown.at, shown.len);
        }
        if (self->full)
            buf_putc(self->out, '}');
        self->first = false;
    }
    ret_end(&ret);
    return true;
}

/* The connection that asked, if it still speaks for the minion. */
static peer_t *
peerjobs_asker(const front_t *front, const question_t *q)
{
    peer_t *peer = peers_by_rid(front->peers, q->rid, q->rid_len);
    bool is = peer != NULL && peer->minion != NULL && peer->minion->state == KEY_ACCEPTED &&
              str_eq(peer->minion->id, q->id);
    return is ? peer : NULL;
}

static void
peerjobs_fail(front_t *front, const peer_t *peer, json_int_t n, int code, const char *why)
{
    json_auto_t *body = json_pack("{s:I, s:s, s:i}", "n", n, "error", why, "code", code < 0 ? -code : code);
    (void) post_send(front, peer, MSG_peer, body);
}

/* Answer with a value that is JSON text already; one that no message holds becomes an error. */
static void
peerjobs_send(front_t *front, const peer_t *peer, json_int_t n, const char *value, size_t len)
{
    buf_auto_t out = BUF_INIT;
    AUTO_FREE char *head = xasprintf("{\"m\":\"%s\",\"n\":%lld,\"value\":", wire_name(MSG_peer),
                                     (long long) n);
    if (strlen(head) + len + 1 > LIMIT_WIRE_MSG) {
        peerjobs_fail(front, peer, n, EMSGSIZE,
                      "the returns are too large for one message: ask for fewer minions at once");
        return;
    }
    buf_puts(&out, head);
    buf_add(&out, value, len);
    buf_putc(&out, '}');
    front->counters.out++;
    (void) gate_send(front, peer, out.data, out.len);
}

/* Answer with the returns that are on the disk, charged to the minion. */
static void
peerjobs_returns(front_t *front, peer_t *peer, const question_t *q)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t value = BUF_INIT;
    collect_t all = { .out = &value, .full = q->full, .first = true };
    int64_t since_us = clock_thread_us();
    buf_putc(&value, '{');
    int rc = store_returns_each(front->reader, q->jid, "", peerjobs_collect, &all, &err);
    buf_putc(&value, '}');
    if (rc < 0)
        peerjobs_fail(front, peer, q->n, rc, fail_text(&err));
    else
        peerjobs_send(front, peer, q->n, value.data, all.large ? LIMIT_WIRE_MSG : value.len);
    rate_owe(&peer->minion->mine, (double) (clock_thread_us() - since_us) / 1000);
}

static question_t **
peerjobs_find(peerjobs_t *self, const char *jid)
{
    question_t **at = &self->all;
    while (*at && !str_eq((*at)->jid, jid))
        at = &(*at)->next;
    return *at != NULL ? at : NULL;
}

/* later_fn: the returns so far are on the disk. */
static void
peerjobs_answer(front_t *front, const char *jid, lconn_t *c)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    question_t **at = peerjobs_find(self, jid);
    peer_t *peer = at != NULL ? peerjobs_asker(front, *at) : NULL;
    if (peer != NULL)
        peerjobs_returns(front, peer, *at);
    if (at != NULL)
        peerjobs_drop(self, at);
}

static void
peerjobs_job_ended(front_t *front, const char *jid)
{
    if (peerjobs_find(front->own[PART_peerjobs], jid) != NULL)
        later_add(front, peerjobs_answer, jid, NULL);
}

static void
peerjobs_run_ended(front_t *front, const char *jid, const char *ret)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    question_t **at = peerjobs_find(self, jid);
    peer_t *peer = at != NULL ? peerjobs_asker(front, *at) : NULL;
    if (peer != NULL)
        peerjobs_send(front, peer, (*at)->n, ret, strlen(ret));
    if (at != NULL)
        peerjobs_drop(self, at);
}

/* Time is over: of a job the returns that came, of a runner none. */
static void
peerjobs_tick(front_t *front, int64_t now_ms)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    for (question_t **at = &self->all; *at;) {
        if (now_ms < (*at)->until_ms) {
            at = &(*at)->next;
            continue;
        }
        peer_t *peer = peerjobs_asker(front, *at);
        if (peer != NULL && (*at)->runs)
            peerjobs_fail(front, peer, (*at)->n, ETIMEDOUT, "the runner has not ended in time; it goes on");
        else if (peer != NULL)
            peerjobs_returns(front, peer, *at);
        peerjobs_drop(self, at);
    }
}

/* ---- questions -------------------------------------------------------------------------------- */

/* Charge what the target finds out of others' pillars. 0, or a negative errno with *err. */
static int
peerjobs_guesses(front_t *front, minion_t *m, const json_t *request, fail_t *err)
{
    match_work_t work;
    json_auto_t *missing = NULL;
    AUTO_FREE uint32_t *slots = NULL;
    size_t n = 0;
    targets_work(front, false, &work);
    int rc = targets_match_within(front, request, &work, &slots, &n, &missing, err);
    rate_owe(&m->mine, (double) work.guesses * GUESS_MS);
    return rc;
}

/* Begin what is asked for: NEW {jid, ...}, jid "" when no minion matched; NULL with *err, -EACCES: no rule.
 */
static json_t *
peerjobs_begin(front_t *front, minion_t *m, const json_t *body, bool runs, fail_t *err)
{
    AUTO_FREE char *user = xasprintf("minion:%s", m->id);
    /* The job's request has the fields that a minion may give, and no other. */
    static const char *const fields[] = { "fun", "arg", "tgt", "ret" };
    json_auto_t *request = json_pack("{s:b, s:b}", "peer", true, "pillar_exact", true);
    json_t *v;
    const char *type = value_str(body, "tgt_type", "glob");
    for (size_t i = 0; i < NELEMS(fields); i++)
        if ((v = value_get(body, fields[i])) != NULL)
            json_object_set(request, fields[i], v);
    /* As Salt reads it: "node..." is a node group. */
    json_object_set_new(request, "tgt_type", json_string(str_starts(type, "node") ? "nodegroup" : type));
    json_t *arg = value_get(body, "arg");
    if (arg != NULL && !json_is_array(arg)) {
        (void) fail_set(err, -EINVAL, "'arg' is a list");
        return NULL;
    }
    if (runs)
        return acl_lets_minion_run(front, m->id, value_str(body, "fun", ""), err) == 0
                   ? workers_run(front, request, user, err)
                   : NULL;
    return acl_lets_minion(front, m->id, user, request, err) == 0 &&
                   peerjobs_guesses(front, m, request, err) == 0
               ? publish_job(front, request, user, true, NULL, err)
               : NULL;
}

/* The message peer_ask. The question is kept before its job is sent: a job whose targets are all away ends at
 * once. */
static void
peerjobs_asked(front_t *front, peer_t *peer, const inbound_t *in)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    const json_t *body = in->body;
    fail_auto_t err = FAIL_INIT;
    minion_t *m = peer->minion;
    bool runs = str_eq(value_str(body, "op", ""), "runner");
    json_int_t n = value_int(body, "n", -1);
    int64_t since_us = clock_thread_us();
    if (m == NULL || n < 0)
        return;
    /* One minion has few questions under way, all of them together a bounded number; and work has its rate.
     */
    size_t open = 0;
    for (const question_t *q = self->all; q; q = q->next)
        open += str_eq(q->id, m->id);
    if (open >= LIMIT_PEER_EACH || self->n_all >= LIMIT_PEER_ALL)
        (void) fail_set(&err, -EDQUOT, "%zu jobs that %s asked for are under way; wait for one of them",
                        open >= LIMIT_PEER_EACH ? open : self->n_all,
                        open >= LIMIT_PEER_EACH ? "this minion" : "minions");
    else if (!rate_spare(&m->mine, clock_mono_ms()) || !minion_may_tell(m, in->len, clock_mono_ms()))
        (void) fail_set(&err, -EDQUOT,
                        "the master has worked much on this minion's questions; ask again in a while");
    json_auto_t *begun = err.code == 0 ? peerjobs_begin(front, m, body, runs, &err) : NULL;
    const char *jid = value_str(begun, "jid", "");
    if (*jid != '\0') {
        /* The question is kept until its answer, for as long as the minion says, within bounds. */
        json_int_t wait = value_int(body, "timeout", 0), least = runs ? RUN_WAIT_S : 0;
        question_t *q = xcalloc(1, sizeof(*q));
        wait = wait < least ? least : wait > LIMIT_PEER_WAIT_S ? LIMIT_PEER_WAIT_S : wait;
        q->jid = xstrdup(jid);
        q->id = xstrdup(peer->minion->id);
        memcpy(q->rid, peer->rid, peer->rid_len);
        q->rid_len = peer->rid_len;
        q->n = value_int(body, "n", 0);
        q->until_ms = clock_mono_ms() + wait * 1000;
        q->full = value_bool(body, "full", false);
        q->runs = runs;
        q->next = self->all;
        self->all = q;
        self->n_all++;
        if (!runs)
            publish_start(front, jid);
    } else if (begun != NULL) {
        peerjobs_send(front, peer, n, "{}", 2);
    } else if (err.code == -EACCES) {
        noise_warn(front, "%s", fail_text(&err));
        json_auto_t *refused = json_pack("{s:I, s:s}", "n", n, "refused", fail_text(&err));
        (void) post_send(front, peer, MSG_peer, refused);
    } else {
        peerjobs_fail(front, peer, n, err.code, fail_text(&err));
    }
    rate_owe(&m->mine, (double) (clock_thread_us() - since_us) / 1000);
}

/* Nobody waits any more; the job goes on. */
static void
peerjobs_peer_left(front_t *front, peer_t *peer)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    for (question_t **at = &self->all; *at;) {
        if ((*at)->rid_len == peer->rid_len && memcmp((*at)->rid, peer->rid, peer->rid_len) == 0)
            peerjobs_drop(self, at);
        else
            at = &(*at)->next;
    }
}

static bool
peerjobs_destroy(front_t *front)
{
    peerjobs_t *self = front->own[PART_peerjobs];
    while (self->all != NULL)
        peerjobs_drop(self, &self->all);
    return true;
}

const message_row_t message_peer_ask = { .body = peerjobs_asked, .most = LIMIT_WIRE_VALUES };

const front_part_t part_peerjobs = { .name = "peerjobs",
                                     .size = sizeof(peerjobs_t),
                                     .destroy = peerjobs_destroy,
                                     .tick = peerjobs_tick,
                                     .peer_left = peerjobs_peer_left,
                                     .peer_ended = peerjobs_peer_left,
                                     .job_ended = peerjobs_job_ended,
                                     .run_ended = peerjobs_run_ended };
