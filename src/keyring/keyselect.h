/* keyselect.h - which keys an operator means: lists and a glob to ids per state. Pure; shared by salt-key and
 * the wheel module `key`, so that both choose and say the same.
 *
 * A "key table" is an object from state folder to ids: {"minions": [id], "minions_pre": [id], ...}; "local"
 * holds the names of the master's own files where they count, KEY_UNFIT names that are not ids.
 *
 * Layer      keyring; also linked into salt-key
 * Threads    any
 * Ownership  results are NEW; arguments BORROWED
 * Tests      tests/unit/keyring/test_keyselect.c
 */
#ifndef KEYRING_KEYSELECT_H
#define KEYRING_KEYSELECT_H

#include "keyring/keystore.h"
#include "salt/base.h"

typedef enum key_act { KEY_ACT_ACCEPT, KEY_ACT_REJECT, KEY_ACT_DELETE, KEY_ACTS } key_act_t;

/* "accept", "reject", "delete"; and "accepted", ... */
const char *key_act_name(key_act_t act);
const char *key_act_done(key_act_t act);
bool key_act_parse(const char *name, key_act_t *ret_act);

/* Bits of states, 1 << key_state_t. */
#define KEY_BIT(state) (1u << (state))
#define KEY_ALL        ((1u << KEY_STATES) - 1)

/* From which states an action takes keys: pending ones, those of `include` (bits) that make sense for it, and
 * for delete all. */
unsigned key_act_from(key_act_t act, unsigned include);

/* Keys that a glob, several with commas between them, or a list of globs name; never those of KEY_UNFIT.
 * States without a match are absent. */
json_t *keyselect_match(const json_t *table, const json_t *globs);
/* Keys of one id, or of a list of ids, taken literally: no character is a pattern. A text that is neither an
 * id nor a name of KEY_UNFIT is refused: NULL with *err (FAIL_INVOCATION). */
json_t *keyselect_exact(const json_t *table, const json_t *ids, fail_t *err);
/* The same of texts of any kind. */
json_t *keyselect_ids(const json_t *table, const json_t *ids);
/* {KEY_UNFIT: [name]} when the table has it; `name` NULL: all of them. Else NULL. */
json_t *keyselect_unfit(const json_t *table, const char *name);
/* Only the states of `from` (KEY_UNFIT is with KEY_ALL), in the order in which Salt shows what it is going
 * to do. Empty states are left out. */
json_t *keyselect_only(const json_t *table, unsigned from);
/* Lists what `salt-key -l WORD` shows; WORD begins with acc, pre, un, rej, den or all. NULL for another
 * word. */
json_t *keyselect_status(const json_t *table, const char *word);
bool keyselect_status_valid(const char *word);
/* NEW text: "The key glob 'x' does not match any unaccepted or rejected keys." */
char *keyselect_no_match(key_act_t act, unsigned include, const char *glob);
/* The glob as the user wrote it: text, or a list joined by commas. NEW text. */
char *keyselect_glob_text(const json_t *globs);

#endif
