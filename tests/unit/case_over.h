/* case_over.h - files and folders of a case that lie over the machine's, for functions that read and write paths of the
 * system: {"over": {"/etc": "{T}/etc", "/proc/swaps": "{T}/swaps",
 * "/usr/lib": "+{T}/lib"}}; with "+" the folder's files stand beside the machine's. The case runs in a process with mounts and a host
 * name of its own, so that the machine keeps what it has. {"net": true}: a network of its own too, empty, for programs that
 * change the kernel's: `setup` runs in it. Where the kernel gives none, such cases are left out, which is said.
 */
#ifndef UNIT_CASE_OVER_H
#define UNIT_CASE_OVER_H

#include "unit/unit.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "salt/value.h"

static inline bool
case_over_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && fs_write_all(fd, text, strlen(text)) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

/* True for a case that wants a process of its own. */
static inline bool
case_over_wanted(const json_t *spec)
{
    return value_get(spec, "over") != NULL || value_bool(spec, "net", false);
}

/* Gives this process mounts and a host name of its own, and a network as the case wants; false where it may not. */
static inline bool
case_over_apart(const json_t *spec)
{
    int net = value_bool(spec, "net", false) ? CLONE_NEWNET : 0;
    uid_t uid = geteuid();
    gid_t gid = getegid();

    if (uid != 0) {
        AUTO_FREE char *users = xasprintf("0 %u 1", uid), *groups = xasprintf("0 %u 1", gid);
        if (unshare(CLONE_NEWUSER) != 0 || !case_over_put("/proc/self/setgroups", "deny") ||
            !case_over_put("/proc/self/uid_map", users) || !case_over_put("/proc/self/gid_map", groups))
            return false;
    }
    return unshare(CLONE_NEWNS | CLONE_NEWUTS | net) == 0 &&
           mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Lays what `setup` has made over the machine's. */
static inline bool
case_over_lay(const json_t *spec)
{
    const char *at;
    json_t *from;

    json_object_foreach (value_get(spec, "over"), at, from) {
        const char *what = json_string_value(from);
        AUTO_FREE char *beside = *what == '+' ? xasprintf("lowerdir=%s:%s", what + 1, at) : NULL;
        if (mount(beside != NULL ? "overlay" : what, at, beside != NULL ? "overlay" : NULL,
                  beside != NULL ? MS_RDONLY : MS_BIND, beside) != 0) {
            printf("# %s over %s: %s\n", what, at, strerror(errno));
            return false;
        }
    }
    return true;
}

/* Takes it away again, for the next folder of the same process. */
static inline void
case_over_lift(const json_t *spec)
{
    const char *at;
    json_t *from;

    json_object_foreach (value_get(spec, "over"), at, from)
        (void) umount2(at, MNT_DETACH);
}

/* Asked once of each kind, in a process that ends. */
static inline bool
case_over_possible(const json_t *spec)
{
    static int known[2] = { -1, -1 };
    int status, *possible = &known[value_bool(spec, "net", false)];

    if (*possible >= 0)
        return *possible;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(case_over_apart(spec) ? 0 : 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *possible = status == 0;
    if (!*possible)
        print_message(
            "skipped: the cases with files over the machine's, or a network of their own: this kernel "
            "gives no such namespace here\n");
    return *possible;
}

#endif
