/* test_facts.c - what a peer says in an event never stands under the name of a fact. */
#include "master/events/facts.h"
#include "salt/value.h"
#include "unit/unit.h"

static void
test_claims(void **state)
{
    static const char *const names[] = { "id",      "jid",    "fun",    "user", "minions",
                                         "success", "ret",    "return", "tgt",  "missing",
                                         "retcode", "_stamp", "cmd",    "tag",  "data" };
    json_auto_t *said = json_pack("{s:s, s:b}", "name", "x", "result", false);

    for (size_t i = 0; i < NELEMS(names); i++)
        json_object_set_new(said, names[i], json_string("a story"));
    json_auto_t *before = json_deep_copy(said);
    json_auto_t *claims = facts_claims(said), *none = facts_claims(NULL),
                *text = facts_claims(value_get(said, "id")),
                *left = json_pack("{s:s, s:b}", "name", "x", "result", false);
    assert_true(json_equal(claims, left));
    assert_true(json_equal(before, said));
    assert_int_equal(json_object_size(none) + json_object_size(text), 0);
}

UNIT_MAIN(cmocka_unit_test(test_claims))
