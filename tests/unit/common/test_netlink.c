/* test_netlink.c - the loopback interface and its routes, which every network namespace has. */
#include "unit/unit.h"

#include "common/host/netlink.h"
#include "salt/value.h"

static void
test_loopback(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *all = netlink_interfaces(&err);

    if (all == NULL)
        fail_msg("%s", fail_text(&err));
    json_t *lo = json_object_get(all, "lo");
    assert_non_null(lo);
    assert_string_equal(value_str(lo, "hwaddr", ""), "00:00:00:00:00:00");
    if (!value_bool(lo, "up", false))
        skip();
    json_t *inet = json_array_get(json_object_get(lo, "inet"), 0);
    assert_string_equal(value_str(inet, "address", ""), "127.0.0.1");
    assert_string_equal(value_str(inet, "netmask", ""), "255.0.0.0");
    assert_string_equal(value_str(inet, "label", ""), "lo");
    assert_true(json_is_null(json_object_get(inet, "broadcast")));
}

static void
test_way_to_loopback(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *way = netlink_get_route("127.0.0.1", &err);

    if (way == NULL)
        fail_msg("%s", fail_text(&err));
    assert_string_equal(value_str(way, "interface", ""), "lo");
    assert_string_equal(value_str(way, "source", ""), "127.0.0.1");
    assert_true(json_is_null(json_object_get(way, "gateway")));
}

static void
test_bad_address(void **state)
{
    fail_auto_t err = FAIL_INIT;

    assert_null(netlink_get_route("no address", &err));
    assert_int_equal(err.code, -EINVAL);
}

static void
test_routes_have_all_members(void **state)
{
    static const char *const names[] = { "addr_family", "destination", "gateway",
                                         "netmask",     "flags",       "interface" };
    json_auto_t *routes = netlink_routes(NULL);
    json_t *row;
    size_t i;

    assert_non_null(routes);
    json_array_foreach (routes, i, row) {
        for (size_t k = 0; k < NELEMS(names); k++)
            assert_true(json_is_string(json_object_get(row, names[k])));
    }
}

UNIT_MAIN(cmocka_unit_test(test_loopback), cmocka_unit_test(test_way_to_loopback),
          cmocka_unit_test(test_bad_address), cmocka_unit_test(test_routes_have_all_members))
