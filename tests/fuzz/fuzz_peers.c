/* fuzz_peers.c - the master's tables of minions and connections under any order of events, one for each pair
 * of bytes: no table may point to an object that another has dropped.
 */
#include "master/minions/peers.h"

#define IDS  6
#define KEYS 5
#define FDS  9

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
make_key(unsigned i, uint8_t key[KEY_BYTES], char z85[KEY_Z85_LEN])
{
    memset(key, 0, KEY_BYTES);
    key[0] = (uint8_t) (i + 1);
    key_to_z85(key, z85);
}

/* The minion with number i; NULL: unknown. */
static minion_t *
minion_of(peers_t *p, unsigned i)
{
    char id[8];

    (void) snprintf(id, sizeof(id), "m%u", i % IDS);
    return peers_by_id(p, id);
}

/* Checks that every pointer leads to an object that exists and points back, and that the counts are right. */
static void
check(peers_t *p)
{
    peer_t *peer;
    size_t n = 0, counted = 0;
    size_t in_state[KEY_STATES] = { 0 };

    for (size_t i = 0; peers_next(p, &i, &peer); n++) {
        salt_assert(peers_by_rid(p, peer->rid, peer->rid_len) == peer);
        salt_assert(peer->fd < 0 || peers_by_fd(p, peer->fd) == peer);
        salt_assert(!peer->minion || peers_by_slot(p, peer->minion->slot) == peer->minion);
        salt_assert(peers_of_key(p, peer->z85) > 0);
    }
    salt_assert(n == peers_connected(p));
    for (peer = peers_next_ended(p); peer; peer = peer->next_ended)
        salt_assert(peer->fd < 0 && peers_by_rid(p, peer->rid, peer->rid_len) == peer);
    for (uint32_t slot = 0; slot < peers_slots(p); slot++) {
        minion_t *m = peers_by_slot(p, slot);
        if (!m)
            continue;
        counted++;
        in_state[m->state]++;
        salt_assert(peers_by_id(p, m->id) == m);
        salt_assert(!m->peer || m->peer->minion == m);
        salt_assert(!m->rival || m->rival->minion == m);
        salt_assert(!m->peer || m->peer->fd < 0 || peers_by_fd(p, m->peer->fd) == m->peer);
        salt_assert(!m->rival || m->rival->fd < 0 || peers_by_fd(p, m->rival->fd) == m->rival);
        salt_assert((m->n_subs == 0) == (m->sub_fd < 0));
    }
    for (int i = 0; i < KEY_STATES; i++)
        salt_assert(in_state[i] == peers_count(p, (key_state_t) i));
    salt_assert(counted <= IDS);
}

/* Carries out one event. */
static void
step(peers_t *p, unsigned what, unsigned arg)
{
    uint8_t key[KEY_BYTES];
    char z85[KEY_Z85_LEN], id[8];
    uint8_t rid = (uint8_t) (arg / FDS % 7);
    int fd = (int) (arg % FDS);
    peer_t *peer = peers_by_fd(p, fd);
    minion_t *m = minion_of(p, arg);

    make_key(what / 16 % KEYS, key, z85);
    (void) snprintf(id, sizeof(id), "m%u", arg % IDS);
    switch (what % 12) {
    case 0:
        (void) peers_know(p, id, key, (key_state_t) (arg / IDS % 3));
        break;
    case 1:
        if (m)
            peers_forget(p, &m);
        break;
    case 2:
    case 3:
        (void) peers_connect(p, &rid, 1, fd, z85, "a");
        break;
    case 4:
        if (peer)
            peers_drop(p, &peer);
        break;
    case 5:
        if (peer) {
            peers_bind(peer, m);
            if (m)
                m->peer = peer;
        }
        break;
    case 6:
        if (peer && m && m->peer != peer) {
            peers_bind(peer, m);
            m->rival = peer;
        }
        break;
    case 7:
        if (m)
            peers_add_sub(p, m, fd);
        break;
    case 8:
        peers_drop_sub(p, fd);
        break;
    case 9:
        peers_end(p, fd);
        break;
    case 10:
        if ((peer = peers_next_ended(p)))
            peers_drop(p, &peer);
        break;
    default:
        if (m)
            (void) peers_take_sub(p, m);
        break;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    peers_t *p = peers_new();

    for (size_t i = 0; i + 1 < size && i < 400; i += 2) {
        step(p, data[i], data[i + 1]);
        check(p);
    }
    peers_destroy(&p);
    return 0;
}
