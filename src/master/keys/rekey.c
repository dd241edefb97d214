/* rekey.c - replace a minion's key. The minion names its next key on a connection that the present key
 * authenticates; the master stores it. The first connection with the next key proves its possession, and from
 * then on it is the accepted one. Until then the present key stays valid, so that after a crash of either
 * side one of the two works. */
#include "master/keys/rekey.h"

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "master/keys/keychange.h"
#include "master/minions/message.h"
#include "master/front/part.h"
#include "master/minions/post.h"
#include "salt/log.h"
#include "salt/value.h"

typedef struct rekey {
    rate_t disk; /* rate of next keys written to the disk */
} rekey_t;

static void
rekey_answer(front_t *self, peer_t *peer, const char *pem, const char *error, bool again)
{
    json_auto_t *body = json_pack("{s:s, s:s*}", "key", pem, "error", error);
    if (again)
        json_object_set_new(body, "again", json_true());
    (void) post_send(self, peer, MSG_rekeyed, body);
}

/* Forget the next key; its handshake is refused again unless another minion has it. */
static void
unexpect(front_t *self, minion_t *m)
{
    if (m->next_z85[0] && peers_by_key(self->peers, m->next_z85) == NULL)
        zap_set(self->zap, m->next_z85, ZAP_UNKNOWN);
    m->next_z85[0] = '\0';
}

/* Let the next key's handshake pass like a pending one's, even while unknown keys are turned away. */
static void
rekey_expect(front_t *self, minion_t *m, const char *z85)
{
    unexpect(self, m);
    (void) str_copy(m->next_z85, sizeof(m->next_z85), z85);
    zap_set(self->zap, z85, ZAP_PENDING);
}

#define ANOTHERS "another minion has this key"

/* True when another minion named this key. A minion that could name it too would block or replace the
 * other's. */
static bool
is_expected(front_t *self, const minion_t *but, const char *z85)
{
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = peers_by_slot(self->peers, i)) && m != but && str_eq(m->next_z85, z85))
            return true;
    return false;
}

/* Rate limit per minion, charged before the shared one, so that one minion that names key after key delays
 * only itself. */
static bool
may_name(minion_t *m)
{
    if (!rate_spare(&m->rekeys, clock_mono_ms()))
        return false;
    rate_owe(&m->rekeys, LIMIT_REKEY_EACH - 1);
    return true;
}

/* The message rekey. Refusals that may pass are answered with `again`. */
static void
rekey(front_t *self, peer_t *peer, const inbound_t *in)
{
    fail_auto_t err = FAIL_INIT;
    minion_t *m = peer->minion;
    const char *pem = value_str(in->body, "key", "");
    uint8_t key[KEY_BYTES];
    char z85[KEY_Z85_LEN];
    if (m == NULL || peer->is_call || m->peer != peer)
        return;
    if (key_public_from_pem(pem, strlen(pem), key, &err) < 0) {
        rekey_answer(self, peer, "", fail_text(&err), false);
        return;
    }
    key_to_z85(key, z85);
    /* Why this can't be the minion's next key; NULL: it can. */
    const char *problem = str_eq(m->z85, z85)                      ? "it is the present key"
                          : peers_by_key(self->peers, z85) != NULL ? ANOTHERS
                                                                   : NULL;
    if (problem != NULL || str_eq(m->next_z85, z85)) {
        rekey_answer(self, peer, pem, problem, false);
        return;
    }
    if (!may_name(m)) {
        rekey_answer(self, peer, pem, NULL, true);
        return;
    }
    if (is_expected(self, m, z85)) {
        rekey_answer(self, peer, pem, ANOTHERS, false);
        return;
    }
    if (!rate_spare(&((rekey_t *) self->own[PART_rekey])->disk, clock_mono_ms()) ||
        keystore_next_put(self->keystore, m->id, key, &err) < 0) {
        if (err.text != NULL)
            log_error("minion %s: its next key can't be kept: %s", m->id, fail_text(&err));
        rekey_answer(self, peer, pem, NULL, true);
        return;
    }
    rekey_expect(self, m, z85);
    rekey_answer(self, peer, pem, NULL, false);
}

/* The file is moved first: if that fails, the present key stays. */
bool
rekey_came(front_t *self, peer_t *peer, minion_t *m)
{
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];
    char old[KEY_Z85_LEN], finger[FINGER_LEN], old_finger[FINGER_LEN];
    if (m->state != KEY_ACCEPTED || !str_eq(m->next_z85, peer->z85))
        return false;
    if (keystore_next_take(self->keystore, m->id, &err) < 0) {
        log_error("minion %s comes with its next key: %s", m->id, fail_text(&err));
        return false;
    }
    (void) str_copy(old, sizeof(old), m->z85);
    if (key_from_z85(old, key))
        key_finger(key, old_finger);
    salt_assert(key_from_z85(peer->z85, key));
    key_finger(key, finger);
    m->next_z85[0] = '\0';
    zap_set(self->zap, old, ZAP_UNKNOWN);
    (void) peers_know(self->peers, m->id, key, KEY_ACCEPTED);
    m->key_since_s = m->renew_ms = 0;
    m->expiring = false;
    zap_set(self->zap, m->z85, ZAP_ACCEPTED);
    /* Running jobs continue: the minion lists them in its hello. */
    keychange_cut(self, m, old, true);
    log_info("minion %s at %s has a new key, fingerprint %s; the old one is good no more", m->id,
             peer->address, finger);
    keychange_tell(self, peer, m->id, "rotate",
                   json_pack("{s:s, s:s}", "finger", finger, "old_finger", old_finger));
    return true;
}

/* Load one next key: 0; -ENOENT: it can't become a key, drop the file; other errors: unknown for now. */
static int
rekey_own_load(front_t *self, const char *id, bool all_read)
{
    fail_auto_t err = FAIL_INIT;
    minion_t *m = peers_by_id(self->peers, id);
    uint8_t key[KEY_BYTES];
    char z85[KEY_Z85_LEN];
    if (m == NULL || m->state != KEY_ACCEPTED)
        return m != NULL || all_read ? -ENOENT : -EAGAIN;
    if (!keystore_next_get(self->keystore, id, key, &err))
        return fs_is_passing(err.code) ? err.code : -ENOENT;
    key_to_z85(key, z85);
    if (is_expected(self, m, z85))
        return -ENOENT;
    rekey_expect(self, m, z85);
    return 0;
}

bool
rekey_load(front_t *self, bool all_read)
{
    json_auto_t *ids = keystore_next_list(self->keystore);
    json_t *one;
    size_t i;
    json_array_foreach (ids, i, one) {
        const char *id = json_string_value(one);
        int rc = rekey_own_load(self, id, all_read);
        if (rc == -ENOENT)
            keystore_next_drop(self->keystore, id);
        else if (rc < 0)
            all_read = false;
    }
    return all_read;
}

void
rekey_forget(front_t *self, minion_t *m)
{
    if (!m->next_z85[0])
        return;
    unexpect(self, m);
    keystore_next_drop(self->keystore, m->id);
}

const message_row_t message_rekey = { .body = rekey };

static int
rekey_start(front_t *self, fail_t *err)
{
    ((rekey_t *) self->own[PART_rekey])->disk = (rate_t) RATE(LIMIT_REKEYS_RATE, LIMIT_REKEYS_BURST);
    return 0;
}

const front_part_t part_rekey = { .name = "rekey", .size = sizeof(rekey_t), .start = rekey_start };
