/* log.h - one line a message, with Salt's levels. The outermost caller, which decides what to do about an
 * error, logs it once; library code logs at debug and below only.
 *
 * Threads    any thread
 * Format     log_form(); a line has the name of the subsystem of its source file: loggers.def
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

/* The level of a name as in the configuration ("warning", "error", ...); false when unknown. */
bool log_level_parse(const char *name, log_level_t *ret_level);
const char *log_level_name(log_level_t level);

/* `program` is kept by pointer. Errors go to stderr until this is called. */
void log_init(const char *program, log_level_t console, bool colour);
/* Tells that the last line of the terminal at stderr is one that shows progress: a message takes its place. */
void log_over_line(bool there);
#define LOG_ERASE_LINE "\r\033[K" /* takes that line off the terminal */
/* Also writes lines from `level` up to the file `path` (created 0640), or to a syslog daemon when `path` is
 * its address. 0 or a negative errno. */
int log_open_file(const char *path, log_level_t level, fail_t *err);
/* True when `target` is the address of a syslog daemon and not a path; and whether the address is valid: 0,
 * or -EINVAL with *err. */
bool log_is_syslog(const char *target);
int log_check_syslog(const char *target, fail_t *err);
/* Opens the file again after a rotation (SIGHUP). */
void log_reopen(void);
/* Sets the level of the terminal: a daemon stops writing there. */
void log_console(log_level_t level);

/* The form of a line on the terminal and in the file: Python's formats with strftime's for %(asctime)s, or a
 * JSON object. A syslog daemon gets only the message. */
typedef struct log_form {
    const char *console, *console_date, *file, *file_date;
    const char *jid; /* format of %(jid)s, used during a job */
    bool json;
} log_form_t;
#define LOG_FORM_CONSOLE "%(colorlevel)s %(message)s"
#define LOG_FORM_FILE                                                                                        \
    "%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s"
/* Sets the form; call it before there are threads. The texts are copied. */
void log_form(const log_form_t *form);
/* Checks a format: 0, or -EINVAL with *err. */
int log_check_format(const char *format, fail_t *err);

/* Sets levels by name, {name: level}: they replace the levels of all sinks for that name and the names below
 * it. A silent sink stays silent. BORROWED. */
void log_granular(const json_t *levels);
/* True when lines can have that name, or a name below it. */
bool log_name_known(const char *name);

/* Sets the minion that this process is; another minion that this thread works for; and the job of this
 * thread. "" for none. */
void log_minion(const char *id);
void log_for_minion(const char *id);
void log_job(const char *jid);

/* The place in the source that a line comes from. */
typedef struct log_site {
    const char *file, *func;
    int line;
} log_site_t;
void log_write(log_level_t level, const log_site_t *site, const char *fmt, ...) PRINTF(3, 4);
bool log_wanted(log_level_t level, const char *file);
extern _Atomic int log_least; /* no sink takes lines below it: saves a call in most cases */
/* True when a sink takes lines of this level from this file. */
#define log_wants(level)                                                                                     \
    ((int) (level) >= atomic_load_explicit(&log_least, memory_order_relaxed) && log_wanted(level, __FILE__))

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
