/* pem.h - the DER shapes of X25519 and Ed25519 keys (RFC 8410) and their PEM armour. Private to
 * common/crypto.
 *
 * Layer      common/crypto
 * Threads    any
 * Ownership  plain buffers of the caller; temporary copies of secrets are wiped here
 * Errors     -EINVAL with the reason, never with the bytes
 * Tests      tests/unit/common/test_keys.c; fuzz target tests/fuzz/fuzz_pem.c
 */
#ifndef COMMON_CRYPTO_PEM_H
#define COMMON_CRYPTO_PEM_H

#include "common/crypto/keys.h"

#define PEM_TEXT_MAX 160 /* the longer of the two texts and a NUL */

typedef enum pem_kind { PEM_PUBLIC, PEM_PRIVATE, PEM_SIGN_PUBLIC, PEM_SIGN_PRIVATE } pem_kind_t;

void pem_write(pem_kind_t kind, const uint8_t key[KEY_BYTES], char out[PEM_TEXT_MAX]);
/* Read exactly one key, white space around it allowed; refuse anything else. 0, or -EINVAL with *err. */
int pem_read(pem_kind_t kind, const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err);
/* Extract what Salt's fingerprint covers: the lines that are not blank between the first and the last, with
 * "\r\n" as "\n". NEW in *ret_body (wipe it: it may be of a private key), its length returned. */
size_t pem_body(const char *pem, size_t len, char **ret_body);

#endif
