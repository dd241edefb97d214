/* keyaction.h - accept, reject or delete in the key folders. What it changes in a running master (live table,
 * connections, events) is the caller's.
 *
 * Layer      keyring; also linked into salt-key for the time when no master runs. No sockets
 * Threads    one at a time per store
 * Ownership  results are NEW
 * Errors     negative errno with the id and the reason
 * Tests      tests/unit/keyring/test_keyselect.c
 */
#ifndef KEYRING_KEYACTION_H
#define KEYRING_KEYACTION_H

#include "keyring/keyselect.h"

/* The key table of all four states, and KEY_UNFIT if there are such names. NULL with *err when a folder
 * can't be read. */
json_t *keyaction_table(const keystore_t *store, fail_t *err);
/* The same and "local": the master's own .pem and .pub files. */
json_t *keyaction_table_local(const keystore_t *store, fail_t *err);

/* Move or delete one key. A file that holds no X25519 key is not accepted: -EINVAL. */
int keyaction_one(keystore_t *store, key_act_t act, const char *id, key_state_t from, fail_t *err);

/* For a key table of names: {state: {id: PEM text}} and {state: {id: fingerprint}}. Keys that went away
 * meanwhile are left out. */
json_t *keyaction_texts(const keystore_t *store, const json_t *table, fail_t *err);
json_t *keyaction_fingers(const keystore_t *store, const json_t *table, const char *hash_type, fail_t *err);

#endif
