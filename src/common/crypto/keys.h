/* keys.h - key pairs: generate, PEM files (RFC 8410), Z85, fingerprints. X25519 as CURVE uses them; Ed25519
 * for the key that signs a master's key (voucher.h).
 *
 * Private keys are PKCS#8 PEM (0400), public keys SubjectPublicKeyInfo PEM; `openssl pkey` reads both.
 *
 * Layer      common/crypto; the only user of libsodium. Knows nothing of libzmq
 * Threads    any
 * Ownership  secrets live in key_pair_t, locked in memory and wiped by key_pair_destroy
 * Errors     negative errno; texts name the file, never the bytes
 * Tests      tests/unit/common/test_keys.c (vectors made by openssl)
 */
#ifndef COMMON_CRYPTO_KEYS_H
#define COMMON_CRYPTO_KEYS_H

#include "salt/base.h"

#define KEY_BYTES   32
#define KEY_Z85_LEN 41  /* 40 characters and a NUL */
#define FINGER_LEN  96  /* 32 bytes as "aa:bb:..." and a NUL */
#define FINGER_MAX  192 /* the same of the longest digest, sha512 */
#define KEY_HEX_MAX 129 /* key_hash_hex's longest text and a NUL */

typedef struct key_pair key_pair_t;
typedef enum key_kind { KEY_KIND_CURVE, KEY_KIND_SIGN } key_kind_t;

key_pair_t *key_pair_new(void); /* NEW, random, for CURVE */
/* NEW, random; the pages of a secret key are locked and wiped when it goes. */
key_pair_t *key_pair_new_of(key_kind_t kind);
void key_pair_destroy(key_pair_t **self_p);
const uint8_t *key_pair_public(const key_pair_t *self); /* BORROWED, KEY_BYTES */
/* BORROWED, KEY_BYTES; for a signing key its seed. */
const uint8_t *key_pair_secret(const key_pair_t *self);

/* Read DIR/NAME.pem, or make it together with DIR/NAME.pub when it does not exist (*ret_made, may be NULL).
 * Refuses a private key that others may read. NEW, or NULL with *err. */
key_pair_t *key_pair_open(const char *dir, const char *name, bool *ret_made, fail_t *err);
key_pair_t *key_pair_open_of(key_kind_t kind, const char *dir, const char *name, bool *ret_made, fail_t *err);
/* Only read a private key's file. NEW, or NULL with *err; -ENOENT when there is none. */
key_pair_t *key_pair_read(key_kind_t kind, const char *path, fail_t *err);
/* Write DIR/NAME.pem and DIR/NAME.pub; -EEXIST when there. */
int key_pair_save(const key_pair_t *self, const char *dir, const char *name, fail_t *err);

/* Remove a public file without a private one: half of a pair that key_pair_replace moved. */
void key_pair_tidy(const char *dir, const char *name);
/* Replace the pair DIR/NAME by DIR/NEW and overwrite the old private key. If this is interrupted anywhere,
 * key_pair_open of NAME gives either the old pair or the new one. Repeat it to complete it; -ENOENT means
 * that NEW has been moved already, and key_pair_tidy of NEW removes the rest. */
int key_pair_replace(const char *dir, const char *name, const char *new_name, fail_t *err);

/* NEW PEM text of a public key. */
char *key_public_pem(const uint8_t key[KEY_BYTES]);
/* The same with the kind's object identifier (RFC 8410), so that one kind is not read as the other. */
char *key_public_pem_of(key_kind_t kind, const uint8_t key[KEY_BYTES]);
/* NEW PEM text of the private key, for export: wipe it with key_text_free. */
char *key_pair_pem(const key_pair_t *self);
/* Wipes, frees and sets to NULL. Accepts NULL. */
void key_text_free(char **text_p);
/* Bounded parser of a public PEM. */
int key_public_from_pem(const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err);
int key_public_from_pem_of(key_kind_t kind, const char *pem, size_t len, uint8_t out[KEY_BYTES], fail_t *err);
/* The public key in a PEM file; -ENOENT when there is none. */
int key_public_read(key_kind_t kind, const char *path, uint8_t out[KEY_BYTES], fail_t *err);

/* ZeroMQ's text form of a CURVE key (RFC 32). False: not 40 characters of it. */
void key_to_z85(const uint8_t key[KEY_BYTES], char out[KEY_Z85_LEN]);
bool key_from_z85(const char *z85, uint8_t out[KEY_BYTES]);

/* Salt's fingerprint of a PEM text: `hash_type` digest of the body without its header and footer lines, as
 * "aa:bb:...", by sha256. */
void key_finger_pem(const char *pem, size_t len, char out[FINGER_LEN]);
void key_finger(const uint8_t key[KEY_BYTES], char out[FINGER_LEN]);
void key_finger_of(key_kind_t kind, const uint8_t key[KEY_BYTES], char out[FINGER_LEN]);
/* The same with a digest of common/base/digest.h (the configuration's hash_type). */
int key_finger_typed(const char *type, const char *pem, size_t len, char out[FINGER_MAX], fail_t *err);
/* Fingerprint of a PEM file; a file that does not exist gives "", as Salt's. */
int key_finger_file(const char *type, const char *path, char out[FINGER_MAX], fail_t *err);
/* Compare two texts; the time depends on their length only. */
bool key_text_equal(const char *a, const char *b);

/* Hex digest of bytes by "sha256" or "sha512" (libsodium). 0, or -ENOTSUP. `out` has room for KEY_HEX_MAX
 * bytes. */
int key_hash_hex(const char *type, const void *data, size_t len, char *out);
/* Fill `out` with random bytes of the system's generator. */
void key_random(void *out, size_t len);

#endif
