/* py_dict.c - dict and set: entries in insertion order, found by a linear scan while they are few, then by an
 * index with open addressing.
 *
 * Removed entries leave gaps with a NULL key, which keep the index's probe sequences intact; make_room
 * compacts when there are many. Entries store their hash. A value is NULL in sets. */
#include "common/py/py_as.h"

enum { FIRST_CAP = 4 };

static py_t *
dict_new(py_type_t type, uint8_t flags)
{
    pydict_t *d = py_new_held(sizeof(*d), type);

    d->held.h.flags = flags;
    d->used = d->fill = d->cap = d->mask = 0;
    d->entries = NULL;
    d->index = NULL;
    return &d->held.h;
}

py_t *
py_dict(void)
{
    return dict_new(PY_DICT, 0);
}

py_t *
py_odict(void)
{
    return dict_new(PY_DICT, PY_F_ORDERED);
}

py_t *
py_set(bool frozen)
{
    return dict_new(PY_SET, frozen ? PY_F_FROZEN : 0);
}

bool
py_is_odict(const py_t *v)
{
    return py_is(v, PY_DICT) && (v->flags & PY_F_ORDERED) != 0;
}

/* Recursion is bounded as that of the conversion that made the value. */
void
py_order_dicts(py_t *v)
{
    py_t *key, *value;

    if (py_is(v, PY_LIST) || py_is(v, PY_TUPLE)) {
        for (size_t i = 0; i < py_seq_len(v); i++)
            py_order_dicts(py_seq_at(v, i));
    } else if (py_is(v, PY_DICT)) {
        v->flags |= PY_F_ORDERED;
        for (size_t i = 0; py_dict_next(v, &i, &key, &value);)
            py_order_dicts(value);
    }
}

/* ---- lookup ----------------------------------------------------------------------------------- */

/* 1 for the same key, 0 for another, -1 raised by its comparison. */
static int
same_key(const pyentry_t *e, py_t *key, uint64_t hash)
{
    if (e->key == key)
        return 1;
    if (e->hash != hash || e->key == NULL)
        return 0;
    if (py_is(key, PY_STR) && py_is(e->key, PY_STR))
        return PY_LEN(key) == PY_LEN(e->key) && memcmp(PY_TEXT(key), PY_TEXT(e->key), PY_LEN(key)) == 0;
    return py_eq(e->key, key);
}

/* Fibonacci hashing: spreads hashes of small integers over the index. */
static uint32_t
slot_of(uint64_t hash)
{
    return (uint32_t) (hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Small dicts have no index: their entries are compared in turn. A comparison may raise, which *ret_bad
 * tells. */
pyentry_t *
py_dict_find(const py_t *dict, py_t *key, uint64_t hash, int *ret_bad)
{
    const pydict_t *d = py_as_dict(dict);

    *ret_bad = 0;
    if (d->index == NULL) {
        for (uint32_t i = 0; i < d->fill; i++) {
            int same = same_key(&d->entries[i], key, hash);
            if (same != 0) {
                *ret_bad = same < 0 ? -1 : 0;
                return same > 0 ? &d->entries[i] : NULL;
            }
        }
        return NULL;
    }
    for (uint32_t slot = slot_of(hash);; slot++) {
        int32_t i = d->index[slot & d->mask];
        if (i < 0)
            return NULL;
        int same = same_key(&d->entries[i], key, hash);
        if (same != 0) {
            *ret_bad = same < 0 ? -1 : 0;
            return same > 0 ? &d->entries[i] : NULL;
        }
    }
}

/* ---- growth ----------------------------------------------------------------------------------- */

/* Linear probing; the caller made sure of a free slot. */
static void
index_add(pydict_t *d, uint64_t hash, uint32_t at)
{
    uint32_t slot = slot_of(hash);

    while (d->index[slot & d->mask] >= 0)
        slot++;
    d->index[slot & d->mask] = (int32_t) at;
}

static void
drop_index(pydict_t *d)
{
    if (d->index != NULL)
        py_release(d->index, (d->mask + 1) * sizeof(*d->index));
    d->index = NULL;
    d->mask = 0;
}

/* The index has at least one and a half slots per entry, so probing ends. */
static void
build_index(pydict_t *d)
{
    uint32_t slots = 16;

    drop_index(d);
    if (d->cap <= PY_DICT_LINEAR)
        return;
    while (slots < d->cap + d->cap / 2)
        slots *= 2;
    d->index = py_alloc(slots * sizeof(*d->index));
    memset(d->index, 0xff, slots * sizeof(*d->index));
    d->mask = slots - 1;
    for (uint32_t i = 0; i < d->fill; i++)
        index_add(d, d->entries[i].hash, i);
}

/* Closes the gaps of deleted entries. The index must be built anew. */
static void
compact(pydict_t *d)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < d->fill; i++) {
        if (d->entries[i].key != NULL)
            d->entries[n++] = d->entries[i];
    }
    d->fill = n;
}

/* Bytes of an entry with its share of the index. */
enum { ENTRY_BYTES = sizeof(pyentry_t) + 3 * sizeof(int32_t) };

/* Makes room for an entry: compacts when a quarter are gaps, else doubles. 0, or -1 raised. */
static int
py_dict_make_room(pydict_t *d)
{
    if (d->used < d->fill - d->fill / 4) {
        compact(d);
    } else {
        uint32_t cap = d->cap == 0 ? FIRST_CAP : d->cap * 2;
        salt_assert(cap > d->cap && cap <= INT32_MAX);
        if (!py_grant((cap - d->cap) * ENTRY_BYTES))
            return -1;
        d->entries = d->entries == NULL
                         ? py_alloc(cap * sizeof(*d->entries))
                         : py_resize(d->entries, d->cap * sizeof(*d->entries), cap * sizeof(*d->entries));
        d->cap = cap;
        compact(d);
    }
    build_index(d);
    return 0;
}

/* An existing key stays, as in Python; its value is replaced. */
int
py_dict_put(py_t *dict, py_t *key, uint64_t hash, py_t *value)
{
    pydict_t *d = py_as_dict(dict);
    int bad;
    pyentry_t *e = py_dict_find(dict, key, hash, &bad);

    if (bad != 0)
        return -1;
    if (e != NULL) {
        py_t *old = e->value;
        e->value = py_ref(value);
        py_unref(old);
        return 0;
    }
    if (d->fill == d->cap && py_dict_make_room(d) < 0)
        return -1;
    d->entries[d->fill] = (pyentry_t){ hash, py_ref(key), py_ref(value) };
    if (d->index != NULL)
        index_add(d, hash, d->fill);
    d->fill++;
    d->used++;
    return 0;
}

/* ---- the dict as Python shows it ------------------------------------------------------------- */

size_t
py_dict_len(const py_t *dict)
{
    return py_as_dict(dict)->used;
}

py_t *
py_dict_get(const py_t *dict, py_t *key)
{
    uint64_t hash;
    int bad;

    if (py_hash(key, &hash) < 0)
        return NULL;
    pyentry_t *e = py_dict_find(dict, key, hash, &bad);
    return e != NULL ? e->value : NULL;
}

py_t *
py_dict_gets(const py_t *dict, const char *key)
{
    AUTO(py) k = py_strz(key);

    return py_dict_get(dict, k);
}

int
py_dict_set(py_t *dict, py_t *key, py_t *value)
{
    uint64_t hash;

    return py_hash(key, &hash) < 0 ? -1 : py_dict_put(dict, key, hash, value);
}

void
py_dict_sets(py_t *dict, const char *key, py_t *value)
{
    AUTO(py) k = py_strz(key);

    salt_assert(py_dict_set(dict, k, value) == 0);
}

void
py_dict_sets_new(py_t *dict, const char *key, py_t *value)
{
    py_dict_sets(dict, key, value);
    py_unref(value);
}

/* Leaves a gap, so that a loop over the entries may go on. */
int
py_dict_del(py_t *dict, py_t *key)
{
    pydict_t *d = py_as_dict(dict);
    uint64_t hash;
    int bad;

    if (py_hash(key, &hash) < 0)
        return -1;
    pyentry_t *e = py_dict_find(dict, key, hash, &bad);
    if (e == NULL)
        return bad;
    pyentry_t old = *e;
    e->key = e->value = NULL; /* its index slot now leads to a gap */
    d->used--;
    if (e == &d->entries[d->fill - 1] && d->index == NULL)
        d->fill--;
    py_unref(old.key);
    py_unref(old.value);
    return 1;
}

/* The dict is emptied before its entries are released, because their release may run code that uses it. */
void
py_dict_clear(py_t *dict)
{
    pydict_t *d = py_as_dict(dict);
    pyentry_t *entries = d->entries;
    uint32_t fill = d->fill, cap = d->cap;

    drop_index(d);
    d->entries = NULL;
    d->used = d->fill = d->cap = 0;
    for (uint32_t i = 0; i < fill; i++) {
        py_unref(entries[i].key);
        py_unref(entries[i].value);
    }
    if (entries != NULL)
        py_release(entries, cap * sizeof(*entries));
}

bool
py_dict_next(const py_t *dict, size_t *iter, py_t **ret_key, py_t **ret_value)
{
    const pydict_t *d = py_as_dict(dict);

    for (; *iter < d->fill; ++*iter) {
        const pyentry_t *e = &d->entries[*iter];
        if (e->key == NULL)
            continue;
        *ret_key = e->key;
        *ret_value = e->value;
        ++*iter;
        return true;
    }
    return false;
}

int
py_set_add(py_t *set, py_t *item)
{
    return py_dict_set(set, item, NULL);
}

/* Copies entries as they are: hashes are known and no two keys are equal. */
py_t *
py_dict_copy(const py_t *dict)
{
    const pydict_t *from = py_as_dict(dict);
    py_t *copy = dict_new(py_type(dict), dict->flags & PY_F_ORDERED);
    pydict_t *d = py_as_dict(copy);

    if (from->used == 0 || !py_grant(from->used * (size_t) ENTRY_BYTES))
        return copy;
    d->cap = from->used < FIRST_CAP ? FIRST_CAP : from->used;
    d->entries = py_alloc(d->cap * sizeof(*d->entries));
    for (uint32_t i = 0; i < from->fill; i++) {
        const pyentry_t *e = &from->entries[i];
        if (e->key != NULL)
            d->entries[d->fill++] = (pyentry_t){ e->hash, py_ref(e->key), py_ref(e->value) };
    }
    d->used = d->fill;
    build_index(d);
    return copy;
}
