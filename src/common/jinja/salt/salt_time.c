/* salt_time.c - Salt's filters over dates, users and programs. Dates are seconds since the epoch, their text,
 * or the usual ways to write and say a date, for which Salt has timelib; others are refused with its message. */
#include <ctype.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/jinja/salt/salt_filter.h"
#include "common/schedule/moment.h"

/* Midnight of the day so many days from now. */
static int64_t
midnight_us(int days)
{
    time_t now = (time_t) (clock_wall_us() / 1000000);
    struct tm tm;

    localtime_r(&now, &tm);
    tm.tm_mday += days, tm.tm_hour = 12, tm.tm_min = tm.tm_sec = 0, tm.tm_isdst = -1;
    mktime(&tm);
    return moment_local(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, 0);
}

/* "now", "tomorrow", "+1 day", "2 weeks ago". */
static bool
time_spoken(const char *text, int64_t *ret_us)
{
    static const struct {
        const char *name;
        int days;
    } words[] = { { "today", 0 }, { "midnight", 0 }, { "tomorrow", 1 }, { "yesterday", -1 } };
    static const struct {
        const char *name;
        int seconds;
    } units[] = { { "sec", 1 },     { "second", 1 },  { "min", 60 },     { "minute", 60 },
                  { "hour", 3600 }, { "day", 86400 }, { "week", 604800 } };
    char unit[16], ago[8] = "";
    int n, end = 0;

    *ret_us = clock_wall_us();
    if (strcasecmp(text, "now") == 0)
        return true;
    for (size_t i = 0; i < NELEMS(words); i++) {
        if (strcasecmp(text, words[i].name) == 0) {
            *ret_us = midnight_us(words[i].days);
            return true;
        }
    }
    if (sscanf(text, "%6d %15[a-zA-Z]%n %7s", &n, unit, &end, ago) < 2 ||
        (text[end] != '\0' && strcasecmp(ago, "ago") != 0))
        return false;
    for (size_t i = 0; i < NELEMS(units); i++) {
        size_t len = strlen(units[i].name);
        if (strncasecmp(unit, units[i].name, len) != 0 ||
            (unit[len] != '\0' && strcasecmp(unit + len, "s") != 0))
            continue;
        *ret_us += (int64_t) (text[end] != '\0' ? -n : n) * units[i].seconds * 1000000;
        return true;
    }
    return false;
}

/* "2002/12/25", "2026-01-02T03:04:05.5Z" and the forms of moment.h. Where the day is left out, the next such day. */
static bool
time_written(const char *text, int64_t *ret_us)
{
    AUTO_FREE char *plain = xstrdup(text);
    int year, month, day, end = 0;
    moment_t m;

    if (sscanf(plain, "%4d%*1[-/]%2d%*1[-/]%2d%n", &year, &month, &day, &end) == 3 &&
        isdigit((unsigned char) plain[3])) {
        plain[4] = '-';
        for (int i = 5; i < end; i++)
            plain[i] = plain[i] == '/' ? '-' : plain[i];
        plain[end] = plain[end] == 'T' ? ' ' : plain[end];
        char *rest = plain + end + strcspn(plain + end, ".Z");
        if (rest[strspn(rest, ".0123456789")] == 'Z' || *rest == '.')
            *rest = '\0';
    }
    if (moment_parse(plain, &m, NULL) < 0)
        return false;
    *ret_us = m.year != 0 ? moment_local(m.year, m.month, m.day, m.second)
                          : moment_today(&m, clock_wall_us());
    return true;
}

/* Time in microseconds from a number, its digits, or none (now). 0, or -1 raised. */
static int
salt_time_of(py_t *v, int64_t *ret_us)
{
    *ret_us = clock_wall_us();
    if (v == NULL || py_is(v, PY_NONE))
        return 0;
    AUTO(py) number = py_tofloat(v);
    double seconds = number != NULL ? py_float_value(number) : NAN;
    if (isfinite(seconds) && fabs(seconds) < 1e11) {
        *ret_us = (int64_t) (seconds * 1e6);
        return 0;
    }
    py_clear();
    const char *text = py_is(v, PY_STR) ? py_cstr(v) : "";
    if (time_spoken(text, ret_us) || time_written(text, ret_us))
        return 0;
    AUTO(py) shown = py_tostr(v);
    return py_raise_int(&py_RuntimeError, "Unable to parse %s. Consider installing timelib",
                        shown != NULL ? py_cstr(shown) : "");
}

JFILTER(strftime_)
{
    int64_t us;
    if (salt_time_of(a[0], &us) < 0)
        return NULL;
    if (a[1] != NULL && !py_is(a[1], PY_STR))
        return py_raise(&py_TypeError, "strftime() argument 1 must be str, not %s", py_type_name(a[1]));
    const char *format = a[1] != NULL ? py_cstr(a[1]) : "%Y-%m-%d";
    if (py_room(strlen(format) * CLOCK_STRFTIME_ROOM) < 0)
        return NULL;
    char *text AUTO_FREE = clock_strftime(format, us);
    return py_strz(text);
}

/* The user's number; without a name that of this process. */
JFILTER(get_uid)
{
    if (a[0] == NULL || !py_is(a[0], PY_STR))
        return py_int(geteuid());
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_user(&space, py_cstr(a[0]));
    return pw != NULL ? py_int(pw->pw_uid) : py_ref(PY_None);
}

/* True for a regular file that this process may execute. */
static bool
salt_time_is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Path of a program by $PATH; None if there is none. */
JFILTER(which)
{
    const char *name = a[0] != NULL ? py_cstr(a[0]) : "";
    if (strchr(name, '/') != NULL)
        return salt_time_is_program(name) ? py_ref(a[0]) : py_ref(PY_None);
    const char *path = getenv("PATH");
    for (const char *p = path != NULL ? path : "/usr/bin:/bin"; name[0] != '\0';) {
        const char *end = strchrnul(p, ':');
        char *full AUTO_FREE = xasprintf("%.*s/%s", (int) (end - p), p, name);
        if (salt_time_is_program(full))
            return py_strz(full);
        if (*end == '\0')
            break;
        p = end + 1;
    }
    return py_ref(PY_None);
}

JFILTER(is_empty)
{
    struct stat st;
    return py_bool(py_is(a[0], PY_STR) && stat(py_cstr(a[0]), &st) == 0 && st.st_size == 0);
}

static const jfilter_t rows[] = {
    { JROW("date_format", strftime_, JP("date", "format"), 0, 2, 0), JF_WORLD, "A date as text." },
    { JROW("get_uid", get_uid, JP("user"), 0, 1, 0), JF_WORLD, "The number of a user." },
    { JROW("is_empty", is_empty, JP("filename"), 1, 1, 0), JF_WORLD, "Whether a file is empty." },
    { JROW("strftime", strftime_, JP("date", "format"), 0, 2, 0), JF_WORLD, "A date as text." },
    { JROW("which", which, JP("exe"), 0, 1, 0), JF_WORLD, "The path of a program." },
};

const jfilter_table_t jfilters_salt_time = JTABLE(rows);
