/* rotate.c - replace the master's key while it runs. Connected minions get the new key with its voucher, the
 * ports are bound anew with it, and all reconnect. Jobs, the store and queued messages are kept. */
#include "common/base/clock.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/minions/gate.h"
#include "master/minions/grace.h"
#include "master/keys/identity.h"
#include "master/operators/lconn.h"
#include "master/front/part.h"
#include "master/minions/ports.h"
#include "master/minions/post.h"
#include "master/front/request.h"
#include "salt/log.h"

typedef struct rotate {
    int64_t tell_ms; /* monotonic: until then every hello is answered with the key; 0: done */
} rotate_t;

static bool
rotate_tell(front_t *self, peer_t *peer)
{
    bool known = peer->state == KEY_ACCEPTED || peer->state == KEY_PENDING;
    return known && post_send(self, peer, MSG_master_key, identity_claim(self)) == 0;
}

/* Hook: a minion that shook hands while the key changed may have missed it. */
static void
greeted(front_t *self, peer_t *peer)
{
    const rotate_t *own = self->own[PART_rotate];
    if (own->tell_ms && identity_key(self)->vouched)
        (void) rotate_tell(self, peer);
}

/* The request key_rotate: NEW {finger, serial, told: number of connections}, or NULL with *err. */
static json_t *
rotate(front_t *self, fail_t *err)
{
    rotate_t *own = self->own[PART_rotate];
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
    identity_take(self, &key);

    /* Announces the next key to all connections. */
    json_int_t told = 0;
    peer_t *peer;
    for (size_t i = 0; peers_next(self->peers, &i, &peer);) {
        if (peer->minion != NULL && peer->minion->peer == peer)
            peer->minion->seen = false; /* as after a start: it is expected back */
        told += rotate_tell(self, peer);
    }

    ports_look(self);

    /* A master with unreachable ports is useless: end, and let the next start use the new key. */
    fail_auto_t why = FAIL_INIT;
    if (sock_rekey(self->router, identity_key(self)->pair, &why) != 0 ||
        sock_rekey(self->pub, identity_key(self)->pair, &why) != 0) {
        log_critical("%s; the master ends, so that it is started again with its new key", fail_text(&why));
        self->exit_code = 1;
        self->stop = true;
    }

    /* Closing a listener makes libzmq end the connections made through it, without a monitor event; their
     * descriptors are reused. Forget them all. */
    minion_t *m;
    for (size_t i = 0; peers_next(self->peers, &i, &peer);)
        if (peer->fd >= 0)
            peers_end(self->peers, peer->fd);
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        while ((m = peers_by_slot(self->peers, i)) && peers_take_sub(self->peers, m) >= 0)
            ;
    gate_all_disconnected(self);

    own->tell_ms = now + GATE_SILENT_MS;
    grace_begin(self, now);
    key_finger(key_pair_public(key.pair), finger);
    log_warning("the master has a new key, fingerprint %s; %d connections were told", finger, (int) told);
    json_t *data = json_pack("{s:b, s:s, s:s, s:s, s:I}", "result", true, "act", "rotate", "id",
                             conf_str(self->conf, "id"), "finger", finger, "serial",
                             (json_int_t) key.voucher.serial);
    (void) bus_fire(self, "salt/key", &data);
    return json_pack("{s:s, s:I, s:I}", "finger", finger, "serial", (json_int_t) key.voucher.serial, "told",
                     told);
}

static json_t *
key_rotate(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    json_t *reply = rotate(self, err);
    if (reply != NULL)
        log_info("keys: the master's key was replaced by %s", lconn_user(c));
    return reply;
}

const request_row_t request_key_rotate = { .fn = key_rotate };

static void
rotate_tick(front_t *self, int64_t now_ms)
{
    rotate_t *own = self->own[PART_rotate];
    if (own->tell_ms && now_ms >= own->tell_ms)
        own->tell_ms = 0;
}

const front_part_t part_rotate = {
    .name = "rotate", .size = sizeof(rotate_t), .tick = rotate_tick, .greeted = greeted
};
