/* valuepool.c - see valuepool.h. An open-addressing hash table interns values from the inside out, so two
 * containers are equal when their members are the same pointers, and hashing or comparing one is shallow. A
 * value that only the table refers to is dropped when the table would have to grow; a shape, with its last
 * user.
 *
 * A shape has one object (`view`) into which the values of a minion are put when it is looked at: from one
 * minion to the next most values are the same, so few are replaced. */
#include "master/minions/valuepool.h"

#include "common/base/buf.h"
#include "common/base/map.h"

#define SLOTS_MIN 1024 /* a power of two */

typedef struct slot {
    uint64_t hash;
    json_t *value; /* NULL: free; null: a deleted entry, probing goes on behind it */
} slot_t;

/* A sequence of names, shared by all objects that have it. */
typedef struct shape {
    valuepool_t *owner;
    char *names; /* owned */
    size_t users, n;
    json_t *view;
    void *at[]; /* iterators: places of the values in `view` */
} shape_t;

struct kept {
    shape_t *shape; /* BORROWED */
    json_t *values[];
};

struct valuepool {
    slot_t *slots;
    size_t n_slots, n;
    map_t *shapes; /* by the encoded names */
};

static void
free_shape(void *value)
{
    shape_t *shape = value;
    json_decref(shape->view);
    free(shape->names);
    free(shape);
}

valuepool_t *
valuepool_new(void)
{
    valuepool_t *self = xcalloc(1, sizeof(*self));
    self->n_slots = SLOTS_MIN;
    self->slots = xcalloc(self->n_slots, sizeof(*self->slots));
    self->shapes = map_new(free_shape);
    return self;
}

void
valuepool_destroy(valuepool_t **self_p)
{
    valuepool_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->n_slots; i++)
        json_decref(self->slots[i].value);
    free(self->slots);
    map_destroy(&self->shapes);
    free(self);
}

size_t
valuepool_len(const valuepool_t *self)
{
    return self->n;
}

size_t
valuepool_shapes(const valuepool_t *self)
{
    return map_len(self->shapes);
}

/* ---- hashing and comparing ------------------------------------------------------------------- */

/* Fibonacci hashing: the multiplier is 2^64 divided by the golden ratio. */
static uint64_t
valuepool_mix(uint64_t seed, const void *bytes, size_t len)
{
    return (seed ^ map_hash(bytes, len)) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Members are hashed by pointer, as they are interned already. */
static uint64_t
valuepool_hash(json_t *value)
{
    uint64_t hash = (uint64_t) json_typeof(value) + 1;
    json_int_t number = json_integer_value(value);
    double real = json_real_value(value);
    const char *key;
    json_t *one;
    size_t i;
    if (json_is_string(value))
        return valuepool_mix(hash, json_string_value(value), json_string_length(value));
    if (json_is_integer(value))
        return valuepool_mix(hash, &number, sizeof(number));
    if (json_is_real(value))
        return valuepool_mix(hash, &real, sizeof(real));
    json_array_foreach (value, i, one)
        hash = valuepool_mix(hash, &one, sizeof(one));
    json_object_foreach (value, key, one)
        hash = valuepool_mix(valuepool_mix(hash, key, strlen(key)), &one, sizeof(one));
    return hash;
}

static bool
valuepool_same(json_t *a, json_t *b)
{
    if (json_typeof(a) != json_typeof(b))
        return false;
    if (json_is_object(a)) {
        void *x = json_object_iter(a), *y = json_object_iter(b);
        for (; x != NULL && y != NULL; x = json_object_iter_next(a, x), y = json_object_iter_next(b, y))
            if (strcmp(json_object_iter_key(x), json_object_iter_key(y)) != 0 ||
                json_object_iter_value(x) != json_object_iter_value(y))
                return false;
        return x == NULL && y == NULL;
    }
    if (!json_is_array(a))
        return json_equal(a, b);
    size_t n = json_array_size(a), i = 0;
    while (i < n && n == json_array_size(b) && json_array_get(a, i) == json_array_get(b, i))
        i++;
    return i == n && n == json_array_size(b);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* The slot of an equal value, or the free slot where it belongs. Linear probing; the table is never full. */
static slot_t *
valuepool_find(valuepool_t *self, uint64_t hash, json_t *value)
{
    size_t i = hash & (self->n_slots - 1);
    while (self->slots[i].value != NULL &&
           (self->slots[i].hash != hash || !valuepool_same(self->slots[i].value, value)))
        i = (i + 1) & (self->n_slots - 1);
    return &self->slots[i];
}

static void let_go_of(valuepool_t *self, json_t **members, size_t n);

/* Remove a value that only the table refers to, then those of its members to which the same now applies.
 * Members are found by look-up: scanning the table once per level of a peer's nesting would be quadratic. */
static void
valuepool_let_go(valuepool_t *self, slot_t *slot)
{
    json_t *value = slot->value, *one;
    size_t n = json_array_size(value) + json_object_size(value), i = 0;
    AUTO_FREE json_t **members = xcalloc(n + 1, sizeof(json_t *));
    json_array_foreach (value, i, one)
        members[i] = json_incref(one);
    for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at))
        members[i++] = json_incref(json_object_iter_value(at));
    slot->value = json_null();
    self->n--;
    json_decref(value);
    let_go_of(self, members, n);
}

/* TAKES the references in `members`. A count of 2 is this one and the table's. */
static void
let_go_of(valuepool_t *self, json_t **members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool lonely = members[i]->refcount == 2;
        json_decref(members[i]);
        if (lonely)
            valuepool_let_go(self, valuepool_find(self, valuepool_hash(members[i]), members[i]));
    }
}

/* At half full: drop unused values, then rehash into a table at most a quarter full. */
static void
valuepool_make_room(valuepool_t *self)
{
    if (self->n < self->n_slots / 2)
        return;
    for (size_t i = 0; i < self->n_slots; i++)
        if (self->slots[i].value != NULL && self->slots[i].value->refcount == 1)
            valuepool_let_go(self, &self->slots[i]);
    slot_t *old = self->slots;
    size_t n_old = self->n_slots;
    self->n_slots = SLOTS_MIN;
    while (self->n >= self->n_slots / 4)
        self->n_slots *= 2;
    self->slots = xcalloc(self->n_slots, sizeof(*self->slots));
    for (size_t i = 0; i < n_old; i++)
        if (old[i].value != NULL && !json_is_null(old[i].value))
            *valuepool_find(self, old[i].hash, old[i].value) = old[i];
    free(old);
}

static void valuepool_share(valuepool_t *self, json_t *object);

/* Intern a value, members first. TAKES `value`; returns the kept one, NEW. Booleans and null are singletons
 * in jansson already. */
static json_t *
valuepool_kept(valuepool_t *self, json_t *value)
{
    if (json_is_boolean(value) || json_is_null(value))
        return value;
    size_t i;
    json_t *one;
    json_array_foreach (value, i, one)
        json_array_set_new(value, i, valuepool_kept(self, json_incref(one)));
    valuepool_share(self, value);
    valuepool_make_room(self);
    uint64_t hash = valuepool_hash(value);
    slot_t *slot = valuepool_find(self, hash, value);
    if (slot->value == NULL) {
        *slot = (slot_t){ hash, json_incref(value) };
        self->n++;
    }
    json_t *kept = json_incref(slot->value);
    json_decref(value);
    return kept;
}

static void
valuepool_share(valuepool_t *self, json_t *object)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        json_object_iter_set_new(object, at, valuepool_kept(self, json_incref(json_object_iter_value(at))));
}

/* ---- objects --------------------------------------------------------------------------------- */

/* The shape of an object whose values are interned; made on first use. BORROWED. */
static shape_t *
valuepool_shape(valuepool_t *self, json_t *object)
{
    buf_auto_t names = BUF_INIT;
    const char *key;
    json_t *value;
    size_t i = 0;
    /* Names are length-prefixed, so that a peer can't choose names that read as others. */
    json_object_foreach (object, key, value)
        buf_printf(&names, "%zu:%s", strlen(key), key);
    shape_t *shape = map_get(self->shapes, buf_str(&names));
    if (shape != NULL)
        return shape;
    size_t n = json_object_size(object);
    shape = xcalloc(1, sizeof(*shape) + n * sizeof(shape->at[0]));
    shape->owner = self;
    shape->names = xstrdup(buf_str(&names));
    shape->n = n;
    shape->view = json_copy(object);
    for (void *at = json_object_iter(shape->view); at; at = json_object_iter_next(shape->view, at))
        shape->at[i++] = at;
    map_set(self->shapes, shape->names, shape);
    return shape;
}

kept_t *
valuepool_keep(valuepool_t *self, json_t *object)
{
    valuepool_share(self, object);
    shape_t *shape = valuepool_shape(self, object);
    kept_t *kept = xcalloc(1, sizeof(*kept) + shape->n * sizeof(kept->values[0]));
    kept->shape = shape;
    shape->users++;
    size_t i = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at))
        kept->values[i++] = json_incref(json_object_iter_value(at));
    return kept;
}

void
kept_destroy(kept_t **self_p)
{
    kept_t *self = STEAL(*self_p);
    if (self == NULL)
        return;
    for (size_t i = 0; i < self->shape->n; i++)
        json_decref(self->values[i]);
    /* The view keeps references to what was looked at last; the shape's end drops them. */
    shape_t *shape = self->shape;
    if (--shape->users == 0)
        free_shape(map_take(shape->owner->shapes, shape->names));
    free(self);
}

json_t *
kept_view(const kept_t *self)
{
    if (self == NULL)
        return NULL;
    shape_t *shape = self->shape;
    for (size_t i = 0; i < shape->n; i++)
        if (json_object_iter_value(shape->at[i]) != self->values[i])
            json_object_iter_set_new(shape->view, shape->at[i], json_incref(self->values[i]));
    return shape->view;
}
