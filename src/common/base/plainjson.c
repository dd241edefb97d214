/* plainjson.c - see plainjson.h. */
#include "common/base/plainjson.h"

#include "common/base/map.h"

#define REAL_DIGITS 15 /* a fraction with so many digits survives a double */
#define FEW_KEYS    64 /* so many keys are compared one by one, which is quicker than hashing */

bool
jtext_is(jtext_t piece, const char *text)
{
    return strncmp(text, piece.at, piece.len) == 0 && text[piece.len] == '\0';
}

plain_t
plain_new(const char *text, size_t len)
{
    return (plain_t){ .scan = { .at = text, .end = text + len } };
}

static bool
plainjson_fail(plain_t *p)
{
    return scan_fail(&p->scan, "not plain");
}

static bool
plainjson_take(plain_t *p, char c)
{
    return scan_take(&p->scan, c);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Reads a string from behind its opening quote to behind its closing one. */
static bool
string_rest(plain_t *p, bool escapes, jtext_t *ret)
{
    bool escaped;

    ret->at = p->scan.at;
    if (!scan_string(&p->scan, &escaped))
        return false;
    ret->len = (size_t) (p->scan.at - 1 - ret->at);
    if (!escaped)
        return true;

    /* Every escape is a plain letter of JSON's: \u may be half of a pair. */
    const char *at = ret->at, *end = ret->at + ret->len;
    for (; escapes && (at = memchr(at, '\\', (size_t) (end - at))) != NULL; at += 2)
        if (scan_escaped(at[1]) == '\0')
            return plainjson_fail(p);
    return escapes || plainjson_fail(p);
}

/* ---- keys of an object ------------------------------------------------------------------------ */

/* The first keys need no memory of their own. A highstate's return has hundreds of keys: with the first one
 * that `few` can't hold, all move into a hashed table. */
typedef struct plain_keys {
    jtext_t few[FEW_KEYS];
    size_t n;
    jtext_t *slots; /* open-addressed, NULL at first; .at NULL: free */
    size_t n_slots; /* a power of two, at least twice n */
} plain_keys_t;

static void
plain_keys_free(plain_keys_t *self)
{
    free(self->slots);
}

/* The slot that holds this key, or the free one where it belongs. */
static jtext_t *
key_slot(const plain_keys_t *self, jtext_t key)
{
    size_t i = (size_t) map_hash(key.at, key.len) & (self->n_slots - 1);
    while (self->slots[i].at != NULL &&
           (self->slots[i].len != key.len || memcmp(self->slots[i].at, key.at, key.len) != 0))
        i = (i + 1) & (self->n_slots - 1);
    return &self->slots[i];
}

/* Moves the keys into a table with room for twice as many; false without memory. */
static bool
keys_grow(plain_keys_t *self)
{
    plain_keys_t old = *self;
    self->n_slots = old.n * 4;
    self->slots = calloc(self->n_slots, sizeof(*self->slots));
    if (self->slots == NULL) {
        self->slots = old.slots;
        return false;
    }
    size_t n = old.slots != NULL ? old.n_slots : old.n;
    const jtext_t *from = old.slots != NULL ? old.slots : old.few;
    for (size_t i = 0; i < n; i++)
        if (from[i].at != NULL)
            *key_slot(self, from[i]) = from[i];
    free(old.slots);
    return true;
}

/* Adds a key; false when it is there already (readers differ about which of two equal keys counts), or when
 * there is no memory to tell. */
static bool
keys_add(plain_t *p, plain_keys_t *self, jtext_t key)
{
    bool hashed = self->slots != NULL;
    if ((hashed ? self->n * 2 >= self->n_slots : self->n == FEW_KEYS) && !keys_grow(self))
        return false;
    if (self->slots != NULL) {
        if (++p->hashed > PLAIN_KEYS)
            return false;
        jtext_t *slot = key_slot(self, key);
        bool new = slot->at == NULL;
        *slot = key;
        self->n += new;
        return new;
    }
    for (size_t i = 0; i < self->n; i++)
        if (self->few[i].len == key.len && memcmp(self->few[i].at, key.at, key.len) == 0)
            return false;
    self->few[self->n++] = key;
    return true;
}

/* ---- objects and arrays ----------------------------------------------------------------------- */

static bool plainjson_value(plain_t *p, int depth);

static bool
array_rest(plain_t *p, int depth)
{
    if (plainjson_take(p, ']'))
        return true;
    do {
        if (!plainjson_value(p, depth))
            return false;
    } while (plainjson_take(p, ','));
    return plainjson_take(p, ']') || plainjson_fail(p);
}

/* Reads the members of an object. *ret_has: `wanted` (may be NULL) is among the keys. */
static bool
object_rest(plain_t *p, int depth, const char *wanted, bool *ret_has)
{
    __attribute__((cleanup(plain_keys_free))) plain_keys_t keys;
    keys.n = 0;
    keys.slots = NULL;

    if (plainjson_take(p, '}'))
        return true;
    do {
        jtext_t key;
        if (!plainjson_take(p, '"') || !string_rest(p, false, &key) || !keys_add(p, &keys, key))
            return plainjson_fail(p);
        if (!plainjson_take(p, ':') || !plainjson_value(p, depth))
            return plainjson_fail(p);
        if (wanted != NULL && jtext_is(key, wanted))
            *ret_has = true;
    } while (plainjson_take(p, ','));
    return plainjson_take(p, '}') || plainjson_fail(p);
}

/* Reads a value. `depth`: levels that may still be entered. */
static bool
plainjson_value(plain_t *p, int depth)
{
    jtext_t unused;
    char c = scan_peek(&p->scan);

    if (c == '"') {
        p->scan.at++;
        return string_rest(p, true, &unused);
    }
    if (c == '{' || c == '[') {
        p->scan.at++;
        if (depth == 0)
            return plainjson_fail(p);
        return c == '{' ? object_rest(p, depth - 1, NULL, NULL) : array_rest(p, depth - 1);
    }
    if (c == '-' || (c >= '0' && c <= '9')) {
        const char *from = p->scan.at;
        scan_number_t n;

        if (!scan_number(&p->scan, &n))
            return false;
        /* Not plain: an exponent, which may be beyond a double, and -0, which is an integer to some
         * readers and a real to others. */
        bool fine = !n.exponent &&
                    (n.fraction > 0 ? n.whole + n.fraction <= REAL_DIGITS
                                    : n.whole <= SCAN_INT_DIGITS && !(n.minus && from[1] == '0'));
        return fine || plainjson_fail(p);
    }
    return scan_word(&p->scan);
}

/* ---- walking --------------------------------------------------------------------------------- */

bool
plain_fine(const plain_t *p)
{
    return p->scan.why == NULL;
}

bool
plain_enter(plain_t *p, char open)
{
    p->opened = plainjson_take(p, open);
    return p->opened || plainjson_fail(p);
}

/* True when another member follows; otherwise steps over the end of the container. */
static bool
plainjson_next(plain_t *p, char close)
{
    bool first = p->opened;

    p->opened = false;
    if (plainjson_take(p, close))
        return false;
    return first ? plain_fine(p) : plainjson_take(p, ',') || plainjson_fail(p);
}

bool
plain_key(plain_t *p, jtext_t *ret_key)
{
    if (!plainjson_next(p, '}'))
        return false;
    return (plainjson_take(p, '"') && string_rest(p, false, ret_key) && plainjson_take(p, ':')) ||
           plainjson_fail(p);
}

bool
plain_item(plain_t *p)
{
    return plainjson_next(p, ']');
}

bool
plain_value(plain_t *p, jtext_t *ret_value)
{
    (void) scan_peek(&p->scan);
    ret_value->at = p->scan.at;
    bool fine = plain_fine(p) && plainjson_value(p, PLAIN_DEPTH);
    ret_value->len = (size_t) (p->scan.at - ret_value->at);
    return fine;
}

bool
plain_string(plain_t *p, jtext_t *ret_text)
{
    return (plainjson_take(p, '"') && string_rest(p, false, ret_text)) || plainjson_fail(p);
}

bool
plain_int(plain_t *p, int64_t *ret_value)
{
    jtext_t text;

    if (!plain_value(p, &text) || memchr(text.at, '.', text.len) != NULL ||
        (*text.at != '-' && (*text.at < '0' || *text.at > '9')))
        return plainjson_fail(p);
    *ret_value = 0;
    for (size_t i = *text.at == '-'; i < text.len; i++)
        *ret_value = *ret_value * 10 + (text.at[i] - '0');
    *ret_value = *text.at == '-' ? -*ret_value : *ret_value;
    return true;
}

bool
plain_object(plain_t *p, const char *key, jtext_t *ret_value, bool *ret_has, bool *ret_empty)
{
    *ret_has = false;
    if (!plainjson_take(p, '{'))
        return plainjson_fail(p);
    ret_value->at = p->scan.at - 1;
    *ret_empty = scan_peek(&p->scan) == '}';
    bool fine = object_rest(p, PLAIN_DEPTH - 1, key, ret_has);
    ret_value->len = (size_t) (p->scan.at - ret_value->at);
    return fine;
}

bool
plain_end(plain_t *p)
{
    return scan_at_end(&p->scan);
}
