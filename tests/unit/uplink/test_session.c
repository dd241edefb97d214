/* test_session.c - the minion's conversation with a scripted master: first contact, acceptance and refusal, a
 * changed key, jobs that come twice, broadcasts, and a master that talks nonsense. */
#include <czmq.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/net/sock.h"
#include "common/net/zap.h"
#include "uplink/session.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

#define PATIENCE_MS 10000
#define JID         "20261120100000123456"

typedef struct fixture {
    int recon_ms, recon_spread_ms, recon_max_ms;
    const char *source, *host, *series;
    bool always_verify;
    int wait_max_ms; /* 0: soon */
    char *dir, *known;
    void *zctx;
    key_pair_t *master_keys, *keys;
    /* The master: bound to ports of the system's choice, which stay the same over its restarts. */
    void *router, *pub, *hello;
    int port, publish_port, hello_port;
    const char *hello_answer; /* NULL: the public key as it is */
    size_t introduced;        /* so often the hello port has answered */
    json_t *got;              /* messages of the minion that no test has taken */
    uint8_t rid[16];
    size_t rid_len;
    size_t subscriptions;
    /* The minion. */
    session_t *session;
    seen_t *seen;
    json_t *jobs, *acked, *states;
    size_t n_pending;
} fixture_t;

/* ---- the minion's side ----------------------------------------------------------------------- */

static void
on_state(void *cookie, session_state_t state, const char *reason)
{
    fixture_t *f = cookie;

    json_array_append_new(f->states, json_pack("[s, s]", session_state_name(state), reason ? reason : ""));
}

static void
on_job(void *cookie, json_t *job)
{
    fixture_t *f = cookie;

    json_array_append(f->jobs, job);
}

static void
on_ack(void *cookie, json_t *jids, json_t *events)
{
    fixture_t *f = cookie;

    json_array_append_new(f->acked, json_pack("{s:O*, s:O*}", "jids", jids, "events", events));
}

static json_t *
pending(void *cookie)
{
    fixture_t *f = cookie;
    json_t *all = json_array();

    for (size_t i = 0; i < f->n_pending; i++)
        json_array_append_new(all, value_fmt("2026112010000000%04zu", i));
    return all;
}

static void
start_minion_with(fixture_t *f, const char *finger, int hello_port)
{
    session_conf_t conf = { .recon_ms = f->recon_ms,
                            .recon_spread_ms = f->recon_spread_ms,
                            .recon_max_ms = f->recon_max_ms,
                            .retry_dns_ms = 50,
                            .source = f->source,
                            .id = "m1",
                            .role = "minion",
                            .boot = "boot-1",
                            .series = f->series,
                            .host = f->host != NULL ? f->host : "127.0.0.1",
                            .port = f->port,
                            .publish_port = f->publish_port,
                            .hello_port = hello_port,
                            .finger = finger,
                            .known_file = f->known,
                            .keys = f->keys,
                            .seen = f->seen,
                            .name = "here",
                            .wait_ms = 50,
                            .always_verify = f->always_verify,
                            .wait_max_ms = f->wait_max_ms ? f->wait_max_ms : 100 };
    const session_host_t host = {
        .on_state = on_state, .on_job = on_job, .on_ack = on_ack, .pending = pending, .cookie = f
    };

    f->session = session_new(f->zctx, &conf, &host);
}

static void
start_minion(fixture_t *f)
{
    start_minion_with(f, "", f->hello_port);
}

/* ---- the master's side ----------------------------------------------------------------------- */

static int
bind_somewhere(void *sock, int port)
{
    char endpoint[128];
    size_t n = sizeof(endpoint);
    fail_auto_t err = FAIL_INIT;

    /* A port that was just closed may need a moment. */
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (sock_bind(sock, "127.0.0.1", port, false, &err) < 0) {
        if (clock_mono_ms() > until)
            fail_msg("%s", fail_text(&err));
        fail_clear(&err);
        (void) zmq_poll(NULL, 0, 5);
    }
    assert_int_equal(zmq_getsockopt(sock, ZMQ_LAST_ENDPOINT, endpoint, &n), 0);
    return atoi(strrchr(endpoint, ':') + 1);
}

static void
start_master(fixture_t *f)
{
    f->router = sock_new(f->zctx, SOCK_ROUTER_SERVER, f->master_keys, NULL, NULL);
    f->pub = sock_new(f->zctx, SOCK_PUB_SERVER, f->master_keys, NULL, NULL);
    f->hello = sock_new(f->zctx, SOCK_HELLO_SERVER, NULL, NULL, NULL);
    assert_true(f->router && f->pub && f->hello);
    f->port = bind_somewhere(f->router, f->port);
    f->publish_port = bind_somewhere(f->pub, f->publish_port);
    f->hello_port = bind_somewhere(f->hello, f->hello_port);
}

static void
stop_master(fixture_t *f)
{
    sock_close(&f->router);
    sock_close(&f->pub);
    sock_close(&f->hello);
}

static void
answer_hello(fixture_t *f)
{
    char question[256];

    if (zmq_recv(f->hello, question, sizeof(question), ZMQ_DONTWAIT) < 0)
        return;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));
    json_auto_t *answer = json_pack("{s:s, s:i}", "pub", pem, "proto", WIRE_PROTO);
    AUTO_FREE char *text = f->hello_answer ? xstrdup(f->hello_answer) : value_dump(answer);
    assert_int_equal(sock_send(f->hello, text, strlen(text)), 0);
    f->introduced++;
}

static void
read_router(fixture_t *f)
{
    char *text = NULL;
    zmq_msg_t rid, frame;

    (void) zmq_msg_init(&rid);
    (void) zmq_msg_init(&frame);
    if (zmq_msg_recv(&rid, f->router, ZMQ_DONTWAIT) >= 0) {
        assert_true(zmq_msg_recv(&frame, f->router, 0) >= 0);
        assert_false(zmq_msg_more(&frame));
        f->rid_len = zmq_msg_size(&rid);
        memcpy(f->rid, zmq_msg_data(&rid), f->rid_len);
        text = xstrndup(zmq_msg_data(&frame), zmq_msg_size(&frame));
        json_t *msg = json_loads(text, 0, NULL);
        if (msg)
            json_array_append_new(f->got, msg);
        else
            assert_string_equal(text, "");
    }
    free(text);
    (void) zmq_msg_close(&rid);
    (void) zmq_msg_close(&frame);
}

static void
read_pub(fixture_t *f)
{
    char byte[8];

    if (zmq_recv(f->pub, byte, sizeof(byte), ZMQ_DONTWAIT) == 1 && byte[0] == 1)
        f->subscriptions++;
}

/* One turn of both sides. */
static void
pump(fixture_t *f)
{
    void *socks[SESSION_SOCKETS];
    zmq_pollitem_t items[SESSION_SOCKETS + 3];
    int n = 0, wait = session_step(f->session, NULL);
    size_t k = session_sockets(f->session, socks);

    for (size_t i = 0; i < k; i++)
        items[n++] = (zmq_pollitem_t){ socks[i], 0, ZMQ_POLLIN, 0 };
    if (f->router) {
        items[n++] = (zmq_pollitem_t){ f->router, 0, ZMQ_POLLIN, 0 };
        items[n++] = (zmq_pollitem_t){ f->pub, 0, ZMQ_POLLIN, 0 };
        items[n++] = (zmq_pollitem_t){ f->hello, 0, ZMQ_POLLIN, 0 };
    }
    (void) zmq_poll(items, n, wait < 20 ? wait : 20);
    (void) session_step(f->session, NULL);
    if (f->router) {
        answer_hello(f);
        read_router(f);
        read_pub(f);
    }
}

#define PUMP_UNTIL(f, condition)                                                                             \
    do {                                                                                                     \
        int64_t until_ = clock_mono_ms() + PATIENCE_MS;                                                      \
        while (!(condition)) {                                                                               \
            if (clock_mono_ms() > until_)                                                                    \
                fail_msg("waited in vain for: %s", #condition);                                              \
            pump(f);                                                                                         \
        }                                                                                                    \
    } while (0)

static void
until_state(fixture_t *f, session_state_t state)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    while (session_state(f->session) != state) {
        if (clock_mono_ms() > until)
            fail_msg("waited in vain for %s, it is %s", session_state_name(state),
                     session_state_name(session_state(f->session)));
        pump(f);
    }
}

/* The minion's next message; it must be of this name. NEW. */
static json_t *
expect(fixture_t *f, const char *name)
{
    PUMP_UNTIL(f, json_array_size(f->got) > 0);
    json_t *msg = json_incref(json_array_get(f->got, 0));
    json_array_remove(f->got, 0);
    assert_string_equal(value_str(msg, "m", ""), name);
    return msg;
}

static void
send_bytes(fixture_t *f, const void *bytes, size_t len)
{
    assert_int_equal(sock_send_to(f->router, f->rid, f->rid_len, bytes, len), 0);
}

static void
send_text(fixture_t *f, const char *text)
{
    send_bytes(f, text, strlen(text));
}

static void
welcome(fixture_t *f, const char *state)
{
    AUTO_FREE char *text = xasprintf("{\"m\":\"welcome\",\"state\":\"%s\",\"publish_port\":%d,\"proto\":1}",
                                     state, f->publish_port);

    send_text(f, text);
}

static void
join(fixture_t *f)
{
    json_decref(expect(f, "hello"));
    welcome(f, "accepted");
    until_state(f, SESSION_READY);
}

/* An orderly end says goodbye. */
static void
leave(fixture_t *f)
{
    session_destroy(&f->session);
    zmq_pollitem_t item = { f->router, 0, ZMQ_POLLIN, 0 };
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    read_router(f);
    assert_string_equal(value_str(json_array_get(f->got, 0), "m", ""), "bye");
    (void) json_array_clear(f->got);
}

static const char *
last_reason(const fixture_t *f)
{
    return json_string_value(json_array_get(json_array_get(f->states, json_array_size(f->states) - 1), 1));
}

/* How often the state was entered. */
static size_t
entered(const fixture_t *f, const char *state)
{
    size_t i, n = 0;
    json_t *one;

    json_array_foreach (f->states, i, one)
        n += str_eq(json_string_value(json_array_get(one, 0)), state);
    return n;
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    log_init("test", LEVEL_QUIET, false);
    f->dir = xstrdup("/tmp/halite-session-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->known = fs_join(f->dir, "master.pub");
    f->zctx = zmq_ctx_new();
    f->master_keys = key_pair_new();
    f->keys = key_pair_new();
    f->seen = seen_new();
    f->got = json_array();
    f->jobs = json_array();
    f->acked = json_array();
    f->states = json_array();
    start_master(f);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    session_destroy(&f->session);
    stop_master(f);
    (void) zmq_ctx_term(f->zctx);
    key_pair_destroy(&f->master_keys);
    key_pair_destroy(&f->keys);
    seen_destroy(&f->seen);
    json_decref(f->got), json_decref(f->jobs), json_decref(f->acked), json_decref(f->states);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->known), free(f->dir), free(f);
    return 0;
}

/* ---- first contact and acceptance ------------------------------------------------------------ */

static void
test_first_contact(void **state)
{
    fixture_t *f = *state;

    f->series = "boot-0";
    start_minion(f);
    assert_int_equal(session_state(f->session), SESSION_ASKING);
    json_auto_t *hello = expect(f, "hello");
    assert_string_equal(value_str(hello, "id", ""), "m1");
    assert_string_equal(value_str(hello, "role", ""), "minion");
    assert_string_equal(value_str(hello, "boot", ""), "boot-1");
    assert_string_equal(value_str(hello, "series", ""), "boot-0");
    assert_int_equal(value_int(hello, "proto", 0), WIRE_PROTO);
    assert_true(json_is_array(value_get(hello, "pending")));
    assert_int_equal(session_send(f->session, MSG_bye, NULL, NULL), -ENOTCONN);
    /* The key is kept: the next start asks nobody. */
    assert_true(fs_exists(f->known));

    welcome(f, "pending");
    until_state(f, SESSION_PENDING);
    assert_int_equal(session_send(f->session, MSG_bye, NULL, NULL), -ENOTCONN);
    welcome(f, "accepted");
    until_state(f, SESSION_READY);
    PUMP_UNTIL(f, f->subscriptions == 1);
    assert_int_equal(session_send(f->session, MSG_bye, NULL, NULL), 0);
    json_decref(expect(f, "bye"));
}

static void
test_known_key(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));

    assert_int_equal(fs_write_quick(f->known, pem, strlen(pem), 0644, NULL), 0);
    start_minion_with(f, "", 0);
    join(f);
    leave(f);
}

static void
test_unknown_key_and_no_hello_port(void **state)
{
    fixture_t *f = *state;

    start_minion_with(f, "", 0);
    assert_int_equal(session_state(f->session), SESSION_STRANGER);
    assert_non_null(strstr(last_reason(f), "master.pub"));
    /* It is copied there. */
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));
    assert_int_equal(fs_write_quick(f->known, pem, strlen(pem), 0644, NULL), 0);
    join(f);
}

static void
test_finger(void **state)
{
    fixture_t *f = *state;
    char finger[FINGER_LEN];

    start_minion_with(f, "00:11:22", f->hello_port);
    until_state(f, SESSION_STRANGER);
    assert_non_null(strstr(last_reason(f), "00:11:22"));
    assert_false(fs_exists(f->known));
    session_destroy(&f->session);

    key_finger(key_pair_public(f->master_keys), finger);
    start_minion_with(f, finger, f->hello_port);
    join(f);
}

/* Who was trusted at first sight is not the one that master_finger names now, however often he shows the
 * same key. */
static void
test_finger_of_another_than_the_known_key(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));

    assert_int_equal(fs_write_quick(f->known, pem, strlen(pem), 0644, NULL), 0);
    start_minion_with(f, "00:11:22", f->hello_port);
    assert_int_equal(session_state(f->session), SESSION_STRANGER);
    PUMP_UNTIL(f, f->introduced == 3 || json_array_size(f->got) > 0);
    assert_int_equal(json_array_size(f->got), 0);
    assert_int_equal(entered(f, "connecting"), 0);
    assert_non_null(strstr(last_reason(f), "00:11:22"));
    session_destroy(&f->session);

    start_minion_with(f, "00:11:22", 0);
    for (int i = 0; i < 20; i++)
        pump(f);
    assert_int_equal(session_state(f->session), SESSION_STRANGER);
    assert_int_equal(entered(f, "connecting"), 0);
}

static void
test_hello_port_talks_nonsense(void **state)
{
    static const char *const answers[] = {
        "", "{", "[]", "{\"pub\": 1}", "{\"pub\": \"-----BEGIN PUBLIC KEY-----\"}", "\xff\xfe"
    };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(answers); i++) {
        f->hello_answer = answers[i];
        start_minion(f);
        for (int k = 0; k < 5; k++)
            pump(f);
        assert_int_equal(session_state(f->session), SESSION_ASKING);
        assert_false(fs_exists(f->known));
        session_destroy(&f->session);
    }
}

static void
test_refusals(void **state)
{
    static const char *const words[] = { "rejected", "denied", "duplicate", "full", "" };
    fixture_t *f = *state;

    start_minion(f);
    for (size_t i = 0; i < NELEMS(words); i++) {
        json_decref(expect(f, "hello"));
        AUTO_FREE char *text = xasprintf("{\"m\":\"welcome\",\"state\":\"%s\",\"reason\":\"because %zu\"}",
                                         words[i], i);
        send_text(f, text);
        until_state(f, SESSION_REFUSED);
        AUTO_FREE char *reason = xasprintf("because %zu", i);
        assert_non_null(strstr(last_reason(f), reason));
        /* It comes again by itself, on a new connection. */
    }
    join(f);
    /* A minion that was ready can be refused too: its key was rejected. */
    welcome(f, "rejected");
    until_state(f, SESSION_REFUSED);
    assert_non_null(strstr(last_reason(f), "rejected"));
    join(f);
}

/* Masters of another protocol, those that let everybody in and those that look first. It goes on once they
 * match. */
static void
test_other_protocols(void **state)
{
    static const struct {
        const char *welcome, *reason;
    } rows[] = {
        { "\"state\":\"accepted\",\"proto\":4,\"halite\":\"7.0.0\"",
          "the minion speaks protocol 1 (Halite " HALITE_RELEASE
          ") and the master protocol 4 (Halite 7.0.0): upgrade "
          "the minion" },
        { "\"state\":\"pending\",\"proto\":0", "the minion speaks protocol 1 (Halite " HALITE_RELEASE
                                               ") and the master protocol 0: upgrade the master" },
        { "\"state\":\"accepted\"", "the minion speaks protocol 1 (Halite " HALITE_RELEASE
                                    ") and the master protocol 0: upgrade the master" },
        { "\"state\":\"protocol\",\"proto\":2,\"reason\":\"upgrade something\"", "upgrade something" },
    };
    fixture_t *f = *state;

    start_minion(f);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_decref(expect(f, "hello"));
        AUTO_FREE char *text = xasprintf("{\"m\":\"welcome\",\"publish_port\":%d,%s}", f->publish_port,
                                         rows[i].welcome);
        send_text(f, text);
        until_state(f, SESSION_REFUSED);
        assert_string_equal(last_reason(f), rows[i].reason);
    }
    assert_int_equal(f->subscriptions, 0);
    join(f);
}

static void
test_accepted_key_becomes_pending(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions == 1);
    welcome(f, "pending");
    until_state(f, SESSION_PENDING);
    /* libzmq would not try again where the key handler refused: the SUB is made anew. */
    welcome(f, "accepted");
    until_state(f, SESSION_READY);
    PUMP_UNTIL(f, f->subscriptions == 2);
}

/* A master whose key nobody vouches for has no connection that it could count as ours. */
static void
test_not_vouched(void **state)
{
    fixture_t *f = *state;

    f->always_verify = true;
    f->wait_max_ms = 600000;
    start_minion(f);
    json_decref(expect(f, "hello"));
    welcome(f, "accepted");
    until_state(f, SESSION_STRANGER);
    assert_non_null(strstr(last_reason(f), "not vouched for"));
    PUMP_UNTIL(f, sock_send_to(f->router, f->rid, f->rid_len, "{}", 2) == -EHOSTUNREACH);
}

static void
test_publish_port_moves(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions == 1);
    sock_close(&f->pub);
    f->pub = sock_new(f->zctx, SOCK_PUB_SERVER, f->master_keys, NULL, NULL);
    f->publish_port = bind_somewhere(f->pub, 0);
    welcome(f, "accepted");
    PUMP_UNTIL(f, f->subscriptions == 2);
    /* Twice the same: nothing to do. */
    welcome(f, "accepted");
    PUMP_UNTIL(f, entered(f, "ready") == 3);
    assert_int_equal(f->subscriptions, 2);
}

static void
test_refused_by_the_key_handler(void **state)
{
    fixture_t *f = *state;
    char z85[KEY_Z85_LEN];

    /* The handler lives in czmq's context. */
    stop_master(f);
    void *own = f->zctx;
    zsys_handler_set(NULL);
    f->zctx = zsys_init();
    zap_t *zap = zap_new(NULL);
    key_to_z85(key_pair_public(f->keys), z85);
    zap_set(zap, z85, ZAP_REJECTED);
    start_master(f);
    start_minion(f);
    until_state(f, SESSION_REFUSED);
    zap_set(zap, z85, ZAP_ACCEPTED);
    join(f);
    session_destroy(&f->session);
    stop_master(f);
    zap_destroy(&zap);
    zsys_shutdown();
    f->zctx = own;
}

/* ---- connections that end -------------------------------------------------------------------- */

static void
test_restart(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    stop_master(f);
    until_state(f, SESSION_CONNECTING);
    assert_int_equal(session_send(f->session, MSG_bye, NULL, NULL), -ENOTCONN);
    start_master(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions >= 1);
}

static void
test_probe_and_second_welcome(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    send_bytes(f, "", 0);
    json_decref(expect(f, "hello"));
    assert_int_equal(session_state(f->session), SESSION_READY);
    assert_int_equal(entered(f, "ready"), 1);
    /* A master that greets again has forgotten what it had: the owner hears of it and sends again. */
    welcome(f, "accepted");
    PUMP_UNTIL(f, entered(f, "ready") == 2);
}

static void
test_master_key_changes_and_comes_back(void **state)
{
    fixture_t *f = *state;
    key_pair_t *first = f->master_keys;
    char old_finger[FINGER_LEN], new_finger[FINGER_LEN];

    start_minion(f);
    join(f);
    stop_master(f);
    f->master_keys = key_pair_new();
    start_master(f);
    until_state(f, SESSION_STRANGER);
    key_finger(key_pair_public(first), old_finger);
    key_finger(key_pair_public(f->master_keys), new_finger);
    assert_non_null(strstr(last_reason(f), old_finger));
    assert_non_null(strstr(last_reason(f), new_finger));
    assert_int_equal(json_array_size(f->got), 0);

    stop_master(f);
    key_pair_destroy(&f->master_keys);
    f->master_keys = first;
    start_master(f);
    join(f);
}

/* A handshake that is cut off, as by a master that is killed in it, looks like one with another key;
 * without a port to ask there is only another try. */
static void
test_a_handshake_is_cut_off(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };

    assert_int_equal(fs_write_quick(f->known, pem, strlen(pem), 0644, NULL), 0);
    sock_close(&f->router);
    AUTO_FD listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1, fd = -1;
    addr.sin_port = htons((uint16_t) f->port);
    (void) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    while (bind(listener, (struct sockaddr *) &addr, sizeof(addr)) != 0 && clock_mono_ms() < until)
        (void) zmq_poll(NULL, 0, 5);
    assert_int_equal(listen(listener, 1), 0);
    f->router = sock_new(f->zctx, SOCK_ROUTER_SERVER, f->master_keys, NULL, NULL);
    start_minion_with(f, "", 0);
    PUMP_UNTIL(f, (fd = accept(listener, NULL, NULL)) >= 0);
    (void) close(fd);
    until_state(f, SESSION_STRANGER);
    assert_non_null(strstr(last_reason(f), "hello_port is 0"));
    (void) close(listener);
    listener = -1;
    f->port = bind_somewhere(f->router, f->port);
    join(f);
}

/* The port that is asked for a key may lie: it matters only while nobody is known. */
static void
test_a_liar_on_the_hello_port(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) liar = key_pair_new();
    AUTO_FREE char *pem = key_public_pem(key_pair_public(liar));
    json_auto_t *doc = json_pack("{s:s}", "pub", pem);
    AUTO_FREE char *lie = value_dump(doc);

    start_minion(f);
    join(f);
    f->hello_answer = lie;
    stop_master(f);
    until_state(f, SESSION_CONNECTING);
    start_master(f);
    join(f);
    for (int i = 0; i < 5; i++)
        pump(f);
    assert_int_equal(session_state(f->session), SESSION_READY);
    assert_int_equal(entered(f, "stranger"), 0);
}

/* ---- jobs ------------------------------------------------------------------------------------- */

static void
test_job_runs_once(void **state)
{
    static const char job[] = "{\"m\":\"job\",\"jid\":\"" JID
                              "\",\"fun\":\"test.ping\",\"arg\":[],\"seq\":3,\"user\":\"root\","
                              "\"own\":true,\"react\":{},\"asker\":\"x\",\"master\":7,\"schedule\":\"s\"}";
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    send_text(f, job);
    json_auto_t *started = expect(f, "started");
    assert_string_equal(value_str(started, "jid", ""), JID);
    assert_int_equal(value_int(started, "pid", -1), 0);
    send_text(f, job);
    json_decref(expect(f, "started"));
    PUMP_UNTIL(f, f->subscriptions == 1);
    assert_int_equal(sock_send(f->pub, job, strlen(job)), 0);
    json_decref(expect(f, "started"));
    assert_int_equal(json_array_size(f->jobs), 1);
    /* Without the notes that the minion makes of its own jobs. */
    AUTO_FREE char *said = value_dump(json_array_get(f->jobs, 0));
    assert_string_equal(said, "{\"jid\":\"" JID "\",\"fun\":\"test.ping\",\"arg\":[],\"user\":\"root\"}");

    /* The minion's next session, with this master or another. */
    leave(f);
    start_minion(f);
    join(f);
    send_text(f, job);
    json_decref(expect(f, "started"));
    assert_int_equal(json_array_size(f->jobs), 1);
}

/* Another master has the return: the one that asked is told in the hello, or as soon as it can be, or when
 * it sends the job again. */
static void
test_returned_elsewhere(void **state)
{
    fixture_t *f = *state;

    seen_elsewhere_add(f->seen, JID, "here");
    seen_elsewhere_add(f->seen, JID "_1", "there");
    start_minion(f);
    json_auto_t *hello = expect(f, "hello");
    AUTO_FREE char *named = value_dump(value_get(hello, "elsewhere"));
    assert_string_equal(named, "[\"" JID "\"]");
    seen_elsewhere_add(f->seen, JID "_2", "here");
    session_elsewhere(f->session, JID "_2");
    welcome(f, "accepted");
    json_auto_t *late = expect(f, "elsewhere");
    assert_string_equal(value_str(late, "jid", ""), JID "_2");
    session_elsewhere(f->session, JID "_3");
    json_auto_t *now = expect(f, "elsewhere");
    assert_string_equal(value_str(now, "jid", ""), JID "_3");
    send_text(f, "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":\"test.ping\"}");
    json_auto_t *again = expect(f, "elsewhere");
    assert_string_equal(value_str(again, "jid", ""), JID);
    assert_int_equal(json_array_size(f->jobs), 0);
}

/* Whether a socket has something to read. */
static bool
is_readable(void *sock, long ms)
{
    zmq_pollitem_t item = { sock, 0, ZMQ_POLLIN, 0 };

    return zmq_poll(&item, 1, ms) == 1;
}

static void
test_one_socket_is_read(void **state)
{
    static const char first[] = "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":\"test.ping\"}",
                      second[] = "{\"m\":\"job\",\"jid\":\"" JID "_1\",\"fun\":\"test.echo\"}";
    fixture_t *f = *state;
    void *socks[SESSION_SOCKETS];

    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions == 1);
    size_t n = session_sockets(f->session, socks);
    assert_true(n >= 2);
    send_text(f, first);
    assert_int_equal(sock_send(f->pub, second, strlen(second)), 0);
    assert_true(is_readable(socks[0], 5000) && is_readable(socks[1], 5000));
    assert_true(session_step(f->session, socks[1]) > 0);
    assert_int_equal(json_array_size(f->jobs), 1);
    assert_string_equal(value_str(json_array_get(f->jobs, 0), "fun", ""), "test.echo");
    assert_true(is_readable(socks[0], 0) && !is_readable(socks[1], 0));
    assert_true(session_step(f->session, NULL) > 0);
    assert_int_equal(json_array_size(f->jobs), 2);
}

/* Until its thread has something for this socket, which is not looked at. */
static void
until_signalled(void *sock)
{
    int fd = -1;
    size_t n = sizeof(fd);

    assert_int_equal(zmq_getsockopt(sock, ZMQ_FD, &fd, &n), 0);
    struct pollfd item = { fd, POLLIN, 0 };
    assert_int_equal(poll(&item, 1, PATIENCE_MS), 1);
}

/* What comes just before the end of its connection is read all the same: it may be the master's next key. */
static void
test_last_words(void **state)
{
    static const char job[] = "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":\"test.ping\"}";
    fixture_t *f = *state;
    void *socks[SESSION_SOCKETS];

    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions == 1);
    while (session_step(f->session, NULL) == 0)
        ;
    assert_int_equal(session_sockets(f->session, socks), 3);
    send_text(f, job);
    until_signalled(socks[0]);
    stop_master(f);
    until_signalled(socks[2]);
    until_signalled(socks[1]);
    (void) session_step(f->session, NULL);
    assert_int_equal(json_array_size(f->jobs), 1);
    until_state(f, SESSION_CONNECTING);
}

static void
test_broadcasts_with_a_gap(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions == 1);
    for (int seq = 1; seq < 20; seq += 6) {
        AUTO_FREE char *job = xasprintf(
            "{\"m\":\"job\",\"jid\":\"202611201000000000%02d\",\"fun\":[\"a.b\"],\"seq\":%d}", seq, seq);
        assert_int_equal(sock_send(f->pub, job, strlen(job)), 0);
        json_decref(expect(f, "started"));
    }
    assert_int_equal(json_array_size(f->jobs), 4);
    /* What is not a job has no business there. */
    static const char *const others[] = { "{\"m\":\"welcome\",\"state\":\"rejected\"}",
                                          "{\"m\":\"ack\",\"jids\":[\"" JID "\"]}", "" };
    for (size_t i = 0; i < NELEMS(others); i++)
        assert_int_equal(sock_send(f->pub, others[i], strlen(others[i])), 0);
    static const char last[] = "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":\"c.d\",\"seq\":30}";
    assert_int_equal(sock_send(f->pub, last, strlen(last)), 0);
    json_decref(expect(f, "started"));
    assert_int_equal(session_state(f->session), SESSION_READY);
    assert_int_equal(json_array_size(f->acked), 0);
}

static void
test_acknowledgements(void **state)
{
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    send_text(f, "{\"m\":\"ack\",\"jids\":[\"" JID "\"],\"events\":[4,5]}");
    PUMP_UNTIL(f, json_array_size(f->acked) == 1);
    json_t *ack = json_array_get(f->acked, 0);
    assert_string_equal(json_string_value(json_array_get(value_get(ack, "jids"), 0)), JID);
    assert_int_equal(json_array_size(value_get(ack, "events")), 2);
}

/* More than a hello holds: the newest are named. */
static void
test_many_pending(void **state)
{
    fixture_t *f = *state;

    f->n_pending = 9999;
    start_minion(f);
    json_auto_t *hello = expect(f, "hello");
    json_t *named = value_get(hello, "pending");
    assert_int_equal(json_array_size(named), LIMIT_HELLO_JIDS);
    assert_string_equal(json_string_value(json_array_get(named, LIMIT_HELLO_JIDS - 1)),
                        "20261120100000009998");
}

/* ---- nonsense --------------------------------------------------------------------------------- */

static void
test_garbage(void **state)
{
    static const char *const texts[] = {
        "x",
        "{}",
        "[]",
        "null",
        "{\"m\":\"",
        "{\"m\":\"welcome\"",
        "{\"m\":\"welcome\",}",
        "{\"m\":\"hello\",\"id\":\"m1\"}",
        "{\"m\":\"ret\",\"jid\":\"" JID "\"}",
        "{\"m\":\"nobody\"}",
        "{\"m\":\"job\"}",
        "{\"m\":\"job\",\"jid\":\"../../etc/passwd\",\"fun\":\"a.b\"}",
        "{\"m\":\"job\",\"jid\":\"" JID "/x\",\"fun\":\"a.b\"}",
        "{\"m\":\"job\",\"jid\":17,\"fun\":\"a.b\"}",
        "{\"m\":\"job\",\"jid\":\"" JID "\"}",
        "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":7}",
        "{\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":[]}",
        "{\"m\":\"job\",\"m\":\"job\",\"jid\":\"" JID "\",\"fun\":\"a.b\"}",
        "{\"m\":\"ack\"}",
        "{\"m\":\"ack\",\"jids\":7,\"events\":\"x\"}",
    };
    fixture_t *f = *state;

    start_minion(f);
    join(f);
    for (size_t i = 0; i < NELEMS(texts); i++)
        send_text(f, texts[i]);
    send_bytes(f, "\0\1\2", 3);
    AUTO_FREE char *large = xcalloc(1, LIMIT_WIRE_SMALL * 2);
    memset(large, ' ', LIMIT_WIRE_SMALL * 2 - 1);
    memcpy(large, "{\"m\":\"ack\"", 10);
    send_text(f, large);
    /* It is still there, and ready. */
    send_bytes(f, "", 0);
    json_decref(expect(f, "hello"));
    assert_int_equal(session_state(f->session), SESSION_READY);
    assert_int_equal(json_array_size(f->jobs), 0);
}

/* Ports that are none do not reach the socket. */
static void
test_welcome_with_odd_values(void **state)
{
    static const char *const ports[] = { "0", "-1", "65536", "4294967296", "\"x\"", "null", "[]", "1e9" };
    fixture_t *f = *state;

    start_minion(f);
    json_decref(expect(f, "hello"));
    for (size_t i = 0; i < NELEMS(ports); i++) {
        AUTO_FREE char *text = xasprintf(
            "{\"m\":\"welcome\",\"state\":\"accepted\",\"proto\":1,\"publish_port\":%s}", ports[i]);
        send_text(f, text);
        PUMP_UNTIL(f, entered(f, "ready") == i + 1);
    }
    PUMP_UNTIL(f, f->subscriptions == 1);
}

/* How long until the next attempt to connect; 0: one is under way. */
static int
until_attempt(fixture_t *f)
{
    void *socks[SESSION_SOCKETS];
    int ms = session_step(f->session, NULL);

    return session_sockets(f->session, socks) == 0 ? ms : 0;
}

static void
test_pauses_between_connections(void **state)
{
    fixture_t *f = *state;

    f->recon_ms = 300;
    f->recon_spread_ms = 50;
    f->recon_max_ms = 1000;
    start_minion(f);
    for (int i = 0; i < 2; i++) {
        join(f);
        stop_master(f);
        /* The first pause, also when there were longer ones before it was welcome. */
        until_state(f, SESSION_CONNECTING);
        assert_in_range(until_attempt(f), 1, 350);
        PUMP_UNTIL(f, until_attempt(f) > 350);
        assert_in_range(until_attempt(f), 1, 1000);
        start_master(f);
    }
    join(f);
}

/* All of a fleet come back within a time that its master can bear: it says how large the fleet is. */
static void
test_pauses_of_a_fleet(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *text = xasprintf(
        "{\"m\":\"welcome\",\"state\":\"accepted\",\"publish_port\":%d,\"proto\":1,\"sub_spread_ms\":6300}",
        f->publish_port);

    start_minion(f);
    json_decref(expect(f, "hello"));
    send_text(f, text);
    until_state(f, SESSION_READY);
    stop_master(f);
    until_state(f, SESSION_CONNECTING);
    assert_in_range(until_attempt(f), 1, 2200);
    PUMP_UNTIL(f, until_attempt(f) == 0);
    PUMP_UNTIL(f, until_attempt(f) > 1500);
    assert_in_range(until_attempt(f), 1, 2100);
}

static size_t
open_files(void)
{
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");

    assert_non_null(dir);
    while (readdir(dir))
        n++;
    (void) closedir(dir);
    return n;
}

/* Thousands of minions on one machine lose their master at once: none may need more than it had. */
static void
test_descriptors_stay(void **state)
{
    fixture_t *f = *state;
    size_t joined, most = 0;

    f->recon_ms = f->recon_max_ms = 5;
    start_minion(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions >= 1);
    joined = open_files();
    stop_master(f);
    for (int i = 0; i < 20; i++) {
        PUMP_UNTIL(f, until_attempt(f) > 0);
        most = open_files() > most ? open_files() : most;
        PUMP_UNTIL(f, until_attempt(f) == 0);
        most = open_files() > most ? open_files() : most;
    }
    assert_in_range(most, 1, joined);
    start_master(f);
    join(f);
    PUMP_UNTIL(f, f->subscriptions >= 2 && open_files() <= joined);
}

/* The master restarts while the minion is busy, which goes on saying things: they come after a hello. */
static void
test_hello_comes_first(void **state)
{
    fixture_t *f = *state;

    f->recon_ms = 1;
    start_minion(f);
    join(f);
    stop_master(f);
    start_master(f);
    /* Time for a connection that nobody asked for. */
    for (int i = 0; i < 50; i++) {
        (void) session_send(f->session, MSG_bye, NULL, NULL);
        zmq_pollitem_t item = { f->router, 0, ZMQ_POLLIN, 0 };
        if (zmq_poll(&item, 1, 5) == 1)
            read_router(f);
    }
    json_decref(expect(f, "hello"));
}

/* Names that no resolver need be asked for. */
static void
test_name_without_address(void **state)
{
    fixture_t *f = *state;
    void *socks[SESSION_SOCKETS];

    f->host = "no..name";
    start_minion(f);
    for (int i = 0; i < 3; i++) {
        PUMP_UNTIL(f, session_sockets(f->session, socks) == 0);
        PUMP_UNTIL(f, session_sockets(f->session, socks) > 0);
    }
    assert_string_equal(session_state_name(session_state(f->session)), "asking");
}

static void
test_known_name_without_address(void **state)
{
    fixture_t *f = *state;
    void *socks[SESSION_SOCKETS];
    AUTO_FREE char *pem = key_public_pem(key_pair_public(f->master_keys));

    f->host = "no..name";
    assert_int_equal(fs_write_quick(f->known, pem, strlen(pem), 0644, NULL), 0);
    start_minion(f);
    for (int i = 0; i < 3; i++) {
        PUMP_UNTIL(f, session_sockets(f->session, socks) == 0);
        PUMP_UNTIL(f, session_sockets(f->session, socks) > 0);
    }
    assert_string_equal(session_state_name(session_state(f->session)), "connecting");
}

/* From an address of this host; from one of another there is no connection. */
static void
test_source_address(void **state)
{
    fixture_t *f = *state;

    f->source = "127.0.0.9";
    start_minion(f);
    json_decref(expect(f, "hello"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(TEST(test_first_contact), TEST(test_known_key), TEST(test_unknown_key_and_no_hello_port),
          TEST(test_finger), TEST(test_finger_of_another_than_the_known_key),
          TEST(test_hello_port_talks_nonsense), TEST(test_refusals), TEST(test_other_protocols),
          TEST(test_accepted_key_becomes_pending), TEST(test_not_vouched), TEST(test_publish_port_moves),
          TEST(test_refused_by_the_key_handler), TEST(test_restart), TEST(test_probe_and_second_welcome),
          TEST(test_master_key_changes_and_comes_back), TEST(test_a_liar_on_the_hello_port),
          TEST(test_a_handshake_is_cut_off), TEST(test_job_runs_once), TEST(test_returned_elsewhere),
          TEST(test_one_socket_is_read), TEST(test_last_words), TEST(test_broadcasts_with_a_gap),
          TEST(test_acknowledgements), TEST(test_pauses_between_connections), TEST(test_pauses_of_a_fleet),
          TEST(test_descriptors_stay), TEST(test_hello_comes_first), TEST(test_source_address),
          TEST(test_name_without_address), TEST(test_known_name_without_address), TEST(test_many_pending),
          TEST(test_garbage), TEST(test_welcome_with_odd_values))
