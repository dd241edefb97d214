/* test_base.c - failures, allocation helpers, buf, str, map, clock and the log. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/grainsid.h"
#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/map.h"
#include "common/base/str.h"
#include "salt/base.h"
#include "salt/log.h"
#include "unit/unit.h"

/* ---- base ------------------------------------------------------------------------------------ */

static void
test_fail_first_wins(void **state)
{
    fail_auto_t err = FAIL_INIT;

    assert_string_equal(fail_text(&err), "unknown error");
    fail_prefix(&err, "ignored: ");
    assert_null(err.text);
    assert_int_equal(fail_kind(&err, FAIL_COMMAND, -EIO, "disk %d", 1), -EIO);
    assert_int_equal(fail_set(&err, -ENOENT, "second"), -ENOENT);
    assert_string_equal(fail_text(&err), "disk 1");
    assert_int_equal(err.code, -EIO);
    assert_int_equal(err.kind, FAIL_COMMAND);
    fail_prefix(&err, "%s: ", "pillar");
    assert_string_equal(fail_text(&err), "pillar: disk 1");
    fail_clear(&err);
    assert_int_equal(err.code, 0);
    assert_int_equal(err.kind, FAIL_GENERIC);
    assert_null(err.text);
}

static void
test_fail_without_record(void **state)
{
    assert_int_equal(fail_set(NULL, -EPERM, "nobody listens"), -EPERM);
    assert_string_equal(fail_text(NULL), "unknown error");
    fail_prefix(NULL, "x");
    fail_clear(NULL);
}

static void
test_scope_cleanup(void **state)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    {
        AUTO_FD owned = fd;
        AUTO_FREE char *text = xstrndup("abcdef", 3);
        AUTO_FILE file = fopen("/dev/null", "re");
        assert_string_equal(text, "abc");
        assert_non_null(file);
        assert_int_equal(owned, fd);
    }
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    AUTO_FREE char *kept = xasprintf("%s-%d", "a", 1);
    char *stolen = STEAL(kept);
    assert_null(kept);
    assert_string_equal(stolen, "a-1");
    free(stolen);
}

static void
test_panic_aborts(void **state)
{
    int status;

    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        salt_assert(pid != 0);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void
test_no_memory_ends(void **state)
{
    char said[512] = "";
    int status, ends[2];

    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        salt_no_memory(4711);
    }
    close(ends[1]);
    assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_NO_MEMORY);
    assert_non_null(strstr(said, "out of memory: 4711 bytes"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

/* ---- buf ------------------------------------------------------------------------------------- */

static void
test_buf(void **state)
{
    buf_auto_t b = BUF_INIT;

    assert_string_equal(buf_str(&b), "");
    buf_add(&b, NULL, 0);
    assert_null(b.data);
    buf_puts(&b, "ab");
    buf_putc(&b, 'c');
    buf_fill(&b, '-', 3);
    buf_printf(&b, "%0200d|", 7);
    assert_int_equal(b.len, 6 + 201);
    assert_int_equal(strlen(buf_str(&b)), b.len);
    buf_consume(&b, 6 + 199);
    assert_string_equal(buf_str(&b), "7|");
    buf_consume(&b, 2);
    assert_string_equal(buf_str(&b), "");
    buf_add(&b, "a\0b", 3);
    assert_int_equal(b.len, 3);
    assert_memory_equal(b.data, "a\0b", 4);
    buf_clear(&b);
    assert_string_equal(buf_str(&b), "");
    buf_puts(&b, "x");
    AUTO_FREE char *text = buf_steal(&b);
    assert_string_equal(text, "x");
    assert_null(b.data);
    AUTO_FREE char *empty = buf_steal(&b);
    assert_string_equal(empty, "");
}

/* ---- str ------------------------------------------------------------------------------------- */

static void
test_str_compare(void **state)
{
    char padded[] = " \t two words \n", blank[] = "  ", small[4];

    assert_true(str_eq("a", "a") && str_eq(NULL, NULL));
    assert_false(str_eq("a", "b") || str_eq("a", NULL) || str_eq(NULL, "a"));
    assert_true(str_starts("salt", "sa") && str_starts("salt", "") && !str_starts("s", "sa"));
    assert_false(str_starts(NULL, "a") || str_ends(NULL, "a"));
    assert_true(str_ends("salt", "lt") && str_ends("salt", "") && !str_ends("t", "lt"));
    assert_true(str_empty(NULL) && str_empty("") && !str_empty(" "));
    assert_string_equal(str_trim(padded), "two words");
    assert_string_equal(str_trim(blank), "");
    assert_true(str_copy(small, sizeof(small), "abc"));
    assert_false(str_copy(small, sizeof(small), "wxyz"));
    assert_string_equal(small, "wxy");
}

static void
check_split(const char *text, const char *seps, bool skip_empty, const char *joined)
{
    char **parts = str_split(text, seps, skip_empty);
    buf_auto_t b = BUF_INIT;

    for (size_t i = 0; parts[i] != NULL; i++)
        buf_printf(&b, "[%s]", parts[i]);
    assert_string_equal(buf_str(&b), joined);
    assert_int_equal(strv_len(parts) == 0, joined[0] == '\0');
    strv_free(parts);
}

static void
test_str_split(void **state)
{
    check_split("a,b;c", ",;", false, "[a][b][c]");
    check_split(",a,,b,", ",", false, "[][a][][b][]");
    check_split(",a,,b,", ",", true, "[a][b]");
    check_split("", ",", false, "[]");
    check_split("", ",", true, "");
    check_split("a.b.c.d.e.f.g.h.i.j", ".", true, "[a][b][c][d][e][f][g][h][i][j]");
    strv_free(NULL);
    assert_int_equal(strv_len(NULL), 0);
}

static void
test_str_replace(void **state)
{
    static const char *const rows[][4] = {
        { "aXbX", "X", "--", "a--b--" }, { "aaa", "aa", "b", "ba" }, { "abc", "", "x", "abc" },
        { "abc", "z", "x", "abc" },      { "", "a", "b", "" },       { "abc", "abc", "", "" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = str_replace(rows[i][0], rows[i][1], rows[i][2]);
        assert_string_equal(got, rows[i][3]);
    }
}

static void
test_str_to_int(void **state)
{
    static const char *const refused[] = { "",    " 1",  "1 ",  "1x", "x",   "+",   "-",
                                           "+-1", "--1", "0x1", "11", "-11", "1.0", "99999999999999999999" };
    long long v = 77;

    for (size_t i = 0; i < NELEMS(refused); i++)
        assert_false(str_to_int(refused[i], -10, 10, &v));
    assert_false(str_to_int(NULL, 0, 1, &v));
    assert_int_equal(v, 77);
    assert_true(str_to_int("-10", -10, 10, &v) && v == -10);
    assert_true(str_to_int("+007", -10, 10, &v) && v == 7);
}

typedef struct words {
    const char *const *next;
} words_t;

static const char *
next_word(void *cookie)
{
    words_t *words = cookie;

    return *words->next != NULL ? *words->next++ : NULL;
}

static void
test_str_suggest(void **state)
{
    static const char *const known[] = {
        "test.ping", "test.echo", "cmd.run", "cmd.run_all", "pkg.list", NULL
    };
    static const struct {
        const char *word, *want;
    } rows[] = {
        { "test.pnig", "test.ping" },  { "cmd.rnu", "cmd.run" }, { "cmd.runall", "cmd.run_all" },
        { "test.pingg", "test.ping" }, { "nothing.like", NULL }, { "", NULL },
        { "pkg.lst", "pkg.list" },     { "cmd.run", "cmd.run" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        words_t words = { known };
        const char *got = str_suggest(rows[i].word, next_word, &words);
        assert_true(str_eq(got, rows[i].want));
    }
    AUTO_FREE char *giant = xcalloc(1, 5000);
    memset(giant, 'a', 4999);
    words_t words = { known };
    assert_null(str_suggest(giant, next_word, &words));
}

static void
test_str_redacted(void **state)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "no address: a@b", "no address: a@b" },
        { "https://u:p@host/x", "https://<redacted>@host/x" },
        { "https://u:p@ss@host/x@y", "https://<redacted>@host/x@y" },
        { "git fetch https://u@h/a 'ssh://k:s@h' https://h/a@b",
          "git fetch https://<redacted>@h/a 'ssh://<redacted>@h' https://h/a@b" },
        { "salt://web@home/x", "salt://web@home/x" },
        { "http://", "http://" },
        { "://a:b@", "://<redacted>@" },
    };
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = str_redacted(rows[i][0]);
        assert_string_equal(got, rows[i][1]);
    }
    /* No error tells one. */
    (void) fail_set(&err, -EIO, "%s: gone", rows[2][0]);
    fail_prefix(&err, "%s and ", rows[2][0]);
    assert_string_equal(fail_text(&err), "https://<redacted>@host/x and https://<redacted>@host/x: gone");
}

/* Answers of Python's shlex.quote. */
static void
test_str_shell_quote(void **state)
{
    static const char *const rows[][2] = {
        { "", "''" },           { "plain-1.2/x_y@z%+=:,", "plain-1.2/x_y@z%+=:," },
        { "a b", "'a b'" },     { "it's", "'it'\"'\"'s'" },
        { "$(id)", "'$(id)'" }, { "a\nb", "'a\nb'" },
        { "~", "'~'" },         { "\xc3\xa9", "'\xc3\xa9'" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *got = str_shell_quote(rows[i][0]);
        assert_string_equal(got, rows[i][1]);
    }
}

/* ---- map ------------------------------------------------------------------------------------- */

static int freed;

static void
count_free(void *value)
{
    freed++;
    free(value);
}

static void
test_map_basics(void **state)
{
    map_t *m = map_new(count_free);

    freed = 0;
    assert_null(map_get(m, "a"));
    assert_false(map_del(m, "a"));
    map_set(m, "a", xstrdup("1"));
    map_set(m, "", xstrdup("empty"));
    map_set(m, "a", xstrdup("2"));
    assert_int_equal(freed, 1);
    assert_string_equal(map_get(m, "a"), "2");
    assert_string_equal(map_get(m, ""), "empty");
    assert_int_equal(map_len(m), 2);
    char *taken = map_take(m, "a");
    assert_string_equal(taken, "2");
    free(taken);
    assert_null(map_take(m, "a"));
    assert_int_equal(freed, 1);
    map_clear(m);
    assert_int_equal(freed, 2);
    assert_int_equal(map_len(m), 0);
    map_set(m, "again", xstrdup("x"));
    map_destroy(&m);
    assert_null(m);
    assert_int_equal(freed, 3);
    map_destroy(&m);
}

static void
test_map_order_and_growth(void **state)
{
    enum { N = 5000 };
    static int values[N];
    map_t *m = map_new(NULL);
    char key[32];
    const char *found;
    void *value;

    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof(key), "minion-%d", i);
        map_set(m, key, &values[i]);
    }
    for (int i = 0; i < N; i += 2) {
        snprintf(key, sizeof(key), "minion-%d", i);
        assert_true(map_del(m, key));
    }
    map_set(m, "minion-0", &values[0]);
    assert_int_equal(map_len(m), N / 2 + 1);
    int expected = 1;
    for (size_t it = 0; map_next(m, &it, &found, &value);) {
        snprintf(key, sizeof(key), "minion-%d", expected < N ? expected : 0);
        assert_string_equal(found, key);
        assert_ptr_equal(value, &values[expected < N ? expected : 0]);
        expected += 2;
    }
    assert_int_equal(expected, N + 3);
    map_destroy(&m);
}

static void
test_map_delete_while_walking(void **state)
{
    map_t *m = map_new(count_free);
    const char *key;

    freed = 0;
    for (int i = 0; i < 100; i++) {
        AUTO_FREE char *name = xasprintf("%d", i);
        map_set(m, name, xstrdup(name));
    }
    for (size_t it = 0; map_next(m, &it, &key, NULL);) {
        if (key[strlen(key) - 1] != '7')
            assert_true(map_del(m, key));
    }
    assert_int_equal(map_len(m), 10);
    assert_int_equal(freed, 90);
    assert_non_null(map_get(m, "97"));
    assert_null(map_get(m, "98"));
    map_destroy(&m);
}

/* One key set and removed for ever must not fill the table. */
static void
test_map_churn(void **state)
{
    map_t *m = map_new(NULL);
    int value;

    map_set(m, "stays", &value);
    for (int i = 0; i < 20000; i++) {
        AUTO_FREE char *name = xasprintf("job%d", i);
        map_set(m, name, &value);
        assert_true(map_del(m, name));
    }
    assert_int_equal(map_len(m), 1);
    assert_ptr_equal(map_get(m, "stays"), &value);
    map_destroy(&m);
}

/* ---- clock ----------------------------------------------------------------------------------- */

static void
test_clock_stamp(void **state)
{
    char out[CLOCK_STAMP_LEN];

    clock_stamp(out, 1795168800123456);
    assert_string_equal(out, "2026-11-20T10:00:00.123456");
    clock_stamp(out, -1);
    assert_string_equal(out, "1969-12-31T23:59:59.999999");
    int64_t before = clock_mono_us();
    assert_true(before > 0 && clock_mono_us() >= before && clock_mono_ms() >= before / 1000);
}

/* Whatever number stands in somebody's file. */
static void
test_clock_us_of(void **state)
{
    assert_int_equal(clock_us_of(1.5), 1500000);
    assert_int_equal(clock_us_of(0), 0);
    assert_int_equal(clock_us_of(-3), 0);
    assert_int_equal(clock_us_of(NAN), 0);
    assert_true(clock_us_of(1e300) == clock_us_of(INFINITY) && clock_us_of(1e10) == clock_us_of(1e300));
    assert_int_equal(clock_us_of(1e300) / 1000000 / 86400, 36525);
}

static void
test_clock_jid_grows(void **state)
{
    char last[CLOCK_STAMP_LEN] = "", now[CLOCK_STAMP_LEN];

    for (int i = 0; i < 20000; i++) {
        clock_jid(now);
        assert_int_equal(strlen(now), 20);
        assert_true(strcmp(now, last) > 0);
        memcpy(last, now, sizeof(last));
    }
}

enum { JID_THREADS = 4, JIDS_EACH = 2000 };

static void *
make_jids(void *arg)
{
    char(*jids)[CLOCK_STAMP_LEN] = arg;

    for (int i = 0; i < JIDS_EACH; i++)
        clock_jid(jids[i]);
    return NULL;
}

static void
test_clock_jid_threads(void **state)
{
    static char jids[JID_THREADS][JIDS_EACH][CLOCK_STAMP_LEN];
    pthread_t threads[JID_THREADS];
    map_t *seen = map_new(NULL);

    for (int t = 0; t < JID_THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, make_jids, jids[t]), 0);
    for (int t = 0; t < JID_THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < JID_THREADS; t++) {
        for (int i = 0; i < JIDS_EACH; i++)
            map_set(seen, jids[t][i], jids);
    }
    assert_int_equal(map_len(seen), JID_THREADS * JIDS_EACH);
    map_destroy(&seen);
}

static void
test_clock_jid_reading(void **state)
{
    static const char *const refused[] = { "",
                                           "req",
                                           "2026112009395931803",
                                           "202611200939593180345",
                                           "20261320093959318034",
                                           "20260020093959318034",
                                           "20261120253959318034",
                                           "2026112009395931803x",
                                           "20261120093959318034_",
                                           "20261120093959318034_4711\n",
                                           "20261120093959318034_a",
                                           "20261120093959318034_",
                                           "20261120093959318034x1" };
    char out[CLOCK_STAMP_LEN], jid[CLOCK_STAMP_LEN];

    assert_true(clock_jid_to_time("20261120093959318034", out));
    assert_string_equal(out, "2026, Nov 20 09:39:59.318034");
    assert_true(clock_jid_to_time("20260101000000000001_4711", out));
    assert_string_equal(out, "2026, Jan 01 00:00:00.000001");
    for (size_t i = 0; i < NELEMS(refused); i++) {
        assert_false(clock_jid_to_time(refused[i], out));
        assert_false(clock_is_jid(refused[i]));
    }
    assert_false(clock_jid_to_time(NULL, out));
    int64_t us, next_us;
    assert_true(clock_jid_us("20261120093959318034_7", &us));
    assert_int_equal(us, 1795167599318034);
    assert_false(clock_jid_us("20261320093959318034", &us));
    clock_jid(jid);
    assert_true(clock_jid_us(jid, &us));
    clock_jid_skip(5000000);
    clock_jid(jid);
    assert_true(clock_jid_us(jid, &next_us) && next_us - us >= 5000000 && next_us - us < 10000000);
    assert_true(clock_is_jid(jid));
    assert_true(clock_is_jid("20260101000000000001_4711"));
    /* Of now: the counter of this process may run a little ahead of the clock. */
    char early[CLOCK_STAMP_LEN], late[CLOCK_STAMP_LEN], stamp[CLOCK_STAMP_LEN];
    int64_t now = clock_wall_us();
    clock_stamp(early, now - 60000000);
    clock_stamp(late, now + 60000000);
    snprintf(stamp, sizeof(stamp), "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s", jid, jid + 4, jid + 6, jid + 8, jid + 10,
             jid + 12);
    assert_true(strcmp(early, stamp) < 0 && strcmp(stamp, late) < 0);
}

static void
test_clock_stamp_reading(void **state)
{
    static const struct {
        const char *text, *stamp; /* NULL: refused */
    } rows[] = {
        { "2026-11-20T09:41:52.448229", "2026-11-20T09:41:52.448229" },
        { "2026-11-20T09:41:52.448229Z", "2026-11-20T09:41:52.448229" },
        { "2026-11-20 09:41:52.5", "2026-11-20T09:41:52.500000" },
        { "2026-11-20T09:41:52", "2026-11-20T09:41:52.000000" },
        { "2026-11-20T09:41", "2026-11-20T09:41:00.000000" },
        { "2026-11-20", "2026-11-20T00:00:00.000000" },
        { "", NULL },
        { "10m", NULL },
        { "2026-13-20", NULL },
        { "2026-11-20T", NULL },
        { "2026-11-20T09", NULL },
        { "2026-11-20T09:61", NULL },
        { "2026-11-20T09:41:52.4482299", NULL },
        { "2026-11-20T09:41:52+01", NULL },
        { "2026-11-20T09:41:521", NULL },
    };
    char out[CLOCK_STAMP_LEN];
    int64_t us;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        assert_int_equal(clock_stamp_parse(rows[i].text, &us), rows[i].stamp != NULL);
        if (rows[i].stamp == NULL)
            continue;
        clock_stamp(out, us);
        assert_string_equal(out, rows[i].stamp);
    }
}

/* ---- log ------------------------------------------------------------------------------------- */

/* Run `body` with stderr sent to a pipe and return what came out. */
static void
capture(void (*body)(void), buf_t *out)
{
    int fds[2], saved = dup(STDERR_FILENO);
    char chunk[4096];
    ssize_t n;

    assert_int_equal(pipe(fds), 0);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    body();
    dup2(saved, STDERR_FILENO);
    close(saved);
    while ((n = read(fds[0], chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t) n);
    close(fds[0]);
}

static void
log_some(void)
{
    log_init("salt-test", LEVEL_WARNING, false);
    log_info("not wanted");
    log_warning("disk %d%% full", 90);
    log_error("evil \033[31mred\r\x7f\xc2\x9b\nnext\tline \xc3\xa9");
    log_warning("a\n\n[ERROR   ] forged\n");
    log_warning("id \xe2\x80\xaegnp.live\xe2\x81\xa9 \x9b"
                "2J \xef\xbb\xbf\xf3\xa0\x81\x81 \xe2\x80");
    log_console(LEVEL_QUIET);
    log_critical("silence");
}

static void
log_coloured(void)
{
    log_init("salt-test", LEVEL_ALL, true);
    log_error("boom");
    log_debug("detail");
    log_init("salt-test", LEVEL_ERROR, false);
}

static void
test_log_console(void **state)
{
    buf_auto_t out = BUF_INIT;

    capture(log_some, &out);
    assert_string_equal(buf_str(&out),
                        "[WARNING ] disk 90% full\n"
                        "[ERROR   ] evil \\x1b[31mred\\x0d\\x7f\\x9b\n    next\tline \xc3\xa9\n"
                        "[WARNING ] a\n    \n    [ERROR   ] forged\n\n"
                        "[WARNING ] id \\u202egnp.live\\u2069 \\x9b2J \\ufeff\\U000e0041 \\xe2\\x80\n");
    buf_clear(&out);
    capture(log_coloured, &out);
    assert_string_equal(buf_str(&out),
                        "\033[0;1;31m[ERROR   ]\033[0m boom\n\033[0;1;36m[DEBUG   ]\033[0m detail\n");
}

static void
test_log_levels(void **state)
{
    log_level_t level = LEVEL_QUIET;

    for (int i = LEVEL_ALL; i <= LEVEL_QUIET; i++) {
        assert_true(log_level_parse(log_level_name((log_level_t) i), &level));
        assert_int_equal(level, i);
    }
    assert_true(log_level_parse("WARNING", &level));
    assert_false(log_level_parse("loud", &level) || log_level_parse(NULL, &level));
    assert_int_equal(level, LEVEL_WARNING);
}

static void
read_text(const char *path, buf_t *out)
{
    char chunk[4096];
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    ssize_t n = read(fd, chunk, sizeof(chunk));
    assert_true(n >= 0);
    buf_add(out, chunk, (size_t) n);
}

static void
test_log_file(void **state)
{
    char folder[] = "/tmp/test_log.XXXXXX";
    fail_auto_t err = FAIL_INIT;
    buf_auto_t first = BUF_INIT, second = BUF_INIT;
    struct stat st;

    assert_non_null(mkdtemp(folder));
    AUTO_FREE char *path = xasprintf("%s/minion", folder);
    AUTO_FREE char *rotated = xasprintf("%s/minion.1", folder);
    AUTO_FREE char *missing = xasprintf("%s/none/minion", folder);
    log_init("salt-test", LEVEL_QUIET, false);
    assert_int_equal(log_open_file(missing, LEVEL_INFO, &err), -ENOENT);
    assert_non_null(strstr(fail_text(&err), missing));
    assert_int_equal(log_open_file(path, LEVEL_INFO, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0137, 0);
    log_debug("not wanted");
    log_info("before");
    assert_int_equal(rename(path, rotated), 0);
    log_reopen();
    log_info("after");
    read_text(rotated, &first);
    read_text(path, &second);
    AUTO_FREE char *before = xasprintf("][INFO    ][%d] before\n", (int) getpid());
    AUTO_FREE char *after = xasprintf("][INFO    ][%d] after\n", (int) getpid());
    assert_true(str_ends(buf_str(&first), before));
    assert_int_equal(first.len, strlen("2026-11-20 10:00:00,123 [salt             :1234") + strlen(before));
    assert_true(str_ends(buf_str(&second), after));
    assert_int_equal(log_open_file("/dev/null", LEVEL_QUIET, NULL), 0);
    unlink(path);
    unlink(rotated);
    rmdir(folder);
}

static void
log_to_nobody(void)
{
    int fds[2], saved = dup(STDERR_FILENO);

    assert_int_equal(pipe(fds), 0);
    close(fds[0]);
    dup2(fds[1], STDERR_FILENO);
    close(fds[1]);
    log_init("salt-test", LEVEL_ERROR, false);
    log_error("the reader has gone");
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void
test_log_survives_a_closed_pipe(void **state)
{
    sigset_t pending;

    signal(SIGPIPE, SIG_DFL);
    log_to_nobody();
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

/* Whatever stands there: it is the id, in the place where it was. */
static void
test_grains_of_an_id(void **state)
{
    static const char *const rows[][2] = {
        { "{}", "{\"id\":\"m1\"}" },
        { "{\"id\":\"db1\",\"os\":1}", "{\"id\":\"m1\",\"os\":1}" },
        { "{\"ID\":\"db1\",\"id\":{\"db1\":{\"id\":\"db1\"}}}", "{\"ID\":\"db1\",\"id\":\"m1\"}" },
        { "{\"id\":[\"m1\",\"db1\"]}", "{\"id\":\"m1\"}" },
        { "{\"id\":\"m1\\u0000db1\"}", "{\"id\":\"m1\"}" },
        { "{\"\\u0069d\":\"db1\"}", "{\"id\":\"m1\"}" },
        { "{\"id\":null}", "{\"id\":\"m1\"}" },
        { "{\"id\":\"M1\"}", "{\"id\":\"m1\"}" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *grains = json_loads(rows[i][0], JSON_ALLOW_NUL, NULL);
        assert_false(grains_are_of(grains, "m1"));
        grains_set_id(grains, "m1");
        AUTO_FREE char *text = json_dumps(grains, JSON_COMPACT);
        assert_string_equal(text, rows[i][1]);
        assert_true(grains_are_of(grains, "m1"));
    }
    assert_false(grains_are_of(NULL, "m1"));
}

UNIT_MAIN(cmocka_unit_test(test_fail_first_wins), cmocka_unit_test(test_fail_without_record),
          cmocka_unit_test(test_scope_cleanup), cmocka_unit_test(test_panic_aborts),
          cmocka_unit_test(test_no_memory_ends), cmocka_unit_test(test_buf),
          cmocka_unit_test(test_str_compare), cmocka_unit_test(test_str_split),
          cmocka_unit_test(test_str_replace), cmocka_unit_test(test_str_to_int),
          cmocka_unit_test(test_str_suggest), cmocka_unit_test(test_str_shell_quote),
          cmocka_unit_test(test_str_redacted), cmocka_unit_test(test_map_basics),
          cmocka_unit_test(test_map_order_and_growth), cmocka_unit_test(test_map_delete_while_walking),
          cmocka_unit_test(test_map_churn), cmocka_unit_test(test_clock_stamp),
          cmocka_unit_test(test_clock_us_of), cmocka_unit_test(test_clock_jid_grows),
          cmocka_unit_test(test_clock_jid_threads), cmocka_unit_test(test_clock_jid_reading),
          cmocka_unit_test(test_clock_stamp_reading), cmocka_unit_test(test_log_console),
          cmocka_unit_test(test_log_levels), cmocka_unit_test(test_log_file),
          cmocka_unit_test(test_log_survives_a_closed_pipe), cmocka_unit_test(test_grains_of_an_id))
