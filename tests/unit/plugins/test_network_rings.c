/* test_network_rings.c - what ethtool prints about ring buffers. */
#include "unit/unit.h"

#include <unistd.h>

#include "plugins/exec/net/network_rings.c"
#include "unit/plugins/fakes.h"

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

/* The name of an interface, and a number, is not an option of ethtool. */
static void
test_no_options(void **state)
{
    static const char *const rows[][2] = { { "{\"iface\": \"-s\", \"kwargs\": {\"rx\": 5}}", "iface: '-s' " },
                                           { "{\"iface\": \"eth0\", \"kwargs\": {\"rx\": \"--x\"}}",
                                             "rx: '--x' " } };

    assert_int_equal(fakes_begin(), 0);
    AUTO_FREE char *ran = xasprintf("%s/ran", fakes_dir);
    AUTO_FREE char *text = xasprintf("#!/bin/sh\ntouch %s\n", ran);
    fakes_put("bin/ethtool", 0755, text);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        json_auto_t *args = json_loads(rows[i][0], 0, NULL), *ret = NULL;
        fail_auto_t err = FAIL_INIT, asked = FAIL_INIT;
        assert_int_equal(network_mod_bufsize(NULL, args, &ret, &err), -EINVAL);
        assert_true(str_starts(fail_text(&err), rows[i][1]));
        if (i == 0)
            assert_int_equal(network_get_bufsize(NULL, args, &ret, &asked), -EINVAL);
    }
    assert_int_equal(access(ran, F_OK), -1);
    fakes_end(state);
}

UNIT_MAIN(cmocka_unit_test(test_rings), cmocka_unit_test(test_no_options))
