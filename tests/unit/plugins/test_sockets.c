/* test_sockets.c - lines of /proc/net/tcp and tcp6 as the kernel writes them (little-endian hosts). */
#include "unit/unit.h"

#include "plugins/lib/system/sockets.h"

static const struct {
    const char *line, *local, *remote, *state;
    unsigned local_port, remote_port, uid;
    unsigned long inode;
} rows[] = {
    { "   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   103        0 17331 1 x",
      "127.0.0.1", "0.0.0.0", "LISTEN", 3306, 0, 103, 17331 },
    { "  12: 020200C0:0016 010200C0:D431 01 00000000:00000000 02:000A7B2C 00000000     0        0 90210 2 x",
      "192.0.2.2", "192.0.2.1", "ESTABLISHED", 22, 54321, 0, 90210 },
    { "   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A "
      "00000000:00000000 "
      "00:00000000 00000000    33        0 55 1 x",
      "::1", "::", "LISTEN", 80, 0, 33, 55 },
    { "   2: 0000000000000000FFFF0000020200C0:0050 0000000000000000FFFF0000010200C0:D431 01 "
      "00000000:00000000 "
      "00:00000000 00000000    33        0 56 1 x",
      "192.0.2.2", "192.0.2.1", "ESTABLISHED", 80, 54321, 33, 56 },
};

static void
test_lines(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        sock_row_t row;
        assert_true(sock_parse(rows[i].line, &row));
        assert_string_equal(row.local, rows[i].local);
        assert_string_equal(row.remote, rows[i].remote);
        assert_string_equal(sock_state(row.state), rows[i].state);
        assert_int_equal(row.local_port, rows[i].local_port);
        assert_int_equal(row.remote_port, rows[i].remote_port);
        assert_int_equal(row.uid, rows[i].uid);
        assert_int_equal(row.inode, rows[i].inode);
    }
}

static void
test_other_lines(void **state)
{
    sock_row_t row;

    assert_false(sock_parse("  sl  local_address rem_address   st tx_queue rx_queue tr", &row));
    assert_false(sock_parse("", &row));
    assert_string_equal(sock_state(99), "");
}

UNIT_MAIN(cmocka_unit_test(test_lines), cmocka_unit_test(test_other_lines))
