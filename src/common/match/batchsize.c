/* batchsize.c - see batchsize.h. */
#include "common/match/batchsize.h"

#include <math.h>

#include "common/base/str.h"

/* Parses "10%" and "%10". */
static bool
percentage(const char *text, double *ret)
{
    const char *start = *text == '%' ? text + 1 : text;
    char *end;

    *ret = strtod(start, &end);
    return end > start && isfinite(*ret) && (str_eq(end, "%") || (start > text && *end == '\0'));
}

long
batch_size(const json_t *size, size_t n)
{
    const char *text = json_string_value(size);
    long long v = json_integer_value(size);

    if (text != NULL && strchr(text, '%') != NULL) {
        /* At least one minion, never more than there are; fractions are cut off. */
        double percent, part;
        if (!percentage(text, &percent) || percent <= 0)
            return -1;
        part = percent / 100.0 * (double) n;
        if (part > (double) n)
            return (long) n;
        return part < 1 ? (long) ceil(part) : (long) part;
    }
    if (text != NULL && !str_to_int(text, 1, INT32_MAX, &v))
        return -1;
    return v >= 1 && v <= INT32_MAX ? (long) v : -1;
}
