/* ps.c - execution module `ps`: processes, memory, disks and counters in psutil's shapes, read from /proc
 * (proc(5)) instead of through psutil. A process that ends while it is read is skipped; every other failure
 * is an error. Names of members, and what they count, are those of psutil for Linux, so that scripts over
 * Salt's module go on working; netstat, ss, lsof and psaux show lines of these programs. */
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utmpx.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/procfs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/match/regex.h"
#include "plugins/lib/system/procattr.h"
#include "salt/plugin.h"

/* Bytes, whatever the device's own sectors are: the kernel counts in these. */
enum { SECTOR = 512 };

/* As psutil: one digit behind the point, 0.0 of nothing. */
static double
percent(double part, double whole)
{
    return whole > 0 ? round(part / whole * 1000) / 10 : 0.0;
}

/* ---- lists of processes ---------------------------------------------------------------------- */

/* Gets one process, with the caller's `cookie`; a negative return, with *err, ends the walk and is its
 * answer. */
typedef int visit_fn(const procfs_proc_t *p, void *cookie, fail_t *err);

/* Visits all processes by ascending pid; those that have ended meanwhile are left out. */
static int
each_process(visit_fn *visit, void *cookie, fail_t *err)
{
    size_t n = 0;
    pid_t *pids = procfs_pids(&n, err);
    int rc = pids != NULL ? 0 : err->code;

    for (size_t i = 0; rc >= 0 && i < n; i++) {
        procfs_proc_t p;
        rc = procfs_proc(pids[i], &p, err);
        if (rc > 0)
            rc = visit(&p, cookie, err);
    }
    free(pids);
    return rc < 0 ? rc : 0;
}

/* `attrs`: a name or a list of names of psutil's as_dict(); None is all of them. A process that is not
 * there is an error, also for 0 and negative numbers. */
static int
ps_proc_info(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t pid = value_int(args, "pid", 0);
    json_t *names = value_get(args, "attrs");
    json_auto_t *one = json_is_string(names) ? json_pack("[O]", names) : json_incref(names);
    json_auto_t *out = json_object();
    procfs_proc_t p;

    int rc = pid > 0 ? procfs_proc((pid_t) pid, &p, err) : 0;
    if (rc == 0)
        return fail_kind(err, FAIL_COMMAND, -ESRCH, "process PID not found (pid=%" JSON_INTEGER_FORMAT ")",
                         pid);
    if (rc > 0)
        rc = procattr_add(&p, one, out, err);
    if (rc == 0)
        *ret_value = json_incref(out);
    return rc;
}

static int
ps_get_pid_list(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t n = 0;
    pid_t *pids = procfs_pids(&n, err);

    if (pids == NULL)
        return err->code;
    *ret_value = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(*ret_value, json_integer(pids[i]));
    free(pids);
    return 0;
}

/* Criteria by which a pattern selects processes, and the numbers of those that it has found. */
typedef struct filter {
    const char *pattern;
    rx_t *rx; /* NULL: plain text */
    json_t *user;
    bool full;
    json_t *found;
    int signal; /* 0: only list */
} filter_t;

/* Matches one process and, for pkill, signals it. A process that has gone before the signal is not counted.
 * A name that the kernel cut at 15 bytes has been completed (procfs.h); `full` looks at the words of the
 * command line with spaces between. */
static int
filter_visit(const procfs_proc_t *p, void *cookie, fail_t *err)
{
    filter_t *f = cookie;
    buf_auto_t line = BUF_INIT;

    if (f->full) {
        json_auto_t *words = procfs_cmdline(p->pid, err);
        for (size_t i = 0; i < json_array_size(words); i++)
            buf_printf(&line, "%s%s", i > 0 ? " " : "", json_string_value(json_array_get(words, i)));
    } else {
        buf_puts(&line, p->name);
    }
    int rc = f->rx != NULL ? rx_search(f->rx, buf_str(&line), line.len, 0, err)
                           : strstr(buf_str(&line), f->pattern) != NULL;
    if (rc <= 0)
        return rc;
    /* Only those that match are asked for their user, which may mean a question to a directory. */
    json_auto_t *user = procattr_user(p);
    if (!json_is_null(f->user) && !value_equal(f->user, user))
        return 0;
    if (f->signal != 0 && kill(p->pid, f->signal) != 0)
        return errno == ESRCH ? 0 : fail_set(err, -errno, "(pid=%d): %s", (int) p->pid, strerror(errno));
    json_array_append_new(f->found, json_integer(p->pid));
    return 0;
}

/* Numbers in ascending order, or None. Without pattern_is_regex the pattern is plain text, anywhere in the
 * name, and an empty one finds all. */
static int
ps_pgrep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = json_array();
    const char *pattern = value_str(args, "pattern", "");
    AUTO(rx) rx = NULL;

    if (value_bool(args, "pattern_is_regex", false) && (rx = rx_new(pattern, 0, err)) == NULL)
        return -EINVAL;
    filter_t f = { pattern, rx, value_get(args, "user"), value_bool(args, "full", false), found, 0 };
    int rc = each_process(filter_visit, &f, err);
    if (rc == 0)
        *ret_value = json_array_size(found) > 0 ? json_incref(found) : json_null();
    return rc;
}

/* {"killed": [numbers]}, or None when no process matches. The pattern is plain text. The minion itself is
 * not spared, as in Salt. */
static int
ps_pkill(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = json_array();
    filter_t f = { value_str(args, "pattern", ""),  NULL,  value_get(args, "user"),
                   value_bool(args, "full", false), found, (int) value_int(args, "signal", SIGTERM) };

    int rc = each_process(filter_visit, &f, err);
    if (rc == 0)
        *ret_value = json_array_size(found) > 0 ? json_pack("{s:O}", "killed", found) : json_null();
    return rc;
}

static int
ps_kill_pid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t pid = value_int(args, "pid", 0);

    /* 0 and negative numbers mean groups of processes to kill(2), never what was asked here. */
    if (pid <= 0 || pid > INT32_MAX) {
        *ret_value = json_false();
        return 0;
    }
    bool sent = kill((pid_t) pid, (int) value_int(args, "signal", SIGTERM)) == 0;
    if (!sent && errno != ESRCH)
        return fail_set(err, -errno, "(pid=%d): %s", (int) pid, strerror(errno));
    *ret_value = json_boolean(sent);
    return 0;
}

/* The state that ps.status looks for, as psutil spells it, and the processes in it. */
typedef struct wanted {
    const char *status;
    json_t *found;
} wanted_t;

static int
status_visit(const procfs_proc_t *p, void *cookie, fail_t *err)
{
    wanted_t *w = cookie;

    if (str_eq(procfs_state(p->state), w->status))
        json_array_append_new(w->found, json_pack("{s:i, s:o}", "pid", (int) p->pid, "name",
                                                  value_utf8(p->name, strlen(p->name))));
    return 0;
}

/* A list of {pid, name}. An empty state is an error with Salt's text. */
static int
ps_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *found = json_array();
    wanted_t w = { value_str(args, "status", ""), found };

    if (*w.status == '\0')
        return fail_kind(err, FAIL_INVOCATION, -EINVAL, "Filter is required for ps.status");
    int rc = each_process(status_visit, &w, err);
    if (rc == 0)
        *ret_value = json_incref(found);
    return rc;
}

/* ---- top ------------------------------------------------------------------------------------- */

/* A process that is watched: clock ticks before, its start (ticks since boot), and the ticks used while it
 * was watched. */
typedef struct usage {
    pid_t pid;
    unsigned long long before, start, diff;
} usage_t;

/* Most ticks first; equal ones by pid, so that the order is stable. */
static int
most_first(const void *a, const void *b)
{
    const usage_t *x = a, *y = b;

    return x->diff < y->diff ? 1 : x->diff > y->diff ? -1 : x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* A process as ps.top shows it. A kernel thread has no command line, and shows its name. */
static json_t *
top_entry(const procfs_proc_t *p, fail_t *err)
{
    json_t *cmd = procfs_cmdline(p->pid, err);

    if (json_array_size(cmd) == 0) {
        json_decref(cmd);
        cmd = value_utf8(p->name, strlen(p->name));
    }
    return json_pack("{s:o, s:o, s:o, s:i, s:f, s:o, s:o}", "cmd", cmd, "user", procattr_user(p), "status",
                     json_string(procfs_state(p->state)), "pid", (int) p->pid, "create_time",
                     procattr_created(p, err), "cpu", procattr_times(p), "mem", procattr_memory(p->pid, err));
}

/* Measures CPU ticks twice, `interval` seconds apart. A pid whose start time changed was reused and counts as
 * 0. */
static int
ps_top(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t n = 0, kept = 0;
    pid_t *pids = procfs_pids(&n, err);
    if (pids == NULL)
        return err->code;
    usage_t *usage = xcalloc(n + 1, sizeof(*usage));
    json_int_t wanted = value_int(args, "num_processes", 5);
    procfs_proc_t p;

    for (size_t i = 0; i < n; i++) {
        /* One process that ends here, or between the two looks, is left out of the list below. */
        if (procfs_proc(pids[i], &p, err) > 0)
            usage[kept++] = (usage_t){ pids[i], p.ticks_user + p.ticks_system, p.start, 0 };
    }
    clock_pause(value_num(args, "interval", 3));
    for (size_t i = 0; i < kept; i++) {
        if (procfs_proc(usage[i].pid, &p, err) > 0 && p.start == usage[i].start)
            usage[i].diff = p.ticks_user + p.ticks_system - usage[i].before;
    }
    qsort(usage, kept, sizeof(*usage), most_first);
    json_t *top = json_array();
    for (size_t i = 0; i < kept && (json_int_t) json_array_size(top) < wanted; i++) {
        if (procfs_proc(usage[i].pid, &p, err) > 0)
            json_array_append_new(top, top_entry(&p, err));
    }
    free(usage);
    free(pids);
    return procfs_answer(top, ret_value, err);
}

/* ---- processors ------------------------------------------------------------------------------ */

/* Columns of a "cpu" line in /proc/stat, in its order; older kernels have fewer, and the rest is 0. */
static const char *const cpu_fields[] = { "user", "nice",    "system", "idle",  "iowait",
                                          "irq",  "softirq", "steal",  "guest", "guest_nice" };

/* Seconds that a processor has spent in each state since boot. */
typedef struct cpu {
    double ticks[NELEMS(cpu_fields)];
} cpu_t;

/* The "cpu" lines of /proc/stat: the sum of all, or with `each` those of every processor. NEW array of
 * *ret_n; after an error, which is in *err, there are none. */
static cpu_t *
read_cpus(bool each, size_t *ret_n, fail_t *err)
{
    char **lines = procfs_lines("/proc/stat", err);
    cpu_t *cpus = xcalloc(strv_len(lines) + 1, sizeof(*cpus));
    size_t n = 0;

    for (size_t i = 0; lines[i] != NULL; i++) {
        /* "cpu" is the sum, "cpu0" a processor. */
        if (!str_starts(lines[i], "cpu") || (isdigit((unsigned char) lines[i][3]) != 0) != each)
            continue;
        char **words = str_split(lines[i], " ", true);
        for (size_t k = 0; k < NELEMS(cpu_fields) && words[k + 1] != NULL; k++)
            cpus[n].ticks[k] = strtod(words[k + 1], NULL) / procfs_hz();
        strv_free(words);
        n++;
    }
    strv_free(lines);
    *ret_n = n;
    return cpus;
}

/* Either the first element of a list or the list itself. NEW; TAKES `list`. */
static json_t *
one_or_all(json_t *list, bool each)
{
    json_t *v = each ? json_incref(list) : json_incref(json_array_get(list, 0));

    json_decref(list);
    return v;
}

static int
ps_cpu_times(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool each = value_bool(args, "per_cpu", false);
    size_t n = 0;
    cpu_t *cpus = read_cpus(each, &n, err);
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *row = json_object();
        for (size_t k = 0; k < NELEMS(cpu_fields); k++)
            json_object_set_new(row, cpu_fields[k], json_real(cpus[i].ticks[k]));
        json_array_append_new(list, row);
    }
    free(cpus);
    return procfs_answer(one_or_all(list, each), ret_value, err);
}

/* Guest time is in user time already, so only the first eight columns are summed; idle and iowait are not
 * work. A counter that went back (iowait may) counts as 0. */
static double
busy_percent(const cpu_t *a, const cpu_t *b)
{
    double total = 0;

    for (size_t k = 0; k < 8; k++)
        total += fmax(0, b->ticks[k] - a->ticks[k]);
    double idle = fmax(0, b->ticks[3] - a->ticks[3]) + fmax(0, b->ticks[4] - a->ticks[4]);
    return percent(total - idle, total);
}

/* Looks twice; a processor that was taken off meanwhile makes the list shorter. */
static int
ps_cpu_percent(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    bool each = value_bool(args, "per_cpu", false);
    size_t n = 0, m = 0;
    cpu_t *before = read_cpus(each, &n, err);

    clock_pause(value_num(args, "interval", 0.1));
    cpu_t *after = read_cpus(each, &m, err);
    json_t *list = json_array();
    for (size_t i = 0; i < n && i < m; i++)
        json_array_append_new(list, json_real(busy_percent(&before[i], &after[i])));
    free(before);
    free(after);
    return procfs_answer(one_or_all(list, each), ret_value, err);
}

/* Processors that are online, as psutil counts them, not those that the minion may run on. */
static int
ps_num_cpus(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_integer(sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* NEW text of /proc/meminfo, whose figures are in kibibytes; "" with *err, which procfs_answer() turns into
 * the call's failure. */
static char *
meminfo(fail_t *err)
{
    buf_t text = BUF_INIT;

    (void) fs_read("/proc/meminfo", LIMIT_FILE_READ, &text, err);
    return buf_steal(&text);
}

/* psutil's formulas: used is total minus free, buffers and cached, the latter including reclaimable slab.
 * `available` is the kernel's own estimate, and `percent` is about it. */
static int
ps_virtual_memory(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = meminfo(err);
    json_int_t total = procfs_field(text, "MemTotal") * 1024, free_ = procfs_field(text, "MemFree") * 1024;
    json_int_t buffers = procfs_field(text, "Buffers") * 1024,
               available = procfs_field(text, "MemAvailable") * 1024;
    json_int_t cached = (procfs_field(text, "Cached") + procfs_field(text, "SReclaimable")) * 1024;
    json_int_t used = total - free_ - cached - buffers;

    json_t *memory = json_pack(
        "{s:I, s:I, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "total", total, "available", available,
        "percent", percent((double) (total - available), (double) total), "used",
        /* In a container the figures may not fit each other; then psutil does without caches and
         * buffers. */
        used < 0 ? total - free_ : used, "free", free_, "active", procfs_field(text, "Active") * 1024,
        "inactive", procfs_field(text, "Inactive") * 1024, "buffers", buffers, "cached", cached, "shared",
        procfs_field(text, "Shmem") * 1024, "slab", procfs_field(text, "Slab") * 1024);
    return procfs_answer(memory, ret_value, err);
}

static int
ps_total_physical_memory(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = meminfo(err);

    return procfs_answer(json_integer(procfs_field(text, "MemTotal") * 1024), ret_value, err);
}

/* A counter of /proc/vmstat, 0 when the kernel has none of that name. */
static json_int_t
vmstat(const char *name, fail_t *err)
{
    char **lines = procfs_lines("/proc/vmstat", err);
    json_int_t n = 0;

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (str_starts(lines[i], name) && lines[i][strlen(name)] == ' ')
            n = strtoll(lines[i] + strlen(name) + 1, NULL, 10);
    }
    strv_free(lines);
    return n;
}

static int
ps_swap_memory(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = meminfo(err);
    json_int_t total = procfs_field(text, "SwapTotal") * 1024, free_ = procfs_field(text, "SwapFree") * 1024;

    /* The kernel counts these in units of 4 kB whatever the page size. */
    json_t *swap = json_pack("{s:I, s:I, s:I, s:f, s:I, s:I}", "total", total, "used", total - free_, "free",
                             free_, "percent", percent((double) (total - free_), (double) total), "sin",
                             vmstat("pswpin", err) * 4096, "sout", vmstat("pswpout", err) * 4096);
    return procfs_answer(swap, ret_value, err);
}

/* ---- disks ----------------------------------------------------------------------------------- */

/* Mounted file systems, in the order of their mounting; without `all` only those on devices. NEW, or NULL
 * with *err. */
static json_t *
partitions(bool all, fail_t *err)
{
    /* The kernel marks types without a device by "nodev"; zfs is marked so too, and has devices all the
     * same. */
    char **lines = procfs_lines("/proc/filesystems", err);
    json_auto_t *types = json_pack("{s:b}", "zfs", 1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (!str_starts(lines[i], "nodev"))
            json_object_set_new(types, str_trim(lines[i]), json_true());
    }
    strv_free(lines);

    size_t n = 0;
    procfs_mount_t *mounts = procfs_mounts(&n, err);
    json_t *list = mounts != NULL ? json_array() : NULL;

    for (size_t i = 0; i < n; i++) {
        const procfs_mount_t *m = &mounts[i];
        const char *device = str_eq(m->device, "none") ? "" : m->device;
        if (!all && (*device == '\0' || json_object_get(types, m->type) == NULL))
            continue;
        json_array_append_new(
            list, json_pack("{s:o, s:o, s:s, s:s, s:I, s:I}", "device", value_utf8(device, strlen(device)),
                            "mountpoint", value_utf8(m->point, strlen(m->point)), "fstype", m->type, "opts",
                            m->options, "maxfile", (json_int_t) pathconf(m->point, _PC_NAME_MAX), "maxpath",
                            (json_int_t) pathconf(m->point, _PC_PATH_MAX)));
    }
    procfs_mounts_free(mounts, n);
    return list;
}

static int
ps_disk_partitions(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = partitions(value_bool(args, "all", false), err);
    return *ret_value != NULL ? 0 : err->code;
}

/* Bytes of the file system that holds a path; NULL with *err (which may be NULL). As df: percent refers to
 * the space that unprivileged users see, not to the reserved blocks. */
static json_t *
ps_usage_of(const char *path, fail_t *err)
{
    struct statvfs v;

    if (statvfs(path, &v) != 0) {
        fail_set(err, -errno, "[Errno %d] %s: '%s'", errno, strerror(errno), path);
        return NULL;
    }
    json_int_t unit = (json_int_t) v.f_frsize, total = (json_int_t) v.f_blocks * unit;
    json_int_t used = total - (json_int_t) v.f_bfree * unit, free_ = (json_int_t) v.f_bavail * unit;
    return json_pack("{s:I, s:I, s:I, s:f}", "total", total, "used", used, "free", free_, "percent",
                     percent((double) used, (double) (used + free_)));
}

static int
ps_disk_usage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = ps_usage_of(value_str(args, "path", ""), err);
    return *ret_value == NULL ? -ENOENT : 0;
}

/* A file system that can't be asked (no right to, a network server that is away) is listed without
 * figures. */
static int
ps_disk_partition_usage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *list = partitions(value_bool(args, "all", false), err), *row;
    size_t i;

    if (list == NULL)
        return err->code;
    json_array_foreach (list, i, row) {
        json_auto_t *usage = ps_usage_of(value_str(row, "mountpoint", ""), NULL);
        if (usage != NULL)
            json_object_update(row, usage);
    }
    *ret_value = list;
    return 0;
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Adds the numbers of `row` to those of `sum`. TAKES `row`. */
static void
ps_add_row(json_t *sum, json_t *row)
{
    const char *key;
    json_t *v;

    json_object_foreach (row, key, v) {
        json_object_set_new(sum, key, json_integer(value_int(sum, key, 0) + json_integer_value(v)));
    }
    json_decref(row);
}

/* psutil's counters of the columns of /proc/net/dev: 0-7 are received, 8-15 sent, each as bytes, packets,
 * errors, dropped. NEW. */
static json_t *
net_row(const char *numbers)
{
    long long v[16] = { 0 };
    char **words = str_split(numbers, " ", true);

    for (size_t i = 0; i < NELEMS(v) && words[i] != NULL; i++)
        v[i] = strtoll(words[i], NULL, 10);
    strv_free(words);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "bytes_sent", (json_int_t) v[8],
                     "bytes_recv", (json_int_t) v[0], "packets_sent", (json_int_t) v[9], "packets_recv",
                     (json_int_t) v[1], "errin", (json_int_t) v[2], "errout", (json_int_t) v[10], "dropin",
                     (json_int_t) v[3], "dropout", (json_int_t) v[11]);
}

/* The sum over all interfaces, or the counters of one. False when there is none of that name. */
static int
ps_network_io_counters(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *wanted = value_str(args, "interface", "");
    json_auto_t *sum = json_object();
    char **lines = procfs_lines("/proc/net/dev", err);

    for (size_t i = 0; lines[i] != NULL; i++) {
        /* The two lines of headings have no colon. An alias (eth0:1) has one in its name, so the last one
         * counts. */
        char *colon = strrchr(lines[i], ':');
        if (colon == NULL)
            continue;
        *colon = '\0';
        if (*wanted == '\0' || str_eq(str_trim(lines[i]), wanted))
            ps_add_row(sum, net_row(colon + 1));
    }
    strv_free(lines);
    return procfs_answer(json_object_size(sum) > 0 ? json_incref(sum) : json_false(), ret_value, err);
}

/* psutil's counters of a line of /proc/diskstats: w[2] is the device's name, figures begin at w[3]. Times
 * are in milliseconds. NEW. */
static json_t *
disk_row(char *const *w)
{
    json_int_t v[14] = { 0 };

    for (size_t i = 3; i < NELEMS(v) && w[i] != NULL; i++)
        v[i] = strtoll(w[i], NULL, 10);
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "read_count", v[3], "write_count", v[7],
                     "read_bytes", v[5] * SECTOR, "write_bytes", v[9] * SECTOR, "read_time", v[6],
                     "write_time", v[10], "read_merged_count", v[4], "write_merged_count", v[8], "busy_time",
                     v[12]);
}

/* True for a whole device, false for a partition of it, which would be counted twice. sysfs writes the
 * slash in a name (cciss/c0d0) as an exclamation mark. */
static bool
is_whole_device(const char *name)
{
    AUTO_FREE char *path = xasprintf("/sys/block/%s", name);

    for (char *p = path + strlen("/sys/block/"); *p != '\0'; p++)
        *p = *p == '/' ? '!' : *p;
    return fs_exists(path);
}

/* The sum over whole devices, or the counters of one device or partition; False when there is none. Loop
 * and RAM devices are in the sum, as in psutil. */
static int
ps_disk_io_counters(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *wanted = value_str(args, "device", "");
    json_auto_t *sum = json_object();
    char **lines = procfs_lines("/proc/diskstats", err);

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(lines[i], " ", true);
        if (strv_len(words) >= 14 && (*wanted == '\0' ? is_whole_device(words[2]) : str_eq(words[2], wanted)))
            ps_add_row(sum, disk_row(words));
        strv_free(words);
    }
    strv_free(lines);
    return procfs_answer(json_object_size(sum) > 0 ? json_incref(sum) : json_false(), ret_value, err);
}

/* ---- host ------------------------------------------------------------------------------------ */

/* Seconds since the epoch, or text by `time_format` in local time. */
static int
ps_boot_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *format = value_str(args, "time_format", "");
    double boot = procfs_boot_time(err);

    if (boot <= 0 && err->code != 0)
        return err->code;
    if (*format == '\0') {
        *ret_value = json_integer((json_int_t) boot);
        return 0;
    }
    AUTO_FREE char *text = clock_strftime(format, (int64_t) boot * 1000000);
    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

/* A field of utmp, which ends with a NUL only when it is shorter than its array. NEW. */
static json_t *
utmp_text(const char *text, size_t size)
{
    return value_utf8(text, strnlen(text, size));
}

/* Sessions of utmp; a host ":0" is the display of this machine, and psutil says localhost. Without the
 * file, as on machines whose systemd has no utmp, the list is empty. */
static int
ps_get_users(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *users = json_array();

    setutxent();
    for (struct utmpx *u; (u = getutxent()) != NULL;) {
        if (u->ut_type != USER_PROCESS)
            continue;
        json_t *host = strncmp(u->ut_host, ":0", 2) == 0 ? json_string("localhost")
                                                         : utmp_text(u->ut_host, sizeof(u->ut_host));
        json_array_append_new(users, json_pack("{s:o, s:o, s:o, s:f, s:i}", "name",
                                               utmp_text(u->ut_user, sizeof(u->ut_user)), "terminal",
                                               utmp_text(u->ut_line, sizeof(u->ut_line)), "host", host,
                                               "started", (double) u->ut_tv.tv_sec, "pid", (int) u->ut_pid));
    }
    endutxent();
    *ret_value = users;
    return 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* [name, text of `lsof -c NAME`]; lsof's exit code is 1 when it finds nothing, which is an empty text. */
static int
ps_lsof(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    prog_auto_t prog = PROG_INIT;

    prog_adds(&prog, "lsof", "-c", NULL);
    if (prog_operand(&prog, "name", name, err) < 0)
        return err->code;
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    *ret_value = json_pack("[s, o]", name, value_utf8(out, strlen(out)));
    return 0;
}

/* [name, [the lines of a program's output that hold it]] of netstat or ss: the row has the program's name,
 * which is the function's, and its options. */
static int
ps_lines(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const func_t *row = ctx_row(ctx);
    const char *program = row->name, *name = value_str(args, "name", "");
    AUTO_FREE char *path = fs_which(program);
    prog_auto_t prog = PROG_INIT;
    json_auto_t *found = json_array();
    if (path == NULL)
        return fail_kind(err, FAIL_PROGRAM, -ENOENT,
                         "The '%s' binary was not found in $PATH. Install it to use ps.%s", program, program);
    prog_adds(&prog, path, row->data.text, NULL);
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    char **lines = str_split(out, "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        if (strstr(lines[i], name) != NULL)
            json_array_append_new(found, json_string(lines[i]));
    }
    strv_free(lines);
    *ret_value = json_pack("[s, O]", name, found);
    return 0;
}

/* Lines of `ps aux` that the expression finds, without a salt command that asks this very question: it has
 * the expression in its words and would always be found. */
static int
ps_psaux(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    AUTO(rx) rx = rx_new(name, 0, err);
    AUTO(rx) own = rx_new("salt.+ps.psaux.+", 0, NULL);
    prog_auto_t prog = PROG_INIT;
    json_auto_t *found = json_array();

    if (rx == NULL)
        return -EINVAL;
    prog_adds(&prog, "ps", "aux", NULL);
    AUTO_FREE char *out = prog_stdout(&prog, NULL, err);
    if (out == NULL)
        return -EIO;
    char **lines = str_split(out, "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        size_t len = strlen(lines[i]);
        if (rx_search(rx, lines[i], len, 0, NULL) == 1 && rx_search(own, lines[i], len, 0, NULL) != 1)
            json_array_append_new(found, json_string(lines[i]));
    }
    strv_free(lines);
    *ret_value = json_pack("[s, O, o]", name, found, value_fmt("%zu occurence(s).", json_array_size(found)));
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t top_args[] = { ARG("num_processes", ARG_INT, "5", "How many"),
                                  ARG("interval", ARG_FLOAT, "3", "Seconds to watch"), ARGS_END };
static const arg_t proc_info_args[] = { ARG("pid", ARG_INT, ARG_REQUIRED, "Number of the process"),
                                        ARG("attrs", ARG_ANY, "null", "Attributes to return, all when None"),
                                        ARGS_END };
static const arg_t kill_args[] = { ARG("pid", ARG_INT, ARG_REQUIRED, "Number of the process"),
                                   ARG("signal", ARG_INT, "15", "Number of the signal"), ARGS_END };
static const arg_t pkill_args[] = { ARG("pattern", ARG_STR, ARG_REQUIRED, "Part of the name"),
                                    ARG("user", ARG_STR, "null", "Only this user's"),
                                    ARG("signal", ARG_INT, "15", "Number of the signal"),
                                    ARG("full", ARG_BOOL, "false", "Look at the whole command line"),
                                    ARGS_END };
static const arg_t pgrep_args[] = {
    ARG("pattern", ARG_STR, ARG_REQUIRED, "Part of the name"),
    ARG("user", ARG_STR, "null", "Only this user's"),
    ARG("full", ARG_BOOL, "false", "Look at the whole command line"),
    ARG("pattern_is_regex", ARG_BOOL, "false", "The pattern is a regular expression"), ARGS_END
};
static const arg_t cpu_percent_args[] = { ARG("interval", ARG_FLOAT, "0.1", "Seconds to watch"),
                                          ARG("per_cpu", ARG_BOOL, "false", "A list, one per processor"),
                                          ARGS_END };
static const arg_t cpu_times_args[] = { ARG("per_cpu", ARG_BOOL, "false", "A list, one per processor"),
                                        ARGS_END };
static const arg_t all_args[] = { ARG("all", ARG_BOOL, "false", "Also file systems without a device"),
                                  ARGS_END };
static const arg_t path_args[] = { ARG("path", ARG_STR, ARG_REQUIRED, "A path on the file system"),
                                   ARGS_END };
static const arg_t boot_args[] = { ARG("time_format", ARG_STR, "null", "strftime format"), ARGS_END };
static const arg_t interface_args[] = { ARG("interface", ARG_STR, "null", "Only this one"), ARGS_END };
static const arg_t device_args[] = { ARG("device", ARG_STR, "null", "Only this one"), ARGS_END };
static const arg_t name_args[] = { ARG("name", ARG_STR, ARG_REQUIRED, "Name to look for"), ARGS_END };
static const arg_t status_args[] = { ARG("status", ARG_STR, ARG_REQUIRED, "running, sleeping, zombie, ..."),
                                     ARGS_END };

static const func_t funcs[] = {
    { "boot_time", ps_boot_time, boot_args, FN_READONLY,
      "Return when the host booted, in seconds since 1970 or as ``time_format`` says." CLI_EXAMPLE(
          "salt '*' ps.boot_time") },
    { "cpu_percent", ps_cpu_percent, cpu_percent_args, FN_READONLY,
      "Return how busy the processors are, in percent." CLI_EXAMPLE("salt '*' ps.cpu_percent") },
    { "cpu_times", ps_cpu_times, cpu_times_args, FN_READONLY,
      "Return the seconds that the processors spent in each state." CLI_EXAMPLE("salt '*' ps.cpu_times") },
    { "disk_io_counters", ps_disk_io_counters, device_args, FN_READONLY,
      "Return what was read from and written to the disks." CLI_EXAMPLE(
          "salt '*' ps.disk_io_counters\n    salt '*' ps.disk_io_counters device=sda1") },
    { "disk_partition_usage", ps_disk_partition_usage, all_args, FN_READONLY,
      "Return the mounted partitions with their usage." CLI_EXAMPLE("salt '*' ps.disk_partition_usage") },
    { "disk_partitions", ps_disk_partitions, all_args, FN_READONLY,
      "Return the mounted partitions." CLI_EXAMPLE("salt '*' ps.disk_partitions") },
    { "disk_usage", ps_disk_usage, path_args, FN_READONLY,
      "Return total, used and free bytes of the file system that holds a path." CLI_EXAMPLE(
          "salt '*' ps.disk_usage /home") },
    { "get_pid_list", ps_get_pid_list, NULL, FN_READONLY,
      "Return the numbers of all processes." CLI_EXAMPLE("salt '*' ps.get_pid_list") },
    { "get_users", ps_get_users, NULL, FN_READONLY,
      "Return who is logged in." CLI_EXAMPLE("salt '*' ps.get_users") },
    { "kill_pid", ps_kill_pid, kill_args, 0,
      "Send a signal to a process; False when there is none." CLI_EXAMPLE(
          "salt 'minion' ps.kill_pid pid [signal=signal_number]"),
      ABSENT("pid", "There is no process {}") },
    { "lsof", ps_lsof, name_args, FN_READONLY,
      "Return what lsof tells of a command's open files." CLI_EXAMPLE("salt '*' ps.lsof apache2") },
    { "netstat", ps_lines, name_args, FN_READONLY,
      "Return the lines of netstat that hold a name." CLI_EXAMPLE("salt '*' ps.netstat apache2"),
      .data.text = "-nap" },
    { "network_io_counters", ps_network_io_counters, interface_args, FN_READONLY,
      "Return what the interfaces sent and received." CLI_EXAMPLE(
          "salt '*' ps.network_io_counters\n    salt '*' ps.network_io_counters interface=eth0") },
    { "num_cpus", ps_num_cpus, NULL, FN_READONLY,
      "Return the number of processors." CLI_EXAMPLE("salt '*' ps.num_cpus") },
    { "pgrep", ps_pgrep, pgrep_args, FN_READONLY,
      "Return the numbers of the processes whose name holds a pattern; None when there is none." CLI_EXAMPLE(
          "salt '*' ps.pgrep httpd\n    salt '*' ps.pgrep '^httpd$' pattern_is_regex=True") },
    { "pkill", ps_pkill, pkill_args, 0,
      "Send a signal to the processes whose name holds a pattern." CLI_EXAMPLE(
          "salt '*' ps.pkill pattern [user=username] [signal=signal_number] [full=(true|false)]"),
      ABSENT("pattern", "No process that may be meant holds '{}' in its name") },
    { "proc_info", ps_proc_info, proc_info_args, FN_READONLY,
      "Return the attributes of a process." CLI_EXAMPLE(
          "salt '*' ps.proc_info 2322\n    salt '*' ps.proc_info 2322 attrs='[\"pid\", \"name\"]'") },
    { "psaux", ps_psaux, name_args, FN_READONLY,
      "Return the lines of ps that a regular expression finds, and how many." CLI_EXAMPLE(
          "salt '*' ps.psaux www-data.+apache2") },
    { "ss", ps_lines, name_args, FN_READONLY,
      "Return the lines of ss that hold a name." CLI_EXAMPLE("salt '*' ps.ss apache2"),
      .data.text = "-neap" },
    { "status", ps_status, status_args, FN_READONLY,
      "Return the processes in a state." CLI_EXAMPLE("salt '*' ps.status STATUS") },
    { "swap_memory", ps_swap_memory, NULL, FN_READONLY,
      "Return the usage of swap space, in bytes." CLI_EXAMPLE("salt '*' ps.swap_memory") },
    { "top", ps_top, top_args, FN_READONLY,
      "Return the processes that used the processors most during a few seconds." CLI_EXAMPLE(
          "salt '*' ps.top\n    salt '*' ps.top 5 10") },
    { "total_physical_memory", ps_total_physical_memory, NULL, FN_READONLY,
      "Return the bytes of memory." CLI_EXAMPLE("salt '*' ps.total_physical_memory") },
    { "virtual_memory", ps_virtual_memory, NULL, FN_READONLY,
      "Return the usage of memory, in bytes." CLI_EXAMPLE("salt '*' ps.virtual_memory") },
};

PLUGIN(exec, ps, .doc = "Processes, memory and disks", FUNCS(funcs));
