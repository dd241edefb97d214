/* test_network_rings.c - what ethtool prints about ring buffers. */
#include "unit/unit.h"

#include "plugins/exec/net/network_rings.c"

static void
test_rings(void **state)
{
    char **lines = str_split(
        "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t4096\nRX Mini:\t0\nCurrent hardware "
        "settings:\nRX:\t\t256\nTX:\t\t512",
        "\n", true);
    json_auto_t *out = json_object();

    parse_rings(lines, out);
    strv_free(lines);
    assert_int_equal(value_int(out, "rx-max", -1), 4096);
    assert_int_equal(value_int(out, "rx-mini-max", -1), 0);
    assert_int_equal(value_int(out, "rx", -1), 256);
    assert_int_equal(value_int(out, "tx", -1), 512);
    assert_true(value_bool(out, "result", false));
}

UNIT_MAIN(cmocka_unit_test(test_rings))
