/* local.c - an operator's connection to a master's local socket, for the whole-program tests.
 *
 *   local [--follow N SECONDS] SOCK_DIR REQUEST...
 *   local --knock FILE SOCK_DIR           connects and closes, over and over, until FILE exists
 *
 * Sends each REQUEST (JSON) and prints each reply as a line of JSON; then, with --follow, prints pushes as
 * lines until there were N (0: until it is killed or the master closes). Exit code 0; 1: a request was
 * refused, its text is on stderr; 2: no master; 3: fewer than N pushes within SECONDS; 64: usage.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/local/client.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { EXIT_REFUSED = 1, EXIT_NO_MASTER = 2, EXIT_LATE = 3, EXIT_USAGE = 64 };

static void
print_line(const json_t *v)
{
    AUTO_FREE char *text = value_dump(v);

    puts(text);
    (void) fflush(stdout);
}

/* Prints an error and returns the exit code. */
static int
say(const fail_t *err, int code)
{
    fprintf(stderr, "%s\n", fail_text(err));
    return code;
}

/* Sends one request and prints the reply. Returns the exit code. */
static int
ask(local_client_t *client, const char *text)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *reply = NULL;
    json_t *request = value_parse(text, strlen(text), LIMIT_LOCAL_MSG, "request", &err);

    if (!request)
        return say(&err, EXIT_USAGE);
    int rc = local_call(client, &request, &reply, &err);
    if (rc < 0)
        return say(&err, rc == -EREMOTEIO ? EXIT_REFUSED : EXIT_NO_MASTER);
    print_line(reply);
    return 0;
}

/* Prints `want` pushes, or all until the master closes (0). Returns the exit code. */
static int
follow(local_client_t *client, long long want, long long seconds)
{
    int64_t until = clock_mono_ms() + seconds * 1000;

    for (long long n = 0; want == 0 || n < want; n++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *push = NULL;
        int64_t left = until - clock_mono_ms();
        int rc = local_next(client, want == 0 ? -1 : left > 0 ? (int) left : 0, &push, &err);
        if (rc < 0)
            return want == 0 ? 0 : say(&err, EXIT_NO_MASTER);
        if (rc == 0)
            return EXIT_LATE;
        print_line(push);
    }
    return 0;
}

/* Connects without a request, 100 times between two looks for the file `until`. EAGAIN (a full listen queue)
 * counts as a success: the test provokes it. */
static int
knock(const char *until, const char *sock_dir)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    AUTO_FREE char *path = xasprintf("%s/%s", sock_dir, LOCAL_SOCKET_NAME);

    if (!str_copy(addr.sun_path, sizeof(addr.sun_path), path))
        return EXIT_USAGE;
    while (!fs_exists(until)) {
        for (int i = 0; i < 100; i++) {
            int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
            if (fd < 0 || (connect(fd, (struct sockaddr *) &addr, sizeof(addr)) != 0 && errno != EAGAIN))
                return EXIT_NO_MASTER;
            (void) close(fd);
        }
    }
    return 0;
}

int
main(int argc, char **argv)
{
    fail_auto_t err = FAIL_INIT;
    long long want = -1, seconds = 0;
    int at = 1;

    if (argc == 4 && str_eq(argv[1], "--knock"))
        return knock(argv[2], argv[3]);
    if (argc > 4 && str_eq(argv[1], "--follow") && str_to_int(argv[2], 0, 1000000, &want) &&
        str_to_int(argv[3], 0, 3600, &seconds))
        at = 4;
    if (argc < at + 2) {
        fputs("Usage: local [--follow N SECONDS] SOCK_DIR REQUEST...\n       local --knock FILE SOCK_DIR\n",
              stderr);
        return EXIT_USAGE;
    }
    local_client_t *client = local_connect(argv[at], &err);
    int code = client ? 0 : say(&err, EXIT_NO_MASTER);
    for (int i = at + 1; i < argc && code == 0; i++)
        code = ask(client, argv[i]);
    if (code == 0 && want >= 0)
        code = follow(client, want, seconds);
    local_client_destroy(&client);
    return code;
}
