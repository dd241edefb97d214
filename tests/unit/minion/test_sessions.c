/* test_sessions.c - where the option `master` points to. */
#include "common/base/str.h"
#include "common/conf/conf.h"
#include "minion/sessions.h"
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

    (void) state;
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

    (void) state;
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

UNIT_MAIN(cmocka_unit_test(test_master_parse), cmocka_unit_test(test_masters_parse))
