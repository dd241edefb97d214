/* logfmt.h - a line of the log in the form that is asked for: Python's "%(levelname)-8s %(message)s", or
 * JSON.
 *
 * Layer      common/base; used by log.c only
 * Threads    any
 * Errors     logfmt_check: -EINVAL with *err; a checked format can be put
 * Tests      tests/unit/common/test_log.c
 */
#ifndef COMMON_BASE_LOGFMT_H
#define COMMON_BASE_LOGFMT_H

#include "common/base/buf.h"
#include "salt/base.h"

/* All that a line can say. Texts are BORROWED, and show as they are. */
typedef struct log_record {
    int64_t wall_us;
    const char *level;                         /* as in the configuration: "warning" */
    const char *levelname;                     /* as in a line: "WARNING" */
    int levelno;                               /* as in Python */
    const char *level_colour, *message_colour; /* NULL: no colours */
    const char *name, *path, *func;
    int line;
    const char *program, *message;
    const char *jid, *minion_id; /* "" when the line is about none */
} log_record_t;

/* Whether a text is a format; *err says what is wrong in it and what there is. */
int logfmt_check(const char *format, fail_t *err);
/* Append a line without its end. `datefmt` is strftime's, for %(asctime)s; `jidfmt` a format for %(jid)s. */
void logfmt_put(buf_t *out, const char *format, const char *datefmt, const char *jidfmt,
                const log_record_t *record);
/* Append {"time": ..., "level": ...} without a line's end. The message is valid UTF-8, the only controls
 * in it tabs and line breaks. */
void logfmt_json(buf_t *out, const log_record_t *record);
/* The last words of a process as such a line with its end, without memory: its bytes. What does not fit is
 * left out. */
size_t logfmt_json_last(char *out, size_t room, const char *line, size_t len);

#endif
