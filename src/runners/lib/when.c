/* when.c - dates and times in the forms that people use, for the jobs runner: "2015, Mar 16 19:00",
 * "16.3.2015 7pm", ISO 8601, jids. A scanner takes words, clocks, offsets and plain numbers; sort_numbers()
 * then decides which number is the year, month and day, as dateutil does. Times without an offset are UTC. */
#include "runners/lib/when.h"

#include <ctype.h>

enum { NOT_SAID = -1, MAX_NUMBERS = 3, WHEN_LEN = 128 };

/* Parts that the text has named; NOT_SAID for the others. */
typedef struct when {
    int year, month, day, hour, minute, second, us;
    int number[MAX_NUMBERS]; /* plain numbers in order, until it is known which is what */
    size_t digits[MAX_NUMBERS];
    int n_numbers;
    char separator; /* between the numbers: '/' means month first */
    bool utc_offset;
    int offset_s;
} when_t;

static const char *const months[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                      "jul", "aug", "sep", "oct", "nov", "dec" };
/* Words that say nothing more. */
static const char *const ignored[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun", "at", "on", "of",
                                       "and", "t",   "z",   "utc", "gmt", "st",  "nd",  "rd", "th" };

static size_t
when_word_len(const char *s)
{
    size_t n = 0;

    while (isalpha((unsigned char) s[n]))
        n++;
    return n;
}

static bool
is_ignored(const char *word, size_t len)
{
    for (size_t i = 0; i < NELEMS(ignored); i++) {
        size_t n = strlen(ignored[i]);
        /* Days of the week may be spelled out. */
        if (strncasecmp(word, ignored[i], n) == 0 && (len == n || (n == 3 && i < 7)))
            return true;
    }
    return false;
}

/* "am" and "pm" change an hour that was read. */
static bool
take_half_day(when_t *w, const char *word, size_t len)
{
    bool pm = strncasecmp(word, "pm", 2) == 0;

    if (len != 2 || (!pm && strncasecmp(word, "am", 2) != 0) || w->hour == NOT_SAID || w->hour > 12)
        return false;
    w->hour = w->hour % 12 + (pm ? 12 : 0);
    return true;
}

/* A month, a part of the day, or a word without meaning. NULL for an unknown word. */
static const char *
when_take_word(when_t *w, const char *s)
{
    size_t len = when_word_len(s);

    int month = NOT_SAID;
    for (int i = 0; len >= 3 && i < 12; i++) {
        if (strncasecmp(s, months[i], 3) == 0) {
            month = i + 1;
            break;
        }
    }

    if (month != NOT_SAID && w->month == NOT_SAID)
        w->month = month;
    else if (!is_ignored(s, len) && !take_half_day(w, s, len))
        return NULL;
    return s + len;
}

/* Reads at most `max` digits; *ret_digits tells how many there were. */
static int
read_int(const char **s_p, size_t max, size_t *ret_digits)
{
    const char *s = *s_p;
    int n = 0;

    while (isdigit((unsigned char) *s) && (size_t) (s - *s_p) < max)
        n = n * 10 + (*s++ - '0');
    *ret_digits = (size_t) (s - *s_p);
    *s_p = s;
    return n;
}

/* The digits behind the point, to six places. */
static const char *
take_fraction(when_t *w, const char *s)
{
    size_t digits;
    const char *start = s;

    w->us = read_int(&s, 6, &digits);
    for (size_t i = digits; i < 6; i++)
        w->us *= 10;
    while (isdigit((unsigned char) *s))
        s++;
    return s > start ? s : NULL;
}

/* At the first colon of h:m[:s[.f]]. */
static const char *
take_clock(when_t *w, int hour, const char *s)
{
    size_t digits;

    w->hour = hour;
    s++;
    w->minute = read_int(&s, 2, &digits);
    if (digits == 0)
        return NULL;
    w->second = 0;
    if (*s != ':')
        return s;
    s++;
    w->second = read_int(&s, 2, &digits);
    if (digits == 0)
        return NULL;
    return *s == '.' ? take_fraction(w, s + 1) : s;
}

/* "+02:00" behind a time. */
static const char *
take_offset(when_t *w, const char *s)
{
    int sign = *s++ == '-' ? -1 : 1;
    size_t digits;
    int hours = read_int(&s, 2, &digits), minutes = 0;

    if (digits != 2)
        return NULL;
    if (*s == ':')
        s++;
    if (isdigit((unsigned char) *s))
        minutes = read_int(&s, 2, &digits);
    w->utc_offset = true;
    w->offset_s = sign * (hours * 3600 + minutes * 60);
    return s;
}

/* YYYYMMDD or YYYYMMDDhhmmss, as in a jid. */
static const char *
take_compact(when_t *w, const char *s, size_t len)
{
    size_t digits;

    w->year = read_int(&s, 4, &digits);
    w->month = read_int(&s, 2, &digits);
    w->day = read_int(&s, 2, &digits);
    if (len < 14)
        return s;
    w->hour = read_int(&s, 2, &digits);
    w->minute = read_int(&s, 2, &digits);
    w->second = read_int(&s, 2, &digits);
    return len > 14 ? take_fraction(w, s) : s;
}

/* A clock, an hour with am or pm, a compact date, or a plain number for later. NULL when it fits none. */
static const char *
when_take_number(when_t *w, const char *s)
{
    size_t len = strspn(s, "0123456789"), digits;

    if (len == 8 || (len >= 14 && len <= 20))
        return take_compact(w, s, len);
    int n = read_int(&s, 4, &digits);
    if (isdigit((unsigned char) *s))
        return NULL;
    if (*s == ':')
        return w->hour == NOT_SAID ? take_clock(w, n, s) : NULL;
    /* "7pm" */
    if (when_word_len(s) == 2 && strchr("aApP", *s) != NULL && w->hour == NOT_SAID) {
        w->hour = n;
        w->minute = w->second = 0;
        return s;
    }
    if (w->n_numbers == MAX_NUMBERS)
        return NULL;
    w->number[w->n_numbers] = n;
    w->digits[w->n_numbers++] = digits;
    if ((*s == '/' || *s == '-' || *s == '.') && isdigit((unsigned char) s[1]))
        w->separator = *s++;
    return s;
}

/* Assigns plain numbers: the year by its size; then month-day, or day-month where the first can't be a
 * month. */
static bool
sort_numbers(when_t *w)
{
    bool first_is_year = w->n_numbers > 0 && w->digits[0] >= 3;

    if (w->year == NOT_SAID) {
        /* The first number not yet used up that fits a year (4 digits or over 31); removes it. */
        for (int i = 0; i < w->n_numbers; i++) {
            if (w->digits[i] < 3 && w->number[i] <= 31)
                continue;
            w->year = w->number[i];
            w->n_numbers--;
            memmove(&w->number[i], &w->number[i + 1], (size_t) (w->n_numbers - i) * sizeof(w->number[0]));
            break;
        }
    }
    int left = w->n_numbers;
    const int *n = w->number;
    if (left > 0 && w->month != NOT_SAID) {
        w->day = n[0];
        if (left > 1 && w->year == NOT_SAID)
            w->year = 2000 + n[1];
        return left == 1 || (left == 2 && w->year == 2000 + n[1]);
    }
    if (left == 1) {
        *(first_is_year && w->separator != '\0' ? &w->month : &w->day) = n[0];
        return true;
    }
    if (left == 2 || (left == 3 && w->year == NOT_SAID)) {
        bool day_first = n[0] > 12 && !first_is_year;
        w->month = day_first ? n[1] : n[0];
        w->day = day_first ? n[0] : n[1];
        if (left == 3)
            w->year = 2000 + n[2];
        return true;
    }
    return left == 0;
}

/* Reads the whole text; false at the first character that does not fit. */
static bool
scan(when_t *w, const char *s)
{
    while (s != NULL && *s != '\0') {
        if (isdigit((unsigned char) *s))
            s = when_take_number(w, s);
        else if (isalpha((unsigned char) *s))
            s = when_take_word(w, s);
        else if ((*s == '+' || *s == '-') && w->hour != NOT_SAID && isdigit((unsigned char) s[1]))
            s = take_offset(w, s);
        else if (strchr(" \t,.-/", *s) != NULL)
            s++;
        else
            return false;
    }
    return s != NULL;
}

/* Parts that are not named are today's; the time of day is midnight. */
int
when_parse(const char *text, int64_t now_us, int64_t *ret_us, fail_t *err)
{
    when_t w = { .year = NOT_SAID, .month = NOT_SAID, .day = NOT_SAID, .hour = NOT_SAID };
    time_t now = (time_t) (now_us / 1000000);
    struct tm tm;

    if (strlen(text) > WHEN_LEN || text[strspn(text, " \t,")] == '\0' || !scan(&w, text) || !sort_numbers(&w))
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "'%.*s' is not a time; write it as '2015, Mar 16 19:00'", WHEN_LEN, text);
    gmtime_r(&now, &tm);
    tm.tm_year = w.year != NOT_SAID ? w.year - 1900 : tm.tm_year;
    tm.tm_mon = w.month != NOT_SAID ? w.month - 1 : tm.tm_mon;
    tm.tm_mday = w.day != NOT_SAID ? w.day : tm.tm_mday;
    tm.tm_hour = w.hour != NOT_SAID ? w.hour : 0;
    tm.tm_min = w.minute;
    tm.tm_sec = w.second;
    if (tm.tm_mon < 0 || tm.tm_mon >= 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 59)
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "'%s' names a day or an hour that does not exist",
                         text);
    *ret_us = ((int64_t) timegm(&tm) - (w.utc_offset ? w.offset_s : 0)) * 1000000 + w.us;
    return 0;
}
