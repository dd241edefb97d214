/* autosign.h - lists of ids whose keys are accepted, or rejected, unasked: autosign_file, autoreject_file,
 * autosign_grains_dir and the folder minions_autosign.
 *
 * Layer      master
 * Threads    any
 * Errors     said per function
 * Tests      tests/unit/keyring/test_keystore.c
 */
#ifndef MASTER_KEYS_AUTOSIGN_H
#define MASTER_KEYS_AUTOSIGN_H

#include "salt/base.h"

/* True when a line of an autosign or autoreject file (globs, regular expressions, comments) matches the id.
 * Rejects with *err a file that group or others may write; `permissive` allows the group (for root: one of
 * its own groups), as in Salt. A missing file matches no id. An invalid pattern is reported in *err, and the
 * other lines still count. */
bool keystore_listed(const char *file, const char *id, bool permissive, fail_t *err);
/* True when a grain of `claim`, {grain: text} of a peer, has the value of a line of the folder's file of that
 * name. The folder and its files are refused as above. Names come from the folder, never from the peer. */
bool keystore_grains_listed(const char *folder, const json_t *claim, bool permissive, fail_t *err);
/* True when the file minions_autosign/ID exists and is at most `minutes` old (0: any age). Removes the file:
 * it accepts one key once. */
bool keystore_take_autosign(const char *pki_dir, const char *id, int minutes);

#endif
