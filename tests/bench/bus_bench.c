/* bus_bench.c - throughput of the event bus: one client fires, many listen, some of which are stopped.
 *
 *   bus_bench SOCK_DIR EVENTS EACH LISTENERS STOPPED
 *
 * Fires EVENTS events, EACH per request, with UNDER_WAY requests unanswered, and at most BEHIND_MAX events
 * ahead of the slowest reading listener, as the master itself waits for nobody. A listener is a process that
 * reads every event's number and tag; the last STOPPED of them are stopped before the first event. Prints
 * JSON: {seconds: until every reading listener has all, per_second, heard: [per reading listener], missed:
 * [...]}.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "master/events/eframe.h"
#include "salt/value.h"

enum {
    LISTENERS_MAX = 64,
    UNDER_WAY = 4,
    READ_CHUNK = 256 * 1024,
    BEHIND_MAX = 100000,
    PATIENCE_US = 60000000
};

#define TAG "bench/bus"

/* A listener's progress, in memory shared with it. */
typedef struct seat {
    _Atomic bool ready, done;
    _Atomic uint64_t heard, missed;
} seat_t;

static void __attribute__((noreturn)) die(const char *what)
{
    perror(what);
    exit(1);
}

static int
connect_to(const char *sock_dir)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void) snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/" LOCAL_SOCKET_NAME, sock_dir);
    if (fd < 0 || connect(fd, (struct sockaddr *) &addr, sizeof(addr)) != 0)
        die(addr.sun_path);
    return fd;
}

static void
send_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
        if (n <= 0)
            die("send");
        bytes += n;
        len -= (size_t) n;
    }
}

/* Blocks until more bytes have come. */
static void
read_more(int fd, buf_t *in)
{
    buf_reserve(in, READ_CHUNK);
    ssize_t n = recv(fd, in->data + in->len, READ_CHUNK, 0);

    if (n <= 0)
        die("recv");
    in->len += (size_t) n;
}

/* ---- the listeners ------------------------------------------------------------------------------------- */

/* Counts one frame: an event of ours, a "missed" push, or the reply to the request (ready). */
static void
count(seat_t *seat, const char *text, size_t len)
{
    eframe_t frame;

    if (eframe_read(text - FRAME_HEAD, FRAME_HEAD + len, &frame)) {
        if (frame.tag_len == sizeof(TAG) - 1 && memcmp(frame.tag, TAG, frame.tag_len) == 0)
            seat->heard++;
        return;
    }
    fail_auto_t err = FAIL_INIT;
    json_auto_t *msg = frame_parse(text, len, &err);
    seat->missed += (uint64_t) value_int(msg, "count", 0);
    if (value_bool(msg, "ok", false))
        seat->ready = true;
}

/* A listener's main function. It peeks into frames, so that the bus and not this program is the limit. */
static void __attribute__((noreturn)) listen_to(const char *sock_dir, seat_t *seat, uint64_t want)
{
    static const char request[] = "{\"op\":\"events\",\"tag\":\"bench/*\",\"n\":1}";
    uint32_t head = htonl(sizeof(request) - 1);
    buf_auto_t in = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    int fd = connect_to(sock_dir);

    send_all(fd, (const char *) &head, sizeof(head));
    send_all(fd, request, sizeof(request) - 1);
    while (seat->heard + seat->missed < want) {
        const char *text;
        size_t at = 0, len;
        read_more(fd, &in);
        for (; frame_peek(&in, at, LIMIT_LOCAL_MSG, &text, &len, &err) > 0; at += FRAME_HEAD + len)
            count(seat, text, len);
        buf_consume(&in, at);
    }
    seat->done = true;
    exit(0);
}

/* ---- the firing client ---------------------------------------------------------------------------------- */

/* Appends a "fire" request of `each` events, as a frame. */
static void
add_request(buf_t *out, uint64_t first, uint64_t each)
{
    size_t at = out->len;

    buf_fill(out, '\0', FRAME_HEAD);
    buf_puts(out, "{\"op\":\"fire\",\"events\":[");
    for (uint64_t i = first; i < first + each; i++)
        buf_printf(out,
                   "%s{\"tag\":\"" TAG
                   "\",\"data\":{\"n\":%llu,\"id\":\"m001\",\"state\":\"a value of usual length\"}}",
                   i > first ? "," : "", (unsigned long long) i);
    buf_printf(out, "],\"n\":%llu}", (unsigned long long) first + 1);
    uint32_t head = htonl((uint32_t) (out->len - at - FRAME_HEAD));
    memcpy(out->data + at, &head, FRAME_HEAD);
}

/* Waits for a reply; a refusal ends the program. */
static void
await_reply(int fd, buf_t *in)
{
    fail_auto_t err = FAIL_INIT;
    json_t *reply = NULL;

    while (frame_take(in, LIMIT_LOCAL_MSG, &reply, &err) == 0)
        read_more(fd, in);
    if (!value_bool(reply, "ok", false)) {
        fprintf(stderr, "refused: %s\n", value_str(reply, "error", fail_text(&err)));
        exit(1);
    }
    json_decref(reply);
}

/* Waits until each reading listener is at most BEHIND_MAX events behind. One that makes no progress for
 * PATIENCE_US has died and ends the program. */
static void
await_readers(const seat_t *seats, size_t n, uint64_t fired)
{
    int64_t until = clock_mono_us() + PATIENCE_US;

    for (size_t i = 0; i < n; i++)
        while (seats[i].heard + seats[i].missed + BEHIND_MAX < fired) {
            if (clock_mono_us() > until) {
                fputs("a listener does not read\n", stderr);
                exit(1);
            }
            (void) usleep(100);
        }
}

/* Sends all requests, which were encoded beforehand: the bus is measured, not the encoding. */
static void
fire(int fd, const buf_t *requests, const size_t *ends, size_t n, uint64_t each, const seat_t *seats,
     size_t n_live)
{
    buf_auto_t in = BUF_INIT;

    for (size_t i = 0; i < n; i++) {
        size_t from = i > 0 ? ends[i - 1] : 0;
        await_readers(seats, n_live, i * each);
        if (i >= UNDER_WAY)
            await_reply(fd, &in);
        send_all(fd, requests->data + from, ends[i] - from);
    }
    for (size_t i = 0; i < (n < UNDER_WAY ? n : UNDER_WAY); i++)
        await_reply(fd, &in);
}

/* True when all listeners are ready (or done). */
static bool
all(const seat_t *seats, size_t n, bool ready)
{
    for (size_t i = 0; i < n; i++)
        if (!(ready ? seats[i].ready : seats[i].done))
            return false;
    return true;
}

static void
print(const seat_t *seats, size_t n, double seconds, uint64_t events)
{
    json_auto_t *heard = json_array(), *missed = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(heard, json_integer((json_int_t) seats[i].heard));
        json_array_append_new(missed, json_integer((json_int_t) seats[i].missed));
    }
    json_auto_t *out = json_pack("{s:f, s:f, s:O, s:O}", "seconds", seconds, "per_second",
                                 (double) events / seconds, "heard", heard, "missed", missed);
    AUTO_FREE char *text = value_dump(out);
    puts(text);
}

int
main(int argc, char **argv)
{
    long long v[4];
    pid_t pids[LISTENERS_MAX];

    for (int i = 0; i < 4; i++)
        if (argc != 6 || !str_to_int(argv[i + 2], 0, 100000000, &v[i]) || (i == 2 && v[i] > LISTENERS_MAX)) {
            fputs("Usage: bus_bench SOCK_DIR EVENTS EACH LISTENERS STOPPED\n", stderr);
            return 64;
        }
    uint64_t each = (uint64_t) v[1], n = (uint64_t) v[0] / each, events = n * each;
    size_t n_seats = (size_t) v[2], n_live = n_seats - (size_t) v[3];
    seat_t *seats = mmap(NULL, LISTENERS_MAX * sizeof(*seats), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    buf_auto_t requests = BUF_INIT;
    AUTO_FREE size_t *ends = xcalloc(n + 1, sizeof(*ends));
    for (uint64_t i = 0; i < n; i++) {
        add_request(&requests, i * each, each);
        ends[i] = requests.len;
    }
    for (size_t i = 0; i < n_seats; i++)
        if ((pids[i] = fork()) == 0)
            listen_to(argv[1], &seats[i], events);
    while (!all(seats, n_seats, true))
        (void) usleep(1000);
    for (size_t i = n_live; i < n_seats; i++)
        (void) kill(pids[i], SIGSTOP);
    int fd = connect_to(argv[1]);
    int64_t start = clock_mono_us();
    fire(fd, &requests, ends, n, each, seats, n_live);
    double fired = (double) (clock_mono_us() - start) / 1e6;
    while (!all(seats, n_live, false) && clock_mono_us() - start < PATIENCE_US)
        (void) usleep(1000);
    double seconds = (double) (clock_mono_us() - start) / 1e6;
    for (size_t i = 0; i < n_seats; i++) {
        (void) kill(pids[i], i < n_live ? SIGTERM : SIGKILL);
        (void) waitpid(pids[i], NULL, 0);
    }
    fprintf(stderr, "fired in %.3f s\n", fired);
    print(seats, n_live, seconds, events);
    return 0;
}
