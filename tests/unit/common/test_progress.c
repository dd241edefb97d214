/* test_progress.c - the progress line: on terminals only, after a while, erased before other output. */
#include "unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include "common/cli/progress.h"

/* What reached the terminal so far. The pty hands it over at once; nothing more is coming. */
static void
read_all(int fd, char *text, size_t cap)
{
    struct pollfd pfd = { fd, POLLIN, 0 };
    size_t at = 0;
    ssize_t n;

    /* A terminal hands its bytes on in pieces. */
    while (at < cap - 1 && poll(&pfd, 1, 20) > 0 && (n = read(fd, text + at, cap - 1 - at)) > 0)
        at += (size_t) n;
    text[at] = '\0';
}

static int
open_terminal(int *slave)
{
    struct winsize size = { .ws_col = 20, .ws_row = 5 };
    int master = -1;

    assert_int_equal(openpty(&master, slave, NULL, NULL, &size), 0);
    assert_int_equal(fcntl(master, F_SETFL, O_NONBLOCK), 0);
    return master;
}

static void
test_terminal(void **state)
{
    int slave, master = open_terminal(&slave);
    char text[256];
    progress_t *p = progress_new_on(slave, "minions have returned", 0);

    progress_update(p, 3, 100);
    read_all(master, text, sizeof(text));
    assert_string_equal(text, "\r\033[K3 of 100 minions ha");
    progress_update(p, 4, 100); /* too soon */
    read_all(master, text, sizeof(text));
    assert_string_equal(text, "");
    progress_clear(p);
    progress_clear(p);
    progress_update(p, 5, 0);
    progress_destroy(&p);
    read_all(master, text, sizeof(text));
    assert_string_equal(text, "\r\033[K\r\033[K5 minions have retu\r\033[K");
    assert_null(p);
    close(master);
    close(slave);
}

static void
test_silent(void **state)
{
    int slave, master = open_terminal(&slave), pipes[2];
    char text[64];
    progress_t *early = progress_new_on(slave, "x", 3600 * 1000);

    progress_update(early, 1, 2);
    progress_clear(early);
    read_all(master, text, sizeof(text));
    assert_string_equal(text, "");
    assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
    progress_t *piped = progress_new_on(pipes[1], "x", 0);
    progress_update(piped, 1, 2);
    read_all(pipes[0], text, sizeof(text));
    assert_string_equal(text, "");
    progress_destroy(&piped);
    progress_destroy(&early);
    progress_clear(NULL);
    close(pipes[0]);
    close(pipes[1]);
    close(master);
    close(slave);
}

UNIT_MAIN(cmocka_unit_test(test_terminal), cmocka_unit_test(test_silent))
