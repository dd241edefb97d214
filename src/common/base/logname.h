/* logname.h - the names that lines of the log have, and the level of each: the rows of salt/loggers.def, as a
 * tree by dots.
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

/* The name of what this source file logs. */
void logname_of(const char *file, char out[LOGNAME_LEN]);
/* Whether a name, or one below it, can be in a line. */
bool logname_known(const char *name);

/* {name: level}, checked, in the place of what was set before. BORROWED. */
void logname_set_levels(const json_t *levels);
/* The level that was set for the name or for the next one above it; `otherwise` when there is none. */
log_level_t logname_level(const char *name, log_level_t otherwise);
/* The least level that was set; LEVEL_QUIET when none was. */
log_level_t logname_least(void);

#endif
