/* keystore.h - the master's folder of public keys: one file per minion in minions, minions_pre,
 * minions_rejected, minions_denied. The file system is the truth, so that salt-key works without a running
 * master.
 *
 * Layer      keyring; also linked into salt-key. No sockets
 * Threads    one at a time
 * Ownership  lists are NEW
 * Errors     negative errno with the path
 * Tests      tests/unit/keyring/test_keystore.c
 */
#ifndef KEYRING_KEYSTORE_H
#define KEYRING_KEYSTORE_H

#include "common/crypto/keys.h"
#include "salt/base.h"

typedef enum key_state {
    KEY_ACCEPTED,
    KEY_PENDING,
    KEY_REJECTED,
    KEY_DENIED,
    KEY_STATES,
    KEY_UNKNOWN = KEY_STATES
} key_state_t;

/* "minions", "minions_pre", ... : folder names and Salt's JSON keys. */
const char *key_state_dir(key_state_t state);
/* KEY_UNKNOWN for any other text. */
key_state_t key_state_of_dir(const char *dir);
/* "accepted", "pending", "rejected", "denied". */
const char *key_state_name(key_state_t state);

typedef struct keystore keystore_t;

/* Opens (and makes, 0700) the folders under `pki_dir`. NEW, or NULL with *err. */
keystore_t *keystore_new(const char *pki_dir, fail_t *err);
void keystore_destroy(keystore_t **self_p);
const char *keystore_dir(const keystore_t *self);

/* NEW array of ids in a state, sorted regardless of case. Names that conf_id_valid refuses are skipped. */
json_t *keystore_list(const keystore_t *self, key_state_t state, fail_t *err);
/* Files whose names are not ids (conf_id_valid): an older master let them wait. Their keys are of nobody,
 * whatever folder they are in; they can be listed, and deleted. In a key table (keyselect.h) they stand
 * under this word. */
#define KEY_UNFIT "minions_unfit"
/* NEW array of such names in all folders, sorted; a name that is not UTF-8 as value_utf8() shows it. */
json_t *keystore_unfit(const keystore_t *self, fail_t *err);
/* Removes the files that are listed under this name; -ENOENT when there is none. */
int keystore_unfit_delete(keystore_t *self, const char *name, fail_t *err);
/* The key of an id in a state; false when there is none (or it is unreadable: *err). A file without bytes is
 * none. */
bool keystore_get(const keystore_t *self, const char *id, key_state_t state, uint8_t out[KEY_BYTES],
                  fail_t *err);
/* NEW PEM text as in the file; NULL when absent. */
char *keystore_pem(const keystore_t *self, const char *id, key_state_t state, fail_t *err);
/* True when a file of the id may exist in this state, readable or not. */
bool keystore_has(const keystore_t *self, const char *id, key_state_t state);
/* First state in which the id has a file, in the order accepted, rejected, pending; KEY_UNKNOWN when none.
 * Negative with
 * *err when nobody can say. */
int keystore_state(const keystore_t *self, const char *id, key_state_t *ret_state, fail_t *err);
/* A number that is another one after a file was made, moved or removed in a state's folder. 0 while a further
 * change may leave no trace: a folder's time moves in steps. */
uint64_t keystore_stamp(const keystore_t *self, key_state_t state);
/* Store a key in a state (atomic). */
int keystore_put(keystore_t *self, const char *id, key_state_t state, const uint8_t key[KEY_BYTES],
                 fail_t *err);
/* Rename between states; replaces a file that is there. */
int keystore_move(keystore_t *self, const char *id, key_state_t from, key_state_t to, fail_t *err);
int keystore_delete(keystore_t *self, const char *id, key_state_t state, fail_t *err);
/* Moves and deletions of before are on the disk when this returns 0: once for all keys of what an operator
 * decides. */
int keystore_sync(keystore_t *self, fail_t *err);

/* The next key of a minion whose key is accepted (folder minions_next), on the disk when this returns. */
int keystore_next_put(keystore_t *self, const char *id, const uint8_t key[KEY_BYTES], fail_t *err);
bool keystore_next_get(const keystore_t *self, const char *id, uint8_t out[KEY_BYTES], fail_t *err);
/* Replaces the accepted key by the next one. At any time one of both exists; -ENOENT when there is no next
 * key. */
int keystore_next_take(keystore_t *self, const char *id, fail_t *err);
void keystore_next_drop(keystore_t *self, const char *id);
json_t *keystore_next_list(const keystore_t *self); /* NEW array of ids */

/* Since when the key of an id is in a state, by the file's time: seconds; 0 when there is none. */
int64_t keystore_since(const keystore_t *self, const char *id, key_state_t state);

/* Imports the accepted ids of a Salt master from its pki folder `from`. Ids without an accepted key here
 * become expected (minions_expected) until one of their keys is accepted; the key whose fingerprint the file
 * `fingers` ("": none) has in a line "ID: FINGERPRINT" is accepted at once. NEW {id: true when a fingerprint
 * is known}; NULL with *err. */
json_t *keystore_import_salt(const char *pki_dir, const char *from, const char *fingers, fail_t *err);
bool keystore_is_expected(const char *pki_dir, const char *id);
/* True when the key's fingerprint is the expected one of the id. Removes the expectation: it accepts one key
 * once. */
bool keystore_take_expected(const char *pki_dir, const char *id, const uint8_t key[KEY_BYTES]);
/* A key of the id was accepted, whichever: none is expected any more. `id` is one. */
void keystore_expected_over(const char *pki_dir, const char *id);

#endif
