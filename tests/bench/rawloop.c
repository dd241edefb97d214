/* rawloop.c - the floor for a master's broadcast: only libzmq, in the shape of a fleet. N peers in PROCS
 * processes, each with a SUB to one PUB and a DEALER to one ROUTER, CURVE on both: a 200-byte command to all,
 * a 200-byte answer from each, ROUNDS times.
 *
 *   rawloop N PROCS ROUNDS PORT PUBPORT     prints
 *     {"connect_ms": to the ROUTER, "round_ms": MEDIAN, "router_ms": MEDIAN, "ten_ms": MEDIAN}
 *     round_ms: the command published; router_ms: sent to each by the ROUTER; ten_ms: likewise to ten peers
 *   then, for each line of stdin, the milliseconds of one more published round
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define SIZE      200
#define RID       5
#define TEN       10
#define ROUNDS    100
#define PROCS_MAX 32

static double
now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec * 1e3 + (double) t.tv_nsec / 1e6;
}

static void
raise_files(void)
{
    struct rlimit rl;
    getrlimit(RLIMIT_NOFILE, &rl);
    rl.rlim_cur = rl.rlim_max;
    setrlimit(RLIMIT_NOFILE, &rl);
}

static void *
context(void)
{
    void *ctx = zmq_ctx_new();
    zmq_ctx_set(ctx, ZMQ_MAX_SOCKETS, zmq_ctx_get(ctx, ZMQ_SOCKET_LIMIT));
    return ctx;
}

static void
set_int(void *s, int name, int value)
{
    zmq_setsockopt(s, name, &value, sizeof(value));
}

typedef struct peer {
    void *dealer, *sub;
} peer_t;

static void *
connected(void *ctx, int type, int port, const char *server_key)
{
    char public[41], secret[41], where[64];
    void *sock = zmq_socket(ctx, type);
    snprintf(where, sizeof(where), "tcp://127.0.0.1:%d", port);
    zmq_curve_keypair(public, secret);
    zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, server_key, 41);
    zmq_setsockopt(sock, ZMQ_CURVE_PUBLICKEY, public, 41);
    zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, secret, 41);
    if (type == ZMQ_SUB)
        zmq_setsockopt(sock, ZMQ_SUBSCRIBE, "", 0);
    zmq_connect(sock, where);
    return sock;
}

/* Answers every command that has come; how many there were. A libzmq descriptor is edge-triggered: it signals
 * again only after a read has found nothing. */
static int
answer(const peer_t *p, void *sock)
{
    char body[SIZE];
    int n = 0;
    while (zmq_recv(sock, body, SIZE, ZMQ_DONTWAIT) >= 0) {
        zmq_send(p->dealer, body, SIZE, 0);
        n++;
    }
    return n;
}

/* Adds a socket to epoll, and reads it once to arm its descriptor. */
static void *
watched(int epoll_fd, peer_t *p, void *sock)
{
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = p };
    int fd;
    size_t len = sizeof(fd);
    zmq_getsockopt(sock, ZMQ_FD, &fd, &len);
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    (void) answer(p, sock);
    return sock;
}

/* A child's main function: answers until it is killed. A peer subscribes when it has got the first command
 * through its DEALER, so that connecting is measured without subscriptions. */
static void
peers(int n, int port, int pub_port, const char *server_key)
{
    struct epoll_event events[256];
    peer_t *all = calloc((size_t) n, sizeof(*all));
    int epoll_fd = epoll_create1(0);
    void *ctx = context();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise_files();
    for (peer_t *p = all; p < all + n; p++) {
        p->dealer = connected(ctx, ZMQ_DEALER, port, server_key);
        zmq_send(p->dealer, "hello", 5, 0);
        (void) watched(epoll_fd, p, p->dealer);
    }
    for (;;) {
        int ready = epoll_wait(epoll_fd, events, 256, -1);
        for (int i = 0; i < ready; i++) {
            peer_t *p = events[i].data.ptr;
            if (p->sub)
                (void) answer(p, p->sub);
            if (answer(p, p->dealer) > 0 && !p->sub)
                p->sub = watched(epoll_fd, p, connected(ctx, ZMQ_SUB, pub_port, server_key));
        }
    }
}

/* Waits for n answers; keeps their routing ids in `rids` unless NULL. */
static void
gather(void *router, int n, unsigned char *rids)
{
    char body[SIZE];
    unsigned char rid[RID];
    for (int i = 0; i < n; i++) {
        zmq_recv(router, rid, RID, 0);
        zmq_recv(router, body, SIZE, 0);
        if (rids)
            memcpy(rids + (size_t) i * RID, rid, RID);
    }
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static void
tell_each(void *router, const unsigned char *rids, int n)
{
    static const char body[SIZE] = "";
    for (int i = 0; i < n; i++) {
        zmq_send(router, rids + (size_t) i * RID, RID, ZMQ_SNDMORE);
        zmq_send(router, body, SIZE, 0);
    }
}

/* The median milliseconds from a command to the last answer: published when `pub` is given, else sent to
 * each. */
static double
rounds(void *router, void *pub, const unsigned char *rids, int n, int count)
{
    static const char body[SIZE] = "";
    double took[ROUNDS];
    for (int r = 0; r < count; r++) {
        double start = now_ms();
        if (pub)
            zmq_send(pub, body, SIZE, 0);
        else
            tell_each(router, rids, n);
        gather(router, n, NULL);
        took[r] = now_ms() - start;
    }
    qsort(took, (size_t) count, sizeof(double), compare);
    return took[count / 2];
}

static void *
listening(void *ctx, int type, const char *secret, int port)
{
    char where[64];
    void *sock = zmq_socket(ctx, type);
    set_int(sock, ZMQ_CURVE_SERVER, 1);
    zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, secret, 41);
    set_int(sock, ZMQ_BACKLOG, 4096);
    set_int(sock, ZMQ_SNDHWM, 20000);
    set_int(sock, ZMQ_RCVHWM, 20000);
    if (type == ZMQ_XPUB)
        set_int(sock, ZMQ_XPUB_VERBOSE, 1);
    snprintf(where, sizeof(where), "tcp://127.0.0.1:%d", port);
    if (zmq_bind(sock, where) == 0)
        return sock;
    fprintf(stderr, "rawloop: %s: %s\n", where, zmq_strerror(zmq_errno()));
    return NULL;
}

/* Measures and prints. The first round by the ROUTER makes the peers subscribe. */
static void
measure(void *router, void *pub, int n, int count)
{
    char word[SIZE];
    double start = now_ms();
    unsigned char *rids = malloc((size_t) n * RID);
    gather(router, n, rids);
    double joined = now_ms() - start;
    (void) rounds(router, NULL, rids, n, 1);
    for (int i = 0; i < n; i++)
        zmq_recv(pub, word, SIZE, 0); /* a subscription each */
    double all = rounds(router, pub, rids, n, count), each = rounds(router, NULL, rids, n, count);
    double ten = rounds(router, NULL, rids, TEN, count);
    printf("{\"connect_ms\": %.1f, \"round_ms\": %.2f, \"router_ms\": %.2f, \"ten_ms\": %.3f}\n", joined, all,
           each, ten);
    fflush(stdout);
    while (fgets(word, sizeof(word), stdin)) {
        printf("%.2f\n", rounds(router, pub, rids, n, 1));
        fflush(stdout);
    }
    free(rids);
}

int
main(int argc, char **argv)
{
    if (argc != 6) {
        fprintf(stderr, "usage: rawloop N PROCS ROUNDS PORT PUBPORT\n");
        return 2;
    }
    int n = (int) strtol(argv[1], NULL, 10), procs = (int) strtol(argv[2], NULL, 10);
    int count = (int) strtol(argv[3], NULL, 10), port = (int) strtol(argv[4], NULL, 10);
    int pub_port = (int) strtol(argv[5], NULL, 10);
    pid_t pids[PROCS_MAX];
    char public[41], secret[41];
    if (n < TEN || procs < 1 || procs > PROCS_MAX || count < 1 || count > ROUNDS)
        return 2;
    zmq_curve_keypair(public, secret);
    for (int p = 0; p < procs; p++)
        if ((pids[p] = fork()) == 0)
            peers(n / procs + (p < n % procs), port, pub_port, public);
    raise_files();
    void *ctx = context(), *router = listening(ctx, ZMQ_ROUTER, secret, port);
    void *pub = router ? listening(ctx, ZMQ_XPUB, secret, pub_port) : NULL;
    if (pub)
        measure(router, pub, n, count);
    for (int p = 0; p < procs; p++) {
        kill(pids[p], SIGKILL);
        waitpid(pids[p], NULL, 0);
    }
    return pub == NULL;
}
