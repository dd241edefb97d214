/* datetime.c - dates and times as people type them, in strptime formats of Python, without time zones. The C
 * library's strptime is not used: it accepts dates that do not exist. */
#include "plugins/lib/system/datetime.h"

#include <ctype.h>

enum { MINUTE = 60, PIVOT = 69, OFFSET_DIGITS = 4 };

static int
days_in(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Directives of strptime: the letter, the number of digits, the bounds and the field that receives the
 * number. */
static const struct field {
    char letter;
    int least_digits, most_digits, min, max;
    size_t at;
} fields[] = {
    { 'Y', 4, 4, 1, 9999, offsetof(datetime_t, year) }, { 'y', 2, 2, 0, 99, offsetof(datetime_t, year) },
    { 'm', 1, 2, 1, 12, offsetof(datetime_t, month) },  { 'd', 1, 2, 1, 31, offsetof(datetime_t, day) },
    { 'H', 1, 2, 0, 23, offsetof(datetime_t, hour) },   { 'I', 1, 2, 1, 12, offsetof(datetime_t, hour) },
    { 'M', 1, 2, 0, 59, offsetof(datetime_t, minute) }, { 'S', 1, 2, 0, 59, offsetof(datetime_t, second) },
};

/* Parses the number of a field; the position behind it, or NULL. */
static const char *
datetime_take_number(const char *p, const struct field *f, datetime_t *out)
{
    int digits = 0, n = 0;

    for (; digits < f->most_digits && isdigit((unsigned char) *p); digits++)
        n = n * 10 + (*p++ - '0');
    if (digits < f->least_digits || n < f->min || n > f->max)
        return NULL;
    if (f->letter == 'y')
        n += n < PIVOT ? 2000 : 1900;
    *(int *) ((char *) out + f->at) = n;
    return p;
}

/* AM or PM corrects the hour; it stands last in every format. */
static const char *
take_half(const char *p, datetime_t *out)
{
    bool pm = strncasecmp(p, "PM", 2) == 0;

    if (!pm && strncasecmp(p, "AM", 2) != 0)
        return NULL;
    out->hour = out->hour % 12 + (pm ? 12 : 0);
    return p + 2;
}

/* Matches the whole text against one format; a blank stands for any white space. */
static bool
datetime_fits(const char *p, const char *format, datetime_t *out)
{
    for (; *format != '\0' && p != NULL; format++) {
        if (*format == ' ') {
            size_t blanks = strspn(p, " \t\n");
            p = blanks > 0 ? p + blanks : NULL;
        } else if (*format != '%') {
            p = *p == *format ? p + 1 : NULL;
        } else if (*++format == 'p') {
            p = take_half(p, out);
        } else {
            const struct field *f = NULL;
            for (size_t i = 0; f == NULL && i < NELEMS(fields); i++)
                f = fields[i].letter == *format ? &fields[i] : NULL;
            p = f != NULL ? datetime_take_number(p, f, out) : NULL;
        }
    }
    return p != NULL && *p == '\0';
}

/* Tries the formats in order; the first that fits a real date wins. */
bool
datetime_parse(const char *text, const char *const *formats, datetime_t *ret)
{
    for (; *formats != NULL; formats++) {
        datetime_t c = { 1900, 1, 1, 0, 0, 0 };
        if (datetime_fits(text, *formats, &c) && c.day <= days_in(c.year, c.month)) {
            *ret = c;
            return true;
        }
    }
    return false;
}

/* Python's ValueError texts for a date that does not exist. */
int
datetime_check(const datetime_t *c, fail_t *err)
{
    if (c->year < 1 || c->year > 9999)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "year %d is out of range", c->year);
    if (c->month < 1 || c->month > 12)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "month must be in 1..12");
    if (c->day < 1 || c->day > days_in(c->year, c->month))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "day is out of range for month");
    if (c->hour < 0 || c->hour > 23)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "hour must be in 0..23");
    if (c->minute < 0 || c->minute > 59)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "minute must be in 0..59");
    if (c->second < 0 || c->second > 59)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "second must be in 0..59");
    return 0;
}

/* ---- offsets ---------------------------------------------------------------------------------- */

/* "+0130" in minutes. */
int
datetime_offset(const char *text, int *ret_minutes, fail_t *err)
{
    const char *p = text + (*text == '+' || *text == '-' ? 1 : 0);
    int n = 0;

    if (strlen(p) != OFFSET_DIGITS || strspn(p, "0123456789") != OFFSET_DIGITS)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Invalid UTC offset");
    for (; *p != '\0'; p++)
        n = n * 10 + (*p - '0');
    n = n / 100 * MINUTE + n % 100;
    *ret_minutes = *text == '-' ? -n : n;
    return 0;
}

/* Local time, or the time at that offset from UTC. */
int
datetime_now(const char *utc_offset, struct tm *ret, fail_t *err)
{
    time_t now = time(NULL);
    int minutes = 0;

    if (utc_offset == NULL) {
        localtime_r(&now, ret);
        return 0;
    }
    int rc = datetime_offset(utc_offset, &minutes, err);
    now += (time_t) minutes * MINUTE;
    gmtime_r(&now, ret);
    return rc;
}

/* Adds minutes, across days and years. */
datetime_t
datetime_shift(const datetime_t *c, int minutes)
{
    struct tm tm = { .tm_year = c->year - 1900,
                     .tm_mon = c->month - 1,
                     .tm_mday = c->day,
                     .tm_hour = c->hour,
                     .tm_min = c->minute,
                     .tm_sec = c->second };
    time_t t = timegm(&tm) + (time_t) minutes * MINUTE;

    gmtime_r(&t, &tm);
    return (datetime_t){ tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec };
}
