/* test_api_settings.c - the section rest_cherrypy: what is refused, what is warned about, who may come from where. */
#include "api/settings.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
test_refused(void **state)
{
    static const struct {
        const char *opts, *error; /* a part of the error; NULL: it is taken */
    } cases[] = {
        { "{}", "no section rest_cherrypy" },
        { "{\"rest_cherrypy\": {\"host\": \"127.0.0.1\"}}", "port is wanted" },
        { "{\"rest_cherrypy\": {\"port\": 70000}}", "not from 1 to 65535" },
        { "{\"rest_cherrypy\": {\"port\": \"8000\"}}", "a number is wanted" },
        { "{\"rest_cherrypy\": {\"port\": 8000}}", "ssl_crt and ssl_key" },
        { "{\"rest_cherrypy\": {\"port\": 8000, \"disable_ssl\": true}}", "in the clear" },
        { "{\"rest_cherrypy\": {\"port\": 8000, \"disable_ssl\": true, \"host\": \"127.0.0.1\"}}", NULL },
        { "{\"rest_cherrypy\": {\"port\": 8000, \"disable_ssl\": true, \"host\": \"::1\"}}", NULL },
        { "{\"rest_cherrypy\": {\"port\": 8000, \"disable_ssl\": true, \"host\": \"127.example.com\"}}",
          "in the clear" },
        { "{\"rest_cherrypy\": {\"port\": 8000, \"ssl_crt\": \"/c\", \"ssl_key\": \"/k\"}}", NULL },
        { "{\"rest_tornado\": {\"port\": 8000, \"ssl_crt\": \"/c\", \"ssl_key\": \"/k\"}}", NULL },
    };

    for (size_t i = 0; i < NELEMS(cases); i++) {
        fail_auto_t err = FAIL_INIT;
        json_auto_t *opts = json_loads(cases[i].opts, 0, NULL), *warnings = json_array();
        AUTO(settings) self = settings_new(opts, warnings, &err);
        print_message("%s\n", cases[i].opts);
        assert_int_equal(self != NULL, cases[i].error == NULL);
        if (cases[i].error != NULL)
            assert_non_null(strstr(fail_text(&err), cases[i].error));
    }
}

static void
test_warnings(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *opts = json_loads(
                    "{\"rest_cherrypy\": {\"port\": 8000, \"ssl_crt\": \"/c\", \"ssl_key\": \"/k\","
                    "\"thread_pool\": 50, \"statik\": \"/x\", \"root_prefix\": \"/api/\"},"
                    "\"netapi_enable_clients\": [\"local\", \"runner\", \"x\"],"
                    "\"netapi_disable_clients\": \"runner\"}",
                    0, NULL),
                *warnings = json_array();
    AUTO(settings) self = settings_new(opts, warnings, &err);

    assert_non_null(self);
    assert_int_equal(json_array_size(warnings), 2);
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 0)), "thread_pool"));
    assert_non_null(strstr(json_string_value(json_array_get(warnings, 1)), "'static'"));
    assert_string_equal(self->prefix, "/api");
    assert_int_equal(json_array_size(self->clients), 1);
    assert_true(value_lists(self->clients, "local"));
}

static void
test_admits(void **state)
{
    fail_auto_t err = FAIL_INIT;
    json_auto_t *opts = json_loads(
                    "{\"rest_cherrypy\": {\"port\": 8000, \"ssl_crt\": \"/c\", \"ssl_key\": \"/k\","
                    "\"authorized_ips\": [\"192.0.2.1\", \"192.0.2.2\", \"2001:db8::1\"],"
                    "\"api_acl\": {\"users\": {\"*\": [\"192.0.2.1\"], \"jane\": [\"*\"], \"joe\": []}}}}",
                    0, NULL),
                *warnings = json_array();
    AUTO(settings) self = settings_new(opts, warnings, &err);

    assert_non_null(self);
    assert_true(settings_admits(self, NULL, "192.0.2.2"));
    assert_false(settings_admits(self, NULL, "192.0.2.3"));
    assert_true(settings_admits(self, "jane", "192.0.2.2"));
    assert_false(settings_admits(self, "jane", "192.0.2.3"));
    assert_false(settings_admits(self, "jim", "192.0.2.2"));
    assert_true(settings_admits(self, "jim", "192.0.2.1"));
    assert_false(settings_admits(self, "joe", "192.0.2.1"));
    assert_true(settings_admits(self, "jane", "2001:db8::1"));
}

UNIT_MAIN(cmocka_unit_test(test_refused), cmocka_unit_test(test_warnings), cmocka_unit_test(test_admits))
