/* moment.h - points in time as written in a schedule, in the minion's local time: "5:00pm" is one a day,
 * "Monday 5:00pm" one a week, "13th 9:00" one a month, "25 December 8am" one a year, "2026-11-20 17:00" one
 * for ever.
 *
 * A time that the clock skips in spring is shifted by the skipped span; of a time that
 * comes twice in autumn the first counts.
 *
 * Layer      common/schedule
 * Threads    any; reads the process's time zone
 * Ownership  no allocation
 * Errors     negative errno with the text that can't be read and what could be
 * Tests      tests/unit/common/test_schedule.c
 */
#ifndef COMMON_SCHEDULE_MOMENT_H
#define COMMON_SCHEDULE_MOMENT_H

#include "salt/base.h"

typedef struct moment {
    int year, month, day; /* 0: not given */
    int weekday;          /* 0 is Monday; -1: not given. Ignored with a day */
    int second;           /* of the day */
} moment_t;

/* Dates: 2026-11-20, 20261120, 11/20/2026, 11/20, 20 November 2026, Nov 20, 13th; days of the week; times:
 * 17:00, 17:00:30, 5:00pm, 5pm, 5:00 PM. In any order. No time: midnight. No zones. */
int moment_parse(const char *text, moment_t *ret, fail_t *err);
/* Parse with strptime's format. False when the text does not fit. */
bool moment_format(const char *text, const char *format, int64_t *ret_us);
/* The first match not before `from_us`; 0: none. */
int64_t moment_next(const moment_t *self, int64_t from_us);
/* The match for the day of `now_us`: today's, or the next such day of the week. 0: none. */
int64_t moment_today(const moment_t *self, int64_t now_us);
/* Convert a local date and second of the day to microseconds since 1970. */
int64_t moment_local(int year, int month, int day, int second);

#endif
