/* keystate.c - the states of a key: their folders and names. */
#include "keyring/keystore.h"

static const struct {
    const char *dir, *name;
} states[KEY_STATES] = {
    [KEY_ACCEPTED] = { "minions", "accepted" },
    [KEY_PENDING] = { "minions_pre", "pending" },
    [KEY_REJECTED] = { "minions_rejected", "rejected" },
    [KEY_DENIED] = { "minions_denied", "denied" },
};

const char *
key_state_dir(key_state_t state)
{
    salt_assert(state < KEY_STATES);
    return states[state].dir;
}

const char *
key_state_name(key_state_t state)
{
    salt_assert(state <= KEY_UNKNOWN);
    return state == KEY_UNKNOWN ? "unknown" : states[state].name;
}

key_state_t
key_state_of_dir(const char *dir)
{
    for (size_t i = 0; i < KEY_STATES; i++)
        if (dir != NULL && strcmp(states[i].dir, dir) == 0)
            return (key_state_t) i;
    return KEY_UNKNOWN;
}
