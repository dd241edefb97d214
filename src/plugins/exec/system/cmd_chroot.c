/* cmd_chroot.c - more of execution module `cmd`: commands in another root, with dev, proc and sys mounted
 * there. Mount points are resolved beneath the open root without following links, held open, and unmounted
 * through these descriptors, because the tree may belong to others. */
#include "salt/plugin.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "common/base/beneath.h"
#include "common/base/fs.h"
#include "common/host/procfs.h"
#include "common/base/str.h"
#include "plugins/lib/file/fileops.h"
#include "plugins/lib/call/cmdrows.h"
#include "salt/log.h"

enum {
    KILL_ROUNDS = 6, /* the first half asks, the second does not */
    KILL_PAUSE_MS = 50
};

/* ---- what is mounted there -------------------------------------------------------------------- */

/* A folder, or a file for a bind, held open: what is in the tree belongs to others, who may give its names
 * to something else. */
typedef struct point {
    char *path; /* owned: for words */
    int fd;     /* O_PATH: what it is mounted on */
} point_t;

typedef struct mounts {
    const char *root; /* BORROWED */
    int fd;           /* O_PATH: the root; or why there is none */
    point_t *points;  /* owned: where something is mounted */
    size_t n;
} mounts_t;

/* Mounts `source` at a place below the root. A failed mount is logged and the call goes on, as in Salt: the
 * command may do without it. A link as mount point is refused, as its owner would choose which folder of
 * the host is hidden. 0, or negative with *err. */
static int
mount_at(mounts_t *self, const char *below, const char *source, const char *type, unsigned long flags,
         fail_t *err)
{
    AUTO_FREE char *path = fs_join(self->root, below);
    AUTO_FD fd = self->fd < 0 ? self->fd : beneath_open(self->fd, below, BENEATH_NO_LINKS, O_PATH, 0);
    /* The descriptor's own path: no name is looked up again between the check and mount(2). */
    AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", fd);
    int rc = fd < 0 ? fd : mount(source, at, type, flags, NULL) != 0 ? -errno : 0;

    if (fd == -ELOOP)
        return fail_kind(err, FAIL_COMMAND, fd,
                         "%s leads over a link, and nothing is mounted over one: put a folder in its place",
                         path);
    if (rc < 0) {
        log_warning("cmd.run_chroot: %s can't be mounted at %s: %s", source, path, strerror(-rc));
        return 0;
    }
    self->points = xrealloc(self->points, (self->n + 1) * sizeof(*self->points));
    self->points[self->n++] = (point_t){ STEAL(path), fd };
    fd = -1;
    return 0;
}

/* Unmounts in the reverse order, and closes the root. Nothing is unmounted lazily: a mount that is still
 * used stays, and the log names it. */
static void
unmount_all(mounts_t *self)
{
    while (self->n > 0) {
        point_t *point = &self->points[--self->n];
        AUTO_FREE char *at = xasprintf("/proc/self/fd/%d", point->fd);
        if (umount2(at, 0) != 0)
            log_error("cmd.run_chroot: %s stays mounted: %s", point->path, strerror(errno));
        (void) close(point->fd);
        free(point->path);
    }
    free(self->points);
    if (self->fd >= 0)
        (void) close(self->fd);
}

/* ---- what still runs there -------------------------------------------------------------------- */

/* Signals every process whose root is this one or below it (0: counts them). Number of processes; a failure
 * to list them counts as one. */
static int
signal_below(const char *root, int sig)
{
    size_t n, len = strlen(root);
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE pid_t *pids = procfs_pids(&n, &why);
    int found = 0;

    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *its = procfs_link(pids[i], "root", &why);
        if (its == NULL || !str_starts(its, root) || (its[len] != '\0' && its[len] != '/'))
            continue;
        found++;
        if (sig != 0)
            (void) kill(pids[i], sig);
    }
    if (why.code != 0)
        log_warning("what runs in %s can't be known: %s", root, fail_text(&why));
    return found + (why.code != 0);
}

/* Ends processes that remain, which would keep the mounts busy: SIGTERM first, then SIGKILL. Does nothing for
 * "/", below which all processes of the host are. */
static void
end_below(const char *root)
{
    struct timespec pause = { .tv_nsec = KILL_PAUSE_MS * 1000000L };

    if (strcmp(root, "/") == 0)
        return;
    for (int i = 0; i < KILL_ROUNDS; i++) {
        if (signal_below(root, i < KILL_ROUNDS / 2 ? SIGTERM : SIGKILL) == 0)
            return;
        (void) nanosleep(&pause, NULL);
    }
    if (signal_below(root, 0) > 0)
        log_error("Processes running in chroot could not be killed, filesystem will remain mounted");
}

/* ---- the function ------------------------------------------------------------------------------ */

/* A list's words with spaces between, as Salt joins them. NEW. */
static char *
command_text(const json_t *cmd)
{
    buf_auto_t text = BUF_INIT;
    size_t i;
    json_t *word;

    if (!json_is_array(cmd))
        return value_pystr(cmd);
    json_array_foreach (cmd, i, word) {
        AUTO_FREE char *shown = value_pystr(word);
        buf_printf(&text, "%s%s", i > 0 ? " " : "", shown);
    }
    return xstrdup(buf_str(&text));
}

/* The command line of chroot(1), which looks users and groups up inside the root: the host's numbers may be
 * others. NEW. */
static char *
chroot_command(const json_t *args, const char *root)
{
    const char *runas = value_str(args, "runas", ""), *group = value_str(args, "group", "");
    AUTO_FREE char *bash = fs_join(root, "bin/bash"), *text = command_text(value_get(args, "cmd"));
    AUTO_FREE char *quoted = str_shell_quote(text), *where = str_shell_quote(root);
    AUTO_FREE char *who = xasprintf("--userspec %s:%s", runas, group);
    AUTO_FREE char *quoted_who = str_shell_quote(who + strlen("--userspec "));

    return xasprintf("chroot %s%s %s %s -c %s", *runas != '\0' ? "--userspec " : "",
                     *runas != '\0' ? quoted_who : "", where, fs_exists(bash) ? "/bin/bash" : "/bin/sh",
                     quoted);
}

/* Mounts dev, proc, sys and the binds, runs the command, ends processes that remain below the root, and
 * unmounts in every case. */
static int
cmd_run_chroot(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const passed[] = {
        "cwd",
        "stdin",
        "shell",
        "python_shell",
        "env",
        "clean_env",
        "template",
        "rstrip",
        "umask",
        "output_encoding",
        "log_callback",
        "timeout",
        "output_loglevel",
        "reset_system_locale",
        "ignore_retcode",
        "saltenv",
        "use_vt",
        "bg",
        "success_retcodes",
        "success_stdout",
        "success_stderr",
    };
    char real[PATH_MAX];
    const char *root = realpath(value_str(args, "root", ""), real) != NULL ? real
                                                                           : value_str(args, "root", "");
    /* An empty root would be a prefix of every process's root, so that all processes would be killed. */
    if (*root != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "root '%s' is not a folder; give its absolute path",
                         root);
    AUTO_FREE char *cmd = chroot_command(args, root);
    json_auto_t *kwargs = json_pack("{s:s}", "cmd", cmd);
    mounts_t mounts = { .root = root, .fd = -1 };
    json_t *ret = NULL;

    for (size_t i = 0; i < NELEMS(passed); i++)
        /* runas and group are chroot's, not those of cmd.run_all. */
        json_object_set(kwargs, passed[i], value_get(args, passed[i]));

    /* Mounts in order; on failure the caller still calls unmount_all for those that succeeded. */
    json_t *binds = value_get(args, "binds");
    json_t *bind;
    size_t i;
    mounts.fd = open(mounts.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (mounts.fd < 0)
        mounts.fd = -errno;
    int rc = mount_at(&mounts, "dev", "devtmpfs", "devtmpfs", 0, err);
    if (rc == 0)
        rc = mount_at(&mounts, "proc", "proc", "proc", 0, err);
    if (rc == 0)
        rc = mount_at(&mounts, "sys", "sysfs", "sysfs", 0, err);
    json_array_foreach (binds, i, bind) {
        const char *path = json_is_string(bind) ? json_string_value(bind) : "";
        if (rc == 0 && *path != '\0') {
            /* A folder of the host, by its own path. */
            AUTO_FREE char *rooted = xasprintf("/%s", path), *plain = fop_normpath(rooted);
            rc = mount_at(&mounts, plain + strspn(plain, "/"), path, "none", MS_BIND, err);
        }
    }

    if (rc == 0) {
        rc = ctx_call(ctx, "cmd.run_all", NULL, kwargs, &ret, err);
        /* Before the mounts go: a process that remains would keep them busy. */
        end_below(root);
    }
    unmount_all(&mounts);
    if (rc == 0 && value_bool(args, "hide_output", false)) {
        json_object_set_new(ret, "stdout", json_string(""));
        json_object_set_new(ret, "stderr", json_string(""));
    }
    *ret_value = ret;
    return rc;
}

static const arg_t chroot_args[] = {
    ARG("root", ARG_STR, ARG_REQUIRED, "The folder that is the command's root"),
    ROWS_WHO,
    ARG("python_shell", ARG_BOOL, "true", "False: chroot itself is started without a shell"),
    ARG("binds", ARG_LIST, "null", "Folders of the host that are mounted there at the same path"),
    ROWS_ENV,
    ROW_RSTRIP,
    ROW_UMASK,
    ROW_ENCODING,
    ARG("output_loglevel", ARG_STR, "\"quiet\"", "Log level of the output; quiet: never"),
    ROW_CALLBACK,
    ROW_HIDE,
    ROWS_LIMIT,
    ROW_VT,
    ROW_BG,
    ROWS_SUCCESS,
    ROW_KWARGS,
    ARGS_END,
};

static const func_t funcs[] = {
    { "run_chroot", cmd_run_chroot, chroot_args, FN_RAW_KWARGS,
      "Run a command with another folder as its root, as cmd.run_all. While it runs, dev, proc and sys are "
      "mounted there; what it leaves running is ended." CLI_EXAMPLE(
          "salt '*' cmd.run_chroot /var/lib/lxc/container_name/rootfs 'sh /tmp/bootstrap.sh'") },
};

PLUGIN(exec, cmd_chroot, .provides = "cmd", .doc = "Commands in another root", FUNCS(funcs));
