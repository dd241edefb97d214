/* rawloop.c - the floor: nothing but libzmq. N CURVE peers in PROCS processes on one ROUTER; a 200-byte
 * command to each, a 200-byte answer from each, ROUNDS times.
 *
 *   rawloop N PROCS ROUNDS PORT     prints {"connect_ms": X, "round_ms": MEDIAN, "ten_ms": MEDIAN}
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

static void *
peer(void *ctx, const char *where, const char *server_key, int epoll_fd)
{
    char public[41], secret[41];
    int fd;
    size_t len = sizeof(fd);
    void *sock = zmq_socket(ctx, ZMQ_DEALER);
    zmq_curve_keypair(public, secret);
    zmq_setsockopt(sock, ZMQ_CURVE_SERVERKEY, server_key, 41);
    zmq_setsockopt(sock, ZMQ_CURVE_PUBLICKEY, public, 41);
    zmq_setsockopt(sock, ZMQ_CURVE_SECRETKEY, secret, 41);
    zmq_connect(sock, where);
    zmq_send(sock, "hello", 5, 0);
    zmq_getsockopt(sock, ZMQ_FD, &fd, &len);
    struct epoll_event ev = { .events = EPOLLIN, .data.ptr = sock };
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &ev);
    return sock;
}

/* Answers until it is killed. */
static void
peers(int n, int port, const char *server_key)
{
    struct epoll_event events[256];
    char body[SIZE], where[64];
    int epoll_fd = epoll_create1(0);
    void *ctx = context();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    raise_files();
    snprintf(where, sizeof(where), "tcp://127.0.0.1:%d", port);
    for (int i = 0; i < n; i++)
        /* A descriptor tells of a message only after a reader has found none. */
        (void) zmq_recv(peer(ctx, where, server_key, epoll_fd), body, SIZE, ZMQ_DONTWAIT);
    for (;;) {
        int ready = epoll_wait(epoll_fd, events, 256, -1);
        for (int i = 0; i < ready; i++)
            while (zmq_recv(events[i].data.ptr, body, SIZE, ZMQ_DONTWAIT) >= 0)
                zmq_send(events[i].data.ptr, body, SIZE, 0);
    }
}

/* Wait for `n` answers; keep the routing ids when asked. */
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

static double
rounds(void *router, const unsigned char *rids, int n, int count)
{
    static const char body[SIZE] = "";
    double took[ROUNDS];
    for (int r = 0; r < count; r++) {
        double start = now_ms();
        for (int i = 0; i < n; i++) {
            zmq_send(router, rids + (size_t) i * RID, RID, ZMQ_SNDMORE);
            zmq_send(router, body, SIZE, 0);
        }
        gather(router, n, NULL);
        took[r] = now_ms() - start;
    }
    qsort(took, (size_t) count, sizeof(double), compare);
    return took[count / 2];
}

static void *
listening(const char *secret, int port)
{
    char where[64];
    void *router = zmq_socket(context(), ZMQ_ROUTER);
    set_int(router, ZMQ_CURVE_SERVER, 1);
    zmq_setsockopt(router, ZMQ_CURVE_SECRETKEY, secret, 41);
    set_int(router, ZMQ_BACKLOG, 4096);
    set_int(router, ZMQ_SNDHWM, 20000);
    set_int(router, ZMQ_RCVHWM, 20000);
    snprintf(where, sizeof(where), "tcp://127.0.0.1:%d", port);
    if (zmq_bind(router, where) == 0)
        return router;
    fprintf(stderr, "rawloop: %s: %s\n", where, zmq_strerror(zmq_errno()));
    return NULL;
}

static void
measure(void *router, int n, int count)
{
    double start = now_ms();
    unsigned char *rids = malloc((size_t) n * RID);
    gather(router, n, rids);
    double connected = now_ms() - start;
    /* Each has sent one message, so the last ten are connected as well as the first. */
    double all = rounds(router, rids, n, count), ten = rounds(router, rids, TEN, count);
    printf("{\"connect_ms\": %.1f, \"round_ms\": %.2f, \"ten_ms\": %.3f}\n", connected, all, ten);
    fflush(stdout);
    free(rids);
}

int
main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: rawloop N PROCS ROUNDS PORT\n");
        return 2;
    }
    int n = (int) strtol(argv[1], NULL, 10), procs = (int) strtol(argv[2], NULL, 10);
    int count = (int) strtol(argv[3], NULL, 10), port = (int) strtol(argv[4], NULL, 10);
    pid_t pids[PROCS_MAX];
    char public[41], secret[41];
    if (n < TEN || procs < 1 || procs > PROCS_MAX || count < 1 || count > ROUNDS)
        return 2;
    zmq_curve_keypair(public, secret);
    for (int p = 0; p < procs; p++)
        if ((pids[p] = fork()) == 0)
            peers(n / procs + (p < n % procs), port, public);
    raise_files();
    void *router = listening(secret, port);
    if (router)
        measure(router, n, count);
    for (int p = 0; p < procs; p++) {
        kill(pids[p], SIGKILL);
        waitpid(pids[p], NULL, 0);
    }
    return router == NULL;
}
