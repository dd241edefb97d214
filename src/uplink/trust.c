/* trust.c - trust on first use, narrowed by master_finger, and key changes by voucher.
 *
 * A claim is checked in this order: can the known key be read at all, is it the known key, does the
 * remembered signing key vouch for it, does master_finger allow it. The last is not asked of a
 * key that replaces a known one, as master_finger may still name the one before: the voucher decides alone.
 * Files are written atomically, the voucher before the key, so that an interruption never re-enables a
 * replaced key.
 */
#include "uplink/trust.h"

#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/crypto/voucher.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

struct trust {
    trust_conf_t conf;
    uint8_t key[KEY_BYTES], signer[KEY_BYTES];
    bool have_key, have_signer;
    bool unread;            /* the key file exists or may exist, but can't be read: refuse any other */
    bool bad_signer;        /* the file exists but holds no key: no voucher can be checked */
    voucher_t voucher;      /* the newest; serial 0: none */
    char first[FINGER_LEN]; /* of the key that was trusted on first use; "": unknown */
    char *sig_file;         /* owned; NULL: only in memory */
    bool other_told;        /* the log says that the master has another signing key */
};

/* ---- files --------------------------------------------------------------------------------------- */

/* Reads the known key. An unreadable file (EACCES, EIO) is not an absent one: accepting another key then
 * would let an attacker in who can merely provoke read errors. A file that holds no key (-EINVAL) is asked
 * for again. */
static void
trust_load_key(trust_t *self)
{
    fail_auto_t err = FAIL_INIT;

    if (self->conf.known_key != NULL) {
        memcpy(self->key, self->conf.known_key, KEY_BYTES);
        self->have_key = true;
        return;
    }
    if (self->conf.known_file == NULL)
        return;
    int rc = key_public_read(KEY_KIND_CURVE, self->conf.known_file, self->key, &err);

    self->have_key = rc == 0;
    self->unread = rc != 0 && rc != -ENOENT && rc != -EINVAL;
    if (rc != 0 && rc != -ENOENT)
        log_error("%s; %s", fail_text(&err),
                  self->unread ? "no other key is believed" : "the master is asked for its key again");
}

void
trust_look_again(trust_t *self)
{
    if (!self->have_key)
        trust_load_key(self);
}

/* Reads the signing key; again before each decision, as an operator may have put it there since. */
static void
load_signer(trust_t *self)
{
    fail_auto_t err = FAIL_INIT;

    if (self->conf.sign_file == NULL)
        return;
    int rc = key_public_read(KEY_KIND_SIGN, self->conf.sign_file, self->signer, &err);

    self->have_signer = rc == 0;
    self->bad_signer = rc != 0 && rc != -ENOENT;
    if (self->bad_signer)
        log_error("the master's signing key can't be read: %s", fail_text(&err));
}

static void
trust_save(const char *path, const char *text)
{
    fail_auto_t err = FAIL_INIT;

    if (path != NULL && fs_write_atomic(path, text, strlen(text), 0644, &err) != 0)
        log_error("what is known of the master's key can't be kept: %s", fail_text(&err));
}

static void
keep_voucher(trust_t *self, const voucher_t *v)
{
    self->voucher = *v;
    json_auto_t *object = voucher_json(v);

    json_object_set_new(object, "first", json_string(self->first));
    AUTO_FREE char *text = value_dump(object);

    trust_save(self->sig_file, text);
}

static void
keep_key(trust_t *self, const uint8_t key[KEY_BYTES])
{
    AUTO_FREE char *pem = key_public_pem(key);

    memcpy(self->key, key, KEY_BYTES);
    self->have_key = true;
    trust_save(self->conf.known_file, pem);
}

static void
keep_signer(trust_t *self, const uint8_t signer[KEY_BYTES])
{
    AUTO_FREE char *pem = key_public_pem_of(KEY_KIND_SIGN, signer);
    char finger[FINGER_LEN];

    memcpy(self->signer, signer, KEY_BYTES);
    self->have_signer = true;
    trust_save(self->conf.sign_file, pem);
    key_finger_of(KEY_KIND_SIGN, signer, finger);
    log_info("master %s: its signing key is remembered, fingerprint %s", self->conf.host, finger);
}

/* ---- life ---------------------------------------------------------------------------------------- */

/* "minion_master.pub" becomes "minion_master.sig". NEW, or NULL for NULL. */
static char *
sig_file_of(const char *known_file)
{
    if (known_file == NULL)
        return NULL;
    size_t n = strlen(known_file) - (str_ends(known_file, ".pub") ? strlen(".pub") : 0);

    return xasprintf("%.*s.sig", (int) n, known_file);
}

trust_t *
trust_new(const trust_conf_t *conf)
{
    trust_t *self = xcalloc(1, sizeof(*self));

    self->conf = *conf;
    self->sig_file = sig_file_of(conf->known_file);
    trust_load_key(self);
    load_signer(self);

    /* Reads the newest voucher. One that another signing key made is ignored. */
    buf_auto_t text = BUF_INIT;
    voucher_t v;
    if (self->sig_file == NULL || fs_read(self->sig_file, LIMIT_KEY_FILE, &text, NULL) != 0)
        return self;
    json_auto_t *object = value_parse(buf_str(&text), text.len, LIMIT_KEY_FILE, self->sig_file, NULL);

    if (voucher_parse(object, &v, NULL) != 0 || !self->have_signer ||
        memcmp(v.signer, self->signer, KEY_BYTES) != 0)
        return self;
    self->voucher = v;
    (void) str_copy(self->first, sizeof(self->first), value_str(object, "first", ""));

    return self;
}

void
trust_destroy(trust_t **self_p)
{
    trust_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    free(self->sig_file);
    free(self);
}

const uint8_t *
trust_key(const trust_t *self)
{
    return self->have_key ? self->key : NULL;
}

/* ---- master_finger ------------------------------------------------------------------------------- */

static bool
trust_is_finger(const trust_t *self, key_kind_t kind, const uint8_t key[KEY_BYTES])
{
    char finger[FINGER_LEN];

    key_finger_of(kind, key, finger);
    return strcasecmp(finger, self->conf.finger) == 0;
}

/* True when master_finger, if set, allows this key. It may name the key, the signing key behind voucher `v`,
 * or the key that was trusted first, to which vouchers trace the present one. */
static bool
trust_fits(const trust_t *self, const uint8_t key[KEY_BYTES], const voucher_t *v)
{
    if (str_empty(self->conf.finger) || trust_is_finger(self, KEY_KIND_CURVE, key))
        return true;
    if (v == NULL || memcmp(v->key, key, KEY_BYTES) != 0)
        return false;
    return trust_is_finger(self, KEY_KIND_SIGN, v->signer) ||
           (v == &self->voucher && strcasecmp(self->first, self->conf.finger) == 0);
}

static char *
not_the_finger(const trust_t *self, const uint8_t key[KEY_BYTES])
{
    char theirs[FINGER_LEN];

    key_finger(key, theirs);
    return xasprintf("%s shows the key %s, but master_finger is %s: compare with salt-key -F on the master",
                     self->conf.host, theirs, self->conf.finger);
}

static bool
known_fits(const trust_t *self)
{
    return trust_fits(self, self->key, self->voucher.serial > 0 ? &self->voucher : NULL);
}

char *
trust_finger_problem(const trust_t *self)
{
    return self->have_key && !known_fits(self) ? not_the_finger(self, self->key) : NULL;
}

/* ---- a claim ------------------------------------------------------------------------------------- */

/* NEW sentence why the remembered signing key does not vouch for this claim; NULL when it does. An old serial
 * is refused: a replaced key, perhaps stolen, must not come back with its old voucher. */
static char *
not_vouched(const trust_t *self, const voucher_t *v)
{
    char theirs[FINGER_LEN], ours[FINGER_LEN];

    if (self->bad_signer)
        return xasprintf("%s holds no key", self->conf.sign_file);
    if (!self->have_signer)
        return xstrdup("no signing key that could vouch for it is known here");
    if (v == NULL)
        return xstrdup("no signature comes with it");
    key_finger_of(KEY_KIND_SIGN, v->signer, theirs);
    key_finger_of(KEY_KIND_SIGN, self->signer, ours);
    if (memcmp(v->signer, self->signer, KEY_BYTES) != 0)
        return xasprintf("it is vouched for by the signing key %s, known is %s", theirs, ours);
    if (v->serial < self->voucher.serial ||
        (v->serial == self->voucher.serial && memcmp(v->key, self->voucher.key, KEY_BYTES) != 0))
        return xstrdup("its signature is older than one that is known: it was replaced");
    return NULL;
}

/* Decides about the first key, or the known one when master_finger does not allow it. A voucher is mandatory
 * once a signing key is configured, known or unreadable; without any, the key is trusted on first use. */
static trust_verdict_t
first_claim(trust_t *self, const uint8_t key[KEY_BYTES], const voucher_t *v, char **ret_why)
{
    AUTO_FREE char *why = not_vouched(self, v);
    bool wanted = self->conf.verify || self->have_signer || self->bad_signer;

    if (wanted && why != NULL) {
        *ret_why = xasprintf(
            "the key that %s shows is not believed: %s; put the master's master_sign.pub at %s",
            self->conf.host, why,
            self->conf.sign_file != NULL ? self->conf.sign_file : "pki_dir of this minion");
        return TRUST_REFUSED;
    }
    if (!trust_fits(self, key, v)) {
        *ret_why = not_the_finger(self, key);
        return TRUST_REFUSED;
    }
    if (why != NULL && v != NULL && !str_empty(self->conf.finger) &&
        trust_is_finger(self, KEY_KIND_SIGN, v->signer)) {
        keep_signer(self, v->signer);
        free(STEAL(why));
    }
    if (why == NULL)
        keep_voucher(self, v);
    keep_key(self, key);
    return TRUST_NEW;
}

trust_verdict_t
trust_claim(trust_t *self, const json_t *claim, char **ret_why, fail_t *err)
{
    const char *pem = value_str(claim, "pub", "");
    uint8_t key[KEY_BYTES];
    voucher_t said;

    if (key_public_from_pem(pem, strlen(pem), key, err) != 0)
        return TRUST_REFUSED;
    if (self->unread) {
        *ret_why = xasprintf("the known key of %s can't be read: see %s", self->conf.host,
                             self->conf.known_file);
        return TRUST_REFUSED;
    }
    bool same = self->have_key && memcmp(key, self->key, KEY_BYTES) == 0;

    if (same && known_fits(self))
        return TRUST_SAME;
    const voucher_t *v = voucher_parse(claim, &said, NULL) == 0 ? &said : NULL;

    load_signer(self);
    if (!self->have_key || same)
        return first_claim(self, key, v, ret_why);
    AUTO_FREE char *why = not_vouched(self, v);

    if (why != NULL) {
        /* Reports a key that is not the known one. */
        char theirs[FINGER_LEN], ours[FINGER_LEN];
        key_finger(key, theirs);
        key_finger(self->key, ours);
        *ret_why = xasprintf(
            "the master's key has changed: known is %s, %s now shows %s, and %s. If that is intended, "
            "delete %s%s%s and restart the minion; if not, somebody may be posing as the master",
            ours, self->conf.host, theirs, why,
            self->conf.known_file != NULL ? self->conf.known_file : "the known key",
            self->have_signer && self->conf.sign_file != NULL ? " and " : "",
            self->have_signer && self->conf.sign_file != NULL ? self->conf.sign_file : "");

        return TRUST_REFUSED;
    }
    if (self->first[0] == '\0')
        key_finger(self->key, self->first);
    /* Keep the voucher first: interrupted in between, its serial already rules out the old key's voucher. */
    keep_voucher(self, v);
    keep_key(self, key);
    return TRUST_CHANGED;
}

/* ---- on a connection ----------------------------------------------------------------------------- */

bool
trust_proven(trust_t *self, const json_t *voucher, char **ret_why)
{
    voucher_t said;

    /* The voucher that the master sent for its present key. */
    const voucher_t *v = voucher_parse(voucher, &said, NULL) == 0 &&
                                 memcmp(said.key, self->key, KEY_BYTES) == 0
                             ? &said
                             : NULL;

    if (v != NULL) {
        /* Remembers the signing key that a proven master names (only where none is known, and not under
         * verify_master_pubkey_sign), and newer vouchers of the known one. Another signing key is only
         * logged, once. */
        if (!self->have_signer && !self->bad_signer && self->conf.sign_file != NULL && !self->conf.verify) {
            key_finger(self->key, self->first);
            keep_signer(self, v->signer);
            keep_voucher(self, v);
        } else if (self->have_signer && memcmp(v->signer, self->signer, KEY_BYTES) != 0) {
            if (!self->other_told)
                log_warning("master %s: its signing key is not the one in %s; that one stays until it is "
                            "replaced by hand",
                            self->conf.host, self->conf.sign_file);
            self->other_told = true;
        } else if (self->have_signer && v->serial > self->voucher.serial) {
            keep_voucher(self, v);
        }
    }
    if (!self->conf.always)
        return true;
    AUTO_FREE char *why = not_vouched(self, v);

    if (why == NULL)
        return true;
    *ret_why = xasprintf("always_verify_signature: the key of %s is not vouched for: %s", self->conf.host,
                         why);
    return false;
}
