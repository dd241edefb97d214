/* log.h - levels as Salt's, one line a message. The edge that decides logs, once; library code only at debug
 * and below.
 *
 * Threads    any thread
 * Format     log_form(); a line's name is that of the subsystem whose file logs: loggers.def
 * Tests      tests/unit/common/test_log.c, tests/unit/common/test_logrotate.c, tests/t/0400-logs.bats
 */
#ifndef SALT_LOG_H
#define SALT_LOG_H

#include <stdatomic.h>

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
/* Also write to `path` (created 0640), or to the syslog daemon that it is the address of, from `level` up.
 * 0 or a negative errno. */
int log_open_file(const char *path, log_level_t level, fail_t *err);
/* Whether it is such an address instead of a path, and whether that can be understood: 0, or -EINVAL with
 * *err. */
bool log_is_syslog(const char *target);
int log_check_syslog(const char *target, fail_t *err);
/* Reopen after rotation (SIGHUP). */
void log_reopen(void);
/* A daemon stops writing to its terminal. */
void log_console(log_level_t level);

/* How a line looks on the terminal and in the file: Python's formats and strftime's for their %(asctime)s,
 * or an object of JSON. To a syslog daemon goes the message alone. */
typedef struct log_form {
    const char *console, *console_date, *file, *file_date;
    const char *jid; /* of %(jid)s, while there is a job */
    bool json;
} log_form_t;
#define LOG_FORM_CONSOLE "%(colorlevel)s %(message)s"
#define LOG_FORM_FILE                                                                                        \
    "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s"
/* Before there are threads; the texts are copied. */
void log_form(const log_form_t *form);
/* 0, or -EINVAL with *err. */
int log_check_format(const char *format, fail_t *err);

/* {name: level}: in the place of both levels for the names and those below them; a silent sink stays
 * silent. BORROWED. */
void log_granular(const json_t *levels);
/* Whether lines of that name, or below it, can be. */
bool log_name_known(const char *name);

/* Which minion this process is; which other one this thread works for, and which job: "" for none. */
void log_minion(const char *id);
void log_for_minion(const char *id);
void log_job(const char *jid);

/* Where a line comes from. */
typedef struct log_site {
    const char *file, *func;
    int line;
} log_site_t;
void log_write(log_level_t level, const log_site_t *site, const char *fmt, ...) PRINTF(3, 4);
bool log_wanted(log_level_t level, const char *file);
extern _Atomic int log_least; /* below it nobody wants a line: a number to look at, and no call */
/* Whether somebody wants lines of this file. */
#define log_wants(level)                                                                                     \
    ((int) (level) >= atomic_load_explicit(&log_least, memory_order_relaxed) && log_wanted(level, __FILE__))

/* The last words of a process, a whole line: to stderr and the log file as they are, without stdio or memory. */
void log_last(const char *line, size_t len);

#define log_at(level, ...)                                                                                   \
    do {                                                                                                     \
        if (__builtin_expect(log_wants(level), 0)) {                                                         \
            static const log_site_t site_ = { __FILE__, __func__, __LINE__ };                                \
            log_write(level, &site_, __VA_ARGS__);                                                           \
        }                                                                                                    \
    } while (0)
#define log_trace(...)    log_at(LEVEL_TRACE, __VA_ARGS__)
#define log_debug(...)    log_at(LEVEL_DEBUG, __VA_ARGS__)
#define log_profile(...)  log_at(LEVEL_PROFILE, __VA_ARGS__)
#define log_info(...)     log_at(LEVEL_INFO, __VA_ARGS__)
#define log_warning(...)  log_at(LEVEL_WARNING, __VA_ARGS__)
#define log_error(...)    log_at(LEVEL_ERROR, __VA_ARGS__)
#define log_critical(...) log_at(LEVEL_CRITICAL, __VA_ARGS__)

#endif
