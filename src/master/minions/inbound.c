/* inbound.c - receive minions' messages: identify the connection, check limits, decode the frame by
 * messages.def in the state of its key, and call the handler of its row. Also reads subscriptions and answers
 * the plaintext hello port. */
#include "common/base/clock.h"
#include "common/base/jsonread.h"
#include "common/net/sock.h"
#include "master/events/bus.h"
#include "master/minions/gate.h"
#include "master/front/hooks.h"
#include "master/keys/identity.h"
#include "master/minions/message.h"
#include "master/front/part.h"
#include "master/minions/ports.h"
#include "master/minions/refused.h"
#include "salt/log.h"
#include "salt/value.h"

#define TURN_BUDGET 1000 /* messages per turn of the loop, to leave time for timers and operators */
#define TURN_MS     20   /* the same limit for large messages */
#define PROBE_MS    1000 /* a peer is asked for its hello at most this often */
#define OWN_RID_LEN 5    /* length of libzmq's own routing ids: a zero byte and a number */

static const message_row_t *const rows[MSG_COUNT] = {
#define MESSAGE_UP(name) [MSG_##name] = &message_##name,
#define MESSAGE_DOWN(name)
#define MESSAGE(name, direction, states, limit, doc) MESSAGE_##direction(name)
#include "salt/messages.def"
#undef MESSAGE
#undef MESSAGE_UP
#undef MESSAGE_DOWN
};

/* The letter of the key's state in messages.def: A accepted, P not. */
static char
state_letter(const peer_t *peer)
{
    return peer->minion != NULL && peer->state == KEY_ACCEPTED ? 'A' : 'P';
}

/* Decode and handle a frame. -EPROTO with *err: refused; -ENOMEM: the connection must be cut. */
static int
inbound_handle(front_t *self, peer_t *peer, zmq_msg_t *frame, fail_t *err)
{
    const void *data = zmq_msg_data(frame);
    size_t size = zmq_msg_size(frame);
    inbound_t in = { .text = data };
    json_auto_t *body = NULL;
    int rc = wire_open(data, size, WIRE_UP, state_letter(peer), &in.msg, &in.len, err);
    if (rc < 0)
        return rc;
    const message_row_t *row = rows[in.msg];
    self->counters.handled[in.msg]++;
    if (peer->minion != NULL)
        peer->minion->heard_ms = clock_mono_ms();
    if (row->most > 0 && !json_few(data, in.len, row->most)) {
        /* Refuse a message of too many values: building them would take seconds, in which nobody else is
         * served. */
        if (rows[in.msg]->unread != NULL)
            rows[in.msg]->unread(self, peer, &in);
        return fail_set(err, -E2BIG, "message '%s' of %zu bytes with more than %zu values", wire_name(in.msg),
                        in.len, rows[in.msg]->most);
    }
    if (row->text != NULL)
        return row->text(self, peer, &in, err);
    rc = wire_decode(data, size, WIRE_UP, state_letter(peer), &in.msg, &body, err);
    in.body = body;
    in.len = size;
    if (rc == 0)
        row->body(self, peer, &in);
    return rc;
}

/* ---- sockets --------------------------------------------------------------------------------- */

/* ports_look first: the descriptor may be another connection's by now. */
static void
inbound_cut(front_t *self, peer_t *peer)
{
    ports_look(self);
    gate_cut(self, peer->fd);
}

static size_t
inbound_lines_of(const front_t *self, const char *z85)
{
    const minion_t *m = peers_by_key(self->peers, z85);
    return m != NULL && m->state == KEY_ACCEPTED ? LIMIT_MINION_LINES : LIMIT_STRANGER_LINES;
}

/* The connection of a message, made on its first; NULL: ignored, and cut. */
static peer_t *
sender(front_t *self, const void *rid, size_t rid_len, zmq_msg_t *frame)
{
    const char *z85 = zmq_msg_gets(frame, "User-Id");
    int fd = zmq_msg_get(frame, ZMQ_SRCFD);
    peer_t *peer = NULL;
    if (peers_by_rid(self->peers, rid, rid_len) == NULL) {
        /* For a new connection read the monitors first, so that later reports about this descriptor are not
         * about an earlier one. */
        ports_look(self);
        if (!gate_is_open(self, PORT_REQUEST, fd))
            fd = -1;
    }
    /* Only routing ids made by libzmq are accepted: one chosen by the peer could imitate another's. */
    if (z85 != NULL && rid_len == OWN_RID_LEN && *(const uint8_t *) rid == 0)
        peer = peers_connect(self->peers, rid, rid_len, fd, z85, zmq_msg_gets(frame, "Peer-Address"));
    if (peer != NULL)
        fd = peer->fd;
    gate_received(self, fd, zmq_msg_size(frame));
    if (peer != NULL && peers_of_key(self->peers, z85) <= inbound_lines_of(self, z85))
        return peer;
    const char *address = zmq_msg_gets(frame, "Peer-Address");
    refused_tell(self, CUT_STRANGER, address != NULL ? address : "(unknown)", "%s",
                 peer != NULL ? "too many connections with one key" : "a routing id of its own choice");
    if (peer != NULL)
        peers_drop(self->peers, &peer);
    gate_cut(self, fd);
    return NULL;
}

static void
inbound_frame(front_t *self, const void *rid, size_t rid_len, zmq_msg_t *frame)
{
    peer_t *peer = sender(self, rid, rid_len, frame);
    self->counters.in++;
    if (peer == NULL || peer->over || zmq_msg_size(frame) == 0)
        return;
    if (peer->state != KEY_ACCEPTED && ++peer->unproven > LIMIT_UNPROVEN) {
        refused_tell(self, CUT_STRANGER, peer->address,
                     "%u messages before its key is accepted: its connection is cut", peer->unproven);
        inbound_cut(self, peer);
        return;
    }
    if (!gate_within_rate(peer, zmq_msg_size(frame))) {
        refused_tell(self, CUT_MINION, peer->address,
                     "minion %s: too many large messages: its connection is cut", peer->minion->id);
        inbound_cut(self, peer);
        return;
    }
    fail_auto_t err = FAIL_INIT;
    int rc = inbound_handle(self, peer, frame, &err);
    if (rc == -ENOMEM) {
        /* Unacknowledged messages come again on the next connection. */
        log_error("%s: %s; its connection is cut",
                  peer->minion != NULL ? peer->minion->id : "an unknown peer", fail_text(&err));
        inbound_cut(self, peer);
    } else if (rc < 0) {
        refused_tell(self, REFUSED_MESSAGE, peer->address, "%s: %s",
                     peer->minion != NULL ? peer->minion->id : "an unknown peer", fail_text(&err));

        /* Ask for a hello with an empty message: the peer has not sent one, or the master lost it. */
        int64_t now = clock_mono_ms();
        if (peer->state != KEY_UNKNOWN || peer->minion != NULL ||
            (peer->probed_ms && now - peer->probed_ms < PROBE_MS))
            return;
        peer->probed_ms = now;
        (void) sock_send_to(self->router, peer->rid, peer->rid_len, "", 0);
    }
}

/* Read up to TURN_BUDGET messages of two frames, routing id and payload; longer ones are discarded. Ended
 * connections are dropped only when nothing is left to read. */
static int
router(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    int64_t until = clock_mono_ms() + TURN_MS;
    ports_look(self);
    bus_hold(self);
    for (int i = 0; i < TURN_BUDGET && clock_mono_ms() <= until; i++) {
        zmq_msg_t rid, frame;
        (void) zmq_msg_init(&rid);
        (void) zmq_msg_init(&frame);
        bool got = zmq_msg_recv(&rid, self->router, ZMQ_DONTWAIT) >= 0;
        bool more = got && zmq_msg_more(&rid);
        if (more && zmq_msg_recv(&frame, self->router, ZMQ_DONTWAIT) >= 0) {
            more = zmq_msg_more(&frame);
            if (!more)
                inbound_frame(self, zmq_msg_data(&rid), zmq_msg_size(&rid), &frame);
            else
                self->counters.refused++;
            while (more && zmq_msg_recv(&frame, self->router, ZMQ_DONTWAIT) >= 0)
                more = zmq_msg_more(&frame);
        }
        (void) zmq_msg_close(&frame);
        (void) zmq_msg_close(&rid);
        if (!got) {
            /* Drop ended connections after their messages were read: a minion may return and disconnect at
             * once. */
            peer_t *peer;
            while ((peer = peers_next_ended(self->peers))) {
                hook_peer_ended(self, peer);
                peers_drop(self->peers, &peer);
            }

            break;
        }
    }
    bus_release(self);
    return 0;
}

/* Read subscriptions: each proves that a minion's SUB connection is up. */
static int
inbound_pub(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    zmq_msg_t frame;
    for (int i = 0; i < TURN_BUDGET; i++) {
        (void) zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, self->pub, ZMQ_DONTWAIT) < 0)
            break;
        const char *z85 = zmq_msg_gets(&frame, "User-Id");
        int fd = z85 != NULL ? zmq_msg_get(&frame, ZMQ_SRCFD) : -1;
        ports_look(self);
        if (!gate_is_open(self, PORT_PUBLISH, fd))
            fd = -1;
        gate_received(self, fd, zmq_msg_size(&frame));
        /* The only valid subscription is that to everything. */
        if (fd >= 0 && zmq_msg_size(&frame) == 1 && *(const uint8_t *) zmq_msg_data(&frame) == 1)
            hook_subscribed(self, z85, fd);
        else if (fd >= 0 && zmq_msg_size(&frame) > 1)
            /* Topics are kept in a tree without a limit: cut peers that add one. */
            gate_cut(self, fd);
        (void) zmq_msg_close(&frame);
    }
    return router(loop, item, arg);
}

/* The plaintext port: any message is answered with the public key, its voucher and the protocol number. */
static int
inbound_hello(zloop_t *loop, zmq_pollitem_t *item, void *arg)
{
    front_t *self = arg;
    for (int i = 0; i < TURN_BUDGET; i++) {
        char question[LIMIT_HELLO_MSG];
        int n = zmq_recv(ports_hello(self), question, sizeof(question), ZMQ_DONTWAIT);
        if (n < 0)
            break;
        AUTO_FREE char *text = value_dump(identity_claim(self));
        (void) sock_send(ports_hello(self), text, strlen(text));
    }
    return 0;
}

static int
inbound_start(front_t *self, fail_t *err)
{
    ports_serve(self, router, inbound_pub, inbound_hello);
    return 0;
}

const front_part_t part_inbound = { .name = "inbound", .start = inbound_start };
