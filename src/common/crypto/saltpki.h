/* saltpki.h - keys of Salt (RSA) where Halite's (X25519) belong: found, explained, and put aside before keys
 * of the same names are made. Nothing is overwritten: a move that can't be made is an error.
 *
 * Layer      common/crypto
 * Threads    any
 * Errors     negative errno; texts name the file, never the bytes
 * Tests      tests/unit/common/test_saltpki.c, tests/t/1150-from-salt.bats
 */
#ifndef COMMON_CRYPTO_SALTPKI_H
#define COMMON_CRYPTO_SALTPKI_H

#include "salt/base.h"

/* The folder below pki_dir to which they are moved. */
#define SALTPKI_ASIDE "salt-rsa"

/* True when the file exists and holds an RSA key, public or private, in a PEM format. */
bool saltpki_is_rsa(const char *path);
/* Count the RSA keys in pki_dir and its folders of minions' keys; *ret_minions: those in `minions`. */
size_t saltpki_count(const char *pki_dir, size_t *ret_minions);
/* Move them to SALTPKI_ASIDE, keeping the names of their folders. *ret_text NEW: the message about it; NULL
 * when there were none. */
int saltpki_set_aside(const char *pki_dir, char **ret_text, fail_t *err);

#endif
