/* logname.h - names of log lines and the level of each name: the rows of salt/loggers.def, as a tree by dots.
 *
 * Layer      common/base; used by log.c only
 * Threads    any; new levels may be set while others log
 * Tests      tests/unit/common/test_log.c
 */
#ifndef COMMON_BASE_LOGNAME_H
#define COMMON_BASE_LOGNAME_H

#include "salt/base.h"
#include "salt/log.h"

enum { LOGNAME_LEN = 64 };

/* The name that lines of this source file have. */
void logname_of(const char *file, char out[LOGNAME_LEN]);
/* True when a line can have this name, or a name below it. */
bool logname_known(const char *name);

/* Replaces the levels by {name: level}, which is checked already. BORROWED. */
void logname_set_levels(const json_t *levels);
/* The level of the name, or of the nearest name above it that has one; else `otherwise`. */
log_level_t logname_level(const char *name, log_level_t otherwise);
/* The least level that is set for any name; LEVEL_QUIET when none is. */
log_level_t logname_least(void);

#endif
