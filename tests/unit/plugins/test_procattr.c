/* test_procattr.c - a process that we are: its sockets and what it has mapped. */
#include "unit/no_files.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugins/lib/system/procattr.h"
#include "salt/value.h"

static json_t *
attribute(const char *name)
{
    procfs_proc_t me;
    fail_auto_t err = FAIL_INIT;
    json_auto_t *names = json_pack("[s]", name), *out = json_object();
    assert_true(procfs_proc(getpid(), &me, NULL) > 0);
    assert_int_equal(procattr_add(&me, names, out, &err), 0);
    return json_incref(value_get(out, name));
}

static int
listening(int *ret_port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *) &a, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &a, &len), 0);
    *ret_port = ntohs(a.sin_port);
    return fd;
}

static void
test_connections(void **state)
{
    int port, fd = listening(&port);
    json_auto_t *list = attribute("connections");
    json_auto_t *want = json_pack("[i, i, i, [s, i], [], s]", fd, AF_INET, SOCK_STREAM, "127.0.0.1", port,
                                  "LISTEN");
    bool found = false;
    for (size_t i = 0; i < json_array_size(list); i++)
        found = found || json_equal(json_array_get(list, i), want);
    (void) close(fd);
    assert_true(found);
}

static void
test_memory_maps(void **state)
{
    char me[4096] = "";
    json_auto_t *list = attribute("memory_maps");
    bool found = false;
    assert_true(readlink("/proc/self/exe", me, sizeof(me) - 1) > 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *row = json_array_get(list, i);
        assert_int_equal(json_array_size(row), 11);
        if (strcmp(json_string_value(json_array_get(row, 0)), me) != 0)
            continue;
        assert_false(found); /* once for a file, however often it is mapped */
        found = true;
        assert_true(json_integer_value(json_array_get(row, 1)) > 0);
        assert_true(json_integer_value(json_array_get(row, 2)) >= json_integer_value(json_array_get(row, 1)));
    }
    assert_true(found);
}

static void
test_ionice(void **state)
{
    json_auto_t *pair = attribute("ionice");
    assert_int_equal(json_array_size(pair), 2);
}

/* A limit of open files says nothing about the process. */
static void
test_no_files(void **state)
{
    static const char *const names[] = { "cmdline",         "connections",      "create_time", "environ",
                                         "io_counters",     "memory_full_info", "memory_info", "memory_maps",
                                         "num_fds",         "memory_percent",   "open_files",  "threads",
                                         "num_ctx_switches" };
    procfs_proc_t me;

    assert_true(procfs_proc(getpid(), &me, NULL) > 0);
    for (size_t i = 0; i < NELEMS(names); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *one = json_pack("[s]", names[i]), *out = json_object();
        no_files_begin();
        int rc = procattr_add(&me, one, out, &err);
        no_files_end();
        if (rc != -EMFILE || strstr(fail_text(&err), "/proc/") == NULL)
            fail_msg("%s: %d, %s", names[i], rc, fail_text(&err));
    }
}

UNIT_MAIN(cmocka_unit_test(test_no_files), cmocka_unit_test(test_connections),
          cmocka_unit_test(test_memory_maps), cmocka_unit_test(test_ionice))
