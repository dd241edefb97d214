/* key_completion.c - completion of salt-key: keys in the states from which the action takes them, as the
 * master lists them. */
#include "cli/completion.h"
#include "common/base/str.h"
#include "keyring/keyselect.h"
#include "salt/value.h"

/* Key states from which each action may take keys, with the options that widen them. */
static const struct key_action {
    const char *option;
    int act; /* key_act_t; -1: it looks at all */
} key_actions[] = {
    { "accept", KEY_ACT_ACCEPT },
    { "reject", KEY_ACT_REJECT },
    { "delete", KEY_ACT_DELETE },
    { "print", -1 },
    { "finger", -1 },
};

static unsigned
key_completion_included(const json_t *values)
{
    bool all = value_bool(values, "include_all", false);
    unsigned bits = 0;

    if (all || value_bool(values, "include_accepted", false))
        bits |= KEY_BIT(KEY_ACCEPTED);
    if (all || value_bool(values, "include_rejected", false))
        bits |= KEY_BIT(KEY_REJECTED);
    if (value_bool(values, "include_denied", false))
        bits |= KEY_BIT(KEY_DENIED);
    return bits;
}

void
key_completion(completion_t *self, const char *option)
{
    static const char *const lists[] = { "acc", "pre", "un", "rej", "den", "all" };

    for (size_t i = 0; i < NELEMS(lists) && str_eq(option, "list"); i++)
        complete_offer(&self->c, lists[i]);

    /* Offers the ids of keys. */
    for (size_t i = 0; i < NELEMS(key_actions); i++) {
        if (!str_eq(key_actions[i].option, option))
            continue;
        unsigned from = key_actions[i].act < 0 ? KEY_ALL
                                               : key_act_from((key_act_t) key_actions[i].act,
                                                              key_completion_included(self->c.values));
        json_t *states = json_array();
        for (key_state_t state = 0; state < KEY_STATES; state++)
            if ((from & KEY_BIT(state)) != 0)
                json_array_append_new(states, json_string(key_state_dir(state)));
        (void) completion_ask(self, "key_names", json_pack("{s:o}", "states", states));
    }
}
