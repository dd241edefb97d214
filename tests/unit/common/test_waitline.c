/* test_waitline.c - the line of a function that works: on terminals only, after a while, gone afterwards. */
#include "unit/unit.h"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cli/waitline.h"
#include "salt/log.h"

enum { TEXT_SIZE = 4096 };

static int
open_terminal(int *slave)
{
    struct winsize size = { .ws_col = 24, .ws_row = 5 };
    int master = -1;

    assert_int_equal(openpty(&master, slave, NULL, NULL, &size), 0);
    return master;
}

/* Reads on until the terminal shows `part`. */
static void
until_shown(int fd, char text[TEXT_SIZE], const char *part)
{
    size_t at = strlen(text);

    while (strstr(text, part) == NULL) {
        struct pollfd there = { fd, POLLIN, 0 };
        if (poll(&there, 1, 10000) != 1)
            fail_msg("'%s' is not in '%s'", part, text);
        ssize_t n = read(fd, text + at, TEXT_SIZE - 1 - at);
        assert_true(n > 0);
        at += (size_t) n;
        text[at] = '\0';
    }
}

static void
test_terminal(void **state)
{
    int slave, master = open_terminal(&slave), status;
    char text[TEXT_SIZE] = "";
    waitline_t *line = waitline_new_after(slave, "cmd.run", 0);
    waitline_t *const volatile held = line; /* in a child, which frees nothing, for leak checkers */

    assert_non_null(held);
    until_shown(master, text, "\r\033[Kcmd.run, 0 s");
    until_shown(master, text, "\r\033[Kcmd.run, 1 s");
    waitline_step(line, 2, 13, "a\tvery \033 long name");
    until_shown(master, text, "\r\033[K[   2/  13] a very ^[ l");
    pid_t child = fork();
    if (child == 0) { /* a state that runs beside */
        waitline_step(line, 3, 13, "child");
        waitline_destroy(&line);
        _exit(line == NULL ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    waitline_destroy(&line);
    assert_null(line);
    text[0] = '\0';
    until_shown(master, text, "\r\033[K");
    assert_null(strstr(text, "child"));
    assert_string_equal(text + strlen(text) - strlen("\r\033[K"), "\r\033[K");
    waitline_destroy(&line);
    waitline_step(NULL, 1, 1, "x");
    close(slave);
    close(master);
}

static void
test_silent(void **state)
{
    int slave, master = open_terminal(&slave), pipes[2];
    waitline_t *early = waitline_new(slave, "test.ping");
    struct pollfd there = { master, POLLIN, 0 };

    waitline_destroy(&early);
    assert_int_equal(poll(&there, 1, 0), 0);
    assert_int_equal(pipe(pipes), 0);
    assert_null(waitline_new_after(pipes[1], "cmd.run", 0));
    close(pipes[0]);
    close(pipes[1]);
    close(slave);
    close(master);
}

/* A message of the log stands on a line of its own. */
static void
test_log(void **state)
{
    int slave, master = open_terminal(&slave), before = dup(STDERR_FILENO);
    char text[TEXT_SIZE] = "";

    (void) dup2(slave, STDERR_FILENO);
    log_init("test", LEVEL_WARNING, false);
    waitline_t *line = waitline_new_after(STDERR_FILENO, "cmd.run", 0);
    until_shown(master, text, "cmd.run, 0 s");
    log_warning("of the function");
    until_shown(master, text, "0 s\r\033[K[WARNING ] of the function\r\n");
    waitline_destroy(&line);
    log_warning("after it");
    until_shown(master, text, "function\r\n\r\033[K[WARNING ] after it");
    (void) dup2(before, STDERR_FILENO);
    close(before);
    close(slave);
    close(master);
}

UNIT_MAIN(cmocka_unit_test(test_terminal), cmocka_unit_test(test_silent), cmocka_unit_test(test_log))
