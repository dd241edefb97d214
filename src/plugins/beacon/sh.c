/* sh.c - beacon sh: commands that users run in their login shells.
 *
 * Salt's runs `strace -f -e execve` for each shell, and reads what that prints. Here a child process traces
 * the shells by itself, with ptrace(2): it is woken at forks and at the begin of a command and not at each
 * system call, and since the command waits for it then, one that is over in a moment is seen like any other.
 * A process has one tracer, so a debugger finds a watched shell taken; shells that another one has already
 * are left alone.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/str.h"
#include "common/host/passwd.h"
#include "common/host/procfs.h"
#include "common/host/rootfs.h"
#include "plugins/lib/beacon/reports.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/plugin.h"

enum {
    SCAN_S = 1,         /* between looks for new shells, as in Salt */
    COMMAND_MAX = 3072, /* bytes of arguments, and of a path, that are told */
    AUXV_NAME = 31,     /* AT_EXECFN of getauxval(3): where the path lies that execve(2) was called with */
    TRACED_MAX = 4096,  /* threads below shells */
};

/* A traced thread. */
typedef struct traced {
    pid_t pid;
    pid_t shell; /* that it is, or is below; 0: it is stopped until its parent tells */
    uid_t uid;   /* of the shell */
} traced_t;

typedef struct tracer {
    int out;
    json_t *shells; /* owned list of paths */
    json_t *users;  /* owned {uid: name} */
    json_t *told;   /* owned {pid: true}: shells that can't be traced */
    size_t lost;    /* reports for which the pipe had no room */
    size_t n;
    traced_t all[TRACED_MAX];
} tracer_t;

/* ---- in the child ------------------------------------------------------------------------------------- */

/* Bytes of a file of a process, for which nothing may wait. 0 when it can't be read. */
static size_t
sh_bytes(pid_t pid, const char *name, void *room, size_t size, off_t at)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/%s", (int) pid, name);
    AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, room, size, at) : -1;
    return n > 0 ? (size_t) n : 0;
}

/* Writes a line at once or not at all: a shell must not wait until the minion reads. */
static bool
sh_write(const tracer_t *self, json_t *line)
{
    json_auto_t *taken = line;
    json_t *args = value_get(taken, "args");
    AUTO_FREE char *text = value_dump(taken);
    while (strlen(text) >= PIPE_BUF && json_array_size(args) > 0) {
        json_array_remove(args, json_array_size(args) - 1);
        free(text);
        text = value_dump(taken);
    }
    size_t len = strlen(text);
    text[len] = '\n';
    return len < PIPE_BUF && write(self->out, text, len + 1) == (ssize_t) len + 1;
}

static void
sh_report(tracer_t *self, json_t *line)
{
    if (self->lost > 0 &&
        sh_write(self, json_pack("{s:s, s:I}", "tag", "lost", "lost", (json_int_t) self->lost)))
        self->lost = 0;
    if (!sh_write(self, line))
        self->lost++;
}

/* BORROWED name of a user. Asked for before anything waits, as a name service may take long. */
static const char *
sh_user(tracer_t *self, uid_t uid)
{
    char key[16];
    (void) snprintf(key, sizeof(key), "%u", (unsigned) uid);
    if (value_get(self->users, key) == NULL) {
        passwd_space_auto_t space = { 0 };
        const struct passwd *user = passwd_uid(&space, uid);
        json_object_set_new(self->users, key, json_string(user != NULL ? user->pw_name : key));
    }
    return value_str(self->users, key, key);
}

static traced_t *
sh_find(tracer_t *self, pid_t pid)
{
    for (size_t i = 0; i < self->n; i++)
        if (self->all[i].pid == pid)
            return &self->all[i];
    return NULL;
}

/* Notes a thread; one more than may be is traced no longer. */
static void
sh_note(tracer_t *self, pid_t pid, pid_t shell, uid_t uid)
{
    if (self->n < TRACED_MAX)
        self->all[self->n++] = (traced_t){ pid, shell, uid };
    else
        (void) ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

static void
sh_forget(tracer_t *self, pid_t pid)
{
    traced_t *one = sh_find(self, pid);
    if (one != NULL)
        *one = self->all[--self->n];
}

static void
sh_go_on(pid_t pid, int signal)
{
    (void) ptrace(PTRACE_CONT, pid, NULL, (void *) (intptr_t) signal);
}

/* The path that a program was started by, as it was written. */
static void
sh_path(pid_t pid, char *room, size_t size)
{
    unsigned long auxv[64][2];
    size_t n = sh_bytes(pid, "auxv", auxv, sizeof(auxv), 0) / sizeof(auxv[0]);
    memset(room, 0, size);
    for (size_t i = 0; i < n; i++)
        if (auxv[i][0] == AUXV_NAME)
            (void) sh_bytes(pid, "mem", room, size - 1, (off_t) auxv[i][1]);
}

/* True when the path leads to the very program that runs: it is no script. */
static bool
sh_is_program(pid_t pid, const char *path)
{
    struct stat a, b;
    AUTO_FREE char *exe = xasprintf("/proc/%d/exe", (int) pid);
    AUTO_FREE char *from = xasprintf("/proc/%d/%s/%s", (int) pid, *path == '/' ? "root" : "cwd", path);
    return stat(exe, &a) != 0 || stat(from, &b) != 0 || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* Tells a command that begins. The kernel put a script's interpreter and its option in front of it: they are
 * left out, as they are no arguments of execve(2). */
static void
sh_began(tracer_t *self, const traced_t *one)
{
    char path[COMMAND_MAX], words[COMMAND_MAX];
    AUTO_FREE char *tag = xasprintf("%d", (int) one->shell);
    json_t *args = json_array();
    sh_path(one->pid, path, sizeof(path));
    size_t n = sh_bytes(one->pid, "cmdline", words, sizeof(words), 0);
    for (size_t at = 0, len; at < n; at += len + 1) {
        len = strnlen(words + at, n - at);
        json_array_append_new(args, value_utf8(words + at, len));
    }
    for (size_t i = 1; i <= 2 && !sh_is_program(one->pid, path); i++)
        if (str_eq(json_string_value(json_array_get(args, i)), path)) {
            for (; i > 0; i--)
                json_array_remove(args, 0);
            break;
        }
    sh_report(self, json_pack("{s:s, s:o, s:o, s:s}", "tag", tag, "cmd", value_utf8(path, strlen(path)),
                              "args", args, "user", sh_user(self, one->uid)));
}

/* A thread was made, and is stopped by now or soon. */
static void
sh_forked(tracer_t *self, pid_t parent, pid_t pid)
{
    const traced_t *from = sh_find(self, parent);
    traced_t *one = sh_find(self, pid);
    pid_t shell = from != NULL ? from->shell : parent;
    uid_t uid = from != NULL ? from->uid : 0;
    if (one == NULL) {
        sh_note(self, pid, shell, uid);
        return;
    }
    one->shell = shell;
    one->uid = uid;
    sh_go_on(pid, 0);
}

/* A thread as the kernel tells of it. */
static void
sh_heard(tracer_t *self, pid_t pid, int status)
{
    unsigned long number = 0;
    int event = status >> 16, signal = WSTOPSIG(status);
    if (!WIFSTOPPED(status)) {
        sh_forget(self, pid);
        return;
    }
    if (event == PTRACE_EVENT_STOP && sh_find(self, pid) == NULL) {
        sh_note(self, pid, 0, 0);
        return;
    }
    if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) { /* stopped by its user: it stays so */
        (void) ptrace(PTRACE_LISTEN, pid, NULL, NULL);
        return;
    }
    if (event != 0)
        (void) ptrace(PTRACE_GETEVENTMSG, pid, NULL, &number);
    const traced_t *one = sh_find(self, pid);
    if (event == PTRACE_EVENT_EXEC && number != (unsigned long) pid)
        sh_forget(self, (pid_t) number);
    if (event == PTRACE_EVENT_EXEC && one != NULL && (one = sh_find(self, pid)) != NULL)
        sh_began(self, one);
    else if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK || event == PTRACE_EVENT_CLONE)
        sh_forked(self, pid, (pid_t) number);
    sh_go_on(pid, event == 0 ? signal : 0);
}

/* True for the command line of a shell without arguments: its name or path, with the '-' of a log-in. */
static bool
sh_is_shell(const tracer_t *self, const char *command)
{
    json_t *one;
    size_t i;
    command += strspn(command, "-");
    json_array_foreach (self->shells, i, one) {
        const char *path = json_string_value(one), *slash = strrchr(path, '/');
        if (*command != '\0' && (str_eq(path, command) || (slash != NULL && str_eq(slash + 1, command))))
            return true;
    }
    return false;
}

/* Begins to trace shells that are new. */
static void
sh_scan(tracer_t *self)
{
    fail_auto_t err = FAIL_INIT;
    json_t *told = json_object(); /* those of shells that have ended are left behind */
    size_t n;
    AUTO_FREE pid_t *pids = procfs_pids(&n, &err);
    for (size_t i = 0; i < self->n; i++)
        if (self->all[i].shell == 0) { /* its parent was killed before it could tell */
            self->all[i].shell = self->all[i].pid;
            sh_go_on(self->all[i].pid, 0);
        }
    for (size_t i = 0; i < n; i++) {
        char command[256] = "", key[16];
        struct stat st;
        size_t len = sh_bytes(pids[i], "cmdline", command, sizeof(command) - 1, 0);
        if (strlen(command) + 1 < len || !sh_is_shell(self, command) || sh_find(self, pids[i]) != NULL)
            continue;
        AUTO_FREE char *folder = xasprintf("/proc/%d", (int) pids[i]);
        if (stat(folder, &st) != 0)
            continue;
        const char *user = sh_user(self, st.st_uid);
        void *options = (void *) (PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                                  PTRACE_O_TRACECLONE);
        if (self->n < TRACED_MAX && ptrace(PTRACE_SEIZE, pids[i], NULL, options) == 0) {
            sh_note(self, pids[i], pids[i], st.st_uid);
            continue;
        }
        if (self->n < TRACED_MAX && errno == ESRCH) /* it has ended meanwhile */
            continue;
        (void) snprintf(key, sizeof(key), "%d", (int) pids[i]);
        if (value_get(self->told, key) == NULL)
            log_warning("the shell %s of %s can't be watched: %s; it may be traced already", key, user,
                        self->n < TRACED_MAX ? strerror(errno) : "too many are");
        json_object_set_new(told, key, json_true());
    }
    json_decref(self->told);
    self->told = told;
}

/* Ends this process when the kernel lets nobody be traced. */
static void
sh_try(tracer_t *self)
{
    pid_t pid = fork();
    while (pid == 0)
        (void) pause();
    bool good = pid > 0 && ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0;
    int code = errno;
    if (pid > 0 && kill(pid, SIGKILL) == 0)
        (void) waitpid(pid, NULL, __WALL);
    if (good)
        return;
    sh_report(
        self,
        json_pack("{s:o}", "error",
                  value_fmt("The kernel lets no process be traced: %s; see kernel.yama.ptrace_scope and "
                            "filters of system calls.",
                            strerror(code))));
    _exit(1);
}

static void
sh_trace(int out, const void *cookie)
{
    static tracer_t self;
    const struct timespec pause = { SCAN_S, 0 };
    sigset_t child;
    (void) sigemptyset(&child);
    (void) sigaddset(&child, SIGCHLD);
    (void) sigprocmask(SIG_BLOCK, &child, NULL);
    (void) fcntl(out, F_SETFL, O_NONBLOCK);
    self = (tracer_t){ .out = out, .shells = json_array(), .users = json_object(), .told = json_object() };
    AUTO_FREE char *text = root_read(cookie, "/etc/shells");
    for (char *at = text, *line; text != NULL && (line = line_next(&at)) != NULL;)
        if (*line == '/')
            json_array_append_new(self.shells, json_string(str_trim(line)));
    sh_try(&self);
    for (;;) {
        int status;
        pid_t pid;
        sh_scan(&self);
        do
            while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
                sh_heard(&self, pid, status);
        while (sigtimedwait(&child, NULL, &pause) == SIGCHLD);
    }
}

/* ---- in the minion ------------------------------------------------------------------------------------ */

static void *
sh_open(beacon_look_t *look, fail_t *err)
{
    if (geteuid() != 0) /* else programs with more rights, as sudo, would lose them below the traced shells */
        return (void) fail_set(err, -EPERM, "The sh beacon needs a minion that runs as root."), NULL;
    return reports_new("the tracer of shells", sh_trace, look->root, err);
}

static void
sh_take(void *cookie, const char *line, size_t len)
{
    const beacon_look_t *look = cookie;
    fail_auto_t why = FAIL_INIT;
    json_t *event = value_parse(line, len, PIPE_BUF, "sh", &why);
    if (event != NULL)
        json_array_append_new(look->events, event);
}

static int
sh_look(beacon_look_t *look, fail_t *err)
{
    int rc = reports_read(look->own, sh_take, look, err);
    const char *error = value_str(json_array_get(look->events, 0), "error", NULL);
    if (error == NULL)
        return rc;
    (void) fail_set(err, -EPERM, "%s", error);
    json_array_clear(look->events);
    return -EPERM;
}

static int
sh_fd(const void *own)
{
    return reports_fd(own);
}

static void
sh_close(void *own, bool copied)
{
    reports_t *reports = own;
    reports_destroy(&reports, copied);
}

static const beacon_row_t row = {
    .look = sh_look, .edges = true, .open = sh_open, .fd = sh_fd, .close = sh_close
};

PLUGIN(beacon, sh, .doc = "Login shells: fires the commands that are run in them.", .beacon = &row);
