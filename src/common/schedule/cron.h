/* cron.h - the five fields of a crontab for a schedule's `cron`: minute, hour, day of the month, month,
 * day of the week, in the minion's local time.
 *
 * Lists, ranges, steps, names of months and days, 7 for Sunday, L for a month's last day, @hourly and its
 * kin. When both days are limited, either will do. Hours that the clock repeats count twice where the hour is
 * any, else once.
 *
 * Layer      common/schedule
 * Threads    any; reads the process's time zone
 * Ownership  no allocation
 * Errors     negative errno with the field that can't be read
 * Tests      tests/unit/common/test_schedule.c
 */
#ifndef COMMON_SCHEDULE_CRON_H
#define COMMON_SCHEDULE_CRON_H

#include "salt/base.h"

typedef struct cron {
    uint64_t minutes, hours, days, months, weekdays; /* bits; weekdays: 0 is Sunday */
    bool any_hour, any_day, any_weekday, last_day;
} cron_t;

int cron_parse(const char *text, cron_t *ret, fail_t *err);
/* The first match after `after_us`; 0: none (the 30th of February). */
int64_t cron_next(const cron_t *self, int64_t after_us);

#endif
