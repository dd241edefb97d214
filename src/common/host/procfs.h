/* procfs.h - read /proc's processes, mounts and counters into plain values.
 *
 * Layer      common/host
 * Threads    any
 * Errors     a process that has gone, or may not be seen, is left out: they come and go. What the system
 *            lacks to read it (fs_is_passing) is set in *err, which stays as it is otherwise: look at
 *            err->code after a sweep
 * Tests      tests/unit/common/test_procfs.c
 */
#ifndef COMMON_HOST_PROCFS_H
#define COMMON_HOST_PROCFS_H

#include <sys/types.h>

#include "salt/base.h"

/* The ids of all processes, ascending. NEW array; free() it. NULL with *err and *ret_n 0 when /proc can't
 * be read. */
pid_t *procfs_pids(size_t *ret_n, fail_t *err);

enum { PROCFS_NAME = 64 }; /* bytes of a process' name, with its end */

typedef struct procfs_proc {
    pid_t pid, ppid;
    char name[PROCFS_NAME]; /* completed from the command line where the kernel cut it */
    char state;             /* R, S, D, ... */
    int tty;
    unsigned long long ticks_user, ticks_system, ticks_children_user, ticks_children_system;
    unsigned long long start, iowait; /* ticks */
    long nice, threads;
    int cpu;
    uid_t uid[3]; /* real, effective, saved */
    gid_t gid[3];
} procfs_proc_t;

/* 1, 0 when there is no such process, or negative with *err. */
int procfs_proc(pid_t pid, procfs_proc_t *out, fail_t *err);
/* The same of its name alone, which takes half the time. */
int procfs_name(pid_t pid, char name[PROCFS_NAME], fail_t *err);
/* The parent of every process. NEW array, ascending by pid; free() it. A process that ended meanwhile has
 * parent 0, and so has one whose parent can't be read, with *err. NULL as procfs_pids. */
typedef struct procfs_kin {
    pid_t pid, parent;
} procfs_kin_t;
procfs_kin_t *procfs_kin(size_t *ret_n, fail_t *err);
/* The parent of one of them; 0: it is not among them. */
pid_t procfs_parent(const procfs_kin_t *kin, size_t n, pid_t pid);
/* psutil's word for a state: "sleeping", "zombie", ... */
const char *procfs_state(char state);
/* NEW list of the words of its command line; empty when it has none. */
json_t *procfs_cmdline(pid_t pid, fail_t *err);
/* NEW text of /proc/PID/NAME, "" when it can't be read. */
char *procfs_text(pid_t pid, const char *name, fail_t *err);
/* NEW target of the link /proc/PID/NAME, or NULL. */
char *procfs_link(pid_t pid, const char *name, fail_t *err);
/* The names in a folder of the process, as fs_names; NULL when it can't be read. NEW. */
char **procfs_list(pid_t pid, const char *name, fail_t *err);

/* Seconds since 1970 when the host booted, 0 with *err; ticks per second. */
double procfs_boot_time(fail_t *err);
double procfs_hz(void);

/* A line of /proc/self/mounts, escapes undone. */
typedef struct procfs_mount {
    char *device, *point, *type, *options; /* owned */
} procfs_mount_t;
/* NEW array; procfs_mounts_free frees it. NULL with *err and *ret_n 0 when they can't be read. */
procfs_mount_t *procfs_mounts(size_t *ret_n, fail_t *err);
void procfs_mounts_free(procfs_mount_t *mounts, size_t n);

/* The lines of a file under /proc. NEW array that ends with NULL; empty when there is no such file, and with
 * *err when it can't be read. */
char **procfs_lines(const char *path, fail_t *err);
/* Return `value`, which is TAKEN, or the failure that *err has collected while it was made. */
int procfs_answer(json_t *value, json_t **ret_value, fail_t *err);
/* Digits as an integer, other numbers as a float, the rest as text. NEW. */
json_t *procfs_number(const char *word);
/* The number behind "NAME:" in lines such as /proc/meminfo's; 0 when absent. */
json_int_t procfs_field(const char *text, const char *name);

#endif
