/* procfs.h - what /proc tells about processes, mounts and counters, read once into plain values.
 *
 * Layer      common/base
 * Threads    any
 * Errors     a process that can't be read is left out: they come and go
 * Tests      tests/unit/common/test_procfs.c
 */
#ifndef COMMON_BASE_PROCFS_H
#define COMMON_BASE_PROCFS_H

#include <sys/types.h>

#include "salt/base.h"

/* The ids of all processes, ascending. NEW array; free() it. NULL with *err and *ret_n 0 when /proc can't be read. */
pid_t *procfs_pids(size_t *ret_n, fail_t *err);

typedef struct procfs_proc {
    pid_t pid, ppid;
    char name[64]; /* completed from the command line where the kernel cut it */
    char state;    /* R, S, D, ... */
    int tty;
    unsigned long long ticks_user, ticks_system, ticks_children_user, ticks_children_system;
    unsigned long long start, iowait; /* ticks */
    long nice, threads;
    int cpu;
    uid_t uid[3]; /* real, effective, saved */
    gid_t gid[3];
} procfs_proc_t;

/* False when there is no such process. */
bool procfs_proc(pid_t pid, procfs_proc_t *out);
/* Who started whom. NEW array of all processes, ascending; free() it. A process that goes meanwhile has parent 0. NULL as
 * procfs_pids. */
typedef struct procfs_kin {
    pid_t pid, parent;
} procfs_kin_t;
procfs_kin_t *procfs_kin(size_t *ret_n, fail_t *err);
/* The parent of one of them; 0: it is not among them. */
pid_t procfs_parent(const procfs_kin_t *kin, size_t n, pid_t pid);
/* psutil's word for a state: "sleeping", "zombie", ... */
const char *procfs_state(char state);
/* NEW list of the words of its command line; empty when it has none. */
json_t *procfs_cmdline(pid_t pid);
/* NEW text of /proc/PID/NAME, "" when it can't be read. */
char *procfs_text(pid_t pid, const char *name);
/* NEW target of the link /proc/PID/NAME, or NULL. */
char *procfs_link(pid_t pid, const char *name);

/* Seconds since 1970 when the host booted; ticks per second. */
double procfs_boot_time(void);
double procfs_hz(void);

/* One line of /proc/self/mounts, escapes undone. */
typedef struct procfs_mount {
    char *device, *point, *type, *options; /* owned */
} procfs_mount_t;
/* NEW array; procfs_mounts_free frees it. NULL with *err and *ret_n 0 when they can't be read. */
procfs_mount_t *procfs_mounts(size_t *ret_n, fail_t *err);
void procfs_mounts_free(procfs_mount_t *mounts, size_t n);

/* The lines of a file under /proc. NEW array that ends with NULL; empty when it can't be read. */
char **procfs_lines(const char *path);
/* Digits as an integer, other numbers as a float, the rest as text. NEW. */
json_t *procfs_number(const char *word);
/* The number behind "NAME:" in lines such as /proc/meminfo's; 0 when there is none. */
json_int_t procfs_field(const char *text, const char *name);

#endif
