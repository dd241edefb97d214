/* test_syslogline.c - addresses, and what arrives at a daemon that is there, full, gone and back. */
#include "unit/unit.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/syslogline.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"

static void
test_addresses(void **state)
{
    static const char *const good[] = { "udp://loghost",
                                        "udp://loghost/",
                                        "udp://loghost:514",
                                        "udp://10.0.0.1:5145/LOG_KERN",
                                        "udp://[::1]:514/log_user",
                                        "udp://[::1]",
                                        "file:///dev/log",
                                        "file:///dev/log/LOG_LOCAL7" };
    static const char *const bad[][2] = { { "udp://", "names no host" },
                                          { "udp://:514", "names no host" },
                                          { "udp://[::1", "the ']' is missing" },
                                          { "udp://a:0", "'0' is not a port" },
                                          { "udp://a:70000", "'70000' is not a port" },
                                          { "udp://a/USER", "no facility 'USER'" },
                                          { "file://dev/log", "no absolute path" },
                                          { "file:///LOG_USER", "a socket's path has" },
                                          { "tcp://a:514", "use file:///dev/log" },
                                          { "http://a", "known are" } };

    for (size_t i = 0; i < NELEMS(good); i++) {
        fail_auto_t err = FAIL_INIT;
        if (syslogline_check(good[i], &err) != 0)
            fail_msg("%s", fail_text(&err));
    }
    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t err = FAIL_INIT;
        assert_int_equal(syslogline_check(bad[i][0], &err), -EINVAL);
        if (strstr(fail_text(&err), bad[i][1]) == NULL || strstr(fail_text(&err), bad[i][0]) == NULL)
            fail_msg("%s: %s", bad[i][0], fail_text(&err));
    }
}

static int
daemon_at(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    str_copy(at.sun_path, sizeof(at.sun_path), path);
    assert_int_equal(bind(fd, (const struct sockaddr *) &at, sizeof(at)), 0);
    return fd;
}

static void
receive(int fd, char *text, size_t cap)
{
    struct pollfd there = { fd, POLLIN, 0 };

    assert_int_equal(poll(&there, 1, 10000), 1);
    ssize_t n = recv(fd, text, cap - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
}

/* One socket for the process: what a log does. */
/* Runs a process to its last message. */
static void
end_with(const char *what)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        (void) signal(SIGABRT, SIG_DFL); /* cmocka may have one */
        (void) prctl(PR_SET_DUMPABLE, 0);
        salt_panic("a.c", 7, what);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

static void
test_log(void **state)
{
    char folder[] = "/tmp/test_syslog.XXXXXX", text[2 * LIMIT_SYSLOG_LINE];
    fail_auto_t err = FAIL_INIT;

    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *path = xasprintf("%s/log", folder);
    AUTO_FREE char *address = xasprintf("file://%s/LOG_DAEMON", path);
    log_init("salt-test", LEVEL_QUIET, false);
    assert_true(log_open_file(address, LEVEL_INFO, &err) < 0);
    assert_non_null(strstr(fail_text(&err), "no syslog daemon listens there"));
    int fd = daemon_at(path);
    assert_int_equal(log_open_file(address, LEVEL_INFO, NULL), 0);
    log_debug("not wanted");
    log_warning("a \x1b[31mline");
    receive(fd, text, sizeof(text));
    AUTO_FREE char *end = xasprintf(" salt-test[%d]: a \\x1b[31mline", (int) getpid());
    assert_true(str_starts(text, "<28>")); /* LOG_DAEMON is 3, LOG_WARNING 4 */
    assert_true(str_ends(text, end));
    assert_int_equal(strlen(text), strlen("<28>Nov 20 10:00:00") + strlen(end));

    AUTO_FREE char *long_one = xcalloc(1, sizeof(text));
    memset(long_one, 'x', sizeof(text) - 1);
    log_error("%s", long_one);
    receive(fd, text, sizeof(text));
    assert_int_equal(strlen(text), LIMIT_SYSLOG_LINE);

    for (size_t i = 0; i < 100000; i++) /* nobody reads: it never waits */
        log_error("flood");
    end_with("the end"); /* nor does the last message */

    close(fd);
    unlink(path);
    log_error("nobody is there");
    fd = daemon_at(path);
    end_with("Bug");
    receive(fd, text, sizeof(text));
    assert_string_equal(text, "<26>salt-test: a.c:7: broken invariant: Bug\n");
    assert_int_equal(log_open_file(address, LEVEL_ERROR, NULL), 0); /* a reload */
    log_warning("not wanted now");
    log_error("wanted");
    receive(fd, text, sizeof(text));
    assert_true(str_ends(text, ": wanted"));
    close(fd);
    unlink(path);
    rmdir(folder);
}

static void
test_udp(void **state)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    char text[256];

    assert_int_equal(bind(fd, (const struct sockaddr *) &at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &at, &len), 0);
    AUTO_FREE char *address = xasprintf("udp://127.0.0.1:%d", ntohs(at.sin_port));
    assert_int_equal(syslogline_open(address, "salt-test", NULL), 0);
    syslogline_send(6, "hello");
    receive(fd, text, sizeof(text));
    assert_true(str_starts(text, "<14>"));
    assert_true(str_ends(text, "]: hello"));
    close(fd);
}

UNIT_MAIN(cmocka_unit_test(test_addresses), cmocka_unit_test(test_log), cmocka_unit_test(test_udp))
