/* test_manage.c - runners that ask the master: manage, cache, salt, event, config, test, error, doc, network.
 */
#include "unit/runners/stage.h"

#include <arpa/inet.h>
#include <netinet/in.h>

extern const plugin_t runner_cache, runner_config, runner_doc, runner_error, runner_event, runner_manage,
    runner_network, runner_salt, runner_test;

static const plugin_t *const plugins[] = { &runner_cache,   &runner_config, &runner_doc,
                                           &runner_error,   &runner_event,  &runner_manage,
                                           &runner_network, &runner_salt,   &runner_test };

#define MINIONS                                                                                              \
    "{\"minions\": {\"web2\": {\"connected\": true, \"address\": \"10.0.0.2\"}, "                            \
    "\"db1\": {\"connected\": false}, \"web1\": {\"connected\": true, \"address\": \"192.168.0.1\"}}}"

static int
setup(void **state)
{
    *state = stage_new(plugins, NELEMS(plugins));
    return 0;
}

static int
teardown(void **state)
{
    stage_t *s = *state;

    stage_destroy(&s);
    return 0;
}

static void
test_up_and_down(void **state)
{
    static const line_t script[] = {
        { "minions", MINIONS, NULL },
        { "match", "{\"minions\": [\"web2\", \"web1\", \"db1\"], \"missing\": []}", NULL }
    };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "manage.status", "[]", "{\"up\":[\"web1\",\"web2\"],\"down\":[\"db1\"]}");
    assert_call(s, "manage.up", "[]", "[\"web1\",\"web2\"]");
    assert_call(s, "manage.down", "[]", "[\"db1\"]");
    assert_call(s, "manage.up",
                "[{\"__kwarg__\": true, \"tgt\": [\"web1\"], \"tgt_type\": \"list\", \"timeout\": 5}]",
                "[\"web1\",\"web2\"]");
    assert_request(s, 1, "{\"tgt\":[\"web1\"],\"tgt_type\":\"list\",\"op\":\"match\"}");
}

static void
test_down_removes_keys(void **state)
{
    static const line_t script[] = { { "minions", MINIONS, NULL },
                                     { "match", "{\"minions\": [\"db1\"]}", NULL },
                                     { "key_apply", "{\"done\": [\"db1\"]}", NULL } };
    static const line_t refusing[] = { { "minions", MINIONS, NULL },
                                       { "match", "{\"minions\": [\"db1\"]}", NULL },
                                       { "key_apply", "!not you", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "manage.down", "[true]", "[\"db1\"]");
    assert_request(s, 0,
                   "{\"action\":\"delete\",\"ids\":[\"db1\"],\"from\":[\"minions\"],\"op\":\"key_apply\"}");
    stage_script(s, refusing);
    assert_call(s, "manage.down", "[true]", "failed: not you");
}

static void
test_presence(void **state)
{
    static const line_t script[] = { { "minions", MINIONS, NULL } };
    static const struct {
        const char *fun, *args, *result;
    } rows[] = {
        { "manage.present", "[]", "[\"web1\",\"web2\"]" },
        { "manage.alived", "[]", "[\"web1\",\"web2\"]" },
        { "manage.allowed", "[]", "[\"web1\",\"web2\"]" },
        { "manage.joined", "[]", "[\"web1\",\"web2\"]" },
        { "manage.reaped", "[]", "[\"web1\",\"web2\"]" },
        { "manage.list_state", "[]", "[\"web1\",\"web2\"]" },
        { "manage.not_present", "[]", "[\"db1\"]" },
        { "manage.not_alived", "[]", "[\"db1\"]" },
        { "manage.not_allowed", "[]", "[\"db1\"]" },
        { "manage.not_joined", "[]", "[\"db1\"]" },
        { "manage.not_reaped", "[]", "[\"db1\"]" },
        { "manage.list_not_state", "[]", "[\"db1\"]" },
        { "manage.present", "[\"10.0.0.0/8\"]", "[\"web2\"]" },
        { "manage.present", "[\"web1,db1\"]", "[\"web1\"]" },
        { "manage.present", "[[\"web1\", \"nosuch\"]]", "[\"web1\"]" },
        { "manage.present", "[[\"192.168.0.1\"]]", "[\"web1\"]" },
        { "manage.present", "[null, true]", "{\"web1\":\"192.168.0.1\",\"web2\":\"10.0.0.2\"}" },
        { "manage.not_present", "[[\"web1\"]]", "[]" },
    };
    stage_t *s = *state;

    stage_script(s, script);
    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_call(s, rows[i].fun, rows[i].args, rows[i].result);
}

static void
test_versions(void **state)
{
    static const line_t script[] = {
        { "publish",
          "{\"jid\": \"20261120094000000001\", \"minions\": [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", "
          "\"g\", \"h\"], "
          "\"missing\": []}",
          "[{\"push\": \"verdict\", \"jid\": \"20261120094000000001\", \"id\": \"e\", \"verdict\": "
          "\"not_connected\"},"
          "{\"push\": \"ret\", \"jid\": \"another\", \"id\": \"e\", \"return\": \"3006.0\", \"retcode\": 0},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"a\", \"return\": "
          "\"" HALITE_VERSION "\", \"retcode\": 0, \"success\": true},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"b\", \"return\": \"3005.10\", "
          "\"retcode\": 0},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"c\", \"return\": \"4000\", "
          "\"retcode\": 0},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"d\", \"return\": \"broken\", "
          "\"retcode\": 1},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"f\", \"return\": "
          "\"" HALITE_VERSION "\", \"retcode\": 0},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"g\", \"return\": "
          "\"" HALITE_VERSION "\", \"retcode\": 0},"
          "{\"push\": \"ret\", \"jid\": \"20261120094000000001\", \"id\": \"h\", \"return\": "
          "\"" HALITE_VERSION "\", \"retcode\": 0},"
          "{\"push\": \"done\", \"jid\": \"20261120094000000001\"}]" },
        { "minions",
          "{\"minions\": {\"a\": {\"halite\": \"" HALITE_RELEASE "\"}, \"b\": {\"halite\": \"9.0.0\"}, "
          "\"f\": {\"halite\": \"\"}, \"g\": {\"halite\": \"0.9.10\"}, \"h\": {\"halite\": "
          "\"999.0.0-rc.1\"}}}",
          NULL }
    };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "manage.versions", "[]",
                "{\"Minion offline\":{\"d\":false,\"e\":false},"
                "\"Minion requires update\":{\"b\":\"3005.10 (Halite 9.0.0)\",\"f\":\"" HALITE_VERSION
                "\",\"g\":\"" HALITE_VERSION " (Halite 0.9.10)\"},"
                "\"Up to date\":{\"a\":\"" HALITE_VERSION " (Halite " HALITE_RELEASE ")\"},"
                "\"Minion newer than master\":{\"c\":\"4000\",\"h\":\"" HALITE_VERSION
                " (Halite 999.0.0-rc.1)\"},"
                "\"Master\":\"" HALITE_VERSION " (Halite " HALITE_RELEASE ")\"}");
    assert_request(
        s, 1,
        "{\"tgt\":\"*\",\"tgt_type\":\"glob\",\"fun\":\"test.version\",\"arg\":[],\"op\":\"publish\","
        "\"follow\":true}");
}

static void
test_execute(void **state)
{
    static const line_t script[] = {
        { "publish", "{\"jid\": \"j\", \"minions\": [\"a\", \"b\"], \"missing\": []}",
          "[{\"push\": \"ret\", \"jid\": \"j\", \"id\": \"b\", \"return\": [1], \"retcode\": 0},"
          "{\"push\": \"verdict\", \"jid\": \"j\", \"id\": \"b\", \"verdict\": \"lost\"},"
          "{\"push\": \"done\", \"jid\": \"j\"}]" }
    };
    static const line_t nobody[] = { { "publish", "{\"jid\": \"\", \"minions\": []}", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(
        s, "salt.execute",
        "[\"web*\", \"cmd.run\", {\"__kwarg__\": true, \"arg\": [\"ls\"], \"kwarg\": {\"cwd\": \"/\"}, "
        "\"tgt_type\": \"compound\"}]",
        "{\"b\":[1]}");
    assert_request(
        s, 0,
        "{\"tgt\":\"web*\",\"tgt_type\":\"compound\",\"fun\":\"cmd.run\",\"arg\":[\"ls\",{\"__kwarg__\":true,"
        "\"cwd\":\"/\"}],\"op\":\"publish\",\"follow\":true}");
    assert_call(s, "salt.execute", "[\"*\", \"test.echo\", \"one\"]", "{\"b\":[1]}");
    stage_script(s, nobody);
    assert_call(s, "salt.execute", "[\"nosuch\", \"test.ping\"]", "{}");
}

/* A minion whose return never comes: the wait ends when nothing has come for the time given. */
static void
test_execute_without_news(void **state)
{
    static const line_t script[] = {
        { "publish", "{\"jid\": \"j\", \"minions\": [\"a\", \"b\"]}",
          "[{\"push\": \"verdict\", \"jid\": \"j\", \"id\": \"a\", \"verdict\": \"not_connected\"}]" }
    };
    stage_t *s = *state;
    fail_auto_t err = FAIL_INIT;
    json_t *request = stage_json(
        "{\"tgt\": \"*\", \"tgt_type\": \"glob\", \"fun\": \"test.ping\", \"arg\": []}");
    json_auto_t *value = NULL;

    stage_script(s, script);
    assert_int_equal(api_execute(s->api, &request, 50, &value, &err), 0);
    assert_null(request);
    AUTO_FREE char *text = value_dump(value);
    assert_string_equal(text,
                        "{\"a\":{\"verdict\":\"not_connected\"},\"b\":{\"verdict\":\"not_delivered\"}}");
}

/* A minion that is at work is waited for, however long it is silent. */
static void
test_execute_waits_for_work(void **state)
{
    static const line_t script[] = {
        { "publish", "{\"jid\": \"j\", \"minions\": [\"a\", \"b\"]}",
          "[{\"push\": \"verdict\", \"jid\": \"j\", \"id\": \"a\", \"verdict\": \"running\"}, null,"
          "{\"push\": \"ret\", \"jid\": \"j\", \"id\": \"a\", \"return\": 7, \"retcode\": 0, \"success\": "
          "true}]" }
    };
    stage_t *s = *state;
    fail_auto_t err = FAIL_INIT;
    json_t *request = stage_json(
        "{\"tgt\": \"*\", \"tgt_type\": \"glob\", \"fun\": \"test.ping\", \"arg\": []}");
    json_auto_t *value = NULL;

    stage_script(s, script);
    assert_int_equal(api_execute(s->api, &request, 1, &value, &err), 0);
    AUTO_FREE char *text = value_dump(value);
    assert_string_equal(text, "{\"a\":{\"verdict\":\"returned\",\"return\":7,\"retcode\":0,\"success\":true,"
                              "\"jid\":\"j\"},\"b\":{\"verdict\":\"not_delivered\"}}");
}

static void
test_cache_event_config(void **state)
{
    static const line_t script[] = { { "grains", "{\"grains\": {\"a\": {\"os\": \"Debian\"}}}", NULL },
                                     { "fire", "{\"seq\": 5}", NULL } };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "cache.grains", "[\"a\"]", "{\"a\":{\"os\":\"Debian\"}}");
    assert_request(s, 0, "{\"tgt\":\"a\",\"tgt_type\":\"glob\",\"op\":\"grains\"}");
    assert_call(s, "event.send", "[\"my/tag\", {\"k\": \"v\"}]", "true");
    assert_request(s, 0, "{\"tag\":\"my/tag\",\"data\":{\"k\":\"v\"},\"kept\":true,\"op\":\"fire\"}");
    assert_call(s, "event.send", "[\"my/tag\"]", "true");
    assert_request(s, 0, "{\"tag\":\"my/tag\",\"data\":{},\"kept\":true,\"op\":\"fire\"}");
    assert_call(s, "config.get", "[\"file_roots:base\"]", "[\"/srv/salt\"]");
    assert_call(s, "config.get", "[\"file_roots,base\", \"\", \",\"]", "[\"/srv/salt\"]");
    assert_call(s, "config.get", "[\"nosuch\"]", "\"\"");
    assert_call(s, "config.get", "[\"nosuch\", 7]", "7");
}

static void
test_test_and_error(void **state)
{
    static const struct {
        const char *fun, *args, *result;
    } rows[] = {
        { "test.arg", "[1, \"two\", {\"__kwarg__\": true, \"k\": \"v\", \"__x\": 1}]",
          "{\"args\":[1,\"two\"],\"kwargs\":{\"k\":\"v\"}}" },
        { "test.raw_arg", "[{\"__kwarg__\": true, \"__x\": 1}]", "{\"args\":[],\"kwargs\":{\"__x\":1}}" },
        { "test.metasyntactic", "[\"uk\"]", "[\"wibble\",\"wobble\",\"wubble\",\"flob\"]" },
        { "test.metasyntactic", "[\"fr\"]", "null" },
        { "test.sleep", "[0]", "true" },
        { "test.sleep", "[-1]", "invocation: sleep length must be from 0 to 2000000 seconds" },
        { "test.stdout_print", "[]", "\"bar\"" },
        { "test.get_opts", "[]", "{\"timeout\":5,\"file_roots\":{\"base\":[\"/srv/salt\"]}}" },
        { "error.error", "[]", "{}" },
        { "error.error", "[\"Exception\", \"boom\"]", "failed: Exception: boom" },
        { "error.error", "[\"CommandExecutionError\", \"boom\"]", "command: boom" },
        { "error.error", "[\"SaltInvocationError\", \"boom\"]", "invocation: boom" },
        { "nosuch.fun", "[]", "unavailable: 'nosuch.fun' is not available." },
    };
    stage_t *s = *state;

    for (size_t i = 0; i < NELEMS(rows); i++)
        assert_call(s, rows[i].fun, rows[i].args, rows[i].result);
    AUTO_FREE char *fired = value_dump(s->fired);
    assert_string_equal(
        fired, "[{\"tag\":\"salt/run/20261120094000000000/progress\",\"data\":{\"message\":\"foo\"}}]");
}

static void
test_docs(void **state)
{
    static const line_t script[] = {
        { "publish", "{\"jid\": \"j\", \"minions\": [\"a\"]}",
          "[{\"push\": \"ret\", \"jid\": \"j\", \"id\": \"a\", \"return\": "
          "{\"test.ping\": \"x\"}, \"retcode\": 0}, {\"push\": \"done\", \"jid\": \"j\"}]" }
    };
    stage_t *s = *state;

    stage_script(s, script);
    assert_call(s, "doc.execution", "[]", "{\"test.ping\":\"x\"}");
    assert_call(s, "doc.wheel", "[]", "{}");
    api_set_functions(s->api, NULL, s->registry);
    AUTO_FREE char *runners = stage_call(s, "doc.runner", "[]");
    AUTO_FREE char *wheels = stage_call(s, "doc.wheel", "[]");
    json_auto_t *docs = stage_json(runners);
    assert_non_null(strstr(value_str(docs, "manage.up", ""), "CLI Example:\n\n        salt-run manage.up\n"));
    assert_string_equal(runners, wheels);
}

static void
test_wake(void **state)
{
    stage_t *s = *state;
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(at);
    uint8_t packet[256];
    AUTO_FD fd = socket(AF_INET, SOCK_DGRAM, 0);
    static const line_t script[] = {
        { "grains",
          "{\"grains\": {\"a\": {\"hwaddr_interfaces\": {\"lo\": \"00:00:00:00:00:00\", "
          "\"eth0\": \"aa:bb:cc:dd:ee:ff\"}}}}",
          NULL }
    };

    assert_int_equal(bind(fd, (struct sockaddr *) &at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *) &at, &len), 0);
    AUTO_FREE char *args = xasprintf("[\"08-00-27-13-69-77\", \"127.0.0.1\", %d]", ntohs(at.sin_port));
    assert_call(s, "network.wol", args, "true");
    assert_int_equal(recv(fd, packet, sizeof(packet), 0), 102);
    assert_memory_equal(packet, "\xff\xff\xff\xff\xff\xff\x08\x00\x27\x13\x69\x77", 12);
    assert_memory_equal(packet + 96, "\x08\x00\x27\x13\x69\x77", 6);
    stage_script(s, script);
    AUTO_FREE char *match = xasprintf("[\"a\", \"glob\", \"127.0.0.1\", %d]", ntohs(at.sin_port));
    assert_call(s, "network.wolmatch", match, "[\"aa:bb:cc:dd:ee:ff\"]");
    assert_int_equal(recv(fd, packet, sizeof(packet), 0), 102);
    assert_call(s, "network.wol", "[\"08-00:27-13-69-77\"]",
                "invocation: Invalid MAC address: 08-00:27-13-69-77");
    assert_call(s, "network.wol", "[\"0800271369\"]", "invocation: Invalid MAC address: 0800271369");
    assert_call(s, "network.wol", "[\"080027136977\", \"nowhere\"]",
                "invocation: nowhere port 9 is not an IPv4 address and port");
    AUTO_FREE char *list = fs_join(s->dir, "macs");
    assert_int_equal(fs_write_quick(list, "080027136977\n\n 080027136978 \n", 29, 0600, NULL), 0);
    AUTO_FREE char *list_args = xasprintf("[\"%s\", \"127.0.0.1\", %d]", list, ntohs(at.sin_port));
    assert_call(s, "network.wollist", list_args, "[\"080027136977\",\"080027136978\"]");
    AUTO_FREE char *none = stage_call(s, "network.wollist", "[\"/nonexistent/macs\"]");
    assert_non_null(strstr(none, "Failed to open the MAC file. Error: "));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(test_up_and_down, setup, teardown),
          cmocka_unit_test_setup_teardown(test_down_removes_keys, setup, teardown),
          cmocka_unit_test_setup_teardown(test_presence, setup, teardown),
          cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
          cmocka_unit_test_setup_teardown(test_execute, setup, teardown),
          cmocka_unit_test_setup_teardown(test_execute_without_news, setup, teardown),
          cmocka_unit_test_setup_teardown(test_execute_waits_for_work, setup, teardown),
          cmocka_unit_test_setup_teardown(test_cache_event_config, setup, teardown),
          cmocka_unit_test_setup_teardown(test_test_and_error, setup, teardown),
          cmocka_unit_test_setup_teardown(test_docs, setup, teardown),
          cmocka_unit_test_setup_teardown(test_wake, setup, teardown))
