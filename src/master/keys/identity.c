/* identity.c - the part that opens the master's key, or makes one, at the start. Salt's RSA keys in pki_dir
 * are set aside first. */
#include "master/keys/identity.h"

#include "common/crypto/saltpki.h"
#include "common/net/wire.h"
#include "master/front/part.h"
#include "salt/log.h"

typedef struct identity {
    masterkey_t key;
    json_t *claim; /* owned */
} identity_t;

static identity_t *
keys_identity_own(const front_t *front)
{
    return front->own[PART_identity];
}

const masterkey_t *
identity_key(const front_t *front)
{
    return &keys_identity_own(front)->key;
}

json_t *
identity_claim(const front_t *front)
{
    return keys_identity_own(front)->claim;
}

static bool
keys_identity_drop(front_t *front)
{
    identity_t *self = keys_identity_own(front);
    masterkey_close(&self->key);
    json_decref(STEAL(self->claim));
    return true;
}

/* The claim is built once per key; the hello port sends it to anybody who asks. */
void
identity_take(front_t *front, const masterkey_t *key)
{
    identity_t *self = keys_identity_own(front);
    (void) keys_identity_drop(front);
    self->key = *key;
    self->claim = key->vouched ? voucher_json(&key->voucher) : json_pack("{s:s}", "pub", key->pem);
    json_object_set_new(self->claim, "proto", json_integer(WIRE_PROTO));
}

/* Logs the fingerprints, with which operators compare what minions have. */
static int
keys_identity_start(front_t *front, fail_t *err)
{
    masterkey_t key = { 0 };
    bool made = false;
    char finger[FINGER_LEN], signer[FINGER_LEN];
    AUTO_FREE char *of_salt = NULL;
    int rc = saltpki_set_aside(conf_str(front->conf, "pki_dir"), &of_salt, err);
    if (of_salt != NULL)
        log_warning("%s", of_salt);
    rc = rc == 0 ? masterkey_open(&key, front->opts, &made, err) : rc;
    if (rc < 0) {
        masterkey_close(&key);
        return rc;
    }
    identity_take(front, &key);
    key_finger(key_pair_public(key.pair), finger);
    log_info("%s master key, fingerprint %s", made ? "new" : "the", finger);
    if (key.vouched) {
        key_finger_of(KEY_KIND_SIGN, key.voucher.signer, signer);
        log_info("its signing key, fingerprint %s", signer);
    }
    return 0;
}

const front_part_t part_identity = { .name = "identity",
                                     .size = sizeof(identity_t),
                                     .start = keys_identity_start,
                                     .destroy = keys_identity_drop };
