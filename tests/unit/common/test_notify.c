/* test_notify.c - what a service manager hears, at a socket with a path and at one with an abstract name. */
#include "common/base/notify.h"

#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "unit/folder.h"

static int manager = -1;

static void
hear_at(const char *name)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    assert_true(str_copy(addr.sun_path, sizeof(addr.sun_path), name));
    if (*name == '@')
        addr.sun_path[0] = '\0';
    manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(manager, (struct sockaddr *) &addr,
                          (socklen_t) (offsetof(struct sockaddr_un, sun_path) + strlen(name))),
                     0);
    assert_int_equal(setenv("NOTIFY_SOCKET", name, 1), 0);
}

/* The next datagram; "" when none is there. */
static const char *
heard(void)
{
    static char text[500];
    ssize_t n = recv(manager, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void
set_watchdog(long usec, pid_t pid)
{
    AUTO_FREE char *a = xasprintf("%ld", usec), *b = xasprintf("%ld", (long) pid);

    assert_int_equal(setenv("WATCHDOG_USEC", a, 1) | setenv("WATCHDOG_PID", b, 1), 0);
}

static void
all_that_is_said(void)
{
    notify_ready();
    assert_string_equal(heard(), "READY=1");
    notify_status("%d minions", 2);
    notify_status("%d minions", 2);
    assert_string_equal(heard(), "STATUS=2 minions");
    assert_string_equal(heard(), "");
    notify_status("a\nREADY=0");
    assert_string_equal(heard(), "STATUS=a READY=0");
    notify_stopping();
    assert_string_equal(heard(), "STOPPING=1");
    (void) close(manager);
}

static void
test_path(void **state)
{
    AUTO_FREE char *path = xasprintf("%s/notify", dir);

    hear_at(path);
    notify_begin();
    assert_null(getenv("NOTIFY_SOCKET"));
    all_that_is_said();
    notify_again();
    assert_string_equal(getenv("NOTIFY_SOCKET"), path);
}

static void
test_abstract(void **state)
{
    AUTO_FREE char *name = xasprintf("@halite-notify-%d", (int) getpid());

    hear_at(name);
    notify_begin();
    assert_true(notify_heard());
    all_that_is_said();
}

/* Only a loop that turns gives a sign, and at half of the time. */
static void
test_watchdog(void **state)
{
    AUTO_FREE char *path = xasprintf("%s/watchdog", dir);

    hear_at(path);
    set_watchdog(10000000, getpid());
    notify_begin();
    assert_null(getenv("WATCHDOG_USEC"));
    int64_t now = clock_mono_ms();
    assert_true(notify_next_ms() > 0 && notify_next_ms() <= now);
    notify_turn(now);
    assert_string_equal(heard(), "WATCHDOG=1");
    assert_int_equal(notify_next_ms(), now + 5000);
    notify_turn(now + 4999);
    assert_string_equal(heard(), "");
    notify_turn(now + 5000);
    assert_string_equal(heard(), "WATCHDOG=1");
    (void) close(manager);
}

static void
test_nobody(void **state)
{
    assert_int_equal(unsetenv("NOTIFY_SOCKET"), 0);
    set_watchdog(10000000, getpid() + 1); /* another process's */
    notify_begin();
    assert_false(notify_heard());
    assert_int_equal(notify_next_ms(), 0);
    notify_ready();
    notify_status("nobody hears it");
}

/* Each begins as a process does. */
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

UNIT_MAIN(T(test_nobody), T(test_path), T(test_abstract), T(test_watchdog))
