/* rotate.c - see rotate.h. */
#include "master/bus.h"
#include "master/gate.h"

#include "common/base/clock.h"
#include "common/crypto/saltpki.h"
#include "salt/log.h"

static void
s_take(front_t *self, masterkey_t *key)
{
    rotate_close(self);
    self->own.key = *key;
    self->own.claim = key->vouched ? voucher_json(&key->voucher) : json_pack("{s:s}", "pub", key->pem);
    json_object_set_new(self->own.claim, "proto", json_integer(WIRE_PROTO));
}

int
rotate_open(front_t *self, fail_t *err)
{
    masterkey_t key;
    bool made = false;
    char finger[FINGER_LEN], signer[FINGER_LEN];
    AUTO_FREE char *of_salt = NULL;
    int rc = saltpki_set_aside(conf_str(self->conf, "pki_dir"), &of_salt, err);
    if (of_salt)
        log_warning("%s", of_salt);
    rc = rc == 0 ? masterkey_open(&key, self->opts, &made, err) : rc;
    if (rc < 0) {
        masterkey_close(&key);
        return rc;
    }
    s_take(self, &key);
    key_finger(key_pair_public(key.pair), finger);
    log_info("%s master key, fingerprint %s", made ? "new" : "the", finger);
    if (key.vouched) {
        key_finger_of(KEY_KIND_SIGN, key.voucher.signer, signer);
        log_info("its signing key, fingerprint %s", signer);
    }
    return 0;
}

void
rotate_close(front_t *self)
{
    masterkey_close(&self->own.key);
    json_decref(STEAL(self->own.claim));
}

static bool
s_tell(front_t *self, peer_t *peer)
{
    bool known = peer->state == KEY_ACCEPTED || peer->state == KEY_PENDING;
    return known && publish_send(self, peer, MSG_master_key, self->own.claim) == 0;
}

void
rotate_greeted(front_t *self, peer_t *peer)
{
    if (self->own.tell_ms && self->own.key.vouched)
        (void) s_tell(self, peer);
}

static json_int_t
s_tell_all(front_t *self)
{
    json_int_t told = 0;
    peer_t *peer;
    for (size_t i = 0; peers_next(self->peers, &i, &peer);) {
        if (peer->minion && peer->minion->peer == peer)
            peer->minion->seen = false; /* as after a start: it is on its way back */
        told += s_tell(self, peer);
    }
    return told;
}

/* With its listener libzmq ends the connections that came through it, and tells no monitor: their
 * descriptors are others' from now on. */
static void
s_forget_lines(front_t *self)
{
    peer_t *peer;
    minion_t *m;
    for (size_t i = 0; peers_next(self->peers, &i, &peer);)
        if (peer->fd >= 0)
            peers_end(self->peers, peer->fd);
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        while ((m = peers_by_slot(self->peers, i)) && peers_take_sub(self->peers, m) >= 0)
            ;
    gate_all_went(self);
}

/* A master that can't be reached is of no use: the next start has the new key on its ports. */
static void
s_rekey(front_t *self)
{
    fail_auto_t err = FAIL_INIT;
    if (sock_rekey(self->router, self->own.key.pair, &err) == 0 &&
        sock_rekey(self->pub, self->own.key.pair, &err) == 0)
        return;
    log_critical("%s; the master ends, so that it is started again with its new key", fail_text(&err));
    self->exit_code = 1;
    self->stop = true;
}

json_t *
rotate_request(front_t *self, fail_t *err)
{
    masterkey_t key;
    char finger[FINGER_LEN];
    int64_t now = clock_mono_ms();
    if (masterkey_rotate(self->opts, err) < 0)
        return NULL;
    if (masterkey_open(&key, self->opts, NULL, err) < 0) {
        masterkey_close(&key);
        fail_prefix(err, "the new key is on the disk, but this master goes on with the old one: ");
        return NULL;
    }
    s_take(self, &key);
    json_int_t told = s_tell_all(self);
    inbound_monitors(self);
    s_rekey(self);
    s_forget_lines(self);
    self->own.tell_ms = now + GATE_SILENT_MS;
    self->grace_from_ms = now;
    key_finger(key_pair_public(key.pair), finger);
    log_warning("the master has a new key, fingerprint %s; %d connections were told", finger, (int) told);
    json_t *data = json_pack("{s:b, s:s, s:s, s:s, s:I}", "result", true, "act", "rotate", "id",
                             conf_str(self->conf, "id"), "finger", finger, "serial",
                             (json_int_t) key.voucher.serial);
    (void) bus_fire(self, "salt/key", &data);
    return json_pack("{s:s, s:I, s:I}", "finger", finger, "serial", (json_int_t) key.voucher.serial, "told",
                     told);
}

void
rotate_tick(front_t *self, int64_t now_ms)
{
    if (self->own.tell_ms && now_ms >= self->own.tell_ms)
        self->own.tell_ms = 0;
}
