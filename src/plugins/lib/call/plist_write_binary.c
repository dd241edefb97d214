/* plist_write_binary.c - see plist.h: values in the binary form: every object once, a table of where each one
 * starts, and a trailer that says where the table is. */
#include <limits.h>

#include "plugins/lib/call/plist_int.h"

#include "common/base/utf8.h"
#include "common/py/py_error.h"

enum { ONE = 1, TWO = 2, FOUR = 4, EIGHT = 8, SIXTEEN = 16 };

typedef struct bin_out {
    buf_t out;
    const plist_options_t *how;
    py_t *objects,
        *numbers;  /* owned: a list in the order of writing; which number an object has, by object_key() */
    buf_t offsets; /* uint64_t of each object */
    unsigned ref_size;
} bin_out_t;

static void
bin_out_free(bin_out_t *self)
{
    buf_free(&self->out);
    buf_free(&self->offsets);
    py_unref(self->objects);
    py_unref(self->numbers);
}

/* Big-endian. Bytes above the eighth are 0. */
static void
bin_uint(buf_t *out, uint64_t n, unsigned size)
{
    while (size-- > 0)
        buf_putc(out, (char) (size >= sizeof(n) ? 0 : n >> (size * CHAR_BIT)));
}

/* A token and the eight bytes of the number. */
static void
bin_double(buf_t *out, int token, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof(bits));
    buf_putc(out, (char) token);
    bin_uint(out, bits, EIGHT);
}

/* Bytes that a number up to this takes. */
static unsigned
uint_size(uint64_t n)
{
    return n <= UINT8_MAX ? ONE : n <= UINT16_MAX ? TWO : n <= UINT32_MAX ? FOUR : EIGHT;
}

/* ---- numbering ---------------------------------------------------------------------------------------- */

/* True for what holds other objects. */
static bool
container(const py_t *v)
{
    return py_is(v, PY_DICT) || py_is(v, PY_LIST) || py_is(v, PY_TUPLE);
}

/* Equal scalars of one type are one object; of lists and mappings each is its own. NEW. True and 1 are equal
 * in Python, so the type stands in the key. NULL raised for what can't be one. */
static py_t *
object_key(py_t *v)
{
    const char *date = plist_date_text(v);
    bool own = container(v);
    AUTO(py) kind = py_strz(date != NULL ? "date" : own ? "container" : py_type_name(v));
    AUTO(py) what = own ? py_int((intptr_t) v) : date != NULL ? py_strz(date) : py_ref(v);

    return py_tuple_of(2, kind, what);
}

static int bin_number(bin_out_t *self, py_t *v);

/* Gives the value and all in it their numbers. A container has its number before what it holds, as in
 * plistlib; keys of a mapping come before its values. One that holds itself is found again and not
 * followed. */
static int
bin_number(bin_out_t *self, py_t *v)
{
    AUTO(py) key = object_key(v);

    if (py_dict_get(self->numbers, key) != NULL)
        return 0;
    if (py_raised() != NULL)
        return -1;
    AUTO(py) number = py_int((int64_t) py_seq_len(self->objects));
    py_append(self->objects, v);
    if (py_dict_set(self->numbers, key, number) < 0)
        return -1;
    if (!container(v))
        return 0;
    if (py_enter() < 0)
        return -1;
    AUTO(py) keys = py_is(v, PY_DICT) ? plist_keys(v, self->how) : py_ref(v);
    int rc = keys != NULL ? 0 : -1;
    for (size_t i = 0; rc == 0 && i < py_seq_len(keys); i++)
        rc = bin_number(self, py_seq_at(keys, i));
    for (size_t i = 0; rc == 0 && keys != v && i < py_seq_len(keys); i++)
        rc = bin_number(self, py_dict_get(v, py_seq_at(keys, i)));
    py_leave();
    return rc;
}

/* The number of an object that has one. */
static void
bin_ref(bin_out_t *self, py_t *v)
{
    AUTO(py) key = object_key(v);
    int64_t n = 0;

    (void) py_to_int64(py_dict_get(self->numbers, key), &n);
    bin_uint(&self->out, (uint64_t) n, self->ref_size);
}

/* ---- objects ------------------------------------------------------------------------------------------ */

/* A length up to 14 fits the token; a longer one follows as an integer. */
static void
bin_size(buf_t *out, int token, size_t n)
{
    enum { MORE = 15, INTEGER = 0x10 };
    unsigned size = uint_size(n), power = 0;

    buf_putc(out, (char) (token | (n < MORE ? (int) n : MORE)));
    if (n < MORE)
        return;
    while (1u << power < size)
        power++;
    buf_putc(out, (char) (INTEGER | power));
    bin_uint(out, n, size);
}

/* Negative ones always take eight bytes: shorter integers have no sign in this format. What does not fit 64
 * bits without sign is refused, as in plistlib. */
static int
bin_int(buf_t *out, py_t *v)
{
    enum { BYTE = 0x10, WORD = 0x11, LONG = 0x12, QUAD = 0x13, BOTH = 0x14 };
    int64_t n;
    uint64_t large;

    if (py_to_int64(v, &n)) {
        unsigned size = n < 0 ? EIGHT : uint_size((uint64_t) n);
        buf_putc(out, size == ONE ? BYTE : size == TWO ? WORD : size == FOUR ? LONG : QUAD);
        bin_uint(out, (uint64_t) n, size);
        return 0;
    }
    AUTO(py) shown = py_repr(v);
    if (shown == NULL)
        return -1;
    errno = 0;
    large = strtoull(py_cstr(shown), NULL, 10);
    if (errno != 0 || *py_cstr(shown) == '-')
        return py_raise_int(&py_OverflowError, "%s", py_cstr(shown));
    buf_putc(out, BOTH);
    bin_uint(out, large, SIXTEEN);
    return 0;
}

/* ASCII as it is, anything else as UTF-16. A text is written as UTF-16 first, whose length shows whether all
 * of it was ASCII: only then each byte of the text became one unit. */
static void
bin_str(buf_t *out, py_t *v)
{
    enum {
        ASCII = 0x50,
        UNICODE = 0x60,
        PLANE = 0x10000,
        HIGH = 0xd800,
        LOW = 0xdc00,
        SHIFT = 10,
        MASK = 0x3ff
    };
    buf_auto_t wide = BUF_INIT;
    size_t len;
    const char *text = py_text(v, &len);
    uint32_t cp;

    for (size_t at = 0; at < len;) {
        at += utf8_next(text + at, len - at, &cp);
        if (cp >= PLANE) {
            bin_uint(&wide, HIGH + ((cp - PLANE) >> SHIFT), TWO);
            cp = LOW + ((cp - PLANE) & MASK);
        }
        bin_uint(&wide, cp, TWO);
    }
    bool ascii = wide.len == len * TWO;
    for (size_t i = 0; ascii && i < len; i++)
        ascii = (unsigned char) text[i] <= SCHAR_MAX;
    bin_size(out, ascii ? ASCII : UNICODE, ascii ? len : wide.len / TWO);
    buf_add(out, ascii ? text : buf_str(&wide), ascii ? len : wide.len);
}

/* Numbers of the elements, which are written elsewhere. */
static int
bin_container(bin_out_t *self, py_t *v)
{
    enum { ARRAY = 0xa0, DICT = 0xd0 };
    bool dict = py_is(v, PY_DICT);
    AUTO(py) keys = dict ? plist_keys(v, self->how) : py_ref(v);

    if (keys == NULL)
        return -1;
    bin_size(&self->out, dict ? DICT : ARRAY, py_seq_len(keys));
    for (size_t i = 0; i < py_seq_len(keys); i++)
        bin_ref(self, py_seq_at(keys, i));
    for (size_t i = 0; dict && i < py_seq_len(keys); i++)
        bin_ref(self, py_dict_get(v, py_seq_at(keys, i)));
    return 0;
}

/* Writes one object; those in it are only named. */
static int
bin_object(bin_out_t *self, py_t *v)
{
    enum { NONE = 0, FALSE = 8, TRUE = 9, REAL = 0x23, DATA = 0x40 };
    buf_t *out = &self->out;

    if (container(v))
        return bin_container(self, v);
    switch (py_type(v)) {
    case PY_NONE:
        buf_putc(out, NONE);
        return 0;
    case PY_BOOL:
        buf_putc(out, py_truth(v) > 0 ? TRUE : FALSE);
        return 0;
    case PY_INT:
        return bin_int(out, v);
    case PY_FLOAT:
        bin_double(out, REAL, py_float_value(v));
        return 0;
    case PY_STR:
        bin_str(out, v);
        return 0;
    case PY_BYTES: {
        size_t len;
        const char *bytes = py_text(v, &len);
        bin_size(out, DATA, len);
        buf_add(out, bytes, len);
        return 0;
    }
    default: {
        /* Dates are left, as seconds since 2001. */
        enum { DATE = 0x33 };
        static const double epoch = 978307200; /* 2001-01-01 */
        const char *date = plist_date_text(v);
        if (date == NULL)
            return py_raise_int(&py_TypeError, "unsupported type: <class '%s'>", py_type_name(v));
        bin_double(out, DATE, plist_date_seconds(date) - epoch);
        return 0;
    }
    }
}

/* ---- the whole ---------------------------------------------------------------------------------------- */

/* The table of offsets, in as many bytes as the largest of them needs, and the trailer behind it. */
static void
bin_trailer(bin_out_t *self)
{
    enum { PADDING = 6 };
    size_t n = py_seq_len(self->objects);
    uint64_t table = self->out.len;
    unsigned offset_size = uint_size(table);
    const uint64_t *offsets = (const uint64_t *) (const void *) self->offsets.data;

    for (size_t i = 0; i < n; i++)
        bin_uint(&self->out, offsets[i], offset_size);
    buf_fill(&self->out, '\0', PADDING);
    buf_putc(&self->out, (char) offset_size);
    buf_putc(&self->out, (char) self->ref_size);
    bin_uint(&self->out, n, EIGHT);
    bin_uint(&self->out, 0, EIGHT); /* the outermost object */
    bin_uint(&self->out, table, EIGHT);
}

/* First all objects get their numbers, as their count says how many bytes a number takes. NEW bytes, or NULL
 * raised. */
py_t *
plist_write_binary(py_t *v, const plist_options_t *how)
{
    __attribute__((cleanup(bin_out_free)))
    bin_out_t self = { .how = how, .objects = py_list(), .numbers = py_dict() };

    if (bin_number(&self, v) < 0)
        return NULL;
    self.ref_size = uint_size(py_seq_len(self.objects));
    buf_puts(&self.out, "bplist00");
    for (size_t i = 0; i < py_seq_len(self.objects); i++) {
        uint64_t at = self.out.len;
        buf_add(&self.offsets, &at, sizeof(at));
        if (bin_object(&self, py_seq_at(self.objects, i)) < 0)
            return NULL;
    }
    bin_trailer(&self);
    return py_bytes(self.out.data, self.out.len);
}
