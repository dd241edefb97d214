/* plist_part.c - see plist_int.h: dates and keys of property lists in both forms. */
#include <time.h>

#include "plugins/lib/call/plist_int.h"

#include "common/py/py_error.h"
#include "common/py/py_yaml.h"

py_t *
plist_keys(py_t *dict, const plist_options_t *how)
{
    AUTO(py) all = py_list();
    AUTO(py) keys = py_list();
    py_t *key, *value;

    for (size_t i = 0; py_dict_next(dict, &i, &key, &value);)
        py_append(all, key);
    if (!how->unsorted && py_sort(all, NULL, false) < 0)
        return NULL;
    for (size_t i = 0; i < py_seq_len(all); i++) {
        if (py_is(py_seq_at(all, i), PY_STR))
            py_append(keys, py_seq_at(all, i));
        else if (!how->skip_keys)
            return py_raise(&py_TypeError, "keys must be strings");
    }
    return STEAL(keys);
}

/* ---- dates -------------------------------------------------------------------------------------------- */

static const char date_form[] = "%Y-%m-%dT%H:%M:%S";

py_t *
plist_date(int64_t seconds, int micros)
{
    time_t t = (time_t) seconds;
    struct tm tm;
    char text[64];

    if (gmtime_r(&t, &tm) == NULL || tm.tm_year < 1 - 1900 || tm.tm_year > 9999 - 1900)
        return py_raise(&py_ValueError, "Invalid file");
    size_t n = strftime(text, sizeof(text), date_form, &tm);
    (void) snprintf(text + n, sizeof(text) - n, micros > 0 ? ".%06dZ" : "Z", micros);
    AUTO(py) shown = py_strz(text);
    return py_yaml_time(shown);
}

py_t *
plist_date_read(const char *text)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%HZ",
                                         "%Y-%m-%dZ" };

    for (size_t i = 0; i < NELEMS(forms); i++) {
        struct tm tm = { .tm_mday = 1 };
        const char *end = strptime(text, forms[i], &tm);
        if (end != NULL && *end == '\0')
            return plist_date(timegm(&tm), 0);
    }
    return py_raise(&py_ValueError, "'%s' is not a date such as 2020-01-02T03:04:05Z", text);
}

const char *
plist_date_text(const py_t *v)
{
    py_t *text = py_yaml_time_text(v);

    return text != NULL ? py_cstr(text) : NULL;
}

double
plist_date_seconds(const char *text)
{
    struct tm tm = { 0 };
    const char *end = strptime(text, date_form, &tm);

    return (double) timegm(&tm) + (end != NULL && *end == '.' ? strtod(end, NULL) : 0);
}
