/* procattr.c - attributes of one process in psutil's shapes, one function per attribute, from /proc. An
 * attribute that may not be read is None; a process that ends meanwhile is not an error. Named tuples are
 * lists, as they are when they reach the master. */
#include "plugins/lib/system/procattr.h"

#include <math.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"
#include "plugins/lib/system/procattr_int.h"

/* /proc counts times in clock ticks. */
static double
from_ticks(unsigned long long ticks)
{
    return (double) ticks / procfs_hz();
}

/* Start time in seconds since the epoch, in hundredths as psutil rounds. psutil adds the ticks to the boot
 * time of /proc/stat, and two readings of it must be equal. */
double
procattr_created(const procfs_proc_t *p, fail_t *err)
{
    double v = procfs_boot_time(err) + from_ticks(p->start);
    double unit = 0.01;
    return round(v / unit) * unit;
}

/* The name of the real user, or the number as a text where it has none. NEW. */
json_t *
procattr_user(const procfs_proc_t *p)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_uid(&space, p->uid[0]);

    return pw != NULL ? value_utf8(pw->pw_name, strlen(pw->pw_name)) : value_fmt("%u", p->uid[0]);
}

/* Columns of statm are pages. NEW. */
json_t *
procattr_memory(pid_t pid, fail_t *err)
{
    static const char *const names[] = { "vms", "rss", "shared", "text", "lib", "data", "dirty" };
    AUTO_FREE char *text = procfs_text(pid, "statm", err);
    char **words = str_split(text, " \n", true);
    json_int_t bytes[NELEMS(names)] = { 0 };

    for (size_t i = 0; i < NELEMS(names) && words[i] != NULL; i++)
        bytes[i] = strtoll(words[i], NULL, 10) * sysconf(_SC_PAGESIZE);
    strv_free(words);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "rss", bytes[1], "vms", bytes[0], "shared",
                     bytes[2], "text", bytes[3], "lib", bytes[4], "data", bytes[5], "dirty", bytes[6]);
}

/* Only iowait is Linux's own among psutil's names. NEW. */
json_t *
procattr_times(const procfs_proc_t *p)
{
    return json_pack("{s:f, s:f, s:f, s:f, s:f}", "user", from_ticks(p->ticks_user), "system",
                     from_ticks(p->ticks_system), "children_user", from_ticks(p->ticks_children_user),
                     "children_system", from_ticks(p->ticks_children_system), "iowait",
                     from_ticks(p->iowait));
}

/* Python's named tuples reach the master as lists. TAKES the dictionary, whose order is that of the tuple. */
static json_t *
values_of(json_t *object)
{
    json_t *list = json_array(), *v;
    const char *key;

    json_object_foreach (object, key, v) {
        json_array_append(list, v);
    }
    json_decref(object);
    return list;
}

static json_t *
attr_cmdline(const procfs_proc_t *p, fail_t *err)
{
    return procfs_cmdline(p->pid, err);
}

/* Empty when the kernel does not say. Some kernels and sandboxes refuse the question. */
static json_t *
attr_cpu_affinity(const procfs_proc_t *p, fail_t *err)
{
    cpu_set_t set;
    json_t *list = json_array();

    if (sched_getaffinity(p->pid, sizeof(set), &set) == 0) {
        for (int i = 0; i < CPU_SETSIZE; i++) {
            if (CPU_ISSET(i, &set))
                json_array_append_new(list, json_integer(i));
        }
    }
    return list;
}

static json_t *
attr_cpu_num(const procfs_proc_t *p, fail_t *err)
{
    return json_integer(p->cpu);
}

static json_t *
attr_cpu_percent(const procfs_proc_t *p, fail_t *err)
{
    return json_real(0.0); /* the first question about a process has nothing to compare with */
}

static json_t *
attr_cpu_times(const procfs_proc_t *p, fail_t *err)
{
    return values_of(procattr_times(p));
}

static json_t *
attr_create_time(const procfs_proc_t *p, fail_t *err)
{
    return json_real(procattr_created(p, err));
}

/* The target of a link of the process's folder; None where it may not be read. NEW. */
static json_t *
link_value(pid_t pid, const char *name, fail_t *err)
{
    AUTO_FREE char *target = procfs_link(pid, name, err);

    return target != NULL ? value_utf8(target, strlen(target)) : json_null();
}

static json_t *
attr_cwd(const procfs_proc_t *p, fail_t *err)
{
    return link_value(p->pid, "cwd", err);
}

/* "" for a process of the kernel, which runs no file; psutil has it so. */
static json_t *
attr_exe(const procfs_proc_t *p, fail_t *err)
{
    json_t *v = link_value(p->pid, "exe", err);

    return json_is_null(v) && p->pid != 0 ? json_string("") : v;
}

/* As the process was started: what it has set since does not show. Variables stand one after the other, each
 * with a NUL behind it. */
static json_t *
attr_environ(const procfs_proc_t *p, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/environ", (int) p->pid);
    buf_auto_t text = BUF_INIT;
    json_t *env = json_object();
    int rc = fs_read(path, LIMIT_FILE_READ, &text, NULL);

    if (fs_is_passing(rc))
        fs_fail(err, rc, "read", path);
    for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
        const char *row = text.data + at, *sep = strchr(row, '=');
        AUTO_FREE char *name = sep != NULL ? xstrndup(row, (size_t) (sep - row)) : NULL;
        if (name != NULL)
            json_object_set_new(env, name, value_utf8(sep + 1, strlen(sep + 1)));
    }
    return env;
}

/* Real, effective and saved. */
static json_t *
attr_gids(const procfs_proc_t *p, fail_t *err)
{
    return json_pack("[I, I, I]", (json_int_t) p->gid[0], (json_int_t) p->gid[1], (json_int_t) p->gid[2]);
}

/* Real, effective and saved. */
static json_t *
attr_uids(const procfs_proc_t *p, fail_t *err)
{
    return json_pack("[I, I, I]", (json_int_t) p->uid[0], (json_int_t) p->uid[1], (json_int_t) p->uid[2]);
}

/* In psutil's order: calls first, then bytes of the disk, then bytes of all calls. */
static json_t *
attr_io_counters(const procfs_proc_t *p, fail_t *err)
{
    AUTO_FREE char *text = procfs_text(p->pid, "io", err);

    if (*text == '\0')
        return json_null();
    return json_pack("[I, I, I, I, I, I]", procfs_field(text, "syscr"), procfs_field(text, "syscw"),
                     procfs_field(text, "read_bytes"), procfs_field(text, "write_bytes"),
                     procfs_field(text, "rchar"), procfs_field(text, "wchar"));
}

static json_t *
attr_memory_info(const procfs_proc_t *p, fail_t *err)
{
    return values_of(procattr_memory(p->pid, err));
}

/* Adds uss, pss and swap from smaps_rollup; None where that may not be read. The file sums up all mappings,
 * and its numbers are kB. */
static json_t *
attr_memory_full_info(const procfs_proc_t *p, fail_t *err)
{
    AUTO_FREE char *text = procfs_text(p->pid, "smaps_rollup", err);
    json_t *list = attr_memory_info(p, err);
    json_int_t unique = procfs_field(text, "Private_Clean") + procfs_field(text, "Private_Dirty") +
                        procfs_field(text, "Private_Hugetlb");

    if (*text == '\0') {
        json_decref(list);
        return json_null();
    }
    json_array_append_new(list, json_integer(unique * 1024));
    json_array_append_new(list, json_integer(procfs_field(text, "Pss") * 1024));
    json_array_append_new(list, json_integer(procfs_field(text, "Swap") * 1024));
    return list;
}

/* The share of all memory of the machine. */
static json_t *
attr_memory_percent(const procfs_proc_t *p, fail_t *err)
{
    json_auto_t *memory = procattr_memory(p->pid, err);
    struct sysinfo info;

    if (sysinfo(&info) != 0)
        return json_null();
    return json_real((double) value_int(memory, "rss", 0) / ((double) info.totalram * info.mem_unit) * 100);
}

static json_t *
attr_name(const procfs_proc_t *p, fail_t *err)
{
    return value_utf8(p->name, strlen(p->name));
}

static json_t *
attr_nice(const procfs_proc_t *p, fail_t *err)
{
    return json_integer(p->nice);
}

/* Switches that the process made by waiting, and those that the kernel made. */
static json_t *
attr_num_ctx_switches(const procfs_proc_t *p, fail_t *err)
{
    AUTO_FREE char *text = procfs_text(p->pid, "status", err);

    return json_pack("[I, I]", procfs_field(text, "voluntary_ctxt_switches"),
                     procfs_field(text, "nonvoluntary_ctxt_switches"));
}

/* None where the folder may not be read, which is another user's. */
static json_t *
attr_num_fds(const procfs_proc_t *p, fail_t *err)
{
    char **fds = procfs_list(p->pid, "fd", err);
    json_t *n = fds != NULL ? json_integer((json_int_t) strv_len(fds)) : json_null();

    strv_free(fds);
    return n;
}

static json_t *
attr_num_threads(const procfs_proc_t *p, fail_t *err)
{
    return json_integer(p->threads);
}

/* [path, fd] of the regular files it has open. */
static json_t *
attr_open_files(const procfs_proc_t *p, fail_t *err)
{
    char **fds = procfs_list(p->pid, "fd", err);
    json_t *list = json_array();

    for (size_t i = 0; fds != NULL && fds[i] != NULL; i++) {
        AUTO_FREE char *name = xasprintf("fd/%s", fds[i]);
        AUTO_FREE char *target = procfs_link(p->pid, name, err);
        struct stat st;
        if (target == NULL || *target != '/' || str_starts(target, "/dev/"))
            continue;
        /* The target is a file's name while the file still has one; a removed file's ends in " (deleted)". */
        int rc = stat(target, &st) == 0 ? 0 : -errno;
        if (rc == 0 && !S_ISDIR(st.st_mode))
            json_array_append_new(list, json_pack("[o, i]", value_utf8(target, strlen(target)),
                                                  (int) strtol(fds[i], NULL, 10)));
        else if (rc < 0 && fs_is_passing(rc))
            fs_fail(err, rc, "look at", target);
    }
    strv_free(fds);
    return list;
}

static json_t *
attr_pid(const procfs_proc_t *p, fail_t *err)
{
    return json_integer(p->pid);
}

static json_t *
attr_ppid(const procfs_proc_t *p, fail_t *err)
{
    return json_integer(p->ppid);
}

static json_t *
attr_status(const procfs_proc_t *p, fail_t *err)
{
    return json_string(procfs_state(p->state));
}

/* Device numbers 136-143 are pseudo terminals, 4 consoles (below 64) and serial lines. */
static json_t *
attr_terminal(const procfs_proc_t *p, fail_t *err)
{
    unsigned maj = major((dev_t) p->tty), min = minor((dev_t) p->tty);

    if (p->tty == 0)
        return json_null();
    return maj >= 136 && maj <= 143 ? value_fmt("/dev/pts/%u", (maj - 136) * 256 + min)
           : maj == 4 && min < 64   ? value_fmt("/dev/tty%u", min)
                                    : value_fmt("/dev/ttyS%u", min >= 64 ? min - 64 : min);
}

/* [id, user time, system time] of each thread. */
static json_t *
attr_threads(const procfs_proc_t *p, fail_t *err)
{
    char **tasks = procfs_list(p->pid, "task", err);
    json_t *list = json_array();

    for (size_t i = 0; tasks != NULL && tasks[i] != NULL; i++) {
        AUTO_FREE char *name = xasprintf("task/%s/stat", tasks[i]);
        AUTO_FREE char *text = procfs_text(p->pid, name, err);
        const char *rest = strrchr(text, ')');
        unsigned long long user, system;
        if (rest != NULL &&
            sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) == 2)
            json_array_append_new(list, json_pack("[i, f, f]", (int) strtol(tasks[i], NULL, 10),
                                                  from_ticks(user), from_ticks(system)));
    }
    strv_free(tasks);
    return list;
}

static json_t *
attr_username(const procfs_proc_t *p, fail_t *err)
{
    return procattr_user(p);
}

static const struct attr_row {
    const char *name;
    attr_fn *get;
} attr_rows[] = {
    { "cmdline", attr_cmdline },
    { "connections", attr_connections },
    { "cpu_affinity", attr_cpu_affinity },
    { "cpu_num", attr_cpu_num },
    { "cpu_percent", attr_cpu_percent },
    { "cpu_times", attr_cpu_times },
    { "create_time", attr_create_time },
    { "cwd", attr_cwd },
    { "environ", attr_environ },
    { "exe", attr_exe },
    { "gids", attr_gids },
    { "io_counters", attr_io_counters },
    { "ionice", attr_ionice },
    { "memory_full_info", attr_memory_full_info },
    { "memory_info", attr_memory_info },
    { "memory_maps", attr_memory_maps },
    { "memory_percent", attr_memory_percent },
    { "name", attr_name },
    { "nice", attr_nice },
    { "num_ctx_switches", attr_num_ctx_switches },
    { "num_fds", attr_num_fds },
    { "num_threads", attr_num_threads },
    { "open_files", attr_open_files },
    { "pid", attr_pid },
    { "ppid", attr_ppid },
    { "status", attr_status },
    { "terminal", attr_terminal },
    { "threads", attr_threads },
    { "uids", attr_uids },
    { "username", attr_username },
};

static int
add_one(const procfs_proc_t *p, const struct attr_row *row, json_t *out, fail_t *err)
{
    json_t *value = row->get(p, err);

    json_object_set_new(out, row->name, value);
    return err->code;
}

/* Adds the named attributes, or all, to `out`. -EINVAL for an unknown name. */
int
procattr_add(const procfs_proc_t *p, json_t *names, json_t *out, fail_t *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !value_truthy(names) && i < NELEMS(attr_rows); i++)
        rc = add_one(p, &attr_rows[i], out, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(names); i++) {
        AUTO_FREE char *name = value_pystr(json_array_get(names, i));
        const struct attr_row *row = NULL;
        for (size_t k = 0; row == NULL && k < NELEMS(attr_rows); k++)
            row = str_eq(attr_rows[k].name, name) ? &attr_rows[k] : NULL;
        if (row == NULL)
            return fail_set(err, -EINVAL, "invalid attr name '%s'", name);
        rc = add_one(p, row, out, err);
    }
    return rc;
}
