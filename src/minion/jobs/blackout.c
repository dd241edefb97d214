/* blackout.c - see blackout.h. Grains are plain JSON, a pillar may be in py_wire's form, so both are made
 * plain before they are compared.
 */
#include "minion/jobs/blackout.h"

#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "salt/value.h"

/* NEW plain JSON of a value in py_wire's form; NULL for NULL. */
static json_t *
blackout_plain(const json_t *wire)
{
    AUTO(py) value = wire != NULL ? py_from_wire(wire) : NULL;
    return value != NULL ? py_to_json(value) : NULL;
}

/* Python's `fun in whitelist`, as Salt evaluates it: an element of a list, a key of a mapping, or a substring
 * of a text. */
static bool
blackout_names(const json_t *list, const char *fun)
{
    if (json_is_string(list))
        return strstr(json_string_value(list), fun) != NULL;
    return value_lists(list, fun) || value_get(list, fun) != NULL;
}

int
blackout_check(const json_t *facts, const char *fun, fail_t *err)
{
    /* py_wire encodes a mapping with a key that is not text as {"$py": ...}. */
    json_auto_t *whole = value_get(facts, "$py") != NULL ? blackout_plain(facts)
                                                         : json_incref((json_t *) facts);
    if (!value_truthy(value_get(whole, "minion_blackout")) || str_eq(fun, "saltutil.refresh_pillar"))
        return 0;
    json_auto_t *list = blackout_plain(value_get(whole, "minion_blackout_whitelist"));
    if (blackout_names(list, fun))
        return 0;
    return fail_kind(err, FAIL_INVOCATION, -EPERM,
                     "Minion in blackout mode. Set 'minion_blackout' to False in pillar or grains to resume "
                     "operations. Only saltutil.refresh_pillar allowed in blackout mode.");
}
