/* trust.h - which key is the master's: remembered from the first contact, or told by an operator; and the
 * signing key that vouches for the next one. Files and decisions, no sockets.
 *
 *   minion_master.pub   the master's key
 *   master_sign.pub     its signing key: put there by an operator, or remembered when the master whose key is
 *                       trusted already named it on a CURVE connection
 *   minion_master.sig   the newest voucher (common/crypto/voucher.h) of it for the key, and as `first` the
 *                       fingerprint of the key that was trusted before any was vouched for
 *
 * A remembered signing key is never replaced by what a master says.
 *
 * Layer      uplink
 * Threads    one at a time per object; several processes may have the same files
 * Ownership  texts of trust_conf_t are BORROWED while the object lives
 * Errors     what is refused comes with a text that says what to do
 * Tests      tests/unit/uplink/test_trust.c
 */
#ifndef UPLINK_TRUST_H
#define UPLINK_TRUST_H

#include "common/crypto/keys.h"
#include "salt/base.h"

typedef struct trust_conf {
    const char *host;         /* for texts */
    const char *finger;       /* master_finger: of the key or of the signing key; "" or NULL: none */
    const char *known_file;   /* NULL: only in memory */
    const char *sign_file;    /* NULL: no signing key */
    const uint8_t *known_key; /* NULL: read known_file */
    bool verify;              /* verify_master_pubkey_sign: no trust on first use */
    bool always;              /* always_verify_signature */
} trust_conf_t;

typedef struct trust trust_t;

trust_t *trust_new(const trust_conf_t *conf); /* NEW */
void trust_destroy(trust_t **self_p);

/* BORROWED, KEY_BYTES; NULL when no key is known. */
const uint8_t *trust_key(const trust_t *self);
/* Reads the key file again when no key is known: an operator may have put it there since. */
void trust_look_again(trust_t *self);
/* NULL when no key is known or master_finger allows the known one; else NEW sentence. */
char *trust_finger_problem(const trust_t *self);

typedef enum trust_verdict {
    TRUST_SAME,    /* the key that is known */
    TRUST_NEW,     /* the first key: it is remembered */
    TRUST_CHANGED, /* vouched for: it replaces the known key */
    TRUST_REFUSED
} trust_verdict_t;

/* Judges a peer's unauthenticated claim {pub, ...} (see voucher.h) to be the master, and remembers the key
 * when it is trusted. The known key, when master_finger does not allow it, is taken again only with a voucher
 * of the signing key that master_finger names; another key is a change like any other, also when it fits
 * master_finger. *ret_why NEW when refused; a claim that can't be parsed is TRUST_REFUSED with -EINVAL in
 * *err and no *ret_why. */
trust_verdict_t trust_claim(trust_t *self, const json_t *claim, char **ret_why, fail_t *err);

/* Judges the voucher that a master sent on a connection which proves the known key; NULL: it sent none.
 * Learns its signing key where none is known. False when no job may be taken from this master, with *ret_why
 * NEW. */
bool trust_proven(trust_t *self, const json_t *voucher, char **ret_why);

#endif
