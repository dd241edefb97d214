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

/* Microseconds of `seconds`, for any number that a user may have written: 0 for a number not above 0, and at
 * most a century. */
int64_t clock_us_of(double seconds);
/* Sleeps this long; a signal does not end it early. */
void clock_pause(double seconds);

/* Writes "2026-11-20T10:00:00.123456", in UTC, as Salt's _stamp. */
void clock_stamp(char out[CLOCK_STAMP_LEN], int64_t wall_us);
/* Parses such a stamp, or the beginning of one ("2026-11-20", "2026-11-20 10:00"), with or without a Z, to
 * microseconds since the epoch. False when it is not a stamp. */
bool clock_stamp_parse(const char *text, int64_t *ret_us);
/* Makes a jid as Salt 3006: YYYYMMDDhhmmssffffff in UTC, strictly growing within this process. */
void clock_jid(char out[CLOCK_STAMP_LEN]);
/* Make the jids to come at least `us` microseconds later than those so far. */
void clock_jid_skip(int64_t us);
/* True for a jid, also with the "_PID" that unique_jid appends. A jid holds only characters that are safe in
 * tags, file names and JSON. */
bool clock_is_jid(const char *jid);
/* The time that a jid names, in microseconds since the epoch. False when `jid` is not one. */
bool clock_jid_us(const char *jid, int64_t *ret_us);
/* Writes StartTime as Salt prints it, "2026, Nov 20 09:39:59.318034", from a jid. False when `jid` is not
 * one. */
bool clock_jid_to_time(const char *jid, char out[CLOCK_STAMP_LEN]);
/* Python's datetime.strftime in local time: the C library's, plus %f for microseconds. NEW. */
char *clock_strftime(const char *format, int64_t wall_us);
char *clock_strftime_utc(const char *format, int64_t wall_us); /* the same in UTC */
enum { CLOCK_STRFTIME_ROOM = 66 }; /* most bytes of output for one byte of the format */

#endif
