/* netword.c - values of a network's settings as Python takes them: truths, whole numbers, fractions. Salt
 * compares with lists of words, exactly as they are written; YAML makes truths and numbers of many of them
 * before. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "common/base/str.h"
#include "plugins/lib/net/debiface.h"

/* 1, 0, or -1 for a value that is neither. Python's True is 1 and its False 0, so a list with 1 has True. */
int
netword_truth(const json_t *value)
{
    static const char *const yes[] = { "yes", "on", "true", "1" }, *const no[] = { "no", "off", "false",
                                                                                   "0" };
    const char *text = json_string_value(value);

    for (size_t i = 0; text != NULL && i < NELEMS(yes); i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0)
            return strcmp(text, yes[i]) == 0;
    }
    if (json_is_boolean(value))
        return json_is_true(value);
    if (json_is_number(value) && (json_number_value(value) == 1 || json_number_value(value) == 0))
        return json_number_value(value) == 1;
    return -1;
}

/* Python's float(): texts and truths are numbers as well. */
bool
netword_float(const json_t *value, double *ret_v)
{
    if (json_is_string(value)) {
        AUTO_FREE char *copy = xstrdup(json_string_value(value));
        const char *text = str_trim(copy);
        char *end = NULL;
        *ret_v = strtod(text, &end);
        return *text != '\0' && *end == '\0';
    }
    *ret_v = json_is_true(value) ? 1 : json_number_value(value);
    return json_is_boolean(value) || json_is_number(value);
}

/* Python's int(): a text is a whole number with blanks around it, a fraction is cut. */
bool
netword_int(const json_t *value, json_int_t *ret_v)
{
    double number;

    if (json_is_string(value)) {
        AUTO_FREE char *copy = xstrdup(json_string_value(value));
        long long parsed = 0;
        bool is = str_to_int(str_trim(copy), INT64_MIN, INT64_MAX, &parsed);
        *ret_v = parsed;
        return is;
    }
    if (!netword_float(value, &number) || !isfinite(number) || fabs(number) > 9e18)
        return false;
    *ret_v = json_is_integer(value) ? json_integer_value(value) : (json_int_t) number;
    return true;
}

json_t *
netword_bad(fail_t *err, const char *iface, const char *option, const char *expected)
{
    (void) fail_set(err, -EINVAL, "Invalid option -- Interface: %s, Option: %s, Expected: [%s]", iface,
                    option, expected);
    return NULL;
}
