/* logfmt.h - formats a line of the log as configured: by a format of Python's logging, "%(levelname)-8s
 * %(message)s", or as JSON.
 *
 * Layer      common/base; used by log.c only
 * Threads    any
 * Errors     logfmt_check: -EINVAL with *err; formatting with a checked format can't fail
 * Tests      tests/unit/common/test_log.c
 */
#ifndef COMMON_BASE_LOGFMT_H
#define COMMON_BASE_LOGFMT_H

#include "common/base/buf.h"
#include "salt/base.h"

/* Everything that a line can contain. Texts are BORROWED and appear as they are. */
typedef struct log_record {
    int64_t wall_us;
    const char *level;                         /* as in the configuration: "warning" */
    const char *levelname;                     /* as in a line: "WARNING" */
    int levelno;                               /* as in Python */
    const char *level_colour, *message_colour; /* NULL: no colours */
    const char *name, *path, *func;
    int line;
    const char *program, *message;
    const char *jid, *minion_id; /* "" when the line concerns none */
} log_record_t;

/* 0 when a text is a valid format; otherwise *err says what is wrong and which fields exist. */
int logfmt_check(const char *format, fail_t *err);
/* Appends a line without a line end. `datefmt` is strftime's, for %(asctime)s; `jidfmt` is the format of
 * %(jid)s. */
void logfmt_put(buf_t *out, const char *format, const char *datefmt, const char *jidfmt,
                const log_record_t *record);
/* Appends {"time": ..., "level": ...} without a line end. The message must be valid UTF-8 with no control
 * characters but tabs and line breaks. */
void logfmt_json(buf_t *out, const log_record_t *record);
/* Writes a process's last message as such a line, with its end, without allocating. Returns its bytes; a
 * message that does not fit is cut. */
size_t logfmt_json_last(char *out, size_t room, const char *line, size_t len);

#endif
