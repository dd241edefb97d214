/* callsession.c - drives one session by hand: callsession_turn() polls and steps it until a condition holds
 * or time is up. Events and returns stay in `unsettled` until acknowledged, and are sent again on each
 * reconnect.
 */
#include "uplink/claim.h"
#include "uplink/callsession.h"

#include <unistd.h>
#include <zmq.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/saltpki.h"
#include "uplink/download.h"
#include "uplink/masters.h"
#include "uplink/session.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define SEND_WAIT_MS   10000 /* to reconnect, when the connection was lost while the function ran */
#define PILLAR_WAIT_MS 90000 /* longer than the master may compile */

struct callsession {
    void *zctx;
    key_pair_t *keys;
    session_t *session;
    json_t *claim; /* owned: claim_grains(); NULL: none */
    char host[256], boot[LIMIT_BOOT], *known_file, *sign_file;
    char *reason;      /* owned: why there is no connection; NULL: unknown */
    json_t *unsettled; /* owned: [{msg, body}] without an acknowledgement */
    json_int_t next_event;
    json_int_t asked; /* number of the open request for a pillar; 0: none */
    json_t *answer;   /* owned: its answer */
    downloads_t *downloads;
    json_t *file_answer; /* owned: the answer to the open file request */
    int64_t step_ms;     /* monotonic: when the session wants its next step at the latest */
};

static void
because(callsession_t *self, const char *reason)
{
    free(self->reason);
    self->reason = xstrdup(reason);
}

static void
callsession_on_why(void *cookie, const char *sentence)
{
    because(cookie, sentence);
}

static void
callsession_on_state(void *cookie, session_state_t state, const char *reason)
{
    callsession_t *self = cookie;
    size_t i;
    json_t *one;
    if (reason != NULL)
        because(self, reason);
    if (state != SESSION_READY) {
        downloads_lost(self->downloads);
        return;
    }
    downloads_ready(self->downloads);
    /* After a reconnect: send again what the master has not acknowledged. */
    json_array_foreach (self->unsettled, i, one)
        (void) session_send(self->session, (wire_msg_t) value_int(one, "msg", MSG_COUNT),
                            value_get(one, "body"), NULL);
}

/* True when an acknowledgement names this message: a return by its jid, an event by its number. */
static bool
is_acked(const json_t *one, const json_t *jids, const json_t *events)
{
    json_t *body = value_get(one, "body"), *id;
    size_t i;
    json_array_foreach (jids, i, id)
        if (json_is_string(id) && json_equal(id, value_get(body, "jid")))
            return true;
    json_array_foreach (events, i, id)
        if (json_is_integer(id) && json_equal(id, value_get(body, "n")))
            return true;
    return false;
}

/* session_host_t: the master has stored these; whatever has no acknowledgement is sent again after a
 * reconnect. */
static void
callsession_on_ack(void *cookie, json_t *jids, json_t *events)
{
    callsession_t *self = cookie;
    for (size_t i = json_array_size(self->unsettled); i-- > 0;)
        if (is_acked(json_array_get(self->unsettled, i), jids, events))
            (void) json_array_remove(self->unsettled, i);
}

/* session_host_t: pieces of files go to the downloads; a pillar is taken only when it answers the question of
 * now. */
static void
callsession_on_answer(void *cookie, wire_msg_t msg, json_t *body, const void *bytes, size_t n)
{
    callsession_t *self = cookie;
    downloads_message(self->downloads, msg, body, bytes, n);
    if (msg != MSG_pillar || self->asked == 0 || value_int(body, "n", 0) != self->asked)
        return;
    json_decref(self->answer);
    self->answer = json_incref(body);
}

static void
callsession_step(callsession_t *self)
{
    int wait = session_step(self->session, NULL);
    self->step_ms = clock_mono_ms() + wait;
}

/* Waits at most until `until` (monotonic ms) for something to do, and does it. Polls before it steps: what
 * the caller waits for may come in any step, and the caller looks after each. */
static void
callsession_turn(callsession_t *self, int64_t until)
{
    void *socks[SESSION_SOCKETS];
    zmq_pollitem_t items[SESSION_SOCKETS];
    int64_t wait = (until < self->step_ms ? until : self->step_ms) - clock_mono_ms();
    size_t n = session_sockets(self->session, socks);
    for (size_t i = 0; i < n; i++)
        items[i] = (zmq_pollitem_t){ socks[i], 0, ZMQ_POLLIN, 0 };
    (void) zmq_poll(items, (int) n, wait > 0 ? (long) wait : 0);
    callsession_step(self);
}

/* Waits for READY. A pending or refused key is final here: salt-call does not wait for an operator. */
static int
wait_ready(callsession_t *self, int timeout_ms, fail_t *err)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    for (;;) {
        session_state_t state = session_state(self->session);
        if (state == SESSION_READY)
            return 0;
        if (state == SESSION_PENDING || state == SESSION_REFUSED || state == SESSION_STRANGER)
            return fail_set(err, -EACCES, "master %s: %s", self->host, self->reason);
        if (clock_mono_ms() >= until)
            return fail_set(err, -ETIMEDOUT,
                            "Unable to reach the master at %s within %d seconds%s%s "
                            "(salt-call --local works without a master)",
                            self->host, timeout_ms / 1000, self->reason != NULL ? ": " : "",
                            self->reason != NULL ? self->reason : "");
        callsession_turn(self, until);
    }
}

/* Opens a session with the nth master, in place of the one before. */
static int
callsession_connect(callsession_t *self, const conf_t *conf, size_t nth, const json_t *master, int timeout_ms,
                    fail_t *err)
{
    session_destroy(&self->session); /* it has the files' names */
    free(self->known_file);
    free(self->sign_file);
    free(STEAL(self->reason)); /* another master's */
    (void) str_copy(self->host, sizeof(self->host), value_str(master, "host", ""));
    masters_key_files(conf, nth, self->host, &self->known_file, &self->sign_file);
    session_conf_t sc = { .id = conf_str(conf, "id"),
                          .role = "call",
                          .boot = self->boot,
                          .host = self->host,
                          .port = (int) value_int(master, "port", 0),
                          .publish_port = (int) conf_int(conf, "publish_port"),
                          .hello_port = (int) conf_int(conf, "hello_port"),
                          .source = conf_str(conf, "source_address"),
                          .finger = conf_str(conf, "master_finger"),
                          .known_file = self->known_file,
                          .sign_file = self->sign_file,
                          .verify_sign = conf_bool(conf, "verify_master_pubkey_sign"),
                          .always_verify = conf_bool(conf, "always_verify_signature"),
                          .keys = self->keys,
                          .claim = self->claim,
                          .wait_ms = timeout_ms,
                          .wait_max_ms = timeout_ms,
                          .look_ms = timeout_ms / 2 };
    const session_host_t host = { .on_state = callsession_on_state,
                                  .on_ack = callsession_on_ack,
                                  .on_answer = callsession_on_answer,
                                  .on_why = callsession_on_why,
                                  .cookie = self };
    self->session = session_new(self->zctx, &sc, &host);
    self->step_ms = 0;
    return wait_ready(self, timeout_ms, err);
}

static int
callsession_file_send(void *cookie, wire_msg_t msg, const json_t *body, const void *bytes, size_t n)
{
    session_t *session = ((callsession_t *) cookie)->session;
    return bytes != NULL ? session_send_bytes(session, msg, body, bytes, n, NULL)
                         : session_send(session, msg, body, NULL);
}

static void
callsession_file_done(void *cookie, json_int_t id, json_t *answer)
{
    ((callsession_t *) cookie)->file_answer = json_incref(answer);
}

/* Moves keys of Salt's own format away, as the minion does: salt-call may be the first to run here. */
static int
set_aside(const char *pki, fail_t *err)
{
    AUTO_FREE char *of_salt = NULL;
    int rc = saltpki_set_aside(pki, &of_salt, err);
    if (of_salt != NULL)
        log_warning("%s", of_salt);
    return rc;
}

callsession_t *
callsession_open(const conf_t *conf, const json_t *grains, int timeout_ms, fail_t *err)
{
    json_auto_t *masters = masters_parse(conf, err);
    const char *pki = conf_str(conf, "pki_dir");
    callsession_t *self = xcalloc(1, sizeof(*self));
    self->unsettled = json_array();
    self->claim = claim_grains(conf, grains);
    const download_host_t host = { callsession_file_send, callsession_file_done, self };
    self->downloads = downloads_new(&host);
    (void) snprintf(self->boot, sizeof(self->boot), "call-%llx-%x", (unsigned long long) clock_wall_us(),
                    (unsigned) getpid());
    /* The keys are the minion's own, which may be made here when salt-call is the first to run. */
    self->keys = masters != NULL && fs_own_dir(pki, 0700, err) == 0 && set_aside(pki, err) == 0
                     ? key_pair_open(pki, "minion", NULL, err)
                     : NULL;
    self->zctx = self->keys != NULL ? zmq_ctx_new() : NULL;
    if (self->keys != NULL && self->zctx == NULL)
        (void) fail_set(err, -errno, "libzmq can't begin: %s", strerror(errno));
    size_t i;
    json_t *one;
    int rc = self->zctx != NULL ? -ETIMEDOUT : -EINVAL;
    /* Masters are tried in their order; the first one that serves is used, and the last error is told. */
    json_array_foreach (masters, i, one) {
        if (self->zctx == NULL || rc == 0)
            break;
        fail_clear(err);
        rc = callsession_connect(self, conf, i, one, timeout_ms, err);
    }
    if (rc < 0)
        callsession_destroy(&self);
    return self;
}

/* Sends a message. Steps the session first, as it stood still while the function ran, and waits for a
 * reconnect. `settles`: it will be acknowledged, so keep it until then. */
static int
callsession_send(callsession_t *self, wire_msg_t msg, const json_t *body, bool settles, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    callsession_step(self);
    if (session_state(self->session) != SESSION_READY && wait_ready(self, SEND_WAIT_MS, err) < 0)
        return err->code;
    int rc = session_send(self->session, msg, body, &why);
    if (rc < 0)
        return fail_set(err, rc, "The master %s did not get it: %s", self->host,
                        why.text != NULL ? fail_text(&why) : "it is not connected any more");
    if (settles)
        json_array_append_new(self->unsettled,
                              json_pack("{s:i, s:O}", "msg", (int) msg, "body", (json_t *) body));
    return 0;
}

int
callsession_event(callsession_t *self, const char *tag, json_t *data, json_t *more, fail_t *err)
{
    json_auto_t *body = json_pack("{s:I, s:s, s:O, s:O*}", "n", ++self->next_event, "tag", tag, "data", data,
                                  "more", more);
    return callsession_send(self, MSG_event, body, true, err);
}

int
callsession_revoke(callsession_t *self, bool preserve_cache, fail_t *err)
{
    json_auto_t *body = json_pack("{s:b}", "preserve_minion_cache", preserve_cache);
    return callsession_send(self, MSG_revoke, body, false, err);
}

int
callsession_return(callsession_t *self, const json_t *ret, fail_t *err)
{
    return callsession_send(self, MSG_ret, ret, true, err);
}

int
callsession_grains(callsession_t *self, json_t *grains, fail_t *err)
{
    json_auto_t *body = json_pack("{s:O}", "grains", grains);
    return callsession_send(self, MSG_grains, body, false, err);
}

/* Sends the request for a pillar until it is answered: again after a lost connection, and after the pause
 * that a busy master names. */
static int
callsession_ask(callsession_t *self, const json_t *body, int64_t until, fail_t *err)
{
    while (clock_mono_ms() < until) {
        if (callsession_send(self, MSG_pillar_ask, body, false, err) < 0)
            return err->code;
        while (self->answer == NULL && session_state(self->session) == SESSION_READY &&
               clock_mono_ms() < until)
            callsession_turn(self, until);
        json_int_t again = value_int(self->answer, "again", 0);
        if (self->answer != NULL && again <= 0)
            return 0;
        json_decref(self->answer);
        self->answer = NULL;
        int64_t pause = clock_mono_ms() + again;
        while (clock_mono_ms() < pause && clock_mono_ms() < until)
            callsession_turn(self, pause);
    }
    return fail_set(err, -ETIMEDOUT, "The master %s did not send a pillar within %d seconds", self->host,
                    PILLAR_WAIT_MS / 1000);
}

/* NEW pillar, or NULL with *err. The number keeps a late answer to an earlier question apart from this one's.
 */
json_t *
callsession_pillar(callsession_t *self, json_t *ask, json_t *grains, fail_t *err)
{
    json_auto_t *body = json_copy(ask);
    json_object_set_new(body, "n", json_integer(++self->next_event));
    json_object_set(body, "grains", grains);
    self->asked = self->next_event;
    int rc = callsession_ask(self, body, clock_mono_ms() + PILLAR_WAIT_MS, err);
    json_auto_t *answer = STEAL(self->answer);
    self->asked = 0;
    if (rc < 0)
        return NULL;
    json_t *pillar = value_get(answer, "pillar");
    if (json_is_object(pillar))
        return json_incref(pillar);
    (void) fail_kind(err, FAIL_COMMAND, -EIO, "%s", value_str(answer, "error", "the master sent no pillar"));
    return NULL;
}

/* The session may have been left alone for long: first what has happened to it. */
int
callsession_file(void *cookie, json_t *ask, json_t **ret_value, fail_t *err)
{
    callsession_t *self = cookie;
    callsession_step(self);
    downloads_ask(self->downloads, 1, ask);
    while (self->file_answer == NULL)
        callsession_turn(self, clock_mono_ms() + downloads_step(self->downloads));
    json_auto_t *answer = STEAL(self->file_answer);
    if (value_bool(answer, "ok", false)) {
        *ret_value = json_incref(value_get(answer, "value"));
        return 0;
    }
    return fail_set(err, -(int) value_int(answer, "code", EIO), "%s", value_str(answer, "error", ""));
}

/* Events and returns are on the way when the function ends; the process may only end when the master has
 * them. */
int
callsession_settle(callsession_t *self, int timeout_ms, fail_t *err)
{
    int64_t until = clock_mono_ms() + timeout_ms;
    while (json_array_size(self->unsettled) > 0 && clock_mono_ms() < until)
        callsession_turn(self, until);
    size_t left = json_array_size(self->unsettled);
    return left == 0 ? 0
                     : fail_set(err, -ETIMEDOUT,
                                "The master %s did not confirm %zu messages: the result may not be stored",
                                self->host, left);
}

void
callsession_destroy(callsession_t **self_p)
{
    callsession_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    session_destroy(&self->session);
    downloads_destroy(&self->downloads);
    if (self->zctx != NULL)
        (void) zmq_ctx_term(self->zctx);
    key_pair_destroy(&self->keys);
    json_decref(self->claim);
    json_decref(self->unsettled);
    json_decref(self->answer);
    free(self->known_file);
    free(self->sign_file);
    free(self->reason);
    free(self);
}
