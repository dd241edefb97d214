/* methods_number.c - methods of int, bool and float. */
#include <math.h>

#include "common/py/methods/methods.h"

/* ---- int -------------------------------------------------------------------------------------- */

METHOD_OF(m_int_conjugate)
{
    return py_unary(PY_POS, self);
}

METHOD_OF(m_int_zero)
{
    return py_int(0);
}

METHOD_OF(m_int_one)
{
    return py_int(1);
}

METHOD_OF(m_int_as_integer_ratio)
{
    AUTO(py) number = py_unary(PY_POS, self);

    return py_tuple_of(2, number, py_int(1));
}

METHOD_OF(m_int_bit_length)
{
    mpz_t z;

    mpz_init(z);
    py_get_mpz(self, z);
    size_t bits = mpz_sgn(z) == 0 ? 0 : mpz_sizeinbase(z, 2);
    mpz_clear(z);
    return py_int((int64_t) bits);
}

/* Counts the bits of the absolute value, as Python does. */
METHOD_OF(m_int_bit_count)
{
    mpz_t z;

    mpz_init(z);
    py_get_mpz(self, z);
    mpz_abs(z, z);
    mp_bitcnt_t n = mpz_popcount(z);
    mpz_clear(z);
    return py_int((int64_t) n);
}

/* length, byteorder and signed of to_bytes. 0 or -1 raised. */
static int
to_bytes_args(py_t *const *slots, int64_t *ret_len, bool *ret_big, bool *ret_signed)
{
    *ret_len = 1;
    *ret_big = true;
    *ret_signed = false;
    if (slots[0] != NULL && py_index(slots[0], ret_len) < 0)
        return -1;
    if (slots[1] != NULL) {
        if (!py_is(slots[1], PY_STR))
            return py_raise_int(&py_TypeError, "to_bytes() argument 'byteorder' must be str, not %s",
                                py_type_name(slots[1]));
        *ret_big = py_str_is(slots[1], "big");
        if (!*ret_big && !py_str_is(slots[1], "little"))
            return py_raise_int(&py_ValueError, "byteorder must be either 'little' or 'big'");
    }
    if (slots[2] != NULL) {
        int truth = py_truth(slots[2]);
        if (truth < 0)
            return -1;
        *ret_signed = truth > 0;
    }
    if (*ret_len < 0)
        return py_raise_int(&py_ValueError, "length argument must be non-negative");
    return py_room((size_t) *ret_len);
}

/* Two's complement of `len` bytes; false when it does not fit. */
static bool
export_bytes(mpz_t z, size_t len, bool is_signed, bool big, buf_t *out)
{
    size_t bits = len * 8, count = 0;
    mpz_t limit;

    mpz_init_set_ui(limit, 1);
    mpz_mul_2exp(limit, limit, is_signed && bits > 0 ? bits - 1 : bits);
    bool fits = mpz_cmp(z, limit) < 0;
    mpz_neg(limit, limit);
    fits = fits && mpz_cmp(z, limit) >= 0;
    mpz_clear(limit);
    if (!fits)
        return mpz_sgn(z) == 0;
    if (mpz_sgn(z) < 0) {
        mpz_init_set_ui(limit, 1);
        mpz_mul_2exp(limit, limit, bits);
        mpz_add(z, z, limit);
        mpz_clear(limit);
    }
    buf_fill(out, '\0', len);
    size_t used = mpz_sgn(z) == 0 ? 0 : (mpz_sizeinbase(z, 2) + 7) / 8;
    if (used > 0)
        mpz_export(out->data + (big ? len - used : 0), &count, big ? 1 : -1, 1, 1, 0, z);
    return true;
}

METHOD_OF(m_int_to_bytes)
{
    int64_t len;
    bool big, is_signed;
    buf_auto_t out = BUF_INIT;
    mpz_t z;

    if (to_bytes_args(slots, &len, &big, &is_signed) < 0)
        return NULL;
    if (!is_signed && py_int_sign(self) < 0)
        return py_raise(&py_OverflowError, "can't convert negative int to unsigned");
    mpz_init(z);
    py_get_mpz(self, z);
    bool fits = export_bytes(z, (size_t) len, is_signed, big, &out);
    mpz_clear(z);
    if (!fits)
        return py_raise(&py_OverflowError, "int too big to convert");
    py_put_made(&out, 0);
    return py_text_buf(PY_None, &out);
}

/* ---- float ------------------------------------------------------------------------------------ */

METHOD_OF(m_float_conjugate)
{
    return py_ref(self);
}

METHOD_OF(m_float_zero)
{
    return py_float(0.0);
}

METHOD_OF(m_float_is_integer)
{
    double d = py_float_value(self);

    return py_bool(isfinite(d) && floor(d) == d);
}

/* The mantissa is doubled until it is whole; what remains is a power of two. */
METHOD_OF(m_float_as_integer_ratio)
{
    double d = py_float_value(self);
    int exponent;

    if (!isfinite(d))
        return py_raise(isnan(d) ? &py_ValueError : &py_OverflowError, "cannot convert %s to integer ratio",
                        isnan(d) ? "NaN" : "Infinity");
    double m = frexp(d, &exponent);
    for (int i = 0; i < 300 && m != floor(m); i++) {
        m *= 2.0;
        exponent--;
    }
    AUTO(py) mantissa = py_int_from_double(m);
    AUTO(py) power = py_int_binary(PY_LSHIFT, py_int(1), py_int(abs(exponent)));
    if (power == NULL)
        return NULL;
    if (exponent <= 0)
        return py_tuple_of(2, mantissa, power);
    AUTO(py) whole = py_int_binary(PY_MUL, mantissa, power);
    return py_tuple_of(2, whole, py_int(1));
}

/* printf's %a may normalize differently, so the digits are computed. */
METHOD_OF(m_float_hex)
{
    double d = py_float_value(self);
    int exponent;

    if (isnan(d))
        return py_strz("nan");
    if (isinf(d))
        return py_strz(d > 0 ? "inf" : "-inf");
    if (d == 0.0)
        return py_strz(signbit(d) ? "-0x0.0p+0" : "0x0.0p+0");
    double m = frexp(fabs(d), &exponent);
    int shift = 1 - (exponent > -1021 ? 0 : -1021 - exponent); /* a denormal number begins with 0 */
    m = ldexp(m, shift);
    exponent -= shift;
    int first = (int) m;
    uint64_t rest = (uint64_t) ((m - first) * 0x1p52);
    return py_strf("%s0x%d.%013llxp%+d", d < 0 ? "-" : "", first, (unsigned long long) rest, exponent);
}
