/* key_state.h - the state of an id's key, which this test can look at. */
#ifndef TESTS_UNIT_KEY_STATE_H
#define TESTS_UNIT_KEY_STATE_H

#include "keyring/keystore.h"
#include "unit/unit.h"

static inline key_state_t
key_state_of(const keystore_t *store, const char *id)
{
    fail_auto_t err = FAIL_INIT;
    key_state_t state;

    if (keystore_state(store, id, &state, &err) < 0)
        fail_msg("%s: %s", id, fail_text(&err));
    return state;
}

#endif
