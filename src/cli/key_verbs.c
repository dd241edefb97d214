/* key_verbs.c - table of salt-key's actions, in the order in which Salt looks at them: the first one given
 * wins. */
#include "cli/key_cli.h"
#include "salt/value.h"

static const key_verb_t verbs[] = {
    { .option = "gen_keys", .run = key_run_gen_keys, .bare = true },
    { .option = "gen_signature", .run = key_run_gen_signature },
    { .option = "rotate_master_key", .run = key_run_rotate },
    { .option = "import_salt", .run = key_run_import },
    { .option = "list", .run = key_run_list },
    { .option = "list_all", .match = "all", .run = key_run_list },
    { .option = "print", .run = key_run_print },
    { .option = "print_all", .match = "*", .run = key_run_print },
    { .option = "accept", .run = key_run_change, .act = KEY_ACT_ACCEPT },
    { .option = "accept_all", .match = "*", .run = key_run_change, .act = KEY_ACT_ACCEPT },
    { .option = "reject", .run = key_run_change, .act = KEY_ACT_REJECT },
    { .option = "reject_all", .match = "*", .run = key_run_change, .act = KEY_ACT_REJECT },
    { .option = "delete", .run = key_run_change, .act = KEY_ACT_DELETE },
    { .option = "delete_all", .match = "*", .run = key_run_change, .act = KEY_ACT_DELETE },
    { .option = "finger", .run = key_run_finger },
    { .option = "finger_all", .match = "*", .run = key_run_finger },
};
static const key_verb_t otherwise = { .option = "list_all", .match = "all", .run = key_run_list };

/* The first one given after `verb`, NULL: of all; NULL when there is none. */
static const key_verb_t *
next_given(const json_t *values, const key_verb_t *verb)
{
    for (size_t i = verb != NULL ? (size_t) (verb - verbs) + 1 : 0; i < NELEMS(verbs); i++)
        if (value_truthy(value_get(values, verbs[i].option)))
            return &verbs[i];
    return NULL;
}

const key_verb_t *
key_verb_of(const json_t *values)
{
    const key_verb_t *verb = next_given(values, NULL);

    return verb != NULL ? verb : &otherwise;
}

/* Action whose value is an empty text, or NULL. */
const key_verb_t *
key_verb_empty(const json_t *values)
{
    for (size_t i = 0; i < NELEMS(verbs); i++)
        if (*value_str(values, verbs[i].option, "-") == '\0')
            return &verbs[i];
    return NULL;
}

/* A second action beside the one that wins, or NULL. */
const key_verb_t *
key_verb_other(const json_t *values)
{
    const key_verb_t *verb = next_given(values, NULL);

    return verb != NULL ? next_given(values, verb) : NULL;
}
