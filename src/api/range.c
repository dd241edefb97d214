/* range.c - see range.h. */
#include "api/range.h"

#include "common/base/str.h"

/* Digits at *at; false when there are none or too many. */
static bool
take_number(const char **at, uint64_t *ret)
{
    size_t n = strspn(*at, "0123456789");

    if (n == 0 || n > 18)
        return false;
    *ret = strtoull(*at, NULL, 10);
    *at += n;
    return true;
}

int
range_parse(const char *text, uint64_t size, uint64_t *ret_from, uint64_t *ret_len)
{
    uint64_t from = 0, to = 0;

    *ret_from = 0;
    *ret_len = size;
    if (!str_starts(text, "bytes="))
        return 0;
    text += strlen("bytes=");
    bool has_from = take_number(&text, &from);
    if (*text++ != '-')
        return 0;
    bool has_to = take_number(&text, &to);
    if (*text != '\0' || (!has_from && !has_to) || (has_from && has_to && to < from))
        return 0;
    if (!has_from) { /* so many at the end */
        if (to == 0 || size == 0)
            return -ERANGE;
        *ret_from = to < size ? size - to : 0;
        *ret_len = size - *ret_from;
        return 1;
    }
    if (from >= size)
        return -ERANGE;
    *ret_from = from;
    *ret_len = (has_to && to < size ? to + 1 : size) - from;
    return 1;
}
