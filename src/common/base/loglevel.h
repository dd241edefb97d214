/* loglevel.h - what each level of the log is called and looks like.
 *
 * Layer      common/base; used by log.c and logname.c
 * Threads    any
 * Tests      tests/unit/common/test_log.c
 */
#ifndef COMMON_BASE_LOGLEVEL_H
#define COMMON_BASE_LOGLEVEL_H

#include "salt/log.h"

typedef struct log_level_row {
    const char *name;    /* in the configuration */
    const char *tag;     /* in a line */
    int number;          /* in Python */
    const char *colour;  /* Salt's: the tag on a terminal */
    const char *message; /* Salt's: the message, where the format has colours for it */
    int severity;        /* to a syslog daemon */
} log_level_row_t;
extern const log_level_row_t log_levels[LEVEL_QUIET + 1]; /* by log_level_t */

#endif
