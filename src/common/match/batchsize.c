/* batchsize.c - see batchsize.h. */
#include "common/match/batchsize.h"

#include <math.h>

#include "common/base/str.h"

long
batch_size(const json_t *size, size_t n)
{
    AUTO_FREE char *text = json_is_string(size) ? xstrdup(json_string_value(size)) : NULL;
    char *word = text != NULL ? str_trim(text) : NULL;
    long long v = json_integer_value(size);

    if (word != NULL && strchr(word, '%') != NULL) {
        /* At least one minion, never more than there are; fractions are cut off. */
        double percent, part;
        char *end;

        /* "10%" and "%10", with blanks around the number or without. */
        word += strspn(word, "%");
        for (size_t len = strlen(word); len > 0 && word[len - 1] == '%'; len--)
            word[len - 1] = '\0';
        const char *number = str_trim(word);
        percent = strtod(number, &end);
        if (end == number || *end != '\0' || !isfinite(percent) || percent <= 0)
            return -1;
        part = percent / 100.0 * (double) n;
        if (part > (double) n)
            return (long) n;
        return part < 1 ? (long) ceil(part) : (long) part;
    }
    if (word != NULL && !str_to_int(word, 1, INT32_MAX, &v))
        return -1;
    return v >= 1 && v <= INT32_MAX ? (long) v : -1;
}
