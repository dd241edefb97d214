/* masterkey.h - the master's own key in pki_dir, the signing key's word for it, and how both are replaced.
 *
 *   master.pem, master.pub              what CURVE uses
 *   master_sign.pem, master_sign.pub    the signing key (master_sign_key_name); not there when it is kept
 *                                       elsewhere (master_use_pubkey_signature)
 *   master_pubkey_signature             common/crypto/voucher.h, for master.pub
 *   master_next.pem, master_next.pub    a new key before its turn
 *
 * A rotation is decided when the signature names the new key: whatever was cut short after that is completed
 * by the next start; before it, nothing has happened.
 *
 * Layer      keyring; also linked into salt-key. No sockets
 * Threads    one at a time
 * Errors     negative errno with the file and what to do
 * Tests      tests/unit/keyring/test_masterkey.c
 */
#ifndef KEYRING_MASTERKEY_H
#define KEYRING_MASTERKEY_H

#include "common/crypto/voucher.h"
#include "salt/base.h"

typedef struct masterkey {
    key_pair_t *pair;
    char *pem; /* of the public key */
    bool vouched;
    voucher_t voucher; /* if vouched */
} masterkey_t;

/* Reads, and makes what is missing (*ret_made: the key itself). `opts` is the master's configuration.
 * `self` is for masterkey_close then, also after a failure. */
int masterkey_open(masterkey_t *self, const json_t *opts, bool *ret_made, fail_t *err);
void masterkey_close(masterkey_t *self);

/* A new key takes the place of the old one on the disk, vouched for, and the old one is overwritten.
 * -EPERM when nobody could vouch for it; -ENOKEY when the new key waits for its signature to be made
 * elsewhere. A running master must open it. */
int masterkey_rotate(const json_t *opts, fail_t *err);

/* Implements salt-key --gen-signature. Empty paths mean the files of `opts`; `dir` receives the signature.
 * *ret_path NEW: the file written. */
int masterkey_sign(const json_t *opts, const char *priv, const char *pub, const char *dir, bool create,
                   char **ret_path, fail_t *err);

#endif
