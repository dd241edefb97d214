/* test_ipaddr.c - answers recorded from Python's ipaddress. */
#include "unit/unit.h"

#include "common/data/ipaddr.h"
#include "salt/value.h"

static const char *
wanted(json_t *row, const char *key)
{
    const char *text = value_str(row, key, NULL);

    assert_non_null(text);
    return text;
}

static void
test_addresses(void **state)
{
    static const struct {
        const char *key;
        bool (*is)(const ip_t *ip);
    } kinds[] = { { "loopback", ip_is_loopback },   { "private", ip_is_private },
                  { "multicast", ip_is_multicast }, { "link_local", ip_is_link_local },
                  { "reserved", ip_is_reserved },   { "unspecified", ip_is_unspecified } };
    json_auto_t *file = json_load_file(TEST_SOURCE_DIR "/tests/cases/ipaddr/python.json", 0, NULL);
    json_t *row;
    size_t i;

    assert_true(json_array_size(json_object_get(file, "addresses")) > 0);
    json_array_foreach (json_object_get(file, "addresses"), i, row) {
        fail_auto_t err = FAIL_INIT;
        ip_t ip;
        if (ip_parse(value_str(row, "address", ""), &ip, &err) != 0) {
            assert_string_equal(fail_text(&err), wanted(row, "error"));
            continue;
        }
        AUTO_FREE char *text = ip_text(&ip), *reverse = ip_reverse(&ip);
        assert_string_equal(text, wanted(row, "text"));
        if (value_get(row, "reverse") != NULL)
            assert_string_equal(reverse, wanted(row, "reverse"));
        for (size_t k = 0; k < NELEMS(kinds); k++) {
            if (kinds[k].is(&ip) != value_bool(row, kinds[k].key, false))
                fail_msg("%s %s", text, kinds[k].key);
        }
    }
}

static void
expect_ip(ip_t ip, const char *want)
{
    AUTO_FREE char *text = ip_text(&ip);

    assert_string_equal(text, want);
}

static void
test_networks(void **state)
{
    static const char *const probes[] = { "10.1.2.3", "1.2.3.5", "::1", "2001:db8::5" };
    json_auto_t *file = json_load_file(TEST_SOURCE_DIR "/tests/cases/ipaddr/python.json", 0, NULL);
    json_t *row;
    size_t i;

    json_array_foreach (json_object_get(file, "networks"), i, row) {
        fail_auto_t err = FAIL_INIT;
        ipnet_t net;
        json_auto_t *found = json_array();
        if (ipnet_parse(value_str(row, "network", ""), value_bool(row, "strict", true), &net, &err) != 0) {
            assert_string_equal(fail_text(&err), wanted(row, "error"));
            continue;
        }
        AUTO_FREE char *text = ipnet_text(&net);
        assert_string_equal(text, wanted(row, "text"));
        expect_ip(ipnet_first(&net), wanted(row, "first"));
        expect_ip(ipnet_last(&net), wanted(row, "last"));
        expect_ip(ipnet_mask(&net), wanted(row, "mask"));
        for (size_t k = 0; k < NELEMS(probes); k++) {
            ip_t ip;
            assert_int_equal(ip_parse(probes[k], &ip, NULL), 0);
            if (ipnet_contains(&net, &ip))
                json_array_append_new(found, json_string(probes[k]));
        }
        assert_true(json_equal(found, value_get(row, "contains")));
    }
}

static void
test_order(void **state)
{
    ipnet_t a, b;

    assert_int_equal(ipnet_parse("10.0.0.0/8", true, &a, NULL), 0);
    assert_int_equal(ipnet_parse("10.0.0.0/9", true, &b, NULL), 0);
    assert_true(ipnet_cmp(&a, &b) < 0);
    assert_int_equal(ipnet_parse_interface("10.0.0.7/9", &a, NULL), 0);
    assert_true(ipnet_cmp(&a, &b) > 0);
}

UNIT_MAIN(cmocka_unit_test(test_addresses), cmocka_unit_test(test_networks), cmocka_unit_test(test_order))
