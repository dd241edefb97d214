/* datetime.h - dates and times as people type them: Python's strptime for the formats of `system`, the ranges
 * of its datetime, offsets from UTC.
 *
 * Layer      plugins/lib/system
 * Threads    any
 * Ownership  no allocation
 * Errors     FAIL_INVOCATION in Python's words
 * Tests      tests/unit/plugins/test_system.c
 */
#ifndef PLUGINS_LIB_SYSTEM_DATETIME_H
#define PLUGINS_LIB_SYSTEM_DATETIME_H

#include "salt/base.h"

typedef struct datetime {
    int year, month, day, hour, minute, second;
} datetime_t;

/* The first of the formats (%Y %y %m %d %H %I %M %S %p, list ends with NULL) that fits the whole text. False
 * when none does, or the day is not in the calendar. */
bool datetime_parse(const char *text, const char *const *formats, datetime_t *ret);
/* "month must be in 1..12" and the like for what is not a date. */
int datetime_check(const datetime_t *c, fail_t *err);
/* "+0530", "-0300", "0800" to minutes. "Invalid UTC offset". */
int datetime_offset(const char *text, int *ret_minutes, fail_t *err);
/* The present time: local, or at an offset (NULL: local). */
int datetime_now(const char *utc_offset, struct tm *ret, fail_t *err);
/* Moved by minutes, over the ends of days, months and years. */
datetime_t datetime_shift(const datetime_t *c, int minutes);

#endif
