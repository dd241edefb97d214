/* journald.c - beacon journald: entries of the journal, as they are written. `journalctl --follow` reads it, as only journald's
 * own library knows all the forms of its files; one line of JSON is an entry. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "salt/limits.h"
#include "salt/plugin.h"

typedef struct journal {
    int fd;
    pid_t pid;
    bool skips; /* inside of a line that is too long */
    buf_t in;
} journal_t;

/* Fields that are numbers, as python-systemd reads them. */
static const char *const numbers[] = { "PRIORITY",
                                       "_UID",
                                       "_GID",
                                       "_PID",
                                       "SYSLOG_FACILITY",
                                       "SYSLOG_PID",
                                       "LEADER",
                                       "ERRNO",
                                       "CODE_LINE",
                                       "EXIT_STATUS",
                                       "_AUDIT_SESSION",
                                       "_AUDIT_LOGINUID",
                                       "_SYSTEMD_OWNER_UID",
                                       "USERSPACE_USEC",
                                       "INITRD_USEC",
                                       "KERNEL_USEC",
                                       "__REALTIME_TIMESTAMP",
                                       "__MONOTONIC_TIMESTAMP",
                                       "_SOURCE_REALTIME_TIMESTAMP",
                                       "_SOURCE_MONOTONIC_TIMESTAMP" };

static char *
journald_validate(const json_t *list, const json_t *config)
{
    json_t *services = value_get(config, "services"), *one;
    const char *name;
    if (services != NULL && !json_is_object(services))
        return xstrdup("Services configuration for journald beacon must be a dictionary.");
    json_object_foreach (services, name, one)
        if (!json_is_object(one))
            return xstrdup("Services configuration for journald beacon must be a list of dictionaries.");
    return NULL;
}

typedef struct follower {
    int out;
    pid_t parent;
    const char *program;
} follower_t;

static void
journald_follow(const void *cookie)
{
    const follower_t *how = cookie;
    const char *const argv[] = { how->program, "--follow", "--lines=0", "--output=json", "--quiet", NULL };
    proc_fresh_signals(NULL);
    proc_end_with(how->parent);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(how->out, 1) == 1 && dup2(null, 2) == 2) {
        (void) setenv("LC_ALL", "C", 1);
        (void) execv(how->program, (char *const *) (uintptr_t) argv);
    }
    _exit(127);
}

static void *
journald_open(beacon_look_t *look, fail_t *err)
{
    AUTO_FREE char *program = fs_which("journalctl");
    int ends[2];
    if (program == NULL)
        return (void) fail_set(err, -ENOENT, "journalctl is missing."), NULL;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return (void) fail_set(err, -errno, "pipe: %s", strerror(errno)), NULL;
    const follower_t how = { ends[1], getpid(), program };
    pid_t pid = proc_fork(journald_follow, &how);
    int code = errno;
    (void) close(ends[1]);
    if (pid < 0) {
        (void) close(ends[0]);
        return (void) fail_set(err, -code, "fork: %s", strerror(code)), NULL;
    }
    journal_t *self = xcalloc(1, sizeof(*self));
    self->fd = ends[0];
    self->pid = pid;
    return self;
}

/* NEW value of a field: a number where it is one; of several values the list. */
static json_t *
journald_value(const char *name, json_t *v)
{
    long long n;
    for (size_t i = 0; json_is_string(v) && i < NELEMS(numbers); i++)
        if (str_eq(numbers[i], name) && str_to_int(json_string_value(v), INT64_MIN, INT64_MAX, &n))
            return json_integer(n);
    return json_incref(v);
}

/* Adds an event for each service whose fields the entry has. */
static void
journald_take(beacon_look_t *look, const char *line, size_t len)
{
    fail_auto_t why = FAIL_INIT;
    json_auto_t *raw = value_parse(line, len, LIMIT_BEACON_READ, "journal", &why), *entry = json_object();
    const char *name, *key;
    json_t *v, *fields;
    json_object_foreach (raw, key, v)
        json_object_set_new(entry, key, journald_value(key, v));
    json_object_foreach (raw != NULL ? value_get(look->config, "services") : NULL, name, fields) {
        bool all = true;
        json_object_foreach (fields, key, v) {
            AUTO_FREE char *wanted = value_pystr(v);
            json_t *have = value_get(entry, key);
            AUTO_FREE char *text = have != NULL ? value_pystr(have) : NULL;
            all = all && str_eq(wanted, text);
        }
        if (!all)
            continue;
        json_t *event = json_copy(entry);
        json_object_set_new(event, "tag", json_string(name));
        json_array_append_new(look->events, event);
    }
}

static int
journald_look(beacon_look_t *look, fail_t *err)
{
    journal_t *self = look->own;
    buf_reserve(&self->in, LIMIT_BEACON_READ);
    ssize_t n = read(self->fd, self->in.data + self->in.len, LIMIT_BEACON_READ);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n < 0)
        return fail_set(err, -errno, "journalctl: %s", strerror(errno));
    if (n == 0)
        return fail_set(err, -EPIPE, "journalctl has ended");
    self->in.len += (size_t) n;
    for (char *end; (end = memchr(self->in.data, '\n', self->in.len)) != NULL;) {
        size_t len = (size_t) (end - (char *) self->in.data);
        if (!self->skips)
            journald_take(look, (const char *) self->in.data, len);
        self->skips = false;
        buf_consume(&self->in, len + 1);
    }

    /* An entry that is larger than a look may take is left out, to its end. */
    if (self->in.len > LIMIT_BEACON_READ) {
        self->skips = true;
        buf_clear(&self->in);
    }
    return 0;
}

static int
journald_fd(const void *own)
{
    return ((const journal_t *) own)->fd;
}

static void
journald_close(void *own, bool copied)
{
    journal_t *self = own;
    if (!copied)
        (void) kill(self->pid, SIGTERM);
    (void) close(self->fd);
    buf_free(&self->in);
    free(self);
}

static const beacon_row_t row = { .validate = journald_validate,
                                  .look = journald_look,
                                  .edges = true,
                                  .open = journald_open,
                                  .fd = journald_fd,
                                  .close = journald_close };

PLUGIN(beacon, journald,
       .doc = "The journal: fires entries with the fields that are configured, as they are written.",
       .beacon = &row);
