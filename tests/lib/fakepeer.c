/* fakepeer.c - hostile and broken peers for the whole-program tests: they send what a real minion or master
 * never would.
 *
 *   fakepeer garbage HOST PORT BYTES                      random bytes over TCP, until the peer closes
 *   fakepeer null HOST PORT [STEP...]                     a libzmq REQ without CURVE; no steps: closed
 *   fakepeer key DIR NAME                                 makes DIR/NAME.pem and .pub
 *   fakepeer dealer HOST PORT SERVER.pub DIR NAME STEP... a minion's connection with that key pair
 *   fakepeer sub HOST PORT SERVER.pub DIR NAME STEP...    a minion's subscription with it
 *   fakepeer crowd HOST PORT SERVER.pub N PREFIX FILE     N minions with new keys say hello as PREFIX1 and so
 *                                                         on; prints `here` when all have, and keeps them
 *                                                         connected until FILE exists
 *   fakepeer master PORT HELLO_PORT DIR NAME STEP...      a master with that key pair; HELLO_PORT 0: none
 *
 * A step is one or more words. Steps run in order, and each prints a line when it is done:
 *   send TEXT          one frame
 *   parts TEXT TEXT    one message of two frames
 *   file PATH          one frame: the file's content
 *   many N TEXT        N frames; each # in the text becomes the frame's number
 *   again FILE N TEXT  the same once a second until FILE exists or the connection ends
 *   topics N           a subscription's peer subscribes to N more topics
 *   big N PREFIX       one frame of N bytes: PREFIX, filled up with x
 *   expect REGEX       a frame that matches; frames before it are printed and skipped
 *   wait FILE          until FILE exists
 *   met                until a handshake has succeeded
 *   closed             until the connection ends or is refused
 *   drain              prints what has arrived so far
 *   until FILE         prints what arrives until FILE exists
 *
 * A step fails after DEADLINE seconds (environment, default 20). Received frames also go to the file RECORD
 * (environment), a line each. With DEAF set, a dealer reads only what its steps ask for; with SILENT set, a
 * subscription's peer subscribes to nothing but its topics. Exit code 0, or 1 at the first step that fails.
 */
#include <netdb.h>
#include <poll.h>
#include <regex.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/net/sock.h"
#include "salt/limits.h"
#include "salt/value.h"

#define TURN_MS 20
#define RID_MAX 64
#define ENDINGS                                                                                              \
    (ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |   \
     ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)

typedef struct peer {
    void *zctx, *sock, *hello, *monitor;
    key_pair_t *keys;
    bool router;
    uint8_t rid[RID_MAX]; /* routing id of the last minion that spoke to a fake master */
    size_t rid_len;
    int64_t until_ms;
    bool met;  /* a handshake has succeeded */
    int ended; /* the ZMQ_EVENT_* that ended the connection, 0: none yet */
    FILE *record;
} peer_t;

static int
say(const fail_t *err)
{
    fprintf(stderr, "fakepeer: %s\n", fail_text(err));
    return 1;
}

/* True when the present step is out of time. */
static bool
late(const peer_t *self)
{
    return clock_mono_ms() >= self->until_ms;
}

/* ---- plumbing -------------------------------------------------------------------------------- */

/* Answers the master's hello port with the fake master's key. */
static void
answer_hello(peer_t *self)
{
    char question[LIMIT_HELLO_MSG];

    if (!self->hello || zmq_recv(self->hello, question, sizeof(question), ZMQ_DONTWAIT) < 0)
        return;
    AUTO_FREE char *pem = key_public_pem(key_pair_public(self->keys));
    json_auto_t *answer = json_pack("{s:s, s:i}", "pub", pem, "proto", 1);
    AUTO_FREE char *text = value_dump(answer);
    (void) sock_send(self->hello, text, strlen(text));
    puts("hello answered");
}

/* Waits at most TURN_MS for traffic, serves the hello port, and notes handshakes and endings. */
static void
turn(peer_t *self)
{
    zmq_pollitem_t items[3] = { { self->sock, 0, ZMQ_POLLIN, 0 }, { self->monitor, 0, ZMQ_POLLIN, 0 } };
    int n = 2, event, value;

    if (self->hello)
        items[n++] = (zmq_pollitem_t){ self->hello, 0, ZMQ_POLLIN, 0 };
    (void) zmq_poll(items, n, TURN_MS);
    answer_hello(self);
    while (sock_monitor_next(self->monitor, &event, &value))
        if (event & ENDINGS)
            self->ended = event;
        else
            self->met = true;
    (void) fflush(stdout);
}

/* NEW text of the next frame that is not empty (an empty one is a probe); NULL: none now. A fake master
 * remembers the sender's routing id, so that its answers go there. */
static char *
next_frame(peer_t *self)
{
    zmq_msg_t frame;
    char *text = NULL;

    (void) zmq_msg_init(&frame);
    while (!text && zmq_msg_recv(&frame, self->sock, ZMQ_DONTWAIT) >= 0) {
        if (self->record) {
            (void) fwrite(zmq_msg_data(&frame), 1, zmq_msg_size(&frame), self->record);
            (void) fputc('\n', self->record);
            (void) fflush(self->record);
        }
        if (self->router && zmq_msg_more(&frame)) {
            self->rid_len = zmq_msg_size(&frame) < RID_MAX ? zmq_msg_size(&frame) : RID_MAX;
            memcpy(self->rid, zmq_msg_data(&frame), self->rid_len);
        } else if (zmq_msg_size(&frame) > 0) {
            text = xstrndup(zmq_msg_data(&frame), zmq_msg_size(&frame));
        }
    }
    (void) zmq_msg_close(&frame);
    return text;
}

/* Sends n frames as one message; a fake master sends to the last minion that spoke. 0 or 1. */
static int
send_frames(peer_t *self, const char *const *texts, int n)
{
    int rc = self->router ? zmq_send(self->sock, self->rid, self->rid_len, ZMQ_SNDMORE) : 0;

    for (int i = 0; i < n && rc >= 0; i++)
        rc = zmq_send(self->sock, texts[i], strlen(texts[i]), i + 1 < n ? ZMQ_SNDMORE : 0);
    return rc < 0 ? 1 : 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Runs a step with its words; 0, or 1 when it failed or was out of time. */
typedef int step_fn(peer_t *self, char **words);

static int
step_send(peer_t *self, char **words)
{
    return send_frames(self, (const char *const *) words, 1);
}

static int
step_parts(peer_t *self, char **words)
{
    return send_frames(self, (const char *const *) words, 2);
}

static int
step_big(peer_t *self, char **words)
{
    long long n;
    buf_auto_t text = BUF_INIT;

    if (!str_to_int(words[0], 1, 1LL << 30, &n))
        return 1;
    buf_puts(&text, words[1]);
    if ((size_t) n > text.len)
        buf_fill(&text, 'x', (size_t) n - text.len);
    const char *one = buf_str(&text);
    return send_frames(self, &one, 1);
}

static int
step_file(peer_t *self, char **words)
{
    buf_auto_t data = BUF_INIT;

    return fs_read(words[0], LIMIT_WIRE_MSG, &data, NULL) < 0 ||
           zmq_send(self->sock, data.data, data.len, 0) < 0;
}

static int
step_many(peer_t *self, char **words)
{
    long long n;
    int rc = str_to_int(words[0], 1, 1LL << 30, &n) ? 0 : 1;

    for (long long i = 1; rc == 0 && i <= n && !self->ended; i++) {
        buf_auto_t text = BUF_INIT;
        for (const char *at = words[1]; *at; at++)
            if (*at == '#')
                buf_printf(&text, "%lld", i);
            else
                buf_putc(&text, *at);
        const char *one = buf_str(&text);
        rc = send_frames(self, &one, 1);
        if (i % 1000 == 0)
            turn(self);
    }
    return rc;
}

/* "many" once a second. The wait between is in turns, so that the socket is served. */
static int
step_again(peer_t *self, char **words)
{
    int rc = 0;

    while (rc == 0 && !fs_exists(words[0]) && !self->ended && !late(self)) {
        int64_t next_ms = clock_mono_ms() + 1000;
        rc = step_many(self, words + 1);
        while (!fs_exists(words[0]) && !self->ended && clock_mono_ms() < next_ms)
            turn(self);
    }
    return rc;
}

static int
step_topics(peer_t *self, char **words)
{
    long long n;
    int rc = str_to_int(words[0], 1, 1LL << 30, &n) ? 0 : 1;

    for (long long i = 1; rc == 0 && i <= n && !self->ended; i++) {
        char topic[32];
        (void) snprintf(topic, sizeof(topic), "%lld", i);
        rc = zmq_setsockopt(self->sock, ZMQ_SUBSCRIBE, topic, strlen(topic)) != 0;
        if (i % 1000 == 0)
            turn(self);
    }
    return rc;
}

static int
step_expect(peer_t *self, char **words)
{
    regex_t re;
    bool found = false;

    if (regcomp(&re, words[0], REG_EXTENDED | REG_NOSUB) != 0)
        return 1;
    while (!found && !late(self)) {
        AUTO_FREE char *text = next_frame(self);
        if (text) {
            puts(text);
            found = regexec(&re, text, 0, NULL, 0) == 0;
        } else {
            turn(self);
        }
    }
    regfree(&re);
    return found ? 0 : 1;
}

static int
step_wait(peer_t *self, char **words)
{
    while (!fs_exists(words[0]) && !late(self))
        turn(self);
    return fs_exists(words[0]) ? 0 : 1;
}

static int
step_met(peer_t *self, char **words)
{
    while (!self->met && !late(self))
        turn(self);
    return self->met ? 0 : 1;
}

static int
step_closed(peer_t *self, char **words)
{
    while (!self->ended && !late(self))
        turn(self);
    if (self->ended)
        printf("ended: %s\n", self->ended == ZMQ_EVENT_DISCONNECTED            ? "disconnected"
                              : self->ended == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? "refused"
                                                                               : "handshake failed");
    return self->ended ? 0 : 1;
}

static int
step_drain(peer_t *self, char **words)
{
    turn(self);
    for (;;) {
        AUTO_FREE char *text = next_frame(self);
        if (!text)
            return 0;
        puts(text);
    }
}

static int
step_until(peer_t *self, char **words)
{
    bool over = false;

    while (!over && !late(self)) {
        over = fs_exists(words[0]);
        (void) step_drain(self, words);
    }
    return over ? 0 : 1;
}

static const struct {
    const char *name;
    int words;
    step_fn *fn;
} steps[] = { { "send", 1, step_send },   { "parts", 2, step_parts },   { "big", 2, step_big },
              { "file", 1, step_file },   { "many", 2, step_many },     { "topics", 1, step_topics },
              { "wait", 1, step_wait },   { "expect", 1, step_expect }, { "closed", 0, step_closed },
              { "drain", 0, step_drain }, { "until", 1, step_until },   { "met", 0, step_met },
              { "again", 3, step_again } };

/* Runs the script in argv. 0, or 1 at the first failure. */
static int
run_steps(peer_t *self, int argc, char **argv)
{
    const char *text = getenv("DEADLINE"), *record = getenv("RECORD");
    long long seconds = 20;

    (void) str_to_int(text ? text : "20", 1, 600, &seconds);
    self->record = record ? fopen(record, "a") : NULL;
    for (int at = 0; at < argc;) {
        size_t i = 0;
        while (i < NELEMS(steps) && !str_eq(steps[i].name, argv[at]))
            i++;
        if (i == NELEMS(steps) || at + steps[i].words >= argc + (steps[i].words == 0)) {
            fprintf(stderr, "fakepeer: %s: no such step, or words are missing\n", argv[at]);
            return 1;
        }
        self->until_ms = clock_mono_ms() + seconds * 1000;
        if (steps[i].fn(self, argv + at + 1) != 0) {
            fprintf(stderr, "fakepeer: %s %s: failed\n", argv[at], steps[i].words > 0 ? argv[at + 1] : "");
            return 1;
        }
        printf("done: %s\n", argv[at]);
        (void) fflush(stdout);
        at += 1 + steps[i].words;
    }
    return 0;
}

/* ---- kinds of peer --------------------------------------------------------------------------- */

/* A port number, 0 included; -1 when the text is none. */
static int
read_port(const char *text)
{
    long long port;

    return str_to_int(text, 0, 65535, &port) ? (int) port : -1;
}

static int
read_server_key(const char *path, uint8_t key[KEY_BYTES], fail_t *err)
{
    buf_auto_t pem = BUF_INIT;
    int rc = fs_read(path, LIMIT_KEY_FILE, &pem, err);

    return rc < 0 ? rc : key_public_from_pem(buf_str(&pem), pem.len, key, err);
}

static void
close_all(peer_t *self)
{
    if (self->record)
        (void) fclose(self->record);
    sock_close(&self->monitor);
    sock_close(&self->hello);
    /* Let the last messages arrive. */
    int linger = 1000;
    if (self->sock)
        (void) zmq_setsockopt(self->sock, ZMQ_LINGER, &linger, sizeof(linger));
    sock_close(&self->sock);
    (void) zmq_ctx_term(self->zctx);
    key_pair_destroy(&self->keys);
}

/* Connects as a minion (DEALER or SUB) and runs the steps. */
static int
client(sock_kind_t kind, char **argv, int argc)
{
    fail_auto_t err = FAIL_INIT;
    peer_t self = { .zctx = zmq_ctx_new() };
    uint8_t server[KEY_BYTES];
    int port = read_port(argv[1]), code = 1;

    self.keys = key_pair_open(argv[3], argv[4], NULL, &err);
    if (self.keys && port > 0 && read_server_key(argv[2], server, &err) == 0)
        self.sock = sock_new(self.zctx, kind, self.keys, server, &err);
    if (self.sock && getenv("DEAF")) {
        int few = 1, none = 0;
        (void) zmq_setsockopt(self.sock, ZMQ_RCVHWM, &few, sizeof(few));
        (void) zmq_setsockopt(self.sock, ZMQ_HEARTBEAT_IVL, &none, sizeof(none));
    }
    if (self.sock && getenv("SILENT"))
        (void) zmq_setsockopt(self.sock, ZMQ_UNSUBSCRIBE, "", 0);
    const int events = ENDINGS | ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
    self.monitor = self.sock ? sock_monitor(self.zctx, self.sock, "peer", events, &err) : NULL;
    if (self.monitor && sock_connect(self.sock, argv[0], port, &err) == 0)
        code = run_steps(&self, argc - 5, argv + 5);
    else
        (void) say(&err);
    close_all(&self);
    return code;
}

static int
run_dealer(char **argv, int argc)
{
    return client(SOCK_DEALER_CLIENT, argv, argc);
}

static int
run_sub(char **argv, int argc)
{
    return client(SOCK_SUB_CLIENT, argv, argc);
}

/* Listens as a master and runs the steps. */
static int
run_master(char **argv, int argc)
{
    fail_auto_t err = FAIL_INIT;
    peer_t self = { .zctx = zmq_ctx_new(), .router = true };
    int port = read_port(argv[0]), hello_port = read_port(argv[1]), code = 1;

    self.keys = key_pair_open(argv[2], argv[3], NULL, &err);
    if (self.keys && port > 0 && hello_port >= 0)
        self.sock = sock_new(self.zctx, SOCK_ROUTER_SERVER, self.keys, NULL, &err);
    self.monitor = self.sock ? sock_monitor(self.zctx, self.sock, "peer", ENDINGS, &err) : NULL;
    if (self.monitor && hello_port > 0)
        self.hello = sock_new(self.zctx, SOCK_HELLO_SERVER, NULL, NULL, &err);
    if (!self.monitor || sock_bind(self.sock, "127.0.0.1", port, false, &err) < 0 ||
        (self.hello && sock_bind(self.hello, "127.0.0.1", hello_port, false, &err) < 0)) {
        (void) say(&err);
    } else {
        puts("listening");
        (void) fflush(stdout);
        code = run_steps(&self, argc - 4, argv + 4);
    }
    close_all(&self);
    return code;
}

static int
run_null(char **argv, int argc)
{
    char closed[] = "closed", *script[] = { closed };
    fail_auto_t err = FAIL_INIT;
    peer_t self = { .zctx = zmq_ctx_new() };
    int port = read_port(argv[1]), code = 1;

    /* The hello client is a REQ without CURVE. */
    self.sock = port > 0 ? sock_new(self.zctx, SOCK_HELLO_CLIENT, NULL, NULL, &err) : NULL;
    self.monitor = self.sock ? sock_monitor(self.zctx, self.sock, "peer", ENDINGS, &err) : NULL;
    if (self.monitor && sock_connect(self.sock, argv[0], port, &err) == 0)
        code = argc > 2 ? run_steps(&self, argc - 2, argv + 2) : run_steps(&self, 1, script);
    else
        (void) say(&err);
    close_all(&self);
    return code;
}

static int
tcp_connect(const char *host, const char *port)
{
    struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *all = NULL;

    if (getaddrinfo(host, port, &hints, &all) != 0)
        return -1;
    int fd = socket(all->ai_family, all->ai_socktype, 0);
    if (fd >= 0 && connect(fd, all->ai_addr, all->ai_addrlen) != 0) {
        (void) close(fd);
        fd = -1;
    }
    freeaddrinfo(all);
    return fd;
}

/* Sends random bytes, and succeeds when the peer closes within 20 seconds. */
static int
run_garbage(char **argv, int argc)
{
    AUTO_FD fd = tcp_connect(argv[0], argv[1]);
    char block[4096];
    long long left;

    if (fd < 0 || !str_to_int(argv[2], 0, 1LL << 30, &left))
        return 1;
    while (left > 0) {
        size_t n = left > (long long) sizeof(block) ? sizeof(block) : (size_t) left;
        key_random(block, n);
        if (send(fd, block, n, MSG_NOSIGNAL) < 0)
            break;
        left -= (long long) n;
    }
    (void) shutdown(fd, SHUT_WR);
    struct pollfd pfd = { fd, POLLIN, 0 };
    while (poll(&pfd, 1, 20000) > 0)
        if (recv(fd, block, sizeof(block), 0) <= 0) {
            puts("closed");
            return 0;
        }
    return 1;
}

static int
run_key(char **argv, int argc)
{
    fail_auto_t err = FAIL_INIT;
    AUTO(key_pair) keys = key_pair_open(argv[0], argv[1], NULL, &err);

    return keys ? 0 : say(&err);
}

/* Keeps N connections open, each with a key and a hello of its own, from a single process. */
static int
run_crowd(char **argv, int argc)
{
    fail_auto_t err = FAIL_INIT;
    void *zctx = zmq_ctx_new();
    uint8_t server[KEY_BYTES];
    long long n = 0;
    int port = read_port(argv[1]), code = 0;

    (void) zmq_ctx_set(zctx, ZMQ_MAX_SOCKETS, 16384);
    if (port <= 0 || !str_to_int(argv[3], 1, 10000, &n) || read_server_key(argv[2], server, &err) < 0)
        return say(&err);
    void **socks = xcalloc((size_t) n, sizeof(*socks));
    for (long long i = 0; i < n && code == 0; i++) {
        AUTO_FREE char *id = xasprintf("%s%lld", argv[4], i + 1);
        AUTO_FREE char *hello = xasprintf(
            "{\"m\":\"hello\",\"id\":\"%s\",\"role\":\"minion\",\"boot\":\"b\",\"proto\":1,\"pending\":[]}",
            id);
        AUTO(key_pair) keys = key_pair_new();
        socks[i] = sock_new(zctx, SOCK_DEALER_CLIENT, keys, server, &err);
        if (!socks[i] || sock_connect(socks[i], argv[0], port, &err) < 0)
            code = say(&err);
        else if (zmq_send(socks[i], hello, strlen(hello), 0) < 0)
            code = 1;
    }
    /* The master answers in order, so the last one's answer comes last, or nearly. */
    if (code == 0 && n > 0) {
        zmq_pollitem_t last = { socks[n - 1], 0, ZMQ_POLLIN, 0 };
        (void) zmq_poll(&last, 1, 10000);
    }
    puts("here");
    (void) fflush(stdout);
    while (code == 0 && !fs_exists(argv[5]))
        (void) poll(NULL, 0, TURN_MS);
    for (long long i = 0; i < n; i++)
        sock_close(&socks[i]);
    free(socks);
    (void) zmq_ctx_term(zctx);
    return code;
}

static const struct {
    const char *name;
    int words;
    int (*fn)(char **argv, int argc);
} kinds[] = { { "garbage", 3, run_garbage }, { "null", 2, run_null }, { "key", 2, run_key },
              { "dealer", 5, run_dealer },   { "sub", 5, run_sub },   { "master", 4, run_master },
              { "crowd", 6, run_crowd } };

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < NELEMS(kinds); i++)
        if (str_eq(argv[1], kinds[i].name) && argc - 2 >= kinds[i].words)
            return kinds[i].fn(argv + 2, argc - 2);
    fputs("Usage: fakepeer garbage|null|key|dealer|sub|crowd|master ...: see the top of fakepeer.c\n",
          stderr);
    return 64;
}
