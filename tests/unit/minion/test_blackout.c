/* test_blackout.c - which functions a minion in blackout runs. */
#include "minion/jobs/blackout.h"

#include "salt/value.h"
#include "unit/unit.h"

static const struct {
    const char *facts, *fun;
    bool runs;
} rows[] = {
    { "null", "test.ping", true },
    { "{}", "test.ping", true },
    { "{'minion_blackout': false}", "test.ping", true },
    { "{'minion_blackout': 0}", "test.ping", true },
    { "{'minion_blackout': true}", "test.ping", false },
    { "{'minion_blackout': 'False'}", "test.ping", false }, /* a text that is not empty, as in Python */
    { "{'minion_blackout': true}", "saltutil.refresh_pillar", true },
    { "{'minion_blackout': true}", "saltutil.refresh_grains", false },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': ['test.echo', 'test.ping']}", "test.ping",
      true },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': ['test.echo', 'test.ping']}", "test.pin",
      false },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': ['test.*', 7]}", "test.ping", false },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': 'test.echo,test.ping'}", "test.ping", true },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': {'test.ping': null}}", "test.ping", true },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': null}", "test.ping", false },
    { "{'minion_blackout_whitelist': ['test.ping']}", "test.echo", true },
    { "{'$py': ['dict', [[7, 'seven'], ['minion_blackout', true]]]}", "test.ping", false },
    { "{'$py': ['dict', [[7, 'seven'], ['minion_blackout', false]]]}", "test.ping", true },
    { "{'minion_blackout': true, 'minion_blackout_whitelist': {'$py': ['tuple', ['test.ping']]}}",
      "test.ping", true },
};

static void
test_rows(void **state)
{
    for (size_t i = 0; i < NELEMS(rows); i++) {
        fail_auto_t err = FAIL_INIT;
        AUTO_FREE char *text = xstrdup(rows[i].facts);
        for (char *p = text; *p != '\0'; p++)
            *p = *p == '\'' ? '"' : *p;
        json_auto_t *facts = json_loads(text, JSON_DECODE_ANY, NULL);
        assert_non_null(facts);
        bool runs = blackout_check(facts, rows[i].fun, &err) == 0;
        if (runs != rows[i].runs)
            fail_msg("%s: %s", rows[i].facts, rows[i].fun);
        if (!runs)
            assert_string_equal(
                fail_text(&err),
                "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to "
                "resume operations. Only saltutil.refresh_pillar allowed in blackout mode.");
    }
}

UNIT_MAIN(cmocka_unit_test(test_rows))
