/* mineask.c - a list of open requests. Those about the mine are idempotent: each new connection sends them
 * again. One about a job of other minions is sent once, and fails with the connection that it was sent on. */
#include "uplink/mineask.h"

#include "common/base/clock.h"
#include "common/base/str.h"
#include "salt/value.h"

#define WAIT_MS 60000 /* patience with a master that is away or silent */

typedef struct mineask {
    struct mineask *next;
    json_int_t id;
    json_t *body; /* owned: the message's body, with its number "n" */
    int64_t until_ms;
    wire_msg_t msg;
    bool once, sent; /* it must not be sent twice; it was sent */
} mineask_t;

struct mineasks {
    download_host_t host;
    mineask_t *all;
    json_int_t next_n;
    bool ready;
};

static void
mineask_drop(mineask_t **at)
{
    mineask_t *q = *at;
    *at = q->next;
    json_decref(q->body);
    free(q);
}

/* Answers and frees the request at `at`. TAKES answer. */
static void
mineask_finish(mineasks_t *self, mineask_t **at, json_t *answer)
{
    json_auto_t *held = answer;
    json_int_t id = (*at)->id;
    mineask_drop(at);
    self->host.done(self->host.cookie, id, held);
}

static json_t *
mineask_failure(int code, const char *text)
{
    return json_pack("{s:b, s:s, s:i}", "ok", false, "error", text, "code", code);
}

/* Appends a request under a new number of this object, with its full time. TAKES q; returns where it is
 * linked. */
static mineask_t **
mineask_append(mineasks_t *self, mineask_t *q)
{
    mineask_t **end = &self->all;
    while (*end)
        end = &(*end)->next;
    q->next = NULL;
    json_int_t more = value_int(q->body, "timeout", 0);
    more = more < 0 ? 0 : more > LIMIT_PEER_WAIT_S ? LIMIT_PEER_WAIT_S : more;
    q->until_ms = clock_mono_ms() + WAIT_MS + 1000 * more;
    json_object_set_new(q->body, "n", json_integer(++self->next_n));
    *end = q;
    return end;
}

/* Sends a request when connected. False: it is too large for a message and can never be sent. */
static bool
mineask_send(mineasks_t *self, mineask_t *q)
{
    if (!self->ready || (q->once && q->sent))
        return true;
    int rc = self->host.send(self->host.cookie, q->msg, q->body, NULL, 0);
    q->sent = rc == 0;
    return rc != -EMSGSIZE;
}

/* A question that can't be sent for want of a connection waits; one that no message can hold fails at once.
 */
void
mineasks_ask(mineasks_t *self, json_int_t id, const json_t *ask)
{
    mineask_t *q = xcalloc(1, sizeof(*q));
    q->id = id;
    q->body = json_deep_copy(ask);
    q->once = str_eq(value_str(ask, "what", ""), "peer");
    q->msg = q->once ? MSG_peer_ask : MSG_mine_ask;
    json_object_del(q->body, "what");
    mineask_t **at = mineask_append(self, q);
    if (!mineask_send(self, q))
        mineask_finish(self, at,
                       mineask_failure(EMSGSIZE, q->once ? "the arguments are too large for a message"
                                                         : "the value is too large for the mine"));
}

void
mineasks_cancel(mineasks_t *self, json_int_t id)
{
    for (mineask_t **at = &self->all; *at; at = &(*at)->next)
        if ((*at)->id == id) {
            mineask_drop(at);
            return;
        }
}

void
mineasks_ready(mineasks_t *self)
{
    self->ready = true;
    for (mineask_t *q = self->all; q; q = q->next)
        (void) mineask_send(self, q);
}

/* Only questions about other minions' jobs fail: sent twice, they would run twice. */
void
mineasks_lost(mineasks_t *self)
{
    self->ready = false;
    for (mineask_t **at = &self->all; *at;) {
        if ((*at)->once && (*at)->sent)
            mineask_finish(self, at,
                           mineask_failure(ECONNRESET, "the connection to the master was lost before it "
                                                       "answered: the job may have been published"));
        else
            at = &(*at)->next;
    }
}

/* Another session takes over the open questions, when a minion changes its master. */
void
mineasks_take(mineasks_t *self, mineasks_t *from)
{
    while (from->all != NULL) {
        mineask_t *q = from->all;
        from->all = q->next;
        (void) mineask_append(self, q);
        (void) mineask_send(self, q);
    }
}

/* Answers to unknown numbers are ignored: the asker has given up, or the question was sent twice. */
void
mineasks_message(mineasks_t *self, const json_t *body)
{
    json_t *value = value_get(body, "value");
    for (mineask_t **at = &self->all; *at; at = &(*at)->next) {
        if (value_int((*at)->body, "n", 0) != value_int(body, "n", -1))
            continue;
        json_t *refused = value_get(body, "refused");
        mineask_finish(
            self, at,
            refused != NULL ? json_pack("{s:b, s:{s:O}}", "ok", true, "value", "refused", refused)
            : value != NULL && (*at)->once ? json_pack("{s:b, s:{s:O}}", "ok", true, "value", "value", value)
            : value != NULL                ? json_pack("{s:b, s:O}", "ok", true, "value", value)
                                           : mineask_failure((int) value_int(body, "code", EREMOTEIO),
                                                             value_str(body, "error", "the master gave no answer")));
        return;
    }
}

/* Milliseconds until the next question's time is over. */
int
mineasks_step(mineasks_t *self)
{
    int64_t now = clock_mono_ms(), next = now + WAIT_MS;
    for (mineask_t **at = &self->all; *at;) {
        if (now >= (*at)->until_ms) {
            mineask_finish(self, at, mineask_failure(ETIMEDOUT, "no master has answered within a minute"));
            continue;
        }
        next = (*at)->until_ms < next ? (*at)->until_ms : next;
        at = &(*at)->next;
    }
    return (int) (next - now);
}

mineasks_t *
mineasks_new(const download_host_t *host)
{
    mineasks_t *self = xcalloc(1, sizeof(*self));
    self->host = *host;
    return self;
}

void
mineasks_destroy(mineasks_t **self_p)
{
    mineasks_t *self = STEAL(*self_p);
    while (self != NULL && self->all != NULL)
        mineask_drop(&self->all);
    free(self);
}
