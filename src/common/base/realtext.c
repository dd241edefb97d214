/* realtext.c - see realtext.h. */
#include "common/base/realtext.h"

#include <float.h>
#include <math.h>

/* Digits that suffice to tell every double from its neighbours, and digits that always survive as a double.
 */
enum { MAX_DIGITS = 17, EXACT = 15 };

/* Extracts the digits of "d.dde+xx" without trailing zeros; returns their number. */
static int
digits_of(const char *text, char *digits, int *ret_exponent)
{
    int n = 0;

    for (; *text != 'e'; text++) {
        if (*text != '.')
            digits[n++] = *text;
    }
    *ret_exponent = (int) strtol(text + 1, NULL, 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

/* Increments the last digit of "d.dde+xx"; false when that carries. */
static bool
bump(char *text)
{
    char *last = strchr(text, 'e') - 1;

    if (*last == '9' || *last == '.')
        return false;
    ++*last;
    return true;
}

/* Shortest digits by trial. A decimal of at most 15 digits survives a round trip unless denormal, so the
 * search starts at 15. Below a power of two the neighbours are closer on one side, so the next higher decimal
 * is tried as well. */
static int
shortest(double d, char digits[MAX_DIGITS + 1], int *ret_exponent)
{
    char text[32];

    for (int n = d < DBL_MIN ? 1 : EXACT; n < MAX_DIGITS; n++) {
        snprintf(text, sizeof(text), "%.*e", n - 1, d);
        if (strtod(text, NULL) == d || (bump(text) && strtod(text, NULL) == d))
            return digits_of(text, digits, ret_exponent);
    }
    snprintf(text, sizeof(text), "%.*e", MAX_DIGITS - 1, d);
    return digits_of(text, digits, ret_exponent);
}

/* Whole numbers and thousandths, as durations are, need no search: such a decimal has at most 15 digits, and
 * no other one with so few reads as the same number. False when it is no thousandth. */
static bool
thousandths(buf_t *out, double d)
{
    if (d >= 1e12)
        return false;
    int64_t n = (int64_t) (d * 1000 + 0.5);
    if ((double) n / 1000 != d)
        return false;
    char text[] = ".000";
    int left = (int) (n % 1000), len = left % 100 == 0 ? 2 : left % 10 == 0 ? 3 : 4;
    for (int i = 3; i > 0; i--, left /= 10)
        text[i] = (char) ('0' + left % 10);
    buf_printf(out, "%lld", (long long) (n / 1000));
    buf_add(out, text, (size_t) len);
    return true;
}

void
realtext_add(buf_t *out, double d)
{
    char digits[32];
    int exponent;

    if (isnan(d)) {
        buf_puts(out, "nan");
        return;
    }
    if (signbit(d))
        buf_putc(out, '-');
    d = fabs(d);
    if (isinf(d)) {
        buf_puts(out, "inf");
        return;
    }
    if (thousandths(out, d))
        return;
    int n = shortest(d, digits, &exponent);

    /* Python's layout: exponents from 1e16 and below 1e-4. */
    if (exponent < -4 || exponent >= 16) {
        buf_putc(out, digits[0]);
        if (n > 1)
            buf_putc(out, '.');
        buf_add(out, digits + 1, (size_t) n - 1);
        buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    if (exponent < 0) {
        buf_puts(out, "0.");
        buf_fill(out, '0', (size_t) (-exponent - 1));
        buf_add(out, digits, (size_t) n);
        return;
    }
    int whole = exponent + 1;
    buf_add(out, digits, (size_t) (n < whole ? n : whole));
    buf_fill(out, '0', n < whole ? (size_t) (whole - n) : 0);
    buf_putc(out, '.');
    if (n > whole)
        buf_add(out, digits + whole, (size_t) (n - whole));
    else
        buf_putc(out, '0');
}
