/* clock.h - time: monotonic for waiting, wall clock for stamps and jids.
 *
 * Layer      common/base
 * Threads    any
 * Tests      tests/unit/common/test_base.c
 */
#ifndef COMMON_BASE_CLOCK_H
#define COMMON_BASE_CLOCK_H

#include "salt/base.h"

#define CLOCK_STAMP_LEN 32 /* room for either stamp below */

int64_t clock_mono_us(void);
int64_t clock_mono_ms(void);
int64_t clock_wall_us(void);
int64_t clock_thread_us(void); /* processor time of the calling thread */

/* Microseconds of so many seconds, whatever number somebody has written: 0 for what is not above 0, at
 * most a century. */
int64_t clock_us_of(double seconds);
/* Sleep so long; a signal does not end it. */
void clock_pause(double seconds);

/* "2026-11-20T10:00:00.123456", UTC as Salt's _stamp. */
void clock_stamp(char out[CLOCK_STAMP_LEN], int64_t wall_us);
/* Microseconds since the epoch of such a stamp, or of its beginning: "2026-11-20", "2026-11-20 10:00", with
 * or without a Z. False when it is none. */
bool clock_stamp_parse(const char *text, int64_t *ret_us);
/* A jid: UTC, as Salt 3006 makes it: YYYYMMDDhhmmssffffff, strictly growing within this process. */
void clock_jid(char out[CLOCK_STAMP_LEN]);
/* Whether it is one; "_PID" may follow, as unique_jid makes. Whatever is a jid can stand in a tag, a
 * file's name and JSON as it is. */
bool clock_is_jid(const char *jid);
/* "2026, Nov 20 09:39:59.318034" from a jid, as Salt prints StartTime; false when `jid` is not one. */
bool clock_jid_to_time(const char *jid, char out[CLOCK_STAMP_LEN]);
/* Python's datetime.strftime in local time: the C library's, and %f for microseconds. NEW. */
char *clock_strftime(const char *format, int64_t wall_us);
enum { CLOCK_STRFTIME_ROOM = 66 }; /* bytes that it takes for each of the format */

#endif
