/* procfs.c - read /proc into plain values: processes (proc(5): stat, status, cmdline), mounts, counters.
 *
 * Processes come and go while /proc is read: a file that is gone is not an error. Only a lack of resources
 * (fs_is_passing()) is. */
#include "common/host/procfs.h"

#include <ctype.h>
#include <limits.h>
#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/value.h"

enum { NAME_CUT = 15 }; /* the kernel keeps this much of a name */

static int
procfs_by_number(const void *a, const void *b)
{
    pid_t x = *(const pid_t *) a, y = *(const pid_t *) b;

    return x < y ? -1 : x > y;
}

pid_t *
procfs_pids(size_t *ret_n, fail_t *err)
{
    char **names = NULL;

    *ret_n = 0;
    if (fs_names("/proc", &names, err) < 0)
        return NULL;
    pid_t *pids = xcalloc(strv_len(names) + 1, sizeof(*pids));
    for (size_t i = 0; names[i] != NULL; i++) {
        long long pid;
        if (str_to_int(names[i], 1, INT_MAX, &pid))
            pids[(*ret_n)++] = (pid_t) pid;
    }
    strv_free(names);
    qsort(pids, *ret_n, sizeof(*pids), procfs_by_number);
    return pids;
}

/* Set *err only if the failure says nothing about the process, such as EMFILE. */
static void
tell_passing(int rc, const char *verb, const char *path, fail_t *err)
{
    if (fs_is_passing(rc))
        fs_fail(err, rc, verb, path);
}

static void
read_text(const char *path, buf_t *out, fail_t *err)
{
    tell_passing(fs_read(path, LIMIT_FILE_READ, out, NULL), "read", path, err);
}

/* NEW content of a file of a process; "" when the process is gone. */
char *
procfs_text(pid_t pid, const char *name, fail_t *err)
{
    buf_t text = BUF_INIT;
    AUTO_FREE char *path = xasprintf("/proc/%d/%s", (int) pid, name);

    read_text(path, &text, err);
    return buf_steal(&text);
}

char *
procfs_link(pid_t pid, const char *name, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/%s", (int) pid, name);
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof(target));

    if (n < 0)
        tell_passing(-errno, "read the link", path, err);
    return n < 0 ? NULL : xstrndup(target, (size_t) n);
}

char **
procfs_list(pid_t pid, const char *name, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/%s", (int) pid, name);
    char **names = NULL;
    int rc = fs_names(path, &names, NULL);

    tell_passing(rc, "read the folder", path, err);
    return rc == 0 ? names : NULL;
}

char **
procfs_lines(const char *path, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    (void) fs_read_any(path, LIMIT_FILE_READ, &text, err);
    return str_split(buf_str(&text), "\n", true);
}

/* A function's end: the value if nothing has failed, else the error's code. TAKES the value. */
int
procfs_answer(json_t *value, json_t **ret_value, fail_t *err)
{
    if (err->code != 0) {
        json_decref(value);
        return err->code;
    }
    *ret_value = value;
    return 0;
}

/* A field as Python would read it: an integer, a float, or a text. NEW. */
json_t *
procfs_number(const char *word)
{
    char *end = NULL;

    if (*word != '\0' && word[strspn(word, "0123456789")] == '\0') {
        long long n;
        if (str_to_int(word, 0, LLONG_MAX, &n))
            return json_integer(n);
    }
    double d = strtod(word, &end);
    return end != word && *end == '\0' ? json_real(d) : value_utf8(word, strlen(word));
}

/* Number behind "NAME:" in a file such as status or meminfo; 0 when there is none. */
json_int_t
procfs_field(const char *text, const char *name)
{
    size_t n = strlen(name);

    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, name, n) == 0 && line[n] == ':')
            return strtoll(line + n + 1, NULL, 10);
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return 0;
}

/* ---- processes ------------------------------------------------------------------------------- */

json_t *
procfs_cmdline(pid_t pid, fail_t *err)
{
    AUTO_FREE char *path = xasprintf("/proc/%d/cmdline", (int) pid);
    buf_auto_t text = BUF_INIT;
    json_t *words = json_array();

    read_text(path, &text, err);
    for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1)
        json_array_append_new(words, value_utf8(text.data + at, strlen(text.data + at)));
    return words;
}

/* Parse /proc/PID/stat. The name is in parentheses and may itself hold spaces and parentheses, so the last
 * ')' ends it. Indexes count from the field behind it. */
static bool
parse_stat(const char *text, procfs_proc_t *out)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');

    if (open == NULL || close == NULL || close < open)
        return false;
    snprintf(out->name, sizeof(out->name), "%.*s", (int) (close - open - 1), open + 1);
    AUTO_FREE char *copy = xstrdup(close + 1);
    char **words = str_split(copy, " \n", true);
    bool whole = strv_len(words) >= 40;
    if (whole) {
        out->state = words[0][0];
        out->ppid = (pid_t) strtol(words[1], NULL, 10);
        out->tty = (int) strtol(words[4], NULL, 10);
        out->ticks_user = strtoull(words[11], NULL, 10);
        out->ticks_system = strtoull(words[12], NULL, 10);
        out->ticks_children_user = strtoull(words[13], NULL, 10);
        out->ticks_children_system = strtoull(words[14], NULL, 10);
        out->nice = strtol(words[16], NULL, 10);
        out->threads = strtol(words[17], NULL, 10);
        out->start = strtoull(words[19], NULL, 10);
        out->cpu = (int) strtol(words[36], NULL, 10);
        out->iowait = strtoull(words[39], NULL, 10);
    }
    strv_free(words);
    return whole;
}

/* A name that the kernel cut is completed from the command line, if the program's name starts with it (psutil does
 * so). */
static void
complete_name(pid_t pid, char name[PROCFS_NAME], fail_t *err)
{
    json_auto_t *words = strlen(name) >= NAME_CUT ? procfs_cmdline(pid, err) : NULL;
    const char *program = json_string_value(json_array_get(words, 0));
    const char *slash = program != NULL ? strrchr(program, '/') : NULL;
    const char *base = slash != NULL ? slash + 1 : program;
    if (base != NULL && str_starts(base, name))
        (void) str_copy(name, PROCFS_NAME, base);
}

int
procfs_proc(pid_t pid, procfs_proc_t *out, fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *stat = procfs_text(pid, "stat", &why), *status = procfs_text(pid, "status", &why);

    memset(out, 0, sizeof(*out));
    out->pid = pid;
    bool there = parse_stat(stat, out);
    if (there) {
        const char *uid = strstr(status, "\nUid:"), *gid = strstr(status, "\nGid:");
        if (uid != NULL)
            (void) sscanf(uid + 5, "%u %u %u", &out->uid[0], &out->uid[1], &out->uid[2]);
        if (gid != NULL)
            (void) sscanf(gid + 5, "%u %u %u", &out->gid[0], &out->gid[1], &out->gid[2]);

        complete_name(pid, out->name, &why);
    }
    return why.code != 0 ? fail_set(err, why.code, "%s", fail_text(&why)) : there;
}

int
procfs_name(pid_t pid, char name[PROCFS_NAME], fail_t *err)
{
    fail_auto_t why = FAIL_INIT;
    AUTO_FREE char *text = procfs_text(pid, "comm", &why);
    size_t len = strlen(text);

    if (len > 0 && text[len - 1] == '\n')
        text[len - 1] = '\0';
    (void) str_copy(name, PROCFS_NAME, text);
    bool there = len > 0;
    if (there)
        complete_name(pid, name, &why);
    return why.code != 0 ? fail_set(err, why.code, "%s", fail_text(&why)) : there;
}

/* NEW list of all processes with their parents, sorted by pid; NULL with *err. */
procfs_kin_t *
procfs_kin(size_t *ret_n, fail_t *err)
{
    AUTO_FREE pid_t *pids = procfs_pids(ret_n, err);
    procfs_kin_t *kin = pids != NULL ? xcalloc(*ret_n + 1, sizeof(*kin)) : NULL;

    for (size_t i = 0; i < *ret_n; i++) {
        /* The parent is the second field behind the name; 0 for a process that has ended meanwhile. */
        AUTO_FREE char *stat = procfs_text(pids[i], "stat", err);
        const char *close = strrchr(stat, ')');
        int parent = 0;
        if (close == NULL || sscanf(close + 1, " %*c %d", &parent) != 1)
            parent = 0;
        kin[i] = (procfs_kin_t){ pids[i], (pid_t) parent };
    }
    return kin;
}

/* Binary search: the array is sorted by pid. */
pid_t
procfs_parent(const procfs_kin_t *kin, size_t n, pid_t pid)
{
    size_t from = 0;

    while (n > 0) {
        size_t half = n / 2;
        if (kin[from + half].pid == pid)
            return kin[from + half].parent;
        if (kin[from + half].pid < pid) {
            from += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return 0;
}

const char *
procfs_state(char state)
{
    static const struct {
        char letter;
        const char *word;
    } words[] = {
        { 'R', "running" },      { 'S', "sleeping" }, { 'D', "disk-sleep" }, { 'T', "stopped" },
        { 't', "tracing-stop" }, { 'Z', "zombie" },   { 'X', "dead" },       { 'x', "dead" },
        { 'K', "wake-kill" },    { 'W', "waking" },   { 'I', "idle" },       { 'P', "parked" },
    };

    for (size_t i = 0; i < NELEMS(words); i++) {
        if (words[i].letter == state)
            return words[i].word;
    }
    return "?";
}

double
procfs_hz(void)
{
    return (double) sysconf(_SC_CLK_TCK);
}

/* Seconds since 1970, from which the start of processes counts. */
double
procfs_boot_time(fail_t *err)
{
    double boot = 0;
    char **lines = procfs_lines("/proc/stat", err);

    for (size_t i = 0; lines[i] != NULL; i++) {
        if (str_starts(lines[i], "btime "))
            boot = strtod(lines[i] + 6, NULL);
    }
    strv_free(lines);
    return boot;
}

/* ---- mounts ---------------------------------------------------------------------------------- */

/* Undo the octal escapes of mount fields ("\040") in place. */
static void
procfs_unescape(char *s)
{
    char *to = s;

    for (const char *p = s; *p != '\0';) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && isdigit((unsigned char) p[2]) &&
            isdigit((unsigned char) p[3])) {
            *to++ = (char) ((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            p += 4;
        } else {
            *to++ = *p++;
        }
    }
    *to = '\0';
}

procfs_mount_t *
procfs_mounts(size_t *ret_n, fail_t *err)
{
    buf_auto_t text = BUF_INIT;

    *ret_n = 0;
    if (fs_read("/proc/self/mounts", LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    char **lines = str_split(buf_str(&text), "\n", true);
    procfs_mount_t *mounts = xcalloc(strv_len(lines) + 1, sizeof(*mounts));
    size_t n = 0;

    for (size_t i = 0; lines[i] != NULL; i++) {
        char **words = str_split(lines[i], " ", true);
        if (strv_len(words) >= 4) {
            for (size_t k = 0; k < 4; k++)
                procfs_unescape(words[k]);
            mounts[n++] = (procfs_mount_t){ xstrdup(words[0]), xstrdup(words[1]), xstrdup(words[2]),
                                            xstrdup(words[3]) };
        }
        strv_free(words);
    }
    strv_free(lines);
    *ret_n = n;
    return mounts;
}

void
procfs_mounts_free(procfs_mount_t *mounts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(mounts[i].device);
        free(mounts[i].point);
        free(mounts[i].type);
        free(mounts[i].options);
    }
    free(mounts);
}
