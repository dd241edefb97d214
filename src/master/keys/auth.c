/* auth.c - authentication of minions: hello, automatic and operators' decisions about keys, and cutting
 * connections of keys that are not accepted.
 *
 * A connection proves a key by its CURVE handshake, and its hello claims an id. auth_claim binds both: an id
 * has one key, a key has one id. An unknown pair is decided by policy and becomes a key file; key files are
 * the truth, the tables and the ZAP handler follow them (auth_learn). If a second connection shows a
 * connected minion's key, the first gets RIVAL_GRACE_MS to prove that it lives: a restart replaces it, a
 * copied key is refused. */
#include "master/keys/auth.h"

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/net/proto.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/minions/gate.h"
#include "master/front/hooks.h"
#include "master/keys/autosign.h"
#include "master/keys/identity.h"
#include "master/keys/keychange.h"
#include "master/operators/lconn.h"
#include "master/minions/message.h"
#include "master/front/noise.h"
#include "master/events/numbers.h"
#include "master/front/part.h"
#include "master/minions/ports.h"
#include "master/minions/post.h"
#include "master/minions/refused.h"
#include "master/keys/rekey.h"
#include "master/front/request.h"
#include "salt/log.h"
#include "salt/value.h"

/* Pause before key files that could not be read are tried again: doubled each time, as all files are read and
 * a disk may stay broken. */
#define KEYS_AGAIN_MS     5000
#define KEYS_AGAIN_MAX_MS 600000
#define SUB_SPREAD_MS     2 /* per minion: spreads a fleet's subscriptions so that they take half a core */

#define TWIN_MS 60000
#define RIVAL_GRACE_MS                                                                                       \
    2000 /* how long a connected minion may take to show that it lives when its key connects again */

typedef struct auth {
    rate_t strangers; /* rate of events that unaccepted keys may cause */
    bool full;        /* LIMIT_PENDING_KEYS keys are pending */
    int64_t again_ms; /* monotonic: when to read keys again; 0: all were read */
    int64_t pause_ms; /* the pause before that */
} auth_t;

static auth_t *
auth_own(const front_t *front)
{
    return front->own[PART_auth];
}

/* Rate-limit the events of a hello: it costs its sender nothing and could push everything else out of the
 * journal. */
static bool
may_be_told(front_t *self, const peer_t *peer)
{
    int64_t now = clock_mono_ms();
    return peer->state == KEY_ACCEPTED ? minion_may_tell(peer->minion, 0, now)
                                       : rate_spare(&auth_own(self)->strangers, now);
}

/* Fire salt/auth, with Salt's fields, on which reactors accept keys. */
static void
fire_auth(front_t *self, const peer_t *peer, const char *id, bool result, const char *act, const char *other)
{
    uint8_t key[KEY_BYTES];
    if (!conf_bool(self->conf, "auth_events") || !may_be_told(self, peer))
        return;
    AUTO_FREE char *pem = key_from_z85(peer->z85, key) ? key_public_pem(key) : xstrdup("");
    json_t *data = json_pack("{s:b, s:s, s:s, s:s, s:s, s:s*}", "result", result, "act", act, "id", id, "pub",
                             pem, "address", peer->address, "other", other);
    (void) bus_fire(self, "salt/auth", &data);
}

/* Write what a minion caused with its key to the audit log; lines of strangers are rate-limited. */
static void
auth_audit(front_t *self, const peer_t *peer, const char *id, const char *act, const char *other)
{
    uint8_t key[KEY_BYTES];
    char finger[FINGER_LEN] = "";
    if (key_from_z85(peer->z85, key))
        key_finger(key, finger);
    json_t *line = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s*}", "minion", id, "address", peer->address, "op",
                             "key", "act", act, "finger", finger, "other", other);
    if (peer->state == KEY_ACCEPTED)
        audit_write(self->audit, &line);
    else
        audit_write_spare(self->audit, AUDIT_STRANGERS, &line);
}

static void
fire_key(front_t *self, const char *id, const char *act)
{
    json_t *data = json_pack("{s:b, s:s, s:s}", "result", true, "act", act, "id", id);
    (void) bus_fire(self, "salt/key", &data);
}

/* Answer a hello. Only accepted minions are told which release this is. */
static void
auth_welcome(front_t *self, peer_t *peer, const char *state, const char *reason)
{
    json_auto_t *body = json_pack("{s:s, s:i, s:i, s:I}", "state", state, "publish_port",
                                  (int) conf_int(self->conf, "publish_port"), "proto", WIRE_PROTO,
                                  "sub_spread_ms",
                                  (json_int_t) peers_count(self->peers, KEY_ACCEPTED) * SUB_SPREAD_MS);
    if (reason != NULL)
        json_object_set_new(body, "reason", json_string(reason));
    if (str_eq(state, "accepted"))
        json_object_set_new(body, "halite", json_string(HALITE_RELEASE));
    if (identity_key(self)->vouched)
        json_object_set(body, "voucher", identity_claim(self));
    (void) post_send(self, peer, MSG_welcome, body);
    hook_greeted(self, peer);
}

/* Cut a minion's connections and close its open jobs: the key is no longer valid. Connections of another id
 * that has the key, and keeps it, stay. */
static void
cut_minion(front_t *self, minion_t *m, const char *z85, bool was_accepted)
{
    const minion_t *holder = peers_by_key(self->peers, z85);
    bool others = holder != NULL && holder != m;
    keychange_cut(self, m, others ? "" : z85, was_accepted && !others);
    hook_dismissed(self, m);
}

static zap_verdict_t
verdict(key_state_t state)
{
    return state == KEY_ACCEPTED ? ZAP_ACCEPTED : state == KEY_REJECTED ? ZAP_REJECTED : ZAP_PENDING;
}

/* The ZAP handler follows the table: of a key that stands under several ids the table knows whose it is. */
static void
auth_permit(front_t *self, const char *z85)
{
    const minion_t *m = peers_by_key(self->peers, z85);
    zap_set(self->zap, z85, m != NULL ? verdict(m->state) : ZAP_UNKNOWN);
}

/* Forget an id whose key file is gone: next key, handshake permission, connections, jobs, table entry. */
static void
auth_forget(front_t *self, minion_t *m)
{
    char z85[KEY_Z85_LEN];
    (void) str_copy(z85, sizeof(z85), m->z85);
    rekey_forget(self, m);
    if (peers_by_key(self->peers, z85) == m)
        zap_set(self->zap, z85, ZAP_UNKNOWN);
    cut_minion(self, m, z85, m->state == KEY_ACCEPTED);
    peers_forget(self->peers, &m);
    auth_permit(self, z85);
}

/* Delete all that the store has of an id, in one commit. */
static void
forget_data(front_t *self, const char *id)
{
    store_together(self->store);
    hook_forgotten(self, id);
    store_apart(self->store);
}

static void auth_accepted(front_t *self, minion_t *m);

/* Make `key` in `state` the key of `id`: in the tables, in the ZAP handler and for open connections. A
 * changed key, or one no longer accepted, cuts them. BORROWED.
 */
static minion_t *
auth_learn(front_t *self, const char *id, const uint8_t key[KEY_BYTES], key_state_t state)
{
    minion_t *m = peers_by_id(self->peers, id);
    key_state_t was = m != NULL ? m->state : KEY_UNKNOWN;
    char z85[KEY_Z85_LEN], old[KEY_Z85_LEN] = "";
    key_to_z85(key, z85);
    if (m != NULL)
        (void) str_copy(old, sizeof(old), m->z85);
    bool other = m != NULL && !str_eq(old, z85);
    if (m != NULL && (other || state != KEY_ACCEPTED))
        rekey_forget(self, m);
    m = peers_know(self->peers, id, key, state);
    m->key_since_s = 0; /* the file may be a new one: read its time again */
    if (other || was != state)
        m->expiring = m->expired = false;
    if (other)
        auth_permit(self, old);
    auth_permit(self, m->z85);
    const minion_t *holder = peers_by_key(self->peers, m->z85);
    if (state == KEY_ACCEPTED && holder != m && (other || was != state))
        log_warning(
            "minion %s: its key is that of the minion %s: one key can't have two ids, so that %s can't "
            "connect; delete one of them (salt-key -d)",
            id, holder->id, id);
    if (other || (was == KEY_ACCEPTED && state != KEY_ACCEPTED) || state == KEY_REJECTED)
        cut_minion(self, m, other ? old : m->z85, was == KEY_ACCEPTED);
    if (state == KEY_ACCEPTED && was != KEY_ACCEPTED)
        auth_accepted(self, m);
    return m;
}

/* Let an accepted key speak for its id: bind the connection, make it the minion's, and welcome it. */
static void
admit(front_t *self, peer_t *peer, minion_t *m)
{
    peer->state = KEY_ACCEPTED;
    peers_bind(peer, m);
    gate_accepted(self, peer->fd);
    if (peer->is_call) {
        auth_welcome(self, peer, "accepted", NULL);
        return;
    }
    if (!str_eq(m->series, peer->series)) {
        m->starts++;
        m->events_unread = str_empty(m->series);
        m->last_event = m->kept_event = m->lost_event = 0;
    }
    (void) str_copy(m->series, sizeof(m->series), peer->series);
    (void) numbers_kept(self, m); /* on failure, retried with its first event */
    (void) str_copy(m->boot, sizeof(m->boot), peer->boot);
    (void) str_copy(m->release, sizeof(m->release), peer->release);
    m->peer = peer;
    m->seen = true;
    log_debug("minion %s at %s: connected", m->id, peer->address);
    auth_welcome(self, peer, "accepted", NULL);
}

/* Refuse a hello, in log, event, audit log and answer. `known`: the minion that rightfully has the id or key;
 * NULL: another reason. Two machines that claim the same are reported once per TWIN_MS. */
static void
auth_refuse(front_t *self, peer_t *peer, const char *id, const char *act, const char *reason, minion_t *known)
{
    const char *other = known != NULL && known->peer != NULL && known->peer != peer ? known->peer->address
                                                                                    : NULL;
    int64_t now = clock_mono_ms();
    bool lately = known != NULL && known->twin_told_ms && now - known->twin_told_ms < TWIN_MS;
    if (known != NULL && !lately)
        known->twin_told_ms = now;
    if (lately)
        self->counters.refused++;
    else if (other != NULL)
        refused_tell(self, REFUSED_HELLO, peer->address, "minion %s: %s (the one at %s has it)", id, reason,
                     other);
    else
        refused_tell(self, REFUSED_HELLO, peer->address, "minion %s: %s", id, reason);
    self->counters.auth[str_eq(act, "full") ? AUTH_MAX_MINIONS : AUTH_REJECTED]++;
    peers_bind(peer, NULL);
    peer->state = KEY_DENIED;
    gate_unaccepted(self, peer->fd);
    if (!lately) {
        fire_auth(self, peer, id, false, act, other);
        auth_audit(self, peer, id, act, other);
    }
    auth_welcome(self, peer, act, reason);
}

/* The configured state of an unknown key: accepted, rejected, or pending. While autoreject_file, or a line of
 * it, can't be read, nobody is accepted automatically, since whom it names is unknown. */
static key_state_t
policy(front_t *self, const char *id, const uint8_t key[KEY_BYTES], const json_t *claim)
{
    fail_auto_t err = FAIL_INIT;
    bool permissive = conf_bool(self->conf, "permissive_pki_access");
    const char *reject = conf_str(self->conf, "autoreject_file"),
               *sign = conf_str(self->conf, "autosign_file"),
               *grains = conf_str(self->conf, "autosign_grains_dir");
    key_state_t state = KEY_PENDING;
    if (*reject && fs_absent(reject))
        (void) fail_set(&err, -ENOENT, "%s is not there", reject);
    else if (*reject && keystore_listed(reject, id, permissive, &err))
        state = KEY_REJECTED;
    if (state == KEY_PENDING && err.text != NULL)
        log_error("minion %s waits for an operator, as autoreject_file can't be read", id);
    else if (state == KEY_PENDING &&
             (conf_bool(self->conf, "auto_accept") ||
              (*sign && keystore_listed(sign, id, permissive, &err)) ||
              keystore_take_autosign(conf_str(self->conf, "pki_dir"), id,
                                     (int) conf_int(self->conf, "autosign_timeout")) ||
              keystore_take_expected(conf_str(self->conf, "pki_dir"), id, key) ||
              (*grains && keystore_grains_listed(grains, claim, permissive, &err))))
        state = KEY_ACCEPTED;
    if (err.text != NULL)
        log_warning("%s", fail_text(&err));
    return state;
}

/* Keep the refused key as a file in minions_denied, as Salt does, unless it is there already. */
static void
deny_file(front_t *self, const char *id, const char *z85)
{
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES], known[KEY_BYTES];
    if (!key_from_z85(z85, key))
        return;
    if (keystore_get(self->keystore, id, KEY_DENIED, known, NULL) && memcmp(key, known, KEY_BYTES) == 0)
        return;
    if (keystore_put(self->keystore, id, KEY_DENIED, key, &err) < 0)
        noise_warn(self, "%s", fail_text(&err));
}

/* Turn unknown keys away in the ZAP handler while too many are pending. */
static void
full_check(front_t *self)
{
    bool full = peers_count(self->peers, KEY_PENDING) >= LIMIT_PENDING_KEYS &&
                !conf_bool(self->conf, "auto_accept");
    if (full == auth_own(self)->full)
        return;
    auth_own(self)->full = full;
    if (full)
        log_warning("%d keys wait for acceptance: further unknown minions are turned away until some are "
                    "accepted, rejected or "
                    "deleted (salt-key -L)",
                    LIMIT_PENDING_KEYS);
    gate_full(self, full);
}

/* The pending key now claims another id: the minion was renamed before it was accepted. One key takes one
 * place among the pending. */
static void
renamed(front_t *self, minion_t *old, const char *id)
{
    fail_auto_t err = FAIL_INIT;
    log_info("minion %s: it calls itself %s now", old->id, id);
    if (keystore_delete(self->keystore, old->id, KEY_PENDING, &err) < 0)
        log_error("%s", fail_text(&err));
    peers_forget(self->peers, &old);
}

/* Store the key of a new id. `old`: the id under which this key is pending, or NULL; it is replaced. NULL
 * when the key could not be stored; the peer has been told. */
static minion_t *
first_contact(front_t *self, peer_t *peer, const char *id, minion_t *old, const json_t *hello)
{
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];
    if (!key_from_z85(peer->z85, key))
        return NULL;
    if (auth_own(self)->full && old == NULL) {
        auth_welcome(self, peer, "full", "too many keys wait for acceptance on this master");
        return NULL;
    }
    key_state_t state = policy(self, id, key, value_get(hello, "autosign_grains"));
    if (keystore_put(self->keystore, id, state, key, &err) < 0) {
        log_error("minion %s: its key can't be stored: %s", id, fail_text(&err));
        auth_welcome(self, peer, "full", "the master can't store the key");
        return NULL;
    }
    if (old != NULL)
        renamed(self, old, id);
    minion_t *m = auth_learn(self, id, key, state);
    full_check(self);
    log_info("minion %s at %s: new key, %s", id, peer->address, key_state_name(state));
    auth_audit(self, peer, id, key_state_name(state), NULL);
    return m;
}

/* True when the hello must wait: the minion is connected with the same key but another start. The first
 * connection is probed with an empty message, to which a live minion answers with a hello.
 */
static bool
auth_rival(front_t *self, peer_t *peer, minion_t *m, const json_t *hello)
{
    peer_t *old = m->peer;
    if (old == NULL || old == peer || peer->is_call || str_eq(old->boot, peer->boot))
        return false;
    if (m->rival == peer)
        return true;
    if (sock_send_to(self->router, old->rid, old->rid_len, "", 0) < 0) {
        gate_cut(self, old->fd);
        peers_drop(self->peers, &old);
        return false;
    }
    if (m->rival != NULL)
        auth_refuse(self, m->rival, m->id, "duplicate", "a third machine shows the same key", m);
    m->rival = peer;
    m->rival_until_ms = clock_mono_ms() + RIVAL_GRACE_MS;
    json_decref(peer->hello);
    peer->hello = json_incref((json_t *) hello);
    peers_bind(peer, m);
    peer->state = KEY_UNKNOWN;
    return true;
}

/* The first connection is dead or gone: the second takes its place with the hello that was kept. */
static void
rival_won(front_t *self, minion_t *m)
{
    peer_t *rival = STEAL(m->rival), *old = m->peer;
    if (old != NULL) {
        gate_cut(self, old->fd);
        peers_drop(self->peers, &old);
    }
    json_auto_t *hello = STEAL(rival->hello);
    admit(self, rival, m);
    fire_auth(self, rival, m->id, true, "accept", NULL);
    hook_connected(self, m, hello, true);
}

bool
auth_heed(front_t *self, const char *id)
{
    static const char *const acts[] = {
        [KEY_ACCEPTED] = "accept", [KEY_REJECTED] = "reject", [KEY_PENDING] = "pend"
    };
    minion_t *m = peers_by_id(self->peers, id);
    key_state_t was = m != NULL ? m->state : KEY_UNKNOWN, state = KEY_UNKNOWN;
    fail_auto_t err = FAIL_INIT;
    uint8_t key[KEY_BYTES];
    int rc = keystore_state(self->keystore, id, &state, &err);
    if (rc == 0 && state == was)
        return false;
    if (rc < 0 || (state != KEY_UNKNOWN && !keystore_get(self->keystore, id, state, key, &err))) {
        noise_warn(self, "minion %s: %s", id,
                   err.text != NULL ? fail_text(&err) : "there is no key in its file");
        return false;
    }
    if (state != KEY_UNKNOWN) {
        log_info("minion %s: its key's file was put into %s by hand", id, key_state_dir(state));
        (void) auth_learn(self, id, key, state);
        keychange_tell(self, NULL, id, acts[state], json_pack("{s:s}", "cause", "file"));
    } else {
        log_warning("minion %s: its key's file was removed by hand: the key is deleted", id);
        auth_forget(self, m);
        forget_data(self, id);
        keychange_tell(self, NULL, id, "delete", json_pack("{s:s}", "cause", "file"));
    }
    full_check(self);
    return true;
}

/* Heeds the files of an id that a hello is about. False: the peer is cut, as auth_learn() and auth_forget()
 * do with a key that is accepted no more. */
static bool
auth_heed_hello(front_t *self, const peer_t *peer, const char *id)
{
    const minion_t *m = peers_by_id(self->peers, id);
    bool was_accepted = m != NULL && m->state == KEY_ACCEPTED,
         was_its = m != NULL && str_eq(m->z85, peer->z85);
    if (!auth_heed(self, id))
        return true;
    m = peers_by_id(self->peers, id);
    if (m == NULL)
        return !was_its;
    bool cut = m->state == KEY_REJECTED || (was_accepted && m->state != KEY_ACCEPTED);
    return !cut || !str_eq(m->z85, peer->z85);
}

/* Check a claim of `id` with the connection's key. Returns the key's state and *ret_m; KEY_UNKNOWN: refused,
 * and the peer has been told. */
static key_state_t
auth_claim(front_t *self, peer_t *peer, const char *id, const json_t *hello, minion_t **ret_m)
{
    if (!auth_heed_hello(self, peer, id))
        return KEY_UNKNOWN;
    minion_t *owner = peers_by_key(self->peers, peer->z85);
    /* A file that was renamed by hand: its old id is gone. */
    if (owner != NULL && !str_eq(owner->id, id) && !auth_heed_hello(self, peer, owner->id))
        return KEY_UNKNOWN;
    owner = peers_by_key(self->peers, peer->z85);
    minion_t *m = peers_by_id(self->peers, id);
    if (owner != NULL && owner->state != KEY_PENDING && !str_eq(owner->id, id)) {
        AUTO_FREE char *why = xasprintf(
            "its key belongs to the minion '%s': one key can't have two ids; to rename a minion, delete "
            "its old id with salt-key -d",
            owner->id);
        auth_refuse(self, peer, id, "denied", why, owner);
        return KEY_UNKNOWN;
    }
    if (m != NULL && owner == NULL && rekey_came(self, peer, m))
        owner = m;
    if (m != NULL && !str_eq(m->z85, peer->z85)) {
        deny_file(self, id, peer->z85);
        auth_refuse(self, peer, id, "denied",
                    m->state == KEY_PENDING
                        ? "another key already waits for acceptance under this id; delete "
                          "the wrong one with salt-key -d"
                        : "another key is known for this id; if the minion was reinstalled, "
                          "delete its old key with salt-key -d",
                    m);
        return KEY_UNKNOWN;
    }
    if (m == NULL && (m = first_contact(self, peer, id, owner, hello)) == NULL)
        return KEY_UNKNOWN;
    *ret_m = m;
    return m->state;
}

/* False: the peer speaks another protocol and was told which side to upgrade. This master's release is told
 * to accepted minions only. */
static bool
is_understood(front_t *self, peer_t *peer, const char *id, const json_t *body)
{
    char release[LIMIT_RELEASE];
    minion_t *m = peers_by_key(self->peers, peer->z85);
    bool ours = m != NULL && m->state == KEY_ACCEPTED;
    proto_release(body, release);
    AUTO_FREE char *problem = proto_problem((proto_side_t){ value_int(body, "proto", 0), release },
                                            (proto_side_t){ WIRE_PROTO, ours ? HALITE_RELEASE : "" });
    if (problem != NULL)
        auth_refuse(self, peer, id, "protocol", problem, NULL);
    return problem == NULL;
}

/* The message hello: check id, protocol and claim, then admit the connection, refuse it or leave it
 * pending. */
static void
auth_hello(front_t *self, peer_t *peer, const inbound_t *in)
{
    const json_t *body = in->body;
    fail_auto_t err = FAIL_INIT;
    const char *id = value_str(body, "id", "");
    if (!conf_id_valid(id, &err)) {
        AUTO_FREE char *why = xasprintf("%s; set another `id` in the minion's configuration",
                                        fail_text(&err));
        auth_refuse(self, peer, "(invalid)", "denied", why, NULL);
        self->counters.auth[AUTH_REJECTED]--;
        self->counters.auth[AUTH_INVALID_ID]++;
        return;
    }
    if (!is_understood(self, peer, id, body))
        return;
    peer->is_call = str_eq(value_str(body, "role", "minion"), "call");
    proto_release(body, peer->release);
    (void) str_copy(peer->boot, sizeof(peer->boot), value_str(body, "boot", ""));
    (void) str_copy(peer->series, sizeof(peer->series), value_str(body, "series", peer->boot));
    minion_t *m = NULL;
    key_state_t state = auth_claim(self, peer, id, body, &m);
    if (state == KEY_UNKNOWN)
        return;
    if (m->rival != NULL && m->peer == peer) {
        /* The first connection answered: the second is another machine with a copied key. */
        AUTO_FREE char *reason = xasprintf(
            "this minion's key is already in use by a connected minion at %s: two machines share one "
            "key; give each its own (delete its pki folder and restart it)",
            m->peer->address);
        auth_refuse(self, m->rival, m->id, "duplicate", reason, m);

        return;
    }
    if (state == KEY_ACCEPTED) {
        bool again = m->peer == peer, rebooted = !str_eq(m->boot, peer->boot);
        if (auth_rival(self, peer, m, body))
            return;
        admit(self, peer, m);
        self->counters.auth[AUTH_SUCCESS] += !again;
        if (!again)
            fire_auth(self, peer, id, true, "accept", NULL);
        if (!peer->is_call)
            hook_connected(self, m, body, rebooted);
        return;
    }
    peers_bind(peer, m);
    peer->state = state;
    free(m->greeted);
    m->greeted = xstrdup(peer->address);
    self->counters.auth[state == KEY_PENDING ? AUTH_PENDING : AUTH_REJECTED]++;
    fire_auth(self, peer, id, state == KEY_PENDING, state == KEY_PENDING ? "pend" : "reject", NULL);
    auth_welcome(self, peer, state == KEY_PENDING ? "pending" : "rejected",
                 m->expired ? "this minion's key is older than key_expire_days on the master allows" : NULL);
    if (state == KEY_REJECTED)
        gate_cut(self, peer->fd);
}

/* The connection ended, or said goodbye. A waiting rival takes over, else the minion is disconnected. */
static void
auth_left(front_t *self, peer_t *peer)
{
    minion_t *m = peer->minion;
    bool was_current = m != NULL && m->peer == peer;
    hook_peer_left(self, peer);
    peers_bind(peer, NULL);
    if (!was_current)
        return;
    m->gone_ms = clock_mono_ms();
    if (m->rival != NULL)
        rival_won(self, m);
    else
        hook_disconnected(self, m);
}

/* Goodbye of a minion. The master closes the connection itself: one whose peer stayed connected without an
 * entry would count towards no limit. The entry goes when the monitor reports the end. */
static void
bye(front_t *self, peer_t *peer, const inbound_t *in)
{
    auth_left(self, peer);
    peer->state = KEY_UNKNOWN;
    peer->over = true;
    ports_look(self);
    gate_cut(self, peer->fd);
}

/* Hook: a SUB connection of a key that is not accepted, or has too many, is cut. */
static void
subscribed(front_t *self, const char *z85, int fd)
{
    minion_t *m = peers_by_key(self->peers, z85);
    if (m == NULL || m->state != KEY_ACCEPTED || m->n_subs >= LIMIT_MINION_SUBS) {
        gate_cut(self, fd);
        return;
    }
    peers_add_sub(self->peers, m, fd);
    gate_accepted(self, fd);
}

/* ---- operators' decisions -------------------------------------------------------------------- */

/* A key was just accepted: admit its waiting connections. Of two minions with it (two machines, or a
 * restart), the second must say hello again and is then judged as a rival. */
static void
auth_accepted(front_t *self, minion_t *m)
{
    peer_t *peer;
    for (size_t i = 0; peers_next(self->peers, &i, &peer);) {
        if (peer->minion != m || peer->state != KEY_PENDING || !str_eq(peer->z85, m->z85))
            continue;
        if (!peer->is_call && m->peer != NULL) {
            (void) sock_send_to(self->router, peer->rid, peer->rid_len, "", 0);
            continue;
        }
        admit(self, peer, m);
        if (!peer->is_call)
            hook_connected(self, m, NULL, true);
    }
}
/* Accept a key: move its file, then learn it. `from`: the state whose folder has it. */

static bool
apply_accept(front_t *self, const char *id, key_state_t from, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    uint8_t key[KEY_BYTES];
    if (!keystore_get(self->keystore, id, from, key, &why)) {
        (void) fail_set(err, why.code ? why.code : -EINVAL, "%s",
                        why.code ? fail_text(&why) : "there is no key in the file");
        return false;
    }
    if (keystore_move(self->keystore, id, from, KEY_ACCEPTED, err) < 0)
        return false;
    (void) auth_learn(self, id, key, KEY_ACCEPTED);
    fire_key(self, id, "accept");
    return true;
}

/* A file without a valid key is moved all the same. */
static bool
apply_reject(front_t *self, const char *id, key_state_t from, fail_t *err)
{
    uint8_t key[KEY_BYTES];
    bool readable = keystore_get(self->keystore, id, from, key, NULL);
    if (keystore_move(self->keystore, id, from, KEY_REJECTED, err) < 0)
        return false;
    minion_t *m = peers_by_id(self->peers, id);
    if (readable)
        (void) auth_learn(self, id, key, KEY_REJECTED);
    else if (m != NULL && m->state == from)
        auth_forget(self, m);
    fire_key(self, id, "reject");
    return true;
}

/* Delete a key file; if the id is in that state, also forget the minion and its data. */
static bool
apply_delete(front_t *self, const char *id, key_state_t from, fail_t *err)
{
    if (keystore_delete(self->keystore, id, from, err) < 0)
        return false;
    minion_t *m = peers_by_id(self->peers, id);
    if (m != NULL && m->state == from) {
        auth_forget(self, m);
        forget_data(self, id);
    }
    fire_key(self, id, "delete");
    return true;
}

/* A minion asks to delete its own key; the connection proves which. Subject to allow_minion_key_revoke, as in
 * Salt. */
static void
auth_revoke(front_t *self, peer_t *peer, const inbound_t *in)
{
    fail_auto_t err = FAIL_INIT;
    bool keep_data = value_bool(in->body, "preserve_minion_cache", false);
    if (peer->minion == NULL)
        return;
    AUTO_FREE char *id = xstrdup(peer->minion->id);
    if (!conf_bool(self->conf, "allow_minion_key_revoke")) {
        noise_warn(self, "minion %s asks for its key to be deleted: allow_minion_key_revoke is off", id);
        return;
    }
    if (keystore_delete(self->keystore, id, peer->minion->state, &err) < 0) {
        log_error("keys: minion %s asks for its key to be deleted: %s", id, fail_text(&err));
        return;
    }
    log_info("minion %s has its key deleted by its own wish", id);
    auth_audit(self, peer, id, "revoke", NULL);
    auth_forget(self, peer->minion);
    if (!keep_data)
        forget_data(self, id);
    fire_key(self, id, "delete");
    full_check(self);
}

/* Move an accepted key back to pending; delete a pending one with its data. */
void
auth_expire(front_t *self, minion_t *m)
{
    fail_auto_t err = FAIL_INIT;
    AUTO_FREE char *id = xstrdup(m->id);
    uint8_t key[KEY_BYTES];
    bool waits = m->state == KEY_PENDING;
    int rc = waits ? keystore_delete(self->keystore, id, KEY_PENDING, &err)
                   : keystore_move(self->keystore, id, m->state, KEY_PENDING, &err);
    if (rc < 0 || !key_from_z85(m->z85, key)) {
        noise_warn(self, "minion %s: its key is too old: %s", id, fail_text(&err));
        return;
    }
    if (waits) {
        auth_forget(self, m);
        forget_data(self, id);
    } else {
        auth_learn(self, id, key, KEY_PENDING)->expired = true;
    }
    log_warning("minion %s: its key is too old: it %s", id,
                waits ? "waited in vain" : "waits for acceptance again");
    keychange_tell(self, NULL, id, waits ? "delete" : "expire", NULL);
    full_check(self);
}

typedef bool apply_fn(front_t *self, const char *id, key_state_t from, fail_t *err);
static const struct {
    const char *name;
    apply_fn *fn;
} actions[] = { { "accept", apply_accept }, { "reject", apply_reject }, { "delete", apply_delete } };

/* Delete a key file whose name is not a valid id, and what an older master stored under it. */
static bool
apply_unfit(front_t *self, const char *name, fail_t *err)
{
    if (keystore_unfit_delete(self->keystore, name, err) < 0)
        return false;
    forget_data(self, name);
    fire_key(self, name, "delete");
    return true;
}

/* Apply an action to one id in each wanted state in which it has a file. True when one succeeded. */
static bool
apply_one(front_t *self, apply_fn *fn, const char *id, const json_t *from, fail_t *err)
{
    size_t i;
    json_t *dir;
    bool done = false;
    json_array_foreach (from, i, dir) {
        key_state_t state = key_state_of_dir(json_string_value(dir));
        if (fn == apply_delete && str_eq(json_string_value(dir), KEY_UNFIT) && apply_unfit(self, id, err))
            done = true;
        if (state < KEY_STATES && keystore_has(self->keystore, id, state) && fn(self, id, state, err))
            done = true;
    }
    return done;
}

static int auth_load(front_t *self, fail_t *err);

/* The request key_apply: NEW {done: [id], failed: {id: reason}}, NULL with *err. `more`: further calls
 * follow, only the last one syncs the disk. */
static json_t *
auth_apply(front_t *self, const char *action, const json_t *ids, const json_t *from, bool more, fail_t *err)
{
    apply_fn *fn = NULL;
    for (size_t i = 0; i < NELEMS(actions); i++)
        if (str_eq(action, actions[i].name))
            fn = actions[i].fn;
    if (fn == NULL && str_eq(action, "reload"))
        return auth_load(self, err) == 0 ? json_pack("{s:[]}", "done") : NULL;
    if (fn == NULL || !json_is_array(ids) || !json_is_array(from)) {
        (void) fail_set(err, -EINVAL,
                        "key_apply: action is accept, reject, delete or reload; ids and from are lists");
        return NULL;
    }
    json_t *done = json_array(), *failed = json_object(), *id;
    size_t i;
    json_array_foreach (ids, i, id) {
        fail_auto_t why = FAIL_INIT;
        if (!json_is_string(id))
            continue;
        if (apply_one(self, fn, json_string_value(id), from, &why))
            json_array_append(done, id);
        if (why.text != NULL) {
            log_error("keys: %s %s: %s", action, json_string_value(id), fail_text(&why));
            json_object_set_new(failed, json_string_value(id), json_string(fail_text(&why)));
        }
    }
    full_check(self);
    /* Sync before answering "done": a rejected or deleted key must not be accepted again after a power
     * cut. */
    json_t *answer = json_pack("{s:o, s:o}", "done", done, "failed", failed);
    if (more || keystore_sync(self->keystore, err) == 0)
        return answer;
    log_error("keys: %s: %s", action, fail_text(err));
    json_decref(answer);
    return NULL;
}

/* ---- key files ------------------------------------------------------------------------------- */

/* {id: state} of all key files. For an id with several, accepted wins over rejected over pending. NEW, or
 * NULL with *err.
 */
static json_t *
auth_states(front_t *self, fail_t *err)
{
    static const key_state_t order[] = { KEY_PENDING, KEY_REJECTED, KEY_ACCEPTED };
    json_t *states = json_object(), *id;
    for (size_t k = 0; k < NELEMS(order); k++) {
        json_auto_t *ids = keystore_list(self->keystore, order[k], err);
        size_t i;
        if (ids == NULL) {
            json_decref(states);
            return NULL;
        }
        json_array_foreach (ids, i, id)
            json_object_set_new(states, json_string_value(id), json_integer(order[k]));
    }
    return states;
}

/* Read all key files into the tables, and forget ids without one. Files that could not be read for now are
 * retried with a growing pause, beginning with KEYS_AGAIN_MS. */
static int
auth_load(front_t *self, fail_t *err)
{
    auth_t *own = auth_own(self);
    int64_t longer = own->pause_ms ? 2 * own->pause_ms : KEYS_AGAIN_MS;
    own->pause_ms = longer < KEYS_AGAIN_MAX_MS ? longer : KEYS_AGAIN_MAX_MS;
    own->again_ms = clock_mono_ms() + own->pause_ms;
    json_auto_t *states = auth_states(self, err);
    const char *id;
    json_t *state;
    minion_t *m;
    if (states == NULL)
        return err->code;
    bool unread = false;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = peers_by_slot(self->peers, i)) && json_object_get(states, m->id) == NULL)
            auth_forget(self, m);
    json_object_foreach (states, id, state) {
        fail_auto_t bad = FAIL_INIT;
        uint8_t key[KEY_BYTES];
        key_state_t to = (key_state_t) json_integer_value(state);
        if (keystore_get(self->keystore, id, to, key, &bad)) {
            (void) auth_learn(self, id, key, to);
            continue;
        }
        log_error("%s: the key is ignored: %s", id, fail_text(&bad));
        if (fs_is_passing(bad.code))
            unread = true;
    }
    if (rekey_load(self, !unread))
        own->again_ms = own->pause_ms = 0;
    full_check(self);
    return 0;
}

#define UNFIT_SHOWN 5

/* ---- messages and requests ------------------------------------------------------------------- */

const message_row_t message_hello = { .body = auth_hello };
const message_row_t message_bye = { .body = bye };
const message_row_t message_revoke = { .body = auth_revoke };

static json_t *
key_apply(front_t *self, lconn_t *c, const json_t *request, fail_t *err)
{
    const char *action = value_str(request, "action", "");
    json_t *reply = auth_apply(self, action, value_get(request, "ids"), value_get(request, "from"),
                               value_bool(request, "more", false), err);
    if (reply != NULL)
        log_info("keys: %s by %s: %zu", action, lconn_user(c), json_array_size(value_get(reply, "done")));
    return reply;
}

const request_row_t request_key_apply = { .fn = key_apply };

/* ---- life ------------------------------------------------------------------------------------ */

static int
auth_start(front_t *self, fail_t *err)
{
    auth_own(self)->strangers = (rate_t) RATE(LIMIT_STRANGER_EVENTS_RATE, LIMIT_STRANGER_EVENTS_BURST);
    int rc = auth_load(self, err);
    if (rc == 0) {
        /* Warn about key files whose names are not valid ids. */
        json_auto_t *names = keystore_unfit(self->keystore, NULL);
        size_t n = json_array_size(names);
        buf_auto_t text = BUF_INIT;
        for (size_t i = 0; i < n && i < UNFIT_SHOWN; i++)
            buf_printf(&text, "%s'%s'", i > 0 ? ", " : "", json_string_value(json_array_get(names, i)));
        if (n > 0)
            log_warning(
                "keys: %zu with a name that is not an id, and that let nobody in: %s%s. Set another `id` on those "
                "minions and accept their keys; salt-key -L lists the names, salt-key -d 'NAME' removes one",
                n, buf_str(&text), n > UNFIT_SHOWN ? ", ..." : "");

        /* Warn about a list of ids that is not there; without autoreject_file nobody is accepted, and
         * policy() says so. */
        const char *sign = conf_str(self->conf, "autosign_file");

        if (*sign != '\0' && fs_absent(sign))
            log_warning(
                "autosign_file: %s is not there, so that it accepts nobody; write it, or take the option out "
                "(root_dir is put before its path)",
                sign);
    }
    return rc;
}

static void
auth_reload(front_t *self)
{
    fail_auto_t err = FAIL_INIT;
    if (auth_load(self, &err) < 0)
        log_error("reload: keys: %s", fail_text(&err));
}

static void
auth_tick(front_t *self, int64_t now_ms)
{
    fail_auto_t unused = FAIL_INIT; /* auth_load has logged it */

    /* Decide rivals whose grace has passed. */
    minion_t *m;
    for (uint32_t i = 0; i < peers_slots(self->peers); i++)
        if ((m = peers_by_slot(self->peers, i)) && m->rival != NULL && m->rival_until_ms <= now_ms) {
            ports_look(self); /* read monitors first: the old connection is cut by its descriptor */
            rival_won(self, m);
        }

    if (auth_own(self)->again_ms && now_ms >= auth_own(self)->again_ms)
        (void) auth_load(self, &unused);
}

const front_part_t part_auth = { .name = "auth",
                                 .size = sizeof(auth_t),
                                 .start = auth_start,
                                 .reload = auth_reload,
                                 .tick = auth_tick,
                                 .peer_ended = auth_left,
                                 .subscribed = subscribed };
