/* test_local.c - framing on the local socket: whole, in pieces, too large, garbage; and the client against a
 * scripted master in a thread. */
#include <poll.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "unit/unit.h"

/* ---- framing --------------------------------------------------------------------------------- */

static void
add_raw(buf_t *out, const char *text, size_t len)
{
    uint32_t head = htonl((uint32_t) len);

    buf_add(out, &head, sizeof(head));
    buf_add(out, text, len);
}

static void
test_pieces(void **state)
{
    buf_auto_t whole = BUF_INIT, in = BUF_INIT;
    json_auto_t *first = json_pack("{s:i}", "a", 1), *second = json_pack("{s:s}", "text", "x\xc3\xa4");
    int taken = 0;

    frame_add(&whole, first);
    frame_add(&whole, second);
    for (size_t i = 0; i < whole.len; i++) {
        json_auto_t *msg = NULL;
        buf_add(&in, whole.data + i, 1);
        int rc = frame_take(&in, 1000, &msg, NULL);
        assert_in_range(rc, 0, 1);
        if (rc == 1)
            assert_true(json_equal(msg, taken++ == 0 ? first : second));
    }
    assert_int_equal(taken, 2);
    assert_int_equal(in.len, 0);

    /* Both at once. */
    buf_add(&in, whole.data, whole.len);
    for (taken = 0; taken < 2; taken++) {
        json_auto_t *msg = NULL;
        assert_int_equal(frame_take(&in, 1000, &msg, NULL), 1);
    }
    json_t *none = NULL;
    assert_int_equal(frame_take(&in, 1000, &none, NULL), 0);
    assert_null(none);
}

static void
test_garbage(void **state)
{
    static const char *const texts[] = { "",     "x",    "{",     "null",
                                         "7",    "[]",   "\"x\"", "{\"a\":1,\"a\":2}",
                                         "{}{}", "{} x", "\xff" };

    for (size_t i = 0; i < NELEMS(texts); i++) {
        fail_auto_t err = FAIL_INIT;
        buf_auto_t in = BUF_INIT;
        json_t *msg = NULL;
        add_raw(&in, texts[i], strlen(texts[i]));
        int rc = frame_take(&in, 1000, &msg, &err);
        if (rc >= 0 || msg || !err.text)
            fail_msg("'%s': %d", texts[i], rc);
        /* Without anybody to tell why, too. */
        add_raw(&in, texts[i], strlen(texts[i]));
        assert_true(frame_take(&in, 1000, &msg, NULL) < 0);
    }
}

/* A frame holds what a peer may send; what goes on to peers and into the store may not be deeper than that.
 */
static void
test_deep(void **state)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t in = BUF_INIT, text = BUF_INIT;
    json_auto_t *msg = NULL, *none = NULL;

    buf_puts(&text, "{\"ret\":");
    buf_fill(&text, '[', LIMIT_JSON_DEPTH);
    buf_fill(&text, ']', LIMIT_JSON_DEPTH);
    buf_putc(&text, '}');
    add_raw(&in, text.data, text.len);
    assert_int_equal(frame_take(&in, LIMIT_LOCAL_MSG, &msg, NULL), 1);
    none = frame_parse_request(text.data, text.len, &err);
    assert_null(none);
    assert_non_null(strstr(fail_text(&err), "512 levels"));
}

static void
test_too_large(void **state)
{
    fail_auto_t err = FAIL_INIT;
    buf_auto_t in = BUF_INIT;
    json_t *msg = NULL;
    uint32_t head = htonl(1001);

    /* The head alone is enough to refuse. */
    buf_add(&in, &head, sizeof(head));
    assert_int_equal(frame_take(&in, 1000, &msg, &err), -EMSGSIZE);
    buf_clear(&in);
    head = UINT32_MAX;
    buf_add(&in, &head, sizeof(head));
    assert_int_equal(frame_take(&in, LIMIT_LOCAL_MSG, &msg, NULL), -EMSGSIZE);
    buf_clear(&in);
    head = htonl(1000);
    buf_add(&in, &head, sizeof(head));
    assert_int_equal(frame_take(&in, 1000, &msg, NULL), 0);
}

/* ---- the client ------------------------------------------------------------------------------ */

typedef struct fixture {
    char *dir;
    int listen_fd;
    pthread_t thread;
    void (*script)(int fd);
} fixture_t;

static void *
serve(void *arg)
{
    fixture_t *f = arg;
    int fd = accept(f->listen_fd, NULL, NULL);

    f->script(fd);
    (void) close(fd);
    return NULL;
}

static int
set_up(void **state)
{
    fixture_t *f = xcalloc(1, sizeof(*f));
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    f->dir = xstrdup("/tmp/halite-local-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    AUTO_FREE char *path = fs_join(f->dir, LOCAL_SOCKET_NAME);
    assert_true(str_copy(addr.sun_path, sizeof(addr.sun_path), path));
    f->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(f->listen_fd, (struct sockaddr *) &addr, sizeof(addr)), 0);
    assert_int_equal(listen(f->listen_fd, 5), 0);
    *state = f;
    return 0;
}

static int
tear_down(void **state)
{
    fixture_t *f = *state;

    (void) close(f->listen_fd);
    assert_int_equal(fs_remove_tree(f->dir, NULL), 0);
    free(f->dir);
    free(f);
    return 0;
}

static local_client_t *
connected(fixture_t *f, void (*script)(int fd))
{
    fail_auto_t err = FAIL_INIT;

    f->script = script;
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
    local_client_t *client = local_connect(f->dir, &err);
    assert_non_null(client);
    assert_true(local_fd(client) >= 0);
    return client;
}

static void
finished(fixture_t *f, local_client_t **client_p)
{
    local_client_destroy(client_p);
    assert_null(*client_p);
    assert_int_equal(pthread_join(f->thread, NULL), 0);
}

/* The script's side. NEW request. */
static json_t *
next_request(int fd, buf_t *in)
{
    json_t *msg = NULL;
    char chunk[4096];

    while (frame_take(in, LIMIT_LOCAL_MSG, &msg, NULL) == 0) {
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);
        if (n <= 0)
            return NULL;
        buf_add(in, chunk, (size_t) n);
    }
    return msg;
}

static void
say(int fd, const char *text)
{
    buf_auto_t out = BUF_INIT;

    add_raw(&out, text, strlen(text));
    assert_int_equal(fs_write_all(fd, out.data, out.len), 0);
}

static void
script_answers(int fd)
{
    buf_auto_t in = BUF_INIT;
    json_t *request;

    while ((request = next_request(fd, &in))) {
        long long n = value_int(request, "n", 0);
        bool refuse = str_eq(value_str(request, "op", ""), "refuse");
        AUTO_FREE char *push = xasprintf("{\"push\":\"event\",\"i\":%lld}", n);
        AUTO_FREE char *reply = refuse ? xasprintf("{\"n\":%lld,\"ok\":false,\"error\":\"no\"}", n)
                                       : xasprintf("{\"n\":%lld,\"ok\":true,\"x\":7}", n);
        say(fd, push);
        say(fd, "{\"n\":999,\"ok\":true,\"push\":\"of another\"}");
        say(fd, reply);
        json_decref(request);
    }
}

static void
test_calls(void **state)
{
    fixture_t *f = *state;
    local_client_t *client = connected(f, script_answers);

    for (int i = 1; i <= 3; i++) {
        json_t *request = json_pack("{s:s}", "op", "status");
        json_auto_t *reply = NULL;
        assert_int_equal(local_call(client, &request, &reply, NULL), 0);
        assert_null(request);
        assert_int_equal(value_int(reply, "x", 0), 7);
    }
    /* A refusal is told in the master's own words. */
    fail_auto_t err = FAIL_INIT;
    json_t *request = json_pack("{s:s}", "op", "refuse");
    json_t *reply = NULL;
    assert_int_equal(local_call(client, &request, &reply, &err), -EREMOTEIO);
    assert_string_equal(fail_text(&err), "no");
    assert_null(reply);
    /* What came meanwhile is kept, in order. */
    for (int i = 1; i <= 4; i++) {
        json_auto_t *push = NULL, *other = NULL;
        assert_int_equal(local_next(client, 0, &push, NULL), 1);
        assert_int_equal(value_int(push, "i", 0), i);
        assert_int_equal(local_next(client, 0, &other, NULL), 1);
    }
    int64_t before = clock_mono_ms();
    json_t *none = NULL;
    assert_int_equal(local_next(client, 30, &none, NULL), 0);
    assert_true(clock_mono_ms() - before >= 29);
    finished(f, &client);
}

static void
script_hangs_up(int fd)
{
    buf_auto_t in = BUF_INIT;

    json_decref(next_request(fd, &in));
    assert_int_equal(fs_write_all(fd, "\0\0\0\5{", 5), 0);
}

static void
test_hang_up(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    local_client_t *client = connected(f, script_hangs_up);
    json_t *request = json_pack("{s:s}", "op", "status"), *reply = NULL;

    assert_int_equal(local_call(client, &request, &reply, &err), -EPIPE);
    assert_non_null(strstr(fail_text(&err), "closed"));
    /* And once more, with the line dead: an error, no signal. */
    fail_auto_t again = FAIL_INIT;
    request = json_pack("{s:s}", "op", "status");
    assert_true(local_call(client, &request, &reply, &again) < 0);
    finished(f, &client);
}

static void
script_talks_nonsense(int fd)
{
    buf_auto_t in = BUF_INIT;

    json_decref(next_request(fd, &in));
    say(fd, "nonsense");
}

static void
test_nonsense(void **state)
{
    fixture_t *f = *state;
    local_client_t *client = connected(f, script_talks_nonsense);
    json_t *request = json_pack("{s:s}", "op", "status"), *reply = NULL;

    assert_true(local_call(client, &request, &reply, NULL) < 0);
    assert_null(reply);
    finished(f, &client);
}

static void
script_large(int fd)
{
    buf_auto_t in = BUF_INIT, out = BUF_INIT;
    json_auto_t *request = next_request(fd, &in);
    AUTO_FREE char *text = xcalloc(1, 3000001);

    memset(text, 'x', 3000000);
    json_auto_t *reply = json_pack("{s:I, s:b, s:s, s:I}", "n", value_int(request, "n", 0), "ok", 1, "text",
                                   text, "got", (json_int_t) json_string_length(value_get(request, "text")));
    frame_add(&out, reply);
    assert_int_equal(fs_write_all(fd, out.data, out.len), 0);
}

static void
test_large_both_ways(void **state)
{
    fixture_t *f = *state;
    local_client_t *client = connected(f, script_large);
    AUTO_FREE char *text = xcalloc(1, 5000001);

    memset(text, 'y', 5000000);
    json_t *request = json_pack("{s:s, s:s}", "op", "x", "text", text);
    json_auto_t *reply = NULL;
    assert_int_equal(local_call(client, &request, &reply, NULL), 0);
    assert_int_equal(value_int(reply, "got", 0), 5000000);
    assert_int_equal(json_string_length(value_get(reply, "text")), 3000000);
    finished(f, &client);
}

static void
script_waits(int fd)
{
    char byte;

    while (recv(fd, &byte, 1, 0) > 0)
        continue;
}

static size_t notes;

static void
note_one(void)
{
    notes++;
}

/* It has the request and says nothing. */
static void
test_no_answer(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    local_client_t *client = connected(f, script_waits);
    json_t *request = json_pack("{s:s}", "op", "status"), *reply = NULL;

    notes = 0;
    local_timeout(client, LOCAL_QUIET_MS, note_one); /* both are due at once */
    assert_int_equal(local_call(client, &request, &reply, &err), -ETIMEDOUT);
    assert_null(reply);
    assert_int_equal(notes, 1);
    assert_non_null(strstr(fail_text(&err), "The master is not responding"));
    finished(f, &client);
}

static void
script_reads_nothing(int fd)
{
    struct pollfd pfd = { .fd = fd };

    (void) poll(&pfd, 1, -1); /* until the other side is gone */
}

/* A request that the socket does not take is not waited for without end either. */
static void
test_no_room(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    local_client_t *client = connected(f, script_reads_nothing);
    AUTO_FREE char *text = xcalloc(1, 5000001);

    memset(text, 'y', 5000000);
    json_t *request = json_pack("{s:s, s:s}", "op", "x", "text", text), *reply = NULL;
    notes = 0;
    local_timeout(client, 30, note_one);
    assert_int_equal(local_call(client, &request, &reply, &err), -ETIMEDOUT);
    assert_int_equal(notes, 0);
    finished(f, &client);
}

static void
test_request_over_the_limit(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    local_client_t *client = connected(f, script_waits);
    AUTO_FREE char *text = xcalloc(1, LIMIT_LOCAL_MSG + 1);

    memset(text, 'y', LIMIT_LOCAL_MSG);
    json_t *request = json_pack("{s:s}", "text", text), *reply = NULL;
    assert_int_equal(local_call(client, &request, &reply, &err), -EMSGSIZE);
    finished(f, &client);
}

static void
on_alarm(int sig)
{
}

static void
test_interrupted(void **state)
{
    fixture_t *f = *state;
    fail_auto_t err = FAIL_INIT;
    local_client_t *client = connected(f, script_waits);
    json_t *none = NULL;
    struct sigaction sa = { .sa_handler = on_alarm };
    sigset_t alarm_set;

    /* Only this thread may get it. */
    (void) sigemptyset(&alarm_set);
    (void) sigaddset(&alarm_set, SIGALRM);
    (void) sigaction(SIGALRM, &sa, NULL);
    struct itimerspec when = { .it_value = { 0, 20000000 }, .it_interval = { 0, 20000000 } };
    timer_t timer;
    struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
    ev._sigev_un._tid = gettid();
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &ev, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &when, NULL), 0);
    assert_int_equal(local_next(client, -1, &none, &err), -EINTR);
    (void) timer_delete(timer);
    finished(f, &client);
}

static void
test_no_master(void **state)
{
    fixture_t *f = *state;
    fail_auto_t none = FAIL_INIT, stale = FAIL_INIT, lengthy = FAIL_INIT;
    char deep[300];

    assert_null(local_connect("/tmp/halite-no-such-folder", &none));
    assert_int_equal(none.code, -ENOENT);
    assert_non_null(strstr(fail_text(&none), "/tmp/halite-no-such-folder"));
    (void) close(f->listen_fd);
    assert_null(local_connect(f->dir, &stale));
    assert_int_equal(stale.code, -ECONNREFUSED);
    f->listen_fd = open("/dev/null", O_RDONLY);
    memset(deep, 'x', sizeof(deep));
    deep[sizeof(deep) - 1] = '\0';
    assert_null(local_connect(deep, &lengthy));
    assert_int_equal(lengthy.code, -ENAMETOOLONG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

UNIT_MAIN(cmocka_unit_test(test_pieces), cmocka_unit_test(test_garbage), cmocka_unit_test(test_deep),
          cmocka_unit_test(test_too_large), TEST(test_calls), TEST(test_hang_up), TEST(test_nonsense),
          TEST(test_large_both_ways), TEST(test_no_answer), TEST(test_no_room),
          TEST(test_request_over_the_limit), TEST(test_interrupted), TEST(test_no_master))
