/* py_hash.c - hashes. Numbers that are equal hash alike whatever their type, by CPython's modulus; texts are
 * hashed with a per-process secret, as keys may be chosen by a peer. */
#include <math.h>
#include <sys/auxv.h>

#include "common/py/py_as.h"

/* 2^61 - 1, as CPython: a number's hash is its value modulo this prime. */
#define MODULUS ((UINT64_C(1) << 61) - 1)

static uint64_t
py_hash_mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 r = (unsigned __int128) a * b;

    return (uint64_t) r ^ (uint64_t) (r >> 64);
}

static uint64_t
py_hash_load(const char *p, size_t n)
{
    uint64_t v = 0;

    memcpy(&v, p, n);
    return v;
}

/* The process's secret: 8 of the 16 random bytes that the kernel passes (AT_RANDOM). Prevents chosen
 * collisions. */
static uint64_t
secret(void)
{
    static _Thread_local uint64_t known;

    if (__builtin_expect(known == 0, 0)) {
        const char *random = (const char *) getauxval(AT_RANDOM); // NOLINT: that is how the kernel passes it
        known = (random != NULL ? py_hash_load(random, sizeof(known)) : 0) | 1;
    }
    return known;
}

uint64_t
py_str_hash(const py_t *v)
{
    pystr_t *s = (pystr_t *) v; /* the hash is a cache */

    if (s->hash == 0) {
        /* A wyhash-like hash: 16 bytes per multiplication. Never 0, which means "unknown". */
        const char *p = s->text;
        size_t len = s->len;
        const uint64_t k1 = UINT64_C(0x9e3779b97f4a7c15), k2 = UINT64_C(0xd6e8feb86659fd93);
        uint64_t h = secret() ^ py_hash_mix(len ^ k2, k1);

        for (; len > 16; len -= 16, p += 16)
            h = py_hash_mix(py_hash_load(p, 8) ^ k1, py_hash_load(p + 8, 8) ^ h);
        if (len > 8)
            h = py_hash_mix(py_hash_load(p, 8) ^ k2, py_hash_load(p + 8, len - 8) ^ h);
        else
            h = py_hash_mix(py_hash_load(p, len) ^ k2, h ^ k1);
        s->hash = h != 0 ? h : 1;
    }
    return s->hash;
}

static uint64_t
signed_hash(uint64_t h, bool negative)
{
    return negative ? -h : h;
}

/* Modulo 2**61 - 1, as CPython; equal numbers of different types must have equal hashes. */
static uint64_t
int_hash(const py_t *v)
{
    if (py_small(v) || v->type == PY_BOOL) {
        int64_t n = py_small(v) ? py_small_value(v) : v->aux;
        uint64_t size = n < 0 ? -(uint64_t) n : (uint64_t) n;
        return signed_hash(size % MODULUS, n < 0);
    }
    mpz_t z;
    const pybig_t *b = (const pybig_t *) v;
    mpz_roinit_n(z, b->limbs, b->n);
    return signed_hash(mpz_tdiv_ui(z, MODULUS), b->n < 0);
}

/* CPython's _Py_HashDouble: the value modulo 2^61 - 1. */
uint64_t
py_double_hash(double d)
{
    int exponent;
    uint64_t h = 0;

    if (isinf(d))
        return d > 0 ? 314159 : (uint64_t) -314159;
    double m = frexp(fabs(d), &exponent);
    while (m != 0.0) {
        h = ((h << 28) & MODULUS) | h >> 33;
        m *= 268435456.0; /* 2**28 */
        exponent -= 28;
        uint64_t part = (uint64_t) m;
        m -= (double) part;
        h += part;
        if (h >= MODULUS)
            h -= MODULUS;
    }
    exponent = exponent >= 0 ? exponent % 61 : 60 - ((-1 - exponent) % 61);
    h = ((h << exponent) & MODULUS) | h >> (61 - exponent);
    return signed_hash(h, d < 0);
}

/* Hashes the elements in their order; an unhashable one raises. */
static int
tuple_hash(py_t *v, uint64_t *ret_hash)
{
    uint64_t h = UINT64_C(0x27d4eb2f165667c5), one;
    int rc = 0;

    if (py_enter() < 0)
        return -1;
    for (size_t i = 0; rc == 0 && i < py_as_tuple(v)->n; i++) {
        rc = py_tick() < 0 ? -1 : py_hash(py_as_tuple(v)->v[i], &one);
        if (rc == 0)
            h = py_hash_mix(h ^ one, UINT64_C(0x9e3779b97f4a7c15) + i);
    }
    py_leave();
    *ret_hash = h;
    return rc;
}

/* Order-independent sum over the elements' mixed hashes. */
static int
set_hash(const py_t *v, uint64_t *ret_hash)
{
    const pydict_t *d = py_as_dict(v);
    uint64_t h = d->used;

    for (size_t i = 0; i < d->fill; i++) {
        if (d->entries[i].key != NULL)
            h += py_hash_mix(d->entries[i].hash ^ UINT64_C(0xd6e8feb86659fd93), UINT64_C(0x9e3779b97f4a7c15));
    }
    *ret_hash = h;
    return 0;
}

static int
unhashable(const py_t *v)
{
    return py_raise_int(&py_TypeError, "unhashable type: '%s'", py_type_name(v));
}

int
py_hash(py_t *v, uint64_t *ret_hash)
{
    const pyrange_t *r = (const pyrange_t *) v;

    switch (py_type(v)) {
    case PY_STR:
    case PY_BYTES:
        *ret_hash = py_str_hash(v);
        return 0;
    case PY_BOOL:
    case PY_INT:
        *ret_hash = int_hash(v);
        return 0;
    case PY_FLOAT:
        if (isnan(py_float_value(v)))
            break; /* no nan equals another: hash by identity */
        *ret_hash = py_double_hash(py_float_value(v));
        return 0;
    case PY_TUPLE:
        return tuple_hash(v, ret_hash);
    case PY_SET:
        return (v->flags & PY_F_FROZEN) != 0 ? set_hash(v, ret_hash) : unhashable(v);
    case PY_RANGE:
        *ret_hash = py_hash_mix((uint64_t) r->n + 1, (uint64_t) (r->n > 0 ? r->start : 0) ^ 0x72616e67);
        return 0;
    case PY_LIST:
    case PY_DICT:
    case PY_SLICE:
        return unhashable(v);
    case PY_VIEW:
        if (((pyview_t *) v)->kind != PY_VALUES)
            return unhashable(v);
        break;
    case PY_UNDEFINED: /* all undefined values are equal, but strict ones have no hash */
        if ((py_undef_class(v)->flags & PY_UNDEF_TRUTH) != 0) {
            py_undef_raise(v);
            return -1;
        }
        *ret_hash = 0x756e64;
        return 0;
    case PY_HOST:
        if (py_host_class(v)->hash != NULL)
            return py_host_class(v)->hash(v, ret_hash);
        if (py_host_class(v)->eq != NULL)
            return unhashable(v);
        break;
    default:
        break;
    }
    *ret_hash = py_hash_mix((uintptr_t) v, UINT64_C(0x9e3779b97f4a7c15));
    return 0;
}
