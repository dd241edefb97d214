/* trust.h - which key is the master's: remembered from the first contact, or told by an operator; and the
 * signing key that vouches for the next one. Files and decisions, no sockets.
 *
 *   minion_master.pub   the master's key
 *   master_sign.pub     its signing key: put there by an operator, or remembered when the master whose key is
 *                       trusted already has named it on a connection of CURVE
 *   minion_master.sig   the newest voucher (common/crypto/voucher.h) of it for the key, and as `first` the
 *                       fingerprint of the key that was trusted before any was vouched for
 *
 * A remembered signing key is never replaced by what a master says.
 *
 * Layer      minion
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
    bool verify;              /* verify_master_pubkey_sign: nothing at first sight */
    bool always;              /* always_verify_signature */
} trust_conf_t;

typedef struct trust trust_t;

trust_t *trust_new(const trust_conf_t *conf); /* NEW */
void trust_destroy(trust_t **self_p);

/* BORROWED, KEY_BYTES; NULL when no key is known. */
const uint8_t *trust_key(const trust_t *self);
/* Where none is known: it may have been put there since, or can be read now. */
void trust_look_again(trust_t *self);
/* Whether the known key is one that master_finger allows; else NEW text. */
char *trust_finger_problem(const trust_t *self);

typedef enum trust_verdict {
    TRUST_SAME,    /* the key that is known */
    TRUST_NEW,     /* the first one, from now on known */
    TRUST_CHANGED, /* vouched for, from now on known instead of the old one */
    TRUST_REFUSED
} trust_verdict_t;

/* Whoever says {pub, ...} (see voucher.h) claims to be the master. A known key that master_finger does not
 * allow counts as one that is shown for the first time. *ret_why NEW when refused. -EINVAL in *err and
 * TRUST_REFUSED without a text when it is no such answer. */
trust_verdict_t trust_claim(trust_t *self, const json_t *claim, char **ret_why, fail_t *err);

/* What the master said on a connection that proves the known key: its voucher, NULL when there was none.
 * False when no job may be taken from it, with *ret_why NEW. */
bool trust_proven(trust_t *self, const json_t *voucher, char **ret_why);

#endif
