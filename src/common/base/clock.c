/* clock.c - time and jids. */
#include "common/base/clock.h"

#include "common/base/buf.h"

#include <stdatomic.h>

#define US_PER_S   1000000
#define CENTURY_US 3155760000e6

#define DIGITS "0123456789"

enum { JID_DIGITS = 20, PID_DIGITS = 10 };

static int64_t
now_us(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t) ts.tv_sec * US_PER_S + ts.tv_nsec / 1000;
}

int64_t
clock_mono_us(void)
{
    return now_us(CLOCK_MONOTONIC);
}

int64_t
clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

int64_t
clock_wall_us(void)
{
    return now_us(CLOCK_REALTIME);
}

int64_t
clock_thread_us(void)
{
    return now_us(CLOCK_THREAD_CPUTIME_ID);
}

int64_t
clock_us_of(double seconds)
{
    double us = seconds * US_PER_S;

    return !(us > 0) ? 0 : us < CENTURY_US ? (int64_t) us : (int64_t) CENTURY_US;
}

void
clock_pause(double seconds)
{
    int64_t us = clock_us_of(seconds);
    struct timespec left = { .tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000 };

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static void
split_us(int64_t us, time_t *ret_s, int *ret_us)
{
    int64_t rest = us % US_PER_S;

    if (rest < 0)
        rest += US_PER_S;
    *ret_s = (time_t) ((us - rest) / US_PER_S);
    *ret_us = (int) rest;
}

void
clock_stamp(char out[CLOCK_STAMP_LEN], int64_t wall_us)
{
    struct tm tm;
    time_t s;
    int us;

    split_us(wall_us, &s, &us);
    gmtime_r(&s, &tm);
    size_t n = strftime(out, CLOCK_STAMP_LEN, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, CLOCK_STAMP_LEN - n, ".%06d", us);
}

static _Atomic int64_t last_jid; /* the newest jid of this process, in microseconds */

void
clock_jid(char out[CLOCK_STAMP_LEN])
{
    int64_t now = clock_wall_us(), seen = atomic_load(&last_jid), mine;
    struct tm tm;
    time_t s;
    int us;

    /* No jid may repeat: not in two calls within a microsecond, nor after the clock is set back. */
    do {
        mine = now > seen ? now : seen + 1;
    } while (!atomic_compare_exchange_weak(&last_jid, &seen, mine));
    split_us(mine, &s, &us);
    gmtime_r(&s, &tm);
    size_t n = strftime(out, CLOCK_STAMP_LEN, "%Y%m%d%H%M%S", &tm);
    snprintf(out + n, CLOCK_STAMP_LEN - n, "%06d", us);
}

void
clock_jid_skip(int64_t us)
{
    (void) atomic_fetch_add(&last_jid, us);
}

/* The value of two digits. */
static int
two_digits(const char *at)
{
    return (at[0] - '0') * 10 + at[1] - '0';
}

bool
clock_is_jid(const char *jid)
{
    if (jid == NULL || strspn(jid, DIGITS) != JID_DIGITS)
        return false;
    const char *rest = jid + JID_DIGITS;
    size_t pid = *rest == '_' ? strspn(rest + 1, DIGITS) : 0;
    if (*rest != '\0' && (pid == 0 || pid > PID_DIGITS || rest[1 + pid] != '\0'))
        return false;
    int month = two_digits(jid + 4), day = two_digits(jid + 6);
    return month >= 1 && month <= 12 && day >= 1 && day <= 31 && two_digits(jid + 8) <= 23 &&
           two_digits(jid + 10) <= 59 && two_digits(jid + 12) <= 60;
}

bool
clock_jid_us(const char *jid, int64_t *ret_us)
{
    struct tm tm = { 0 };

    if (!clock_is_jid(jid))
        return false;
    tm.tm_year = two_digits(jid) * 100 + two_digits(jid + 2) - 1900;
    tm.tm_mon = two_digits(jid + 4) - 1;
    tm.tm_mday = two_digits(jid + 6);
    tm.tm_hour = two_digits(jid + 8);
    tm.tm_min = two_digits(jid + 10);
    tm.tm_sec = two_digits(jid + 12);
    *ret_us = (int64_t) timegm(&tm) * US_PER_S + two_digits(jid + 14) * 10000 + two_digits(jid + 16) * 100 +
              two_digits(jid + 18);
    return true;
}

bool
clock_jid_to_time(const char *jid, char out[CLOCK_STAMP_LEN])
{
    static const char months[12][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };

    if (!clock_is_jid(jid))
        return false;
    snprintf(out, CLOCK_STAMP_LEN, "%.4s, %s %.2s %.2s:%.2s:%.2s.%.6s", jid, months[two_digits(jid + 4) - 1],
             jid + 6, jid + 8, jid + 10, jid + 12, jid + 14);
    return true;
}

bool
clock_stamp_parse(const char *text, int64_t *ret_us)
{
    struct tm tm = { 0 };
    int us = 0, digits = 0;

    const char *end = strptime(text, "%Y-%m-%d", &tm);
    if (end == NULL)
        return false;
    if ((*end == 'T' || *end == ' ') && (end = strptime(end + 1, "%H:%M", &tm)) == NULL)
        return false;
    if (*end == ':' && (end = strptime(end + 1, "%S", &tm)) == NULL)
        return false;
    bool fraction = *end == '.';
    for (end += fraction; digits < 6; digits++)
        us = us * 10 + (fraction && *end >= '0' && *end <= '9' ? *end++ - '0' : 0);
    if (end[0] != '\0' && (end[0] != 'Z' || end[1] != '\0'))
        return false;
    *ret_us = (int64_t) timegm(&tm) * US_PER_S + us;
    return true;
}

static char *
strftime_by(struct tm *(*parts)(const time_t *, struct tm *), const char *format, int64_t wall_us)
{
    /* The format comes from a user, and compilers warn about that. It is safe: strftime reads no arguments by
     * its format. */
    size_t (*print)(char *, size_t, const char *, const struct tm *) = strftime;

    /* Fills in Python's "%f", which the C library lacks. */
    buf_t out = BUF_INIT;

    for (const char *p = format; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == 'f') {
            buf_printf(&out, "%06d", (int) (wall_us % 1000000));
            p++;
        } else if (p[0] == '%' && p[1] != '\0') {
            buf_add(&out, p++, 2);
        } else {
            buf_putc(&out, *p);
        }
    }
    AUTO_FREE char *ready = buf_steal(&out);

    time_t seconds = (time_t) (wall_us / 1000000);
    size_t room = strlen(ready) * (CLOCK_STRFTIME_ROOM - 2) + 1;
    char *text = xcalloc(room, 1);
    struct tm tm;

    (void) parts(&seconds, &tm);
    text[print(text, room, ready, &tm)] = '\0';
    return text;
}

char *
clock_strftime(const char *format, int64_t wall_us)
{
    return strftime_by(localtime_r, format, wall_us);
}

char *
clock_strftime_utc(const char *format, int64_t wall_us)
{
    return strftime_by(gmtime_r, format, wall_us);
}
