/* py_int.c - integers without a limit: small ones in the pointer, others by GMP.
 *
 * Operators try 64-bit arithmetic first and use GMP when that overflows. Sizes of results are bounded before
 * GMP computes them, since GMP aborts when memory fails. Conversions from and to floats round to nearest,
 * ties to even, as CPython; decimal text is limited to MAX_STR_DIGITS. */
#include <math.h>

#include "common/py/py_obj.h"
#include "salt/limits.h"

enum { MAX_STR_DIGITS = 4300, SMALL_TEXT = 24 };
enum { DOUBLE_BITS = 53, DOUBLE_MAX_EXP = 1024, DOUBLE_UNIT = -1074 }; /* of IEEE 754 */

/* ---- making and reading ---------------------------------------------------------------------- */

py_t *
py_int(int64_t v)
{
    if (v >= PY_SMALL_MIN && v <= PY_SMALL_MAX)
        return py_small_new(v);
    pybig_t *b = py_new(sizeof(*b) + sizeof(mp_limb_t), PY_INT);
    b->n = v < 0 ? -1 : 1;
    b->limbs[0] = v < 0 ? -(uint64_t) v : (uint64_t) v;
    return &b->h;
}

/* Small if it fits, as each number has only one form. NEW. */
py_t *
py_from_mpz(const mpz_t z)
{
    size_t n = mpz_size(z);

    if (n == 0)
        return py_small_new(0);
    if (n == 1 && mpz_limbs_read(z)[0] <= (uint64_t) PY_SMALL_MAX) {
        int64_t v = (int64_t) mpz_limbs_read(z)[0];
        return py_small_new(mpz_sgn(z) < 0 ? -v : v);
    }
    if (n == 1 && mpz_sgn(z) < 0 && mpz_limbs_read(z)[0] == (uint64_t) PY_SMALL_MAX + 1)
        return py_small_new(PY_SMALL_MIN);
    pybig_t *b = py_new(sizeof(*b) + n * sizeof(mp_limb_t), PY_INT);
    b->n = mpz_sgn(z) < 0 ? -(int) n : (int) n;
    memcpy(b->limbs, mpz_limbs_read(z), n * sizeof(mp_limb_t));
    return &b->h;
}

bool
py_is_int(const py_t *v)
{
    return py_small(v) || v->type == PY_INT || v->type == PY_BOOL;
}

/* The value of an int of up to 63 bits, or a bool; false for big ones. */
static bool
small_of(const py_t *v, int64_t *ret_v)
{
    if (py_small(v))
        *ret_v = py_small_value(v);
    else if (v->type == PY_BOOL)
        *ret_v = v->aux;
    else
        return false;
    return true;
}

bool
py_to_int64(const py_t *v, int64_t *ret_v)
{
    if (small_of(v, ret_v))
        return true;
    if (v->type != PY_INT)
        return false;
    const pybig_t *b = (const pybig_t *) v;
    if (b->n == 1 && b->limbs[0] <= INT64_MAX)
        *ret_v = (int64_t) b->limbs[0];
    else if (b->n == -1 && b->limbs[0] <= (uint64_t) INT64_MAX + 1)
        *ret_v = (int64_t) -b->limbs[0];
    else
        return false;
    return true;
}

int
py_int_sign(const py_t *v)
{
    int64_t s;

    if (small_of(v, &s))
        return (s > 0) - (s < 0);
    return ((const pybig_t *) v)->n < 0 ? -1 : 1;
}

/* Copies the value to `z`, which the caller has initialised. */
void
py_get_mpz(const py_t *v, mpz_t z)
{
    int64_t s;

    if (small_of(v, &s)) {
        mpz_set_si(z, s);
        return;
    }
    mpz_t view;
    const pybig_t *b = (const pybig_t *) v;
    mpz_set(z, mpz_roinit_n(view, b->limbs, b->n));
}

/* NEW, or NULL if `digits` is not a decimal number. */
py_t *
py_int_digits(const char *digits, size_t len)
{
    AUTO_FREE char *text = xstrndup(digits, len);
    const char *p = text + (*text == '-' || *text == '+');

    if (*p == '\0' || strspn(p, "0123456789") != strlen(p) || strlen(text) != len)
        return NULL;
    if (len < 18)
        return py_small_new(strtoll(text, NULL, 10));
    mpz_t z;
    mpz_init(z);
    mpz_set_str(z, p, 10);
    if (*text == '-')
        mpz_neg(z, z);
    py_t *v = py_from_mpz(z);
    mpz_clear(z);
    return v;
}

/* ---- text ------------------------------------------------------------------------------------- */

int
py_int_text(buf_t *out, const py_t *v, int base)
{
    int64_t s;

    if (base == 10 && small_of(v, &s)) {
        /* Writes the digits backwards into a local buffer; far faster than printf. */
        char text[SMALL_TEXT], *p = text + sizeof(text);
        uint64_t rest = s < 0 ? -(uint64_t) s : (uint64_t) s;

        do {
            *--p = (char) ('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        if (s < 0)
            *--p = '-';
        buf_add(out, p, (size_t) (text + sizeof(text) - p));

        return 0;
    }
    mpz_t z;
    mpz_init(z);
    py_get_mpz(v, z);
    size_t digits = mpz_sizeinbase(z, base);
    if (base == 10 && digits == MAX_STR_DIGITS + 1) { /* mpz_sizeinbase may be one too large */
        AUTO_FREE char *exact = mpz_get_str(NULL, base, z);
        digits = strlen(exact) - (mpz_sgn(z) < 0);
    }
    bool fine = base != 10 || digits <= MAX_STR_DIGITS;
    if (fine) {
        buf_reserve(out, digits + 2);
        mpz_get_str(out->data + out->len, base, z);
        out->len += strlen(out->data + out->len);
    }
    mpz_clear(z);
    return fine ? 0
                : py_raise_int(&py_ValueError,
                               "Exceeds the limit (%d digits) for integer string conversion; "
                               "use sys.set_int_max_str_digits() to increase the limit",
                               MAX_STR_DIGITS);
}

/* ---- comparison ------------------------------------------------------------------------------ */

int
py_int_compare(const py_t *a, const py_t *b)
{
    int64_t x, y;

    if (small_of(a, &x) && small_of(b, &y))
        return (x > y) - (x < y);
    mpz_t p, q;
    mpz_inits(p, q, NULL);
    py_get_mpz(a, p);
    py_get_mpz(b, q);
    int order = mpz_cmp(p, q);
    mpz_clears(p, q, NULL);
    return order;
}

/* Compares exactly; -1, 0 or 1. `d` is not nan. */
int
py_int_float_compare(const py_t *a, double d)
{
    int64_t x;

    if (small_of(a, &x) && x >= -(INT64_C(1) << 53) && x <= INT64_C(1) << 53)
        return ((double) x > d) - ((double) x < d);
    if (isinf(d))
        return d > 0 ? -1 : 1;
    mpz_t p;
    mpz_init(p);
    py_get_mpz(a, p);
    int order = mpz_cmp_d(p, d);
    mpz_clear(p);
    return order;
}

/* ---- floats ----------------------------------------------------------------------------------- */

/* q / 2**cut rounded to the nearest integer, ties to even, times 2**unit. `sticky`: q itself is truncated, so
 * an apparent tie is above one half. */
static double
round_bits(const mpz_t q, long cut, bool sticky, long unit)
{
    mpz_t top;

    mpz_init(top);
    mpz_tdiv_q_2exp(top, q, (mp_bitcnt_t) cut);
    uint64_t part = mpz_get_ui(top);
    mpz_clear(top);
    bool half = mpz_tstbit(q, (mp_bitcnt_t) cut - 1) != 0;
    if (half && (sticky || (part & 1) != 0 || mpz_scan1(q, 0) < (mp_bitcnt_t) cut - 1))
        part++;
    return ldexp((double) part, (int) unit);
}

/* Nearest double; mpz_get_d truncates. Infinite when too large. */
static double
nearest_double(const mpz_t z)
{
    size_t bits = mpz_sizeinbase(z, 2);
    mpz_t size;

    if (bits <= DOUBLE_BITS)
        return mpz_get_d(z);
    if (bits > DOUBLE_MAX_EXP)
        return HUGE_VAL;
    long cut = (long) bits - DOUBLE_BITS;
    double d = round_bits(mpz_roinit_n(size, mpz_limbs_read(z), (mp_size_t) mpz_size(z)), cut, false, cut);
    return mpz_sgn(z) < 0 ? -d : d;
}

int
py_int_to_double(const py_t *v, double *ret_d)
{
    int64_t s;

    if (small_of(v, &s)) {
        *ret_d = (double) s;
        return 0;
    }
    mpz_t z;
    mpz_init(z);
    py_get_mpz(v, z);
    *ret_d = nearest_double(z);
    mpz_clear(z);
    if (isinf(*ret_d))
        return py_raise_int(&py_OverflowError, "int too large to convert to float");
    return 0;
}

py_t *
py_int_from_double(double d)
{
    if (fabs(d) < 0x1p61)
        return py_small_new((int64_t) d);
    mpz_t z;
    mpz_init_set_d(z, d);
    py_t *v = py_from_mpz(z);
    mpz_clear(z);
    return v;
}

/* ---- operators -------------------------------------------------------------------------------- */

/* 64-bit arithmetic; NULL without raising when GMP is needed. */
static py_t *
py_int_small_binary(py_op_t op, int64_t a, int64_t b)
{
    int64_t r;

    switch (op) {
    case PY_ADD:
        return __builtin_add_overflow(a, b, &r) ? NULL : py_int(r);
    case PY_SUB:
        return __builtin_sub_overflow(a, b, &r) ? NULL : py_int(r);
    case PY_MUL:
        return __builtin_mul_overflow(a, b, &r) ? NULL : py_int(r);
    case PY_FLOORDIV: /* C rounds to zero, Python down; b is not 0 */
        return py_int(a / b - (a % b != 0 && (a < 0) != (b < 0)));
    case PY_MOD: /* the sign of the divisor */
        r = a % b;
        return py_int(r != 0 && (r < 0) != (b < 0) ? r + b : r);
    case PY_OR:
        return py_int(a | b);
    case PY_AND:
        return py_int(a & b);
    case PY_XOR:
        return py_int(a ^ b);
    case PY_RSHIFT:
        return py_int(a >> (b > 63 ? 63 : b));
    case PY_LSHIFT:
        return b < 62 && llabs(a) <= INT64_MAX >> (b + 1) ? py_int(a * (INT64_C(1) << b)) : NULL;
    default:
        return NULL;
    }
}

/* Checks a bound of the result's bits: LIMIT_PY_INT_BITS, and memory for the temporaries of GMP. */
static int
check_bits(double bits)
{
    if (bits > LIMIT_PY_INT_BITS)
        return py_raise_int(&py_LimitError, "an integer of more than %d bits", LIMIT_PY_INT_BITS);
    return py_room((size_t) bits / 8 * 4);
}

/* The size of the result is checked before it is computed. 0, or -1 with an exception raised. */
static int
big_pow(mpz_t r, const mpz_t a, const mpz_t b)
{
    if (mpz_cmpabs_ui(a, 1) <= 0) { /* 0, 1, -1: whatever the size of the exponent */
        unsigned long exponent = mpz_sgn(b) == 0 ? 0 : mpz_even_p(b) ? 2 : 1;
        mpz_pow_ui(r, a, exponent);
        return 0;
    }
    if (!mpz_fits_ulong_p(b) || check_bits((double) mpz_sizeinbase(a, 2) * (double) mpz_get_ui(b)) < 0)
        return check_bits(HUGE_VAL);
    mpz_pow_ui(r, a, mpz_get_ui(b));
    return 0;
}

/* A shift to the right by more than all bits gives 0 or -1; one to the left is checked for size. */
static int
big_shift(mpz_t r, const mpz_t a, const mpz_t b, bool left)
{
    if (mpz_sgn(a) == 0) {
        mpz_set_ui(r, 0);
        return 0;
    }
    if (!left) {
        mpz_fdiv_q_2exp(r, a, mpz_fits_ulong_p(b) ? mpz_get_ui(b) : LIMIT_PY_INT_BITS + 1);
        return 0;
    }
    if (check_bits(mpz_fits_ulong_p(b) ? (double) mpz_get_ui(b) + (double) mpz_sizeinbase(a, 2) : HUGE_VAL) <
        0)
        return -1;
    mpz_mul_2exp(r, a, mpz_get_ui(b));
    return 0;
}

static int
big_binary(py_op_t op, mpz_t r, const mpz_t a, const mpz_t b)
{
    switch (op) {
    case PY_ADD:
        mpz_add(r, a, b);
        return 0;
    case PY_SUB:
        mpz_sub(r, a, b);
        return 0;
    case PY_MUL:
        if (check_bits((double) mpz_sizeinbase(a, 2) + (double) mpz_sizeinbase(b, 2)) < 0)
            return -1;
        mpz_mul(r, a, b);
        return 0;
    case PY_FLOORDIV:
        mpz_fdiv_q(r, a, b);
        return 0;
    case PY_MOD:
        mpz_fdiv_r(r, a, b);
        return 0;
    case PY_POW:
        return big_pow(r, a, b);
    case PY_OR:
        mpz_ior(r, a, b);
        return 0;
    case PY_AND:
        mpz_and(r, a, b);
        return 0;
    case PY_XOR:
        mpz_xor(r, a, b);
        return 0;
    case PY_LSHIFT:
    case PY_RSHIFT:
        return big_shift(r, a, b, op == PY_LSHIFT);
    case PY_DIV:
        break;
    }
    salt_assert(false);
}

/* a / b, correctly rounded; b is not 0. The dividend is shifted so that the quotient has more bits than a
 * double; the remainder tells whether it is exact. */
static int
true_divide(const mpz_t a, const mpz_t b, double *ret_d)
{
    mpz_t n, q, r;
    long shift = (long) mpz_sizeinbase(b, 2) - (long) mpz_sizeinbase(a, 2) + DOUBLE_BITS + 3;

    *ret_d = mpz_sgn(b) < 0 ? -0.0 : 0.0;
    if (mpz_sgn(a) == 0)
        return 0;
    mpz_inits(n, q, r, NULL);
    mpz_abs(n, a);
    mpz_abs(r, b);
    if (shift > 0)
        mpz_mul_2exp(n, n, (mp_bitcnt_t) shift);
    else
        mpz_mul_2exp(r, r, (mp_bitcnt_t) -shift);
    mpz_tdiv_qr(q, r, n, r);
    long unit = (long) mpz_sizeinbase(q, 2) - shift - DOUBLE_BITS;
    if (unit < DOUBLE_UNIT)
        unit = DOUBLE_UNIT;
    double d = unit > DOUBLE_MAX_EXP ? HUGE_VAL : round_bits(q, unit + shift, mpz_sgn(r) != 0, unit);
    *ret_d = (mpz_sgn(a) < 0) != (mpz_sgn(b) < 0) ? -d : d;
    mpz_clears(n, q, r, NULL);
    return isinf(d) ? py_raise_int(&py_OverflowError, "integer division result too large for a float") : 0;
}

/* Numbers up to 2**53 are exact as doubles, so that the hardware's division rounds correctly. */
static py_t *
int_divide(py_t *a, py_t *b)
{
    int64_t x, y;
    double d = 0.0;

    if (small_of(a, &x) && small_of(b, &y) && llabs(x) <= INT64_C(1) << 53 && llabs(y) <= INT64_C(1) << 53)
        return py_float((double) x / (double) y);
    mpz_t p, q;
    mpz_inits(p, q, NULL);
    py_get_mpz(a, p);
    py_get_mpz(b, q);
    int rc = true_divide(p, q, &d);
    mpz_clears(p, q, NULL);
    return rc == 0 ? py_float(d) : NULL;
}

/* Division by zero and negative shifts. 0, or -1 raised. */
static int
check_operands(py_op_t op, const py_t *b)
{
    bool divides = op == PY_DIV || op == PY_FLOORDIV || op == PY_MOD;

    if (divides && py_int_sign(b) == 0)
        return py_raise_int(&py_ZeroDivisionError, op == PY_DIV   ? "division by zero"
                                                   : op == PY_MOD ? "integer modulo by zero"
                                                                  : "integer division or modulo by zero");
    if ((op == PY_LSHIFT || op == PY_RSHIFT) && py_int_sign(b) < 0)
        return py_raise_int(&py_ValueError, "negative shift count");
    return 0;
}

/* Tries 64-bit arithmetic before GMP. */
py_t *
py_int_binary(py_op_t op, py_t *a, py_t *b)
{
    int64_t x, y;
    py_t *v = NULL;

    if (op >= PY_OR && op <= PY_XOR && py_is(a, PY_BOOL) && py_is(b, PY_BOOL)) {
        bool left = a->aux != 0, right = b->aux != 0;
        return py_bool(op == PY_OR ? left || right : op == PY_AND ? left && right : left != right);
    }
    if (op != PY_ADD && check_operands(op, b) < 0)
        return NULL;
    if (op == PY_DIV)
        return int_divide(a, b);
    if (op == PY_POW && py_int_sign(b) < 0) {
        if (py_int_sign(a) == 0)
            return py_raise(&py_ZeroDivisionError, "0.0 cannot be raised to a negative power");
        /* A negative exponent makes a float. */
        double base, exponent;
        if (py_int_to_double(a, &base) < 0 || py_int_to_double(b, &exponent) < 0)
            return NULL;
        return py_float(pow(base, exponent));
    }
    if (small_of(a, &x) && small_of(b, &y) && (v = py_int_small_binary(op, x, y)) != NULL)
        return v;
    mpz_t p, q, r;
    mpz_inits(p, q, r, NULL);
    py_get_mpz(a, p);
    py_get_mpz(b, q);
    if (big_binary(op, r, p, q) == 0)
        v = py_from_mpz(r);
    mpz_clears(p, q, r, NULL);
    return v;
}
