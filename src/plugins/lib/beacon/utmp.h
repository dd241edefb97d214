/* utmp.h - records of logins as they are written: the beacons wtmp and btmp, which differ in their file and
 * in a word.
 *
 * Layer      plugins/lib/beacon
 * Threads    one
 * Ownership  as beacon_row_t's functions
 * Tests      tests/cases/beacon/{wtmp,btmp}.json, tests/fuzz/fuzz_utmp.c
 */
#ifndef PLUGINS_LIB_BEACON_UTMP_H
#define PLUGINS_LIB_BEACON_UTMP_H

#include "common/base/buf.h"
#include "salt/plugin.h"

typedef struct utmp_kind {
    const char *module, *path;
    bool actions; /* tells logins from logouts */
} utmp_kind_t;

char *utmp_validate(const utmp_kind_t *kind, const json_t *config);
/* Adds the events of records. Returns how many bytes are whole records. */
size_t utmp_take(const utmp_kind_t *kind, beacon_look_t *look, const void *bytes, size_t len);
int utmp_look(const utmp_kind_t *kind, beacon_look_t *look, fail_t *err);
void *utmp_open(const utmp_kind_t *kind, beacon_look_t *look, fail_t *err);
int utmp_fd(const void *own);
int utmp_again_ms(const void *own);
void utmp_close(void *own, bool copied);

/* Whether the local time `minute` of a day is within {start, end}: "8am", "16:30", "4:30 pm"; a range may go
 * past midnight. False with *ret_bad for what is no time. */
bool utmp_in_range(const json_t *range, int minute, bool *ret_bad);

#endif
