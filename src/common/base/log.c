/* log.c - one write(2) a message, no locks: a fork in another thread finds nothing held. */
#include "salt/log.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <syslog.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/base/syslogline.h"
#include "common/base/visible.h"

static const struct {
    const char *name;   /* in the configuration */
    const char *tag;    /* in a line */
    const char *colour; /* Salt's: the tag on a terminal */
    int severity;       /* to a syslog daemon */
} levels[] = {
    [LEVEL_ALL] = { "all", "NOTSET", "0", LOG_DEBUG },
    [LEVEL_GARBAGE] = { "garbage", "GARBAGE", "0;1;34", LOG_DEBUG },
    [LEVEL_TRACE] = { "trace", "TRACE", "0;1;35", LOG_DEBUG },
    [LEVEL_DEBUG] = { "debug", "DEBUG", "0;1;36", LOG_DEBUG },
    [LEVEL_PROFILE] = { "profile", "PROFILE", "0;1;36", LOG_DEBUG },
    [LEVEL_INFO] = { "info", "INFO", "0;1;32", LOG_INFO },
    [LEVEL_WARNING] = { "warning", "WARNING", "0;1;33", LOG_WARNING },
    [LEVEL_ERROR] = { "error", "ERROR", "0;1;31", LOG_ERR },
    [LEVEL_CRITICAL] = { "critical", "CRITICAL", "0;1;31", LOG_CRIT },
    [LEVEL_QUIET] = { "quiet", "QUIET", "0", LOG_DEBUG },
};

static const char *program_name = "halite";
static bool colour_on;
static _Atomic int console_level = LEVEL_ERROR;
static _Atomic int file_level = LEVEL_QUIET;
/* Reopening puts the new file on the same number, so that writers need no lock. */
static _Atomic int file_fd = -1;
/* The newest first. Those of before stay: another thread may be looking at one. */
typedef struct log_path {
    struct log_path *before;
    char path[];
} log_path_t;
static _Atomic(log_path_t *) file_path;
static _Atomic bool lost_name; /* said */

bool
log_level_parse(const char *name, log_level_t *ret_level)
{
    for (size_t i = 0; name != NULL && i < NELEMS(levels); i++) {
        if (strcasecmp(name, levels[i].name) == 0) {
            *ret_level = (log_level_t) i;
            return true;
        }
    }
    return false;
}

const char *
log_level_name(log_level_t level)
{
    return levels[level].name;
}

void
log_init(const char *program, log_level_t console, bool colour)
{
    program_name = program;
    colour_on = colour;
    console_level = (int) console;
}

void
log_console(log_level_t level)
{
    console_level = (int) level;
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

static int
open_syslog(const char *address, log_level_t level, fail_t *err)
{
    int rc = syslogline_open(address, program_name, err);

    if (rc == 0)
        file_level = (int) level;
    return rc;
}

static void
set_path(const char *path)
{
    log_path_t *before = file_path;
    size_t size = strlen(path) + 1;

    if (before != NULL && str_eq(before->path, path))
        return;
    log_path_t *fresh = xcalloc(1, sizeof(*fresh) + size);
    fresh->before = before;
    memcpy(fresh->path, path, size);
    file_path = fresh;
}

int
log_open_file(const char *path, log_level_t level, fail_t *err)
{
    if (log_is_syslog(path))
        return open_syslog(path, level, err);
    int fd = fs_open_log(path, 0);

    if (fd < 0)
        return fail_set(err, fd, "cannot open the log file %s: %s; check log_file and the folder's owner",
                        path, strerror(-fd));
    set_path(path);
    if (file_fd < 0) {
        file_fd = fd;
    } else {
        dup3(fd, file_fd, O_CLOEXEC);
        close(fd);
    }
    file_level = (int) level;
    return 0;
}

/* 0, or a negative errno: the old file stays open. */
static int
reopen(void)
{
    int fd = fs_open_log(((log_path_t *) file_path)->path, 0);

    if (fd < 0)
        return fd;
    dup3(fd, file_fd, O_CLOEXEC);
    close(fd);
    lost_name = false;
    return 0;
}

void
log_reopen(void)
{
    int rc = file_fd < 0 ? 0 : reopen();

    if (rc < 0 && !atomic_exchange(&lost_name, true))
        log_error("cannot reopen the log file %s: %s; still writing to the old one",
                  ((log_path_t *) file_path)->path, strerror(-rc));
}

static bool
console_wants(log_level_t level)
{
    return level != LEVEL_QUIET && (int) level >= console_level;
}

static bool
file_wants(log_level_t level)
{
    return level != LEVEL_QUIET && (file_fd >= 0 || syslogline_is_open()) && (int) level >= file_level;
}

bool
log_wants(log_level_t level)
{
    return console_wants(level) || file_wants(level);
}

#define FURTHER "    " /* before the second line of a message, and each that follows */

/* What a peer sends must not drive the reader's terminal: control characters, and those that turn or hide text, are shown, not
 * sent. Nor may it look like a line of ours: only those begin at the margin. */
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

static void
write_console(log_level_t level, const char *message)
{
    buf_auto_t line = BUF_INIT;

    if (colour_on)
        buf_printf(&line, "\033[%sm[%-8s]\033[0m ", levels[level].colour, levels[level].tag);
    else
        buf_printf(&line, "[%-8s] ", levels[level].tag);
    buf_puts(&line, message);
    buf_putc(&line, '\n');
    /* There is nowhere to report a failed write to. */
    (void) fs_write_nosig(STDERR_FILENO, line.data, line.len);
}

static void
write_file(log_level_t level, const char *message)
{
    buf_auto_t line = BUF_INIT;
    int64_t now = clock_wall_us();
    time_t s = (time_t) (now / 1000000);
    char stamp[CLOCK_STAMP_LEN];
    struct tm tm;

    localtime_r(&s, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
    buf_printf(&line, "%s,%03d [%s:%-5d][%-8s] %s\n", stamp, (int) (now / 1000 % 1000), program_name,
               (int) getpid(), levels[level].tag, message);
    (void) fs_write_nosig(file_fd, line.data, line.len);
}

void
log_write(log_level_t level, const char *fmt, ...)
{
    buf_auto_t message = BUF_INIT;
    int saved = errno;
    va_list ap;

    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    AUTO_FREE char *shown = str_redacted(text);
    add_escaped(&message, shown);
    if (console_wants(level))
        write_console(level, buf_str(&message));
    /* As Salt does: who rotates logs renames the file, and need not say so. */
    if (file_wants(level) && file_fd >= 0 && !fs_is_same(file_fd, ((log_path_t *) file_path)->path))
        log_reopen();
    if (file_wants(level) && file_fd >= 0)
        write_file(level, buf_str(&message));
    if (file_wants(level) && syslogline_is_open())
        syslogline_send(levels[level].severity, buf_str(&message));
    errno = saved;
}

void
log_last(const char *line, size_t len)
{
    const int fds[] = { STDERR_FILENO, file_fd };

    for (size_t i = 0; i < NELEMS(fds); i++)
        if (fds[i] >= 0)
            (void) !write(fds[i], line, len);
    if (syslogline_is_open())
        syslogline_last(line, len);
}
