/* voucher.h - a signing key's statement that a key is the master's: made when the master's key is made, so
 * that minions that know the signing key take the new one without an operator.
 *
 * Signed with Ed25519: a fixed text, the master's public key, and a number. The number only grows: a minion
 * that has seen one refuses a smaller one, so that a replaced key can't come back.
 *
 * As JSON: {"pub": PEM of the master's key, "serial": number, "signer": PEM of the signing key, "sig":
 * base64}
 *
 * Layer      common/crypto
 * Threads    any
 * Errors     negative errno; the text says what is wrong with it
 * Tests      tests/unit/common/test_voucher.c (signatures that openssl made)
 */
#ifndef COMMON_CRYPTO_VOUCHER_H
#define COMMON_CRYPTO_VOUCHER_H

#include "common/crypto/keys.h"

#define VOUCHER_SIG_BYTES 64

typedef struct voucher {
    uint8_t key[KEY_BYTES];    /* the master's, for CURVE */
    uint8_t signer[KEY_BYTES]; /* the public signing key */
    int64_t serial;            /* from 1 on */
    uint8_t sig[VOUCHER_SIG_BYTES];
} voucher_t;

/* `signer` is a pair of KEY_KIND_SIGN. */
void voucher_make(voucher_t *self, const key_pair_t *signer, const uint8_t key[KEY_BYTES], int64_t serial);
/* The next serial: milliseconds since 1970, but above `last` (0: none yet). */
int64_t voucher_serial(int64_t last);

/* NEW object. */
json_t *voucher_json(const voucher_t *self);
/* Parse and verify. 0; -EBADMSG for a wrong signature, -EINVAL for other errors, with *err. */
int voucher_parse(const json_t *object, voucher_t *ret_self, fail_t *err);
/* The same from a file; -ENOENT when there is none. */
int voucher_read(const char *path, voucher_t *ret_self, fail_t *err);
int voucher_write(const voucher_t *self, const char *path, fail_t *err);

#endif
