/* voucher.h - a signing key's word that a key is the master's: made when the master's key is made, so that
 * minions that know the signing key take the new one without an operator.
 *
 * What is signed (Ed25519): a fixed text, the master's public key, and a number. The number only grows:
 * whoever has seen one does not take a smaller one any more, so that a key that was replaced stays so.
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
/* The number of the next one: higher than `last` (0: there was none), and than any made before on a clock
 * that goes right. */
int64_t voucher_serial(int64_t last);

/* NEW object. */
json_t *voucher_json(const voucher_t *self);
/* Only a voucher whose signature is right is one. */
int voucher_parse(const json_t *object, voucher_t *ret_self, fail_t *err);
/* A file of it; -ENOENT when there is none. */
int voucher_read(const char *path, voucher_t *ret_self, fail_t *err);
int voucher_write(const voucher_t *self, const char *path, fail_t *err);

#endif
