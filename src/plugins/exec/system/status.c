/* status.c - execution module `status`: load, memory, disks, network and uptime, in Salt's shapes. Most
 * values are read from /proc (proc(5)): exec_status_by_words() calls a function for each line of a file
 * with its words. A member whose file the kernel does not have is empty, and a file that can't be read is
 * an error. Numbers of lines are numbers where procfs_number() finds one, else texts. */
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utmpx.h>

#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/host/passwd.h"
#include "common/host/procfs.h"
#include "common/host/prog.h"
#include "common/base/str.h"
#include "common/match/match.h"
#include "common/match/regex.h"
#include "plugins/lib/system/sockets.h"
#include "salt/plugin.h"

/* Salt's answer on a minion that is not a proxy, and for a proxy module that it does not have. */
static int
status_proxy_reconnect(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

/* ---- tables of words ------------------------------------------------------------------------- */

/* Gets the words of one line of a file under /proc, at least one, and adds them to `out`. BORROWED. */
typedef void words_fn(char **words, size_t n, json_t *out);

/* The lines of a file as `line` puts them into a dict. NEW, also after a failure, which is in *err;
 * procfs_answer() then makes it the call's. */
static json_t *
exec_status_by_words(const char *path, words_fn *line, fail_t *err)
{
    json_t *out = json_object();
    char **lines = procfs_lines(path, err);

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(lines[i], " \t", true);
        size_t n = strv_len(words);
        if (n > 0)
            line(words, n, out);
        strv_free(words);
    }
    strv_free(lines);
    return out;
}

/* Words from position `from` on, as numbers. NEW. */
static json_t *
numbers_from(char **words, size_t n, size_t from)
{
    json_t *list = json_array();

    for (size_t i = from; i < n; i++)
        json_array_append_new(list, procfs_number(words[i]));
    return list;
}

/* A number's name and its place among the words; a table of these ends with a NULL name. Names are in the
 * order of the alphabet, as Salt's answers are. */
typedef struct column {
    const char *name;
    size_t place;
} column_t;

/* {name: number of words[place]}, without the columns that an older kernel's line does not have. NEW. */
static json_t *
exec_status_columns(char **words, size_t n, const column_t *cols)
{
    json_t *row = json_object();

    for (; cols->name != NULL; cols++) {
        if (cols->place < n)
            json_object_set_new(row, cols->name, procfs_number(words[cols->place]));
    }
    return row;
}

/* A line of /proc/stat. "cpu" is the sum of all processors in ticks; lines of a single processor have their
 * first figure alone ("cpu0": user), as in Salt. intr and softirq: a total, then a figure for each
 * interrupt. */
static void
cpustats_line(char **words, size_t n, json_t *out)
{
    static const column_t cpu[] = { { "idle", 4 },   { "iowait", 5 },  { "irq", 6 },
                                    { "nice", 2 },   { "softirq", 7 }, { "steal", 8 },
                                    { "system", 3 }, { "user", 1 },    { NULL, 0 } };

    if (str_eq(words[0], "cpu"))
        json_object_set_new(out, words[0], exec_status_columns(words, n, cpu));
    else if (str_eq(words[0], "intr") && n > 1)
        json_object_set_new(
            out, words[0],
            json_pack("{s:o, s:o}", "total", procfs_number(words[1]), "irqs", numbers_from(words, n, 2)));
    else if (str_eq(words[0], "softirq") && n > 1)
        json_object_set_new(
            out, words[0],
            json_pack("{s:o, s:o}", "total", procfs_number(words[1]), "softirqs", numbers_from(words, n, 2)));
    else if (n > 1)
        json_object_set_new(out, words[0], procfs_number(words[1]));
}

/* A line "MemTotal: 16303428 kB" of /proc/meminfo. Values are texts, as in Salt; a figure without a unit is
 * a count of pages. */
static void
meminfo_line(char **words, size_t n, json_t *out)
{
    AUTO_FREE char *name = str_replace(words[0], ":", "");
    json_t *row = json_pack("{s:s}", "value", n > 1 ? words[1] : "");

    if (n > 2)
        json_object_set_new(row, "unit", json_string(words[2]));
    json_object_set_new(out, name, row);
}

/* Names are those of the kernel's Documentation/admin-guide/iostats.rst; sectors are 512 bytes. */
static void
diskstats_line(char **words, size_t n, json_t *out)
{
    static const column_t disk[] = { { "major", 0 },
                                     { "minor", 1 },
                                     { "device", 2 },
                                     { "reads_issued", 3 },
                                     { "reads_merged", 4 },
                                     { "sectors_read", 5 },
                                     { "ms_spent_reading", 6 },
                                     { "writes_completed", 7 },
                                     { "writes_merged", 8 },
                                     { "sectors_written", 9 },
                                     { "ms_spent_writing", 10 },
                                     { "io_in_progress", 11 },
                                     { "ms_spent_in_io", 12 },
                                     { "weighted_ms_spent_in_io", 13 },
                                     { NULL, 0 } };

    if (n >= 14)
        json_object_set_new(out, words[2], exec_status_columns(words, n, disk));
}

/* "name number", a counter per line. */
static void
vmstats_line(char **words, size_t n, json_t *out)
{
    if (n > 1)
        json_object_set_new(out, words[0], procfs_number(words[1]));
}

static int
status_cpustats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return procfs_answer(exec_status_by_words("/proc/stat", cpustats_line, err), ret_value, err);
}

static int
status_meminfo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return procfs_answer(exec_status_by_words("/proc/meminfo", meminfo_line, err), ret_value, err);
}

static int
status_diskstats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return procfs_answer(exec_status_by_words("/proc/diskstats", diskstats_line, err), ret_value, err);
}

static int
status_vmstats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return procfs_answer(exec_status_by_words("/proc/vmstat", vmstats_line, err), ret_value, err);
}

/* A dict, so the last processor's values remain, as in Salt. Only flags become a list. */
static int
status_cpuinfo(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = procfs_lines("/proc/cpuinfo", err);
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char *colon = strchr(lines[i], ':');
        if (colon == NULL)
            continue;
        *colon = '\0';
        const char *name = str_trim(lines[i]), *value = str_trim(colon + 1);
        if (str_eq(name, "flags")) {
            char **words = str_split(value, " ", true);
            json_t *list = json_array();
            for (size_t k = 0; words[k] != NULL; k++)
                json_array_append_new(list, json_string(words[k]));
            json_object_set_new(out, name, list);
            strv_free(words);
        } else {
            json_object_set_new(out, name, value_utf8(value, strlen(value)));
        }
    }
    strv_free(lines);
    return procfs_answer(out, ret_value, err);
}

/* ---- network --------------------------------------------------------------------------------- */

/* /proc/net/netstat has pairs of lines with the same first word ("TcpExt:"): names, then numbers. A pair
 * that does not fit is left out. */
static int
status_netstats(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = procfs_lines("/proc/net/netstat", err);
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL && lines[i + 1] != NULL; i += 2) {
        char **names = str_split(lines[i], " ", true), **values = str_split(lines[i + 1], " ", true);
        if (strv_len(names) > 0 && strv_len(values) > 0 && str_eq(names[0], values[0])) {
            AUTO_FREE char *title = str_replace(names[0], ":", "");
            json_t *row = json_object();
            for (size_t k = 1; names[k] != NULL && values[k] != NULL; k++)
                json_object_set_new(row, names[k], procfs_number(values[k]));
            json_object_set_new(out, title, row);
        }
        strv_free(names);
        strv_free(values);
    }
    strv_free(lines);
    return procfs_answer(out, ret_value, err);
}

/* /proc/net/dev: received figures are columns 0-7, sent ones 8-15. Headings have no colon; an alias
 * (eth0:1) has one in its name, so the last one counts. */
static int
status_netdev(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const column_t cols[] = {
        { "rx_bytes", 0 }, { "rx_compressed", 6 }, { "rx_drop", 3 },      { "rx_errs", 2 },
        { "rx_fifo", 4 },  { "rx_frame", 5 },      { "rx_multicast", 7 }, { "rx_packets", 1 },
        { "tx_bytes", 8 }, { "tx_carrier", 14 },   { "tx_colls", 13 },    { "tx_compressed", 15 },
        { "tx_drop", 11 }, { "tx_errs", 10 },      { "tx_fifo", 12 },     { "tx_packets", 9 },
        { NULL, 0 }
    };
    char **lines = procfs_lines("/proc/net/dev", err);
    json_t *out = json_object();

    for (size_t i = 0; lines[i] != NULL; i++) {
        char *colon = strrchr(lines[i], ':');
        if (colon == NULL)
            continue;
        *colon = '\0';
        const char *name = str_trim(lines[i]);
        char **words = str_split(colon + 1, " ", true);
        json_auto_t *numbers = exec_status_columns(words, strv_len(words), cols);
        json_t *row = json_pack("{s:s}", "iface", name);
        json_object_update(row, numbers);
        json_object_set_new(out, name, row);
        strv_free(words);
    }
    strv_free(lines);
    return procfs_answer(out, ret_value, err);
}

/* ---- the host -------------------------------------------------------------------------------- */

static int
status_uptime(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = procfs_lines("/proc/uptime", err);
    char stamp[CLOCK_STAMP_LEN];
    json_int_t users = 0;

    if (lines[0] == NULL) {
        strv_free(lines);
        return err->code != 0 ? err->code
                              : fail_kind(err, FAIL_COMMAND, -ENOENT, "File /proc/uptime was not found.");
    }
    /* The first number is the time since boot; the second one, idle time, is not used. */
    json_int_t seconds = (json_int_t) strtod(lines[0], NULL);
    strv_free(lines);
    /* Wall clock less uptime: a clock that is set makes another start of it, as in Salt. */
    int64_t since = clock_wall_us() - seconds * 1000000;
    clock_stamp(stamp, since);
    /* Sessions that utmp has, also several of one user; without the file none. */
    setutxent();
    for (struct utmpx *u; (u = getutxent()) != NULL;)
        users += u->ut_type == USER_PROCESS;
    endutxent();
    *ret_value = json_pack("{s:I, s:s, s:I, s:I, s:o, s:I}", "seconds", seconds, "since_iso", stamp,
                           "since_t", (json_int_t) (since / 1000000), "days", seconds / 86400, "time",
                           value_fmt("%d:%d", (int) (seconds % 86400 / 3600), (int) (seconds % 3600 / 60)),
                           "users", users);
    return 0;
}

/* The text of the error has Salt's own spelling. */
static int
status_loadavg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    double load[3];

    if (getloadavg(load, 3) != 3)
        return fail_kind(err, FAIL_COMMAND, -ENOTSUP, "status.loadavag is not available on your platform");
    *ret_value = json_pack("{s:f, s:f, s:f}", "1-min", load[0], "5-min", load[1], "15-min", load[2]);
    return 0;
}

/* Processors that this process may use, as nproc(1) counts them: an affinity, or a cgroup's cpuset, makes
 * them fewer. */
static int
status_nproc(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    cpu_set_t set;

    *ret_value = json_integer(sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                                           : sysconf(_SC_NPROCESSORS_ONLN));
    return 0;
}

/* The line of /proc/version, or {} without the file, as in Salt. */
static int
status_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    char **lines = procfs_lines("/proc/version", err);

    json_t *version = lines[0] != NULL ? json_string(str_trim(lines[0])) : json_object();
    strv_free(lines);
    return procfs_answer(version, ret_value, err);
}

static int
status_time(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *text = clock_strftime(value_str(args, "format", ""), clock_wall_us());

    *ret_value = value_utf8(text, strlen(text));
    return 0;
}

/* True when file systems of this type are requested: by a glob among the arguments, or by the lack of any
 * arguments. Arguments that begin with a slash are paths. */
static bool
type_wanted(json_t *args, const char *type)
{
    bool any = false;

    for (size_t i = 0; i < json_array_size(args); i++) {
        AUTO_FREE char *pattern = value_pystr(json_array_get(args, i));
        if (*pattern == '/')
            continue;
        any = true;
        if (match_glob(pattern, type))
            return true;
    }
    return !any && json_array_size(args) == 0;
}

/* Adds bytes that users may fill, and all bytes, of the file system at `path`. A file system that can't be
 * asked is left out. */
static void
add_usage(json_t *out, const char *path)
{
    struct statvfs v;

    if (statvfs(path, &v) != 0)
        return;
    json_object_set_new(out, path,
                        json_pack("{s:I, s:I}", "available", (json_int_t) (v.f_bavail * v.f_frsize), "total",
                                  (json_int_t) (v.f_blocks * v.f_frsize)));
}

/* Arguments are paths, or globs of file system types; without types among the arguments only paths count.
 * Without any, everything mounted counts, also what has no blocks. */
static int
status_diskusage(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *list = value_get(args, "args");
    size_t n = 0;
    procfs_mount_t *mounts = procfs_mounts(&n, err);

    if (mounts == NULL)
        return err->code;
    json_t *out = json_object();
    for (size_t i = 0; i < json_array_size(list); i++) {
        AUTO_FREE char *path = value_pystr(json_array_get(list, i));
        if (*path == '/')
            add_usage(out, path);
    }
    for (size_t i = 0; i < n; i++) {
        if (type_wanted(list, mounts[i].type))
            add_usage(out, mounts[i].point);
    }
    procfs_mounts_free(mounts, n);
    *ret_value = out;
    return 0;
}

/* `w -fh`: user, terminal, login, idle, two times, what. An empty list where there is no such program. The
 * columns are split at blanks, so a login time with a blank would shift them, as in Salt. */
static int
status_w(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    prog_auto_t prog = PROG_INIT;
    json_t *users = json_array();

    prog_adds(&prog, "w", "-fh", NULL);
    AUTO_FREE char *out = prog_stdout(&prog, NULL, NULL);
    char **lines = str_split(out != NULL ? out : "", "\n", true);
    for (size_t i = 0; lines[i] != NULL; i++) {
        char **w = str_split(lines[i], " ", true);
        buf_auto_t what = BUF_INIT;
        for (size_t k = 6; strv_len(w) > 6 && w[k] != NULL; k++)
            buf_printf(&what, "%s%s", k > 6 ? " " : "", w[k]);
        if (strv_len(w) >= 6)
            json_array_append_new(users, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "idle", w[3],
                                                   "jcpu", w[4], "login", w[2], "pcpu", w[5], "tty", w[1],
                                                   "user", w[0], "what", buf_str(&what)));
        strv_free(w);
    }
    strv_free(lines);
    *ret_value = users;
    return 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

/* Name of the effective user, or its number as text where it has no name. NEW. */
static json_t *
exec_status_owner_of(const procfs_proc_t *p)
{
    passwd_space_auto_t space = { 0 };
    const struct passwd *pw = passwd_uid(&space, p->uid[1]);

    return pw != NULL ? value_utf8(pw->pw_name, strlen(pw->pw_name)) : value_fmt("%u", p->uid[1]);
}

/* The command line, or for a kernel thread the name in brackets, as ps shows it. NEW. */
static char *
command_of(const procfs_proc_t *p, fail_t *err)
{
    json_auto_t *words = procfs_cmdline(p->pid, err);
    buf_t out = BUF_INIT;

    for (size_t i = 0; i < json_array_size(words); i++)
        buf_printf(&out, "%s%s", i > 0 ? " " : "", json_string_value(json_array_get(words, i)));
    if (out.len == 0)
        buf_printf(&out, "[%s]", p->name);
    return buf_steal(&out);
}

/* {number: {user, cmd}} of all processes. Processes that end meanwhile are left out. */
static int
status_procs(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    size_t n = 0;
    pid_t *pids = procfs_pids(&n, err);

    if (pids == NULL)
        return err->code;
    json_t *out = json_object();
    for (size_t i = 0; i < n; i++) {
        procfs_proc_t p;
        char key[32];
        if (procfs_proc(pids[i], &p, err) <= 0)
            continue;
        AUTO_FREE char *cmd = command_of(&p, err);
        snprintf(key, sizeof(key), "%d", (int) pids[i]);
        json_object_set_new(
            out, key,
            json_pack("{s:o, s:o}", "user", exec_status_owner_of(&p), "cmd", value_utf8(cmd, strlen(cmd))));
    }
    free(pids);
    return procfs_answer(out, ret_value, err);
}

/* Numbers of the processes whose line of ps the expression finds, one per line, as Salt's grep over `ps
 * -ef`; never our own. The line is "USER PID PPID COMMAND". */
static int
status_pid(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO(rx) rx = rx_new(value_str(args, "sig", ""), 0, err);
    buf_auto_t found = BUF_INIT;
    size_t n = 0;

    if (rx == NULL)
        return -EINVAL;
    pid_t *pids = procfs_pids(&n, err);
    if (pids == NULL)
        return err->code;
    for (size_t i = 0; i < n; i++) {
        procfs_proc_t p;
        if (pids[i] == getpid() || procfs_proc(pids[i], &p, err) <= 0)
            continue;
        AUTO_FREE char *cmd = command_of(&p, err);
        json_auto_t *owner = exec_status_owner_of(&p);
        AUTO_FREE char *line = xasprintf("%s %d %d %s", json_string_value(owner), (int) p.pid, (int) p.ppid,
                                         cmd);
        if (rx_search(rx, line, strlen(line), 0, NULL) == 1)
            buf_printf(&found, "%s%d", found.len > 0 ? "\n" : "", (int) p.pid);
    }
    free(pids);
    return procfs_answer(json_string(buf_str(&found)), ret_value, err);
}

/* ---- the master ------------------------------------------------------------------------------ */

/* Text forms of a host's addresses, as keys. NEW; NULL when the name can't be resolved. Connections are
 * compared by these texts. */
static json_t *
exec_status_addresses_of(const char *host)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
    char text[INET6_ADDRSTRLEN];

    if (getaddrinfo(host, NULL, &hints, &all) != 0)
        return NULL;
    json_t *out = json_object();
    for (struct addrinfo *a = all; a != NULL; a = a->ai_next) {
        if (getnameinfo(a->ai_addr, a->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) == 0)
            json_object_set_new(out, text, json_true());
    }
    freeaddrinfo(all);
    return out;
}

/* True when an established connection leads to `port` of one of these addresses. */
static bool
exec_status_connected(const char *proto, json_t *addresses, long port, fail_t *err)
{
    size_t n = 0;
    sock_row_t *rows = sock_rows(proto, &n, err);
    bool found = false;

    for (size_t i = 0; i < n && !found; i++)
        found = rows[i].state == SOCKET_ESTABLISHED && (long) rows[i].remote_port == port &&
                json_object_get(addresses, rows[i].remote) != NULL;
    free(rows);
    return found;
}

/* None when the master's name can't be resolved or none is given, else whether a connection to its
 * publish_port is there; the kernel's own tables are read, so a connection of another program to that port
 * counts too. */
static int
status_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *master = value_str(args, "master", "");
    json_auto_t *addresses = *master != '\0' ? exec_status_addresses_of(master) : NULL;
    long port = (long) value_int(ctx_opts(ctx), "publish_port", 4505);

    if (json_object_size(addresses) == 0)
        *ret_value = json_null();
    else
        *ret_value = json_boolean(exec_status_connected("tcp", addresses, port, err) ||
                                  exec_status_connected("tcp6", addresses, port, err));
    return err->code;
}

/* True when the address takes a connection within the time; it is closed at once, without a word. */
static bool
exec_status_answers(const struct addrinfo *a, int timeout_ms)
{
    AUTO_FD fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct pollfd wait = { fd, POLLOUT, 0 };
    int failed = 0;
    socklen_t len = sizeof(failed);

    if (fd < 0)
        return false;
    if (connect(fd, a->ai_addr, a->ai_addrlen) == 0)
        return true;
    /* poll() returns also when the connection has failed: SO_ERROR has the reason. */
    return errno == EINPROGRESS && poll(&wait, 1, timeout_ms) == 1 &&
           getsockopt(fd, SOL_SOCKET, SO_ERROR, &failed, &len) == 0 && failed == 0;
}

/* Whether the request port takes connections, with auth_timeout for each of the addresses. No key or login
 * is tried. */
static int
status_ping_master(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *master = value_str(args, "master", "");
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *all = NULL;
    AUTO_FREE char *port = xasprintf("%d", (int) value_int(ctx_opts(ctx), "master_port", 4506));
    int timeout_ms = (int) value_int(ctx_opts(ctx), "auth_timeout", 5) * 1000;
    bool found = false;

    if (*master != '\0' && getaddrinfo(master, port, &hints, &all) == 0) {
        for (struct addrinfo *a = all; a != NULL && !found; a = a->ai_next)
            found = exec_status_answers(a, timeout_ms);
        freeaddrinfo(all);
    }
    *ret_value = json_boolean(found);
    return 0;
}

/* ---- several at once ------------------------------------------------------------------------- */

/* All of the others. The first failure is the error: half an answer would look whole. */
static int
status_all_status(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const struct {
        const char *name;
        func_fn *fn;
    } parts[] = { { "cpuinfo", status_cpuinfo },
                  { "cpustats", status_cpustats },
                  { "diskstats", status_diskstats },
                  { "diskusage", status_diskusage },
                  { "loadavg", status_loadavg },
                  { "meminfo", status_meminfo },
                  { "netdev", status_netdev },
                  { "netstats", status_netstats },
                  { "uptime", status_uptime },
                  { "vmstats", status_vmstats },
                  { "w", status_w } };
    json_auto_t *out = json_object();

    for (size_t i = 0; i < NELEMS(parts); i++) {
        json_t *part = NULL;
        int rc = parts[i].fn(ctx, args, &part, err);
        if (rc != 0)
            return rc;
        json_object_set_new(out, parts[i].name, part);
    }
    *ret_value = json_incref(out);
    return 0;
}

/* Configuration rows "status.cpustats.custom: [cpu, ctxt]" pick members of what the functions return. */
static int
status_custom(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *list = json_pack("[s]", "status"), *conf = NULL, *out = json_object();
    const char *key;
    json_t *names;

    int rc = ctx_call(ctx, "config.dot_vals", list, NULL, &conf, err);
    if (rc != 0)
        return rc;
    json_object_foreach (conf, key, names) {
        const char *dot = strrchr(key, '.');
        /* "status.cpustats.custom" without its last part is the function. */
        AUTO_FREE char *fun = xstrndup(key, dot != NULL ? (size_t) (dot - key) : 0);
        json_auto_t *values = NULL;
        /* Functions of other modules are called as well; status.custom itself would call itself without an
         * end. */
        if (strchr(fun, '.') == NULL || str_eq(fun, "status.custom") || !ctx_has(ctx, fun))
            continue;
        rc = ctx_call(ctx, fun, NULL, NULL, &values, err);
        if (rc != 0)
            return rc;
        for (size_t i = 0; i < json_array_size(names); i++) {
            AUTO_FREE char *name = value_pystr(json_array_get(names, i));
            json_t *v = value_get(values, name);
            json_object_set_new(out, name, v != NULL ? json_incref(v) : json_string("UNKNOWN"));
        }
    }
    *ret_value = json_incref(out);
    return 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const arg_t diskusage_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Paths, or globs for types of file systems"), ARGS_END
};
static const arg_t pid_args[] = { ARG("sig", ARG_STR, ARG_REQUIRED, "Regular expression"), ARGS_END };
static const arg_t master_args[] = { ARG("master", ARG_STR, "null", "Name or address"),
                                     ARG("connected", ARG_BOOL, "true", "What was known before; not used"),
                                     ARGS_END };
static const arg_t ping_args[] = { ARG("master", ARG_STR, ARG_REQUIRED, "Name or address"), ARGS_END };
static const arg_t time_args[] = { ARG("format", ARG_STR, "\"%A, %d. %B %Y %I:%M%p\"", "strftime format"),
                                   ARGS_END };

static const arg_t proxy_args[] = {
    ARG("proxy_name", ARG_STR, ARG_REQUIRED, "The proxy module"),
    ARG("opts", ARG_DICT, "null", "Its configuration"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "all_status", status_all_status, NULL, FN_READONLY,
      "Return what all the functions of this module tell." CLI_EXAMPLE("salt '*' status.all_status") },
    { "cpuinfo", status_cpuinfo, NULL, FN_READONLY,
      "Return what /proc/cpuinfo tells of the last processor." CLI_EXAMPLE("salt '*' status.cpuinfo") },
    { "cpustats", status_cpustats, NULL, FN_READONLY,
      "Return what /proc/stat tells." CLI_EXAMPLE("salt '*' status.cpustats") },
    { "custom", status_custom, NULL, FN_READONLY,
      "Return the members that the configuration picks.\n\nRows such as ``status.cpustats.custom: [cpu, "
      "ctxt, btime]`` in the minion's configuration name a function and the members of its return." CLI_EXAMPLE(
          "salt '*' status.custom") },
    { "diskstats", status_diskstats, NULL, FN_READONLY,
      "Return the counters of the disks." CLI_EXAMPLE("salt '*' status.diskstats") },
    { "diskusage", status_diskusage, diskusage_args, FN_READONLY,
      "Return available and total bytes of file systems, all or those of paths and types." CLI_EXAMPLE(
          "salt '*' status.diskusage\n    salt '*' status.diskusage / /tmp ext?\n    "
          "salt '*' status.diskusage ext? tmpfs") },
    { "loadavg", status_loadavg, NULL, FN_READONLY,
      "Return the load averages." CLI_EXAMPLE("salt '*' status.loadavg") },
    { "master", status_master, master_args, FN_READONLY,
      "Say whether a connection to a master's publish port is there; None when its name is not "
      "known." CLI_EXAMPLE("salt '*' status.master") },
    { "meminfo", status_meminfo, NULL, FN_READONLY,
      "Return what /proc/meminfo tells." CLI_EXAMPLE("salt '*' status.meminfo") },
    { "netdev", status_netdev, NULL, FN_READONLY,
      "Return the counters of the network interfaces." CLI_EXAMPLE("salt '*' status.netdev") },
    { "netstats", status_netstats, NULL, FN_READONLY,
      "Return the counters of the network protocols." CLI_EXAMPLE("salt '*' status.netstats") },
    { "nproc", status_nproc, NULL, FN_READONLY,
      "Return the number of processors that may be used." CLI_EXAMPLE("salt '*' status.nproc") },
    { "pid", status_pid, pid_args, FN_READONLY,
      "Return the numbers of the processes that a regular expression finds, or an empty text." CLI_EXAMPLE(
          "salt '*' status.pid <sig>") },
    { "ping_master", status_ping_master, ping_args, FN_READONLY,
      "Say whether a master accepts connections." CLI_EXAMPLE("salt '*' status.ping_master localhost") },
    { "procs", status_procs, NULL, FN_READONLY,
      "Return the processes with user and command." CLI_EXAMPLE("salt '*' status.procs") },
    { "proxy_reconnect", status_proxy_reconnect, proxy_args, FN_READONLY,
      "Return ``False``: only a proxy minion has something to connect again." CLI_EXAMPLE(
          "salt '*' status.proxy_reconnect rest_sample") },
    { "time", status_time, time_args, FN_READONLY,
      "Return the current time as ``format`` says." CLI_EXAMPLE(
          "salt '*' status.time\n    salt '*' status.time '%s'") },
    { "uptime", status_uptime, NULL, FN_READONLY,
      "Return for how long the host has been up." CLI_EXAMPLE("salt '*' status.uptime") },
    { "version", status_version, NULL, FN_READONLY,
      "Return the kernel's version text." CLI_EXAMPLE("salt '*' status.version") },
    { "vmstats", status_vmstats, NULL, FN_READONLY,
      "Return the counters of virtual memory." CLI_EXAMPLE("salt '*' status.vmstats") },
    { "w", status_w, NULL, FN_READONLY,
      "Return who is logged in and what they do." CLI_EXAMPLE("salt '*' status.w") },
};

PLUGIN(exec, status, .doc = "Load, memory, disks and uptime", FUNCS(funcs));
