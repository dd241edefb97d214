/* when.h - points in time as people type them: "2015, Mar 16 19:00", "2026-11-20T10:00:00", "16 March",
 * "19:30".
 *
 * Layer      runners
 * Threads    any
 * Tests      tests/unit/runners/test_jobs.c (answers of python-dateutil)
 */
#ifndef RUNNERS_LIB_WHEN_H
#define RUNNERS_LIB_WHEN_H

#include "salt/base.h"

/* Microseconds since the epoch; times are UTC, as jids are. What is not said is taken from `now_us`'s day (a
 * time from its midnight). -EINVAL with what could not be read. */
int when_parse(const char *text, int64_t now_us, int64_t *ret_us, fail_t *err);

#endif
