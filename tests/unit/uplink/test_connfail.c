/* test_connfail.c - from facts to the sentence that says why there is no connection, and how often it is
 * said. */
#include <netdb.h>

#include "uplink/connfail.h"
#include "common/base/str.h"
#include "unit/unit.h"

#define FINGER "aa:bb:cc"

static const int ports[KNOCK_PORTS] = { 4506, 4505, 4507 };

static char *
sentence(connfail_why_t why, const char *detail)
{
    return connfail_sentence(&(connfail_facts_t){
        .why = why, .host = "hub", .port = 4506, .id = "web1", .finger = FINGER, .detail = detail });
}

/* What each has to name. */
static void
test_every_reason(void **state)
{
    static const struct {
        connfail_why_t why;
        const char *says[3]; /* NULL: no more */
    } rows[] = {
        { CONNFAIL_NAME, { "can't be resolved: DETAIL", "getent hosts hub", "master" } },
        { CONNFAIL_RESOLVER, { "no answer", "getent hosts hub", "/etc/resolv.conf" } },
        { CONNFAIL_NOTHING, { "hub:4506: DETAIL", "systemctl start salt-master", "master_port" } },
        { CONNFAIL_TIMEOUT, { "hub:4506: DETAIL", "firewall", NULL } },
        { CONNFAIL_NO_ROUTE, { "hub:4506: DETAIL", "ip route", NULL } },
        { CONNFAIL_LOCAL, { "hub:4506: DETAIL", "source_address", NULL } },
        { CONNFAIL_NO_HELLO, { "DETAIL", "master.pub", "minion_master.pub" } },
        { CONNFAIL_SILENT, { "hub:4506", "says nothing", "ss -tlnp" } },
        { CONNFAIL_SALT,
          { "a Salt master, not Halite, answers at hub:4506", "Install Halite", "option master" } },
        { CONNFAIL_FOREIGN, { "another program answers at hub:4506DETAIL", "ss -tlnp", NULL } },
        { CONNFAIL_PENDING, { FINGER, "salt-key -a web1; DETAIL", "salt-key -f web1" } },
        { CONNFAIL_REJECTED, { FINGER, "salt-key -a web1 --include-rejected", "salt-key -d web1" } },
        { CONNFAIL_BARRED, { FINGER, "salt-key -L", "salt-key -a web1 --include-rejected" } },
        { CONNFAIL_DENIED, { "web1", "DETAIL", FINGER } },
        { CONNFAIL_DUPLICATE, { "DETAIL", NULL, NULL } },
        { CONNFAIL_FULL, { "DETAIL", "salt-key -L", NULL } },
        { CONNFAIL_PROTOCOL, { "DETAIL", NULL, NULL } },
        { CONNFAIL_STRANGER, { "DETAIL", NULL, NULL } },
    };

    assert_int_equal(NELEMS(rows), CONNFAIL_WHYS);
    for (size_t i = 0; i < NELEMS(rows); i++) {
        AUTO_FREE char *text = sentence(rows[i].why, "DETAIL");
        assert_int_equal(rows[i].why, i);
        assert_null(strchr(text, '{'));
        assert_null(strchr(text, '\n'));
        for (size_t k = 0; k < NELEMS(rows[i].says) && rows[i].says[k] != NULL; k++)
            if (strstr(text, rows[i].says[k]) == NULL)
                fail_msg("'%s' is not in: %s", rows[i].says[k], text);
    }
}

static void
test_a_fact_is_no_place(void **state)
{
    AUTO_FREE char *text = sentence(CONNFAIL_STRANGER, "{finger} {nosuch} {");

    assert_string_equal(text, "{finger} {nosuch} {");
}

static void
test_no_words_of_the_master(void **state)
{
    AUTO_FREE char *text = sentence(CONNFAIL_PENDING, "");

    assert_string_equal(text + strlen(text) - strlen("salt-key -a web1"), "salt-key -a web1");
}

static void
test_welcomes(void **state)
{
    assert_int_equal(connfail_of_welcome("pending"), CONNFAIL_PENDING);
    assert_int_equal(connfail_of_welcome("rejected"), CONNFAIL_REJECTED);
    assert_int_equal(connfail_of_welcome("denied"), CONNFAIL_DENIED);
    assert_int_equal(connfail_of_welcome("duplicate"), CONNFAIL_DUPLICATE);
    assert_int_equal(connfail_of_welcome("full"), CONNFAIL_FULL);
    assert_int_equal(connfail_of_welcome("nosuch"), CONNFAIL_DENIED);
}

static void
test_looks(void **state)
{
    static const struct {
        knock_said_t said;
        bool asks;
        int why;            /* -1: nothing is wrong */
        const char *detail; /* NULL: none */
    } rows[] = {
        { { .name = EAI_NONAME }, false, CONNFAIL_NAME, "Name or service not known" },
        { { .code = { ECONNREFUSED, ECONNREFUSED, 0 } },
          false,
          CONNFAIL_NOTHING,
          "port 4506: Connection refused (ECONNREFUSED), port 4505: Connection refused (ECONNREFUSED)" },
        { { .code = { ETIMEDOUT, 0, 0 } },
          true,
          CONNFAIL_TIMEOUT,
          "port 4506: Connection timed out (ETIMEDOUT)" },
        { { .code = { EHOSTUNREACH, 0, 0 } },
          false,
          CONNFAIL_NO_ROUTE,
          "port 4506: No route to host (EHOSTUNREACH)" },
        { { .code = { EACCES, 0, 0 } }, false, CONNFAIL_LOCAL, "port 4506: Permission denied (EACCES)" },
        { { .greets = KNOCK_NOT }, false, CONNFAIL_SILENT, NULL },
        { { .greets = KNOCK_FOREIGN }, false, CONNFAIL_FOREIGN, NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "NULL", .code = { 0, 0, ECONNREFUSED } },
          true,
          CONNFAIL_SALT,
          NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "PLAIN" },
          false,
          CONNFAIL_FOREIGN,
          " (ZeroMQ with the mechanism PLAIN)" },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE", .code = { 0, 0, ECONNREFUSED } },
          true,
          CONNFAIL_NO_HELLO,
          "port 4507: Connection refused (ECONNREFUSED)" },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE", .code = { 0, 0, ECONNREFUSED } }, false, -1, NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE" }, true, -1, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        connfail_facts_t facts = { .why = CONNFAIL_WHYS };
        AUTO_FREE char *detail = NULL;
        bool wrong = connfail_of_knock(&rows[i].said, ports, rows[i].asks, &facts, &detail);
        assert_int_equal(wrong, rows[i].why >= 0);
        if (wrong)
            assert_int_equal(facts.why, rows[i].why);
        if (rows[i].detail != NULL)
            assert_string_equal(detail, rows[i].detail);
        else
            assert_null(detail);
    }
}

/* At once when it is new, then after two minutes, four, ... an hour. */
static void
test_telling(void **state)
{
    connfail_log_t told = CONNFAIL_LOG_INIT;
    int64_t now = 1000, last = 1000;
    int n = 0;

    assert_true(connfail_log_due(&told, "a", now));
    for (; now < 1000 + 15 * 60 * 1000; now += 1000)
        if (connfail_log_due(&told, "a", now)) {
            n++;
            last = now;
        }
    assert_int_equal(n, 3);
    assert_int_equal(last, 1000 + (2 + 4 + 8) * 60 * 1000);
    assert_true(connfail_log_due(&told, "b", now));
    assert_false(connfail_log_due(&told, "b", now + 1000));
    connfail_log_reset(&told);
    assert_true(connfail_log_due(&told, "b", now + 2000));
    connfail_log_reset(&told);
}

static void
test_two_in_turn(void **state)
{
    connfail_log_t told = CONNFAIL_LOG_INIT;
    int n = 0;

    for (int i = 0; i < 600; i++)
        n += connfail_log_due(&told, i % 2 == 0 ? "a" : "b", 1000 + 1000 * i);
    assert_in_range(n, 12, 20);
    connfail_log_reset(&told);
}

UNIT_MAIN(cmocka_unit_test(test_every_reason), cmocka_unit_test(test_a_fact_is_no_place),
          cmocka_unit_test(test_no_words_of_the_master), cmocka_unit_test(test_welcomes),
          cmocka_unit_test(test_looks), cmocka_unit_test(test_telling), cmocka_unit_test(test_two_in_turn))
