/* log.h - levels as Salt's, one line a message. The edge that decides logs, once; library code only at debug
 * and below.
 *
 * Threads    any thread
 * Format     terminal "[ERROR   ] text"; file "2026-11-20 10:00:00,123 [salt-master:4711 ][ERROR   ] text"
 */
#ifndef SALT_LOG_H
#define SALT_LOG_H

#include "salt/base.h"

typedef enum log_level {
    LEVEL_ALL,
    LEVEL_GARBAGE,
    LEVEL_TRACE,
    LEVEL_DEBUG,
    LEVEL_PROFILE,
    LEVEL_INFO,
    LEVEL_WARNING,
    LEVEL_ERROR,
    LEVEL_CRITICAL,
    LEVEL_QUIET
} log_level_t;

/* Name as in the configuration ("warning", "error", ...) to level; false when unknown. */
bool log_level_parse(const char *name, log_level_t *ret_level);
const char *log_level_name(log_level_t level);

/* `program` is kept by pointer. Until this is called, errors go to stderr. */
void log_init(const char *program, log_level_t console, bool colour);
/* Also write to `path` (created 0640), or to the syslog daemon that it is the address of, from `level` up. 0 or a negative
 * errno. */
int log_open_file(const char *path, log_level_t level, fail_t *err);
/* Whether it is such an address instead of a path, and whether that can be understood: 0, or -EINVAL with *err. */
bool log_is_syslog(const char *target);
int log_check_syslog(const char *target, fail_t *err);
/* Reopen after rotation (SIGHUP). */
void log_reopen(void);
/* A daemon stops writing to its terminal. */
void log_console(log_level_t level);
bool log_wants(log_level_t level);

void log_write(log_level_t level, const char *fmt, ...) PRINTF(2, 3);

/* The last words of a process, a whole line: to stderr and the log file as they are, without stdio or memory. */
void log_last(const char *line, size_t len);

#define log_at(level, ...)                                                                                   \
    do {                                                                                                     \
        if (log_wants(level))                                                                                \
            log_write(level, __VA_ARGS__);                                                                   \
    } while (0)
#define log_trace(...)    log_at(LEVEL_TRACE, __VA_ARGS__)
#define log_debug(...)    log_at(LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)     log_at(LEVEL_INFO, __VA_ARGS__)
#define log_warning(...)  log_at(LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)    log_at(LEVEL_ERROR, __VA_ARGS__)
#define log_critical(...) log_at(LEVEL_CRITICAL, __VA_ARGS__)

#endif
