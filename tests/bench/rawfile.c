/* rawfile.c - the floor for a file transfer: only libzmq and CURVE. A child reads SOURCE and pushes it in
 * messages of CHUNK bytes; this process pulls them and writes DEST.
 *
 *   rawfile SOURCE DEST CHUNK       prints the seconds it took
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#define WINDOW   16 /* high-water mark at either end, messages */
#define ENDPOINT 64
#define KEY      41

typedef struct keys {
    char public[KEY], secret[KEY];
} keys_t;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* libzmq's callback: frees a message's bytes when they are sent. */
static void
release(void *bytes, void *hint)
{
    free(bytes);
}

/* The child: writes its endpoint to the pipe `say`, then sends the file. Its exit code. */
static int
send_file(const char *path, size_t chunk, const keys_t *server, int say)
{
    int one = 1, window = WINDOW, fd = open(path, O_RDONLY | O_CLOEXEC);
    char where[ENDPOINT] = "";
    size_t len = sizeof(where);
    void *ctx = zmq_ctx_new(), *s = zmq_socket(ctx, ZMQ_PUSH);
    zmq_setsockopt(s, ZMQ_CURVE_SERVER, &one, sizeof(one));
    zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, server->secret, KEY);
    zmq_setsockopt(s, ZMQ_SNDHWM, &window, sizeof(window));
    if (fd < 0 || zmq_bind(s, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(s, ZMQ_LAST_ENDPOINT, where, &len) != 0 ||
        write(say, where, sizeof(where)) != (ssize_t) sizeof(where))
        return 1;
    for (;;) {
        zmq_msg_t msg;
        char *bytes = malloc(chunk);
        ssize_t n = bytes != NULL ? read(fd, bytes, chunk) : -1;
        if (n <= 0) {
            free(bytes);
            break;
        }
        zmq_msg_init_data(&msg, bytes, (size_t) n, release, NULL);
        zmq_msg_send(&msg, s, 0);
    }
    close(fd);
    zmq_close(s);
    return zmq_ctx_term(ctx);
}

/* Receives `size` bytes into `path`. 0, or not. */
static int
take_file(const char *path, off_t size, const keys_t *server, const char *where)
{
    keys_t own;
    int window = WINDOW, fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void *ctx = zmq_ctx_new(), *s = zmq_socket(ctx, ZMQ_PULL);
    zmq_curve_keypair(own.public, own.secret);
    zmq_setsockopt(s, ZMQ_CURVE_SERVERKEY, server->public, KEY);
    zmq_setsockopt(s, ZMQ_CURVE_PUBLICKEY, own.public, KEY);
    zmq_setsockopt(s, ZMQ_CURVE_SECRETKEY, own.secret, KEY);
    zmq_setsockopt(s, ZMQ_RCVHWM, &window, sizeof(window));
    int rc = fd < 0 || zmq_connect(s, where) != 0;
    while (rc == 0 && size > 0) {
        zmq_msg_t msg;
        zmq_msg_init(&msg);
        ssize_t n = zmq_msg_recv(&msg, s, 0);
        rc = n < 0 || write(fd, zmq_msg_data(&msg), (size_t) n) != n;
        size -= n;
        zmq_msg_close(&msg);
    }
    close(fd);
    zmq_close(s);
    zmq_ctx_term(ctx);
    return rc;
}

int
main(int argc, char **argv)
{
    keys_t server;
    struct stat st;
    int pipe_fd[2], status = 0;
    char where[ENDPOINT];
    if (argc != 4 || stat(argv[1], &st) != 0 || pipe(pipe_fd) != 0) {
        (void) fprintf(stderr, "usage: rawfile SOURCE DEST CHUNK\n");
        return 2;
    }
    zmq_curve_keypair(server.public, server.secret);
    double start = now();
    pid_t pid = fork();
    if (pid == 0)
        _exit(send_file(argv[1], strtoul(argv[3], NULL, 10), &server, pipe_fd[1]));
    int rc = pid < 0 || read(pipe_fd[0], where, sizeof(where)) != (ssize_t) sizeof(where) ||
             take_file(argv[2], st.st_size, &server, where) != 0;
    double took = now() - start;
    if (pid > 0)
        waitpid(pid, &status, 0);
    if (rc != 0 || status != 0)
        return 1;
    printf("%.4f\n", took);
    return 0;
}
