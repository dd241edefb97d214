/* moment.c - see moment.h. A text is cut into words; each reader in the table tries a word, and a word that
 * none takes is an error. Salt uses dateutil here; this accepts its common forms. The search for the next
 * match walks days, at most YEARS_AHEAD years. */
#include "common/schedule/moment.h"

#include <ctype.h>
#include <time.h>

#include "common/base/str.h"

enum {
    DAY_S = 86400,
    HOUR_S = 3600,
    MINUTE_S = 60,
    WORDS = 8,
    WORD_LEN = 32,
    YEARS_AHEAD = 9,
    MAX_YEAR = 9999
};

/* ---- local time ------------------------------------------------------------------------------- */

/* Convert a local time under one reading of daylight saving. True when the clock shows this time under it. */
static bool
reading(int year, int month, int day, int second, int isdst, int64_t *ret_s)
{
    struct tm tm = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_isdst = isdst };
    tm.tm_hour = second / HOUR_S, tm.tm_min = second % HOUR_S / MINUTE_S, tm.tm_sec = second % MINUTE_S;
    time_t t = mktime(&tm);
    *ret_s = (int64_t) t;
    return tm.tm_hour * HOUR_S + tm.tm_min * MINUTE_S + tm.tm_sec == second && tm.tm_isdst == isdst;
}

/* A time that the clock shows twice is its first one; one that it leaves out is what the clock would show
 * without the change. In us. */
int64_t
moment_local(int year, int month, int day, int second)
{
    int64_t normal, summer;
    bool is_normal = reading(year, month, day, second, 0, &normal);
    bool is_summer = reading(year, month, day, second, 1, &summer);
    int64_t s = normal;
    if (is_normal && is_summer)
        s = summer < normal ? summer : normal;
    else if (is_summer)
        s = summer;
    else if (!is_normal) /* the clock leaves this time out */
        s = summer > normal ? summer : normal;
    return s * 1000000;
}

static struct tm
moment_tm(int64_t us)
{
    time_t s = (time_t) (us / 1000000);
    struct tm tm;
    (void) localtime_r(&s, &tm);
    return tm;
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* The index of a name, whole or its first three letters; -1: not found. */
static int
moment_name(const char *word, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (strcasecmp(word, names[i]) == 0 || (strlen(word) == 3 && strncasecmp(word, names[i], 3) == 0))
            return i;
    return -1;
}

static bool
weekday(const char *word, moment_t *out)
{
    static const char *const names[] = { "Monday", "Tuesday",  "Wednesday", "Thursday",
                                         "Friday", "Saturday", "Sunday" };
    int i = moment_name(word, names, NELEMS(names));
    if (i < 0 || out->weekday >= 0)
        return false;
    out->weekday = i;
    return true;
}

static bool
moment_month(const char *word, moment_t *out)
{
    static const char *const names[] = {
        "January", "February", "March",     "April",   "May",      "June",
        "July",    "August",   "September", "October", "November", "December"
    };
    int i = moment_name(word, names, NELEMS(names));
    if (i < 0 || out->month > 0)
        return false;
    out->month = i + 1;
    return true;
}

/* Parse up to `most` digits. The position behind them, or NULL. */
static const char *
moment_digits(const char *p, int most, int *ret)
{
    int n = 0, value = 0;
    for (; n < most && isdigit((unsigned char) p[n]); n++)
        value = value * 10 + (p[n] - '0');
    *ret = value;
    return n > 0 ? p + n : NULL;
}

/* Parse "am", "pm" or nothing up to the word's end; converts *hour from 12 to 24 hours. */
static bool
moment_half(const char *p, int *hour)
{
    if (*p == '\0')
        return *hour < 24;
    bool pm = strcasecmp(p, "pm") == 0 || strcasecmp(p, "p") == 0;
    if ((!pm && strcasecmp(p, "am") != 0 && strcasecmp(p, "a") != 0) || *hour < 1 || *hour > 12)
        return false;
    *hour = *hour % 12 + (pm ? 12 : 0);
    return true;
}

/* Parse 17:00, 17:00:30, 17:00:30.5, 5:00pm, 5pm. */
static bool
moment_time(const char *word, moment_t *out)
{
    int hour, minute = 0, second = 0, rest;
    const char *p = moment_digits(word, 2, &hour);
    bool colon = p != NULL && *p == ':';
    if (p != NULL && colon)
        p = moment_digits(p + 1, 2, &minute);
    if (p != NULL && colon && *p == ':')
        p = moment_digits(p + 1, 2, &second);
    if (p != NULL && colon && *p == '.')
        p = moment_digits(p + 1, 9, &rest);
    if (p == NULL || (!colon && *p == '\0') || !moment_half(p, &hour) || minute > 59 || second > 59 ||
        out->second >= 0)
        return false;
    out->second = hour * HOUR_S + minute * MINUTE_S + second;
    return true;
}

/* Sets a date; a `year` or `month` of 0 is not part of it. False when the text has named one already. */
static bool
day_is(moment_t *out, int year, int month, int day)
{
    if (out->day > 0 || (month > 0 && out->month > 0) || (year > 0 && out->year > 0))
        return false;
    out->day = day;
    out->month = month > 0 ? month : out->month;
    out->year = year > 0 ? year : out->year;
    return true;
}

/* Parse 2026-11-20, 11/20/2026, 20/11/2026 (there is no 20th month), 11/20. */
static bool
date(const char *word, moment_t *out)
{
    int n[3] = { 0 }, parts = 0;
    const char *p = word - 1;
    bool year_first = strlen(word) > 4 && strspn(word, "0123456789") == 4;
    do
        p = moment_digits(p + 1, 4, &n[parts++]);
    while (p != NULL && parts < 3 && (*p == '-' || *p == '/'));
    if (p == NULL || *p != '\0' || parts < 2 || (year_first && parts < 3))
        return false;
    if (year_first)
        return day_is(out, n[0], n[1], n[2]);
    int year = parts == 3 && n[2] < 100 ? n[2] + 2000 : n[2];
    return n[0] > 12 ? day_is(out, year, n[1], n[0]) : day_is(out, year, n[0], n[1]);
}

/* Parse 20261120, 2026, 13th, 13. */
static bool
moment_number(const char *word, moment_t *out)
{
    static const char *const endings[] = { "", "st", "nd", "rd", "th" };
    size_t digits = strspn(word, "0123456789");
    int n;
    if (digits == 8 && word[8] == '\0')
        return moment_digits(word, 8, &n) != NULL && day_is(out, n / 10000, n / 100 % 100, n % 100);
    if (digits == 4 && word[4] == '\0') {
        bool first = out->year == 0;
        (void) moment_digits(word, 4, &out->year);
        return first;
    }
    if (digits < 1 || digits > 2 || moment_digits(word, 2, &n) == NULL)
        return false;
    for (size_t i = 0; i < NELEMS(endings); i++)
        if (strcasecmp(word + digits, endings[i]) == 0)
            return day_is(out, 0, 0, n);
    return false;
}

/* Words that say nothing: "17:00 on Monday". */
static bool
filler(const char *word, moment_t *out)
{
    static const char *const words[] = { "at", "on", "of", "and" };
    for (size_t i = 0; i < NELEMS(words); i++)
        if (strcasecmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Cut the text into words; "2026-11-20T17:00" becomes two, "5:00 pm" one. -1: too many or too long. */
static int
moment_words(const char *text, char out[WORDS][WORD_LEN])
{
    int n = 0;
    while (*(text += strspn(text, " \t,")) != '\0') {
        size_t len = strcspn(text, " \t,");
        const char *t = memchr(text, 'T', len);
        if (t != NULL && t > text && isdigit((unsigned char) t[-1]) && isdigit((unsigned char) t[1]))
            len = (size_t) (t - text);
        if (n == WORDS || len >= WORD_LEN)
            return -1;
        (void) memcpy(out[n], text, len);
        out[n][len] = '\0';
        bool half = strcasecmp(out[n], "am") == 0 || strcasecmp(out[n], "pm") == 0;
        size_t before = n > 0 ? strlen(out[n - 1]) : 0;
        if (half && n > 0 && before + len < WORD_LEN)
            (void) memcpy(out[n - 1] + before, out[n], len + 1);
        else
            n++;
        text += len;
        text += text == t;
    }
    return n;
}

/* True when such a day exists in some year and no part of the date is missing. */
static bool
is_day(const moment_t *m)
{
    static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (m->month > 12 || m->day > 31 || m->year > MAX_YEAR || (m->year > 0 && m->year < 1970))
        return false;
    if (m->year > 0 && (m->month == 0 || m->day == 0))
        return false;
    if (m->month > 0 && (m->day == 0 || m->day > days[m->month - 1]))
        return false;
    bool leap = (m->year % 4 == 0 && m->year % 100 != 0) || m->year % 400 == 0;
    return m->month != 2 || m->day < 29 || m->year == 0 || leap;
}

int
moment_parse(const char *text, moment_t *ret, fail_t *err)
{
    static bool (*const readers[])(const char *, moment_t *) = { moment_time, weekday, moment_month,
                                                                 filler,      date,    moment_number };
    moment_t m = { .weekday = -1, .second = -1 };
    char words[WORDS][WORD_LEN];
    int n = moment_words(text, words);
    bool ok = n > 0;
    for (int i = 0; ok && i < n; i++) {
        moment_t before = m;
        bool taken = false;
        for (size_t k = 0; !taken && k < NELEMS(readers); k++) {
            m = before;
            taken = readers[k](words[i], &m);
        }
        ok = taken;
    }
    if (!ok || !is_day(&m))
        return fail_set(
            err, -EINVAL,
            "'%s' is not a date or time that can be read; write it like '5:00pm', 'Monday 17:00', '13th 9:00' "
            "or '2026-11-20 17:00', in local time",
            text);
    m.second = m.second < 0 ? 0 : m.second;
    *ret = m;
    return 0;
}

bool
moment_format(const char *text, const char *format, int64_t *ret_us)
{
    struct tm tm = { .tm_year = 0, .tm_mday = 1 };
    const char *end = strptime(text, format, &tm);
    if (end == NULL || *end != '\0' || tm.tm_year > MAX_YEAR - 1900)
        return false;
    *ret_us = moment_local(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                           tm.tm_hour * HOUR_S + tm.tm_min * MINUTE_S + tm.tm_sec);
    return true;
}

/* ---- finding ---------------------------------------------------------------------------------- */

/* The first time from `from_us` on, in us; 0: there is none any more. A weekday beside a date does not
 * count. */
int64_t
moment_next(const moment_t *self, int64_t from_us)
{
    if (self->year > 0) {
        int64_t t = moment_local(self->year, self->month, self->day, self->second);
        return t >= from_us ? t : 0;
    }
    struct tm from = moment_tm(from_us);
    for (int i = 0; i < YEARS_AHEAD * 366; i++) {
        struct tm day = { .tm_year = from.tm_year, .tm_mon = from.tm_mon, .tm_mday = from.tm_mday + i };
        (void) timegm(&day);
        bool on_weekday = self->weekday < 0 || (day.tm_wday + 6) % 7 == self->weekday; /* Monday is 0 */
        bool on_date = day.tm_mday == self->day && (self->month == 0 || day.tm_mon + 1 == self->month);
        if (self->day == 0 ? !on_weekday : !on_date)
            continue;
        int64_t t = moment_local(day.tm_year + 1900, day.tm_mon + 1, day.tm_mday, self->second);
        if (t >= from_us)
            return t;
    }
    return 0;
}

/* The moment on the day of `now_us`, for ranges: of a date, in this year and month where it names none. */
int64_t
moment_today(const moment_t *self, int64_t now_us)
{
    struct tm now = moment_tm(now_us);
    if (self->day == 0) { /* from its midnight on */
        int64_t midnight = moment_local(now.tm_year + 1900, now.tm_mon + 1, now.tm_mday, 0);
        return moment_next(self, midnight);
    }
    moment_t m = *self;
    m.year = m.year > 0 ? m.year : now.tm_year + 1900;
    m.month = m.month > 0 ? m.month : now.tm_mon + 1;
    return is_day(&m) ? moment_local(m.year, m.month, m.day, m.second) : 0;
}
