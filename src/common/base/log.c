/* log.c - one write(2) a message, no locks: a fork in another thread finds nothing held. */
#include "salt/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/logfmt.h"
#include "common/base/loglevel.h"
#include "common/base/logname.h"
#include "common/base/str.h"
#include "common/base/syslogline.h"
#include "common/base/visible.h"
#include "salt/limits.h"

enum { LAST_ROOM = 1024 }; /* bytes of a process's last message */

static const char *program_name = "halite";
static bool colour_on;
static _Atomic int console_level = LEVEL_ERROR;
static _Atomic int file_level = LEVEL_QUIET;
/* A reopened file gets the same descriptor number, so that writers need no lock. */
static _Atomic int file_fd = -1;
/* Paths, the newest first. Old ones are kept, because another thread may still read one. */
typedef struct log_path {
    struct log_path *before;
    char path[];
} log_path_t;
static _Atomic(log_path_t *) file_path;
static _Atomic bool lost_name; /* said */
static _Atomic bool over_line;

/* The fields below are set before there are threads. */
static log_form_t form = { .console = LOG_FORM_CONSOLE,
                           .console_date = "%H:%M:%S",
                           .file = LOG_FORM_FILE,
                           .file_date = "%Y-%m-%d %H:%M:%S",
                           .jid = "[JID: %(jid)s]" };
static char *minion_id;
static _Thread_local char about_minion[LIMIT_ID_LEN + 1], about_jid[CLOCK_STAMP_LEN];

_Atomic int log_least = LEVEL_ERROR;

static bool
is_open(void)
{
    return file_fd >= 0 || syslogline_is_open();
}

/* Finds the least level that any name logs at, so that a line below it costs one comparison. */
static void
find_least(void)
{
    int console = console_level, file = is_open() ? file_level : LEVEL_QUIET;
    int least = console < file ? console : file, named = (int) logname_least();

    log_least = least != LEVEL_QUIET && named < least ? named : least;
}

void
log_init(const char *program, log_level_t console, bool colour)
{
    program_name = program;
    colour_on = colour;
    log_console(console);
}

void
log_console(log_level_t level)
{
    console_level = (int) level;
    find_least();
}

void
log_granular(const json_t *granular)
{
    logname_set_levels(granular);
    find_least();
}

bool
log_name_known(const char *name)
{
    return logname_known(name);
}

/* Replaces a text; `owned` is the previous one, which is freed. */
static void
base_log_take_text(const char **at, char **owned, const char *text)
{
    char *old = *owned;

    *at = *owned = xstrdup(text);
    free(old);
}

/* salt_last_words: to stderr, the file as it is, and a syslog daemon, without stdio or memory. */
static void
log_last(const char *line, size_t len)
{
    const int fds[] = { STDERR_FILENO, file_fd };
    char object[LAST_ROOM];
    size_t n = form.json ? logfmt_json_last(object, sizeof(object), line, len) : len;

    for (size_t i = 0; i < NELEMS(fds); i++)
        if (fds[i] >= 0)
            (void) !write(fds[i], form.json ? object : line, n);
    if (syslogline_is_open())
        syslogline_last(line, len);
}

void
log_form(const log_form_t *fresh)
{
    static char *owned[5];

    base_log_take_text(&form.console, &owned[0], fresh->console);
    base_log_take_text(&form.console_date, &owned[1], fresh->console_date);
    base_log_take_text(&form.file, &owned[2], fresh->file);
    base_log_take_text(&form.file_date, &owned[3], fresh->file_date);
    base_log_take_text(&form.jid, &owned[4], fresh->jid);
    form.json = fresh->json;
    salt_last_words(log_last);
}

int
log_check_format(const char *format, fail_t *err)
{
    return logfmt_check(format, err);
}

void
log_minion(const char *id)
{
    free(minion_id);
    minion_id = xstrdup(id);
}

void
log_for_minion(const char *id)
{
    (void) str_copy(about_minion, sizeof(about_minion), id);
}

void
log_job(const char *jid)
{
    (void) str_copy(about_jid, sizeof(about_jid), jid);
}

bool
log_is_syslog(const char *target)
{
    return strstr(target, "://") != NULL;
}

int
log_check_syslog(const char *target, fail_t *err)
{
    return syslogline_check(target, err);
}

int
log_open_file(const char *path, log_level_t level, fail_t *err)
{
    if (log_is_syslog(path)) {
        /* Opens the connection to syslog. */
        int rc = syslogline_open(path, program_name, err);
        if (rc == 0) {
            salt_last_words(log_last);
            file_level = (int) level;
            find_least();
        }
        return rc;
    }
    int fd = fs_open_log(path, 0);

    if (fd < 0)
        return fail_set(err, fd, "cannot open the log file %s: %s; check log_file and the folder's owner",
                        path, strerror(-fd));

    /* Keeps the path, for reopening. */
    log_path_t *before = file_path;
    size_t size = strlen(path) + 1;
    if (before == NULL || !str_eq(before->path, path)) {
        log_path_t *fresh = xcalloc(1, sizeof(*fresh) + size);
        fresh->before = before;
        memcpy(fresh->path, path, size);
        file_path = fresh;
    }

    if (file_fd < 0) {
        file_fd = fd;
        salt_last_words(log_last);
    } else {
        dup3(fd, file_fd, O_CLOEXEC);
        close(fd);
    }
    file_level = (int) level;
    find_least();
    return 0;
}

void
log_reopen(void)
{
    if (file_fd < 0)
        return;
    int fd = fs_open_log(((log_path_t *) file_path)->path, 0);
    if (fd >= 0) {
        dup3(fd, file_fd, O_CLOEXEC);
        close(fd);
        lost_name = false;
    } else if (!atomic_exchange(&lost_name, true)) {
        /* The old file stays open. Said once, until a name is found again. */
        log_error("cannot reopen the log file %s: %s; still writing to the old one",
                  ((log_path_t *) file_path)->path, strerror(-fd));
    }
}

static bool
sink_wants(int sink, const char *name, log_level_t level)
{
    return level != LEVEL_QUIET && sink != LEVEL_QUIET && level >= logname_level(name, (log_level_t) sink);
}

bool
log_wanted(log_level_t level, const char *file)
{
    char name[LOGNAME_LEN];

    logname_of(file, name);
    return sink_wants(console_level, name, level) || (is_open() && sink_wants(file_level, name, level));
}

#define FURTHER "    " /* before all lines of a message but the first */

/* Appends a message with everything that could mislead its reader made visible: control characters, which
 * drive terminals, and characters that turn or hide text. Further lines are indented, so that they can't pass
 * for lines of the log. */
static void
add_escaped(buf_t *out, const char *text)
{
    const char *end = text + strlen(text);

    while (text < end) {
        size_t n = visible_run(text, (size_t) (end - text));
        buf_add(out, text, n);
        text += n;
        if (*text == '\n')
            buf_puts(out, *++text != '\0' ? "\n" FURTHER : "\n");
        else if (text < end)
            text += visible_show(out, text, (size_t) (end - text), VISIBLE_HEX);
    }
}

void
log_over_line(bool there)
{
    over_line = there;
}

static void
write_line(int fd, const char *format, const char *datefmt, const log_record_t *record)
{
    buf_auto_t line = BUF_INIT;

    if (fd == STDERR_FILENO && over_line)
        buf_puts(&line, LOG_ERASE_LINE);
    if (form.json)
        logfmt_json(&line, record);
    else
        logfmt_put(&line, format, datefmt, form.jid, record);
    buf_putc(&line, '\n');
    /* A failed write has nowhere to be reported. */
    (void) fs_write_nosig(fd, line.data, line.len);
}

void
log_write(log_level_t level, const log_site_t *site, const char *fmt, ...)
{
    buf_auto_t message = BUF_INIT, object = BUF_INIT;
    char name[LOGNAME_LEN];
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    AUTO_FREE char *shown = str_redacted(text);
    add_escaped(&message, shown);
    /* The same for JSON, whose lines of a message can't pass for lines of the log: they stay as they are. */
    for (const char *from = shown, *end; form.json && from != NULL; from = *end != '\0' ? end + 1 : NULL) {
        end = strchrnul(from, '\n');
        visible_add(&object, from, (size_t) (end - from), VISIBLE_HEX);
        if (*end != '\0')
            buf_putc(&object, '\n');
    }
    logname_of(site->file, name);
    log_record_t record = { .wall_us = clock_wall_us(),
                            .level = log_levels[level].name,
                            .levelname = log_levels[level].tag,
                            .levelno = log_levels[level].number,
                            .name = name,
                            .path = site->file,
                            .func = site->func,
                            .line = site->line,
                            .program = program_name,
                            .message = buf_str(form.json ? &object : &message),
                            .jid = about_jid,
                            .minion_id = *about_minion != '\0' ? about_minion
                                         : minion_id != NULL   ? minion_id
                                                               : "" };

    /* Writes one message to every sink. `plain`: the message for a syslog daemon, indented as for a
     * file. */
    const char *plain = buf_str(&message);
    if (is_open() && sink_wants(file_level, record.name, level)) {
        /* As Salt: a rotation renames the file and need not send a signal. */
        if (file_fd >= 0 && !fs_is_same(file_fd, ((log_path_t *) file_path)->path))
            log_reopen();
        if (file_fd >= 0)
            write_line(file_fd, form.file, form.file_date, &record);
        if (syslogline_is_open())
            syslogline_send(log_levels[level].severity, plain);
    }
    if (sink_wants(console_level, record.name, level)) {
        record.level_colour = colour_on ? log_levels[level].colour : NULL;
        record.message_colour = log_levels[level].message;
        write_line(STDERR_FILENO, form.console, form.console_date, &record);
    }

    errno = saved;
}
