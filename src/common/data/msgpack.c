/* msgpack.c - see msgpack.h. */
#include "common/data/msgpack.h"

#include "salt/limits.h"

/* ---- to bytes -------------------------------------------------------------------------------------------- */

/* The low `n` bytes of a number, the highest first. */
static void
pack_bytes(buf_t *out, uint64_t v, int n)
{
    while (n-- > 0)
        buf_putc(out, (char) (v >> (8 * n)));
}

/* The head of a text, an array or a map: `fix` with the length in it below `fix_max`, else `wide` (16 bits)
 * or the one after it; texts have one of 8 bits before that. */
static void
pack_head(buf_t *out, size_t n, int fix, size_t fix_max, int wide)
{
    if (n < fix_max)
        buf_putc(out, (char) (fix | (int) n));
    else if (n <= UINT8_MAX && wide == 0xda)
        pack_bytes(out, 0xd900 | n, 2);
    else if (n <= UINT16_MAX)
        pack_bytes(out, (uint64_t) wide << 16 | n, 3);
    else
        pack_bytes(out, (uint64_t) (wide + 1) << 32 | n, 5);
}

static void
pack_text(buf_t *out, const char *text, size_t len)
{
    pack_head(out, len, 0xa0, 32, 0xda);
    buf_add(out, text, len);
}

/* The shortest form, as Python's msgpack writes it. */
static void
pack_int(buf_t *out, json_int_t v)
{
    static const struct {
        json_int_t least;
        uint64_t most;
        int byte, size;
    } forms[] = { { -32, 127, -1, 1 },        { 0, UINT8_MAX, 0xcc, 1 },  { 0, UINT16_MAX, 0xcd, 2 },
                  { 0, UINT32_MAX, 0xce, 4 }, { 0, UINT64_MAX, 0xcf, 8 }, { INT8_MIN, 0, 0xd0, 1 },
                  { INT16_MIN, 0, 0xd1, 2 },  { INT32_MIN, 0, 0xd2, 4 },  { INT64_MIN, 0, 0xd3, 8 } };
    size_t i = 0;

    while (v < forms[i].least || (v > 0 && (uint64_t) v > forms[i].most))
        i++;
    if (forms[i].byte >= 0)
        buf_putc(out, (char) forms[i].byte);
    pack_bytes(out, (uint64_t) v, forms[i].size);
}

void
msgpack_put(buf_t *out, const json_t *v)
{
    const char *key;
    json_t *one;
    size_t i;
    union {
        double number;
        uint64_t bits;
    } real;

    switch (json_typeof(v)) {
    case JSON_OBJECT:
        pack_head(out, json_object_size(v), 0x80, 16, 0xde);
        json_object_foreach ((json_t *) v, key, one) {
            pack_text(out, key, strlen(key));
            msgpack_put(out, one);
        }
        break;
    case JSON_ARRAY:
        pack_head(out, json_array_size(v), 0x90, 16, 0xdc);
        json_array_foreach ((json_t *) v, i, one)
            msgpack_put(out, one);
        break;
    case JSON_STRING:
        pack_text(out, json_string_value(v), json_string_length(v));
        break;
    case JSON_INTEGER:
        pack_int(out, json_integer_value(v));
        break;
    case JSON_REAL:
        real.number = json_real_value(v);
        buf_putc(out, (char) 0xcb);
        pack_bytes(out, real.bits, 8);
        break;
    default:
        buf_putc(out, (char) (json_is_true(v) ? 0xc3 : json_is_false(v) ? 0xc2 : 0xc0));
    }
}

/* ---- from bytes ------------------------------------------------------------------------------------------ */

typedef struct unpack {
    const unsigned char *at;
    size_t left;
    int depth;
    fail_t *err;
} unpack_t;

static json_t *
unpack_refuse(unpack_t *self, const char *why)
{
    (void) fail_set(self->err, -EBADMSG, "MessagePack: %s", why);
    return NULL;
}

/* A number of `n` bytes, the highest first. False: there are not so many. */
static bool
unpack_bytes(unpack_t *self, size_t n, uint64_t *ret)
{
    if (self->left < n) {
        (void) unpack_refuse(self, "it is cut off");
        return false;
    }
    *ret = 0;
    for (size_t i = 0; i < n; i++)
        *ret = *ret << 8 | self->at[i];
    self->at += n;
    self->left -= n;
    return true;
}

static json_t *
unpack_text(unpack_t *self, uint64_t n)
{
    if (n > self->left)
        return unpack_refuse(self, "it is cut off");
    json_t *text = value_utf8((const char *) self->at, (size_t) n);
    self->at += n;
    self->left -= (size_t) n;
    return text;
}

static json_t *unpack_value(unpack_t *self);

static json_t *
unpack_list(unpack_t *self, uint64_t n)
{
    json_auto_t *list = json_array();

    for (uint64_t i = 0; i < n; i++) {
        json_t *one = unpack_value(self);
        if (one == NULL)
            return NULL;
        json_array_append_new(list, one);
    }
    return json_incref(list);
}

static json_t *
unpack_map(unpack_t *self, uint64_t n)
{
    json_auto_t *map = json_object();

    for (uint64_t i = 0; i < n; i++) {
        json_auto_t *key = unpack_value(self), *one = key != NULL ? unpack_value(self) : NULL;
        if (one == NULL)
            return NULL;
        if (!json_is_string(key))
            return unpack_refuse(self, "a key is no text");
        json_object_set(map, json_string_value(key), one);
    }
    return json_incref(map);
}

/* The numbers: 0xca float, 0xcb double, 0xcc to 0xcf without a sign, 0xd0 to 0xd3 with one. */
static json_t *
unpack_number(unpack_t *self, unsigned char type)
{
    size_t n = type == 0xca ? 4 : type == 0xcb ? 8 : (size_t) 1 << (type & 3);
    uint64_t bits;

    if (!unpack_bytes(self, n, &bits))
        return NULL;
    if (type <= 0xcb) {
        union {
            uint64_t bits;
            double number;
        } wide = { bits };
        union {
            uint32_t bits;
            float number;
        } narrow = { (uint32_t) bits };
        json_t *real = json_real(type == 0xcb ? wide.number : (double) narrow.number);
        return real != NULL ? real : unpack_refuse(self, "a number is not finite");
    }
    if (type <= 0xcf)
        return bits <= INT64_MAX ? json_integer((json_int_t) bits)
                                 : unpack_refuse(self, "a number is too large");
    unsigned shift = 64 - 8 * (unsigned) n;
    return json_integer((json_int_t) (bits << shift) >> shift);
}

/* A text, binary data, an array or a map whose length stands in 1, 2 or 4 bytes. */
static json_t *
unpack_long(unpack_t *self, unsigned char type)
{
    static const struct {
        unsigned char first, last, size; /* the size of the first one's length */
        json_t *(*fn)(unpack_t *self, uint64_t n);
    } forms[] = { { 0xc4, 0xc6, 1, unpack_text },
                  { 0xd9, 0xdb, 1, unpack_text },
                  { 0xdc, 0xdd, 2, unpack_list },
                  { 0xde, 0xdf, 2, unpack_map } };
    uint64_t n;

    for (size_t i = 0; i < NELEMS(forms); i++) {
        if (type < forms[i].first || type > forms[i].last)
            continue;
        return unpack_bytes(self, (size_t) forms[i].size << (type - forms[i].first), &n)
                   ? forms[i].fn(self, n)
                   : NULL;
    }
    return unpack_refuse(self, "a value is of a type that is not known here");
}

static json_t *
unpack_value(unpack_t *self)
{
    uint64_t type;
    json_t *v;

    if (self->depth >= LIMIT_JSON_DEPTH)
        return unpack_refuse(self, "it is too deep");
    if (!unpack_bytes(self, 1, &type))
        return NULL;
    self->depth++;
    if (type <= 0x7f)
        v = json_integer((json_int_t) type);
    else if (type <= 0x8f)
        v = unpack_map(self, type & 0x0f);
    else if (type <= 0x9f)
        v = unpack_list(self, type & 0x0f);
    else if (type <= 0xbf)
        v = unpack_text(self, type & 0x1f);
    else if (type == 0xc0)
        v = json_null();
    else if (type == 0xc2 || type == 0xc3)
        v = json_boolean(type == 0xc3);
    else if (type >= 0xe0)
        v = json_integer((json_int_t) type - 0x100);
    else if (type >= 0xca && type <= 0xd3)
        v = unpack_number(self, (unsigned char) type);
    else
        v = unpack_long(self, (unsigned char) type);
    self->depth--;
    return v;
}

json_t *
msgpack_get(const void *bytes, size_t len, fail_t *err)
{
    unpack_t self = { .at = bytes, .left = len, .err = err };
    json_auto_t *v = unpack_value(&self);

    if (v != NULL && self.left > 0)
        return unpack_refuse(&self, "there is more behind its end");
    return STEAL(v);
}
