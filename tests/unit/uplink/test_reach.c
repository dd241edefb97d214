/* test_reach.c - from facts to the sentence that says why there is no connection, and how often it is said. */
#include <netdb.h>

#include "uplink/reach.h"
#include "common/base/str.h"
#include "unit/unit.h"

#define FINGER "aa:bb:cc"

static const int ports[KNOCK_PORTS] = { 4506, 4505, 4507 };

static char *
sentence(reach_why_t why, const char *detail)
{
    return reach_sentence(&(reach_facts_t){
        .why = why, .host = "hub", .port = 4506, .id = "web1", .finger = FINGER, .detail = detail });
}

/* What each has to name. */
static void
test_every_reason(void **state)
{
    static const struct {
        reach_why_t why;
        const char *says[3]; /* NULL: no more */
    } rows[] = {
        { REACH_NAME, { "can't be resolved: DETAIL", "getent hosts hub", "master" } },
        { REACH_RESOLVER, { "no answer", "getent hosts hub", "/etc/resolv.conf" } },
        { REACH_NOTHING, { "hub:4506: DETAIL", "systemctl start salt-master", "master_port" } },
        { REACH_TIMEOUT, { "hub:4506: DETAIL", "firewall", NULL } },
        { REACH_NO_ROUTE, { "hub:4506: DETAIL", "ip route", NULL } },
        { REACH_LOCAL, { "hub:4506: DETAIL", "source_address", NULL } },
        { REACH_NO_HELLO, { "DETAIL", "master.pub", "minion_master.pub" } },
        { REACH_SILENT, { "hub:4506", "says nothing", "ss -tlnp" } },
        { REACH_SALT,
          { "a Salt master, not Halite, answers at hub:4506", "Install Halite", "option master" } },
        { REACH_FOREIGN, { "another program answers at hub:4506DETAIL", "ss -tlnp", NULL } },
        { REACH_PENDING, { FINGER, "salt-key -a web1; DETAIL", "salt-key -f web1" } },
        { REACH_REJECTED, { FINGER, "salt-key -a web1 --include-rejected", "salt-key -d web1" } },
        { REACH_BARRED, { FINGER, "salt-key -L", "salt-key -a web1 --include-rejected" } },
        { REACH_DENIED, { "web1", "DETAIL", FINGER } },
        { REACH_DUPLICATE, { "DETAIL", NULL, NULL } },
        { REACH_FULL, { "DETAIL", "salt-key -L", NULL } },
        { REACH_PROTOCOL, { "DETAIL", NULL, NULL } },
        { REACH_STRANGER, { "DETAIL", NULL, NULL } },
    };

    assert_int_equal(NELEMS(rows), REACH_WHYS);
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
    AUTO_FREE char *text = sentence(REACH_STRANGER, "{finger} {nosuch} {");

    assert_string_equal(text, "{finger} {nosuch} {");
}

static void
test_no_words_of_the_master(void **state)
{
    AUTO_FREE char *text = sentence(REACH_PENDING, "");

    assert_string_equal(text + strlen(text) - strlen("salt-key -a web1"), "salt-key -a web1");
}

static void
test_welcomes(void **state)
{
    assert_int_equal(reach_of_welcome("pending"), REACH_PENDING);
    assert_int_equal(reach_of_welcome("rejected"), REACH_REJECTED);
    assert_int_equal(reach_of_welcome("denied"), REACH_DENIED);
    assert_int_equal(reach_of_welcome("duplicate"), REACH_DUPLICATE);
    assert_int_equal(reach_of_welcome("full"), REACH_FULL);
    assert_int_equal(reach_of_welcome("nosuch"), REACH_DENIED);
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
        { { .name = EAI_NONAME }, false, REACH_NAME, "Name or service not known" },
        { { .code = { ECONNREFUSED, ECONNREFUSED, 0 } },
          false,
          REACH_NOTHING,
          "port 4506: Connection refused (ECONNREFUSED), port 4505: Connection refused (ECONNREFUSED)" },
        { { .code = { ETIMEDOUT, 0, 0 } },
          true,
          REACH_TIMEOUT,
          "port 4506: Connection timed out (ETIMEDOUT)" },
        { { .code = { EHOSTUNREACH, 0, 0 } },
          false,
          REACH_NO_ROUTE,
          "port 4506: No route to host (EHOSTUNREACH)" },
        { { .code = { EACCES, 0, 0 } }, false, REACH_LOCAL, "port 4506: Permission denied (EACCES)" },
        { { .greets = KNOCK_NOT }, false, REACH_SILENT, NULL },
        { { .greets = KNOCK_FOREIGN }, false, REACH_FOREIGN, NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "NULL", .code = { 0, 0, ECONNREFUSED } },
          true,
          REACH_SALT,
          NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "PLAIN" },
          false,
          REACH_FOREIGN,
          " (ZeroMQ with the mechanism PLAIN)" },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE", .code = { 0, 0, ECONNREFUSED } },
          true,
          REACH_NO_HELLO,
          "port 4507: Connection refused (ECONNREFUSED)" },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE", .code = { 0, 0, ECONNREFUSED } }, false, -1, NULL },
        { { .greets = KNOCK_ZMTP, .mechanism = "CURVE" }, true, -1, NULL },
    };

    for (size_t i = 0; i < NELEMS(rows); i++) {
        reach_facts_t facts = { .why = REACH_WHYS };
        AUTO_FREE char *detail = NULL;
        bool wrong = reach_of_knock(&rows[i].said, ports, rows[i].asks, &facts, &detail);
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
    reach_told_t told = REACH_TOLD_INIT;
    int64_t now = 1000, last = 1000;
    int n = 0;

    assert_true(reach_tells(&told, "a", now));
    for (; now < 1000 + 15 * 60 * 1000; now += 1000)
        if (reach_tells(&told, "a", now)) {
            n++;
            last = now;
        }
    assert_int_equal(n, 3);
    assert_int_equal(last, 1000 + (2 + 4 + 8) * 60 * 1000);
    assert_true(reach_tells(&told, "b", now));
    assert_false(reach_tells(&told, "b", now + 1000));
    reach_over(&told);
    assert_true(reach_tells(&told, "b", now + 2000));
    reach_over(&told);
}

static void
test_two_in_turn(void **state)
{
    reach_told_t told = REACH_TOLD_INIT;
    int n = 0;

    for (int i = 0; i < 600; i++)
        n += reach_tells(&told, i % 2 == 0 ? "a" : "b", 1000 + 1000 * i);
    assert_in_range(n, 12, 20);
    reach_over(&told);
}

UNIT_MAIN(cmocka_unit_test(test_every_reason), cmocka_unit_test(test_a_fact_is_no_place),
          cmocka_unit_test(test_no_words_of_the_master), cmocka_unit_test(test_welcomes),
          cmocka_unit_test(test_looks), cmocka_unit_test(test_telling), cmocka_unit_test(test_two_in_turn))
