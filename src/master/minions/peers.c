/* peers.c - see peers.h. Lookups are O(1): maps by id, key and routing id, arrays by slot and descriptor. */
#include "master/minions/peers.h"

#include "common/base/clock.h"
#include "common/base/str.h"

#define FD_SLOTS_STEP 256

struct peers {
    map_t *ids;   /* id -> minion_t; `slots` owns it */
    map_t *keys;  /* Z85 -> minion_t, BORROWED */
    map_t *rids;  /* hex of the routing id -> peer_t, owned */
    map_t *lines; /* Z85 -> number of connections */
    minion_t **slots;
    uint32_t n_slots, cap_slots;
    uint32_t *free_slots; /* free ones, reusable as no job knows them; capacity cap_slots */
    uint32_t n_free;
    size_t counts[KEY_STATES];
    /* Indexed by descriptor: descriptors are small and dense. */
    peer_t **by_fd;
    minion_t **by_sub;
    int n_fds;
    peer_t *ended;
    bool has_twins; /* once two ids had one key */
};

static void
free_peer(void *p)
{
    peer_t *peer = p;
    json_decref(peer->hello);
    free(peer->address);
    free(peer);
}

peers_t *
peers_new(void)
{
    peers_t *self = xcalloc(1, sizeof(*self));
    self->ids = map_new(NULL);
    self->keys = map_new(NULL);
    self->rids = map_new(free_peer);
    self->lines = map_new(NULL);
    return self;
}

static void
free_minion(minion_t *m)
{
    miniondoc_free(&m->known);
    json_decref(m->calls);
    free(m->id);
    free(m->greeted);
    free(m);
}

/* `ids`, `keys` and `lines` own nothing; minions are freed by slot, connections by the map of routing ids. */
void
peers_destroy(peers_t **self_p)
{
    peers_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    map_destroy(&self->rids);
    map_destroy(&self->ids);
    map_destroy(&self->keys);
    map_destroy(&self->lines);
    for (uint32_t i = 0; i < self->n_slots; i++)
        if (self->slots[i] != NULL)
            free_minion(self->slots[i]);
    free(self->slots);
    free(self->free_slots);
    free(self->by_fd);
    free(self->by_sub);
    free(self);
}

/* Grow both arrays to hold `fd`. */
static void
fit_fd(peers_t *self, int fd)
{
    if (fd < self->n_fds)
        return;
    int n = fd + FD_SLOTS_STEP;
    self->by_fd = xrealloc(self->by_fd, (size_t) n * sizeof(peer_t *));
    self->by_sub = xrealloc(self->by_sub, (size_t) n * sizeof(minion_t *));
    for (int i = self->n_fds; i < n; i++) {
        self->by_fd[i] = NULL;
        self->by_sub[i] = NULL;
    }
    self->n_fds = n;
}

/* A slot is the minion's number in bit sets and jobs. Freed ones are used again, so the arrays stay as small
 * as the fleet. */
static uint32_t
new_slot(peers_t *self)
{
    if (self->n_free > 0)
        return self->free_slots[--self->n_free];
    if (self->n_slots == self->cap_slots) {
        self->cap_slots = self->cap_slots ? self->cap_slots * 2 : 64;
        self->slots = xrealloc(self->slots, self->cap_slots * sizeof(minion_t *));
        self->free_slots = xrealloc(self->free_slots, self->cap_slots * sizeof(uint32_t));
    }
    return self->n_slots++;
}

/* Each rate has a bucket of its own, so that a minion which floods one kind of message keeps the others. */
static minion_t *
new_minion(peers_t *self, const char *id)
{
    minion_t *m = xcalloc(1, sizeof(*m));
    m->id = xstrdup(id);
    m->slot = new_slot(self);
    m->sub_fd = -1;
    m->state = KEY_UNKNOWN;
    m->rekeys = (rate_t) RATE(1, LIMIT_REKEYS_MINION * LIMIT_REKEY_EACH);
    m->told = (rate_t) RATE(LIMIT_TOLD_RATE, LIMIT_TOLD_BURST);
    m->grains = (rate_t) RATE(LIMIT_GRAINS_RATE, LIMIT_GRAINS_BURST);
    m->rets = (rate_t) RATE(LIMIT_RETS_RATE, LIMIT_RETS_BURST);
    m->mine = (rate_t) RATE(LIMIT_MINE_RATE, LIMIT_MINE_BURST);
    self->slots[m->slot] = m;
    map_set(self->ids, id, m);
    return m;
}

/* The message that crosses the bound is taken and charged: what it owes delays the next ones. */
bool
minion_may_tell(minion_t *self, size_t len, int64_t now_ms)
{
    if (!rate_spare(&self->told, now_ms))
        return false;
    rate_owe(&self->told, (double) len / 1024);
    return true;
}

/* Files put there by hand may give one key to several ids: then it is that of a rejected id, or of the
 * accepted one that came first, before that of one that waits. */
static bool
is_displaced(const minion_t *holder, key_state_t by)
{
    return holder == NULL || by == KEY_REJECTED || (by == KEY_ACCEPTED && holder->state == KEY_PENDING);
}

static void
bind_key(peers_t *self, minion_t *m)
{
    const minion_t *holder = map_get(self->keys, m->z85);
    self->has_twins |= holder != NULL && holder != m;
    if (is_displaced(holder, m->state))
        map_set(self->keys, m->z85, m);
}

/* Another id with the same key takes its place. */
static void
unbind_key(peers_t *self, const minion_t *m)
{
    if (map_get(self->keys, m->z85) != m)
        return;
    (void) map_take(self->keys, m->z85);
    for (uint32_t i = 0; self->has_twins && i < self->n_slots; i++) {
        minion_t *twin = self->slots[i];
        if (twin != NULL && twin != m && str_eq(twin->z85, m->z85))
            bind_key(self, twin);
    }
}

minion_t *
peers_know(peers_t *self, const char *id, const uint8_t key[KEY_BYTES], key_state_t state)
{
    minion_t *m = map_get(self->ids, id);
    char z85[KEY_Z85_LEN];
    key_to_z85(key, z85);
    if (m == NULL)
        m = new_minion(self, id);
    else if (m->state != state || !str_eq(m->z85, z85))
        unbind_key(self, m);
    if (m->state < KEY_STATES)
        self->counts[m->state]--;
    (void) str_copy(m->z85, sizeof(m->z85), z85);
    m->state = state;
    m->was_accepted |= state == KEY_ACCEPTED;
    self->counts[state]++;
    bind_key(self, m);
    return m;
}

/* Clears every pointer to the minion. Its slot is reused only if it was never accepted, since jobs refer to
 * slots. */
void
peers_forget(peers_t *self, minion_t **m_p)
{
    minion_t *m = STEAL(*m_p);
    unbind_key(self, m);
    self->counts[m->state]--;
    (void) map_take(self->ids, m->id);
    self->slots[m->slot] = NULL;
    if (!m->was_accepted)
        self->free_slots[self->n_free++] = m->slot;
    while (peers_take_sub(self, m) >= 0)
        ;
    peer_t *peer;
    for (size_t i = 0; peers_next(self, &i, &peer);)
        if (peer->minion == m)
            peer->minion = NULL;
    free_minion(m);
}

minion_t *
peers_by_id(const peers_t *self, const char *id)
{
    return map_get(self->ids, id);
}

minion_t *
peers_by_key(const peers_t *self, const char *z85)
{
    return map_get(self->keys, z85);
}

minion_t *
peers_by_slot(const peers_t *self, uint32_t slot)
{
    return slot < self->n_slots ? self->slots[slot] : NULL;
}

uint32_t
peers_slots(const peers_t *self)
{
    return self->n_slots;
}

size_t
peers_count(const peers_t *self, key_state_t state)
{
    return self->counts[state];
}

/* Routing ids are any bytes, and the maps' keys are texts. */
static void
rid_hex(const void *rid, size_t len, char out[2 * RID_MAX + 1])
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *bytes = rid;
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * len] = '\0';
}

peer_t *
peers_by_rid(const peers_t *self, const void *rid, size_t rid_len)
{
    char hex[2 * RID_MAX + 1];
    if (rid_len > RID_MAX)
        return NULL;
    rid_hex(rid, rid_len, hex);
    return map_get(self->rids, hex);
}

peer_t *
peers_by_fd(const peers_t *self, int fd)
{
    return fd >= 0 && fd < self->n_fds ? self->by_fd[fd] : NULL;
}

/* The count is stored in the map's pointer itself. */
static void
peers_count_line(peers_t *self, const char *z85, int by)
{
    uintptr_t n = (uintptr_t) map_get(self->lines, z85) + (uintptr_t) by;
    if (n > 0)
        map_set(self->lines, z85, (void *) n);
    else
        (void) map_take(self->lines, z85);
}

size_t
peers_of_key(const peers_t *self, const char *z85)
{
    return (uintptr_t) map_get(self->lines, z85);
}

static void
add_ended(peers_t *self, peer_t *peer)
{
    peer->fd = -1;
    peer->next_ended = self->ended;
    self->ended = peer;
}

/* The descriptor may be another connection's at once, so only the entry is kept, until all messages of it are
 * read. */
void
peers_end(peers_t *self, int fd)
{
    peer_t *peer = peers_by_fd(self, fd);
    if (peer == NULL)
        return;
    self->by_fd[fd] = NULL;
    add_ended(self, peer);
}

peer_t *
peers_next_ended(peers_t *self)
{
    return self->ended;
}

peer_t *
peers_connect(peers_t *self, const void *rid, size_t rid_len, int fd, const char *z85, const char *address)
{
    char hex[2 * RID_MAX + 1];
    peer_t *peer = peers_by_fd(self, fd);
    if (peer != NULL && peer->rid_len == rid_len && memcmp(peer->rid, rid, rid_len) == 0 &&
        str_eq(peer->z85, z85))
        return peer;
    if (rid_len > RID_MAX)
        return NULL;
    rid_hex(rid, rid_len, hex);
    peer = map_get(self->rids, hex);
    if (peer != NULL && (peer->fd == fd || peer->fd < 0) && str_eq(peer->z85, z85))
        return peer;
    /* The routing id or descriptor was reused before its end was reported. The key in the message decides:
     * drop or end the old entry. */
    if (peer != NULL)
        peers_drop(self, &peer);
    peers_end(self, fd);
    peer = xcalloc(1, sizeof(*peer));
    memcpy(peer->rid, rid, rid_len);
    peer->rid_len = rid_len;
    peer->fd = fd;
    peer->state = KEY_UNKNOWN;
    peer->address = xstrdup(address != NULL ? address : "");
    peer->since_ms = clock_wall_us() / 1000;
    (void) str_copy(peer->z85, sizeof(peer->z85), z85);
    map_set(self->rids, hex, peer);
    peers_count_line(self, peer->z85, 1);
    if (fd >= 0) {
        fit_fd(self, fd);
        self->by_fd[fd] = peer;
    } else {
        add_ended(self, peer);
    }
    return peer;
}

/* A connection speaks for one minion at a time; the former one must not point to it any longer. */
void
peers_bind(peer_t *peer, minion_t *m)
{
    minion_t *was = peer->minion;
    if (was != NULL && was != m && was->peer == peer)
        was->peer = NULL;
    if (was != NULL && was != m && was->rival == peer)
        was->rival = NULL;
    peer->minion = m;
}

/* Unbind, remove from the descriptor's slot or the list of ended ones, then free through the map that owns
 * it. */
void
peers_drop(peers_t *self, peer_t **peer_p)
{
    peer_t *peer = STEAL(*peer_p);
    char hex[2 * RID_MAX + 1];
    peers_bind(peer, NULL);
    if (peer->fd >= 0) {
        self->by_fd[peer->fd] = NULL;
    } else {
        peer_t **at = &self->ended;
        while (*at != peer)
            at = &(*at)->next_ended;
        *at = peer->next_ended;
    }
    peers_count_line(self, peer->z85, -1);
    rid_hex(peer->rid, peer->rid_len, hex);
    (void) map_del(self->rids, hex);
}

size_t
peers_connected(const peers_t *self)
{
    return map_len(self->rids);
}

/* If it was the newest, any other of the minion's takes its place. */
void
peers_drop_sub(peers_t *self, int fd)
{
    minion_t *m = fd >= 0 && fd < self->n_fds ? self->by_sub[fd] : NULL;
    if (m == NULL)
        return;
    self->by_sub[fd] = NULL;
    m->n_subs--;
    if (m->sub_fd != fd)
        return;
    m->sub_fd = -1;
    for (int i = 0; m->n_subs > 0 && i < self->n_fds; i++)
        if (self->by_sub[i] == m)
            m->sub_fd = i;
}

/* A minion that reconnects has two connections to the publish port for a while; the newest one counts. */
void
peers_add_sub(peers_t *self, minion_t *m, int fd)
{
    if (fd < 0)
        return;
    fit_fd(self, fd);
    if (self->by_sub[fd] != m) {
        peers_drop_sub(self, fd);
        self->by_sub[fd] = m;
        m->n_subs++;
    }
    m->sub_fd = fd;
}

int
peers_take_sub(peers_t *self, minion_t *m)
{
    int fd = m->sub_fd;
    peers_drop_sub(self, fd);
    return fd;
}

bool
peers_next(const peers_t *self, size_t *iter, peer_t **ret_peer)
{
    const char *key;
    void *value;
    if (!map_next(self->rids, iter, &key, &value))
        return false;
    *ret_peer = value;
    return true;
}

const minion_t *
peers_there(const peers_t *self, uint32_t slot)
{
    const minion_t *m = peers_by_slot(self, slot);
    return m != NULL && m->state == KEY_ACCEPTED && m->peer != NULL ? m : NULL;
}

/* Counts slots instead of keeping a number, which would have to follow each of the ways in which a minion
 * leaves. */
size_t
peers_present(const peers_t *self)
{
    size_t n = 0;
    for (uint32_t i = 0; i < peers_slots(self); i++)
        n += peers_there(self, i) != NULL;
    return n;
}
