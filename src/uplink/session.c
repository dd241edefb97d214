/* session.c - the state machine of one connection to one master.
 *
 * The states and the transitions that are allowed between them are the table `states`; session_move() is the
 * only writer and asserts them. Three things drive it: messages of the DEALER and the SUB socket, libzmq's
 * monitor events (connects, disconnects, handshake failures) and the timers in `session_t`, each a monotonic
 * time in ms with 0 for "not set". Trust in keys is decided in trust.c, the wording of failures in
 * connfail.c. */
#include "uplink/session.h"

#include <arpa/inet.h>
#include <limits.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/net/jobmsg.h"
#include "common/net/knock.h"
#include "common/net/proto.h"
#include "common/net/sock.h"
#include "uplink/connfail.h"
#include "uplink/trust.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define ASK_TIMEOUT_MS   5000
#define SUB_SPREAD_MS    2000 /* SUB follows the DEALER within this time, unless the master names another */
#define SUB_SPREAD_MAX   120000
#define STEP_MAX_MS      60000
#define GREET_MS         15000 /* a hello without an answer: a new connection */
#define WAIT_MIN_MS      50
#define SUB_AGAIN_MS     5000 /* until a SUB that could not be made is tried again */
#define HOLD_MS          25   /* a return within this time says all that `started` would */
#define RECONNECT_MS     100
#define RECONNECT_MAX_MS 2000
#define FLEET_SHARE      3     /* of the time in which a fleet subscribes, all of it knocks once */
#define LOOK_MS          2500  /* without a connection, until it is looked why; */
#define LOOK_AGAIN_MS    10000 /* once more, which doubles up to */
#define LOOK_MAX_MS      60000
#define KNOCK_MS         1500 /* for the ports to answer */
#define RESOLVE_MS       2200 /* for the resolver and the ports: with LOOK_MS less than five seconds */
#define DRAIN_BUDGET     256  /* messages of one socket in a step: others wait meanwhile */
#define DEALER_EVENTS                                                                                        \
    (ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |  \
     ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |                                  \
     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL)

#define ASK_EVENTS (ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_DELAYED | ZMQ_EVENT_CONNECT_RETRIED)

typedef struct held {
    char *jid;
    json_int_t pid;
} held_t;

struct session {
    void *zctx;
    session_conf_t conf;
    session_host_t host;
    session_state_t state;
    trust_t *trust; /* which key is the master's */
    void *dealer, *sub, *monitor, *ask;
    void *watched;      /* by the monitor: `dealer` or `ask` */
    bool attached;      /* the dealer has a connection, or tries to get one */
    int64_t ask_until;  /* monotonic ms; 0: not asking */
    int64_t retry_at;   /* a new connection after a refusal; 0: none */
    int64_t sub_at;     /* when SUB is to be connected; 0: done or not wanted */
    int64_t greet_at;   /* when the hello counts as lost; 0: none is out */
    bool on_way;        /* this attempt to connect came as far as TCP */
    int pause_ms;       /* the last pause before a reconnect; 0: a welcome came since */
    knock_t *knock;     /* the probe of the master's ports that is under way; NULL: none */
    int64_t look_at;    /* when the next probe is due; 0: none */
    int64_t look_until; /* when the probe under way counts as failed */
    int look_ms;        /* pause after that probe; doubles */
    json_t *untold;     /* owned: session_elsewhere() jids since the hello under way; NULL: none */
    int64_t held_until; /* when `held` is told; 0: nothing is held */
    held_t *held;       /* jobs whose `started` is delayed; mostly one */
    size_t n_held, cap_held;
    int wait_ms;       /* the next refusal's waiting time */
    int publish_port;  /* as the master says */
    int sub_spread_ms; /* as well */
    json_int_t pub_seq;
};

#define B(s) (1u << SESSION_##s)
static const struct {
    const char *name;
    unsigned next;
} states[SESSION_STATES] = {
    [SESSION_ASKING] = { "asking", B(CONNECTING) | B(STRANGER) },
    [SESSION_CONNECTING] = { "connecting", B(GREETING) | B(REFUSED) | B(STRANGER) },
    [SESSION_GREETING] = { "greeting", B(CONNECTING) | B(PENDING) | B(READY) | B(REFUSED) | B(STRANGER) },
    [SESSION_PENDING] = { "pending", B(CONNECTING) | B(GREETING) | B(READY) | B(REFUSED) | B(STRANGER) },
    [SESSION_REFUSED] = { "refused", B(CONNECTING) | B(GREETING) | B(READY) | B(PENDING) | B(STRANGER) },
    [SESSION_STRANGER] = { "stranger", B(CONNECTING) | B(GREETING) | B(REFUSED) },
    [SESSION_READY] = { "ready", B(CONNECTING) | B(GREETING) | B(REFUSED) | B(PENDING) | B(STRANGER) },
};
#undef B

const char *
session_state_name(session_state_t s)
{
    salt_assert(s < SESSION_STATES);
    return states[s].name;
}

/* Milliseconds without a connection until the first probe. In a large fleet most minions wait longer than
 * LOOK_MS for their turn to reconnect; probing then would only load a master that is busy with handshakes. */
static int
look_ms(const session_t *self)
{
    int fleet = self->sub_spread_ms / FLEET_SHARE;
    if (self->conf.look_ms > 0 && self->conf.look_ms < LOOK_MS)
        return self->conf.look_ms;
    return fleet > RECONNECT_MAX_MS ? 2 * fleet : LOOK_MS;
}

/* Starts the probe timer in the states in which only a look at the ports can tell the cause, and stops it in
 * the others. GREETING keeps a running timer: the connection is not proven yet. */
static void
watch_reach(session_t *self)
{
    bool looks = self->host.on_why != NULL &&
                 (self->state == SESSION_ASKING || self->state == SESSION_CONNECTING);
    if (looks && !self->look_at) {
        self->look_at = clock_mono_ms() + look_ms(self);
        self->look_ms = LOOK_AGAIN_MS;
    } else if (!looks && self->state != SESSION_GREETING) {
        self->look_at = 0;
        knock_destroy(&self->knock);
    }
}

/* The only writer of `state`. A transition that is not in `states` is a bug and aborts. `reason`: a sentence
 * for the log and the user; NULL: none. */
static void
session_move(session_t *self, session_state_t to, const char *reason)
{
    if (self->state == to)
        return;
    salt_assert(states[self->state].next & (1u << to));
    log_debug("session with %s: %s -> %s", self->conf.host, states[self->state].name, states[to].name);
    self->state = to;
    watch_reach(self);
    if (self->host.on_state != NULL)
        self->host.on_state(self->host.cookie, to, reason);
}

/* A random number in 0..ms-1, from the system's generator: minions that boot from one image at one moment
 * must not draw the same numbers. */
static int
jitter(int ms)
{
    uint32_t r;
    key_random(&r, sizeof(r));
    return ms > 0 ? (int) (r % (uint32_t) ms) : 0;
}

/* ---- sockets that are watched ---------------------------------------------------------------- */

static void
session_close(session_t *self, void **sock)
{
    if (*sock == self->watched) {
        sock_unmonitor(*sock, &self->monitor);
        self->watched = NULL;
    }
    sock_close(sock);
}

/* Moves the only monitor to `sock`: a session watches its request for the key or its DEALER, never both. */
static void
session_watch(session_t *self, void *sock, const char *name, int events, fail_t *err)
{
    if (self->watched != NULL)
        sock_unmonitor(self->watched, &self->monitor);
    self->monitor = sock_monitor(self->zctx, sock, name, events, err);
    self->watched = self->monitor != NULL ? sock : NULL;
}

/* ---- the master's key ------------------------------------------------------------------------ */

/* Asks the hello port for the master's key (plaintext, see introduced), and again every ASK_TIMEOUT_MS.
 * Without a hello port the state is STRANGER until an operator puts a key file in place. */
static void
session_ask(session_t *self)
{
    fail_auto_t err = FAIL_INIT;
    if (self->conf.hello_port == 0) {
        session_move(
            self, SESSION_STRANGER,
            trust_key(self->trust) != NULL
                ? "the handshake with the master failed: its key may have changed, and hello_port is 0: "
                  "compare pki/minion/minion_master.pub with the master's master.pub"
                : "the master's key is not known and hello_port is 0: copy the master's master.pub to "
                  "pki/minion/minion_master.pub");
        self->retry_at = clock_mono_ms() + self->conf.wait_max_ms;
        return;
    }
    if (self->ask == NULL) {
        self->on_way = false;
        self->ask = sock_new(self->zctx, SOCK_HELLO_CLIENT, NULL, NULL, &err);
        if (self->ask == NULL ||
            sock_connect_from(self->ask, self->conf.source, self->conf.host, self->conf.hello_port, &err) < 0)
            log_error("%s", fail_text(&err));
        if (self->ask != NULL && self->dealer == NULL && self->monitor == NULL)
            session_watch(self, self->ask, "ask", ASK_EVENTS, NULL);
    }
    if (self->ask != NULL)
        (void) sock_send(self->ask, "{}", 2);
    self->ask_until = clock_mono_ms() + ASK_TIMEOUT_MS;
}

/* Ends the connection; the socket and its monitor stay for the next one. */
static void
detach(session_t *self)
{
    if (self->attached)
        (void) sock_disconnect(self->dealer, self->conf.source, self->conf.host, self->conf.port);
    self->attached = false;
}

static void *
session_sock(session_t *self, sock_kind_t kind, fail_t *err)
{
    void *sock = sock_new(self->zctx, kind, self->conf.keys, trust_key(self->trust), err);
    if (sock != NULL && self->conf.no_heartbeat)
        sock_no_heartbeat(sock);
    return sock;
}

/* Makes the DEALER on first use, tells it the server key to expect, and moves the monitor to it. False with
 * *err. */
static bool
have_dealer(session_t *self, fail_t *err)
{
    if (self->dealer == NULL) {
        self->dealer = session_sock(self, SOCK_DEALER_CLIENT, err);
        if (self->dealer == NULL)
            return false;
        sock_once(self->dealer);
    }
    sock_expect(self->dealer, trust_key(self->trust));
    if (self->watched != self->dealer)
        session_watch(self, self->dealer, "dealer", DEALER_EVENTS, err);
    return self->watched == self->dealer;
}

/* Starts a new connection with the key that is trusted now. It must be known: the caller asks first
 * (session_ask). */
static void
session_connect(session_t *self)
{
    fail_auto_t err = FAIL_INIT;
    detach(self);
    sock_close(&self->sub);
    self->sub_at = self->greet_at = 0;
    self->on_way = false;
    if (have_dealer(self, &err)) {
        /* Drops messages and monitor events that belong to the connection before: read later they would be
         * taken for ones of the next. */
        char unused[1];
        int event, value;
        while (zmq_recv(self->dealer, unused, sizeof(unused), ZMQ_DONTWAIT) >= 0)
            ;
        while (sock_monitor_next(self->monitor, &event, &value))
            ;

        self->attached = sock_connect_from(self->dealer, self->conf.source, self->conf.host, self->conf.port,
                                           &err) == 0;
    }
    if (!self->attached) {
        log_error("master %s: %s", self->conf.host, fail_text(&err));
        self->retry_at = clock_mono_ms() + self->conf.wait_ms;
    }
    session_move(self, SESSION_CONNECTING, NULL);
}

/* Refuses the master's key until the next retry. TAKES `why`, the sentence to log. */
static void
session_stranger(session_t *self, char *why)
{
    AUTO_FREE char *reason = why;
    session_move(self, SESSION_STRANGER, reason);
    self->retry_at = clock_mono_ms() + self->conf.wait_max_ms;
}

static void
tell_new_key(session_t *self, bool first)
{
    char finger[FINGER_LEN];
    key_finger(trust_key(self->trust), finger);
    log_info("master %s: its key is %s from now on, fingerprint %s", self->conf.host,
             first ? "trusted" : "another one, which its signing key vouches for,", finger);
    if (!first && self->host.on_new_key != NULL)
        self->host.on_new_key(self->host.cookie, finger);
}

/* True in the states that follow a CURVE handshake: the peer proved that it holds the trusted key. */
static bool
is_proven(const session_t *self)
{
    return self->state == SESSION_GREETING || self->state == SESSION_PENDING || self->state == SESSION_READY;
}

/* NEW sentence about incompatible protocol versions; NULL: the master's version is compatible. */
static char *
session_proto_problem(const json_t *said)
{
    char release[LIMIT_RELEASE];
    proto_release(said, release);
    return proto_problem((proto_side_t){ WIRE_PROTO, HALITE_RELEASE },
                         (proto_side_t){ value_int(said, "proto", 0), release });
}

/* Handles the answer of the hello port. It is plaintext and may be anybody's, so it may only introduce a key
 * where none is trusted, or one that the signing key vouches for; on a proven connection it is ignored. */
static void
introduced(session_t *self, const char *text, size_t len)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *answer = value_parse(text, len, LIMIT_HELLO_ANSWER, "hello", &err);
    bool proven = is_proven(self);
    char *why = NULL;
    trust_verdict_t verdict = answer != NULL && !proven ? trust_claim(self->trust, answer, &why, &err)
                                                        : TRUST_SAME;
    if (err.text != NULL) {
        log_warning("master %s, port %d: not a Halite master: %s", self->conf.host, self->conf.hello_port,
                    fail_text(&err));
        return;
    }
    self->ask_until = 0;
    session_close(self, &self->ask);
    /* An unauthenticated answer only warns about versions; the welcome decides. */
    AUTO_FREE char *problem = session_proto_problem(answer);
    if (problem != NULL && !proven)
        log_warning("master %s, port %d: %s", self->conf.host, self->conf.hello_port, problem);
    if (verdict == TRUST_REFUSED)
        session_stranger(self, why);
    else if (verdict != TRUST_SAME)
        tell_new_key(self, verdict == TRUST_NEW);
    if (verdict == TRUST_NEW || verdict == TRUST_CHANGED ||
        (verdict == TRUST_SAME && self->state == SESSION_STRANGER))
        session_connect(self);
}

/* The master announces its next key on a connection that proves the present one. The reconnect is spread over
 * the fleet's interval; until then this connection serves. */
static void
successor(session_t *self, const json_t *body)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *why = NULL;
    trust_verdict_t verdict = trust_claim(self->trust, body, &why, &err);
    if (verdict == TRUST_REFUSED)
        log_error("master %s: %s", self->conf.host, why != NULL ? why : fail_text(&err));
    if (verdict != TRUST_CHANGED)
        return;
    tell_new_key(self, false);
    self->retry_at = clock_mono_ms() + 1 + jitter(self->sub_spread_ms);
}

/* ---- hello and welcome ----------------------------------------------------------------------- */

/* The newest LIMIT_HELLO_JIDS jobs that run or whose returns wait: a hello has a size limit. The master
 * learns of older ones from their returns. NEW array. */
static json_t *
session_pending(session_t *self)
{
    json_auto_t *all = self->host.pending(self->host.cookie);
    json_t *newest = json_array();
    size_t n = json_array_size(all);
    for (size_t i = n > LIMIT_HELLO_JIDS ? n - LIMIT_HELLO_JIDS : 0; i < n; i++)
        json_array_append(newest, json_array_get(all, i));
    return newest;
}

/* NEW array: the newest of this master's jobs whose returns other masters stored, as many as the hello still
 * has room for; NULL: this session keeps no record. */
static json_t *
session_own_elsewhere(const session_t *self, size_t n_pending)
{
    size_t room = LIMIT_HELLO_JIDS - n_pending;
    if (self->conf.seen == NULL || self->conf.name == NULL)
        return NULL;
    return seen_elsewhere(self->conf.seen, self->conf.name,
                          room < LIMIT_HELLO_ELSEWHERE ? room : LIMIT_HELLO_ELSEWHERE);
}

/* Replaces the list of jids to report after the welcome. TAKES `jids`, which may be NULL. */
static void
session_untold(session_t *self, json_t *jids)
{
    json_decref(self->untold);
    self->untold = jids;
}

/* Sends the hello: who we are and which jobs the master must not send again. In READY and PENDING it answers
 * the master's probe without a change of state; else a welcome is expected within GREET_MS. */
static void
session_hello(session_t *self)
{
    json_auto_t *body = json_pack("{s:s, s:s, s:s, s:i, s:s, s:s}", "id", self->conf.id, "role",
                                  self->conf.role, "boot", self->conf.boot, "proto", WIRE_PROTO, "version",
                                  HALITE_VERSION, "halite", HALITE_RELEASE);
    if (self->conf.series != NULL && !str_eq(self->conf.series, self->conf.boot))
        json_object_set_new(body, "series", json_string(self->conf.series));
    if (self->conf.claim != NULL)
        json_object_set(body, "autosign_grains", (json_t *) self->conf.claim);
    if (self->host.pending != NULL)
        json_object_set_new(body, "pending", session_pending(self));
    size_t returns = 0, events = 0;
    if (self->host.kept != NULL)
        self->host.kept(self->host.cookie, &returns, &events);
    if (returns + events > 0)
        json_object_set_new(
            body, "kept",
            json_pack("{s:I, s:I}", "returns", (json_int_t) returns, "events", (json_int_t) events));
    json_auto_t *elsewhere = session_own_elsewhere(self, json_array_size(value_get(body, "pending")));
    if (json_array_size(elsewhere) > 0)
        json_object_set(body, "elsewhere", elsewhere);
    session_untold(self, NULL);
    fail_auto_t err = FAIL_INIT;
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(MSG_hello, body, &len, &err);
    int rc = text != NULL ? sock_send(self->dealer, text, len) : err.code;
    if (rc < 0)
        log_error("master %s: the hello can't be sent: %s", self->conf.host,
                  text != NULL ? strerror(-rc) : fail_text(&err));
    if (self->state == SESSION_READY || self->state == SESSION_PENDING)
        return;
    self->greet_at = clock_mono_ms() + GREET_MS;
    session_move(self, SESSION_GREETING, NULL);
}

/* NEW sentence for a reason. `detail`: the master's words; NULL: none. */
static char *
session_sentence(const session_t *self, connfail_why_t why, const char *detail)
{
    char finger[FINGER_LEN];
    key_finger(key_pair_public(self->conf.keys), finger);
    return connfail_sentence(&(connfail_facts_t){ .why = why,
                                                  .host = self->conf.host,
                                                  .port = self->conf.port,
                                                  .id = self->conf.id,
                                                  .finger = finger,
                                                  .detail = detail });
}

/* Moves to REFUSED and schedules the next attempt. The pause doubles up to wait_max_ms, plus a quarter at
 * random. */
static void
session_refused(session_t *self, connfail_why_t why, const char *detail)
{
    AUTO_FREE char *sentence = session_sentence(self, why, detail);
    session_move(self, SESSION_REFUSED, sentence);
    self->retry_at = clock_mono_ms() + self->wait_ms + jitter(self->wait_ms / 4);
    self->wait_ms = self->wait_ms * 2 > self->conf.wait_max_ms ? self->conf.wait_max_ms : self->wait_ms * 2;
}

/* The master accepts SUB from accepted keys only, and libzmq does not retry where the handshake was refused;
 * each READY makes a new socket. */
static void
drop_sub(session_t *self)
{
    sock_close(&self->sub);
    self->sub_at = 0;
}

static int
session_own_send(session_t *self, wire_msg_t msg, const json_t *body, fail_t *err)
{
    if (self->state != SESSION_READY)
        return -ENOTCONN;
    size_t len = 0;
    AUTO_FREE char *text = wire_encode(msg, body, &len, err);
    return text != NULL ? sock_send(self->dealer, text, len) : -EMSGSIZE;
}

static void
session_tell_elsewhere(session_t *self, const char *jid)
{
    json_auto_t *body = json_pack("{s:s}", "jid", jid);
    (void) session_own_send(self, MSG_elsewhere, body, NULL);
}

void
session_elsewhere(session_t *self, const char *jid)
{
    if (self->state == SESSION_READY) {
        session_tell_elsewhere(self, jid);
    } else if (self->state == SESSION_GREETING) {
        self->untold = self->untold != NULL ? self->untold : json_array();
        json_array_append_new(self->untold, json_string(jid));
    }
}

/* Enters READY. SUB is connected later, between one half and one and a half of the interval that the master
 * names, so that a fleet does not subscribe at one moment. */
static void
session_accepted(session_t *self, int publish_port, json_int_t sub_spread_ms)
{
    bool sane = sub_spread_ms >= 0 && sub_spread_ms <= SUB_SPREAD_MAX;
    self->sub_spread_ms = sane ? (int) sub_spread_ms : SUB_SPREAD_MAX;
    self->wait_ms = self->conf.wait_ms;
    self->retry_at = 0;
    if (publish_port != self->publish_port)
        drop_sub(self);
    self->publish_port = publish_port;
    if (self->sub == NULL && self->sub_at == 0 && str_eq(self->conf.role, "minion"))
        self->sub_at = clock_mono_ms() + 1 + self->sub_spread_ms / 2 + jitter(self->sub_spread_ms);
    /* A second welcome means that the master restarted: leave READY and enter it again, so that the owner
     * sends unacknowledged returns once more. */
    if (self->state == SESSION_READY)
        session_move(self, SESSION_GREETING, NULL);
    session_move(self, SESSION_READY, NULL);

    size_t i;
    json_t *jid;
    json_array_foreach (self->untold, i, jid)
        session_tell_elsewhere(self, json_string_value(jid));
    session_untold(self, NULL);
}

/* The key waits for acceptance. No retry is scheduled: the connection stays, and the master sends another
 * welcome when salt-key decides. */
static void
pend(session_t *self, const char *reason)
{
    AUTO_FREE char *sentence = session_sentence(self, CONNFAIL_PENDING, reason);
    self->retry_at = 0;
    if (self->state == SESSION_READY)
        session_move(self, SESSION_GREETING, NULL);
    session_move(self, SESSION_PENDING, sentence);
}

/* Handles the welcome: checks its voucher (always_verify_signature) and its protocol version before the state
 * that it grants. A port or an interval out of range falls back to the configured or the largest one. */
static void
session_welcome(session_t *self, const json_t *body)
{
    const char *state = value_str(body, "state", ""), *reason = value_str(body, "reason", "");
    json_int_t port = value_int(body, "publish_port", 0);
    if (self->state == SESSION_ASKING || self->state == SESSION_CONNECTING || self->state == SESSION_STRANGER)
        return;
    self->greet_at = 0;
    self->pause_ms = 0;
    char *why = NULL;
    if (!trust_proven(self->trust, value_get(body, "voucher"), &why)) {
        drop_sub(self);
        detach(self);
        session_stranger(self, why);
        return;
    }
    bool lets_in = str_eq(state, "accepted") || str_eq(state, "pending");
    AUTO_FREE char *problem = lets_in ? session_proto_problem(body) : NULL;
    if (problem != NULL) {
        drop_sub(self);
        session_refused(self, CONNFAIL_PROTOCOL, problem);
        return;
    }
    if (str_eq(state, "accepted")) {
        session_accepted(self, port >= 1 && port <= UINT16_MAX ? (int) port : self->conf.publish_port,
                         value_int(body, "sub_spread_ms", SUB_SPREAD_MS));
        return;
    }
    drop_sub(self);
    connfail_why_t row = connfail_of_welcome(state);
    if (row == CONNFAIL_PENDING)
        pend(self, reason);
    else
        session_refused(self, row, reason);
}

/* ---- delayed `started` ------------------------------------------------------------------------ */

/* Finds a delayed `started` by its jid; searched from the newest, which is nearly always the one asked
 * for. */
static held_t *
held(session_t *self, const char *jid)
{
    size_t i = self->n_held;
    while (i > 0 && !str_eq(self->held[i - 1].jid, jid))
        i--;
    return i > 0 ? &self->held[i - 1] : NULL;
}

/* Delays `started` by HOLD_MS: most jobs return within that time, and then one message does for two. */
static void
session_hold(session_t *self, const char *jid, json_int_t pid)
{
    held_t *h = held(self, jid);
    if (h == NULL && self->n_held == self->cap_held) {
        self->cap_held = self->cap_held ? self->cap_held * 2 : 1;
        self->held = xrealloc(self->held, self->cap_held * sizeof(*self->held));
    }
    if (h == NULL) {
        h = &self->held[self->n_held++];
        h->jid = xstrdup(jid);
    }
    h->pid = pid;
    if (!self->held_until)
        self->held_until = clock_mono_ms() + HOLD_MS;
}

static void
session_let_go(session_t *self, held_t *h)
{
    free(h->jid);
    *h = self->held[--self->n_held];
    if (self->n_held == 0)
        self->held_until = 0;
}

static void
forget_held(session_t *self)
{
    while (self->n_held > 0)
        session_let_go(self, &self->held[self->n_held - 1]);
}

/* Drops the delayed `started` of a job that returns. */
static void
drop_held(session_t *self, const char *jid)
{
    held_t *h = held(self, jid);
    if (h != NULL)
        session_let_go(self, h);
}

int
session_send(session_t *self, wire_msg_t msg, const json_t *body, fail_t *err)
{
    const char *jid = value_str(body, "jid", "");
    if (self->state == SESSION_READY && msg == MSG_started) {
        session_hold(self, jid, value_int(body, "pid", 0));
        return 0;
    }
    if (msg == MSG_ret)
        drop_held(self, jid);
    return session_own_send(self, msg, body, err);
}

int
session_send_return(session_t *self, const char *jid, const char *text, size_t len)
{
    drop_held(self, jid);
    return self->state == SESSION_READY ? sock_send(self->dealer, text, len) : -ENOTCONN;
}

int
session_send_bytes(session_t *self, wire_msg_t msg, const json_t *body, const void *bytes, size_t n,
                   fail_t *err)
{
    size_t len = 0;
    AUTO_FREE char *head = self->state == SESSION_READY ? wire_encode(msg, body, &len, err) : NULL;
    if (head == NULL)
        return -ENOTCONN;
    buf_auto_t frame = BUF_INIT;
    buf_add(&frame, head, len);
    buf_putc(&frame, '\0');
    buf_add(&frame, bytes, n);
    return sock_send(self->dealer, frame.data, frame.len);
}

/* ---- jobs ------------------------------------------------------------------------------------- */

/* True for a function's name or a list of names that is not empty. */
static bool
names_functions(const json_t *fun)
{
    size_t i, n = json_array_size(fun);
    for (i = 0; i < n && json_is_string(json_array_get(fun, i)); i++)
        ;
    return json_is_string(fun) || (n > 0 && i == n);
}

/* Accepts one job. Order matters: a job whose return another master has is only reported as such; any other
 * is held as `started` so that the master hears of it, and runs only if no session of this minion had it
 * before. */
static void
session_job(session_t *self, json_t *body, bool published)
{
    const char *jid = value_str(body, "jid", "");
    if (!clock_is_jid(jid) || !names_functions(value_get(body, "fun"))) {
        log_warning("master %s: a job without a jid or a function is ignored", self->conf.host);
        return;
    }
    if (published) {
        json_int_t seq = value_int(body, "seq", 0);
        if (self->pub_seq != 0 && seq > self->pub_seq + 1)
            log_debug("master %s: %lld broadcasts were missed; the master sends them again", self->conf.host,
                      (long long) (seq - self->pub_seq - 1));
        self->pub_seq = seq;
    }
    if (self->conf.seen != NULL && seen_is_elsewhere(self->conf.seen, jid)) {
        session_tell_elsewhere(self, jid);
        return;
    }
    if (held(self, jid) == NULL)
        session_hold(self, jid, 0);
    bool fresh = self->conf.seen != NULL && seen_add(self->conf.seen, jid);
    log_debug("master %s: job %s arrives%s%s", self->conf.host, jid, published ? ", published to all" : "",
              fresh ? "" : ", and was had before");
    if (!fresh || self->host.on_job == NULL)
        return;
    json_auto_t *job = jobmsg_fields(body);
    self->host.on_job(self->host.cookie, job);
}

/* Decodes and dispatches one frame. Jobs and answers before READY are refused; the SUB socket (`published`)
 * carries nothing but jobs, anything else there is ignored. */
static void
session_handle(session_t *self, const void *data, size_t len, bool published)
{
    fail_auto_t err = FAIL_INIT;
    wire_msg_t msg;
    json_auto_t *body = NULL;
    size_t text_len;
    int rc = wire_open(data, len, WIRE_DOWN, ' ', &msg, &text_len, &err);
    if (rc == 0 && msg == MSG_pillar && self->host.on_pillar != NULL) {
        if (!published && self->state == SESSION_READY)
            self->host.on_pillar(self->host.cookie, data, text_len);
        return;
    }
    if (rc == 0)
        rc = wire_decode(data, len, WIRE_DOWN, ' ', &msg, &body, &err);
    /* Exit without memory: the next networking process sends a hello, and the master repeats what is lost. */
    if (rc == -ENOMEM)
        salt_no_memory(len);
    if (rc < 0) {
        log_warning("master %s: refused: %s", self->conf.host, fail_text(&err));
        return;
    }
    if (msg == MSG_job && self->state != SESSION_READY)
        log_warning("master %s: a job before the welcome is refused", self->conf.host);
    else if (msg == MSG_job)
        session_job(self, body, published);
    else if (msg == MSG_welcome && !published)
        session_welcome(self, body);
    else if (msg == MSG_master_key && !published)
        successor(self, body);
    else if (msg == MSG_ack && !published && self->host.on_ack != NULL)
        self->host.on_ack(self->host.cookie, value_get(body, "jids"), value_get(body, "events"));
    else if (msg != MSG_ack && !published && self->state == SESSION_READY && self->host.on_answer != NULL) {
        size_t n;
        const void *bytes = wire_bytes(data, len, &n);
        self->host.on_answer(self->host.cookie, msg, body, bytes, n);
    }
}

/* ---- sockets ---------------------------------------------------------------------------------- */

/* Reads at most `budget` frames. False: the socket is drained. An empty frame is the master's probe, which a
 * hello answers. */
static bool
session_drain(session_t *self, void **sock, bool published, int budget)
{
    zmq_msg_t frame;
    while (*sock && budget-- > 0) {
        (void) zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, *sock, ZMQ_DONTWAIT) < 0)
            return false;
        if (zmq_msg_size(&frame) > 0)
            session_handle(self, zmq_msg_data(&frame), zmq_msg_size(&frame), published);
        else if (!published)
            session_hello(self); /* the master's probe: of a new connection, or "are you there?" */
        (void) zmq_msg_close(&frame);
    }
    return *sock != NULL;
}

/* Doubles a pause up to `most`; a pause beyond it stays as it is. */
static int
twice(int ms, int most)
{
    return ms >= most ? ms : ms * 2 < most ? ms * 2 : most;
}

/* The pause before the next reconnect, in ms. All minions lose a master at the same moment: the random share
 * keeps them from reconnecting in step, and `fleet` from coming faster than the master shakes hands: its
 * listen queue holds about four thousand, and a minion that finds it full waits for seconds. */
static int
session_pause(session_t *self)
{
    const session_conf_t *c = &self->conf;
    int last = self->pause_ms, fleet = self->sub_spread_ms / FLEET_SHARE;
    if (c->recon_ms > 0)
        self->pause_ms = last ? twice(last, c->recon_max_ms) : c->recon_ms + jitter(c->recon_spread_ms + 1);
    else if (fleet > RECONNECT_MAX_MS)
        self->pause_ms = last ? fleet : RECONNECT_MS + jitter(fleet);
    else
        self->pause_ms = last ? twice(last, RECONNECT_MAX_MS) : RECONNECT_MS + jitter(RECONNECT_MS);
    return self->pause_ms;
}

/* Handles a lost connection: reads what has arrived, then drops SUB with the DEALER, so that after a master's
 * restart every minion gets its first connection before any gets its second. */
static void
session_lost(session_t *self, int pause_ms)
{
    (void) session_drain(self, &self->dealer, false, INT_MAX);
    drop_sub(self);
    detach(self);
    self->greet_at = 0;
    if (self->state == SESSION_REFUSED || self->state == SESSION_STRANGER)
        return;
    session_move(self, SESSION_CONNECTING, "the connection was lost");
    self->retry_at = clock_mono_ms() + pause_ms;
}

/* True when libzmq gave up an attempt before TCP began and the host is a name: it could not be resolved, or
 * no route leads there. */
static bool
has_no_way(const session_t *self)
{
    struct in6_addr unused;
    return !self->on_way && inet_pton(AF_INET, self->conf.host, &unused) != 1 &&
           strchr(self->conf.host, ':') == NULL;
}

/* Handles libzmq's monitor events. A handshake that fails without detail usually means another server key, so
 * the hello port is asked before the key counts as changed. */
static void
monitor(session_t *self)
{
    int event, value;
    while (self->monitor != NULL && sock_monitor_next(self->monitor, &event, &value)) {
        if (self->watched == self->dealer && !self->attached)
            continue; /* an event of a connection that is closed */
        if (event == ZMQ_EVENT_CONNECT_RETRIED) {
            /* An attempt to connect failed. libzmq itself retries the socket of the hello port, so that is
             * closed only to keep retry_dns between two look-ups of a name. */
            int pause_ms = has_no_way(self) ? self->conf.retry_dns_ms : 0;
            self->on_way = false;
            if (self->watched == self->dealer) {
                session_lost(self, pause_ms > 0 ? pause_ms : session_pause(self));
            } else if (pause_ms > 0) {
                session_close(self, &self->ask);
                self->ask_until = clock_mono_ms() + pause_ms;
            }

            continue;
        }
        self->on_way = true;
        if (event == ZMQ_EVENT_DISCONNECTED)
            session_lost(self, session_pause(self));
        else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
            session_refused(self, CONNFAIL_BARRED, NULL);
        else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL && self->ask_until == 0 &&
                 self->state != SESSION_STRANGER)
            session_ask(self);
        else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL && self->state != SESSION_REFUSED)
            session_refused(
                self, value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH ? CONNFAIL_SALT : CONNFAIL_FOREIGN,
                NULL);
    }
}

/* ---- the reason for no connection -------------------------------------------------------------- */

/* Starts a probe of the ports. It runs in a thread of its own (knock.h), as the resolver may block. */
static void
session_look(session_t *self, int64_t now)
{
    fail_auto_t err = FAIL_INIT;
    const knock_conf_t knock = { .host = self->conf.host,
                                 .source = self->conf.source,
                                 .ports = { self->conf.port, self->publish_port, self->conf.hello_port },
                                 .timeout_ms = KNOCK_MS };
    knock_destroy(&self->knock);
    self->knock = knock_new(self->zctx, &knock, &err);
    if (self->knock == NULL)
        log_debug("%s", fail_text(&err));
    self->look_until = now + RESOLVE_MS;
    self->look_at = now + RESOLVE_MS + self->look_ms + jitter(self->look_ms / 4);
    self->look_ms = self->look_ms * 2 > LOOK_MAX_MS ? LOOK_MAX_MS : self->look_ms * 2;
}

/* Takes the result of a probe. A probe that is not over by `look_until` means that the resolver hangs. */
static void
session_looked(session_t *self, int64_t now)
{
    knock_said_t said;
    connfail_facts_t facts = { .why = CONNFAIL_RESOLVER };
    AUTO_FREE char *detail = NULL;
    const int ports[KNOCK_PORTS] = { self->conf.port, self->publish_port, self->conf.hello_port };
    bool over = self->knock != NULL && knock_take(self->knock, &said);
    if (self->knock == NULL || (!over && now < self->look_until))
        return;
    bool wrong = !over || connfail_of_knock(&said, ports, self->state == SESSION_ASKING, &facts, &detail);
    knock_destroy(&self->knock);
    facts.detail = detail;
    if (wrong) {
        facts.host = self->conf.host;
        facts.id = self->conf.id;
        AUTO_FREE char *sentence = connfail_sentence(&facts);
        self->host.on_why(self->host.cookie, sentence);
    }
}

/* Runs the timers that are due. Each handler clears its timer first, as it may set it again. */
static void
session_timers(session_t *self, int64_t now)
{
    session_looked(self, now);
    if (self->look_at && now >= self->look_at)
        session_look(self, now);
    if (self->ask_until && is_proven(self)) {
        self->ask_until = 0;
        session_close(self, &self->ask);
    } else if (self->ask_until && now >= self->ask_until) {
        session_ask(self);
    }
    if (self->retry_at && now >= self->retry_at) {
        self->retry_at = 0;

        /* Retries after a refusal. STRANGER asks for the key first; without a hello port it retries the
         * known key, because a handshake cut short is indistinguishable from one with another key. */
        trust_look_again(self->trust);
        AUTO_FREE char *problem = trust_finger_problem(self->trust);
        bool good = self->conf.hello_port == 0 && trust_key(self->trust) != NULL && problem == NULL;
        if (self->state == SESSION_STRANGER && !good)
            session_ask(self);
        else
            session_connect(self);
    }
    if (self->greet_at && now >= self->greet_at) {
        self->greet_at = 0;
        if (self->state == SESSION_GREETING)
            session_connect(self);
    }
    if (self->held_until && now >= self->held_until) {
        /* Sends all delayed `started` messages. Failures are ignored: the next hello lists pending jobs
         * anyway. */
        for (size_t i = 0; i < self->n_held; i++) {
            json_auto_t *started = json_pack("{s:s, s:I}", "jid", self->held[i].jid, "pid",
                                             self->held[i].pid);
            (void) session_own_send(self, MSG_started, started, NULL);
        }
        forget_held(self);
    }
    if (self->sub_at && now >= self->sub_at) {
        fail_auto_t err = FAIL_INIT;
        self->sub_at = 0;
        if (self->state != SESSION_READY)
            return; /* the next welcome asks for it again */
        self->sub = session_sock(self, SOCK_SUB_CLIENT, &err);
        if (self->sub == NULL ||
            sock_connect_from(self->sub, self->conf.source, self->conf.host, self->publish_port, &err) < 0) {
            log_warning("master %s: no broadcasts: %s", self->conf.host, fail_text(&err));
            sock_close(&self->sub);
            self->sub_at = now + SUB_AGAIN_MS;
        }
    }
}

void
session_set_keys(session_t *self, const key_pair_t *keys)
{
    self->conf.keys = keys;
    if (self->dealer == NULL)
        return;
    detach(self);
    drop_sub(self);
    session_close(self, &self->dealer);
    if (self->state != SESSION_ASKING && self->state != SESSION_STRANGER)
        session_connect(self);
}

int
session_step(session_t *self, const void *only)
{
    bool more = false;
    if (only == NULL || only == self->ask) {
        char text[LIMIT_HELLO_ANSWER];
        while (self->ask != NULL) {
            int n = zmq_recv(self->ask, text, sizeof(text), ZMQ_DONTWAIT);
            if (n < 0)
                break;
            introduced(self, text, (size_t) n < sizeof(text) ? (size_t) n : sizeof(text));
        }
    }
    if (only == NULL || only == self->monitor)
        monitor(self);
    if (only == NULL || only == self->dealer)
        more = session_drain(self, &self->dealer, false, DRAIN_BUDGET);
    if (only == NULL || only == self->sub)
        more = session_drain(self, &self->sub, true, DRAIN_BUDGET) || more;
    session_timers(self, clock_mono_ms());
    if (more)
        return 0;
    int64_t next = clock_mono_ms() + STEP_MAX_MS, now = next - STEP_MAX_MS;
    const int64_t timers[] = { self->ask_until,
                               self->retry_at,
                               self->sub_at,
                               self->greet_at,
                               self->held_until,
                               self->look_at,
                               self->knock != NULL ? self->look_until : 0 };
    for (size_t i = 0; i < NELEMS(timers); i++)
        if (timers[i] && timers[i] < next)
            next = timers[i];
    return next > now ? (int) (next - now) : 1;
}

size_t
session_sockets(const session_t *self, void *out[SESSION_SOCKETS])
{
    bool idle = self->dealer != NULL && !self->attached;
    void *all[SESSION_SOCKETS] = { idle ? NULL : self->dealer, self->sub,
                                   idle && self->watched == self->dealer ? NULL : self->monitor, self->ask,
                                   self->knock != NULL ? knock_sock(self->knock) : NULL };
    size_t n = 0;
    for (size_t i = 0; i < NELEMS(all); i++)
        if (all[i] != NULL)
            out[n++] = all[i];
    return n;
}

session_state_t
session_state(const session_t *self)
{
    return self->state;
}

session_t *
session_new(void *zctx, const session_conf_t *conf, const session_host_t *host)
{
    session_t *self = xcalloc(1, sizeof(*self));
    self->zctx = zctx;
    self->conf = *conf;
    self->host = *host;
    if (self->conf.wait_ms < WAIT_MIN_MS)
        self->conf.wait_ms = WAIT_MIN_MS;
    if (self->conf.wait_max_ms < self->conf.wait_ms)
        self->conf.wait_max_ms = self->conf.wait_ms;
    self->wait_ms = self->conf.wait_ms;
    self->publish_port = conf->publish_port;
    self->state = SESSION_ASKING;
    self->trust = trust_new(&(trust_conf_t){ .host = conf->host,
                                             .finger = conf->finger,
                                             .known_file = conf->known_file,
                                             .sign_file = conf->sign_file,
                                             .known_key = conf->known_key,
                                             .verify = conf->verify_sign,
                                             .always = conf->always_verify });
    char *problem = trust_finger_problem(self->trust);
    if (problem != NULL)
        session_stranger(self, problem);
    else if (trust_key(self->trust) != NULL)
        session_connect(self);
    else
        session_ask(self);
    watch_reach(self);
    return self;
}

void
session_destroy(session_t **self_p)
{
    session_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    if (self->state == SESSION_READY) {
        int linger = 500; /* ms: for `bye` and what was sent just before */
        (void) session_send(self, MSG_bye, NULL, NULL);
        (void) zmq_setsockopt(self->dealer, ZMQ_LINGER, &linger, sizeof(linger));
    }
    knock_destroy(&self->knock);
    session_close(self, &self->ask);
    session_close(self, &self->dealer);
    sock_close(&self->sub);
    trust_destroy(&self->trust);
    forget_held(self);
    session_untold(self, NULL);
    free(self->held);
    free(self);
}
