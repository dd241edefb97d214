/* masterkey.c - see masterkey.h. A voucher is the signing key's statement that a public key is the master's,
 * with a serial number that grows; minions accept a new master key by it. All files are replaced atomically,
 * and masterkey_complete() finishes a rotation that a crash interrupted. */
#include "keyring/masterkey.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/value.h"

#define OWN  "master"
#define NEXT "master_next"

typedef struct place {
    const char *pki, *sign_name;
    bool sign, elsewhere; /* elsewhere: the private signing key is not on this machine */
    char *signature;      /* owned: its path */
} place_t;

static void
masterkey_place_free(place_t *self)
{
    free(self->signature);
}

/* 0, or -EINVAL for names that lead out of the folder. */
static int
masterkey_place_of(place_t *self, const json_t *opts, fail_t *err)
{
    const char *signature = value_str(opts, "master_pubkey_signature", "master_pubkey_signature");

    self->pki = value_str(opts, "pki_dir", "");
    self->sign_name = value_str(opts, "master_sign_key_name", "master_sign");
    self->sign = value_bool(opts, "master_sign_pubkey", true);
    self->elsewhere = value_bool(opts, "master_use_pubkey_signature", false);
    self->signature = fs_join(self->pki, signature);
    if (*self->sign_name == '\0' || strchr(self->sign_name, '/') != NULL)
        return fail_set(err, -EINVAL, "master_sign_key_name: '%s' is not the name of a file in pki_dir",
                        self->sign_name);
    if (*signature == '\0' || strchr(signature, '/') != NULL)
        return fail_set(err, -EINVAL, "master_pubkey_signature: '%s' is not the name of a file in pki_dir",
                        signature);
    return 0;
}
#define AUTO_PLACE __attribute__((cleanup(masterkey_place_free))) place_t

/* ---- vouching ------------------------------------------------------------------------------------ */

/* The existing voucher if this signer made it for this key; else a new one with a higher number. */
static int
vouch(const char *path, const key_pair_t *signer, const uint8_t key[KEY_BYTES], voucher_t *ret, fail_t *err)
{
    voucher_t old = { .serial = 0 };

    if (voucher_read(path, &old, NULL) == 0 && memcmp(old.key, key, KEY_BYTES) == 0 &&
        memcmp(old.signer, key_pair_public(signer), KEY_BYTES) == 0) {
        *ret = old;
        return 0;
    }
    voucher_make(ret, signer, key, voucher_serial(old.serial));
    return voucher_write(ret, path, err);
}

/* Signs with the private signing key, which is created when it is missing. */
static int
vouch_here(const place_t *place, const uint8_t key[KEY_BYTES], voucher_t *ret, fail_t *err)
{
    AUTO(key_pair) signer = key_pair_open_of(KEY_KIND_SIGN, place->pki, place->sign_name, NULL, err);

    return signer == NULL ? -EIO : vouch(place->signature, signer, key, ret, err);
}

/* The voucher that is there: for this key, and by the signing key whose public half lies here, if it does. */
static int
vouched_already(const place_t *place, const uint8_t key[KEY_BYTES], voucher_t *ret, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("%s/%s.pub", place->pki, place->sign_name);
    uint8_t signer[KEY_BYTES];
    int rc = voucher_read(place->signature, ret, err);

    if (rc != 0)
        return rc;
    if (memcmp(ret->key, key, KEY_BYTES) != 0)
        return fail_set(err, -EINVAL, "%s: it is the signature of another key", place->signature);
    if (key_public_read(KEY_KIND_SIGN, path, signer, NULL) == 0 &&
        memcmp(signer, ret->signer, KEY_BYTES) != 0)
        return fail_set(err, -EINVAL, "%s: it was not made by the signing key of %s", place->signature, path);
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* Completes a rotation that was decided (1), and removes half of a pair (0). */
static int
masterkey_complete(const place_t *place, fail_t *err)
{
    AUTO_FREE char *pem = xasprintf("%s/" NEXT ".pem", place->pki);
    voucher_t v;

    key_pair_tidy(place->pki, NEXT);
    int there = fs_look(pem, err);
    if (there <= 0)
        return there;
    AUTO(key_pair) next = key_pair_open(place->pki, NEXT, NULL, err);

    if (next == NULL)
        return -EINVAL;
    if (!place->sign || vouched_already(place, key_pair_public(next), &v, NULL) != 0)
        return 0;
    int rc = key_pair_replace(place->pki, OWN, NEXT, err);

    return rc < 0 ? rc : 1;
}

/* Order matters: masterkey_complete() may replace the key that is opened next. Without a valid signature from
 * elsewhere the key is open, but not vouched for. */
int
masterkey_open(masterkey_t *self, const json_t *opts, bool *ret_made, fail_t *err)
{
    AUTO_PLACE place = { 0 };
    int rc = masterkey_place_of(&place, opts, err);

    *self = (masterkey_t){ 0 };
    rc = rc == 0 ? masterkey_complete(&place, err) : rc;
    if (rc < 0)
        return rc;
    self->pair = key_pair_open(place.pki, OWN, ret_made, err);
    if (self->pair == NULL)
        return err->code;
    self->pem = key_public_pem(key_pair_public(self->pair));
    if (!place.sign)
        return 0;
    if (!place.elsewhere) {
        rc = vouch_here(&place, key_pair_public(self->pair), &self->voucher, err);
    } else {
        rc = vouched_already(&place, key_pair_public(self->pair), &self->voucher, err);
        if (rc != 0)
            fail_prefix(err,
                        "master_use_pubkey_signature: the signature of %s/" OWN
                        ".pub is wanted (salt-key --gen-signature, where the signing key is): ",
                        place.pki);
    }
    self->vouched = rc == 0;
    return rc;
}

void
masterkey_close(masterkey_t *self)
{
    key_pair_destroy(&self->pair);
    free(self->pem);
    *self = (masterkey_t){ 0 };
}

/* ---- rotation ------------------------------------------------------------------------------------ */

/* A rotation that was decided before is completed instead of beginning another one. */
int
masterkey_rotate(const json_t *opts, fail_t *err)
{
    AUTO_PLACE place = { 0 };
    fail_auto_t why = FAIL_INIT;
    voucher_t v;
    int rc = masterkey_place_of(&place, opts, err);

    if (rc != 0)
        return rc;
    if (!place.sign)
        return fail_set(
            err, -EPERM,
            "master_sign_pubkey is off: no minion could tell the master's new key from a stranger's. "
            "Switch it on, restart the master, and rotate when all minions have been connected once");
    rc = masterkey_complete(&place, err);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    AUTO(key_pair) next = key_pair_open(place.pki, NEXT, NULL, err);

    if (next == NULL)
        return -EIO;
    if (!place.elsewhere)
        rc = vouch_here(&place, key_pair_public(next), &v, err);
    else if (vouched_already(&place, key_pair_public(next), &v, &why) != 0)
        rc = fail_set(
            err, -ENOKEY,
            "the new key %s/" NEXT ".pub waits for its signature (%s): where the signing key is, run "
            "salt-key --gen-signature --pub=" NEXT ".pub; put what it writes at %s, and rotate again",
            place.pki, fail_text(&why), place.signature);
    return rc != 0 ? rc : key_pair_replace(place.pki, OWN, NEXT, err);
}

/* ---- signing by hand ----------------------------------------------------------------------------- */

/* Signs any public key by any private key, for signing on another machine. */
int
masterkey_sign(const json_t *opts, const char *priv, const char *pub, const char *dir, bool create,
               char **ret_path, fail_t *err)
{
    AUTO_PLACE place = { 0 };
    int rc = masterkey_place_of(&place, opts, err);

    if (rc != 0)
        return rc;
    AUTO_FREE char *own_priv = xasprintf("%s/%s.pem", place.pki, place.sign_name);
    AUTO_FREE char *own_pub = fs_join(place.pki, OWN ".pub");
    uint8_t key[KEY_BYTES];
    voucher_t v;

    AUTO(key_pair)
    signer = *priv != '\0' ? key_pair_read(KEY_KIND_SIGN, priv, err)
             : create      ? key_pair_open_of(KEY_KIND_SIGN, place.pki, place.sign_name, NULL, err)
                           : key_pair_read(KEY_KIND_SIGN, own_priv, err);

    if (signer == NULL) {
        if (err->code == -ENOENT && *priv == '\0')
            fail_prefix(err, "there is no signing key here; --auto-create makes one: ");
        return err->code;
    }
    rc = key_public_read(KEY_KIND_CURVE, *pub != '\0' ? pub : own_pub, key, err);
    if (rc != 0)
        return rc;
    AUTO_FREE char *path = fs_join(*dir != '\0' ? dir : place.pki, strrchr(place.signature, '/') + 1);

    rc = vouch(path, signer, key, &v, err);
    if (rc == 0)
        *ret_path = STEAL(path);
    return rc;
}
