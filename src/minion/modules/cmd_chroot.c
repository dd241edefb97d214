/* cmd_chroot.c - more of execution module `cmd`: commands in another root, with dev, proc and sys there. */
#include "salt/plugin.h"

#include <limits.h>
#include <signal.h>
#include <sys/mount.h>
#include <time.h>

#include "common/base/fs.h"
#include "common/base/procfs.h"
#include "common/base/str.h"
#include "minion/modlib/cmdrows.h"
#include "salt/log.h"

enum {
    KILL_ROUNDS = 6, /* the first half asks, the second does not */
    KILL_PAUSE_MS = 50
};

/* ---- what is mounted there -------------------------------------------------------------------- */

/* Remembers in `mounted` what has to go again. What can't be mounted is logged, as in Salt no reason to stop.
 */
static void
mount_at(const char *root, const char *below, const char *source, const char *type, unsigned long flags,
         json_t *mounted)
{
    AUTO_FREE char *point = fs_join(root, below);

    if (mount(source, point, type, flags, NULL) == 0)
        json_array_append_new(mounted, json_string(point));
    else
        log_warning("cmd.run_chroot: %s can't be mounted at %s: %s", source, point, strerror(errno));
}

/* Folders of the host by their own path. NEW list of what was mounted. */
static json_t *
mount_all(const char *root, json_t *binds)
{
    json_t *mounted = json_array(), *bind;
    size_t i;

    mount_at(root, "dev", "devtmpfs", "devtmpfs", 0, mounted);
    mount_at(root, "proc", "proc", "proc", 0, mounted);
    mount_at(root, "sys", "sysfs", "sysfs", 0, mounted);
    json_array_foreach (binds, i, bind) {
        const char *path = json_is_string(bind) ? json_string_value(bind) : "";
        if (*path != '\0')
            mount_at(root, path + strspn(path, "/"), path, "none", MS_BIND, mounted);
    }
    return mounted;
}

static void
unmount_all(const json_t *mounted)
{
    for (size_t i = json_array_size(mounted); i-- > 0;) {
        const char *point = json_string_value(json_array_get(mounted, i));
        if (umount2(point, UMOUNT_NOFOLLOW) != 0)
            log_error("cmd.run_chroot: %s stays mounted: %s", point, strerror(errno));
    }
}

/* ---- what still runs there -------------------------------------------------------------------- */

/* Signals every process whose root is this one or below it; how many there were. */
static int
signal_below(const char *root, int sig)
{
    size_t n, len = strlen(root);
    AUTO_FREE pid_t *pids = procfs_pids(&n);
    int found = 0;

    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *its = procfs_link(pids[i], "root");
        if (its == NULL || !str_starts(its, root) || (its[len] != '\0' && its[len] != '/'))
            continue;
        found++;
        if (sig != 0)
            (void) kill(pids[i], sig);
    }
    return found;
}

/* The host's own root has nobody who is in the way. */
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

/* The users are those inside. NEW. */
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
    const char *root = realpath(value_str(args, "root", ""), real) ? real : value_str(args, "root", "");
    /* Of every process the root begins with an empty one. */
    if (*root != '/')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "root '%s' is no folder; give its absolute path",
                         root);
    AUTO_FREE char *cmd = chroot_command(args, root);
    json_auto_t *kwargs = json_pack("{s:s}", "cmd", cmd);
    json_auto_t *mounted = mount_all(root, value_get(args, "binds"));
    json_t *ret = NULL;

    for (size_t i = 0; i < NELEMS(passed); i++)
        json_object_set(kwargs, passed[i], value_get(args, passed[i]));
    int rc = ctx_call(ctx, "cmd.run_all", NULL, kwargs, &ret, err);
    end_below(root);
    unmount_all(mounted);
    if (rc == 0 && value_bool(args, "hide_output", false)) {
        json_object_set_new(ret, "stdout", json_string(""));
        json_object_set_new(ret, "stderr", json_string(""));
    }
    *ret_value = ret;
    return rc;
}

static const arg_t chroot_args[] = {
    { "root", ARG_STR, ARG_REQUIRED, "The folder that is the command's root" },
    ROWS_WHO,
    { "python_shell", ARG_BOOL, "true", "False: chroot itself is started without a shell" },
    { "binds", ARG_LIST, "null", "Folders of the host that are mounted there at the same path" },
    ROWS_ENV,
    ROW_RSTRIP,
    ROW_UMASK,
    ROW_ENCODING,
    { "output_loglevel", ARG_STR, "\"quiet\"", "Log level of the output; quiet: never" },
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
