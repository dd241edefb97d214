/* test_front.c - the whole front loop in a child process, and peers that do not behave: accepted minions,
 * strangers, operators. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "common/base/clock.h"
#include "common/base/daemon.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "common/net/sock.h"
#include "master/front/front.h"
#include "plugins/builtin.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

#define PATIENCE_MS 20000
#define J1          "20261120100000000001"

typedef struct fixture {
    char *dir;
    int port, publish_port, held[2];
    int nursery; /* a process without threads that makes masters: whoever has threads had better not fork */
    pid_t nurse, pid;
    uint8_t master_key[KEY_BYTES];
    void *zctx;
    void *socks[64];
    size_t n_socks;
    local_client_t *line;
} fixture_t;

/* ---- the disk -------------------------------------------------------------------------------- */

static char trouble[64]; /* while this file is there, nothing gets to the disk */

/* For the master too. */
int
fsync(int fd)
{
    if (access(trouble, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return fdatasync(fd);
}

/* ---- the master ------------------------------------------------------------------------------ */

/* Held until the test's end, unlistened: the kernel gives it to no client in between, and to the master
 * because it too asks for SO_REUSEADDR. */
static int
hold_port(int *port)
{
    struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t n = sizeof(addr);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &addr, n), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &addr, &n), 0);
    *port = ntohs(addr.sin_port);
    return fd;
}

static json_t *
overrides(const fixture_t *f)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:s, s:{s:[s]}}", "root_dir", f->dir, "interface",
                     "127.0.0.1", "publish_port", f->publish_port, "ret_port", f->port, "hello_port", 0,
                     "log_level", "quiet", "publisher_acl", "nobody", "test.ping");
}

/* What a runner may not return. */
static int
deep_lists(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t levels = value_int(args, "levels", 0);

    for (*ret_value = json_array(); levels > 1; levels--)
        *ret_value = json_pack("[o]", *ret_value);
    return 0;
}

static const arg_t deep_args[] = { ARG("levels", ARG_INT, ARG_REQUIRED, "How many lists in each other"),
                                   ARGS_END };
static const func_t deep_funcs[] = { { "lists", deep_lists, deep_args, FN_READONLY | FN_ACCESS_READ,
                                       "Return lists in lists." } };
PLUGIN(runner, deep, .doc = "A return of a certain depth", FUNCS(deep_funcs));

/* NEW array of the master's own runners and ours. */
static const plugin_t **
with_deep(size_t *ret_n)
{
    size_t n;
    const plugin_t *const *own = builtin_plugins(PLUGIN_RUNNER, &n);
    const plugin_t **all = xcalloc(n + 1, sizeof(const plugin_t *));

    memcpy(all, own, n * sizeof(const plugin_t *));
    all[n] = &runner_deep;
    *ret_n = n + 1;
    return all;
}

/* In the child. */
static int
serve(const fixture_t *f)
{
    fail_auto_t err = FAIL_INIT;
    size_t n_runners, n_wheels;
    AUTO_FREE const plugin_t **runner_rows = with_deep(&n_runners);
    const plugin_t *const *wheel_rows = builtin_plugins(PLUGIN_WHEEL, &n_wheels);
    AUTO(registry) runners = registry_new(PLUGIN_RUNNER, runner_rows, n_runners);
    AUTO(registry) wheels = registry_new(PLUGIN_WHEEL, wheel_rows, n_wheels);
    json_auto_t *values = overrides(f);
    conf_t *conf = conf_load(f->dir, CONF_MASTER, values, NULL, &err);

    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    front_t *front = conf ? front_new(&conf, f->dir, values, runners, wheels, NULL, &err) : NULL;
    if (!front)
        (void) fprintf(stderr, "# %s\n", fail_text(&err));
    int code = front ? front_run(front) : 1;
    (void) front_destroy(&front);
    return code;
}

/* A master for each byte; it tells the pid, and its status when it has ended. */
static void
nurse(const fixture_t *f, int fd)
{
    char byte;
    int status = 0;

    (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(fd, &byte, 1) == 1) {
        pid_t pid = fork();
        if (pid == 0) {
            (void) close(fd);
            _exit(serve(f));
        }
        if (write(fd, &pid, sizeof(pid)) != sizeof(pid) || waitpid(pid, &status, 0) != pid ||
            write(fd, &status, sizeof(status)) != sizeof(status))
            break;
    }
    _exit(0);
}

static void
open_nursery(fixture_t *f)
{
    int ends[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    f->nurse = fork();
    if (f->nurse == 0) {
        (void) close(ends[0]);
        nurse(f, ends[1]);
    }
    (void) close(ends[1]);
    f->nursery = ends[0];
}

/* How the master ended. */
static int
await_end(fixture_t *f)
{
    int status = -1;

    assert_int_equal(read(f->nursery, &status, sizeof(status)), sizeof(status));
    f->pid = 0;
    return status;
}

static void
start_master(fixture_t *f)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;
    AUTO_FREE char *sock_dir = fs_join(f->dir, "var/run/salt/master"),
                   *pub = fs_join(f->dir, "etc/salt/pki/master/master.pub");
    buf_auto_t pem = BUF_INIT;

    assert_int_equal(write(f->nursery, "", 1), 1);
    assert_int_equal(read(f->nursery, &f->pid, sizeof(f->pid)), sizeof(f->pid));
    while ((f->line = local_connect(sock_dir, NULL)) == NULL) {
        struct pollfd ended = { f->nursery, POLLIN, 0 };
        assert_int_equal(poll(&ended, 1, 0), 0);
        assert_true(clock_mono_ms() < until);
        (void) zmq_poll(NULL, 0, 10);
    }
    assert_int_equal(fs_read(pub, LIMIT_KEY_FILE, &pem, NULL), 0);
    assert_int_equal(key_public_from_pem(buf_str(&pem), pem.len, f->master_key, NULL), 0);
}

/* It must end well: a sanitizer's report is another exit code. */
static void
stop_master(fixture_t *f)
{
    local_client_destroy(&f->line);
    if (f->pid <= 0)
        return;
    assert_int_equal(kill(f->pid, SIGTERM), 0);
    int status = await_end(f);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));

    log_init("test", LEVEL_QUIET, false);
    f->dir = xstrdup("/tmp/halite-front-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(trouble, sizeof(trouble), "%s/trouble", f->dir);
    f->held[0] = hold_port(&f->port);
    f->held[1] = hold_port(&f->publish_port);
    open_nursery(f);
    start_master(f);
    f->zctx = zmq_ctx_new();
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    for (size_t i = 0; i < f->n_socks; i++)
        sock_close(&f->socks[i]);
    (void) zmq_ctx_term(f->zctx);
    stop_master(f);
    (void) close(f->held[0]);
    (void) close(f->held[1]);
    (void) close(f->nursery);
    assert_int_equal(waitpid(f->nurse, NULL, 0), f->nurse);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->dir);
    free(f);
    return 0;
}

/* ---- an operator ----------------------------------------------------------------------------- */

/* NEW reply; it must be a success. TAKES. */
static json_t *
ask(fixture_t *f, json_t *request)
{
    fail_auto_t err = FAIL_INIT;
    json_t *reply = NULL;

    if (local_call(f->line, &request, &reply, &err) < 0)
        fail_msg("%s", fail_text(&err));
    return reply;
}

static json_int_t
counter(fixture_t *f, const char *name)
{
    json_auto_t *reply = ask(f, json_pack("{s:s}", "op", "status"));

    return value_int(value_get(reply, "counters"), name, -1);
}

static void
key_apply(fixture_t *f, const char *action, const char *id, const char *from)
{
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:[s], s:[s]}", "op", "key_apply", "action", action,
                                          "ids", id, "from", from));

    assert_int_equal(json_array_size(value_get(reply, "done")), 1);
}

static bool
is_connected(fixture_t *f, const char *id, bool *ret_subscribed)
{
    json_auto_t *reply = ask(f, json_pack("{s:s}", "op", "minions"));
    const json_t *one = value_get(value_get(reply, "minions"), id);

    if (ret_subscribed)
        *ret_subscribed = value_bool(one, "subscribed", false);
    return value_bool(one, "connected", false);
}

static void
publish(fixture_t *f, const char *tgt)
{
    json_decref(ask(f, json_pack("{s:s, s:s, s:s}", "op", "publish", "tgt", tgt, "fun", "test.ping")));
}

#define UNTIL(condition)                                                                                     \
    do {                                                                                                     \
        int64_t until_ = clock_mono_ms() + PATIENCE_MS;                                                      \
        while (!(condition)) {                                                                               \
            if (clock_mono_ms() > until_)                                                                    \
                fail_msg("waited in vain for: %s", #condition);                                              \
            (void) zmq_poll(NULL, 0, 5);                                                                     \
        }                                                                                                    \
    } while (0)

/* ---- peers ------------------------------------------------------------------------------------ */

static void *
own(fixture_t *f, void *sock)
{
    assert_non_null(sock);
    assert_true(f->n_socks < NELEMS(f->socks));
    f->socks[f->n_socks++] = sock;
    return sock;
}

static void *
dealer(fixture_t *f, const key_pair_t *keys)
{
    void *sock = own(f, sock_new(f->zctx, SOCK_DEALER_CLIENT, keys, f->master_key, NULL));

    assert_int_equal(sock_connect(sock, "127.0.0.1", f->port, NULL), 0);
    return sock;
}

static void
hang_up(fixture_t *f, void *sock)
{
    for (size_t i = 0; i < f->n_socks; i++)
        if (f->socks[i] == sock)
            sock_close(&f->socks[i]);
}

static void
say(void *sock, const char *text)
{
    assert_int_equal(sock_send(sock, text, strlen(text)), 0);
}

/* After a restart of the master: it has this job. */
static void
hello_with(void *sock, const char *id, const char *jid)
{
    AUTO_FREE char *text = xasprintf("{\"m\":\"hello\",\"id\":\"%s\",\"role\":\"minion\",\"boot\":\"boot-1\","
                                     "\"proto\":1,\"pending\":[\"%s\"]}",
                                     id, jid);

    say(sock, text);
}

static void
hello(void *sock, const char *id, const char *boot)
{
    AUTO_FREE char *text = xasprintf(
        "{\"m\":\"hello\",\"id\":\"%s\",\"role\":\"minion\",\"boot\":\"%s\",\"proto\":1,\"pending\":[]}", id,
        boot);

    say(sock, text);
}

/* The next message of this name ("" is the probe); others are passed over. NEW. */
static json_t *
hear(void *sock, const char *name)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    while (clock_mono_ms() < until) {
        zmq_pollitem_t item = { sock, 0, ZMQ_POLLIN, 0 };
        zmq_msg_t frame;
        if (zmq_poll(&item, 1, 100) != 1)
            continue;
        (void) zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, sock, ZMQ_DONTWAIT) < 0)
            continue;
        json_auto_t *msg = json_loadb(zmq_msg_data(&frame), zmq_msg_size(&frame), 0, NULL);
        bool fits = str_eq(value_str(msg, "m", ""), name);
        (void) zmq_msg_close(&frame);
        if (fits)
            return msg ? json_incref(msg) : json_null();
    }
    fail_msg("waited in vain for '%s'", name);
    return NULL;
}

static void
hear_state(void *sock, const char *state)
{
    json_auto_t *welcome = hear(sock, "welcome");

    assert_string_equal(value_str(welcome, "state", ""), state);
}

/* An accepted minion's connection. */
static void *
accepted(fixture_t *f, const key_pair_t *keys, const char *id)
{
    void *sock = dealer(f, keys);

    hello(sock, id, "boot-1");
    hear_state(sock, "pending");
    key_apply(f, "accept", id, "minions_pre");
    hear_state(sock, "accepted");
    return sock;
}

static void
ret(void *sock, const char *jid)
{
    AUTO_FREE char *text = xasprintf(
        "{\"m\":\"ret\",\"jid\":\"%s\",\"fun\":\"a.b\",\"return\":1,\"retcode\":0,\"success\":true}", jid);

    say(sock, text);
}

/* ---- what an accepted minion may try --------------------------------------------------------- */

/* It speaks for its id, then for none: no table may keep the connection when it ends. */
static void
test_hello_under_many_names(void **state)
{
    static const char *const names[] = { "other", "", "..", "a/b", "m1 ", "\\u0000", "m1" };
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    (void) accepted(f, keys, "m1");

    for (size_t i = 0; i < NELEMS(names); i++) {
        void *sock = dealer(f, keys);
        hello(sock, "m1", "boot-1");
        hear_state(sock, "accepted");
        hello(sock, names[i], "boot-1");
        hear_state(sock, str_eq(names[i], "m1") ? "accepted" : "denied");
        hang_up(f, sock);
        UNTIL(!is_connected(f, "m1", NULL));
        publish(f, "m1");
    }
}

/* Whoever speaks another protocol learns which of both to upgrade, and which Halite the master is once his
 * key is accepted; no key of a stranger is kept for it, and an accepted one may come again as soon as both
 * match. */
static void
test_other_protocols(void **state)
{
    static const struct {
        const char *proto, *stranger, *known;
    } rows[] = {
        { "\"proto\":2,\"halite\":\"7.0.0\"",
          "the minion speaks protocol 2 (Halite 7.0.0) and the master protocol 1: upgrade the master",
          "the minion speaks protocol 2 (Halite 7.0.0) and the master protocol 1 (Halite " HALITE_RELEASE
          "): upgrade the master" },
        { "\"proto\":0", "the minion speaks protocol 0 and the master protocol 1: upgrade the minion",
          "the minion speaks protocol 0 and the master protocol 1 (Halite " HALITE_RELEASE
          "): upgrade the minion" },
        { "\"a\":1", "the minion speaks protocol 0 and the master protocol 1: upgrade the minion",
          "the minion speaks protocol 0 and the master protocol 1 (Halite " HALITE_RELEASE
          "): upgrade the minion" },
    };
    fixture_t *f = *state;
    AUTO(key_pair) strange = key_pair_new();
    AUTO(key_pair) keys = key_pair_new();
    void *stranger = dealer(f, strange), *known = accepted(f, keys, "m1");

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *text = xasprintf("{\"m\":\"hello\",\"id\":\"s\",\"boot\":\"b\",%s}", rows[i].proto);
        say(stranger, text);
        json_auto_t *first = hear(stranger, "welcome");
        assert_string_equal(value_str(first, "state", ""), "protocol");
        assert_string_equal(value_str(first, "reason", ""), rows[i].stranger);
        assert_null(value_get(first, "halite"));
        AUTO_FREE char *again = xasprintf("{\"m\":\"hello\",\"id\":\"m1\",\"boot\":\"b\",%s}", rows[i].proto);
        say(known, again);
        json_auto_t *second = hear(known, "welcome");
        assert_string_equal(value_str(second, "state", ""), "protocol");
        assert_string_equal(value_str(second, "reason", ""), rows[i].known);
        assert_false(is_connected(f, "m1", NULL));
        hello(known, "m1", "boot-1");
        hear_state(known, "accepted");
        assert_true(is_connected(f, "m1", NULL));
    }
    AUTO_FREE char *pending = xasprintf("%s/etc/salt/pki/master/minions_pre/s", f->dir);
    assert_true(fs_absent(pending));
    hello(stranger, "s", "b");
    hear_state(stranger, "pending");
    assert_false(fs_absent(pending));
}

/* The same with a second machine that has the key: whoever waits to take over may change its mind, or go. */
static void
test_rivals(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *first = accepted(f, keys, "m1");

    for (int i = 0; i < 3; i++) {
        void *rival = dealer(f, keys), *third = dealer(f, keys);
        hello(rival, "m1", "boot-2");
        json_decref(hear(first, ""));
        if (i == 0)
            hello(rival, "other", "boot-2");
        if (i == 1)
            hang_up(f, rival);
        hello(third, "m1", "boot-3");
        json_decref(hear(first, ""));
        if (i == 2)
            hear_state(rival, "duplicate");
        /* The one that was here first lives. */
        hello(first, "m1", "boot-1");
        hear_state(third, "duplicate");
        hang_up(f, third);
        hang_up(f, rival);
    }
    /* And once it does not answer: the other one takes its place, with its jobs. */
    void *heir = dealer(f, keys);
    hello(heir, "m1", "boot-9");
    hear_state(heir, "accepted");
    assert_true(is_connected(f, "m1", NULL));
}

static void
test_return_is_taken_once(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    ret(sock, J1);
    ret(sock, J1);
    json_auto_t *ack = hear(sock, "ack");
    assert_string_equal(json_string_value(json_array_get(value_get(ack, "jids"), 0)), J1);
    ret(sock, J1);
    json_decref(hear(sock, "ack"));
    UNTIL(counter(f, "duplicates") == 2);
    assert_int_equal(counter(f, "returns"), 1);
    /* On another connection of the same minion too. */
    void *again = dealer(f, keys);
    hello(again, "m1", "boot-1");
    hear_state(again, "accepted");
    ret(again, J1);
    json_decref(hear(again, "ack"));
    assert_int_equal(counter(f, "returns"), 1);
}

/* It would count as one of those that the job waits for. */
static void
test_return_of_no_target(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    AUTO(key_pair) other_keys = key_pair_new();
    void *sock = accepted(f, keys, "m1"), *other = accepted(f, other_keys, "m11");

    publish(f, "m1");
    json_auto_t *job = hear(sock, "job");
    const char *jid = value_str(job, "jid", "");
    for (json_int_t i = 1; i <= 2; i++) {
        ret(other, jid);
        /* Acknowledged, or it would come for ever. */
        json_decref(hear(other, "ack"));
        assert_int_equal(counter(f, "refused"), i);
        assert_int_equal(counter(f, "returns"), 0);
    }
    ret(sock, jid);
    json_decref(hear(sock, "ack"));
    assert_int_equal(counter(f, "returns"), 1);
    /* A run of its own has no targets. */
    ret(other, J1);
    json_decref(hear(other, "ack"));
    assert_int_equal(counter(f, "returns"), 2);
}

/* Whether it was had before, and whether it is for this minion, is not known: it is neither taken nor
 * acknowledged. */
static void
test_return_while_the_store_is_away(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    AUTO_FREE char *path = fs_join(f->dir, "var/cache/salt/master/jobs.db");
    AUTO_FREE char *away = xasprintf("%s.away", path);

    assert_int_equal(rename(path, away), 0);
    ret(sock, J1);
    say(sock, "{\"m\":\"event\",\"n\":1,\"tag\":\"my/tag\",\"data\":{\"a\":1}}");
    json_auto_t *ack = hear(sock, "ack");
    assert_int_equal(json_array_size(value_get(ack, "jids")), 0);
    assert_int_equal(counter(f, "returns"), 0);
    assert_int_equal(rename(away, path), 0);
    ret(sock, J1);
    json_auto_t *later = hear(sock, "ack");
    assert_int_equal(json_array_size(value_get(later, "jids")), 1);
    assert_int_equal(counter(f, "returns"), 1);
    assert_int_equal(counter(f, "duplicates"), 0);
}

static void
test_events_once_and_in_order(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    json_int_t before = counter(f, "events");

    for (int n = 1; n <= 3; n++) {
        AUTO_FREE char *text = xasprintf("{\"m\":\"event\",\"n\":%d,\"tag\":\"my/tag\",\"data\":{\"a\":1}}",
                                         n);
        say(sock, text);
    }
    for (int n = 1; n <= 3; n++)
        json_decref(hear(sock, "ack"));
    void *again = dealer(f, keys);
    hello(again, "m1", "boot-1");
    hear_state(again, "accepted");
    say(again, "{\"m\":\"event\",\"n\":2,\"tag\":\"my/tag\",\"data\":{\"a\":1}}");
    json_auto_t *ack = hear(again, "ack");
    assert_int_equal(json_integer_value(json_array_get(value_get(ack, "events"), 0)), 2);
    /* The second connection's own event beside the three: salt/auth. */
    assert_in_range(counter(f, "events") - before, 3, 4);

    /* What can't be taken is acknowledged, or it would come for ever. */
    AUTO_FREE char *large = xcalloc(1, 1200001);
    memset(large, 'x', 1200000);
    AUTO_FREE char *over = xasprintf("{\"m\":\"event\",\"n\":4,\"tag\":\"t\",\"data\":{\"a\":\"%s\"}}",
                                     large);
    say(again, over);
    json_decref(hear(again, "ack"));
    say(again, "{\"m\":\"event\",\"n\":5,\"tag\":\"a\\nb\",\"data\":{}}");
    json_decref(hear(again, "ack"));
    say(again, "{\"m\":\"event\",\"n\":-5,\"tag\":\"t\",\"data\":{}}");
    say(again, "{\"m\":\"event\",\"n\":6,\"tag\":\"t\"}");
    json_auto_t *six = hear(again, "ack");
    assert_int_equal(json_integer_value(json_array_get(value_get(six, "events"), 0)), 6);
}

static void
say_event(void *sock, json_int_t n, json_int_t oldest, size_t bytes)
{
    AUTO_FREE char *data = xcalloc(1, bytes + 1);
    memset(data, 'x', bytes);
    AUTO_FREE char *text = xasprintf(
        "{\"m\":\"event\",\"n\":%lld,\"oldest\":%lld,\"tag\":\"t\",\"data\":{\"a\":\"%s\"}}", (long long) n,
        (long long) oldest, data);

    say(sock, text);
}

/* The number of the event that is acknowledged next; 0: none within `ms`. */
static json_int_t
acked(void *sock, int ms)
{
    zmq_pollitem_t item = { sock, 0, ZMQ_POLLIN, 0 };

    if (zmq_poll(&item, 1, ms) != 1)
        return 0;
    json_auto_t *ack = hear(sock, "ack");
    return json_integer_value(json_array_get(value_get(ack, "events"), 0));
}

/* An event for which there was no room here, and which another master has taken: the minion has it no
 * more. The first that it still has comes next, and none before that one. */
static void
test_lost_event_went_elsewhere(void **state)
{
    enum { LARGE = 1000000 };
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    json_int_t lost = 0, refused = counter(f, "refused"), heard = 0;
    int64_t until = clock_mono_ms() + 6 * PATIENCE_MS; /* there is room a few seconds later */

    while (counter(f, "refused") == refused) {
        lost++;
        say_event(sock, lost, lost, LARGE);
        while (acked(sock, 10) == 0 && counter(f, "refused") == refused)
            ;
    }
    say_event(sock, lost + 2, lost + 1, 1);
    while (heard <= lost && clock_mono_ms() < until) {
        say_event(sock, lost + 1, lost + 1, 1);
        heard = acked(sock, 100);
    }
    assert_int_equal(heard, lost + 1);
    say_event(sock, lost + 2, lost + 2, 1);
    while (heard == lost + 1)
        heard = acked(sock, PATIENCE_MS);
    assert_int_equal(heard, lost + 2);
}

static void *
subscriber(fixture_t *f, const key_pair_t *keys)
{
    void *sock = own(f, sock_new(f->zctx, SOCK_SUB_CLIENT, keys, f->master_key, NULL));

    assert_int_equal(sock_connect(sock, "127.0.0.1", f->publish_port, NULL), 0);
    return sock;
}

/* A minion that returns and ends at once, while the master is busy: what it said comes before that it ended.
 */
/* NEW: a message with a list of so many of one text. */
static char *
list_of(const char *head, const char *one, size_t n, const char *tail)
{
    size_t len = strlen(one) + 1;
    AUTO_FREE char *list = xcalloc(1, n * len + 1);

    for (size_t i = 0; i < n; i++) {
        memcpy(list + i * len, one, len - 1);
        list[(i + 1) * len - 1] = i + 1 < n ? ',' : ' ';
    }
    return xasprintf("%s[%s]%s", head, list, tail);
}

/* Values that a few bytes each make are refused before they are made. */
static void
test_too_many_values(void **state)
{
    static const struct {
        const char *head, *tail, *answer;
        size_t most;
        bool refused_answered;
    } rows[] = {
        { "{\"m\":\"event\",\"n\":1,\"tag\":\"my/tag\",\"data\":{\"a\":", "}}", "ack", LIMIT_WIRE_VALUES,
          true },
        { "{\"m\":\"mine_ask\",\"n\":1,\"op\":\"send\",\"data\":{\"a\":", "}}", "mine", LIMIT_WIRE_VALUES,
          false },
        { "{\"m\":\"pillar_ask\",\"n\":1,\"grains\":{\"a\":", "}}", "pillar", LIMIT_GRAINS_VALUES, false },
        { "{\"m\":\"grains\",\"grains\":{\"a\":", "}}", NULL, LIMIT_GRAINS_VALUES, false },
    };
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_int_t before = counter(f, "refused");
        AUTO_FREE char *over = list_of(rows[i].head, "0", rows[i].most, rows[i].tail);
        say(sock, over);
        if (rows[i].refused_answered)
            json_decref(hear(sock, rows[i].answer));
        UNTIL(counter(f, "refused") == before + 1);
        AUTO_FREE char *fine = list_of(rows[i].head, "0", rows[i].most - 20, rows[i].tail);
        say(sock, fine);
        if (rows[i].answer)
            json_decref(hear(sock, rows[i].answer));
        assert_int_equal(counter(f, "refused"), before + 1);
    }
}

/* Who makes the master work for its returns has them taken later; others are heard meanwhile. */
static void
test_costly_returns(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    AUTO(key_pair) others = key_pair_new();
    void *sock = accepted(f, keys, "m1"), *other = accepted(f, others, "m2");
    AUTO_FREE char *costly = list_of(
        "{\"m\":\"ret\",\"jid\":\"" J1 "\",\"fun\":\"a.b\",\"retcode\":1,\"return\":", "[]", 400000, "}");

    json_int_t before = counter(f, "refused"), in = counter(f, "messages_in");
    for (int i = 1; i <= 1000 && counter(f, "refused") == before; i++) {
        say(sock, costly);
        UNTIL(counter(f, "messages_in") >= in + i);
    }
    assert_true(counter(f, "refused") > before);
    ret(other, J1);
    json_decref(hear(other, "ack"));
}

static void
test_last_words(void **state)
{
    enum { ROUNDS = 10, EACH = 8, LINGER_MS = 5000 };
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    int linger = LINGER_MS;

    hang_up(f, accepted(f, keys, "m1"));
    for (int round = 0; round < ROUNDS; round++) {
        void *sock = dealer(f, keys);
        hello(sock, "m1", "boot-1");
        hear_state(sock, "accepted");
        assert_int_equal(kill(f->pid, SIGSTOP), 0);
        for (int i = 0; i < EACH; i++) {
            AUTO_FREE char *jid = xasprintf("2026112010000000%04d", round * EACH + i);
            ret(sock, jid);
        }
        assert_int_equal(zmq_setsockopt(sock, ZMQ_LINGER, &linger, sizeof(linger)), 0);
        hang_up(f, sock);
        assert_int_equal(kill(f->pid, SIGCONT), 0);
        UNTIL(!is_connected(f, "m1", NULL));
        UNTIL(counter(f, "returns") + counter(f, "refused") >= (round + 1) * EACH);
        assert_int_equal(counter(f, "refused"), 0);
    }
}

/* However many SUBs a key has: none hears anything once the key is rejected. */
static void
test_every_sub_is_cut(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    AUTO(key_pair) others = key_pair_new();
    void *subs[3];
    bool subscribed = false;

    (void) accepted(f, keys, "m1");
    void *other = accepted(f, others, "m2");
    for (size_t i = 0; i < NELEMS(subs); i++)
        subs[i] = subscriber(f, keys);
    (void) subscriber(f, others);
    UNTIL(is_connected(f, "m1", &subscribed) && subscribed);
    UNTIL(is_connected(f, "m2", &subscribed) && subscribed);
    publish(f, "*");
    for (size_t i = 0; i < NELEMS(subs); i++)
        json_decref(hear(subs[i], "job"));
    json_decref(hear(other, "job"));

    key_apply(f, "reject", "m1", "minions");
    assert_false(is_connected(f, "m1", NULL));
    publish(f, "*");
    json_decref(hear(other, "job"));
    for (size_t i = 0; i < NELEMS(subs); i++) {
        zmq_pollitem_t item = { subs[i], 0, ZMQ_POLLIN, 0 };
        assert_int_equal(zmq_poll(&item, 1, 50), 0);
    }
}

static void
test_topics_are_not_kept(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    bool subscribed = false;

    (void) accepted(f, keys, "m1");
    void *sub = subscriber(f, keys);
    UNTIL(is_connected(f, "m1", &subscribed) && subscribed);
    void *monitor = own(f, sock_monitor(f->zctx, sub, "s", ZMQ_EVENT_DISCONNECTED, NULL));
    assert_int_equal(zmq_setsockopt(sub, ZMQ_SUBSCRIBE, "topic", 5), 0);
    zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
}

/* A minion that is dismissed leaves nobody waiting. */
static void
test_deleted_while_it_runs(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    json_auto_t *reply = ask(
        f, json_pack("{s:s, s:s, s:s, s:b}", "op", "publish", "tgt", "m1", "fun", "test.ping", "follow", 1));
    AUTO_FREE char *started = xasprintf("{\"m\":\"started\",\"jid\":\"%s\",\"pid\":7}",
                                        value_str(reply, "jid", ""));
    const char *last = "";
    json_t *push = NULL;

    json_decref(hear(sock, "job"));
    say(sock, started);
    json_auto_t *all = json_array();
    while (local_next(f->line, PATIENCE_MS, &push, NULL) == 1) {
        json_array_append_new(all, push);
        last = value_str(push, "verdict", value_str(push, "push", ""));
        if (str_eq(last, "running"))
            key_apply(f, "delete", "m1", "minions");
        if (str_eq(last, "done"))
            break;
    }
    assert_string_equal(last, "done");
    assert_string_equal(value_str(json_array_get(all, json_array_size(all) - 2), "verdict", ""), "lost");
}

/* Its networking process said that the job arrived, and died before anything could begin it. */
static void
test_died_with_the_job(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    json_auto_t *reply = ask(f,
                             json_pack("{s:s, s:s, s:s}", "op", "publish", "tgt", "m1", "fun", "test.ping"));
    const char *jid = value_str(reply, "jid", "");
    AUTO_FREE char *arrived = xasprintf("{\"m\":\"started\",\"jid\":\"%s\",\"pid\":0}", jid);

    json_decref(hear(sock, "job"));
    say(sock, arrived);
    hang_up(f, sock);
    sock = dealer(f, keys);
    hello(sock, "m1", "boot-1");
    hear_state(sock, "accepted");
    json_auto_t *again = hear(sock, "job");
    assert_string_equal(value_str(again, "jid", ""), jid);
}

/* ---- strangers -------------------------------------------------------------------------------- */

static void
test_a_stranger(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = dealer(f, keys);

    json_decref(hear(sock, ""));
    /* Nothing but a hello is listened to; who forgot it is asked again. */
    ret(sock, J1);
    json_decref(hear(sock, ""));
    say(sock, "garbage");
    say(sock, "{\"m\":\"grains\",\"grains\":{}}");
    say(sock, "{\"m\":\"job\",\"jid\":\"" J1 "\"}");
    UNTIL(counter(f, "refused") == 4);
    assert_int_equal(counter(f, "returns"), 0);
    hello(sock, "m1", "b");
    hear_state(sock, "pending");
}

static void
test_one_key_waits_under_one_id(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = dealer(f, keys);
    AUTO_FREE char *dir = fs_join(f->dir, "etc/salt/pki/master/minions_pre");

    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *id = xasprintf("name%d", i), *file = fs_join(dir, id);
        hello(sock, id, "b");
        hear_state(sock, "pending");
        assert_true(fs_exists(file));
        if (i > 0) {
            AUTO_FREE char *before = xasprintf("%s/name%d", dir, i - 1);
            assert_false(fs_exists(before));
        }
    }
}

static void
test_a_stranger_that_never_stops(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = dealer(f, keys);
    void *monitor = own(f, sock_monitor(f->zctx, sock, "d", ZMQ_EVENT_DISCONNECTED, NULL));

    for (int i = 0; i < LIMIT_UNPROVEN + 10; i++)
        hello(sock, "m1", "b");
    zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    assert_true(counter(f, "events") < 2 * LIMIT_UNPROVEN + 20);
}

static void
test_routing_id_of_its_own_choice(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = own(f, sock_new(f->zctx, SOCK_DEALER_CLIENT, keys, f->master_key, NULL));
    void *monitor = own(f, sock_monitor(f->zctx, sock, "d", ZMQ_EVENT_DISCONNECTED, NULL));

    assert_int_equal(zmq_setsockopt(sock, ZMQ_ROUTING_ID, "m1", 2), 0);
    assert_int_equal(sock_connect(sock, "127.0.0.1", f->port, NULL), 0);
    hello(sock, "m1", "b");
    zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    assert_false(is_connected(f, "m1", NULL));
    assert_true(counter(f, "refused") > 0);
}

static void
test_many_lines_with_one_key(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    (void) accepted(f, keys, "m1");

    assert_true(LIMIT_MINION_LINES < NELEMS(f->socks) && f->n_socks == 1);
    for (size_t i = f->n_socks; i < LIMIT_MINION_LINES; i++) {
        void *sock = dealer(f, keys);
        hello(sock, "m1", "boot-1");
        hear_state(sock, "accepted");
    }
    /* One more is no more. */
    json_int_t refused = counter(f, "refused");
    hello(dealer(f, keys), "m1", "boot-1");
    UNTIL(counter(f, "refused") > refused);
    json_auto_t *reply = ask(f, json_pack("{s:s}", "op", "status"));
    assert_true(value_int(reply, "connections", 0) <= LIMIT_MINION_LINES);
}

/* ---- keys ------------------------------------------------------------------------------------- */

/* A file that holds no key can be put away, but not accepted. */
static void
test_damaged_key_file(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pre = fs_join(f->dir, "etc/salt/pki/master/minions_pre/bad"),
                   *rejected = fs_join(f->dir, "etc/salt/pki/master/minions_rejected/bad");

    assert_int_equal(fs_write_quick(pre, "no key", 6, 0600, NULL), 0);
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:[s], s:[s]}", "op", "key_apply", "action", "accept",
                                          "ids", "bad", "from", "minions_pre"));
    assert_int_equal(json_array_size(value_get(reply, "done")), 0);
    assert_true(*value_str(value_get(reply, "failed"), "bad", "") != '\0');
    key_apply(f, "reject", "bad", "minions_pre");
    assert_false(fs_exists(pre));
    assert_true(fs_exists(rejected));
    key_apply(f, "delete", "bad", "minions_rejected");
    assert_false(fs_exists(rejected));
}

/* One that is too large for a key can be deleted as well, and what can't be done is told. */
static void
test_unreadable_key_file(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pre = fs_join(f->dir, "etc/salt/pki/master/minions_pre/bad"),
                   *empty = fs_join(f->dir, "etc/salt/pki/master/minions_pre/empty"),
                   *folder = fs_join(f->dir, "etc/salt/pki/master/minions_pre/folder"),
                   *large = xcalloc(1, 20000);

    assert_int_equal(fs_write_quick(pre, large, 20000, 0600, NULL), 0);
    assert_int_equal(fs_write_quick(empty, "", 0, 0600, NULL), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:[s,s,s], s:[s]}", "op", "key_apply", "action",
                                          "accept", "ids", "bad", "empty", "absent", "from", "minions_pre"));
    assert_int_equal(json_array_size(value_get(reply, "done")), 0);
    assert_int_equal(json_object_size(value_get(reply, "failed")), 2);
    key_apply(f, "delete", "bad", "minions_pre");
    assert_false(fs_exists(pre));
    json_auto_t *more = ask(f, json_pack("{s:s, s:s, s:[s], s:[s]}", "op", "key_apply", "action", "delete",
                                         "ids", "folder", "from", "minions_pre"));
    assert_int_equal(json_array_size(value_get(more, "done")), 0);
    assert_true(*value_str(value_get(more, "failed"), "folder", "") != '\0');
}

/* Done is what a power cut does not undo. */
static void
test_keys_not_synced(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *pre = fs_join(f->dir, "etc/salt/pki/master/minions_pre/bad");
    fail_auto_t err = FAIL_INIT;
    json_t *reply = NULL, *request = json_pack("{s:s, s:s, s:[s], s:[s]}", "op", "key_apply", "action",
                                               "delete", "ids", "bad", "from", "minions_pre");

    assert_int_equal(fs_write_quick(pre, "no key", 6, 0600, NULL), 0);
    assert_int_equal(fs_write_quick(trouble, "", 0, 0600, NULL), 0);
    json_t *first = json_pack("{s:s, s:s, s:[s], s:[s], s:b}", "op", "key_apply", "action", "delete", "ids",
                              "bad", "from", "minions_pre", "more", 1);
    json_auto_t *done = ask(f, first);
    assert_int_equal(json_array_size(value_get(done, "done")), 1);
    /* The last request of a row answers for all of them. */
    assert_true(local_call(f->line, &request, &reply, &err) < 0);
    assert_non_null(strstr(fail_text(&err), "minions_pre: Input/output error"));
    assert_int_equal(unlink(trouble), 0);
}

/* Files that somebody moved, and a reload: connections follow. */
static void
test_reload_of_moved_files(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    AUTO_FREE char *yes = fs_join(f->dir, "etc/salt/pki/master/minions/m1"),
                   *no = fs_join(f->dir, "etc/salt/pki/master/minions_rejected/m1");
    void *monitor = own(f, sock_monitor(f->zctx, sock, "d", ZMQ_EVENT_DISCONNECTED, NULL));
    zmq_pollitem_t item = { monitor, 0, ZMQ_POLLIN, 0 };

    /* Nothing moved: nothing happens. */
    assert_int_equal(kill(f->pid, SIGHUP), 0);
    assert_true(is_connected(f, "m1", NULL));
    assert_int_equal(rename(yes, no), 0);
    assert_int_equal(kill(f->pid, SIGHUP), 0);
    assert_int_equal(zmq_poll(&item, 1, PATIENCE_MS), 1);
    assert_false(is_connected(f, "m1", NULL));
}

/* ---- operators -------------------------------------------------------------------------------- */

static int
raw_line(const fixture_t *f)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    AUTO_FREE char *path = xasprintf("%s/var/run/salt/master/%s", f->dir, LOCAL_SOCKET_NAME);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(str_copy(addr.sun_path, sizeof(addr.sun_path), path));
    if (connect(fd, (struct sockaddr *) &addr, sizeof(addr)) == 0)
        return fd;
    (void) close(fd);
    return -1;
}

static void
test_two_thousand_idle_lines(void **state)
{
    fixture_t *f = *state;
    static int fds[2000];
    size_t n = 0;
    struct rlimit rl;

    (void) daemon_raise_files(4096);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
    while (n < NELEMS(fds) && n + 100 < rl.rlim_cur && (fds[n] = raw_line(f)) >= 0)
        n++;
    /* The one who works is served among them, with half messages and nonsense beside. */
    for (size_t i = 0; i < n; i += 3)
        (void) !write(fds[i], "\0\0\1\0{\"op\":", 10);
    for (size_t i = 1; i < n; i += 50)
        (void) !write(fds[i], "\xff\xff\xff\xffxxxx", 8);
    assert_true(counter(f, "messages_in") >= 0);
    for (size_t i = 0; i < n; i++)
        (void) close(fds[i]);
    assert_true(counter(f, "messages_in") >= 0);
}

/* A listener that does not read misses events, and hears how many; nobody else waits for it. */
static void
test_slow_listener(void **state)
{
    enum { SIZE = 900000, N = 60 };
    fixture_t *f = *state;
    int fd = raw_line(f);
    static const char request[] = "{\"op\":\"events\",\"n\":1}";
    uint32_t head = htonl((uint32_t) strlen(request));
    AUTO_FREE char *text = xcalloc(1, SIZE + 1);
    buf_auto_t in = BUF_INIT;
    char chunk[65536];
    bool missed = false;

    memset(text, 'x', SIZE);
    assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
    for (int i = 0; i < N; i++)
        json_decref(ask(f, json_pack("{s:s, s:s, s:{s:s}}", "op", "fire", "tag", "big", "data", "a", text)));
    while (!missed) {
        json_auto_t *msg = NULL;
        ssize_t n = 0;
        while (frame_take(&in, LIMIT_LOCAL_MSG, &msg, NULL) == 1) {
            missed = missed || str_eq(value_str(msg, "push", ""), "missed");
            json_decref(msg);
            msg = NULL;
        }
        if (!missed)
            n = recv(fd, chunk, sizeof(chunk), 0);
        assert_true(missed || n > 0);
        buf_add(&in, chunk, (size_t) n);
    }
    (void) close(fd);
}

static void
post(int fd, const char *request)
{
    uint32_t head = htonl((uint32_t) strlen(request));

    assert_int_equal(write(fd, &head, sizeof(head)), sizeof(head));
    assert_int_equal(write(fd, request, strlen(request)), strlen(request));
}

/* The next message on such a line. NEW. */
static json_t *
next_of(int fd, buf_t *in)
{
    char chunk[65536];
    json_t *msg = NULL;

    while (frame_take(in, LIMIT_LOCAL_MSG, &msg, NULL) != 1) {
        struct pollfd pfd = { .fd = fd, .events = POLLIN };
        assert_int_equal(poll(&pfd, 1, PATIENCE_MS), 1);
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
        assert_true(n > 0);
        buf_add(in, chunk, (size_t) n);
    }
    return msg;
}

/* NEW reply. */
static json_t *
answer_of(int fd, const char *request)
{
    buf_auto_t in = BUF_INIT;

    post(fd, request);
    return next_of(fd, &in);
}

static bool
fired(int fd, const char *request)
{
    json_auto_t *reply = answer_of(fd, request);

    return value_bool(reply, "ok", false);
}

/* While the disk refuses, who fires hears that as often as he tries, and the line goes on. */
static void
test_fire_while_the_disk_refuses(void **state)
{
    enum { SIZE = 900000, N = LIMIT_EVENTS_WAITING / SIZE };
    static const struct rlimit none = { 0, RLIM_INFINITY }, all = { RLIM_INFINITY, RLIM_INFINITY };
    fixture_t *f = *state;
    AUTO_FREE char *text = xcalloc(1, SIZE + 1);
    const struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
    int fd = raw_line(f), refused = 0;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)), 0);
    memset(text, 'x', SIZE);
    AUTO_FREE char *request = xasprintf("{\"op\":\"fire\",\"n\":1,\"tag\":\"big\",\"data\":{\"a\":\"%s\"}}",
                                        text);
    assert_int_equal(prlimit(f->pid, RLIMIT_FSIZE, &none, NULL), 0);
    for (int i = 0; i < 2 * N; i++)
        refused += !fired(fd, request);
    assert_true(refused >= N / 2);
    json_auto_t *status = answer_of(fd, "{\"op\":\"status\",\"n\":2}");
    assert_true(value_bool(status, "ok", false));
    assert_int_equal(prlimit(f->pid, RLIMIT_FSIZE, &all, NULL), 0);
    UNTIL(fired(fd, request));
    (void) close(fd);
}

static int
line_of(const fixture_t *f, uid_t uid)
{
    assert_int_equal(seteuid(uid), 0);
    int fd = raw_line(f);
    assert_int_equal(seteuid(0), 0);
    assert_true(fd >= 0);
    return fd;
}

/* A line of somebody whom publisher_acl names. */
static int
user_line(const fixture_t *f)
{
    enum { NOBODY = 65534 };

    return line_of(f, NOBODY);
}

/* An answer does not bring all events into memory that a user has left unread: they stay where everybody's
 * are. */
static void
test_answer_of_a_deaf_user(void **state)
{
    enum { N = 2000, SIZE = 2000 };
    fixture_t *f = *state;
    buf_auto_t in = BUF_INIT;
    char text[SIZE + 1] = "";
    size_t events = 0;

    if (geteuid() != 0)
        skip();
    memset(text, 'x', SIZE);
    assert_int_equal(chmod(f->dir, 0711), 0);
    int fd = user_line(f);
    json_decref(answer_of(fd, "{\"op\":\"events\",\"tags\":[\"big\"],\"n\":1}"));
    for (int i = 0; i < N; i++)
        json_decref(ask(f, json_pack("{s:s, s:s, s:{s:s}}", "op", "fire", "tag", "big", "data", "a", text)));
    post(fd, "{\"op\":\"status\",\"n\":2}");
    for (bool answered = false; events < N;) {
        json_auto_t *msg = next_of(fd, &in);
        answered = answered || value_int(msg, "n", 0) == 2;
        events += str_eq(value_str(msg, "push", ""), "event");
        assert_true(answered || events < N / 2);
    }
    (void) close(fd);
}

/* How many the master has not closed. */
static size_t
still_open(struct pollfd *lines, size_t n)
{
    size_t open = n;

    (void) poll(lines, n, 0);
    for (size_t i = 0; i < n; i++)
        open -= (lines[i].revents & POLLHUP) != 0;
    return open;
}

/* What is pushed to a user's lines and read by none is bounded for all of them together; a line that is
 * read stays. So is what they are told again: those for which there is no room get it when others have
 * gone. */
static void
test_returns_of_a_deaf_user(void **state)
{
    enum { LINES = 14, SIZE = 10000000 };
    fixture_t *f = *state;
    struct pollfd deaf[LINES];
    buf_auto_t in = BUF_INIT;
    size_t open, told = 0;

    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(f->dir, 0711), 0);
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    publish(f, "m1");
    json_auto_t *job = hear(sock, "job");
    const char *jid = value_str(job, "jid", "?");
    AUTO_FREE char *request = xasprintf("{\"op\":\"follow\",\"jid\":\"%s\",\"n\":1}", jid);
    AUTO_FREE char *started = xasprintf("{\"m\":\"started\",\"jid\":\"%s\",\"pid\":1}", jid);
    say(sock, started); /* it is not given up before all lines are there */
    int reads = user_line(f);
    json_decref(answer_of(reads, request));
    for (size_t i = 0; i < LINES; i++) {
        deaf[i] = (struct pollfd){ .fd = user_line(f) };
        json_decref(answer_of(deaf[i].fd, request));
    }
    AUTO_FREE char *value = xcalloc(1, SIZE + 1);
    memset(value, 'x', SIZE);
    AUTO_FREE char *text = xasprintf("{\"m\":\"ret\",\"jid\":\"%s\",\"fun\":\"test.ping\",\"return\":\"%s\","
                                     "\"retcode\":0,\"success\":true}",
                                     jid, value);
    say(sock, text);
    for (bool done = false; !done;) {
        json_auto_t *msg = next_of(reads, &in);
        done = str_eq(value_str(msg, "push", ""), "done");
    }
    assert_true(counter(f, "returns") == 1);
    open = still_open(deaf, LINES);
    for (size_t i = 0; i < LINES; i++)
        (void) close(deaf[i].fd);
    assert_true(open * SIZE <= LIMIT_LOCAL_QUEUE + LIMIT_LOCAL_MSG);
    assert_true((open + 1) * SIZE > LIMIT_LOCAL_QUEUE);
    for (size_t i = 0; i < LINES; i++) {
        deaf[i] = (struct pollfd){ .fd = user_line(f), .events = POLLIN };
        json_decref(answer_of(deaf[i].fd, request));
    }
    assert_true(poll(deaf, LINES, PATIENCE_MS) > 0);
    for (size_t i = 0; i < 4 * LINES; i++) /* turns */
        (void) counter(f, "returns");
    (void) poll(deaf, LINES, 0);
    for (size_t i = 0; i < LINES; i++)
        told += (deaf[i].revents & POLLIN) != 0;
    assert_true(told > 0 && (told - 1) * SIZE <= LIMIT_LOCAL_QUEUE);
    for (size_t i = 0; i < LINES - 1; i++)
        (void) close(deaf[i].fd);
    for (bool done = false; !done;) {
        json_auto_t *msg = next_of(deaf[LINES - 1].fd, &in);
        done = str_eq(value_str(msg, "push", ""), "done");
    }
    (void) close(deaf[LINES - 1].fd);
    (void) close(reads);
}

/* Requests that a user's lines have begun and do not end are bounded for all of them together. */
static void
test_requests_that_do_not_end(void **state)
{
    enum { LINES = 12, SIZE = LIMIT_LOCAL_USER_MSG - 1000 };
    fixture_t *f = *state;
    struct pollfd lines[LINES];
    AUTO_FREE char *part = xcalloc(1, SIZE);
    uint32_t head = htonl(LIMIT_LOCAL_USER_MSG);
    size_t open;

    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(f->dir, 0711), 0);
    for (size_t i = 0; i < LINES; i++) {
        lines[i] = (struct pollfd){ .fd = user_line(f) };
        assert_int_equal(send(lines[i].fd, &head, sizeof(head), 0), sizeof(head));
        for (ssize_t at = 0, n = 0; at < SIZE && n >= 0; at += n)
            n = send(lines[i].fd, part + at, (size_t) (SIZE - at), MSG_NOSIGNAL);
    }
    UNTIL((open = still_open(lines, LINES)) * SIZE <= LIMIT_LOCAL_QUEUE);
    assert_true(open > 0);
    for (size_t i = 0; i < LINES; i++)
        (void) close(lines[i].fd);
    int fd = user_line(f);
    json_decref(answer_of(fd, "{\"op\":\"status\",\"n\":1}"));
    (void) close(fd);
}

/* A user may have many ids (subuid): root comes in all the same. */
static void
test_lines_of_many_users(void **state)
{
    enum { USERS = LIMIT_LOCAL_CLIENTS / LIMIT_LOCAL_USER_LINES + 1, FIRST = 100000 };
    static int fds[USERS * LIMIT_LOCAL_USER_LINES];
    fixture_t *f = *state;
    struct rlimit rl;

    (void) daemon_raise_files(4096);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &rl), 0);
    if (geteuid() != 0 || rl.rlim_cur < NELEMS(fds) + 100)
        skip();
    assert_int_equal(chmod(f->dir, 0711), 0);
    for (size_t i = 0; i < NELEMS(fds); i++)
        fds[i] = line_of(f, (uid_t) (FIRST + i / LIMIT_LOCAL_USER_LINES));
    int fd = raw_line(f);
    json_auto_t *reply = answer_of(fd, "{\"op\":\"status\",\"n\":1}");
    assert_true(value_bool(reply, "ok", false));
    (void) close(fd);
    for (size_t i = 0; i < NELEMS(fds); i++)
        (void) close(fds[i]);
}

/* A time of any size to wait for a target is one. */
static void
test_job_waits_for_its_target(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();

    hang_up(f, accepted(f, keys, "m1"));
    UNTIL(!is_connected(f, "m1", NULL));
    json_auto_t *job = ask(f, json_pack("{s:s, s:s, s:s, s:I}", "op", "publish", "tgt", "m1", "fun", "a.b",
                                        "wait_ms", (json_int_t) INT64_MAX));
    json_auto_t *now = ask(f, json_pack("{s:s, s:O}", "op", "verdicts", "jid", value_get(job, "jid")));
    assert_string_equal(value_str(value_get(value_get(now, "verdicts"), "m1"), "verdict", "?"), "waiting");
}

static void
test_odd_requests(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"op\":7}",
        "{\"op\":\"none\"}",
        "{\"op\":\"publish\"}",
        "{\"op\":\"publish\",\"tgt\":7,\"fun\":\"a.b\"}",
        "{\"op\":\"publish\",\"tgt\":\"*\",\"fun\":[]}",
        "{\"op\":\"publish\",\"tgt\":\"*\",\"fun\":[7]}",
        "{\"op\":\"publish\",\"tgt\":\"*\",\"fun\":\"a.b\",\"subset\":-1}",
        "{\"op\":\"publish\",\"tgt\":\"*\",\"fun\":\"a.b\",\"subset\":\"10%\"}",
        "{\"op\":\"publish\",\"tgt\":\"(\",\"tgt_type\":\"compound\",\"fun\":\"a.b\"}",
        "{\"op\":\"publish\",\"tgt\":\"*\",\"tgt_type\":\"none\",\"fun\":\"a.b\"}",
        "{\"op\":\"follow\"}",
        "{\"op\":\"follow\",\"jid\":\"x\"}",
        "{\"op\":\"fire\",\"tag\":\"\",\"data\":{}}",
        "{\"op\":\"fire\",\"tag\":\"a\",\"data\":[]}",
        "{\"op\":\"runner\"}",
        "{\"op\":\"runner\",\"fun\":\"x\",\"arg\":7}",
        "{\"op\":\"wheel\",\"fun\":\"\"}",
        "{\"op\":\"key_apply\",\"action\":\"none\"}",
        "{\"op\":\"key_apply\",\"action\":\"accept\",\"ids\":\"*\"}",
    };
    fixture_t *f = *state;

    for (size_t i = 0; i < NELEMS(texts); i++) {
        fail_auto_t err = FAIL_INIT;
        json_t *request = json_loads(texts[i], 0, NULL), *reply = NULL;
        if (local_call(f->line, &request, &reply, &err) != -EREMOTEIO)
            fail_msg("%s: %s", texts[i], fail_text(&err));
    }
    /* A jid of one's own choice: once. */
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    static const char chosen[] = "{\"op\":\"publish\",\"tgt\":\"m1\",\"fun\":\"a.b\",\"jid\":\"" J1 "\"}";
    json_decref(ask(f, json_loads(chosen, 0, NULL)));
    json_decref(hear(sock, "job"));
    ret(sock, J1);
    json_decref(hear(sock, "ack"));
    UNTIL(counter(f, "returns") == 1);
    fail_auto_t err = FAIL_INIT;
    json_t *again = json_loads(chosen, 0, NULL), *reply = NULL;
    assert_int_equal(local_call(f->line, &again, &reply, &err), -EREMOTEIO);
    /* One that no message can hold is refused to its face. */
    AUTO_FREE char *large = xcalloc(1, LIMIT_WIRE_MSG + 1);
    memset(large, 'x', LIMIT_WIRE_MSG);
    fail_auto_t why = FAIL_INIT;
    json_t *job = json_pack("{s:s, s:s, s:s, s:[s]}", "op", "publish", "tgt", "m1", "fun", "a.b", "arg",
                            large);
    assert_int_equal(local_call(f->line, &job, &reply, &why), -EREMOTEIO);
    assert_non_null(strstr(fail_text(&why), "limit"));
}

/* A restart finds what was committed. */
static void
test_restart(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    AUTO_FREE char *wal = fs_join(f->dir, "var/cache/salt/master/jobs.db-wal");

    ret(sock, J1);
    json_decref(hear(sock, "ack"));
    stop_master(f);
    assert_false(fs_exists(wal));
    start_master(f);
    hello(sock, "m1", "boot-1");
    hear_state(sock, "accepted");
    ret(sock, J1);
    json_decref(hear(sock, "ack"));
    assert_int_equal(counter(f, "returns"), 0);
    assert_int_equal(counter(f, "duplicates"), 1);
}

/* Text of the first column of the first row, or "". NEW. */
static char *
in_store(const fixture_t *f, const char *sql)
{
    AUTO_FREE char *path = fs_join(f->dir, "var/cache/salt/master/jobs.db");
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(db, PATIENCE_MS), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    char *text = xstrdup(sqlite3_step(stmt) == SQLITE_ROW ? (const char *) sqlite3_column_text(stmt, 0) : "");
    (void) sqlite3_finalize(stmt);
    (void) sqlite3_close(db);
    return text;
}

/* What is not a function that was begun is told once and forgotten. */
static void
test_unreadable_run(void **state)
{
    fixture_t *f = *state;

    stop_master(f);
    free(in_store(f, "INSERT INTO meta (key, value) VALUES ('run/20261120100000000009', 'x'), ('run/" J1
                     "', '{}')"));
    start_master(f);
    stop_master(f);
    AUTO_FREE char *left = in_store(f, "SELECT count(*) FROM meta WHERE key LIKE 'run/%'");
    start_master(f);
    assert_string_equal(left, "0");
}

static json_int_t
last_number(fixture_t *f)
{
    json_auto_t *reply = ask(f, json_pack("{s:s}", "op", "status"));

    return value_int(reply, "seq", -1);
}

static size_t
gaps(fixture_t *f)
{
    json_auto_t *reply = ask(
        f, json_pack("{s:s, s:[s], s:i}", "op", "journal", "tags", "salt/event/gap", "from", 1));

    return json_array_size(value_get(reply, "events"));
}

/* Nothing in the store says how many events there were: none gets a number that another had, at this start
 * and the next. */
static void
test_damaged_store(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    AUTO_FREE char *path = fs_join(f->dir, "var/cache/salt/master/jobs.db");
    json_int_t last;

    for (int i = 0; i < 2; i++) {
        hang_up(f, accepted(f, keys, "m1"));
        key_apply(f, "delete", "m1", "minions");
        last = last_number(f);
        assert_true(last > 0);
        stop_master(f);
        if (i == 0)
            assert_int_equal(fs_write_quick(path, "damaged", 7, 0600, NULL), 0);
        start_master(f);
        assert_true(last_number(f) >= last);
        UNTIL(gaps(f) == 1); /* of the first start */
    }
}

static bool
store_says(const fixture_t *f, const char *sql, const char *expected)
{
    AUTO_FREE char *text = in_store(f, sql);

    return str_eq(text, expected);
}

/* The master that sent a job was killed before its row was on the disk: whoever ran it has its return
 * stored. Such a job has no targets that could be others. */
static void
test_lost_job(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) key0 = key_pair_new();
    AUTO(key_pair) key1 = key_pair_new();
    void *socks[] = { accepted(f, key0, "m0"), accepted(f, key1, "m1") };

    for (size_t i = 0; i < NELEMS(socks); i++) {
        ret(socks[i], J1);
        json_decref(hear(socks[i], "ack"));
        assert_int_equal(counter(f, "returns"), i + 1);
    }
    assert_true(store_says(f, "SELECT count(*) FROM returns WHERE jid = '" J1 "'", "2"));
}

static void
assert_match(fixture_t *f, const char *tgt, const char *tgt_type, const char *expected)
{
    json_auto_t *reply = ask(f,
                             json_pack("{s:s, s:s, s:s}", "op", "match", "tgt", tgt, "tgt_type", tgt_type));
    AUTO_FREE char *minions = value_dump(value_get(reply, "minions"));

    assert_string_equal(minions, expected);
}

/* What the last master knew of minions: targets have it at once, also of those that are not back; a row
 * that can't be read is one that is not there; what a minion says again is not written again. */
static void
test_known_after_a_restart(void **state)
{
    fixture_t *f = *state;
    static const char *const os[] = { "Debian", "Rocky", "Plan 9" };
    AUTO(key_pair) key0 = key_pair_new();
    AUTO(key_pair) key1 = key_pair_new();
    AUTO(key_pair) key2 = key_pair_new();
    const key_pair_t *const keys[] = { key0, key1, key2 };
    void *socks[NELEMS(os)];

    for (size_t i = 0; i < NELEMS(os); i++) {
        AUTO_FREE char *id = xasprintf("m%zu", i);
        AUTO_FREE char *grains = xasprintf("{\"m\":\"grains\",\"grains\":{\"os\":\"%s\",\"id\":\"m%zu\"}}",
                                           os[i], i);
        socks[i] = accepted(f, keys[i], id);
        say(socks[i], grains);
    }
    UNTIL(store_says(f, "SELECT count(*) FROM grains", "3"));
    stop_master(f);
    free(in_store(f, "UPDATE grains SET doc = '{\"os\":' WHERE id = 'm2'"));
    free(in_store(f, "INSERT INTO pillar(id, stamp_us, doc) VALUES('m1', 1, '{\"role\":\"web\"}')"));
    free(in_store(f, "INSERT INTO pillar(id, stamp_us, doc) VALUES('m0', 1, '7')"));
    free(in_store(f, "UPDATE grains SET stamp_us = 7"));
    start_master(f);
    assert_match(f, "os:*", "grain", "[\"m0\",\"m1\"]");
    assert_match(f, "role:web", "pillar", "[\"m1\"]");
    for (size_t i = 0; i < NELEMS(os); i++) {
        AUTO_FREE char *id = xasprintf("m%zu", i);
        hello(socks[i], id, "boot-1");
        hear_state(socks[i], "accepted");
    }
    say(socks[0], "{\"m\":\"grains\",\"grains\":{\"os\":\"Debian\",\"id\":\"m0\"}}");
    say(socks[2], "{\"m\":\"grains\",\"grains\":{\"os\":\"Inferno\",\"id\":\"m2\"}}");
    UNTIL(store_says(f, "SELECT doc FROM grains WHERE id = 'm2'", "{\"os\":\"Inferno\",\"id\":\"m2\"}"));
    assert_match(f, "os:Inferno", "grain", "[\"m2\"]");
    ret(socks[0], J1); /* behind its grains */
    json_decref(hear(socks[0], "ack"));
    assert_true(store_says(f, "SELECT stamp_us FROM grains WHERE id = 'm0'", "7"));
}

/* Whose grains they are, the key says: in what is sent, also a second time and in other shapes, in what
 * masters of before stored, and where there are none at all. */
static void
test_grain_id(void **state)
{
    static const char *const claims[] = { "\"m1\"", "{\"m1\":1}", "[\"m1\",\"m0\"]", "null",
                                          "\"m1\\u0000\"" };
    fixture_t *f = *state;
    AUTO(key_pair) key0 = key_pair_new();
    AUTO(key_pair) key1 = key_pair_new();
    void *sock0 = accepted(f, key0, "m0");

    (void) accepted(f, key1, "m1"); /* it never sends any */
    for (size_t i = 0; i < NELEMS(claims); i++) {
        AUTO_FREE char *doc = xasprintf("{\"id\":\"m0\",\"n\":%zu}", i);
        AUTO_FREE char *grains = xasprintf("{\"m\":\"grains\",\"grains\":{\"id\":%s,\"n\":%zu}}", claims[i],
                                           i);
        say(sock0, grains);
        UNTIL(store_says(f, "SELECT doc FROM grains WHERE id = 'm0'", doc));
        assert_match(f, "id:m0", "grain", "[\"m0\"]");
        assert_match(f, "id:m1", "grain", "[\"m1\"]");
        assert_match(f, "id:m1.*", "grain_pcre", "[\"m1\"]");
        assert_match(f, "not G@id:m1", "compound", "[\"m0\"]");
    }
    stop_master(f);
    free(in_store(f, "UPDATE grains SET doc = '{\"id\":\"m1\",\"n\":9}'"));
    start_master(f);
    assert_match(f, "id:m1", "grain", "[\"m1\"]");
    assert_match(f, "G@id:m0 and G@n:9", "compound", "[\"m0\"]");
    hello(sock0, "m0", "boot-1");
    hear_state(sock0, "accepted");
    say(sock0, "{\"m\":\"grains\",\"grains\":{\"id\":\"m1\",\"n\":9}}"); /* as the store has it */
    ret(sock0, J1);
    json_decref(hear(sock0, "ack"));
    assert_match(f, "id:m1", "grain", "[\"m1\"]");
}

/* ---- kill -9 of the master ------------------------------------------------------------------- */

static void
kill_master(fixture_t *f)
{
    local_client_destroy(&f->line);
    assert_int_equal(kill(f->pid, SIGKILL), 0);
    (void) await_end(f);
}

static void
replace_master(fixture_t *f)
{
    kill_master(f);
    start_master(f);
}

static const char *
verdict_of(fixture_t *f, const char *jid, const char *id)
{
    static char word[32];
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s}", "op", "verdicts", "jid", jid));

    (void) str_copy(word, sizeof(word),
                    value_str(value_get(value_get(reply, "verdicts"), id), "verdict", ""));
    return word;
}

/* Returns how many rows the last statement changed. */
static int
change_store(const fixture_t *f, const char *sql)
{
    AUTO_FREE char *path = fs_join(f->dir, "var/cache/salt/master/jobs.db");
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_busy_timeout(db, PATIENCE_MS), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(db));
    int n = sqlite3_changes(db);
    sqlite3_close(db);
    return n;
}

/* Without a master. */
static void
make_jobs_older(const fixture_t *f, int seconds)
{
    AUTO_FREE char *sql = xasprintf("UPDATE jobs SET start_us = start_us - %d * 1000000", seconds);

    assert_int_equal(change_store(f, sql), 1);
}

/* A job for three minions, which the master has sent to two when it is killed: m0 has returned, m1 runs it.
 * All are back then. */
static void
kill_while_it_sends(fixture_t *f, int age_s, void *socks[3], char jid[CLOCK_STAMP_LEN])
{
    static const char *const ids[] = { "m0", "m1", "m2" };
    key_pair_t *keys[3];

    for (size_t i = 0; i < NELEMS(ids); i++) {
        keys[i] = key_pair_new();
        socks[i] = accepted(f, keys[i], ids[i]);
    }
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:s}", "op", "publish", "tgt", "*", "fun", "a.b"));
    (void) str_copy(jid, CLOCK_STAMP_LEN, value_str(reply, "jid", ""));
    ret(socks[0], jid);
    json_decref(hear(socks[0], "ack"));
    for (size_t i = 0; i < NELEMS(ids); i++)
        hang_up(f, socks[i]);
    kill_master(f);
    make_jobs_older(f, age_s);
    start_master(f);
    for (size_t i = 0; i < NELEMS(ids); i++) {
        socks[i] = dealer(f, keys[i]);
        hello_with(socks[i], ids[i], i == 1 ? jid : J1);
        hear_state(socks[i], "accepted");
        key_pair_destroy(&keys[i]);
    }
    assert_string_equal(verdict_of(f, jid, "m0"), "returned");
    assert_string_equal(verdict_of(f, jid, "m1"), "running");
}

static void
test_killed_while_it_sends(void **state)
{
    fixture_t *f = *state;
    void *socks[3];
    char jid[CLOCK_STAMP_LEN];

    kill_while_it_sends(f, 0, socks, jid);
    json_auto_t *job = hear(socks[2], "job");
    assert_string_equal(value_str(job, "jid", ""), jid);
    assert_string_equal(value_str(job, "fun", ""), "a.b");
    ret(socks[2], jid);
    json_decref(hear(socks[2], "ack"));
    assert_string_equal(verdict_of(f, jid, "m2"), "returned");
    /* The others have had it. */
    for (size_t i = 0; i < 2; i++) {
        zmq_pollitem_t item = { socks[i], 0, ZMQ_POLLIN, 0 };
        assert_int_equal(zmq_poll(&item, 1, 0), 0);
    }
}

/* It is not begun long after somebody asked for it. */
static void
test_killed_while_it_sends_long_ago(void **state)
{
    fixture_t *f = *state;
    void *socks[3];
    char jid[CLOCK_STAMP_LEN];

    kill_while_it_sends(f, 60, socks, jid);
    assert_string_equal(verdict_of(f, jid, "m2"), "not_delivered");
}

/* A job that runs for more than a day is followed by the next master like any other. */
static void
test_killed_in_a_long_job(void **state)
{
    fixture_t *f = *state;
    void *socks[3];
    char jid[CLOCK_STAMP_LEN];

    kill_while_it_sends(f, 26 * 3600, socks, jid);
}

/* The next push of this kind. NEW. */
static json_t *
pushed(fixture_t *f, const char *kind)
{
    int64_t until = clock_mono_ms() + PATIENCE_MS;

    while (clock_mono_ms() < until) {
        json_auto_t *push = NULL;
        if (local_next(f->line, 100, &push, NULL) == 1 && str_eq(value_str(push, "push", ""), kind))
            return json_incref(push);
    }
    fail_msg("waited in vain for a push '%s'", kind);
    return NULL;
}

/* What is told next of a job's target. */
static void
assert_told(fixture_t *f, const char *verdict)
{
    json_auto_t *push = pushed(f, "verdict");

    assert_string_equal(value_str(push, "verdict", ""), verdict);
}

/* However many jobs were under way, the first of them is still known: it runs. */
static void
test_killed_with_many_jobs(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    char first[CLOCK_STAMP_LEN] = "";

    for (int i = 0; i < 250; i++) {
        json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:s}", "op", "publish", "tgt", "*", "fun", "a.b"));
        if (i == 0)
            (void) str_copy(first, sizeof(first), value_str(reply, "jid", ""));
    }
    UNTIL(store_says(f, "SELECT count(*) FROM jobs", "250"));
    hang_up(f, sock);
    replace_master(f);
    hello_with(dealer(f, keys), "m1", first);
    UNTIL(str_eq(verdict_of(f, first, "m1"), "running"));
}

/* There was no room for it in the memory of this master: who follows it hears its end all the same. */
static void
test_followed_from_the_store(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    free(in_store(f, "INSERT INTO jobs(jid, start_us, n_minions, fun, tgt, doc, minions)"
                     " SELECT '" J1 "', (strftime('%s', 'now') - 3600) * 1000000, 1, 'a.b', '*',"
                     " '{\"fun\":\"a.b\",\"tgt\":\"*\"}', '[\"m1\"]'"));
    json_decref(ask(f, json_pack("{s:s, s:s}", "op", "follow", "jid", J1)));
    assert_told(f, "delivered");
    ret(sock, J1);
    json_decref(pushed(f, "ret"));
    json_decref(pushed(f, "done"));
    /* What has ended is told from the store alone. */
    json_decref(ask(f, json_pack("{s:s, s:s}", "op", "follow", "jid", J1)));
    json_decref(pushed(f, "done"));
}

/* It had the job, and its connection went before it could say so, lost or with a goodbye: that is not told
 * as a job that never came. A minion that starts again says goodbye too: what was on the way to its old
 * connection goes to the new one. One that stays away has not had it, as far as anybody knows. */
static void
test_connection_lost_with_the_job(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    for (int way = 0; way < 6; way++) {
        bool goodbye = way % 2 == 1, had_it = way < 2, back = way < 4;
        json_auto_t *reply = ask(
            f, json_pack("{s:s, s:s, s:s, s:b}", "op", "publish", "tgt", "*", "fun", "a.b", "follow", true));
        const char *jid = value_str(reply, "jid", "");
        json_decref(hear(sock, "job"));
        if (goodbye)
            say(sock, "{\"m\":\"bye\"}");
        else
            hang_up(f, sock);
        UNTIL(!is_connected(f, "m1", NULL));
        if (goodbye)
            hang_up(f, sock);
        if (!back)
            assert_told(f, "not_delivered");
        sock = dealer(f, keys);
        hello_with(sock, "m1", had_it ? jid : J1);
        hear_state(sock, "accepted");
        if (!back)
            continue;
        if (had_it) {
            assert_told(f, "running");
        } else {
            json_auto_t *job = hear(sock, "job");
            assert_string_equal(value_str(job, "jid", ""), jid);
        }
        ret(sock, jid);
        json_decref(hear(sock, "ack"));
    }
}

/* It ran the job for this master, and another one has its return: said in the next hello, or later. One
 * that names the job nowhere has lost it. */
static void
test_returned_to_another_master(void **state)
{
    static const char *const hellos[][2] = { { "[]", "" },
                                             { "[]", ",\"elsewhere\":[7,\"%s\"]" },
                                             { "[\"%s\"]", "" } };
    static const char *const verdicts[] = { "lost", "elsewhere", "elsewhere" };
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    for (size_t i = 0; i < NELEMS(hellos); i++) {
        json_auto_t *reply = ask(
            f, json_pack("{s:s, s:s, s:s, s:b}", "op", "publish", "tgt", "m1", "fun", "a.b", "follow", true));
        const char *jid = value_str(reply, "jid", "");
        AUTO_FREE char *started = xasprintf("{\"m\":\"started\",\"jid\":\"%s\",\"pid\":7}", jid);
        AUTO_FREE char *elsewhere = xasprintf("{\"m\":\"elsewhere\",\"jid\":\"%s\"}", jid);
        AUTO_FREE char *pending = str_replace(hellos[i][0], "%s", jid);
        AUTO_FREE char *more = str_replace(hellos[i][1], "%s", jid);
        AUTO_FREE char *text = xasprintf("{\"m\":\"hello\",\"id\":\"m1\",\"role\":\"minion\",\"boot\":"
                                         "\"boot-1\",\"proto\":1,\"pending\":%s%s}",
                                         pending, more);
        json_decref(hear(sock, "job"));
        say(sock, started);
        assert_told(f, "running");
        hang_up(f, sock);
        assert_told(f, "running");
        sock = dealer(f, keys);
        say(sock, text);
        hear_state(sock, "accepted");
        if (i == 2) {
            assert_told(f, "running");
            say(sock, elsewhere);
        }
        assert_told(f, verdicts[i]);
        json_decref(pushed(f, "done"));
        /* A return that comes nevertheless is taken. */
        ret(sock, jid);
        json_decref(hear(sock, "ack"));
    }
    say(sock, "{\"m\":\"elsewhere\"}");
    say(sock, "{\"m\":\"elsewhere\",\"jid\":\"" J1 "\"}");
    say(sock, "{\"m\":\"hello\",\"id\":\"m1\",\"boot\":\"boot-1\",\"proto\":1,\"elsewhere\":7}");
    hear_state(sock, "accepted");
}

/* A minion that goes on with the numbers of events of a start before has been started again all the same:
 * what it had of a job is lost, and not sent to it once more. */
static void
test_restart_with_the_numbers_of_before(void **state)
{
    static const char event[] = "{\"m\":\"event\",\"n\":%d,\"tag\":\"my/tag\",\"data\":{}}";
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    AUTO_FREE char *first = xasprintf(event, 1), *second = xasprintf(event, 2);
    void *sock = accepted(f, keys, "m1");

    say(sock, first);
    json_decref(hear(sock, "ack"));
    json_auto_t *reply = ask(
        f, json_pack("{s:s, s:s, s:s, s:b}", "op", "publish", "tgt", "m1", "fun", "a.b", "follow", true));
    AUTO_FREE char *arrived = xasprintf("{\"m\":\"started\",\"jid\":\"%s\",\"pid\":0}",
                                        value_str(reply, "jid", ""));
    json_decref(hear(sock, "job"));
    say(sock, arrived);
    assert_told(f, "delivered");
    hang_up(f, sock);
    assert_told(f, "delivered");
    sock = dealer(f, keys);
    say(sock, "{\"m\":\"hello\",\"id\":\"m1\",\"role\":\"minion\",\"boot\":\"boot-2\",\"series\":\"boot-1\","
              "\"proto\":1,\"pending\":[]}");
    hear_state(sock, "accepted");
    assert_told(f, "lost");
    say(sock, first);
    json_decref(hear(sock, "ack"));
    say(sock, second);
    json_decref(hear(sock, "ack"));
    json_auto_t *journal = ask(f,
                               json_pack("{s:s, s:i, s:[s]}", "op", "journal", "from", 1, "tags", "my/tag"));
    assert_int_equal(json_array_size(value_get(journal, "events")), 2);
}

/* Its event is on the disk, and the master was killed before it could say so: what salt-call sends again
 * is the same one. */
static void
test_event_of_salt_call_once(void **state)
{
    static const char hi[] =
        "{\"m\":\"hello\",\"id\":\"m1\",\"role\":\"call\",\"boot\":\"call-%d\",\"proto\":1,\"pending\":[]}";
    static const char event[] = "{\"m\":\"event\",\"n\":1,\"tag\":\"my/tag\",\"data\":{\"a\":1}}";
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *minion = accepted(f, keys, "m1");

    hang_up(f, minion);
    for (int run = 0; run < 2; run++) { /* each has numbers of its own */
        AUTO_FREE char *hello_text = xasprintf(hi, run);
        void *sock = dealer(f, keys);
        say(sock, hello_text);
        hear_state(sock, "accepted");
        say(sock, event);
        json_decref(hear(sock, "ack"));
        say(sock, event);
        json_decref(hear(sock, "ack"));
        hang_up(f, sock);
        replace_master(f);
        sock = dealer(f, keys);
        say(sock, hello_text);
        hear_state(sock, "accepted");
        say(sock, event);
        json_auto_t *ack = hear(sock, "ack");
        assert_int_equal(json_integer_value(json_array_get(value_get(ack, "events"), 0)), 1);
        json_auto_t *journal = ask(
            f, json_pack("{s:s, s:i, s:[s]}", "op", "journal", "from", 1, "tags", "my/tag"));
        assert_int_equal(json_array_size(value_get(journal, "events")), run + 1);
        hang_up(f, sock);
    }
}

/* What a master before this one took of a minion's events, or of salt-call's, can't be read for a while.
 * None is taken then, as it may be one of them; later none is taken twice, and none is left out. */
static void
events_unread(fixture_t *f, const char *hi)
{
    static const char event[] = "{\"m\":\"event\",\"n\":%d,\"tag\":\"my/tag\",\"data\":{\"n\":%d}}";
    AUTO(key_pair) keys = key_pair_new();
    char *events[4] = { NULL };
    void *sock = accepted(f, keys, "m1");

    for (int i = 1; i < 4; i++)
        events[i] = xasprintf(event, i, i);
    hang_up(f, sock);
    sock = dealer(f, keys);
    say(sock, hi);
    hear_state(sock, "accepted");
    say(sock, events[1]);
    json_decref(hear(sock, "ack"));
    hang_up(f, sock);
    replace_master(f);
    (void) change_store(f,
                        "BEGIN; ALTER TABLE meta RENAME TO away; CREATE VIEW meta AS SELECT key, CASE WHEN "
                        "key GLOB '*_of/*' THEN json('{') ELSE value END AS value FROM away; "
                        "CREATE TRIGGER put INSTEAD OF INSERT ON meta BEGIN INSERT OR REPLACE INTO away "
                        "VALUES(new.key, new.value); END; COMMIT");
    sock = dealer(f, keys);
    say(sock, hi);
    hear_state(sock, "accepted");
    for (int i = 1; i < 3; i++)
        say(sock, events[i]);
    say(sock, hi);
    hear_state(sock, "accepted");
    (void) change_store(f, "BEGIN; DROP VIEW meta; ALTER TABLE away RENAME TO meta; COMMIT");
    /* The one behind them has to wait for them. */
    say(sock, events[3]);
    for (int i = 1; i < 4; i++) {
        say(sock, events[i]);
        json_auto_t *ack = hear(sock, "ack");
        assert_int_equal(json_integer_value(json_array_get(value_get(ack, "events"), 0)), i);
        free(events[i]);
    }
    json_auto_t *journal = ask(f,
                               json_pack("{s:s, s:i, s:[s]}", "op", "journal", "from", 1, "tags", "my/tag"));
    json_t *told = value_get(journal, "events");
    assert_int_equal(json_array_size(told), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(value_int(value_get(value_get(json_array_get(told, i), "data"), "data"), "n", 0),
                         i + 1);
}

static void
test_events_of_before_unread(void **state)
{
    events_unread(*state, "{\"m\":\"hello\",\"id\":\"m1\",\"role\":\"minion\",\"boot\":\"boot-2\","
                          "\"proto\":1,\"pending\":[]}");
}

static void
test_events_of_salt_call_unread(void **state)
{
    events_unread(*state, "{\"m\":\"hello\",\"id\":\"m1\",\"role\":\"call\",\"boot\":\"call-1\","
                          "\"proto\":1,\"pending\":[]}");
}

/* ---- work that has a note is begun once ------------------------------------------------------ */

/* Nothing is committed until it is closed. NEW. */
static sqlite3 *
hold_store(const fixture_t *f)
{
    AUTO_FREE char *path = fs_join(f->dir, "var/cache/salt/master/jobs.db");
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, PATIENCE_MS);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

/* NEW reply. */
static json_t *
noted(fixture_t *f, const char *op, const char *fun, const char *arg, const char *part)
{
    return ask(f,
               json_pack("{s:s, s:s, s:s, s:[s], s:b, s:{s:s, s:s, s:s}}", "op", op, "tgt", "m1", "fun", fun,
                         "arg", arg, "follow", true, "note", "kind", "test", "ref", "1", "part", part));
}

static void
test_job_with_note_is_sent_after_its_commit(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    sqlite3 *held = hold_store(f);
    json_auto_t *first = noted(f, "publish", "test.ping", "1", "a");
    json_auto_t *at_once = noted(f, "publish", "test.ping", "1", "a");

    assert_false(value_bool(first, "again", false));
    assert_true(value_bool(at_once, "again", false));
    assert_string_equal(value_str(at_once, "jid", "?"), value_str(first, "jid", ""));
    /* Killed before the commit: nobody has heard of the job, and it is a new one. */
    hang_up(f, sock);
    kill_master(f);
    sqlite3_close(held);
    start_master(f);
    sock = dealer(f, keys);
    hello(sock, "m1", "boot-1");
    hear_state(sock, "accepted");
    json_auto_t *second = noted(f, "publish", "test.ping", "1", "a");
    assert_false(value_bool(second, "again", false));
    json_auto_t *job = hear(sock, "job");
    assert_string_equal(value_str(job, "jid", ""), value_str(second, "jid", "?"));
    /* Killed after it: the same job for ever. */
    replace_master(f);
    json_auto_t *third = noted(f, "publish", "test.ping", "1", "a");
    assert_true(value_bool(third, "again", false));
    assert_string_equal(value_str(third, "jid", ""), value_str(second, "jid", "?"));
    assert_true(json_equal(value_get(third, "minions"), value_get(second, "minions")));
    assert_true(json_equal(value_get(third, "missing"), value_get(second, "missing")));
    json_auto_t *other = noted(f, "publish", "test.ping", "1", "b");
    assert_false(value_bool(other, "again", false));
}

/* An event is told at once, and answered when it is told unless it is to be kept: then when it is. */
static void
test_kept_event_is_answered_after_its_commit(void **state)
{
    fixture_t *f = *state;
    json_auto_t *listens = ask(f, json_pack("{s:s, s:[s]}", "op", "events", "tags", "kept/*"));
    /* A new master tells of nothing until its numbers are on the disk. */
    json_decref(ask(f, json_pack("{s:s, s:s, s:b}", "op", "fire", "tag", "kept/first", "kept", true)));
    json_decref(pushed(f, "event"));
    sqlite3 *held = hold_store(f);
    json_auto_t *told = ask(f, json_pack("{s:s, s:s}", "op", "fire", "tag", "kept/not"));
    fail_auto_t err = FAIL_INIT;

    assert_true(value_bool(listens, "ok", false) && value_bool(told, "ok", false));
    json_decref(pushed(f, "event"));
    json_t *fire = json_pack("{s:s, s:s, s:b}", "op", "fire", "tag", "kept/is", "kept", true);
    json_t *status = json_pack("{s:s}", "op", "status");
    json_int_t n = 0, later = 0;
    assert_int_equal(local_post(f->line, &fire, &n, &err), 0);
    assert_int_equal(local_post(f->line, &status, &later, &err), 0);
    json_decref(pushed(f, "event"));
    json_auto_t *first = NULL, *second = NULL;
    assert_int_equal(local_next(f->line, PATIENCE_MS, &first, &err), 1);
    assert_int_equal(value_int(first, "n", -1), later);
    sqlite3_close(held);
    assert_int_equal(local_next(f->line, PATIENCE_MS, &second, &err), 1);
    assert_int_equal(value_int(second, "n", -1), n);
    assert_true(value_bool(second, "ok", false));
}

/* Committed, and its master killed before it was sent: who asks for it again has it sent, to a minion that
 * has not had it. */
static void
test_job_with_note_reaches_its_minion(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");

    hang_up(f, sock);
    UNTIL(!is_connected(f, "m1", NULL));
    for (int back_first = 0; back_first < 2; back_first++) {
        const char *part = back_first ? "a" : "b";
        json_auto_t *first = noted(f, "publish", "test.ping", "1", part);
        UNTIL(counter(f, "store_queued") == 0);
        replace_master(f);
        json_auto_t *early = back_first ? NULL : noted(f, "publish", "test.ping", "1", part);
        sock = dealer(f, keys);
        hello(sock, "m1", "boot-1");
        hear_state(sock, "accepted");
        json_auto_t *again = early ? json_incref(early) : noted(f, "publish", "test.ping", "1", part);
        assert_true(value_bool(again, "again", false));
        json_auto_t *job = hear(sock, "job");
        assert_string_equal(value_str(job, "jid", ""), value_str(first, "jid", "?"));
        ret(sock, value_str(job, "jid", ""));
        json_decref(pushed(f, "ret"));
        hang_up(f, sock);
        UNTIL(!is_connected(f, "m1", NULL));
    }
}

static void
test_job_with_note_is_followed(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) keys = key_pair_new();
    void *sock = accepted(f, keys, "m1");
    json_auto_t *first = noted(f, "publish", "test.ping", "1", "a");
    json_auto_t *job = hear(sock, "job");

    ret(sock, value_str(job, "jid", ""));
    json_decref(pushed(f, "ret"));
    json_decref(pushed(f, "done"));
    for (int i = 0; i < 2; i++) {
        json_auto_t *again = noted(f, "publish", "test.ping", "1", "a");
        assert_true(value_bool(again, "again", false));
        json_auto_t *had = pushed(f, "ret");
        assert_string_equal(value_str(had, "jid", ""), value_str(first, "jid", "?"));
        assert_int_equal(value_int(had, "return", 0), 1);
        json_decref(pushed(f, "done"));
        replace_master(f);
    }
}

static void
test_runner_with_note_runs_once(void **state)
{
    fixture_t *f = *state;
    json_auto_t *first = noted(f, "runner", "test.arg", "x", "a");
    json_auto_t *end = pushed(f, "runner");
    const char *jid = value_str(first, "jid", "?");

    for (int i = 0; i < 2; i++) {
        json_auto_t *again = noted(f, "runner", "test.arg", "x", "a");
        assert_true(value_bool(again, "again", false));
        json_auto_t *same = pushed(f, "runner");
        assert_string_equal(value_str(same, "jid", ""), jid);
        assert_true(json_equal(value_get(same, "return"), value_get(end, "return")));
        assert_true(value_bool(same, "success", false));
        replace_master(f);
    }
    /* What it was doing when its master was killed, nobody knows. */
    json_auto_t *long_one = noted(f, "runner", "test.sleep", "1000", "b");
    UNTIL(counter(f, "store_queued") == 0);
    replace_master(f);
    json_auto_t *again = noted(f, "runner", "test.sleep", "1000", "b");
    assert_string_equal(value_str(again, "jid", ""), value_str(long_one, "jid", "?"));
    json_auto_t *unknown = pushed(f, "runner");
    assert_true(value_bool(unknown, "unknown", false));
    assert_false(value_bool(unknown, "success", true));
}

static void
test_runner_returns_what_a_frame_holds(void **state)
{
    fixture_t *f = *state;

    json_decref(noted(f, "runner", "deep.lists", "540", "a"));
    json_auto_t *held = pushed(f, "runner");
    assert_true(value_bool(held, "success", false));
    assert_true(value_nests(value_get(held, "return"), 540));
    json_decref(noted(f, "runner", "deep.lists", "100000", "b"));
    json_auto_t *deep = pushed(f, "runner");
    assert_false(value_bool(deep, "success", true));
    assert_int_equal(value_int(deep, "retcode", 0), 1);
    assert_string_equal(
        value_str(deep, "return", ""),
        "deep.lists: the return is nested deeper than the 540 levels of a message; ask for less "
        "of it (salt-run doc.runner)");
}

static void
test_progress_goes_to_followers(void **state)
{
    fixture_t *f = *state;
    json_auto_t *run = noted(f, "runner", "test.sleep", "0.2", "a");
    const char *jid = value_str(run, "jid", "?");

    json_decref(ask(f, json_pack("{s:s, s:s, s:i, s:i}", "op", "progress", "jid", jid, "step", 1, "of", 3)));
    json_auto_t *push = pushed(f, "progress");
    assert_string_equal(value_str(push, "jid", ""), jid);
    assert_int_equal(value_int(push, "of", 0), 3);
    assert_null(value_get(push, "op"));
    json_decref(pushed(f, "runner"));
    json_decref(ask(f, json_pack("{s:s, s:s}", "op", "progress", "jid", jid)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- completion ------------------------------------------------------------------------------ */

/* NEW text: the names with blanks between them. TAKES the request. */
static char *
names(fixture_t *f, json_t *request)
{
    json_auto_t *reply = ask(f, request);
    buf_t out = BUF_INIT;
    size_t i;
    json_t *name;

    json_array_foreach (value_get(reply, "names"), i, name)
        buf_printf(&out, "%s%s", i > 0 ? " " : "", json_string_value(name));
    return buf_steal(&out);
}

static void
assert_names(fixture_t *f, const char *kind, const char *prefix, const char *expected)
{
    AUTO_FREE char *text = names(f,
                                 json_pack("{s:s, s:s, s:s}", "op", "names", "kind", kind, "prefix", prefix));

    assert_string_equal(text, expected);
}

static void
assert_key_names(fixture_t *f, const char *state, const char *prefix, const char *expected)
{
    AUTO_FREE char *text = names(
        f, json_pack("{s:s, s:[s], s:s}", "op", "key_names", "states", state, "prefix", prefix));

    assert_string_equal(text, expected);
}

/* Whether the master says of a key where its minion is, and since when it is there. */
static void
assert_seen(fixture_t *f, const char *state, const char *id, bool known)
{
    json_auto_t *reply = ask(f, json_pack("{s:s, s:s, s:[s]}", "op", "key_seen", "state", state, "ids", id));
    const json_t *one = value_get(value_get(reply, "keys"), id);

    assert_int_equal(str_starts(value_str(one, "address", ""), "127.0.0.1"), known);
    assert_int_equal(value_int(one, "since", 0) > 0, known);
}

static void
test_names(void **state)
{
    fixture_t *f = *state;
    AUTO(key_pair) first = key_pair_new();
    AUTO(key_pair) second = key_pair_new();
    AUTO(key_pair) third = key_pair_new();
    fail_auto_t err = FAIL_INIT;
    json_t *reply = NULL, *odd = json_pack("{s:s, s:s}", "op", "names", "kind", "secrets");

    (void) accepted(f, first, "web2");
    (void) accepted(f, second, "web1");
    void *stranger = dealer(f, third);
    hello(stranger, "web3", "b");
    hear_state(stranger, "pending");
    assert_names(f, "minions", "", "web1 web2");
    assert_names(f, "minions", "web2", "web2");
    assert_names(f, "minions", "x", "");
    assert_names(f, "runners", "test.ar", "test.arg");
    assert_names(f, "functions", "test", "");
    assert_key_names(f, "minions", "web", "web1 web2");
    assert_key_names(f, "minions_pre", "", "web3");
    assert_key_names(f, "minions_rejected", "", "");
    assert_key_names(f, "no folder", "", "");
    assert_seen(f, "minions_pre", "web3", true);
    assert_seen(f, "minions", "web1", true);
    assert_seen(f, "minions_denied", "web1", false);
    assert_seen(f, "minions_pre", "../minions/web1", false);
    publish(f, "web1");
    UNTIL(counter(f, "store_queued") == 0);
    AUTO_FREE char *jid = names(f,
                                json_pack("{s:s, s:s, s:s}", "op", "names", "kind", "jids", "prefix", "2"));
    assert_int_equal(strlen(jid), 20);
    assert_names(f, "jids", jid, jid);
    assert_names(f, "jids", "1", "");
    assert_int_equal(local_call(f->line, &odd, &reply, &err), -EREMOTEIO);
    assert_string_equal(fail_text(&err), "there are no names of the kind 'secrets'");
}

/* Of too many the last is among them: otherwise a shell would take for common to all what the first ones
 * have. */
static void
test_many_names(void **state)
{
    fixture_t *f = *state;
    AUTO_FREE char *dir = fs_join(f->dir, "etc/salt/pki/master/minions_denied");

    for (int i = 0; i < LIMIT_NAMES + 100; i++) {
        AUTO_FREE char *path = xasprintf("%s/d%04d", dir, i);
        assert_int_equal(fs_write_quick(path, "", 0, 0644, NULL), 0);
    }
    json_auto_t *reply = ask(
        f, json_pack("{s:s, s:[s], s:s}", "op", "key_names", "states", "minions_denied", "prefix", "d"));
    const json_t *all = value_get(reply, "names");
    assert_int_equal(json_array_size(all), LIMIT_NAMES);
    assert_string_equal(json_string_value(json_array_get(all, 0)), "d0000");
    assert_string_equal(json_string_value(json_array_get(all, LIMIT_NAMES - 2)), "d0998");
    assert_string_equal(json_string_value(json_array_get(all, LIMIT_NAMES - 1)), "d1099");
    assert_key_names(f, "minions_denied", "d109",
                     "d1090 d1091 d1092 d1093 d1094 d1095 d1096 d1097 d1098 d1099");
}

UNIT_MAIN(TEST(test_names), TEST(test_many_names), TEST(test_hello_under_many_names),
          TEST(test_other_protocols), TEST(test_rivals), TEST(test_return_is_taken_once),
          TEST(test_return_of_no_target), TEST(test_return_while_the_store_is_away),
          TEST(test_events_once_and_in_order), TEST(test_lost_event_went_elsewhere),
          TEST(test_event_of_salt_call_once), TEST(test_last_words), TEST(test_too_many_values),
          TEST(test_every_sub_is_cut), TEST(test_topics_are_not_kept), TEST(test_costly_returns),
          TEST(test_deleted_while_it_runs), TEST(test_died_with_the_job), TEST(test_a_stranger),
          TEST(test_one_key_waits_under_one_id), TEST(test_a_stranger_that_never_stops),
          TEST(test_routing_id_of_its_own_choice), TEST(test_many_lines_with_one_key),
          TEST(test_damaged_key_file), TEST(test_keys_not_synced), TEST(test_reload_of_moved_files),
          TEST(test_two_thousand_idle_lines), TEST(test_slow_listener), TEST(test_answer_of_a_deaf_user),
          TEST(test_returns_of_a_deaf_user), TEST(test_lines_of_many_users),
          TEST(test_requests_that_do_not_end), TEST(test_fire_while_the_disk_refuses),
          TEST(test_job_waits_for_its_target), TEST(test_odd_requests), TEST(test_lost_job),
          TEST(test_restart), TEST(test_unreadable_run), TEST(test_damaged_store),
          TEST(test_unreadable_key_file), TEST(test_known_after_a_restart), TEST(test_grain_id),
          TEST(test_killed_while_it_sends), TEST(test_killed_while_it_sends_long_ago),
          TEST(test_killed_in_a_long_job), TEST(test_killed_with_many_jobs),
          TEST(test_followed_from_the_store), TEST(test_connection_lost_with_the_job),
          TEST(test_returned_to_another_master), TEST(test_restart_with_the_numbers_of_before),
          TEST(test_events_of_before_unread), TEST(test_events_of_salt_call_unread),
          TEST(test_kept_event_is_answered_after_its_commit),
          TEST(test_job_with_note_is_sent_after_its_commit), TEST(test_job_with_note_reaches_its_minion),
          TEST(test_job_with_note_is_followed), TEST(test_runner_with_note_runs_once),
          TEST(test_runner_returns_what_a_frame_holds), TEST(test_progress_goes_to_followers))
