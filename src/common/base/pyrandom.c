/* pyrandom.c - the Mersenne Twister MT19937 with CPython's seeding and choosing. */
#include "common/base/pyrandom.h"

#include <inttypes.h>
#include <math.h>
#include <sys/random.h>

#include "common/base/buf.h"
#include "common/base/digest.h"

enum { N = 624, M = 397, SYSTEM_WORDS = 64 };

struct pyrandom {
    uint32_t state[N];
    size_t at;
};

/* ---- the generator ------------------------------------------------------------------------ */

/* CPython's init_by_array: its seeds are numbers of any length, as words of 32 bits. */
static void
init_by_words(pyrandom_t *self, const uint32_t *key, size_t len)
{
    uint32_t *mt = self->state;
    size_t i = 1, j = 0;

    /* CPython's init_genrand with its fixed number: a state that the key is mixed into. */
    mt[0] = 19650218U;
    for (uint32_t k = 1; k < N; k++)
        mt[k] = 1812433253U * (mt[k - 1] ^ (mt[k - 1] >> 30)) + k;
    self->at = N;
    for (size_t k = len > N ? len : N; k > 0; k--) {
        mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1664525U)) + key[j] + (uint32_t) j;
        if (++i == N) {
            mt[0] = mt[N - 1];
            i = 1;
        }
        j = (j + 1) % len;
    }
    for (size_t k = N - 1; k > 0; k--) {
        mt[i] = (mt[i] ^ ((mt[i - 1] ^ (mt[i - 1] >> 30)) * 1566083941U)) - (uint32_t) i;
        if (++i == N) {
            mt[0] = mt[N - 1];
            i = 1;
        }
    }
    mt[0] = 0x80000000U;
}

/* The Mersenne Twister MT19937, as in CPython's _randommodule.c: the numbers must be the same for the same
 * seed. */
static uint32_t
pyrandom_next_word(pyrandom_t *self)
{
    if (self->at == N) {
        /* Makes the next block of numbers. */
        uint32_t *mt = self->state;
        for (size_t k = 0; k < N; k++) {
            uint32_t y = (mt[k] & 0x80000000U) | (mt[(k + 1) % N] & 0x7fffffffU);
            mt[k] = mt[(k + M) % N] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfU : 0);
        }
        self->at = 0;
    }
    uint32_t y = self->state[self->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680U;
    y ^= (y << 15) & 0xefc60000U;
    return y ^ (y >> 18);
}

/* ---- seeds -------------------------------------------------------------------------------- */

/* Splits a big-endian number of `len` bytes into little-endian words without leading zeros. */
static void
seed_bytes(pyrandom_t *self, const unsigned char *bytes, size_t len)
{
    size_t n = (len + 3) / 4;
    AUTO_FREE uint32_t *words = xcalloc(n + 1, sizeof(*words));

    for (size_t i = 0; i < len; i++)
        words[i / 4] |= (uint32_t) bytes[len - 1 - i] << (i % 4 * 8);
    while (n > 0 && words[n - 1] == 0)
        n--;
    init_by_words(self, words, n > 0 ? n : 1);
}

/* An integer's absolute value is the seed, as in Python. */
static void
seed_number(pyrandom_t *self, uint64_t v)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char) (v >> (56 - 8 * i));
    seed_bytes(self, bytes, sizeof(bytes));
}

/* CPython's hash of a float as an unsigned number: the value modulo 2**61 - 1, with its sign. */
static uint64_t
hash_float(double v)
{
    const uint64_t modulus = (1ULL << 61) - 1;
    uint64_t x = 0;
    int e;

    for (double m = frexp(fabs(v), &e); m != 0;) {
        x = ((x << 28) & modulus) | x >> (61 - 28);
        m *= 268435456.0;
        e -= 28;
        uint64_t y = (uint64_t) m;
        m -= (double) y;
        x += y;
        if (x >= modulus)
            x -= modulus;
    }
    e = e >= 0 ? e % 61 : 61 - 1 - ((-1 - e) % 61);
    x = ((x << e) & modulus) | x >> (61 - e);
    return !signbit(v) ? x : x == 1 ? (uint64_t) -2 : -x;
}

pyrandom_t *
pyrandom_new(const json_t *seed, fail_t *err)
{
    pyrandom_t *self = xcalloc(1, sizeof(*self));

    if (seed == NULL || json_is_null(seed)) {
        /* Seeds from the system's random numbers. */
        uint32_t words[SYSTEM_WORDS];
        salt_assert(getrandom(words, sizeof(words), 0) == (ssize_t) sizeof(words));
        init_by_words(self, words, SYSTEM_WORDS);
    } else if (json_is_string(seed)) {
        /* Seeds from a text followed by its SHA-512, read as one number, as Python does. */
        const char *text = json_string_value(seed);
        size_t len = json_string_length(seed);
        buf_auto_t bytes = BUF_INIT;
        AUTO_FREE char *hex = digest_bytes("sha512", text, len, NULL);
        unsigned byte;
        salt_assert(hex != NULL);
        buf_add(&bytes, text, len);
        for (const char *p = hex; *p != '\0'; p += 2) {
            salt_assert(sscanf(p, "%2x", &byte) == 1);
            buf_putc(&bytes, (char) byte);
        }
        seed_bytes(self, (const unsigned char *) bytes.data, bytes.len);
    } else if (json_is_integer(seed)) {
        json_int_t v = json_integer_value(seed);
        seed_number(self, v < 0 ? -(uint64_t) v : (uint64_t) v);
    } else if (json_is_boolean(seed)) {
        seed_number(self, json_is_true(seed));
    } else if (json_is_real(seed)) {
        seed_number(self, hash_float(json_real_value(seed)));
    } else {
        pyrandom_destroy(&self);
        fail_set(
            err, -EINVAL,
            "TypeError: The only supported seed types are: None,\nint, float, str, bytes, and bytearray.");
    }
    return self;
}

void
pyrandom_destroy(pyrandom_t **self_p)
{
    free(*self_p);
    *self_p = NULL;
}

/* ---- choosing ----------------------------------------------------------------------------- */

uint64_t
pyrandom_below(pyrandom_t *self, uint64_t n)
{
    int k = 64 - __builtin_clzll(n);
    uint64_t r;

    /* As CPython's getrandbits: the upper bits of a word, and the lower word first. Numbers that are too
     * large are drawn anew, so that all below `n` come as often. */
    do {
        r = pyrandom_next_word(self);
        if (k <= 32)
            r >>= 32 - k;
        else
            r |= (uint64_t) (pyrandom_next_word(self) >> (64 - k)) << 32;
    } while (r >= n);
    return r;
}

/* random.randint(low, high). The whole range of 64 bits has no width that fits, and is refused. */
int
pyrandom_int(pyrandom_t *self, int64_t low, int64_t high, int64_t *ret_value, fail_t *err)
{
    uint64_t width = (uint64_t) high - (uint64_t) low + 1;

    if (high < low || width == 0)
        return fail_set(err, -EINVAL,
                        "ValueError: empty range for randrange() (%" PRId64 ", %" PRId64 ", %" PRId64 ")",
                        low, (int64_t) ((uint64_t) high + 1), (int64_t) width);
    *ret_value = (int64_t) ((uint64_t) low + pyrandom_below(self, width));
    return 0;
}

json_t *
pyrandom_sample(pyrandom_t *self, const json_t *list, int64_t k, fail_t *err)
{
    size_t n = json_array_size(list);
    double small = 21;

    if (k < 0 || (uint64_t) k > n) {
        fail_set(err, -EINVAL, "ValueError: Sample larger than population or is negative");
        return NULL;
    }
    /* random.sample's bound between its two ways, which draw different numbers: the results are Python's. */
    if (k > 5)
        small += pow(4, ceil(log((double) k * 3) / log(4)));
    json_t *out = json_array();
    if ((double) n <= small) {
        /* Many of few: swaps each chosen one out of the pool. */
        AUTO_FREE size_t *pool = xcalloc(n, sizeof(*pool));
        for (size_t i = 0; i < n; i++)
            pool[i] = i;
        for (size_t i = 0; i < (size_t) k; i++) {
            size_t j = (size_t) pyrandom_below(self, n - i);
            json_array_append(out, json_array_get(list, pool[j]));
            pool[j] = pool[n - i - 1];
        }
        return out;
    }

    /* Few of many: remembers which ones are taken, and draws again. */
    AUTO_FREE bool *taken = xcalloc(n, sizeof(*taken));
    for (size_t i = 0; i < (size_t) k; i++) {
        size_t j;
        do {
            j = (size_t) pyrandom_below(self, n);
        } while (taken[j]);
        taken[j] = true;
        json_array_append(out, json_array_get(list, j));
    }
    return out;
}
