/* test_sessions.c - where the option `master` points to; what the networking process hears of the job server. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "common/local/client.h"
#include "uplink/masters.h"
#include "uplink/sessions.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
test_master_parse(void **state)
{
    static const struct {
        const char *text, *host; /* NULL: refused */
        int port;
    } rows[] = {
        { "salt", "salt", 4506 },
        { "salt.example.org", "salt.example.org", 4506 },
        { "salt:1234", "salt", 1234 },
        { "10.0.0.1", "10.0.0.1", 4506 },
        { "10.0.0.1:65535", "10.0.0.1", 65535 },
        { "::1", "::1", 4506 },
        { "fe80::1%eth0", "fe80::1%eth0", 4506 },
        { "[::1]", "::1", 4506 },
        { "[::1]:99", "::1", 99 },
        { "", NULL, 0 },
        { ":", NULL, 0 },
        { ":4506", NULL, 0 },
        { "salt:", NULL, 0 },
        { "salt:0", NULL, 0 },
        { "salt:65536", NULL, 0 },
        { "salt:-1", NULL, 0 },
        { "salt:45x", NULL, 0 },
        { "[", NULL, 0 },
        { "[]", NULL, 0 },
        { "[::1", NULL, 0 },
        { "[::1]x", NULL, 0 },
        { "[::1]:", NULL, 0 },
        { "[::1]]", NULL, 0 },
        { "::1]", NULL, 0 },
        { "sa[lt", NULL, 0 },
        { "sa lt", NULL, 0 },
        { "sa\nlt", NULL, 0 },
        { "../../etc", NULL, 0 },
    };
    char host[256], longest[300];
    int port = 0;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        bool ok = master_parse(rows[i].text, 4506, host, &port);
        if (ok != (rows[i].host != NULL))
            fail_msg("'%s' is %s", rows[i].text, ok ? "taken" : "refused");
        if (ok) {
            assert_string_equal(host, rows[i].host);
            assert_int_equal(port, rows[i].port);
        }
    }
    memset(longest, 'a', sizeof(longest));
    longest[256] = '\0';
    assert_false(master_parse(longest, 4506, host, &port));
    longest[255] = '\0';
    assert_true(master_parse(longest, 4506, host, &port));
    assert_int_equal(strlen(host), 255);
}

static json_t *
parsed(const char *master, fail_t *err)
{
    json_auto_t *overrides = json_object();

    json_object_set_new(overrides, "master", json_loads(master, JSON_DECODE_ANY, NULL));
    json_object_set_new(overrides, "id", json_string("x"));
    AUTO(conf) conf = conf_load("/nonexistent", CONF_MINION, overrides, NULL, err);
    return conf != NULL ? masters_parse(conf, err) : NULL;
}

static void
test_masters_parse(void **state)
{
    static const char *const bad[] = { "[]",
                                       "[\"a\", 7]",
                                       "[\"a:b\"]",
                                       "{\"a\": 1}",
                                       "7",
                                       ("[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\","
                                        "\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]") };
    fail_auto_t err = FAIL_INIT;

    json_auto_t *one = parsed("\"salt:12\"", &err);
    assert_int_equal(json_array_size(one), 1);
    assert_string_equal(value_str(json_array_get(one, 0), "host", ""), "salt");
    assert_int_equal(value_int(json_array_get(one, 0), "port", 0), 12);
    json_auto_t *two = parsed("[\"a\", \"[::1]:7\"]", &err);
    assert_int_equal(json_array_size(two), 2);
    assert_int_equal(value_int(json_array_get(two, 0), "port", 0), 4506);
    assert_string_equal(value_str(json_array_get(two, 1), "host", ""), "::1");
    for (size_t i = 0; i < NELEMS(bad); i++) {
        fail_auto_t why = FAIL_INIT;
        json_auto_t *none = parsed(bad[i], &why);
        assert_null(none);
        assert_non_null(why.text);
    }
}

/* Each master's key has a file of its own, whose name stays where masters have hosts of their own. */
static void
test_key_files(void **state)
{
    static const char *const names[] = { "minion_master.pub", "minion_master.b.pub", "minion_master.b:2.pub",
                                         "minion_master.a.pub", "minion_master.a:2.pub" };
    static const char *const signs[] = { "master_sign.pub", "master_sign.b.pub", "master_sign.b:2.pub",
                                         "master_sign.a.pub", "master_sign.a:2.pub" };
    json_auto_t *overrides = json_pack("{s:[s, s, s, s, s], s:s, s:s}", "master", "a:1", "b:1", "b:2", "a:9",
                                       "a:2", "id", "x", "pki_dir", "/pki");
    fail_auto_t err = FAIL_INIT;

    AUTO(conf) conf = conf_load("/nonexistent", CONF_MINION, overrides, NULL, &err);
    assert_non_null(conf);
    for (size_t i = 0; i < NELEMS(names); i++) {
        AUTO_FREE char *known = NULL, *sign = NULL;
        masters_key_files(conf, i, i == 0 || i > 2 ? "a" : "b", &known, &sign);
        assert_string_equal(strrchr(known, '/') + 1, names[i]);
        assert_string_equal(strrchr(sign, '/') + 1, signs[i]);
    }
}

/* With failover the job server sees all as one. */
static void
test_masters_by_name(void **state)
{
    static const char *const rows[][2] = { { "str", "{\"a:4506\":0,\"::1:7\":1,\"b:4506\":2}" },
                                           { "failover", "{\"a:4506\":0,\"::1:7\":0,\"b:4506\":0}" },
                                           { "disable", "{}" } };
    fail_auto_t err = FAIL_INIT;

    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *values = json_pack("{s:[s, s, s], s:s, s:s}", "master", "a", "[::1]:7", "b",
                                        "master_type", rows[i][0], "id", "x");
        AUTO(conf) conf = conf_load("/nonexistent", CONF_MINION, values, NULL, &err);
        assert_non_null(conf);
        json_auto_t *by_name = masters_by_name(conf);
        AUTO_FREE char *text = value_dump(by_name);
        assert_string_equal(text, rows[i][1]);
    }
}

static void
end_child(pid_t pid)
{
    int status;

    (void) kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* The networking process, at the other end of the socket. */
static pid_t
networking(const char *dir, int fd)
{
    fail_auto_t err = FAIL_INIT;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    json_auto_t *over = json_pack("{s:s, s:s, s:s}", "master", "127.0.0.1:9", "id", "x", "root_dir", dir);
    AUTO(conf) conf = conf_load("/nonexistent", CONF_MINION, over, NULL, &err);
    AUTO(seen) seen = seen_new();
    json_auto_t *pending = json_object();
    const sessions_begin_t begin = { "boot", "boot", seen, pending };
    log_init("test", LEVEL_QUIET, false);
    _exit(conf ? sessions_main(conf, &begin, fd) : 2);
}

/* What can't be read holds up nothing that stands behind it. */
static void
test_unreadable_frames(void **state)
{
    static const char ping[] = "{\"t\":\"ping\"}";
    char dir[] = "/tmp/halite-sessions-XXXXXX";
    buf_auto_t deep = BUF_INIT, out = BUF_INIT, in = BUF_INIT;
    json_auto_t *answer = NULL;
    int ends[2];
    int64_t until = clock_mono_ms() + 120000; /* memcheck, on a machine at work */

    assert_non_null(mkdtemp(dir));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = networking(dir, ends[1]);
    (void) close(ends[1]);
    buf_puts(&deep, "{\"t\":");
    buf_fill(&deep, '[', LIMIT_FRAME_DEPTH);
    buf_fill(&deep, ']', LIMIT_FRAME_DEPTH);
    buf_putc(&deep, '}');
    for (int i = 0; i < 2000; i++)
        frame_add_text(&out, deep.data, deep.len);
    frame_add_text(&out, ping, sizeof(ping) - 1);
    assert_int_equal(send(ends[0], out.data, out.len, MSG_NOSIGNAL), out.len);
    while (!str_eq(value_str(answer, "t", ""), "pong")) {
        struct pollfd pfd = { ends[0], POLLIN, 0 };
        int64_t left = until - clock_mono_ms();
        assert_int_equal(poll(&pfd, 1, left > 0 ? (int) left : 0), 1);
        buf_reserve(&in, 4096);
        ssize_t n = recv(ends[0], in.data + in.len, 4096, 0);
        assert_true(n > 0);
        in.len += (size_t) n;
        json_decref(answer);
        answer = NULL;
        while (!str_eq(value_str(answer, "t", ""), "pong") &&
               (json_decref(answer), answer = NULL, frame_take(&in, LIMIT_LOCAL_MSG, &answer, NULL)) > 0)
            ;
    }
    end_child(pid);
    (void) close(ends[0]);
    assert_int_equal(fs_remove_tree(dir, NULL), 0);
}

UNIT_MAIN(cmocka_unit_test(test_master_parse), cmocka_unit_test(test_masters_parse),
          cmocka_unit_test(test_key_files), cmocka_unit_test(test_masters_by_name),
          cmocka_unit_test(test_unreadable_frames))
