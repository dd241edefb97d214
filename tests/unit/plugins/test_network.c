/* test_network.c - what the functions about names and hosts read and write as text. */
#include "unit/unit.h"

#include <sys/stat.h>

#include "plugins/exec/net/network_hosts.c"

static void
test_hosts(void **state)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        { "127.0.0.1\tlocalhost\n127.0.1.1 old old.example # old\n",
          "127.0.0.1\tlocalhost\n127.0.1.1 new old.example # old\n" },
        { "# old\n1.2.3.4 old", "# old\n1.2.3.4 new" },
        { "1.2.3.4 older cold old2\n", "1.2.3.4 older cold old2\n" },
        { "", "" },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        buf_auto_t out = BUF_INIT;
        rename_in_hosts(rows[i].before, "old", "new", &out);
        assert_string_equal(buf_str(&out), rows[i].after);
    }
}

/* /etc/hosts may be a link, to a file that several containers share. */
static void
test_hosts_by_link(void **state)
{
    char dir[] = "/tmp/halite-hosts-XXXXXX";
    static const char before[] = "127.0.1.1 old\n";
    fail_auto_t err = FAIL_INIT;
    buf_auto_t text = BUF_INIT;
    struct stat st;

    assert_non_null(mkdtemp(dir));
    AUTO_FREE char *hosts = fs_join(dir, "hosts"), *real = fs_join(dir, "real");
    assert_int_equal(fs_write_quick(real, before, strlen(before), 0640, &err), 0);
    assert_int_equal(symlink("real", hosts), 0);
    assert_int_equal(rewrite_hosts(hosts, "old", "new", &err), 0);
    assert_int_equal(lstat(hosts, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(fs_read(real, 4096, &text, &err), 0);
    assert_string_equal(buf_str(&text), "127.0.1.1 new\n");
    assert_int_equal(stat(real, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(fs_remove_tree(dir, &err), 0);
}

static void
test_traceroute_lines(void **state)
{
    json_auto_t *hop = trace_row(" 3  gw.example (192.0.2.1)  0.361 ms  0.381 ms  0.410 ms");
    json_auto_t *silent = trace_row(" 4  * * *"), *other = trace_row("!H something else");

    assert_int_equal(value_int(hop, "count", 0), 3);
    assert_string_equal(value_str(hop, "hostname", ""), "gw.example");
    assert_string_equal(value_str(hop, "ip", ""), "192.0.2.1");
    assert_true(value_num(hop, "ms3", 0) > 0.40);
    assert_string_equal(value_str(silent, "hostname", ""), "*");
    assert_int_equal(json_object_size(other), 0);
}

static void
test_hardware_addresses(void **state)
{
    static const char *const good[] = { "08-00-27-13-69-77", "08:00:27:13:69:77", "080027136977" };
    static const char *const bad[] = { "", "08:00:27-13:69:77", "0g0027136977", "0800271369",
                                       "08:00:27:13:69:7" };
    static const uint8_t want[6] = { 0x08, 0x00, 0x27, 0x13, 0x69, 0x77 };
    uint8_t mac[6];

    for (size_t i = 0; i < NELEMS(good); i++) {
        assert_true(network_hosts_parse_mac(good[i], mac));
        assert_memory_equal(mac, want, sizeof(want));
    }
    for (size_t i = 0; i < NELEMS(bad); i++)
        assert_false(network_hosts_parse_mac(bad[i], mac));
}

static void
test_hosts_are_words(void **state)
{
    AUTO_FREE char *host = sanitize_host("a b;$(reboot)\n-x.example_1");

    assert_string_equal(host, "abreboot-x.example_1");
}

UNIT_MAIN(cmocka_unit_test(test_hosts), cmocka_unit_test(test_hosts_by_link),
          cmocka_unit_test(test_traceroute_lines), cmocka_unit_test(test_hardware_addresses),
          cmocka_unit_test(test_hosts_are_words))
