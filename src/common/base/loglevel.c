/* loglevel.c - the table of levels, as in Salt. */
#include "common/base/loglevel.h"

#include <syslog.h>

const log_level_row_t log_levels[LEVEL_QUIET + 1] = {
    [LEVEL_ALL] = { "all", "NOTSET", 0, "0", "0", LOG_DEBUG },
    [LEVEL_GARBAGE] = { "garbage", "GARBAGE", 1, "0;1;34", "0;34", LOG_DEBUG },
    [LEVEL_TRACE] = { "trace", "TRACE", 5, "0;1;35", "0;35", LOG_DEBUG },
    [LEVEL_DEBUG] = { "debug", "DEBUG", 10, "0;1;36", "0;36", LOG_DEBUG },
    [LEVEL_PROFILE] = { "profile", "PROFILE", 15, "0;1;36", "0;36", LOG_DEBUG },
    [LEVEL_INFO] = { "info", "INFO", 20, "0;1;32", "0;32", LOG_INFO },
    [LEVEL_WARNING] = { "warning", "WARNING", 30, "0;1;33", "0;33", LOG_WARNING },
    [LEVEL_ERROR] = { "error", "ERROR", 40, "0;1;31", "0;31", LOG_ERR },
    [LEVEL_CRITICAL] = { "critical", "CRITICAL", 50, "0;1;31", "0;1;31", LOG_CRIT },
    [LEVEL_QUIET] = { "quiet", "QUIET", 1000, "0", "0", LOG_DEBUG },
};

bool
log_level_parse(const char *name, log_level_t *ret_level)
{
    for (size_t i = 0; name != NULL && i < NELEMS(log_levels); i++) {
        if (strcasecmp(name, log_levels[i].name) == 0) {
            *ret_level = (log_level_t) i;
            return true;
        }
    }
    return false;
}

const char *
log_level_name(log_level_t level)
{
    return log_levels[level].name;
}
