/* map.c - entries in insertion order, found through an open-addressed index of their positions. */
#include "common/base/map.h"

#include <pthread.h>
#include <sys/random.h>

enum { SLOT_FREE = 0, SLOT_GONE = 1, SLOT_BASE = 2, FIRST_SLOTS = 8 };

typedef struct entry {
    char *key; /* NULL: removed */
    void *value;
    uint64_t hash;
} entry_t;

struct map {
    entry_t *entries;
    uint32_t *slots;  /* SLOT_FREE, SLOT_GONE or SLOT_BASE + position in entries */
    size_t n_slots;   /* a power of two; entries has room for two thirds of it */
    size_t n_entries; /* removed ones included */
    size_t n_live;
    map_free_fn *free_value;
};

/* Keys come from peers. The hash has a secret key, so that nobody can choose keys that all fall into one
 * slot. */
static uint64_t seed[2];

/* The fallback is weak, and better than a process that ends where getrandom() is refused. */
static void
seed_once(void)
{
    if (getrandom(seed, sizeof(seed), 0) != (ssize_t) sizeof(seed))
        seed[0] = (uint64_t) time(NULL), seed[1] = (uint64_t) (uintptr_t) &seed;
}

static uint64_t
map_rotate(uint64_t x, int n)
{
    return (x << n) | (x >> (64 - n));
}

static void
sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = map_rotate(v[1], 13) ^ v[0];
    v[0] = map_rotate(v[0], 32);
    v[2] += v[3];
    v[3] = map_rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = map_rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = map_rotate(v[1], 17) ^ v[2];
    v[2] = map_rotate(v[2], 32);
}

/* SipHash-1-3. */
static uint64_t
map_hash_bytes(const char *key, size_t len)
{
    size_t left = len;
    uint64_t v[4] = { seed[0] ^ 0x736f6d6570736575, seed[1] ^ 0x646f72616e646f6d,
                      seed[0] ^ 0x6c7967656e657261, seed[1] ^ 0x7465646279746573 };

    for (;; left -= 8) {
        uint64_t word = 0;
        memcpy(&word, key + len - left, left < 8 ? left : 8);
        if (left < 8)
            word |= (uint64_t) len << 56;
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
        if (left < 8)
            break;
    }
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static size_t
entries_cap(size_t n_slots)
{
    return n_slots / 3 * 2;
}

static void
need_seed(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, seed_once);
}

uint64_t
map_hash(const void *bytes, size_t len)
{
    need_seed();
    return map_hash_bytes(bytes, len);
}

map_t *
map_new(map_free_fn *free_value)
{
    map_t *self = xcalloc(1, sizeof(*self));

    need_seed();
    self->free_value = free_value;
    return self;
}

void
map_destroy(map_t **self_p)
{
    map_t *self = *self_p;

    if (self == NULL)
        return;
    map_clear(self);
    free(self);
    *self_p = NULL;
}

/* The slot that holds `key`, or NULL. */
static uint32_t *
map_find(const map_t *self, const char *key, uint64_t hash)
{
    if (self->n_slots == 0)
        return NULL;
    for (size_t i = hash & (self->n_slots - 1);; i = (i + 1) & (self->n_slots - 1)) {
        uint32_t slot = self->slots[i];
        if (slot == SLOT_FREE)
            return NULL;
        if (slot == SLOT_GONE)
            continue;
        const entry_t *e = &self->entries[slot - SLOT_BASE];
        if (e->hash == hash && strcmp(e->key, key) == 0)
            return &self->slots[i];
    }
}

static void
map_place(map_t *self, size_t position)
{
    size_t i = self->entries[position].hash & (self->n_slots - 1);

    while (self->slots[i] >= SLOT_BASE)
        i = (i + 1) & (self->n_slots - 1);
    self->slots[i] = (uint32_t) (SLOT_BASE + position);
}

void *
map_get(const map_t *self, const char *key)
{
    const uint32_t *slot = map_find(self, key, map_hash_bytes(key, strlen(key)));

    return slot != NULL ? self->entries[*slot - SLOT_BASE].value : NULL;
}

static void
drop_value(map_t *self, void *value)
{
    if (self->free_value != NULL && value != NULL)
        self->free_value(value);
}

/* TAKES the value. The old one is freed, unless it is the same. */
void
map_set(map_t *self, const char *key, void *value)
{
    uint64_t hash = map_hash_bytes(key, strlen(key));
    const uint32_t *slot = map_find(self, key, hash);

    if (slot != NULL) {
        entry_t *e = &self->entries[*slot - SLOT_BASE];
        void *old = e->value;
        e->value = value;
        if (old != value)
            drop_value(self, old);
        return;
    }
    if (self->n_entries == entries_cap(self->n_slots)) {
        /* Makes room for one more entry: drops removed ones, and grows when most are live. */
        size_t n_slots = self->n_slots != 0 ? self->n_slots : FIRST_SLOTS;
        while (self->n_live * 2 >= entries_cap(n_slots))
            n_slots *= 2;
        salt_assert(n_slots < UINT32_MAX / 2);
        entry_t *entries = xcalloc(entries_cap(n_slots), sizeof(*entries));
        size_t n = 0;
        for (size_t i = 0; i < self->n_entries; i++) {
            if (self->entries[i].key != NULL)
                entries[n++] = self->entries[i];
        }
        free(self->entries);
        free(self->slots);
        self->entries = entries;
        self->n_entries = n;
        self->slots = xcalloc(n_slots, sizeof(*self->slots));
        self->n_slots = n_slots;
        for (size_t i = 0; i < n; i++)
            map_place(self, i);
    }
    self->entries[self->n_entries] = (entry_t){ .key = xstrdup(key), .value = value, .hash = hash };
    map_place(self, self->n_entries++);
    self->n_live++;
}

/* Removes the entry; false when there is none. */
static bool
map_extract(map_t *self, const char *key, void **ret_value)
{
    uint32_t *slot = map_find(self, key, map_hash_bytes(key, strlen(key)));

    if (slot == NULL)
        return false;
    entry_t *e = &self->entries[*slot - SLOT_BASE];
    *ret_value = e->value;
    *slot = SLOT_GONE;
    free(e->key); /* `key` may point to this text: don't use it below */
    *e = (entry_t){ .key = NULL };
    self->n_live--;
    return true;
}

bool
map_del(map_t *self, const char *key)
{
    void *value;

    if (!map_extract(self, key, &value))
        return false;
    drop_value(self, value);
    return true;
}

void *
map_take(map_t *self, const char *key)
{
    void *value;

    return map_extract(self, key, &value) ? value : NULL;
}

size_t
map_len(const map_t *self)
{
    return self->n_live;
}

void
map_clear(map_t *self)
{
    entry_t *entries = self->entries;
    size_t n = self->n_entries;

    free(self->slots);
    self->entries = NULL;
    self->slots = NULL;
    self->n_slots = self->n_entries = self->n_live = 0;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].key == NULL)
            continue;
        free(entries[i].key);
        drop_value(self, entries[i].value);
    }
    free(entries);
}

/* Entries come in the order in which they were added; removed ones are stepped over. */
bool
map_next(const map_t *self, size_t *iter, const char **ret_key, void **ret_value)
{
    while (*iter < self->n_entries) {
        const entry_t *e = &self->entries[(*iter)++];
        if (e->key == NULL)
            continue;
        if (ret_key != NULL)
            *ret_key = e->key;
        if (ret_value != NULL)
            *ret_value = e->value;
        return true;
    }
    return false;
}
