/* test_ttyguard.c - stdout and stderr, each a terminal or not: what arrives there. Each case is a process
 * of its own, since a guard ends with the program. */
#include "unit/unit.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "common/cli/ttyguard.h"

#define HOSTILE "id\033[2J\033[31mred\xe2\x80\xae"
#define SHOWN   "id^[[2J\033[31mred\\u202e"

static void
read_to_end(int fd, buf_t *out)
{
    char chunk[4096];
    ssize_t n;

    /* The end of a terminal is an error. */
    while ((n = read(fd, chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t) n);
    close(fd);
}

/* One end to read and one to write: a terminal, or a pipe. */
static void
open_stream(bool terminal, int ends[2])
{
    struct termios raw;

    if (!terminal) {
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        return;
    }
    assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
    assert_int_equal(tcgetattr(ends[1], &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(ends[1], TCSANOW, &raw), 0);
}

/* The program `body` with its streams: what it wrote. */
static void
run(bool out_terminal, bool err_terminal, void (*body)(void), buf_t *out, buf_t *err)
{
    int outs[2], errs[2], status = -1;

    open_stream(out_terminal, outs);
    open_stream(err_terminal, errs);
    (void) fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(outs[1], STDOUT_FILENO);
        dup2(errs[1], STDERR_FILENO);
        ttyguard_begin();
        body();
        exit(EXIT_SUCCESS);
    }
    close(outs[1]);
    close(errs[1]);
    read_to_end(outs[0], out);
    read_to_end(errs[0], err);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void
say(void)
{
    (void) printf("%s\n", HOSTILE);
    (void) fprintf(stderr, "%s\nnext\033", HOSTILE);
}

static void
test_each_stream(void **state)
{
    for (int i = 0; i < 4; i++) {
        buf_auto_t out = BUF_INIT, err = BUF_INIT;
        run((i & 1) != 0, (i & 2) != 0, say, &out, &err);
        assert_string_equal(buf_str(&out), (i & 1) != 0 ? SHOWN "\033[0m\n" : HOSTILE "\n");
        assert_string_equal(buf_str(&err), (i & 2) != 0 ? SHOWN "\033[0m\nnext^[" : HOSTILE "\nnext\033");
    }
}

static void
say_paint(void)
{
    colour_t colour = COLOUR_ENDC;
    const char *bound = ttyguard_bound(stdout);

    (void) fprintf(stderr, "%d %d %zu %zu %d %d", ttyguard_paint(true), ttyguard_paint(false), strlen(bound),
                   strlen(ttyguard_bound(stderr)), ttyguard_fd(stdout), ttyguard_fd(stderr));
    salt_assert(*bound == '\0' || colour_mark(bound, strlen(bound), &colour) > 0);
    (void) printf("%sred\nred%s\n", colour_code(COLOUR_RED, ttyguard_paint(true)),
                  colour_code(COLOUR_ENDC, ttyguard_paint(true)));
}

static void
test_paint(void **state)
{
    buf_auto_t out = BUF_INIT, err = BUF_INIT, pipe_out = BUF_INIT, pipe_err = BUF_INIT;

    run(true, false, say_paint, &out, &err);
    assert_string_equal(buf_str(&out), "\033[0;31mred\nred\033[0;0m\n");
    assert_string_equal(buf_str(&err), "2 3 19 0 1 2");
    run(false, false, say_paint, &pipe_out, &pipe_err);
    assert_string_equal(buf_str(&pipe_out), "\033[0;31mred\nred\033[0;0m\n");
    assert_string_equal(buf_str(&pipe_err), "1 0 0 0 1 2");
}

/* A text for a file that somebody named. */
static void
say_to_files(void)
{
    static char text[] = HOSTILE "\n";
    const buf_t data = { .data = text, .len = sizeof(text) - 1, .cap = sizeof(text) };
    FILE *out = fdopen(dup(STDOUT_FILENO), "w"), *err = fdopen(dup(STDERR_FILENO), "w");

    salt_assert(ttyguard_write(out, &data) && ttyguard_write(err, &data));
    (void) fclose(out);
    (void) fclose(err);
}

static void
test_files(void **state)
{
    buf_auto_t out = BUF_INIT, err = BUF_INIT;

    run(true, false, say_to_files, &out, &err);
    assert_string_equal(buf_str(&out), SHOWN "\033[0m\n");
    assert_string_equal(buf_str(&err), HOSTILE "\n");
}

/* What is too large for one write, and a write that fails. */
static void
say_much(void)
{
    for (int i = 0; i < 30000; i++)
        (void) printf("\033[8m%d\n", i);
    close(STDOUT_FILENO);
    salt_assert(printf("x\n") < 0 || fflush(stdout) != 0);
    salt_assert(errno == EBADF);
    clearerr(stdout);
}

static void
test_much(void **state)
{
    buf_auto_t out = BUF_INIT, err = BUF_INIT, all = BUF_INIT;

    for (int i = 0; i < 30000; i++)
        buf_printf(&all, "^[[8m%d\n", i);
    run(true, false, say_much, &out, &err);
    assert_int_equal(out.len, all.len);
    assert_string_equal(buf_str(&out), buf_str(&all));
}

/* What is held goes out with what releases it, and not before. */
static void
say_held(void)
{
    char got[64];
    int ends[2];

    open_stream(true, ends);
    dup2(ends[1], STDOUT_FILENO);
    salt_assert(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
    salt_assert(ttyguard_hold(true) && printf("one\033[2J\n") > 0);
    salt_assert(read(ends[0], got, sizeof(got)) < 0 && errno == EAGAIN);
    salt_assert(ttyguard_hold(true) && printf("two\n") > 0 && ttyguard_hold(false));
    salt_assert(read(ends[0], got, sizeof(got)) == 13 && memcmp(got, "one^[[2J\ntwo\n", 13) == 0);
}

static void
test_held(void **state)
{
    buf_auto_t out = BUF_INIT, err = BUF_INIT;

    run(true, false, say_held, &out, &err);
    assert_string_equal(buf_str(&err), "");
}

UNIT_MAIN(cmocka_unit_test(test_each_stream), cmocka_unit_test(test_paint), cmocka_unit_test(test_files),
          cmocka_unit_test(test_much), cmocka_unit_test(test_held))
