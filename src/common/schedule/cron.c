/* cron.c - see cron.h. Each field becomes a set of bits; cron_next() walks days, then minutes. At most
 * DAYS_AHEAD days: long enough for the 29th of February around a year such as 2100, which is not a leap
 * year. */
#include "common/schedule/cron.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/str.h"
#include "common/schedule/moment.h"

enum { FIELDS = 5, FIELD_LEN = 256, DAYS_AHEAD = 9 * 366 };

static const char *const month_names[] = { "jan", "feb", "mar", "apr", "may", "jun",
                                           "jul", "aug", "sep", "oct", "nov", "dec" };
static const char *const day_names[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

static const struct field {
    const char *what;
    int min, max;
    const char *const *names; /* of min, min + 1, ... */
    int n_names;
    size_t at;
} fields[FIELDS] = {
    { "minute", 0, 59, NULL, 0, offsetof(cron_t, minutes) },
    { "hour", 0, 23, NULL, 0, offsetof(cron_t, hours) },
    { "day", 1, 31, NULL, 0, offsetof(cron_t, days) },
    { "month", 1, 12, month_names, NELEMS(month_names), offsetof(cron_t, months) },
    { "day of the week", 0, 7, day_names, NELEMS(day_names), offsetof(cron_t, weekdays) },
};

/* ---- reading ---------------------------------------------------------------------------------- */

/* Parse a number or a name. The position behind it, or NULL. */
static const char *
schedule_cron_value(const char *p, const struct field *f, int *ret)
{
    for (int i = 0; i < f->n_names; i++)
        if (strncasecmp(p, f->names[i], 3) == 0) {
            *ret = f->min + i;
            return p + 3;
        }
    char *end;
    long n = isdigit((unsigned char) *p) ? strtol(p, &end, 10) : -1;
    if (n < f->min || n > f->max)
        return NULL;
    *ret = (int) n;
    return end;
}

/* Parse one element of a list: *, a, a-b, each with an optional /n. "a/n" runs to the field's end, as in
 * Vixie cron. */
static bool
schedule_cron_part(const char *p, const struct field *f, uint64_t *bits)
{
    int from = f->min, to = f->max, step = 1;
    bool single = false;
    if (*p == '*') {
        p++;
    } else {
        p = schedule_cron_value(p, f, &from);
        single = p != NULL && *p != '-';
        to = from;
        if (p != NULL && *p == '-')
            p = schedule_cron_value(p + 1, f, &to);
    }
    if (p != NULL && *p == '/') {
        char *end;
        long n = strtol(p + 1, &end, 10);
        step = end > p + 1 && n > 0 && n <= f->max ? (int) n : 0;
        to = single ? f->max : to;
        p = end;
    }
    if (p == NULL || *p != '\0' || step == 0 || to < from)
        return false;
    for (int i = from; i <= to; i += step)
        *bits |= 1ULL << i;
    return true;
}

/* Reads one field, a list of parts with commas. strtok_r would skip empty parts, so they are refused
 * first. */
static bool
schedule_cron_field(char *text, const struct field *f, cron_t *out)
{
    uint64_t *bits = (uint64_t *) ((char *) out + f->at);
    char *save = NULL;
    bool ok = *text != ',' && !str_ends(text, ",") && strstr(text, ",,") == NULL;
    for (char *part = strtok_r(text, ",", &save); ok && part != NULL; part = strtok_r(NULL, ",", &save)) {
        if (f->at == offsetof(cron_t, days) && strcasecmp(part, "l") == 0)
            out->last_day = true;
        else
            ok = schedule_cron_part(part, f, bits);
    }
    return ok;
}

int
cron_parse(const char *text, cron_t *ret, fail_t *err)
{
    static const struct {
        const char *name, *means;
    } aliases[] = {
        { "@hourly", "0 * * * *" },   { "@daily", "0 0 * * *" },   { "@midnight", "0 0 * * *" },
        { "@weekly", "0 0 * * 0" },   { "@monthly", "0 0 1 * *" }, { "@yearly", "0 0 1 1 *" },
        { "@annually", "0 0 1 1 *" },
    };
    cron_t c = { 0 };
    char part[FIELDS][FIELD_LEN];
    const char *p = text;

    for (size_t i = 0; i < NELEMS(aliases); i++)
        if (str_eq(text, aliases[i].name))
            p = aliases[i].means;
    for (int i = 0; i < FIELDS; i++) {
        p += strspn(p, " \t");
        size_t len = strcspn(p, " \t");
        if (len == 0 || len >= FIELD_LEN)
            return fail_set(err, -EINVAL, "cron '%s' has no %s: it takes five fields", text, fields[i].what);
        (void) memcpy(part[i], p, len);
        part[i][len] = '\0';
        p += len;
    }
    if (p[strspn(p, " \t")] != '\0')
        return fail_set(err, -EINVAL, "cron '%s' has more than five fields", text);
    c.any_hour = part[1][0] == '*' && part[1][1] == '\0';
    c.any_day = part[2][0] == '*';
    c.any_weekday = part[4][0] == '*';
    for (int i = 0; i < FIELDS; i++) {
        char shown[FIELD_LEN];
        (void) str_copy(shown, sizeof(shown), part[i]);
        if (!schedule_cron_field(part[i], &fields[i], &c))
            return fail_set(err, -EINVAL, "cron '%s': '%s' is not a valid %s (%d to %d)", text, shown,
                            fields[i].what, fields[i].min, fields[i].max);
    }
    c.weekdays |= c.weekdays >> 7 & 1; /* 7 is Sunday too */
    *ret = c;
    return 0;
}

/* ---- finding ---------------------------------------------------------------------------------- */

/* True when the expression allows the day. As in cron, days and weekdays are alternatives when both are
 * restricted. */
static bool
day_matches(const cron_t *self, const struct tm *day)
{
    struct tm tomorrow = { .tm_year = day->tm_year, .tm_mon = day->tm_mon, .tm_mday = day->tm_mday + 1 };
    (void) timegm(&tomorrow);
    bool by_day = (self->days >> day->tm_mday & 1) || (self->last_day && tomorrow.tm_mday == 1);
    bool by_weekday = self->weekdays >> day->tm_wday & 1;
    bool either = !self->any_day && !self->any_weekday;
    return (self->months >> (day->tm_mon + 1) & 1) && (either ? by_day || by_weekday : by_day && by_weekday);
}

/* Begin of the day that is so many days later, in us. */
static int64_t
midnight(const struct tm *day, int days)
{
    struct tm d = { .tm_year = day->tm_year, .tm_mon = day->tm_mon, .tm_mday = day->tm_mday + days };
    (void) timegm(&d);
    return moment_local(d.tm_year + 1900, d.tm_mon + 1, d.tm_mday, 0);
}

/* Walk the real minutes of the day, so that an hour that the clock repeats counts twice. The next match after
 * `after_us`, 0: none. */
static int64_t
any_hour(const cron_t *self, const struct tm *day, int64_t after_us)
{
    enum { MINUTE_US = 60 * 1000000 };
    int64_t end = midnight(day, 1), t = midnight(day, 0);
    if (after_us >= t)
        t += ((after_us - t) / MINUTE_US + 1) * MINUTE_US;
    for (; t < end; t += MINUTE_US) {
        time_t s = (time_t) (t / 1000000);
        struct tm tm;
        (void) localtime_r(&s, &tm);
        if (self->minutes >> tm.tm_min & 1)
            return t;
    }
    return 0;
}

/* Walk the times of the day, so that an hour that the clock repeats counts once. The next match after
 * `after_us`, 0: none. */
static int64_t
on_day(const cron_t *self, const struct tm *day, int64_t after_us)
{
    int64_t best = 0;
    for (int i = 0; i < 24 * 60; i++) {
        if (!(self->hours >> (i / 60) & 1) || !(self->minutes >> (i % 60) & 1))
            continue;
        int64_t t = moment_local(day->tm_year + 1900, day->tm_mon + 1, day->tm_mday, i * 60);
        if (t > after_us && (best == 0 || t < best))
            best = t;
    }
    return best;
}

/* The first match after `after_us`, in us; 0: there is none within DAYS_AHEAD. */
int64_t
cron_next(const cron_t *self, int64_t after_us)
{
    time_t s = (time_t) (after_us / 1000000);
    struct tm from;
    (void) localtime_r(&s, &from);
    for (int i = 0; i < DAYS_AHEAD; i++) {
        struct tm day = { .tm_year = from.tm_year, .tm_mon = from.tm_mon, .tm_mday = from.tm_mday + i };
        (void) timegm(&day);
        if (!day_matches(self, &day))
            continue;
        int64_t t = self->any_hour ? any_hour(self, &day, after_us) : on_day(self, &day, after_us);
        if (t > 0)
            return t;
    }
    return 0;
}
