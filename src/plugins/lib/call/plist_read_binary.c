/* plist_read_binary.c - see plist.h: the binary form. Whatever is not as it should be is "Invalid file", as
 * in plistlib; so is an object that holds itself. */
#include <limits.h>
#include <math.h>

#include "plugins/lib/call/plist_int.h"

#include "common/base/utf8.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"

enum { TRAILER = 32, EIGHT_BYTES = 8, NIBBLE = 15 };

typedef struct bin_in {
    const unsigned char *bytes;
    size_t len;
    size_t n, table; /* objects, and where their offsets are */
    unsigned offset_size, ref_size;
    py_t **objects; /* owned, those read so far */
    bool *busy;     /* owned: being read */
} bin_in_t;

/* Objects that were never read are NULL. */
static void
bin_in_free(bin_in_t *self)
{
    for (size_t i = 0; self->objects != NULL && i < self->n; i++)
        py_unref(self->objects[i]);
    free(self->objects);
    free(self->busy);
}

/* The error that plistlib raises, whatever is wrong. NULL, so that readers may return it. */
static py_t *
bad_file(void)
{
    return py_raise(&py_ValueError, "Invalid file");
}

/* Big-endian, the last eight bytes of it. Sizes that need not be a power of two occur in the table of
 * offsets. */
static uint64_t
uint_at(const unsigned char *p, size_t size)
{
    uint64_t n = 0;

    for (size_t i = 0; i < size; i++)
        n = n << CHAR_BIT | p[i];
    return n;
}

/* IEEE 754, big-endian, whatever this machine has. */
static double
double_at(const unsigned char *p)
{
    uint64_t bits = uint_at(p, EIGHT_BYTES);
    double v;

    memcpy(&v, &bits, sizeof(v));
    return v;
}

/* `n` bytes at *at, which goes behind them; NULL: there are not so many. The test is written so that a length
 * near the largest number can't overflow it. */
static const unsigned char *
bin_take(const bin_in_t *self, size_t *at, size_t n)
{
    if (*at > self->len || n > self->len - *at)
        return NULL;
    *at += n;
    return self->bytes + *at - n;
}

/* How many elements or characters follow: the token's low half, or an integer behind it. The integer is an
 * object of its own, token and all; its own low half is the power of two of its size. */
static bool
take_size(const bin_in_t *self, size_t *at, unsigned low, size_t *ret_n)
{
    enum { POWER = 3 };

    *ret_n = low;
    if (low != NIBBLE)
        return true;
    const unsigned char *p = bin_take(self, at, 1);
    size_t size = p != NULL ? (size_t) 1 << (*p & POWER) : 0;
    p = p != NULL ? bin_take(self, at, size) : NULL;
    *ret_n = p != NULL ? uint_at(p, size) : 0;
    return p != NULL;
}

/* ---- scalars ------------------------------------------------------------------------------------------ */

/* 1, 2, 4, 8 or 16 bytes. Only those of 16 need more than an int64_t, and go through their digits. */
static py_t *
bin_read_int(const bin_in_t *self, size_t at, unsigned low)
{
    enum { SIGNED = 3, WIDE = 4, DIGITS = 48, TEN = 10 };
    size_t size = (size_t) 1 << low;
    const unsigned char *p = bin_take(self, &at, size);

    if (p == NULL || low > WIDE)
        return bad_file();
    uint64_t n = uint_at(p, size);
    if (low <= SIGNED) /* smaller ones have no sign */
        return py_int((int64_t) n);
    unsigned __int128 wide = (unsigned __int128) uint_at(p, EIGHT_BYTES) << 64 | n;
    bool minus = (*p & 0x80) != 0;
    char digits[DIGITS], *d = digits + sizeof(digits);
    /* In unsigned arithmetic the smallest number has its negative too. */
    wide = minus ? -wide : wide;
    do
        *--d = (char) ('0' + (int) (wide % TEN));
    while ((wide /= TEN) != 0);
    if (minus)
        *--d = '-';
    return py_int_digits(d, (size_t) (digits + sizeof(digits) - d));
}

/* Four or eight bytes; of no other size is one a number. */
static py_t *
read_real(const bin_in_t *self, size_t at, unsigned low)
{
    enum { SINGLE = 2, DOUBLE = 3 };
    const unsigned char *p = low == SINGLE || low == DOUBLE ? bin_take(self, &at, (size_t) 1 << low) : NULL;
    float single;

    if (p == NULL)
        return bad_file();
    if (low == DOUBLE)
        return py_float(double_at(p));
    uint32_t bits = (uint32_t) uint_at(p, sizeof(single));
    memcpy(&single, &bits, sizeof(single));
    return py_float(single);
}

/* Seconds since 2001 as a double. The bound keeps llround() within its range; NaN fails it too. */
static py_t *
bin_read_date(const bin_in_t *self, size_t at, unsigned low)
{
    enum { DOUBLE = 3, MICROS = 1000000 };
    static const double epoch = 978307200,
                        most = 1e12; /* 2001-01-01; further than any year that has four digits */
    const unsigned char *p = low == DOUBLE ? bin_take(self, &at, EIGHT_BYTES) : NULL;
    double seconds = p != NULL ? double_at(p) + epoch : NAN;

    if (!(fabs(seconds) < most))
        return bad_file();
    int64_t micros = llround(seconds * MICROS), rest = ((micros % MICROS) + MICROS) % MICROS;
    return plist_date((micros - rest) / MICROS, (int) rest);
}

/* Data, of which nothing is looked at. */
static py_t *
bin_read_bytes(const bin_in_t *self, size_t at, unsigned low)
{
    size_t n;
    const unsigned char *p = take_size(self, &at, low, &n) ? bin_take(self, &at, n) : NULL;

    return p != NULL ? py_bytes(p, n) : bad_file();
}

/* Characters of ASCII, one byte for each; others are the writer's fault. */
static py_t *
read_ascii(const bin_in_t *self, size_t at, unsigned low)
{
    size_t n;
    const unsigned char *p = take_size(self, &at, low, &n) ? bin_take(self, &at, n) : NULL;

    for (size_t i = 0; p != NULL && i < n; i++)
        if (p[i] > SCHAR_MAX)
            return bad_file();
    return p != NULL ? py_str((const char *) p, n) : bad_file();
}

/* UTF-16 without a mark. Half of a pair without the other is no character. */
static py_t *
read_unicode(const bin_in_t *self, size_t at, unsigned low)
{
    enum { UNIT = 2, PLANE = 0x10000, HIGH = 0xd800, LOW = 0xdc00, AFTER = 0xe000, SHIFT = 10 };
    buf_auto_t out = BUF_INIT;
    char text[4];
    size_t n;
    const unsigned char *p = take_size(self, &at, low, &n) && n <= SIZE_MAX / UNIT
                                 ? bin_take(self, &at, n * UNIT)
                                 : NULL;

    if (p == NULL)
        return bad_file();
    for (size_t i = 0; i < n; i++) {
        uint32_t cp = (uint32_t) uint_at(p + i * UNIT, UNIT);
        if (cp >= HIGH && cp < AFTER) {
            uint32_t next = cp < LOW && i + 1 < n ? (uint32_t) uint_at(p + ++i * UNIT, UNIT) : 0;
            if (next < LOW || next >= AFTER)
                return bad_file();
            cp = PLANE + ((cp - HIGH) << SHIFT) + (next - LOW);
        }
        buf_add(&out, text, utf8_encode(cp, text));
    }
    return py_str(buf_str(&out), out.len);
}

/* Objects that are a token alone. */
static py_t *
read_simple(const bin_in_t *self, size_t at, unsigned low)
{
    enum { NONE = 0, FALSE = 8, TRUE = 9, EMPTY = 15 };

    switch (low) {
    case NONE:
        return PY_None;
    case FALSE:
        return PY_False;
    case TRUE:
        return PY_True;
    case EMPTY:
        return py_bytes("", 0);
    default:
        return bad_file();
    }
}

/* ---- lists and mappings ------------------------------------------------------------------------------- */

static py_t *bin_read_object(bin_in_t *self, size_t number);

/* Elements are numbers of objects. Each takes at least a byte of the file, which bounds a forged count. */
static py_t *
bin_read_array(bin_in_t *self, size_t at, unsigned low)
{
    AUTO(py) list = py_list();
    size_t n;

    if (!take_size(self, &at, low, &n) || n > self->len)
        return bad_file();
    for (size_t i = 0; i < n; i++) {
        const unsigned char *ref = bin_take(self, &at, self->ref_size);
        AUTO(py) v = ref != NULL ? bin_read_object(self, uint_at(ref, self->ref_size)) : bad_file();
        if (v == NULL)
            return NULL;
        py_append(list, v);
    }
    return STEAL(list);
}

/* All keys come first, then all values in the same order. */
static py_t *
bin_read_dict(bin_in_t *self, size_t at, unsigned low)
{
    AUTO(py) dict = py_dict();
    size_t n;

    if (!take_size(self, &at, low, &n) || n > self->len)
        return bad_file();
    size_t values = at + n * self->ref_size;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *k = bin_take(self, &at, self->ref_size),
                            *v = bin_take(self, &values, self->ref_size);
        if (k == NULL || v == NULL)
            return bad_file();
        AUTO(py) key = bin_read_object(self, uint_at(k, self->ref_size));
        AUTO(py) value = key != NULL ? bin_read_object(self, uint_at(v, self->ref_size)) : NULL;
        if (value == NULL || py_dict_set(dict, key, value) < 0)
            return NULL;
    }
    return STEAL(dict);
}

/* By the token's high half; NULL rows are in no property list, but for UIDs of key archives. */
static py_t *(*const scalars[])(const bin_in_t *self, size_t at, unsigned low) = {
    read_simple, bin_read_int, read_real, bin_read_date, bin_read_bytes, read_ascii, read_unicode,
};
enum { TOKEN_ARRAY = 10, TOKEN_DICT = 13 };

/* The object at this place; `at` may be beyond the end, which is no object. */
static py_t *
bin_read_token(bin_in_t *self, size_t at)
{
    enum { HALF = 4 };
    const unsigned char *token = bin_take(self, &at, 1);
    unsigned high = token != NULL ? *token >> HALF : NIBBLE, low = token != NULL ? *token & NIBBLE : 0;

    if (high < NELEMS(scalars))
        return scalars[high](self, at, low);
    return high == TOKEN_ARRAY  ? bin_read_array(self, at, low)
           : high == TOKEN_DICT ? bin_read_dict(self, at, low)
                                : bad_file();
}

/* NEW reference to the object of this number. An object that is named twice is read once, as a file of a few
 * bytes could name it a million times. One that is being read already holds itself. */
static py_t *
bin_read_object(bin_in_t *self, size_t number)
{
    if (number >= self->n || self->busy[number])
        return bad_file();
    if (self->objects[number] != NULL)
        return py_ref(self->objects[number]);
    if (py_enter() < 0)
        return NULL;
    self->busy[number] = true;
    self->objects[number] = bin_read_token(
        self, uint_at(self->bytes + self->table + number * self->offset_size, self->offset_size));
    self->busy[number] = false;
    py_leave();
    return py_ref(self->objects[number]);
}

py_t *
plist_read_binary(const char *bytes, size_t len)
{
    enum { OFFSET_SIZE = 6, REF_SIZE = 7, COUNT = 8, TOP = 16, TABLE = 24 };
    __attribute__((cleanup(bin_in_free)))
    bin_in_t self = { .bytes = (const unsigned char *) bytes, .len = len };

    if (len < TRAILER)
        return bad_file();
    const unsigned char *trailer = self.bytes + len - TRAILER;
    self.offset_size = trailer[OFFSET_SIZE];
    self.ref_size = trailer[REF_SIZE];
    self.table = uint_at(trailer + TABLE, EIGHT_BYTES);
    /* The last 32 bytes: sizes, the number of objects, the outermost one, and where the table is. All of them
     * are claims of the file. */
    uint64_t n = uint_at(trailer + COUNT, EIGHT_BYTES);
    if (self.offset_size < 1 || self.offset_size > EIGHT_BYTES || self.ref_size < 1 ||
        self.ref_size > EIGHT_BYTES || self.table > len - TRAILER ||
        n > (len - TRAILER - self.table) / self.offset_size)
        return bad_file();
    self.n = n;
    self.objects = xcalloc(n + 1, sizeof(*self.objects));
    self.busy = xcalloc(n + 1, sizeof(*self.busy));
    AUTO(py) v = bin_read_object(&self, uint_at(trailer + TOP, EIGHT_BYTES));
    /* it is merged and compared, which goes through an object as often as it is named */
    return v != NULL && py_json_fits(v) == 0 ? STEAL(v) : NULL;
}
